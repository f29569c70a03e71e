/* SPDX-License-Identifier: BSD-2-Clause */
/* Vectors and matrices for CVODE, allocated in advance and handed out as its clones. */
#include "theory/reserve.h"

static _Thread_local struct bli_reserve *current;

void bli_reserve_use(struct bli_reserve *reserve) {
    current = reserve;
}

/* More than were set aside are asked for only by a version that we do not know. */
static N_Vector clone_vector(N_Vector like) {
    return current->vectors < BLI_RESERVE_VECTORS ? current->vector[current->vectors++]
                                                  : N_VClone_Serial(like);
}

static SUNMatrix clone_matrix(SUNMatrix like) {
    return current->matrices < BLI_RESERVE_MATRICES ? current->clone[current->matrices++]
                                                    : SUNMatClone_Sparse(like);
}

/* CVODE is done with it; it belongs to the reserve, and may come back here once more. */
static void leave_vector(N_Vector vector) {
    (void)vector;
}

static void leave_matrix(SUNMatrix matrix) {
    (void)matrix;
}

static N_Vector new_vector(sunindextype n, SUNContext context) {
    N_Vector vector = N_VNew_Serial(n, context);
    if (vector) {
        vector->ops->nvclone = clone_vector;
        vector->ops->nvdestroy = leave_vector;
    }
    return vector;
}

static SUNMatrix new_matrix(sunindextype n, sunindextype entries, SUNContext context) {
    SUNMatrix matrix = SUNSparseMatrix(n, n, entries, CSC_MAT, context);
    if (matrix) {
        matrix->ops->clone = clone_matrix;
        matrix->ops->destroy = leave_matrix;
    }
    return matrix;
}

bool bli_reserve_init(struct bli_reserve *reserve, sunindextype n, sunindextype entries, SUNContext context) {
    *reserve = (struct bli_reserve){0};
    bool good = (reserve->y = new_vector(n, context)) && (reserve->matrix = new_matrix(n, entries, context));
    for (size_t i = 0; good && i < BLI_RESERVE_VECTORS; i++)
        good = (reserve->vector[i] = new_vector(n, context));
    for (size_t i = 0; good && i < BLI_RESERVE_MATRICES; i++)
        good = (reserve->clone[i] = new_matrix(n, entries, context));
    return good;
}

void bli_reserve_fini(struct bli_reserve *reserve) {
    for (size_t i = 0; i < BLI_RESERVE_VECTORS; i++)
        if (reserve->vector[i])
            N_VDestroy_Serial(reserve->vector[i]);
    for (size_t i = 0; i < BLI_RESERVE_MATRICES; i++)
        if (reserve->clone[i])
            SUNMatDestroy_Sparse(reserve->clone[i]);
    if (reserve->y)
        N_VDestroy_Serial(reserve->y);
    if (reserve->matrix)
        SUNMatDestroy_Sparse(reserve->matrix);
    *reserve = (struct bli_reserve){0};
}
