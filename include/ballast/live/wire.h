/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages between dispatchers, stations and keepers: encoding to bytes and decoding.
 *
 * A message is one datagram of at most 256 bytes in a fixed little-endian layout, signed with SipHash-2-4;
 * docs/wire.md specifies the bytes. This is the only parser of what comes from the network. It uses no
 * socket, clock or address, allocates nothing and holds no pointers, so that its structs may lie in memory
 * that processes share, under the lock of their owner.
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
 *         ... m is genuine, is for me, and was not received before
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
    BAL_MESSAGE_TEXT = 768,   /* bytes that are enough for any message as text, terminator included */
    BAL_CLASSES_MAX = 8,      /* classes in a LOAD: as many as in RFC 9218 */
    BAL_GRANT_MAX = 24,       /* tickets in one grant */
    BAL_VALID_MAX = 86400000, /* the longest time that a message may name: a day, in ms */
    BAL_MSG_TYPES = 16,       /* one more than the greatest number of a type */
    BAL_WINDOW = 64,          /* how far a message may be behind the newest of its sender */
};

#define BAL_EVERYONE UINT64_C(0) /* as a receiver: all that receive it; no participant has this id */

/* Numbers are those of the wire. "Statements" describe the present state: the newest is used, and one that
 * comes late is not. The others are requests or replies. */
enum bal_message_type {
    BAL_MSG_IDLE = 1,       /* station to one dispatcher: free slots, offered to it alone. A statement */
    BAL_MSG_LOAD = 2,       /* station to dispatcher: how busy it is; heartbeat, and the answer to a probe. A
                               statement */
    BAL_MSG_POWER = 3,      /* station to all dispatchers, keeper to its station. A statement */
    BAL_MSG_PROBE = 4,      /* dispatcher to station: how long is your queue? */
    BAL_MSG_START = 5,      /* dispatcher to station, station to keeper: start the app; repeated until POWER
                               answers */
    BAL_MSG_MOVE = 6,       /* dispatcher to station: your last job of the lowest rank goes to the target */
    BAL_MSG_STEAL = 7,      /* station to station: may I have some requests? */
    BAL_MSG_GRANT = 8,      /* station to station: these requests will come */
    BAL_MSG_BACKLOG = 9,    /* dispatcher to stations: this many are held here. A statement */
    BAL_MSG_RESYNC = 10,    /* dispatcher to stations: I have restarted, send me your state */
    BAL_MSG_STOP = 11,      /* station to keeper: the app may be stopped */
    BAL_MSG_CHALLENGE = 12, /* to a sender whose boot is not known: are you there now? */
    BAL_MSG_PROOF = 13,     /* the answer: this is my boot */
    BAL_MSG_JOIN = 14,      /* to one that may not know the sender: this is my address (join.h) */
    BAL_MSG_PACE = 15,      /* dispatcher to station: send me heartbeats no faster than this */
};

enum bal_join_kind { BAL_JOIN_DISPATCHER = 1, BAL_JOIN_STATION = 2 };

enum bal_power_state {
    BAL_POWER_OFF,
    BAL_POWER_SETUP, /* started, and not ready yet */
    BAL_POWER_ON,
    BAL_POWER_DRAINING, /* finishes what it has and takes nothing new */
};

/* The bodies. Times are in milliseconds from the receipt, unless stated otherwise. A message is valid for
 * valid_ms and forgotten then. An id that names something is never 0. */

struct bal_message_idle {
    uint32_t free;     /* slots that are offered, at least 1 */
    uint32_t slots;    /* of the station, at least as many */
    uint32_t valid_ms; /* at least 1 */
    /* Each offer of a slot is a token, numbered by its station, for each dispatcher from 1. These are the
     * last `free` up to and including this one; a token that has been used, or was received before, is not
     * counted again. */
    uint64_t token;
};

struct bal_message_load {
    uint64_t probe; /* the id of the probe that this answers; 0: a heartbeat */
    uint32_t slots; /* at least 1 */
    uint32_t in_service;
    uint32_t room;       /* jobs that it would still take before it refuses */
    uint32_t answers;    /* responses of late ... */
    uint32_t errors;     /* ... and those among them that no client can use */
    uint32_t latency_us; /* the time that a job which came now would take; UINT32_MAX: not reported */
    uint32_t valid_ms;   /* at least 1 */
    uint32_t power;      /* enum bal_power_state */
    uint32_t classes;    /* 1 ... BAL_CLASSES_MAX */
    uint32_t jobs[BAL_CLASSES_MAX]; /* of each class, the most urgent first, waiting and in service */
};

struct bal_message_power {
    uint32_t power;    /* enum bal_power_state */
    uint32_t failures; /* starts in a row that came to nothing */
    uint32_t retry_ms; /* it is not started again before that, whatever is requested */
    uint32_t valid_ms; /* at least 1 */
};

/* Ids of probes are random: an answer that names one cannot be older than the probe, whatever the station's
 * clocks show. */
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
    uint64_t steal;                  /* id of the STEAL that this answers */
    uint32_t count;                  /* 0: there is nothing to give */
    uint64_t tickets[BAL_GRANT_MAX]; /* of the requests that will come to the thief */
};

/* Sent to one station alone, it requests one free slot, and is answered by IDLE or LOAD; with held 0 it means
 * that the station's offers cannot be used for valid_ms. */
struct bal_message_backlog {
    uint32_t held;     /* 0: no backlog any longer */
    uint32_t valid_ms; /* at least 1 */
};

struct bal_message_stop {
    uint32_t after_ms; /* when no start was requested for so long */
};

/* CHALLENGE and PROOF. */
struct bal_message_nonce {
    uint64_t nonce; /* random, not 0; the proof names that of the challenge */
};

/* Of IP. */
struct bal_address {
    uint32_t family;    /* 4 or 6 */
    uint32_t port;      /* at least 1 */
    uint64_t high, low; /* of the address; of IPv4 the low half of `low` alone */
};

struct bal_message_join {
    uint64_t nonce; /* of the challenge that it answers; 0: none */
    uint32_t kind;  /* enum bal_join_kind: what the sender is */
    struct bal_address address;
};

struct bal_message_pace {
    uint32_t beat_ms; /* at least 1 */
};

struct bal_message {
    enum bal_message_type type;
    uint32_t fleet;    /* messages of other fleets are rejected */
    uint64_t sender;   /* id, never BAL_EVERYONE */
    uint64_t receiver; /* id or BAL_EVERYONE */
    uint64_t boot;     /* different at each start of the sender, not 0 */
    uint64_t sequence; /* greater with each message of a boot, whatever the receiver, from 1 */
    union {            /* nothing for START and RESYNC */
        struct bal_message_idle idle;
        struct bal_message_load load;
        struct bal_message_power power;
        struct bal_message_probe probe;
        struct bal_message_move move;
        struct bal_message_steal steal;
        struct bal_message_grant grant;
        struct bal_message_backlog backlog;
        struct bal_message_stop stop;
        struct bal_message_nonce nonce;
        struct bal_message_join join;
        struct bal_message_pace pace;
    };
};

/* ---- keys ---- */

/* What a fleet shares. Without a key of its own a fleet uses a public one: damage is detected then, but
 * forgery is not. */
struct bal_key {
    uint8_t bytes[16];
};

/* Reads 32 hexadecimal digits; not all of them 0. */
enum bal_code bal_key_parse(const char *text, struct bal_key *key, struct bal_error *err);
struct bal_key bal_key_none(void);
/* While the key of a fleet is changed there are two: messages are signed with the first, and both are
 * accepted. Otherwise the second is bal_key_none(). Reads one key, or two with blanks between them. */
struct bal_keys {
    struct bal_key first, second;
};
enum bal_code bal_keys_parse(const char *text, struct bal_keys *keys, struct bal_error *err);
bool bal_key_is_secret(const struct bal_key *key);
/* An error when datagrams leave this machine (loopback is false) and the key is not secret. */
enum bal_code bal_key_check(const struct bal_key *key, bool loopback, struct bal_error *err);

/* The id of the participant with this address, as text: "10.0.0.11:8080" or "unix:/run/app". Never
 * BAL_EVERYONE. */
uint64_t bal_address_id(const char *text, size_t length);

/* ---- messages and bytes ---- */

/* NULL when the message can be sent, else the member that is out of its range. */
const char *bal_message_fault(const struct bal_message *message);

/* Writes the datagram and returns its size, at most BAL_DATAGRAM_MAX; 0 when the message has a fault. Bytes
 * of the struct that the type does not use are ignored. */
size_t bal_message_encode(const struct bal_message *message, const struct bal_key *key,
                          uint8_t bytes[BAL_DATAGRAM_MAX]);

/* "PROBE 7 > 3, boot 1 sequence 9: probe=5" without a newline; always terminated. Returns the length that a
 * large enough buffer would have needed. */
size_t bal_message_print(const struct bal_message *message, char *text, size_t size);
const char *bal_message_name(enum bal_message_type type); /* "IDLE"; "?" when there is none */

/* Does it describe the present state, so that one which comes late must not be used? */
static inline bool bal_message_is_statement(enum bal_message_type type) {
    return type <= BAL_MSG_POWER || type == BAL_MSG_BACKLOG;
}

/* ---- sending ---- */

struct bal_sender {
    uint32_t fleet;
    uint64_t id, boot;
    uint64_t sequence; /* of the last message */
};

/* boot must differ from that of every earlier start, and not be 0: a random number will do. No order is
 * needed. */
void bal_sender_init(struct bal_sender *sender, uint32_t fleet, uint64_t id, uint64_t boot);
/* Fills in fleet, sender, boot and the next sequence. One message to many is stamped once, for
 * BAL_EVERYONE. */
void bal_sender_stamp(struct bal_sender *sender, struct bal_message *message);

/* ---- receiving ---- */

/* The result of receiving a datagram; each has its counter. Messages with the first two may be used. */
enum bal_receipt {
    BAL_RECEIPT_FRESH, /* newer than all received before */
    BAL_RECEIPT_LATE,  /* a newer one came earlier: a statement is out of date (a LOAD may still be the reply
                          to a probe); other types are as valid as ever */
    BAL_RECEIPT_MALFORMED,      /* not a message */
    BAL_RECEIPT_VERSION,        /* of another version of the wire */
    BAL_RECEIPT_BAD_MAC,        /* not signed with a key of ours, or damaged */
    BAL_RECEIPT_WRONG_RECEIVER, /* for another fleet or another receiver */
    BAL_RECEIPT_UNKNOWN_SENDER, /* from a sender that is not configured */
    BAL_RECEIPT_OLD,            /* too far behind the newest */
    BAL_RECEIPT_REPEATED,       /* was received before */
    BAL_RECEIPT_UNPROVEN,       /* of another boot than the one that is known: it must be challenged; or of a
                                   sender that has not joined yet */
    BAL_RECEIPT_REFUSED,        /* a JOIN that is not accepted: there are too many members, or its address is
                                   not allowed */
    BAL_RECEIPTS,
};

const char *bal_receipt_name(enum bal_receipt receipt); /* "forged" */

/* What a receiver remembers of one sender. All zeros: nothing, so that the first message is fresh.
 *
 * A message of another boot than the one that is known may be the first of a sender that has restarted, or a
 * replay of a recording from before or after the known boot: neither numbers nor clocks can tell. So the
 * sender is challenged with a random number that no recorded answer can contain, and only its PROOF makes its
 * boot the known one. Messages received before the proof are never used. */
struct bal_replay_window {
    uint64_t boot, newest;
    uint64_t seen;                      /* bit i: the message newest - i was received */
    uint64_t nonce, nonce_at, asked_at; /* of the challenge that is under way; nonce 0: none is. Times in ns
                                         */
};

/* FRESH, LATE, OLD, REPEATED or UNPROVEN; records the message as received. O(1). */
enum bal_receipt bal_replay_window_check(struct bal_replay_window *window, uint64_t boot, uint64_t sequence);

/* The same for a message whose time is known: one that proves its boot makes it the known one. */
enum bal_receipt bal_replay_window_admit(struct bal_replay_window *window, uint64_t now,
                                         const struct bal_message *message);

/* The message cannot be a replay, because it came with a response: its boot is the known one from now on. */
void bal_replay_window_trust_boot(struct bal_replay_window *window, uint64_t boot, uint64_t sequence);

/* For an UNPROVEN message: the challenge to send to its alleged sender. random: an unpredictable number.
 * False: one was sent a moment ago. */
bool bal_replay_window_challenge(struct bal_replay_window *window, uint64_t now, uint64_t random,
                                 const struct bal_message *unproven, struct bal_message *challenge);

/* Should this CHALLENGE be answered, whatever the result of the window check? When both ends have restarted,
 * both must be able to prove themselves. */
static inline bool bal_receipt_is_answered(enum bal_receipt receipt) {
    return receipt <= BAL_RECEIPT_LATE || receipt == BAL_RECEIPT_UNPROVEN;
}

struct bal_receiver {
    uint32_t fleet;
    uint64_t id;
    struct bal_keys keys;
    uint64_t counts[BAL_RECEIPTS]; /* datagrams by receipt */
};

void bal_receiver_init(struct bal_receiver *receiver, uint32_t fleet, uint64_t id, const struct bal_key *key);
/* The same with two keys. */
void bal_receiver_init_keys(struct bal_receiver *receiver, uint32_t fleet, uint64_t id,
                            const struct bal_keys *keys);

/* Reads a datagram, of any size. FRESH: *message is filled in, its signature is valid and it is for us; it is
 * not counted yet and must be passed to bal_receiver_accept. Anything else is final and counted, and *message
 * is not to be used. */
enum bal_receipt bal_receiver_open(struct bal_receiver *receiver, const uint8_t *bytes, size_t size,
                                   struct bal_message *message);

/* The same for a host with several ids: a message for any id of the fleet is FRESH, and message->receiver
 * says which one. */
enum bal_receipt bal_receiver_open_any(struct bal_receiver *receiver, const uint8_t *bytes, size_t size,
                                       struct bal_message *message);

/* Was it received before? window is that of message->sender, NULL when the host knows no such sender. Counts
 * the result. */
enum bal_receipt bal_receiver_accept(struct bal_receiver *receiver, struct bal_replay_window *window,
                                     const struct bal_message *message);

#ifdef __cplusplus
}
#endif
#endif
