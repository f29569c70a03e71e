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

#include <cmocka.h>

#include "../live/world_inside.h"
#include "live/dispatcher_private.h"

#define MS UINT64_C(1000000)
enum { STATION = 100 }; /* the station of server i has the id STATION + i */

static struct bal_dispatcher_config plain(uint32_t servers) {
    return (struct bal_dispatcher_config){
        .servers = servers, .owners = 4, .requests = 32, .held = 16, .hold_ns = 50 * MS};
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
    const char *fault = bal_dispatcher_unsound(f->d);
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
    const struct bal_message *out = bal_dispatcher_out(f->d, &count);
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
    const enum bal_receipt receipt = bal_dispatcher_hear(f->d, f->now, &message);
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
    struct fixture f = begin("own", &config);
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
        assert_true(*bal_dispatcher_wakes(f.d));
        assert_int_equal(bal_dispatcher_woken(f.d), bal_dispatcher_self(f.d));
        assert_int_equal(bal_dispatcher_woken(f.d), BAL_NONE);
        assert_false(*bal_dispatcher_wakes(f.d));
        assert_true(bal_dispatcher_news(f.d, f.now, &to));
        assert_int_equal(to.verdict, BAL_SEND);
        assert_true(to.ticket == waiting[order[i]]);
        assert_false(bal_dispatcher_news(f.d, f.now, &to));
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
    assert_true(bal_dispatcher_pass(f.d, f.now) == f.now + 50 * MS);
    struct bal_dispatch to;
    f.now += 50 * MS - 1;
    bal_dispatcher_pass(f.d, f.now);
    assert_false(bal_dispatcher_news(f.d, f.now, &to));
    f.now++;
    bal_dispatcher_pass(f.d, f.now);
    assert_true(bal_dispatcher_news(f.d, f.now, &to));
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
        bal_dispatcher_deafen(f.d, f.now);
        for (int k = 0; k < 2; k++) {
            assert_true(bal_dispatcher_news(f.d, f.now, &to));
            assert_int_equal(to.verdict, BAL_SEND);
        }
        f.now += UINT64_C(3600000) * MS; /* nothing is heard for an hour */
        assert_true(bal_dispatcher_pass(f.d, f.now) == UINT64_MAX);
        assert_int_equal(arrive(&f, 0).verdict, BAL_SEND);
        bal_dispatcher_deafen(f.d, f.now);
        assert_false(bal_dispatcher_news(f.d, f.now, &to));
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
    bal_dispatcher_pass(f.d, f.now);
    sound(&f);
    assert_int_equal(bal_dispatcher_woken(f.d), bal_dispatcher_self(f.d));
    assert_true(bal_dispatcher_news(f.d, f.now, &to));
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
    assert_true(bal_dispatcher_news(f.d, f.now, &held));
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
    assert_true(bal_dispatcher_news(f.d, f.now, &to) && to.ticket == next.ticket);
    assert_int_equal(in_flight(&f, 0), 1);
    end(&f);
}

static void a_request_is_not_sent_where_it_has_failed(void **state) {
    (void)state;
    static const char *const policies[] = {"random", "round-robin", "own", "jiq", "pod:d=2", "pi", "lsq"};
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
    servers[0].most = 2;
    servers[1].down = true;
    servers[2].most = 1;
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
    struct fixture f = begin("own", &config);
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
    assert_true(bal_dispatcher_server(f.d, 2).quarantined);
    for (int i = 0; i < 8; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        assert_int_not_equal(to.server, 2);
        respond(&f, to.ticket, false);
    }
    f.now = bal_dispatcher_pass(f.d, f.now);
    assert_true(f.now == 1100 * MS);
    bal_dispatcher_pass(f.d, f.now);
    /* It may be tried, and is not out of quarantine yet. */
    assert_true(bal_dispatcher_server(f.d, 2).open && bal_dispatcher_server(f.d, 2).quarantined);
    /* One request at a time goes there; its process dies, so that another one may. */
    for (int round = 0; round < 2; round++) {
        int there = 0;
        for (int i = 0; i < 8; i++)
            there += arrive(&f, 0).server == 2;
        assert_int_equal(there, 1);
        bal_dispatcher_reap(f.d, f.now, bal_dispatcher_self(f.d));
        sound(&f);
        assert_int_equal(bal_dispatcher_join(f.d, f.now, 12, 1, NULL), BAL_OK);
    }
    for (int i = 0; i < 4; i++) {
        const struct bal_dispatch to = arrive(&f, 0);
        respond(&f, to.ticket, false);
    }
    assert_false(bal_dispatcher_server(f.d, 2).quarantined);
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
    assert_false(view.quarantined);
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
    assert_true(bal_dispatcher_pass(f.d, f.now) == f.now + 100 * MS);
    f.now += 100 * MS - 1;
    bal_dispatcher_pass(f.d, f.now);
    assert_true(shut(&f, 1));
    /* Then one request tries it; it fails, and closes it for as long again, by itself. */
    for (int round = 0; round < 2; round++) {
        f.now += round ? 100 * MS : 1;
        bal_dispatcher_pass(f.d, f.now);
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
    bal_dispatcher_pass(f.d, f.now);
    round_of(&f, BAL_OUTCOME_FAILED);
    assert_true(shut(&f, 1));
    end(&f);
}

static void all_servers_may_be_closed_by_max_fails(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(3);
    config.failures = 1; /* of the quarantine's one is excluded at most */
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
    uint32_t quarantined = 0;
    for (uint32_t server = 0; server < 3; server++) {
        assert_true(bal_dispatcher_server(f.d, server).shut);
        quarantined += bal_dispatcher_server(f.d, server).quarantined;
    }
    assert_int_equal(quarantined, 1);
    assert_int_equal(arrive(&f, 0).verdict, BAL_REFUSE);
    f.now += 100 * MS;
    bal_dispatcher_pass(f.d, f.now);
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
        struct fixture f = begin("own", &config);
        set_max_fails(&f, 1, 1);
        for (int i = 0; i < 5 && (i == 0 || !backed); i++) {
            const struct bal_dispatch to = arrive(&f, 0);
            assert_int_equal(to.verdict, BAL_SEND);
            end_as(&f, to.ticket, BAL_OUTCOME_FAILED);
        }
        assert_int_equal(arrive(&f, 0).verdict, backed ? BAL_REFUSE : BAL_SEND);
        end(&f);
    }
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
    struct fixture f = begin("own", &config);
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
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers + 1, 3, &err), BAL_OK);
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

static void a_server_that_leaves_and_returns_is_the_same(void **state) {
    (void)state;
    struct bal_dispatcher_config config = plain(2);
    struct fixture f = begin("own", &config);
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

/* It has a request under way, is in quarantine and is not in the configuration any longer: its times are
 * over. */
static void a_server_that_leaves_in_quarantine_lets_time_pass(void **state) {
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
    assert_true(bal_dispatcher_server(f.d, 0).quarantined && in_flight(&f, 0) == 1);
    assert_int_equal(bal_dispatcher_configure(f.d, f.now, servers + 1, 3, NULL), BAL_OK);
    sound(&f);
    f.now += 20 * MS;
    assert_true(bal_dispatcher_pass(f.d, f.now) == UINT64_MAX);
    respond(&f, to[4].ticket, false);
    assert_null(bal_dispatcher_server(f.d, 0).name);
    end(&f);
}

static void every_slot_of_a_server_is_used(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq:else=hold", "jiq:else=own"};
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
        while (to.verdict == BAL_WAIT && !bal_dispatcher_news(f.d, f.now, &to))
            f.now = bal_dispatcher_pass(f.d, f.now);
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
    assert_int_equal(bal_policy_parse("jiq:report=2", &policy, NULL), BAL_OK);
    assert_int_equal(bal_dispatcher_check(&policy, &config, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "use report=1"));
    assert_int_equal(bal_policy_parse("jiq", &policy, NULL), BAL_OK);
    config.owners = 0;
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
    assert_int_equal(bal_dispatcher_woken(f.d), bal_dispatcher_self(other));
    assert_false(bal_dispatcher_news(f.d, f.now, &to));
    assert_true(bal_dispatcher_news(other, f.now, &to) && to.ticket == its.ticket);
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
    assert_true(bal_dispatcher_owner(f.d, bal_dispatcher_self(dead), &pid, &start));
    assert_true(pid == 12 && start == 5);
    bal_dispatcher_reap(f.d, f.now, bal_dispatcher_self(dead));
    sound(&f);
    assert_false(bal_dispatcher_owner(f.d, bal_dispatcher_self(dead), &pid, &start));
    assert_true(bal_dispatcher_news(f.d, f.now, &to) && to.ticket == mine.ticket);
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
        bal_dispatcher_pass(f->d, f->now);
        while (bal_dispatcher_news(f->d, f->now, &to))
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
    static const char *const policies[] = {"jiq:else=hold", "own", "pi", "lsq", "round-robin", "ewma"};
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
            bal_dispatcher_pass(f.d, f.now);
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
    bal_dispatcher_pass(f.d, f.now);
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
    assert_true(bal_dispatcher_news(f.d, f.now, &to) && to.server == 1);
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
    assert_int_equal(bal_dispatcher_hear(f.d, f.now, &offer), BAL_RECEIPT_FRESH);
    assert_int_equal(bal_dispatcher_hear(f.d, f.now, &offer), BAL_RECEIPT_REPEATED);
    offer.sequence = 1;
    offer.idle.token = 9;
    assert_int_equal(bal_dispatcher_hear(f.d, f.now, &offer), BAL_RECEIPT_LATE);
    assert_int_equal(bal_dispatcher_server(f.d, 0).tokens, 1);
    offer.sender = 1;
    assert_int_equal(bal_dispatcher_hear(f.d, f.now, &offer), BAL_RECEIPT_STRANGER);
    end(&f);
}

static void tokens_and_knowledge_expire(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(2);
    struct fixture f = begin("jiq:else=hold", &config);
    hear(&f, 0, load(0, 1, BAL_POWER_ON));
    hear(&f, 1, idle(1, 1, 40));
    assert_true(bal_dispatcher_pass(f.d, f.now) == f.now + 40 * MS);
    f.now += 40 * MS;
    bal_dispatcher_pass(f.d, f.now);
    sound(&f);
    assert_int_equal(bal_dispatcher_server(f.d, 1).tokens, 0);
    assert_int_equal(bal_dispatcher_counts(f.d).expired, 1);
    assert_int_equal(arrive(&f, 0).verdict, BAL_WAIT);
    assert_true(bal_dispatcher_server(f.d, 0).open);
    f.now += 460 * MS; /* the load was valid for 500 ms */
    bal_dispatcher_pass(f.d, f.now);
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
    bal_dispatcher_pass(f.d, f.now);
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

static void a_station_whose_clock_has_gone_back_is_heard_again(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("random", &config);
    f.boot = 9;
    hear(&f, 0, load(0, 0, BAL_POWER_ON));
    f.boot = 3;
    assert_int_equal(hear(&f, 0, load(0, 0, BAL_POWER_ON)), BAL_RECEIPT_OLD);
    f.now += 1000 * MS;
    bal_dispatcher_pass(f.d, f.now);
    assert_false(bal_dispatcher_server(f.d, 0).open);
    assert_int_equal(hear(&f, 0, load(0, 0, BAL_POWER_ON)), BAL_RECEIPT_FRESH);
    assert_true(bal_dispatcher_server(f.d, 0).open);
    end(&f);
}

static void what_was_recorded_of_a_silent_station_is_not_believed(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = stationed(1);
    struct fixture f = begin("random", &config);
    for (int i = 0; i < 100; i++)
        assert_int_equal(hear(&f, 0, load(0, 0, BAL_POWER_ON)), BAL_RECEIPT_FRESH);
    f.now += 1000 * MS;
    bal_dispatcher_pass(f.d, f.now);
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
        assert_false(bal_dispatcher_news(f.d, f.now, &to));
        hear(&f, server, load(probe.probe.probe, server == 2 ? 1 : 5, BAL_POWER_ON));
    }
    assert_true(bal_dispatcher_news(f.d, f.now, &to));
    assert_true(to.ticket == waiting.ticket && to.server == 2);
    /* Those that have answered in time are compared. */
    arrive(&f, 0);
    assert_int_equal(said(&f, BAL_MSG_PROBE, &probe), 4);
    hear(&f, 3, load(probe.probe.probe, 7, BAL_POWER_ON));
    f.now += config.probe_ns;
    bal_dispatcher_pass(f.d, f.now);
    assert_true(bal_dispatcher_news(f.d, f.now, &to) && to.server == 3);
    /* An answer to nobody is a load like any other. */
    hear(&f, 1, load(probe.probe.probe, 0, BAL_POWER_ON));
    end(&f);
}

static void hunger_is_said_repeated_and_taken_back(void **state) {
    (void)state;
    struct bal_dispatcher_config config = stationed(1);
    config.hold_ns = 10000 * MS;
    struct fixture f = begin("jiq:else=hold", &config);
    struct bal_message hungry = {0};
    arrive(&f, 0);
    assert_int_equal(said(&f, BAL_MSG_HUNGRY, &hungry), 1);
    assert_true(hungry.hungry.held == 1 && hungry.receiver == BAL_EVERYONE);
    arrive(&f, 0);
    assert_int_equal(said(&f, BAL_MSG_HUNGRY, NULL), 0);
    f.now += 100 * MS;
    bal_dispatcher_pass(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_HUNGRY, &hungry), 1);
    assert_int_equal(hungry.hungry.held, 2);
    hear(&f, 0, idle(2, 2, 500));
    assert_int_equal(said(&f, BAL_MSG_HUNGRY, &hungry), 1);
    assert_int_equal(hungry.hungry.held, 0);
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
    assert_int_equal(said(&f, BAL_MSG_WAKE, &wake), 1);
    assert_true(wake.receiver == STATION);
    for (int i = 0; i < 3; i++) {
        f.now += 100 * MS;
        bal_dispatcher_pass(f.d, f.now);
        assert_int_equal(said(&f, BAL_MSG_WAKE, NULL), 1);
    }
    hear(&f, 0, setup);
    assert_int_equal(bal_dispatcher_server(f.d, 0).standing, BAL_STANDING_SETUP);
    f.now += 100 * MS;
    bal_dispatcher_pass(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_WAKE, NULL), 0);
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
    uint32_t wakes = said(&f, BAL_MSG_WAKE, NULL);
    for (uint32_t i = 0; i < 50; i++) {
        hear(&f, i % 3, off);
        wakes += said(&f, BAL_MSG_WAKE, NULL);
    }
    assert_true(wakes >= 1 && wakes <= 3);
    f.now += 100 * MS;
    bal_dispatcher_pass(f.d, f.now);
    assert_int_equal(said(&f, BAL_MSG_WAKE, NULL), 3);
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
        assert_int_equal(said(&f, BAL_MSG_WAKE, NULL), 1);
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

static void a_clock_that_steps_back_stands_still(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = plain(1);
    struct fixture f = begin("jiq:else=hold", &config);
    arrive(&f, 0);
    arrive(&f, 0);
    const uint64_t due = bal_dispatcher_pass(f.d, f.now);
    assert_true(bal_dispatcher_pass(f.d, f.now - 500 * MS) == due);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
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
        cmocka_unit_test(a_server_that_leaves_and_returns_is_the_same),
        cmocka_unit_test(a_server_that_leaves_in_quarantine_lets_time_pass),
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
        cmocka_unit_test(a_station_whose_clock_has_gone_back_is_heard_again),
        cmocka_unit_test(what_was_recorded_of_a_silent_station_is_not_believed),
        cmocka_unit_test(replies_are_waited_for_and_compared),
        cmocka_unit_test(hunger_is_said_repeated_and_taken_back),
        cmocka_unit_test(a_wake_is_said_until_power_answers),
        cmocka_unit_test(wakes_and_their_answers_are_no_storm),
        cmocka_unit_test(each_request_wakes_one_also_behind_others),
        cmocka_unit_test(a_resting_or_draining_server_is_not_chosen),
        cmocka_unit_test(a_clock_that_steps_back_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
