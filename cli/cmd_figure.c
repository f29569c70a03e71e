/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast figure FILE.db [ID]: figures as files of their own, for a paper or a page. */
#include "commands.h"

#include "ballast/number.h"
#include "ballast/report.h"

#include "format/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct args {
    const char *output;
    unsigned formats; /* bits 1 << enum bli_figure_format */
    struct bli_figure_size size;
};

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    unsigned formats = 0;
    for (const char *at = value; *at;) {
        const size_t length = strcspn(at, ",");
        int format = 0;
        while (format < BLI_FIGURE_FORMATS &&
               (strlen(bli_figure_format_text((enum bli_figure_format)format)) != length ||
                strncmp(at, bli_figure_format_text((enum bli_figure_format)format), length) != 0))
            format++;
        if (format == BLI_FIGURE_FORMATS)
            return bal_fail(err, BAL_E_UNKNOWN,
                            "not svg, png, pdf, eps or csv, or several of them with commas between");
        formats |= 1u << format;
        at += length;
        at += *at == ',';
    }
    if (formats == 0)
        return bal_fail(err, BAL_E_UNKNOWN, "name one or more of svg, png, pdf, eps, csv");
    ((struct args *)into)->formats = formats;
    return BAL_OK;
}

/* "3.5in", "9cm", "90mm", "252pt" */
static enum bal_code read_length(const char *value, double low, double high, double *points,
                                 struct bal_error *err) {
    static const struct {
        const char *unit;
        double points;
    } units[] = {{"in", 72}, {"cm", 72 / 2.54}, {"mm", 7.2 / 2.54}, {"pt", 1}};
    const size_t length = strlen(value);
    for (size_t i = 0; length > 2 && i < sizeof units / sizeof *units; i++)
        if (strcmp(value + length - 2, units[i].unit) == 0 && bli_number_parse(value, length - 2, points) &&
            (*points *= units[i].points, *points >= low) && *points <= high)
            return BAL_OK;
    return bal_fail(err, BAL_E_RANGE, "not a length from %gpt to %gpt, such as 252pt, 3.5in, 9cm or 90mm",
                    low, high);
}

static enum bal_code set_width(void *into, const char *value, struct bal_error *err) {
    return read_length(value, 72, 7200, &((struct args *)into)->size.width, err);
}

static enum bal_code set_height(void *into, const char *value, struct bal_error *err) {
    return read_length(value, 36, 7200, &((struct args *)into)->size.height, err);
}

static enum bal_code set_font_size(void *into, const char *value, struct bal_error *err) {
    return read_length(value, 4, 72, &((struct args *)into)->size.letters, err);
}

static const struct bli_option options[] = {
    {"format", "LIST",
     "svg, png, pdf, eps, csv (the data), or several with commas between (default: all but eps)", set_format},
    {"width", "LENGTH", "252pt, 3.5in, 9cm or 90mm (default: one column of a paper, or two)", set_width},
    {"height", "LENGTH", "the same (default: as the figure needs it)", set_height},
    {"font-size", "LENGTH", "of letters, on paper; lines and shapes grow with them (default 8pt)",
     set_font_size},
    {"output", "DIR", "a directory, made if it is not there; also -o (default: the current one)",
     BLI_STORES_TEXT(struct args, output)},
};

struct figure_names {
    FILE *out;
    size_t count;
};

/* As it is for programs, harmless for people. */
static void name_file(void *context, const char *path) {
    struct figure_names *names = context;
    names->count++;
    if (isatty(STDOUT_FILENO))
        bli_text_print(path, names->out);
    else
        fputs(path, names->out);
    fputc('\n', names->out);
}

static int print_names(struct bli_strbuf *names) {
    const bool whole = bli_strbuf_close(names);
    const int status = whole ? cli_print("", names->text, names->size) : cli_no_memory();
    bli_strbuf_discard(names);
    return status;
}

static int figure_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.output = ".", .formats = BLI_CHART_FORMATS};
    int operands;
    const int status = cli_parse(command, argc, argv, &args, 2, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("figure: name the file of results: ballast figure FILE.db [ID]");
    struct bal_error err = {0};
    struct bli_store *store;
    if (bli_store_open(argv[1], BLI_STORE_READ, &store, &err))
        return cli_fail("%s", err.text);
    if (mkdir(args.output, 0777) && errno != EEXIST) {
        bli_store_close(store);
        return cli_fail("--output %s: cannot be made: %s", args.output, strerror(errno));
    }
    struct bli_strbuf printed;
    if (!bli_strbuf_open(&printed)) {
        bli_store_close(store);
        return cli_no_memory();
    }
    struct figure_names names = {.out = printed.stream};
    const struct bli_chart_files files = {
        .directory = args.output,
        .formats = args.formats,
        .size = args.size,
        .only = operands == 2 ? argv[2] : NULL,
        .written = name_file,
        .context = &names,
    };
    const enum bal_code code = bli_report_figures(store, argv[1], &files, &err);
    bli_store_close(store);
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
    .summary = "draw the figures of an experiment as SVG, PNG, PDF or EPS",
    .operands = "FILE.db [ID]",
    .description = "Draws the figures that the experiments in a file of results ask for, or the one of the "
                   "given id, as\n"
                   "EXPERIMENT-ID.svg and so on, and prints the names of the files. The data of each is next "
                   "to it, as csv.\n"
                   "Needs gnuplot.",
    .examples = "  ballast figure load.db\n"
                "  ballast figure load.db response --format pdf -o figures\n"
                "  ballast figure load.db --width 9cm --height 6cm --font-size 9pt --format eps,csv\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = figure_main,
};
