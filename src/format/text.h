/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in figures: cleaned, measured, cut and broken into lines. */
#ifndef FORMAT_TEXT_H
#define FORMAT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* A clean copy: valid UTF-8 in one line. NULL counts as "". The caller frees it; NULL without memory. */
char *bli_text_clean(const char *text);

/* The same with formulas between dollar signs, in which \lambda is a Greek letter, _1 and _{ij} are
 * subscripts and ^2 and ^{-1} superscripts, all as the characters that Unicode has for them: "$\lambda_1$" is
 * "λ₁". What has none stays as it is. Inside the signs no blank stands next to them, and no digit behind the
 * last one:
 * "$5 or $6" has no formula. */
char *bli_text_formula(const char *text);

/* Prints the same as bli_text_clean; it takes no memory. */
void bli_text_print(const char *text, FILE *out);

/* Width in units of the letter size; the first length bytes of clean text. Uses the widths of the widest font
 * that may replace Helvetica; an estimate for characters outside ASCII. */
double bli_text_width(const char *text, size_t length);

/* How many leading bytes of clean text fit into the width: breaks at blanks if it can, inside a word if it
 * must; at least one character. */
size_t bli_text_break(const char *text, double width);

#endif
