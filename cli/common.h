/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands have in common: a case drafted from settings, the policies, the output. A command's arguments
 * begin with a struct cli_common; its table of options names the settings that it takes (spec/setting.h) and
 * the lists below. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include "cli.h"

#include "spec/setting.h"

enum { CLI_POLICIES_MAX = 64 };

struct cli_common {
    struct bal_draft draft;
    uint64_t given; /* the settings that were given, a bit for each in the order of bal_setting_at */
    struct bal_policy_spec policy[CLI_POLICIES_MAX];
    const char *called[CLI_POLICIES_MAX]; /* the name that the user typed, if it is an alias of ours */
    size_t policies;
    double seed, threads;
    struct bal_percentiles percentiles; /* none: the usual ones */
    enum cli_format format;
    const char *output;
    const char *figure; /* a file to draw into; NULL: none */
    bool quiet;
};

/* The command's default for every setting: 100 servers at load 0.9, seed 1, ... */
void cli_common_init(struct cli_common *common, const struct cli_command *command);

/* Takes the value of a setting, as it is taken from the command line. */
enum bal_code cli_common_set(struct cli_common *common, const struct bal_field *setting, const char *value,
                             struct bal_error *err);

/* Was the setting of that name given? Names are those of bal_setting_find. The second function marks it as
 * given. */
bool cli_common_given(const struct cli_common *common, const char *setting);
void cli_common_give(struct cli_common *common, const char *setting);

/* The length of runs must be given in one way. Returns -1 to go on, otherwise the exit status. */
int cli_common_check_length(const struct cli_common *common);

/* Checks all settings together. If no policy was given, takes all that fit. Returns -1 to go on, otherwise
 * the exit status. */
int cli_common_check(struct cli_common *common);

/* The draft with one of its policies, complete: its case is ready to run. */
struct bal_draft cli_common_draft(const struct cli_common *common, size_t policy);

/* The cases of all its policies, which get the same arrivals. If the run length is not given, it is chosen so
 * that the queues settle. */
void cli_common_cases(const struct cli_common *common, struct bal_case *cases);

/* Catches signals, starts the progress bar and sets the options of the lab. The caller ends the bar. */
struct bal_lab_options cli_common_lab(const struct cli_common *common, struct cli_progress *progress);

#define CLI_MODEL_OPTIONS                                                                                    \
    { .group = CLI_MODEL_SETTINGS }

#define CLI_POLICY_OPTION                                                                                    \
    { "policy", "POLICY", "name or name:key=value,...; repeat it (default: all that fit)", cli_set_policy }

#define CLI_PERCENTILES_OPTION                                                                               \
    {                                                                                                        \
        "percentiles", "LIST", "percentiles of response times to show: 50,95,99.9 (any, at most 8)",         \
            cli_set_percentiles                                                                              \
    }

#define CLI_SEED_OPTION                                                                                      \
    { "seed", "S", "another seed, other random numbers (default 1)", cli_set_seed }

#define CLI_THREADS_OPTION                                                                                   \
    {                                                                                                        \
        "threads", "K", "threads to use (default: all processors); results do not depend on it",             \
            cli_set_threads                                                                                  \
    }

#define CLI_RUN_OPTIONS {.group = CLI_RUN_SETTINGS}, CLI_SEED_OPTION, CLI_THREADS_OPTION

#define CLI_OUTPUT_OPTIONS                                                                                   \
    {"format", "FORM", "text, markdown, csv or json (default text)", cli_set_format},                        \
        {"output", "FILE", "write the results there (default: standard output)", cli_set_output}, {          \
        "quiet", NULL, "no progress bar", cli_set_quiet                                                      \
    }

/* The i-th policy that is compared if none is named: all policies, and those that are recommended for nginx.
 * NULL after the last. */
const char *cli_default_policy(size_t i);

/* The setters of the options above; into is a struct cli_common. */
/* By its name, or the path of a file. */
enum bal_code cli_parse_policy(const char *text, struct bal_policy_spec *spec, struct bal_error *err);
enum bal_code cli_set_policy(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_seed(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_threads(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_percentiles(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_format(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_output(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_figure(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_quiet(void *into, const char *value, struct bal_error *err);

#endif
