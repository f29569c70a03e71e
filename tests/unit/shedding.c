/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is refused when more requests wait than may: the hold queue of a dispatcher and the queue of a station,
 * each compared with a list in which the rule is followed by its definition; and what a refused client is
 * told.
 *
 * The rule: a request waits if fewer than its class's limit wait of its class, and fewer than the limit of
 * all together, or a less urgent one waits: then the last of the least urgent class is refused in its place.
 * One that has waited for its class's time is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/live/dispatcher.h"
#include "ballast/live/station.h"
#include "ballast/random.h"

#define MS UINT64_C(1000000)
enum { CLASSES = 4, WAITING = 6, STEPS = 20000, TICKETS = 64 };

/* The second class may have two places, the third has a shorter time. */
static const struct bal_class_limit limits[CLASSES] = {{0, 0}, {2, 0}, {0, 30 * MS}, {0, 0}};
static const uint64_t time_of_all = 80 * MS;

/* ---- the list ---- */

struct waiting {
    uint64_t ticket, since;
    uint32_t rank;
};

/* Those that wait, in the order in which they came, and those whose refusal has not been learned yet. */
struct list {
    struct waiting waiting[WAITING + 1];
    uint32_t count;
    uint64_t refused[TICKETS];
    uint32_t refusals;
    uint64_t replaced, overdue;
};

static void remove_at(struct list *list, uint32_t i) {
    memmove(&list->waiting[i], &list->waiting[i + 1], (--list->count - i) * sizeof *list->waiting);
}

static void refuse_at(struct list *list, uint32_t i) {
    assert_true(list->refusals < TICKETS);
    list->refused[list->refusals++] = list->waiting[i].ticket;
    remove_at(list, i);
}

static uint32_t count_of(const struct list *list, uint32_t rank) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        count += list->waiting[i].rank == rank;
    return count;
}

/* May it wait? It is added then. */
static bool add(struct list *list, const struct waiting *one) {
    uint32_t last = 0;
    if (limits[one->rank].waiting && count_of(list, one->rank) >= limits[one->rank].waiting)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->waiting[i].rank >= list->waiting[last].rank)
            last = i;
    if (list->count == WAITING && list->waiting[last].rank <= one->rank)
        return false;
    if (list->count == WAITING) {
        refuse_at(list, last);
        list->replaced++;
    }
    list->waiting[list->count++] = *one;
    return true;
}

/* The ticket that is served next: the most urgent, of these the first. 0: none waits. */
static uint64_t serve(struct list *list) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->waiting[i].rank < list->waiting[next].rank)
            next = i;
    const uint64_t ticket = list->count ? list->waiting[next].ticket : 0;
    if (ticket)
        remove_at(list, next);
    return ticket;
}

static void refuse_overdue(struct list *list, uint64_t now) {
    for (uint32_t i = 0; i < list->count;) {
        const uint64_t own = limits[list->waiting[i].rank].wait_ns;
        if (now - list->waiting[i].since >= (own ? own : time_of_all)) {
            refuse_at(list, i);
            list->overdue++;
        } else {
            i++;
        }
    }
}

static void learn_refusal(struct list *list, uint64_t ticket) {
    for (uint32_t i = 0; i < list->refusals; i++)
        if (list->refused[i] == ticket) {
            list->refused[i] = list->refused[--list->refusals];
            return;
        }
    fail_msg("a request is refused that should wait");
}

/* ---- a dispatcher with one server of one slot ---- */

struct fixture {
    void *block, *view;
    uint64_t now, running; /* the ticket at the server; 0: none */
};

static struct bal_dispatcher_config dispatcher_config(void) {
    struct bal_dispatcher_config config = {.servers = 1,
                                           .workers = 1,
                                           .requests = 200,
                                           .classes = CLASSES,
                                           .held = WAITING,
                                           .hold_ns = time_of_all,
                                           .refuse_beyond = true};
    memcpy(config.class_limit, limits, sizeof limits);
    return config;
}

static struct fixture begin_dispatcher(const struct bal_dispatcher_config *config) {
    const struct bal_dispatcher_server server = {.name = "10.0.0.1:80"};
    struct bal_policy_spec policy;
    struct bal_error err = {0};
    struct fixture f = {.now = 1000 * MS};
    assert_int_equal(bal_policy_parse("jiq:else=hold", &policy, &err), BAL_OK);
    f.block = aligned_alloc(64, bal_dispatcher_size(&policy, config));
    f.view = malloc(bal_dispatcher_view_size(&policy, config));
    assert_true(f.block && f.view);
    bal_dispatcher_create(f.block, &policy, config, f.now);
    assert_int_equal(bal_dispatcher_open(f.view, f.block, 1, &err), BAL_OK);
    assert_int_equal(bal_dispatcher_join(f.view, f.now, 1, 1, &err), BAL_OK);
    assert_int_equal(bal_dispatcher_configure(f.view, f.now, &server, 1, &err), BAL_OK);
    return f;
}

static void end(struct fixture *f) {
    free(f->view);
    free(f->block);
}

static void learn_decisions(struct fixture *f, struct list *list) {
    struct bal_dispatch to;
    while (bal_dispatcher_next_decision(f->view, f->now, &to))
        if (to.verdict == BAL_SEND)
            assert_true(to.ticket == f->running);
        else
            learn_refusal(list, to.ticket);
    assert_int_equal(list->refusals, 0);
}

static void arrive_at_dispatcher(struct fixture *f, struct list *list, uint32_t rank) {
    struct bal_dispatch to;
    bal_dispatcher_arrive(f->view, f->now, rank, &to);
    if (!f->running) {
        assert_int_equal(to.verdict, BAL_SEND);
        f->running = to.ticket;
        return;
    }
    const struct waiting one = {to.ticket, f->now, rank};
    assert_int_equal(to.verdict, add(list, &one) ? BAL_WAIT : BAL_REFUSE);
    if (to.verdict == BAL_REFUSE)
        assert_int_equal(to.reason, BAL_REASON_NO_ROOM);
}

static void the_hold_queue_of_a_dispatcher(void **state) {
    (void)state;
    const struct bal_dispatcher_config config = dispatcher_config();
    struct fixture f = begin_dispatcher(&config);
    struct list list = {0};
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_POLICY);
    for (int i = 0; i < STEPS; i++) {
        f.now += bal_rng_below(&rng, 8) * MS;
        refuse_overdue(&list, f.now);
        bal_dispatcher_run_timers(f.view, f.now);
        if (f.running && bal_rng_below(&rng, 3) == 0) {
            const uint64_t ended = f.running;
            f.running = serve(&list);
            assert_true(bal_dispatcher_respond(f.view, f.now, ended, BAL_OUTCOME_GOOD));
        } else {
            arrive_at_dispatcher(&f, &list, bal_rng_below(&rng, CLASSES));
        }
        learn_decisions(&f, &list);
        for (uint32_t rank = 0; rank < CLASSES; rank++)
            assert_int_equal(bal_dispatcher_held(f.view, rank), count_of(&list, rank));
        assert_null(bal_dispatcher_find_inconsistency(f.view));
    }
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(f.view);
    assert_true(list.replaced > STEPS / 100 && list.overdue > STEPS / 100); /* both happen often */
    assert_true(counts.replaced == list.replaced && counts.overdue == list.overdue);
    assert_true(counts.overflow > counts.replaced);
    end(&f);
}

/* ---- a station of one slot ---- */

static struct bal_station_config station_config(void) {
    struct bal_station_config config = {.workers = 1,
                                        .slots = 1,
                                        .queue = WAITING,
                                        .classes = CLASSES,
                                        .queue_ns = time_of_all,
                                        .peers = 1,
                                        .beat_ns = 100 * MS,
                                        .id = 1,
                                        .boot = 1};
    memcpy(config.class_limit, limits, sizeof limits);
    return config;
}

static struct fixture begin_station(const struct bal_station_config *config) {
    struct bal_error err = {0};
    struct fixture f = {.now = 1000 * MS};
    f.block = aligned_alloc(64, bal_station_size(config));
    f.view = malloc(bal_station_view_size(config));
    assert_true(f.block && f.view);
    assert_int_equal(bal_station_check(config, &err), BAL_OK);
    bal_station_create(f.block, config, f.now);
    assert_int_equal(bal_station_open(f.view, f.block, 1, &err), BAL_OK);
    assert_int_equal(bal_station_join(f.view, f.now, 1, 1, &err), BAL_OK);
    return f;
}

static void learn_tasks(struct fixture *f, struct list *list) {
    struct bal_station_task task;
    while (bal_station_next_decision(f->view, f->now, &task))
        if (task.verdict == BAL_RUN)
            assert_true(task.ticket == f->running);
        else
            learn_refusal(list, task.ticket);
    assert_int_equal(list->refusals, 0);
}

static void arrive_at_station(struct fixture *f, struct list *list, uint32_t rank) {
    struct bal_station_task task;
    bal_station_arrive(f->view, f->now, rank, 0, false, &task);
    if (!f->running) {
        assert_int_equal(task.verdict, BAL_RUN);
        f->running = task.ticket;
        return;
    }
    const struct waiting one = {task.ticket, f->now, rank};
    assert_int_equal(task.verdict, add(list, &one) ? BAL_QUEUE : BAL_FULL);
}

static void the_queue_of_a_station(void **state) {
    (void)state;
    const struct bal_station_config config = station_config();
    struct fixture f = begin_station(&config);
    struct list list = {0};
    struct bal_rng rng;
    bal_rng_init(&rng, 2, 0, BAL_STREAM_POLICY);
    for (int i = 0; i < STEPS; i++) {
        f.now += bal_rng_below(&rng, 8) * MS;
        refuse_overdue(&list, f.now);
        const uint64_t next = bal_station_run_timers(f.view, f.now);
        for (uint32_t k = 0; k < list.count; k++)
            assert_true(next <= list.waiting[k].since + time_of_all);
        const bool served = f.running && bal_rng_below(&rng, 3) == 0;
        if (served) {
            const uint64_t ended = f.running;
            f.running = serve(&list);
            assert_true(bal_station_done(f.view, f.now, ended, false));
        } else {
            arrive_at_station(&f, &list, bal_rng_below(&rng, CLASSES));
        }
        if (served || bal_rng_below(&rng, 4)) /* its process may learn of several refusals together */
            learn_tasks(&f, &list);
        assert_int_equal(bal_station_view(f.view).waiting, list.count);
        assert_null(bal_station_find_inconsistency(f.view));
    }
    const struct bal_station_counts counts = bal_station_counts(f.view);
    assert_true(list.replaced > STEPS / 100 && list.overdue > STEPS / 100);
    assert_true(counts.replaced == list.replaced && counts.overdue == list.overdue);
    assert_true(counts.full > counts.replaced);
    end(&f);
}

/* A process that does not learn of its refusals does not take the places of others. */
static void refusals_not_learned_take_no_place(void **state) {
    (void)state;
    struct bal_station_config config = station_config();
    memset(config.class_limit, 0, sizeof config.class_limit);
    struct fixture f = begin_station(&config);
    struct bal_station_task task;
    bal_station_arrive(f.view, f.now, 3, 0, false, &task);
    assert_int_equal(task.verdict, BAL_RUN);
    for (uint32_t rank = CLASSES; rank-- > CLASSES - 2;)
        for (int i = 0; i < WAITING; i++) {
            bal_station_arrive(f.view, f.now, rank, 0, false, &task);
            assert_int_equal(task.verdict, BAL_QUEUE);
        }
    assert_int_equal(bal_station_counts(f.view).replaced, WAITING);
    end(&f);
}

/* A process without a free connection cannot let a request wait, however urgent: it takes no other's place.
 */
static void who_cannot_wait_pushes_nobody_out(void **state) {
    (void)state;
    struct bal_dispatcher_config config = dispatcher_config();
    memset(config.class_limit, 0, sizeof config.class_limit);
    struct fixture f = begin_dispatcher(&config);
    struct bal_dispatch to;
    for (int i = 0; i < 1 + WAITING; i++)
        bal_dispatcher_arrive(f.view, f.now, CLASSES - 1, &to);
    bal_dispatcher_set_crowded(f.view, true);
    for (uint32_t rank = 0; rank < CLASSES; rank++) {
        bal_dispatcher_arrive(f.view, f.now, rank, &to);
        assert_true(to.verdict == BAL_REFUSE && to.reason == BAL_REASON_NO_ROOM);
        assert_int_equal(bal_dispatcher_held(f.view, CLASSES - 1), WAITING);
    }
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(f.view);
    assert_true(counts.crowded == CLASSES && counts.replaced == 0 && counts.overflow == CLASSES);
    bal_dispatcher_set_crowded(f.view, false);
    bal_dispatcher_arrive(f.view, f.now, 0, &to);
    assert_int_equal(to.verdict, BAL_WAIT);
    assert_int_equal(bal_dispatcher_held(f.view, CLASSES - 1), WAITING - 1);
    assert_null(bal_dispatcher_find_inconsistency(f.view));
    end(&f);
}

static void nor_at_a_station(void **state) {
    (void)state;
    struct bal_station_config config = station_config();
    memset(config.class_limit, 0, sizeof config.class_limit);
    struct fixture f = begin_station(&config);
    struct bal_station_task task;
    for (int i = 0; i < 1 + WAITING; i++)
        bal_station_arrive(f.view, f.now, CLASSES - 1, 0, false, &task);
    bal_station_set_crowded(f.view, true);
    bal_station_arrive(f.view, f.now, 0, 0, false, &task);
    assert_int_equal(task.verdict, BAL_FULL);
    assert_true(bal_station_counts(f.view).crowded == 1 && bal_station_counts(f.view).replaced == 0);
    bal_station_set_crowded(f.view, false);
    bal_station_arrive(f.view, f.now, 0, 0, false, &task);
    assert_int_equal(task.verdict, BAL_QUEUE);
    assert_int_equal(bal_station_counts(f.view).replaced, 1);
    end(&f);
}

/* ---- when to come again ---- */

/* One response each 10 ms: whoever is refused when so many wait in front is told their time and its own. */
static void a_refused_client_is_told_how_long_the_backlog_takes(void **state) {
    (void)state;
    struct bal_dispatcher_config config = dispatcher_config();
    memset(config.class_limit, 0, sizeof config.class_limit);
    config.hold_ns = 10000 * MS;
    struct fixture f = begin_dispatcher(&config);
    struct bal_dispatch to, held;
    bal_dispatcher_arrive(f.view, f.now, 3, &to);
    for (uint32_t i = 0; i < WAITING; i++)
        bal_dispatcher_arrive(f.view, f.now, i < 2 ? 1 : 3, &held);
    bal_dispatcher_arrive(f.view, f.now, 3, &held);
    assert_int_equal(held.verdict, BAL_REFUSE);
    assert_true(held.retry_ns == 0); /* nothing has been measured yet */
    for (int i = 0; i < 4; i++) {
        f.now += 10 * MS;
        assert_true(bal_dispatcher_respond(f.view, f.now, to.ticket, BAL_OUTCOME_GOOD));
        assert_true(bal_dispatcher_next_decision(f.view, f.now, &to));
        assert_int_equal(to.verdict, BAL_SEND);
        bal_dispatcher_arrive(f.view, f.now, i < 2 ? 1 : 3, &held); /* six wait again */
        assert_int_equal(held.verdict, BAL_WAIT);
    }
    bal_dispatcher_arrive(f.view, f.now, 3, &held);
    assert_true(held.verdict == BAL_REFUSE && held.retry_ns == (WAITING + 1) * 10 * MS);
    /* A try that has failed is no response. */
    assert_true(bal_dispatcher_retry(f.view, f.now, to.ticket, BAL_OUTCOME_FAILED, &held));
    assert_int_equal(held.verdict, BAL_REFUSE); /* there is no other server */
    assert_true(bal_dispatcher_next_decision(f.view, f.now, &to));
    bal_dispatcher_arrive(f.view, f.now, 3, &held); /* waits */
    bal_dispatcher_arrive(f.view, f.now, 3, &held);
    assert_true(held.verdict == BAL_REFUSE && held.retry_ns == (WAITING + 1) * 10 * MS);
    bal_dispatcher_arrive(f.view, f.now, 1, &held); /* in the place of one of the last class */
    assert_int_equal(held.verdict, BAL_WAIT);
    assert_true(bal_dispatcher_next_decision(f.view, f.now, &held));
    assert_true(held.verdict == BAL_REFUSE && held.retry_ns == (WAITING + 1) * 10 * MS);
    while (bal_dispatcher_held(f.view, BAL_CLASSES_MAX)) { /* a second without any that wait says nothing */
        f.now += 10 * MS;
        assert_true(bal_dispatcher_respond(f.view, f.now, to.ticket, BAL_OUTCOME_GOOD));
        assert_true(bal_dispatcher_next_decision(f.view, f.now, &to));
    }
    f.now += 1000 * MS;
    for (uint32_t i = 0; i < WAITING + 1; i++)
        bal_dispatcher_arrive(f.view, f.now, 3, &held);
    assert_true(held.verdict == BAL_REFUSE && held.retry_ns == (WAITING + 1) * 10 * MS);
    assert_true(bal_dispatcher_respond(f.view, f.now, to.ticket, BAL_OUTCOME_GOOD));
    assert_true(bal_dispatcher_next_decision(f.view, f.now, &to));
    bal_dispatcher_arrive(f.view, f.now, 3, &held);
    bal_dispatcher_arrive(f.view, f.now, 3, &held);
    assert_true(held.verdict == BAL_REFUSE && held.retry_ns == (WAITING + 1) * 10 * MS);
    end(&f);
}

static void a_station_tells_it_too(void **state) {
    (void)state;
    struct bal_station_config config = station_config();
    memset(config.class_limit, 0, sizeof config.class_limit);
    config.queue_ns = 0;
    struct fixture f = begin_station(&config);
    struct bal_station_task task, queued;
    bal_station_arrive(f.view, f.now, 0, 0, false, &task);
    for (int i = 0; i < WAITING; i++)
        bal_station_arrive(f.view, f.now, 0, 0, false, &queued);
    for (int i = 0; i < 3; i++) {
        f.now += 20 * MS;
        assert_true(bal_station_done(f.view, f.now, task.ticket, false));
        assert_true(bal_station_next_decision(f.view, f.now, &task));
        bal_station_arrive(f.view, f.now, 0, 0, false, &queued);
        assert_int_equal(queued.verdict, BAL_QUEUE);
    }
    bal_station_arrive(f.view, f.now, 0, 0, false, &queued);
    assert_true(queued.verdict == BAL_FULL && queued.retry_ns == (WAITING + 1) * 20 * MS);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hold_queue_of_a_dispatcher),
        cmocka_unit_test(the_queue_of_a_station),
        cmocka_unit_test(refusals_not_learned_take_no_place),
        cmocka_unit_test(who_cannot_wait_pushes_nobody_out),
        cmocka_unit_test(nor_at_a_station),
        cmocka_unit_test(a_refused_client_is_told_how_long_the_backlog_takes),
        cmocka_unit_test(a_station_tells_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
