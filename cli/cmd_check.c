/* ballast check FILE...: are these experiments in order? */
#include "commands.h"

#include "ballast/experiment.h"

#include "format/text.h"

#include <stdlib.h>
#include <string.h>

struct request {
    bool schema, fields;
};

static enum bal_code set_schema(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct request *)into)->schema = true;
    return BAL_OK;
}

static enum bal_code set_fields(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct request *)into)->fields = true;
    return BAL_OK;
}

static const struct cli_option options[] = {
    {"schema", NULL, "print the JSON schema of experiment files, for editors", set_schema},
    {"fields", NULL, "print every field of experiment files, in Markdown", set_fields},
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

/* What was told of a file already, in one mode or another. */
struct told {
    enum bal_mode mode;
    size_t count, capacity;
    char **text;
    bool no_memory;
};

static bool is_told(const struct told *told, const char *mistake) {
    for (size_t i = 0; i < told->count; i++)
        if (strcmp(told->text[i], mistake) == 0)
            return true;
    return false;
}

static void tell(void *context, const char *mistake) {
    struct told *told = context;
    if (is_told(told, mistake))
        return;
    if (told->mode == BAL_MODE_PLAIN)
        cli_fail("%s", mistake);
    else
        cli_fail("%s (with --%s)", mistake, bal_mode_text(told->mode));
    if (told->count == told->capacity) {
        const size_t capacity = told->capacity ? 2 * told->capacity : 16;
        char **text = realloc(told->text, capacity * sizeof *text);
        if (!text) {
            told->no_memory = true;
            return;
        }
        told->text = text;
        told->capacity = capacity;
    }
    told->text[told->count] = strdup(mistake);
    if (told->text[told->count])
        told->count++;
    else
        told->no_memory = true;
}

static void told_fini(struct told *told) {
    for (size_t i = 0; i < told->count; i++)
        free(told->text[i]);
    free(told->text);
}

/* In all three modes: each has its own points that figures and claims may miss. */
static int tell_mistakes(const char *path) {
    struct told told = {.count = 0};
    size_t mistakes = 0;
    for (int mode = BAL_MODE_PLAIN; mode <= BAL_MODE_FULL; mode++) {
        told.mode = (enum bal_mode)mode;
        mistakes += bal_experiment_mistakes(path, told.mode, tell, &told);
    }
    const bool no_memory = told.no_memory;
    told_fini(&told);
    return no_memory ? cli_no_memory() : mistakes ? CLI_BAD_INPUT : CLI_OK;
}

static int check_file(const char *path, FILE *out) {
    const int status = tell_mistakes(path);
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
        struct bal_gather line;
        if (!bal_gather_open(&line))
            return cli_no_memory();
        const int status = check_file(path[i], line.stream);
        if (status != CLI_OK)
            worst = status;
        else if (bal_gather_close(&line))
            fputs(line.text, out);
        else
            bal_stream_lose(out);
        bal_gather_discard(&line);
    }
    return worst;
}

static int run(const struct cli_command *command, int argc, char **argv) {
    struct request request = {0};
    int operands;
    int status = cli_parse(command, argc, argv, &request, argc, &operands);
    if (status >= 0)
        return status;
    if (operands == 0 && !request.schema && !request.fields)
        return cli_fail("check: name the experiments: ballast check FILE.yaml...");
    struct cli_output output;
    status = cli_output_open(&output, NULL);
    if (status)
        return status;
    if (request.schema)
        bal_experiment_write_schema(output.stream);
    if (request.fields)
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
    .run = run,
};
