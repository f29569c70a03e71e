/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of the keeper itself, and the check of who may write the file. */
#include "config_reader.h"
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, KEY_FILE_MAX = 256 };

/* ---- the whole ---- */

static void check_twins(struct config_reader *r, int list) {
    const struct app_config *app = r->config->app;
    for (size_t i = 0; i < r->config->apps; i++)
        for (size_t j = 0; j < i; j++) {
            const int node = bli_node_item(r->document, list, i);
            if (app[i].name && app[j].name && strcmp(app[i].name, app[j].name) == 0)
                config_mistake(r, node, "name", "there are two apps '%s'", app[i].name);
            if (app[i].id && app[i].id == app[j].id)
                config_mistake(r, node, "id", "two apps have the id %llu", (unsigned long long)app[i].id);
        }
}

static void read_on_exit(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    if (!text)
        return;
    if (strcmp(text, "leave") != 0 && strcmp(text, "stop") != 0)
        config_mistake(r, node, key->name, "'%.40s' is neither leave nor stop", text);
    *(enum on_exit *)into = strcmp(text, "stop") == 0 ? EXIT_STOP : EXIT_LEAVE;
}

static void read_cgroup(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    if (!text)
        return;
    if (strcmp(text, "auto") == 0 || strcmp(text, "none") == 0)
        *(const char **)into = config_copy_text(r, text);
    else
        config_read_path(r, node, key, into);
}

static void read_network_address(struct config_reader *r, int node, const struct key *key, void *into) {
    config_read_address(r, node, key, into);
    if (address_is_local(into))
        config_mistake(r, node, key->name,
                       "this is a unix socket; it should be an address such as 127.0.0.1:7700");
}

static void read_apps(struct config_reader *r, int node, const struct key *key, void *into) {
    struct config *config = into;
    if (!config_is_kind(r, node, key->name, BLI_NODE_LIST))
        return;
    const size_t count = bli_node_count(r->document, node);
    if (count == 0 || count > CONFIG_APPS_MAX) {
        config_mistake(r, node, key->name, "%zu apps; there should be 1 to %d", count, CONFIG_APPS_MAX);
        return;
    }
    config->app = bli_arena_take(&config->arena, count, sizeof *config->app);
    config->apps = config->app ? count : 0;
    for (size_t i = 0; i < config->apps; i++)
        config_read_app(r, bli_node_item(r->document, node, i), &config->app[i]);
    check_twins(r, node);
}

/* Its keys are checked here, its values with each app that uses them. */
static void read_defaults(struct config_reader *r, int node, const struct key *key, void *into) {
    (void)into;
    if (!config_is_kind(r, node, key->name, BLI_NODE_MAP))
        return;
    config_check_names(r, &config_app_table, node);
    static const char *const own[] = {"name", "id"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (bli_node_get(r->document, node, own[i]))
            config_mistake(r, node, key->name, "each app needs its own '%s'", own[i]);
}

static void read_key(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    struct bal_error err;
    r->config->key_inside = true;
    if (text && bal_keys_parse(text, into, &err))
        config_mistake(r, node, key->name, "it is not 32 hexadecimal digits, not all of them 0");
}

/* Returns NULL, or what is wrong with who may read or write it. */
static const char *access_fault(const struct stat *status, mode_t forbidden) {
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return "it belongs to another user";
    if (status->st_mode & forbidden & 0022)
        return "others may write it";
    return status->st_mode & forbidden ? "others may read it" : NULL;
}

static void read_key_file(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *name = config_text_at(r, node, key);
    char path[PATH_MAX], text[KEY_FILE_MAX + 1] = "";
    if (!name)
        return;
    snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : r->directory, *name == '/' ? "" : "/", name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        config_mistake(r, node, key->name, "%.150s: %s", path, strerror(errno));
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
        config_mistake(r, node, key->name, "%.150s: %s; chmod 640 and its owner (root or this user) may help",
                       path, fault);
    else if (bal_keys_parse(text, into, &err))
        config_mistake(r, node, key->name,
                       "%.150s: it does not begin with 32 hexadecimal digits, not all of them 0", path);
    explicit_bzero(text, sizeof text);
}

static void read_group(struct config_reader *r, int node, const struct key *key, void *into) {
    const char *text = config_text_at(r, node, key);
    if (!text)
        return;
    const struct group *group = getgrnam(text);
    if (!group) {
        config_mistake(r, node, key->name, "there is no group '%.40s' on this machine", text);
        return;
    }
    *(const char **)into = config_copy_text(r, text);
    r->config->socket_gid = group->gr_gid;
}

#define AT(member) offsetof(struct config, member)
static const struct key root_keys[] = {
    {"fleet", config_read_count, AT(fleet), "0", "messages of other fleets are not for us", 0, UINT32_MAX},
    {"key", read_key, AT(keys), NULL,
     "32 hexadecimal digits that the fleet shares, and while they are changed a second key, which is "
     "accepted "
     "too; or ..."},
    {"key_file", read_key_file, AT(keys), NULL,
     "... a file that begins with them, which others may not read; a relative path begins at the "
     "configuration"},
    {"socket", config_read_path, AT(socket), "/run/ballastd/control",
     "the unix socket on which stations speak to it", 0, sizeof((struct sockaddr_un *)NULL)->sun_path - 1},
    {"socket_group", read_group, AT(socket_group), NULL,
     "may speak there too; without it only the keeper's user and root"},
    {"listen", read_network_address, AT(listen), NULL,
     "UDP as well, for dispatchers without stations: an address such as `127.0.0.1:7700`"},
    {"status", read_network_address, AT(status), NULL,
     "HTTP for people and programs, to be read only: an address such as `127.0.0.1:7790`"},
    {"state", config_read_path, AT(state), "/run/ballastd",
     "a directory, the keeper's alone, from which it finds its apps again; on a local file system"},
    {"cgroup", read_cgroup, AT(cgroup), "auto",
     "where apps get control groups of their own: `auto`, below the keeper's if systemd has delegated it "
     "(`Delegate=yes`); `none`; or a directory of cgroup2"},
    {"on_exit", read_on_exit, AT(on_exit), "leave",
     "on SIGTERM: `leave` the apps as they are, or `stop` them"},
    {"least", config_read_count, AT(least), "0", "apps that are kept on", 0, CONFIG_APPS_MAX},
    {"most", config_read_count, AT(most), "0", "apps that are on at most; 0: all", 0, CONFIG_APPS_MAX},
    {"defaults", read_defaults, 0, NULL, "a map like an app: what holds for apps that do not say otherwise"},
    {"replicas", config_read_replicas, 0, NULL,
     "a list of replicas of one thing, which one command starts and stops"},
    {"apps", read_apps, 0, NULL, "the list of apps"},
};
#undef AT
static const struct config_table root_table = {"keeper", root_keys, sizeof root_keys / sizeof *root_keys};

static void check_whole(struct config_reader *r, int root) {
    const struct config *config = r->config;
    const bool key = bli_node_get(r->document, root, "key");
    const bool file = bli_node_get(r->document, root, "key_file");
    if (key == file)
        config_mistake(r, root, "key",
                       "there should be one of key and key_file: only signed messages are taken");
    if (!bli_node_get(r->document, root, "apps"))
        config_mistake(r, root, "apps", "the list of apps is missing");
    config_find_places(r, root);
    if (config->most && config->least > config->most)
        config_mistake(r, bli_node_get(r->document, root, "least"), "least", "%u is more than most, %u",
                       config->least, config->most);
    if (config->apps && config->least > config->apps)
        config_mistake(r, bli_node_get(r->document, root, "least"), "least",
                       "%u is more than there are apps, %zu", config->least, config->apps);
}

size_t config_parse(const char *text, size_t length, const char *name, const char *directory,
                    struct config **config, config_report_fn *report, void *context) {
    struct config_reader r = {.name = name, .directory = directory, .report = report, .context = context};
    struct bal_error err = {0};
    r.config = calloc(1, sizeof *r.config);
    if (!r.config || bli_document_new(text, length, name, &r.document, &err)) {
        report(context, r.config ? err.text : "not enough memory");
        free(r.config);
        return 1;
    }
    const int root = bli_document_root(r.document);
    config_read_map(&r, &root_table, root, 0, r.config);
    if (bli_node_kind(r.document, root) == BLI_NODE_MAP)
        check_whole(&r, root);
    if (r.config->arena.lost)
        config_mistake(&r, 0, "keeper", "not enough memory");
    bli_document_free(r.document);
    if (r.mistakes)
        config_free(r.config);
    else
        *config = r.config;
    return r.mistakes;
}

void config_free(struct config *config) {
    if (!config)
        return;
    explicit_bzero(&config->keys, sizeof config->keys);
    bli_arena_fini(&config->arena);
    free(config);
}

/* ---- files ---- */

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

static size_t refuse(config_report_fn *report, void *context, const char *path, const char *why) {
    struct bal_error err;
    bal_fail(&err, BAL_E_IO, "%s: %s", path, why);
    report(context, err.text);
    return 1;
}

size_t config_read(const char *path, struct config **config, config_report_fn *report, void *context) {
    char copy[PATH_MAX];
    struct stat status;
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return refuse(report, context, path, "the path is too long");
    const char *directory = dirname(copy);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return refuse(report, context, path, strerror(errno));
    const char *fault =
        fstat(fd, &status) || !S_ISREG(status.st_mode) ? "it is no file" : access_fault(&status, 0022);
    char text_of_fault[TRUST_FAULT];
    fault = fault ? fault : trust_fault(directory, text_of_fault);
    size_t length = 0;
    char *text = fault ? NULL : read_all(fd, &length);
    close(fd);
    if (fault || !text || length > FILE_MAX) {
        free(text);
        return refuse(report, context, path, fault ? fault : text ? "it is too large" : "it cannot be read");
    }
    const size_t mistakes = config_parse(text, length, path, directory, config, report, context);
    explicit_bzero(text, length);
    free(text);
    if (mistakes || !(*config)->key_inside || !(status.st_mode & S_IROTH))
        return mistakes;
    config_free(*config);
    return refuse(report, context, path,
                  "others may read it, and the key is in it; chmod 640, or use key_file");
}

/* ---- for the documentation ---- */

static void print_table(const struct config_table *table, FILE *out) {
    fprintf(out, "| %s | default | |\n|---|---|---|\n", table->name);
    for (size_t i = 0; i < table->count; i++) {
        const struct key *key = &table->key[i];
        const bool plain = key->fallback && *key->fallback;
        fprintf(out, "| `%s` | %s%s%s | %s |\n", key->name, plain ? "`" : "", plain ? key->fallback : "",
                plain ? "`" : "", key->help);
    }
}

void config_print_keys(FILE *out) {
    const struct config_table *const tables[] = {&root_table, &config_app_table, &config_time_table,
                                                 &config_replicas_table};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (i)
            fputc('\n', out);
        print_table(tables[i], out);
    }
}
