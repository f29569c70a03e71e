/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of experiment files, but for the settings (setting.h). */
#include "spec/fields.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const bli_flags[] = {"no", "yes", "false", "true", NULL};
const char *const bli_plot_kinds[] = {"axis", "cdf", "ccdf", "tail", "bars", "map", NULL};
const char *const bli_measures[] = {"value",   "ratio",    "difference", "exponent", "slope", "rank",
                                    "verdict", "critical", "crossing",   "limit",    NULL};
const char *const bli_kinds[] = {"any",   "value",     "comparison", "limit", "formula",
                                 "bound", "stability", "definition", NULL};
const char *const bli_overs[] = {"each", "some", "largest", "smallest", NULL};
const char *const bli_stations_kinds[] = {"auto", "yes", "no", NULL};
const char *const bli_modes[] = {"plain", "quick", "full", NULL};

#define TEXT .is = BLI_IS_TEXT, .type = BLI_TYPE_TEXT
#define TEXTS .is = BLI_IS_TEXT | BLI_IS_LIST, .items = BLI_IS_TEXT, .type = BLI_TYPE_TEXT
#define FLAG .is = BLI_IS_TEXT, .type = BLI_TYPE_FLAG
#define ID .is = BLI_IS_TEXT, .type = BLI_TYPE_ID
#define NUMBER(from, to) .is = BLI_IS_TEXT, .type = BLI_TYPE_NUMBER, .low = (from), .high = (to)
#define ANY_NUMBER NUMBER(-1e300, 1e300)
#define NUMBERS .is = BLI_IS_LIST, .items = BLI_IS_TEXT, .type = BLI_TYPE_NUMBER, .low = -1e300, .high = 1e300
#define CHOICE(list) .is = BLI_IS_TEXT, .type = BLI_TYPE_CHOICE, .choices = (list)
#define MAP(of) .is = BLI_IS_MAP, .table = (of)
#define MAPS(of) .is = BLI_IS_MAP | BLI_IS_LIST, .items = BLI_IS_MAP, .table = (of)
#define TEXT_OR_MAP(of) .is = BLI_IS_TEXT | BLI_IS_MAP, .type = BLI_TYPE_TEXT, .table = (of)

static const struct bli_field policy_fields[] = {
    {.name = "policy", TEXT, .default_value = "", .help = "name or name:key=value,...: `pod:d=2`"},
    {.name = "nginx",
     TEXT,
     .default_value = "",
     .help =
         "with `live`, in place of a policy: what nginx offers itself, `least_conn`, `random`, `random two "
         "least_conn`, `round_robin`"},
    {.name = "haproxy",
     TEXT,
     .default_value = "",
     .help =
         "with `live`, in place of a policy: what HAProxy offers, `leastconn`, `random(2)`, `roundrobin`"},
    {.name = "label",
     TEXT,
     .default_value = "",
     .help = "what tables and figures call it, and by which it is referred to"},
};
static const struct bli_table policy_table = {"policy", "A policy with a label of its own.", policy_fields,
                                              COUNT(policy_fields)};

static const struct bli_field value_fields[] = {
    {.name = "value", TEXTS, .help = "the value; a list when the axis sets several fields"},
    {.name = "label", TEXT, .default_value = "", .help = "what tables and figures call it: `50:50`"},
};
static const struct bli_table value_table = {"value", "A value of an axis with a label of its own.",
                                             value_fields, COUNT(value_fields)};

static const struct bli_field axis_fields[] = {
    {.name = "axis",
     TEXTS,
     .help = "what is swept: a field of `fleet` or `workload` (`load`, `servers`), one of `run` "
             "(`run.jobs`), a parameter of a "
             "policy (`pod.d`) or of all policies that have it (`policy.d`); a list of them is set together"},
    {.name = "label",
     TEXT,
     .default_value = "",
     .help = "what tables and figures call it; default: the name"},
    {.name = "values",
     .is = BLI_IS_LIST,
     .items = BLI_IS_TEXT | BLI_IS_LIST | BLI_IS_MAP,
     .type = BLI_TYPE_TEXT,
     .table = &value_table,
     .default_value = "",
     .help = "the values, one by one"},
    {.name = "from", ANY_NUMBER, .default_value = "", .help = "or the first of evenly spaced ones"},
    {.name = "to", ANY_NUMBER, .default_value = "", .help = "and the last"},
    {.name = "step", ANY_NUMBER, .default_value = "", .help = "with the distance between two"},
    {.name = "points",
     NUMBER(2, 2000),
     .whole = true,
     .default_value = "",
     .help = "or with how many there are"},
    {.name = "log",
     FLAG,
     .default_value = "no",
     .help = "spaced evenly on a logarithmic scale (with `points`)"},
};
static const struct bli_table axis_table = {"sweep",
                                            "An axis. Several axes span a grid; the last one varies fastest.",
                                            axis_fields, COUNT(axis_fields)};

static const struct bli_field figure_fields[] = {
    {.name = "id", ID, .help = "its name, also that of its file"},
    {.name = "title", TEXT, .default_value = "", .help = "stands above it"},
    {.name = "caption", TEXT, .default_value = "", .help = "stands below it in a report"},
    {.name = "section", TEXT, .default_value = "", .help = "which figure of the paper it is"},
    {.name = "only", CHOICE(bli_modes), .default_value = "", .help = "drawn in this mode alone"},
    {.name = "kind",
     CHOICE(bli_plot_kinds),
     .default_value = "axis",
     .help =
         "`axis`: metrics against an axis; `cdf`, `ccdf`: distribution of response or waiting times; "
         "`tail`: fraction of "
         "servers with at least i jobs; `bars`; `map`: where in the plane of the axes `x` and `series` it is "
         "stable"},
    {.name = "x",
     TEXT,
     .default_value = "",
     .help = "axis of the sweep, or `policy` (bars); default: the first axis"},
    {.name = "y",
     TEXTS,
     .default_value = "response.mean",
     .help = "metrics to draw; for `cdf` and `ccdf`: `response` or `waiting`"},
    {.name = "series",
     TEXT,
     .default_value = "policy",
     .help = "what the curves differ in: `policy`, `metric` or an axis"},
    {.name = "panels",
     TEXT,
     .default_value = "",
     .help = "what the panels differ in: `policy`, `metric` or an axis"},
    {.name = "rows",
     TEXT,
     .default_value = "",
     .help = "the same for rows of panels; `panels` are then the columns"},
    {.name = "columns", NUMBER(1, 12), .whole = true, .default_value = "", .help = "panels side by side"},
    {.name = "where", .is = BLI_IS_MAP, .default_value = "", .help = "which points: see below"},
    {.name = "policies", TEXTS, .default_value = "", .help = "which policies, by label; default: all"},
    {.name = "over",
     TEXT,
     .default_value = "",
     .help = "label of a policy: each value is divided by its value at the same point (`axis` and `bars`)"},
    {.name = "over-metric",
     TEXT,
     .default_value = "",
     .help = "of that policy; default: the metric that is drawn"},
    {.name = "inverse", FLAG, .default_value = "no", .help = "draw the inverse of that ratio"},
    {.name = "theory", FLAG, .default_value = "yes", .help = "draw what theory says too"},
    {.name = "bound", FLAG, .default_value = "no", .help = "draw proved bounds too"},
    {.name = "log-x", FLAG, .default_value = "", .help = "logarithmic scale; default: as the axis is spaced"},
    {.name = "log-y", FLAG, .default_value = "no", .help = "logarithmic scale"},
    {.name = "x-range", NUMBERS, .default_value = "", .help = "`[low, high]`; default: as the data demand"},
    {.name = "y-range", NUMBERS, .default_value = "", .help = "`[low, high]`; default: as the data demand"},
    {.name = "x-label", TEXT, .default_value = "", .help = "default: from the axis"},
    {.name = "y-label", TEXT, .default_value = "", .help = "default: from the metric"},
};
static const struct bli_table figure_table = {"figures", "A figure.", figure_fields, COUNT(figure_fields)};

static const struct bli_field operand_fields[] = {
    {.name = "policy",
     TEXT,
     .default_value = "",
     .help =
         "label of a policy; on the other side also `theory` (what theory says of the policy of the first "
         "side), "
         "`bound` (a proved bound), `floor` (the mean response time of one common queue, M/M/N) or a number"},
    {.name = "metric", TEXT, .default_value = "", .help = "default: that of the claim"},
    {.name = "at",
     .is = BLI_IS_MAP,
     .default_value = "",
     .help = "the value of an axis at which this side is taken: `{load: 0.5}`"},
};
static const struct bli_table operand_table = {"operand", "One side of a comparison.", operand_fields,
                                               COUNT(operand_fields)};

static const struct bli_field expect_fields[] = {
    {.name = "least", ANY_NUMBER, .default_value = "", .help = "it is at least this"},
    {.name = "most", ANY_NUMBER, .default_value = "", .help = "it is at most this"},
    {.name = "near", ANY_NUMBER, .default_value = "", .help = "or it is this,"},
    {.name = "within", NUMBER(0, 1e6), .default_value = "", .help = "give or take this part of it: `2%`"},
    {.name = "printed",
     TEXT,
     .default_value = "",
     .help = "or it is what the paper prints: a formula rounds to it, a simulation is within a unit of its "
             "last digit"},
    {.name = "word", TEXT, .default_value = "", .help = "or it is as this word says: see docs/papers.md"},
};
static const struct bli_table expect_table = {"expect", "What is expected of the measured value.",
                                              expect_fields, COUNT(expect_fields)};

#define CHECK_FIELDS                                                                                         \
    {.name = "measure",                                                                                      \
     CHOICE(bli_measures),                                                                                   \
     .default_value = "value",                                                                               \
     .help = "what is measured: see below"},                                                                 \
        {.name = "metric",                                                                                   \
         TEXT,                                                                                               \
         .default_value = "response.mean",                                                                   \
         .help = "of what: any metric, or `queue.tail.3`"},                                                  \
        {.name = "of",                                                                                       \
         TEXT_OR_MAP(&operand_table),                                                                        \
         .default_value = "",                                                                                \
         .help = "label of a policy, or a map"},                                                             \
        {.name = "to",                                                                                       \
         TEXT_OR_MAP(&operand_table),                                                                        \
         .default_value = "",                                                                                \
         .help = "the other side of a comparison: a policy, `theory`, `bound`, `bound-3`, `floor`, a "       \
                 "number, or a map"},                                                                        \
        {.name = "along",                                                                                    \
         TEXT,                                                                                               \
         .default_value = "",                                                                                \
         .help = "axis of a fit, a critical value, a crossing or a limit"},                                  \
        {.name = "slack", FLAG, .default_value = "no", .help = "in fits: x stands for 1/(1-x)"},             \
        {.name = "among", TEXTS, .default_value = "", .help = "the policies of a rank; default: all"},       \
        {.name = "where",                                                                                    \
         .is = BLI_IS_MAP,                                                                                   \
         .default_value = "",                                                                                \
         .help = "which points: see below; default: all"},                                                   \
        {.name = "over",                                                                                     \
         CHOICE(bli_overs),                                                                                  \
         .default_value = "each",                                                                            \
         .help = "it is said of `each` of these points, of `some` of them, of the `largest` value or of "    \
                 "the `smallest`"},                                                                          \
    {                                                                                                        \
        .name = "expect", TEXT_OR_MAP(&expect_table), .default_value = "",                                   \
        .help = "`stable`, `unstable`, or a map of bounds"                                                   \
    }

static const struct bli_field check_fields[] = {CHECK_FIELDS};
static const struct bli_table check_table = {"checks", "One of several things that a claim says.",
                                             check_fields, COUNT(check_fields)};

static const struct bli_field claim_fields[] = {
    {.name = "id", ID, .help = "its name"},
    {.name = "section", TEXT, .default_value = "", .help = "where the paper claims it"},
    {.name = "quote", TEXT, .default_value = "", .help = "the sentence that is judged, in the paper's words"},
    {.name = "kind",
     CHOICE(bli_kinds),
     .default_value = "any",
     .help = "what kind of statement it is; each has its rule: see docs/papers.md"},
    {.name = "says", TEXT, .help = "the claim as you read it"},
    {.name = "error",
     TEXT,
     .default_value = "",
     .help = "why the paper is wrong, where the claim does not hold"},
    {.name = "reason",
     TEXT,
     .default_value = "",
     .help = "why the claim does not hold as it is read, where the paper is not wrong"},
    {.name = "finding",
     ID,
     .default_value = "",
     .help = "it is not claimed but found: the `id` of the claim that it answers, or `yes` where it answers "
             "none"},
    {.name = "only", CHOICE(bli_modes), .default_value = "", .help = "judged in this mode alone"},
    {.name = "checks",
     MAPS(&check_table),
     .default_value = "",
     .help = "several checks that must all hold, each with the fields below; without it the claim has one"},
    CHECK_FIELDS,
};
static const struct bli_table claim_table = {"claims", "A claim.", claim_fields, COUNT(claim_fields)};

static const struct bli_field fault_fields[] = {
    {.name = "fault", CHOICE(bli_fault_kinds), .help = "what happens"},
    {.name = "at", NUMBER(0, 1e6), .help = "when, in seconds from the beginning of a block"},
    {.name = "for",
     NUMBER(0, 1e6),
     .default_value = "1",
     .help =
         "seconds until it ends, or until what was killed is started again; `reload`, `reload-station` and "
         "`kill-worker` have no end; `deploy` is through with all servers then"},
    {.name = "of",
     NUMBER(0, 1e6),
     .whole = true,
     .default_value = "0",
     .help = "the number of the server, station, dispatcher or host, from 0 on"},
    {.name = "factor",
     NUMBER(1, 1e6),
     .default_value = "5",
     .help = "of `slow`: it takes so many times as long"},
    {.name = "to", NUMBER(0, 1e6), .whole = true, .default_value = "0", .help = "of `cut`: the other host"},
    {.name = "share",
     NUMBER(0, 1),
     .default_value = "1",
     .help = "of `deaf` and `mute`: the part of the datagrams that is lost"},
    {.name = "delay", NUMBER(0, 60), .default_value = "0.02", .help = "of `delay`: seconds, each way"},
    {.name = "bytes",
     NUMBER(576, 1500),
     .whole = true,
     .default_value = "1280",
     .help = "of `mtu`: the largest packet that leaves the host; IPv6 needs 1280"},
};
static const struct bli_table fault_table = {"faults", "What happens to a live fleet.", fault_fields,
                                             COUNT(fault_fields)};

static const struct bli_field live_fields[] = {
    {.name = "seconds",
     NUMBER(0.1, 1e5),
     .default_value = "5",
     .help = "length of a block, which is a trial"},
    {.name = "rounds",
     NUMBER(1, 10000),
     .whole = true,
     .default_value = "5",
     .help = "blocks of each policy; in a round each has one, on the same requests"},
    {.name = "timeout",
     NUMBER(1, 1e5),
     .default_value = "60",
     .help = "seconds that a dispatcher waits for an answer before it tries another server"},
    {.name = "stations",
     CHOICE(bli_stations_kinds),
     .default_value = "auto",
     .help =
         "have servers stations? `auto`: where the policy goes by tokens or probes, or there is stealing"},
    {.name = "apart", FLAG, .default_value = "no", .help = "each station is an nginx of its own"},
    {.name = "keepers",
     FLAG,
     .default_value = "no",
     .help = "`ballastd` starts the servers and keeps them running"},
    {.name = "burn",
     FLAG,
     .default_value = "no",
     .help = "servers use their processor for the time of the service, instead of sleeping"},
    {.name = "hosts",
     NUMBER(0, 16),
     .whole = true,
     .default_value = "0",
     .help =
         "network namespaces that the fleet is spread over, each with an address of its own (needs root): "
         "dispatchers first, servers with their stations and keepers on the others; 0: all on loopback"},
    {.name = "ipv6", FLAG, .default_value = "no", .help = "the hosts have addresses of IPv6, not of IPv4"},
    {.name = "urgent",
     FLAG,
     .default_value = "yes",
     .help = "everything goes before other processes of the machine, where that is allowed"},
    {.name = "faults",
     MAPS(&fault_table),
     .default_value = "",
     .help = "what happens in each block; the lab does not know of it"},
};
static const struct bli_table live_table = {"live", "How it is measured on real processes (`ballast live`).",
                                            live_fields, COUNT(live_fields)};

static const struct bli_field mode_fields[] = {
    {.name = "fleet", MAP(&bli_fleet_table), .default_value = "", .help = "fields to replace"},
    {.name = "workload", MAP(&bli_workload_table), .default_value = "", .help = "fields to replace"},
    {.name = "network", MAP(&bli_network_table), .default_value = "", .help = "fields to replace"},
    {.name = "run", MAP(&bli_run_table), .default_value = "", .help = "fields to replace"},
    {.name = "sweep",
     MAPS(&axis_table),
     .default_value = "",
     .help = "axes to replace, each named as it is in `sweep`"},
};
static const struct bli_table mode_table = {"quick", "What `--quick` or `--full` lays over the rest.",
                                            mode_fields, COUNT(mode_fields)};

static const struct bli_field experiment_fields[] = {
    {.name = "title", TEXT, .help = "one line"},
    {.name = "about", TEXT, .default_value = "", .help = "a few sentences"},
    {.name = "unit",
     TEXT,
     .default_value = "",
     .help =
         "of time, as figures are to call it: `seconds`; without it service times, slots or units of time"},
    {.name = "paper", ID, .default_value = "", .help = "short name of the paper it belongs to"},
    {.name = "section", TEXT, .default_value = "", .help = "of the paper"},
    {.name = "seed",
     NUMBER(0, 9007199254740991),
     .whole = true,
     .default_value = "1",
     .help = "another seed, other random numbers"},
    {.name = "fleet", MAP(&bli_fleet_table), .default_value = "", .help = "the servers"},
    {.name = "workload", MAP(&bli_workload_table), .default_value = "", .help = "what arrives"},
    {.name = "network",
     MAP(&bli_network_table),
     .default_value = "",
     .help = "what lies between dispatchers and servers"},
    {.name = "policies",
     .is = BLI_IS_LIST,
     .items = BLI_IS_TEXT | BLI_IS_MAP,
     .type = BLI_TYPE_TEXT,
     .table = &policy_table,
     .help = "the policies to run at every point, on the same arrivals"},
    {.name = "baseline",
     TEXT,
     .default_value = "",
     .help = "the policy that the others are compared with; default: the first"},
    {.name = "sweep",
     MAPS(&axis_table),
     .default_value = "",
     .help = "what varies from point to point: an axis or a list of axes"},
    {.name = "run", MAP(&bli_run_table), .default_value = "", .help = "how long and how often"},
    {.name = "live",
     MAP(&live_table),
     .default_value = "",
     .help = "the policies are measured on real processes, by `ballast live`; times are in seconds"},
    {.name = "metrics",
     TEXTS,
     .default_value = "response.mean response.p99 messages.per_job",
     .help = "shown in tables"},
    {.name = "figures", MAPS(&figure_table), .default_value = "", .help = "what `ballast report` draws"},
    {.name = "claims", MAPS(&claim_table), .default_value = "", .help = "what is to be judged"},
    {.name = "quick", MAP(&mode_table), .default_value = "", .help = "laid over the rest by `--quick`"},
    {.name = "full", MAP(&mode_table), .default_value = "", .help = "laid over the rest by `--full`"},
};
const struct bli_table bli_experiment_table = {"experiment", "An experiment file.", experiment_fields,
                                               COUNT(experiment_fields)};
