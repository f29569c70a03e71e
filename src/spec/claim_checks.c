/* SPDX-License-Identifier: BSD-2-Clause */
/* The checks of claims: what is measured of which policies at which points, and what is expected. */
#include "spec/claim_checks.h"

#include "ballast/number.h"
#include "spec/claim_words.h"

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
    else if (other_side && strcmp(text, "bound-3") == 0)
        operand->reference = BAL_REFERENCE_CUT;
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

/* other: the side from which missing values are taken; NULL for the first side. */
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

/* Where the first side is fixed to a value of an axis, the claim is about that value only. */
static enum bal_code narrow_to_fixed(struct bal_reader *reader, int node, struct bal_check *check) {
    for (size_t a = 0; a < reader->e->axes; a++) {
        if (check->of.fixed[a] < 0)
            continue;
        if (check->along == (int)a)
            return bal_reader_fail(reader, node, "of", BAL_E_MODEL,
                                   "it is fixed at a value of the axis that it goes along");
        bool *flag = bal_reader_take(reader, reader->e->axis[a].count, sizeof *flag);
        if (!flag)
            return BAL_E_MEMORY;
        flag[check->of.fixed[a]] = true;
        check->where.value[a] = flag;
    }
    return BAL_OK;
}

static bool needs_other(enum bal_measure measure) {
    return measure == BAL_MEASURE_RATIO || measure == BAL_MEASURE_DIFFERENCE ||
           measure == BAL_MEASURE_CROSSING || measure == BAL_MEASURE_LIMIT;
}

static enum bal_code read_sides(struct bal_reader *reader, int map, struct bal_check *check) {
    struct bal_quantity quantity = {.metric = BAL_RESPONSE_MEAN};
    const int metric = bal_node_get(reader->document, map, "metric");
    const int of = bal_node_get(reader->document, map, "of"), to = bal_node_get(reader->document, map, "to");
    if (!of)
        return bal_reader_lacks(reader, map, "claims", "of", "the label of a policy");
    enum bal_code code = metric ? bal_reader_quantity(reader, metric, "metric", &quantity) : BAL_OK;
    if (!code)
        code = read_operand(reader, of, "of", NULL, quantity, &check->of);
    if (code)
        return code;
    if (!to && needs_other(check->measure))
        return bal_reader_fail(reader, map, "claims", BAL_E_SYNTAX,
                               "measure '%s' needs `to`: what it is compared with",
                               bal_measures[check->measure]);
    if (to && !needs_other(check->measure) && check->measure != BAL_MEASURE_CRITICAL)
        return bal_reader_fail(reader, to, "to", BAL_E_MODEL, "measure '%s' compares nothing; leave `to` out",
                               bal_measures[check->measure]);
    check->compares = to != 0;
    if (to)
        code = read_operand(reader, to, "to", &check->of, check->of.quantity, &check->to);
    if (!code && to && check->to.reference == BAL_REFERENCE_FLOOR &&
        check->to.quantity.metric != BAL_RESPONSE_MEAN)
        code = bal_reader_fail(reader, to, "to", BAL_E_MODEL,
                               "the floor is one of response.mean; use that metric");
    if (!code && to && check->measure == BAL_MEASURE_CRITICAL &&
        (check->to.reference == BAL_REFERENCE_FLOOR || check->to.reference == BAL_REFERENCE_BOUND ||
         check->to.reference == BAL_REFERENCE_CUT))
        code = bal_reader_fail(
            reader, to, "to", BAL_E_MODEL,
            "a critical value is compared with that of a policy, with `theory` or with a number");
    return code;
}

/* ---- what is expected ---- */

static enum bal_code read_verdict(struct bal_reader *reader, int node, struct bal_check *check) {
    const bool is_text = bal_node_kind(reader->document, node) == BAL_NODE_TEXT;
    const char *text = is_text ? bal_node_text(reader->document, node) : "";
    const bool stable = strcmp(text, "stable") == 0;
    if (!stable && strcmp(text, "unstable") != 0)
        return bal_reader_fail(reader, node, "expect", BAL_E_SYNTAX,
                               "of a verdict `stable` or `unstable` can be expected");
    check->verdict = stable ? BAL_STABLE : BAL_UNSTABLE;
    check->expected = bal_verdict_text(check->verdict);
    return BAL_OK;
}

static void print_short(double value, char text[BAL_NUMBER_TEXT]) {
    bal_number_print(value, text);
    if (strlen(text) > 8)
        snprintf(text, BAL_NUMBER_TEXT, "%.6g", value);
}

/* "at most 1.1", "0.9 to 1.1" */
static void print_bounds(const struct bal_check *check, char *text, size_t size) {
    char low[BAL_NUMBER_TEXT], high[BAL_NUMBER_TEXT];
    print_short(check->low, low);
    print_short(check->high, high);
    if (check->low == check->high)
        snprintf(text, size, "%s", low);
    else if (isinf(check->low))
        snprintf(text, size, "at most %s", high);
    else if (isinf(check->high))
        snprintf(text, size, "at least %s", low);
    else
        snprintf(text, size, "%s to %s", low, high);
}

static enum bal_code set_expected(struct bal_reader *reader, struct bal_check *check, const char *text) {
    check->expected = bal_arena_text(reader->arena, text, strlen(text));
    return check->expected ? BAL_OK
                           : bal_fail(reader->err, BAL_E_MEMORY, "not enough memory for the experiment");
}

/* near: 2.66, within: 1% */
static enum bal_code expect_near(struct bal_reader *reader, double near, double within,
                                 struct bal_check *check) {
    char value[BAL_NUMBER_TEXT], percent[BAL_NUMBER_TEXT], text[120];
    check->low = near - fabs(near) * within;
    check->high = near + fabs(near) * within;
    print_short(near, value);
    print_short(100 * within, percent);
    snprintf(text, sizeof text, "%s \u00b1 %s %%", value, percent);
    return set_expected(reader, check, text);
}

/* least: 1, most: 2 */
static enum bal_code expect_between(struct bal_reader *reader, int node, struct bal_check *check) {
    char text[120];
    if (isinf(check->low) && isinf(check->high))
        return bal_reader_fail(
            reader, node, "expect", BAL_E_SYNTAX,
            "nothing is expected: give `least` or `most`, `near` and `within`, `printed` or "
            "`word`");
    if (!(check->low <= check->high))
        return bal_reader_fail(reader, node, "expect", BAL_E_RANGE,
                               "`least` is %g and `most` is %g; nothing lies between them", check->low,
                               check->high);
    print_bounds(check, text, sizeof text);
    return set_expected(reader, check, text);
}

/* printed: 4.37; what is evaluated rounds to it, what is simulated is within a unit of its last digit. */
static enum bal_code expect_printed(struct bal_reader *reader, int node, const char *printed,
                                    struct bal_check *check) {
    double value;
    char text[120], unit[BAL_NUMBER_TEXT];
    if (!bal_field_number(printed, &value))
        return bal_reader_fail(reader, node, "printed", BAL_E_SYNTAX, "'%.40s' is not a number", printed);
    const char *point = strchr(printed, '.');
    const double last = point ? pow(10, -(double)strlen(point + 1)) : 1;
    const double reach = check->evidence == BAL_EVIDENCE_RUNS ? last : last / 2;
    check->low = value - reach;
    check->high = value + reach;
    print_short(reach, unit);
    snprintf(text, sizeof text, "%s as printed, \u00b1 %s", printed, unit);
    return set_expected(reader, check, text);
}

/* word: close */
static enum bal_code expect_word(struct bal_reader *reader, int node, const char *name,
                                 struct bal_check *check) {
    char text[120], bounds[80];
    const struct bal_claim_word *word = bal_claim_word_find(name);
    const struct bal_word_range *span = word ? bal_claim_word_range(word, check->measure) : NULL;
    if (!word || !span)
        return bal_reader_fail(reader, node, "word", BAL_E_UNKNOWN,
                               word ? "'%.40s' says nothing about measure '%s'"
                                    : "'%.40s' has no reading (measure '%s'); docs/papers.md lists the words",
                               name, bal_measures[check->measure]);
    check->low = span->low;
    check->high = span->high;
    print_bounds(check, bounds, sizeof bounds);
    snprintf(text, sizeof text, "%s: %s", name, bounds);
    return set_expected(reader, check, text);
}

static enum bal_code read_bounds(struct bal_reader *reader, int node, struct bal_check *check) {
    if (bal_node_kind(reader->document, node) != BAL_NODE_MAP)
        return bal_reader_fail(reader, node, "expect", BAL_E_SYNTAX,
                               "this should be bounds, such as {most: 1.1} or {near: 2.66, within: 1%%}");
    const double near = bal_reader_number(reader, node, "near", NAN);
    const double within = bal_reader_number(reader, node, "within", NAN);
    const char *printed = bal_reader_line(reader, node, "printed"),
               *word = bal_reader_line(reader, node, "word");
    check->low = bal_reader_number(reader, node, "least", -INFINITY);
    check->high = bal_reader_number(reader, node, "most", INFINITY);
    const bool bounds = isfinite(check->low) || isfinite(check->high);
    if (isnan(near) != isnan(within))
        return bal_reader_fail(reader, node, "expect", BAL_E_SYNTAX, "`near` and `within` belong together");
    if (bounds + !isnan(near) + (printed != NULL) + (word != NULL) > 1)
        return bal_reader_fail(
            reader, node, "expect", BAL_E_SYNTAX,
            "give `least` and `most`, `near` and `within`, `printed` or `word`, and one of "
            "them only");
    return printed        ? expect_printed(reader, node, printed, check)
           : word         ? expect_word(reader, node, word, check)
           : !isnan(near) ? expect_near(reader, near, within, check)
                          : expect_between(reader, node, check);
}

/* A limit is expected to be what it is compared with. */
static enum bal_code expect_limit(struct bal_reader *reader, int node, struct bal_check *check) {
    char text[120], number[BAL_NUMBER_TEXT];
    if (node)
        return bal_reader_fail(reader, node, "expect", BAL_E_MODEL,
                               "a limit is what `to` says; leave `expect` out");
    print_short(check->to.number, number);
    snprintf(text, sizeof text, "the limit is %s",
             check->to.reference == BAL_REFERENCE_NUMBER ? number : "that of theory");
    return set_expected(reader, check, text);
}

/* ---- along an axis ---- */

static bool goes_along(enum bal_measure measure) {
    return measure == BAL_MEASURE_EXPONENT || measure == BAL_MEASURE_SLOPE ||
           measure == BAL_MEASURE_CRITICAL || measure == BAL_MEASURE_CROSSING || measure == BAL_MEASURE_LIMIT;
}

static bool is_fit(enum bal_measure measure) {
    return measure == BAL_MEASURE_EXPONENT || measure == BAL_MEASURE_SLOPE;
}

static enum bal_code read_along(struct bal_reader *reader, int map, struct bal_check *check) {
    const int node = bal_node_get(reader->document, map, "along");
    check->along = -1;
    check->slack = bal_reader_flag(reader, map, "slack", false);
    if (!goes_along(check->measure))
        return node ? bal_reader_fail(reader, node, "along", BAL_E_MODEL,
                                      "measure '%s' goes along no axis; leave it out",
                                      bal_measures[check->measure])
                    : BAL_OK;
    if (!node)
        return bal_reader_fail(reader, map, "claims", BAL_E_SYNTAX,
                               "measure '%s' needs `along`: the axis that it goes along",
                               bal_measures[check->measure]);
    const enum bal_code code = bal_reader_axis(reader, node, "along", &check->along);
    if (!code && !reader->e->axis[check->along].numeric)
        return bal_reader_fail(reader, node, "along", BAL_E_MODEL,
                               "the values of this axis must be numbers in increasing order");
    return code;
}

/* A fit needs two points at least, an extrapolation three, and logarithms and powers need positive numbers.
 */
static enum bal_code check_along(struct bal_reader *reader, int map, const struct bal_check *check) {
    const bool limit = check->measure == BAL_MEASURE_LIMIT;
    if (!is_fit(check->measure) && !limit)
        return BAL_OK;
    const struct bal_sweep_axis *axis = &reader->e->axis[check->along];
    size_t points = 0;
    for (size_t i = 0; i < axis->count; i++) {
        if (!check->where.value[check->along][i])
            continue;
        points++;
        const double x = axis->value[i].number;
        if (!(x > 0) || (check->slack && !(x < 1)))
            return bal_reader_fail(reader, map, "claims", BAL_E_RANGE,
                                   "%s=%g cannot be part of a fit; values must be above 0%s", axis->name, x,
                                   check->slack ? " and, with slack, below 1" : "");
    }
    if (points < (limit ? 3 : 2))
        return bal_reader_fail(reader, map, "claims", BAL_E_RANGE,
                               "a %s along '%s' needs %s values of it at least", limit ? "limit" : "fit",
                               axis->name, limit ? "three" : "two");
    return BAL_OK;
}

enum bal_code bal_read_check(struct bal_reader *reader, int map, enum bal_evidence evidence,
                             struct bal_check *check) {
    struct bal_document *document = reader->document;
    *check = (struct bal_check){
        .evidence = evidence,
        .measure =
            (enum bal_measure)bal_reader_choice(reader, map, "measure", bal_measures, BAL_MEASURE_VALUE),
        .over = (enum bal_over)bal_reader_choice(reader, map, "over", bal_overs, BAL_OVER_EACH),
    };
    const int among = bal_node_get(document, map, "among"), expect = bal_node_get(document, map, "expect");
    if (among && check->measure != BAL_MEASURE_RANK)
        return bal_reader_fail(reader, among, "among", BAL_E_MODEL,
                               "only a rank is taken among policies; leave it out");
    enum bal_code code = read_along(reader, map, check);
    if (!code)
        code =
            bal_reader_selection(reader, bal_node_get(document, map, "where"), among, "among", &check->where);
    if (!code)
        code = read_sides(reader, map, check);
    if (!code)
        code = narrow_to_fixed(reader, bal_node_get(document, map, "of"), check);
    if (!code)
        code = check_along(reader, map, check);
    if (code)
        return code;
    const bool ordered = check->over == BAL_OVER_LARGEST || check->over == BAL_OVER_SMALLEST;
    const bool verdict = check->measure == BAL_MEASURE_VERDICT, limit = check->measure == BAL_MEASURE_LIMIT;
    if (ordered && (verdict || limit))
        return bal_reader_fail(reader, map, "over", BAL_E_MODEL,
                               "of %s there is no largest or smallest; use each or some",
                               verdict ? "verdicts" : "limits");
    if (!expect && !limit)
        return bal_reader_lacks(reader, map, "claims", "expect", "bounds, such as {most: 1.1}");
    return verdict ? read_verdict(reader, expect, check)
           : limit ? expect_limit(reader, expect, check)
                   : read_bounds(reader, expect, check);
}
