/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the records of requests and the status that a dispatcher reports. */
#include "twin/parse_requests.h"

#include "ballast/number.h"
#include "format/document.h"
#include "log/servers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 8, SCHEMA = 1, URGENCIES = 8, USUAL = 3 };

static enum bal_code fail_at_line(struct bal_error *err, uint64_t line, const char *what) {
    return bal_fail(err, BAL_E_FORMAT, "line %" PRIu64 " of the answer: %s", line, what);
}

/* ---- values of documents ---- */

static bool is_one_of(const char *word, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

static bool parse_long_text(struct bli_document *d, int map, const char *name, char *text, size_t size) {
    const int node = bli_node_get(d, map, name);
    if (node == 0 || bli_node_kind(d, node) != BLI_NODE_TEXT || strlen(bli_node_text(d, node)) >= size)
        return false;
    snprintf(text, size, "%s", bli_node_text(d, node));
    return true;
}

static bool parse_text(struct bli_document *d, int map, const char *name, char text[BLI_RING_NAME]) {
    return parse_long_text(d, map, name, text, BLI_RING_NAME);
}

static bool parse_count(struct bli_document *d, int map, const char *name, double most, double *count) {
    const int node = bli_node_get(d, map, name);
    double value;
    if (node == 0 || bli_node_kind(d, node) != BLI_NODE_TEXT)
        return false;
    const char *end = bli_number_read(bli_node_text(d, node), &value);
    if (!end || *end || !(value >= 0 && value <= most) || value != floor(value))
        return false;
    *count = value;
    return true;
}

static bool is_true(struct bli_document *d, int map, const char *name) {
    char text[BLI_RING_NAME];
    return parse_text(d, map, name, text) && strcmp(text, "true") == 0;
}

static bool has_schema(struct bli_document *d) {
    double schema = 0;
    return bli_node_kind(d, bli_document_root(d)) == BLI_NODE_MAP &&
           parse_count(d, bli_document_root(d), "schema", 1e9, &schema) && schema == SCHEMA;
}

/* ---- records ---- */

static bool has_fields(struct bli_document *d) {
    static const char *const names[FIELDS] = {"number", "arrived_seconds", "wait_us", "service_us",
                                              "server", "class",           "status",  "reason"};
    const int list = bli_node_get(d, bli_document_root(d), "fields");
    if (list == 0 || bli_node_kind(d, list) != BLI_NODE_LIST || bli_node_count(d, list) < FIELDS)
        return false;
    for (size_t i = 0; i < FIELDS; i++) {
        const int item = bli_node_item(d, list, i);
        if (bli_node_kind(d, item) != BLI_NODE_TEXT || strcmp(bli_node_text(d, item), names[i]) != 0)
            return false;
    }
    return true;
}

static enum bal_code read_head(const char *text, size_t length, struct bli_ring_head *head,
                               struct bal_error *err) {
    struct bli_document *d;
    if (bli_document_new(text, length, "the answer", &d, NULL))
        return fail_at_line(err, 1, "no object; is this the address of ballast_status?");
    const int root = bli_document_root(d);
    double first = 0, next = 0, lost = 0, classes = 1;
    const double most = 0x1p53;
    const bool right = has_schema(d) && has_fields(d) && parse_text(d, root, "upstream", head->upstream) &&
                       parse_count(d, root, "first", most, &first) &&
                       parse_count(d, root, "next", most, &next) &&
                       parse_count(d, root, "lost", most, &lost) && next >= first;
    head->station = right && is_true(d, root, "station");
    parse_count(d, root, "classes", UINT32_MAX, &classes);
    head->classes = classes >= 1 ? (uint32_t)classes : 1;
    head->first = (uint64_t)first;
    head->next = (uint64_t)next;
    head->lost = (uint64_t)lost;
    bli_document_free(d);
    return right ? BAL_OK : fail_at_line(err, 1, "not the head of records of schema 1");
}

/* Digits, at most `most`; NULL: no such number. */
static const char *read_whole(const char *at, const char *end, uint64_t most, uint64_t *value) {
    const char *start = at;
    *value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        *value = 10 * *value + (uint64_t)(*at - '0');
        if (*value > most)
            return NULL;
    }
    return at > start ? at : NULL;
}

static const char *read_sign(const char *at, const char *end, char sign) {
    return at && at < end && *at == sign ? at + 1 : NULL;
}

/* Seconds with six digits behind the point, in nanoseconds. */
static const char *read_moment(const char *at, const char *end, int64_t *time) {
    uint64_t seconds, micro;
    const uint64_t most = 4000000000u; /* in the year 2096 */
    const char *point = read_whole(at, end, most, &seconds);
    point = read_sign(point, end, '.');
    const char *behind = point ? read_whole(point, end, 999999, &micro) : NULL;
    if (!behind || behind - point != 6)
        return NULL;
    *time = (int64_t)seconds * 1000000000 + (int64_t)micro * 1000;
    return behind;
}

struct request_record {
    uint64_t number, wait_us, service_us, server, class, status;
    int64_t arrived;
    char reason[16];
};

/* [number,arrived,wait,service,server,class,status,"reason"...] */
static bool read_record(const char *at, const char *end, struct request_record *r) {
    const uint64_t small = UINT32_MAX;
    at = read_sign(at, end, '[');
    at = at ? read_whole(at, end, UINT64_C(1) << 62, &r->number) : NULL;
    at = read_sign(at, end, ',');
    at = at ? read_moment(at, end, &r->arrived) : NULL;
    uint64_t *const rest[] = {&r->wait_us, &r->service_us, &r->server, &r->class, &r->status};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        at = read_sign(at, end, ',');
        at = at ? read_whole(at, end, small, rest[i]) : NULL;
    }
    at = read_sign(at, end, ',');
    at = read_sign(at, end, '"');
    const char *quote = at ? memchr(at, '"', (size_t)(end - at)) : NULL;
    if (!quote || (size_t)(quote - at) >= sizeof r->reason || end[-1] != ']')
        return false;
    snprintf(r->reason, sizeof r->reason, "%.*s", (int)(quote - at), at);
    return true;
}

/* Was it at a server of this fleet? */
static bool is_served(const struct request_record *r) {
    static const char *const others[] = {"none", "full", "overdue", "backup"};
    return !is_one_of(r->reason, others, 4) && r->server < BLI_RING_SERVERS;
}

/* As the module does for policies of two classes: of eight urgencies those above the usual one. */
static bool is_high(const struct request_record *r, const struct bli_ring_head *head) {
    return head->classes > 1 && r->class < (head->classes >= URGENCIES ? USUAL : 1);
}

static struct bli_trace_job job_of(const struct request_record *r, const struct bli_ring_head *head) {
    const int64_t wait = (int64_t)r->wait_us * 1000, service = (int64_t)r->service_us * 1000;
    return (struct bli_trace_job){.time = r->arrived + wait,
                                  .ahead = wait,
                                  .size = service > 0 ? service : 250, /* below the resolution */
                                  .high = is_high(r, head),
                                  .server = (uint32_t)r->server + 1,
                                  .aborted = r->status == 0 || r->status == 499 || r->status == 502 ||
                                             r->status == 504};
}

enum bal_code bli_ring_read(const char *text, size_t length, struct bli_ring_head *head,
                            void (*take)(void *context, const struct bli_trace_job *job), void *context,
                            struct bal_error *err) {
    *head = (struct bli_ring_head){.first = 0};
    const char *const all = text + length;
    const char *end = length > 0 ? memchr(text, '\n', length) : NULL;
    if (!end)
        return fail_at_line(err, 1, "it has no end; is this the address of ballast_status?");
    enum bal_code code = read_head(text, (size_t)(end - text), head, err);
    uint64_t line = 1, number = head->first;
    for (const char *at = end + 1; !code && at < all; at = end + 1) {
        struct request_record record;
        line++;
        end = memchr(at, '\n', (size_t)(all - at));
        if (!end)
            return fail_at_line(err, line, "it has no end: the answer is cut off");
        if (!read_record(at, end, &record) || record.number != number++)
            return fail_at_line(err, line, "no record");
        if (is_served(&record)) {
            const struct bli_trace_job job = job_of(&record, head);
            take(context, &job);
        }
    }
    if (!code && number != head->next)
        return fail_at_line(err, line, "there are fewer records than its head says");
    return code;
}

/* ---- the fleet ---- */

/* Is it meant to work? And does it at present? */
static bool is_counted(struct bli_document *d, int server, bool *away) {
    static const char *const leaving[] = {"draining", "down"};
    static const char *const closed[] = {"failing", "unchecked", "ejected", "closed", "silent"};
    char state[BLI_RING_NAME];
    if (!parse_text(d, server, "state", state) || is_one_of(state, leaving, 2))
        return false;
    *away = is_one_of(state, closed, sizeof closed / sizeof *closed);
    return true;
}

static enum bal_code read_servers(struct bli_document *d, int list, struct bli_ring_fleet *fleet,
                                  struct bli_log_servers *names, struct bal_error *err) {
    if (list == 0 || bli_node_kind(d, list) != BLI_NODE_LIST || bli_node_count(d, list) > BLI_RING_SERVERS)
        return bal_fail(err, BAL_E_FORMAT, "the status has no list of servers");
    for (size_t i = 0; i < bli_node_count(d, list); i++) {
        const int server = bli_node_item(d, list, i);
        char name[BLI_RING_NAME];
        bool away;
        if (bli_node_kind(d, server) != BLI_NODE_MAP || !is_counted(d, server, &away))
            continue;
        fleet->servers++;
        fleet->away += away;
        uint32_t number;
        const bool named = names && parse_text(d, server, "name", name) && *name;
        const enum bal_code code =
            named ? bli_log_servers_number(names, (struct bli_log_span){name, strlen(name)}, &number, err)
                  : BAL_OK;
        if (code)
            return code;
    }
    return fleet->servers > 0 ? BAL_OK : bal_fail(err, BAL_E_FORMAT, "the status has no server that works");
}

static bool is_wanted(struct bli_document *d, int dispatcher, const char *upstream) {
    char name[BLI_RING_NAME];
    return bli_node_kind(d, dispatcher) == BLI_NODE_MAP && !is_true(d, dispatcher, "backup") &&
           parse_text(d, dispatcher, "upstream", name) && (!upstream || strcmp(name, upstream) == 0);
}

enum bal_code bli_ring_fleet(const char *text, size_t length, const char *upstream,
                             struct bli_ring_fleet *fleet, struct bli_log_servers *names,
                             struct bal_error *err) {
    struct bli_document *d;
    *fleet = (struct bli_ring_fleet){.slots = 0};
    if (bli_document_new(text, length, "the status", &d, NULL))
        return bal_fail(err, BAL_E_FORMAT, "the status is no JSON; is this the address of ballast_status?");
    enum bal_code code = BAL_OK;
    const int list = has_schema(d) ? bli_node_get(d, bli_document_root(d), "dispatchers") : 0;
    int found = 0;
    if (list != 0 && bli_node_kind(d, list) == BLI_NODE_LIST)
        for (size_t i = 0; i < bli_node_count(d, list) && found == 0; i++)
            if (is_wanted(d, bli_node_item(d, list, i), upstream))
                found = bli_node_item(d, list, i);
    double slots = 0;
    if (found == 0 || !parse_text(d, found, "policy", fleet->policy) ||
        !parse_count(d, found, "slots", 1e6, &slots))
        code = bal_fail(err, BAL_E_FORMAT, "the status has no dispatcher%s%.100s of schema 1",
                        upstream ? " " : "", upstream ? upstream : "");
    fleet->slots = slots >= 1 ? (uint32_t)slots : 1;
    fleet->stations = !code && is_true(d, found, "stations");
    if (code || !parse_text(d, found, "class", fleet->class))
        fleet->class[0] = 0;
    fleet->options_known =
        !code && parse_long_text(d, found, "options", fleet->options, sizeof fleet->options);
    if (!code)
        code = read_servers(d, bli_node_get(d, found, "servers"), fleet, names, err);
    bli_document_free(d);
    return code;
}
