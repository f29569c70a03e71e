#include "lock.h"

#include "process.h"

#include <time.h>

enum {
    SPINS = 500,  /* some ten microseconds: most operations take less than one */
    NAP_US = 50,  /* then its owner does not run */
    ASK_NAPS = 20 /* after so many naps again it is asked whether it lives */
};

bal_ngx_lock bal_ngx_self;

void bal_ngx_lock_init(void) {
    const uint64_t pid = (uint64_t)ngx_pid;
    bal_ngx_self = pid << 32 | (uint32_t)bal_ngx_start_time(pid);
}

static bool take_from(bal_ngx_lock *lock, bal_ngx_lock owner) {
    return __atomic_compare_exchange_n(lock, &owner, bal_ngx_self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void bal_ngx_lock_wait(bal_ngx_lock *lock) {
    static const struct timespec nap = {0, NAP_US * 1000};
    for (uint32_t spins = 0; ngx_ncpu > 1 && spins < SPINS; spins++) {
        if (__atomic_load_n(lock, __ATOMIC_RELAXED) == 0 && take_from(lock, 0))
            return;
        ngx_cpu_pause();
    }
    for (uint32_t naps = 0;; naps++) {
        const bal_ngx_lock owner = __atomic_load_n(lock, __ATOMIC_RELAXED);
        const bool dead =
            owner && naps % ASK_NAPS == ASK_NAPS - 1 && bal_ngx_is_dead(owner >> 32, (uint32_t)owner);
        if ((owner == 0 || dead) && take_from(lock, owner)) {
            if (dead)
                ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                              "ballast: process %uL has died with a lock, which is taken from it",
                              owner >> 32);
            return;
        }
        nanosleep(&nap, NULL);
    }
}
