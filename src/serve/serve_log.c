/* SPDX-License-Identifier: BSD-2-Clause */
/* What test servers have seen: a record of each request that has ended, how often each id came and was
 * answered well, and the statistics of all servers. */
#include "serve/serve_state.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash ? hash : 1;
}

static struct seen_request *find_seen_slot(struct seen_request *in, size_t room, uint64_t hash) {
    size_t i = hash & (room - 1);
    while (in[i].hash && in[i].hash != hash)
        i = (i + 1) & (room - 1);
    return &in[i];
}

/* NULL: there is no memory. */
static struct seen_request *find_or_add_seen(struct serve *serve, const char *id) {
    if (2 * serve->seen_count >= serve->seen_room) {
        const size_t room = serve->seen_room ? 2 * serve->seen_room : 4096;
        struct seen_request *larger = calloc(room, sizeof *larger);
        if (!larger) {
            serve_fail(serve, "memory");
            return NULL;
        }
        for (size_t i = 0; i < serve->seen_room; i++)
            if (serve->seen[i].hash)
                *find_seen_slot(larger, room, serve->seen[i].hash) = serve->seen[i];
        free(serve->seen);
        serve->seen = larger;
        serve->seen_room = room;
    }
    const uint64_t hash = hash_of(id);
    struct seen_request *entry = find_seen_slot(serve->seen, serve->seen_room, hash);
    serve->seen_count += entry->hash == 0;
    entry->hash = hash;
    return entry;
}

void serve_log_arrival(struct serve *serve, const struct connection *c) {
    struct seen_request *entry = *c->id ? find_or_add_seen(serve, c->id) : NULL;
    if (entry && ++entry->times == 2)
        serve->seen_doubled++;
}

void serve_log_end(struct serve *serve, const struct connection *c, int status) {
    const bool served = *c->id && status >= 100 && status < 500;
    struct seen_request *entry = served ? find_or_add_seen(serve, c->id) : NULL;
    if (entry && ++entry->served == 2)
        serve->served_doubled++;
    if (serve->record_count == serve->record_room) {
        const size_t room = serve->record_room ? 2 * serve->record_room : 4096;
        struct serve_record *larger = realloc(serve->records, room * sizeof *larger);
        if (!larger) {
            serve_fail(serve, "memory");
            return;
        }
        serve->records = larger;
        serve->record_room = room;
    }
    struct serve_record *record = &serve->records[serve->record_count++];
    *record = (struct serve_record){.server = (unsigned)(c->server - serve->servers),
                                    .arrived = c->arrived,
                                    .begun = c->begun,
                                    .ended = serve_clock_seconds(),
                                    .status = status};
    memcpy(record->id, c->id, sizeof record->id);
}

void serve_log_reset(struct serve *serve) {
    free(serve->seen);
    serve->seen = NULL;
    serve->seen_room = serve->seen_count = serve->seen_doubled = serve->served_doubled = serve->record_count =
        0;
    serve->overslept = 0;
    serve->services = 0;
    for (unsigned i = 0; i < serve->server_count; i++) {
        struct test_server *s = &serve->servers[i];
        s->requests = s->answered = s->aborted = s->accepted = 0;
        s->most_present = s->present;
        s->most_connections = s->connections;
    }
}

void serve_print_stats(const struct serve *serve, FILE *out) {
    uint64_t requests = 0, answered = 0, aborted = 0, most = 0, present = 0;
    for (unsigned i = 0; i < serve->server_count; i++) {
        const struct test_server *s = &serve->servers[i];
        requests += s->requests;
        answered += s->answered;
        aborted += s->aborted;
        present += s->present;
        most = s->most_present > most ? s->most_present : most;
    }
    fprintf(
        out,
        "{\"requests\": %llu, \"answered\": %llu, \"aborted\": %llu, \"present\": %llu, \"most_present\": "
        "%llu, \"doubled\": %zu, \"served_twice\": %zu, \"overslept\": %.9f, \"servers\": [",
        (unsigned long long)requests, (unsigned long long)answered, (unsigned long long)aborted,
        (unsigned long long)present, (unsigned long long)most, serve->seen_doubled, serve->served_doubled,
        serve->services ? serve->overslept / (double)serve->services : 0);
    for (unsigned i = 0; i < serve->server_count; i++) {
        const struct test_server *s = &serve->servers[i];
        fprintf(
            out,
            "%s\n{\"port\": %u, \"mode\": \"%s\", \"requests\": %llu, \"answered\": %llu, \"aborted\": %llu, "
            "\"present\": %u, \"most_present\": %u, \"connections\": %u, \"most_connections\": %u, "
            "\"accepted\": %llu}",
            i ? "," : "", s->port, serve_mode_names[s->mode], (unsigned long long)s->requests,
            (unsigned long long)s->answered, (unsigned long long)s->aborted, s->present, s->most_present,
            s->connections, s->most_connections, (unsigned long long)s->accepted);
    }
    fputs("]}\n", out);
}

void serve_print_log(const struct serve *serve, FILE *out, double from, double most) {
    for (size_t i = (size_t)from; i < serve->record_count && (double)i < from + most; i++) {
        const struct serve_record *r = &serve->records[i];
        fprintf(out, "%s %u %.6f %.6f %.6f %d\n", *r->id ? r->id : "-", r->server, r->arrived, r->begun,
                r->ended, r->status);
    }
}
