/* SPDX-License-Identifier: BSD-2-Clause */
/* Expectation maximisation for mixtures of Erlang distributions with given orders, as in A. Thümmler, P.
 * Buchholz and M. Telek, "A novel approach for phase-type fitting with the EM algorithm" (2006). */
#include "workload/fit_mixture.h"

#include "ballast/number.h"
#include "base/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* log(weight rate^r / (r-1)!): what does not depend on x. */
static void log_constants(const struct bli_fit_mixture *mixture, double constant[BLI_DIST_PHASES]) {
    for (unsigned k = 0; k < mixture->branches; k++) {
        double log_factorial = 0;
        for (unsigned i = 2; i < mixture->order[k]; i++)
            log_factorial += log(i);
        constant[k] = log(mixture->weight[k]) + mixture->order[k] * log(mixture->rate[k]) - log_factorial;
    }
}

enum { STEEP = 256 }; /* an Erlang distribution of higher order is no wider than a few cells */

/* Least probability of a wide cell for which the difference of two distribution functions has digits. */
static const double least = 1e-12;

static double probability(double order, double rate, const struct bli_fit_cell *cell) {
    return bli_gamma_below(order, rate * cell->high) - bli_gamma_below(order, rate * cell->low);
}

static double log_density(const struct bli_fit_mixture *mixture, unsigned k, double constant,
                          const struct bli_fit_cell *cell) {
    if (cell->wide || mixture->order[k] > STEEP) {
        const double p = probability(mixture->order[k], mixture->rate[k], cell);
        if (p > least)
            return log(mixture->weight[k] * p / (cell->high - cell->low));
    }
    return constant + (mixture->order[k] - 1.0) * cell->log_mean - mixture->rate[k] * cell->mean;
}

/* Mean of those sizes of a branch that lie in the cell: with f_r for the Erlang density of order r,
 * x f_r(x) = (r / rate) f_(r+1)(x). */
static double mean_within(const struct bli_fit_mixture *mixture, unsigned k,
                          const struct bli_fit_cell *cell) {
    const double order = mixture->order[k], rate = mixture->rate[k];
    const double p = cell->wide ? probability(order, rate, cell) : 0;
    if (!(p > least))
        return cell->mean;
    return fmin(fmax(order / rate * probability(order + 1, rate, cell) / p, cell->low), cell->high);
}

/* Logarithms of the weighted densities of all branches in a cell; returns the largest. */
static double densities(const struct bli_fit_mixture *mixture, const double *constant,
                        const struct bli_fit_cell *cell, double density[BLI_DIST_PHASES]) {
    double most = -HUGE_VAL;
    for (unsigned k = 0; k < mixture->branches; k++) {
        density[k] = log_density(mixture, k, constant[k], cell);
        most = fmax(most, density[k]);
    }
    return most;
}

double bli_fit_mixture_likelihood(const struct bli_fit_mixture *mixture,
                                  const struct bli_fit_target *target) {
    double constant[BLI_DIST_PHASES], density[BLI_DIST_PHASES], likelihood = 0;
    log_constants(mixture, constant);
    for (size_t i = 0; i < target->cells; i++) {
        const double most = densities(mixture, constant, &target->cell[i], density);
        double sum = 0;
        for (unsigned k = 0; k < mixture->branches; k++)
            sum += exp(density[k] - most);
        likelihood += target->cell[i].weight * (most + log(sum));
    }
    return likelihood;
}

double bli_fit_mixture_cdf(const struct bli_fit_mixture *mixture, double x) {
    double sum = 0;
    for (unsigned k = 0; k < mixture->branches; k++)
        sum += mixture->weight[k] * bli_gamma_below(mixture->order[k], mixture->rate[k] * x);
    return fmin(sum, 1);
}

/* One round: every cell is shared among the branches in proportion to their densities there, and every
 * branch takes the share and the mean of what it got. Returns the likelihood before it. */
static double improve_once(struct bli_fit_mixture *mixture, const struct bli_fit_target *target) {
    double constant[BLI_DIST_PHASES], density[BLI_DIST_PHASES];
    double share[BLI_DIST_PHASES] = {0}, total[BLI_DIST_PHASES] = {0}, likelihood = 0;
    log_constants(mixture, constant);
    for (size_t i = 0; i < target->cells; i++) {
        const struct bli_fit_cell *cell = &target->cell[i];
        const double most = densities(mixture, constant, cell, density);
        double sum = 0;
        for (unsigned k = 0; k < mixture->branches; k++)
            sum += density[k] = exp(density[k] - most);
        likelihood += cell->weight * (most + log(sum));
        for (unsigned k = 0; k < mixture->branches; k++) {
            const double part = cell->weight * density[k] / sum;
            share[k] += part;
            total[k] += part * mean_within(mixture, k, cell);
        }
    }
    unsigned kept = 0;
    for (unsigned k = 0; k < mixture->branches; k++) {
        if (!(share[k] > 1e-3)) /* a thousandth of a job: the branch has died out */
            continue;
        mixture->order[kept] = mixture->order[k];
        mixture->weight[kept] = share[k] / target->jobs;
        mixture->rate[kept] = mixture->order[k] * share[k] / total[k];
        kept++;
    }
    mixture->branches = kept;
    return likelihood;
}

/* Rounds keep the mean but for what is not known within wide cells. */
static void scale_to(struct bli_fit_mixture *mixture, double mean) {
    double now = 0;
    for (unsigned k = 0; k < mixture->branches; k++)
        now += mixture->weight[k] * mixture->order[k] / mixture->rate[k];
    for (unsigned k = 0; k < mixture->branches; k++)
        mixture->rate[k] *= now / mean;
}

/* Branches that have become the same are one. */
static void unite_equals(struct bli_fit_mixture *mixture) {
    unsigned kept = 0;
    for (unsigned k = 0; k < mixture->branches; k++) {
        unsigned twin = 0;
        while (twin < kept && (mixture->order[twin] != mixture->order[k] ||
                               fabs(mixture->rate[twin] / mixture->rate[k] - 1) > 1e-6))
            twin++;
        if (twin < kept) {
            mixture->weight[twin] += mixture->weight[k];
            continue;
        }
        mixture->order[kept] = mixture->order[k];
        mixture->weight[kept] = mixture->weight[k];
        mixture->rate[kept++] = mixture->rate[k];
    }
    mixture->branches = kept;
}

double bli_fit_mixture_improve(struct bli_fit_mixture *mixture, const struct bli_fit_target *target,
                               unsigned rounds) {
    double last = -HUGE_VAL;
    for (unsigned i = 0; i < rounds && !(target->stop && *target->stop); i++) {
        const double now = improve_once(mixture, target);
        if (now - last < 1e-8 * target->jobs)
            break;
        last = now;
    }
    unite_equals(mixture);
    scale_to(mixture, target->mean);
    return bli_fit_mixture_likelihood(mixture, target);
}

/* Weights in billionths that sum to 1: the largest takes what the rounding of the others leaves. */
static void round_weights(const struct bli_fit_mixture *mixture, double weight[BLI_DIST_PHASES]) {
    unsigned largest = 0;
    double others = 0;
    for (unsigned k = 0; k < mixture->branches; k++) {
        if (mixture->weight[k] > mixture->weight[largest])
            largest = k;
        weight[k] = fmax(rint(mixture->weight[k] * 1e9), 1);
        others += weight[k];
    }
    weight[largest] += 1e9 - others;
    for (unsigned k = 0; k < mixture->branches; k++)
        weight[k] /= 1e9;
}

struct mixture_text {
    char text[BLI_DIST_TEXT];
    size_t length;
};

static void append_number(struct mixture_text *text, const char *mark, double value, int digits) {
    char number[BLI_NUMBER_TEXT];
    snprintf(number, sizeof number, "%.*g", digits, value);
    text->length +=
        (size_t)snprintf(text->text + text->length, sizeof text->text - text->length, "%s%s", mark, number);
}

static enum bal_code hyper_dist(const struct bli_fit_mixture *mixture, struct bli_dist *dist,
                                struct bal_error *err) {
    double weight[BLI_DIST_PHASES];
    struct mixture_text text = {.length = 0};
    round_weights(mixture, weight);
    for (unsigned k = 0; k < mixture->branches; k++) {
        append_number(&text, k ? "," : "hyper(", weight[k], 9);
        append_number(&text, ",", mixture->rate[k], 7);
    }
    strcat(text.text, ")");
    return bli_dist_parse(text.text, dist, err);
}

/* Branch after branch, each a chain of its phases. */
static enum bal_code phase_dist(const struct bli_fit_mixture *mixture, struct bli_dist *dist,
                                struct bal_error *err) {
    double weight[BLI_DIST_PHASES];
    struct mixture_text start = {.length = 0}, rates = {.length = 0}, jumps = {.length = 0};
    round_weights(mixture, weight);
    unsigned phases = 0, phase = 0;
    for (unsigned k = 0; k < mixture->branches; k++)
        phases += mixture->order[k];
    for (unsigned k = 0; k < mixture->branches; k++) {
        for (unsigned i = 0; i < mixture->order[k]; i++, phase++) {
            append_number(&start, phase ? " " : "phase(", i == 0 ? weight[k] : 0, 9);
            append_number(&rates, phase ? " " : ";", mixture->rate[k], 7);
            for (unsigned j = 0; j < phases; j++)
                append_number(&jumps,
                              j       ? " "
                              : phase ? "/"
                                      : ";",
                              j == phase + 1 && i + 1 < mixture->order[k], 1);
        }
    }
    char all[3 * BLI_DIST_TEXT];
    snprintf(all, sizeof all, "%s%s%s)", start.text, rates.text, jumps.text);
    return bli_dist_parse(all, dist, err);
}

enum bal_code bli_fit_mixture_dist(const struct bli_fit_mixture *mixture, struct bli_dist *dist,
                                   struct bal_error *err) {
    bool exponential = true;
    for (unsigned k = 0; k < mixture->branches; k++)
        exponential &= mixture->order[k] == 1;
    if (mixture->branches > 1)
        return exponential ? hyper_dist(mixture, dist, err) : phase_dist(mixture, dist, err);
    struct mixture_text text = {.length = 0};
    if (exponential)
        append_number(&text, "exp(", 1 / mixture->rate[0], 7);
    else {
        append_number(&text, "erlang(", mixture->order[0], 9);
        append_number(&text, ",", mixture->order[0] / mixture->rate[0], 7);
    }
    strcat(text.text, ")");
    return bli_dist_parse(text.text, dist, err);
}
