/* SPDX-License-Identifier: BSD-2-Clause */
/* tabs where messages take time, against a literal twin: each message is an entry of a list, and dispatcher
 * and servers know no more than what has reached them. Jobs that reach a server which is off wake it or are
 * discarded, and set-ups are aborted or not.
 *
 * Means of eight runs are compared at 4.5 standard errors, by Student's t with 14 degrees of freedom: each of
 * the 18 comparisons has a chance of 7e-6 to fail by accident, and the seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/lab.h"
#include "ballast/random.h"
#include "texts.h"

#include <math.h>
#include <stdio.h>

enum { SERVERS = 6, RUNS = 8, LETTERS = 1 << 12 };
static const double lambda = 0.35, mu = 0.5, nu = 0.4, delay = 0.3, warm = 200, length = 4000;

enum colour { YELLOW, GREEN, RED, BLUE }; /* what the dispatcher thinks */
enum state { ON, OFF, SETUP };            /* what is so */
enum kind { JOB, WAKE, ABORT, REPORT };

struct letter {
    double time;
    enum kind kind;
    unsigned server;
    enum colour says;
};

struct twin {
    bool discards, aborts;
    enum colour colour[SERVERS];
    enum state state[SERVERS];
    unsigned jobs[SERVERS];
    struct letter letter[LETTERS]; /* all take as long: first sent, first there */
    unsigned first, letters;
    double now;
    struct bal_rng rng;
    double offered, lost, refused, reports, area[4];
};

static bool measuring(const struct twin *w) {
    return w->now >= warm;
}

static void send(struct twin *w, enum kind kind, unsigned server, enum colour says) {
    assert_true(w->letters < LETTERS);
    w->letter[(w->first + w->letters++) % LETTERS] = (struct letter){w->now + delay, kind, server, says};
}

static void send_report(struct twin *w, unsigned server, enum colour says) {
    send(w, REPORT, server, says);
    w->reports += measuring(w);
}

static unsigned any(struct twin *w, enum colour colour) {
    unsigned found = SERVERS, count = 0;
    for (unsigned s = 0; s < SERVERS; s++)
        if (w->colour[s] == colour && bal_rng_below(&w->rng, ++count) == 0)
            found = s;
    return found;
}

static void arrive(struct twin *w) {
    w->offered += measuring(w);
    const unsigned green = any(w, GREEN), busy = any(w, YELLOW);
    if (green < SERVERS) {
        w->colour[green] = YELLOW;
        send(w, JOB, green, YELLOW);
        const unsigned blue = w->aborts ? any(w, BLUE) : SERVERS;
        if (blue < SERVERS) {
            w->colour[blue] = RED;
            send(w, ABORT, blue, RED);
        }
        return;
    }
    if (busy < SERVERS)
        send(w, JOB, busy, YELLOW);
    else
        w->refused += measuring(w);
    const unsigned red = any(w, RED);
    if (red < SERVERS) {
        w->colour[red] = BLUE;
        send(w, WAKE, red, BLUE);
    }
}

static void begin_setup(struct twin *w, unsigned server) {
    w->state[server] = SETUP;
    send_report(w, server, BLUE);
}

static void receive_job(struct twin *w, unsigned server) {
    if (w->state[server] == OFF && w->discards) {
        w->lost += measuring(w);
        return;
    }
    if (w->state[server] == OFF)
        begin_setup(w, server);
    w->jobs[server]++;
}

static void receive(struct twin *w, const struct letter *letter) {
    const unsigned server = letter->server;
    if (letter->kind == REPORT)
        w->colour[server] = letter->says;
    else if (letter->kind == JOB)
        receive_job(w, server);
    else if (letter->kind == WAKE && w->state[server] == OFF)
        begin_setup(w, server);
    else if (letter->kind == ABORT && w->state[server] == SETUP && w->jobs[server] == 0) {
        w->state[server] = OFF;
        send_report(w, server, RED);
    }
}

/* What a server does by itself. */
static void act(struct twin *w, unsigned server) {
    if (w->state[server] == SETUP) {
        w->state[server] = ON;
        send_report(w, server, w->jobs[server] ? YELLOW : GREEN);
    } else if (w->jobs[server] == 0) {
        w->state[server] = OFF;
        send_report(w, server, RED);
    } else if (--w->jobs[server] == 0) {
        send(w, REPORT, server, GREEN); /* with the response of that job: no message of its own */
    }
}

static double rate_of(const struct twin *w, unsigned server) {
    return w->state[server] == OFF ? 0 : w->state[server] == SETUP ? nu : w->jobs[server] ? 1 : mu;
}

/* Nothing has a memory but letters, so that all else may be drawn again after each. */
static void step(struct twin *w) {
    double total = lambda * SERVERS;
    for (unsigned s = 0; s < SERVERS; s++)
        total += rate_of(w, s);
    const double next = w->now + bal_rng_exp(&w->rng) / total;
    const bool letter = w->letters && w->letter[w->first].time <= next;
    const double until = letter ? w->letter[w->first].time : next;
    for (unsigned s = 0; s < SERVERS; s++) /* busy, standing by, off, in set-up */
        w->area[w->state[s] == OFF     ? 2
                : w->state[s] == SETUP ? 3
                : w->jobs[s]           ? 0
                                       : 1] += measuring(w) ? until - w->now : 0;
    w->now = until;
    if (letter) {
        const struct letter got = w->letter[w->first];
        w->first = (w->first + 1) % LETTERS;
        w->letters--;
        receive(w, &got);
        return;
    }
    double which = bal_rng_uniform(&w->rng) * total - lambda * SERVERS;
    if (which < 0) {
        arrive(w);
        return;
    }
    unsigned s = 0;
    while (s + 1 < SERVERS && which >= rate_of(w, s))
        which -= rate_of(w, s++);
    act(w, s);
}

enum { LOST, REFUSED, REPORTS, BUSY, STANDBY, SET_UP, WHATS };
static const enum bli_metric metrics[WHATS] = {BLI_LOST,         BLI_REFUSED,         BLI_REPORTS_PER_JOB,
                                               BLI_SERVERS_BUSY, BLI_SERVERS_STANDBY, BLI_SERVERS_SETUP};

static void run_twin(bool discards, bool aborts, uint64_t replication, double value[WHATS]) {
    static struct twin w;
    w = (struct twin){.discards = discards, .aborts = aborts};
    bal_rng_init(&w.rng, 71, replication, BAL_STREAM_TEST);
    for (unsigned s = 0; s < SERVERS; s++)
        w.colour[s] = GREEN;
    while (w.now < warm + length)
        step(&w);
    const double all = length * SERVERS;
    value[LOST] = w.lost / w.offered;
    value[REFUSED] = w.refused / w.offered;
    value[REPORTS] = w.reports / (w.offered - w.refused); /* for each job that was sent */
    value[BUSY] = w.area[0] / all;
    value[STANDBY] = w.area[1] / all;
    value[SET_UP] = w.area[3] / all;
}

static struct bli_result run_engine(const char *policy) {
    struct bli_case c = {
        .model = {.load = lambda},
        .policy = policy_of(policy),
        .run = {.seed = 72, .time = warm + length, .warmup = warm / (warm + length)},
        .replications = RUNS,
    };
    assert_int_equal(bli_servers_parse("6", &c.model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp", &c.model.size, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("det(0.3)", &c.model.network.delay, NULL), BAL_OK);
    const struct bli_lab_options options = {.threads = 2};
    struct bli_result result;
    struct bal_error err = {0};
    if (bli_lab_run(&c, 1, &options, &result, &err))
        fail_msg("%s", err.text);
    assert_int_equal(result.engine, BLI_ENGINE_NETWORK);
    return result;
}

static void compare(const char *policy, bool discards, bool aborts) {
    double value[WHATS][RUNS];
    for (unsigned r = 0; r < RUNS; r++) {
        double one[WHATS];
        run_twin(discards, aborts, r, one);
        for (int what = 0; what < WHATS; what++)
            value[what][r] = one[what];
    }
    const struct bli_result result = run_engine(policy);
    const double t = bli_student_quantile(1 - erfc(4.5 / sqrt(2)) / 2, 2 * RUNS - 2);
    for (int what = 0; what < WHATS; what++) {
        const struct bli_estimate twin = bli_estimate_mean(value[what], RUNS),
                                  engine = result.metric[metrics[what]];
        const double allowed =
            t * hypot(twin.half_width, engine.half_width) / bli_student_quantile(0.975, RUNS - 1) + 1e-12;
        if (!(fabs(twin.mean - engine.mean) <= allowed))
            fail_msg("%s: %s is %.5g, and %.5g in the twin; allowed are %.2g", policy,
                     bli_metric_table[metrics[what]].name, engine.mean, twin.mean, allowed);
    }
    assert_true(discards == (result.metric[BLI_LOST].mean > 0.001));
}

static void jobs_wake_servers_that_are_off(void **state) {
    (void)state;
    compare("tabs:mu=0.5,nu=0.4", false, false);
}

static void servers_that_are_off_discard_jobs(void **state) {
    (void)state;
    compare("tabs:mu=0.5,nu=0.4,off=discard", true, false);
}

static void setups_are_aborted(void **state) {
    (void)state;
    compare("tabs:mu=0.5,nu=0.4,abort=yes,off=discard", true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_wake_servers_that_are_off),
        cmocka_unit_test(servers_that_are_off_discard_jobs),
        cmocka_unit_test(setups_are_aborted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
