/* SPDX-License-Identifier: BSD-2-Clause */
/* With a perfect network and one process a live dispatcher chooses the servers that the lab's event engine
 * chooses, for the same arrivals and every policy that a dispatcher can host, whether servers work on one job
 * at a time or on several.
 *
 * The engine runs the policy behind a listener that writes down what the dispatcher sees: jobs with the
 * server that was chosen, responses, reports, and the queue lengths that a probe would find. The live
 * dispatcher is shown the same and must answer the same. Without stations what servers report follows from
 * the responses alone; with stations it comes as messages, and probes are answered by messages too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../live/lab_listener.h"
#include "../texts.h"
#include "ballast/live/dispatcher.h"

enum { SERVERS = LISTENER_SERVERS, JOBS = LISTENER_JOBS, SEED = LISTENER_SEED, STATION = 100 };

/* ---- the live dispatcher ---- */

struct live {
    struct bal_dispatcher *d;
    void *block;
    bool stations;
    uint64_t now, sequence, tokens[SERVERS];
    uint64_t ticket[SERVERS][4096]; /* of requests under way, in the order in which they came */
    uint64_t sent[SERVERS][4096];
    uint8_t rank[SERVERS][4096];
    uint32_t under_way[SERVERS];
};

static void live_begin(struct live *live, const struct bal_policy_spec *spec, bool stations, bool classes,
                       uint32_t slots) {
    const uint64_t hour = UINT64_C(3600000000000);
    const struct bal_dispatcher_config config = {.servers = SERVERS,
                                                 .workers = 1,
                                                 .requests = 4096,
                                                 .classes = classes ? 2 : 1,
                                                 .slots = slots,
                                                 .stations = stations,
                                                 .probe_ns = hour,
                                                 .grace_ns = hour,
                                                 .beat_ns = hour,
                                                 .id = 1,
                                                 .boot = 1};
    struct bal_dispatcher_server servers[SERVERS];
    char names[SERVERS][16];
    struct bal_error err;
    memset(live, 0, sizeof *live);
    live->stations = stations;
    if (bal_dispatcher_check(spec, &config, &err))
        fail_msg("%s", err.text);
    live->block = aligned_alloc(64, bal_dispatcher_size(spec, &config));
    live->d = malloc(bal_dispatcher_view_size(spec, &config));
    assert_true(live->block && live->d);
    bal_dispatcher_create(live->block, spec, &config, 0);
    assert_int_equal(bal_dispatcher_open(live->d, live->block, SEED, &err), BAL_OK);
    assert_int_equal(bal_dispatcher_join(live->d, 0, 1, 1, &err), BAL_OK);
    for (uint32_t i = 0; i < SERVERS; i++) {
        snprintf(names[i], sizeof names[i], "server%u", i);
        servers[i] = (struct bal_dispatcher_server){.name = names[i], .station = STATION + i};
    }
    assert_int_equal(bal_dispatcher_configure(live->d, 0, servers, SERVERS, &err), BAL_OK);
}

static void live_end(struct live *live) {
    free(live->d);
    free(live->block);
}

static void hear(struct live *live, uint32_t server, struct bal_message message) {
    message.sender = STATION + server;
    message.boot = 1;
    message.sequence = ++live->sequence;
    assert_int_equal(bal_dispatcher_receive(live->d, live->now, &message), BAL_RECEIPT_FRESH);
}

static struct bal_message load_of(const struct entry *entry, uint32_t server, uint64_t probe) {
    return (struct bal_message){
        .type = BAL_MSG_LOAD,
        .load = {.probe = probe,
                 .slots = 1,
                 .latency_us = UINT32_MAX,
                 .valid_ms = BAL_VALID_MAX,
                 .power = BAL_POWER_ON,
                 .classes = 2,
                 .jobs = {entry->urgent[server], entry->length[server] - entry->urgent[server]}}};
}

/* Probes are answered at once, by what the lab would have seen. */
static void answer_probes(struct live *live, const struct entry *entry) {
    uint32_t count;
    const struct bal_message *out = bal_dispatcher_outgoing(live->d, &count);
    struct bal_message probes[256];
    memcpy(probes, out, count * sizeof *out);
    for (uint32_t i = 0; i < count; i++)
        if (probes[i].type == BAL_MSG_PROBE) {
            const uint32_t server = (uint32_t)(probes[i].receiver - STATION);
            hear(live, server, load_of(entry, server, probes[i].probe.probe));
        }
}

static uint32_t arrive(struct live *live, const struct entry *entry) {
    struct bal_dispatch to;
    bal_dispatcher_arrive(live->d, live->now, entry->rank, &to);
    if (live->stations)
        answer_probes(live, entry);
    if (to.verdict == BAL_WAIT && !bal_dispatcher_next_decision(live->d, live->now, &to))
        fail_msg("a request still waits though all probes have been answered");
    if (to.verdict == BAL_REFUSE)
        return BAL_NONE;
    const uint32_t last = live->under_way[to.server]++;
    assert_true(last < 4096);
    live->ticket[to.server][last] = to.ticket;
    live->sent[to.server][last] = live->now;
    live->rank[to.server][last] = (uint8_t)entry->rank;
    return to.server;
}

/* Of those of a class at a server the one that was sent then; -1: there is none of that class. */
static int sent_then(const struct live *live, uint32_t server, uint32_t rank, double then) {
    int best = -1;
    for (uint32_t i = 0; i < live->under_way[server]; i++)
        if (live->rank[server][i] == rank && (best < 0 || fabs((double)live->sent[server][i] - then) <
                                                              fabs((double)live->sent[server][best] - then)))
            best = (int)i;
    return best;
}

/* A job that has been moved answers from elsewhere: it is then one of any server. */
static void respond(struct live *live, const struct entry *entry) {
    for (uint32_t k = 0; k < SERVERS; k++) {
        const uint32_t server = (entry->server + k) % SERVERS;
        const int i = sent_then(live, server, entry->rank, (double)live->now - entry->took * 1e9);
        if (i < 0)
            continue;
        assert_true(bal_dispatcher_respond(live->d, live->now, live->ticket[server][i], BAL_OUTCOME_GOOD));
        const uint32_t left = --live->under_way[server] - (uint32_t)i;
        memmove(&live->ticket[server][i], &live->ticket[server][i + 1], left * sizeof **live->ticket);
        memmove(&live->sent[server][i], &live->sent[server][i + 1], left * sizeof **live->sent);
        memmove(&live->rank[server][i], &live->rank[server][i + 1], left * sizeof **live->rank);
        return;
    }
    fail_msg("a response to nobody");
}

static void hear_report(struct live *live, const struct entry *entry) {
    const uint32_t server = entry->server;
    struct bal_message message = {.type = BAL_MSG_POWER, .power = {.valid_ms = BAL_VALID_MAX}};
    if (entry->report == BAL_REPORT_LOAD) {
        message = load_of(entry, server, 0);
    } else if (entry->report == BAL_REPORT_OFF || entry->report == BAL_REPORT_SETUP) {
        message.power.power = entry->report == BAL_REPORT_OFF ? BAL_POWER_OFF : BAL_POWER_SETUP;
    } else {
        message = (struct bal_message){
            .type = BAL_MSG_IDLE,
            .idle = {.free = 1, .slots = 1, .valid_ms = BAL_VALID_MAX, .token = ++live->tokens[server]}};
    }
    hear(live, server, message);
}

static void same_servers(const struct bal_policy_spec *spec, bool stations, bool classes, uint32_t slots) {
    static struct live live;
    size_t compared = 0;
    live_begin(&live, spec, stations, classes, slots);
    for (size_t i = 0; i < listener_entries(); i++) {
        const struct entry *entry = listener_entry(i);
        const uint64_t now = (uint64_t)llrint(entry->now * 1e9);
        live.now = now > live.now ? now : live.now;
        if (entry->what == RESPONSE)
            respond(&live, entry);
        if (entry->what == REPORT && stations)
            hear_report(&live, entry);
        if (entry->what != ROUTE)
            continue;
        const uint32_t server = arrive(&live, entry);
        if (server != entry->server)
            fail_msg("%s%s, %u slots: job %zu goes to server %u in the lab and to %u live",
                     spec->policy->name, stations ? ", stations" : "", slots, compared, entry->server,
                     server);
        compared++;
    }
    assert_true(compared > JOBS / 2);
    live_end(&live);
}

static const char *const more[] = {
    "jiq:else=least-conn",   "least-conn:d=2",    "least-conn:d=2,replace=1", "least-conn:ties=turn",
    "least-conn:ties=queue", "pod:d=3,replace=0", "pod-memory:d=2,b=3",       "tabs:else=least-conn"};

static struct bal_policy_spec policy_at(size_t i) {
    const char *text = i < bal_policy_count ? bal_policy_table[i]->name : more[i - bal_policy_count];
    if (strcmp(text, "rcpb") == 0)
        text = "rcpb:mu=1"; /* the load is not known live, and mup would need it */
    return policy_of(text);
}

/* Without stations; false: that is no host for it, or draws the times of reports by itself. */
static bool can_be_alone(const struct bal_policy_spec *spec) {
    const struct bal_dispatcher_config plain = {.servers = SERVERS, .workers = 1, .requests = 1};
    return bal_dispatcher_check(spec, &plain, NULL) == BAL_OK &&
           !(spec->policy->wants & BAL_WANTS_STILL_IDLE);
}

static void a_live_dispatcher_chooses_as_the_lab_does(void **state) {
    (void)state;
    const size_t texts = bal_policy_count + sizeof more / sizeof *more;
    unsigned alone = 0, with_stations = 0;
    for (size_t i = 0; i < texts; i++) {
        const struct bal_policy_spec spec = policy_at(i);
        const bool classes = bal_policy_flags(&spec) & BAL_TAKES_RANKS;
        if (bal_policy_flags(&spec) & BAL_NEEDS_WORK || strcmp(spec.policy->name, "rate-idle") == 0 ||
            !listener_run(&spec, classes, 1))
            continue;
        const bool is_alone = can_be_alone(&spec);
        same_servers(&spec, !is_alone, classes, 1);
        alone += is_alone;
        with_stations += !is_alone;
    }
    /* All but least-work, whose probes would tell the future, and rate-idle, which must know the load. */
    assert_int_equal(alone + with_stations, texts - 2);
    assert_true(with_stations >= 3);
    listener_forget();
}

/* What idle means where servers have several slots, and when they say so, is one rule (ballast/policy.h).
 * With stations it is not: these offer each of their slots for itself. */
static void so_it_does_where_servers_have_several_slots(void **state) {
    (void)state;
    unsigned compared = 0;
    for (size_t i = 0; i < bal_policy_count + sizeof more / sizeof *more; i++) {
        const struct bal_policy_spec spec = policy_at(i);
        const bool classes = bal_policy_flags(&spec) & BAL_TAKES_RANKS;
        if (bal_policy_flags(&spec) & BAL_NEEDS_WORK || !can_be_alone(&spec) ||
            !listener_run(&spec, classes, 3))
            continue;
        same_servers(&spec, false, classes, 3);
        compared++;
    }
    assert_true(compared >= 18);
    listener_forget();
}

/* What a probe or a report says is the same whether it is at hand or comes as a message. */
static void stations_change_nothing(void **state) {
    (void)state;
    static const char *const policies[] = {"random", "round-robin", "pod:d=2", "jiq",
                                           "pi",     "least-conn",  "pod-scp"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct bal_policy_spec spec = policy_of(policies[i]);
        const bool classes = bal_policy_flags(&spec) & BAL_TAKES_RANKS;
        assert_true(listener_run(&spec, classes, 1));
        same_servers(&spec, true, classes, 1);
    }
    listener_forget();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_live_dispatcher_chooses_as_the_lab_does),
        cmocka_unit_test(so_it_does_where_servers_have_several_slots),
        cmocka_unit_test(stations_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
