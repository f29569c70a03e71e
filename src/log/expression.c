/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses expressions over the columns of a log, by recursive descent, and computes them on a stack. */
#include "log/expression.h"

#include "log/decimal.h"

#include <math.h>

struct parser {
    const char *text, *at;
    struct bli_log_expression *to;
    struct bal_error *err;
    int depth;
};

bool bli_log_expression_is_meant(const char *text) {
    return strpbrk(text, "*/+(") != NULL;
}

static bool fail_at(const struct parser *parser, const char *at, const char *what) {
    char text[100], place[30];
    bli_log_show((struct bli_log_span){parser->text, strlen(parser->text)}, text, sizeof text);
    bli_log_show((struct bli_log_span){at, strlen(at)}, place, sizeof place);
    if (*at)
        bal_fail(parser->err, BAL_E_SYNTAX, "'%s', at '%s': %s", text, place, what);
    else
        bal_fail(parser->err, BAL_E_SYNTAX, "'%s', at the end: %s", text, what);
    return false;
}

static void skip_blanks(struct parser *parser) {
    while (bli_log_is_blank(*parser->at))
        parser->at++;
}

static bool add_step(struct parser *parser, struct bli_log_expression_step step) {
    if (parser->to->steps == BLI_LOG_EXPRESSION_STEPS)
        return fail_at(parser, parser->at, "too long; at most 64 values and operations are understood");
    parser->to->step[parser->to->steps++] = step;
    return true;
}

static bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

static bool is_name(char c) {
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c && strchr("_.$@%", c));
}

/* Nanoseconds of a unit; 0 when it is none. */
static double unit_of(struct bli_log_span name) {
    static const struct {
        const char *name;
        double nanoseconds;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (bli_log_is(name, units[i].name))
            return units[i].nanoseconds;
    return 0;
}

/* A number, perhaps with a unit; *power is 1 for a time, 0 for a number. */
static bool parse_number(struct parser *parser, int *power) {
    const char *start = parser->at, *end = start;
    while (is_digit(*end) || *end == '.')
        end++;
    struct bli_log_decimal decimal;
    if (bli_log_decimal_read(start, end, '.', &decimal) != end)
        return fail_at(parser, start, "not a number such as 25, 0.2 or 25ms");
    double value = (double)decimal.digits * pow(10, decimal.exponent);
    struct bli_log_span unit = {end, 0};
    while (is_name(unit.text[unit.length]))
        unit.length++;
    *power = unit.length > 0;
    if (*power && unit_of(unit) <= 0)
        return fail_at(parser, end, "not a unit of time; ns, us, ms, s, min and h are");
    value *= *power ? unit_of(unit) : 1;
    parser->at = end + unit.length;
    return add_step(parser, (struct bli_log_expression_step){.operation = '0', .value = value});
}

static bool same_name(struct bli_log_span a, struct bli_log_span b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool add_column(struct parser *parser, struct bli_log_span name) {
    struct bli_log_expression *to = parser->to;
    int column = 0;
    while (column < to->columns && !same_name(name, to->column[column]))
        column++;
    if (column == BLI_LOG_EXPRESSION_COLUMNS)
        return fail_at(parser, name.text, "too many columns; at most 8 can be used");
    to->column[column] = name;
    to->columns += column == to->columns;
    return add_step(parser, (struct bli_log_expression_step){.operation = 'c', .column = column});
}

static bool parse_column(struct parser *parser) {
    struct bli_log_span name = {parser->at, 0};
    if (*parser->at == '"') {
        const char *quote = strchr(++name.text, '"');
        if (!quote || quote == name.text)
            return fail_at(parser, parser->at, "a name in quotes that does not end");
        name.length = (size_t)(quote - name.text);
        parser->at = quote + 1;
        return add_column(parser, name);
    }
    while (is_name(name.text[name.length]))
        name.length++;
    if (name.length == 0)
        return fail_at(parser, parser->at, "a number, a column or ( is missing");
    parser->at += name.length;
    return add_column(parser, name);
}

static bool parse_sum(struct parser *parser, int *power);

static bool parse_value(struct parser *parser, int *power) {
    skip_blanks(parser);
    const char *start = parser->at;
    *power = 0;
    if (*start != '(')
        return is_digit(*start) || *start == '.' ? parse_number(parser, power) : parse_column(parser);
    if (++parser->depth > BLI_LOG_EXPRESSION_DEPTH)
        return fail_at(parser, start, "too many parentheses inside each other");
    parser->at++;
    if (!parse_sum(parser, power))
        return false;
    if (*parser->at != ')')
        return fail_at(parser, start, "this parenthesis is not closed");
    parser->at++;
    parser->depth--;
    return true;
}

static bool parse_product(struct parser *parser, int *power) {
    if (!parse_value(parser, power))
        return false;
    for (;;) {
        skip_blanks(parser);
        const char operation = *parser->at;
        if (operation != '*' && operation != '/')
            return true;
        parser->at++;
        int other;
        if (!parse_value(parser, &other))
            return false;
        *power += operation == '*' ? other : -other;
        if (!add_step(parser, (struct bli_log_expression_step){.operation = operation}))
            return false;
    }
}

static bool parse_sum(struct parser *parser, int *power) {
    if (!parse_product(parser, power))
        return false;
    for (;;) {
        skip_blanks(parser);
        const char *start = parser->at;
        if (*start != '+' && *start != '-')
            return true;
        parser->at++;
        int other;
        if (!parse_product(parser, &other))
            return false;
        if (other != *power)
            return fail_at(parser, start,
                           "a time and a number cannot be added; give both a unit, as in 25ms");
        if (!add_step(parser, (struct bli_log_expression_step){.operation = *start}))
            return false;
    }
}

enum bal_code bli_log_expression_parse(const char *text, struct bli_log_expression *expression,
                                       struct bal_error *err) {
    *expression = (struct bli_log_expression){.steps = 0};
    struct parser parser = {.text = text, .at = text, .to = expression, .err = err};
    int power;
    if (!parse_sum(&parser, &power))
        return BAL_E_SYNTAX;
    if (*parser.at)
        fail_at(&parser, parser.at, "+, -, * or / is missing");
    else if (power != 1)
        fail_at(&parser, parser.at, "that is no time; write units, as in GeneratedTokens*25ms");
    else
        return BAL_OK;
    return BAL_E_SYNTAX;
}

static bool read_column(struct bli_log_span text, double *value) {
    struct bli_log_decimal decimal;
    text = bli_log_trim(text);
    if (text.length == 0 ||
        bli_log_decimal_read(text.text, text.text + text.length, '.', &decimal) != text.text + text.length)
        return false;
    *value = (double)decimal.digits * pow(10, decimal.exponent);
    return true;
}

static double apply(char operation, double a, double b) {
    return operation == '+' ? a + b : operation == '-' ? a - b : operation == '*' ? a * b : a / b;
}

bool bli_log_expression_value(const struct bli_log_expression *expression, const struct bli_log_span *fields,
                              const int *field, int64_t *nanoseconds) {
    static const double most = 100 * 365.25 * 86400e9;
    double stack[BLI_LOG_EXPRESSION_STEPS];
    int used = 0;
    for (int i = 0; i < expression->steps; i++) {
        const struct bli_log_expression_step *step = &expression->step[i];
        if (step->operation == '0') {
            stack[used++] = step->value;
        } else if (step->operation == 'c') {
            const struct bli_log_span text = fields[field[step->column]];
            if (!text.text || !read_column(text, &stack[used++]))
                return false;
        } else {
            used--;
            stack[used - 1] = apply(step->operation, stack[used - 1], stack[used]);
        }
    }
    if (!(stack[0] >= 0 && stack[0] <= most)) /* NaN neither */
        return false;
    *nanoseconds = (int64_t)(stack[0] + 0.5);
    return true;
}
