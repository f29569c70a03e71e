/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the generators sit: the text forms, and whether they fit a fleet. */
#include "ballast/number.h"
#include "ballast/stealing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GENERATORS_MAX 1e8 /* there are as many as servers */

static const char *const plain[] = {
    [BAL_PLACEMENT_EVEN] = "even",         [BAL_PLACEMENT_MOVING] = "moving",
    [BAL_PLACEMENT_WALK] = "walk",         [BAL_PLACEMENT_LONGEST] = "longest",
    [BAL_PLACEMENT_SHORTEST] = "shortest", [BAL_PLACEMENT_CYCLING] = "cycling",
};

static enum bal_code bad_placement(const char *text, const char *why, struct bal_error *err) {
    return bal_fail(
        err, BAL_E_RANGE,
        "placement '%.80s': %s; write even, hosts(K), moving, walk, longest, shortest, cycling or "
        "map(HOST:GENERATORS HOST:GENERATORS ...)",
        text, why);
}

/* Reads a whole number of servers or generators and what must stand behind it; returns what follows. */
static const char *parse_count(const char *at, const char *behind, double low, uint32_t *number) {
    const size_t length = strcspn(at, behind);
    double value;
    if (!at[length] || !bli_number_parse(at, length, &value) || value != floor(value) ||
        !(value >= low && value <= GENERATORS_MAX))
        return NULL;
    *number = (uint32_t)value;
    return at + length;
}

/* Puts an entry where its host belongs. Returns false when the host is there already. */
static bool insert_entry(struct bal_placement *map, uint32_t host, uint32_t count) {
    unsigned i = map->entries;
    for (; i > 0 && map->host[i - 1] >= host; i--) {
        if (map->host[i - 1] == host)
            return false;
        map->host[i] = map->host[i - 1];
        map->count[i] = map->count[i - 1];
    }
    map->host[i] = host;
    map->count[i] = count;
    map->entries++;
    return true;
}

static enum bal_code parse_map(const char *text, struct bal_placement *placement, struct bal_error *err) {
    struct bal_placement map = {.kind = BAL_PLACEMENT_MAP};
    const char *at = text + strlen("map(");
    for (;;) {
        at += strspn(at, " ");
        if (!*at || *at == ')')
            break;
        uint32_t host = 0, count = 0;
        if (map.entries == BAL_PLACEMENT_ENTRIES)
            return bad_placement(text, "a map has at most 256 hosts", err);
        at = parse_count(at, ":", 0, &host);
        at = at ? parse_count(at + 1, " )", 1, &count) : NULL;
        if (!at)
            return bad_placement(text, "a part of a map is HOST:GENERATORS, hosts counted from 0", err);
        if (!insert_entry(&map, host, count))
            return bad_placement(text, "a host is named twice", err);
    }
    if (strcmp(at, ")") != 0 || map.entries == 0)
        return bad_placement(text, "a map has at least one host and ends with its parenthesis", err);
    *placement = map;
    return BAL_OK;
}

enum bal_code bal_placement_parse(const char *text, struct bal_placement *placement, struct bal_error *err) {
    for (size_t kind = 0; kind < sizeof plain / sizeof *plain; kind++)
        if (plain[kind] && strcmp(text, plain[kind]) == 0) {
            *placement = (struct bal_placement){.kind = (enum bal_placement_kind)kind};
            return BAL_OK;
        }
    const bool named = strncmp(text, "hosts(", 6) == 0;
    double value;
    if (named || bli_number_parse(text, strlen(text), &value)) {
        char number[64];
        snprintf(number, sizeof number, "%s%s", named ? text + 6 : text, named ? "" : ")");
        uint32_t hosts = 0;
        const char *end = strlen(text) < sizeof number ? parse_count(number, ")", 1, &hosts) : NULL;
        if (!end || end[1])
            return bad_placement(text, "the number of hosts is a whole number from 1", err);
        *placement = (struct bal_placement){.kind = BAL_PLACEMENT_HOSTS, .hosts = hosts};
        return BAL_OK;
    }
    if (strncmp(text, "map(", 4) == 0)
        return parse_map(text, placement, err);
    return bad_placement(text, "there is no such placement", err);
}

size_t bal_placement_print(const struct bal_placement *placement, char *text, size_t size) {
    if (placement->kind == BAL_PLACEMENT_HOSTS)
        return (size_t)snprintf(text, size, "hosts(%u)", placement->hosts);
    if (placement->kind != BAL_PLACEMENT_MAP)
        return (size_t)snprintf(text, size, "%s", plain[placement->kind]);
    size_t length = 0;
    for (unsigned i = 0; i < placement->entries; i++) {
        const size_t room = length < size ? size - length : 0;
        length +=
            (size_t)snprintf(room ? text + length : NULL, room, "%s%u:%u%s", i ? " " : "map(",
                             placement->host[i], placement->count[i], i + 1 == placement->entries ? ")" : "");
    }
    return length;
}

enum bal_code bal_placement_check(const struct bal_placement *placement, uint32_t servers,
                                  struct bal_error *err) {
    if (placement->kind == BAL_PLACEMENT_HOSTS && !(placement->hosts >= 1 && placement->hosts <= servers))
        return bal_fail(err, BAL_E_MODEL, "placement 'hosts(%u)' on %u servers; write hosts(1) to hosts(%u)",
                        placement->hosts, servers, servers);
    if (placement->kind != BAL_PLACEMENT_MAP)
        return BAL_OK;
    uint64_t sum = 0;
    for (unsigned i = 0; i < placement->entries; i++) {
        if (placement->host[i] >= servers)
            return bal_fail(err, BAL_E_MODEL,
                            "placement 'map' names host %u of %u servers; they are counted from 0 to %u",
                            placement->host[i], servers, servers - 1);
        sum += placement->count[i];
    }
    return sum == servers ? BAL_OK
                          : bal_fail(err, BAL_E_MODEL,
                                     "placement 'map' places %llu generators on %u servers; there must be as "
                                     "many generators as servers",
                                     (unsigned long long)sum, servers);
}
