/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon: sockets, signals, time, and the apps of one configuration. One thread polls them all, so
 * nothing in keeper/ needs a lock. */
#ifndef KEEPER_DAEMON_H
#define KEEPER_DAEMON_H

#include "config.h"

/* Runs until a signal ends it. Takes ownership of the configuration. Returns the exit status. */
int daemon_run(struct config *config, const char *path);

#endif
