/* SPDX-License-Identifier: BSD-2-Clause */
/* What the formats of logs have in common: a line is split into fields, which have names. */
#ifndef LOG_FORMAT_H
#define LOG_FORMAT_H

#include "ballast/log.h"
#include "log/field_names.h"

enum {
    BLI_LOG_FIELDS = 64,   /* of a line, at most */
    BLI_LOG_HEADER = 4096, /* bytes of a comment that names columns */
    BLI_LOG_SAMPLE = 1000, /* lines that are looked at before a file is read */
};

/* Patterns that many logs begin with; "common" and "combined" for short. */
#define BLI_LOG_COMMON "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent"
#define BLI_LOG_COMBINED BLI_LOG_COMMON " \"$http_referer\" \"$http_user_agent\""
#define BLI_LOG_APACHE_COMMON "%h %l %u %t \"%r\" %>s %b"
#define BLI_LOG_APACHE_COMBINED BLI_LOG_APACHE_COMMON " \"%{Referer}i\" \"%{User-Agent}i\""

/* The same if the program that wrote them is unknown. */
#define BLI_LOG_COLUMNS_COMMON                                                                               \
    "$remote_addr $ident $remote_user [$time_local] \"$request\" $status $body_bytes_sent"
#define BLI_LOG_COLUMNS_COMBINED BLI_LOG_COLUMNS_COMMON " \"$http_referer\" \"$http_user_agent\""

/* The names of formats that are known, "auto, combined, apache, ...". */
const char *bli_log_format_names(void);

/* The first lines of a file that are neither blank nor comments, and what the comments in front of them
 * contain. */
struct bli_log_sample {
    struct bli_log_span line[BLI_LOG_SAMPLE];
    size_t count;
    char columns[BLI_LOG_HEADER]; /* "#Fields: ...", or "" */
    char software[BLI_LOG_NAME];  /* "#Software: ...", or "" */
};

struct bli_log_format {
    const struct bli_log_kind *kind;
    void *state;
    char name[BLI_LOG_FORMAT];  /* for people */
    char service[BLI_LOG_NAME]; /* the field of the service time, where the format was found by it; or "" */
    char server[BLI_LOG_NAME];  /* a field that may name the server, though this is not certain; or "" */
};

struct bli_log_kind {
    /* The number of the field of that name, -1 if there is none. Where names are seen only in the lines
     * themselves, one line of the sample must have it, or, to be a usual one, more than half of them. */
    int (*find)(struct bli_log_format *format, struct bli_log_span name, const struct bli_log_sample *sample,
                bool usual);
    /* Sets fields[i] for each i that find has answered; false when the line is not in the format. They are
     * valid until the next call. */
    bool (*split)(const struct bli_log_format *format, struct bli_log_span line, struct bli_log_span *fields);
    /* The program that these names belong to. */
    const struct bli_log_field_names *(*words)(struct bli_log_format *format,
                                               const struct bli_log_sample *sample);
    /* Name i, or one without text when there are no more. */
    struct bli_log_span (*name)(const struct bli_log_format *format, const struct bli_log_sample *sample,
                                size_t i);
    void (*comment)(struct bli_log_format *format, struct bli_log_span line); /* looks at it; may be NULL */
    void (*free)(void *state);
};

/* A text in one of the languages of dialect.h. */
enum bal_code bli_log_pattern_new(const char *given, struct bli_log_format *format, struct bal_error *err);
enum bli_log_haproxy { BLI_LOG_HAPROXY_HTTP, BLI_LOG_HAPROXY_TCP, BLI_LOG_HAPROXY_CLF };
enum bal_code bli_log_haproxy_new(enum bli_log_haproxy log, struct bli_log_format *format,
                                  struct bal_error *err);
/* headed: in front of the object there is other text, separated by tabs, that begins with the time; field
 * "head". */
enum bal_code bli_log_json_new(bool headed, struct bli_log_format *format, struct bal_error *err);
enum bal_code bli_log_w3c_new(const struct bli_log_sample *sample, struct bli_log_format *format,
                              struct bal_error *err);
enum bal_code bli_log_csv_new(struct bli_log_span header, struct bli_log_format *format,
                              struct bal_error *err);
void bli_log_format_free(struct bli_log_format *format); /* all zero bytes are allowed */

#endif
