/* SPDX-License-Identifier: BSD-2-Clause */
/* Somebody records datagrams and sends them again, in the same boot of their sender or in a later one, and
 * after their receiver has begun again. Nothing that must hold may break: what was recorded is repeated, old
 * or unproven, but for what was lost in the same boot, which is late. */
#include "world.h"

#include <endian.h>
#include <string.h>

enum { AT_TYPE = 2, AT_SENDER = 8 }; /* bytes of a datagram: docs/wire.md */

void replay_record(struct world *w, uint32_t to, const uint8_t *bytes, size_t size) {
    struct recorded *r = &w->recorded[w->records++ % RECORDS];
    memcpy(r->bytes, bytes, size);
    r->size = (uint32_t)size;
    r->to = to;
    /* Each that ever was is kept with the same probability, but for proofs, which are worth most: always. */
    const bool proof = bytes[AT_TYPE] == BAL_MSG_PROOF;
    const uint32_t most = w->records <= RECORDS || proof ? RECORDS : w->records;
    const uint32_t place = w->records <= RECORDS ? w->records - 1 : bal_rng_below(&w->rng, most);
    if (place < RECORDS)
        w->archive[place] = *r;
}

void replay_some(struct world *w) {
    if (w->weather.replay == 0 || !world_chance(w, w->weather.replay))
        return;
    const uint32_t count = w->records < RECORDS ? w->records : RECORDS;
    const struct recorded *r =
        &(bal_rng_below(&w->rng, 2) ? w->recorded : w->archive)[bal_rng_below(&w->rng, count)];
    if (w->host[r->to].deaf)
        return;
    world_note(w, "somebody sends again what was said to host %u", r->to);
    world_send_bytes(w, r->to, r->bytes, r->size);
}

static bool is_proof_of(const struct recorded *r, uint64_t sender, uint32_t to) {
    uint64_t id;
    memcpy(&id, r->bytes + AT_SENDER, sizeof id);
    return r->size && r->to == to && r->bytes[AT_TYPE] == BAL_MSG_PROOF && le64toh(id) == sender;
}

void replay_answer(struct world *w, uint32_t asker, uint32_t asked, const uint8_t *challenge) {
    if (w->weather.replay == 0 || challenge[AT_TYPE] != BAL_MSG_CHALLENGE || w->host[asker].deaf)
        return;
    const uint32_t count = w->records < RECORDS ? w->records : RECORDS;
    for (uint32_t i = 0; i < count; i++)
        if (is_proof_of(&w->archive[i], w->host[asked].id, asker)) {
            world_note(w, "somebody answers host %u with an old proof of host %u", asker, asked);
            world_send_bytes(w, asker, w->archive[i].bytes, w->archive[i].size);
            return;
        }
}
