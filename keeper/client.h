/* For people: the state of a keeper that runs, and orders to it. */
#ifndef KEEPER_CLIENT_H
#define KEEPER_CLIENT_H

#include "config.h"

/* status, wake APP or rest APP, said to the keeper of that configuration. Returns the exit status. */
int client_run(const struct config *config, int argc, char **argv);

#endif
