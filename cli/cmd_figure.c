/* ballast figure FILE.db [ID]: figures as files of their own, for a paper or a page. */
#include "commands.h"

#include "ballast/report.h"

#include "format/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct args {
    const char *output;
    unsigned formats; /* bits 1 << enum bal_figure_format */
};

static enum bal_code set_output(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct args *)into)->output = value;
    return BAL_OK;
}

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    unsigned formats = 0;
    for (const char *at = value; *at;) {
        const size_t length = strcspn(at, ",");
        int format = 0;
        while (format < BAL_FIGURE_FORMATS &&
               (strlen(bal_figure_format_text((enum bal_figure_format)format)) != length ||
                strncmp(at, bal_figure_format_text((enum bal_figure_format)format), length) != 0))
            format++;
        if (format == BAL_FIGURE_FORMATS)
            return bal_fail(err, BAL_E_UNKNOWN,
                            "not svg, png or pdf, or several of them with commas between");
        formats |= 1u << format;
        at += length;
        at += *at == ',';
    }
    if (formats == 0)
        return bal_fail(err, BAL_E_UNKNOWN, "name one or more of svg, png, pdf");
    ((struct args *)into)->formats = formats;
    return BAL_OK;
}

static const struct cli_option options[] = {
    {"format", "LIST", "svg, png, pdf, or several with commas between (default: all three)", set_format},
    {"output", "DIR", "a directory, made if it is not there; also -o (default: the current one)", set_output},
};

struct names {
    FILE *out;
    size_t count;
};

/* As it is for programs, harmless for people. */
static void name_file(void *context, const char *path) {
    struct names *names = context;
    names->count++;
    if (isatty(STDOUT_FILENO))
        bal_text_print(path, names->out);
    else
        fputs(path, names->out);
    fputc('\n', names->out);
}

static int print_names(struct bal_strbuf *names) {
    const bool whole = bal_strbuf_close(names);
    const int status = whole ? cli_print("", names->text, names->size) : cli_no_memory();
    bal_strbuf_discard(names);
    return status;
}

static int figure_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.output = ".", .formats = (1u << BAL_FIGURE_FORMATS) - 1};
    int operands;
    const int status = cli_parse(command, argc, argv, &args, 2, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("figure: name the file of results: ballast figure FILE.db [ID]");
    struct bal_error err = {0};
    struct bal_store *store;
    if (bal_store_open(argv[1], BAL_STORE_READ, &store, &err))
        return cli_fail("%s", err.text);
    if (mkdir(args.output, 0777) && errno != EEXIST) {
        bal_store_close(store);
        return cli_fail("--output %s: cannot be made: %s", args.output, strerror(errno));
    }
    struct bal_strbuf printed;
    if (!bal_strbuf_open(&printed)) {
        bal_store_close(store);
        return cli_no_memory();
    }
    struct names names = {.out = printed.stream};
    const struct bal_chart_files files = {
        .directory = args.output,
        .formats = args.formats,
        .only = operands == 2 ? argv[2] : NULL,
        .written = name_file,
        .context = &names,
    };
    const enum bal_code code = bal_report_figures(store, argv[1], &files, &err);
    bal_store_close(store);
    const int shown = print_names(&printed);
    if (code)
        return cli_fail("%s", err.text);
    if (names.count == 0)
        cli_warn(
            "nothing to draw: no experiment in '%s' asks for a figure; add figures to its file, and run it "
            "again",
            argv[1]);
    return shown;
}

const struct cli_command cmd_figure = {
    .name = "figure",
    .summary = "draw the figures of an experiment as SVG, PNG and PDF",
    .operands = "FILE.db [ID]",
    .description = "Draws the figures that the experiments in a file of results ask for, or the one of the "
                   "given id, as\n"
                   "EXPERIMENT-ID.svg, .png and .pdf, and prints the names of the files. Needs gnuplot.",
    .examples = "  ballast figure load.db\n"
                "  ballast figure load.db response --format pdf -o figures\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = figure_main,
};
