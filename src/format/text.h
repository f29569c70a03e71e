/* Text in figures: cleaned, measured, cut and broken into lines. */
#ifndef FORMAT_TEXT_H
#define FORMAT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* A clean copy: valid UTF-8 in one line. NULL counts as "". The caller frees it; NULL without memory. */
char *bal_text_clean(const char *text);

/* Prints the same; it takes no memory. */
void bal_text_print(const char *text, FILE *out);

/* Width in units of the letter size; the first length bytes of clean text. Uses the widths of the widest font
 * that may replace Helvetica; an estimate for characters outside ASCII. */
double bal_text_width(const char *text, size_t length);

/* How many leading bytes of clean text fit into the width: breaks at blanks if it can, inside a word if it
 * must; at least one character. */
size_t bal_text_break(const char *text, double width);

#endif
