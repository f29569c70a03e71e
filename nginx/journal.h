/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines for the error log of this process that must not block.
 *
 * A line that arises while a lock is held is kept and written when the lock has been released: whatever
 * error_log writes to (a pipe that is not read, a slow disk) must not make the other processes wait.
 *
 *     under a lock       bli_ngx_journal_add(level, format, ...)    neither writes nor allocates
 *     after its release  bli_ngx_journal_write()                    bli_ngx_zone_unlock() does so
 *     anywhere else      bli_ngx_journal_log(level, log, format, ...)
 *
 * A line that does not fit into a pipe is dropped; the number of dropped lines is logged as soon as the pipe
 * has space. */
#ifndef NGINX_JOURNAL_H
#define NGINX_JOURNAL_H

#include "compat.h"

#include <stdint.h>

enum { BLI_NGX_LINES = 32, BLI_NGX_LINE = 512 }; /* that are kept at once; bytes of each */

/* Lines that are kept. A process has one thread, and holds one lock at a time. */
extern uint32_t bli_ngx_journal_lines;

/* As ngx_log_error(), for the log of the cycle. */
void bli_ngx_journal_add(ngx_uint_t level, const char *format, ...);
/* Writes the lines that are kept. No lock may be held. Call it from time to time even if no line is kept, to
 * log how many were dropped. */
void bli_ngx_journal_write(void);
/* Writes at once. No lock may be held. */
void bli_ngx_journal_log(ngx_uint_t level, ngx_log_t *log, const char *format, ...);

#endif
