/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of the generator: sends requests that are due, reads responses, gives up requests that take too
 * long.
 *
 * Requests leave in the order of the schedule. One that is due while all connections are in use waits, and so
 * do those after it; its latency still counts from its intended time. */
#include "ballast/load.h"

#include "load/http_response.h"
#include "load/request_tally.h"
#include "load/target.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, SENDS = 64, INPUT = 65536, SPARE_FILES = 32, REQUEST = 16384, CHUNK = 65536 };

enum link_state { LINK_CONNECTING, LINK_SENDING, LINK_READING, LINK_IDLE };

/* A connection, and the request that is on it. */
struct link {
    int fd;
    enum link_state state;
    bool used_before;
    unsigned target;
    struct load_request request;
    uint64_t sent; /* bytes of the request, with its body */
    struct link *next_idle;
    struct link *before, *after; /* requests under way, in the order of their times */
    struct http_response answer;
};

struct load_run {
    const struct bli_load *load;
    struct bli_load_result *result;
    struct schedule schedule;
    struct request_tally tally;
    struct target target[BLI_LOAD_TARGETS];
    struct link *idle[BLI_LOAD_TARGETS];
    struct link *first, *last; /* under way */
    unsigned links, most;
    int epoll;
    bool coarse; /* it waits in milliseconds */
    double start;
    uint64_t tag; /* of this run: ids are unique over runs too */
    bool pending; /* `next` is to be sent */
    struct load_request next;
    bool held;         /* it has waited for a connection already */
    double held_until; /* until then requests were held back */
    double last_progress;
    double event; /* when the caller wants to be called */
    enum bal_code code;
    char head[REQUEST]; /* headers of the caller */
    char input[INPUT];
    char body[CHUNK]; /* bodies are repetitions of this */
};

static double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double now_of(const struct load_run *run) {
    return clock_now() - run->start;
}

/* ---- the text of a request ---- */

static size_t append_part(char *text, size_t used, const char *more, size_t length) {
    if (used + length >= REQUEST)
        return used;
    memcpy(text + used, more, length);
    text[used + length] = 0;
    return used + length;
}

static size_t append_text(char *text, size_t used, const char *more) {
    return append_part(text, used, more, strlen(more));
}

static size_t append_number(char *text, size_t used, const char *before, uint64_t number, const char *after) {
    char digits[24], *at = digits + sizeof digits - 1;
    *at = 0;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    return append_text(text, append_text(text, append_text(text, used, before), at), after);
}

/* "METHOD PATH" as it was recorded; NULL where it was not. */
static const char *recorded_of(const struct load_run *run, const struct load_request *request) {
    const char *const *recorded = run->load->recorded_request;
    return recorded && request->recorded ? recorded[request->recorded - 1] : NULL;
}

/* Ends at a blank or at the end of the text. */
static const char *method_of(const struct load_run *run, const struct load_request *request) {
    const char *recorded = recorded_of(run, request);
    return run->load->method ? run->load->method : recorded ? recorded : "GET";
}

static bool is_method(const char *method, const char *name) {
    const size_t length = strlen(name);
    return strncmp(method, name, length) == 0 && (method[length] == ' ' || method[length] == 0);
}

static bool has_body(const char *method) {
    return is_method(method, "POST") || is_method(method, "PUT") || is_method(method, "PATCH");
}

static const char *path_of(const struct load_run *run, const struct link *link) {
    const char *path = run->target[link->target].path, *recorded = recorded_of(run, &link->request);
    return recorded && strcmp(path, "/") == 0 ? strchr(recorded, ' ') + 1 : path;
}

/* The head; *body: bytes that follow it. */
static size_t request_text(const struct load_run *run, const struct link *link, char text[REQUEST],
                           uint64_t *body) {
    const struct bli_load *load = run->load;
    const struct target *target = &run->target[link->target];
    const char *method = method_of(run, &link->request);
    size_t used = append_part(text, 0, method, strcspn(method, " "));
    used = append_text(text, used, " ");
    used = append_text(text, used, path_of(run, link));
    used = append_text(text, used, " HTTP/1.1\r\nHost: ");
    used = append_text(text, used, target->host);
    used = append_text(text, used, "\r\n");
    used = append_text(text, used, run->head);
    used = append_number(text, used, "X-Request-Id: ", run->tag, "-");
    used = append_number(text, used, "", link->request.number, "\r\n");
    if (load->classes > 0)
        used = append_number(text, used, "Priority: u=", load->class_[link->request.class_].urgency, "\r\n");
    if (!isnan(link->request.service))
        used = append_number(text, used, "X-Service: ", (uint64_t)link->request.service, "\r\n");
    *body = has_body(method) ? load->body : 0;
    if (has_body(method))
        used = append_number(text, used, "Content-Length: ", *body, "\r\n");
    return append_text(text, used, load->fresh ? "Connection: close\r\n\r\n" : "\r\n");
}

/* ---- connections ---- */

static void watch_link(struct load_run *run, struct link *link, int how, uint32_t events) {
    struct epoll_event event = {.events = events | EPOLLRDHUP, .data.ptr = link};
    if (epoll_ctl(run->epoll, how, link->fd, &event))
        run->code = BAL_E_IO;
}

static void unlink_active(struct load_run *run, struct link *link) {
    if (link->before)
        link->before->after = link->after;
    else
        run->first = link->after;
    if (link->after)
        link->after->before = link->before;
    else
        run->last = link->before;
}

static void insert_active_after(struct load_run *run, struct link *link, struct link *before) {
    link->before = before;
    link->after = before ? before->after : run->first;
    *(link->before ? &link->before->after : &run->first) = link;
    *(link->after ? &link->after->before : &run->last) = link;
}

/* A process that the caller starts may still have a copy of the socket: epoll would go on reporting it. */
static void close_link(struct load_run *run, struct link *link) {
    epoll_ctl(run->epoll, EPOLL_CTL_DEL, link->fd, NULL);
    close(link->fd);
    free(link);
    run->links--;
}

static void remove_idle(struct load_run *run, struct link *link) {
    struct link **place = &run->idle[link->target];
    while (*place != link)
        place = &(*place)->next_idle;
    *place = link->next_idle;
    close_link(run, link);
}

static void add_idle(struct load_run *run, struct link *link) {
    link->state = LINK_IDLE;
    link->used_before = true;
    link->next_idle = run->idle[link->target];
    run->idle[link->target] = link;
}

/* A new connection, under way; NULL with *error set when it cannot be. */
static struct link *open_link(struct load_run *run, unsigned target, enum bli_load_error *error) {
    const struct target *to = &run->target[target];
    struct link *link = malloc(sizeof *link);
    const int fd = link ? socket(to->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1,
              on = 1;
    *error = BLI_LOAD_NOWHERE;
    if (fd < 0) {
        free(link);
        return NULL;
    }
    *link = (struct link){.fd = fd, .state = LINK_CONNECTING, .target = target};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    run->links++;
    run->result->opened++;
    if (connect(fd, (const struct sockaddr *)&to->address, to->address_length) && errno != EINPROGRESS) {
        *error = errno == ECONNREFUSED ? BLI_LOAD_REFUSED : BLI_LOAD_NOWHERE;
        close_link(run, link);
        return NULL;
    }
    watch_link(run, link, EPOLL_CTL_ADD, EPOLLOUT);
    run->result->connections = run->links > run->result->connections ? run->links : run->result->connections;
    return link;
}

/* Frees a connection when the limit is reached: closes an idle one to another target. */
static bool make_room(struct load_run *run) {
    for (size_t i = 0; i < run->load->urls && run->links >= run->most; i++)
        if (run->idle[i])
            remove_idle(run, run->idle[i]);
    return run->links < run->most;
}

/* ---- requests ---- */

static void resend_request(struct load_run *run, struct link *link);

static void fail_request(struct load_run *run, struct link *link, enum bli_load_error error) {
    unlink_active(run, link);
    bli_load_tally_error(&run->tally, &link->request, error, now_of(run));
    close_link(run, link);
}

/* The connection has ended while the request was on it. */
static void on_disconnect(struct load_run *run, struct link *link) {
    const bool stale =
        link->used_before && link->answer.state == RESPONSE_HEAD_STATE && link->answer.used == 0;
    if (stale && !run->load->no_resend)
        resend_request(run, link);
    else
        fail_request(run, link, BLI_LOAD_CLOSED);
}

/* Sends what is left of the request, a chunk of its body at a time. */
static void send_rest(struct load_run *run, struct link *link) {
    char text[REQUEST];
    uint64_t body;
    const size_t head = request_text(run, link, text, &body);
    const uint64_t length = head + body;
    const size_t at = link->sent < head ? (size_t)link->sent : head;
    const uint64_t left = length - link->sent - (head - at);
    struct iovec parts[] = {{text + at, head - at}, {run->body, left < CHUNK ? (size_t)left : CHUNK}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    const ssize_t sent = sendmsg(link->fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) {
        on_disconnect(run, link);
        return;
    }
    link->sent += sent > 0 ? (uint64_t)sent : 0;
    const bool done = link->sent == length, was_reading = link->state == LINK_IDLE;
    link->state = done ? LINK_READING : LINK_SENDING;
    if (!done || !was_reading)
        watch_link(run, link, EPOLL_CTL_MOD, done ? EPOLLIN : EPOLLOUT | EPOLLIN);
}

static struct link *link_for(struct load_run *run, unsigned target, enum bli_load_error *error) {
    struct link *link = run->idle[target];
    if (link && !run->load->fresh) {
        run->idle[target] = link->next_idle;
        return link;
    }
    return open_link(run, target, error);
}

/* Assigns the request to the connection, and inserts it after `before` in the list of those under way. */
static void start_request(struct load_run *run, struct link *link, const struct load_request *request,
                          struct link *before) {
    link->request = *request;
    link->sent = 0;
    bli_http_response_init(&link->answer);
    link->answer.bodiless = is_method(method_of(run, request), "HEAD");
    insert_active_after(run, link, before);
    if (link->state == LINK_IDLE)
        send_rest(run, link);
}

/* Once more, on a connection that is new. */
static void resend_request(struct load_run *run, struct link *link) {
    struct load_request request = link->request;
    request.resent = true;
    struct link *before = link->before;
    enum bli_load_error error;
    unlink_active(run, link);
    close_link(run, link);
    run->result->resent++;
    link = open_link(run, request.target, &error);
    if (link)
        start_request(run, link, &request, before);
    else
        bli_load_tally_error(&run->tally, &request, error, now_of(run));
}

/* Sends the next request of the schedule; false when there is no connection to be had for it. */
static bool send_next(struct load_run *run, double now) {
    const struct load_request *request = &run->next;
    const bool can =
        (run->idle[request->target] && !run->load->fresh) || run->links < run->most || make_room(run);
    if (!can) {
        run->result->held_back += !run->held;
        run->held = true;
        run->held_until = now;
        return false;
    }
    if (!run->held && request->time > run->held_until)
        bli_load_tally_late(&run->tally, now - request->time);
    else if (!run->held)
        run->result->held_back++;
    enum bli_load_error error;
    struct link *link = link_for(run, request->target, &error);
    run->result->sent += link != NULL;
    if (link)
        start_request(run, link, request, run->last);
    else
        bli_load_tally_error(&run->tally, request, error, now);
    return true;
}

static void schedule_next(struct load_run *run) {
    run->held = false;
    run->pending = bli_load_schedule_next(&run->schedule, &run->next);
    run->code = run->schedule.code ? run->schedule.code : run->code;
}

/* All that is due, but not so many at once that answers would have to wait. */
static void send_due(struct load_run *run) {
    for (int i = 0; i < SENDS && run->pending; i++) {
        const double now = now_of(run);
        if (run->next.time > now)
            return;
        run->result->due += !run->held;
        if (now - run->next.time > run->load->timeout)
            bli_load_tally_error(&run->tally, &run->next, BLI_LOAD_UNSENT, now);
        else if (!send_next(run, now))
            return;
        run->result->lasted = run->next.time;
        schedule_next(run);
    }
}

static void expire_requests(struct load_run *run, double now) {
    while (run->first && now - run->first->request.time > run->load->timeout)
        fail_request(run, run->first, BLI_LOAD_TIMEOUT);
}

static void finish_answer(struct load_run *run, struct link *link, bool more) {
    const bool whole = link->state == LINK_READING; /* the request, too */
    const bool keep = link->answer.keep && whole && !more && !run->load->fresh;
    const double now = now_of(run);
    unlink_active(run, link);
    run->result->strange += link->answer.id != UINT64_MAX && link->answer.id != link->request.number;
    run->result->drained = now;
    if (!bli_load_tally_answer(&run->tally, &link->request, link->answer.status, now))
        run->code = BAL_E_MEMORY;
    if (keep)
        add_idle(run, link);
    else
        close_link(run, link);
}

static void read_response(struct load_run *run, struct link *link) {
    for (;;) {
        const ssize_t got = recv(link->fd, run->input, INPUT, 0);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            if (got == 0 && bli_http_response_finish(&link->answer))
                finish_answer(run, link, true);
            else
                on_disconnect(run, link);
            return;
        }
        const size_t used = bli_http_response_parse(&link->answer, run->input, (size_t)got);
        if (link->answer.state == RESPONSE_DONE) {
            finish_answer(run, link, used < (size_t)got);
            return;
        }
        if (link->answer.state == RESPONSE_BAD) {
            fail_request(run, link, BLI_LOAD_MALFORMED);
            return;
        }
        if (got < INPUT)
            return; /* epoll reports the rest again */
    }
}

static void on_connected(struct load_run *run, struct link *link) {
    int failed = 0;
    socklen_t length = sizeof failed;
    getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &failed, &length);
    if (failed)
        fail_request(run, link, failed == ECONNREFUSED ? BLI_LOAD_REFUSED : BLI_LOAD_NOWHERE);
    else
        send_rest(run, link);
}

static void on_event(struct load_run *run, struct link *link, uint32_t events) {
    switch (link->state) {
    case LINK_CONNECTING:
        on_connected(run, link);
        break;
    case LINK_SENDING: /* an answer that comes already, or an end, is read */
        if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            read_response(run, link);
        else
            send_rest(run, link);
        break;
    case LINK_READING:
        read_response(run, link);
        break;
    case LINK_IDLE: /* nothing is due: it has been closed */
        remove_idle(run, link);
        break;
    }
}

/* ---- the loop ---- */

static void show_progress(struct load_run *run, double now) {
    const struct bli_load *load = run->load;
    if (!load->progress || now - run->last_progress < 0.1)
        return;
    run->last_progress = now;
    const double expected = run->schedule.expected;
    const double part = load->requests > 0 && load->seconds <= 0
                            ? (double)run->result->due / (double)load->requests
                            : run->result->lasted / expected;
    load->progress(load->progress_context, expected > 0 ? fmin(part, 1) : 0, run->result->sent,
                   run->tally.failed);
}

/* Seconds until there is something to do without an event. */
static double seconds_to_next_task(const struct load_run *run, double now) {
    double until = now + 0.1; /* for the stop and the progress */
    until = fmin(until, run->event);
    if (run->pending && !run->held)
        until = fmin(until, run->next.time);
    if (run->pending && run->held)
        until = fmin(until, run->next.time + run->load->timeout);
    if (run->first)
        until = fmin(until, run->first->request.time + run->load->timeout);
    return fmax(until - now, 0);
}

/* Where the system cannot wait for less than a millisecond, requests are sent late; the report shows this. */
static int wait_for(struct load_run *run, struct epoll_event events[EVENTS], double seconds) {
    const struct timespec wait = {.tv_nsec = (long)(1e9 * seconds)};
    const int count = run->coarse ? -1 : epoll_pwait2(run->epoll, events, EVENTS, &wait, NULL);
    run->coarse |= count < 0 && errno == ENOSYS;
    return run->coarse ? epoll_wait(run->epoll, events, EVENTS, (int)ceil(1e3 * seconds)) : count;
}

static void run_events(struct load_run *run) {
    struct epoll_event events[EVENTS];
    if (now_of(run) >= run->event)
        run->event = run->load->event(run->load->context, now_of(run));
    const double now = now_of(run);
    const int count = wait_for(run, events, seconds_to_next_task(run, now));
    if (count < 0 && errno != EINTR)
        run->code = BAL_E_IO;
    for (int i = 0; i < count; i++)
        on_event(run, events[i].data.ptr, events[i].events);
    send_due(run);
    expire_requests(run, now_of(run));
    show_progress(run, now);
}

static bool is_stopped(const struct load_run *run) {
    return run->load->stop && *run->load->stop;
}

static void finish_run(struct load_run *run) {
    run->result->stopped = is_stopped(run);
    for (struct link *link = run->first, *after; link; link = after, run->result->cut++) {
        after = link->after;
        close_link(run, link);
    }
    for (size_t i = 0; i < run->load->urls; i++)
        for (struct link *link = run->idle[i], *next; link; link = next) {
            next = link->next_idle;
            close_link(run, link);
        }
    run->result->cut += run->held;
    if (!run->result->stopped)
        run->result->lasted =
            fmax(run->result->lasted,
                 isfinite(run->schedule.expected) && !run->load->requests ? run->schedule.expected : 0);
    bli_load_tally_close(&run->tally);
}

/* As many files as the system allows, if need be. */
static unsigned max_links(unsigned wanted) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return wanted;
    if (files.rlim_cur < files.rlim_max && files.rlim_cur < wanted + SPARE_FILES) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
        getrlimit(RLIMIT_NOFILE, &files);
    }
    const rlim_t room = files.rlim_cur > SPARE_FILES ? files.rlim_cur - SPARE_FILES : 1;
    return room < wanted ? (unsigned)room : wanted;
}

static enum bal_code run_init(struct load_run *run, const struct bli_load *load,
                              struct bli_load_result *result, struct bal_error *err) {
    run->load = load;
    run->result = result;
    run->held_until = -1;
    run->event = load->event ? 0 : INFINITY;
    memset(run->body, 'x', sizeof run->body);
    run->most = max_links(load->connections);
    for (size_t i = 0; i < load->urls; i++) {
        enum bal_code code = bli_load_target_parse(&run->target[i], load->url[i], err);
        if (!code)
            code = bli_load_target_resolve(&run->target[i], err);
        if (code)
            return code;
    }
    size_t used = 0;
    for (size_t i = 0; i < load->headers; i++) {
        used = append_text(run->head, used, load->header[i]);
        used = append_text(run->head, used, "\r\n");
    }
    run->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (run->epoll < 0)
        return bal_fail(err, BAL_E_IO, "epoll: %s", strerror(errno));
    prctl(PR_SET_TIMERSLACK, 1UL);
    return bli_load_schedule_init(&run->schedule, load, err);
}

enum bal_code bli_load_run(const struct bli_load *load, struct bli_load_result *result,
                           struct bal_error *err) {
    memset(result, 0, sizeof *result);
    struct load_run *run = calloc(1, sizeof *run);
    if (!run)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    run->epoll = -1;
    enum bal_code code = run_init(run, load, result, err);
    if (!code) {
        bli_load_tally_begin(&run->tally, load, result, run->schedule.expected);
        run->start = clock_now();
        run->tag = (uint64_t)(1e6 * run->start);
        schedule_next(run);
        while ((run->pending || run->first) && !run->code && !is_stopped(run))
            run_events(run);
        finish_run(run);
        code = run->code;
        if (code && !run->schedule.code)
            bal_fail(err, code, "%s", code == BAL_E_MEMORY ? "not enough memory" : strerror(errno));
    }
    bli_load_schedule_fini(&run->schedule);
    if (run->epoll >= 0)
        close(run->epoll);
    free(run);
    return code;
}
