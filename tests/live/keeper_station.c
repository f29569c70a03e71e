/* SPDX-License-Identifier: BSD-2-Clause */
/* A station and ballastd with a real app: requests that meet a resting app wait, wake it and are all served;
 * it is never passed a request while it rests, never stopped with one in it; and what is lost when it or its
 * keeper is killed is what was in the app.
 *
 * The station is that of libballast-live on a unix socket, in this process. A request is a time during which
 * the app must be there, the same instance throughout. usage: live-keeper_station BALLASTD KEEPER-APP */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ballast/live/station.h"
#include "ballast/random.h"

#define MS UINT64_C(1000000)
enum { STATION = 1, KEEPER = 101, FLEET = 5, SLOTS = 2, REQUESTS = 120 };

static char *ballastd, *app;

struct request {
    uint64_t ticket, ends; /* ends 0: it waits */
    struct stat instance;  /* of the app that has it */
};

struct place {
    char directory[64];
    pid_t keeper;
    int socket;
    struct sockaddr_un to;
    void *block;
    struct bal_station *s;
    struct bal_sender mouth;
    struct bal_receiver ear;
    struct bal_key key;
    struct bal_rng rng;
    struct request request[REQUESTS];
    unsigned count;
    unsigned served, failed, wakes;
    bool app_killed;        /* what was in it is lost */
    struct stat killed_app; /* the instance */
};

static struct place place;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static const char *path(const struct place *p, const char *name) {
    static char text[100];
    snprintf(text, sizeof text, "%s/%s", p->directory, name);
    return text;
}

/* ---- the keeper and the app ---- */

static void begin_keeper(struct place *p) {
    char config[200];
    snprintf(config, sizeof config, "%s", path(p, "keeper.yaml"));
    p->keeper = fork();
    if (p->keeper)
        return;
    const int log = open(path(p, "log"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDERR_FILENO);
    execl(ballastd, ballastd, "--config", config, (char *)NULL);
    _exit(127);
}

static void end_keeper(struct place *p, int signal) {
    kill(p->keeper, signal);
    const pid_t ended = waitpid(p->keeper, NULL, 0);
    p->keeper = 0;
    assert_true(ended > 0);
}

static void write_config(const struct place *p) {
    FILE *out = fopen(path(p, "keeper.yaml"), "w");
    assert_non_null(out);
    fchmod(fileno(out), 0600);
    fprintf(out,
            "key: 000102030405060708090a0b0c0d0e0f\nfleet: %d\nsocket: %s/s/control\nstate: %s/s\n"
            "on_exit: stop\n"
            "apps:\n  - name: web\n    id: %d\n    station: {id: %d, address: unix:%s/station}\n"
            "    run: [%s, %s, web, ready-after=30]\n"
            "    ready: {command: [/usr/bin/test, -e, %s/web.ready]}\n    standby: 40ms\n"
            "    times: {check: 10ms, drain: 250ms, beat: 50ms, back_off: 20ms, back_off_most: 100ms, "
            "steady: 1ms}\n",
            FLEET, p->directory, p->directory, KEEPER, STATION, p->directory, app, p->directory,
            p->directory);
    fclose(out);
}

/* Is it there and ready? */
static bool is_ready(const struct place *p, struct stat *instance) {
    const int fd = open(path(p, "web.alone"), O_RDWR | O_CLOEXEC);
    const bool alive = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
    if (fd >= 0)
        close(fd);
    return alive && stat(path(p, "web.ready"), instance) == 0;
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void kill_app(struct place *p) {
    struct stat instance;
    char text[20] = "";
    FILE *in = is_ready(p, &instance) ? fopen(path(p, "web.alone"), "r") : NULL;
    if (!in)
        return;
    if (fgets(text, sizeof text, in)) {
        kill((pid_t)strtol(text, NULL, 10), SIGKILL);
        p->app_killed = true;
        p->killed_app = instance;
    }
    fclose(in);
}

/* ---- the station ---- */

static void send_all(struct place *p) {
    uint32_t count;
    const struct bal_message *message = bal_station_outgoing(p->s, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct bal_message copy = message[i];
        uint8_t bytes[BAL_DATAGRAM_MAX];
        if (copy.receiver != KEEPER)
            continue;
        p->wakes += copy.type == BAL_MSG_START;
        const size_t size = bal_message_encode(&copy, &p->key, bytes);
        assert_true(size > 0);
        (void)sendto(p->socket, bytes, size, MSG_DONTWAIT, (struct sockaddr *)&p->to, sizeof p->to);
    }
}

static void hear_all(struct place *p) {
    uint8_t bytes[BAL_DATAGRAM_MAX + 1];
    for (ssize_t size; (size = recv(p->socket, bytes, sizeof bytes, MSG_DONTWAIT)) >= 0;) {
        struct bal_message message;
        if (bal_receiver_open(&p->ear, bytes, (size_t)size, &message) == BAL_RECEIPT_FRESH)
            bal_station_receive(p->s, now(), &message);
        send_all(p);
    }
}

static void run(struct place *p, struct request *r) {
    if (!is_ready(p, &r->instance) && !p->app_killed)
        fail_msg("a request is passed to an app that rests");
    r->ends = now() + 1 + (uint64_t)(bal_rng_exp(&p->rng) * 10 * (double)MS);
}

static void arrive(struct place *p) {
    struct bal_station_task task;
    bal_station_arrive(p->s, now(), 0, 0, false, &task);
    assert_true(task.verdict == BAL_RUN || task.verdict == BAL_QUEUE);
    p->request[p->count] = (struct request){.ticket = task.ticket};
    if (task.verdict == BAL_RUN)
        run(p, &p->request[p->count]);
    p->count++;
}

static void take_news(struct place *p) {
    struct bal_station_task task;
    while (bal_station_next_decision(p->s, now(), &task))
        for (unsigned i = 0; i < p->count; i++)
            if (p->request[i].ticket == task.ticket) {
                assert_int_equal(task.verdict, BAL_RUN);
                run(p, &p->request[i]);
            }
}

static void complete(struct place *p, unsigned i) {
    struct stat instance;
    const bool there = is_ready(p, &instance) && is_same(&instance, &p->request[i].instance);
    if (!there && !p->app_killed)
        fail_msg("the app was stopped with a request in it");
    p->served += there;
    p->failed += !there;
    bal_station_done(p->s, now(), p->request[i].ticket, !there);
    p->request[i] = p->request[--p->count];
}

static void step(struct place *p) {
    struct stat instance;
    struct pollfd in = {.fd = p->socket, .events = POLLIN};
    poll(&in, 1, 1);
    hear_all(p);
    bal_station_run_timers(p->s, now());
    take_news(p);
    for (unsigned i = 0; i < p->count; i++)
        if (p->request[i].ends && p->request[i].ends <= now())
            complete(p, i--);
    take_news(p);
    send_all(p);
    /* Until another is there nobody may have noticed; and a while it is still there itself. */
    if (p->app_killed && p->count == 0 && is_ready(p, &instance) && !is_same(&instance, &p->killed_app))
        p->app_killed = false;
    assert_null(bal_station_find_inconsistency(p->s));
}

static void open_station(struct place *p) {
    const struct bal_station_config config = {.workers = 1,
                                              .slots = SLOTS,
                                              .queue = REQUESTS,
                                              .peers = 1,
                                              .beat_ns = 50 * MS,
                                              .keeper = KEEPER,
                                              .standby_ns = 30 * MS,
                                              .fleet = FLEET,
                                              .id = STATION,
                                              .boot = now()};
    struct bal_error err = {0};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (bal_station_check(&config, &err))
        fail_msg("%s", err.text);
    p->block = aligned_alloc(64, (bal_station_size(&config) + 63) / 64 * 64);
    p->s = malloc(bal_station_view_size(&config));
    assert_true(p->block && p->s);
    bal_station_create(p->block, &config, now());
    assert_int_equal(bal_station_open(p->s, p->block, 1, &err), BAL_OK);
    assert_int_equal(bal_station_join(p->s, now(), (uint64_t)getpid(), 1, &err), BAL_OK);
    bal_key_parse("000102030405060708090a0b0c0d0e0f", &p->key, &err);
    bal_receiver_init(&p->ear, FLEET, STATION, &p->key);
    p->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path(p, "station"));
    assert_int_equal(bind(p->socket, (struct sockaddr *)&at, sizeof at), 0);
    p->to.sun_family = AF_UNIX;
    snprintf(p->to.sun_path, sizeof p->to.sun_path, "%s", path(p, "s/control"));
}

static void begin(struct place *p, uint64_t seed) {
    *p = (struct place){0};
    snprintf(p->directory, sizeof p->directory, "/tmp/keeper-station-XXXXXX");
    assert_non_null(mkdtemp(p->directory));
    bal_rng_init(&p->rng, seed, 0, BAL_STREAM_TEST);
    write_config(p);
    open_station(p);
    begin_keeper(p);
}

/* Bursts with pauses in which the app rests; between steps something may be done to it. */
static void load(struct place *p, unsigned bursts, void (*harm)(struct place *)) {
    for (unsigned b = 0; b < bursts; b++) {
        const unsigned size = 1 + (unsigned)bal_rng_below(&p->rng, 12);
        for (unsigned i = 0; i < size; i++) {
            arrive(p);
            for (uint64_t wait = bal_rng_below(&p->rng, 8); wait > 0; wait--)
                step(p);
            if (harm && bal_rng_below(&p->rng, 12) == 0)
                harm(p);
        }
        const uint64_t pause = now() + bal_rng_below(&p->rng, 600) * MS;
        while (now() < pause)
            step(p);
    }
    const uint64_t end = now() + 60000 * MS;
    while (p->count > 0) {
        if (now() > end)
            fail_msg("%u requests wait for ever", p->count);
        step(p);
    }
}

static void end(struct place *p) {
    struct stat instance;
    end_keeper(p, SIGTERM);
    assert_false(is_ready(p, &instance));
    if (access(path(p, "double"), F_OK) == 0)
        fail_msg("the app was there twice");
}

/* Also when the test has failed: the keeper stops the app when it ends. */
static int clean(void **state) {
    (void)state;
    char command[100];
    if (place.keeper > 0)
        end_keeper(&place, SIGTERM);
    snprintf(command, sizeof command, "rm -rf %s", place.directory);
    const int code = system(command); /* NOLINT: the words are ours */
    close(place.socket);
    free(place.block);
    free(place.s);
    return code;
}

static void rests_and_wakes(void **state) {
    (void)state;
    begin(&place, 1);
    load(&place, 12, NULL);
    assert_int_equal(place.failed, 0);
    assert_true(place.served > 12 && place.wakes >= 3);
    end(&place);
}

static void kill_keeper(struct place *p) {
    end_keeper(p, SIGKILL);
    begin_keeper(p);
}

static void keeper_killed_under_load(void **state) {
    (void)state;
    begin(&place, 2);
    load(&place, 12, kill_keeper);
    assert_int_equal(place.failed, 0);
    end(&place);
}

static void app_killed_under_load(void **state) {
    (void)state;
    begin(&place, 3);
    load(&place, 12, kill_app);
    assert_true(place.served > place.failed);
    end(&place);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    ballastd = realpath(argv[1], NULL); /* apps run elsewhere */
    app = realpath(argv[2], NULL);
    if (!ballastd || !app)
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rests_and_wakes, clean),
        cmocka_unit_test_teardown(keeper_killed_under_load, clean),
        cmocka_unit_test_teardown(app_killed_under_load, clean),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ballastd);
    free(app);
    return failed;
}
