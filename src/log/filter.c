/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects jobs by time, path and status. */
#include "log/filter.h"

#include "log/clock.h"
#include "log/match.h"

#include <stdio.h>
#include <stdlib.h>

enum { STATUS_MAX = 1000 };

struct bli_log_filter {
    int64_t from, to; /* the first nanosecond that is selected, and the first one after the range */
    struct bli_log_match *path;
    bool by_status;
    bool status[STATUS_MAX];
};

/* A time as it stands in logs, or without its seconds, or without a time of day at all. */
static bool read_moment(const char *text, int64_t *time) {
    const size_t length = strlen(text);
    const bool named = length > 6 && text[2] == '/' && text[6] == '/'; /* 15/Nov/2026:10:30 */
    const size_t date = named ? 11 : 10, minute = date + 6;
    const bool plain = length >= 10 && text[4] == '-';
    char whole[64];
    if (length + 12 > sizeof whole)
        return false;
    if ((named || plain) && length == date)
        snprintf(whole, sizeof whole, "%s%s", text, named ? ":00:00:00" : "T00:00:00");
    else if ((named || plain) && length >= minute && text[minute] != ':')
        snprintf(whole, sizeof whole, "%.*s:00%s", (int)minute, text, text + minute);
    else
        snprintf(whole, sizeof whole, "%s", text);
    struct bli_log_clock clock = {0};
    int decimals;
    return bli_log_clock_read(&clock, (struct bli_log_span){whole, strlen(whole)}, time, &decimals);
}

static enum bal_code fail_moment(const char *what, const char *text, struct bal_error *err) {
    return bal_fail(err, BAL_E_SYNTAX,
                    "%s '%s' is no time; write it as in the log, or 2026-11-15, 2026-11-15T10:30,"
                    " 2026-11-15T10:30:00+01:00 (UTC unless it says otherwise)",
                    what, text);
}

static enum bal_code read_span(const struct bli_log_options *options, struct bli_log_filter *filter,
                               struct bal_error *err) {
    filter->from = INT64_MIN;
    filter->to = INT64_MAX;
    if (options->from && !read_moment(options->from, &filter->from))
        return fail_moment("from", options->from, err);
    if (options->to && !read_moment(options->to, &filter->to))
        return fail_moment("to", options->to, err);
    if (filter->from >= filter->to)
        return bal_fail(err, BAL_E_RANGE, "nothing lies between from '%s' and to '%s'", options->from,
                        options->to);
    return BAL_OK;
}

/* 404, or 4xx for the whole hundred. */
static bool add_status(struct bli_log_filter *filter, struct bli_log_span text) {
    if (text.length != 3 || text.text[0] < '1' || text.text[0] > '9')
        return false;
    int first = 0, last = 0;
    for (int i = 0; i < 3; i++) {
        const char c = text.text[i];
        const bool any = i > 0 && c == 'x';
        if (!any && (c < '0' || c > '9'))
            return false;
        first = 10 * first + (any ? 0 : c - '0');
        last = 10 * last + (any ? 9 : c - '0');
    }
    for (int i = first; i <= last; i++)
        filter->status[i] = true;
    return true;
}

static enum bal_code read_statuses(const char *text, struct bli_log_filter *filter, struct bal_error *err) {
    filter->by_status = text != NULL;
    for (const char *at = text; at;) {
        const char *comma = strchr(at, ',');
        if (!add_status(filter, (struct bli_log_span){at, comma ? (size_t)(comma - at) : strlen(at)}))
            return bal_fail(err, BAL_E_SYNTAX, "status '%s' is none; write 200, 5xx, or a list: 2xx,304",
                            text);
        at = comma ? comma + 1 : NULL;
    }
    return BAL_OK;
}

enum bal_code bli_log_filter_new(const struct bli_log_options *options, struct bli_log_filter **filter,
                                 struct bal_error *err) {
    *filter = NULL;
    struct bli_log_filter *f = *filter = calloc(1, sizeof *f);
    if (!f)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a filter");
    enum bal_code code = read_span(options, f, err);
    if (!code)
        code = read_statuses(options->status, f, err);
    if (!code)
        code = options->path ? bli_log_match_new(options->path, &f->path, err) : BAL_OK;
    if (code) {
        bli_log_filter_free(f);
        *filter = NULL;
    }
    return code;
}

void bli_log_filter_free(struct bli_log_filter *filter) {
    bli_log_match_free(filter->path);
    free(filter);
}

static bool has_status(const struct bli_log_filter *filter, struct bli_log_span text) {
    int status = 0;
    for (size_t i = 0; i < text.length && i < 3; i++) {
        const int digit = text.text[i] - '0';
        if (digit < 0 || digit > 9)
            return false;
        status = 10 * status + digit;
    }
    return text.length == 3 && filter->status[status];
}

enum bal_code bli_log_filter_try(const struct bli_log_filter *filter, const struct bli_log_entry *entry,
                                 int64_t arrival, bool *keeps, struct bal_error *err) {
    *keeps = arrival >= filter->from && arrival < filter->to &&
             (!filter->by_status || has_status(filter, entry->status)) && (!filter->path || entry->path.text);
    return *keeps && filter->path ? bli_log_match_try(filter->path, entry->path, keeps, err) : BAL_OK;
}
