/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses, checks and prints limits of single classes. */
#include "class_limit_option.h"

#include "ballast/live/wire.h"
#include "directive_option.h"

#include <string.h>

enum { WAITING_MAX = 1 << 24, DAY_MS = 24 * 3600 * 1000 };

bool bli_ngx_limit_parse(const ngx_str_t *value, ngx_uint_t least, ngx_uint_t *number, ngx_msec_t *time) {
    const u_char *end = value->data + value->len;
    const u_char *comma = memchr(value->data, ',', value->len);
    if (!bli_ngx_option_number(value->data, comma ? comma : end, least, WAITING_MAX, number))
        return false;
    if (!comma)
        return true;
    ngx_str_t rest = {(size_t)(end - comma - 1), (u_char *)comma + 1};
    const ngx_int_t ms = ngx_parse_time(&rest, 0);
    *time = (ngx_msec_t)ms;
    return rest.len && ms != NGX_ERROR && ms >= 1 && ms <= DAY_MS;
}

char *bli_ngx_class_limit_set(ngx_conf_t *cf, const char *option, const ngx_str_t *value,
                              struct bal_class_limit *limits) {
    char what[16], right[160];
    ngx_str_t rest = {0, NULL};
    ngx_uint_t number, waiting;
    ngx_msec_t wait = 0;
    *ngx_snprintf((u_char *)what, sizeof what - 1, "\"%s", option) = '\0';
    *ngx_snprintf((u_char *)right, sizeof right - 1,
                  "%sCLASS=N or %sCLASS=N,T: at most N requests of that class wait, for at most T, as in "
                  "%s7=200,2s",
                  option, option, option) = '\0';
    if (value->len > 2 && value->data[1] == '=')
        rest = (ngx_str_t){value->len - 2, value->data + 2};
    if (!rest.len || !bli_ngx_option_number(value->data, value->data + 1, 0, BAL_CLASSES_MAX - 1, &number) ||
        !bli_ngx_limit_parse(&rest, 1, &waiting, &wait))
        return bli_ngx_option_error(cf, what, value, right);
    if (limits[number].waiting)
        return bli_ngx_option_error(cf, what, value, "each class once");
    limits[number] = (struct bal_class_limit){(uint32_t)waiting, (uint64_t)wait * 1000000};
    return NGX_CONF_OK;
}

char *bli_ngx_class_limits_check(ngx_conf_t *cf, const char *option, const char *whole,
                                 const struct bal_class_limit *limits, ngx_uint_t classes, ngx_uint_t most) {
    const ngx_str_t *directive = cf->args->elts;
    for (ngx_uint_t i = 0; i < BAL_CLASSES_MAX; i++) {
        if (!limits[i].waiting)
            continue;
        if (classes == 1 || i >= classes) {
            ngx_conf_log_error(
                NGX_LOG_EMERG, cf, 0,
                "%V: %s%ui= is for a class that no request has: there %s %ui; use class=, as in "
                "class=$http_priority, and a class from 0 to one less than there are",
                directive, option, i, classes == 1 ? "is" : "are", classes);
            return NGX_CONF_ERROR;
        }
        if (limits[i].waiting > most) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "%V: %s%ui=%uD lets more requests of one class wait than %s%ui lets of all "
                               "together; use a smaller number",
                               directive, option, i, limits[i].waiting, whole, most);
            return NGX_CONF_ERROR;
        }
    }
    return NGX_CONF_OK;
}

u_char *bli_ngx_class_limits_print(u_char *text, const struct bal_class_limit *limits) {
    const u_char *end = text + BLI_NGX_CLASS_LIMITS_TEXT;
    for (ngx_uint_t i = 0; i < BAL_CLASSES_MAX; i++)
        if (limits[i].waiting)
            text = ngx_slprintf(text, (u_char *)end, " %ui:%uD,%uL", i, limits[i].waiting, limits[i].wait_ns);
    return text;
}
