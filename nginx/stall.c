/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process does while the lock of a zone cannot be acquired: deferring, counting, logging. */
#include "stall.h"

#include "process.h"
#include "zone.h"

#include <string.h>

enum { RETRY_MS = 10, ROOM_FIRST = 64 };

/* The first process that finds the stalled holder logs it, for all of them. */
static void log_stall(struct bli_ngx_zone *z) {
    struct bli_ngx_stalls *s = z->stalls;
    const bli_ngx_lock holder = z->stall.holder;
    if (__atomic_exchange_n(&s->holder, holder, __ATOMIC_RELAXED) == holder)
        return;
    __atomic_store_n(&s->since_ns, bli_ngx_now(), __ATOMIC_RELAXED);
    __atomic_store_n(&s->requests_before, __atomic_load_n(&s->requests, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->count, 1, __ATOMIC_RELAXED);
    bli_ngx_journal_add(
        NGX_LOG_ERR,
        "ballast: %s \"%V\": process %uL holds the lock and has not gone on for %d ms, is it stopped? "
        "Requests go to servers in turn, uncounted, until it goes on or ends",
        z->kind, z->host, holder >> 32, BLI_NGX_LOCK_MS);
    bli_ngx_journal_write();
}

bool bli_ngx_stall_begin(struct bli_ngx_zone *z) {
    if (z->stall.timer.timer_set)
        return false;
    ngx_add_timer(&z->stall.timer, RETRY_MS);
    bli_ngx_post_event(&z->wakeup_event); /* waiting requests continue */
    log_stall(z);
    return false;
}

static bool grow_deferred(struct bli_ngx_stall *stall) {
    const uint32_t room = stall->room ? 2 * stall->room : ROOM_FIRST;
    struct bli_ngx_deferred *larger = ngx_alloc(room * sizeof *larger, ngx_cycle->log);
    if (!larger)
        return false;
    if (stall->count)
        memcpy(larger, stall->deferred, stall->count * sizeof *larger);
    if (stall->deferred)
        ngx_free(stall->deferred);
    stall->deferred = larger;
    stall->room = room;
    return true;
}

/* When out of memory, the ticket is kept until this process ends, and is released then with all others of the
 * process. */
void bli_ngx_stall_defer(struct bli_ngx_zone *z, uint64_t ticket, enum bli_ngx_deferral what) {
    struct bli_ngx_stall *stall = &z->stall;
    if (stall->count == stall->room && !grow_deferred(stall))
        return;
    stall->deferred[stall->count++] = (struct bli_ngx_deferred){ticket, what};
}

void bli_ngx_stall_count_request(struct bli_ngx_zone *z) {
    __atomic_fetch_add(&z->stalls->requests, 1, __ATOMIC_RELAXED);
}

void bli_ngx_stall_count_datagrams(struct bli_ngx_zone *z, uint32_t count) {
    __atomic_fetch_add(&z->stalls->datagrams, count, __ATOMIC_RELAXED);
}

bool bli_ngx_stall_try(struct bli_ngx_zone *z) {
    if (bli_ngx_lock_try_acquire(z->lock, &z->stall.holder))
        return true;
    ngx_add_timer(&z->stall.timer, RETRY_MS);
    return false;
}

void bli_ngx_stall_run_deferred(struct bli_ngx_zone *z, uint64_t now) {
    for (uint32_t i = 0; i < z->stall.count; i++)
        z->role->finish_deferred(z->user, now, z->stall.deferred[i].ticket, z->stall.deferred[i].what);
    z->stall.count = 0;
}

void bli_ngx_stall_end(struct bli_ngx_zone *z) {
    struct bli_ngx_stalls *s = z->stalls;
    if (z->stall.deferred)
        ngx_free(z->stall.deferred);
    z->stall.deferred = NULL;
    z->stall.room = 0;
    const bli_ngx_lock holder = __atomic_exchange_n(&s->holder, 0, __ATOMIC_RELAXED);
    if (!holder)
        return;
    const uint64_t since = __atomic_load_n(&s->since_ns, __ATOMIC_RELAXED);
    const uint64_t before = __atomic_load_n(&s->requests_before, __ATOMIC_RELAXED);
    bli_ngx_journal_log(
        NGX_LOG_NOTICE, ngx_cycle->log,
        "ballast: %s \"%V\": the lock of process %uL is free again after %uL ms; %uL requests "
        "were not counted",
        z->kind, z->host, holder >> 32, (bli_ngx_now() - since) / 1000000,
        __atomic_load_n(&s->requests, __ATOMIC_RELAXED) - before);
}
