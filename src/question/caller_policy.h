/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies that the host decides itself, by functions of its own (ballast/question.h), for the question that
 * this thread asks. */
#ifndef QUESTION_CALLER_POLICY_H
#define QUESTION_CALLER_POLICY_H

#include "ballast/question.h"

/* From now on this thread knows them by their names, and they are called in this thread alone. *begun: it
 * has some, and none of another question are known; then they are to be ended. Returns false without memory,
 * or when there are too many. */
bool bli_caller_policies_begin(const struct bal_question_host *caller, bool *begun);
void bli_caller_policies_end(void);

#endif
