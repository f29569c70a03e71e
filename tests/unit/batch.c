/* SPDX-License-Identifier: BSD-2-Clause */
/* Laws of whole numbers: texts, moments and draws; and the fleets and models that are made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/batch.h"
#include "ballast/model.h"

#include "../goodness.h"

#include <stdio.h>
#include <string.h>

static struct bli_batch dist(const char *text) {
    struct bli_batch batch;
    struct bal_error err = {0};
    if (bli_batch_parse(text, &batch, &err))
        fail_msg("%s", err.text);
    return batch;
}

static const char *print(const struct bli_batch *batch) {
    static char text[BLI_BATCH_TEXT];
    assert_true(bli_batch_print(batch, text, sizeof text) < sizeof text);
    return text;
}

/* Text */

static void canonical_text(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
        double mean, variance;
        uint32_t low, high;
    } known[] = {
        {"poisson(2.385)", "poisson(2.385)", 2.385, 2.385, 0, UINT32_MAX},
        {" geometric ( 4 ) ", "geometric(4)", 4, 20, 0, UINT32_MAX},
        {"bernoulli(0.25)", "bernoulli(0.25)", 0.25, 0.1875, 0, 1},
        {"7", "constant(7)", 7, 0, 7, 7},
        {"constant(0)", "constant(0)", 0, 0, 0, 0},
        {"uniform(1,19)", "uniform(1,19)", 10, 30, 1, 19},
        {"uniform( 0 , 1 )", "uniform(0,1)", 0.5, 0.25, 0, 1},
        {"table(5:0.25 1:0.5\t2 : 0.25)", "table(1:0.5 2:0.25 5:0.25)", 2.25, 2.6875, 1, 5},
        {"table(3:1)", "table(3:1)", 3, 0, 3, 3},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct bli_batch batch = dist(known[i].text);
        assert_string_equal(print(&batch), known[i].canonical);
        assert_false(batch.open);
        assert_true(batch.mean == known[i].mean);
        assert_true(fabs(bli_batch_variance(&batch) - known[i].variance) < 1e-12);
        assert_int_equal(batch.low, known[i].low);
        assert_true(batch.high == known[i].high);
        const struct bli_batch again = dist(known[i].canonical);
        assert_memory_equal(batch.probability, again.probability, sizeof batch.probability);
        assert_memory_equal(batch.value, again.value, sizeof batch.value);
    }
}

/* Probabilities that were rounded by hand are scaled once, and then stay as they are. */
static void rounded_table(void **state) {
    (void)state;
    const struct bli_batch batch = dist("table(0:0.333333 1:0.333333 2:0.333333)");
    assert_true(fabs(batch.mean - 1) < 1e-15);
    const struct bli_batch again = dist(print(&batch));
    assert_memory_equal(batch.probability, again.probability, sizeof batch.probability);
}

static void open_means(void **state) {
    (void)state;
    static const char *const names[] = {"poisson", "geometric", "bernoulli"};
    for (size_t i = 0; i < 3; i++) {
        struct bli_batch batch = dist(names[i]);
        assert_true(batch.open && isnan(batch.mean) && isnan(bli_batch_variance(&batch)));
        assert_string_equal(print(&batch), names[i]);
        assert_int_equal(bli_batch_set_mean(&batch, 0.5, NULL), BAL_OK);
        assert_true(!batch.open && batch.mean == 0.5);
    }
    struct bli_batch bernoulli = dist("bernoulli");
    struct bal_error err = {0};
    assert_int_equal(bli_batch_set_mean(&bernoulli, 1.5, &err), BAL_E_RANGE);
    assert_string_equal(err.text, "batch 'bernoulli' cannot bring 1.5 jobs a slot; its mean is at most 1");
    assert_true(bernoulli.open);
}

static void short_buffers(void **state) {
    (void)state;
    const struct bli_batch batch = dist("table(1:0.5 2:0.25 7:0.25)");
    const size_t length = strlen(print(&batch));
    char whole[BLI_BATCH_TEXT];
    strcpy(whole, print(&batch));
    for (size_t size = 0; size <= length + 1; size++) {
        char text[64];
        memset(text, '#', sizeof text);
        assert_int_equal(bli_batch_print(&batch, text, size), length);
        if (size > 0) {
            assert_int_equal(strlen(text), size - 1);
            assert_memory_equal(text, whole, size - 1);
        }
        assert_int_equal(text[size], '#');
    }
}

static void errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } known[] = {
        {"",
         "law '': no such law of whole numbers; there are poisson, geometric, bernoulli, constant, uniform, "
         "table"},
        {"gauss(1)", "law 'gauss(1)': no such law of whole numbers; there are poisson, geometric, bernoulli, "
                     "constant, uniform, table"},
        {"poisson(0)", "law 'poisson(0)': the mean 0 must be above 0 and at most 10000000"},
        {"poisson(", "law 'poisson(': a number expected at the end; write poisson or poisson(M)"},
        {"bernoulli(1.1)", "law 'bernoulli(1.1)': the mean 1.1 must be above 0 and at most 1"},
        {"constant 4", "law 'constant 4': '(' expected at '4'; write constant(K) or K"},
        {"2.5", "law '2.5': K = 2.5 is not a whole number from 0 to 10000000"},
        {"1e8", "law '1e8': K = 1e+08 is not a whole number from 0 to 10000000"},
        {"uniform(4,4)", "law 'uniform(4,4)': A = 4 must be below B = 4"},
        {"uniform(4)", "law 'uniform(4)': ',' expected at ')'; write uniform(A,B)"},
        {"uniform(1,2)x", "law 'uniform(1,2)x': the end expected at 'x'; write uniform(A,B)"},
        {"table(1:0.5)", "law 'table(1:0.5)': the probabilities sum to 0.5; they must sum to 1"},
        {"table(1:0.5,2:0.5)",
         "law 'table(1:0.5,2:0.5)': a space or ')' expected at ',2:0.5)'; write table(V:P ...)"},
        {"table(1:0.5 1:0.5)", "law 'table(1:0.5 1:0.5)': the value 1 is given twice; give it once"},
        {"table(1:0 2:1)", "law 'table(1:0 2:1)': P = 0 is not a probability above 0"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct bli_batch batch = {.values = 12345};
        struct bal_error err = {0};
        assert_int_not_equal(bli_batch_parse(known[i].text, &batch, &err), BAL_OK);
        assert_string_equal(err.text, known[i].message);
        assert_int_equal(batch.values, 12345);
    }
}

static void too_many_values(void **state) {
    (void)state;
    char text[2000] = "table(";
    for (int i = 0; i < 33; i++)
        sprintf(text + strlen(text), "%d:%.17g ", i, 1.0 / 33);
    strcat(text, ")");
    struct bal_error err = {0};
    struct bli_batch batch;
    assert_int_equal(bli_batch_parse(text, &batch, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, "more than 32 values"));
}

/* Draws: 10^5 of each law against its probabilities, singly and many at once. 1e-6 each, about 40 of them. */

enum { CELLS = 400, DRAWS = 100000 };

static double probability(const struct bli_batch *batch, uint32_t k) {
    const double mean = batch->mean;
    switch (batch->kind) {
    case BLI_BATCH_POISSON:
        return exp(k * log(mean) - mean - lgamma(k + 1.0));
    case BLI_BATCH_GEOMETRIC:
        return pow(mean / (1 + mean), k) / (1 + mean);
    case BLI_BATCH_BERNOULLI:
        return k == 0 ? 1 - mean : k == 1 ? mean : 0;
    case BLI_BATCH_CONSTANT:
        return k == batch->low;
    case BLI_BATCH_UNIFORM:
        return k >= batch->low && k <= batch->high ? 1.0 / (batch->high - batch->low + 1) : 0;
    default:
        for (uint32_t i = 0; i < batch->values; i++)
            if (batch->value[i] == k)
                return batch->probability[i];
        return 0;
    }
}

static void draws(void **state) {
    (void)state;
    static const char *const texts[] = {
        "poisson(0.01)",
        "poisson(6.5)",
        "poisson(190)",
        "geometric(0.3)",
        "geometric(20)",
        "bernoulli(1)",
        "bernoulli(0.7)",
        "constant(3)",
        "uniform(1,19)",
        "uniform(0,1)",
        "uniform(3,258)",
        "uniform(3,259)",
        "uniform(1,300)",
        "table(1:0.5 2:0.25 7:0.25)",
        "table(0:0.001 10:0.9 399:0.099)",
        "table(4:1)",
    };
    static uint32_t drawn[DRAWS];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct bli_batch batch = dist(texts[i]);
        double p[CELLS + 1], left = 1;
        for (uint32_t k = 0; k < CELLS; k++)
            left -= p[k] = probability(&batch, k);
        p[CELLS] = fabs(left) < 1e-12 ? 0 : left;
        for (int many = 0; many < 2; many++) {
            struct bal_rng rng;
            bal_rng_init(&rng, 100 + i, (uint64_t)many, BAL_STREAM_TEST);
            if (many)
                bli_batch_sample_many(&batch, &rng, drawn, DRAWS);
            for (size_t j = 0; j < DRAWS && !many; j++)
                drawn[j] = bli_batch_sample(&batch, &rng);
            uint64_t count[CELLS + 1] = {0};
            for (size_t j = 0; j < DRAWS; j++)
                count[drawn[j] < CELLS ? drawn[j] : CELLS]++;
            assert_fits(texts[i], p, count, CELLS + 1);
        }
    }
}

/* Neighbours in a block come from the same word: all pairs must be equally likely. 1e-6 each. */
static void neighbours(void **state) {
    (void)state;
    enum { N = 19, LENGTH = 50, BLOCKS = 20000 };
    const struct bli_batch batch = dist("uniform(0,18)");
    struct bal_rng rng;
    bal_rng_init(&rng, 7, 0, BAL_STREAM_TEST);
    static uint64_t count[4][N * N];
    for (int block = 0; block < BLOCKS; block++) {
        uint32_t out[LENGTH];
        bli_batch_sample_many(&batch, &rng, out, LENGTH);
        for (int distance = 1; distance <= 4; distance++)
            for (int i = 0; i + distance < LENGTH; i += 2 * distance)
                count[distance - 1][out[i] * N + out[i + distance]]++;
    }
    double p[N * N];
    for (int i = 0; i < N * N; i++)
        p[i] = 1.0 / (N * N);
    for (int distance = 1; distance <= 4; distance++)
        assert_fits("neighbours", p, count[distance - 1], N * N);
}

/* Every length is filled exactly, and nothing beside it is touched. */
static void lengths(void **state) {
    (void)state;
    static const char *const texts[] = {"uniform(1,19)", "uniform(1,1000)", "table(1:0.5 2:0.5)", "9"};
    struct bal_rng rng;
    bal_rng_init(&rng, 8, 0, BAL_STREAM_TEST);
    for (size_t i = 0; i < 4; i++)
        for (size_t n = 0; n < 140; n++) {
            const struct bli_batch batch = dist(texts[i]);
            uint32_t out[150] = {0};
            bli_batch_sample_many(&batch, &rng, out, n);
            for (size_t j = 0; j < 150; j++)
                assert_true(j < n ? out[j] >= batch.low && out[j] <= batch.high : out[j] == 0);
        }
}

/* Fleets and models */

static void fleets(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
        double capacity;
    } known[] = {
        {"50x1,50xuniform(1,19)", "50x1,50xuniform(1,19)", 550},
        {"2xconstant(3),1x5", "2x3,1x5", 11},
        {"1xtable(1:0.5 2:0.25 7:0.25),3", "1xtable(1:0.5 2:0.25 7:0.25),3x1", 5.75},
        {"4xtable(2:1)", "4x2", 8},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct bli_servers servers;
        struct bal_error err = {0};
        if (bli_servers_parse(known[i].text, &servers, &err))
            fail_msg("%s", err.text);
        char text[200];
        assert_int_equal(bli_servers_print(&servers, text, sizeof text), strlen(known[i].canonical));
        assert_string_equal(text, known[i].canonical);
        assert_true(bli_servers_capacity(&servers) == known[i].capacity);
    }
    static const char *const wrong[] = {
        "50xuniform(0,19)",
        "50xpoisson(3)",
        "5xuniform(1,19",
        "5xuniform(1,19),",
        "5x(3)",
        "5xtable(0:0.5 1:0.5)",
        "5x",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bli_servers servers = {.groups = 77};
        struct bal_error err = {0};
        assert_int_not_equal(bli_servers_parse(wrong[i], &servers, &err), BAL_OK);
        assert_non_null(strstr(err.text, "servers '"));
        assert_int_equal(servers.groups, 77);
    }
}

static struct bli_model slotted(const char *servers, const char *batch, double load) {
    struct bli_model model = {.load = load, .clock = BLI_CLOCK_SLOTTED, .batch = dist(batch)};
    assert_int_equal(bli_servers_parse(servers, &model.servers, NULL), BAL_OK);
    return model;
}

static void models(void **state) {
    (void)state;
    struct bli_model model = slotted("50x1,50xuniform(1,19)", "poisson", 0.9);
    assert_int_equal(bli_model_check(&model, NULL), BAL_OK);
    assert_true(bli_model_arrival_rate(&model) == 0.9 * 550);
    struct bli_batch batch;
    assert_int_equal(bli_model_batch(&model, &batch, NULL), BAL_OK);
    assert_true(!batch.open && batch.mean == 0.9 * 550 && model.batch.open);
    bli_model_set_load(&model); /* nothing to set */
    assert_true(model.load == 0.9);

    model = slotted("50x1,50xuniform(1,19)", "500", NAN);
    bli_model_set_load(&model);
    assert_true(model.load == 500 / 550.0);
    assert_int_equal(bli_model_check(&model, NULL), BAL_OK);
}

static void wrong_models(void **state) {
    (void)state;
    struct bli_model fixed = slotted("50x1,50xuniform(1,19)", "500", 0.5);
    struct bli_model fraction = slotted("5x1.5", "poisson", 0.5);
    struct bli_model bernoulli = slotted("5x1", "bernoulli", 0.5);
    struct bli_model none = slotted("5x1", "poisson", 0.5);
    none.batch.kind = BLI_BATCH_NONE;
    struct bli_model classes = slotted("5x1", "poisson", 0.5);
    classes.classes = true;
    struct bli_model ordered = slotted("5x1", "poisson", 0.5), standing = ordered, starting = ordered;
    ordered.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    assert_int_equal(bli_dist_parse("det(2)", &standing.standby, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("det(2)", &starting.setup, NULL), BAL_OK);
    struct bli_model continuous = slotted("5xuniform(1,2)", "poisson", 0.5);
    continuous.clock = BLI_CLOCK_CONTINUOUS;
    assert_int_equal(bli_dist_parse("exp", &continuous.size, NULL), BAL_OK);
    const struct {
        const struct bli_model *model;
        const char *says;
    } known[] = {
        {&fixed, "batch 'constant(500)' makes a load of 0.909091, not 0.5"},
        {&fraction, "a server that finishes 1.5 jobs in every slot"},
        {&bernoulli, "batch 'bernoulli' cannot bring 2.5 jobs a slot; its mean is at most 1"},
        {&none, "slotted time needs a batch law, such as poisson"},
        {&classes, "need continuous time"},
        {&ordered, "discipline 'nonpreemptive' needs continuous time"},
        {&standing, "standby and set-up times need continuous time"},
        {&starting, "standby and set-up times need continuous time"},
        {&continuous, "random capacities need slotted time"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct bal_error err = {0};
        assert_int_not_equal(bli_model_check(known[i].model, &err), BAL_OK);
        if (!strstr(err.text, known[i].says))
            fail_msg("'%s' does not say '%s'", err.text, known[i].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_text), cmocka_unit_test(rounded_table), cmocka_unit_test(open_means),
        cmocka_unit_test(short_buffers),  cmocka_unit_test(errors),        cmocka_unit_test(too_many_values),
        cmocka_unit_test(draws),          cmocka_unit_test(neighbours),    cmocka_unit_test(lengths),
        cmocka_unit_test(fleets),         cmocka_unit_test(models),        cmocka_unit_test(wrong_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
