/* SPDX-License-Identifier: BSD-2-Clause */
/* What one class of requests may have of a queue that all classes share: the hold queue of a dispatcher, or
 * the queue of a station. Where the queue is full, a more urgent request gets the place of the last one of
 * the least urgent class that waits; a class that has reached its own limit gets no place of another one. */
#ifndef BALLAST_LIVE_CLASS_LIMIT_H
#define BALLAST_LIVE_CLASS_LIMIT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bal_class_limit {
    uint32_t waiting; /* so many of its requests wait at most; 0: no limit but that of all classes */
    uint64_t wait_ns; /* each for at most so long; 0: as long as those of the other classes */
};

#ifdef __cplusplus
}
#endif
#endif
