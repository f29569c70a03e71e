/* What dispatchers, stations and keepers say to each other: messages to bytes and back.
 *
 * A message is one datagram of at most 256 bytes in a fixed little-endian layout, signed with SipHash-2-4;
 * docs/wire.md specifies the bytes. This is the only parser of what comes from the network. It knows no
 * socket, clock or address, allocates nothing and holds no pointers, so that its structs may lie in memory
 * that processes share, under the lock of whoever owns them.
 *
 *     struct bal_sender me;
 *     bal_sender_init(&me, fleet, my_id, boot);
 *     struct bal_message m = {.type = BAL_MSG_PROBE, .receiver = station, .probe = {.probe = random}};
 *     uint8_t bytes[BAL_DATAGRAM_MAX];
 *     bal_sender_stamp(&me, &m);
 *     size_t size = bal_message_encode(&m, &key, bytes);
 *
 *     struct bal_receiver ear;
 *     bal_receiver_init(&ear, fleet, my_id, &key);
 *     if (bal_receiver_open(&ear, bytes, size, &m) == BAL_RECEIPT_FRESH &&
 *         bal_receiver_accept(&ear, window_of(m.sender), &m) <= BAL_RECEIPT_LATE)
 *         ... m is from who it says, for me, and has not been here before
 *
 * Messages are lost, repeated, late and reordered; nothing here waits for an answer. */
#ifndef BALLAST_LIVE_WIRE_H
#define BALLAST_LIVE_WIRE_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BAL_WIRE_VERSION = 1,
    BAL_DATAGRAM_MAX = 256,   /* bytes of the longest message; a longer datagram is malformed */
    BAL_MESSAGE_TEXT = 768,   /* room that any message needs as text, its end included */
    BAL_CLASSES_MAX = 8,      /* classes that a load tells apart: those of RFC 9218 */
    BAL_GRANT_MAX = 24,       /* tickets in one grant */
    BAL_VALID_MAX = 86400000, /* the longest time that a message may name: a day, in ms */
    BAL_MSG_TYPES = 12,       /* one more than the greatest number of a type */
    BAL_WINDOW = 64,          /* how far a message may be behind the newest of its sender */
};

#define BAL_EVERYONE UINT64_C(0) /* as a receiver: whoever hears it; nobody has this id */

/* Numbers are those of the wire. "Statements" tell the present: the newest is believed, and one that comes
 * late is not. The others ask for something, or answer. */
enum bal_message_type {
    BAL_MSG_IDLE = 1,  /* station to one dispatcher: free slots, offered to it alone. A statement */
    BAL_MSG_LOAD = 2,  /* station to dispatcher: how busy it is; heartbeat, and the answer to a probe. A
                          statement */
    BAL_MSG_POWER = 3, /* station to all dispatchers, keeper to its station. A statement */
    BAL_MSG_PROBE = 4, /* dispatcher to station: how long are you? */
    BAL_MSG_WAKE = 5,  /* dispatcher to station, station to keeper: start the app; said until POWER answers */
    BAL_MSG_MOVE = 6,  /* dispatcher to station: your last job of the lowest rank goes to the target */
    BAL_MSG_STEAL = 7, /* station to station: may I have some? */
    BAL_MSG_GRANT = 8, /* station to station: these come */
    BAL_MSG_HUNGRY = 9,  /* dispatcher to stations: so many are held here. A statement */
    BAL_MSG_RESYNC = 10, /* dispatcher to stations: I have begun anew, tell me the present */
    BAL_MSG_REST = 11,   /* station to keeper: the app may rest */
};

enum bal_power_state {
    BAL_POWER_OFF,
    BAL_POWER_SETUP, /* started, and not ready yet */
    BAL_POWER_ON,
    BAL_POWER_DRAINING, /* finishes what it has and takes nothing new */
};

/* The bodies. Times are in milliseconds from the receipt, unless they say otherwise; what is said holds for
 * valid_ms and is forgotten then. Numbers called ids are never 0 where they name something. */

struct bal_message_idle {
    uint32_t free;     /* slots that are offered, at least 1 */
    uint32_t slots;    /* of the station, at least as many */
    uint32_t valid_ms; /* at least 1 */
    /* Each offer of a slot is a token, numbered by its station, for each dispatcher from 1. These are
     * the last `free` up to and including this one; a token that has been used, or has been told of before,
     * is not counted again. */
    uint64_t token;
};

struct bal_message_load {
    uint64_t probe; /* the id of the probe that this answers; 0: a heartbeat */
    uint32_t slots; /* at least 1 */
    uint32_t in_service;
    uint32_t room;                  /* jobs that it would still take before it refuses */
    uint32_t answers;               /* responses of late ... */
    uint32_t errors;                /* ... and those among them that no client can use */
    uint32_t latency_us;            /* the time that a job which came now would take; UINT32_MAX: not told */
    uint32_t valid_ms;              /* at least 1 */
    uint32_t power;                 /* enum bal_power_state */
    uint32_t classes;               /* 1 ... BAL_CLASSES_MAX */
    uint32_t jobs[BAL_CLASSES_MAX]; /* of each class, the most urgent first, waiting and in service */
};

struct bal_message_power {
    uint32_t power;    /* enum bal_power_state */
    uint32_t failures; /* starts in a row that came to nothing */
    uint32_t retry_ms; /* it is not started again before that, whoever asks */
    uint32_t valid_ms; /* at least 1 */
};

/* Ids of probes are random: an answer that names one cannot be older than the question, whatever the clocks
 * of the station say. */
struct bal_message_probe {
    uint64_t probe; /* the answer names it */
};

struct bal_message_move {
    uint64_t target; /* id of the other station */
};

struct bal_message_steal {
    uint64_t steal; /* the grant names it */
    uint32_t most;  /* at least 1 */
};

struct bal_message_grant {
    uint64_t steal;                  /* which question this answers */
    uint32_t count;                  /* 0: there is nothing to be had */
    uint64_t tickets[BAL_GRANT_MAX]; /* of the requests that will come to the thief */
};

struct bal_message_hungry {
    uint32_t held;     /* 0: not hungry any longer */
    uint32_t valid_ms; /* at least 1 */
};

struct bal_message_rest {
    uint32_t after_ms; /* when it has not been woken for so long */
};

struct bal_message {
    enum bal_message_type type;
    uint32_t fleet;    /* messages of other fleets are not for us */
    uint64_t sender;   /* id, never BAL_EVERYONE */
    uint64_t receiver; /* id or BAL_EVERYONE */
    uint64_t boot;     /* greater at each start of the sender, from 1 */
    uint64_t sequence; /* greater with each message of a boot, to whomever, from 1 */
    union {            /* nothing for WAKE and RESYNC */
        struct bal_message_idle idle;
        struct bal_message_load load;
        struct bal_message_power power;
        struct bal_message_probe probe;
        struct bal_message_move move;
        struct bal_message_steal steal;
        struct bal_message_grant grant;
        struct bal_message_hungry hungry;
        struct bal_message_rest rest;
    };
};

/* ---- keys ---- */

/* What a fleet shares. Without a key of its own a fleet uses the one that everybody knows: damage is seen
 * then, but forgery is not. */
struct bal_key {
    uint8_t bytes[16];
};

/* Reads 32 hexadecimal digits; not all of them 0. */
enum bal_code bal_key_parse(const char *text, struct bal_key *key, struct bal_error *err);
struct bal_key bal_key_none(void);
bool bal_key_is_secret(const struct bal_key *key);
/* An error when datagrams leave this machine (loopback is false) and the key is not secret. */
enum bal_code bal_key_check(const struct bal_key *key, bool loopback, struct bal_error *err);

/* ---- messages and bytes ---- */

/* NULL when the message can be sent, else the member that is out of its range. */
const char *bal_message_fault(const struct bal_message *message);

/* Writes the datagram and returns its size, at most BAL_DATAGRAM_MAX; 0 when the message has a fault. Bytes
 * of the struct that the type does not use are not looked at. */
size_t bal_message_encode(const struct bal_message *message, const struct bal_key *key,
                          uint8_t bytes[BAL_DATAGRAM_MAX]);

/* "PROBE 7 > 3, boot 1 sequence 9: probe=5" without a newline; always terminated. Returns the length that a
 * large enough buffer would have needed. */
size_t bal_message_print(const struct bal_message *message, char *text, size_t size);
const char *bal_message_name(enum bal_message_type type); /* "IDLE"; "?" when there is none */

/* Does it tell the present, so that one which comes late is not to be believed? */
static inline bool bal_message_is_statement(enum bal_message_type type) {
    return type <= BAL_MSG_POWER || type == BAL_MSG_HUNGRY;
}

/* ---- sending ---- */

struct bal_sender {
    uint32_t fleet;
    uint64_t id, boot;
    uint64_t sequence; /* of the last message */
};

/* boot must be greater than at every start before: nanoseconds of the wall clock will do. */
void bal_sender_init(struct bal_sender *sender, uint32_t fleet, uint64_t id, uint64_t boot);
/* Fills in fleet, sender, boot and the next sequence. One message to many is stamped once, for
 * BAL_EVERYONE. */
void bal_sender_stamp(struct bal_sender *sender, struct bal_message *message);

/* ---- receiving ---- */

/* What becomes of a datagram; each has its counter. The first two may be used. */
enum bal_receipt {
    BAL_RECEIPT_FRESH, /* newer than all before it */
    BAL_RECEIPT_LATE,  /* a newer one came before it: a statement is not the present any longer (a load may
                          still be the answer that somebody waits for), the rest is as good as ever */
    BAL_RECEIPT_MALFORMED, /* not a message */
    BAL_RECEIPT_VERSION,   /* of another version of the wire */
    BAL_RECEIPT_FORGED,    /* not signed with our key, or damaged */
    BAL_RECEIPT_STRAY,     /* for another fleet or another receiver */
    BAL_RECEIPT_STRANGER,  /* of a sender that the host does not know */
    BAL_RECEIPT_OLD,       /* of an earlier boot, or too far behind */
    BAL_RECEIPT_REPEATED,  /* has been here before */
    BAL_RECEIPTS,
};

const char *bal_receipt_name(enum bal_receipt receipt); /* "forged" */

/* What a receiver remembers of one sender. All zeros: nothing, so that whatever comes is fresh. */
struct bal_window {
    uint64_t boot, newest;
    uint64_t seen; /* bit i: the message newest - i has been here */
};

/* FRESH, LATE, OLD or REPEATED, and remembers that it came. O(1). */
enum bal_receipt bal_window_pass(struct bal_window *window, uint64_t boot, uint64_t sequence);

/* For an OLD message of a sender of which nothing has been heard for longer than anything it can have said
 * was valid. One of an earlier boot: its clock was wrong, and it begins anew with this message; true. One of
 * the boot that is known: no clock makes a sender count from the beginning, so somebody has recorded it;
 * false. */
bool bal_window_forgive(struct bal_window *window, uint64_t boot, uint64_t sequence);

struct bal_receiver {
    uint32_t fleet;
    uint64_t id;
    struct bal_key key;
    uint64_t counts[BAL_RECEIPTS]; /* datagrams by what became of them */
};

void bal_receiver_init(struct bal_receiver *receiver, uint32_t fleet, uint64_t id, const struct bal_key *key);

/* Reads a datagram, of any size. FRESH: *message is filled, is signed and is for us; it is not counted yet
 * and must be given to bal_receiver_accept. Anything else is final and counted, and *message is not to be
 * used. */
enum bal_receipt bal_receiver_open(struct bal_receiver *receiver, const uint8_t *bytes, size_t size,
                                   struct bal_message *message);

/* Has it been here before? window is that of message->sender, NULL when the host knows no such sender.
 * Counts. */
enum bal_receipt bal_receiver_accept(struct bal_receiver *receiver, struct bal_window *window,
                                     const struct bal_message *message);

#ifdef __cplusplus
}
#endif
#endif
