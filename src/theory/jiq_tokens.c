/* SPDX-License-Identifier: BSD-2-Clause */
/* jiq with several dispatchers, in the limit of many of them with `ratio` servers each.
 *
 * A server that becomes idle gives its token to a random dispatcher. If a job comes to it without that token
 * the token stays where it is, and is used later: by then the server may be busy, or have given a token to
 * another dispatcher, too. Lu et al. (2011) leave that out; Mitzenmacher (2016) has equations with it, for
 * servers that have one token at most. Here a server may have several, as in the network engine:
 *
 * - A dispatcher uses a uniform one of its tokens. With theta for the tokens that come for each job, their
 *   number is that of M/M/1 with load theta, and a token stays as long as a job in M/M/1 with processor
 *   sharing. A job finds no token with probability 1 - theta.
 * - A server gets jobs at rate lambda (1 - theta), and one more for each of its tokens when that is used.
 *   Different tokens are at different dispatchers, so that their times are independent of each other.
 * - theta lambda is the rate at which a server becomes idle, which makes theta a fixed point.
 *
 * The time that a token stays is a mixture of exponentials (its density is u' exp(Gt) u for a symmetric G);
 * Lanczos's method finds the PHASES of them that have the same density at 0 and the same first four moments.
 * With more of them no digit changes that is printed. Then the jobs of a server and its tokens in each phase
 * are a quasi-birth-death process, whose matrix R is triangular, as tokens are only used while it is busy. */
#include "theory/jiq_tokens.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PHASES = 3,
    TOKENS = 6,  /* of a server, at most */
    STATES = 84, /* (TOKENS + PHASES) over PHASES */
    PLACES_MAX = 1 << 19,
    ROUNDS = 60,
};
static const double most_tokens = 5e3;

/* ---- how long a token stays ---- */

struct stays {
    double part[PHASES], rate[PHASES]; /* of the mixture */
};

/* Solves G y = x, G tridiagonal and symmetric: off-diagonal b; c is room for as many numbers. */
static void solve_tridiagonal(const double *a, const double *b, size_t n, const double *x, double *c,
                              double *y) {
    c[0] = a[0];
    y[0] = x[0];
    for (size_t i = 1; i < n; i++) {
        const double factor = b[i - 1] / c[i - 1];
        c[i] = a[i] - factor * b[i - 1];
        y[i] = x[i] - factor * y[i - 1];
    }
    y[n - 1] /= c[n - 1];
    for (size_t i = n - 1; i-- > 0;)
        y[i] = (y[i] - b[i] * y[i + 1]) / c[i];
}

static double norm_of(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* One rotation of Jacobi's method. */
static void rotate(double m[PHASES][PHASES], double v[PHASES][PHASES], int p, int q) {
    const double angle = 0.5 * atan2(2 * m[p][q], m[q][q] - m[p][p]), c = cos(angle), s = sin(angle);
    for (int k = 0; k < PHASES; k++) {
        const double x = m[k][p], y = m[k][q], vx = v[k][p], vy = v[k][q];
        m[k][p] = c * x - s * y, m[k][q] = s * x + c * y;
        v[k][p] = c * vx - s * vy, v[k][q] = s * vx + c * vy;
    }
    for (int k = 0; k < PHASES; k++) {
        const double x = m[p][k], y = m[q][k];
        m[p][k] = c * x - s * y, m[q][k] = s * x + c * y;
    }
}

/* The eigenvalues of m, on its diagonal afterwards, with the squares of the first entries of the vectors. */
static void find_eigenvalues(double m[PHASES][PHASES], double weight[PHASES]) {
    double v[PHASES][PHASES] = {{0}};
    for (int i = 0; i < PHASES; i++)
        v[i][i] = 1;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < PHASES; p++)
            for (int q = p + 1; q < PHASES; q++)
                rotate(m, v, p, q);
    for (int i = 0; i < PHASES; i++)
        weight[i] = v[0][i] * v[0][i];
}

/* A token that is one of l at its dispatcher: another comes at rate theta, one of the others is used at rate
 * (l - 1)/l, it is used itself at rate 1/l, in units of 1 / (ratio lambda). Scaled by the square root of
 * l theta^(l-1) that is symmetric. room has 6 n numbers. */
static void find_stays(double theta, size_t n, double *room, struct stays *stays) {
    double *a = room, *b = a + n, *q = b + n, *before = q + n, *w = before + n, *c = w + n;
    for (size_t i = 0; i < n; i++) {
        const double l = (double)i + 1;
        a[i] = theta + 1;
        b[i] = -sqrt(theta * l / (l + 1));
        q[i] = sqrt(exp((l - 1) * log(theta)) / l);
        before[i] = 0;
    }
    double norm = norm_of(q, n), beta = 0, m[PHASES][PHASES] = {{0}}, weight[PHASES];
    for (size_t i = 0; i < n; i++)
        q[i] /= norm;
    for (int k = 0; k < PHASES; k++) { /* Lanczos, with the inverse of G: long times matter most */
        solve_tridiagonal(a, b, n, q, c, w);
        for (size_t i = 0; i < n; i++) {
            w[i] -= beta * before[i];
            m[k][k] += w[i] * q[i];
        }
        for (size_t i = 0; i < n; i++) {
            w[i] -= m[k][k] * q[i];
            before[i] = q[i];
        }
        beta = norm_of(w, n);
        if (k + 1 < PHASES)
            m[k][k + 1] = m[k + 1][k] = beta;
        for (size_t i = 0; i < n; i++)
            q[i] = w[i] / beta;
    }
    find_eigenvalues(m, weight);
    double sum = 0;
    for (int j = 0; j < PHASES; j++)
        sum += weight[j] * m[j][j];
    for (int j = 0; j < PHASES; j++) {
        stays->part[j] = weight[j] * m[j][j] / sum;
        stays->rate[j] = 1 / m[j][j];
    }
}

/* ---- a server ---- */

/* How many tokens of each phase it has: fewer tokens first. */
struct token_states {
    size_t count;
    unsigned tokens[STATES][PHASES];
    unsigned all[STATES];
    size_t more[STATES][PHASES]; /* with one more; itself where it has all that it may have */
};

static size_t find_state(const struct token_states *states, const unsigned tokens[PHASES]) {
    for (size_t i = 0; i < states->count; i++)
        if (memcmp(states->tokens[i], tokens, PHASES * sizeof *tokens) == 0)
            return i;
    return states->count;
}

static void list_states(struct token_states *states) {
    states->count = 0;
    for (unsigned all = 0; all <= TOKENS; all++)
        for (unsigned first = 0; first <= all; first++)
            for (unsigned second = 0; first + second <= all; second++) {
                const unsigned tokens[PHASES] = {first, second, all - first - second};
                memcpy(states->tokens[states->count], tokens, sizeof tokens);
                states->all[states->count++] = all;
            }
    for (size_t i = 0; i < states->count; i++)
        for (int j = 0; j < PHASES; j++) {
            unsigned tokens[PHASES];
            memcpy(tokens, states->tokens[i], sizeof tokens);
            tokens[j]++;
            const size_t more = find_state(states, tokens);
            states->more[i][j] = more < states->count ? more : i;
        }
}

typedef double matrix[STATES][STATES];

struct server_process {
    struct token_states states;
    struct stays stays;
    double plain;          /* rate of jobs that come without a token */
    double leaves[STATES]; /* of what may happen but the end of a job */
    matrix up;             /* rates of all that brings a job */
    matrix r;              /* from the states with n jobs to those with n + 1 */
    matrix work;
    double idle[STATES], one[STATES], next[STATES]; /* probabilities with 0, 1, .. jobs */
};

static void set_rates(struct server_process *s) {
    memset(s->up, 0, sizeof s->up);
    for (size_t i = 0; i < s->states.count; i++) {
        s->up[i][i] += s->plain;
        s->leaves[i] = s->plain;
        for (int j = 0; j < PHASES; j++)
            s->leaves[i] += s->states.tokens[i][j] * s->stays.rate[j];
    }
    for (size_t i = 0; i < s->states.count; i++)
        for (int j = 0; j < PHASES; j++)
            if (s->states.more[i][j] != i)
                s->up[s->states.more[i][j]][i] +=
                    s->states.tokens[s->states.more[i][j]][j] * s->stays.rate[j];
}

/* up - R (leaves + 1) + R R = 0, the smallest solution; R is triangular, as up is. */
static void find_r(struct server_process *s) {
    const size_t n = s->states.count;
    memset(s->r, 0, sizeof s->r);
    for (size_t i = 0; i < n; i++) {
        const double c = s->leaves[i] + 1;
        s->r[i][i] = 2 * s->up[i][i] / (c + sqrt(c * c - 4 * s->up[i][i]));
        for (size_t j = i; j-- > 0;) {
            double sum = s->up[i][j];
            for (size_t k = j + 1; k < i; k++)
                sum += s->r[i][k] * s->r[k][j];
            s->r[i][j] = sum / (s->leaves[j] + 1 - s->r[i][i] - s->r[j][j]);
        }
    }
}

/* x (leaves + 1 - R) = y by substitution: the matrix is triangular. */
static void solve_first(const struct server_process *s, const double *y, double *x) {
    for (size_t j = s->states.count; j-- > 0;) {
        double sum = y[j];
        for (size_t i = j + 1; i < s->states.count; i++)
            sum += x[i] * s->r[i][j];
        x[j] = sum / (s->leaves[j] + 1 - s->r[j][j]);
    }
}

static void multiply(const double *x, const matrix m, size_t n, double *y) {
    memset(y, 0, n * sizeof *y);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            y[j] += x[i] * m[i][j];
}

/* Where a server is after its only job has ended: with one more token. */
static void add_token(const struct server_process *s, const double *x, double *y) {
    memset(y, 0, s->states.count * sizeof *y);
    for (size_t i = 0; i < s->states.count; i++)
        for (int j = 0; j < PHASES; j++)
            y[s->states.more[i][j]] += x[i] * s->stays.part[j];
}

/* The states at the beginnings of idle times are a Markov chain, in which there is a token: all but the first
 * of the list. Its probabilities by elimination. */
static void find_idle(struct server_process *s) {
    const size_t n = s->states.count;
    for (size_t i = 0; i < n; i++) {
        double start[STATES] = {0}, up[STATES], end[STATES];
        start[i] = 1 / s->leaves[i];
        multiply(start, s->up, n, up);
        solve_first(s, up, end);
        add_token(s, end, s->work[i]);
    }
    for (size_t k = n - 1; k > 1; k--) { /* Grassmann, Taksar and Heyman: no digits are lost */
        double out = 0;
        for (size_t j = 1; j < k; j++)
            out += s->work[k][j];
        for (size_t i = 1; i < k; i++) {
            s->work[i][k] /= out;
            for (size_t j = 1; j < k; j++)
                s->work[i][j] += s->work[i][k] * s->work[k][j];
        }
    }
    double start[STATES] = {0, 1};
    for (size_t k = 2; k < n; k++)
        for (size_t i = 1; i < k; i++)
            start[k] += start[i] * s->work[i][k];
    for (size_t i = 0; i < n; i++)
        s->idle[i] = start[i] / s->leaves[i];
}

static double sum_of(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* Fills in the tail, and returns the rate at which a server becomes idle. */
static double solve_server(struct server_process *s, struct jiq_tokens *answer) {
    const size_t n = s->states.count;
    double up[STATES], level[JIQ_LEVELS];
    set_rates(s);
    find_r(s);
    find_idle(s);
    multiply(s->idle, s->up, n, up);
    solve_first(s, up, s->one);
    memcpy(s->next, s->one, sizeof s->next);
    size_t levels = 1;
    level[0] = sum_of(s->idle, n);
    for (double all = level[0]; levels < JIQ_LEVELS; levels++) {
        level[levels] = sum_of(s->next, n);
        all += level[levels];
        if (level[levels] < 1e-18 * all)
            break;
        multiply(s->next, s->r, n, up);
        memcpy(s->next, up, sizeof up);
    }
    double sum = 0;
    memset(answer->tail, 0, sizeof answer->tail);
    for (size_t k = levels; k-- > 0;)
        answer->tail[k] = sum += level[k];
    answer->levels = levels;
    answer->jobs = 0;
    for (size_t k = levels; k-- > 0;) {
        answer->tail[k] /= sum;
        answer->jobs += k > 0 ? answer->tail[k] : 0;
    }
    return sum_of(s->one, n) / sum;
}

/* ---- the fixed point ---- */

static size_t places_of(double theta) {
    const double places = 60 - 50 / log(theta);
    return places < PLACES_MAX ? (size_t)places : PLACES_MAX;
}

/* All that comes is served: the part of the servers that work is the load, unless states are missing. */
static bool is_complete(const struct jiq_tokens *answer, double lambda) {
    return fabs(answer->tail[1] / lambda - 1) < 1e-4 && answer->levels < JIQ_LEVELS;
}

enum jiq_tokens_outcome bli_jiq_tokens_solve(double lambda, double ratio, struct jiq_tokens *answer) {
    if (ratio * (1 - lambda) > most_tokens)
        return JIQ_TOKENS_MANY;
    double low = 0, high = 1 - 0.5 / most_tokens;
    struct server_process *s = malloc(sizeof *s);
    double *room = malloc(6 * places_of(high) * sizeof *room);
    const bool ready = s && room;
    if (ready)
        list_states(&s->states);
    else
        bli_memory_lose();
    for (int i = 0; ready && i < ROUNDS && high - low > 1e-12; i++) {
        const double theta = 0.5 * (low + high);
        find_stays(theta, places_of(theta), room, &s->stays);
        for (int j = 0; j < PHASES; j++)
            s->stays.rate[j] *= ratio * lambda;
        s->plain = lambda * (1 - theta);
        *(solve_server(s, answer) > theta * lambda ? &low : &high) = theta;
        answer->no_token = 1 - theta;
    }
    free(s);
    free(room);
    return ready && is_complete(answer, lambda) ? JIQ_TOKENS_SOLVED : JIQ_TOKENS_UNKNOWN;
}
