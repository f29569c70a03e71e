/* SPDX-License-Identifier: BSD-2-Clause */
/* What both roles need: a block of the live core in shared memory, this process's part in it, and time.
 *
 * A zone is a shared memory zone of nginx that holds one block, a dispatcher's or a station's. Its name
 * contains everything that the block depends on. So a reload that changes none of that finds the zone with
 * its data, and any other reload creates a new zone; old processes continue in theirs. The lock is our own
 * (lock.h).
 *
 *     at configuration     bli_ngx_zone_add()
 *     in each process      open, join, apply are called, then tick and the other hooks
 *     in the role          if (bli_ngx_zone_lock(z)) { ... the core ...; bli_ngx_zone_unlock(z); }
 *
 * About eight times a second one of the processes looks for dead ones and runs timers
 * (bli_ngx_core_run_timers). A process whose requests wait does so as often as needed, and a graceful
 * shutdown does not end it until they are done: bli_ngx_zone_wait_begin() and bli_ngx_zone_wait_end(). */
#ifndef NGINX_ZONE_H
#define NGINX_ZONE_H

#include "ballast/error.h"
#include "ballast/live/wire.h"
#include "compat.h"
#include "core.h"
#include "datagram_errors.h"
#include "journal.h"
#include "lock.h"
#include "refusals.h"
#include "stall.h"
#include "transport.h"

#include <stdbool.h>
#include <stdint.h>

/* What a role does with its block. `user` is the role's own; those below `open` are called with the lock held
 * unless stated otherwise. */
struct bli_ngx_role {
    /* Bytes of the block, 64-byte aligned. requests: the maximum under way or waiting, in all processes. */
    size_t (*size)(void *user, uint32_t requests);
    /* Optional: this many connections of workers are available, of which each request that waits takes
     * two. */
    void (*limit)(void *user, ngx_cycle_t *cycle, uint64_t connections);
    void (*create)(void *user, void *block, uint64_t now);
    /* This process's view of the block, which *core then is. Not locked. */
    enum bal_code (*open)(void *user, void *block, uint64_t seed, struct bli_ngx_core *core,
                          struct bal_error *err);

    /* Members of a block of this role, in a process that has no view of it; not locked. */
    uint32_t (*read_members)(void *user, void *block, struct bal_member *members, uint32_t room);
    /* What was deferred while the lock could not be acquired (stall.h). */
    void (*finish_deferred)(void *user, uint64_t now, uint64_t ticket, enum bli_ngx_deferral what);
    /* Optional: a newer zone now receives what comes to its address. */
    void (*detach_stations)(void *user, uint64_t now);
    /* Optional: nginx ends gracefully, and no newer configuration has this zone. */
    void (*drain)(void *user, uint64_t now);
    /* Applies the configuration, which is newer than the one applied last. On failure it is tried again at
     * the next tick. */
    enum bal_code (*apply)(void *user, uint64_t now, struct bal_error *err);
    /* For what one process must do about eight times a second, after dead processes have been reaped. */
    void (*tick)(void *user, uint64_t now);
    /* After each tick: requests that were refused so far. */
    struct bli_ngx_refused (*refused)(void *user);
    /* Not locked, after each tick: logs what the tick has found. Optional. */
    void (*log)(void *user);
    /* Not locked, in each process about eight times a second. Optional. */
    void (*check)(void *user, uint64_t now);
    /* Not locked: there may be decisions for this process, or the zone is stalled and waiting requests
     * continue without it. */
    void (*decisions_ready)(void *user);
};

enum {
    BLI_NGX_WORKERS_MAX = 256
}; /* processes that use a zone at once; bli_ngx_core_worker is called for i below it */

struct bli_ngx_zone {
    const struct bli_ngx_role *role;
    void *user;
    struct bli_ngx_core core; /* this process's view of the block, once it is opened */
    ngx_shm_zone_t *shm;
    const char *kind;                    /* "upstream" or "station", for the log ... */
    const ngx_str_t *host;               /* ... and its name */
    struct bli_ngx_transport *transport; /* NULL: it exchanges no messages */
    const bool *wake_pending;            /* a process is to be woken; set once this process has its view */
    const uint64_t *receiving_zone; /* in shared memory, the id of the zone that receives the datagrams; or
                                       NULL */
    struct bli_ngx_zone_head *head; /* in shared memory, as is what follows */
    bli_ngx_lock *lock;
    struct bli_ngx_stalls *stalls;
    void *block;
    bool opened;                  /* this process has its view */
    bool attached;                /* this process has joined; if not, nothing below may be called */
    bool announced;               /* other zones know that this one receives */
    bool error_logged;            /* a temporary failure has been logged */
    struct bal_member *inherited; /* members of the zone that this one replaces; NULL: none can join */
    uint32_t inherited_count;
    ngx_uint_t waiting;     /* requests of this process that wait */
    ngx_connection_t whose; /* what nginx, when it writes a debug log, takes the events below to belong to */
    ngx_event_t wakeup_event;   /* posted when there may be decisions */
    ngx_event_t wait_timer;     /* a timer while requests wait */
    ngx_event_t deadline_timer; /* a timer for what is due before the next tick */
    struct bli_ngx_stall stall;
};

/* In the configuration. The zone is the caller's, zeroed, and lives as long as the configuration. `name` must
 * be unique and contain everything that the size and the meaning of the block depend on. */
ngx_int_t bli_ngx_zone_add(ngx_conf_t *cf, struct bli_ngx_zone *z, const ngx_str_t *name,
                           const struct bli_ngx_role *role, void *user);

/* A size that keeps what lies behind it aligned. */
static inline size_t bli_ngx_aligned(size_t size) {
    return (size + 63) & ~(size_t)63;
}

/* While you hold the lock do nothing that can block, because all processes wait for it: no logging (use
 * bli_ngx_journal_add), no system call that touches a file, no allocation. False: its holder is stopped, and
 * nothing of the zone may be used; what must be done nevertheless is deferred (stall.h). */
__attribute__((warn_unused_result)) static inline bool bli_ngx_zone_lock(struct bli_ngx_zone *z) {
    return bli_ngx_lock_acquire(z->lock, &z->stall.holder) || bli_ngx_stall_begin(z);
}
/* Under the lock, collects the processes that have decisions (calls bli_ngx_core_next_to_wake until there are
 * no more) and the outgoing messages; releases the lock; then wakes, sends, and writes the log lines that
 * were kept. */
void bli_ngx_zone_unlock_and_flush(struct bli_ngx_zone *z);
static inline void bli_ngx_zone_unlock(struct bli_ngx_zone *z) {
    if (*z->wake_pending || z->transport || bli_ngx_journal_lines)
        bli_ngx_zone_unlock_and_flush(z);
    else
        bli_ngx_lock_release(z->lock);
}

/* Passes genuine messages to the block. */
void bli_ngx_zone_receive(struct bli_ngx_zone *z, const struct bli_ngx_datagram *datagram, uint32_t count);
/* Adds this process's counts of rejected datagrams to the zone's, and clears them. */
void bli_ngx_zone_add_receipts(struct bli_ngx_zone *z, uint64_t receipts[BAL_RECEIPTS]);
/* Something is wrong with a datagram: it is counted and logged. kind: as in datagram_errors.h. */
void bli_ngx_zone_count_error(struct bli_ngx_zone *z, int kind, const struct sockaddr *address,
                              socklen_t length, int error);
/* A request was refused because this process had no connection for it to wait; for the log. */
void bli_ngx_zone_count_unheld(struct bli_ngx_zone *z);
/* Datagrams that could not be sent, of all processes. */
uint64_t bli_ngx_zone_unsent(const struct bli_ngx_zone *z);
/* The count of all processes. */
uint64_t bli_ngx_zone_receipts(const struct bli_ngx_zone *z, enum bal_receipt receipt);

/* A request of this process begins to wait, for at most `most` milliseconds; has stopped waiting. */
void bli_ngx_zone_wait_begin(struct bli_ngx_zone *z, ngx_msec_t most);
void bli_ngx_zone_wait_end(struct bli_ngx_zone *z);

/* No newer configuration has this zone. */
bool bli_ngx_zone_is_newest(const struct bli_ngx_zone *z);

/* Zones of the running configuration, for status pages: the i-th, NULL behind the last. */
struct bli_ngx_zone *bli_ngx_zone_at(ngx_uint_t i);

/* The module that hosts all zones: number of processes and connections, hooks, timers. */
extern ngx_module_t ngx_ballast_module;

#endif
