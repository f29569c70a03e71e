/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands that computed trials of a run: kept apart from the trials, which do not depend on them, so
 * that stores that were computed in parts and merged have the same trials as one that was not. */
#include "store/recorded_commands.h"

#include "store/store_private.h"

#include <stdlib.h>
#include <string.h>

/* A table that came later: made when it is first written to. */
enum bal_code bli_store_create_commands(struct bli_store *store, struct bal_error *err) {
    return bli_store_execute(store,
                             "CREATE TABLE IF NOT EXISTS command(run INTEGER NOT NULL, started TEXT NOT NULL,"
                             " text TEXT NOT NULL, maker INTEGER, PRIMARY KEY(run, started, text));",
                             err);
}

enum bal_code bli_store_has_commands(struct bli_store *store, bool *has, struct bal_error *err) {
    sqlite3_stmt *find = NULL;
    int step = SQLITE_ERROR;
    if (sqlite3_prepare_v2(store->db, "SELECT 1 FROM sqlite_schema WHERE name = 'command'", -1, &find,
                           NULL) == SQLITE_OK)
        step = sqlite3_step(find);
    *has = step == SQLITE_ROW;
    const enum bal_code code =
        step == SQLITE_ROW || step == SQLITE_DONE ? BAL_OK : bli_store_fail(store, "cannot be read", err);
    sqlite3_finalize(find);
    return code;
}

enum bal_code bli_store_add_command(struct bli_store *store, int64_t run, const char *command,
                                    struct bal_error *err) {
    sqlite3_stmt *add = NULL;
    enum bal_code code = bli_store_create_commands(store, err);
    if (code)
        return code;
    if (sqlite3_prepare_v2(store->db,
                           "INSERT OR IGNORE INTO command VALUES(?1, (SELECT latest FROM run WHERE id = ?1),"
                           " ?2, ?3)",
                           -1, &add, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(add, 1, run);
        sqlite3_bind_text(add, 2, command, -1, SQLITE_STATIC);
        sqlite3_bind_int64(add, 3, store->maker);
    }
    if (!add || sqlite3_step(add) != SQLITE_DONE)
        code = bli_store_fail(store, "cannot be written", err);
    sqlite3_finalize(add);
    return code;
}

/* ---- reading ---- */

enum { TEXTS = 3 };

/* Two passes over the same rows: first the size that is needed, then the copies. */
static enum bal_code copy_commands(struct bli_store *store, sqlite3_stmt *list,
                                   struct bli_store_command **commands, size_t *count,
                                   struct bal_error *err) {
    size_t rows = 0, bytes = 0;
    int step;
    for (; (step = sqlite3_step(list)) == SQLITE_ROW; rows++)
        for (int i = 0; i < TEXTS; i++)
            bytes += (size_t)sqlite3_column_bytes(list, i) + 1;
    if (step != SQLITE_DONE)
        return bli_store_fail(store, "cannot be read", err);
    *commands = malloc(rows * sizeof **commands + bytes + 1);
    if (!*commands)
        return bal_fail(err, BAL_E_MEMORY, "%s: not enough memory", store->path);
    sqlite3_reset(list);
    char *end = (char *)(*commands + rows);
    for (; *count < rows && sqlite3_step(list) == SQLITE_ROW; (*count)++) {
        const char **const text[TEXTS] = {&(*commands)[*count].started, &(*commands)[*count].text,
                                          &(*commands)[*count].version};
        for (int i = 0; i < TEXTS; i++) {
            const char *stored = (const char *)sqlite3_column_text(list, i);
            *text[i] = end;
            end = stpcpy(end, stored ? stored : "") + 1;
        }
    }
    return *count == rows && bli_store_is_whole(store) ? BAL_OK
                                                       : bli_store_fail(store, "cannot be read", err);
}

enum bal_code bli_store_commands(struct bli_store *store, int64_t run, struct bli_store_command **commands,
                                 size_t *count, struct bal_error *err) {
    bool has = false;
    *commands = NULL;
    *count = 0;
    enum bal_code code = bli_store_has_commands(store, &has, err);
    if (code || !has)
        return code;
    sqlite3_stmt *list = NULL;
    code = bli_store_execute(store, "BEGIN", err);
    if (code)
        return code;
    if (sqlite3_prepare_v2(store->db,
                           "SELECT started, text, maker.version FROM command"
                           " LEFT JOIN maker ON maker.id = command.maker WHERE run = ?1 ORDER BY 1, 2",
                           -1, &list, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(list, 1, run);
        code = copy_commands(store, list, commands, count, err);
    } else {
        code = bli_store_fail(store, "cannot be read", err);
    }
    sqlite3_finalize(list);
    bli_store_execute(store, "COMMIT", NULL);
    if (code) {
        free(*commands);
        *commands = NULL;
        *count = 0;
    }
    return code;
}
