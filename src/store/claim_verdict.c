/* SPDX-License-Identifier: BSD-2-Clause */
/* Judging claims.
 *
 * A claim speaks of places: the points that it selects, or, when it goes along an axis, the lines of points
 * along it. At each place something is measured as an interval, and the interval lies inside what is
 * expected, outside of it, or across its edge: the claim holds, does not hold, or is undecided there. With m
 * places the intervals have confidence 1 - 0.05/m each, so that all of them hold together with 95 %
 * (Bonferroni). A claim of several checks holds where all of them do; one that fails decides, then one that
 * is undecided. */
#include "store/claim_value.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>

const char *bli_judgement_text(enum bli_judgement judgement) {
    static const char *const texts[] = {"undecided", "holds", "does not hold"};
    return texts[judgement];
}

/* A limit holds where it lies inside the extrapolation, or nearer to it than one part in a hundred of what is
 * spoken of, and the extrapolation is not wider than a tenth of that. No finite number of servers refutes a
 * limit that values still approach. */
static enum bli_judgement limit_verdict(const struct bli_claim_value *m) {
    const double off = fmax(m->low - m->target, m->target - m->high);
    if (off > 0.01 * m->scale)
        return m->stuck ? BLI_CLAIM_FAILS : BLI_CLAIM_UNDECIDED;
    return m->high - m->low > 0.2 * m->scale ? BLI_CLAIM_UNDECIDED : BLI_CLAIM_HOLDS;
}

static enum bli_judgement place_verdict(const struct bli_check *check, const struct bli_claim_value *m) {
    if (m->unknown)
        return BLI_CLAIM_UNDECIDED;
    if (check->measure == BLI_MEASURE_LIMIT)
        return limit_verdict(m);
    if (check->measure == BLI_MEASURE_VERDICT)
        return m->verdict == BLI_UNDECIDED    ? BLI_CLAIM_UNDECIDED
               : m->verdict == check->verdict ? BLI_CLAIM_HOLDS
                                              : BLI_CLAIM_FAILS;
    /* What is evaluated is as exact as its last digits. */
    const double slack = check->evidence == BLI_EVIDENCE_RUNS ? 0 : 1e-9 * fabs(m->value);
    if (m->low >= check->low - slack && m->high <= check->high + slack)
        return BLI_CLAIM_HOLDS;
    return m->high < check->low || m->low > check->high ? BLI_CLAIM_FAILS : BLI_CLAIM_UNDECIDED;
}

/* How far inside the expectation it lies; the smallest is shown. */
static double expectation_margin(const struct bli_check *check, const struct bli_claim_value *m) {
    if (check->measure == BLI_MEASURE_LIMIT)
        return -fmax(m->low - m->target, m->target - m->high) / m->scale;
    const double above = isinf(check->low) ? INFINITY : m->low - check->low;
    const double below = isinf(check->high) ? INFINITY : check->high - m->high;
    return fmin(above, below);
}

/* What was found so far. */
struct outcome {
    bool any;
    enum bli_judgement judgement;
    struct bli_claim_value shown;
    size_t point;
    unsigned doubts; /* at any place */
};

/* `each`: one failure decides, then one doubt; `some`: one success decides, then one doubt. Larger is more
 * decisive. */
static int decisiveness(const struct bli_check *check, enum bli_judgement judgement) {
    const enum bli_judgement decisive = check->over == BLI_OVER_SOME ? BLI_CLAIM_HOLDS : BLI_CLAIM_FAILS;
    return judgement == decisive ? 2 : judgement == BLI_CLAIM_UNDECIDED ? 1 : 0;
}

static void add_each(const struct bli_check *check, struct outcome *o, const struct bli_claim_value *m,
                     size_t point) {
    const enum bli_judgement judgement = place_verdict(check, m);
    const int now = decisiveness(check, judgement), before = decisiveness(check, o->judgement);
    const bool closer = now == before && expectation_margin(check, m) < expectation_margin(check, &o->shown);
    if (!o->any || now > before || closer)
        *o = (struct outcome){true, judgement, *m, point, o->doubts};
}

/* The largest or smallest value lies between the largest or smallest bounds. */
static void add_extreme(const struct bli_check *check, struct outcome *o, const struct bli_claim_value *m,
                        size_t point) {
    if (!o->any || o->shown.unknown || m->unknown) {
        if (!o->any || m->unknown)
            *o = (struct outcome){true, BLI_CLAIM_UNDECIDED, *m, point, o->doubts};
        o->judgement = place_verdict(check, &o->shown);
        return;
    }
    const bool largest = check->over == BLI_OVER_LARGEST;
    double (*const pick)(double, double) = largest ? fmax : fmin;
    if (largest ? m->value > o->shown.value : m->value < o->shown.value)
        o->point = point;
    o->shown.value = pick(o->shown.value, m->value);
    o->shown.low = pick(o->shown.low, m->low);
    o->shown.high = pick(o->shown.high, m->high);
    o->judgement = place_verdict(check, &o->shown);
}

/* Is the point a place of the claim? Of a line along an axis its first point is. */
static bool is_place(const struct bli_experiment *e, const struct bli_check *check, size_t point) {
    if (!bli_selection_has(&check->where, e, point))
        return false;
    if (check->along < 0)
        return true;
    size_t index[BLI_AXES_MAX], first = 0;
    bli_experiment_coordinates(e, point, index);
    while (!check->where.value[check->along][first])
        first++;
    return index[check->along] == first;
}

/* ---- for people ---- */

static void print_number(double value, double scale, char *text, size_t size) {
    if (isinf(value)) {
        snprintf(text, size, value > 0 ? "unbounded" : "below all bounds");
        return;
    }
    if (!(scale > 0) || isinf(scale)) {
        snprintf(text, size, "%.6g", value);
        return;
    }
    const int decimals = 1 - (int)floor(log10(scale));
    snprintf(text, size, "%.*f", decimals < 0 ? 0 : decimals > 9 ? 9 : decimals, value);
}

static bool is_bracket(enum bli_measure measure) {
    return measure == BLI_MEASURE_CRITICAL || measure == BLI_MEASURE_CROSSING || measure == BLI_MEASURE_RANK;
}

static void print_measured(const struct bli_check *check, const struct bli_claim_value *m, char *text,
                           size_t size) {
    char value[40], low[BLI_NUMBER_TEXT], high[BLI_NUMBER_TEXT], half[40];
    const double reach = (m->high - m->low) / 2;
    if (m->unknown) {
        snprintf(text, size, "nothing");
    } else if (check->measure == BLI_MEASURE_VERDICT) {
        snprintf(text, size, "%s", bli_verdict_text(m->verdict));
    } else if (is_bracket(check->measure) && m->low != m->high) {
        print_number(m->low, 0, low, sizeof low); /* of differences only the digits that mean something */
        print_number(m->high, 0, high, sizeof high);
        if (isinf(m->low))
            snprintf(text, size, "below %s", high);
        else if (isinf(m->high))
            snprintf(text, size, "above %s", low);
        else
            snprintf(text, size, "%s to %s", low, high);
    } else if (m->low == m->high) {
        print_number(m->value, 0, value, sizeof value);
        snprintf(text, size, "%s", value);
    } else {
        print_number(m->value, reach, value, sizeof value);
        print_number(reach, reach, half, sizeof half);
        snprintf(text, size, "%s \u00b1 %s", value, half);
    }
}

/* The coordinates of the place, without the axis that the claim goes along. */
static void print_where(const struct bli_experiment *e, const struct bli_check *check, size_t point,
                        char *text, size_t size) {
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(e, point, index);
    size_t used = 0;
    text[0] = 0;
    for (size_t a = 0; a < e->axes && used < size; a++)
        if ((int)a != check->along)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", e->axis[a].name,
                                     e->axis[a].value[index[a]].label);
}

/* What decides is one place, where a claim fails that speaks of each, or holds that speaks of some; else it
 * is all of them. */
static unsigned doubts_of(const struct bli_check *check, const struct outcome *o, bool extreme) {
    if (o->judgement == BLI_CLAIM_UNDECIDED)
        return 0;
    return !extreme && decisiveness(check, o->judgement) == 2 ? o->shown.doubts : o->doubts;
}

static const char *why_undecided(const struct bli_check *check, const struct bli_claim_value *m) {
    if (m->unknown)
        return m->unknown;
    if (check->measure == BLI_MEASURE_VERDICT)
        return "the verdict is undecided; longer runs or more of them decide";
    if (check->measure != BLI_MEASURE_LIMIT)
        return "the interval crosses the edge of what is expected; more replications narrow it";
    return m->low - m->target > 0.01 * m->scale || m->target - m->high > 0.01 * m->scale
               ? "the values still approach it, and lie too far away to tell; larger systems decide"
               : "the extrapolation is wider than a tenth; more replications or larger systems narrow it";
}

static size_t count_places(const struct bli_experiment *e, const struct bli_check *check) {
    size_t places = 0;
    for (size_t point = 0; point < e->points; point++)
        places += is_place(e, check, point);
    return places;
}

/* places: of all checks of the claim together. */
static enum bal_code check_verdict(struct bli_store *store, const struct bli_experiment *experiment,
                                   const struct bli_check *check, size_t places, struct bli_judged *judged,
                                   struct bal_error *err) {
    struct outcome outcome = {
        .shown = {.value = NAN, .low = NAN, .high = NAN, .unknown = "it speaks of no point"}};
    const bool extreme = check->over == BLI_OVER_LARGEST || check->over == BLI_OVER_SMALLEST;
    for (size_t point = 0; point < experiment->points; point++) {
        if (!is_place(experiment, check, point))
            continue;
        struct bli_claim_value m;
        const enum bal_code code = bli_check_measure(store, experiment, check, places, point, &m, err);
        if (code)
            return code;
        outcome.doubts |= m.doubts;
        (extreme ? add_extreme : add_each)(check, &outcome, &m, point);
    }
    const struct bli_claim_value *shown = &outcome.shown;
    *judged = (struct bli_judged){
        .judgement = outcome.judgement,
        .value = shown->value,
        .low = shown->low,
        .high = shown->high,
        .verdict = shown->verdict,
        .doubts = doubts_of(check, &outcome, extreme),
        .check = check,
    };
    print_measured(check, shown, judged->measured, sizeof judged->measured);
    if (experiment->points > 1)
        print_where(experiment, check, outcome.point, judged->where, sizeof judged->where);
    if (outcome.judgement == BLI_CLAIM_UNDECIDED)
        snprintf(judged->why, sizeof judged->why, "%s", why_undecided(check, shown));
    return BAL_OK;
}

static int verdict_severity(enum bli_judgement judgement) {
    return judgement == BLI_CLAIM_FAILS ? 2 : judgement == BLI_CLAIM_UNDECIDED;
}

enum bal_code bli_claim_verdict(struct bli_store *store, const struct bli_experiment *experiment,
                                const struct bli_claim *claim, struct bli_judged *judged,
                                struct bal_error *err) {
    size_t places = 0;
    unsigned doubts = 0;
    for (size_t i = 0; i < claim->checks; i++)
        places += count_places(experiment, &claim->check[i]);
    for (size_t i = 0; i < claim->checks; i++) {
        struct bli_judged one;
        const enum bal_code code = check_verdict(store, experiment, &claim->check[i], places, &one, err);
        if (code)
            return code;
        doubts |= one.doubts;
        if (i == 0 || verdict_severity(one.judgement) > verdict_severity(judged->judgement))
            *judged = one;
    }
    if (judged->judgement == BLI_CLAIM_HOLDS)
        judged->doubts = doubts;
    return BAL_OK;
}
