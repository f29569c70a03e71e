/* What happens at the servers of the network engine: jobs that join and leave, reports, power, failures. */
#include "engine/network.h"

#include <stdlib.h>

/* ---- whom a server tells ---- */

static bool wants(const struct network *net, enum bal_report what) {
    return net->spec->policy->wants >> what & 1;
}

/* What it says of itself. */
static struct bal_reply load_of(const struct network *net, uint32_t server) {
    const struct system *system = &net->system;
    return (struct bal_reply){.length = system->length[server],
                              .urgent = system->urgent ? system->urgent[server] : 0,
                              .latency = pace_latency(&net->station[server].pace, system->length[server])};
}

/* Reports that take back go to all that want any. */
static void tell(struct network *net, uint32_t server, enum bal_report what, uint32_t dispatcher) {
    struct message message = {
        .what = REPORT, .says = (uint8_t)what, .server = server, .dispatcher = dispatcher};
    if (what == BAL_REPORT_LOAD)
        message.load = load_of(net, server);
    net->system.tally.totals.reports++;
    network_send(net, message);
}

static void tell_others(struct network *net, uint32_t server, enum bal_report what, uint32_t but) {
    for (uint32_t d = 0; d < net->dispatchers; d++)
        if (d != but)
            tell(net, server, what, d);
}

/* One that is hungry, if any is known to be; else a uniform one, or that with the fewest tokens of some. */
static uint32_t whom(struct network *net) {
    if (net->dispatchers == 1)
        return 0;
    if (net->hungry->count)
        return bal_set_uniform(net->hungry, &net->wires);
    const uint32_t choices = bal_policy_report_choices(net->spec);
    uint32_t best = bal_rng_below(&net->wires, net->dispatchers);
    for (uint32_t i = 1; i < choices; i++) {
        const uint32_t other = bal_rng_below(&net->wires, net->dispatchers);
        if (bal_policy_tokens(net->spec, net->dispatcher[other].state) <
            bal_policy_tokens(net->spec, net->dispatcher[best].state))
            best = other;
    }
    if (choices > 1)
        net->system.fleet.probes += choices;
    return best;
}

static void say_idle(struct network *net, uint32_t server, enum bal_report what) {
    const uint32_t to = whom(net);
    net->station[server].holder = to;
    tell(net, server, what, to);
    if (what == BAL_REPORT_ON) /* that it is on concerns them all; that it is idle, one */
        tell_others(net, server, BAL_REPORT_BUSY, to);
}

bool bal_station_is_idle(const struct network *net, uint32_t server) {
    return net->station[server].power == ON &&
           net->system.length[server] <= system_room(&net->system, net->system.features);
}

void bal_station_still_idle(struct network *net, uint32_t server) {
    say_idle(net, server, BAL_REPORT_STILL_IDLE);
}

/* ---- states without jobs, and what is counted ---- */

/* Where a server is counted that is not busy; POWER_STATES: it is busy, or nothing is counted. Jobs at one
 * that is not on wait, and do not make it busy. */
static unsigned state_of(const struct network *net, uint32_t server) {
    if (!net->system.tally.powered)
        return POWER_STATES;
    switch (net->station[server].power) {
    case ON:
        return net->system.length[server] ? POWER_STATES : POWER_STANDBY;
    case SETUP:
        return POWER_SETUP;
    case OFF:
    case DOWN:
        break;
    }
    return POWER_OFF;
}

static void count_state(struct network *net, unsigned before, unsigned after) {
    if (before == after)
        return;
    if (before != POWER_STATES)
        tally_power_down(&net->system.tally, net->now, before);
    if (after != POWER_STATES)
        tally_power_up(&net->system.tally, net->now, after);
}

/* The end of its standby or set-up is void. */
static void set_timer(struct network *net, uint32_t server, const struct bal_law *law) {
    struct station *s = &net->station[server];
    s->timer++;
    if (law && isfinite(law->mean))
        network_at(net, net->now + bal_law_sample(law, &net->system.power_rng),
                   (struct message){.what = TIMER, .server = server, .version = s->timer});
}

/* Jobs that have waited at a server which was not on are now at one that is, or the other way round. */
static void count_jobs(struct network *net, uint32_t server, bool on) {
    for (uint32_t k = 1; k <= net->system.length[server]; k++) {
        if (on) {
            network_ashore(net);
            tally_up(&net->system.tally, net->now, k);
        } else {
            tally_down(&net->system.tally, net->now, k);
            network_afloat(net);
        }
    }
}

static void set_idle(struct network *net, uint32_t server) {
    if (!(net->system.features & RATED))
        return;
    if (bal_station_is_idle(net, server))
        bal_set_insert(net->system.idle, server);
    else
        bal_set_remove(net->system.idle, server);
}

static void set_power(struct network *net, uint32_t server, enum power power) {
    struct station *s = &net->station[server];
    const unsigned before = state_of(net, server);
    if ((s->power == ON) != (power == ON))
        count_jobs(net, server, power == ON);
    s->power = power;
    count_state(net, before, state_of(net, server));
    set_idle(net, server);
}

/* A job has joined the server; before it was at none. */
static void count_up(struct network *net, uint32_t server, uint32_t rank) {
    struct system *system = &net->system;
    const unsigned before = state_of(net, server);
    const uint32_t length = ++system->length[server];
    if (system->features & RANKED && rank == 0)
        tally_class_up(&system->tally, net->now, 0, ++system->urgent[server]);
    if (system->features & INDEXED && !bal_by_length_up(&system->by_length, server, length - 1))
        net->no_memory = true;
    if (net->station[server].power == ON) {
        network_ashore(net);
        tally_up(&system->tally, net->now, length);
    }
    set_idle(net, server);
    count_state(net, before, state_of(net, server));
    if (system->features & POWERED && length == 1 && net->station[server].power == ON)
        set_timer(net, server, NULL);
}

/* A job leaves the server and is at none, for a while or for ever. */
static void count_down(struct network *net, uint32_t server, uint32_t rank) {
    struct system *system = &net->system;
    const unsigned before = state_of(net, server);
    const uint32_t left = --system->length[server];
    if (system->features & RANKED && rank == 0)
        tally_class_down(&system->tally, net->now, 0, system->urgent[server]--);
    if (system->features & INDEXED)
        bal_by_length_down(&system->by_length, server, left + 1);
    if (net->station[server].power == ON) {
        tally_down(&system->tally, net->now, left + 1);
        network_afloat(net);
    }
    set_idle(net, server);
    count_state(net, before, state_of(net, server));
    if (net->station[server].power != ON)
        return;
    if (system->features & POWERED && left == 0)
        set_timer(net, server, &net->standby);
    if (system->features & REPORTING && left <= system_room(system, system->features))
        say_idle(net, server, BAL_REPORT_IDLE);
}

/* ---- service ---- */

static void start(struct network *net, uint32_t server, uint32_t job) {
    struct system *system = &net->system;
    struct station *s = &net->station[server];
    struct job *j = &net->job[job];
    s->in_slot[s->running++] = job;
    j->since = net->now;
    j->version++;
    if (system->features & MANY)
        tally_work_up(&system->tally, net->now);
    network_at(net, net->now + (s->fails_fast ? net->sink_time : j->left * s->per_speed),
               (struct message){.what = COMPLETE, .server = server, .job = job, .version = j->version});
    if (j->started)
        return;
    j->started = true;
    const double waiting = net->now - j->arrival;
    for (int class = 0; class < (system->features & RANKED ? 2 : 1); class ++) {
        struct channel *channel = class ? &system->tally.by_class[j->rank] : &system->tally.all;
        if (waiting > 0)
            tally_start(&system->tally, channel, waiting, true);
        else
            channel->immediate++;
    }
}

static void leave_slot(struct network *net, uint32_t server, uint32_t job) {
    struct station *s = &net->station[server];
    uint32_t slot = 0;
    while (s->in_slot[slot] != job)
        slot++;
    s->in_slot[slot] = s->in_slot[--s->running];
    net->job[job].version++;
    if (net->system.features & MANY)
        tally_work_down(&net->system.tally, net->now);
}

/* A low job makes place for a high one and keeps what is left of its work. */
static void interrupt(struct network *net, uint32_t server) {
    struct station *s = &net->station[server];
    const uint32_t job = s->in_slot[0];
    struct job *j = &net->job[job];
    const double done = s->fails_fast ? 0 : (net->now - j->since) / s->per_speed;
    leave_slot(net, server, job);
    j->left = j->left > done ? j->left - done : 0;
    bal_list_push_first(net, &s->waiting[1], job);
}

/* Begins with as many of those that wait as there are free slots. */
static void start_waiting(struct network *net, uint32_t server) {
    struct station *s = &net->station[server];
    while (s->power == ON && s->running < net->system.slots && s->waiting[0].count + s->waiting[1].count) {
        struct list *list = &s->waiting[s->waiting[0].count == 0];
        const uint32_t job = list->first;
        bal_list_remove(net, list, job);
        start(net, server, job);
    }
}

static void begin_setup(struct network *net, uint32_t server, uint32_t but) {
    set_power(net, server, SETUP);
    set_timer(net, server, &net->setup);
    if (net->dispatchers > 1 || net->takes_time)
        tell_others(net, server, BAL_REPORT_SETUP, net->takes_time ? NOBODY : but);
}

static void enter(struct network *net, uint32_t server, uint32_t job) {
    struct station *s = &net->station[server];
    struct job *j = &net->job[job];
    const unsigned features = net->system.features;
    if (isnan(j->joined))
        j->joined = net->now;
    if (features & POWERED && s->power == OFF)
        begin_setup(net, server, NOBODY);
    count_up(net, server, j->rank);
    const bool interrupts = (features & (LANED | HOLDING)) == LANED && j->rank == 0 && s->running > 0 &&
                            net->job[s->in_slot[0]].rank == 1;
    if (interrupts)
        interrupt(net, server);
    if (s->power == ON && s->running < net->system.slots)
        start(net, server, job);
    else
        bal_list_push(net, &s->waiting[features & LANED ? j->rank : 0], job);
    /* Where jobs are held none comes unless it is asked for: not only to the first slot. */
    if (features & MANY && features & REPORTING && net->flags & BAL_MAY_HOLD &&
        bal_station_is_idle(net, server))
        say_idle(net, server, BAL_REPORT_IDLE);
}

void bal_station_begin(struct network *net, uint32_t server, uint32_t job) {
    enter(net, server, job);
}

/* ---- stealing ---- */

/* Takes so many of those that wait from the back, in the order in which they came. */
static uint32_t give(struct network *net, uint32_t from, uint32_t amount, uint32_t to) {
    struct list *list = &net->station[from].waiting[0];
    const uint32_t taken = amount < list->count ? amount : list->count;
    if (taken == 0)
        return 0;
    uint32_t job = list->last;
    for (uint32_t i = 1; i < taken; i++)
        job = net->job[job].before;
    for (uint32_t i = 0; i < taken; i++) {
        const uint32_t next = net->job[job].next;
        bal_list_remove(net, list, job);
        if (net->takes_time)
            network_send_safely(net, (struct message){.what = JOB, .server = to, .job = job});
        else
            enter(net, to, job);
        job = next;
    }
    for (uint32_t i = 0; i < taken; i++)
        count_down(net, from, 0);
    net->system.tally.totals.steals++;
    net->system.tally.totals.stolen += taken;
    return taken;
}

static uint32_t draw_victim(struct network *net, uint32_t server) {
    const bool others = net->model->others;
    uint32_t from = bal_rng_below(&net->stealing, net->system.servers - others);
    from += others && from >= server;
    net->system.fleet.probes++;
    net->system.tally.totals.requests++;
    return from;
}

/* Where messages take no time what it gets is there before its last job is gone, so that it is idle for
 * nobody; else it asks when it is. */
static void steal(struct network *net, uint32_t server) {
    const uint32_t from = draw_victim(net, server);
    if (from == server)
        return;
    if (net->takes_time)
        network_send(net, (struct message){.what = STEAL, .server = from, .other = server});
    else
        give(net, from, bal_steal_amount(&net->model->steal, net->system.length[from]), server);
}

/* ---- what is heard ---- */

static void take_job(struct network *net, const struct message *message) {
    const struct system *system = &net->system;
    const uint32_t server = message->server;
    const struct station *s = &net->station[server];
    const bool full = system->features & BOUNDED && system->length[server] >= system->buffer;
    if (s->power == DOWN || full) {
        network_send_safely(net, (struct message){.what = full ? LOST : FAILURE, .job = message->job});
        return;
    }
    enter(net, server, message->job);
}

static void move(struct network *net, uint32_t from, uint32_t to) {
    struct list *low = &net->station[from].waiting[1];
    if (low->count == 0) /* gone meanwhile, or in service and not to be interrupted */
        return;
    const uint32_t job = low->last;
    bal_list_remove(net, low, job);
    count_down(net, from, 1);
    net->system.tally.totals.moves++;
    network_send_safely(net, (struct message){.what = JOB, .server = to, .job = job});
}

void bal_station_told(struct network *net, const struct message *message) {
    const uint32_t server = message->server;
    struct station *s = &net->station[server];
    switch (message->what) {
    case JOB:
        take_job(net, message);
        break;
    case PROBE:
        if (s->power != DOWN)
            network_send(net, (struct message){.what = REPLY,
                                               .server = server,
                                               .dispatcher = message->dispatcher,
                                               .other = message->other,
                                               .version = message->version,
                                               .load = load_of(net, server)});
        break;
    case WAKE:
        if (s->power == OFF)
            begin_setup(net, server, message->dispatcher);
        break;
    case MOVE:
        move(net, server, message->other);
        break;
    case STEAL:
        give(net, server, bal_steal_amount(&net->model->steal, net->system.length[server]), message->other);
        break;
    default:
        bal_system_broken(&net->system, "a server got a message that is not for servers");
    }
}

void bal_station_complete(struct network *net, const struct message *message) {
    const uint32_t server = message->server, job = message->job;
    struct station *s = &net->station[server];
    struct job *j = &net->job[job];
    if (j->version != message->version)
        return;
    const bool steals = net->system.features & STEALING && net->system.length[server] == 1;
    if (steals && !net->takes_time)
        steal(net, server);
    leave_slot(net, server, job);
    count_down(net, server, j->rank);
    if (net->system.features & ASKING)
        pace_learn(&s->pace, (net->now - j->joined) * net->system.per_unit, net->system.length[server]);
    network_send_safely(
        net,
        (struct message){.what = ANSWER, .dispatcher = j->dispatcher, .job = job, .says = s->fails_fast});
    if (steals && net->takes_time)
        steal(net, server);
    if (net->system.features & LOADED && (bal_station_is_idle(net, server) ||
                                          bal_rng_uniform(&net->system.report_rng) < net->system.load_share))
        tell(net, server, BAL_REPORT_LOAD, whom(net));
    start_waiting(net, server);
}

void bal_station_timer(struct network *net, const struct message *message) {
    const uint32_t server = message->server;
    struct station *s = &net->station[server];
    if (s->timer != message->version)
        return;
    if (s->power == ON) {
        set_power(net, server, OFF);
        tell_others(net, server, BAL_REPORT_OFF, NOBODY);
        return;
    }
    set_power(net, server, ON);
    if (net->system.length[server] == 0) {
        set_timer(net, server, &net->standby);
        say_idle(net, server, BAL_REPORT_ON);
        return;
    }
    tell_others(net, server, BAL_REPORT_BUSY, NOBODY);
    start_waiting(net, server);
}

void bal_station_beat(struct network *net, uint32_t server) {
    static const uint8_t standing[] = {[ON] = BAL_STANDING_ON,
                                       [OFF] = BAL_STANDING_OFF,
                                       [SETUP] = BAL_STANDING_SETUP,
                                       [DOWN] = BAL_STANDING_GONE};
    network_at(net, net->now + net->wire->heartbeat, (struct message){.what = BEAT, .server = server});
    if (net->station[server].power == DOWN)
        return;
    const struct bal_reply load = load_of(net, server);
    const bool one = net->dispatchers > 1 && wants(net, BAL_REPORT_IDLE); /* is told that it is idle */
    for (uint32_t d = 0; d < net->dispatchers; d++) {
        net->system.tally.totals.reports++;
        network_send(net, (struct message){.what = PRESENT,
                                           .says = standing[net->station[server].power],
                                           .server = server,
                                           .dispatcher = d,
                                           .promised = one && net->station[server].holder != d,
                                           .load = load});
    }
    if (net->system.features & STEALING && bal_station_is_idle(net, server))
        steal(net, server);
}

/* ---- failures ---- */

/* Whoever was there hears of it over the connection. */
static void drop_jobs(struct network *net, uint32_t server) {
    struct station *s = &net->station[server];
    while (s->running) {
        const uint32_t job = s->in_slot[0];
        leave_slot(net, server, job);
        bal_list_push_first(net, &s->waiting[0], job);
    }
    for (int lane = 0; lane < 2; lane++)
        while (s->waiting[lane].count) {
            const uint32_t job = s->waiting[lane].first;
            struct job *j = &net->job[job];
            bal_list_remove(net, &s->waiting[lane], job);
            j->started = false;
            j->left = j->size;
            count_down(net, server, j->rank);
            network_send_safely(net, (struct message){.what = FAILURE, .job = job});
        }
}

void bal_station_churn(struct network *net, uint32_t server) {
    const bool fails = net->station[server].power != DOWN;
    const struct bal_churn *churn = &net->wire->churn;
    const double mean = fails ? churn->down : churn->up;
    network_at(net, net->now + mean * bal_rng_exp(&net->churn),
               (struct message){.what = CHURN, .server = server});
    if (fails) {
        set_timer(net, server, NULL);
        set_power(net, server, DOWN);
        net->station[server].holder = NOBODY;
        drop_jobs(net, server);
        return;
    }
    set_power(net, server, ON);
    if (net->system.features & POWERED)
        set_timer(net, server, &net->standby);
    if (wants(net, BAL_REPORT_ON))
        say_idle(net, server, BAL_REPORT_ON);
    else if (wants(net, BAL_REPORT_IDLE))
        say_idle(net, server, BAL_REPORT_IDLE);
}

/* ---- hunger ---- */

/* As many idle servers as it holds jobs, drawn uniformly from those whose token lies elsewhere, take it back
 * there and tell the hungry one. */
void bal_stations_feed(struct network *net, uint32_t dispatcher, uint32_t held) {
    uint32_t chosen[16], found = 0;
    const uint32_t most = held < 16 ? held : 16;
    for (uint32_t server = 0; most && server < net->system.servers; server++) {
        if (!bal_station_is_idle(net, server) || net->station[server].holder == dispatcher)
            continue;
        const uint32_t place = found < most ? found : bal_rng_below(&net->wires, found + 1);
        found++;
        if (place < most)
            chosen[place] = server;
    }
    for (uint32_t i = 0; i < (found < most ? found : most); i++) {
        struct station *s = &net->station[chosen[i]];
        if (s->holder != NOBODY)
            tell(net, chosen[i], BAL_REPORT_BUSY, s->holder);
        s->holder = dispatcher;
        tell(net, chosen[i], BAL_REPORT_IDLE, dispatcher);
    }
}

/* ---- setting up ---- */

enum bal_code bal_stations_init(struct network *net) {
    const struct bal_servers *servers = &net->model->servers;
    const struct system *system = &net->system;
    const uint32_t n = system->servers;
    net->station = calloc(n, sizeof *net->station);
    net->slots = malloc((size_t)n * system->slots * sizeof *net->slots);
    if (!net->station || !net->slots)
        return BAL_E_MEMORY;
    const uint32_t good = n - (uint32_t)lrint(net->wire->sinkhole.share * n);
    uint32_t server = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++, server++) {
            const bool off = system->features & POWERED && !bal_set_contains(system->standby, server);
            const bool setup = off && bal_set_contains(system->setup, server);
            net->station[server] = (struct station){.waiting = {{NOBODY, NOBODY, 0}, {NOBODY, NOBODY, 0}},
                                                    .in_slot = net->slots + (size_t)server * system->slots,
                                                    .power = setup ? SETUP
                                                             : off ? OFF
                                                                   : ON,
                                                    .holder = NOBODY,
                                                    .per_speed = 1 / servers->group[g].speed,
                                                    .fails_fast = server >= good};
        }
    return BAL_OK;
}

void bal_stations_first_timers(struct network *net) {
    const struct system *system = &net->system;
    for (uint32_t i = 0; i < system->standby->count; i++)
        set_timer(net, system->standby->slot[i], &net->standby);
    for (uint32_t i = 0; i < system->setup->count; i++)
        set_timer(net, system->setup->slot[i], &net->setup);
}

void bal_stations_fini(struct network *net) {
    free(net->station);
    free(net->slots);
}
