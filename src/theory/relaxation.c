/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a fleet that begins idle takes to forget it.
 *
 * What is missing of the mean queue falls like exp(-t/r). A server that is fed at random or in turn is a
 * single queue, and for these Odoni and Roth (1983) give
 *     r = (Ca^2 + Cs^2) / (2.8 (1 - sqrt rho)^2)
 * mean service times, Ca and Cs being the coefficients of variation of interarrival and service times. (The
 * M/M/1 queue has the relaxation time 1/(1 - sqrt rho)^2; a queue that begins empty is faster than that by
 * what the 2.8 in place of a 2 says.) A fleet as a whole cannot be faster than one queue N times as fast.
 *
 * Power of d choices, in the limit of many servers: with v_i the fixed point and a_i = lambda d v_i^(d-1),
 * small deviations x_i of the fraction of servers with at least i jobs obey
 *     dx_i/dt = a_{i-1} x_{i-1} - (1 + a_i) x_i + x_{i+1},
 * and r is one over the least eigenvalue of the matrix of minus that, which a change of scale makes
 * symmetric: 1 + a_i on the diagonal, the squares of its neighbours are a_i.
 *
 * Of other policies two things are known. They are hardly slower than `random`, under which every queue is
 * left alone. And queues that are short forget soon: a queue in which L wait is filled by chance in a time of
 * the order of L^2, as the M/M/1 queue of that length is, while the fleet as a whole does what one queue N
 * times as fast does. If L is too small because it is still growing, so is the time, but not below the
 * length of the run: the queue of a fleet that fills up under critical load is sqrt(4 t/pi) at time t, whose
 * square is more than t. */
#include "theory/policy_theory.h"

#include <math.h>

enum { LEVELS = 128 };

/* Of one queue at load rho < 1, in mean service times. */
static double single_queue(double rho, double arrivals, double services) {
    const double slack = 1 - sqrt(rho);
    return (arrivals + services) / (2.8 * slack * slack);
}

static double squared_variation(const struct bli_dist *dist) {
    return fmax(bli_dist_moment(dist, 2) / (dist->mean * dist->mean) - 1, 0);
}

/* The slowest to settle counts. */
static double relaxation_apart(const struct bli_model *model, double arrivals, bool by_speed) {
    const struct bli_servers *servers = &model->servers;
    const double services = squared_variation(&model->size);
    const double mean_speed = bli_servers_capacity(servers) / bli_servers_count(servers);
    double slowest = 0;
    for (unsigned g = 0; g < servers->groups; g++) {
        const double speed = servers->group[g].speed;
        const double rho = by_speed ? model->load : model->load * mean_speed / speed;
        if (rho >= 1)
            return NAN;
        slowest = fmax(slowest, single_queue(rho, arrivals, services) * model->size.mean / speed);
    }
    return isfinite(slowest) ? slowest : NAN;
}

double bli_relaxation_apart(const struct bli_model *model, double arrivals) {
    return relaxation_apart(model, arrivals, false);
}

double bli_relaxation_by_speed(const struct bli_model *model, double arrivals) {
    return relaxation_apart(model, arrivals, true);
}

/* How many eigenvalues of the matrix are below x (Sturm's sequence). */
static unsigned eigenvalues_below(const double *a, size_t n, double x) {
    unsigned count = 0;
    double pivot = 1;
    for (size_t i = 0; i < n; i++) {
        pivot = 1 + a[i] - x - (i > 0 ? a[i - 1] / pivot : 0);
        if (pivot == 0)
            pivot = 1e-300;
        count += pivot < 0;
    }
    return count;
}

double bli_pod_relaxation(const struct bli_pod *pod) {
    double a[LEVELS + 1]; /* from level 0, where the fraction is always 1 */
    const size_t levels = bli_pod_tail(pod, a, LEVELS + 1);
    if (levels < 2 || levels > LEVELS || pod->d2 != pod->d1 || pod->d1 < 2)
        return NAN;
    for (size_t i = 1; i < levels; i++)
        a[i] = pod->lambda * pod->d1 * pow(a[i], pod->d1 - 1.0);
    double low = 0, high = 1;
    while (high - low > 1e-6 * high) {
        const double middle = (low + high) / 2;
        *(eigenvalues_below(a + 1, levels - 1, middle) > 0 ? &high : &low) = middle;
    }
    return 1 / high;
}

double bli_relaxation_together(const struct bli_model *model) {
    struct bli_uniform u;
    if (!bli_uniform_of(model, &u) || u.lambda >= 1)
        return NAN;
    return single_queue(u.lambda, 1, squared_variation(&model->size)) * u.unit / u.servers;
}

/* ---- where theory does not know the policy ---- */

/* Squared coefficient of variation of what arrives at one of so many queues among which jobs are divided at
 * random: a renewal process that is thinned comes close to a Poisson process, and of the others of its batch
 * a job meets one in so many. NaN: not known. */
static double arrivals_variation(const struct bli_model *model, double queues) {
    const struct bli_arrivals *arrivals = &model->arrivals;
    const double together = model->tasks > 1 ? model->tasks - 1.0 : 0;
    if (bli_arrivals_are_poisson(arrivals))
        return 1 + together / queues;
    if (arrivals->kind == BLI_ARRIVALS_RENEWAL)
        return fmax(1 + (squared_variation(&arrivals->gap) - 1 + together) / queues, 0);
    if (arrivals->kind == BLI_ARRIVALS_BATCH) {
        const struct bli_batch *batch = &arrivals->batch;
        return 1 + (bli_batch_variance(batch) / batch->mean + batch->mean - 1) / queues;
    }
    return NAN;
}

/* In an M/M/1 queue of load rho rho^2 / (1 - rho) jobs wait; less variation makes it shorter. And servers
 * that become busy settle within a service. */
static double diffusion(double waiting, double arrivals, double services) {
    const double jobs = fmax(waiting, 0) / fmax((arrivals + services) / 2, 1e-3);
    return 1 + single_queue((sqrt(jobs * jobs + 4 * jobs) - jobs) / 2, arrivals, services);
}

static double slowest_unit(const struct bli_model *model) {
    double slowest = INFINITY;
    for (unsigned g = 0; g < model->servers.groups; g++)
        slowest = fmin(slowest, model->servers.group[g].speed);
    return model->size.mean / slowest / bli_model_server_rate(model);
}

/* Of servers whose speed depends on the jobs in service: as long as a job takes among as many as there can
 * be, and what a queue of that load and rate takes. Their load is higher than the model's if they become
 * slower under many jobs than they are at best. */
static struct bli_slowest relaxation_by_jobs(const struct bli_model *model, double apart, double services) {
    const uint32_t last = bli_speeds_last(&model->speeds);
    const uint32_t full = model->slots < last ? model->slots : last;
    const double best = bli_model_server_rate(model), slowed = bli_speeds_rate(&model->speeds, full);
    /* Servers that could not recover from many jobs at this load must not get there. */
    const double rate = model->load * best < slowed ? slowed : best;
    const double unit = slowest_unit(model) * best;
    const double all =
        unit * (full / slowed + single_queue(model->load * best / rate, apart, services) / rate);
    return (struct bli_slowest){all, all / bli_servers_count(&model->servers)};
}

struct bli_slowest bli_slowest_relaxation(const struct bli_model *model, double waiting) {
    const struct bli_slowest unknown = {NAN, NAN};
    const double servers = bli_servers_count(&model->servers), load = model->load;
    const double services = squared_variation(&model->size), unit = slowest_unit(model);
    const double apart = arrivals_variation(model, servers), together = arrivals_variation(model, 1);
    if (!bli_model_is_steady(model) || model->clock != BLI_CLOCK_CONTINUOUS || model->buffer > 0 ||
        model->curve.kind != BLI_CURVE_CONSTANT || !(load < 1) || !isfinite(services) || isnan(apart))
        return unknown;
    if (bli_speeds_given(&model->speeds))
        return relaxation_by_jobs(model, apart, services);
    const struct bli_slowest slowest = {single_queue(load, apart, services) * unit,
                                        single_queue(load, together, services) * unit / servers};
    const double seen = diffusion(waiting, apart, services) * unit + slowest.together;
    return (struct bli_slowest){fmin(slowest.all, isnan(seen) ? INFINITY : seen), slowest.together};
}

double bli_theory_relaxation(const struct bli_model *model, const struct bal_policy_spec *policy) {
    struct bal_policy_spec any;
    policy = bli_theory_equivalent_policy(model, policy, &any);
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    if (!about->relaxation || !bli_model_is_steady(model) || model->clock != BLI_CLOCK_CONTINUOUS ||
        model->tasks > 1 || model->buffer > 0 || model->slots > 1 ||
        model->curve.kind != BLI_CURVE_CONSTANT || model->steal.kind != BAL_STEAL_NONE ||
        !bli_arrivals_are_poisson(&model->arrivals) || !bli_network_is_plain(&model->network))
        return NAN;
    return about->relaxation(model, policy);
}
