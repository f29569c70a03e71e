/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of changes in shared memory, and the directive `ballast_state FILE;`. */
#include "changes_zone.h"

#include "directive_option.h"
#include "journal.h"
#include "process.h"
#include "upstream.h"

#include <stdio.h>
#include <string.h>

/* How often to wait for another process that writes the file, BLI_NGX_LOCK_MS each. */
enum { WRITER_WAITS = 10 };

/* A process may be killed while it stores a table: the one that counts is `side[generation % 2]`, and a new
 * one is written to the other side first. */
struct bli_ngx_changes_table {
    bli_ngx_lock lock;   /* of reading and storing */
    bli_ngx_lock writer; /* of editing, with the file */
    uint64_t generation;
    struct bli_changes side[2];
};

/* ---- shared memory ---- */

static size_t zone_size(void) {
    const size_t pages = sizeof(struct bli_ngx_changes_table) / ngx_pagesize + 1;
    return (pages + 8) * ngx_pagesize + pages * 2 * sizeof(ngx_slab_page_t);
}

/* A file that cannot be read is kept for anyone who wants to know, as the next change would replace it. */
static void keep_unreadable(const struct bli_ngx_changes *changes, ngx_log_t *log) {
    char bad[BLI_NGX_PATH + 8];
    const char *path = (const char *)changes->file.data;
    if (!changes->unreadable || ngx_test_config)
        return;
    snprintf(bad, sizeof bad, "%s.bad", path);
    const bool kept = rename(path, bad) == 0;
    ngx_log_error(NGX_LOG_ERR, log, kept ? 0 : ngx_errno,
                  "ballast_state: %s: %s; nginx starts without changes: servers are as configured; the file "
                  "%s %s",
                  path, changes->unreadable, kept ? "is now" : "could not be renamed to", bad);
}

static void fill_table(struct bli_ngx_changes_table *table, const struct bli_changes *initial) {
    const uint64_t started = bli_ngx_wall() / 1000000; /* so that no generation comes again without a file */
    table->generation = initial && initial->generation ? initial->generation : started;
    struct bli_changes *side = &table->side[table->generation % 2];
    if (initial)
        *side = *initial;
    side->generation = table->generation;
}

static ngx_int_t init_zone(ngx_shm_zone_t *shm, void *old) {
    struct bli_ngx_changes *changes = shm->data;
    ngx_slab_pool_t *pool = (ngx_slab_pool_t *)(void *)shm->shm.addr;
    if (!old && !shm->shm.exists) {
        pool->log_ctx = (u_char *)" in the zone of ballast_api";
        pool->data = ngx_slab_calloc(pool, sizeof(struct bli_ngx_changes_table));
        if (!pool->data)
            return NGX_ERROR;
        fill_table(pool->data, changes->initial);
        keep_unreadable(changes, shm->shm.log);
    }
    changes->table = pool->data;
    return NGX_OK;
}

/* ---- reading and writing ---- */

uint64_t bli_ngx_changes_generation(const struct bli_ngx_changes *changes) {
    return changes->used ? __atomic_load_n(&changes->table->generation, __ATOMIC_ACQUIRE) : 0;
}

const struct bli_changes *bli_ngx_changes_lock(struct bli_ngx_changes *changes) {
    if (!bli_ngx_lock_acquire(&changes->table->lock, &changes->stalled))
        return NULL;
    changes->stalled = 0;
    return &changes->table->side[changes->table->generation % 2];
}

void bli_ngx_changes_unlock(struct bli_ngx_changes *changes) {
    bli_ngx_lock_release(&changes->table->lock);
}

static bool lock_writer(struct bli_ngx_changes *changes) {
    for (int i = 0; i < WRITER_WAITS; i++) {
        changes->stalled_writer = 0;
        if (bli_ngx_lock_acquire(&changes->table->writer, &changes->stalled_writer))
            return true;
    }
    return false;
}

struct bli_changes *bli_ngx_changes_edit(struct bli_ngx_changes *changes) {
    changes->copy = changes->copy ? changes->copy : ngx_alloc(sizeof *changes->copy, ngx_cycle->log);
    if (!changes->copy || !lock_writer(changes))
        return NULL;
    const struct bli_changes *table = bli_ngx_changes_lock(changes);
    if (!table) {
        bli_ngx_changes_abandon(changes);
        return NULL;
    }
    *changes->copy = *table;
    bli_ngx_changes_unlock(changes);
    return changes->copy;
}

void bli_ngx_changes_abandon(struct bli_ngx_changes *changes) {
    bli_ngx_lock_release(&changes->table->writer);
    bli_ngx_journal_write();
}

/* Only writers change the generation, and this process is the writer. */
static enum bal_code store(struct bli_ngx_changes *changes, struct bal_error *err) {
    struct bli_ngx_changes_table *table = changes->table;
    if (!bli_ngx_changes_lock(changes))
        return bal_fail(err, BAL_E_IO, "a process that holds the lock of the changes does not run");
    table->side[changes->copy->generation % 2] = *changes->copy;
    __atomic_store_n(&table->generation, changes->copy->generation, __ATOMIC_RELEASE);
    bli_ngx_changes_unlock(changes);
    return BAL_OK;
}

/* What is not made must not come with the next start. Only this process, the writer, changes the table: it
 * can be read without its lock. */
static void restore_file(const struct bli_ngx_changes *changes) {
    const struct bli_ngx_changes_table *table = changes->table;
    if (changes->file.len)
        (void)bli_ngx_state_file_write((const char *)changes->file.data, &table->side[table->generation % 2],
                                       NULL);
}

enum bal_code bli_ngx_changes_commit(struct bli_ngx_changes *changes, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    changes->copy->generation++;
    if (changes->file.len)
        code = bli_ngx_state_file_write((const char *)changes->file.data, changes->copy, err);
    if (!code) {
        code = store(changes, err);
        if (code)
            restore_file(changes);
    }
    bli_ngx_changes_abandon(changes);
    return code;
}

/* ---- configuration ---- */

char *bli_ngx_changes_directive_state(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    struct bli_ngx_changes *changes = bli_ngx_changes_conf(cf);
    ngx_str_t *text = cf->args->elts;
    char directory[BLI_NGX_PATH];
    ngx_file_info_t info;
    (void)command, (void)conf;
    if (changes->file.len)
        return (char *)"is duplicate";
    changes->file = text[1];
    if (text[1].len == 0 || ngx_conf_full_name(cf->cycle, &changes->file, 0) != NGX_OK)
        return (char *)"needs the name of a file";
    const char *path = (const char *)changes->file.data;
    if (changes->file.len >= BLI_NGX_PATH || !bli_ngx_state_file_directory(path, directory))
        return (char *)"has a name that is too long";
    if (ngx_file_info(directory, &info) == NGX_FILE_ERROR || !ngx_is_dir(&info)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "ballast_state: there is no directory %s; make one that workers may write to, as "
                           "they replace the file in it",
                           directory);
        return NGX_CONF_ERROR;
    }
    if (ngx_file_info(path, &info) != NGX_FILE_ERROR && !ngx_is_file(&info)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast_state: %s is no file; use the name of one", path);
        return NGX_CONF_ERROR;
    }
    changes->used = true;
    return NGX_CONF_OK;
}

/* A server that was added must have an address that can be read. */
static enum bal_code check_added(ngx_conf_t *cf, const struct bli_changes *changes, struct bal_error *err) {
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct bli_change *c = &changes->change[i];
        char name[BAL_SERVER_NAME];
        if (c->presence != BLI_SERVER_ADDED && c->presence != BLI_SERVER_ADDED_BACKUP)
            continue;
        if (!bli_ngx_peers_name_server(cf->pool, c->server, name) || strcmp(name, c->server) != 0)
            return bal_fail(err, BAL_E_SYNTAX, "server \"%s\" was added, and is no address", c->server);
    }
    return BAL_OK;
}

/* What cannot be understood does not keep nginx from starting: that would turn a bad file into an outage. */
static ngx_int_t read_file(ngx_conf_t *cf, struct bli_ngx_changes *changes) {
    const char *path = (const char *)changes->file.data;
    struct bal_error err;
    changes->initial = ngx_pcalloc(cf->pool, sizeof *changes->initial);
    if (!changes->initial)
        return NGX_ERROR;
    enum bal_code code = bli_ngx_state_file_read(cf->pool, path, changes->initial, &err);
    if (!code)
        code = check_added(cf, changes->initial, &err);
    if (code == BAL_E_IO) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "ballast_state: %s cannot be read: %s", path, err.text);
        return NGX_ERROR;
    }
    if (!code)
        return NGX_OK;
    changes->initial = NULL;
    if (code == BAL_E_UNKNOWN)
        return NGX_OK;
    changes->unreadable = ngx_pcalloc(cf->pool, strlen(err.text) + 1);
    if (!changes->unreadable)
        return NGX_ERROR;
    strcpy(changes->unreadable, err.text);
    if (ngx_test_config)
        ngx_log_error(NGX_LOG_ERR, cf->log, 0,
                      "ballast_state: %s: %s; with this file nginx starts without changes", path, err.text);
    return NGX_OK;
}

ngx_int_t bli_ngx_changes_init(ngx_conf_t *cf) {
    struct bli_ngx_changes *changes = bli_ngx_changes_conf(cf);
    static const char prefix[] = "ballast:changes:";
    ngx_str_t name = {sizeof prefix - 1 + changes->file.len, NULL};
    if (!changes->used)
        return NGX_OK;
    if (changes->file.len && read_file(cf, changes) != NGX_OK)
        return NGX_ERROR;
    name.data = ngx_pnalloc(cf->pool, name.len);
    if (!name.data)
        return NGX_ERROR;
    ngx_memcpy(ngx_cpymem(name.data, prefix, sizeof prefix - 1), changes->file.data, changes->file.len);
    changes->shm = ngx_shared_memory_add(cf, &name, zone_size(), &ngx_http_ballast_module);
    if (!changes->shm)
        return NGX_ERROR;
    changes->shm->init = init_zone;
    changes->shm->data = changes;
    return NGX_OK;
}

/* Workers write the file, and they may be another user than the one that reads it. */
ngx_int_t bli_ngx_changes_init_process(ngx_cycle_t *cycle) {
    const struct bli_ngx_changes *changes =
        ngx_http_cycle_get_module_main_conf(cycle, ngx_http_ballast_module) ? bli_ngx_changes_running()
                                                                            : NULL;
    char directory[BLI_NGX_PATH];
    if (!changes || !changes->file.len || ngx_worker != 0 ||
        !bli_ngx_state_file_directory((const char *)changes->file.data, directory))
        return NGX_OK;
    if (access(directory, W_OK | X_OK) == -1)
        ngx_log_error(NGX_LOG_WARN, cycle->log, ngx_errno,
                      "ballast_state: workers may not write to %s, so that no server can be changed",
                      directory);
    return NGX_OK;
}
