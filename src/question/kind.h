/* SPDX-License-Identifier: BSD-2-Clause */
/* A kind of question: a row with its options, what must fit together, and how it is answered. */
#ifndef QUESTION_KIND_H
#define QUESTION_KIND_H

#include "ballast/question.h"
#include "base/strbuf.h"
#include "question/request.h"

/* A question that is being asked. */
struct bli_asking {
    const struct bal_question_host *host;
    FILE *out; /* the answer is written here */
    enum bal_answer_kind kind;
};

struct bli_question_kind {
    const char *name;
    const struct bli_option *options;
    size_t option_count;
    const char *operand; /* what stands behind the name of the command: the name by which it is set; NULL */
    int operands;        /* at most */
    enum bal_code (*set_operand)(void *request, const char *value, struct bal_error *err);
    size_t size; /* of its request, which begins with a struct bli_request */
    /* What is not zero at first and no default of a setting; may be NULL. */
    void (*init)(void *request);
    void (*fini)(void *request); /* may be NULL */
    bool shows_command;          /* its answer has host->command in it */
    /* Does it end soon, and never look at host->stop? NULL: it does not. */
    bool (*is_brief)(const void *request);
    enum bal_code (*check)(void *request, struct bal_error *err);
    /* Sets what of *asking is not as it was: nothing, a good answer. */
    enum bal_code (*ask)(void *request, struct bli_asking *asking, struct bal_error *err);
};

/* Those of the host program, NULL after the last. kinds.c has all. */
extern const struct bli_question_kind *const bli_question_kinds[];

extern const struct bli_question_kind bli_question_compare, bli_question_replay, bli_question_cheapest,
    bli_question_priority_share, bli_question_tune, bli_question_stability, bli_question_fluid;

/* The request of a question, which a command line fills in, and what was asked. */
void *bli_question_request(struct bal_question *question);
const struct bli_question_kind *bli_question_kind(const struct bal_question *question);

void bli_asking_warn(const struct bli_asking *asking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The answer ends here: says so, and why, about the whole of it. */
void bli_asking_cut_short(struct bli_asking *asking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
extern const char bli_cut_short_text[]; /* of answers that have whole replications */
void bli_asking_warn_answer(const struct bli_asking *asking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool bli_asking_is_stopped(const struct bli_asking *asking);

/* Progress of one piece of work. */
struct bli_doing {
    const struct bal_question_host *host;
    const char *what; /* a few words, or NULL */
};
struct bli_doing bli_doing_start(const struct bli_asking *asking, const char *what);
void bli_doing_show(void *doing, double part); /* fits bli_lab_options.progress */

/* The options of the lab, with progress. */
struct bli_lab_options bli_asking_lab(const struct bli_asking *asking, const struct bli_request *request,
                                      struct bli_doing *doing);

#endif
