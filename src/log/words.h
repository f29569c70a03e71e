/* What the names of fields mean: each program that writes logs has words of its own. */
#ifndef LOG_WORDS_H
#define LOG_WORDS_H

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
    BAL_LOG_PATH,     /* the path, or a text with the path in it */
};

/* How a program writes lengths of time, where that is always the same. */
enum bal_log_shape {
    BAL_LOG_ANY,
    BAL_LOG_THOUSANDTHS, /* nginx: seconds with three decimals, perhaps several in a list */
    BAL_LOG_WHOLES,      /* whole numbers */
    BAL_LOG_NANOSECONDS, /* Go: these as a whole number, or seconds or milliseconds with as many decimals */
};

struct bal_log_word {
    enum bal_log_role role;
    const char *name;
    int unit; /* a power of ten of nanoseconds, or BAL_LOG_UNIT_OPEN: the name does not tell */
    enum bal_log_shape shape;
};

/* The words of a program. Of those with the same role, and of START and END, the earlier is taken. */
struct bal_log_words {
    const char *program;      /* "nginx" */
    const char *sign;         /* before a name when it is shown: "$" */
    bool starts;              /* a time that is none of the words is that of the start; lines stand by ends */
    const char *const *needs; /* fields that tell that a log of JSON lines is of this program; NULL at the end
                               */
    const struct bal_log_word *word;
    size_t count;
};

extern const struct bal_log_words bal_log_words_nginx, bal_log_words_apache, bal_log_words_varnish,
    bal_log_words_lighttpd, bal_log_words_tomcat, bal_log_words_percent, bal_log_words_squid,
    bal_log_words_haproxy, bal_log_words_envoy, bal_log_words_traefik, bal_log_words_alb, bal_log_words_elb,
    bal_log_words_cloudfront, bal_log_words_iis, bal_log_words_w3c, bal_log_words_columns, bal_log_words_any;

/* Those of programs that write JSON, each told by what it needs; the last, of names that anybody may use,
 * needs nothing. */
extern const struct bal_log_words *const bal_log_words_json[];
extern const size_t bal_log_words_json_count;

/* The meaning of a name among the words; NULL when it has none. */
const struct bal_log_word *bal_log_word_of(const struct bal_log_words *words, struct bal_log_span name);

/* Endings of names that tell a unit: "_ms", " (ms)". Ending i, and its unit; NULL when there are no more. */
const char *bal_log_ending(size_t i, int *unit);

const char *bal_log_unit_text(int unit); /* "ms" */
/* The unit of that text; BAL_LOG_UNIT_OPEN when it is none. */
int bal_log_unit_of(struct bal_log_span text);

#endif
