/* SPDX-License-Identifier: BSD-2-Clause */
/* Classical queues: M/M/1, M/M/N, E_k/M/1, D/M/1 with their distributions of waiting; M/G/1, plain and with
 * priorities. Kleinrock, Queueing Systems (1975, 1976), has all of them. */
#include "ballast/theory.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

static const struct bli_wait wait_unknown = {NAN, NAN};
static const struct bli_wait wait_unstable = {1.0, 0.0};

struct bli_wait bli_wait_mm1(double lambda) {
    if (!(lambda >= 0.0))
        return wait_unknown;
    if (lambda >= 1.0)
        return wait_unstable;
    return (struct bli_wait){.probability = lambda, .rate = 1.0 - lambda};
}

/* Erlang's loss probability of n servers offered a erlangs: B_k = a B_{k-1} / (k + a B_{k-1}), B_0 = 1.
 * Every step shrinks the relative error of the one before, so the recursion is stable at any length. */
static double erlang_b(uint64_t n, double a) {
    double b = 1.0;
    for (uint64_t k = 1; k <= n && b > 0.0; k++)
        b = a * b / ((double)k + a * b);
    return b;
}

struct bli_wait bli_wait_mmn(double lambda, uint64_t servers) {
    if (!(lambda >= 0.0) || servers == 0)
        return wait_unknown;
    if (lambda >= 1.0)
        return wait_unstable;
    const double n = (double)servers;
    const double b = erlang_b(servers, lambda * n);
    return (struct bli_wait){.probability = b / (1.0 - lambda + lambda * b), .rate = n * (1.0 - lambda)};
}

/* log(1 + x) - x, without cancellation for small x. */
static double log1p_minus(double x) {
    if (fabs(x) > 0.125)
        return log1p(x) - x;
    double sum = 0.0;
    double power = -x; /* (-1)^(k-1) x^(k-1) */
    for (int k = 2; k <= 20; k++) {
        sum += power / k;
        power *= -x;
    }
    return sum * x;
}

/* G/M/1 with arrivals that are sums of k exponentials, k possibly infinite. The waiting distribution has
 * probability sigma and rate 1 - sigma, where sigma = E[exp(-(1 - sigma) A)], A the time between arrivals of
 * mean 1/lambda. With x = 1 - sigma the equation is  -log(1 - x) = k log(1 + x/(lambda k))  (k infinite:
 * x/lambda).  Taking x off both sides and dividing by x leaves
 *     [-(log(1 - x) + x) + k (y - log(1 + y))] / x = 1/lambda - 1,  y = x/(lambda k),
 * whose left side grows from 0 to infinity over 0 < x < 1 and loses no digits as lambda tends to 1. */
static double gm1_excess(double lambda, double k, double x) {
    double sum = -log1p_minus(-x);
    if (isfinite(k))
        sum -= k * log1p_minus(x / (lambda * k));
    return sum / x;
}

static struct bli_wait wait_gm1(double lambda, double k) {
    if (!(lambda >= 0.0))
        return wait_unknown;
    if (lambda >= 1.0)
        return wait_unstable;
    if (lambda == 0.0)
        return (struct bli_wait){.probability = 0.0, .rate = 1.0};
    const double wanted = (1.0 - lambda) / lambda;
    double below = 0.0, above = 1.0;
    for (;;) {
        const double x = 0.5 * (below + above);
        if (x <= below || x >= above)
            break;
        if (gm1_excess(lambda, k, x) < wanted)
            below = x;
        else
            above = x;
    }
    const double x = above;
    /* sigma = 1 - x would lose the digits of a small sigma; the transform keeps them. */
    const double sigma = isfinite(k) ? exp(-k * log1p(x / (lambda * k))) : exp(-x / lambda);
    return (struct bli_wait){.probability = sigma, .rate = x};
}

struct bli_wait bli_wait_round_robin(double lambda, uint64_t servers) {
    if (servers == 0)
        return wait_unknown;
    return wait_gm1(lambda, (double)servers);
}

struct bli_wait bli_wait_dm1(double lambda) {
    return wait_gm1(lambda, INFINITY);
}

double bli_wait_mean(const struct bli_wait *wait) {
    return wait->probability == 0.0 ? 0.0 : wait->probability / wait->rate;
}

double bli_wait_response_mean(const struct bli_wait *wait) {
    return 1.0 + bli_wait_mean(wait);
}

double bli_wait_tail(const struct bli_wait *wait, double t) {
    return t < 0.0 ? 1.0 : wait->probability * exp(-wait->rate * t);
}

/* R is exponential of rate 1, plus, with the probability of waiting, an independent exponential of rate
 * theta:
 *     P(R > t) = e^-t (1 + probability * (e^(x t) - 1)/x),  x = 1 - theta,
 * written so that neither x = 0 nor a large x t does harm. */
double bli_wait_response_tail(const struct bli_wait *wait, double t) {
    if (t <= 0.0)
        return 1.0;
    const double x = 1.0 - wait->rate;
    double longer; /* e^-t (e^(x t) - 1)/x */
    if (x * t > 1.0)
        longer = (exp(-wait->rate * t) - exp(-t)) / x;
    else if (x == 0.0)
        longer = t * exp(-t);
    else
        longer = exp(-t) * expm1(x * t) / x;
    return exp(-t) + wait->probability * longer;
}

double bli_wait_quantile(const struct bli_wait *wait, double q) {
    if (!(q >= 0.0 && q <= 1.0) || isnan(wait->rate))
        return NAN;
    if (1.0 - q >= wait->probability)
        return 0.0;
    return log(wait->probability / (1.0 - q)) / wait->rate;
}

double bli_wait_response_quantile(const struct bli_wait *wait, double q) {
    if (!(q >= 0.0 && q <= 1.0) || isnan(wait->rate))
        return NAN;
    if (q == 0.0)
        return 0.0;
    if (q == 1.0 || wait->rate == 0.0)
        return INFINITY;
    double below = 0.0, above = 1.0;
    while (bli_wait_response_tail(wait, above) > 1.0 - q)
        above *= 2.0;
    for (;;) {
        const double t = 0.5 * (below + above);
        if (t <= below || t >= above)
            return above;
        if (bli_wait_response_tail(wait, t) > 1.0 - q)
            below = t;
        else
            above = t;
    }
}

static bool mg1_in_range(const struct bli_mg1_class *c) {
    return c->lambda >= 0.0 && c->m1 >= 0.0 && c->m2 >= 0.0;
}

/* Mean waiting time of class k without preemption: the remaining work W0 of the job in service over (1 -
 * load of the classes above k)(1 - load of these and k). A class that the server cannot keep up with takes
 * what the ones above it leave, and the ones below it are never served. */
static double cobham(const struct bli_mg1_class *classes, size_t n, size_t k) {
    double load = 0.0, w0 = 0.0, load_before = 0.0, load_with = 0.0;
    for (size_t i = 0; i < n; i++) {
        const struct bli_mg1_class *c = &classes[i];
        if (!mg1_in_range(c))
            return NAN;
        if (i == k)
            load_before = load;
        if (c->lambda > 0.0 && load < 1.0) {
            const bool overload = load + c->lambda * c->m1 >= 1.0;
            if (overload && i <= k)
                return INFINITY;
            const double served = overload ? (1.0 - load) / c->m1 : c->lambda;
            load = overload ? 1.0 : load + served * c->m1;
            w0 += served * c->m2 / 2.0;
        }
        if (i == k)
            load_with = load;
    }
    return w0 / ((1.0 - load_before) * (1.0 - load_with));
}

double bli_mg1_waiting(double lambda, double m1, double m2) {
    const struct bli_mg1_class only = {lambda, m1, m2};
    return cobham(&only, 1, 0);
}

double bli_mg1_nonpreemptive(const struct bli_mg1_class *classes, size_t n, size_t k) {
    assert(k < n);
    return classes[k].m1 + cobham(classes, n, k);
}

double bli_mg1_preemptive(const struct bli_mg1_class *classes, size_t n, size_t k) {
    assert(k < n);
    const double waiting = cobham(classes, k + 1, k); /* the lower classes are as if absent */
    double load_before = 0.0;
    for (size_t i = 0; i < k; i++)
        load_before += classes[i].lambda > 0.0 ? classes[i].lambda * classes[i].m1 : 0.0;
    return waiting + classes[k].m1 / (1.0 - load_before);
}

/* With k others in the queue a job that never gave up would wait for k + 1 steps of rates n + k theta, ...,
 * n. It does so for V; it is served if it endures that long, with probability E exp(-theta V), which is the
 * product of (n + j theta) / (n + (j + 1) theta), that is n / (n + (k + 1) theta); and E V exp(-theta V) is
 * that times the sum of 1 / (n + j theta) for j from 1 to k + 1. */
struct bli_erlang_a bli_erlang_a(double lambda, double n, double theta) {
    double p = 1, all = 1, jobs = 0; /* relative to the largest term so far, whose own weight is p */
    double served = 0, waited = 0, waiting = 0, steps = 0, before = 0;
    for (double there = 0;; there++) {
        if (there >= n) {
            const double k = there - n;
            steps += 1 / (n + (k + 1) * theta);
            const double stays = p * n / (n + (k + 1) * theta);
            served += stays;
            waited += p;
            waiting += stays * steps;
        } else {
            served += p;
        }
        before = p;
        p *= lambda / (there + 1 <= n ? there + 1 : n + (there + 1 - n) * theta);
        if (p < before && p < 1e-18 * all)
            break;
        all += p;
        jobs += p * (there + 1);
        if (p > 1e200) {
            const double scale = 1e-200;
            p *= scale, all *= scale, jobs *= scale, served *= scale, waited *= scale, waiting *= scale;
        }
    }
    return (struct bli_erlang_a){.gave_up = 1 - served / all,
                                 .waiting = waiting / served,
                                 .probability = waited / all,
                                 .queue = jobs / all};
}

/* From the generating functions of the states up and down: G1(z) = m / (1 - lambda z - alpha lambda z / (beta
 * + lambda (1 - z))), G0 (beta + lambda (1 - z)) = alpha G1, differentiated at 1. */
double bli_breakdown_queue(double lambda, double alpha, double beta) {
    const double up = beta / (alpha + beta), spare = 1 - lambda / up;
    if (!(spare > 0))
        return INFINITY;
    return (lambda / up + alpha * lambda * lambda / (beta * beta)) / spare +
           alpha * lambda * up / (beta * beta);
}
