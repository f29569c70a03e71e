/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of a network: reading and writing the text. */
#include "ballast/network.h"

#include "ballast/number.h"

#include <stdio.h>
#include <string.h>

#define SHORTEST 1e-9
#define LATEST 1e14 /* below what is printed with a + */

static const char *const kind_names[] = {
    [BLI_EVENT_RESTART_DISPATCHERS] = "restart-dispatchers",
    [BLI_EVENT_RESTART_SERVERS] = "restart-servers",
    [BLI_EVENT_CUT] = "cut",
    [BLI_EVENT_LOSS] = "loss",
};

static enum bal_code bad_event(const char *text, size_t length, const char *why, struct bal_error *err) {
    return bal_fail(err, BAL_E_SYNTAX,
                    "'%.*s': %s; write none, or events such as cut:0.3@1000+50 restart-dispatchers@2000+10",
                    (int)(length < 60 ? length : 60), text, why);
}

static bool read_share_number(const char *text, size_t length, double most, double *share) {
    return bli_share_parse(text, length, share) && *share > 0 && *share <= most;
}

static bool read_time(const char *text, size_t length, double least, double *time) {
    return bli_number_parse(text, length, time) && *time >= least && *time <= LATEST;
}

static const char *read_share(const char *text, size_t length, struct bli_network_event *event) {
    const char *comma = memchr(text, ',', length);
    const size_t first = comma ? (size_t)(comma - text) : length;
    const double most = event->kind == BLI_EVENT_LOSS ? 0.99 : 1;
    if (!read_share_number(text, first, most, &event->share))
        return event->kind == BLI_EVENT_LOSS ? "a loss has a probability above 0, at most 0.99"
                                             : "a share lies above 0, and is at most 1";
    if (!comma)
        return NULL;
    const char *second = comma + 1;
    const size_t rest = length - first - 1;
    switch (event->kind) {
    case BLI_EVENT_CUT:
        return read_share_number(second, rest, 1, &event->dispatchers)
                   ? NULL
                   : "a share lies above 0, and is at most 1";
    case BLI_EVENT_RESTART_SERVERS:
        return read_time(second, rest, SHORTEST, &event->down) ? NULL : "a server is down for a time above 0";
    default:
        return "only cut and restart-servers have a second number";
    }
}

static const char *read_times(const char *text, size_t length, struct bli_network_event *event) {
    const char *plus = memchr(text, '+', length);
    const size_t first = plus ? (size_t)(plus - text) : length;
    const bool lasts = event->kind == BLI_EVENT_CUT || event->kind == BLI_EVENT_LOSS;
    if (!read_time(text, first, 0, &event->at))
        return "after the @ there is a time from 0";
    if (!plus)
        return lasts ? "cut and loss need a length, as in @1000+50" : NULL;
    if (!read_time(plus + 1, length - first - 1, lasts ? SHORTEST : 0, &event->length))
        return "after the + there is a length of time";
    return NULL;
}

static const char *read_event(const char *text, size_t length, struct bli_network_event *event) {
    const char *at = memchr(text, '@', length);
    if (!at)
        return "an event has a time, as in cut:0.3@1000+50";
    const char *colon = memchr(text, ':', (size_t)(at - text));
    const size_t name = (size_t)((colon ? colon : at) - text);
    int kind = 0;
    while (kind < BLI_NETWORK_EVENT_KINDS &&
           (strlen(kind_names[kind]) != name || memcmp(text, kind_names[kind], name) != 0))
        kind++;
    if (kind == BLI_NETWORK_EVENT_KINDS)
        return "the kinds are restart-dispatchers, restart-servers, cut and loss";
    *event = (struct bli_network_event){
        .kind = (enum bli_network_event_kind)kind, .share = 1, .dispatchers = 1, .down = 1};
    if (!colon && (kind == BLI_EVENT_CUT || kind == BLI_EVENT_LOSS))
        return "cut and loss need a share, as in cut:0.3@1000+50";
    const char *why = colon ? read_share(colon + 1, (size_t)(at - colon - 1), event) : NULL;
    return why ? why : read_times(at + 1, length - (size_t)(at + 1 - text), event);
}

enum bal_code bli_network_events_parse(const char *text, struct bli_network_events *events,
                                       struct bal_error *err) {
    struct bli_network_events read = {0};
    if (strcmp(text, "none") == 0) {
        *events = read;
        return BAL_OK;
    }
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (read.count == BLI_NETWORK_EVENTS_MAX)
            return bad_event(at, length, "one more than 16 events", err);
        const char *why = read_event(at, length, &read.event[read.count++]);
        if (why)
            return bad_event(at, length, why, err);
        at += length;
    }
    if (read.count == 0)
        return bad_event(text, strlen(text), "there is no event", err);
    *events = read;
    return BAL_OK;
}

/* Appends to a text of limited size, as snprintf counts. */
static size_t append(char *text, size_t size, size_t length, const char *before, double number) {
    char piece[BLI_NUMBER_TEXT] = "";
    if (number >= 0)
        bli_number_print(number, piece);
    return length + (size_t)snprintf(length < size ? text + length : NULL, length < size ? size - length : 0,
                                     "%s%s", before, piece);
}

static size_t print_event(const struct bli_network_event *event, char *text, size_t size, size_t length) {
    const bool restarts_servers = event->kind == BLI_EVENT_RESTART_SERVERS;
    const bool second = restarts_servers ? event->down != 1 : event->dispatchers != 1;
    length = append(text, size, length, kind_names[event->kind], -1);
    if (second || event->share != 1)
        length = append(text, size, length, ":", event->share);
    else if (event->kind == BLI_EVENT_CUT)
        length = append(text, size, length, ":", 1);
    if (second)
        length = append(text, size, length, ",", restarts_servers ? event->down : event->dispatchers);
    length = append(text, size, length, "@", event->at);
    return event->length > 0 ? append(text, size, length, "+", event->length) : length;
}

size_t bli_network_events_print(const struct bli_network_events *events, char *text, size_t size) {
    if (events->count == 0)
        return append(text, size, 0, "none", -1);
    size_t length = 0;
    for (unsigned i = 0; i < events->count; i++) {
        length = append(text, size, length, i ? " " : "", -1);
        length = print_event(&events->event[i], text, size, length);
    }
    return length;
}
