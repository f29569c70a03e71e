/* SPDX-License-Identifier: BSD-2-Clause */
/* How often the servers of a large fleet send heartbeats to a dispatcher.
 *
 * A heartbeat costs its receiver a few microseconds, whatever it says. So a dispatcher has room for one in
 * each `gap`, and where there are so many servers that their own interval would bring more, it asks each of
 * them for one in each `servers` gaps. That interval is in what a server says: its statements are valid for
 * three of them. So a dispatcher sees who has not heard it, or has restarted, and asks again; seldom, as a
 * server of a former release does not obey. What a server offers is said at once, and once more when
 * one to two of its own intervals have passed, because the message may have been lost: most are used by then.
 * Only what is said without news is slower.
 *
 * Times are handed in, in any unit. */
#ifndef POLICY_PACE_H
#define POLICY_PACE_H

#include "policy/closing.h"

/* An offer is said once more with this beat of its server, unless it has been used. */
enum { PACE_REPEAT_BEATS = 2 };

/* Of one server, at a dispatcher. All zeros: nothing has been asked for. */
struct bli_pace {
    double asked;    /* the interval */
    double again_at; /* not before */
};

/* The interval that a dispatcher with so many servers wants; servers may have a longer one of their own. */
static inline double pace_wanted(uint32_t servers, double gap) {
    return servers * gap;
}

/* How long it lasts until all servers have been heard of again, where they have this interval of their own.
 */
static inline double pace_beat(double beat, double wanted) {
    return wanted > beat ? wanted : beat;
}

/* A statement has come that is valid for so long. True: its server is to be asked for the interval that is
 * wanted, because its own is a quarter shorter, or a third longer and the one that it was asked for. */
static inline bool pace_is_due(struct bli_pace *pace, double wanted, double valid, double now) {
    enum { SELDOM = 8 };
    const double interval = valid / BLI_STATEMENT_BEATS, longest = 4 * wanted / 3;
    const bool ask = interval < 3 * wanted / 4 || (pace->asked > longest && interval > longest);
    if (!ask || now < pace->again_at)
        return false;
    *pace = (struct bli_pace){wanted, now + SELDOM * wanted};
    return true;
}

/* At a server, with each of its own beats: is it time for a heartbeat? asked: the interval; due: when the
 * next one is. */
static inline bool pace_is_time(double asked, double beat, double now, double due) {
    return asked <= beat || now + beat / 2 >= due;
}

#endif
