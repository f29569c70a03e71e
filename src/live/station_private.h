/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the station. station_block.c lays out the block and rebuilds it from the requests, station.c
 * has the public operations, station_messages.c sends and receives messages, station_members.c knows who has
 * joined. The lock of the block must be held for all of it, and the host holds it. docs/internals.md has the
 * states of a request, and which function changes them. */
#ifndef LIVE_STATION_PRIVATE_H
#define LIVE_STATION_PRIVATE_H

#include "ballast/live/station.h"
#include "ballast/random.h"
#include "ballast/set.h"
#include "base/latency_ewma.h"
#include "live/concurrency_private.h"
#include "live/drain_rate.h"
#include "live/join_private.h"
#include "live/ledger.h"
#include "live/workers.h"
#include "policy/offers.h"
#include "policy/pace.h"

#define NEVER UINT64_MAX

enum job_state {
    WAITING = BLI_ENTRY_FREE + 1,
    GRANTED, /* it has a slot, and its process does not know yet */
    RUNNING,
    FORWARDING,  /* it goes to another station, and its process does not know yet */
    FORWARDED,   /* its process has passed it to another station */
    TURNED_AWAY, /* it may not wait any longer, and its process does not know yet */
};

struct station_job {
    struct bli_ledger_entry entry;
    uint64_t since;         /* it came */
    uint64_t target;        /* of FORWARDING and FORWARDED */
    uint64_t dispatcher;    /* that sent it; 0: not a known dispatcher */
    uint64_t reserved_for;  /* the dispatcher for which its slot is meant; 0: that is not decided */
    uint64_t piggyback_seq; /* the sequence of the offer that was sent with the response; 0: nothing */
    uint32_t moved;         /* it came from another station, or has been to one */
    uint64_t place;         /* its order among those that wait */
};

enum peer_kind { NO_PEER, DISPATCHER, STATION };

struct station_peer {
    uint32_t kind;              /* written last */
    uint32_t joined_there;      /* DISPATCHER: it has challenged our JOIN, so that we may be a member there */
    uint64_t member_until;      /* DISPATCHER: it has joined, and is forgotten then; 0: it is listed */
    uint64_t heard_at;          /* when its last message came; 0: none has */
    uint64_t join_at;           /* DISPATCHER: when it is sent the next JOIN, if it is silent */
    struct bal_address address; /* of one that has joined */
    struct bal_replay_window window;
    struct bli_offer_party party; /* DISPATCHER: what it has been offered; in nanoseconds */
    uint64_t pace_ns;             /* DISPATCHER: the interval of heartbeats that it has asked for; 0: none */
    uint64_t beat_due;            /* where that is longer than ours, the time of the next one */
    uint32_t news; /* ... and after so many beats an offer is sent once more; 0: there is none */
};

struct station_block {
    uint64_t magic;
    uint64_t size;
    uint32_t busy;       /* an operation is under way, or was when a process died */
    uint32_t slots_used; /* GRANTED and RUNNING */
    struct bal_station_config config;
    uint64_t now;
    struct bal_sender sender;
    struct bli_list waiting[BAL_CLASSES_MAX];
    uint32_t jobs[BAL_CLASSES_MAX]; /* waiting and in slots */
    uint32_t waiting_count, away;
    uint32_t offered; /* to all dispatchers together */
    uint64_t beat_at, offer_at;
    /* power */
    uint32_t power; /* enum bal_power_state, as the keeper reports; on where there is none */
    uint32_t draining;
    uint32_t wakes; /* the keeper is to be sent START */
    struct bal_replay_window keeper_window;
    uint64_t start_sent_at; /* the first START since the keeper's last message; 0: none was sent */
    uint64_t idle_since;
    uint64_t stop_sent_at; /* when STOP was last sent to the keeper; 0: not since the app is on */
    /* stealing */
    uint64_t steal; /* the STEAL that waits for an answer; 0: none */
    uint64_t steal_until;
    uint32_t expected; /* requests that have been granted and have not come yet */
    uint64_t expected_until;
    struct bli_joins joins;
    uint64_t offers_before; /* the greatest number of an offer to a dispatcher that has left: one that comes
                               back knows the numbers up to its own, and would not count them again */
    /* of late */
    uint32_t answers, errors;
    struct latency_ewma latency_ewma;
    struct drain_rate drain_rate;   /* of the queue */
    struct concurrency concurrency; /* where slots are found */
    struct bal_station_counts counts;
};

struct bal_station {
    struct station_block *block;
    uint32_t self;
    bool crowded; /* this process cannot let another request wait */
    struct bal_rng rng;
    struct bli_ledger ledger;
    struct bli_worker *worker;
    struct station_peer *peer;
    uint64_t *peer_id;
    uint32_t *directory;
    uint32_t places;
    struct bal_set *dispatchers, *stations; /* numbers of peers */
    struct bal_set *backlogged, *holders;   /* dispatchers that hold requests; that have been offered slots */
    struct bli_outbox box;
    struct bal_message out[]; /* of the box: a heartbeat for each peer, and others */
};

static inline struct station_job *job_at(const struct bal_station *s, uint32_t i) {
    return (struct station_job *)bli_ledger_get(&s->ledger, i);
}

static inline bool has_slot(const struct station_job *j) {
    return j->entry.state == GRANTED || j->entry.state == RUNNING;
}

static inline bool is_forwarded(const struct station_job *j) {
    return j->entry.state == FORWARDING || j->entry.state == FORWARDED;
}

/* Requests that may be in service now. Where slots are found there may be more of them for a while. */
static inline uint32_t slots_now(const struct station_block *block) {
    return block->config.min_slots ? concurrency_allowed(&block->concurrency) : block->config.slots;
}

/* Unused slots of an app that is on and not draining. */
static inline uint32_t free_slots(const struct bal_station *s) {
    const struct station_block *block = s->block;
    const uint32_t slots = slots_now(block);
    const bool open = block->power == BAL_POWER_ON && !block->draining && slots > block->slots_used;
    return open ? slots - block->slots_used : 0;
}

/* Of heartbeats to a dispatcher. */
static inline uint64_t heartbeat_interval_ns(const struct bal_station *s, uint32_t number) {
    return (uint64_t)pace_beat((double)s->block->config.beat_ns, (double)s->peer[number].pace_ns);
}

/* ---- station_block.c ---- */

void bli_station_rebuild(struct bal_station *s);

/* Sets of peers, after peers have come or gone. */
void bli_station_rebuild_peer_sets(struct bal_station *s);
/* A free row for a peer; BLI_NOBODY: none. */
uint32_t bli_station_free_peer(const struct bal_station *s);
/* It is no peer any longer. */
void bli_station_remove_peer(struct bal_station *s, uint32_t number);

/* ---- station_members.c ---- */

/* A message of a sender that is not known. */
enum bal_receipt bli_station_receive_unknown(struct bal_station *s, const struct bal_message *message);
/* A message of this peer was accepted. */
void bli_station_peer_heard(struct bal_station *s, uint32_t number);
/* A dispatcher has sent a challenge: the answer to our JOIN, if one was sent. */
void bli_station_answer_challenge(struct bal_station *s, uint32_t number, uint64_t nonce);
/* With each beat: forgets members that are silent, and asks to join where nothing is heard. */
void bli_station_update_members(struct bal_station *s);

/* ---- station.c ---- */

void bli_station_enter(struct bal_station *s, uint64_t now);
static inline void station_end(struct bal_station *s) {
    __atomic_store_n(&s->block->busy, 0, __ATOMIC_RELEASE);
}
/* Refuses those that have waited for too long; returns when the next one has. */
uint64_t bli_station_refuse_overdue(struct bal_station *s);
/* Runs as many of those that wait as there are slots. */
void bli_station_start_next(struct bal_station *s);
/* So many of those that wait, the least urgent and last ones, go to that station; returns how many, and
 * their tickets. */
uint32_t bli_station_forward_waiting(struct bal_station *s, uint32_t amount, uint32_t lowest_rank,
                                     uint64_t target, uint64_t *tickets);

/* ---- station_messages.c ---- */

void bli_station_enqueue_message(struct bal_station *s, struct bal_message message);
/* It has restarted, or has joined: it gets the present state. */
void bli_station_reset_dispatcher(struct bal_station *s, uint32_t number);
/* The offers as they are now; a view for one call. */
struct bli_offers bli_station_offers(struct bal_station *s);
/* Offers slots that are free and not offered yet. */
void bli_station_offer(struct bal_station *s);
/* A slot that was offered has been taken by another request. The offer is withdrawn; the dispatcher that has
 * it learns this with the next heartbeat. As in the lab, the dispatcher of the next offer is drawn again. */
void bli_station_retract_offers(struct bal_station *s);
/* A request of this dispatcher has come: it uses what it was offered. */
void bli_station_use_offer(struct bal_station *s, uint64_t dispatcher);
/* A request has ended whose slot is meant for that dispatcher: offers the slot to it; or, when the slot was
 * offered with the response and is not free, sends it a message that says so. */
void bli_station_offer_reserved_slot(struct bal_station *s, uint64_t reserved_for, uint64_t piggyback_seq);
/* The last request has left: sends STEAL to another station. */
void bli_station_steal(struct bal_station *s);
/* Something waits for an app that is not on. */
void bli_station_request_start(struct bal_station *s);

#endif
