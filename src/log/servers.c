/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of texts with open addressing: names of servers, or requests. */
#include "log/servers.h"

#include <stdlib.h>

enum { SERVERS_MAX = 1 << 16, REQUESTS_MAX = 1 << 22, SLOTS_FIRST = 64 };

struct bli_log_servers {
    struct bli_log_span *name; /* by number, each ended by 0 too */
    uint32_t count, room, most;
    uint32_t *slot; /* number + 1, 0: free */
    size_t slots;   /* a power of two, more than half of them free */
};

static enum bal_code new_table(uint32_t most, struct bli_log_servers **servers, struct bal_error *err) {
    struct bli_log_servers *s = *servers = calloc(1, sizeof *s);
    if (s)
        s->slot = calloc(SLOTS_FIRST, sizeof *s->slot);
    if (s && s->slot) {
        s->slots = SLOTS_FIRST;
        s->most = most;
        return BAL_OK;
    }
    bli_log_servers_free(s);
    *servers = NULL;
    return bal_fail(err, BAL_E_MEMORY, "not enough memory for the names of servers");
}

enum bal_code bli_log_servers_new(struct bli_log_servers **servers, struct bal_error *err) {
    return new_table(SERVERS_MAX, servers, err);
}

enum bal_code bli_log_requests_new(struct bli_log_servers **requests, struct bal_error *err) {
    return new_table(REQUESTS_MAX, requests, err);
}

void bli_log_servers_free(struct bli_log_servers *servers) {
    if (!servers)
        return;
    for (uint32_t i = 0; i < servers->count; i++)
        free((char *)servers->name[i].text);
    free(servers->name);
    free(servers->slot);
    free(servers);
}

size_t bli_log_servers_count(const struct bli_log_servers *servers) {
    return servers->count;
}

const char *bli_log_servers_name(const struct bli_log_servers *servers, uint32_t number) {
    return servers->name[number].text;
}

static uint64_t mix_bits(uint64_t value) { /* the end of MurmurHash3 */
    value = (value ^ value >> 33) * UINT64_C(0xff51afd7ed558ccd);
    value = (value ^ value >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

/* Eight bytes at a time; where a part of eight is left, the last ones, which overlap those before them. */
static size_t hash_name(struct bli_log_span name) {
    uint64_t value = name.length, word;
    const char *at = name.text, *end = at + name.length;
    if (name.length < sizeof word) {
        while (at < end)
            value = value << 8 ^ (unsigned char)*at++;
        return (size_t)mix_bits(value);
    }
    for (; end - at > (ptrdiff_t)sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        value = mix_bits(value ^ word);
    }
    memcpy(&word, end - sizeof word, sizeof word);
    return (size_t)mix_bits(value ^ word);
}

static bool is_same(struct bli_log_span a, struct bli_log_span b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static uint32_t *find_slot(const struct bli_log_servers *servers, struct bli_log_span name) {
    size_t at = hash_name(name) & (servers->slots - 1);
    while (servers->slot[at] && !is_same(name, servers->name[servers->slot[at] - 1]))
        at = (at + 1) & (servers->slots - 1);
    return &servers->slot[at];
}

static bool grow_slots(struct bli_log_servers *servers) {
    uint32_t *slot = calloc(2 * servers->slots, sizeof *slot);
    if (!slot)
        return false;
    free(servers->slot);
    servers->slot = slot;
    servers->slots *= 2;
    for (uint32_t i = 0; i < servers->count; i++)
        *find_slot(servers, servers->name[i]) = i + 1;
    return true;
}

static bool grow_names(struct bli_log_servers *servers) {
    const uint32_t room = servers->room ? 2 * servers->room : SLOTS_FIRST / 2;
    struct bli_log_span *name = realloc(servers->name, room * sizeof *name);
    if (!name)
        return false;
    servers->name = name;
    servers->room = room;
    return true;
}

static enum bal_code add_name(struct bli_log_servers *servers, struct bli_log_span name,
                              struct bal_error *err) {
    char shown[60];
    bli_log_show(name, shown, sizeof shown);
    if (servers->count == servers->most && servers->most == REQUESTS_MAX)
        return bal_fail(err, BAL_E_RANGE,
                        "more than %d different requests; take a part of the log: --from, --to",
                        (int)REQUESTS_MAX);
    if (servers->count == servers->most)
        return bal_fail(err, BAL_E_RANGE,
                        "more than %d names of servers, the last being '%s': the field is hardly one of "
                        "servers; name another",
                        (int)SERVERS_MAX, shown);
    const bool grown = (servers->count < servers->room || grow_names(servers)) &&
                       (2 * servers->count < servers->slots || grow_slots(servers));
    char *copy = grown ? strndup(name.text, name.length) : NULL;
    if (!copy)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the names of servers");
    uint32_t *slot = find_slot(servers, name);
    servers->name[servers->count++] = (struct bli_log_span){copy, name.length};
    *slot = servers->count;
    return BAL_OK;
}

enum bal_code bli_log_servers_number(struct bli_log_servers *servers, struct bli_log_span name,
                                     uint32_t *number, struct bal_error *err) {
    uint32_t *slot = find_slot(servers, name);
    if (!*slot) { /* a name ends at a 0 byte, of which there hardly is one */
        name.length = strnlen(name.text, name.length);
        slot = find_slot(servers, name);
    }
    if (!*slot) {
        const enum bal_code code = add_name(servers, name, err);
        if (code)
            return code;
        slot = find_slot(servers, name);
    }
    *number = *slot - 1;
    return BAL_OK;
}
