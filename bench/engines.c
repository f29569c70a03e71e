/* How fast the engines are, as ratios to the bare loop inside one run: each row is measured in turn with the
 * bare loop, several times, and the middle ratio is shown. These machines are shared; a ratio says more than
 * a speed. */
#include "bare.h"

#include "ballast/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 7 };

struct row {
    const char *what;
    const char *servers, *service, *policy;
    double load, jobs; /* expected; or slots */
    enum bal_engine engine;
    bool slotted;
    double wanted;                 /* least ratio to the bare loop; 0: none */
    double high;                   /* above 0: classes */
    uint32_t slots;                /* of a server */
    const char *steal, *placement; /* of work stealing; NULL: none */
    bool recorded;                 /* jobs from a trace */
    uint32_t dispatchers;          /* above 0: so many, and every message takes 0.1 on average */
};

#define MARKOV .engine = BAL_ENGINE_MARKOV
#define EVENT .engine = BAL_ENGINE_EVENT
#define NETWORK .engine = BAL_ENGINE_NETWORK
#define CHAIN .engine = BAL_ENGINE_STEALING, .slotted = true

static const struct row rows[] = {
    {"markov, exact response times", "1000", "exp", "pod:d=2", 0.9, 4e6, MARKOV, .wanted = 0.5},
    {"event, exponential sizes", "1000", "exp", "pod:d=2", 0.9, 2e6, EVENT, .wanted = 0.1},
    {"event, lognormal sizes", "1000", "lognormal(4)", "pod:d=2", 0.9, 2e6, EVENT},
    {"markov, jiq", "1000", "exp", "jiq", 0.9, 4e6, MARKOV},
    {"markov, jsq of 10 000", "10000", "exp", "jsq", 0.9, 4e6, MARKOV},
    {"event, least-work of 10 000", "10000", "exp", "least-work", 0.9, 1e6, EVENT},
    {"event, 8 slots a server", "125", "exp", "pod:d=2", 0.9, 2e6, EVENT, .slots = 8},
    {"event, servers that steal", "1000", "exp", "random", 0.9, 2e6, EVENT, .steal = "half"},
    {"event, recorded jobs", "1000", "exp", "pod:d=2", 0.9, 2e6, EVENT, .recorded = true, .wanted = 0.1},
    {"event, recorded jobs and slots", "125", "exp", "pod:d=2", 0.9, 2e6, EVENT, .recorded = true,
     .slots = 8},
    {"markov, rcpb", "1000", "exp", "rcpb:c=2,mup=1", 0.9, 4e6, MARKOV},
    {"markov, two classes", "1000", "exp", "pod-ssp:d1=2,d2=2", 0.9, 2e6, MARKOV, .high = 0.5,
     .wanted = 0.25},
    {"network, 4 dispatchers, delays", "1000", "exp", "jiq", 0.9, 1e6, NETWORK, .dispatchers = 4,
     .wanted = 0.05},
    {"network, probes with delays", "1000", "exp", "pod:d=2", 0.9, 1e6, NETWORK, .dispatchers = 4},
    {"slotted, server-slots", "50x1,50xuniform(1,19)", "exp", "pi", 0.9, 1e6, .engine = BAL_ENGINE_SLOTTED,
     .slotted = true, .wanted = 0.45},
    {"stealing, processor-steps", "1000", "exp", "stealing", 0.9, 2e4, CHAIN, .steal = "half",
     .placement = "hosts(1)", .wanted = 0.45},
    {"stealing, generators even", "1000", "exp", "stealing", 0.9, 2e4, CHAIN, .steal = "half",
     .wanted = 0.45},
    {"stealing, 100 000 processors", "100k", "exp", "stealing", 0.9, 300, CHAIN, .steal = "half",
     .placement = "hosts(1)", .wanted = 0.45},
};

static void fail(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* A trace of such jobs as the model draws, the unit of time being a second. */
static struct bal_trace *record(const struct bal_model *model, uint64_t jobs) {
    struct bal_trace *trace;
    struct bal_error err;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    if (bal_trace_new(NULL, &trace, &err))
        fail(err.text);
    const double gap = 1e9 / bal_model_arrival_rate(model);
    double now = 0;
    for (uint64_t i = 0; i < jobs; i++) {
        now += bal_rng_exp(&rng) * gap;
        const struct bal_trace_job job = {.time = (int64_t)now,
                                          .size = 1 + (int64_t)(bal_law_sample(&model->size, &rng) * 1e9)};
        if (bal_trace_add(trace, &job, &err))
            fail(err.text);
    }
    if (bal_trace_finish(trace, NULL, &err))
        fail(err.text);
    return trace;
}

/* Events (server-slots in slotted time) per second of processor time. */
static double speed(const struct row *row) {
    struct bal_model model = {
        .load = row->load, .classes = row->high > 0, .high = row->high, .slots = row->slots};
    struct bal_policy_spec policy;
    struct bal_error err;
    if (bal_servers_parse(row->servers, &model.servers, &err) ||
        bal_law_parse(row->service, &model.size, &err) || bal_scheme_parse(row->policy, &policy, &err) ||
        bal_batch_parse("poisson", &model.batch, &err))
        fail(err.text);
    if ((row->steal && bal_steal_parse(row->steal, &model.steal, &err)) ||
        (row->placement && bal_placement_parse(row->placement, &model.placement, &err)))
        fail(err.text);
    model.network.dispatchers.count = row->dispatchers;
    if (row->dispatchers && bal_law_parse("exp(0.1)", &model.network.delay, &err))
        fail(err.text);
    model.clock = row->slotted ? BAL_CLOCK_SLOTTED : BAL_CLOCK_CONTINUOUS;
    struct bal_trace *trace = row->recorded ? record(&model, (uint64_t)row->jobs) : NULL;
    const struct bal_run run = {.seed = 1,
                                .time = trace          ? bal_trace_info(trace)->span
                                        : row->slotted ? row->jobs
                                                       : row->jobs / bal_model_arrival_rate(&model),
                                .warmup = NAN,
                                .engine = row->engine,
                                .trace = trace};
    struct bal_trial *trial = calloc(1, sizeof *trial);
    const double start = processor_time();
    if (!trial || bal_simulate(&model, &policy, &run, trial, &err))
        fail(err.text);
    const double seconds = processor_time() - start;
    const double units = row->slotted ? row->jobs * bal_servers_count(&model.servers) : (double)trial->events;
    free(trial);
    bal_trace_free(trace);
    return units / seconds;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct row *row) {
    double ratio[ROUNDS], fastest = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const double bare = bare_speed(4000000);
        const double ours = speed(row);
        ratio[i] = ours / bare;
        fastest = ours > fastest ? ours : fastest;
    }
    qsort(ratio, ROUNDS, sizeof *ratio, by_value);
    printf("%-32s %-22s %6.1f M/s  %5.2f of the bare loop", row->what, row->policy, fastest / 1e6,
           ratio[ROUNDS / 2]);
    if (row->wanted > 0)
        printf("  (wanted %.2f: %s)", row->wanted, ratio[ROUNDS / 2] >= row->wanted ? "met" : "NOT MET");
    putchar('\n');
    fflush(stdout);
}

/* The most memory that this process has had resident so far. */
static double peak_bytes(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        fail("cannot tell the memory in use");
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
                                         .engine = BAL_ENGINE_MARKOV};
        const double before = peak_bytes();
        const double events = speed(&large);
        printf("%-32s %-22s %6.1f M/s  %.0f bytes a server (wanted at most 100)\n",
               "markov, 1 000 000 servers", "pod:d=2", events / 1e6, (peak_bytes() - before) / 1e6);
        fflush(stdout);
        _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        fail("the run with a million servers failed");
}

/* With an argument: only the rows that have it in their name. */
int main(int argc, char **argv) {
    const char *const part = argc > 1 ? argv[1] : "";
    if (!*part)
        measure_memory();
    printf("%-32s %-22s %6.1f M/s\n", "bare loop", "pod:d=2, counts only", bare_speed(40000000) / 1e6);
    fflush(stdout);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i].what, part))
            measure(&rows[i]);
    return 0;
}
