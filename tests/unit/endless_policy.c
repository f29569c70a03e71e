/* SPDX-License-Identifier: BSD-2-Clause */
/* A policy from a file that never decides, and ignores and cancels what would end it (plugin_hangs.c). */
#include <ballast/plugin.h>

#include <signal.h>
#include <unistd.h>

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    static volatile bool decided;
    (void)state, (void)fleet, (void)job, (void)rng;
    signal(SIGALRM, SIG_IGN);
    while (!decided)
        alarm(0);
    return bal_to(0);
}

static const struct bal_policy endless = {
    .name = "endless", .summary = "never decides", .paper = "a test", .cost = "all of it", .route = route};
BAL_PLUGIN(endless);
