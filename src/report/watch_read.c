/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the JSON of `ballast_status` for `ballast watch`. */
#include "report/watch.h"

#include "format/document.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bli_watch_states[WATCH_STATES] = {"idle",    "on",       "busy",    "set-up",
                                                    "off",     "draining", "failing", "unchecked",
                                                    "ejected", "closed",   "silent",  "down"};

#define NUMBER_MAX 1e18
enum { FLEET_STEPS = 500 }; /* what a fleet takes, in servers */

/* JSON is YAML. */
struct page_reader {
    struct bli_document *document;
    struct bal_error *err;
    enum bal_code code; /* the first failure */
};

static enum bal_code fail_field(struct page_reader *r, int node, const char *field, const char *what) {
    if (!r->code)
        r->code = bli_document_fail(r->document, r->err, node, field, BAL_E_FORMAT, "%s", what);
    return r->code;
}

static double to_number(struct page_reader *r, int node, const char *field) {
    const char *text =
        node && bli_node_kind(r->document, node) == BLI_NODE_TEXT ? bli_node_text(r->document, node) : "";
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= 0 && number <= NUMBER_MAX)) {
        fail_field(r, node, field, "a number that is not negative should be here");
        return 0;
    }
    return number;
}

static double read_number(struct page_reader *r, int map, const char *field) {
    return to_number(r, bli_node_get(r->document, map, field), field);
}

static char *read_word(struct page_reader *r, int map, const char *field) {
    const int node = bli_node_get(r->document, map, field);
    const bool text = node && bli_node_kind(r->document, node) == BLI_NODE_TEXT;
    char *copy = strdup(text ? bli_node_text(r->document, node) : "");
    if (!text)
        fail_field(r, map, field, "a text should be here");
    else if (!copy && !r->code)
        r->code = bal_fail(r->err, BAL_E_MEMORY, "not enough memory");
    return copy;
}

static bool is_true(struct page_reader *r, int map, const char *field) {
    const int node = bli_node_get(r->document, map, field);
    return node && bli_node_kind(r->document, node) == BLI_NODE_TEXT &&
           strcmp(bli_node_text(r->document, node), "true") == 0;
}

/* Members of a list; 0 with a failure when it is none. */
static size_t read_list(struct page_reader *r, int map, const char *field, int *node) {
    *node = bli_node_get(r->document, map, field);
    if (*node && bli_node_kind(r->document, *node) == BLI_NODE_LIST)
        return bli_node_count(r->document, *node);
    fail_field(r, map, field, "a list should be here");
    return 0;
}

static double sum_of(struct page_reader *r, int node) {
    double sum = 0;
    if (!node || bli_node_kind(r->document, node) == BLI_NODE_TEXT)
        return 0;
    for (size_t i = 0; i < bli_node_count(r->document, node); i++)
        sum +=
            to_number(r,
                      bli_node_kind(r->document, node) == BLI_NODE_MAP ? bli_node_value(r->document, node, i)
                                                                       : bli_node_item(r->document, node, i),
                      "counts");
    return sum;
}

/* ---- parts ---- */

static unsigned read_state(struct page_reader *r, int map) {
    char *state = read_word(r, map, "state");
    unsigned i = 0;
    while (state && i < WATCH_STATES - 1 && strcmp(state, bli_watch_states[i]) != 0)
        i++;
    free(state);
    return i;
}

static void read_times(struct page_reader *r, int fleet, struct watch_fleet *f) {
    int classes, buckets;
    const size_t count = read_list(r, fleet, "response", &classes);
    f->classes = (unsigned)(count < WATCH_CLASSES ? count : WATCH_CLASSES);
    for (unsigned rank = 0; rank < f->classes; rank++) {
        const size_t filled = read_list(r, bli_node_item(r->document, classes, rank), "buckets", &buckets);
        for (size_t i = 0; i < filled && !r->code; i++) {
            const int pair = bli_node_item(r->document, buckets, i);
            if (bli_node_kind(r->document, pair) != BLI_NODE_LIST || bli_node_count(r->document, pair) != 2) {
                fail_field(r, pair, "buckets", "a number and a count should be here");
                return;
            }
            const double at = to_number(r, bli_node_item(r->document, pair, 0), "buckets");
            if (at >= 0 && at < WATCH_BUCKETS)
                f->times[rank].count[(size_t)at] =
                    to_number(r, bli_node_item(r->document, pair, 1), "buckets");
        }
    }
}

static void read_server(struct page_reader *r, int node, struct watch_server *s) {
    s->name = read_word(r, node, "name");
    s->state = read_state(r, node);
    s->in_service = read_number(r, node, "in_service");
    s->queue = read_number(r, node, "queue");
    s->in_flight = read_number(r, node, "in_flight");
    s->answered = read_number(r, node, "answered");
    s->failed = read_number(r, node, "failed");
    s->seconds = read_number(r, node, "response_seconds");
}

/* Not more than any real status has: with aliases a short text can expand to many. */
static bool make_servers(struct page_reader *r, struct watch_fleet *f, size_t count) {
    r->code = r->code ? r->code : bli_document_count_steps(r->document, 10 * count, r->err);
    if (r->code)
        return false;
    f->server = calloc(count ? count : 1, sizeof *f->server);
    f->servers = f->server ? count : 0;
    if (!f->server)
        r->code = bal_fail(r->err, BAL_E_MEMORY, "not enough memory");
    return f->server;
}

/* Of servers of a dispatcher, or dispatchers of a station. Older releases have no addresses. */
static void read_peers(struct page_reader *r, int node, int list, struct watch_fleet *f) {
    const size_t count =
        list && bli_node_kind(r->document, list) == BLI_NODE_LIST ? bli_node_count(r->document, list) : 0;
    if (r->code || !bli_node_get(r->document, node, "address"))
        return;
    f->address = read_word(r, node, "address");
    r->code = r->code ? r->code : bli_document_count_steps(r->document, 4 * count, r->err);
    if (r->code)
        return;
    f->peer = calloc(count + 1, sizeof *f->peer);
    if (!f->peer)
        r->code = bal_fail(r->err, BAL_E_MEMORY, "not enough memory");
    for (size_t i = 0; i < count && !r->code; i++) {
        const int item = bli_node_item(r->document, list, i);
        struct watch_peer *peer = &f->peer[f->peers++];
        peer->name = read_word(r, item, "name");
        peer->heard_age =
            bli_node_get(r->document, item, "heard_age") ? read_number(r, item, "heard_age") : NAN;
    }
}

static void read_both(struct page_reader *r, int node, struct watch_fleet *f) {
    const int counts = bli_node_get(r->document, node, "counts");
    const int messages = bli_node_get(r->document, node, "messages");
    f->name = read_word(r, node, "upstream");
    f->arrived = read_number(r, counts, "arrived");
    f->failed = read_number(r, counts, "failed");
    f->messages = sum_of(r, bli_node_get(r->document, messages, "said")) +
                  sum_of(r, bli_node_get(r->document, messages, "heard"));
    f->metered = bli_node_get(r->document, node, "joules");
    f->joules = f->metered ? read_number(r, node, "joules") : 0;
    read_times(r, node, f);
}

static void read_dispatcher(struct page_reader *r, int node, struct watch_fleet *f) {
    int servers;
    read_both(r, node, f);
    f->policy = read_word(r, node, "policy");
    f->backup = is_true(r, node, "backup");
    f->held = sum_of(r, bli_node_get(r->document, node, "held"));
    const size_t count = read_list(r, node, "servers", &servers);
    if (!make_servers(r, f, count))
        return;
    for (size_t i = 0; i < count && !r->code; i++)
        read_server(r, bli_node_item(r->document, servers, i), &f->server[i]);
    read_peers(r, node, servers, f);
}

/* Its app is its only server. */
static void read_station(struct page_reader *r, int node, struct watch_fleet *f) {
    const int counts = bli_node_get(r->document, node, "counts");
    read_both(r, node, f);
    f->held = read_number(r, node, "waiting");
    if (!make_servers(r, f, 1))
        return;
    f->server->name = read_word(r, node, "upstream");
    f->server->state = read_state(r, node);
    f->server->in_service = read_number(r, node, "running");
    f->server->queue = f->held;
    f->server->in_flight = f->server->in_service + f->held;
    f->server->answered = read_number(r, counts, "answered");
    f->server->failed = read_number(r, counts, "failed");
    read_peers(r, node, bli_node_get(r->document, node, "dispatchers"), f);
}

/* ---- the last hour ---- */

enum { TIME, SECONDS, ARRIVED, HELD, ON, P99, FIELDS };
static const char *const field_names[FIELDS] = {"time", "seconds", "arrived", "held", "on", "p99"};

/* Where each field is in a point: newer releases may have more. */
static void find_fields(struct page_reader *r, int root, size_t place[FIELDS]) {
    int list;
    const size_t count = read_list(r, root, "fields", &list);
    for (unsigned k = 0; k < FIELDS && !r->code; k++) {
        place[k] = 0;
        for (int item; place[k] < count; place[k]++)
            if (item = bli_node_item(r->document, list, place[k]),
                bli_node_kind(r->document, item) == BLI_NODE_TEXT &&
                    strcmp(bli_node_text(r->document, item), field_names[k]) == 0)
                break;
        if (place[k] == count)
            fail_field(r, list, "fields", "time, seconds, arrived, held, on and p99 should be here");
    }
}

/* Over classes; null: none of the class was answered. */
static double read_longest(struct page_reader *r, int list) {
    double longest = NAN;
    if (!list || bli_node_kind(r->document, list) != BLI_NODE_LIST) {
        fail_field(r, list, "p99", "a list should be here");
        return NAN;
    }
    const size_t count = bli_node_count(r->document, list);
    r->code = r->code ? r->code : bli_document_count_steps(r->document, count, r->err);
    for (size_t i = 0; i < count && !r->code; i++) {
        const int item = bli_node_item(r->document, list, i);
        if (bli_node_kind(r->document, item) != BLI_NODE_TEXT ||
            strcmp(bli_node_text(r->document, item), "null") != 0)
            longest = fmax(longest, to_number(r, item, "p99"));
    }
    return longest;
}

static struct watch_point read_point(struct page_reader *r, int node, const size_t place[FIELDS]) {
    int item[FIELDS] = {0};
    const size_t count =
        bli_node_kind(r->document, node) == BLI_NODE_LIST ? bli_node_count(r->document, node) : 0;
    for (unsigned k = 0; k < FIELDS; k++)
        item[k] = place[k] < count ? bli_node_item(r->document, node, place[k]) : 0;
    return (struct watch_point){.time = to_number(r, item[TIME], "time"),
                                .seconds = to_number(r, item[SECONDS], "seconds"),
                                .arrived = to_number(r, item[ARRIVED], "arrived"),
                                .held = to_number(r, item[HELD], "held"),
                                .on = to_number(r, item[ON], "on"),
                                .p99 = read_longest(r, item[P99])};
}

static void read_series(struct page_reader *r, int node, const size_t place[FIELDS], struct watch_series *s) {
    int points;
    s->name = read_word(r, node, "upstream");
    s->station = is_true(r, node, "station");
    s->backup = is_true(r, node, "backup");
    const size_t count = read_list(r, node, "points", &points);
    r->code = r->code ? r->code : bli_document_count_steps(r->document, 10 * count, r->err);
    if (r->code)
        return;
    s->point = calloc(count + 1, sizeof *s->point);
    if (!s->point)
        r->code = bal_fail(r->err, BAL_E_MEMORY, "not enough memory");
    for (; s->points < count && !r->code; s->points++)
        s->point[s->points] = read_point(r, bli_node_item(r->document, points, s->points), place);
}

static void read_hour(struct page_reader *r, struct watch_history *history) {
    const int root = bli_document_root(r->document);
    size_t place[FIELDS];
    int list;
    if (bli_node_kind(r->document, root) != BLI_NODE_MAP || !bli_node_get(r->document, root, "history"))
        return;
    find_fields(r, root, place);
    const size_t count = read_list(r, root, "history", &list);
    r->code = r->code ? r->code : bli_document_count_steps(r->document, 10 * count, r->err);
    if (r->code)
        return;
    history->series = calloc(count + 1, sizeof *history->series);
    if (!history->series)
        r->code = bal_fail(r->err, BAL_E_MEMORY, "not enough memory");
    for (size_t i = 0; i < count && !r->code; i++)
        read_series(r, bli_node_item(r->document, list, i), place, &history->series[history->count++]);
}

enum bal_code bli_watch_read_history(struct watch_history *history, const char *json, size_t length,
                                     const char *name, struct bal_error *err) {
    struct page_reader r = {.err = err};
    *history = (struct watch_history){0};
    r.code = bli_document_new(json, length, name, &r.document, err);
    if (r.code)
        return r.code;
    read_hour(&r, history);
    bli_document_free(r.document);
    return r.code;
}

void bli_watch_free_history(struct watch_history *history) {
    for (size_t i = 0; i < history->count; i++) {
        free(history->series[i].name);
        free(history->series[i].point);
    }
    free(history->series);
    *history = (struct watch_history){0};
}

/* ---- all ---- */

static void read_all(struct page_reader *r, struct watch *watch) {
    const int root = bli_document_root(r->document);
    int bounds, dispatchers, stations;
    if (bli_node_kind(r->document, root) != BLI_NODE_MAP || read_number(r, root, "schema") != 1) {
        fail_field(r, root, "schema",
                   "this is not what ballast_status says, or another version of it: 1 is understood");
        return;
    }
    watch->time = read_number(r, root, "time");
    const size_t count = read_list(r, root, "bounds", &bounds);
    for (; watch->bounds < count && watch->bounds < WATCH_BUCKETS - 1; watch->bounds++)
        watch->bound[watch->bounds] =
            to_number(r, bli_node_item(r->document, bounds, watch->bounds), "bounds");
    const size_t n = read_list(r, root, "dispatchers", &dispatchers),
                 m = read_list(r, root, "stations", &stations);
    r->code = r->code ? r->code : bli_document_count_steps(r->document, FLEET_STEPS * (n + m), r->err);
    if (r->code)
        return;
    watch->fleet = calloc(n + m + 1, sizeof *watch->fleet);
    if (!watch->fleet)
        r->code = bal_fail(r->err, BAL_E_MEMORY, "not enough memory");
    for (size_t i = 0; i < n && !r->code; i++)
        read_dispatcher(r, bli_node_item(r->document, dispatchers, i), &watch->fleet[watch->fleets++]);
    for (size_t i = 0; i < m && !r->code; i++)
        read_station(r, bli_node_item(r->document, stations, i), &watch->fleet[watch->fleets++]);
}

enum bal_code bli_watch_read(struct watch *watch, const char *json, size_t length, const char *name,
                             struct bal_error *err) {
    struct page_reader r = {.err = err};
    *watch = (struct watch){0};
    r.code = bli_document_new(json, length, name, &r.document, err);
    if (r.code)
        return r.code;
    read_all(&r, watch);
    bli_document_free(r.document);
    return r.code;
}

void bli_watch_free(struct watch *watch) {
    for (size_t i = 0; i < watch->fleets; i++) {
        struct watch_fleet *f = &watch->fleet[i];
        for (size_t k = 0; k < f->servers; k++)
            free(f->server[k].name);
        for (size_t k = 0; k < f->peers; k++)
            free(f->peer[k].name);
        free(f->peer);
        free(f->address);
        free(f->server);
        free(f->name);
        free(f->policy);
    }
    free(watch->fleet);
    *watch = (struct watch){0};
}
