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

static const struct bli_option options[] = {
    {"schema", NULL, "print the JSON schema of experiment files, for editors",
     BLI_STORES_FLAG(struct args, schema)},
    {"fields", NULL, "print every field of experiment files, in Markdown",
     BLI_STORES_FLAG(struct args, fields)},
};

/* Trials at least; a precision may ask for more. */
static double count_trials(const struct bli_experiment *e) {
    double trials = 0;
    for (size_t point = 0; point < e->points; point++) {
        struct bli_case c;
        bli_experiment_case(e, point, 0, &c);
        trials += (double)c.replications * (double)e->policies;
    }
    return trials;
}

/* The mistakes of a file, each once, with the first mode that has it. */
struct mistakes {
    enum bli_mode mode; /* that is being read */
    size_t count, capacity;
    struct found_mistake {
        enum bli_mode mode;
        char *text;
    } * mistake;
    bool no_memory;
};

static bool is_known(const struct mistakes *mistakes, const char *text) {
    for (size_t i = 0; i < mistakes->count; i++)
        if (strcmp(mistakes->mistake[i].text, text) == 0)
            return true;
    return false;
}

static void add_mistake(void *context, const char *text) {
    struct mistakes *mistakes = context;
    if (is_known(mistakes, text))
        return;
    if (mistakes->count == mistakes->capacity) {
        const size_t capacity = mistakes->capacity ? 2 * mistakes->capacity : 16;
        struct found_mistake *more = realloc(mistakes->mistake, capacity * sizeof *more);
        if (!more) {
            mistakes->no_memory = true;
            return;
        }
        mistakes->mistake = more;
        mistakes->capacity = capacity;
    }
    char *copy = strdup(text);
    if (copy)
        mistakes->mistake[mistakes->count++] = (struct found_mistake){mistakes->mode, copy};
    else
        mistakes->no_memory = true;
}

/* Missing fields are printed after wrong ones: a mistake in what is written matters more to the reader. */
static bool is_absence(const char *mistake) {
    return strstr(mistake, "' is missing: ");
}

static void print_mistakes(const struct mistakes *mistakes, bool absences) {
    for (size_t i = 0; i < mistakes->count; i++) {
        const struct found_mistake *mistake = &mistakes->mistake[i];
        if (is_absence(mistake->text) != absences)
            continue;
        if (mistake->mode == BLI_MODE_PLAIN)
            cli_fail("%s", mistake->text);
        else
            cli_fail("%s (with --%s)", mistake->text, bli_mode_text(mistake->mode));
    }
}

static void mistakes_fini(struct mistakes *mistakes) {
    for (size_t i = 0; i < mistakes->count; i++)
        free(mistakes->mistake[i].text);
    free(mistakes->mistake);
}

/* In all three modes: each has its own points that figures and claims may miss. */
static int report_mistakes(const char *path) {
    struct mistakes mistakes = {.count = 0};
    for (int mode = BLI_MODE_PLAIN; mode <= BLI_MODE_FULL; mode++) {
        mistakes.mode = (enum bli_mode)mode;
        bli_experiment_errors(path, mistakes.mode, add_mistake, &mistakes);
    }
    print_mistakes(&mistakes, false);
    print_mistakes(&mistakes, true);
    const int status = mistakes.no_memory ? cli_no_memory() : mistakes.count > 0 ? CLI_BAD_INPUT : CLI_OK;
    mistakes_fini(&mistakes);
    return status;
}

static int check_file(const char *path, FILE *out) {
    const int status = report_mistakes(path);
    if (status != CLI_OK)
        return status;
    bli_text_print(path, out);
    fputs(": in order;", out);
    for (int mode = BLI_MODE_PLAIN; mode <= BLI_MODE_FULL; mode++) {
        struct bli_experiment *e;
        struct bal_error err = {0};
        if (bli_experiment_read(path, (enum bli_mode)mode, &e, &err))
            return cli_fail("%s", err.text);
        fprintf(out, "%s%s %.0f trials", mode ? ", " : " ", bli_mode_text((enum bli_mode)mode),
                count_trials(e));
        bli_experiment_free(e);
    }
    fputc('\n', out);
    return CLI_OK;
}

static int check_files(char **path, int count, FILE *out) {
    int worst = CLI_OK;
    for (int i = 0; i < count; i++) {
        struct bli_strbuf line;
        if (!bli_strbuf_open(&line))
            return cli_no_memory();
        const int status = check_file(path[i], line.stream);
        if (status != CLI_OK)
            worst = status;
        else if (bli_strbuf_close(&line))
            fputs(line.text, out);
        else
            bli_stream_mark_incomplete(out);
        bli_strbuf_discard(&line);
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
        bli_experiment_write_schema(output.stream);
    if (args.fields)
        bli_experiment_write_fields(output.stream);
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
