/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulated fleets against exact means. Include after <cmocka.h>. */
#ifndef BALLAST_TESTS_EXACT_H
#define BALLAST_TESTS_EXACT_H

#include "../agree.h"
#include "../texts.h"

static inline struct bli_model model_of(const char *servers, const char *size, double load) {
    struct bli_model model = {.load = load};
    struct bal_error err;
    if (bli_servers_parse(servers, &model.servers, &err) || bli_dist_parse(size, &model.size, &err))
        fail_msg("%s", err.text);
    return model;
}

/* A mean may be 4.5 standard errors off, and by the part `slack`; it must be able to see 5 %. */
static inline void assert_mean(const struct replications *r, int quantity, double known, double slack,
                               const char *what) {
    double mean, error2;
    describe(r, quantity, &mean, &error2);
    if (4.5 * sqrt(error2) > 0.05 * known)
        fail_msg("%s: the error of %s is %g, too large to tell", what, quantity_name(quantity), sqrt(error2));
    if (!(fabs(mean - known) <= 4.5 * sqrt(error2) + slack * known))
        fail_msg("%s: %s is %g (error %g), should be %g", what, quantity_name(quantity), mean, sqrt(error2),
                 known);
}

#endif
