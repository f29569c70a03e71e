/* SPDX-License-Identifier: BSD-2-Clause */
/* What questions have in common: a case drafted from settings, the policies, the form of the answer. The
 * request of a question begins with a struct bli_request; its table of options names the settings that it
 * takes (spec/setting.h) and the lists below. */
#ifndef QUESTION_REQUEST_H
#define QUESTION_REQUEST_H

#include "question/option.h"
#include "spec/setting.h"

enum { BLI_REQUEST_POLICIES = 64 };

struct bli_request {
    struct bli_draft draft;
    uint64_t given; /* the settings that were given, a bit for each in the order of bli_setting_at */
    struct bal_policy_spec policy[BLI_REQUEST_POLICIES];
    const char *called[BLI_REQUEST_POLICIES]; /* the name that the user typed, if it is an alias of ours */
    enum bli_engine engine[BLI_REQUEST_POLICIES]; /* of each, chosen by bli_request_check; auto: not yet */
    size_t policies;
    double seed, threads;
    struct bli_percentiles percentiles; /* none: the usual ones */
    enum bli_form format;
    const char *figure; /* a file to draw into; NULL: none */
    /* What a host is told, and no question reads: */
    const char *output; /* NULL: standard output */
    bool quiet;
};

/* The default for every setting: 100 servers at load 0.9, seed 1, ...; those of the options first. */
void bli_request_init(struct bli_request *request, const struct bli_options *options);

/* Takes the value of a setting, as it is taken from the command line. */
enum bal_code bli_request_set(struct bli_request *request, const struct bli_field *setting, const char *value,
                              struct bal_error *err);

/* Was the setting of that name given? Names are those of bli_setting_find. The second function marks it as
 * given. */
bool bli_request_has(const struct bli_request *request, const char *setting);
void bli_request_mark(struct bli_request *request, const char *setting);

/* The length of runs must be given in one way. */
enum bal_code bli_request_check_length(const struct bli_request *request, struct bal_error *err);

/* Sentences belong below a table. */
enum bal_code bli_request_check_explain(const struct bli_request *request, bool explain,
                                        struct bal_error *err);

/* Checks all settings together. If no policy was given, takes all that fit. */
enum bal_code bli_request_check(struct bli_request *request, struct bal_error *err);

/* The case of one of its policies, ready to run; the request was checked. */
void bli_request_case(const struct bli_request *request, size_t policy, struct bli_case *c);

/* The cases of all its policies, which get the same arrivals. If the run length is not given, it is chosen so
 * that the queues settle. */
void bli_request_cases(const struct bli_request *request, struct bli_case *cases);

#define BLI_MODEL_OPTIONS                                                                                    \
    { .group = BLI_MODEL_SETTINGS }

#define BLI_POLICY_OPTION                                                                                    \
    {.subject = "policies"}, {                                                                               \
        "policy", "POLICY", "name or name:key=value,...; repeat it (default: all that fit)",                 \
            bli_request_set_policy                                                                           \
    }

#define BLI_PERCENTILES_OPTION                                                                               \
    {                                                                                                        \
        "percentiles", "LIST", "percentiles of response times to show: 50,95,99.9 (any, at most 8)",         \
            bli_request_set_percentiles                                                                      \
    }

#define BLI_SEED_OPTION                                                                                      \
    {                                                                                                        \
        "seed", "S", "another seed, other random numbers (default 1)",                                       \
            BLI_STORES_WHOLE(struct bli_request, seed, 0, 9007199254740991, "a whole number from 0")         \
    }

#define BLI_THREADS_OPTION                                                                                   \
    {                                                                                                        \
        "threads", "K", "threads to use (default: all processors); results do not depend on it",             \
            BLI_STORES_WHOLE(struct bli_request, threads, 1, 1024, "a whole number from 1 to 1024")          \
    }

#define BLI_RUN_OPTIONS {.group = BLI_RUN_SETTINGS}, BLI_SEED_OPTION, BLI_THREADS_OPTION

#define BLI_FORMAT_OPTION                                                                                    \
    {                                                                                                        \
        "format", "FORM", "text, markdown, csv or json (default text)",                                      \
            BLI_STORES_FORM(struct bli_request, format)                                                      \
    }

/* What becomes of the answer. */
#define BLI_HOST_OPTIONS                                                                                     \
    {"output", "FILE", "write the results there (default: standard output)",                                 \
     BLI_STORES_TEXT(struct bli_request, output), .of_host = true},                                          \
    {                                                                                                        \
        "quiet", NULL, "no progress bar", BLI_STORES_FLAG(struct bli_request, quiet), .of_host = true        \
    }

#define BLI_ANSWER_SUBJECT                                                                                   \
    { .subject = "answer" }
#define BLI_OUTPUT_OPTIONS BLI_ANSWER_SUBJECT, BLI_FORMAT_OPTION, BLI_HOST_OPTIONS

/* The i-th policy that is compared if none is named: all policies, and those that are recommended for nginx.
 * NULL after the last. */
const char *bli_default_policy(size_t i);

/* The setters of the options above; into is a struct bli_request. */
/* By its name, or the path of a file. */
enum bal_code bli_request_parse_policy(const char *text, struct bal_policy_spec *spec, struct bal_error *err);
enum bal_code bli_request_set_policy(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_percentiles(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_format_but_csv(void *into, const char *value, struct bal_error *err);
enum bal_code bli_request_set_figure(void *into, const char *value, struct bal_error *err);

#endif
