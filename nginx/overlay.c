/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers of an upstream with the changes on top. */
#include "changes_zone.h"
#include "upstream.h"

#include <string.h>

bool bli_ngx_overlay_init(struct bli_ngx_peers *peers, ngx_pool_t *pool) {
    if (!bli_ngx_changes_running()->used)
        return true;
    peers->added = ngx_pcalloc(pool, peers->config.servers * sizeof *peers->added);
    return peers->added != NULL;
}

bool bli_ngx_overlay_is_old(const struct bli_ngx_peers *peers) {
    return peers->changes_listed != bli_ngx_changes_generation(bli_ngx_changes_running());
}

static bool is_listed(const struct bli_ngx_peers *peers, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(peers->server_list[i].name, name) == 0)
            return true;
    return false;
}

/* Another policy than when it was changed may use none. */
static void leave_out_weight(const struct bli_ngx_peers *peers, struct bal_dispatcher_server *server) {
    if (!bli_ngx_uses_weights(peers->upstream))
        server->weight = 1;
}

/* One that was added, with what nginx takes where nothing is said. Its name is copied, as the table may
 * change. */
static void add_server(struct bli_ngx_peers *peers, uint32_t at, uint32_t added,
                       const struct bli_change *change) {
    memcpy(peers->added[added], change->server, sizeof change->server);
    peers->server_list[at] = (struct bal_dispatcher_server){
        .name = peers->added[added], .weight = 1, .max_fails = 1, .fail_ns = UINT64_C(10000000000)};
    (void)bli_change_apply(change, &peers->server_list[at]);
    leave_out_weight(peers, &peers->server_list[at]);
}

static uint32_t add_servers(struct bli_ngx_peers *peers, const struct bli_changes *changes, uint32_t count) {
    uint32_t changed, added = 0;
    const struct bli_change *change =
        bli_changes_of(changes, bli_ngx_upstream_name(peers->upstream), &changed);
    const uint32_t wanted = peers == peers->upstream->peers ? BLI_SERVER_ADDED : BLI_SERVER_ADDED_BACKUP;
    for (uint32_t i = 0; i < changed && count < peers->config.servers && !peers->upstream->stations; i++)
        if (change[i].presence == wanted && !is_listed(peers, count, change[i].server))
            add_server(peers, count++, added++, &change[i]);
    return count;
}

/* The i-th of the list is the i-th own server, until some are taken out. */
static uint32_t change_servers(struct bli_ngx_peers *peers, const struct bli_changes *changes,
                               uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bal_dispatcher_server *s = &peers->server_list[i];
        const struct bli_change *change =
            bli_changes_find(changes, bli_ngx_upstream_name(peers->upstream), s->name);
        const bool removed = change && !bli_change_apply(change, s);
        leave_out_weight(peers, s);
        bli_ngx_peers_own_server(peers, i)->closed = removed || s->down || s->drain;
        if (!removed)
            peers->server_list[kept++] = *s;
    }
    return kept;
}

bool bli_ngx_overlay_apply(struct bli_ngx_peers *peers, uint32_t *count) {
    struct bli_ngx_changes *changes = bli_ngx_changes_running();
    if (!changes->used)
        return true;
    const struct bli_changes *table = bli_ngx_changes_lock(changes);
    if (!table)
        return false;
    peers->changes_listed = table->generation;
    bli_ngx_policy_update(peers->upstream, bli_changes_policy(table, bli_ngx_upstream_name(peers->upstream)));
    *count = change_servers(peers, table, *count);
    *count = add_servers(peers, table, *count);
    bli_ngx_changes_unlock(changes);
    bli_ngx_journal_write();
    return true;
}
