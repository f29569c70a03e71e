/* Declarative options: --name value, --name=value, --flag; and the help texts made from the same table. */
#include "cli.h"

#include "ballast/number.h"

#include "base/nearest.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* One line, whatever it quotes: control characters are shown as '?'. */
static void say(const char *format, va_list args) {
    char *text;
    if (vasprintf(&text, format, args) < 0)
        return;
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "ballast: %s\n", text);
    free(text);
}

int cli_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    return CLI_BAD_INPUT;
}

void cli_warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

static const struct cli_option *find_option(const struct cli_command *command, const char *name,
                                            size_t length) {
    for (size_t i = 0; i < command->option_count; i++)
        if (strlen(command->options[i].name) == length &&
            strncmp(command->options[i].name, name, length) == 0)
            return &command->options[i];
    return NULL;
}

static int unknown_option(const struct cli_command *command, const char *given) {
    char list[1000] = "";
    size_t used = 0;
    const char *name = given + strspn(given, "-");
    struct bal_nearest nearest = {.text = name, .length = strcspn(name, "=")};
    for (size_t i = 0; i < command->option_count && used < sizeof list; i++) {
        bal_nearest_offer(&nearest, command->options[i].name);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s", i ? " " : "",
                                 command->options[i].name);
    }
    if (nearest.name)
        return cli_fail("%s: unknown option '%.100s'; did you mean '--%s'?", command->name, given,
                        nearest.name);
    return cli_fail("%s: unknown option '%.100s'; it takes %s%s--help", command->name, given, list,
                    used ? " " : "");
}

/* Takes the option at argv[i]; returns how many arguments it used up, or -1 after printing an error. */
static int take_option(const struct cli_command *command, int argc, char **argv, int i, void *into) {
    const char *given = argv[i];
    const char *name = given + 2;
    const size_t length = strcspn(name, "=");
    const struct cli_option *option = find_option(command, name, length);
    if (!option) {
        unknown_option(command, given);
        return -1;
    }
    const bool attached = name[length] == '=';
    if (!option->argument && attached) {
        cli_fail("--%s: takes no value, but '%.100s' was given", option->name, name + length + 1);
        return -1;
    }
    if (option->argument && !attached && i + 1 >= argc) {
        cli_fail("--%s: a value is missing: --%s %s (%s)", option->name, option->name, option->argument,
                 option->help);
        return -1;
    }
    const char *value = !option->argument ? "" : attached ? name + length + 1 : argv[i + 1];
    struct bal_error err = {0};
    if (option->set(into, value, &err)) {
        cli_fail("--%s %.200s: %s", option->name, value, err.text);
        return -1;
    }
    return option->argument && !attached ? 2 : 1;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, void *into, int most, int *operands) {
    int count = 0;
    bool options = true;
    for (int i = 1; i < argc;) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            i++;
        } else if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            cli_print_help(command, stdout);
            return CLI_OK;
        } else if (options && strcmp(argv[i], "-o") == 0 &&
                   find_option(command, "output", strlen("output"))) {
            static char output[] = "--output";
            argv[i] = output;
        } else if (options && strncmp(argv[i], "--", 2) == 0) {
            const int used = take_option(command, argc, argv, i, into);
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

void cli_print_help(const struct cli_command *command, FILE *out) {
    fprintf(out, "usage: ballast %s%s%s%s\n\n%s\n", command->name, *command->operands ? " " : "",
            command->operands, command->option_count ? " [options]" : "", command->description);
    if (command->option_count)
        fputs("\noptions:\n", out);
    for (size_t i = 0; i < command->option_count; i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", command->options[i].name,
                 command->options[i].argument ? " " : "",
                 command->options[i].argument ? command->options[i].argument : "");
        fprintf(out, "  %-24s %s\n", left, command->options[i].help);
    }
    if (command->examples)
        fprintf(out, "\nexamples:\n%s", command->examples);
}

enum bal_code cli_number(const char *value, const struct cli_range *range, double *number,
                         struct bal_error *err) {
    double parsed;
    if (!bal_number_parse(value, strlen(value), &parsed) ||
        !(parsed >= range->low && parsed <= range->high) || (range->whole && parsed != floor(parsed)))
        return bal_fail(err, BAL_E_RANGE, "not %s", range->what);
    *number = parsed;
    return BAL_OK;
}

enum bal_code cli_format(const char *value, enum cli_format *format, struct bal_error *err) {
    static const char *const names[] = {"text", "csv", "json"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            *format = (enum cli_format)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of text, csv, json");
}
