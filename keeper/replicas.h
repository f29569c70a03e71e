/* SPDX-License-Identifier: BSD-2-Clause */
/* Replicas of one thing: carries out what their scaler (ballast/live/scaler.h) orders, by the hook `scale`,
 * and keeps the number of replicas in a file, from which a keeper that was restarted goes on. */
#ifndef KEEPER_REPLICAS_H
#define KEEPER_REPLICAS_H

#include "config.h"
#include "supervisor.h"

struct replicas {
    const struct replicas_config *config;
    const char *state; /* the directory */
    struct bal_scaler scaler;
    struct bal_scaler_place *place;
    struct bal_scale_order order; /* the last that was fetched */
    bool pending;                 /* its hook has not begun */
    struct supervisor hook;
    uint64_t hook_number; /* of the order that the hook runs for */
    uint64_t again_at;    /* when to try again to begin it; UINT64_MAX: nothing to try */
    uint32_t stored;      /* the number in the file */
    bool changed;         /* since the state was last written for people */
};

/* False: out of memory. state must live as long as the replicas. */
bool replicas_init(struct replicas *replicas, const struct replicas_config *config, const char *state,
                   uint64_t now);
/* A hook that runs ends by itself when the keeper does. */
void replicas_fini(struct replicas *replicas);
/* Another configuration with the same places. */
void replicas_reconfigure(struct replicas *replicas, const struct replicas_config *config, const char *state,
                          uint64_t now);
/* The keeper of a place is about to go. */
void replicas_forget(struct replicas *replicas, uint32_t place);

/* Time has passed, or something happened. Returns when it must be called again at the latest. */
uint64_t replicas_pass(struct replicas *replicas, uint64_t now);
/* The process with this pid has ended. Returns false: it is not the hook. */
bool replicas_reaped(struct replicas *replicas, pid_t pid, int status);

#endif
