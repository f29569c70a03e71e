/* Text in figures: made harmless, measured, cut and broken into lines. */
#ifndef FORMAT_TEXT_H
#define FORMAT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Decodes one character of UTF-8 at *at and moves *at behind it; *at must not stand on the terminator. Bytes
 * that are no UTF-8, and characters that no XML document may hold, become U+FFFD; line breaks and tabs become
 * blanks. */
unsigned bal_text_next(const char **at);

/* Appends the character at *room in UTF-8, at most 4 bytes, and moves *room behind it. */
void bal_text_put(char **room, unsigned character);

/* A clean copy: valid UTF-8 in one line. NULL counts as "". The caller frees it; NULL without memory. */
char *bal_text_clean(const char *text);

/* Prints the same; it takes no memory. */
void bal_text_print(const char *text, FILE *out);

/* Width in units of the letter size; the first length bytes of clean text. An estimate by the widths of
 * Helvetica, a little on the wide side. */
double bal_text_width(const char *text, size_t length);

/* How many leading bytes of clean text fit into the width: breaks at blanks if it can, inside a word if it
 * must; at least one character. */
size_t bal_text_break(const char *text, double width);

#endif
