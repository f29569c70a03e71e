/* SPDX-License-Identifier: BSD-2-Clause */
/* Infers the number of slots of servers from a log: how often jobs overtake each other, and how their sizes
 * would depend on what they find if there were k slots, for every k at once. */
#ifndef RECOVER_SLOT_INFERENCE_H
#define RECOVER_SLOT_INFERENCE_H

#include "ballast/recover.h"
#include "recover/departures.h"
#include "recover/strata.h"

enum { BLI_EVIDENCE_MAX = 64 }; /* slots that are distinguished, at most */

/* Of one block, by how many others a job finds at its server (the last: so many or more). */
struct bli_evidence_block {
    uint64_t found[BLI_EVIDENCE_MAX + 1];
    double logged[BLI_EVIDENCE_MAX + 1];                       /* sums of D - A, in seconds */
    double served[BLI_EVIDENCE_MAX + 1][BLI_EVIDENCE_MAX + 1]; /* of D - when k-th last of the others leaves
                                                                */
};

struct bli_evidence {
    uint64_t jobs;
    uint64_t overtaken[BLI_EVIDENCE_MAX + 1]; /* jobs by how many earlier ones they leave before */
    struct bli_evidence_block block[BLI_STRATA];
};

/* Adds a job that arrives at the server in its present state (jobs that have left are removed) and leaves at
 * D. Those that leave less than `tolerance` apart do not count as overtaking. */
void bli_evidence_add(struct bli_evidence *evidence, unsigned block, const struct bli_departures *departures,
                      int64_t arrives, int64_t leaves, int64_t tolerance);

struct bli_evidence_slots {
    uint32_t least;     /* fewer are excluded by overtaking */
    uint32_t slots;     /* what explains the sizes best ... */
    uint32_t low, high; /* ... and the range that cannot be distinguished from it; high 0: without limit */
    bool shared;        /* sizes depend on what is found even where a slot is free */
};

/* coarse: times are in whole seconds, and the order of arrivals is uncertain. */
struct bli_evidence_slots bli_evidence_infer_slots(const struct bli_evidence *evidence, bool coarse);

/* With k slots: the share of jobs that overtake so many; the mean size, in seconds; the size of jobs that
 * find no free slot over that of the others (NaN: hardly any does). k is 1 to BLI_EVIDENCE_MAX. */
double bli_evidence_overtaking(const struct bli_evidence *evidence, uint32_t k);
double bli_evidence_mean(const struct bli_evidence *evidence, uint32_t k);
double bli_evidence_dependence(const struct bli_evidence *evidence, uint32_t k);

#endif
