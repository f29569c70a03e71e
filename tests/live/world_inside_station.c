#include "live/station_private.h"
#include "tear.h"
#include "world_inside.h"

void inside_tear_station(struct bal_station *s, const char *before, struct bal_rng *rng) {
    const struct torn_part peers = {(char *)s->peer, s->block->config.peers * sizeof *s->peer,
                                    sizeof *s->peer};
    const struct torn_part jobs = {s->ledger.entries, s->ledger.head->capacity * sizeof(struct job),
                                   sizeof(struct job)};
    const struct torn_part owners = {(char *)s->owner, s->block->config.owners * sizeof *s->owner, 0};
    tear((char *)s->block, before, s->block->size, &peers, &jobs, &owners, rng);
    s->block->busy = 1;
}

bool inside_is_waiting(const struct bal_station *s, uint64_t ticket) {
    const uint32_t i = bal_ledger_find(&s->ledger, ticket);
    return i != BAL_NOBODY && job_at(s, i)->entry.state == WAITING;
}
