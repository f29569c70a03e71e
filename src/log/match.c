/* SPDX-License-Identifier: BSD-2-Clause */
/* Matching is compiled to machine code, whose stack bounds how long a text may be. What does not fit is tried
 * again by the interpreter, which takes its memory from the heap. Steps and memory are limited in both, so
 * that a pattern whose time grows without bound ends in an error and not in silence. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "log/match.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STEPS_MAX = 10000000,   /* some hundredths of a second, and at most one when interpreted */
    STACK_FIRST = 32 << 10, /* bytes of the compiled code's stack */
    STACK_MAX = 1 << 20,
    HEAP_MAX = 64 << 10, /* KiB of the interpreter */
};

struct bli_log_match {
    const char *pattern;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

static enum bal_code compile_regex(struct bli_log_match *match, struct bal_error *err) {
    int number;
    size_t at;
    /* Bytes, not characters: a log may have any. */
    match->code = pcre2_compile((PCRE2_SPTR)match->pattern, PCRE2_ZERO_TERMINATED, 0, &number, &at, NULL);
    if (match->code) {
        pcre2_jit_compile(match->code, PCRE2_JIT_COMPLETE); /* without it, all is slower and just as right */
        return BAL_OK;
    }
    char text[120];
    pcre2_get_error_message(number, (PCRE2_UCHAR *)text, sizeof text);
    return bal_fail(err, BAL_E_SYNTAX, "pattern '%s' cannot be read beyond its character %zu: %s",
                    match->pattern, at, text);
}

static enum bal_code prepare_match(struct bli_log_match *match, struct bal_error *err) {
    match->data = pcre2_match_data_create(1, NULL);
    match->context = pcre2_match_context_create(NULL);
    match->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MAX, NULL);
    if (!match->data || !match->context || !match->stack)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a pattern");
    pcre2_set_match_limit(match->context, STEPS_MAX);
    pcre2_set_heap_limit(match->context, HEAP_MAX);
    pcre2_jit_stack_assign(match->context, NULL, match->stack);
    return BAL_OK;
}

enum bal_code bli_log_match_new(const char *pattern, struct bli_log_match **match, struct bal_error *err) {
    *match = NULL;
    struct bli_log_match *m = calloc(1, sizeof *m);
    if (!m)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a pattern");
    m->pattern = pattern;
    enum bal_code code = compile_regex(m, err);
    if (!code)
        code = prepare_match(m, err);
    if (code)
        bli_log_match_free(m);
    else
        *match = m;
    return code;
}

void bli_log_match_free(struct bli_log_match *match) {
    if (!match)
        return;
    pcre2_jit_stack_free(match->stack);
    pcre2_match_context_free(match->context);
    pcre2_match_data_free(match->data);
    pcre2_code_free(match->code);
    free(match);
}

static enum bal_code fail_match(const struct bli_log_match *match, struct bli_log_span text, int result,
                                struct bal_error *err) {
    char why[120], shown[80];
    bli_log_show(text, shown, sizeof shown);
    if (result == PCRE2_ERROR_MATCHLIMIT)
        snprintf(why, sizeof why, "more than %d steps", (int)STEPS_MAX);
    else if (result == PCRE2_ERROR_HEAPLIMIT)
        snprintf(why, sizeof why, "more than %d MiB", HEAP_MAX >> 10);
    else
        pcre2_get_error_message(result, (PCRE2_UCHAR *)why, sizeof why);
    return bal_fail(err, BAL_E_RANGE, "pattern '%s' takes too much to match '%s': %s; write a simpler one",
                    match->pattern, shown, why);
}

enum bal_code bli_log_match_try(const struct bli_log_match *match, struct bli_log_span text, bool *matches,
                                struct bal_error *err) {
    PCRE2_SPTR subject = (PCRE2_SPTR)text.text;
    int result = pcre2_match(match->code, subject, text.length, 0, 0, match->data, match->context);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
        result = pcre2_match(match->code, subject, text.length, 0, PCRE2_NO_JIT, match->data, match->context);
    *matches = result >= 0;
    return result >= 0 || result == PCRE2_ERROR_NOMATCH ? BAL_OK : fail_match(match, text, result, err);
}
