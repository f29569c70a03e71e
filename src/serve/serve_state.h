/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of test servers share: their state, and the functions of each file that others call.
 *
 * All is of one thread, but for the threads of burn.h. A function that cannot go on calls serve_fail() and
 * returns; the loop in serve.c ends after it. A connection is freed by the loop alone: what finds that it is
 * over sets `gone`. */
#ifndef SERVE_SERVE_STATE_H
#define SERVE_SERVE_STATE_H

#include "serve/serve.h"

#include "ballast/random.h"

#include "base/heap.h"

#include <sys/socket.h>

enum { SERVE_CONNECTIONS_MAX = 32768, SERVE_BUFFER_SIZE = 16384, SERVE_ID_SIZE = 48 };

/* Events of epoll other than connections and servers: a signal, or the end of the process that it is to end
 * with; and that a service has ended. Less than SERVE_CONNECTIONS_MAX: that connection; from there on:
 * servers in turn. */
#define SERVE_EVENT_END UINT64_MAX
#define SERVE_EVENT_BURNT (UINT64_MAX - 1)

enum request_mode { MODE_OK, MODE_FAIL, MODE_HANG, MODE_CLOSE, MODE_REFUSE, MODE_SLOW, MODES };
extern const char *const serve_mode_names[MODES];

struct connection;

struct test_server {
    int fd; /* listens, or, while it refuses, keeps the port; -1: none */
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

enum connection_state { READING_HEAD, READING_BODY, WAITING, SERVING, FAILING, STUCK, WRITING, ECHOING };

struct connection {
    int fd;
    uint32_t number;
    struct test_server *server;
    enum connection_state state;
    bool gone, close_after, blocked; /* blocked: waits until it can be written to */
    struct connection *next;
    struct connection *next_sharer;
    double mark;                  /* attained of the server when it is done */
    uint32_t tokens, tokens_sent; /* of an answer that is streamed; 0 tokens: it is not */
    const char *load_format;      /* in which its load is asked for; NULL: it is not */
    /* the request */
    char path[512], id[SERVE_ID_SIZE];
    double arrived, begun, service; /* seconds; NaN: by the law */
    double until;                   /* when the service is to end */
    struct burn_work *work;         /* of a service that uses the processor, until it has ended */
    bool chunked;
    uint64_t body_left, body_length, body_sum;
    /* what was read and not used, what is to be written */
    size_t used;
    char *out;
    size_t out_length, out_done;
    char in[SERVE_BUFFER_SIZE];
};

struct serve_record {
    char id[SERVE_ID_SIZE];
    unsigned server;
    double arrived, begun, ended;
    int status; /* 0: the connection was gone */
};

/* How often an id was seen, and answered well. */
struct seen_request {
    uint64_t hash; /* 0: free */
    uint32_t times, served;
};

struct serve {
    struct bal_error failure; /* the first, which ends the loop */
    /* as the options say */
    unsigned server_count, slots;
    struct bli_dist dist;
    struct bli_speeds speeds;
    double token_service[2];
    struct sockaddr_storage listen_address; /* its port is filled in */
    /* descriptors, or -1 */
    int epoll_fd, signal_fd, parent_fd;
    /* queues and services */
    struct bal_rng rng;
    struct burn *burn;      /* the threads that use the processor; NULL: services sleep */
    struct bli_heap timers; /* of connections, by their numbers */
    /* what was seen */
    struct serve_record *records;
    size_t record_count, record_room;
    struct seen_request *seen;
    size_t seen_room, seen_count, seen_doubled, served_doubled;
    double overslept; /* seconds that services took longer than they should have, in all */
    uint64_t services;
    struct connection *table[SERVE_CONNECTIONS_MAX];
    uint32_t vacant[SERVE_CONNECTIONS_MAX], vacant_count;
    struct test_server servers[SERVE_MAX + 1]; /* the one behind server_count is the control */
};

/* serve.c. serve_fail() records the first failure: what could not be done, and errno. */
void serve_fail(struct serve *serve, const char *what);
double serve_clock_seconds(void);

/* serve_sockets.c. serve_send_text() takes the text over; serve_fail_answer() closes a connection for which
 * there is no memory. */
bool serve_set_address(struct serve *serve, const char *text); /* false: it is none */
void serve_listen(struct serve *serve, struct test_server *s, bool listens);
void serve_accept(struct serve *serve, struct test_server *s);
void serve_on_connection(struct serve *serve, struct connection *c, uint32_t events);
void serve_close_connection(struct serve *serve, struct connection *c);
void serve_send_text(struct serve *serve, struct connection *c, char *text, size_t length);
void serve_fail_answer(struct serve *serve, struct connection *c);

/* serve_request.c */
void serve_process_input(struct serve *serve, struct connection *c);
double serve_query_number(const char *path, const char *name, double otherwise);
bool serve_starts_with(const char *text, const char *with);

/* serve_queue.c */
void serve_dispatch_request(struct serve *serve, struct connection *c);
void serve_end_request(struct serve *serve, struct connection *c, int status); /* 0: without an answer */
void serve_start_waiting(struct serve *serve, struct test_server *s);
void serve_advance_sharing(struct serve *serve, struct test_server *s, double now);
void serve_schedule_sharing(struct serve *serve, struct test_server *s);
void serve_run_timers(struct serve *serve);
void serve_finish_burnt(struct serve *serve);

/* serve_answer.c */
void serve_send_response(struct serve *serve, struct connection *c, int status);
void serve_send_token(struct serve *serve, struct connection *c);
void serve_send_upgrade(struct serve *serve, struct connection *c);

/* serve_control.c */
void serve_handle_control(struct serve *serve, struct connection *c);

/* serve_log.c */
void serve_log_arrival(struct serve *serve, const struct connection *c);
void serve_log_end(struct serve *serve, const struct connection *c, int status);
void serve_log_reset(struct serve *serve);
void serve_print_stats(const struct serve *serve, FILE *out);
void serve_print_log(const struct serve *serve, FILE *out, double from, double most);

#endif
