/* SPDX-License-Identifier: BSD-2-Clause */
/* A question from C: two policies on one fleet, with confidence intervals.
 *
 *     cc simulate.c -o simulate $(pkg-config --cflags --libs ballast) && ./simulate */
#include <ballast/question.h>

#include <stdio.h>

static const char *const settings[][2] = {
    {"servers", "100"}, {"load", "0.9"}, {"policy", "jiq"}, {"policy", "pod:d=2"}, {"time", "20k"}};

int main(void) {
    struct bal_error err = {.code = BAL_OK};
    struct bal_question *question;
    struct bal_answer *answer = NULL;
    enum bal_code code = bal_question_new("compare", NULL, &question, &err);
    for (size_t i = 0; !code && i < sizeof settings / sizeof *settings; i++)
        code = bal_question_set(question, settings[i][0], settings[i][1], &err);
    if (code || bal_question_run(question, &answer, &err))
        fprintf(stderr, "simulate: %s\n", err.text);
    const struct bal_datum *rows = answer ? bal_datum_get(bal_answer_root(answer), "results") : NULL;
    for (const struct bal_datum *row = bal_datum_first(rows); row; row = bal_datum_next(row))
        printf("%-8s mean response %.3f ± %.3f, %s\n", bal_datum_text(bal_datum_get(row, "policy")),
               bal_datum_number(bal_datum_get(row, "response.mean")),
               bal_datum_number(bal_datum_get(row, "response.ci")),
               bal_datum_text(bal_datum_get(row, "verdict")));
    bal_answer_free(answer);
    bal_question_free(question);
    return rows ? 0 : 2;
}
