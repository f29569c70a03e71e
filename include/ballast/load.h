/* SPDX-License-Identifier: BSD-2-Clause */
/* Open-loop load on real servers: requests are sent at the times of a schedule, whether or not earlier ones
 * have been answered, and latency is counted from the time of the schedule. A generator that waits for
 * answers before it sends the next request, or counts from when it got round to sending, does not see the
 * queue that it measures.
 *
 * One thread, HTTP/1.1 over TCP, keep-alive connections that are opened as they are needed. What the
 * generator itself adds (it wakes up late, it has no processor, all its connections are in use) is measured
 * and reported, never subtracted. */
#ifndef BALLAST_LOAD_H
#define BALLAST_LOAD_H

#include "ballast/arrivals.h"
#include "ballast/curve.h"
#include "ballast/error.h"
#include "ballast/stats.h"
#include "ballast/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLI_LOAD_TARGETS = 256,
    BLI_LOAD_CLASSES = 8,
    BLI_LOAD_HEADERS = 16,
    BLI_LOAD_BLOCKS = 20,
    BLI_LOAD_STATUSES = 600,
};

struct bli_load_class {
    unsigned urgency; /* sent as Priority: u=0 ... u=7 (RFC 9218) */
    double share;     /* of all requests; those of all classes sum to 1 */
};

/* Why a request got no answer. */
enum bli_load_error {
    BLI_LOAD_REFUSED,   /* the connection was refused */
    BLI_LOAD_NOWHERE,   /* it could not be made for another reason */
    BLI_LOAD_CLOSED,    /* it was closed or reset before the whole answer had come */
    BLI_LOAD_MALFORMED, /* what came is no HTTP/1.1 */
    BLI_LOAD_TIMEOUT,   /* no whole answer in time */
    BLI_LOAD_UNSENT, /* not even sent in time: all connections were in use, or the generator was too late */
    BLI_LOAD_ERRORS
};
extern const char *const bli_load_error_text[BLI_LOAD_ERRORS];

/* What happened to one request. */
struct bli_load_outcome {
    double time, ended; /* when it was to be sent, and when that was known; seconds from the start */
    uint64_t number;    /* from 0 on, in the order of their times */
    unsigned class_;
    unsigned target;           /* the index of its URL */
    bool resent;               /* see bli_load_result.resent */
    int status;                /* of the answer; 0: there was none, */
    enum bli_load_error error; /* for this reason */
};

/* What is to be sent. All zero bytes but for what is marked. */
struct bli_load {
    const char *url[BLI_LOAD_TARGETS]; /* http://HOST[:PORT][/PATH]; must be given. One is drawn for each
                                        * request, so that no rotation behind them keeps step with one here */
    size_t urls;
    double weight[BLI_LOAD_TARGETS]; /* URLs are drawn in proportion to these; all 0: with equal chances */
    const char *method;              /* of all requests; NULL: GET, or as recorded */
    uint64_t body;                   /* bytes in requests of the methods that have a body: POST, PUT, PATCH */
    double rate;                     /* requests per second, > 0; of a trace it is not used */
    struct bli_arrivals arrivals;
    struct bli_curve curve;        /* multiplies the rate; time in seconds */
    const struct bli_trace *trace; /* sent as recorded, with its sizes as service times; NULL: none */
    double speedup;                /* of the trace, > 0 */
    /* "METHOD PATH" of the jobs of the trace: that of a job is number job.request - 1. It is sent where the
     * path of the URL is "/"; another one is kept. NULL: none. */
    const char *const *recorded_request;
    bool recorded;  /* its high jobs are of the first of two classes, the others of the second; else all are
                       drawn */
    double seconds; /* it ends then; 0: no such end */
    uint64_t requests;              /* it ends after so many; 0: no such end. One of the two, or a trace */
    const struct bli_dist *service; /* NULL: none. Sent as X-Service, in microseconds */
    struct bli_load_class class_[BLI_LOAD_CLASSES];
    size_t classes;                       /* 0: none are sent */
    const char *header[BLI_LOAD_HEADERS]; /* "Name: value" */
    size_t headers;
    unsigned connections; /* at most, > 0 */
    double timeout;       /* seconds from the intended time of sending to the last byte of the answer, > 0 */
    bool fresh;           /* a new connection for each request */
    bool no_resend;       /* see bli_load_result.resent */
    uint64_t seed;
    uint64_t replication;     /* the arrivals, sizes and classes are those of this replication in the lab */
    const volatile int *stop; /* when not 0 it ends with what is known; NULL: never */
    /* Called about ten times a second with the part that is done; may be NULL. */
    void (*progress)(void *context, double part, uint64_t sent, uint64_t failed);
    void *progress_context;
    /* Called for each request when its fate is known; may be NULL. */
    void (*outcome)(void *context, const struct bli_load_outcome *outcome);
    /* Called at the start, then each time at the time that it returned last: seconds from the start, or
     * INFINITY for never again. Requests wait for it. May be NULL. */
    double (*event)(void *context, double now);
    void *context; /* of these two */
};

/* Times of a kind of answer, in seconds. */
struct bli_load_times {
    uint64_t count;
    double sum, most;
    struct bli_histogram histogram;
};

/* What happened. */
struct bli_load_result {
    bool stopped;   /* on request, before its end */
    double lasted;  /* seconds of the schedule that have been gone through */
    double drained; /* seconds from the start to the last answer */
    uint64_t due;   /* requests whose time had come; each is answered, an error, or cut off by the stop */
    uint64_t sent;
    uint64_t cut; /* under way when it was stopped */
    uint64_t error[BLI_LOAD_ERRORS];
    struct bli_load_times *status[BLI_LOAD_STATUSES]; /* by the status of the answer; NULL: there was none */
    struct bli_load_times good;                       /* answers with a status below 400 */
    struct bli_load_times class_[BLI_LOAD_CLASSES];   /* good ones */
    uint64_t failed[BLI_LOAD_CLASSES];                /* by class: errors, and answers from 400 on */
    struct bli_estimate mean; /* of good answers, over BLI_LOAD_BLOCKS blocks of the schedule */
    /* What the generator added. */
    struct bli_load_times late; /* from the intended time to the sending, where a connection could be had */
    uint64_t held_back;         /* requests for which there was no connection at their time */
    unsigned connections;       /* most at a time */
    uint64_t opened;
    /* Sent again because a connection that had been used before was closed without an answer: the server
     * closed it before it saw the request, which cannot be distinguished from a crash. Browsers do the
     * same. */
    uint64_t resent;
    uint64_t strange; /* answers that came back with the X-Request-Id of another request */
};

/* Sends it all and waits for the answers. A stop is no error. *result is always filled in, also after an
 * error; free it with bli_load_result_fini. Uses as many file descriptors as the process may have. */
enum bal_code bli_load_run(const struct bli_load *load, struct bli_load_result *result,
                           struct bal_error *err);
void bli_load_result_fini(struct bli_load_result *result);

/* Is it a URL that can be loaded? */
enum bal_code bli_load_url_check(const char *url, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
