/* SPDX-License-Identifier: BSD-2-Clause */
/* A private directory for the files of real processes. */
#ifndef RIG_WORKDIR_H
#define RIG_WORKDIR_H

#include "ballast/error.h"

enum { RIG_PATH = 512 };

/* Makes one under TMPDIR (or /tmp), named after this process, and removes those of processes that no longer
 * exist. */
enum bal_code bli_workdir_create(char path[RIG_PATH], struct bal_error *err);
/* Removes it with all that is in it. */
void bli_workdir_remove(const char *path);

#endif
