/* SPDX-License-Identifier: BSD-2-Clause */
/* Who hears whom, over several nginx: a row for each station, a column for each dispatcher. */
#include "report/watch.h"

#include "base/strbuf.h"
#include "format/table.h"

#include <stdlib.h>
#include <string.h>

/* Seconds: a station sends ten heartbeats in one; a dispatcher that has nothing to say answers every three.
 */
#define STATION_SILENT 1.0
#define DISPATCHER_SILENT 7.0

/* Addresses, each once, sorted. */
struct matrix_names {
    const char **name;
    size_t count;
};

struct hosts {
    const struct watch *const *watch;
    size_t count;
};

static void add_name(struct matrix_names *names, const char *name) {
    size_t at = 0;
    while (at < names->count && strcmp(names->name[at], name) < 0)
        at++;
    if (at < names->count && strcmp(names->name[at], name) == 0)
        return;
    memmove(&names->name[at + 1], &names->name[at], (names->count - at) * sizeof *names->name);
    names->name[at] = name;
    names->count++;
}

/* Of everything that is a dispatcher, or a station: itself and those that the others name. */
static void collect_names(const struct hosts *hosts, bool dispatchers, struct matrix_names *names) {
    for (size_t i = 0; i < hosts->count; i++)
        for (size_t k = 0; k < hosts->watch[i]->fleets; k++) {
            const struct watch_fleet *f = &hosts->watch[i]->fleet[k];
            const bool same = (f->policy != NULL) == dispatchers;
            if (same && f->address)
                add_name(names, f->address);
            for (size_t p = 0; !same && p < f->peers; p++)
                add_name(names, f->peer[p].name);
        }
}

static size_t count_names(const struct hosts *hosts) {
    size_t count = 1;
    for (size_t i = 0; i < hosts->count; i++)
        for (size_t k = 0; k < hosts->watch[i]->fleets; k++)
            count += 1 + hosts->watch[i]->fleet[k].peers;
    return count;
}

/* "yes" or "no": the one at `at` hears the one at `of`; "-": it does not know it; "?": it was not asked. */
static const char *hears(const struct hosts *hosts, bool dispatcher, const char *at, const char *of) {
    const char *answer = "?";
    for (size_t i = 0; i < hosts->count; i++)
        for (size_t k = 0; k < hosts->watch[i]->fleets; k++) {
            const struct watch_fleet *f = &hosts->watch[i]->fleet[k];
            if ((f->policy != NULL) != dispatcher || !f->address || strcmp(f->address, at) != 0)
                continue;
            if (*answer == '?')
                answer = "-";
            for (size_t p = 0; p < f->peers; p++)
                if (strcmp(f->peer[p].name, of) == 0)
                    answer = f->peer[p].heard_age <= (dispatcher ? STATION_SILENT : DISPATCHER_SILENT)
                                 ? "yes"
                                 : "no"; /* also where it is not a number */
        }
    return answer;
}

static void print_rows(const struct hosts *hosts, const struct matrix_names *stations,
                       const struct matrix_names *dispatchers, FILE *out) {
    struct table table;
    char align[WATCH_COLUMNS + 2] = "l";
    const size_t shown = dispatchers->count < WATCH_COLUMNS ? dispatchers->count : WATCH_COLUMNS;
    bli_table_init(&table, (unsigned)shown + 1);
    bli_table_add(&table, "station");
    for (size_t d = 0; d < shown; d++) {
        bli_table_add(&table, "%s", dispatchers->name[d]);
        align[d + 1] = 'l';
    }
    for (size_t s = 0; s < stations->count; s++) {
        bli_table_add(&table, "  %s", stations->name[s]);
        for (size_t d = 0; d < shown; d++) {
            const char *there = hears(hosts, true, dispatchers->name[d], stations->name[s]);
            const char *here = hears(hosts, false, stations->name[s], dispatchers->name[d]);
            bli_table_add(&table, "%s/%s", there, here);
        }
    }
    bli_table_print(&table, align, false, out);
    bli_table_fini(&table);
    if (shown < dispatchers->count)
        fprintf(out, "  and %zu more dispatchers\n", dispatchers->count - shown);
}

void bli_watch_print_matrix(const struct watch *const *watch, size_t count, FILE *out) {
    const struct hosts hosts = {watch, count};
    const size_t room = count_names(&hosts);
    struct matrix_names stations = {calloc(room, sizeof(char *)), 0},
                        dispatchers = {calloc(room, sizeof(char *)), 0};
    if (stations.name && dispatchers.name) {
        collect_names(&hosts, false, &stations);
        collect_names(&hosts, true, &dispatchers);
        if (stations.count && dispatchers.count) {
            fputs("who hears whom: the dispatcher the station / the station the dispatcher\n", out);
            print_rows(&hosts, &stations, &dispatchers, out);
        }
    } else {
        bli_stream_mark_incomplete(out);
    }
    free(stations.name);
    free(dispatchers.name);
}
