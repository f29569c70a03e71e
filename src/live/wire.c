/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages to bytes and back by tables of their fields; keys, signatures and replay windows. */
#include "ballast/live/wire.h"
#include "policy/statement.h"

#include <assert.h>
#include <endian.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* Where things stand in a datagram: head, body, tag. The tag is the SipHash-2-4 of all bytes before it. */
enum {
    MAGIC = 0xba,
    AT_VERSION = 1,
    AT_TYPE = 2,
    AT_ZERO = 3,
    AT_FLEET = 4,
    AT_SENDER = 8,
    AT_RECEIVER = 16,
    AT_BOOT = 24,
    AT_SEQUENCE = 32,
    HEAD = 40,
    TAG = 8,
};

/* A member of a body. In the struct it is as wide as on the wire: 4 or 8 bytes. */
struct field {
    const char *name;
    size_t offset; /* in struct bal_message */
    unsigned width;
    uint64_t low, high;
};

/* A body: its members in their order on the wire; the last of them may be the number of array elements that
 * follow. */
struct message_layout {
    const char *name;
    const struct field *fields;
    unsigned count;
    const struct field *elements;
};

#define AT(member) offsetof(struct bal_message, member)

static const struct field idle_fields[] = {
    {"free", AT(idle.free), 4, 1, UINT32_MAX},
    {"slots", AT(idle.slots), 4, 1, UINT32_MAX},
    {"valid_ms", AT(idle.valid_ms), 4, 1, BAL_VALID_MAX},
    {"token", AT(idle.token), 8, 1, UINT64_MAX},
};
static const struct field load_fields[] = {
    {"probe", AT(load.probe), 8, 0, UINT64_MAX},
    {"slots", AT(load.slots), 4, 1, UINT32_MAX},
    {"in_service", AT(load.in_service), 4, 0, UINT32_MAX},
    {"room", AT(load.room), 4, 0, UINT32_MAX},
    {"answers", AT(load.answers), 4, 0, UINT32_MAX},
    {"errors", AT(load.errors), 4, 0, UINT32_MAX},
    {"latency_us", AT(load.latency_us), 4, 0, UINT32_MAX},
    {"valid_ms", AT(load.valid_ms), 4, 1, BAL_VALID_MAX},
    {"power", AT(load.power), 4, 0, BAL_POWER_DRAINING},
    {"classes", AT(load.classes), 4, 1, BAL_CLASSES_MAX},
};
static const struct field load_jobs = {"jobs", AT(load.jobs), 4, 0, UINT32_MAX};
static const struct field power_fields[] = {
    {"power", AT(power.power), 4, 0, BAL_POWER_DRAINING},
    {"failures", AT(power.failures), 4, 0, UINT32_MAX},
    {"retry_ms", AT(power.retry_ms), 4, 0, BAL_VALID_MAX},
    {"valid_ms", AT(power.valid_ms), 4, 1, BAL_VALID_MAX},
};
static const struct field probe_fields[] = {
    {"probe", AT(probe.probe), 8, 1, UINT64_MAX},
};
static const struct field move_fields[] = {
    {"target", AT(move.target), 8, 1, UINT64_MAX},
};
static const struct field steal_fields[] = {
    {"steal", AT(steal.steal), 8, 1, UINT64_MAX},
    {"most", AT(steal.most), 4, 1, UINT32_MAX},
};
static const struct field grant_fields[] = {
    {"steal", AT(grant.steal), 8, 1, UINT64_MAX},
    {"count", AT(grant.count), 4, 0, BAL_GRANT_MAX},
};
static const struct field grant_tickets = {"tickets", AT(grant.tickets), 8, 1, UINT64_MAX};
static const struct field backlog_fields[] = {
    {"held", AT(backlog.held), 4, 0, UINT32_MAX},
    {"valid_ms", AT(backlog.valid_ms), 4, 1, BAL_VALID_MAX},
};
static const struct field stop_fields[] = {
    {"after_ms", AT(stop.after_ms), 4, 0, BAL_VALID_MAX},
};
static const struct field nonce_fields[] = {
    {"nonce", AT(nonce.nonce), 8, 1, UINT64_MAX},
};

static const struct field join_fields[] = {
    {"nonce", AT(join.nonce), 8, 0, UINT64_MAX},
    {"kind", AT(join.kind), 4, BAL_JOIN_DISPATCHER, BAL_JOIN_STATION},
    {"family", AT(join.address.family), 4, 4, 6},
    {"port", AT(join.address.port), 4, 1, 65535},
    {"high", AT(join.address.high), 8, 0, UINT64_MAX},
    {"low", AT(join.address.low), 8, 0, UINT64_MAX},
};

static const struct field pace_fields[] = {
    {"beat_ms", AT(pace.beat_ms), 4, 1, BAL_VALID_MAX},
};

#define LAYOUT(name, fields, elements)                                                                       \
    { name, fields, sizeof(fields) / sizeof *(fields), elements }

static const struct message_layout layouts[] = {
    [BAL_MSG_IDLE] = LAYOUT("IDLE", idle_fields, NULL),
    [BAL_MSG_LOAD] = LAYOUT("LOAD", load_fields, &load_jobs),
    [BAL_MSG_POWER] = LAYOUT("POWER", power_fields, NULL),
    [BAL_MSG_PROBE] = LAYOUT("PROBE", probe_fields, NULL),
    [BAL_MSG_START] = {.name = "WAKE"},
    [BAL_MSG_MOVE] = LAYOUT("MOVE", move_fields, NULL),
    [BAL_MSG_STEAL] = LAYOUT("STEAL", steal_fields, NULL),
    [BAL_MSG_GRANT] = LAYOUT("GRANT", grant_fields, &grant_tickets),
    [BAL_MSG_BACKLOG] = LAYOUT("HUNGRY", backlog_fields, NULL),
    [BAL_MSG_RESYNC] = {.name = "RESYNC"},
    [BAL_MSG_STOP] = LAYOUT("REST", stop_fields, NULL),
    [BAL_MSG_CHALLENGE] = LAYOUT("CHALLENGE", nonce_fields, NULL),
    [BAL_MSG_PROOF] = LAYOUT("PROOF", nonce_fields, NULL),
    [BAL_MSG_JOIN] = LAYOUT("JOIN", join_fields, NULL),
    [BAL_MSG_PACE] = LAYOUT("PACE", pace_fields, NULL),
};

_Static_assert(sizeof layouts / sizeof *layouts == BAL_MSG_TYPES, "a message that nobody counts");

/* NULL when there is no such type. */
static const struct message_layout *layout_of(unsigned type) {
    return type > 0 && type < sizeof layouts / sizeof *layouts ? &layouts[type] : NULL;
}

/* ---- numbers and bytes ---- */

/* Widths are 4 or 8, so that each case is one move. */
static uint8_t *put_uint(uint8_t *to, uint64_t value, unsigned width) {
    const uint64_t wide = htole64(value);
    const uint32_t narrow = htole32((uint32_t)value);
    if (width == 8)
        memcpy(to, &wide, 8);
    else
        memcpy(to, &narrow, 4);
    return to + width;
}

static uint64_t get_uint(const uint8_t *from, unsigned width) {
    uint64_t wide;
    uint32_t narrow;
    if (width == 8) {
        memcpy(&wide, from, 8);
        return le64toh(wide);
    }
    memcpy(&narrow, from, 4);
    return le32toh(narrow);
}

/* The i-th element of the array that begins at the field, or the field itself with i = 0. */
static uint64_t load_field(const struct bal_message *message, const struct field *field, uint32_t i) {
    const char *at = (const char *)message + field->offset + (size_t)i * field->width;
    if (field->width == 8)
        return *(const uint64_t *)(const void *)at;
    return *(const uint32_t *)(const void *)at;
}

static void store_field(struct bal_message *message, const struct field *field, uint32_t i, uint64_t value) {
    char *at = (char *)message + field->offset + (size_t)i * field->width;
    if (field->width == 8)
        *(uint64_t *)(void *)at = value;
    else
        *(uint32_t *)(void *)at = (uint32_t)value;
}

static bool is_within(const struct field *field, uint64_t value) {
    return value >= field->low && value <= field->high;
}

/* How many elements the message has; its fields are within their ranges. */
static uint32_t element_count(const struct bal_message *message, const struct message_layout *layout) {
    return layout->elements ? (uint32_t)load_field(message, &layout->fields[layout->count - 1], 0) : 0;
}

/* ---- validity ---- */

static const char *head_fault(const struct bal_message *message) {
    if (!layout_of(message->type))
        return "type";
    if (message->sender == BAL_EVERYONE)
        return "sender";
    if (message->boot == 0)
        return "boot";
    return message->sequence == 0 ? "sequence" : NULL;
}

static const char *range_fault(const struct bal_message *message, const struct message_layout *layout) {
    for (unsigned f = 0; f < layout->count; f++)
        if (!is_within(&layout->fields[f], load_field(message, &layout->fields[f], 0)))
            return layout->fields[f].name;
    const uint32_t elements = element_count(message, layout);
    for (uint32_t i = 0; i < elements; i++)
        if (!is_within(layout->elements, load_field(message, layout->elements, i)))
            return layout->elements->name;
    return NULL;
}

/* Checks members that must be consistent with each other. */
static const char *sense_fault(const struct bal_message *message) {
    if (message->type == BAL_MSG_IDLE) {
        if (message->idle.free > message->idle.slots)
            return "free";
        return message->idle.token < message->idle.free ? "token" : NULL;
    }
    if (message->type == BAL_MSG_LOAD) {
        uint64_t jobs = 0;
        for (uint32_t rank = 0; rank < message->load.classes; rank++)
            jobs += message->load.jobs[rank];
        if (message->load.in_service > jobs)
            return "in_service";
        return message->load.errors > message->load.answers ? "errors" : NULL;
    }
    if (message->type == BAL_MSG_JOIN) {
        const struct bal_address *address = &message->join.address;
        if (address->family == 5)
            return "family";
        return address->family == 4 && address->high               ? "high"
               : address->family == 4 && address->low > UINT32_MAX ? "low"
                                                                   : NULL;
    }
    return NULL;
}

const char *bal_message_fault(const struct bal_message *message) {
    const char *fault = head_fault(message);
    if (!fault)
        fault = range_fault(message, layout_of(message->type));
    return fault ? fault : sense_fault(message);
}

/* ---- keys ---- */

struct bal_key bal_key_none(void) {
    return (struct bal_key){{0}};
}

bool bal_key_is_secret(const struct bal_key *key) {
    return !sodium_is_zero(key->bytes, sizeof key->bytes);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A key is a secret, so the messages do not show it. */
enum bal_code bal_key_parse(const char *text, struct bal_key *key, struct bal_error *err) {
    struct bal_key read = {{0}};
    size_t digits = 0;
    for (; text[digits]; digits++) {
        const int digit = hex_digit(text[digits]);
        if (digit < 0)
            return bal_fail(err, BAL_E_SYNTAX, "key: character %zu is no hexadecimal digit", digits + 1);
        if (digits < 2 * sizeof read.bytes)
            read.bytes[digits / 2] |= (uint8_t)(digits % 2 ? digit : digit << 4);
    }
    if (digits != 2 * sizeof read.bytes)
        return bal_fail(err, BAL_E_SYNTAX, "key: has %zu hexadecimal digits, not %zu", digits,
                        2 * sizeof read.bytes);
    if (!bal_key_is_secret(&read))
        return bal_fail(err, BAL_E_RANGE, "key: all digits are 0; that key is everybody's");
    *key = read;
    return BAL_OK;
}

enum bal_code bal_keys_parse(const char *text, struct bal_keys *keys, struct bal_error *err) {
    enum { DIGITS = 2 * sizeof keys->first.bytes };
    char first[DIGITS + 1] = "";
    const size_t length = strcspn(text, " \t");
    const char *rest = text + length + strspn(text + length, " \t");
    struct bal_keys read = {bal_key_none(), bal_key_none()};
    if (*rest && length == DIGITS)
        memcpy(first, text, DIGITS);
    enum bal_code code = bal_key_parse(*first ? first : text, &read.first, err);
    if (!code && *first)
        code = bal_key_parse(rest, &read.second, err);
    if (!code)
        *keys = read;
    sodium_memzero(first, sizeof first);
    return code;
}

enum bal_code bal_key_check(const struct bal_key *key, bool loopback, struct bal_error *err) {
    if (loopback || bal_key_is_secret(key))
        return BAL_OK;
    return bal_fail(
        err, BAL_E_MODEL,
        "key: none is given, and datagrams leave this machine; give one of 32 hexadecimal digits, or "
        "stay on the loopback interface");
}

static void sign(const uint8_t *bytes, size_t size, const struct bal_key *key, uint8_t tag[TAG]) {
    static_assert(TAG == crypto_shorthash_siphash24_BYTES, "a tag is a SipHash");
    static_assert(sizeof key->bytes == crypto_shorthash_siphash24_KEYBYTES, "a key is one of SipHash");
    crypto_shorthash_siphash24(tag, bytes, size, key->bytes);
}

uint64_t bal_address_id(const char *text, size_t length) {
    static const uint8_t public_key[crypto_shorthash_siphash24_KEYBYTES] = "ballast address";
    uint8_t hash[crypto_shorthash_siphash24_BYTES];
    crypto_shorthash_siphash24(hash, (const uint8_t *)text, length, public_key);
    const uint64_t id = get_uint(hash, 8);
    return id != BAL_EVERYONE ? id : 1;
}

/* ---- messages to bytes ---- */

static size_t body_size(const struct message_layout *layout, uint32_t elements) {
    size_t size = 0;
    for (unsigned f = 0; f < layout->count; f++)
        size += layout->fields[f].width;
    return layout->elements ? size + (size_t)elements * layout->elements->width : size;
}

static uint8_t *put_body(uint8_t *to, const struct bal_message *message,
                         const struct message_layout *layout) {
    for (unsigned f = 0; f < layout->count; f++)
        to = put_uint(to, load_field(message, &layout->fields[f], 0), layout->fields[f].width);
    const uint32_t elements = element_count(message, layout);
    for (uint32_t i = 0; i < elements; i++)
        to = put_uint(to, load_field(message, layout->elements, i), layout->elements->width);
    return to;
}

size_t bal_message_encode(const struct bal_message *message, const struct bal_key *key,
                          uint8_t bytes[BAL_DATAGRAM_MAX]) {
    if (bal_message_fault(message))
        return 0;
    bytes[0] = MAGIC;
    bytes[AT_VERSION] = BAL_WIRE_VERSION;
    bytes[AT_TYPE] = (uint8_t)message->type;
    bytes[AT_ZERO] = 0;
    put_uint(bytes + AT_FLEET, message->fleet, 4);
    put_uint(bytes + AT_SENDER, message->sender, 8);
    put_uint(bytes + AT_RECEIVER, message->receiver, 8);
    put_uint(bytes + AT_BOOT, message->boot, 8);
    put_uint(bytes + AT_SEQUENCE, message->sequence, 8);
    uint8_t *end = put_body(bytes + HEAD, message, layout_of(message->type));
    sign(bytes, (size_t)(end - bytes), key, end);
    return (size_t)(end - bytes) + TAG;
}

/* ---- bytes to messages ---- */

static bool is_signed(const uint8_t *bytes, size_t size, const struct bal_key *key) {
    uint8_t tag[TAG];
    sign(bytes, size - TAG, key, tag);
    return sodium_memcmp(tag, bytes + size - TAG, TAG) == 0;
}

static void get_head(const uint8_t *bytes, struct bal_message *message) {
    message->type = (enum bal_message_type)bytes[AT_TYPE];
    message->fleet = (uint32_t)get_uint(bytes + AT_FLEET, 4);
    message->sender = get_uint(bytes + AT_SENDER, 8);
    message->receiver = get_uint(bytes + AT_RECEIVER, 8);
    message->boot = get_uint(bytes + AT_BOOT, 8);
    message->sequence = get_uint(bytes + AT_SEQUENCE, 8);
}

/* False when the size is not that of the type. The number of elements is checked before they are read. */
static bool get_body(const uint8_t *bytes, size_t size, const struct message_layout *layout,
                     struct bal_message *message) {
    if (size < body_size(layout, 0))
        return false;
    for (unsigned f = 0; f < layout->count; bytes += layout->fields[f++].width)
        store_field(message, &layout->fields[f], 0, get_uint(bytes, layout->fields[f].width));
    const uint32_t elements = element_count(message, layout);
    if (elements && !is_within(&layout->fields[layout->count - 1], elements))
        return false;
    if (size != body_size(layout, elements))
        return false;
    for (uint32_t i = 0; i < elements; i++, bytes += layout->elements->width)
        store_field(message, layout->elements, i, get_uint(bytes, layout->elements->width));
    return true;
}

static bool is_signed_with_any(const uint8_t *bytes, size_t size, const struct bal_keys *keys) {
    return is_signed(bytes, size, &keys->first) ||
           (bal_key_is_secret(&keys->second) && is_signed(bytes, size, &keys->second));
}

static enum bal_receipt decode(const uint8_t *bytes, size_t size, const struct bal_keys *keys,
                               struct bal_message *message) {
    if (size < HEAD + TAG || size > BAL_DATAGRAM_MAX || bytes[0] != MAGIC)
        return BAL_RECEIPT_MALFORMED;
    if (bytes[AT_VERSION] != BAL_WIRE_VERSION)
        return BAL_RECEIPT_VERSION;
    if (!is_signed_with_any(bytes, size, keys))
        return BAL_RECEIPT_BAD_MAC;
    const struct message_layout *layout = layout_of(bytes[AT_TYPE]);
    if (!layout || bytes[AT_ZERO] != 0)
        return BAL_RECEIPT_MALFORMED;
    get_head(bytes, message);
    if (!get_body(bytes + HEAD, size - HEAD - TAG, layout, message) || bal_message_fault(message))
        return BAL_RECEIPT_MALFORMED;
    return BAL_RECEIPT_FRESH;
}

/* ---- sending and receiving ---- */

void bal_sender_init(struct bal_sender *sender, uint32_t fleet, uint64_t id, uint64_t boot) {
    assert(id != BAL_EVERYONE && boot > 0);
    *sender = (struct bal_sender){.fleet = fleet, .id = id, .boot = boot};
}

void bal_sender_stamp(struct bal_sender *sender, struct bal_message *message) {
    message->fleet = sender->fleet;
    message->sender = sender->id;
    message->boot = sender->boot;
    message->sequence = ++sender->sequence;
}

/* A challenge is repeated after a moment, with the same number; one that has not been answered for long is
 * given up, so that a recorded answer cannot be used later. */
static const uint64_t ask_again_ns = 20000000, give_up_ns = 2000000000;

/* seen: with all bits set, earlier messages are rejected. */
static void set_boot(struct bal_replay_window *window, uint64_t boot, uint64_t sequence, uint64_t seen) {
    *window = (struct bal_replay_window){.boot = boot, .newest = sequence, .seen = seen};
}

void bal_replay_window_trust_boot(struct bal_replay_window *window, uint64_t boot, uint64_t sequence) {
    set_boot(window, boot, sequence, UINT64_MAX);
}

static bool is_proof(const struct bal_replay_window *window, uint64_t now,
                     const struct bal_message *message) {
    return message->type == BAL_MSG_PROOF && window->nonce && message->nonce.nonce == window->nonce &&
           now < window->nonce_at + give_up_ns;
}

enum bal_receipt bal_replay_window_admit(struct bal_replay_window *window, uint64_t now,
                                         const struct bal_message *message) {
    if (!is_proof(window, now, message))
        return bal_replay_window_check(window, message->boot, message->sequence);
    window->nonce = 0;
    if (message->boot == window->boot)
        return bal_replay_window_check(window, message->boot, message->sequence);
    bal_replay_window_trust_boot(window, message->boot, message->sequence);
    return BAL_RECEIPT_FRESH;
}

bool bal_replay_window_challenge(struct bal_replay_window *window, uint64_t now, uint64_t random,
                                 const struct bal_message *unproven, struct bal_message *challenge) {
    const bool under_way = window->nonce && now < window->nonce_at + give_up_ns;
    if (under_way && now < window->asked_at + ask_again_ns)
        return false;
    if (!under_way) {
        window->nonce = random ? random : 1;
        window->nonce_at = now;
    }
    window->asked_at = now;
    *challenge = (struct bal_message){
        .type = BAL_MSG_CHALLENGE, .receiver = unproven->sender, .nonce = {.nonce = window->nonce}};
    return true;
}

enum bal_receipt bal_replay_window_check(struct bal_replay_window *window, uint64_t boot, uint64_t sequence) {
    if (window->boot == 0) {
        set_boot(window, boot, sequence, 1);
        return BAL_RECEIPT_FRESH;
    }
    if (boot != window->boot)
        return BAL_RECEIPT_UNPROVEN;
    if (statement_is_newest(sequence, window->newest)) {
        const uint64_t ahead = sequence - window->newest;
        window->seen = ahead < BAL_WINDOW ? window->seen << ahead | 1 : 1;
        window->newest = sequence;
        return BAL_RECEIPT_FRESH;
    }
    const uint64_t behind = window->newest - sequence;
    if (behind >= BAL_WINDOW)
        return BAL_RECEIPT_OLD;
    if (window->seen >> behind & 1)
        return BAL_RECEIPT_REPEATED;
    window->seen |= UINT64_C(1) << behind;
    return BAL_RECEIPT_LATE;
}

void bal_receiver_init(struct bal_receiver *receiver, uint32_t fleet, uint64_t id,
                       const struct bal_key *key) {
    const struct bal_keys keys = {*key, bal_key_none()};
    bal_receiver_init_keys(receiver, fleet, id, &keys);
}

void bal_receiver_init_keys(struct bal_receiver *receiver, uint32_t fleet, uint64_t id,
                            const struct bal_keys *keys) {
    *receiver = (struct bal_receiver){.fleet = fleet, .id = id, .keys = *keys};
}

static enum bal_receipt count_receipt(struct bal_receiver *receiver, enum bal_receipt receipt) {
    receiver->counts[receipt]++;
    return receipt;
}

enum bal_receipt bal_receiver_open_any(struct bal_receiver *receiver, const uint8_t *bytes, size_t size,
                                       struct bal_message *message) {
    const enum bal_receipt receipt = decode(bytes, size, &receiver->keys, message);
    if (receipt != BAL_RECEIPT_FRESH)
        return count_receipt(receiver, receipt);
    return message->fleet == receiver->fleet ? BAL_RECEIPT_FRESH
                                             : count_receipt(receiver, BAL_RECEIPT_WRONG_RECEIVER);
}

enum bal_receipt bal_receiver_open(struct bal_receiver *receiver, const uint8_t *bytes, size_t size,
                                   struct bal_message *message) {
    const enum bal_receipt receipt = bal_receiver_open_any(receiver, bytes, size, message);
    if (receipt != BAL_RECEIPT_FRESH || message->receiver == receiver->id ||
        message->receiver == BAL_EVERYONE)
        return receipt;
    return count_receipt(receiver, BAL_RECEIPT_WRONG_RECEIVER);
}

enum bal_receipt bal_receiver_accept(struct bal_receiver *receiver, struct bal_replay_window *window,
                                     const struct bal_message *message) {
    if (!window)
        return count_receipt(receiver, BAL_RECEIPT_UNKNOWN_SENDER);
    return count_receipt(receiver, bal_replay_window_check(window, message->boot, message->sequence));
}

/* ---- for people ---- */

const char *bal_message_name(enum bal_message_type type) {
    const struct message_layout *layout = layout_of(type);
    return layout ? layout->name : "?";
}

const char *bal_receipt_name(enum bal_receipt receipt) {
    static const char *const names[BAL_RECEIPTS] = {
        [BAL_RECEIPT_FRESH] = "fresh",
        [BAL_RECEIPT_LATE] = "late",
        [BAL_RECEIPT_MALFORMED] = "malformed",
        [BAL_RECEIPT_VERSION] = "version",
        [BAL_RECEIPT_BAD_MAC] = "forged",
        [BAL_RECEIPT_WRONG_RECEIVER] = "stray",
        [BAL_RECEIPT_UNKNOWN_SENDER] = "stranger",
        [BAL_RECEIPT_OLD] = "old",
        [BAL_RECEIPT_REPEATED] = "repeated",
        [BAL_RECEIPT_UNPROVEN] = "unproven",
        [BAL_RECEIPT_REFUSED] = "refused",
    };
    return (unsigned)receipt < BAL_RECEIPTS ? names[receipt] : "?";
}

size_t bal_message_print(const struct bal_message *message, char *text, size_t size) {
    size_t length = 0;
#define PRINT(...)                                                                                           \
    length += (size_t)snprintf(length < size ? text + length : NULL, length < size ? size - length : 0,      \
                               __VA_ARGS__)
    PRINT("%s %llu > %llu, boot %llu sequence %llu", bal_message_name(message->type),
          (unsigned long long)message->sender, (unsigned long long)message->receiver,
          (unsigned long long)message->boot, (unsigned long long)message->sequence);
    const struct message_layout *layout = layout_of(message->type);
    if (!layout)
        return length;
    for (unsigned f = 0; f < layout->count; f++)
        PRINT("%s %s=%llu", f == 0 ? ":" : "", layout->fields[f].name,
              (unsigned long long)load_field(message, &layout->fields[f], 0));
    const uint32_t elements = range_fault(message, layout) ? 0 : element_count(message, layout);
    for (uint32_t i = 0; i < elements; i++)
        PRINT(" %llu", (unsigned long long)load_field(message, layout->elements, i));
#undef PRINT
    return length;
}
