/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of an answer. */
#ifndef QUESTION_DATUM_TREE_H
#define QUESTION_DATUM_TREE_H

#include "ballast/question.h"

/* Reads JSON of ours into one block, which the caller frees; NULL without memory, or if it is no JSON. */
struct bal_datum *bli_datum_tree_new(const char *json, size_t size);

#endif
