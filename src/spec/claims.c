/* The claims that an experiment makes. */
#include "spec/reader.h"

#include "ballast/number.h"

#include <math.h>
#include <string.h>

/* ---- the two sides ---- */

static enum bal_code read_reference(struct bal_reader *reader, int node, const char *field, bool other_side,
                                    struct bal_operand *operand) {
    const char *text = bal_node_text(reader->document, node);
    operand->reference = BAL_REFERENCE_POLICY;
    if (other_side && strcmp(text, "theory") == 0)
        operand->reference = BAL_REFERENCE_THEORY;
    else if (other_side && strcmp(text, "bound") == 0)
        operand->reference = BAL_REFERENCE_BOUND;
    else if (other_side && strcmp(text, "floor") == 0)
        operand->reference = BAL_REFERENCE_FLOOR;
    else if (other_side && bal_field_number(text, &operand->number))
        operand->reference = BAL_REFERENCE_NUMBER;
    else
        return bal_reader_policy(reader, node, field, &operand->policy);
    return BAL_OK;
}

/* at: {load: 0.5} */
static enum bal_code read_at(struct bal_reader *reader, int at, struct bal_operand *operand) {
    for (size_t i = 0; at && i < bal_node_count(reader->document, at); i++) {
        const int key = bal_node_key(reader->document, at, i);
        int axis = 0;
        if (bal_node_kind(reader->document, key) != BAL_NODE_TEXT)
            return bal_reader_fail(reader, key, "at", BAL_E_SYNTAX, "an axis must have a plain name");
        enum bal_code code = bal_reader_axis(reader, key, "at", &axis);
        if (!code)
            code = bal_reader_value(reader, bal_node_value(reader->document, at, i), axis,
                                    &operand->fixed[axis]);
        if (code)
            return code;
    }
    return BAL_OK;
}

/* other: what it takes over from the other side where it says nothing; NULL for the first side. */
static enum bal_code read_operand(struct bal_reader *reader, int node, const char *field,
                                  const struct bal_operand *other, struct bal_quantity quantity,
                                  struct bal_operand *operand) {
    *operand = (struct bal_operand){.quantity = quantity, .policy = other ? other->policy : 0};
    for (int a = 0; a < BAL_AXES_MAX; a++)
        operand->fixed[a] = -1;
    if (bal_node_kind(reader->document, node) == BAL_NODE_TEXT)
        return read_reference(reader, node, field, other, operand);
    const int policy = bal_node_get(reader->document, node, "policy");
    const int metric = bal_node_get(reader->document, node, "metric");
    if (!policy && !other)
        return bal_reader_lacks(reader, node, field, "policy", "the label of a policy");
    enum bal_code code = policy ? read_reference(reader, policy, "policy", other, operand) : BAL_OK;
    if (!code && metric)
        code = bal_reader_quantity(reader, metric, "metric", &operand->quantity);
    return code ? code : read_at(reader, bal_node_get(reader->document, node, "at"), operand);
}

/* Where the first side is fixed to a value of an axis, the claim speaks of that value alone. */
static enum bal_code narrow(struct bal_reader *reader, int node, struct bal_claim *claim) {
    for (size_t a = 0; a < reader->e->axes; a++) {
        if (claim->of.fixed[a] < 0)
            continue;
        if (claim->along == (int)a)
            return bal_reader_fail(reader, node, "of", BAL_E_MODEL,
                                   "it is fixed at a value of the axis that it goes along");
        bool *flag = bal_reader_take(reader, reader->e->axis[a].count, sizeof *flag);
        if (!flag)
            return BAL_E_MEMORY;
        flag[claim->of.fixed[a]] = true;
        claim->where.value[a] = flag;
    }
    return BAL_OK;
}

static bool needs_other(enum bal_measure measure) {
    return measure == BAL_MEASURE_RATIO || measure == BAL_MEASURE_DIFFERENCE ||
           measure == BAL_MEASURE_CROSSING;
}

static enum bal_code read_sides(struct bal_reader *reader, int map, struct bal_claim *claim) {
    struct bal_quantity quantity = {.metric = BAL_RESPONSE_MEAN};
    const int metric = bal_node_get(reader->document, map, "metric");
    const int of = bal_node_get(reader->document, map, "of"), to = bal_node_get(reader->document, map, "to");
    enum bal_code code = metric ? bal_reader_quantity(reader, metric, "metric", &quantity) : BAL_OK;
    if (!code)
        code = read_operand(reader, of, "of", NULL, quantity, &claim->of);
    if (code)
        return code;
    if (!to && needs_other(claim->measure))
        return bal_reader_fail(reader, map, "claims", BAL_E_SYNTAX,
                               "measure '%s' needs `to`: what it is compared with",
                               bal_measures[claim->measure]);
    if (to && !needs_other(claim->measure) && claim->measure != BAL_MEASURE_CRITICAL)
        return bal_reader_fail(reader, to, "to", BAL_E_MODEL, "measure '%s' compares nothing; leave `to` out",
                               bal_measures[claim->measure]);
    claim->compares = to != 0;
    if (to)
        code = read_operand(reader, to, "to", &claim->of, claim->of.quantity, &claim->to);
    if (!code && to && claim->to.reference == BAL_REFERENCE_FLOOR &&
        claim->to.quantity.metric != BAL_RESPONSE_MEAN)
        code = bal_reader_fail(reader, to, "to", BAL_E_MODEL,
                               "the floor is one of response.mean; use that metric");
    if (!code && to && claim->measure == BAL_MEASURE_CRITICAL &&
        (claim->to.reference == BAL_REFERENCE_FLOOR || claim->to.reference == BAL_REFERENCE_BOUND))
        code = bal_reader_fail(
            reader, to, "to", BAL_E_MODEL,
            "a critical value is compared with that of a policy, with `theory` or with a number");
    return code;
}

/* ---- what is expected ---- */

static enum bal_code read_verdict(struct bal_reader *reader, int node, struct bal_claim *claim) {
    const bool is_text = bal_node_kind(reader->document, node) == BAL_NODE_TEXT;
    const char *text = is_text ? bal_node_text(reader->document, node) : "";
    const bool stable = strcmp(text, "stable") == 0;
    if (!stable && strcmp(text, "unstable") != 0)
        return bal_reader_fail(reader, node, "expect", BAL_E_SYNTAX,
                               "of a verdict `stable` or `unstable` can be expected");
    claim->verdict = stable ? BAL_STABLE : BAL_UNSTABLE;
    claim->expected = bal_verdict_text(claim->verdict);
    return BAL_OK;
}

static void print_short(double value, char text[BAL_NUMBER_TEXT]) {
    bal_number_print(value, text);
    if (strlen(text) > 8)
        snprintf(text, BAL_NUMBER_TEXT, "%.6g", value);
}

static const char *describe(struct bal_reader *reader, const struct bal_claim *claim, double near,
                            double within) {
    char low[BAL_NUMBER_TEXT], high[BAL_NUMBER_TEXT], value[BAL_NUMBER_TEXT], percent[BAL_NUMBER_TEXT],
        text[120];
    print_short(claim->low, low);
    print_short(claim->high, high);
    print_short(near, value);
    print_short(100 * within, percent);
    if (!isnan(near))
        snprintf(text, sizeof text, "%s \u00b1 %s %%", value, percent);
    else if (claim->low == claim->high)
        snprintf(text, sizeof text, "%s", low);
    else if (isinf(claim->low))
        snprintf(text, sizeof text, "at most %s", high);
    else if (isinf(claim->high))
        snprintf(text, sizeof text, "at least %s", low);
    else
        snprintf(text, sizeof text, "%s to %s", low, high);
    return bal_arena_text(reader->arena, text, strlen(text));
}

static enum bal_code read_bounds(struct bal_reader *reader, int node, struct bal_claim *claim) {
    if (bal_node_kind(reader->document, node) != BAL_NODE_MAP)
        return bal_reader_fail(reader, node, "expect", BAL_E_SYNTAX,
                               "this should be bounds, such as {most: 1.1} or {near: 2.66, within: 1%%}");
    const double near = bal_reader_number(reader, node, "near", NAN);
    const double within = bal_reader_number(reader, node, "within", NAN);
    claim->low = bal_reader_number(reader, node, "least", -INFINITY);
    claim->high = bal_reader_number(reader, node, "most", INFINITY);
    if (isnan(near) != isnan(within))
        return bal_reader_fail(reader, node, "expect", BAL_E_SYNTAX, "`near` and `within` belong together");
    if (!isnan(near) && (isfinite(claim->low) || isfinite(claim->high)))
        return bal_reader_fail(reader, node, "expect", BAL_E_SYNTAX,
                               "give `least` and `most`, or `near` and `within`, not both");
    if (isnan(near) && isinf(claim->low) && isinf(claim->high))
        return bal_reader_fail(reader, node, "expect", BAL_E_SYNTAX,
                               "nothing is expected: give `least` or `most`, or `near` and `within`");
    if (!isnan(near)) {
        claim->low = near - fabs(near) * within;
        claim->high = near + fabs(near) * within;
    }
    if (!(claim->low <= claim->high))
        return bal_reader_fail(reader, node, "expect", BAL_E_RANGE,
                               "`least` is %g and `most` is %g; nothing lies between them", claim->low,
                               claim->high);
    claim->expected = describe(reader, claim, near, within);
    return claim->expected ? BAL_OK
                           : bal_fail(reader->err, BAL_E_MEMORY, "not enough memory for the experiment");
}

/* ---- along an axis ---- */

static bool goes_along(enum bal_measure measure) {
    return measure == BAL_MEASURE_EXPONENT || measure == BAL_MEASURE_SLOPE ||
           measure == BAL_MEASURE_CRITICAL || measure == BAL_MEASURE_CROSSING;
}

static bool is_fit(enum bal_measure measure) {
    return measure == BAL_MEASURE_EXPONENT || measure == BAL_MEASURE_SLOPE;
}

static enum bal_code read_along(struct bal_reader *reader, int map, struct bal_claim *claim) {
    const int node = bal_node_get(reader->document, map, "along");
    claim->along = -1;
    claim->slack = bal_reader_flag(reader, map, "slack", false);
    if (!goes_along(claim->measure))
        return node ? bal_reader_fail(reader, node, "along", BAL_E_MODEL,
                                      "measure '%s' goes along no axis; leave it out",
                                      bal_measures[claim->measure])
                    : BAL_OK;
    if (!node)
        return bal_reader_fail(reader, map, "claims", BAL_E_SYNTAX,
                               "measure '%s' needs `along`: the axis that it goes along",
                               bal_measures[claim->measure]);
    const enum bal_code code = bal_reader_axis(reader, node, "along", &claim->along);
    if (!code && !reader->e->axis[claim->along].numeric)
        return bal_reader_fail(reader, node, "along", BAL_E_MODEL,
                               "the values of this axis must be numbers in increasing order");
    return code;
}

/* A fit needs two points at least, and logarithms need positive numbers. */
static enum bal_code check_along(struct bal_reader *reader, int map, const struct bal_claim *claim) {
    if (!is_fit(claim->measure))
        return BAL_OK;
    const struct bal_sweep_axis *axis = &reader->e->axis[claim->along];
    size_t points = 0;
    for (size_t i = 0; i < axis->count; i++) {
        if (!claim->where.value[claim->along][i])
            continue;
        points++;
        const double x = axis->value[i].number;
        if (!(x > 0) || (claim->slack && !(x < 1)))
            return bal_reader_fail(reader, map, "claims", BAL_E_RANGE,
                                   "%s=%g cannot be part of a fit; values must be above 0%s", axis->name, x,
                                   claim->slack ? " and, with slack, below 1" : "");
    }
    if (points < 2)
        return bal_reader_fail(reader, map, "claims", BAL_E_RANGE,
                               "a fit along '%s' needs two values of it at least", axis->name);
    return BAL_OK;
}

static enum bal_code read_claim(struct bal_reader *reader, int map, struct bal_claim *claim) {
    struct bal_document *document = reader->document;
    *claim = (struct bal_claim){
        .id = bal_reader_line(reader, map, "id"),
        .section = bal_reader_line(reader, map, "section"),
        .says = bal_reader_text(reader, map, "says"),
        .finding = bal_node_get(document, map, "finding") != 0,
        .answers = -1,
        .measure =
            (enum bal_measure)bal_reader_choice(reader, map, "measure", bal_measures, BAL_MEASURE_VALUE),
        .over = (enum bal_over)bal_reader_choice(reader, map, "over", bal_overs, BAL_OVER_EACH),
        .line = bal_node_line(document, map),
    };
    const int among = bal_node_get(document, map, "among"), expect = bal_node_get(document, map, "expect");
    if (among && claim->measure != BAL_MEASURE_RANK)
        return bal_reader_fail(reader, among, "among", BAL_E_MODEL,
                               "only a rank is taken among policies; leave it out");
    enum bal_code code = read_along(reader, map, claim);
    if (!code)
        code =
            bal_reader_selection(reader, bal_node_get(document, map, "where"), among, "among", &claim->where);
    if (!code)
        code = read_sides(reader, map, claim);
    if (!code)
        code = narrow(reader, bal_node_get(document, map, "of"), claim);
    if (!code)
        code = check_along(reader, map, claim);
    if (code)
        return code;
    const bool ordered = claim->over == BAL_OVER_LARGEST || claim->over == BAL_OVER_SMALLEST;
    if (claim->measure != BAL_MEASURE_VERDICT)
        return read_bounds(reader, expect, claim);
    if (ordered)
        return bal_reader_fail(reader, map, "over", BAL_E_MODEL,
                               "of verdicts there is no largest or smallest; use each or some");
    return read_verdict(reader, expect, claim);
}

/* ---- all of them ---- */

/* A claim of the paper by its id; -1: none. */
static int find_claim(const struct bal_experiment *e, const char *id) {
    for (size_t i = 0; i < e->claims; i++)
        if (!e->claim[i].finding && strcmp(e->claim[i].id, id) == 0)
            return (int)i;
    return -1;
}

/* finding: ID; the claim may stand before it or behind it. */
static enum bal_code read_answer(struct bal_reader *reader, int map, struct bal_claim *claim) {
    const char *id = bal_reader_line(reader, map, "finding");
    if (!id || strcmp(id, "yes") == 0)
        return BAL_OK;
    claim->answers = find_claim(reader->e, id);
    if (claim->answers >= 0)
        return BAL_OK;
    return bal_reader_fail(reader, bal_node_get(reader->document, map, "finding"), "finding", BAL_E_UNKNOWN,
                           "there is no claim '%s' that it could answer; name one of this file, or say `yes`",
                           id);
}

static enum bal_code read_answers(struct bal_reader *reader, int list, struct bal_claim *claims) {
    size_t claim = 0;
    for (size_t i = 0; i < bal_reader_count(reader, list); i++) {
        const int map = bal_reader_item(reader, list, i);
        if (bal_reader_is_elsewhere(reader, map))
            continue;
        const enum bal_code code = read_answer(reader, map, &claims[claim++]);
        if (code)
            return code;
    }
    return BAL_OK;
}

enum bal_code bal_read_claims(struct bal_reader *reader) {
    struct bal_experiment *e = reader->e;
    const int list = bal_node_get(reader->document, reader->root, "claims");
    const size_t count = bal_reader_count(reader, list);
    struct bal_claim *claims = bal_reader_take(reader, count, sizeof *claims);
    if (!claims)
        return BAL_E_MEMORY;
    e->claim = claims;
    for (size_t i = 0; i < count; i++) {
        const int map = bal_reader_item(reader, list, i);
        if (bal_reader_is_elsewhere(reader, map))
            continue;
        const enum bal_code code = read_claim(reader, map, &claims[e->claims]);
        if (code)
            return code;
        for (size_t j = 0; j < e->claims; j++)
            if (strcmp(claims[j].id, claims[e->claims].id) == 0)
                return bal_reader_fail(reader, map, "id", BAL_E_RANGE,
                                       "'%s' is there twice; give each claim its own", claims[j].id);
        e->claims++;
    }
    return read_answers(reader, list, claims);
}
