/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations of a station: requests that come, run, are moved and end. */
#include "live/station_private.h"
#include "policy/hold_place.h"

/* ---- what every operation does ---- */

/* Where slots are found: time has passed with what is there, and there may be more or fewer slots now.
 * More are offered when the next request ends, as those that become free. */
static void pass_time(struct bal_station *s) {
    struct station_block *block = s->block;
    const uint32_t before = slots_now(block);
    bli_concurrency_pass(&block->concurrency, block->now, block->slots_used, block->waiting_count);
    if (slots_now(block) > before)
        bli_station_start_next(s);
    else if (slots_now(block) < before)
        bli_station_retract_offers(s);
}

void bli_station_enter(struct bal_station *s, uint64_t now) {
    struct station_block *block = s->block;
    block->now = now > block->now ? now : block->now;
    const bool died = block->busy;
    __atomic_store_n(&block->busy, 1, __ATOMIC_RELEASE);
    if (__builtin_expect(died, 0)) {
        bli_station_rebuild(s);
        bli_station_start_next(s);
    }
    if (block->config.min_slots)
        pass_time(s);
}

const struct bal_message *bal_station_outgoing(struct bal_station *s, uint32_t *count) {
    return bli_outbox_drain(&s->box, count);
}

uint32_t bal_station_next_to_wake(struct bal_station *s) {
    return bli_outbox_next_to_wake(&s->box);
}

const bool *bal_station_wake_pending(const struct bal_station *s) {
    return &s->box.wakes;
}

uint32_t bal_station_worker_number(const struct bal_station *s) {
    return s->self;
}

static void notify_owner(struct bal_station *s, uint32_t i) {
    const uint32_t owner = job_at(s, i)->entry.owner;
    bli_ledger_push(&s->ledger, &s->worker[owner].news, i);
    bli_outbox_wake(&s->box, owner);
}

/* ---- those that wait ---- */

static void remove_from_queue(struct bal_station *s, uint32_t i) {
    struct station_job *j = job_at(s, i);
    j->place = j->entry.order;
    bli_ledger_remove(&s->ledger, &s->block->waiting[j->entry.rank], i);
    if (--s->block->waiting_count == 0)
        drain_rate_end(&s->block->drain_rate);
}

/* Its process learns that it may not wait any longer. */
static void turn_away(struct bal_station *s, uint32_t i) {
    struct station_job *j = job_at(s, i);
    remove_from_queue(s, i);
    s->block->jobs[j->entry.rank]--;
    notify_owner(s, i);
    bli_ledger_entry_set(&j->entry, TURNED_AWAY);
}

/* Is there a place in the queue for one more of that class? One that is less urgent may give up its own. */
static bool make_place(struct bal_station *s, uint32_t rank) {
    struct station_block *block = s->block;
    const struct bal_station_config *config = &block->config;
    const uint32_t taken = block->waiting_count + block->away;
    uint32_t waiting[BAL_CLASSES_MAX];
    for (uint32_t class = 0; class < config->classes; class ++)
        waiting[class] = block->waiting[class].count;
    const uint32_t place = hold_place(waiting, config->classes, rank, config->class_limit[rank].waiting,
                                      taken < config->queue ? config->queue - taken : 0);
    if (place == BLI_PLACE_NONE || place == BLI_PLACE_FREE)
        return place == BLI_PLACE_FREE;
    const uint32_t i = block->waiting[place].last;
    block->counts.full++;
    block->counts.replaced++;
    turn_away(s, i);
    return true;
}

/* When a waiting request of that class may not wait any longer; within a class, that of the first one is the
 * earliest. */
static uint64_t latest_start(const struct bal_station *s, uint32_t i) {
    const struct bal_station_config *config = &s->block->config;
    const uint64_t own_ns = config->class_limit[job_at(s, i)->entry.rank].wait_ns;
    const uint64_t wait_ns = own_ns ? own_ns : config->queue_ns;
    return wait_ns ? job_at(s, i)->since + wait_ns : NEVER;
}

uint64_t bli_station_refuse_overdue(struct bal_station *s) {
    struct station_block *block = s->block;
    uint64_t next = NEVER;
    for (uint32_t rank = 0; rank < block->config.classes; rank++) {
        const struct bli_list *list = &block->waiting[rank];
        while (list->count && latest_start(s, list->first) <= block->now) {
            block->counts.overdue++;
            turn_away(s, list->first);
        }
        if (list->count && latest_start(s, list->first) < next)
            next = latest_start(s, list->first);
    }
    return next;
}

void bli_station_start_next(struct bal_station *s) {
    struct station_block *block = s->block;
    while (block->power == BAL_POWER_ON && block->waiting_count && block->slots_used < slots_now(block)) {
        uint32_t rank = 0;
        while (block->waiting[rank].count == 0)
            rank++;
        const uint32_t i = block->waiting[rank].first;
        remove_from_queue(s, i);
        block->slots_used++;
        block->counts.ran++;
        notify_owner(s, i);
        bli_ledger_entry_set(&job_at(s, i)->entry, GRANTED);
    }
}

uint32_t bli_station_forward_waiting(struct bal_station *s, uint32_t amount, uint32_t lowest_rank,
                                     uint64_t target, uint64_t *tickets) {
    struct station_block *block = s->block;
    uint32_t given[BAL_GRANT_MAX], count = 0;
    for (uint32_t rank = block->config.classes; rank-- > lowest_rank;) {
        const struct bli_list *list = &block->waiting[rank];
        while (count < amount && list->count && !job_at(s, list->last)->moved) {
            given[count] = list->last;
            remove_from_queue(s, given[count++]);
        }
    }
    for (uint32_t k = count; k-- > 0;) { /* in the order in which they came */
        struct station_job *j = job_at(s, given[k]);
        j->target = target;
        j->moved = 1;
        block->jobs[j->entry.rank]--;
        block->away++;
        block->counts.given++;
        notify_owner(s, given[k]);
        bli_ledger_entry_set(&j->entry, FORWARDING);
        tickets[count - 1 - k] = bli_ledger_ticket(&s->ledger, given[k]);
    }
    return count;
}

/* ---- requests ---- */

/* Something has left, or a slot is free. */
static void rebalance(struct bal_station *s) {
    struct station_block *block = s->block;
    bli_station_start_next(s);
    if (block->slots_used + block->waiting_count == 0) {
        block->idle_since = block->now;
        bli_station_steal(s);
    }
    bli_station_offer(s);
}

static bool admit_request(struct bal_station *s, uint32_t i, struct bal_station_task *task) {
    struct station_block *block = s->block;
    struct station_job *j = job_at(s, i);
    if (block->power == BAL_POWER_ON && block->slots_used < slots_now(block)) {
        block->slots_used++;
        block->counts.ran++;
        task->verdict = BAL_RUN;
        bli_ledger_entry_set(&j->entry, RUNNING);
    } else if (!s->crowded && make_place(s, j->entry.rank)) {
        bli_ledger_push(&s->ledger, &block->waiting[j->entry.rank], i);
        block->waiting_count++;
        task->verdict = BAL_QUEUE;
        bli_ledger_entry_set(&j->entry, WAITING);
        bli_station_request_start(s);
    } else {
        return false;
    }
    block->jobs[j->entry.rank]++;
    return true;
}

/* For one of that class that is refused: see bal_station_task. */
static uint64_t retry_time(const struct bal_station *s, uint32_t rank) {
    uint64_t ahead = 0;
    for (uint32_t k = 0; k <= rank; k++)
        ahead += s->block->waiting[k].count;
    return drain_rate_time(&s->block->drain_rate, ahead + 1);
}

void bal_station_set_crowded(struct bal_station *s, bool crowded) {
    s->crowded = crowded;
}

void bal_station_arrive(struct bal_station *s, uint64_t now, uint32_t rank, uint64_t dispatcher, bool moved,
                        struct bal_station_task *task) {
    bli_station_enter(s, now);
    struct station_block *block = s->block;
    block->counts.arrived++;
    bli_station_use_offer(s, dispatcher);
    block->expected -= moved && block->expected;
    const uint32_t i = bli_ledger_acquire(&s->ledger, s->self);
    rank = rank < block->config.classes ? rank : block->config.classes - 1;
    *task = (struct bal_station_task){.verdict = BAL_FULL};
    if (i != BLI_NOBODY) {
        struct station_job *j = job_at(s, i);
        j->entry.rank = rank;
        j->moved = moved;
        j->dispatcher = dispatcher;
        j->reserved_for = j->piggyback_seq = 0;
        j->since = block->now;
        task->ticket = bli_ledger_ticket(&s->ledger, i);
        if (!admit_request(s, i, task))
            bli_ledger_release(&s->ledger, i);
        bli_station_retract_offers(s);
    }
    if (task->verdict == BAL_FULL) {
        block->counts.full++;
        block->counts.crowded += s->crowded && i != BLI_NOBODY;
        task->retry_ns = retry_time(s, rank);
    }
    station_end(s);
}

/* The request of a ticket that this process has and that is in one of these states; BLI_NOBODY: none. */
static uint32_t find_job(struct bal_station *s, uint64_t ticket, unsigned states) {
    const uint32_t i = bli_ledger_find(&s->ledger, ticket);
    if (i != BLI_NOBODY && job_at(s, i)->entry.owner == s->self && states >> job_at(s, i)->entry.state & 1)
        return i;
    s->block->counts.void_tickets++;
    return BLI_NOBODY;
}

/* Removes a request in any state. */
static void remove_job(struct bal_station *s, uint32_t i) {
    struct station_block *block = s->block;
    struct station_job *j = job_at(s, i);
    const enum job_state state = (enum job_state)j->entry.state;
    const bool away = is_forwarded(j), slot = has_slot(j);
    bli_ledger_entry_set(&j->entry, BLI_ENTRY_FREE);
    if (state == WAITING)
        remove_from_queue(s, i);
    if (state == GRANTED || state == FORWARDING || state == TURNED_AWAY)
        bli_ledger_remove(&s->ledger, &s->worker[j->entry.owner].news, i);
    block->away -= away;
    block->slots_used -= slot;
    block->jobs[j->entry.rank] -= !away && state != TURNED_AWAY;
    bli_ledger_release(&s->ledger, i);
}

/* What the app has done is remembered: how long it takes, and how much of it fails. */
static void update_latency_stats(struct bal_station *s, const struct station_job *j, bool failed) {
    struct station_block *block = s->block;
    if (block->waiting_count)
        drain_rate_add(&block->drain_rate, block->now);
    block->counts.answered++;
    block->counts.failed += failed;
    block->answers++;
    block->errors += failed;
    if (block->config.min_slots && !failed)
        bli_concurrency_end(&block->concurrency, block->slots_used);
    latency_ewma_add(&block->latency_ewma, (double)(block->now - j->since) * 1e-9,
                     block->slots_used + block->waiting_count - 1);
}

bool bal_station_done(struct bal_station *s, uint64_t now, uint64_t ticket, bool failed) {
    bli_station_enter(s, now);
    const uint32_t i = find_job(s, ticket, 1 << RUNNING | 1 << FORWARDED);
    if (i != BLI_NOBODY) {
        const uint64_t reserved_for = job_at(s, i)->reserved_for, piggyback_seq = job_at(s, i)->piggyback_seq;
        if (job_at(s, i)->entry.state == RUNNING)
            update_latency_stats(s, job_at(s, i), failed);
        remove_job(s, i);
        bli_station_start_next(s);
        if (reserved_for)
            bli_station_offer_reserved_slot(s, reserved_for, piggyback_seq);
        rebalance(s);
    }
    station_end(s);
    return i != BLI_NOBODY;
}

bool bal_station_returned(struct bal_station *s, uint64_t now, uint64_t ticket) {
    bli_station_enter(s, now);
    const uint32_t i = find_job(s, ticket, 1 << FORWARDED);
    if (i != BLI_NOBODY) {
        struct station_block *block = s->block;
        struct station_job *j = job_at(s, i);
        block->counts.returned++;
        block->away--;
        block->waiting_count++;
        block->jobs[j->entry.rank]++;
        j->entry.order = j->place;
        bli_ledger_insert_by_order(&s->ledger, &block->waiting[j->entry.rank], i);
        bli_ledger_entry_set(&j->entry, WAITING);
        bli_station_request_start(s);
        bli_station_start_next(s);
    }
    station_end(s);
    return i != BLI_NOBODY;
}

bool bal_station_cancel(struct bal_station *s, uint64_t now, uint64_t ticket) {
    bli_station_enter(s, now);
    const uint32_t i = find_job(s, ticket, ~0u);
    if (i != BLI_NOBODY) {
        s->block->counts.cancelled++;
        remove_job(s, i);
        rebalance(s);
    }
    station_end(s);
    return i != BLI_NOBODY;
}

/* What its process gets to know of a request in one of these three states. */
static struct bal_station_task task_of(const struct bal_station *s, uint32_t i) {
    const struct station_job *j = job_at(s, i);
    struct bal_station_task task = {.verdict = j->entry.state == GRANTED      ? BAL_RUN
                                               : j->entry.state == FORWARDING ? BAL_FORWARD
                                                                              : BAL_FULL,
                                    .ticket = bli_ledger_ticket(&s->ledger, i)};
    if (task.verdict == BAL_FORWARD)
        task.target = j->target;
    if (task.verdict == BAL_FULL)
        task.retry_ns = retry_time(s, j->entry.rank);
    return task;
}

bool bal_station_next_decision(struct bal_station *s, uint64_t now, struct bal_station_task *task) {
    bli_station_enter(s, now);
    struct bli_list *news = &s->worker[s->self].news;
    const uint32_t i = news->first;
    if (i != BLI_NOBODY) {
        *task = task_of(s, i);
        bli_ledger_remove(&s->ledger, news, i);
        if (task->verdict == BAL_FULL)
            bli_ledger_release(&s->ledger, i);
        else
            bli_ledger_entry_set(&job_at(s, i)->entry, task->verdict == BAL_RUN ? RUNNING : FORWARDED);
    }
    station_end(s);
    return i != BLI_NOBODY;
}

/* ---- processes ---- */

enum bal_code bal_station_join(struct bal_station *s, uint64_t now, uint64_t pid, uint64_t start,
                               struct bal_error *err) {
    bli_station_enter(s, now);
    const uint32_t workers = s->block->config.workers;
    s->self = bli_worker_join(s->worker, workers, pid, start);
    station_end(s);
    return s->self != BLI_NOBODY
               ? BAL_OK
               : bal_fail(err, BAL_E_RANGE, "%u processes take part already: the block is for %u", workers,
                          workers);
}

bool bal_station_worker(struct bal_station *s, uint32_t i, uint64_t *pid, uint64_t *start) {
    if (i >= s->block->config.workers || !s->worker[i].used)
        return false;
    *pid = s->worker[i].pid;
    *start = s->worker[i].start;
    return true;
}

void bal_station_reap(struct bal_station *s, uint64_t now, uint32_t owner) {
    bli_station_enter(s, now);
    if (owner < s->block->config.workers && s->worker[owner].used) {
        for (uint32_t i = 0; i < s->ledger.head->capacity; i++) {
            const struct bli_ledger_entry *entry = &job_at(s, i)->entry;
            if (entry->state == BLI_ENTRY_FREE || entry->owner != owner)
                continue;
            s->block->counts.reaped++;
            remove_job(s, i);
        }
        bli_worker_leave(&s->worker[owner]);
        rebalance(s);
    }
    station_end(s);
}

void bal_station_leave(struct bal_station *s, uint64_t now) {
    bal_station_reap(s, now, s->self);
    s->self = BLI_NOBODY;
}

/* ---- inspection ---- */

struct bal_station_counts bal_station_counts(const struct bal_station *s) {
    return s->block->counts;
}

struct bal_station_view bal_station_view(const struct bal_station *s) {
    const struct station_block *block = s->block;
    struct bal_station_view view = {
        .running = block->slots_used,
        .waiting = block->waiting_count,
        .away = block->away,
        .slots = block->config.slots,
        .power = block->draining ? BAL_POWER_DRAINING : (enum bal_power_state)block->power,
        .offered = block->offered,
        .start_unanswered_ns = block->start_sent_at ? block->now - block->start_sent_at : 0};
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++)
        view.jobs[rank] = block->jobs[rank];
    if (block->config.min_slots) {
        view.concurrency = bli_concurrency_get_view(&block->concurrency);
        view.slots = view.concurrency.limit;
    }
    return view;
}
