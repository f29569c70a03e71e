/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses options of directives and reports what is wrong with them. */
#include "directive_option.h"

#include "ballast/live/concurrency.h"

#include <string.h>

char *bli_ngx_option_error(ngx_conf_t *cf, const char *what, const ngx_str_t *value, const char *right) {
    const ngx_str_t *directive = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%V: %s%V\"; use %s", directive, what, value, right);
    return NGX_CONF_ERROR;
}

bool bli_ngx_option_number(const u_char *from, const u_char *to, ngx_uint_t least, ngx_uint_t most,
                           ngx_uint_t *number) {
    const ngx_int_t n = ngx_atoi((u_char *)from, (size_t)(to - from));
    *number = (ngx_uint_t)n;
    return n != NGX_ERROR && (ngx_uint_t)n >= least && (ngx_uint_t)n <= most;
}

bool bli_ngx_option_pair(const ngx_str_t *value, ngx_uint_t most, ngx_uint_t *number, ngx_msec_t *time) {
    const u_char *end = value->data + value->len;
    const u_char *comma = memchr(value->data, ',', value->len);
    if (!comma || !bli_ngx_option_number(value->data, comma, 1, most, number))
        return false;
    ngx_str_t rest = {(size_t)(end - comma - 1), (u_char *)comma + 1};
    const ngx_int_t ms = ngx_parse_time(&rest, 0);
    *time = (ngx_msec_t)ms;
    return rest.len && ms != NGX_ERROR && ms >= 1 && ms <= 24 * 3600 * 1000;
}

/* What stands behind "auto". */
static bool read_bounds(const u_char *at, const u_char *end, ngx_uint_t *min, ngx_uint_t *max) {
    *min = 1;
    *max = BAL_CONCURRENCY_DEFAULT;
    if (at == end)
        return true;
    const u_char *comma = *at == ',' ? memchr(at + 1, ',', (size_t)(end - at - 1)) : NULL;
    return comma && bli_ngx_option_number(at + 1, comma, 1, BAL_CONCURRENCY_MAX, min) &&
           bli_ngx_option_number(comma + 1, end, *min, BAL_CONCURRENCY_MAX, max);
}

char *bli_ngx_option_slots(ngx_conf_t *cf, const ngx_str_t *value, const char *who, ngx_uint_t most,
                           ngx_uint_t *min, ngx_uint_t *slots) {
    const u_char *end = value->data + value->len;
    const bool found = value->len >= 4 && ngx_strncmp(value->data, "auto", 4) == 0;
    *min = 0;
    if (found ? read_bounds(value->data + 4, end, min, slots)
              : bli_ngx_option_number(value->data, end, 1, most, slots))
        return NGX_CONF_OK;
    u_char right[160];
    *ngx_snprintf(
        right, sizeof right - 1,
        "the number of requests that %s works on at once, from 1 on, or auto or auto,MIN,MAX, as in "
        "auto,4,64, which find it (MAX is at most %d)",
        who, BAL_CONCURRENCY_MAX) = 0;
    return bli_ngx_option_error(cf, "\"slots=", value, (char *)right);
}

char *bli_ngx_option_check_urgent(ngx_conf_t *cf, ngx_uint_t percent, bool has_class) {
    const ngx_str_t *text = cf->args->elts;
    if (!percent || has_class)
        return NGX_CONF_OK;
    ngx_conf_log_error(
        NGX_LOG_EMERG, cf, 0,
        "%V: urgent= bounds how many requests are more urgent than usual, but all are of one class; "
        "use class=, as in class=$http_priority",
        &text[0]);
    return NGX_CONF_ERROR;
}

ngx_http_complex_value_t *bli_ngx_option_class(ngx_conf_t *cf, ngx_str_t *value) {
    ngx_http_compile_complex_value_t compile = {.cf = cf, .value = value};
    compile.complex_value = ngx_pcalloc(cf->pool, sizeof *compile.complex_value);
    if (!compile.complex_value || ngx_http_compile_complex_value(&compile) != NGX_OK)
        return NULL;
    if (compile.complex_value->lengths)
        return compile.complex_value;
    bli_ngx_option_error(cf, "\"class=", value, "a variable, as in class=$http_priority");
    return NULL;
}

char *bli_ngx_option_urgent(ngx_conf_t *cf, const ngx_str_t *value, ngx_uint_t *percent) {
    const u_char *end = value->data + value->len;
    if (value->len > 1 && end[-1] == '%' && bli_ngx_option_number(value->data, end - 1, 1, 100, percent))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"urgent=", value,
                                "the share of requests that may be more urgent than usual, as in urgent=20%");
}

char *bli_ngx_option_abort(ngx_conf_t *cf, const ngx_str_t *value, bool *frees) {
    *frees = value->len == 5 && ngx_strncmp(value->data, "close", 5) == 0;
    if (*frees || (value->len == 4 && ngx_strncmp(value->data, "wait", 4) == 0))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"abort=", value,
                                "wait, or close for an app that stops working when its client has gone");
}

/* An option may be given only once: of two values only one could be meant. */
static bool is_duplicate(const ngx_conf_t *cf, const ngx_str_t *text, const char *name, size_t length) {
    for (const ngx_str_t *before = (ngx_str_t *)cf->args->elts + 1; before < text; before++)
        if (before->len >= length && ngx_strncmp(before->data, name, length) == 0)
            return true;
    return false;
}

char *bli_ngx_option_set(ngx_conf_t *cf, const struct bli_ngx_option *options, size_t count, void *conf,
                         const ngx_str_t *text, const char *names) {
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(options[i].name);
        if (text->len < length || ngx_strncmp(text->data, options[i].name, length) != 0)
            continue;
        if (!options[i].repeatable && is_duplicate(cf, text, options[i].name, length))
            return bli_ngx_option_error(cf, "a second \"", text, "each option once");
        ngx_str_t value = {text->len - length, text->data + length};
        return options[i].set(cf, conf, &value);
    }
    return bli_ngx_option_error(cf, "unknown option \"", text, names);
}
