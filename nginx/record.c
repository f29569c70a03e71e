/* SPDX-License-Identifier: BSD-2-Clause */
/* The layout of recorded times and requests, and copying them out of the ring. */
#include "record.h"

#include <string.h>

uint64_t bli_ngx_times_bound(uint32_t bucket) {
    const uint32_t quarter = bucket ? bucket - 1 : 0;
    return bucket ? (5 + (uint64_t)quarter % 4) << (BLI_NGX_SHORT - 2 + quarter / 4) : 1 << BLI_NGX_SHORT;
}

const char *bli_ngx_activity_name(enum bli_ngx_server_activity activity) {
    static const char *const names[BLI_NGX_ACTIVITIES] = {
        [BLI_NGX_OFF] = "off", [BLI_NGX_SETUP] = "set-up", [BLI_NGX_IDLE] = "idle", [BLI_NGX_BUSY] = "busy"};
    return names[activity];
}

uint32_t bli_ngx_records_capacity(uint32_t wanted) {
    uint32_t room = 1;
    while (room < wanted)
        room *= 2;
    return wanted ? room : 0;
}

size_t bli_ngx_records_size(uint32_t servers, uint32_t room) {
    return sizeof(struct bli_ngx_records) + servers * sizeof(struct bli_ngx_meter) +
           room * sizeof(struct bli_ngx_record);
}

void bli_ngx_records_init(struct bli_ngx_records *records, uint32_t servers, uint32_t room) {
    memset(records, 0, bli_ngx_records_size(servers, room));
    records->servers = servers;
    records->room = room;
}

uint64_t bli_ngx_records_elapsed(struct bli_ngx_records *records, uint64_t now) {
    const uint64_t before = records->metered_at;
    records->metered_at = now > before ? now : before;
    return before ? records->metered_at - before : 0;
}

void bli_ngx_records_add_activity(struct bli_ngx_records *records, uint32_t server,
                                  enum bli_ngx_server_activity activity, uint64_t ns) {
    if (activity == BLI_NGX_ACTIVITIES)
        memset(&records->meter[server], 0, sizeof records->meter[server]);
    else
        records->meter[server].ns[activity] += ns;
}

uint64_t bli_ngx_records_copy(struct bli_ngx_records *records, uint64_t since, uint32_t most,
                              struct bli_ngx_record *into, uint32_t *count) {
    const struct bli_ngx_record *ring = bli_ngx_records_ring(records);
    const uint64_t oldest = records->next > records->room ? records->next - records->room : 0;
    const uint64_t first = since < oldest || since > records->next ? oldest : since;
    *count = records->next - first < most ? (uint32_t)(records->next - first) : most;
    for (uint32_t i = 0; i < *count; i++)
        into[i] = ring[(first + i) & (records->room - 1)];
    return first;
}
