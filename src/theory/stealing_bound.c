/* SPDX-License-Identifier: BSD-2-Clause */
/* The work stealing chain: Theorems 1, 2 and 9 of Berenbrink, Friedetzky and Goldberg, "The natural
 * work-stealing algorithm is stable" (2001), with every constant of their proofs, and a sharper form of
 * Theorem 9.
 *
 * The paper says "c sufficiently large with respect to 1/delta" and "n sufficiently large". The proof of
 * Lemma 4 determines how large, and here each of its inequalities is evaluated:
 *
 *     a = c lg n / (8 T)                          about (1 - lambda)/16; the paper bounds it by delta/18
 *     sigma = 2 exp(-2 a^2 n)                     requests of a step far from their mean (Chernoff)
 *     1 - gamma = sigma + (1 - 1/n)^(a n) < 1     a given processor is not asked in a dangerous step
 *     2 (2 - gamma)/gamma log_{1+gamma/2} n <= c/2 lg n
 *     exp(-1/4 log_{1+gamma/2} n) + sigma T <= n^-2
 *
 * and that of Lemma 8: (1 - nu) 2 eps n - nu n >= eps. */
#include "ballast/theory.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- numbers beyond any double ---- */

#define TOWER_LIMIT 1e300

static const double log10_2 = 0.301029995663981195;

static struct bli_tower tower_normalize(struct bli_tower x) {
    if (x.value > TOWER_LIMIT && isfinite(x.value))
        return (struct bli_tower){x.powers + 1, log10(x.value)};
    return x;
}

/* What is added or multiplied is an ordinary number, which is lost in the rounding once x is not. */
static struct bli_tower tower_add(struct bli_tower x, double y) {
    return x.powers == 0 ? tower_normalize((struct bli_tower){0, x.value + y}) : x;
}

static struct bli_tower tower_multiply(struct bli_tower x, double y) {
    if (x.powers == 0 && x.value * y > TOWER_LIMIT && isfinite(x.value))
        return (struct bli_tower){1, log10(x.value) + log10(y)};
    if (x.powers < 2)
        return tower_normalize((struct bli_tower){x.powers, x.powers ? x.value + log10(y) : x.value * y});
    return x;
}

/* x times y^m, for x beyond a double. */
static struct bli_tower times_power(struct bli_tower x, double y, double m) {
    return x.powers == 1 ? tower_normalize((struct bli_tower){1, x.value + m * log10(y)}) : x;
}

static struct bli_tower tower_square(struct bli_tower x) {
    if (x.powers == 0)
        return x.value < 1e150 ? (struct bli_tower){0, x.value * x.value}
                               : (struct bli_tower){1, 2 * log10(x.value)};
    if (x.powers == 1)
        return tower_normalize((struct bli_tower){1, 2 * x.value});
    return x.powers == 2 ? tower_normalize((struct bli_tower){2, x.value + log10_2}) : x;
}

static struct bli_tower two_to(struct bli_tower x) {
    if (x.powers == 0)
        return x.value < 996 ? (struct bli_tower){0, exp2(x.value)}
                             : tower_normalize((struct bli_tower){1, x.value * log10_2});
    if (x.powers == 1)
        return (struct bli_tower){2, x.value + log10(log10_2)};
    return (struct bli_tower){x.powers + 1, x.value};
}

double bli_tower_log10(const struct bli_tower *tower) {
    switch (tower->powers) {
    case 0:
        return log10(tower->value);
    case 1:
        return tower->value;
    default:
        return INFINITY; /* more than 10^300 */
    }
}

size_t bli_tower_print(const struct bli_tower *tower, char *text, size_t size) {
    static const char *const head[] = {"", "10^", "10^10^", "10^10^10^"};
    const double value = tower->value;
    int length;
    if (isnan(value))
        length = snprintf(text, size, "unknown");
    else if (isinf(value))
        length = snprintf(text, size, "infinite");
    else if (tower->powers == 0 && value >= 1e15)
        length = snprintf(text, size, "10^%.6g", log10(value));
    else if (tower->powers == 0)
        length = snprintf(text, size, "%.0f", value);
    else if (tower->powers <= 3)
        length = snprintf(text, size, value >= 1e6 && value < 1e15 ? "%s%.0f" : "%s%.6g", head[tower->powers],
                          value);
    else
        length = snprintf(text, size, "10^...^10^%.6g (%" PRIu64 " times 10^)", value, tower->powers);
    return (size_t)length;
}

/* ---- Phi_f ---- */

static const struct bli_tower infinite = {0, INFINITY};

double bli_steal_max(const struct bal_steal *steal) {
    switch (steal->kind) {
    case BAL_STEAL_NONE:
        return 0;
    case BAL_STEAL_ONE:
        return 1;
    case BAL_STEAL_CONSTANT:
        return steal->amount;
    case BAL_STEAL_TABLE:
        return steal->entries ? steal->table[steal->entries - 1] : 0;
    case BAL_STEAL_HALF:
    case BAL_STEAL_LOG2:
    case BAL_STEAL_SQRT:
    case BAL_STEAL_FRACTION:
        break;
    }
    return INFINITY;
}

/* The shortest queue of at least 2 y tasks where the table has y or more. */
static double least_in_table(const struct bal_steal *steal, double y) {
    unsigned i = 0;
    while (i < steal->entries && steal->table[i] < y)
        i++;
    return i == steal->entries ? (double)INFINITY : fmax(i, 2 * y);
}

/* The shortest queue l with f(l) >= y, for a whole number y >= 1. log2 and sqrt are below l/2 where it
 * matters; a fraction is at most a half. */
static struct bli_tower least_queue(const struct bal_steal *steal, struct bli_tower y) {
    if (y.powers == 0 && y.value > bli_steal_max(steal))
        return infinite;
    switch (steal->kind) {
    case BAL_STEAL_LOG2:
        return two_to(y);
    case BAL_STEAL_SQRT:
        return y.powers == 0 && y.value == 1 ? (struct bli_tower){0, 2} : tower_square(y);
    case BAL_STEAL_FRACTION: {
        struct bli_tower l = tower_multiply(y, 1 / steal->amount);
        if (l.powers == 0 && l.value < 0x1p50)
            l.value = ceil(l.value * (1 - 4 * DBL_EPSILON)); /* rounded as bal_steal_amount does */
        return l;
    }
    case BAL_STEAL_TABLE:
        return (struct bli_tower){0, least_in_table(steal, y.value)};
    default:
        return tower_multiply(y, 2);
    }
}

/* The same m times in a row, for y beyond a double, where the T that is added each time no longer counts. */
static struct bli_tower iterate_steals(const struct bal_steal *steal, struct bli_tower y, double m) {
    switch (steal->kind) {
    case BAL_STEAL_HALF:
        return times_power(y, 2, m);
    case BAL_STEAL_FRACTION:
        return times_power(y, 1 / steal->amount, m);
    case BAL_STEAL_SQRT:
        for (; m > 0 && y.powers == 1; m--)
            y = tower_square(y);
        return m > 0 ? tower_normalize((struct bli_tower){2, y.value + m * log10_2}) : y;
    case BAL_STEAL_LOG2:
        for (; m > 0 && y.powers == 1; m--)
            y = two_to(y);
        return (struct bli_tower){y.powers + (uint64_t)m, y.value};
    default:
        return infinite; /* a bounded f was infinite before */
    }
}

/* Phi_f is the least integer with g^z(Phi_f/n) >= 2T, g(x) = f(x - T). f does not fall, so its inverse leads
 * there from the other end: y_0 = 2T, y_{i+1} = T + the shortest queue of which f takes y_i, Phi_f = n y_z.
 */
static struct bli_tower phi_of(const struct bal_steal *steal, double n, double z, double steps) {
    struct bli_tower y = {0, 2 * steps};
    double i = 0;
    for (; i < z && y.powers == 0 && isfinite(y.value); i++)
        y = tower_add(least_queue(steal, y), steps);
    if (i < z && isfinite(y.value))
        y = iterate_steals(steal, y, z - i);
    return tower_multiply(y, n);
}

/* ---- Theorem 2 ---- */

/* c that Lemma 4 needs for this gamma. */
static double least_c(double gamma) {
    return 4 * (2 - gamma) / gamma * M_LN2 / log1p(gamma / 2);
}

/* (1 - 1/n)^(a n) */
static double never_asked(double n, double a) {
    return exp(a * n * log1p(-1 / n));
}

static double sigma_of(double n, double a) {
    return 2 * exp(-2 * a * a * n);
}

/* The paper's own slack: T is rounded up, so that a is not quite drop/16 but at least drop/18. */
static double choose_c(double n, double drop) {
    const double a = drop / 18, unasked = never_asked(n, a), gamma = 1 - sigma_of(n, a) - unasked;
    const double c = gamma > 0 ? least_c(gamma) : INFINITY;
    const double z = 4 * M_E * (c + 1) * log2(n);
    return z < 0x1p52 ? c : least_c(1 - unasked);
}

/* The first inequality of the proof that fails. */
static const char *what_fails(const struct bli_stealing_bound *b, double n, double sigma) {
    if (!(b->gamma > 0))
        return "n is too small: a loaded processor is not asked surely enough (Lemma 4)";
    if (!(b->c >= least_c(b->gamma)))
        return "c is too small: too many steps are dangerous (Lemma 4)";
    const double slow = exp(-log(n) / log1p(b->gamma / 2) / 4);
    if (!(slow + sigma * b->steps <= 1 / (n * n)))
        return "n is too small: requests do not keep close enough to their mean (Lemma 4)";
    if (!((1 - b->nu) * 2 * b->eps * n - b->nu * n >= b->eps))
        return "n is too small: the load does not fall (Lemma 8)";
    return NULL;
}

struct bli_stealing_bound bli_stealing_bound(const struct bal_steal *steal, uint64_t n_, double lambda,
                                             double c) {
    struct bli_stealing_bound b = {.c = NAN,
                                   .gamma = NAN,
                                   .alpha = NAN,
                                   .nu = NAN,
                                   .z = NAN,
                                   .steps = NAN,
                                   .eps = NAN,
                                   .phi = {0, NAN},
                                   .mean = {0, NAN}};
    b.missing = "the theorem needs n >= 2 and 0 < lambda < 1";
    if (!(lambda > 0 && lambda < 1) || n_ < 2 || !(c >= 0 && c < 1e12))
        return b;
    const double n = (double)n_, lg = log2(n);
    /* A c that the proof allows is above 1000, and n^-alpha then below any double. */
    b.nu = 1 / (n * n) + (c > 0 ? pow(n, -4 * M_E * (c + 1)) : 0);
    const double drop = 1 - lambda / (1 - b.nu);
    b.eps = drop / 4;
    b.missing = "n is too small: lambda/(1 - nu) is not below 1";
    if (!(drop > 0))
        return b;
    b.c = c > 0 ? c : choose_c(n, drop);
    b.alpha = 4 * M_E * (b.c + 1);
    b.z = ceil(b.alpha * lg);
    b.steps = ceil(2 * b.c * lg / drop);
    const double a = b.c * lg / (8 * b.steps), sigma = sigma_of(n, a);
    b.gamma = 1 - sigma - never_asked(n, a);
    b.phi = phi_of(steal, n, b.z, b.steps);
    b.mean = tower_add(b.phi, 2 * n * n * b.steps / b.eps + n * b.steps);
    b.missing = what_fails(&b, n, sigma);
    if (b.phi.powers == 0 && isinf(b.phi.value))
        b.missing = "f is too small: passed on z times, no load leaves 2T tasks";
    b.holds = b.missing == NULL;
    return b;
}

double bli_stealing_bound_tail(const struct bli_stealing_bound *bound, uint64_t n, double m) {
    return m >= 0 ? exp(-(floor(m) + 1) * bound->eps / ((double)n + bound->eps)) : (double)NAN;
}

static bool large_enough(uint64_t n, double lambda) {
    const struct bal_steal half = {.kind = BAL_STEAL_HALF};
    return bli_stealing_bound(&half, n, lambda, 0).holds;
}

uint64_t bli_stealing_bound_from(double lambda) {
    uint64_t low = 2, high = UINT64_C(1) << 50;
    if (!(lambda > 0 && lambda < 1) || !large_enough(high, lambda))
        return 0;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (large_enough(middle, lambda))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- Theorem 9 ---- */

/* What is served elsewhere has left a host, and a host gives at most j tasks in a step and serves one. The
 * paper counts processors at work instead of tasks, which overlooks that stolen tasks may be stolen again; in
 * the mean over many steps the result is the same. */
double bli_stealing_frontier(uint64_t n, double lambda, uint64_t hosts) {
    if (!(lambda >= 0 && lambda <= 1) || hosts < 1 || hosts > n)
        return NAN;
    return lambda * (double)n / (double)hosts - 1;
}

/* With E askers a processor with work is asked with probability p(E) = 1 - (1 - q)^E. Of a step's n
 * processors n - E have work and serve, and so do askers that get something, at most (n - E) p(E) in the
 * mean: a load that does not grow needs lambda n <= (n - e)(1 + p(e)) for the mean number e of askers, since
 * the right side is concave. It is n at e = 0 and 0 at e = n, so this bounds e. A host gives away j p(e) at
 * most, p being concave as well. */
double bli_stealing_frontier_asked(uint64_t n_, double lambda, uint64_t hosts, bool others) {
    const double theorem_9 = bli_stealing_frontier(n_, lambda, hosts), n = (double)n_;
    if (!(theorem_9 > 0) || n_ < 3 || lambda >= 1)
        return theorem_9;
    const double log_missed = log1p(-1 / (others ? n - 1 : n));
    double low = 0, high = n;
    for (int i = 0; i < 100; i++) {
        const double e = (low + high) / 2;
        *((n - e) * (1 - expm1(e * log_missed)) >= lambda * n ? &low : &high) = e;
    }
    return theorem_9 / -expm1(high * log_missed);
}

/* ---- what is proved ---- */

const char *bli_proof_text(enum bli_proof proof) {
    static const char *const text[] = {"open", "proved stable", "proved unstable"};
    return text[proof];
}

/* Processors with generators, or 0 when that is not fixed; the most of them at one. */
static uint32_t hosts_of(const struct bal_placement *placement, uint32_t n, uint32_t *most) {
    uint32_t hosts = 0;
    *most = 0;
    switch (placement->kind) {
    case BAL_PLACEMENT_EVEN:
        *most = 1;
        return n;
    case BAL_PLACEMENT_HOSTS:
        *most = (n - 1) / placement->hosts + 1;
        return placement->hosts;
    case BAL_PLACEMENT_MAP:
        for (unsigned i = 0; i < placement->entries; i++) {
            hosts += placement->count[i] > 0;
            *most = placement->count[i] > *most ? placement->count[i] : *most;
        }
        return hosts;
    case BAL_PLACEMENT_MOVING:
    case BAL_PLACEMENT_WALK:
    case BAL_PLACEMENT_LONGEST:
    case BAL_PLACEMENT_SHORTEST:
    case BAL_PLACEMENT_CYCLING:
        break;
    }
    return 0;
}

struct bli_stealing_proof bli_stealing_prove(const struct bal_steal *steal,
                                             const struct bal_placement *placement, uint32_t n, double lambda,
                                             bool others) {
    uint32_t most;
    const uint32_t hosts = hosts_of(placement, n, &most);
    const double j = bli_steal_max(steal);
    if (hosts > 0 && most <= 1)
        return (struct bli_stealing_proof){BLI_PROOF_STABLE, "no processor gets more than a task in a step"};
    if (!(lambda < 1))
        return (struct bli_stealing_proof){BLI_PROOF_UNSTABLE, "more tasks than n processors can serve"};
    if (hosts > 0 && j < bli_stealing_frontier(n, lambda, hosts))
        return (struct bli_stealing_proof){BLI_PROOF_UNSTABLE, "Theorem 9"};
    if (hosts > 0 && j < bli_stealing_frontier_asked(n, lambda, hosts, others))
        return (struct bli_stealing_proof){BLI_PROOF_UNSTABLE, "Theorem 9, with who is asked counted"};
    if (j == 0 && most * lambda != 1)
        return (struct bli_stealing_proof){most * lambda > 1 ? BLI_PROOF_UNSTABLE : BLI_PROOF_STABLE,
                                           "without stealing each processor is by itself"};
    if (others)
        return (struct bli_stealing_proof){BLI_PROOF_OPEN, "Theorem 1 draws victims from all"};
    const struct bli_stealing_bound bound = bli_stealing_bound(steal, n, lambda, 0);
    if (bound.holds)
        return (struct bli_stealing_proof){BLI_PROOF_STABLE, "Theorem 1"};
    return (struct bli_stealing_proof){BLI_PROOF_OPEN, bound.missing};
}
