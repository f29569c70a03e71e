/* The event engine: arrivals of any kind or recorded ones, sizes of any law, servers of any speed, of one or
 * several slots, with or without stealing.
 *
 * Each job gets its size when it arrives, from a stream of its own or from the record, so that every policy
 * sees the same jobs. The next completion of each busy server, or slot, waits in a heap. */
#include "base/heap.h"
#include "base/tournament.h"
#include "engine/engine.h"
#include "engine/system.h"

#include <math.h>
#include <stdlib.h>

enum { ARRIVAL, LEFT, WORDS }; /* the words of a queued job; LEFT is the work that is left of it */

struct event {
    struct system system; /* first: the policy's view of the fleet points to it */
    struct bal_heap completions;
    struct bal_arrival_source arrivals;
    struct bal_rng sizes;
    const struct bal_law *law;
    double *per_speed; /* 1 / speed of each server; NULL when all are 1 */
    double *since;     /* when the service of the current job began or went on (LANED) */
    /* RECORDED */
    struct bal_trace_cursor *cursor;
    struct bal_trace_job recorded; /* the next job; of size 0: there is none */
    int64_t first;                 /* time 0 */
    double seconds;                /* that a nanosecond between arrivals takes: 1e-9 / speedup */
    struct bal_error *err;
    /* for policies that ask for work */
    double *free_at;              /* when each server, or slot, will have finished what it has; or IDLE */
    struct bal_tournament *least; /* by free_at, that of the first slot to be free */
    /* for policies that switch servers off */
    struct bal_heap timers; /* ends of standby and of set-up */
    struct bal_law standby, setup;
    /* FAILING */
    double fails_at;      /* INFINITY: it has happened */
    struct bal_set *open; /* the servers that are left */
    /* STEALING */
    struct bal_rng stealing;
    const struct bal_steal *steal;
    bool others;
    double now;
};

#define IDLE (-1.0)

/* Inlined into every loop, so that features are constants there. */
#define FOLDED static inline __attribute__((always_inline))

/* That slot of a server, of all of them, which is free first. */
static uint32_t free_first(const struct event *event, uint32_t server) {
    const uint32_t slots = event->system.slots, row = server * slots;
    uint32_t first = row;
    for (uint32_t slot = row + 1; slot < row + slots; slot++)
        first = event->free_at[slot] < event->free_at[first] ? slot : first;
    return first;
}

/* The time until a job that comes now would begin. With several slots it is not all that the server has to
 * do, but joining the least of it is still what one common queue does. */
static double work(struct bal_fleet *fleet, uint32_t server) {
    const struct event *event = fleet->host;
    const double left = event->free_at[free_first(event, server)] - event->now;
    return left > 0 ? left : 0;
}

static uint32_t least_work(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct event *event = fleet->host;
    return bal_tournament_draw(event->least, rng);
}

static bool knows_work(const struct event *event) {
    return event->free_at != NULL;
}

static enum bal_code set_up_work(struct event *event, bool plain) {
    struct system *system = &event->system;
    if (!(system->policy->flags & BAL_NEEDS_WORK))
        return BAL_OK;
    const size_t slots = (size_t)system->servers * system->slots;
    event->free_at = malloc(slots * sizeof *event->free_at);
    event->least = malloc(bal_tournament_size(system->servers));
    if (!event->free_at || !event->least)
        return BAL_E_MEMORY;
    bal_tournament_init(event->least, system->servers, IDLE);
    for (size_t slot = 0; slot < slots; slot++)
        event->free_at[slot] = IDLE;
    system->fleet.work = work;
    system->fleet.least_work = plain ? NULL : least_work;
    return BAL_OK;
}

static enum bal_code set_up_speeds(struct event *event, const struct bal_servers *servers) {
    if (servers->groups == 1 && servers->group[0].speed == 1)
        return BAL_OK;
    event->per_speed = malloc(event->system.servers * sizeof *event->per_speed);
    if (!event->per_speed)
        return BAL_E_MEMORY;
    uint32_t server = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++)
            event->per_speed[server++] = 1 / servers->group[g].speed;
    return BAL_OK;
}

static inline double duration(const struct event *event, uint32_t server, double size) {
    return event->per_speed ? size * event->per_speed[server] : size;
}

/* A job goes to the slot that is free first (Kiefer and Wolfowitz 1955): with servers that take jobs as they
 * come this is when it will begin and end, to the last bit. */
static void add_work(struct event *event, uint32_t server, double now, double size) {
    double *free_at = &event->free_at[free_first(event, server)];
    const double start = *free_at > now ? *free_at : now;
    *free_at = start + duration(event, server, size);
    bal_tournament_set(event->least, server, event->free_at[free_first(event, server)]);
}

/* A slot of the server has become free. */
static void end_work(struct event *event, uint32_t server, double now) {
    struct system *system = &event->system;
    uint32_t slot = server * system->slots;
    const uint32_t end = slot + system->slots;
    while (system->slots > 1 && slot < end && event->free_at[slot] != now)
        slot++;
    if (slot == end) {
        system->now = now;
        bal_system_broken(system, "a job ends at another time than was foreseen");
    }
    event->free_at[slot] = IDLE;
    bal_tournament_set(event->least, server, IDLE);
}

/* Counts anew what a server has to do, after jobs have been taken from its queue or added to it. */
static void recount_work(struct event *event, uint32_t server, double now, uint32_t words) {
    const struct system *system = &event->system;
    const uint32_t slots = system->slots, row = server * slots;
    for (uint32_t slot = row; slot < row + slots; slot++) {
        const uint32_t place = event->completions.place[slot];
        event->free_at[slot] = place == BAL_HEAP_ABSENT ? IDLE : event->completions.slot[place].time;
    }
    bal_tournament_set(event->least, server, event->free_at[free_first(event, server)]);
    for (uint32_t k = slots == 1; k < system->queues.length[server]; k++)
        add_work(event, server, now, bal_queues_at(&system->queues, server, words, k)[LEFT].real);
}

/* When the service in a slot ends, or that of a server of one slot. */
FOLDED void set_completion(struct event *event, uint32_t id, double time) {
    if (event->completions.place[id] == BAL_HEAP_ABSENT)
        bal_heap_insert(&event->completions, id, time);
    else
        bal_heap_change(&event->completions, id, time);
}

/* The job at the front of the queue in service is worked on from now on. */
FOLDED void work_on(struct event *event, double now, uint32_t server, const union bal_word *item,
                    unsigned features) {
    if (features & LANED)
        event->since[server] = now;
    set_completion(event, server, now + duration(event, server, item[LEFT].real));
}

/* A low job is interrupted: it keeps what is left of its work. */
static void interrupt(struct event *event, double now, uint32_t server, uint32_t words) {
    union bal_word *item = bal_queues_at(&event->system.queues, 2 * server + 1, words, 0);
    const double spent = now - event->since[server];
    const double done = event->per_speed ? spent / event->per_speed[server] : spent;
    item[LEFT].real = item[LEFT].real > done ? item[LEFT].real - done : 0;
}

/* ---- servers of several slots ---- */

/* Service begins in a slot that is free, or has just become so; nothing was waited for if the job has just
 * come. */
FOLDED void begin_in_slot(struct event *event, double now, uint32_t server, uint32_t slot,
                          union bal_word *item, uint32_t words, unsigned features) {
    struct system *system = &event->system;
    const double waiting = now - item[ARRIVAL].real;
    if (features & RANKED)
        system_serve(system, now, item, words);
    else if (waiting > 0)
        tally_start(&system->tally, &system->tally.all, waiting, true);
    else
        system->tally.all.immediate++;
    tally_work_up(&system->tally, now);
    set_completion(event, slot, now + duration(event, server, item[LEFT].real));
}

/* A job comes to a server: into a slot, if one is free, else into the queue. */
FOLDED enum bal_code enter_many(struct event *event, double now, uint32_t server, uint32_t rank,
                                const union bal_word *job, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), before = system->length[server];
    const bool begins = before < system->slots;
    const uint32_t slot = begins ? system->vacant[server * system->slots + system->slots - before - 1] : 0;
    union bal_word *item = begins ? system->in_slot + (size_t)slot * words
                                  : system_push(system, now, server, rank, words, features);
    if (!item || (begins && !system_count_up(system, now, server, rank, features)))
        return BAL_E_MEMORY;
    for (uint32_t i = 0; i < words; i++)
        item[i] = job[i];
    if (begins)
        begin_in_slot(event, now, server, slot, item, words, features);
    return BAL_OK;
}

/* The job in a slot is complete; the next one, if any waits, takes its place. */
FOLDED void complete_many(struct event *event, double now, uint32_t slot, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), slots = system->slots, server = slot / slots;
    union bal_word *item = system->in_slot + (size_t)slot * words;
    const double arrival = item[ARRIVAL].real;
    const uint32_t rank = system_measure(system, now, item, words, features);
    const uint32_t left = system_count_down(system, now, server, rank, features);
    if (features & (OBSERVED | ASKING | LOADED))
        system_after(system, now, server, arrival, left, features);
    tally_work_down(&system->tally, now);
    if (left < slots) {
        system->vacant[server * slots + slots - left - 1] = slot;
        bal_heap_remove(&event->completions, slot);
        if (knows_work(event))
            end_work(event, server, now);
        return;
    }
    const uint32_t lane = features & LANED ? 2 * server + (system->queues.length[2 * server] == 0) : server;
    const union bal_word *next = bal_queues_at(&system->queues, lane, words, 0);
    for (uint32_t i = 0; i < words; i++)
        item[i] = next[i];
    bal_queues_drop(&system->queues, lane);
    begin_in_slot(event, now, server, slot, item, words, features);
}

/* Takes the last low job that waits at one server to another. Those in service stay. */
static inline enum bal_code move_many(struct event *event, double now, uint32_t from, uint32_t to,
                                      unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), lane = 2 * from + 1;
    const uint32_t low = system->queues.length[lane];
    system_check_server(system, now, to);
    if (low == 0)
        return BAL_OK;
    union bal_word job[WORDS + 1];
    for (uint32_t i = 0; i < words; i++)
        job[i] = bal_queues_at(&system->queues, lane, words, low - 1)[i];
    bal_queues_drop_back(&system->queues, lane);
    system_count_down(system, now, from, 1, features);
    system->tally.totals.moves++;
    return enter_many(event, now, to, 1, job, features);
}

/* ---- arrivals and completions ---- */

/* A job, or a task of one, joins a server; if it is first there its service begins. */
FOLDED enum bal_code join(struct event *event, double now, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    if (!system_admits(system, server, features))
        return BAL_OK;
    const uint32_t words = item_words(WORDS, features);
    const uint32_t rank = system->job.rank;
    const double size =
        features & RECORDED ? (double)event->recorded.size * 1e-9 : bal_law_sample(event->law, &event->sizes);
    if (features & MANY) {
        const union bal_word job[WORDS + 1] = {
            {.real = now}, {.real = size}, {.bits = rank | system->kind_tag}};
        if (knows_work(event))
            add_work(event, server, now, size);
        return enter_many(event, now, server, rank, job, features);
    }
    const uint32_t before = system->length[server];
    const bool interrupts = (features & (LANED | HOLDING)) == LANED && rank == 0 && before > 0 &&
                            system->queues.length[2 * server] == 0;
    if (interrupts)
        interrupt(event, now, server, words);
    union bal_word *item = system_push(system, now, server, rank, words, features);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = now;
    item[LEFT].real = size;
    if (knows_work(event))
        add_work(event, server, now, size);
    if (!(features & RANKED))
        tally_join(&system->tally, before + 1);
    if (before > 0 && !interrupts)
        return BAL_OK;
    if (features & HOLDING)
        system->serving[server] = (uint8_t)rank;
    if (features & RANKED)
        system_serve(system, now, item, words);
    work_on(event, now, server, item, features);
    return BAL_OK;
}

static inline enum bal_code move(struct event *event, double now, uint32_t from, uint32_t to,
                                 unsigned features) {
    struct system *system = &event->system;
    if (features & MANY)
        return move_many(event, now, from, to, features);
    const uint32_t words = item_words(WORDS, features);
    union bal_word *item;
    if (!system_move(system, now, from, to, words, features, &item))
        return BAL_E_MEMORY;
    if (!item || system->length[to] > 1)
        return BAL_OK;
    if (features & HOLDING)
        system->serving[to] = 1;
    system_serve(system, now, item, words);
    work_on(event, now, to, item, features);
    return BAL_OK;
}

FOLDED enum bal_code arrive(struct event *event, double now, unsigned features) {
    struct system *system = &event->system;
    const bool single = !(features & BURSTY) || event->arrivals.first; /* a batch is real as a whole */
    if (features & VARYING && single && !system_arrival_is_real(system, now)) {
        bal_arrival_source_drop(&event->arrivals);
        return BAL_OK;
    }
    event->now = now;
    if ((features & (RECORDED | RANKED)) == (RECORDED | RANKED))
        system->job.rank = !event->recorded.high;
    if (features & KINDED)
        system->kind_tag = (uint64_t)event->recorded.kind << TAG_KIND;
    const struct bal_decision decision = system_route(system, now, features);
    enum bal_code code = BAL_OK;
    if (features & TASKS && decision.parts) {
        system_check_parts(system, now, decision.parts);
        for (uint32_t part = 0; part < decision.parts; part++)
            for (uint32_t i = 0; i < system->fleet.shares[part].count && !code; i++)
                code = join(event, now, system->fleet.shares[part].server, features);
        return code;
    }
    for (uint32_t i = 0; i < (features & TASKS ? system->job.count : 1) && !code; i++)
        code = join(event, now, decision.server, features);
    if (features & LANED && decision.move_to != BAL_NONE && !code)
        code = move(event, now, decision.server, decision.move_to, features);
    return code;
}

/* The last job of a server is complete, but still there: the server asks another once, and what it gets
 * queues behind that job. So it goes from one job to the next, and is idle for nobody. If it gets nothing it
 * waits for what the dispatcher sends and does not ask again. *victim: who lost jobs, or BAL_NONE. */
FOLDED enum bal_code steal(struct event *event, double now, uint32_t server, uint32_t *victim,
                           unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features);
    *victim = BAL_NONE;
    uint32_t from = bal_rng_below(&event->stealing, system->servers - event->others);
    from += event->others && from >= server;
    system->fleet.probes++;
    system->tally.totals.requests++;
    /* Its own job is done, so that a server that asks itself gets nothing. */
    const uint32_t amount = from == server ? 0 : bal_steal_amount(event->steal, system->length[from]);
    const uint32_t queue = system->queues.length[from];
    const uint32_t taken = amount < queue ? amount : queue; /* MANY: only those that wait */
    if (taken == 0)
        return BAL_OK;
    for (uint32_t k = queue - taken; k < queue; k++) {
        union bal_word job[WORDS + 1];
        for (uint32_t i = 0; i < words; i++)
            job[i] = bal_queues_at(&system->queues, from, words, k)[i];
        if (features & MANY) {
            const enum bal_code code = enter_many(event, now, server, 0, job, features);
            if (code)
                return code;
            continue;
        }
        union bal_word *item = system_push(system, now, server, 0, words, features);
        if (!item)
            return BAL_E_MEMORY;
        for (uint32_t i = 0; i < words; i++)
            item[i] = job[i];
    }
    for (uint32_t k = 0; k < taken; k++) {
        bal_queues_drop_back(&system->queues, from);
        system_count_down(system, now, from, 0, features);
    }
    system->tally.totals.steals++;
    system->tally.totals.stolen += taken;
    *victim = from;
    return BAL_OK;
}

FOLDED void complete_one(struct event *event, double now, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features);
    if (system_complete(system, now, server, words, features) > 0) {
        work_on(event, now, server, system_next(system, now, server, words, features), features);
        return;
    }
    bal_heap_remove(&event->completions, server);
    if (knows_work(event))
        end_work(event, server, now);
}

FOLDED enum bal_code complete(struct event *event, double now, unsigned features) {
    struct system *system = &event->system;
    const uint32_t id = event->completions.slot[0].id;
    const uint32_t server = features & MANY ? id / system->slots : id;
    uint32_t victim = BAL_NONE;
    if (features & STEALING && system->length[server] == 1) {
        const enum bal_code code = steal(event, now, server, &victim, features);
        if (code)
            return code;
    }
    if (features & MANY)
        complete_many(event, now, id, features);
    else
        complete_one(event, now, id, features);
    if (features & STEALING && victim != BAL_NONE && knows_work(event)) {
        recount_work(event, victim, now, item_words(WORDS, features));
        recount_work(event, server, now, item_words(WORDS, features));
    }
    return BAL_OK;
}

/* A server begins to stand by or to be set up, or leaves standby for a job (state POWER_STATES). */
static void power_timer(struct system *system, uint32_t server, double now, unsigned state) {
    struct event *event = (struct event *)system;
    if (state == POWER_STATES) {
        if (event->timers.place[server] != BAL_HEAP_ABSENT)
            bal_heap_remove(&event->timers, server);
        return;
    }
    const struct bal_law *law = state == POWER_STANDBY ? &event->standby : &event->setup;
    if (isfinite(law->mean)) /* a standby without end needs no timer */
        bal_heap_insert(&event->timers, server, now + bal_law_sample(law, &system->power_rng));
}

/* The timers that run out before the next event. */
static enum bal_code run_timers(struct event *event, double until) {
    struct system *system = &event->system;
    while (event->timers.count > 0 && event->timers.slot[0].time < until) {
        const struct bal_pending first = event->timers.slot[0];
        const enum bal_code code = system_reach(system, first.time);
        if (code)
            return code;
        bal_heap_remove(&event->timers, first.id);
        if (bal_set_contains(system->setup, first.id))
            system_end_setup(system, first.time, first.id);
        else
            system_switch_off(system, first.time, first.id);
    }
    return BAL_OK;
}

/* The laws of standby and set-up: the model's, or else exponential at the policy's rates. */
static enum bal_code set_up_timers(struct event *event, const struct bal_model *model) {
    struct system *system = &event->system;
    if (!(system->features & POWERED))
        return BAL_OK;
    if (bal_heap_init(&event->timers, system->servers))
        return BAL_E_MEMORY;
    bal_law_parse("exp", &event->standby, NULL);
    event->setup = event->standby;
    if (model->standby.mean > 0)
        event->standby = model->standby;
    else if (system->standby_rate > 0)
        bal_law_scale(&event->standby, 1 / system->standby_rate);
    else
        event->standby.mean = INFINITY;
    if (model->setup.mean > 0)
        event->setup = model->setup;
    else
        bal_law_scale(&event->setup, 1 / system->setup_rate);
    system->power_timer = power_timer;
    for (uint32_t i = 0; i < system->standby->count; i++)
        power_timer(system, system->standby->slot[i], 0, POWER_STANDBY);
    for (uint32_t i = 0; i < system->setup->count; i++)
        power_timer(system, system->setup->slot[i], 0, POWER_SETUP);
    return BAL_OK;
}

/* ---- servers that fail ---- */

/* Jobs of servers that are gone, on their way to others. */
struct stranded {
    union bal_word *job;
    size_t count, room;
};

static bool strand(struct stranded *stranded, const union bal_word *job, uint32_t words) {
    if (stranded->count == stranded->room) {
        const size_t room = stranded->room ? 2 * stranded->room : 64;
        union bal_word *jobs = realloc(stranded->job, room * (WORDS + 1) * sizeof *jobs);
        if (!jobs)
            return false;
        stranded->job = jobs;
        stranded->room = room;
    }
    union bal_word *to = stranded->job + stranded->count++ * (WORDS + 1);
    for (uint32_t i = 0; i < words; i++)
        to[i] = job[i];
    return true;
}

static uint32_t rank_of(const union bal_word *job, unsigned features) {
    return features & RANKED ? job[WORDS].bits & TAG_RANK : 0;
}

/* Takes all jobs off a server, of which nothing is heard any more. */
static bool take_jobs(struct event *event, double now, uint32_t server, struct stranded *stranded,
                      unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), slots = system->slots;
    const unsigned silent = features & ~(unsigned)(REPORTING | RATED | POWERED);
    for (uint32_t slot = server * slots; slot < (server + 1) * slots; slot++) {
        if (event->completions.place[slot] == BAL_HEAP_ABSENT)
            continue;
        bal_heap_remove(&event->completions, slot);
        if (!(features & MANY))
            continue;
        const union bal_word *job = system->in_slot + (size_t)slot * words;
        if (!strand(stranded, job, words))
            return false;
        tally_work_down(&system->tally, now);
        system_count_down(system, now, server, rank_of(job, features), silent);
    }
    const uint32_t lanes = features & LANED ? 2 : 1;
    for (uint32_t lane = server * lanes; lane < (server + 1) * lanes; lane++)
        while (system->queues.length[lane] > 0) {
            const union bal_word *job = bal_queues_at(&system->queues, lane, words, 0);
            if (!strand(stranded, job, words))
                return false;
            bal_queues_drop(&system->queues, lane);
            system_count_down(system, now, server,
                              rank_of(stranded->job + (stranded->count - 1) * (WORDS + 1), features), silent);
        }
    return true;
}

/* The server, which has no jobs left, is gone: for the dispatcher, who is told, and for the power it drew. */
static void close_server(struct event *event, double now, uint32_t server, bool was_busy, unsigned features) {
    struct system *system = &event->system;
    bal_set_remove(event->open, server);
    if (features & RATED)
        bal_set_remove(system->idle, server);
    if (features & POWERED && !was_busy) {
        const bool standby = bal_set_remove(system->standby, server);
        const bool setup = !standby && bal_set_remove(system->setup, server);
        if (event->timers.place[server] != BAL_HEAP_ABSENT)
            bal_heap_remove(&event->timers, server);
        if (standby || setup)
            tally_power_change(&system->tally, now, standby ? POWER_STANDBY : POWER_SETUP, POWER_OFF);
    } else {
        tally_power_up(&system->tally, now, POWER_OFF);
    }
    if (knows_work(event)) {
        for (uint32_t slot = server * system->slots; slot < (server + 1) * system->slots; slot++)
            event->free_at[slot] = INFINITY;
    }
    if (system->policy->wants)
        system->policy->report(system->state, &system->fleet, BAL_REPORT_GONE, server, NULL);
}

/* A job that was elsewhere joins a server, with the time at which it first came. */
static enum bal_code join_again(struct event *event, double now, uint32_t server, const union bal_word *job,
                                unsigned features) {
    struct system *system = &event->system;
    if (!system_admits(system, server, features))
        return BAL_OK;
    const uint32_t words = item_words(WORDS, features), rank = rank_of(job, features);
    if (knows_work(event))
        add_work(event, server, now, job[LEFT].real);
    if (features & MANY)
        return enter_many(event, now, server, rank, job, features);
    const uint32_t before = system->length[server];
    union bal_word *item = system_push(system, now, server, rank, words, features);
    if (!item)
        return BAL_E_MEMORY;
    for (uint32_t i = 0; i < words; i++)
        item[i] = job[i];
    if (before > 0)
        return BAL_OK;
    if (features & HOLDING)
        system->serving[server] = (uint8_t)rank;
    if (features & RANKED)
        system_serve(system, now, item, words);
    else
        tally_start(&system->tally, &system->tally.all, now - item[ARRIVAL].real, true);
    work_on(event, now, server, item, features);
    return BAL_OK;
}

static enum bal_code dispatch_again(struct event *event, double now, const union bal_word *job,
                                    unsigned features) {
    struct system *system = &event->system;
    event->now = now;
    system->job.rank = rank_of(job, features);
    const struct bal_decision decision = system_route(system, now, features);
    enum bal_code code = join_again(event, now, decision.server, job, features);
    if (features & LANED && decision.move_to != BAL_NONE && !code)
        code = move(event, now, decision.server, decision.move_to, features);
    return code;
}

/* The last servers of the fleet fail, all at once; then their jobs go to those that are left. */
static enum bal_code fail_servers(struct event *event, double now, unsigned features) {
    struct system *system = &event->system;
    const uint32_t left = system->servers - system->run->failing;
    struct stranded stranded = {0};
    enum bal_code code = BAL_OK;
    system->fleet.open = event->open;
    for (uint32_t server = left; server < system->servers && !code; server++) {
        const bool was_busy = system->length[server] > 0;
        if (!take_jobs(event, now, server, &stranded, features))
            code = BAL_E_MEMORY;
        else
            close_server(event, now, server, was_busy, features);
    }
    for (size_t i = 0; i < stranded.count && !code; i++)
        code = dispatch_again(event, now, stranded.job + i * (WORDS + 1), features);
    free(stranded.job);
    event->fails_at = INFINITY;
    return code;
}

static enum bal_code set_up_failure(struct event *event, const struct bal_run *run) {
    event->fails_at = run->failing > 0 ? run->fail_at : INFINITY;
    if (run->failing == 0)
        return BAL_OK;
    const uint32_t servers = event->system.servers;
    event->open = malloc(bal_set_size(servers));
    if (!event->open)
        return BAL_E_MEMORY;
    bal_set_init(event->open, servers);
    for (uint32_t server = 0; server < servers; server++)
        bal_set_insert(event->open, server);
    return BAL_OK;
}

/* ---- the loop ---- */

/* The time of the next arrival after `now`; INFINITY: there is none. */
FOLDED enum bal_code next_arrival(struct event *event, double now, double *next, unsigned features) {
    if (features & BURSTY) {
        *next = bal_arrival_source_next(&event->arrivals, now);
        return BAL_OK;
    }
    if (!(features & RECORDED)) {
        *next = now + bal_rng_exp(&event->arrivals.rng) * event->arrivals.mean_gap;
        return BAL_OK;
    }
    const enum bal_code code = bal_trace_next(event->cursor, &event->recorded, event->err);
    const uint64_t since = (uint64_t)event->recorded.time - (uint64_t)event->first; /* may be above 2^63 */
    *next = event->recorded.size > 0 ? (double)since * event->seconds : INFINITY;
    return code;
}

/* What servers do by themselves between two steps of the loop. */
FOLDED enum bal_code between(struct event *event, double before, double now, unsigned features) {
    enum bal_code code = BAL_OK;
    if (features & RATED)
        code = system_report(&event->system, before, now);
    if (features & POWERED && !code)
        code = run_timers(event, now);
    return code;
}

/* No recorded job is left. Servers that switch off or report do so until the end of the run. */
static enum bal_code drained(struct event *event, double last, unsigned features) {
    struct system *system = &event->system;
    const double end = fmax(last, system->run->time);
    const enum bal_code code = between(event, last, end, features);
    return code ? code : bal_system_drained(system, end);
}

FOLDED enum bal_code loop(struct event *event, const unsigned features) {
    struct system *system = &event->system;
    double arrives;
    enum bal_code code = next_arrival(event, 0, &arrives, features);
    for (double before = 0; !code;) {
        const double completes = event->completions.count ? event->completions.slot[0].time : INFINITY;
        const bool arrival = arrives < completes;
        const double next = arrival ? arrives : completes;
        if (features & RECORDED && next == INFINITY)
            return drained(event, before, features);
        const bool fails = features & FAILING && event->fails_at <= next;
        const double now = fails ? event->fails_at : next;
        code = between(event, before, now, features);
        if (__builtin_expect(code || (code = system_reach(system, now)), 0))
            return code;
        before = now;
        if (fails) {
            code = fail_servers(event, now, features);
        } else if (arrival) {
            code = arrive(event, now, features);
            if (features & ASKING)
                system_answer(system);
            if (!code)
                code = next_arrival(event, now, &arrives, features);
        } else {
            code = complete(event, now, features);
        }
    }
    return code;
}

static enum bal_code join_first(struct system *system, uint32_t server) {
    return join((struct event *)system, 0, server, system->features);
}

/* Each in a function of its own, which the compiler does better than several in one. */
#define LOOP(name, features)                                                                                 \
    static __attribute__((noinline)) enum bal_code name(struct event *event) {                               \
        return loop(event, features);                                                                        \
    }
LOOP(loop_plain, 0)
LOOP(loop_indexed, INDEXED)
LOOP(loop_reporting, REPORTING)
LOOP(loop_recorded, RECORDED)
LOOP(loop_usual, event->system.features & ~(unsigned)UNUSUAL)
LOOP(loop_any, event->system.features)

static enum bal_code run_loop(struct event *event) {
    const unsigned features = event->system.features & ~(unsigned)MIXED;
    if (event->system.run->plain)
        return loop_any(event);
    switch (features) {
    case 0:
        return loop_plain(event);
    case INDEXED:
        return loop_indexed(event);
    case REPORTING:
        return loop_reporting(event);
    case RECORDED:
        return loop_recorded(event);
    default:
        return features & UNUSUAL ? loop_any(event) : loop_usual(event);
    }
}

static enum bal_code set_up_trace(struct event *event, const struct bal_run *run, struct bal_error *err) {
    if (!run->trace)
        return BAL_OK;
    event->err = err;
    event->first = bal_trace_info(run->trace)->first;
    event->seconds = 1e-9 / (run->speedup > 0 ? run->speedup : 1);
    const enum bal_code code = bal_trace_cursor_new(run->trace, &event->cursor, err);
    if (!code) /* every policy of a replication sees the same draw */
        bal_trace_cursor_redraw(event->cursor, &event->arrivals.rng);
    return code;
}

static enum bal_code set_up(struct event *event, const struct bal_model *model, const struct bal_run *run) {
    const struct system *system = &event->system;
    event->law = &model->size;
    const double mean_gap =
        system->per_most * (model->tasks > 1 ? model->tasks : 1) / bal_model_arrival_rate(model);
    struct bal_rng arrivals;
    bal_rng_init(&arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_arrival_source_init(&event->arrivals, &model->arrivals, mean_gap, &arrivals);
    event->steal = &model->steal;
    event->others = model->others;
    bal_rng_init(&event->sizes, run->seed, run->replication, BAL_STREAM_SIZES);
    bal_rng_init(&event->stealing, run->seed, run->replication, BAL_STREAM_STEALING);
    event->since = system->features & LANED ? calloc(system->servers, sizeof *event->since) : NULL;
    if (bal_heap_init(&event->completions, system->servers * system->slots) ||
        set_up_work(event, run->plain || run->failing > 0) || set_up_speeds(event, &model->servers) ||
        set_up_timers(event, model) || set_up_failure(event, run) ||
        (system->features & LANED && !event->since))
        return BAL_E_MEMORY;
    return BAL_OK;
}

enum bal_code bal_engine_event(const struct bal_model *model, const struct bal_policy_spec *policy,
                               const struct bal_run *run, struct bal_trial *trial, struct bal_error *err) {
    struct event *event = calloc(1, sizeof *event);
    if (!event)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    enum bal_code code = bal_system_init(&event->system, model, policy, run, WORDS, err);
    if (code)
        goto out;
    code = set_up(event, model, run);
    if (!code)
        code = set_up_trace(event, run, err);
    if (!code)
        code = bal_system_begin(&event->system, join_first);
    if (!code)
        code = run_loop(event);
    code = bal_system_end(&event->system, code, trial, err);
    bal_system_fini(&event->system);
out:
    bal_trace_cursor_free(event->cursor);
    bal_heap_fini(&event->completions);
    bal_heap_fini(&event->timers);
    free(event->least);
    free(event->free_at);
    free(event->per_speed);
    free(event->since);
    free(event->open);
    free(event);
    return code;
}
