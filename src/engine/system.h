/* The servers, their queues and the dispatcher, as the continuous-time engines share them.
 *
 * An engine decides when something happens; what then happens is here. The functions are inline and take `features` as a constant where
 * the loop is specialised, so that what a model does not need costs nothing. */
#ifndef ENGINE_SYSTEM_H
#define ENGINE_SYSTEM_H

#include "base/by_length.h"
#include "base/queues.h"
#include "engine/tally.h"

#include <assert.h>

enum {
    INDEXED = 1,   /* servers are kept sorted by length */
    REPORTING = 2, /* servers report when they become idle */
    MIXED = 4,     /* servers of different speeds */
};

struct system {
    uint32_t servers;
    unsigned features;
    const struct bal_policy *policy;
    void *state;
    struct bal_rng rng; /* the policy's */
    struct bal_job job;
    struct bal_fleet fleet;
    struct bal_queues queues;
    struct bal_by_length by_length;
    struct tally tally;
    const struct bal_run *run;
    double now;
};

/* words: size of a queued item. The system must stay where it is: the policy's view of it points inside. */
enum bal_code system_init(struct system *system, const struct bal_model *model,
                          const struct bal_policy_spec *policy, const struct bal_run *run, uint32_t words,
                          struct bal_error *err);
void system_fini(struct system *system);

/* Time has reached `now`, past the end of the slice: closes as many slices as that takes. BAL_OK: go on;
 * otherwise the run is over: tally_done() tells whether it is complete. */
enum bal_code system_advance(struct system *system, double now);

/* What the loop's answer means: fills in *trial if the run is complete, else tells why not. */
enum bal_code system_end(struct system *system, enum bal_code code, struct bal_trial *trial,
                         struct bal_error *err);

/* Stops with a message that names the trial: what follows would be our own mistake. */
_Noreturn void system_broken(const struct system *system, const char *what);

/* Routes one job and makes room for it at the back of a server's queue. Returns the room, or NULL when there is no memory; *to is
 * the server. */
static inline union bal_word *system_arrive(struct system *system, double now, uint32_t words, unsigned features,
                                            uint32_t *to) {
    const struct bal_decision decision =
        system->policy->route(system->state, &system->fleet, &system->job, &system->rng);
    const uint32_t server = decision.server;
    if (__builtin_expect(server >= system->servers, 0)) {
        system->now = now;
        system_broken(system, "the policy chose a server that does not exist");
    }
    const uint32_t length = system->queues.length[server];
    union bal_word *item = bal_queues_push(&system->queues, server, words);
    if (__builtin_expect(!item, 0))
        return NULL;
    if (features & INDEXED && !bal_by_length_up(&system->by_length, server, length))
        return NULL;
    tally_up(&system->tally, now, length + 1);
    *to = server;
    return item;
}

/* The job at the front of a server's queue leaves. Returns how many are left. */
static inline uint32_t system_depart(struct system *system, double now, uint32_t server, unsigned features) {
    const uint32_t length = system->queues.length[server];
    bal_queues_drop(&system->queues, server);
    tally_down(&system->tally, now, length);
    if (features & INDEXED)
        bal_by_length_down(&system->by_length, server, length);
    if (features & REPORTING && length == 1) {
        system->tally.totals.reports++;
        system->policy->report(system->state, BAL_REPORT_IDLE, server);
    }
    return length - 1;
}

#endif
