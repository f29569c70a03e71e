/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast the engines are, as ratios to the bare loop inside one run: each row is measured in turn with the
 * bare loop, several times, and the middle ratio is shown. These machines are shared; a ratio says more than
 * a speed. */
#include "bare.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is wanted of slotted time, stealing and networks is the speed that was wanted when the bare loop ran
 * at three quarters of what it does now. */
static const struct row rows[] = {
    {"markov, 100 servers", "100", "exp", "pod:d=2", 0.9, 4e6, MARKOV, .wanted = 0.4},
    {"markov, 1000 servers", "1000", "exp", "pod:d=2", 0.9, 4e6, MARKOV, .wanted = 0.4},
    {"markov, 10 000 servers", "10k", "exp", "pod:d=2", 0.9, 4e6, MARKOV, .wanted = 0.4},
    {"markov, 100 000 servers", "100k", "exp", "pod:d=2", 0.9, 4e6, MARKOV, .wanted = 0.3},
    {"markov, 1 000 000 servers", "1M", "exp", "pod:d=2", 0.9, 1e7, MARKOV, .wanted = 0.25},
    {"event, 100 servers", "100", "exp", "pod:d=2", 0.9, 2e6, EVENT, .wanted = 0.21},
    {"event, 1000 servers", "1000", "exp", "pod:d=2", 0.9, 2e6, EVENT, .wanted = 0.21},
    {"event, 10 000 servers", "10k", "exp", "pod:d=2", 0.9, 2e6, EVENT, .wanted = 0.14},
    {"event, 100 000 servers", "100k", "exp", "pod:d=2", 0.9, 2e6, EVENT},
    {"event, 1 000 000 servers", "1M", "exp", "pod:d=2", 0.9, 4e6, EVENT},
    {"event, lognormal sizes", "1000", "lognormal(4)", "pod:d=2", 0.9, 2e6, EVENT},
    {"markov, jiq", "1000", "exp", "jiq", 0.9, 4e6, MARKOV, .wanted = 0.33},
    {"markov, jiq of 100 000", "100k", "exp", "jiq", 0.9, 4e6, MARKOV},
    {"markov, jiq of 1 000 000", "1M", "exp", "jiq", 0.9, 1e7, MARKOV},
    {"markov, pi", "1000", "exp", "pi", 0.9, 4e6, MARKOV, .wanted = 0.33},
    {"markov, jsq of 10 000", "10000", "exp", "jsq", 0.9, 4e6, MARKOV},
    {"event, least-work of 10 000", "10000", "exp", "least-work", 0.9, 1e6, EVENT},
    {"event, 8 slots a server", "125", "exp", "pod:d=2", 0.9, 2e6, EVENT, .slots = 8},
    {"event, servers that steal", "1000", "exp", "random", 0.9, 2e6, EVENT, .steal = "half"},
    {"event, recorded jobs", "1000", "exp", "pod:d=2", 0.9, 2e6, EVENT, .recorded = true, .wanted = 0.1},
    {"event, recorded jobs and slots", "125", "exp", "pod:d=2", 0.9, 2e6, EVENT, .recorded = true,
     .slots = 8},
    {"markov, rcpb", "1000", "exp", "rcpb:c=2,mup=1", 0.9, 4e6, MARKOV, .wanted = 0.22},
    {"markov, tabs", "1000", "exp", "tabs", 0.9, 2e6, MARKOV, .wanted = 0.18},
    {"markov, two classes", "1000", "exp", "pod-ssp:d1=2,d2=2", 0.9, 2e6, MARKOV, .high = 0.5,
     .wanted = 0.22},
    {"network, 4 dispatchers, delays", "1000", "exp", "jiq", 0.9, 1e6, NETWORK, .dispatchers = 4,
     .wanted = 0.037},
    {"network, probes with delays", "1000", "exp", "pod:d=2", 0.9, 1e6, NETWORK, .dispatchers = 4},
    {"slotted, server-slots", "50x1,50xuniform(1,19)", "exp", "pi", 0.9, 1e6, .engine = BLI_ENGINE_SLOTTED,
     .slotted = true, .wanted = 0.33},
    {"stealing, processor-steps", "1000", "exp", "stealing", 0.9, 2e4, CHAIN, .steal = "half",
     .placement = "hosts(1)", .wanted = 0.33},
    {"stealing, generators even", "1000", "exp", "stealing", 0.9, 2e4, CHAIN, .steal = "half",
     .wanted = 0.33},
    {"stealing, 100 000 processors", "100k", "exp", "stealing", 0.9, 300, CHAIN, .steal = "half",
     .placement = "hosts(1)", .wanted = 0.33},
};

static void print_measured_row(const struct row *row) {
    double fastest;
    const double ratio = ratio_of(row, &fastest);
    printf("%-32s %-22s %6.1f M/s  %5.2f of the bare loop", row->what, row->policy, fastest / 1e6, ratio);
    if (row->wanted > 0)
        printf("  (wanted %.2f: %s)", row->wanted, ratio >= row->wanted ? "met" : "NOT MET");
    putchar('\n');
    fflush(stdout);
}

/* The most memory that this process has had resident so far. */
static double peak_bytes(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        die("cannot tell the memory in use");
    return (double)usage.ru_maxrss * 1024;
}

/* A million servers, in a process of their own so that its memory can be told. */
static void measure_memory(void) {
    const pid_t child = fork();
    if (child == 0) {
        static const struct row large = {.servers = "1M",
                                         .service = "exp",
                                         .policy = "pod:d=2",
                                         .load = 0.9,
                                         .jobs = 2e7,
                                         .engine = BLI_ENGINE_MARKOV};
        const double before = peak_bytes();
        speed_of(&large, 1);
        const double bytes = (peak_bytes() - before) / 1e6;
        printf("%-32s %-22s %6.0f bytes a server  (wanted at most 100: %s)\n", "memory, 1 000 000 servers",
               "pod:d=2", bytes, bytes <= 100 ? "met" : "NOT MET");
        fflush(stdout);
        _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        die("the run with a million servers failed");
}

/* Many short trials, as a sweep has them. */
static void measure_trials(void) {
    static const struct row brief = {
        .servers = "100", .service = "exp", .policy = "pod:d=2", .load = 0.9, .jobs = 100, MARKOV};
    enum { TRIALS = 10000 / ROUNDS };
    double took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const double start = processor_time();
        speed_of(&brief, TRIALS);
        took[i] = (processor_time() - start) / TRIALS * 1e3;
    }
    const double middle = median_of(took, ROUNDS);
    printf("%-32s %-22s %6.3f ms  (wanted at most 0.15: %s)\n", "a trial of 100 jobs of 10 000", "pod:d=2",
           middle, middle <= 0.15 ? "met" : "NOT MET");
    fflush(stdout);
}

static void print_bare(const char *what, double (*speed)(uint64_t)) {
    double speeds[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        speeds[i] = speed(8000000);
    printf("%-32s %-22s %6.1f M/s\n", what, "pod:d=2, counts only", median_of(speeds, ROUNDS) / 1e6);
    fflush(stdout);
}

/* With an argument: only the rows that have it in their name. */
int main(int argc, char **argv) {
    const char *const part = argc > 1 ? argv[1] : "";
    if (!*part) {
        measure_memory();
        measure_trials();
        print_bare("bare loop, rates whole numbers", bare_whole_speed);
    }
    print_bare("bare loop", bare_speed);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i].what, part))
            print_measured_row(&rows[i]);
    return 0;
}
