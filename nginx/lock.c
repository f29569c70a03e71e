/* SPDX-License-Identifier: BSD-2-Clause */
/* The slow path of the lock: spinning, napping, and taking it over from a dead holder. */
#include "lock.h"

#include "journal.h"
#include "process.h"

#include <time.h>

enum {
    SPINS = 500,           /* some ten microseconds: most operations take less than one */
    NAP_US = 50,           /* then its holder does not run */
    ASK_NAPS = 20,         /* after so many naps again it is checked whether the holder lives */
    NAP_MOST_NS = 10000000 /* a nap that lasted longer counts as this: there was no processor for us either */
};

bli_ngx_lock bli_ngx_self;

void bli_ngx_lock_init(void) {
    const uint64_t pid = (uint64_t)ngx_pid;
    bli_ngx_self = pid << 32 | (uint32_t)bli_ngx_start_time(pid);
}

static bool try_acquire_from(bli_ngx_lock *lock, bli_ngx_lock holder) {
    return __atomic_compare_exchange_n(lock, &holder, bli_ngx_self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool try_acquire_from_dead(bli_ngx_lock *lock, bli_ngx_lock holder) {
    if (!bli_ngx_is_dead(holder >> 32, (uint32_t)holder) || !try_acquire_from(lock, holder))
        return false;
    bli_ngx_journal_add(NGX_LOG_NOTICE, "ballast: process %uL has died with a lock, which is taken from it",
                        holder >> 32); /* written when the lock has been released */
    return true;
}

bool bli_ngx_lock_try_acquire(bli_ngx_lock *lock, bli_ngx_lock *stalled) {
    const bli_ngx_lock holder = __atomic_load_n(lock, __ATOMIC_RELAXED);
    if (!(holder == 0 ? try_acquire_from(lock, 0) : try_acquire_from_dead(lock, holder)))
        return false;
    *stalled = 0;
    return true;
}

static bool spin_for_lock(bli_ngx_lock *lock) {
    for (uint32_t spins = 0; ngx_ncpu > 1 && spins < SPINS; spins++) {
        if (__atomic_load_n(lock, __ATOMIC_RELAXED) == 0 && try_acquire_from(lock, 0))
            return true;
        ngx_cpu_pause();
    }
    return false;
}

/* How long a nap lasted, for those that wait. */
static uint64_t sleep_once(void) {
    static const struct timespec length = {0, NAP_US * 1000};
    const uint64_t before = bli_ngx_now();
    nanosleep(&length, NULL);
    return ngx_min(bli_ngx_now() - before, NAP_MOST_NS);
}

bool bli_ngx_lock_wait(bli_ngx_lock *lock, bli_ngx_lock *stalled) {
    uint64_t waited = 0;
    bli_ngx_lock holder = __atomic_load_n(lock, __ATOMIC_RELAXED);
    if (holder && holder == *stalled)
        return false;
    if (spin_for_lock(lock))
        return true;
    for (uint32_t naps = 1; holder == 0 || waited < (uint64_t)BLI_NGX_LOCK_MS * 1000000; naps++) {
        holder = __atomic_load_n(lock, __ATOMIC_RELAXED);
        if (holder == 0 ? try_acquire_from(lock, 0)
                        : naps % ASK_NAPS == 0 && try_acquire_from_dead(lock, holder))
            return true;
        waited += sleep_once();
    }
    *stalled = holder;
    return false;
}
