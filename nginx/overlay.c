/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers of an upstream with the changes on top. */
#include "changes_zone.h"
#include "upstream.h"

#include <string.h>

bool bal_ngx_overlay_init(struct bal_ngx_peers *peers, ngx_pool_t *pool) {
    if (!bal_ngx_changes_running()->used)
        return true;
    peers->added = ngx_pcalloc(pool, peers->config.servers * sizeof *peers->added);
    return peers->added != NULL;
}

bool bal_ngx_overlay_is_old(const struct bal_ngx_peers *peers) {
    return peers->changes_listed != bal_ngx_changes_generation(bal_ngx_changes_running());
}

static bool is_listed(const struct bal_ngx_peers *peers, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(peers->server_list[i].name, name) == 0)
            return true;
    return false;
}

/* Another policy than when it was changed may use none. */
static void leave_out_weight(const struct bal_ngx_peers *peers, struct bal_dispatcher_server *server) {
    if (!bal_ngx_uses_weights(peers->upstream))
        server->weight = 1;
}

/* One that was added, with what nginx takes where nothing is said. Its name is copied, as the table may
 * change. */
static void add_server(struct bal_ngx_peers *peers, uint32_t at, uint32_t added,
                       const struct bal_change *change) {
    memcpy(peers->added[added], change->server, sizeof change->server);
    peers->server_list[at] = (struct bal_dispatcher_server){
        .name = peers->added[added], .weight = 1, .max_fails = 1, .fail_ns = UINT64_C(10000000000)};
    (void)bal_change_apply(change, &peers->server_list[at]);
    leave_out_weight(peers, &peers->server_list[at]);
}

static uint32_t add_servers(struct bal_ngx_peers *peers, const struct bal_changes *changes, uint32_t count) {
    uint32_t changed, added = 0;
    const struct bal_change *change =
        bal_changes_of(changes, bal_ngx_upstream_name(peers->upstream), &changed);
    const uint32_t wanted = peers == peers->upstream->peers ? BAL_SERVER_ADDED : BAL_SERVER_ADDED_BACKUP;
    for (uint32_t i = 0; i < changed && count < peers->config.servers && !peers->upstream->stations; i++)
        if (change[i].presence == wanted && !is_listed(peers, count, change[i].server))
            add_server(peers, count++, added++, &change[i]);
    return count;
}

/* The i-th of the list is the i-th own server, until some are taken out. */
static uint32_t change_servers(struct bal_ngx_peers *peers, const struct bal_changes *changes,
                               uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bal_dispatcher_server *s = &peers->server_list[i];
        const struct bal_change *change =
            bal_changes_find(changes, bal_ngx_upstream_name(peers->upstream), s->name);
        const bool removed = change && !bal_change_apply(change, s);
        leave_out_weight(peers, s);
        bal_ngx_peers_own_server(peers, i)->closed = removed || s->down || s->drain;
        if (!removed)
            peers->server_list[kept++] = *s;
    }
    return kept;
}

bool bal_ngx_overlay_apply(struct bal_ngx_peers *peers, uint32_t *count) {
    struct bal_ngx_changes *changes = bal_ngx_changes_running();
    if (!changes->used)
        return true;
    const struct bal_changes *table = bal_ngx_changes_lock(changes);
    if (!table)
        return false;
    peers->changes_listed = table->generation;
    bal_ngx_policy_update(peers->upstream, bal_changes_policy(table, bal_ngx_upstream_name(peers->upstream)));
    *count = change_servers(peers, table, *count);
    *count = add_servers(peers, table, *count);
    bal_ngx_changes_unlock(changes);
    bal_ngx_journal_write();
    return true;
}
