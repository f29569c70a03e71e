/* The fields of experiment files, as tables: reading, checking, sweeping, the JSON schema and the
 * documentation all come from these.
 *
 * A new field of the model or of a run is one row in settings.c with a function that reads it and one that
 * prints it; everything else follows, sweeping over it included. */
#ifndef SPEC_FIELDS_H
#define SPEC_FIELDS_H

#include "ballast/experiment.h"
#include "spec/document.h"

/* A cell being put together. */
struct bal_setup {
    struct bal_case c;
    double jobs, time; /* length of a run, given in one of the two; NaN: not given */
    double window;     /* last part of a run that is measured, in time; 0: not given */
    double most;       /* replications that a precision may ask for */
};

enum { BAL_IS_TEXT = 1, BAL_IS_LIST = 2, BAL_IS_MAP = 4 };

enum bal_field_type {
    BAL_TYPE_TEXT,
    BAL_TYPE_ID,     /* letters, digits, '-' and '_' */
    BAL_TYPE_NUMBER, /* with low, high and whole */
    BAL_TYPE_FLAG,
    BAL_TYPE_CHOICE,
    BAL_TYPE_SETTING, /* what `set` reads */
};

struct bal_field {
    const char *name;
    unsigned is;              /* what its value may be: BAL_IS_... */
    unsigned items;           /* what the members of the list may be; a list in a list has texts */
    enum bal_field_type type; /* of texts, the members of a list too */
    double low, high;         /* of numbers, both included */
    bool whole;
    const char *const *choices;    /* ends with NULL */
    const struct bal_table *table; /* of maps; NULL: any keys */
    const char *fallback;          /* its default, NULL: it must be given, "": it may be left out */
    const char *help;
    /* Only settings: reads the text into the setup; prints its canonical text, always terminated, and returns
     * its length. */
    enum bal_code (*set)(struct bal_setup *setup, const char *text, struct bal_error *err);
    size_t (*print)(const struct bal_setup *setup, char *text, size_t size);
};

struct bal_table {
    const char *name; /* what is described: "a claim" */
    const char *help;
    const struct bal_field *field;
    size_t count;
};

extern const struct bal_table bal_experiment_table;
extern const struct bal_table bal_fleet_table, bal_workload_table, bal_run_table; /* the settings (settings.c)
                                                                                   */

/* The tables of settings, in the order in which they must be set: those of the model first. */
struct bal_settings {
    const char *section;
    const char *prefix; /* of the name by which it is swept: "" or "run." */
    bool model;         /* part of what is simulated, not of how long */
    const struct bal_table *table;
};
enum { BAL_SETTINGS = 3 };
extern const struct bal_settings bal_settings[BAL_SETTINGS];

/* The setting that is swept by that name: "load", "run.jobs"; NULL when there is none. */
const struct bal_field *bal_setting_find(const char *name);

extern const char *const bal_plot_kinds[]; /* in the order of enum bal_plot_kind; they end with NULL, as do
                                              the next */
extern const char *const bal_measures[];   /* enum bal_measure */
extern const char *const bal_overs[];      /* enum bal_over */
extern const char *const bal_modes[];      /* enum bal_mode */
extern const char *const bal_flags[];      /* no, yes, false, true: odd ones mean yes */

const struct bal_field *bal_table_find(const struct bal_table *table, const char *name);

/* "0.9", "10k", "2%". */
bool bal_field_number(const char *text, double *value);
int bal_choice_find(const char *const *choices, const char *text); /* -1: none */

/* Is the map at this node as the table wants it: known fields, none twice, none missing, every value of its
 * kind? What a value means is for others to check. */
enum bal_code bal_table_check(const struct bal_table *table, struct bal_document *document, int node,
                              const char *field, struct bal_error *err);

#endif
