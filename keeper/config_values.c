/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers for single values, maps and lists of the configuration, and the reports of mistakes in them. */
#include "config_reader.h"

#include "ballast/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 200 };

/* ---- mistakes ---- */

/* A mistake in `defaults` is a mistake in each app, and is reported once. */
static bool was_reported(struct config_reader *r, const char *text) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (size_t i = 0; i < r->reported_count; i++)
        if (r->reported[i] == hash)
            return true;
    if (r->reported_count < CONFIG_REPORTED_MAX)
        r->reported[r->reported_count++] = hash;
    return false;
}

void config_mistake(struct config_reader *r, int node, const char *key, const char *format, ...) {
    struct bal_error err;
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const int at = node ? node : bli_document_root(r->document);
    bal_fail(&err, BAL_E_RANGE, "%s:%u:%u: %s: %s", r->name, bli_node_line(r->document, at),
             bli_node_column(r->document, at), key, text);
    r->mistakes++;
    if (!was_reported(r, err.text))
        r->report(r->context, err.text);
}

bool config_is_kind(struct config_reader *r, int node, const char *key, enum bli_node_kind kind) {
    static const char *const names[] = {"a single value", "a list", "a map"};
    const enum bli_node_kind found = bli_node_kind(r->document, node);
    if (found != kind)
        config_mistake(r, node, key, "this is %s; it should be %s", names[found], names[kind]);
    return found == kind;
}

/* ---- maps ---- */

static const struct key *find_key(const struct config_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->key[i].name, name) == 0)
            return &table->key[i];
    return NULL;
}

static void list_keys(const struct config_table *table, char *text, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < table->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", table->key[i].name);
}

void config_check_names(struct config_reader *r, const struct config_table *table, int map) {
    struct bli_document *d = r->document;
    for (size_t i = 0; i < bli_node_count(d, map); i++) {
        const int key = bli_node_key(d, map, i);
        if (bli_node_kind(d, key) != BLI_NODE_TEXT) {
            config_mistake(r, key, table->name, "a key must have a plain name");
            continue;
        }
        const char *name = bli_node_text(d, key);
        char keys[240];
        list_keys(table, keys, sizeof keys);
        if (!find_key(table, name))
            config_mistake(r, key, table->name, "there is no key '%.40s'; there are %s", name, keys);
        else if (bli_node_get(d, map, name) != bli_node_value(d, map, i))
            config_mistake(r, key, name, "it is given twice");
    }
}

/* Reads a map by its table; what is not there is looked for in the map of defaults (0: none). */
void config_read_map(struct config_reader *r, const struct config_table *table, int map, int defaults,
                     void *into) {
    if (map && !config_is_kind(r, map, table->name, BLI_NODE_MAP))
        return;
    if (map)
        config_check_names(r, table, map);
    for (size_t i = 0; i < table->count; i++) {
        const struct key *key = &table->key[i];
        int node = bli_node_get(r->document, map, key->name);
        if (!node)
            node = bli_node_get(r->document, defaults, key->name);
        if (node || key->fallback)
            key->read(r, node, key, (char *)into + key->offset);
    }
}

/* The map that holds for all apps; 0: none. */
int config_defaults_of(struct config_reader *r) {
    return bli_node_get(r->document, bli_document_root(r->document), "defaults");
}

/* ---- single values ---- */

/* NULL: it is not a text, which has been reported. */
const char *config_text_at(struct config_reader *r, int node, const struct key *key) {
    if (!node)
        return key->fallback;
    return config_is_kind(r, node, key->name, BLI_NODE_TEXT) ? bli_node_text(r->document, node) : NULL;
}

const char *config_copy_text(struct config_reader *r, const char *text) {
    return bli_arena_text(&r->config->arena, text, strlen(text));
}

void config_read_text(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    if (text && !*text && node)
        config_mistake(r, node, key->name, "it is empty");
    if (text)
        *(const char **)into = config_copy_text(r, text);
}

void config_read_path(struct config_reader *r, int node, const struct key *key, void *into) {
    config_read_text(r, node, key, into);
    const char *path = *(const char **)into;
    if (path && *path && *path != '/')
        config_mistake(r, node, key->name, "'%.100s' is not a path from the root, such as /run/ballastd",
                       path);
    if (path && key->high && strlen(path) > key->high)
        config_mistake(r, node, key->name, "the path has more than %llu characters",
                       (unsigned long long)key->high);
}

/* A name is used in file names and logs. */
void config_read_name(struct config_reader *r, int node, const struct key *key, void *into) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@";
    config_read_text(r, node, key, into);
    const char *name = *(const char **)into;
    if (name && *name &&
        (strspn(name, allowed) != strlen(name) || *name == '.' || strlen(name) > CONFIG_NAME_MAX))
        config_mistake(r, node, key->name, "'%.80s' is not a name: at most %d letters, digits and _ - . @",
                       name, CONFIG_NAME_MAX);
}

bool config_whole_number(const char *text, uint64_t *number) {
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

static bool read_whole(struct config_reader *r, int node, const struct key *key, uint64_t *number) {
    const char *text = config_text_at(r, node, key);
    if (!text)
        return false;
    if (config_whole_number(text, number) && *number >= key->low && *number <= key->high)
        return true;
    config_mistake(r, node, key->name, "'%.40s' is not a whole number from %llu to %llu", text,
                   (unsigned long long)key->low, (unsigned long long)key->high);
    return false;
}

void config_read_count(struct config_reader *r, int node, const struct key *key, void *into) {
    uint64_t number;
    if (read_whole(r, node, key, &number))
        *(uint32_t *)into = (uint32_t)number;
}

void config_read_id(struct config_reader *r, int node, const struct key *key, void *into) {
    read_whole(r, node, key, into);
}

static bool time_of(const char *text, double *seconds) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
    const char *end = bli_number_read(text, seconds);
    for (size_t i = 0; end && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0) {
            *seconds *= units[i].seconds;
            return true;
        }
    return false;
}

/* Limits are in milliseconds. */
void config_read_time(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    double seconds;
    if (!text)
        return;
    if (time_of(text, &seconds) && seconds * 1e3 >= (double)key->low && seconds * 1e3 <= (double)key->high)
        *(uint64_t *)into = (uint64_t)(seconds * 1e9);
    else
        config_mistake(r, node, key->name,
                       "'%.40s' is not a time from %llu ms to %llu h, such as 500ms, 2s or 5min", text,
                       (unsigned long long)key->low, (unsigned long long)(key->high / 3600000));
}

void config_read_flag(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    if (!text)
        return;
    const bool yes = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "no") != 0)
        config_mistake(r, node, key->name, "'%.40s' is neither true nor false", text);
    *(bool *)into = yes;
}

/* ---- addresses ---- */

void config_read_address(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    if (text && !address_read(text, into)) {
        config_mistake(r, node, key->name,
                       "'%.100s' is no address in numbers, such as unix:/run/x, 127.0.0.1:8001 or [::1]:8001",
                       text);
        *(struct address *)into = (struct address){0};
    }
}

/* ---- lists of texts ---- */

/* For argv and environ, whose texts are not const. */
static char *copy_word(struct config_reader *r, const char *text) {
    return (char *)config_copy_text(r, text);
}

/* NULL: not all of it was text. */
static char **texts_at(struct config_reader *r, int node, const char *key) {
    struct bli_document *d = r->document;
    const size_t count = bli_node_count(d, node);
    char **texts = bli_arena_take(&r->config->arena, count + 1, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++) {
        const int item = bli_node_item(d, node, i);
        if (!config_is_kind(r, item, key, BLI_NODE_TEXT))
            return NULL;
        texts[i] = copy_word(r, bli_node_text(d, item));
    }
    return texts;
}

/* A list of words, or a text for the shell; which of them it should be is known when the app has been read.
 */
void config_read_command(struct config_reader *r, int node, const struct key *key, void *into) {
    struct command *command = into;
    if (bli_node_kind(r->document, node) == BLI_NODE_TEXT) {
        command->argv = bli_arena_take(&r->config->arena, 4, sizeof *command->argv);
        const char *const words[] = {"/bin/sh", "-c", bli_node_text(r->document, node)};
        for (size_t i = 0; command->argv && i < 3; i++)
            command->argv[i] = copy_word(r, words[i]);
        return;
    }
    if (!config_is_kind(r, node, key->name, BLI_NODE_LIST))
        return;
    const size_t count = bli_node_count(r->document, node);
    if (count == 0 || count > WORDS_MAX) {
        config_mistake(r, node, key->name,
                       "a command is a list of 1 to %d words: [/usr/bin/app, --port, \"8001\"]", WORDS_MAX);
        return;
    }
    command->argv = texts_at(r, node, key->name);
    if (command->argv && command->argv[0] && !*command->argv[0])
        config_mistake(r, node, key->name, "the name of the program is empty");
}

void config_read_environment(struct config_reader *r, int node, const struct key *key, void *into) {
    struct bli_document *d = r->document;
    if (!config_is_kind(r, node, key->name, BLI_NODE_MAP))
        return;
    const size_t count = bli_node_count(d, node);
    char **texts = bli_arena_take(&r->config->arena, count + 1, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++) {
        const int name = bli_node_key(d, node, i), value = bli_node_value(d, node, i);
        texts[i] = copy_word(r, "");
        if (!config_is_kind(r, name, key->name, BLI_NODE_TEXT) ||
            !config_is_kind(r, value, key->name, BLI_NODE_TEXT))
            continue;
        const char *left = bli_node_text(d, name), *right = bli_node_text(d, value);
        if (!*left || strchr(left, '=') || strncmp(left, "BALLAST_", 8) == 0)
            config_mistake(r, name, key->name, "'%.40s' cannot be the name of a variable here", left);
        const size_t size = strlen(left) + strlen(right) + 2;
        texts[i] = bli_arena_take(&r->config->arena, size, 1);
        if (texts[i])
            snprintf(texts[i], size, "%s=%s", left, right);
    }
    *(char ***)into = texts;
}
