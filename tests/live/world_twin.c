/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules that are told once more in the plainest way, and compared with what the core does: what time it is,
 * which tickets are void, who is to be woken, which requests go first, what is too old to be believed, and
 * how many bad answers put a server into ejection. */
#include "world.h"
#include "world_inside.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void count_departures(struct world *w, struct host *h);
static void record_challenge(struct world *w, struct host *h, const struct bal_message *message);

static bool is_dispatcher(const struct host *h) {
    return h->kind == DISPATCHER_HOST;
}

/* ---- time ---- */

static uint64_t block_now(const struct host *h, const void *view) {
    return is_dispatcher(h) ? inside_dispatcher_now(view) : inside_station_now(view);
}

void twin_begin(struct world *w, struct host *h) {
    const void *view = any_view(h);
    const uint64_t now = host_now(w, h);
    h->told = now > h->told ? now : h->told;
    h->unheard = view && is_dispatcher(h) ? inside_unheard(view) : 0;
    h->mark = !view              ? UINT64_MAX
              : is_dispatcher(h) ? inside_dispatcher_order(view)
                                 : inside_station_order(view);
}

void twin_boot(const struct world *w, struct host *h) {
    h->told = h->begun = h->busy_at = host_now(w, h);
    h->spent_count = 0;
    h->announced = 0;
    h->absent = NOBODY;
    memset(h->declined_until, 0, sizeof h->declined_until);
    memset(h->resynced, 0, sizeof h->resynced);
    memset(h->spent, 0, sizeof h->spent);
    memset(h->from, 0, sizeof h->from);
    h->left = 0;
    memset(h->heard, 0, sizeof h->heard);
    memset(h->wasted_since, 0, sizeof h->wasted_since);
}

/* Whether the last time or answer is remembered is not known. */
void twin_torn(struct host *h, uint32_t worker) {
    h->told = block_now(h, h->worker[worker].view);
    h->deafened = is_dispatcher(h) && inside_is_deafened(h->worker[worker].view);
    h->announced = 0;
    h->absent = NOBODY;
    for (uint32_t server = 0; server < STATIONS_MAX; server++) {
        h->closing[server].row = UINT32_MAX;
        h->declined_until[server] = 0;
        h->resynced[server] = true;
    }
}

/* ---- processes that wait for news, and the order of requests ---- */

static void check_woken(struct world *w, const struct host *h) {
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        const struct worker *worker = &h->worker[i];
        if (!worker->alive || worker->news_due)
            continue;
        if (is_dispatcher(h)
                ? inside_dispatcher_has_news(worker->view, bal_dispatcher_worker_number(worker->view))
                : inside_station_has_news(worker->view, bal_station_worker_number(worker->view)))
            world_break(w, "host %u: there is news for process %" PRIu64 ", which is not woken",
                        number_of(w, h), worker->pid);
    }
}

static void check_limits(struct world *w, const struct host *h, const struct bal_dispatcher *d) {
    for (uint32_t number = 0; number <= w->servers; number++) {
        const struct bal_server_view view = bal_dispatcher_server(d, number);
        if (!view.name)
            continue;
        const uint32_t server = world_server_of(w, view.name);
        if (w->most[server] && view.in_flight > w->most[server])
            world_break(w, "dispatcher %u has %u requests at server %u, which may have %u", h->index,
                        view.in_flight, server, w->most[server]);
        if (view.open && h->declined_until[server] > h->told && !h->reshaped)
            world_break(w, "dispatcher %u does not tell station %u that it takes offers again", h->index,
                        server);
        if (h->deafened && !h->torn && view.silent && !view.leaving)
            world_break(w, "dispatcher %u, which hears nobody for good, takes server %u for silent", h->index,
                        server);
    }
    const uint32_t held = bal_dispatcher_held(d, BAL_CLASSES_MAX);
    if (w->stations && !h->deafened && !h->torn && inside_has_useless_offer(d))
        world_break(w, "dispatcher %u keeps an offer of a server that it has closed", h->index);
    if (h->announced && held == 0)
        world_break(w, "dispatcher %u does not tell stations that it holds no requests any longer", h->index);
    if (h->deafened && !h->torn && held)
        world_break(w, "dispatcher %u holds requests, and hears nobody for good", h->index);
}

/* Those that were given away may come back: their places are kept. */
static void check_queue(struct world *w, struct host *h, const struct bal_station *s) {
    const struct bal_station_view view = bal_station_view(s);
    if (view.running + view.waiting)
        h->busy_at = h->told;
    if (view.waiting + view.away > w->station_config.queue)
        world_break(w, "station %u has %u requests in a queue of %u, and %u that may come back", h->index,
                    view.waiting, w->station_config.queue, view.away);
}

void twin_rests(struct world *w, const struct host *h) {
    if (h->told < h->busy_at + w->station_config.standby_ns && !h->torn)
        world_break(w, "station %u lets its app rest %" PRIu64 " ns after its last request", h->index,
                    h->told - h->busy_at);
}

void twin_check(struct world *w, struct host *h) {
    const void *view = any_view(h);
    if (!view)
        return;
    count_departures(w, h);
    if (block_now(h, view) != h->told)
        world_break(w, "host %u: it is %" PRIu64 " there, and the latest time that it was told is %" PRIu64,
                    number_of(w, h), block_now(h, view), h->told);
    check_woken(w, h);
    if (is_dispatcher(h))
        check_limits(w, h, view);
    else
        check_queue(w, h, view);
    /* Where slots are found, one may have become free before the request came that is more urgent. */
    const char *fault = h->mark == UINT64_MAX || (w->found && !is_dispatcher(h)) ? NULL
                        : is_dispatcher(h) ? inside_dispatcher_disorder(view, h->mark)
                                           : inside_station_disorder(view, h->mark);
    if (fault)
        world_break(w, "host %u: %s", number_of(w, h), fault);
}

/* ---- what is said ---- */

static void dispatcher_said(struct world *w, struct host *h, const struct bal_message *message) {
    const bool all = message->receiver == BAL_EVERYONE;
    for (uint32_t server = 0; server < w->servers; server++) {
        if (!all && station_host(w, server)->id != message->receiver)
            continue;
        if (message->type == BAL_MSG_RESYNC) {
            h->declined_until[server] = 0;
            h->resynced[server] = true;
        } else if (message->type == BAL_MSG_BACKLOG && !all && message->backlog.held == 0) {
            h->declined_until[server] = h->told + message->backlog.valid_ms * MS;
        }
    }
    if (message->type == BAL_MSG_BACKLOG && all)
        h->announced = message->backlog.held;
}

void twin_said(struct world *w, struct host *h, const struct bal_message *message) {
    record_challenge(w, h, message);
    if (is_dispatcher(h)) {
        dispatcher_said(w, h, message);
        return;
    }
    const uint32_t power = message->type == BAL_MSG_POWER  ? message->power.power
                           : message->type == BAL_MSG_LOAD ? message->load.power
                                                           : BAL_POWER_DRAINING;
    if (power != BAL_POWER_DRAINING && bal_station_view(any_view(h)).power == BAL_POWER_DRAINING)
        world_break(w, "station %u drains, and does not say so", h->index);
}

/* When a dispatcher begins it asks every station for the present. */
void twin_configured(struct world *w, struct host *h) {
    for (uint32_t server = 0; w->stations && !w->servers_join && is_dispatcher(h) && server < w->servers;
         server++)
        if (server != h->absent && !h->resynced[server])
            world_break(w, "dispatcher %u has not asked station %u for the present", h->index, server);
}

/* ---- tickets ---- */

static bool use_dispatcher_ticket(struct world *w, const struct host *h, void *view, uint64_t ticket) {
    struct bal_dispatch to;
    switch (bal_rng_below(&w->rng, 3)) {
    case 0:
        return bal_dispatcher_respond(view, host_now(w, h), ticket, BAL_OUTCOME_GOOD);
    case 1:
        return bal_dispatcher_retry(view, host_now(w, h), ticket, BAL_OUTCOME_FAILED, &to);
    default:
        return bal_dispatcher_cancel(view, host_now(w, h), ticket);
    }
}

static bool use_station_ticket(struct world *w, const struct host *h, void *view, uint64_t ticket) {
    struct bal_message message;
    switch (bal_rng_below(&w->rng, 4)) {
    case 0:
        return bal_station_done(view, host_now(w, h), ticket, true);
    case 1:
        return bal_station_returned(view, host_now(w, h), ticket);
    case 2:
        return bal_station_piggyback_offer(view, host_now(w, h), ticket, &message);
    default:
        return bal_station_cancel(view, host_now(w, h), ticket);
    }
}

/* A ticket is that of the process which got it, and of no other. */
static void try_foreign(struct world *w, struct host *h) {
    const uint32_t i = w->oldest + bal_rng_below(&w->rng, w->requests - w->oldest);
    const uint32_t worker = host_any(w, h);
    const struct leg *leg = w->request[i].leg;
    while (leg < w->request[i].leg + LEGS &&
           (leg->state != LEG_WAITING || leg->host != number_of(w, h) || leg->pid == h->worker[worker].pid))
        leg++;
    if (leg == w->request[i].leg + LEGS || host_find(h, leg->pid) == NOBODY)
        return;
    void *view = h->worker[worker].view;
    op_begin(w, h);
    if (is_dispatcher(h) ? use_dispatcher_ticket(w, h, view, leg->ticket)
                         : use_station_ticket(w, h, view, leg->ticket))
        world_break(w, "host %u takes a ticket of another process", number_of(w, h));
    op_end(w, h, worker);
}

void twin_try_spent(struct world *w, struct host *h) {
    if (w->requests > w->oldest && host_any(w, h) != NOBODY && bal_rng_below(&w->rng, 8) == 0)
        try_foreign(w, h);
    if (h->spent_count == 0 || bal_rng_below(&w->rng, 8))
        return;
    const uint32_t count = h->spent_count < SPENT ? h->spent_count : SPENT;
    const struct spent *spent = &h->spent[bal_rng_below(&w->rng, count)];
    const uint32_t worker = host_find(h, spent->pid);
    if (worker == NOBODY)
        return;
    void *view = h->worker[worker].view;
    op_begin(w, h);
    const bool known = is_dispatcher(h) ? use_dispatcher_ticket(w, h, view, spent->ticket)
                                        : use_station_ticket(w, h, view, spent->ticket);
    if (known)
        world_break(w, "host %u takes a ticket whose request is over", number_of(w, h));
    op_end(w, h, worker);
}

/* ---- ejection, and how long requests have waited ---- */

void twin_answered(struct world *w, struct host *h, uint32_t server, bool bad) {
    const struct bal_dispatcher *d = any_view(h);
    uint32_t *row = &h->closing[server].row;
    *row = !bad ? 0 : *row == UINT32_MAX ? *row : *row + 1;
    const uint32_t number = server_number(w, d, server);
    if (number == NOBODY)
        return;
    const struct bal_server_view view = bal_dispatcher_server(d, number);
    if (view.ejected && *row < w->dispatcher_config.failures)
        world_break(w, "dispatcher %u has server %u ejected after %u bad answers in a row", h->index, server,
                    *row);
    if (view.shut && w->stations)
        world_break(w, "dispatcher %u has server %u closed by max_fails, though it has a station", h->index,
                    server);
    if (view.ejected && !view.shut && view.until > h->told + 64 * w->dispatcher_config.back_off_ns)
        world_break(w, "dispatcher %u has server %u ejected for another %" PRIu64 " ns", h->index, server,
                    view.until - h->told);
}

/* The load by which `least-conn` compares open servers, and every policy those of which nothing is heard; the
 * request that has just been sent there not included. */
static double load_of(const struct world *w, const struct bal_dispatcher *d, uint32_t number, bool silent,
                      bool chosen) {
    const struct bal_server_view view = bal_dispatcher_server(d, number);
    if (!view.name)
        return INFINITY;
    const uint32_t server = world_server_of(w, view.name);
    const double weight = w->weight[server] > 0 ? w->weight[server] : 1;
    if (chosen)
        return (view.in_flight - 1) / weight;
    return silent ? inside_silent_load(d, number) : view.open ? view.in_flight / weight : INFINITY;
}

static bool is_tried(const struct world *w, const struct request *r, const struct bal_dispatcher *d,
                     uint32_t number) {
    for (uint32_t i = 0; i < r->tries && i < BAL_TRIES_MAX; i++)
        if (server_number(w, d, r->tried[i]) == number)
            return true;
    return false;
}

/* What was decided just now. */
static void check_choice(struct world *w, const struct host *h, uint32_t request, uint32_t chosen) {
    const struct bal_dispatcher *d = any_view(h);
    const struct request *r = &w->request[request];
    if (r->server == h->absent)
        world_break(w, "request %u goes to server %u, which is not in the configuration", request, r->server);
    const bool silent = inside_unheard(d) > h->unheard;
    if (r->tries > BAL_TRIES_MAX || (!silent && (r->tries || strcmp(w->policy_text, "least-conn") != 0)))
        return;
    const double load = load_of(w, d, chosen, silent, true);
    for (uint32_t number = 0; number <= w->servers; number++)
        if (number != chosen && !is_tried(w, r, d, number) &&
            load_of(w, d, number, silent, false) < load - 1e-9)
            world_break(w, "request %u goes to server %u, though another one has fewer requests", request,
                        r->server);
}

void twin_dispatched(struct world *w, const struct host *h, uint32_t request, const struct bal_dispatch *to) {
    const struct leg *leg = &w->request[request].leg[0];
    const uint64_t waited = leg->state == LEG_WAITING ? h->told - leg->since : 0;
    if (to->waited_ns > waited)
        world_break(w, "request %u is told to have waited for %" PRIu64 " ns, and has for %" PRIu64, request,
                    to->waited_ns, waited);
    if (leg->state != LEG_WAITING && to->verdict == BAL_SEND)
        check_choice(w, h, request, to->server);
}

/* ---- messages ---- */

static uint32_t sender_of(const struct world *w, uint64_t id) {
    for (uint32_t i = 0; i < w->hosts; i++)
        if (w->host[i].id == id)
            return i;
    return NOBODY;
}

/* What a message may change of what is known of its sender. */
struct known {
    bool there, silent, ejected;
    uint32_t status, jobs, tokens;
    uint32_t held, offered;
    uint64_t offers, question;
};

static struct known known_of(const struct world *w, const struct host *h, const struct host *sender) {
    const void *view = any_view(h);
    struct known known = {0};
    if (!view || is_dispatcher(h) == is_dispatcher(sender)) {
        known.question = view && !is_dispatcher(h) ? inside_question(view) : 0;
        return known;
    }
    if (is_dispatcher(h)) {
        const uint32_t number = server_number(w, view, sender->index);
        if (number != NOBODY) {
            const struct bal_server_view server = bal_dispatcher_server(view, number);
            known = (struct known){.there = !server.leaving,
                                   .silent = server.silent,
                                   .ejected = server.ejected,
                                   .status = server.status,
                                   .jobs = server.jobs,
                                   .tokens = server.tokens};
        }
        return known;
    }
    known.held = inside_known_held(view, sender->id);
    known.offers = bal_station_offered(view, sender->id, &known.offered);
    return known;
}

static void check_late(struct world *w, const struct host *h, const struct bal_message *message,
                       const struct known *before, const struct known *after) {
    const bool load = is_dispatcher(h) && (before->status != after->status || before->jobs != after->jobs);
    const bool hunger = !is_dispatcher(h) && (before->held != after->held || before->offers != after->offers);
    if (bal_message_is_statement(message->type) && (load || hunger))
        world_break(w, "host %u believes a late %s", number_of(w, h), bal_message_name(message->type));
}

/* What is accepted must be of the boot that is known, or prove another one. */
static void check_receipt(struct world *w, const struct host *h, const struct heard_from *from,
                          const struct host *sender, const struct bal_message *message,
                          enum bal_receipt receipt) {
    const bool same = from->boot == message->boot;
    if (receipt > BAL_RECEIPT_LATE || from->boot == 0)
        return;
    if (from->boot == sender->boot && !same)
        world_break(w, "host %u believes what host %u said before it began again", number_of(w, h),
                    number_of(w, sender));
    if (same && receipt == BAL_RECEIPT_FRESH && message->sequence <= from->newest)
        world_break(w, "host %u takes sequence %" PRIu64 " for fresh, after %" PRIu64, number_of(w, h),
                    message->sequence, from->newest);
    if (same && message->sequence < from->proved)
        world_break(w, "host %u believes what was said before the boot was proved", number_of(w, h));
}

static uint32_t tokens_allowed(const struct bal_message *message) {
    if (message->type == BAL_MSG_IDLE)
        return message->idle.free;
    const bool off = (message->type == BAL_MSG_LOAD && message->load.power != BAL_POWER_ON) ||
                     (message->type == BAL_MSG_POWER && message->power.power != BAL_POWER_ON);
    return off ? 0 : UINT32_MAX;
}

/* What a dispatcher knows of a station that has just told it. */
static void check_knowledge(struct world *w, const struct host *h, const struct bal_message *message,
                            const struct known *before, const struct known *after) {
    uint32_t jobs = 0;
    for (uint32_t rank = 0; message->type == BAL_MSG_LOAD && rank < message->load.classes; rank++)
        jobs += message->load.jobs[rank];
    if (message->type == BAL_MSG_LOAD && after->jobs != jobs)
        world_break(w, "dispatcher %u takes a load of %u for %u", h->index, jobs, after->jobs);
    if (after->tokens > tokens_allowed(message))
        world_break(w, "dispatcher %u has %u offers after %s", h->index, after->tokens,
                    bal_message_name(message->type));
    if (before->silent && after->ejected)
        world_break(w, "dispatcher %u shuns a server for what it did before it was silent", h->index);
}

/* What a message says is so, as soon as it has been accepted. */
static void check_statement(struct world *w, const struct host *h, const struct bal_message *message,
                            const struct known *before, const struct known *after) {
    if (is_dispatcher(h) && before->there && after->there)
        check_knowledge(w, h, message, before, after);
    if (is_dispatcher(h) && message->type == BAL_MSG_LOAD && message->load.probe == 0 && after->tokens)
        world_break(w, "dispatcher %u keeps offers that were taken back", h->index);
    if (!is_dispatcher(h) && message->type == BAL_MSG_GRANT && message->grant.steal != before->question &&
        after->question != before->question)
        world_break(w, "station %u takes a grant for the answer to another question", h->index);
}

/* One that has begun again can prove it, where datagrams pass both ways: a challenge that was lost is
 * repeated with the next message after a beat. Of the worst weather's 0.2 lost and 0.05 damaged, both ways,
 * 25 in succession get lost once in 10^9 times. */
static void check_unproven(struct world *w, const struct host *h, struct heard_from *from,
                           const struct host *sender, const struct bal_message *message) {
    const uint32_t a = number_of(w, h), b = number_of(w, sender);
    if (message->boot != sender->boot)
        return;
    const bool passes =
        datagrams_pass(w, a, b) && datagrams_pass(w, b, a) && any_view(sender) && !sender->reshaped;
    if (from->unproven_boot != message->boot || !passes)
        from->unproven_count = 0;
    from->unproven_boot = message->boot;
    if (from->unproven_count && (w->now < from->unproven_last + BEAT || h->told < from->unproven_told + BEAT))
        return;
    from->unproven_last = w->now;
    from->unproven_told = h->told;
    /* One that joins may ask only every five beats, and three messages must come through. */
    if (++from->unproven_count > (w->joins ? 400 : 25))
        world_break(w, "host %u does not believe host %u, which has begun again", a, b);
}

/* Which offers are kept for dispatchers other than this one. */
static uint32_t reserved_for_others(const struct world *w, const struct host *h, const struct host *sender,
                                    uint32_t *offered) {
    const struct bal_station *s = any_view(h);
    const uint64_t now = host_now(w, h) > h->told ? host_now(w, h) : h->told;
    uint32_t reserved = 0;
    for (uint32_t i = 0; s && i < w->dispatchers; i++) {
        bal_station_offered(s, w->host[i].id, &offered[i]);
        reserved |= (uint32_t)(&w->host[i] != sender && inside_is_reserved(s, w->host[i].id, now)) << i;
    }
    return reserved;
}

/* Where slots are found there may be fewer than before: then offers are taken back from any that have them.
 */
static void check_reserved(struct world *w, const struct host *h, uint32_t reserved, const uint32_t *before,
                           uint32_t slots_before) {
    if (inside_slots(any_view(h)) < slots_before)
        return;
    for (uint32_t i = 0; i < w->dispatchers; i++) {
        uint32_t now;
        bal_station_offered(any_view(h), w->host[i].id, &now);
        if (reserved >> i & 1 && now < before[i])
            world_break(w, "station %u takes back what it has just offered to dispatcher %u", h->index, i);
    }
}

/* ---- joins ---- */

/* Of a boot that is known from now on; what it was asked stays. */
static void renew(struct heard_from *from, struct heard_from known) {
    memcpy(known.asked, from->asked, sizeof known.asked);
    known.asked_count = from->asked_count;
    known.member = from->member;
    *from = known;
}

/* Does it accept members? */
static bool accepts(const struct world *w, const struct host *h) {
    return is_dispatcher(h) == w->servers_join;
}

static bool is_member(const struct world *w, const struct host *h, const struct host *sender) {
    struct bal_member members[DISPATCHERS_MAX + STATIONS_MAX];
    const void *view = any_view(h);
    if (!view || !w->joins || !accepts(w, h))
        return false;
    const uint32_t count = is_dispatcher(h) ? bal_dispatcher_members(view, members, w->hosts)
                                            : bal_station_members(view, members, w->hosts);
    for (uint32_t i = 0; i < count; i++)
        if (members[i].id == sender->id)
            return true;
    return false;
}

/* What one that is no member says is used only if it is a JOIN with a number that it was asked less than four
 * seconds ago, and no member has left since. */
static void check_join(struct world *w, const struct host *h, const struct heard_from *from,
                       const struct host *sender, const struct bal_message *message,
                       enum bal_receipt receipt) {
    if (is_dispatcher(h) == is_dispatcher(sender) || receipt > BAL_RECEIPT_LATE)
        return;
    if (message->type != BAL_MSG_JOIN || message->join.nonce == 0)
        world_break(w, "host %u uses %s of host %u, which has not joined", number_of(w, h),
                    bal_message_name(message->type), number_of(w, sender));
    for (uint32_t i = 0; i < from->asked_count && i < NUMBERS; i++)
        if (from->asked[i].number == message->join.nonce && h->told < from->asked[i].time + 4000 * MS &&
            from->asked[i].left == h->left)
            return;
    if (!h->torn && from->asked_count <= NUMBERS)
        world_break(w, "host %u lets host %u join by a number that it was not asked", number_of(w, h),
                    number_of(w, sender));
}

/* A challenge has been sent to this host, which is no member. */
static void record_challenge(struct world *w, struct host *h, const struct bal_message *message) {
    const uint32_t number = sender_of(w, message->receiver);
    if (!w->joins || !accepts(w, h) || number == NOBODY || message->type != BAL_MSG_CHALLENGE)
        return;
    struct heard_from *from = &h->from[number];
    for (uint32_t i = 0; i < from->asked_count && i < NUMBERS; i++)
        if (from->asked[i].number == message->nonce.nonce)
            return;
    from->asked[from->asked_count % NUMBERS].number = message->nonce.nonce;
    from->asked[from->asked_count % NUMBERS].time = h->told;
    from->asked[from->asked_count++ % NUMBERS].left = h->left;
}

/* Members that have left since this was last called. */
static void count_departures(struct world *w, struct host *h) {
    for (uint32_t i = 0; w->joins && accepts(w, h) && i < w->hosts; i++) {
        const bool member = is_member(w, h, &w->host[i]);
        h->left += h->from[i].member && !member;
        h->from[i].member = member;
    }
}

void twin_hear(struct world *w, struct host *h, const struct bal_message *message) {
    const uint32_t number = sender_of(w, message->sender);
    if (number == NOBODY) {
        world_hear(w, h, message);
        return;
    }
    const struct host *sender = &w->host[number];
    struct heard_from *from = &h->from[number];
    const bool late = from->boot == message->boot && message->sequence < from->newest;
    const bool matters = late || message->type == BAL_MSG_GRANT || is_dispatcher(h);
    const struct known before = matters ? known_of(w, h, sender) : (struct known){0};
    const bool hunger = !is_dispatcher(h) && message->type == BAL_MSG_BACKLOG;
    uint32_t offered[DISPATCHERS_MAX] = {0};
    const uint32_t reserved = hunger ? reserved_for_others(w, h, sender, offered) : 0;
    const uint32_t slots = reserved ? inside_slots(any_view(h)) : 0;
    if (from->boot != message->boot && is_dispatcher(h) && !is_dispatcher(sender))
        h->declined_until[sender->index] = 0; /* it may have begun again, and then has forgotten that */
    const bool was_member = is_member(w, h, sender), joins = w->joins && accepts(w, h) && !was_member;
    const enum bal_receipt receipt = world_hear(w, h, message);
    if (joins)
        check_join(w, h, from, sender, message, receipt);
    if (is_dispatcher(h) && !is_dispatcher(sender)) /* also if it was heard by one that died of it */
        h->heard[sender->index] = host_now(w, h) > h->told ? host_now(w, h) : h->told;
    if (receipt == BAL_RECEIPTS)
        return;
    const struct known after = matters ? known_of(w, h, sender) : (struct known){0};
    if (!h->reshaped) { /* of a server that has been away everything is new */
        if (late)
            check_late(w, h, message, &before, &after);
        check_receipt(w, h, from, sender, message, receipt);
    }
    if (receipt == BAL_RECEIPT_UNPROVEN)
        check_unproven(w, h, from, sender, message);
    if (reserved)
        check_reserved(w, h, reserved, offered, slots);
    if (receipt != BAL_RECEIPT_FRESH)
        return;
    check_statement(w, h, message, &before, &after);
    const bool is_proof = message->type == BAL_MSG_PROOF || (message->type == BAL_MSG_JOIN && joins);
    if (from->boot != message->boot)
        renew(from, (struct heard_from){.boot = message->boot, .proved = is_proof ? message->sequence : 0});
    from->newest = message->sequence;
}
