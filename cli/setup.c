#include "setup.h"

#include "ballast/figure.h"

#include <math.h>
#include <string.h>

void cli_setup_init(struct cli_setup *setup) {
    *setup = (struct cli_setup){
        .time = NAN, .jobs = NAN, .warmup = NAN, .replications = 10, .seed = 1, .model = {.load = 0.9}};
    bal_servers_parse("100", &setup->model.servers, NULL);
    bal_law_parse("exp", &setup->model.size, NULL);
    bal_batch_parse("poisson", &setup->model.batch, NULL);
}

enum bal_code cli_set_servers(void *into, const char *value, struct bal_error *err) {
    return bal_servers_parse(value, &((struct cli_setup *)into)->model.servers, err);
}

enum bal_code cli_set_slots(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 1e6, true, "a whole number from 1 to 1M"};
    double slots = 1;
    const enum bal_code code = cli_number(value, &range, &slots, err);
    ((struct cli_setup *)into)->model.slots = (uint32_t)slots;
    return code;
}

enum bal_code cli_set_load(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 100, false, "a number above 0 (to 100), such as 0.9"};
    ((struct cli_setup *)into)->load_given = true;
    return cli_number(value, &range, &((struct cli_setup *)into)->model.load, err);
}

enum bal_code cli_set_service(void *into, const char *value, struct bal_error *err) {
    ((struct cli_setup *)into)->service_given = true;
    struct bal_law *size = &((struct cli_setup *)into)->model.size;
    const enum bal_code code = bal_law_parse(value, size, err);
    if (!code && isinf(size->mean))
        return bal_fail(err, BAL_E_MODEL,
                        "the mean is infinite, and a load needs a finite one; for pareto A must be above 1");
    return code;
}

enum bal_code cli_set_policy(void *into, const char *value, struct bal_error *err) {
    struct cli_setup *setup = into;
    if (setup->policies == CLI_POLICIES_MAX)
        return bal_fail(err, BAL_E_RANGE, "too many; at most %d policies can be compared at once",
                        CLI_POLICIES_MAX);
    const enum bal_code code = bal_policy_parse(value, &setup->policy[setup->policies], err);
    setup->policies += code == BAL_OK;
    return code;
}

enum bal_code cli_set_time(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e15, false, "a length of time above 0, such as 10k"};
    return cli_number(value, &range, &((struct cli_setup *)into)->time, err);
}

enum bal_code cli_set_jobs(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 1e15, true, "a whole number from 1, such as 2M"};
    return cli_number(value, &range, &((struct cli_setup *)into)->jobs, err);
}

enum bal_code cli_set_warmup(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 0.999, false,
                                           "auto, mser, or the part of the run to cut, 0 to 0.999"};
    struct cli_setup *setup = into;
    if (strcmp(value, "auto") != 0 && strcmp(value, "mser") != 0)
        return cli_number(value, &range, &setup->warmup, err);
    setup->warmup = strcmp(value, "auto") == 0 ? NAN : BAL_WARMUP_MSER;
    return BAL_OK;
}

enum bal_code cli_set_window(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e15, false, "a length of time above 0, such as 10"};
    return cli_number(value, &range, &((struct cli_setup *)into)->window, err);
}

enum bal_code cli_set_replications(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 100000, true, "a whole number from 1 to 100000"};
    return cli_number(value, &range, &((struct cli_setup *)into)->replications, err);
}

enum bal_code cli_set_precision(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1, false,
                                           "a relative half-width from 0.000001 to 1, such as 0.01"};
    return cli_number(value, &range, &((struct cli_setup *)into)->precision, err);
}

enum bal_code cli_set_seed(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 9007199254740991, true, "a whole number from 0"};
    return cli_number(value, &range, &((struct cli_setup *)into)->seed, err);
}

enum bal_code cli_set_threads(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 1024, true, "a whole number from 1 to 1024"};
    return cli_number(value, &range, &((struct cli_setup *)into)->threads, err);
}

enum bal_code cli_set_high(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 1, false, "a share from 0 to 1, such as 0.3"};
    struct cli_setup *setup = into;
    setup->model.classes = true;
    return cli_number(value, &range, &setup->model.high, err);
}

/* One of several names; their index is the answer. */
static enum bal_code choose(const char *value, const char *const *names, int count, int *choice,
                            struct bal_error *err) {
    char list[200] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(value, names[i]) == 0) {
            *choice = i;
            return BAL_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of %s", list);
}

enum bal_code cli_set_discipline(void *into, const char *value, struct bal_error *err) {
    static const char *const names[] = {"auto", "fifo", "preemptive", "nonpreemptive"};
    int choice = 0;
    const enum bal_code code = choose(value, names, 4, &choice, err);
    if (!code)
        ((struct cli_setup *)into)->model.discipline = (enum bal_discipline)choice;
    return code;
}

enum bal_code cli_set_tasks(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 10000, true, "a whole number from 1 to 10000"};
    double tasks = 1;
    const enum bal_code code = cli_number(value, &range, &tasks, err);
    ((struct cli_setup *)into)->model.tasks = (uint32_t)tasks;
    return code;
}

enum bal_code cli_set_curve(void *into, const char *value, struct bal_error *err) {
    return bal_curve_parse(value, &((struct cli_setup *)into)->model.curve, err);
}

enum bal_code cli_set_buffer(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, 1e9, true, "a whole number from 1"};
    double buffer = 0;
    const enum bal_code code = cli_number(value, &range, &buffer, err);
    ((struct cli_setup *)into)->model.buffer = (uint32_t)buffer;
    return code;
}

/* A law, or a number that is the mean of an exponential one. */
static enum bal_code set_timer(const char *value, struct bal_law *law, struct bal_error *err) {
    static const struct cli_range range = {1e-9, 1e9, false,
                                           "a mean above 0 or a law, such as 10, det(10) or erlang(4,10)"};
    if (strchr("0123456789.", value[0]) == NULL)
        return bal_law_parse(value, law, err);
    double mean = 1;
    const enum bal_code code = cli_number(value, &range, &mean, err);
    if (code)
        return code;
    bal_law_parse("exp", law, NULL);
    bal_law_scale(law, mean);
    return BAL_OK;
}

enum bal_code cli_set_standby(void *into, const char *value, struct bal_error *err) {
    return set_timer(value, &((struct cli_setup *)into)->model.standby, err);
}

enum bal_code cli_set_setup(void *into, const char *value, struct bal_error *err) {
    return set_timer(value, &((struct cli_setup *)into)->model.setup, err);
}

enum bal_code cli_set_watts(void *into, const char *value, struct bal_error *err) {
    return bal_watts_parse(value, &((struct cli_setup *)into)->model.watts, err);
}

enum bal_code cli_set_start(void *into, const char *value, struct bal_error *err) {
    return bal_start_parse(value, &((struct cli_setup *)into)->model.start, err);
}

enum bal_code cli_set_slotted(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct cli_setup *)into)->model.clock = BAL_CLOCK_SLOTTED;
    return BAL_OK;
}

enum bal_code cli_set_batch(void *into, const char *value, struct bal_error *err) {
    ((struct cli_setup *)into)->batch_given = true;
    return bal_batch_parse(value, &((struct cli_setup *)into)->model.batch, err);
}

enum bal_code cli_set_split(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct cli_setup *)into)->model.split = true;
    return BAL_OK;
}

enum bal_code cli_set_steal(void *into, const char *value, struct bal_error *err) {
    return bal_steal_parse(value, &((struct cli_setup *)into)->model.steal, err);
}

enum bal_code cli_set_victims(void *into, const char *value, struct bal_error *err) {
    static const char *const names[] = {"all", "others"};
    int choice = 0;
    const enum bal_code code = choose(value, names, 2, &choice, err);
    ((struct cli_setup *)into)->model.others = choice == 1;
    return code;
}

enum bal_code cli_set_placement(void *into, const char *value, struct bal_error *err) {
    ((struct cli_setup *)into)->placement_given = true;
    return bal_placement_parse(value, &((struct cli_setup *)into)->model.placement, err);
}

enum bal_code cli_set_engine(void *into, const char *value, struct bal_error *err) {
    static const char *const names[] = {"auto", "markov", "event", "slotted", "pooled", "stealing"};
    int choice = 0;
    const enum bal_code code = choose(value, names, BAL_ENGINE_COUNT, &choice, err);
    if (!code)
        ((struct cli_setup *)into)->engine = (enum bal_engine)choice;
    return code;
}

enum bal_code cli_set_format(void *into, const char *value, struct bal_error *err) {
    return cli_format(value, &((struct cli_setup *)into)->format, err);
}

enum bal_code cli_set_output(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct cli_setup *)into)->output = value;
    return BAL_OK;
}

enum bal_code cli_set_figure(void *into, const char *value, struct bal_error *err) {
    if (bal_figure_format_of(value) == BAL_FIGURE_FORMATS)
        return bal_fail(err, BAL_E_UNKNOWN, "the name must end in .svg, .png or .pdf");
    ((struct cli_setup *)into)->figure = value;
    return BAL_OK;
}

enum bal_code cli_set_quiet(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct cli_setup *)into)->quiet = true;
    return BAL_OK;
}

/* Without --policy: every policy that can run this model; where jobs are made at the servers, that one. */
static void choose_all(struct cli_setup *setup) {
    const bool steals = setup->model.steal.kind != BAL_STEAL_NONE;
    if (setup->placement_given || (setup->model.clock == BAL_CLOCK_SLOTTED && steals)) {
        bal_policy_parse("stealing", &setup->policy[setup->policies++], NULL);
        return;
    }
    for (size_t i = 0; i < bal_policy_count && setup->policies < CLI_POLICIES_MAX; i++) {
        struct bal_policy_spec spec;
        enum bal_engine engine;
        if (bal_policy_parse(bal_policy_table[i]->name, &spec, NULL) == BAL_OK &&
            bal_simulate_check(&setup->model, &spec, setup->engine, &engine, NULL) == BAL_OK)
            setup->policy[setup->policies++] = spec;
    }
}

/* Jobs that come from generators come in slots; nobody need say so. */
static bool has_generators(const struct cli_setup *setup) {
    bool found = setup->placement_given;
    for (size_t i = 0; i < setup->policies; i++)
        found |= setup->policy[i].policy->flags & BAL_GENERATED;
    return found;
}

int cli_setup_check(struct cli_setup *setup) {
    struct bal_error err = {0};
    if (has_generators(setup))
        setup->model.clock = BAL_CLOCK_SLOTTED;
    if (setup->model.clock == BAL_CLOCK_CONTINUOUS && setup->model.split)
        return cli_fail("--split: batches arrive in slotted time; add --slotted, or use --tasks");
    if (setup->model.clock == BAL_CLOCK_CONTINUOUS && setup->batch_given)
        return cli_fail("--batch: batches arrive in slotted time; add --slotted, or use --tasks");
    if (setup->model.clock == BAL_CLOCK_SLOTTED && setup->service_given)
        return cli_fail("--service: in slotted time every job is one unit of capacity; leave it out");
    const bool steals = setup->model.steal.kind != BAL_STEAL_NONE;
    if (setup->model.others && !steals)
        return cli_fail("--victims: nobody steals; add --steal, such as --steal half");
    if (setup->model.clock == BAL_CLOCK_SLOTTED && steals && setup->batch_given)
        return cli_fail(
            "--batch: where servers steal in slotted time, jobs come from generators; leave it out");
    if (!setup->load_given) /* a batch with a mean of its own says what the load is */
        bal_model_set_load(&setup->model);
    if (bal_model_check(&setup->model, &err))
        return cli_fail("%s", err.text);
    if (!isnan(setup->time) && !isnan(setup->jobs))
        return cli_fail("--time and --jobs: both say how long a run is; give one of them");
    if (setup->policies == 0)
        choose_all(setup);
    if (setup->policies == 0)
        return cli_fail("no policy fits this model; name one with --policy to see why");
    for (size_t i = 0; i < setup->policies; i++) {
        enum bal_engine engine;
        if (bal_simulate_check(&setup->model, &setup->policy[i], setup->engine, &engine, &err))
            return cli_fail("--policy: %s", err.text);
    }
    return -1;
}

double cli_setup_time(const struct cli_setup *setup) {
    const double rate = bal_model_arrival_rate(&setup->model);
    if (!isnan(setup->time))
        return setup->time;
    if (!isnan(setup->jobs))
        return setup->jobs / rate;
    /* In slots it is their number that counts: a slot costs about the same whatever arrives in it. */
    if (setup->model.clock == BAL_CLOCK_SLOTTED)
        return 1e5;
    return fmax(2e6, 100.0 * bal_servers_count(&setup->model.servers)) / rate;
}

/* A window is the last part of a run. */
static double warmup_of(const struct cli_setup *setup) {
    return setup->window > 0 ? fmin(fmax(1 - setup->window / cli_setup_time(setup), 0), 0.999)
                             : setup->warmup;
}

struct bal_case cli_setup_case(const struct cli_setup *setup, size_t policy) {
    return (struct bal_case){
        .model = setup->model,
        .policy = setup->policy[policy],
        .run = {.seed = (uint64_t)setup->seed,
                .time = cli_setup_time(setup),
                .warmup = warmup_of(setup),
                .engine = setup->engine},
        .replications = (unsigned)setup->replications,
        .precision = setup->precision,
    };
}

struct bal_lab_options cli_setup_lab(const struct cli_setup *setup, struct cli_progress *progress) {
    cli_catch_signals();
    cli_progress_start(progress, setup->quiet);
    return (struct bal_lab_options){.threads = (unsigned)setup->threads,
                                    .stop = &cli_stop,
                                    .progress = cli_progress_show,
                                    .progress_context = progress};
}
