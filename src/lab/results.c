/* What the stored trials of cells say. */
#include "lab/plan.h"
#include "lab/store_private.h"

#include <math.h>
#include <stdlib.h>

static enum bal_code no_memory(struct bal_error *err) {
    return bal_fail(err, BAL_E_MEMORY, "not enough memory for the trials of a cell");
}

/* Where a precision is wanted, the number of replications follows from the trials themselves, in the same steps as when they were
 * run: so the answer is the same however often the run was interrupted, and whatever else is stored. */
static enum bal_code load(struct bal_store *store, const struct bal_case *c, int64_t cell, unsigned most,
                          struct bal_trial **trial, unsigned **which, size_t *count, bool *complete,
                          struct bal_error *err) {
    for (unsigned wanted = c->replications;;) {
        free(*trial);
        free(*which);
        *trial = malloc(wanted * sizeof **trial);
        *which = malloc(wanted * sizeof **which);
        if (!*trial || !*which)
            return no_memory(err);
        const enum bal_code code = bal_store_get(store, cell, wanted, *trial, *which, count, err);
        *complete = !code && *count == wanted;
        if (code || !*complete || !(c->precision > 0))
            return code;
        struct bal_result result;
        bal_result_of(c, *trial, *count, &result);
        const unsigned needed = bal_replications_needed(c, &result, most);
        if (needed == wanted)
            return BAL_OK;
        wanted = needed;
    }
}

enum bal_code bal_store_trials(struct bal_store *store, const struct bal_experiment *experiment, size_t point,
                               size_t policy, struct bal_case *c, struct bal_trial **trial, unsigned **which,
                               size_t *count, bool *complete, struct bal_error *err) {
    *trial = NULL;
    *which = NULL;
    *count = 0;
    *complete = false;
    bal_experiment_case(experiment, point, policy, c);
    char *identity = bal_plan_identity(c);
    if (!identity)
        return no_memory(err);
    int64_t cell = 0;
    enum bal_code code = bal_store_cell(store, identity, false, &cell, err);
    free(identity);
    if (!code && cell)
        code = load(store, c, cell, bal_plan_most(experiment, point), trial, which, count, complete, err);
    if (code) {
        free(*trial);
        free(*which);
        *trial = NULL;
        *which = NULL;
        *count = 0;
    }
    return code;
}

enum bal_code bal_store_result(struct bal_store *store, const struct bal_experiment *experiment, size_t point,
                               size_t policy, struct bal_result *result, struct bal_error *err) {
    struct bal_case c;
    struct bal_trial *trial;
    unsigned *which;
    size_t count;
    bool complete;
    const enum bal_code code =
        bal_store_trials(store, experiment, point, policy, &c, &trial, &which, &count, &complete, err);
    if (!code)
        bal_result_of(&c, trial, count, result);
    free(trial);
    free(which);
    return code;
}

enum bal_code bal_store_quantity(struct bal_store *store, const struct bal_experiment *experiment, size_t point,
                                 size_t policy, struct bal_quantity quantity, struct bal_estimate *estimate,
                                 struct bal_error *err) {
    struct bal_case c;
    struct bal_trial *trial;
    unsigned *which;
    size_t count;
    bool complete;
    enum bal_code code = bal_store_trials(store, experiment, point, policy, &c, &trial, &which, &count, &complete, err);
    double *value = code ? NULL : malloc((count + 1) * sizeof *value);
    if (!code && !value)
        code = no_memory(err);
    for (size_t i = 0; !code && i < count; i++)
        value[i] = bal_quantity_of_trial(quantity, &trial[i]);
    if (!code)
        *estimate = bal_estimate_mean(value, count);
    free(value);
    free(trial);
    free(which);
    return code;
}

/* The values of one quantity by replication, NaN where there is none; the caller frees *value. */
static enum bal_code by_replication(struct bal_store *store, const struct bal_experiment *e, size_t point, size_t policy,
                                    struct bal_quantity quantity, double **value, size_t *count,
                                    struct bal_error *err) {
    struct bal_case c;
    struct bal_trial *trial;
    unsigned *which;
    size_t trials;
    bool complete;
    enum bal_code code = bal_store_trials(store, e, point, policy, &c, &trial, &which, &trials, &complete, err);
    *count = trials ? which[trials - 1] + 1 : 0;
    *value = code ? NULL : malloc((*count + 1) * sizeof **value);
    if (!code && !*value)
        code = no_memory(err);
    for (size_t r = 0; !code && r < *count; r++)
        (*value)[r] = NAN;
    for (size_t i = 0; !code && i < trials; i++)
        (*value)[which[i]] = bal_quantity_of_trial(quantity, &trial[i]);
    free(trial);
    free(which);
    return code;
}

enum bal_code bal_store_ratio(struct bal_store *store, const struct bal_experiment *experiment, size_t point,
                              size_t policy, size_t other, struct bal_quantity quantity,
                              struct bal_estimate *estimate, struct bal_error *err) {
    double *top = NULL, *bottom = NULL;
    size_t tops = 0, bottoms = 0;
    enum bal_code code = by_replication(store, experiment, point, policy, quantity, &top, &tops, err);
    if (!code)
        code = by_replication(store, experiment, point, other, quantity, &bottom, &bottoms, err);
    if (!code)
        *estimate = bal_estimate_ratio(top, bottom, tops < bottoms ? tops : bottoms);
    free(top);
    free(bottom);
    return code;
}

enum bal_code bal_store_histograms(struct bal_store *store, const struct bal_experiment *experiment, size_t point,
                                   size_t policy, struct bal_histogram *response, struct bal_histogram *waiting,
                                   double *unit, struct bal_error *err) {
    struct bal_case c;
    struct bal_trial *trial;
    unsigned *which;
    size_t count;
    bool complete;
    enum bal_code code = bal_store_trials(store, experiment, point, policy, &c, &trial, &which, &count, &complete, err);
    const unsigned limit = count ? which[count - 1] + 1 : 0;
    free(trial);
    free(which);
    *unit = c.model.clock == BAL_CLOCK_SLOTTED ? 1 : c.model.size.mean;
    if (code || count == 0)
        return code;
    char *identity = bal_plan_identity(&c);
    int64_t cell = 0;
    if (!identity)
        return no_memory(err);
    code = bal_store_cell(store, identity, false, &cell, err);
    free(identity);
    return code ? code : bal_store_add_histograms(store, cell, limit, response, waiting, err);
}
