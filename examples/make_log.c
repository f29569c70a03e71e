/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes an access log of a shop that does not exist, and whose truth is therefore known: arrivals,
 * Poisson unless told otherwise, with a curve over the day that has two peaks, endpoints with sizes of
 * different laws, and what real logs have besides: requests that took 0.000 seconds, tries at several
 * servers, lines that are broken.
 *
 *     make_log --format=nginx --lines=500000 --hours=24 --servers=40 --load=0.6 --truth >access.log
 *
 * Lines stand in the order in which requests end, as every server writes them; sizes are exact in the csv
 * format and rounded to what the others can say. Requests do not wait: a size is what the service takes. With
 * --queue they do: servers take them in turn, one at a time each, nginx logs which one ($upstream_addr), and
 * what is logged is all the time that was spent there.
 *
 * A tool of this tree: it draws from laws whose headers are not installed. */
#define _POSIX_C_SOURCE 200809L

#include "ballast/arrivals.h"
#include "ballast/curve.h"
#include "ballast/dist.h"
#include "ballast/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NANOSECONDS INT64_C(1000000000)
#define HOUR (3600 * NANOSECONDS)
#define MIDNIGHT (INT64_C(1794787200) * NANOSECONDS) /* Monday, 16 November 2026, UTC */

enum { ENDPOINTS = 5, PURPOSE_PATHS = BAL_STREAM_TEST, PURPOSE_FAULTS };

struct endpoint {
    const char *path;
    double share;     /* of the requests */
    const char *text; /* the law, in seconds */
    struct bli_dist dist;
};

static struct endpoint shop[ENDPOINTS] = {
    {.path = "/static/app.css", .share = 0.45, .text = "lognormal(2,0.002)"},
    {.path = "/product", .share = 0.25, .text = "lognormal(1,0.025)"},
    {.path = "/search", .share = 0.20, .text = "lognormal(3,0.060)"},
    {.path = "/checkout", .share = 0.08, .text = "lognormal(1,0.120)"},
    {.path = "/report", .share = 0.02, .text = "bounded-pareto(1.5,0.2,30)"},
};

struct wish {
    const char *format;
    uint64_t lines, seed;
    double servers, load;
    double hours;     /* 0: as long as it takes with the sizes above; else these are scaled */
    const char *size; /* NULL: the shop; else one endpoint, "/", of this law */
    double faults;    /* share of the lines that have one */
    const char *arrivals;
    int flat;  /* no curve */
    int queue; /* requests wait for servers */
    int truth;
};

struct request {
    int64_t arrival, size; /* nanoseconds; the time at the server, with what was waited there */
    const char *path;
    uint32_t number;
    int server; /* -1: not logged */
};

/* Requests that have not ended yet: a heap, the first to end on top. */
struct heap {
    struct request *slot;
    size_t count, room;
};

static void fail(const char *what, const char *value) {
    fprintf(stderr, "make_log: %s '%s'\n", what, value);
    exit(2);
}

static int64_t end_of(const struct request *request) {
    return request->arrival + request->size;
}

static void push(struct heap *heap, const struct request *request) {
    if (heap->count == heap->room) {
        heap->room = heap->room ? 2 * heap->room : 1024;
        heap->slot = realloc(heap->slot, heap->room * sizeof *heap->slot);
        if (!heap->slot)
            fail("not enough memory", "heap");
    }
    size_t at = heap->count++;
    for (; at > 0 && end_of(&heap->slot[(at - 1) / 2]) > end_of(request); at = (at - 1) / 2)
        heap->slot[at] = heap->slot[(at - 1) / 2];
    heap->slot[at] = *request;
}

static struct request pop(struct heap *heap) {
    const struct request top = heap->slot[0], moved = heap->slot[--heap->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && end_of(&heap->slot[child + 1]) < end_of(&heap->slot[child]))
            child++;
        if (end_of(&moved) <= end_of(&heap->slot[child]))
            break;
        heap->slot[at] = heap->slot[child];
    }
    heap->slot[at] = moved;
    return top;
}

/* The rate over the hours of a day as a multiple of its mean: busiest at 11 and at 19 o'clock. */
static const char day[] = "table(0:0.6 3:0.3 6:0.3 9:1.3 11:1.6 14:1 17:1.3 19:1.7 21:1.4 24:0.6)";

static void print_date(char text[40], int64_t time, const char *format) {
    const time_t seconds = (time_t)(time / NANOSECONDS);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(text, 40, format, &tm);
}

/* Rounded to a multiple of unit nanoseconds, in these. */
static int64_t in_units(int64_t nanoseconds, int64_t unit) {
    return (nanoseconds + unit / 2) / unit;
}

static double in_seconds(int64_t nanoseconds, int64_t unit) {
    return (double)in_units(nanoseconds, unit) * (double)unit / (double)NANOSECONDS;
}

enum fault { NONE, BROKEN, ABORTED, RETRIED };

static void print_nginx(const struct request *r, enum fault fault) {
    const int64_t ms = 1000000, took = r->size + ms * (1 + r->number % 4); /* and the way to the client */
    char date[40];
    print_date(date, r->arrival + took, "%d/%b/%Y:%H:%M:%S +0000");
    printf("10.%u.%u.%u - - [%s] \"GET %s?id=%u HTTP/1.1\" %d %u \"-\" \"Mozilla/5.0 (X11; Linux x86_64) "
           "Shop/1.%u\"",
           r->number >> 16 & 255, r->number >> 8 & 255, r->number & 255, date, r->path, r->number % 9973,
           fault == ABORTED ? 499 : 200, 400 + r->number % 50000, r->number % 7);
    if (fault == ABORTED)
        printf(" 0.000 -");
    else if (fault == RETRIED)
        printf(" %.3f %.3f, %.3f", in_seconds(took, ms), in_seconds(r->size / 4, ms),
               in_seconds(r->size - r->size / 4, ms));
    else
        printf(" %.3f %.3f", in_seconds(took, ms), in_seconds(r->size, ms));
    if (r->server < 0)
        putchar('\n');
    else if (fault == ABORTED)
        printf(" -\n");
    else
        printf("%s 10.9.%d.%d:8080\n", fault == RETRIED ? " 10.9.255.1:8080," : "", r->server >> 8,
               r->server & 255);
}

static void print_apache(const struct request *r, enum fault fault) {
    char date[40];
    print_date(date, r->arrival, "%d/%b/%Y:%H:%M:%S +0000");
    printf("10.%u.%u.%u - - [%s] \"GET %s?id=%u HTTP/1.1\" %d %u \"-\" \"Mozilla/5.0 \\\"Shop\\\"\" %" PRId64
           "\n",
           r->number >> 16 & 255, r->number >> 8 & 255, r->number & 255, date, r->path, r->number % 9973,
           fault == ABORTED ? 408 : 200, 400 + r->number % 50000,
           fault == ABORTED ? 0 : in_units(r->size, 1000));
}

static void print_haproxy(const struct request *r, enum fault fault) {
    const int64_t ms = 1000000, answer = in_units(r->size, ms);
    char date[40], header[40];
    print_date(date, r->arrival, "%d/%b/%Y:%H:%M:%S");
    print_date(header, end_of(r), "%b %e %H:%M:%S");
    printf("%s lb haproxy[1234]: 10.%u.%u.%u:%u [%s.%03d] http-in shop/web%u 0/0/1/", header,
           r->number >> 16 & 255, r->number >> 8 & 255, r->number & 255, 1024 + r->number % 60000, date,
           (int)(r->arrival % NANOSECONDS / ms), r->server < 0 ? r->number % 40 : (unsigned)r->server);
    if (fault == ABORTED)
        printf("-1/%" PRId64 " 503 0 - - CD-- ", answer + 2);
    else
        printf("%" PRId64 "/%" PRId64 " 200 %u - - ---- ", answer, answer + 2, 400 + r->number % 50000);
    printf("9/9/4/2/0 0/0 \"GET %s?id=%u HTTP/1.1\"\n", r->path, r->number % 9973);
}

static void print_json(const struct request *r, enum fault fault) {
    const int64_t us = 1000, end = r->arrival / us + in_units(r->size, us);
    char date[40];
    print_date(date, end * us, "%Y-%m-%dT%H:%M:%S");
    printf("{\"time\":\"%s.%06" PRId64 "Z\",\"client\":{\"ip\":\"10.0.%u.%u\",\"tags\":[\"web\",\"a\\\"b\"]},"
           "\"request\":\"GET %s?id=%u HTTP/1.1\",\"status\":%d,",
           date, end % (NANOSECONDS / us), r->number >> 8 & 255, r->number & 255, r->path, r->number % 9973,
           fault == ABORTED ? 499 : 200);
    if (fault == ABORTED)
        printf("\"duration_ms\":null}\n");
    else
        printf("\"duration_ms\":%.3f}\n", (double)in_units(r->size, us) / 1000);
}

static void print_csv(const struct request *r, enum fault fault) {
    printf("%" PRId64 ".%09" PRId64 ",", r->arrival / NANOSECONDS, r->arrival % NANOSECONDS);
    if (fault == ABORTED)
        printf("-,\"%s\"\n", r->path);
    else
        printf("%" PRId64 ".%09" PRId64 ",\"%s\"\n", r->size / NANOSECONDS, r->size % NANOSECONDS, r->path);
}

static const struct {
    const char *name;
    void (*print)(const struct request *request, enum fault fault);
} formats[] = {{"nginx", print_nginx},
               {"apache", print_apache},
               {"haproxy", print_haproxy},
               {"json", print_json},
               {"csv", print_csv}};

enum { FORMATS = sizeof formats / sizeof *formats };

static void print_line(unsigned format, const struct request *request, double faults, struct bal_rng *rng) {
    enum fault fault = NONE;
    if (faults > 0 && bal_rng_uniform(rng) < faults)
        fault = BROKEN + bal_rng_below(rng, 3);
    if (fault == BROKEN)
        printf("2026/11/16 [error] worker %u exited\n", request->number);
    else
        formats[format].print(request, fault);
}

static double number(const char *text, const char *whole) {
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < 0)
        fail("not a number:", whole);
    return value;
}

static struct wish read_arguments(int argc, char **argv) {
    struct wish wish = {.format = "nginx",
                        .lines = 1000,
                        .seed = 1,
                        .servers = 10,
                        .load = 0.7,
                        .faults = 0.001,
                        .arrivals = "poisson"};
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        const size_t length = value ? (size_t)(value++ - argv[i]) : strlen(argv[i]);
        const char *const names[] = {"--format", "--lines",  "--seed",     "--servers", "--load",  "--hours",
                                     "--size",   "--faults", "--arrivals", "--flat",    "--queue", "--truth"};
        enum { NAMES = sizeof names / sizeof *names, WITH_VALUE = 9 };
        unsigned k = 0;
        while (k < NAMES && (strlen(names[k]) != length || strncmp(argv[i], names[k], length) != 0))
            k++;
        if (k == NAMES || (value != NULL) != (k < WITH_VALUE))
            fail("options are --format= --lines= --seed= --servers= --load= --hours= --size= --faults= "
                 "--arrivals= --flat --queue --truth, not",
                 argv[i]);
        switch (k) {
        case 0:
            wish.format = value;
            break;
        case 1:
            wish.lines = (uint64_t)number(value, argv[i]);
            break;
        case 2:
            wish.seed = (uint64_t)number(value, argv[i]);
            break;
        case 3:
            wish.servers = number(value, argv[i]);
            break;
        case 4:
            wish.load = number(value, argv[i]);
            break;
        case 5:
            wish.hours = number(value, argv[i]);
            break;
        case 6:
            wish.size = value;
            break;
        case 7:
            wish.faults = number(value, argv[i]);
            break;
        case 8:
            wish.arrivals = value;
            break;
        case 9:
            wish.flat = 1;
            break;
        case 10:
            wish.queue = 1;
            break;
        default:
            wish.truth = 1;
        }
    }
    return wish;
}

/* Parses the laws and scales them when the length of the log is given; returns the mean size. */
static double prepare(const struct wish *wish) {
    if (wish->size) {
        shop[0] = (struct endpoint){.path = "/", .share = 1, .text = wish->size};
        for (int i = 1; i < ENDPOINTS; i++)
            shop[i].share = 0;
    }
    double mean = 0;
    for (int i = 0; i < ENDPOINTS; i++) {
        struct bal_error err;
        if (bli_dist_parse(shop[i].text, &shop[i].dist, &err))
            fail(err.text, shop[i].text);
        mean += shop[i].share > 0 ? shop[i].share * shop[i].dist.mean : 0;
    }
    if (!(mean > 0) || !isfinite(mean) || !(wish->servers * wish->load > 0) || wish->lines == 0)
        fail("servers, load, lines and the mean size are all above 0, not", wish->size ? wish->size : "0");
    if (wish->hours == 0)
        return mean;
    const double wanted = wish->servers * wish->load * wish->hours * 3600 / (double)wish->lines;
    for (int i = 0; i < ENDPOINTS; i++)
        bli_dist_scale(&shop[i].dist, wanted / mean);
    return wanted;
}

static void print_truth(const struct wish *wish, double mean) {
    const double rate = wish->servers * wish->load / mean;
    fprintf(stderr, "%g requests a second%s, mean size %g s: load %g on %g servers\n", rate,
            wish->flat ? "" : " on average over a day", mean, wish->load, wish->servers);
    if (!wish->flat)
        fprintf(stderr, "over the hours of a day: %s\n", day);
    for (int i = 0; i < ENDPOINTS; i++)
        if (shop[i].share > 0)
            fprintf(stderr, "%-16s %4.0f %%  %-28s mean %g s, squared coefficient of variation %.4g\n",
                    shop[i].path, 100 * shop[i].share, shop[i].text, shop[i].dist.mean,
                    bli_dist_moment(&shop[i].dist, 2) / (shop[i].dist.mean * shop[i].dist.mean) - 1);
}

static const struct endpoint *draw_endpoint(struct bal_rng *rng) {
    double draw = bal_rng_uniform(rng);
    int i = 0;
    while (i + 1 < ENDPOINTS && (draw -= shop[i].share) >= 0)
        i++;
    return &shop[i];
}

/* Servers that take requests in turn: when each of them is free again. */
struct fleet {
    int servers, next; /* servers 0: nobody waits */
    int64_t *free_at;
};

static void open_fleet(const struct wish *wish, struct fleet *fleet) {
    *fleet = (struct fleet){0};
    if (!wish->queue)
        return;
    if (wish->servers > 65000 || wish->servers != (int)wish->servers)
        fail("--queue needs a whole number of servers up to 65000, not", "--servers");
    fleet->servers = (int)wish->servers;
    fleet->free_at = calloc((size_t)fleet->servers, sizeof *fleet->free_at);
    if (!fleet->free_at)
        fail("not enough memory", "servers");
}

/* Lets the request wait for its server. */
static void serve(struct fleet *fleet, struct request *request) {
    request->server = -1;
    if (fleet->servers == 0)
        return;
    int64_t *free_at = &fleet->free_at[request->server = fleet->next++ % fleet->servers];
    *free_at = (*free_at > request->arrival ? *free_at : request->arrival) + request->size;
    request->size = *free_at - request->arrival;
}

static void print_log(const struct wish *wish, unsigned format, double mean) {
    struct bli_curve curve;
    struct bal_error err;
    if (bli_curve_parse(wish->flat ? "constant" : day, &curve, &err))
        fail(err.text, day);
    struct bli_arrivals how;
    struct bli_arrival_source arrivals;
    struct bal_rng stream, sizes, paths, faults;
    bal_rng_init(&sizes, wish->seed, 0, BAL_STREAM_SIZES);
    bal_rng_init(&paths, wish->seed, 0, PURPOSE_PATHS);
    bal_rng_init(&faults, wish->seed, 0, PURPOSE_FAULTS);
    const double most = bli_curve_max(&curve), gap = mean / (most * wish->servers * wish->load);
    if (bli_arrivals_parse(wish->arrivals, &how, &err))
        fail(err.text, wish->arrivals);
    bal_rng_init(&stream, wish->seed, 0, BAL_STREAM_ARRIVALS);
    bli_arrival_source_init(&arrivals, &how, gap, &stream);
    struct heap heap = {0};
    struct fleet fleet;
    open_fleet(wish, &fleet);
    double seconds = 0;
    int real = 1;
    for (uint64_t i = 0; i < wish->lines;) {
        seconds = bli_arrival_source_next(&arrivals, seconds);
        const int64_t since = (int64_t)(seconds * (double)NANOSECONDS);
        const double hour = (double)(since % (24 * HOUR)) / (double)HOUR;
        if (arrivals.first) /* thinning: at the largest rate, some stay, and batches as a whole */
            real = bal_rng_uniform(&arrivals.rng) * most < bli_curve_at(&curve, hour);
        if (!real)
            continue;
        const struct endpoint *endpoint = draw_endpoint(&paths);
        const double size = bli_dist_sample(&endpoint->dist, &sizes) * (double)NANOSECONDS;
        struct request request = {.arrival = MIDNIGHT + since,
                                  .size = size < 1 ? 1 : (int64_t)size,
                                  .path = endpoint->path,
                                  .number = (uint32_t)i++ * 2654435761u};
        serve(&fleet, &request);
        while (heap.count > 0 && end_of(&heap.slot[0]) <= request.arrival) {
            const struct request ended = pop(&heap);
            print_line(format, &ended, wish->faults, &faults);
        }
        push(&heap, &request);
    }
    while (heap.count > 0) {
        const struct request ended = pop(&heap);
        print_line(format, &ended, wish->faults, &faults);
    }
    free(heap.slot);
    free(fleet.free_at);
}

int main(int argc, char **argv) {
    const struct wish wish = read_arguments(argc, argv);
    unsigned format = 0;
    while (format < FORMATS && strcmp(wish.format, formats[format].name) != 0)
        format++;
    if (format == FORMATS)
        fail("the formats are nginx, apache, haproxy, json and csv, not", wish.format);
    const double mean = prepare(&wish);
    if (wish.truth)
        print_truth(&wish, mean);
    if (strcmp(wish.format, "csv") == 0)
        printf("arrival,duration_s,path\n");
    print_log(&wish, format, mean);
    if (fflush(stdout) || ferror(stdout))
        fail("cannot write", "standard output");
    return 0;
}
