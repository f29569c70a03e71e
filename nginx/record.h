/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of answered requests: how long they took, by class; for how long servers were on; and with
 * `record=N` the last N requests. They lie in the zone of the dispatcher or station, in front of the core's
 * block, and are read and written under the lock of that zone.
 *
 * A request is recorded once, when its last answer is complete: one write into a histogram, and one of 24
 * bytes into the ring. Neither the content of the request nor the client is recorded. */
#ifndef NGINX_RECORD_H
#define NGINX_RECORD_H

#include "ballast/live/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- times ---- */

/* The histogram has four buckets for each factor of two, from 2^16 ns (66 us) to 2^37 ns (137 s): the first
 * bucket is for all that is shorter, the last for all that is longer. */
enum { BLI_NGX_SHORT = 16, BLI_NGX_LONG = 37, BLI_NGX_TIMES = 4 * (BLI_NGX_LONG - BLI_NGX_SHORT) + 2 };

struct bli_ngx_times {
    uint64_t count, sum_ns;
    uint64_t bucket[BLI_NGX_TIMES];
};

static inline uint32_t bli_ngx_times_bucket(uint64_t ns) {
    if (ns >> BLI_NGX_SHORT == 0)
        return 0;
    const uint32_t octave = 63 - (uint32_t)__builtin_clzll(ns);
    if (octave >= BLI_NGX_LONG)
        return BLI_NGX_TIMES - 1;
    return 1 + 4 * (octave - BLI_NGX_SHORT) + (uint32_t)(ns >> (octave - 2) & 3);
}

/* Times in a bucket are below this many nanoseconds; not of the last one. */
uint64_t bli_ngx_times_bound(uint32_t bucket);

/* ---- requests ---- */

struct bli_ngx_record {
    uint64_t arrived_ns; /* of bli_ngx_now() */
    uint32_t wait_us;    /* until it was sent to the server */
    uint32_t took_us;    /* from then on until the answer was complete */
    uint32_t server;     /* index of the last one; at a station 0: its app, 1: another station */
    uint16_t status;     /* of its answer; 0: there was none */
    uint8_t rank;        /* class */
    uint8_t reason;      /* enum bal_reason; of a dispatcher */
};

/* For how long a server was in each state, sampled eight times a second. */
enum bli_ngx_server_activity { BLI_NGX_OFF, BLI_NGX_SETUP, BLI_NGX_IDLE, BLI_NGX_BUSY, BLI_NGX_ACTIVITIES };
const char *bli_ngx_activity_name(enum bli_ngx_server_activity activity);

struct bli_ngx_meter {
    uint64_t ns[BLI_NGX_ACTIVITIES];
};

struct bli_ngx_records {
    uint64_t metered_at; /* 0: not yet */
    uint64_t next;       /* how many were recorded: the number of the next one */
    uint32_t servers;    /* that are metered */
    uint32_t room;       /* records in the ring: none, or a power of two */
    struct bli_ngx_times times[BAL_CLASSES_MAX];
    struct bli_ngx_meter meter[];
};

enum { BLI_NGX_RECORDS_MAX = 1 << 24 };
/* The least power of two that is not less; 0 for 0. */
uint32_t bli_ngx_records_capacity(uint32_t wanted);
size_t bli_ngx_records_size(uint32_t servers, uint32_t room);
void bli_ngx_records_init(struct bli_ngx_records *records, uint32_t servers, uint32_t room);

static inline struct bli_ngx_record *bli_ngx_records_ring(struct bli_ngx_records *records) {
    return (struct bli_ngx_record *)(void *)&records->meter[records->servers];
}

/* A request of that class has been answered, `ns` after it came. */
static inline void bli_ngx_records_add_time(struct bli_ngx_records *records, uint32_t rank, uint64_t ns) {
    struct bli_ngx_times *times = &records->times[rank];
    times->count++;
    times->sum_ns += ns;
    times->bucket[bli_ngx_times_bucket(ns)]++;
}

/* Into the ring, if there is one. */
static inline void bli_ngx_records_append(struct bli_ngx_records *records,
                                          const struct bli_ngx_record *record) {
    if (records->room)
        bli_ngx_records_ring(records)[records->next++ & (records->room - 1)] = *record;
}

/* Both. */
static inline void bli_ngx_records_add(struct bli_ngx_records *records, const struct bli_ngx_record *record,
                                       uint64_t ns) {
    bli_ngx_records_add_time(records, record->rank, ns);
    bli_ngx_records_append(records, record);
}

static inline uint32_t bli_ngx_microseconds(uint64_t ns) {
    return ns / 1000 < UINT32_MAX ? (uint32_t)(ns / 1000) : UINT32_MAX;
}

/* Time since the last call; then, for each server, what it was doing in that time. A server that does not
 * exist (doing is BLI_NGX_ACTIVITIES) is reset. */
uint64_t bli_ngx_records_elapsed(struct bli_ngx_records *records, uint64_t now);
void bli_ngx_records_add_activity(struct bli_ngx_records *records, uint32_t server,
                                  enum bli_ngx_server_activity activity, uint64_t ns);

/* Records from number `since` on, at most `most` of them, into `into`; returns the number of the first, and
 * how many there are. The first is later than `since` when older records have been overwritten, and earlier
 * when fewer were ever recorded. */
uint64_t bli_ngx_records_copy(struct bli_ngx_records *records, uint64_t since, uint32_t most,
                              struct bli_ngx_record *into, uint32_t *count);

#endif
