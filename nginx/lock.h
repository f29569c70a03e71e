/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock in shared memory whose holder may be killed or stopped. It names its holder. A process that finds
 * the holder dead takes the lock over (the core detects and repairs the unfinished operation), and one that
 * finds that the holder makes no progress stops waiting after BLI_NGX_LOCK_MS.
 *
 * It does not need the master, so it also works in zones that the master no longer knows, and costs one
 * atomic read-modify-write, where there are two in nginx's own and about ten times as many in a robust mutex
 * of pthreads. */
#ifndef NGINX_LOCK_H
#define NGINX_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The holder: its pid and, below, when it was started; 0: none. */
typedef uint64_t bli_ngx_lock;

/* How long to wait for a holder: a thousand times as long as any operation takes, and longer than a holder
 * waits for a processor on a machine with tens of busy ones. Time in which this process did not run either
 * hardly counts, so that a machine that is paused is not mistaken for a holder that is stopped. */
enum { BLI_NGX_LOCK_MS = 100 };

extern bli_ngx_lock bli_ngx_self;

/* In each process, before it locks anything. */
void bli_ngx_lock_init(void);

/* The slow path of acquire: another process holds the lock, or did. */
bool bli_ngx_lock_wait(bli_ngx_lock *lock, bli_ngx_lock *stalled);

/* False: it could not be acquired. *stalled, private to this process, is the holder for which waiting has
 * timed out; while that one has the lock, acquire does not wait for it again. */
__attribute__((warn_unused_result)) static inline bool bli_ngx_lock_acquire(bli_ngx_lock *lock,
                                                                            bli_ngx_lock *stalled) {
    bli_ngx_lock none = 0;
    return __atomic_compare_exchange_n(lock, &none, bli_ngx_self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ||
           bli_ngx_lock_wait(lock, stalled);
}

/* Acquires it without waiting, if it is free or its holder is dead. Then *stalled is 0. */
__attribute__((warn_unused_result)) bool bli_ngx_lock_try_acquire(bli_ngx_lock *lock, bli_ngx_lock *stalled);

static inline void bli_ngx_lock_release(bli_ngx_lock *lock) {
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
