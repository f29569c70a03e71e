/* SPDX-License-Identifier: BSD-2-Clause */
/* Which links are cut, and what else events do to them. links.h describes it. */
#include "engine/links.h"

#include <math.h>

static uint32_t members(double share, uint32_t all) {
    return (uint32_t)lrint(share * all);
}

void bli_links_init(struct links *links, const struct bli_network *wire, uint32_t servers,
                    uint32_t dispatchers) {
    *links = (struct links){.wire = wire, .loss = wire->loss};
    for (unsigned i = 0; i < wire->events.count; i++) {
        const struct bli_network_event *event = &wire->events.event[i];
        links->interference[i] =
            (struct interference){.servers = members(event->share, servers),
                                  .dispatchers = members(event->dispatchers, dispatchers),
                                  .until = event->at + event->length};
    }
}

void bli_links_plan(const struct links *links, uint32_t servers, uint32_t dispatchers,
                    void (*at)(void *context, double time, enum event_part part, unsigned event,
                               uint32_t member),
                    void *context) {
    for (unsigned i = 0; i < links->wire->events.count; i++) {
        const struct bli_network_event *event = &links->wire->events.event[i];
        const bool of_servers = event->kind == BLI_EVENT_RESTART_SERVERS;
        if (!of_servers && event->kind != BLI_EVENT_RESTART_DISPATCHERS) {
            at(context, event->at, LINKS_CHANGE, i, 0);
            at(context, event->at + event->length, LINKS_ARE_BACK, i, 0);
            continue;
        }
        const uint32_t count = members(event->share, of_servers ? servers : dispatchers);
        for (uint32_t k = 0; k < count; k++)
            at(context, event->at + event->length * k / count,
               of_servers ? RESTARTS_SERVER : RESTARTS_DISPATCHER, i, k);
    }
}

void bli_links_change(struct links *links, unsigned event, bool begins) {
    const struct bli_network_events *events = &links->wire->events;
    if (events->event[event].kind == BLI_EVENT_CUT)
        links->cuts = begins ? links->cuts | 1U << event : links->cuts & ~(1U << event);
    else
        links->interference[event].loss = begins ? events->event[event].share : 0;
    links->loss = links->wire->loss;
    for (unsigned i = 0; i < events->count; i++)
        links->loss = fmax(links->loss, links->interference[i].loss);
}

double bli_links_cut_until(const struct links *links, uint32_t dispatcher, uint32_t server) {
    double until = 0;
    for (unsigned i = 0; i < links->wire->events.count; i++) {
        const struct interference *cut = &links->interference[i];
        if (links->cuts >> i & 1 && server < cut->servers && dispatcher < cut->dispatchers)
            until = fmax(until, cut->until);
    }
    return until;
}
