#include "roster.h"

#include "log.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t millisecond = 1000000;

/* ---- apps ---- */

static bool add_member(struct roster *r, struct member *m) {
    struct member **member = realloc(r->member, (r->count + 1) * sizeof *member);
    if (member)
        r->member = member;
    struct app **app = realloc(r->app, (r->count + 1) * sizeof *app);
    if (app)
        r->app = app;
    if (!m || !member || !app) {
        free(m);
        return false;
    }
    r->member[r->count] = m;
    r->app[r->count++] = &m->app;
    return true;
}

static bool begin_app(struct roster *r, const struct app_config *config, uint64_t now) {
    struct member *m = calloc(1, sizeof *m);
    if (!add_member(r, m))
        return false;
    app_init(&m->app, config, r->config->state, now);
    return post_init(&m->post, r->config, config, r->boot++); /* one that left may come again */
}

static void end_app(struct roster *r, size_t i) {
    app_fini(&r->member[i]->app);
    post_fini(&r->member[i]->post);
    free(r->member[i]);
    r->count--;
    r->member[i] = r->member[r->count];
    r->app[i] = r->app[r->count];
}

static struct member *find_member(struct roster *r, const char *name) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->app[i]->config->name, name) == 0)
            return r->member[i];
    return NULL;
}

void roster_let_go(struct app *app, uint64_t now) {
    if (app->leaving)
        return;
    app->leaving = true;
    app->wish = WISH_NONE;
    log_say(LOG_INFO, app->config->name, "leaving", "%s", "");
    bal_keeper_rest(&app->core, now, 0);
}

/* A process of an app that is not in the configuration any longer. */
static void take_stray(struct roster *r, const char *name, uint64_t now) {
    struct member *m = calloc(1, sizeof *m);
    static char empty[] = "";
    static char *nothing[] = {empty, NULL};
    if (!add_member(r, m))
        return;
    memcpy(m->own_name, name, strlen(name) + 1);
    m->own = (struct app_config){.name = m->own_name,
                                 .run.argv = nothing,
                                 .directory = "/",
                                 .signal = SIGTERM,
                                 .times = r->config->app[0].times};
    app_init(&m->app, &m->own, r->config->state, now);
    roster_let_go(&m->app, now);
}

static void find_strays(struct roster *r, uint64_t now) {
    DIR *directory = opendir(r->config->state);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char name[CONFIG_NAME_MAX + 1];
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".app") != 0 || dot - entry->d_name > CONFIG_NAME_MAX)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        char path[PATH_MAX];
        struct warden warden = {0};
        app_path(path, r->config->state, name, "app");
        const enum warden_find found = find_member(r, name) ? WARDEN_NONE : warden_find(&warden, path);
        warden_forget(&warden);
        if (found != WARDEN_NONE)
            take_stray(r, name, now);
    }
    if (directory)
        closedir(directory);
}

/* ---- state for people ---- */

static void print_status(const struct roster *r, FILE *out, uint64_t now) {
    fprintf(out, "%-20s %-9s %-7s %8s %7s %8s %8s\n", "app", "state", "wanted", "warden", "starts",
            "failures", "retry");
    for (size_t i = 0; i < r->count; i++) {
        const struct bal_keeper *core = &r->app[i]->core;
        const uint64_t retry = core->retry_at > now ? (core->retry_at - now) / millisecond / 1000 + 1 : 0;
        fprintf(out, "%-20s %-9s %-7s %8d %7llu %8u %7llus\n", r->app[i]->config->name,
                bal_keeper_state_name(core->state), core->wanted ? "yes" : "no", (int)r->app[i]->process.pid,
                (unsigned long long)core->starts, core->failures, (unsigned long long)retry);
    }
}

void roster_write_status(const struct roster *r, uint64_t now) {
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

/* What is open cannot be changed by a reload. */
static const char *fixed_change(const struct config *a, const struct config *b) {
    if (strcmp(a->socket, b->socket) != 0)
        return "socket";
    if (strcmp(a->state, b->state) != 0)
        return "state";
    if (a->fleet != b->fleet)
        return "fleet";
    if (a->listen.size != b->listen.size || memcmp(&a->listen.room, &b->listen.room, a->listen.size) != 0)
        return "listen";
    return NULL;
}

/* An app goes on as it is; how it is started and stopped is new from now on. What is supervised cannot turn
 * into what is not while it runs. */
static bool change_app(struct roster *r, struct member *m, const struct app_config *config) {
    const bool kind = (m->app.config->run.argv != NULL) == (config->run.argv != NULL);
    if (m->app.leaving || !kind || m->app.config->id != config->id)
        return false;
    m->app.config = config;
    m->app.core.config = config->times;
    return post_change(&m->post, r->config, config);
}

/* A check that is under way ends as it began, with what the configuration of then says. */
static bool uses(const struct app *app, const struct app_config *config) {
    return app->config == config || app->check.config == &config->ready;
}

static bool is_in_use(const struct roster *r, const struct config *config) {
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; k < config->apps; k++)
            if (uses(r->app[i], &config->app[k]))
                return true;
    return false;
}

static void free_old(struct roster *r) {
    for (size_t i = 0; i < r->olds;)
        if (is_in_use(r, r->old[i])) {
            i++;
        } else {
            config_free(r->old[i]);
            r->old[i] = r->old[--r->olds];
        }
}

static const struct app_config *find_config(const struct config *config, const char *name) {
    for (size_t i = 0; i < config->apps; i++)
        if (strcmp(config->app[i].name, name) == 0)
            return &config->app[i];
    return NULL;
}

/* Apps that are new begin when nobody of their name is leaving. */
static void add_new_apps(struct roster *r, uint64_t now) {
    for (size_t i = 0; i < r->config->apps; i++)
        if (!find_member(r, r->config->app[i].name))
            begin_app(r, &r->config->app[i], now);
}

const char *roster_change(struct roster *r, struct config *config, uint64_t now) {
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
        if (!next || !change_app(r, r->member[i], next))
            roster_let_go(r->app[i], now);
    }
    add_new_apps(r, now);
    free_old(r);
    return NULL;
}

bool roster_forget(struct roster *r, bool all, uint64_t now) {
    const size_t before = r->count;
    for (size_t i = 0; i < r->count;)
        if (r->app[i]->leaving && app_is_off(r->app[i]))
            end_app(r, i);
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

bool roster_begin(struct roster *r, struct config *config, uint64_t boot, uint64_t now) {
    *r = (struct roster){.config = config, .boot = boot};
    for (size_t i = 0; i < config->apps; i++)
        if (!begin_app(r, &config->app[i], now))
            return false;
    find_strays(r, now);
    return true;
}

void roster_fini(struct roster *r) {
    while (r->count)
        end_app(r, 0);
    for (size_t i = 0; i < r->olds; i++)
        config_free(r->old[i]);
    config_free(r->config);
    free(r->old);
    free(r->member);
    free(r->app);
}
