/* SPDX-License-Identifier: BSD-2-Clause */
/* What a dispatcher knows of a server by its statements (statement.h), and what it tells the policy of that.
 *
 * A server says which free slots are ours, or how many jobs it has, or whether it is on. Each of these says
 * something of the others: slots that are offered are free, and it is on; what tells of jobs and not of
 * offers means that there are none any longer, unless it is a reply to a probe; a server that is not on has
 * none.
 *
 * Offers are valid for as long as the statement that made them, and that one may have come with a response.
 * Such a one is no sign that the server can be reached: where datagrams are lost, servers that happen to
 * answer would seem better known than all others, and would get every job.
 *
 * No clock: times are handed in, in any unit. Live dispatchers and those of the lab's network engine both use
 * it. */
#ifndef POLICY_HEARD_H
#define POLICY_HEARD_H

#include "ballast/policy.h"
#include "policy/offers.h"

/* It offers `unused` of its slots to us, with the tokens up to this number. length: of jobs there, as far as
 * is known. Returns how many of these tokens are new. */
static inline uint32_t heard_offers(struct bli_tokens *tokens, uint32_t *length, uint64_t number,
                                    uint32_t unused, uint32_t slots) {
    const uint32_t fresh = tokens_receive(tokens, number, unused);
    *length = slots - unused;
    return fresh;
}

/* It has so many jobs. reply: to a probe, which says nothing of offers. */
static inline void heard_load(struct bli_tokens *tokens, uint32_t *length, uint32_t jobs, bool reply) {
    *length = jobs;
    if (!reply)
        tokens->count = 0;
}

/* It is on, or not. */
static inline void heard_power(struct bli_tokens *tokens, bool on) {
    if (!on)
        tokens->count = 0;
}

/* Time has passed: are its offers no longer valid? `until`: that of the statement that made them. */
static inline bool heard_offers_expire(const struct bli_tokens *tokens, double until, double now) {
    return tokens->count > 0 && now >= until;
}

/* May it have a free slot that it has not offered to us? own: our own jobs there. */
static inline bool heard_looks_idle(const struct bli_tokens *tokens, bool on, uint32_t length, uint32_t own,
                                    uint32_t slots) {
    return tokens->count == 0 && on && length < slots && own < slots;
}

/* The report of its present state. open: it may be chosen. has_slot: there is a token of it, or, where none
 * are offered, it has fewer jobs than slots. */
static inline enum bal_report heard_report(const struct bal_policy *policy, bool open,
                                           enum bal_server_status status, bool has_slot) {
    static const enum bal_report resting[] = {[BAL_SERVER_OFF] = BAL_REPORT_OFF,
                                              [BAL_SERVER_SETUP] = BAL_REPORT_SETUP,
                                              [BAL_SERVER_GONE] = BAL_REPORT_GONE};
    if (!open)
        return BAL_REPORT_GONE;
    if (status != BAL_SERVER_ON)
        return resting[status];
    if (!has_slot)
        return BAL_REPORT_BUSY;
    return policy->wants & BAL_WANTS_STILL_IDLE ? BAL_REPORT_STILL_IDLE : BAL_REPORT_IDLE;
}

#endif
