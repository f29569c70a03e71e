/* SPDX-License-Identifier: BSD-2-Clause */
/* What the names of fields mean: each program that writes logs has its own names. */
#ifndef LOG_FIELD_NAMES_H
#define LOG_FIELD_NAMES_H

#include "log/decimal.h"

enum bli_log_role {
    BLI_LOG_START,    /* when the request arrived */
    BLI_LOG_END,      /* when it was complete */
    BLI_LOG_SERVICE,  /* how long a server had it */
    BLI_LOG_WHOLE,    /* how long all of it took */
    BLI_LOG_AHEAD,    /* how long it took until a server had it */
    BLI_LOG_SERVER,   /* which server that was */
    BLI_LOG_STATUS,   /* of the answer that the client got */
    BLI_LOG_STATUSES, /* of the answer of each server */
    BLI_LOG_STATE,    /* how it ended: the letters of HAProxy */
    BLI_LOG_FLAGS,    /* how it ended: the reasons of Envoy */
    BLI_LOG_SLOTS,    /* how many requests the server works on at once, a limit that the proxy enforces */
    BLI_LOG_PATH,     /* the path, or a text with the path in it */
    BLI_LOG_METHOD,   /* the method, or a text that begins with it */
};

/* How a program writes lengths of time, where that is always the same. */
enum bli_log_shape {
    BLI_LOG_ANY,
    BLI_LOG_THOUSANDTHS, /* nginx: seconds with three decimals, perhaps several in a list */
    BLI_LOG_WHOLES,      /* whole numbers */
    BLI_LOG_NANOSECONDS, /* Go: these as a whole number, or seconds or milliseconds with as many decimals */
};

struct bli_log_field_name {
    enum bli_log_role role;
    const char *name;
    int unit; /* a power of ten of nanoseconds, or BLI_LOG_UNIT_OPEN: the name does not give it */
    enum bli_log_shape shape;
};

/* The words of a program. Of those with the same role, and of START and END, the earlier is taken. */
struct bli_log_field_names {
    const char *program; /* "nginx" */
    const char *sign;    /* printed in front of a name: "$" */
    bool starts;         /* a time with another name is that of the start; lines are in order of their ends */
    const char *const *needs; /* fields by which JSON lines of this program are recognised; NULL at the end */
    const struct bli_log_field_name *word;
    size_t count;
};

extern const struct bli_log_field_names bli_log_names_nginx, bli_log_names_apache, bli_log_names_varnish,
    bli_log_names_lighttpd, bli_log_names_tomcat, bli_log_names_percent, bli_log_names_squid,
    bli_log_names_haproxy, bli_log_names_envoy, bli_log_names_traefik, bli_log_names_alb, bli_log_names_elb,
    bli_log_names_cloudfront, bli_log_names_iis, bli_log_names_w3c, bli_log_names_columns, bli_log_names_any;

/* The words of programs that write JSON. Each is recognised by the fields that it needs. The last entry, with
 * names that any program may use, needs none. */
extern const struct bli_log_field_names *const bli_log_names_json[];
extern const size_t bli_log_names_json_count;

/* The meaning of a name among the words; NULL when it has none. */
const struct bli_log_field_name *bli_log_field_name_find(const struct bli_log_field_names *words,
                                                         struct bli_log_span name);

/* Endings of names that give a unit: "_ms", " (ms)". Ending i, and its unit; NULL when there are no more. */
const char *bli_log_ending(size_t i, int *unit);

const char *bli_log_unit_text(int unit); /* "ms" */
/* The unit of that text; BLI_LOG_UNIT_OPEN when it is none. */
int bli_log_unit_of(struct bli_log_span text);

#endif
