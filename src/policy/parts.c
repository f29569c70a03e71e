#include "policy/parts.h"

static struct bal_decision shares(struct bal_fleet *fleet, uint32_t parts) {
    return (struct bal_decision){fleet->shares[0].server, parts, BAL_NONE, BAL_NONE};
}

struct bal_decision bal_scatter(struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng) {
    struct bal_share *share = fleet->shares;
    for (uint32_t server = 0; server < fleet->servers; server++)
        share[server] = (struct bal_share){server, 0};
    for (uint32_t i = 0; i < count; i++)
        share[bal_rng_below(rng, fleet->servers)].count++;
    uint32_t parts = 0;
    for (uint32_t server = 0; server < fleet->servers; server++)
        if (share[server].count > 0)
            share[parts++] = share[server];
    return shares(fleet, parts);
}

struct bal_decision bal_divide_among(struct bal_set *set, struct bal_fleet *fleet, uint32_t count,
                                     struct bal_rng *rng) {
    const uint32_t parts = count < set->count ? count : set->count;
    const uint32_t each = count / parts;
    const uint32_t rest = count % parts;
    for (uint32_t i = 0; i < parts; i++) {
        const uint32_t server = bal_set_uniform(set, rng);
        bal_set_remove(set, server);
        fleet->shares[i] = (struct bal_share){server, each + (i < rest)};
    }
    return shares(fleet, parts);
}

/* The level is found from above: spread everything over all candidates, drop those that stand above the level
 * that this gives, and again until nobody is dropped; two or three rounds as a rule. */
struct bal_decision bal_water_fill(struct bal_fleet *fleet, uint32_t candidates, uint32_t count,
                                   struct bal_rng *rng) {
    struct bal_share *share = fleet->shares;
    uint64_t level = UINT64_MAX;
    uint64_t rest = 0;
    uint32_t under = 0;
    for (uint32_t before = UINT32_MAX; under != before;) {
        before = under;
        uint64_t sum = count;
        under = 0;
        for (uint32_t i = 0; i < candidates; i++) {
            const bool low = share[i].count <= level;
            sum += low ? share[i].count : 0;
            under += low;
        }
        level = sum / under;
        rest = sum % under;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < candidates; i++)
        if (share[i].count <= level)
            share[kept++] = (struct bal_share){share[i].server, (uint32_t)(level - share[i].count)};
    for (uint32_t i = 0; i < rest; i++) {
        const uint32_t j = i + bal_rng_below(rng, kept - i);
        const struct bal_share chosen = {share[j].server, share[j].count + 1};
        share[j] = share[i];
        share[i] = chosen;
    }
    uint32_t parts = 0;
    for (uint32_t i = 0; i < kept; i++)
        if (share[i].count > 0)
            share[parts++] = share[i];
    return shares(fleet, parts);
}
