/* SPDX-License-Identifier: BSD-2-Clause */
/* The store: an SQLite file.
 *
 * A cell is found by its identity, the text of everything that determines its trials; the text itself is the
 * key, so nothing can collide and a person can read it. Trials are committed one by one. In WAL mode with
 * synchronous=NORMAL a commit is an append without waiting for the disk: a process that is killed loses
 * nothing that was committed, a machine that loses power may lose the last commits, which are then run again.
 * A writer holds a lock on the file, which the kernel releases however the process ends; readers need
 * none. */
#include "store/store_file.h"

#include "store/serialize.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    APPLICATION = 0x42616c6c, /* "Ball", in the header of the file */
    VERSION = 1,              /* of the tables below */
    LOCK_WAIT = 10000,        /* milliseconds, for what readers and checkpoints hold for moments */
    LOCK_TRIES = 100,         /* while others make and remove the file */
};

/* Makers and other distributions than the first two came later (see add_makers and add_others). */
static const char schema[] =
    "CREATE TABLE run(id INTEGER PRIMARY KEY, name TEXT NOT NULL, mode TEXT NOT NULL, spec TEXT NOT NULL,"
    " version TEXT NOT NULL, compiler TEXT NOT NULL, machine TEXT NOT NULL, started TEXT NOT NULL, ended "
    "TEXT);"
    "CREATE TABLE cell(id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE);"
    "CREATE TABLE metric(place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE trial(cell INTEGER NOT NULL, replication INTEGER NOT NULL, engine TEXT NOT NULL,"
    " jobs INTEGER NOT NULL, events INTEGER NOT NULL, warmup REAL NOT NULL, seconds REAL NOT NULL,"
    " quarters BLOB NOT NULL, metrics BLOB NOT NULL, tail BLOB NOT NULL, response BLOB NOT NULL, waiting "
    "BLOB NOT NULL,"
    " PRIMARY KEY(cell, replication));";

static const char *const statement_text[STATEMENTS] = {
    [FIND_CELL] = "SELECT id FROM cell WHERE identity = ?1",
    [ADD_CELL] = "INSERT INTO cell(identity) VALUES(?1)",
    [LIST_TRIALS] = "SELECT replication, metrics, others IS NOT NULL FROM trial WHERE cell = ?1 AND "
                    "replication BETWEEN 0 AND ?2 "
                    "- 1 ORDER BY replication",
    [GET_TRIALS] =
        "SELECT replication, metrics, engine, jobs, events, warmup, seconds, quarters, tail FROM trial"
        " WHERE cell = ?1 AND replication BETWEEN 0 AND ?2 - 1 ORDER BY replication",
    [PUT_TRIAL] = "INSERT OR REPLACE INTO trial(cell, replication, engine, jobs, events, warmup, seconds, "
                  "quarters, metrics, tail,"
                  " response, waiting, maker, others) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
                  "?12, ?13, ?14)",
    [GET_HISTOGRAMS] = "SELECT replication, metrics, response, waiting, others FROM trial"
                       " WHERE cell = ?1 AND replication BETWEEN 0 AND ?2 - 1 ORDER BY replication",
};

/* Of files without the other distributions, which are only read. */
static const char *const older_text[STATEMENTS] = {
    [LIST_TRIALS] =
        "SELECT replication, metrics, 0 FROM trial WHERE cell = ?1 AND replication BETWEEN 0 AND ?2 "
        "- 1 ORDER BY replication",
    [GET_HISTOGRAMS] = "SELECT replication, metrics, response, waiting, NULL FROM trial"
                       " WHERE cell = ?1 AND replication BETWEEN 0 AND ?2 - 1 ORDER BY replication",
};

enum bal_code bli_store_fail(struct bli_store *store, const char *what, struct bal_error *err) {
    const int code = sqlite3_errcode(store->db) & 0xff;
    const int system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? sqlite3_system_errno(store->db) : 0;
    if (code == SQLITE_NOMEM || sqlite3_extended_errcode(store->db) == SQLITE_IOERR_NOMEM || system == ENOMEM)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory", store->path);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return bal_fail(err, BAL_E_IO, "%s: another process holds it; try again when that has ended",
                        store->path);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return bal_fail(err, BAL_E_FORMAT, "%s: %s; the file is damaged, or is not a store of results",
                        store->path, sqlite3_errmsg(store->db));
    return bal_fail(err, BAL_E_IO, "%s: %s: %s%s%s", store->path, what, sqlite3_errmsg(store->db),
                    system ? ": " : "", system ? strerror(system) : "");
}

bool bli_store_is_whole(const struct bli_store *store) {
    return (sqlite3_errcode(store->db) & 0xff) != SQLITE_NOMEM;
}

/* How the reading of rows ended, from the result of step. */
static enum bal_code end_of_rows(struct bli_store *store, int step, struct bal_error *err) {
    return step == SQLITE_DONE ? BAL_OK : bli_store_fail(store, "cannot be read", err);
}

enum bal_code bli_store_execute(struct bli_store *store, const char *sql, struct bal_error *err) {
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? BAL_OK
               : bli_store_fail(store, "cannot be written", err);
}

/* ---- opening ---- */

/* The header is checked before SQLite touches the file. */
static enum bal_code check_header(const char *path, int fd, struct bal_error *err) {
    unsigned char header[100];
    const ssize_t size = pread(fd, header, sizeof header, 0);
    if (size < 0)
        return bal_fail(err, BAL_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (size == 0)
        return BAL_OK; /* an empty file becomes a new store */
    if (size < (ssize_t)sizeof header || memcmp(header, "SQLite format 3", 16) != 0)
        return bal_fail(err, BAL_E_FORMAT,
                        "%s: not a store of results, nor any other SQLite file; name another file", path);
    uint32_t application, version;
    memcpy(&version, header + 60, sizeof version);
    memcpy(&application, header + 68, sizeof application);
    if (be32toh(application) != APPLICATION)
        return bal_fail(err, BAL_E_FORMAT,
                        "%s: an SQLite file of another program, not a store of results; name another file",
                        path);
    if (be32toh(version) > VERSION)
        return bal_fail(
            err, BAL_E_FORMAT,
            "%s: written by a newer version of ballast (format %u, this one knows %d); use that version",
            path, be32toh(version), VERSION);
    return BAL_OK;
}

/* Opens the file, or makes it. Others may make or remove it at the same time: what was seen a moment ago is
 * asked again. */
static int open_or_make(const char *path, bool *made) {
    int file = -1;
    for (int i = 0; file < 0 && i < LOCK_TRIES; i++) {
        file = open(path, O_RDWR | O_CLOEXEC);
        if (file >= 0 || errno != ENOENT)
            return file;
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        *made = file >= 0;
        if (file < 0 && errno != EEXIST)
            return -1;
    }
    return file;
}

/* Is the open file the one that has the name? Another run that failed may have removed it. */
static bool has_name(int file, const char *path) {
    struct stat opened, named;
    return fstat(file, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* Opens the file itself, to look at its header and to hold the lock. Only the holder of the lock owns the
 * file and may remove it again. */
static enum bal_code lock_file(struct bli_store *store, struct bal_error *err) {
    for (int i = 0; i < LOCK_TRIES; i++) {
        bool made = false;
        store->lock = open_or_make(store->path, &made);
        if (store->lock < 0)
            return bal_fail(err, BAL_E_IO, "%s: cannot be written: %s; name another file", store->path,
                            errno == EEXIST ? "it is a link to nothing" : strerror(errno));
        if (flock(store->lock, LOCK_EX | LOCK_NB) != 0)
            return errno == EWOULDBLOCK
                       ? bal_fail(
                             err, BAL_E_IO,
                             "%s: another run is writing to it; wait for it to end, or name another file",
                             store->path)
                       : bal_fail(err, BAL_E_IO,
                                  "%s: cannot be locked: %s; name a file on another file system", store->path,
                                  strerror(errno));
        if (has_name(store->lock, store->path)) {
            store->created = made;
            return check_header(store->path, store->lock, err);
        }
        close(store->lock);
        store->lock = -1;
    }
    return bal_fail(err, BAL_E_IO, "%s: others keep removing it; name another file", store->path);
}

static enum bal_code check_file(const char *path, struct bal_error *err) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return bal_fail(err, BAL_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    enum bal_code code = check_header(path, fd, err);
    if (!code && fstat(fd, &status) == 0 && status.st_size == 0)
        code = bal_fail(err, BAL_E_FORMAT, "%s: empty; it holds no results", path);
    close(fd);
    return code;
}

static enum bal_code query_number(struct bli_store *store, const char *sql, int64_t *number,
                                  struct bal_error *err) {
    sqlite3_stmt *statement = NULL;
    enum bal_code code = BAL_OK;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        code = bli_store_fail(store, "cannot be read", err);
    else
        *number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code;
}

/* All in one transaction and before WAL is switched on, so that the header is right from the start. */
static enum bal_code create_tables(struct bli_store *store, struct bal_error *err) {
    char mark[100];
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION,
             VERSION);
    enum bal_code code = bli_store_execute(store, "PRAGMA page_size = 8192; BEGIN EXCLUSIVE;", err);
    if (!code)
        code = bli_store_execute(store, mark, err);
    if (!code)
        code = bli_store_execute(store, schema, err);
    return code ? code : bli_store_execute(store, "COMMIT;", err);
}

static enum bal_code add_metrics(struct bli_store *store, struct bal_error *err) {
    sqlite3_stmt *statement = NULL;
    enum bal_code code = bli_store_execute(store, "BEGIN IMMEDIATE;", err);
    if (code)
        return code;
    bool failed = sqlite3_prepare_v2(store->db, "INSERT INTO metric(place, name) VALUES(?1, ?2)", -1,
                                     &statement, NULL) != SQLITE_OK;
    for (int m = 0; !failed && m < BLI_METRIC_COUNT && store->places < BLI_STORE_METRICS; m++) {
        if (store->place[m] >= 0)
            continue;
        sqlite3_bind_int(statement, 1, store->places);
        sqlite3_bind_text(statement, 2, bli_metric_table[m].name, -1, SQLITE_STATIC);
        failed = sqlite3_step(statement) != SQLITE_DONE;
        sqlite3_reset(statement);
        store->place[m] = store->places;
        store->metric[store->places++] = m;
    }
    if (failed)
        code = bli_store_fail(store, "cannot be written", err);
    sqlite3_finalize(statement);
    return code ? code : bli_store_execute(store, "COMMIT;", err);
}

/* Who made which trials, and who ran an experiment last. Versions that do not know of it read and write the
 * file all the same; of their trials the maker is not known. */
static enum bal_code add_makers(struct bli_store *store, struct bal_error *err) {
    const enum bal_code code = bli_store_execute(
        store,
        "BEGIN IMMEDIATE;"
        "CREATE TABLE maker(id INTEGER PRIMARY KEY, version TEXT NOT NULL, compiler TEXT NOT NULL,"
        " machine TEXT NOT NULL, UNIQUE(version, compiler, machine));"
        "ALTER TABLE trial ADD COLUMN maker INTEGER;"
        "ALTER TABLE run ADD COLUMN latest_maker INTEGER;"
        "ALTER TABLE run ADD COLUMN latest TEXT;"
        "COMMIT;",
        err);
    store->makers = !code;
    return code;
}

static enum bal_code find_makers(struct bli_store *store, struct bal_error *err) {
    int64_t tables = 0;
    const enum bal_code code =
        query_number(store, "SELECT count(*) FROM sqlite_schema WHERE name = 'maker'", &tables, err);
    store->makers = tables > 0;
    return code;
}

/* The distributions of classes and of the load. Versions that do not know of them leave the column empty. */
static enum bal_code add_others(struct bli_store *store, struct bal_error *err) {
    const enum bal_code code = bli_store_execute(store, "ALTER TABLE trial ADD COLUMN others BLOB;", err);
    store->others = !code;
    return code;
}

static enum bal_code find_others(struct bli_store *store, struct bal_error *err) {
    int64_t columns = 0;
    const enum bal_code code = query_number(
        store, "SELECT count(*) FROM pragma_table_info('trial') WHERE name = 'others'", &columns, err);
    store->others = columns > 0;
    return code;
}

/* Metrics are known by name: a file may have been written by a version with others, or in another order. */
static enum bal_code read_metrics(struct bli_store *store, struct bal_error *err) {
    sqlite3_stmt *statement = NULL;
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        store->place[m] = -1;
    int step = SQLITE_ERROR;
    if (sqlite3_prepare_v2(store->db, "SELECT place, name FROM metric ORDER BY place", -1, &statement,
                           NULL) == SQLITE_OK)
        while ((step = sqlite3_step(statement)) == SQLITE_ROW && store->places < BLI_STORE_METRICS) {
            const char *name = (const char *)sqlite3_column_text(statement, 1);
            const int metric = name ? (int)bli_metric_find(name) : BLI_METRIC_COUNT;
            if (sqlite3_column_int(statement, 0) != store->places || !bli_store_is_whole(store))
                break;
            if (metric < BLI_METRIC_COUNT)
                store->place[metric] = store->places;
            store->metric[store->places++] = metric;
        }
    const enum bal_code code =
        step == SQLITE_ROW && bli_store_is_whole(store)
            ? bal_fail(err, BAL_E_FORMAT, "%s: its list of metrics is damaged", store->path)
            : end_of_rows(store, step, err);
    sqlite3_finalize(statement);
    return code;
}

static enum bal_code prepare_statements(struct bli_store *store, struct bal_error *err) {
    for (int i = 0; i < STATEMENTS; i++)
        if ((i != PUT_TRIAL || store->lock >= 0) &&
            sqlite3_prepare_v3(store->db, store->others || !older_text[i] ? statement_text[i] : older_text[i],
                               -1, SQLITE_PREPARE_PERSISTENT, &store->statement[i], NULL) != SQLITE_OK)
            return bli_store_fail(store, "cannot be used", err);
    return BAL_OK;
}

static enum bal_code open_writing(struct bli_store *store, struct bal_error *err) {
    enum bal_code code = lock_file(store, err);
    if (code)
        return code;
    if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL) !=
        SQLITE_OK)
        return bli_store_fail(store, "cannot be opened", err);
    sqlite3_busy_timeout(store->db, LOCK_WAIT);
    int64_t tables = 0;
    code = query_number(store, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (!code && tables == 0)
        code = create_tables(store, err);
    if (!code)
        code = bli_store_execute(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", err);
    if (!code)
        code = find_makers(store, err);
    if (!code && !store->makers)
        code = add_makers(store, err);
    if (!code)
        code = find_others(store, err);
    if (!code && !store->others)
        code = add_others(store, err);
    if (!code)
        code = read_metrics(store, err);
    return code ? code : add_metrics(store, err);
}

/* Bytes of the write-ahead log; 0 when there is none. */
static int64_t log_size(const char *path) {
    char *name = NULL;
    struct stat about;
    const bool found = asprintf(&name, "%s-wal", path) >= 0 && stat(name, &about) == 0;
    free(name);
    return found ? about.st_size : 0;
}

static bool is_written(const char *path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool locked = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (file >= 0)
        close(file);
    return locked;
}

/* A path as the file: URI that SQLite understands. */
static char *path_as_uri(const char *path, const char *query) {
    char *uri = malloc(3 * strlen(path) + strlen(query) + 8);
    if (!uri)
        return NULL;
    char *at = uri + sprintf(uri, "file:");
    for (; *path; path++)
        at += strchr("%?#", *path) ? sprintf(at, "%%%02x", (unsigned char)*path) : sprintf(at, "%c", *path);
    strcpy(at, query);
    return uri;
}

static enum bal_code open_with(struct bli_store *store, const char *name, int flags, struct bal_error *err) {
    sqlite3_close(store->db);
    store->db = NULL;
    store->places = 0;
    if (sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_FULLMUTEX, NULL) != SQLITE_OK)
        return bli_store_fail(store, "cannot be opened", err);
    sqlite3_busy_timeout(store->db, LOCK_WAIT);
    enum bal_code code = bli_store_execute(store, "PRAGMA query_only = ON;", err);
    if (!code)
        code = find_makers(store, err);
    if (!code)
        code = find_others(store, err);
    return code ? code : read_metrics(store, err);
}

/* There is no writer, and the log is empty: the file can be read directly. */
static enum bal_code open_immutable(struct bli_store *store, struct bal_error *err) {
    char *uri = path_as_uri(store->path, "?immutable=1");
    if (!uri)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to open it", store->path);
    const enum bal_code code = open_with(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    free(uri);
    return code;
}

/* A reader makes the files that go with WAL if they are not there. It is opened for writing although it does
 * not write: only then the last one removes them again. If they cannot be made (no permission, a full disk),
 * it reads without them. */
static enum bal_code open_reading(struct bli_store *store, struct bal_error *err) {
    enum bal_code code = check_file(store->path, err);
    if (code)
        return code;
    const bool writable = access(store->path, W_OK) == 0;
    if (!writable && log_size(store->path) == 0 && !is_written(store->path))
        return open_immutable(store, err);
    code = open_with(store, store->path, writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, err);
    const int why = store->db ? sqlite3_errcode(store->db) & 0xff : SQLITE_NOMEM;
    if (code &&
        (why == SQLITE_CANTOPEN || why == SQLITE_READONLY || why == SQLITE_IOERR || why == SQLITE_FULL) &&
        log_size(store->path) == 0 && !is_written(store->path))
        code = open_immutable(store, err);
    return code;
}

/* The lock is given up last: until then the file is ours to remove. And closing a file gives up every lock of
 * the process on it, SQLite's too. */
static void close_store(struct bli_store *store, bool remove) {
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(store->statement[i]);
    sqlite3_close(store->db);
    if (remove)
        unlink(store->path);
    if (store->lock >= 0)
        close(store->lock);
    free(store->path);
    free(store);
}

enum bal_code bli_store_open(const char *path, enum bli_store_access access, struct bli_store **store,
                             struct bal_error *err) {
    struct bli_store *result = calloc(1, sizeof *result);
    if (!result || !(result->path = strdup(path))) {
        free(result);
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory to open it", path);
    }
    result->lock = -1;
    enum bal_code code = access == BLI_STORE_WRITE ? open_writing(result, err) : open_reading(result, err);
    if (!code)
        code = prepare_statements(result, err);
    if (code) {
        close_store(result, result->created);
        return code;
    }
    *store = result;
    return BAL_OK;
}

void bli_store_close(struct bli_store *store) {
    if (store)
        close_store(store, false);
}

void bli_store_abandon(struct bli_store *store) {
    close_store(store, store->created);
}

/* ---- cells and trials ---- */

enum bal_code bli_store_cell(struct bli_store *store, const char *identity, bool create, int64_t *cell,
                             struct bal_error *err) {
    *cell = 0;
    sqlite3_stmt *find = store->statement[FIND_CELL], *add = store->statement[ADD_CELL];
    sqlite3_bind_text(find, 1, identity, -1, SQLITE_STATIC);
    const int found = sqlite3_step(find);
    if (found == SQLITE_ROW)
        *cell = sqlite3_column_int64(find, 0);
    enum bal_code code =
        found == SQLITE_ROW || found == SQLITE_DONE ? BAL_OK : bli_store_fail(store, "cannot be read", err);
    sqlite3_reset(find);
    if (code || *cell || !create)
        return code;
    sqlite3_bind_text(add, 1, identity, -1, SQLITE_STATIC);
    if (sqlite3_step(add) == SQLITE_DONE)
        *cell = sqlite3_last_insert_rowid(store->db);
    else
        code = bli_store_fail(store, "cannot be written", err);
    sqlite3_reset(add);
    return code;
}

enum bal_code bli_store_group(struct bli_store *store, struct bal_error *err) {
    return bli_store_execute(store, "BEGIN IMMEDIATE", err);
}

enum bal_code bli_store_ungroup(struct bli_store *store, bool keep, struct bal_error *err) {
    return bli_store_execute(store, keep ? "COMMIT" : "ROLLBACK", err);
}

/* Marks a metric that the writer did not know: a NaN that no computation makes. */
static double missing_value(void) {
    const uint64_t bits = 0x7ff8ba11a57bad00u;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void bli_store_mark_missing(uint8_t *bytes) {
    const double mark = missing_value();
    bli_pack_doubles(&mark, 1, bytes);
}

static bool is_missing(double value) {
    const double mark = missing_value();
    return memcmp(&value, &mark, sizeof value) == 0;
}

/* Is a trial complete without it? Versions that did not know the metrics of stealing could not steal; and
 * without the drift there is still MSER-5 to judge by. */
static bool may_be_missing(int metric) {
    return metric >= BLI_STEALING_REQUESTS || metric == BLI_DRIFT;
}

/* Reads the list of metrics in a column; false when one of ours is not in it that should be. */
static bool column_metrics(const struct bli_store *store, sqlite3_stmt *statement, int column,
                           double *metric) {
    const uint8_t *bytes = sqlite3_column_blob(statement, column);
    const int count = sqlite3_column_bytes(statement, column) / 8;
    for (int m = 0; m < BLI_METRIC_COUNT; m++) {
        metric[m] = missing_value();
        if (store->place[m] >= 0 && store->place[m] < count)
            bli_unpack_doubles(bytes + 8 * store->place[m], 1, &metric[m]);
        if (!is_missing(metric[m]))
            continue;
        if (!may_be_missing(m))
            return false;
        metric[m] = NAN;
    }
    return true;
}

enum bal_code bli_store_list(struct bli_store *store, int64_t cell, unsigned limit, bool distributions,
                             void (*found)(void *context, unsigned replication), void *context,
                             struct bal_error *err) {
    sqlite3_stmt *list = store->statement[LIST_TRIALS];
    sqlite3_bind_int64(list, 1, cell);
    sqlite3_bind_int64(list, 2, limit);
    int step;
    while ((step = sqlite3_step(list)) == SQLITE_ROW) {
        double metric[BLI_METRIC_COUNT];
        const bool complete =
            column_metrics(store, list, 1, metric) && (!distributions || sqlite3_column_int(list, 2));
        if (!bli_store_is_whole(store))
            break;
        if (complete)
            found(context, (unsigned)sqlite3_column_int64(list, 0));
    }
    const enum bal_code code = end_of_rows(store, step, err);
    sqlite3_reset(list);
    return code;
}

static enum bli_engine engine_of_text(const char *text) {
    for (int i = 0; i < BLI_ENGINE_COUNT; i++)
        if (text && strcmp(text, bli_engine_text((enum bli_engine)i)) == 0)
            return (enum bli_engine)i;
    return BLI_ENGINE_AUTO;
}

/* As many numbers as there are, the rest 0. */
static void column_doubles(sqlite3_stmt *statement, int column, double *value, size_t room) {
    const size_t count = (size_t)sqlite3_column_bytes(statement, column) / 8;
    bli_unpack_doubles(sqlite3_column_blob(statement, column), count < room ? count : room, value);
}

static void column_trial(sqlite3_stmt *get, struct bli_trial *trial) {
    trial->engine = engine_of_text((const char *)sqlite3_column_text(get, 2));
    trial->jobs = (uint64_t)sqlite3_column_int64(get, 3);
    trial->events = (uint64_t)sqlite3_column_int64(get, 4);
    trial->warmup = sqlite3_column_double(get, 5);
    trial->seconds = sqlite3_column_double(get, 6);
    column_doubles(get, 7, trial->quarter, 4);
    column_doubles(get, 8, trial->tail, BLI_TAIL_LEVELS);
}

enum bal_code bli_store_get(struct bli_store *store, int64_t cell, unsigned limit, struct bli_trial *trial,
                            unsigned *which, size_t *count, struct bal_error *err) {
    sqlite3_stmt *get = store->statement[GET_TRIALS];
    sqlite3_bind_int64(get, 1, cell);
    sqlite3_bind_int64(get, 2, limit);
    *count = 0;
    int step;
    while ((step = sqlite3_step(get)) == SQLITE_ROW && *count < limit) {
        trial[*count] = (struct bli_trial){0};
        const bool complete = column_metrics(store, get, 1, trial[*count].metric);
        column_trial(get, &trial[*count]);
        if (!bli_store_is_whole(store))
            break;
        if (!complete)
            continue;
        if (which)
            which[*count] = (unsigned)sqlite3_column_int64(get, 0);
        (*count)++;
    }
    const enum bal_code code =
        step == SQLITE_ROW && bli_store_is_whole(store) ? BAL_OK : end_of_rows(store, step, err);
    sqlite3_reset(get);
    return code;
}

/* Levels that are not 0. */
static size_t tail_length(const struct bli_trial *trial) {
    size_t length = BLI_TAIL_LEVELS;
    while (length > 0 && trial->tail[length - 1] == 0)
        length--;
    return length;
}

enum { OTHERS = BLI_OF_WAITING + 1 }; /* the first distribution that has no column of its own */

struct packed {
    double metric[BLI_STORE_METRICS];
    uint8_t metrics[8 * BLI_STORE_METRICS], tail[8 * BLI_TAIL_LEVELS], quarters[8 * 4];
    uint8_t response[BLI_PACKED_HISTOGRAM], waiting[BLI_PACKED_HISTOGRAM];
    uint8_t others[8 * BLI_DISTRIBUTIONS + (BLI_DISTRIBUTIONS - OTHERS) * BLI_PACKED_HISTOGRAM];
};

static void bind_blob(sqlite3_stmt *statement, int place, const uint8_t *bytes, size_t size) {
    sqlite3_bind_blob(statement, place, bytes, (int)size, SQLITE_STATIC);
}

static void bind_trial(struct bli_store *store, sqlite3_stmt *put, const struct bli_trial *trial,
                       struct packed *packed) {
    for (int i = 0; i < store->places; i++)
        packed->metric[i] =
            store->metric[i] < BLI_METRIC_COUNT ? trial->metric[store->metric[i]] : missing_value();
    bli_pack_doubles(packed->metric, (size_t)store->places, packed->metrics);
    bli_pack_doubles(trial->tail, tail_length(trial), packed->tail);
    bli_pack_doubles(trial->quarter, 4, packed->quarters);
    sqlite3_bind_text(put, 3, bli_engine_text(trial->engine), -1, SQLITE_STATIC);
    sqlite3_bind_int64(put, 4, (int64_t)trial->jobs);
    sqlite3_bind_int64(put, 5, (int64_t)trial->events);
    sqlite3_bind_double(put, 6, trial->warmup);
    sqlite3_bind_double(put, 7, trial->seconds);
    bind_blob(put, 8, packed->quarters, sizeof packed->quarters);
    bind_blob(put, 9, packed->metrics, 8 * (size_t)store->places);
    bind_blob(put, 10, packed->tail, 8 * tail_length(trial));
    bind_blob(put, 11, packed->response,
              bli_pack_histogram(trial->histogram[BLI_OF_RESPONSE], packed->response));
    bind_blob(put, 12, packed->waiting,
              bli_pack_histogram(trial->histogram[BLI_OF_WAITING], packed->waiting));
    bind_blob(put, 14, packed->others, bli_pack_histograms(trial, OTHERS, packed->others));
}

enum bal_code bli_store_put(struct bli_store *store, int64_t cell, unsigned replication,
                            const struct bli_trial *trial, struct bal_error *err) {
    struct packed *packed = malloc(sizeof *packed);
    if (!packed)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory", store->path);
    sqlite3_stmt *put = store->statement[PUT_TRIAL];
    sqlite3_bind_int64(put, 1, cell);
    sqlite3_bind_int64(put, 2, replication);
    bind_trial(store, put, trial, packed);
    if (store->maker)
        sqlite3_bind_int64(put, 13, store->maker);
    const enum bal_code code =
        sqlite3_step(put) == SQLITE_DONE ? BAL_OK : bli_store_fail(store, "a result cannot be written", err);
    sqlite3_reset(put);
    sqlite3_clear_bindings(put);
    free(packed);
    return code;
}

/* Adds the histograms of a row to those of the trial that are set. */
static bool column_histograms(sqlite3_stmt *get, struct bli_trial *trial) {
    bool good = true;
    for (int i = 0; i < OTHERS; i++)
        if (trial->histogram[i])
            good =
                good && bli_unpack_histogram(sqlite3_column_blob(get, 2 + i),
                                             (size_t)sqlite3_column_bytes(get, 2 + i), trial->histogram[i]);
    const size_t size = (size_t)sqlite3_column_bytes(get, 2 + OTHERS);
    return good &&
           (size == 0 || bli_unpack_histograms(sqlite3_column_blob(get, 2 + OTHERS), size, OTHERS, trial));
}

enum bal_code bli_store_each_histogram(struct bli_store *store, int64_t cell, unsigned limit,
                                       struct bli_trial *into,
                                       void (*taken)(void *context, unsigned replication), void *context,
                                       struct bal_error *err) {
    sqlite3_stmt *get = store->statement[GET_HISTOGRAMS];
    sqlite3_bind_int64(get, 1, cell);
    sqlite3_bind_int64(get, 2, limit);
    int step = SQLITE_DONE;
    bool good = true;
    while (good && (step = sqlite3_step(get)) == SQLITE_ROW) {
        double metric[BLI_METRIC_COUNT];
        const bool complete = column_metrics(store, get, 1, metric);
        good = bli_store_is_whole(store);
        if (!complete)
            continue;
        good = good && column_histograms(get, into);
        if (good && taken)
            taken(context, (unsigned)sqlite3_column_int64(get, 0));
    }
    const enum bal_code code = good || !bli_store_is_whole(store)
                                   ? end_of_rows(store, step, err)
                                   : bal_fail(err, BAL_E_FORMAT, "%s: a histogram is damaged", store->path);
    sqlite3_reset(get);
    return code;
}

enum bal_code bli_store_add_histograms(struct bli_store *store, int64_t cell, unsigned limit,
                                       struct bli_histogram *response, struct bli_histogram *waiting,
                                       struct bal_error *err) {
    struct bli_trial into = {.histogram = {response, waiting}};
    return bli_store_each_histogram(store, cell, limit, &into, NULL, NULL, err);
}

struct quantiles {
    const struct bli_asked *asked;
    struct bli_histogram *histogram;
    double *value;
};

static void read_quantile(void *context, unsigned replication) {
    const struct quantiles *to = context;
    to->value[replication] =
        bli_distribution_quantile(to->histogram, to->asked->quantile, to->asked->unit, to->asked->slotted);
    memset(to->histogram, 0, sizeof *to->histogram);
}

enum bal_code bli_store_quantiles(struct bli_store *store, int64_t cell, unsigned limit,
                                  const struct bli_asked *asked, double *value, struct bal_error *err) {
    struct quantiles to = {asked, calloc(1, sizeof *to.histogram), value};
    if (!to.histogram)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory", store->path);
    struct bli_trial into = {.jobs = 0};
    into.histogram[asked->distribution] = to.histogram;
    const enum bal_code code = bli_store_each_histogram(store, cell, limit, &into, read_quantile, &to, err);
    free(to.histogram);
    return code;
}
