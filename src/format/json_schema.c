/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a JSON schema of what a function writes. */
#include "format/json_schema.h"

#include "base/strbuf.h"

#include <string.h>

enum { LONGEST_PATH = 600 };

struct schema {
    struct json_taker taker; /* first */
    struct json *into;
    const char *key;            /* of the whole */
    struct bli_strbuf required; /* paths of members that are always there, a line each */
    char path[LONGEST_PATH];    /* of the open object or list, with a slash behind each key */
    unsigned depth, hidden;     /* hidden: brackets that are open in what is not shown */
    struct {
        const char *items; /* what the schema calls the items of a list or map; NULL: an object */
        bool begun, varies;
        size_t length; /* of the path outside of it */
    } level[JSON_DEPTH];
};

static const char *const types[][4] = {[JSON_NULL] = {"null"},
                                       [JSON_TEXT] = {"string", "null"},
                                       [JSON_NUMBER] = {"number", "null"},
                                       [JSON_COUNT] = {"integer"},
                                       [JSON_BOOL] = {"boolean"},
                                       [JSON_NUMBER_OR_TEXT] = {"number", "string", "null"}};

static void put_types(struct json *into, const char *const *type) {
    bli_json_open_line(into, "type", '[');
    for (; *type; type++)
        bli_json_text(into, NULL, *type);
    bli_json_close(into, ']');
}

/* Of a list only the first item is shown. */
static bool is_shown(const struct schema *schema) {
    return schema->hidden == 0 &&
           (schema->depth == 0 || !schema->level[schema->depth].items || !schema->level[schema->depth].begun);
}

/* Begins what says what a member is. Returns whether to go on with it. */
static bool begin_member(struct schema *schema, const char *key, const char *const *type, bool line) {
    const char *items = schema->level[schema->depth].items, *about = schema->taker.about;
    char text[BLI_ABOUT_TEXT];
    schema->level[schema->depth].begun = true;
    schema->taker.about = NULL;
    if (!schema->taker.all) {
        fprintf(schema->required.stream, "%s%s\n", schema->path, key ? key : "");
        return false;
    }
    (line ? bli_json_open_line : bli_json_open)(schema->into,
                                                schema->depth == 0 ? schema->key
                                                : items            ? items
                                                                   : key,
                                                '{');
    if (*bli_about_part(about, BLI_ABOUT_MEANING, text))
        bli_json_text(schema->into, "description", text);
    if (*bli_about_part(about, BLI_ABOUT_UNIT, text))
        bli_json_text(schema->into, "unit", text);
    put_types(schema->into, type);
    return true;
}

static void take_value(struct json_taker *taker, const char *key, enum json_kind kind) {
    struct schema *schema = (struct schema *)taker;
    if (taker->varies)
        schema->level[schema->depth].varies = true;
    else if (is_shown(schema) && begin_member(schema, key, types[kind], true))
        bli_json_close(schema->into, '}');
    taker->about = NULL;
}

static void take_open(struct json_taker *taker, const char *key, char bracket, bool line, bool map) {
    static const char *const object[] = {"object", "null", NULL}, *const array[] = {"array", NULL};
    struct schema *schema = (struct schema *)taker;
    if (!is_shown(schema)) {
        schema->hidden++;
        taker->about = NULL;
        return;
    }
    const bool plain = bracket == '{' && !map,
               written = begin_member(schema, key, bracket == '{' ? object : array, line);
    const size_t length = strlen(schema->path);
    snprintf(schema->path + length, LONGEST_PATH - length, "%s/", key ? key : "");
    schema->depth++;
    schema->level[schema->depth].items = plain ? NULL : map ? "additionalProperties" : "items";
    schema->level[schema->depth].begun = schema->level[schema->depth].varies = false;
    schema->level[schema->depth].length = length;
    if (written && plain)
        bli_json_open(schema->into, "properties", '{');
}

/* The required members of the object that ends. */
static void put_required(const struct schema *schema) {
    const size_t length = strlen(schema->path);
    bli_json_open_line(schema->into, "required", '[');
    for (const char *line = schema->required.text; *line; line = strchr(line, '\n') + 1) {
        char name[2 * LONGEST_PATH];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "\n"), line);
        if (strncmp(name, schema->path, length) == 0 && name[length] && !strchr(name + length, '/'))
            bli_json_text(schema->into, NULL, name + length);
    }
    bli_json_close(schema->into, ']');
}

static void take_close(struct json_taker *taker) {
    struct schema *schema = (struct schema *)taker;
    if (schema->hidden > 0) {
        schema->hidden--;
        return;
    }
    if (taker->all && !schema->level[schema->depth].items) {
        bli_json_close(schema->into, '}');
        if (schema->level[schema->depth].varies) {
            bli_json_open_line(schema->into, "additionalProperties", '{');
            put_types(schema->into, types[JSON_NUMBER_OR_TEXT]);
            bli_json_close(schema->into, '}');
        } else {
            bli_json_bool(schema->into, "additionalProperties", false);
        }
        put_required(schema);
    }
    if (taker->all)
        bli_json_close(schema->into, '}');
    schema->path[schema->level[schema->depth].length] = 0;
    schema->depth--;
}

bool bli_json_schema(struct json *into, const char *key,
                     void (*write)(struct json *json, const void *context), const void *context) {
    struct schema schema = {
        .taker = {.open = take_open, .close = take_close, .value = take_value}, .into = into, .key = key};
    struct json json = {.taker = &schema.taker};
    if (!bli_strbuf_open(&schema.required))
        return false;
    write(&json, context);
    const bool known = bli_strbuf_close(&schema.required);
    schema.taker.all = true;
    if (known)
        write(&json, context);
    bli_strbuf_discard(&schema.required);
    return known;
}
