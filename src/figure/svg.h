/* gnuplot's SVG, made fit to stand in a page among others. */
#ifndef FIGURE_SVG_H
#define FIGURE_SVG_H

#include <stddef.h>

/* Returns a copy
 * - whose ink is `currentColor` (black where nobody says otherwise) and whose letters fall back to any
 * sans-serif font,
 * - whose white ground is of the class `paper`,
 * - whose identifiers begin with a prefix made from the contents, so that two figures in one page do not mix,
 * - that is called by the title (clean text), for those who hear it read.
 * The caller frees it; NULL without memory. */
char *bal_svg_finish(const char *svg, const char *title, size_t *size);

/* Where the element <svg> begins, behind the XML declaration: what a page takes. */
const char *bal_svg_element(const char *svg);

#endif
