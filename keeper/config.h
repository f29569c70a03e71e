/* The keeper's configuration: a YAML file, read whole or refused with everything that is wrong in it.
 *
 * Each key is a row of a table (config.c, config_app.c), from which reading, --check and the tables of
 * docs/keeper.md all come. Everything that a config points to lives as long as it does. */
#ifndef KEEPER_CONFIG_H
#define KEEPER_CONFIG_H

#include "ballast/live/keeper.h"

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

/* Reads a whole number of digits alone. */
bool config_whole_number(const char *text, uint64_t *number);

/* Who may speak to an app's keeper, and is told its power. */
struct peer_config {
    uint64_t id;
    struct address address; /* none: where it spoke from last */
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

struct app_config {
    const char *name;
    uint64_t id;
    struct peer_config station; /* id 0: none */
    struct peer_config *dispatcher;
    size_t dispatchers;

    struct command run;                        /* a process that is supervised here, or ... */
    struct command start, stop, running, busy; /* ... hooks; stop is optional beside run */
    struct check_config ready;
    bool shell;

    const char *user; /* NULL: whoever runs the keeper */
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
};

enum on_exit { EXIT_LEAVE, EXIT_STOP };

struct config {
    struct bal_arena arena;
    uint32_t fleet;
    struct bal_key key;
    bool key_inside; /* the file itself */
    const char *socket, *socket_group, *state;
    gid_t socket_gid;
    struct address listen;
    enum on_exit on_exit;
    uint32_t least, most; /* apps that are on; most 0: any number */
    struct app_config *app;
    size_t apps;
};

/* Is told each mistake, "keeper.yaml:3:7: ready: ...", in one line. */
typedef void config_tell(void *context, const char *mistake);

/* Reads a text; name stands for the file, directory is where key_file is looked for. Returns the number of
 * mistakes; *config is to be freed when it is 0, and is untouched else. */
size_t config_parse(const char *text, size_t length, const char *name, const char *directory,
                    struct config **config, config_tell *tell, void *context);
/* The same of a file, which nobody but its owner may have written. */
size_t config_read(const char *path, struct config **config, config_tell *tell, void *context);
void config_free(struct config *config);

/* The tables of all keys, for the documentation. */
void config_print_keys(FILE *out);

#endif
