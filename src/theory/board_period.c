/* SPDX-License-Identifier: BSD-2-Clause */
/* Periodic updates with many servers (Mitzenmacher 2000). Let b_i be the part of servers with i jobs when the
 * queues are looked at, and B_i the part with at least i. Until the next look the servers with i on the board
 * are M/M/1 queues that begin with i jobs and get jobs at a rate that does not change:
 *
 *     choices:    lambda (B_i^d - B_{i+1}^d) / b_i
 *     shortest:   lambda / b_i for the least i with servers, 0 for the others
 *     interpret:  max(0, level - i) / period, the sum of b_i max(0, level - i) being lambda period
 *
 * So a period takes b to another b, of which a fixed point is wanted, and what happens in between follows
 * from it. M/M/1 in time is computed by uniformization: the state after n steps of a chain, n being Poisson.
 *
 * The fixed point is found by Anderson's acceleration of the iteration: from the last few steps the mixture
 * whose change is smallest. */
#include "theory/board_period.h"

#include "base/memory.h"
#include "base/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 12, ROUNDS = 400, STEPS_MAX = 4000 };
static const double period_min = 1e-3, period_max = 100, negligible = 1e-15, most_cost = 2e8;

struct work {
    const struct board_period *board;
    double rate[BOARD_LEVELS]; /* by what is on the board */
    double chain[BOARD_LEVELS + 1], next[BOARD_LEVELS + 1];
    double end[BOARD_LEVELS];                       /* when the period ends */
    double mean[BOARD_LEVELS], found[BOARD_LEVELS]; /* over it, with exactly i jobs */
    double x[BOARD_LEVELS];                         /* when it begins */
    double change[BOARD_LEVELS], last_change[BOARD_LEVELS], last_x[BOARD_LEVELS];
    double x_step[DEPTH][BOARD_LEVELS], change_step[DEPTH][BOARD_LEVELS];
    unsigned steps;
    double cost; /* numbers added up so far */
};

/* ---- who gets the jobs ---- */

static void set_rates_of_choices(struct work *w) {
    double above[BOARD_LEVELS + 1];
    above[BOARD_LEVELS] = 0;
    for (size_t i = BOARD_LEVELS; i-- > 0;)
        above[i] = above[i + 1] + w->x[i];
    for (size_t i = 0; i < BOARD_LEVELS; i++) { /* (a^d - b^d)/(a - b) without a difference */
        double sum = 0, power = 1;
        for (unsigned k = 0; k < w->board->d; k++, power *= above[i + 1])
            sum = sum * above[i] + power;
        w->rate[i] = w->board->lambda * sum;
    }
}

static void set_rates_of_shortest(struct work *w) {
    size_t least = 0;
    while (least + 1 < BOARD_LEVELS && w->x[least] < 1e-12)
        least++;
    memset(w->rate, 0, sizeof w->rate);
    w->rate[least] = w->board->lambda / w->x[least];
}

static void set_rates_of_interpretation(struct work *w) {
    double level = 0, servers = 0, sum = w->board->lambda * w->board->period;
    for (size_t i = 0; i < BOARD_LEVELS && (servers == 0 || (double)i < level); i++) {
        servers += w->x[i];
        sum += (double)i * w->x[i];
        level = servers > 0 ? sum / servers : 0;
    }
    for (size_t i = 0; i < BOARD_LEVELS; i++)
        w->rate[i] = fmax(0, level - (double)i) / w->board->period;
}

/* ---- one period ---- */

/* The servers with i jobs on the board. */
static bool follow_level(struct work *w, size_t i) {
    const double events = w->rate[i] + 1, mean = events * w->board->period;
    const double up = w->rate[i] / events, down = 1 / events;
    const double steps = ceil(mean + 8 * sqrt(mean) + 20);
    if (!(steps <= STEPS_MAX && w->cost < most_cost))
        return false;
    double upto = 0;
    size_t low = i, high = i; /* nothing is outside */
    memset(w->chain, 0, sizeof w->chain);
    w->chain[i] = w->x[i];
    for (double n = 0; n <= steps && 1 - upto > 1e-17; n++) {
        const double now = exp(bli_poisson_log(n, mean, n - mean));
        upto += now;
        w->cost += (double)(high - low + 1);
        const double later = fmax(0, 1 - upto) / mean; /* of the time is spent after n steps */
        for (size_t j = low; j <= high; j++) {
            w->end[j] += now * w->chain[j];
            w->mean[j] += later * w->chain[j];
            w->found[j] += later * w->chain[j] * w->rate[i];
        }
        if (up > 0 && high + 1 < BOARD_LEVELS && w->chain[high] * up > negligible * negligible)
            high++;
        const size_t from = low > 0 ? low - 1 : 0;
        for (size_t j = from; j <= high; j++)
            w->next[j] = (j > 0 ? up * w->chain[j - 1] : down * w->chain[0]) + down * w->chain[j + 1];
        low = from;
        memcpy(w->chain + low, w->next + low, (high - low + 1) * sizeof *w->chain);
    }
    return true;
}

/* From x to end, and what happens in between. */
static bool follow_period(struct work *w) {
    if (w->board->pick == BOARD_CHOICES)
        set_rates_of_choices(w);
    else if (w->board->pick == BOARD_SHORTEST)
        set_rates_of_shortest(w);
    else
        set_rates_of_interpretation(w);
    memset(w->end, 0, sizeof w->end);
    memset(w->mean, 0, sizeof w->mean);
    memset(w->found, 0, sizeof w->found);
    for (size_t i = 0; i < BOARD_LEVELS; i++)
        if (w->x[i] > negligible && !follow_level(w, i))
            return false;
    return w->end[BOARD_LEVELS - 1] < negligible; /* what would go beyond is lost */
}

/* ---- the fixed point ---- */

static double product(const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < BOARD_LEVELS; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The mixture of the last steps whose change is smallest, by orthogonalizing them; `part` of each is taken
 * off. */
static void remove_steps(struct work *w) {
    static const double dependent = 1e-10;
    const unsigned count = w->steps < DEPTH ? w->steps : DEPTH;
    for (unsigned k = 0; k < count; k++) {
        double *x_step = w->x_step[k], *change_step = w->change_step[k];
        const double before = product(change_step, change_step);
        for (unsigned l = 0; l < k; l++) {
            const double norm = product(w->change_step[l], w->change_step[l]);
            const double part = norm > 0 ? product(change_step, w->change_step[l]) / norm : 0;
            for (size_t i = 0; i < BOARD_LEVELS; i++) {
                change_step[i] -= part * w->change_step[l][i];
                x_step[i] -= part * w->x_step[l][i];
            }
        }
        if (product(change_step, change_step) <= dependent * dependent * before) {
            memset(x_step, 0, BOARD_LEVELS * sizeof *x_step);
            memset(change_step, 0, BOARD_LEVELS * sizeof *change_step);
        }
    }
    for (unsigned k = 0; k < count; k++) {
        const double norm = product(w->change_step[k], w->change_step[k]);
        const double part = norm > 0 ? product(w->change, w->change_step[k]) / norm : 0;
        for (size_t i = 0; i < BOARD_LEVELS; i++) {
            w->x[i] -= part * w->x_step[k][i];
            w->change[i] -= part * w->change_step[k][i];
        }
    }
}

/* The newest step is put first; the span of the others is what counts, not which they were. */
static void record_step(struct work *w) {
    const unsigned kept = w->steps < DEPTH ? w->steps : DEPTH - 1;
    memmove(w->x_step[1], w->x_step[0], kept * sizeof *w->x_step);
    memmove(w->change_step[1], w->change_step[0], kept * sizeof *w->change_step);
    for (size_t i = 0; i < BOARD_LEVELS; i++) {
        w->x_step[0][i] = w->x[i] - w->last_x[i];
        w->change_step[0][i] = w->change[i] - w->last_change[i];
    }
    w->steps++;
}

static void normalize(double *x) {
    double sum = 0;
    for (size_t i = 0; i < BOARD_LEVELS; i++) {
        x[i] = fmax(0, x[i]);
        sum += x[i];
    }
    for (size_t i = 0; i < BOARD_LEVELS; i++)
        x[i] /= sum;
}

static bool find_fixed_point(struct work *w) {
    const double enough = 1e-11 * fmin(1, w->board->period); /* a short period changes little */
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (!follow_period(w))
            return false;
        double off = 0;
        for (size_t i = 0; i < BOARD_LEVELS; i++) {
            w->change[i] = w->end[i] - w->x[i];
            off += fabs(w->change[i]);
        }
        if (off <= enough)
            return true;
        if (round > 0)
            record_step(w);
        memcpy(w->last_x, w->x, sizeof w->x);
        memcpy(w->last_change, w->change, sizeof w->change);
        remove_steps(w);
        for (size_t i = 0; i < BOARD_LEVELS; i++)
            w->x[i] += w->change[i];
        normalize(w->x);
    }
    return false;
}

static void sum_up(const struct work *w, struct board_answer *answer) {
    double tail = 0, found = 0, jobs = 0;
    size_t levels = 0;
    for (size_t i = BOARD_LEVELS; i-- > 0;) {
        answer->tail[i] = tail += w->mean[i];
        answer->found[i] = found += w->found[i] / w->board->lambda;
        jobs += i > 0 ? tail : 0;
        if (levels == 0 && tail > negligible)
            levels = i + 1;
    }
    answer->jobs = jobs;
    answer->levels = levels;
}

/* The queues under pod. */
static void begin_with(struct work *w, double d) {
    double tail = 1;
    memset(w->x, 0, sizeof w->x);
    for (size_t i = 0; i < BOARD_LEVELS && tail > negligible; i++) {
        const double next = w->board->lambda * pow(tail, d);
        w->x[i] = tail - next;
        tail = next;
    }
    normalize(w->x);
    w->steps = 0;
}

bool bli_board_period_solve(const struct board_period *board, struct board_answer *answer) {
    if (!(board->period >= period_min && board->period <= period_max))
        return false;
    struct work *w = calloc(1, sizeof *w);
    if (!w) {
        bli_memory_lose();
        return false;
    }
    w->board = board;
    begin_with(w, 2);
    bool solved = find_fixed_point(w);
    if (!solved) {
        begin_with(w, 1);
        solved = find_fixed_point(w);
    }
    if (solved)
        sum_up(w, answer);
    free(w);
    return solved;
}
