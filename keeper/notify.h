/* SPDX-License-Identifier: BSD-2-Clause */
/* Notifies systemd of the service's state, as sd_notify(3) does: a datagram to $NOTIFY_SOCKET. */
#ifndef KEEPER_NOTIFY_H
#define KEEPER_NOTIFY_H

#include <stdint.h>

/* Sends lines such as "READY=1\nSTATUS=..."; does nothing where $NOTIFY_SOCKET is not set. */
void notify_send(const char *text);

/* How often "WATCHDOG=1" is expected of this process, halved; UINT64_MAX: it is not. */
uint64_t notify_watchdog_ns(void);

#endif
