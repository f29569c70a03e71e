/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens at stated times in the network engine: restarts, links that are cut, losses. */
#include "engine/network_engine.h"

void bli_network_send_after_cut(struct network *net, uint32_t server, struct message message) {
    const double until = bli_links_cut_until(&net->links, net->job[message.job].dispatcher, server);
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
    case LINKS_CHANGE:
    case LINKS_ARE_BACK:
        bli_links_change(&net->links, message->other, message->detail == LINKS_CHANGE);
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

static void plan_event(void *context, double time, enum event_part part, unsigned event, uint32_t member) {
    network_schedule(
        context, time,
        (struct message){
            .type = EVENT, .detail = (uint8_t)part, .dispatcher = member, .server = member, .other = event});
}

void bli_network_events_init(struct network *net) {
    bli_links_init(&net->links, net->wire, net->system.servers, net->dispatchers);
    bli_links_plan(&net->links, net->system.servers, net->dispatchers, plan_event, net);
}
