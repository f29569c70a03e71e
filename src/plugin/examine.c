/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets up the small fleet on which a policy is examined, with guard bytes around its memory. */
#include "plugin/examine.h"

#include "plugin/loader.h"

#include <stdlib.h>
#include <string.h>

static double server_work(struct bal_fleet *fleet, uint32_t server) {
    return fleet->length[server];
}

enum bal_code bli_examined_init(struct examined *x, const struct bal_policy_spec *spec, uint64_t seed,
                                struct bal_error *err) {
    *x = (struct examined){.spec = spec, .setting = {EXAMINE_SERVERS, 0.9}};
    x->size = bal_policy_size(spec, &x->setting);
    if (x->size > 1u << 30)
        return bal_fail(err, BAL_E_RANGE, "for %d servers it wants a state of %zu bytes", EXAMINE_SERVERS,
                        x->size);
    unsigned char *block = malloc(x->size + 2 * EXAMINE_GUARD);
    x->state = block ? block + EXAMINE_GUARD : NULL;
    x->eligible = malloc(bal_set_size(EXAMINE_SERVERS));
    if (!x->state || !x->eligible) {
        bli_examined_fini(x);
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to examine a policy");
    }
    memset(block, 0xa5, x->size + 2 * EXAMINE_GUARD);
    bal_set_init(x->eligible, EXAMINE_SERVERS);
    for (uint32_t server = 0; server < EXAMINE_SERVERS; server++) {
        bal_set_insert(x->eligible, server);
        x->weight[server] = 1;
    }
    x->fleet = (struct bal_fleet){.servers = EXAMINE_SERVERS,
                                  .length = x->length,
                                  .urgent = x->urgent,
                                  .shares = x->shares,
                                  .work = server_work,
                                  .eligible = x->eligible,
                                  .own = x->own,
                                  .weight = x->weight,
                                  .ask = x->ask,
                                  .ask_room = EXAMINE_ROOM};
    bal_rng_init(&x->rng, seed, 0, BAL_STREAM_TEST);
    bal_policy_init(spec, &x->setting, x->state);
    return BAL_OK;
}

void bli_examined_fini(struct examined *x) {
    free(x->state ? x->state - EXAMINE_GUARD : NULL);
    free(x->eligible);
    x->state = NULL;
    x->eligible = NULL;
}

bool bli_examined_is_guarded(const struct examined *x) {
    for (size_t i = 0; i < EXAMINE_GUARD; i++)
        if (x->state[-1 - (ptrdiff_t)i] != 0xa5 || x->state[x->size + i] != 0xa5)
            return false;
    return true;
}

enum bal_code bli_policy_examine(const struct bal_policy_spec *spec, struct bal_error *err) {
    const struct bal_policy_context setting = {EXAMINE_SERVERS, 0.9};
    enum bal_code code = bal_policy_check(spec, &setting, NULL, err);
    if (!code)
        code = bli_examine_storm(spec, err);
    if (!code && bal_policy_flags(spec) & BAL_SYMMETRIC)
        code = bli_examine_symmetry(spec, err);
    return code;
}
