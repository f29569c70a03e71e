/* What is known where there are two classes of jobs: Niu, Wang, Feng and Xu (2022) for the policies that look
 * at classes, and for the others what follows from servers that prefer one class. p is the share of the high
 * class. */
#include "ballast/theory.h"
#include "theory/uniform.h"

#include <math.h>
#include <string.h>

static const struct bal_known_class no_class = BAL_KNOWN_NO_CLASS;

static double mean_of_classes(double p, double high, double low) {
    return p == 0 ? low : p == 1 ? high : p * high + (1 - p) * low;
}

/* Jobs of different classes fare alike. */
static void copy_to_classes(struct bal_known *known) {
    struct bal_known_class class = no_class;
    class.response_mean = known->response_mean;
    class.waiting_mean = known->waiting_mean;
    class.waiting_probability = known->waiting_probability;
    memcpy(class.response_quantile, known->response_quantile, sizeof class.response_quantile);
    known->high = known->low = class;
}

/* Servers that prefer a class. With exponential sizes, and routing that is blind to classes and sizes, the
 * numbers of jobs at the servers are those of first come, first served, and so (Little) is the mean response
 * time of all jobs; nothing else is. */
static void forget_order(struct bal_known *known) {
    known->waiting_mean = known->waiting_limit = known->waiting_probability = NAN;
    for (int i = 0; i < 4; i++)
        known->response_quantile[i] = NAN;
}

/* Every server is an M/G/1 queue with two classes. A job waits until its service begins; a low one may be
 * interrupted afterwards, so that its service takes 1/(1 - p lambda) times its size on average. */
static struct bal_known known_random(const struct bal_model *model, const struct bal_uniform *u,
                                     bool interrupts) {
    const double p = model->high, rate = u->lambda / u->unit, speed = model->size.mean / u->unit;
    const double m2 = bal_law_moment(&model->size, 2) / (speed * speed);
    const struct bal_mg1_class class[2] = {{p * rate, u->unit, m2}, {(1 - p) * rate, u->unit, m2}};
    double (*const response)(const struct bal_mg1_class *, size_t, size_t) =
        interrupts ? bal_mg1_preemptive : bal_mg1_nonpreemptive;
    struct bal_known known = bal_known_nothing;
    known.kind = BAL_KNOWN_EXACT;
    known.source = u->exponential ? "M/M/1 with priorities" : "M/G/1 with priorities";
    struct bal_known_class *high = &known.high, *low = &known.low;
    high->response_mean = response(class, 2, 0);
    low->response_mean = response(class, 2, 1);
    high->waiting_mean = high->response_mean - u->unit;
    low->waiting_mean = low->response_mean - (interrupts ? u->unit / (1 - p * u->lambda) : u->unit);
    high->waiting_probability = fmin(interrupts ? p * u->lambda : u->lambda, 1);
    low->waiting_probability = fmin(u->lambda, 1);
    known.response_mean = mean_of_classes(p, high->response_mean, low->response_mean);
    known.waiting_mean = mean_of_classes(p, high->waiting_mean, low->waiting_mean);
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = mean_of_classes(p, high->waiting_probability, low->waiting_probability);
    return known;
}

/* A job that probes d servers among the jobs of *pod, first come, first served. */
static struct bal_known_class class_of_pod(const struct bal_pod *pod, unsigned d, double unit) {
    struct bal_known_class class = no_class;
    class.response_mean = bal_pod_response(pod, d) * unit;
    class.waiting_mean = bal_pod_waiting(pod, d) * unit;
    class.waiting_probability = pow(fmin(pod->lambda, 1), d);
    if (pod->lambda < 1)
        for (int i = 0; i < 4; i++)
            class.response_quantile[i] = bal_pod_response_quantile(pod, d, bal_known_quantiles[i]) * unit;
    return class;
}

/* The total queues of pod-scp and pod-ssp (Theorem 4), and the mean of all their jobs. */
static struct bal_known known_of_both(const struct bal_pod *pod, double unit) {
    struct bal_known known = bal_known_nothing;
    known.kind = BAL_KNOWN_LIMIT;
    known.source = "mean field";
    known.response_mean =
        unit * mean_of_classes(pod->p, bal_pod_response(pod, pod->d2), bal_pod_response(pod, pod->d1));
    const size_t levels = bal_pod_tail(pod, known.tail, BAL_KNOWN_LEVELS);
    known.levels = (unsigned)(levels < BAL_KNOWN_LEVELS ? levels : BAL_KNOWN_LEVELS);
    return known;
}

/* Theorem 6, for servers that are blind to class; where they are not, only both classes together are known.
 */
static struct bal_known known_scp(const struct bal_pod *pod, double unit, bool blind) {
    struct bal_known known = known_of_both(pod, unit);
    if (!blind)
        return known;
    known.high = class_of_pod(pod, pod->d2, unit);
    known.low = class_of_pod(pod, pod->d1, unit);
    known.waiting_mean = mean_of_classes(pod->p, known.high.waiting_mean, known.low.waiting_mean);
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability =
        mean_of_classes(pod->p, known.high.waiting_probability, known.low.waiting_probability);
    return known;
}

/* Theorems 3 and 4: high jobs interrupt low ones and see only their like, as pod of d2 at load p lambda. A
 * low job waits unless it finds an empty server. */
static struct bal_known known_ssp(const struct bal_pod *pod, double unit) {
    const struct bal_priority priority = {BAL_PRIORITY_SSP, pod->lambda, pod->p, pod->d1, pod->d2};
    const struct bal_pod high = bal_pod_plain(pod->p * pod->lambda, pod->d2);
    struct bal_known known = known_of_both(pod, unit);
    known.high = class_of_pod(&high, high.d1, unit);
    known.low.response_mean = bal_priority_solve(&priority).low * unit;
    known.low.waiting_probability = pow(fmin(pod->lambda, 1), pod->d1);
    known.waiting_probability =
        mean_of_classes(pod->p, known.high.waiting_probability, known.low.waiting_probability);
    return known;
}

/* pod on servers that let high jobs interrupt low ones is pod-sep: exactly, and as Theorem 8 bounds it. */
static void add_sep(struct bal_known *known, unsigned d, double p, const struct bal_uniform *u) {
    const struct bal_priority priority = {BAL_PRIORITY_SEP, u->lambda, p, d, d};
    const struct bal_priority_result result = bal_priority_solve(&priority);
    const double bound = bal_sep_low_bound(u->lambda, p, d);
    known->high.response_mean = result.high * u->unit;
    known->low.response_mean = result.low * u->unit;
    known->low.waiting_probability = pow(fmin(u->lambda, 1), d);
    known->low.response_bound = bound * u->unit;
    if (p > 0 && isfinite(bound))
        known->high.response_bound = (result.all - (1 - p) * bound) / p * u->unit;
}

struct bal_known bal_known_classes(const struct bal_model *model, const struct bal_policy_spec *policy,
                                   const struct bal_uniform *u) {
    const char *name = policy->policy->name;
    const enum bal_discipline discipline =
        bal_model_discipline(model, policy->policy->flags & BAL_SERVES_RANKS);
    const bool blind = discipline == BAL_DISCIPLINE_FIFO,
               interrupts = discipline == BAL_DISCIPLINE_PREEMPTIVE;
    const bool scp = strcmp(name, "pod-scp") == 0, ssp = strcmp(name, "pod-ssp") == 0;
    if (scp || ssp) {
        if (!u->exponential || (ssp && !interrupts))
            return bal_known_nothing;
        const struct bal_pod pod = {u->lambda, model->high, (unsigned)policy->value[0],
                                    (unsigned)policy->value[1]};
        return ssp ? known_ssp(&pod, u->unit) : known_scp(&pod, u->unit, blind);
    }
    if (strcmp(name, "random") == 0 && !blind)
        return known_random(model, u, interrupts);
    struct bal_known known = bal_known_fifo(model, policy, u);
    if (blind || known.waiting_mean == 0) { /* where nobody waits, preferring a class changes nothing */
        copy_to_classes(&known);
        return known;
    }
    if (policy->policy->flags & BAL_NEEDS_WORK)
        return bal_known_nothing;
    forget_order(&known);
    if (known.kind != BAL_KNOWN_NOTHING && interrupts &&
        (strcmp(name, "pod") == 0 || strcmp(name, "pod-sep") == 0))
        add_sep(&known, (unsigned)policy->value[0], model->high, u);
    return known;
}
