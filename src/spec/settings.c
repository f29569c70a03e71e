/* The settings: fields of the model and of runs, each with a function that reads it and one that prints it.
 */
#include "spec/fields.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- numbers, flags and choices ---- */

bool bal_field_number(const char *text, double *value) {
    const size_t length = strlen(text);
    if (length > 1 && text[length - 1] == '%') {
        if (!bal_number_parse(text, length - 1, value))
            return false;
        *value /= 100;
        return true;
    }
    return bal_number_parse(text, length, value);
}

/* what: "a load above 0, such as 0.9" */
static enum bal_code number(const char *text, double low, double high, bool whole, const char *what,
                            double *value, struct bal_error *err) {
    double parsed;
    if (!bal_field_number(text, &parsed) || !(parsed >= low && parsed <= high) ||
        (whole && parsed != floor(parsed)))
        return bal_fail(err, BAL_E_RANGE, "'%.60s' is not %s", text, what);
    *value = parsed;
    return BAL_OK;
}

static enum bal_code whole_number(const char *text, double low, double high, const char *what,
                                  uint32_t *value, struct bal_error *err) {
    double parsed = 0;
    const enum bal_code code = number(text, low, high, true, what, &parsed, err);
    if (!code)
        *value = (uint32_t)parsed;
    return code;
}

static enum bal_code choose(const char *text, const char *(*name)(int), int count, int *choice,
                            struct bal_error *err) {
    char list[200] = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(text, name(i)) == 0) {
            *choice = i;
            return BAL_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", name(i));
    }
    return bal_fail(err, BAL_E_UNKNOWN, "'%.60s' is none of %s", text, list);
}

static size_t print_text(const char *from, char *text, size_t size) {
    return (size_t)snprintf(text, size, "%s", from);
}

static size_t print_number(double value, char *text, size_t size) {
    char shortest[BAL_NUMBER_TEXT];
    bal_number_print(value, shortest);
    return print_text(shortest, text, size);
}

/* ---- the servers ---- */

static enum bal_code set_servers(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_servers_parse(text, &setup->c.model.servers, err);
}

static size_t print_servers(const struct bal_setup *setup, char *text, size_t size) {
    return bal_servers_print(&setup->c.model.servers, text, size);
}

static enum bal_code set_concurrency(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return whole_number(text, 1, 1e6, "a whole number of jobs from 1 to 1M", &setup->c.model.slots, err);
}

static size_t print_concurrency(const struct bal_setup *setup, char *text, size_t size) {
    return print_number(setup->c.model.slots ? setup->c.model.slots : 1, text, size);
}

static const char *discipline_name(int i) {
    return bal_discipline_text((enum bal_discipline)i);
}

static enum bal_code set_discipline(struct bal_setup *setup, const char *text, struct bal_error *err) {
    int choice = 0;
    const enum bal_code code = choose(text, discipline_name, BAL_DISCIPLINE_NONPREEMPTIVE + 1, &choice, err);
    if (!code)
        setup->c.model.discipline = (enum bal_discipline)choice;
    return code;
}

static size_t print_discipline(const struct bal_setup *setup, char *text, size_t size) {
    return print_text(bal_discipline_text(setup->c.model.discipline), text, size);
}

static enum bal_code set_buffer(struct bal_setup *setup, const char *text, struct bal_error *err) {
    if (strcmp(text, "none") != 0)
        return whole_number(text, 1, 1e9, "none or a whole number of jobs from 1", &setup->c.model.buffer,
                            err);
    setup->c.model.buffer = 0;
    return BAL_OK;
}

static size_t print_buffer(const struct bal_setup *setup, char *text, size_t size) {
    return setup->c.model.buffer ? print_number(setup->c.model.buffer, text, size)
                                 : print_text("none", text, size);
}

/* A law, or a number that is the mean of an exponential one. */
static enum bal_code set_timer(const char *text, struct bal_law *law, struct bal_error *err) {
    double mean = 1;
    if (strchr("0123456789.", text[0]) == NULL)
        return bal_law_parse(text, law, err);
    const enum bal_code code =
        number(text, 1e-9, 1e9, false, "a mean above 0 or a law, such as 10 or det(10)", &mean, err);
    if (code)
        return code;
    bal_law_parse("exp", law, NULL);
    bal_law_scale(law, mean);
    return BAL_OK;
}

static enum bal_code set_standby(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return set_timer(text, &setup->c.model.standby, err);
}

static size_t print_optional_law(const struct bal_law *law, char *text, size_t size) {
    return law->mean > 0 ? bal_law_print(law, text, size) : print_text("", text, size);
}

static size_t print_standby(const struct bal_setup *setup, char *text, size_t size) {
    return print_optional_law(&setup->c.model.standby, text, size);
}

static enum bal_code set_setup(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return set_timer(text, &setup->c.model.setup, err);
}

static size_t print_setup(const struct bal_setup *setup, char *text, size_t size) {
    return print_optional_law(&setup->c.model.setup, text, size);
}

static enum bal_code set_start(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_start_parse(text, &setup->c.model.start, err);
}

static size_t print_start(const struct bal_setup *setup, char *text, size_t size) {
    return bal_start_print(&setup->c.model.start, text, size);
}

/* BUSY,IDLE,SETUP,OFF */
static enum bal_code set_watts(struct bal_setup *setup, const char *text, struct bal_error *err) {
    double watt[4];
    const char *piece = text;
    for (int i = 0; i < 4; i++) {
        const size_t length = strcspn(piece, ",");
        if (!bal_number_parse(piece, length, &watt[i]) || watt[i] < 0 || (piece[length] == ',') != (i < 3))
            return bal_fail(err, BAL_E_SYNTAX,
                            "'%.60s' is not four numbers from 0: BUSY,IDLE,SETUP,OFF, such as 200,140,200,0",
                            text);
        piece += length + 1;
    }
    setup->c.model.watts = (struct bal_watts){watt[0], watt[1], watt[2], watt[3]};
    return BAL_OK;
}

static size_t print_watts(const struct bal_setup *setup, char *text, size_t size) {
    const struct bal_watts *watts = &setup->c.model.watts;
    const double watt[4] = {watts->busy, watts->idle, watts->setup, watts->off};
    char number_text[4][BAL_NUMBER_TEXT];
    for (int i = 0; i < 4; i++)
        bal_number_print(watt[i], number_text[i]);
    return (size_t)snprintf(text, size, "%s,%s,%s,%s", number_text[0], number_text[1], number_text[2],
                            number_text[3]);
}

/* ---- what arrives ---- */

static enum bal_code set_clock(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const bool slotted = strcmp(text, bal_clock_text(BAL_CLOCK_SLOTTED)) == 0;
    if (!slotted && strcmp(text, bal_clock_text(BAL_CLOCK_CONTINUOUS)) != 0)
        return bal_fail(err, BAL_E_UNKNOWN, "'%.60s' is neither continuous nor slotted", text);
    setup->c.model.clock = slotted ? BAL_CLOCK_SLOTTED : BAL_CLOCK_CONTINUOUS;
    return BAL_OK;
}

static size_t print_clock(const struct bal_setup *setup, char *text, size_t size) {
    return print_text(bal_clock_text(setup->c.model.clock), text, size);
}

static enum bal_code set_load(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return number(text, 1e-6, 100, false, "a load above 0 (to 100), such as 0.9", &setup->c.model.load, err);
}

static size_t print_load(const struct bal_setup *setup, char *text, size_t size) {
    return print_number(setup->c.model.load, text, size);
}

static enum bal_code set_service(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_law_parse(text, &setup->c.model.size, err);
}

static size_t print_service(const struct bal_setup *setup, char *text, size_t size) {
    return bal_law_print(&setup->c.model.size, text, size);
}

static enum bal_code set_tasks(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return whole_number(text, 1, 10000, "a whole number from 1 to 10000", &setup->c.model.tasks, err);
}

static size_t print_tasks(const struct bal_setup *setup, char *text, size_t size) {
    return print_number(setup->c.model.tasks ? setup->c.model.tasks : 1, text, size);
}

static enum bal_code set_high(struct bal_setup *setup, const char *text, struct bal_error *err) {
    setup->c.model.classes = strcmp(text, "none") != 0;
    setup->c.model.high = 0;
    return setup->c.model.classes ? number(text, 0, 1, false, "none or a share from 0 to 1, such as 0.3",
                                           &setup->c.model.high, err)
                                  : BAL_OK;
}

static size_t print_high(const struct bal_setup *setup, char *text, size_t size) {
    return setup->c.model.classes ? print_number(setup->c.model.high, text, size)
                                  : print_text("none", text, size);
}

static enum bal_code set_curve(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_curve_parse(text, &setup->c.model.curve, err);
}

static size_t print_curve(const struct bal_setup *setup, char *text, size_t size) {
    return bal_curve_print(&setup->c.model.curve, text, size);
}

static enum bal_code set_batch(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_batch_parse(text, &setup->c.model.batch, err);
}

static size_t print_batch(const struct bal_setup *setup, char *text, size_t size) {
    const struct bal_batch *batch = &setup->c.model.batch;
    return batch->kind == BAL_BATCH_NONE ? print_text("", text, size) : bal_batch_print(batch, text, size);
}

static enum bal_code set_split(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const int flag = bal_choice_find(bal_flags, text);
    if (flag < 0)
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is neither yes nor no", text);
    setup->c.model.split = flag & 1;
    return BAL_OK;
}

static size_t print_split(const struct bal_setup *setup, char *text, size_t size) {
    return print_text(setup->c.model.split ? "yes" : "no", text, size);
}

static enum bal_code set_steal(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_steal_parse(text, &setup->c.model.steal, err);
}

static size_t print_steal(const struct bal_setup *setup, char *text, size_t size) {
    return bal_steal_print(&setup->c.model.steal, text, size);
}

static enum bal_code set_victims(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const bool others = strcmp(text, "others") == 0;
    if (!others && strcmp(text, "all") != 0)
        return bal_fail(err, BAL_E_UNKNOWN, "'%.60s' is neither all nor others", text);
    setup->c.model.others = others;
    return BAL_OK;
}

static size_t print_victims(const struct bal_setup *setup, char *text, size_t size) {
    return print_text(setup->c.model.others ? "others" : "all", text, size);
}

static enum bal_code set_placement(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_placement_parse(text, &setup->c.model.placement, err);
}

static size_t print_placement(const struct bal_setup *setup, char *text, size_t size) {
    return bal_placement_print(&setup->c.model.placement, text, size);
}

/* ---- runs ---- */

static enum bal_code set_jobs(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const enum bal_code code =
        number(text, 1, 1e15, true, "a whole number of jobs from 1, such as 2M", &setup->jobs, err);
    if (!code)
        setup->time = NAN;
    return code;
}

static enum bal_code set_time(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const enum bal_code code =
        number(text, 1e-6, 1e15, false, "a length of time above 0, such as 10k", &setup->time, err);
    if (!code)
        setup->jobs = NAN;
    return code;
}

static enum bal_code set_slots(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const enum bal_code code =
        number(text, 1, 1e15, true, "a whole number of slots from 1, such as 1M", &setup->time, err);
    if (!code)
        setup->jobs = NAN;
    return code;
}

static enum bal_code set_replications(struct bal_setup *setup, const char *text, struct bal_error *err) {
    uint32_t value = 0;
    const enum bal_code code = whole_number(text, 1, 100000, "a whole number from 1 to 100000", &value, err);
    if (!code)
        setup->c.replications = value;
    return code;
}

static enum bal_code set_precision(struct bal_setup *setup, const char *text, struct bal_error *err) {
    if (strcmp(text, "none") == 0) {
        setup->c.precision = 0;
        return BAL_OK;
    }
    return number(text, 1e-6, 1, false, "none or a relative half-width from 0.000001 to 1, such as 1%",
                  &setup->c.precision, err);
}

static enum bal_code set_most(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return number(text, 1, 100000, true, "a whole number from 1 to 100000", &setup->most, err);
}

static enum bal_code set_warmup(struct bal_setup *setup, const char *text, struct bal_error *err) {
    if (strcmp(text, "auto") == 0) {
        setup->c.run.warmup = NAN;
        return BAL_OK;
    }
    if (strcmp(text, "mser") == 0) {
        setup->c.run.warmup = BAL_WARMUP_MSER;
        return BAL_OK;
    }
    return number(text, 0, 0.999, false, "auto, mser or the part of a run to cut, 0 to 0.999",
                  &setup->c.run.warmup, err);
}

static enum bal_code set_window(struct bal_setup *setup, const char *text, struct bal_error *err) {
    setup->window = 0;
    return strcmp(text, "none") == 0
               ? BAL_OK
               : number(text, 1e-6, 1e15, false, "none or a length of time above 0, such as 10",
                        &setup->window, err);
}

static enum bal_code set_fluid(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const int flag = bal_choice_find(bal_flags, text);
    if (flag < 0)
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is neither yes nor no", text);
    setup->c.fluid = flag & 1;
    return BAL_OK;
}

static const char *engine_name(int i) {
    return bal_engine_text((enum bal_engine)i);
}

static enum bal_code set_engine(struct bal_setup *setup, const char *text, struct bal_error *err) {
    int choice = 0;
    const enum bal_code code = choose(text, engine_name, BAL_ENGINE_COUNT, &choice, err);
    if (!code)
        setup->c.run.engine = (enum bal_engine)choice;
    return code;
}

/* ---- the tables ---- */

#define SETTING .is = BAL_IS_TEXT, .type = BAL_TYPE_SETTING
#define READ_BY(name) .set = set_##name
#define BOTH_BY(name) .set = set_##name, .print = print_##name

/* To print is needed of the model alone: with the policy, the length, the warm-up and the seed it makes up
 * the identity of a trial. A setting that has its default is left out there, so a new one leaves the
 * identities of older trials alone. */
static const struct bal_field fleet_fields[] = {
    {.name = "servers",
     SETTING,
     .whole = true,
     BOTH_BY(servers),
     .help =
         "how many, or groups COUNTxSPEED: `100`, `50x1,50x10`; slotted also COUNTxLAW: `50xuniform(1,19)`"},
    {.name = "slots",
     SETTING,
     .whole = true,
     .fallback = "1",
     BOTH_BY(concurrency),
     .help = "jobs that a server works on at once, each at its full speed"},
    {.name = "discipline",
     SETTING,
     .fallback = "auto",
     BOTH_BY(discipline),
     .help =
         "order of service with classes: `fifo`, `preemptive`, `nonpreemptive`; `auto`: as the policy asks"},
    {.name = "buffer",
     SETTING,
     .whole = true,
     .fallback = "none",
     BOTH_BY(buffer),
     .help = "most jobs at a server, one more is lost"},
    {.name = "standby",
     SETTING,
     .fallback = "",
     BOTH_BY(standby),
     .help = "law of the standby time, or its mean, in place of what the policy says"},
    {.name = "setup",
     SETTING,
     .fallback = "",
     BOTH_BY(setup),
     .help = "law of the set-up time, or its mean, in place of what the policy says"},
    {.name = "start",
     SETTING,
     .fallback = "idle",
     BOTH_BY(start),
     .help = "how servers start: `idle`, or fractions such as `busy=0.3,off=0.7`"},
    {.name = "watts",
     SETTING,
     .fallback = "200,140,200,0",
     BOTH_BY(watts),
     .help = "what a server draws: BUSY,IDLE,SETUP,OFF"},
};
static const struct bal_field workload_fields[] = {
    {.name = "clock",
     SETTING,
     .fallback = "continuous",
     BOTH_BY(clock),
     .help = "`continuous` time, or `slotted`: a batch arrives in each slot"},
    {.name = "load",
     SETTING,
     .fallback = "",
     BOTH_BY(load),
     .help = "arriving work over the fleet's capacity: `0.9`; needed unless swept or told by `batch`"},
    {.name = "service",
     SETTING,
     .fallback = "exp",
     BOTH_BY(service),
     .help = "law of the job sizes: `exp`, `det`, `erlang(K)`, `hyper(C2)`, `pareto(A)`, ..."},
    {.name = "tasks",
     SETTING,
     .whole = true,
     .fallback = "1",
     BOTH_BY(tasks),
     .help = "tasks of a job, routed together and divided among servers"},
    {.name = "high",
     SETTING,
     .fallback = "none",
     BOTH_BY(high),
     .help = "two classes of jobs: the share of the high one, 0 to 1"},
    {.name = "curve",
     SETTING,
     .fallback = "constant",
     BOTH_BY(curve),
     .help = "how the arrival rate varies: `sine(A,P)`, `table(T:F T:F ...)`"},
    {.name = "batch",
     SETTING,
     .fallback = "",
     BOTH_BY(batch),
     .help = "slotted: law of the jobs that arrive in a slot: `poisson` (the default), `geometric`, "
             "`table(0:0.5 8:0.5)`, ..."},
    {.name = "split",
     SETTING,
     .fallback = "no",
     BOTH_BY(split),
     .help = "slotted: may a batch be divided among servers?"},
    {.name = "steal",
     SETTING,
     .fallback = "none",
     BOTH_BY(steal),
     .help =
         "how many jobs a server without work takes from another: `half`, `one`, `constant(K)` or just the "
         "number, `log2`, `sqrt`, `fraction(A)`, `table(F F ...)`; slotted: under policy `stealing` alone"},
    {.name = "victims",
     SETTING,
     .fallback = "all",
     BOTH_BY(victims),
     .help = "whom it asks: one of `all` servers, itself included, or of the `others`"},
    {.name = "placement",
     SETTING,
     .fallback = "even",
     BOTH_BY(placement),
     .help = "policy `stealing`: where the generators of jobs sit: `even`, `hosts(K)` or just the number, "
             "`moving`, `walk`, `map(HOST:GENERATORS ...)`"},
};
static const struct bal_field run_fields[] = {
    {.name = "jobs",
     SETTING,
     .whole = true,
     .fallback = "",
     READ_BY(jobs),
     .help = "length of a replication in expected jobs: `2M`; without any length: 2M, and at least 100 a "
             "server, or 100k "
             "slots"},
    {.name = "time", SETTING, .fallback = "", READ_BY(time), .help = "or in model time"},
    {.name = "slots", SETTING, .whole = true, .fallback = "", READ_BY(slots), .help = "or in slots"},
    {.name = "replications",
     SETTING,
     .whole = true,
     .fallback = "10",
     READ_BY(replications),
     .help = "independent runs of each policy at each point; two at least make an interval"},
    {.name = "precision",
     SETTING,
     .fallback = "none",
     READ_BY(precision),
     .help =
         "add replications until the half-width of the mean response time is at most this part of it: `1%`"},
    {.name = "most",
     SETTING,
     .whole = true,
     .fallback = "1000",
     READ_BY(most),
     .help = "most replications that `precision` may ask for"},
    {.name = "warmup",
     SETTING,
     .fallback = "auto",
     READ_BY(warmup),
     .help = "part of a run to cut, 0 to 0.999; `auto`: a fifth; `mser`: what MSER-5 finds in each run"},
    {.name = "window",
     SETTING,
     .fallback = "none",
     READ_BY(window),
     .help = "or measure this last span of a run alone: with `run.time` swept, a path in time"},
    {.name = "fluid",
     SETTING,
     .fallback = "no",
     READ_BY(fluid),
     .help = "compare the path from an idle fleet with that of the fluid model: `fluid.distance`"},
    {.name = "engine",
     SETTING,
     .fallback = "auto",
     READ_BY(engine),
     .help = "`auto`: chosen from the model; `markov`, `event`, `slotted`, `pooled` or `stealing`"},
};

const struct bal_table bal_fleet_table = {"fleet", "The servers.", fleet_fields, COUNT(fleet_fields)};
const struct bal_table bal_workload_table = {"workload", "What arrives.", workload_fields,
                                             COUNT(workload_fields)};
const struct bal_table bal_run_table = {"run", "How long and how often.", run_fields, COUNT(run_fields)};

const struct bal_settings bal_settings[BAL_SETTINGS] = {
    {"fleet", "", true, &bal_fleet_table},
    {"workload", "", true, &bal_workload_table},
    {"run", "run.", false, &bal_run_table},
};

const struct bal_field *bal_setting_find(const char *name) {
    for (size_t i = 0; i < BAL_SETTINGS; i++) {
        const size_t prefix = strlen(bal_settings[i].prefix);
        const struct bal_field *field = strncmp(name, bal_settings[i].prefix, prefix) == 0
                                            ? bal_table_find(bal_settings[i].table, name + prefix)
                                            : NULL;
        if (field)
            return field;
    }
    return NULL;
}
