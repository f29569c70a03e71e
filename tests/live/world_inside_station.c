/* SPDX-License-Identifier: BSD-2-Clause */
/* What only the block of a station shows to the checks of the world. */
#include "live/station_private.h"
#include "tear.h"
#include "world_inside.h"

void inside_tear_station(struct bal_station *s, const char *before, struct bal_rng *rng) {
    const struct torn_part peers = {(char *)s->peer, s->block->config.peers * sizeof *s->peer,
                                    sizeof *s->peer};
    const struct torn_part jobs = {s->ledger.entries, s->ledger.head->capacity * sizeof(struct station_job),
                                   sizeof(struct station_job)};
    const struct torn_part workers = {(char *)s->worker, s->block->config.workers * sizeof *s->worker, 0};
    tear((char *)s->block, before, s->block->size, &peers, &jobs, &workers, rng);
    s->block->busy = 1;
}

bool inside_is_waiting(const struct bal_station *s, uint64_t ticket) {
    const uint32_t i = bli_ledger_find(&s->ledger, ticket);
    return i != BLI_NOBODY && job_at(s, i)->entry.state == WAITING;
}

uint32_t inside_turned_away(const struct bal_station *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->ledger.head->capacity; i++)
        count += job_at(s, i)->entry.state == TURNED_AWAY;
    return count;
}

uint64_t inside_station_now(const struct bal_station *s) {
    return s->block->now;
}

uint64_t inside_station_order(const struct bal_station *s) {
    return s->block->busy ? UINT64_MAX : s->ledger.head->order;
}

bool inside_station_has_news(const struct bal_station *s, uint32_t owner) {
    return owner != BLI_NOBODY && s->worker[owner].news.count > 0;
}

static const char *disorder(const struct bal_station *s, const struct station_job *j) {
    const struct bli_list *waiting = s->block->waiting;
    for (uint32_t rank = 0; j->entry.state == GRANTED && rank < j->entry.rank; rank++)
        if (waiting[rank].count)
            return "a request runs, and a more urgent one waits";
    for (uint32_t rank = j->entry.rank; j->entry.state == FORWARDING && rank < s->block->config.classes;
         rank++) {
        const struct station_job *last = waiting[rank].count ? job_at(s, waiting[rank].last) : NULL;
        if (last && !last->moved && (rank > j->entry.rank || last->entry.order > j->place))
            return "a request is given away, and a less urgent or later one is not";
    }
    return NULL;
}

const char *inside_station_disorder(const struct bal_station *s, uint64_t since) {
    const char *fault = NULL;
    for (uint32_t owner = 0; owner < s->block->config.workers; owner++)
        for (uint32_t i = s->worker[owner].news.last;
             !fault && i != BLI_NOBODY && job_at(s, i)->entry.order >= since; i = job_at(s, i)->entry.before)
            fault = disorder(s, job_at(s, i));
    return fault;
}

uint32_t inside_known_held(const struct bal_station *s, uint64_t dispatcher) {
    for (uint32_t i = 0; i < s->block->config.peers; i++)
        if (s->peer[i].kind == DISPATCHER && s->peer_id[i] == dispatcher)
            return s->peer[i].party.claim.held;
    return 0;
}

uint32_t inside_slots(const struct bal_station *s) {
    return slots_now(s->block);
}

uint64_t inside_question(const struct bal_station *s) {
    return s->block->steal;
}

void inside_stamp_station(struct bal_station *s, struct bal_message *message) {
    bal_sender_stamp(&s->block->sender, message);
}

bool inside_is_reserved(const struct bal_station *s, uint64_t dispatcher, uint64_t time) {
    const double now = (double)time;
    for (uint32_t i = 0; i < s->block->config.peers; i++) {
        const struct station_peer *peer = &s->peer[i];
        const struct bli_slot_claim *claim = &peer->party.claim;
        if (peer->kind == DISPATCHER && s->peer_id[i] == dispatcher)
            return peer->party.offered && claim->held && now < claim->backlog_valid_until &&
                   now >= claim->barred_until && now < claim->offered_at + (double)s->block->config.beat_ns;
    }
    return false;
}
