/* SPDX-License-Identifier: BSD-2-Clause */
/* To whom a server offers its free slots, and what a dispatcher does with the offers and without them: the
 * rules that live fleets and the lab have in common, without either. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/offers.h"
#include "policy/slot_requests.h"

enum { DISPATCHERS = 4, SERVERS = 6 };
static const double beat = 10;

/* ---- at a server ---- */

struct server {
    struct bli_offer_party party[DISPATCHERS];
    uint32_t set[3][2 + 2 * DISPATCHERS];
    uint32_t offered;
    struct bal_rng rng;
    uint32_t news[DISPATCHERS][BLI_OFFER_REFUSED + 1]; /* messages of each kind to each */
};

static void count_news(void *host, uint32_t dispatcher, enum bli_offer_news news) {
    ((struct server *)host)->news[dispatcher][news]++;
}

static struct bli_offers at(struct server *s, double now, uint32_t slots) {
    return (struct bli_offers){.party = s->party,
                               .stride = sizeof *s->party,
                               .dispatchers = (void *)s->set[0],
                               .holders = (void *)s->set[1],
                               .backlogged = (void *)s->set[2],
                               .offered = &s->offered,
                               .slots = slots,
                               .now = now,
                               .beat = beat,
                               .rng = &s->rng,
                               .send = count_news,
                               .host = s};
}

static void server_init(struct server *s) {
    memset(s, 0, sizeof *s);
    bal_rng_init(&s->rng, 1, 0, BAL_STREAM_TEST);
    struct bal_set *everyone = (void *)s->set[0];
    bal_set_init(everyone, DISPATCHERS);
    for (uint32_t d = 0; d < DISPATCHERS; d++)
        bal_set_insert(everyone, d);
    const struct bli_offers offers = at(s, 0, 0);
    bli_offers_rebuild(&offers);
}

static uint32_t holder_of(const struct server *s) {
    uint32_t holder = BAL_SET_ABSENT;
    for (uint32_t d = 0; d < DISPATCHERS; d++)
        holder = s->party[d].offered ? d : holder;
    return holder;
}

/* Each free slot is one offer, numbered for its dispatcher; nothing is offered twice. */
static void each_free_slot_is_offered_once(void **state) {
    (void)state;
    struct server s;
    server_init(&s);
    const struct bli_offers offers = at(&s, 0, 5);
    bli_offers_fill(&offers);
    bli_offers_fill(&offers);
    uint32_t sum = 0;
    for (uint32_t d = 0; d < DISPATCHERS; d++) {
        assert_int_equal(s.party[d].offers, s.party[d].offered);
        assert_int_equal(s.news[d][BLI_OFFER_MADE], s.party[d].offered);
        sum += s.party[d].offered;
    }
    assert_true(sum == 5 && s.offered == 5);
    const struct bli_offers fewer = at(&s, 1, 2);
    bli_offers_trim(&fewer);
    assert_int_equal(s.offered, 2);
}

/* A job uses an offer of its own dispatcher, and of no other. */
static void a_job_uses_an_offer_of_its_dispatcher(void **state) {
    (void)state;
    struct server s;
    server_init(&s);
    const struct bli_offers offers = at(&s, 0, 2);
    bli_offers_make(&offers, 1);
    bli_offers_make(&offers, 1);
    bli_offers_use(&offers, 2);
    assert_int_equal(s.party[1].offered, 2);
    bli_offers_use(&offers, 1);
    assert_true(s.party[1].offered == 1 && s.offered == 1);
}

/* A slot goes from one without a backlog to one that asks, but not from one that asked less than a beat ago;
 * after that it does, and the one that did not use it is barred until a job of it comes. */
static void a_slot_is_reserved_for_a_beat(void **state) {
    (void)state;
    struct server s;
    server_init(&s);
    struct bli_offers offers = at(&s, 0, 1);
    bli_offers_make(&offers, 0);
    bli_offers_receive_backlog(&offers, 1, 1, 3 * beat, true);
    assert_int_equal(holder_of(&s), 1);
    assert_int_equal(s.news[0][BLI_OFFER_CHANGED], 1);
    offers = at(&s, 0.9 * beat, 1);
    bli_offers_receive_backlog(&offers, 2, 1, 4 * beat, true);
    assert_int_equal(holder_of(&s), 1);
    assert_int_equal(s.news[2][BLI_OFFER_REFUSED], 1);
    offers = at(&s, 1.1 * beat, 1);
    bli_offers_receive_backlog(&offers, 2, 1, 4 * beat, true);
    assert_int_equal(holder_of(&s), 2);
    assert_true(claim_is_barred(&s.party[1].claim, 4 * beat));
    bli_offers_use(&offers, 1);
    assert_false(claim_is_barred(&s.party[1].claim, 4 * beat));
}

/* An announcement brings as many slots as jobs are held; it is not answered where there are none. */
static void an_announcement_brings_as_many_slots_as_jobs(void **state) {
    (void)state;
    struct server s;
    server_init(&s);
    struct bli_offers offers = at(&s, 0, 3);
    bli_offers_fill(&offers);
    bli_offers_receive_backlog(&offers, 3, 2, 3 * beat, false);
    assert_true(s.party[3].offered >= 2 && s.offered == 3);
    offers = at(&s, 0, 0);
    bli_offers_clear(&offers);
    bli_offers_receive_backlog(&offers, 2, 7, 3 * beat, false);
    assert_int_equal(s.news[2][BLI_OFFER_REFUSED], 0);
    assert_int_equal(s.party[2].offered, 0);
    /* It is the first to be offered what becomes free. */
    offers = at(&s, beat, 1);
    bli_offers_receive_backlog(&offers, 3, 0, 3 * beat, false);
    bli_offers_fill(&offers);
    assert_int_equal(holder_of(&s), 2);
}

/* What is returned goes to another one and not back, not even when no other can use it. */
static void what_is_returned_does_not_come_back(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 64; seed++) {
        struct server s;
        server_init(&s);
        bal_rng_init(&s.rng, seed, 0, BAL_STREAM_TEST);
        const struct bli_offers offers = at(&s, 0, 1);
        bli_offers_fill(&offers);
        for (uint32_t i = 0; i < DISPATCHERS; i++) {
            const uint32_t holder = holder_of(&s);
            bli_offers_receive_backlog(&offers, holder, 0, 3 * beat, true);
            assert_int_equal(s.party[holder].offered, 0);
            assert_int_equal(s.offered, i < DISPATCHERS - 1);
        }
        bli_offers_fill(&offers); /* with the next beat any of them gets it */
        assert_int_equal(s.offered, 1);
    }
}

static void restarting_ends_offers_and_claims(void **state) {
    (void)state;
    struct server s;
    server_init(&s);
    const struct bli_offers offers = at(&s, 0, 1);
    bli_offers_receive_backlog(&offers, 1, 5, 3 * beat, false);
    assert_int_equal(holder_of(&s), 1);
    bli_offers_reset(&offers, 1);
    assert_int_equal(s.news[1][BLI_OFFER_CHANGED], 1);
    assert_int_equal(s.party[1].claim.held, 0);
    assert_int_equal(s.offered, 1); /* it may have got it again, as any other might */
    struct bal_set *backlogged = (void *)s.set[2];
    assert_int_equal(backlogged->count, 0);
}

static void offers_at_a_rate_move(void **state) {
    (void)state;
    struct server s;
    server_init(&s);
    struct bli_offers offers = at(&s, 0, 3);
    offers.at_rate = true;
    bli_offers_fill(&offers);
    assert_int_equal(s.offered, 0);
    for (int i = 0; i < 10; i++) {
        bli_offers_move(&offers);
        assert_int_equal(s.offered, 1);
    }
    offers.slots = 0;
    const uint32_t before = holder_of(&s);
    bli_offers_move(&offers);
    assert_int_equal(holder_of(&s), before);
}

/* Tokens that were received before, or have been used, are not counted again; those beyond what is free end.
 */
static void tokens_count_once(void **state) {
    (void)state;
    struct bli_tokens tokens = {0};
    assert_int_equal(tokens_receive(&tokens, 1, 1), 1);
    assert_int_equal(tokens_receive(&tokens, 3, 3), 2);
    assert_int_equal(tokens.count, 3);
    tokens.count--;
    assert_int_equal(tokens_receive(&tokens, 3, 3), 0);
    assert_int_equal(tokens.count, 2);
    assert_int_equal(tokens_receive(&tokens, 9, 2), 2); /* a heartbeat gives them new numbers */
    assert_int_equal(tokens.count, 2);
    assert_int_equal(tokens_receive(&tokens, 9, 0), 0);
    assert_int_equal(tokens.count, 0);
}

/* ---- at a dispatcher ---- */

struct dispatcher {
    struct bli_backlog backlog;
    struct bli_slot_request request[SERVERS];
    uint32_t set[2 + 2 * SERVERS];
    struct bal_rng rng;
    uint32_t sent[SERVERS][BLI_SLOT_RESUME + 1];
    bool busy[SERVERS];
};

static bool looks_idle(const void *host, uint32_t server) {
    return !((const struct dispatcher *)host)->busy[server];
}

static bool is_closed(const void *host, uint32_t server) {
    const struct dispatcher *d = host;
    return !bal_set_contains((const void *)d->set, server);
}

static void count_message(void *host, enum bli_slot_message message, uint32_t server) {
    ((struct dispatcher *)host)->sent[server][message]++;
}

static struct bli_slot_requests with(struct dispatcher *d, double now, uint32_t held) {
    return (struct bli_slot_requests){.backlog = &d->backlog,
                                      .request = d->request,
                                      .stride = sizeof *d->request,
                                      .open = (void *)d->set,
                                      .numbers = SERVERS,
                                      .present = SERVERS,
                                      .held = held,
                                      .now = now,
                                      .beat = beat,
                                      .timeout = 2,
                                      .patience = 1,
                                      .rng = &d->rng,
                                      .looks_idle = looks_idle,
                                      .is_unusable = is_closed,
                                      .send = count_message,
                                      .host = d};
}

static void dispatcher_init(struct dispatcher *d) {
    memset(d, 0, sizeof *d);
    bal_rng_init(&d->rng, 1, 0, BAL_STREAM_TEST);
    bli_backlog_init(&d->backlog);
    struct bal_set *open = (void *)d->set;
    bal_set_init(open, SERVERS);
    for (uint32_t server = 0; server < SERVERS; server++)
        bal_set_insert(open, server);
}

static uint32_t count_sent(const struct dispatcher *d, enum bli_slot_message message) {
    uint32_t sum = 0;
    for (uint32_t server = 0; server < SERVERS; server++)
        sum += d->sent[server][message];
    return sum;
}

/* One server for each job that is held, none twice, and none that looks busy. */
static void servers_that_look_idle_are_asked(void **state) {
    (void)state;
    struct dispatcher d;
    dispatcher_init(&d);
    memset(d.busy, true, sizeof d.busy);
    struct bli_slot_requests q = with(&d, 0, 2);
    bli_slot_requests_update(&q);
    assert_int_equal(count_sent(&d, BLI_SLOT_REQUEST), 0);
    memset(d.busy, false, sizeof d.busy);
    for (int i = 0; i < 20; i++)
        bli_slot_requests_update(&q);
    assert_int_equal(count_sent(&d, BLI_SLOT_REQUEST), 2);
    for (uint32_t server = 0; server < SERVERS; server++)
        assert_in_range(d.sent[server][BLI_SLOT_REQUEST], 0, 1);
}

/* A question ends with an answer, or when none has come for long; the second is a miss. */
static void questions_end(void **state) {
    (void)state;
    struct dispatcher d;
    dispatcher_init(&d);
    struct bli_slot_requests q = with(&d, 0, 1);
    bli_slot_requests_update(&q);
    uint32_t asked = 0;
    while (!d.sent[asked][BLI_SLOT_REQUEST])
        asked++;
    q = with(&d, 1.9, 1);
    bli_slot_requests_expire(&q, asked, 0);
    assert_int_equal(d.backlog.questions, 1);
    q = with(&d, 2, 1);
    bli_slot_requests_expire(&q, asked, 0);
    assert_true(d.backlog.questions == 0 && d.backlog.misses == 1);
    bli_slot_requests_answered(&q, asked, 0); /* none is open: it says nothing of one */
    assert_int_equal(d.backlog.misses, 1);
}

/* Those that are closed are told that their offers cannot be used, in place of the backlog, and hear of it
 * when they are open again, unless they have forgotten it by then. */
static void offers_of_closed_servers_are_declined(void **state) {
    (void)state;
    struct dispatcher d;
    dispatcher_init(&d);
    bal_set_remove((void *)d.set, 3);
    struct bli_slot_requests q = with(&d, 0, 0);
    bli_slot_requests_close(&q, 3, 0); /* it has offered nothing */
    assert_int_equal(count_sent(&d, BLI_SLOT_DECLINE), 0);
    bli_slot_requests_close(&q, 3, 1);
    bli_slot_requests_close(&q, 2, 1); /* it is open */
    assert_true(d.sent[3][BLI_SLOT_DECLINE] == 1 && count_sent(&d, BLI_SLOT_DECLINE) == 1);
    q = with(&d, 29, 0);
    bli_slot_requests_open(&q, 3);
    bli_slot_requests_open(&q, 3);
    assert_int_equal(d.sent[3][BLI_SLOT_RESUME], 1);
    bli_slot_requests_close(&q, 3, 1);
    q = with(&d, 60, 0);
    bli_slot_requests_open(&q, 3); /* more than three beats later */
    assert_int_equal(d.sent[3][BLI_SLOT_RESUME], 1);
}

static void all_are_told_of_a_backlog_that_lasts(void **state) {
    (void)state;
    struct dispatcher d;
    dispatcher_init(&d);
    memset(d.busy, true, sizeof d.busy);
    bal_set_remove((void *)d.set, 3);
    struct bli_slot_requests q = with(&d, 0, 1);
    bli_slot_requests_update(&q);
    assert_int_equal(count_sent(&d, BLI_SLOT_BACKLOG), 0);
    q = with(&d, 1, 1);
    bli_slot_requests_update(&q);
    assert_int_equal(count_sent(&d, BLI_SLOT_BACKLOG), 1);
    assert_int_equal(d.sent[3][BLI_SLOT_DECLINE], 1);
    q = with(&d, 2, 0); /* and that it is over */
    bli_slot_requests_update(&q);
    assert_int_equal(count_sent(&d, BLI_SLOT_BACKLOG), 2);
    assert_int_equal(d.sent[3][BLI_SLOT_DECLINE], 1);
}

/* What was requested of a server that is another one now is not waited for. */
static void a_new_server_was_asked_nothing(void **state) {
    (void)state;
    struct dispatcher d;
    dispatcher_init(&d);
    const struct bli_slot_requests q = with(&d, 0, SERVERS);
    bli_slot_requests_update(&q);
    const uint32_t before = d.backlog.questions;
    assert_true(before > 0);
    for (uint32_t server = 0; server < SERVERS; server++)
        bli_slot_requests_forget(&q, server);
    assert_true(d.backlog.questions == 0 && d.backlog.misses == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_free_slot_is_offered_once),
        cmocka_unit_test(a_job_uses_an_offer_of_its_dispatcher),
        cmocka_unit_test(a_slot_is_reserved_for_a_beat),
        cmocka_unit_test(an_announcement_brings_as_many_slots_as_jobs),
        cmocka_unit_test(what_is_returned_does_not_come_back),
        cmocka_unit_test(restarting_ends_offers_and_claims),
        cmocka_unit_test(offers_at_a_rate_move),
        cmocka_unit_test(tokens_count_once),
        cmocka_unit_test(servers_that_look_idle_are_asked),
        cmocka_unit_test(questions_end),
        cmocka_unit_test(offers_of_closed_servers_are_declined),
        cmocka_unit_test(all_are_told_of_a_backlog_that_lasts),
        cmocka_unit_test(a_new_server_was_asked_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
