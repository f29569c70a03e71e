/* SPDX-License-Identifier: BSD-2-Clause */
/* The settings: all parameters of a model and of its runs, in experiment files and on command lines.
 *
 * A setting is one row of settings_fleet.c, settings_workload.c, settings_network.c or settings_run.c: a
 * struct bal_field with a function that reads it into a draft and one that prints it. Everything else
 * follows: the field of experiment files, its JSON schema and documentation, the axis of a sweep, the option
 * of every command that takes a model, its help and its place in the manual, the identity of a trial, and the
 * heads of reports. */
#ifndef SPEC_SETTING_H
#define SPEC_SETTING_H

#include "ballast/lab.h"
#include "spec/fields.h"

/* A case being put together from settings. */
struct bal_draft {
    struct bal_case c;              /* its seed and policy are no settings */
    double jobs, time;              /* length of a run, given in one of the two; NaN: not given */
    double warmup;                  /* as it was set; that of the case may be longer */
    enum bal_discipline discipline; /* as it was set; that of a live case is never auto */
    double window;                  /* last part of a run that is measured, in time; 0: not given */
    double most;                    /* replications that a precision may ask for */
    bool live;                      /* policies are measured on real processes ... */
    bool delay_measured;            /* ... and the delay of messages too: bal_experiment_set_delay */
};

/* Every setting at its default. A setting without a default stays unset: no servers, load NaN. */
void bal_draft_init(struct bal_draft *draft);

/* Length of a replication in time: as given, or the usual one. The second function: is it unset? */
double bal_draft_time(const struct bal_draft *draft);
bool bal_draft_is_open(const struct bal_draft *draft);

/* Sets what follows from the rest: the batch and the load of slotted time where they are open, the time of
 * the run, the warm-up that a window means. Doing it again changes nothing. */
void bal_draft_complete(struct bal_draft *draft);

/* Where the length is open: as long as bal_choose_length makes cases that were drafted with it, which differ
 * in their policy. usual: bal_default_run_length, or where runs may be made longer afterwards
 * bal_initial_run_length. */
void bal_draft_choose_length(const struct bal_draft *draft, struct bal_case *cases, size_t count,
                             double usual);

/* The sections of an experiment file that hold settings, in the order in which they must be set: those of the
 * model first. */
struct bal_section {
    const char *name;   /* "fleet" */
    const char *prefix; /* of the name by which a setting is swept: "" or "run." */
    bool model;         /* part of what is simulated, not of how long */
    const struct bal_table *table;
};
enum { BAL_SECTIONS = 4 };
extern const struct bal_section bal_section[BAL_SECTIONS];

/* All settings one after the other, in the order of the sections: i from 0 on; NULL after the last. If
 * section is not NULL, *section is set to its section. */
const struct bal_field *bal_setting_at(size_t i, const struct bal_section **section);

/* The setting that is swept by that name: "load", "run.jobs"; NULL when there is none. */
const struct bal_field *bal_setting_find(const char *name);

/* Reads a text into the draft. The error names the text. */
enum bal_code bal_setting_read(const struct bal_field *setting, const char *text, struct bal_draft *draft,
                               struct bal_error *err);

enum { BAL_SETTING_TEXT = 1 << 16 }; /* long enough for any: a fleet of 32 groups with laws is the longest */

/* Prints the canonical text of a setting, and returns whether it differs from the default. An unset one has
 * an empty text, and counts as a default. */
bool bal_setting_print(const struct bal_field *setting, const struct bal_draft *draft,
                       char text[BAL_SETTING_TEXT]);

#endif
