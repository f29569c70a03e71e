/* SPDX-License-Identifier: BSD-2-Clause */
/* Private to the files of the store: an open SQLite file, and the reporting of its errors. */
#ifndef STORE_STORE_FILE_H
#define STORE_STORE_FILE_H

#include "store/store_private.h"

#include <sqlite3.h>

enum { BLI_STORE_METRICS = 1024 };

/* Statements that are used once for each trial or cell are prepared once. */
enum bli_statement { FIND_CELL, ADD_CELL, LIST_TRIALS, GET_TRIALS, PUT_TRIAL, GET_HISTOGRAMS, STATEMENTS };

struct bli_store {
    char *path;
    sqlite3 *db;
    int lock; /* holds the writer's lock; -1 when reading */
    bool created;
    sqlite3_stmt *statement[STATEMENTS];
    int places;                    /* metrics that the file knows, by place in a trial's list */
    int metric[BLI_STORE_METRICS]; /* which metric of ours it is, BLI_METRIC_COUNT: none */
    int place[BLI_METRIC_COUNT];   /* and back; -1: not there */
    bool others;                   /* the file has all distributions of a trial */
    bool makers;                   /* the file has a table of the programs that made its trials */
    int64_t maker;                 /* this program among them; 0 until a run has begun */
};

/* Reports SQLite's error in one sentence; `what` is "cannot be read" or the like. */
enum bal_code bli_store_fail(struct bli_store *store, const char *what, struct bal_error *err);

/* Statements without an answer. */
enum bal_code bli_store_execute(struct bli_store *store, const char *sql, struct bal_error *err);

/* After reading a row: were all columns read? A column that did not fit into memory looks empty. */
bool bli_store_is_whole(const struct bli_store *store);

#endif
