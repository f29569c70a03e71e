/* SPDX-License-Identifier: BSD-2-Clause */
/* Members: dispatchers and stations that no list names, and that have joined by proving the key.
 *
 * One that wants to join sends JOIN, with the address at which it is reached, to those that it knows. Its id
 * is that of the address (bal_address_id), so that it cannot name another one's. A receiver that accepts
 * members answers with a CHALLENGE and keeps nothing: the number in it is computed from what the sender said,
 * the time and a secret. Only a JOIN that repeats the number is accepted, so a recorded one is not: numbers
 * are good for a few seconds, and no longer than until a member leaves. A member that sends nothing for
 * `silent_ns` is forgotten. One that is listed needs no join; for it JOIN is a sign of life.
 *
 * Work for one that has not proved itself: a hash, and at most BAL_JOIN_CHALLENGES answers in 50 ms,
 * each shorter than the question, and one to each of as many groups of senders. */
#ifndef BALLAST_LIVE_JOIN_H
#define BALLAST_LIVE_JOIN_H

#include "ballast/error.h"
#include "ballast/live/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BAL_ADDRESS_TEXT = 56, /* bytes that are enough for any address as text, terminator included */
    BAL_JOIN_RANGES_MAX = 8,
    BAL_JOIN_CHALLENGES = 32,
};

/* Addresses whose first `bits` are those of the network. */
struct bal_address_range {
    struct bal_address network; /* its port is ignored */
    uint32_t bits;
};

struct bal_join_config {
    struct bal_address own; /* sent in JOIN; family 0: it never asks to join */
    uint32_t most;          /* members at most; 0: none is accepted */
    uint32_t ranges;        /* in which their addresses must lie; 0: anywhere */
    struct bal_address_range range[BAL_JOIN_RANGES_MAX];
    uint64_t silent_ns; /* a member that has sent nothing for so long is forgotten; with `most` alone */
};

/* A member, and how it is reached. */
struct bal_member {
    uint64_t id;
    struct bal_address address;
};

/* "10.0.0.11:8080" or "[fd00::11]:8080" (RFC 5952), from which bal_address_id() makes the id. Returns the
 * length. The address must be valid. */
size_t bal_address_print(const struct bal_address *address, char text[BAL_ADDRESS_TEXT]);
/* Of one machine: not the unspecified address, a broadcast or a multicast one, nor IPv4 written as IPv6; with
 * a port. */
bool bal_address_is_valid(const struct bal_address *address);

/* The bits of the network behind the first `bits` must be 0. */
bool bal_address_range_contains(const struct bal_address_range *range, const struct bal_address *address);

enum bal_code bal_join_check(const struct bal_join_config *config, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
