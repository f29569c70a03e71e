/* SPDX-License-Identifier: BSD-2-Clause */
/* A network between hosts: carries packets from one TUN device to another, and injects faults on request.
 *
 * A thread of this process, which ends with it. Hosts are numbered, and have one IPv4 and one IPv6 address
 * whose last bytes are their numbers plus one. Settings made by other threads apply to packets that are read
 * afterwards. */
#ifndef RIG_PACKET_SWITCH_H
#define RIG_PACKET_SWITCH_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { SWITCH_PORTS = 24 };

struct rig_switch;

/* Uses the devices, but does not close them. */
enum bal_code bli_switch_start(struct rig_switch **s, const int *device, unsigned count,
                               struct bal_error *err);
void bli_switch_stop(struct rig_switch *s);

/* Added to the faults on the way from one host to another; adding the negative removes it. */
struct rig_path {
    int cut;      /* nothing passes while this is above 0 */
    double loss;  /* the share of datagrams that is lost; at 1 all are */
    double delay; /* of every packet, in seconds */
};
void bli_switch_add(struct rig_switch *s, unsigned from, unsigned to, struct rig_path change);

/* Packets to the address of a host go to another, or to itself again. */
void bli_switch_route(struct rig_switch *s, unsigned address, unsigned host);

/* Packets that were carried, and that were dropped on purpose. */
void bli_switch_counts(struct rig_switch *s, uint64_t *carried, uint64_t *dropped);

#endif
