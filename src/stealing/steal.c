/* SPDX-License-Identifier: BSD-2-Clause */
/* How much is stolen. The text forms are read and written here, and f itself is computed. */
#include "ballast/number.h"
#include "ballast/stealing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define AMOUNT_MAX 1e9

static const char *const plain[] = {
    [BAL_STEAL_NONE] = "none", [BAL_STEAL_HALF] = "half", [BAL_STEAL_ONE] = "one",
    [BAL_STEAL_LOG2] = "log2", [BAL_STEAL_SQRT] = "sqrt",
};

static enum bal_code bad_steal(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(err, BAL_E_RANGE,
                    "steal '%.80s': %s; write none, half, one, constant(K), log2, sqrt, fraction(A) with "
                    "0 < A <= 0.5 or table(F F ...)",
                    text, why);
}

/* Reads the number that ends at a blank or a parenthesis; returns its end, or NULL if there is none. */
static const char *parse_value(const char *at, double *value) {
    const size_t length = strcspn(at, " )");
    return bli_share_parse(at, length, value) ? at + length : NULL;
}

static bool is_amount(double value) {
    return value >= 0 && value <= AMOUNT_MAX && value == floor(value);
}

/* What stands between the parentheses of name(...), alone. */
static bool parse_single(const char *text, const char *name, double *value) {
    const char *end = parse_value(text + strlen(name) + 1, value);
    return end && strcmp(end, ")") == 0;
}

static enum bal_code parse_table(const char *text, struct bal_steal *steal, struct bal_error *err) {
    struct bal_steal table = {.kind = BAL_STEAL_TABLE};
    const char *at = text + strlen("table(");
    for (;;) {
        at += strspn(at, " ");
        if (!*at || *at == ')')
            break;
        if (table.entries == BAL_STEAL_ENTRIES)
            return bad_steal(text, "a table has at most 256 entries", err);
        double value;
        at = parse_value(at, &value);
        if (!at || !is_amount(value))
            return bad_steal(text, "a table has whole numbers from 0 to 1e9", err);
        const uint32_t before = table.entries ? table.table[table.entries - 1] : 0;
        if (value < before)
            return bad_steal(text, "a table must not fall", err);
        table.table[table.entries++] = (uint32_t)value;
    }
    if (strcmp(at, ")") != 0 || table.entries == 0)
        return bad_steal(text, "a table has at least one entry and ends with its parenthesis", err);
    *steal = table;
    return BAL_OK;
}

static enum bal_code parse_constant(const char *text, bool read, double value, struct bal_steal *steal,
                                    struct bal_error *err) {
    if (!read || !is_amount(value))
        return bad_steal(text, "a constant is a whole number from 0 to 1e9", err);
    *steal = (struct bal_steal){.kind = BAL_STEAL_CONSTANT, .amount = value};
    return BAL_OK;
}

enum bal_code bal_steal_parse(const char *text, struct bal_steal *steal, struct bal_error *err) {
    for (size_t kind = 0; kind < sizeof plain / sizeof *plain; kind++)
        if (plain[kind] && strcmp(text, plain[kind]) == 0) {
            *steal = (struct bal_steal){.kind = (enum bal_steal_kind)kind};
            return BAL_OK;
        }
    double value = 0;
    if (bli_number_parse(text, strlen(text), &value))
        return parse_constant(text, true, value, steal, err);
    if (strncmp(text, "constant(", 9) == 0) {
        const bool read = parse_single(text, "constant", &value);
        return parse_constant(text, read, value, steal, err);
    }
    if (strncmp(text, "fraction(", 9) == 0) {
        if (!parse_single(text, "fraction", &value) || !(value > 0 && value <= 0.5))
            return bad_steal(text, "this is not a fraction", err);
        *steal = (struct bal_steal){.kind = BAL_STEAL_FRACTION, .amount = value};
        return BAL_OK;
    }
    if (strncmp(text, "table(", 6) == 0)
        return parse_table(text, steal, err);
    return bad_steal(text, "there is no such function", err);
}

size_t bal_steal_print(const struct bal_steal *steal, char *text, size_t size) {
    char number[BLI_NUMBER_TEXT];
    bli_number_print(steal->amount, number);
    if (steal->kind == BAL_STEAL_CONSTANT)
        return (size_t)snprintf(text, size, "constant(%s)", number);
    if (steal->kind == BAL_STEAL_FRACTION)
        return (size_t)snprintf(text, size, "fraction(%s)", number);
    if (steal->kind != BAL_STEAL_TABLE)
        return (size_t)snprintf(text, size, "%s", plain[steal->kind]);
    size_t length = 0;
    for (unsigned i = 0; i < steal->entries; i++) {
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%u%s", i ? " " : "table(",
                                   steal->table[i], i + 1 == steal->entries ? ")" : "");
    }
    return length;
}

/* Before the cap. */
static uint32_t uncapped_amount(const struct bal_steal *steal, uint32_t length) {
    switch (steal->kind) {
    case BAL_STEAL_NONE:
        return 0;
    case BAL_STEAL_HALF:
        return length / 2;
    case BAL_STEAL_ONE:
        return 1;
    case BAL_STEAL_CONSTANT:
        return (uint32_t)steal->amount;
    case BAL_STEAL_LOG2:
        return length ? 31u - (unsigned)__builtin_clz(length) : 0;
    case BAL_STEAL_SQRT:
        return (uint32_t)sqrt(length);
    case BAL_STEAL_FRACTION: /* a little more, so that 0.29 of 100 is 29 although 0.29 is not exact */
        return (uint32_t)(steal->amount * length * (1 + 4 * DBL_EPSILON));
    case BAL_STEAL_TABLE:
        return steal->table[length < steal->entries ? length : steal->entries - 1];
    }
    return 0;
}

uint32_t bal_steal_amount(const struct bal_steal *steal, uint32_t length) {
    const uint32_t amount = uncapped_amount(steal, length), most = length / 2;
    return amount < most ? amount : most;
}
