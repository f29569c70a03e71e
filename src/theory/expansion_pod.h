/* SPDX-License-Identifier: BSD-2-Clause */
/* pod and its sisters as events, for the expansion in 1/N. */
#ifndef THEORY_EXPANSION_POD_H
#define THEORY_EXPANSION_POD_H

#include "theory/expansion.h"

enum { EXPANSION_GROUPS = 32 };

/* Groups of servers of different speeds; jobs that probe d[1] servers with probability p, else d[0]. */
struct expansion_pod {
    double lambda; /* jobs for a server in a unit of time */
    double p;
    unsigned d[2];
    bool distinct; /* the servers probed are different ones */
    unsigned groups;
    double share[EXPANSION_GROUPS]; /* of all servers */
    double speed[EXPANSION_GROUPS];
    size_t levels; /* how many jobs a server has at most */
};

/* The state: for group g and level i >= 1 at g levels + i - 1 the fraction of all servers that are of the
 * group and have at least i jobs. *pod must stay where it is. */
struct expansion_model bli_expansion_pod_model(const struct expansion_pod *pod);

#endif
