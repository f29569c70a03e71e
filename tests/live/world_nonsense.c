/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that are genuine and say what makes no sense, as one of another version or with a wrong
 * configuration would: requests are to move to who is no station, grants that answer no question, messages
 * that are not for such a receiver. All of it must be ignored. */
#include "world.h"
#include "world_inside.h"

/* Its sequence goes on with the sender's own. */
static void say(struct world *w, struct host *from, struct bal_message message) {
    void *view = any_view(from);
    if (!from->up || !view)
        return;
    if (from->kind == DISPATCHER_HOST)
        inside_stamp_dispatcher(view, &message);
    else
        inside_stamp_station(view, &message);
    world_post(w, from, &message);
}

/* Signed with the key that everybody knows: that of a fleet without one. */
static void forge(struct world *w, const struct host *as, const struct host *to) {
    const struct bal_key none = bal_key_none();
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const struct bal_message message = {.type = BAL_MSG_IDLE,
                                        .fleet = FLEET,
                                        .sender = as->id,
                                        .receiver = to->id,
                                        .boot = as->boot,
                                        .sequence = UINT64_C(1) << 40,
                                        .idle = {.free = 1, .slots = 1, .valid_ms = 60, .token = 1000000}};
    world_send_bytes(w, number_of(w, to), bytes, bal_message_encode(&message, &none, bytes));
}

void nonsense(struct world *w) {
    forge(w, station_host(w, bal_rng_below(&w->rng, w->servers)),
          &w->host[bal_rng_below(&w->rng, w->dispatchers)]);
    for (uint32_t i = 0; i < 10; i++) {
        struct host *dispatcher = &w->host[bal_rng_below(&w->rng, w->dispatchers)];
        struct host *station = station_host(w, bal_rng_below(&w->rng, w->servers));
        const struct host *other = station_host(w, bal_rng_below(&w->rng, w->servers));
        const uint64_t targets[] = {w->host[bal_rng_below(&w->rng, w->dispatchers)].id, station->id, 999};
        say(w, dispatcher,
            (struct bal_message){.type = BAL_MSG_MOVE,
                                 .receiver = station->id,
                                 .move = {.target = targets[bal_rng_below(&w->rng, 3)]}});
        say(w, dispatcher,
            (struct bal_message){
                .type = BAL_MSG_STEAL, .receiver = station->id, .steal = {.steal = 1, .most = 5}});
        say(w, station,
            (struct bal_message){
                .type = BAL_MSG_BACKLOG, .receiver = dispatcher->id, .backlog = {.held = 3, .valid_ms = 50}});
        if (other == station)
            continue;
        say(w, station,
            (struct bal_message){
                .type = BAL_MSG_GRANT,
                .receiver = other->id,
                .grant = {.steal = 2 + bal_rng_below(&w->rng, 100), .count = 1, .tickets = {1}}});
        say(w, station,
            (struct bal_message){
                .type = BAL_MSG_BACKLOG, .receiver = other->id, .backlog = {.held = 3, .valid_ms = 50}});
    }
}
