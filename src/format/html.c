/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints parts of an HTML page: escaped text, tables, the style. */
#include "format/html.h"

#include "base/utf8.h"

/* Narrow screens first: one column, tables that scroll inside themselves, figures that shrink. Colours follow
 * the reader's choice of light or dark; every verdict is printed in words as well. */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1f1f1f;--soft:#5a5a5a;--line:#d9d9d9;--paper:#fff;--card:#f6f6f6;"
    "--good:#00664b;--bad:#a83c00;--open:#6b5500;--link:#005c99}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--soft:#a8a8a8;--line:#3c3c3c;--paper:#161616;"
    "--card:#202020;--good:#4fd0a8;--bad:#ff9a5c;--open:#e3c04d;--link:#7cc4f5}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,Helvetica,Arial,sans-serif;"
    "color:var(--ink);background:var(--paper);overflow-wrap:break-word}\n"
    "header,main,footer{max-width:68rem;margin:0 auto;padding:0 1rem}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:1.5rem 0 .3rem}\n"
    "h2{font-size:1.35rem;line-height:1.25;margin:2.5rem 0 .3rem;padding-top:1rem;border-top:1px solid "
    "var(--line)}\n"
    "h3{font-size:1.05rem;margin:1.6rem 0 .5rem}\n"
    "p{margin:.4rem 0;max-width:46rem}\n"
    "a{color:var(--link)}\n"
    ".soft{color:var(--soft);font-size:.9rem}\n"
    ".claims{list-style:none;margin:0;padding:0;display:grid;gap:.6rem;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr))}\n"
    ".claims li{background:var(--card);border-left:4px solid var(--mark);border-radius:4px;padding:.6rem "
    ".8rem}\n"
    ".claims .finding{border-left-style:dashed}\n"
    ".holds{--mark:var(--good)}.fails{--mark:var(--bad)}.open{--mark:var(--open)}\n"
    ".badge{color:var(--mark);font-weight:600}\n"
    ".claims dl{display:grid;grid-template-columns:auto 1fr;gap:0 .7rem;margin:.4rem 0 0;font-size:.9rem}\n"
    ".claims dt{color:var(--soft)}.claims dd{margin:0;min-width:0}\n"
    ".figures{display:grid;gap:1.2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr))}\n"
    "figure{margin:0;min-width:0}figure.wide{grid-column:1/-1}\n"
    "figure svg{display:block;width:100%;height:auto;max-width:36rem;margin:0 auto}\n"
    "figure.wide svg{max-width:100%}\n"
    "@media(max-width:40rem){figure.wide{overflow-x:auto}figure.wide svg{width:40rem;max-width:none}}\n"
    "figure .paper{fill:none}\n"
    "figcaption{color:var(--soft);font-size:.9rem;max-width:36rem;margin:.3rem auto 0}\n"
    ".scroll{overflow-x:auto;max-width:100%;border:1px solid var(--line);border-radius:4px}\n"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;width:100%}\n"
    "th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
    "tr:last-child>*{border-bottom:0}\n"
    "caption{text-align:left;padding:.4rem .6rem;color:var(--soft)}\n"
    "th{font-weight:600}tbody th{font-weight:400}\n"
    "thead th{background:var(--card)}\n"
    "th.l,td.l{text-align:left}\n"
    "tr.first>*{border-top:2px solid var(--line)}\n"
    "pre{overflow-x:auto;background:var(--card);padding:.7rem .8rem;border-radius:4px;font-size:.85rem;"
    "line-height:1.4;margin:.5rem 0}\n"
    "code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}\n"
    "dl.facts{display:grid;grid-template-columns:auto 1fr;gap:.1rem 1rem;font-size:.9rem;margin:.5rem 0}\n"
    "dl.facts dt{color:var(--soft)}dl.facts dd{margin:0;min-width:0}\n"
    "details{margin:.8rem 0}summary{cursor:pointer;font-weight:600}\n"
    "footer{margin:3rem auto 1.5rem;border-top:1px solid var(--line);padding-top:.8rem}\n"
    "@media print{details>*{display:block}.scroll{overflow:visible;border:0}}\n";

void bli_html_text(const char *text, FILE *out) {
    while (text && *text) {
        const char before = *text;
        const unsigned character = bli_utf8_next(&text);
        char letter[5], *end = letter;
        bli_utf8_put(&end, before == '\n' ? '\n' : character);
        *end = '\0';
        switch (*letter) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputs(letter, out);
        }
    }
}

void bli_html_element(const char *name, const char *class, const char *text, FILE *out) {
    if (class)
        fprintf(out, "<%s class=\"%s\">", name, class);
    else
        fprintf(out, "<%s>", name);
    bli_html_text(text, out);
    fprintf(out, "</%s>\n", name);
}

void bli_html_table_begin(const char *caption, FILE *out) {
    fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
    bli_html_text(caption, out);
    fputs("\"><table>\n", out);
    bli_html_element("caption", NULL, caption, out);
}

void bli_html_table_head(const char *text, bool left, enum bli_html_scope scope, FILE *out) {
    fprintf(out, "<th scope=\"%s\"%s>", scope == BLI_HTML_COLUMN ? "col" : "row", left ? " class=\"l\"" : "");
    bli_html_text(text, out);
    fputs("</th>\n", out);
}

void bli_html_table_end(FILE *out) {
    fputs("</table></div>\n", out);
}

/* A page needs its own style, the attributes of its figures, and an empty icon. Should text from a file ever
 * become markup, the browser neither runs nor loads it. */
static const char policy[] = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
                             "form-action 'none'";

void bli_html_begin(const char *title, FILE *out) {
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n",
            policy);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n",
          out);
    bli_html_element("title", NULL, title, out);
    fprintf(out, "<style>\n%s</style>\n</head>\n<body>\n", style);
}

void bli_html_end(FILE *out) {
    fputs("</body>\n</html>\n", out);
}
