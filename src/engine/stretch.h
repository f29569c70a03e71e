/* SPDX-License-Identifier: BSD-2-Clause */
/* How many times as long as alone at full speed jobs take when k of them share a server: k, or k over the
 * total rate with k jobs (`speeds`). */
#ifndef ENGINE_STRETCH_H
#define ENGINE_STRETCH_H

#include "ballast/model.h"
#include "base/inline.h"

#include <stdint.h>

/* of[k] below `known`, each_more k from there on. known is 0 where they share one speed. */
struct stretch {
    uint32_t known;
    double *of;
    double each_more;
};

/* No memory is needed where no speeds are given. *stretch is zero before. */
enum bal_code bli_stretch_init(struct stretch *stretch, const struct bli_speeds *speeds);
void bli_stretch_fini(struct stretch *stretch);

ALWAYS_INLINE double stretch_of(const struct stretch *stretch, uint32_t jobs) {
    if (!stretch->known)
        return jobs;
    return jobs < stretch->known ? stretch->of[jobs] : jobs * stretch->each_more;
}

#endif
