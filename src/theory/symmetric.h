/* SPDX-License-Identifier: BSD-2-Clause */
/* Lyapunov's equation for symmetric matrices, and its like for symmetric tensors of order 3. */
#ifndef THEORY_SYMMETRIC_H
#define THEORY_SYMMETRIC_H

#include <stdbool.h>
#include <stddef.h>

/* A square matrix of which few entries are not 0, row by row. */
struct sparse_matrix {
    size_t n;
    size_t *start;  /* n + 1; row i is entries start[i] .. start[i + 1] - 1 */
    size_t *column; /* rising in a row */
    double *value;
};

/* From n * n numbers, row by row; false: no memory. End with bli_sparse_matrix_fini, also after a failure. */
bool bli_sparse_matrix_init(struct sparse_matrix *a, const double *dense, size_t n);
void bli_sparse_matrix_fini(struct sparse_matrix *a);

/* Solves "A acts on each index of x in turn, and the sum of that is -right": A x = -right, A x + x A' =
 * -right and so on, for order 1, 2 and 3. right and x have n^order numbers and are symmetric; they may be the
 * same. False: there is no memory, or the system is singular. */
bool bli_symmetric_solve(const struct sparse_matrix *a, unsigned order, const double *right, double *x);

#endif
