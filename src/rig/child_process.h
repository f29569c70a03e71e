/* SPDX-License-Identifier: BSD-2-Clause */
/* Real processes: started in groups of their own, ended by their process ids, and never left behind. */
#ifndef RIG_CHILD_PROCESS_H
#define RIG_CHILD_PROCESS_H

#include "ballast/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct rig_process {
    pid_t pid; /* 0: not running */
    int out;   /* what it prints; -1: that goes into its log */
};

/* Starts it; argv ends with NULL. What it prints goes into the file `log`, its standard output into a pipe if
 * `piped`. It runs in the network namespace `space` (a descriptor; -1: ours), and gets the signal when this
 * process ends for whatever reason. */
enum bal_code bli_process_start(struct rig_process *process, const char *const argv[],
                                const char *const *environment, const char *log, bool piped, int space,
                                int signal, struct bal_error *err);

/* The same for a function instead of a program: it runs in a child of this process, must not allocate, and
 * gets SIGKILL when this process ends. */
enum bal_code bli_process_run(struct rig_process *process, void (*run)(void *context), void *context,
                              struct bal_error *err);

/* Has it ended by itself? */
bool bli_process_has_ended(struct rig_process *process);

/* Asks it to end; bli_process_end() waits for that, and ends it and its whole group by force if it takes
 * longer than a few seconds. */
void bli_process_terminate(const struct rig_process *process);
void bli_process_end(struct rig_process *process);
/* A signal to that process, or to all its group. */
void bli_process_signal(const struct rig_process *process, int signal);
void bli_process_signal_all(const struct rig_process *process, int signal);
/* Kills it at once, with its whole group. */
void bli_process_kill(struct rig_process *process);

/* Kills that process alone; processes that it has started continue. */
void bli_process_kill_alone(struct rig_process *process);

/* Its newest child, 0: none. After a reload older children finish their requests. */
pid_t bli_process_child(const struct rig_process *process);

void bli_pause(double seconds);
double bli_clock(void); /* seconds */

#endif
