/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of an app. */
#include "config_reader.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* ---- single values ---- */

static void read_signal(struct config_reader *r, int node, const struct key *key, void *into) {
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"HUP", SIGHUP},
                   {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"KILL", SIGKILL}, {"WINCH", SIGWINCH}};
    const char *text = config_text_at(r, node, key);
    if (!text)
        return;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(text + (strncmp(text, "SIG", 3) == 0 ? 3 : 0), signals[i].name) == 0) {
            *(int *)into = signals[i].number;
            return;
        }
    config_mistake(r, node, key->name, "'%.40s' is not one of TERM, INT, QUIT, HUP, USR1, USR2, KILL, WINCH",
                   text);
}

/* ---- small maps ---- */

/* What a peer is known by: `listen` alone, or its id. */
static void read_station_listen(struct config_reader *r, int node, const struct key *key, void *into) {
    struct peer_config *peer = into;
    const char *text = config_text_at(r, node, key);
    if (text && !address_read_station(text, &peer->address, &peer->id))
        config_mistake(r, node, key->name,
                       "'%.100s' is not the listen= of a station in numbers, such as 10.0.0.11:8080 or "
                       "unix:/run/ballast/web1",
                       text);
}

static const struct key peer_keys[] = {
    {"id", config_read_id, offsetof(struct peer_config, id), NULL, "its id in the fleet", 1, UINT64_MAX},
    {"address", config_read_address, offsetof(struct peer_config, address), NULL,
     "where it listens; without it, where it spoke from last"},
    {"listen", read_station_listen, 0, NULL,
     "instead of both: the listen= of a station or dispatcher of nginx"},
};
static const struct config_table peer_table = {"peer", peer_keys, sizeof peer_keys / sizeof *peer_keys};

static void read_peer(struct config_reader *r, int node, const struct key *key, void *into) {
    struct peer_config *peer = into;
    config_read_map(r, &peer_table, node, 0, peer);
    if (bli_node_kind(r->document, node) != BLI_NODE_MAP)
        return;
    const bool id = bli_node_get(r->document, node, "id"), listen = bli_node_get(r->document, node, "listen");
    if (!id && !listen)
        config_mistake(r, node, key->name,
                       "key 'listen' is missing, its listen= in nginx; or 'id', its id in the fleet");
    if (listen && (id || bli_node_get(r->document, node, "address")))
        config_mistake(r, node, key->name, "id and address follow from 'listen': leave them out");
}

static void read_peers(struct config_reader *r, int node, const struct key *key, void *into) {
    struct app_config *app = into;
    if (!config_is_kind(r, node, key->name, BLI_NODE_LIST))
        return;
    const size_t count = bli_node_count(r->document, node);
    app->dispatcher = bli_arena_take(&r->config->arena, count, sizeof *app->dispatcher);
    app->dispatchers = app->dispatcher ? count : 0;
    for (size_t i = 0; i < app->dispatchers; i++)
        read_peer(r, bli_node_item(r->document, node, i), key, &app->dispatcher[i]);
}

static void read_standby_law(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    if (!text)
        return;
    if (strcmp(text, "exponential") != 0 && strcmp(text, "fixed") != 0)
        config_mistake(r, node, key->name, "'%.40s' is neither exponential nor fixed", text);
    *(bool *)into = strcmp(text, "exponential") == 0;
}

enum { DAY = 86400000 };

static const struct key standby_keys[] = {
    {"mean", config_read_time, offsetof(struct standby, mean_ns), "60s", "its mean", 0, DAY},
    {"law", read_standby_law, offsetof(struct standby, exponential), "fixed",
     "`fixed`, or `exponential` as in the paper"},
};
static const struct config_table standby_table = {"standby", standby_keys,
                                                  sizeof standby_keys / sizeof *standby_keys};

/* A time alone is fixed. */
static void read_standby(struct config_reader *r, int node, const struct key *key, void *into) {
    struct standby *standby = into;
    if (node && bli_node_kind(r->document, node) == BLI_NODE_MAP)
        config_read_map(r, &standby_table, node, 0, standby);
    else
        config_read_time(r, node, key, &standby->mean_ns);
}

/* ---- is it ready? ---- */

struct ready {
    struct command command;
    struct address tcp;
    const char *http;
};

static const struct key ready_keys[] = {
    {"command", config_read_command, offsetof(struct ready, command), NULL,
     "a command that succeeds when it is"},
    {"tcp", config_read_address, offsetof(struct ready, tcp), NULL,
     "an address that takes a connection when it is"},
    {"http", config_read_text, offsetof(struct ready, http), NULL,
     "`http://127.0.0.1:8001/health`: a GET that is answered with 2xx or 3xx when it is"},
};
static const struct config_table ready_table = {"ready", ready_keys, sizeof ready_keys / sizeof *ready_keys};

static void read_url(struct config_reader *r, int node, const char *url, struct check_config *check) {
    const char *host = url + strlen("http://");
    const size_t length = strcspn(host, "/");
    if (strncmp(url, "http://", 7) == 0) {
        check->host = bli_arena_text(&r->config->arena, host, length);
        check->path = host[length] ? config_copy_text(r, host + length) : "/";
        if (address_read(check->host, &check->address) && strspn(check->path, "\r\n ") == 0 &&
            strcspn(check->path, "\r\n ") == strlen(check->path))
            return;
    }
    config_mistake(r, node, "http",
                   "'%.100s' is not like http://127.0.0.1:8001/health, with an address in numbers", url);
}

static void read_ready(struct config_reader *r, int node, const struct key *key, void *into) {
    struct check_config *check = into;
    struct ready ready = {0};
    const size_t mistakes = r->mistakes;
    config_read_map(r, &ready_table, node, 0, &ready);
    const int given = (ready.command.argv != NULL) + (ready.tcp.size != 0) + (ready.http != NULL);
    if (mistakes == r->mistakes && given != 1)
        config_mistake(r, node, key->name, "it should have one of command, tcp and http");
    check->kind = ready.http ? CHECK_HTTP : ready.tcp.size ? CHECK_TCP : CHECK_COMMAND;
    check->command = ready.command;
    check->address = ready.tcp;
    if (ready.http)
        read_url(r, node, ready.http, check);
}

/* ---- an app ---- */

#define TIME(member) offsetof(struct bal_keeper_config, member)
static const struct key time_keys[] = {
    {"start", config_read_time, TIME(start_ns), "30s", "the start hook may take so long", 1, DAY},
    {"ready", config_read_time, TIME(ready_ns), "60s", "from then on until it is ready", 1, DAY},
    {"check", config_read_time, TIME(check_ns), "200ms", "between two checks whether it is ready", 1, DAY},
    {"answer", config_read_time, TIME(answer_ns), "2s", "how long one check may take", 1, DAY},
    {"drain", config_read_time, TIME(drain_ns), "1s",
     "how long station and dispatchers are warned before a stop", 1, DAY},
    {"stop", config_read_time, TIME(stop_ns), "30s", "a stop may take so long; then it is ended by force", 1,
     DAY},
    {"kill", config_read_time, TIME(kill_ns), "5s", "the end by force is tried again so often", 1, DAY},
    {"steady", config_read_time, TIME(steady_ns), "10s",
     "an app that has been on for so long has started well", 1, DAY},
    {"back_off", config_read_time, TIME(back_off_ns), "1s",
     "after a failed start; then twice as long each time", 1, DAY},
    {"back_off_most", config_read_time, TIME(back_off_most_ns), "5min", "but not longer than this", 1, DAY},
    {"beat", config_read_time, TIME(beat_ns), "1s", "the state is told so often even when it has not changed",
     1, DAY},
};
#undef TIME
const struct config_table config_time_table = {"times", time_keys, sizeof time_keys / sizeof *time_keys};

static void read_times(struct config_reader *r, int node, const struct key *key, void *into) {
    struct bal_keeper_config *times = into;
    (void)key;
    config_read_map(r, &config_time_table, node, bli_node_get(r->document, config_defaults_of(r), "times"),
                    times);
    if (times->back_off_most_ns < times->back_off_ns)
        config_mistake(r, node, "back_off_most", "the longest back-off is shorter than the first");
}

#define AT(member) offsetof(struct app_config, member)
static const struct key app_keys[] = {
    {"name", config_read_name, AT(name), NULL, "in logs and in the state directory; each app has its own"},
    {"id", config_read_id, AT(id), NULL,
     "of the keeper of this app in the fleet; for dispatchers without stations, of the server", 1,
     UINT64_MAX},
    {"station", read_peer, AT(station), NULL,
     "`{listen: 10.0.0.11:8080}`, as the station of nginx says it, or `{id: 1, address: ...}`: who wakes the "
     "app "
     "and lets it rest"},
    {"dispatchers", read_peers, 0, NULL, "a list of the same: who wakes it where there is no station"},
    {"run", config_read_command, AT(run), NULL,
     "the app itself, in the foreground: a list of words; it is supervised"},
    {"start", config_read_command, AT(start), NULL,
     "instead of `run`: the command that has it started elsewhere"},
    {"stop", config_read_command, AT(stop), NULL,
     "the command that stops it; with `run` it may be left out: then the app gets a signal"},
    {"running", config_read_command, AT(running), NULL,
     "with `start`: succeeds while anything of the app is running; without it `ready` is asked"},
    {"busy", config_read_command, AT(busy), NULL,
     "without a station: succeeds while the app has work; when it has none it may rest"},
    {"replica_of", config_read_text, AT(replica_of), NULL,
     "instead of `run` and `start`: the name of `replicas`, of which this is the next one"},
    {"ready", read_ready, AT(ready), NULL,
     "`{tcp: 127.0.0.1:8001}`, `{http: \"http://127.0.0.1:8001/health\"}` or `{command: [...]}`; without it "
     "an app that runs is ready"},
    {"shell", config_read_flag, AT(shell), "false", "commands are texts and are given to /bin/sh"},
    {"user", config_read_text, AT(user), NULL,
     "commands and the app run as this user; without it as the keeper's. Only root can change it"},
    {"directory", config_read_path, AT(directory), "/", "where they run"},
    {"environment", config_read_environment, AT(environment), NULL,
     "`{NAME: value}`; besides these they get PATH, HOME, USER, LANG, BALLAST_APP and BALLAST_KEEPER alone"},
    {"new_privileges", config_read_flag, AT(new_privileges), "false", "they may gain privileges (sudo)"},
    {"signal", read_signal, AT(signal), "TERM", "what a supervised app is stopped with"},
    {"processes", config_read_count, AT(processes), "4096", "processes that the user may have (RLIMIT_NPROC)",
     1, 1 << 22},
    {"output", config_read_id, AT(output), "4096",
     "bytes of output that are logged of each command; of the app each second; the rest is counted", 0,
     1 << 20},
    {"standby", read_standby, AT(standby), "0s",
     "how long it stays on when it may rest, after the station's own `standby=`: a time, or `{mean: 60s, "
     "law: "
     "exponential}`",
     0, DAY},
    {"on", config_read_time, AT(on_ns), "0s", "once on it stays so at least as long", 0, DAY},
    {"watch", config_read_time, AT(watch_ns), "5s",
     "between two looks at an app that is not supervised, and `busy`", 10, DAY},
    {"silent", config_read_time, AT(silent_ns), "60s",
     "a station that does not answer for so long is gone: the app may rest; `0s`: never", 0, DAY},
    {"times", read_times, AT(times), "", "below"},
};
#undef AT
const struct config_table config_app_table = {"app", app_keys, sizeof app_keys / sizeof *app_keys};

void config_find_user(struct config_reader *r, int node, struct app_config *app) {
    app->uid = geteuid();
    app->gid = getegid();
    if (!app->user)
        return;
    errno = 0;
    const struct passwd *user = getpwnam(app->user);
    if (!user) {
        config_mistake(r, node, "user", "there is no user '%.40s' on this machine", app->user);
        return;
    }
    app->uid = user->pw_uid;
    app->gid = user->pw_gid;
}

static bool is_for_shell(const struct command *command) {
    return command->argv && command->argv[0] && strcmp(command->argv[0], "/bin/sh") == 0 &&
           command->argv[1] && strcmp(command->argv[1], "-c") == 0;
}

/* A text is a command only where a shell has been asked for. */
void config_check_shell(struct config_reader *r, int node, const char *key, const struct command *command,
                        bool shell) {
    const bool text = node && bli_node_kind(r->document, node) == BLI_NODE_TEXT;
    if (text && is_for_shell(command) && !shell)
        config_mistake(
            r, node, key,
            "a text is for a shell, which must be asked for (shell: true); else give a list of words");
}

static void check_shell(struct config_reader *r, int map, int defaults, const struct app_config *app) {
    const struct {
        const char *name;
        const struct command *command;
    } commands[] = {{"run", &app->run},         {"start", &app->start}, {"stop", &app->stop},
                    {"running", &app->running}, {"busy", &app->busy},   {"ready", &app->ready.command}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        int node = bli_node_get(r->document, map, commands[i].name);
        node = node ? node : bli_node_get(r->document, defaults, commands[i].name);
        if (i == 5)
            node = bli_node_get(r->document, node, "command");
        config_check_shell(r, node, commands[i].name, commands[i].command, app->shell);
    }
}

static void check_hooks(struct config_reader *r, int map, const struct app_config *app) {
    const bool run = app->run.argv, start = app->start.argv;
    if (run + start + (app->replica_of != NULL) != 1)
        config_mistake(r, map, app->name, "it should have one of run, start and replica_of");
    if (app->replica_of && app->ready.kind == CHECK_NONE)
        config_mistake(r, map, app->name, "a replica needs 'ready', to know whether it runs");
    if (app->replica_of && (app->stop.argv || app->running.argv))
        config_mistake(r, map, app->name, "'stop' and 'running' are not for a replica: 'scale' does that");
    if (start && !app->stop.argv)
        config_mistake(r, map, app->name, "an app with 'start' needs 'stop'");
    if (start && !app->running.argv && app->ready.kind == CHECK_NONE)
        config_mistake(r, map, app->name,
                       "an app with 'start' needs 'running' or 'ready', to know whether it runs");
    if (run && app->running.argv)
        config_mistake(r, map, app->name, "'running' is for apps with 'start'; one with 'run' is supervised");
    if (app->station.id && app->busy.argv)
        config_mistake(r, map, app->name, "'busy' is for apps without a station: that one knows");
}

static void check_peers(struct config_reader *r, int map, const struct app_config *app) {
    const size_t count = app->dispatchers + (app->station.id != 0);
    for (size_t i = 0; i < count; i++) {
        const struct peer_config *peer = i < app->dispatchers ? &app->dispatcher[i] : &app->station;
        if (peer->id && peer->id == app->id)
            config_mistake(r, map, app->name, "a peer has the id %llu of the app itself",
                           (unsigned long long)peer->id);
        if (peer->address.size && !address_is_local(&peer->address) && !r->config->listen.size)
            config_mistake(r, map, app->name,
                           "a peer has an address of the network, so 'listen' is needed above");
    }
}

void config_read_app(struct config_reader *r, int node, struct app_config *app) {
    const int defaults = config_defaults_of(r);
    if (!config_is_kind(r, node, "apps", BLI_NODE_MAP))
        return;
    const size_t mistakes = r->mistakes;
    config_read_map(r, &config_app_table, node, defaults, app);
    if (!app->name)
        config_mistake(r, node, "apps", "an app needs a name");
    if (!app->id && !bli_node_get(r->document, node, "id"))
        config_mistake(r, node, app->name ? app->name : "apps", "key 'id' is missing: its id in the fleet");
    if (r->mistakes > mistakes)
        return; /* what follows would only be a consequence */
    config_find_user(r, node, app);
    check_shell(r, node, defaults, app);
    check_hooks(r, node, app);
    check_peers(r, node, app);
}
