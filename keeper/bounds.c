#include "bounds.h"

#include "log.h"

/* Something of it is there, or will be. */
static bool takes_room(const struct app *app) {
    return app->core.wanted || app->core.state != BAL_KEEPER_OFF;
}

/* It is on, or is about to be, and will stay so unless it is let rest. */
static bool counts(const struct app *app) {
    const bool failing = app->core.failures && !app_is_on(app);
    return !app->leaving && app->core.wanted && !failing;
}

static size_t count_if(struct app *const *app, size_t count, bool (*is)(const struct app *)) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += is(app[i]);
    return sum;
}

static void hold_back(struct app *app, const char *limit) {
    if (!app->held_back)
        log_say(LOG_INFO, app->config->name, "held-back", "limit=%s", limit);
    app->held_back = true;
}

static void come_true(struct app *app) {
    app->wish = WISH_NONE;
    app->held_back = false;
}

static void wake(struct app *app, uint64_t now) {
    come_true(app);
    bal_keeper_wake(&app->core, now);
}

static uint64_t standby_of(const struct standby *standby, struct bal_rng *rng) {
    if (!standby->exponential)
        return standby->mean_ns;
    return (uint64_t)(bal_rng_exp(rng) * (double)standby->mean_ns);
}

/* A rest that is said again does not begin anew, so the standby is drawn once for each. */
static void rest(struct app *app, uint64_t now, struct bal_rng *rng) {
    const uint64_t stays = app->on_at + app->config->on_ns;
    come_true(app);
    if (app->core.rest_at != UINT64_MAX)
        return;
    uint64_t after = app->rest_ns + standby_of(&app->config->standby, rng);
    if (app_is_on(app) && stays > now && stays - now > after)
        after = stays - now;
    bal_keeper_rest(&app->core, now, after);
}

/* One that is on anyway, else one that can begin at once, else any. */
static int rank(const struct app *app, uint64_t now) {
    if (counts(app) || app->leaving || app->core.state == BAL_KEEPER_LOOKING)
        return 0;
    if (app_is_on(app))
        return 4;
    if (takes_room(app))
        return 1;
    return app->core.retry_at <= now ? 3 : 2;
}

static struct app *best_to_wake(struct app *const *app, size_t count, uint64_t now) {
    struct app *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (rank(app[i], now) > (best ? rank(best, now) : 0) && !app[i]->core.wanted)
            best = app[i];
    return best;
}

void bounds_apply(const struct config *config, struct app *const *app, size_t count, uint64_t now,
                  struct bal_rng *rng) {
    for (size_t i = 0; i < count; i++) {
        if (app[i]->wish != WISH_ON)
            continue;
        if (app[i]->leaving)
            come_true(app[i]);
        else if (takes_room(app[i]) || !config->most || count_if(app, count, takes_room) < config->most)
            wake(app[i], now);
        else
            hold_back(app[i], "most");
    }
    for (size_t i = 0; i < count; i++) {
        if (app[i]->wish != WISH_REST)
            continue;
        if (!counts(app[i]) || count_if(app, count, counts) > config->least)
            rest(app[i], now, rng);
        else
            hold_back(app[i], "least");
    }
    for (size_t i = 0; i < count && count_if(app, count, counts) < config->least; i++) {
        struct app *next = best_to_wake(app, count, now);
        if (!next || (!takes_room(next) && config->most && count_if(app, count, takes_room) >= config->most))
            break;
        wake(next, now);
    }
}
