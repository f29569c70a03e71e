#include "config.h"

#include "ballast/number.h"

#include "format/document.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, KEY_FILE_MAX = 256, WORDS_MAX = 200, TOLD_MAX = 500 };

struct reader {
    struct bal_document *document;
    const char *name, *directory;
    struct config *config;
    config_tell *tell;
    void *context;
    size_t mistakes;
    uint64_t told[TOLD_MAX]; /* hashes of what has been told */
    size_t told_count;
};

struct key;
/* Reads the value at the node into a member; node 0: there is none, and key->fallback is not NULL. */
typedef void read_value(struct reader *r, int node, const struct key *key, void *into);

struct key {
    const char *name;
    read_value *read;
    size_t offset;        /* of the member */
    const char *fallback; /* what is taken where nothing is said; NULL: nothing is read then */
    const char *help;
    uint64_t low, high; /* of numbers and times */
};

struct table {
    const char *name; /* of what it describes */
    const struct key *key;
    size_t count;
};

/* ---- mistakes ---- */

/* What is wrong in `defaults` is wrong in each app, and is told once. */
static bool was_told(struct reader *r, const char *text) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (size_t i = 0; i < r->told_count; i++)
        if (r->told[i] == hash)
            return true;
    if (r->told_count < TOLD_MAX)
        r->told[r->told_count++] = hash;
    return false;
}

__attribute__((format(printf, 4, 5))) static void mistake(struct reader *r, int node, const char *key,
                                                          const char *format, ...) {
    struct bal_error err;
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const int at = node ? node : bal_document_root(r->document);
    bal_fail(&err, BAL_E_RANGE, "%s:%u:%u: %s: %s", r->name, bal_node_line(r->document, at),
             bal_node_column(r->document, at), key, text);
    r->mistakes++;
    if (!was_told(r, err.text))
        r->tell(r->context, err.text);
}

static bool is_kind(struct reader *r, int node, const char *key, enum bal_node_kind kind) {
    static const char *const names[] = {"a single value", "a list", "a map"};
    const enum bal_node_kind found = bal_node_kind(r->document, node);
    if (found != kind)
        mistake(r, node, key, "this is %s; it should be %s", names[found], names[kind]);
    return found == kind;
}

/* ---- maps ---- */

static const struct key *find_key(const struct table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->key[i].name, name) == 0)
            return &table->key[i];
    return NULL;
}

static void list_keys(const struct table *table, char *text, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < table->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", table->key[i].name);
}

static void check_names(struct reader *r, const struct table *table, int map) {
    struct bal_document *d = r->document;
    for (size_t i = 0; i < bal_node_count(d, map); i++) {
        const int key = bal_node_key(d, map, i);
        if (bal_node_kind(d, key) != BAL_NODE_TEXT) {
            mistake(r, key, table->name, "a key must have a plain name");
            continue;
        }
        const char *name = bal_node_text(d, key);
        char keys[240];
        list_keys(table, keys, sizeof keys);
        if (!find_key(table, name))
            mistake(r, key, table->name, "there is no key '%.40s'; there are %s", name, keys);
        else if (bal_node_get(d, map, name) != bal_node_value(d, map, i))
            mistake(r, key, name, "it is given twice");
    }
}

/* Reads a map by its table; what is not there is looked for in the map of defaults (0: none). */
static void read_map(struct reader *r, const struct table *table, int map, int defaults, void *into) {
    if (map && !is_kind(r, map, table->name, BAL_NODE_MAP))
        return;
    if (map)
        check_names(r, table, map);
    for (size_t i = 0; i < table->count; i++) {
        const struct key *key = &table->key[i];
        int node = bal_node_get(r->document, map, key->name);
        if (!node)
            node = bal_node_get(r->document, defaults, key->name);
        if (node || key->fallback)
            key->read(r, node, key, (char *)into + key->offset);
    }
}

/* The map that holds for all apps; 0: none. */
static int defaults_of(struct reader *r) {
    return bal_node_get(r->document, bal_document_root(r->document), "defaults");
}

/* ---- single values ---- */

/* NULL: it is no text, which has been told. */
static const char *text_at(struct reader *r, int node, const struct key *key) {
    if (!node)
        return key->fallback;
    return is_kind(r, node, key->name, BAL_NODE_TEXT) ? bal_node_text(r->document, node) : NULL;
}

static const char *keep(struct reader *r, const char *text) {
    return bal_arena_text(&r->config->arena, text, strlen(text));
}

static void read_text(struct reader *r, int node, const struct key *key, void *into) {
    const char *text = text_at(r, node, key);
    if (text && !*text && node)
        mistake(r, node, key->name, "it is empty");
    if (text)
        *(const char **)into = keep(r, text);
}

static void read_path(struct reader *r, int node, const struct key *key, void *into) {
    read_text(r, node, key, into);
    const char *path = *(const char **)into;
    if (path && *path && *path != '/')
        mistake(r, node, key->name, "'%.100s' is not a path from the root, such as /run/ballastd", path);
    if (path && key->high && strlen(path) > key->high)
        mistake(r, node, key->name, "the path has more than %llu characters", (unsigned long long)key->high);
}

/* It names files and stands in logs. */
static void read_name(struct reader *r, int node, const struct key *key, void *into) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@";
    read_text(r, node, key, into);
    const char *name = *(const char **)into;
    if (name && *name &&
        (strspn(name, allowed) != strlen(name) || *name == '.' || strlen(name) > CONFIG_NAME_MAX))
        mistake(r, node, key->name, "'%.80s' is not a name: at most %d letters, digits and _ - . @", name,
                CONFIG_NAME_MAX);
}

bool config_whole_number(const char *text, uint64_t *number) {
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

static bool read_whole(struct reader *r, int node, const struct key *key, uint64_t *number) {
    const char *text = text_at(r, node, key);
    if (!text)
        return false;
    if (config_whole_number(text, number) && *number >= key->low && *number <= key->high)
        return true;
    mistake(r, node, key->name, "'%.40s' is not a whole number from %llu to %llu", text,
            (unsigned long long)key->low, (unsigned long long)key->high);
    return false;
}

static void read_count(struct reader *r, int node, const struct key *key, void *into) {
    uint64_t number;
    if (read_whole(r, node, key, &number))
        *(uint32_t *)into = (uint32_t)number;
}

static void read_id(struct reader *r, int node, const struct key *key, void *into) {
    read_whole(r, node, key, into);
}

static bool time_of(const char *text, double *seconds) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
    const char *end = bal_number_read(text, seconds);
    for (size_t i = 0; end && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0) {
            *seconds *= units[i].seconds;
            return true;
        }
    return false;
}

/* Limits are in milliseconds. */
static void read_time(struct reader *r, int node, const struct key *key, void *into) {
    const char *text = text_at(r, node, key);
    double seconds;
    if (!text)
        return;
    if (time_of(text, &seconds) && seconds * 1e3 >= (double)key->low && seconds * 1e3 <= (double)key->high)
        *(uint64_t *)into = (uint64_t)(seconds * 1e9);
    else
        mistake(r, node, key->name, "'%.40s' is not a time from %llu ms to %llu h, such as 500ms, 2s or 5min",
                text, (unsigned long long)key->low, (unsigned long long)(key->high / 3600000));
}

static void read_flag(struct reader *r, int node, const struct key *key, void *into) {
    const char *text = text_at(r, node, key);
    if (!text)
        return;
    const bool yes = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "no") != 0)
        mistake(r, node, key->name, "'%.40s' is neither true nor false", text);
    *(bool *)into = yes;
}

static void read_on_exit(struct reader *r, int node, const struct key *key, void *into) {
    const char *text = text_at(r, node, key);
    if (!text)
        return;
    if (strcmp(text, "leave") != 0 && strcmp(text, "stop") != 0)
        mistake(r, node, key->name, "'%.40s' is neither leave nor stop", text);
    *(enum on_exit *)into = strcmp(text, "stop") == 0 ? EXIT_STOP : EXIT_LEAVE;
}

static void read_signal(struct reader *r, int node, const struct key *key, void *into) {
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"HUP", SIGHUP},
                   {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"KILL", SIGKILL}, {"WINCH", SIGWINCH}};
    const char *text = text_at(r, node, key);
    if (!text)
        return;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(text + (strncmp(text, "SIG", 3) == 0 ? 3 : 0), signals[i].name) == 0) {
            *(int *)into = signals[i].number;
            return;
        }
    mistake(r, node, key->name, "'%.40s' is not one of TERM, INT, QUIT, HUP, USR1, USR2, KILL, WINCH", text);
}

/* ---- addresses ---- */

static void read_address(struct reader *r, int node, const struct key *key, void *into) {
    const char *text = text_at(r, node, key);
    if (text && !address_read(text, into)) {
        mistake(r, node, key->name,
                "'%.100s' is no address in numbers, such as unix:/run/x, 127.0.0.1:8001 or [::1]:8001", text);
        *(struct address *)into = (struct address){0};
    }
}

static void read_udp_address(struct reader *r, int node, const struct key *key, void *into) {
    read_address(r, node, key, into);
    if (address_is_local(into))
        mistake(r, node, key->name, "this is a unix socket; it should be an address such as 127.0.0.1:7700");
}

/* ---- lists of texts ---- */

/* For argv and environ, whose texts are not const. */
static char *keep_word(struct reader *r, const char *text) {
    return (char *)keep(r, text);
}

/* NULL: not all of it was text. */
static char **texts_at(struct reader *r, int node, const char *key) {
    struct bal_document *d = r->document;
    const size_t count = bal_node_count(d, node);
    char **texts = bal_arena_take(&r->config->arena, count + 1, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++) {
        const int item = bal_node_item(d, node, i);
        if (!is_kind(r, item, key, BAL_NODE_TEXT))
            return NULL;
        texts[i] = keep_word(r, bal_node_text(d, item));
    }
    return texts;
}

/* A list of words, or a text for the shell; which of them it should be is known when the app has been read.
 */
static void read_command(struct reader *r, int node, const struct key *key, void *into) {
    struct command *command = into;
    if (bal_node_kind(r->document, node) == BAL_NODE_TEXT) {
        command->argv = bal_arena_take(&r->config->arena, 4, sizeof *command->argv);
        const char *const words[] = {"/bin/sh", "-c", bal_node_text(r->document, node)};
        for (size_t i = 0; command->argv && i < 3; i++)
            command->argv[i] = keep_word(r, words[i]);
        return;
    }
    if (!is_kind(r, node, key->name, BAL_NODE_LIST))
        return;
    const size_t count = bal_node_count(r->document, node);
    if (count == 0 || count > WORDS_MAX) {
        mistake(r, node, key->name, "a command is a list of 1 to %d words: [/usr/bin/app, --port, \"8001\"]",
                WORDS_MAX);
        return;
    }
    command->argv = texts_at(r, node, key->name);
    if (command->argv && command->argv[0] && !*command->argv[0])
        mistake(r, node, key->name, "the name of the program is empty");
}

static void read_environment(struct reader *r, int node, const struct key *key, void *into) {
    struct bal_document *d = r->document;
    if (!is_kind(r, node, key->name, BAL_NODE_MAP))
        return;
    const size_t count = bal_node_count(d, node);
    char **texts = bal_arena_take(&r->config->arena, count + 1, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++) {
        const int name = bal_node_key(d, node, i), value = bal_node_value(d, node, i);
        texts[i] = keep_word(r, "");
        if (!is_kind(r, name, key->name, BAL_NODE_TEXT) || !is_kind(r, value, key->name, BAL_NODE_TEXT))
            continue;
        const char *left = bal_node_text(d, name), *right = bal_node_text(d, value);
        if (!*left || strchr(left, '=') || strncmp(left, "BALLAST_", 8) == 0)
            mistake(r, name, key->name, "'%.40s' cannot be the name of a variable here", left);
        const size_t size = strlen(left) + strlen(right) + 2;
        texts[i] = bal_arena_take(&r->config->arena, size, 1);
        if (texts[i])
            snprintf(texts[i], size, "%s=%s", left, right);
    }
    *(char ***)into = texts;
}

/* ---- small maps ---- */

static const struct key peer_keys[] = {
    {"id", read_id, offsetof(struct peer_config, id), NULL, "its id in the fleet", 1, UINT64_MAX},
    {"address", read_address, offsetof(struct peer_config, address), NULL,
     "where it listens; without it, where it spoke from last"},
};
static const struct table peer_table = {"peer", peer_keys, sizeof peer_keys / sizeof *peer_keys};

static void read_peer(struct reader *r, int node, const struct key *key, void *into) {
    struct peer_config *peer = into;
    read_map(r, &peer_table, node, 0, peer);
    if (!peer->id && bal_node_kind(r->document, node) == BAL_NODE_MAP &&
        !bal_node_get(r->document, node, "id"))
        mistake(r, node, key->name, "key 'id' is missing: its id in the fleet");
}

static void read_peers(struct reader *r, int node, const struct key *key, void *into) {
    struct app_config *app = into;
    if (!is_kind(r, node, key->name, BAL_NODE_LIST))
        return;
    const size_t count = bal_node_count(r->document, node);
    app->dispatcher = bal_arena_take(&r->config->arena, count, sizeof *app->dispatcher);
    app->dispatchers = app->dispatcher ? count : 0;
    for (size_t i = 0; i < app->dispatchers; i++)
        read_peer(r, bal_node_item(r->document, node, i), key, &app->dispatcher[i]);
}

static void read_standby_law(struct reader *r, int node, const struct key *key, void *into) {
    const char *text = text_at(r, node, key);
    if (!text)
        return;
    if (strcmp(text, "exponential") != 0 && strcmp(text, "fixed") != 0)
        mistake(r, node, key->name, "'%.40s' is neither exponential nor fixed", text);
    *(bool *)into = strcmp(text, "exponential") == 0;
}

enum { DAY = 86400000 };

static const struct key standby_keys[] = {
    {"mean", read_time, offsetof(struct standby, mean_ns), "60s", "its mean", 0, DAY},
    {"law", read_standby_law, offsetof(struct standby, exponential), "fixed",
     "`fixed`, or `exponential` as in the paper"},
};
static const struct table standby_table = {"standby", standby_keys,
                                           sizeof standby_keys / sizeof *standby_keys};

/* A time alone is fixed. */
static void read_standby(struct reader *r, int node, const struct key *key, void *into) {
    struct standby *standby = into;
    if (node && bal_node_kind(r->document, node) == BAL_NODE_MAP)
        read_map(r, &standby_table, node, 0, standby);
    else
        read_time(r, node, key, &standby->mean_ns);
}

/* ---- is it ready? ---- */

struct ready {
    struct command command;
    struct address tcp;
    const char *http;
};

static const struct key ready_keys[] = {
    {"command", read_command, offsetof(struct ready, command), NULL, "a command that succeeds when it is"},
    {"tcp", read_address, offsetof(struct ready, tcp), NULL, "an address that takes a connection when it is"},
    {"http", read_text, offsetof(struct ready, http), NULL,
     "`http://127.0.0.1:8001/health`: a GET that is answered with 2xx or 3xx when it is"},
};
static const struct table ready_table = {"ready", ready_keys, sizeof ready_keys / sizeof *ready_keys};

static void read_url(struct reader *r, int node, const char *url, struct check_config *check) {
    const char *host = url + strlen("http://");
    const size_t length = strcspn(host, "/");
    if (strncmp(url, "http://", 7) == 0) {
        check->host = bal_arena_text(&r->config->arena, host, length);
        check->path = host[length] ? keep(r, host + length) : "/";
        if (address_read(check->host, &check->address) && strspn(check->path, "\r\n ") == 0 &&
            strcspn(check->path, "\r\n ") == strlen(check->path))
            return;
    }
    mistake(r, node, "http", "'%.100s' is not like http://127.0.0.1:8001/health, with an address in numbers",
            url);
}

static void read_ready(struct reader *r, int node, const struct key *key, void *into) {
    struct check_config *check = into;
    struct ready ready = {0};
    const size_t mistakes = r->mistakes;
    read_map(r, &ready_table, node, 0, &ready);
    const int given = (ready.command.argv != NULL) + (ready.tcp.size != 0) + (ready.http != NULL);
    if (mistakes == r->mistakes && given != 1)
        mistake(r, node, key->name, "it should have one of command, tcp and http");
    check->kind = ready.http ? CHECK_HTTP : ready.tcp.size ? CHECK_TCP : CHECK_COMMAND;
    check->command = ready.command;
    check->address = ready.tcp;
    if (ready.http)
        read_url(r, node, ready.http, check);
}

/* ---- an app ---- */

#define TIME(member) offsetof(struct bal_keeper_config, member)
static const struct key time_keys[] = {
    {"start", read_time, TIME(start_ns), "30s", "the start hook may take so long", 1, DAY},
    {"ready", read_time, TIME(ready_ns), "60s", "from then on until it is ready", 1, DAY},
    {"check", read_time, TIME(check_ns), "200ms", "between two checks whether it is ready", 1, DAY},
    {"answer", read_time, TIME(answer_ns), "2s", "how long one check may take", 1, DAY},
    {"drain", read_time, TIME(drain_ns), "1s", "how long station and dispatchers are warned before a stop", 1,
     DAY},
    {"stop", read_time, TIME(stop_ns), "30s", "a stop may take so long; then it is ended by force", 1, DAY},
    {"kill", read_time, TIME(kill_ns), "5s", "the end by force is tried again so often", 1, DAY},
    {"steady", read_time, TIME(steady_ns), "10s", "an app that has been on for so long has started well", 1,
     DAY},
    {"back_off", read_time, TIME(back_off_ns), "1s", "after a failed start; then twice as long each time", 1,
     DAY},
    {"back_off_most", read_time, TIME(back_off_most_ns), "5min", "but not longer than this", 1, DAY},
    {"beat", read_time, TIME(beat_ns), "1s", "the state is told so often even when it has not changed", 1,
     DAY},
};
#undef TIME
static const struct table time_table = {"times", time_keys, sizeof time_keys / sizeof *time_keys};

static void read_times(struct reader *r, int node, const struct key *key, void *into) {
    struct bal_keeper_config *times = into;
    (void)key;
    read_map(r, &time_table, node, bal_node_get(r->document, defaults_of(r), "times"), times);
    if (times->back_off_most_ns < times->back_off_ns)
        mistake(r, node, "back_off_most", "the longest back-off is shorter than the first");
}

#define AT(member) offsetof(struct app_config, member)
static const struct key app_keys[] = {
    {"name", read_name, AT(name), NULL, "in logs and in the state directory; each app has its own"},
    {"id", read_id, AT(id), NULL,
     "of the keeper of this app in the fleet; for dispatchers without stations, of the server", 1,
     UINT64_MAX},
    {"station", read_peer, AT(station), NULL,
     "`{id: 1, address: unix:/run/ballast/web1}`: who wakes the app and lets it rest"},
    {"dispatchers", read_peers, 0, NULL, "a list of the same: who wakes it where there is no station"},
    {"run", read_command, AT(run), NULL,
     "the app itself, in the foreground: a list of words; it is supervised"},
    {"start", read_command, AT(start), NULL, "instead of `run`: the command that has it started elsewhere"},
    {"stop", read_command, AT(stop), NULL,
     "the command that has it stopped; beside `run` it may be left out: then it gets a signal"},
    {"running", read_command, AT(running), NULL,
     "beside `start`: succeeds while anything of the app is there; without it `ready` is asked"},
    {"busy", read_command, AT(busy), NULL,
     "without a station: succeeds while the app has work; when it has none it may rest"},
    {"ready", read_ready, AT(ready), NULL,
     "`{tcp: 127.0.0.1:8001}`, `{http: \"http://127.0.0.1:8001/health\"}` or `{command: [...]}`; without it "
     "an app that runs is ready"},
    {"shell", read_flag, AT(shell), "false", "commands are texts and are given to /bin/sh"},
    {"user", read_text, AT(user), NULL,
     "commands and the app run as this user; without it as the keeper's. Only root can change it"},
    {"directory", read_path, AT(directory), "/", "where they run"},
    {"environment", read_environment, AT(environment), NULL,
     "`{NAME: value}`; besides these they get PATH, HOME, USER, LANG, BALLAST_APP and BALLAST_KEEPER alone"},
    {"new_privileges", read_flag, AT(new_privileges), "false", "they may gain privileges (sudo)"},
    {"signal", read_signal, AT(signal), "TERM", "what a supervised app is stopped with"},
    {"processes", read_count, AT(processes), "4096", "processes that the user may have (RLIMIT_NPROC)", 1,
     1 << 22},
    {"output", read_id, AT(output), "4096",
     "bytes of output that are logged of each command; of the app each second; the rest is counted", 0,
     1 << 20},
    {"standby", read_standby, AT(standby), "60s",
     "how long it stays on when it may rest, besides the station's own: a time, or `{mean: 60s, law: "
     "exponential}`",
     0, DAY},
    {"on", read_time, AT(on_ns), "0s", "once on it stays so at least as long", 0, DAY},
    {"watch", read_time, AT(watch_ns), "5s", "between two looks at an app that is not supervised, and `busy`",
     10, DAY},
    {"times", read_times, AT(times), "", "below"},
};
#undef AT
static const struct table app_table = {"app", app_keys, sizeof app_keys / sizeof *app_keys};

static void find_user(struct reader *r, int node, struct app_config *app) {
    app->uid = geteuid();
    app->gid = getegid();
    if (!app->user)
        return;
    errno = 0;
    const struct passwd *user = getpwnam(app->user);
    if (!user) {
        mistake(r, node, "user", "there is no user '%.40s' on this machine", app->user);
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
static void check_shell(struct reader *r, int map, int defaults, const struct app_config *app) {
    const struct {
        const char *name;
        const struct command *command;
    } commands[] = {{"run", &app->run},         {"start", &app->start}, {"stop", &app->stop},
                    {"running", &app->running}, {"busy", &app->busy},   {"ready", &app->ready.command}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        int node = bal_node_get(r->document, map, commands[i].name);
        node = node ? node : bal_node_get(r->document, defaults, commands[i].name);
        if (i == 5)
            node = bal_node_get(r->document, node, "command");
        const bool text = node && bal_node_kind(r->document, node) == BAL_NODE_TEXT;
        if (text && is_for_shell(commands[i].command) && !app->shell)
            mistake(
                r, node, commands[i].name,
                "a text is for a shell, which must be asked for (shell: true); else give a list of words");
    }
}

static void check_hooks(struct reader *r, int map, const struct app_config *app) {
    const bool run = app->run.argv, start = app->start.argv;
    if (run == start)
        mistake(r, map, app->name, "it should have one of run and start");
    if (start && !app->stop.argv)
        mistake(r, map, app->name, "an app with 'start' needs 'stop'");
    if (start && !app->running.argv && app->ready.kind == CHECK_NONE)
        mistake(r, map, app->name, "an app with 'start' needs 'running' or 'ready': else nobody could tell");
    if (run && app->running.argv)
        mistake(r, map, app->name, "'running' is for apps with 'start'; one with 'run' is supervised");
    if (app->station.id && app->busy.argv)
        mistake(r, map, app->name, "'busy' is for apps without a station: that one knows");
}

static void check_peers(struct reader *r, int map, const struct app_config *app) {
    const size_t count = app->dispatchers + (app->station.id != 0);
    for (size_t i = 0; i < count; i++) {
        const struct peer_config *peer = i < app->dispatchers ? &app->dispatcher[i] : &app->station;
        if (peer->id && peer->id == app->id)
            mistake(r, map, app->name, "a peer has the id %llu of the app itself",
                    (unsigned long long)peer->id);
        if (peer->address.size && !address_is_local(&peer->address) && !r->config->listen.size)
            mistake(r, map, app->name, "a peer has an address of the network, so 'listen' is needed above");
    }
}

static void read_app(struct reader *r, int node, int defaults, struct app_config *app) {
    if (!is_kind(r, node, "apps", BAL_NODE_MAP))
        return;
    const size_t mistakes = r->mistakes;
    read_map(r, &app_table, node, defaults, app);
    if (!app->name)
        mistake(r, node, "apps", "an app needs a name");
    if (!app->id && !bal_node_get(r->document, node, "id"))
        mistake(r, node, app->name ? app->name : "apps", "key 'id' is missing: its id in the fleet");
    if (r->mistakes > mistakes)
        return; /* what follows would only be a consequence */
    find_user(r, node, app);
    check_shell(r, node, defaults, app);
    check_hooks(r, node, app);
    check_peers(r, node, app);
}

static void check_twins(struct reader *r, int list) {
    const struct app_config *app = r->config->app;
    for (size_t i = 0; i < r->config->apps; i++)
        for (size_t j = 0; j < i; j++) {
            const int node = bal_node_item(r->document, list, i);
            if (app[i].name && app[j].name && strcmp(app[i].name, app[j].name) == 0)
                mistake(r, node, "name", "there are two apps '%s'", app[i].name);
            if (app[i].id && app[i].id == app[j].id)
                mistake(r, node, "id", "two apps have the id %llu", (unsigned long long)app[i].id);
        }
}

/* ---- the whole ---- */

static void read_apps(struct reader *r, int node, const struct key *key, void *into) {
    struct config *config = into;
    if (!is_kind(r, node, key->name, BAL_NODE_LIST))
        return;
    const size_t count = bal_node_count(r->document, node);
    if (count == 0 || count > CONFIG_APPS_MAX) {
        mistake(r, node, key->name, "%zu apps; there should be 1 to %d", count, CONFIG_APPS_MAX);
        return;
    }
    config->app = bal_arena_take(&config->arena, count, sizeof *config->app);
    config->apps = config->app ? count : 0;
    for (size_t i = 0; i < config->apps; i++)
        read_app(r, bal_node_item(r->document, node, i), defaults_of(r), &config->app[i]);
    check_twins(r, node);
}

/* Its keys are looked at here, its values with each app that takes them. */
static void read_defaults(struct reader *r, int node, const struct key *key, void *into) {
    (void)into;
    if (!is_kind(r, node, key->name, BAL_NODE_MAP))
        return;
    check_names(r, &app_table, node);
    static const char *const own[] = {"name", "id"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (bal_node_get(r->document, node, own[i]))
            mistake(r, node, key->name, "each app needs its own '%s'", own[i]);
}

static void read_key(struct reader *r, int node, const struct key *key, void *into) {
    const char *text = text_at(r, node, key);
    struct bal_error err;
    r->config->key_inside = true;
    if (text && bal_key_parse(text, into, &err))
        mistake(r, node, key->name, "it is not 32 hexadecimal digits, not all of them 0");
}

/* Returns NULL, or what is wrong with who may read or write it. */
static const char *access_fault(const struct stat *status, mode_t forbidden) {
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return "it belongs to another user";
    if (status->st_mode & forbidden & 0022)
        return "others may write it";
    return status->st_mode & forbidden ? "others may read it" : NULL;
}

static void read_key_file(struct reader *r, int node, const struct key *key, void *into) {
    const char *name = text_at(r, node, key);
    char path[PATH_MAX], text[KEY_FILE_MAX + 1] = "";
    if (!name)
        return;
    snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : r->directory, *name == '/' ? "" : "/", name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        mistake(r, node, key->name, "%.150s: %s", path, strerror(errno));
        return;
    }
    struct stat status;
    const char *fault =
        fstat(fd, &status) || !S_ISREG(status.st_mode) ? "it is no file" : access_fault(&status, 0027);
    const ssize_t size = fault ? 0 : read(fd, text, KEY_FILE_MAX);
    close(fd);
    text[size > 0 ? strcspn(text, "\r\n") : 0] = '\0';
    struct bal_error err;
    if (fault)
        mistake(r, node, key->name, "%.150s: %s; chmod 640 and its owner (root or this user) may help", path,
                fault);
    else if (bal_key_parse(text, into, &err))
        mistake(r, node, key->name, "%.150s: it does not begin with 32 hexadecimal digits, not all of them 0",
                path);
    explicit_bzero(text, sizeof text);
}

static void read_group(struct reader *r, int node, const struct key *key, void *into) {
    const char *text = text_at(r, node, key);
    if (!text)
        return;
    const struct group *group = getgrnam(text);
    if (!group) {
        mistake(r, node, key->name, "there is no group '%.40s' on this machine", text);
        return;
    }
    *(const char **)into = keep(r, text);
    r->config->socket_gid = group->gr_gid;
}

#define AT(member) offsetof(struct config, member)
static const struct key root_keys[] = {
    {"fleet", read_count, AT(fleet), "0", "messages of other fleets are not for us", 0, UINT32_MAX},
    {"key", read_key, AT(key), NULL, "32 hexadecimal digits that the fleet shares; or ..."},
    {"key_file", read_key_file, AT(key), NULL,
     "... a file that begins with them, which others may not read; a relative path begins at the "
     "configuration"},
    {"socket", read_path, AT(socket), "/run/ballastd/control",
     "the unix socket on which stations speak to it", 0, sizeof((struct sockaddr_un *)NULL)->sun_path - 1},
    {"socket_group", read_group, AT(socket_group), NULL,
     "may speak there too; without it only the keeper's user and root"},
    {"listen", read_udp_address, AT(listen), NULL,
     "UDP as well, for dispatchers without stations: an address such as `127.0.0.1:7700`"},
    {"state", read_path, AT(state), "/run/ballastd",
     "a directory, the keeper's alone, from which it finds its apps again; on a local file system"},
    {"on_exit", read_on_exit, AT(on_exit), "leave",
     "on SIGTERM: `leave` the apps as they are, or `stop` them"},
    {"least", read_count, AT(least), "0", "apps that are kept on", 0, CONFIG_APPS_MAX},
    {"most", read_count, AT(most), "0", "apps that are on at most; 0: all", 0, CONFIG_APPS_MAX},
    {"defaults", read_defaults, 0, NULL, "a map like an app: what holds for apps that do not say otherwise"},
    {"apps", read_apps, 0, NULL, "the list of apps"},
};
#undef AT
static const struct table root_table = {"keeper", root_keys, sizeof root_keys / sizeof *root_keys};

static void check_whole(struct reader *r, int root) {
    const struct config *config = r->config;
    const bool key = bal_node_get(r->document, root, "key");
    const bool file = bal_node_get(r->document, root, "key_file");
    if (key == file)
        mistake(r, root, "key", "there should be one of key and key_file: only signed messages are taken");
    if (!bal_node_get(r->document, root, "apps"))
        mistake(r, root, "apps", "the list of apps is missing");
    if (config->most && config->least > config->most)
        mistake(r, bal_node_get(r->document, root, "least"), "least", "%u is more than most, %u",
                config->least, config->most);
    if (config->apps && config->least > config->apps)
        mistake(r, bal_node_get(r->document, root, "least"), "least", "%u is more than there are apps, %zu",
                config->least, config->apps);
}

size_t config_parse(const char *text, size_t length, const char *name, const char *directory,
                    struct config **config, config_tell *tell, void *context) {
    struct reader r = {.name = name, .directory = directory, .tell = tell, .context = context};
    struct bal_error err = {0};
    r.config = calloc(1, sizeof *r.config);
    if (!r.config || bal_document_new(text, length, name, &r.document, &err)) {
        tell(context, r.config ? err.text : "not enough memory");
        free(r.config);
        return 1;
    }
    const int root = bal_document_root(r.document);
    read_map(&r, &root_table, root, 0, r.config);
    if (bal_node_kind(r.document, root) == BAL_NODE_MAP)
        check_whole(&r, root);
    if (r.config->arena.lost)
        mistake(&r, 0, "keeper", "not enough memory");
    bal_document_free(r.document);
    if (r.mistakes)
        config_free(r.config);
    else
        *config = r.config;
    return r.mistakes;
}

void config_free(struct config *config) {
    if (!config)
        return;
    explicit_bzero(&config->key, sizeof config->key);
    bal_arena_fini(&config->arena);
    free(config);
}

/* ---- files ---- */

/* The directory too: who may write there can put another file in its place. */
static const char *directory_fault(const char *directory) {
    struct stat status;
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return "its directory cannot be opened";
    const bool bad = fstat(fd, &status) || status.st_mode & S_IWOTH;
    close(fd);
    return bad ? "anybody may write in its directory" : NULL;
}

static char *read_all(int fd, size_t *length) {
    char *text = malloc(FILE_MAX + 1);
    *length = 0;
    for (ssize_t got = 1; text && got > 0 && *length <= FILE_MAX; *length += (size_t)got) {
        got = read(fd, text + *length, FILE_MAX + 1 - *length);
        if (got < 0) {
            free(text);
            return NULL;
        }
    }
    return text;
}

static size_t refuse(config_tell *tell, void *context, const char *path, const char *why) {
    struct bal_error err;
    bal_fail(&err, BAL_E_IO, "%s: %s", path, why);
    tell(context, err.text);
    return 1;
}

size_t config_read(const char *path, struct config **config, config_tell *tell, void *context) {
    char copy[PATH_MAX];
    struct stat status;
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return refuse(tell, context, path, "the path is too long");
    const char *directory = dirname(copy);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return refuse(tell, context, path, strerror(errno));
    const char *fault =
        fstat(fd, &status) || !S_ISREG(status.st_mode) ? "it is no file" : access_fault(&status, 0022);
    fault = fault ? fault : directory_fault(directory);
    size_t length = 0;
    char *text = fault ? NULL : read_all(fd, &length);
    close(fd);
    if (fault || !text || length > FILE_MAX) {
        free(text);
        return refuse(tell, context, path, fault ? fault : text ? "it is too large" : "it cannot be read");
    }
    const size_t mistakes = config_parse(text, length, path, directory, config, tell, context);
    explicit_bzero(text, length);
    free(text);
    if (mistakes || !(*config)->key_inside || !(status.st_mode & S_IROTH))
        return mistakes;
    config_free(*config);
    return refuse(tell, context, path,
                  "others may read it, and the key is in it; chmod 640, or use key_file");
}

/* ---- for the documentation ---- */

static void print_table(const struct table *table, FILE *out) {
    fprintf(out, "| %s | default | |\n|---|---|---|\n", table->name);
    for (size_t i = 0; i < table->count; i++) {
        const struct key *key = &table->key[i];
        const bool plain = key->fallback && *key->fallback;
        fprintf(out, "| `%s` | %s%s%s | %s |\n", key->name, plain ? "`" : "", plain ? key->fallback : "",
                plain ? "`" : "", key->help);
    }
}

void config_print_keys(FILE *out) {
    const struct table *const tables[] = {&root_table, &app_table, &time_table};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (i)
            fputc('\n', out);
        print_table(tables[i], out);
    }
}
