/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements: messages that describe the present state of their sender, such as its load or its backlog.
 *
 * A sender numbers what it sends. The newest statement is used; one that was sent earlier and comes later is
 * not, and is no sign that its sender can be reached now. What else it does holds all the same: a reply to a
 * probe is a reply, and a question that it answers is answered. Live dispatchers and stations and the lab's
 * network engine both use it. */
#ifndef POLICY_STATEMENT_H
#define POLICY_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* newest: of those that have come; 0: none has. */
static inline bool statement_is_newest(uint64_t number, uint64_t newest) {
    return number > newest;
}

#endif
