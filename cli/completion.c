/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion of command lines for bash, made from the tables of commands, options and policies. */
#include "commands.h"

#include "ballast/scheme.h"

#include <ctype.h>
#include <string.h>

static void put_policies(FILE *out) {
    for (size_t i = 0; bli_scheme_at(i); i++)
        fprintf(out, "%s%s", i ? " " : "", bli_scheme_at(i)->name);
}

static void put_commands(FILE *out) {
    for (size_t i = 0; i < cli_command_count; i++)
        fprintf(out, "%s%s", i ? " " : "", cli_commands[i]->name);
}

/* The single words of a help such as "of classes: fifo, preemptive; auto: ..." or "text, csv or json". */
static void put_words(const char *help, FILE *out) {
    const char *colon = strstr(help, ": ");
    const char *rest = colon && colon < help + strcspn(help, ",;(") ? colon + 2 : help;
    const char *separator = "";
    while (*rest && !strchr(";(", *rest)) {
        const size_t length = strspn(rest, "abcdefghijklmnopqrstuvwxyz-");
        const char *next = rest + length;
        if (length > 0 &&
            (!*next || strchr(",;", *next) || strncmp(next, " or ", 4) == 0 || strncmp(next, " (", 2) == 0)) {
            fprintf(out, "%s%.*s", separator, (int)length, rest);
            separator = " ";
        }
        rest = next + strcspn(next, ",;( ");
        rest += strspn(rest, ", ");
        if (strncmp(rest, "or ", 3) == 0)
            rest += 3;
    }
}

static bool equals(const char *argument, const char *name) {
    return argument && strcmp(argument, name) == 0;
}

/* What may stand behind an option that takes a value; nothing is known of most. */
static void put_values(const struct bli_option *option, FILE *out) {
    char help[BLI_OPTION_HELP];
    bli_option_help(option, help);
    fprintf(out, "        --%s) ", option->name);
    if (equals(option->argument, "FILE") || equals(option->argument, "DIR")) {
        fputs("files=yes", out);
    } else if (equals(option->argument, "POLICY")) {
        fputs("words=$policies", out);
    } else {
        fputs("words='", out);
        if (equals(option->argument, "FORM") || equals(option->argument, "NAME") ||
            equals(option->argument, "WHOM"))
            put_words(help, out);
        fputc('\'', out);
    }
    fputs(" ;;\n", out);
}

/* What a command takes besides options. */
/* Words to choose from, list|add|..., up to what stands behind them. */
static void put_choices(const char *operands, FILE *out) {
    fputs("words='", out);
    for (; *operands && *operands != ' '; operands++)
        fputc(*operands == '|' ? ' ' : *operands, out);
    fputc('\'', out);
}

static void put_operands(const struct cli_command *command, FILE *out) {
    const char *operands = command->operands;
    if (strstr(operands, "POLICY"))
        fputs("words=$policies", out);
    else if (strstr(operands, "COMMAND"))
        fputs("words=$commands", out);
    else if (islower((unsigned char)*operands))
        put_choices(operands, out);
    else
        fputs(*operands ? "files=yes" : "words=''", out);
}

static void put_command(const struct cli_command *command, FILE *out) {
    struct bli_options options;
    cli_command_options(command, &options);
    fprintf(out, "    1%s)\n        options='", command->name);
    for (size_t i = 0; i < options.count; i++)
        fprintf(out, "--%s ", options.option[i].name);
    fputs("--help'\n        case $before in\n", out);
    for (size_t i = 0; i < options.count; i++)
        if (options.option[i].argument)
            put_values(&options.option[i], out);
    fputs("        *) ", out);
    put_operands(command, out);
    fputs(" ;;\n        esac\n        ;;\n", out);
}

void cli_print_completion(FILE *out) {
    fputs("# Completion of ballast for bash, made by `ballast help --completion`.\n"
          "_ballast() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local options='--help --version' words='' files=no commands='",
          out);
    put_commands(out);
    fputs("'\n    local policies='", out);
    put_policies(out);
    fputs("'\n    case $((COMP_CWORD > 1))${COMP_WORDS[1]} in\n    0*) words=$commands ;;\n", out);
    for (size_t i = 0; i < cli_command_count; i++)
        put_command(cli_commands[i], out);
    fputs("    esac\n"
          "    case $word in\n"
          "    -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
          "    *) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\") ;;\n"
          "    esac\n"
          "    if [ $files = yes ] && [[ $word != -* ]]; then\n"
          "        compopt -o filenames 2>/dev/null\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "    fi\n"
          "}\n"
          "complete -F _ballast ballast\n",
          out);
}
