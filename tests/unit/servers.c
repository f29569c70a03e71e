/* SPDX-License-Identifier: BSD-2-Clause */
/* Fleets as text, and what a model derives from them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/model.h"
#include "ballast/random.h"

static struct bli_servers parse(const char *text) {
    struct bli_servers servers;
    struct bal_error err;
    if (bli_servers_parse(text, &servers, &err))
        fail_msg("'%s': %s", text, err.text);
    return servers;
}

static void reads_fleets(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
        unsigned groups;
        uint32_t count;
        double capacity;
    } cases[] = {
        {"1", "1", 1, 1, 1},
        {"100", "100", 1, 100, 100},
        {"10k", "10000", 1, 10000, 10000},
        {"1e3", "1000", 1, 1000, 1000},
        {"100M", "100000000", 1, 100000000, 1e8},
        {"50x1,50x10", "50x1,50x10", 2, 100, 550},
        {"4x0.5", "4x0.5", 1, 4, 2},
        {"10x1", "10", 1, 10, 10},
        {"3,2x4", "3x1,2x4", 2, 5, 11},
        {"1kx2.385,1", "1000x2.385,1x1", 2, 1001, 2386},
        {"2x1,2x1", "2x1,2x1", 2, 4, 4},
        {"1x1e-9,1x1G", "1x1e-09,1x1000000000", 2, 2, 1e9 + 1e-9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_servers servers = parse(cases[i].text);
        assert_int_equal(servers.groups, cases[i].groups);
        assert_int_equal(bli_servers_count(&servers), cases[i].count);
        assert_true(fabs(bli_servers_capacity(&servers) - cases[i].capacity) <= 1e-12 * cases[i].capacity);
        char text[200];
        assert_int_equal(bli_servers_print(&servers, text, sizeof text), strlen(cases[i].canonical));
        assert_string_equal(text, cases[i].canonical);
    }
}

static void refuses_the_rest(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",      "0",     "-1",      "1.5", "x",       "x2",    "5x",       "5x0",
        "5x-1",  "5xx2",  "5x2x3",   "5,",  ",5",      "5,,5",  "5 ",       " 5",
        "5;5",   "101M",  "60M,60M", "1e9", "1x1e-10", "1x2e9", "1x1e999",  "nan",
        "1xnan", "1xinf", "0x10",    "ten", "5x1,0x2", "1e-3",  "5x1k,5xz", "5\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_servers servers, before;
        memset(&servers, 0x5a, sizeof servers);
        memcpy(&before, &servers, sizeof servers);
        struct bal_error err = {0};
        if (bli_servers_parse(cases[i], &servers, &err) != BAL_E_RANGE)
            fail_msg("'%s' passes", cases[i]);
        assert_int_equal(err.code, BAL_E_RANGE);
        assert_memory_equal(&servers, &before, sizeof servers);
        if (!strstr(err.text, "servers '") || !strstr(err.text, "such as 50x1,50x10"))
            fail_msg("'%s': the error says neither what nor what would be right: %s", cases[i], err.text);
    }
    struct bli_servers servers;
    assert_int_equal(bli_servers_parse("0", &servers, NULL), BAL_E_RANGE); /* no one need listen */
}

static void has_room_for_32_groups(void **state) {
    (void)state;
    char text[500] = "";
    for (int i = 0; i < BLI_GROUPS_MAX; i++)
        strcat(text, i ? ",2x3" : "2x3");
    const struct bli_servers servers = parse(text);
    assert_int_equal(servers.groups, BLI_GROUPS_MAX);
    assert_true(bli_servers_capacity(&servers) == 6 * BLI_GROUPS_MAX);
    strcat(text, ",1");
    struct bli_servers more;
    struct bal_error err;
    assert_int_equal(bli_servers_parse(text, &more, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, "32 groups"));
}

/* Always terminated, never beyond the end, and tells what would have been needed. */
static void prints_into_any_room(void **state) {
    (void)state;
    const struct bli_servers servers = parse("50x1,50x10");
    for (size_t size = 0; size < 15; size++) {
        char text[16];
        memset(text, '#', sizeof text);
        assert_int_equal(bli_servers_print(&servers, text, size), 10);
        assert_true(text[size] == '#');
        if (size > 0) {
            assert_int_equal(strlen(text), size - 1 < 10 ? size - 1 : 10);
            assert_memory_equal(text, "50x1,50x10", strlen(text));
        }
    }
}

/* Random fleets come back the same. */
static void survives_printing(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 71, 0, BAL_STREAM_TEST);
    for (int round = 0; round < 1000; round++) {
        struct bli_servers servers = {.groups = 1 + bal_rng_below(&rng, BLI_GROUPS_MAX)};
        for (unsigned g = 0; g < servers.groups; g++) {
            servers.group[g].count = 1 + bal_rng_below(&rng, 1000000);
            servers.group[g].speed = exp(20 * (bal_rng_uniform(&rng) - 0.5));
        }
        char text[2000];
        assert_true(bli_servers_print(&servers, text, sizeof text) < sizeof text);
        const struct bli_servers back = parse(text);
        assert_int_equal(back.groups, servers.groups);
        for (unsigned g = 0; g < servers.groups; g++) {
            assert_int_equal(back.group[g].count, servers.group[g].count);
            assert_true(back.group[g].speed == servers.group[g].speed);
        }
    }
}

static struct bli_model model_of(const char *servers, const char *size, double load) {
    struct bli_model model = {.servers = parse(servers), .load = load};
    struct bal_error err;
    if (bli_dist_parse(size, &model.size, &err))
        fail_msg("%s", err.text);
    return model;
}

/* Work arrives at load times the capacity. */
static void arrivals_bring_the_load(void **state) {
    (void)state;
    const struct bli_model model = model_of("50x1,50x10", "erlang(3,0.25)", 0.8);
    assert_true(fabs(bli_model_arrival_rate(&model) * 0.25 / 550 - 0.8) < 1e-12);
}

static void a_model_must_make_sense(void **state) {
    (void)state;
    struct bal_error err;
    struct bli_model model = model_of("3", "exp", 0.9);
    assert_int_equal(bli_model_check(&model, &err), BAL_OK);
    const double loads[] = {0, -0.5, NAN, INFINITY};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        model.load = loads[i];
        assert_int_equal(bli_model_check(&model, &err), BAL_E_RANGE);
        assert_non_null(strstr(err.text, "above 0"));
    }
    model = model_of("3", "pareto(0.5,1)", 0.9);
    assert_int_equal(bli_model_check(&model, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "pareto(0.5,1)"));
    assert_non_null(strstr(err.text, "finite"));
    model = model_of("3", "exp", 1.5); /* overloaded is a model, if not a happy one */
    assert_int_equal(bli_model_check(&model, &err), BAL_OK);
    model.servers.groups = 0;
    assert_int_equal(bli_model_check(&model, &err), BAL_E_MODEL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_fleets),
        cmocka_unit_test(refuses_the_rest),
        cmocka_unit_test(has_room_for_32_groups),
        cmocka_unit_test(prints_into_any_room),
        cmocka_unit_test(survives_printing),
        cmocka_unit_test(arrivals_bring_the_load),
        cmocka_unit_test(a_model_must_make_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
