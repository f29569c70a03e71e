/* SPDX-License-Identifier: BSD-2-Clause */
/* Edits gnuplot's SVG so that several figures can stand in one page. */
#ifndef FIGURE_SVG_H
#define FIGURE_SVG_H

#include <stddef.h>

/* Returns a copy
 * - whose ink is `currentColor` (black by default) and whose letters fall back to any
 * sans-serif font,
 * - whose white ground is of the class `paper`,
 * - whose identifiers begin with a prefix made from the contents, so that two figures in one page do not mix,
 * - that has the title (clean text) as its label for screen readers.
 * The caller frees it; NULL without memory. */
char *bli_svg_finish(const char *svg, const char *title, size_t *size);

/* Where the element <svg> begins, after the XML declaration: the part that is put into a page. */
const char *bli_svg_element(const char *svg);

#endif
