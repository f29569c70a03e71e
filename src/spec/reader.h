/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading an experiment file: what read_experiment.c, axes.c, figures.c and claims.c share.
 */
#ifndef SPEC_READER_H
#define SPEC_READER_H

#include "spec/plan.h"

struct bal_reader {
    struct bal_document *document;
    int root;
    int overrides;            /* the map of the mode, 0: none */
    struct bal_experiment *e; /* being filled in */
    struct bal_arena *arena;
    struct bal_error *err;
    bool dangling; /* it failed at a reference to something that is not in the file */
};

/* Fails at a node; at the root when node is 0. */
#define bal_reader_fail(reader, node, field, ...)                                                            \
    bal_document_fail((reader)->document, (reader)->err, (node) ? (node) : (reader)->root, field, __VA_ARGS__)

#define bal_reader_lacks(reader, map, field, ...)                                                            \
    bal_document_fail_missing((reader)->document, (reader)->err, (map) ? (map) : (reader)->root, field,      \
                              __VA_ARGS__)

/* Memory that lives as long as the experiment; NULL leaves an error behind. */
void *bal_reader_take(struct bal_reader *reader, size_t count, size_t size);

/* Values of a map that has been checked against its table. Missing values are NULL or the fallback. */
const char *bal_reader_text(struct bal_reader *reader, int map, const char *name);
const char *bal_reader_line(struct bal_reader *reader, int map, const char *name); /* the same on one line */
double bal_reader_number(struct bal_reader *reader, int map, const char *name, double default_value);
bool bal_reader_flag(struct bal_reader *reader, int map, const char *name, bool default_value);
int bal_reader_choice(struct bal_reader *reader, int map, const char *name, const char *const *choices,
                      int default_value);
/* The member i of a list, or the node itself when it is not a list; and how many there are. */
size_t bal_reader_count(struct bal_reader *reader, int node);
int bal_reader_item(struct bal_reader *reader, int node, size_t i);

/* Is the figure or claim meant for another mode (`only`)? */
bool bal_reader_is_elsewhere(struct bal_reader *reader, int map);

/* References to other parts of the file; on failure the error lists the possible names. */
enum bal_code bal_reader_policy(struct bal_reader *reader, int node, const char *field, int *policy);
enum bal_code bal_reader_axis(struct bal_reader *reader, int node, const char *field, int *axis);
enum bal_code bal_reader_quantity(struct bal_reader *reader, int node, const char *field,
                                  struct bal_quantity *quantity);
/* The index of one value of an axis. */
enum bal_code bal_reader_value(struct bal_reader *reader, int node, int axis, int *value);
/* where: and policies: of a map; either may be 0, which selects everything. */
enum bal_code bal_reader_selection(struct bal_reader *reader, int where, int policies,
                                   const char *policies_field, struct bal_selection *selection);

/* The parts, in the order in which they must be read. */
enum bal_code bal_read_live(struct bal_reader *reader);
enum bal_code bal_read_policies(struct bal_reader *reader);
enum bal_code bal_read_sweep(struct bal_reader *reader);
enum bal_code bal_read_figures(struct bal_reader *reader);
enum bal_code bal_read_claims(struct bal_reader *reader);

/* The default name of a policy. */
const char *bal_live_label(struct bal_reader *reader, const struct bal_experiment_policy *entry);
/* In a file with `live`: the entry is marked as measured, and entry[1], whose index is given, becomes its
 * prediction. Returns false if it has none. */
bool bal_live_pair(struct bal_reader *reader, struct bal_experiment_policy *entry, int index);

/* In a file with `live`: sets what follows from it for the settings, and checks whether real processes can
 * run the settings of a point. */
enum bal_code bal_live_settings(struct bal_reader *reader, struct bal_draft *draft);
enum bal_code bal_live_check_point(struct bal_reader *reader, const struct bal_draft *draft, int policies,
                                   const char *at);

/* From the text of a baseline proxy, such as `random(2)`, to the policy that is its model. */
enum bal_code bal_baseline_parse(enum bal_proxy proxy, const char *text, struct bal_policy_spec *spec,
                                 struct bal_error *err);

/* ---- whole files ---- */

/* The text of a file, with what it takes from other files put into it; the caller frees it. */
enum bal_code bal_read_file(const char *path, char **text, size_t *length, struct bal_error *err);

/* bal_experiment_errors() of a text. */
size_t bal_document_errors(const char *text, size_t length, const char *name, enum bal_mode mode,
                           void (*tell)(void *context, const char *mistake), void *context);

/* From a text to its document, and from that to the experiment. */
enum bal_code bal_read_yaml(const char *text, size_t length, const char *name, struct bal_document **document,
                            struct bal_error *err);
enum bal_code bal_read_document(struct bal_document *document, const char *text, size_t length,
                                const char *name, enum bal_mode mode, struct bal_experiment **experiment,
                                bool *dangling, struct bal_error *err);

#endif
