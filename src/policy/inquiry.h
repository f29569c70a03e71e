/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers that a job has probed and whose replies it waits for.
 *
 * Those that have replied stand first, in the order of their replies. The host numbers inquiries, so that a
 * reply to an earlier one is ignored, and ends the wait when time is up. Live dispatchers and those of the
 * lab's network engine both use it. */
#ifndef POLICY_INQUIRY_H
#define POLICY_INQUIRY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bli_inquiry {
    uint32_t asked, answered;
};

static inline void inquiry_begin(struct bli_inquiry *q, uint32_t *server, const uint32_t *asked,
                                 uint32_t count) {
    *q = (struct bli_inquiry){.asked = count};
    memcpy(server, asked, count * sizeof *server);
}

/* A reply has come. A server that has been probed twice must reply twice. True: that was the last one. */
static inline bool inquiry_reply(struct bli_inquiry *q, uint32_t *server, uint32_t from) {
    for (uint32_t i = q->answered; i < q->asked; i++)
        if (server[i] == from) {
            server[i] = server[q->answered];
            server[q->answered++] = from;
            break;
        }
    return q->answered == q->asked;
}

#endif
