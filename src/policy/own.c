/* own: the server with the fewest of this dispatcher's own requests in flight, ties uniform: least
 * connections, as proxies do it. With d it is the best of d different uniform servers: d=2 is nginx's random
 * two, HAProxy's random(2) and Envoy's least request.
 *
 * Cost: nothing. A dispatcher knows what it has sent and sees what comes back. Memory: a count for each
 * server, which the host keeps; it is counted here as bits of the policy, ceil(log2(1 + N)) for each server,
 * enough for a queue of N requests.
 * Proved: with one dispatcher own counts are the queue lengths, so that own is jsq and own:d is pod:d with
 * replace=0, with all that is known of them. With M dispatchers each sees a share of what is there, and what
 * it sees says less the more there are. */
#include "policy/parts.h"
#include "policy/table.h"

enum { D };

static const struct bal_param params[] = {
    [D] = {"d", 1, BAL_OWN_MOST, NAN, true, false, "different servers compared for a job; without it all"},
};

struct state {
    uint32_t d; /* 0: all */
};

static size_t size(const double *value, const struct bal_setting *setting) {
    (void)value, (void)setting;
    return sizeof(struct state);
}

static void init(void *block, const double *value, const struct bal_setting *setting) {
    (void)setting;
    struct state *state = block;
    state->d = isnan(value[D]) ? 0 : (uint32_t)value[D];
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    const struct state *state = block;
    if (job->split && job->count > 1)
        return bal_fill_own(fleet, state->d, job->count, rng);
    return bal_to(state->d ? bal_own_of_some(fleet, state->d, rng) : bal_own_fewest(fleet, rng));
}

static unsigned more_flags(const double *value) {
    return isnan(value[D]) ? BAL_NEEDS_INDEX : 0;
}

static bool sound(const void *block, const double *value, const struct bal_setting *setting) {
    (void)setting;
    const struct state *state = block;
    return state->d == (isnan(value[D]) ? 0 : (uint32_t)value[D]);
}

static double memory_bits(const double *value, const struct bal_setting *setting) {
    (void)value;
    return setting->servers * bits_of_count(setting->servers);
}

const struct bal_policy bal_policy_own = {
    .name = "own",
    .summary = "the fewest requests in flight of this dispatcher's own (least connections), of all or of d",
    .paper = "classic; nginx, HAProxy, Envoy",
    .cost = "nothing",
    .flags = BAL_SYMMETRIC | BAL_NEEDS_OWN | BAL_READS_ONLY,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .sound = sound,
    .more_flags = more_flags,
    .memory_bits = memory_bits,
};
