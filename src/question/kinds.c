/* SPDX-License-Identifier: BSD-2-Clause */
/* All kinds of questions. A program that asks fewer has a table of its own, and is linked with less. */
#include "question/kind.h"

const struct bal_question_kind *const bal_question_kinds[] = {
    &bal_question_compare, &bal_question_replay,    &bal_question_cheapest, &bal_question_priority_share,
    &bal_question_tune,    &bal_question_stability, &bal_question_fluid,    NULL};
