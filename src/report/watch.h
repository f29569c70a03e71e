/* SPDX-License-Identifier: BSD-2-Clause */
/* The contents of `ballast_status` of a running nginx, as text: `ballast watch`. */
#ifndef REPORT_WATCH_H
#define REPORT_WATCH_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { WATCH_CLASSES = 8, WATCH_BUCKETS = 128, WATCH_STATES = 12, WATCH_COLUMNS = 16 };

/* Response times of a class: how many below each bound. */
struct watch_times {
    double count[WATCH_BUCKETS];
};

struct watch_server {
    char *name;
    unsigned state; /* place in bli_watch_states */
    double in_service, queue, in_flight, answered, failed, seconds;
};

/* Whom it exchanges messages with: a dispatcher its stations, a station its dispatchers. */
struct watch_peer {
    char *name;       /* its address */
    double heard_age; /* seconds since its last message; NaN: none has come */
};

/* A dispatcher or a station. */
struct watch_fleet {
    char *name, *policy; /* policy NULL: a station */
    bool backup;
    double arrived, failed, held, messages, joules;
    bool metered; /* energy in joules is reported */
    unsigned classes;
    struct watch_times times[WATCH_CLASSES];
    size_t servers;
    struct watch_server *server;
    char *address; /* by which those know it; NULL: it exchanges no messages */
    size_t peers;
    struct watch_peer *peer;
};

struct watch {
    double time;
    unsigned bounds;
    double bound[WATCH_BUCKETS];
    size_t fleets;
    struct watch_fleet *fleet;
};

/* What an upstream or a station did in a short time that is over. */
struct watch_point {
    double time, seconds; /* its end, and how long it was */
    double arrived, held, on;
    double p99; /* of the class where it was longest; NaN: no request was answered */
};

struct watch_series {
    char *name;
    bool station, backup;
    size_t points; /* oldest first */
    struct watch_point *point;
};

struct watch_history {
    size_t count;
    struct watch_series *series;
};

extern const char *const bli_watch_states[WATCH_STATES];

/* Reads JSON of schema 1; name stands for it in messages. The watch is the caller's, and to be freed even
 * after a failure. */
enum bal_code bli_watch_read(struct watch *watch, const char *json, size_t length, const char *name,
                             struct bal_error *err);
void bli_watch_free(struct watch *watch);

/* The same for the answer to ?format=history. Where it has none, as that of an older server, it is empty. */
enum bal_code bli_watch_read_history(struct watch_history *history, const char *json, size_t length,
                                     const char *name, struct bal_error *err);
void bli_watch_free_history(struct watch_history *history);

/* Over several nginx: a row for each station, a column for each dispatcher, the first WATCH_COLUMNS of them.
 * Nothing where there are none. */
void bli_watch_print_matrix(const struct watch *const *watch, size_t count, FILE *out);

struct watch_view {
    bool colour; /* escapes of terminals may be used */
    bool blocks; /* so may letters that draw bars */
    unsigned columns;
};

/* The present state, what changed since `before` (NULL: no earlier state is known), and the last two minutes
 * as far as the history has them. Only names can make lines longer than the width of the view. */
void bli_watch_print(const struct watch *before, const struct watch *now, const struct watch_history *history,
                     const struct watch_view *view, FILE *out);

/* The rows of the last two minutes of one of them; nothing where the history does not have it. */
void bli_watch_print_history(const struct watch_history *history, const struct watch_fleet *fleet,
                             const struct watch_view *view, FILE *out);

#endif
