/* What both roles need: a block of the live core in shared memory, this process's part in it, and time.
 *
 * A zone is a shared memory zone of nginx that holds one block, a dispatcher's or a station's. Its name says
 * all that the block depends on, so that a reload finds it with its data as long as that is so, and begins a
 * new one else; processes of before go on in theirs. The lock is our own (lock.h).
 *
 *     at configuration     bal_ngx_zone_add()
 *     in each process      open, join, apply are called, then tick and whatever is asked for
 *     in the role          bal_ngx_zone_lock(z); ... functions of the core ...; bal_ngx_zone_unlock(z)
 *
 * About eight times a second one of the processes looks for dead ones and lets time pass (bal_ngx_role.pass).
 * A process whose requests wait does so as often as is needed, and is not ended by a graceful shutdown before
 * they have gone: bal_ngx_zone_wait() and bal_ngx_zone_waited(). */
#ifndef NGINX_ZONE_H
#define NGINX_ZONE_H

#include "ballast/error.h"
#include "ballast/live/wire.h"
#include "compat.h"
#include "lock.h"
#include "mail.h"

#include <stdbool.h>
#include <stdint.h>

/* What a role does with its block. `user` is the role's own; those below `open` are called with the lock held
 * unless said otherwise. */
struct bal_ngx_role {
    /* Bytes of the block, 64-byte aligned. requests: so many can be under way or wait in all processes. */
    size_t (*size)(void *user, uint32_t requests);
    void (*create)(void *user, void *block, uint64_t now);
    /* This process's view of the block. Not locked. */
    enum bal_code (*open)(void *user, void *block, uint64_t seed, struct bal_error *err);

    /* As the functions of the same names in ballast/live/dispatcher.h and station.h. */
    enum bal_code (*join)(void *user, uint64_t now, uint64_t pid, uint64_t start, struct bal_error *err);
    uint32_t (*self)(void *user);
    bool (*owner)(void *user, uint32_t i, uint64_t *pid, uint64_t *start);
    void (*reap)(void *user, uint64_t now, uint32_t i);
    void (*leave)(void *user, uint64_t now);
    uint64_t (*pass)(void *user, uint64_t now);
    uint32_t (*woken)(void *user);
    const bool *(*wakes)(void *user);
    /* Of those that have mail: what is to be sent, and what has come. */
    const struct bal_message *(*out)(void *user, uint32_t *count);
    void (*hear)(void *user, uint64_t now, const struct bal_message *message);
    /* Optional: what comes to its address is heard by a newer zone, in its place. */
    void (*deafen)(void *user, uint64_t now);
    /* What the configuration says, which is newer than what has been applied. On failure it is tried again at
     * the next tick. */
    enum bal_code (*apply)(void *user, uint64_t now, struct bal_error *err);
    /* Somebody has looked for the dead; for what is to be done about eight times a second by one process. */
    void (*tick)(void *user, uint64_t now);
    /* Not locked: there may be news for this process. */
    void (*news)(void *user);
};

enum { BAL_NGX_OWNERS = 256 }; /* processes that take part at once; owner(i) is asked for i below it */

struct bal_ngx_zone {
    const struct bal_ngx_role *role;
    void *user;
    ngx_shm_zone_t *shm;
    struct bal_ngx_mail *mail;      /* NULL: it says nothing to others */
    const bool *wakes;              /* somebody is to be woken; once this process has its view */
    const uint64_t *hears;          /* in shared memory, the id of the zone that hears what comes; or NULL */
    struct bal_ngx_zone_head *head; /* in shared memory, as is what follows */
    bal_ngx_lock *lock;
    void *block;
    bool opened;            /* this process has its view */
    bool inside;            /* this process takes part; if not, nothing below may be called */
    bool told;              /* that something cannot be done for now has been logged */
    ngx_uint_t waiting;     /* requests of this process that wait */
    ngx_connection_t whose; /* what nginx, when it writes a debug log, takes the events below to belong to */
    ngx_event_t news;       /* posted when there may be some */
    ngx_event_t patient;    /* a timer while requests wait */
    ngx_event_t due;        /* a timer for what is due before the next tick */
};

/* In the configuration. The zone is the caller's, zeroed, and lives as long as the configuration. `name` must
 * be unique and say all that the size and the meaning of the block depend on. */
ngx_int_t bal_ngx_zone_add(ngx_conf_t *cf, struct bal_ngx_zone *z, const ngx_str_t *name,
                           const struct bal_ngx_role *role, void *user);

/* A size that keeps what lies behind it aligned. */
static inline size_t bal_ngx_aligned(size_t size) {
    return (size + 63) & ~(size_t)63;
}

static inline void bal_ngx_zone_lock(struct bal_ngx_zone *z) {
    bal_ngx_lock_take(z->lock);
}
/* Wakes those for whom there is news: asks role.woken until there is nobody left; and sends what is to be
 * sent. */
void bal_ngx_zone_unlock_and_tell(struct bal_ngx_zone *z);
static inline void bal_ngx_zone_unlock(struct bal_ngx_zone *z) {
    if (*z->wakes || z->mail)
        bal_ngx_zone_unlock_and_tell(z);
    else
        bal_ngx_lock_give(z->lock);
}

/* Messages have come that are genuine. */
void bal_ngx_zone_hear(struct bal_ngx_zone *z, const struct bal_message *message, uint32_t count);
/* Datagrams have come of which nothing was heard; takes over what this process has counted, and clears it. */
void bal_ngx_zone_count(struct bal_ngx_zone *z, uint64_t receipts[BAL_RECEIPTS]);
/* So many of all processes. */
uint64_t bal_ngx_zone_receipts(const struct bal_ngx_zone *z, enum bal_receipt receipt);

/* A request of this process begins to wait, for at most `most` milliseconds; has ceased to. */
void bal_ngx_zone_wait(struct bal_ngx_zone *z, ngx_msec_t most);
void bal_ngx_zone_waited(struct bal_ngx_zone *z);

/* Zones of the running configuration, for status pages: the i-th, NULL behind the last. */
struct bal_ngx_zone *bal_ngx_zone_at(ngx_uint_t i);

/* The module that hosts all zones: number of processes and connections, hooks, timers. */
extern ngx_module_t ngx_ballast_module;

#endif
