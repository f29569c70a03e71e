/* SPDX-License-Identifier: BSD-2-Clause */
/* What a decision costs in a live dispatcher: a request comes and its response comes back, with all counts,
 * for 100 servers. Alone, without a lock; and two processes on one block, each taking a robust lock for each
 * of the two calls. */
#include "ballast/live/dispatcher.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SERVERS = 100, IN_FLIGHT = 64, ROUNDS = 5, PAIRS = 400000 };
static const double wanted_ns = 250;

struct shared {
    pthread_mutex_t lock;
    _Alignas(64) char block[];
};

static void die(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static uint64_t wall_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void lock_if_contended(struct shared *shared, bool contended) {
    if (contended && pthread_mutex_lock(&shared->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&shared->lock);
}

static void unlock_if_contended(struct shared *shared, bool contended) {
    if (contended)
        pthread_mutex_unlock(&shared->lock);
}

static uint64_t cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Nanoseconds for a request and the response of another, of this process: of the processor when it is alone,
 * of the clock on the wall when it has to wait for others. */
static double measure_process(struct shared *shared, const struct bal_policy_spec *policy,
                              const struct bal_dispatcher_config *config, uint64_t seed, bool contended) {
    struct bal_dispatcher *d = malloc(bal_dispatcher_view_size(policy, config));
    static uint64_t ticket[IN_FLIGHT];
    struct bal_error err;
    if (!d || bal_dispatcher_open(d, shared->block, seed, &err))
        die("cannot open the block");
    lock_if_contended(shared, contended);
    if (bal_dispatcher_join(d, 1, seed, 1, &err))
        die(err.text);
    unlock_if_contended(shared, contended);
    uint64_t now = 1000;
    for (int i = 0; i < IN_FLIGHT; i++)
        ticket[i] = 0;
    const uint64_t start = contended ? wall_ns() : cpu_ns();
    for (int i = 0; i < PAIRS; i++) {
        struct bal_dispatch to;
        lock_if_contended(shared, contended);
        bal_dispatcher_arrive(d, now += 1000, 0, &to);
        unlock_if_contended(shared, contended);
        uint64_t *slot = &ticket[i % IN_FLIGHT];
        lock_if_contended(shared, contended);
        if (*slot)
            bal_dispatcher_respond(d, now, *slot, BAL_OUTCOME_GOOD);
        unlock_if_contended(shared, contended);
        *slot = to.ticket;
    }
    const double ns = (double)((contended ? wall_ns() : cpu_ns()) - start) / PAIRS;
    lock_if_contended(shared, contended);
    bal_dispatcher_leave(d, now);
    unlock_if_contended(shared, contended);
    free(d);
    return ns;
}

static struct shared *make_dispatcher(const struct bal_policy_spec *policy,
                                      const struct bal_dispatcher_config *config, size_t *size) {
    static char names[SERVERS][16];
    static struct bal_dispatcher_server servers[SERVERS];
    struct bal_error err;
    *size = sizeof(struct shared) + bal_dispatcher_size(policy, config);
    struct shared *shared = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        die("no memory");
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->lock, &attributes);
    bal_dispatcher_create(shared->block, policy, config, 1);
    struct bal_dispatcher *d = malloc(bal_dispatcher_view_size(policy, config));
    if (!d || bal_dispatcher_open(d, shared->block, 1, &err) || bal_dispatcher_join(d, 1, 1, 1, &err))
        die("cannot begin");
    for (unsigned i = 0; i < SERVERS; i++) {
        snprintf(names[i], sizeof names[i], "server%u", i % 1000);
        servers[i] = (struct bal_dispatcher_server){.name = names[i]};
    }
    if (bal_dispatcher_configure(d, 1, servers, SERVERS, &err))
        die(err.text);
    bal_dispatcher_leave(d, 1);
    free(d);
    return shared;
}

static double measure_processes(struct shared *shared, const struct bal_policy_spec *policy,
                                const struct bal_dispatcher_config *config) {
    int pipes[2];
    double its = 0;
    if (pipe(pipes) != 0)
        die("no pipe");
    const pid_t child = fork();
    if (child == 0) {
        its = measure_process(shared, policy, config, 3, true);
        _exit(write(pipes[1], &its, sizeof its) != sizeof its);
    }
    const double mine = measure_process(shared, policy, config, 2, true);
    int status;
    if (child < 0 || read(pipes[0], &its, sizeof its) != sizeof its || waitpid(child, &status, 0) < 0 ||
        status)
        die("the other process failed");
    close(pipes[0]);
    close(pipes[1]);
    return mine > its ? mine : its;
}

static void measure_policy(const char *text) {
    const struct bal_dispatcher_config config = {
        .servers = SERVERS, .workers = 4, .requests = 1024, .failures = 3, .back_off_ns = 1000000000};
    struct bal_policy_spec policy;
    struct bal_error err;
    size_t size;
    if (bal_policy_parse(text, &policy, &err) || bal_dispatcher_check(&policy, &config, &err))
        die(err.text);
    struct shared *shared = make_dispatcher(&policy, &config, &size);
    double alone = 1e9, contended = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        const double a = measure_process(shared, &policy, &config, 2, false),
                     b = measure_processes(shared, &policy, &config);
        alone = a < alone ? a : alone;
        contended = b < contended ? b : contended;
    }
    printf("%-32s %-22s %4.0f ns  (wanted %.0f: %s), two processes %5.0f ns each\n",
           "dispatcher, 100 servers", text, alone, wanted_ns, alone <= wanted_ns ? "met" : "NOT MET",
           contended);
    fflush(stdout);
    munmap(shared, size);
}

/* Processor time of a configuration with one server more or less: requests wait for as long. */
static void measure_reload(uint32_t count) {
    const struct bal_dispatcher_config config = {.servers = 2 * count, .workers = 4, .requests = 1024};
    struct bal_dispatcher_server *servers = calloc(count + 1, sizeof *servers);
    char(*names)[24] = calloc(count + 1, sizeof *names);
    struct bal_policy_spec policy;
    struct bal_error err;
    if (!servers || !names || bal_policy_parse("jiq:else=least-conn", &policy, &err))
        die("no memory");
    void *block = aligned_alloc(64, bal_dispatcher_size(&policy, &config));
    struct bal_dispatcher *d = malloc(bal_dispatcher_view_size(&policy, &config));
    if (!block || !d)
        die("no memory");
    for (uint32_t i = 0; i <= count; i++) {
        snprintf(names[i], sizeof names[i], "10.0.%u.%u:8080", i / 250, i % 250);
        servers[i] = (struct bal_dispatcher_server){.name = names[i]};
    }
    bal_dispatcher_create(block, &policy, &config, 1);
    if (bal_dispatcher_open(d, block, 1, &err) || bal_dispatcher_configure(d, 1, servers, count, &err))
        die(err.text);
    uint64_t most = 0;
    for (uint32_t i = 0; i < 20; i++) {
        const uint64_t begun = cpu_ns();
        if (bal_dispatcher_configure(d, 2 + i, servers, count + 1 - i % 2, &err))
            die(err.text);
        const uint64_t took = cpu_ns() - begun;
        most = took > most ? took : most;
    }
    printf("a reload of one server more or less, %u servers: %.2f ms at most of 20\n", count,
           (double)most * 1e-6);
    free(names);
    free(servers);
    free(block);
    free(d);
}

int main(void) {
    static const char *const policies[] = {"random", "jiq", "least-conn", "pod:d=2", "lsq", "ewma"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        measure_policy(policies[i]);
    measure_reload(1000);
    measure_reload(10000);
    return 0;
}
