/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats log lines and writes them to standard error without blocking. */
#include "event_log.h"

#include "base/utf8.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static size_t print_head(char *line, size_t size, enum log_level level) {
    if (getenv("JOURNAL_STREAM"))
        return (size_t)snprintf(line, size, "<%d>", (int)level);
    struct timespec now;
    struct tm date;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &date);
    const size_t used = strftime(line, size, "time=%Y-%m-%dT%H:%M:%S", &date);
    return used + (size_t)snprintf(line + used, size - used, ".%03ldZ ", now.tv_nsec / 1000000);
}

static void write_line(const char *line, size_t size) {
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) == 1 && out.revents & POLLOUT)
        (void)!write(STDERR_FILENO, line, size);
}

void log_event(enum log_level level, const char *app, const char *event, const char *format, ...) {
    const char *const names[] = {[LOG_ERROR] = "error", [LOG_WARNING] = "warning", [LOG_INFO] = "info"};
    char line[LOG_LINE + 1];
    size_t used = print_head(line, sizeof line, level);
    used += (size_t)snprintf(line + used, sizeof line - used, "level=%s%s%s event=%s ", names[level],
                             app ? " app=" : "", app ? app : "", event);
    va_list args;
    va_start(args, format);
    const int more = vsnprintf(line + used, sizeof line - used, format, args);
    va_end(args);
    used += more > 0 ? (size_t)more : 0;
    used -= more == 0; /* the blank before it */
    used = used < LOG_LINE - 1 ? used : LOG_LINE - 1;
    line[used++] = '\n';
    write_line(line, used);
}

const char *log_quote(const char *text, char quoted[LOG_QUOTED]) {
    char *at = quoted;
    *at++ = '"';
    while (*text && at < quoted + LOG_QUOTED - 8) {
        const unsigned character = bli_utf8_next(&text);
        if (character == '"' || character == '\\')
            *at++ = '\\';
        bli_utf8_put(&at, character);
    }
    if (*text) {
        memcpy(at, "...", 3);
        at += 3;
    }
    *at++ = '"';
    *at = '\0';
    return quoted;
}
