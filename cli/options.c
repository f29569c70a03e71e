/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarative options: --name value, --name=value, --flag; and the help texts made from the same table. */
#include "common.h"

#include "ballast/number.h"

#include "base/nearest.h"
#include "base/utf8.h"
#include "format/table.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* One line without control characters, whatever it quotes. */
static void vreport(void (*tell)(const char *text), const char *format, va_list args) {
    char text[4096]; /* not from the heap: it may be full */
    vsnprintf(text, sizeof text, format, args);
    bal_utf8_tame(text, "");
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

/* Fills in from the setting what the command leaves open. */
static void fill_from_setting(struct cli_option *option) {
    const struct bal_field *field = option->field;
    if (!option->name)
        option->name = field->option ? field->option : field->name;
    if (!option->argument)
        option->argument = field->argument;
    if (!option->help)
        option->help = field->help;
    if (!option->default_value)
        option->default_value = field->cli_default ? field->cli_default
                                : field->flag      ? ""
                                                   : field->default_value;
}

/* Does the command give this name to an option of its own? */
static bool has_own_option(const struct cli_command *command, const struct bal_field *field) {
    const char *name = field->option ? field->option : field->name;
    for (size_t row = 0; row < command->option_count; row++)
        if (command->options[row].name && strcmp(command->options[row].name, name) == 0)
            return true;
    return false;
}

/* Setting i of those in a group that can be options; NULL after the last. */
static const struct bal_field *group_at(const struct cli_command *command, enum cli_group group, size_t i) {
    const struct bal_section *section;
    const struct bal_field *field;
    for (size_t k = 0; (field = bal_setting_at(k, &section)); k++) {
        const bool is_option = (field->argument || field->flag) && !has_own_option(command, field);
        if (is_option && section->model == (group == CLI_MODEL_SETTINGS) && i-- == 0)
            return field;
    }
    return NULL;
}

/* The number of options that a row of the command's table expands to. */
static size_t count_options(const struct cli_command *command, const struct cli_option *option) {
    size_t count = 0;
    while (option->group && group_at(command, option->group, count))
        count++;
    return option->group ? count : 1;
}

bool cli_option_at(const struct cli_command *command, size_t i, struct cli_option *option) {
    size_t row = 0;
    for (; row < command->option_count && i >= count_options(command, &command->options[row]); row++)
        i -= count_options(command, &command->options[row]);
    if (row == command->option_count)
        return false;
    *option = command->options[row];
    option->field = option->group     ? group_at(command, option->group, i)
                    : option->setting ? bal_setting_find(option->setting)
                                      : NULL;
    assert(option->set || option->field);
    if (option->field)
        fill_from_setting(option);
    return true;
}

/* Names of earlier versions: accepted, but not shown. NULL: of any command. */
static const struct {
    const char *command, *name, *now;
} deprecated[] = {
    {"replay", "class", "group"},          {"replay", "keeper", "autoscale"},
    {"replay", "price", "cost-per-hour"},  {"test-server", "with", "exit-with-pid"},
    {"twin", "fewer", "remove-servers"},   {"twin", "now", "current-policy"},
    {"twin", "traffic", "traffic-factor"}, {NULL, "quarantine", "ejection"},
    {NULL, "sinkhole", "fail-fast"},
};

static const char *replace_deprecated(const struct cli_command *command, const char *name, size_t length) {
    for (size_t i = 0; i < sizeof deprecated / sizeof *deprecated; i++)
        if ((!deprecated[i].command || strcmp(deprecated[i].command, command->name) == 0) &&
            strlen(deprecated[i].name) == length && strncmp(deprecated[i].name, name, length) == 0)
            return deprecated[i].now;
    return NULL;
}

static bool find_option(const struct cli_command *command, const char *name, size_t length,
                        struct cli_option *option) {
    for (size_t i = 0; cli_option_at(command, i, option); i++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return true;
    const char *now = replace_deprecated(command, name, length);
    return now && find_option(command, now, strlen(now), option);
}

/* Help of settings is written for the documentation, with backquotes around what can be typed. */
void cli_option_help(const struct cli_option *option, char text[CLI_HELP_TEXT]) {
    size_t used = 0;
    for (const char *c = option->help; *c && used < CLI_HELP_TEXT - 1; c++)
        if (*c != '`')
            text[used++] = *c;
    text[used] = 0;
    if (option->field && *option->default_value)
        snprintf(text + used, CLI_HELP_TEXT - used, " (default %s)", option->default_value);
}

/* ---- reading them ---- */

static int unknown_option(const struct cli_command *command, const char *given) {
    char list[1000] = "";
    size_t used = 0;
    const char *name = given + strspn(given, "-");
    struct bal_nearest nearest = {.text = name, .length = strcspn(name, "=")};
    struct cli_option option;
    for (size_t i = 0; cli_option_at(command, i, &option) && used < sizeof list; i++) {
        bal_nearest_offer(&nearest, option.name);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s", i ? " " : "", option.name);
    }
    if (nearest.name)
        return cli_fail("%s: unknown option '%.100s'; did you mean '--%s'?", command->name, given,
                        nearest.name);
    return cli_fail("%s: unknown option '%.100s'; it takes %s%s--help", command->name, given, list,
                    used ? " " : "");
}

static int missing_value(const struct cli_option *option) {
    char help[CLI_HELP_TEXT];
    cli_option_help(option, help);
    return cli_fail("--%s: a value is missing: --%s %s (%s)", option->name, option->name, option->argument,
                    help);
}

static enum bal_code set_option(const struct cli_option *option, const char *value, void *into,
                                struct bal_error *err) {
    if (option->set)
        return option->set(into, value, err);
    return cli_common_set(into, option->field, option->argument ? value : option->field->flag, err);
}

/* Takes the option at argv[i]; returns how many arguments it used up, or -1 after printing an error. */
static int parse_option(const struct cli_command *command, int argc, char **argv, int i, void *into) {
    const char *given = argv[i];
    const char *name = given + 2;
    const size_t length = strcspn(name, "=");
    struct cli_option option;
    if (!find_option(command, name, length, &option)) {
        unknown_option(command, given);
        return -1;
    }
    const bool attached = name[length] == '=';
    if (!option.argument && attached) {
        cli_fail("--%s: takes no value, but '%.100s' was given", option.name, name + length + 1);
        return -1;
    }
    if (option.argument && !attached && i + 1 >= argc) {
        missing_value(&option);
        return -1;
    }
    const char *value = !option.argument ? "" : attached ? name + length + 1 : argv[i + 1];
    struct bal_error err = {0};
    if (set_option(&option, value, into, &err)) {
        cli_fail("--%s %.200s: %s", option.name, value, err.text);
        return -1;
    }
    return option.argument && !attached ? 2 : 1;
}

static bool takes_output(const struct cli_command *command) {
    struct cli_option option;
    return find_option(command, "output", strlen("output"), &option);
}

static int print_help(const struct cli_command *command) {
    struct bal_strbuf help;
    if (bal_strbuf_open(&help))
        cli_print_help(command, help.stream);
    if (!bal_strbuf_close(&help))
        return cli_no_memory();
    const int status = cli_print("", help.text, help.size);
    bal_strbuf_discard(&help);
    return status;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, void *into, int most, int *operands) {
    int count = 0;
    bool options = true;
    for (int i = 1; i < argc;) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            i++;
        } else if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            return print_help(command);
        } else if (options && strcmp(argv[i], "-o") == 0 && takes_output(command)) {
            static char output[] = "--output";
            argv[i] = output;
        } else if (options && strncmp(argv[i], "--", 2) == 0) {
            const int used = parse_option(command, argc, argv, i, into);
            if (used < 0)
                return CLI_BAD_INPUT;
            i += used;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            return unknown_option(command, argv[i]);
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
    fprintf(out, "usage: ballast %s%s%s%s\n\n%s\n", command->name, *command->operands ? " " : "",
            command->operands, command->option_count ? " [options]" : "", command->description);
    if (command->option_count)
        fputs("\noptions:\n", out);
    struct cli_option option;
    for (size_t i = 0; cli_option_at(command, i, &option); i++) {
        char left[64], help[CLI_HELP_TEXT];
        snprintf(left, sizeof left, "  --%s%s%s", option.name, option.argument ? " " : "",
                 option.argument ? option.argument : "");
        cli_option_help(&option, help);
        bal_table_wrap_at(left, help, HELP_INDENT, HELP_WIDTH, out);
    }
    if (command->examples)
        fprintf(out, "\nexamples:\n%s", command->examples);
}

enum bal_code cli_number(const char *value, const struct cli_range *range, double *number,
                         struct bal_error *err) {
    double parsed;
    if (!bal_share_parse(value, strlen(value), &parsed) || !(parsed >= range->low && parsed <= range->high) ||
        (range->whole && parsed != floor(parsed)))
        return bal_fail(err, BAL_E_RANGE, "not %s", range->what);
    *number = parsed;
    return BAL_OK;
}

enum bal_code cli_format(const char *value, enum cli_format *format, struct bal_error *err) {
    static const char *const names[] = {"text", "csv", "json", "markdown"};
    for (int i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0) {
            *format = (enum cli_format)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of text, csv, json, markdown");
}
