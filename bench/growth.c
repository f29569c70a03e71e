/* SPDX-License-Identifier: BSD-2-Clause */
/* How the speed of the engines grows with the fleet, the load, the choices, the tasks and the threads: tables
 * in Markdown for docs/speed.md. Each number is the middle of several rounds, in turn with the bare loop. */
#include "bare.h"
#include "measure.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void print_row(const char *what, struct row row) {
    double fastest;
    const double ratio = ratio_of(&row, &fastest);
    printf("| %s | %s | %.1f | %.0f | %.2f |\n", what, row.policy, fastest / 1e6, 1e9 / fastest, ratio);
    fflush(stdout);
}

static void print_head(const char *what) {
    printf("\n| %s | policy | M events/s | ns an event | of the bare loop |\n|---|---|---|---|---|\n", what);
}

static const char *const fleets[] = {"10", "100", "1000", "10k", "100k", "1M"};
static const char *const policies[] = {"pod:d=2", "jiq"};

/* Runs long enough to be in equilibrium for the most part, and short enough to wait for. */
static double jobs_for(const char *servers, enum bli_engine engine) {
    if (servers[1] == 'M')
        return engine == BLI_ENGINE_MARKOV ? 5e6 : 2e6;
    return 1e6;
}

static void by_servers(enum bli_engine engine, const char *name) {
    char text[64];
    snprintf(text, sizeof text, "servers, engine %s", name);
    print_head(text);
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
        for (size_t i = 0; i < sizeof fleets / sizeof *fleets; i++)
            print_row(fleets[i], (struct row){.servers = fleets[i],
                                              .service = "exp",
                                              .policy = policies[p],
                                              .load = 0.9,
                                              .jobs = jobs_for(fleets[i], engine),
                                              .engine = engine});
}

static void by_load(void) {
    static const double loads[] = {0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99};
    print_head("load, 1000 servers");
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        char text[64];
        snprintf(text, sizeof text, "%g, %s", loads[i], loads[i] < 0.05 ? "event" : "markov");
        print_row(
            text,
            (struct row){
                .servers = "1000", .service = "exp", .policy = "pod:d=2", .load = loads[i], .jobs = 1e6});
    }
}

static void by_choices(void) {
    static const char *const choices[] = {"pod:d=1", "pod:d=2", "pod:d=4", "pod:d=8", "pod:d=16"};
    print_head("choices, 1000 servers");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        print_row(choices[i] + 4,
                  (struct row){
                      .servers = "1000", .service = "exp", .policy = choices[i], .load = 0.9, .jobs = 1e6});
}

static void by_tasks(void) {
    static const uint32_t tasks[] = {1, 2, 10, 100};
    print_head("tasks of a job, 1000 servers");
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        char text[64];
        snprintf(text, sizeof text, "%u", tasks[i]);
        print_row(text, (struct row){.servers = "1000",
                                     .service = "exp",
                                     .policy = "pod:d=2,pertask=1",
                                     .load = 0.9,
                                     .jobs = 1e6,
                                     .tasks = tasks[i]});
    }
}

static void *run_thread(void *unused) {
    static const struct row row = {
        .servers = "1000", .service = "exp", .policy = "pod:d=2", .load = 0.9, .jobs = 4e6};
    (void)unused;
    speed_of(&row, 1);
    return NULL;
}

static double wall_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* By the clock on the wall: what other programs take is missing here. */
static void by_threads(void) {
    enum { MAX = 4 };
    printf("\n| threads, a replication each | M events/s together, by the clock on the wall |\n|---|---|\n");
    for (int threads = 1; threads <= MAX; threads *= 2) {
        double speeds[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            pthread_t thread[MAX];
            const double start = wall_seconds();
            for (int i = 0; i < threads; i++)
                if (pthread_create(&thread[i], NULL, run_thread, NULL) != 0)
                    die("no thread");
            for (int i = 0; i < threads; i++)
                pthread_join(thread[i], NULL);
            speeds[round] = threads * 8e6 / (wall_seconds() - start);
        }
        printf("| %d | %.1f |\n", threads, median_of(speeds, ROUNDS) / 1e6);
        fflush(stdout);
    }
}

/* One run alone, of 200 000 jobs: what bench/where counts. */
static int run_once(const char *engine, const char *policy, const char *servers) {
    const struct row row = {.servers = servers,
                            .service = "exp",
                            .policy = policy,
                            .load = 0.9,
                            .jobs = 6e5,
                            .engine = strcmp(engine, "event") == 0 ? BLI_ENGINE_EVENT : BLI_ENGINE_MARKOV};
    speed_of(&row, 1);
    return 0;
}

static void print_bare(void) {
    double bare[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        bare[i] = bare_speed(8000000);
    printf("The bare loop: %.1f M events/s.\n", median_of(bare, ROUNDS) / 1e6);
}

static void by_servers_markov(void) {
    by_servers(BLI_ENGINE_MARKOV, "markov");
}

static void by_servers_event(void) {
    by_servers(BLI_ENGINE_EVENT, "event");
}

static const struct {
    const char *name;
    void (*print)(void);
} tables[] = {{"bare", print_bare},   {"markov", by_servers_markov}, {"event", by_servers_event},
              {"load", by_load},      {"choices", by_choices},       {"tasks", by_tasks},
              {"threads", by_threads}};

/* usage: bench-growth [TABLE | ENGINE POLICY SERVERS]; all tables unless one is named */
int main(int argc, char **argv) {
    if (argc == 4)
        return run_once(argv[1], argv[2], argv[3]);
    bool any = false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (argc < 2 || strcmp(argv[1], tables[i].name) == 0) {
            tables[i].print();
            any = true;
        }
    if (!any)
        die("there is no such table; there are bare, markov, event, load, choices, tasks and threads");
    return 0;
}
