/* What the formats of logs have in common: a line is split into fields, which have names. */
#ifndef LOG_FORMAT_H
#define LOG_FORMAT_H

#include "ballast/log.h"
#include "log/span.h"

enum {
    BAL_LOG_FIELDS = 64,  /* of a line, at most */
    BAL_LOG_SAMPLE = 100, /* lines that are looked at before a file is read */
};

/* Patterns that many logs begin with; "common" and "combined" for short. */
#define BAL_LOG_COMMON "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent"
#define BAL_LOG_COMBINED BAL_LOG_COMMON " \"$http_referer\" \"$http_user_agent\""
#define BAL_LOG_APACHE_COMMON "%h %l %u %t \"%r\" %>s %b"
#define BAL_LOG_APACHE_COMBINED BAL_LOG_APACHE_COMMON " \"%{Referer}i\" \"%{User-Agent}i\""

/* The first lines of a file that are neither blank nor comments. */
struct bal_log_sample {
    struct bal_log_span line[BAL_LOG_SAMPLE];
    size_t count;
};

struct bal_log_format {
    const struct bal_log_kind *kind;
    void *state;
    char name[BAL_LOG_NAME]; /* for people */
};

struct bal_log_kind {
    /* The number of the field of that name, -1 if there is none. Where names are seen only in the lines
     * themselves, one line of the sample must have it, or, to be a usual one, more than half of them. */
    int (*find)(struct bal_log_format *format, struct bal_log_span name, const struct bal_log_sample *sample,
                bool usual);
    /* Sets fields[i] for each i that find has answered; false when the line is not in the format. What they
     * point to is gone with the next call. */
    bool (*split)(const struct bal_log_format *format, struct bal_log_span line, struct bal_log_span *fields);
    /* Name i, or one without text when there are no more. */
    struct bal_log_span (*name)(const struct bal_log_format *format, const struct bal_log_sample *sample,
                                size_t i);
    void (*free)(void *state);
};

/* A log_format of nginx or a LogFormat of Apache. */
enum bal_code bal_log_pattern_new(const char *text, struct bal_log_format *format, struct bal_error *err);
enum bal_code bal_log_haproxy_new(struct bal_log_format *format, struct bal_error *err);
enum bal_code bal_log_json_new(struct bal_log_format *format, struct bal_error *err);
enum bal_code bal_log_csv_new(struct bal_log_span header, struct bal_log_format *format,
                              struct bal_error *err);
void bal_log_format_free(struct bal_log_format *format); /* all zero bytes are allowed */

#endif
