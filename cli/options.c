/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarative options: --name value, --name=value, --flag; and the help texts made from the same table. */
#include "cli.h"

#include "base/nearest.h"
#include "base/utf8.h"
#include "format/table.h"

#include <stdarg.h>
#include <string.h>

/* One line without control characters, whatever it quotes. */
static void vreport(void (*tell)(const char *text), const char *format, va_list args) {
    char text[4096]; /* not from the heap: it may be full */
    vsnprintf(text, sizeof text, format, args);
    bli_utf8_tame(text, "");
    tell(text);
}

int cli_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vreport(cli_report_error, format, args);
    va_end(args);
    return CLI_BAD_INPUT;
}

int cli_no_memory(void) {
    return cli_fail("not enough memory");
}

void cli_warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vreport(cli_report_warning, format, args);
    va_end(args);
}

/* ---- the options of a command ---- */

void cli_command_options(const struct cli_command *command, struct bli_options *options) {
    const struct bli_question_kind *kind = command->question;
    bli_options_expand(options, command->name, kind ? kind->options : command->options,
                       kind ? kind->option_count : command->option_count);
}

/* ---- reading them ---- */

static int unknown_option(const struct bli_options *options, const char *given) {
    char list[1000] = "";
    size_t used = 0;
    const char *name = given + strspn(given, "-");
    struct bli_nearest nearest = {.text = name, .length = strcspn(name, "=")};
    for (size_t i = 0; i < options->count && used < sizeof list; i++) {
        bli_nearest_offer(&nearest, options->option[i].name);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s", i ? " " : "",
                                 options->option[i].name);
    }
    if (nearest.name)
        return cli_fail("%s: unknown option '%.100s'; did you mean '--%s'?", options->of, given,
                        nearest.name);
    return cli_fail("%s: unknown option '%.100s'; it takes %s%s--help", options->of, given, list,
                    used ? " " : "");
}

static int missing_value(const struct bli_option *option) {
    char help[BLI_OPTION_HELP];
    bli_option_help(option, help);
    return cli_fail("--%s: a value is missing: --%s %s (%s)", option->name, option->name, option->argument,
                    help);
}

/* Takes the option at argv[i]; returns how many arguments it used up, or -1 after printing an error. */
static int parse_option(const struct bli_options *options, int argc, char **argv, int i, void *into) {
    const char *name = argv[i] + 2;
    const size_t length = strcspn(name, "=");
    const struct bli_option *option = bli_option_find(options, name, length);
    if (!option) {
        unknown_option(options, argv[i]);
        return -1;
    }
    const bool attached = name[length] == '=';
    if (!option->argument && attached) {
        cli_fail("--%s: takes no value, but '%.100s' was given", option->name, name + length + 1);
        return -1;
    }
    if (option->argument && !attached && i + 1 >= argc) {
        missing_value(option);
        return -1;
    }
    const char *value = !option->argument ? "" : attached ? name + length + 1 : argv[i + 1];
    struct bal_error err = {0};
    if (bli_option_set(option, value, into, &err)) {
        cli_fail("--%s %.200s: %s", option->name, value, err.text);
        return -1;
    }
    return option->argument && !attached ? 2 : 1;
}

static int print_help(const struct cli_command *command) {
    struct bli_strbuf help;
    if (bli_strbuf_open(&help))
        cli_print_help(command, help.stream);
    if (!bli_strbuf_close(&help))
        return cli_no_memory();
    const int status = cli_print("", help.text, help.size);
    bli_strbuf_discard(&help);
    return status;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, void *into, int most, int *operands) {
    struct bli_options table;
    cli_command_options(command, &table);
    int count = 0;
    bool options = true;
    for (int i = 1; i < argc;) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            i++;
        } else if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            return print_help(command);
        } else if (options && strcmp(argv[i], "-o") == 0 &&
                   bli_option_find(&table, "output", strlen("output"))) {
            static char output[] = "--output";
            argv[i] = output;
        } else if (options && strncmp(argv[i], "--", 2) == 0) {
            const int used = parse_option(&table, argc, argv, i, into);
            if (used < 0)
                return CLI_BAD_INPUT;
            i += used;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            return unknown_option(&table, argv[i]);
        } else if (count == most) {
            return cli_fail("%s: unexpected argument '%.100s'; usage: ballast %s %s%s[options]",
                            command->name, argv[i], command->name, command->operands,
                            *command->operands ? " " : "");
        } else {
            argv[++count] = argv[i++];
        }
    }
    *operands = count;
    return -1;
}

/* ---- help ---- */

enum { HELP_INDENT = 27, HELP_WIDTH = 112 };

void cli_print_help(const struct cli_command *command, FILE *out) {
    struct bli_options options;
    cli_command_options(command, &options);
    fprintf(out, "usage: ballast %s%s%s%s\n\n%s\n", command->name, *command->operands ? " " : "",
            command->operands, options.count ? " [options]" : "", command->description);
    for (size_t i = 0; i < options.count; i++) {
        const struct bli_option *option = &options.option[i];
        const char *head = bli_option_head(&options, i);
        if (head)
            fprintf(out, "\n%s:\n", head);
        char left[64], help[BLI_OPTION_HELP];
        snprintf(left, sizeof left, "  --%s%s%s", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        bli_option_help(option, help);
        bli_table_wrap_at(left, help, HELP_INDENT, HELP_WIDTH, out);
    }
    if (command->examples)
        fprintf(out, "\nexamples:\n%s", command->examples);
}
