/* A run spread over several processes: `mpirun -n K ballast run FILE`.
 *
 * Rank 0 reads the file, owns the store, hands out trials and computes some itself; the other ranks compute.
 * Without mpirun, or in a program built without MPI, nothing of it happens. */
#ifndef CLI_SPREAD_H
#define CLI_SPREAD_H

#include "ballast/store.h"

#include <stdbool.h>

/* Joins the other processes when started by mpirun. Returns -1 to go on, alone or as rank 0; otherwise this
 * process has done its part of the work and this is its exit status. */
int cli_spread_join(void);

/* Are there other ranks to work with? */
bool cli_is_spread(void);

/* As bal_sweep_run, with all ranks. */
enum bal_code cli_spread_sweep(const struct bal_experiment *experiment, struct bal_store *store,
                               const struct bal_sweep_options *options, struct bal_error *err);

/* To be called at the end by rank 0; lets the other ranks go. */
void cli_spread_leave(void);

#endif
