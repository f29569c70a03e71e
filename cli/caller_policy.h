/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies that the calling program decides itself, by functions of its own (embedded.h), for the command
 * that this thread runs. */
#ifndef CLI_CALLER_POLICY_H
#define CLI_CALLER_POLICY_H

#include "embedded.h"

/* From now on this thread knows them by their names. They are called in this thread alone, so a command that
 * has some must not use another. Returns false without memory, or when there are too many. */
bool cli_caller_policies_begin(const struct bal_command_caller *caller);
void cli_caller_policies_end(void);

#endif
