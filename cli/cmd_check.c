/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast check FILE...: are these experiments in order? */
#include "commands.h"

#include "ballast/experiment.h"

#include "format/text.h"

#include <stdlib.h>
#include <string.h>

struct args {
    bool schema, fields;
};

static const struct bal_option options[] = {
    {"schema", NULL, "print the JSON schema of experiment files, for editors",
     BAL_STORES_FLAG(struct args, schema)},
    {"fields", NULL, "print every field of experiment files, in Markdown",
     BAL_STORES_FLAG(struct args, fields)},
};

/* Trials at least; a precision may ask for more. */
static double count_trials(const struct bal_experiment *e) {
    double trials = 0;
    for (size_t point = 0; point < e->points; point++) {
        struct bal_case c;
        bal_experiment_case(e, point, 0, &c);
        trials += (double)c.replications * (double)e->policies;
    }
    return trials;
}

/* The messages already printed for a file, in one mode or another. */
struct reported {
    enum bal_mode mode;
    bool absences; /* of the message at hand */
    size_t count, capacity;
    char **text;
    bool no_memory;
};

static bool is_reported(const struct reported *reported, const char *mistake) {
    for (size_t i = 0; i < reported->count; i++)
        if (strcmp(reported->text[i], mistake) == 0)
            return true;
    return false;
}

/* Missing fields are printed after wrong ones: a mistake in what is written matters more to the reader. */
static bool is_absence(const char *mistake) {
    return strstr(mistake, "' is missing: ");
}

static void report_mistake(void *context, const char *mistake) {
    struct reported *reported = context;
    if (is_reported(reported, mistake))
        return;
    if (is_absence(mistake) && !reported->absences) /* later; lack of memory is always reported */
        return;
    if (reported->mode == BAL_MODE_PLAIN)
        cli_fail("%s", mistake);
    else
        cli_fail("%s (with --%s)", mistake, bal_mode_text(reported->mode));
    if (reported->count == reported->capacity) {
        const size_t capacity = reported->capacity ? 2 * reported->capacity : 16;
        char **text = realloc(reported->text, capacity * sizeof *text);
        if (!text) {
            reported->no_memory = true;
            return;
        }
        reported->text = text;
        reported->capacity = capacity;
    }
    reported->text[reported->count] = strdup(mistake);
    if (reported->text[reported->count])
        reported->count++;
    else
        reported->no_memory = true;
}

static void reported_fini(struct reported *reported) {
    for (size_t i = 0; i < reported->count; i++)
        free(reported->text[i]);
    free(reported->text);
}

/* In all three modes: each has its own points that figures and claims may miss. */
static int report_mistakes(const char *path) {
    struct reported reported = {.count = 0};
    size_t mistakes = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int mode = BAL_MODE_PLAIN; mode <= BAL_MODE_FULL; mode++) {
            reported.mode = (enum bal_mode)mode;
            reported.absences = pass == 1;
            mistakes += bal_experiment_errors(path, reported.mode, report_mistake, &reported);
        }
    const bool no_memory = reported.no_memory;
    reported_fini(&reported);
    return no_memory ? cli_no_memory() : mistakes ? CLI_BAD_INPUT : CLI_OK;
}

static int check_file(const char *path, FILE *out) {
    const int status = report_mistakes(path);
    if (status != CLI_OK)
        return status;
    bal_text_print(path, out);
    fputs(": in order;", out);
    for (int mode = BAL_MODE_PLAIN; mode <= BAL_MODE_FULL; mode++) {
        struct bal_experiment *e;
        struct bal_error err = {0};
        if (bal_experiment_read(path, (enum bal_mode)mode, &e, &err))
            return cli_fail("%s", err.text);
        fprintf(out, "%s%s %.0f trials", mode ? ", " : " ", bal_mode_text((enum bal_mode)mode),
                count_trials(e));
        bal_experiment_free(e);
    }
    fputc('\n', out);
    return CLI_OK;
}

static int check_files(char **path, int count, FILE *out) {
    int worst = CLI_OK;
    for (int i = 0; i < count; i++) {
        struct bal_strbuf line;
        if (!bal_strbuf_open(&line))
            return cli_no_memory();
        const int status = check_file(path[i], line.stream);
        if (status != CLI_OK)
            worst = status;
        else if (bal_strbuf_close(&line))
            fputs(line.text, out);
        else
            bal_stream_mark_incomplete(out);
        bal_strbuf_discard(&line);
    }
    return worst;
}

static int check_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {0};
    int operands;
    int status = cli_parse(command, argc, argv, &args, argc, &operands);
    if (status >= 0)
        return status;
    if (operands == 0 && !args.schema && !args.fields)
        return cli_fail("check: name the experiments: ballast check FILE.yaml...");
    struct cli_output output;
    status = cli_output_open(&output, NULL);
    if (status)
        return status;
    if (args.schema)
        bal_experiment_write_schema(output.stream);
    if (args.fields)
        bal_experiment_write_fields(output.stream);
    const int checked = check_files(argv + 1, operands, output.stream);
    status = cli_output_close(&output);
    return status ? status : checked;
}

const struct cli_command cmd_check = {
    .name = "check",
    .summary = "check experiment files without running them",
    .operands = "FILE.yaml...",
    .description =
        "Reads experiment files in all their modes and says all that is wrong with them, a line for "
        "each mistake: file,\n"
        "line, field and what would be right. Exit status 2 when something is.",
    .examples = "  ballast check examples/load.yaml\n"
                "  ballast check --schema > experiment.schema.json\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = check_main,
};
