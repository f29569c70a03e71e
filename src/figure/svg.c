/* SPDX-License-Identifier: BSD-2-Clause */
/* Edits the SVG that gnuplot writes so that several figures can stand in one HTML page. */
#include "figure/svg.h"

#include "base/strbuf.h"
#include "figure/pen.h"
#include "figure/plot.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *bli_svg_element(const char *svg) {
    const char *element = strstr(svg, "<svg");
    return element ? element : svg;
}

/* FNV-1a of the contents: the same figure has the same identifiers wherever it is drawn. */
static uint32_t hash_text(const char *text) {
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static void put_escaped(const char *text, FILE *out) {
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            putc(*text, out);
        }
}

static bool starts_with(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

#define FONTS BLI_PEN_FONT ",Helvetica,Arial,sans-serif"

/* Replacements inside tags. An identifier is recognised by the text in front of it. */
struct rule {
    const char *from, *to;
    bool identifier; /* the prefix is put behind `to` */
};

static const struct rule rules[] = {
    {"\"" INK_IN_SVG "\"", "\"currentColor\"", false},
    {"\"" INK_IN_SVG_TEXT "\"", "\"currentColor\"", false},
    {"'" INK_IN_SVG "'", "'currentColor'", false},
    {"font-family=\"" BLI_PEN_FONT "\"", "font-family=\"" FONTS "\"", false},
    {"font-family=\"" BLI_PEN_FONT ":Bold\"", "font-family=\"" FONTS "\" font-weight=\"bold\"", false},
    {"stroke-width='0.2", "stroke-width='0.3", false}, /* of hollow shapes and crosses, relative to their size
                                                        */
    {" id=\"", " id=\"", true},
    {" id='", " id='", true},
    {"href='#", "href='#", true},
    {"href=\"#", "href=\"#", true},
    {"url(#", "url(#", true},
};

/* gnuplot's groups set a colour of their own, black or white, that would hide the page's; nothing in them
 * needs it. */
static bool skip_colour(const char **at) {
    static const char attribute[] = " color=\"";
    const char *end = starts_with(*at, attribute) ? strchr(*at + strlen(attribute), '"') : NULL;
    if (!end)
        return false;
    *at = end + 1;
    return true;
}

/* Copies a tag, which begins at *at, by the rules. */
static void copy_tag(const char **at, const char *prefix, FILE *out) {
    while (**at && **at != '>') {
        if (skip_colour(at))
            continue;
        const struct rule *found = NULL;
        for (size_t i = 0; i < sizeof rules / sizeof *rules && !found; i++)
            if (starts_with(*at, rules[i].from))
                found = &rules[i];
        if (!found) {
            putc(*(*at)++, out);
            continue;
        }
        fputs(found->to, out);
        fputs(found->identifier ? prefix : "", out);
        *at += strlen(found->from);
    }
}

/* The element <title> or <desc>, with all that it holds. */
static bool skip_element(const char **at, const char *name, const char *end) {
    if (!starts_with(*at, name))
        return false;
    const char *close = strstr(*at, end);
    if (!close)
        return false;
    *at = close + strlen(end);
    return true;
}

char *bli_svg_finish(const char *svg, const char *title, size_t *size) {
    struct bli_strbuf finished;
    if (!bli_strbuf_open(&finished))
        return NULL;
    FILE *out = finished.stream;
    char prefix[16];
    snprintf(prefix, sizeof prefix, "f%08x-", (unsigned)hash_text(svg));
    bool named = false, papered = false;
    for (const char *at = svg; *at;) {
        if (!named && skip_element(&at, "<title>", "</title>")) {
            fputs("<title>", out);
            put_escaped(title, out);
            fputs("</title>", out);
            named = true;
        } else if (skip_element(&at, "<desc>", "</desc>")) {
            continue;
        } else if (starts_with(at, "<rect") && !papered) {
            fputs("<rect class=\"paper\"", out);
            at += strlen("<rect");
            copy_tag(&at, prefix, out);
            papered = true;
        } else if (starts_with(at, "<svg")) {
            fputs("<svg role=\"img\"", out);
            at += strlen("<svg");
            copy_tag(&at, prefix, out);
        } else if (*at == '<') {
            copy_tag(&at, prefix, out);
        } else {
            putc(*at++, out);
        }
    }
    if (!bli_strbuf_close(&finished))
        return NULL;
    *size = finished.size;
    return finished.text;
}
