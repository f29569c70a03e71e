/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes of this machine, identified so that a reused pid is not mistaken for the earlier process. */
#ifndef KEEPER_PROCESSES_H
#define KEEPER_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* When the process was started, in ticks since the boot; 0: there is no process with that pid. */
uint64_t process_start_time(pid_t pid);

/* A descriptor of the process with that pid and start time; -1: there is none (any longer). */
int process_open(pid_t pid, uint64_t start);

/* Kills all descendants of this process. They are stopped first, so that none can have children meanwhile.
 * Processes that are left afterwards were created in between: call it again. */
void process_kill_descendants(void);

/* How to recognise the processes of an app that have lost their supervisor. */
struct process_marks {
    const char *variable, *other; /* "NAME=value", both in the environment that they were started with */
    uid_t uid; /* the owner of the processes: only this user, or a process that may trace, can read the
                  environment */
    gid_t gid;
    pid_t session; /* in which they were started; 0: not known */
    uint64_t session_start;
};

/* Kills all processes that have both variables, those of the session, and the descendants of all of these.
 * Returns how many there were: call it again until there is none. */
size_t process_kill_marked(const struct process_marks *marks);

/* Names this boot of the machine; "-" where that is not known. */
enum { PROCESS_BOOT_ID = 40 };
void process_boot_id(char id[PROCESS_BOOT_ID]);

#endif
