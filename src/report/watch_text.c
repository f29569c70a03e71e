/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the state of a running nginx for `ballast watch`. */
#include "report/watch.h"

#include "base/strbuf.h"
#include "format/table.h"
#include "format/text.h"
#include "format/time_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a state is printed: a terminal colour, and a letter where a bar would show nothing. */
static const struct {
    const char *colour, *sign;
} looks[WATCH_STATES] = {
    {"2", "."},  {"32", "o"}, {"34", "#"}, {"33", "^"}, {"2", "_"},  {"35", "v"},
    {"31", "!"}, {"31", "?"}, {"31", "!"}, {"31", "!"}, {"31", "?"}, {"2", "x"},
};

/* ---- between two looks ---- */

static const struct watch_fleet *find_same_fleet(const struct watch *watch, const struct watch_fleet *fleet) {
    for (size_t i = 0; watch && i < watch->fleets; i++) {
        const struct watch_fleet *f = &watch->fleet[i];
        if (strcmp(f->name, fleet->name) == 0 && f->backup == fleet->backup && !f->policy == !fleet->policy &&
            f->arrived <= fleet->arrived)
            return f;
    }
    return NULL;
}

/* A quantile of the times between the two; NaN: there were none. Linear inside of a bucket. */
static double interval_quantile(const struct watch *watch, const struct watch_times *before,
                                const struct watch_times *now, double q) {
    double all = 0;
    for (unsigned i = 0; i < WATCH_BUCKETS; i++)
        all += now->count[i] - (before ? before->count[i] : 0);
    double left = q * all;
    for (unsigned i = 0; i < WATCH_BUCKETS && all > 0; i++) {
        const double n = now->count[i] - (before ? before->count[i] : 0);
        const unsigned below = i < watch->bounds ? i : watch->bounds; /* bounds that are lower */
        const double low = below ? watch->bound[below - 1] : 0;
        if (n > 0 && left <= n)
            return i < watch->bounds ? low + (watch->bound[i] - low) * left / n : low;
        left -= n > 0 ? n : 0;
    }
    return NAN;
}

/* ---- lines ---- */

static void print_head(const struct watch *before, const struct watch *now, const struct watch_fleet *f,
                       FILE *out) {
    const struct watch_fleet *old = find_same_fleet(before, f);
    const double seconds = old ? now->time - before->time : 0, requests = old ? f->arrived - old->arrived : 0;
    unsigned counts[WATCH_STATES] = {0};
    for (size_t i = 0; i < f->servers; i++)
        counts[f->server[i].state]++;
    bli_text_print(f->name, out);
    fputs(f->backup ? ", backup: " : ": ", out);
    bli_text_print(f->policy ? f->policy : "station", out);
    fprintf(out, ", %zu server%s:", f->servers, f->servers == 1 ? "" : "s");
    for (unsigned state = 0; state < WATCH_STATES; state++)
        if (counts[state])
            fprintf(out, " %u %s", counts[state], bli_watch_states[state]);
    fputs("\n  ", out);
    if (seconds > 0)
        fprintf(out, "%.4g requests a second, ", requests / seconds);
    else
        fprintf(out, "%.0f requests, ", f->arrived);
    fprintf(out, "%.0f %s, %.0f failed", f->held, f->policy ? "held" : "in line", f->failed);
    if (f->messages > 0 && (old ? requests : f->arrived) > 0)
        fprintf(out, ", %.3g messages per request",
                old ? (f->messages - old->messages) / requests : f->messages / f->arrived);
    if (f->metered && seconds > 0)
        fprintf(out, ", %.0f W", (f->joules - old->joules) / seconds);
    fputc('\n', out);
}

static void print_times(const struct watch *before, const struct watch *now, const struct watch_fleet *f,
                        FILE *out) {
    const struct watch_fleet *old = find_same_fleet(before, f);
    for (unsigned rank = 0; rank < f->classes; rank++) {
        const struct watch_times *past = old && rank < old->classes ? &old->times[rank] : NULL;
        const double half = interval_quantile(now, past, &f->times[rank], 0.5);
        char p50[BLI_TIME_TEXT], p99[BLI_TIME_TEXT];
        if (isnan(half))
            continue;
        bli_time_length(half, p50);
        bli_time_length(interval_quantile(now, past, &f->times[rank], 0.99), p99);
        if (f->classes > 1)
            fprintf(out, "  class %u: p50 %s, p99 %s\n", rank, p50, p99);
        else
            fprintf(out, "  p50 %s, p99 %s\n", p50, p99);
    }
}

/* One letter a server: its state, and how many requests are there. */
static void print_picture(const struct watch_fleet *f, const struct watch_view *view, FILE *out) {
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const unsigned columns = view->columns > 12 ? view->columns - 4 : 8;
    double most = 8;
    for (size_t i = 0; i < f->servers; i++)
        most = fmax(most, f->server[i].in_service + f->server[i].queue);
    for (size_t i = 0; i < f->servers; i++) {
        const struct watch_server *s = &f->server[i];
        const double jobs = s->in_service + s->queue;
        const bool bar = view->blocks && s->state <= 2 && jobs > 0;
        if (i % columns == 0)
            fputs(i ? "\n  " : "  ", out);
        if (view->colour)
            fprintf(out, "\033[%sm", looks[s->state].colour);
        fputs(bar ? bars[(unsigned)fmin(7, ceil(8 * jobs / most) - 1)] : looks[s->state].sign, out);
        if (view->colour)
            fputs("\033[0m", out);
    }
    fputs(f->servers ? "\n" : "", out);
}

static int by_queue(const void *a, const void *b) {
    const struct watch_server *s = *(const struct watch_server *const *)a,
                              *t = *(const struct watch_server *const *)b;
    const double s_jobs = s->in_service + s->queue, t_jobs = t->in_service + t->queue;
    if (s_jobs != t_jobs)
        return s_jobs < t_jobs ? 1 : -1;
    return s->state != t->state ? (s->state < t->state ? 1 : -1) : strcmp(s->name, t->name);
}

/* The longest queues first. */
static void print_servers(const struct watch_fleet *f, FILE *out) {
    const struct watch_server **order = calloc(f->servers + 1, sizeof *order);
    struct table table;
    if (!order) {
        bli_stream_mark_incomplete(out);
        return;
    }
    for (size_t i = 0; i < f->servers; i++)
        order[i] = &f->server[i];
    qsort(order, f->servers, sizeof *order, by_queue);
    bli_table_begin(&table, "server|state|in service|in line|in flight|answered|failed|mean");
    for (size_t i = 0; i < f->servers; i++) {
        const struct watch_server *s = order[i];
        char mean[BLI_TIME_TEXT] = "";
        if (s->answered > 0 && s->seconds > 0)
            bli_time_length(s->seconds / s->answered, mean);
        bli_table_add(&table, "  %s", s->name);
        bli_table_add(&table, "%s", bli_watch_states[s->state]);
        const double numbers[] = {s->in_service, s->queue, s->in_flight, s->answered, s->failed};
        for (unsigned k = 0; k < sizeof numbers / sizeof *numbers; k++)
            bli_table_add(&table, "%.0f", numbers[k]);
        bli_table_add(&table, "%s", mean);
    }
    bli_table_print(&table, "llrrrrrr", false, out);
    bli_table_fini(&table);
    free(order);
}

void bli_watch_print(const struct watch *before, const struct watch *now, const struct watch_history *history,
                     const struct watch_view *view, FILE *out) {
    if (now->fleets == 0)
        fputs("no upstream has ballast or ballast_station\n", out);
    for (size_t i = 0; i < now->fleets; i++) {
        const struct watch_fleet *f = &now->fleet[i];
        fputs(i ? "\n" : "", out);
        print_head(before, now, f, out);
        print_times(before, now, f, out);
        bli_watch_print_history(history, f, view, out);
        if (f->policy) {
            print_picture(f, view, out);
            print_servers(f, out);
        }
    }
}
