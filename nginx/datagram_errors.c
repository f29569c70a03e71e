/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts errors with datagrams and writes them to the error log. */
#include "datagram_errors.h"

#include "journal.h"

#include <string.h>

static const uint64_t pause_ns = UINT64_C(60000000000), unsent_pause_ns = UINT64_C(1000000000);

void bli_ngx_datagram_error_add(struct bli_ngx_datagram_error *entry, const struct sockaddr *address,
                                socklen_t length, int error) {
    entry->length = address && length <= sizeof entry->address ? length : 0;
    if (entry->length)
        memcpy(&entry->address, address, entry->length);
    entry->error = error;
    __atomic_fetch_add(&entry->count, 1, __ATOMIC_RELAXED);
}

/* What it is, and what to do about it; NULL: it happens in any network and is not logged. */
static const char *describe_error(int kind) {
    switch (kind) {
    case BAL_RECEIPT_MALFORMED:
        return "came that are none of ours; does another program send there?";
    case BAL_RECEIPT_BAD_MAC:
        return "came that are signed with no key of ours; do all of the fleet have the same ballast_key?";
    case BAL_RECEIPT_WRONG_RECEIVER:
        return "came that are for another receiver; does it have the address that the others name?";
    case BAL_RECEIPT_UNKNOWN_SENDER:
        return "came of senders that are not configured here; is one missing from server or dispatchers=?";
    case BAL_RECEIPT_REFUSED:
        return "asked to join and were refused; does join= allow so many, and their addresses?";
    case BLI_NGX_UNSENT:
        return "could not be sent";
    default:
        return NULL;
    }
}

static void log_error_line(const struct bli_ngx_datagram_error *t, int kind, uint64_t count, const char *role,
                           const ngx_str_t *host) {
    u_char text[NGX_SOCKADDR_STRLEN];
    ngx_sockaddr_t at = t->address;
    ngx_str_t address = {0, text};
    address.len = t->length ? ngx_sock_ntop(&at.sockaddr, (socklen_t)t->length, text, sizeof text, 1) : 0;
    const char *way = kind == BLI_NGX_UNSENT ? ", the last to " : ", the last from ";
    if (kind == BAL_RECEIPT_VERSION)
        bli_ngx_journal_log(
            NGX_LOG_WARN, ngx_cycle->log,
            "ballast: %s \"%V\": %uL datagrams came of version %D of the wire, and this nginx "
            "speaks version %d; bring all of the fleet to one version%s%V",
            role, host, count, t->error, BAL_WIRE_VERSION, address.len ? way : "", &address);
    else
        bli_ngx_journal_log(NGX_LOG_WARN, ngx_cycle->log, "ballast: %s \"%V\": %uL datagrams %s%s%V%s%s%s",
                            role, host, count, describe_error(kind), address.len ? way : "", &address,
                            t->error ? " (" : "", t->error ? strerror(t->error) : "", t->error ? ")" : "");
}

void bli_ngx_datagram_error_log(struct bli_ngx_datagram_error datagram_errors[BLI_NGX_DATAGRAM_ERRORS],
                                const char *role, const ngx_str_t *host, uint64_t now) {
    for (int kind = 0; kind < BLI_NGX_DATAGRAM_ERRORS; kind++) {
        struct bli_ngx_datagram_error *t = &datagram_errors[kind];
        const uint64_t count = __atomic_load_n(&t->count, __ATOMIC_RELAXED);
        if (count == t->logged || (kind != BAL_RECEIPT_VERSION && !describe_error(kind)) ||
            (t->logged_at && now < t->logged_at + (kind == BLI_NGX_UNSENT ? unsent_pause_ns : pause_ns)))
            continue;
        log_error_line(t, kind, count - t->logged, role, host);
        t->logged = count;
        t->logged_at = now;
    }
}
