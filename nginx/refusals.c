/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes to the error log how many requests were refused. A line for each would fill the log when a server is
 * overloaded, which is when the log is needed. */
#include "refusals.h"

#include "journal.h"

static const uint64_t second_ns = UINT64_C(1000000000);

void bli_ngx_refusals_log(struct bli_ngx_refusals *refusals, const struct bli_ngx_refused *refused,
                          const char *kind, const ngx_str_t *host, uint64_t now) {
    const uint64_t full = refused->full - refusals->logged.full;
    const uint64_t replaced = refused->replaced - refusals->logged.replaced;
    const uint64_t overdue = refused->overdue - refusals->logged.overdue;
    const uint64_t all = __atomic_load_n(&refusals->unheld, __ATOMIC_RELAXED) + refused->crowded;
    const uint64_t unheld = all - refusals->unheld_logged;
    if (full + overdue + unheld == 0 || (refusals->logged_at && now < refusals->logged_at + second_ns))
        return;
    refusals->logged = *refused;
    refusals->unheld_logged = all;
    refusals->logged_at = now;
    bli_ngx_journal_log(
        NGX_LOG_ERR, ngx_cycle->log,
        "ballast: %s \"%V\": %uL requests refused: too many waited for %uL (%uL of them had to make "
        "room for more urgent ones), %uL had waited for too long, and for %uL a worker had no free "
        "connection to wait",
        kind, host, full + overdue + unheld, full, replaced, overdue, unheld);
}
