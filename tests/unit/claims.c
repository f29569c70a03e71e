/* SPDX-License-Identifier: BSD-2-Clause */
/* Claims, judged on trials whose numbers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/store.h"

#include "report/judgements.h"
#include "spec/plan.h"
#include "store/store_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPLICATIONS = 5 };

/* Three policies along one axis; the claims of a test follow. */
#define HEAD                                                                                                 \
    "title: x\nfleet: {servers: 4}\nworkload: {load: 0.5}\npolicies: [jsq, jiq, random]\n"                   \
    "run: {time: 10000, replications: 5}\nsweep: {axis: load, values: [0.2, 0.4, 0.8]}\nclaims:\n"

struct bench {
    char path[40];
    struct bli_store *store;
    struct bli_experiment *e;
};

static int set_up(void **state) {
    struct bench *bench = calloc(1, sizeof *bench);
    strcpy(bench->path, "/tmp/ballast-claims-XXXXXX");
    const int fd = mkstemp(bench->path);
    if (fd < 0)
        return -1;
    close(fd);
    *state = bench;
    struct bal_error err = {0};
    return bli_store_open(bench->path, BLI_STORE_WRITE, &bench->store, &err) ? -1 : 0;
}

static int tear_down(void **state) {
    struct bench *bench = *state;
    bli_store_close(bench->store);
    bli_experiment_free(bench->e);
    unlink(bench->path);
    free(bench);
    return 0;
}

static void read_in_mode(struct bench *bench, enum bli_mode mode, const char *claims) {
    char text[3000];
    struct bal_error err = {0};
    snprintf(text, sizeof text, HEAD "%s", claims);
    bli_experiment_free(bench->e);
    bench->e = NULL;
    if (bli_experiment_parse(text, strlen(text), "t.yaml", mode, &bench->e, &err))
        fail_msg("%s", err.text);
}

static void read_claims(struct bench *bench, const char *claims) {
    read_in_mode(bench, BLI_MODE_PLAIN, claims);
}

static const double steady[4] = {7, 7, 7, 7}, growing[4] = {1, 3, 5, 7};

/* Replications with response times mean - 2 d, mean - d, ..., mean + 2 d. */
static void put(struct bench *bench, size_t point, size_t policy, double mean, double d,
                const double *quarter) {
    static struct bli_histogram empty;
    struct bli_case c;
    struct bal_error err = {0};
    int64_t cell;
    bli_experiment_case(bench->e, point, policy, &c);
    char *identity = bli_plan_identity(&c);
    assert_int_equal(bli_store_cell(bench->store, identity, true, &cell, &err), BAL_OK);
    free(identity);
    for (unsigned r = 0; r < REPLICATIONS; r++) {
        struct bli_trial trial = {.jobs = 100, .histogram = {&empty, &empty}, .engine = BLI_ENGINE_MARKOV};
        trial.metric[BLI_RESPONSE_MEAN] = mean + d * ((double)r - 2);
        trial.metric[BLI_MESSAGES_PER_JOB] = 2;
        trial.tail[2] = 0.25;
        memcpy(trial.quarter, quarter, sizeof trial.quarter);
        for (int i = 0; i < 4; i++) /* a little spread, for the verdict needs some */
            trial.quarter[i] += 0.001 * r;
        assert_int_equal(bli_store_put(bench->store, cell, r, &trial, &err), BAL_OK);
    }
}

static struct bli_judged judge(struct bench *bench, size_t claim) {
    struct bli_judged judged;
    struct bal_error err = {0};
    assert_int_equal(bli_claim_verdict(bench->store, bench->e, &bench->e->claim[claim], &judged, &err),
                     BAL_OK);
    return judged;
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.15g instead of %.15g", value, expected);
}

/* The half-width of the interval over five replications at distance d, when m of them are to hold together.
 */
static double half(double d, double m) {
    return bli_student_quantile(1 - 0.025 / m, 4) * d * sqrt(2.5 / 5);
}

static void values(void **state) {
    struct bench *bench = *state;
    read_claims(bench,
                "  - {id: a, says: s, of: jsq, where: {load: 0.4}, expect: {most: 3.5}}\n"
                "  - {id: b, says: s, of: jsq, where: {load: 0.4}, expect: {most: 3.1}}\n"
                "  - {id: c, says: s, of: jsq, where: {load: 0.4}, expect: {most: 2}}\n"
                "  - {id: d, says: s, of: jsq, expect: {near: 3, within: 50%}}\n"
                "  - {id: e, says: s, of: jsq, expect: {least: 2.5}, over: some}\n"
                "  - {id: f, says: s, of: jsq, expect: {least: 3.5, most: 4.5}, over: largest}\n"
                "  - {id: g, says: s, of: jsq, expect: {least: 3.5, most: 4.5}, over: smallest}\n"
                "  - {id: h, says: s, of: jsq, metric: queue.tail.2, expect: {near: 0.25, within: 0}}\n");
    for (size_t point = 0; point < 3; point++)
        put(bench, point, 0, 2 + (double)point, 0.1, steady);
    struct bli_judged f = judge(bench, 0);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 3);
    assert_near(f.high - f.value, half(0.1, 1));
    assert_string_equal(f.where, "load=0.4");
    assert_string_equal(f.measured, "3.00 \u00b1 0.20");
    assert_string_equal(f.why, "");
    f = judge(bench, 1);
    assert_int_equal(f.judgement, BLI_CLAIM_UNDECIDED);
    assert_non_null(strstr(f.why, "more replications"));
    assert_int_equal(judge(bench, 2).judgement, BLI_CLAIM_FAILS);
    /* of each: 2, 3 and 4 lie within 1.5 and 4.5; the nearest to an edge is shown, with intervals for three
     */
    f = judge(bench, 3);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.high - f.value, half(0.1, 3));
    assert_true(f.value == 2 || f.value == 4);
    f = judge(bench, 4);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    f = judge(bench, 5);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 4);
    f = judge(bench, 6);
    assert_int_equal(f.judgement, BLI_CLAIM_FAILS);
    assert_near(f.value, 2);
    assert_string_equal(f.where, "load=0.2");
    assert_int_equal(judge(bench, 7).judgement, BLI_CLAIM_HOLDS);
}

/* All replications of both sides move together: the difference is known exactly although the values are not.
 */
static void comparisons_are_paired(void **state) {
    struct bench *bench = *state;
    read_claims(bench, "  - {id: a, says: s, measure: difference, of: jsq, to: jiq, where: {load: 0.2}, "
                       "expect: {near: 0.5, within: 1%}}\n"
                       "  - {id: b, says: s, measure: ratio, of: jsq, to: jiq, where: {load: 0.2}, expect: "
                       "{near: 1.25, within: 5%}}\n"
                       "  - {id: c, says: s, measure: ratio, of: jsq, to: 2, where: {load: 0.2}, expect: "
                       "{near: 1.25, within: 30%}}\n"
                       "  - {id: d, says: s, measure: difference, of: {policy: jsq, at: {load: 0.4}}, to: "
                       "{at: {load: 0.2}},\n"
                       "     expect: {near: 1, within: 1%}}\n"
                       "  - {id: e, says: s, measure: ratio, of: random, to: theory, where: {load: 0.8}, "
                       "expect: {near: 1, within: 3%}}\n"
                       "  - {id: f, says: s, measure: ratio, of: jsq, to: {policy: jiq, metric: "
                       "messages.per_job}, where: {load: 0.2},\n"
                       "     expect: {least: 1}}\n"
                       "  - {id: g, says: s, measure: ratio, of: random, to: floor, where: {load: 0.8}, "
                       "expect: {least: 1}}\n"
                       "  - {id: h, says: s, measure: ratio, metric: messages.per_job, of: jsq, to: theory, "
                       "where: {load: 0.2}, expect: {least: 1}}\n");
    put(bench, 0, 0, 2.5, 0.1, steady);
    put(bench, 0, 1, 2.0, 0.1, steady);
    put(bench, 1, 0, 3.5, 0.1, steady);
    put(bench, 2, 2, 5.0, 0.02, steady); /* M/M/1 at 0.8 */
    struct bli_judged f = judge(bench, 0);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 0.5);
    assert_true(f.high - f.low < 1e-9);
    f = judge(bench, 1);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 1.25);
    assert_near(f.high - f.value, half(0.1 * (1.25 - 1), 1) / 2); /* residuals a - 1.25 b */
    f = judge(bench, 2);
    assert_near(f.value, 1.25);
    assert_near(f.high - f.value, half(0.1, 1) / 2);
    f = judge(bench, 3);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 1);
    f = judge(bench, 4);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 1);
    assert_near(f.high - f.value, half(0.02, 1) / 5);
    assert_near(judge(bench, 5).value, 1.25);
    assert_int_equal(judge(bench, 6).judgement, BLI_CLAIM_HOLDS);
    f = judge(bench, 7);
    assert_int_equal(f.judgement, BLI_CLAIM_UNDECIDED);
    assert_string_equal(f.why, "theory says nothing about it");
}

static void verdicts(void **state) {
    struct bench *bench = *state;
    read_claims(
        bench,
        "  - {id: a, says: s, measure: verdict, of: jsq, expect: stable}\n"
        "  - {id: b, says: s, measure: verdict, of: jiq, expect: stable}\n"
        "  - {id: c, says: s, measure: verdict, of: jiq, expect: unstable, over: some}\n"
        "  - {id: d, says: s, measure: verdict, of: jsq, expect: unstable, over: some}\n"
        "  - {id: e, says: s, measure: verdict, of: random, expect: stable}\n"
        "  - {id: f, says: s, of: jiq, where: {load: 0.8}, expect: {least: 100}}\n"
        "  - {id: g, says: s, of: jiq, metric: messages.per_job, where: {load: 0.8}, expect: {near: 2, "
        "within: 0}}\n"
        "  - {id: h, says: s, measure: ratio, of: jiq, to: jsq, where: {load: 0.8}, expect: {least: 2}}\n"
        "  - {id: i, says: s, measure: ratio, of: jsq, to: jiq, where: {load: 0.8}, expect: {most: 0}}\n"
        "  - {id: j, says: s, measure: ratio, of: jiq, to: random, where: {load: 0.8}, expect: {most: 1}}\n");
    for (size_t point = 0; point < 3; point++) {
        put(bench, point, 0, 2, 0.1, steady);
        put(bench, point, 1, 2, 0.1, point < 2 ? steady : growing);
    }
    put(bench, 2, 2, 2, 0.1, growing);
    assert_int_equal(judge(bench, 0).judgement, BLI_CLAIM_HOLDS);
    struct bli_judged f = judge(bench, 1);
    assert_int_equal(f.judgement, BLI_CLAIM_FAILS);
    assert_string_equal(f.where, "load=0.8");
    assert_string_equal(f.measured, "unstable");
    assert_int_equal(judge(bench, 2).judgement, BLI_CLAIM_HOLDS);
    assert_int_equal(judge(bench, 3).judgement, BLI_CLAIM_FAILS);
    f = judge(bench, 4); /* fails at one point, is not run at the others */
    assert_int_equal(f.judgement, BLI_CLAIM_FAILS);
    f = judge(bench, 5); /* what grows without bound is larger than anything */
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_string_equal(f.measured, "unbounded");
    assert_int_equal(judge(bench, 6).judgement, BLI_CLAIM_HOLDS);
    assert_int_equal(judge(bench, 7).judgement, BLI_CLAIM_HOLDS);
    assert_int_equal(judge(bench, 8).judgement, BLI_CLAIM_HOLDS);
    f = judge(bench, 9);
    assert_int_equal(f.judgement, BLI_CLAIM_UNDECIDED);
    assert_string_equal(f.why, "both sides grow without bound");
}

/* The mean over the last ten units of a path is a number, whether or not the path grows for ever. */
static void spans_of_paths_have_means(void **state) {
    struct bench *bench = *state;
    read_in_mode(bench, BLI_MODE_QUICK,
                 "  - {id: a, says: s, of: jiq, where: {load: 0.8}, expect: {near: 7, within: 1%}}\n"
                 "  - {id: b, says: s, measure: verdict, of: jiq, where: {load: 0.8}, expect: unstable}\n"
                 "quick:\n  run: {window: 10}\n");
    put(bench, 2, 1, 7, 0.001, growing);
    const struct bli_judged f = judge(bench, 0);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 7);
    assert_int_equal(judge(bench, 1).judgement, BLI_CLAIM_HOLDS);
}

static void ranks(void **state) {
    struct bench *bench = *state;
    read_claims(bench,
                "  - {id: a, says: s, measure: rank, of: jiq, where: {load: 0.2}, expect: {most: 2}}\n"
                "  - {id: b, says: s, measure: rank, of: jiq, where: {load: 0.2}, among: [jiq, random], "
                "expect: {most: 1}}\n"
                "  - {id: c, says: s, measure: rank, of: random, where: {load: 0.4}, expect: {least: 3}}\n"
                "  - {id: d, says: s, measure: rank, of: jsq, where: {load: 0.4}, expect: {most: 1}}\n"
                "  - {id: e, says: s, measure: rank, of: jsq, where: {load: 0.8}, expect: {most: 1}}\n");
    put(bench, 0, 0, 1, 0.1, steady);
    put(bench, 0, 1, 2, 0.1, steady);
    put(bench, 0, 2, 3, 0.1, steady);
    put(bench, 1, 0, 2, 0.1, steady);
    put(bench, 1, 1, 2.05, -0.1, steady); /* too near to tell: it moves against the other */
    put(bench, 1, 2, 2, 0.1, growing);
    put(bench, 2, 0, 2, 0.1, steady);
    struct bli_judged f = judge(bench, 0);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 2);
    assert_string_equal(f.measured, "2");
    assert_int_equal(judge(bench, 1).judgement, BLI_CLAIM_HOLDS);
    assert_int_equal(judge(bench, 2).judgement, BLI_CLAIM_HOLDS); /* unstable is last */
    f = judge(bench, 3);
    assert_int_equal(f.judgement, BLI_CLAIM_UNDECIDED);
    assert_string_equal(f.measured, "1 to 2");
    f = judge(bench, 4);
    assert_int_equal(f.judgement, BLI_CLAIM_UNDECIDED);
    assert_string_equal(f.why, "not all of its trials have been run");
}

/* y = 3 x^1.5 on points with common noise. */
static void fits(void **state) {
    struct bench *bench = *state;
    read_claims(
        bench,
        "  - {id: a, says: s, measure: exponent, of: jsq, along: load, expect: {near: 1.5, within: 1%}}\n"
        "  - {id: b, says: s, measure: slope, of: jiq, along: load, expect: {near: 2, within: 1%}}\n"
        "  - {id: c, says: s, measure: exponent, of: random, along: load, slack: yes, expect: {near: 1, "
        "within: 1%}}\n"
        "  - {id: d, says: s, measure: exponent, of: jsq, along: load, where: {load: [0.2, 0.8]}, expect: "
        "{most: 9}}\n");
    static const double x[] = {0.2, 0.4, 0.8};
    for (size_t point = 0; point < 3; point++) {
        const double power = 3 * pow(x[point], 1.5);
        put(bench, point, 0, power, 0.01 * power, steady); /* the same relative noise everywhere cancels */
        put(bench, point, 1, 5 + 2 * log(x[point]), 0, steady);
        put(bench, point, 2, 0.7 / (1 - x[point]), point == 1 ? 0.001 : 0, steady);
    }
    struct bli_judged f = judge(bench, 0);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 1.5);
    assert_true(f.high - f.low < 1e-9);
    assert_string_equal(f.where, "");
    f = judge(bench, 1);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 2);
    /* Only the middle point is noisy: its weight times its relative noise. */
    f = judge(bench, 2);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.value, 1);
    const double u[] = {-log(0.8), -log(0.6), -log(0.2)};
    const double mean = (u[0] + u[1] + u[2]) / 3;
    const double squares = pow(u[0] - mean, 2) + pow(u[1] - mean, 2) + pow(u[2] - mean, 2);
    const double weight = fabs(u[1] - mean) / squares;
    assert_near(f.high - f.value, half(weight * 0.001 / (0.7 / 0.6), 1));
    assert_near(judge(bench, 3).value, 1.5);
    /* A fit through what grows without bound means nothing. */
    put(bench, 1, 0, 3, 0.1, growing);
    f = judge(bench, 0);
    assert_int_equal(f.judgement, BLI_CLAIM_UNDECIDED);
    assert_string_equal(f.why, "it is unstable at a point of the fit");
}

static void critical_values(void **state) {
    struct bench *bench = *state;
    read_claims(
        bench,
        "  - {id: a, says: s, measure: critical, of: jsq, along: load, expect: {least: 0.2, most: 0.8}}\n"
        "  - {id: b, says: s, measure: critical, of: jiq, along: load, expect: {least: 0.8}}\n"
        "  - {id: c, says: s, measure: critical, of: random, along: load, expect: {most: 0.2}}\n"
        "  - {id: d, says: s, measure: critical, of: jsq, to: random, along: load, expect: {least: 0}}\n"
        "  - {id: e, says: s, measure: critical, of: jsq, to: 0.3, along: load, expect: {least: -0.1, most: "
        "0.5}}\n");
    for (size_t point = 0; point < 3; point++) {
        put(bench, point, 0, 2, 0.1, point < 2 ? steady : growing);
        put(bench, point, 1, 2, 0.1, steady);
        put(bench, point, 2, 2, 0.1, growing);
    }
    struct bli_judged f = judge(bench, 0);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_true(f.low == 0.4 && f.high == 0.8);
    assert_string_equal(f.measured, "0.4 to 0.8");
    f = judge(bench, 1);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_string_equal(f.measured, "above 0.8");
    f = judge(bench, 2);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_string_equal(f.measured, "below 0.2");
    f = judge(bench, 3);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.low, 0.2); /* 0.4 to 0.8 less something below 0.2 */
    f = judge(bench, 4);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_near(f.low, 0.1);
    assert_near(f.high, 0.5);
}

static void crossings(void **state) {
    struct bench *bench = *state;
    read_claims(
        bench,
        "  - {id: a, says: s, measure: crossing, of: jsq, to: jiq, along: load, expect: {least: 0.4, most: "
        "0.8}}\n"
        "  - {id: b, says: s, measure: crossing, of: jiq, to: jsq, along: load, expect: {least: 0.9}}\n"
        "  - {id: c, says: s, measure: crossing, of: random, to: jsq, along: load, expect: {most: 0.2}}\n");
    for (size_t point = 0; point < 3; point++) {
        put(bench, point, 0, 2 + (double)point, 0.01, steady); /* 2, 3, 4 */
        put(bench, point, 1, 3.25, 0.01, steady);              /* between 0.4 and 0.8 */
        put(bench, point, 2, 9, 0.01, steady);                 /* always larger */
    }
    struct bli_judged f = judge(bench, 0);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_true(f.low == 0.4 && f.high == 0.8);
    assert_near(f.value, 0.5); /* a quarter of the way */
    f = judge(bench, 1);       /* it is larger at first, so it becomes larger before all of them */
    assert_int_equal(f.judgement, BLI_CLAIM_FAILS);
    f = judge(bench, 2);
    assert_int_equal(f.judgement, BLI_CLAIM_HOLDS);
    assert_string_equal(f.measured, "below 0.2");
}

static void nothing_is_claimed_without_data(void **state) {
    struct bench *bench = *state;
    read_claims(bench, "  - {id: a, says: s, of: jsq, expect: {most: 1}}\n"
                       "  - {id: b, says: s, measure: verdict, of: jsq, expect: stable}\n"
                       "  - {id: c, says: s, measure: exponent, of: jsq, along: load, expect: {most: 1}}\n"
                       "  - {id: d, says: s, measure: critical, of: jsq, along: load, expect: {most: 1}}\n"
                       "  - {id: e, says: s, of: jsq, over: largest, expect: {most: 1}}\n"
                       "  - {id: f, says: s, measure: rank, of: jsq, expect: {most: 1}}\n");
    for (size_t i = 0; i < bench->e->claims; i++) {
        const struct bli_judged f = judge(bench, i);
        assert_int_equal(f.judgement, BLI_CLAIM_UNDECIDED);
        assert_string_equal(f.measured, "nothing");
        assert_string_equal(f.why, "not all of its trials have been run");
    }
}

/* Runs a writer and returns what it wrote; the caller frees it. */
#define WRITTEN(text, call)                                                                                  \
    do {                                                                                                     \
        size_t size_;                                                                                        \
        FILE *out = open_memstream(&(text), &size_);                                                         \
        call;                                                                                                \
        fclose(out);                                                                                         \
    } while (0)

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

/* A finding is judged as a claim is, but never counted as one, and says whose it is wherever it is shown. */
static void findings_are_counted_apart(void **state) {
    struct bench *bench = *state;
    read_claims(bench, "  - {id: said, section: '4, a | b', says: small, of: jsq, where: {load: 0.4}, "
                       "expect: {most: 2}}\n"
                       "  - {id: found, finding: said, says: 'larger, rather', of: jsq, where: {load: 0.4}, "
                       "expect: {near: 3, within: 10%}}\n"
                       "  - {id: open, finding: yes, says: nobody asked, of: jiq, expect: {most: 2}}\n");
    put(bench, 1, 0, 3, 0.1, steady);
    struct bli_judged *judged;
    struct bal_error err = {0};
    assert_int_equal(bli_judgements_new(bench->store, bench->e, &judged, &err), BAL_OK);
    struct bli_tally tally = {0};
    bli_tally_add(&tally, bench->e, judged);
    assert_int_equal(tally.claim[BLI_CLAIM_STATUS_FAILS], 1);
    assert_int_equal(tally.claim[BLI_CLAIM_STATUS_HOLDS] + tally.claim[BLI_CLAIM_STATUS_UNDECIDED], 0);
    assert_int_equal(tally.finding[BLI_CLAIM_STATUS_HOLDS], 1);
    assert_int_equal(tally.finding[BLI_CLAIM_STATUS_UNDECIDED], 1);
    assert_true(bli_tally_fails(&tally));
    char *text;
    WRITTEN(text, bli_tally_print(&tally, out));
    assert_string_equal(text, "1 claim: 0 hold, 1 does not hold, 0 undecided.\n"
                              "2 findings of ours: 1 holds, 0 do not hold, 1 undecided.\n");
    free(text);
    WRITTEN(text, bli_judgements_text(bench->e, judged, BLI_GROUP_CLAIMS, out));
    assert_has(text, "\n  does not hold  said, 4, a | b\n    small\n");
    assert_null(strstr(text, "found"));
    free(text);
    WRITTEN(text, bli_judgements_text(bench->e, judged, BLI_GROUP_FINDINGS, out));
    assert_has(text, "\n  holds          found, our finding on said\n    larger, rather\n");
    assert_has(text, "\n  undecided      open, our finding\n    nobody asked\n");
    free(text);
    WRITTEN(text, bli_judgements_csv(BLI_ROWS(BLI_FORM_CSV, out), bench->e, judged));
    assert_has(text,
               "claim,said,,t,\"4, a | b\",,small,3.00 \u00b1 0.20,load=0.4,at most 2,does not hold,,,3,0.1");
    assert_has(text, "\nfinding,found,said,t,,,\"larger, rather\",");
    assert_has(text, "\nfinding,open,,t,,,nobody asked,nothing,load=0.2,at most 2,undecided,,,,,\n");
    free(text);
    WRITTEN(text, bli_judgements_markdown(bench->e, judged, BLI_GROUP_CLAIMS, out));
    assert_string_equal(text,
                        "|  | 4, a \\| b | `said`: small | 3.00 \u00b1 0.20 at load=0.4 | at most 2 | **does "
                        "not hold** |\n");
    free(text);
    WRITTEN(text, bli_judgements_markdown(bench->e, judged, BLI_GROUP_FINDINGS, out));
    assert_has(text, "| larger, rather | `found`, on `said` | ");
    assert_has(text, "| nobody asked | `open` | nothing at load=0.2 | at most 2 | **undecided** |\n");
    free(text);
    free(judged);
}

/* A finding of ours that does not hold is a failure too. */
static void a_finding_can_fail(void **state) {
    struct bench *bench = *state;
    read_claims(bench, "  - {id: said, says: s, of: jsq, where: {load: 0.4}, expect: {most: 4}}\n"
                       "  - {id: found, finding: said, says: s, of: jsq, where: {load: 0.4}, expect: {most: "
                       "2}}\n");
    put(bench, 1, 0, 3, 0.1, steady);
    struct bli_judged *judged;
    struct bal_error err = {0};
    assert_int_equal(bli_judgements_new(bench->store, bench->e, &judged, &err), BAL_OK);
    struct bli_tally tally = {0};
    bli_tally_add(&tally, bench->e, judged);
    assert_int_equal(tally.claim[BLI_CLAIM_STATUS_FAILS], 0);
    assert_true(bli_tally_fails(&tally));
    free(judged);
}

/* Values 1 + 1/x along the axis, at 0.2, 0.4 and 0.8: they tend to 1. */
static void put_falling(struct bench *bench, size_t policy, double d) {
    put(bench, 0, policy, 1 + 1 / 0.2, d, steady);
    put(bench, 1, policy, 1 + 1 / 0.4, d, steady);
    put(bench, 2, policy, 1 + 1 / 0.8, d, steady);
}

/* The limit lies between the extrapolations by 1/x and by 1/sqrt(x); no finite system refutes a limit that
 * values still approach, and a wide extrapolation confirms none. */
static void limits(void **state) {
    struct bench *bench = *state;
    read_claims(bench, "  - {id: a, says: s, measure: limit, of: jsq, to: 1, along: load}\n"
                       "  - {id: b, says: s, measure: limit, of: random, to: -4, along: load}\n"
                       "  - {id: c, says: s, measure: limit, of: jiq, to: 3, along: load}\n"
                       "  - {id: d, says: s, measure: limit, of: jiq, to: 2, along: load}\n"
                       "  - {id: e, says: s, measure: limit, of: random, to: 1, along: load}\n");
    put_falling(bench, 0, 0.3);
    for (size_t point = 0; point < 3; point++)
        put(bench, point, 1, 3, 0.001, steady);
    put_falling(bench, 2, 0.001);
    const struct bli_judged wide = judge(bench, 0);
    assert_int_equal(wide.judgement, BLI_CLAIM_UNDECIDED);
    assert_true(wide.low < 1 && 1 < wide.high);
    assert_non_null(strstr(wide.why, "wider than a tenth"));
    const struct bli_judged far = judge(bench, 1);
    assert_int_equal(far.judgement, BLI_CLAIM_UNDECIDED);
    assert_non_null(strstr(far.why, "still approach"));
    const struct bli_judged there = judge(bench, 2);
    assert_int_equal(there.judgement, BLI_CLAIM_HOLDS);
    assert_true(fabs(there.value - 3) < 0.01);
    assert_int_equal(judge(bench, 3).judgement, BLI_CLAIM_FAILS);
    assert_string_equal(judge(bench, 3).check->expected, "the limit is 2");
    /* known well: the other laws fit far worse and are left out */
    const struct bli_judged narrow = judge(bench, 4);
    assert_int_equal(narrow.judgement, BLI_CLAIM_HOLDS);
    assert_true(narrow.high - narrow.low < 0.05);
}

/* What tends to 0 and has fallen to less than a hundredth has vanished, by whatever law. */
static void what_has_vanished(void **state) {
    struct bench *bench = *state;
    read_claims(bench, "  - {id: a, says: s, measure: limit, of: jsq, to: 0, along: load}\n"
                       "  - {id: b, says: s, measure: limit, of: jiq, to: 0, along: load}\n");
    static const double fast[] = {1, 0.02, 0.001}, slow[] = {1, 0.5, 0.02};
    for (size_t point = 0; point < 3; point++) {
        put(bench, point, 0, fast[point], 0.0001, steady);
        put(bench, point, 1, slow[point], 0.0001, steady);
    }
    assert_int_equal(judge(bench, 0).judgement, BLI_CLAIM_HOLDS);
    assert_near(judge(bench, 0).value, 0.001);
    assert_true(judge(bench, 1).value != 0.02);
}

/* A claim of several checks holds where all do; the worst of them is shown, with intervals for all. */
static void checks_hold_together(void **state) {
    struct bench *bench = *state;
    read_claims(bench, "  - {id: a, says: s, checks: [{of: jsq, where: {load: 0.2}, expect: {most: 3}}, "
                       "{of: jsq, where: {load: 0.4}, expect: {most: 4}}]}\n"
                       "  - {id: b, says: s, checks: [{of: jsq, where: {load: 0.2}, expect: {most: 3}}, "
                       "{of: jsq, where: {load: 0.4}, expect: {most: 2}}]}\n"
                       "  - {id: c, says: s, checks: [{of: jsq, where: {load: 0.4}, expect: {most: 2}}, "
                       "{of: jsq, where: {load: 0.4}, expect: {most: 3.1}}]}\n");
    put(bench, 0, 0, 2, 0.1, steady);
    put(bench, 1, 0, 3, 0.1, steady);
    const struct bli_judged both = judge(bench, 0);
    assert_int_equal(both.judgement, BLI_CLAIM_HOLDS);
    assert_near(both.high - both.value, half(0.1, 2));
    const struct bli_judged second = judge(bench, 1);
    assert_int_equal(second.judgement, BLI_CLAIM_FAILS);
    assert_near(second.value, 3);
    assert_string_equal(second.check->expected, "at most 2");
    assert_int_equal(judge(bench, 2).judgement, BLI_CLAIM_FAILS);
}

/* A formula is evaluated without a single trial; random is M/M/1: 1.25, 1.667 and 5 at these loads. */
static void formulas_need_no_trials(void **state) {
    struct bench *bench = *state;
    read_claims(bench,
                "  - {id: a, says: s, kind: formula, of: random, where: {load: 0.2}, expect: {printed: "
                "'1.25'}}\n"
                "  - {id: b, says: s, kind: formula, of: random, where: {load: 0.4}, expect: {printed: "
                "'1.66'}}\n"
                "  - {id: c, says: s, kind: formula, measure: ratio, of: {policy: random, at: {load: "
                "0.8}}, to: {policy: random, at: {load: 0.2}}, expect: {printed: '4'}}\n"
                "  - {id: d, says: s, kind: bound, of: random, where: {load: 0.8}, expect: {most: 5}}\n");
    const struct bli_judged a = judge(bench, 0);
    assert_int_equal(a.judgement, BLI_CLAIM_HOLDS);
    assert_string_equal(a.measured, "1.25");
    assert_string_equal(a.check->expected, "1.25 as printed, \u00b1 0.005");
    assert_int_equal(judge(bench, 1).judgement, BLI_CLAIM_FAILS);
    assert_int_equal(judge(bench, 2).judgement, BLI_CLAIM_HOLDS);
    assert_int_equal(judge(bench, 3).judgement, BLI_CLAIM_HOLDS);
}

static void words_have_one_reading(void **state) {
    struct bench *bench = *state;
    read_claims(bench, "  - {id: a, says: s, measure: ratio, of: jsq, to: jiq, expect: {word: close}}\n"
                       "  - {id: b, says: s, measure: difference, of: jsq, to: jiq, expect: {word: same}}\n"
                       "  - {id: c, says: s, of: jsq, expect: {word: negligible}}\n");
    assert_string_equal(bench->e->claim[0].check->expected, "close: 0.9 to 1.1");
    assert_string_equal(bench->e->claim[1].check->expected, "same: -0.02 to 0.02");
    assert_string_equal(bench->e->claim[2].check->expected, "negligible: at most 0.01");
}

/* What does not hold and is known to be wrong is an error of the paper; what holds all the same is not as the
 * file says; what holds by definition is no claim. */
static void errors_are_told_from_failures(void **state) {
    struct bench *bench = *state;
    read_claims(bench,
                "  - {id: a, says: s, of: jsq, where: {load: 0.4}, error: misprint, expect: {most: 2}}\n"
                "  - {id: b, says: s, kind: definition, of: jsq, where: {load: 0.4}, expect: {most: 4}}\n"
                "  - {id: c, says: s, of: jsq, where: {load: 0.4}, error: none, expect: {most: 4}}\n"
                "  - {id: d, says: s, of: jsq, where: {load: 0.4}, reason: sharp, expect: {most: 2}}\n"
                "  - {id: e, says: s, of: jsq, where: {load: 0.4}, reason: none, expect: {most: 4}}\n");
    put(bench, 1, 0, 3, 0.1, steady);
    struct bli_judged *judged;
    struct bal_error err = {0};
    assert_int_equal(bli_judgements_new(bench->store, bench->e, &judged, &err), BAL_OK);
    struct bli_tally tally = {.paper = true};
    bli_tally_add(&tally, bench->e, judged);
    assert_true(tally.claim[BLI_CLAIM_STATUS_ERROR] == 1 && tally.claim[BLI_CLAIM_STATUS_UNEXPECTED] == 2);
    assert_true(tally.claim[BLI_CLAIM_STATUS_READING] == 1 && tally.claim[BLI_CLAIM_STATUS_FAILS] == 0);
    assert_true(tally.claim[BLI_CLAIM_STATUS_HOLDS] == 0 && tally.definitions == 1);
    assert_true(bli_tally_fails(&tally));
    tally.claim[BLI_CLAIM_STATUS_UNEXPECTED] = 0;
    assert_false(bli_tally_fails(&tally));
    char *text;
    WRITTEN(text, bli_tally_print(&tally, out));
    assert_string_equal(text, "2 claims: 0 reproduced, 1 error of the paper confirmed, 0 undecided, "
                              "1 not as read.\n"
                              "1 statement holds by definition.\n");
    free(text);
    WRITTEN(text, bli_judgements_text(bench->e, judged, BLI_GROUP_CLAIMS, out));
    assert_has(text, "\n  the paper's error, confirmed  a\n");
    assert_has(text, "    Error: misprint\n");
    assert_has(text, "\n  holds, although an error is stated  c\n");
    assert_has(text, "\n  does not hold as read  d\n");
    assert_has(text, "    Reason: sharp\n");
    assert_has(text, "\n  holds, although a reason is stated  e\n");
    free(text);
    free(judged);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comparisons_are_paired, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verdicts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spans_of_paths_have_means, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ranks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(critical_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(crossings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_claimed_without_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(findings_are_counted_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_finding_can_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_vanished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(checks_hold_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(formulas_need_no_trials, set_up, tear_down),
        cmocka_unit_test_setup_teardown(words_have_one_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_are_told_from_failures, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
