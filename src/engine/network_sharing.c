/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers of the network engine whose jobs in service share what the server can do, as event_sharing.h
 * describes for the event engine: a job of size x whose service begins when each has got V is done at V + x,
 * which is its `left` meanwhile. in_slot is a binary heap by these marks. One COMPLETE, of the first, is
 * due; each change makes a new one. */
#include "engine/network_engine.h"

#include <stdlib.h>

static double mark_of(const struct network *net, const struct net_server *s, uint32_t k) {
    return net->job[s->in_slot[k]].left;
}

static void swap(struct net_server *s, uint32_t a, uint32_t b) {
    const uint32_t job = s->in_slot[a];
    s->in_slot[a] = s->in_slot[b];
    s->in_slot[b] = job;
}

static void rise(const struct network *net, struct net_server *s, uint32_t k) {
    for (; k > 0 && mark_of(net, s, k) < mark_of(net, s, (k - 1) / 2); k = (k - 1) / 2)
        swap(s, k, (k - 1) / 2);
}

static void sink(const struct network *net, struct net_server *s, uint32_t k) {
    for (uint32_t child; (child = 2 * k + 1) < s->running; k = child) {
        if (child + 1 < s->running && mark_of(net, s, child + 1) < mark_of(net, s, child))
            child++;
        if (mark_of(net, s, k) <= mark_of(net, s, child))
            return;
        swap(s, k, child);
    }
}

/* Before the number of jobs changes. */
static void advance(struct network *net, uint32_t server) {
    const struct net_server *s = &net->net_server[server];
    struct net_sharing *sharing = &net->sharing[server];
    if (s->running == 0)
        sharing->attained = 0;
    else
        sharing->attained +=
            (net->now - sharing->since) / (s->per_speed * stretch_of(&net->stretch, s->running));
    sharing->since = net->now;
}

static void schedule_first(struct network *net, uint32_t server) {
    const struct net_server *s = &net->net_server[server];
    struct net_sharing *sharing = &net->sharing[server];
    sharing->service++;
    if (s->running == 0)
        return;
    const double left = fmax(mark_of(net, s, 0) - sharing->attained, 0); /* rounding */
    network_schedule(
        net, net->now + left * s->per_speed * stretch_of(&net->stretch, s->running),
        (struct message){
            .type = COMPLETE, .server = server, .job = s->in_slot[0], .version = sharing->service});
}

void bli_network_sharing_join(struct network *net, uint32_t server, uint32_t job) {
    struct net_server *s = &net->net_server[server];
    advance(net, server);
    net->job[job].left += net->sharing[server].attained;
    s->in_slot[s->running++] = job;
    rise(net, s, s->running - 1);
    schedule_first(net, server);
}

void bli_network_sharing_leave(struct network *net, uint32_t server, uint32_t job) {
    struct net_server *s = &net->net_server[server];
    uint32_t k = 0;
    while (s->in_slot[k] != job)
        k++;
    advance(net, server);
    s->in_slot[k] = s->in_slot[--s->running];
    if (k < s->running) {
        rise(net, s, k);
        sink(net, s, k);
    }
    schedule_first(net, server);
}

bool bli_network_sharing_make_room(struct network *net, uint32_t server) {
    struct net_server *s = &net->net_server[server];
    struct net_sharing *sharing = &net->sharing[server];
    if (s->running < sharing->room)
        return true;
    const uint32_t room = sharing->room ? 2 * sharing->room : 4;
    uint32_t *grown = realloc(s->in_slot, room * sizeof *grown);
    if (!grown)
        return false;
    s->in_slot = grown;
    sharing->room = room;
    return true;
}

enum bal_code bli_network_sharing_init(struct network *net) {
    const uint32_t servers = net->system.servers;
    net->sharing = calloc(servers, sizeof *net->sharing);
    if (!net->sharing)
        return BAL_E_MEMORY;
    for (uint32_t server = 0; server < servers; server++)
        net->sharing[server].room = net->slots ? net->system.slots : 0;
    return bli_stretch_init(&net->stretch, &net->model->speeds);
}

void bli_network_sharing_fini(struct network *net) {
    for (uint32_t server = 0; net->sharing && !net->slots && server < net->system.servers; server++)
        free(net->net_server[server].in_slot);
    free(net->sharing);
    bli_stretch_fini(&net->stretch);
}
