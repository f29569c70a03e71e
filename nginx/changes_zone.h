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

struct bli_ngx_peers;

/* Of http {}. */
struct bli_ngx_changes {
    bool used;      /* there is a ballast_api or a ballast_state */
    ngx_str_t file; /* of ballast_state, terminated; empty: none */
    ngx_shm_zone_t *shm;
    struct bli_changes *initial;         /* what the file has; NULL: nothing that can be read ... */
    char *unreadable;                    /* ... and why not, though it is there; NULL: there is none */
    struct bli_ngx_changes_table *table; /* in shared memory */
    /* Of this process: */
    bli_ngx_lock stalled, stalled_writer;
    struct bli_changes *copy; /* that is being edited */
};

/* ---- configuration ---- */

struct bli_ngx_changes *bli_ngx_changes_conf(ngx_conf_t *cf);
/* Of the running configuration. */
struct bli_ngx_changes *bli_ngx_changes_running(void);
char *bli_ngx_changes_directive_state(ngx_conf_t *cf, ngx_command_t *command, void *conf);
/* When all has been read. */
ngx_int_t bli_ngx_changes_init(ngx_conf_t *cf);
ngx_int_t bli_ngx_changes_init_process(ngx_cycle_t *cycle);

/* ---- reading ---- */

uint64_t bli_ngx_changes_generation(const struct bli_ngx_changes *changes); /* 0: none is used */
/* The table, until bli_ngx_changes_unlock(). NULL: its lock cannot be acquired. Between the two do nothing
 * that can block. */
const struct bli_changes *bli_ngx_changes_lock(struct bli_ngx_changes *changes);
void bli_ngx_changes_unlock(struct bli_ngx_changes *changes);

/* ---- writing ---- */

/* A copy of the table to be edited. Then commit it or abandon it: no other process can edit meanwhile. NULL:
 * out of memory, or another process that edits does not end. */
struct bli_changes *bli_ngx_changes_edit(struct bli_ngx_changes *changes);
enum bal_code bli_ngx_changes_commit(struct bli_ngx_changes *changes, struct bal_error *err);
void bli_ngx_changes_abandon(struct bli_ngx_changes *changes);

/* ---- state_file.c ---- */

/* The content of the file, in memory of the pool. BAL_E_IO: it cannot be read; BAL_E_UNKNOWN: there is none;
 * another code: it holds something else. */
enum bal_code bli_ngx_state_file_read(ngx_pool_t *pool, const char *path, struct bli_changes *changes,
                                      struct bal_error *err);
/* In one step: anyone who reads it meanwhile gets the old content or the new one, also after a crash. */
enum bal_code bli_ngx_state_file_write(const char *path, const struct bli_changes *changes,
                                       struct bal_error *err);
/* The directory in which the file is. */
enum { BLI_NGX_PATH = 1024 };
bool bli_ngx_state_file_directory(const char *path, char directory[BLI_NGX_PATH]);

/* ---- overlay.c: of the servers of an upstream ---- */

/* The list of servers, `count` of the configuration or of names, with the changes applied to it. False: the
 * table cannot be locked, and the list must not be used. */
bool bli_ngx_overlay_apply(struct bli_ngx_peers *peers, uint32_t *count);
/* Memory for it, if changes are used. False: out of memory. */
bool bli_ngx_overlay_init(struct bli_ngx_peers *peers, ngx_pool_t *pool);
/* There are changes that the list does not have. */
bool bli_ngx_overlay_is_old(const struct bli_ngx_peers *peers);

#endif
