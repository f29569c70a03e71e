/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoding UTF-8, and replacing characters that could do harm in a terminal or a page. */
#include "base/utf8.h"

#include <string.h>

unsigned bli_utf8_decode(const char **at, bool *valid) {
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    static const unsigned mask[] = {0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *s = (const unsigned char *)*at;
    const unsigned lead = s[0];
    const unsigned more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    bool good = lead < 0x80 || (lead >= 0xc2 && lead <= 0xf4);
    unsigned c = lead & mask[more];
    for (unsigned i = 1; good && i <= more; i++) {
        good = (s[i] & 0xc0) == 0x80;
        c = c << 6 | (s[i] & 0x3f);
    }
    good = good && c >= least[more] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    *at += good ? more + 1 : 1; /* bytes that follow a bad one are read on their own */
    if (valid)
        *valid = good;
    return good ? c : BLI_UTF8_REPLACEMENT;
}

/* XML 1.0, production [2] Char; Unicode's Bidi_Control, and its line and paragraph separators. */
bool bli_utf8_is_harmless(unsigned c) {
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff)
        return false;
    return !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

unsigned bli_utf8_next(const char **at) {
    const unsigned c = bli_utf8_decode(at, NULL);
    if (c == '\t' || c == '\n' || c == '\r')
        return ' ';
    return bli_utf8_is_harmless(c) ? c : BLI_UTF8_REPLACEMENT;
}

void bli_utf8_put(char **room, unsigned c) {
    char *to = *room;
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    *room = to;
}

size_t bli_utf8_tame(char *text, const char *keep) {
    char *to = text;
    for (const char *at = text; *at;) {
        bool valid;
        const bool kept = strchr(keep, *at) != NULL;
        const unsigned c = bli_utf8_decode(&at, &valid);
        if (kept || (valid && bli_utf8_is_harmless(c)))
            bli_utf8_put(&to, c);
        else
            *to++ = c == '\t' || c == '\n' || c == '\r' ? ' ' : '?';
    }
    *to = '\0';
    return (size_t)(to - text);
}
