/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of an HTML page. */
#ifndef FORMAT_HTML_H
#define FORMAT_HTML_H

#include <stdbool.h>
#include <stdio.h>

/* Text, escaped for elements and for attributes in double quotes, whatever its bytes. NULL prints nothing.
 * Line breaks stay. */
void bli_html_text(const char *text, FILE *out);

/* <name class>text</name>; class may be NULL. */
void bli_html_element(const char *name, const char *class, const char *text, FILE *out);

/* A table that scrolls sideways if it is wider than the screen. The caller prints the contents, and closes
 * <thead> and <tbody>. */
void bli_html_table_begin(const char *caption, FILE *out);
void bli_html_table_end(FILE *out);

/* <th>: the head of a column, or of a row. */
enum bli_html_scope { BLI_HTML_COLUMN, BLI_HTML_ROW };
void bli_html_table_head(const char *text, bool left, enum bli_html_scope scope, FILE *out);

/* Everything up to the beginning of the body, style included, and the end. */
void bli_html_begin(const char *title, FILE *out);
void bli_html_end(FILE *out);

#endif
