/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines for the error log that must not block. */
#include "journal.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>

struct journal_line {
    ngx_uint_t level;
    u_char text[BLI_NGX_LINE];
};

uint32_t bli_ngx_journal_lines;
static struct journal_line kept[BLI_NGX_LINES];
static uint32_t dropped;

static void format_line(struct journal_line *line, ngx_uint_t level, const char *format, va_list args) {
    line->level = level;
    *ngx_vslprintf(line->text, line->text + BLI_NGX_LINE - 1, format, args) = '\0';
}

void bli_ngx_journal_add(ngx_uint_t level, const char *format, ...) {
    va_list args;
    if (bli_ngx_journal_lines == BLI_NGX_LINES) {
        dropped++;
        return;
    }
    va_start(args, format);
    format_line(&kept[bli_ngx_journal_lines++], level, format, args);
    va_end(args);
}

/* Can every file that gets a line of that level take it? A regular file always can. Between this check and
 * the write another process may fill a pipe, which then blocks this process alone. */
static bool has_room(const ngx_log_t *log, ngx_uint_t level) {
    for (; log && log->log_level >= level; log = log->next) {
        struct pollfd file = {.events = POLLOUT};
        if (log->writer || !log->file || log->file->fd == NGX_INVALID_FILE)
            continue;
        file.fd = log->file->fd;
        if (poll(&file, 1, 0) == 0)
            return false;
    }
    return true;
}

static void count_dropped(ngx_log_t *log) {
    if (dropped && has_room(log, NGX_LOG_WARN)) {
        ngx_log_error(NGX_LOG_WARN, log, 0, "ballast: %uD lines were dropped, for which the log had no room",
                      dropped);
        dropped = 0;
    }
}

static void write_line(const struct journal_line *line, ngx_log_t *log) {
    if (log->log_level < line->level)
        return;
    if (!has_room(log, line->level)) {
        dropped++;
        return;
    }
    ngx_log_error(line->level, log, 0, "%s", line->text);
}

void bli_ngx_journal_write(void) {
    count_dropped(ngx_cycle->log);
    for (uint32_t i = 0; i < bli_ngx_journal_lines; i++)
        write_line(&kept[i], ngx_cycle->log);
    bli_ngx_journal_lines = 0;
}

void bli_ngx_journal_log(ngx_uint_t level, ngx_log_t *log, const char *format, ...) {
    struct journal_line line;
    va_list args;
    if (log->log_level < level)
        return;
    va_start(args, format);
    format_line(&line, level, format, args);
    va_end(args);
    write_line(&line, log);
}
