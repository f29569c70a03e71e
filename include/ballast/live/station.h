/* SPDX-License-Identifier: BSD-2-Clause */
/* The station of a live server: it stands in front of one app, limits it to its slots, queues the rest by
 * class, and reports its load to the dispatchers.
 *
 * Like the dispatcher (see dispatcher.h for time, the lock, processes and their death) it is one flat block
 * that processes share, without socket, clock or allocation. It decides which request runs next; the
 * processes do the work and wake each other:
 *
 *     bal_station_create(block, &config, now);
 *     bal_station_open(s, block, seed, &err);
 *     bal_station_join(s, now, pid, start_time, &err);
 *     ... for each request:
 *     bal_station_arrive(s, now, class, dispatcher, moved, &what);
 *         BAL_RUN: pass it to the app;  BAL_QUEUE: wait for the decision;  BAL_FULL: answer 503
 *     bal_station_done(s, now, what.ticket, failed);
 *
 * First come, first served within a class; the more urgent class first; nothing that runs is interrupted.
 * When the queue is full, a more urgent request gets the place of the last one of the least urgent class. A
 * request that has not started may be taken by a station that is idle (STEAL) or moved at the request of a
 * dispatcher (MOVE): its process then passes it to that station instead of to the app, and reports the result
 * by bal_station_done(), or bal_station_returned() when it was refused there: it goes back to its place.
 *
 * A free slot is offered to one dispatcher: one with a backlog, if any is known, else one chosen uniformly at
 * random. An offer that is not used is sent again with every heartbeat, and taken back when there is no free
 * slot any longer or a dispatcher reports a backlog. One that has a backlog itself keeps its offer for one
 * beat at most: an idle slot is not reserved for a dispatcher that cannot use it while another one holds
 * requests.
 *
 * Where a keeper starts and stops the app, the power state is what the keeper reports. Requests for an app
 * that is off wait, and the station sends START to the keeper until the keeper answers. An app that has been
 * idle for standby_ns may be stopped; once the keeper has been sent STOP, nothing is passed to the app until
 * the keeper reports that it is on again. Without a keeper the app is always on.
 *
 * Costs: O(1) for a request and a message, O(log peers) for none; O(dispatchers) for a heartbeat; O(requests
 * that are given away) for STEAL. */
#ifndef BALLAST_LIVE_STATION_H
#define BALLAST_LIVE_STATION_H

#include "ballast/error.h"
#include "ballast/live/class_limit.h"
#include "ballast/live/concurrency.h"
#include "ballast/live/join.h"
#include "ballast/live/wire.h"
#include "ballast/stealing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bal_station_config {
    uint32_t workers;   /* processes that share it at once, at most 256 */
    uint32_t slots;     /* requests that the app works on at once */
    uint32_t min_slots; /* not 0: how many they should be is found, from so many to `slots` */
    uint32_t queue;     /* requests that wait at most, those on their way elsewhere included */
    uint32_t classes;   /* at most BAL_CLASSES_MAX; 0 is 1 */
    uint64_t queue_ns;  /* a request that has waited for so long is refused; 0: never */
    struct bal_class_limit class_limit[BAL_CLASSES_MAX]; /* of each class */
    uint32_t peers;                                      /* dispatchers and other stations at most */
    uint64_t beat_ns;  /* between heartbeats; a message is valid for three of them */
    uint64_t offer_ns; /* mean time between offers while a slot is free, for policies that need this (rcpb);
                          0: a slot is offered when it becomes free */
    struct bal_steal steal; /* how much is given to a thief; none: this station neither steals nor gives */
    uint64_t steal_ns;      /* how long it waits for the victim's answer, and for granted requests */
    uint64_t keeper;        /* its id; 0: there is none */
    uint64_t standby_ns; /* an app that has been idle for so long may be stopped; 0: never, and it is started
                            again whenever it is off */
    uint32_t fleet;      /* for messages; see wire.h */
    uint64_t id, boot;
    struct bal_join_config join; /* dispatchers that are not listed; `peers` includes them */
};

enum bal_code bal_station_check(const struct bal_station_config *config, struct bal_error *err);
/* Bytes of the block and of a process's view. */
size_t bal_station_size(const struct bal_station_config *config);
size_t bal_station_view_size(const struct bal_station_config *config);
void bal_station_create(void *block, const struct bal_station_config *config, uint64_t now);

struct bal_station;
enum bal_code bal_station_open(struct bal_station *s, void *block, uint64_t seed, struct bal_error *err);

/* ---- processes: as in dispatcher.h ---- */

enum bal_code bal_station_join(struct bal_station *s, uint64_t now, uint64_t pid, uint64_t start,
                               struct bal_error *err);
void bal_station_leave(struct bal_station *s, uint64_t now);
bool bal_station_worker(struct bal_station *s, uint32_t i, uint64_t *pid, uint64_t *start);
void bal_station_reap(struct bal_station *s, uint64_t now, uint32_t i);
uint32_t bal_station_worker_number(const struct bal_station *s);

/* ---- dispatchers and other stations ---- */

/* The dispatchers that send here, and the stations from which may be stolen and to which may be moved. Those
 * that were listed before, and members, keep their state. On failure nothing has changed. */
enum bal_code bal_station_configure(struct bal_station *s, uint64_t now, const uint64_t *dispatchers,
                                    uint32_t dispatcher_count, const uint64_t *stations,
                                    uint32_t station_count, struct bal_error *err);

/* As bal_dispatcher_adopt_members(). */
void bal_station_adopt_members(struct bal_station *s, uint64_t now, const struct bal_member *members,
                               uint32_t count);

/* ---- requests ---- */

enum bal_station_verdict {
    BAL_RUN,     /* pass it to the app */
    BAL_QUEUE,   /* it waits: the decision comes later */
    BAL_FORWARD, /* pass it to the station `target`: it has been given away */
    BAL_FULL,    /* the queue is full, or it has waited for too long; the ticket is void */
};

struct bal_station_task {
    enum bal_station_verdict verdict;
    uint64_t ticket;
    uint64_t target;   /* id of a station */
    uint64_t retry_ns; /* FULL: how long until those have gone that wait now, are as urgent or more so, and
                          the request itself; 0: it is not known yet. As in dispatcher.h. */
};

/* A request has come, sent by this dispatcher (0 or an unknown id: not by a known dispatcher). moved: by
 * another station, to which it was sent first: it is not given away again. */
void bal_station_arrive(struct bal_station *s, uint64_t now, uint32_t rank, uint64_t dispatcher, bool moved,
                        struct bal_station_task *task);
/* Can this process let one more request wait? As bal_dispatcher_set_crowded(). */
void bal_station_set_crowded(struct bal_station *s, bool crowded);
/* The head of the app's response is about to be sent. True: *message offers the slot of this request to the
 * dispatcher that sent it; send it with the response instead of as a datagram. The offer takes effect when
 * the response ends: that dispatcher processes it then (bal_dispatcher_receive), if the response was
 * complete. If the slot is used otherwise, bal_station_done() queues a later message that says so. Call it at
 * most once for a request. */
bool bal_station_piggyback_offer(struct bal_station *s, uint64_t now, uint64_t ticket,
                                 struct bal_message *message);
/* The app, or the station that it was passed to, has answered. */
bool bal_station_done(struct bal_station *s, uint64_t now, uint64_t ticket, bool failed);
/* The station that it was passed to has not taken it: it waits here again, in its old place. */
bool bal_station_returned(struct bal_station *s, uint64_t now, uint64_t ticket);
/* The client has gone away, whatever the request was doing. */
bool bal_station_cancel(struct bal_station *s, uint64_t now, uint64_t ticket);
/* The next decision on a request of this process. */
bool bal_station_next_decision(struct bal_station *s, uint64_t now, struct bal_station_task *task);

/* ---- received messages, time, and outgoing messages: as in dispatcher.h ---- */

enum bal_receipt bal_station_receive(struct bal_station *s, uint64_t now, const struct bal_message *message);
uint64_t bal_station_run_timers(struct bal_station *s, uint64_t now);
/* receiver: a dispatcher, a station or the keeper; BAL_EVERYONE: every dispatcher. */
const struct bal_message *bal_station_outgoing(struct bal_station *s, uint32_t *count);
uint32_t bal_station_next_to_wake(struct bal_station *s);
const bool *bal_station_wake_pending(const struct bal_station *s);

/* on: finishes the requests it has and asks for no new ones; off: normal operation. Requests that still come
 * are served. */
void bal_station_drain(struct bal_station *s, uint64_t now, bool on);

/* ---- inspection ---- */

struct bal_station_counts {
    uint64_t arrived, ran, answered, failed, full, cancelled, reaped;
    uint64_t replaced;            /* of full: its place went to a more urgent request */
    uint64_t crowded;             /* of full: its process could not let it wait */
    uint64_t overdue;             /* refused because it had waited for too long */
    uint64_t given, returned;     /* to other stations, and back */
    uint64_t offers, piggybacked; /* slots that were offered; of these on responses */
    uint64_t probed;
    uint64_t unsent, rebuilds, void_tickets;
    uint64_t receipts[BAL_RECEIPTS];
    uint64_t messages_sent[BAL_MSG_TYPES]; /* messages by type; one to everyone counts for each dispatcher */
    uint64_t messages_received[BAL_MSG_TYPES]; /* that were fresh or late */
};

struct bal_station_view {
    uint32_t running, waiting, away;
    uint32_t slots;                 /* as configured, or as found */
    uint32_t jobs[BAL_CLASSES_MAX]; /* waiting and running, by class */
    enum bal_power_state power;
    uint32_t offered;             /* slots that dispatchers have been offered and have not used */
    uint64_t start_unanswered_ns; /* for how long the keeper has sent nothing since START; 0: it has */
    struct bal_concurrency_view concurrency;
};

/* Dispatchers that have joined: at most `room` of them; returns how many there are. The version changes
 * whenever they do. */
uint32_t bal_station_members(const struct bal_station *s, struct bal_member *members, uint32_t room);
uint64_t bal_station_members_version(const struct bal_station *s);
/* For how long nothing has come of this dispatcher; UINT64_MAX: nothing ever has, or it is not known. */
uint64_t bal_station_silent_for(const struct bal_station *s, uint64_t now, uint64_t dispatcher);
/* Has any dispatcher sent something within so long? */
bool bal_station_heard_within(const struct bal_station *s, uint64_t now, uint64_t ns);
struct bal_station_counts bal_station_counts(const struct bal_station *s);
struct bal_station_view bal_station_view(const struct bal_station *s);
/* Slots offered to this dispatcher: in total, and those not used yet. */
uint64_t bal_station_offered(const struct bal_station *s, uint64_t dispatcher, uint32_t *open);
/* NULL: everything agrees with the requests, else what does not. O(requests + peers). */
const char *bal_station_find_inconsistency(const struct bal_station *s);

#ifdef __cplusplus
}
#endif
#endif
