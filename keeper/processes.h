/* Processes of this machine, named so that a number that is used again is not taken for what had it before.
 */
#ifndef KEEPER_PROCESSES_H
#define KEEPER_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* When the process was started, in ticks since the boot; 0: there is none of that number. */
uint64_t process_start_time(pid_t pid);

/* A descriptor of the process with that number and start time; -1: it is not there (any longer). */
int process_open(pid_t pid, uint64_t start);

/* Kills all descendants of this process. They are stopped first, so that none can have children meanwhile.
 * Whoever is left afterwards was born in between: call it again. */
void process_kill_descendants(void);

/* Kills all processes with this variable, "NAME=value", in the environment that they were started with, and
 * with the other one. Returns how many there were: call it again until there is none. */
size_t process_kill_marked(const char *variable, const char *other);

#endif
