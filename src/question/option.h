/* SPDX-License-Identifier: BSD-2-Clause */
/* Options: what can be said to a question or a command, as rows of a table. Their help, the parser of command
 * lines, bal_question_set, the manual page and the completion of shells are made from it. */
#ifndef QUESTION_OPTION_H
#define QUESTION_OPTION_H

#include "ballast/question.h"
#include "format/table.h"

#include <stdbool.h>
#include <stddef.h>

struct bal_field;

enum bal_option_group { BAL_NO_GROUP, BAL_MODEL_SETTINGS, BAL_RUN_SETTINGS };

/* An option of its own, a setting, or all settings of the model or of runs. */
struct bal_option {
    const char *name;     /* without the dashes; NULL: that of the setting */
    const char *argument; /* shown in the help; NULL: a flag, value is "", or that of the setting */
    const char *help;     /* NULL: that of the setting; the default of a setting is added to it */
    enum bal_code (*set)(void *into, const char *value, struct bal_error *err);
    /* NULL: none; its name as in bal_setting_find. It is read into a struct bal_request; where `set` is there
     * too, this is another reader of the setting, of its own or of a group before it. */
    const char *setting;
    const char *default_value; /* of the setting, where the table has a default of its own; "": no default is
                                  printed */
    enum bal_option_group group;
    bool of_host;                  /* what becomes of the answer, which a question does not know */
    const struct bal_field *field; /* the setting, once expanded */
};

/* The options of a question or a command, one after the other: settings are looked up and groups of them
 * are expanded, once. */
enum { BAL_OPTIONS_MAX = 128 };
struct bal_options {
    const char *of; /* its name */
    size_t count;
    struct bal_option option[BAL_OPTIONS_MAX];
};
void bal_options_expand(struct bal_options *options, const char *of, const struct bal_option *row,
                        size_t count);

/* By its name, also one of earlier versions, which no help shows; NULL when there is none. */
const struct bal_option *bal_option_find(const struct bal_options *options, const char *name, size_t length);

/* Reads the value into *into. */
enum bal_code bal_option_set(const struct bal_option *option, const char *value, void *into,
                             struct bal_error *err);

/* What the option means, in plain text with its default. */
enum { BAL_OPTION_HELP = sizeof((struct bal_question_setting *)0)->help };
void bal_option_help(const struct bal_option *option, char text[BAL_OPTION_HELP]);

/* ---- values ---- */

struct bal_option_range {
    double low, high; /* both included */
    bool whole;
    const char *what; /* "a whole number from 1 to 1000" */
};
enum bal_code bal_option_number(const char *value, const struct bal_option_range *range, double *number,
                                struct bal_error *err);

/* How results are written. */
enum bal_form { BAL_FORM_TEXT, BAL_FORM_CSV, BAL_FORM_JSON, BAL_FORM_MARKDOWN };
enum bal_code bal_form_parse(const char *value, enum bal_form *form, struct bal_error *err);
/* How tables look in a form that people read. */
static inline enum bal_table_style bal_form_style(enum bal_form form) {
    return form == BAL_FORM_MARKDOWN ? BAL_TABLE_MARKDOWN : BAL_TABLE_RULED;
}

#endif
