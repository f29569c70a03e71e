/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials that were measured on real processes: further facts about them, stored next to them by name. */
#include "spec/plan.h"
#include "store/store_file.h"
#include "store/store_private.h"

#include <math.h>
#include <stdlib.h>

static const char table[] =
    "CREATE TABLE IF NOT EXISTS fact(cell INTEGER NOT NULL, replication INTEGER NOT NULL, name TEXT NOT NULL,"
    " value REAL NOT NULL, PRIMARY KEY(cell, replication, name));";

static enum bal_code find_cell(struct bli_store *store, const struct bli_experiment *e, size_t point,
                               size_t policy, bool create, int64_t *cell, struct bal_error *err) {
    struct bli_case c;
    bli_experiment_case(e, point, policy, &c);
    char *identity = bli_plan_identity(&c);
    if (!identity)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    *cell = 0;
    const enum bal_code code = bli_store_cell(store, identity, create, cell, err);
    free(identity);
    return code;
}

static sqlite3_stmt *prepare_for_cell(struct bli_store *store, const char *sql, int64_t cell) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK)
        sqlite3_bind_int64(statement, 1, cell);
    return statement;
}

enum bal_code bli_store_create_facts(struct bli_store *store, struct bal_error *err) {
    return bli_store_execute(store, table, err);
}

static enum bal_code insert_facts(struct bli_store *store, int64_t cell, unsigned replication,
                                  const struct bli_fact *fact, size_t count, struct bal_error *err) {
    enum bal_code code = bli_store_create_facts(store, err);
    sqlite3_stmt *put =
        code ? NULL : prepare_for_cell(store, "INSERT OR REPLACE INTO fact VALUES(?1, ?2, ?3, ?4)", cell);
    bool failed = !put;
    for (size_t i = 0; !failed && i < count; i++) {
        sqlite3_bind_int64(put, 2, replication);
        sqlite3_bind_text(put, 3, fact[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_double(put, 4, fact[i].value);
        failed = sqlite3_step(put) != SQLITE_DONE;
        sqlite3_reset(put);
    }
    if (!code && failed)
        code = bli_store_fail(store, "a result cannot be written", err);
    sqlite3_finalize(put);
    return code;
}

enum bal_code bli_store_put_measured(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                     size_t policy, unsigned replication, const struct bli_trial *trial,
                                     const struct bli_fact *fact, size_t facts, struct bal_error *err) {
    int64_t cell;
    enum bal_code code = find_cell(store, e, point, policy, true, &cell, err);
    if (!code)
        code = bli_store_group(store, err);
    if (code)
        return code;
    code = insert_facts(store, cell, replication, fact, facts, err);
    if (!code)
        code = bli_store_put(store, cell, replication, trial, err);
    if (code)
        bli_store_ungroup(store, false, NULL);
    else
        code = bli_store_ungroup(store, true, err);
    return code;
}

enum bal_code bli_store_read_facts(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                   size_t policy, const char *name, double *value, size_t rounds,
                                   struct bal_error *err) {
    int64_t cell;
    for (size_t i = 0; i < rounds; i++)
        value[i] = NAN;
    const enum bal_code code = find_cell(store, e, point, policy, false, &cell, err);
    if (code || !cell)
        return code;
    sqlite3_stmt *get =
        prepare_for_cell(store, "SELECT replication, value FROM fact WHERE cell = ?1 AND name = ?2", cell);
    if (!get) /* a store in which nothing was ever measured */
        return BAL_OK;
    sqlite3_bind_text(get, 2, name, -1, SQLITE_STATIC);
    while (sqlite3_step(get) == SQLITE_ROW) {
        const int64_t replication = sqlite3_column_int64(get, 0);
        if (replication >= 0 && (size_t)replication < rounds)
            value[replication] = sqlite3_column_double(get, 1);
    }
    sqlite3_finalize(get);
    return BAL_OK;
}

enum bal_code bli_store_adopt_delays(struct bli_store *store, const struct bli_experiment *e,
                                     struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (size_t point = 0; e->live && !code && point < e->points; point++)
        for (size_t p = 0; !code && p < e->policies; p++) {
            double delay = NAN; /* of the first block, where it is measured */
            if (e->policy[p].real)
                code = bli_store_read_facts(store, e, point, p, "delay", &delay, 1, err);
            if (delay > 0)
                bli_experiment_set_delay(e, point, p, delay);
        }
    return code;
}

static void mark_replication(void *context, unsigned replication) {
    ((bool *)context)[replication] = true;
}

enum bal_code bli_store_measured(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                 size_t policy, bool *there, size_t rounds, struct bal_error *err) {
    int64_t cell;
    for (size_t i = 0; i < rounds; i++)
        there[i] = false;
    const enum bal_code code = find_cell(store, e, point, policy, false, &cell, err);
    return code || !cell ? code
                         : bli_store_list(store, cell, (unsigned)rounds, false, mark_replication, there, err);
}

enum bal_code bli_store_delete_cell(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                    size_t policy, struct bal_error *err) {
    int64_t cell;
    const enum bal_code code = find_cell(store, e, point, policy, false, &cell, err);
    if (code || !cell)
        return code;
    sqlite3_stmt *remove = prepare_for_cell(store, "DELETE FROM trial WHERE cell = ?1", cell);
    const bool done = remove && sqlite3_step(remove) == SQLITE_DONE;
    sqlite3_finalize(remove);
    return done ? BAL_OK : bli_store_fail(store, "a result cannot be forgotten", err);
}
