/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues and services of test servers.
 *
 * Where speeds are given, requests in service share what the server can do, as in the event engine:
 * `attained` is what each of them has got since the server was idle, and one of size x that begins at A is
 * done at A + x, whatever others come and go. Each change sets their timers again. */
#include "serve/serve_state.h"

#include "serve/burn.h"

#include <math.h>

/* What each in service gets per second. */
static double rate_each(const struct serve *serve, const struct test_server *s) {
    const double scale = s->mode == MODE_SLOW ? s->factor : 1;
    if (!bli_speeds_given(&serve->speeds))
        return s->speed / scale;
    return s->sharers ? s->speed * bli_speeds_rate(&serve->speeds, s->sharers) / s->sharers / scale : 0;
}

void serve_advance_sharing(struct serve *serve, struct test_server *s, double now) {
    if (now <= s->since)
        return;
    s->attained = s->sharers ? s->attained + rate_each(serve, s) * (now - s->since) : 0;
    s->since = now;
}

/* Sets its timer: at the end of the service or, where tokens are sent before, when the next one is there. The
 * last token is there at the end. rate: of the work on it. */
static void schedule_service(struct serve *serve, struct connection *c, double rate) {
    const uint32_t later = c->tokens ? c->tokens - c->tokens_sent - 1 : 0;
    if (serve->timers.place[c->number] != BLI_HEAP_ABSENT)
        bli_heap_remove(&serve->timers, c->number);
    bli_heap_insert(&serve->timers, c->number, c->until - later * serve->token_service[1] / rate);
}

void serve_schedule_sharing(struct serve *serve, struct test_server *s) {
    for (struct connection *c = s->sharing; c; c = c->next_sharer) {
        c->until = s->since + fmax(c->mark - s->attained, 0) / rate_each(serve, s);
        schedule_service(serve, c, rate_each(serve, s));
    }
}

static void join_sharing(struct serve *serve, struct test_server *s, struct connection *c, double length) {
    serve_advance_sharing(serve, s, c->begun);
    c->mark = s->attained + length;
    c->next_sharer = s->sharing;
    s->sharing = c;
    s->sharers++;
    serve_schedule_sharing(serve, s);
}

static void leave_sharing(struct serve *serve, struct test_server *s, struct connection *c, double now) {
    struct connection **link = &s->sharing;
    while (*link && *link != c)
        link = &(*link)->next_sharer;
    if (!*link)
        return;
    serve_advance_sharing(serve, s, now);
    *link = c->next_sharer;
    s->sharers--;
    serve_schedule_sharing(serve, s);
}

/* The request, if there is one, is no longer here. */
void serve_end_request(struct serve *serve, struct connection *c, int status) {
    struct test_server *s = c->server;
    if (c->state == READING_HEAD || c->state == READING_BODY || s->control)
        return;
    const bool here = c->state == WAITING || c->state == SERVING || c->state == FAILING || c->state == STUCK;
    if (!here)
        return;
    if (c->state == WAITING) {
        struct connection **link = &s->first, *before = NULL;
        for (; *link != c; link = &(*link)->next)
            before = *link;
        *link = c->next;
        s->last = s->last == c ? before : s->last;
    }
    const bool timed = serve->timers.place[c->number] != BLI_HEAP_ABSENT;
    if (timed)
        bli_heap_remove(&serve->timers, c->number);
    if (c->work) {
        burn_cancel(c->work);
        c->work = NULL;
    }
    if (c->state == SERVING) {
        s->serving--;
        s->freed = serve->burn || timed ? serve_clock_seconds() : c->until;
        leave_sharing(serve, s, c, s->freed);
    }
    s->present--;
    if (status)
        s->answered++;
    else
        s->aborted++;
    serve_log_end(serve, c, status);
}

/* One that has waited begins when the service before it was to end, not when this process woke up:
 * oversleeping delays one answer, but does not make the server slower. */
static void begin_service(struct serve *serve, struct connection *c) {
    struct test_server *s = c->server;
    const double scale = s->mode == MODE_SLOW ? s->factor : 1;
    c->state = SERVING;
    c->begun = fmax(c->arrived, s->freed);
    s->serving++;
    const double length = c->tokens           ? c->service
                          : isnan(c->service) ? bli_dist_sample(&serve->dist, &serve->rng)
                                              : c->service;
    if (bli_speeds_given(&serve->speeds)) {
        join_sharing(serve, s, c, length);
        return;
    }
    c->until = c->begun + scale * length / s->speed;
    if (serve->burn) {
        c->work = burn_begin(serve->burn, c->number, c->until - c->begun);
        if (!c->work)
            serve_fail(serve, "memory");
    } else {
        schedule_service(serve, c, rate_each(serve, s));
    }
}

void serve_start_waiting(struct serve *serve, struct test_server *s) {
    while (s->first && s->serving < serve->slots) {
        struct connection *c = s->first;
        s->first = c->next;
        if (!s->first)
            s->last = NULL;
        begin_service(serve, c);
    }
}

static void enqueue_request(struct serve *serve, struct connection *c) {
    struct test_server *s = c->server;
    c->state = WAITING;
    c->next = NULL;
    if (s->last)
        s->last->next = c;
    else
        s->first = c;
    s->last = c;
    serve_start_waiting(serve, s);
}

/* The whole request has been read. */
void serve_dispatch_request(struct serve *serve, struct connection *c) {
    struct test_server *s = c->server;
    if (s->control) {
        serve_handle_control(serve, c);
        return;
    }
    c->arrived = c->begun = serve_clock_seconds();
    s->requests++;
    s->present++;
    s->most_present = s->present > s->most_present ? s->present : s->most_present;
    serve_log_arrival(serve, c);
    switch (s->mode) {
    case MODE_FAIL:
        c->state = FAILING;
        bli_heap_insert(&serve->timers, c->number, c->begun + s->after);
        break;
    case MODE_HANG:
        c->state = STUCK;
        break;
    case MODE_CLOSE:
        c->state = STUCK;
        c->gone = true;
        break;
    default:
        c->state = SERVING;
        if (serve_starts_with(c->path, "/upgrade")) {
            s->serving++;
            serve_send_upgrade(serve, c);
        } else {
            enqueue_request(serve, c);
        }
    }
}

static void end_service(struct serve *serve, struct connection *c) {
    if (c->state == SERVING) {
        serve->overslept += serve_clock_seconds() - c->until;
        serve->services++;
    }
    serve_send_response(serve, c, c->state == FAILING ? c->server->status : 200);
    if (!c->gone && c->used > 0)
        serve_process_input(serve, c);
    if (c->gone)
        serve_close_connection(serve, c);
}

static void stream_token(struct serve *serve, struct connection *c) {
    serve_send_token(serve, c);
    if (c->gone)
        serve_close_connection(serve, c);
    else
        schedule_service(serve, c, rate_each(serve, c->server));
}

void serve_run_timers(struct serve *serve) {
    while (serve->timers.count > 0 && serve->timers.slot[0].time <= serve_clock_seconds()) {
        struct connection *c = serve->table[serve->timers.slot[0].id];
        bli_heap_remove(&serve->timers, c->number);
        if (c->state == SERVING && c->tokens_sent + 1 < c->tokens)
            stream_token(serve, c);
        else
            end_service(serve, c);
    }
}

void serve_finish_burnt(struct serve *serve) {
    uint32_t number;
    while (burn_ended(serve->burn, &number)) {
        serve->table[number]->work = NULL;
        end_service(serve, serve->table[number]);
    }
}
