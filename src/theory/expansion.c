/* SPDX-License-Identifier: BSD-2-Clause */
/* Moments of the deviation delta = X - x of a fleet from the fixed point x, order by order in epsilon = 1/N.
 * In the steady state the generator of every polynomial has mean 0; with rates beta and jumps l,
 *
 *     0 = E[sum of beta l]
 *     0 = E[sum of beta (l delta' + delta l' + epsilon l l')]
 *     0 = E[sum of beta (l delta delta + epsilon l l delta + epsilon^2 l l l)], each term symmetrised.
 *
 * E[delta] = epsilon a + epsilon^2 b, E[delta delta'] = epsilon W + epsilon^2 V, E[delta delta delta] =
 * epsilon^2 T; E of four factors is that of a normal law, epsilon^2 times the sum over the three pairings of
 * W. Taylor's theorem for beta and comparing powers of epsilon leave linear equations for W, a, T, V, b, in
 * this order, whose left side is always that of the drift's Jacobian A. */
#include "theory/expansion.h"

#include "base/memory.h"
#include "theory/symmetric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = JET_ARGUMENTS, NEWTON_MAX = 50 };

/* An event with its rate at x and the derivatives of that. */
struct derivatives {
    struct expansion_event event;
    double value, d1[ARGS], d2[ARGS][ARGS], d3[ARGS][ARGS][ARGS], d4[ARGS][ARGS][ARGS][ARGS];
    double eps, eps_d1[ARGS], eps_d2[ARGS][ARGS], eps2; /* coefficients of 1/N and 1/N^2 */
};

struct solver {
    const struct expansion_model *model;
    struct expansion *out;
    size_t n;
    struct jet_space space;
    struct derivatives now;
    struct sparse_matrix jacobian;
    double *dense;  /* n * n */
    double *drift;  /* n */
    double *noise;  /* sum of beta l l' */
    double *bias;   /* sum of l (beta'' W / 2 + what 1/N adds to beta) = - A a */
    double *along;  /* ARGS * n: W applied to the arguments */
    double *cubic;  /* n^3; order 2 only, as the next two */
    double *third;  /* T */
    double *square; /* V */
};

/* ---- linear forms ---- */

static double form_apply(const struct linear_form *form, const double *x) {
    double sum = 0;
    for (unsigned i = 0; i < form->count; i++)
        sum += form->factor[i] * x[form->coordinate[i]];
    return sum;
}

/* A matrix times the form; symmetric. */
static void form_multiply(const struct linear_form *form, const double *matrix, size_t n, double *product) {
    memset(product, 0, n * sizeof *product);
    for (unsigned i = 0; i < form->count; i++)
        for (size_t j = 0; j < n; j++)
            product[j] += form->factor[i] * matrix[form->coordinate[i] * n + j];
}

static void form_add(const struct linear_form *form, double factor, double *x) {
    for (unsigned i = 0; i < form->count; i++)
        x[form->coordinate[i]] += factor * form->factor[i];
}

static void form_add_square(const struct linear_form *form, double factor, double *matrix, size_t n) {
    for (unsigned i = 0; i < form->count; i++)
        form_add(form, factor * form->factor[i], matrix + form->coordinate[i] * n);
}

/* ---- derivatives ---- */

/* The derivative in these arguments (`order` of them) and in epsilon: the coefficient times factorials. */
static double derivative_of(const struct jet_space *space, const struct jet *rate, const unsigned *arguments,
                            unsigned order, unsigned epsilon) {
    unsigned power[ARGS + 1] = {0};
    double factor = 1;
    power[ARGS] = epsilon;
    for (unsigned i = 0; i < order; i++)
        factor *= ++power[arguments[i]];
    return factor * rate->term[bli_jet_index(space, power)];
}

static void derive_two(struct derivatives *now, const struct jet_space *space, const struct jet *rate) {
    const unsigned m = now->event.arguments;
    for (unsigned p = 0; p < m; p++) {
        now->d1[p] = derivative_of(space, rate, &p, 1, 0);
        now->eps_d1[p] = derivative_of(space, rate, &p, 1, 1);
        for (unsigned q = 0; q < m; q++) {
            const unsigned pq[] = {p, q};
            now->d2[p][q] = derivative_of(space, rate, pq, 2, 0);
            now->eps_d2[p][q] = derivative_of(space, rate, pq, 2, 1);
        }
    }
}

static void derive_four(struct derivatives *now, const struct jet_space *space, const struct jet *rate) {
    const unsigned m = now->event.arguments;
    for (unsigned i = 0; i < m * m * m; i++) {
        const unsigned p = i / m / m, q = i / m % m, r = i % m;
        for (unsigned s = 0; s < m; s++) {
            const unsigned pqrs[] = {p, q, r, s};
            now->d4[p][q][r][s] = derivative_of(space, rate, pqrs, 4, 0);
            now->d3[p][q][r] = derivative_of(space, rate, pqrs, 3, 0);
        }
    }
}

static const struct derivatives *derive(struct solver *s, size_t i, bool all) {
    struct derivatives *now = &s->now;
    struct jet argument[ARGS];
    now->event.jump.count = now->event.arguments = 0;
    for (unsigned p = 0; p < ARGS; p++)
        now->event.argument[p].count = 0, now->event.argument[p].constant = 0;
    s->model->event(s->model->param, i, &now->event);
    for (unsigned p = 0; p < now->event.arguments; p++)
        argument[p] = bli_jet_argument(
            &s->space, p, now->event.argument[p].constant + form_apply(&now->event.argument[p], s->out->x));
    const struct jet rate = s->model->rate(s->model->param, i, &s->space, argument);
    now->value = rate.term[0];
    now->eps = derivative_of(&s->space, &rate, NULL, 0, 1);
    now->eps2 = derivative_of(&s->space, &rate, NULL, 0, 2);
    derive_two(now, &s->space, &rate);
    if (all)
        derive_four(now, &s->space, &rate);
    return now;
}

/* ---- the fixed point ---- */

static double find_drift(struct solver *s) {
    const size_t n = s->n;
    memset(s->drift, 0, n * sizeof *s->drift);
    memset(s->dense, 0, n * n * sizeof *s->dense);
    for (size_t i = 0; i < s->model->events; i++) {
        const struct derivatives *now = derive(s, i, false);
        const struct linear_form *jump = &now->event.jump;
        form_add(jump, now->value, s->drift);
        for (unsigned l = 0; l < jump->count; l++)
            for (unsigned p = 0; p < now->event.arguments; p++)
                form_add(&now->event.argument[p], jump->factor[l] * now->d1[p],
                         s->dense + jump->coordinate[l] * n);
    }
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(s->drift[i]));
    bli_sparse_matrix_fini(&s->jacobian);
    return bli_sparse_matrix_init(&s->jacobian, s->dense, n) ? largest : NAN;
}

/* Newton's method; leaves the Jacobian at the fixed point. */
static bool find_fixed_point(struct solver *s) {
    for (int i = 0; i < NEWTON_MAX; i++) {
        const double largest = find_drift(s);
        if (largest < 1e-14)
            return true;
        if (isnan(largest) || !bli_symmetric_solve(&s->jacobian, 1, s->drift, s->drift))
            return false;
        for (size_t j = 0; j < s->n; j++)
            s->out->x[j] += s->drift[j];
    }
    return false;
}

/* ---- order 1 ---- */

/* E[sum over p, q of beta'' delta delta] / 2. */
static double curve_of(const struct derivatives *now, const double *matrix, size_t n) {
    double sum = 0, product[EXPANSION_LEVELS];
    for (unsigned p = 0; p < now->event.arguments; p++) {
        form_multiply(&now->event.argument[p], matrix, n, product);
        for (unsigned q = 0; q < now->event.arguments; q++)
            sum += 0.5 * now->d2[p][q] * form_apply(&now->event.argument[q], product);
    }
    return sum;
}

static bool find_first(struct solver *s) {
    const size_t n = s->n;
    struct expansion *out = s->out;
    for (size_t i = 0; i < s->model->events; i++) {
        const struct derivatives *now = derive(s, i, false);
        form_add_square(&now->event.jump, now->value, s->noise, n);
    }
    if (!bli_symmetric_solve(&s->jacobian, 2, s->noise, out->spread))
        return false;
    for (size_t i = 0; i < s->model->events; i++) {
        const struct derivatives *now = derive(s, i, false);
        form_add(&now->event.jump, curve_of(now, out->spread, n) + now->eps, s->bias);
    }
    return bli_symmetric_solve(&s->jacobian, 1, s->bias, out->first);
}

/* ---- order 2 ---- */

/* x[a][b][c] += l[a] matrix[b][c]. */
static void add_outer(double *x, const struct linear_form *jump, const double *matrix, size_t n) {
    for (unsigned l = 0; l < jump->count; l++) {
        double *block = x + jump->coordinate[l] * n * n;
        for (size_t i = 0; i < n * n; i++)
            block[i] += jump->factor[l] * matrix[i];
    }
}

/* What an event adds to the equation of T, before it is symmetrised: the first index is the odd one out. */
static void add_cubic(struct solver *s, const struct derivatives *now) {
    const size_t n = s->n;
    const unsigned m = now->event.arguments;
    double *matrix = s->dense;
    for (unsigned p = 0; p < m; p++)
        form_multiply(&now->event.argument[p], s->out->spread, n, s->along + p * n);
    memset(matrix, 0, n * n * sizeof *matrix);
    for (unsigned p = 0; p < m; p++)
        for (unsigned q = 0; q < m; q++)
            for (size_t b = 0; b < n && now->d2[p][q] != 0; b++)
                for (size_t c = 0; c < n; c++)
                    matrix[b * n + c] += now->d2[p][q] * s->along[p * n + b] * s->along[q * n + c];
    form_add_square(&now->event.jump, now->value / 3, matrix, n);
    add_outer(s->cubic, &now->event.jump, matrix, n);
    for (size_t c = 0; c < n; c++) {
        double slope = 0;
        for (unsigned p = 0; p < m; p++)
            slope += now->d1[p] * s->along[p * n + c];
        form_add_square(&now->event.jump, slope, s->cubic + c * n * n, n);
    }
}

static bool find_third(struct solver *s) {
    const size_t n = s->n;
    for (size_t i = 0; i < s->model->events; i++)
        add_cubic(s, derive(s, i, false));
    for (size_t a = 0; a < n; a++)
        for (size_t i = 0; i < n * n; i++)
            s->cubic[a * n * n + i] += s->bias[a] * s->out->spread[i] + s->out->first[a] * s->noise[i];
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            for (size_t c = 0; c < n; c++)
                s->third[(a * n + b) * n + c] = s->cubic[(a * n + b) * n + c] +
                                                s->cubic[(b * n + a) * n + c] + s->cubic[(c * n + a) * n + b];
    return bli_symmetric_solve(&s->jacobian, 3, s->third, s->third);
}

/* T applied to two arguments. */
static void apply_third(const struct solver *s, const struct linear_form *p, const struct linear_form *q,
                        double factor, double *sum) {
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned j = 0; j < q->count; j++) {
            const double *row = s->third + (p->coordinate[i] * s->n + q->coordinate[j]) * s->n;
            for (size_t b = 0; b < s->n; b++)
                sum[b] += factor * p->factor[i] * q->factor[j] * row[b];
        }
}

/* Covariances of the arguments of the present event; s->along is W applied to them. */
static void find_covariances(const struct solver *s, const struct derivatives *now,
                             double covariance[ARGS][ARGS]) {
    for (unsigned p = 0; p < now->event.arguments; p++) {
        form_multiply(&now->event.argument[p], s->out->spread, s->n, s->along + p * s->n);
        for (unsigned q = 0; q < now->event.arguments; q++)
            covariance[p][q] = form_apply(&now->event.argument[q], s->along + p * s->n);
    }
}

/* What an event adds to the equation of V: E[beta delta] without what A says of it, and l l' E[beta]. */
static void add_square(struct solver *s, const struct derivatives *now, double *right) {
    const size_t n = s->n;
    const unsigned m = now->event.arguments;
    double covariance[ARGS][ARGS], with[EXPANSION_LEVELS] = {0}, mean = now->eps;
    find_covariances(s, now, covariance);
    for (size_t b = 0; b < n; b++)
        with[b] = now->eps * s->out->first[b];
    for (unsigned p = 0; p < m; p++) {
        mean += now->d1[p] * form_apply(&now->event.argument[p], s->out->first);
        double factor = now->eps_d1[p];
        for (unsigned q = 0; q < m; q++) {
            mean += 0.5 * now->d2[p][q] * covariance[p][q];
            apply_third(s, &now->event.argument[p], &now->event.argument[q], 0.5 * now->d2[p][q], with);
            for (unsigned r = 0; r < m; r++)
                factor += 0.5 * now->d3[p][q][r] * covariance[q][r];
        }
        for (size_t b = 0; b < n; b++)
            with[b] += factor * s->along[p * n + b];
    }
    form_add_square(&now->event.jump, mean, right, n);
    for (unsigned l = 0; l < now->event.jump.count; l++)
        for (size_t b = 0; b < n; b++) {
            const size_t a = now->event.jump.coordinate[l];
            right[a * n + b] += now->event.jump.factor[l] * with[b];
            right[b * n + a] += now->event.jump.factor[l] * with[b];
        }
}

/* The coefficient of 1/N^2 in E[beta], without what A says of it. */
static double second_of(struct solver *s, const struct derivatives *now) {
    const unsigned m = now->event.arguments;
    double covariance[ARGS][ARGS], row[EXPANSION_LEVELS];
    find_covariances(s, now, covariance);
    double sum = now->eps2 + curve_of(now, s->square, s->n);
    for (unsigned p = 0; p < m; p++) {
        sum += now->eps_d1[p] * form_apply(&now->event.argument[p], s->out->first);
        for (unsigned q = 0; q < m; q++) {
            sum += 0.5 * now->eps_d2[p][q] * covariance[p][q];
            memset(row, 0, s->n * sizeof *row);
            apply_third(s, &now->event.argument[p], &now->event.argument[q], 1.0 / 6, row);
            for (unsigned r = 0; r < m; r++) {
                sum += now->d3[p][q][r] * form_apply(&now->event.argument[r], row);
                for (unsigned t = 0; t < m; t++)
                    sum += now->d4[p][q][r][t] * covariance[p][q] * covariance[r][t] / 8;
            }
        }
    }
    return sum;
}

static bool find_second(struct solver *s) {
    const size_t n = s->n;
    if (!find_third(s))
        return false;
    double *right = s->cubic; /* no longer needed */
    memset(right, 0, n * n * sizeof *right);
    for (size_t i = 0; i < s->model->events; i++)
        add_square(s, derive(s, i, true), right);
    if (!bli_symmetric_solve(&s->jacobian, 2, right, s->square))
        return false;
    memset(s->drift, 0, n * sizeof *s->drift);
    for (size_t i = 0; i < s->model->events; i++) {
        const struct derivatives *now = derive(s, i, true);
        form_add(&now->event.jump, second_of(s, now), s->drift);
    }
    return bli_symmetric_solve(&s->jacobian, 1, s->drift, s->out->second);
}

/* ---- */

static bool solver_init(struct solver *s, unsigned order) {
    const size_t n = s->n, cube = order > 1 ? n * n * n : 1;
    bli_jet_space_init(&s->space);
    s->dense = calloc(n * n, sizeof(double));
    s->noise = calloc(n * n, sizeof(double));
    s->square = calloc(n * n, sizeof(double));
    s->drift = calloc(n, sizeof(double));
    s->bias = calloc(n, sizeof(double));
    s->along = calloc(n * ARGS, sizeof(double));
    s->cubic = calloc(cube, sizeof(double));
    s->third = calloc(cube, sizeof(double));
    return s->dense && s->noise && s->square && s->drift && s->bias && s->along && s->cubic && s->third;
}

static void solver_fini(struct solver *s) {
    bli_sparse_matrix_fini(&s->jacobian);
    free(s->dense);
    free(s->noise);
    free(s->square);
    free(s->drift);
    free(s->bias);
    free(s->along);
    free(s->cubic);
    free(s->third);
}

bool bli_expansion_init(struct expansion *expansion, const struct expansion_model *model, const double *near,
                        unsigned order) {
    const size_t n = model->n;
    *expansion = (struct expansion){.n = n,
                                    .x = calloc(n, sizeof(double)),
                                    .first = calloc(n, sizeof(double)),
                                    .second = calloc(n, sizeof(double)),
                                    .spread = calloc(n * n, sizeof(double))};
    struct solver *s = calloc(1, sizeof *s);
    bool known = false;
    if (s && expansion->x && expansion->first && expansion->second && expansion->spread) {
        memcpy(expansion->x, near, n * sizeof *near);
        *s = (struct solver){.model = model, .out = expansion, .n = n};
        if (solver_init(s, order))
            known = find_fixed_point(s) && find_first(s) && (order < 2 || find_second(s));
        else
            bli_memory_lose();
        solver_fini(s);
    } else
        bli_memory_lose();
    free(s);
    return known;
}

void bli_expansion_fini(struct expansion *expansion) {
    free(expansion->x);
    free(expansion->first);
    free(expansion->second);
    free(expansion->spread);
}
