/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions fitted to a sample of sizes, each in its own way, and how well they fit. */
#include "ballast/fit.h"

#include "workload/fit_mixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const struct bli_fit_method_info bli_fit_method_table[BLI_FIT_METHOD_COUNT] = {
#define X(name, text, meaning) [BLI_FIT_##name] = {text, meaning},
    BLI_FIT_METHODS(X)
#undef X
};

const double bli_fit_quantile[BLI_FIT_QUANTILES] = {0.5, 0.9, 0.99, 0.999};

enum {
    BRANCHES_MAX = 6,    /* of a mixture */
    TRIAL_ROUNDS = 25,   /* to see which orders are worth more */
    ROUNDS_MAX = 2000,   /* until a fit is taken as it is */
    JOINED = 4,          /* cells are one in trials */
    STARTS = 8,          /* of a branch that is added */
    FINALISTS = 4,       /* sets of orders that are fitted to the end */
    ORDERED_BRANCHES = 4 /* of a hyper-Erlang distribution to begin with */
};

/* What all the methods start from. */
struct fit_sample_work {
    const struct bli_fit_sample *sample;
    struct bli_fit_cell *cell; /* of both targets */
    struct bli_fit_target target;
    struct bli_fit_target coarse; /* the same with fewer cells, to try much with */
    double c2;
};

/* A distribution while it is fitted: a mixture of Erlang distributions, or lognormal. */
struct shape {
    double log_mean, log_deviation; /* lognormal when log_deviation > 0 */
    struct bli_fit_mixture mixture;
};

static double shape_cdf(const struct shape *shape, double x) {
    if (shape->log_deviation > 0)
        return x > 0 ? 0.5 * erfc((shape->log_mean - log(x)) / (shape->log_deviation * sqrt(2))) : 0;
    return bli_fit_mixture_cdf(&shape->mixture, x);
}

/* As that of mixtures: wide cells count by their probability. */
static double lognormal_log_density(const struct shape *shape, const struct bli_fit_cell *cell) {
    const double log_sqrt_two_pi = 0.91893853320467274;
    if (cell->wide || shape->log_deviation < 1.0 / 16) { /* or the distribution is no wider than a few cells
                                                          */
        const double p = shape_cdf(shape, cell->high) - shape_cdf(shape, cell->low);
        if (p > 1e-12)
            return log(p / (cell->high - cell->low));
    }
    const double z = (cell->log_mean - shape->log_mean) / shape->log_deviation;
    return -0.5 * z * z - cell->log_mean - log_sqrt_two_pi - log(shape->log_deviation);
}

static double shape_likelihood(const struct shape *shape, const struct bli_fit_target *target) {
    if (shape->log_deviation == 0)
        return bli_fit_mixture_likelihood(&shape->mixture, target);
    double sum = 0;
    for (size_t i = 0; i < target->cells; i++)
        sum += target->cell[i].weight * lognormal_log_density(shape, &target->cell[i]);
    return sum;
}

/* ---- how well it fits ---- */

/* The distribution functions are compared at the edges of the cells: between them the sample has no
 * information that its resolution would bear out. */
static double distance_of(const struct fit_sample_work *work, const struct shape *shape) {
    double below = 0, most = 0;
    for (size_t i = 0; i < work->target.cells; i++) {
        most = fmax(most, fabs(shape_cdf(shape, work->target.cell[i].low) - below / work->target.jobs));
        below += work->target.cell[i].weight;
        most = fmax(most, fabs(shape_cdf(shape, work->target.cell[i].high) - below / work->target.jobs));
    }
    return most;
}

static double quantile_of(const struct shape *shape, double q, double mean) {
    double low = 0, high = mean;
    while (shape_cdf(shape, high) < q && high < 1e15 * mean) {
        low = high;
        high *= 2;
    }
    while (high - low > 1e-9 * high) {
        const double middle = 0.5 * (low + high);
        if (shape_cdf(shape, middle) < q)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Within a cell sizes are taken as spread evenly. */
static double sample_quantile(const struct fit_sample_work *work, double q) {
    const double rank = q * work->target.jobs;
    double below = 0;
    for (size_t i = 0; i < work->target.cells; i++) {
        const struct bli_fit_cell *cell = &work->target.cell[i];
        if (below + cell->weight >= rank)
            return cell->low + (cell->high - cell->low) * (rank - below) / cell->weight;
        below += cell->weight;
    }
    return work->target.cells ? work->target.cell[work->target.cells - 1].high : NAN;
}

static void evaluate_fit(const struct fit_sample_work *work, const struct shape *shape, unsigned parameters,
                         struct bli_fit *fit) {
    fit->made = true;
    fit->parameters = parameters;
    fit->log_likelihood = shape_likelihood(shape, &work->target);
    fit->bic = parameters * log(work->target.jobs) - 2 * fit->log_likelihood;
    fit->c2 = bli_dist_moment(&fit->dist, 2) / (fit->dist.mean * fit->dist.mean) - 1;
    fit->distance = distance_of(work, shape);
    for (unsigned i = 0; i < BLI_FIT_QUANTILES; i++)
        fit->quantile[i] = quantile_of(shape, bli_fit_quantile[i], work->target.mean);
}

static enum bal_code evaluate_mixture(const struct fit_sample_work *work, const struct shape *shape,
                                      unsigned parameters, struct bli_fit *fit, struct bal_error *err) {
    const enum bal_code code = bli_fit_mixture_dist(&shape->mixture, &fit->dist, err);
    if (!code)
        evaluate_fit(work, shape, parameters, fit);
    return code;
}

/* ---- the methods ---- */

static struct shape erlang_shape(unsigned order, double mean) {
    return (struct shape){
        .mixture = {.branches = 1, .order = {order}, .weight = {1}, .rate = {order / mean}}};
}

static enum bal_code fit_exp(const struct fit_sample_work *work, struct bli_fit *fit, struct bal_error *err) {
    const struct shape shape = erlang_shape(1, work->target.mean);
    return evaluate_mixture(work, &shape, 1, fit, err);
}

static double erlang_likelihood(const struct fit_sample_work *work, unsigned order) {
    const struct shape shape = erlang_shape(order, work->target.mean);
    return shape_likelihood(&shape, &work->target);
}

/* The likelihood given the mean is concave in the order. */
static enum bal_code fit_erlang(const struct fit_sample_work *work, struct bli_fit *fit,
                                struct bal_error *err) {
    unsigned low = 1, high = BLI_FIT_ORDER_MAX; /* the best lies in low .. high */
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (erlang_likelihood(work, middle + 1) > erlang_likelihood(work, middle))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 1)
        return BAL_OK; /* that is the exponential distribution */
    const struct shape shape = erlang_shape(low, work->target.mean);
    return evaluate_mixture(work, &shape, 2, fit, err);
}

static struct shape lognormal_shape(double log_variance, double mean) {
    return (struct shape){.log_mean = log(mean) - log_variance / 2, .log_deviation = sqrt(log_variance)};
}

/* With y = log(x / mean) and v the variance of the logarithm, whose mean must be log(mean) - v/2, the
 * log-likelihood of a size is -log(v)/2 - (y + v/2)^2/(2v) but for a constant, and its mean is greatest where
 * v^2/4 + v = E[y^2]. */
static double lognormal_variance(const struct fit_sample_work *work) {
    const double m = log(work->target.mean);
    double second = 0;
    for (size_t i = 0; i < work->target.cells; i++) {
        const struct bli_fit_cell *cell = &work->target.cell[i];
        second += cell->weight * (cell->log_mean - m) * (cell->log_mean - m) / work->target.jobs;
    }
    return 2 * second / (sqrt(1 + second) + 1);
}

/* Where sizes were measured coarsely this is only near the best, which a search around it finds by golden
 * sections. */
static double refine_variance(const struct fit_sample_work *work, double v) {
    const double golden = 0.61803398874989485;
    double low = log(v / 3), high = log(v * 3);
    for (int i = 0; i < 40; i++) {
        const double left = high - golden * (high - low), right = low + golden * (high - low);
        const struct shape a = lognormal_shape(exp(left), work->target.mean);
        const struct shape b = lognormal_shape(exp(right), work->target.mean);
        if (shape_likelihood(&a, &work->target) > shape_likelihood(&b, &work->target))
            high = right;
        else
            low = left;
    }
    return exp(0.5 * (low + high));
}

static enum bal_code fit_lognormal(const struct fit_sample_work *work, struct bli_fit *fit,
                                   struct bal_error *err) {
    double v = lognormal_variance(work);
    if (work->target.cell[0].wide)
        v = refine_variance(work, v);
    const double c2 = expm1(v);
    if (!(c2 > 1e-9 && c2 < 1e9))
        return BAL_OK;
    char text[100];
    snprintf(text, sizeof text, "lognormal(%.7g,%.7g)", c2, work->target.mean);
    const enum bal_code code = bli_dist_parse(text, &fit->dist, err);
    if (code)
        return code;
    const struct shape shape = lognormal_shape(v, work->target.mean);
    evaluate_fit(work, &shape, 2, fit);
    return BAL_OK;
}

/* C2 >= 1: two branches with balanced means, the distribution hyper(C2,M). */
static enum bal_code fit_balanced(const struct fit_sample_work *work, struct bli_fit *fit,
                                  struct bal_error *err) {
    char text[100];
    snprintf(text, sizeof text, "hyper(%.7g,%.7g)", work->c2, work->target.mean);
    const enum bal_code code = bli_dist_parse(text, &fit->dist, err);
    if (code)
        return code;
    struct shape shape = {.mixture = {.branches = 2, .order = {1, 1}}};
    for (unsigned k = 0; k < 2; k++) {
        shape.mixture.weight[k] = fit->dist.start[k];
        shape.mixture.rate[k] = fit->dist.rate[k];
    }
    evaluate_fit(work, &shape, 2, fit);
    return BAL_OK;
}

/* 1/K <= C2 < 1/(K-1): K phases of equal rate, the first of which is left out with probability p (H. C.
 * Tijms, Stochastic Models, 1994): p = (K C2 - sqrt(K (1 + C2) - K^2 C2)) / (1 + C2), rate (K - p)/mean. */
static enum bal_code fit_chain(const struct fit_sample_work *work, struct bli_fit *fit,
                               struct bal_error *err) {
    const double c2 = work->c2, order = ceil(1 / c2);
    if (order > BLI_DIST_PHASES)
        return BAL_OK;
    const unsigned k = (unsigned)order;
    const double p = (k * c2 - sqrt(fmax(k * (1 + c2) - k * k * c2, 0))) / (1 + c2);
    const double rate = (k - p) / work->target.mean;
    char text[BLI_DIST_TEXT];
    size_t used = (size_t)snprintf(text, sizeof text, "phase(%.9g", k == 1 ? 1 : 1 - rint(p * 1e9) / 1e9);
    for (unsigned i = 1; i < k; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %.9g", i == 1 ? rint(p * 1e9) / 1e9 : 0);
    for (unsigned i = 0; i < k; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.7g", i ? " " : ";", rate);
    for (unsigned i = 0; i < k; i++)
        for (unsigned j = 0; j < k; j++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d",
                                     j   ? " "
                                     : i ? "/"
                                         : ";",
                                     j == i + 1);
    snprintf(text + used, sizeof text - used, ")");
    const enum bal_code code = bli_dist_parse(text, &fit->dist, err);
    if (code)
        return code;
    const struct shape shape = {.mixture = {.branches = k > 1 && p > 0 ? 2 : 1,
                                            .order = {k, k - 1},
                                            .weight = {k > 1 && p > 0 ? 1 - p : 1, p},
                                            .rate = {rate, rate}}};
    evaluate_fit(work, &shape, 3, fit);
    return BAL_OK;
}

static enum bal_code fit_moments(const struct fit_sample_work *work, struct bli_fit *fit,
                                 struct bal_error *err) {
    return work->c2 >= 1 ? fit_balanced(work, fit, err) : fit_chain(work, fit, err);
}

/* Branches whose means ascend in equal ratios from that which explains the small sizes to that which explains
 * the far tail, each bringing the same part of the mean. */
static struct shape hyper_start(const struct fit_sample_work *work, unsigned branches) {
    const double mean = work->target.mean;
    const double fast = fmin(sample_quantile(work, 0.2) / -log1p(-0.2), 0.5 * mean);
    const double slow =
        fmax((sample_quantile(work, 0.999) - sample_quantile(work, 0.99)) / log(10), 2 * mean);
    struct shape shape = {.mixture = {.branches = branches}};
    double sum = 0;
    for (unsigned k = 0; k < branches; k++) {
        const double branch_mean = fast * pow(slow / fast, k / (branches - 1.0));
        shape.mixture.order[k] = 1;
        shape.mixture.rate[k] = 1 / branch_mean;
        sum += shape.mixture.weight[k] = 1 / branch_mean;
    }
    for (unsigned k = 0; k < branches; k++)
        shape.mixture.weight[k] /= sum;
    return shape;
}

static enum bal_code fit_hyper(const struct fit_sample_work *work, struct bli_fit *fit,
                               struct bal_error *err) {
    if (work->c2 <= 1)
        return BAL_OK;
    struct shape best = {.mixture = {.branches = 0}};
    double best_bic = HUGE_VAL;
    for (unsigned branches = 2; branches <= BRANCHES_MAX; branches++) {
        struct shape shape = hyper_start(work, branches);
        const double likelihood = bli_fit_mixture_improve(&shape.mixture, &work->target, ROUNDS_MAX);
        const double bic = (2 * shape.mixture.branches - 1) * log(work->target.jobs) - 2 * likelihood;
        if (bic < best_bic) {
            best = shape;
            best_bic = bic;
        }
    }
    return evaluate_mixture(work, &best, 2 * best.mixture.branches - 1, fit, err);
}

/* Each branch starts from the mean of its part of the sorted sizes; parts become smaller upwards, so that the
 * tail has branches of its own. */
static struct shape ordered_start(const struct bli_fit_target *target, const unsigned *order,
                                  unsigned branches) {
    struct shape shape = {.mixture = {.branches = branches}};
    double left = target->jobs;
    size_t i = 0;
    for (unsigned k = 0; k < branches; k++) {
        const double part = k + 1 < branches ? 0.6 * left : left;
        double weight = 0, sum = 0;
        for (; i < target->cells && (weight < part || weight == 0) && target->cells - i >= branches - k;
             i++) {
            weight += target->cell[i].weight;
            sum += target->cell[i].weight * target->cell[i].mean;
        }
        left -= weight;
        shape.mixture.order[k] = order[k];
        shape.mixture.weight[k] = fmax(weight / target->jobs, 1e-9);
        shape.mixture.rate[k] = weight > 0 ? order[k] * weight / sum : order[k] / target->mean;
    }
    return shape;
}

struct finalist {
    double likelihood;
    struct shape shape;
};

/* Keeps the best ones, sorted. */
static void insert_finalist(struct finalist *finalist, const struct finalist *next) {
    unsigned place = FINALISTS;
    while (place > 0 && next->likelihood > finalist[place - 1].likelihood)
        place--;
    for (unsigned i = FINALISTS; i-- > place + 1;)
        finalist[i] = finalist[i - 1];
    if (place < FINALISTS)
        finalist[place] = *next;
}

/* All choices of orders for so many branches, with 16 phases in all at most. */
static void try_orders(const struct fit_sample_work *work, unsigned *order, unsigned chosen,
                       unsigned branches, struct finalist *finalist) {
    static const unsigned orders[] = {1, 2, 4, 8, 12};
    if (work->target.stop && *work->target.stop)
        return;
    if (chosen == branches) {
        struct finalist next = {.shape = ordered_start(&work->coarse, order, branches)};
        next.likelihood = bli_fit_mixture_improve(&next.shape.mixture, &work->coarse, TRIAL_ROUNDS);
        insert_finalist(finalist, &next);
        return;
    }
    unsigned used = branches - chosen - 1; /* one at least for each of the rest */
    for (unsigned i = 0; i < chosen; i++)
        used += order[i];
    for (unsigned i = 0; i < sizeof orders / sizeof *orders && used + orders[i] <= BLI_DIST_PHASES; i++) {
        order[chosen] = orders[i];
        try_orders(work, order, chosen + 1, branches, finalist);
    }
}

/* Orders are parameters too. */
static unsigned ordered_parameters(const struct bli_fit_mixture *mixture) {
    return 3 * mixture->branches - 1;
}

struct best {
    struct shape shape;
    double bic;
};

/* Fits to the end and keeps the better one. */
static void keep_if_better(const struct fit_sample_work *work, struct shape *shape, struct best *best) {
    const double likelihood = bli_fit_mixture_improve(&shape->mixture, &work->target, ROUNDS_MAX);
    const double bic = ordered_parameters(&shape->mixture) * log(work->target.jobs) - 2 * likelihood;
    if (bic < best->bic)
        *best = (struct best){.shape = *shape, .bic = bic};
}

/* One exponential branch more, wherever the others leave most: from small sizes to the far tail. */
static void add_branch(const struct fit_sample_work *work, struct best *best) {
    unsigned phases = 1;
    for (unsigned k = 0; k < best->shape.mixture.branches; k++)
        phases += best->shape.mixture.order[k];
    if (phases > BLI_DIST_PHASES)
        return;
    const double low = sample_quantile(work, 0.1), high = sample_quantile(work, 1);
    struct finalist winner = {.likelihood = -HUGE_VAL};
    for (unsigned i = 0; i < STARTS; i++) {
        struct finalist next = {.shape = best->shape};
        struct bli_fit_mixture *mixture = &next.shape.mixture;
        mixture->order[mixture->branches] = 1;
        mixture->weight[mixture->branches] = 1e-3;
        mixture->rate[mixture->branches++] = 1 / (low * pow(high / low, (i + 0.5) / STARTS));
        next.likelihood = bli_fit_mixture_improve(mixture, &work->coarse, TRIAL_ROUNDS);
        if (next.likelihood > winner.likelihood)
            winner = next;
    }
    if (winner.shape.mixture.branches > 0)
        keep_if_better(work, &winner.shape, best);
}

static enum bal_code fit_phase(const struct fit_sample_work *work, struct bli_fit *fit,
                               struct bal_error *err) {
    struct best best = {.bic = HUGE_VAL};
    for (unsigned branches = 2; branches <= ORDERED_BRANCHES; branches++) {
        struct finalist finalist[FINALISTS];
        unsigned order[ORDERED_BRANCHES];
        for (unsigned i = 0; i < FINALISTS; i++)
            finalist[i] = (struct finalist){.likelihood = -HUGE_VAL};
        try_orders(work, order, 0, branches, finalist);
        for (unsigned i = 0; i < FINALISTS; i++)
            if (finalist[i].shape.mixture.branches > 0)
                keep_if_better(work, &finalist[i].shape, &best);
    }
    for (unsigned branches = ORDERED_BRANCHES; branches < BRANCHES_MAX; branches++)
        add_branch(work, &best);
    if (best.shape.mixture.branches < 2)
        return BAL_OK; /* that is an Erlang distribution */
    return evaluate_mixture(work, &best.shape, ordered_parameters(&best.shape.mixture), fit, err);
}

/* ---- all of them ---- */

static enum bal_code fit_all(const struct fit_sample_work *work, struct bli_fits *fits,
                             struct bal_error *err) {
    static enum bal_code (*const methods[BLI_FIT_METHOD_COUNT])(const struct fit_sample_work *,
                                                                struct bli_fit *, struct bal_error *) = {
        [BLI_FIT_EXP] = fit_exp,         [BLI_FIT_ERLANG] = fit_erlang, [BLI_FIT_LOGNORMAL] = fit_lognormal,
        [BLI_FIT_MOMENTS] = fit_moments, [BLI_FIT_HYPER] = fit_hyper,   [BLI_FIT_PHASE] = fit_phase,
    };
    fits->best = BLI_FIT_EXP;
    for (unsigned i = BLI_FIT_EXP; i < BLI_FIT_METHOD_COUNT; i++) {
        const enum bal_code code = methods[i](work, &fits->fit[i], err);
        if (work->target.stop && *work->target.stop)
            return bal_fail(err, BAL_E_STOPPED, "stopped");
        if (code)
            return code;
        if (fits->fit[i].made && fits->fit[i].bic < fits->fit[fits->best].bic)
            fits->best = (enum bli_fit_method)i;
    }
    return BAL_OK;
}

/* Sizes that do not differ, as far as they were measured, have no density to be fitted. */
static enum bal_code fit_det(struct bli_fits *fits, struct bal_error *err) {
    struct bli_fit *fit = &fits->fit[BLI_FIT_DET];
    char text[40];
    snprintf(text, sizeof text, "det(%.7g)", fits->mean);
    *fit =
        (struct bli_fit){.made = true, .parameters = 1, .log_likelihood = NAN, .bic = NAN, .distance = NAN};
    for (unsigned i = 0; i < BLI_FIT_QUANTILES; i++)
        fit->quantile[i] = fits->mean;
    fits->best = BLI_FIT_DET;
    return bli_dist_parse(text, &fit->dist, err);
}

static void describe_sample(const struct fit_sample_work *work, struct bli_fits *fits) {
    *fits = (struct bli_fits){.jobs = work->sample->jobs,
                              .mean = work->target.mean,
                              .c2 = work->c2,
                              .resolution = bli_fit_resolution(work->sample),
                              .distance_5pc = 1.358 / sqrt(work->target.jobs)};
    for (unsigned i = 0; i < BLI_FIT_QUANTILES; i++)
        fits->quantile[i] = sample_quantile(work, bli_fit_quantile[i]);
}

enum bal_code bli_fit_laws(const struct bli_fit_sample *sample, const volatile int *stop,
                           struct bli_fits *fits, struct bal_error *err) {
    if (sample->jobs == 0)
        return bal_fail(err, BAL_E_MODEL, "there are no sizes that a law could be fitted to");
    const double n = (double)sample->jobs, mean = sample->sum / n;
    struct fit_sample_work work = {.sample = sample,
                                   .cell = calloc(2 * BLI_FIT_CELLS, sizeof *work.cell),
                                   .c2 = fmax(sample->square / n / (mean * mean) - 1, 0)};
    if (!work.cell)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to fit laws");
    work.target = (struct bli_fit_target){
        .cell = work.cell, .cells = bli_fit_cells(sample, work.cell), .jobs = n, .mean = mean, .stop = stop};
    struct bli_fit_cell *joined = work.cell + BLI_FIT_CELLS;
    work.coarse = work.target;
    work.coarse.cell = joined;
    work.coarse.cells = bli_fit_join(work.cell, work.target.cells, JOINED, joined);
    describe_sample(&work, fits);
    /* below 1/ORDER_MAX no distribution that is fitted could follow */
    const bool constant = sqrt(work.c2) * mean <= fits->resolution || work.c2 * BLI_FIT_ORDER_MAX < 1;
    const enum bal_code code = constant ? fit_det(fits, err) : fit_all(&work, fits, err);
    free(work.cell);
    return code;
}
