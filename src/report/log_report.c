/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints what was read from access logs, and how. */
#include "report/log_report.h"

#include "base/utf8.h"
#include "format/table.h"
#include "format/time_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { INDENT = 9 };

void bli_head_line(FILE *out, const char *name, const char *format, ...) {
    char text[1000], head[INDENT + 1];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    bli_utf8_tame(text, BLI_TABLE_JOIN);
    snprintf(head, sizeof head, "%-*s", INDENT, name);
    bli_table_wrap(head, text, INDENT, out);
}

static uint64_t skipped_lines(const struct bli_log_summary *summary) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < BLI_LOG_REASON_COUNT; i++)
        sum += summary->skipped[i];
    return sum;
}

/* As it stands in the file, without its middle where that does not fit into a line. */
static void print_example(const struct bli_log_example *example, FILE *out) {
    char place[BLI_LOG_NAME + 30];
    snprintf(place, sizeof place, "%s:%" PRIu64 ":", example->file, example->line);
    bli_utf8_tame(place, "");
    const size_t used = INDENT + bli_table_text_width(place) + 1, length = strlen(example->text);
    const size_t least = 40, room = used + least < BLI_TABLE_WIDTH ? BLI_TABLE_WIDTH - used : least;
    fprintf(out, "%*s%s ", INDENT, "", place);
    if (length <= room) {
        fprintf(out, "%s\n", example->text);
        return;
    }
    const size_t half = (room - strlen(" ... ")) / 2;
    fprintf(out, "%.*s ... %s\n", (int)half, example->text, example->text + length - half);
}

static void print_filtered(const struct bli_log_summary *summary, FILE *out) {
    if (summary->filtered > 0)
        bli_head_line(out, "left out", "%" PRIu64 " job%s by --from, --to, --path or --status",
                      summary->filtered, summary->filtered == 1 ? "" : "s");
}

static void print_skipped(const struct bli_log_summary *summary, FILE *out) {
    const uint64_t skipped = skipped_lines(summary);
    if (skipped == 0) {
        bli_head_line(out, "skipped", "no line");
        return;
    }
    char reasons[500] = "";
    size_t used = 0;
    for (unsigned i = 0; i < BLI_LOG_REASON_COUNT; i++)
        if (summary->skipped[i] > 0)
            used += (size_t)snprintf(reasons + used, sizeof reasons - used, "%s%" PRIu64 " (%s)",
                                     used ? ", " : "", summary->skipped[i], bli_log_reason_text[i]);
    bli_head_line(out, "skipped", "%" PRIu64 " line%s: %s", skipped, skipped == 1 ? "" : "s", reasons);
    for (size_t i = 0; i < summary->examples; i++)
        print_example(&summary->example[i], out);
}

static bool are_read_alike(const struct bli_log_file *a, const struct bli_log_file *b) {
    return a->spread == b->spread && strcmp(a->format, b->format) == 0 && strcmp(a->time, b->time) == 0 &&
           strcmp(a->service, b->service) == 0;
}

/* Files that are read in the same way are printed together, with the first of them; files without lines are
 * not printed. */
static bool is_first_read_so(const struct bli_log_summary *summary, size_t number) {
    size_t first = 0;
    while (!are_read_alike(&summary->file[first], &summary->file[number]))
        first++;
    return first == number && *summary->file[number].format;
}

/* " (a.log, b.log)" behind the format of several files; as many names as fit. */
static void list_files(const struct bli_log_summary *summary, size_t first, char *text, size_t size) {
    const size_t room = size - 40; /* for the number of the others */
    size_t used = 0, others = 0;
    *text = 0;
    for (size_t i = first; i < summary->files && summary->files > 1; i++) {
        if (!are_read_alike(&summary->file[i], &summary->file[first]))
            continue;
        const char *path = summary->file[i].path;
        if (others > 0 || used + strlen(path) + 2 > room)
            others++;
        else
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : " (", path);
    }
    if (others > 0)
        used += (size_t)snprintf(text + used, size - used, "%s%zu more", used ? " and " : " (", others);
    if (used > 0)
        snprintf(text + used, size - used, ")");
}

static void print_reading(const struct bli_log_summary *summary, size_t number, FILE *out) {
    const struct bli_log_file *file = &summary->file[number];
    char files[600];
    list_files(summary, number, files, sizeof files);
    bli_head_line(out, "format", "%s%s", file->format, files);
    bli_head_line(out, "time", "%s%s", file->time,
                  file->spread ? "; whole seconds: arrivals are spread at random within theirs" : "");
    bli_head_line(out, "service", "%s", file->service);
}

static void print_same(const struct bli_log_summary *summary, FILE *out) {
    for (size_t i = 0; i < summary->files; i++)
        if (summary->file[i].same > 0)
            bli_head_line(out, "twice", "%s has the same jobs as %s: they count twice", summary->file[i].path,
                          summary->file[summary->file[i].same - 1].path);
}

void bli_log_summary_text(const struct bli_log_summary *summary, const struct bli_trace_info *info,
                          FILE *out) {
    char span[BLI_TIME_TEXT], mean[BLI_TIME_TEXT], most[BLI_TIME_TEXT];
    bli_time_length(info->span, span);
    bli_time_length(info->size_mean, mean);
    bli_time_length(info->max_size, most);
    bli_head_line(out, "log", "%" PRIu64 " jobs in %s, mean service time %s, longest %s", info->jobs, span,
                  mean, most);
    for (size_t i = 0; i < summary->files; i++)
        if (is_first_read_so(summary, i))
            print_reading(summary, i, out);
    print_same(summary, out);
    if (summary->zeros > 0) {
        char size[BLI_TIME_TEXT];
        bli_time_length(summary->max_zero, size);
        bli_head_line(out, "", "%" PRIu64 " job%s of service time 0 %s taken as %s", summary->zeros,
                      summary->zeros == 1 ? "" : "s", summary->zeros == 1 ? "is" : "are", size);
    }
    print_filtered(summary, out);
    print_skipped(summary, out);
    if (summary->truncated)
        bli_head_line(out, "", "a compressed file ends too early: its end is missing");
    if (summary->backwards > 0)
        bli_head_line(out, "order",
                      "time goes back: %" PRIu64
                      " line%s over a second behind an earlier one; jobs are sorted",
                      summary->backwards, summary->backwards == 1 ? " is" : "s are");
}

static void add_files(struct json *json, const struct bli_log_summary *summary) {
    bli_json_open(json, "files", '[');
    for (size_t i = 0; i < summary->files; i++) {
        const struct bli_log_file *file = &summary->file[i];
        bli_json_open_line(json, NULL, '{');
        bli_json_text(json, "file", file->path);
        bli_json_count(json, "lines", file->lines);
        bli_json_count(json, "jobs", file->jobs);
        bli_json_text(json, "format", file->format);
        bli_json_text(json, "time", file->time);
        bli_json_text(json, "service", file->service);
        bli_json_bool(json, "spread", file->spread);
        if (bli_json_if(json, file->same > 0))
            bli_json_text(json, "same_as", file->same == 0 ? NULL : summary->file[file->same - 1].path);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
}

static void add_examples(struct json *json, const struct bli_log_summary *summary) {
    bli_json_open(json, "examples", '[');
    for (size_t i = 0; i < summary->examples; i++) {
        const struct bli_log_example *example = &summary->example[i];
        bli_json_open_line(json, NULL, '{');
        bli_json_text(json, "file", example->file);
        bli_json_count(json, "line", example->line);
        bli_json_text(json, "reason", bli_log_reason_text[example->reason]);
        bli_json_text(json, "text", example->text);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
}

void bli_log_summary_json(struct json *json, const char *key, const struct bli_log_summary *summary,
                          const struct bli_trace_info *info) {
    bli_json_open(json, key, '{');
    bli_json_count(json, "lines", summary->lines);
    bli_json_count(json, "bytes", summary->bytes);
    bli_json_count(json, "jobs", info->jobs);
    bli_json_count(json, "high", info->high);
    bli_json_number(json, "first", (double)info->first * 1e-9);
    bli_json_number(json, "span", info->span);
    bli_json_number(json, "work", info->work);
    bli_json_number(json, "size_mean", info->size_mean);
    bli_json_number(json, "max_size", info->max_size);
    add_files(json, summary);
    bli_json_count(json, "zeros", summary->zeros);
    bli_json_bool(json, "spread", summary->spread);
    bli_json_number(json, "resolution", summary->resolution);
    bli_json_bool(json, "truncated", summary->truncated);
    bli_json_count(json, "backwards", summary->backwards);
    bli_json_count(json, "unordered", info->unordered);
    bli_json_count(json, "left_out", summary->filtered);
    bli_json_open_map(json, "skipped", false);
    for (unsigned i = 0; i < BLI_LOG_REASON_COUNT; i++)
        if (summary->skipped[i] > 0 || bli_json_is_schema(json))
            bli_json_count(json, bli_log_reason_text[i], summary->skipped[i]);
    bli_json_close(json, '}');
    add_examples(json, summary);
    bli_json_close(json, '}');
}
