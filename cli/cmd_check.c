/* ballast check FILE...: are these experiments in order? */
#include "commands.h"

#include "ballast/experiment.h"

#include <stdlib.h>

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

/* In all three modes: each has its own points that figures and claims may miss. */
static int check_file(const char *path, FILE *out) {
    fprintf(out, "%s: in order;", path);
    for (int mode = BAL_MODE_PLAIN; mode <= BAL_MODE_FULL; mode++) {
        struct bal_experiment *e;
        struct bal_error err = {0};
        if (bal_experiment_read(path, (enum bal_mode)mode, &e, &err))
            return mode == BAL_MODE_PLAIN
                       ? cli_fail("%s", err.text)
                       : cli_fail("%s (with --%s)", err.text, bal_mode_text((enum bal_mode)mode));
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
    .description = "Reads experiment files in all their modes and says what is wrong with them: file, line, "
                   "field and what\n"
                   "would be right. Exit status 2 when something is.",
    .examples = "  ballast check examples/load.yaml\n"
                "  ballast check --schema > experiment.schema.json\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
