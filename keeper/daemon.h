/* The daemon: sockets, signals, time, and the apps of one configuration. */
#ifndef KEEPER_DAEMON_H
#define KEEPER_DAEMON_H

#include "config.h"

/* Runs until it is told to end. Takes the configuration. Returns the exit status. */
int daemon_run(struct config *config, const char *path);

#endif
