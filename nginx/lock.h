/* A lock in shared memory whose owner may be killed: it says who has it, and whoever finds that this process
 * is dead takes it over. What the dead one was doing is for the core to find out and to make good.
 *
 * It takes nobody's help, so that it also works in zones of which the master knows nothing any longer, and
 * costs one instruction that is dear, where there are two in nginx's own and about ten times as many in a
 * robust mutex of pthreads. */
#ifndef NGINX_LOCK_H
#define NGINX_LOCK_H

#include <stdint.h>

/* Who has it: the number of the process and, below, when it was started; 0: nobody. */
typedef uint64_t bal_ngx_lock;

extern bal_ngx_lock bal_ngx_self;

/* In each process, before it locks anything. */
void bal_ngx_lock_init(void);

/* Somebody else has it, or had. */
void bal_ngx_lock_wait(bal_ngx_lock *lock);

static inline void bal_ngx_lock_take(bal_ngx_lock *lock) {
    bal_ngx_lock nobody = 0;
    if (!__atomic_compare_exchange_n(lock, &nobody, bal_ngx_self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        bal_ngx_lock_wait(lock);
}

static inline void bal_ngx_lock_give(bal_ngx_lock *lock) {
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
