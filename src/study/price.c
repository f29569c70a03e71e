/* SPDX-License-Identifier: BSD-2-Clause */
/* The price of policies: what they cost in memory and messages, and what delay that buys. */
#include "ballast/price.h"

#include "ballast/predict.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *bli_vanishing_text(enum bli_vanishing vanishing) {
    static const char *const texts[] = {"cannot", "no", "yes", "may", "not covered"};
    return texts[vanishing];
}

/* ---- probes: watched ---- */

enum {
    WATCH_JOBS = 4096,      /* enough for pod-memory to have remembered all it will */
    WATCH_PROBES = 1 << 22, /* but no more probes than this */
    WATCH_SMALL = 1 << 12,  /* growth is looked for from this many servers on, so that parameters */
    WATCH_LARGE = 1 << 20,  /* are small against their number, up to so many, if that is enough for the policy
                             */
};

/* A host with an index: what it answers is counted by the caller, and any server will do. */
static uint32_t any_server(struct bal_fleet *fleet, struct bal_rng *rng) {
    return bal_rng_below(rng, fleet->servers);
}

static double any_work(struct bal_fleet *fleet, uint32_t server) {
    return fleet->length[server];
}

/* The most probes that it makes for a job while every server is busy. */
static enum bal_code watch_probes(const struct bal_policy_spec *policy,
                                  const struct bal_policy_context *setting, double *most,
                                  struct bal_error *err) {
    uint32_t *length = malloc(setting->servers * sizeof *length);
    void *state = malloc(bal_policy_size(policy, setting) + 1);
    if (!length || !state) {
        free(length);
        free(state);
        bli_memory_lose(); /* who searches asks whether there is a price, and no more */
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for %u servers", setting->servers);
    }
    for (uint32_t server = 0; server < setting->servers; server++)
        length[server] = 1;
    uint32_t asked[64];
    struct bal_fleet fleet = {.servers = setting->servers,
                              .length = length,
                              .urgent = length,
                              .shortest = any_server,
                              .least_work = any_server,
                              .work = any_work,
                              .fewest_own = any_server,
                              .own = length,
                              .ask = asked,
                              .ask_room = sizeof asked / sizeof *asked};
    bal_policy_init(policy, setting, state);
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_POLICY);
    *most = 0;
    for (uint32_t i = 0; i < WATCH_JOBS && fleet.probes < WATCH_PROBES; i++) {
        const uint64_t before = fleet.probes;
        const struct bal_job job = {.count = 1, .rank = i % 2};
        bal_policy_route(policy, state, &fleet, &job, &rng);
        fleet.asks = 0; /* no server answers: only the probes count */
        *most = fmax(*most, (double)(fleet.probes - before));
    }
    free(length);
    free(state);
    return BAL_OK;
}

/* Do more probes go with more servers? Tried on a fleet and one of four times its size. */
static enum bal_code probes_grow(const struct bal_policy_spec *policy,
                                 const struct bal_policy_context *setting, bool *grow,
                                 struct bal_error *err) {
    struct bal_policy_context small = *setting;
    small.servers = setting->servers < WATCH_SMALL ? WATCH_SMALL : WATCH_LARGE;
    if (setting->servers >= WATCH_SMALL &&
        (setting->servers < WATCH_LARGE || bal_policy_check(policy, &small, NULL, NULL)))
        small.servers = setting->servers;
    struct bal_policy_context large = small;
    large.servers = 4 * small.servers;
    double few, many;
    enum bal_code code = watch_probes(policy, &small, &few, err);
    if (!code)
        code = watch_probes(policy, &large, &many, err);
    *grow = !code && many > few;
    return code;
}

/* ---- growth ---- */

/* With N a power of two and its square, log2 N exactly doubles; what grows faster is more. */
static enum bli_growth memory_growth(const struct bal_policy_spec *policy,
                                     const struct bal_policy_context *setting) {
    int log_small = 10;
    while (log_small < 30 && (uint32_t)1 << log_small < setting->servers)
        log_small++;
    const int log_large = 2 * log_small < 31 ? 2 * log_small : 31;
    struct bal_policy_context small = *setting, large = *setting;
    small.servers = (uint32_t)1 << log_small;
    large.servers = (uint32_t)1 << log_large;
    const double bits = bal_policy_memory_bits(policy, &small);
    if (bits == 0)
        return BLI_GROWTH_NONE;
    const double allowed = bits * log_large / log_small;
    return bal_policy_memory_bits(policy, &large) <= allowed * (1 + 1e-9) ? BLI_GROWTH_SMALL
                                                                          : BLI_GROWTH_LARGE;
}

/* Reports per job: at most one on becoming idle and one more on switching off and on again, which needs an
 * idle server; at most one of the load; and those at a rate, of the 1 - load that is idle. */
static double reports_of(const struct bal_policy_spec *policy, const struct bal_policy_context *setting) {
    const unsigned wants = policy->policy->wants;
    double reports = (wants & BAL_WANTS_IDLE ? 1 : 0) + (wants & BAL_WANTS_POWER ? 1 : 0) +
                     (policy->policy->load_share ? 1 / fmax(1, bal_policy_load_share(policy)) : 0);
    if (wants & BAL_WANTS_STILL_IDLE)
        reports += bal_policy_report_rate(policy, setting) * fmax(1 - setting->load, 0) / setting->load;
    return reports;
}

static bool reports_grow(const struct bal_policy_spec *policy, const struct bal_policy_context *setting) {
    struct bal_policy_context large = *setting;
    large.servers = setting->servers < 1u << 29 ? 4 * setting->servers : UINT32_MAX;
    return reports_of(policy, &large) > reports_of(policy, setting) * (1 + 1e-9);
}

/* ---- Theorem 5 ---- */

/* The setting of the paper: a Poisson stream, exponential sizes, equal servers, each job one task, all of it
 * for ever. */
static bool is_covered(const struct bli_model *model) {
    for (unsigned g = 1; g < model->servers.groups; g++)
        if (model->servers.group[g].speed != model->servers.group[0].speed)
            return false;
    return model->clock == BLI_CLOCK_CONTINUOUS && bli_dist_is_exponential(&model->size) &&
           model->tasks <= 1 && !model->classes && model->buffer == 0 &&
           model->curve.kind == BLI_CURVE_CONSTANT && bli_arrivals_are_poisson(&model->arrivals) &&
           model->load < 1;
}

static enum bli_vanishing vanishing_of(const struct bli_model *model, const struct bal_policy_spec *policy,
                                       const struct bli_price *price) {
    if (!is_covered(model))
        return BLI_VANISHING_UNKNOWN;
    const double limit = bli_theory_predict(model, policy).waiting_limit;
    if (limit == 0)
        return BLI_VANISHING_YES;
    const bool symmetric = bal_policy_flags(policy) & BAL_SYMMETRIC;
    if (symmetric && price->memory != BLI_GROWTH_LARGE && price->messages != BLI_GROWTH_LARGE)
        return BLI_VANISHING_NEVER;
    if (limit > 0)
        return BLI_VANISHING_NO;
    return symmetric ? BLI_VANISHING_POSSIBLE : BLI_VANISHING_UNKNOWN;
}

enum bal_code bli_price_of(const struct bli_model *model, const struct bal_policy_spec *policy,
                           struct bli_price *price, struct bal_error *err) {
    const struct bal_policy_context setting = {bli_servers_count(&model->servers), model->load};
    *price = (struct bli_price){.memory_bits = bal_policy_memory_bits(policy, &setting)};
    enum bal_code code = bal_policy_check(policy, &setting, NULL, err);
    if (!code)
        code = watch_probes(policy, &setting, &price->probes, err);
    bool grow = false;
    if (!code && price->probes > 0)
        code = probes_grow(policy, &setting, &grow, err);
    if (code)
        return code;
    price->reports = reports_of(policy, &setting);
    price->memory = memory_growth(policy, &setting);
    price->messages = grow || reports_grow(policy, &setting) ? BLI_GROWTH_LARGE
                      : bli_price_messages(price) > 0        ? BLI_GROWTH_SMALL
                                                             : BLI_GROWTH_NONE;
    price->vanishing = vanishing_of(model, policy, price);
    return BAL_OK;
}
