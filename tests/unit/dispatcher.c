/* SPDX-License-Identifier: BSD-2-Clause */
/* The dispatcher of a live system: what include/ballast/live/dispatcher.h promises, one promise after the
 * other. After every step the block must be sound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../live/world_inside.h"
#include "live/dispatcher_private.h"

#define MS UINT64_C(1000000)
enum { STATION = 100 }; /* the station of server i has the id STATION + i */

static struct bal_dispatcher_config plain(uint32_t servers) {
    return (struct bal_dispatcher_config){
        .servers = servers, .workers = 4, .requests = 32, .held = 16, .hold_ns = 50 * MS};
}

static struct bal_dispatcher_config stationed(uint32_t servers) {
    struct bal_dispatcher_config config = plain(servers);
    config.stations = true;
    config.probe_ns = 5 * MS;
    config.grace_ns = 1000 * MS;
    config.beat_ns = 100 * MS;
    config.fleet = 7;
    config.id = 1;
    config.boot = 1;
    return config;
}

struct fixture {
    void *block;
    struct bal_dispatcher *d;
    uint64_t now;
    uint64_t sequence, boot;
    size_t view_size;
};

static struct bal_dispatcher *view_of(const struct fixture *f, uint64_t seed) {
    struct bal_dispatcher *d = malloc(f->view_size);
    assert_non_null(d);
    assert_int_equal(bal_dispatcher_open(d, f->block, seed, NULL), BAL_OK);
    return d;
}

static void sound(const struct fixture *f) {
    const char *fault = bal_dispatcher_find_inconsistency(f->d);
    if (fault)
        fail_msg("%s", fault);
}

static void name_servers(struct bal_dispatcher_server *servers, char (*names)[16], uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], 16, "10.0.0.%u:80", i % 256);
        servers[i] = (struct bal_dispatcher_server){.name = names[i], .station = STATION + i};
    }
}

static struct fixture begin(const char *text, const struct bal_dispatcher_config *config) {
    struct bal_policy_spec policy;
    struct bal_error err = {0};
    struct fixture f = {.now = 1000 * MS, .boot = 1};
    if (bal_policy_parse(text, &policy, &err) || bal_dispatcher_check(&policy, config, &err))
        fail_msg("%s", err.text);
    f.block = aligned_alloc(64, bal_dispatcher_size(&policy, config));
    assert_non_null(f.block);
    bal_dispatcher_create(f.block, &policy, config, f.now);
    f.view_size = bal_dispatcher_view_size(&policy, config);
    f.d = view_of(&f, 1);
    assert_int_equal(bal_dispatcher_join(f.d, f.now, 11, 1, &err), BAL_OK);
    struct bal_dispatcher_server servers[16];
    char names[16][16];
    name_servers(servers, names, config->servers);
    if (bal_dispatcher_configure(f.d, f.now, servers, config->servers, &err))
        fail_msg("%s", err.text);
    sound(&f);
    return f;
}

static void end(struct fixture *f) {
    sound(f);
    free(f->d);
    free(f->block);
}

static struct bal_dispatch arrive(struct fixture *f, uint32_t rank) {
    struct bal_dispatch to;
    bal_dispatcher_arrive(f->d, f->now, rank, &to);
    sound(f);
    return to;
}

static void end_as(struct fixture *f, uint64_t ticket, enum bal_outcome outcome) {
    assert_true(bal_dispatcher_respond(f->d, f->now, ticket, outcome));
    sound(f);
}

static void respond(struct fixture *f, uint64_t ticket, bool failed) {
    end_as(f, ticket, failed ? BAL_OUTCOME_BAD : BAL_OUTCOME_GOOD);
}

static uint32_t in_flight(const struct fixture *f, uint32_t server) {
    return bal_dispatcher_server(f->d, server).in_flight;
}

/* What has been left to be sent of this type; the last one in *found. */
static uint32_t said(struct fixture *f, enum bal_message_type type, struct bal_message *found) {
    uint32_t count, matching = 0;
    const struct bal_message *out = bal_dispatcher_outgoing(f->d, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_null(bal_message_fault(&out[i]));
        if (out[i].type != type)
            continue;
        matching++;
        if (found)
            *found = out[i];
    }
    return matching;
}

static enum bal_receipt hear(struct fixture *f, uint32_t server, struct bal_message message) {
    message.fleet = 7;
    message.sender = STATION + server;
    message.boot = f->boot;
    message.sequence = ++f->sequence;
    const enum bal_receipt receipt = bal_dispatcher_receive(f->d, f->now, &message);
    sound(f);
    return receipt;
}

static struct bal_message idle(uint32_t free_slots, uint64_t token, uint32_t valid_ms) {
    return (struct bal_message){
        .type = BAL_MSG_IDLE, .idle = {.free = free_slots, .slots = 4, .valid_ms = valid_ms, .token = token}};
}

static struct bal_message load(uint64_t probe, uint32_t jobs, uint32_t power) {
    return (struct bal_message){.type = BAL_MSG_LOAD,
                                .load = {.probe = probe,
                                         .slots = 1,
                                         .in_service = jobs > 0,
                                         .latency_us = UINT32_MAX,
                                         .valid_ms = 500,
                                         .power = power,
                                         .classes = 1,
                                         .jobs = {jobs}}};
}

/* ---- without stations ---- */

static void requests_are_counted_until_they_are_answered(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(4);
    struct fixture f = begin("least-conn", &config);
    uint64_t ticket[8];
    for (int i = 0; i < 8; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        assert_int_equal(to.verdict, BAL_SEND);
        ticket[i] = to.ticket;
    }
    for (uint32_t server = 0; server < 4; server++)
        assert_int_equal(in_flight(&f, server), 2);
    for (int i = 0; i < 8; i++)
        respond(&f, ticket[i], false);
    assert_false(bal_dispatcher_respond(f.d, f.now, ticket[0], BAL_OUTCOME_GOOD));
    assert_int_equal(bal_dispatcher_counts(f.d).void_tickets, 1);
    for (uint32_t server = 0; server < 4; server++)
        assert_int_equal(in_flight(&f, server), 0);
    end(&f);
}

static void a_full_ledger_refuses(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(1);
    config.requests = 3;
    struct fixture f = begin("random", &config);
    for (int i = 0; i < 3; i++)
        assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    assert_int_equal(arrive(&f, 0).verdict, BAL_REFUSE);
    assert_int_equal(arrive(&f, 0).reason, BAL_REASON_LEDGER);
    assert_int_equal(bal_dispatcher_counts(f.d).no_room, 2);
    end(&f);
}

static void held_requests_are_served_urgent_first_and_in_order(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(1);
    config.classes = 2;
    struct fixture f = begin("jiq:else=hold", &config);
    const struct bal_dispatch first = arrive(&f, 1);
    assert_int_equal(first.verdict, BAL_SEND);
    uint64_t waiting[4];
    for (uint32_t i = 0; i < 4; i++) {
        const struct bal_dispatch to = arrive(&f, i < 2);
        assert_int_equal(to.verdict, BAL_WAIT);
        waiting[i] = to.ticket;
    }
    assert_int_equal(bal_dispatcher_held(f.d, 1), 2);
    static const int order[] = {2, 3, 0, 1};
    uint64_t running = first.ticket;
    for (int i = 0; i < 4; i++) {
        struct bal_dispatch to;
        respond(&f, running, false);
        assert_true(*bal_dispatcher_wake_pending(f.d));
        assert_int_equal(bal_dispatcher_next_to_wake(f.d), bal_dispatcher_worker_number(f.d));
        assert_int_equal(bal_dispatcher_next_to_wake(f.d), BAL_NONE);
        assert_false(*bal_dispatcher_wake_pending(f.d));
        assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
        assert_int_equal(to.verdict, BAL_SEND);
        assert_true(to.ticket == waiting[order[i]]);
        assert_false(bal_dispatcher_next_decision(f.d, f.now, &to));
        running = to.ticket;
    }
    end(&f);
}

static void a_held_request_is_sent_at_its_deadline(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("jiq:else=hold", &config);
    arrive(&f, 0);
    arrive(&f, 0);
    assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    assert_true(bal_dispatcher_run_timers(f.d, f.now) == f.now + 50 * MS);
    struct bal_dispatch to;
    f.now += 50 * MS - 1;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_false(bal_dispatcher_next_decision(f.d, f.now, &to));
    f.now++;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
    assert_int_equal(to.verdict, BAL_SEND);
    assert_int_equal(bal_dispatcher_counts(f.d).overdue, 1);
    end(&f);
}

static void those_who_wait_for_stations_that_others_hear_are_sent(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(2);
    static const char *const policies[] = {"jiq:else=hold", "pod:d=2"};
    config.refuse_beyond = true;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct fixture f = begin(policies[i], &config);
        struct bal_dispatch to;
        assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
        assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
        bal_dispatcher_detach_stations(f.d, f.now);
        for (int k = 0; k < 2; k++) {
            assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
            assert_int_equal(to.verdict, BAL_SEND);
        }
        f.now += UINT64_C(3600000) * MS; /* nothing is heard for an hour */
        assert_true(bal_dispatcher_run_timers(f.d, f.now) == UINT64_MAX);
        assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
        bal_dispatcher_detach_stations(f.d, f.now);
        assert_false(bal_dispatcher_next_decision(f.d, f.now, &to));
        end(&f);
    }
}

static void more_than_may_be_held_are_sent_at_once(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    config.held = 1;
    struct fixture f = begin("jiq:else=hold", &config);
    for (int i = 0; i < 2; i++)
        assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    end(&f);
}

static void where_it_is_so_configured_requests_beyond_are_refused(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    config.held = 1;
    config.classes = 2;
    config.refuse_beyond = true;
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_dispatch to;
    for (int i = 0; i < 2; i++)
        assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    const struct bal_dispatch held = arrive(&f, 0);
    assert_int_equal(held.verdict, BAL_WAIT);
    for (uint32_t rank = 0; rank < 2; rank++) { /* behind the one of its class, and in a class of its own */
        to = arrive(&f, rank);
        assert_int_equal(to.verdict, BAL_REFUSE);
        assert_int_equal(to.reason, BAL_REASON_NO_ROOM);
        assert_int_equal(to.rank, rank);
    }
    f.now += 50 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    sound(&f);
    assert_int_equal(bal_dispatcher_next_to_wake(f.d), bal_dispatcher_worker_number(f.d));
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
    assert_int_equal(to.verdict, BAL_REFUSE);
    assert_int_equal(to.reason, BAL_REASON_TOO_LONG);
    assert_true(to.ticket == held.ticket && to.waited_ns == 50 * MS);
    assert_false(bal_dispatcher_cancel(f.d, f.now, held.ticket));
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(f.d);
    assert_true(counts.sent == 2 && counts.refused == 3 && counts.overflow == 2 && counts.overdue == 1);
    end(&f);
}

static void a_dispatch_says_why(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    config.classes = 3;
    struct fixture f = begin("jiq", &config);
    const struct bal_dispatch first = arrive(&f, 1), second = arrive(&f, 9), third = arrive(&f, 0);
    assert_int_equal(first.reason, BAL_REASON_TOKEN);
    assert_true(first.length == 0 && first.rank == 1 && first.waited_ns == 0);
    assert_int_equal(second.reason, BAL_REASON_TOKEN);
    assert_int_equal(second.rank, 2);
    assert_int_equal(third.reason, BAL_REASON_ELSE);
    assert_int_equal(third.length, 1);
    end(&f);
    f = begin("jiq:else=hold", &config);
    uint64_t running = 0;
    for (int i = 0; i < 2; i++)
        running = arrive(&f, 0).ticket;
    assert_int_equal(arrive(&f, 2).verdict, BAL_WAIT);
    f.now += 7 * MS;
    respond(&f, running, false);
    struct bal_dispatch held;
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &held));
    assert_int_equal(held.reason, BAL_REASON_HELD);
    assert_true(held.waited_ns == 7 * MS && held.rank == 2 && held.length == 0);
    end(&f);
    assert_string_equal(bal_reason_name(BAL_REASON_TOKEN), "token");
    assert_string_equal(bal_reason_name(BAL_REASON_LEDGER), "too many requests");
    assert_string_equal(bal_reason_name(BAL_REASONS), "?");
}

static void a_client_that_goes_away_leaves_nothing_behind(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(1);
    struct fixture f = begin("jiq:else=hold", &config);
    const struct bal_dispatch sent = arrive(&f, 0), held = arrive(&f, 0), next = arrive(&f, 0);
    assert_true(bal_dispatcher_cancel(f.d, f.now, held.ticket));
    sound(&f);
    assert_false(bal_dispatcher_cancel(f.d, f.now, held.ticket));
    assert_true(bal_dispatcher_cancel(f.d, f.now, sent.ticket));
    sound(&f);
    struct bal_dispatch to;
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to) && to.ticket == next.ticket);
    assert_int_equal(in_flight(&f, 0), 1);
    end(&f);
}

static void a_request_is_not_sent_where_it_has_failed(void **state) {
    (void)state;
    static const char *const policies[] = {"random",  "round-robin", "least-conn", "jiq",
                                           "pod:d=2", "pi",          "lsq"};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        const struct bal_dispatcher_config config = plain(8);
        struct fixture f = begin(policies[p], &config);
        struct bal_dispatch to = arrive(&f, 0);
        bool tried[8] = {false};
        for (int i = 0; i < BAL_TRIES_MAX; i++) {
            assert_int_equal(to.reason == BAL_REASON_RETRY, i > 0);
            assert_false(tried[to.server]);
            tried[to.server] = true;
            assert_true(bal_dispatcher_retry(f.d, f.now, to.ticket, BAL_OUTCOME_FAILED, &to));
            sound(&f);
            assert_int_equal(to.verdict, BAL_SEND);
        }
        assert_false(tried[to.server]);
        respond(&f, to.ticket, false);
        for (uint32_t server = 0; server < 8; server++)
            assert_int_equal(in_flight(&f, server), 0);
        end(&f);
    }
}

static void the_server_that_was_tried_first_is_forgotten_first(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(BAL_TRIES_MAX + 1);
    struct fixture f = begin("random", &config);
    struct bal_dispatch to = arrive(&f, 0);
    uint32_t tried[4 * BAL_TRIES_MAX];
    for (int i = 0; i < 4 * BAL_TRIES_MAX; i++) {
        /* All but one are remembered: each time it is the one that was tried longest ago. */
        if (i > BAL_TRIES_MAX)
            assert_int_equal(to.server, tried[i - BAL_TRIES_MAX - 1]);
        tried[i] = to.server;
        assert_true(bal_dispatcher_retry(f.d, f.now, to.ticket, BAL_OUTCOME_GOOD, &to));
        sound(&f);
        assert_int_equal(to.verdict, BAL_SEND);
    }
    respond(&f, to.ticket, false);
    end(&f);
    const struct bal_dispatcher_config fewer = plain(BAL_TRIES_MAX);
    f = begin("random", &fewer);
    to = arrive(&f, 0);
    for (int i = 0; i < BAL_TRIES_MAX; i++) {
        assert_int_equal(to.verdict, BAL_SEND);
        assert_true(bal_dispatcher_retry(f.d, f.now, to.ticket, BAL_OUTCOME_GOOD, &to));
    }
    assert_int_equal(to.verdict, BAL_REFUSE);
    assert_int_equal(to.reason, BAL_REASON_NONE_OPEN);
    end(&f);
}

static void full_and_down_servers_are_not_chosen(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(3);
    struct fixture f = begin("random", &config);
    struct bal_dispatcher_server servers[3];
    char names[3][16];
    name_servers(servers, names, 3);
    servers[0].max_conns = 2;
    servers[1].down = true;
    servers[2].max_conns = 1;
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 3, NULL), BAL_OK);
    uint64_t ticket = 0;
    for (int i = 0; i < 3; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        assert_int_equal(to.verdict, BAL_SEND);
        ticket = to.ticket;
    }
    assert_int_equal(arrive(&f, 0).verdict, BAL_REFUSE);
    assert_int_equal(in_flight(&f, 1), 0);
    respond(&f, ticket, false);
    assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    end(&f);
}

static void weights_share_the_requests(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("least-conn", &config);
    struct bal_dispatcher_server servers[2];
    char names[2][16];
    name_servers(servers, names, 2);
    servers[1].weight = 3;
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 2, NULL), BAL_OK);
    for (int i = 0; i < 16; i++)
        arrive(&f, 0);
    assert_int_equal(in_flight(&f, 0), 4);
    assert_int_equal(in_flight(&f, 1), 12);
    end(&f);
}

static void a_failing_server_is_shunned_and_proved(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(4);
    config.failures = 2;
    config.back_off_ns = 100 * MS;
    struct fixture f = begin("round-robin", &config);
    for (int i = 0; i < 8; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        respond(&f, to.ticket, to.server == 2);
    }
    assert_true(bal_dispatcher_server(f.d, 2).ejected);
    for (int i = 0; i < 8; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        assert_int_not_equal(to.server, 2);
        respond(&f, to.ticket, false);
    }
    f.now = bal_dispatcher_run_timers(f.d, f.now);
    assert_true(f.now == 1100 * MS);
    bal_dispatcher_run_timers(f.d, f.now);
    /* It may be tried, and is not out of ejection yet. */
    assert_true(bal_dispatcher_server(f.d, 2).open && bal_dispatcher_server(f.d, 2).ejected);
    /* One request at a time goes there; its process dies, so that another one may. */
    for (int round = 0; round < 2; round++) {
        int there = 0;
        for (int i = 0; i < 8; i++)
            there += arrive(&f, 0).server == 2;
        assert_int_equal(there, 1);
        bal_dispatcher_reap(f.d, f.now, bal_dispatcher_worker_number(f.d));
        sound(&f);
        assert_int_equal(bal_dispatcher_join(f.d, f.now, 12, 1, NULL), BAL_OK);
    }
    for (int i = 0; i < 4; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        respond(&f, to.ticket, false);
    }
    assert_false(bal_dispatcher_server(f.d, 2).ejected);
    assert_true(bal_dispatcher_server(f.d, 2).open);
    end(&f);
}

static void half_of_those_that_are_there_may_be_shunned(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(16);
    config.failures = 1;
    config.back_off_ns = 100 * MS;
    struct fixture f = begin("random", &config);
    struct bal_dispatcher_server servers[4];
    char names[4][16];
    name_servers(servers, names, 4);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 4, NULL), BAL_OK);
    for (int i = 0; i < 50; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        assert_int_equal(to.verdict, BAL_SEND);
        respond(&f, to.ticket, true);
    }
    uint32_t open = 0;
    for (uint32_t server = 0; server < 16; server++)
        open += bal_dispatcher_server(f.d, server).open;
    assert_int_equal(open, 2);
    end(&f);
}

/* ---- max_fails ---- */

static void set_max_fails(struct fixture *f, uint32_t count, uint32_t max_fails) {
    struct bal_dispatcher_server servers[16];
    char names[16][16];
    name_servers(servers, names, count);
    for (uint32_t i = 0; i < count; i++) {
        servers[i].max_fails = max_fails;
        servers[i].fail_ns = 100 * MS;
    }
    assert_int_equal(bal_dispatcher_configure(f->d, f->now, servers, count, NULL), BAL_OK);
    sound(f);
}

/* One request to each of two servers; it ends so at server 1 and well at server 0. */
static void round_of(struct fixture *f, enum bal_outcome outcome) {
    for (int i = 0; i < 2; i++) {
        const struct bal_dispatch to = arrive(f, 0);
        assert_int_equal(to.verdict, BAL_SEND);
        end_as(f, to.ticket, to.server == 1 ? outcome : BAL_OUTCOME_GOOD);
    }
}

static bool shut(const struct fixture *f, uint32_t server) {
    const struct bal_server_view view = bal_dispatcher_server(f->d, server);
    assert_true(view.shut == (view.until > 0) && (view.shut || view.open));
    assert_false(view.ejected);
    return view.shut && !view.open;
}

static void max_fails_closes_a_server_for_its_time(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("round-robin", &config);
    set_max_fails(&f, 2, 3);
    round_of(&f, BAL_OUTCOME_FAILED);
    f.now += 60 * MS;
    round_of(&f, BAL_OUTCOME_GOOD); /* ends nothing: what counts is how many have failed of late */
    round_of(&f, BAL_OUTCOME_FAILED);
    round_of(&f, BAL_OUTCOME_BAD); /* an answer is no failure */
    assert_false(shut(&f, 1));
    round_of(&f, BAL_OUTCOME_FAILED);
    assert_true(shut(&f, 1));
    assert_true(bal_dispatcher_server(f.d, 1).until == f.now + 100 * MS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(arrive(&f, 0).server, 0);
    assert_true(bal_dispatcher_run_timers(f.d, f.now) == f.now + 100 * MS);
    f.now += 100 * MS - 1;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_true(shut(&f, 1));
    /* Then one request tries it; it fails, and closes it for as long again, by itself. */
    for (int round = 0; round < 2; round++) {
        f.now += round ? 100 * MS : 1;
        bal_dispatcher_run_timers(f.d, f.now);
        assert_false(shut(&f, 1));
        struct bal_dispatch trial = arrive(&f, 0);
        trial = trial.server == 1 ? trial : arrive(&f, 0);
        assert_int_equal(trial.server, 1);
        assert_true(bal_dispatcher_server(f.d, 1).on_trial);
        for (int i = 0; i < 4; i++)
            assert_int_equal(arrive(&f, 0).server, 0);
        end_as(&f, trial.ticket, round ? BAL_OUTCOME_BAD : BAL_OUTCOME_FAILED);
        assert_true(shut(&f, 1) == !round);
    }
    /* An answer has cleared it: it takes three failures again. */
    round_of(&f, BAL_OUTCOME_FAILED);
    round_of(&f, BAL_OUTCOME_FAILED);
    assert_true(bal_dispatcher_server(f.d, 1).open);
    end(&f);
}

static void failures_that_are_far_apart_close_nothing(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("round-robin", &config);
    set_max_fails(&f, 2, 2);
    for (int i = 0; i < 5; i++, f.now += 100 * MS)
        round_of(&f, BAL_OUTCOME_FAILED);
    assert_false(shut(&f, 1));
    f.now -= 1;
    bal_dispatcher_run_timers(f.d, f.now);
    round_of(&f, BAL_OUTCOME_FAILED);
    assert_true(shut(&f, 1));
    end(&f);
}

static void all_servers_may_be_closed_by_max_fails(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(3);
    config.failures = 1; /* of the ejection's one is excluded at most */
    config.back_off_ns = MS;
    struct fixture f = begin("jiq:else=hold", &config);
    set_max_fails(&f, 3, 1);
    struct bal_dispatch to = arrive(&f, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(to.verdict, BAL_SEND);
        assert_true(bal_dispatcher_retry(f.d, f.now, to.ticket, BAL_OUTCOME_FAILED, &to));
        sound(&f);
    }
    assert_int_equal(to.verdict, BAL_REFUSE);
    assert_int_equal(to.reason, BAL_REASON_NONE_OPEN);
    uint32_t ejected = 0;
    for (uint32_t server = 0; server < 3; server++) {
        assert_true(bal_dispatcher_server(f.d, server).shut);
        ejected += bal_dispatcher_server(f.d, server).ejected;
    }
    assert_int_equal(ejected, 1);
    assert_int_equal(arrive(&f, 0).verdict, BAL_REFUSE);
    f.now += 100 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    for (int i = 0; i < 3; i++) {
        to = arrive(&f, 0);
        assert_int_equal(to.verdict, BAL_SEND);
        respond(&f, to.ticket, false);
    }
    end(&f);
}

static void the_only_server_is_not_closed_by_max_fails(void **state) {
    (void)state;
    for (int backed = 0; backed < 2; backed++) {
        struct bal_dispatcher_config config = plain(2);
        config.backed = backed;
        struct fixture f = begin("least-conn", &config);
        set_max_fails(&f, 1, 1);
        for (int i = 0; i < 5 && (i == 0 || !backed); i++) {
            const struct bal_dispatch to = arrive(&f, 0);
            assert_int_equal(to.verdict, BAL_SEND);
            end_as(&f, to.ticket, BAL_OUTCOME_FAILED);
        }
        assert_int_equal(arrive(&f, 0).verdict, backed ? BAL_REFUSE : BAL_SEND);
        end(&f);
    }
    /* Nor is one behind which others were for some time only. */
    struct bal_dispatcher_config some_time = plain(2);
    some_time.backed = true;
    struct fixture g = begin("least-conn", &some_time);
    set_max_fails(&g, 1, 1);
    end_as(&g, arrive(&g, 0).ticket, BAL_OUTCOME_FAILED);
    assert_int_equal(arrive(&g, 0).verdict, BAL_REFUSE);
    bal_dispatcher_set_backed(g.d, g.now, false);
    for (int i = 0; i < 3; i++) {
        const struct bal_dispatch to = arrive(&g, 0);
        assert_int_equal(to.verdict, BAL_SEND);
        end_as(&g, to.ticket, BAL_OUTCOME_FAILED);
    }
    end(&g);
    /* Nor is one that has become the only one. */
    const struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("round-robin", &config);
    set_max_fails(&f, 2, 1);
    for (int i = 0; i < 2; i++)
        end_as(&f, arrive(&f, 0).ticket, BAL_OUTCOME_FAILED);
    assert_int_equal(arrive(&f, 0).verdict, BAL_REFUSE);
    set_max_fails(&f, 1, 1);
    assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    end(&f);
}

/* A failure of a request that was sent before keeps it closed; a late answer does not open it. */
static void late_answers_do_not_open_a_server_that_max_fails_has_closed(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("round-robin", &config);
    set_max_fails(&f, 2, 1);
    uint64_t ticket[3];
    for (int i = 0; i < 3;) {
        const struct bal_dispatch to = arrive(&f, 0);
        if (to.server == 1)
            ticket[i++] = to.ticket;
    }
    end_as(&f, ticket[0], BAL_OUTCOME_FAILED);
    f.now += 50 * MS;
    end_as(&f, ticket[1], BAL_OUTCOME_GOOD);
    assert_true(shut(&f, 1));
    end_as(&f, ticket[2], BAL_OUTCOME_FAILED);
    assert_true(bal_dispatcher_server(f.d, 1).until == f.now + 100 * MS);
    end(&f);
}

/* ---- which servers there are ---- */

static void servers_keep_their_counts_when_the_configuration_changes(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(4);
    struct fixture f = begin("least-conn", &config);
    struct bal_dispatcher_server servers[4];
    char names[4][16];
    struct bal_dispatch to[8];
    for (int i = 0; i < 8; i++)
        to[i] = arrive(&f, 0);
    name_servers(servers, names, 4);
    /* 0 leaves; 4 would be new, but there is no room before 0 has answered. */
    servers[0] = (struct bal_dispatcher_server){.name = "10.0.0.9:80", .station = 9};
    struct bal_error err;
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 4, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, "1 new servers, but there is room for 0"));
    sound(&f);
    assert_true(bal_dispatcher_server(f.d, 0).leaving);
    for (uint32_t server = 0; server < 4; server++)
        assert_int_equal(in_flight(&f, server), 2);
    for (int i = 0; i < 8; i++)
        assert_int_not_equal(arrive(&f, 0).server, 0);
    for (int i = 0; i < 8; i++)
        if (to[i].server == 0)
            respond(&f, to[i].ticket, false);
    assert_null(bal_dispatcher_server(f.d, 0).name);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 4, &err), BAL_OK);
    sound(&f);
    assert_string_equal(bal_dispatcher_server(f.d, 0).name, "10.0.0.9:80");
    assert_int_equal(arrive(&f, 0).server, 0);
    end(&f);
}

/* It gets nothing new, is not down, and is empty when its requests have ended. */
static void a_server_that_drains_becomes_empty(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(3);
    struct fixture f = begin("least-conn", &config);
    struct bal_dispatcher_server servers[3];
    char names[3][16];
    struct bal_dispatch to[6];
    for (int i = 0; i < 6; i++)
        to[i] = arrive(&f, 0);
    name_servers(servers, names, 3);
    servers[1].drain = true;
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 3, NULL), BAL_OK);
    sound(&f);
    const struct bal_server_view view = bal_dispatcher_server(f.d, 1);
    assert_true(view.drain && !view.down && !view.open && view.in_flight == 2);
    for (int i = 0; i < 6; i++)
        assert_int_not_equal(arrive(&f, 0).server, 1);
    for (int i = 0; i < 6; i++)
        if (to[i].server == 1)
            respond(&f, to[i].ticket, false);
    assert_int_equal(in_flight(&f, 1), 0);
    servers[1].drain = false;
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 3, NULL), BAL_OK);
    assert_true(bal_dispatcher_server(f.d, 1).open && !bal_dispatcher_server(f.d, 1).drain);
    assert_int_equal(arrive(&f, 0).server, 1);
    servers[0].drain = servers[1].drain = servers[2].drain = true;
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 3, NULL), BAL_OK);
    const struct bal_dispatch none = arrive(&f, 0);
    assert_true(none.verdict == BAL_REFUSE && none.reason == BAL_REASON_NONE_OPEN);
    end(&f);
}

/* More slots take requests that wait; fewer keep what is there, and take nothing more. */
static void slots_of_single_servers(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_dispatcher_server servers[2];
    char names[2][16];
    struct bal_dispatch to[3], held;
    for (int i = 0; i < 3; i++)
        to[i] = arrive(&f, 0);
    assert_true(to[1].verdict == BAL_SEND && to[2].verdict == BAL_WAIT);
    name_servers(servers, names, 2);
    servers[1].slots = 2;
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 2, NULL), BAL_OK);
    bal_dispatcher_run_timers(f.d, f.now);
    sound(&f);
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &held) && held.server == 1);
    assert_true(bal_dispatcher_server(f.d, 0).slots == 1 && bal_dispatcher_server(f.d, 1).slots == 2);
    assert_int_equal(in_flight(&f, 1), 2);
    servers[1].slots = 0; /* as configured */
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 2, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_server(f.d, 1).slots, 1);
    respond(&f, held.ticket, false);
    assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT); /* one is there still */
    respond(&f, to[to[0].server == 1 ? 0 : 1].ticket, false);
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &held) && held.server == 1);
    end(&f);
}

/* A, then B, then C, with requests at A and at B: C comes as numbers become free, and what is there is used.
 */
static void servers_that_do_not_fit_come_later(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(4);
    struct fixture f = begin("least-conn", &config);
    struct bal_dispatcher_server servers[4];
    char names[4][16];
    struct bal_dispatch to[4];
    struct bal_error err;
    name_servers(servers, names, 4);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 2, &err), BAL_OK);
    to[0] = arrive(&f, 0), to[1] = arrive(&f, 0);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers + 2, 2, &err), BAL_OK);
    to[2] = arrive(&f, 0), to[3] = arrive(&f, 0);
    const struct bal_dispatcher_server new[] = {{.name = "10.0.0.8:80", .station = 8},
                                                {.name = "10.0.0.9:80", .station = 9}};
    /* No number is free: what is there stays, for there would be none else. */
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, new, 2, &err), BAL_E_RANGE);
    assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    respond(&f, to[0].ticket, false);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, new, 2, &err), BAL_E_RANGE);
    sound(&f);
    for (int i = 0; i < 4; i++) /* one is there, and gets all */
        assert_string_equal(bal_dispatcher_server(f.d, arrive(&f, 0).server).name, "10.0.0.8:80");
    respond(&f, to[1].ticket, false);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, new, 2, &err), BAL_OK);
    sound(&f);
    assert_string_equal(bal_dispatcher_server(f.d, arrive(&f, 0).server).name, "10.0.0.9:80");
    end(&f);
}

static void a_server_that_leaves_and_returns_is_the_same(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("least-conn", &config);
    struct bal_dispatcher_server servers[2];
    char names[2][16];
    name_servers(servers, names, 2);
    const struct bal_dispatch to = arrive(&f, 0);
    const uint32_t other = 1 - to.server;
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, &servers[other], 1, NULL), BAL_OK);
    sound(&f);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 2, NULL), BAL_OK);
    sound(&f);
    assert_int_equal(in_flight(&f, to.server), 1);
    assert_int_equal(arrive(&f, 0).server, other);
    end(&f);
}

/* It has a request under way, is ejected and is not in the configuration any longer: its times are
 * over. */
static void a_server_that_leaves_in_ejection_lets_time_pass(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(4);
    config.failures = 1;
    config.back_off_ns = 10 * MS;
    struct fixture f = begin("round-robin", &config);
    struct bal_dispatcher_server servers[4];
    char names[4][16];
    name_servers(servers, names, 4);
    struct bal_dispatch to[8];
    for (int i = 0; i < 8; i++)
        to[i] = arrive(&f, 0);
    respond(&f, to[0].ticket, true);
    assert_true(bal_dispatcher_server(f.d, 0).ejected && in_flight(&f, 0) == 1);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers + 1, 3, NULL), BAL_OK);
    sound(&f);
    f.now += 20 * MS;
    assert_true(bal_dispatcher_run_timers(f.d, f.now) == UINT64_MAX);
    respond(&f, to[4].ticket, false);
    assert_null(bal_dispatcher_server(f.d, 0).name);
    end(&f);
}

static void every_slot_of_a_server_is_used(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq:else=hold", "jiq:else=least-conn"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bal_dispatcher_config config = plain(2);
        config.slots = 3;
        struct fixture f = begin(policies[i], &config);
        for (uint32_t k = 0; k < 6; k++) {
            const struct bal_dispatch to = arrive(&f, 0);
            assert_int_equal(to.verdict, BAL_SEND);
            assert_true(to.length < config.slots);
        }
        assert_true(in_flight(&f, 0) == 3 && in_flight(&f, 1) == 3);
        if (i == 0)
            assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
        end(&f);
    }
}

/* Four idle servers, of which nobody knows yet how long they take (so 50 ms), report twice in that time each:
 * a request that must wait for a report waits 1/160 s on average. Of 1000 the mean is within 15 % but for a
 * probability of 2e-6. */
static void idle_servers_report_at_a_rate_where_no_station_does(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(4);
    config.hold_ns = UINT64_C(3600000) * MS;
    struct fixture f = begin("rcpb:mu=2,else=hold", &config);
    uint64_t waited = 0;
    for (int i = 0; i < 1000; i++) {
        struct bal_dispatch to = arrive(&f, 0);
        while (to.verdict == BAL_WAIT && !bal_dispatcher_next_decision(f.d, f.now, &to))
            f.now = bal_dispatcher_run_timers(f.d, f.now);
        assert_int_equal(to.verdict, BAL_SEND);
        assert_int_equal(to.length, 0);
        waited += to.waited_ns;
        respond(&f, to.ticket, false);
    }
    assert_in_range(waited, 6250 * MS * 85 / 100, 6250 * MS * 115 / 100);
    end(&f);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("random", &config);
    struct bal_error err;
    const struct bal_dispatcher_server twice[] = {{.name = "a"}, {.name = "a"}};
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, twice, 2, &err), BAL_E_MODEL);
    assert_string_equal(err.text, "server 'a' is named twice");
    const struct bal_dispatcher_server light[] = {{.name = "a", .weight = -1}};
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, light, 1, &err), BAL_E_RANGE);
    assert_string_equal(err.text, "server 'a': weight -1; use a number above 0, up to 1e6");
    const struct bal_dispatcher_server timeless[] = {{.name = "a", .max_fails = 2}};
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, timeless, 1, &err), BAL_E_RANGE);
    assert_string_equal(err.text, "server 'a': max_fails 2 within 0 ns; use a time of 1 ns to a day");
    assert_true(bal_dispatcher_server(f.d, 1).open);
    static uint64_t nothing[64];
    assert_int_equal(bal_dispatcher_open(f.d, nothing, 1, &err), BAL_E_FORMAT);
    end(&f);

    struct bal_policy_spec policy;
    assert_int_equal(bal_policy_parse("tabs", &policy, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_MODEL);
    assert_int_equal(bal_policy_parse("least-work", &policy, NULL), BAL_OK);
    config = stationed(2);
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_MODEL);
    assert_int_equal(bal_policy_parse("rate-idle", &policy, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "the load is not known here; use tabs"));
    assert_int_equal(bal_policy_parse("jiq:report=2", &policy, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "use report=1"));
    assert_int_equal(bal_policy_parse("jiq", &policy, NULL), BAL_OK);
    config.workers = 0;
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_RANGE);
    assert_string_equal(err.text, "owners is 0; it must be 1 to 256");
}

/* ---- processes ---- */

static void another_process_hears_of_its_own_requests(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(1);
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_dispatcher *other = view_of(&f, 2);
    assert_int_equal(bal_dispatcher_join(other, f.now, 12, 1, NULL), BAL_OK);
    const struct bal_dispatch mine = arrive(&f, 0);
    struct bal_dispatch its, to;
    bal_dispatcher_arrive(other, f.now, 0, &its);
    assert_int_equal(its.verdict, BAL_WAIT);
    assert_false(bal_dispatcher_respond(other, f.now, mine.ticket, BAL_OUTCOME_GOOD));
    respond(&f, mine.ticket, false);
    assert_int_equal(bal_dispatcher_next_to_wake(f.d), bal_dispatcher_worker_number(other));
    assert_false(bal_dispatcher_next_decision(f.d, f.now, &to));
    assert_true(bal_dispatcher_next_decision(other, f.now, &to) && to.ticket == its.ticket);
    bal_dispatcher_leave(other, f.now);
    assert_int_equal(in_flight(&f, 0), 0);
    free(other);
    end(&f);
}

static void what_a_dead_process_had_is_given_back(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_dispatcher *dead = view_of(&f, 2);
    assert_int_equal(bal_dispatcher_join(dead, f.now, 12, 5, NULL), BAL_OK);
    struct bal_dispatch to;
    for (int i = 0; i < 5; i++)
        bal_dispatcher_arrive(dead, f.now, 0, &to);
    const struct bal_dispatch mine = arrive(&f, 0);
    assert_int_equal(mine.verdict, BAL_WAIT);
    uint64_t pid, start;
    assert_true(bal_dispatcher_worker(f.d, bal_dispatcher_worker_number(dead), &pid, &start));
    assert_true(pid == 12 && start == 5);
    bal_dispatcher_reap(f.d, f.now, bal_dispatcher_worker_number(dead));
    sound(&f);
    assert_false(bal_dispatcher_worker(f.d, bal_dispatcher_worker_number(dead), &pid, &start));
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to) && to.ticket == mine.ticket);
    assert_int_equal(in_flight(&f, 0) + in_flight(&f, 1), 1);
    assert_int_equal(bal_dispatcher_counts(f.d).reaped, 5);
    free(dead);
    end(&f);
}

/* ---- death in the middle of an operation ---- */

static void do_something(struct fixture *f, uint64_t *ticket, struct bal_rng *rng) {
    uint64_t *one = &ticket[bal_rng_below(rng, 32)];
    struct bal_dispatch to;
    if (bal_rng_below(rng, 4) == 0) {
        bal_dispatcher_run_timers(f->d, f->now);
        while (bal_dispatcher_next_decision(f->d, f->now, &to))
            ;
    } else if (!*one) {
        bal_dispatcher_arrive(f->d, f->now, bal_rng_below(rng, 2), &to);
        *one = to.verdict == BAL_REFUSE ? 0 : to.ticket;
    } else {
        static const enum bal_outcome outcomes[] = {BAL_OUTCOME_GOOD, BAL_OUTCOME_GOOD, BAL_OUTCOME_BAD,
                                                    BAL_OUTCOME_FAILED};
        if (!bal_dispatcher_respond(f->d, f->now, *one, outcomes[bal_rng_below(rng, 4)]))
            bal_dispatcher_cancel(f->d, f->now, *one);
        *one = 0;
    }
}

static void an_operation_that_was_not_finished_is_made_good(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq:else=hold", "least-conn", "pi", "lsq", "round-robin", "ewma"};
    struct bal_rng rng;
    bal_rng_init(&rng, 5, 0, BAL_STREAM_TEST);
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct bal_dispatcher_config config = plain(4);
        config.classes = 2;
        config.failures = 2;
        config.back_off_ns = 10 * MS;
        struct fixture f = begin(policies[p], &config);
        set_max_fails(&f, 4, 2);
        char *before = malloc(f.d->block->size);
        assert_non_null(before);
        uint64_t ticket[32] = {0};
        for (int step = 0; step < 3000; step++) {
            f.now += bal_rng_below(&rng, 3) * MS;
            memcpy(before, f.block, f.d->block->size);
            do_something(&f, ticket, &rng);
            sound(&f);
            if (bal_rng_below(&rng, 20))
                continue;
            const uint64_t rebuilds = bal_dispatcher_counts(f.d).rebuilds;
            inside_tear_dispatcher(f.d, before, &rng);
            bal_dispatcher_run_timers(f.d, f.now);
            sound(&f);
            assert_true(bal_dispatcher_counts(f.d).rebuilds > rebuilds);
        }
        /* Whatever was torn, in the end every request is answered and every count is 0. */
        bal_dispatcher_leave(f.d, f.now);
        for (uint32_t server = 0; server < 4; server++)
            assert_int_equal(in_flight(&f, server), 0);
        free(before);
        end(&f);
    }
}

/* Its last request comes back; what is known of the server is written, and the request is not yet. */
static void a_server_is_not_gone_before_its_last_request_is(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("round-robin", &config);
    struct bal_dispatcher_server servers[2];
    char names[2][16];
    name_servers(servers, names, 2);
    const struct bal_dispatch to = arrive(&f, 0);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, &servers[1 - to.server], 1, NULL), BAL_OK);
    const size_t size = config.requests * sizeof(struct request);
    char *before = malloc(size);
    assert_non_null(before);
    memcpy(before, f.d->ledger.entries, size);
    respond(&f, to.ticket, false);
    assert_null(bal_dispatcher_server(f.d, to.server).name);
    memcpy(f.d->ledger.entries, before, size);
    f.d->block->busy = 1;
    bal_dispatcher_run_timers(f.d, f.now);
    sound(&f);
    assert_true(bal_dispatcher_server(f.d, to.server).leaving);
    respond(&f, to.ticket, false);
    assert_null(bal_dispatcher_server(f.d, to.server).name);
    free(before);
    end(&f);
}

/* ---- with stations ---- */

static void a_token_is_used_once(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("jiq:else=hold", &config);
    assert_int_equal(said(&f, BAL_MSG_RESYNC, NULL), 2);
    assert_int_equal(hear(&f, 1, idle(2, 2, 500)), BAL_RECEIPT_FRESH);
    assert_int_equal(bal_dispatcher_server(f.d, 1).tokens, 2);
    assert_int_equal(arrive(&f, 0).server, 1);
    hear(&f, 1, idle(2, 2, 500)); /* said again: nothing new is offered */
    assert_int_equal(arrive(&f, 0).server, 1);
    assert_int_equal(bal_dispatcher_server(f.d, 1).tokens, 0);
    hear(&f, 1, idle(1, 2, 500));
    assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    hear(&f, 1, idle(1, 3, 500));
    struct bal_dispatch to;
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to) && to.server == 1);
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(f.d);
    assert_true(counts.tokens == 3 && counts.used == 3);
    end(&f);
}

static void a_message_that_comes_twice_or_late_changes_nothing(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_message offer = idle(1, 1, 500);
    offer.sender = STATION;
    offer.boot = 1;
    offer.sequence = 2;
    assert_int_equal(bal_dispatcher_receive(f.d, f.now, &offer), BAL_RECEIPT_FRESH);
    assert_int_equal(bal_dispatcher_receive(f.d, f.now, &offer), BAL_RECEIPT_REPEATED);
    offer.sequence = 1;
    offer.idle.token = 9;
    assert_int_equal(bal_dispatcher_receive(f.d, f.now, &offer), BAL_RECEIPT_LATE);
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 1);
    offer.sender = 1;
    assert_int_equal(bal_dispatcher_receive(f.d, f.now, &offer), BAL_RECEIPT_UNKNOWN_SENDER);
    end(&f);
}

static void tokens_and_knowledge_expire(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("jiq:else=hold", &config);
    hear(&f, 0, load(0, 1, BAL_POWER_ON));
    hear(&f, 1, idle(1, 1, 40));
    assert_true(bal_dispatcher_run_timers(f.d, f.now) == f.now + 40 * MS);
    f.now += 40 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    sound(&f);
    assert_int_equal(bal_dispatcher_server(f.d, 1).tokens, 0);
    assert_int_equal(bal_dispatcher_counts(f.d).expired, 1);
    assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    assert_true(bal_dispatcher_server(f.d, 0).open);
    f.now += 460 * MS; /* the load was valid for 500 ms */
    bal_dispatcher_run_timers(f.d, f.now);
    sound(&f);
    assert_false(bal_dispatcher_server(f.d, 0).open);
    hear(&f, 0, load(0, 0, BAL_POWER_ON));
    assert_true(bal_dispatcher_server(f.d, 0).open);
    end(&f);
}

/* As plain nginx would, which knows nothing of stations: the silence of all may be the network's, or ours. */
static void when_all_are_silent_requests_go_to_any_of_them(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("jiq", &config);
    struct bal_dispatch to, other;
    unsigned chosen = 0;
    hear(&f, 0, load(0, 1, BAL_POWER_ON));
    hear(&f, 1, load(0, 1, BAL_POWER_ON));
    f.now += 2000 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_false(bal_dispatcher_server(f.d, 0).open || bal_dispatcher_server(f.d, 1).open);
    for (int i = 0; i < 40; i++) {
        to = arrive(&f, 0);
        assert_int_equal(to.verdict, BAL_SEND);
        chosen |= 1u << to.server;
        end_as(&f, to.ticket, BAL_OUTCOME_GOOD);
    }
    assert_int_equal(chosen, 3);
    to = arrive(&f, 0);
    assert_true(bal_dispatcher_retry(f.d, f.now, to.ticket, BAL_OUTCOME_FAILED, &other));
    assert_true(other.verdict == BAL_SEND && other.server != to.server);
    assert_true(bal_dispatcher_retry(f.d, f.now, other.ticket, BAL_OUTCOME_FAILED, &to));
    assert_int_equal(to.verdict, BAL_REFUSE);
    sound(&f);
    hear(&f, 1, load(0, 1, BAL_POWER_ON)); /* from now on that one is known to be there */
    for (int i = 0; i < 20; i++) {
        to = arrive(&f, 0);
        assert_int_equal(to.server, 1);
        end_as(&f, to.ticket, BAL_OUTCOME_GOOD);
    }
    end(&f);
}

/* All stations were heard once, and then not any longer. */
static struct fixture begin_unheard(const char *policy, const struct bal_dispatcher_config *config) {
    struct fixture f = begin(policy, config);
    for (uint32_t server = 0; server < config->servers; server++)
        hear(&f, server, load(0, 1, BAL_POWER_ON));
    f.now += 2000 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    for (uint32_t server = 0; server < config->servers; server++)
        assert_true(bal_dispatcher_server(f.d, server).silent);
    return f;
}

static void when_no_station_is_heard_requests_go_by_those_in_flight(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq:else=hold", "jiq:else=least-conn", "jsq", "random"};
    const struct bal_dispatcher_config config = stationed(4);
    for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
        struct fixture f = begin_unheard(policies[k], &config);
        for (uint32_t i = 0; i < 12; i++)
            assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
        for (uint32_t server = 0; server < 4; server++)
            assert_int_equal(in_flight(&f, server), 3);
        assert_int_equal(bal_dispatcher_counts(f.d).unheard, 12);
        hear(&f, 2, load(0, 1, BAL_POWER_ON)); /* one is heard again: the others are none to go to */
        for (uint32_t i = 0; i < 4; i++) {
            const struct bal_dispatch to = arrive(&f, 0);
            assert_true(to.verdict == BAL_WAIT || to.server == 2);
        }
        assert_int_equal(bal_dispatcher_counts(f.d).unheard, 12);
        end(&f);
    }
}

static void what_is_held_when_the_last_station_falls_silent_is_sent(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_dispatch to;
    f.d->block->config.hold_ns = 10000 * MS;
    hear(&f, 0, load(0, 1, BAL_POWER_ON));
    hear(&f, 1, load(0, 1, BAL_POWER_ON));
    for (int i = 0; i < 4; i++)
        assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    f.now += 600 * MS; /* the loads were valid for 500 ms */
    bal_dispatcher_run_timers(f.d, f.now);
    sound(&f);
    for (int i = 0; i < 4; i++) {
        assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
        assert_int_equal(to.verdict, BAL_SEND);
    }
    assert_true(in_flight(&f, 0) == 2 && in_flight(&f, 1) == 2);
    end(&f);
}

static void a_silent_server_that_is_full_is_waited_for(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin_unheard("jiq:else=hold", &config);
    struct bal_dispatch to;
    const struct bal_dispatcher_server one = {.name = "10.0.0.0:80", .station = STATION, .max_conns = 1};
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, &one, 1, NULL), BAL_OK);
    const struct bal_dispatch first = arrive(&f, 0);
    assert_int_equal(first.verdict, BAL_SEND);
    assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    respond(&f, first.ticket, false);
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
    assert_int_equal(to.verdict, BAL_SEND);
    end(&f);
}

/* A server that may have one request of ours and has it; the others as before. */
static void fill(struct fixture *f, uint32_t server, uint32_t count) {
    struct bal_dispatcher_server servers[16];
    char names[16][16];
    name_servers(servers, names, count);
    servers[server].max_conns = 1;
    assert_int_equal(bal_dispatcher_configure(f->d, f->now, servers, count, NULL), BAL_OK);
    assert_int_equal(arrive(f, 0).server, server);
    assert_true(bal_dispatcher_server(f->d, server).full);
}

static void all_silent_servers_are_compared_where_one_is_heard_and_full(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(3);
    struct fixture f = begin_unheard("random", &config);
    hear(&f, 1, load(0, 1, BAL_POWER_ON));
    fill(&f, 1, 3);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    assert_true(in_flight(&f, 0) == 2 && in_flight(&f, 2) == 2);
    end(&f);
}

static void a_full_server_that_falls_silent_gives_its_offers_back(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("jiq:else=least-conn", &config);
    hear(&f, 0, idle(3, 3, 800));
    hear(&f, 0, load(7, 1, BAL_POWER_ON)); /* from now on it is known for 500 ms */
    fill(&f, 0, 2);
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 2);
    said(&f, BAL_MSG_BACKLOG, NULL);
    f.now += 600 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    struct bal_message back = {0};
    assert_true(bal_dispatcher_server(f.d, 0).silent && bal_dispatcher_server(f.d, 0).full);
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 0);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &back), 1);
    assert_true(back.receiver == STATION && back.backlog.held == 0);
    end(&f);
}

/* Else those that happen to answer get everything. */
static void a_token_that_rides_on_a_response_is_no_heartbeat(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(3);
    struct fixture f = begin_unheard("jiq:else=least-conn", &config);
    struct bal_message token = idle(1, 1, 300);
    token.fleet = 7;
    token.sender = STATION + 1;
    token.boot = f.boot;
    token.sequence = ++f.sequence;
    assert_int_equal(bal_dispatcher_receive_piggyback(f.d, f.now, &token), BAL_RECEIPT_FRESH);
    sound(&f);
    assert_true(bal_dispatcher_server(f.d, 1).silent);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    for (uint32_t server = 0; server < 3; server++)
        assert_int_equal(in_flight(&f, server), 2);
    hear(&f, 1, load(0, 1, BAL_POWER_ON)); /* where it is heard too, the token is as good as any */
    token.idle.token = 2;
    token.sequence = ++f.sequence;
    assert_int_equal(bal_dispatcher_receive_piggyback(f.d, f.now, &token), BAL_RECEIPT_FRESH);
    const struct bal_dispatch to = arrive(&f, 0);
    assert_true(to.server == 1 && to.reason == BAL_REASON_TOKEN);
    end(&f);
}

/* A station that is heard must prove a new boot; what comes with a response proves nothing. */
static void an_unknown_boot_on_a_response_counts_only_in_silence(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("jiq:else=least-conn", &config);
    struct bal_message token = idle(1, 1, 300);
    assert_int_equal(hear(&f, 0, load(0, 1, BAL_POWER_ON)), BAL_RECEIPT_FRESH);
    token.fleet = 7;
    token.sender = STATION;
    token.boot = f.boot + 1;
    token.sequence = 1;
    assert_int_equal(bal_dispatcher_receive_piggyback(f.d, f.now, &token), BAL_RECEIPT_UNPROVEN);
    assert_int_equal(bal_dispatcher_server(f.d, 0).slots, 1);
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 0);
    f.now += 1000 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_true(bal_dispatcher_server(f.d, 0).silent);
    token.sequence++;
    assert_int_equal(bal_dispatcher_receive_piggyback(f.d, f.now, &token), BAL_RECEIPT_FRESH);
    assert_int_equal(bal_dispatcher_server(f.d, 0).slots, 4);
    end(&f);
}

/* Its boot is not believed by its number, whether it is smaller or greater than the one that is known, and
 * however long the station was silent; its proof is, at once. */
static void a_station_that_has_begun_again_proves_it(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    for (uint64_t boot = 3; boot <= 15; boot += 12) {
        struct fixture f = begin("random", &config);
        struct bal_message challenge;
        f.boot = 1;
        hear(&f, 0, load(0, 0, BAL_POWER_ON));
        said(&f, BAL_MSG_CHALLENGE, NULL);
        f.boot = boot;
        assert_int_equal(hear(&f, 0, load(0, 5, BAL_POWER_OFF)), BAL_RECEIPT_UNPROVEN);
        assert_int_equal(said(&f, BAL_MSG_CHALLENGE, &challenge), 1);
        assert_int_equal(challenge.receiver, STATION);
        assert_true(bal_dispatcher_server(f.d, 0).open);
        f.now += 1000 * MS;
        bal_dispatcher_run_timers(f.d, f.now);
        assert_int_equal(hear(&f, 0, load(0, 0, BAL_POWER_ON)), BAL_RECEIPT_UNPROVEN);
        f.now += 20 * MS;
        const struct bal_message proof = {.type = BAL_MSG_PROOF, .nonce = challenge.nonce};
        assert_int_equal(hear(&f, 0, proof), BAL_RECEIPT_FRESH);
        assert_int_equal(hear(&f, 0, load(0, 0, BAL_POWER_ON)), BAL_RECEIPT_FRESH);
        assert_true(bal_dispatcher_server(f.d, 0).open);
        end(&f);
    }
}

/* A recorded message of another boot does not silence the one that is there. */
static void what_was_recorded_silences_nobody(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("random", &config);
    struct bal_message challenge;
    f.boot = 5;
    hear(&f, 0, load(0, 0, BAL_POWER_ON));
    f.boot = 1000; /* the clock was ahead then */
    hear(&f, 0, load(0, 0, BAL_POWER_ON));
    said(&f, BAL_MSG_CHALLENGE, &challenge);
    f.boot = 5;
    assert_int_equal(hear(&f, 0, (struct bal_message){.type = BAL_MSG_PROOF, .nonce = challenge.nonce}),
                     BAL_RECEIPT_FRESH);
    assert_int_equal(hear(&f, 0, load(0, 0, BAL_POWER_ON)), BAL_RECEIPT_FRESH);
    end(&f);
}

/* Who asks is answered, though it may have begun again itself. */
static void challenges_are_answered(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("random", &config);
    const struct bal_message challenge = {.type = BAL_MSG_CHALLENGE, .nonce = {.nonce = 77}};
    struct bal_message proof = {0};
    hear(&f, 0, load(0, 0, BAL_POWER_ON));
    said(&f, BAL_MSG_PROOF, NULL);
    f.boot = 2;
    assert_int_equal(hear(&f, 0, challenge), BAL_RECEIPT_UNPROVEN);
    assert_int_equal(said(&f, BAL_MSG_PROOF, &proof), 1);
    assert_true(proof.nonce.nonce == 77 && proof.receiver == STATION);
    end(&f);
}

/* A station that is known asks to join, because it has heard nothing: it hears of us. */
static void a_known_station_that_asks_to_join_is_answered(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("random", &config);
    const struct bal_message join = {.type = BAL_MSG_JOIN,
                                     .join = {.kind = BAL_JOIN_STATION, .address = {4, 80, 0, 0x0a000001}}};
    struct bal_message resync = {0};
    hear(&f, 0, load(0, 0, BAL_POWER_ON));
    said(&f, BAL_MSG_RESYNC, NULL);
    assert_int_equal(hear(&f, 0, join), BAL_RECEIPT_FRESH);
    assert_int_equal(said(&f, BAL_MSG_RESYNC, &resync), 1);
    assert_true(resync.receiver == STATION);
    end(&f);
}

static struct bal_member member_at(uint32_t host) {
    struct bal_member member = {.address = {4, 80, 0, 0x0a000100 + host}};
    char text[BAL_ADDRESS_TEXT];
    member.id = bal_address_id(text, bal_address_print(&member.address, text));
    return member;
}

/* A block that replaces another one has its members from the start; the one that is replaced keeps them,
 * though it hears nothing any longer, until its last request has ended. */
static void members_of_the_block_before_are_adopted(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(8);
    config.join = (struct bal_join_config){.most = 4, .silent_ns = 5000 * MS};
    struct fixture f = begin("random", &config);
    struct bal_message resync = {0};
    struct bal_dispatcher_server listed = {.name = "10.0.1.2:80", .station = member_at(2).id};
    const struct bal_member before[6] = {member_at(1), member_at(2), member_at(3),
                                         member_at(4), member_at(5), member_at(6)};
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, &listed, 1, NULL), BAL_OK);
    said(&f, BAL_MSG_RESYNC, NULL);
    bal_dispatcher_adopt_members(f.d, f.now, before, 6);
    assert_null(bal_dispatcher_find_inconsistency(f.d));
    assert_int_equal(bal_dispatcher_members(f.d, NULL, 0), 4); /* of five that are not listed */
    assert_int_equal(said(&f, BAL_MSG_RESYNC, &resync), 1);
    assert_true(resync.receiver == BAL_EVERYONE);
    assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
    assert_int_equal(bal_dispatcher_heard_members(f.d, NULL, 0), 4);
    f.now += 2000 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(bal_dispatcher_heard_members(f.d, NULL, 0), 0);
    assert_int_equal(bal_dispatcher_members(f.d, NULL, 0), 4);
    bal_dispatcher_detach_stations(f.d, f.now);
    f.now += 60000 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(bal_dispatcher_members(f.d, NULL, 0), 4);
    end(&f);
}

static void what_was_recorded_of_a_silent_station_is_not_believed(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("random", &config);
    for (int i = 0; i < 100; i++)
        assert_int_equal(hear(&f, 0, load(0, 0, BAL_POWER_ON)), BAL_RECEIPT_FRESH);
    f.now += 1000 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    f.sequence = 0;
    assert_int_equal(hear(&f, 0, idle(1, 1, 500)), BAL_RECEIPT_OLD);
    assert_false(bal_dispatcher_server(f.d, 0).open);
    end(&f);
}

static void replies_are_waited_for_and_compared(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(4);
    struct fixture f = begin("jsq", &config);
    struct bal_message probe = {0};
    struct bal_dispatch to, waiting = arrive(&f, 0);
    assert_int_equal(waiting.verdict, BAL_WAIT);
    assert_int_equal(said(&f, BAL_MSG_PROBE, &probe), 4);
    for (uint32_t server = 0; server < 4; server++) {
        assert_false(bal_dispatcher_next_decision(f.d, f.now, &to));
        hear(&f, server, load(probe.probe.probe, server == 2 ? 1 : 5, BAL_POWER_ON));
    }
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
    assert_true(to.ticket == waiting.ticket && to.server == 2);
    /* Those that have answered in time are compared. */
    arrive(&f, 0);
    assert_int_equal(said(&f, BAL_MSG_PROBE, &probe), 4);
    hear(&f, 3, load(probe.probe.probe, 7, BAL_POWER_ON));
    assert_int_equal(bal_dispatcher_run_timers(f.d, f.now), f.now + config.probe_ns);
    f.now += config.probe_ns;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to) && to.server == 3);
    /* An answer to nobody is a load like any other. */
    hear(&f, 1, load(probe.probe.probe, 0, BAL_POWER_ON));
    end(&f);
}

/* A reply may come when its request has been sent long ago and another has taken the place of its inquiry. */
static void replies_to_an_earlier_probe_do_not_count(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("jsq", &config);
    struct bal_message first = {0}, second = {0};
    struct bal_dispatch to;
    arrive(&f, 0);
    assert_int_equal(said(&f, BAL_MSG_PROBE, &first), 2);
    f.now += config.probe_ns;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
    arrive(&f, 0);
    assert_int_equal(said(&f, BAL_MSG_PROBE, &second), 2);
    assert_int_equal(second.probe.probe & 0xffff, first.probe.probe & 0xffff);
    for (uint32_t server = 0; server < 2; server++)
        hear(&f, server, load(first.probe.probe, 0, BAL_POWER_ON));
    assert_false(bal_dispatcher_next_decision(f.d, f.now, &to));
    for (uint32_t server = 0; server < 2; server++)
        hear(&f, server, load(second.probe.probe, server, BAL_POWER_ON));
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to) && to.server == 0);
    end(&f);
}

/* A station that looks idle is asked first; all are told when that has not helped in time. */
static void hunger_is_said_repeated_and_taken_back(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(1);
    config.hold_ns = 10000 * MS;
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_message hungry = {0};
    arrive(&f, 0);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &hungry), 1);
    assert_true(hungry.backlog.held == 1 && hungry.receiver == STATION);
    arrive(&f, 0); /* the only one has been asked */
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, NULL), 0);
    f.now += config.probe_ns / 200; /* of a fleet of one */
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, NULL), 0); /* its answer may be on the way */
    f.now += config.probe_ns;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &hungry), 1);
    assert_true(hungry.backlog.held == 2 && hungry.receiver == BAL_EVERYONE);
    arrive(&f, 0);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, NULL), 0);
    f.now += 100 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &hungry), 1);
    assert_true(hungry.backlog.held == 3 && hungry.receiver == BAL_EVERYONE);
    hear(&f, 0, idle(3, 3, 500));
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &hungry), 1);
    assert_true(hungry.backlog.held == 0 && hungry.receiver == BAL_EVERYONE);
    end(&f);
}

/* One question for each request that is held; an answer that is no offer brings the next; those that are
 * known to be busy are not asked. */
static void stations_that_look_idle_are_asked_one_by_one(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(8);
    config.hold_ns = 10000 * MS;
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_message question = {0};
    for (uint32_t server = 0; server < 8; server++)
        hear(&f, server, load(0, server >= 4, BAL_POWER_ON));
    said(&f, BAL_MSG_BACKLOG, NULL);
    const struct bal_dispatch held = arrive(&f, 0);
    assert_int_equal(held.verdict, BAL_WAIT);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &question), 1);
    assert_true(question.receiver >= STATION && question.receiver < STATION + 4);
    const uint32_t first = (uint32_t)(question.receiver - STATION);
    hear(&f, first, load(0, 1, BAL_POWER_ON)); /* it was idle no longer */
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &question), 1);
    assert_true(question.receiver < STATION + 4 && question.receiver != STATION + first);
    hear(&f, (uint32_t)(question.receiver - STATION), idle(1, 1, 500));
    struct bal_dispatch to;
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
    assert_true(to.verdict == BAL_SEND && to.server == question.receiver - STATION);
    f.now += 100 * MS; /* no other is told anything */
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, NULL), 0);
    end(&f);
}

static bool is_open(const struct fixture *f, uint32_t server) {
    return bal_dispatcher_server(f->d, server).open;
}

/* max_fails is for servers without stations: whether this one is back is for its station to say. */
static void a_server_that_could_not_be_reached_is_closed_until_it_is_heard(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("jiq:else=least-conn", &config);
    set_max_fails(&f, 2, 1);
    hear(&f, 0, idle(2, 2, 500));
    struct bal_dispatch to = arrive(&f, 0);
    assert_int_equal(to.server, 0);
    said(&f, BAL_MSG_BACKLOG, NULL);
    end_as(&f, to.ticket, BAL_OUTCOME_FAILED);
    assert_false(is_open(&f, 0));
    struct bal_message back = {0};
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &back), 1); /* the other token is given back */
    assert_true(back.receiver == STATION && back.backlog.held == 0);
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 0);
    f.now += 50 * MS;
    hear(&f, 0, load(0, 0, BAL_POWER_ON));
    assert_true(is_open(&f, 0));
    assert_int_equal(said(&f, BAL_MSG_RESYNC, &back), 1); /* and may be offered again */
    assert_true(back.receiver == STATION);
    end(&f);
}

/* A station has begun again, and proves it. */
static void begin_again(struct fixture *f, uint32_t server, uint64_t boot) {
    struct bal_message challenge = {0};
    f->boot = boot;
    hear(f, server, load(0, 0, BAL_POWER_ON));
    assert_int_equal(said(f, BAL_MSG_CHALLENGE, &challenge), 1);
    hear(f, server, (struct bal_message){.type = BAL_MSG_PROOF, .nonce = challenge.nonce});
}

/* A station that has begun again is another one: what the old one did is forgotten. */
static void ejection_ends_when_a_station_begins_again(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(2);
    config.failures = 1;
    config.back_off_ns = 10000 * MS;
    struct fixture f = begin("jiq:else=least-conn", &config);
    hear(&f, 0, idle(2, 2, 500));
    end_as(&f, arrive(&f, 0).ticket, BAL_OUTCOME_FAILED);
    assert_false(is_open(&f, 0));
    said(&f, BAL_MSG_BACKLOG, NULL);
    hear(&f, 0, idle(1, 3, 500)); /* the same one: its offer is given back */
    assert_false(is_open(&f, 0));
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 0);
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, NULL), 1);
    begin_again(&f, 0, 2);
    hear(&f, 0, idle(1, 1, 500));
    assert_true(is_open(&f, 0));
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 1);
    end(&f);
}

/* What is held is not announced to stations whose offers cannot be used. */
static void a_closed_server_is_told_that_its_offers_are_not_wanted(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(3);
    config.hold_ns = 10000 * MS;
    struct fixture f = begin("jiq:else=hold", &config);
    for (uint32_t server = 0; server < 3; server++)
        hear(&f, server, load(0, 1, BAL_POWER_ON));
    f.now += 400 * MS;
    hear(&f, 1, load(0, 1, BAL_POWER_ON));
    hear(&f, 2, load(0, 1, BAL_POWER_ON));
    f.now += 200 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_true(bal_dispatcher_server(f.d, 0).silent && is_open(&f, 1));
    arrive(&f, 0);
    said(&f, BAL_MSG_BACKLOG, NULL);
    f.now += config.probe_ns;
    bal_dispatcher_run_timers(f.d, f.now);
    struct bal_message last = {0};
    assert_int_equal(said(&f, BAL_MSG_BACKLOG, &last), 2);
    assert_true(last.receiver == STATION && last.backlog.held == 0);
    end(&f);
}

/* Two stations at each of two addresses; one address dies. A request that has failed there goes to the other
 * one, and waits for it if it must: the dead one has offered slots, and they are at hand. */
static void a_request_that_failed_at_a_host_tries_another_host(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(4);
    config.hold_ns = 10000 * MS;
    struct fixture f = begin("jiq:else=hold", &config);
    const struct bal_dispatcher_server servers[] = {{.name = "10.0.0.1:81", .station = STATION},
                                                    {.name = "10.0.0.1:82", .station = STATION + 1},
                                                    {.name = "10.0.0.2:81", .station = STATION + 2},
                                                    {.name = "10.0.0.2:82", .station = STATION + 3}};
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 4, NULL), BAL_OK);
    uint32_t number[4];
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < 4; k++)
            if (strcmp(bal_dispatcher_server(f.d, k).name, servers[i].name) == 0)
                number[i] = k;
    hear(&f, 0, idle(1, 1, 500));
    hear(&f, 1, idle(1, 1, 500));
    struct bal_dispatch to = arrive(&f, 0);
    assert_true(to.server == number[0] || to.server == number[1]);
    const uint32_t mate = to.server == number[0] ? 1 : 0;
    f.now += MS;
    bal_dispatcher_retry(f.d, f.now, to.ticket, BAL_OUTCOME_FAILED, &to);
    sound(&f);
    assert_int_equal(to.verdict, BAL_WAIT);
    f.now += MS;
    hear(&f, 3, idle(1, 1, 500));
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
    assert_int_equal(to.server, number[3]);
    /* One that has been heard since is as good as any. */
    to = arrive(&f, 0);
    assert_int_equal(to.server, number[mate]);
    hear(&f, 1 - mate, idle(1, 2, 500));
    f.now += MS;
    bal_dispatcher_retry(f.d, f.now, to.ticket, BAL_OUTCOME_FAILED, &to);
    assert_int_equal(to.verdict, BAL_WAIT);
    f.now += MS;
    hear(&f, 1 - mate, idle(1, 2, 500));
    assert_true(bal_dispatcher_next_decision(f.d, f.now, &to));
    assert_int_equal(to.server, number[1 - mate]);
    /* Where it has failed everywhere it takes what there is. */
    hear(&f, 2, idle(1, 1, 500));
    bal_dispatcher_retry(f.d, f.now, to.ticket, BAL_OUTCOME_FAILED, &to);
    assert_int_equal(to.server, number[2]);
    end(&f);
}

static void a_wake_is_said_until_power_answers(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("tabs", &config);
    const struct bal_message off = {.type = BAL_MSG_POWER,
                                    .power = {.power = BAL_POWER_OFF, .valid_ms = 5000}};
    const struct bal_message setup = {.type = BAL_MSG_POWER,
                                      .power = {.power = BAL_POWER_SETUP, .valid_ms = 5000}};
    hear(&f, 0, off);
    hear(&f, 1, load(0, 1, BAL_POWER_ON));
    struct bal_message wake = {0};
    assert_int_equal(arrive(&f, 0).server, 1);
    assert_int_equal(said(&f, BAL_MSG_START, &wake), 1);
    assert_true(wake.receiver == STATION);
    for (int i = 0; i < 3; i++) {
        f.now += 100 * MS;
        bal_dispatcher_run_timers(f.d, f.now);
        assert_int_equal(said(&f, BAL_MSG_START, NULL), 1);
    }
    hear(&f, 0, setup);
    assert_int_equal(bal_dispatcher_server(f.d, 0).status, BAL_SERVER_SETUP);
    f.now += 100 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_START, NULL), 0);
    end(&f);
}

/* Else one that has fallen silent for ever would be sent it for ever. */
static void a_wake_that_is_not_answered_is_said_nine_times(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("tabs", &config);
    hear(&f, 0,
         (struct bal_message){.type = BAL_MSG_POWER, .power = {.power = BAL_POWER_OFF, .valid_ms = 5000}});
    hear(&f, 1, load(0, 1, BAL_POWER_ON));
    assert_int_equal(arrive(&f, 0).server, 1);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(said(&f, BAL_MSG_START, NULL), i < 9);
        f.now += 100 * MS;
        bal_dispatcher_run_timers(f.d, f.now);
    }
    end(&f);
}

/* Stations answer a wake at once, and are off until their keeper has answered. */
static void wakes_and_their_answers_are_no_storm(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(3);
    config.held = 10;
    struct fixture f = begin("tabs:else=hold", &config);
    const struct bal_message off = {.type = BAL_MSG_POWER,
                                    .power = {.power = BAL_POWER_OFF, .valid_ms = 5000}};
    for (uint32_t server = 0; server < 3; server++)
        hear(&f, server, off);
    for (int i = 0; i < 5; i++)
        assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    uint32_t wakes = said(&f, BAL_MSG_START, NULL);
    for (uint32_t i = 0; i < 50; i++) {
        hear(&f, i % 3, off);
        wakes += said(&f, BAL_MSG_START, NULL);
    }
    assert_true(wakes >= 1 && wakes <= 3);
    f.now += 100 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_START, NULL), 3);
    end(&f);
}

/* As many servers are started as requests come that find nobody, though others wait before them. */
static void each_request_wakes_one_also_behind_others(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(4);
    config.held = 10;
    struct fixture f = begin("tabs:else=hold", &config);
    for (uint32_t server = 0; server < 4; server++)
        hear(
            &f, server,
            (struct bal_message){.type = BAL_MSG_POWER, .power = {.power = BAL_POWER_OFF, .valid_ms = 5000}});
    for (int i = 0; i < 3; i++) {
        assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
        assert_int_equal(said(&f, BAL_MSG_START, NULL), 1);
    }
    end(&f);
}

static void a_resting_or_draining_server_is_not_chosen(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(3);
    struct fixture f = begin("random", &config);
    hear(&f, 0, load(0, 0, BAL_POWER_OFF));
    hear(&f, 1, load(0, 0, BAL_POWER_DRAINING));
    for (int i = 0; i < 20; i++)
        assert_int_equal(arrive(&f, 0).server, 2);
    hear(&f, 1, load(0, 0, BAL_POWER_ON));
    assert_true(bal_dispatcher_server(f.d, 1).open);
    end(&f);
}

/* What is heard while the clock is behind is valid from the latest time that there was. */
static void a_clock_that_steps_back_stands_still(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("jiq:else=least-conn", &config);
    bal_dispatcher_run_timers(f.d, f.now);
    f.now -= 400 * MS;
    hear(&f, 0, idle(1, 1, 300));
    f.now += 600 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 1);
    f.now += 200 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 0);
    end(&f);
}

/* A request that is over has no ticket, though another one stands in its place. */
static void tickets_are_good_for_one_request(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(1);
    struct fixture f = begin("least-conn", &config);
    const uint64_t first = arrive(&f, 0).ticket;
    respond(&f, first, false);
    const uint64_t second = arrive(&f, 0).ticket;
    assert_true(first != second && (uint32_t)first == (uint32_t)second);
    assert_false(bal_dispatcher_respond(f.d, f.now, first, BAL_OUTCOME_GOOD));
    assert_int_equal(in_flight(&f, 0), 1);
    respond(&f, second, false);
    end(&f);
}

static void a_good_answer_ends_a_row_of_failures(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(4);
    config.failures = 2;
    config.back_off_ns = 1000 * MS;
    struct fixture f = begin("least-conn", &config);
    bool failed = true;
    for (int i = 0; i < 40; i++) { /* each server has every other answer bad */
        uint64_t ticket[4];
        for (int k = 0; k < 4; k++)
            ticket[k] = arrive(&f, 0).ticket;
        for (int k = 0; k < 4; k++)
            respond(&f, ticket[k], failed);
        failed = !failed;
        for (uint32_t server = 0; server < 4; server++)
            assert_true(is_open(&f, server));
    }
    end(&f);
}

/* A server that is bad for ever is tried again after 64 times the first back-off at most. */
static void back_off_is_bounded(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    config.failures = 1;
    config.back_off_ns = 10 * MS;
    struct fixture f = begin("random", &config);
    uint64_t closed_at = f.now, longest = 0;
    for (int i = 0; i < 5000; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        if (to.server == 0 && closed_at < f.now && f.now - closed_at > longest)
            longest = f.now - closed_at;
        closed_at = to.server == 0 ? f.now : closed_at;
        respond(&f, to.ticket, to.server == 0);
        f.now += MS;
        bal_dispatcher_run_timers(f.d, f.now);
    }
    assert_in_range(longest, 640 * MS, 700 * MS);
    end(&f);
}

static void a_late_power_is_not_believed(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("random", &config);
    const struct bal_message off = {.type = BAL_MSG_POWER, .power = {BAL_POWER_OFF, 0, 0, 500}};
    f.sequence = 10;
    hear(&f, 0, load(0, 0, BAL_POWER_ON));
    f.sequence = 5;
    assert_int_equal(hear(&f, 0, off), BAL_RECEIPT_LATE);
    assert_true(is_open(&f, 0));
    f.sequence = 20;
    hear(&f, 0, off);
    assert_false(is_open(&f, 0));
    end(&f);
}

static void classes_beyond_the_last_are_the_last(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(1);
    config.classes = 2;
    struct fixture f = begin("jiq:else=hold", &config);
    arrive(&f, 0);
    assert_int_equal(arrive(&f, 7).verdict, BAL_WAIT);
    assert_int_equal(bal_dispatcher_held(f.d, 1), 1);
    end(&f);
}

/* A station that is busy says so with its load: what it had offered before is nothing any longer. */
static void a_load_takes_offers_back(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("jiq:else=least-conn", &config);
    hear(&f, 0, idle(1, 1, 500));
    hear(&f, 0, load(7, 1, BAL_POWER_ON)); /* that answers a question takes nothing back */
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 1);
    hear(&f, 0, load(0, 1, BAL_POWER_ON));
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 0);
    end(&f);
}

/* A process that died in the middle of an operation has woken no worker: the one that rebuilds the block
 * does. */
static void who_has_news_is_woken_by_a_rebuild(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(1);
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_dispatcher *other = view_of(&f, 2), *third = view_of(&f, 3);
    struct bal_dispatch to;
    assert_int_equal(bal_dispatcher_join(other, f.now, 12, 1, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_join(third, f.now, 13, 1, NULL), BAL_OK);
    const uint64_t ticket = arrive(&f, 0).ticket;
    bal_dispatcher_arrive(other, f.now, 0, &to);
    assert_int_equal(to.verdict, BAL_WAIT);
    respond(&f, ticket, false); /* the other's turn; whom to wake is in a memory that is lost */
    f.d->block->busy = 1;
    bal_dispatcher_run_timers(third, f.now);
    assert_int_equal(bal_dispatcher_next_to_wake(third), 1);
    assert_true(bal_dispatcher_next_decision(other, f.now, &to) && to.verdict == BAL_SEND);
    free(other);
    free(third);
    end(&f);
}

enum { LARGE = 100000 };
static struct bal_dispatcher_server large_servers[LARGE];
static char large_names[LARGE][24];

/* Of so many servers at most, none of which is configured yet. */
static struct fixture begin_large(const char *text, uint32_t servers) {
    struct bal_dispatcher_config config = stationed(servers);
    struct fixture f = {.now = 1000 * MS, .boot = 1};
    struct bal_policy_spec policy;
    assert_int_equal(bal_policy_parse(text, &policy, NULL), BAL_OK);
    f.block = aligned_alloc(64, bal_dispatcher_size(&policy, &config));
    assert_non_null(f.block);
    bal_dispatcher_create(f.block, &policy, &config, f.now);
    f.view_size = bal_dispatcher_view_size(&policy, &config);
    f.d = view_of(&f, 1);
    assert_int_equal(bal_dispatcher_join(f.d, f.now, 11, 1, NULL), BAL_OK);
    for (uint32_t i = 0; i < servers; i++) {
        snprintf(large_names[i], sizeof large_names[i], "10.%u.%u.%u:80", i >> 16, i >> 8 & 255, i & 255);
        large_servers[i] = (struct bal_dispatcher_server){.name = large_names[i], .station = STATION + i};
    }
    return f;
}

/* Requests wait for as long as this takes. Where each server is compared with all others it is half a minute
 * of a processor; else it is a small part of a second, and the bound is far from both. */
static void large_fleets_are_configured_in_time_that_grows_with_them(void **state) {
    (void)state;
    struct fixture f = begin_large("jiq:else=least-conn", LARGE);
    const clock_t begun = clock();
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, large_servers, LARGE / 2, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, large_servers, LARGE, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, large_servers + 1, LARGE - 1, NULL), BAL_OK);
    assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < 5);
    assert_null(bal_dispatcher_server(f.d, 0).name);
    assert_string_equal(bal_dispatcher_server(f.d, LARGE - 1).name, large_names[LARGE - 1]);
    assert_true(said(&f, BAL_MSG_RESYNC, NULL) == 2 && bal_dispatcher_counts(f.d).unsent == 0);
    free(f.d);
    free(f.block);
}

static void all_servers_of_a_large_fleet_are_asked(void **state) {
    (void)state;
    enum { SERVERS = 1000 };
    static const char *const policies[] = {"jsq", "scd", "scd:m=1", "board"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct fixture f = begin_large(policies[i], SERVERS);
        assert_int_equal(bal_dispatcher_configure(f.d, f.now, large_servers, SERVERS, NULL), BAL_OK);
        said(&f, BAL_MSG_RESYNC, NULL);
        assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
        assert_int_equal(said(&f, BAL_MSG_PROBE, NULL), SERVERS);
        assert_int_equal(bal_dispatcher_counts(f.d).unsent, 0);
        end(&f);
    }
}

/* Policies from files: two versions have one name. */
static void a_block_is_opened_with_a_policy_that_has_no_name_here(void **user) {
    (void)user;
    const struct bal_dispatcher_config config = plain(2);
    struct bal_policy mine = *bal_policy_find("random");
    const struct bal_policy_spec policy = {.policy = &mine};
    mine.name = "mine";
    void *block = aligned_alloc(64, bal_dispatcher_size(&policy, &config));
    struct bal_dispatcher *d = malloc(bal_dispatcher_view_size(&policy, &config));
    assert_true(block && d);
    bal_dispatcher_create(block, &policy, &config, 1000 * MS);
    assert_int_equal(bal_dispatcher_open(d, block, 1, NULL), BAL_E_UNKNOWN);
    assert_int_equal(bal_dispatcher_open_with(d, block, &policy, 1, NULL), BAL_OK);
    assert_null(bal_dispatcher_find_inconsistency(d));
    free(d);
    free(block);
}

/* ---- reports after every so many completions ---- */

/* One server answers, and the requests at the other one are given up by their clients. That one completes as
 * many, so that its queue must be known as well. */
static void requests_that_are_given_up_are_completed_too(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("care:x=4,service=0", &config);
    const struct bal_dispatch first = arrive(&f, 0);
    respond(&f, first.ticket, false);
    uint32_t there = 0;
    for (int i = 0; i < 400; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        assert_int_equal(to.verdict, BAL_SEND);
        there += to.server == first.server;
        if (to.server == first.server)
            assert_true(bal_dispatcher_cancel(f.d, f.now, to.ticket));
        else
            respond(&f, to.ticket, false);
        sound(&f);
    }
    assert_true(there > 150 && there < 250);
    end(&f);
}

/* ---- another policy ---- */

static const char *const switched[] = {"random",
                                       "round-robin",
                                       "least-conn",
                                       "jiq",
                                       "jiq:else=hold",
                                       "jiq:else=least-conn",
                                       "rcpb:else=hold",
                                       "pi",
                                       "lsq",
                                       "ewma",
                                       "prequal",
                                       "scd",
                                       "care:x=2",
                                       "board:t=0.01,pick=interpret",
                                       "last-idle",
                                       "pod:d=3",
                                       "pod-memory",
                                       "jsq",
                                       "sed",
                                       "rcpb",
                                       "fastest-idle",
                                       "weighted-round-robin"};
enum { SWITCHED = sizeof switched / sizeof *switched, UNDER_WAY = 24 };

/* Tickets of one process. */
struct tickets {
    struct bal_dispatcher *d;
    uint64_t sent[UNDER_WAY], waiting[UNDER_WAY];
    uint32_t sents, waitings;
};

static void sound_view(const struct bal_dispatcher *d) {
    const char *fault = bal_dispatcher_find_inconsistency(d);
    if (fault)
        fail_msg("%s", fault);
}

static void set_policy(struct bal_dispatcher *d, uint64_t now, const char *text) {
    struct bal_policy_spec policy;
    struct bal_error err = {0};
    assert_int_equal(bal_policy_parse(text, &policy, &err), BAL_OK);
    if (bal_dispatcher_set_policy(d, now, &policy, &err))
        fail_msg("%s: %s", text, err.text);
    sound_view(d);
}

static void learn_all(struct tickets *t, uint64_t now, uint64_t *refused) {
    struct bal_dispatch to;
    while (bal_dispatcher_next_decision(t->d, now, &to)) {
        for (uint32_t i = 0; i < t->waitings; i++)
            if (t->waiting[i] == to.ticket)
                t->waiting[i] = t->waiting[--t->waitings];
        *refused += to.verdict == BAL_REFUSE;
        if (to.verdict == BAL_SEND)
            t->sent[t->sents++] = to.ticket;
    }
}

static void come(struct tickets *t, uint64_t now, uint64_t *refused) {
    struct bal_dispatch to;
    if (t->sents + t->waitings == UNDER_WAY)
        return;
    bal_dispatcher_arrive(t->d, now, 0, &to);
    if (to.verdict == BAL_SEND)
        t->sent[t->sents++] = to.ticket;
    else if (to.verdict == BAL_WAIT)
        t->waiting[t->waitings++] = to.ticket;
    else
        ++*refused;
}

static void leave(struct tickets *t, uint64_t now, struct bal_rng *rng) {
    if (!t->sents)
        return;
    const uint32_t i = bal_rng_below(rng, t->sents);
    assert_true(bal_dispatcher_respond(t->d, now, t->sent[i], BAL_OUTCOME_GOOD));
    t->sent[i] = t->sent[--t->sents];
}

/* Two processes, and every policy after every other one, while requests come, wait and go. */
static void another_policy_decides_in_all_processes(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(6);
    config.requests = 64;
    config.hold_ns = 100000 * MS;
    config.policy_room = bal_dispatcher_policy_room(&config);
    struct fixture f = begin("least-conn", &config);
    struct tickets both[2] = {{.d = f.d}, {.d = view_of(&f, 2)}};
    assert_int_equal(bal_dispatcher_join(both[1].d, f.now, 12, 1, NULL), BAL_OK);
    struct bal_rng rng;
    uint64_t refused = 0;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (int step = 0; step < 20000; step++) {
        struct tickets *t = &both[bal_rng_below(&rng, 2)];
        f.now += bal_rng_below(&rng, 3) * MS;
        if (bal_rng_below(&rng, 2))
            come(t, f.now, &refused);
        else
            leave(t, f.now, &rng);
        if (bal_rng_below(&rng, 20) == 0)
            set_policy(t->d, f.now, switched[bal_rng_below(&rng, SWITCHED)]);
        bal_dispatcher_run_timers(t->d, f.now);
        learn_all(&both[0], f.now, &refused);
        learn_all(&both[1], f.now, &refused);
        sound_view(t->d);
    }
    set_policy(f.d, f.now, "random"); /* those that are held are sent */
    for (int k = 0; k < 2; k++) {
        learn_all(&both[k], f.now, &refused);
        assert_int_equal(both[k].waitings, 0);
        while (both[k].sents)
            leave(&both[k], f.now, &rng);
    }
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(f.d);
    assert_true(counts.arrived == counts.answered + refused && counts.held > 100);
    assert_int_equal(counts.void_tickets, 0);
    assert_int_equal(counts.rebuilds, 0);
    free(both[1].d);
    end(&f);
}

/* The process that sets it dies when the new one counts, and nothing else has been done. */
static void a_process_that_dies_while_it_sets_the_policy(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(4);
    config.policy_room = bal_dispatcher_policy_room(&config);
    for (uint32_t i = 0; i < SWITCHED; i++) {
        struct fixture f = begin("jiq:else=hold", &config);
        struct bal_dispatcher *other = view_of(&f, 2);
        assert_int_equal(bal_dispatcher_join(other, f.now, 12, 1, NULL), BAL_OK);
        for (int k = 0; k < 6; k++) /* four are sent, two wait */
            arrive(&f, 0);
        memset(f.d->state, 0xff, config.policy_room); /* whatever was there */
        strcpy(f.d->block->policy[1], switched[i]);
        f.d->block->policies = 1;
        f.d->block->busy = 1;
        struct bal_dispatch to;
        bal_dispatcher_arrive(other, f.now, 0, &to);
        sound_view(other);
        assert_int_equal(bal_dispatcher_counts(other).rebuilds, 1);
        bal_dispatcher_run_timers(f.d, f.now);
        free(other);
        end(&f);
    }
}

static void refuses_policy(struct fixture *f, const char *text, const char *why) {
    struct bal_policy_spec policy;
    struct bal_error err = {0};
    assert_int_equal(bal_policy_parse(text, &policy, &err), BAL_OK);
    assert_int_not_equal(bal_dispatcher_set_policy(f->d, f->now, &policy, &err), BAL_OK);
    if (!strstr(err.text, why))
        fail_msg("%s: '%s' does not say '%s'", text, err.text, why);
    assert_int_equal(f->d->block->policies, 0);
    sound(f);
}

static void policies_that_cannot_be_set(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(4);
    struct fixture f = begin("jiq", &config);
    refuses_policy(&f, "random", "there is no room for another policy");
    end(&f);
    config.policy_room = bal_dispatcher_policy_room(&config);
    f = begin("jiq", &config);
    refuses_policy(&f, "tabs", "");
    refuses_policy(&f, "least-work", "");
    end(&f);
    config = stationed(4);
    config.policy_room = bal_dispatcher_policy_room(&config);
    f = begin("jiq", &config);
    refuses_policy(&f, "tabs", "cannot begin or end while requests are under way");
    refuses_policy(&f, "pod-ssp", "");
    set_policy(f.d, f.now, "pod:d=2");
    arrive(&f, 0); /* it waits for replies */
    set_policy(f.d, f.now, "jiq");
    f.now += 100 * MS;
    bal_dispatcher_run_timers(f.d, f.now);
    end(&f);
}

/* ... and a backlog goes to all of them as seldom. */
static void backlogs_are_announced_as_seldom_as_heartbeats_come(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(8);
    config.gap_ns = 50 * MS;
    config.hold_ns = 100000 * MS;
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_message seldom = load(0, 1, BAL_POWER_ON);
    seldom.load.valid_ms = 100000;
    for (uint32_t server = 0; server < 8; server++)
        hear(&f, server, seldom);
    assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    uint32_t announced = 0;
    struct bal_message backlog = {0};
    for (const uint64_t end = f.now + 4000 * MS; f.now < end;) {
        const uint64_t next = bal_dispatcher_run_timers(f.d, f.now);
        announced += said(&f, BAL_MSG_BACKLOG, &backlog);
        f.now = next < end ? next : end;
    }
    assert_in_range(announced, 10, 11);
    assert_true(backlog.receiver == BAL_EVERYONE && backlog.backlog.valid_ms == 1200);
    end(&f);
}

/* Eight stations, and room for a heartbeat in 50 ms: one every 400 ms from each. */
static void stations_that_send_too_often_are_asked_for_less(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(8);
    config.gap_ns = 50 * MS;
    struct fixture f = begin("jiq", &config);
    struct bal_message pace = {0}, often = load(0, 1, BAL_POWER_ON), seldom = often;
    often.load.valid_ms = 300;
    seldom.load.valid_ms = 1200;
    assert_int_equal(said(&f, BAL_MSG_PACE, NULL), 0);
    hear(&f, 3, seldom);
    assert_int_equal(said(&f, BAL_MSG_PACE, NULL), 0);
    hear(&f, 3, often);
    assert_int_equal(said(&f, BAL_MSG_PACE, &pace), 1);
    assert_int_equal(pace.pace.beat_ms, 400);
    assert_int_equal(pace.receiver, STATION + 3);
    f.now += 100 * MS; /* it may not know yet, or be of an earlier release */
    hear(&f, 3, often);
    assert_int_equal(said(&f, BAL_MSG_PACE, NULL), 0);
    f.now += 3200 * MS;
    hear(&f, 3, often);
    assert_int_equal(said(&f, BAL_MSG_PACE, NULL), 1);
    /* A station with rare heartbeats of its own is left alone; one with few others is asked for more. */
    seldom.load.valid_ms = 3000;
    hear(&f, 4, seldom);
    assert_int_equal(said(&f, BAL_MSG_PACE, NULL), 0);
    struct bal_dispatcher_server servers[16];
    char names[16][16];
    name_servers(servers, names, 5);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers, 5, NULL), BAL_OK);
    f.now += 3200 * MS;
    said(&f, BAL_MSG_PACE, NULL);
    seldom.load.valid_ms = 1200;
    hear(&f, 3, seldom);
    assert_int_equal(said(&f, BAL_MSG_PACE, &pace), 1);
    assert_int_equal(pace.pace.beat_ms, 250);
    hear(&f, 4, seldom);
    assert_int_equal(said(&f, BAL_MSG_PACE, NULL), 0);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stations_that_send_too_often_are_asked_for_less),
        cmocka_unit_test(backlogs_are_announced_as_seldom_as_heartbeats_come),
        cmocka_unit_test(requests_are_counted_until_they_are_answered),
        cmocka_unit_test(a_full_ledger_refuses),
        cmocka_unit_test(held_requests_are_served_urgent_first_and_in_order),
        cmocka_unit_test(a_held_request_is_sent_at_its_deadline),
        cmocka_unit_test(those_who_wait_for_stations_that_others_hear_are_sent),
        cmocka_unit_test(more_than_may_be_held_are_sent_at_once),
        cmocka_unit_test(where_it_is_so_configured_requests_beyond_are_refused),
        cmocka_unit_test(a_dispatch_says_why),
        cmocka_unit_test(a_client_that_goes_away_leaves_nothing_behind),
        cmocka_unit_test(a_request_is_not_sent_where_it_has_failed),
        cmocka_unit_test(the_server_that_was_tried_first_is_forgotten_first),
        cmocka_unit_test(full_and_down_servers_are_not_chosen),
        cmocka_unit_test(weights_share_the_requests),
        cmocka_unit_test(a_failing_server_is_shunned_and_proved),
        cmocka_unit_test(half_of_those_that_are_there_may_be_shunned),
        cmocka_unit_test(max_fails_closes_a_server_for_its_time),
        cmocka_unit_test(failures_that_are_far_apart_close_nothing),
        cmocka_unit_test(all_servers_may_be_closed_by_max_fails),
        cmocka_unit_test(the_only_server_is_not_closed_by_max_fails),
        cmocka_unit_test(late_answers_do_not_open_a_server_that_max_fails_has_closed),
        cmocka_unit_test(servers_keep_their_counts_when_the_configuration_changes),
        cmocka_unit_test(a_server_that_drains_becomes_empty),
        cmocka_unit_test(slots_of_single_servers),
        cmocka_unit_test(servers_that_do_not_fit_come_later),
        cmocka_unit_test(a_server_that_leaves_and_returns_is_the_same),
        cmocka_unit_test(a_server_that_leaves_in_ejection_lets_time_pass),
        cmocka_unit_test(every_slot_of_a_server_is_used),
        cmocka_unit_test(idle_servers_report_at_a_rate_where_no_station_does),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(another_process_hears_of_its_own_requests),
        cmocka_unit_test(what_a_dead_process_had_is_given_back),
        cmocka_unit_test(an_operation_that_was_not_finished_is_made_good),
        cmocka_unit_test(a_server_is_not_gone_before_its_last_request_is),
        cmocka_unit_test(a_token_is_used_once),
        cmocka_unit_test(a_message_that_comes_twice_or_late_changes_nothing),
        cmocka_unit_test(tokens_and_knowledge_expire),
        cmocka_unit_test(when_all_are_silent_requests_go_to_any_of_them),
        cmocka_unit_test(when_no_station_is_heard_requests_go_by_those_in_flight),
        cmocka_unit_test(what_is_held_when_the_last_station_falls_silent_is_sent),
        cmocka_unit_test(a_silent_server_that_is_full_is_waited_for),
        cmocka_unit_test(all_silent_servers_are_compared_where_one_is_heard_and_full),
        cmocka_unit_test(a_full_server_that_falls_silent_gives_its_offers_back),
        cmocka_unit_test(a_token_that_rides_on_a_response_is_no_heartbeat),
        cmocka_unit_test(an_unknown_boot_on_a_response_counts_only_in_silence),
        cmocka_unit_test(a_station_that_has_begun_again_proves_it),
        cmocka_unit_test(what_was_recorded_silences_nobody),
        cmocka_unit_test(challenges_are_answered),
        cmocka_unit_test(a_known_station_that_asks_to_join_is_answered),
        cmocka_unit_test(members_of_the_block_before_are_adopted),
        cmocka_unit_test(what_was_recorded_of_a_silent_station_is_not_believed),
        cmocka_unit_test(replies_are_waited_for_and_compared),
        cmocka_unit_test(replies_to_an_earlier_probe_do_not_count),
        cmocka_unit_test(hunger_is_said_repeated_and_taken_back),
        cmocka_unit_test(stations_that_look_idle_are_asked_one_by_one),
        cmocka_unit_test(a_server_that_could_not_be_reached_is_closed_until_it_is_heard),
        cmocka_unit_test(ejection_ends_when_a_station_begins_again),
        cmocka_unit_test(a_closed_server_is_told_that_its_offers_are_not_wanted),
        cmocka_unit_test(a_request_that_failed_at_a_host_tries_another_host),
        cmocka_unit_test(a_wake_is_said_until_power_answers),
        cmocka_unit_test(a_wake_that_is_not_answered_is_said_nine_times),
        cmocka_unit_test(wakes_and_their_answers_are_no_storm),
        cmocka_unit_test(each_request_wakes_one_also_behind_others),
        cmocka_unit_test(a_resting_or_draining_server_is_not_chosen),
        cmocka_unit_test(a_clock_that_steps_back_stands_still),
        cmocka_unit_test(tickets_are_good_for_one_request),
        cmocka_unit_test(a_good_answer_ends_a_row_of_failures),
        cmocka_unit_test(back_off_is_bounded),
        cmocka_unit_test(a_late_power_is_not_believed),
        cmocka_unit_test(classes_beyond_the_last_are_the_last),
        cmocka_unit_test(a_load_takes_offers_back),
        cmocka_unit_test(who_has_news_is_woken_by_a_rebuild),
        cmocka_unit_test(large_fleets_are_configured_in_time_that_grows_with_them),
        cmocka_unit_test(all_servers_of_a_large_fleet_are_asked),
        cmocka_unit_test(a_block_is_opened_with_a_policy_that_has_no_name_here),
        cmocka_unit_test(requests_that_are_given_up_are_completed_too),
        cmocka_unit_test(another_policy_decides_in_all_processes),
        cmocka_unit_test(a_process_that_dies_while_it_sets_the_policy),
        cmocka_unit_test(policies_that_cannot_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
