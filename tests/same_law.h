/* SPDX-License-Identifier: BSD-2-Clause */
/* Are two laws the same, bit for bit? Bytes of padding do not count. */
#ifndef BALLAST_TESTS_SAME_LAW_H
#define BALLAST_TESTS_SAME_LAW_H

#include "ballast/dist.h"

#include <string.h>

static inline bool same_law(const struct bli_dist *x, const struct bli_dist *y) {
    return x->kind == y->kind && x->phases == y->phases && memcmp(&x->mean, &y->mean, sizeof x->mean) == 0 &&
           memcmp(&x->a, &y->a, sizeof x->a) == 0 && memcmp(&x->b, &y->b, sizeof x->b) == 0 &&
           memcmp(&x->c, &y->c, sizeof x->c) == 0 && memcmp(&x->d, &y->d, sizeof x->d) == 0 &&
           memcmp(x->start, y->start, sizeof x->start) == 0 &&
           memcmp(x->rate, y->rate, sizeof x->rate) == 0 && memcmp(x->jump, y->jump, sizeof x->jump) == 0;
}

#endif
