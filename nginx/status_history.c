/* SPDX-License-Identifier: BSD-2-Clause */
/* The last hour of all upstreams and stations, as JSON: `?format=history`. */
#include "status.h"

#include "process.h"

/* Copied under the lock, printed without it. 0: its lock cannot be acquired now. */
static uint32_t copy_points(struct bli_ngx_zone *zone, const struct bli_ngx_history *history,
                            struct bli_ngx_point points[BLI_NGX_POINTS]) {
    if (!bli_ngx_zone_lock(zone))
        return 0;
    const uint32_t count = bli_ngx_history_points(history, points);
    bli_ngx_zone_unlock(zone);
    return count;
}

static void print_times(struct bli_ngx_text *text, const uint32_t *us, uint32_t classes) {
    for (uint32_t rank = 0; rank < classes; rank++)
        if (us[rank])
            bli_ngx_text_printf(text, "%s%uD.%06uD", rank ? "," : ",[", us[rank] / 1000000,
                                us[rank] % 1000000);
        else
            bli_ngx_text_printf(text, rank ? ",null" : ",[null");
    bli_ngx_text_printf(text, "]");
}

static void print_point(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                        const struct bli_ngx_point *point, uint32_t classes, uint64_t to_wall) {
    bli_ngx_text_printf(text, "[");
    bli_ngx_text_seconds(text, point->end_ns + to_wall);
    bli_ngx_text_printf(text, ",%uD.%03uD,%uD,%uD,%uD,%uD,%uD,%uD", point->ms / 1000, point->ms % 1000,
                        point->arrived, point->failed, point->refused, point->held, point->on,
                        point->messages);
    print_times(text, point->p50_us, classes);
    print_times(text, point->p99_us, classes);
    if (status->metered) {
        struct bli_ngx_meter meter;
        for (int i = 0; i < BLI_NGX_ACTIVITIES; i++)
            meter.ns[i] = (uint64_t)point->activity_ms[i] * 1000000;
        const uint64_t energy = bli_ngx_status_energy(status, &meter);
        bli_ngx_text_printf(text, ",%uL.%03uL", energy / 1000, energy % 1000);
    }
    bli_ngx_text_printf(text, "]");
}

static void print_points(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                         const struct bli_ngx_point *points, uint32_t count, uint32_t classes) {
    const uint64_t to_wall = bli_ngx_wall() - bli_ngx_now();
    bli_ngx_text_printf(text, ",\"classes\":%uD,\"points\":[", classes);
    for (uint32_t i = 0; i < count; i++) {
        bli_ngx_text_printf(text, i ? ",\n" : "\n");
        print_point(text, status, &points[i], classes, to_wall);
    }
    bli_ngx_text_printf(text, "]}");
}

static void print_name(struct bli_ngx_text *text, const char *comma, const ngx_str_t *name) {
    bli_ngx_text_printf(text, "%s\n{\"upstream\":", comma);
    bli_ngx_text_json_string(text, (const char *)name->data, name->len);
}

void bli_ngx_status_history(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                            const struct bli_ngx_snapshot *snapshot) {
    static struct bli_ngx_point points[BLI_NGX_POINTS]; /* a process has one thread */
    const char *comma = "";
    bli_ngx_text_printf(text, "{\"schema\":%d,\"time\":", BLI_NGX_SCHEMA);
    bli_ngx_text_seconds(text, snapshot->time_ns);
    bli_ngx_text_printf(
        text,
        ",\"fields\":[\"time\",\"seconds\",\"arrived\",\"failed\",\"refused\",\"held\",\"on\",\"messages\","
        "\"p50\",\"p99\"%s],\"history\":[",
        status->metered ? ",\"joules\"" : "");
    for (uint32_t i = 0; i < snapshot->peer_sets; i++) {
        struct bli_ngx_peers *peers = (struct bli_ngx_peers *)snapshot->peers[i].peers;
        const uint32_t count = copy_points(&peers->zone, peers->history, points);
        print_name(text, comma, &peers->upstream->us->host);
        bli_ngx_text_printf(text, ",\"station\":false,\"backup\":%s",
                            peers == peers->upstream->peers ? "false" : "true");
        print_points(text, status, points, count, peers->config.classes);
        comma = ",";
    }
    for (uint32_t i = 0; i < snapshot->stations; i++) {
        struct bli_ngx_station *station = (struct bli_ngx_station *)snapshot->station[i].station;
        const uint32_t count = copy_points(&station->zone, station->history, points);
        print_name(text, comma, &station->us->host);
        bli_ngx_text_printf(text, ",\"station\":true,\"backup\":false");
        print_points(text, status, points, count, station->config.classes);
        comma = ",";
    }
    bli_ngx_text_printf(text, "]}\n");
}
