/* SPDX-License-Identifier: BSD-2-Clause */
/* The manual page, made from the tables of commands, options, policies and laws, so that it cannot drift from
 * the program. */
#include "commands.h"

#include "ballast/batch.h"
#include "ballast/dist.h"
#include "ballast/scheme.h"

#include <ctype.h>
#include <string.h>

/* Paragraphs, with an empty line between them: backslashes, and control characters at the start of a line,
 * must be escaped; every sentence begins a new line. */
static void put_text(const char *text, FILE *out) {
    bool line_start = true;
    for (const char *c = text; *c; c++) {
        if (*c == ' ' && c > text && c[-1] == '.' && isupper((unsigned char)c[1])) {
            fputc('\n', out);
            line_start = true;
            continue;
        }
        if (line_start && (*c == '.' || *c == '\''))
            fputs("\\&", out);
        if (line_start && *c == '\n')
            fputs(".Pp", out);
        if (*c == '\\')
            fputs("\\e", out);
        else
            fputc(*c, out);
        line_start = *c == '\n';
    }
}

static void put_sentence(const char *text, FILE *out) {
    put_text(text, out);
    const size_t length = strlen(text);
    fputs(length > 0 && text[length - 1] == '.' ? "\n" : ".\n", out);
}

/* An argument of a macro: in quotes, so that words such as "No" are not taken for macros. */
static void put_argument(const char *text, FILE *out) {
    fputc('"', out);
    for (const char *c = text; *c; c++)
        fputs(*c == '"' ? "\\(dq" : *c == '\\' ? "\\e" : (char[]){*c, 0}, out);
    fputc('"', out);
}

static void put_options(const struct cli_command *command, FILE *out) {
    struct bli_options options;
    cli_command_options(command, &options);
    if (options.count == 0)
        return;
    for (size_t i = 0; i < options.count; i++) {
        const char *head = bli_option_head(&options, i);
        if (head && i > 0)
            fprintf(out, ".El\n.Pp\n%s:\n", head);
        if (head)
            fputs(".Bl -tag -width Ds\n", out);
        char help[BLI_OPTION_HELP];
        bli_option_help(&options.option[i], help);
        fprintf(out, ".It Fl -%s", options.option[i].name);
        if (options.option[i].argument)
            fprintf(out, " Ar %s", options.option[i].argument);
        fputc('\n', out);
        put_sentence(help, out);
    }
    fputs(".El\n", out);
}

/* Examples are indented by two; a man page indents by itself. */
static void put_examples(const char *examples, FILE *out) {
    fputs(".Pp\n.Dl ", out);
    for (const char *line = examples; *line;) {
        line += strspn(line, " ");
        const size_t length = strcspn(line, "\n");
        for (size_t i = 0; i < length; i++)
            fputs(line[i] == '\\' ? "\\e" : (char[]){line[i], 0}, out);
        line += length + (line[length] == '\n');
        fputs(*line ? "\n.Dl " : "\n", out);
    }
}

static void put_command(const struct cli_command *command, FILE *out) {
    fprintf(out, ".Ss ballast %s", command->name);
    if (*command->operands)
        fprintf(out, " %s", command->operands);
    fputs("\n", out);
    put_text(command->description, out);
    fputc('\n', out);
    put_options(command, out);
    if (command->examples)
        put_examples(command->examples, out);
}

static void put_row(const char *name, const char *text, FILE *out) {
    fputs(".It ", out);
    put_argument(name, out);
    fputc('\n', out);
    put_sentence(text, out);
}

static void put_policies(FILE *out) {
    fputs(
        ".Sh POLICIES\nA policy is written\n.Ar name\nor\n.Ar name : Ns Ar key Ns = Ns Ar value , Ns ... ;\n"
        ".Ql ballast policies NAME\ntells everything about one.\n.Bl -tag -width Ds\n",
        out);
    for (size_t i = 0; bli_scheme_at(i); i++)
        put_row(bli_scheme_at(i)->name, bli_scheme_at(i)->summary, out);
    fputs(".El\n", out);
}

static void put_laws(FILE *out) {
    fputs(".Sh LAWS\nSizes of jobs:\n.Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < bli_dist_count; i++)
        put_row(bli_dist_table[i].usage, bli_dist_table[i].summary, out);
    fputs(".El\n.Pp\nBatches and capacities in slotted time:\n.Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < bli_batch_count; i++)
        put_row(bli_batch_table[i].usage, bli_batch_table[i].summary, out);
    fputs(".El\n", out);
}

void cli_print_manual(FILE *out) {
    fputs(".Dd $Mdocdate$\n.Dt BALLAST 1\n.Os\n.Sh NAME\n.Nm ballast\n"
          ".Nd compare and tune policies that distribute work over many servers\n"
          ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options\n.Sh DESCRIPTION\n.Nm\n"
          "simulates dispatch policies on fleets of servers, compares theory with the simulation, and "
          "reproduces the\n"
          "figures and claims of research papers.\nResults go to standard output, progress and warnings to "
          "standard error.\n"
          "Numbers accept the suffixes k, M and G.\n.Sh COMMANDS\n",
          out);
    for (size_t i = 0; i < cli_command_count; i++)
        put_command(cli_commands[i], out);
    put_policies(out);
    put_laws(out);
    fputs(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
          ".It Ev TMPDIR\nThe directory of temporary files: logs that are read, processes of\n.Cm live ;\n"
          "otherwise /tmp.\n"
          ".It Ev BALLAST_PAPERS\nThe directory of the papers, where\n.Cm paper\nfinds none next to the "
          "program.\n"
          ".It Ev NO_COLOR\n.Cm watch\nuses no colours if it is set.\n"
          ".It Ev TERM\nA terminal that is dumb gets neither progress nor a full screen.\n.El\n",
          out);
    fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nsuccess.\n"
          ".It 1\nan outcome that was asked to be good is not: a claim does not hold, a wish cannot be met.\n"
          ".It 2\nbad input; standard error says what is wrong and what would be right.\n"
          ".It 130\ninterrupted; what was known by then has been printed.\n.El\n"
          ".Sh SEE ALSO\n.Xr ballastd 8 ,\n.Xr nginx 8\n.Pp\n"
          "All pages: README.md and docs in the directory of the documentation.\n",
          out);
}
