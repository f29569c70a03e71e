#include "lab/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { STEPS_MAX = 5000000 };

struct bal_document {
    const char *name;
    size_t steps;
    yaml_document_t yaml;
};

static unsigned line_of_offset(const char *text, size_t length, size_t offset) {
    unsigned line = 1;
    for (size_t i = 0; i < offset && i < length; i++)
        line += text[i] == '\n';
    return line;
}

/* What libyaml has to say, in one line. */
static enum bal_code fail_parse(const yaml_parser_t *parser, const char *text, size_t length, const char *name,
                                struct bal_error *err) {
    const char *problem = parser->problem ? parser->problem : "it cannot be read";
    if (parser->error == YAML_MEMORY_ERROR)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", name);
    if (parser->error == YAML_READER_ERROR)
        return bal_fail(err, BAL_E_SYNTAX, "%s:%u: not YAML: %s; the file must be plain text in UTF-8", name,
                        line_of_offset(text, length, parser->problem_offset), problem);
    return bal_fail(err, BAL_E_SYNTAX, "%s:%zu: not YAML: %s%s%s; look at the indentation, colons and quotes there", name,
                    parser->problem_mark.line + 1, problem, parser->context ? " " : "",
                    parser->context ? parser->context : "");
}

static yaml_node_t *get(struct bal_document *document, int node) {
    return yaml_document_get_node(&document->yaml, node);
}

/* A text with a zero in it would be cut off there by everyone who reads it. */
static enum bal_code check_texts(struct bal_document *document, struct bal_error *err) {
    const yaml_node_t *end = document->yaml.nodes.top;
    for (const yaml_node_t *node = document->yaml.nodes.start; node < end; node++)
        if (node->type == YAML_SCALAR_NODE && strlen((const char *)node->data.scalar.value) != node->data.scalar.length)
            return bal_fail(err, BAL_E_SYNTAX, "%s:%zu: a text with a zero character in it; leave that out",
                            document->name, node->start_mark.line + 1);
    return BAL_OK;
}

static enum bal_code expect_end(yaml_parser_t *parser, const char *text, size_t length, const char *name,
                                struct bal_error *err) {
    yaml_document_t next;
    if (!yaml_parser_load(parser, &next))
        return fail_parse(parser, text, length, name, err);
    const bool ended = !yaml_document_get_root_node(&next);
    const size_t line = next.start_mark.line + 1;
    yaml_document_delete(&next);
    return ended ? BAL_OK
                 : bal_fail(err, BAL_E_SYNTAX, "%s:%zu: a second document; an experiment is one, so remove the '---'",
                            name, line);
}

static enum bal_code parse(yaml_parser_t *parser, const char *text, size_t length, struct bal_document *document,
                           struct bal_error *err) {
    yaml_parser_set_input_string(parser, (const unsigned char *)text, length);
    if (!yaml_parser_load(parser, &document->yaml))
        return fail_parse(parser, text, length, document->name, err);
    enum bal_code code = BAL_OK;
    if (!yaml_document_get_root_node(&document->yaml))
        code = bal_fail(err, BAL_E_SYNTAX, "%s:1: the file is empty; it should describe an experiment", document->name);
    if (!code)
        code = expect_end(parser, text, length, document->name, err);
    if (!code)
        code = check_texts(document, err);
    if (code)
        yaml_document_delete(&document->yaml);
    return code;
}

enum bal_code bal_document_new(const char *text, size_t length, const char *name, struct bal_document **document,
                               struct bal_error *err) {
    struct bal_document *result = calloc(1, sizeof *result);
    yaml_parser_t parser;
    if (!result || !yaml_parser_initialize(&parser)) {
        free(result);
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to read it", name);
    }
    result->name = name;
    const enum bal_code code = parse(&parser, text, length, result, err);
    yaml_parser_delete(&parser);
    if (code) {
        free(result);
        return code;
    }
    *document = result;
    return BAL_OK;
}

void bal_document_free(struct bal_document *document) {
    if (!document)
        return;
    yaml_document_delete(&document->yaml);
    free(document);
}

int bal_document_root(struct bal_document *document) {
    (void)document;
    return 1;
}

enum bal_node_kind bal_node_kind(struct bal_document *document, int node) {
    switch (get(document, node)->type) {
    case YAML_SEQUENCE_NODE:
        return BAL_NODE_LIST;
    case YAML_MAPPING_NODE:
        return BAL_NODE_MAP;
    default:
        return BAL_NODE_TEXT;
    }
}

unsigned bal_node_line(struct bal_document *document, int node) {
    return (unsigned)get(document, node)->start_mark.line + 1;
}

const char *bal_node_text(struct bal_document *document, int node) {
    return (const char *)get(document, node)->data.scalar.value;
}

size_t bal_node_count(struct bal_document *document, int node) {
    const yaml_node_t *n = get(document, node);
    if (n->type == YAML_SEQUENCE_NODE)
        return (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
    if (n->type == YAML_MAPPING_NODE)
        return (size_t)(n->data.mapping.pairs.top - n->data.mapping.pairs.start);
    return 0;
}

int bal_node_item(struct bal_document *document, int node, size_t i) {
    return get(document, node)->data.sequence.items.start[i];
}

int bal_node_key(struct bal_document *document, int node, size_t i) {
    return get(document, node)->data.mapping.pairs.start[i].key;
}

int bal_node_value(struct bal_document *document, int node, size_t i) {
    return get(document, node)->data.mapping.pairs.start[i].value;
}

int bal_node_get(struct bal_document *document, int node, const char *name) {
    if (node == 0 || bal_node_kind(document, node) != BAL_NODE_MAP)
        return 0;
    for (size_t i = 0; i < bal_node_count(document, node); i++) {
        const int key = bal_node_key(document, node, i);
        if (bal_node_kind(document, key) == BAL_NODE_TEXT && strcmp(bal_node_text(document, key), name) == 0)
            return bal_node_value(document, node, i);
    }
    return 0;
}

enum bal_code bal_document_spend(struct bal_document *document, size_t steps, struct bal_error *err) {
    document->steps += steps;
    if (document->steps <= STEPS_MAX)
        return BAL_OK;
    return bal_fail(err, BAL_E_RANGE, "%s: the file is too large in what it repeats; use fewer values or aliases",
                    document->name);
}

enum bal_code bal_document_fail(struct bal_document *document, struct bal_error *err, int node, const char *field,
                                enum bal_code code, const char *format, ...) {
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return bal_fail(err, code, "%s:%u: %s%s%s", document->name, bal_node_line(document, node), field, *field ? ": " : "", text);
}
