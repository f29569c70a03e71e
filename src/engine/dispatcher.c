/* What happens at the dispatchers of the network engine: jobs that come, replies, reports and responses. */
#include "engine/network.h"

#include <stdlib.h>
#include <string.h>

/* Quarantine: after so many failures in a row, for so many mean service times the first time. */
enum { FAILURES = 3, BACK_OFF = 10, BEATS_MISSED = 3 };

static uint32_t fewest_own(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct dispatcher *d = fleet->host;
    const uint32_t ties = bal_by_length_ties(&d->by_own, d->own[d->by_own.order[0]]);
    return d->by_own.order[ties > 1 ? bal_rng_below(rng, ties) : 0];
}

static uint32_t shortest(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct dispatcher *d = fleet->host;
    const struct bal_by_length *index = &d->net->system.by_length;
    const uint32_t ties = bal_by_length_ties(index, fleet->length[index->order[0]]);
    return index->order[ties > 1 ? bal_rng_below(rng, ties) : 0];
}

static uint32_t best_own(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng) {
    struct dispatcher *d = fleet->host;
    return bal_ranking_best(&d->ranking, fleet, rule, rng);
}

static uint32_t fewest_by_weight(struct bal_fleet *fleet, struct bal_rng *rng) {
    return best_own(fleet, BAL_OWN_FEWEST, rng);
}

static uint32_t draw_by_weight(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct dispatcher *d = fleet->host;
    return bal_weights_draw(&d->net->system.weights, rng);
}

/* An index that knows nothing of closed servers answers only while all are open. */
static void set_open(const struct network *net, struct dispatcher *d) {
    const bool all = d->open->count == net->system.servers;
    const bool indexed = all && net->system.features & INDEXED;
    d->fleet.open = all ? NULL : d->open;
    const bool ranked = all && net->system.features & WEIGHED;
    d->fleet.fewest_own = indexed ? fewest_own : ranked ? fewest_by_weight : NULL;
    d->fleet.best_own = ranked ? best_own : NULL;
    d->fleet.draw_by_weight = all ? draw_by_weight : NULL;
    d->fleet.shortest = indexed && !net->takes_time ? shortest : NULL;
}

/* ---- own counts ---- */

static void own_up(struct network *net, struct dispatcher *d, uint32_t server) {
    if (net->system.features & INDEXED && !bal_by_length_up(&d->by_own, server, d->own[server]))
        net->no_memory = true;
    d->own[server]++;
    if (net->system.features & WEIGHED)
        bal_ranking_change(&d->ranking, &d->fleet, server);
}

static void own_down(struct network *net, struct dispatcher *d, uint32_t server) {
    if (net->system.features & INDEXED)
        bal_by_length_down(&d->by_own, server, d->own[server]);
    d->own[server]--;
    if (net->system.features & WEIGHED)
        bal_ranking_change(&d->ranking, &d->fleet, server);
}

void bal_dispatcher_own(struct network *net, uint32_t job) {
    own_up(net, &net->dispatcher[net->job[job].dispatcher], net->job[job].server);
}

/* ---- which servers are open ---- */

static uint32_t held(const struct dispatcher *d) {
    return d->held[0].count + d->held[1].count;
}

static bool is_heard(const struct network *net, const struct dispatcher *d, uint32_t server) {
    return !d->heard || net->now - d->heard[server] <= BEATS_MISSED * net->wire->heartbeat;
}

static void try_held(struct network *net, uint32_t dispatcher);

static void look_at(struct network *net, struct dispatcher *d, uint32_t server) {
    const bool open =
        is_heard(net, d, server) && (!d->quarantine || bal_quarantine_open(d->quarantine, server, net->now));
    if (open == bal_set_contains(d->open, server))
        return;
    if (open)
        bal_set_insert(d->open, server);
    else
        bal_set_remove(d->open, server);
    if (!is_heard(net, d, server))
        d->said[server] = BAL_REPORT_BUSY; /* what it said is too old to be believed when it is back */
    set_open(net, d);
    /* What a closed server says is not believed before it is open again. */
    bal_policy_report(net->spec, d->state, &d->fleet,
                      open ? (enum bal_report)d->said[server] : BAL_REPORT_GONE, server, NULL);
    if (open && held(d))
        try_held(net, (uint32_t)(d - net->dispatcher));
}

void bal_dispatcher_look(struct network *net, uint32_t dispatcher) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    for (uint32_t server = 0; server < net->system.servers; server++)
        look_at(net, d, server);
    double next = d->quarantine ? bal_quarantine_next(d->quarantine, net->now) : INFINITY;
    if (d->heard)
        next = fmin(next, net->now + net->wire->heartbeat);
    d->looks_at = next;
    if (next < INFINITY)
        network_at(net, next, (struct message){.what = AGAIN, .dispatcher = dispatcher});
}

/* An answer may have put the server into quarantine, or have ended it. */
static void judge(struct network *net, uint32_t dispatcher, uint32_t server, bool failed) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    if (!d->quarantine)
        return;
    bal_quarantine_answered(d->quarantine, server, failed, net->now);
    look_at(net, d, server);
    const double until = d->quarantine->server[server].until;
    if (until > net->now && until < d->looks_at) {
        d->looks_at = until;
        network_at(net, until, (struct message){.what = AGAIN, .dispatcher = dispatcher});
    }
}

/* ---- hunger ---- */

/* Tells all servers how many jobs it holds: one message to each. */
static void say_hunger(struct network *net, uint32_t dispatcher) {
    const struct dispatcher *d = &net->dispatcher[dispatcher];
    net->system.tally.totals.reports += net->system.servers;
    network_send(net, (struct message){.what = HUNGRY, .dispatcher = dispatcher, .other = held(d)});
}

/* When it begins or ceases to hold jobs. */
static void tell_hunger(struct network *net, uint32_t dispatcher) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    const bool hungry = held(d) > 0;
    if (hungry == d->hungry || net->dispatchers == 1)
        return;
    d->hungry = hungry;
    say_hunger(net, dispatcher);
}

void bal_dispatcher_hunger(struct network *net, uint32_t dispatcher) {
    network_at(net, net->now + net->wire->heartbeat,
               (struct message){.what = HUNGER, .dispatcher = dispatcher});
    say_hunger(net, dispatcher);
}

/* ---- routing ---- */

static void give_up(struct network *net, uint32_t job, uint64_t *count) {
    (*count)++;
    network_ashore(net);
    bal_network_free_job(net, job);
}

/* A job that nobody has worked on leaves its size to the next one, so that all policies see the same sizes in
 * the same order. */
static void spare(struct network *net, const struct job *j) {
    if (!(net->system.features & RECORDED))
        net->spare_size = j->size;
}

static void send_job(struct network *net, uint32_t job, uint32_t server) {
    struct job *j = &net->job[job];
    struct dispatcher *d = &net->dispatcher[j->dispatcher];
    j->server = server;
    j->sent = net->now;
    j->joined = NAN;
    own_up(net, d, server);
    if (d->quarantine) {
        bal_quarantine_sent(d->quarantine, server);
        look_at(net, d, server);
    }
    network_send_safely(
        net, (struct message){.what = JOB, .server = server, .dispatcher = j->dispatcher, .job = job});
}

/* Probes that nobody waits for. */
static void send_asks(struct network *net, uint32_t dispatcher) {
    struct bal_fleet *fleet = &net->dispatcher[dispatcher].fleet;
    for (uint32_t i = 0; i < fleet->asks; i++)
        network_send(net,
                     (struct message){
                         .what = PROBE, .server = fleet->ask[i], .dispatcher = dispatcher, .other = NOBODY});
    fleet->asks = 0;
}

static void follow(struct network *net, uint32_t job, const struct bal_decision *decision) {
    struct system *system = &net->system;
    struct job *j = &net->job[job];
    const uint32_t dispatcher = j->dispatcher;
    if (decision->wake != BAL_NONE)
        network_send(net, (struct message){.what = WAKE, .server = decision->wake, .dispatcher = dispatcher});
    if (decision->server == BAL_HOLD) {
        bal_list_push(net, &net->dispatcher[dispatcher].held[j->rank], job);
    } else if (decision->server == BAL_NONE) {
        if (j->tries == 0)
            spare(net, j);
        give_up(net, job, j->tries ? &system->tally.totals.failed : &system->tally.totals.refused);
    } else {
        system_check_server(system, net->now, decision->server);
        send_job(net, job, decision->server);
        if (system->features & LANED && decision->move_to != BAL_NONE)
            network_send(net, (struct message){.what = MOVE,
                                               .server = decision->server,
                                               .other = decision->move_to,
                                               .dispatcher = dispatcher});
    }
    send_asks(net, dispatcher);
}

/* Servers at which a job has failed are closed to it alone. */
static void close_tried(struct network *net, struct dispatcher *d, const struct job *j, bool open[TRIES]) {
    for (uint32_t i = 0; i < j->tries && i < TRIES; i++)
        open[i] = bal_set_remove(d->open, j->tried[i]);
    if (j->tries)
        set_open(net, d);
}

static void reopen_tried(struct network *net, struct dispatcher *d, const struct job *j,
                         const bool open[TRIES]) {
    for (uint32_t i = 0; i < j->tries && i < TRIES; i++)
        if (open[i])
            bal_set_insert(d->open, j->tried[i]);
    if (j->tries)
        set_open(net, d);
}

/* Asks the policy; held: of a job that waits here, how many do. */
static struct bal_decision ask_policy(struct network *net, uint32_t job, uint32_t held, bool sampling,
                                      uint32_t *asked) {
    struct system *system = &net->system;
    struct job *j = &net->job[job];
    struct dispatcher *d = &net->dispatcher[j->dispatcher];
    const uint64_t probes = d->fleet.probes;
    const struct bal_job what = {.count = 1, .rank = j->rank, .held = held};
    struct bal_decision decision = {0};
    bool open[TRIES] = {false};
    d->fleet.now = net->now * system->per_unit;
    close_tried(net, d, j, open);
    if (sampling)
        *asked = bal_policy_sample(net->spec, d->state, &d->fleet, &what, &d->rng);
    else
        decision = bal_policy_route(net->spec, d->state, &d->fleet, &what, &d->rng);
    if (j->tries && d->open->count == 0) /* it has failed at all that there are: nothing to wait for */
        decision.server = BAL_NONE;
    reopen_tried(net, d, j, open);
    system->fleet.probes += d->fleet.probes - probes;
    if (system->features & RANKED)
        system->tally.by_class[j->rank].probes += d->fleet.probes - probes;
    return decision;
}

static void route(struct network *net, uint32_t job) {
    const struct bal_decision decision = ask_policy(net, job, 0, false, NULL);
    const uint32_t dispatcher = net->job[job].dispatcher;
    follow(net, job, &decision);
    tell_hunger(net, dispatcher);
}

/* ---- probes that take time ---- */

static struct inquiry *new_inquiry(struct network *net, uint32_t *index) {
    if (net->free_inquiry != NOBODY) {
        *index = net->free_inquiry;
        net->free_inquiry = net->inquiry[*index].next;
        return &net->inquiry[*index];
    }
    struct inquiry *grown = realloc(net->inquiry, (net->inquiries + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    net->inquiry = grown;
    *index = net->inquiries;
    struct inquiry *inquiry = &grown[*index];
    *inquiry = (struct inquiry){.server = malloc(net->system.servers * sizeof *inquiry->server),
                                .reply = malloc(net->system.servers * sizeof *inquiry->reply)};
    net->inquiries++;
    return inquiry->server && inquiry->reply ? inquiry : NULL;
}

/* All replies are there, or no more are waited for. */
static void conclude(struct network *net, uint32_t index) {
    struct inquiry *inquiry = &net->inquiry[index];
    const uint32_t job = inquiry->job;
    struct dispatcher *d = &net->dispatcher[net->job[job].dispatcher];
    for (uint32_t i = 0; i < inquiry->answered; i++) {
        d->length[inquiry->server[i]] = inquiry->reply[i].length;
        d->urgent[inquiry->server[i]] = inquiry->reply[i].urgent;
    }
    d->fleet.sample = inquiry->server;
    d->fleet.samples = inquiry->answered;
    route(net, job);
    d->fleet.sample = NULL;
    inquiry = &net->inquiry[index];
    inquiry->version++;
    inquiry->next = net->free_inquiry;
    net->free_inquiry = index;
}

/* Asks the servers that the policy names, and waits. False: it names none. */
static bool inquire(struct network *net, uint32_t job) {
    struct dispatcher *d = &net->dispatcher[net->job[job].dispatcher];
    uint32_t asked = 0, index;
    ask_policy(net, job, 0, true, &asked);
    d->fleet.asks = 0;
    if (asked == 0)
        return false;
    struct inquiry *inquiry = new_inquiry(net, &index);
    if (!inquiry) {
        net->no_memory = true;
        return true;
    }
    inquiry->job = job;
    inquiry->asked = asked;
    inquiry->answered = 0;
    memcpy(inquiry->server, d->fleet.ask, asked * sizeof *inquiry->server);
    const uint32_t version = inquiry->version;
    for (uint32_t i = 0; i < asked; i++)
        network_send(net, (struct message){.what = PROBE,
                                           .server = d->fleet.ask[i],
                                           .dispatcher = net->job[job].dispatcher,
                                           .other = index,
                                           .version = version});
    network_at(net, net->now + net->timeout,
               (struct message){.what = TIMEOUT, .other = index, .version = version});
    return true;
}

void bal_dispatcher_timeout(struct network *net, const struct message *message) {
    if (net->inquiry[message->other].version == message->version)
        conclude(net, message->other);
}

void bal_dispatcher_take(struct network *net, uint32_t job) {
    if (net->takes_time && net->spec->policy->sample && inquire(net, job))
        return;
    route(net, job);
}

/* After a report that was taken those that wait may have a place. First come, first served within a class,
 * but one that has failed somewhere may have to wait for another server than those behind it. */
static void try_held(struct network *net, uint32_t dispatcher) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t job = d->held[rank].first, next; d->held[rank].count && job != NOBODY; job = next) {
            const struct bal_decision decision = ask_policy(net, job, held(d), false, NULL);
            next = net->job[job].next;
            if (decision.server != BAL_HOLD) {
                bal_list_remove(net, &d->held[rank], job);
                follow(net, job, &decision);
                continue;
            }
            if (decision.wake != BAL_NONE)
                network_send(
                    net, (struct message){.what = WAKE, .server = decision.wake, .dispatcher = dispatcher});
            if (net->job[job].tries == 0)
                break;
        }
    tell_hunger(net, dispatcher);
}

/* ---- what is heard ---- */

static void take_reply(struct network *net, const struct message *message) {
    struct inquiry *inquiry = &net->inquiry[message->other];
    if (inquiry->version != message->version)
        return;
    for (uint32_t i = inquiry->answered; i < inquiry->asked; i++)
        if (inquiry->server[i] == message->server) {
            inquiry->server[i] = inquiry->server[inquiry->answered];
            inquiry->server[inquiry->answered] = message->server;
            inquiry->reply[inquiry->answered++] = message->load;
            break;
        }
    if (inquiry->answered == inquiry->asked)
        conclude(net, message->other);
}

/* The report that says what a heartbeat says. */
static uint8_t stands_for(const struct bal_present *present) {
    switch (present->standing) {
    case BAL_STANDING_ON:
        return present->load.length < present->slots && !present->promised ? BAL_REPORT_IDLE
                                                                           : BAL_REPORT_BUSY;
    case BAL_STANDING_OFF:
        return BAL_REPORT_OFF;
    case BAL_STANDING_SETUP:
        return BAL_REPORT_SETUP;
    case BAL_STANDING_GONE:
        break;
    }
    return BAL_REPORT_GONE;
}

/* What it says is noted before the server is looked at: to the policy one that is opened again by it is what
 * it says now, not what it said before it was closed. */
static void note(struct network *net, struct dispatcher *d, const struct message *message,
                 const struct bal_present *present) {
    if (d->said && message->what == REPORT)
        d->said[message->server] = message->says;
    if (d->said && message->what == PRESENT)
        d->said[message->server] = stands_for(present);
    if (d->heard) {
        d->heard[message->server] = net->now;
        look_at(net, d, message->server);
    }
}

void bal_dispatcher_told(struct network *net, const struct message *message) {
    struct dispatcher *d = &net->dispatcher[message->dispatcher];
    const struct bal_present present = {(enum bal_standing)message->says, net->system.slots, message->load,
                                        message->promised};
    const bool was_open = bal_is_open(&d->fleet, message->server);
    d->fleet.now = net->now * net->system.per_unit;
    note(net, d, message, &present);
    if (message->what == REPLY && message->other != NOBODY) {
        take_reply(net, message);
        return;
    }
    if (!bal_is_open(&d->fleet, message->server))
        return;
    if (!was_open || message->what == REPLY) /* the rest has been told when it was opened */
        bal_policy_report(net->spec, d->state, &d->fleet, BAL_REPORT_LOAD, message->server, &message->load);
    else if (message->what == PRESENT)
        bal_policy_tell(net->spec, d->state, &d->fleet, message->server, &present);
    else
        bal_policy_report(net->spec, d->state, &d->fleet, (enum bal_report)message->says, message->server,
                          &message->load);
    if (held(d))
        try_held(net, message->dispatcher);
}

static void finish(struct network *net, uint32_t job, bool failed) {
    struct system *system = &net->system;
    const struct job *j = &net->job[job];
    const double response = net->now - j->arrival;
    network_ashore(net);
    if (failed) {
        system->tally.totals.failed++;
    } else {
        tally_complete(&system->tally, &system->tally.all, response);
        if (system->features & RANKED)
            tally_complete(&system->tally, &system->tally.by_class[j->rank], response);
        if (system->features & HISTORIED)
            history_complete(&system->history, &system->tally, j->arrival, response);
    }
    bal_network_free_job(net, job);
}

/* It did not fit into the buffer of the server. */
static void lose(struct network *net, uint32_t job) {
    const struct job *j = &net->job[job];
    own_down(net, &net->dispatcher[j->dispatcher], j->server);
    spare(net, j);
    give_up(net, job, &net->system.tally.totals.lost);
}

void bal_dispatcher_answer(struct network *net, const struct message *message) {
    if (message->what == LOST) {
        lose(net, message->job);
        return;
    }
    struct job *j = &net->job[message->job];
    struct dispatcher *d = &net->dispatcher[j->dispatcher];
    const bool gone = message->what == FAILURE, failed = gone || message->says;
    const uint32_t server = j->server, dispatcher = j->dispatcher;
    own_down(net, d, server);
    d->fleet.now = net->now * net->system.per_unit;
    if (net->system.features & OBSERVED)
        bal_policy_response(net->spec, d->state, &d->fleet, server,
                            (net->now - j->sent) * net->system.per_unit, failed);
    judge(net, dispatcher, server, failed);
    if (!gone || net->wire->churn.lose || j->tries + 1 >= TRIES) {
        finish(net, message->job, failed);
    } else {
        j->tried[j->tries++] = server;
        bal_dispatcher_take(net, message->job);
    }
}

/* ---- setting up ---- */

static enum bal_code set_up(struct network *net, uint32_t index, const struct bal_setting *setting) {
    struct dispatcher *d = &net->dispatcher[index];
    const struct system *system = &net->system;
    const uint32_t n = system->servers;
    const struct bal_network *wire = net->wire;
    d->net = net;
    if (index > 0 && !(d->state = malloc(bal_policy_size(net->spec, setting) + 1)))
        return BAL_E_MEMORY;
    if (index == 0)
        d->state = system->state;
    bal_policy_init(net->spec, setting, d->state);
    bal_rng_init(&d->rng, system->run->seed, system->run->replication,
                 BAL_STREAM_POLICY + ((uint64_t)index << 32) + ((uint64_t)system->run->draw << 48));
    d->own = calloc(n, sizeof *d->own);
    d->length = calloc(n, sizeof *d->length);
    d->urgent = calloc(n, sizeof *d->urgent);
    d->open = malloc(bal_set_size(n));
    d->fleet = (struct bal_fleet){.servers = n, .own = d->own, .weight = system->weights.of, .host = d};
    d->fleet.length = net->takes_time ? d->length : system->length;
    d->fleet.urgent = !(system->features & RANKED) ? NULL : net->takes_time ? d->urgent : system->urgent;
    d->fleet.ask = malloc(n * sizeof *d->fleet.ask);
    d->fleet.ask_room = n;
    if (wire->heartbeat > 0)
        d->heard = calloc(n, sizeof *d->heard);
    if (wire->heartbeat > 0 || wire->quarantine)
        d->said = malloc(n);
    if (wire->quarantine && (d->quarantine = malloc(bal_quarantine_size(n))))
        bal_quarantine_init(d->quarantine, n, FAILURES, BACK_OFF / system->per_unit);
    if (!d->own || !d->length || !d->urgent || !d->open || !d->fleet.ask ||
        (wire->heartbeat > 0 && !d->heard) || ((wire->heartbeat > 0 || wire->quarantine) && !d->said) ||
        (wire->quarantine && !d->quarantine) ||
        (system->features & INDEXED && bal_by_length_init(&d->by_own, n)) ||
        (system->features & WEIGHED && bal_ranking_init(&d->ranking, &d->fleet)))
        return BAL_E_MEMORY;
    if (d->said)
        memset(d->said, BAL_REPORT_BUSY, n);
    bal_set_init(d->open, n);
    for (uint32_t server = 0; server < n; server++)
        bal_set_insert(d->open, server);
    set_open(net, d);
    d->held[0] = d->held[1] = (struct list){NOBODY, NOBODY, 0};
    d->looks_at = INFINITY;
    return BAL_OK;
}

enum bal_code bal_dispatchers_init(struct network *net, const struct bal_setting *setting) {
    for (uint32_t i = 0; i < net->dispatchers; i++)
        if (set_up(net, i, setting))
            return BAL_E_MEMORY;
    return BAL_OK;
}

void bal_dispatchers_fini(struct network *net) {
    for (uint32_t i = 0; net->dispatcher && i < net->dispatchers; i++) {
        struct dispatcher *d = &net->dispatcher[i];
        if (i > 0)
            free(d->state);
        bal_by_length_fini(&d->by_own);
        bal_ranking_fini(&d->ranking);
        free(d->own);
        free(d->length);
        free(d->urgent);
        free(d->open);
        free(d->heard);
        free(d->said);
        free(d->quarantine);
        free(d->fleet.ask);
    }
    for (uint32_t i = 0; i < net->inquiries; i++) {
        free(net->inquiry[i].server);
        free(net->inquiry[i].reply);
    }
    free(net->inquiry);
    free(net->dispatcher);
}
