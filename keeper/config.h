/* SPDX-License-Identifier: BSD-2-Clause */
/* The keeper's configuration: a YAML file, accepted as a whole, or rejected with all mistakes in it.
 *
 * Each key is a row of a table (config.c, config_app.c), from which reading, --check and the tables of
 * docs/keeper.md all come. Everything that a config points to lives as long as it does. */
#ifndef KEEPER_CONFIG_H
#define KEEPER_CONFIG_H

#include "ballast/live/keeper.h"
#include "ballast/live/scaler.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

enum { CONFIG_APPS_MAX = 1000, CONFIG_NAME_MAX = 60 };

struct address {
    socklen_t size; /* 0: none */
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_storage room;
    };
};

bool address_is_local(const struct address *address); /* a unix socket */
/* "unix:/path", "127.0.0.1:80" or "[::1]:80". */
bool address_read(const char *text, struct address *address);
/* The same of a station by the `listen` of its nginx: the id derived from it, and the address at which it
 * receives datagrams: for a unix socket, the same path with ".ballast" appended. */
bool address_read_station(const char *text, struct address *address, uint64_t *id);

/* Reads a whole number of digits alone. */
bool config_whole_number(const char *text, uint64_t *number);

/* A peer that may send messages to an app's keeper, and receives its power state. */
struct peer_config {
    uint64_t id;
    struct address address; /* none: the source of its last message */
};

struct command {
    char **argv; /* ends with NULL; argv itself is NULL where there is no command */
};

enum check_kind { CHECK_NONE, CHECK_COMMAND, CHECK_TCP, CHECK_HTTP };

struct check_config {
    enum check_kind kind;
    struct command command;
    struct address address;
    const char *host, *path; /* of HTTP */
};

struct standby {
    uint64_t mean_ns;
    bool exponential; /* else it is always the mean */
};

struct replicas_config;

struct app_config {
    const char *name;
    uint64_t id;
    struct peer_config station; /* id 0: none */
    struct peer_config *dispatcher;
    size_t dispatchers;

    struct command run;                        /* a process that is supervised here, or ... */
    struct command start, stop, running, busy; /* ... hooks; with run, stop is optional */
    const char *replica_of; /* the name of replicas that this is one of: they start and stop it, or NULL */
    struct replicas_config *replicas; /* of that name */
    uint32_t place;                   /* among them, from 0: the first `place` ones run when it does */
    struct check_config ready;
    bool shell;

    const char *user; /* NULL: the keeper's own user */
    uid_t uid;
    gid_t gid;
    const char *directory;
    char **environment; /* "NAME=value", ends with NULL */
    bool new_privileges;
    int signal;
    uint32_t processes;
    uint64_t output;

    struct standby standby;
    struct bal_keeper_config times;
    uint64_t on_ns, watch_ns;
    uint64_t silent_ns; /* a station that has sent nothing for so long is gone; 0: never */
};

/* Replicas of one thing, which one command starts and stops by their number. */
struct replicas_config {
    struct app_config hook; /* the name, and how the command runs */
    struct command scale;   /* {n} in its words stands for the number */
    struct bal_scaler_config limits;
    size_t places; /* apps that are replicas of it */
};

enum on_exit { EXIT_LEAVE, EXIT_STOP };

struct config {
    struct bli_arena arena;
    uint32_t fleet;
    struct bal_keys keys; /* the second is accepted, too */
    bool key_inside;      /* the file itself */
    const char *socket, *socket_group, *state, *cgroup;
    gid_t socket_gid;
    struct address listen, status; /* of datagrams; of HTTP */
    enum on_exit on_exit;
    uint32_t least, most; /* apps that are on; most 0: any number */
    struct app_config *app;
    size_t apps;
    struct replicas_config *replicas;
    size_t groups; /* of replicas */
};

/* Called for each mistake, with one line: "keeper.yaml:3:7: ready: ...". */
typedef void config_report_fn(void *context, const char *mistake);

/* Reads a text; name stands for the file, directory is where key_file is looked for. Returns the number of
 * mistakes; *config is to be freed when it is 0, and is untouched otherwise. */
size_t config_parse(const char *text, size_t length, const char *name, const char *directory,
                    struct config **config, config_report_fn *report, void *context);
/* The same for a file, which only its owner may be able to write. */
size_t config_read(const char *path, struct config **config, config_report_fn *report, void *context);
void config_free(struct config *config);

/* The tables of all keys, for the documentation. */
void config_print_keys(FILE *out);

#endif
