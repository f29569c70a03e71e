/* SPDX-License-Identifier: BSD-2-Clause */
/* The text is not regenerated, which would lose its comments and order: scalars are replaced in place.
 * libyaml gives their positions, in characters. */
#include "spec/embed_files.h"

#include "ballast/curve.h"
#include "plugin/loader.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 64 }; /* deeper files are refused by the reader */

/* A list or map that is open. */
struct yaml_level {
    bool map, key_next;
    bool wanted;      /* what stands here may name a file */
    bool values;      /* a list of values of an axis, which may have labels; of a map: it is under this key */
    bool policy;      /* what stands here names a policy */
    bool in_policies; /* a map in the list of policies */
};

struct yaml_scan {
    const char *text, *name;
    size_t length;
    struct bal_error *err;
    FILE *out;            /* NULL: nothing may be left to embed */
    size_t offset, index; /* the character up to which the text has been passed, in bytes and in number */
    size_t written;       /* bytes of the text that are written */
    unsigned depth;
    struct yaml_level level[DEPTH_MAX];
};

static enum bal_code no_memory(const struct yaml_scan *scan) {
    return bal_fail(scan->err, BAL_E_MEMORY, "%s: not enough memory to read it", scan->name);
}

static bool is_file(const char *text) {
    return strncmp(text, "file(", strlen("file(")) == 0;
}

/* Bytes in front of a character; positions ascend. */
static size_t bytes_before(struct yaml_scan *scan, size_t index) {
    for (; scan->index < index && scan->offset < scan->length; scan->index++)
        do
            scan->offset++;
        while (scan->offset < scan->length && (scan->text[scan->offset] & 0xc0) == 0x80);
    return scan->offset;
}

static void write_quoted(const char *text, FILE *out) {
    fputc('\'', out);
    for (; *text; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, 0}, out);
    fputc('\'', out);
}

/* A value of an axis keeps its name, which is shorter than a table. */
static void write_labelled(const char *label, const char *table, FILE *out) {
    fprintf(out, "{value: \"%s\", label: ", table);
    write_quoted(label, out);
    fputc('}', out);
}

/* Writes the text up to the scalar, and passes it; the caller writes what takes its place. */
static void pass_scalar(struct yaml_scan *scan, const yaml_event_t *event) {
    const size_t start = bytes_before(scan, event->start_mark.index);
    fwrite(scan->text + scan->written, 1, start - scan->written, scan->out);
    scan->written = bytes_before(scan, event->end_mark.index);
}

static void write_anchor(const yaml_event_t *event, FILE *out) {
    if (event->data.scalar.anchor)
        fprintf(out, "&%s ", (const char *)event->data.scalar.anchor);
}

static bool is_block(const yaml_event_t *event) {
    return event->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
           event->data.scalar.style == YAML_FOLDED_SCALAR_STYLE;
}

static enum bal_code replace_policy(struct yaml_scan *scan, const yaml_event_t *event) {
    const char *value = (const char *)event->data.scalar.value;
    const size_t line = event->start_mark.line + 1;
    if (!scan->out)
        return bli_plugin_is_pinned(value)
                   ? BAL_OK
                   : bal_fail(scan->err, BAL_E_MODEL,
                              "%s:%zu: policies: '%.200s' lies outside of this text and may have changed; "
                              "run the experiment from its file, which reads it",
                              scan->name, line, value);
    if (is_block(event))
        return bal_fail(scan->err, BAL_E_SYNTAX, "%s:%zu: policies: write the file on one line", scan->name,
                        line);
    char *pinned;
    struct bal_error inner = {0};
    if (bli_plugin_pin(value, scan->name, &pinned, &inner))
        return bal_fail(scan->err, inner.code, "%s:%zu: policies: %s", scan->name, line, inner.text);
    pass_scalar(scan, event);
    write_anchor(event, scan->out);
    write_quoted(pinned, scan->out);
    free(pinned);
    return BAL_OK;
}

static enum bal_code replace_curve(struct yaml_scan *scan, const yaml_event_t *event) {
    const char *value = (const char *)event->data.scalar.value;
    const size_t line = event->start_mark.line + 1;
    if (!scan->out)
        return bal_fail(scan->err, BAL_E_MODEL,
                        "%s:%zu: curve: '%.200s' lies outside of this text and may have changed; run the "
                        "experiment from its file, which reads it",
                        scan->name, line, value);
    if (is_block(event))
        return bal_fail(scan->err, BAL_E_SYNTAX, "%s:%zu: curve: write file(PATH) on the line of its field",
                        scan->name, line);
    struct bli_curve curve;
    struct bal_error inner = {0};
    if (bli_curve_parse(value, &curve, &inner))
        return bal_fail(scan->err, inner.code, "%s:%zu: %s", scan->name, line, inner.text);
    char table[BLI_CURVE_TEXT];
    bli_curve_print(&curve, table, sizeof table);
    pass_scalar(scan, event);
    const struct yaml_level *level = &scan->level[scan->depth - 1];
    if (!event->data.scalar.anchor && level->values && !level->map) {
        write_labelled(value, table, scan->out);
    } else {
        write_anchor(event, scan->out);
        fprintf(scan->out, "\"%s\"", table);
    }
    return BAL_OK;
}

/* A value has begun: what follows in a map is a key. */
static bool handle_value(struct yaml_scan *scan) {
    if (scan->depth == 0)
        return false;
    struct yaml_level *level = &scan->level[scan->depth - 1];
    level->key_next = level->map;
    return level->wanted;
}

static enum bal_code handle_scalar(struct yaml_scan *scan, const yaml_event_t *event) {
    const char *value = (const char *)event->data.scalar.value;
    struct yaml_level *level = scan->depth ? &scan->level[scan->depth - 1] : NULL;
    if (level && level->map && level->key_next) {
        level->values = !strcmp(value, "values");
        level->wanted = level->values || !strcmp(value, "curve") || !strcmp(value, "value");
        level->policy = (scan->depth == 1 && !strcmp(value, "policies")) ||
                        (level->in_policies && !strcmp(value, "policy"));
        level->key_next = false;
        return BAL_OK;
    }
    const bool policy = level && level->policy;
    if (handle_value(scan) && is_file(value))
        return replace_curve(scan, event);
    return policy && bli_plugin_is_path(value) ? replace_policy(scan, event) : BAL_OK;
}

/* A key that is itself a list or a map is no field of ours: nothing below it is wanted. */
static void open_level(struct yaml_scan *scan, bool map) {
    struct yaml_level *outer = scan->depth ? &scan->level[scan->depth - 1] : NULL;
    const bool key = outer && outer->map && outer->key_next;
    if (key)
        outer->key_next = outer->wanted = false;
    const bool wanted = !key && handle_value(scan), values = outer && outer->map && outer->values;
    const bool policy = !key && outer && outer->policy;
    scan->level[scan->depth++] = (struct yaml_level){.map = map,
                                                     .key_next = map,
                                                     .wanted = wanted && !map,
                                                     .values = wanted && !map && values,
                                                     .policy = policy && !map && outer->map,
                                                     .in_policies = policy && map && !outer->map};
}

static enum bal_code handle_event(struct yaml_scan *scan, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return handle_scalar(scan, event);
    case YAML_ALIAS_EVENT:
        handle_value(scan);
        return BAL_OK;
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        open_level(scan, event->type == YAML_MAPPING_START_EVENT);
        return BAL_OK;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        scan->depth--;
        return BAL_OK;
    default:
        return BAL_OK;
    }
}

static enum bal_code scan_document(struct yaml_scan *scan) {
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, which libyaml does not count */
    if (scan->length >= 2 && (!memcmp(scan->text, "\xff\xfe", 2) || !memcmp(scan->text, "\xfe\xff", 2)))
        return BAL_OK; /* UTF-16: places in it are not those of bytes */
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return no_memory(scan);
    if (scan->length >= strlen(mark) && memcmp(scan->text, mark, strlen(mark)) == 0)
        scan->offset = strlen(mark);
    yaml_parser_set_input_string(&parser, (const unsigned char *)scan->text, scan->length);
    enum bal_code code = BAL_OK;
    for (bool ended = false; !ended && !code;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            code = parser.error == YAML_MEMORY_ERROR ? no_memory(scan) : BAL_OK;
            break;
        }
        code = handle_event(scan, &event);
        ended = event.type == YAML_STREAM_END_EVENT || scan->depth == DEPTH_MAX;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return code;
}

enum bal_code bli_embed(const char *text, size_t length, const char *name, char **embedded, size_t *size,
                        struct bal_error *err) {
    *embedded = NULL;
    *size = 0;
    struct yaml_scan scan = {.text = text, .length = length, .name = name, .err = err};
    struct bli_strbuf gather;
    if (!bli_strbuf_open(&gather))
        return no_memory(&scan);
    scan.out = gather.stream;
    const enum bal_code code = scan_document(&scan);
    fwrite(text + scan.written, 1, length - scan.written, scan.out);
    if (!code && !bli_strbuf_close(&gather))
        return no_memory(&scan);
    if (code) {
        bli_strbuf_discard(&gather);
        return code;
    }
    *embedded = gather.text;
    *size = gather.size;
    return BAL_OK;
}

enum bal_code bli_embed_check(const char *text, size_t length, const char *name, struct bal_error *err) {
    struct yaml_scan scan = {.text = text, .length = length, .name = name, .err = err};
    return scan_document(&scan);
}
