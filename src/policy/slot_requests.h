/* SPDX-License-Identifier: BSD-2-Clause */
/* How a dispatcher gets free slots for the jobs that it holds, and how it returns those that it cannot use.
 *
 * backlog.h decides whether one server is requested a slot or all are sent the backlog; here is which server,
 * what is remembered of each, and which message goes where. An offer of a server that this dispatcher has
 * closed is of no use to it and would be to another one: it is returned, and the server is requested not to
 * make another for a while. The backlog is not announced to such a server: it gets the message that offers
 * cannot be used instead.
 *
 * No clock, no messages: times are handed in, in any unit, and `send` is called for each message. A struct
 * bli_slot_requests is a view that is made for a call or a few. Live dispatchers and the dispatchers of the
 * lab's network engine both use it. All calls are O(1), but for an announcement. */
#ifndef POLICY_SLOT_REQUESTS_H
#define POLICY_SLOT_REQUESTS_H

#include "policy/backlog.h"

/* What a dispatcher keeps of each server. All zeros: nothing. */
struct bli_slot_request {
    double asked_until;    /* until then the answer to our request is waited for; 0: none is open */
    double declined_until; /* until then it makes no offers, at our wish */
};

enum bli_slot_message {
    BLI_SLOT_REQUEST, /* to one server: one slot, please; valid as long as the answer is waited for */
    BLI_SLOT_BACKLOG, /* to all: so many jobs are held; valid for BLI_CLAIM_BEATS_BARRED beats */
    BLI_SLOT_DECLINE, /* to one: its offers cannot be used, for as long. The tokens of it are dropped */
    BLI_SLOT_RESUME,  /* to one: they can be used again */
};

struct bli_slot_requests {
    struct bli_backlog *backlog;
    struct bli_slot_request *request; /* of server 0; the others lie `stride` bytes apart */
    size_t stride;
    const struct bal_set *open; /* servers that may be chosen */
    uint32_t numbers;           /* servers have numbers below this one */
    uint32_t present;           /* servers that there are */
    uint32_t held;              /* jobs that are held */
    double now, beat;           /* beat: INFINITY where there is none */
    double timeout;             /* for so long an answer is waited for */
    double patience;            /* bli_backlog_patience */
    struct bal_rng *rng;
    /* It has no token of it, fewer jobs there than it has slots, and has heard nothing else of it. */
    bool (*looks_idle)(const void *host, uint32_t server);
    /* Is it closed for a reason for which offers cannot be used? */
    bool (*is_unusable)(const void *host, uint32_t server);
    /* Is there a server with that number to which a backlog is announced? NULL: always. */
    bool (*is_present)(const void *host, uint32_t server);
    void (*send)(void *host, enum bli_slot_message message, uint32_t server); /* BACKLOG: server is not used
                                                                               */
    void *host;
};

/* To be called when jobs have been held or sent, an answer has come, or backlog->announce_at has. */
void bli_slot_requests_update(const struct bli_slot_requests *q);
/* A server is closed, or was when an offer came: its offers go back where they cannot be used. tokens: at
 * hand. */
void bli_slot_requests_close(const struct bli_slot_requests *q, uint32_t server, uint32_t tokens);
/* It is open: it may make offers again. */
void bli_slot_requests_open(const struct bli_slot_requests *q, uint32_t server);
/* Anything has come from it. tokens: of it, at hand now. */
void bli_slot_requests_answered(const struct bli_slot_requests *q, uint32_t server, uint32_t tokens);
/* Time has passed. */
void bli_slot_requests_expire(const struct bli_slot_requests *q, uint32_t server, uint32_t tokens);
/* It is another server, or is removed: forgets what was requested or declined. */
void bli_slot_requests_forget(const struct bli_slot_requests *q, uint32_t server);

#endif
