/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of an answer: its JSON read into a tree, so that a value is the same to all that read it. */
#include "question/datum_tree.h"

#include "format/json_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bal_datum {
    enum bal_datum_kind kind;
    bool is_true;
    double number;
    const char *name, *text;
    struct bal_datum *first, *next;
};

struct datum_reading {
    struct json_reader r;
    struct bal_datum *free; /* the next value */
    char *room;             /* for the next text */
    const char *end;
};

/* Each value follows one of these, or begins the text. */
static size_t count_values(const char *json, size_t size) {
    size_t count = 1;
    for (size_t i = 0; i < size; i++)
        count += strchr(",[{", json[i]) != NULL;
    return count;
}

static const char *keep_text(struct datum_reading *reading) {
    const char *text = reading->room;
    reading->room += strlen(text) + 1;
    return text;
}

static struct bal_datum *read_value(struct datum_reading *reading, const char *name);

static void read_parts(struct datum_reading *reading, struct bal_datum *value, bool named) {
    struct bal_datum **place = &value->first;
    bli_json_reader_open(&reading->r, named ? '{' : '[');
    while (named ? bli_json_reader_key(&reading->r, reading->room, (size_t)(reading->end - reading->room))
                 : bli_json_reader_item(&reading->r)) {
        *place = read_value(reading, named ? keep_text(reading) : "");
        place = &(*place)->next;
    }
}

static struct bal_datum *read_value(struct datum_reading *reading, const char *name) {
    struct bal_datum *value = reading->free++;
    *value = (struct bal_datum){.name = name, .text = "", .number = NAN};
    const char first = bli_json_reader_peek(&reading->r);
    if (first == '{' || first == '[') {
        value->kind = first == '{' ? BAL_DATUM_OBJECT : BAL_DATUM_LIST;
        read_parts(reading, value, first == '{');
    } else if (first == '"') {
        value->kind = BAL_DATUM_TEXT;
        if (bli_json_reader_string(&reading->r, reading->room, (size_t)(reading->end - reading->room)))
            value->text = keep_text(reading);
    } else if (first == '-') {
        value->kind = BAL_DATUM_NUMBER;
        bli_json_reader_number(&reading->r, &value->number);
    } else if (first == 'n') {
        bli_json_reader_null(&reading->r);
    } else {
        value->kind = BAL_DATUM_BOOL;
        bli_json_reader_bool(&reading->r, &value->is_true);
    }
    return value;
}

/* A text and its end take no more room than they had with their quotes. */
struct bal_datum *bli_datum_tree_new(const char *json, size_t size) {
    const size_t count = count_values(json, size);
    struct bal_datum *root = malloc(count * sizeof *root + size + 1);
    if (!root)
        return NULL;
    struct datum_reading reading = {.free = root, .room = (char *)(root + count)};
    reading.end = reading.room + size + 1;
    bli_json_reader_init(&reading.r, json, size);
    read_value(&reading, "");
    if (bli_json_reader_end(&reading.r))
        return root;
    free(root);
    return NULL;
}

enum bal_datum_kind bal_datum_kind(const struct bal_datum *value) {
    return value ? value->kind : BAL_DATUM_NULL;
}

const char *bal_datum_name(const struct bal_datum *value) {
    return value ? value->name : "";
}

double bal_datum_number(const struct bal_datum *value) {
    return value ? value->number : NAN;
}

const char *bal_datum_text(const struct bal_datum *value) {
    return value ? value->text : "";
}

bool bal_datum_is_true(const struct bal_datum *value) {
    return value && value->is_true;
}

const struct bal_datum *bal_datum_first(const struct bal_datum *value) {
    return value ? value->first : NULL;
}

const struct bal_datum *bal_datum_next(const struct bal_datum *value) {
    return value ? value->next : NULL;
}

/* Names have dots, too: "metrics" has values such as "response.mean". */
const struct bal_datum *bal_datum_get(const struct bal_datum *object, const char *path) {
    for (const struct bal_datum *part = bal_datum_first(object); part; part = part->next) {
        const size_t length = strlen(part->name);
        if (length == 0 || strncmp(part->name, path, length) != 0)
            continue;
        const struct bal_datum *found = path[length] == '.' ? bal_datum_get(part, path + length + 1)
                                        : path[length] == 0 ? part
                                                            : NULL;
        if (found)
            return found;
    }
    return NULL;
}
