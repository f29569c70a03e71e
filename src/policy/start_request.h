/* SPDX-License-Identifier: BSD-2-Clause */
/* When a dispatcher requests that a server which is switched off is started.
 *
 * The policy requests it with each job that comes or waits. The message is sent once in a beat, however often
 * the policy requests it: otherwise a server that is still off, and answers so, would be sent the message
 * again for the jobs that are held, would answer, and so on. It is repeated with the next beats until the
 * server answers that it is not off, because it may have been lost.
 *
 * Times are handed in, in any unit. Live dispatchers and those of the lab's network engine both use it. */
#ifndef POLICY_START_REQUEST_H
#define POLICY_START_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

enum { BLI_STARTS_SENT = 8 }; /* after that it waits for the policy to request it again */

/* Of one server. All zeros: nothing is requested. */
struct bli_start_request {
    uint32_t left;   /* so often it is still to be sent */
    bool sent;       /* at least once */
    double again_at; /* at this time */
};

static inline bool start_is_due(const struct bli_start_request *s, double now) {
    return s->left && now >= s->again_at;
}

/* The policy requests it. True: the message is to be sent now. beat 0: each time, but once in a moment, as a
 * server that is in set-up may answer in no time, and the policy then requests it again. */
static inline bool start_requested(struct bli_start_request *s, double now, double beat) {
    if ((s->left && !start_is_due(s, now)) || (s->sent && s->again_at == now && !(beat > 0)))
        return false;
    *s = (struct bli_start_request){BLI_STARTS_SENT, true, now + beat};
    return true;
}

/* Time has passed. True: the message is to be sent again. */
static inline bool start_repeat(struct bli_start_request *s, double now, double beat) {
    if (!start_is_due(s, now))
        return false;
    s->left--;
    s->again_at = now + beat;
    return true;
}

/* The server has told its state. */
static inline void start_answered(struct bli_start_request *s, bool off) {
    if (!off)
        s->left = 0;
}

#endif
