/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams are what random.h says, and every variate follows its law. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "base/special.h"
#include "base/ziggurat.h"

#include "../goodness.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

static struct bal_rng stream(uint64_t seed) {
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    return rng;
}

static char *name_of(const char *what, double parameter) {
    static char name[64];
    snprintf(name, sizeof name, "%s(%g)", what, parameter);
    return name;
}

/* Streams */

/* The first numbers of xoshiro256++ from the state 1, 2, 3, 4, as its authors' code gives them. */
static void generator(void **state) {
    (void)state;
    struct bal_rng rng = {.s = {1, 2, 3, 4}};
    static const uint64_t want[] = {41943041, 58720359, 3588806011781223, 3591011842654386,
                                    9228616714210784205u};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_true(bal_rng_next(&rng) == want[i]);
}

/* These numbers are part of every published result. They were computed by another program. */
static void reference_output(void **state) {
    (void)state;
    static const struct {
        uint64_t seed, replication, purpose, want[4];
    } known[] = {
        {1, 0, 1, {0xdd6751ef82dafe12, 0x96715ced3c5219ab, 0xf3fcd8c3692a45ec, 0xde2d47f6400a29ed}},
        {2385, 7, 2, {0x75c396d4db90b7a4, 0x12a2e34dbf119882, 0x92d161023a043cf9, 0xd62954642bdc06ca}},
        {UINT64_MAX,
         UINT64_MAX,
         UINT64_MAX,
         {0xe0807cc598e6c637, 0x8a42943846db34b4, 0x8083e1e319a92c2d, 0x09b82f658b3a8026}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct bal_rng rng;
        bal_rng_init(&rng, known[i].seed, known[i].replication, known[i].purpose);
        for (size_t j = 0; j < 4; j++)
            assert_true(bal_rng_next(&rng) == known[i].want[j]);
    }
}

/* Variates that need no function of the C library are the same everywhere to the last bit. */
static void reference_variates(void **state) {
    (void)state;
    struct bal_rng rng = stream(1);
    static const double exponential[] = {0x1.0bf0eda33a81dp+0, 0x1.364357dd99ec2p-8, 0x1.14b45009f0029p-1,
                                         0x1.aa86ab58877ebp-3};
    static const double normal[] = {-0x1.48c49ea772e9cp+0, 0x1.264883aa047b7p-2, -0x1.3d2efb726be1ap+0,
                                    0x1.552625f6c87a1p+0};
    for (size_t i = 0; i < 4; i++)
        assert_true(bal_rng_exp(&rng) == exponential[i]);
    for (size_t i = 0; i < 4; i++)
        assert_true(bal_rng_normal(&rng) == normal[i]);
}

static int compare_words(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* 20 x 20 x 10 streams, among them all that swap two of the three numbers, begin differently; and the same
 * three numbers give the same stream. (4000 words of 64 bits coincide somewhere with probability 4e-13.) */
static void streams_differ(void **state) {
    (void)state;
    enum { SEEDS = 20, REPLICATIONS = 20, PURPOSES = 10, ALL = SEEDS * REPLICATIONS * PURPOSES };
    static uint64_t first[ALL];
    size_t count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (uint64_t replication = 0; replication < REPLICATIONS; replication++) {
            for (uint64_t purpose = 0; purpose < PURPOSES; purpose++) {
                struct bal_rng rng, again;
                bal_rng_init(&rng, seed, replication, purpose);
                bal_rng_init(&again, seed, replication, purpose);
                assert_memory_equal(&rng, &again, sizeof rng);
                first[count++] = bal_rng_next(&rng);
            }
        }
    }
    qsort(first, ALL, sizeof *first, compare_words);
    for (size_t i = 1; i < ALL; i++)
        assert_true(first[i - 1] != first[i]);
}

/* The first words of neighbouring streams, high and low bytes together, are uniform on 256 x 256 cells:
 * neither biased nor dependent. Three times, for each of the three numbers. */
static void streams_are_independent(void **state) {
    (void)state;
    enum { CELLS = 256, STREAMS = 200000 };
    static double p[CELLS * CELLS];
    static uint64_t count[CELLS * CELLS];
    for (size_t i = 0; i < CELLS * CELLS; i++)
        p[i] = 1.0 / (CELLS * CELLS);
    for (int which = 0; which < 3; which++) {
        memset(count, 0, sizeof count);
        uint64_t before = 0;
        for (uint64_t i = 0; i < STREAMS; i++) {
            struct bal_rng rng;
            bal_rng_init(&rng, which == 0 ? i : 1, which == 1 ? i : 1, which == 2 ? i : 1);
            const uint64_t word = bal_rng_next(&rng);
            count[(word >> 56) * CELLS + (before & (CELLS - 1))]++;
            before = word;
        }
        assert_fits(name_of("neighbouring streams", which), p, count, CELLS * CELLS);
    }
}

/* Uniform variates */

static double draw_uniform(const void *context, struct bal_rng *rng) {
    (void)context;
    return bal_rng_uniform(rng);
}

static double draw_open(const void *context, struct bal_rng *rng) {
    (void)context;
    return bal_rng_open(rng);
}

static double uniform_cdf(const void *context, double x) {
    (void)context;
    return fmin(1, fmax(0, x));
}

static void uniform(void **state) {
    (void)state;
    assert_law("uniform", draw_uniform, uniform_cdf, NULL, 1, 1000000);
    assert_law("open", draw_open, uniform_cdf, NULL, 2, 1000000);
    struct bal_rng rng = stream(3);
    for (int i = 0; i < 1000000; i++) {
        const double u = bal_rng_uniform(&rng);
        assert_true(u >= 0 && u < 1);
        const double v = bal_rng_open(&rng);
        assert_true(v > 0 && v < 1);
    }
}

/* Intervals of nearly equal length, and residues: the naive product without Lemire's rejection makes some
 * residues twice as likely as others when n is not far below 2^32. */
static void below_is_uniform(uint32_t n, uint32_t intervals, uint32_t residues) {
    enum { DRAWS = 400000, CELLS = 1000 };
    double p[CELLS], q[CELLS];
    uint64_t count[CELLS] = {0}, residue[CELLS] = {0};
    assert_true(intervals <= CELLS && residues <= CELLS);
    for (uint64_t i = 0; i < intervals; i++) {
        const uint64_t from = (i * n + intervals - 1) / intervals; /* the first x with x intervals / n >= i */
        const uint64_t to = ((i + 1) * n + intervals - 1) / intervals;
        p[i] = (double)(to - from) / n;
    }
    for (uint32_t i = 0; i < residues; i++) {
        const uint32_t members = n / residues + (i < n % residues);
        q[i] = (double)members / n;
    }
    struct bal_rng rng = stream(n);
    for (int i = 0; i < DRAWS; i++) {
        const uint32_t x = bal_rng_below(&rng, n);
        assert_true(x < n);
        count[(uint64_t)x * intervals / n]++;
        residue[x % residues]++;
    }
    assert_fits(name_of("below", n), p, count, intervals);
    assert_fits(name_of("below, residues", n), q, residue, residues);
}

static void below(void **state) {
    (void)state;
    below_is_uniform(1, 1, 1);
    below_is_uniform(2, 2, 2);
    below_is_uniform(3, 3, 2);
    below_is_uniform(7, 7, 3);
    below_is_uniform(1000, 1000, 7);
    below_is_uniform(65537, 100, 3);
    below_is_uniform(0x55555556, 100, 3);
    below_is_uniform(0x80000001, 100, 2);
    below_is_uniform(0xc0000000, 96, 3);
    below_is_uniform(0xffffffff, 100, 5);
}

/* Ziggurats */

struct ziggurat {
    const char *name;
    const double *width;
    const uint64_t *inside;
    const double *height;
    long double (*density)(long double);
    long double (*inverse)(long double);
    long double (*tail)(long double); /* its integral from x on */
    long double low, high;            /* r lies between */
};

static long double exp_density(long double x) {
    return expl(-x);
}

static long double exp_inverse(long double y) {
    return -logl(y);
}

static long double normal_density(long double x) {
    return expl(-x * x / 2);
}

static long double normal_inverse(long double y) {
    return sqrtl(-2 * logl(y));
}

static long double normal_tail(long double x) {
    return sqrtl(asinl(1)) * erfcl(x / sqrtl(2)); /* sqrt(pi/2) erfc(x / sqrt 2) */
}

static const struct ziggurat ziggurats[] = {
    {"exponential", bal_exp_width, bal_exp_inside, bli_exp_height, exp_density, exp_inverse, exp_density, 7,
     8},
    {"normal", bli_normal_width, bli_normal_inside, bli_normal_height, normal_density, normal_inverse,
     normal_tail, 3, 4},
};

/* The edges x_0 .. x_255 that begin with r, and where the last strip ends: 1 if r is right. */
static long double stack_strips(const struct ziggurat *z, long double r, long double x[257]) {
    long double height = z->density(r);
    const long double area = r * height + z->tail(r);
    x[0] = area / height;
    x[1] = r;
    for (int i = 1; i < 256; i++) {
        height += area / x[i];
        if (height > 1 && i < 255)
            return height;
        x[i + 1] = i < 255 ? z->inverse(height) : 0;
    }
    return height;
}

static void assert_near(long double got, long double want, long double error, const char *name, int i) {
    if (!(fabsl(got - want) <= error)) {
        print_error("%s strip %d: %.20Lg instead of %.20Lg\n", name, i, got, want);
        fail();
    }
}

/* The tolerance allows for a long double that is no longer than a double (valgrind, some machines). */
static void check_tables(const struct ziggurat *z) {
    const long double tolerance = 1e-12L;
    long double low = z->low, high = z->high;
    long double x[257];
    for (int i = 0; i < 80; i++) {
        const long double middle = (low + high) / 2;
        if (stack_strips(z, middle, x) > 1)
            low = middle;
        else
            high = middle;
    }
    assert_near(stack_strips(z, high, x), 1, tolerance, z->name, 255);
    for (int i = 0; i < 256; i++) {
        assert_near((long double)z->width[i], x[i] * 0x1p-53L, tolerance * 0x1p-53L * x[i], z->name, i);
        assert_near(z->inside[i], floorl(x[i + 1] / x[i] * 0x1p53L), tolerance * 0x1p53L, z->name, i);
        assert_near((long double)z->height[i + 1], z->density(x[i + 1]), tolerance, z->name, i + 1);
        assert_true(z->inside[i] < UINT64_C(1) << 53);
    }
    assert_true(z->height[0] == 0 && z->height[256] == 1 && z->inside[255] == 0);
}

static void tables(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ziggurats / sizeof *ziggurats; i++)
        check_tables(&ziggurats[i]);
}

/* Cells cut where the strips end, because there a faulty ziggurat shows, and at some places in the tail.
 * Returns the number of bounds. */
static size_t strip_bounds(const double width[256], double tail_step, double bound[300]) {
    size_t n = 0;
    for (int i = 255; i > 0; i--)
        bound[n++] = width[i] * 0x1p53;
    for (int i = 1; i <= 8; i++)
        bound[n++] = width[1] * 0x1p53 + i * tail_step;
    return n;
}

static void exponential(void **state) {
    (void)state;
    enum { DRAWS = 4000000 };
    double bound[300], p[300];
    uint64_t count[300] = {0};
    const size_t bounds = strip_bounds(bal_exp_width, 0.4, bound);
    double above = 1;
    for (size_t i = 0; i < bounds; i++) {
        p[i] = above - exp(-bound[i]);
        above = exp(-bound[i]);
    }
    p[bounds] = above;
    struct bal_rng rng = stream(4);
    double sum = 0, square = 0;
    for (int i = 0; i < DRAWS; i++) {
        const double x = bal_rng_exp(&rng);
        assert_true(x >= 0);
        count[cell_of(x, bound, bounds)]++;
        sum += x;
        square += x * x;
    }
    assert_fits("exponential", p, count, bounds + 1);
    /* Var X = 1, Var X^2 = 20 */
    assert_true(fabs(sum / DRAWS - 1) < NORMAL_LIMIT * sqrt(1.0 / DRAWS));
    assert_true(fabs(square / DRAWS - 2) < NORMAL_LIMIT * sqrt(20.0 / DRAWS));
}

static double normal_cdf(double x) {
    return 0.5 * erfc(-x / sqrt(2));
}

static void normal(void **state) {
    (void)state;
    enum { DRAWS = 4000000, HALF = 300 };
    double half[HALF], bound[2 * HALF + 1], p[2 * HALF + 2];
    uint64_t count[2 * HALF + 2] = {0};
    const size_t n = strip_bounds(bli_normal_width, 0.1, half);
    size_t bounds = 0;
    for (size_t i = n; i-- > 0;)
        bound[bounds++] = -half[i];
    bound[bounds++] = 0;
    for (size_t i = 0; i < n; i++)
        bound[bounds++] = half[i];
    double below = 0;
    for (size_t i = 0; i < bounds; i++) {
        p[i] = normal_cdf(bound[i]) - below;
        below = normal_cdf(bound[i]);
    }
    p[bounds] = 1 - below;
    struct bal_rng rng = stream(5);
    double power[5] = {0};
    for (int i = 0; i < DRAWS; i++) {
        const double x = bal_rng_normal(&rng);
        count[cell_of(x, bound, bounds)]++;
        double term = 1;
        for (int k = 1; k <= 4; k++)
            power[k] += term *= x;
    }
    assert_fits("normal", p, count, bounds + 1);
    /* E[X^k] and Var X^k = E[X^2k] - E[X^k]^2 with E[X^2], E[X^4], ... = 1, 3, 15, 105 */
    static const double mean[5] = {1, 0, 1, 0, 3}, variance[5] = {0, 1, 2, 15, 96};
    for (int k = 1; k <= 4; k++)
        assert_true(fabs(power[k] / DRAWS - mean[k]) < NORMAL_LIMIT * sqrt(variance[k] / DRAWS));
}

/* Beyond r both ziggurats draw in ways of their own. The exponential one may come there more than once:
 * beyond 2r with probability 4.5e-4, so a million draws are needed. */
static void exponential_tail(void **state) {
    (void)state;
    enum { DRAWS = 1000000, CELLS = 48 };
    const double r = bal_exp_width[1] * 0x1p53;
    const double cell_width = r / 32;
    double p[CELLS];
    uint64_t count[CELLS] = {0};
    for (int i = 0; i < CELLS; i++)
        p[i] = exp(-i * cell_width) * (i + 1 < CELLS ? -expm1(-cell_width) : 1);
    struct bal_rng rng = stream(6);
    for (int i = 0; i < DRAWS; i++) {
        const double x = bal_rng_exp_edge(&rng, bal_exp_inside[0] << 11); /* a word that leads into the tail
                                                                           */
        assert_true(x >= r);
        count[(size_t)fmin((x - r) / cell_width, CELLS - 1)]++;
    }
    assert_fits("exponential tail", p, count, CELLS);
}

static double draw_normal_tail(const void *r, struct bal_rng *rng) {
    double x;
    do
        x = fabs(bal_rng_normal(rng));
    while (x <= *(const double *)r);
    return x;
}

static double normal_tail_cdf(const void *r, double x) {
    return 1 - erfc(x / sqrt(2)) / erfc(*(const double *)r / sqrt(2));
}

static void normal_tails(void **state) {
    (void)state;
    const double r = bli_normal_width[1] * 0x1p53;
    assert_law("normal tail", draw_normal_tail, normal_tail_cdf, &r, 7, 5000);
}

/* Gamma */

static double draw_gamma(const void *shape, struct bal_rng *rng) {
    return bal_rng_gamma(rng, *(const double *)shape);
}

/* P(a, x) = x^a exp(-x) sum_n x^n / Gamma(a + n + 1), all terms positive; for shapes up to 100. */
static double gamma_cdf(const void *shape, double x) {
    const double a = *(const double *)shape;
    double term = exp(a * log(x) - x) / tgamma(a + 1);
    double sum = 0;
    for (double n = 1; term > sum * DBL_EPSILON; n++) {
        sum += term;
        term *= x / (a + n);
    }
    return fmin(1, sum);
}

static double gamma_below(const void *shape, double x) {
    return bli_gamma_below(*(const double *)shape, x);
}

static void gamma_variates(void **state) {
    (void)state;
    static const double shapes[] = {0.05, 0.5, 0.999, 1, 1.001, 2.385, 10, 99.5};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        assert_law(name_of("gamma", shapes[i]), draw_gamma, gamma_cdf, &shapes[i], 100 + i, 300000);
    const double large[] = {1e4, 1e6};
    for (size_t i = 0; i < 2; i++)
        assert_law(name_of("gamma", large[i]), draw_gamma, gamma_below, &large[i], 200 + i, 300000);
}

/* Poisson */

enum { POISSON_DRAWS = 300000, POISSON_SPAN = 10000, POISSON_CELLS = 2 * POISSON_SPAN + 1 };

/* One cell for each k around the mean, by the recurrence P(k+1) = P(k) mean / (k+1) from the mode,
 * normalised by the sum, so that it owes nothing to the code under test. */
static void check_poisson(double mean) {
    static double p[POISSON_CELLS];
    static uint64_t count[POISSON_CELLS];
    memset(count, 0, sizeof count);
    const double span = fmin(POISSON_SPAN, 30 + 10 * sqrt(mean));
    const double first = fmax(0, floor(mean - span));
    const size_t cells = (size_t)(floor(mean + span) - first) + 1;
    const size_t mode = (size_t)(floor(mean) - first);
    p[mode] = 1;
    double sum = 1;
    for (size_t i = mode + 1; i < cells; i++)
        sum += p[i] = p[i - 1] * mean / (first + (double)i);
    for (size_t i = mode; i-- > 0;)
        sum += p[i] = p[i + 1] * (first + (double)i + 1) / mean;
    for (size_t i = 0; i < cells; i++)
        p[i] /= sum;
    struct bal_rng rng = stream((uint64_t)(mean * 1000));
    for (int i = 0; i < POISSON_DRAWS; i++) {
        const double k = (double)bal_rng_poisson(&rng, mean);
        assert_true(k >= first && k < first + (double)cells); /* 10 standard deviations */
        count[(size_t)(k - first)]++;
    }
    assert_fits(name_of("poisson", mean), p, count, cells);
}

/* Standardised; the whole part of the mean is subtracted from whole numbers, so no digit is lost. */
static double draw_poisson(const void *context, struct bal_rng *rng) {
    const double mean = *(const double *)context;
    const double whole = floor(mean);
    const int64_t excess = (int64_t)bal_rng_poisson(rng, mean) - (int64_t)whole;
    return ((double)excess - (mean - whole) + bal_rng_open(rng) - 0.5) / sqrt(mean);
}

static double standard_cdf(const void *context, double x) {
    (void)context;
    return normal_cdf(x);
}

static void poisson(void **state) {
    (void)state;
    struct bal_rng rng = stream(8);
    for (int i = 0; i < 1000; i++)
        assert_true(bal_rng_poisson(&rng, 0) == 0);
    static const double means[] = {1e-3, 0.3, 1, 2.385, 9.99, 10, 10.01, 12.5, 33.3, 495.5, 12345.6, 1e6};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        check_poisson(means[i]);
    /* With such means the law differs from the normal one by 1e-6 at most; 300 000 draws see 5e-3. */
    static const double large[] = {123456789012.375, 9e15, 0x1p62};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        assert_law(name_of("poisson", large[i]), draw_poisson, standard_cdf, &large[i], 300 + i, 300000);
}

/* Even where a double cannot count in ones, all residues come up equally often. */
static void poisson_reaches_every_number(void **state) {
    (void)state;
    const double p[7] = {1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0};
    uint64_t count[7] = {0};
    struct bal_rng rng = stream(9);
    for (int i = 0; i < POISSON_DRAWS; i++)
        count[bal_rng_poisson(&rng, 1e18) % 7]++;
    assert_fits("poisson(1e18) modulo 7", p, count, 7);
}

/* Geometric */

static void check_geometric(double success) {
    enum { CELLS = 4000, DRAWS = 300000 };
    static double p[CELLS + 1];
    static uint64_t count[CELLS + 1];
    memset(count, 0, sizeof count);
    const uint64_t group = (uint64_t)fmax(1, 0.01 / success); /* values to a cell */
    for (size_t i = 0; i < CELLS; i++) {
        const double before = exp((double)(i * group) * log1p(-success));
        p[i] = before * -expm1((double)group * log1p(-success));
    }
    p[CELLS] = exp((double)(CELLS * group) * log1p(-success));
    struct bal_rng rng = stream((uint64_t)(1 / success));
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t cell = bal_rng_geometric(&rng, success) / group;
        count[cell < CELLS ? cell : CELLS]++;
    }
    assert_fits(name_of("geometric", success), p, count, CELLS + 1);
}

static void geometric(void **state) {
    (void)state;
    struct bal_rng rng = stream(10);
    for (int i = 0; i < 1000; i++) {
        assert_true(bal_rng_geometric(&rng, 1) == 0);
        assert_true(bal_rng_geometric(&rng, 1e-300) == UINT64_C(1) << 63);
    }
    static const double successes[] = {0.999, 0.5, 0.2385, 0.01, 1e-3, 1e-9};
    for (size_t i = 0; i < sizeof successes / sizeof *successes; i++)
        check_geometric(successes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator),
        cmocka_unit_test(reference_output),
        cmocka_unit_test(reference_variates),
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(uniform),
        cmocka_unit_test(below),
        cmocka_unit_test(tables),
        cmocka_unit_test(exponential),
        cmocka_unit_test(normal),
        cmocka_unit_test(exponential_tail),
        cmocka_unit_test(normal_tails),
        cmocka_unit_test(gamma_variates),
        cmocka_unit_test(poisson),
        cmocka_unit_test(poisson_reaches_every_number),
        cmocka_unit_test(geometric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
