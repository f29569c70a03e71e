/* SPDX-License-Identifier: BSD-2-Clause */
/* The history of a store: which experiments were run, and which programs made its trials.
 *
 * A run keeps the time of its beginning and the program that began it, even if another program continues or
 * reads it later. Each trial records its maker, a version on a machine, so that the trials of several makers
 * in one store can be distinguished. */
#include "store/store_file.h"

#include "ballast/version.h"
#include "commit.h"
#include "spec/plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- this program ---- */

static void write_now(char text[32]) {
    const time_t now = time(NULL);
    struct tm parts;
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
}

const char *bli_store_version(void) {
    return *BALLAST_COMMIT ? BALLAST_VERSION "+" BALLAST_COMMIT : BALLAST_VERSION;
}

/* "Linux 6.1 x86_64, 2 x AMD EPYC" */
static void describe_machine(char *text, size_t size) {
    struct utsname name;
    if (uname(&name) != 0)
        memset(&name, 0, sizeof name);
    char model[100] = "processor", line[300];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %99[^\n]", model) == 1)
            break;
    if (file)
        fclose(file);
    snprintf(text, size, "%s %s %s, %ld x %s", name.sysname, name.release, name.machine,
             sysconf(_SC_NPROCESSORS_ONLN), model);
}

static const char *compiler_name(void) {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

/* ---- writing ---- */

/* All statements about a run have the same parameters. Nothing is copied: that could fail. */
struct now {
    char machine[300], time[32];
};

static void bind_all(sqlite3_stmt *statement, const struct bli_experiment *e, const struct now *now,
                     bool work, int64_t maker) {
    sqlite3_bind_text(statement, 1, e->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, bli_mode_text(e->mode), -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, e->spec, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 4, bli_store_version(), -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 5, compiler_name(), -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 6, now->machine, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 7, now->time, -1, SQLITE_STATIC);
    sqlite3_bind_int(statement, 8, work);
    sqlite3_bind_int64(statement, 9, maker);
}

/* Writes the number that the statement gives to *id. */
static int step_run(struct bli_store *store, const char *sql, const struct bli_experiment *e,
                    const struct now *now, bool work, int64_t *id) {
    sqlite3_stmt *statement = NULL;
    int step = SQLITE_ERROR;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK) {
        bind_all(statement, e, now, work, store->maker);
        step = sqlite3_step(statement);
    }
    if (step == SQLITE_ROW)
        *id = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return step;
}

/* The same file in the same mode is the same run, gone on with. */
enum bal_code bli_store_begin(struct bli_store *store, const struct bli_experiment *experiment, bool work,
                              int64_t *run, struct bal_error *err) {
    static const char make[] = "INSERT OR IGNORE INTO maker(version, compiler, machine) VALUES(?4, ?5, ?6)";
    static const char made[] = "SELECT id FROM maker WHERE version = ?4 AND compiler = ?5 AND machine = ?6";
    static const char update[] = "UPDATE run SET latest_maker = ?9, latest = ?7, ended = iif(?8, NULL, ended)"
                                 " WHERE name = ?1 AND mode = ?2 AND spec = ?3 RETURNING id";
    static const char add[] =
        "INSERT INTO run(name, mode, spec, version, compiler, machine, started, latest_maker, latest)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?9, ?7) RETURNING id";
    struct now now;
    describe_machine(now.machine, sizeof now.machine);
    write_now(now.time);
    int step = step_run(store, make, experiment, &now, work, &store->maker);
    if (step == SQLITE_DONE)
        step = step_run(store, made, experiment, &now, work, &store->maker);
    if (step == SQLITE_ROW)
        step = step_run(store, update, experiment, &now, work, run);
    if (step == SQLITE_DONE)
        step = step_run(store, add, experiment, &now, work, run);
    return step == SQLITE_ROW ? BAL_OK : bli_store_fail(store, "cannot be written", err);
}

enum bal_code bli_store_end(struct bli_store *store, int64_t run, struct bal_error *err) {
    char now[32], sql[120];
    write_now(now);
    snprintf(sql, sizeof sql, "UPDATE run SET ended = coalesce(ended, '%s') WHERE id = %lld", now,
             (long long)run);
    return bli_store_execute(store, sql, err);
}

/* Copies a text to the end of a block that is large enough. */
static const char *append_text(char **end, const unsigned char *text) {
    char *copy = *end;
    *end = stpcpy(copy, text ? (const char *)text : "") + 1;
    return copy;
}

/* ---- reading ---- */

/* id, mode, ended, latest, then the texts. */
enum { RUN_TEXTS = 4, RUN_COLUMNS = 13 };

static void column_run(sqlite3_stmt *list, struct bli_store_run *run, char **end) {
    const char *mode = (const char *)sqlite3_column_text(list, 1);
    *run = (struct bli_store_run){.id = sqlite3_column_int64(list, 0)};
    for (int i = 0; i <= BLI_MODE_FULL; i++)
        if (mode && strcmp(mode, bli_mode_text((enum bli_mode)i)) == 0)
            run->mode = (enum bli_mode)i;
    if (sqlite3_column_type(list, 2) != SQLITE_NULL)
        run->ended = append_text(end, sqlite3_column_text(list, 2));
    if (sqlite3_column_type(list, 3) != SQLITE_NULL)
        run->latest = append_text(end, sqlite3_column_text(list, 3));
    const char **const text[] = {
        &run->name,    &run->spec,           &run->version,         &run->compiler,      &run->machine,
        &run->started, &run->latest_version, &run->latest_compiler, &run->latest_machine};
    for (int i = 0; RUN_TEXTS + i < RUN_COLUMNS; i++)
        *text[i] = append_text(end, sqlite3_column_text(list, RUN_TEXTS + i));
}

/* Two passes over the same state of the file: first the size that is needed, then the copies. */
static enum bal_code copy_runs(struct bli_store *store, sqlite3_stmt *list, struct bli_store_run **runs,
                               size_t *count, struct bal_error *err) {
    size_t rows = 0, bytes = 0;
    int step;
    for (; (step = sqlite3_step(list)) == SQLITE_ROW; rows++) {
        for (int i = 1; i < RUN_COLUMNS; i++)
            bytes += (size_t)sqlite3_column_bytes(list, i) + 1;
        if (!bli_store_is_whole(store))
            break;
    }
    if (step != SQLITE_DONE)
        return bli_store_fail(store, "cannot be read", err);
    *runs = malloc(rows * sizeof **runs + bytes + 1);
    if (!*runs)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory", store->path);
    sqlite3_reset(list);
    char *end = (char *)(*runs + rows);
    for (*count = 0; *count < rows; (*count)++) {
        if (sqlite3_step(list) != SQLITE_ROW)
            return bli_store_fail(store, "cannot be read", err);
        column_run(list, &(*runs)[*count], &end);
        if (!bli_store_is_whole(store))
            return bli_store_fail(store, "cannot be read", err);
    }
    return BAL_OK;
}

enum bal_code bli_store_runs(struct bli_store *store, struct bli_store_run **runs, size_t *count,
                             struct bal_error *err) {
    static const char with_makers[] =
        "SELECT run.id, mode, ended, latest, name, spec, run.version, run.compiler, run.machine, started,"
        " maker.version, maker.compiler, maker.machine"
        " FROM run LEFT JOIN maker ON maker.id = latest_maker ORDER BY run.id";
    static const char without[] =
        "SELECT id, mode, ended, NULL, name, spec, version, compiler, machine, started, NULL, NULL, NULL"
        " FROM run ORDER BY id";
    sqlite3_stmt *list = NULL;
    *runs = NULL;
    *count = 0;
    enum bal_code code = bli_store_execute(store, "BEGIN", err);
    if (code)
        return code;
    if (sqlite3_prepare_v2(store->db, store->makers ? with_makers : without, -1, &list, NULL) == SQLITE_OK)
        code = copy_runs(store, list, runs, count, err);
    else
        code = bli_store_fail(store, "cannot be read", err);
    sqlite3_finalize(list);
    bli_store_execute(store, "COMMIT", NULL);
    if (code) {
        free(*runs);
        *runs = NULL;
        *count = 0;
    }
    return code;
}

enum bal_code bli_store_run_experiment(const struct bli_store_run *run, struct bli_experiment **experiment,
                                       struct bal_error *err) {
    char name[300];
    snprintf(name, sizeof name, "%s.yaml", run->name);
    return bli_experiment_parse(run->spec, strlen(run->spec), name, run->mode, experiment, err);
}

/* ---- makers ---- */

/* Adds the trials of a cell to those of their makers. Each row: number of the maker, trials. */
static int count_makers(struct bli_store *store, sqlite3_stmt *count, struct bli_makers *makers) {
    int step;
    while ((step = sqlite3_step(count)) == SQLITE_ROW && bli_store_is_whole(store)) {
        const int64_t id = sqlite3_column_int64(count, 0); /* 0: not known */
        const size_t trials = (size_t)sqlite3_column_int64(count, 1);
        size_t i = 0;
        while (i < makers->count && makers->maker[i].id != id)
            i++;
        if (i == BLI_MAKERS_MAX) {
            makers->others += trials;
            continue;
        }
        if (i == makers->count)
            makers->maker[makers->count++] = (struct bli_maker){.id = id};
        makers->maker[i].trials += trials;
    }
    return step;
}

static enum bal_code add_cell(struct bli_store *store, sqlite3_stmt *count,
                              const struct bli_experiment *experiment, size_t point, size_t policy,
                              struct bli_makers *makers, struct bal_error *err) {
    struct bli_cell cell;
    enum bal_code code = bli_cell_load(&cell, store, experiment, point, policy, err);
    if (!code && cell.id) {
        sqlite3_bind_int64(count, 1, cell.id);
        sqlite3_bind_int64(count, 2, (int64_t)bli_cell_extent(&cell));
        if (count_makers(store, count, makers) != SQLITE_DONE)
            code = bli_store_fail(store, "cannot be read", err);
        sqlite3_reset(count);
    }
    bli_cell_fini(&cell);
    return code;
}

static void copy_text(sqlite3_stmt *statement, int column, char *text, size_t size) {
    const char *stored = (const char *)sqlite3_column_text(statement, column);
    snprintf(text, size, "%s", stored ? stored : "");
}

static enum bal_code name_makers(struct bli_store *store, struct bli_makers *makers, struct bal_error *err) {
    sqlite3_stmt *get = NULL;
    bool good = sqlite3_prepare_v2(store->db, "SELECT version, compiler, machine FROM maker WHERE id = ?1",
                                   -1, &get, NULL) == SQLITE_OK;
    for (size_t i = 0; good && i < makers->count; i++) {
        struct bli_maker *maker = &makers->maker[i];
        if (maker->id == 0)
            continue;
        sqlite3_bind_int64(get, 1, maker->id);
        const int step = sqlite3_step(get);
        if (step == SQLITE_ROW) {
            copy_text(get, 0, maker->version, sizeof maker->version);
            copy_text(get, 1, maker->compiler, sizeof maker->compiler);
            copy_text(get, 2, maker->machine, sizeof maker->machine);
        }
        good = (step == SQLITE_ROW || step == SQLITE_DONE) && bli_store_is_whole(store);
        sqlite3_reset(get);
    }
    const enum bal_code code = good ? BAL_OK : bli_store_fail(store, "cannot be read", err);
    sqlite3_finalize(get);
    return code;
}

enum bal_code bli_store_makers(struct bli_store *store, const struct bli_experiment *experiment,
                               struct bli_makers *makers, struct bal_error *err) {
    *makers = (struct bli_makers){0};
    if (!store->makers)
        return BAL_OK;
    sqlite3_stmt *count = NULL;
    enum bal_code code = BAL_OK;
    if (sqlite3_prepare_v2(store->db,
                           "SELECT coalesce(maker, 0), count(*) FROM trial"
                           " WHERE cell = ?1 AND replication BETWEEN 0 AND ?2 - 1 GROUP BY 1",
                           -1, &count, NULL) != SQLITE_OK)
        code = bli_store_fail(store, "cannot be read", err);
    for (size_t i = 0; !code && i < experiment->points * experiment->policies; i++)
        code = add_cell(store, count, experiment, i / experiment->policies, i % experiment->policies, makers,
                        err);
    sqlite3_finalize(count);
    return code ? code : name_makers(store, makers, err);
}
