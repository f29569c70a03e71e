/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast server ACTION [SERVER|POLICY] URL...: changes servers and policies of running dispatchers by their
 * ballast_api. */
#include "commands.h"
#include "terminal.h"

#include "base/strbuf.h"
#include "base/utf8.h"
#include "format/json.h"
#include "format/json_reader.h"
#include "load/fetch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE 10.0 /* seconds for an answer */
#define PAUSE 0.25    /* seconds between two looks while waiting */
enum { DISPATCHERS_MAX = 256, NAME = 256, WORD = 24, CHANGED = 256 };

/* ---- what is asked for ---- */

enum action { LIST, ADD, DRAIN, ENABLE, DISABLE, SET, POLICY, RESET, REMOVE };

struct args {
    const char *upstream, *header;   /* NULL: not given */
    double weight, max_conns, slots; /* -1: not given */
    bool backup, wait;
    double timeout;
    enum bli_form format;
};

static enum bal_code set_header(void *into, const char *value, struct bal_error *err) {
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return bal_fail(err, BAL_E_SYNTAX, "a header is one line");
    if (!strchr(value, ':') || *value == ':' || strlen(value) > FETCH_HEAD / 2)
        return bal_fail(err, BAL_E_SYNTAX, "write NAME: VALUE, as in 'Authorization: Bearer TOKEN'");
    ((struct args *)into)->header = value;
    return BAL_OK;
}

static enum bal_code read_count(const char *value, double low, double *number, struct bal_error *err) {
    const struct bli_option_range range = {
        low, 1e6, true, low > 0 ? "a whole number from 1 to 1000000" : "a whole number up to 1000000"};
    return bli_option_number(value, &range, number, err);
}

static enum bal_code set_weight(void *into, const char *value, struct bal_error *err) {
    return read_count(value, 1, &((struct args *)into)->weight, err);
}

static enum bal_code set_max_conns(void *into, const char *value, struct bal_error *err) {
    return read_count(value, 0, &((struct args *)into)->max_conns, err);
}

static enum bal_code set_slots(void *into, const char *value, struct bal_error *err) {
    return read_count(value, 1, &((struct args *)into)->slots, err);
}

static const struct bli_option options[] = {
    {"upstream", "NAME", "where dispatchers have several upstreams with that server",
     BLI_STORES_TEXT(struct args, upstream)},
    {"weight", "N", "add, set: its weight, for policies that use weights", set_weight},
    {"max-conns", "N", "add, set: requests at it at most, 0 for any number", set_max_conns},
    {"slots", "N", "add, set: requests that it works on at once", set_slots},
    {"backup", NULL, "add: among the backup servers", BLI_STORES_FLAG(struct args, backup)},
    {"wait", NULL, "drain, disable, remove: until it has no request left at any dispatcher",
     BLI_STORES_FLAG(struct args, wait)},
    {"timeout", "SECONDS", "how long to --wait at most (default 300)",
     BLI_STORES_NUMBER(struct args, timeout, 0, 86400, "seconds up to 86400")},
    {"header", "TEXT", "send this header too, as in 'Authorization: Bearer TOKEN'", set_header},
    {"format", "text|json", "of what is printed", BLI_STORES_FORM(struct args, format)},
};

/* ---- what a dispatcher has answered ---- */

struct server_row {
    char upstream[NAME], server[NAME], state[WORD], now[WORD], changed[CHANGED];
    double in_flight, weight, max_conns, slots; /* -1: not said */
    bool backup, added;
};

struct api_dispatcher {
    const char *url;
    struct target target;
    struct server_row *row;
    size_t rows, room;
    struct bal_error err;                /* why it has failed; err.code BAL_OK: it has not */
    char upstream[NAME];                 /* in which something is changed ... */
    char policy[NAME], configured[NAME]; /* ... its policy, and that of the configuration; "": the same one */
};

struct api_server {
    const struct args *args;
    enum action action;
    char server[NAME]; /* or a policy; "": all are listed */
    struct api_dispatcher *dispatcher;
    size_t dispatchers;
};

static struct server_row *push_row(struct api_dispatcher *d) {
    if (d->rows == d->room) {
        const size_t room = d->room ? 2 * d->room : 64;
        struct server_row *row = realloc(d->row, room * sizeof *row);
        if (!row)
            return NULL;
        d->row = row;
        d->room = room;
    }
    d->row[d->rows] = (struct server_row){.in_flight = 0, .weight = -1, .max_conns = -1, .slots = -1};
    return &d->row[d->rows++];
}

/* The text of a value as it stands there. */
static bool read_raw(struct json_reader *r, char *text, size_t room) {
    bli_json_reader_peek(r);
    const char *from = r->at;
    if (!bli_json_reader_skip(r))
        return false;
    const size_t length = (size_t)(r->at - from) < room ? (size_t)(r->at - from) : room - 1;
    memcpy(text, from, length);
    text[length] = '\0';
    return true;
}

static bool read_member(struct json_reader *r, const char *key, struct server_row *row) {
    if (strcmp(key, "server") == 0)
        return bli_json_reader_string(r, row->server, sizeof row->server);
    if (strcmp(key, "state") == 0)
        return bli_json_reader_string(r, row->state, sizeof row->state);
    if (strcmp(key, "now") == 0)
        return bli_json_reader_string(r, row->now, sizeof row->now);
    if (strcmp(key, "in_flight") == 0)
        return bli_json_reader_number(r, &row->in_flight);
    if (strcmp(key, "weight") == 0)
        return bli_json_reader_number(r, &row->weight);
    if (strcmp(key, "max_conns") == 0)
        return bli_json_reader_number(r, &row->max_conns);
    if (strcmp(key, "slots") == 0)
        return bli_json_reader_number(r, &row->slots);
    if (strcmp(key, "backup") == 0)
        return bli_json_reader_bool(r, &row->backup);
    if (strcmp(key, "added") == 0)
        return bli_json_reader_bool(r, &row->added);
    if (strcmp(key, "changed") == 0)
        return read_raw(r, row->changed, sizeof row->changed);
    return bli_json_reader_skip(r);
}

static bool read_servers(struct json_reader *r, struct api_dispatcher *d, const char *upstream) {
    char key[NAME];
    if (!bli_json_reader_open(r, '['))
        return false;
    while (bli_json_reader_item(r)) {
        struct server_row *row = push_row(d);
        if (!row || !bli_json_reader_open(r, '{'))
            return bli_json_reader_fail(r, "not enough memory");
        memcpy(row->upstream, upstream, sizeof row->upstream);
        while (bli_json_reader_key(r, key, sizeof key))
            if (!read_member(r, key, row))
                return false;
    }
    return !r->fault;
}

/* An upstream without servers is one, too: a server may be added to it. */
static bool read_upstream(struct json_reader *r, struct api_dispatcher *d, char names[][NAME],
                          size_t *count) {
    char key[NAME], name[NAME] = "", policy[NAME] = "", configured[NAME] = "";
    if (!bli_json_reader_open(r, '{'))
        return false;
    while (bli_json_reader_key(r, key, sizeof key)) {
        if (strcmp(key, "name") == 0         ? !bli_json_reader_string(r, name, sizeof name)
            : strcmp(key, "servers") == 0    ? !read_servers(r, d, name)
            : strcmp(key, "policy") == 0     ? !bli_json_reader_string(r, policy, sizeof policy)
            : strcmp(key, "configured") == 0 ? !bli_json_reader_string(r, configured, sizeof configured)
                                             : !bli_json_reader_skip(r))
            return false;
    }
    if (strcmp(name, d->upstream) == 0) {
        memcpy(d->policy, policy, sizeof policy);
        memcpy(d->configured, configured, sizeof configured);
    }
    if (*count < 2)
        memcpy(names[(*count)++], name, sizeof name);
    return !r->fault;
}

static bool read_upstreams(struct json_reader *r, struct api_dispatcher *d, char names[][NAME],
                           size_t *count) {
    if (!bli_json_reader_open(r, '['))
        return false;
    while (bli_json_reader_item(r))
        if (!read_upstream(r, d, names, count))
            return false;
    return !r->fault;
}

/* The first two upstreams, too. */
static enum bal_code read_answer(struct api_dispatcher *d, const struct bli_fetched *fetched,
                                 char names[2][NAME], size_t *count) {
    struct json_reader r;
    char key[NAME];
    bool any = false;
    *count = 0;
    d->rows = 0;
    bli_json_reader_init(&r, fetched->body, fetched->length);
    if (bli_json_reader_open(&r, '{'))
        while (bli_json_reader_key(&r, key, sizeof key)) {
            const bool here = strcmp(key, "upstreams") == 0;
            any |= here;
            if (here ? !read_upstreams(&r, d, names, count) : !bli_json_reader_skip(&r))
                break;
        }
    if (bli_json_reader_end(&r) && any)
        return BAL_OK;
    return bal_fail(&d->err, BAL_E_FORMAT, "its answer is not that of ballast_api: %s",
                    r.fault ? r.fault : "it has no upstreams");
}

/* ---- requests ---- */

/* What stands in an address beyond these is encoded. */
static void append_encoded(char *path, size_t room, const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/";
    size_t length = strlen(path);
    for (; *text && length + 4 < room; text++)
        length += (size_t)snprintf(path + length, room - length, strchr(plain, *text) ? "%c" : "%%%02X",
                                   (unsigned char)*text);
}

static struct target target_of(const struct api_dispatcher *d, const char *parts[], size_t count) {
    struct target target = d->target;
    char *path = target.path;
    path[strcspn(path, "?")] = '\0';
    while (*path && path[strlen(path) - 1] == '/')
        path[strlen(path) - 1] = '\0';
    for (size_t i = 0; i < count; i++) {
        append_encoded(path, sizeof target.path, "/");
        append_encoded(path, sizeof target.path, parts[i]);
    }
    if (count == 0)
        append_encoded(path, sizeof target.path, "/");
    return target;
}

/* The text of `{"error": "..."}`. */
static void read_error(const struct bli_fetched *fetched, char *text, size_t room) {
    struct json_reader r;
    char key[NAME];
    bli_json_reader_init(&r, fetched->body, fetched->length);
    if (bli_json_reader_open(&r, '{') && bli_json_reader_key(&r, key, sizeof key) &&
        strcmp(key, "error") == 0 && bli_json_reader_string(&r, text, room))
        return;
    snprintf(text, room, "use the URL of a location with ballast_api, which lets this machine in");
}

/* On failure d->err says why. */
static enum bal_code exchange(const struct api_server *s, struct api_dispatcher *d, const char *method,
                              const struct target *target, const char *body, struct bli_fetched *fetched) {
    const struct bli_fetch_request request = {
        .method = method, .accept = "application/json", .header = s->args->header, .body = body};
    char text[400];
    const enum bal_code code = bli_load_send(target, &request, PATIENCE, fetched, &d->err);
    if (code)
        return code;
    if (fetched->status >= 200 && fetched->status < 300)
        return d->err.code = BAL_OK;
    read_error(fetched, text, sizeof text);
    const int status = fetched->status;
    free(fetched->body);
    fetched->body = NULL;
    return bal_fail(&d->err, BAL_E_MODEL, "status %d: %s", status, text);
}

/* Looks at all servers; on failure d->err says why. */
static enum bal_code fetch_servers(const struct api_server *s, struct api_dispatcher *d, char names[2][NAME],
                                   size_t *count) {
    const struct target target = target_of(d, NULL, 0);
    struct bli_fetched fetched;
    enum bal_code code = exchange(s, d, "GET", &target, NULL, &fetched);
    if (code)
        return code;
    code = read_answer(d, &fetched, names, count);
    free(fetched.body);
    return code;
}

static const struct server_row *find_row(const struct api_server *s, const struct api_dispatcher *d,
                                         const char *upstream) {
    for (size_t i = 0; i < d->rows; i++)
        if (strcmp(d->row[i].server, s->server) == 0 &&
            (!upstream || strcmp(d->row[i].upstream, upstream) == 0))
            return &d->row[i];
    return NULL;
}

/* In which upstream: the one that is named, the only one that has the server, or the only one at all. */
static enum bal_code find_upstream(const struct api_server *s, struct api_dispatcher *d, char names[2][NAME],
                                   size_t count) {
    const struct server_row *row = find_row(s, d, s->args->upstream);
    const bool any = s->action == ADD || s->action == POLICY; /* whatever servers it has */
    size_t others = 0;
    if (s->args->upstream) {
        snprintf(d->upstream, sizeof d->upstream, "%s", s->args->upstream);
        return BAL_OK;
    }
    for (size_t i = 0; row && i < d->rows; i++)
        others += strcmp(d->row[i].server, s->server) == 0 && strcmp(d->row[i].upstream, row->upstream) != 0;
    if (any && count == 0)
        return bal_fail(&d->err, BAL_E_UNKNOWN, "it has no upstream with the directive ballast");
    if (others || (any && count > 1))
        return bal_fail(&d->err, BAL_E_MODEL, "several upstreams: name one with --upstream");
    if (!row && !any)
        return bal_fail(&d->err, BAL_E_UNKNOWN, "no server %s", s->server);
    memcpy(d->upstream, any ? names[0] : row->upstream, sizeof d->upstream);
    return BAL_OK;
}

static void add_number(struct json *json, const char *name, double number) {
    if (number >= 0)
        bli_json_number(json, name, number);
}

static bool print_body(const struct api_server *s, struct bli_strbuf *body) {
    static const char *const states[] = {[DRAIN] = "drain", [ENABLE] = "up", [DISABLE] = "down"};
    struct json json;
    if (!bli_strbuf_open(body))
        return false;
    bli_json_init(&json, body->stream);
    bli_json_open_line(&json, NULL, '{');
    if (s->action == ADD)
        bli_json_text(&json, "server", s->server);
    if (s->action == ADD && s->args->backup)
        bli_json_bool(&json, "backup", true);
    if (s->action == DRAIN || s->action == ENABLE || s->action == DISABLE)
        bli_json_text(&json, "state", states[s->action]);
    if (s->action == POLICY && strcmp(s->server, "configured") == 0)
        bli_json_null(&json, "policy");
    else if (s->action == POLICY)
        bli_json_text(&json, "policy", s->server);
    add_number(&json, "weight", s->args->weight);
    add_number(&json, "max_conns", s->args->max_conns);
    add_number(&json, "slots", s->args->slots);
    bli_json_close(&json, '}');
    return bli_strbuf_close(body);
}

static void change_at(const struct api_server *s, struct api_dispatcher *d, const char *body) {
    const char *parts[] = {"upstreams", d->upstream, s->action == RESET ? "changes" : "servers", s->server};
    const struct target target = target_of(d, parts, s->action == POLICY ? 2 : s->action == ADD ? 3 : 4);
    const char *method = s->action == ADD ? "POST" : s->action >= RESET ? "DELETE" : "PATCH";
    struct bli_fetched fetched;
    if (!exchange(s, d, method, &target, s->action >= RESET ? NULL : body, &fetched))
        free(fetched.body);
}

/* At one dispatcher: looks, changes, and looks again. */
static void act_at(const struct api_server *s, struct api_dispatcher *d, const char *body) {
    char names[2][NAME];
    size_t count;
    if (d->err.code || fetch_servers(s, d, names, &count) || s->action == LIST ||
        find_upstream(s, d, names, count))
        return;
    change_at(s, d, body);
    if (!d->err.code)
        fetch_servers(s, d, names, &count);
}

/* ---- waiting ---- */

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nothing is left to wait for: it is empty, or cannot be seen any longer. */
static bool is_done(const struct api_server *s, const struct api_dispatcher *d) {
    const struct server_row *row = d->err.code ? NULL : find_row(s, d, d->upstream);
    return !row || row->in_flight <= 0;
}

static void fail_unfinished(const struct api_server *s, struct api_dispatcher *d) {
    if (!is_done(s, d))
        bal_fail(&d->err, BAL_E_STOPPED, "%s has %.0f requests in flight still", s->server,
                 find_row(s, d, d->upstream)->in_flight);
}

static void wait_until_empty(const struct api_server *s) {
    struct cli_terminal terminal = {.able = false};
    const double end = seconds_now() + s->args->timeout;
    char names[2][NAME];
    size_t count;
    for (;;) {
        bool done = true;
        for (size_t i = 0; i < s->dispatchers; i++)
            done &= is_done(s, &s->dispatcher[i]);
        if (done || *cli_stop_flag() || seconds_now() >= end)
            break;
        cli_terminal_wait(&terminal, PAUSE);
        for (size_t i = 0; i < s->dispatchers; i++)
            if (!is_done(s, &s->dispatcher[i]))
                fetch_servers(s, &s->dispatcher[i], names, &count);
    }
    for (size_t i = 0; i < s->dispatchers; i++)
        fail_unfinished(s, &s->dispatcher[i]);
}

/* ---- printing ---- */

static bool is_shown(const struct api_server *s, const struct api_dispatcher *d,
                     const struct server_row *row) {
    if (s->action == LIST)
        return !s->args->upstream || strcmp(row->upstream, s->args->upstream) == 0;
    return strcmp(row->server, s->server) == 0 && strcmp(row->upstream, d->upstream) == 0;
}

static void add_count(struct table *table, double number) {
    if (number >= 0)
        bli_table_add(table, "%.0f", number);
    else
        bli_table_add(table, "%s", "");
}

static void add_row(struct table *table, const struct api_dispatcher *d, const struct server_row *row) {
    bli_table_add(table, "%s", d->url);
    bli_table_add(table, "%s", row->upstream);
    bli_table_add(table, "%s%s%s", row->server, row->backup ? ", backup" : "", row->added ? ", added" : "");
    bli_table_add(table, "%s", row->state);
    bli_table_add(table, "%s", row->now);
    add_count(table, row->in_flight);
    add_count(table, row->weight);
    add_count(table, row->max_conns);
    add_count(table, row->slots);
    bli_table_add(table, "%s", row->changed);
}

static void print_policies(const struct api_server *s, FILE *out) {
    struct table table;
    bli_table_begin(&table, "dispatcher|upstream|policy|configured");
    for (size_t i = 0; i < s->dispatchers; i++) {
        const struct api_dispatcher *d = &s->dispatcher[i];
        bli_table_add(&table, "%s", d->url);
        bli_table_add(&table, "%s", d->upstream);
        bli_table_add(&table, "%s", d->policy);
        bli_table_add(&table, "%s", d->configured[0] ? d->configured : d->policy);
    }
    bli_table_print(&table, "llll", BLI_TABLE_RULED, out);
    bli_table_fini(&table);
}

static void print_table(const struct api_server *s, FILE *out) {
    struct table table;
    bli_table_begin(&table, "dispatcher|upstream|server|state|now|in flight|weight|max_conns|slots|changed");
    for (size_t i = 0; i < s->dispatchers; i++)
        for (size_t k = 0; k < s->dispatcher[i].rows; k++)
            if (is_shown(s, &s->dispatcher[i], &s->dispatcher[i].row[k]))
                add_row(&table, &s->dispatcher[i], &s->dispatcher[i].row[k]);
    bli_table_print(&table, "lllllrrrrl", BLI_TABLE_RULED, out);
    bli_table_fini(&table);
}

static void print_json_row(struct json *json, const struct server_row *row) {
    bli_json_open_line(json, NULL, '{');
    bli_json_text(json, "upstream", row->upstream);
    bli_json_text(json, "server", row->server);
    bli_json_bool(json, "backup", row->backup);
    bli_json_text(json, "state", row->state);
    add_number(json, "in_flight", row->in_flight);
    add_number(json, "weight", row->weight);
    add_number(json, "max_conns", row->max_conns);
    add_number(json, "slots", row->slots);
    bli_json_bool(json, "added", row->added);
    bli_json_bool(json, "changed", row->changed[0] != '\0');
    bli_json_close(json, '}');
}

static void print_json(const struct api_server *s, FILE *out) {
    struct json json;
    bli_json_init(&json, out);
    bli_json_open(&json, NULL, '[');
    for (size_t i = 0; i < s->dispatchers; i++) {
        const struct api_dispatcher *d = &s->dispatcher[i];
        bli_json_open(&json, NULL, '{');
        bli_json_text(&json, "dispatcher", d->url);
        if (d->err.code)
            bli_json_text(&json, "error", d->err.text);
        if (s->action == POLICY && d->policy[0])
            bli_json_text(&json, "policy", d->policy);
        bli_json_open(&json, "servers", '[');
        for (size_t k = 0; k < d->rows; k++)
            if (is_shown(s, d, &d->row[k]))
                print_json_row(&json, &d->row[k]);
        bli_json_close(&json, ']');
        bli_json_close(&json, '}');
    }
    bli_json_close(&json, ']');
}

static int print_results(const struct api_server *s) {
    struct bli_strbuf text;
    if (!bli_strbuf_open(&text))
        return cli_no_memory();
    if (s->args->format == BLI_FORM_JSON)
        print_json(s, text.stream);
    else if (s->action == POLICY)
        print_policies(s, text.stream);
    else
        print_table(s, text.stream);
    const int status = bli_strbuf_close(&text) ? cli_print("", text.text, text.size) : cli_no_memory();
    bli_strbuf_discard(&text);
    return status;
}

/* ---- the command ---- */

/* Which dispatchers have failed is said one by one; the others were changed all the same. */
static int report_failures(const struct api_server *s) {
    size_t failed = 0;
    for (size_t i = 0; i < s->dispatchers; i++) {
        if (s->dispatcher[i].err.code)
            cli_warn("%s: %s", s->dispatcher[i].url, s->dispatcher[i].err.text);
        failed += s->dispatcher[i].err.code != BAL_OK;
    }
    return failed ? CLI_OUTCOME : CLI_OK;
}

static int run(struct api_server *s) {
    struct bli_strbuf body;
    if (!print_body(s, &body)) {
        bli_strbuf_discard(&body);
        return cli_no_memory();
    }
    for (size_t i = 0; i < s->dispatchers && !*cli_stop_flag(); i++)
        act_at(s, &s->dispatcher[i], body.text);
    bli_strbuf_discard(&body);
    if (s->args->wait)
        wait_until_empty(s);
    const int status = print_results(s);
    const int failed = report_failures(s);
    return status ? status : *cli_stop_flag() ? CLI_INTERRUPTED : failed;
}

static const char *const actions[] = {
    [LIST] = "list", [ADD] = "add",       [DRAIN] = "drain", [ENABLE] = "enable", [DISABLE] = "disable",
    [SET] = "set",   [POLICY] = "policy", [RESET] = "reset", [REMOVE] = "remove"};

static bool find_action(const char *word, enum action *action) {
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(word, actions[i]) == 0) {
            *action = (enum action)i;
            return true;
        }
    return false;
}

/* Operands are URLs, and one server. */
static int read_operands(struct api_server *s, int count, char **operand) {
    struct bal_error err;
    for (int i = 0; i < count; i++) {
        if (strstr(operand[i], "://")) {
            struct api_dispatcher *d = &s->dispatcher[s->dispatchers++];
            d->url = operand[i];
            if (bli_load_target_parse(&d->target, operand[i], &err))
                return cli_fail("%s", err.text);
        } else if (s->server[0] || strlen(operand[i]) >= sizeof s->server) {
            return cli_fail("server %s: '%.200s' is no URL; write one %s, and then http://HOST[:PORT]/PATH "
                            "of each dispatcher",
                            actions[s->action], operand[i], s->action == POLICY ? "POLICY" : "SERVER");
        } else {
            snprintf(s->server, sizeof s->server, "%s", operand[i]);
        }
    }
    return CLI_OK;
}

static bool changes_numbers(const struct args *args) {
    return args->weight >= 0 || args->max_conns >= 0 || args->slots >= 0;
}

static int check(const struct api_server *s) {
    const struct args *args = s->args;
    const char *action = actions[s->action];
    if (s->dispatchers == 0)
        return cli_fail(
            "server %s: name the URL of a ballast_api: ballast server %s%s http://127.0.0.1:8080/api/",
            action, action,
            s->action == LIST     ? ""
            : s->action == POLICY ? " least-conn"
                                  : " 10.0.0.3:8080");
    if (s->action == POLICY && s->server[0] == '\0')
        return cli_fail("server policy: name the policy, as in least-conn, or configured");
    if ((s->action == LIST) != (s->server[0] == '\0'))
        return cli_fail(s->action == LIST ? "server %s: name URLs only"
                                          : "server %s: name the server, as in "
                                            "10.0.0.3:8080",
                        action);
    if (changes_numbers(args) && s->action != ADD && s->action != SET)
        return cli_fail("server %s: --weight, --max-conns and --slots are for add and set", action);
    if (!changes_numbers(args) && s->action == SET)
        return cli_fail("server set: say what: --weight, --max-conns or --slots");
    if (args->backup && s->action != ADD)
        return cli_fail("server %s: --backup is for add", action);
    if (args->wait && s->action != DRAIN && s->action != DISABLE && s->action != REMOVE)
        return cli_fail("server %s: --wait is for drain, disable and remove", action);
    if (args->format != BLI_FORM_TEXT && args->format != BLI_FORM_JSON)
        return cli_fail("--format: write text or json");
    return CLI_OK;
}

/* A name that cannot be looked up is the failure of one dispatcher. */
static void resolve(struct api_server *s) {
    for (size_t i = 0; i < s->dispatchers; i++)
        bli_load_target_resolve(&s->dispatcher[i].target, &s->dispatcher[i].err);
}

static int server_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.weight = -1, .max_conns = -1, .slots = -1, .timeout = 300};
    struct api_server s = {.args = &args};
    int operands;
    int status = cli_parse(command, argc, argv, &args, DISPATCHERS_MAX + 2, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("server: say what: list, add, drain, enable, disable, set, policy, reset or remove, "
                        "as in ballast "
                        "server drain 10.0.0.3:8080 http://127.0.0.1:8080/api/");
    if (!find_action(argv[1], &s.action))
        return cli_fail(
            "server: unknown action '%.100s'; use list, add, drain, enable, disable, set, policy, reset "
            "or remove",
            argv[1]);
    s.dispatcher = calloc((size_t)operands, sizeof *s.dispatcher);
    if (!s.dispatcher)
        return cli_no_memory();
    status = read_operands(&s, operands - 1, argv + 2);
    status = status ? status : check(&s);
    if (!status) {
        cli_catch_signals();
        resolve(&s);
        status = run(&s);
    }
    for (size_t i = 0; i < s.dispatchers; i++)
        free(s.dispatcher[i].row);
    free(s.dispatcher);
    return status;
}

const struct cli_command cmd_server = {
    .name = "server",
    .summary = "list, drain, change, add and remove servers of running dispatchers",
    .operands = "list|add|drain|enable|disable|set|policy|reset|remove [SERVER|POLICY] URL...",
    .description =
        "Talks to the ballast_api of each nginx that is named. SERVER is an address as list shows it,\n"
        "IP:PORT or unix:PATH. drain and disable give it nothing new; requests that are there end. enable\n"
        "takes it in again, set changes weight, max_conns or slots, reset takes back all changes of it.\n"
        "policy changes the policy of the upstream; configured takes that back.\n"
        "Each dispatcher is asked, whatever the others have answered. Exit status 1: at least one has\n"
        "failed, which is said; or --wait has ended before the server was empty.",
    .examples =
        "  ballast server list http://10.0.0.1:8080/api/ http://10.0.0.2:8080/api/\n"
        "  ballast server drain 10.0.1.3:8080 --wait http://10.0.0.1:8080/api/ http://10.0.0.2:8080/api/\n"
        "  ballast server policy jiq:else=least-conn --upstream app http://10.0.0.1:8080/api/\n"
        "  ballast server add 10.0.1.9:8080 --upstream app --weight 2 http://10.0.0.1:8080/api/\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = server_main,
};
