/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of libyaml made into a tree. libyaml could build one itself, but it takes time that grows with the
 * square of the nesting and of the number of anchors; here both are bounded, and no alias can make a node
 * contain itself. */
#include "format/document.h"

#include "base/arena.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 32, ANCHORS_MAX = 200, STEPS_MAX = 5000000 };

struct node {
    enum bli_node_kind kind;
    unsigned line, column;
    const char *text;
    size_t count; /* members of a list, pairs of a map */
    int *child;   /* of a map: key, value, key, value, ... */
};

struct anchor {
    const char *name;
    int node;
};

/* A list or map that is not complete yet. */
struct open {
    int node;
    const char *anchor; /* NULL: none */
    size_t count, capacity;
    int *child;
};

struct bli_document {
    const char *name;
    size_t steps;
    struct bli_arena arena;
    int nodes, capacity;
    struct node *node; /* node[0] is not used */
    int failed_at;
    const char *missing;
};

struct builder {
    struct bli_document *document;
    const char *text;
    size_t length;
    struct bal_error *err;
    unsigned depth, anchors, documents;
    struct open open[DEPTH_MAX + 1]; /* open[0] collects the root */
    struct anchor anchor[ANCHORS_MAX];
};

/* ---- building ---- */

static enum bal_code no_memory(struct builder *b) {
    return bal_fail(b->err, BAL_E_MEMORY, "%s: not enough memory to read it", b->document->name);
}

static enum bal_code fail_at(struct builder *b, const yaml_event_t *event, const char *what) {
    return bal_fail(b->err, BAL_E_SYNTAX, "%s:%zu:%zu: %s", b->document->name, event->start_mark.line + 1,
                    event->start_mark.column + 1, what);
}

static int add_node(struct bli_document *d, enum bli_node_kind kind, unsigned line, unsigned column) {
    if (d->nodes + 1 >= d->capacity) {
        const int capacity = d->capacity ? 2 * d->capacity : 256;
        struct node *node = realloc(d->node, (size_t)capacity * sizeof *node);
        if (!node)
            return 0;
        d->node = node;
        d->capacity = capacity;
    }
    d->node[++d->nodes] = (struct node){.kind = kind, .line = line, .column = column, .text = ""};
    return d->nodes;
}

static int add_node_of(struct builder *b, enum bli_node_kind kind, const yaml_event_t *event) {
    return add_node(b->document, kind, (unsigned)event->start_mark.line + 1,
                    (unsigned)event->start_mark.column + 1);
}

static bool add_child(struct open *open, int node) {
    if (open->count == open->capacity) {
        const size_t capacity = open->capacity ? 2 * open->capacity : 16;
        int *child = realloc(open->child, capacity * sizeof *child);
        if (!child)
            return false;
        open->child = child;
        open->capacity = capacity;
    }
    open->child[open->count++] = node;
    return true;
}

/* From here on the name means this node. */
static enum bal_code name_node(struct builder *b, const yaml_event_t *event, const char *name, int node) {
    if (!name)
        return BAL_OK;
    if (b->anchors == ANCHORS_MAX)
        return fail_at(b, event, "too many anchors; at most 200 are possible");
    b->anchor[b->anchors++] = (struct anchor){name, node};
    return BAL_OK;
}

/* A copy without control characters; NULL for NULL. */
static const char *copy_text(struct builder *b, yaml_char_t *text) {
    return text ? bli_arena_text(&b->document->arena, (char *)text, bli_utf8_tame((char *)text, "\n\t"))
                : NULL;
}

static enum bal_code add_text(struct builder *b, const yaml_event_t *event) {
    yaml_char_t *value = event->data.scalar.value, *anchor = event->data.scalar.anchor;
    if (strlen((const char *)value) != event->data.scalar.length)
        return fail_at(b, event, "a text with a zero character in it; leave that out");
    const int node = add_node_of(b, BLI_NODE_TEXT, event);
    const char *text = copy_text(b, value), *name = copy_text(b, anchor);
    if (!node || b->document->arena.lost || !add_child(&b->open[b->depth], node))
        return no_memory(b);
    b->document->node[node].text = text;
    return name_node(b, event, name, node);
}

/* The latest node of that name, as YAML has it. */
static enum bal_code add_alias(struct builder *b, const yaml_event_t *event) {
    const char *name = (const char *)event->data.alias.anchor;
    for (unsigned i = b->anchors; i-- > 0;)
        if (strcmp(b->anchor[i].name, name) == 0)
            return add_child(&b->open[b->depth], b->anchor[i].node) ? BAL_OK : no_memory(b);
    return fail_at(b, event, "an alias (*) of something that has not been named with & before");
}

static enum bal_code begin_collection(struct builder *b, const yaml_event_t *event, enum bli_node_kind kind,
                                      yaml_char_t *anchor) {
    if (b->depth == DEPTH_MAX)
        return fail_at(b, event, "lists and maps are nested too deeply; at most 32 levels are possible");
    const int node = add_node_of(b, kind, event);
    const char *name = copy_text(b, anchor);
    if (!node || b->document->arena.lost || !add_child(&b->open[b->depth], node))
        return no_memory(b);
    b->open[++b->depth] = (struct open){.node = node, .anchor = name};
    return BAL_OK;
}

static enum bal_code end_collection(struct builder *b, const yaml_event_t *event) {
    struct open *open = &b->open[b->depth];
    struct node *node = &b->document->node[open->node];
    node->child = bli_arena_take(&b->document->arena, open->count, sizeof *node->child);
    if (!node->child)
        return no_memory(b);
    if (open->count)
        memcpy(node->child, open->child, open->count * sizeof *node->child);
    node->count = node->kind == BLI_NODE_MAP ? open->count / 2 : open->count;
    free(open->child);
    open->child = NULL;
    b->depth--;
    return name_node(b, event, open->anchor, open->node);
}

static enum bal_code handle_event(struct builder *b, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return b->documents++ ? fail_at(b, event, "a second document; a file is one, so remove the '---'")
                              : BAL_OK;
    case YAML_SCALAR_EVENT:
        return add_text(b, event);
    case YAML_ALIAS_EVENT:
        return add_alias(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return begin_collection(b, event, BLI_NODE_LIST, event->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return begin_collection(b, event, BLI_NODE_MAP, event->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return end_collection(b, event);
    default:
        return BAL_OK;
    }
}

/* ---- parsing ---- */

struct place {
    unsigned line, column; /* from 1 */
};

static struct place position_of_offset(const char *text, size_t length, size_t offset) {
    struct place place = {1, 1};
    for (size_t i = 0; i < offset && i < length; i++)
        place = text[i] == '\n' ? (struct place){place.line + 1, 1}
                                : (struct place){place.line, place.column + 1};
    return place;
}

/* The error message of libyaml, in one line. */
static enum bal_code fail_parse(struct builder *b, const yaml_parser_t *parser) {
    const char *name = b->document->name;
    const char *problem = parser->problem ? parser->problem : "it cannot be read";
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(b);
    if (parser->error == YAML_READER_ERROR) {
        const struct place place = position_of_offset(b->text, b->length, parser->problem_offset);
        return bal_fail(b->err, BAL_E_SYNTAX, "%s:%u:%u: not YAML: %s; the file must be plain text in UTF-8",
                        name, place.line, place.column, problem);
    }
    return bal_fail(b->err, BAL_E_SYNTAX,
                    "%s:%zu:%zu: not YAML: %s%s%s; look at the indentation, colons and quotes there", name,
                    parser->problem_mark.line + 1, parser->problem_mark.column + 1, problem,
                    parser->context ? " " : "", parser->context ? parser->context : "");
}

/* libyaml would read it, but texts in which every other byte is 0 cannot be kept. */
static bool is_utf16(const struct builder *b) {
    return b->length >= 2 && (memcmp(b->text, "\xff\xfe", 2) == 0 || memcmp(b->text, "\xfe\xff", 2) == 0);
}

static enum bal_code parse_events(struct builder *b, yaml_parser_t *parser) {
    if (is_utf16(b))
        return bal_fail(b->err, BAL_E_SYNTAX, "%s:1:1: the file is in UTF-16; save it as UTF-8",
                        b->document->name);
    yaml_parser_set_input_string(parser, (const unsigned char *)b->text, b->length);
    for (bool ended = false; !ended;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return fail_parse(b, parser);
        const enum bal_code code = handle_event(b, &event);
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (code)
            return code;
    }
    if (b->document->nodes == 0)
        return bal_fail(b->err, BAL_E_SYNTAX, "%s:1:1: the file is empty", b->document->name);
    return BAL_OK;
}

enum bal_code bli_document_new(const char *text, size_t length, const char *name,
                               struct bli_document **document, struct bal_error *err) {
    struct bli_document *result = calloc(1, sizeof *result);
    struct builder *b = calloc(1, sizeof *b);
    yaml_parser_t parser;
    if (!result || !b || !yaml_parser_initialize(&parser)) {
        free(result);
        free(b);
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", name);
    }
    result->name = name;
    *b = (struct builder){.document = result, .text = text, .length = length, .err = err};
    const enum bal_code code = parse_events(b, &parser);
    yaml_parser_delete(&parser);
    for (unsigned i = 0; i <= b->depth; i++)
        free(b->open[i].child);
    free(b);
    if (code)
        bli_document_free(result);
    else
        *document = result;
    return code;
}

void bli_document_free(struct bli_document *document) {
    if (!document)
        return;
    bli_arena_fini(&document->arena);
    free(document->node);
    free(document);
}

/* ---- looking at it ---- */

int bli_document_root(struct bli_document *document) {
    (void)document;
    return 1; /* the first node that begins */
}

enum bli_node_kind bli_node_kind(struct bli_document *document, int node) {
    return document->node[node].kind;
}

unsigned bli_node_line(struct bli_document *document, int node) {
    return document->node[node].line;
}

unsigned bli_node_column(struct bli_document *document, int node) {
    return document->node[node].column;
}

const char *bli_node_text(struct bli_document *document, int node) {
    return document->node[node].text;
}

size_t bli_node_count(struct bli_document *document, int node) {
    return document->node[node].count;
}

int bli_node_item(struct bli_document *document, int node, size_t i) {
    return document->node[node].child[i];
}

int bli_node_key(struct bli_document *document, int node, size_t i) {
    return document->node[node].child[2 * i];
}

int bli_node_value(struct bli_document *document, int node, size_t i) {
    return document->node[node].child[2 * i + 1];
}

int bli_node_get(struct bli_document *document, int node, const char *name) {
    if (node == 0 || bli_node_kind(document, node) != BLI_NODE_MAP)
        return 0;
    for (size_t i = 0; i < bli_node_count(document, node); i++) {
        const int key = bli_node_key(document, node, i);
        if (bli_node_kind(document, key) == BLI_NODE_TEXT && strcmp(bli_node_text(document, key), name) == 0)
            return bli_node_value(document, node, i);
    }
    return 0;
}

enum bal_code bli_document_count_steps(struct bli_document *document, size_t steps, struct bal_error *err) {
    document->steps += steps;
    if (document->steps <= STEPS_MAX)
        return BAL_OK;
    return bal_fail(err, BAL_E_RANGE,
                    "%s: the file is too large in what it repeats; use fewer values or aliases",
                    document->name);
}

enum bal_code bli_document_fail(struct bli_document *document, struct bal_error *err, int node,
                                const char *field, enum bal_code code, const char *format, ...) {
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    document->failed_at = node;
    document->missing = NULL;
    return bal_fail(err, code, "%s:%u: %s%s%s", document->name, bli_node_line(document, node), field,
                    *field ? ": " : "", text);
}

enum bal_code bli_document_fail_missing(struct bli_document *document, struct bal_error *err, int map,
                                        const char *field, const char *name, const char *help) {
    const enum bal_code code =
        bli_document_fail(document, err, map, field, BAL_E_SYNTAX, "field '%s' is missing: %s", name, help);
    document->missing = name;
    return code;
}

/* ---- going on after a failure ---- */

int bli_document_failed_at(struct bli_document *document) {
    return document->failed_at;
}

const char *bli_document_missing(struct bli_document *document) {
    return document->missing;
}

void bli_document_clear_failure(struct bli_document *document) {
    document->failed_at = 0;
    document->missing = NULL;
    document->steps = 0;
}

static size_t child_slots(const struct node *node) {
    return node->kind == BLI_NODE_MAP ? 2 * node->count : node->count;
}

/* The first node, after another one, that has this one as a child; 0: none. *place is its index. */
static int parent_after(const struct bli_document *document, int after, int child, size_t *place) {
    for (int i = after + 1; i <= document->nodes; i++)
        for (size_t k = 0; k < child_slots(&document->node[i]); k++)
            if (document->node[i].child[k] == child) {
                *place = k;
                return i;
            }
    return 0;
}

const char *bli_document_name(struct bli_document *document, int node) {
    size_t place = 0;
    const int parent = parent_after(document, 0, node, &place);
    const bool is_value = parent && document->node[parent].kind == BLI_NODE_MAP && place % 2;
    return is_value ? bli_node_text(document, document->node[parent].child[place - 1]) : "";
}

/* Removes a member, or a pair that a child belongs to. */
static void remove_child(struct node *node, size_t place) {
    const size_t width = node->kind == BLI_NODE_MAP ? 2 : 1;
    const size_t first = place / width * width, behind = child_slots(node) - first - width;
    memmove(&node->child[first], &node->child[first + width], behind * sizeof *node->child);
    node->count--;
}

int bli_document_blank_out(struct bli_document *document, int node) {
    const int root = bli_document_root(document);
    int from = 0;
    size_t place = 0;
    for (int parent = 0; node != root && (parent = parent_after(document, parent, node, &place));) {
        struct node *holder = &document->node[parent];
        from = holder->kind == BLI_NODE_LIST || place % 2 ? parent : 0;
        remove_child(holder, place);
        if (holder->count == 0 && parent != root)
            from = bli_document_blank_out(document, parent);
        parent--; /* it may have the node once more */
    }
    return from;
}

static int add_placeholder(struct bli_document *document, const char *text, unsigned line) {
    const int node = add_node(document, BLI_NODE_TEXT, line, 1);
    if (node)
        document->node[node].text = text;
    return node;
}

bool bli_document_add_placeholder(struct bli_document *document, int map, const char *name) {
    const size_t count = child_slots(&document->node[map]);
    const unsigned line = bli_node_line(document, map);
    int *child = bli_arena_take(&document->arena, count + 2, sizeof *child);
    const int key = add_placeholder(document, name, line),
              value = key ? add_placeholder(document, "-", line) : 0;
    if (!child || !value)
        return false;
    struct node *node = &document->node[map];
    memcpy(child, node->child, count * sizeof *child);
    child[count] = key;
    child[count + 1] = value;
    node->child = child;
    node->count++;
    return true;
}
