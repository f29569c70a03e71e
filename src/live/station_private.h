/* The station from the inside. station_block.c lays the block out and makes it anew from the requests,
 * station.c is what can be done with it, station_talk.c what is said and heard. */
#ifndef LIVE_STATION_PRIVATE_H
#define LIVE_STATION_PRIVATE_H

#include "ballast/live/station.h"
#include "ballast/random.h"
#include "ballast/set.h"
#include "base/pace.h"
#include "live/crew.h"
#include "live/ledger.h"

#define NEVER UINT64_MAX

enum job_state {
    WAITING = BAL_ENTRY_FREE + 1,
    CALLED, /* it has a slot, and its process does not know yet */
    RUNNING,
    GIVEN, /* it goes to another station, and its process does not know yet */
    AWAY,  /* its process has passed it to another station */
};

struct job {
    struct bal_entry entry;
    uint64_t since;      /* it came */
    uint64_t target;     /* of GIVEN and AWAY */
    uint64_t dispatcher; /* by which it was sent; 0: by nobody who is known to be one */
    uint64_t heir;       /* the dispatcher for which its slot is meant; 0: that is not decided */
    uint64_t promise;    /* the sequence of what the heir was promised with the response; 0: nothing */
    uint32_t moved;      /* it came from another station, or has been to one */
    uint64_t place;      /* its order among those that wait */
};

enum peer_kind { NO_PEER, DISPATCHER, STATION };

struct peer {
    uint32_t kind;    /* written last */
    uint32_t offered; /* DISPATCHER: slots that it has been offered and has not used */
    uint64_t offers;  /* ever: the number of the last one */
    struct bal_window window;
    uint64_t hungry_until, heard;
    uint32_t held; /* requests that it holds, by its own word */
};

struct station_block {
    uint64_t magic;
    uint64_t size;
    uint32_t busy;       /* an operation is under way, or was when somebody died */
    uint32_t slots_used; /* CALLED and RUNNING */
    struct bal_station_config config;
    uint64_t now;
    struct bal_sender sender;
    struct bal_list waiting[BAL_CLASSES_MAX];
    uint32_t jobs[BAL_CLASSES_MAX]; /* waiting and in slots */
    uint32_t waiting_count, away;
    uint32_t offered; /* to all dispatchers together */
    uint64_t beat_at, offer_at;
    /* power */
    uint32_t power; /* enum bal_power_state, as the keeper says; on where there is none */
    uint32_t draining;
    uint32_t wakes; /* the keeper is to be told to wake the app */
    struct bal_window keeper_window;
    uint64_t keeper_heard, keeper_valid_ns; /* when, and for how long that was good */
    uint64_t idle_since;
    uint64_t rested_at; /* when the keeper was told last that the app may rest; 0: not since it is on */
    /* stealing */
    uint64_t steal; /* the question that is open; 0: none */
    uint64_t steal_until;
    uint32_t expected; /* requests that have been granted and have not come yet */
    uint64_t expected_until;
    /* of late */
    uint32_t answers, errors;
    struct pace pace;
    struct bal_station_counts counts;
};

struct bal_station {
    struct station_block *block;
    uint32_t self;
    struct bal_rng rng;
    struct bal_ledger ledger;
    struct bal_owner *owner;
    struct peer *peer;
    uint64_t *peer_id;
    uint32_t *directory;
    uint32_t places;
    struct bal_set *dispatchers, *stations; /* numbers of peers */
    struct bal_set *hungry, *holders;       /* dispatchers that hold requests; that have been offered slots */
    struct bal_outbox box;
};

static inline struct job *job_at(const struct bal_station *s, uint32_t i) {
    return (struct job *)bal_ledger_entry(&s->ledger, i);
}

static inline bool has_slot(const struct job *j) {
    return j->entry.state == CALLED || j->entry.state == RUNNING;
}

static inline bool is_away(const struct job *j) {
    return j->entry.state == GIVEN || j->entry.state == AWAY;
}

/* Slots that nobody uses, of an app that is there. */
static inline uint32_t free_slots(const struct bal_station *s) {
    const struct station_block *block = s->block;
    return block->power == BAL_POWER_ON && !block->draining ? block->config.slots - block->slots_used : 0;
}

/* ---- station_block.c ---- */

void bal_station_rebuild(struct bal_station *s);

/* ---- station.c ---- */

void bal_station_enter(struct bal_station *s, uint64_t now);
static inline void station_end(struct bal_station *s) {
    __atomic_store_n(&s->block->busy, 0, __ATOMIC_RELEASE);
}
/* Runs as many of those that wait as there are slots. */
void bal_station_call_next(struct bal_station *s);
/* So many of those that wait, the least urgent and last ones, go to that station; returns how many, and
 * their tickets. */
uint32_t bal_station_give(struct bal_station *s, uint32_t amount, uint32_t lowest_rank, uint64_t target,
                          uint64_t *tickets);

/* ---- station_talk.c ---- */

/* Offers slots that are free and not offered yet. */
void bal_station_offer(struct bal_station *s);
/* A slot that was offered has been taken by somebody else: it is offered to nobody any longer, and whoever
 * thinks so hears of it with the next heartbeat. As in the lab: who is told next is drawn anew. */
void bal_station_void_offers(struct bal_station *s);
/* A request of this dispatcher has come: it uses what it was offered. */
void bal_station_use_offer(struct bal_station *s, uint64_t dispatcher);
/* A request has ended whose slot is meant for that dispatcher: it is offered to it; or, when it was promised
 * and cannot be had, it is told so. */
void bal_station_bequeath(struct bal_station *s, uint64_t heir, uint64_t promise);
/* The last request has left: asks another station for some. */
void bal_station_steal(struct bal_station *s);
/* Something waits for an app that is not on. */
void bal_station_wake_app(struct bal_station *s);

#endif
