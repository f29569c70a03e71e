/* What the world sees of blocks that nobody else sees: to tear them, and to know what waits. */
#ifndef TESTS_LIVE_WORLD_INSIDE_H
#define TESTS_LIVE_WORLD_INSIDE_H

#include "ballast/live/dispatcher.h"
#include "ballast/live/station.h"

/* A process has died in the middle of an operation: see tear.h. before: the block as it was. */
void inside_tear_dispatcher(struct bal_dispatcher *d, const char *before, struct bal_rng *rng);
void inside_tear_station(struct bal_station *s, const char *before, struct bal_rng *rng);

/* Does the request of this ticket wait in a queue? */
bool inside_is_held(const struct bal_dispatcher *d, uint64_t ticket);
bool inside_is_waiting(const struct bal_station *s, uint64_t ticket);

/* Requests that go to this server and whose process does not know it yet. */
uint32_t inside_decided(const struct bal_dispatcher *d, uint32_t server);

/* Has a token been at hand for longer than it was valid, and so long besides? */
bool inside_has_stale_token(const struct bal_dispatcher *d, uint64_t slack_ns);

/* Requests of all kinds in the ledger. */
uint32_t inside_requests(const struct bal_dispatcher *d);
/* Servers that the policy thinks idle; UINT32_MAX: it keeps no such thing, or not of all. */
uint32_t inside_idle(const struct bal_dispatcher *d);

#endif
