/* SPDX-License-Identifier: BSD-2-Clause */
/* What GET /status, /metrics and /ready answer. */
#include "keeper_status.h"

#include "ballast/version.h"

#include "format/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static void print_app_json(struct json *json, const struct app *app) {
    const struct bal_keeper *core = &app->core;
    bli_json_open_line(json, app->config->name, '{');
    bli_json_text(json, "state", bal_keeper_state_name(core->state));
    bli_json_bool(json, "wanted", core->wanted);
    bli_json_count(json, "starts", core->starts);
    bli_json_count(json, "kills", core->kills);
    bli_json_count(json, "crashes", core->crashes);
    bli_json_count(json, "failures", core->failures);
    bli_json_close(json, '}');
}

/* Keyed by name, so that a path leads to a number: replicas.web.wanted. */
static void print_replicas_json(struct json *json, const struct replicas *replicas) {
    const struct bal_scaler *s = &replicas->scaler;
    bli_json_open_line(json, replicas->config->hook.name, '{');
    bli_json_count(json, "wanted", bal_scaler_wanted(s));
    bli_json_count(json, "ready", bal_scaler_ready(s));
    bli_json_count(json, "min", s->config.min);
    bli_json_count(json, "max", s->config.max);
    bli_json_bool(json, "stated", s->stated);
    bli_json_count(json, "scales", s->orders);
    bli_json_count(json, "failures", s->failures);
    bli_json_close(json, '}');
}

static void print_json(const struct app_table *r, FILE *out) {
    struct json json;
    bli_json_init(&json, out);
    bli_json_open(&json, NULL, '{');
    bli_json_text(&json, "version", BALLAST_VERSION);
    bli_json_open(&json, "replicas", '{');
    for (size_t i = 0; i < r->groups; i++)
        print_replicas_json(&json, r->replicas[i]);
    bli_json_close(&json, '}');
    bli_json_open(&json, "apps", '{');
    for (size_t i = 0; i < r->count; i++)
        print_app_json(&json, r->app[i]);
    bli_json_close(&json, '}');
    bli_json_close(&json, '}');
}

/* ---- metrics ---- */

typedef uint64_t app_value(const struct app *app);
typedef uint64_t replicas_value(const struct replicas *replicas);

static uint64_t app_on(const struct app *app) {
    return app_is_on(app);
}

static uint64_t app_wanted(const struct app *app) {
    return app->core.wanted;
}

static uint64_t app_starts(const struct app *app) {
    return app->core.starts;
}

static uint64_t app_kills(const struct app *app) {
    return app->core.kills;
}

static uint64_t app_crashes(const struct app *app) {
    return app->core.crashes;
}

static uint64_t replicas_wanted(const struct replicas *replicas) {
    return bal_scaler_wanted(&replicas->scaler);
}

static uint64_t replicas_ready(const struct replicas *replicas) {
    return bal_scaler_ready(&replicas->scaler);
}

static uint64_t replicas_min(const struct replicas *replicas) {
    return replicas->scaler.config.min;
}

static uint64_t replicas_max(const struct replicas *replicas) {
    return replicas->scaler.config.max;
}

static uint64_t replicas_scales(const struct replicas *replicas) {
    return replicas->scaler.orders;
}

static uint64_t replicas_failures(const struct replicas *replicas) {
    return replicas->scaler.failed;
}

static void print_head(FILE *out, const char *name, const char *type, const char *help) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_app_metrics(const struct app_table *r, FILE *out) {
    static const struct {
        const char *name, *type, *help;
        app_value *value;
    } metrics[] = {
        {"ballastd_app_on", "gauge", "1 while the app is on.", app_on},
        {"ballastd_app_wanted", "gauge", "1 while the app is wanted.", app_wanted},
        {"ballastd_app_starts_total", "counter", "Starts of the app.", app_starts},
        {"ballastd_app_kills_total", "counter", "Ends of the app by force.", app_kills},
        {"ballastd_app_crashes_total", "counter", "Ends of the app by itself while it was on.", app_crashes},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        print_head(out, metrics[i].name, metrics[i].type, metrics[i].help);
        for (size_t k = 0; k < r->count; k++)
            fprintf(out, "%s{app=\"%s\"} %llu\n", metrics[i].name, r->app[k]->config->name,
                    (unsigned long long)metrics[i].value(r->app[k]));
    }
}

static void print_replicas_metrics(const struct app_table *r, FILE *out) {
    static const struct {
        const char *name, *type, *help;
        replicas_value *value;
    } metrics[] = {
        {"ballastd_replicas_wanted", "gauge", "Replicas that are wanted.", replicas_wanted},
        {"ballastd_replicas_ready", "gauge", "Replicas that are on.", replicas_ready},
        {"ballastd_replicas_min", "gauge", "Replicas at least.", replicas_min},
        {"ballastd_replicas_max", "gauge", "Replicas at most.", replicas_max},
        {"ballastd_replicas_scales_total", "counter", "Runs of the command that scales.", replicas_scales},
        {"ballastd_replicas_scale_failures_total", "counter", "Those of them that failed.",
         replicas_failures},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        print_head(out, metrics[i].name, metrics[i].type, metrics[i].help);
        for (size_t k = 0; k < r->groups; k++)
            fprintf(out, "%s{replicas=\"%s\"} %llu\n", metrics[i].name, r->replicas[k]->config->hook.name,
                    (unsigned long long)metrics[i].value(r->replicas[k]));
    }
}

static void print_metrics(const struct app_table *r, FILE *out) {
    print_app_metrics(r, out);
    if (r->groups)
        print_replicas_metrics(r, out);
}

/* ---- probes ---- */

/* It is known of each app whether it runs. */
static bool is_ready(const struct app_table *r) {
    for (size_t i = 0; i < r->count; i++)
        if (r->app[i]->core.state == BAL_KEEPER_LOOKING)
            return false;
    return true;
}

static void print_readiness(const struct app_table *r, FILE *out) {
    fputs(is_ready(r) ? "ready\n" : "looking which apps run\n", out);
}

struct http_answer status_answer(void *context, const char *path) {
    static const struct {
        const char *path, *type;
        void (*print)(const struct app_table *r, FILE *out);
    } pages[] = {{"/status", "application/json", print_json},
                 {"/metrics", "text/plain; version=0.0.4; charset=utf-8", print_metrics},
                 {"/ready", "text/plain; charset=utf-8", print_readiness}};
    const struct app_table *r = context;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (strcmp(path, pages[i].path) != 0)
            continue;
        struct http_answer answer = {.status = 200, .type = pages[i].type};
        if (pages[i].print == print_readiness && !is_ready(r))
            answer.status = 503;
        FILE *out = open_memstream(&answer.body, &answer.size);
        if (!out)
            return answer;
        pages[i].print(r, out);
        if (fclose(out)) {
            free(answer.body);
            answer.body = NULL;
        }
        return answer;
    }
    return (struct http_answer){.status = 404};
}
