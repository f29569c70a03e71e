/* Parts that several policies share: splitting batches, names in bits. */
#ifndef POLICY_PARTS_H
#define POLICY_PARTS_H

#include "ballast/policy.h"
#include "ballast/set.h"

#include <math.h>

/* Bits to name one of n servers. */
static inline double bits_of_name(uint32_t servers) {
    return servers > 1 ? ceil(log2((double)servers)) : 0;
}

/* Is the server one of these? O(count). */
static inline bool bal_among(const struct bal_share *share, uint32_t count, uint32_t server) {
    for (uint32_t i = 0; i < count; i++)
        if (share[i].server == server)
            return true;
    return false;
}

/* Probes d servers, drawn with replacement, and returns the shortest. Ties need no draw of their own: the
 * samples are exchangeable, so the first of the shortest is a uniform one. */
static inline uint32_t bal_probe_some(struct bal_fleet *fleet, uint32_t d, struct bal_rng *rng) {
    uint32_t best = bal_rng_below(rng, fleet->servers);
    uint32_t shortest = bal_probe(fleet, best);
    for (uint32_t i = 1; i < d; i++) {
        const uint32_t server = bal_rng_below(rng, fleet->servers);
        const uint32_t length = bal_probe(fleet, server);
        const bool better = length < shortest;
        best = better ? server : best;
        shortest = better ? length : shortest;
    }
    return best;
}

/* Sends each job of the batch to a uniform server: shares are merged per server. O(count), O(servers) at
 * most. */
struct bal_decision bal_scatter(struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng);

/* Divides the batch over the members of a set that is not empty as evenly as possible, the remainder to a
 * uniform subset, and removes those that got something. O(min(count, members)). */
struct bal_decision bal_divide_among(struct bal_set *set, struct bal_fleet *fleet, uint32_t count,
                                     struct bal_rng *rng);

/* Water-filling: shares[0..candidates) hold the candidates (all different) with their queue lengths in count.
 * Raises the lowest level first, the remainder to a uniform subset of the level. On return shares[0..parts)
 * hold what goes where. */
struct bal_decision bal_water_fill(struct bal_fleet *fleet, uint32_t candidates, uint32_t count,
                                   struct bal_rng *rng);

#endif
