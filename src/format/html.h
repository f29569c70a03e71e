/* Parts of an HTML page. */
#ifndef FORMAT_HTML_H
#define FORMAT_HTML_H

#include <stdio.h>

/* Text, harmless inside elements and inside attributes in double quotes, whatever its bytes. NULL prints
 * nothing. Line breaks stay. */
void bal_html_text(const char *text, FILE *out);

/* <name class>text</name>; class may be NULL. */
void bal_html_element(const char *name, const char *class, const char *text, FILE *out);

/* Everything up to the beginning of the body, style included, and the end. */
void bal_html_begin(const char *title, FILE *out);
void bal_html_end(FILE *out);

#endif
