/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of a log, as they may be sent again. */
#ifndef LOG_REQUEST_LINE_H
#define LOG_REQUEST_LINE_H

#include "log/span.h"

enum { BLI_LOG_REQUEST = 4096, BLI_LOG_METHOD_MAX = 16 };

/* Writes "METHOD PATH" with a 0 at its end, and returns its length, or 0 where the log has nothing that can
 * be sent. `request` is a line ("GET /a?b HTTP/1.1"), a path or a URL; `method` is the method, or a text that
 * begins with it, where the request has none. Without a method it is GET. A byte that cannot be in a request
 * line, as it stands in the log or as \xHH, is written as %HH. */
size_t bli_log_request_text(struct bli_log_span request, struct bli_log_span method,
                            char text[BLI_LOG_REQUEST]);

#endif
