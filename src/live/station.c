/* What a station does: requests that come, run, go elsewhere and leave. */
#include "live/station_private.h"

/* ---- what every operation does ---- */

void bal_station_enter(struct bal_station *s, uint64_t now) {
    struct station_block *block = s->block;
    block->now = now > block->now ? now : block->now;
    const bool died = block->busy;
    __atomic_store_n(&block->busy, 1, __ATOMIC_RELEASE);
    if (__builtin_expect(died, 0)) {
        bal_station_rebuild(s);
        bal_station_call_next(s);
    }
}

const struct bal_message *bal_station_out(struct bal_station *s, uint32_t *count) {
    return bal_outbox_take(&s->box, count);
}

uint32_t bal_station_woken(struct bal_station *s) {
    return bal_outbox_woken(&s->box);
}

const bool *bal_station_wakes(const struct bal_station *s) {
    return &s->box.wakes;
}

uint32_t bal_station_self(const struct bal_station *s) {
    return s->self;
}

static void tell_owner(struct bal_station *s, uint32_t i) {
    const uint32_t owner = job_at(s, i)->entry.owner;
    bal_ledger_push(&s->ledger, &s->owner[owner].news, i);
    bal_outbox_wake(&s->box, owner);
}

/* ---- those that wait ---- */

static void leave_queue(struct bal_station *s, uint32_t i) {
    struct job *j = job_at(s, i);
    j->place = j->entry.order;
    bal_ledger_remove(&s->ledger, &s->block->waiting[j->entry.rank], i);
    s->block->waiting_count--;
}

void bal_station_call_next(struct bal_station *s) {
    struct station_block *block = s->block;
    while (block->power == BAL_POWER_ON && block->waiting_count && block->slots_used < block->config.slots) {
        uint32_t rank = 0;
        while (block->waiting[rank].count == 0)
            rank++;
        const uint32_t i = block->waiting[rank].first;
        leave_queue(s, i);
        block->slots_used++;
        block->counts.ran++;
        tell_owner(s, i);
        bal_entry_set(&job_at(s, i)->entry, CALLED);
    }
}

uint32_t bal_station_give(struct bal_station *s, uint32_t amount, uint32_t lowest_rank, uint64_t target,
                          uint64_t *tickets) {
    struct station_block *block = s->block;
    uint32_t given[BAL_GRANT_MAX], count = 0;
    for (uint32_t rank = block->config.classes; rank-- > lowest_rank;) {
        const struct bal_list *list = &block->waiting[rank];
        while (count < amount && list->count && !job_at(s, list->last)->moved) {
            given[count] = list->last;
            leave_queue(s, given[count++]);
        }
    }
    for (uint32_t k = count; k-- > 0;) { /* in the order in which they came */
        struct job *j = job_at(s, given[k]);
        j->target = target;
        j->moved = 1;
        block->jobs[j->entry.rank]--;
        block->away++;
        block->counts.given++;
        tell_owner(s, given[k]);
        bal_entry_set(&j->entry, GIVEN);
        tickets[count - 1 - k] = bal_ledger_ticket(&s->ledger, given[k]);
    }
    return count;
}

/* ---- requests ---- */

/* Something has left, or a slot is free. */
static void settle(struct bal_station *s) {
    struct station_block *block = s->block;
    bal_station_call_next(s);
    if (block->slots_used + block->waiting_count == 0) {
        block->idle_since = block->now;
        bal_station_steal(s);
    }
    bal_station_offer(s);
}

static bool take_in(struct bal_station *s, uint32_t i, struct bal_station_task *task) {
    struct station_block *block = s->block;
    struct job *j = job_at(s, i);
    if (block->power == BAL_POWER_ON && block->slots_used < block->config.slots) {
        block->slots_used++;
        block->counts.ran++;
        task->verdict = BAL_RUN;
        bal_entry_set(&j->entry, RUNNING);
    } else if (block->waiting_count + block->away < block->config.queue) {
        bal_ledger_push(&s->ledger, &block->waiting[j->entry.rank], i);
        block->waiting_count++;
        task->verdict = BAL_QUEUE;
        bal_entry_set(&j->entry, WAITING);
        bal_station_wake_app(s);
    } else {
        return false;
    }
    block->jobs[j->entry.rank]++;
    return true;
}

void bal_station_arrive(struct bal_station *s, uint64_t now, uint32_t rank, uint64_t dispatcher, bool moved,
                        struct bal_station_task *task) {
    bal_station_enter(s, now);
    struct station_block *block = s->block;
    block->counts.arrived++;
    bal_station_use_offer(s, dispatcher);
    block->expected -= moved && block->expected;
    const uint32_t i = bal_ledger_take(&s->ledger, s->self);
    *task = (struct bal_station_task){.verdict = BAL_FULL};
    if (i != BAL_NOBODY) {
        struct job *j = job_at(s, i);
        j->entry.rank = rank < block->config.classes ? rank : block->config.classes - 1;
        j->moved = moved;
        j->dispatcher = dispatcher;
        j->heir = j->promise = 0;
        j->since = block->now;
        task->ticket = bal_ledger_ticket(&s->ledger, i);
        if (!take_in(s, i, task))
            bal_ledger_drop(&s->ledger, i);
        bal_station_void_offers(s);
    }
    block->counts.full += task->verdict == BAL_FULL;
    station_end(s);
}

/* The request of a ticket that this process has and that is in one of these states; BAL_NOBODY: none. */
static uint32_t find(struct bal_station *s, uint64_t ticket, unsigned states) {
    const uint32_t i = bal_ledger_find(&s->ledger, ticket);
    if (i != BAL_NOBODY && job_at(s, i)->entry.owner == s->self && states >> job_at(s, i)->entry.state & 1)
        return i;
    s->block->counts.void_tickets++;
    return BAL_NOBODY;
}

/* Whatever it was doing, it is not here any longer. */
static void forget(struct bal_station *s, uint32_t i) {
    struct station_block *block = s->block;
    struct job *j = job_at(s, i);
    const enum job_state state = (enum job_state)j->entry.state;
    const bool away = is_away(j), slot = has_slot(j);
    bal_entry_set(&j->entry, BAL_ENTRY_FREE);
    if (state == WAITING)
        leave_queue(s, i);
    if (state == CALLED || state == GIVEN)
        bal_ledger_remove(&s->ledger, &s->owner[j->entry.owner].news, i);
    block->away -= away;
    block->slots_used -= slot;
    block->jobs[j->entry.rank] -= !away;
    bal_ledger_drop(&s->ledger, i);
}

/* What the app has done is remembered: how long it takes, and how much of it fails. */
static void learn(struct bal_station *s, const struct job *j, bool failed) {
    struct station_block *block = s->block;
    block->counts.answered++;
    block->counts.failed += failed;
    block->answers++;
    block->errors += failed;
    pace_learn(&block->pace, (double)(block->now - j->since) * 1e-9,
               block->slots_used + block->waiting_count - 1);
}

bool bal_station_done(struct bal_station *s, uint64_t now, uint64_t ticket, bool failed) {
    bal_station_enter(s, now);
    const uint32_t i = find(s, ticket, 1 << RUNNING | 1 << AWAY);
    if (i != BAL_NOBODY) {
        const uint64_t heir = job_at(s, i)->heir, promise = job_at(s, i)->promise;
        if (job_at(s, i)->entry.state == RUNNING)
            learn(s, job_at(s, i), failed);
        forget(s, i);
        bal_station_call_next(s);
        if (heir)
            bal_station_bequeath(s, heir, promise);
        settle(s);
    }
    station_end(s);
    return i != BAL_NOBODY;
}

bool bal_station_returned(struct bal_station *s, uint64_t now, uint64_t ticket) {
    bal_station_enter(s, now);
    const uint32_t i = find(s, ticket, 1 << AWAY);
    if (i != BAL_NOBODY) {
        struct station_block *block = s->block;
        struct job *j = job_at(s, i);
        block->counts.returned++;
        block->away--;
        block->waiting_count++;
        block->jobs[j->entry.rank]++;
        j->entry.order = j->place;
        bal_ledger_put_back(&s->ledger, &block->waiting[j->entry.rank], i);
        bal_entry_set(&j->entry, WAITING);
        bal_station_wake_app(s);
        bal_station_call_next(s);
    }
    station_end(s);
    return i != BAL_NOBODY;
}

bool bal_station_cancel(struct bal_station *s, uint64_t now, uint64_t ticket) {
    bal_station_enter(s, now);
    const uint32_t i = find(s, ticket, ~0u);
    if (i != BAL_NOBODY) {
        s->block->counts.cancelled++;
        forget(s, i);
        settle(s);
    }
    station_end(s);
    return i != BAL_NOBODY;
}

bool bal_station_news(struct bal_station *s, uint64_t now, struct bal_station_task *task) {
    bal_station_enter(s, now);
    struct bal_list *news = &s->owner[s->self].news;
    const uint32_t i = news->first;
    if (i != BAL_NOBODY) {
        struct job *j = job_at(s, i);
        const bool called = j->entry.state == CALLED;
        *task = (struct bal_station_task){.verdict = called ? BAL_RUN : BAL_FORWARD,
                                          .ticket = bal_ledger_ticket(&s->ledger, i),
                                          .target = called ? 0 : j->target};
        bal_ledger_remove(&s->ledger, news, i);
        bal_entry_set(&j->entry, called ? RUNNING : AWAY);
    }
    station_end(s);
    return i != BAL_NOBODY;
}

/* ---- processes ---- */

enum bal_code bal_station_join(struct bal_station *s, uint64_t now, uint64_t pid, uint64_t start,
                               struct bal_error *err) {
    bal_station_enter(s, now);
    const uint32_t owners = s->block->config.owners;
    s->self = bal_crew_join(s->owner, owners, pid, start);
    station_end(s);
    return s->self != BAL_NOBODY
               ? BAL_OK
               : bal_fail(err, BAL_E_RANGE, "%u processes take part already: the block is for %u", owners,
                          owners);
}

bool bal_station_owner(struct bal_station *s, uint32_t i, uint64_t *pid, uint64_t *start) {
    if (i >= s->block->config.owners || !s->owner[i].used)
        return false;
    *pid = s->owner[i].pid;
    *start = s->owner[i].start;
    return true;
}

void bal_station_reap(struct bal_station *s, uint64_t now, uint32_t owner) {
    bal_station_enter(s, now);
    if (owner < s->block->config.owners && s->owner[owner].used) {
        for (uint32_t i = 0; i < s->ledger.head->capacity; i++) {
            const struct bal_entry *entry = &job_at(s, i)->entry;
            if (entry->state == BAL_ENTRY_FREE || entry->owner != owner)
                continue;
            s->block->counts.reaped++;
            forget(s, i);
        }
        bal_crew_leave(&s->owner[owner]);
        settle(s);
    }
    station_end(s);
}

void bal_station_leave(struct bal_station *s, uint64_t now) {
    bal_station_reap(s, now, s->self);
    s->self = BAL_NOBODY;
}

/* ---- looking at it ---- */

struct bal_station_counts bal_station_counts(const struct bal_station *s) {
    return s->block->counts;
}

struct bal_station_view bal_station_view(const struct bal_station *s) {
    const struct station_block *block = s->block;
    struct bal_station_view view = {.running = block->slots_used,
                                    .waiting = block->waiting_count,
                                    .away = block->away,
                                    .power = block->draining ? BAL_POWER_DRAINING
                                                             : (enum bal_power_state)block->power,
                                    .offered = block->offered};
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++)
        view.jobs[rank] = block->jobs[rank];
    return view;
}
