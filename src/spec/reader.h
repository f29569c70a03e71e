/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading an experiment file: what read_experiment.c, axes.c, figures.c and claims.c share.
 */
#ifndef SPEC_READER_H
#define SPEC_READER_H

#include "spec/plan.h"

struct bli_reader {
    struct bli_document *document;
    int root;
    int overrides;            /* the map of the mode, 0: none */
    struct bli_experiment *e; /* being filled in */
    struct bli_arena *arena;
    struct bal_error *err;
    bool dangling; /* it failed at a reference to something that is not in the file */
};

/* Fails at a node; at the root when node is 0. */
#define bli_reader_fail(reader, node, field, ...)                                                            \
    bli_document_fail((reader)->document, (reader)->err, (node) ? (node) : (reader)->root, field, __VA_ARGS__)

#define bli_reader_lacks(reader, map, field, ...)                                                            \
    bli_document_fail_missing((reader)->document, (reader)->err, (map) ? (map) : (reader)->root, field,      \
                              __VA_ARGS__)

/* Memory that lives as long as the experiment; NULL leaves an error behind. */
void *bli_reader_take(struct bli_reader *reader, size_t count, size_t size);

/* Values of a map that has been checked against its table. Missing values are NULL or the fallback. */
const char *bli_reader_text(struct bli_reader *reader, int map, const char *name);
const char *bli_reader_line(struct bli_reader *reader, int map, const char *name); /* the same on one line */
double bli_reader_number(struct bli_reader *reader, int map, const char *name, double default_value);
bool bli_reader_flag(struct bli_reader *reader, int map, const char *name, bool default_value);
int bli_reader_choice(struct bli_reader *reader, int map, const char *name, const char *const *choices,
                      int default_value);
/* The member i of a list, or the node itself when it is not a list; and how many there are. */
size_t bli_reader_count(struct bli_reader *reader, int node);
int bli_reader_item(struct bli_reader *reader, int node, size_t i);

/* Is the figure or claim meant for another mode (`only`)? */
bool bli_reader_is_elsewhere(struct bli_reader *reader, int map);

/* References to other parts of the file; on failure the error lists the possible names. */
enum bal_code bli_reader_policy(struct bli_reader *reader, int node, const char *field, int *policy);
enum bal_code bli_reader_axis(struct bli_reader *reader, int node, const char *field, int *axis);
enum bal_code bli_reader_quantity(struct bli_reader *reader, int node, const char *field,
                                  struct bli_quantity *quantity);
/* The index of one value of an axis. */
enum bal_code bli_reader_value(struct bli_reader *reader, int node, int axis, int *value);
/* where: and policies: of a map; either may be 0, which selects everything. */
enum bal_code bli_reader_selection(struct bli_reader *reader, int where, int policies,
                                   const char *policies_field, struct bli_selection *selection);

/* The parts, in the order in which they must be read. */
enum bal_code bli_read_live(struct bli_reader *reader);
enum bal_code bli_read_policies(struct bli_reader *reader);
enum bal_code bli_read_sweep(struct bli_reader *reader);
enum bal_code bli_read_figures(struct bli_reader *reader);
enum bal_code bli_read_claims(struct bli_reader *reader);

/* The default name of a policy. */
const char *bli_live_label(struct bli_reader *reader, const struct bli_experiment_policy *entry);
/* In a file with `live`: the entry is marked as measured, and entry[1], whose index is given, becomes its
 * prediction. Returns false if it has none. */
bool bli_live_pair(struct bli_reader *reader, struct bli_experiment_policy *entry, int index);

/* In a file with `live`: sets what follows from it for the settings, and checks whether real processes can
 * run the settings of a point. */
enum bal_code bli_live_settings(struct bli_reader *reader, struct bli_draft *draft);
enum bal_code bli_live_check_point(struct bli_reader *reader, const struct bli_draft *draft, int policies,
                                   const char *at);

/* From the text of a baseline proxy, such as `random(2)`, to the policy that is its model. */
enum bal_code bli_baseline_parse(enum bli_proxy proxy, const char *text, struct bal_policy_spec *spec,
                                 struct bal_error *err);

/* ---- whole files ---- */

/* The text of a file, with what it takes from other files put into it; the caller frees it. */
enum bal_code bli_read_file(const char *path, char **text, size_t *length, struct bal_error *err);

/* bli_experiment_errors() of a text. */
size_t bli_document_errors(const char *text, size_t length, const char *name, enum bli_mode mode,
                           void (*tell)(void *context, const char *mistake), void *context);

/* From a text to its document, and from that to the experiment. */
enum bal_code bli_read_yaml(const char *text, size_t length, const char *name, struct bli_document **document,
                            struct bal_error *err);
enum bal_code bli_read_document(struct bli_document *document, const char *text, size_t length,
                                const char *name, enum bli_mode mode, struct bli_experiment **experiment,
                                bool *dangling, struct bal_error *err);

#endif
