/* SPDX-License-Identifier: BSD-2-Clause */
/* Schemes: everything with a name that the lab can run.
 *
 * Most are dispatch policies (ballast/policy.h). The others have no dispatcher, so that no host can use them
 * and the library of policies does not contain them: rules of one common queue, which are yardsticks for
 * policies, and jobs that are made at the servers and stolen from there. They are written, parsed and printed
 * like policies and are described by the same structure, which has no route then; bal_policy_print() and what
 * else looks at names and parameters alone works on all of them. */
#ifndef BALLAST_SCHEME_H
#define BALLAST_SCHEME_H

#include "ballast/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bli_scheme {
    BLI_SCHEME_POLICY,
    BLI_SCHEME_POOLED,    /* one common queue for all servers: nothing is routed */
    BLI_SCHEME_GENERATED, /* jobs are made at the servers: nor is anything here */
};

enum bli_scheme bli_scheme_of(const struct bal_policy *policy);

extern const struct bal_policy *const bli_pooled_table[];
extern const size_t bli_pooled_count;
extern const struct bal_policy *const bli_generated_table[];
extern const size_t bli_generated_count;

/* The parameters of the pooled scheme `windowed`; times are in the unit of the model's time. */
struct bli_window_rule {
    double target;    /* jobs that each slot of a server should have on average */
    double window;    /* over which they are averaged */
    double panic;     /* the short window, as a part of that */
    double threshold; /* a short average that wants so many times the servers that are ready is a panic */
    double tick;      /* between two decisions */
};
enum { BLI_WINDOW_UP = 1000, BLI_WINDOW_DOWN = 2 }; /* servers at most times, and divided by, this at once */
/* False: it is another scheme. */
bool bli_window_rule_of(const struct bal_policy_spec *spec, struct bli_window_rule *rule);

/* All schemes, the policies first; NULL behind the last. */
const struct bal_policy *bli_scheme_at(size_t i);
const struct bal_policy *bli_scheme_find(const char *name); /* NULL when there is none */

/* Reads "name" or "name:key=value,...", as bal_policy_parse() does for policies alone. */
enum bal_code bli_scheme_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
