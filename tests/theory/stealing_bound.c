/* SPDX-License-Identifier: BSD-2-Clause */
/* Theorems 1, 2 and 9 of the stealing chain against their definitions, evaluated in other ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/theory.h"

#include <math.h>
#include <string.h>

static struct bal_steal steal_of(const char *text) {
    struct bal_steal steal;
    struct bal_error err;
    if (bal_steal_parse(text, &steal, &err))
        fail_msg("%s", err.text);
    return steal;
}

static void assert_near(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.15g, expected %.15g", value, expected);
}

/* g^z(load/n) >= 2T as it stands in the paper, with f as the simulation has it. */
static bool load_suffices(const struct bal_steal *steal, double load, double n,
                          const struct bli_stealing_bound *b) {
    double x = load / n;
    for (double i = 0; i < b->z; i++) {
        const double left = floor(x - b->steps);
        x = left > 0 ? bal_steal_amount(steal, (uint32_t)left) : 0;
    }
    return x >= 2 * b->steps;
}

/* Phi_f is the least load that suffices. A small c keeps it within what a queue can hold. */
static void test_phi_is_least(void **state) {
    (void)state;
    static const char *const functions[] = {"half", "fraction(0.5)", "fraction(0.4)", "fraction(0.35)",
                                            "constant(200k)"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (uint64_t n = 2; n <= 3; n++) {
            const struct bal_steal steal = steal_of(functions[i]);
            const struct bli_stealing_bound b = bli_stealing_bound(&steal, n, 0.3, 0.01);
            assert_int_equal(b.phi.powers, 0);
            if (isinf(b.phi.value)) {
                assert_true(steal.kind == BAL_STEAL_CONSTANT);
                continue;
            }
            assert_true(load_suffices(&steal, b.phi.value, (double)n, &b));
            assert_false(load_suffices(&steal, b.phi.value - 1, (double)n, &b));
        }
}

/* By hand for half: y_{i+1} = 2 y_i + T from 2T gives 3T 2^z - T. */
static void test_constants(void **state) {
    (void)state;
    const struct bal_steal half = steal_of("half");
    const struct bli_stealing_bound b = bli_stealing_bound(&half, 1024, 0.5, 2);
    assert_near(b.alpha, 32.6193819415085, 1e-13); /* 12 e */
    assert_near(b.nu, 0x1p-20, 1e-13);             /* n^-alpha is 2^-326 */
    assert_near(b.z, 327, 0);                      /* ceil(326.19) */
    assert_near(b.steps, 81, 0);                   /* ceil(40/0.499999523) */
    assert_near(b.eps, (1 - 0.5 / (1 - 0x1p-20)) / 4, 1e-13);
    const double load = (3 * 81 * exp2(327) - 81) * 1024;
    assert_near(b.phi.value, load, 1e-13);
    assert_near(b.mean.value, load + 2 * 1024. * 1024 * 81 / b.eps + 1024 * 81, 1e-13);
    assert_false(b.holds); /* c = 2 is far below what Lemma 4 needs */
    assert_non_null(strstr(b.missing, "Lemma 4"));
    assert_near(bli_stealing_bound_tail(&b, 1024, 0), exp(-b.eps / (1024 + b.eps)), 1e-13);
    assert_near(bli_stealing_bound_tail(&b, 1024, 9), exp(-10 * b.eps / (1024 + b.eps)), 1e-13);
}

/* Beyond a double: ln of each step by itself. */
static void test_towers(void **state) {
    (void)state;
    const uint64_t n = 100000;
    const struct bal_steal half = steal_of("half"), third = steal_of("fraction(0.25)"),
                           root = steal_of("sqrt"), lg = steal_of("log2");
    const struct bli_stealing_bound b = bli_stealing_bound(&half, n, 0.5, 0);
    assert_true(b.holds);
    assert_near(bli_tower_log10(&b.phi), log10(3 * b.steps * (double)n) + b.z * log10(2), 1e-12);
    /* y + T/3 grows fourfold */
    const struct bli_stealing_bound c = bli_stealing_bound(&third, n, 0.5, 0);
    assert_near(bli_tower_log10(&c.phi), log10((2 + 1 / 3.0) * c.steps * (double)n) + c.z * log10(4), 1e-12);
    /* y squares: log2 log10 grows by one each time, but for what T adds */
    const struct bli_stealing_bound d = bli_stealing_bound(&root, n, 0.5, 0);
    assert_int_equal(d.phi.powers, 2);
    assert_near(d.phi.value, log10(log10(2 * d.steps)) + d.z * log10(2), 1e-6);
    const struct bli_stealing_bound e = bli_stealing_bound(&lg, n, 0.5, 0);
    assert_true(e.holds);
    assert_int_equal(e.phi.powers, (uint64_t)e.z);
    assert_near(e.phi.value, 2 * e.steps * log10(2), 1e-5);
    assert_true(isinf(bli_tower_log10(&e.phi)));
    /* and a bounded function is never enough here */
    const struct bal_steal constant = steal_of("constant(1e9)"), one = steal_of("one");
    const struct bli_stealing_bound f = bli_stealing_bound(&constant, n, 0.5, 0);
    assert_true(isinf(f.phi.value) && !f.holds);
    assert_true(isinf(bli_stealing_bound(&one, n, 0.5, 0).phi.value));
    char text[80];
    bli_tower_print(&f.phi, text, sizeof text);
    assert_string_equal(text, "infinite");
    const struct bli_tower two = {2, 4567.8};
    bli_tower_print(&two, text, sizeof text);
    assert_string_equal(text, "10^10^4567.8");
}

/* Section 1.1: for f = half Phi_f is at most a polynomial in n. With a fixed c it is that of degree 1 +
 * alpha, times T of order log n; undoing g once takes x to 2x + T, z times multiplies by 2^z, which is
 * n^alpha rounded up. A function that grows like the square root needs more than any polynomial. */
static void test_half_needs_a_polynomial(void **state) {
    (void)state;
    const struct bal_steal half = steal_of("half"), root = steal_of("sqrt");
    const double c = bli_stealing_bound(&half, 100000, 0.5, 0).c;
    for (uint64_t n = 20000; n < UINT64_C(1000000000000000); n *= 10) {
        const struct bli_stealing_bound b = bli_stealing_bound(&half, n, 0.5, c);
        const double power = (1 + b.alpha) * log10((double)n), digits = bli_tower_log10(&b.phi);
        assert_true(b.alpha == bli_stealing_bound(&half, 20000, 0.5, c).alpha);
        assert_true(b.steps <= 2 * c / (1 - 0.5 / (1 - b.nu)) * log2((double)n) + 1);
        assert_true(digits >= power && digits <= power + log10(6 * b.steps));
        assert_int_equal(bli_stealing_bound(&root, n, 0.5, c).phi.powers, 2);
    }
}

/* The constants that are chosen satisfy the proof, and hardly smaller ones do not. */
static void test_least_constants(void **state) {
    (void)state;
    const struct bal_steal half = steal_of("half");
    for (double lambda = 0.1; lambda < 0.95; lambda += 0.1) {
        const uint64_t from = bli_stealing_bound_from(lambda);
        assert_true(from > 64);
        assert_false(bli_stealing_bound(&half, from - 1, lambda, 0).holds);
        const struct bli_stealing_bound b = bli_stealing_bound(&half, from, lambda, 0);
        assert_true(b.holds);
        const double need = 4 * (2 - b.gamma) / b.gamma / log2(1 + b.gamma / 2);
        assert_true(b.c >= need);
        /* delta/18 in place of delta/16 costs about a quarter */
        assert_true(b.c < 1.5 * need);
        assert_false(bli_stealing_bound(&half, from, lambda, need * 0.99).holds);
        for (uint64_t n = from; n < 1000 * from; n = n * 3 / 2)
            assert_true(bli_stealing_bound(&half, n, lambda, 0).holds);
    }
    assert_int_equal(bli_stealing_bound_from(1), 0);
    assert_true(isnan(bli_stealing_bound(&half, 1, 0.5, 0).mean.value));
    assert_true(isnan(bli_stealing_bound(&half, 100, 1.5, 0).mean.value));
}

static void test_frontier(void **state) {
    (void)state;
    assert_near(bli_stealing_frontier(64, 0.5, 1), 31, 1e-15);
    assert_near(bli_stealing_frontier(100, 0.9, 5), 17, 1e-15);
    /* By hand, n = 64, lambda = 0.5: (64 - e)(2 - q^e) = 32, q = 63/64, at e = 42.49286; 31/(1 - q^e). */
    const double e = 42.492863080, q = 63 / 64.0;
    assert_near((64 - e) * (2 - pow(q, e)), 32, 1e-6);
    assert_near(bli_stealing_frontier_asked(64, 0.5, 1, false), 31 / (1 - pow(q, e)), 1e-6);
    for (double lambda = 0.05; lambda < 1; lambda += 0.05)
        for (uint64_t hosts = 1; hosts <= 32; hosts *= 2) {
            const double nine = bli_stealing_frontier(64, lambda, hosts);
            const double all = bli_stealing_frontier_asked(64, lambda, hosts, false);
            const double others = bli_stealing_frontier_asked(64, lambda, hosts, true);
            assert_true(nine <= 0 ? all == nine : all > nine && others > nine && others < all);
        }
}

static void check_proof(const char *steal_text, const char *placement_text, uint32_t n, double lambda,
                        enum bli_proof expected) {
    const struct bal_steal steal = steal_of(steal_text);
    struct bal_placement placement;
    assert_int_equal(bal_placement_parse(placement_text, &placement, NULL), BAL_OK);
    const struct bli_stealing_proof proof = bli_stealing_prove(&steal, &placement, n, lambda, false);
    if (proof.proof != expected)
        fail_msg("%s, %s, n %u, load %g: %s (%s)", steal_text, placement_text, n, lambda,
                 bli_proof_text(proof.proof), proof.why);
    assert_non_null(proof.why);
}

static void test_proofs(void **state) {
    (void)state;
    check_proof("constant(30)", "hosts(1)", 64, 0.5, BLI_PROOF_UNSTABLE);
    check_proof("constant(40)", "hosts(1)", 64, 0.5, BLI_PROOF_UNSTABLE); /* by the sharper line alone */
    check_proof("constant(64)", "hosts(1)", 64, 0.5, BLI_PROOF_OPEN);
    check_proof("half", "hosts(1)", 64, 0.5, BLI_PROOF_OPEN);
    check_proof("half", "hosts(1)", 100000, 0.5, BLI_PROOF_STABLE);
    check_proof("log2", "moving", 100000, 0.5, BLI_PROOF_STABLE);
    check_proof("half", "even", 4, 0.99, BLI_PROOF_STABLE);
    check_proof("none", "moving", 4, 0.99, BLI_PROOF_STABLE);
    check_proof("none", "hosts(2)", 4, 0.4, BLI_PROOF_STABLE);
    check_proof("none", "hosts(2)", 4, 0.6, BLI_PROOF_UNSTABLE);
    check_proof("none", "map(0:3 1:1)", 4, 0.4, BLI_PROOF_UNSTABLE); /* 1.2 tasks a step for processor 0 */
    check_proof("table(0 0 1 1 2 3)", "map(0:64)", 64, 0.5, BLI_PROOF_UNSTABLE);
    check_proof("one", "hosts(64)", 64, 0.9, BLI_PROOF_STABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phi_is_least),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_towers),
        cmocka_unit_test(test_least_constants),
        cmocka_unit_test(test_frontier),
        cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_half_needs_a_polynomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
