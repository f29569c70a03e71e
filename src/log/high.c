#define PCRE2_CODE_UNIT_WIDTH 8

#include "log/high.h"

#include <pcre2.h>
#include <stdlib.h>

struct bal_log_high {
    const char *pattern;
    pcre2_code *code;
    pcre2_match_data *data;
};

enum bal_code bal_log_high_new(const char *pattern, struct bal_log_high **high, struct bal_error *err) {
    *high = NULL;
    if (!pattern)
        return BAL_OK;
    int number;
    size_t at;
    /* Bytes, not characters: a log may have any. */
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &number, &at, NULL);
    if (!code) {
        char text[120];
        pcre2_get_error_message(number, (PCRE2_UCHAR *)text, sizeof text);
        return bal_fail(err, BAL_E_SYNTAX, "pattern '%s' cannot be read beyond its character %zu: %s",
                        pattern, at, text);
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* without it, matching is slower and just as right */
    struct bal_log_high *h = *high = calloc(1, sizeof *h);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    if (!h || !data) {
        pcre2_code_free(code);
        pcre2_match_data_free(data);
        free(h);
        *high = NULL;
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a pattern");
    }
    *h = (struct bal_log_high){pattern, code, data};
    return BAL_OK;
}

void bal_log_high_free(struct bal_log_high *high) {
    if (!high)
        return;
    pcre2_match_data_free(high->data);
    pcre2_code_free(high->code);
    free(high);
}

enum bal_code bal_log_high_match(const struct bal_log_high *high, struct bal_log_span text, bool *matches,
                                 struct bal_error *err) {
    const int result = pcre2_match(high->code, (PCRE2_SPTR)text.text, text.length, 0, 0, high->data, NULL);
    *matches = result >= 0;
    if (result >= 0 || result == PCRE2_ERROR_NOMATCH)
        return BAL_OK;
    char message[120];
    pcre2_get_error_message(result, (PCRE2_UCHAR *)message, sizeof message);
    return bal_fail(err, BAL_E_RANGE, "pattern '%s' cannot be matched with '%.*s': %s; write a simpler one",
                    high->pattern, (int)(text.length < 60 ? text.length : 60), text.text, message);
}
