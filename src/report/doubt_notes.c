/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks doubtful results in tables and prints the notes that explain the marks. */
#include "report/doubt_notes.h"

#include "format/table.h"

#include <math.h>
#include <string.h>

/* Several policies may need it: the longest run does for all. */
static void add_advice(struct doubt_notes *notes, const struct bli_case *c, const struct bli_result *result) {
    const struct bli_advice advice = bli_advise_length(c, result);
    const double jobs = advice.time * bli_model_arrival_rate(&c->model);
    if (jobs <= notes->jobs)
        return;
    notes->advice = advice;
    notes->jobs = jobs;
    notes->longer = advice.time / result->time;
}

/* As many labels as fit. */
static void add_label(char who[100], unsigned rows, const char *label) {
    const size_t length = strlen(who), room = 100 - sizeof ", ...";
    if (rows > 0 && length >= 3 && strcmp(who + length - 3, "...") == 0)
        return;
    const bool fits = rows == 0 || length + strlen(label) + 2 < room;
    snprintf(who + length, 100 - length, "%s%.90s", rows ? ", " : "", fits ? label : "...");
}

const char *bli_doubt_add(struct doubt_notes *notes, const char *label, const struct bli_case *c,
                          const struct bli_result *result) {
    const bool undecided = result->replications > 0 && result->verdict == BLI_UNDECIDED;
    notes->undecided = notes->undecided || undecided;
    for (unsigned i = 0; i < BLI_DOUBTS; i++)
        if (result->doubts & 1u << i)
            add_label(notes->doubt[i].who, notes->doubt[i].rows++, label);
    if (result->doubts & BLI_DOUBT_SETTLING)
        add_advice(notes, c, result);
    return undecided ? result->doubts ? " ?!" : " ?" : result->doubts ? " !" : "";
}

const char *bli_doubt_add_rare(struct doubt_notes *notes, const struct bli_case *c,
                               const struct bli_result *result, double quantile) {
    const double spells = bli_result_spells(c, result, quantile);
    if (!(spells < BLI_SPELLS_MIN))
        return "";
    const double jobs = result->time * bli_model_arrival_rate(&c->model) * BLI_SPELLS_MIN / spells;
    notes->rare_jobs = fmax(notes->rare_jobs, jobs);
    return " !";
}

bool bli_doubt_any(const struct doubt_notes *notes) {
    bool any = notes->undecided || notes->rare_jobs > 0;
    for (unsigned i = 0; i < BLI_DOUBTS; i++)
        any = any || notes->doubt[i].rows > 0;
    return any;
}

/* Two digits are enough, and can be typed. */
static void print_count(double count, char text[32]) {
    static const struct {
        double size;
        const char *letter;
    } units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
    const double digit = pow(10, floor(log10(count)) - 1), rounded = ceil(count / digit - 1e-9) * digit;
    unsigned i = 0;
    while (i < 3 && rounded < units[i].size)
        i++;
    snprintf(text, 32, "%.3g%s", rounded / units[i].size, units[i].letter);
}

static void print_remedy(const struct doubt_notes *notes, enum doubt_remedy remedy, char *text, size_t size) {
    static const double most = 1e11; /* jobs: more than a day, at some ten million of them a second */
    char jobs[32], warmup[40] = "", longer[40] = "";
    const bool option = remedy == BLI_REMEDY_OPTION;
    if (notes->jobs > most) {
        snprintf(text, size, "no run of a practical length would do: it would take about %.1g jobs",
                 notes->jobs);
        return;
    }
    print_count(notes->jobs, jobs);
    if (!isnan(notes->advice.warmup))
        snprintf(warmup, sizeof warmup, option ? " --warmup %g" : " and warmup: %g", notes->advice.warmup);
    if (notes->longer < 1e4)
        snprintf(longer, sizeof longer, ", %.*f times as long,", notes->longer < 9.95, notes->longer);
    if (remedy == BLI_REMEDY_NONE)
        snprintf(text, size, "longer runs would help");
    else
        snprintf(text, size, "%s%s%s%s %s", option ? "--jobs " : "jobs: ", jobs, warmup, longer,
                 notes->advice.known ? "would do" : "would help");
}

static void print_line(const char *who, const char *what, const char *help, FILE *out) {
    char line[400];
    snprintf(line, sizeof line, "%s: %s%s%s", who, what, *help ? "; " : "", help);
    bli_table_wrap("!:", line, 3, out);
}

/* Percentiles by which a run has seen too little. */
static void print_rare(const struct doubt_notes *notes, enum doubt_remedy remedy, FILE *out) {
    char jobs[32], help[80] = "longer runs help";
    if (!(notes->rare_jobs > 0))
        return;
    print_count(notes->rare_jobs, jobs);
    if (remedy != BLI_REMEDY_NONE && notes->rare_jobs < 1e11)
        snprintf(help, sizeof help, "%s%s would do",
                 remedy == BLI_REMEDY_OPTION ? "--jobs " : "jobs: ", jobs);
    print_line("percentiles",
               "some rest on fewer than ten spells of long queues in a run, so that their \u00b1 "
               "is too short",
               help, out);
}

void bli_doubt_print(const struct doubt_notes *notes, enum doubt_remedy remedy, FILE *out) {
    static const char *const what[BLI_DOUBTS] = {
        "still settling while it was measured, or perhaps so: the mean may be off by more than chance",
        "theory that is exact, or close for so many servers, lies far outside the interval",
        "job sizes have no third moment, so that the mean has no finite variance and \u00b1 is too short",
        "fewer than 100 jobs were measured in a replication",
        "queues grew until the jobs ended, so that times depend on how long they came",
        "the whole interval lies below what no policy can beat",
        "the wanted precision was not reached",
    };
    for (unsigned i = 0; i < BLI_DOUBTS; i++) {
        char help[160] = "";
        if (1u << i == BLI_DOUBT_SETTLING && notes->doubt[i].rows)
            print_remedy(notes, remedy, help, sizeof help);
        if (notes->doubt[i].rows)
            print_line(notes->doubt[i].who, what[i], help, out);
    }
    print_rare(notes, remedy, out);
    if (notes->undecided)
        fprintf(out, "?: stable or not could not be decided; a longer run%s tells.\n",
                remedy == BLI_REMEDY_OPTION ? " (--jobs)" : "");
}

void bli_doubt_words(unsigned doubts, char text[BLI_DOUBT_WORDS]) {
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < BLI_DOUBTS; i++)
        if (doubts & 1u << i)
            used += (size_t)snprintf(text + used, BLI_DOUBT_WORDS - used, "%s%s", used ? " " : "",
                                     bli_doubt_text((enum bli_doubt)(1u << i)));
}

void bli_doubt_json(struct json *json, unsigned doubts) {
    bli_json_open_line(json, "doubts", '[');
    for (unsigned i = 0; i < BLI_DOUBTS; i++)
        if (doubts & 1u << i)
            bli_json_text(json, NULL, bli_doubt_text((enum bli_doubt)(1u << i)));
    bli_json_close(json, ']');
}
