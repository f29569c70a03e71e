/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever genuine members of a fleet say, in whatever role: a station and dispatchers with several policies
 * hear messages of all types from all senders, with any values that the wire lets pass, between requests that
 * come and go. After each operation everything must be as the requests say, and what is said must be sayable.
 */
#include "ballast/live/dispatcher.h"
#include "ballast/live/station.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ME = 9, PEERS = 6, SERVERS = 3, REQUESTS = 8, KEEPER = 6 }; /* senders are 1 ... PEERS */

struct input {
    const uint8_t *data;
    size_t size;
};

/* Small numbers mostly, and now and then any. */
static uint64_t number(struct input *in, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes && in->size; i++, in->size--)
        value = value << 8 | *in->data++;
    return value;
}

static uint64_t value(struct input *in) {
    const uint64_t first = number(in, 1);
    return first < 250 ? first : first < 253 ? number(in, 4) : first == 253 ? UINT32_MAX : UINT64_MAX;
}

/* Its body is one run of numbers, whatever the type makes of them. */
static bool make_message(struct input *in, struct bal_message *message) {
    memset(message, 0, sizeof *message);
    message->type = (enum bal_message_type)(1 + number(in, 1) % (BAL_MSG_TYPES - 1));
    message->fleet = 7;
    message->sender = 1 + number(in, 1) % PEERS;
    message->receiver = ME;
    message->boot = value(in);
    message->sequence = value(in);
    uint32_t *at = (uint32_t *)(void *)&message->idle;
    for (int i = 0; i < 12; i++)
        at[i] = (uint32_t)value(in);
    if (message->type == BAL_MSG_GRANT)
        message->grant.count %= 4;
    return !bal_message_fault(message);
}

static void check_said(const struct bal_message *message, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        assert(!bal_message_fault(&message[i]));
}

/* ---- a station ---- */

static void operate_station(struct bal_station *s, uint64_t now, struct input *in,
                            uint64_t ticket[REQUESTS]) {
    const uint64_t what = number(in, 1) % 12;
    uint64_t *which = &ticket[number(in, 1) % REQUESTS];
    struct bal_station_task task;
    struct bal_message message;
    if (what < 6) {
        if (make_message(in, &message))
            bal_station_receive(s, now, &message);
    } else if (what == 6) {
        bal_station_arrive(s, now, (uint32_t)number(in, 1), number(in, 1) % 10, number(in, 1) & 1, &task);
        *which = task.ticket;
    } else if (what == 7) {
        bal_station_piggyback_offer(s, now, *which, &message);
    } else if (what == 8) {
        bal_station_done(s, now, *which, number(in, 1) & 1);
    } else if (what == 9) {
        bal_station_returned(s, now, *which);
    } else if (what == 10) {
        bal_station_cancel(s, now, *which);
    } else if (bal_station_next_decision(s, now, &task)) {
        *which = task.ticket;
    }
    assert(bal_station_run_timers(s, now) > now);
}

static void try_station(struct input in) {
    static const uint64_t dispatchers[] = {1, 2}, stations[] = {3, 4};
    const uint64_t options = number(&in, 1);
    struct bal_station_config config = {.workers = 2,
                                        .slots = 1 + (uint32_t)(options % 3),
                                        .queue = 5,
                                        .classes = 2,
                                        .peers = 5,
                                        .beat_ns = 100000000,
                                        .offer_ns = options & 8 ? 50000000 : 0,
                                        .steal = {.kind = options & 16 ? BAL_STEAL_HALF : BAL_STEAL_NONE},
                                        .steal_ns = 50000000,
                                        .keeper = options & 32 ? KEEPER : 0,
                                        .standby_ns = options & 32 ? 200000000 : 0,
                                        .fleet = 7,
                                        .id = ME,
                                        .boot = 1};
    uint64_t now = 1000000000, ticket[REQUESTS] = {0};
    void *block = aligned_alloc(64, bal_station_size(&config));
    struct bal_station *s = malloc(bal_station_view_size(&config));
    assert(block && s && !bal_station_check(&config, NULL));
    bal_station_create(block, &config, now);
    assert(!bal_station_open(s, block, 1, NULL) && !bal_station_join(s, now, 11, 1, NULL));
    assert(!bal_station_configure(s, now, dispatchers, 2, stations, 2, NULL));
    while (in.size) {
        uint32_t count;
        now += number(&in, 1) * 2000000;
        operate_station(s, now, &in, ticket);
        const char *fault = bal_station_find_inconsistency(s);
        assert(!fault);
        const struct bal_message *said = bal_station_outgoing(s, &count);
        check_said(said, count);
    }
    free(s);
    free(block);
}

/* ---- a dispatcher ---- */

static void operate_dispatcher(struct bal_dispatcher *d, uint64_t now, struct input *in,
                               uint64_t ticket[REQUESTS]) {
    const uint64_t what = number(in, 1) % 11;
    uint64_t *which = &ticket[number(in, 1) % REQUESTS];
    struct bal_dispatch to;
    struct bal_message message;
    if (what < 6) {
        if (make_message(in, &message))
            bal_dispatcher_receive(d, now, &message);
    } else if (what == 6) {
        bal_dispatcher_arrive(d, now, (uint32_t)number(in, 1), &to);
        *which = to.ticket;
    } else if (what == 7) {
        bal_dispatcher_respond(d, now, *which, (enum bal_outcome)(number(in, 1) % 3));
    } else if (what == 8) {
        bal_dispatcher_retry(d, now, *which, (enum bal_outcome)(number(in, 1) % 3), &to);
        *which = to.ticket;
    } else if (what == 9) {
        bal_dispatcher_cancel(d, now, *which);
    } else if (bal_dispatcher_next_decision(d, now, &to)) {
        *which = to.ticket;
    }
    assert(bal_dispatcher_run_timers(d, now) > now);
}

static void try_dispatcher(struct input in) {
    static const char *const policies[] = {
        "jiq", "jiq:else=hold", "tabs:else=hold",      "tabs",      "pod-ssp", "rcpb:c=1,mu=1",
        "pi",  "jsq",           "jiq:else=least-conn", "least-conn"};
    static const struct bal_dispatcher_server servers[SERVERS] = {
        {.name = "a", .station = 1}, {.name = "b", .station = 2}, {.name = "c", .station = 3}};
    const char *name = policies[number(&in, 1) % (sizeof policies / sizeof *policies)];
    const struct bal_dispatcher_config config = {.servers = SERVERS + 1,
                                                 .workers = 2,
                                                 .requests = REQUESTS,
                                                 .classes = 2,
                                                 .held = 4,
                                                 .hold_ns = 1000000000,
                                                 .failures = 2,
                                                 .back_off_ns = 100000000,
                                                 .stations = true,
                                                 .probe_ns = 10000000,
                                                 .grace_ns = 1000000000,
                                                 .beat_ns = 100000000,
                                                 .fleet = 7,
                                                 .id = ME,
                                                 .boot = 1};
    struct bal_policy_spec policy;
    uint64_t now = 1000000000, ticket[REQUESTS] = {0};
    assert(!bal_policy_parse(name, &policy, NULL) && !bal_dispatcher_check(&policy, &config, NULL));
    void *block = aligned_alloc(64, (bal_dispatcher_size(&policy, &config) + 63) & ~(size_t)63);
    struct bal_dispatcher *d = malloc(bal_dispatcher_view_size(&policy, &config));
    assert(block && d);
    bal_dispatcher_create(block, &policy, &config, now);
    assert(!bal_dispatcher_open(d, block, 1, NULL) && !bal_dispatcher_join(d, now, 11, 1, NULL));
    assert(!bal_dispatcher_configure(d, now, servers, SERVERS, NULL));
    while (in.size) {
        uint32_t count;
        now += number(&in, 1) * 2000000;
        operate_dispatcher(d, now, &in, ticket);
        const char *fault = bal_dispatcher_find_inconsistency(d);
        assert(!fault);
        const struct bal_message *said = bal_dispatcher_outgoing(d, &count);
        check_said(said, count);
    }
    free(d);
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > 4096)
        return 0;
    const struct input in = {data + 1, size - 1};
    if (data[0] & 1)
        try_station(in);
    else
        try_dispatcher(in);
    return 0;
}
