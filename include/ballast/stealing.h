/* SPDX-License-Identifier: BSD-2-Clause */
/* Work stealing: how much an idle server takes, and where the work of the stealing chain comes from.
 *
 * A victim with l jobs gives f(l) of them, the last ones of its queue. Each function is capped at floor(l /
 * 2), which costs no generality (Berenbrink, Friedetzky and Goldberg 2001):
 *
 *   none               0: no stealing
 *   half               floor(l / 2)
 *   one                1
 *   constant(K)        K; a number alone means the same
 *   log2               floor(log2 l)
 *   sqrt               floor(sqrt l)
 *   fraction(A)        floor(A l), 0 < A <= 0.5
 *   table(F F F ...)   f(0), f(1), f(2), ... not falling; the last one holds for all longer queues */
#ifndef BALLAST_STEALING_H
#define BALLAST_STEALING_H

#include "ballast/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BAL_STEAL_ENTRIES = 256, BAL_STEAL_TEXT = 256 * 12 };

enum bal_steal_kind {
    BAL_STEAL_NONE,
    BAL_STEAL_HALF,
    BAL_STEAL_ONE,
    BAL_STEAL_CONSTANT,
    BAL_STEAL_LOG2,
    BAL_STEAL_SQRT,
    BAL_STEAL_FRACTION,
    BAL_STEAL_TABLE,
};

/* A plain value; all zero bytes are `none`. */
struct bal_steal {
    enum bal_steal_kind kind;
    double amount;    /* constant: K; fraction: A */
    unsigned entries; /* table */
    uint32_t table[BAL_STEAL_ENTRIES];
};

/* Reads a function; on failure *steal is untouched. */
enum bal_code bal_steal_parse(const char *text, struct bal_steal *steal, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bal_steal_print(const struct bal_steal *steal, char *text, size_t size);
/* f(length), 0 to length / 2. */
uint32_t bal_steal_amount(const struct bal_steal *steal, uint32_t length);

/* Where the n generators of the stealing chain sit, n being the number of servers:
 *
 *   even               one at each server
 *   hosts(K)           equally on the first K servers (the first ones have one more if K does not divide n);
 *                      a number alone means the same
 *   moving             all on one server, drawn for each slot
 *   walk               each on a walk of its own around the ring of servers, the first one from the first
 *                      server and so on: in each slot, before it makes its job, it goes on to the next server
 *                      or back to the one before
 *   longest            all on the server with the most jobs before the slot, the first one of several
 *   shortest           all on the server with the fewest, the first one of several
 *   cycling            all on the first server in the first slot, on the second one in the next, and so
 *                      on around
 *   map(H:C H:C ...)   C generators on server H, counted from 0; the Cs sum to n
 *
 * `longest`, `shortest` and `cycling` are adversaries that place the generators in each slot, as the paper's
 * analysis allows (section 2).
 */
enum { BAL_PLACEMENT_ENTRIES = 256, BAL_PLACEMENT_TEXT = 256 * 24 };

enum bal_placement_kind {
    BAL_PLACEMENT_EVEN,
    BAL_PLACEMENT_HOSTS,
    BAL_PLACEMENT_MOVING,
    BAL_PLACEMENT_WALK,
    BAL_PLACEMENT_LONGEST,
    BAL_PLACEMENT_SHORTEST,
    BAL_PLACEMENT_CYCLING,
    BAL_PLACEMENT_MAP,
};

/* A plain value; all zero bytes are `even`. */
struct bal_placement {
    enum bal_placement_kind kind;
    uint32_t hosts;   /* hosts: K */
    unsigned entries; /* map */
    uint32_t host[BAL_PLACEMENT_ENTRIES], count[BAL_PLACEMENT_ENTRIES];
};

/* Reads a placement; on failure *placement is untouched. */
enum bal_code bal_placement_parse(const char *text, struct bal_placement *placement, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bal_placement_print(const struct bal_placement *placement, char *text, size_t size);
/* Does it fit so many servers? */
enum bal_code bal_placement_check(const struct bal_placement *placement, uint32_t servers,
                                  struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
