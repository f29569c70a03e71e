/* SPDX-License-Identifier: BSD-2-Clause */
/* The block of a zone as this process sees it: a dispatcher or a station of the live core. What the two have
 * in common goes to the core from here; each function is that of the same name in ballast/live/dispatcher.h
 * and ballast/live/station.h. All but bli_ngx_core_wake_pending are called under the lock. */
#ifndef NGINX_CORE_H
#define NGINX_CORE_H

#include "ballast/live/dispatcher.h"
#include "ballast/live/station.h"

/* One of the two. */
struct bli_ngx_core {
    struct bal_dispatcher *d;
    struct bal_station *s;
};

static inline enum bal_code bli_ngx_core_join(const struct bli_ngx_core *core, uint64_t now, uint64_t pid,
                                              uint64_t start, struct bal_error *err) {
    return core->d ? bal_dispatcher_join(core->d, now, pid, start, err)
                   : bal_station_join(core->s, now, pid, start, err);
}

static inline uint32_t bli_ngx_core_worker_number(const struct bli_ngx_core *core) {
    return core->d ? bal_dispatcher_worker_number(core->d) : bal_station_worker_number(core->s);
}

static inline bool bli_ngx_core_worker(const struct bli_ngx_core *core, uint32_t i, uint64_t *pid,
                                       uint64_t *start) {
    return core->d ? bal_dispatcher_worker(core->d, i, pid, start)
                   : bal_station_worker(core->s, i, pid, start);
}

static inline void bli_ngx_core_reap(const struct bli_ngx_core *core, uint64_t now, uint32_t i) {
    if (core->d)
        bal_dispatcher_reap(core->d, now, i);
    else
        bal_station_reap(core->s, now, i);
}

static inline void bli_ngx_core_leave(const struct bli_ngx_core *core, uint64_t now) {
    if (core->d)
        bal_dispatcher_leave(core->d, now);
    else
        bal_station_leave(core->s, now);
}

static inline uint64_t bli_ngx_core_run_timers(const struct bli_ngx_core *core, uint64_t now) {
    return core->d ? bal_dispatcher_run_timers(core->d, now) : bal_station_run_timers(core->s, now);
}

static inline uint32_t bli_ngx_core_next_to_wake(const struct bli_ngx_core *core) {
    return core->d ? bal_dispatcher_next_to_wake(core->d) : bal_station_next_to_wake(core->s);
}

static inline const bool *bli_ngx_core_wake_pending(const struct bli_ngx_core *core) {
    return core->d ? bal_dispatcher_wake_pending(core->d) : bal_station_wake_pending(core->s);
}

static inline const struct bal_message *bli_ngx_core_outgoing(const struct bli_ngx_core *core,
                                                              uint32_t *count) {
    return core->d ? bal_dispatcher_outgoing(core->d, count) : bal_station_outgoing(core->s, count);
}

static inline enum bal_receipt bli_ngx_core_receive(const struct bli_ngx_core *core, uint64_t now,
                                                    const struct bal_message *message) {
    return core->d ? bal_dispatcher_receive(core->d, now, message)
                   : bal_station_receive(core->s, now, message);
}

static inline uint32_t bli_ngx_core_members(const struct bli_ngx_core *core, struct bal_member *list,
                                            uint32_t room) {
    return core->d ? bal_dispatcher_members(core->d, list, room) : bal_station_members(core->s, list, room);
}

static inline uint64_t bli_ngx_core_members_version(const struct bli_ngx_core *core) {
    return core->d ? bal_dispatcher_members_version(core->d) : bal_station_members_version(core->s);
}

static inline void bli_ngx_core_adopt_members(const struct bli_ngx_core *core, uint64_t now,
                                              const struct bal_member *list, uint32_t count) {
    if (core->d)
        bal_dispatcher_adopt_members(core->d, now, list, count);
    else
        bal_station_adopt_members(core->s, now, list, count);
}

#endif
