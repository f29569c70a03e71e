/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of servers get small numbers, in the order in which they are seen. */
#ifndef LOG_SERVERS_H
#define LOG_SERVERS_H

#include "ballast/log.h"
#include "log/span.h"

/* The number of a name, which is added when it is new. An error when there are too many, which happens when
 * the field does not name servers. */
enum bal_code bli_log_servers_number(struct bli_log_servers *servers, struct bli_log_span name,
                                     uint32_t *number, struct bal_error *err);

#endif
