/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the checks of claims. */
#ifndef SPEC_CLAIM_CHECKS_H
#define SPEC_CLAIM_CHECKS_H

#include "spec/reader.h"

/* Reads the check that a map describes. */
enum bal_code bli_read_check(struct bli_reader *reader, int map, enum bli_evidence evidence,
                             struct bli_check *check);

#endif
