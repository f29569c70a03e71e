/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared memory zones: creating and opening them, waking processes, timers, dead processes, reloads. */
#include "zone.h"

#include "process.h"

#include <ngx_event.h>
#include <sys/random.h>

enum {
    TICK_MS = 125, /* how often to look for dead processes */
    WAIT_MS = 100, /* how often processes with waiting requests check for decisions, if no process notifies
                      them */
    CLOSED_SOCKET_MS = 5,   /* the same in a process that is shutting down, whose socket nginx has closed */
    REQUESTS_MIN = 1024,    /* capacity, unless the role says otherwise */
    REQUESTS_MAX = 1 << 16, /* about 8 megabytes */
};

struct bli_ngx_zone_head {
    bli_ngx_lock lock;
    uint64_t id;            /* no other zone has it, before or after a reload */
    uint64_t generation;    /* of the configuration that is applied */
    uint64_t newest;        /* and of the last one that has this zone, written by the master */
    uint64_t maintained_at; /* when a process last looked for dead ones */
    struct bli_ngx_stalls stalls;
    uint64_t receipts[BAL_RECEIPTS]; /* datagrams that were rejected */
    struct bli_ngx_datagram_error datagram_errors[BLI_NGX_DATAGRAM_ERRORS];
    struct bli_ngx_refusals refusals;
    uint32_t slot[BLI_NGX_WORKERS_MAX]; /* in the master's table of processes, of each owner */
};

/* Which zone receives the datagrams for an address. A reload that changes what a block depends on creates
 * another zone at the same socket, and old processes, in the old zone, must know of it. So this table is a
 * zone of its own, which survives reloads. */
enum { LISTENERS = 4096 };
struct listeners {
    bli_ngx_lock lock;
    struct listener {
        uint64_t address, generation, zone;
    } at[LISTENERS];
};

/* Of a configuration. */
struct zones {
    ngx_array_t list; /* of struct bli_ngx_zone * */
    ngx_shm_zone_t *listeners;
};

/* One more for each configuration that came into force in this master; so a process knows whether its own is
 * older than what has been applied. */
static uint64_t generation;
static ngx_event_t ticker;
static ngx_connection_t ticking;

/* ---- memory ---- */

static size_t head_size(void) {
    return bli_ngx_aligned(sizeof(struct bli_ngx_zone_head));
}

/* The whole zone for a block of that size: the slab allocator keeps a record of each page. */
static size_t zone_size(size_t block) {
    const size_t pages = (head_size() + block) / ngx_pagesize + 1;
    return (pages + 8) * ngx_pagesize + pages * 2 * sizeof(ngx_slab_page_t);
}

static struct bli_ngx_zone *zone_of(const ngx_cycle_t *cycle, ngx_uint_t i) {
    const struct zones *zones = (void *)ngx_get_conf(cycle->conf_ctx, ngx_ballast_module);
    return i < zones->list.nelts ? ((struct bli_ngx_zone **)zones->list.elts)[i] : NULL;
}

/* In the master, while the zones of the old configuration are still there: those who have joined the block
 * that this one replaces, the one of the same role at the same address. They would join again within a second
 * or so; meanwhile requests would find no server. The lock is not taken, since its holder may have been
 * stopped: what is torn is no valid member and is left out. */
static void inherit_members(struct bli_ngx_zone *z) {
    const struct bli_ngx_zone *old;
    if (!z->inherited || !ngx_cycle->conf_ctx)
        return;
    for (ngx_uint_t i = 0; !z->inherited_count && (old = zone_of((const ngx_cycle_t *)ngx_cycle, i)); i++)
        if (old->role == z->role && old->block && old->transport && old->transport->max_members &&
            old->transport->own.id == z->transport->own.id)
            z->inherited_count =
                z->role->read_members(old->user, old->block, z->inherited, z->transport->max_members);
}

static ngx_int_t init_zone(ngx_shm_zone_t *shm, void *old) {
    struct bli_ngx_zone *z = shm->data;
    ngx_slab_pool_t *pool = (ngx_slab_pool_t *)(void *)shm->shm.addr;
    if (!old && !shm->shm.exists) {
        const size_t size = head_size() + z->role->size(z->user, 0);
        pool->log_ctx = (u_char *)" in a zone of ballast";
        pool->data = ngx_slab_calloc(pool, size);
        if (!pool->data)
            return NGX_ERROR;
        z->role->create(z->user, (char *)pool->data + head_size(), bli_ngx_now());
        inherit_members(z);
    }
    z->head = pool->data;
    z->lock = &z->head->lock;
    z->stalls = &z->head->stalls;
    z->block = (char *)pool->data + head_size();
    if (!z->head->id)
        z->head->id = bli_ngx_now() ^ (uintptr_t)z->head;
    return NGX_OK;
}

static ngx_int_t init_listeners(ngx_shm_zone_t *shm, void *old) {
    ngx_slab_pool_t *pool = (ngx_slab_pool_t *)(void *)shm->shm.addr;
    if (!old && !shm->shm.exists)
        pool->data = ngx_slab_calloc(pool, sizeof(struct listeners));
    return pool->data ? NGX_OK : NGX_ERROR;
}

static ngx_int_t add_listeners(ngx_conf_t *cf, struct zones *zones) {
    ngx_str_t name = ngx_string("ballast:listeners");
    if (zones->listeners)
        return NGX_OK;
    const size_t size = zone_size(sizeof(struct listeners));
    zones->listeners = ngx_shared_memory_add(cf, &name, size, &ngx_ballast_module);
    if (!zones->listeners)
        return NGX_ERROR;
    zones->listeners->init = init_listeners;
    zones->listeners->data = zones;
    return NGX_OK;
}

ngx_int_t bli_ngx_zone_add(ngx_conf_t *cf, struct bli_ngx_zone *z, const ngx_str_t *name,
                           const struct bli_ngx_role *role, void *user) {
    struct zones *zones = (void *)ngx_get_conf(cf->cycle->conf_ctx, ngx_ballast_module);
    ngx_str_t copy = *name;
    if (add_listeners(cf, zones) != NGX_OK)
        return NGX_ERROR;
    z->role = role;
    z->user = user;
    z->shm = ngx_shared_memory_add(cf, &copy, ngx_pagesize, &ngx_ballast_module); /* init_conf measures it */
    if (!z->shm)
        return NGX_ERROR;
    z->shm->init = init_zone;
    z->shm->data = z;
    struct bli_ngx_zone **place = ngx_array_push(&zones->list);
    if (!place)
        return NGX_ERROR;
    *place = z;
    return NGX_OK;
}

struct bli_ngx_zone *bli_ngx_zone_at(ngx_uint_t i) {
    return zone_of((const ngx_cycle_t *)ngx_cycle, i);
}

/* ---- waking and waiting ---- */

/* Under the lock, when there is something to be sent. */
static void update_contacts(struct bli_ngx_zone *z) {
    struct bli_ngx_contacts *contacts = &z->transport->contacts;
    const uint64_t version = bli_ngx_core_members_version(&z->core);
    if (version != contacts->version)
        bli_ngx_contacts_update(contacts, bli_ngx_core_members(&z->core, contacts->list, contacts->room),
                                version);
}

void bli_ngx_zone_unlock_and_flush(struct bli_ngx_zone *z) {
    uint32_t slot[BLI_NGX_WORKERS_MAX], slots = 0;
    for (uint32_t owner; (owner = bli_ngx_core_next_to_wake(&z->core)) < BLI_NGX_WORKERS_MAX;) {
        if (owner == bli_ngx_core_worker_number(&z->core))
            bli_ngx_post_event(&z->wakeup_event);
        else
            slot[slots++] = z->head->slot[owner];
    }
    uint32_t messages = 0;
    const struct bal_message *message = z->transport ? bli_ngx_core_outgoing(&z->core, &messages) : NULL;
    if (messages && z->transport->contacts.room)
        update_contacts(z);
    bli_ngx_lock_release(z->lock);
    while (slots)
        bli_ngx_notify_worker(slot[--slots]);
    if (messages)
        bli_ngx_transport_send(z->transport, message, messages);
    bli_ngx_journal_write();
}

void bli_ngx_zone_receive(struct bli_ngx_zone *z, const struct bli_ngx_datagram *datagram, uint32_t count) {
    if (!bli_ngx_zone_lock(z)) {
        bli_ngx_stall_count_datagrams(z, count);
        return;
    }
    const uint64_t now = bli_ngx_now();
    for (uint32_t i = 0; i < count; i++) {
        const struct bal_message *message = &datagram[i].message;
        if (message->type == BAL_MSG_JOIN)
            bli_ngx_contacts_add_knock(&z->transport->contacts, message);
        const enum bal_receipt receipt = bli_ngx_core_receive(&z->core, now, message);
        if (receipt == BAL_RECEIPT_UNKNOWN_SENDER || receipt == BAL_RECEIPT_REFUSED)
            bli_ngx_zone_count_error(z, (int)receipt, &datagram[i].from.sockaddr, datagram[i].fromlen, 0);
    }
    bli_ngx_zone_unlock(z);
}

void bli_ngx_zone_count_error(struct bli_ngx_zone *z, int kind, const struct sockaddr *address,
                              socklen_t length, int error) {
    bli_ngx_datagram_error_add(&z->head->datagram_errors[kind], address, length, error);
}

void bli_ngx_zone_count_unheld(struct bli_ngx_zone *z) {
    __atomic_fetch_add(&z->head->refusals.unheld, 1, __ATOMIC_RELAXED);
}

uint64_t bli_ngx_zone_unsent(const struct bli_ngx_zone *z) {
    return __atomic_load_n(&z->head->datagram_errors[BLI_NGX_UNSENT].count, __ATOMIC_RELAXED);
}

void bli_ngx_zone_add_receipts(struct bli_ngx_zone *z, uint64_t receipts[BAL_RECEIPTS]) {
    for (int i = 0; i < BAL_RECEIPTS; i++) {
        if (receipts[i])
            __atomic_fetch_add(&z->head->receipts[i], receipts[i], __ATOMIC_RELAXED);
        receipts[i] = 0;
    }
}

uint64_t bli_ngx_zone_receipts(const struct bli_ngx_zone *z, enum bal_receipt receipt) {
    return __atomic_load_n(&z->head->receipts[receipt], __ATOMIC_RELAXED);
}

/* ---- which zone receives ---- */

/* The row of an address: its own, a free one, or one of an address that no recent configuration has named.
 * NULL: all are taken. Under the lock of the listeners. */
static struct listener *find_listener(struct listeners *listeners, uint64_t address) {
    struct listener *oldest = NULL;
    for (uint32_t i = 0; i < LISTENERS; i++) {
        struct listener *at = &listeners->at[i];
        if (!at->address || at->address == address)
            return at;
        if (at->generation < generation && (!oldest || at->generation < oldest->generation))
            oldest = at;
    }
    if (oldest)
        oldest->generation = 0;
    return oldest;
}

/* From now on this zone receives, unless one of a newer configuration does. If the lock cannot be acquired
 * now, the next tick tries again. */
static void announce_receiver(struct bli_ngx_zone *z, const ngx_cycle_t *cycle) {
    static bli_ngx_lock stalled;
    const struct zones *zones = (void *)ngx_get_conf(cycle->conf_ctx, ngx_ballast_module);
    struct listeners *listeners = ((ngx_slab_pool_t *)(void *)zones->listeners->shm.addr)->data;
    const uint64_t address = z->transport->own.id + (z->transport->socket_owner ? 1 : 0); /* two may receive
                                                                                             at one */
    z->announced = bli_ngx_lock_acquire(&listeners->lock, &stalled);
    if (!z->announced)
        return;
    struct listener *at = find_listener(listeners, address);
    if (at) {
        at->address = address;
        if (at->generation <= generation) {
            at->generation = generation;
            __atomic_store_n(&at->zone, z->head->id, __ATOMIC_RELAXED);
        }
        z->receiving_zone = &at->zone;
    }
    bli_ngx_lock_release(&listeners->lock);
    bli_ngx_journal_write();
}

/* After an upgrade another nginx has the socket; the old master has renamed its pid file. */
static bool is_upgraded(void) {
    const ngx_core_conf_t *core = (ngx_core_conf_t *)ngx_get_conf(ngx_cycle->conf_ctx, ngx_core_module);
    return ngx_exiting && access((const char *)core->oldpid.data, F_OK) == 0;
}

/* Another zone or nginx receives our datagrams, permanently. Do not hold the lock: it may access a file. */
static bool is_received_elsewhere(const struct bli_ngx_zone *z) {
    return z->receiving_zone &&
           (__atomic_load_n(z->receiving_zone, __ATOMIC_RELAXED) != z->head->id || is_upgraded());
}

/* Time until then, at least one millisecond and at most so many. */
static ngx_msec_t delay_ms(uint64_t then, uint64_t now, ngx_msec_t most) {
    const uint64_t ms = then > now ? (then - now + 999999) / 1000000 : 1;
    return ms < most ? (ngx_msec_t)ms : most;
}

void bli_ngx_zone_wait_begin(struct bli_ngx_zone *z, ngx_msec_t most) {
    const ngx_msec_t wait = ngx_max(1, ngx_min(most, WAIT_MS));
    z->waiting++;
    if (z->wait_timer.timer_set && (ngx_msec_int_t)(z->wait_timer.timer.key - ngx_current_msec - wait) > 0)
        ngx_del_timer(&z->wait_timer);
    if (!z->wait_timer.timer_set)
        ngx_add_timer(&z->wait_timer, wait);
}

void bli_ngx_zone_wait_end(struct bli_ngx_zone *z) {
    if (--z->waiting == 0 && z->wait_timer.timer_set)
        ngx_del_timer(&z->wait_timer);
}

static struct bli_ngx_zone *zone_of_event(const ngx_event_t *event) {
    const ngx_connection_t *whose = event->data;
    return whose->data;
}

static void on_wait_timer(ngx_event_t *event) {
    struct bli_ngx_zone *z = zone_of_event(event);
    const bool socket_closed = ngx_exiting && z->transport;
    if (!z->attached)
        return;
    if (socket_closed)
        bli_ngx_transport_receive(z->transport);
    const bool received_elsewhere = is_received_elsewhere(z);
    uint64_t now = bli_ngx_now(), next = now + (uint64_t)WAIT_MS * 1000000;
    if (bli_ngx_zone_lock(z)) {
        now = bli_ngx_now();
        if (received_elsewhere)
            z->role->detach_stations(z->user, now);
        next = bli_ngx_core_run_timers(&z->core, now);
        bli_ngx_zone_unlock(z);
    }
    z->role->decisions_ready(z->user);
    if (z->waiting && !z->wait_timer.timer_set)
        ngx_add_timer(&z->wait_timer, delay_ms(next, now, socket_closed ? CLOSED_SOCKET_MS : WAIT_MS));
}

static void on_wakeup(ngx_event_t *event) {
    const struct bli_ngx_zone *z = zone_of_event(event);
    if (z->attached)
        z->role->decisions_ready(z->user);
}

/* This process was notified: decisions can only be where requests of ours wait. */
static void on_notify(void) {
    struct bli_ngx_zone *z;
    for (ngx_uint_t i = 0; (z = bli_ngx_zone_at(i)); i++)
        if (z->attached && z->waiting)
            z->role->decisions_ready(z->user);
}

/* ---- the dead, and time ---- */

/* A process that has joined a zone. */
struct owner {
    uint32_t number, slot;
    uint64_t pid, start;
};

/* Whether the process of an owner is dead, checked once a tick for all zones. Do not hold the lock: it reads
 * /proc. */
static bool is_dead(const struct owner *owner, uint64_t now) {
    static struct {
        uint64_t pid, start, asked_at;
        bool dead;
    } memo[BLI_NGX_WORKERS_MAX];
    const uint32_t place = owner->slot % BLI_NGX_WORKERS_MAX;
    if (memo[place].pid != owner->pid || memo[place].start != owner->start || memo[place].asked_at != now) {
        memo[place].pid = owner->pid;
        memo[place].start = owner->start;
        memo[place].asked_at = now;
        memo[place].dead = bli_ngx_is_dead(owner->pid, owner->start);
    }
    return memo[place].dead;
}

static uint32_t list_owners(struct bli_ngx_zone *z, struct owner list[BLI_NGX_WORKERS_MAX]) {
    uint32_t count = 0;
    if (!bli_ngx_zone_lock(z))
        return 0;
    for (uint32_t i = 0; i < BLI_NGX_WORKERS_MAX; i++) {
        struct owner *owner = &list[count];
        owner->number = i;
        owner->slot = z->head->slot[i];
        count += bli_ngx_core_worker(&z->core, i, &owner->pid, &owner->start);
    }
    bli_ngx_zone_unlock(z);
    return count;
}

static uint32_t filter_dead(struct owner list[BLI_NGX_WORKERS_MAX], uint32_t count, uint64_t now) {
    uint32_t dead = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_dead(&list[i], now))
            list[dead++] = list[i];
    return dead;
}

/* Dead processes are searched without the lock; meanwhile another process may have reaped them, and their
 * indexes may belong to others. */
static void reap_dead(struct bli_ngx_zone *z, uint64_t now) {
    struct owner list[BLI_NGX_WORKERS_MAX];
    const uint32_t dead = filter_dead(list, list_owners(z, list), now);
    if (!dead || !bli_ngx_zone_lock(z))
        return;
    for (uint32_t i = 0; i < dead; i++) {
        uint64_t pid, start;
        if (bli_ngx_core_worker(&z->core, list[i].number, &pid, &start) && pid == list[i].pid &&
            start == list[i].start)
            bli_ngx_core_reap(&z->core, now, list[i].number);
    }
    bli_ngx_zone_unlock(z);
}

/* Under the lock. The newest configuration counts, whichever process comes first; none that is older is
 * applied after it. */
static void apply(struct bli_ngx_zone *z, uint64_t now) {
    struct bal_error err;
    if (z->head->generation >= generation)
        return;
    if (z->role->apply(z->user, now, &err) == BAL_OK) {
        if (z->head->generation == 0 && z->inherited_count)
            bli_ngx_core_adopt_members(&z->core, now, z->inherited, z->inherited_count);
        __atomic_store_n(&z->head->generation, generation, __ATOMIC_RELAXED);
        return;
    }
    if (!z->error_logged)
        bli_ngx_journal_add(NGX_LOG_ERR, "ballast: zone \"%V\": %s; trying again", &z->shm->shm.name,
                            err.text);
    z->error_logged = true;
}

bool bli_ngx_zone_is_newest(const struct bli_ngx_zone *z) {
    return __atomic_load_n(&z->head->newest, __ATOMIC_RELAXED) == generation;
}

static void maintain_zone(struct bli_ngx_zone *z, uint64_t now) {
    const uint64_t half = (uint64_t)TICK_MS * 500000;
    /* One process does it for all, but only one of the newest configuration can apply it: those of older
     * ones, whose timers may always be the first, do not keep it from that. */
    const bool applied = __atomic_load_n(&z->head->generation, __ATOMIC_RELAXED) >= generation;
    if (applied && __atomic_load_n(&z->head->maintained_at, __ATOMIC_RELAXED) + half > now)
        return;
    __atomic_store_n(&z->head->maintained_at, now, __ATOMIC_RELAXED);
    reap_dead(z, now);
    const bool received_elsewhere = is_received_elsewhere(z);
    if (!bli_ngx_zone_lock(z))
        return;
    apply(z, now);
    if (received_elsewhere)
        z->role->detach_stations(z->user, now);
    const uint64_t next = bli_ngx_core_run_timers(&z->core, now);
    z->role->tick(z->user, now);
    const struct bli_ngx_refused refused = z->role->refused(z->user);
    bli_ngx_zone_unlock(z);
    bli_ngx_refusals_log(&z->head->refusals, &refused, z->kind, z->host, now);
    if (z->transport)
        bli_ngx_datagram_error_log(z->head->datagram_errors, z->kind, z->host, now);
    if (z->role->log)
        z->role->log(z->user);
    if (delay_ms(next, now, TICK_MS) < TICK_MS && !z->deadline_timer.timer_set)
        ngx_add_timer(&z->deadline_timer, delay_ms(next, now, TICK_MS));
}

static void on_deadline_timer(ngx_event_t *event) {
    struct bli_ngx_zone *z = zone_of_event(event);
    if (!z->attached || !bli_ngx_zone_lock(z)) /* the next tick sets the timer again */
        return;
    const uint64_t now = bli_ngx_now(), next = bli_ngx_core_run_timers(&z->core, now);
    bli_ngx_zone_unlock(z);
    if (delay_ms(next, now, TICK_MS) < TICK_MS)
        ngx_add_timer(&z->deadline_timer, delay_ms(next, now, TICK_MS));
}

/* ---- a holder of the lock that did not run ---- */

static void on_stall(ngx_event_t *event) {
    struct bli_ngx_zone *z = zone_of_event(event);
    if (!bli_ngx_stall_try(z))
        return;
    if (z->attached)
        bli_ngx_stall_run_deferred(z, bli_ngx_now());
    bli_ngx_zone_unlock(z);
    bli_ngx_stall_end(z);
}

/* ---- processes ---- */

/* An event that belongs to no socket; nginx's debug log looks for one all the same. */
static void set_event(ngx_event_t *event, ngx_event_handler_pt handler, ngx_connection_t *whose,
                      bool cancelable) {
    whose->fd = (ngx_socket_t)-1;
    event->handler = handler;
    event->data = whose;
    event->log = ngx_cycle->log;
    event->cancelable = cancelable;
}

/* This process's view, made once. */
static enum bal_code open_view(struct bli_ngx_zone *z, struct bal_error *err) {
    uint64_t seed = (uint64_t)ngx_pid;
    if (z->opened)
        return BAL_OK;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed ^= bli_ngx_now() << 20;
    z->whose.data = z;
    set_event(&z->wakeup_event, on_wakeup, &z->whose, true);
    set_event(&z->wait_timer, on_wait_timer, &z->whose, false);
    set_event(&z->deadline_timer, on_deadline_timer, &z->whose, true);
    set_event(&z->stall.timer, on_stall, &z->whose, true);
    const enum bal_code code = z->role->open(z->user, z->block, seed, &z->core, err);
    z->opened = !code;
    z->wake_pending = code ? NULL : bli_ngx_core_wake_pending(&z->core);
    return code;
}

static enum bal_code join_zone(struct bli_ngx_zone *z, struct bal_error *err) {
    const uint64_t pid = (uint64_t)ngx_pid, start = bli_ngx_start_time(pid);
    reap_dead(z, bli_ngx_now());
    if (!bli_ngx_zone_lock(z))
        return bal_fail(err, BAL_E_RANGE, "its lock cannot be had");
    const uint64_t now = bli_ngx_now();
    const enum bal_code code = bli_ngx_core_join(&z->core, now, pid, start, err);
    if (!code) {
        z->attached = true;
        z->head->slot[bli_ngx_core_worker_number(&z->core)] = (uint32_t)ngx_process_slot;
        apply(z, now);
    }
    bli_ngx_zone_unlock(z);
    return code;
}

/* If all rows are taken now, some will be free when others have left. */
static void try_attach(struct bli_ngx_zone *z) {
    struct bal_error err;
    enum bal_code code = open_view(z, &err);
    code = code ? code : join_zone(z, &err);
    if (code && !z->error_logged)
        bli_ngx_journal_log(
            NGX_LOG_ERR, ngx_cycle->log,
            "ballast: zone \"%V\": %s; this process chooses without counting, and tries again",
            &z->shm->shm.name, err.text);
    z->error_logged |= code != BAL_OK;
}

static void on_tick(ngx_event_t *event) {
    const uint64_t now = bli_ngx_now();
    struct bli_ngx_zone *z;
    for (ngx_uint_t i = 0; (z = bli_ngx_zone_at(i)); i++) {
        if (z->attached)
            maintain_zone(z, now);
        else
            try_attach(z);
        if (z->attached && z->role->check)
            z->role->check(z->user, now);
        if (z->transport && z->role->detach_stations && !z->announced)
            announce_receiver(z, (const ngx_cycle_t *)ngx_cycle);
    }
    bli_ngx_journal_write();
    ngx_add_timer(event, TICK_MS);
}

/* nginx ends gracefully. A reload ends processes so too, but then those of the new configuration go on in the
 * same zone, unless that has none. */
static void on_quit(void) {
    struct bli_ngx_zone *z;
    for (ngx_uint_t i = 0; (z = bli_ngx_zone_at(i)); i++) {
        if (!z->attached || !z->role->drain || z->head->newest != generation || !bli_ngx_zone_lock(z))
            continue;
        z->role->drain(z->user, bli_ngx_now());
        bli_ngx_zone_unlock(z);
    }
}

static ngx_int_t init_process(ngx_cycle_t *cycle) {
    struct bli_ngx_zone *z;
    if ((ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE) || !zone_of(cycle, 0))
        return NGX_OK;
    bli_ngx_lock_init();
    for (ngx_uint_t i = 0; (z = zone_of(cycle, i)); i++) {
        try_attach(z);
        if (!z->transport)
            continue;
        bli_ngx_transport_open(z->transport, cycle);
        if (z->role->detach_stations)
            announce_receiver(z, cycle);
    }
    set_event(&ticker, on_tick, &ticking, true);
    ngx_add_timer(&ticker, TICK_MS);
    return bli_ngx_notify_listen(cycle, on_notify, on_quit);
}

static void exit_process(ngx_cycle_t *cycle) {
    struct bli_ngx_zone *z;
    bli_ngx_notify_close();
    for (ngx_uint_t i = 0; (z = zone_of(cycle, i)); i++) {
        if (!z->attached)
            continue;
        z->attached = false;
        if (!bli_ngx_zone_lock(z)) /* others find that it has ended */
            continue;
        bli_ngx_core_leave(&z->core, bli_ngx_now());
        bli_ngx_zone_unlock(z);
    }
}

/* ---- the module ---- */

static void *create_conf(ngx_cycle_t *cycle) {
    struct zones *zones = ngx_pcalloc(cycle->pool, sizeof *zones);
    if (!zones || ngx_array_init(&zones->list, cycle->pool, 4, sizeof(struct bli_ngx_zone *)) != NGX_OK)
        return NULL;
    return zones;
}

/* Processes and connections are known when all has been read. Twice as many requests as that: after a reload
 * there are old processes as well as new ones. */
static char *init_conf(ngx_cycle_t *cycle, void *conf) {
    const struct zones *zones = conf;
    const ngx_core_conf_t *core = (ngx_core_conf_t *)ngx_get_conf(cycle->conf_ctx, ngx_core_module);
    const ngx_event_conf_t *events = ngx_event_get_conf(cycle->conf_ctx, ngx_event_core_module);
    if (zones->list.nelts == 0)
        return NGX_CONF_OK;
    const uint64_t connections = (uint64_t)ngx_max(core->worker_processes, 1) * events->connections;
    const uint64_t all = 2 * connections;
    const uint32_t requests = (uint32_t)ngx_max(REQUESTS_MIN, ngx_min(all, REQUESTS_MAX));
    ngx_uint_t listeners = 0;
    for (ngx_uint_t i = 0; i < zones->list.nelts; i++) {
        struct bli_ngx_zone *z = ((struct bli_ngx_zone **)zones->list.elts)[i];
        const size_t block = z->role->size(z->user, requests);
        struct bal_error err;
        if (block == 0)
            return NGX_CONF_ERROR;
        if (z->transport && bal_key_check(&z->transport->keys->first, !z->transport->has_remote_peer, &err)) {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0, "ballast: %s; use ballast_key in http {}", err.text);
            return NGX_CONF_ERROR;
        }
        z->shm->shm.size = zone_size(block);
        if (z->transport && z->transport->max_members) {
            z->inherited = ngx_palloc(cycle->pool, z->transport->max_members * sizeof *z->inherited);
            if (!z->inherited)
                return NGX_CONF_ERROR;
        }
        if (z->role->limit)
            z->role->limit(z->user, cycle, connections);
        listeners += z->transport && z->role->detach_stations;
    }
    if (listeners > LISTENERS)
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "ballast: %ui upstreams have listen=, and a reload can hand over %d of them; requests "
                      "that wait in the others when their policy changes go on waiting for old workers",
                      listeners, LISTENERS);
    return NGX_CONF_OK;
}

static ngx_int_t init_module(ngx_cycle_t *cycle) {
    const ngx_core_conf_t *core = (ngx_core_conf_t *)ngx_get_conf(cycle->conf_ctx, ngx_core_module);
    generation++;
    if (!zone_of(cycle, 0) || ngx_test_config)
        return NGX_OK;
    for (ngx_uint_t i = 0; zone_of(cycle, i); i++)
        zone_of(cycle, i)->head->newest = generation;
    bli_ngx_transport_grow_buffers(cycle);
    bli_ngx_notify_create(2 * (ngx_uint_t)ngx_max(core->worker_processes, 1) + 8, cycle->log);
    return NGX_OK;
}

static ngx_core_module_t context = {ngx_string("ballast"), create_conf, init_conf};

ngx_module_t ngx_ballast_module = {
    NGX_MODULE_V1,
    .ctx = &context,
    .type = NGX_CORE_MODULE,
    .init_module = init_module,
    .init_process = init_process,
    .exit_process = exit_process,
};
