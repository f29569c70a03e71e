/* A table of open addressing. */
#include "log/servers.h"

#include <stdlib.h>

enum { SERVERS_MOST = 1 << 16, SLOTS_FIRST = 64 };

struct bal_log_servers {
    char **name; /* by number, each ended by 0 */
    uint32_t count, room;
    uint32_t *slot; /* number + 1, 0: free */
    size_t slots;   /* a power of two, more than half of them free */
};

enum bal_code bal_log_servers_new(struct bal_log_servers **servers, struct bal_error *err) {
    struct bal_log_servers *s = *servers = calloc(1, sizeof *s);
    if (s)
        s->slot = calloc(SLOTS_FIRST, sizeof *s->slot);
    if (s && s->slot) {
        s->slots = SLOTS_FIRST;
        return BAL_OK;
    }
    bal_log_servers_free(s);
    *servers = NULL;
    return bal_fail(err, BAL_E_MEMORY, "not enough memory for the names of servers");
}

void bal_log_servers_free(struct bal_log_servers *servers) {
    if (!servers)
        return;
    for (uint32_t i = 0; i < servers->count; i++)
        free(servers->name[i]);
    free(servers->name);
    free(servers->slot);
    free(servers);
}

size_t bal_log_servers_count(const struct bal_log_servers *servers) {
    return servers->count;
}

const char *bal_log_servers_name(const struct bal_log_servers *servers, uint32_t number) {
    return servers->name[number];
}

/* FNV-1a */
static size_t hash(const char *text, size_t length) {
    uint64_t value = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        value = (value ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return (size_t)(value ^ value >> 32);
}

static uint32_t *find_slot(const struct bal_log_servers *servers, struct bal_log_span name) {
    size_t at = hash(name.text, name.length) & (servers->slots - 1);
    while (servers->slot[at] && !bal_log_is(name, servers->name[servers->slot[at] - 1]))
        at = (at + 1) & (servers->slots - 1);
    return &servers->slot[at];
}

static bool grow_slots(struct bal_log_servers *servers) {
    uint32_t *slot = calloc(2 * servers->slots, sizeof *slot);
    if (!slot)
        return false;
    free(servers->slot);
    servers->slot = slot;
    servers->slots *= 2;
    for (uint32_t i = 0; i < servers->count; i++) {
        const char *name = servers->name[i];
        *find_slot(servers, (struct bal_log_span){name, strlen(name)}) = i + 1;
    }
    return true;
}

static bool grow_names(struct bal_log_servers *servers) {
    const uint32_t room = servers->room ? 2 * servers->room : SLOTS_FIRST / 2;
    char **name = realloc(servers->name, room * sizeof *name);
    if (!name)
        return false;
    servers->name = name;
    servers->room = room;
    return true;
}

enum bal_code bal_log_servers_number(struct bal_log_servers *servers, struct bal_log_span name,
                                     uint32_t *number, struct bal_error *err) {
    name.length = strnlen(name.text, name.length);
    uint32_t *slot = find_slot(servers, name);
    if (*slot) {
        *number = *slot - 1;
        return BAL_OK;
    }
    char shown[60];
    bal_log_show(name, shown, sizeof shown);
    if (servers->count == SERVERS_MOST)
        return bal_fail(err, BAL_E_RANGE,
                        "more than %d names of servers, the last being '%s': the field is hardly one of "
                        "servers; name another",
                        (int)SERVERS_MOST, shown);
    const bool grown = (servers->count < servers->room || grow_names(servers)) &&
                       (2 * servers->count < servers->slots || grow_slots(servers));
    char *copy = grown ? strndup(name.text, name.length) : NULL;
    if (!copy)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the names of servers");
    *number = servers->count;
    servers->name[servers->count++] = copy;
    *find_slot(servers, name) = servers->count;
    return BAL_OK;
}
