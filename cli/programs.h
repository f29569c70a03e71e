/* Where the programs are that `ballast live` starts. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include "rig/rig.h"

struct cli_programs {
    char self[RIG_PATH], nginx[RIG_PATH], module[RIG_PATH], haproxy[RIG_PATH], keeper[RIG_PATH],
        dropper[RIG_PATH];
};

/* Looks beside this program, where they are installed, and in PATH. The result points into *found; what is
 * not there is NULL. */
struct rig_programs cli_find_programs(struct cli_programs *found);

#endif
