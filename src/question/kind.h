/* SPDX-License-Identifier: BSD-2-Clause */
/* A kind of question: a row with its options, what must fit together, and how it is answered. */
#ifndef QUESTION_KIND_H
#define QUESTION_KIND_H

#include "ballast/question.h"
#include "base/strbuf.h"
#include "question/request.h"

/* A question that is being asked. */
struct bal_asking {
    const struct bal_question_host *host;
    FILE *out; /* the answer is written here */
    enum bal_answer_kind kind;
};

struct bal_question_kind {
    const char *name;
    const struct bal_option *options;
    size_t option_count;
    const char *operand; /* what stands behind the name of the command: the name by which it is set; NULL */
    int operands;        /* at most */
    enum bal_code (*set_operand)(void *request, const char *value, struct bal_error *err);
    size_t size; /* of its request, which begins with a struct bal_request */
    /* What is not zero at first and no default of a setting; may be NULL. */
    void (*init)(void *request);
    void (*fini)(void *request); /* may be NULL */
    /* Does it end soon, and never look at host->stop? NULL: it does not. */
    bool (*is_brief)(const void *request);
    enum bal_code (*check)(void *request, struct bal_error *err);
    /* Sets what of *asking is not as it was: nothing, a good answer. */
    enum bal_code (*ask)(void *request, struct bal_asking *asking, struct bal_error *err);
};

/* Those of the host program, NULL after the last. kinds.c has all. */
extern const struct bal_question_kind *const bal_question_kinds[];

extern const struct bal_question_kind bal_question_compare, bal_question_replay, bal_question_cheapest,
    bal_question_priority_share, bal_question_tune, bal_question_stability, bal_question_fluid;

/* The request of a question, which a command line fills in, and what was asked. */
void *bal_question_request(struct bal_question *question);
const struct bal_question_kind *bal_question_kind(const struct bal_question *question);

void bal_asking_warn(const struct bal_asking *asking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The answer ends here: says so, and why, about the whole of it. */
void bal_asking_cut_short(struct bal_asking *asking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
extern const char bal_cut_short_text[]; /* of answers that have whole replications */
void bal_asking_warn_answer(const struct bal_asking *asking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool bal_asking_is_stopped(const struct bal_asking *asking);

/* Progress of one piece of work. */
struct bal_doing {
    const struct bal_question_host *host;
    const char *what; /* a few words, or NULL */
};
struct bal_doing bal_doing_start(const struct bal_asking *asking, const char *what);
void bal_doing_show(void *doing, double part); /* fits bal_lab_options.progress */

/* The options of the lab, with progress. */
struct bal_lab_options bal_asking_lab(const struct bal_asking *asking, const struct bal_request *request,
                                      struct bal_doing *doing);

#endif
