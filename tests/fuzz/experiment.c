/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes: an experiment, in each of its modes, or one line of error that names the file. And an
 * experiment that was read must be right in all its parts: cells that can be simulated, references that
 * exist, identities that differ. */
#include "ballast/experiment.h"

#include "spec/reader.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CELLS_MAX = 200 }; /* that are looked at */

static void check_error(const struct bal_error *err, enum bal_code code) {
    assert(err->code == code);
    assert(strncmp(err->text, "fuzz.yaml:", 10) == 0);
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_cell(const struct bli_experiment *e, size_t point, size_t policy) {
    struct bli_draft draft;
    struct bal_error err = {0};
    enum bli_engine engine;
    bli_plan_point(e, point, &draft);
    bli_plan_policy(e, point, policy, &draft);
    const struct bli_case c = draft.c;
    assert(bli_simulate_check(&c.model, &c.policy, c.run.engine, &engine, &err) == BAL_OK);
    assert(engine == c.run.engine && c.run.time > 0 && isfinite(c.run.time) && c.replications >= 1);
    assert(bli_plan_most(&draft) >= c.replications);
    assert(bli_case_cost(&c) > 0);
    char *identity = bli_plan_identity(&c);
    assert(identity && strstr(identity, "policy=") && strstr(identity, "seed="));
    free(identity);
}

static void check_axes(const struct bli_experiment *e) {
    size_t points = 1;
    for (size_t a = 0; a < e->axes; a++) {
        assert(e->axis[a].count > 0 && e->axis[a].fields > 0);
        points *= e->axis[a].count;
    }
    assert(points == e->points && points * e->policies <= BLI_CELLS_MAX);
}

static void check_selection(const struct bli_experiment *e, const struct bli_selection *where) {
    size_t selected = 0;
    for (size_t point = 0; point < e->points; point++)
        selected += bli_selection_has(where, e, point);
    assert(selected > 0);
}

static void check_parts(const struct bli_experiment *e) {
    for (size_t i = 0; i < e->plots; i++) {
        assert(e->plot[i].id && e->plot[i].metrics > 0);
        assert(e->plot[i].x < (int)e->axes && e->plot[i].series < (int)e->axes);
        check_selection(e, &e->plot[i].where);
    }
    for (size_t i = 0; i < e->claims; i++) {
        const struct bli_claim *claim = &e->claim[i];
        assert(claim->finding || claim->answers == -1);
        assert(claim->answers < (int)e->claims);
        assert(claim->answers < 0 || !e->claim[claim->answers].finding);
        assert(claim->id && claim->says && claim->checks > 0);
        for (size_t k = 0; k < claim->checks; k++) {
            const struct bli_check *check = &claim->check[k];
            assert(check->expected && check->along < (int)e->axes);
            assert((size_t)check->of.policy < e->policies && (size_t)check->to.policy < e->policies);
            assert(check->measure == BLI_MEASURE_VERDICT || check->low <= check->high);
            check_selection(e, &check->where);
        }
    }
}

static void check_experiment(const struct bli_experiment *e) {
    assert(e->title && e->policies > 0 && e->baseline < e->policies && e->metrics > 0);
    check_axes(e);
    check_parts(e);
    const size_t cells = e->points * e->policies;
    const size_t step = cells / CELLS_MAX + 1;
    for (size_t cell = 0; cell < cells; cell += step)
        check_cell(e, cell / e->policies, cell % e->policies);
}

/* The mistakes that are told, and whether the one that reading stops at is among them. */
struct told {
    const char *first;
    bool found;
};

static void hear(void *context, const char *mistake) {
    struct told *told = context;
    assert(strncmp(mistake, "fuzz.yaml:", 10) == 0);
    told->found = told->found || strcmp(mistake, told->first) == 0;
}

static void check_mistakes(const uint8_t *data, size_t size, enum bli_mode mode,
                           const struct bal_error *err) {
    struct told told = {.first = err->text};
    const size_t count = bli_document_errors((const char *)data, size, "fuzz.yaml", mode, hear, &told);
    assert((count > 0) == (err->code != BAL_OK) && told.found == (count > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int mode = BLI_MODE_PLAIN; mode <= BLI_MODE_FULL; mode++) {
        struct bli_experiment *e;
        struct bal_error err = {0};
        const enum bal_code code =
            bli_experiment_parse((const char *)data, size, "fuzz.yaml", (enum bli_mode)mode, &e, &err);
        check_mistakes(data, size, (enum bli_mode)mode, &err);
        if (code) {
            check_error(&err, code);
            continue;
        }
        check_experiment(e);
        bli_experiment_free(e);
    }
    return 0;
}
