/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that are held at a dispatcher of the network engine, and the offers of servers that it cannot use.
 *
 * The rules are those of live fleets, and the same code decides: policy/slot_requests.h. This file has the
 * messages. At servers network_offers.c receives them. */
#include "engine/network_engine.h"

static double heartbeat_of(const struct network *net) {
    return net->wire->heartbeat > 0 ? net->wire->heartbeat : INFINITY;
}

static bool looks_idle(const void *host, uint32_t server) {
    const struct dispatcher *d = host;
    const struct seen *seen = &d->seen[server];
    return heard_looks_idle(&seen->tokens, seen->status == BAL_SERVER_ON, d->length[server], d->own[server],
                            d->net->system.slots);
}

static bool is_closed(const void *host, uint32_t server) {
    const struct dispatcher *d = host;
    return !bal_set_contains(d->eligible, server);
}

static void send_backlog(struct dispatcher *d, uint32_t server, uint32_t held, bool alone) {
    struct network *net = d->net;
    net->system.tally.totals.reports++;
    network_send(net, (struct message){.type = BACKLOG,
                                       .detail = alone,
                                       .server = server,
                                       .dispatcher = (uint32_t)(d - net->dispatcher),
                                       .other = held,
                                       .number = ++d->statements});
}

static void request_slot(struct dispatcher *d, uint32_t server) {
    network_schedule(d->net, d->request[server].asked_until,
                     (struct message){.type = SLOT_REQUEST_TIMEOUT,
                                      .dispatcher = (uint32_t)(d - d->net->dispatcher),
                                      .server = server});
    send_backlog(d, server, 1, true);
}

static void send_slot_message(void *host, enum bli_slot_message message, uint32_t server) {
    struct dispatcher *d = host;
    struct network *net = d->net;
    switch (message) {
    case BLI_SLOT_REQUEST:
        request_slot(d, server);
        break;
    case BLI_SLOT_BACKLOG:
        for (server = 0; server < net->system.servers; server++)
            send_backlog(d, server, net_dispatcher_held(d), false);
        break;
    case BLI_SLOT_DECLINE:
        d->seen[server].tokens.count = 0;
        send_backlog(d, server, 0, true);
        break;
    case BLI_SLOT_RESUME:
        net->system.tally.totals.reports++;
        network_send(net, (struct message){.type = RESUME,
                                           .server = server,
                                           .dispatcher = (uint32_t)(d - net->dispatcher)});
        break;
    }
}

static struct bli_slot_requests slot_requests(struct dispatcher *d) {
    struct network *net = d->net;
    const uint32_t servers = net->system.servers;
    return (struct bli_slot_requests){.backlog = &d->backlog,
                                      .request = d->request,
                                      .stride = sizeof *d->request,
                                      .open = d->eligible,
                                      .numbers = servers,
                                      .present = servers,
                                      .held = net_dispatcher_held(d),
                                      .now = net->now,
                                      .beat = heartbeat_of(net),
                                      .timeout = net->timeout,
                                      .patience = bli_backlog_patience(servers, net->timeout),
                                      .rng = &net->wires,
                                      .looks_idle = looks_idle,
                                      .is_unusable = is_closed,
                                      .send = send_slot_message,
                                      .host = d};
}

void bli_network_backlog_update(struct network *net, uint32_t dispatcher) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    const double planned = d->backlog.announce_at;
    if (!d->seen || (net_dispatcher_held(d) == 0 && backlog_is_over(&d->backlog)))
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_update(&requests);
    if (d->backlog.announce_at != planned && d->backlog.announce_at < INFINITY)
        network_schedule(net, d->backlog.announce_at,
                         (struct message){.type = BACKLOG_TIMER, .dispatcher = dispatcher});
}

void bli_network_backlog_timer(struct network *net, uint32_t dispatcher) {
    if (net->dispatcher[dispatcher].backlog.announce_at == net->now)
        bli_network_backlog_update(net, dispatcher);
}

void bli_network_backlog_request_timeout(struct network *net, uint32_t dispatcher, uint32_t server) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    if (d->request[server].asked_until != net->now)
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_expire(&requests, server, d->seen[server].tokens.count);
    bli_network_backlog_update(net, dispatcher);
}

void bli_network_backlog_server_reported(struct dispatcher *d, uint32_t server) {
    if (d->backlog.questions == 0 || d->request[server].asked_until == 0)
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_answered(&requests, server, d->seen[server].tokens.count);
}

void bli_network_backlog_server_ineligible(struct dispatcher *d, uint32_t server) {
    if (!d->seen)
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_close(&requests, server, d->seen[server].tokens.count);
}

void bli_network_backlog_server_eligible(struct dispatcher *d, uint32_t server) {
    if (!d->seen)
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_open(&requests, server);
}
