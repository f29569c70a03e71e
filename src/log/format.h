/* SPDX-License-Identifier: BSD-2-Clause */
/* What the formats of logs have in common: a line is split into fields, which have names. */
#ifndef LOG_FORMAT_H
#define LOG_FORMAT_H

#include "ballast/log.h"
#include "log/field_names.h"

enum {
    BAL_LOG_FIELDS = 64,   /* of a line, at most */
    BAL_LOG_HEADER = 4096, /* bytes of a comment that names columns */
    BAL_LOG_SAMPLE = 1000, /* lines that are looked at before a file is read */
};

/* Patterns that many logs begin with; "common" and "combined" for short. */
#define BAL_LOG_COMMON "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent"
#define BAL_LOG_COMBINED BAL_LOG_COMMON " \"$http_referer\" \"$http_user_agent\""
#define BAL_LOG_APACHE_COMMON "%h %l %u %t \"%r\" %>s %b"
#define BAL_LOG_APACHE_COMBINED BAL_LOG_APACHE_COMMON " \"%{Referer}i\" \"%{User-Agent}i\""

/* The same if the program that wrote them is unknown. */
#define BAL_LOG_COLUMNS_COMMON                                                                               \
    "$remote_addr $ident $remote_user [$time_local] \"$request\" $status $body_bytes_sent"
#define BAL_LOG_COLUMNS_COMBINED BAL_LOG_COLUMNS_COMMON " \"$http_referer\" \"$http_user_agent\""

/* The names of formats that are known, "auto, combined, apache, ...". */
const char *bal_log_format_names(void);

/* The first lines of a file that are neither blank nor comments, and what the comments in front of them
 * contain. */
struct bal_log_sample {
    struct bal_log_span line[BAL_LOG_SAMPLE];
    size_t count;
    char columns[BAL_LOG_HEADER]; /* "#Fields: ...", or "" */
    char software[BAL_LOG_NAME];  /* "#Software: ...", or "" */
};

struct bal_log_format {
    const struct bal_log_kind *kind;
    void *state;
    char name[BAL_LOG_FORMAT];  /* for people */
    char service[BAL_LOG_NAME]; /* the field of the service time, where the format was found by it; or "" */
    char server[BAL_LOG_NAME];  /* a field that may name the server, though this is not certain; or "" */
};

struct bal_log_kind {
    /* The number of the field of that name, -1 if there is none. Where names are seen only in the lines
     * themselves, one line of the sample must have it, or, to be a usual one, more than half of them. */
    int (*find)(struct bal_log_format *format, struct bal_log_span name, const struct bal_log_sample *sample,
                bool usual);
    /* Sets fields[i] for each i that find has answered; false when the line is not in the format. They are
     * valid until the next call. */
    bool (*split)(const struct bal_log_format *format, struct bal_log_span line, struct bal_log_span *fields);
    /* The program that these names belong to. */
    const struct bal_log_field_names *(*words)(struct bal_log_format *format,
                                               const struct bal_log_sample *sample);
    /* Name i, or one without text when there are no more. */
    struct bal_log_span (*name)(const struct bal_log_format *format, const struct bal_log_sample *sample,
                                size_t i);
    void (*comment)(struct bal_log_format *format, struct bal_log_span line); /* looks at it; may be NULL */
    void (*free)(void *state);
};

/* A text in one of the languages of dialect.h. */
enum bal_code bal_log_pattern_new(const char *given, struct bal_log_format *format, struct bal_error *err);
enum bal_log_haproxy { BAL_LOG_HAPROXY_HTTP, BAL_LOG_HAPROXY_TCP, BAL_LOG_HAPROXY_CLF };
enum bal_code bal_log_haproxy_new(enum bal_log_haproxy log, struct bal_log_format *format,
                                  struct bal_error *err);
/* headed: in front of the object there is other text, separated by tabs, that begins with the time; field
 * "head". */
enum bal_code bal_log_json_new(bool headed, struct bal_log_format *format, struct bal_error *err);
enum bal_code bal_log_w3c_new(const struct bal_log_sample *sample, struct bal_log_format *format,
                              struct bal_error *err);
enum bal_code bal_log_csv_new(struct bal_log_span header, struct bal_log_format *format,
                              struct bal_error *err);
void bal_log_format_free(struct bal_log_format *format); /* all zero bytes are allowed */

#endif
