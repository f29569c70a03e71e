/* SPDX-License-Identifier: BSD-2-Clause */
/* Every policy in two processes on one shared block, mapped at different addresses: under one lock they
 * decide as one process would that does the same things in the same order, and when they race for the lock
 * every decision names an open server and the state stays sound. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ballast/policy.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { SERVERS = 16, BURSTS = 60, BURST = 20, RACE = 3000, ROOM = 16 };

/* What the workers share; the state of the policy lies behind it. */
struct shared {
    pthread_mutex_t lock;
    uint32_t length[SERVERS], urgent[SERVERS], own[SERVERS];
    double now;
    uint64_t trouble; /* decisions that are wrong, states that are broken */
    uint64_t logged;
    uint64_t log[2 * BURSTS * BURST];
    char open[sizeof(struct bal_set) + 2 * SERVERS * sizeof(uint32_t)] __attribute__((aligned(8)));
};

/* What each has for itself. */
struct worker {
    struct shared *shared;
    void *state;
    const struct bal_policy_spec *spec;
    struct bal_policy_context setting;
    struct bal_fleet fleet;
    struct bal_share shares[SERVERS];
    uint32_t ask[ROOM];
    struct bal_rng rng;
};

static double work(struct bal_fleet *fleet, uint32_t server) {
    return fleet->length[server];
}

static size_t block_size(const struct bal_policy_spec *spec, const struct bal_policy_context *setting) {
    return sizeof(struct shared) + bal_policy_size(spec, setting);
}

/* A view of the block from where it is mapped here, and a stream of its own. */
static void worker_init(struct worker *w, struct shared *shared, const struct bal_policy_spec *spec,
                        uint64_t number) {
    *w = (struct worker){
        .shared = shared, .state = shared + 1, .spec = spec, .setting = {.servers = SERVERS, .load = 0.9}};
    w->fleet = (struct bal_fleet){.servers = SERVERS,
                                  .length = shared->length,
                                  .urgent = shared->urgent,
                                  .own = shared->own,
                                  .eligible = (const struct bal_set *)shared->open,
                                  .shares = w->shares,
                                  .work = work,
                                  .ask = w->ask,
                                  .ask_room = ROOM};
    bal_rng_init(&w->rng, 900, number, BAL_STREAM_TEST);
}

static void shared_init(struct shared *shared, const struct bal_policy_spec *spec) {
    memset(shared, 0, sizeof *shared);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    struct bal_set *open = (struct bal_set *)shared->open;
    bal_set_init(open, SERVERS);
    for (uint32_t server = 0; server < SERVERS; server++)
        bal_set_insert(open, server);
    const struct bal_policy_context setting = {.servers = SERVERS, .load = 0.9};
    bal_policy_init(spec, &setting, shared + 1);
    struct worker w;
    worker_init(&w, shared, spec, 0);
    for (uint32_t server = 0; server < SERVERS; server++) {
        const struct bal_server_state present = {0};
        bal_policy_sync_server(spec, w.state, &w.fleet, server, &present);
    }
}

/* ---- what a worker does with the lock in its hand ---- */

static void say_load(struct worker *w, uint32_t server) {
    const struct bal_reply load = {w->shared->length[server], w->shared->urgent[server],
                                   1 + w->shared->length[server]};
    bal_policy_report(w->spec, w->state, &w->fleet, BAL_REPORT_LOAD, server, &load);
}

static uint64_t route(struct worker *w) {
    const struct bal_job job = {.count = 1, .rank = bal_rng_below(&w->rng, 2)};
    const struct bal_decision to = bal_policy_route(w->spec, w->state, &w->fleet, &job, &w->rng);
    const bool goes = to.server < SERVERS;
    const bool right = (goes && bal_is_eligible(&w->fleet, to.server)) || to.server == BAL_HOLD ||
                       (to.server == BAL_NONE &&
                        (bal_eligible_count(&w->fleet) == 0 || bal_policy_flags(w->spec) & BAL_MAY_REFUSE));
    w->shared->trouble += !right;
    if (right && goes) {
        w->shared->length[to.server]++;
        w->shared->own[to.server]++;
        w->shared->urgent[to.server] += job.rank == 0;
    }
    for (uint32_t i = 0; i < w->fleet.asks; i++)
        say_load(w, w->ask[i]);
    w->fleet.asks = 0;
    return (uint64_t)to.server << 32 | (to.wake ^ to.move_to);
}

static void respond(struct worker *w, uint32_t server) {
    struct shared *shared = w->shared;
    if (shared->length[server] == 0)
        return;
    shared->length[server]--;
    shared->own[server]--;
    shared->urgent[server] -= shared->urgent[server] > 0;
    bal_policy_response(w->spec, w->state, &w->fleet, server, 1, false);
    say_load(w, server);
    if (shared->length[server] == 0)
        bal_policy_report(w->spec, w->state, &w->fleet, BAL_REPORT_IDLE, server, NULL);
}

static void mark(struct worker *w, uint32_t server) {
    struct bal_set *open = (struct bal_set *)w->shared->open;
    if (bal_rng_below(&w->rng, 3))
        bal_set_insert(open, server);
    else
        bal_set_remove(open, server);
}

static uint64_t act(struct worker *w) {
    const uint32_t server = bal_rng_below(&w->rng, SERVERS);
    w->fleet.now = w->shared->now += 0.1;
    switch (bal_rng_below(&w->rng, 6)) {
    case 0:
    case 1:
        return route(w);
    case 2:
    case 3:
        respond(w, server);
        return 0;
    case 4:
        mark(w, server);
        return 0;
    default: {
        const enum bal_report what = (enum bal_report)bal_rng_below(&w->rng, BAL_REPORT_LOAD + 1);
        bal_policy_report(w->spec, w->state, &w->fleet, what, server, NULL);
        return 0;
    }
    }
}

static void burst(struct worker *w) {
    struct shared *shared = w->shared;
    pthread_mutex_lock(&shared->lock);
    for (int i = 0; i < BURST; i++)
        shared->log[shared->logged++] = act(w);
    pthread_mutex_unlock(&shared->lock);
}

static void race(struct worker *w) {
    for (int i = 0; i < RACE; i++) {
        pthread_mutex_lock(&w->shared->lock);
        act(w);
        if (i % 64 == 0)
            w->shared->trouble += !bal_policy_is_consistent(w->spec, &w->setting, w->state);
        pthread_mutex_unlock(&w->shared->lock);
    }
}

/* ---- two processes ---- */

static struct shared *map(int file, size_t size) {
    struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(shared != MAP_FAILED);
    return shared;
}

/* Waits for its turn and hands it on: one byte through a pipe. */
static void take_turn(int from) {
    char byte;
    assert_true(read(from, &byte, 1) == 1);
}

static void give_turn(int to) {
    assert_true(write(to, "x", 1) == 1);
}

/* The other process: maps the block anew, elsewhere, before it lets go of the place where the parent has it.
 */
static _Noreturn void child(int file, size_t size, struct shared *inherited,
                            const struct bal_policy_spec *spec, int from, int to) {
    struct shared *shared = map(file, size);
    if (shared == inherited || munmap(inherited, size) != 0)
        _exit(1);
    struct worker w;
    worker_init(&w, shared, spec, 2);
    for (int i = 0; i < BURSTS; i++) {
        take_turn(from);
        burst(&w);
        give_turn(to);
    }
    race(&w);
    _exit(0);
}

static void run_together(const struct bal_policy_spec *spec, uint64_t *log, uint64_t *trouble) {
    const struct bal_policy_context setting = {.servers = SERVERS, .load = 0.9};
    const size_t size = block_size(spec, &setting);
    const int file = memfd_create("policy", 0);
    int there[2], back[2];
    assert_true(file >= 0 && ftruncate(file, (off_t)size) == 0 && pipe(there) == 0 && pipe(back) == 0);
    struct shared *shared = map(file, size);
    shared_init(shared, spec);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(file, size, shared, spec, there[0], back[1]);
    struct worker w;
    worker_init(&w, shared, spec, 1);
    for (int i = 0; i < BURSTS; i++) {
        burst(&w);
        give_turn(there[1]);
        take_turn(back[0]);
    }
    memcpy(log, shared->log, sizeof shared->log);
    race(&w);
    int status;
    assert_true(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    *trouble = shared->trouble + !bal_policy_is_consistent(spec, &setting, shared + 1);
    munmap(shared, size);
    close(file);
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
}

static void run_alone(const struct bal_policy_spec *spec, uint64_t *log) {
    const struct bal_policy_context setting = {.servers = SERVERS, .load = 0.9};
    struct shared *shared = malloc(block_size(spec, &setting));
    assert_non_null(shared);
    shared_init(shared, spec);
    struct worker w[2];
    worker_init(&w[0], shared, spec, 1);
    worker_init(&w[1], shared, spec, 2);
    for (int i = 0; i < 2 * BURSTS; i++)
        burst(&w[i % 2]);
    memcpy(log, shared->log, sizeof shared->log);
    pthread_mutex_destroy(&shared->lock);
    free(shared);
}

static const char *const more[] = {
    "jiq:else=least-conn",  "jiq:else=hold",     "rcpb:c=4,mu=1,else=least-conn2",
    "tabs:else=least-conn", "pod:d=3,replace=0", "pod-memory:d=2,b=3",
    "least-conn:d=2",       "lsq:p=1,d=2",       "least-conn:ties=turn",
    "least-conn:ties=queue"};

static void two_processes_decide_as_one(void **state) {
    (void)state;
    static uint64_t together[2 * BURSTS * BURST], alone[2 * BURSTS * BURST];
    for (size_t i = 0; i < bal_policy_count + LENGTH(more); i++) {
        const char *text = i < bal_policy_count ? bal_policy_table[i]->name : more[i - bal_policy_count];
        struct bal_policy_spec spec;
        assert_int_equal(bal_policy_parse(text, &spec, NULL), BAL_OK);
        uint64_t trouble;
        run_together(&spec, together, &trouble);
        run_alone(&spec, alone);
        for (size_t k = 0; k < LENGTH(alone); k++)
            if (together[k] != alone[k])
                fail_msg("%s: step %zu is %llx in two processes and %llx in one", text, k,
                         (unsigned long long)together[k], (unsigned long long)alone[k]);
        if (trouble)
            fail_msg("%s: %llu wrong decisions or broken states in the race", text,
                     (unsigned long long)trouble);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_processes_decide_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
