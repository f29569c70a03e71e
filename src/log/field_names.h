/* SPDX-License-Identifier: BSD-2-Clause */
/* What the names of fields mean: each program that writes logs has its own names. */
#ifndef LOG_FIELD_NAMES_H
#define LOG_FIELD_NAMES_H

#include "log/decimal.h"

enum bal_log_role {
    BAL_LOG_START,    /* when the request arrived */
    BAL_LOG_END,      /* when it was complete */
    BAL_LOG_SERVICE,  /* how long a server had it */
    BAL_LOG_WHOLE,    /* how long all of it took */
    BAL_LOG_AHEAD,    /* how long it took until a server had it */
    BAL_LOG_SERVER,   /* which server that was */
    BAL_LOG_STATUS,   /* of the answer that the client got */
    BAL_LOG_STATUSES, /* of the answer of each server */
    BAL_LOG_STATE,    /* how it ended: the letters of HAProxy */
    BAL_LOG_FLAGS,    /* how it ended: the reasons of Envoy */
    BAL_LOG_SLOTS,    /* how many requests the server works on at once, a limit that the proxy enforces */
    BAL_LOG_PATH,     /* the path, or a text with the path in it */
    BAL_LOG_METHOD,   /* the method, or a text that begins with it */
};

/* How a program writes lengths of time, where that is always the same. */
enum bal_log_shape {
    BAL_LOG_ANY,
    BAL_LOG_THOUSANDTHS, /* nginx: seconds with three decimals, perhaps several in a list */
    BAL_LOG_WHOLES,      /* whole numbers */
    BAL_LOG_NANOSECONDS, /* Go: these as a whole number, or seconds or milliseconds with as many decimals */
};

struct bal_log_field_name {
    enum bal_log_role role;
    const char *name;
    int unit; /* a power of ten of nanoseconds, or BAL_LOG_UNIT_OPEN: the name does not give it */
    enum bal_log_shape shape;
};

/* The words of a program. Of those with the same role, and of START and END, the earlier is taken. */
struct bal_log_field_names {
    const char *program; /* "nginx" */
    const char *sign;    /* printed in front of a name: "$" */
    bool starts;         /* a time with another name is that of the start; lines are in order of their ends */
    const char *const *needs; /* fields by which JSON lines of this program are recognised; NULL at the end */
    const struct bal_log_field_name *word;
    size_t count;
};

extern const struct bal_log_field_names bal_log_names_nginx, bal_log_names_apache, bal_log_names_varnish,
    bal_log_names_lighttpd, bal_log_names_tomcat, bal_log_names_percent, bal_log_names_squid,
    bal_log_names_haproxy, bal_log_names_envoy, bal_log_names_traefik, bal_log_names_alb, bal_log_names_elb,
    bal_log_names_cloudfront, bal_log_names_iis, bal_log_names_w3c, bal_log_names_columns, bal_log_names_any;

/* The words of programs that write JSON. Each is recognised by the fields that it needs. The last entry, with
 * names that any program may use, needs none. */
extern const struct bal_log_field_names *const bal_log_names_json[];
extern const size_t bal_log_names_json_count;

/* The meaning of a name among the words; NULL when it has none. */
const struct bal_log_field_name *bal_log_field_name_find(const struct bal_log_field_names *words,
                                                         struct bal_log_span name);

/* Endings of names that give a unit: "_ms", " (ms)". Ending i, and its unit; NULL when there are no more. */
const char *bal_log_ending(size_t i, int *unit);

const char *bal_log_unit_text(int unit); /* "ms" */
/* The unit of that text; BAL_LOG_UNIT_OPEN when it is none. */
int bal_log_unit_of(struct bal_log_span text);

#endif
