/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers of a dispatcher: a list is checked, compared with the present servers, and applied.
 *
 * All of this happens under the lock of the host while requests wait for it, so that nothing in it may grow
 * faster than the list: servers are found in an index by name, and then by station, of which there is one in
 * the block. */
#include "live/directory.h"
#include "live/dispatcher_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { RESYNCS_MAX = 64 }; /* stations that get a RESYNC each; where more are new, one goes to all */

static const uint64_t day = UINT64_C(86400000000000); /* in ns */

/* ---- the list by name, and by station ---- */

static uint64_t hash_name(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/* The place of a server of that name in the index, or where it would be. */
static uint32_t *place_of_name(const struct bal_dispatcher *d, const struct bal_dispatcher_server *servers,
                               const char *name) {
    uint32_t place = bli_directory_place(d->places, hash_name(name));
    while (d->listed[place] != BLI_DIRECTORY_NOBODY && strcmp(servers[d->listed[place]].name, name) != 0)
        place = (place + 1) & (d->places - 1);
    return &d->listed[place];
}

static uint32_t *place_of_station(const struct bal_dispatcher *d, const struct bal_dispatcher_server *servers,
                                  uint64_t station) {
    uint32_t place = bli_directory_place(d->places, station);
    while (d->listed[place] != BLI_DIRECTORY_NOBODY && servers[d->listed[place]].station != station)
        place = (place + 1) & (d->places - 1);
    return &d->listed[place];
}

static enum bal_code index_names(struct bal_dispatcher *d, const struct bal_dispatcher_server *servers,
                                 uint32_t count, struct bal_error *err) {
    bli_directory_clear(d->listed, d->places);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *place = place_of_name(d, servers, servers[i].name);
        if (*place != BLI_DIRECTORY_NOBODY)
            return bal_fail(err, BAL_E_MODEL, "server '%s' is named twice", servers[i].name);
        *place = i;
    }
    return BAL_OK;
}

static enum bal_code check_stations(struct bal_dispatcher *d, const struct bal_dispatcher_server *servers,
                                    uint32_t count, struct bal_error *err) {
    bli_directory_clear(d->listed, d->places);
    for (uint32_t i = 0; i < count; i++) {
        if (servers[i].station == BAL_EVERYONE)
            return bal_fail(err, BAL_E_RANGE, "server '%s': its station needs an id that is not 0",
                            servers[i].name);
        uint32_t *place = place_of_station(d, servers, servers[i].station);
        if (*place != BLI_DIRECTORY_NOBODY)
            return bal_fail(err, BAL_E_MODEL, "servers '%s' and '%s' have the same station, %" PRIu64,
                            servers[*place].name, servers[i].name, servers[i].station);
        *place = i;
    }
    return BAL_OK;
}

/* ---- checks ---- */

static enum bal_code check_server(const struct bal_dispatcher_server *s, uint32_t i, struct bal_error *err) {
    if (s->name[0] == '\0' || strlen(s->name) >= BAL_SERVER_NAME)
        return bal_fail(err, BAL_E_RANGE, "server %u: its name has %zu bytes; use 1 to %d", i,
                        strlen(s->name), BAL_SERVER_NAME - 1);
    if (s->weight != 0 && !(s->weight > 0 && s->weight <= 1e6))
        return bal_fail(err, BAL_E_RANGE, "server '%s': weight %g; use a number above 0, up to 1e6", s->name,
                        s->weight);
    if (s->max_fails && (s->fail_ns == 0 || s->fail_ns > day))
        return bal_fail(err, BAL_E_RANGE,
                        "server '%s': max_fails %u within %" PRIu64 " ns; use a time of 1 ns to a day",
                        s->name, s->max_fails, s->fail_ns);
    return BAL_OK;
}

/* Finds the index of each server of the list, if it has one. Returns how many indexes are free for those that
 * have none. */
static uint32_t match_numbers(struct bal_dispatcher *d, const struct bal_dispatcher_server *servers,
                              uint32_t count, uint32_t *new) {
    uint32_t room = 0;
    *new = count;
    for (uint32_t i = 0; i < count; i++)
        d->numbers[i] = BAL_NONE;
    for (uint32_t server = 0; server < d->servers; server++) {
        const bool there = d->server[server].presence != NOT_THERE;
        const uint32_t i = there ? *place_of_name(d, servers, d->server[server].name) : BLI_DIRECTORY_NOBODY;
        if (i != BLI_DIRECTORY_NOBODY) {
            d->numbers[i] = server;
            (*new)--;
        } else {
            room += !there || (d->own[server] == 0 && !is_member(&d->server[server]));
        }
    }
    return room;
}

static enum bal_code check_servers(struct bal_dispatcher *d, const struct bal_dispatcher_server *servers,
                                   uint32_t count, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (uint32_t i = 0; !code && i < count; i++)
        code = check_server(&servers[i], i, err);
    if (!code && count > d->servers)
        code = bal_fail(err, BAL_E_RANGE, "%u servers, but the block is for %u", count, d->servers);
    if (!code && d->block->config.stations)
        code = check_stations(d, servers, count, err);
    return code ? code : index_names(d, servers, count, err);
}

/* ---- coming, staying and going ---- */

static void begin_removal(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    s->presence = LEAVING;
    bli_dispatcher_server_mark(d, server, REMOVED, true);
    bli_dispatcher_check_update(d, server);
    bli_dispatcher_server_refresh(d, server);
    if (d->own[server] == 0)
        bli_dispatcher_server_release(d, server);
}

/* Gives a new server the index *free, or the next one that is free. */
static uint32_t add_server(struct bal_dispatcher *d, const struct bal_dispatcher_server *given,
                           uint32_t *free) {
    while (d->server[*free].presence != NOT_THERE)
        (*free)++;
    const uint32_t server = (*free)++;
    struct server *s = &d->server[server];
    memset(s->name, 0, sizeof s->name);
    memcpy(s->name, given->name, strlen(given->name));
    s->answered = s->failed = s->took_ns = 0;
    d->station[server] = given->station;
    bli_dispatcher_server_reset(d, server);
    return server;
}

/* Where no station reports its slots. The policy is told when they make it idle, or no longer idle. */
static void set_slots(struct bal_dispatcher *d, uint32_t server, uint32_t slots) {
    struct server *s = &d->server[server];
    bli_dispatcher_find_slots(d, server, slots == 0);
    if (slots == 0 && d->concurrency) {
        bli_dispatcher_slots_update(d, server);
        return;
    }
    const uint32_t wanted = slots ? slots : d->block->config.slots;
    if (d->block->config.stations || s->slots == wanted)
        return;
    s->slots = wanted;
    if (s->presence == THERE && s->closed == 0)
        bli_dispatcher_report_idle(d, server);
}

/* Returns whether its station has yet to be sent a RESYNC. */
static bool set_server(struct bal_dispatcher *d, const struct bal_dispatcher_server *given, uint32_t server,
                       uint32_t *free, uint64_t member_until) {
    const bool moved = server != BAL_NONE && d->station[server] != given->station;
    const bool joins = server == BAL_NONE, new = joins || moved;
    if (joins)
        server = add_server(d, given, free);
    struct server *s = &d->server[server];
    if (moved) {
        d->station[server] = given->station;
        bli_dispatcher_server_reset(d, server);
    }
    d->weight[server] = given->weight > 0 ? given->weight : 1;
    s->max_conns = given->max_conns;
    s->max_fails = given->max_fails;
    s->fail_ns = given->fail_ns;
    set_slots(d, server, given->slots);
    s->member_until = member_until;
    s->presence = THERE;
    const bool down = given->down || given->drain, comes_back = s->closed & DOWN && !down;
    s->drain = given->drain;
    bli_dispatcher_server_mark(d, server, DOWN, down);
    bli_dispatcher_server_mark(d, server, FULL, s->max_conns && d->own[server] >= s->max_conns);
    bli_dispatcher_check_update(d, server); /* one that must pass first is never open */
    bli_dispatcher_server_mark(d, server, REMOVED, false);
    if (joins || comes_back)
        bli_dispatcher_begin_slow_start(d, server);
    bli_dispatcher_server_refresh(d, server);
    return new && d->block->config.stations;
}

/* New stations are asked for their state. Where there are many, one message goes to all, so that none is lost
 * because the outbox is full. */
static void send_resync(struct bal_dispatcher *d, const struct bal_dispatcher_server *servers,
                        const uint32_t *new, uint32_t count) {
    if (count > RESYNCS_MAX)
        bli_dispatcher_enqueue_message(
            d, (struct bal_message){.type = BAL_MSG_RESYNC, .receiver = BAL_EVERYONE});
    for (uint32_t i = 0; count <= RESYNCS_MAX && i < count; i++)
        bli_dispatcher_enqueue_message(
            d, (struct bal_message){.type = BAL_MSG_RESYNC, .receiver = servers[new[i]].station});
}

/* Members whose stations are listed now, by other names. */
static void remove_renamed_members(struct bal_dispatcher *d, const struct bal_dispatcher_server *servers,
                                   uint32_t count) {
    for (uint32_t i = 0; d->block->joins.members && i < count; i++) {
        const uint32_t server = bli_directory_find(d->stations, d->places, d->station, servers[i].station);
        if (server != BLI_DIRECTORY_NOBODY && is_member(&d->server[server]) &&
            strcmp(d->server[server].name, servers[i].name) != 0)
            begin_removal(d, server);
    }
}

/* Adds as many of the new servers as there are free indexes. */
static void set_servers(struct bal_dispatcher *d, const struct bal_dispatcher_server *servers, uint32_t count,
                        uint32_t room) {
    uint32_t free = 0, asked = 0;
    remove_renamed_members(d, servers, count);
    for (uint32_t server = 0; server < d->servers; server++)
        if (d->server[server].presence != NOT_THERE && !is_member(&d->server[server]) &&
            *place_of_name(d, servers, d->server[server].name) == BLI_DIRECTORY_NOBODY)
            begin_removal(d, server);
    for (uint32_t i = 0; i < count; i++) {
        const bool new = d->numbers[i] == BAL_NONE;
        if (new &&room == 0)
            continue;
        room -= new;
        if (set_server(d, &servers[i], d->numbers[i], &free, 0))
            d->numbers[asked++] = i; /* never beyond i: what stood there has been used */
    }
    bli_dispatcher_rebuild_indexes(d);
    bli_dispatcher_servers_changed(d);
    for (uint32_t server = 0; server < d->servers; server++)
        bli_dispatcher_server_refresh(d, server);
    send_resync(d, servers, d->numbers, asked);
}

enum bal_code bal_dispatcher_configure(struct bal_dispatcher *d, uint64_t now,
                                       const struct bal_dispatcher_server *servers, uint32_t count,
                                       struct bal_error *err) {
    dispatcher_begin(d, now);
    enum bal_code code = check_servers(d, servers, count, err);
    if (!code) {
        uint32_t new;
        const uint32_t room = match_numbers(d, servers, count, &new);
        if (new <= room || count - new + room > 0) /* else there would be none to choose */
            set_servers(d, servers, count, room);
        if (new > room)
            code = bal_fail(err, BAL_E_RANGE,
                            "%u new servers, but there is room for %u until requests at removed ones have "
                            "ended: the block is for %u",
                            new, room, d->servers);
    }
    dispatcher_end(d);
    return code;
}

/* ---- members ---- */

static void update_fleet(struct bal_dispatcher *d) {
    d->block->joins.version++;
    bli_dispatcher_rebuild_indexes(d);
    bli_dispatcher_servers_changed(d);
    for (uint32_t server = 0; server < d->servers; server++)
        bli_dispatcher_server_refresh(d, server);
}

/* At this index, or at *free or the next one that is free. Returns where. */
static uint32_t set_member(struct bal_dispatcher *d, const struct bal_member *member, uint32_t server,
                           uint32_t *free) {
    char name[BAL_ADDRESS_TEXT];
    while (server == BAL_NONE && *free < d->servers && d->server[*free].presence != NOT_THERE)
        (*free)++;
    if (*free == d->servers)
        return BAL_NONE;
    bal_address_print(&member->address, name);
    const struct bal_dispatcher_server given = {.name = name, .station = member->id};
    const uint64_t until = d->block->now + d->block->config.join.silent_ns;
    const uint32_t place = server == BAL_NONE ? *free : server;
    d->server[place].address = member->address;
    set_server(d, &given, server, free, until);
    return place;
}

/* One that is still leaving comes back. */
uint32_t bli_dispatcher_add_member(struct bal_dispatcher *d, const struct bal_member *member) {
    char name[BAL_ADDRESS_TEXT];
    uint32_t server = BAL_NONE, free = 0;
    bal_address_print(&member->address, name);
    for (uint32_t i = 0; i < d->servers && server == BAL_NONE; i++)
        if (d->server[i].presence == LEAVING && strcmp(d->server[i].name, name) == 0)
            server = i;
    const uint32_t place = set_member(d, member, server, &free);
    if (place != BAL_NONE)
        update_fleet(d);
    return place;
}

void bal_dispatcher_adopt_members(struct bal_dispatcher *d, uint64_t now, const struct bal_member *members,
                                  uint32_t count) {
    dispatcher_begin(d, now);
    const struct bal_join_config *join = &d->block->config.join;
    uint32_t free = 0, adopted = 0;
    for (uint32_t i = 0; i < count; i++) {
        const bool known =
            bli_directory_find(d->stations, d->places, d->station, members[i].id) != BLI_DIRECTORY_NOBODY;
        if (known || !bli_joins_may_adopt(&d->block->joins, join, &members[i]) ||
            set_member(d, &members[i], BAL_NONE, &free) == BAL_NONE)
            continue;
        d->block->joins.members++;
        adopted++;
    }
    if (adopted) {
        update_fleet(d);
        bli_dispatcher_enqueue_message(
            d, (struct bal_message){.type = BAL_MSG_RESYNC, .receiver = BAL_EVERYONE});
    }
    dispatcher_end(d);
}

/* All at once: what follows from the list of servers takes as long for many as for one. */
void bli_dispatcher_remove_silent_members(struct bal_dispatcher *d) {
    const uint64_t before = d->block->joins.departures;
    for (uint32_t server = 0; server < d->servers; server++)
        if (is_member(&d->server[server]) && d->block->now >= d->server[server].member_until) {
            d->block->joins.departures++;
            begin_removal(d, server);
        }
    if (d->block->joins.departures != before)
        update_fleet(d);
}

/* ---- what follows ---- */

static void rebuild_station_directory(struct bal_dispatcher *d) {
    bli_directory_clear(d->stations, d->places);
    for (uint32_t server = 0; d->block->config.stations && server < d->servers; server++)
        if (d->server[server].presence != NOT_THERE)
            bli_directory_add(d->stations, d->places, d->station[server], server);
}

/* At most half of the present servers are ejected, and the only one is not closed by max_fails. Nor is one
 * that has a station: its station's messages decide. */
static void update_ejection_limits(struct bal_dispatcher *d) {
    const struct bal_dispatcher_config *config = &d->block->config;
    const bool limited = !config->stations && (d->block->present > 1 || config->backed);
    d->ejection->servers = d->block->present - d->checks->failing;
    for (uint32_t server = 0; server < d->servers; server++) {
        const struct server *s = &d->server[server];
        if (s->presence == THERE)
            bli_ejection_set_limit(d->ejection, server, limited ? s->max_fails : 0, (double)s->fail_ns);
    }
}

void bli_dispatcher_servers_changed(struct bal_dispatcher *d) {
    struct block *block = d->block;
    double weight = NAN;
    block->present = block->weighted = block->joins.members = 0;
    block->weights = 0;
    for (uint32_t server = 0; server < d->servers; server++) {
        if (d->server[server].presence != THERE)
            continue;
        block->joins.members += d->server[server].member_until > 0;
        block->weighted |= block->present > 0 && d->weight[server] != weight;
        weight = d->weight[server];
        block->weights += weight;
        block->present++;
    }
    update_ejection_limits(d);
    rebuild_station_directory(d);
    refresh_fleet_view(d);
}

void bal_dispatcher_set_backed(struct bal_dispatcher *d, uint64_t now, bool backed) {
    if (d->block->config.backed == backed)
        return;
    dispatcher_begin(d, now);
    d->block->config.backed = backed;
    update_ejection_limits(d);
    for (uint32_t server = 0; server < d->servers; server++)
        bli_dispatcher_server_refresh(d, server);
    dispatcher_end(d);
}
