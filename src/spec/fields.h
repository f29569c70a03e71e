/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of experiment files, as tables: reading, checking, sweeping, the JSON schema and the
 * documentation all come from these.
 *
 * The settings, which command lines take too, are in setting.h. */
#ifndef SPEC_FIELDS_H
#define SPEC_FIELDS_H

#include "ballast/experiment.h"
#include "format/document.h"

struct bli_draft; /* setting.h */

enum { BLI_IS_TEXT = 1, BLI_IS_LIST = 2, BLI_IS_MAP = 4 };

enum bli_field_type {
    BLI_TYPE_TEXT,
    BLI_TYPE_ID,     /* letters, digits, '-' and '_' */
    BLI_TYPE_NUMBER, /* with low, high and whole */
    BLI_TYPE_FLAG,
    BLI_TYPE_CHOICE,
    BLI_TYPE_SETTING, /* what `set` reads */
};

struct bli_field {
    const char *name;
    unsigned is;              /* the kinds of value that it accepts: BLI_IS_... */
    unsigned items;           /* what the members of the list may be; a list in a list has texts */
    enum bli_field_type type; /* of texts, the members of a list too */
    double low, high;         /* of numbers, both included */
    bool whole;
    const char *const *choices;    /* ends with NULL */
    const struct bli_table *table; /* of maps; NULL: any keys */
    const char *default_value;     /* its default, NULL: it must be given, "": it may be left out */
    const char *help;
    bool deprecated; /* a former name: it is accepted, but neither shown nor documented */
    /* Only settings: reads the text into the draft, which a failure leaves as it was; prints its canonical
     * text, always terminated, and returns its length. */
    enum bal_code (*set)(struct bli_draft *draft, const char *text, struct bal_error *err);
    size_t (*print)(const struct bli_draft *draft, char *text, size_t size);
    size_t at, size; /* where its value is in the draft; size 0: in several places */
    /* And as an option of commands: */
    const char *option;      /* its name, where that is another than the field's */
    const char *argument;    /* the name of its value in help: "LAW"; NULL: a flag, or no option */
    const char *flag;        /* what the option sets where it takes no value: "yes" */
    const char *cli_default; /* the default of commands, if that is another one */
};

struct bli_table {
    const char *name; /* what is described: "a claim" */
    const char *help;
    const struct bli_field *field;
    size_t count;
};

extern const struct bli_table bli_experiment_table;
extern const struct bli_table bli_fleet_table, bli_workload_table, bli_network_table,
    bli_run_table; /* the
                      settings
                    */

/* In a row of settings: the functions set_NAME and print_NAME read and print it. */
#define BLI_SETTING(name)                                                                                    \
    .is = BLI_IS_TEXT, .type = BLI_TYPE_SETTING, .set = set_##name, .print = print_##name
/* The same where all that it sets is this member of the draft. */
#define BLI_SETTING_AT(name, member)                                                                         \
    BLI_SETTING(name), .at = offsetof(struct bli_draft, member),                                             \
                       .size = sizeof((struct bli_draft *)NULL)->member

extern const char *const bli_plot_kinds[];  /* in the order of enum bli_plot_kind; they end with NULL, as do
                                               the next */
extern const char *const bli_measures[];    /* enum bli_measure */
extern const char *const bli_overs[];       /* enum bli_over */
extern const char *const bli_fault_kinds[]; /* enum bli_fault_kind */
extern const char *const bli_stations_kinds[]; /* enum bli_stations */
extern const char *const bli_modes[];          /* enum bli_mode */
extern const char *const bli_flags[];          /* no, yes, false, true: odd ones mean yes */

const struct bli_field *bli_table_find(const struct bli_table *table, const char *name);

/* "0.9", "10k", "2%". */
bool bli_field_number(const char *text, double *value);
int bli_choice_find(const char *const *choices, const char *text); /* -1: none */

/* Does the map at this node match the table: known fields, none twice, none missing, every value of its kind?
 * Whether a value makes sense is checked elsewhere. */
enum bal_code bli_table_check(const struct bli_table *table, struct bli_document *document, int node,
                              const char *field, struct bal_error *err);

#endif
