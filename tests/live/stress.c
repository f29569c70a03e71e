/* SPDX-License-Identifier: BSD-2-Clause */
/* Real processes on one block, killed with -9 at random, most of them in the middle of an operation: counts
 * are exact at the end. And threads on one block, for the thread sanitizer to look at. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ballast/live/check.h"
#include "ballast/live/slow_start.h"

/* So many kills, and then until so many of them have met an operation. */
enum { SERVERS = 8, WORKERS = 3, OPEN = 40, KILLS = 150, KILLS_MAX = 15000, REBUILDS = 7, THREADED = 20000 };

/* What a worker has under way, as it knows it; written by itself alone. */
struct truth {
    uint64_t ticket[OPEN]; /* 0: none */
    uint32_t server[OPEN]; /* BAL_NONE: it waits */
};

struct shared {
    pthread_mutex_t lock;
    int stop;
    uint32_t ended; /* workers that have taken their last step */
    struct truth truth[WORKERS];
    size_t view_size;
    _Alignas(64) char block[];
};

static void lock(struct shared *shared) {
    const int code = pthread_mutex_lock(&shared->lock);
    if (code == EOWNERDEAD)
        pthread_mutex_consistent(&shared->lock);
    else
        assert_int_equal(code, 0);
}

static void unlock(struct shared *shared) {
    pthread_mutex_unlock(&shared->lock);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct bal_dispatcher *view(struct shared *shared, uint64_t seed) {
    struct bal_dispatcher *d = malloc(shared->view_size);
    if (!d || bal_dispatcher_open(d, shared->block, seed, NULL))
        abort();
    return d;
}

static struct shared *begin(const char *text) {
    const struct bal_dispatcher_config config = {.servers = SERVERS,
                                                 .workers = 2 * WORKERS,
                                                 .requests = WORKERS * OPEN + 8,
                                                 .classes = 2,
                                                 .slots = 4,
                                                 .held = 16,
                                                 .hold_ns = 1000000,
                                                 .failures = 3,
                                                 .back_off_ns = 100000};
    struct bal_policy_spec policy;
    struct bal_error err = {0};
    if (bal_policy_parse(text, &policy, &err) || bal_dispatcher_check(&policy, &config, &err))
        fail_msg("%s", err.text);
    const size_t size = sizeof(struct shared) + bal_dispatcher_size(&policy, &config);
    struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->lock, &attributes);
    shared->view_size = bal_dispatcher_view_size(&policy, &config);
    bal_dispatcher_create(shared->block, &policy, &config, now());
    return shared;
}

/* ---- a worker ---- */

static void put(struct truth *truth, const struct bal_dispatch *to, uint32_t i) {
    truth->server[i] = to->verdict == BAL_SEND ? to->server : BAL_NONE;
    truth->ticket[i] = to->verdict == BAL_REFUSE ? 0 : to->ticket;
}

static void take_news(struct bal_dispatcher *d, struct truth *truth) {
    struct bal_dispatch to;
    while (bal_dispatcher_next_decision(d, now(), &to))
        for (uint32_t i = 0; i < OPEN; i++)
            if (truth->ticket[i] == to.ticket)
                put(truth, &to, i);
}

/* Servers fall and rise by their checks, and start slowly. Half of the results are lost: others make those
 * checks again. */
static void check_servers(struct bal_dispatcher *d, struct bal_rng *rng) {
    struct bal_check_order order;
    while (bal_dispatcher_next_check(d, now(), &order))
        if (bal_rng_below(rng, 2))
            bal_dispatcher_finish_check(d, now(), order.ticket,
                                        bal_rng_below(rng, 3) ? BAL_CHECK_PASSED : BAL_CHECK_REFUSED);
    if (bal_rng_below(rng, 64) == 0)
        bal_dispatcher_release_checks(d, now());
}

static void step(struct bal_dispatcher *d, struct truth *truth, struct bal_rng *rng) {
    if (bal_rng_below(rng, 4) == 0)
        check_servers(d, rng);
    const uint32_t i = bal_rng_below(rng, OPEN);
    struct bal_dispatch to;
    if (!truth->ticket[i]) {
        bal_dispatcher_arrive(d, now(), bal_rng_below(rng, 2), &to);
        put(truth, &to, i);
    } else if (truth->server[i] == BAL_NONE) {
        take_news(d, truth);
        bal_dispatcher_run_timers(d, now());
    } else if (bal_rng_below(rng, 8) == 0) {
        if (!bal_dispatcher_retry(d, now(), truth->ticket[i], BAL_OUTCOME_FAILED, &to))
            abort();
        put(truth, &to, i);
    } else {
        if (!bal_dispatcher_respond(d, now(), truth->ticket[i],
                                    bal_rng_below(rng, 16) ? BAL_OUTCOME_GOOD : BAL_OUTCOME_BAD))
            abort();
        truth->ticket[i] = 0;
    }
}

static _Noreturn void worker(struct shared *shared, uint32_t index, uint64_t seed) {
    struct bal_dispatcher *d = view(shared, seed);
    struct truth *truth = &shared->truth[index];
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 1, BAL_STREAM_TEST);
    lock(shared);
    memset(truth, 0, sizeof *truth);
    if (bal_dispatcher_join(d, now(), (uint64_t)getpid(), 1, NULL))
        abort();
    unlock(shared);
    while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
        lock(shared);
        step(d, truth, &rng);
        unlock(shared);
    }
    /* What one of them does last may give another something to do: only when all have ended is there no more
     * news. */
    __atomic_add_fetch(&shared->ended, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE) < WORKERS)
        usleep(100);
    lock(shared);
    take_news(d, truth);
    unlock(shared);
    _exit(0);
}

static pid_t start(struct shared *shared, uint32_t index, uint64_t seed) {
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        worker(shared, index, seed);
    return pid;
}

/* ---- who kills them ---- */

static void configure(struct shared *shared, struct bal_dispatcher *d) {
    struct bal_dispatcher_server servers[SERVERS];
    char names[SERVERS][16];
    for (uint32_t i = 0; i < SERVERS; i++) {
        snprintf(names[i], sizeof names[i], "server%u", i);
        servers[i] = (struct bal_dispatcher_server){.name = names[i]};
    }
    lock(shared);
    assert_int_equal(bal_dispatcher_configure(d, now(), servers, SERVERS, NULL), BAL_OK);
    bal_dispatcher_configure_slow_start(d, now(), 2000000);
    bal_dispatcher_configure_checks(
        d, now(),
        &(struct bal_check_config){
            .interval_ns = 1000000, .timeout_ns = 1000000, .rises = 1, .falls = 2, .mandatory = true});
    unlock(shared);
}

static void reap(struct shared *shared, struct bal_dispatcher *d, pid_t pid) {
    uint64_t owner, start_time;
    lock(shared);
    bal_dispatcher_run_timers(d, now());
    for (uint32_t i = 0; i < 2 * WORKERS; i++)
        if (bal_dispatcher_worker(d, i, &owner, &start_time) && owner == (uint64_t)pid)
            bal_dispatcher_reap(d, now(), i);
    const char *fault = bal_dispatcher_find_inconsistency(d);
    unlock(shared);
    if (fault)
        fail_msg("%s", fault);
}

/* What the block counts is what those that were not killed have under way; then nothing. */
static void check_exactly(struct shared *shared, struct bal_dispatcher *d, const pid_t *pids) {
    uint32_t under_way[SERVERS] = {0};
    for (uint32_t w = 0; w < WORKERS; w++)
        for (uint32_t i = 0; i < OPEN; i++)
            if (shared->truth[w].ticket[i] && shared->truth[w].server[i] != BAL_NONE)
                under_way[shared->truth[w].server[i]]++;
    for (uint32_t i = 0; i < SERVERS; i++)
        assert_int_equal(bal_dispatcher_server(d, i).in_flight, under_way[i]);
    for (uint32_t w = 0; w < WORKERS; w++)
        reap(shared, d, pids[w]);
    for (uint32_t i = 0; i < SERVERS; i++)
        assert_int_equal(bal_dispatcher_server(d, i).in_flight, 0);
    assert_int_equal(bal_dispatcher_held(d, BAL_CLASSES_MAX), 0);
}

static uint64_t rebuilds_of(struct shared *shared, struct bal_dispatcher *d) {
    lock(shared);
    const uint64_t rebuilds = bal_dispatcher_counts(d).rebuilds;
    unlock(shared);
    return rebuilds;
}

static void kill_and_count(const char *text) {
    struct shared *shared = begin(text);
    struct bal_dispatcher *d = view(shared, 1);
    struct bal_rng rng;
    pid_t pids[WORKERS];
    uint64_t seed = 100;
    bal_rng_init(&rng, 7, 0, BAL_STREAM_TEST);
    configure(shared, d);
    for (uint32_t w = 0; w < WORKERS; w++)
        pids[w] = start(shared, w, ++seed);
    for (int i = 0; i < KILLS || (i < KILLS_MAX && rebuilds_of(shared, d) < REBUILDS); i++) {
        const uint32_t w = bal_rng_below(&rng, WORKERS);
        usleep(bal_rng_below(&rng, 1500));
        kill(pids[w], SIGKILL);
        assert_true(waitpid(pids[w], NULL, 0) == pids[w]);
        reap(shared, d, pids[w]);
        pids[w] = start(shared, w, ++seed);
    }
    usleep(2000);
    __atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
    for (uint32_t w = 0; w < WORKERS; w++) {
        int status;
        assert_true(waitpid(pids[w], &status, 0) == pids[w]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    check_exactly(shared, d, pids);
    assert_true(bal_dispatcher_counts(d).rebuilds >= REBUILDS);
    free(d);
    munmap(shared, sizeof *shared);
}

static void counts_are_exact_after_kills(void **state) {
    (void)state;
    static const char *const policies[] = {"least-conn", "jiq:else=hold", "lsq"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        kill_and_count(policies[i]);
}

/* ---- threads ---- */

struct thread {
    struct shared *shared;
    uint64_t seed;
};

static void *run_thread(void *argument) {
    const struct thread *thread = argument;
    struct shared *shared = thread->shared;
    struct bal_dispatcher *d = view(shared, thread->seed);
    struct truth truth = {{0}, {0}};
    struct bal_rng rng;
    bal_rng_init(&rng, thread->seed, 2, BAL_STREAM_TEST);
    lock(shared);
    if (bal_dispatcher_join(d, now(), thread->seed, 1, NULL))
        abort();
    unlock(shared);
    for (int i = 0; i < THREADED; i++) {
        lock(shared);
        step(d, &truth, &rng);
        unlock(shared);
    }
    lock(shared);
    bal_dispatcher_leave(d, now());
    unlock(shared);
    free(d);
    return NULL;
}

static void threads_meet_only_under_the_lock(void **state) {
    (void)state;
    struct shared *shared = begin("jiq:else=hold");
    struct bal_dispatcher *d = view(shared, 1);
    pthread_t threads[WORKERS];
    struct thread arguments[WORKERS];
    configure(shared, d);
    for (uint32_t i = 0; i < WORKERS; i++) {
        arguments[i] = (struct thread){shared, 10 + i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_thread, &arguments[i]), 0);
    }
    for (uint32_t i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    assert_null(bal_dispatcher_find_inconsistency(d));
    for (uint32_t i = 0; i < SERVERS; i++)
        assert_int_equal(bal_dispatcher_server(d, i).in_flight, 0);
    free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact_after_kills),
        cmocka_unit_test(threads_meet_only_under_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
