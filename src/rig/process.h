/* Real processes: started in groups of their own, ended by their numbers, and never left behind. */
#ifndef RIG_PROCESS_H
#define RIG_PROCESS_H

#include "ballast/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct rig_process {
    pid_t pid; /* 0: it does not run */
    int out;   /* what it prints; -1: that goes into its log */
};

/* Starts it; argv ends with NULL. What it prints goes into the file `log`, its standard output into a pipe if
 * `piped`. It gets the signal when this process ends, however that happens. */
enum bal_code bal_process_start(struct rig_process *process, const char *const argv[],
                                const char *const *environment, const char *log, bool piped, int signal,
                                struct bal_error *err);

/* Has it ended by itself? */
bool bal_process_has_ended(struct rig_process *process);

/* Asks it to end; bal_process_end() waits for that, and ends it and its whole group by force if it takes
 * longer than a few seconds. */
void bal_process_ask(const struct rig_process *process);
void bal_process_end(struct rig_process *process);
/* At once, with all its group. */
void bal_process_kill(struct rig_process *process);

/* That process alone; what it has started goes on. */
void bal_process_kill_alone(struct rig_process *process);

/* The newest child of it, 0: none. After a reload the older ones finish what they have. */
pid_t bal_process_child(const struct rig_process *process);

void bal_pause(double seconds);
double bal_clock(void); /* seconds */

#endif
