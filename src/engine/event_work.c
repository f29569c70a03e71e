/* SPDX-License-Identifier: BSD-2-Clause */
/* The work that is left at each server, for policies that use it. */
#include "engine/event.h"

#include <stdlib.h>

#define IDLE (-1.0)

/* That slot of a server, of all of them, which is free first. */
static uint32_t first_free_slot(const struct event_engine *event, uint32_t server) {
    const uint32_t slots = event->system.slots, row = server * slots;
    uint32_t first = row;
    for (uint32_t slot = row + 1; slot < row + slots; slot++)
        first = event->free_at[slot] < event->free_at[first] ? slot : first;
    return first;
}

/* The time until a job that comes now would begin. With several slots it is not all that the server has to
 * do, but joining the least of it is still what one common queue does. */
static double remaining_work(struct bal_fleet *fleet, uint32_t server) {
    const struct event_engine *event = fleet->host;
    const double left = event->free_at[first_free_slot(event, server)] - event->now;
    return left > 0 ? left : 0;
}

static uint32_t least_work(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct event_engine *event = fleet->host;
    return bli_tournament_draw(event->least, rng);
}

enum bal_code bli_event_set_up_work(struct event_engine *event, bool reference) {
    struct system *system = &event->system;
    const size_t slots = (size_t)system->servers * system->slots;
    event->free_at = malloc(slots * sizeof *event->free_at);
    event->least = malloc(bli_tournament_size(system->servers));
    if (!event->free_at || !event->least)
        return BAL_E_MEMORY;
    bli_tournament_init(event->least, system->servers, IDLE);
    for (size_t slot = 0; slot < slots; slot++)
        event->free_at[slot] = IDLE;
    system->fleet.work = remaining_work;
    system->fleet.least_work = reference ? NULL : least_work;
    return BAL_OK;
}

/* A job goes to the slot that is free first (Kiefer and Wolfowitz 1955): with servers that take jobs as they
 * come this is when it will begin and end, to the last bit. */
void bli_event_add_work(struct event_engine *event, uint32_t server, double now, double size) {
    double *free_at = &event->free_at[first_free_slot(event, server)];
    const double start = *free_at > now ? *free_at : now;
    *free_at = start + service_duration(event, server, size);
    bli_tournament_set(event->least, server, event->free_at[first_free_slot(event, server)]);
}

/* A slot of the server has become free. */
void bli_event_end_work(struct event_engine *event, uint32_t server, double now) {
    struct system *system = &event->system;
    uint32_t slot = server * system->slots;
    const uint32_t end = slot + system->slots;
    while (system->slots > 1 && slot < end && event->free_at[slot] != now)
        slot++;
    if (slot == end) {
        system->now = now;
        bli_system_internal_error(system, "a job ends at another time than was foreseen");
    }
    event->free_at[slot] = IDLE;
    bli_tournament_set(event->least, server, IDLE);
}

/* Recounts the work of a server, after jobs have been taken from its queue or added to it. */
void bli_event_recount_work(struct event_engine *event, uint32_t server, double now, uint32_t words) {
    const struct system *system = &event->system;
    const uint32_t slots = system->slots, row = server * slots;
    for (uint32_t slot = row; slot < row + slots; slot++) {
        const bool busy = bli_calendar_has(&event->completions, slot);
        event->free_at[slot] = busy ? bli_calendar_time(&event->completions, slot) : IDLE;
    }
    bli_tournament_set(event->least, server, event->free_at[first_free_slot(event, server)]);
    for (uint32_t k = slots == 1; k < system->queues.length[server]; k++)
        bli_event_add_work(event, server, now, bli_queues_at(&system->queues, server, words, k)[LEFT].real);
}
