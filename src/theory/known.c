#include "ballast/known.h"

#include "ballast/fluid.h"
#include "ballast/theory.h"
#include "theory/uniform.h"

#include <math.h>
#include <string.h>

const double bal_known_quantiles[4] = {0.5, 0.9, 0.99, 0.999};

const struct bal_known bal_known_nothing = {
    .kind = BAL_KNOWN_NOTHING,
    .response_mean = NAN,
    .waiting_mean = NAN,
    .waiting_limit = NAN,
    .waiting_bound = NAN,
    .waiting_probability = NAN,
    .response_quantile = {NAN, NAN, NAN, NAN},
    .high = BAL_KNOWN_NO_CLASS,
    .low = BAL_KNOWN_NO_CLASS,
};

/* Equal servers, whatever they do with their jobs. */
static bool equal_servers_of(const struct bal_model *model, struct bal_uniform *uniform) {
    const struct bal_servers *servers = &model->servers;
    if (model->clock != BAL_CLOCK_CONTINUOUS || model->tasks > 1 || model->buffer > 0 ||
        model->curve.kind != BAL_CURVE_CONSTANT)
        return false;
    for (unsigned g = 1; g < servers->groups; g++)
        if (servers->group[g].speed != servers->group[0].speed)
            return false;
    *uniform = (struct bal_uniform){
        .lambda = model->load,
        .servers = bal_servers_count(servers),
        .unit = model->size.mean / servers->group[0].speed,
        .exponential = bal_law_is_exponential(&model->size),
    };
    return true;
}

bool bal_uniform_of(const struct bal_model *model, struct bal_uniform *uniform) {
    return model->slots <= 1 && model->steal.kind == BAL_STEAL_NONE && equal_servers_of(model, uniform);
}

static struct bal_known from_wait(struct bal_wait wait, double unit, enum bal_known_kind kind,
                                  const char *source) {
    struct bal_known known = bal_known_nothing;
    known.kind = kind;
    known.source = source;
    known.waiting_probability = wait.probability;
    known.waiting_mean = bal_wait_mean(&wait) * unit;
    known.waiting_limit = known.waiting_mean;
    known.response_mean = bal_wait_response_mean(&wait) * unit;
    for (int i = 0; i < 4; i++)
        known.response_quantile[i] = bal_wait_response_quantile(&wait, bal_known_quantiles[i]) * unit;
    return known;
}

/* Every server is an M/G/1 queue. */
static struct bal_known known_random(const struct bal_model *model, const struct bal_uniform *u) {
    if (u->exponential) {
        struct bal_known known = from_wait(bal_wait_mm1(u->lambda), u->unit, BAL_KNOWN_EXACT, "M/M/1");
        if (u->lambda < 1)
            for (known.levels = 0; known.levels < BAL_KNOWN_LEVELS; known.levels++)
                known.tail[known.levels] = pow(u->lambda, known.levels);
        return known;
    }
    struct bal_known known = bal_known_nothing;
    known.kind = BAL_KNOWN_EXACT;
    known.source = "M/G/1";
    const double speed = model->size.mean / u->unit;
    known.waiting_mean =
        bal_mg1_waiting(u->lambda / u->unit, u->unit, bal_law_moment(&model->size, 2) / (speed * speed));
    known.waiting_limit = known.waiting_mean;
    known.response_mean = known.waiting_mean + u->unit;
    known.waiting_probability = fmin(u->lambda, 1);
    return known;
}

static struct bal_known known_pod(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    const struct bal_pod pod = bal_pod_plain(u->lambda, (unsigned)policy->value[0]);
    struct bal_known known = bal_known_nothing;
    known.kind = BAL_KNOWN_LIMIT;
    known.source = "mean field";
    known.response_mean = bal_pod_response(&pod, pod.d1) * u->unit;
    known.waiting_mean = bal_pod_waiting(&pod, pod.d1) * u->unit;
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = pow(fmin(u->lambda, 1), pod.d1);
    if (u->lambda < 1)
        for (int i = 0; i < 4; i++)
            known.response_quantile[i] =
                bal_pod_response_quantile(&pod, pod.d1, bal_known_quantiles[i]) * u->unit;
    const size_t levels = bal_pod_tail(&pod, known.tail, BAL_KNOWN_LEVELS);
    known.levels = (unsigned)(levels < BAL_KNOWN_LEVELS ? levels : BAL_KNOWN_LEVELS);
    return known;
}

/* In the limit of many servers nobody waits. */
static struct bal_known known_no_wait(const struct bal_uniform *u) {
    struct bal_known known = bal_known_nothing;
    known.kind = BAL_KNOWN_LIMIT;
    known.source = "N to infinity";
    known.waiting_mean = u->lambda < 1 ? 0 : INFINITY;
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = u->lambda < 1 ? 0 : 1;
    known.response_mean = known.waiting_mean + u->unit;
    return known;
}

static struct bal_known known_round_robin(const struct bal_uniform *u) {
    const struct bal_wait limit = bal_wait_dm1(u->lambda);
    struct bal_known known =
        from_wait(bal_wait_round_robin(u->lambda, u->servers), u->unit, BAL_KNOWN_EXACT, "E_N/M/1");
    known.waiting_limit = bal_wait_mean(&limit) * u->unit;
    return known;
}

static struct bal_known known_least_work(const struct bal_uniform *u) {
    struct bal_known known =
        from_wait(bal_wait_mmn(u->lambda, u->servers), u->unit, BAL_KNOWN_EXACT, "M/M/N");
    known.waiting_limit = u->lambda < 1 ? 0 : INFINITY;
    return known;
}

/* Gamarnik, Tsitsiklis and Zubeldia (2016), Theorem 1 and equations (4) and (5), with c and mu held fixed. */
static struct bal_known known_rcpb(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    const struct bal_setting setting = {u->servers, u->lambda};
    const struct bal_rcpb rcpb = {BAL_RCPB_CONSTRAINED, u->lambda, bal_policy_report_rate(policy, &setting),
                                  (uint64_t)policy->value[0]};
    struct bal_known known = from_wait(bal_rcpb_wait(&rcpb), u->unit, BAL_KNOWN_LIMIT, "fluid limit");
    known.waiting_bound = bal_rcpb_bound(&rcpb) * u->unit;
    if (u->lambda < 1)
        for (known.levels = 0; known.levels < BAL_KNOWN_LEVELS; known.levels++)
            known.tail[known.levels] = bal_rcpb_tail(&rcpb, known.levels);
    return known;
}

struct bal_known bal_known_fifo(const struct bal_model *model, const struct bal_policy_spec *policy,
                                const struct bal_uniform *u) {
    const char *name = policy->policy->name;
    if (strcmp(name, "random") == 0)
        return known_random(model, u);
    if (!u->exponential)
        return bal_known_nothing;
    if (strcmp(name, "pod") == 0 || strcmp(name, "pod-sep") == 0)
        return known_pod(policy, u);
    if (strcmp(name, "least-work") == 0 || strcmp(name, "central") == 0)
        return known_least_work(u);
    if (strcmp(name, "round-robin") == 0)
        return known_round_robin(u);
    if (strcmp(name, "rcpb") == 0)
        return known_rcpb(policy, u);
    if (strcmp(name, "jsq") == 0 || strcmp(name, "jiq") == 0 || strcmp(name, "tabs") == 0)
        return known_no_wait(u);
    return bal_known_nothing;
}

/* Servers of k slots, first come, first served. A uniform server is M/M/k. Joining the server at which a job
 * begins first is one common queue for all slots. */
static struct bal_known known_slots(const struct bal_model *model, const struct bal_policy_spec *policy,
                                    const struct bal_uniform *u) {
    const char *name = policy->policy->name;
    if (model->classes || !u->exponential)
        return bal_known_nothing;
    if (strcmp(name, "random") == 0)
        return from_wait(bal_wait_mmn(u->lambda, model->slots), u->unit, BAL_KNOWN_EXACT, "M/M/k");
    if (strcmp(name, "least-work") != 0)
        return bal_known_nothing;
    const uint64_t slots = (uint64_t)u->servers * model->slots;
    struct bal_known known = from_wait(bal_wait_mmn(u->lambda, slots), u->unit, BAL_KNOWN_EXACT, "M/M/(N k)");
    known.waiting_limit = u->lambda < 1 ? 0 : INFINITY;
    return known;
}

/* By Little's law: jobs that are stolen stay in the system. */
static struct bal_known known_stealing(const struct bal_model *model, const struct bal_policy_spec *policy,
                                       const struct bal_uniform *u) {
    const bool pod = strcmp(policy->policy->name, "pod") == 0;
    if (model->classes || model->slots > 1 || !u->exponential || !(u->lambda > 0) ||
        (!pod && strcmp(policy->policy->name, "random") != 0))
        return bal_known_nothing;
    const struct bal_stealing stealing = {
        .lambda = u->lambda, .d = pod ? (unsigned)policy->value[0] : 1, .steal = model->steal};
    struct bal_known known = bal_known_nothing;
    double jobs = INFINITY;
    known.tail[0] = 1;
    if (u->lambda < 1) {
        if (bal_stealing_equilibrium(&stealing, known.tail + 1, BAL_KNOWN_LEVELS - 1, &jobs, NULL))
            return bal_known_nothing;
        known.levels = BAL_KNOWN_LEVELS;
    }
    known.kind = BAL_KNOWN_LIMIT;
    known.source = "mean field with stealing";
    known.response_mean = jobs / u->lambda * u->unit;
    known.waiting_mean = known.response_mean - u->unit;
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = pow(fmin(u->lambda, 1), stealing.d);
    return known;
}

struct bal_known bal_known_of(const struct bal_model *model, const struct bal_policy_spec *policy) {
    struct bal_uniform u;
    if (!equal_servers_of(model, &u))
        return bal_known_nothing;
    if (model->steal.kind != BAL_STEAL_NONE)
        return known_stealing(model, policy, &u);
    if (model->slots > 1)
        return known_slots(model, policy, &u);
    return model->classes ? bal_known_classes(model, policy, &u) : bal_known_fifo(model, policy, &u);
}

double bal_known_floor(const struct bal_model *model) {
    struct bal_uniform u;
    if (!equal_servers_of(model, &u) || !u.exponential)
        return NAN;
    const uint64_t slots = (uint64_t)u.servers * (model->slots > 1 ? model->slots : 1);
    const struct bal_wait wait = bal_wait_mmn(u.lambda, slots);
    return bal_wait_response_mean(&wait) * u.unit;
}
