/* SPDX-License-Identifier: BSD-2-Clause */
/* Which host runs what. On loopback there is one host, and one group of servers. */
#include "rig/rig.h"

/* Dispatchers have hosts of their own where there are enough; else all are spread over all. */
static unsigned first_group_host(const struct rig *rig) {
    return rig->live->hosts > rig->dispatchers ? rig->dispatchers : 0;
}

unsigned bli_rig_front_host(const struct rig *rig, unsigned i) {
    return rig->hosts ? i % rig->live->hosts : 0;
}

unsigned bli_rig_group_host(const struct rig *rig, unsigned group) {
    return rig->hosts ? first_group_host(rig) + group : 0;
}

unsigned bli_rig_group_first(const struct rig *rig, unsigned group) {
    return group * rig->servers / rig->groups;
}

unsigned bli_rig_group_of(const struct rig *rig, unsigned server) {
    unsigned group = 0;
    while (group + 1 < rig->groups && bli_rig_group_first(rig, group + 1) <= server)
        group++;
    return group;
}

unsigned bli_rig_server_host(const struct rig *rig, unsigned server) {
    return bli_rig_group_host(rig, bli_rig_group_of(rig, server));
}

unsigned bli_rig_stations(const struct rig *rig) {
    return !rig->stations ? 0 : rig->live->apart ? rig->servers : rig->groups;
}

unsigned bli_rig_station_first(const struct rig *rig, unsigned i) {
    return rig->live->apart ? i : bli_rig_group_first(rig, i);
}

unsigned bli_rig_station_host(const struct rig *rig, unsigned i) {
    return bli_rig_server_host(rig, bli_rig_station_first(rig, i));
}

/* Every process of HAProxy draws the same random numbers: those that begin together choose the same servers.
 * So its dispatchers are in one process, unless something is to happen to one of them, or they have hosts. */
unsigned bli_rig_fronts(const struct rig *rig) {
    const bool together = rig->entry->proxy == BLI_PROXY_HAPROXY && rig->live->faults == 0 && !rig->hosts;
    return together ? 1 : rig->dispatchers;
}

int bli_rig_space(const struct rig *rig, unsigned host) {
    return rig->hosts ? bli_hosts_namespace(rig->hosts, host) : -1;
}

void bli_rig_address(const struct rig *rig, unsigned host, char text[RIG_ADDRESS]) {
    if (rig->hosts)
        bli_hosts_address(rig->hosts, host, text);
    else
        snprintf(text, RIG_ADDRESS, "127.0.0.1");
}

/* A keeper starts a process for each server; else there is one for each group. */
static bool is_kept(const struct rig *rig) {
    return rig->live->keepers && rig->stations;
}

unsigned bli_rig_control_of(const struct rig *rig, unsigned server, unsigned *number) {
    const unsigned group = bli_rig_group_of(rig, server);
    *number = is_kept(rig) ? 0 : server - bli_rig_group_first(rig, group);
    return is_kept(rig) ? server : group;
}

unsigned bli_rig_control_host(const struct rig *rig, unsigned control) {
    return is_kept(rig) ? bli_rig_server_host(rig, control) : bli_rig_group_host(rig, control);
}
