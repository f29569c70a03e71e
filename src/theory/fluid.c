/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of fluid models: CVODE (backward differentiation formulas with Newton's method) over a number of
 * levels that grows as needed, with modes and root finding for hybrid models. Hindmarsh and others,
 * SUNDIALS (2005).
 *
 * In Newton's method a model's matrix is banded apart from the columns of a few numbers, its hubs, that
 * every equation may contain (P0 of rcpb contains s_1). It is kept sparse, factored by KLU, and formed by
 * differences of the right side: one evaluation per hub, and one for each of the 2 half + 1 groups of
 * columns that have no row in common. */
#include "ballast/fluid.h"

#include "theory/reserve.h"
#include "theory/sundials.h"

#include <assert.h>
#include <cvode/cvode.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_klu.h>

enum {
    LEVELS_MIN = 32,
    LEVELS_MAX = 1 << 20,
    STEPS_MAX = 10 * 1000 * 1000,
    SWITCHES_MAX = 100 * 1000,
    ROOTS_MAX = 8,
};

static const double relative_tolerance = 1e-12;
static const double absolute_tolerance = 1e-14;
static const double edge_max = 1e-13; /* mass in the outermost eighth of the levels that calls for more */

struct integrator {
    const struct bli_fluid_model *model;
    struct bal_error *err;
    double end;
    int mode;
    size_t levels;
    size_t n; /* numbers of the state */
    struct bli_sundials sundials;
    struct bli_reserve reserve;
    N_Vector y; /* of the reserve */
    SUNLinearSolver solver;
    void *cvode;
};

/* Stops CVODE where the right side is not a number, which its own tests would let pass. */
static int cvode_rhs(sunrealtype t, N_Vector y, N_Vector dy_vector, void *data) {
    const struct integrator *in = data;
    double *dy = N_VGetArrayPointer(dy_vector);
    in->model->rhs(in->model->param, in->mode, t, N_VGetArrayPointer(y), in->levels, dy);
    double sum = 0.0;
    for (size_t i = 0; i < in->n; i++)
        sum += dy[i];
    return isfinite(sum) ? 0 : -1;
}

static int cvode_root(sunrealtype t, N_Vector y, sunrealtype *g, void *data) {
    const struct integrator *in = data;
    in->model->root(in->model->param, in->mode, t, N_VGetArrayPointer(y), g);
    return 0;
}

/* Farthest that a number which is no hub reaches: from one end of its level to the other end of the next. */
static size_t band_half(const struct bli_fluid_model *model) {
    return 2 * model->width - 1;
}

static void column_rows(const struct integrator *in, size_t column, size_t *first, size_t *end) {
    const size_t half = band_half(in->model);
    const bool hub = column < in->model->hubs;
    *first = hub || column < half ? 0 : column - half;
    *end = hub || column + half >= in->n ? in->n : column + half + 1;
}

static void write_pattern(const struct integrator *in, SUNMatrix matrix) {
    sunindextype *begins = SUNSparseMatrix_IndexPointers(matrix);
    sunindextype *rows = SUNSparseMatrix_IndexValues(matrix);
    sunindextype entries = 0;
    for (size_t column = 0; column < in->n; column++) {
        size_t first, end;
        column_rows(in, column, &first, &end);
        begins[column] = entries;
        for (size_t row = first; row < end; row++)
            rows[entries++] = (sunindextype)row;
    }
    begins[in->n] = entries;
}

/* States are of the order of 1, so one shift fits all; it points inwards, where the right side is sure to
 * be defined. */
static double shift_of(double y) {
    return y > 0.5 ? -1e-8 : 1e-8;
}

static int cvode_jacobian(sunrealtype t, N_Vector y_vector, N_Vector dy_vector, SUNMatrix matrix, void *data,
                          N_Vector shifted_vector, N_Vector changed_vector, N_Vector unused) {
    (void)unused;
    const struct integrator *in = data;
    const struct bli_fluid_model *model = in->model;
    const double *y = N_VGetArrayPointer(y_vector), *dy = N_VGetArrayPointer(dy_vector);
    double *shifted = N_VGetArrayPointer(shifted_vector), *changed = N_VGetArrayPointer(changed_vector);
    write_pattern(in, matrix);
    const sunindextype *begins = SUNSparseMatrix_IndexPointers(matrix);
    double *values = SUNSparseMatrix_Data(matrix);
    memcpy(shifted, y, in->n * sizeof *y);

    /* Group g < hubs is hub g alone, a later one every stride-th of the other numbers. */
    const size_t stride = 2 * band_half(model) + 1;
    for (size_t group = 0; group < model->hubs + stride; group++) {
        const size_t step = group < model->hubs ? in->n : stride;
        for (size_t column = group; column < in->n; column += step)
            shifted[column] += shift_of(y[column]);
        model->rhs(model->param, in->mode, t, shifted, in->levels, changed);
        for (size_t column = group; column < in->n; column += step) {
            size_t first, end;
            column_rows(in, column, &first, &end);
            double *value = values + begins[column];
            for (size_t row = first; row < end; row++)
                *value++ = (changed[row] - dy[row]) / shift_of(y[column]);
            shifted[column] = y[column];
        }
    }
    return 0;
}

/* CVODE would print; this keeps its last complaint instead. */
static void keep_complaint(void *data, const char *text) {
    const struct integrator *in = data;
    bal_fail(in->err, BAL_E_NUMERIC, "%s: integrator: %s", in->model->name, text);
}

static enum bal_code no_memory(const struct integrator *in) {
    return bal_fail(in->err, BAL_E_MEMORY, "%s: not enough memory for %zu levels", in->model->name,
                    in->levels);
}

static void integrator_close(struct integrator *in) {
    CVodeFree(&in->cvode);
    if (in->solver)
        SUNLinSolFree(in->solver);
    bli_reserve_fini(&in->reserve);
    bli_sundials_fini(&in->sundials);
    in->cvode = NULL, in->solver = NULL, in->y = NULL;
}

static bool start_cvode(struct integrator *in, double t) {
    const struct bli_fluid_model *model = in->model;
    if (!bli_sundials_attach(&in->sundials, in->cvode) || CVodeInit(in->cvode, cvode_rhs, t, in->y) ||
        CVodeSetUserData(in->cvode, in) ||
        CVodeSStolerances(in->cvode, relative_tolerance, absolute_tolerance) ||
        CVodeSetLinearSolver(in->cvode, in->solver, in->reserve.matrix) ||
        CVodeSetJacFn(in->cvode, cvode_jacobian) || CVodeSetMaxStep(in->cvode, model->stride) ||
        CVodeSetStopTime(in->cvode, in->end))
        return false;
    if (model->roots == 0)
        return true;
    int *directions = malloc(model->roots * sizeof *directions);
    if (!directions)
        return false;
    for (size_t i = 0; i < model->roots; i++)
        directions[i] = 1; /* from negative to positive */
    const bool ok = !CVodeRootInit(in->cvode, (int)model->roots, cvode_root) &&
                    !CVodeSetRootDirection(in->cvode, directions) && !CVodeSetNoInactiveRootWarn(in->cvode);
    free(directions);
    return ok;
}

/* Sets up CVODE at time t with so many levels and the state y0 (n0 numbers, the rest 0). */
static enum bal_code integrator_open(struct integrator *in, size_t levels, double t, const double *y0,
                                     size_t n0) {
    const struct bli_fluid_model *model = in->model;
    in->levels = levels;
    in->n = model->head + model->width * levels;
    assert(n0 <= in->n);
    const sunindextype n = (sunindextype)in->n;
    const sunindextype entries = n * (sunindextype)(model->hubs + 2 * band_half(model) + 1); /* at most; hubs
                                                                                                are counted
                                                                                                twice */
    bool ok = bli_sundials_init(&in->sundials, keep_complaint, in);
    ok = ok && bli_reserve_init(&in->reserve, n, entries, in->sundials.context);
    in->y = in->reserve.y;
    if (ok) {
        bli_reserve_use(&in->reserve);
        write_pattern(in, in->reserve.matrix);
    }
    ok = ok && (in->solver = SUNLinSol_KLU(in->y, in->reserve.matrix, in->sundials.context));
    ok = ok && (in->cvode = CVodeCreate(CV_BDF, in->sundials.context));
    if (ok) {
        double *y = N_VGetArrayPointer(in->y);
        memset(y, 0, in->n * sizeof *y);
        if (n0 > 0)
            memcpy(y, y0, n0 * sizeof *y);
        ok = start_cvode(in, t);
    }
    if (ok)
        return BAL_OK;
    integrator_close(in);
    return no_memory(in);
}

static size_t at_most(const struct bli_fluid_model *model, size_t levels) {
    return model->most > 0 && levels > model->most ? model->most : levels;
}

static enum bal_code integrator_widen(struct integrator *in, double t) {
    if (in->levels >= LEVELS_MAX)
        return bal_fail(in->err, BAL_E_NUMERIC, "%s: at time %g the queues need more than %d levels",
                        in->model->name, t, LEVELS_MAX);
    const size_t n = in->n;
    double *y = malloc(n * sizeof *y);
    if (!y)
        return no_memory(in);
    memcpy(y, N_VGetArrayPointer(in->y), n * sizeof *y);
    const size_t levels = at_most(in->model, 2 * in->levels);
    integrator_close(in);
    const enum bal_code code = integrator_open(in, levels, t, y, n);
    free(y);
    return code;
}

/* Mass in the outermost eighth of the levels. Where the tail falls by half over as many levels, which
 * geometric and faster tails do long before, what is neglected beyond the last level is less than this. */
static double edge_mass(const struct integrator *in) {
    const double *y = N_VGetArrayPointer(in->y);
    double mass = 0.0;
    if (in->levels == in->model->most)
        return mass;
    for (size_t i = in->n - in->levels / 8 * in->model->width; i < in->n; i++)
        mass += fabs(y[i]);
    return mass;
}

/* CVODE gives up where a root function is 0 and stays 0, as at a fixed point, unless it begins there: then it
 * waits until the function has moved away. */
static bool is_on_root(const struct integrator *in, double t) {
    double g[ROOTS_MAX];
    assert(in->model->roots <= ROOTS_MAX);
    in->model->root(in->model->param, in->mode, t, N_VGetArrayPointer(in->y), g);
    bool zero = false;
    for (size_t i = 0; i < in->model->roots; i++)
        zero = zero || g[i] == 0;
    return zero;
}

static enum bal_code switch_mode(struct integrator *in, struct bli_fluid_path *path, double t) {
    const int next = in->model->next(in->model->param, in->mode, t, N_VGetArrayPointer(in->y));
    if (next == in->mode && !is_on_root(in, t))
        return BAL_OK;
    in->mode = next;
    if (++path->switches > SWITCHES_MAX)
        return bal_fail(in->err, BAL_E_NUMERIC, "%s: the mode changes without end at time %g",
                        in->model->name, t);
    if (CVodeReInit(in->cvode, t, in->y) || CVodeSetStopTime(in->cvode, in->end))
        return BAL_E_NUMERIC;
    return BAL_OK;
}

/* Allocates wider rows; those that are there keep their numbers and get zeros. */
static enum bal_code path_widen(struct bli_fluid_path *path, const struct integrator *in) {
    double *state = calloc(path->times * in->n, sizeof *state);
    if (!state)
        return bal_fail(in->err, BAL_E_MEMORY, "%s: not enough memory for %zu states of %zu numbers",
                        in->model->name, path->times, in->n);
    for (size_t k = 0; k < path->times && path->columns > 0; k++)
        memcpy(state + k * in->n, path->state + k * path->columns, path->columns * sizeof *state);
    free(path->state);
    path->state = state;
    path->columns = in->n;
    return BAL_OK;
}

/* Writes the states at times[*row..] up to t, the end of the step just taken. */
static enum bal_code write_rows(struct integrator *in, struct bli_fluid_path *path, const double *times,
                                size_t *row, double t) {
    for (; *row < path->times && times[*row] <= t; ++*row) {
        N_Vector state =
            N_VMake_Serial((sunindextype)in->n, path->state + *row * path->columns, in->sundials.context);
        if (!state)
            return no_memory(in);
        const int failed = CVodeGetDky(in->cvode, times[*row], 0, state);
        N_VDestroy(state);
        if (failed)
            return BAL_E_NUMERIC;
    }
    return BAL_OK;
}

static enum bal_code integrate_path(struct integrator *in, struct bli_fluid_path *path, const double *times) {
    size_t row = 0;
    for (; row < path->times && times[row] == 0.0; row++)
        memcpy(path->state + row * path->columns, N_VGetArrayPointer(in->y), in->n * sizeof *path->state);
    while (row < path->times) {
        double t;
        const int flag = CVode(in->cvode, in->end, in->y, &t, CV_ONE_STEP);
        if (flag < 0)
            return SUNLinSol_KLUGetCommon(in->solver)->status == KLU_OUT_OF_MEMORY ? no_memory(in)
                                                                                   : BAL_E_NUMERIC;
        if (++path->steps > STEPS_MAX)
            return bal_fail(in->err, BAL_E_NUMERIC, "%s: at time %g after %d steps of the integrator",
                            in->model->name, t, STEPS_MAX);
        enum bal_code code = write_rows(in, path, times, &row, t);
        if (!code && flag == CV_ROOT_RETURN)
            code = switch_mode(in, path, t);
        const double edge = edge_mass(in);
        path->edge = fmax(path->edge, edge);
        if (!code && edge > edge_max && row < path->times) {
            code = integrator_widen(in, t);
            if (!code)
                code = path_widen(path, in);
        }
        if (code)
            return code;
    }
    return BAL_OK;
}

static enum bal_code check_times(const struct bli_fluid_model *model, const double *times, size_t count,
                                 struct bal_error *err) {
    double before = 0.0;
    for (size_t k = 0; k < count; k++) {
        if (!(times[k] >= before && isfinite(times[k])))
            return bal_fail(err, BAL_E_RANGE, "%s: time %g follows %g; times must be >= 0 and must not fall",
                            model->name, times[k], before);
        before = times[k];
    }
    return BAL_OK;
}

enum bal_code bli_fluid_path_init(struct bli_fluid_path *path, const struct bli_fluid_model *model,
                                  const double *start, size_t n, const double *times, size_t count,
                                  struct bal_error *err) {
    memset(path, 0, sizeof *path);
    struct bal_error dropped;
    if (!err)
        err = &dropped;
    err->code = BAL_OK;
    err->text[0] = '\0';
    enum bal_code code = model->check(model->param, start, n, err);
    if (!code)
        code = check_times(model, times, count, err);
    if (code)
        return code;
    path->times = count;
    if (count == 0)
        return BAL_OK;

    while (n > 0 && start[n - 1] == 0.0)
        n--;
    const size_t start_levels = n > model->head ? (n - model->head + model->width - 1) / model->width : 0;
    size_t levels = LEVELS_MIN;
    while (levels - levels / 8 < start_levels)
        levels *= 2;
    levels = at_most(model, levels);
    struct integrator in = {.model = model, .err = err, .end = times[count - 1], .mode = -1};
    code = integrator_open(&in, levels, 0.0, start, n);
    if (code)
        return code;
    in.mode = model->roots > 0 ? model->next(model->param, -1, 0.0, N_VGetArrayPointer(in.y)) : 0;
    code = path_widen(path, &in);
    if (!code)
        code = integrate_path(&in, path, times);
    integrator_close(&in);
    if (code && err->code == BAL_OK) /* CVODE failed without a word */
        bal_fail(err, code, "%s: the integrator failed", model->name);
    if (code)
        bli_fluid_path_fini(path);
    return code;
}

void bli_fluid_path_fini(struct bli_fluid_path *path) {
    free(path->state);
    memset(path, 0, sizeof *path);
}
