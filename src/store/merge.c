/* SPDX-License-Identifier: BSD-2-Clause */
/* Several stores become one. Rows are copied as they are, so that a merged store has the bytes of one that
 * was computed by a single program; numbers of cells, metrics, makers and runs are translated by what they
 * stand for. */
#include "store/recorded_commands.h"
#include "store/store_private.h"

#include <stdlib.h>
#include <string.h>

/* From one store into another. */
struct store_merger {
    struct bli_store *into, *from;
    struct bal_error *err;
    int place[BLI_STORE_METRICS]; /* of the metrics of `from` in `into` */
    sqlite3_stmt *add, *same;     /* a trial */
    int64_t cell;                 /* in `into`, of the row that is copied */
};

static enum bal_code read_failure(struct store_merger *m) {
    return bli_store_fail(m->from, "cannot be read", m->err);
}

static enum bal_code write_failure(struct store_merger *m) {
    return bli_store_fail(m->into, "cannot be written", m->err);
}

static sqlite3_stmt *prepare(struct bli_store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    return statement;
}

/* Calls copy(m, row) for each row of a query on `from`. */
static enum bal_code for_each_row(struct store_merger *m, const char *sql,
                                  enum bal_code (*copy)(struct store_merger *m, sqlite3_stmt *row)) {
    sqlite3_stmt *row = prepare(m->from, sql);
    if (!row)
        return read_failure(m);
    enum bal_code code = BAL_OK;
    int step = SQLITE_DONE;
    while (!code && (step = sqlite3_step(row)) == SQLITE_ROW)
        code = bli_store_is_whole(m->from) ? copy(m, row) : read_failure(m);
    if (!code && step != SQLITE_DONE)
        code = read_failure(m);
    sqlite3_finalize(row);
    return code;
}

/* Runs a statement that changes `into`, its parameters the columns of the row from `first` on. */
static enum bal_code write_row(struct store_merger *m, const char *sql, sqlite3_stmt *row, int first) {
    sqlite3_stmt *write = prepare(m->into, sql);
    for (int i = first; write && i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(write, i - first + 1, sqlite3_column_value(row, i));
    const bool done = write && sqlite3_step(write) == SQLITE_DONE;
    const enum bal_code code = done ? BAL_OK : write_failure(m);
    sqlite3_finalize(write);
    return code;
}

/* The number that a query on `into` has for the columns of the row from `first` on; 0: none. */
static enum bal_code find_number(struct store_merger *m, const char *sql, sqlite3_stmt *row, int first,
                                 int64_t *number) {
    sqlite3_stmt *find = prepare(m->into, sql);
    for (int i = first; find && i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(find, i - first + 1, sqlite3_column_value(row, i));
    const int step = find ? sqlite3_step(find) : SQLITE_ERROR;
    *number = step == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;
    const enum bal_code code = step == SQLITE_ROW || step == SQLITE_DONE ? BAL_OK : write_failure(m);
    sqlite3_finalize(find);
    return code;
}

/* ---- trials ---- */

/* Metrics of other versions are kept too. */
static enum bal_code copy_metric(struct store_merger *m, sqlite3_stmt *row) {
    const int from = sqlite3_column_int(row, 0);
    if (from < 0 || from >= BLI_STORE_METRICS)
        return bal_fail(m->err, BAL_E_FORMAT, "%s: its list of metrics is damaged", m->from->path);
    enum bal_code code = write_row(m,
                                   "INSERT OR IGNORE INTO metric(place, name)"
                                   " SELECT count(*), ?1 FROM metric",
                                   row, 1);
    int64_t place = 0;
    if (!code)
        code = find_number(m, "SELECT place FROM metric WHERE name = ?1", row, 1, &place);
    if (!code && place >= BLI_STORE_METRICS)
        code = bal_fail(m->err, BAL_E_FORMAT, "%s: more than %d metrics", m->into->path, BLI_STORE_METRICS);
    m->place[from] = (int)place;
    if (!code && place >= m->into->places)
        m->into->places = (int)place + 1;
    return code;
}

static enum bal_code copy_maker(struct store_merger *m, sqlite3_stmt *row) {
    return write_row(m, "INSERT OR IGNORE INTO maker(version, compiler, machine) VALUES(?1, ?2, ?3)", row, 0);
}

static enum bal_code copy_cell(struct store_merger *m, sqlite3_stmt *row) {
    return bli_store_cell(m->into, (const char *)sqlite3_column_text(row, 0), true, &m->cell, m->err);
}

/* Columns of a trial, parameters in the order of these columns: ?1 is the cell. Only `seconds` and the maker
 * may differ in trials that are the same. */
enum { REPLICATION = 4, METRICS = 6 };
static const char trials_text[] =
    "SELECT identity, %s, replication, seconds, metrics, engine, jobs, events, warmup, quarters, tail,"
    " response, waiting, %s FROM trial JOIN cell ON cell.id = trial.cell %s ORDER BY cell.id, replication";
static const char add_text[] =
    "INSERT OR IGNORE INTO trial(cell, maker, replication, seconds, metrics, engine, jobs, events, warmup,"
    " quarters, tail, response, waiting, others) VALUES(?1,"
    " (SELECT id FROM maker WHERE version = ?2 AND compiler = ?3 AND machine = ?4),"
    " ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
static const char same_text[] =
    "SELECT 1 FROM trial WHERE cell = ?1 AND replication = ?5 AND metrics IS ?7 AND engine IS ?8"
    " AND jobs IS ?9 AND events IS ?10 AND warmup IS ?11 AND quarters IS ?12 AND tail IS ?13"
    " AND response IS ?14 AND waiting IS ?15 AND others IS ?16";

/* The list of metrics in the order of `into`; those that the trial does not have are marked. */
static size_t translate_metrics(const struct store_merger *m, sqlite3_stmt *row, uint8_t *bytes) {
    const uint8_t *from = sqlite3_column_blob(row, METRICS);
    const size_t count = (size_t)sqlite3_column_bytes(row, METRICS) / 8;
    for (int i = 0; i < m->into->places; i++)
        bli_store_mark_missing(bytes + (size_t)8 * (size_t)i);
    for (size_t i = 0; i < count && i < BLI_STORE_METRICS; i++)
        memcpy(bytes + (size_t)8 * (size_t)m->place[i], from + 8 * i, 8);
    return (size_t)8 * (size_t)m->into->places;
}

static void bind_trial(struct store_merger *m, sqlite3_stmt *statement, sqlite3_stmt *row,
                       const uint8_t *metrics, size_t size) {
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, m->cell);
    for (int i = 1; i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(statement, i + 1, sqlite3_column_value(row, i));
    sqlite3_bind_blob(statement, METRICS + 1, metrics, (int)size, SQLITE_STATIC);
}

static enum bal_code check_same(struct store_merger *m, sqlite3_stmt *row) {
    const int step = sqlite3_step(m->same);
    if (step == SQLITE_ROW)
        return BAL_OK;
    if (step != SQLITE_DONE)
        return write_failure(m);
    return bal_fail(m->err, BAL_E_MODEL,
                    "%s: replication %lld of '%.300s' is another than the one merged so far; merge what one "
                    "version of ballast has computed",
                    m->from->path, (long long)sqlite3_column_int64(row, REPLICATION),
                    (const char *)sqlite3_column_text(row, 0));
}

static enum bal_code copy_trial(struct store_merger *m, sqlite3_stmt *row) {
    uint8_t metrics[8 * BLI_STORE_METRICS];
    enum bal_code code =
        bli_store_cell(m->into, (const char *)sqlite3_column_text(row, 0), true, &m->cell, m->err);
    if (code)
        return code;
    const size_t size = translate_metrics(m, row, metrics);
    bind_trial(m, m->add, row, metrics, size);
    if (sqlite3_step(m->add) != SQLITE_DONE)
        code = write_failure(m);
    if (!code && sqlite3_changes(m->into->db) == 0) {
        bind_trial(m, m->same, row, metrics, size);
        code = check_same(m, row);
        sqlite3_reset(m->same);
    }
    sqlite3_reset(m->add);
    return code;
}

static enum bal_code copy_trials(struct store_merger *m) {
    char sql[sizeof trials_text + 200];
    snprintf(sql, sizeof sql, trials_text,
             m->from->makers ? "version, compiler, machine" : "NULL, NULL, NULL",
             m->from->others ? "others" : "NULL",
             m->from->makers ? "LEFT JOIN maker ON maker.id = trial.maker" : "");
    m->add = prepare(m->into, add_text);
    m->same = prepare(m->into, same_text);
    const enum bal_code code = m->add && m->same ? for_each_row(m, sql, copy_trial) : write_failure(m);
    sqlite3_finalize(m->add);
    sqlite3_finalize(m->same);
    return code;
}

static enum bal_code copy_fact(struct store_merger *m, sqlite3_stmt *row) {
    return write_row(m,
                     "INSERT OR IGNORE INTO fact VALUES((SELECT id FROM cell WHERE identity = ?1),"
                     " ?2, ?3, ?4)",
                     row, 0);
}

static bool has_table(struct bli_store *store, const char *name) {
    sqlite3_stmt *find = prepare(store, "SELECT 1 FROM sqlite_schema WHERE name = ?1");
    if (find)
        sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC);
    const bool has = find && sqlite3_step(find) == SQLITE_ROW;
    sqlite3_finalize(find);
    return has;
}

static enum bal_code copy_facts(struct store_merger *m) {
    if (!has_table(m->from, "fact"))
        return BAL_OK;
    const enum bal_code code = bli_store_create_facts(m->into, m->err);
    return code ? code
                : for_each_row(m,
                               "SELECT identity, replication, name, value FROM fact"
                               " JOIN cell ON cell.id = fact.cell",
                               copy_fact);
}

/* ---- runs ---- */

/* Columns: name, mode, spec, version, compiler, machine, started, ended, latest, the three of the latest
 * maker. Of two, the one that started first says who did, and the later one who was the latest. */
static enum bal_code copy_run(struct store_merger *m, sqlite3_stmt *row) {
    static const char update[] =
        "UPDATE run SET version = iif(?7 < started, ?4, version), compiler = iif(?7 < started, ?5, compiler),"
        " machine = iif(?7 < started, ?6, machine), started = min(started, ?7), ended = coalesce(ended, ?8),"
        " latest_maker = iif(coalesce(?9 > latest, latest IS NULL),"
        " (SELECT id FROM maker WHERE version = ?10 AND compiler = ?11 AND machine = ?12), latest_maker),"
        " latest = max(coalesce(latest, ?9), coalesce(?9, latest))"
        " WHERE name = ?1 AND mode = ?2 AND spec = ?3";
    static const char add[] =
        "INSERT INTO run(name, mode, spec, version, compiler, machine, started, ended, latest, latest_maker)"
        " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
        " (SELECT id FROM maker WHERE version = ?10 AND compiler = ?11 AND machine = ?12)";
    const enum bal_code code = write_row(m, update, row, 0);
    return code || sqlite3_changes(m->into->db) > 0 ? code : write_row(m, add, row, 0);
}

static enum bal_code copy_command(struct store_merger *m, sqlite3_stmt *row) {
    return write_row(m,
                     "INSERT OR IGNORE INTO command SELECT (SELECT id FROM run WHERE name = ?1"
                     " AND mode = ?2 AND spec = ?3), ?4, ?5,"
                     " (SELECT id FROM maker WHERE version = ?6 AND compiler = ?7 AND machine = ?8)",
                     row, 0);
}

static enum bal_code copy_runs(struct store_merger *m) {
    bool has = false;
    enum bal_code code = for_each_row(
        m,
        m->from->makers
            ? "SELECT name, mode, spec, run.version, run.compiler, run.machine, started, ended, latest,"
              " maker.version, maker.compiler, maker.machine FROM run"
              " LEFT JOIN maker ON maker.id = latest_maker ORDER BY run.id"
            : "SELECT name, mode, spec, version, compiler, machine, started, ended, NULL, NULL, NULL, NULL"
              " FROM run ORDER BY id",
        copy_run);
    if (!code)
        code = bli_store_has_commands(m->from, &has, m->err);
    if (code || !has)
        return code;
    code = bli_store_create_commands(m->into, m->err);
    return code ? code
                : for_each_row(m,
                               "SELECT name, mode, spec, command.started, text, maker.version,"
                               " maker.compiler, maker.machine FROM command JOIN run ON run.id = command.run"
                               " LEFT JOIN maker ON maker.id = command.maker ORDER BY command.rowid",
                               copy_command);
}

/* ---- all of it ---- */

static enum bal_code copy_store(struct bli_store *into, const char *path, struct bal_error *err) {
    struct store_merger *m = calloc(1, sizeof *m);
    if (!m)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory", path);
    *m = (struct store_merger){.into = into, .err = err};
    enum bal_code code = bli_store_open(path, BLI_STORE_READ, &m->from, err);
    if (!code) /* as it is now: a run that goes on must not be seen to end with trials that were not seen */
        code = bli_store_execute(m->from, "BEGIN", err);
    if (!code)
        code = for_each_row(m, "SELECT place, name FROM metric ORDER BY place", copy_metric);
    if (!code && m->from->makers)
        code = for_each_row(m, "SELECT version, compiler, machine FROM maker ORDER BY id", copy_maker);
    if (!code)
        code = for_each_row(m, "SELECT identity FROM cell ORDER BY id", copy_cell);
    if (!code)
        code = copy_trials(m);
    if (!code)
        code = copy_facts(m);
    if (!code)
        code = copy_runs(m);
    bli_store_close(m->from);
    free(m);
    return code;
}

/* A run whose trials are all there now has ended. One that this version cannot read is left as it is. */
static enum bal_code end_complete_runs(struct bli_store *store, struct bal_error *err) {
    struct bli_store_run *runs;
    size_t count;
    enum bal_code code = bli_store_runs(store, &runs, &count, err);
    for (size_t i = 0; !code && i < count; i++) {
        struct bli_experiment *e = NULL;
        struct bal_error why = {0};
        struct bli_sweep_progress progress = {0};
        if (!runs[i].ended && !bli_store_run_experiment(&runs[i], &e, &why) &&
            !bli_sweep_status(e, store, &progress, &why) && progress.done == progress.total)
            code = bli_store_end(store, runs[i].id, err);
        bli_experiment_free(e);
        if (why.code == BAL_E_MEMORY)
            code = bal_fail(err, why.code, "%s", why.text);
    }
    free(runs);
    return code;
}

enum bal_code bli_store_merge(const char *path, const char *const *from, size_t count,
                              struct bal_error *err) {
    struct bli_store *into;
    enum bal_code code = bli_store_open(path, BLI_STORE_WRITE, &into, err);
    if (code)
        return code;
    code = bli_store_group(into, err);
    for (size_t i = 0; !code && i < count; i++)
        code = copy_store(into, from[i], err);
    if (code) {
        bli_store_ungroup(into, false, NULL);
        bli_store_abandon(into);
        return code;
    }
    code = bli_store_ungroup(into, true, err);
    if (!code)
        code = end_complete_runs(into, err);
    bli_store_close(into);
    return code;
}
