/* What systemd is told of a service (sd_notify(3)), spoken directly: a datagram to $NOTIFY_SOCKET. */
#ifndef KEEPER_NOTIFY_H
#define KEEPER_NOTIFY_H

#include <stdint.h>

/* Sends lines such as "READY=1\nSTATUS=..."; nothing happens where nobody asked for it. */
void notify_send(const char *text);

/* How often "WATCHDOG=1" is expected of this process, halved; UINT64_MAX: it is not. */
uint64_t notify_watchdog_ns(void);

#endif
