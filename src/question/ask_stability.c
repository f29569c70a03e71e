/* SPDX-License-Identifier: BSD-2-Clause */
/* The question stability: the load, or the number of stolen tasks, at which stability ends. */
#include "question/kind.h"

#include "report/frontier_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOADS_MAX = 100 };

struct args {
    struct bli_request common; /* first: its setters take the whole */
    double low, high;          /* NaN: not given */
    double width, error;
    bool constant; /* it is sought */
    bool map;
    double points; /* NaN: not given */
};

static enum bal_code set_hosts(void *into, const char *value, struct bal_error *err) {
    static const struct bli_option_range range = {1, BLI_SERVERS_MAX, true, "a whole number from 1"};
    struct bli_request *common = into;
    double hosts = 1;
    const enum bal_code code = bli_option_number(value, &range, &hosts, err);
    common->draft.c.model.placement =
        (struct bal_placement){.kind = BAL_PLACEMENT_HOSTS, .hosts = (uint32_t)hosts};
    bli_request_mark(common, "placement");
    return code;
}

/* constant, without a number, asks for the number: the reader of steal functions is given one. */
static enum bal_code set_steal(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    args->constant = strcmp(value, "constant") == 0;
    return bli_request_set(&args->common, bli_setting_find("steal"), args->constant ? "constant(1)" : value,
                           err);
}

static const struct bli_option options[] = {
    {"hosts", "K", "policy stealing: all generators on K processors, as --placement 'hosts(K)'", set_hosts},
    BLI_MODEL_OPTIONS,
    {.setting = "steal", .set = set_steal},
    {.subject = "search"},
    {"from", "X", "least load or constant to try (default 0)",
     BLI_STORES_NUMBER(struct args, low, 0, 1e5, "a number from 0 to 100k")},
    {"to", "X", "largest (default: load 0.999, constant 100k)",
     BLI_STORES_NUMBER(struct args, high, 1e-6, 1e5, "a number above 0 (to 100k)")},
    {"width", "W", "interval wanted (default: 0.005 of load, 1 of a constant)",
     BLI_STORES_NUMBER(struct args, width, 1e-5, 1e5, "a number above 0, such as 0.002")},
    {"error", "P", "probability that any claim is wrong, at most (default 0.01)",
     BLI_STORES_NUMBER(struct args, error, 1e-9, 0.4, "a probability from 1e-9 to 0.4, such as 0.01")},
    {.help = "length of the longest runs, in time (slots) (default: by the model)", .setting = "run.time"},
    {"map", NULL, "the critical constant at loads --from 0.1 --to 0.9", BLI_STORES_FLAG(struct args, map)},
    {"points", "K", "so many loads of the map (default 9)",
     BLI_STORES_WHOLE(struct args, points, 2, LOADS_MAX, "a whole number from 2 to 100")},
    {"figure", "FILE", "draw the map, too: FILE.svg, FILE.png or FILE.pdf (needs gnuplot)",
     bli_request_set_figure},
    BLI_SEED_OPTION,
    BLI_THREADS_OPTION,
    {.setting = "run.engine"},
    BLI_OUTPUT_OPTIONS,
};

/* ---- the work ---- */

static void cut_short(const struct args *args, struct bli_asking *asking) {
    bli_asking_cut_short(asking, "interrupted: %s",
                         !args->map            ? "these are the points that were complete"
                         : args->common.figure ? "the map has what was complete, and no figure was drawn"
                                               : "the map has what was complete");
}

static enum bal_code find_frontier(const struct args *args, const struct bli_frontier_question *question,
                                   const struct bli_lab_options *lab, struct bli_asking *asking,
                                   struct bal_error *err) {
    struct bli_frontier frontier;
    const enum bal_code code = bli_frontier_find(question, lab, &frontier, err);
    if (code && code != BAL_E_STOPPED)
        return code;
    bli_frontier_print(question, &frontier, BLI_ROWS(args->common.format, asking->out));
    if (code == BAL_E_STOPPED)
        cut_short(args, asking);
    return BAL_OK;
}

static enum bal_code draw_map(const struct args *args, const struct bli_frontier_question *question,
                              const struct bli_lab_options *lab, struct bli_asking *asking,
                              struct bal_error *err) {
    const unsigned count = isnan(args->points) ? 9 : (unsigned)args->points;
    const double low = isnan(args->low) ? 0.1 : args->low, high = isnan(args->high) ? 0.9 : args->high;
    double load[LOADS_MAX];
    for (unsigned i = 0; i < count; i++) /* 0.3 is to be 0.3 */
        load[i] = round(1e9 * (low + (high - low) * i / (count - 1))) / 1e9;
    struct bli_frontier *frontier = malloc(count * sizeof *frontier);
    enum bal_code code = frontier ? bli_frontier_map(question, load, count, lab, frontier, err)
                                  : bal_fail(err, BAL_E_MEMORY, "not enough memory");
    const bool stopped = code == BAL_E_STOPPED;
    const struct bli_frontier_chart chart = {question, load, frontier, count};
    if (!code && args->common.figure)
        code = bli_frontier_map_figure(&chart, args->common.figure, err);
    if (!code || stopped)
        bli_frontier_map_print(&chart, BLI_ROWS(args->common.format, asking->out));
    if (stopped)
        cut_short(args, asking);
    free(frontier);
    return stopped ? BAL_OK : code;
}

static enum bal_code ask(void *request, struct bli_asking *asking, struct bal_error *err) {
    const struct args *args = request;
    const struct bli_request *common = &args->common;
    const bool ranged = !args->map; /* the range of a map is one of loads */
    const struct bli_frontier_question question = {
        .model = common->draft.c.model,
        .policy = common->policy[0],
        .axis = args->constant ? BLI_FRONTIER_CONSTANT : BLI_FRONTIER_LOAD,
        .engine = common->draft.c.run.engine,
        .low = ranged && !isnan(args->low) ? args->low : 0,
        .high = ranged && !isnan(args->high) ? args->high : 0,
        .width = args->width,
        .relative = args->map && !(args->width > 0) ? 0.02 : 0,
        .error = args->error,
        .longest = isnan(common->draft.time) ? 0 : common->draft.time,
        .seed = (uint64_t)common->seed,
    };
    struct bli_doing doing;
    const struct bli_lab_options lab = bli_asking_lab(asking, common, &doing);
    return (args->map ? draw_map : find_frontier)(args, &question, &lab, asking, err);
}

/* Options that contradict each other. */
static enum bal_code check(void *request, struct bal_error *err) {
    struct args *args = request;
    struct bli_request *common = &args->common;
    if (common->policies == 0)
        return bal_fail(err, BAL_E_MODEL, "stability: of which policy? Write ballast stability jiq");
    const bool chain = bli_scheme_of(common->policy[0].policy) == BLI_SCHEME_GENERATED;
    if (args->constant && !chain)
        return bal_fail(
            err, BAL_E_MODEL,
            "--steal constant: a critical constant is sought for stealing, not for '%s'; give the "
            "number: --steal 'constant(4)'",
            common->policy[0].policy->name);
    const char *what =
        args->map && !(args->constant && common->draft.c.model.placement.kind == BAL_PLACEMENT_HOSTS)
            ? "--map: it shows the critical constant of policy stealing; add --hosts 1 --steal constant"
        : args->map && (args->low <= 0 || args->high >= 1 || args->low >= args->high)
            ? "--from and --to: the loads of a map go up, above 0 and below 1"
        : !isnan(args->points) && !args->map ? "--points: it says how many loads the map has; add --map"
        : common->figure && !args->map       ? "--figure: it draws the map; add --map"
                                             : NULL;
    if (what)
        return bal_fail(err, BAL_E_MODEL, "%s", what);
    if (bli_request_has(common, "load") && (args->map || !args->constant))
        return bal_fail(err, BAL_E_MODEL, "--load: it is what is %s; leave it out",
                        args->map ? "varied" : "sought");
    if (!args->constant)
        common->draft.c.model.load = isnan(args->high) ? 0.5 : args->high;
    bli_request_mark(common, "load");
    return bli_request_check(common, err);
}

static void init(void *request) {
    struct args *args = request;
    args->low = args->high = args->points = NAN;
    args->error = 0.01;
}

const struct bli_question_kind bli_question_stability = {
    .name = "stability",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operand = "policy",
    .operands = 1,
    .set_operand = bli_request_set_policy,
    .size = sizeof(struct args),
    .init = init,
    .check = check,
    .ask = ask,
};
