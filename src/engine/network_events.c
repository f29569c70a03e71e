/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens at stated times in the network engine: restarts, links that are cut, losses. */
#include "engine/network_engine.h"

/* Message.detail of EVENT; other: which event. */
enum event_part { BEGINS, ENDS, RESTARTS_DISPATCHER, RESTARTS_SERVER, RETURNS };

static uint32_t members(double share, uint32_t all) {
    return (uint32_t)lrint(share * all);
}

/* ---- links ---- */

double bli_network_cut_until(const struct network *net, uint32_t dispatcher, uint32_t server) {
    double until = 0;
    for (unsigned i = 0; i < net->wire->events.count; i++) {
        const struct interference *cut = &net->interference[i];
        if (net->cuts >> i & 1 && server < cut->servers && dispatcher < cut->dispatchers)
            until = fmax(until, cut->until);
    }
    return until;
}

void bli_network_send_after_cut(struct network *net, uint32_t server, struct message message) {
    const double until = bli_network_cut_until(net, net->job[message.job].dispatcher, server);
    if (until == 0) {
        network_send_reliable(net, message);
        return;
    }
    const struct bli_dist *delay = &net->wire->delay;
    const double takes = delay->mean > 0 ? bli_dist_sample(delay, &net->wires) : 0;
    if (net->observer)
        net->observer->sends(net->observer->context, &message);
    network_schedule(net, until + takes, message);
}

/* ---- what happens ---- */

static void begin_or_end(struct network *net, unsigned event, bool begins) {
    struct interference *interference = &net->interference[event];
    const struct bli_network_events *events = &net->wire->events;
    const double share = events->event[event].share;
    if (events->event[event].kind == BLI_EVENT_CUT)
        net->cuts = begins ? net->cuts | 1U << event : net->cuts & ~(1U << event);
    else
        interference->loss = begins ? share : 0;
    net->loss = net->wire->loss;
    for (unsigned i = 0; i < events->count; i++)
        net->loss = fmax(net->loss, net->interference[i].loss);
}

/* One that is down already goes on as it would. */
static void restart_server(struct network *net, unsigned event, uint32_t server) {
    if (net->net_server[server].power == DOWN)
        return;
    bli_net_server_fail(net, server);
    network_schedule(net, net->now + net->wire->events.event[event].down,
                     (struct message){.type = EVENT, .detail = RETURNS, .server = server});
}

void bli_network_event(struct network *net, const struct message *message) {
    switch ((enum event_part)message->detail) {
    case BEGINS:
    case ENDS:
        begin_or_end(net, message->other, message->detail == BEGINS);
        break;
    case RESTARTS_DISPATCHER:
        bli_net_dispatcher_restart(net, message->dispatcher);
        break;
    case RESTARTS_SERVER:
        restart_server(net, message->other, message->server);
        break;
    case RETURNS:
        bli_net_server_repair(net, message->server);
        break;
    }
}

/* ---- setting up ---- */

static void schedule_restarts(struct network *net, unsigned event, enum event_part part, uint32_t all) {
    const struct bli_network_event *what = &net->wire->events.event[event];
    const uint32_t count = members(what->share, all);
    for (uint32_t i = 0; i < count; i++)
        network_schedule(
            net, what->at + what->length * i / count,
            (struct message){
                .type = EVENT, .detail = (uint8_t)part, .dispatcher = i, .server = i, .other = event});
}

static void schedule_interference(struct network *net, unsigned event) {
    const struct bli_network_event *what = &net->wire->events.event[event];
    net->interference[event] =
        (struct interference){.servers = members(what->share, net->system.servers),
                              .dispatchers = members(what->dispatchers, net->dispatchers),
                              .until = what->at + what->length};
    network_schedule(net, what->at, (struct message){.type = EVENT, .detail = BEGINS, .other = event});
    network_schedule(net, what->at + what->length,
                     (struct message){.type = EVENT, .detail = ENDS, .other = event});
}

void bli_network_events_init(struct network *net) {
    for (unsigned i = 0; i < net->wire->events.count; i++)
        switch (net->wire->events.event[i].kind) {
        case BLI_EVENT_RESTART_DISPATCHERS:
            schedule_restarts(net, i, RESTARTS_DISPATCHER, net->dispatchers);
            break;
        case BLI_EVENT_RESTART_SERVERS:
            schedule_restarts(net, i, RESTARTS_SERVER, net->system.servers);
            break;
        default:
            schedule_interference(net, i);
        }
}
