/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers changed at run time, in shared memory: what all workers apply on top of their configuration.
 *
 *     ballast_api            in a location: reads and changes the table (api.c)
 *     ballast_state FILE     in http: keeps it over restarts (state_file.c)
 *
 * The table is a zone of its own, so reloads keep it, whatever they change. A writer edits a copy, has it
 * written to the file, and then stores it: a change that has been answered is in both. Each process compares
 * the generation at its ticks, lists its servers again when it is another one, and applies the list to the
 * block, unless another process has done so. */
#ifndef NGINX_CHANGES_ZONE_H
#define NGINX_CHANGES_ZONE_H

#include "compat.h"
#include "control/changes.h"
#include "lock.h"

struct bal_ngx_peers;

/* Of http {}. */
struct bal_ngx_changes {
    bool used;      /* there is a ballast_api or a ballast_state */
    ngx_str_t file; /* of ballast_state, terminated; empty: none */
    ngx_shm_zone_t *shm;
    struct bal_changes *initial;         /* what the file has; NULL: nothing that can be read ... */
    char *unreadable;                    /* ... and why not, though it is there; NULL: there is none */
    struct bal_ngx_changes_table *table; /* in shared memory */
    /* Of this process: */
    bal_ngx_lock stalled, stalled_writer;
    struct bal_changes *copy; /* that is being edited */
};

/* ---- configuration ---- */

struct bal_ngx_changes *bal_ngx_changes_conf(ngx_conf_t *cf);
/* Of the running configuration. */
struct bal_ngx_changes *bal_ngx_changes_running(void);
char *bal_ngx_changes_directive_state(ngx_conf_t *cf, ngx_command_t *command, void *conf);
/* When all has been read. */
ngx_int_t bal_ngx_changes_init(ngx_conf_t *cf);
ngx_int_t bal_ngx_changes_init_process(ngx_cycle_t *cycle);

/* ---- reading ---- */

uint64_t bal_ngx_changes_generation(const struct bal_ngx_changes *changes); /* 0: none is used */
/* The table, until bal_ngx_changes_unlock(). NULL: its lock cannot be acquired. Between the two do nothing
 * that can block. */
const struct bal_changes *bal_ngx_changes_lock(struct bal_ngx_changes *changes);
void bal_ngx_changes_unlock(struct bal_ngx_changes *changes);

/* ---- writing ---- */

/* A copy of the table to be edited. Then commit it or abandon it: no other process can edit meanwhile. NULL:
 * out of memory, or another process that edits does not end. */
struct bal_changes *bal_ngx_changes_edit(struct bal_ngx_changes *changes);
enum bal_code bal_ngx_changes_commit(struct bal_ngx_changes *changes, struct bal_error *err);
void bal_ngx_changes_abandon(struct bal_ngx_changes *changes);

/* ---- state_file.c ---- */

/* The content of the file, in memory of the pool. BAL_E_IO: it cannot be read; BAL_E_UNKNOWN: there is none;
 * another code: it holds something else. */
enum bal_code bal_ngx_state_file_read(ngx_pool_t *pool, const char *path, struct bal_changes *changes,
                                      struct bal_error *err);
/* In one step: anyone who reads it meanwhile gets the old content or the new one, also after a crash. */
enum bal_code bal_ngx_state_file_write(const char *path, const struct bal_changes *changes,
                                       struct bal_error *err);
/* The directory in which the file is. */
enum { BAL_NGX_PATH = 1024 };
bool bal_ngx_state_file_directory(const char *path, char directory[BAL_NGX_PATH]);

/* ---- overlay.c: of the servers of an upstream ---- */

/* The list of servers, `count` of the configuration or of names, with the changes applied to it. False: the
 * table cannot be locked, and the list must not be used. */
bool bal_ngx_overlay_apply(struct bal_ngx_peers *peers, uint32_t *count);
/* Memory for it, if changes are used. False: out of memory. */
bool bal_ngx_overlay_init(struct bal_ngx_peers *peers, ngx_pool_t *pool);
/* There are changes that the list does not have. */
bool bal_ngx_overlay_is_old(const struct bal_ngx_peers *peers);

#endif
