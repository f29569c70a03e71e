/* SPDX-License-Identifier: BSD-2-Clause */
/* The command as it was typed, to be printed in its output. */
#include "cli.h"

#include <string.h>

static bool is_plain(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./^-";
    return *word && word[strspn(word, plain)] == 0;
}

/* Quoted for a shell where that is needed; what would end the line does not. */
static void print_word(const char *word, FILE *out) {
    if (is_plain(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc((unsigned char)*word < ' ' || *word == 127 ? '?' : *word, out);
    fputc('\'', out);
}

bool cli_command_text(int argc, char *const *argv, struct bli_strbuf *text) {
    if (!bli_strbuf_open(text))
        return false;
    fputs("ballast", text->stream);
    for (int i = 0; i < argc; i++) {
        fputc(' ', text->stream);
        print_word(argv[i], text->stream);
    }
    return bli_strbuf_close(text);
}
