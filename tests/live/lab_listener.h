/* SPDX-License-Identifier: BSD-2-Clause */
/* What a dispatcher of the lab sees, written down: see tests/cross/live_lab.c. The headers of the lab and of
 * the live half are not for one file. */
#ifndef TESTS_LIVE_LAB_LISTENER_H
#define TESTS_LIVE_LAB_LISTENER_H

#include "ballast/policy.h"

enum { LISTENER_SERVERS = 8, LISTENER_JOBS = 2500, LISTENER_SEED = 31 };

enum what { ROUTE, RESPONSE, REPORT };

struct entry {
    enum what what;
    double now;
    uint32_t server, rank;
    enum bal_report report;
    double took;                                                 /* of RESPONSE */
    uint32_t length[LISTENER_SERVERS], urgent[LISTENER_SERVERS]; /* what a probe would find */
};

/* Runs the event engine with this policy and servers of so many slots; false: it cannot simulate it. */
bool listener_run(const struct bal_policy_spec *spec, bool classes, uint32_t slots);
size_t listener_entries(void);
const struct entry *listener_entry(size_t i);
void listener_forget(void);

#endif
