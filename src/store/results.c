/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the results of cells from their stored trials. */
#include "spec/plan.h"
#include "store/store_private.h"

#include <math.h>
#include <stdlib.h>

static enum bal_code no_memory(struct bal_error *err) {
    return bal_fail(err, BAL_E_MEMORY, "not enough memory for the trials of a cell");
}

void bli_cell_fini(struct bli_cell *cell) {
    free(cell->trial);
    free(cell->which);
    cell->trial = NULL;
    cell->which = NULL;
    cell->count = 0;
}

/* Where a precision is wanted, the number of replications follows from the trials themselves, in the same
 * steps as when they were run: so the answer is the same however often the run was interrupted, and whatever
 * else is stored. */
static enum bal_code load_trials(struct bli_cell *cell, struct bli_store *store, unsigned most,
                                 struct bal_error *err) {
    for (unsigned wanted = cell->c.replications;;) {
        bli_cell_fini(cell);
        cell->trial = malloc(wanted * sizeof *cell->trial);
        cell->which = malloc(wanted * sizeof *cell->which);
        if (!cell->trial || !cell->which)
            return no_memory(err);
        const enum bal_code code =
            bli_store_get(store, cell->id, wanted, cell->trial, cell->which, &cell->count, err);
        cell->complete = !code && cell->count == wanted;
        if (code)
            return code;
        bli_result_of(&cell->c, cell->trial, cell->count, &cell->result);
        if (!cell->complete || !(cell->c.precision > 0))
            return BAL_OK;
        const unsigned needed = bli_replications_needed(&cell->c, &cell->result, most);
        if (needed == wanted)
            return BAL_OK;
        wanted = needed;
    }
}

enum bal_code bli_cell_load(struct bli_cell *cell, struct bli_store *store,
                            const struct bli_experiment *experiment, size_t point, size_t policy,
                            struct bal_error *err) {
    struct bli_draft draft;
    bli_plan_point(experiment, point, &draft);
    bli_plan_policy(experiment, point, policy, &draft);
    *cell = (struct bli_cell){.c = draft.c};
    char *identity = bli_plan_identity(&cell->c);
    if (!identity)
        return no_memory(err);
    enum bal_code code = bli_store_cell(store, identity, false, &cell->id, err);
    free(identity);
    if (!code && cell->id)
        code = load_trials(cell, store, bli_plan_most(&draft), err);
    else if (!code)
        bli_result_of(&cell->c, NULL, 0, &cell->result);
    return code;
}

size_t bli_cell_extent(const struct bli_cell *cell) {
    return cell->count ? cell->which[cell->count - 1] + 1 : 0;
}

double bli_cell_unit(const struct bli_cell *cell) {
    return cell->c.model.clock == BLI_CLOCK_SLOTTED ? 1 : cell->c.model.size.mean;
}

enum bal_code bli_cell_values(const struct bli_cell *cell, struct bli_store *store,
                              struct bli_quantity quantity, double *value, struct bal_error *err) {
    for (size_t r = 0; r < bli_cell_extent(cell); r++)
        value[r] = NAN;
    if (quantity.quantile > 0) {
        const struct bli_asked asked = {(enum bli_distribution)quantity.level, quantity.quantile,
                                        bli_cell_unit(cell), cell->c.model.clock == BLI_CLOCK_SLOTTED};
        return bli_store_quantiles(store, cell->id, (unsigned)bli_cell_extent(cell), &asked, value, err);
    }
    for (size_t i = 0; i < cell->count; i++)
        value[cell->which[i]] = bli_quantity_of_trial(quantity, &cell->trial[i]);
    return BAL_OK;
}

enum bal_code bli_store_result(struct bli_store *store, const struct bli_experiment *experiment, size_t point,
                               size_t policy, struct bli_result *result, struct bal_error *err) {
    struct bli_cell cell;
    const enum bal_code code = bli_cell_load(&cell, store, experiment, point, policy, err);
    *result = cell.result;
    bli_cell_fini(&cell);
    return code;
}

enum bal_code bli_cell_quantity(const struct bli_cell *cell, struct bli_store *store,
                                struct bli_quantity quantity, struct bli_estimate *estimate,
                                struct bal_error *err) {
    if (cell->c.precision > 0 && quantity.metric == BLI_RESPONSE_MEAN && !(quantity.quantile > 0)) {
        *estimate = cell->result.metric[BLI_RESPONSE_MEAN]; /* as it was when its precision was reached */
        return BAL_OK;
    }
    double *value = malloc((bli_cell_extent(cell) + 1) * sizeof *value);
    const enum bal_code code = value ? bli_cell_values(cell, store, quantity, value, err) : no_memory(err);
    if (!code)
        *estimate = bli_estimate_mean(value, bli_cell_extent(cell));
    free(value);
    return code;
}

enum bal_code bli_cell_ratio(const struct bli_cell *cell, struct bli_store *store,
                             struct bli_quantity quantity, const struct bli_cell *other,
                             struct bli_quantity over, struct bli_estimate *estimate, struct bal_error *err) {
    const size_t tops = bli_cell_extent(cell), bottoms = bli_cell_extent(other);
    double *top = malloc((tops + 1) * sizeof *top), *bottom = malloc((bottoms + 1) * sizeof *bottom);
    enum bal_code code = top && bottom ? BAL_OK : no_memory(err);
    if (!code)
        code = bli_cell_values(cell, store, quantity, top, err);
    if (!code)
        code = bli_cell_values(other, store, over, bottom, err);
    if (!code)
        *estimate = bli_estimate_ratio(top, bottom, tops < bottoms ? tops : bottoms);
    free(top);
    free(bottom);
    return code;
}

enum bal_code bli_store_histograms(struct bli_store *store, const struct bli_experiment *experiment,
                                   size_t point, size_t policy, struct bli_histogram *response,
                                   struct bli_histogram *waiting, double *unit, struct bal_error *err) {
    struct bli_cell cell;
    enum bal_code code = bli_cell_load(&cell, store, experiment, point, policy, err);
    *unit = bli_cell_unit(&cell);
    if (!code && cell.count > 0)
        code = bli_store_add_histograms(store, cell.id, (unsigned)bli_cell_extent(&cell), response, waiting,
                                        err);
    bli_cell_fini(&cell);
    return code;
}
