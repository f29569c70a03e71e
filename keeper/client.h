/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line client: shows the state of a running keeper and sends it commands. */
#ifndef KEEPER_CLIENT_H
#define KEEPER_CLIENT_H

#include "config.h"

/* Sends status, wake APP (start) or rest APP (stop) to the keeper of that configuration. Returns the exit
 * status. */
int client_run(const struct config *config, int argc, char **argv);

#endif
