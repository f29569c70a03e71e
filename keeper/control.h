/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: a unix socket of datagrams with a path, for stations and people. */
#ifndef KEEPER_CONTROL_H
#define KEEPER_CONTROL_H

#include "config.h"

/* Opens it, replacing one at which no process listens. -1: it could not be opened, which has been logged. */
int control_open(const struct config *config);

#endif
