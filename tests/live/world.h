/* SPDX-License-Identifier: BSD-2-Clause */
/* The world: dispatchers, stations and keepers in simulated time, with a network and processes that fail in
 * every way we could think of, and the truth next to what they know.
 *
 * Everything follows from the seed. world.c advances time, world_network.c carries datagrams, world_host.c is
 * machines and their processes, world_request.c the life of a request, world_power.c keepers and apps,
 * world_fault.c what goes wrong, world_nonsense.c who says what makes no sense, world_check.c,
 * world_conserve.c and world_twin.c what must hold. */
#ifndef TESTS_LIVE_WORLD_H
#define TESTS_LIVE_WORLD_H

#include "ballast/live/check.h"
#include "ballast/live/keeper.h"
#include "ballast/live/slow_start.h"
#include "ballast/live/station.h"

#include <setjmp.h>
#include <stdio.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define BEAT (20 * MS)
#define NOBODY UINT32_MAX

enum {
    DISPATCHERS_MAX = 4,
    STATIONS_MAX = 6,
    WORKERS_MAX = 8, /* of one machine at once, those that finish after a reload included */
    LEGS = 3,        /* a request is at a dispatcher, at a station, perhaps at a second one */
    FLEET = 7,
    CHECK_FALLS = 2, /* checks failed in a row that close a server; one that passes opens it */
    KEEPER_ID = 201, /* of the first server's */
};

/* ---- what may go wrong ---- */

struct weather {
    double loss, doubling, damage; /* of datagrams */
    uint64_t delay;                /* mean */
    double replay;                 /* of one that was recorded, for each that is sent */
    double death;                  /* of a process in the middle of an operation, for each operation */
    uint64_t fault_every;          /* mean time between other faults; 0: none */
};

/* ---- machines and processes ---- */

struct worker {
    bool alive, retiring;
    uint64_t pid;  /* of all processes that ever were, its own */
    void *view;    /* struct bal_dispatcher or struct bal_station */
    bool news_due; /* it has been woken, and will ask for its news */
};

/* A ticket that is void: its request is over. */
enum { SPENT = 8 };
struct spent {
    uint64_t ticket, pid;
};

/* What a machine has accepted of another one since both began. */
enum { NUMBERS = 64 };

struct heard_from {
    uint64_t boot, newest; /* of the last that was fresh; its sequence */
    uint64_t proved;       /* the sequence of the proof of that boot; 0: it was the first that was heard */
    /* Its present boot is not proved, though datagrams pass both ways: the last time that a challenge was
     * due, by both clocks, and how many were. */
    uint64_t unproven_boot, unproven_last, unproven_told;
    uint32_t unproven_count;
    /* Numbers of challenges that were sent there, by our time, and how many members had left by then. */
    struct {
        uint64_t number, time, left;
    } asked[NUMBERS];
    uint32_t asked_count;
    bool member; /* it has joined, when last seen */
};

/* A datagram that somebody has recorded. */
enum { RECORDS = 256 };
struct recorded {
    uint32_t size, to;
    uint8_t bytes[BAL_DATAGRAM_MAX];
};

enum host_kind { DISPATCHER_HOST, STATION_HOST };

struct host {
    enum host_kind kind;
    uint32_t index; /* among those of its kind */
    uint64_t id, boot;
    bool up, doomed;  /* the process that works now will not live to see the end of it */
    int64_t clock;    /* what its clock is ahead of the world's */
    uint64_t told;    /* the latest time that its block was told: its own time, which never goes back */
    uint64_t unheard; /* DISPATCHER_HOST: requests sent to silent servers, when this operation began */
    uint64_t mark; /* the order that the next entry of a list gets in this operation; UINT64_MAX: unknown */
    struct spent spent[SPENT];
    uint32_t spent_count;
    void *block;
    size_t block_size;
    char *before; /* room for a copy of the block */
    struct worker worker[WORKERS_MAX];
    uint32_t workers; /* that it should have */
    uint64_t pass_at; /* world's time of the PASS that counts */
    struct bal_receiver ear;
    uint32_t left_out; /* DISPATCHER_HOST: the server that its configuration leaves out, or NOBODY */
    bool vanished;     /* it does not come back before the storm is over */
    bool deaf, mute;   /* no datagram comes to it; none that it sends comes anywhere. Requests pass. */
    bool wrong_key;    /* DISPATCHER_HOST: its key is not that of the others */
    bool deafened;     /* DISPATCHER_HOST: another one hears stations in its place */
    uint64_t left;     /* members that were there and are not any longer, since it began */
    bool torn;         /* since it began, so that its counters may be wrong */
    bool reshaped;     /* DISPATCHER_HOST: its servers have changed since it began */
    struct {           /* DISPATCHER_HOST: what max_fails and checks should make of each server */
        uint32_t failures;
        uint64_t failed, closed_until; /* its own time; 0: it has not, it is not */
        uint32_t row;                  /* bad answers since the last good one; UINT32_MAX: not known */
        uint32_t failed_checks;        /* since the last that passed */
        bool failing;                  /* its checks have closed it, and none has passed since */
        uint64_t failing_since;
    } closing[STATIONS_MAX];
    uint64_t sent[16]; /* messages by type */
    struct heard_from from[DISPATCHERS_MAX + STATIONS_MAX];
    /* DISPATCHER_HOST, what it has said: */
    uint64_t declined_until[STATIONS_MAX]; /* this station should make no offers for now */
    uint32_t announced;                    /* requests that are held, to all stations; 0 also if not known */
    bool resynced[STATIONS_MAX];           /* this station was asked for the present */
    uint32_t absent;                       /* the server that its block was told to leave out, or NOBODY */
    bool swapped;                          /* the first of its two keys is the second of others */
    /* DISPATCHER_HOST, of each server: */
    uint64_t begun;               /* when this boot did, in its own time */
    uint64_t heard[STATIONS_MAX]; /* the last datagram that came, in its own time */
    struct {                      /* it has been idle, and requests are held here, by three clocks */
        uint64_t world, here, there;
    } wasted_since[STATIONS_MAX];
    uint64_t arrived_seen[STATIONS_MAX]; /* requests that had come there */
    uint64_t busy_at; /* STATION_HOST: the last time, its own, at which it was seen with requests, or began */
    /* STATION_HOST: offers to each dispatcher of earlier boots, and of this one */
    uint64_t offers_lost[DISPATCHERS_MAX], offers_now[DISPATCHERS_MAX];
};

struct app {
    bool up;          /* it would serve a request */
    bool crashed;     /* it is not up, and nobody could have known before */
    uint32_t running; /* requests that it works on */
    double slow;      /* 1: as it should be */
    bool fails, hangs;
    /* Where there are keepers: */
    bool process;      /* something of it is there */
    uint64_t ready_at; /* when it would serve a request */
    bool hooks_fail, hooks_hang;
    struct bal_keeper keeper;
    uint64_t keeper_boot, keep_at;
    uint64_t order, instance; /* that is under way; by which it was started or found */
    struct bal_sender mouth;
    struct bal_replay_window window;
};

/* ---- requests ---- */

enum leg_state { LEG_NONE, LEG_ON_WAY, LEG_WAITING, LEG_SENT, LEG_RUNNING, LEG_OVER };

struct leg {
    enum leg_state state;
    uint32_t host; /* of world.host */
    uint64_t pid;
    uint64_t ticket;
    uint64_t number;  /* of its arrival in a queue, for the order; of one that has come back, none */
    uint64_t since;   /* it waits, in the time of its machine */
    uint32_t version; /* one more each time that it is used: what is said of an earlier use is void */
};

enum outcome { OPEN, ANSWERED, FAILED, REFUSED, GONE, RESET };

struct request {
    enum outcome outcome;
    uint32_t rank;
    struct leg leg[LEGS];
    uint32_t server; /* to which it was sent */
    uint64_t sent;   /* when that was decided, by the clock of its dispatcher */
    uint32_t tries;  /* servers to which it was sent before, the first of them: */
    uint32_t tried[BAL_TRIES_MAX];
    uint32_t starts;  /* at an app */
    uint32_t running; /* the leg that is with an app, or NOBODY */
    uint32_t version; /* of its work there */
    bool at_app;      /* the app works on it */
    bool failed;
    bool reached;  /* if it failed: there was an answer */
    bool promised; /* the head of its response has a message for the dispatcher: */
    struct bal_message promise;
};

/* ---- events ---- */

enum what {
    ARRIVE,
    DATAGRAM,
    PASS,
    NEWS,
    COME,     /* a request comes to the machine of its leg */
    APP_HEAD, /* the app begins to answer */
    APP_DONE,
    REPLY,       /* the answer of a leg comes to the one before */
    NOT_TAKEN,   /* the leg was refused; the one before learns it */
    BROKEN_UP,   /* the leg has died; the one before learns it */
    BROKEN_DOWN, /* the one before has died or closed; the leg learns it */
    CLIENT_GONE,
    TIMEOUT,
    REAP,
    RESPAWN,
    RESTART,
    HEAL, /* something that was wrong for a while is right again */
    FAULT,
    HOOK, /* an order of a keeper has been carried out */
    KEEP, /* a keeper's time */
};

struct event {
    uint64_t time, order;
    enum what what;
    uint32_t host, request, leg, version;
    uint64_t pid, number;
    uint32_t bytes; /* of a datagram, in world.datagram; or what HEAL heals */
};

struct datagram {
    uint8_t bytes[BAL_DATAGRAM_MAX];
    uint32_t size;
    uint32_t next_free;
};

struct world {
    uint64_t seed;
    uint64_t slow_start_ns; /* of dispatchers without stations */
    bool checked;           /* their servers are */
    struct bal_rng rng;
    struct recorded recorded[RECORDS], archive[RECORDS]; /* the last ones; some of all that ever were */
    uint32_t records;
    uint64_t look_every; /* a host looks at the time at least so often; else when it was asked to */
    uint64_t now;
    FILE *trace;     /* NULL: none */
    uint64_t digest; /* of the history */
    uint64_t steps;
    struct weather weather;
    bool storm, arrivals;
    bool faultless; /* nothing goes wrong in this world */
    bool single;    /* one thing does, at a dispatcher among others, and for long: what do the others do? */

    /* what kind of world it is */
    char policy_text[64];
    struct bal_policy_spec policy;
    bool stations, keepers;
    bool joins;        /* one side is listed nowhere: it joins */
    bool servers_join; /* the servers; otherwise the dispatchers */
    uint32_t dispatchers, servers, classes, slots;
    bool found;         /* slots are found, from 1 to `slots`, at the stations or else at the dispatcher */
    double probes_each; /* that the policy may send for a request */
    uint64_t gap;       /* mean time between requests */
    uint32_t tries;     /* of a request at most */
    uint32_t max_fails; /* of every server */
    uint64_t fail_ns;
    double weight[STATIONS_MAX];
    uint32_t most[STATIONS_MAX]; /* requests of one dispatcher at a server at most; 0: any number */
    struct bal_dispatcher_config dispatcher_config;
    struct bal_station_config station_config;
    size_t dispatcher_view;

    struct host host[DISPATCHERS_MAX + STATIONS_MAX];
    uint32_t hosts;
    struct app app[STATIONS_MAX];
    bool cut[DISPATCHERS_MAX + STATIONS_MAX][DISPATCHERS_MAX + STATIONS_MAX];
    bool lost[DISPATCHERS_MAX + STATIONS_MAX][DISPATCHERS_MAX + STATIONS_MAX]; /* datagrams, one way */
    struct bal_key key, other_key, second_key; /* second: of fleets whose key is being changed */
    bool two_keys;
    uint64_t pids, numbers;

    struct request *request;
    uint32_t requests, oldest; /* all before the oldest are over */

    struct event *heap;
    uint32_t in_heap, heap_room;
    uint64_t order;
    struct datagram *datagram;
    uint32_t datagrams, free_datagram;

    jmp_buf broken;
    char fault[256];
};

/* ---- world.c ---- */

void world_at(struct world *w, uint64_t time, struct event event);
_Noreturn void world_break(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of the history. */
void world_note(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool world_chance(struct world *w, double probability);
/* Exponential. */
uint64_t world_time(struct world *w, uint64_t mean);

static inline uint64_t host_now(const struct world *w, const struct host *h) {
    return w->now + (uint64_t)h->clock;
}

static inline struct host *station_host(struct world *w, uint32_t server) {
    return &w->host[w->dispatchers + server];
}

static inline uint32_t number_of(const struct world *w, const struct host *h) {
    return (uint32_t)(h - w->host);
}

/* Where a host is, in a world where hosts join. */
struct bal_address world_address(uint32_t host);
/* The server that a dispatcher calls so. */
uint32_t world_server_of(const struct world *w, const char *name);

/* ---- world_network.c ---- */

/* Sends what a host has handed out. */
void world_post(struct world *w, struct host *from, const struct bal_message *message);
/* The same between a keeper and its station, on one machine: nothing is lost. */
void world_post_near(struct world *w, uint32_t host, bool to_keeper, const struct bal_message *message);
void world_deliver(struct world *w, const struct event *event);
/* One of the machine's processes hears it; BAL_RECEIPTS: none, or it died of it. */
enum bal_receipt world_hear(struct world *w, struct host *h, const struct bal_message *message);
void world_hear_riding(struct world *w, struct host *h, const struct bal_message *message);

/* ---- world_host.c ---- */

void host_begin(struct world *w, uint32_t number);
void host_end(struct host *h);
/* A process of the machine that takes requests; NOBODY: none does. */
uint32_t host_any(struct world *w, struct host *h);
uint32_t host_find(const struct host *h, uint64_t pid);
/* Every operation of a process stands between these two. False: it has been killed in the middle of it, and
 * nothing of what the operation answered is known to anybody. */
void op_begin(struct world *w, struct host *h);
bool op_end(struct world *w, struct host *h, uint32_t worker);
void host_kill(struct world *w, struct host *h, uint32_t worker);
void host_crash(struct world *w, struct host *h);
/* A request is over whose ticket this process had. */
void host_spend(struct host *h, uint64_t pid, uint64_t ticket);
/* One that has vanished comes back. */
void host_return(struct world *w, struct host *h);
/* The key that it has now. */
void host_set_key(struct world *w, struct host *h, bool wrong);
void host_reload(struct world *w, struct host *h);
void host_configure(struct world *w, struct host *h, uint32_t worker);
void host_on(struct world *w, const struct event *event); /* PASS, REAP, RESPAWN, RESTART */

/* ---- world_request.c ---- */

void request_on(struct world *w, const struct event *event);
void request_news(struct world *w, struct host *h, uint32_t worker);
/* The process of this leg has died. */
void request_leg_dies(struct world *w, uint32_t request, uint32_t leg);
/* The app has gone down: what it was doing has failed. */
void request_app_dies(struct world *w, uint32_t server);

/* ---- world_power.c ---- */

/* The machine begins: nothing runs there. */
void power_boot(struct world *w, uint32_t server);

/* ---- world_replay.c ---- */

void replay_record(struct world *w, uint32_t to, const uint8_t *bytes, size_t size);
/* Perhaps one of those that were recorded is sent again. */
void replay_some(struct world *w);
/* Who sees a challenge answers it with an old proof of the one that is asked, if one was recorded. */
void replay_answer(struct world *w, uint32_t asker, uint32_t asked, const uint8_t *challenge);
/* As if it had just been sent. */
void world_send_bytes(struct world *w, uint32_t to, const uint8_t *bytes, size_t size);
void power_on(struct world *w, const struct event *event); /* HOOK, KEEP */
void power_hear(struct world *w, uint32_t server, const struct bal_message *message);
void power_crash_app(struct world *w, uint32_t server);
void power_crash_keeper(struct world *w, uint32_t server);

/* ---- world_fault.c ---- */

void fault_on(struct world *w, const struct event *event); /* FAULT, HEAL */
void fault_heal_all(struct world *w);
/* The one of a world that has a single one. */
void fault_single(struct world *w);

/* ---- world_check.c ---- */

void check_host(struct world *w, struct host *h);
/* The block of this machine is lost: what it had counted is remembered. */
void check_before_crash(struct world *w, struct host *h);
/* Its time has just been told: nothing that is known or held is too old. */
void check_ages(struct world *w, struct host *h);
void check_counts(struct world *w, struct host *h);
/* A dispatcher has said where a request goes, or that it goes nowhere. */
void check_dispatched(struct world *w, const struct host *h, uint32_t request, const struct bal_dispatch *to);
/* It has been told how a check went. */
void check_checked(struct world *w, struct host *h, uint32_t server, bool passed);
/* It has been told how a request went that it had sent. */
void check_outcome(struct world *w, struct host *h, uint32_t server, enum bal_outcome outcome);
void check_order(struct world *w, uint32_t request, uint32_t leg);
void check_end(struct world *w);

void *any_view(const struct host *h);
/* Which number of this dispatcher the world's server has; NOBODY: none. */
uint32_t server_number(const struct world *w, const struct bal_dispatcher *d, uint32_t server);

/* ---- world_twin.c ---- */

/* An operation begins; has been made. */
void twin_begin(struct world *w, struct host *h);
void twin_check(struct world *w, struct host *h);
/* The process that made it has died; the block is torn. */
void twin_torn(struct host *h, uint32_t worker);
/* Its block is new. */
void twin_boot(const struct world *w, struct host *h);
/* Hears a message, and compares what has become of it with the rules of docs/wire.md. */
void twin_hear(struct world *w, struct host *h, const struct bal_message *message);
/* A host has said something. */
void twin_said(struct world *w, struct host *h, const struct bal_message *message);
/* A station tells its keeper that the app may rest. */
void twin_rests(struct world *w, const struct host *h);
/* The servers of a dispatcher are those of its configuration. */
void twin_configured(struct world *w, struct host *h);
/* A ticket that is void is used: nothing may come of it. */
void twin_try_spent(struct world *w, struct host *h);
/* A dispatcher has been told how a request went at this server. */
void twin_answered(struct world *w, struct host *h, uint32_t server, bool bad);
/* What it has just decided for a request; waits: since it waited. */
void twin_dispatched(struct world *w, const struct host *h, uint32_t request, const struct bal_dispatch *to);

/* Do datagrams pass from one host to another? */
bool datagrams_pass(const struct world *w, uint32_t from, uint32_t to);

/* ---- world_nonsense.c ---- */

void nonsense(struct world *w);

/* ---- world_conserve.c ---- */

/* Its time has just been told: is an app idle while it holds requests? */
void check_conservation(struct world *w, struct host *h);

#endif
