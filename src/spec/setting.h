/* SPDX-License-Identifier: BSD-2-Clause */
/* The settings: all parameters of a model and of its runs, in experiment files and on command lines.
 *
 * A setting is one row of settings_fleet.c, settings_workload.c, settings_network.c or settings_run.c: a
 * struct bli_field with a function that reads it into a draft and one that prints it. Everything else
 * follows: the field of experiment files, its JSON schema and documentation, the axis of a sweep, the option
 * of every command that takes a model, its help and its place in the manual, the identity of a trial, and the
 * heads of reports. */
#ifndef SPEC_SETTING_H
#define SPEC_SETTING_H

#include "ballast/lab.h"
#include "spec/fields.h"

/* A case being put together from settings. */
struct bli_draft {
    struct bli_case c;              /* its seed and policy are no settings */
    double jobs, time;              /* length of a run, given in one of the two; NaN: not given */
    double warmup;                  /* as it was set; that of the case may be longer */
    enum bli_discipline discipline; /* as it was set; that of a live case is never auto */
    double window;                  /* last part of a run that is measured, in time; 0: not given */
    double most;                    /* replications that a precision may ask for */
    bool live;                      /* policies are measured on real processes ... */
    bool delay_measured;            /* ... and the delay of messages too: bli_experiment_set_delay */
};

/* Every setting at its default. A setting without a default stays unset: no servers, load NaN. */
void bli_draft_init(struct bli_draft *draft);

/* Length of a replication in time: as given, or the usual one. The second function: is it unset? */
double bli_draft_time(const struct bli_draft *draft);
bool bli_draft_is_open(const struct bli_draft *draft);

/* Sets what follows from the rest: the batch and the load of slotted time where they are open, the time of
 * the run, the warm-up that a window means. Doing it again changes nothing. */
void bli_draft_complete(struct bli_draft *draft);

/* Where the length is open: as long as bli_choose_length makes cases that were drafted with it, which differ
 * in their policy. usual: bli_default_run_length, or where runs may be made longer afterwards
 * bli_initial_run_length. */
void bli_draft_choose_length(const struct bli_draft *draft, struct bli_case *cases, size_t count,
                             double usual);

/* The sections of an experiment file that hold settings, in the order in which they must be set: those of the
 * model first. */
struct bli_section {
    const char *name;   /* "fleet" */
    const char *prefix; /* of the name by which a setting is swept: "" or "run." */
    bool model;         /* part of what is simulated, not of how long */
    const struct bli_table *table;
};
enum { BLI_SECTIONS = 4 };
extern const struct bli_section bli_section[BLI_SECTIONS];

/* All settings one after the other, in the order of the sections: i from 0 on; NULL after the last. If
 * section is not NULL, *section is set to its section. */
const struct bli_field *bli_setting_at(size_t i, const struct bli_section **section);

/* The setting that is swept by that name: "load", "run.jobs"; NULL when there is none. */
const struct bli_field *bli_setting_find(const char *name);

/* Reads a text into the draft. The error names the text. */
enum bal_code bli_setting_read(const struct bli_field *setting, const char *text, struct bli_draft *draft,
                               struct bal_error *err);

enum { BLI_SETTING_TEXT = 1 << 16 }; /* long enough for any: a fleet of 32 groups with laws is the longest */

/* Prints the canonical text of a setting, and returns whether it differs from the default. An unset one has
 * an empty text, and counts as a default. */
bool bli_setting_print(const struct bli_field *setting, const struct bli_draft *draft,
                       char text[BLI_SETTING_TEXT]);

#endif
