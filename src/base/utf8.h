/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that comes from outside (files, logs, names of files) made harmless for terminals, tables and pages.
 *
 * Harmless are the characters of valid UTF-8 but for control characters, those that turn the direction of
 * writing around or end lines, and what no XML document may hold. Whatever is printed has passed through
 * here: errors, tables, JSON, csv, HTML and the outputs of commands do it themselves. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

enum { BLI_UTF8_REPLACEMENT = 0xfffd };

/* Decodes one character at *at, which must not be the terminator, and moves *at behind it. A byte that begins
 * no character is passed alone and tells BLI_UTF8_REPLACEMENT; *valid, if not NULL, whether it was one. */
unsigned bli_utf8_decode(const char **at, bool *valid);
bool bli_utf8_is_harmless(unsigned character);

/* The same as one line of harmless text: line breaks and tabs become blanks, what is not harmless
 * BLI_UTF8_REPLACEMENT. */
unsigned bli_utf8_next(const char **at);

/* Appends the character at *room in UTF-8, at most 4 bytes, and moves *room behind it. */
void bli_utf8_put(char **room, unsigned character);

/* Makes a text harmless in place, which never makes it longer: what is not becomes a question mark. Line
 * breaks and tabs become blanks unless they are among those to be kept. Returns the new length. */
size_t bli_utf8_tame(char *text, const char *keep);

#endif
