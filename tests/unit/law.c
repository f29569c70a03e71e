/* SPDX-License-Identifier: BSD-2-Clause */
/* Laws of job sizes: moments and distribution functions against values computed with 200 bits, draws
 * against the distribution functions, texts against what they should be read as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/dist.h"

#include "../goodness.h"
#include "../same_law.h"

#include <stdio.h>
#include <string.h>

static struct bli_dist law_of(const char *text) {
    struct bli_dist dist;
    struct bal_error err;
    if (bli_dist_parse(text, &dist, &err)) {
        print_error("%s\n", err.text);
        fail();
    }
    return dist;
}

static void assert_close(const char *text, double got, double want, double error) {
    if (got != want && !(fabs(got - want) <= error)) {
        print_error("%s: %.17g instead of %.17g\n", text, got, want);
        fail();
    }
}

struct point {
    double x, cdf;
};

static const struct known {
    const char *text;
    double moment[3];
    struct point points[3];
} known[] = {
    {"exp", {1, 2, 6}, {{0.5, 0.39346934028736658}, {3, 0.95021293163213606}}},
    {"exp(2.385)",
     {2.385, 11.37645, 81.39849975},
     {{1e-9, 4.1928721165214105e-10}, {3, 0.71573876873903081}}},
    {"det(2.385)", {2.385, 5.688225, 13.566416625}, {{2.384, 0}, {2.386, 1}}},
    {"erlang(3)",
     {1, 1.3333333333333333, 2.2222222222222222},
     {{0.1, 0.0035994931830894701}, {1.7, 0.88352165686582377}}},
    {"erlang(37,0.7)",
     {0.7, 0.50324324324324324, 0.37131190650109569},
     {{0.5, 0.029931940848804024}, {0.9, 0.95043914820467043}}},
    {"erlang(1000000,2)",
     {2, 4.000004, 8.000024000016},
     {{1.999, 0.30862555689081532}, {2.003, 0.93313889576410224}}},
    {"hyper(4)", {1, 5, 60}, {{0.2, 0.2700659656099575}, {5, 0.96336050727314867}}},
    {"hyper(23.85,1.5)",
     {1.5, 55.9125, 6000.8090625},
     {{0.2, 0.22525453207681922}, {30, 0.99096778266005925}}},
    {"hyper(1000000000)",
     {1, 1000000001, 3.000000003e+18},
     {{0.2, 0.32967995366545671}, {1e8, 0.99999999954758129}}},
    {"hyper(0.75,2,0.25,0.4)", {1, 3.5, 24}, {{0.2, 0.26648087887661158}, {5, 0.96613212924352496}}},
    {"hyper(0.2,0.1,0.3,1,0.5,10)",
     {2.35, 40.61, 1201.803},
     {{0.2, 0.49067339779694804}, {25, 0.98358300027105386}}},
    {"phase(0.3 0.7 0;1 2 3;0.1 0.2 0.3/0 0.5 0.5/0.9 0 0)",
     {3.7577777777777778, 25.151901234567901, 246.22952427983539},
     {{0.001, 0.00012006450380745165}, {1, 0.16919475095374592}, {20, 0.99748113435691237}}},
    {"phase(1 0;1000000000000 0.5;0 0.9/0.25 0)",
     {2.3225806451625806, 11.987513007291571, 92.806552314525831},
     {{1e-13, 0.0095162581964056771}, {1, 0.38912352917345606}, {20, 0.99961233171348139}}},
    {"phase(0 1;7 0.5;0 1/0.95 0)",
     {42.714285714285714, 3649.7959183673469, 467794.98542274052},
     {{1, 0.02334332606873158}, {60, 0.75453396936037943}}},
    {"lognormal(4)", {1, 5, 125}, {{0.1, 0.11886294569486622}, {6, 0.97965470089510948}}},
    {"lognormal(0.01,2.385)",
     {2.385, 5.74510725, 13.977492615154125},
     {{2.2, 0.2237604162281786}, {3, 0.99060638259764343}}},
    {"pareto(2.385)",
     {1, 2.0890576928312777, HUGE_VAL},
     {{0.5, 0}, {0.6, 0.074967091947910923}, {50, 0.99997573365013328}}},
    {"pareto(3.5,2)", {2.8, 9.3333333333333333, 56}, {{2.1, 0.15698082457744677}, {50, 0.9999872}}},
    {"pareto(0.9,2)",
     {HUGE_VAL, HUGE_VAL, HUGE_VAL},
     {{2.1, 0.042961011239512549}, {50, 0.94481081354155141}}},
    {"pareto(1,2)", {HUGE_VAL, HUGE_VAL, HUGE_VAL}, {{2.1, 0.047619047619047619}, {50, 0.96}}},
    {"bounded-pareto(1.1,0.5,1000)",
     {2.9287515460721719, 285.53156423942134, 135396.49189299503},
     {{0.4, 0}, {1.5, 0.70151120186874875}, {2000, 1}}},
    {"bounded-pareto(2,0.5,1000)",
     {0.99950024987506247, 3.8004521798840862, 499.75012493753123},
     {{0.4, 0}, {1.5, 0.88888911111116667}, {2000, 1}}},
    {"bounded-pareto(1,1,3)", {1.6479184330021645, 3, 6}, {{0.4, 0}, {1.5, 0.5}, {2000, 1}}},
    {"bounded-pareto(0.001,1,2)",
     {1.4426377363876156, 2.1638745852694767, 3.3659105336974311},
     {{0.4, 0}, {1.5, 0.58504664068085291}, {2000, 1}}},
    {"bounded-pareto(3,1,1.0001)",
     {1.0000499966668333, 1.0000999966666667, 1.00014999999975},
     {{0.4, 0}, {1.00003, 0.30004199929991951}, {2000, 1}}},
    {"bounded-pareto(1.5,1,1e20)",
     {2.9999999997, 29999999997, 1e30},
     {{0.4, 0}, {1.5, 0.45566894604818264}, {2000, 0.9999888196601125}}},
    {"uniform(0,2)", {1, 1.3333333333333333, 2}, {{0.5, 0.25}, {1.9, 0.95}, {3, 1}}},
    {"uniform(2.385,2.386)", {2.3855, 5.6906103333333333, 13.57495134775}, {{2.3, 0}, {2.3853, 0.3}}},
};
enum { KNOWN = sizeof known / sizeof *known };

static void moments(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++) {
        const struct bli_dist dist = law_of(known[i].text);
        assert_close(known[i].text, dist.mean, known[i].moment[0], 1e-13 * known[i].moment[0]);
        for (int k = 1; k <= 3; k++) {
            const double want = known[i].moment[k - 1];
            assert_close(known[i].text, bli_dist_moment(&dist, k), want, 3e-13 * want);
        }
    }
}

/* Laws that are written without a mean have mean 1 exactly, not nearly. */
static void unit_means(void **state) {
    (void)state;
    static const char *const texts[] = {
        "exp",           "det",      "erlang(7)", "hyper(2.385)", "lognormal(0.3)", "pareto(1.0001)",
        "pareto(2.385)", "pareto(3)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(law_of(texts[i]).mean == 1);
}

static void distribution_functions(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++) {
        const struct bli_dist dist = law_of(known[i].text);
        for (size_t j = 0; j < 3; j++) {
            const struct point *point = &known[i].points[j];
            assert_close(known[i].text, bli_dist_cdf(&dist, point->x), point->cdf, 1e-12);
        }
    }
}

static void distribution_functions_are_monotone(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++) {
        const struct bli_dist dist = law_of(known[i].text);
        assert_true(bli_dist_cdf(&dist, -1) == 0);
        assert_true(bli_dist_cdf(&dist, 0) == 0);
        assert_true(bli_dist_cdf(&dist, HUGE_VAL) == 1);
        double before = 0;
        for (double x = 1e-300; x<1e300; x *= x> 1e-12 && x < 1e12 ? 1.37 : 1e10) {
            const double next = bli_dist_cdf(&dist, x);
            if (!(next >= before - 1e-13 && next <= 1)) {
                print_error("%s: at %g it falls from %.17g to %.17g\n", known[i].text, x, before, next);
                fail();
            }
            before = next;
        }
        assert_close(known[i].text, before, 1, 1e-12);
    }
}

/* Small probabilities keep their digits: S <= x means two (three) jumps within x. */
static void phase_law_near_zero(void **state) {
    (void)state;
    const struct bli_dist two = law_of("phase(1 0;2 2;0 1/0 0)");
    assert_close("two phases", bli_dist_cdf(&two, 1e-8), 2e-16, 1e-23);
    const struct bli_dist three = law_of("phase(1 0 0;3 3 3;0 1 0/0 0 1/0 0 0)");
    assert_close("three phases", bli_dist_cdf(&three, 1e-8), 4.5e-24, 1e-30);
}

/* One law in several forms. */
static void forms_agree(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"erlang(3,1.5)", "phase(1 0 0;2 2 2;0 1 0/0 0 1/0 0 0)"},
        {"hyper(0.75,2,0.25,0.4)", "phase(0.75 0.25;2 0.4;0 0/0 0)"},
        {"exp(4)", "phase(1;0.5;0.5)"},
        {"exp(4)", "phase(0.2 0.8;0.5 1;0.25 0.25/0 0.75)"},
        {"hyper(0.75,2,0.25,0.4)", "hyper(75%,2, 25% ,0.4)"},
        {"exp(0.5)", "hyper(0.25,2,0.75,2)"},
        {"erlang(1,3)", "exp(3)"},
        {"hyper(1)", "exp"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct bli_dist one = law_of(pairs[i][0]);
        const struct bli_dist other = law_of(pairs[i][1]);
        for (int k = 1; k <= 3; k++) {
            const double want = bli_dist_moment(&one, k);
            assert_close(pairs[i][1], bli_dist_moment(&other, k), want, 1e-13 * want);
        }
        for (double x = 1e-6; x < 1e3; x *= 1.7)
            assert_close(pairs[i][1], bli_dist_cdf(&other, x), bli_dist_cdf(&one, x), 1e-12);
    }
}

static void exponential_in_disguise(void **state) {
    (void)state;
    static const char *const yes[] = {
        "exp",
        "exp(2.385)",
        "erlang(1,7)",
        "hyper(1)",
        "hyper(1,2.385)",
        "hyper(0.3,5,0.7,5)",
        "hyper(1,5,0,3)",
        "phase(1;3;0)",
        "phase(1;3;0.7)",
        "phase(0.2 0.8;0.5 1;0.25 0.25/0 0.75)",
    };
    static const char *const no[] = {
        "det",          "erlang(2)",    "hyper(1.001)",           "hyper(0.3,5,0.7,5.001)",
        "pareto(3)",    "lognormal(1)", "phase(1 0;2 2;0 1/0 0)", "bounded-pareto(1,1,2)",
        "uniform(0,1)",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        const struct bli_dist dist = law_of(yes[i]);
        assert_true(bli_dist_is_exponential(&dist));
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        const struct bli_dist dist = law_of(no[i]);
        assert_false(bli_dist_is_exponential(&dist));
    }
}

/* Draws */

static double draw(const void *dist, struct bal_rng *rng) {
    return bli_dist_sample(dist, rng);
}

static double cdf(const void *dist, double x) {
    return bli_dist_cdf(dist, x);
}

/* Two assertions for each law, so the false-alarm probability of all is below 1e-4. */
static void draws_follow_the_law(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++) {
        struct bli_dist dist = law_of(known[i].text);
        if (dist.kind == BLI_DIST_DET)
            continue;
        assert_law(known[i].text, draw, cdf, &dist, i, 300000);
        bli_dist_scale(&dist, 0.2385);
        assert_law(known[i].text, draw, cdf, &dist, 100 + i, 50000);
    }
}

/* The mean and the mean square, where the tail is light enough for the normal law to describe the error of
 * a mean of 300 000 draws; about 1e-6 each. */
static void draws_have_the_moments(void **state) {
    (void)state;
    enum { DRAWS = 300000 };
    size_t tried = 0;
    for (size_t i = 0; i < KNOWN; i++) {
        const struct bli_dist dist = law_of(known[i].text);
        const double m1 = bli_dist_moment(&dist, 1), m2 = bli_dist_moment(&dist, 2),
                     m3 = bli_dist_moment(&dist, 3);
        if (!(m3 < 100 * m1 * m1 * m1))
            continue;
        struct bal_rng rng;
        bal_rng_init(&rng, i, 3, BAL_STREAM_TEST);
        double sum = 0, square = 0, spread = 0; /* spread: of the squares around m2 */
        for (int j = 0; j < DRAWS; j++) {
            const double x = bli_dist_sample(&dist, &rng);
            sum += x;
            square += x * x;
            spread += (x * x - m2) * (x * x - m2);
        }
        const double rounding = 1e-9;
        const double error = sqrt(fmax(0, m2 - m1 * m1) / DRAWS);
        assert_close(known[i].text, sum / DRAWS, m1, NORMAL_LIMIT * error + rounding * m1);
        const double square_error = sqrt(spread / DRAWS / DRAWS);
        assert_close(known[i].text, square / DRAWS, m2, NORMAL_LIMIT * square_error + rounding * m2);
        tried++;
    }
    assert_true(tried >= 15);
}

static void draws_stay_in_bounds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double low, high;
    } bounds[] = {
        {"det(2.385)", 2.385, 2.385},          {"uniform(1,3)", 1, 3},
        {"bounded-pareto(0.5,2,3)", 2, 3},     {"bounded-pareto(20,2,3)", 2, 3},
        {"bounded-pareto(1000000,2,3)", 2, 3}, {"bounded-pareto(0.000001,2,3)", 2, 3},
        {"pareto(0.1,5)", 5, 1.7e308},         {"exp(0.000001)", 0, 1},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct bli_dist dist = law_of(bounds[i].text);
        struct bal_rng rng;
        bal_rng_init(&rng, i, 4, BAL_STREAM_TEST);
        for (int j = 0; j < 100000; j++) {
            const double x = bli_dist_sample(&dist, &rng);
            assert_true(x >= bounds[i].low && x <= bounds[i].high);
        }
    }
}

/* Texts */

static void assert_round_trip(const struct bli_dist *dist) {
    char text[BLI_DIST_TEXT], again[BLI_DIST_TEXT];
    const size_t length = bli_dist_print(dist, text, sizeof text);
    assert_true(length == strlen(text));
    const struct bli_dist back = law_of(text);
    if (!same_law(&back, dist)) {
        print_error("'%s' is read as another law\n", text);
        fail();
    }
    bli_dist_print(&back, again, sizeof again);
    assert_string_equal(text, again);
}

static void known_laws_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN; i++) {
        struct bli_dist dist = law_of(known[i].text);
        assert_round_trip(&dist);
        bli_dist_scale(&dist, 1 / 3.0);
        assert_round_trip(&dist);
    }
}

static void canonical_texts(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"exp", "exp"},
        {"exp(1)", "exp"},
        {" exp ( 1.0e0 ) ", "exp"},
        {"exp(2.50)", "exp(2.5)"},
        {"det(+3)", "det(3)"},
        {"erlang(4.0,1)", "erlang(4)"},
        {"erlang(4,2)", "erlang(4,2)"},
        {"hyper(4,1)", "hyper(4)"},
        {"hyper(4,.5)", "hyper(4,0.5)"},
        {"hyper(.75, 2, .25, .4)", "hyper(0.75,2,0.25,0.4)"},
        {"lognormal(4,1)", "lognormal(4)"},
        {"pareto(2)", "pareto(2)"},
        {"pareto(2,0.5)", "pareto(2)"},
        {"pareto(2,1)", "pareto(2,1)"},
        {"bounded-pareto(1.1,1e-3,1e3)", "bounded-pareto(1.1,0.001,1000)"},
        {"uniform(-0,2)", "uniform(0,2)"},
        {"phase( 1  0 ; 2\t2 ; 0 1 / 0 0 )", "phase(1 0;2 2;0 1/0 0)"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct bli_dist dist = law_of(pairs[i][0]);
        char text[BLI_DIST_TEXT];
        bli_dist_print(&dist, text, sizeof text);
        assert_string_equal(text, pairs[i][1]);
    }
}

/* Probabilities that a user has rounded are made to sum to 1, once. */
static void rounded_probabilities(void **state) {
    (void)state;
    const struct bli_dist hyper = law_of("hyper(0.3333333,1,0.3333333,2,0.3333333,3)");
    for (int i = 0; i < 3; i++)
        assert_close("a third", hyper.start[i], 1 / 3.0, 1e-15);
    assert_round_trip(&hyper);
    const struct bli_dist phase = law_of("phase(0.6666667 0.3333333;1 1;0.6666667 0.3333334/0.1 0.1)");
    assert_close("row", phase.jump[0][0] + phase.jump[0][1], 1, 1e-15);
    assert_close("row", phase.jump[1][0] + phase.jump[1][1], 0.2, 1e-15);
    assert_round_trip(&phase);
}

static void short_buffers(void **state) {
    (void)state;
    const struct bli_dist dist = law_of("bounded-pareto(1.1,0.5,1000)");
    const char *const whole = "bounded-pareto(1.1,0.5,1000)";
    assert_true(bli_dist_print(&dist, NULL, 0) == strlen(whole));
    for (size_t size = 1; size < strlen(whole) + 3; size++) {
        char text[64];
        memset(text, 'x', sizeof text);
        assert_true(bli_dist_print(&dist, text, size) == strlen(whole));
        const size_t kept = size - 1 < strlen(whole) ? size - 1 : strlen(whole);
        assert_memory_equal(text, whole, kept);
        assert_true(text[kept] == '\0');
        assert_true(text[size] == 'x');
    }
}

/* A random phase law whose numbers need all 17 digits. */
static size_t write_list(char *text, size_t room, struct bal_rng *rng, unsigned n, double sum) {
    double x[BLI_DIST_PHASES], total = 0;
    for (unsigned i = 0; i < n; i++)
        total += x[i] = bal_rng_open(rng);
    size_t length = 0;
    for (unsigned i = 0; i < n; i++)
        length += (size_t)snprintf(text + length, room - length, "%s%.17g", i ? " " : "", x[i] * sum / total);
    return length;
}

static void phase_text(char *text, size_t room, struct bal_rng *rng, unsigned n) {
    size_t length = (size_t)snprintf(text, room, "phase(");
    length += write_list(text + length, room - length, rng, n, 1);
    length += (size_t)snprintf(text + length, room - length, ";");
    length += write_list(text + length, room - length, rng, n, exp(20 * bal_rng_normal(rng)));
    for (unsigned i = 0; i < n; i++) {
        length += (size_t)snprintf(text + length, room - length, i ? "/" : ";");
        length += write_list(text + length, room - length, rng, n, 0.99 * bal_rng_open(rng));
    }
    snprintf(text + length, room - length, ")");
}

static void random_laws_round_trip(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 5, BAL_STREAM_TEST);
    for (int i = 0; i < 100; i++) {
        static const char *const forms[] = {
            "exp(%.17g)",      "det(%.17g)",          "hyper(%.17g,%.17g)",
            "pareto(%.17g)",   "erlang(17,%.17g)",    "lognormal(%.17g,%.17g)",
            "pareto(3,%.17g)", "uniform(%.17g,5e29)", "bounded-pareto(%.17g,%.17g,5e29)"};
        char text[BLI_DIST_TEXT];
        for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
            const double x = 1 + exp(4 * bal_rng_normal(&rng)), y = exp(8 * bal_rng_normal(&rng));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text, sizeof text, forms[form], x, y);
#pragma GCC diagnostic pop
            struct bli_dist dist = law_of(text);
            assert_round_trip(&dist);
            bli_dist_scale(&dist, bal_rng_open(&rng));
            assert_round_trip(&dist);
        }
        phase_text(text, sizeof text, &rng, 1 + bal_rng_below(&rng, BLI_DIST_PHASES));
        struct bli_dist dist = law_of(text);
        assert_round_trip(&dist);
        bli_dist_scale(&dist, bal_rng_open(&rng));
        assert_round_trip(&dist);
    }
}

static void scaled_laws(void **state) {
    (void)state;
    const double factor = 2.385;
    for (size_t i = 0; i < KNOWN; i++) {
        const struct bli_dist dist = law_of(known[i].text);
        struct bli_dist scaled = dist;
        bli_dist_scale(&scaled, factor);
        for (int k = 1; k <= 3; k++) {
            const double want = pow(factor, k) * bli_dist_moment(&dist, k);
            assert_close(known[i].text, bli_dist_moment(&scaled, k), want, 1e-12 * want);
        }
        assert_close(known[i].text, scaled.mean, factor * dist.mean, 1e-13 * factor * dist.mean);
        struct bal_rng rng, twin;
        bal_rng_init(&rng, i, 6, BAL_STREAM_TEST);
        twin = rng;
        for (int j = 0; j < 1000; j++) {
            const double x = bli_dist_sample(&dist, &rng);
            assert_close(known[i].text, bli_dist_sample(&scaled, &twin), factor * x, 1e-12 * factor * x);
            assert_close(known[i].text, bli_dist_cdf(&scaled, factor * x * 1.01),
                         bli_dist_cdf(&dist, x * 1.01), 1e-10);
        }
    }
}

static void table_is_complete(void **state) {
    (void)state;
    assert_true(bli_dist_count == BLI_DIST_UNIFORM + 1);
    for (size_t i = 0; i < bli_dist_count; i++) {
        const struct bli_dist_info *info = &bli_dist_table[i];
        assert_non_null(info->name);
        assert_true(strncmp(info->usage, info->name, strlen(info->name)) == 0);
        assert_true(strlen(info->summary) > 0);
    }
    for (size_t i = 0; i < KNOWN; i++) {
        const struct bli_dist dist = law_of(known[i].text);
        const char *name = bli_dist_table[dist.kind].name;
        assert_true(strncmp(known[i].text, name, strlen(name)) == 0);
    }
}

/* Every refusal names the text and says what would be right. */
static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum bal_code code;
        const char *message;
    } cases[] = {
        {"", BAL_E_UNKNOWN, "law '': no such law; there are exp, det, "},
        {"exponential", BAL_E_UNKNOWN, "law 'exponential': no such law; there are exp, det, "},
        {"Exp", BAL_E_UNKNOWN, "law 'Exp': no such law"},
        {"(1)", BAL_E_UNKNOWN, "no such law"},
        {"ex\np", BAL_E_UNKNOWN, "law 'ex p': no such law"},
        {"exp(", BAL_E_SYNTAX, "law 'exp(': a number expected at the end; write exp or exp(M)"},
        {"exp()", BAL_E_SYNTAX, "a number expected at ')'; write exp or exp(M)"},
        {"exp(1", BAL_E_SYNTAX, "',' or ')' expected at the end"},
        {"exp(1;2)", BAL_E_SYNTAX, "',' or ')' expected at ';2)'"},
        {"exp(1)x", BAL_E_SYNTAX, "the end expected at 'x'"},
        {"exp 1", BAL_E_SYNTAX, "the end expected at '1'"},
        {"exp(1,2)", BAL_E_SYNTAX, "wrong number of parameters; write exp or exp(M)"},
        {"exp(nan)", BAL_E_SYNTAX, "a number expected at 'nan)'"},
        {"exp(inf)", BAL_E_SYNTAX, "a number expected at 'inf)'"},
        {"exp(-inf)", BAL_E_SYNTAX, "a number expected at '-inf)'"},
        {"exp(0x10)", BAL_E_SYNTAX, "expected at 'x10)'"},
        {"exp(1e999)", BAL_E_RANGE, "the number at '1e999)' is too large"},
        {"exp(-1e999)", BAL_E_RANGE, "the number at '-1e999)' is too large"},
        {"exp(0)", BAL_E_RANGE, "M = 0 is out of range; it must lie between 1e-30 and 1e+30"},
        {"exp(-2)", BAL_E_RANGE, "M = -2 is out of range"},
        {"exp(1e31)", BAL_E_RANGE, "M = 1e+31 is out of range"},
        {"det(1e-31)", BAL_E_RANGE, "M = 1e-31 is out of range"},
        {"erlang", BAL_E_SYNTAX, "write erlang(K) or erlang(K,M)"},
        {"erlang(0)", BAL_E_RANGE, "K = 0 must be a whole number from 1 to 1000000"},
        {"erlang(2.5)", BAL_E_RANGE, "K = 2.5 must be a whole number from 1 to 1000000"},
        {"erlang(1e7)", BAL_E_RANGE, "K = 1e+07 must be a whole number from 1 to 1000000"},
        {"erlang(2,0)", BAL_E_RANGE, "M = 0 is out of range"},
        {"hyper", BAL_E_SYNTAX, "write hyper(C2), hyper(C2,M) or hyper(P1,R1,P2,R2,...)"},
        {"hyper(0.5)", BAL_E_RANGE, "C2 = 0.5 is out of range; it must lie between 1 and 1e+09"},
        {"hyper(1,2,3)", BAL_E_SYNTAX, "wrong number of parameters"},
        {"hyper(0.5,1,0.4,2)", BAL_E_RANGE, "the probabilities sum to 0.9; they must sum to 1"},
        {"hyper(1.5,1,-0.5,2)", BAL_E_RANGE, "P1 = 1.5 is out of range; it must lie between 0 and 1"},
        {"hyper(0.5,1,0.5,0)", BAL_E_RANGE, "R2 = 0 is out of range"},
        {"hyper(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", BAL_E_RANGE,
         "more than 32 numbers"},
        {"phase", BAL_E_SYNTAX, "'(' expected at the end; write phase(START;RATES;JUMPS)"},
        {"phase(1,0;1 1;0 0/0 0)", BAL_E_SYNTAX, "a space, ';', '/' or ')' expected at ',0;1 1;"},
        {"phase(.5.5;1 1;0 0/0 0)", BAL_E_SYNTAX, "a space, ';', '/' or ')' expected at '.5;1"},
        {"phase(1 0/1 1/0 0/0 0)", BAL_E_SYNTAX, "';' expected at '/1 1/0 0/0 0)'"},
        {"phase(0.5 0.4;1 1;0 0/0 0)", BAL_E_RANGE, "the probabilities sum to 0.9; they must sum to 1"},
        {"phase(1 0;1;0 0/0 0)", BAL_E_SYNTAX, "number of rates is 1; it must be 2, one for each phase"},
        {"phase(1 0;1 -1;0 0/0 0)", BAL_E_RANGE, "R2 = -1 is out of range"},
        {"phase(1 0;1 1;0 0)", BAL_E_SYNTAX, "'/' and another row expected at ')'"},
        {"phase(1 0;1 1;0 0/0)", BAL_E_SYNTAX, "row 2 of the jumps has 1 numbers; it must have 2"},
        {"phase(1 0;1 1;0 0/0 2)", BAL_E_RANGE, "row 2 of the jumps has 2; it must be a probability"},
        {"phase(1 0;1 1;0.6 0.6/0 0)", BAL_E_RANGE,
         "row 1 of the jumps sums to 1.2; it must sum to at most 1"},
        {"phase(1 0;1 1;0 0/0 0/0 0)", BAL_E_SYNTAX, "')' expected at '/0 0)'"},
        {"phase(1;1;1)", BAL_E_RANGE, "from phase 1 a job never ends"},
        {"phase(1 0 0;1 1 1;0 0.5 0/0 0 1/0 1 0)", BAL_E_RANGE, "from phase 2 a job never ends"},
        {"phase(1;1;0.99999)", BAL_E_RANGE,
         "from phase 1 a job passes 100000 phases on average; at most 10000"},
        {"phase(1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0;", BAL_E_RANGE, "there are more than 16 phases"},
        {"lognormal", BAL_E_SYNTAX, "write lognormal(C2) or lognormal(C2,M)"},
        {"lognormal(0)", BAL_E_RANGE, "C2 = 0 is out of range; it must lie between 1e-12 and 1e+09"},
        {"pareto", BAL_E_SYNTAX, "write pareto(A) or pareto(A,XM)"},
        {"pareto(0.5)", BAL_E_RANGE,
         "law 'pareto(0.5)': with A = 0.5 the mean is infinite; A must be above 1"},
        {"pareto(1)", BAL_E_RANGE, "with A = 1 the mean is infinite; A must be above 1"},
        {"pareto(0,1)", BAL_E_RANGE, "A = 0 is out of range; it must lie between 0.1 and 1e+06"},
        {"pareto(2,0)", BAL_E_RANGE, "XM = 0 is out of range"},
        {"bounded-pareto(1,2)", BAL_E_SYNTAX, "write bounded-pareto(A,L,H)"},
        {"bounded-pareto(0,1,2)", BAL_E_RANGE, "A = 0 is out of range"},
        {"bounded-pareto(1,0,2)", BAL_E_RANGE, "L = 0 is out of range"},
        {"bounded-pareto(1,3,2)", BAL_E_RANGE, "L = 3 must be below H = 2"},
        {"uniform(1)", BAL_E_SYNTAX, "write uniform(A,B)"},
        {"uniform(-1,2)", BAL_E_RANGE, "A = -1 is out of range; it must lie between 0 and 1e+30"},
        {"uniform(2,2)", BAL_E_RANGE, "A = 2 must be below B = 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_dist dist = law_of("exp(7)");
        const struct bli_dist before = dist;
        struct bal_error err = {0};
        const enum bal_code code = bli_dist_parse(cases[i].text, &dist, &err);
        if (code != cases[i].code || err.code != code || !strstr(err.text, cases[i].message)) {
            print_error("'%s': code %d, '%s' instead of '%s'\n", cases[i].text, (int)code, err.text,
                        cases[i].message);
            fail();
        }
        assert_true(strncmp(err.text, "law '", 5) == 0);
        assert_true(same_law(&dist, &before));
        assert_true(bli_dist_parse(cases[i].text, &dist, NULL) == code);
    }
}

static void long_nonsense_is_cut(void **state) {
    (void)state;
    static char text[100000];
    memset(text, 'z', sizeof text - 1);
    struct bli_dist dist;
    struct bal_error err;
    assert_true(bli_dist_parse(text, &dist, &err) == BAL_E_UNKNOWN);
    assert_non_null(strstr(err.text, "zzz...': no such law; there are exp"));
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = i < 4 ? "exp("[i] : i % 2 ? ',' : '1';
    assert_true(bli_dist_parse(text, &dist, &err) == BAL_E_RANGE);
    assert_non_null(strstr(err.text, "more than 32 numbers"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments),
        cmocka_unit_test(unit_means),
        cmocka_unit_test(distribution_functions),
        cmocka_unit_test(distribution_functions_are_monotone),
        cmocka_unit_test(phase_law_near_zero),
        cmocka_unit_test(forms_agree),
        cmocka_unit_test(exponential_in_disguise),
        cmocka_unit_test(draws_follow_the_law),
        cmocka_unit_test(draws_have_the_moments),
        cmocka_unit_test(draws_stay_in_bounds),
        cmocka_unit_test(known_laws_round_trip),
        cmocka_unit_test(canonical_texts),
        cmocka_unit_test(rounded_probabilities),
        cmocka_unit_test(short_buffers),
        cmocka_unit_test(random_laws_round_trip),
        cmocka_unit_test(scaled_laws),
        cmocka_unit_test(table_is_complete),
        cmocka_unit_test(refusals),
        cmocka_unit_test(long_nonsense_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
