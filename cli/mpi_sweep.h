/* SPDX-License-Identifier: BSD-2-Clause */
/* A run spread over several processes: `mpirun -n K ballast run FILE`.
 *
 * Rank 0 reads the file, owns the store, hands out trials and computes some itself; the other ranks compute.
 * Without mpirun, or in a program built without MPI, these functions do nothing. */
#ifndef CLI_MPI_SWEEP_H
#define CLI_MPI_SWEEP_H

#include "ballast/store.h"

#include <stdbool.h>

/* Joins the other processes when started by mpirun. Returns -1 to go on, alone or as rank 0; otherwise this
 * process was a worker, has finished, and must exit with the returned status. */
int cli_mpi_join(void);

/* For commands that do not divide their work: -1 to go on; otherwise mpirun has started several of them,
 * which has been reported once, and the exit status. */
int cli_mpi_check_alone(const char *command);

/* Are there other ranks to work with? */
bool cli_is_mpi(void);

/* As bli_sweep_run, with all ranks. */
enum bal_code cli_mpi_sweep(const struct bli_experiment *experiment, struct bli_store *store,
                            const struct bli_sweep_options *options, struct bal_error *err);

/* Rank 0 calls this at the end: the other ranks exit. */
void cli_mpi_leave(void);

#endif
