/* SPDX-License-Identifier: BSD-2-Clause */
/* The checks of claims: what is measured of which policies at which points, and what is expected. */
#include "spec/claim_checks.h"

#include "ballast/number.h"
#include "spec/claim_words.h"

#include <math.h>
#include <string.h>

/* ---- the two sides ---- */

static enum bal_code read_reference(struct bli_reader *reader, int node, const char *field, bool other_side,
                                    struct bli_operand *operand) {
    const char *text = bli_node_text(reader->document, node);
    operand->reference = BLI_REFERENCE_POLICY;
    if (other_side && strcmp(text, "theory") == 0)
        operand->reference = BLI_REFERENCE_THEORY;
    else if (other_side && strcmp(text, "bound") == 0)
        operand->reference = BLI_REFERENCE_BOUND;
    else if (other_side && strcmp(text, "bound-3") == 0)
        operand->reference = BLI_REFERENCE_CUT;
    else if (other_side && strcmp(text, "floor") == 0)
        operand->reference = BLI_REFERENCE_FLOOR;
    else if (other_side && bli_field_number(text, &operand->number))
        operand->reference = BLI_REFERENCE_NUMBER;
    else
        return bli_reader_policy(reader, node, field, &operand->policy);
    return BAL_OK;
}

/* at: {load: 0.5} */
static enum bal_code read_at(struct bli_reader *reader, int at, struct bli_operand *operand) {
    for (size_t i = 0; at && i < bli_node_count(reader->document, at); i++) {
        const int key = bli_node_key(reader->document, at, i);
        int axis = 0;
        if (bli_node_kind(reader->document, key) != BLI_NODE_TEXT)
            return bli_reader_fail(reader, key, "at", BAL_E_SYNTAX, "an axis must have a plain name");
        enum bal_code code = bli_reader_axis(reader, key, "at", &axis);
        if (!code)
            code = bli_reader_value(reader, bli_node_value(reader->document, at, i), axis,
                                    &operand->fixed[axis]);
        if (code)
            return code;
    }
    return BAL_OK;
}

/* other: the side from which missing values are taken; NULL for the first side. */
static enum bal_code read_operand(struct bli_reader *reader, int node, const char *field,
                                  const struct bli_operand *other, struct bli_quantity quantity,
                                  struct bli_operand *operand) {
    *operand = (struct bli_operand){.quantity = quantity, .policy = other ? other->policy : 0};
    for (int a = 0; a < BLI_AXES_MAX; a++)
        operand->fixed[a] = -1;
    if (bli_node_kind(reader->document, node) == BLI_NODE_TEXT)
        return read_reference(reader, node, field, other, operand);
    const int policy = bli_node_get(reader->document, node, "policy");
    const int metric = bli_node_get(reader->document, node, "metric");
    if (!policy && !other)
        return bli_reader_lacks(reader, node, field, "policy", "the label of a policy");
    enum bal_code code = policy ? read_reference(reader, policy, "policy", other, operand) : BAL_OK;
    if (!code && metric)
        code = bli_reader_quantity(reader, metric, "metric", &operand->quantity);
    return code ? code : read_at(reader, bli_node_get(reader->document, node, "at"), operand);
}

/* Where the first side is fixed to a value of an axis, the claim is about that value only. */
static enum bal_code narrow_to_fixed(struct bli_reader *reader, int node, struct bli_check *check) {
    for (size_t a = 0; a < reader->e->axes; a++) {
        if (check->of.fixed[a] < 0)
            continue;
        if (check->along == (int)a)
            return bli_reader_fail(reader, node, "of", BAL_E_MODEL,
                                   "it is fixed at a value of the axis that it goes along");
        bool *flag = bli_reader_take(reader, reader->e->axis[a].count, sizeof *flag);
        if (!flag)
            return BAL_E_MEMORY;
        flag[check->of.fixed[a]] = true;
        check->where.value[a] = flag;
    }
    return BAL_OK;
}

static bool needs_other(enum bli_measure measure) {
    return measure == BLI_MEASURE_RATIO || measure == BLI_MEASURE_DIFFERENCE ||
           measure == BLI_MEASURE_CROSSING || measure == BLI_MEASURE_LIMIT;
}

static enum bal_code read_sides(struct bli_reader *reader, int map, struct bli_check *check) {
    struct bli_quantity quantity = {.metric = BLI_RESPONSE_MEAN};
    const int metric = bli_node_get(reader->document, map, "metric");
    const int of = bli_node_get(reader->document, map, "of"), to = bli_node_get(reader->document, map, "to");
    if (!of)
        return bli_reader_lacks(reader, map, "claims", "of", "the label of a policy");
    enum bal_code code = metric ? bli_reader_quantity(reader, metric, "metric", &quantity) : BAL_OK;
    if (!code)
        code = read_operand(reader, of, "of", NULL, quantity, &check->of);
    if (code)
        return code;
    if (!to && needs_other(check->measure))
        return bli_reader_fail(reader, map, "claims", BAL_E_SYNTAX,
                               "measure '%s' needs `to`: what it is compared with",
                               bli_measures[check->measure]);
    if (to && !needs_other(check->measure) && check->measure != BLI_MEASURE_CRITICAL)
        return bli_reader_fail(reader, to, "to", BAL_E_MODEL, "measure '%s' compares nothing; leave `to` out",
                               bli_measures[check->measure]);
    check->compares = to != 0;
    if (to)
        code = read_operand(reader, to, "to", &check->of, check->of.quantity, &check->to);
    if (!code && to && check->to.reference == BLI_REFERENCE_FLOOR &&
        check->to.quantity.metric != BLI_RESPONSE_MEAN)
        code = bli_reader_fail(reader, to, "to", BAL_E_MODEL,
                               "the floor is one of response.mean; use that metric");
    if (!code && to && check->measure == BLI_MEASURE_CRITICAL &&
        (check->to.reference == BLI_REFERENCE_FLOOR || check->to.reference == BLI_REFERENCE_BOUND ||
         check->to.reference == BLI_REFERENCE_CUT))
        code = bli_reader_fail(
            reader, to, "to", BAL_E_MODEL,
            "a critical value is compared with that of a policy, with `theory` or with a number");
    return code;
}

/* ---- what is expected ---- */

static enum bal_code read_verdict(struct bli_reader *reader, int node, struct bli_check *check) {
    const bool is_text = bli_node_kind(reader->document, node) == BLI_NODE_TEXT;
    const char *text = is_text ? bli_node_text(reader->document, node) : "";
    const bool stable = strcmp(text, "stable") == 0;
    if (!stable && strcmp(text, "unstable") != 0)
        return bli_reader_fail(reader, node, "expect", BAL_E_SYNTAX,
                               "of a verdict `stable` or `unstable` can be expected");
    check->verdict = stable ? BLI_STABLE : BLI_UNSTABLE;
    check->expected = bli_verdict_text(check->verdict);
    return BAL_OK;
}

static void print_short(double value, char text[BLI_NUMBER_TEXT]) {
    bli_number_print(value, text);
    if (strlen(text) > 8)
        snprintf(text, BLI_NUMBER_TEXT, "%.6g", value);
}

/* "at most 1.1", "0.9 to 1.1" */
static void print_bounds(const struct bli_check *check, char *text, size_t size) {
    char low[BLI_NUMBER_TEXT], high[BLI_NUMBER_TEXT];
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

static enum bal_code set_expected(struct bli_reader *reader, struct bli_check *check, const char *text) {
    check->expected = bli_arena_text(reader->arena, text, strlen(text));
    return check->expected ? BAL_OK
                           : bal_fail(reader->err, BAL_E_MEMORY, "not enough memory for the experiment");
}

/* near: 2.66, within: 1% */
static enum bal_code expect_near(struct bli_reader *reader, double near, double within,
                                 struct bli_check *check) {
    char value[BLI_NUMBER_TEXT], percent[BLI_NUMBER_TEXT], text[120];
    check->low = near - fabs(near) * within;
    check->high = near + fabs(near) * within;
    print_short(near, value);
    print_short(100 * within, percent);
    snprintf(text, sizeof text, "%s \u00b1 %s %%", value, percent);
    return set_expected(reader, check, text);
}

/* least: 1, most: 2 */
static enum bal_code expect_between(struct bli_reader *reader, int node, struct bli_check *check) {
    char text[120];
    if (isinf(check->low) && isinf(check->high))
        return bli_reader_fail(
            reader, node, "expect", BAL_E_SYNTAX,
            "nothing is expected: give `least` or `most`, `near` and `within`, `printed` or "
            "`word`");
    if (!(check->low <= check->high))
        return bli_reader_fail(reader, node, "expect", BAL_E_RANGE,
                               "`least` is %g and `most` is %g; nothing lies between them", check->low,
                               check->high);
    print_bounds(check, text, sizeof text);
    return set_expected(reader, check, text);
}

/* printed: 4.37; what is evaluated rounds to it, what is simulated is within a unit of its last digit. */
static enum bal_code expect_printed(struct bli_reader *reader, int node, const char *printed,
                                    struct bli_check *check) {
    double value;
    char text[120], unit[BLI_NUMBER_TEXT];
    if (!bli_field_number(printed, &value))
        return bli_reader_fail(reader, node, "printed", BAL_E_SYNTAX, "'%.40s' is not a number", printed);
    const char *point = strchr(printed, '.');
    const double last = point ? pow(10, -(double)strlen(point + 1)) : 1;
    const double reach = check->evidence == BLI_EVIDENCE_RUNS ? last : last / 2;
    check->low = value - reach;
    check->high = value + reach;
    print_short(reach, unit);
    snprintf(text, sizeof text, "%s as printed, \u00b1 %s", printed, unit);
    return set_expected(reader, check, text);
}

/* word: close */
static enum bal_code expect_word(struct bli_reader *reader, int node, const char *name,
                                 struct bli_check *check) {
    char text[120], bounds[80];
    const struct bli_claim_word *word = bli_claim_word_find(name);
    const struct bli_word_range *span = word ? bli_claim_word_range(word, check->measure) : NULL;
    if (!word || !span)
        return bli_reader_fail(reader, node, "word", BAL_E_UNKNOWN,
                               word ? "'%.40s' says nothing about measure '%s'"
                                    : "'%.40s' has no reading (measure '%s'); docs/papers.md lists the words",
                               name, bli_measures[check->measure]);
    check->low = span->low;
    check->high = span->high;
    print_bounds(check, bounds, sizeof bounds);
    snprintf(text, sizeof text, "%s: %s", name, bounds);
    return set_expected(reader, check, text);
}

static enum bal_code read_bounds(struct bli_reader *reader, int node, struct bli_check *check) {
    if (bli_node_kind(reader->document, node) != BLI_NODE_MAP)
        return bli_reader_fail(reader, node, "expect", BAL_E_SYNTAX,
                               "this should be bounds, such as {most: 1.1} or {near: 2.66, within: 1%%}");
    const double near = bli_reader_number(reader, node, "near", NAN);
    const double within = bli_reader_number(reader, node, "within", NAN);
    const char *printed = bli_reader_line(reader, node, "printed"),
               *word = bli_reader_line(reader, node, "word");
    check->low = bli_reader_number(reader, node, "least", -INFINITY);
    check->high = bli_reader_number(reader, node, "most", INFINITY);
    const bool bounds = isfinite(check->low) || isfinite(check->high);
    if (isnan(near) != isnan(within))
        return bli_reader_fail(reader, node, "expect", BAL_E_SYNTAX, "`near` and `within` belong together");
    if (bounds + !isnan(near) + (printed != NULL) + (word != NULL) > 1)
        return bli_reader_fail(
            reader, node, "expect", BAL_E_SYNTAX,
            "give `least` and `most`, `near` and `within`, `printed` or `word`, and one of "
            "them only");
    return printed        ? expect_printed(reader, node, printed, check)
           : word         ? expect_word(reader, node, word, check)
           : !isnan(near) ? expect_near(reader, near, within, check)
                          : expect_between(reader, node, check);
}

/* A limit is expected to be what it is compared with. */
static enum bal_code expect_limit(struct bli_reader *reader, int node, struct bli_check *check) {
    char text[120], number[BLI_NUMBER_TEXT];
    if (node)
        return bli_reader_fail(reader, node, "expect", BAL_E_MODEL,
                               "a limit is what `to` says; leave `expect` out");
    print_short(check->to.number, number);
    snprintf(text, sizeof text, "the limit is %s",
             check->to.reference == BLI_REFERENCE_NUMBER ? number : "that of theory");
    return set_expected(reader, check, text);
}

/* ---- along an axis ---- */

static bool goes_along(enum bli_measure measure) {
    return measure == BLI_MEASURE_EXPONENT || measure == BLI_MEASURE_SLOPE ||
           measure == BLI_MEASURE_CRITICAL || measure == BLI_MEASURE_CROSSING || measure == BLI_MEASURE_LIMIT;
}

static bool is_fit(enum bli_measure measure) {
    return measure == BLI_MEASURE_EXPONENT || measure == BLI_MEASURE_SLOPE;
}

static enum bal_code read_along(struct bli_reader *reader, int map, struct bli_check *check) {
    const int node = bli_node_get(reader->document, map, "along");
    check->along = -1;
    check->slack = bli_reader_flag(reader, map, "slack", false);
    if (!goes_along(check->measure))
        return node ? bli_reader_fail(reader, node, "along", BAL_E_MODEL,
                                      "measure '%s' goes along no axis; leave it out",
                                      bli_measures[check->measure])
                    : BAL_OK;
    if (!node)
        return bli_reader_fail(reader, map, "claims", BAL_E_SYNTAX,
                               "measure '%s' needs `along`: the axis that it goes along",
                               bli_measures[check->measure]);
    const enum bal_code code = bli_reader_axis(reader, node, "along", &check->along);
    if (!code && !reader->e->axis[check->along].numeric)
        return bli_reader_fail(reader, node, "along", BAL_E_MODEL,
                               "the values of this axis must be numbers in increasing order");
    return code;
}

/* A fit needs two points at least, an extrapolation three, and logarithms and powers need positive numbers.
 */
static enum bal_code check_along(struct bli_reader *reader, int map, const struct bli_check *check) {
    const bool limit = check->measure == BLI_MEASURE_LIMIT;
    if (!is_fit(check->measure) && !limit)
        return BAL_OK;
    const struct bli_sweep_axis *axis = &reader->e->axis[check->along];
    size_t points = 0;
    for (size_t i = 0; i < axis->count; i++) {
        if (!check->where.value[check->along][i])
            continue;
        points++;
        const double x = axis->value[i].number;
        if (!(x > 0) || (check->slack && !(x < 1)))
            return bli_reader_fail(reader, map, "claims", BAL_E_RANGE,
                                   "%s=%g cannot be part of a fit; values must be above 0%s", axis->name, x,
                                   check->slack ? " and, with slack, below 1" : "");
    }
    if (points < (limit ? 3 : 2))
        return bli_reader_fail(reader, map, "claims", BAL_E_RANGE,
                               "a %s along '%s' needs %s values of it at least", limit ? "limit" : "fit",
                               axis->name, limit ? "three" : "two");
    return BAL_OK;
}

enum bal_code bli_read_check(struct bli_reader *reader, int map, enum bli_evidence evidence,
                             struct bli_check *check) {
    struct bli_document *document = reader->document;
    *check = (struct bli_check){
        .evidence = evidence,
        .measure =
            (enum bli_measure)bli_reader_choice(reader, map, "measure", bli_measures, BLI_MEASURE_VALUE),
        .over = (enum bli_over)bli_reader_choice(reader, map, "over", bli_overs, BLI_OVER_EACH),
    };
    const int among = bli_node_get(document, map, "among"), expect = bli_node_get(document, map, "expect");
    if (among && check->measure != BLI_MEASURE_RANK)
        return bli_reader_fail(reader, among, "among", BAL_E_MODEL,
                               "only a rank is taken among policies; leave it out");
    enum bal_code code = read_along(reader, map, check);
    if (!code)
        code =
            bli_reader_selection(reader, bli_node_get(document, map, "where"), among, "among", &check->where);
    if (!code)
        code = read_sides(reader, map, check);
    if (!code)
        code = narrow_to_fixed(reader, bli_node_get(document, map, "of"), check);
    if (!code)
        code = check_along(reader, map, check);
    if (code)
        return code;
    const bool ordered = check->over == BLI_OVER_LARGEST || check->over == BLI_OVER_SMALLEST;
    const bool verdict = check->measure == BLI_MEASURE_VERDICT, limit = check->measure == BLI_MEASURE_LIMIT;
    if (ordered && (verdict || limit))
        return bli_reader_fail(reader, map, "over", BAL_E_MODEL,
                               "of %s there is no largest or smallest; use each or some",
                               verdict ? "verdicts" : "limits");
    if (!expect && !limit)
        return bli_reader_lacks(reader, map, "claims", "expect", "bounds, such as {most: 1.1}");
    return verdict ? read_verdict(reader, expect, check)
           : limit ? expect_limit(reader, expect, check)
                   : read_bounds(reader, expect, check);
}
