/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of tries of a request: which servers it was sent to. */
#ifndef LOG_UPSTREAM_TRIES_H
#define LOG_UPSTREAM_TRIES_H

#include "log/entry.h"

/* Does the text name a server? Proxies write "-" or something in brackets where there was none. */
bool bli_log_names_server(struct bli_log_span text);

/* Fills the status and the visits of the record; numbers come from the names of the servers. */
enum bal_code bli_log_tries_read(const struct bli_log_entry *entry, const struct bli_log_binding *binding,
                                 struct bli_log_servers *servers, struct bli_log_record *record,
                                 struct bal_error *err);

#endif
