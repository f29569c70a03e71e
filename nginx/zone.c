#include "zone.h"

#include "process.h"

#include <ngx_event.h>
#include <sys/random.h>

enum {
    TICK_MS = 125,           /* how often the dead are looked for */
    WAIT_MS = 100,           /* how often those who wait look, should nobody wake them */
    DEAF_MS = 5,             /* and in a process that is to end, of which nginx has closed the socket */
    REQUESTS_LEAST = 1024,   /* capacity, unless the role says otherwise */
    REQUESTS_MOST = 1 << 16, /* about 8 megabytes */
};

struct bal_ngx_zone_head {
    bal_ngx_lock lock;
    uint64_t id;                     /* no other zone has it, before or after a reload */
    uint64_t generation;             /* of the configuration that is applied */
    uint64_t looked_at;              /* when somebody last looked for the dead */
    uint64_t receipts[BAL_RECEIPTS]; /* datagrams of which nothing was heard */
    uint32_t slot[BAL_NGX_OWNERS];   /* in the master's table of processes, of each owner */
};

/* Which zone hears what comes to an address. A reload that changes what a block depends on begins another
 * zone at the same socket, of which processes of before, in theirs, must know. So this is a zone of its own,
 * which stays. */
enum { LISTENERS = 256 };
struct listeners {
    bal_ngx_lock lock;
    struct listener {
        uint64_t address, generation, zone;
    } at[LISTENERS];
};

/* Of a configuration. */
struct zones {
    ngx_array_t list; /* of struct bal_ngx_zone * */
    ngx_shm_zone_t *listeners;
};

/* One more for each configuration that came into force in this master; so a process knows whether its own is
 * older than what has been applied. */
static uint64_t generation;
static ngx_event_t ticker;
static ngx_connection_t ticking;

/* ---- memory ---- */

static size_t head_size(void) {
    return bal_ngx_aligned(sizeof(struct bal_ngx_zone_head));
}

/* The whole zone for a block of that size: the slab allocator keeps a record of each page. */
static size_t zone_size(size_t block) {
    const size_t pages = (head_size() + block) / ngx_pagesize + 1;
    return (pages + 8) * ngx_pagesize + pages * 2 * sizeof(ngx_slab_page_t);
}

static ngx_int_t init_zone(ngx_shm_zone_t *shm, void *old) {
    struct bal_ngx_zone *z = shm->data;
    ngx_slab_pool_t *pool = (ngx_slab_pool_t *)(void *)shm->shm.addr;
    if (!old && !shm->shm.exists) {
        const size_t size = head_size() + z->role->size(z->user, 0);
        pool->log_ctx = (u_char *)" in a zone of ballast";
        pool->data = ngx_slab_calloc(pool, size);
        if (!pool->data)
            return NGX_ERROR;
        z->role->create(z->user, (char *)pool->data + head_size(), bal_ngx_now());
    }
    z->head = pool->data;
    z->lock = &z->head->lock;
    z->block = (char *)pool->data + head_size();
    if (!z->head->id)
        z->head->id = bal_ngx_now() ^ (uintptr_t)z->head;
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

ngx_int_t bal_ngx_zone_add(ngx_conf_t *cf, struct bal_ngx_zone *z, const ngx_str_t *name,
                           const struct bal_ngx_role *role, void *user) {
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
    struct bal_ngx_zone **place = ngx_array_push(&zones->list);
    if (!place)
        return NGX_ERROR;
    *place = z;
    return NGX_OK;
}

static struct bal_ngx_zone *zone_of(const ngx_cycle_t *cycle, ngx_uint_t i) {
    const struct zones *zones = (void *)ngx_get_conf(cycle->conf_ctx, ngx_ballast_module);
    return i < zones->list.nelts ? ((struct bal_ngx_zone **)zones->list.elts)[i] : NULL;
}

struct bal_ngx_zone *bal_ngx_zone_at(ngx_uint_t i) {
    return zone_of((const ngx_cycle_t *)ngx_cycle, i);
}

/* ---- waking and waiting ---- */

void bal_ngx_zone_unlock_and_tell(struct bal_ngx_zone *z) {
    uint32_t slot[BAL_NGX_OWNERS], slots = 0;
    for (uint32_t owner; (owner = z->role->woken(z->user)) < BAL_NGX_OWNERS;) {
        if (owner == z->role->self(z->user))
            bal_ngx_post(&z->news);
        else
            slot[slots++] = z->head->slot[owner];
    }
    uint32_t messages = 0;
    const struct bal_message *message = z->mail ? z->role->out(z->user, &messages) : NULL;
    bal_ngx_lock_give(z->lock);
    while (slots)
        bal_ngx_bell_ring(slot[--slots]);
    if (messages)
        bal_ngx_mail_send(z->mail, message, messages);
}

void bal_ngx_zone_hear(struct bal_ngx_zone *z, const struct bal_message *message, uint32_t count) {
    bal_ngx_zone_lock(z);
    const uint64_t now = bal_ngx_now();
    for (uint32_t i = 0; i < count; i++)
        z->role->hear(z->user, now, &message[i]);
    bal_ngx_zone_unlock(z);
}

void bal_ngx_zone_count(struct bal_ngx_zone *z, uint64_t receipts[BAL_RECEIPTS]) {
    for (int i = 0; i < BAL_RECEIPTS; i++) {
        if (receipts[i])
            __atomic_fetch_add(&z->head->receipts[i], receipts[i], __ATOMIC_RELAXED);
        receipts[i] = 0;
    }
}

uint64_t bal_ngx_zone_receipts(const struct bal_ngx_zone *z, enum bal_receipt receipt) {
    return __atomic_load_n(&z->head->receipts[receipt], __ATOMIC_RELAXED);
}

/* ---- who hears ---- */

/* From now on this zone hears, unless one of a newer configuration does. */
static void announce(struct bal_ngx_zone *z, const ngx_cycle_t *cycle) {
    const struct zones *zones = (void *)ngx_get_conf(cycle->conf_ctx, ngx_ballast_module);
    struct listeners *listeners = ((ngx_slab_pool_t *)(void *)zones->listeners->shm.addr)->data;
    const uint64_t address = z->mail->own.id + (z->mail->host ? 1 : 0); /* two may hear at one */
    bal_ngx_lock_take(&listeners->lock);
    for (uint32_t i = 0; i < LISTENERS; i++) {
        struct listener *at = &listeners->at[i];
        if (at->address && at->address != address)
            continue;
        at->address = address;
        if (at->generation <= generation) {
            at->generation = generation;
            __atomic_store_n(&at->zone, z->head->id, __ATOMIC_RELAXED);
        }
        z->hears = &at->zone;
        break;
    }
    bal_ngx_lock_give(&listeners->lock);
}

/* After an upgrade another nginx has the socket; the master of before has renamed its file. */
static bool is_upgraded(void) {
    const ngx_core_conf_t *core = (ngx_core_conf_t *)ngx_get_conf(ngx_cycle->conf_ctx, ngx_core_module);
    return ngx_exiting && access((const char *)core->oldpid.data, F_OK) == 0;
}

/* What comes is heard elsewhere, for good. Under the lock. */
static void listen_no_longer(struct bal_ngx_zone *z, uint64_t now) {
    if (z->hears && (__atomic_load_n(z->hears, __ATOMIC_RELAXED) != z->head->id || is_upgraded()))
        z->role->deafen(z->user, now);
}

/* Time until then, at least one millisecond and at most so many. */
static ngx_msec_t until(uint64_t then, uint64_t now, ngx_msec_t most) {
    const uint64_t ms = then > now ? (then - now + 999999) / 1000000 : 1;
    return ms < most ? (ngx_msec_t)ms : most;
}

void bal_ngx_zone_wait(struct bal_ngx_zone *z, ngx_msec_t most) {
    const ngx_msec_t wait = ngx_max(1, ngx_min(most, WAIT_MS));
    z->waiting++;
    if (z->patient.timer_set && (ngx_msec_int_t)(z->patient.timer.key - ngx_current_msec - wait) > 0)
        ngx_del_timer(&z->patient);
    if (!z->patient.timer_set)
        ngx_add_timer(&z->patient, wait);
}

void bal_ngx_zone_waited(struct bal_ngx_zone *z) {
    if (--z->waiting == 0 && z->patient.timer_set)
        ngx_del_timer(&z->patient);
}

static struct bal_ngx_zone *zone_of_event(const ngx_event_t *event) {
    const ngx_connection_t *whose = event->data;
    return whose->data;
}

static void on_patient(ngx_event_t *event) {
    struct bal_ngx_zone *z = zone_of_event(event);
    const bool deaf = ngx_exiting && z->mail;
    if (!z->inside)
        return;
    if (deaf)
        bal_ngx_mail_look(z->mail);
    bal_ngx_zone_lock(z);
    const uint64_t now = bal_ngx_now();
    listen_no_longer(z, now);
    const uint64_t next = z->role->pass(z->user, now);
    bal_ngx_zone_unlock(z);
    z->role->news(z->user);
    if (z->waiting && !z->patient.timer_set)
        ngx_add_timer(&z->patient, until(next, now, deaf ? DEAF_MS : WAIT_MS));
}

static void on_news(ngx_event_t *event) {
    const struct bal_ngx_zone *z = zone_of_event(event);
    if (z->inside)
        z->role->news(z->user);
}

/* Somebody has rung: news can only be where requests of ours wait. */
static void on_bell(void) {
    struct bal_ngx_zone *z;
    for (ngx_uint_t i = 0; (z = bal_ngx_zone_at(i)); i++)
        if (z->inside && z->waiting)
            z->role->news(z->user);
}

/* ---- the dead, and time ---- */

/* Whether the process of an owner is dead, asked once a tick for all zones. */
static bool is_dead(const struct bal_ngx_zone *z, uint32_t owner, uint64_t now) {
    static struct {
        uint64_t pid, start, asked_at;
        bool dead;
    } memo[BAL_NGX_OWNERS];
    uint64_t pid, start;
    if (!z->role->owner(z->user, owner, &pid, &start))
        return false;
    const uint32_t place = z->head->slot[owner] % BAL_NGX_OWNERS;
    if (memo[place].pid != pid || memo[place].start != start || memo[place].asked_at != now) {
        memo[place].pid = pid;
        memo[place].start = start;
        memo[place].asked_at = now;
        memo[place].dead = bal_ngx_is_dead(pid, start);
    }
    return memo[place].dead;
}

static void reap(struct bal_ngx_zone *z, uint64_t now) {
    for (uint32_t owner = 0; owner < BAL_NGX_OWNERS; owner++)
        if (is_dead(z, owner, now))
            z->role->reap(z->user, now, owner);
}

/* The newest configuration counts, whichever process comes first; none that is older is applied after it. */
static void apply(struct bal_ngx_zone *z, uint64_t now) {
    struct bal_error err;
    if (z->head->generation >= generation)
        return;
    if (z->role->apply(z->user, now, &err) == BAL_OK) {
        z->head->generation = generation;
        return;
    }
    if (!z->told)
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0, "ballast: zone \"%V\": %s; trying again",
                      &z->shm->shm.name, err.text);
    z->told = true;
}

static void look(struct bal_ngx_zone *z, uint64_t now) {
    const uint64_t half = (uint64_t)TICK_MS * 500000;
    if (__atomic_load_n(&z->head->looked_at, __ATOMIC_RELAXED) + half > now)
        return; /* another process has */
    bal_ngx_zone_lock(z);
    z->head->looked_at = now;
    reap(z, now);
    apply(z, now);
    listen_no_longer(z, now);
    const uint64_t next = z->role->pass(z->user, now);
    z->role->tick(z->user, now);
    bal_ngx_zone_unlock(z);
    if (until(next, now, TICK_MS) < TICK_MS && !z->due.timer_set)
        ngx_add_timer(&z->due, until(next, now, TICK_MS));
}

static void on_due(ngx_event_t *event) {
    struct bal_ngx_zone *z = zone_of_event(event);
    if (!z->inside)
        return;
    bal_ngx_zone_lock(z);
    const uint64_t now = bal_ngx_now(), next = z->role->pass(z->user, now);
    bal_ngx_zone_unlock(z);
    if (until(next, now, TICK_MS) < TICK_MS)
        ngx_add_timer(&z->due, until(next, now, TICK_MS));
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
static enum bal_code open_view(struct bal_ngx_zone *z, struct bal_error *err) {
    uint64_t seed = (uint64_t)ngx_pid;
    if (z->opened)
        return BAL_OK;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed ^= bal_ngx_now() << 20;
    z->whose.data = z;
    set_event(&z->news, on_news, &z->whose, true);
    set_event(&z->patient, on_patient, &z->whose, false);
    set_event(&z->due, on_due, &z->whose, true);
    const enum bal_code code = z->role->open(z->user, z->block, seed, err);
    z->opened = !code;
    z->wakes = code ? NULL : z->role->wakes(z->user);
    return code;
}

static enum bal_code join(struct bal_ngx_zone *z, struct bal_error *err) {
    const uint64_t pid = (uint64_t)ngx_pid, start = bal_ngx_start_time(pid);
    bal_ngx_zone_lock(z);
    const uint64_t now = bal_ngx_now();
    reap(z, now);
    const enum bal_code code = z->role->join(z->user, now, pid, start, err);
    if (!code) {
        z->inside = true;
        z->head->slot[z->role->self(z->user)] = (uint32_t)ngx_process_slot;
        apply(z, now);
    }
    bal_ngx_zone_unlock(z);
    return code;
}

/* If there is no room now there will be when others have left. */
static void enter(struct bal_ngx_zone *z) {
    struct bal_error err;
    enum bal_code code = open_view(z, &err);
    code = code ? code : join(z, &err);
    if (code && !z->told)
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "ballast: zone \"%V\": %s; this process chooses without counting, and tries again",
                      &z->shm->shm.name, err.text);
    z->told |= code != BAL_OK;
}

static void on_tick(ngx_event_t *event) {
    const uint64_t now = bal_ngx_now();
    struct bal_ngx_zone *z;
    for (ngx_uint_t i = 0; (z = bal_ngx_zone_at(i)); i++) {
        if (z->inside)
            look(z, now);
        else
            enter(z);
    }
    ngx_add_timer(event, TICK_MS);
}

static ngx_int_t init_process(ngx_cycle_t *cycle) {
    struct bal_ngx_zone *z;
    if ((ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE) || !zone_of(cycle, 0))
        return NGX_OK;
    bal_ngx_lock_init();
    for (ngx_uint_t i = 0; (z = zone_of(cycle, i)); i++) {
        enter(z);
        if (!z->mail)
            continue;
        bal_ngx_mail_open(z->mail, cycle);
        if (z->role->deafen)
            announce(z, cycle);
    }
    set_event(&ticker, on_tick, &ticking, true);
    ngx_add_timer(&ticker, TICK_MS);
    return bal_ngx_bell_hang(cycle, on_bell);
}

static void exit_process(ngx_cycle_t *cycle) {
    struct bal_ngx_zone *z;
    bal_ngx_bell_take_down();
    for (ngx_uint_t i = 0; (z = zone_of(cycle, i)); i++) {
        if (!z->inside)
            continue;
        bal_ngx_zone_lock(z);
        z->role->leave(z->user, bal_ngx_now());
        bal_ngx_zone_unlock(z);
        z->inside = false;
    }
}

/* ---- the module ---- */

static void *create_conf(ngx_cycle_t *cycle) {
    struct zones *zones = ngx_pcalloc(cycle->pool, sizeof *zones);
    if (!zones || ngx_array_init(&zones->list, cycle->pool, 4, sizeof(struct bal_ngx_zone *)) != NGX_OK)
        return NULL;
    return zones;
}

/* Processes and connections are known when all has been read. Twice as many requests as that: after a reload
 * there are old processes beside the new ones. */
static char *init_conf(ngx_cycle_t *cycle, void *conf) {
    const struct zones *zones = conf;
    const ngx_core_conf_t *core = (ngx_core_conf_t *)ngx_get_conf(cycle->conf_ctx, ngx_core_module);
    const ngx_event_conf_t *events = ngx_event_get_conf(cycle->conf_ctx, ngx_event_core_module);
    if (zones->list.nelts == 0)
        return NGX_CONF_OK;
    const uint64_t all = 2 * (uint64_t)ngx_max(core->worker_processes, 1) * events->connections;
    const uint32_t requests = (uint32_t)ngx_max(REQUESTS_LEAST, ngx_min(all, REQUESTS_MOST));
    for (ngx_uint_t i = 0; i < zones->list.nelts; i++) {
        const struct bal_ngx_zone *z = ((struct bal_ngx_zone **)zones->list.elts)[i];
        const size_t block = z->role->size(z->user, requests);
        struct bal_error err;
        if (block == 0)
            return NGX_CONF_ERROR;
        if (z->mail && bal_key_check(z->mail->key, !z->mail->far, &err)) {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0, "ballast: %s; use ballast_key in http {}", err.text);
            return NGX_CONF_ERROR;
        }
        z->shm->shm.size = zone_size(block);
    }
    return NGX_CONF_OK;
}

static ngx_int_t init_module(ngx_cycle_t *cycle) {
    const ngx_core_conf_t *core = (ngx_core_conf_t *)ngx_get_conf(cycle->conf_ctx, ngx_core_module);
    generation++;
    if (!zone_of(cycle, 0) || ngx_test_config)
        return NGX_OK;
    bal_ngx_bells_make(2 * (ngx_uint_t)ngx_max(core->worker_processes, 1) + 8, cycle->log);
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
