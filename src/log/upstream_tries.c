/* SPDX-License-Identifier: BSD-2-Clause */
/* nginx writes lists: addresses "a:80, b:80 : c:80", the time at each "0.001, 0.020 : 0.005", the answer of
 * each "502, 200 : 200". A comma separates tries; a colon between blanks means an internal redirect of nginx.
 * Other programs log one server and one time. */
#include "log/upstream_tries.h"

#include "log/decimal.h"
#include "log/servers.h"

bool bli_log_names_server(struct bli_log_span text) {
    if (!text.text || text.length == 0 || text.text[0] == 0)
        return false;
    if (memchr(text.text, '<', text.length)) /* b/<NOSRV> of HAProxy */
        return false;
    return !bli_log_is(text, "-") && !bli_log_is(text, "null");
}

/* Are eight bytes all of them above a comma, and so above a blank? No where one is no ASCII. */
static inline bool are_plain(const char *at) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return (((bytes - UINT64_C(0x2d2d2d2d2d2d2d2d)) | bytes) & UINT64_C(0x8080808080808080)) == 0;
}

/* The separator that comes first, or end. An address has colons too, but no blanks around them. */
static inline const char *find_separator(const char *at, const char *end) {
    for (;; at++) {
        while (end - at >= 8 && are_plain(at))
            at += 8;
        while (at < end && ',' < *at)
            at++;
        if (at == end || *at == ',')
            return at;
        if (bli_log_is_blank(*at) && end - at > 2 && at[1] == ':' && bli_log_is_blank(at[2]))
            return at + 1;
    }
}

/* Takes the first try off a list; false when nothing is left. */
static inline bool pop_try(struct bli_log_span *list, struct bli_log_span *item) {
    if (!list->text)
        return false;
    const char *start = list->text, *end = start + list->length, *at = find_separator(start, end);
    *item = bli_log_trim((struct bli_log_span){start, (size_t)(at - start)});
    *list = at < end ? (struct bli_log_span){at + 1, (size_t)(end - at - 1)} : (struct bli_log_span){0};
    return true;
}

/* Three digits, else 0. */
static uint16_t read_status(struct bli_log_span text) {
    unsigned value = 0;
    for (size_t i = 0; i < text.length; i++) {
        const unsigned digit = (unsigned char)(text.text[i] - '0');
        if (digit > 9 || text.length != 3)
            return 0;
        value = 10 * value + digit;
    }
    return (uint16_t)value;
}

/* One of the times at servers; where there is but one it has been read. */
static int64_t read_took(const struct bli_log_entry *entry, struct bli_log_span text,
                         struct bli_log_scale scale) {
    int64_t took, step;
    if (text.length == entry->service_text.length && entry->logged_ns >= 0)
        return entry->logged_ns;
    return bli_log_duration_read(text, scale, &took, &step) ? took : -1;
}

/* The first of HAProxy's letters is the side that ended the session early: the client, the server, a time
 * limit of either, or HAProxy itself. Envoy lists reasons: here a client and a time limit. */
static bool says_aborted(struct bli_log_span state, bool reasons) {
    if (!state.text || state.length == 0)
        return false;
    if (!reasons)
        return state.text[0] && strchr("CScsDUK", state.text[0]);
    return memmem(state.text, state.length, "DC", 2) || memmem(state.text, state.length, "UT", 2);
}

/* nginx logs 499 for a client that disconnected, load balancers of AWS log 460. */
static bool is_aborted(const struct bli_log_entry *entry, const struct bli_log_binding *binding,
                       uint16_t status) {
    return entry->unanswered || status == 499 || status == 460 || status == 504 ||
           says_aborted(entry->state, binding->state_flags);
}

enum bal_code bli_log_tries_read(const struct bli_log_entry *entry, const struct bli_log_binding *binding,
                                 struct bli_log_servers *servers, struct bli_log_record *record,
                                 struct bal_error *err) {
    record->status = entry->status.text ? read_status(entry->status) : 0;
    record->aborted = is_aborted(entry, binding, record->status);
    record->tries = 0;
    struct bli_log_span names = entry->server, times = entry->service_text, answers = entry->statuses, name;
    while (pop_try(&names, &name)) {
        struct bli_log_span took = {0}, answer = {0};
        pop_try(&times, &took);
        pop_try(&answers, &answer);
        if (!bli_log_names_server(name))
            continue;
        struct bli_log_try visit = {.took = took.text ? read_took(entry, took, binding->service.scale) : -1,
                                    .status = answer.text ? read_status(answer) : 0};
        const enum bal_code code = bli_log_servers_number(servers, name, &visit.server, err);
        if (code)
            return code;
        if (record->tries < BLI_LOG_TRIES)
            record->visit[record->tries] = visit;
        record->tries++;
    }
    if (record->tries == 1 && record->visit[0].took < 0) /* known from the whole request only */
        record->visit[0].took = entry->service;
    return BAL_OK;
}
