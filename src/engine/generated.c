/* SPDX-License-Identifier: BSD-2-Clause */
/* Work stealing in slotted time: the chain of Berenbrink, Friedetzky and Goldberg, "The natural work-stealing
 * algorithm is stable" (2001). It is not a dispatch policy: jobs come from generators at the servers
 * themselves, and a server without work asks another for some. It has its own engine.
 *
 * How much is stolen, from whom, and where the generators are is set in the model (ballast/stealing.h),
 * because work is stolen in continuous time too, under every dispatch policy.
 *
 * Cost: one request for every server without work in every step. Memory: none, there is no dispatcher.
 * Proved: stable at every load below 1 for many servers if f grows fast enough (Theorem 1); transient if all
 * generators sit on k servers and at most j jobs are stolen, where k (j + 1) < load n (Theorem 9). */
#include "ballast/scheme.h"

static const struct bal_policy stealing = {
    .name = "stealing",
    .summary = "slotted: jobs are made at the servers, and a server without work steals from another",
    .paper = "Berenbrink et al. 2001",
    .cost = "a probe when idle",
};

const struct bal_policy *const bli_generated_table[] = {&stealing};
const size_t bli_generated_count = sizeof bli_generated_table / sizeof *bli_generated_table;
