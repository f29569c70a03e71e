/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares measurements of real processes with the lab's prediction and gives a verdict. */
#include "rig/live_verdict.h"

#include <math.h>
#include <stdlib.h>

const char *const bli_rig_verdict_text[] = {"", "undecided", "agrees", "differs"};

enum how { SUM, MEAN, MOST };

static enum bal_code gather_values(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                   size_t policy, const char *name, enum how how, double *value,
                                   struct bal_error *err) {
    struct bli_case c;
    bli_experiment_case(e, point, policy, &c);
    double *values = malloc(c.replications * sizeof *values);
    if (!values)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the blocks");
    const enum bal_code code =
        bli_store_read_facts(store, e, point, policy, name, values, c.replications, err);
    double sum = 0, most = -INFINITY;
    unsigned count = 0;
    for (unsigned i = 0; !code && i < c.replications; i++)
        if (!isnan(values[i])) {
            sum += values[i];
            most = fmax(most, values[i]);
            count++;
        }
    *value = count == 0 ? NAN : how == SUM ? sum : how == MEAN ? sum / count : most;
    free(values);
    return code;
}

static enum bal_code gather_facts(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                  size_t policy, struct rig_row *row, struct bal_error *err) {
    const struct {
        const char *name;
        enum how how;
        double *into;
    } wanted[] = {{"requests", SUM, &row->requests},
                  {"lost", SUM, &row->lost},
                  {"doubled", SUM, &row->doubled},
                  {"resent", SUM, &row->resent},
                  {"strange", SUM, &row->strange},
                  {"exceeded", MOST, &row->exceeded},
                  {"offers", SUM, &row->offers},
                  {"rode", SUM, &row->rode},
                  {"again", SUM, &row->again},
                  {"late.mean", MEAN, &row->late},
                  {"overslept", MEAN, &row->overslept},
                  {"delay", MEAN, &row->delay},
                  {"memory.first", MOST, &row->memory_first},
                  {"memory.last", MOST, &row->memory_last},
                  {"memory.growth", MOST, &row->growth}};
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < sizeof wanted / sizeof *wanted; i++)
        code = gather_values(store, e, point, policy, wanted[i].name, wanted[i].how, wanted[i].into, err);
    return code;
}

/* ---- the verdict ---- */

enum side { INSIDE, OUTSIDE, ACROSS };

/* Where the ratio is, as far as can be told: chance gives it a half-width on either side, and the machine may
 * have added up to `added` to what was measured. To call it different it must be so by twice the half-width.
 */
static enum side side_of(const struct bli_estimate *ratio, double added, double within) {
    const double off = ratio->mean - 1, half = ratio->half_width;
    if (!isfinite(half) || !isfinite(off) || !isfinite(added))
        return ACROSS;
    if (off - half - added >= -within && off + half <= within)
        return INSIDE;
    return off - 2 * half - added > within || off + 2 * half < -within ? OUTSIDE : ACROSS;
}

/* By what part the machine itself has made answers later, at most: what generator and servers were late, and,
 * where a server that wakes up late begins the next request so much later, that it has less to give. */
static double added_by(const struct rig_row *row, const struct bli_model *model) {
    const double load = fmin(model->load, 0.98);
    return (row->late + row->overslept) / row->lab_mean.mean +
           (row->slower ? row->overslept / model->size.mean / (1 - load) : 0);
}

static void format_reason(struct rig_row *row, bool of_mean, double within) {
    const struct bli_estimate *ratio = of_mean ? &row->mean_ratio : &row->p99_ratio;
    const char *what = of_mean ? "mean" : "p99";
    if (!isfinite(ratio->half_width))
        snprintf(row->reason, sizeof row->reason, "one block has no interval; `rounds` must be 2 or more");
    else if (side_of(ratio, 0, within) != ACROSS)
        snprintf(row->reason, sizeof row->reason,
                 "the machine was too busy: the generator was late by %.2g ms, the servers by %.2g ms, which "
                 "may have added up to %.1f %%",
                 1e3 * row->late, 1e3 * row->overslept, 100 * row->added);
    else
        snprintf(row->reason, sizeof row->reason,
                 "live/lab of the %s may be from %.2f to %.2f, which is not all within %.0f %%; more "
                 "`rounds`, or `seconds`",
                 what, ratio->mean - ratio->half_width - row->added, ratio->mean + ratio->half_width,
                 100 * within);
}

void bli_live_verdict_decide(struct rig_row *row, const struct bli_model *model) {
    row->added = added_by(row, model);
    const enum side mean = side_of(&row->mean_ratio, row->added, RIG_MEAN_WITHIN),
                    tail = side_of(&row->p99_ratio, row->added, RIG_P99_WITHIN);
    row->verdict = mean == OUTSIDE || tail == OUTSIDE ? RIG_DIFFERS
                   : mean == INSIDE && tail == INSIDE ? RIG_AGREES
                                                      : RIG_UNDECIDED;
    if (row->verdict == RIG_UNDECIDED)
        format_reason(row, mean != INSIDE, mean != INSIDE ? RIG_MEAN_WITHIN : RIG_P99_WITHIN);
}

static enum bal_code compare_with_lab(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                      size_t policy, const struct bli_cell *cell,
                                      const struct bli_quantity quantity[2], struct rig_row *row,
                                      struct bal_error *err) {
    struct bli_cell twin;
    enum bal_code code = bli_cell_load(&twin, store, e, point, (size_t)e->policy[policy].twin, err);
    if (!code)
        code = bli_cell_quantity(&twin, store, quantity[0], &row->lab_mean, err);
    if (!code)
        code = bli_cell_quantity(&twin, store, quantity[1], &row->lab_p99, err);
    if (!code)
        code = bli_cell_ratio(cell, store, quantity[0], &twin, quantity[0], &row->mean_ratio, err);
    if (!code)
        code = bli_cell_ratio(cell, store, quantity[1], &twin, quantity[1], &row->p99_ratio, err);
    bli_cell_fini(&twin);
    if (code || e->live->faults > 0)
        return code;
    bli_live_verdict_decide(row, &cell->c.model);
    if (bli_baseline_is_modelled(&e->policy[policy], &cell->c.model))
        return BAL_OK;
    row->verdict = RIG_UNDECIDED;
    snprintf(row->reason, sizeof row->reason, "%s",
             cell->c.model.classes
                 ? "the lab's model of it is for requests of one class"
                 : "the lab's model of it is for servers of one weight; with others it chooses "
                   "another way");
    return BAL_OK;
}

struct class_times {
    const char *name;
    struct bli_quantity quantity[2]; /* mean and 99th percentile */
};

static struct class_times times_of_class(uint32_t classes, int class_) {
    static const struct class_times all = {"", {{BLI_RESPONSE_MEAN, 0}, {BLI_RESPONSE_P99, 0}}};
    static const struct class_times two[] = {
        {"high", {{BLI_HIGH_RESPONSE_MEAN, 0}, {BLI_HIGH_RESPONSE_P99, 0}}},
        {"low", {{BLI_LOW_RESPONSE_MEAN, 0}, {BLI_LOW_RESPONSE_P99, 0}}}};
#define TIMES_OF(i)                                                                                          \
    {                                                                                                        \
        "class " #i, {                                                                                       \
            {BLI_CLASS_##i##_RESPONSE_MEAN, 0}, {                                                            \
                BLI_CLASS_##i##_RESPONSE_P99, 0                                                              \
            }                                                                                                \
        }                                                                                                    \
    }
    static const struct class_times many[] = {TIMES_OF(1), TIMES_OF(2), TIMES_OF(3), TIMES_OF(4),
                                              TIMES_OF(5), TIMES_OF(6), TIMES_OF(7), TIMES_OF(8)};
    return class_ == 0 ? all : classes > 2 ? many[class_ - 1] : two[class_ - 1];
}

enum bal_code bli_live_verdict(struct bli_store *store, const struct bli_experiment *e, size_t point,
                               size_t policy, int class_, struct rig_row *row, struct bal_error *err) {
    struct bli_cell cell;
    enum bal_code code = bli_cell_load(&cell, store, e, point, policy, err);
    const struct class_times times = times_of_class(bli_model_classes(&cell.c.model), class_);
    const struct bli_estimate none = {.mean = NAN, .half_width = NAN};
    *row = (struct rig_row){.label = e->policy[policy].label,
                            .class_ = times.name,
                            .first = class_ <= 1,
                            .lab_mean = none,
                            .lab_p99 = none,
                            .mean_ratio = none,
                            .p99_ratio = none};
    if (!code)
        code = bli_cell_quantity(&cell, store, times.quantity[0], &row->mean, err);
    if (!code)
        code = bli_cell_quantity(&cell, store, times.quantity[1], &row->p99, err);
    if (!code)
        code = gather_facts(store, e, point, policy, row, err);
    row->slower = !isnan(row->exceeded) || e->live->burn;
    if (!code && e->policy[policy].twin >= 0)
        code = compare_with_lab(store, e, point, policy, &cell, times.quantity, row, err);
    bli_cell_fini(&cell);
    return code;
}

enum bal_code bli_live_fault_summary(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                     size_t policy, size_t fault, struct rig_fault_row *row,
                                     struct bal_error *err) {
    const struct {
        const char *name;
        enum how how;
        double *into;
    } wanted[] = {{"lost", SUM, &row->lost},          {"doubled", SUM, &row->doubled},
                  {"exceeded", MOST, &row->exceeded}, {"resent", SUM, &row->resent},
                  {"recovery", MOST, &row->recovery}, {"p99", MOST, &row->p99}};
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < sizeof wanted / sizeof *wanted; i++) {
        char name[48];
        snprintf(name, sizeof name, "fault%zu.%s", fault, wanted[i].name);
        code = gather_values(store, e, point, policy, name, wanted[i].how, wanted[i].into, err);
    }
    return code;
}
