/* SPDX-License-Identifier: BSD-2-Clause */
/* Keepers and their apps: starts, checks and stops take time, fail and hang; apps crash, keepers are killed
 * and begin again. A keeper and its station share a machine and speak over a socket that loses nothing, but
 * for what is said to one that is not there. */
#include "world.h"

#include <inttypes.h>

static const struct bal_keeper_config config = {.start_ns = 100 * MS,
                                                .ready_ns = 200 * MS,
                                                .check_ns = 5 * MS,
                                                .answer_ns = 20 * MS,
                                                .drain_ns = 25 * MS,
                                                .stop_ns = 50 * MS,
                                                .kill_ns = 20 * MS,
                                                .steady_ns = 50 * MS,
                                                .back_off_ns = 20 * MS,
                                                .back_off_most_ns = 100 * MS,
                                                .beat_ns = 10 * MS};

static void end_app(struct world *w, uint32_t server) {
    struct app *app = &w->app[server];
    app->process = app->up = false;
    request_app_dies(w, server);
}

static void carry_out(struct world *w, uint32_t server, const struct bal_order *order) {
    struct app *app = &w->app[server];
    const bool quick = order->kind == BAL_ORDER_LOOK || order->kind == BAL_ORDER_KILL;
    app->order = order->number; /* what was under way is ended */
    world_note(w, "keeper %u orders %s", server, bal_order_name(order->kind));
    if (app->hooks_hang && !quick)
        return;
    world_at(w, w->now + MS + (quick ? 0 : world_time(w, 5 * MS)),
             (struct event){.what = HOOK,
                            .host = server,
                            .bytes = order->kind,
                            .number = order->number,
                            .pid = app->keeper_boot});
}

static void send(struct world *w, uint32_t server, struct bal_message message) {
    struct host *h = station_host(w, server);
    message.receiver = h->id;
    bal_sender_stamp(&w->app[server].mouth, &message);
    world_post_near(w, number_of(w, h), false, &message);
}

/* Time passes for a keeper; what it orders is begun, what it says is sent. */
static void run(struct world *w, uint32_t server) {
    struct app *app = &w->app[server];
    struct host *h = station_host(w, server);
    struct bal_order order;
    struct bal_message message;
    const uint64_t now = host_now(w, h), next = bal_keeper_run_timers(&app->keeper, now);
    while (bal_keeper_order(&app->keeper, &order))
        carry_out(w, server, &order);
    while (bal_keeper_next_message(&app->keeper, now, &message))
        send(w, server, message);
    const uint64_t wait = next <= now ? 1 : next - now < 10 * MS ? next - now : 10 * MS;
    app->keep_at = w->now + wait;
    world_at(w, app->keep_at, (struct event){.what = KEEP, .host = server, .pid = app->keeper_boot});
}

static void begin_keeper(struct world *w, uint32_t server) {
    struct app *app = &w->app[server];
    app->keeper_boot++;
    app->order = 0;
    app->window = (struct bal_replay_window){.boot = UINT64_MAX}; /* nobody's: who speaks first proves it too
                                                                   */
    world_note(w, "keeper %u begins", server);
    bal_keeper_init(&app->keeper, &config, host_now(w, station_host(w, server)));
    bal_sender_init(&app->mouth, FLEET, KEEPER_ID + server, app->keeper_boot);
    run(w, server);
}

static enum bal_app_event start(struct world *w, uint32_t server) {
    struct app *app = &w->app[server];
    if (app->process)
        world_break(w, "keeper %u starts a second instance", server);
    if (app->hooks_fail)
        return BAL_APP_FAILED;
    app->process = true;
    app->ready_at = w->now + world_time(w, 10 * MS);
    app->instance = app->order;
    return BAL_APP_RUNNING;
}

static enum bal_app_event stop(struct world *w, uint32_t server, bool by_force) {
    struct app *app = &w->app[server];
    if (!by_force && app->hooks_fail)
        return BAL_APP_FAILED;
    if (!by_force && app->running)
        world_break(w, "keeper %u stops an app that works on %u requests", server, app->running);
    app->crashed = by_force;
    end_app(w, server);
    return BAL_APP_GONE;
}

static enum bal_app_event carried_out(struct world *w, uint32_t server, enum bal_order_kind kind) {
    struct app *app = &w->app[server];
    switch (kind) {
    case BAL_ORDER_LOOK:
        app->instance = app->process ? app->order : 0;
        return app->process ? BAL_APP_RUNNING : BAL_APP_GONE;
    case BAL_ORDER_START:
        return start(w, server);
    case BAL_ORDER_READY:
        if (!app->process || app->hooks_fail || w->now < app->ready_at)
            return BAL_APP_FAILED;
        app->up = true;
        app->crashed = false;
        return BAL_APP_READY;
    case BAL_ORDER_STOP:
    case BAL_ORDER_KILL:
        return stop(w, server, kind == BAL_ORDER_KILL);
    }
    return BAL_APP_FAILED;
}

void power_on(struct world *w, const struct event *event) {
    const uint32_t server = event->host;
    struct app *app = &w->app[server];
    if (event->pid != app->keeper_boot || !station_host(w, server)->up)
        return;
    if (event->what == KEEP) {
        if (w->now == app->keep_at)
            run(w, server);
        return;
    }
    if (event->number != app->order)
        return;
    const enum bal_app_event what = carried_out(w, server, (enum bal_order_kind)event->bytes);
    world_note(w, "app %u: %s", server, bal_app_event_name(what));
    bal_keeper_event(&app->keeper, host_now(w, station_host(w, server)), what, event->number);
    run(w, server);
}

/* As keeper/peer_link.c does it. */
static enum bal_receipt admit(struct world *w, uint32_t server, uint64_t now,
                              const struct bal_message *message) {
    struct app *app = &w->app[server];
    struct bal_message challenge;
    const enum bal_receipt receipt = bal_replay_window_admit(&app->window, now, message);
    if (message->type == BAL_MSG_CHALLENGE && bal_receipt_is_answered(receipt))
        send(w, server, (struct bal_message){.type = BAL_MSG_PROOF, .nonce = message->nonce});
    if (receipt == BAL_RECEIPT_UNPROVEN &&
        bal_replay_window_challenge(&app->window, now, bal_rng_next(&w->rng), message, &challenge))
        send(w, server, challenge);
    return receipt;
}

void power_hear(struct world *w, uint32_t server, const struct bal_message *message) {
    struct app *app = &w->app[server];
    if (!station_host(w, server)->up)
        return;
    const uint64_t now = host_now(w, station_host(w, server));
    if (admit(w, server, now, message) > BAL_RECEIPT_LATE)
        return;
    bal_keeper_receive(&app->keeper, now, message);
    run(w, server);
}

void power_boot(struct world *w, uint32_t server) {
    struct app *app = &w->app[server];
    app->process = app->up = false;
    app->crashed = true;
    begin_keeper(w, server);
}

void power_crash_app(struct world *w, uint32_t server) {
    struct app *app = &w->app[server];
    if (!app->process || !station_host(w, server)->up)
        return;
    world_note(w, "app %u crashes", server);
    app->crashed = true;
    end_app(w, server);
    bal_keeper_event(&app->keeper, host_now(w, station_host(w, server)), BAL_APP_EXITED, app->instance);
    run(w, server);
}

void power_crash_keeper(struct world *w, uint32_t server) {
    if (station_host(w, server)->up)
        begin_keeper(w, server); /* its supervisor begins it again; what it was doing is ended */
}
