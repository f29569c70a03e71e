/* SPDX-License-Identifier: BSD-2-Clause */
/* How many lines of a log are read in a second of processor time, from the file to the sorted trace, for each
 * format; the middle of several rounds. The log is in memory when it is read. Between the rounds its lines
 * are counted, and nothing else done with them: what share of that speed is reached says more on a machine
 * that is shared. */
#include "bare.h"
#include "skim.h"
#include "temporary.h"

#include "ballast/log.h"
#include "ballast/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum { ROUNDS = 5, LINES = 400000 };

#define WANTED 3e6 /* lines of nginx a second */

struct row {
    const char *what;
    const char *head;
    void (*print)(FILE *out, double end, double took, unsigned i);
    const char *high; /* NULL: no classes */
    int packed;
    const char *format; /* NULL: found from the lines */
};

static void die(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static const char agent[] = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/* Seconds of a day as a date without its fraction. */
static void print_date(char text[32], double seconds) {
    const unsigned s = (unsigned)seconds % 86400;
    snprintf(text, 32, "16/Nov/2026:%02u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
}

static void print_request(FILE *out, double end, unsigned i) {
    char date[32];
    print_date(date, end);
    fprintf(out,
            "10.0.%u.%u - - [%s +0000] \"GET /shop/item/%u?ref=mail HTTP/1.1\" 200 %u "
            "\"https://shop.example/list\""
            " \"%s\"",
            i >> 8 & 255, i & 255, date, i % 9973, 300 + i % 20000, agent);
}

static void print_nginx(FILE *out, double end, double took, unsigned i) {
    print_request(out, end, i);
    fprintf(out, " %.3f %.3f\n", took + 0.001, took);
}

static void print_apache(FILE *out, double end, double took, unsigned i) {
    print_request(out, end - took, i);
    fprintf(out, " %.0f\n", took * 1e6);
}

static void print_haproxy(FILE *out, double end, double took, unsigned i) {
    char date[32];
    print_date(date, end - took);
    fprintf(out,
            "Nov 16 10:11:12 lb1 haproxy[1234]: 10.0.%u.%u:%u [%s.%03u] http-in shop/web%u 0/0/1/%.0f/%.0f "
            "200 %u - -"
            " ---- 9/9/4/2/0 0/0 \"GET /shop/item/%u?ref=mail HTTP/1.1\"\n",
            i >> 8 & 255, i & 255, 1024 + i % 60000, date, i % 1000, i % 40, took * 1e3, took * 1e3 + 2,
            300 + i % 20000, i % 9973);
}

static void print_json(FILE *out, double end, double took, unsigned i) {
    fprintf(out,
            "{\"time\":%.3f,\"remote_addr\":\"10.0.%u.%u\",\"headers\":{\"agent\":\"%s\",\"accept\":[\"a\","
            "\"b\"]},"
            "\"request\":\"GET /shop/item/%u?ref=mail "
            "HTTP/1.1\",\"status\":200,\"bytes\":%u,\"request_time\":%.3f,"
            "\"upstream_response_time\":\"%.3f\"}\n",
            1794787200 + end, i >> 8 & 255, i & 255, agent, i % 9973, 300 + i % 20000, took + 0.001, took);
}

static void print_csv(FILE *out, double end, double took, unsigned i) {
    fprintf(out, "%.6f,10.0.%u.%u,\"/shop/item/%u\",200,%.6f\n", 1794787200 + end - took, i >> 8 & 255,
            i & 255, i % 9973, took);
}

static const struct row rows[] = {
    {"nginx, combined and two times", "", print_nginx, NULL, 0, NULL},
    {"nginx, with a pattern of classes", "", print_nginx, "^/shop/item/[0-9]*7$", 0, NULL},
    {"nginx, compressed", "", print_nginx, NULL, 1, NULL},
    {"apache, combined and %D", "", print_apache, NULL, 0, "apache"},
    {"haproxy", "", print_haproxy, NULL, 0, NULL},
    {"json lines", "", print_json, NULL, 0, NULL},
    {"csv", "arrival,client,path,status,duration_s\n", print_csv, NULL, 0, NULL},
};

static void write_gzip(FILE *from, const char *path) {
    gzFile to = gzopen(path, "wb6");
    char block[65536];
    size_t count;
    rewind(from);
    while (to && (count = fread(block, 1, sizeof block, from)) > 0)
        if (gzwrite(to, block, (unsigned)count) != (int)count)
            die("the log cannot be compressed");
    if (!to || gzclose(to) != Z_OK)
        die("the log cannot be compressed");
}

/* Writes the log; returns its bytes. */
static double write_log(const struct row *row, const char *path) {
    FILE *out = row->packed ? tmpfile() : fopen(path, "wb");
    if (!out)
        die("no temporary file");
    fputs(row->head, out);
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    double end = 0;
    for (unsigned i = 0; i < LINES; i++) {
        end += 0.005 * bal_rng_exp(&rng);
        row->print(out, end, 0.001 + 0.05 * bal_rng_exp(&rng), i);
    }
    const double bytes = (double)ftell(out);
    if (row->packed)
        write_gzip(out, path);
    if (ferror(out) || fclose(out))
        die("the log cannot be written");
    return bytes;
}

static enum bal_code add_job(void *trace, const struct bli_log_record *record, struct bal_error *err) {
    return bli_trace_add(trace, &record->job, err);
}

static double reading_speed(const struct row *row, const char *path) {
    struct bli_log_options options = {.format = row->format, .high_pattern = row->high, .take = add_job};
    struct bli_trace *trace;
    struct bli_log_summary summary;
    struct bal_error err;
    const double start = processor_time();
    if (bli_trace_new(NULL, &trace, &err))
        die(err.text);
    options.take_context = trace;
    if (bli_log_read(&path, 1, &options, &summary, &err) || bli_trace_finish(trace, NULL, &err))
        die(err.text);
    const double seconds = processor_time() - start;
    if (summary.jobs != LINES)
        die("not every line gives a job");
    bli_log_summary_fini(&summary);
    bli_trace_free(trace);
    return LINES / seconds;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values) {
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

static void measure_format(const struct row *row, const char *path) {
    const double bytes = write_log(row, path);
    double lines[ROUNDS], ratio[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double counted;
        const double seconds = scan_lines(path, &counted);
        if (seconds < 0)
            die("the log cannot be read");
        lines[i] = reading_speed(row, path);
        ratio[i] = lines[i] * seconds / LINES;
    }
    const double middle = median_of(lines);
    printf("%-34s %6.2f M lines/s %6.0f MB/s", row->what, middle / 1e6, middle * bytes / LINES / 1e6);
    if (!row->packed)
        printf("  %.3f of counting lines", median_of(ratio));
    if (row->print == print_nginx && !row->packed && !row->high)
        printf("  (wanted %.0f M: %s)", WANTED / 1e6, middle >= WANTED ? "met" : "not met");
    putchar('\n');
    fflush(stdout);
}

int main(void) {
    char *path = temporary_file();
    if (!path)
        die("no temporary file");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure_format(&rows[i], path);
    unlink(path);
    free(path);
    return 0;
}
