/* SPDX-License-Identifier: BSD-2-Clause */
/* Control groups (version 2 of cgroups): one for each app, which no process of it can leave.
 *
 * A keeper has a control group to divide when its service manager has delegated one to it (Delegate=yes of
 * systemd), or when the configuration names one. The keeper itself, its supervisors and hooks stay in the
 * group that they were started in. */
#ifndef KEEPER_GROUP_H
#define KEEPER_GROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The group below which apps get theirs. wanted: "auto", "none", or a directory. Returns false: there is
 * none; *fault is NULL, or what is wrong with the one that was requested. */
bool group_find(char base[PATH_MAX], const char *wanted, const char **fault);

/* Creates the group if it does not exist. */
bool group_make(const char *group);
/* This process moves there. */
bool group_join(const char *group);
/* Is any process in it, or below it? */
bool group_is_populated(const char *group);
/* Kills all that is in it and below it. Returns whether there was any: call it again until there is none. */
bool group_kill(const char *group);
/* Removes it if nothing is in it. */
void group_remove(const char *group);

#endif
