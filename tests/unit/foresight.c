/* SPDX-License-Identifier: BSD-2-Clause */
/* What the engine foresees of jobs under policies with a pool of idle servers comes true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/prefetch.h"

enum { N = 20000, BURSTS = 2000, CIRCLE = 4 };

struct fixture {
    struct system *system;
    struct bal_set *pool;
    struct bal_rng events;
    uint32_t server[CIRCLE][PREFETCH_EVENTS];
    uint32_t jobs, right;
};

static void fixture_init(struct fixture *f, uint32_t busy) {
    *f = (struct fixture){.system = calloc(1, sizeof *f->system), .pool = malloc(bal_set_size(N))};
    assert_true(f->system && f->pool);
    f->system->servers = N;
    assert_int_equal(bli_queues_init(&f->system->queues, N, BLI_STAMP), BAL_OK);
    bal_rng_init(&f->system->rng, 5, 0, BAL_STREAM_POLICY);
    bal_rng_init(&f->events, 5, 0, BAL_STREAM_ARRIVALS);
    bal_set_init(f->pool, N);
    for (uint32_t server = 0; server < N; server++)
        if (server < busy)
            f->system->queues.length[server] = 1;
        else
            bal_set_insert(f->pool, server);
}

static void fixture_fini(struct fixture *f) {
    bli_queues_fini(&f->system->queues);
    free(f->system);
    free(f->pool);
}

static void draw_burst(struct fixture *f, uint32_t *server) {
    for (int i = 0; i < PREFETCH_EVENTS; i++)
        server[i] = bal_rng_uniform(&f->events) < 0.45 ? BAL_NONE : bal_rng_below(&f->events, N);
}

/* A job goes to a uniform member of the pool, as the policies say. */
static uint32_t arrive(struct fixture *f) {
    const uint32_t place = bal_rng_below(&f->system->rng, f->pool->count), server = f->pool->slot[place];
    bal_set_remove(f->pool, server);
    f->system->queues.length[server]++;
    return place;
}

static void complete(struct fixture *f, uint32_t server) {
    uint32_t *length = &f->system->queues.length[server];
    if (*length > 0 && --*length == 0)
        bal_set_insert(f->pool, server);
}

static void live_through(struct fixture *f, const uint32_t *server,
                         const struct prefetch_burst *prefetch_burst) {
    uint32_t jobs = 0;
    for (int i = 0; i < PREFETCH_EVENTS; i++)
        if (server[i] == BAL_NONE) {
            const uint32_t place = arrive(f);
            f->right += jobs < prefetch_burst->jobs && prefetch_burst->place[jobs] == place;
            jobs++;
        } else {
            complete(f, server[i]);
        }
    f->jobs += jobs;
    assert_int_equal(jobs, prefetch_burst->jobs);
}

/* Of all jobs more than 95 of 100; the others are those behind an event that was not what it had looked like
 * 48 events before. 98 with this seed, and in a larger fleet more. */
static void places_come_true(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f, N * 8 / 10);
    struct prefetch prefetch = {.pool = f.pool};
    struct prefetch_burst coming[CIRCLE] = {0};
    for (unsigned at = 0; at < BURSTS; at++) {
        if (at == 0)
            for (unsigned i = 0; i < 2; i++)
                for (int k = 0; k < PREFETCH_EVENTS; k++)
                    f.server[i][k] = 0; /* nothing that could be foreseen is among the first */
        draw_burst(&f, f.server[(at + 2) % CIRCLE]);
        prefetch_next_burst(&prefetch, f.system, f.server[(at + 2) % CIRCLE], BLI_STAMP);
        coming[(at + 2) % CIRCLE] = prefetch.burst[at % 2];
        live_through(&f, f.server[at % CIRCLE], &coming[at % CIRCLE]);
    }
    assert_true(f.jobs > BURSTS * PREFETCH_EVENTS * 4 / 10);
    if (f.right * 100.0 < f.jobs * 95.0)
        fail_msg("of %u jobs %u went where it was foreseen", f.jobs, f.right);
    fixture_fini(&f);
}

/* A pool that runs empty makes it wrong and no more. */
static void an_empty_pool_does_no_harm(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f, N - 3);
    struct prefetch prefetch = {.pool = f.pool};
    uint32_t server[PREFETCH_EVENTS];
    for (int i = 0; i < PREFETCH_EVENTS; i++)
        server[i] = BAL_NONE;
    for (int i = 0; i < 8; i++) {
        prefetch_next_burst(&prefetch, f.system, server, BLI_STAMP);
        for (int k = 0; k < PREFETCH_EVENTS; k++)
            assert_true(prefetch.burst[i % 2].place[k] < N);
    }
    fixture_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_come_true),
        cmocka_unit_test(an_empty_pool_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
