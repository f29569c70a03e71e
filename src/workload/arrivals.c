/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrivals: text and draws. */
#include "ballast/arrivals.h"

#include "ballast/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"poisson", "mmpp", "renewal", "batch"};
enum { KINDS = sizeof names / sizeof *names };

/* ---- reading ---- */

/* What has the right form but a value that cannot be. */
static enum bal_code bad_value(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(err, BAL_E_RANGE, "arrivals '%.60s%s': %s", text, strlen(text) > 60 ? "..." : "", why);
}

static enum bal_code bad_form(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(
        err, BAL_E_SYNTAX,
        "arrivals '%.60s%s': %s; write poisson, mmpp(R1,T1;R2,T2;...), renewal(LAW) or batch(LAW)", text,
        strlen(text) > 60 ? "..." : "", why);
}

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t");
}

/* A number from low to high and the sign behind it; returns where to go on, NULL if it is not so. */
static const char *parse_number_then(const char *at, double low, double high, const char *behind,
                                     double *value) {
    const char *end = bli_number_read(skip_blanks(at), value);
    if (!end || !(*value >= low && *value <= high))
        return NULL;
    *value += 0.0; /* -0 becomes 0 */
    end = skip_blanks(end);
    return *end && strchr(behind, *end) ? end : NULL;
}

static enum bal_code parse_mmpp(const char *text, const char *inner, struct bli_arrivals *arrivals,
                                struct bal_error *err) {
    double most = 0;
    for (const char *at = inner - 1; *at != ')';) {
        const unsigned i = arrivals->states;
        if (i == BLI_ARRIVALS_STATES)
            return bad_value(text, "there are more than 8 states; leave some out", err);
        at = parse_number_then(at + 1, 0, 1e9, ",", &arrivals->rate[i]);
        if (!at)
            return bad_form(text, "a rate from 0 to 1e9 and a comma are expected", err);
        at = parse_number_then(at + 1, 1e-9, 1e9, ";)", &arrivals->stay[i]);
        if (!at)
            return bad_form(text, "behind a rate the mean time in its state is expected, from 1e-9 to 1e9",
                            err);
        if (*at == ')' && *skip_blanks(at + 1))
            return bad_form(text, "there is something behind it", err);
        most = fmax(most, arrivals->rate[i]);
        arrivals->states++;
    }
    if (arrivals->states < 2)
        return bad_value(text, "one state is poisson; give 2 to 8", err);
    if (!(most >= 1e-9))
        return bad_value(text, "no rate is 1e-9 or more, so that no job comes", err);
    return BAL_OK;
}

/* The probability of no job in a batch. */
static double empty_probability(const struct bli_batch *batch) {
    switch (batch->kind) {
    case BLI_BATCH_POISSON:
        return exp(-batch->mean);
    case BLI_BATCH_GEOMETRIC:
        return 1 / (1 + batch->mean);
    case BLI_BATCH_BERNOULLI:
        return 1 - batch->mean;
    case BLI_BATCH_TABLE:
        return batch->value[0] == 0 ? batch->probability[0] : 0;
    case BLI_BATCH_UNIFORM:
        return batch->low == 0 ? 1 / ((double)batch->high + 1) : 0;
    default:
        return batch->high == 0;
    }
}

#define EMPTY_MAX 0.999 /* otherwise drawing one that is not empty would take long */

/* What a distribution cannot be; NULL: it can. */
static const char *check_dist(const struct bli_arrivals *arrivals) {
    if (arrivals->kind == BLI_ARRIVALS_RENEWAL)
        return isfinite(arrivals->gap.mean)
                   ? NULL
                   : "the mean gap is infinite, and a load needs a finite one; for pareto A must be above 1";
    return arrivals->batch.open ? "the mean of the batches is open; give it, as in batch(geometric(4))"
           : empty_probability(&arrivals->batch) > EMPTY_MAX
               ? "more than 999 of 1000 batches are empty; make them larger"
               : NULL;
}

/* renewal(LAW), batch(LAW) */
static enum bal_code parse_dist(const char *text, const char *inner, struct bli_arrivals *arrivals,
                                struct bal_error *err) {
    const char *end = strrchr(inner, ')');
    if (!end || *skip_blanks(end + 1))
        return bad_form(text, "')' is expected at the end", err);
    char dist[BLI_DIST_TEXT];
    const size_t length = (size_t)(end - inner);
    if (length >= sizeof dist)
        return bad_value(text, "the law is too long for any that there is", err);
    memcpy(dist, inner, length);
    dist[length] = 0;
    struct bal_error why = {0};
    const enum bal_code code = arrivals->kind == BLI_ARRIVALS_RENEWAL
                                   ? bli_dist_parse(dist, &arrivals->gap, &why)
                                   : bli_batch_parse(dist, &arrivals->batch, &why);
    if (code)
        return bal_fail(err, code, "arrivals '%.60s%s': %s", text, strlen(text) > 60 ? "..." : "", why.text);
    const char *what = check_dist(arrivals);
    return what ? bad_value(text, what, err) : BAL_OK;
}

enum bal_code bli_arrivals_parse(const char *text, struct bli_arrivals *arrivals, struct bal_error *err) {
    const char *at = skip_blanks(text);
    const size_t length = strcspn(at, " \t(");
    unsigned kind = 0;
    while (kind < KINDS && !(strlen(names[kind]) == length && memcmp(at, names[kind], length) == 0))
        kind++;
    if (kind == KINDS)
        return bad_form(text, "there are no such arrivals", err);
    struct bli_arrivals read = {.kind = (enum bli_arrivals_kind)kind};
    at = skip_blanks(at + length);
    if (kind == BLI_ARRIVALS_POISSON && *at)
        return bad_form(text, "nothing may stand behind poisson: the load sets its rate", err);
    if (kind != BLI_ARRIVALS_POISSON && *at != '(')
        return bad_form(text, "'(' is expected behind the name", err);
    enum bal_code code = BAL_OK;
    if (kind == BLI_ARRIVALS_MMPP)
        code = parse_mmpp(text, at + 1, &read, err);
    else if (kind != BLI_ARRIVALS_POISSON)
        code = parse_dist(text, at + 1, &read, err);
    if (!code)
        *arrivals = read;
    return code;
}

/* ---- writing ---- */

size_t bli_arrivals_print(const struct bli_arrivals *arrivals, char *text, size_t size) {
    char inner[BLI_DIST_TEXT] = "";
    size_t used = 0;
    for (unsigned i = 0; i < arrivals->states; i++) {
        char rate[BLI_NUMBER_TEXT], stay[BLI_NUMBER_TEXT];
        bli_number_print(arrivals->rate[i], rate);
        bli_number_print(arrivals->stay[i], stay);
        used += (size_t)snprintf(inner + used, sizeof inner - used, "%s%s,%s", i ? ";" : "", rate, stay);
    }
    if (arrivals->kind == BLI_ARRIVALS_POISSON)
        return (size_t)snprintf(text, size, "%s", names[arrivals->kind]);
    if (arrivals->kind == BLI_ARRIVALS_RENEWAL)
        bli_dist_print(&arrivals->gap, inner, sizeof inner);
    if (arrivals->kind == BLI_ARRIVALS_BATCH)
        bli_batch_print(&arrivals->batch, inner, sizeof inner);
    return (size_t)snprintf(text, size, "%s(%s)", names[arrivals->kind], inner);
}

/* ---- what they are ---- */

bool bli_arrivals_are_poisson(const struct bli_arrivals *arrivals) {
    switch (arrivals->kind) {
    case BLI_ARRIVALS_POISSON:
        return true;
    case BLI_ARRIVALS_MMPP:
        for (unsigned i = 1; i < arrivals->states; i++)
            if (arrivals->rate[i] != arrivals->rate[0])
                return false;
        return true;
    case BLI_ARRIVALS_RENEWAL:
        return bli_dist_is_exponential(&arrivals->gap);
    case BLI_ARRIVALS_BATCH: /* of 0 and 1 job alone */
        return arrivals->batch.high <= 1;
    }
    assert(false); /* arrivals of no kind */
    return false;
}

double bli_arrivals_changes(const struct bli_arrivals *arrivals) {
    double cycle = 0;
    for (unsigned i = 0; i < arrivals->states; i++)
        cycle += arrivals->stay[i];
    return cycle > 0 ? arrivals->states / cycle : 0;
}

/* ---- drawing ---- */

/* The state at a time that knows nothing of it: each in the proportion of its time. What is left of it is
 * like a whole one. */
static void start_mmpp(struct bli_arrival_source *source, const struct bli_arrivals *arrivals) {
    double cycle = 0, jobs = 0;
    source->states = arrivals->states;
    for (unsigned i = 0; i < arrivals->states; i++) {
        cycle += arrivals->stay[i];
        jobs += arrivals->rate[i] * arrivals->stay[i];
    }
    for (unsigned i = 0; i < arrivals->states; i++) {
        source->stay[i] = arrivals->stay[i];
        source->rate[i] = arrivals->rate[i] * (cycle / jobs) / source->mean_gap;
    }
    double u = bal_rng_uniform(&source->rng) * cycle;
    while (source->state + 1 < source->states && u >= source->stay[source->state])
        u -= source->stay[source->state++];
    source->left = bal_rng_exp(&source->rng) * source->stay[source->state];
}

void bli_arrival_source_init(struct bli_arrival_source *source, const struct bli_arrivals *arrivals,
                             double mean_gap, const struct bal_rng *rng) {
    *source = (struct bli_arrival_source){.rng = *rng,
                                          .kind = bli_arrivals_are_poisson(arrivals) ? BLI_ARRIVALS_POISSON
                                                                                     : arrivals->kind,
                                          .mean_gap = mean_gap,
                                          .first = true};
    switch (source->kind) {
    case BLI_ARRIVALS_POISSON:
        return;
    case BLI_ARRIVALS_MMPP:
        start_mmpp(source, arrivals);
        return;
    case BLI_ARRIVALS_RENEWAL:
        source->gap = arrivals->gap;
        bli_dist_scale(&source->gap, mean_gap / arrivals->gap.mean);
        return;
    case BLI_ARRIVALS_BATCH:
        source->batch = arrivals->batch;
        source->mean_gap = arrivals->batch.mean * mean_gap;
        return;
    }
}

/* An exponential variable of mean 1 is the number of jobs expected until the next one: it is used up at the
 * rate of each state. */
static double next_of_mmpp(struct bli_arrival_source *source) {
    double jobs = bal_rng_exp(&source->rng), time = 0;
    while (jobs > source->left * source->rate[source->state]) {
        jobs -= source->left * source->rate[source->state];
        time += source->left;
        source->state = source->state + 1 < source->states ? source->state + 1 : 0;
        source->left = bal_rng_exp(&source->rng) * source->stay[source->state];
    }
    const double rest = jobs > 0 ? jobs / source->rate[source->state] : 0;
    source->left -= rest;
    return time + rest;
}

static double next_of_batch(struct bli_arrival_source *source) {
    if (source->more > 0) {
        source->more--;
        source->first = false;
        return 0;
    }
    double gap = 0;
    uint32_t jobs;
    do {
        gap += bal_rng_exp(&source->rng) * source->mean_gap;
        jobs = bli_batch_sample(&source->batch, &source->rng);
    } while (jobs == 0);
    source->more = jobs - 1;
    source->first = true;
    return gap;
}

double bli_arrival_source_next(struct bli_arrival_source *source, double now) {
    switch (source->kind) {
    case BLI_ARRIVALS_POISSON:
        return now + bal_rng_exp(&source->rng) * source->mean_gap;
    case BLI_ARRIVALS_MMPP:
        return now + next_of_mmpp(source);
    case BLI_ARRIVALS_RENEWAL:
        return now + bli_dist_sample(&source->gap, &source->rng);
    case BLI_ARRIVALS_BATCH:
        return now + next_of_batch(source);
    }
    assert(false); /* arrivals of no kind */
    return INFINITY;
}
