/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies the limits on how many apps are on and for how long. */
#include "bounds.h"

#include "event_log.h"

/* The app counts against the maximum: something of it is running, or will be. */
static bool occupies_place(const struct app *app) {
    return app->core.wanted || app->core.state != BAL_KEEPER_OFF;
}

/* It is on, or is about to be, and will stay so unless it is stopped. */
static bool is_counted_on(const struct app *app) {
    const bool failing = app->core.failures && !app_is_on(app);
    return !app->leaving && app->core.wanted && !failing;
}

static size_t count_if(struct app *const *app, size_t count, bool (*is)(const struct app *)) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += is(app[i]);
    return sum;
}

static void defer_request(struct app *app, const char *limit) {
    if (!app->deferred)
        log_event(LOG_INFO, app->config->name, "held-back", "limit=%s", limit);
    app->deferred = true;
}

static bool may_start(const struct app *app) {
    return !app->replicas || bal_scaler_may_start(&app->replicas->scaler, app->config->place);
}

static bool may_stop(const struct app *app) {
    return !app->replicas || bal_scaler_may_stop(&app->replicas->scaler, app->config->place);
}

static bool must_start(const struct app *app) {
    return app->replicas && !app->leaving &&
           bal_scaler_must_start(&app->replicas->scaler, app->config->place);
}

static void clear_desired_state(struct app *app) {
    app->desired = DESIRED_NONE;
    app->deferred = false;
}

static void request_start(struct app *app, uint64_t now) {
    clear_desired_state(app);
    bal_keeper_request_start(&app->core, now);
}

static uint64_t draw_standby(const struct standby *standby, struct bal_rng *rng) {
    if (!standby->exponential)
        return standby->mean_ns;
    return (uint64_t)(bal_rng_exp(rng) * (double)standby->mean_ns);
}

/* A repeated stop request does not restart the standby time, so that time is drawn once for each stop. */
static void request_stop(struct app *app, uint64_t now, struct bal_rng *rng) {
    const uint64_t stays = app->on_at + app->config->on_ns;
    clear_desired_state(app);
    if (app->core.stop_at != UINT64_MAX)
        return;
    uint64_t after = app->stop_after_ns + draw_standby(&app->config->standby, rng);
    if (app_is_on(app) && stays > now && stays - now > after)
        after = stays - now;
    bal_keeper_request_stop(&app->core, now, after);
}

/* One that is on anyway, else one that can begin at once, else any. */
static int start_preference(const struct app *app, uint64_t now) {
    if (is_counted_on(app) || app->leaving || app->core.state == BAL_KEEPER_LOOKING)
        return 0;
    if (app_is_on(app))
        return 4;
    if (occupies_place(app))
        return 1;
    return app->core.retry_at <= now ? 3 : 2;
}

static struct app *best_to_start(struct app *const *app, size_t count, uint64_t now) {
    struct app *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (start_preference(app[i], now) > (best ? start_preference(best, now) : 0) && !app[i]->core.wanted)
            best = app[i];
    return best;
}

void bounds_apply(const struct config *config, struct app *const *app, size_t count, uint64_t now,
                  struct bal_rng *rng) {
    for (size_t i = 0; i < count; i++) {
        if (app[i]->desired != DESIRED_ON)
            continue;
        if (app[i]->leaving)
            clear_desired_state(app[i]);
        else if (!may_start(app[i]))
            defer_request(app[i], "replicas");
        else if (occupies_place(app[i]) || !config->most ||
                 count_if(app, count, occupies_place) < config->most)
            request_start(app[i], now);
        else
            defer_request(app[i], "most");
    }
    for (size_t i = 0; i < count; i++) {
        if (app[i]->desired != DESIRED_OFF)
            continue;
        if (!may_stop(app[i]))
            defer_request(app[i], "replicas");
        else if (!is_counted_on(app[i]) || count_if(app, count, is_counted_on) > config->least)
            request_stop(app[i], now, rng);
        else
            defer_request(app[i], "least");
    }
    for (size_t i = 0; i < count; i++)
        if (must_start(app[i]))
            request_start(app[i], now);
    for (size_t i = 0; i < count && count_if(app, count, is_counted_on) < config->least; i++) {
        struct app *next = best_to_start(app, count, now);
        if (!next ||
            (!occupies_place(next) && config->most && count_if(app, count, occupies_place) >= config->most))
            break;
        request_start(next, now);
    }
}
