/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes as JSON: the bodies of requests, and the file that keeps them. */
#include "control/changes.h"

#include "format/json.h"
#include "format/json_reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FILE_VERSION = 1, GENERATION_BITS = 53 };

/* Where a field may stand. */
enum place { IN_PATCH = 1, IN_POST = 2, IN_FILE = 4, EVERYWHERE = 7 };

/* What is read, and which fields have been. */
struct changes_reading {
    struct json_reader json;
    struct bli_change *change;
    enum place place;
    unsigned seen;
    struct bal_error *err;
};

static enum bal_code fail(const struct changes_reading *r, const char *fault) {
    const struct json_reader *json = &r->json;
    return bal_fail(r->err, BAL_E_SYNTAX, "line %u, column %u: %s", json->line, json->column, fault);
}

/* ---- fields ---- */

const char *bli_change_state_name(uint32_t state) {
    static const char *const names[] = {[BLI_STATE_CONFIGURED] = "as configured",
                                        [BLI_STATE_UP] = "up",
                                        [BLI_STATE_DRAIN] = "drain",
                                        [BLI_STATE_DOWN] = "down"};
    return names[state];
}

static bool read_name(struct changes_reading *r, char *name, size_t room) {
    if (!bli_json_reader_string(&r->json, name, room))
        return false;
    return bli_change_keeps_name(name) ||
           bli_json_reader_fail(&r->json, "a name needs characters, without spaces");
}

static bool read_server(struct changes_reading *r) {
    return read_name(r, r->change->server, sizeof r->change->server);
}

static bool read_upstream(struct changes_reading *r) {
    return read_name(r, r->change->upstream, sizeof r->change->upstream);
}

static bool read_null(struct changes_reading *r) {
    return bli_json_reader_peek(&r->json) == 'n' && bli_json_reader_null(&r->json);
}

static bool read_state(struct changes_reading *r) {
    char word[16];
    r->change->state = BLI_STATE_CONFIGURED;
    if (read_null(r))
        return true;
    if (!bli_json_reader_string(&r->json, word, sizeof word))
        return false;
    for (uint32_t state = BLI_STATE_UP; state <= BLI_STATE_DOWN; state++)
        if (strcmp(word, bli_change_state_name(state)) == 0)
            r->change->state = state;
    return r->change->state != BLI_STATE_CONFIGURED ||
           bli_json_reader_fail(&r->json, "state is \"up\", \"drain\" or \"down\", or null as configured");
}

static bool read_whole(struct changes_reading *r, double low, uint32_t *number, const char *right) {
    double value;
    *number = BLI_AS_CONFIGURED;
    if (read_null(r))
        return true;
    if (!bli_json_reader_number(&r->json, &value))
        return false;
    if (!(value >= low && value <= BLI_WEIGHT_MAX && value == floor(value)))
        return bli_json_reader_fail(&r->json, right);
    *number = (uint32_t)value;
    return true;
}

static bool read_weight(struct changes_reading *r) {
    return read_whole(r, 1, &r->change->weight,
                      "weight is a whole number from 1 to 1000000, or null as configured");
}

static bool read_max_conns(struct changes_reading *r) {
    return read_whole(r, 0, &r->change->max_conns,
                      "max_conns is a whole number up to 1000000 (0: any number), or null as configured");
}

static bool read_slots(struct changes_reading *r) {
    return read_whole(r, 1, &r->change->slots,
                      "slots is a whole number from 1 to 1000000, or null as configured");
}

static bool read_backup(struct changes_reading *r) {
    bool backup;
    if (!bli_json_reader_bool(&r->json, &backup))
        return false;
    if (backup)
        r->change->presence = BLI_SERVER_ADDED_BACKUP;
    return true;
}

static bool read_presence(struct changes_reading *r) {
    static const char *const words[] = {[BLI_SERVER_ADDED] = "added",
                                        [BLI_SERVER_ADDED_BACKUP] = "added backup",
                                        [BLI_SERVER_REMOVED] = "removed"};
    char word[16];
    if (!bli_json_reader_string(&r->json, word, sizeof word))
        return false;
    for (uint32_t i = BLI_SERVER_ADDED; i <= BLI_SERVER_REMOVED; i++)
        if (strcmp(word, words[i]) == 0)
            r->change->presence = i;
    return r->change->presence != BLI_SERVER_CONFIGURED ||
           bli_json_reader_fail(&r->json, "presence is \"added\", \"added backup\" or \"removed\"");
}

static const struct field {
    const char *name;
    enum place places;
    bool (*read)(struct changes_reading *r);
} fields[] = {
    {"upstream", IN_FILE, read_upstream},      {"server", IN_FILE | IN_POST, read_server},
    {"state", EVERYWHERE, read_state},         {"weight", EVERYWHERE, read_weight},
    {"max_conns", EVERYWHERE, read_max_conns}, {"slots", EVERYWHERE, read_slots},
    {"backup", IN_POST, read_backup},          {"presence", IN_FILE, read_presence},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool has_field(const struct changes_reading *r, const char *name) {
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return r->seen >> i & 1;
    return false;
}

static bool read_field(struct changes_reading *r, const char *key) {
    for (size_t i = 0; i < FIELDS; i++) {
        if (!(fields[i].places & r->place) || strcmp(fields[i].name, key) != 0)
            continue;
        if (r->seen >> i & 1)
            return bli_json_reader_fail(&r->json, "a field that stands here twice");
        r->seen |= 1u << i;
        return fields[i].read(r);
    }
    return bli_json_reader_fail(
        &r->json, r->place == IN_PATCH ? "an unknown field; use state, weight, max_conns or slots"
                  : r->place == IN_POST
                      ? "an unknown field; use server, backup, state, weight, max_conns or slots"
                      : "an unknown field");
}

/* The members of one change. */
static bool read_change(struct changes_reading *r) {
    char key[32];
    r->seen = 0;
    if (!bli_json_reader_open(&r->json, '{'))
        return false;
    while (bli_json_reader_key(&r->json, key, sizeof key))
        if (!read_field(r, key))
            return false;
    if (!r->json.fault && r->place != IN_PATCH && !has_field(r, "server"))
        return bli_json_reader_fail(&r->json, "field server is missing");
    if (!r->json.fault && r->place == IN_PATCH && r->seen == 0)
        return bli_json_reader_fail(&r->json, "no field; use state, weight, max_conns or slots");
    return !r->json.fault;
}

enum bal_code bli_change_read(const char *text, size_t length, bool add, struct bli_change *change,
                              struct bal_error *err) {
    struct changes_reading r = {.change = change, .place = add ? IN_POST : IN_PATCH, .err = err};
    bli_json_reader_init(&r.json, text, length);
    if (add)
        change->presence = BLI_SERVER_ADDED;
    return read_change(&r) && bli_json_reader_end(&r.json) ? BAL_OK : fail(&r, r.json.fault);
}

/* ---- the file ---- */

static bool read_generation(struct changes_reading *r, struct bli_changes *changes) {
    double number;
    if (!bli_json_reader_number(&r->json, &number))
        return false;
    if (!(number >= 0 && number < ldexp(1, GENERATION_BITS) && number == floor(number)))
        return bli_json_reader_fail(&r->json, "generation is a whole number below 2^53");
    changes->generation = (uint64_t)number;
    return true;
}

static bool read_version(struct changes_reading *r) {
    double version;
    return bli_json_reader_number(&r->json, &version) &&
           (version == FILE_VERSION || bli_json_reader_fail(&r->json, "a file of another version"));
}

static bool read_list(struct changes_reading *r, struct bli_changes *changes) {
    struct bli_change change;
    r->change = &change;
    if (!bli_json_reader_open(&r->json, '['))
        return false;
    while (bli_json_reader_item(&r->json)) {
        bli_change_init(&change, "", "");
        if (!read_change(r))
            return false;
        if (!has_field(r, "upstream"))
            return bli_json_reader_fail(&r->json, "field upstream is missing");
        if (bli_changes_find(changes, change.upstream, change.server))
            return bli_json_reader_fail(&r->json, "a server that stands here twice");
        if (bli_changes_put(changes, &change, NULL))
            return bli_json_reader_fail(&r->json, "more than 2048 servers");
    }
    return !r->json.fault;
}

/* ---- policies ---- */

static bool read_policy_text(struct changes_reading *r, char policy[BLI_POLICY_NAME]) {
    policy[0] = '\0';
    if (read_null(r))
        return true;
    return bli_json_reader_string(&r->json, policy, BLI_POLICY_NAME) &&
           (policy[0] ||
            bli_json_reader_fail(&r->json, "policy is the text of a policy, or null as configured"));
}

enum bal_code bli_policy_change_read(const char *text, size_t length, char policy[BLI_POLICY_NAME],
                                     struct bal_error *err) {
    struct changes_reading r = {.err = err};
    char key[32];
    bool any = false;
    bli_json_reader_init(&r.json, text, length);
    if (bli_json_reader_open(&r.json, '{'))
        while (bli_json_reader_key(&r.json, key, sizeof key)) {
            if (any || strcmp(key, "policy") != 0)
                bli_json_reader_fail(&r.json, "use the field policy, once, and no other");
            else
                any = read_policy_text(&r, policy);
            if (r.json.fault)
                break;
        }
    if (!r.json.fault && !any)
        bli_json_reader_fail(&r.json, "no field; use policy");
    return bli_json_reader_end(&r.json) ? BAL_OK : fail(&r, r.json.fault);
}

/* An element of the list of policies in a file. */
static bool read_policy(struct changes_reading *r, struct bli_changes *changes) {
    static const char *const names[] = {"upstream", "policy"};
    struct bli_policy_change change = {0};
    char key[32];
    unsigned next = 0;
    if (!bli_json_reader_open(&r->json, '{'))
        return false;
    while (bli_json_reader_key(&r->json, key, sizeof key)) {
        if (next == sizeof names / sizeof *names || strcmp(key, names[next]) != 0)
            return bli_json_reader_fail(&r->json, "a policy has upstream and policy");
        if (next == 0 ? !read_name(r, change.upstream, sizeof change.upstream)
                      : !read_policy_text(r, change.policy))
            return false;
        next++;
    }
    if (r->json.fault)
        return false;
    if (next < sizeof names / sizeof *names || !change.policy[0])
        return bli_json_reader_fail(&r->json, "a policy has upstream and policy");
    if (bli_changes_policy(changes, change.upstream))
        return bli_json_reader_fail(&r->json, "an upstream that stands here twice");
    return bli_changes_set_policy(changes, change.upstream, change.policy, NULL) == BAL_OK ||
           bli_json_reader_fail(&r->json, "more than 256 policies");
}

static bool read_policies(struct changes_reading *r, struct bli_changes *changes) {
    if (!bli_json_reader_open(&r->json, '['))
        return false;
    while (bli_json_reader_item(&r->json))
        if (!read_policy(r, changes))
            return false;
    return !r->json.fault;
}

/* The policies may be missing. */
static bool read_file(struct changes_reading *r, struct bli_changes *changes) {
    static const char *const names[] = {"ballast_state", "generation", "changes", "policies"};
    enum { REQUIRED = 3 };
    char key[32];
    unsigned next = 0;
    if (!bli_json_reader_open(&r->json, '{'))
        return false;
    while (bli_json_reader_key(&r->json, key, sizeof key)) {
        if (next == sizeof names / sizeof *names || strcmp(key, names[next]) != 0)
            return bli_json_reader_fail(&r->json, "this is no file of ballast_state");
        if (next == 0   ? !read_version(r)
            : next == 1 ? !read_generation(r, changes)
            : next == 2 ? !read_list(r, changes)
                        : !read_policies(r, changes))
            return false;
        next++;
    }
    if (!r->json.fault && next < REQUIRED)
        return bli_json_reader_fail(&r->json, "this is no file of ballast_state");
    return bli_json_reader_end(&r->json);
}

enum bal_code bli_changes_read(const char *text, size_t length, struct bli_changes *changes,
                               struct bal_error *err) {
    struct changes_reading r = {.place = IN_FILE, .err = err};
    changes->count = changes->policies = 0;
    changes->generation = 0;
    bli_json_reader_init(&r.json, text, length);
    if (length > BLI_CHANGES_FILE)
        return bal_fail(err, BAL_E_RANGE, "%zu bytes, where at most %d are read", length, BLI_CHANGES_FILE);
    if (read_file(&r, changes))
        return BAL_OK;
    changes->count = changes->policies = 0;
    changes->generation = 0;
    return fail(&r, r.json.fault);
}

/* ---- printing ---- */

static size_t print_number(char *text, size_t room, const char *name, uint32_t number, bool first) {
    if (number == BLI_AS_CONFIGURED)
        return 0;
    return (size_t)snprintf(text, room, "%s\"%s\":%" PRIu32, first ? "" : ",", name, number);
}

size_t bli_change_print(const struct bli_change *c, char text[BLI_CHANGE_TEXT]) {
    size_t length = 0;
    text[0] = '\0';
    if (c->state != BLI_STATE_CONFIGURED)
        length = (size_t)snprintf(text, BLI_CHANGE_TEXT, "\"state\":\"%s\"", bli_change_state_name(c->state));
    length += print_number(text + length, BLI_CHANGE_TEXT - length, "weight", c->weight, length == 0);
    length += print_number(text + length, BLI_CHANGE_TEXT - length, "max_conns", c->max_conns, length == 0);
    length += print_number(text + length, BLI_CHANGE_TEXT - length, "slots", c->slots, length == 0);
    return length;
}

static void print_file_number(struct json *json, const char *name, uint32_t number) {
    if (number != BLI_AS_CONFIGURED)
        bli_json_count(json, name, number);
}

static void print_change(struct json *json, const struct bli_change *c) {
    static const char *const presence[] = {[BLI_SERVER_ADDED] = "added",
                                           [BLI_SERVER_ADDED_BACKUP] = "added backup",
                                           [BLI_SERVER_REMOVED] = "removed"};
    bli_json_open_line(json, NULL, '{');
    bli_json_text(json, "upstream", c->upstream);
    bli_json_text(json, "server", c->server);
    if (c->presence != BLI_SERVER_CONFIGURED)
        bli_json_text(json, "presence", presence[c->presence]);
    if (c->state != BLI_STATE_CONFIGURED)
        bli_json_text(json, "state", bli_change_state_name(c->state));
    print_file_number(json, "weight", c->weight);
    print_file_number(json, "max_conns", c->max_conns);
    print_file_number(json, "slots", c->slots);
    bli_json_close(json, '}');
}

static void print_policies(struct json *json, const struct bli_changes *changes) {
    bli_json_open(json, "policies", '[');
    for (uint32_t i = 0; i < changes->policies; i++) {
        bli_json_open_line(json, NULL, '{');
        bli_json_text(json, "upstream", changes->policy[i].upstream);
        bli_json_text(json, "policy", changes->policy[i].policy);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
}

void bli_changes_print(const struct bli_changes *changes, FILE *out) {
    struct json json;
    bli_json_init(&json, out);
    bli_json_open(&json, NULL, '{');
    bli_json_count(&json, "ballast_state", FILE_VERSION);
    bli_json_count(&json, "generation", changes->generation);
    bli_json_open(&json, "changes", '[');
    for (uint32_t i = 0; i < changes->count; i++)
        print_change(&json, &changes->change[i]);
    bli_json_close(&json, ']');
    if (changes->policies)
        print_policies(&json, changes);
    bli_json_close(&json, '}');
}
