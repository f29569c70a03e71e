/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks whether a directory can be trusted: a user who can write in it, or in one above it, can replace the
 * files in it. */
#ifndef KEEPER_TRUST_H
#define KEEPER_TRUST_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum { TRUST_FAULT = PATH_MAX + 80 };

/* Do root and this user alone decide what is in a directory with that status? Others may write in it where
 * each user can remove only their own files (mode +t), and a group that is root's or this user's own may. */
bool trust_is_safe(const struct stat *status);

/* Returns NULL if this directory and all above it are safe, or what is wrong. */
const char *trust_fault(const char *directory, char fault[TRUST_FAULT]);

#endif
