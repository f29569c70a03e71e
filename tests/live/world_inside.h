/* SPDX-License-Identifier: BSD-2-Clause */
/* What the world sees of blocks that nobody else sees: to tear them, and to know what waits. */
#ifndef TESTS_LIVE_WORLD_INSIDE_H
#define TESTS_LIVE_WORLD_INSIDE_H

#include "ballast/live/dispatcher.h"
#include "ballast/live/station.h"

/* A process has died in the middle of an operation: see tear.h. before: the block as it was. */
void inside_tear_dispatcher(struct bal_dispatcher *d, const char *before, struct bal_rng *rng);
void inside_tear_station(struct bal_station *s, const char *before, struct bal_rng *rng);

/* What time it is by the block. */
uint64_t inside_dispatcher_now(const struct bal_dispatcher *d);
uint64_t inside_station_now(const struct bal_station *s);

/* The order of the next entry that is put into a list; UINT64_MAX: an operation was not finished. */
uint64_t inside_dispatcher_order(const struct bal_dispatcher *d);
uint64_t inside_station_order(const struct bal_station *s);

/* Is there news for this process? */
bool inside_dispatcher_has_news(const struct bal_dispatcher *d, uint32_t owner);
bool inside_station_has_news(const struct bal_station *s, uint32_t owner);

/* Of the verdicts since that order: NULL, or which rule was not kept. More urgent requests go first, and
 * those that are given away are the least urgent and last. */
const char *inside_dispatcher_disorder(const struct bal_dispatcher *d, uint64_t since);
const char *inside_station_disorder(const struct bal_station *s, uint64_t since);

/* Does it keep an offer of a server that it has closed, and that it can not use? */
bool inside_has_useless_offer(const struct bal_dispatcher *d);
/* Do others hear stations in its place? */
bool inside_is_deafened(const struct bal_dispatcher *d);

/* Requests that have been sent to servers of which nothing is heard. */
uint64_t inside_unheard(const struct bal_dispatcher *d);
/* Of a server of which nothing is heard, and that requests may go to all the same: our requests there over
 * its weight; INFINITY: it is none. */
double inside_silent_load(const struct bal_dispatcher *d, uint32_t server);
/* Requests that its app may work on now. */
uint32_t inside_slots(const struct bal_station *s);
/* Is what this dispatcher was offered kept for it? It holds requests and was offered a slot less than a beat
 * ago. */
bool inside_is_reserved(const struct bal_station *s, uint64_t dispatcher, uint64_t time);

/* Requests that this dispatcher is known to hold; the question to another station that is open. */
uint32_t inside_known_held(const struct bal_station *s, uint64_t dispatcher);
uint64_t inside_question(const struct bal_station *s);

/* As if it had said this. */
void inside_stamp_dispatcher(struct bal_dispatcher *d, struct bal_message *message);
void inside_stamp_station(struct bal_station *s, struct bal_message *message);

/* Does the request of this ticket wait in a queue? */
bool inside_is_held(const struct bal_dispatcher *d, uint64_t ticket);
bool inside_is_waiting(const struct bal_station *s, uint64_t ticket);

/* Requests that may not wait any longer, and whose process does not know it yet. */
uint32_t inside_turned_away(const struct bal_station *s);

/* Requests that go to this server and whose process does not know it yet. */
uint32_t inside_decided(const struct bal_dispatcher *d, uint32_t server);

/* Has a token been at hand for longer than it was valid, and so long besides? */
bool inside_has_stale_token(const struct bal_dispatcher *d, uint64_t slack_ns);

/* Requests of all kinds in the ledger. */
uint32_t inside_requests(const struct bal_dispatcher *d);
/* Servers that the policy thinks idle; UINT32_MAX: it keeps no such thing, or not of all. */
uint32_t inside_idle(const struct bal_dispatcher *d);

#endif
