/* SPDX-License-Identifier: BSD-2-Clause */
/* A YAML document that keeps the position of every value.
 *
 * libyaml parses; this adds values by name, and errors with file, line and field. Nodes are numbers from 1; 0
 * is no node. For any input the tree is finite, at most 32 levels deep and no larger than the file; but with
 * an alias one node is a part of several others. */
#ifndef FORMAT_DOCUMENT_H
#define FORMAT_DOCUMENT_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

struct bli_document;

enum bli_node_kind { BLI_NODE_TEXT, BLI_NODE_LIST, BLI_NODE_MAP };

/* Parses one document; name stands for the file in messages and must outlive it. */
enum bal_code bli_document_new(const char *text, size_t length, const char *name,
                               struct bli_document **document, struct bal_error *err);
void bli_document_free(struct bli_document *document);

int bli_document_root(struct bli_document *document);
enum bli_node_kind bli_node_kind(struct bli_document *document, int node);
unsigned bli_node_line(struct bli_document *document, int node);   /* from 1 */
unsigned bli_node_column(struct bli_document *document, int node); /* from 1 */
/* The text of a text node, terminated; it has no zero inside. */
const char *bli_node_text(struct bli_document *document, int node);
/* Members of a list or pairs of a map. */
size_t bli_node_count(struct bli_document *document, int node);
int bli_node_item(struct bli_document *document, int node, size_t i);
int bli_node_key(struct bli_document *document, int node, size_t i);
int bli_node_value(struct bli_document *document, int node, size_t i);
/* The value of that name in a map; 0 when there is none or node is 0. */
int bli_node_get(struct bli_document *document, int node, const char *name);

/* Counts steps of work on the document, and fails when there are more than any sensible file needs: aliases
 * can make a short file very large. */
enum bal_code bli_document_count_steps(struct bli_document *document, size_t steps, struct bal_error *err);

/* Fails with "file:line: field: ...". */
enum bal_code bli_document_fail(struct bli_document *document, struct bal_error *err, int node,
                                const char *field, enum bal_code code, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* The same for a field that should be in the map at the node; help describes the field. */
enum bal_code bli_document_fail_missing(struct bli_document *document, struct bal_error *err, int map,
                                        const char *field, const char *name, const char *help);

/* ---- going on after a failure ---- */

/* Where the last failure was; 0: it was not one of a node. And the name of what is missing there, or NULL. */
int bli_document_failed_at(struct bli_document *document);
const char *bli_document_missing(struct bli_document *document);
/* Forgets the last failure and the steps that were counted. */
void bli_document_clear_failure(struct bli_document *document);

/* The name of the field whose value a node is; "": it is none. */
const char *bli_document_name(struct bli_document *document, int node);
/* Takes a value out of the document with its name, or a name with its value, or a member of a list; a list or
 * map that is empty then goes too. The root stays. Returns the map or list from which a value was taken last,
 * 0 when it was a name. */
int bli_document_blank_out(struct bli_document *document, int node);
/* Adds a missing field to a map, with a placeholder text. Returns false when there is no memory. */
bool bli_document_add_placeholder(struct bli_document *document, int map, const char *name);

#endif
