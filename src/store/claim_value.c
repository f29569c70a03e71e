/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the value that a claim is about, at one place: a point, or a line of points along an axis.
 *
 * What grows without bound in an unstable system counts as infinite where the verdict is unstable, but for
 * the mean over a span of a path. */
#include "store/claim_value.h"

#include "spec/plan.h"
#include "store/extrapolate.h"
#include "store/store_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gauge {
    struct bli_store *store;
    const struct bli_experiment *e;
    const struct bli_check *check;
    size_t places;
    struct bal_error *err;
    unsigned doubts; /* in the results that were looked at */
};

static struct bli_claim_value unknown_value(const char *why) {
    return (struct bli_claim_value){.value = NAN, .low = NAN, .high = NAN, .unknown = why};
}

static enum bal_code no_memory(const struct gauge *gauge) {
    return bal_fail(gauge->err, BAL_E_MEMORY, "not enough memory to judge a claim");
}

static struct bli_claim_value exact_value(double value) {
    return (struct bli_claim_value){.value = value, .low = value, .high = value};
}

/* ---- one side ---- */

struct side {
    bool constant;
    double number; /* of a constant */
    double *value; /* by replication, otherwise */
    size_t count;
    enum bli_verdict verdict;
    bool infinite; /* it grows without bound */
    const char *unknown;
};

static enum bal_code load_policy(struct gauge *gauge, const struct bli_operand *operand, size_t point,
                                 struct side *side) {
    struct bli_cell cell;
    enum bal_code code =
        bli_cell_load(&cell, gauge->store, gauge->e, point, (size_t)operand->policy, gauge->err);
    if (!code && !cell.complete)
        side->unknown = "not all of its trials have been run";
    if (!code && cell.complete) {
        gauge->doubts |= cell.result.doubts & BLI_DOUBTS_OF_VALUE;
        side->verdict = cell.result.verdict;
        side->infinite = cell.result.verdict == BLI_UNSTABLE && !cell.c.path && /* a span has its mean */
                         bli_quantity_diverges(operand->quantity);
        side->count = bli_cell_extent(&cell);
        side->value = malloc((side->count + 1) * sizeof *side->value);
        code = side->value ? bli_cell_values(&cell, gauge->store, operand->quantity, side->value, gauge->err)
                           : no_memory(gauge);
    }
    bli_cell_fini(&cell);
    return code;
}

/* What theory gives for the policy; NaN: nothing. */
static double known_of(const struct gauge *gauge, const struct bli_operand *operand,
                       const struct bli_case *c) {
    const struct bli_prediction known = bli_theory_predict(&c->model, &c->policy);
    if (gauge->check->measure == BLI_MEASURE_CRITICAL)
        return bli_theory_critical_load(&c->model, &c->policy);
    if (operand->reference == BLI_REFERENCE_FLOOR)
        return bli_theory_lower_bound(&c->model);
    if (operand->reference == BLI_REFERENCE_BOUND)
        return bli_quantity_bound(operand->quantity, &known);
    if (operand->reference == BLI_REFERENCE_CUT)
        return bli_quantity_cut(operand->quantity, &known);
    return bli_quantity_of_case(operand->quantity, c, NULL);
}

/* The side at a point of the first side; its own fixed coordinates replace those of the point. */
static enum bal_code load_side(struct gauge *gauge, const struct bli_operand *operand, size_t point,
                               struct side *side) {
    *side = (struct side){.number = NAN};
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(gauge->e, point, index);
    for (size_t a = 0; a < gauge->e->axes; a++)
        if (operand->fixed[a] >= 0)
            index[a] = (size_t)operand->fixed[a];
    point = bli_experiment_point(gauge->e, index);
    const bool policy = operand->reference == BLI_REFERENCE_POLICY;
    const enum bli_evidence evidence = gauge->check->evidence;
    if (policy && evidence == BLI_EVIDENCE_RUNS)
        return load_policy(gauge, operand, point, side);
    side->constant = true;
    side->number = operand->number;
    if (operand->reference == BLI_REFERENCE_NUMBER)
        return BAL_OK;
    struct bli_case c;
    bli_experiment_case(gauge->e, point, (size_t)operand->policy, &c);
    side->number = known_of(gauge, operand, &c);
    if (policy && evidence == BLI_EVIDENCE_KNOWN && isnan(side->number)) {
        side->constant = false;
        return load_policy(gauge, operand, point, side);
    }
    side->infinite = isinf(side->number);
    if (isnan(side->number))
        side->unknown = "theory says nothing about it";
    return BAL_OK;
}

static void end_side(struct side *side) {
    free(side->value);
    side->value = NULL;
}

/* ---- intervals ---- */

static size_t count_numbers(const double *value, size_t count) {
    size_t numbers = 0;
    for (size_t i = 0; i < count; i++)
        numbers += isnan(value[i]) ? 0 : 1;
    return numbers;
}

/* Widens a 95 % interval over n replications so that `family` of them hold together. */
static struct bli_claim_value widen_interval(struct bli_estimate estimate, size_t n, size_t family) {
    if (isnan(estimate.mean))
        return unknown_value("it was not measured");
    if (n < 2)
        return unknown_value("one replication has no interval; run two at least");
    const double dof = (double)n - 1;
    const double factor =
        family > 1 ? bli_student_quantile(1 - 0.025 / (double)family, dof) / bli_student_quantile(0.975, dof)
                   : 1;
    const double half = estimate.half_width * factor;
    return (struct bli_claim_value){
        .value = estimate.mean, .low = estimate.mean - half, .high = estimate.mean + half};
}

static struct bli_claim_value mean_of(const double *value, size_t count, size_t family) {
    return widen_interval(bli_estimate_mean(value, count), count_numbers(value, count), family);
}

/* a - b or a / b, replication by replication; either may be constant, not both. */
static enum bal_code combine_sides(const struct gauge *gauge, const struct side *a, const struct side *b,
                                   bool ratio, size_t family, struct bli_claim_value *m) {
    const size_t count = a->constant           ? b->count
                         : b->constant         ? a->count
                         : a->count < b->count ? a->count
                                               : b->count;
    double *x = calloc(count + 1, sizeof *x), *y = calloc(count + 1, sizeof *y);
    const bool room = x && y;
    if (room) {
        size_t n = 0;
        for (size_t r = 0; r < count; r++) {
            x[r] = a->constant ? a->number : a->value[r];
            y[r] = b->constant ? b->number : b->value[r];
            n += isnan(x[r] + y[r]) ? 0 : 1;
            if (!ratio)
                x[r] -= y[r];
        }
        *m = widen_interval(ratio ? bli_estimate_ratio(x, y, count) : bli_estimate_mean(x, count), n, family);
    }
    free(x);
    free(y);
    return room ? BAL_OK : no_memory(gauge);
}

static enum bal_code compare_sides(const struct gauge *gauge, const struct side *a, const struct side *b,
                                   bool ratio, size_t family, struct bli_claim_value *m) {
    if (a->unknown || b->unknown)
        *m = unknown_value(a->unknown ? a->unknown : b->unknown);
    else if (a->infinite && b->infinite)
        *m = unknown_value("both sides grow without bound");
    else if (a->infinite)
        *m = exact_value(INFINITY);
    else if (b->infinite)
        *m = exact_value(ratio ? 0 : -INFINITY);
    else if (a->constant && b->constant)
        *m = exact_value(ratio ? a->number / b->number : a->number - b->number);
    else
        return combine_sides(gauge, a, b, ratio, family, m);
    return BAL_OK;
}

/* ---- measures at a place ---- */

static enum bal_code measure_value(struct gauge *gauge, size_t point, struct bli_claim_value *m) {
    struct side side;
    const enum bal_code code = load_side(gauge, &gauge->check->of, point, &side);
    if (!code)
        *m = side.unknown    ? unknown_value(side.unknown)
             : side.infinite ? exact_value(INFINITY)
             : side.constant ? exact_value(side.number)
                             : mean_of(side.value, side.count, gauge->places);
    end_side(&side);
    return code;
}

static enum bal_code measure_comparison(struct gauge *gauge, size_t point, bool ratio, size_t family,
                                        struct bli_claim_value *m) {
    struct side of, to = {0};
    enum bal_code code = load_side(gauge, &gauge->check->of, point, &of);
    if (!code)
        code = load_side(gauge, &gauge->check->to, point, &to);
    if (!code)
        code = compare_sides(gauge, &of, &to, ratio, family, m);
    end_side(&of);
    end_side(&to);
    return code;
}

/* One more than the number of policies that are smaller. */
static enum bal_code measure_rank(struct gauge *gauge, size_t point, struct bli_claim_value *m) {
    const struct bli_experiment *e = gauge->e;
    struct bli_operand other = gauge->check->of;
    struct side of;
    enum bal_code code = load_side(gauge, &gauge->check->of, point, &of);
    size_t others = 0;
    for (size_t p = 0; p < e->policies; p++)
        others += gauge->check->where.policy[p] && (int)p != gauge->check->of.policy;
    *m = exact_value(1);
    if (!code && of.unknown)
        *m = unknown_value(of.unknown);
    for (size_t p = 0; !code && !m->unknown && p < e->policies; p++) {
        if (!gauge->check->where.policy[p] || (int)p == gauge->check->of.policy)
            continue;
        struct side side;
        other.policy = (int)p;
        code = load_side(gauge, &other, point, &side);
        struct bli_claim_value d = unknown_value("");
        if (!code)
            code = compare_sides(gauge, &side, &of, false, gauge->places * others, &d);
        if (side.unknown)
            *m = unknown_value(side.unknown);
        m->low += d.high < 0;
        m->high += !(d.low > 0); /* an unknown difference may be either */
        m->value += d.value < 0;
        end_side(&side);
    }
    end_side(&of);
    return code;
}

static enum bal_code measure_verdict(struct gauge *gauge, size_t point, struct bli_claim_value *m) {
    struct side side;
    const enum bal_code code = load_side(gauge, &gauge->check->of, point, &side);
    *m = exact_value(NAN);
    m->unknown = side.unknown;
    m->verdict = side.verdict;
    end_side(&side);
    return code;
}

/* ---- measures along an axis ---- */

/* Moves along the axis of the claim. */
static size_t point_along_axis(const struct gauge *gauge, size_t point, size_t value) {
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(gauge->e, point, index);
    index[gauge->check->along] = value;
    return bli_experiment_point(gauge->e, index);
}

static const struct bli_sweep_axis *axis_of(const struct gauge *gauge) {
    return &gauge->e->axis[gauge->check->along];
}

static bool is_selected(const struct gauge *gauge, size_t value) {
    return gauge->check->where.value[gauge->check->along][value];
}

/* Points (x_i, y_i) of a fit; y_i is the mean over replications of y[r * points + i]. */
struct fitted_line {
    size_t points, replications;
    double *weight; /* of y_i in the slope: (x_i - mean) / sum (x_j - mean)^2 */
    double *y;
    const char *unknown;
};

/* x as it enters the fit. */
static double fit_abscissa(const struct gauge *gauge, double x) {
    return log(gauge->check->slack ? 1 / (1 - x) : x);
}

static void set_weights(struct fitted_line *line) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < line->points; i++)
        mean += line->weight[i] / (double)line->points;
    for (size_t i = 0; i < line->points; i++)
        squares += (line->weight[i] - mean) * (line->weight[i] - mean);
    for (size_t i = 0; i < line->points; i++)
        line->weight[i] = (line->weight[i] - mean) / squares;
}

static enum bal_code load_line(struct gauge *gauge, size_t point, struct fitted_line *line) {
    const struct bli_sweep_axis *axis = axis_of(gauge);
    *line = (struct fitted_line){.replications = SIZE_MAX};
    line->weight = calloc(axis->count, sizeof *line->weight);
    double **column = calloc(axis->count, sizeof *column);
    enum bal_code code = line->weight && column ? BAL_OK : BAL_E_MEMORY;
    for (size_t v = 0; !code && v < axis->count; v++) {
        if (!is_selected(gauge, v))
            continue;
        struct side side;
        code = load_side(gauge, &gauge->check->of, point_along_axis(gauge, point, v), &side);
        line->unknown = side.unknown    ? side.unknown
                        : side.infinite ? "it is unstable at a point of the fit"
                                        : line->unknown;
        if (side.count < line->replications)
            line->replications = side.count;
        column[line->points] = side.value;
        line->weight[line->points++] = fit_abscissa(gauge, axis->value[v].number);
    }
    if (!code && !line->unknown) {
        line->y = malloc((line->replications * line->points + 1) * sizeof *line->y);
        code = line->y ? BAL_OK : BAL_E_MEMORY;
        for (size_t r = 0; !code && r < line->replications; r++)
            for (size_t i = 0; i < line->points; i++)
                line->y[r * line->points + i] = column[i][r];
        set_weights(line);
    }
    for (size_t i = 0; column && i < line->points; i++)
        free(column[i]);
    free(column);
    return code == BAL_E_MEMORY ? no_memory(gauge) : code;
}

/* The slope of the fit is sum w_i f(m_i), m_i being the mean at point i and f the logarithm or nothing. To
 * first order its error is the mean over replications of sum w_i f'(m_i) (y_ir - m_i), whatever the points
 * have in common. */
static enum bal_code fit_line(const struct gauge *gauge, const struct fitted_line *line,
                              struct bli_claim_value *m) {
    const bool logarithm = gauge->check->measure == BLI_MEASURE_EXPONENT;
    const size_t n = line->replications;
    double *influence = calloc(n + 1, sizeof *influence);
    if (!influence)
        return no_memory(gauge);
    double slope = 0;
    const char *unknown = n == 0 ? "it was not measured" : NULL;
    for (size_t i = 0; i < line->points && n > 0; i++) {
        double mean = 0;
        for (size_t r = 0; r < n; r++)
            mean += line->y[r * line->points + i] / (double)n;
        if (isnan(mean) || (logarithm && !(mean > 0)))
            unknown = logarithm ? "a value of the fit is not above 0" : "a value of the fit was not measured";
        slope += line->weight[i] * (logarithm ? log(mean) : mean);
        for (size_t r = 0; r < n; r++)
            influence[r] += line->weight[i] * (line->y[r * line->points + i] - mean) / (logarithm ? mean : 1);
    }
    const struct bli_estimate spread = bli_estimate_mean(influence, n);
    free(influence);
    *m = unknown ? unknown_value(unknown)
                 : widen_interval((struct bli_estimate){slope, spread.half_width}, n, gauge->places);
    return BAL_OK;
}

static enum bal_code measure_fit(struct gauge *gauge, size_t point, struct bli_claim_value *m) {
    struct fitted_line line;
    enum bal_code code = load_line(gauge, point, &line);
    if (!code && line.unknown)
        *m = unknown_value(line.unknown);
    else if (!code)
        code = fit_line(gauge, &line, m);
    free(line.weight);
    free(line.y);
    return code;
}

/* The middle of an interval, or its finite end. */
static double interval_middle(double low, double high) {
    return isinf(low) ? high : isinf(high) ? low : (low + high) / 2;
}

/* Between the last value up to which all are stable and the first that is unstable. */
static enum bal_code critical_of(struct gauge *gauge, const struct bli_operand *operand, size_t point,
                                 struct bli_claim_value *m) {
    const struct bli_sweep_axis *axis = axis_of(gauge);
    double low = -INFINITY, high = INFINITY;
    bool stable_so_far = true;
    *m = exact_value(NAN);
    if (operand->reference != BLI_REFERENCE_POLICY) {
        struct side side;
        const enum bal_code code = load_side(gauge, operand, point, &side);
        *m = side.unknown ? unknown_value(side.unknown) : exact_value(side.number);
        return code;
    }
    for (size_t v = 0; v < axis->count; v++) {
        if (!is_selected(gauge, v))
            continue;
        struct side side;
        const enum bal_code code = load_side(gauge, operand, point_along_axis(gauge, point, v), &side);
        end_side(&side);
        if (code)
            return code;
        if (side.unknown)
            m->unknown = side.unknown;
        stable_so_far = stable_so_far && side.verdict == BLI_STABLE;
        if (stable_so_far)
            low = axis->value[v].number;
        if (side.verdict == BLI_UNSTABLE && isinf(high))
            high = axis->value[v].number;
    }
    m->low = low;
    m->high = high;
    m->value = interval_middle(low, high);
    if (isinf(low) && isinf(high) && !m->unknown)
        m->unknown = "no verdict along the axis is clear";
    return BAL_OK;
}

static enum bal_code measure_critical(struct gauge *gauge, size_t point, struct bli_claim_value *m) {
    enum bal_code code = critical_of(gauge, &gauge->check->of, point, m);
    if (code || !gauge->check->compares)
        return code;
    struct bli_claim_value to;
    code = critical_of(gauge, &gauge->check->to, point, &to);
    if (!m->unknown)
        m->unknown = to.unknown;
    m->value -= to.value;
    m->low -= to.high;
    m->high -= to.low;
    return code;
}

/* Where the first side becomes larger than the second: after the last value where it is certainly smaller,
 * before the first where it is certainly larger; the value itself by linear interpolation of the differences.
 */
static enum bal_code measure_crossing(struct gauge *gauge, size_t point, struct bli_claim_value *m) {
    const struct bli_sweep_axis *axis = axis_of(gauge);
    double low = -INFINITY, high = INFINITY, crossing = NAN, before = NAN, before_x = NAN;
    size_t values = 0;
    for (size_t v = 0; v < axis->count; v++)
        values += is_selected(gauge, v);
    *m = exact_value(NAN);
    for (size_t v = 0; v < axis->count && isinf(high); v++) {
        if (!is_selected(gauge, v))
            continue;
        struct bli_claim_value d;
        const double x = axis->value[v].number;
        const enum bal_code code =
            measure_comparison(gauge, point_along_axis(gauge, point, v), false, gauge->places * values, &d);
        if (code)
            return code;
        if (d.unknown) { /* the bounds stay wide */
            m->unknown = d.unknown;
            continue;
        }
        if (d.high < 0)
            low = x;
        if (d.low > 0)
            high = x;
        if (isnan(crossing) && before <= 0 && d.value > 0)
            crossing =
                isinf(before) || isinf(d.value) ? x : before_x + (x - before_x) * before / (before - d.value);
        before = d.value;
        before_x = x;
    }
    m->low = low;
    m->high = high;
    m->value = isnan(crossing) ? interval_middle(low, high) : crossing;
    if (!isinf(low) || !isinf(high))
        m->unknown = NULL;
    else if (!m->unknown)
        m->unknown = "no difference along the axis is clear";
    return BAL_OK;
}

/* ---- limits ---- */

/* Values along the axis. */
struct path {
    struct bli_limit_series series;
    const char *unknown;
};

static void path_add(struct path *path, double x, const struct side *side) {
    struct bli_limit_series *series = &path->series;
    const struct bli_estimate mean = bli_estimate_mean(side->value, side->count);
    const size_t n = count_numbers(side->value, side->count);
    if (side->unknown || side->infinite || n < 2 || isnan(mean.mean)) {
        path->unknown = side->unknown    ? side->unknown
                        : side->infinite ? "it is unstable at a point of the series"
                                         : "a value of the series was not measured";
        return;
    }
    const double dof = (double)n - 1;
    series->x[series->points] = x;
    series->y[series->points] = mean.mean;
    series->error[series->points] =
        fmax(mean.half_width / bli_student_quantile(0.975, dof), 1e-9 * (fabs(mean.mean) + 1e-9));
    series->dof[series->points++] = dof;
}

static enum bal_code load_path(struct gauge *gauge, size_t point, struct path *path) {
    const struct bli_sweep_axis *axis = axis_of(gauge);
    struct bli_limit_series *series = &path->series;
    *path = (struct path){.series.x = calloc(axis->count, 4 * sizeof *series->x)};
    if (!series->x)
        return no_memory(gauge);
    series->y = series->x + axis->count;
    series->error = series->y + axis->count;
    series->dof = series->error + axis->count;
    enum bal_code code = BAL_OK;
    for (size_t v = 0; v < axis->count && !code && !path->unknown; v++) {
        if (!is_selected(gauge, v))
            continue;
        struct side side;
        code = load_side(gauge, &gauge->check->of, point_along_axis(gauge, point, v), &side);
        if (!code)
            path_add(path, axis->value[v].number, &side);
        end_side(&side);
    }
    return code;
}

static enum bal_code measure_limit(struct gauge *gauge, size_t point, struct bli_claim_value *m) {
    struct path path;
    struct side to = {0};
    enum bal_code code = load_path(gauge, point, &path);
    *m = exact_value(NAN);
    if (!code)
        code = load_side(gauge, &gauge->check->to, point, &to);
    if (!code && !to.unknown && !to.constant)
        to.unknown = "a limit is compared with theory or a number";
    m->unknown = path.unknown ? path.unknown : to.unknown;
    if (!code && !m->unknown) {
        const struct bli_limit_series *series = &path.series;
        const size_t last = series->points - 1;
        const struct bli_interval limit = bli_limit_extrapolate(series, to.number, gauge->places);
        m->low = limit.low;
        m->high = limit.high;
        m->value = (limit.low + limit.high) / 2;
        m->target = to.number;
        m->scale = fmax(fabs(to.number), fabs(series->y[0]));
        m->stuck = fabs(series->y[last] - to.number) > 0.95 * fabs(series->y[last - 1] - to.number);
    }
    end_side(&to);
    free(path.series.x);
    return code;
}

static enum bal_code measure_at_point(struct gauge *gauge, size_t point, struct bli_claim_value *m) {
    switch (gauge->check->measure) {
    case BLI_MEASURE_VALUE:
        return measure_value(gauge, point, m);
    case BLI_MEASURE_RATIO:
        return measure_comparison(gauge, point, true, gauge->places, m);
    case BLI_MEASURE_DIFFERENCE:
        return measure_comparison(gauge, point, false, gauge->places, m);
    case BLI_MEASURE_EXPONENT:
    case BLI_MEASURE_SLOPE:
        return measure_fit(gauge, point, m);
    case BLI_MEASURE_RANK:
        return measure_rank(gauge, point, m);
    case BLI_MEASURE_VERDICT:
        return measure_verdict(gauge, point, m);
    case BLI_MEASURE_CRITICAL:
        return measure_critical(gauge, point, m);
    case BLI_MEASURE_CROSSING:
        return measure_crossing(gauge, point, m);
    case BLI_MEASURE_LIMIT:
        return measure_limit(gauge, point, m);
    }
    return bal_fail(gauge->err, BAL_E_NUMERIC, "a measure that is not handled");
}

enum bal_code bli_check_measure(struct bli_store *store, const struct bli_experiment *experiment,
                                const struct bli_check *check, size_t places, size_t point,
                                struct bli_claim_value *m, struct bal_error *err) {
    struct gauge gauge = {.store = store, .e = experiment, .check = check, .places = places, .err = err};
    const enum bal_code code = measure_at_point(&gauge, point, m);
    if (!code && !m->unknown && check->measure != BLI_MEASURE_VERDICT && isnan(m->value + m->low + m->high))
        *m = unknown_value("it was not measured");
    m->doubts = gauge.doubts;
    return code;
}
