/* SPDX-License-Identifier: BSD-2-Clause */
/* The apps of a keeper: those of its configuration, those that are leaving because they are no longer in it,
 * and those that an earlier keeper has left running. */
#ifndef KEEPER_APP_TABLE_H
#define KEEPER_APP_TABLE_H

#include "app.h"
#include "peer_link.h"

/* An app with its peers; one that was left behind by an earlier keeper has a configuration of its own. */
struct app_entry {
    struct app app;
    struct peer_link link;
    struct app_config own;
    char own_name[CONFIG_NAME_MAX + 1];
};

struct app_table {
    struct config *config;
    const char *cgroup;  /* the control group below which apps get theirs; NULL: none */
    struct config **old; /* of apps that are leaving */
    size_t olds;
    struct app_entry **entry;
    struct app **app; /* the same */
    size_t count;
    struct replicas **replicas; /* in the order of the configuration */
    size_t groups;
    uint64_t boot; /* of the messages sent */
};

/* Begins with the apps of the configuration and with unmanaged apps: those that run and are not in it. cgroup
 * must live as long as the table. False: out of memory. */
bool app_table_init(struct app_table *app_table, struct config *config, const char *cgroup, uint64_t boot,
                    uint64_t now);
/* Forgets all of them, and the configurations; what runs, runs on. */
void app_table_fini(struct app_table *app_table);

/* Changes to another configuration and takes ownership of it. On failure nothing has changed, and it returns
 * what cannot change without a restart. */
const char *app_table_reconfigure(struct app_table *app_table, struct config *config, uint64_t now);

/* Stops an app as soon as possible; requests for it are ignored from now on. */
void app_table_begin_removal(struct app *app, uint64_t now);
/* The same for all, with their replicas. */
void app_table_begin_removal_of_all(struct app_table *app_table, uint64_t now);
/* Removes apps that are leaving and are off; new apps take their place, unless all are to be removed. Returns
 * true if there were any. */
bool app_table_remove_stopped(struct app_table *app_table, bool all, uint64_t now);

/* Writes the state of all for people: STATE/keeper.status. */
void app_table_write_status(const struct app_table *app_table, uint64_t now);

#endif
