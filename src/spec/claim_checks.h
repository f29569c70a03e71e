/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the checks of claims. */
#ifndef SPEC_CLAIM_CHECKS_H
#define SPEC_CLAIM_CHECKS_H

#include "spec/reader.h"

/* Reads the check that a map describes. */
enum bal_code bal_read_check(struct bal_reader *reader, int map, enum bal_evidence evidence,
                             struct bal_check *check);

#endif
