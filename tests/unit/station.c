/* SPDX-License-Identifier: BSD-2-Clause */
/* The station of a live server: what include/ballast/live/station.h promises. After every step the block must
 * be sound, which includes that slots and queue are never exceeded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../live/world_inside.h"
#include "live/station_private.h"

#define MS UINT64_C(1000000)
enum { ME = 100, OTHER = 101, THIRD = 102, KEEPER = 50, D1 = 1, D2 = 2 };

struct fixture {
    void *block;
    struct bal_station *s;
    uint64_t now;
    uint64_t sequence, boot;
    size_t view_size;
};

static struct bal_station_config plain(uint32_t slots) {
    return (struct bal_station_config){.workers = 4,
                                       .slots = slots,
                                       .queue = 8,
                                       .classes = 2,
                                       .peers = 8,
                                       .beat_ns = 100 * MS,
                                       .steal_ns = 20 * MS,
                                       .fleet = 7,
                                       .id = ME,
                                       .boot = 1};
}

static void sound(const struct fixture *f) {
    const char *fault = bal_station_find_inconsistency(f->s);
    if (fault)
        fail_msg("%s", fault);
}

static struct bal_station *view_of(const struct fixture *f, uint64_t seed) {
    struct bal_station *s = malloc(f->view_size);
    assert_non_null(s);
    assert_int_equal(bal_station_open(s, f->block, seed, NULL), BAL_OK);
    return s;
}

static struct fixture begin(const struct bal_station_config *config, uint32_t dispatchers) {
    static const uint64_t ids[] = {D1, D2}, stations[] = {OTHER, THIRD};
    struct bal_error err = {0};
    struct fixture f = {.now = 1000 * MS, .boot = 1};
    if (bal_station_check(config, &err))
        fail_msg("%s", err.text);
    f.block = aligned_alloc(64, bal_station_size(config));
    f.view_size = bal_station_view_size(config);
    assert_non_null(f.block);
    bal_station_create(f.block, config, f.now);
    f.s = view_of(&f, 1);
    assert_int_equal(bal_station_join(f.s, f.now, 11, 1, &err), BAL_OK);
    if (bal_station_configure(f.s, f.now, ids, dispatchers, stations, 2, &err))
        fail_msg("%s", err.text);
    sound(&f);
    return f;
}

static void end(struct fixture *f) {
    sound(f);
    free(f->s);
    free(f->block);
}

static struct bal_station_task arrive(struct fixture *f, uint32_t rank, uint64_t dispatcher) {
    struct bal_station_task task;
    bal_station_arrive(f->s, f->now, rank, dispatcher, false, &task);
    sound(f);
    return task;
}

static void done(struct fixture *f, uint64_t ticket) {
    assert_true(bal_station_done(f->s, f->now, ticket, false));
    sound(f);
}

static struct bal_station_task news(struct fixture *f) {
    struct bal_station_task task;
    assert_true(bal_station_next_decision(f->s, f->now, &task));
    sound(f);
    return task;
}

static bool no_news(struct fixture *f) {
    struct bal_station_task task;
    return !bal_station_next_decision(f->s, f->now, &task);
}

/* What has been left to be sent of this type to this receiver, 0 being any; the last one in *found. */
static uint32_t said(struct fixture *f, enum bal_message_type type, uint64_t receiver,
                     struct bal_message *found) {
    uint32_t count, matching = 0;
    const struct bal_message *out = bal_station_outgoing(f->s, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_null(bal_message_fault(&out[i]));
        if (out[i].type != type || (receiver && out[i].receiver != receiver))
            continue;
        matching++;
        if (found)
            *found = out[i];
    }
    return matching;
}

static enum bal_receipt hear(struct fixture *f, uint64_t sender, struct bal_message message) {
    message.fleet = 7;
    message.sender = sender;
    message.boot = f->boot;
    message.sequence = ++f->sequence;
    const enum bal_receipt receipt = bal_station_receive(f->s, f->now, &message);
    sound(f);
    return receipt;
}

static void hear_hungry(struct fixture *f, uint64_t dispatcher, uint32_t held) {
    hear(f, dispatcher,
         (struct bal_message){.type = BAL_MSG_BACKLOG, .backlog = {.held = held, .valid_ms = 300}});
}

/* The same to this station alone: a question, or, with none held, that offers cannot be used. */
static void hear_question(struct fixture *f, uint64_t dispatcher, uint32_t held) {
    hear(f, dispatcher,
         (struct bal_message){
             .type = BAL_MSG_BACKLOG, .receiver = ME, .backlog = {.held = held, .valid_ms = 300}});
}

static uint32_t offered(const struct fixture *f, uint64_t dispatcher) {
    uint32_t open;
    bal_station_offered(f->s, dispatcher, &open);
    return open;
}

static void hear_power(struct fixture *f, enum bal_power_state power, uint32_t failures) {
    hear(f, KEEPER,
         (struct bal_message){.type = BAL_MSG_POWER,
                              .power = {.power = power, .failures = failures, .valid_ms = 300}});
}

/* ---- requests ---- */

static void slots_queue_and_full(void **state) {
    (void)state;
    const struct bal_station_config config = plain(2);
    struct fixture f = begin(&config, 1);
    for (int i = 0; i < 12; i++)
        assert_int_equal(arrive(&f, 1, D1).verdict, i < 2 ? BAL_RUN : i < 10 ? BAL_QUEUE : BAL_FULL);
    assert_int_equal(bal_station_counts(f.s).full, 2);
    end(&f);
}

/* For how long the keeper has not answered START is counted from the first one, until it sends something. */
static void a_keeper_that_does_not_answer_is_known(void **state) {
    (void)state;
    struct bal_station_config config = plain(1);
    config.keeper = KEEPER;
    config.standby_ns = 1000 * MS;
    struct fixture f = begin(&config, 1);
    bal_station_run_timers(f.s, f.now);
    hear_power(&f, BAL_POWER_OFF, 0);
    assert_true(bal_station_view(f.s).start_unanswered_ns == 0);
    assert_int_equal(arrive(&f, 0, D1).verdict, BAL_QUEUE);
    for (int i = 0; i < 5; i++) {
        f.now += 100 * MS;
        bal_station_run_timers(f.s, f.now);
    }
    assert_true(bal_station_view(f.s).start_unanswered_ns == 500 * MS);
    hear_power(&f, BAL_POWER_SETUP, 0);
    assert_true(bal_station_view(f.s).start_unanswered_ns == 0);
    f.now += 100 * MS;
    bal_station_run_timers(f.s, f.now);
    assert_true(bal_station_view(f.s).start_unanswered_ns == 0); /* it starts the app */
    end(&f);
}

static void urgent_first_and_in_order(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    uint64_t running = arrive(&f, 1, D1).ticket, waiting[4];
    for (uint32_t i = 0; i < 4; i++)
        waiting[i] = arrive(&f, i < 2, D1).ticket;
    static const int order[] = {2, 3, 0, 1};
    for (int i = 0; i < 4; i++) {
        assert_true(no_news(&f));
        done(&f, running);
        const struct bal_station_task task = news(&f);
        assert_int_equal(task.verdict, BAL_RUN);
        assert_true(task.ticket == waiting[order[i]]);
        running = task.ticket;
    }
    assert_false(bal_station_done(f.s, f.now, waiting[0] + 7, false));
    end(&f);
}

static void a_client_that_goes_away_frees_its_place(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    const struct bal_station_task running = arrive(&f, 0, D1), gone = arrive(&f, 0, D1),
                                  next = arrive(&f, 0, D1);
    assert_true(bal_station_cancel(f.s, f.now, gone.ticket));
    sound(&f);
    assert_false(bal_station_cancel(f.s, f.now, gone.ticket));
    assert_true(bal_station_cancel(f.s, f.now, running.ticket));
    assert_true(news(&f).ticket == next.ticket);
    end(&f);
}

static void the_next_one_may_belong_to_another_process(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    struct bal_station *other = view_of(&f, 2);
    assert_int_equal(bal_station_join(other, f.now, 12, 1, NULL), BAL_OK);
    const struct bal_station_task mine = arrive(&f, 0, D1);
    struct bal_station_task its, task;
    bal_station_arrive(other, f.now, 0, D1, false, &its);
    done(&f, mine.ticket);
    assert_true(*bal_station_wake_pending(f.s));
    assert_int_equal(bal_station_next_to_wake(f.s), bal_station_worker_number(other));
    assert_true(no_news(&f));
    assert_true(bal_station_next_decision(other, f.now, &task) && task.ticket == its.ticket);
    assert_false(bal_station_done(f.s, f.now, its.ticket, false));
    /* It dies; what it had is given back. */
    bal_station_reap(f.s, f.now, bal_station_worker_number(other));
    assert_int_equal(bal_station_view(f.s).running, 0);
    free(other);
    end(&f);
}

/* ---- offers ---- */

static void a_free_slot_is_offered_to_a_hungry_dispatcher(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct bal_message idle = {0};
    for (int round = 0; round < 20; round++) {
        struct fixture f = begin(&config, 2);
        const uint64_t hungry = round % 2 ? D1 : D2, other = D1 + D2 - hungry;
        const struct bal_station_task task = arrive(&f, 0, D1);
        hear_hungry(&f, hungry, 1);
        said(&f, BAL_MSG_IDLE, 0, NULL);
        done(&f, task.ticket);
        assert_int_equal(said(&f, BAL_MSG_IDLE, hungry, &idle), 1);
        assert_true(idle.idle.free == 1 && idle.idle.slots == 1);
        uint32_t open;
        bal_station_offered(f.s, other, &open);
        assert_int_equal(open, 0);
        end(&f);
    }
}

static void a_hungry_dispatcher_gets_what_others_do_not_need(void **state) {
    (void)state;
    const struct bal_station_config config = plain(2);
    struct fixture f = begin(&config, 2);
    uint32_t one, two;
    hear_hungry(&f, D1, 5);
    bal_station_offered(f.s, D1, &one);
    bal_station_offered(f.s, D2, &two);
    assert_true(one == 2 && two == 0);
    hear_hungry(&f, D1, 0);
    hear_hungry(&f, D2, 1);
    bal_station_offered(f.s, D1, &one);
    bal_station_offered(f.s, D2, &two);
    assert_true(one == 1 && two == 1);
    end(&f);
}

static void hunger_that_is_not_repeated_is_forgotten(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    unsigned to_other = 0;
    struct fixture f = begin(&config, 2);
    hear_hungry(&f, D1, 3);
    f.now += 301 * MS;
    for (int i = 0; i < 40; i++) {
        const struct bal_station_task task = arrive(&f, 0, D1);
        said(&f, BAL_MSG_IDLE, 0, NULL);
        done(&f, task.ticket);
        to_other += said(&f, BAL_MSG_IDLE, D2, NULL);
    }
    assert_true(to_other > 0); /* each is as likely: 2^-40 to fail */
    end(&f);
}

/* A dispatcher that dies while it holds requests must not keep what it was offered from one that lives. */
static void an_offer_that_a_hungry_dispatcher_does_not_use_goes_to_another(void **state) {
    (void)state;
    const struct bal_station_config config = plain(2);
    struct fixture f = begin(&config, 2);
    hear_hungry(&f, D1, 5);
    assert_int_equal(offered(&f, D1), 2);
    hear_hungry(&f, D2, 3); /* as hungry, and D1 may be about to use them */
    assert_true(offered(&f, D1) == 2 && offered(&f, D2) == 0);
    f.now += 101 * MS;
    const uint64_t next = bal_station_run_timers(f.s, f.now);
    sound(&f);
    assert_true(next <= f.now + 100 * MS);
    assert_true(offered(&f, D1) == 0 && offered(&f, D2) == 2);
    end(&f);
}

static void the_offers_of_one_whose_hunger_is_over_are_free_at_once(void **state) {
    (void)state;
    const struct bal_station_config config = plain(2);
    struct fixture f = begin(&config, 2);
    hear_hungry(&f, D1, 2);
    f.now += 301 * MS;
    hear_hungry(&f, D2, 2);
    assert_true(offered(&f, D1) == 0 && offered(&f, D2) == 2);
    end(&f);
}

/* D1 is deaf: it says that it is hungry and uses nothing. After the first time D2 never waits for it. */
static void one_that_did_not_use_its_offer_is_chosen_last_until_it_does(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    hear_hungry(&f, D1, 1);
    f.now += 100 * MS;
    hear_hungry(&f, D1, 1); /* saying it again is not using it */
    hear_hungry(&f, D2, 1);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(offered(&f, D2), 1);
        const struct bal_station_task task = arrive(&f, 0, D2);
        hear_hungry(&f, D1, 1);
        hear_hungry(&f, D2, 1);
        done(&f, task.ticket);
    }
    hear_hungry(&f, D2, 0);
    hear_question(&f, D1, 1); /* no other needs it */
    assert_int_equal(offered(&f, D1), 1);
    hear_hungry(&f, D2, 1);
    assert_int_equal(offered(&f, D2), 1);
    const struct bal_station_task back = arrive(&f, 0, D1);
    hear_hungry(&f, D2, 0);
    hear_hungry(&f, D1, 1);
    done(&f, back.ticket);
    hear_hungry(&f, D2, 1);
    assert_int_equal(offered(&f, D1), 1);
    end(&f);
}

static void a_question_is_answered_whatever_is_so(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    struct bal_message load = {0};
    hear_question(&f, D1, 1);
    assert_int_equal(offered(&f, D1), 1);
    said(&f, BAL_MSG_IDLE, 0, NULL);
    hear_question(&f, D1, 1); /* the offer was lost: it is made again */
    assert_int_equal(said(&f, BAL_MSG_IDLE, D1, NULL), 1);
    const struct bal_station_task task = arrive(&f, 0, D1);
    hear_question(&f, D2, 1);
    assert_int_equal(said(&f, BAL_MSG_LOAD, D2, &load), 1);
    assert_true(load.load.probe == 0 && load.load.jobs[0] == 1);
    /* Both questions are over: either may get the slot. */
    unsigned to_one = 0;
    uint64_t running = task.ticket;
    for (int i = 0; i < 40; i++) {
        done(&f, running);
        to_one += offered(&f, D1);
        running = arrive(&f, 0, 0).ticket;
    }
    assert_true(to_one > 0 && to_one < 40); /* 2^-39 to fail */
    end(&f);
}

static void one_that_cannot_use_offers_gets_none_for_as_long_as_it_says(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    hear_question(&f, D1, 0);
    for (int i = 0; i < 40; i++) {
        assert_true(offered(&f, D1) == 0 && offered(&f, D2) == 1);
        done(&f, arrive(&f, 0, 0).ticket);
    }
    f.now += 301 * MS;
    unsigned to_one = 0;
    for (int i = 0; i < 40; i++) {
        done(&f, arrive(&f, 0, 0).ticket);
        to_one += offered(&f, D1);
    }
    assert_true(to_one > 0); /* 2^-40 to fail */
    hear_question(&f, D1, 0);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_RESYNC});
    to_one = 0;
    for (int i = 0; i < 40; i++) {
        done(&f, arrive(&f, 0, 0).ticket);
        to_one += offered(&f, D1);
    }
    assert_true(to_one > 0);
    end(&f);
}

/* It would be given back at once, as fast as messages travel. */
static void what_no_one_can_use_is_not_offered_again_before_a_heartbeat(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    hear_question(&f, D1, 0);
    assert_int_equal(offered(&f, D2), 1);
    hear_question(&f, D2, 0);
    assert_true(offered(&f, D1) == 0 && offered(&f, D2) == 0);
    bal_station_run_timers(f.s, f.now += 101 * MS);
    assert_int_equal(offered(&f, D1) + offered(&f, D2), 1);
    end(&f);
}

static void an_offer_is_made_anew_with_every_heartbeat_and_taken_back(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    struct bal_message idle = {0};
    bal_station_run_timers(f.s, f.now);
    assert_int_equal(said(&f, BAL_MSG_IDLE, D1, &idle), 2);
    const uint64_t token = idle.idle.token;
    f.now = bal_station_run_timers(f.s, f.now);
    bal_station_run_timers(f.s, f.now);
    assert_int_equal(said(&f, BAL_MSG_IDLE, D1, &idle), 1);
    assert_true(idle.idle.token == token + 1 && idle.idle.free == 1);
    arrive(&f, 0, 0); /* somebody else takes the slot */
    f.now = bal_station_run_timers(f.s, f.now);
    bal_station_run_timers(f.s, f.now);
    assert_int_equal(said(&f, BAL_MSG_LOAD, D1, NULL), 1);
    assert_int_equal(bal_station_view(f.s).offered, 0);
    end(&f);
}

static uint32_t heartbeats_in(struct fixture *f, uint64_t dispatcher, uint64_t ns) {
    uint32_t heard = 0;
    for (const uint64_t end = f->now + ns; f->now < end;) {
        const uint64_t next = bal_station_run_timers(f->s, f->now);
        uint32_t count;
        const struct bal_message *out = bal_station_outgoing(f->s, &count);
        for (uint32_t i = 0; i < count; i++)
            heard += out[i].receiver == dispatcher;
        f->now = next < end ? next : end;
    }
    return heard;
}

/* One that has many stations asks for heartbeats that are rarer; another one gets its own, and each is told
 * how long it may wait for the next. An offer that is not used is said once more. */
static void a_dispatcher_may_ask_for_rare_heartbeats(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    const uint64_t busy = arrive(&f, 0, 0).ticket;
    bal_station_run_timers(f.s, f.now);
    struct bal_message load = {0};
    said(&f, BAL_MSG_LOAD, 0, NULL);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_PACE, .receiver = ME, .pace = {2000}});
    assert_int_equal(said(&f, BAL_MSG_LOAD, D1, &load), 1); /* at once, or it would seem silent */
    assert_int_equal(load.load.valid_ms, 6000);
    heartbeats_in(&f, D1, 2000 * MS); /* the first may be any time from now */
    const uint64_t before = f.now;
    const uint32_t rare = heartbeats_in(&f, D1, 10000 * MS);
    assert_in_range(rare, 5, 5);
    f.now = before + 10000 * MS;
    assert_in_range(heartbeats_in(&f, D2, 2000 * MS), 20, 20);
    said(&f, BAL_MSG_LOAD, 0, NULL);
    hear(&f, D2, (struct bal_message){.type = BAL_MSG_PROBE, .receiver = ME, .probe = {5}});
    assert_int_equal(said(&f, BAL_MSG_LOAD, D2, &load), 1);
    assert_int_equal(load.load.valid_ms, 300);
    /* An offer to the first, which is sent once more and not with each beat. */
    hear_hungry(&f, D1, 1);
    done(&f, busy);
    struct bal_message idle = {0};
    assert_int_equal(said(&f, BAL_MSG_IDLE, D1, &idle), 1);
    assert_int_equal(idle.idle.valid_ms, 6000);
    assert_in_range(heartbeats_in(&f, D1, 1000 * MS), 1, 2);
    /* A station that is restarted by the keeper tells all for as long as the slowest may need. */
    bal_station_drain(f.s, f.now, true);
    struct bal_message power = {0};
    assert_int_equal(said(&f, BAL_MSG_POWER, 0, &power), 1);
    assert_int_equal(power.power.valid_ms, 6000);
    /* Another boot has asked for nothing. */
    f.boot = 2;
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_RESYNC, .receiver = ME});
    struct bal_message challenge = {0};
    assert_int_equal(said(&f, BAL_MSG_CHALLENGE, D1, &challenge), 1);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_PROOF, .receiver = ME, .nonce = challenge.nonce});
    said(&f, BAL_MSG_LOAD, 0, NULL);
    assert_in_range(heartbeats_in(&f, D1, 1000 * MS), 10, 10);
    end(&f);
}

/* The same one every time: 2^-64. */
static void a_slot_that_somebody_else_has_used_is_offered_to_anyone(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    uint32_t changes = 0, before, after;
    bal_station_run_timers(f.s, f.now);
    for (int i = 0; i < 64; i++) {
        bal_station_offered(f.s, D1, &before);
        const uint64_t ticket = arrive(&f, 0, 0).ticket;
        assert_int_equal(bal_station_view(f.s).offered, 0);
        done(&f, ticket);
        assert_int_equal(said(&f, BAL_MSG_IDLE, 0, NULL) >= 1, true);
        bal_station_offered(f.s, D1, &after);
        changes += before != after;
    }
    assert_true(changes > 0);
    end(&f);
}

static void a_probe_is_answered_with_the_truth(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    struct bal_message load = {0};
    arrive(&f, 1, D1);
    arrive(&f, 0, D1);
    arrive(&f, 1, D1);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_PROBE, .probe = {.probe = 77}});
    assert_int_equal(said(&f, BAL_MSG_LOAD, D1, &load), 1);
    assert_true(load.load.probe == 77 && load.load.in_service == 1 && load.load.jobs[0] == 1 &&
                load.load.jobs[1] == 2 && load.load.room == 6);
    assert_int_equal(hear(&f, 999, (struct bal_message){.type = BAL_MSG_PROBE, .probe = {.probe = 78}}),
                     BAL_RECEIPT_UNKNOWN_SENDER);
    end(&f);
}

static void one_that_begins_anew_is_told_the_present(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    said(&f, BAL_MSG_IDLE, D1, NULL);
    f.boot = 2;
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_RESYNC});
    assert_int_equal(said(&f, BAL_MSG_IDLE, D1, NULL), 1);
    assert_int_equal(bal_station_view(f.s).offered, 1);
    end(&f);
}

static void offers_come_at_a_rate_where_that_is_wanted(void **state) {
    (void)state;
    struct bal_station_config config = plain(1);
    config.offer_ns = 10 * MS;
    config.beat_ns = 100000 * MS;
    struct fixture f = begin(&config, 1);
    const uint64_t end_time = f.now + 10000 * MS;
    for (uint64_t next = f.now; next < end_time;)
        next = bal_station_run_timers(f.s, f.now = next);
    /* Poisson with mean 1000: five standard deviations, 6e-7 to fail. */
    assert_in_range(bal_station_counts(f.s).offers, 842, 1158);
    end(&f);
}

/* ---- going elsewhere ---- */

/* ---- offers that ride on responses ---- */

static void a_slot_is_promised_with_the_response_and_no_datagram_sent(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    struct bal_message promise;
    uint32_t open;
    const uint64_t ticket = arrive(&f, 0, D1).ticket;
    const uint64_t before = bal_station_offered(f.s, D1, &open);
    assert_int_equal(open, 0);
    said(&f, BAL_MSG_IDLE, D1, NULL);
    assert_true(bal_station_piggyback_offer(f.s, f.now, ticket, &promise));
    sound(&f);
    assert_null(bal_message_fault(&promise));
    assert_true(promise.type == BAL_MSG_IDLE && promise.receiver == D1 && promise.sender == ME);
    assert_true(promise.idle.free == 1 && promise.idle.token == before + 1);
    assert_false(bal_station_piggyback_offer(f.s, f.now, ticket, &promise)); /* once */
    bal_station_offered(f.s, D1, &open);
    assert_int_equal(open, 0); /* it still runs */
    done(&f, ticket);
    bal_station_offered(f.s, D1, &open);
    assert_int_equal(open, 1);
    assert_int_equal(said(&f, BAL_MSG_IDLE, D1, NULL), 0);
    assert_int_equal(bal_station_counts(f.s).piggybacked, 1);
    arrive(&f, 0, D1); /* which uses it */
    bal_station_offered(f.s, D1, &open);
    assert_int_equal(open, 0);
    end(&f);
}

static void a_promise_that_cannot_be_kept_is_taken_back_by_a_later_word(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    struct bal_message promise, later = {0};
    bool promised = false;
    hear_hungry(&f, D1, 1); /* so that it is the one */
    uint64_t ticket = arrive(&f, 0, D1).ticket;
    assert_true(bal_station_piggyback_offer(f.s, f.now, ticket, &promise));
    const uint64_t next = arrive(&f, 0, D2).ticket; /* comes in between */
    said(&f, BAL_MSG_LOAD, D1, NULL);
    done(&f, ticket);
    assert_true(news(&f).ticket == next);
    assert_int_equal(said(&f, BAL_MSG_LOAD, D1, &later), 1);
    assert_true(later.sequence > promise.sequence);
    assert_false(bal_station_piggyback_offer(f.s, f.now, 12345, &promise)); /* no such request */
    done(&f, next);
    hear_hungry(&f, D1, 0);
    for (int i = 0; i < 64 && !promised; i++) {
        ticket = arrive(&f, 0, D1).ticket;
        promised = bal_station_piggyback_offer(f.s, f.now, ticket, &promise);
        if (!promised)
            done(&f, ticket);
    }
    assert_true(promised);
    hear_hungry(&f, D2, 1); /* who needs it more */
    said(&f, BAL_MSG_LOAD, D1, NULL);
    done(&f, ticket);
    uint32_t open;
    bal_station_offered(f.s, D2, &open);
    assert_int_equal(open, 1);
    bal_station_offered(f.s, D1, &open);
    assert_int_equal(open, 0);
    end(&f);
}

static void a_promise_that_may_look_late_is_said_again(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    struct bal_message promise, again = {0};
    const uint64_t ticket = arrive(&f, 0, D1).ticket;
    assert_true(bal_station_piggyback_offer(f.s, f.now, ticket, &promise));
    f.now += 100 * MS; /* a heartbeat, to which the promise is late */
    bal_station_run_timers(f.s, f.now);
    assert_int_equal(said(&f, BAL_MSG_LOAD, D1, NULL), 1);
    done(&f, ticket);
    assert_int_equal(said(&f, BAL_MSG_IDLE, D1, &again), 1);
    assert_true(again.sequence > promise.sequence && again.idle.free == 1);
    assert_int_equal(bal_station_counts(f.s).piggybacked, 0);
    end(&f);
}

static void nothing_is_promised_that_will_not_be(void **state) {
    (void)state;
    struct bal_station_config config = plain(1);
    struct bal_message promise;
    struct fixture f = begin(&config, 1);
    uint64_t ticket = arrive(&f, 0, 0).ticket; /* of nobody */
    assert_false(bal_station_piggyback_offer(f.s, f.now, ticket, &promise));
    done(&f, ticket);
    ticket = arrive(&f, 0, OTHER).ticket; /* of a station */
    assert_false(bal_station_piggyback_offer(f.s, f.now, ticket, &promise));
    done(&f, ticket);
    ticket = arrive(&f, 0, D1).ticket;
    const uint64_t waits = arrive(&f, 0, D1).ticket;
    assert_false(bal_station_piggyback_offer(f.s, f.now, ticket, &promise)); /* the slot has its next one */
    assert_false(bal_station_piggyback_offer(f.s, f.now, waits, &promise));  /* which has no response yet */
    done(&f, ticket);
    assert_true(news(&f).ticket == waits);
    bal_station_drain(f.s, f.now, true);
    assert_false(bal_station_piggyback_offer(f.s, f.now, waits, &promise));
    bal_station_drain(f.s, f.now, false);
    assert_true(bal_station_piggyback_offer(f.s, f.now, waits, &promise));
    /* One that is cancelled has no response that tells of its slot. */
    said(&f, BAL_MSG_IDLE, D1, NULL);
    assert_true(bal_station_cancel(f.s, f.now, waits));
    assert_int_equal(said(&f, BAL_MSG_IDLE, D1, NULL), 1);
    struct bal_station_task task;
    bal_station_arrive(f.s, f.now, 0, D1, true, &task); /* moved here: its response goes elsewhere first */
    assert_false(bal_station_piggyback_offer(f.s, f.now, task.ticket, &promise));
    done(&f, task.ticket);
    end(&f);
    config.offer_ns = 50 * MS; /* offers come at a rate */
    f = begin(&config, 1);
    ticket = arrive(&f, 0, D1).ticket;
    assert_false(bal_station_piggyback_offer(f.s, f.now, ticket, &promise));
    end(&f);
}

/* Whether a slot is promised or told of later, each dispatcher gets its share, whoever is answered: it goes
 * to the one that is answered in 2000 of 4000 cases, give or take 142, but for 7 in a million. */
static void whoever_is_answered_slots_go_to_all_alike(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    struct bal_message promise;
    uint64_t sender = D1;
    uint32_t promised = 0, same = 0, open;
    for (int i = 0; i < 4000; i++) {
        const uint64_t ticket = arrive(&f, 0, sender).ticket;
        promised += bal_station_piggyback_offer(f.s, f.now, ticket, &promise);
        done(&f, ticket);
        said(&f, BAL_MSG_IDLE, 0, NULL);
        bal_station_offered(f.s, sender, &open);
        same += open;
        sender = open ? sender : D1 + D2 - sender; /* the next is of whoever has been offered the slot */
    }
    assert_in_range(same, 2000 - 142, 2000 + 142);
    assert_int_equal(bal_station_counts(f.s).piggybacked, promised);
    assert_in_range(same - promised, 0, 1); /* the first offer was to anybody */
    end(&f);
}

/* ---- stealing ---- */

static void a_thief_gets_half_and_what_it_refuses_comes_back(void **state) {
    (void)state;
    struct bal_station_config config = plain(1);
    struct bal_message grant = {0};
    config.classes = 1;
    assert_int_equal(bal_steal_parse("half", &config.steal, NULL), BAL_OK);
    struct fixture f = begin(&config, 1);
    uint64_t ticket[6];
    for (int i = 0; i < 6; i++)
        ticket[i] = arrive(&f, 0, D1).ticket;
    hear(&f, OTHER, (struct bal_message){.type = BAL_MSG_STEAL, .steal = {.steal = 9, .most = 24}});
    assert_int_equal(said(&f, BAL_MSG_GRANT, OTHER, &grant), 1);
    assert_true(grant.grant.count == 3 && grant.grant.steal == 9);
    for (int i = 3; i < 6; i++) {
        const struct bal_station_task task = news(&f);
        assert_true(task.verdict == BAL_FORWARD && task.target == OTHER && task.ticket == ticket[i]);
        assert_true(grant.grant.tickets[i - 3] == ticket[i]);
    }
    assert_int_equal(bal_station_view(f.s).away, 3);
    done(&f, ticket[3]); /* the thief has answered it */
    assert_true(bal_station_returned(f.s, f.now, ticket[5]));
    assert_true(bal_station_returned(f.s, f.now, ticket[4]));
    sound(&f);
    /* They are back in their places, and are not given away a second time. */
    hear(&f, OTHER, (struct bal_message){.type = BAL_MSG_STEAL, .steal = {.steal = 10, .most = 24}});
    assert_int_equal(said(&f, BAL_MSG_GRANT, OTHER, &grant), 1);
    assert_int_equal(grant.grant.count, 0);
    static const int order[] = {1, 2, 4, 5};
    uint64_t running = ticket[0];
    for (int i = 0; i < 4; i++) {
        done(&f, running);
        running = news(&f).ticket;
        assert_true(running == ticket[order[i]]);
    }
    end(&f);
}

static void an_idle_station_steals(void **state) {
    (void)state;
    struct bal_station_config config = plain(2);
    struct bal_message steal = {0};
    assert_int_equal(bal_steal_parse("one", &config.steal, NULL), BAL_OK);
    struct fixture f = begin(&config, 1);
    const struct bal_station_task task = arrive(&f, 0, D1);
    said(&f, BAL_MSG_STEAL, 0, NULL);
    done(&f, task.ticket);
    assert_int_equal(said(&f, BAL_MSG_STEAL, 0, &steal), 1);
    assert_true(steal.receiver == OTHER || steal.receiver == THIRD);
    hear(&f, steal.receiver,
         (struct bal_message){.type = BAL_MSG_GRANT,
                              .grant = {.steal = steal.steal.steal, .count = 1, .tickets = {5}}});
    /* One slot waits for what was granted. */
    bal_station_run_timers(f.s, f.now);
    assert_true(bal_station_view(f.s).offered <= 2);
    struct bal_station_task moved;
    bal_station_arrive(f.s, f.now, 0, D1, true, &moved);
    assert_int_equal(moved.verdict, BAL_RUN);
    end(&f);
}

static void the_last_low_one_moves_at_a_dispatchers_wish(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    arrive(&f, 0, D1);
    arrive(&f, 1, D1);
    const struct bal_station_task last = arrive(&f, 1, D1);
    arrive(&f, 0, D1);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_MOVE, .move = {.target = THIRD}});
    const struct bal_station_task task = news(&f);
    assert_true(task.verdict == BAL_FORWARD && task.target == THIRD && task.ticket == last.ticket);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_MOVE, .move = {.target = 12345}});
    assert_true(no_news(&f));
    end(&f);
}

/* ---- power ---- */

static struct bal_station_config kept(void) {
    struct bal_station_config config = plain(1);
    config.keeper = KEEPER;
    config.standby_ns = 500 * MS;
    return config;
}

static void a_request_that_meets_a_resting_app_wakes_it(void **state) {
    (void)state;
    const struct bal_station_config config = kept();
    struct fixture f = begin(&config, 1);
    const struct bal_station_task task = arrive(&f, 0, D1);
    assert_int_equal(task.verdict, BAL_QUEUE);
    assert_int_equal(said(&f, BAL_MSG_START, KEEPER, NULL), 1);
    for (int beat = 0; beat < 20; beat++) { /* said until it answers */
        bal_station_run_timers(f.s, f.now);
        assert_int_equal(said(&f, BAL_MSG_START, KEEPER, NULL), 1);
        f.now += 100 * MS;
    }
    hear_power(&f, BAL_POWER_SETUP, 0);
    f.now += 100 * MS;
    bal_station_run_timers(f.s, f.now);
    assert_int_equal(said(&f, BAL_MSG_START, KEEPER, NULL), 0);
    hear_power(&f, BAL_POWER_ON, 0);
    assert_true(news(&f).ticket == task.ticket);
    end(&f);
}

static void an_idle_app_rests_and_nothing_is_passed_to_it_meanwhile(void **state) {
    (void)state;
    const struct bal_station_config config = kept();
    struct fixture f = begin(&config, 1);
    hear_power(&f, BAL_POWER_ON, 0);
    f.now += 500 * MS;
    bal_station_run_timers(f.s, f.now);
    uint32_t count, rests = 0;
    const struct bal_message *out = bal_station_outgoing(f.s, &count);
    for (uint32_t i = 0; i < count; i++)
        rests += out[i].type == BAL_MSG_STOP && out[i].receiver == KEEPER;
    assert_int_equal(rests, 1);
    hear_power(&f, BAL_POWER_ON, 0); /* said before the keeper heard of it */
    assert_int_equal(arrive(&f, 0, D1).verdict, BAL_QUEUE);
    assert_int_equal(said(&f, BAL_MSG_START, KEEPER, NULL), 1);
    hear_power(&f, BAL_POWER_OFF, 0);
    hear_power(&f, BAL_POWER_SETUP, 0);
    hear_power(&f, BAL_POWER_ON, 0);
    assert_int_equal(news(&f).verdict, BAL_RUN);
    end(&f);
}

/* One that a dispatcher has started, and that gets no request, is idle since it is on. */
static void an_app_that_has_just_come_on_rests_after_the_whole_time(void **state) {
    (void)state;
    const struct bal_station_config config = kept();
    struct fixture f = begin(&config, 1);
    hear_power(&f, BAL_POWER_OFF, 0);
    f.now += 10000 * MS;
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_START});
    assert_int_equal(said(&f, BAL_MSG_START, KEEPER, NULL), 1);
    hear_power(&f, BAL_POWER_SETUP, 0);
    f.now += 10000 * MS;
    hear_power(&f, BAL_POWER_ON, 0);
    bal_station_run_timers(f.s, f.now);
    f.now += config.standby_ns - 1;
    bal_station_run_timers(f.s, f.now);
    assert_int_equal(said(&f, BAL_MSG_STOP, KEEPER, NULL), 0);
    f.now++;
    bal_station_run_timers(f.s, f.now);
    assert_int_equal(said(&f, BAL_MSG_STOP, KEEPER, NULL), 1);
    end(&f);
}

static void an_app_that_works_is_not_let_go(void **state) {
    (void)state;
    const struct bal_station_config config = kept();
    struct fixture f = begin(&config, 1);
    hear_power(&f, BAL_POWER_ON, 0);
    const struct bal_station_task task = arrive(&f, 0, D1);
    assert_int_equal(task.verdict, BAL_RUN);
    said(&f, BAL_MSG_START, KEEPER, NULL);
    hear_power(&f, BAL_POWER_DRAINING, 0); /* it was told so by a station that is not there any longer */
    assert_int_equal(said(&f, BAL_MSG_START, KEEPER, NULL), 1);
    assert_int_equal(arrive(&f, 0, D1).verdict, BAL_QUEUE);
    hear_power(&f, BAL_POWER_ON, 0);
    done(&f, task.ticket);
    assert_int_equal(news(&f).verdict, BAL_RUN);
    end(&f);
}

/* A keeper that begins again, with whatever number, is believed when it has proved it, and not before. */
static void a_keeper_that_has_begun_again_proves_it(void **state) {
    (void)state;
    const struct bal_station_config config = kept();
    struct fixture f = begin(&config, 1);
    struct bal_message challenge, power = {.type = BAL_MSG_POWER,
                                           .sender = KEEPER,
                                           .receiver = config.id,
                                           .fleet = config.fleet,
                                           .boot = 1000,
                                           .sequence = 7,
                                           .power = {.power = BAL_POWER_OFF, .valid_ms = 300}};
    assert_int_equal(bal_station_receive(f.s, f.now, &power), BAL_RECEIPT_FRESH);
    power.boot = 900;
    power.sequence = 1;
    power.power.power = BAL_POWER_ON;
    f.now += 60000 * MS;
    assert_int_equal(arrive(&f, 0, D1).verdict, BAL_QUEUE);
    said(&f, BAL_MSG_START, KEEPER, NULL);
    assert_int_equal(bal_station_receive(f.s, f.now, &power), BAL_RECEIPT_UNPROVEN);
    assert_int_equal(said(&f, BAL_MSG_CHALLENGE, KEEPER, &challenge), 1);
    power.type = BAL_MSG_PROOF;
    power.nonce = challenge.nonce;
    assert_int_equal(bal_station_receive(f.s, f.now, &power), BAL_RECEIPT_FRESH);
    power.type = BAL_MSG_POWER;
    power.power = (struct bal_message_power){.power = BAL_POWER_ON, .valid_ms = 300};
    power.sequence = 2;
    assert_int_equal(bal_station_receive(f.s, f.now, &power), BAL_RECEIPT_FRESH);
    assert_int_equal(news(&f).verdict, BAL_RUN);
    end(&f);
}

/* A keeper that has begun again has not heard the wake that it is owed: it is said once more with the proof.
 */
static void a_challenge_of_the_keeper_is_answered_with_the_wake(void **state) {
    (void)state;
    const struct bal_station_config config = kept();
    struct fixture f = begin(&config, 1);
    struct bal_message proof;
    hear_power(&f, BAL_POWER_OFF, 0);
    assert_int_equal(arrive(&f, 0, D1).verdict, BAL_QUEUE);
    said(&f, BAL_MSG_START, KEEPER, NULL);
    hear(&f, KEEPER, (struct bal_message){.type = BAL_MSG_CHALLENGE, .nonce = {.nonce = 77}});
    uint32_t count;
    const struct bal_message *out = bal_station_outgoing(f.s, &count);
    assert_int_equal(count, 2);
    proof = out[0];
    assert_true(proof.type == BAL_MSG_PROOF && proof.nonce.nonce == 77 && proof.receiver == KEEPER);
    assert_true(out[1].type == BAL_MSG_START);
    end(&f);
}

/* A dispatcher that has begun again has none of the offers of before. */
static void a_dispatcher_that_has_begun_again_is_told_the_present(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    struct bal_message challenge;
    hear_hungry(&f, D1, 1);
    assert_int_equal(offered(&f, D1), 1);
    f.boot = 2;
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_PROBE, .probe = {.probe = 5}});
    assert_int_equal(said(&f, BAL_MSG_CHALLENGE, D1, &challenge), 1);
    f.now += MS;
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_PROOF, .nonce = challenge.nonce});
    uint32_t count;
    const struct bal_message *out = bal_station_outgoing(f.s, &count);
    assert_true(count >= 1 && out[0].type == BAL_MSG_LOAD && out[0].receiver == D1);
    end(&f);
}

/* Who records what a dispatcher says and says it again while that one has nothing to say. */
static void what_was_recorded_is_not_believed_in_silence(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 2);
    const struct bal_message resync = {.type = BAL_MSG_RESYNC};
    f.boot = 9;
    for (int i = 0; i < 100; i++)
        assert_int_equal(hear(&f, D1, resync), BAL_RECEIPT_FRESH);
    f.now += 60000 * MS;
    f.sequence = 0;
    for (int i = 0; i < 36; i++)
        assert_int_equal(hear(&f, D1, resync), BAL_RECEIPT_OLD);
    assert_int_equal(hear(&f, D1, resync), BAL_RECEIPT_REPEATED);
    for (f.boot = 8; f.boot <= 10; f.boot += 2)
        assert_int_equal(hear(&f, D1, resync), BAL_RECEIPT_UNPROVEN);
    end(&f);
}

/* With two dispatchers, and a process that draws other numbers. */
static struct fixture begin_with_chance(const struct bal_station_config *config, uint64_t seed) {
    struct fixture f = begin(config, 2);
    free(f.s);
    f.s = view_of(&f, seed);
    assert_int_equal(bal_station_join(f.s, f.now, 12, 1, NULL), BAL_OK);
    return f;
}

/* What is heard while the clock is behind is valid from the latest time that there was. */
static void a_clock_that_steps_back_stands_still(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    for (int i = 0; i < 16; i++) { /* an offer to no one in particular would be D2's in half of them */
        struct fixture f = begin_with_chance(&config, (uint64_t)i);
        const struct bal_station_task task = arrive(&f, 0, D1);
        f.now -= 400 * MS;
        hear_hungry(&f, D2, 1);
        f.now += 600 * MS;
        done(&f, task.ticket);
        assert_true(offered(&f, D2) == 1 && offered(&f, D1) == 0);
        end(&f);
    }
}

static void a_late_hunger_is_not_believed(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    for (int i = 0; i < 16; i++) {
        struct fixture f = begin_with_chance(&config, (uint64_t)i);
        const struct bal_station_task task = arrive(&f, 0, D1);
        f.sequence = 10;
        hear_hungry(&f, D1, 1);
        f.sequence = 20;
        hear_hungry(&f, D2, 0);
        f.sequence = 15;
        hear_hungry(&f, D2, 1); /* of before */
        f.sequence = 30 + (uint64_t)i;
        done(&f, task.ticket);
        assert_true(offered(&f, D1) == 1 && offered(&f, D2) == 0);
        end(&f);
    }
}

/* What a thief gets is of the class that can wait longest, and the last of that. */
static void the_least_urgent_is_given_away(void **state) {
    (void)state;
    struct bal_station_config config = plain(1);
    config.steal = (struct bal_steal){.kind = BAL_STEAL_HALF};
    struct fixture f = begin(&config, 1);
    arrive(&f, 0, D1);
    const uint64_t urgent = arrive(&f, 0, D1).ticket, other = arrive(&f, 1, D1).ticket;
    struct bal_message grant = {0};
    hear(&f, OTHER, (struct bal_message){.type = BAL_MSG_STEAL, .steal = {.steal = 9, .most = 1}});
    assert_int_equal(said(&f, BAL_MSG_GRANT, OTHER, &grant), 1);
    assert_true(grant.grant.count == 1 && grant.grant.tickets[0] == other && urgent != other);
    end(&f);
}

/* Slots are kept free for what was asked for alone. */
static void a_grant_that_nobody_asked_for_means_nothing(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    const struct bal_station_task task = arrive(&f, 0, D1);
    hear(&f, OTHER,
         (struct bal_message){.type = BAL_MSG_GRANT, .grant = {.steal = 9, .count = 1, .tickets = {5}}});
    done(&f, task.ticket);
    assert_int_equal(offered(&f, D1), 1);
    end(&f);
}

static void requests_move_to_stations_alone(void **state) {
    (void)state;
    struct bal_station_config config = plain(1);
    config.classes = 1;
    struct fixture f = begin(&config, 2);
    arrive(&f, 0, D1);
    arrive(&f, 0, D1);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_MOVE, .move = {.target = D2}});
    assert_int_equal(bal_station_counts(f.s).given, 0);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_MOVE, .move = {.target = OTHER}});
    assert_int_equal(bal_station_counts(f.s).given, 1);
    end(&f);
}

static void classes_beyond_the_last_are_the_last(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    struct bal_message load = {0};
    arrive(&f, 7, D1);
    hear(&f, D1, (struct bal_message){.type = BAL_MSG_PROBE, .probe = {.probe = 5}});
    assert_int_equal(said(&f, BAL_MSG_LOAD, D1, &load), 1);
    assert_true(load.load.classes == 2 && load.load.jobs[1] == 1);
    end(&f);
}

/* A process that died in the middle of an operation has woken no worker: the one that rebuilds the block
 * does. */
static void who_has_news_is_woken_by_a_rebuild(void **state) {
    (void)state;
    const struct bal_station_config config = plain(1);
    struct fixture f = begin(&config, 1);
    struct bal_station *other = view_of(&f, 2), *third = view_of(&f, 3);
    struct bal_station_task task;
    assert_int_equal(bal_station_join(other, f.now, 12, 1, NULL), BAL_OK);
    assert_int_equal(bal_station_join(third, f.now, 13, 1, NULL), BAL_OK);
    const uint64_t ticket = arrive(&f, 0, D1).ticket;
    bal_station_arrive(other, f.now, 0, D1, false, &task);
    assert_int_equal(task.verdict, BAL_QUEUE);
    done(&f, ticket);
    f.s->block->busy = 1;
    bal_station_run_timers(third, f.now);
    assert_int_equal(bal_station_next_to_wake(third), 1);
    assert_true(bal_station_next_decision(other, f.now, &task) && task.verdict == BAL_RUN);
    free(other);
    free(third);
    end(&f);
}

static void an_app_that_never_rests_is_woken(void **state) {
    (void)state;
    struct bal_station_config config = kept();
    config.standby_ns = 0;
    struct fixture f = begin(&config, 1);
    bal_station_run_timers(f.s, f.now);
    assert_true(said(&f, BAL_MSG_START, KEEPER, NULL) >= 1);
    end(&f);
}

static void draining_offers_nothing(void **state) {
    (void)state;
    const struct bal_station_config config = plain(2);
    struct fixture f = begin(&config, 1);
    bal_station_drain(f.s, f.now, true);
    sound(&f);
    assert_int_equal(bal_station_view(f.s).offered, 0);
    assert_int_equal(bal_station_view(f.s).power, BAL_POWER_DRAINING);
    assert_int_equal(arrive(&f, 0, D1).verdict, BAL_RUN); /* it was on its way */
    bal_station_drain(f.s, f.now, false);
    assert_int_equal(bal_station_view(f.s).offered, 1);
    end(&f);
}

/* ---- death in the middle of an operation ---- */

static void do_something(struct fixture *f, uint64_t *ticket, struct bal_rng *rng) {
    uint64_t *one = &ticket[bal_rng_below(rng, 12)];
    struct bal_station_task task;
    switch (bal_rng_below(rng, 6)) {
    case 0:
        bal_station_run_timers(f->s, f->now);
        break;
    case 1:
        while (bal_station_next_decision(f->s, f->now, &task))
            ;
        break;
    case 2:
        hear(f, OTHER, (struct bal_message){.type = BAL_MSG_STEAL, .steal = {.steal = 9, .most = 24}});
        break;
    case 3:
        hear_hungry(f, bal_rng_below(rng, 2) ? D1 : D2, bal_rng_below(rng, 3));
        break;
    default:
        if (!*one) {
            bal_station_arrive(f->s, f->now, bal_rng_below(rng, 2), D1, false, &task);
            *one = task.verdict == BAL_FULL ? 0 : task.ticket;
        } else if (bal_station_returned(f->s, f->now, *one)) {
            break;
        } else {
            if (!bal_station_done(f->s, f->now, *one, false))
                bal_station_cancel(f->s, f->now, *one);
            *one = 0;
        }
    }
}

static void an_operation_that_was_not_finished_is_made_good(void **state) {
    (void)state;
    struct bal_station_config config = plain(2);
    struct bal_rng rng;
    bal_rng_init(&rng, 6, 0, BAL_STREAM_TEST);
    assert_int_equal(bal_steal_parse("half", &config.steal, NULL), BAL_OK);
    struct fixture f = begin(&config, 2);
    struct bal_station *s = f.s;
    char *before = malloc(s->block->size);
    assert_non_null(before);
    uint64_t ticket[12] = {0};
    for (int step = 0; step < 20000; step++) {
        f.now += bal_rng_below(&rng, 10) * MS;
        memcpy(before, f.block, s->block->size);
        do_something(&f, ticket, &rng);
        sound(&f);
        if (bal_rng_below(&rng, 20))
            continue;
        const uint64_t rebuilds = bal_station_counts(s).rebuilds;
        inside_tear_station(s, before, &rng);
        bal_station_run_timers(s, f.now);
        sound(&f);
        assert_true(bal_station_counts(s).rebuilds > rebuilds);
    }
    bal_station_leave(s, f.now);
    assert_int_equal(bal_station_view(s).running + bal_station_view(s).waiting + bal_station_view(s).away, 0);
    free(before);
    end(&f);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    struct bal_station_config config = plain(1);
    struct bal_error err;
    struct fixture f = begin(&config, 1);
    const uint64_t twice[] = {5, 5}, nobody[] = {0};
    assert_int_equal(bal_station_configure(f.s, f.now, twice, 2, NULL, 0, &err), BAL_E_MODEL);
    assert_int_equal(bal_station_configure(f.s, f.now, nobody, 1, NULL, 0, &err), BAL_E_MODEL);
    static uint64_t nothing[64];
    assert_int_equal(bal_station_open(f.s, nothing, 1, &err), BAL_E_FORMAT);
    config.slots = 0;
    assert_int_equal(bal_station_check(&config, &err), BAL_E_RANGE);
    assert_string_equal(err.text, "slots is 0; it must be 1 to 1048576");
    free(f.s);
    free(f.block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_queue_and_full),
        cmocka_unit_test(a_keeper_that_does_not_answer_is_known),
        cmocka_unit_test(urgent_first_and_in_order),
        cmocka_unit_test(a_client_that_goes_away_frees_its_place),
        cmocka_unit_test(the_next_one_may_belong_to_another_process),
        cmocka_unit_test(a_free_slot_is_offered_to_a_hungry_dispatcher),
        cmocka_unit_test(a_hungry_dispatcher_gets_what_others_do_not_need),
        cmocka_unit_test(an_offer_that_a_hungry_dispatcher_does_not_use_goes_to_another),
        cmocka_unit_test(the_offers_of_one_whose_hunger_is_over_are_free_at_once),
        cmocka_unit_test(one_that_did_not_use_its_offer_is_chosen_last_until_it_does),
        cmocka_unit_test(a_question_is_answered_whatever_is_so),
        cmocka_unit_test(one_that_cannot_use_offers_gets_none_for_as_long_as_it_says),
        cmocka_unit_test(what_no_one_can_use_is_not_offered_again_before_a_heartbeat),
        cmocka_unit_test(hunger_that_is_not_repeated_is_forgotten),
        cmocka_unit_test(an_offer_is_made_anew_with_every_heartbeat_and_taken_back),
        cmocka_unit_test(a_dispatcher_may_ask_for_rare_heartbeats),
        cmocka_unit_test(a_slot_that_somebody_else_has_used_is_offered_to_anyone),
        cmocka_unit_test(a_probe_is_answered_with_the_truth),
        cmocka_unit_test(one_that_begins_anew_is_told_the_present),
        cmocka_unit_test(offers_come_at_a_rate_where_that_is_wanted),
        cmocka_unit_test(a_slot_is_promised_with_the_response_and_no_datagram_sent),
        cmocka_unit_test(a_promise_that_cannot_be_kept_is_taken_back_by_a_later_word),
        cmocka_unit_test(a_promise_that_may_look_late_is_said_again),
        cmocka_unit_test(nothing_is_promised_that_will_not_be),
        cmocka_unit_test(whoever_is_answered_slots_go_to_all_alike),
        cmocka_unit_test(a_thief_gets_half_and_what_it_refuses_comes_back),
        cmocka_unit_test(an_idle_station_steals),
        cmocka_unit_test(the_last_low_one_moves_at_a_dispatchers_wish),
        cmocka_unit_test(a_request_that_meets_a_resting_app_wakes_it),
        cmocka_unit_test(an_idle_app_rests_and_nothing_is_passed_to_it_meanwhile),
        cmocka_unit_test(an_app_that_has_just_come_on_rests_after_the_whole_time),
        cmocka_unit_test(an_app_that_works_is_not_let_go),
        cmocka_unit_test(what_was_recorded_is_not_believed_in_silence),
        cmocka_unit_test(a_clock_that_steps_back_stands_still),
        cmocka_unit_test(a_late_hunger_is_not_believed),
        cmocka_unit_test(the_least_urgent_is_given_away),
        cmocka_unit_test(a_grant_that_nobody_asked_for_means_nothing),
        cmocka_unit_test(requests_move_to_stations_alone),
        cmocka_unit_test(classes_beyond_the_last_are_the_last),
        cmocka_unit_test(who_has_news_is_woken_by_a_rebuild),
        cmocka_unit_test(an_app_that_never_rests_is_woken),
        cmocka_unit_test(a_keeper_that_has_begun_again_proves_it),
        cmocka_unit_test(a_challenge_of_the_keeper_is_answered_with_the_wake),
        cmocka_unit_test(a_dispatcher_that_has_begun_again_is_told_the_present),
        cmocka_unit_test(draining_offers_nothing),
        cmocka_unit_test(an_operation_that_was_not_finished_is_made_good),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
