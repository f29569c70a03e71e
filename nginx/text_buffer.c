/* SPDX-License-Identifier: BSD-2-Clause */
/* Text buffers that grow. */
#include "text_buffer.h"

#include <stdarg.h>
#include <string.h>

/* Makes space for so many more bytes. */
static u_char *reserve(struct bli_ngx_text *text, size_t more) {
    if (text->failed)
        return NULL;
    if (text->room - text->length >= more)
        return text->data + text->length;
    const size_t wanted = 2 * (text->length + more);
    u_char *data = ngx_alloc(wanted, ngx_cycle->log);
    text->failed = !data;
    if (!data)
        return NULL;
    if (text->data)
        memcpy(data, text->data, text->length);
    ngx_free(text->data);
    text->data = data;
    text->room = wanted;
    return data + text->length;
}

void bli_ngx_text_printf(struct bli_ngx_text *text, const char *format, ...) {
    u_char *at = reserve(text, BLI_NGX_TEXT_ONCE);
    va_list args;
    if (!at)
        return;
    va_start(args, format);
    text->length += (size_t)(ngx_vslprintf(at, at + BLI_NGX_TEXT_ONCE, format, args) - at);
    va_end(args);
}

static void append(struct bli_ngx_text *text, const void *bytes, size_t count) {
    u_char *at = reserve(text, count);
    if (!at)
        return;
    memcpy(at, bytes, count);
    text->length += count;
}

void bli_ngx_text_json_string(struct bli_ngx_text *text, const char *name, size_t length) {
    u_char *at = (u_char *)name, *end = at + length;
    append(text, "\"", 1);
    while (at < end) {
        u_char *from = at;
        const u_char c = *at;
        if (c >= 0x80) {
            if (ngx_utf8_decode(&at, (size_t)(end - at)) <= 0x10ffff) {
                append(text, from, (size_t)(at - from));
            } else {
                append(text, "\\ufffd", 6);
                at = from + 1;
            }
            continue;
        }
        at++;
        if (c == '"' || c == '\\')
            append(text, "\\", 1);
        if (c < ' ' || c == 0x7f)
            bli_ngx_text_printf(text, "\\u%04xD", (uint32_t)c);
        else
            append(text, &c, 1);
    }
    append(text, "\"", 1);
}

void bli_ngx_text_seconds(struct bli_ngx_text *text, uint64_t ns) {
    uint64_t part = ns % 1000000000;
    ngx_uint_t digits = 9;
    bli_ngx_text_printf(text, "%uL", ns / 1000000000);
    if (part == 0)
        return;
    for (; part % 10 == 0; part /= 10)
        digits--;
    static const char *const formats[] = {"",       ".%01uL", ".%02uL", ".%03uL", ".%04uL",
                                          ".%05uL", ".%06uL", ".%07uL", ".%08uL", ".%09uL"};
    bli_ngx_text_printf(text, formats[digits], part);
}
