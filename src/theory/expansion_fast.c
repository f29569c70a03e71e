/* SPDX-License-Identifier: BSD-2-Clause */
/* With epsilon = 1/N, rates beta and jumps l, a function of state x and fast variable y changes at the rate
 *
 *     G h = sum of beta(x, y) (h(x + epsilon l, y') - h(x, y)),
 *
 * times N, and that is 0 on average. Let K be what beta says of y alone, pi(x) its stationary distribution,
 * F(x, y) = sum of beta l, F_(x) its average over pi. For a function g of x alone the right h is g + epsilon
 * Z g', where K Z = F_ - F and pi Z = 0: then all that is of the order of epsilon is F_ g', and of its
 * square, averaged over pi,
 *
 *     g'' Q / 2 + B g',   Q = sum of beta (l l' + l Z(y')' + Z(y') l'),
 *                         B = sum of (beta_ l + beta (dZ(y')/dx l) + beta_ (Z(y') - Z(y))),
 *
 * beta_ being the part of beta with 1/N. So servers move as if on average, with the noise Q and the drift F_
 * + B/N, and with A the Jacobian of F_
 *
 *     A W + W A' + Q = 0,   A first + F_'' W / 2 + B = 0.
 *
 * All derivatives along a direction follow from those of the rates; F_'' W is the sum of those along the
 * columns of a root of W. */
#include "theory/expansion_fast.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = JET_ARGUMENTS, NEWTON_MAX = 50, DOUBLINGS_MAX = 60 };

struct event_rates {
    double value, d1[ARGS], d2[ARGS][ARGS], eps;
};

/* Powers of a step along a direction: 0, 1, 2. */
enum { POWERS = 3 };

struct fast_solver {
    const struct fast_model *model;
    size_t n, states;
    double *x;
    struct jet_space space;
    struct event_rates *rates; /* of each event, at x */
    struct fast_event now;
    double *generator[POWERS];         /* K: states * states */
    double *drift[POWERS];             /* F: states * n */
    double *pi[POWERS];                /* states */
    double *mean[POWERS];              /* F_: n */
    double *inverse;                   /* of K - 1 pi */
    double *corrector;                 /* Z: states * n */
    double *changed;                   /* Z, once more, along a direction */
    double *right;                     /* states * n */
    double *jacobian, *root, *work[3]; /* n * n */
    double *direction;                 /* n */
};

/* ---- dense matrices ---- */

/* a (n * n) times x = right (n * columns), which becomes x; a is lost. */
static bool solve_dense(double *a, double *right, size_t n, size_t columns) {
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
                pivot = i;
        if (!(fabs(a[pivot * n + k]) > 0))
            return false;
        for (size_t j = 0; j < n + columns && pivot != k; j++) {
            double *one = j < n ? &a[k * n + j] : &right[k * columns + j - n],
                   *other = j < n ? &a[pivot * n + j] : &right[pivot * columns + j - n];
            const double kept = *one;
            *one = *other;
            *other = kept;
        }
        for (size_t i = 0; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            if (i == k || factor == 0)
                continue;
            for (size_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            for (size_t j = 0; j < columns; j++)
                right[i * columns + j] -= factor * right[k * columns + j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < columns; j++)
            right[i * columns + j] /= a[i * n + i];
    return true;
}

/* product = a b, or a b'. */
static void multiply(const double *a, const double *b, bool transposed, size_t n, double *product) {
    memset(product, 0, n * n * sizeof *product);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            if (transposed) {
                for (size_t j = 0; j < n; j++)
                    product[i * n + k] += a[i * n + j] * b[k * n + j];
            } else if (a[i * n + k] != 0) {
                for (size_t j = 0; j < n; j++)
                    product[i * n + j] += a[i * n + k] * b[k * n + j];
            }
        }
}

/* A W + W A' + Q = 0, W in place of Q. With C = (A - p)^-1 (A + p) that is W = C W C' + 2 p (A - p)^-1 Q
 * (A - p)'^-1, and a sum of powers of C, of which each step takes twice as many (Smith 1968). A is lost. */
static bool solve_lyapunov(double *a, double *q, size_t n, double *const work[3]) {
    double *c = work[0], *product = work[1], *inverse = work[2], p = 0;
    for (size_t i = 0; i < n; i++)
        p -= a[i * n + i] / (double)n;
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t i = 0; i < n; i++)
        inverse[i * n + i] = 1;
    memcpy(c, a, n * n * sizeof *c);
    for (size_t i = 0; i < n; i++)
        a[i * n + i] -= p;
    if (!solve_dense(a, inverse, n, n))
        return false;
    multiply(inverse, q, false, n, product);
    multiply(product, inverse, true, n, q);
    for (size_t i = 0; i < n * n; i++)
        q[i] *= 2 * p;
    for (size_t i = 0; i < n; i++)
        c[i * n + i] += p;
    multiply(inverse, c, false, n, a);
    memcpy(c, a, n * n * sizeof *c);
    for (int doubling = 0; doubling < DOUBLINGS_MAX; doubling++) {
        double largest = 0, change = 0;
        multiply(c, q, false, n, product);
        multiply(product, c, true, n, a);
        for (size_t i = 0; i < n * n; i++) {
            q[i] += a[i];
            change = fmax(change, fabs(a[i]));
            largest = fmax(largest, fabs(q[i]));
        }
        if (!(change > 1e-15 * largest))
            return isfinite(largest);
        multiply(c, c, false, n, a);
        memcpy(c, a, n * n * sizeof *c);
    }
    return false;
}

/* W = R R', R in place of W; what is 0 but for rounding stays out. */
static void take_root(double *w, size_t n) {
    for (size_t k = 0; k < n; k++) {
        double square = w[k * n + k];
        for (size_t j = 0; j < k; j++)
            square -= w[k * n + j] * w[k * n + j];
        const double root = square > 1e-16 * w[k * n + k] && square > 0 ? sqrt(square) : 0;
        for (size_t i = k; i < n; i++) {
            double sum = w[i * n + k];
            for (size_t j = 0; j < k; j++)
                sum -= w[i * n + j] * w[k * n + j];
            w[i * n + k] = root > 0 ? sum / root : 0;
        }
        memset(w + k * n + k + 1, 0, (n - k - 1) * sizeof *w);
    }
}

/* ---- rates and their averages ---- */

static double form_apply(const struct linear_form *form, const double *x) {
    double sum = 0;
    for (unsigned i = 0; i < form->count; i++)
        sum += form->factor[i] * x[form->coordinate[i]];
    return sum;
}

static void form_add(const struct linear_form *form, double factor, double *x) {
    for (unsigned i = 0; i < form->count; i++)
        x[form->coordinate[i]] += factor * form->factor[i];
}

static const struct fast_event *event_at(struct fast_solver *s, size_t i) {
    struct expansion_event *slow = &s->now.slow;
    slow->jump.count = slow->arguments = 0;
    for (unsigned p = 0; p < ARGS; p++)
        slow->argument[p].count = 0, slow->argument[p].constant = 0;
    s->model->event(s->model->param, i, &s->now);
    return &s->now;
}

static double coefficient(const struct fast_solver *s, const struct jet *rate, unsigned p, unsigned q,
                          unsigned arguments) {
    unsigned power[ARGS + 1] = {0};
    double factor = 1;
    if (arguments > 0)
        power[p]++;
    if (arguments > 1)
        factor = ++power[q];
    return factor * rate->term[bli_jet_index(&s->space, power)];
}

static void differentiate(struct fast_solver *s) {
    for (size_t i = 0; i < s->model->events; i++) {
        const struct expansion_event *slow = &event_at(s, i)->slow;
        struct jet argument[ARGS];
        for (unsigned p = 0; p < slow->arguments; p++)
            argument[p] = bli_jet_argument(&s->space, p,
                                           slow->argument[p].constant + form_apply(&slow->argument[p], s->x));
        const struct jet rate = s->model->rate(s->model->param, i, &s->space, argument);
        struct event_rates *rates = &s->rates[i];
        rates->value = rate.term[0];
        rates->eps = rate.term[bli_jet_index(&s->space, (unsigned[ARGS + 1]){[ARGS] = 1})];
        for (unsigned p = 0; p < slow->arguments; p++) {
            rates->d1[p] = coefficient(s, &rate, p, 0, 1);
            for (unsigned q = 0; q < slow->arguments; q++)
                rates->d2[p][q] = coefficient(s, &rate, p, q, 2);
        }
    }
}

/* The rate of the present event along a direction: coefficients of the powers of the step. */
static void rate_along(const struct expansion_event *slow, const struct event_rates *rates,
                       const double *direction, double power[POWERS]) {
    double along[ARGS];
    power[0] = rates->value;
    power[1] = power[2] = 0;
    for (unsigned p = 0; p < slow->arguments; p++) {
        along[p] = form_apply(&slow->argument[p], direction);
        power[1] += rates->d1[p] * along[p];
    }
    for (unsigned p = 0; p < slow->arguments; p++)
        for (unsigned q = 0; q < slow->arguments; q++)
            power[2] += 0.5 * rates->d2[p][q] * along[p] * along[q];
}

/* K and F along a direction. */
static void add_up(struct fast_solver *s, const double *direction) {
    for (int k = 0; k < POWERS; k++) {
        memset(s->generator[k], 0, s->states * s->states * sizeof(double));
        memset(s->drift[k], 0, s->states * s->n * sizeof(double));
    }
    for (size_t i = 0; i < s->model->events; i++) {
        const struct fast_event *now = event_at(s, i);
        double power[POWERS];
        rate_along(&now->slow, &s->rates[i], direction, power);
        for (int k = 0; k < POWERS; k++) {
            s->generator[k][now->from * s->states + now->to] += power[k];
            s->generator[k][now->from * s->states + now->from] -= power[k];
            form_add(&now->slow.jump, power[k], s->drift[k] + now->from * s->n);
        }
    }
}

/* pi from K: one of its equations follows from the others, and makes room for that of the sum. A state may be
 * transient: a remembered server is idle only until the next job. `work` has states^2 numbers. */
static bool find_stationary(const double *generator, size_t states, double *work, double *pi) {
    for (size_t y = 0; y < states; y++) {
        for (size_t z = 0; z < states; z++)
            work[z * states + y] = z == 0 ? 1 : generator[y * states + z];
        pi[y] = y == 0;
    }
    return solve_dense(work, pi, states, 1);
}

/* What is at x, whatever the direction. */
static bool find_here(struct fast_solver *s) {
    const size_t states = s->states;
    differentiate(s);
    memset(s->direction, 0, s->n * sizeof *s->direction);
    add_up(s, s->direction);
    if (!find_stationary(s->generator[0], states, s->inverse, s->pi[0]))
        return false;
    double *matrix = malloc(states * states * sizeof *matrix);
    if (!matrix) {
        bli_memory_lose();
        return false;
    }
    memset(s->inverse, 0, states * states * sizeof *matrix);
    for (size_t y = 0; y < states; y++) {
        s->inverse[y * states + y] = 1;
        for (size_t z = 0; z < states; z++)
            matrix[y * states + z] = s->generator[0][y * states + z] - s->pi[0][z];
    }
    const bool solved = solve_dense(matrix, s->inverse, states, states);
    free(matrix);
    return solved;
}

/* pi and F_ along a direction: pi K = 0 order by order. */
static void average_along(struct fast_solver *s, const double *direction) {
    const size_t states = s->states;
    add_up(s, direction);
    for (int k = 1; k < POWERS; k++) {
        memset(s->right, 0, states * sizeof *s->right);
        for (int j = 0; j < k; j++)
            for (size_t y = 0; y < states; y++)
                for (size_t z = 0; z < states; z++)
                    s->right[z] -= s->pi[j][y] * s->generator[k - j][y * states + z];
        for (size_t z = 0; z < states; z++) {
            s->pi[k][z] = 0;
            for (size_t y = 0; y < states; y++)
                s->pi[k][z] += s->right[y] * s->inverse[y * states + z];
        }
    }
    for (int k = 0; k < POWERS; k++) {
        memset(s->mean[k], 0, s->n * sizeof(double));
        for (int j = 0; j <= k; j++)
            for (size_t y = 0; y < states; y++)
                for (size_t i = 0; i < s->n; i++)
                    s->mean[k][i] += s->pi[j][y] * s->drift[k - j][y * s->n + i];
    }
}

/* ---- the fixed point ---- */

static bool find_jacobian(struct fast_solver *s) {
    if (!find_here(s))
        return false;
    for (size_t j = 0; j < s->n; j++) {
        memset(s->direction, 0, s->n * sizeof *s->direction);
        s->direction[j] = 1;
        average_along(s, s->direction);
        for (size_t i = 0; i < s->n; i++)
            s->jacobian[i * s->n + j] = s->mean[1][i];
    }
    return true;
}

static bool find_fixed_point(struct fast_solver *s) {
    for (int i = 0; i < NEWTON_MAX; i++) {
        double largest = 0;
        if (!find_jacobian(s))
            return false;
        for (size_t j = 0; j < s->n; j++)
            largest = fmax(largest, fabs(s->mean[0][j]));
        if (largest < 1e-14)
            return true;
        memcpy(s->work[0], s->jacobian, s->n * s->n * sizeof(double));
        if (!isfinite(largest) || !solve_dense(s->work[0], s->mean[0], s->n, 1))
            return false;
        for (size_t j = 0; j < s->n; j++)
            s->x[j] -= s->mean[0][j];
    }
    return false;
}

/* ---- the first term ---- */

/* Z = the solution of K Z = right with pi Z = given (NULL: 0). */
static void solve_fast(const struct fast_solver *s, const double *given, double *z) {
    memset(z, 0, s->states * s->n * sizeof *z);
    for (size_t y = 0; y < s->states; y++)
        for (size_t k = 0; k < s->states; k++)
            for (size_t i = 0; i < s->n; i++)
                z[y * s->n + i] +=
                    s->inverse[y * s->states + k] * (s->right[k * s->n + i] - (given ? given[i] : 0));
}

static void find_corrector(struct fast_solver *s) {
    memset(s->direction, 0, s->n * sizeof *s->direction);
    average_along(s, s->direction);
    for (size_t y = 0; y < s->states; y++)
        for (size_t i = 0; i < s->n; i++)
            s->right[y * s->n + i] = s->mean[0][i] - s->drift[0][y * s->n + i];
    solve_fast(s, NULL, s->corrector);
}

/* How Z changes along a direction: K dZ = dF_ - dF - dK Z, pi dZ = - dpi Z. */
static void change_corrector(struct fast_solver *s, const double *direction) {
    average_along(s, direction);
    double *given = s->mean[2]; /* not needed here */
    memset(given, 0, s->n * sizeof *given);
    for (size_t y = 0; y < s->states; y++)
        for (size_t i = 0; i < s->n; i++) {
            double sum = s->mean[1][i] - s->drift[1][y * s->n + i];
            for (size_t z = 0; z < s->states; z++)
                sum -= s->generator[1][y * s->states + z] * s->corrector[z * s->n + i];
            s->right[y * s->n + i] = sum;
            given[i] -= s->pi[1][y] * s->corrector[y * s->n + i];
        }
    solve_fast(s, given, s->changed);
}

/* Q, and the parts of B that events say alone. */
static void add_noise(struct fast_solver *s, double *noise, double *bias) {
    const size_t n = s->n;
    for (size_t e = 0; e < s->model->events; e++) {
        const struct fast_event *now = event_at(s, e);
        const struct linear_form *jump = &now->slow.jump;
        const double *after = s->corrector + now->to * n, *from = s->corrector + now->from * n;
        const double flow = s->pi[0][now->from] * s->rates[e].value,
                     more = s->pi[0][now->from] * s->rates[e].eps;
        for (unsigned l = 0; l < jump->count; l++) {
            double *row = noise + jump->coordinate[l] * n;
            form_add(jump, flow * jump->factor[l], row);
            for (size_t i = 0; i < n; i++) {
                row[i] += flow * jump->factor[l] * after[i];
                noise[i * n + jump->coordinate[l]] += flow * jump->factor[l] * after[i];
            }
        }
        form_add(jump, more, bias);
        for (size_t i = 0; i < n && more != 0; i++)
            bias[i] += more * (after[i] - from[i]);
    }
}

/* The part of B with the change of Z, for all events that end in the same y together. */
static void add_changes(struct fast_solver *s, double *bias) {
    for (unsigned y = 0; y < s->states && s->states > 1; y++) {
        memset(s->direction, 0, s->n * sizeof *s->direction);
        for (size_t e = 0; e < s->model->events; e++) {
            const struct fast_event *now = event_at(s, e);
            if (now->to == y)
                form_add(&now->slow.jump, s->pi[0][now->from] * s->rates[e].value, s->direction);
        }
        change_corrector(s, s->direction);
        for (size_t i = 0; i < s->n; i++)
            bias[i] += s->changed[y * s->n + i];
    }
}

static bool find_first(struct fast_solver *s, double *first, double *lag) {
    const size_t n = s->n;
    memset(first, 0, n * sizeof *first);
    memset(lag, 0, n * sizeof *lag);
    memset(s->root, 0, n * n * sizeof *s->root);
    find_corrector(s);
    add_noise(s, s->root, lag);
    add_changes(s, lag);
    double *spare = malloc(n * n * sizeof *spare);
    if (!spare) {
        bli_memory_lose();
        return false;
    }
    memcpy(spare, s->jacobian, n * n * sizeof *spare);
    bool solved = solve_lyapunov(spare, s->root, n, s->work);
    free(spare);
    if (!solved)
        return false;
    take_root(s->root, n);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++)
            s->direction[i] = s->root[i * n + k];
        average_along(s, s->direction);
        for (size_t i = 0; i < n; i++)
            first[i] += s->mean[2][i];
    }
    for (size_t i = 0; i < n; i++) {
        s->work[0][2 * i] = -first[i];
        s->work[0][2 * i + 1] = -lag[i];
    }
    solved = solve_dense(s->jacobian, s->work[0], n, 2);
    for (size_t i = 0; i < n; i++) {
        lag[i] = s->work[0][2 * i + 1];
        first[i] = s->work[0][2 * i] + lag[i];
    }
    return solved;
}

/* ---- */

static bool solver_init(struct fast_solver *s) {
    const size_t n = s->n, states = s->states, square = states * states;
    bool ok = (s->rates = calloc(s->model->events, sizeof *s->rates));
    for (int k = 0; k < POWERS; k++) {
        ok = (s->generator[k] = calloc(square, sizeof(double))) && ok;
        ok = (s->drift[k] = calloc(states * n, sizeof(double))) && ok;
        ok = (s->pi[k] = calloc(states, sizeof(double))) && ok;
        ok = (s->mean[k] = calloc(n, sizeof(double))) && ok;
        ok = (s->work[k] = calloc(n * n, sizeof(double))) && ok;
    }
    ok = (s->inverse = calloc(square, sizeof(double))) && ok;
    ok = (s->corrector = calloc(states * n, sizeof(double))) && ok;
    ok = (s->changed = calloc(states * n, sizeof(double))) && ok;
    ok = (s->right = calloc(states * n, sizeof(double))) && ok;
    ok = (s->jacobian = calloc(n * n, sizeof(double))) && ok;
    ok = (s->root = calloc(n * n, sizeof(double))) && ok;
    ok = (s->direction = calloc(n, sizeof(double))) && ok;
    if (!ok)
        bli_memory_lose();
    return ok;
}

static void solver_free(struct fast_solver *s) {
    for (int k = 0; k < POWERS; k++) {
        free(s->generator[k]);
        free(s->drift[k]);
        free(s->pi[k]);
        free(s->mean[k]);
        free(s->work[k]);
    }
    free(s->rates);
    free(s->inverse);
    free(s->corrector);
    free(s->changed);
    free(s->right);
    free(s->jacobian);
    free(s->root);
    free(s->direction);
    free(s);
}

static struct fast_solver *solver_new(const struct fast_model *model) {
    struct fast_solver *s = calloc(1, sizeof *s);
    if (!s) {
        bli_memory_lose();
        return NULL;
    }
    s->model = model;
    s->n = model->n;
    s->states = model->states;
    bli_jet_space_init(&s->space);
    if (solver_init(s))
        return s;
    solver_free(s);
    return NULL;
}

bool bli_expansion_fast(const struct fast_model *model, double *x, double *first, double *lag) {
    struct fast_solver *s = solver_new(model);
    if (!s)
        return false;
    s->x = x;
    const bool known = find_fixed_point(s) && find_first(s, first, lag);
    solver_free(s);
    return known;
}

bool bli_expansion_fast_average(const struct fast_model *model, const double *x, double *probability) {
    struct fast_solver *s = solver_new(model);
    double *here = s ? malloc(s->n * sizeof *here) : NULL;
    bool known = false;
    if (here) {
        memcpy(here, x, s->n * sizeof *here);
        s->x = here;
        known = find_here(s);
        if (known)
            memcpy(probability, s->pi[0], s->states * sizeof *probability);
    }
    free(here);
    if (s)
        solver_free(s);
    return known;
}
