#include "format/text.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Widths of the printable ASCII characters in Helvetica, in thousandths of the letter size. */
static const unsigned short helvetica[95] = {
    278,  278, 355, 556, 556, 889, 667, 222, 333, 333, 389, 584, 278, 333, 278, 278, /*  !"#$%&'()*+,-./ */
    556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, /* 0123456789:;<=>? */
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, /* @ABCDEFGHIJKLMNO */
    667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, /* PQRSTUVWXYZ[\]^_ */
    222,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, /* `abcdefghijklmno */
    556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,      /* pqrstuvwxyz{|}~  */
};
static const double allowance = 1.05; /* the font that is really there may be wider */

char *bal_text_clean(const char *text) {
    if (!text)
        text = "";
    char *copy = malloc(3 * strlen(text) + 1); /* a bad byte grows to the three of U+FFFD */
    if (!copy)
        return NULL;
    char *to = copy;
    while (*text)
        bal_utf8_put(&to, bal_utf8_next(&text));
    *to = '\0';
    return copy;
}

void bal_text_print(const char *text, FILE *out) {
    while (text && *text) {
        char letter[4], *end = letter;
        bal_utf8_put(&end, bal_utf8_next(&text));
        fwrite(letter, 1, (size_t)(end - letter), out);
    }
}

static double width_of(unsigned c) {
    if (c >= 0x20 && c < 0x7f)
        return helvetica[c - 0x20] * 1e-3 * allowance;
    if (c >= 0x300 && c < 0x370)
        return 0;                    /* combining marks */
    return c >= 0x2e80 ? 1.0 : 0.65; /* ideographs and pictures are square, other scripts about as wide as
                                        ours */
}

double bal_text_width(const char *text, size_t length) {
    double width = 0;
    for (const char *end = text + length; text < end && *text;)
        width += width_of(bal_utf8_next(&text));
    return width;
}

size_t bal_text_break(const char *text, double width) {
    const char *at = text, *blank = NULL, *last = NULL;
    double used = 0;
    while (*at) {
        const char *before = at;
        const unsigned c = bal_utf8_next(&at);
        used += width_of(c);
        if (c == ' ')
            blank = before;
        else if (used > width && before > text)
            return (size_t)((blank && blank > text ? blank : last) - text);
        last = at;
    }
    return (size_t)(at - text);
}
