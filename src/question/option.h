/* SPDX-License-Identifier: BSD-2-Clause */
/* Options: what can be said to a question or a command, as rows of a table. Their help, the parser of command
 * lines, bal_question_set, the manual page and the completion of shells are made from it. */
#ifndef QUESTION_OPTION_H
#define QUESTION_OPTION_H

#include "ballast/question.h"
#include "report/rows.h"

#include <stdbool.h>
#include <stddef.h>

struct bli_field;

enum bli_option_group { BLI_NO_GROUP, BLI_MODEL_SETTINGS, BLI_RUN_SETTINGS };

struct bli_option_range {
    double low, high; /* both included */
    bool whole;
    const char *what; /* "a whole number from 1 to 1000" */
};

/* What is kept of a value that is only kept: the text, true for a flag, a number, an enum bli_form. */
enum bli_option_kept { BLI_KEPT_NOT, BLI_KEPT_TEXT, BLI_KEPT_FLAG, BLI_KEPT_NUMBER, BLI_KEPT_FORM };

/* An option of its own, a setting, all settings of the model or of runs, or the subject of what follows. */
struct bli_option {
    const char *name;     /* without the dashes; NULL: that of the setting */
    const char *argument; /* shown in the help; NULL: a flag, value is "", or that of the setting */
    const char *help;     /* NULL: that of the setting; the default of a setting is added to it */
    /* Reads the value; NULL where it is a setting's, or only kept: see BLI_STORES_TEXT. */
    enum bal_code (*set)(void *into, const char *value, struct bal_error *err);
    /* NULL: none; its name as in bli_setting_find. It is read into a struct bli_request; where `set` is there
     * too, this is another reader of the setting, of its own or of a group before it. */
    const char *setting;
    const char *default_value; /* of the setting, where the table has a default of its own; "": no default is
                                  printed */
    enum bli_option_group group;
    const char *subject;           /* of the rows behind it; of settings of a group it is their section */
    bool of_host;                  /* what becomes of the answer, which a question does not know */
    enum bli_option_kept kept;     /* where there is no function `set` and no setting: this ... */
    size_t offset;                 /* ... in a member of the request */
    struct bli_option_range range; /* of a number */
    const struct bli_field *field; /* the setting, once expanded */
};

/* The end of a row whose value is only kept, in that member of a request of that type: `const char *`, bool,
 * double with its range, enum bli_form. */
#define BLI_STORES(store, type, member, like)                                                                \
    .kept = (store), .offset = offsetof(type, member) + 0 * sizeof(1 ? &((type *)0)->member : (like))
#define BLI_STORES_TEXT(type, member) BLI_STORES(BLI_KEPT_TEXT, type, member, (const char **)0)
#define BLI_STORES_FLAG(type, member) BLI_STORES(BLI_KEPT_FLAG, type, member, (bool *)0)
#define BLI_STORES_FORM(type, member) BLI_STORES(BLI_KEPT_FORM, type, member, (enum bli_form *)0)
#define BLI_STORES_NUMBER(type, member, least, most, text)                                                   \
    BLI_STORES(BLI_KEPT_NUMBER, type, member, (double *)0), .range = {(least), (most), false, (text)}
#define BLI_STORES_WHOLE(type, member, least, most, text)                                                    \
    BLI_STORES(BLI_KEPT_NUMBER, type, member, (double *)0), .range = {(least), (most), true, (text)}

/* The options of a question or a command, one after the other: settings are looked up and groups of them
 * are expanded, once. */
enum { BLI_OPTIONS_MAX = 128 };
struct bli_options {
    const char *of; /* its name */
    size_t count;
    const char *subject; /* of the row that is added next; NULL: none */
    struct bli_option option[BLI_OPTIONS_MAX];
};
void bli_options_expand(struct bli_options *options, const char *of, const struct bli_option *row,
                        size_t count);

/* The head of the option i where help of many options has one: the subject that begins with it; "options" in
 * front of those without a subject; else NULL. */
const char *bli_option_head(const struct bli_options *options, size_t i);

/* By its name, also one of earlier versions, which no help shows; NULL when there is none. */
const struct bli_option *bli_option_find(const struct bli_options *options, const char *name, size_t length);

/* Reads the value into *into. */
enum bal_code bli_option_set(const struct bli_option *option, const char *value, void *into,
                             struct bal_error *err);

/* What the option means, in plain text with its default. */
enum { BLI_OPTION_HELP = sizeof((struct bal_question_setting *)0)->help };
void bli_option_help(const struct bli_option *option, char text[BLI_OPTION_HELP]);

/* ---- values ---- */

enum bal_code bli_option_number(const char *value, const struct bli_option_range *range, double *number,
                                struct bal_error *err);

/* How results are written. */
enum bal_code bli_form_parse(const char *value, enum bli_form *form, struct bal_error *err);

#endif
