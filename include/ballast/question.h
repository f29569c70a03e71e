/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions: what the commands of the program ask, for other programs. A question is built from settings by
 * name, run with progress and cancellation, and its answer is read value by value.
 *
 *     bal_question_new("compare", NULL, &question, &err);
 *     bal_question_set(question, "servers", "100", &err);
 *     bal_question_set(question, "policy", "jiq", &err);
 *     bal_question_run(question, &answer, &err);
 *     rows = bal_datum_get(bal_answer_root(answer), "results");
 *     for (row = bal_datum_first(rows); row; row = bal_datum_next(row))
 *         ... bal_datum_text(bal_datum_get(row, "policy")),
 *             bal_datum_number(bal_datum_get(row, "response.mean"))
 *
 * The questions are compare, replay, cheapest, priority-share, tune, stability and fluid. `ballast help
 * QUESTION` lists the settings, which have the names of its options; what stands behind the name of a command
 * is set too: "log" of replay (repeat it), "policy" of stability and fluid, "what" of tune. The values of an
 * answer are those of its JSON, --format json; docs/reference.md describes them. A question and its answer
 * belong to one thread at a time; several threads may ask at once.
 *
 * What a process keeps: policies from files stay loaded until it ends. Once memory was too short for a
 * number, every later answer is refused with BAL_E_MEMORY, since none could be told from a wrong one. Where
 * SUNDIALS is older than version 7, its context is made when the library is loaded, which needs some memory.
 */
#ifndef BALLAST_QUESTION_H
#define BALLAST_QUESTION_H

#include "ballast/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bal_question;
struct bal_answer;
struct bal_datum;

/* Who asks. All zero bytes: somebody who only waits for the answer. */
struct bal_question_host {
    const volatile int *stop; /* when set and not 0, the question ends early; may be NULL */
    /* Called from time to time from one of the threads, never from two at once, with the share of the work
     * that is done, 0 to 1, and what is being done: NULL, or a few words. May be NULL. */
    void (*progress)(void *context, const char *doing, double part);
    /* Something to know, in one line: about the question, at once, or about its whole answer. May be NULL. */
    void (*warn)(void *context, const char *text, bool of_answer);
    void *context;
    const char *command; /* how it was asked, to be said in what is written for nginx; NULL: not said */
    /* Policies that the host decides itself: their names, NULL after the last; may be NULL. The thread of the
     * question knows them until it is freed, and calls them alone: set "threads" to 1. A question that is
     * asked meanwhile in the same thread has these, and none of its own. */
    const char *const *policies;
    /* A dispatcher starts, in front of so many servers: what its state is called when route is. */
    uint64_t (*start)(void *context, uint32_t policy, uint32_t servers);
    /* The server for a job of `count` tasks; one that may not be chosen is replaced by one that may. */
    uint32_t (*route)(void *context, uint32_t policy, uint64_t instance, struct bal_fleet *fleet,
                      uint32_t count, uint32_t rank, struct bal_rng *rng);
};

/* A question of that name with all settings at their defaults. *host is copied; what it points to must last
 * until the question is freed. NULL is a host of zero bytes. */
enum bal_code bal_question_new(const char *name, const struct bal_question_host *host,
                               struct bal_question **question, struct bal_error *err);
void bal_question_free(struct bal_question *question); /* NULL is allowed */

/* Reads the value of a setting. For those without a value, such as "explain", it is "". "format" is how the
 * answer is written: "json" (so that it has values) unless it is set. */
enum bal_code bal_question_set(struct bal_question *question, const char *name, const char *value,
                               struct bal_error *err);

/* The settings of a question: i from 0 on. Returns false after the last. */
struct bal_question_setting {
    const char *name;
    const char *argument; /* what kind of value, in a word: "N"; NULL: it takes none */
    char help[600];       /* what it means, with its default */
};
bool bal_question_setting_at(const struct bal_question *question, size_t i,
                             struct bal_question_setting *setting);

/* Do the settings fit together? bal_question_run checks that too. No settings may follow. */
enum bal_code bal_question_check(struct bal_question *question, struct bal_error *err);

/* Answers it, once. Returns BAL_E_STOPPED when it was stopped before there was an answer. */
enum bal_code bal_question_run(struct bal_question *question, struct bal_answer **answer,
                               struct bal_error *err);
void bal_answer_free(struct bal_answer *answer); /* NULL is allowed */

enum bal_answer_kind {
    BAL_ANSWER_GOOD,
    BAL_ANSWER_NONE,      /* nothing meets what was asked for: a target, a budget, a share */
    BAL_ANSWER_CUT_SHORT, /* it was stopped, and has what was complete by then */
};
enum bal_answer_kind bal_answer_kind(const struct bal_answer *answer);

/* The whole answer as "format" says, terminated; *size (may be NULL) is its length. */
const char *bal_answer_text(const struct bal_answer *answer, size_t *size);

/* The value that has all others; NULL where the format is not JSON, or without memory. Values last as long as
 * their answer. */
const struct bal_datum *bal_answer_root(struct bal_answer *answer);

/* ---- values ---- */

enum bal_datum_kind {
    BAL_DATUM_NULL, /* unknown: the mean of a queue that grows without bound, the theory of a policy without
                     */
    BAL_DATUM_BOOL,
    BAL_DATUM_NUMBER,
    BAL_DATUM_TEXT,
    BAL_DATUM_LIST,
    BAL_DATUM_OBJECT, /* values with names */
};
/* All of these take NULL, which is of kind BAL_DATUM_NULL and has nothing in it. */
enum bal_datum_kind bal_datum_kind(const struct bal_datum *value);
const char *bal_datum_name(const struct bal_datum *value); /* in its object; "" if it is in none */
double bal_datum_number(const struct bal_datum *value);    /* NaN: it is none */
const char *bal_datum_text(const struct bal_datum *value); /* "": it is none */
bool bal_datum_is_true(const struct bal_datum *value);

/* The values in a list or an object, in order; NULL after the last. O(1). */
const struct bal_datum *bal_datum_first(const struct bal_datum *value);
const struct bal_datum *bal_datum_next(const struct bal_datum *value);

/* By its path through objects, "response.mean"; NULL: there is none. */
const struct bal_datum *bal_datum_get(const struct bal_datum *object, const char *path);

/* ---- for the route of a host ---- */

/* The functions of ballast/policy.h that are no symbols. Probes are counted. `open` has room for all servers,
 * gets the numbers of those that may be chosen, ascending, and their count is returned. */
uint32_t bal_question_fleet_probe(struct bal_fleet *fleet, uint32_t server);
double bal_question_fleet_work(struct bal_fleet *fleet, uint32_t server);
double bal_question_fleet_weight(const struct bal_fleet *fleet, uint32_t server);
bool bal_question_fleet_is_open(const struct bal_fleet *fleet, uint32_t server);
uint32_t bal_question_fleet_open(const struct bal_fleet *fleet, uint32_t *open);
uint64_t bal_question_random(struct bal_rng *rng);

#ifdef __cplusplus
}
#endif
#endif
