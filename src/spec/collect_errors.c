/* SPDX-License-Identifier: BSD-2-Clause */
/* All mistakes of an experiment file at once.
 *
 * Reading stops at the first mistake. So the place where it stopped is blanked out and the rest is read
 * again, as if the place had been left out, until no mistake is left. What is wrong only
 * because something else was blanked out (a field that is missing now, a name that no longer exists) is not
 * reported.
 */
#include "spec/reader.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 100 }; /* rounds; a file with more mistakes is another kind of file */

struct mistake {
    unsigned line;
    unsigned order; /* in which it was found */
    char text[sizeof((struct bal_error *)NULL)->text];
};

struct error_search {
    struct bli_document *document;
    struct mistake mistake[MOST];
    size_t count;
    int from[MOST]; /* maps and lists from which something was taken */
    size_t blanked_count;
    const char *blanked[10 * MOST]; /* texts that were taken out: names of fields, policies, axes, values */
    size_t blanked_texts;
};

static void add_mistake(struct error_search *search, unsigned line, const char *text) {
    struct mistake *mistake = &search->mistake[search->count];
    *mistake = (struct mistake){.line = line, .order = (unsigned)search->count};
    memcpy(mistake->text, text, sizeof mistake->text);
    search->count++;
}

/* The root, or a section of settings: all cells need these. */
static bool is_section(struct bli_document *document, int node) {
    const int root = bli_document_root(document);
    for (size_t i = 0; i < BLI_SECTIONS; i++)
        if (bli_node_get(document, root, bli_section[i].name) == node)
            return true;
    return node == root;
}

static bool is_blanked(const struct error_search *search, const char *text, size_t length) {
    for (size_t i = 0; i < search->blanked_texts; i++)
        if (strncmp(search->blanked[i], text, length) == 0 && strchr(":", search->blanked[i][length]))
            return true;
    return false;
}

/* Was the thing that a name refers to blanked out? pod.d needs pod, and policy.d any policy. */
static bool refers_to_blanked(const struct error_search *search, int node) {
    if (bli_node_kind(search->document, node) != BLI_NODE_TEXT)
        return false;
    const char *text = bli_node_text(search->document, node);
    return is_blanked(search, text, strlen(text)) || is_blanked(search, text, strcspn(text, ".")) ||
           strncmp(text, "policy.", strlen("policy.")) == 0;
}

/* Would it be right if nothing had been blanked out? */
static bool is_consequence(const struct error_search *search, bool dangling) {
    const int node = bli_document_failed_at(search->document);
    const char *missing = bli_document_missing(search->document);
    if (missing && is_blanked(search, missing, strlen(missing)) && is_section(search->document, node))
        return true;
    for (size_t i = 0; i < search->blanked_count; i++)
        if (search->from[i] == node && node != bli_document_root(search->document))
            return true;
    return dangling && search->blanked_count > 0 && refers_to_blanked(search, node);
}

/* Remembers the texts of what is blanked out. */
static void remember_texts(struct error_search *search, int node) {
    struct bli_document *document = search->document;
    const size_t count = bli_node_kind(document, node) == BLI_NODE_TEXT ? 0 : bli_node_count(document, node);
    if (count == 0 && search->blanked_texts < sizeof search->blanked / sizeof *search->blanked)
        search->blanked[search->blanked_texts++] = bli_node_text(document, node);
    for (size_t i = 0; i < count; i++)
        remember_texts(search, bli_node_kind(document, node) == BLI_NODE_MAP
                                   ? bli_node_value(document, node, i)
                                   : bli_node_item(document, node, i));
}

/* Removes what is wrong, so that the rest can be checked. Returns false when that is not possible. */
static bool blank_out(struct error_search *search) {
    struct bli_document *document = search->document;
    const int node = bli_document_failed_at(document), root = bli_document_root(document);
    const char *missing = bli_document_missing(document);
    if (!node)
        return false;
    if (node == root) /* without policies there is nothing to look at */
        return missing && strcmp(missing, "title") == 0 &&
               bli_document_add_placeholder(document, root, missing);
    if (is_section(document, node))
        return false;
    remember_texts(search, node);
    const char *name = bli_document_name(document, node);
    if (*name && search->blanked_texts < sizeof search->blanked / sizeof *search->blanked)
        search->blanked[search->blanked_texts++] = name;
    search->from[search->blanked_count++] = bli_document_blank_out(document, node);
    return true;
}

static void collect_errors(struct error_search *search, const char *text, size_t length, const char *name,
                           enum bli_mode mode) {
    for (int round = 0; round < MOST; round++) {
        struct bli_experiment *experiment = NULL;
        struct bal_error err = {0};
        bool dangling = false;
        bli_document_clear_failure(search->document);
        if (!bli_read_document(search->document, text, length, name, mode, &experiment, &dangling, &err)) {
            bli_experiment_free(experiment);
            return;
        }
        const int node = bli_document_failed_at(search->document);
        if (!is_consequence(search, dangling))
            add_mistake(search, node ? bli_node_line(search->document, node) : 0, err.text);
        if (err.code == BAL_E_MEMORY || !blank_out(search))
            return;
    }
}

static int by_line(const void *a, const void *b) {
    const struct mistake *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->order > y->order) - (x->order < y->order);
}

static size_t report_all(struct error_search *search, void (*tell)(void *context, const char *mistake),
                         void *context) {
    qsort(search->mistake, search->count, sizeof *search->mistake, by_line);
    for (size_t i = 0; i < search->count; i++)
        tell(context, search->mistake[i].text);
    return search->count;
}

size_t bli_document_errors(const char *text, size_t length, const char *name, enum bli_mode mode,
                           void (*tell)(void *context, const char *mistake), void *context) {
    struct bal_error err = {0};
    struct error_search *search = calloc(1, sizeof *search);
    if (!search) {
        bal_fail(&err, BAL_E_MEMORY, "%s: not enough memory to read it", name);
        tell(context, err.text);
        return 1;
    }
    if (bli_read_yaml(text, length, name, &search->document, &err))
        add_mistake(search, 0, err.text);
    else
        collect_errors(search, text, length, name, mode);
    const size_t count = report_all(search, tell, context);
    bli_document_free(search->document);
    free(search);
    return count;
}

size_t bli_experiment_errors(const char *path, enum bli_mode mode,
                             void (*tell)(void *context, const char *mistake), void *context) {
    struct bal_error err = {0};
    char *text;
    size_t length;
    if (bli_read_file(path, &text, &length, &err)) {
        tell(context, err.text);
        return 1;
    }
    const size_t count = bli_document_errors(text, length, path, mode, tell, context);
    free(text);
    return count;
}
