/* SPDX-License-Identifier: BSD-2-Clause */
/* A supervisor: the small process that stands between the keeper and a command that it runs.
 *
 * Whatever the command starts, however often it forks, stays below its supervisor (which is a subreaper) and
 * ends with it: when the command itself has ended, what is left of it is killed, unless it was a hook that
 * succeeded in starting something. The supervisor reads the output, passes on a bounded part of it to the
 * log, and counts the rest. It ends with the status of the command.
 *
 * It holds a lock on a file for as long as anything is there. The keeper takes the lock before it forks, so
 * there is no moment at which a command runs and the lock is free; and a keeper that was killed and restarted
 * finds its app again by trying the lock and reading who holds it. A bound supervisor (a hook's) ends with
 * its keeper, a free one (an app's) outlives it. An app holds a second lock, "STATE/NAME.alive", by a
 * descriptor that all its processes inherit: it is free only when the last of them has ended, whichever of
 * them was killed. */
#ifndef KEEPER_SUPERVISOR_H
#define KEEPER_SUPERVISOR_H

#include "config.h"

struct supervisor_task {
    const struct app_config *app;
    const char *what; /* "run", "start": for the log */
    char *const *argv;
    const char *lock;  /* path */
    const char *state; /* directory of the keeper, passed to the command */
    const char *group; /* the control group that the command joins; NULL or empty: none */
    bool bound;
    bool leaves; /* what it leaves behind when it succeeds is not its own */
};

struct supervisor {
    pid_t pid; /* 0: there is none */
    int fd;    /* of the process */
    bool child;
    bool ended; /* and has been waited for, if it was a child */
    int status; /* as of waitpid; -1: not known */
};

/* Starts the command. Returns 0, or an errno: EWOULDBLOCK when the lock is held, so something is there. */
int supervisor_begin(struct supervisor *supervisor, const struct supervisor_task *task);

enum supervisor_find {
    SUPERVISOR_NONE,    /* the lock is free */
    SUPERVISOR_FOUND,   /* *supervisor is filled in */
    SUPERVISOR_UNKNOWN, /* the lock is held, and its holder has not recorded itself yet: call again */
};
enum supervisor_find supervisor_find(struct supervisor *supervisor, const char *lock);

/* Has the command of the supervisor that holds the lock begun? Until then it is the supervisor that prepares
 * it. */
bool supervisor_runs(const char *lock);

/* Does anything of the app hold its second lock? */
bool supervisor_is_alive(const char *state, const char *name);

/* The session of the command, as a supervisor that was killed has left it in its record; 0: there is none. */
void supervisor_session(const char *lock, pid_t *session, uint64_t *start);
/* Nothing of that session is left: the record is emptied, if no process holds the lock. */
void supervisor_clear(const char *lock);

/* Asks the command to end: the app's signal, or for a bound one SIGTERM and after a second the end by force.
 */
void supervisor_stop(const struct supervisor *supervisor);
/* Ends it with all that is below it. */
void supervisor_kill(const struct supervisor *supervisor);

/* Has ended: frees what is held for it. */
void supervisor_release(struct supervisor *supervisor);

#endif
