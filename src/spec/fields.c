/* The fields of experiment files, but for the settings (setting.h). */
#include "spec/fields.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const bal_flags[] = {"no", "yes", "false", "true", NULL};
const char *const bal_plot_kinds[] = {"axis", "cdf", "ccdf", "tail", "bars", "map", NULL};
const char *const bal_measures[] = {"value", "ratio",   "difference", "exponent", "slope",
                                    "rank",  "verdict", "critical",   "crossing", NULL};
const char *const bal_overs[] = {"each", "some", "largest", "smallest", NULL};
const char *const bal_fault_kinds[] = {"reload",        "kill-worker", "restart-dispatcher",
                                       "kill-station",  "kill-keeper", "fail",
                                       "hang",          "slow",        "refuse",
                                       "datagram-loss", NULL};
const char *const bal_stations_kinds[] = {"auto", "yes", "no", NULL};
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
    {.name = "policy", TEXT, .fallback = "", .help = "name or name:key=value,...: `pod:d=2`"},
    {.name = "nginx",
     TEXT,
     .fallback = "",
     .help =
         "with `live`, in place of a policy: what nginx offers itself, `least_conn`, `random`, `random two "
         "least_conn`, `round_robin`"},
    {.name = "haproxy",
     TEXT,
     .fallback = "",
     .help =
         "with `live`, in place of a policy: what HAProxy offers, `leastconn`, `random(2)`, `roundrobin`"},
    {.name = "label",
     TEXT,
     .fallback = "",
     .help = "what tables and figures call it, and by which it is referred to"},
};
static const struct bal_table policy_table = {"policy", "A policy with a label of its own.", policy_fields,
                                              COUNT(policy_fields)};

static const struct bal_field value_fields[] = {
    {.name = "value", TEXTS, .help = "the value; a list when the axis sets several fields"},
    {.name = "label", TEXT, .fallback = "", .help = "what tables and figures call it: `50:50`"},
};
static const struct bal_table value_table = {"value", "A value of an axis with a label of its own.",
                                             value_fields, COUNT(value_fields)};

static const struct bal_field axis_fields[] = {
    {.name = "axis",
     TEXTS,
     .help = "what is swept: a field of `fleet` or `workload` (`load`, `servers`), one of `run` "
             "(`run.jobs`), a parameter of a "
             "policy (`pod.d`) or of all policies that have it (`policy.d`); a list of them is set together"},
    {.name = "label", TEXT, .fallback = "", .help = "what tables and figures call it; default: the name"},
    {.name = "values",
     .is = BAL_IS_LIST,
     .items = BAL_IS_TEXT | BAL_IS_LIST | BAL_IS_MAP,
     .type = BAL_TYPE_TEXT,
     .table = &value_table,
     .fallback = "",
     .help = "the values, one by one"},
    {.name = "from", ANY_NUMBER, .fallback = "", .help = "or the first of evenly spaced ones"},
    {.name = "to", ANY_NUMBER, .fallback = "", .help = "and the last"},
    {.name = "step", ANY_NUMBER, .fallback = "", .help = "with the distance between two"},
    {.name = "points", NUMBER(2, 2000), .whole = true, .fallback = "", .help = "or with how many there are"},
    {.name = "log", FLAG, .fallback = "no", .help = "spaced evenly on a logarithmic scale (with `points`)"},
};
static const struct bal_table axis_table = {"sweep",
                                            "An axis. Several axes span a grid; the last one varies fastest.",
                                            axis_fields, COUNT(axis_fields)};

static const struct bal_field figure_fields[] = {
    {.name = "id", ID, .help = "its name, also that of its file"},
    {.name = "title", TEXT, .fallback = "", .help = "stands above it"},
    {.name = "caption", TEXT, .fallback = "", .help = "stands below it in a report"},
    {.name = "section", TEXT, .fallback = "", .help = "which figure of the paper it is"},
    {.name = "only", CHOICE(bal_modes), .fallback = "", .help = "drawn in this mode alone"},
    {.name = "kind",
     CHOICE(bal_plot_kinds),
     .fallback = "axis",
     .help =
         "`axis`: metrics against an axis; `cdf`, `ccdf`: distribution of response or waiting times; "
         "`tail`: fraction of "
         "servers with at least i jobs; `bars`; `map`: where in the plane of the axes `x` and `series` it is "
         "stable"},
    {.name = "x",
     TEXT,
     .fallback = "",
     .help = "axis of the sweep, or `policy` (bars); default: the first axis"},
    {.name = "y",
     TEXTS,
     .fallback = "response.mean",
     .help = "metrics to draw; for `cdf` and `ccdf`: `response` or `waiting`"},
    {.name = "series",
     TEXT,
     .fallback = "policy",
     .help = "what the curves differ in: `policy`, `metric` or an axis"},
    {.name = "panels",
     TEXT,
     .fallback = "",
     .help = "what the panels differ in: `policy`, `metric` or an axis"},
    {.name = "rows",
     TEXT,
     .fallback = "",
     .help = "the same for rows of panels; `panels` are then the columns"},
    {.name = "columns", NUMBER(1, 12), .whole = true, .fallback = "", .help = "panels side by side"},
    {.name = "where", .is = BAL_IS_MAP, .fallback = "", .help = "which points: see below"},
    {.name = "policies", TEXTS, .fallback = "", .help = "which policies, by label; default: all"},
    {.name = "over",
     TEXT,
     .fallback = "",
     .help = "label of a policy: each value is divided by its value at the same point (`axis` and `bars`)"},
    {.name = "over-metric",
     TEXT,
     .fallback = "",
     .help = "of that policy; default: the metric that is drawn"},
    {.name = "inverse", FLAG, .fallback = "no", .help = "draw the inverse of that ratio"},
    {.name = "theory", FLAG, .fallback = "yes", .help = "draw what theory says too"},
    {.name = "bound", FLAG, .fallback = "no", .help = "draw proved bounds too"},
    {.name = "log-x", FLAG, .fallback = "", .help = "logarithmic scale; default: as the axis is spaced"},
    {.name = "log-y", FLAG, .fallback = "no", .help = "logarithmic scale"},
    {.name = "x-range", NUMBERS, .fallback = "", .help = "`[low, high]`; default: as the data demand"},
    {.name = "y-range", NUMBERS, .fallback = "", .help = "`[low, high]`; default: as the data demand"},
    {.name = "x-label", TEXT, .fallback = "", .help = "default: from the axis"},
    {.name = "y-label", TEXT, .fallback = "", .help = "default: from the metric"},
};
static const struct bal_table figure_table = {"figures", "A figure.", figure_fields, COUNT(figure_fields)};

static const struct bal_field operand_fields[] = {
    {.name = "policy",
     TEXT,
     .fallback = "",
     .help =
         "label of a policy; on the other side also `theory` (what theory says of the policy of the first "
         "side), "
         "`bound` (a proved bound), `floor` (the mean response time of one common queue, M/M/N) or a number"},
    {.name = "metric", TEXT, .fallback = "", .help = "default: that of the claim"},
    {.name = "at",
     .is = BAL_IS_MAP,
     .fallback = "",
     .help = "the value of an axis at which this side is taken: `{load: 0.5}`"},
};
static const struct bal_table operand_table = {"operand", "One side of a comparison.", operand_fields,
                                               COUNT(operand_fields)};

static const struct bal_field expect_fields[] = {
    {.name = "least", ANY_NUMBER, .fallback = "", .help = "it is at least this"},
    {.name = "most", ANY_NUMBER, .fallback = "", .help = "it is at most this"},
    {.name = "near", ANY_NUMBER, .fallback = "", .help = "or it is this,"},
    {.name = "within", NUMBER(0, 1e6), .fallback = "", .help = "give or take this part of it: `2%`"},
};
static const struct bal_table expect_table = {"expect", "What is expected of the measured value.",
                                              expect_fields, COUNT(expect_fields)};

static const struct bal_field claim_fields[] = {
    {.name = "id", ID, .help = "its name"},
    {.name = "section", TEXT, .fallback = "", .help = "where the paper claims it"},
    {.name = "says", TEXT, .help = "the claim, in your words"},
    {.name = "finding",
     ID,
     .fallback = "",
     .help = "it is not claimed but found: the `id` of the claim that it answers, or `yes` where it answers "
             "none"},
    {.name = "only", CHOICE(bal_modes), .fallback = "", .help = "judged in this mode alone"},
    {.name = "measure", CHOICE(bal_measures), .fallback = "value", .help = "what is measured: see below"},
    {.name = "metric", TEXT, .fallback = "response.mean", .help = "of what: any metric, or `queue.tail.3`"},
    {.name = "of", TEXT_OR_MAP(&operand_table), .help = "label of a policy, or a map"},
    {.name = "to",
     TEXT_OR_MAP(&operand_table),
     .fallback = "",
     .help = "the other side of a comparison: a policy, `theory`, `bound`, `floor`, a number, or a map"},
    {.name = "along", TEXT, .fallback = "", .help = "axis of a fit, a critical value or a crossing"},
    {.name = "slack", FLAG, .fallback = "no", .help = "in fits: x stands for 1/(1-x)"},
    {.name = "among", TEXTS, .fallback = "", .help = "the policies of a rank; default: all"},
    {.name = "where", .is = BAL_IS_MAP, .fallback = "", .help = "which points: see below; default: all"},
    {.name = "over",
     CHOICE(bal_overs),
     .fallback = "each",
     .help = "the claim is made of `each` of these points, of `some` of them, of the `largest` value or of "
             "the `smallest`"},
    {.name = "expect", TEXT_OR_MAP(&expect_table), .help = "`stable`, `unstable`, or a map of bounds"},
};
static const struct bal_table claim_table = {"claims", "A claim.", claim_fields, COUNT(claim_fields)};

static const struct bal_field fault_fields[] = {
    {.name = "fault", CHOICE(bal_fault_kinds), .help = "what happens"},
    {.name = "at", NUMBER(0, 1e6), .help = "when, in seconds from the beginning of a block"},
    {.name = "for",
     NUMBER(0, 1e6),
     .fallback = "1",
     .help =
         "seconds until it ends, or until what was killed is started again; `reload` and `kill-worker` have "
         "no end"},
    {.name = "of",
     NUMBER(0, 1e6),
     .whole = true,
     .fallback = "0",
     .help = "the number of the server, station or dispatcher, from 0 on"},
    {.name = "factor", NUMBER(1, 1e6), .fallback = "5", .help = "of `slow`: it takes so many times as long"},
};
static const struct bal_table fault_table = {"faults", "What happens to a live fleet.", fault_fields,
                                             COUNT(fault_fields)};

static const struct bal_field live_fields[] = {
    {.name = "seconds", NUMBER(0.1, 1e5), .fallback = "5", .help = "length of a block, which is a trial"},
    {.name = "rounds",
     NUMBER(1, 10000),
     .whole = true,
     .fallback = "5",
     .help = "blocks of each policy; in a round each has one, on the same requests"},
    {.name = "timeout",
     NUMBER(1, 1e5),
     .fallback = "60",
     .help = "seconds that a dispatcher waits for an answer before it tries another server"},
    {.name = "stations",
     CHOICE(bal_stations_kinds),
     .fallback = "auto",
     .help =
         "have servers stations? `auto`: where the policy goes by tokens or probes, or there is stealing"},
    {.name = "apart", FLAG, .fallback = "no", .help = "each station is an nginx of its own"},
    {.name = "keepers",
     FLAG,
     .fallback = "no",
     .help = "`ballastd` starts the servers and keeps them running"},
    {.name = "burn",
     FLAG,
     .fallback = "no",
     .help = "servers use their processor for the time of the service, instead of sleeping"},
    {.name = "urgent",
     FLAG,
     .fallback = "yes",
     .help = "everything goes before other processes of the machine, where that is allowed"},
    {.name = "faults",
     MAPS(&fault_table),
     .fallback = "",
     .help = "what happens in each block; the lab does not know of it"},
};
static const struct bal_table live_table = {"live", "How it is measured on real processes (`ballast live`).",
                                            live_fields, COUNT(live_fields)};

static const struct bal_field mode_fields[] = {
    {.name = "fleet", MAP(&bal_fleet_table), .fallback = "", .help = "fields to replace"},
    {.name = "workload", MAP(&bal_workload_table), .fallback = "", .help = "fields to replace"},
    {.name = "network", MAP(&bal_network_table), .fallback = "", .help = "fields to replace"},
    {.name = "run", MAP(&bal_run_table), .fallback = "", .help = "fields to replace"},
    {.name = "sweep",
     MAPS(&axis_table),
     .fallback = "",
     .help = "axes to replace, each named as it is in `sweep`"},
};
static const struct bal_table mode_table = {"quick", "What `--quick` or `--full` lays over the rest.",
                                            mode_fields, COUNT(mode_fields)};

static const struct bal_field experiment_fields[] = {
    {.name = "title", TEXT, .help = "one line"},
    {.name = "about", TEXT, .fallback = "", .help = "a few sentences"},
    {.name = "paper", ID, .fallback = "", .help = "short name of the paper it belongs to"},
    {.name = "section", TEXT, .fallback = "", .help = "of the paper"},
    {.name = "seed",
     NUMBER(0, 9007199254740991),
     .whole = true,
     .fallback = "1",
     .help = "another seed, other random numbers"},
    {.name = "fleet", MAP(&bal_fleet_table), .fallback = "", .help = "the servers"},
    {.name = "workload", MAP(&bal_workload_table), .fallback = "", .help = "what arrives"},
    {.name = "network",
     MAP(&bal_network_table),
     .fallback = "",
     .help = "what lies between dispatchers and servers"},
    {.name = "policies",
     .is = BAL_IS_LIST,
     .items = BAL_IS_TEXT | BAL_IS_MAP,
     .type = BAL_TYPE_TEXT,
     .table = &policy_table,
     .help = "the policies to run at every point, on the same arrivals"},
    {.name = "baseline",
     TEXT,
     .fallback = "",
     .help = "the policy that the others are compared with; default: the first"},
    {.name = "sweep",
     MAPS(&axis_table),
     .fallback = "",
     .help = "what varies from point to point: an axis or a list of axes"},
    {.name = "run", MAP(&bal_run_table), .fallback = "", .help = "how long and how often"},
    {.name = "live",
     MAP(&live_table),
     .fallback = "",
     .help = "the policies are measured on real processes, by `ballast live`; times are in seconds"},
    {.name = "metrics",
     TEXTS,
     .fallback = "response.mean response.p99 messages.per_job",
     .help = "shown in tables"},
    {.name = "figures", MAPS(&figure_table), .fallback = "", .help = "what `ballast report` draws"},
    {.name = "claims", MAPS(&claim_table), .fallback = "", .help = "what is to be judged"},
    {.name = "quick", MAP(&mode_table), .fallback = "", .help = "laid over the rest by `--quick`"},
    {.name = "full", MAP(&mode_table), .fallback = "", .help = "laid over the rest by `--full`"},
};
const struct bal_table bal_experiment_table = {"experiment", "An experiment file.", experiment_fields,
                                               COUNT(experiment_fields)};
