/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a configuration by tables of keys: what config.c and config_app.c share.
 *
 * A key reads its value into a member of a struct; a mistake is reported with its place, and reading
 * continues. */
#ifndef KEEPER_CONFIG_READER_H
#define KEEPER_CONFIG_READER_H

#include "config.h"

#include "format/document.h"

enum { CONFIG_REPORTED_MAX = 500 };

struct config_reader {
    struct bli_document *document;
    const char *name, *directory;
    struct config *config;
    config_report_fn *report;
    void *context;
    size_t mistakes;
    uint64_t reported[CONFIG_REPORTED_MAX]; /* hashes of the mistakes reported */
    size_t reported_count;
};

struct key;
/* Reads the value at the node into a member; node 0: there is none, and key->fallback is not NULL. */
typedef void read_value(struct config_reader *r, int node, const struct key *key, void *into);

struct key {
    const char *name;
    read_value *read;
    size_t offset;        /* of the member */
    const char *fallback; /* the default text where the key is missing; NULL: nothing is read then */
    const char *help;
    uint64_t low, high; /* of numbers and times */
};

struct config_table {
    const char *name; /* of what it describes */
    const struct key *key;
    size_t count;
};

/* Reports a mistake at a node; at the root when it is 0. Each is reported once. */
void config_mistake(struct config_reader *r, int node, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Is the node of that kind? If not, reports it. */
bool config_is_kind(struct config_reader *r, int node, const char *key, enum bli_node_kind kind);

/* Reports names that the table does not have, and duplicates. */
void config_check_names(struct config_reader *r, const struct config_table *table, int map);
/* Reads a map by its table; what is not there is looked for in the map of defaults (0: none). */
void config_read_map(struct config_reader *r, const struct config_table *table, int map, int defaults,
                     void *into);
/* The map that holds for all apps; 0: none. */
int config_defaults_of(struct config_reader *r);

/* The text of a node, or the fallback; NULL: it is not a text, which has been reported. */
const char *config_text_at(struct config_reader *r, int node, const struct key *key);
/* A copy that lives as long as the configuration. */
const char *config_copy_text(struct config_reader *r, const char *text);

read_value config_read_text, config_read_path, config_read_name, config_read_count, config_read_id,
    config_read_time, config_read_flag, config_read_address, config_read_command, config_read_environment;

/* The app of a map, and the tables of its keys. */
void config_read_app(struct config_reader *r, int node, struct app_config *app);
extern const struct config_table config_app_table, config_time_table, config_replicas_table;

/* The list of replicas; and, when the apps are known, which of them are places of which. */
read_value config_read_replicas;
void config_find_places(struct config_reader *r, int root);

/* Looks up the user that commands run as. */
void config_find_user(struct config_reader *r, int node, struct app_config *app);
/* The command at the node (0: none) is a text: was a shell asked for? */
void config_check_shell(struct config_reader *r, int node, const char *key, const struct command *command,
                        bool shell);

#endif
