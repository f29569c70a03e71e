/* ballast compare: several policies on one fleet, side by side. */
#include "commands.h"

#include "ballast/lab.h"
#include "report/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLICIES_MAX = 64 };

struct request {
    struct bal_model model;
    struct bal_policy_spec policy[POLICIES_MAX];
    size_t policies;
    double time, jobs; /* NaN: not given */
    double warmup;
    double replications, precision, seed, threads;
    enum bal_engine engine;
    enum cli_format format;
    const char *output;
    bool quiet;
};

static enum bal_code set_servers(void *into, const char *value, struct bal_error *err) {
    return bal_servers_parse(value, &((struct request *)into)->model.servers, err);
}

static enum bal_code set_load(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 100, false, "a number above 0 (to 100), such as 0.9"};
    return cli_number(value, &range, &((struct request *)into)->model.load, err);
}

static enum bal_code set_service(void *into, const char *value, struct bal_error *err) {
    return bal_law_parse(value, &((struct request *)into)->model.size, err);
}

static enum bal_code set_policy(void *into, const char *value, struct bal_error *err) {
    struct request *request = into;
    if (request->policies == POLICIES_MAX)
        return bal_fail(err, BAL_E_RANGE, "too many; at most %d policies can be compared at once", POLICIES_MAX);
    const enum bal_code code = bal_policy_parse(value, &request->policy[request->policies], err);
    request->policies += code == BAL_OK;
    return code;
}

static enum bal_code set_time(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e15, false, "a length of time above 0, such as 10k"};
    return cli_number(value, &range, &((struct request *)into)->time, err);
}

static enum bal_code set_jobs(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 1e15, true, "a whole number from 1, such as 2M"};
    return cli_number(value, &range, &((struct request *)into)->jobs, err);
}

static enum bal_code set_warmup(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 0.5, false, "auto, or the part of the run to cut, 0 to 0.5"};
    struct request *request = into;
    if (strcmp(value, "auto") != 0)
        return cli_number(value, &range, &request->warmup, err);
    request->warmup = NAN;
    return BAL_OK;
}

static enum bal_code set_replications(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 100000, true, "a whole number from 1 to 100000"};
    return cli_number(value, &range, &((struct request *)into)->replications, err);
}

static enum bal_code set_precision(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1, false, "a relative half-width from 0.000001 to 1, such as 0.01"};
    return cli_number(value, &range, &((struct request *)into)->precision, err);
}

static enum bal_code set_seed(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 9007199254740991, true, "a whole number from 0"};
    return cli_number(value, &range, &((struct request *)into)->seed, err);
}

static enum bal_code set_threads(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 1024, true, "a whole number from 1 to 1024"};
    return cli_number(value, &range, &((struct request *)into)->threads, err);
}

static enum bal_code set_engine(void *into, const char *value, struct bal_error *err) {
    struct request *request = into;
    for (int i = BAL_ENGINE_AUTO; i <= BAL_ENGINE_EVENT; i++)
        if (strcmp(value, bal_engine_text((enum bal_engine)i)) == 0) {
            request->engine = (enum bal_engine)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of auto, markov, event");
}

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    return cli_format(value, &((struct request *)into)->format, err);
}

static enum bal_code set_output(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct request *)into)->output = value;
    return BAL_OK;
}

static enum bal_code set_quiet(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct request *)into)->quiet = true;
    return BAL_OK;
}

static const struct cli_option options[] = {
    {"servers", "FLEET", "a number, or COUNTxSPEED,...: 100 or 50x1,50x10 (default 100)", set_servers},
    {"load", "X", "arriving work over capacity (default 0.9)", set_load},
    {"policy", "POLICY", "name or name:key=value,...; repeat it (default: all that fit)", set_policy},
    {"service", "LAW", "job sizes: exp, det, erlang(K), hyper(C2), pareto(A), ... (default exp)", set_service},
    {"time", "T", "length of each replication in time", set_time},
    {"jobs", "J", "or in expected jobs (default 2M, and at least 100 a server)", set_jobs},
    {"warmup", "PART", "part of the run to cut, 0 to 0.5 (default auto: MSER-5)", set_warmup},
    {"replications", "R", "independent runs of each policy (default 10)", set_replications},
    {"precision", "P", "add replications until the mean is known to within P, such as 0.01", set_precision},
    {"seed", "S", "another seed, other random numbers (default 1)", set_seed},
    {"threads", "K", "threads to use (default: all processors); results do not depend on it", set_threads},
    {"engine", "NAME", "auto, markov or event (default auto)", set_engine},
    {"format", "FORM", "text, csv or json (default text)", set_format},
    {"output", "FILE", "write the results there (default: standard output)", set_output},
    {"quiet", NULL, "no progress bar", set_quiet},
};

/* Without --policy: every policy that can run this model. */
static void choose_all(struct request *request) {
    for (size_t i = 0; i < bal_policy_count && request->policies < POLICIES_MAX; i++) {
        struct bal_policy_spec spec;
        enum bal_engine engine;
        if (bal_policy_parse(bal_policy_table[i]->name, &spec, NULL) == BAL_OK &&
            bal_simulate_check(&request->model, &spec, request->engine, &engine, NULL) == BAL_OK)
            request->policy[request->policies++] = spec;
    }
}

static int check(struct request *request) {
    struct bal_error err = {0};
    if (bal_model_check(&request->model, &err))
        return cli_fail("--service: %s", err.text);
    if (!isnan(request->time) && !isnan(request->jobs))
        return cli_fail("--time and --jobs: both say how long a run is; give one of them");
    if (request->policies == 0)
        choose_all(request);
    if (request->policies == 0)
        return cli_fail("no policy fits this model; name one with --policy to see why");
    for (size_t i = 0; i < request->policies; i++) {
        enum bal_engine engine;
        if (bal_simulate_check(&request->model, &request->policy[i], request->engine, &engine, &err))
            return cli_fail("--policy: %s", err.text);
    }
    return -1;
}

static double run_time(const struct request *request) {
    const double rate = bal_model_arrival_rate(&request->model);
    if (!isnan(request->time))
        return request->time;
    if (!isnan(request->jobs))
        return request->jobs / rate;
    return fmax(2e6, 100.0 * bal_servers_count(&request->model.servers)) / rate;
}

static void fill_cases(const struct request *request, struct bal_case *cases) {
    for (size_t i = 0; i < request->policies; i++)
        cases[i] = (struct bal_case){
            .model = request->model,
            .policy = request->policy[i],
            .run = {.seed = (uint64_t)request->seed,
                    .time = run_time(request),
                    .warmup = request->warmup,
                    .engine = request->engine},
            .replications = (unsigned)request->replications,
            .precision = request->precision,
        };
}

static void warn_imprecise(const struct comparison *comparison) {
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bal_result *result = &comparison->results[i];
        if (result->precise || result->replications == 0 || result->verdict == BAL_UNSTABLE)
            continue;
        char policy[200];
        bal_policy_print(&comparison->cases[i].policy, policy, sizeof policy);
        cli_warn("%s: precision %g was not reached after %u replications; use longer runs (--jobs)", policy,
                 comparison->precision, result->replications);
    }
}

static int print_results(const struct request *request, const struct comparison *comparison,
                         struct cli_output *output) {
    if (request->format == CLI_JSON)
        comparison_json(comparison, output->stream);
    else if (request->format == CLI_CSV)
        comparison_csv(comparison, output->stream);
    else
        comparison_text(comparison, output->stream);
    const int status = cli_output_close(output);
    if (status)
        return status;
    if (comparison->cut_short) {
        cli_warn("interrupted: these results are cut short and come from the replications that were complete");
        return CLI_INTERRUPTED;
    }
    warn_imprecise(comparison);
    return CLI_OK;
}

static int compare(const struct request *request, struct bal_case *cases, struct bal_result *results) {
    struct cli_output output;
    const int opened = cli_output_open(&output, request->output);
    if (opened)
        return opened;
    fill_cases(request, cases);
    cli_catch_signals();
    struct cli_progress progress;
    cli_progress_start(&progress, request->quiet);
    const struct bal_lab_options lab = {.threads = (unsigned)request->threads,
                                        .stop = &cli_stop,
                                        .progress = cli_progress_show,
                                        .progress_context = &progress};
    struct bal_error err = {0};
    const enum bal_code code = bal_lab_run(cases, request->policies, &lab, results, &err);
    cli_progress_end(&progress);
    if (code && code != BAL_E_STOPPED) {
        cli_output_discard(&output);
        return cli_fail("%s", err.text);
    }
    const struct comparison comparison = {
        .cases = cases,
        .results = results,
        .count = request->policies,
        .jobs = cases[0].run.time * bal_model_arrival_rate(&request->model),
        .precision = request->precision,
        .cut_short = code == BAL_E_STOPPED,
    };
    return print_results(request, &comparison, &output);
}

static int run(const struct cli_command *command, int argc, char **argv) {
    struct request request = {
        .time = NAN, .jobs = NAN, .warmup = NAN, .replications = 10, .seed = 1, .model = {.load = 0.9}};
    struct bal_error err;
    if (bal_servers_parse("100", &request.model.servers, &err) || bal_law_parse("exp", &request.model.size, &err))
        return cli_fail("%s", err.text);
    int operands;
    int status = cli_parse(command, argc, argv, &request, 0, &operands);
    if (status < 0)
        status = check(&request);
    if (status >= 0)
        return status;
    struct bal_case *cases = calloc(request.policies, sizeof *cases);
    struct bal_result *results = calloc(request.policies, sizeof *results);
    status = cases && results ? compare(&request, cases, results) : cli_fail("not enough memory");
    free(cases);
    free(results);
    return status;
}

const struct cli_command cmd_compare = {
    .name = "compare",
    .summary = "compare policies on one fleet: response times, messages, memory",
    .operands = "",
    .description = "Simulates each policy on the same fleet with the same arrivals and prints the mean response time with its\n"
                   "95 % confidence interval, percentiles, messages and memory, beside what theory says. Best first.",
    .examples = "  ballast compare\n"
                "  ballast compare --servers 50x1,50x10 --load 0.8\n"
                "  ballast compare --policy pod:d=2 --policy jiq --service 'lognormal(4)' --precision 0.01\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
