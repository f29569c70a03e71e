/* SPDX-License-Identifier: BSD-2-Clause */
/* rcpb, pod-memory and stealing as events, for the expansion to 1/N. In all of them the state is the fraction
 * of servers with at least i jobs, i = 1 .. levels, and no server has more. The parameters must stay where
 * they are. */
#ifndef THEORY_EXPANSION_MODELS_H
#define THEORY_EXPANSION_MODELS_H

#include "ballast/fluid.h"
#include "theory/expansion_fast.h"

struct expansion_rcpb {
    double lambda, mu; /* jobs for a server, reports of an idle one in a mean service time */
    unsigned c;        /* names that are stored, at most */
    size_t levels;
};
struct fast_model bli_expansion_rcpb_model(const struct expansion_rcpb *rcpb);

/* d servers are probed and one that is remembered, as in the paper of Mitzenmacher, Prabhakar and Shah
 * (2002): the fast variable is how many jobs that one has, 0 .. levels. */
struct expansion_memory {
    double lambda;
    unsigned d;
    size_t levels;
};
struct fast_model bli_expansion_memory_model(const struct expansion_memory *memory);

struct expansion_stealing {
    const struct bli_stealing *stealing;
    bool others; /* a server asks one of the others, not of all */
    size_t levels;
};
struct fast_model bli_expansion_stealing_model(const struct expansion_stealing *stealing);

#endif
