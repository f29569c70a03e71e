/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of apps, and how it changes with the configuration. */
#include "app_table.h"

#include "event_log.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t millisecond = 1000000;

/* ---- apps ---- */

static bool add_entry(struct app_table *r, struct app_entry *m) {
    struct app_entry **entry = realloc(r->entry, (r->count + 1) * sizeof *entry);
    if (entry)
        r->entry = entry;
    struct app **app = realloc(r->app, (r->count + 1) * sizeof *app);
    if (app)
        r->app = app;
    if (!m || !entry || !app) {
        free(m);
        return false;
    }
    r->entry[r->count] = m;
    r->app[r->count++] = &m->app;
    return true;
}

static bool add_app(struct app_table *r, const struct app_config *config, uint64_t now) {
    struct app_entry *m = calloc(1, sizeof *m);
    if (!add_entry(r, m))
        return false;
    app_init(&m->app, config, r->config->state, r->cgroup, now);
    if (config->replicas) {
        m->app.replicas = r->replicas[config->replicas - r->config->replicas];
        bal_scaler_add(&m->app.replicas->scaler, &m->app.core);
    }
    return peer_link_init(&m->link, r->config, config, r->boot++); /* one that left may come again */
}

static void remove_app(struct app_table *r, size_t i) {
    const struct app *app = r->app[i];
    if (app->replicas)
        replicas_forget(app->replicas, app->config->place);
    app_fini(&r->entry[i]->app);
    peer_link_fini(&r->entry[i]->link);
    free(r->entry[i]);
    r->count--;
    r->entry[i] = r->entry[r->count];
    r->app[i] = r->app[r->count];
}

static struct app_entry *find_entry(struct app_table *r, const char *name) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->app[i]->config->name, name) == 0)
            return r->entry[i];
    return NULL;
}

void app_table_begin_removal(struct app *app, uint64_t now) {
    if (app->leaving)
        return;
    app->leaving = true;
    app->desired = DESIRED_NONE;
    log_event(LOG_INFO, app->config->name, "leaving", "%s", "");
    bal_keeper_request_stop(&app->core, now, 0);
}

void app_table_begin_removal_of_all(struct app_table *r, uint64_t now) {
    for (size_t i = 0; i < r->groups; i++)
        bal_scaler_stop(&r->replicas[i]->scaler, now);
    for (size_t i = 0; i < r->count; i++)
        app_table_begin_removal(r->app[i], now);
}

/* A process of an app that is not in the configuration any longer. */
static void adopt_unmanaged_app(struct app_table *r, const char *name, uint64_t now) {
    struct app_entry *m = calloc(1, sizeof *m);
    static char empty[] = "";
    static char *nothing[] = {empty, NULL};
    if (!add_entry(r, m))
        return;
    memcpy(m->own_name, name, strlen(name) + 1);
    m->own = (struct app_config){.name = m->own_name,
                                 .run.argv = nothing,
                                 .directory = "/",
                                 .signal = SIGTERM,
                                 .times = r->config->app[0].times};
    app_init(&m->app, &m->own, r->config->state, r->cgroup, now);
    app_table_begin_removal(&m->app, now);
}

/* Does its supervisor hold the lock, or was it killed and has left a session in its record? */
static bool is_left_behind(const struct app_table *r, const char *name) {
    char path[PATH_MAX];
    struct supervisor supervisor = {0};
    pid_t session;
    uint64_t start;
    app_path(path, r->config->state, name, "app");
    const enum supervisor_find found = supervisor_find(&supervisor, path);
    supervisor_release(&supervisor);
    supervisor_session(path, &session, &start);
    return found != SUPERVISOR_NONE || session;
}

static void find_unmanaged_apps(struct app_table *r, uint64_t now) {
    DIR *directory = opendir(r->config->state);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char name[CONFIG_NAME_MAX + 1];
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".app") != 0 || dot - entry->d_name > CONFIG_NAME_MAX)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        if (!find_entry(r, name) && is_left_behind(r, name))
            adopt_unmanaged_app(r, name, now);
    }
    if (directory)
        closedir(directory);
}

/* ---- state for people ---- */

static void print_status(const struct app_table *r, FILE *out, uint64_t now) {
    fprintf(out, "%-20s %-9s %-7s %8s %7s %8s %8s\n", "app", "state", "wanted", "warden", "starts",
            "failures", "retry");
    for (size_t i = 0; i < r->count; i++) {
        const struct bal_keeper *core = &r->app[i]->core;
        const uint64_t retry = core->retry_at > now ? (core->retry_at - now) / millisecond / 1000 + 1 : 0;
        fprintf(out, "%-20s %-9s %-7s %8d %7llu %8u %7llus\n", r->app[i]->config->name,
                bal_keeper_state_name(core->state), core->wanted ? "yes" : "no", (int)r->app[i]->process.pid,
                (unsigned long long)core->starts, core->failures, (unsigned long long)retry);
    }
    if (r->groups)
        fprintf(out, "\n%-20s %9s %7s %8s %7s %8s %8s\n", "replicas", "wanted", "stated", "ready", "scales",
                "failures", "retry");
    for (size_t i = 0; i < r->groups; i++) {
        const struct bal_scaler *s = &r->replicas[i]->scaler;
        const uint64_t retry = s->retry_at > now ? (s->retry_at - now) / millisecond / 1000 + 1 : 0;
        fprintf(out, "%-20s %9u %7u %8u %7llu %8u %7llus\n", r->replicas[i]->config->hook.name,
                bal_scaler_wanted(s), s->order.replicas, bal_scaler_ready(s), (unsigned long long)s->orders,
                s->failures, (unsigned long long)retry);
    }
}

void app_table_write_status(const struct app_table *r, uint64_t now) {
    char path[PATH_MAX], next[PATH_MAX];
    app_path(path, r->config->state, "keeper", "status");
    app_path(next, r->config->state, "keeper", "status.new");
    FILE *out = fopen(next, "we");
    if (!out)
        return;
    print_status(r, out, now);
    if (fclose(out) == 0)
        (void)rename(next, path);
}

/* ---- changes ---- */

static const struct app_config *find_config(const struct config *config, const char *name) {
    for (size_t i = 0; i < config->apps; i++)
        if (strcmp(config->app[i].name, name) == 0)
            return &config->app[i];
    return NULL;
}

/* Places are addresses: which replica runs at which cannot change under way. */
static bool has_same_places(const struct config *a, const struct config *b) {
    if (a->groups != b->groups)
        return false;
    for (size_t i = 0; i < a->groups; i++)
        if (a->replicas[i].places != b->replicas[i].places ||
            strcmp(a->replicas[i].hook.name, b->replicas[i].hook.name) != 0)
            return false;
    for (size_t i = 0; i < a->apps; i++) {
        const struct app_config *app = &a->app[i], *other = find_config(b, app->name);
        const bool is_place = app->replicas || (other && other->replicas);
        if (is_place && !(other && app->replicas && other->replicas && other->id == app->id &&
                          other->place == app->place && strcmp(app->replica_of, other->replica_of) == 0))
            return false;
    }
    return true;
}

/* What is open cannot be changed by a reload. */
static const char *fixed_change(const struct config *a, const struct config *b) {
    if (strcmp(a->socket, b->socket) != 0)
        return "socket";
    if (strcmp(a->state, b->state) != 0)
        return "state";
    if (strcmp(a->cgroup, b->cgroup) != 0)
        return "cgroup";
    if (a->fleet != b->fleet)
        return "fleet";
    if (a->listen.size != b->listen.size || memcmp(&a->listen.room, &b->listen.room, a->listen.size) != 0)
        return "listen";
    if (a->status.size != b->status.size || memcmp(&a->status.room, &b->status.room, a->status.size) != 0)
        return "status";
    if (!has_same_places(a, b))
        return "which replicas there are, and their places,";
    return NULL;
}

/* An app continues as it is; from now on it is started and stopped as the new configuration says. A
 * supervised app cannot become one with hooks, or the reverse, while it runs. */
static bool change_app(struct app_table *r, struct app_entry *m, const struct app_config *config) {
    const bool kind = (m->app.config->run.argv != NULL) == (config->run.argv != NULL);
    if (m->app.leaving || !kind || m->app.config->id != config->id)
        return false;
    m->app.config = config;
    m->app.core.config = config->times;
    return peer_link_reconfigure(&m->link, r->config, config);
}

/* A check that is under way ends with the configuration with which it began. */
static bool uses(const struct app *app, const struct app_config *config) {
    return app->config == config || app->check.config == &config->ready;
}

static bool is_in_use(const struct app_table *r, const struct config *config) {
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; k < config->apps; k++)
            if (uses(r->app[i], &config->app[k]))
                return true;
    return false;
}

static void free_old(struct app_table *r) {
    for (size_t i = 0; i < r->olds;)
        if (is_in_use(r, r->old[i])) {
            i++;
        } else {
            config_free(r->old[i]);
            r->old[i] = r->old[--r->olds];
        }
}

/* A new app starts when no app of the same name is leaving. */
static void add_new_apps(struct app_table *r, uint64_t now) {
    for (size_t i = 0; i < r->config->apps; i++)
        if (!find_entry(r, r->config->app[i].name))
            add_app(r, &r->config->app[i], now);
}

const char *app_table_reconfigure(struct app_table *r, struct config *config, uint64_t now) {
    const char *fixed = fixed_change(r->config, config);
    struct config **old = fixed ? NULL : realloc(r->old, (r->olds + 1) * sizeof *old);
    if (!old)
        return fixed ? fixed : "without memory it";
    r->old = old;
    r->old[r->olds++] = r->config;
    r->config = config;
    for (size_t i = 0; i < r->count; i++) {
        const struct app_config *next = find_config(config, r->app[i]->config->name);
        r->app[i]->state = config->state;
        if (!next || !change_app(r, r->entry[i], next))
            app_table_begin_removal(r->app[i], now);
    }
    for (size_t i = 0; i < r->groups; i++)
        replicas_reconfigure(r->replicas[i], &config->replicas[i], config->state, now);
    add_new_apps(r, now);
    free_old(r);
    return NULL;
}

bool app_table_remove_stopped(struct app_table *r, bool all, uint64_t now) {
    const size_t before = r->count;
    for (size_t i = 0; i < r->count;)
        if (r->app[i]->leaving && app_is_off(r->app[i]))
            remove_app(r, i);
        else
            i++;
    if (r->count == before)
        return false;
    if (!all)
        add_new_apps(r, now);
    free_old(r);
    return true;
}

/* ---- the beginning and the end ---- */

static bool add_replicas(struct app_table *r, uint64_t now) {
    const struct config *config = r->config;
    r->replicas = calloc(config->groups + 1, sizeof *r->replicas);
    for (size_t i = 0; r->replicas && i < config->groups; i++) {
        struct replicas *replicas = r->replicas[i] = calloc(1, sizeof *replicas);
        if (!replicas)
            return false;
        r->groups++;
        if (!replicas_init(replicas, &config->replicas[i], config->state, now))
            return false;
    }
    return r->replicas;
}

bool app_table_init(struct app_table *r, struct config *config, const char *cgroup, uint64_t boot,
                    uint64_t now) {
    *r = (struct app_table){.config = config, .cgroup = cgroup, .boot = boot};
    if (!add_replicas(r, now))
        return false;
    for (size_t i = 0; i < config->apps; i++)
        if (!add_app(r, &config->app[i], now))
            return false;
    find_unmanaged_apps(r, now);
    return true;
}

void app_table_fini(struct app_table *r) {
    while (r->count)
        remove_app(r, 0);
    for (size_t i = 0; i < r->groups; i++) {
        replicas_fini(r->replicas[i]);
        free(r->replicas[i]);
    }
    free(r->replicas);
    for (size_t i = 0; i < r->olds; i++)
        config_free(r->old[i]);
    config_free(r->config);
    free(r->old);
    free(r->entry);
    free(r->app);
}
