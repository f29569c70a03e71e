#include "lab/fields.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- settings ---- */

const char *const bal_flags[] = {"no", "yes", "false", "true", NULL};

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

static enum bal_code number(const char *text, double low, double high, bool whole, const char *what, double *value,
                            struct bal_error *err) {
    double parsed;
    if (!bal_field_number(text, &parsed) || !(parsed >= low && parsed <= high) || (whole && parsed != floor(parsed)))
        return bal_fail(err, BAL_E_RANGE, "'%.60s' is not %s", text, what);
    *value = parsed;
    return BAL_OK;
}

static size_t print_number(double value, char *text, size_t size) {
    char shortest[BAL_NUMBER_TEXT];
    bal_number_print(value, shortest);
    return (size_t)snprintf(text, size, "%s", shortest);
}

static enum bal_code set_clock(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const bool slotted = strcmp(text, bal_clock_text(BAL_CLOCK_SLOTTED)) == 0;
    if (!slotted && strcmp(text, bal_clock_text(BAL_CLOCK_CONTINUOUS)) != 0)
        return bal_fail(err, BAL_E_UNKNOWN, "'%.60s' is neither continuous nor slotted", text);
    setup->c.model.clock = slotted ? BAL_CLOCK_SLOTTED : BAL_CLOCK_CONTINUOUS;
    return BAL_OK;
}

static size_t print_clock(const struct bal_setup *setup, char *text, size_t size) {
    return (size_t)snprintf(text, size, "%s", bal_clock_text(setup->c.model.clock));
}

static enum bal_code set_batch(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_batch_parse(text, &setup->c.model.batch, err);
}

static size_t print_batch(const struct bal_setup *setup, char *text, size_t size) {
    if (setup->c.model.batch.kind != BAL_BATCH_NONE)
        return bal_batch_print(&setup->c.model.batch, text, size);
    return (size_t)snprintf(text, size, "%s", "");
}

static enum bal_code set_split(struct bal_setup *setup, const char *text, struct bal_error *err) {
    const int flag = bal_choice_find(bal_flags, text);
    if (flag < 0)
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is neither yes nor no", text);
    setup->c.model.split = flag & 1;
    return BAL_OK;
}

static size_t print_split(const struct bal_setup *setup, char *text, size_t size) {
    return (size_t)snprintf(text, size, "%s", setup->c.model.split ? "yes" : "no");
}

static enum bal_code set_servers(struct bal_setup *setup, const char *text, struct bal_error *err) {
    return bal_servers_parse(text, &setup->c.model.servers, err);
}

static size_t print_servers(const struct bal_setup *setup, char *text, size_t size) {
    return bal_servers_print(&setup->c.model.servers, text, size);
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
    const enum bal_code code = number(text, 1, 1e15, true, "a whole number of slots from 1, such as 1M", &setup->time, err);
    if (!code)
        setup->jobs = NAN;
    return code;
}

static enum bal_code set_replications(struct bal_setup *setup, const char *text, struct bal_error *err) {
    double value = 0;
    const enum bal_code code = number(text, 1, 100000, true, "a whole number from 1 to 100000", &value, err);
    if (!code)
        setup->c.replications = (unsigned)value;
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
    return number(text, 0, 0.5, false, "auto or the part of a run to cut, 0 to 0.5", &setup->c.run.warmup, err);
}

static enum bal_code set_engine(struct bal_setup *setup, const char *text, struct bal_error *err) {
    char list[100] = "";
    for (int i = 0; i < BAL_ENGINE_COUNT; i++) {
        const char *name = bal_engine_text((enum bal_engine)i);
        if (strcmp(text, name) == 0) {
            setup->c.run.engine = (enum bal_engine)i;
            return BAL_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", name);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "'%.60s' is none of %s", text, list);
}

#define SETTING .is = BAL_IS_TEXT, .type = BAL_TYPE_SETTING

/* To print is needed of the model alone: with the policy, the length, the warm-up and the seed it makes up the identity of a
 * trial. A setting that has its default is left out there, so a new one leaves the identities of older trials alone. */
static const struct bal_field fleet_fields[] = {
    {.name = "servers", SETTING, .whole = true, .set = set_servers, .print = print_servers,
     .help = "how many, or groups COUNTxSPEED: `100`, `50x1,50x10`"},
};
static const struct bal_field workload_fields[] = {
    {.name = "clock", SETTING, .fallback = "continuous", .set = set_clock, .print = print_clock,
     .help = "`continuous` time, or `slotted`: a batch arrives in each slot"},
    {.name = "load", SETTING, .fallback = "", .set = set_load, .print = print_load, .help = "arriving work over the fleet's capacity: `0.9`"},
    {.name = "service", SETTING, .fallback = "exp", .set = set_service, .print = print_service,
     .help = "law of the job sizes: `exp`, `det`, `erlang(K)`, `hyper(C2)`, `pareto(A)`, ..."},
    {.name = "batch", SETTING, .fallback = "", .set = set_batch, .print = print_batch,
     .help = "slotted: law of the jobs that arrive in a slot: `poisson`, `geometric`, `table(0:0.5 8:0.5)`, ...; default: "
             "`poisson`"},
    {.name = "split", SETTING, .fallback = "no", .set = set_split, .print = print_split,
     .help = "slotted: may a batch be divided among servers?"},
};
static const struct bal_field run_fields[] = {
    {.name = "jobs", SETTING, .whole = true, .fallback = "", .set = set_jobs,
     .help = "length of a replication in expected jobs: `2M`; without any length: 1M, and at least 100 a server"},
    {.name = "time", SETTING, .fallback = "", .set = set_time,
     .help = "or in model time"},
    {.name = "slots", SETTING, .whole = true, .fallback = "", .set = set_slots, .help = "or in slots"},
    {.name = "replications", SETTING, .whole = true, .fallback = "10", .set = set_replications,
     .help = "independent runs of each policy at each point; two at least make an interval"},
    {.name = "precision", SETTING, .fallback = "none", .set = set_precision,
     .help = "add replications until the half-width of the mean response time is at most this part of it: `1%`"},
    {.name = "most", SETTING, .whole = true, .fallback = "1000", .set = set_most,
     .help = "most replications that `precision` may ask for"},
    {.name = "warmup", SETTING, .fallback = "auto", .set = set_warmup,
     .help = "part of a run to cut, 0 to 0.5; `auto`: found by MSER-5"},
    {.name = "engine", SETTING, .fallback = "auto", .set = set_engine, .help = "`auto`: chosen from the model; `markov`, `event` or `slotted`"},
};

static const struct bal_table fleet_table = {"fleet", "The servers.", fleet_fields, COUNT(fleet_fields)};
static const struct bal_table workload_table = {"workload", "What arrives.", workload_fields, COUNT(workload_fields)};
static const struct bal_table run_table = {"run", "How long and how often.", run_fields, COUNT(run_fields)};

const struct bal_settings bal_settings[BAL_SETTINGS] = {
    {"fleet", "", true, &fleet_table},
    {"workload", "", true, &workload_table},
    {"run", "run.", false, &run_table},
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

/* ---- the rest of a file ---- */

const char *const bal_plot_kinds[] = {"axis", "cdf", "ccdf", "tail", "bars", NULL};
const char *const bal_measures[] = {"value", "ratio",   "difference", "exponent", "slope",
                                    "rank",  "verdict", "critical",   "crossing", NULL};
const char *const bal_overs[] = {"each", "some", "largest", "smallest", NULL};
const char *const bal_modes[] = {"plain", "quick", "full", NULL};

#define TEXT .is = BAL_IS_TEXT, .type = BAL_TYPE_TEXT
#define TEXTS .is = BAL_IS_TEXT | BAL_IS_LIST, .items = BAL_IS_TEXT, .type = BAL_TYPE_TEXT
#define FLAG .is = BAL_IS_TEXT, .type = BAL_TYPE_FLAG
#define ID .is = BAL_IS_TEXT, .type = BAL_TYPE_ID
#define NUMBER(from, to) .is = BAL_IS_TEXT, .type = BAL_TYPE_NUMBER, .low = (from), .high = (to)
#define ANY_NUMBER NUMBER(-1e300, 1e300)
#define NUMBERS .is = BAL_IS_LIST, .items = BAL_IS_TEXT, .type = BAL_TYPE_NUMBER, .low = -1e300, .high = 1e300
#define CHOICE(list) .is = BAL_IS_TEXT, .type = BAL_TYPE_CHOICE, .choices = (list)
#define MAP(of) .is = BAL_IS_MAP, .table = (of)
#define MAPS(of) .is = BAL_IS_MAP | BAL_IS_LIST, .items = BAL_IS_MAP, .table = (of)
#define TEXT_OR_MAP(of) .is = BAL_IS_TEXT | BAL_IS_MAP, .type = BAL_TYPE_TEXT, .table = (of)

static const struct bal_field policy_fields[] = {
    {.name = "policy", TEXT, .help = "name or name:key=value,...: `pod:d=2`"},
    {.name = "label", TEXT, .fallback = "", .help = "what tables and figures call it, and by which it is referred to"},
};
static const struct bal_table policy_table = {"policy", "A policy with a label of its own.", policy_fields,
                                              COUNT(policy_fields)};

static const struct bal_field value_fields[] = {
    {.name = "value", TEXTS, .help = "the value; a list when the axis sets several fields"},
    {.name = "label", TEXT, .fallback = "", .help = "what tables and figures call it: `50:50`"},
};
static const struct bal_table value_table = {"value", "A value of an axis with a label of its own.", value_fields,
                                             COUNT(value_fields)};

static const struct bal_field axis_fields[] = {
    {.name = "axis", TEXTS,
     .help = "what is swept: a field of `fleet` or `workload` (`load`, `servers`), one of `run` (`run.jobs`), a parameter of a "
             "policy (`pod.d`) or of all policies that have it (`policy.d`); a list of them is set together"},
    {.name = "label", TEXT, .fallback = "", .help = "what tables and figures call it; default: the name"},
    {.name = "values", .is = BAL_IS_LIST, .items = BAL_IS_TEXT | BAL_IS_LIST | BAL_IS_MAP, .type = BAL_TYPE_TEXT,
     .table = &value_table, .fallback = "", .help = "the values, one by one"},
    {.name = "from", ANY_NUMBER, .fallback = "", .help = "or the first of evenly spaced ones"},
    {.name = "to", ANY_NUMBER, .fallback = "", .help = "and the last"},
    {.name = "step", ANY_NUMBER, .fallback = "", .help = "with the distance between two"},
    {.name = "points", NUMBER(2, 2000), .whole = true, .fallback = "", .help = "or with how many there are"},
    {.name = "log", FLAG, .fallback = "no", .help = "spaced evenly on a logarithmic scale (with `points`)"},
};
static const struct bal_table axis_table = {"sweep", "An axis. Several axes span a grid; the last one varies fastest.",
                                            axis_fields, COUNT(axis_fields)};

static const struct bal_field figure_fields[] = {
    {.name = "id", ID, .help = "its name, also that of its file"},
    {.name = "title", TEXT, .fallback = "", .help = "stands above it"},
    {.name = "caption", TEXT, .fallback = "", .help = "stands below it in a report"},
    {.name = "section", TEXT, .fallback = "", .help = "which figure of the paper it is"},
    {.name = "only", CHOICE(bal_modes), .fallback = "", .help = "drawn in this mode alone"},
    {.name = "kind", CHOICE(bal_plot_kinds), .fallback = "axis",
     .help = "`axis`: metrics against an axis; `cdf`, `ccdf`: distribution of response or waiting times; `tail`: fraction of "
             "servers with at least i jobs; `bars`"},
    {.name = "x", TEXT, .fallback = "", .help = "axis of the sweep, or `policy` (bars); default: the first axis"},
    {.name = "y", TEXTS, .fallback = "response.mean",
     .help = "metrics to draw; for `cdf` and `ccdf`: `response` or `waiting`"},
    {.name = "series", TEXT, .fallback = "policy", .help = "what the curves differ in: `policy`, `metric` or an axis"},
    {.name = "panels", TEXT, .fallback = "", .help = "what the panels differ in: `policy`, `metric` or an axis"},
    {.name = "rows", TEXT, .fallback = "", .help = "the same for rows of panels; `panels` are then the columns"},
    {.name = "columns", NUMBER(1, 12), .whole = true, .fallback = "", .help = "panels side by side"},
    {.name = "where", .is = BAL_IS_MAP, .fallback = "", .help = "which points: see below"},
    {.name = "policies", TEXTS, .fallback = "", .help = "which policies, by label; default: all"},
    {.name = "theory", FLAG, .fallback = "yes", .help = "draw what theory says too"},
    {.name = "log-x", FLAG, .fallback = "", .help = "logarithmic scale; default: as the axis is spaced"},
    {.name = "log-y", FLAG, .fallback = "no", .help = "logarithmic scale"},
    {.name = "x-range", NUMBERS, .fallback = "", .help = "`[low, high]`; default: as the data demand"},
    {.name = "y-range", NUMBERS, .fallback = "", .help = "`[low, high]`; default: as the data demand"},
    {.name = "x-label", TEXT, .fallback = "", .help = "default: from the axis"},
    {.name = "y-label", TEXT, .fallback = "", .help = "default: from the metric"},
};
static const struct bal_table figure_table = {"figures", "A figure.", figure_fields, COUNT(figure_fields)};

static const struct bal_field operand_fields[] = {
    {.name = "policy", TEXT, .fallback = "",
     .help = "label of a policy, `theory` (what theory says of the policy of the other side) or `floor` (the mean "
             "response time of one common queue, M/M/N)"},
    {.name = "metric", TEXT, .fallback = "", .help = "default: that of the claim"},
    {.name = "at", .is = BAL_IS_MAP, .fallback = "", .help = "the value of an axis at which this side is taken: `{load: 0.5}`"},
};
static const struct bal_table operand_table = {"operand", "One side of a comparison.", operand_fields,
                                               COUNT(operand_fields)};

static const struct bal_field expect_fields[] = {
    {.name = "least", ANY_NUMBER, .fallback = "", .help = "it is at least this"},
    {.name = "most", ANY_NUMBER, .fallback = "", .help = "it is at most this"},
    {.name = "near", ANY_NUMBER, .fallback = "", .help = "or it is this,"},
    {.name = "within", NUMBER(0, 1e6), .fallback = "", .help = "give or take this part of it: `2%`"},
};
static const struct bal_table expect_table = {"expect", "What is expected of the measured value.", expect_fields,
                                              COUNT(expect_fields)};

static const struct bal_field claim_fields[] = {
    {.name = "id", ID, .help = "its name"},
    {.name = "section", TEXT, .fallback = "", .help = "where the paper claims it"},
    {.name = "says", TEXT, .help = "the claim, in your words"},
    {.name = "only", CHOICE(bal_modes), .fallback = "", .help = "judged in this mode alone"},
    {.name = "measure", CHOICE(bal_measures), .fallback = "value", .help = "what is measured: see below"},
    {.name = "metric", TEXT, .fallback = "response.mean", .help = "of what: any metric, or `queue.tail.3`"},
    {.name = "of", TEXT_OR_MAP(&operand_table), .help = "label of a policy, or a map"},
    {.name = "to", TEXT_OR_MAP(&operand_table), .fallback = "",
     .help = "the other side of a comparison: a policy, `theory`, `floor`, a number, or a map"},
    {.name = "along", TEXT, .fallback = "", .help = "axis of a fit, a critical value or a crossing"},
    {.name = "slack", FLAG, .fallback = "no", .help = "in fits: x stands for 1/(1-x)"},
    {.name = "among", TEXTS, .fallback = "", .help = "the policies of a rank; default: all"},
    {.name = "where", .is = BAL_IS_MAP, .fallback = "", .help = "which points: see below; default: all"},
    {.name = "over", CHOICE(bal_overs), .fallback = "each",
     .help = "the claim is made of `each` of these points, of `some` of them, of the `largest` value or of the `smallest`"},
    {.name = "expect", TEXT_OR_MAP(&expect_table), .help = "`stable`, `unstable`, or a map of bounds"},
};
static const struct bal_table claim_table = {"claims", "A claim.", claim_fields, COUNT(claim_fields)};

static const struct bal_field mode_fields[] = {
    {.name = "fleet", MAP(&fleet_table), .fallback = "", .help = "fields to replace"},
    {.name = "workload", MAP(&workload_table), .fallback = "", .help = "fields to replace"},
    {.name = "run", MAP(&run_table), .fallback = "", .help = "fields to replace"},
    {.name = "sweep", MAPS(&axis_table), .fallback = "", .help = "axes to replace, each named as it is in `sweep`"},
};
static const struct bal_table mode_table = {"quick", "What `--quick` or `--full` lays over the rest.", mode_fields,
                                            COUNT(mode_fields)};

static const struct bal_field experiment_fields[] = {
    {.name = "title", TEXT, .help = "one line"},
    {.name = "about", TEXT, .fallback = "", .help = "a few sentences"},
    {.name = "paper", ID, .fallback = "", .help = "short name of the paper it belongs to"},
    {.name = "section", TEXT, .fallback = "", .help = "of the paper"},
    {.name = "seed", NUMBER(0, 9007199254740991), .whole = true, .fallback = "1",
     .help = "another seed, other random numbers"},
    {.name = "fleet", MAP(&fleet_table), .fallback = "", .help = "the servers"},
    {.name = "workload", MAP(&workload_table), .fallback = "", .help = "what arrives"},
    {.name = "policies", .is = BAL_IS_LIST, .items = BAL_IS_TEXT | BAL_IS_MAP, .type = BAL_TYPE_TEXT, .table = &policy_table,
     .help = "the policies to run at every point, on the same arrivals"},
    {.name = "baseline", TEXT, .fallback = "", .help = "the policy that the others are compared with; default: the first"},
    {.name = "sweep", MAPS(&axis_table), .fallback = "", .help = "what varies from point to point: an axis or a list of axes"},
    {.name = "run", MAP(&run_table), .fallback = "", .help = "how long and how often"},
    {.name = "metrics", TEXTS, .fallback = "response.mean response.p99 messages.per_job", .help = "shown in tables"},
    {.name = "figures", MAPS(&figure_table), .fallback = "", .help = "what `ballast report` draws"},
    {.name = "claims", MAPS(&claim_table), .fallback = "", .help = "what is to be judged"},
    {.name = "quick", MAP(&mode_table), .fallback = "", .help = "laid over the rest by `--quick`"},
    {.name = "full", MAP(&mode_table), .fallback = "", .help = "laid over the rest by `--full`"},
};
const struct bal_table bal_experiment_table = {"experiment", "An experiment file.", experiment_fields,
                                               COUNT(experiment_fields)};
