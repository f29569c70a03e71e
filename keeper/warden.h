/* A warden: the small process that stands between the keeper and a command that it runs.
 *
 * Whatever the command starts, however often it forks, stays below its warden (which is a subreaper) and ends
 * with it: when the command itself has ended, what is left of it is killed, unless it was a hook that
 * succeeded in starting something. The warden reads the output, passes on a bounded part of it to the log,
 * and counts the rest. It ends with the status of the command.
 *
 * It holds a lock on a file for as long as anything is there. The keeper takes the lock before it forks, so
 * there is no moment at which a command runs and the lock is free; and a keeper that was killed finds its
 * app again by trying the lock and reading who holds it. A bound warden (a hook's) ends with its keeper, a
 * free one (an app's) outlives it. */
#ifndef KEEPER_WARDEN_H
#define KEEPER_WARDEN_H

#include "config.h"

struct warden_task {
    const struct app_config *app;
    const char *what; /* "run", "start": for the log */
    char *const *argv;
    const char *lock;  /* path */
    const char *state; /* directory of the keeper, told to the command */
    bool bound;
    bool leaves; /* what it leaves behind when it succeeds is not its own */
};

struct warden {
    pid_t pid; /* 0: there is none */
    int fd;    /* of the process */
    bool child;
    bool ended; /* and has been waited for, if it was a child */
    int status; /* as of waitpid; -1: not known */
};

/* Starts the command. Returns 0, or an errno: EWOULDBLOCK when the lock is held, so something is there. */
int warden_begin(struct warden *warden, const struct warden_task *task);

enum warden_find {
    WARDEN_NONE,    /* the lock is free */
    WARDEN_FOUND,   /* *warden is filled in */
    WARDEN_UNKNOWN, /* the lock is held, and who holds it has not said so yet: ask again */
};
enum warden_find warden_find(struct warden *warden, const char *lock);

/* Has the command of the warden that holds the lock begun? Until then it is the warden that prepares it. */
bool warden_runs(const char *lock);

/* Asks the command to end: the app's signal, or for a bound one SIGTERM and after a second the end by force.
 */
void warden_stop(const struct warden *warden);
/* Ends it with all that is below it. */
void warden_kill(const struct warden *warden);

/* Has ended: frees what is held for it. */
void warden_forget(struct warden *warden);

#endif
