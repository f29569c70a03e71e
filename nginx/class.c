/* SPDX-License-Identifier: BSD-2-Clause */
/* How urgent a request is: from the Priority header of RFC 9218, or from a number. */
#include "class.h"

#include <stdbool.h>

enum { URGENCIES = 8, USUAL = 3 }; /* u=0 ... u=7, and the default */

/* Of two classes the first is for requests more urgent than the default. */
static uint32_t class_of_urgency(ngx_uint_t urgency, ngx_uint_t classes) {
    if (classes >= URGENCIES)
        return (uint32_t)urgency;
    return urgency < USUAL ? 0 : (uint32_t)classes - 1;
}

static bool is_space(u_char c) {
    return c == ' ' || c == '\t';
}

/* One member of the dictionary: "u=1", with parameters, which are ignored. Other members do not change the
 * urgency. */
static ngx_uint_t read_member(const u_char *at, const u_char *end, ngx_uint_t urgency) {
    while (at < end && is_space(*at))
        at++;
    if (end - at < 3 || at[0] != 'u' || at[1] != '=' || at[2] < '0' || at[2] > '7')
        return urgency;
    if (end - at > 3 && at[3] != ';' && !is_space(at[3]))
        return urgency;
    return (ngx_uint_t)(at[2] - '0');
}

uint32_t bli_ngx_class_parse(const ngx_str_t *text, ngx_uint_t classes) {
    const u_char *at = text->data, *end = text->data + text->len;
    const ngx_int_t number = ngx_atoi(text->data, text->len);
    if (number != NGX_ERROR)
        return (uint32_t)ngx_min((ngx_uint_t)number, classes - 1);
    ngx_uint_t urgency = USUAL;
    while (at < end) {
        const u_char *comma = at;
        while (comma < end && *comma != ',')
            comma++;
        urgency = read_member(at, comma, urgency);
        at = comma + 1;
    }
    return class_of_urgency(urgency, classes);
}

uint32_t bli_ngx_class_of_request(ngx_http_request_t *r, ngx_http_complex_value_t *value,
                                  ngx_uint_t classes) {
    ngx_str_t text;
    if (!value || ngx_http_complex_value(r, value, &text) != NGX_OK)
        return 0;
    return bli_ngx_class_parse(&text, classes);
}

uint32_t bli_ngx_class_limit(struct bli_ngx_urgency *urgency, uint32_t rank, ngx_uint_t classes) {
    enum { WHOLE = 100, AT_ONCE = 10 };
    const uint32_t usual = class_of_urgency(USUAL, classes);
    if (!urgency->percent)
        return rank;
    urgency->credit = ngx_min(urgency->credit + urgency->percent, AT_ONCE * WHOLE);
    if (rank >= usual)
        return rank;
    if (urgency->credit < WHOLE)
        return usual;
    urgency->credit -= WHOLE;
    return rank;
}
