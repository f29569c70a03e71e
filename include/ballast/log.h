/* SPDX-License-Identifier: BSD-2-Clause */
/* Access logs: reads the jobs of a trace from what servers and proxies write.
 *
 * Formats: those of nginx, Apache, HAProxy, Varnish, lighttpd, Tomcat, squid, Caddy, Envoy, Traefik, IIS and
 * AWS, JSON lines, csv with a header; each also compressed with gzip, zstd, xz or bzip2. A line gives a job:
 * when it arrived, how long its service took, and its class. A line that does not is skipped, counted, and
 * the first few are kept to be shown. Where names and numbers leave more than one reading, the log is
 * refused.
 *
 * nginx writes a line, and takes its time, when a request is complete, so the time that the request took is
 * subtracted to get its arrival; Apache and HAProxy log the arrival itself. Times that are whole seconds are
 * spread evenly at random within their second. Numbers are read with integers, so that nothing is rounded but
 * what is finer than a nanosecond.
 *
 * Memory is bounded for files and lines of any size: about 3 MB, and the trace's own. */
#ifndef BALLAST_LOG_H
#define BALLAST_LOG_H

#include "ballast/error.h"
#include "ballast/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names of servers, numbered from 0 in the order in which the logs name them. */
struct bli_log_servers;
enum bal_code bli_log_servers_new(struct bli_log_servers **servers, struct bal_error *err);
void bli_log_servers_free(struct bli_log_servers *servers); /* NULL is allowed */
size_t bli_log_servers_count(const struct bli_log_servers *servers);
const char *bli_log_servers_name(const struct bli_log_servers *servers, uint32_t number);
/* The same for requests: texts such as "GET /path?query", as they may be sent. Each takes memory once. */
enum bal_code bli_log_requests_new(struct bli_log_servers **requests, struct bal_error *err);

/* What the service time in a log covers. */
enum bli_log_covers {
    BLI_LOG_COVERS_SERVICE, /* service alone, by the name of the field */
    BLI_LOG_COVERS_SERVER,  /* from the proxy to the server and back, with the wait in the server's queue */
    BLI_LOG_COVERS_REQUEST, /* the whole request: with earlier queues, and the way to the client */
};

enum { BLI_LOG_TRIES = 8 };

/* A try at a server. */
struct bli_log_try {
    uint32_t server; /* its number */
    uint16_t status; /* that it answered with; 0: not logged */
    int64_t took;    /* nanoseconds; -1: not logged */
};

/* What a line records of a request. Times are nanoseconds. */
struct bli_log_record {
    struct bli_trace_job job; /* as it is added to the trace: arrival, service time, class */
    size_t file;              /* its number among the paths */
    enum bli_log_covers covers;
    int64_t whole;   /* how long the request took in all; -1: not logged */
    int64_t ahead;   /* from its arrival until it is handed to the first server; -1: not logged */
    uint16_t status; /* that was sent to the client; 0: not logged */
    bool aborted;    /* the client, or a time limit, ended it before the answer was complete */
    bool zero;       /* the service time is logged as 0 */
    bool wanted;     /* it is one of those that from, to, path and status leave; the others were served too */
    /* Tries one after the other, of which the first ones are kept. 0: no server is named. */
    unsigned tries;
    struct bli_log_try visit[BLI_LOG_TRIES];
};

struct bli_log_options {
    /* NULL or "auto": found from the first lines of each file. A name: "combined" or "nginx" (with times
     * behind it), "apache", "varnish", "lighttpd", "tomcat" (combined and %D), "haproxy", "alb",
     * "cloudfront", "iis", "w3c", "envoy", "traefik", "squid", "caddy", "json", "csv". Or a text with the
     * $variables of nginx, the %directives of Apache and those that follow it ("tomcat:%h ..."), or the
     * %OPERATORS% of Envoy; or a whole directive as it stands in a configuration. */
    const char *format;
    /* The field that is the service time: a variable, a timer of HAProxy (Tr, Ta, ...), a JSON member (a.b
     * for one inside another), a column. May end in a unit: "duration:ms" (ns, us, ms, s). NULL: the first of
     * the usual ones that the format has. */
    const char *service;
    /* The field that is the time; may end in ":start" or ":end" to say which moment of a request it is. NULL:
     * the usual one. */
    const char *time;
    /* The class: jobs whose field matches the pattern (PCRE) are high. NULL: one class. high_field NULL: the
     * path of the request. */
    const char *high_field, *high_pattern;
    /* Kinds of jobs that are measured separately: the kind of a job is 1 + the number of the first of these
     * patterns that its path matches, or 0. At most BLI_TRACE_KINDS - 1. */
    const char *const *kind;
    size_t kinds;
    /* Servers: their names are collected here, and each record names the server of the request. NULL: they
     * are not looked for. server: the field that names them; NULL: the usual ones. */
    struct bli_log_servers *servers;
    const char *server;
    /* Requests are collected here, and job.request is 1 + the number of its own, or 0 where the log has none
     * that can be sent again. Bytes that a request line cannot have are written as %HH. NULL: they are not
     * looked for. */
    struct bli_log_servers *requests;
    /* Called with each job in the order of the lines, also with those that are not wanted. */
    enum bal_code (*take)(void *context, const struct bli_log_record *record, struct bal_error *err);
    void *take_context;
    /* Only jobs that arrived in that part of the time ("to" is no part of it; as logs write times, or
     * 2026-11-15, 2026-11-15T10:30), whose path matches a pattern (PCRE), whose status is one of a list
     * ("200", "2xx,304"). NULL: all. */
    const char *from, *to, *path, *status;
    uint64_t seed;            /* of the spreading within seconds */
    const volatile int *stop; /* when set and not 0: ends with BAL_E_STOPPED; may be NULL */
    /* Called now and then; may be NULL. part is the share of the bytes of all files that is read, or NaN
     * where that is not known (a pipe). */
    void (*progress)(void *context, double part);
    void *progress_context;
};

/* Why a line gives no job. */
#define BLI_LOG_REASONS(X)                                                                                   \
    X(MALFORMED, "not in the format")                                                                        \
    X(NO_TIME, "no time, or not one")                                                                        \
    X(NO_SERVICE, "no service time, or not one")                                                             \
    X(ZERO, "service time 0, in steps above 10 ms")                                                          \
    X(TOO_LONG, "longer than 1 MiB")                                                                         \
    X(BINARY, "binary")                                                                                      \
    X(TRUNCATED, "cut off at the end of the file")

enum bli_log_reason {
#define X(name, text) BLI_LOG_##name,
    BLI_LOG_REASONS(X)
#undef X
        BLI_LOG_REASON_COUNT,
    BLI_LOG_OK = BLI_LOG_REASON_COUNT
};
extern const char *const bli_log_reason_text[BLI_LOG_REASON_COUNT];

enum { BLI_LOG_EXAMPLES = 5, BLI_LOG_EXAMPLE_TEXT = 120, BLI_LOG_NAME = 120, BLI_LOG_FORMAT = 500 };

/* A line that was skipped: of each reason the first two, up to the capacity of the array. */
struct bli_log_example {
    enum bli_log_reason reason;
    char file[BLI_LOG_NAME];
    uint64_t line;
    char text[BLI_LOG_EXAMPLE_TEXT]; /* made printable, without its middle where it is longer */
};

/* How a file was read. Of one without any line the texts are "". */
struct bli_log_file {
    const char *path;
    uint64_t lines, jobs;
    char format[BLI_LOG_FORMAT]; /* "haproxy", "nginx: combined $request_time"; "..." where it is longer */
    char service[BLI_LOG_NAME];  /* the field that was used, with its unit: "$upstream_response_time (s)" */
    char time[BLI_LOG_NAME];     /* "$msec (end of the request; $request_time is subtracted)" */
    char server[BLI_LOG_NAME];   /* the field that names the server, "" when there is none */
    char perhaps[BLI_LOG_NAME];  /* one that may name it, but is not known to, where there is none; or "" */
    enum bli_log_covers covers;  /* what the service time covers */
    bool computed;               /* by an expression over fields, and not measured */
    bool spread;                 /* times are whole seconds */
    size_t same;    /* 1 + the number of an earlier file that has the same jobs, or is the same; 0: none */
    uint64_t print; /* of its jobs: the same for the same ones */
};

/* What was read, and how. Ended with bli_log_summary_fini(). */
struct bli_log_summary {
    size_t files;
    struct bli_log_file *file;   /* in the order of the paths */
    uint64_t lines, jobs, bytes; /* bytes: after decompression */
    uint64_t skipped[BLI_LOG_REASON_COUNT];
    uint64_t zeros;  /* jobs whose service time is logged as 0: they get a quarter of the last digit's step */
    double max_zero; /* the largest such quarter, in seconds */
    uint64_t empty;  /* blank lines, comments, the header of csv: not counted as skipped */
    uint64_t unsendable; /* of the jobs, those without such a request, where requests are collected */
    uint64_t filtered;   /* jobs that are none because of from, to, path or status */
    bool spread;         /* times of a file were whole seconds */
    double resolution;   /* of the times, in seconds: 1, 0.001, ... */
    double step;         /* seconds: what the last digit of service times stands for; 0: not known */
    /* How many requests a server works on at once, where lines record it: the smallest and the largest
     * number, 0 where no line does. */
    uint32_t slots_low, slots_high;
    bool truncated; /* a compressed file ends too early */
    /* Lines whose time is more than a second before that of an earlier one of their file. Counted where times
     * are ends of requests, as servers write their lines then: beginnings need not be in order. */
    uint64_t backwards;
    size_t examples;
    struct bli_log_example example[BLI_LOG_EXAMPLES];
};

/* How many requests a server works on at once, where all lines that record it agree; 0: not logged. */
static inline uint32_t bli_log_slots(const struct bli_log_summary *summary) {
    return summary->slots_low == summary->slots_high ? summary->slots_low : 0;
}

void bli_log_summary_fini(struct bli_log_summary *summary); /* all zero bytes are allowed */

/* Reads the files ("-": standard input), one after the other, and hands their jobs to options->take. A file
 * that cannot be read, or whose format cannot be found, is an error; lines are not, and neither is a file
 * without any. The caller ends the summary, also after an error; it refers to the paths. */
enum bal_code bli_log_read(const char *const *paths, size_t count, const struct bli_log_options *options,
                           struct bli_log_summary *summary, struct bal_error *err);

/* ---- a log that grows ---- */

/* Follows a file as `tail -F` does: when another file gets its name, or it is cut, that one is read from its
 * beginning. Lines are taken when they are whole, and handed to options->take. The path, the options and the
 * summary, which the caller ends, must outlive it. Compressed files cannot be followed. */
struct bli_log_tail;

/* Of what is there already only the last `most` bytes are read (the format is found from the beginning). */
enum bal_code bli_log_tail_new(const char *path, uint64_t most, const struct bli_log_options *options,
                               struct bli_log_summary *summary, struct bli_log_tail **follow,
                               struct bal_error *err);
void bli_log_tail_free(struct bli_log_tail *follow); /* NULL is allowed */

/* Takes the lines that have come. Where times are whole seconds, those of the last second are held back. */
enum bal_code bli_log_tail_poll(struct bli_log_tail *follow, struct bal_error *err);
/* Nothing more will come: takes what was held back, and a last line without its end. */
enum bal_code bli_log_tail_end(struct bli_log_tail *follow, struct bal_error *err);

/* Why nothing is read at present: too few lines to find the format, or no permission to open the file. NULL:
 * no problem. */
const char *bli_log_tail_problem(const struct bli_log_tail *follow);
/* Was there more before what was read? */
bool bli_log_tail_skipped(const struct bli_log_tail *follow);
/* How often it was cut or replaced. */
uint64_t bli_log_tail_restarts(const struct bli_log_tail *follow);

#ifdef __cplusplus
}
#endif
#endif
