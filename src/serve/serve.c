/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that simulate an app: any number of them in one process, each with a port of its own, each working
 * on a few requests at a time in the order in which they come, sleeping or using the processor. serve.h
 * describes the requests that they understand.
 *
 * Where speeds are given, requests in service share what the server can do, as in the event engine:
 * `attained` is what each of them has got since the server was idle, and one of size x that begins at A is
 * done at A + x, whatever others come and go. Each change sets their timers again. */
#include "serve/serve.h"

#include "ballast/number.h"

#include "base/heap.h"
#include "serve/burn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 32768, BUFFER = 16384, ID = 48, EVENTS = 512 };

enum request_mode { MODE_OK, MODE_FAIL, MODE_HANG, MODE_CLOSE, MODE_REFUSE, MODE_SLOW, MODES };
static const char *const mode_names[MODES] = {"ok", "fail", "hang", "close", "refuse", "slow"};

/* Events of epoll other than connections and servers: a signal, or the end of the process that it is to end
 * with; and that a service has ended. */
#define END UINT64_MAX
#define BURNT (UINT64_MAX - 1)

struct connection;

struct test_server {
    int fd; /* listens, or, while it refuses, keeps the port */
    uint16_t port;
    bool control;
    double speed;
    enum request_mode mode;
    int status;                      /* of MODE_FAIL */
    double after;                    /* of MODE_FAIL: seconds */
    double factor;                   /* of MODE_SLOW */
    struct connection *first, *last; /* waiting requests */
    uint32_t serving;
    struct connection *sharing; /* in service, where speeds are given ... */
    uint32_t sharers;           /* ... and how many they are */
    double attained, since;     /* what each has got, in seconds at full speed; until then */
    double freed;               /* when a slot was last free again */
    /* statistics */
    uint64_t requests, answered, aborted, accepted;
    uint32_t present, most_present, connections, most_connections;
};

enum state { READING_HEAD, READING_BODY, WAITING, SERVING, FAILING, STUCK, WRITING, ECHOING };

struct connection {
    int fd;
    uint32_t number;
    struct test_server *server;
    enum state state;
    bool gone, close_after, blocked; /* blocked: waits until it can be written to */
    struct connection *next;
    struct connection *next_sharer;
    double mark;                  /* attained of the server when it is done */
    uint32_t tokens, tokens_sent; /* of an answer that is streamed; 0 tokens: it is not */
    const char *load_format;      /* in which its load is asked for; NULL: it is not */
    /* the request */
    char path[512], id[ID];
    double arrived, begun, service; /* seconds; NaN: by the law */
    double until;                   /* when the service is to end */
    uint64_t ticket;                /* of a service that is worked on */
    bool chunked;
    uint64_t body_left, body_length, body_sum;
    /* what was read and not used, what is to be written */
    size_t used;
    char *out;
    size_t out_length, out_done;
    char in[BUFFER];
};

struct serve_record {
    char id[ID];
    unsigned server;
    double arrived, begun, ended;
    int status; /* 0: the connection was gone */
};

/* How often an id was seen, and answered well. */
struct seen_request {
    uint64_t hash; /* 0: free */
    uint32_t times, served;
};

static struct test_server servers[SERVE_MAX + 1]; /* the last is the control */
static unsigned server_count, slots;
static struct bli_dist dist;
static struct bli_speeds speeds;
static double token_service[2];
static uint64_t tickets;
static struct burn *burn; /* the threads that use the processor; NULL: services sleep */
static struct bal_rng rng;
static int epoll_fd;
static struct connection *table[CONNECTIONS];
static uint32_t vacant[CONNECTIONS], vacant_count;
static struct bli_heap timers;
static struct serve_record *records;
static size_t record_count, record_room;
static struct seen_request *seen;
static size_t seen_room, seen_count, seen_doubled, served_doubled;
static double overslept; /* seconds that services took longer than they should have, in all */
static uint64_t services;

static _Noreturn void die(const char *what) {
    fprintf(stderr, "ballast test-server: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what was seen ---- */

static uint64_t hash_of(const char *text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash ? hash : 1;
}

static struct seen_request *find_seen_slot(struct seen_request *in, size_t room, uint64_t hash) {
    size_t i = hash & (room - 1);
    while (in[i].hash && in[i].hash != hash)
        i = (i + 1) & (room - 1);
    return &in[i];
}

static struct seen_request *find_or_add_seen(const char *id) {
    if (2 * seen_count >= seen_room) {
        const size_t room = seen_room ? 2 * seen_room : 4096;
        struct seen_request *larger = calloc(room, sizeof *larger);
        if (!larger)
            die("memory");
        for (size_t i = 0; i < seen_room; i++)
            if (seen[i].hash)
                *find_seen_slot(larger, room, seen[i].hash) = seen[i];
        free(seen);
        seen = larger;
        seen_room = room;
    }
    const uint64_t hash = hash_of(id);
    struct seen_request *entry = find_seen_slot(seen, seen_room, hash);
    seen_count += entry->hash == 0;
    entry->hash = hash;
    return entry;
}

static void record_request(const struct connection *c) {
    if (*c->id && ++find_or_add_seen(c->id)->times == 2)
        seen_doubled++;
}

static void record_end(const struct connection *c, int status) {
    if (*c->id && status >= 100 && status < 500 && ++find_or_add_seen(c->id)->served == 2)
        served_doubled++;
    if (record_count == record_room) {
        record_room = record_room ? 2 * record_room : 4096;
        records = realloc(records, record_room * sizeof *records);
        if (!records)
            die("memory");
    }
    struct serve_record *record = &records[record_count++];
    *record = (struct serve_record){.server = (unsigned)(c->server - servers),
                                    .arrived = c->arrived,
                                    .begun = c->begun,
                                    .ended = clock_seconds(),
                                    .status = status};
    memcpy(record->id, c->id, sizeof record->id);
}

static void reset_records(void) {
    free(seen);
    seen = NULL;
    seen_room = seen_count = seen_doubled = served_doubled = record_count = 0;
    overslept = 0;
    services = 0;
    for (unsigned i = 0; i < server_count; i++) {
        struct test_server *s = &servers[i];
        s->requests = s->answered = s->aborted = s->accepted = 0;
        s->most_present = s->present;
        s->most_connections = s->connections;
    }
}

static void print_stats(FILE *out) {
    uint64_t requests = 0, answered = 0, aborted = 0, most = 0, present = 0;
    for (unsigned i = 0; i < server_count; i++) {
        const struct test_server *s = &servers[i];
        requests += s->requests;
        answered += s->answered;
        aborted += s->aborted;
        present += s->present;
        most = s->most_present > most ? s->most_present : most;
    }
    fprintf(
        out,
        "{\"requests\": %llu, \"answered\": %llu, \"aborted\": %llu, \"present\": %llu, \"most_present\": "
        "%llu, \"doubled\": %zu, \"served_twice\": %zu, \"overslept\": %.9f, \"servers\": [",
        (unsigned long long)requests, (unsigned long long)answered, (unsigned long long)aborted,
        (unsigned long long)present, (unsigned long long)most, seen_doubled, served_doubled,
        services ? overslept / (double)services : 0);
    for (unsigned i = 0; i < server_count; i++) {
        const struct test_server *s = &servers[i];
        fprintf(
            out,
            "%s\n{\"port\": %u, \"mode\": \"%s\", \"requests\": %llu, \"answered\": %llu, \"aborted\": %llu, "
            "\"present\": %u, \"most_present\": %u, \"connections\": %u, \"most_connections\": %u, "
            "\"accepted\": %llu}",
            i ? "," : "", s->port, mode_names[s->mode], (unsigned long long)s->requests,
            (unsigned long long)s->answered, (unsigned long long)s->aborted, s->present, s->most_present,
            s->connections, s->most_connections, (unsigned long long)s->accepted);
    }
    fputs("]}\n", out);
}

static void print_log(FILE *out, double from, double most) {
    for (size_t i = (size_t)from; i < record_count && (double)i < from + most; i++) {
        const struct serve_record *r = &records[i];
        fprintf(out, "%s %u %.6f %.6f %.6f %d\n", *r->id ? r->id : "-", r->server, r->arrived, r->begun,
                r->ended, r->status);
    }
}

/* ---- sockets ---- */

static struct sockaddr_storage listen_address; /* its port is filled in */

/* "::" takes IPv4 too. */
static bool set_address(const char *text) {
    struct sockaddr_in *four = (struct sockaddr_in *)&listen_address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&listen_address;
    memset(&listen_address, 0, sizeof listen_address);
    listen_address.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
    return listen_address.ss_family == AF_INET ? inet_pton(AF_INET, text, &four->sin_addr) == 1
                                               : inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
}

static int bind_port(uint16_t port) {
    const int fd = socket(listen_address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ((struct sockaddr_in *)&listen_address)->sin_port = htons(port); /* at the same place in both */
    const socklen_t length =
        listen_address.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&listen_address, length))
        die("bind");
    return fd;
}

static void open_server(struct test_server *s, bool listens) {
    if (s->fd >= 0)
        close(s->fd); /* which also takes it out of epoll */
    s->fd = bind_port(s->port);
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(s->fd, (struct sockaddr *)&address, &length))
        die("getsockname");
    s->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (!listens)
        return;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = CONNECTIONS + (uint64_t)(s - servers)};
    if (listen(s->fd, 4096) || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, s->fd, &event))
        die("listen");
}

static void watch_connection(struct connection *c, uint32_t events) {
    struct epoll_event event = {.events = events | EPOLLRDHUP, .data.u64 = c->number};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event))
        die("epoll_ctl");
}

static void start_waiting(struct test_server *s);

/* ---- sharing ---- */

/* What each in service gets per second. */
static double rate_each(const struct test_server *s) {
    const double scale = s->mode == MODE_SLOW ? s->factor : 1;
    if (!bli_speeds_given(&speeds))
        return s->speed / scale;
    return s->sharers ? s->speed * bli_speeds_rate(&speeds, s->sharers) / s->sharers / scale : 0;
}

static void advance_sharing(struct test_server *s, double now) {
    if (now <= s->since)
        return;
    s->attained = s->sharers ? s->attained + rate_each(s) * (now - s->since) : 0;
    s->since = now;
}

/* Sets its timer: at the end of the service or, where tokens are sent before, when the next one is there. The
 * last token is there at the end. rate: of the work on it. */
static void schedule_service(struct connection *c, double rate) {
    const uint32_t later = c->tokens ? c->tokens - c->tokens_sent - 1 : 0;
    if (timers.place[c->number] != BLI_HEAP_ABSENT)
        bli_heap_remove(&timers, c->number);
    bli_heap_insert(&timers, c->number, c->until - later * token_service[1] / rate);
}

static void schedule_sharing(struct test_server *s) {
    for (struct connection *c = s->sharing; c; c = c->next_sharer) {
        c->until = s->since + fmax(c->mark - s->attained, 0) / rate_each(s);
        schedule_service(c, rate_each(s));
    }
}

static void join_sharing(struct test_server *s, struct connection *c, double length) {
    advance_sharing(s, c->begun);
    c->mark = s->attained + length;
    c->next_sharer = s->sharing;
    s->sharing = c;
    s->sharers++;
    schedule_sharing(s);
}

static void leave_sharing(struct test_server *s, struct connection *c, double now) {
    struct connection **link = &s->sharing;
    while (*link && *link != c)
        link = &(*link)->next_sharer;
    if (!*link)
        return;
    advance_sharing(s, now);
    *link = c->next_sharer;
    s->sharers--;
    schedule_sharing(s);
}

/* The request is no longer here. */
static void end_request(struct connection *c, int status) {
    struct test_server *s = c->server;
    if (c->state == READING_HEAD || c->state == READING_BODY || s->control)
        return;
    const bool here = c->state == WAITING || c->state == SERVING || c->state == FAILING || c->state == STUCK;
    if (!here)
        return;
    if (c->state == WAITING) {
        struct connection **link = &s->first, *before = NULL;
        for (; *link != c; link = &(*link)->next)
            before = *link;
        *link = c->next;
        s->last = s->last == c ? before : s->last;
    }
    const bool timed = timers.place[c->number] != BLI_HEAP_ABSENT;
    if (timed)
        bli_heap_remove(&timers, c->number);
    if (c->state == SERVING) {
        s->serving--;
        s->freed = burn || timed ? clock_seconds() : c->until;
        leave_sharing(s, c, s->freed);
    }
    s->present--;
    if (status)
        s->answered++;
    else
        s->aborted++;
    record_end(c, status);
}

static void close_connection(struct connection *c) {
    struct test_server *s = c->server;
    end_request(c, 0);
    close(c->fd);
    s->connections--;
    table[c->number] = NULL;
    vacant[vacant_count++] = c->number;
    free(c->out);
    free(c);
    start_waiting(s);
}

static void accept_all(struct test_server *s) {
    for (;;) {
        const int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
        if (fd < 0)
            return;
        struct connection *c = vacant_count > 0 ? malloc(sizeof *c) : NULL;
        if (!c) {
            close(fd);
            continue;
        }
        memset(c, 0, offsetof(struct connection, in));
        c->fd = fd;
        c->number = vacant[--vacant_count];
        c->server = s;
        c->state = READING_HEAD;
        table[c->number] = c;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u64 = c->number};
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
            die("epoll_ctl");
        s->connections++;
        s->accepted++;
        s->most_connections = s->connections > s->most_connections ? s->connections : s->most_connections;
    }
}

/* ---- answers ---- */

static void flush_out(struct connection *c) {
    while (c->out_done < c->out_length) {
        const ssize_t sent = send(c->fd, c->out + c->out_done, c->out_length - c->out_done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            watch_connection(c, EPOLLOUT);
            c->blocked = true;
            return;
        }
        if (sent < 0) {
            c->gone = true;
            return;
        }
        c->out_done += (size_t)sent;
    }
    free(c->out);
    c->out = NULL;
    c->out_length = c->out_done = 0;
    if (c->blocked)
        watch_connection(c, EPOLLIN);
    c->blocked = false;
    if (c->state != WRITING)
        return;
    c->gone = c->close_after;
    c->state = READING_HEAD;
}

/* Takes the text over. Only an answer that is streamed may have some that could not be sent yet. */
static void answer_text(struct connection *c, char *text, size_t length) {
    if (c->out) {
        c->out = realloc(c->out, c->out_length + length);
        if (!c->out)
            die("memory");
        memcpy(c->out + c->out_length, text, length);
        c->out_length += length;
        free(text);
    } else {
        c->out = text;
        c->out_length = length;
        c->out_done = 0;
    }
    flush_out(c);
}

static double query_number(const char *path, const char *name, double otherwise) {
    const char *at = strchr(path, '?');
    const size_t length = strlen(name);
    double value;
    for (; at; at = strchr(at + 1, '&'))
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '=')
            return bli_number_read(at + 2 + length, &value) ? value : otherwise;
    return otherwise;
}

static bool starts_with(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The body alone, to be freed. */
static char *body_of(const struct connection *c, size_t *length) {
    if (starts_with(c->path, "/big")) {
        *length = (size_t)query_number(c->path, "bytes", 100000);
        char *text = malloc(*length + 1);
        if (!text)
            die("memory");
        memset(text, 'x', *length);
        text[*length] = 0;
        return text;
    }
    char *text;
    const int written = asprintf(&text, "server %u answer %llu body %llu sum %llu\n",
                                 (unsigned)(c->server - servers), (unsigned long long)c->server->answered,
                                 (unsigned long long)c->body_length, (unsigned long long)c->body_sum);
    if (written < 0)
        die("memory");
    *length = (size_t)written;
    return text;
}

struct reply_text {
    char *at;
    size_t length, room;
};

__attribute__((format(printf, 2, 3))) static void append_text(struct reply_text *text, const char *format,
                                                              ...) {
    va_list args;
    va_start(args, format);
    text->length += (size_t)vsnprintf(text->at + text->length, text->room - text->length, format, args);
    va_end(args);
}

/* The request that is answered counts, whether it is still `here` or has just ended. */
static void put_load(struct reply_text *text, const struct connection *c, bool here) {
    const struct test_server *s = c->server;
    const uint32_t running = s->serving + !here, waiting = s->present + !here - running;
    const double utilization = running / (double)slots;
    if (strcmp(c->load_format, "JSON") == 0)
        append_text(text,
                    "endpoint-load-metrics: JSON {\"application_utilization\": %.4f, \"named_metrics\": "
                    "{\"num_requests_running\": %u, \"num_requests_waiting\": %u}}\r\n",
                    utilization, running, waiting);
    else
        append_text(text,
                    "endpoint-load-metrics: TEXT application_utilization=%.4f, "
                    "named_metrics.num_requests_running=%u, named_metrics.num_requests_waiting=%u\r\n",
                    utilization, running, waiting);
}

static void put_head(struct reply_text *text, const struct connection *c, int status, bool here) {
    append_text(text, "HTTP/1.1 %d %s\r\nX-Server: %u\r\n", status, status < 400 ? "OK" : "Failed",
                (unsigned)(c->server - servers));
    if (*c->id)
        append_text(text, "X-Request-Id: %s\r\n", c->id);
    if (starts_with(c->path, "/cache"))
        append_text(text, "Cache-Control: max-age=%.0f\r\n", query_number(c->path, "age", 1));
    if (c->close_after)
        append_text(text, "Connection: close\r\n");
    if (c->load_format)
        put_load(text, c, here);
}

/* The next token of an answer that is streamed, with the head if it is the first, with the end if it is the
 * last.
 */
static void send_token(struct connection *c) {
    char token[64];
    struct reply_text text = {.room = 2048};
    text.at = malloc(text.room);
    if (!text.at)
        die("memory");
    if (c->tokens_sent == 0) {
        put_head(&text, c, 200, c->tokens > 1);
        append_text(&text, "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    }
    const int length = snprintf(token, sizeof token, "data: {\"token\": %u}\n\n", ++c->tokens_sent);
    append_text(&text, "%x\r\n%s\r\n%s", (unsigned)length, token,
                c->tokens_sent == c->tokens ? "0\r\n\r\n" : "");
    answer_text(c, text.at, text.length);
}

static void send_response(struct connection *c, int status) {
    struct test_server *s = c->server;
    if (starts_with(c->path, "/status/") && status == 200)
        status = (int)strtol(c->path + strlen("/status/"), NULL, 10);
    end_request(c, status);
    if (c->tokens && status == 200) {
        c->state = WRITING;
        send_token(c);
        start_waiting(s);
        return;
    }
    const unsigned chunks =
        starts_with(c->path, "/chunked") ? (unsigned)query_number(c->path, "chunks", 3) : 0;
    size_t length;
    char *body = body_of(c, &length);
    struct reply_text text = {.room = 1024 + (chunks + 1) * (length + 32)};
    text.at = malloc(text.room);
    if (!text.at)
        die("memory");
    put_head(&text, c, status, false);
    if (chunks) {
        append_text(&text, "Transfer-Encoding: chunked\r\n\r\n");
        for (unsigned i = 0; i < chunks; i++)
            append_text(&text, "%zx\r\n%s\r\n", length, body);
        append_text(&text, "0\r\n\r\n");
    } else {
        append_text(&text, "Content-Length: %zu\r\n\r\n%s", length, body);
    }
    free(body);
    c->state = WRITING;
    answer_text(c, text.at, text.length);
    start_waiting(s);
}

/* One that has waited begins when the service before it was to end, not when this process woke up:
 * oversleeping delays one answer, but does not make the server slower. */
static void begin_service(struct connection *c) {
    struct test_server *s = c->server;
    const double scale = s->mode == MODE_SLOW ? s->factor : 1;
    c->state = SERVING;
    c->begun = fmax(c->arrived, s->freed);
    s->serving++;
    const double length = c->tokens           ? c->service
                          : isnan(c->service) ? bli_dist_sample(&dist, &rng)
                                              : c->service;
    if (bli_speeds_given(&speeds)) {
        join_sharing(s, c, length);
        return;
    }
    c->until = c->begun + scale * length / s->speed;
    if (burn) {
        c->ticket = tickets++ * CONNECTIONS + c->number;
        burn_begin(burn, c->ticket, c->until - c->begun);
    } else {
        schedule_service(c, rate_each(s));
    }
}

static void start_waiting(struct test_server *s) {
    while (s->first && s->serving < slots) {
        struct connection *c = s->first;
        s->first = c->next;
        if (!s->first)
            s->last = NULL;
        begin_service(c);
    }
}

static void enqueue_request(struct connection *c) {
    struct test_server *s = c->server;
    c->state = WAITING;
    c->next = NULL;
    if (s->last)
        s->last->next = c;
    else
        s->first = c;
    s->last = c;
    start_waiting(s);
}

static void upgrade_connection(struct connection *c) {
    static const char text[] =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n";
    c->until = clock_seconds();
    end_request(c, 101);
    c->state = ECHOING;
    answer_text(c, strdup(text), sizeof text - 1);
}

static void handle_control(struct connection *c);

/* The whole request has been read. */
static void begin_request(struct connection *c) {
    struct test_server *s = c->server;
    if (s->control) {
        handle_control(c);
        return;
    }
    c->arrived = c->begun = clock_seconds();
    s->requests++;
    s->present++;
    s->most_present = s->present > s->most_present ? s->present : s->most_present;
    record_request(c);
    switch (s->mode) {
    case MODE_FAIL:
        c->state = FAILING;
        bli_heap_insert(&timers, c->number, c->begun + s->after);
        break;
    case MODE_HANG:
        c->state = STUCK;
        break;
    case MODE_CLOSE:
        c->state = STUCK;
        c->gone = true;
        break;
    default:
        c->state = SERVING;
        if (starts_with(c->path, "/upgrade")) {
            s->serving++;
            upgrade_connection(c);
        } else {
            enqueue_request(c);
        }
    }
}

/* ---- control ---- */

static void set_mode(const char *path) {
    const char *name = strstr(path, "mode=");
    const double index = query_number(path, "server", -1);
    for (int mode = 0; name && mode < MODES; mode++) {
        if (!starts_with(name + 5, mode_names[mode]))
            continue;
        for (unsigned i = 0; i < server_count; i++) {
            struct test_server *s = &servers[i];
            if (index >= 0 && index != (double)i)
                continue;
            if ((s->mode == MODE_REFUSE) != (mode == MODE_REFUSE))
                open_server(s, mode != MODE_REFUSE);
            advance_sharing(s, clock_seconds());
            s->mode = (enum request_mode)mode;
            s->status = (int)query_number(path, "status", 500);
            s->after = query_number(path, "after", 0) / 1000;
            s->factor = query_number(path, "factor", 1);
            schedule_sharing(s);
        }
    }
}

static void handle_control(struct connection *c) {
    char *text = NULL, *body = NULL;
    size_t length = 0, body_length = 0;
    FILE *out = open_memstream(&body, &body_length);
    if (!out)
        die("memory");
    if (starts_with(c->path, "/set"))
        set_mode(c->path);
    else if (starts_with(c->path, "/reset"))
        reset_records();
    else if (starts_with(c->path, "/log"))
        print_log(out, fmax(query_number(c->path, "from", 0), 0), query_number(c->path, "most", INFINITY));
    else
        print_stats(out);
    fclose(out);
    out = open_memstream(&text, &length);
    if (!out)
        die("memory");
    fprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", body_length);
    fwrite(body, 1, body_length, out);
    fclose(out);
    free(body);
    c->state = WRITING;
    answer_text(c, text, length);
}

/* ---- requests ---- */

/* What stands behind the name of a header, up to the end of its line; NULL: it is not there. */
static const char *find_header(const char *head, const char *name) {
    const size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':') {
            const char *value = line + 3 + length;
            return value + strspn(value, " ");
        }
    return NULL;
}

/* Is it for tokens? Then they say how much work it is. */
static void read_tokens(struct connection *c) {
    const double prompt = query_number(c->path, "prompt", 0), tokens = query_number(c->path, "tokens", 0);
    c->tokens = c->tokens_sent = 0;
    if (!(token_service[0] + token_service[1] > 0) || !(prompt >= 0 && prompt <= 1e6) ||
        !(tokens >= 1 && tokens <= 1e6))
        return;
    c->tokens = (uint32_t)tokens;
    c->service = floor(prompt) * token_service[0] + c->tokens * token_service[1];
}

static void read_head(struct connection *c, const char *head) {
    const char *path = strchr(head, ' '), *value;
    snprintf(c->path, sizeof c->path, "%.*s", path ? (int)strcspn(path + 1, " \r") : 0, path ? path + 1 : "");
    value = find_header(head, "X-Request-Id");
    snprintf(c->id, sizeof c->id, "%.*s", value ? (int)strcspn(value, "\r") : 0, value ? value : "");
    double number;
    value = find_header(head, "X-Service");
    if (!value || !bli_number_read(value, &number))
        number = query_number(c->path, "service", NAN);
    c->service = number / 1e6;
    read_tokens(c);
    value = find_header(head, "endpoint-load-metrics-format");
    c->load_format = value ? strncasecmp(value, "json", 4) == 0 ? "JSON" : "TEXT" : NULL;
    value = find_header(head, "Content-Length");
    c->body_left = value && bli_number_read(value, &number) ? (uint64_t)number : 0;
    value = find_header(head, "Transfer-Encoding");
    c->chunked = value && strncasecmp(value, "chunked", 7) == 0;
    c->body_length = c->body_sum = 0;
    value = find_header(head, "Connection");
    c->close_after = (value && strncasecmp(value, "close", 5) == 0) ||
                     (strstr(head, "HTTP/1.0\r\n") && !(value && strncasecmp(value, "keep-alive", 10) == 0));
}

static void consume_input(struct connection *c, size_t length) {
    memmove(c->in, c->in + length, c->used - length);
    c->used -= length;
}

static void consume_body(struct connection *c, size_t at, size_t length) {
    for (size_t i = 0; i < length; i++)
        c->body_sum += (unsigned char)c->in[at + i];
    c->body_length += length;
}

/* Returns whether the body is complete; what was read of it is used up. */
static bool read_body(struct connection *c) {
    for (;;) {
        const size_t part = c->used < c->body_left ? c->used : (size_t)c->body_left;
        consume_body(c, 0, part);
        consume_input(c, part);
        c->body_left -= part;
        if (c->body_left > 0 || !c->chunked)
            return c->body_left == 0;
        c->in[c->used] = 0;
        /* The end of the previous chunk, if there was one. */
        const size_t skip = starts_with(c->in, "\r\n") ? 2 : 0;
        char *line = strstr(c->in + skip, "\r\n"), *end;
        if (!line)
            return false;
        c->body_left = strtoull(c->in + skip, &end, 16);
        const size_t head = (size_t)(line - c->in) + 2;
        if (c->body_left == 0) {
            if (c->used < head + 2)
                return false;
            consume_input(c, head + 2);
            return true;
        }
        consume_input(c, head);
    }
}

static void process_input(struct connection *c) {
    while (c->used > 0 && !c->gone) {
        if (c->state == READING_HEAD) {
            c->in[c->used] = 0;
            char *end = strstr(c->in, "\r\n\r\n");
            if (!end) {
                c->gone = c->used == BUFFER - 1;
                return;
            }
            end[2] = 0;
            read_head(c, c->in);
            consume_input(c, (size_t)(end - c->in) + 4);
            c->state = READING_BODY;
        }
        if (c->state != READING_BODY || !read_body(c))
            return;
        begin_request(c);
    }
}

static void echo_input(struct connection *c) {
    char *copy = malloc(c->used);
    if (!copy)
        die("memory");
    memcpy(copy, c->in, c->used);
    const size_t length = c->used;
    c->used = 0;
    answer_text(c, copy, length);
}

static void read_input(struct connection *c) {
    while (!c->gone && c->used < BUFFER - 1) {
        const ssize_t got = recv(c->fd, c->in + c->used, BUFFER - 1 - c->used, 0);
        if (got < 0 && errno == EAGAIN)
            return;
        const bool short_read = got > 0 && (size_t)got < BUFFER - 1 - c->used;
        if (got <= 0) {
            c->gone = true;
            return;
        }
        c->used += (size_t)got;
        if (c->state == ECHOING && !c->out)
            echo_input(c);
        else
            process_input(c);
        if (short_read)
            return; /* epoll would report the end of the connection again */
    }
}

/* ---- the loop ---- */

static void on_connection(struct connection *c, uint32_t events) {
    if (c->out && events & EPOLLOUT)
        flush_out(c);
    if (!c->gone && events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        read_input(c);
    if (c->gone)
        close_connection(c);
}

static void end_service(struct connection *c) {
    if (c->state == SERVING) {
        overslept += clock_seconds() - c->until;
        services++;
    }
    send_response(c, c->state == FAILING ? c->server->status : 200);
    if (!c->gone && c->used > 0)
        process_input(c);
    if (c->gone)
        close_connection(c);
}

static void stream_token(struct connection *c) {
    send_token(c);
    if (c->gone)
        close_connection(c);
    else
        schedule_service(c, rate_each(c->server));
}

static void run_timers(void) {
    while (timers.count > 0 && timers.slot[0].time <= clock_seconds()) {
        struct connection *c = table[timers.slot[0].id];
        bli_heap_remove(&timers, c->number);
        if (c->state == SERVING && c->tokens_sent + 1 < c->tokens)
            stream_token(c);
        else
            end_service(c);
    }
}

/* What was worked on may belong to a connection that has gone meanwhile. */
static void finish_burnt(void) {
    uint64_t id;
    while (burn_ended(burn, &id)) {
        struct connection *c = table[id % CONNECTIONS];
        if (c && c->state == SERVING && c->ticket == id)
            end_service(c);
    }
}

static void wait_for(struct epoll_event *events, int *count) {
    struct timespec timeout = {.tv_sec = 1};
    if (timers.count > 0) {
        const double left = fmax(timers.slot[0].time - clock_seconds(), 0);
        if (left < 1)
            timeout = (struct timespec){.tv_nsec = (long)(left * 1e9)};
    }
    *count = epoll_pwait2(epoll_fd, events, EVENTS, &timeout, NULL);
    if (*count < 0)
        *count = 0;
}

/* Closed connections are handled before new ones, in the order in which it happened; otherwise there would
 * seem to be more at a time than there were. */
static bool serve_events(void) {
    struct epoll_event events[EVENTS];
    int count;
    wait_for(events, &count);
    run_timers();
    bool go_on = true;
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < count; i++) {
            const uint64_t who = events[i].data.u64;
            const bool is_connection = who < CONNECTIONS;
            const bool hangs_up = events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
            if (is_connection && pass == (hangs_up ? 0 : 1) && table[who])
                on_connection(table[who], events[i].events);
            else if (!is_connection && pass == 2 && who == END)
                go_on = false;
            else if (!is_connection && pass == 2 && who == BURNT)
                finish_burnt();
            else if (!is_connection && pass == 2)
                accept_all(&servers[who - CONNECTIONS]);
        }
    return go_on;
}

static void watch_descriptor(int fd, uint64_t what, const char *name) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};
    if (fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
        die(name);
}

static void block_end_signals(void) {
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigprocmask(SIG_BLOCK, &end, NULL);
    const int fd = signalfd(-1, &end, SFD_CLOEXEC | SFD_NONBLOCK);
    watch_descriptor(fd, END, "signalfd");
}

static void server_init(const struct serve_options *options) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    prctl(PR_SET_TIMERSLACK, 1000UL);
    if (!set_address(options->address ? options->address : "127.0.0.1"))
        die("address");
    slots = options->slots;
    dist = options->service;
    speeds = options->speeds;
    memcpy(token_service, options->token_service, sizeof token_service);
    bal_rng_init(&rng, options->seed, 0, BAL_STREAM_SERVICE);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0 || bli_heap_init(&timers, CONNECTIONS))
        die("start");
    for (uint32_t i = 0; i < CONNECTIONS; i++)
        vacant[vacant_count++] = CONNECTIONS - 1 - i;
    block_end_signals();
    if (options->with)
        watch_descriptor((int)syscall(SYS_pidfd_open, options->with, 0), END, "the process to end with");
}

static void open_servers(const struct serve_options *options) {
    server_count = bli_servers_count(&options->servers);
    struct test_server *last = &servers[server_count];
    *last = (struct test_server){.fd = -1, .control = true, .factor = 1, .port = options->control};
    open_server(last, true);
    printf("%u", last->port);
    unsigned i = 0;
    for (unsigned g = 0; g < options->servers.groups; g++)
        for (uint32_t k = 0; k < options->servers.group[g].count; k++, i++) {
            servers[i] = (struct test_server){.fd = -1,
                                              .port = (uint16_t)(options->port ? options->port + i : 0),
                                              .speed = options->servers.group[g].speed,
                                              .status = 500,
                                              .factor = 1};
            open_server(&servers[i], true);
            printf(" %u", servers[i].port);
        }
    puts("");
    fflush(stdout);
}

int serve_run(const struct serve_options *options) {
    server_init(options);
    open_servers(options);
    if (options->burn) {
        burn = burn_new(server_count * slots);
        if (!burn)
            die("threads");
        watch_descriptor(burn_event(burn), BURNT, "eventfd");
    }
    while (serve_events())
        ;
    print_stats(stdout);
    return fflush(stdout) ? 1 : 0;
}
