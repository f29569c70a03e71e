/* SPDX-License-Identifier: BSD-2-Clause */
/* The heads of reports: what was run, in words, with every setting that differs from its default. */
#ifndef REPORT_HEAD_H
#define REPORT_HEAD_H

#include "format/json.h"
#include "spec/setting.h"

/* A sentence or two, put together and then broken into lines. Text that is too long is cut. */
struct bli_head {
    char text[4000];
    size_t used;
};

void bli_head_add(struct bli_head *head, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds "NAME VALUE", with a comma in front unless it is the first, for each setting that is not at its
 * default: of the model, or of the run. `told` ends with NULL and names the settings that the head already
 * describes in its own words; it may be NULL. */
void bli_head_add_settings(struct bli_head *head, const struct bli_draft *draft, bool model,
                           const char *const *told);

/* " of 8 slots" behind a fleet, " that work on all jobs at once", or nothing. */
void bli_head_slots(const struct bli_model *model, char *text, size_t size);
/* The same with ", speeds batch(8,0.15)" behind it, where these are given. */
void bli_head_slots_and_speeds(const struct bli_model *model, char *text, size_t size);
/* "slots": a number, or "all". */
void bli_json_slots(struct json *json, const struct bli_model *model);

/* A policy with its parameters, for the expression around it: bli_policy_name(&policy).text. */
struct bli_policy_name {
    char text[400];
};
struct bli_policy_name bli_policy_name(const struct bal_policy_spec *policy);

void bli_head_print(const struct bli_head *head, FILE *out);

/* The same for programs: an object "settings" in the form of an experiment file, and one field of a csv row
 * behind a comma, "load=0.9; run.jobs=1k", in a column called "settings". */
void bli_head_json(struct json *json, const struct bli_draft *draft, const char *const *told);
void bli_head_csv(const struct bli_draft *draft, FILE *out);

#endif
