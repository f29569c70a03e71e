#include "process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

uint64_t bal_ngx_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t bal_ngx_boot(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- who lives ---- */

struct standing {
    char state;     /* 'R', 'S', ...; 0: not known */
    uint64_t start; /* 0: not known */
};

/* The third and the 22nd field of /proc/PID/stat; the second is a name in parentheses that may hold anything.
 */
static struct standing standing_of(uint64_t pid) {
    char path[64], text[1024];
    struct standing standing = {0, 0};
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd == -1)
        return standing;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return standing;
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    standing.state = at && at[1] == ' ' ? at[2] : '\0';
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    standing.start = at ? strtoull(at + 1, NULL, 10) : 0;
    return standing;
}

uint64_t bal_ngx_start_time(uint64_t pid) {
    return standing_of(pid).start;
}

/* A process of another user (workers of before, when `user` was another) may not be signalled, but is there:
 * then only the time of its start tells. One of which nobody has asked yet how it ended is dead too. */
bool bal_ngx_is_dead(uint64_t pid, uint64_t start) {
    if (kill((pid_t)pid, 0) == -1 && ngx_errno == NGX_ESRCH)
        return true;
    const struct standing now = standing_of(pid);
    return now.state == 'Z' || now.state == 'X' ||
           (now.start && start && (uint32_t)now.start != (uint32_t)start);
}

/* ---- bells ---- */

enum { BELLS_MOST = 256 };

static struct {
    int fd[BELLS_MOST];
    ngx_uint_t count;
    ngx_connection_t *own;
    void (*rung)(void);
} bells;

void bal_ngx_bells_make(ngx_uint_t count, ngx_log_t *log) {
    for (; bells.count < ngx_min(count, BELLS_MOST); bells.count++) {
        const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (fd == -1) {
            ngx_log_error(NGX_LOG_ERR, log, ngx_errno, "ballast: eventfd() failed");
            return;
        }
        bells.fd[bells.count] = fd;
    }
}

static void hear(ngx_event_t *event) {
    const ngx_connection_t *c = event->data;
    uint64_t times;
    while (read(c->fd, &times, sizeof times) == sizeof times)
        ;
    bells.rung();
}

ngx_int_t bal_ngx_bell_hang(ngx_cycle_t *cycle, void (*rung)(void)) {
    const ngx_uint_t slot = (ngx_uint_t)ngx_process_slot;
    if (slot >= bells.count)
        return NGX_OK;
    ngx_connection_t *c = ngx_get_connection(bells.fd[slot], cycle->log);
    if (!c)
        return NGX_ERROR;
    c->log = c->read->log = c->write->log = cycle->log;
    c->read->handler = hear;
    c->read->channel = 1; /* as nginx's own channel: it stays when a shutdown takes too long */
    bells.own = c;
    bells.rung = rung;
    const ngx_uint_t kind = ngx_event_flags & NGX_USE_CLEAR_EVENT ? NGX_CLEAR_EVENT : NGX_LEVEL_EVENT;
    return ngx_add_event(c->read, NGX_READ_EVENT, kind);
}

void bal_ngx_bell_take_down(void) {
    if (bells.own)
        ngx_close_connection(bells.own);
    bells.own = NULL;
}

void bal_ngx_bell_ring(uint32_t slot) {
    static const uint64_t once = 1;
    if (slot < bells.count && write(bells.fd[slot], &once, sizeof once) == -1 && ngx_errno != NGX_EAGAIN)
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_errno, "ballast: process slot %uD is not woken",
                      slot);
}
