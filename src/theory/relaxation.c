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
 * symmetric: 1 + a_i on the diagonal, the squares of its neighbours are a_i. */
#include "theory/about.h"

#include <math.h>

enum { LEVELS = 128 };

/* Of one queue at load rho < 1, in mean service times. */
static double single_queue(double rho, double arrivals, double services) {
    const double slack = 1 - sqrt(rho);
    return (arrivals + services) / (2.8 * slack * slack);
}

static double squared_variation(const struct bal_law *law) {
    return fmax(bal_law_moment(law, 2) / (law->mean * law->mean) - 1, 0);
}

/* The slowest to settle counts. */
static double relaxation_apart(const struct bal_model *model, double arrivals, bool by_speed) {
    const struct bal_servers *servers = &model->servers;
    const double services = squared_variation(&model->size);
    const double mean_speed = bal_servers_capacity(servers) / bal_servers_count(servers);
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

double bal_relaxation_apart(const struct bal_model *model, double arrivals) {
    return relaxation_apart(model, arrivals, false);
}

double bal_relaxation_by_speed(const struct bal_model *model, double arrivals) {
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

double bal_pod_relaxation(const struct bal_pod *pod) {
    double a[LEVELS + 1]; /* from level 0, where the fraction is always 1 */
    const size_t levels = bal_pod_tail(pod, a, LEVELS + 1);
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

double bal_relaxation_together(const struct bal_model *model) {
    struct bal_uniform u;
    if (!bal_uniform_of(model, &u) || u.lambda >= 1)
        return NAN;
    return single_queue(u.lambda, 1, squared_variation(&model->size)) * u.unit / u.servers;
}

double bal_known_relaxation(const struct bal_model *model, const struct bal_policy_spec *policy) {
    const struct bal_about *about = bal_about(model, policy);
    if (!about->relaxation || !bal_model_is_steady(model) || model->clock != BAL_CLOCK_CONTINUOUS ||
        model->tasks > 1 || model->buffer > 0 || model->slots > 1 ||
        model->curve.kind != BAL_CURVE_CONSTANT || model->steal.kind != BAL_STEAL_NONE ||
        !bal_arrivals_are_poisson(&model->arrivals) || !bal_network_is_plain(&model->network))
        return NAN;
    return about->relaxation(model, policy);
}
