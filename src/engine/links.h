/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens to the links between dispatchers and servers at stated times: they are cut, or lose messages;
 * and when everything that is stated happens. For the engines that have a network. */
#ifndef ENGINE_LINKS_H
#define ENGINE_LINKS_H

#include "ballast/network.h"

/* An event for as long as it lasts. */
struct interference {
    uint32_t servers, dispatchers; /* CUT: the links between the first ones */
    double loss, until;
};

struct links {
    const struct bli_network *wire;
    double loss;   /* as it is now */
    unsigned cuts; /* of the events, a bit for each one that cuts links now */
    struct interference interference[BLI_NETWORK_EVENTS_MAX];
};

/* What happens at a time: LINKS_CHANGE and LINKS_ARE_BACK concern no member. */
enum event_part { LINKS_CHANGE, LINKS_ARE_BACK, RESTARTS_DISPATCHER, RESTARTS_SERVER, RETURNS };

/* wire must outlive it. */
void bli_links_init(struct links *links, const struct bli_network *wire, uint32_t servers,
                    uint32_t dispatchers);
/* Calls `at` for all that happens, in the order of the events; of restarts for each member. */
void bli_links_plan(const struct links *links, uint32_t servers, uint32_t dispatchers,
                    void (*at)(void *context, double time, enum event_part part, unsigned event,
                               uint32_t member),
                    void *context);
void bli_links_change(struct links *links, unsigned event, bool begins);
/* When the last of the cuts ends that the link is under; 0: it is under none. */
double bli_links_cut_until(const struct links *links, uint32_t dispatcher, uint32_t server);

static inline bool link_is_cut(const struct links *links, uint32_t dispatcher, uint32_t server) {
    return __builtin_expect(links->cuts != 0, 0) && bli_links_cut_until(links, dispatcher, server) > 0;
}

#endif
