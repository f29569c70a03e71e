/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and ends the processes of a supervised app whose supervisor was killed.
 *
 * Where the app has a control group, all that is in it is the app's, and nothing else is. Elsewhere its
 * processes are known by their session, by the environment that they were started with, and as descendants of
 * those; and a lock that they have inherited shows whether there are any at all, including those that cannot
 * be found. */
#ifndef KEEPER_ORPHANS_H
#define KEEPER_ORPHANS_H

#include "config.h"

#include <limits.h>

/* Kills what can be found. Returns true if there was anything, or if the lock shows that something is left:
 * call it again. *killed: those that were signalled; where a whole group was, 1. */
bool orphans_end(const struct app_config *app, const char *state, size_t *killed);

/* The app is about to be started: records which control group is its own, and creates it. groups: the one
 * below which it is to be, NULL: none. Returns false, and errno: it could not be, or (EWOULDBLOCK) something
 * is in it. group is empty where there is none. */
bool orphans_prepare(const struct app_config *app, const char *state, const char *groups,
                     char group[PATH_MAX]);
/* Nothing is left of it: its group is forgotten. */
void orphans_forget(const struct app_config *app, const char *state);

#endif
