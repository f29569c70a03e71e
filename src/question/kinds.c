/* SPDX-License-Identifier: BSD-2-Clause */
/* All kinds of questions. A program that asks fewer has a table of its own, and is linked with less. */
#include "question/kind.h"

const struct bli_question_kind *const bli_question_kinds[] = {
    &bli_question_compare, &bli_question_replay,    &bli_question_cheapest, &bli_question_priority_share,
    &bli_question_tune,    &bli_question_stability, &bli_question_fluid,    NULL};
