/* SPDX-License-Identifier: BSD-2-Clause */
/* Cleans, measures and breaks text for figures. */
#include "format/text.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Widths of the printable ASCII characters in thousandths of the letter size, in the wider of Helvetica and
 * DejaVu Sans, which replaces it on many machines: text that fits by these fits in either. */
static const unsigned short widest[95] = {
    318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, /*  !"#$%&'()*+,-./ */
    636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 556, /* 0123456789:;<=>? */
    1015, 684, 686, 722, 770, 667, 611, 778, 752, 295, 500, 667, 557, 863, 748, 787, /* @ABCDEFGHIJKLMNO */
    667,  787, 722, 667, 611, 732, 684, 989, 685, 667, 685, 390, 337, 390, 838, 556, /* PQRSTUVWXYZ[\]^_ */
    500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, /* `abcdefghijklmno */
    635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,      /* pqrstuvwxyz{|}~  */
};

char *bli_text_clean(const char *text) {
    if (!text)
        text = "";
    char *copy = malloc(3 * strlen(text) + 1); /* a bad byte grows to the three of U+FFFD */
    if (!copy)
        return NULL;
    char *to = copy;
    while (*text)
        bli_utf8_put(&to, bli_utf8_next(&text));
    *to = '\0';
    return copy;
}

void bli_text_print(const char *text, FILE *out) {
    while (text && *text) {
        char letter[4], *end = letter;
        bli_utf8_put(&end, bli_utf8_next(&text));
        fwrite(letter, 1, (size_t)(end - letter), out);
    }
}

static double width_of(unsigned c) {
    if (c >= 0x20 && c < 0x7f)
        return widest[c - 0x20] * 1e-3;
    if (c >= 0x300 && c < 0x370)
        return 0; /* combining marks */
    if (c >= 0x2e80)
        return 1;                     /* ideographs and pictures are square */
    return c >= 0x2000 ? 0.85 : 0.65; /* signs; other scripts, about as wide as ours */
}

double bli_text_width(const char *text, size_t length) {
    double width = 0;
    for (const char *end = text + length; text < end && *text;)
        width += width_of(bli_utf8_next(&text));
    return width;
}

size_t bli_text_break(const char *text, double width) {
    const char *at = text, *blank = NULL, *last = NULL;
    double used = 0;
    while (*at) {
        const char *before = at;
        const unsigned c = bli_utf8_next(&at);
        used += width_of(c);
        if (c == ' ')
            blank = before;
        else if (used > width && before > text)
            return (size_t)((blank && blank > text ? blank : last) - text);
        last = at;
    }
    return (size_t)(at - text);
}
