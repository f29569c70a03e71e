/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a request: client, dispatcher, station, perhaps another station, app, and all the way back.
 * Each leg of it is a connection between two processes; when one of them dies the other one learns it later.
 */
#include "world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HOP = 100, SERVICE = 4000, QUICK = 100 }; /* µs, means */
static const uint64_t read_timeout = 300 * MS;

static bool is_live(const struct leg *leg) {
    return leg->state != LEG_NONE && leg->state != LEG_OVER;
}

static bool is_over(const struct request *r) {
    return r->outcome != OPEN && !is_live(&r->leg[0]) && !is_live(&r->leg[1]) && !is_live(&r->leg[2]);
}

static void later(struct world *w, enum what what, uint32_t request, uint32_t leg, uint64_t mean) {
    world_at(
        w, w->now + 1 + world_time(w, mean),
        (struct event){
            .what = what, .request = request, .leg = leg, .version = w->request[request].leg[leg].version});
}

static void conclude(struct world *w, uint32_t i, enum outcome outcome) {
    static const char *const names[] = {"open", "answered", "failed", "refused", "gone", "reset"};
    struct request *r = &w->request[i];
    if (r->outcome != OPEN)
        world_break(w, "request %u is %s, and now %s", i, names[r->outcome], names[outcome]);
    r->outcome = outcome;
    world_note(w, "request %u is %s", i, names[outcome]);
    while (w->oldest < w->requests && is_over(&w->request[w->oldest]))
        w->oldest++;
}

/* The process of a leg, and NOBODY if it has died meanwhile. */
static uint32_t process_of(struct world *w, const struct leg *leg) {
    return is_live(leg) && leg->state != LEG_ON_WAY ? host_find(&w->host[leg->host], leg->pid) : NOBODY;
}

static void close_leg(struct world *w, uint32_t i, uint32_t leg) {
    if (leg < LEGS && is_live(&w->request[i].leg[leg]))
        later(w, BROKEN_DOWN, i, leg, HOP * US);
}

/* It sets out for the machine of the next leg. */
static void set_out(struct world *w, uint32_t i, uint32_t leg, uint32_t host) {
    struct leg *l = &w->request[i].leg[leg];
    *l = (struct leg){.state = LEG_ON_WAY, .host = host, .version = l->version + 1};
    later(w, COME, i, leg, HOP * US);
}

/* ---- at the app ---- */

static void run(struct world *w, uint32_t i, uint32_t leg) {
    struct request *r = &w->request[i];
    const struct host *h = &w->host[r->leg[leg].host];
    struct app *app = &w->app[h->index];
    r->leg[leg].state = LEG_RUNNING;
    r->running = leg;
    r->version++;
    r->failed = app->fails || !app->up;
    r->reached = true;
    r->at_app = app->up;
    uint64_t takes = app->fails || !app->up ? QUICK * US : world_time(w, SERVICE * US);
    takes = (uint64_t)((double)takes * app->slow);
    world_note(w, "request %u runs at %u", i, h->index);
    if (app->up) {
        app->running++;
        if (++r->starts > 1)
            world_break(w, "request %u is run twice", i);
        if (w->stations && app->running > w->slots)
            world_break(w, "the app of server %u works on %u requests, and has %u slots", h->index,
                        app->running, w->slots);
    } else if (!app->crashed) {
        world_break(w, "request %u is passed to the app of server %u, which rests", i, h->index);
    }
    r->promised = false;
    if (app->hangs)
        return;
    const uint64_t head = world_chance(w, 0.5) ? takes : takes - bal_rng_below(&w->rng, (uint32_t)takes);
    if (w->stations && app->up)
        world_at(w, w->now + 1 + head, (struct event){.what = APP_HEAD, .request = i, .version = r->version});
    world_at(w, w->now + 1 + takes, (struct event){.what = APP_DONE, .request = i, .version = r->version});
}

/* The head of a response goes out, with what its station has to say. */
static void app_head(struct world *w, const struct event *event) {
    struct request *r = &w->request[event->request];
    if (r->version != event->version)
        return;
    const struct leg *leg = &r->leg[r->running];
    struct host *h = &w->host[leg->host];
    const uint32_t worker = process_of(w, leg);
    op_begin(w, h);
    r->promised =
        bal_station_piggyback_offer(h->worker[worker].view, host_now(w, h), leg->ticket, &r->promise);
    if (!op_end(w, h, worker))
        r->promised = false;
    if (r->promised)
        world_note(w, "request %u is answered by %u with a promise", event->request, h->index);
}

static void stop(struct world *w, struct request *r) {
    if (r->at_app)
        w->app[w->host[r->leg[r->running].host].index].running--;
    r->at_app = false;
    r->running = NOBODY;
    r->version++;
}

static void app_done(struct world *w, const struct event *event) {
    struct request *r = &w->request[event->request];
    if (r->version != event->version)
        return;
    const uint32_t k = r->running;
    struct leg *leg = &r->leg[k];
    struct host *h = &w->host[leg->host];
    stop(w, r);
    if (w->stations) {
        const uint32_t worker = process_of(w, leg);
        op_begin(w, h);
        const bool known = bal_station_done(h->worker[worker].view, host_now(w, h), leg->ticket, r->failed);
        if (!op_end(w, h, worker))
            return;
        if (!known)
            world_break(w, "station %u does not know request %u, which has run there", h->index,
                        event->request);
        host_spend(h, leg->pid, leg->ticket);
    }
    leg->state = LEG_OVER;
    later(w, REPLY, event->request, k, HOP * US);
}

void request_app_dies(struct world *w, uint32_t server) {
    for (uint32_t i = w->oldest; i < w->requests; i++) {
        struct request *r = &w->request[i];
        if (!r->at_app || w->host[r->leg[r->running].host].index != server)
            continue;
        w->app[server].running--;
        r->at_app = false;
        r->failed = true;
        r->version++;
        world_at(w, w->now + 1, (struct event){.what = APP_DONE, .request = i, .version = r->version});
    }
}

/* ---- at the dispatcher ---- */

/* Which of the world's servers the dispatcher means. */
static uint32_t server_of(struct world *w, const struct host *h, uint32_t worker, uint32_t number) {
    const struct bal_server_view view = bal_dispatcher_server(h->worker[worker].view, number);
    if (!view.name)
        world_break(w, "dispatcher %u sends to server %u, which is not there", h->index, number);
    return world_server_of(w, view.name);
}

static void dispatched(struct world *w, uint32_t i, struct host *h, uint32_t worker,
                       const struct bal_dispatch *to) {
    struct request *r = &w->request[i];
    struct leg *leg = &r->leg[0];
    leg->ticket = to->ticket;
    if (to->verdict == BAL_SEND) {
        r->server = server_of(w, h, worker, to->server);
        r->sent = h->told;
        if (leg->state == LEG_WAITING) /* it hears of it later */
            r->sent = leg->since + to->waited_ns;
    }
    if (to->verdict != BAL_WAIT) {
        check_dispatched(w, h, i, to);
        twin_dispatched(w, h, i, to);
    }
    switch (to->verdict) {
    case BAL_SEND:
        leg->state = LEG_SENT;
        world_note(w, "request %u goes to %u (%s, %u there)", i, r->server, bal_reason_name(to->reason),
                   to->length);
        set_out(w, i, 1, w->dispatchers + r->server);
        world_at(w, w->now + read_timeout,
                 (struct event){.what = TIMEOUT, .request = i, .version = r->leg[1].version});
        break;
    case BAL_WAIT:
        if (h->deafened && !h->torn)
            world_break(w, "dispatcher %u lets request %u wait, and hears no station for good", h->index, i);
        leg->state = LEG_WAITING;
        leg->number = ++w->numbers;
        leg->since = h->told;
        world_note(w, "request %u waits", i);
        break;
    case BAL_REFUSE:
        host_spend(h, leg->pid, to->ticket);
        leg->state = LEG_OVER;
        world_note(w, "request %u is refused: %s", i, bal_reason_name(to->reason));
        conclude(w, i, REFUSED);
        break;
    }
}

static uint32_t new_request(struct world *w) {
    if ((w->requests & (w->requests - 1)) == 0) {
        const size_t room = w->requests ? 2 * (size_t)w->requests : 1;
        w->request = realloc(w->request, room * sizeof *w->request);
        if (!w->request)
            abort();
    }
    w->request[w->requests] = (struct request){.running = NOBODY};
    return w->requests++;
}

/* A client may name any class: one beyond the last is the last. */
static uint32_t told_rank(struct world *w, uint32_t rank) {
    const bool beyond = rank == w->classes - 1 && bal_rng_below(&w->rng, 8) == 0;
    return beyond ? rank + bal_rng_below(&w->rng, 20) : rank;
}

static void arrive(struct world *w) {
    if (!w->arrivals)
        return;
    world_at(w, w->now + 1 + world_time(w, w->gap), (struct event){.what = ARRIVE});
    const uint32_t i = new_request(w), number = bal_rng_below(&w->rng, w->dispatchers);
    struct host *h = &w->host[number];
    struct request *r = &w->request[i];
    const uint32_t worker = host_any(w, h);
    r->rank = bal_rng_below(&w->rng, w->classes);
    if (worker == NOBODY) {
        conclude(w, i, REFUSED);
        return;
    }
    world_note(w, "request %u of class %u comes to %u", i, r->rank, number);
    r->leg[0] = (struct leg){.state = LEG_SENT, .host = number, .pid = h->worker[worker].pid};
    if (world_chance(w, 0.03))
        later(w, CLIENT_GONE, i, 0, 20 * MS);
    struct bal_dispatch to;
    op_begin(w, h);
    bal_dispatcher_arrive(h->worker[worker].view, host_now(w, h), told_rank(w, r->rank), &to);
    if (op_end(w, h, worker))
        dispatched(w, i, h, worker, &to);
}

static enum bal_outcome outcome_of(const struct request *r) {
    return !r->failed ? BAL_OUTCOME_GOOD : r->reached ? BAL_OUTCOME_BAD : BAL_OUTCOME_FAILED;
}

/* The end of a request that was under way, as its dispatcher sees it. whole: all of the response has come. */
static void respond(struct world *w, uint32_t i, bool whole) {
    struct request *r = &w->request[i];
    struct leg *leg = &r->leg[0];
    struct host *h = &w->host[leg->host];
    const uint32_t worker = process_of(w, leg);
    if (worker == NOBODY)
        return;
    op_begin(w, h);
    const bool known =
        bal_dispatcher_respond(h->worker[worker].view, host_now(w, h), leg->ticket, outcome_of(r));
    if (!op_end(w, h, worker))
        return;
    if (!known)
        world_break(w, "dispatcher %u does not know request %u, which is under way", h->index, i);
    check_outcome(w, h, r->server, outcome_of(r));
    host_spend(h, leg->pid, leg->ticket);
    leg->state = LEG_OVER;
    if (whole && r->promised)
        world_hear_riding(w, h, &r->promise);
    conclude(w, i, r->failed ? FAILED : ANSWERED);
}

/* It was not taken where it was sent. */
static void retry(struct world *w, uint32_t i) {
    struct request *r = &w->request[i];
    struct leg *leg = &r->leg[0];
    struct host *h = &w->host[leg->host];
    const uint32_t worker = process_of(w, leg);
    struct bal_dispatch to;
    if (worker == NOBODY)
        return;
    if (r->tries + 1 >= w->tries) {
        respond(w, i, false);
        return;
    }
    if (r->tries < BAL_TRIES_MAX)
        r->tried[r->tries] = r->server;
    r->tries++;
    op_begin(w, h);
    const bool known =
        bal_dispatcher_retry(h->worker[worker].view, host_now(w, h), leg->ticket, outcome_of(r), &to);
    if (!op_end(w, h, worker))
        return;
    if (!known)
        world_break(w, "dispatcher %u does not know request %u, which is tried again", h->index, i);
    check_outcome(w, h, r->server, outcome_of(r));
    dispatched(w, i, h, worker, &to);
}

/* ---- at stations ---- */

static void not_taken(struct world *w, uint32_t i, uint32_t leg, bool reached) {
    struct request *r = &w->request[i];
    if (leg == 1) {
        r->failed = true;
        r->reached = reached;
    }
    r->leg[leg].state = LEG_OVER;
    later(w, NOT_TAKEN, i, leg, HOP * US);
}

static void come(struct world *w, uint32_t i, uint32_t k) {
    struct request *r = &w->request[i];
    struct leg *leg = &r->leg[k];
    struct host *h = &w->host[leg->host];
    const bool reached = h->up && !w->cut[r->leg[k - 1].host][leg->host];
    if (reached && !w->stations) {
        run(w, i, k);
        return;
    }
    const uint32_t worker = reached ? host_any(w, h) : NOBODY;
    if (worker == NOBODY) {
        not_taken(w, i, k, false);
        return;
    }
    leg->pid = h->worker[worker].pid;
    leg->state = LEG_WAITING; /* if the process dies now, the connection does */
    struct bal_station_task task;
    const uint64_t dispatcher = w->host[r->leg[0].host].id;
    uint32_t offered, left;
    bal_station_offered(h->worker[worker].view, dispatcher, &offered);
    op_begin(w, h);
    bal_station_arrive(h->worker[worker].view, host_now(w, h), told_rank(w, r->rank), dispatcher, k == 2,
                       &task);
    if (!op_end(w, h, worker))
        return;
    bal_station_offered(h->worker[worker].view, dispatcher, &left);
    if (offered && left >= offered && !w->found) /* there it may have been offered one more meanwhile */
        world_break(w, "request %u uses no offer of station %u, which has made %u", i, h->index, offered);
    leg->ticket = task.ticket;
    leg->number = ++w->numbers;
    if (task.verdict == BAL_RUN)
        run(w, i, k);
    else if (task.verdict == BAL_FULL)
        not_taken(w, i, k, true);
}

/* What became of a request that a station has passed on. */
static void come_back(struct world *w, uint32_t i, bool taken) {
    struct request *r = &w->request[i];
    struct leg *leg = &r->leg[1];
    struct host *h = &w->host[leg->host];
    const uint32_t worker = process_of(w, leg);
    if (worker == NOBODY)
        return;
    op_begin(w, h);
    const bool known = taken
                           ? bal_station_done(h->worker[worker].view, host_now(w, h), leg->ticket, r->failed)
                           : bal_station_returned(h->worker[worker].view, host_now(w, h), leg->ticket);
    if (!op_end(w, h, worker))
        return;
    if (!known)
        world_break(w, "station %u does not know request %u, which it has given away", h->index, i);
    leg->state = taken ? LEG_OVER : LEG_WAITING;
    leg->number = UINT64_MAX; /* it may have come back after others were called */
    if (taken)
        later(w, REPLY, i, 1, HOP * US);
}

static void cancel(struct world *w, uint32_t i, uint32_t k) {
    struct request *r = &w->request[i];
    struct leg *leg = &r->leg[k];
    struct host *h = &w->host[leg->host];
    const bool on_way = leg->state == LEG_ON_WAY;
    const uint32_t worker = process_of(w, leg);
    if (r->running == k)
        stop(w, r);
    if (worker != NOBODY) {
        void *view = h->worker[worker].view;
        op_begin(w, h);
        const bool known = k ? bal_station_cancel(view, host_now(w, h), leg->ticket)
                             : bal_dispatcher_cancel(view, host_now(w, h), leg->ticket);
        if (!op_end(w, h, worker))
            return;
        if (!known)
            world_break(w, "host %u does not know request %u, whose client has gone away", number_of(w, h),
                        i);
        host_spend(h, leg->pid, leg->ticket);
    }
    leg->state = LEG_OVER;
    if (!on_way)
        close_leg(w, i, k + 1);
}

/* ---- news ---- */

static uint32_t find(const struct world *w, const struct host *h, uint64_t pid, uint64_t ticket) {
    for (uint32_t i = w->oldest; i < w->requests; i++)
        for (uint32_t k = 0; k < LEGS; k++) {
            const struct leg *leg = &w->request[i].leg[k];
            if (leg->state == LEG_WAITING && leg->host == number_of(w, h) && leg->pid == pid &&
                leg->ticket == ticket)
                return i * LEGS + k;
        }
    return NOBODY;
}

static void told(struct world *w, struct host *h, uint32_t worker, uint32_t found,
                 const struct bal_dispatch *to, const struct bal_station_task *task) {
    const uint32_t i = found / LEGS, k = found % LEGS;
    if (h->kind == DISPATCHER_HOST) {
        if (to->verdict == BAL_SEND)
            check_order(w, i, k);
        dispatched(w, i, h, worker, to);
    } else if (task->verdict == BAL_RUN) {
        check_order(w, i, k);
        run(w, i, k);
    } else if (task->verdict == BAL_FULL) {
        world_note(w, "request %u may not wait at station %u any longer", i, h->index);
        not_taken(w, i, k, true);
    } else {
        if (k != 1)
            world_break(w, "request %u is given away a second time", i);
        w->request[i].leg[k].state = LEG_SENT;
        world_note(w, "request %u is passed on", i);
        uint32_t number = w->dispatchers;
        while (number < w->hosts && w->host[number].id != task->target)
            number++;
        if (number == w->hosts || number == number_of(w, h))
            world_break(w, "request %u is passed on to %" PRIu64 ", which is no other station", i,
                        task->target);
        set_out(w, i, 2, number);
    }
}

void request_news(struct world *w, struct host *h, uint32_t worker) {
    for (;;) {
        struct bal_dispatch to;
        struct bal_station_task task;
        void *view = h->worker[worker].view;
        op_begin(w, h);
        const bool any = h->kind == DISPATCHER_HOST ? bal_dispatcher_next_decision(view, host_now(w, h), &to)
                                                    : bal_station_next_decision(view, host_now(w, h), &task);
        if (!op_end(w, h, worker))
            return;
        if (!any) {
            h->worker[worker].news_due = false;
            return;
        }
        const uint32_t found =
            find(w, h, h->worker[worker].pid, h->kind == DISPATCHER_HOST ? to.ticket : task.ticket);
        if (found == NOBODY)
            world_break(w, "host %u has news of a request that nobody has", number_of(w, h));
        told(w, h, worker, found, &to, &task);
    }
}

/* ---- what breaks ---- */

void request_leg_dies(struct world *w, uint32_t i, uint32_t k) {
    struct request *r = &w->request[i];
    if (r->running == k)
        stop(w, r);
    r->leg[k].state = LEG_OVER;
    if (k == 0)
        conclude(w, i, RESET);
    else
        later(w, BROKEN_UP, i, k, HOP * US);
    close_leg(w, i, k + 1);
}

static void client_gone(struct world *w, uint32_t i) {
    struct request *r = &w->request[i];
    if (r->outcome != OPEN || process_of(w, &r->leg[0]) == NOBODY)
        return;
    world_note(w, "the client of request %u goes away", i);
    cancel(w, i, 0);
    if (r->outcome == OPEN)
        conclude(w, i, GONE);
}

static void broken_up(struct world *w, uint32_t i, uint32_t k) {
    w->request[i].failed = true;
    w->request[i].reached = k > 1;
    if (k == 1)
        respond(w, i, false);
    else
        come_back(w, i, true);
}

void request_on(struct world *w, const struct event *event) {
    if (event->what == ARRIVE) {
        arrive(w);
        return;
    }
    if (event->what == APP_HEAD) {
        app_head(w, event);
        return;
    }
    if (event->what == APP_DONE) {
        app_done(w, event);
        return;
    }
    const uint32_t i = event->request, k = event->leg;
    struct request *r = &w->request[i];
    if (event->what == TIMEOUT) {
        if (r->leg[1].version == event->version && r->leg[0].state == LEG_SENT && r->outcome == OPEN) {
            world_note(w, "request %u has taken too long", i);
            r->failed = true;
            r->reached = false;
            respond(w, i, false);
            close_leg(w, i, 1);
        }
        return;
    }
    if (r->leg[k].version != event->version)
        return;
    switch (event->what) {
    case COME:
        if (r->leg[k].state == LEG_ON_WAY)
            come(w, i, k);
        break;
    case REPLY:
        if (k == 1)
            respond(w, i, true);
        else
            come_back(w, i, true);
        break;
    case NOT_TAKEN:
        if (k == 1)
            retry(w, i);
        else
            come_back(w, i, false);
        break;
    case BROKEN_UP:
        broken_up(w, i, k);
        break;
    case BROKEN_DOWN:
        if (is_live(&r->leg[k]))
            cancel(w, i, k);
        break;
    case CLIENT_GONE:
        client_gone(w, i);
        break;
    default:
        world_break(w, "an event that is not about requests");
    }
}
