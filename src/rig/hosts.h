/* SPDX-License-Identifier: BSD-2-Clause */
/* Hosts on one machine: anonymous network namespaces, each with its own address on a common network, and one
 * more for the clients. This process is in the clients' namespace as long as there are hosts. The hosts
 * vanish when this process and those started in them have ended. Needs root. Only one set of hosts at a time;
 * not thread-safe. */
#ifndef RIG_HOSTS_H
#define RIG_HOSTS_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { RIG_HOSTS = 16, RIG_ADDRESS = 48 };

struct rig_hosts;

/* Can hosts be created? The error names what is missing. */
enum bal_code bli_hosts_check(struct bal_error *err);

enum bal_code bli_hosts_start(struct rig_hosts **hosts, unsigned count, bool ipv6, struct bal_error *err);
/* Moves this process back to its original namespace. NULL is allowed. */
void bli_hosts_stop(struct rig_hosts *hosts);

/* A descriptor for setns(); closed on exec. The host of number `count` is that of the clients. */
int bli_hosts_namespace(const struct rig_hosts *hosts, unsigned host);
/* Moves this thread, and the sockets that it creates, to a host until it leaves: for requests to a process
 * there over loopback, whatever the state of its link. */
void bli_hosts_enter(const struct rig_hosts *hosts, unsigned host);
void bli_hosts_leave(const struct rig_hosts *hosts);
/* As it stands in URLs: 10.93.0.1 or [fd00:ba11::1]. */
void bli_hosts_address(const struct rig_hosts *hosts, unsigned host, char text[RIG_ADDRESS]);

/* ---- what goes wrong, by: 1 begins, -1 ends ---- */

/* No packet goes to it or comes from it. */
void bli_hosts_isolate(struct rig_hosts *hosts, unsigned host, int by);
/* No packet passes between the two. */
void bli_hosts_cut(struct rig_hosts *hosts, unsigned a, unsigned b, int by);
/* This share of the datagrams to it, or from it, is lost. */
void bli_hosts_lose(struct rig_hosts *hosts, unsigned host, bool to_it, double share, int by);
/* Packets to it and from it take so many seconds longer, each way. */
void bli_hosts_delay(struct rig_hosts *hosts, unsigned host, double seconds, int by);
/* Bytes of a packet from it, at most; 0: 1500 again. */
void bli_hosts_set_mtu(struct rig_hosts *hosts, unsigned host, unsigned bytes);
/* Sends a signal to all processes on it but this one. */
void bli_hosts_signal(struct rig_hosts *hosts, unsigned host, int number);
/* Packets to the address of a host go to another host, or to itself again. */
enum bal_code bli_hosts_move(struct rig_hosts *hosts, unsigned address, unsigned host, struct bal_error *err);

/* Packets that were carried, and dropped on purpose, so far. */
void bli_hosts_counts(struct rig_hosts *hosts, uint64_t *carried, uint64_t *dropped);

#endif
