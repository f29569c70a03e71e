/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that simulate an app: any number of them in one process, each with a port of its own, each working
 * on a few requests at a time in the order in which they come, sleeping or using the processor. serve.h
 * describes the requests that they understand.
 *
 * Here is what begins, turns and ends: options, signals, the loop. The rest is by subject: serve_sockets.c,
 * serve_request.c (what is asked), serve_queue.c (waiting and service), serve_answer.c, serve_control.c,
 * serve_log.c; serve_state.h has the state of all. */
#include "serve/serve.h"

#include "serve/burn.h"
#include "serve/serve_state.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 512 };

void serve_fail(struct serve *serve, const char *what) {
    if (!serve->failure.code)
        bal_fail(&serve->failure, errno == ENOMEM ? BAL_E_MEMORY : BAL_E_IO, "%s: %s", what, strerror(errno));
}

double serve_clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for(struct serve *serve, struct epoll_event *events, int *count) {
    struct timespec timeout = {.tv_sec = 1};
    if (serve->timers.count > 0) {
        const double left = fmax(serve->timers.slot[0].time - serve_clock_seconds(), 0);
        if (left < 1)
            timeout = (struct timespec){.tv_nsec = (long)(left * 1e9)};
    }
    *count = epoll_pwait2(serve->epoll_fd, events, EVENTS, &timeout, NULL);
    if (*count < 0)
        *count = 0;
}

/* Closed connections are handled before new ones, in the order in which it happened; otherwise there would
 * seem to be more at a time than there were. Returns whether to go on. */
static bool serve_events(struct serve *serve) {
    struct epoll_event events[EVENTS];
    int count;
    wait_for(serve, events, &count);
    serve_run_timers(serve);
    bool go_on = true;
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < count; i++) {
            const uint64_t who = events[i].data.u64;
            const bool is_connection = who < SERVE_CONNECTIONS_MAX;
            const bool hangs_up = events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
            if (is_connection && pass == (hangs_up ? 0 : 1) && serve->table[who])
                serve_on_connection(serve, serve->table[who], events[i].events);
            else if (!is_connection && pass == 2 && who == SERVE_EVENT_END)
                go_on = false;
            else if (!is_connection && pass == 2 && who == SERVE_EVENT_BURNT)
                serve_finish_burnt(serve);
            else if (!is_connection && pass == 2)
                serve_accept(serve, &serve->servers[who - SERVE_CONNECTIONS_MAX]);
        }
    return go_on && !serve->failure.code;
}

static void watch_descriptor(struct serve *serve, int fd, uint64_t what, const char *name) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};
    if (fd < 0 || epoll_ctl(serve->epoll_fd, EPOLL_CTL_ADD, fd, &event))
        serve_fail(serve, name);
}

static void watch_ends(struct serve *serve, pid_t with) {
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigprocmask(SIG_BLOCK, &end, NULL);
    serve->signal_fd = signalfd(-1, &end, SFD_CLOEXEC | SFD_NONBLOCK);
    watch_descriptor(serve, serve->signal_fd, SERVE_EVENT_END, "signalfd");
    if (!with)
        return;
    serve->parent_fd = (int)syscall(SYS_pidfd_open, with, 0);
    watch_descriptor(serve, serve->parent_fd, SERVE_EVENT_END, "the process to end with");
}

static void set_limits(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    prctl(PR_SET_TIMERSLACK, 1000UL);
}

/* Of the control, which is printed first, and of the others. */
static void open_servers(struct serve *serve, const struct serve_options *options) {
    serve->server_count = bli_servers_count(&options->servers);
    struct test_server *control = &serve->servers[serve->server_count];
    *control = (struct test_server){.fd = -1, .control = true, .factor = 1, .port = options->control};
    serve_listen(serve, control, true);
    unsigned i = 0;
    for (unsigned g = 0; g < options->servers.groups; g++)
        for (uint32_t k = 0; k < options->servers.group[g].count; k++, i++)
            serve->servers[i] = (struct test_server){
                .fd = -1,
                .port = (uint16_t)(options->port ? options->port + i : 0),
                .speed = options->servers.group[g].speed,
                .status = 500,
                .factor = 1,
            };
    for (i = 0; i < serve->server_count && !serve->failure.code; i++)
        serve_listen(serve, &serve->servers[i], true);
}

static void print_ports(const struct serve *serve, FILE *out) {
    fprintf(out, "%u", serve->servers[serve->server_count].port);
    for (unsigned i = 0; i < serve->server_count; i++)
        fprintf(out, " %u", serve->servers[i].port);
    fputs("\n", out);
    fflush(out);
}

static void start_burning(struct serve *serve) {
    serve->burn = burn_new(serve->server_count * serve->slots);
    if (serve->burn)
        watch_descriptor(serve, burn_event(serve->burn), SERVE_EVENT_BURNT, "eventfd");
    else
        serve_fail(serve, "threads");
}

static void serve_init(struct serve *serve, const struct serve_options *options) {
    serve->epoll_fd = serve->signal_fd = serve->parent_fd = -1;
    for (unsigned i = 0; i <= SERVE_MAX; i++)
        serve->servers[i].fd = -1;
    serve->slots = options->slots;
    serve->dist = options->service;
    serve->speeds = options->speeds;
    memcpy(serve->token_service, options->token_service, sizeof serve->token_service);
    bal_rng_init(&serve->rng, options->seed, 0, BAL_STREAM_SERVICE);
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
        serve->vacant[serve->vacant_count++] = SERVE_CONNECTIONS_MAX - 1 - i;
    const char *address = options->address ? options->address : "127.0.0.1";
    if (!serve_set_address(serve, address)) {
        bal_fail(&serve->failure, BAL_E_SYNTAX, "'%.60s' is no address in numbers", address);
        return;
    }
    set_limits();
    serve->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (serve->epoll_fd < 0 || bli_heap_init(&serve->timers, SERVE_CONNECTIONS_MAX)) {
        serve_fail(serve, "start");
        return;
    }
    watch_ends(serve, options->with);
    open_servers(serve, options);
    if (options->burn && !serve->failure.code)
        start_burning(serve);
}

static void close_descriptor(int fd) {
    if (fd >= 0)
        close(fd);
}

static void serve_free(struct serve *serve) {
    burn_free(serve->burn);
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
        if (serve->table[i]) {
            close(serve->table[i]->fd);
            free(serve->table[i]->out);
            free(serve->table[i]);
        }
    for (unsigned i = 0; i <= serve->server_count; i++)
        close_descriptor(serve->servers[i].fd);
    struct signalfd_siginfo seen;
    while (serve->signal_fd >= 0 && read(serve->signal_fd, &seen, sizeof seen) > 0)
        ; /* so that they end nothing that comes after */
    close_descriptor(serve->signal_fd);
    close_descriptor(serve->parent_fd);
    close_descriptor(serve->epoll_fd);
    bli_heap_fini(&serve->timers);
    free(serve->records);
    free(serve->seen);
    free(serve);
}

enum bal_code serve_run(const struct serve_options *options, FILE *out, struct bal_error *err) {
    struct serve *serve = calloc(1, sizeof *serve);
    if (!serve)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    serve_init(serve, options);
    if (!serve->failure.code) {
        print_ports(serve, out);
        while (serve_events(serve))
            ;
    }
    const struct bal_error failure = serve->failure;
    if (!failure.code)
        serve_print_stats(serve, out);
    serve_free(serve);
    return failure.code ? bal_fail(err, failure.code, "%s", failure.text) : BAL_OK;
}
