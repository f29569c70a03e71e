/* SPDX-License-Identifier: BSD-2-Clause */
/* What CVODE clones, set aside in advance.
 *
 * CVODE uses a clone of a vector or matrix without asking whether it was made, and crashes where
 * memory is short. So all clones that it will ask for are made here before it begins, where a failure can be
 * reported, and are handed out one by one. */
#ifndef THEORY_RESERVE_H
#define THEORY_RESERVE_H

#include <nvector/nvector_serial.h>
#include <stdbool.h>
#include <sunmatrix/sunmatrix_sparse.h>

enum { BLI_RESERVE_VECTORS = 18, BLI_RESERVE_MATRICES = 1 };

struct bli_reserve {
    N_Vector y; /* the first vector and the matrix, to be handed to CVODE; it clones these */
    SUNMatrix matrix;
    size_t vectors, matrices; /* handed out */
    N_Vector vector[BLI_RESERVE_VECTORS];
    SUNMatrix clone[BLI_RESERVE_MATRICES];
};

/* Vectors of n numbers, and square matrices with capacity for so many entries; false without memory. To be
 * ended with fini in any case, when nothing uses them any more. */
bool bli_reserve_init(struct bli_reserve *reserve, sunindextype n, sunindextype entries, SUNContext context);
void bli_reserve_fini(struct bli_reserve *reserve);

/* From now on clones on this thread come from the reserve; to be called before CVODE is. */
void bli_reserve_use(struct bli_reserve *reserve);

#endif
