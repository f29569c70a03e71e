/* SPDX-License-Identifier: BSD-2-Clause */
/* Log lines on standard error: one event each, "level=info app=web1 event=on pid=4711".
 *
 * A line is one write and at most LOG_LINE bytes. Writing never blocks: what cannot be written at once is
 * lost. Under the journal of systemd lines begin with their priority, elsewhere with the time. */
#ifndef KEEPER_EVENT_LOG_H
#define KEEPER_EVENT_LOG_H

enum { LOG_LINE = 1000 };

enum log_level { LOG_ERROR = 3, LOG_WARNING = 4, LOG_INFO = 6 };

/* app may be NULL. The format gives further "key=value" pairs; pass text from outside through log_quote. */
void log_event(enum log_level level, const char *app, const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The text in quotes, harmless and on one line; cut when it is too long. */
enum { LOG_QUOTED = 400 };
const char *log_quote(const char *text, char quoted[LOG_QUOTED]);

#endif
