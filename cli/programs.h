/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the programs are that `ballast live` starts. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include "rig/rig.h"

struct cli_programs {
    char self[RIG_PATH], nginx[RIG_PATH], module[RIG_PATH], haproxy[RIG_PATH], keeper[RIG_PATH],
        lossy_preload[RIG_PATH];
};

/* Looks in the directory of this program, where they are installed, and in PATH. The result points into
 * *found; a program that is not found is NULL. */
struct rig_programs cli_find_programs(struct cli_programs *found);

#endif
