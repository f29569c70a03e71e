/* The options that commands share: the model, the policies, the length of runs, the output. A command's
 * request begins with a struct cli_setup and its table of options begins with the lists below. */
#ifndef CLI_SETUP_H
#define CLI_SETUP_H

#include "cli.h"

#include "ballast/lab.h"

enum { CLI_POLICIES_MAX = 64 };

struct cli_setup {
    struct bal_model model;
    bool load_given, batch_given, service_given, placement_given;
    struct bal_policy_spec policy[CLI_POLICIES_MAX];
    size_t policies;
    double time, jobs; /* NaN: not given */
    double warmup;     /* NaN: automatic */
    double window;     /* last span of a run that is measured; 0: not given */
    double replications, precision, seed, threads;
    enum bal_engine engine;
    enum cli_format format;
    const char *output;
    const char *figure; /* a file to draw into; NULL: none */
    bool quiet;
};

/* 100 servers at load 0.9, exponential service, 10 replications, seed 1. */
void cli_setup_init(struct cli_setup *setup);

/* Looks at the whole: without policies it takes all that fit. Returns -1 to go on, otherwise the exit status.
 */
int cli_setup_check(struct cli_setup *setup);

/* Length of a replication in time: as asked, or 2M jobs and at least 100 a server. */
double cli_setup_time(const struct cli_setup *setup);

/* The case of one of its policies. */
struct bal_case cli_setup_case(const struct cli_setup *setup, size_t policy);

/* Catches signals, starts the progress bar, and says how the lab is to run; the caller ends the progress. */
struct bal_lab_options cli_setup_lab(const struct cli_setup *setup, struct cli_progress *progress);

#define CLI_MODEL_OPTIONS                                                                                    \
    {"servers", "FLEET", "a number, or COUNTxSPEED,...: 100 or 50x1,50x10 (default 100)", cli_set_servers},  \
        {"slots", "K", "jobs that a server works on at once (default 1)", cli_set_slots},                    \
        {"load", "X", "arriving work over capacity (default 0.9)", cli_set_load},                            \
        {"service", "LAW", "job sizes: exp, det, erlang(K), hyper(C2), pareto(A), ... (default exp)",        \
         cli_set_service},                                                                                   \
        {"high", "P", "two classes of jobs: the share of the high one, 0 to 1", cli_set_high},               \
        {"discipline", "NAME", "auto, fifo, preemptive or nonpreemptive (default auto)",                     \
         cli_set_discipline},                                                                                \
        {"tasks", "M", "tasks of a job, divided among servers (default 1)", cli_set_tasks},                  \
        {"curve", "SHAPE", "load over time: constant, sine(A,P), table(T:F ...) or file(PATH)",              \
         cli_set_curve},                                                                                     \
        {"buffer", "B", "most jobs at a server, one more is lost (default: no limit)", cli_set_buffer},      \
        {"standby", "LAW", "idle time before a server switches off, in place of 1/mu: det(10), ...",         \
         cli_set_standby},                                                                                   \
        {"setup", "LAW", "time to switch a server on, in place of 1/nu: det(10), erlang(4,10), ...",         \
         cli_set_setup},                                                                                     \
        {"watts", "B,I,S,O", "of a server busy, idle, in set-up, off (default 200,140,200,0)",               \
         cli_set_watts},                                                                                     \
        {"start", "STATE", "idle, or parts such as busy=0.1,setup=0,off=0.9 (default idle)", cli_set_start}, \
        {"slotted", NULL, "slotted time: a batch of jobs in each slot, capacities of 1 or more",             \
         cli_set_slotted},                                                                                   \
        {"batch", "LAW", "slotted: poisson, geometric, bernoulli, constant(K), ... (default poisson)",       \
         cli_set_batch},                                                                                     \
        {"split", NULL, "slotted: batches may be divided among servers", cli_set_split},                     \
        {"steal", "F", "idle servers steal: half, one, constant(K), log2, sqrt, ... (default none)",         \
         cli_set_steal},                                                                                     \
        {"victims", "WHOM", "they ask one of all servers or of the others (default all)", cli_set_victims},  \
    {                                                                                                        \
        "placement", "P", "policy stealing: even, hosts(K), moving, walk, map(H:C ...) (default even)",      \
            cli_set_placement                                                                                \
    }

#define CLI_POLICY_OPTION                                                                                    \
    { "policy", "POLICY", "name or name:key=value,...; repeat it (default: all that fit)", cli_set_policy }

#define CLI_RUN_OPTIONS                                                                                      \
    {"time", "T", "length of each replication in time (slots)", cli_set_time},                               \
        {"jobs", "J", "or in expected jobs (default 2M, and at least 100 a server)", cli_set_jobs},          \
        {"warmup", "PART", "part of the run to cut, 0 to 0.999, or mser: MSER-5 (default 0.2)",              \
         cli_set_warmup},                                                                                    \
        {"window", "W", "or measure the last W units of time alone (least: a thousandth of the run)",        \
         cli_set_window},                                                                                    \
        {"replications", "R", "independent runs of each policy (default 10)", cli_set_replications},         \
        {"precision", "P", "add replications until the mean is known to within P, such as 0.01",             \
         cli_set_precision},                                                                                 \
        {"seed", "S", "another seed, other random numbers (default 1)", cli_set_seed},                       \
        {"threads", "K", "threads to use (default: all processors); results do not depend on it",            \
         cli_set_threads},                                                                                   \
    {                                                                                                        \
        "engine", "NAME", "auto, markov, event, slotted, pooled or stealing (default auto)", cli_set_engine  \
    }

#define CLI_OUTPUT_OPTIONS                                                                                   \
    {"format", "FORM", "text, csv or json (default text)", cli_set_format},                                  \
        {"output", "FILE", "write the results there (default: standard output)", cli_set_output}, {          \
        "quiet", NULL, "no progress bar", cli_set_quiet                                                      \
    }

/* The setters of the options above; into is a struct cli_setup. */
enum bal_code cli_set_servers(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_slots(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_load(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_service(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_high(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_discipline(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_tasks(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_curve(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_buffer(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_standby(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_setup(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_watts(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_start(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_slotted(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_batch(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_split(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_steal(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_victims(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_placement(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_policy(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_time(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_jobs(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_warmup(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_window(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_replications(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_precision(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_seed(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_threads(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_engine(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_format(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_output(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_figure(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_quiet(void *into, const char *value, struct bal_error *err);

#endif
