/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, /proc and eventfds: the time, whether a process is alive, and how to notify it. */
#include "process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>

uint64_t bli_ngx_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t bli_ngx_boot(void) {
    uint64_t boot = 0;
    if (getrandom(&boot, sizeof boot, 0) != sizeof boot)
        boot = bli_ngx_wall();
    return boot ? boot : 1;
}

uint64_t bli_ngx_wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- living and dead processes ---- */

struct process_state {
    char state;     /* 'R', 'S', ...; 0: not known */
    uint64_t start; /* 0: not known */
};

/* The third and the 22nd field of /proc/PID/stat; the second is a name in parentheses that may hold anything.
 */
static struct process_state read_process_state(uint64_t pid) {
    char path[64], text[1024];
    struct process_state process_state = {0, 0};
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd == -1)
        return process_state;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return process_state;
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    process_state.state = at && at[1] == ' ' ? at[2] : '\0';
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    process_state.start = at ? strtoull(at + 1, NULL, 10) : 0;
    return process_state;
}

uint64_t bli_ngx_start_time(uint64_t pid) {
    return read_process_state(pid).start;
}

/* A process of another user (old workers, from before `user` was changed) cannot be signalled, but exists:
 * then only its start time decides. A zombie is dead too. */
bool bli_ngx_is_dead(uint64_t pid, uint64_t start) {
    if (kill((pid_t)pid, 0) == -1 && ngx_errno == NGX_ESRCH)
        return true;
    const struct process_state now = read_process_state(pid);
    return now.state == 'Z' || now.state == 'X' ||
           (now.start && start && (uint32_t)now.start != (uint32_t)start);
}

/* ---- notifying other processes ---- */

enum { NOTIFIERS_MAX = 256 };

static struct {
    int fd[NOTIFIERS_MAX];
    ngx_uint_t count;
    ngx_connection_t *own;
    void (*on_notify)(void);
    void (*on_quit)(void);
} notifiers;

void bli_ngx_notify_create(ngx_uint_t count, ngx_log_t *log) {
    for (; notifiers.count < ngx_min(count, NOTIFIERS_MAX); notifiers.count++) {
        const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (fd == -1) {
            ngx_log_error(NGX_LOG_ERR, log, ngx_errno, "ballast: eventfd() failed");
            return;
        }
        notifiers.fd[notifiers.count] = fd;
    }
}

/* On a graceful shutdown nginx asks all idle connections to close: this one calls on_quit instead. */
static void on_notify_readable(ngx_event_t *event) {
    ngx_connection_t *c = event->data;
    uint64_t times;
    if (c->close) {
        c->close = c->idle = 0;
        notifiers.on_quit();
        return;
    }
    while (read(c->fd, &times, sizeof times) == sizeof times)
        ;
    notifiers.on_notify();
}

ngx_int_t bli_ngx_notify_listen(ngx_cycle_t *cycle, void (*on_notify)(void), void (*on_quit)(void)) {
    const ngx_uint_t slot = (ngx_uint_t)ngx_process_slot;
    if (slot >= notifiers.count)
        return NGX_OK;
    ngx_connection_t *c = ngx_get_connection(notifiers.fd[slot], cycle->log);
    if (!c)
        return NGX_ERROR;
    c->log = c->read->log = c->write->log = cycle->log;
    c->read->handler = on_notify_readable;
    c->read->channel = 1; /* as nginx's own channel: it stays when a shutdown takes too long */
    notifiers.own = c;
    notifiers.on_notify = on_notify;
    notifiers.on_quit = on_quit;
    c->idle = 1;
    const ngx_uint_t kind = ngx_event_flags & NGX_USE_CLEAR_EVENT ? NGX_CLEAR_EVENT : NGX_LEVEL_EVENT;
    return ngx_add_event(c->read, NGX_READ_EVENT, kind);
}

void bli_ngx_notify_close(void) {
    if (notifiers.own)
        ngx_close_connection(notifiers.own);
    notifiers.own = NULL;
}

void bli_ngx_notify_worker(uint32_t slot) {
    static const uint64_t once = 1;
    if (slot < notifiers.count && write(notifiers.fd[slot], &once, sizeof once) == -1 &&
        ngx_errno != NGX_EAGAIN)
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_errno, "ballast: process slot %uD is not woken",
                      slot);
}
