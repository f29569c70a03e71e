/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses as text, and ranges of them; which JOIN is answered, accepted or refused. */
#include "live/join_private.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* A number is good in its period and the next one. */
static const uint64_t period_ns = UINT64_C(2000000000), budget_ns = UINT64_C(50000000);

/* ---- addresses ---- */

/* The longest run of two zero words or more, the first of several; its length is 0: there is none. */
static uint32_t find_zeros(const uint16_t word[8], uint32_t *length) {
    uint32_t first = 8, count = 0;
    *length = 0;
    for (uint32_t i = 0; i < 8; i++) {
        count = word[i] ? 0 : count + 1;
        if (count > 1 && count > *length) {
            *length = count;
            first = i + 1 - count;
        }
    }
    return first;
}

static int print_v6(const struct bal_address *a, char *text, size_t size) {
    uint16_t word[8];
    uint32_t length;
    for (uint32_t i = 0; i < 8; i++)
        word[i] = (uint16_t)((i < 4 ? a->high : a->low) >> (48 - 16 * (i % 4)));
    const uint32_t zeros = find_zeros(word, &length);
    int at = snprintf(text, size, "[");
    for (uint32_t i = 0; i < 8; i++) {
        const bool skipped = i >= zeros && i < zeros + length;
        if (i == zeros)
            at += snprintf(text + at, size - (size_t)at, "::");
        else if (!skipped)
            at +=
                snprintf(text + at, size - (size_t)at, "%s%x", i && i != zeros + length ? ":" : "", word[i]);
    }
    return at + snprintf(text + at, size - (size_t)at, "]");
}

size_t bal_address_print(const struct bal_address *a, char text[BAL_ADDRESS_TEXT]) {
    const unsigned v4 = (unsigned)a->low;
    const int host = a->family == 6 ? print_v6(a, text, BAL_ADDRESS_TEXT)
                                    : snprintf(text, BAL_ADDRESS_TEXT, "%u.%u.%u.%u", v4 >> 24,
                                               v4 >> 16 & 255, v4 >> 8 & 255, v4 & 255);
    const int port = snprintf(text + host, BAL_ADDRESS_TEXT - (size_t)host, ":%" PRIu32, a->port);
    return (size_t)host + (size_t)port;
}

bool bal_address_is_valid(const struct bal_address *a) {
    if (a->port < 1 || a->port > 65535)
        return false;
    if (a->family == 4) /* below multicast, which 224.0.0.0 begins */
        return a->high == 0 && a->low >> 24 > 0 && a->low < UINT64_C(0xe0000000);
    if (a->family != 6 || a->high >> 56 == 0xff)
        return false;
    return a->high != 0 || (a->low >> 32 != 0xffff && a->low != 0);
}

/* Of the address, the bits behind the first `bits` are cleared. */
static struct bal_address masked(struct bal_address a, uint32_t bits) {
    if (a.family == 4)
        bits += 96;
    if (bits <= 64) {
        a.low = 0;
        a.high = bits ? a.high >> (64 - bits) << (64 - bits) : 0;
    } else if (bits < 128) {
        a.low = a.low >> (128 - bits) << (128 - bits);
    }
    return a;
}

bool bal_address_range_contains(const struct bal_address_range *range, const struct bal_address *address) {
    const struct bal_address network = masked(*address, range->bits);
    return network.family == range->network.family && network.high == range->network.high &&
           network.low == range->network.low;
}

enum bal_code bal_join_check(const struct bal_join_config *config, struct bal_error *err) {
    if (config->most > 1 << 14)
        return bal_fail(err, BAL_E_RANGE, "join is %" PRIu32 "; it must be 0 to 16384", config->most);
    if (config->ranges > BAL_JOIN_RANGES_MAX)
        return bal_fail(err, BAL_E_RANGE, "join names %" PRIu32 " ranges; %d are possible", config->ranges,
                        BAL_JOIN_RANGES_MAX);
    if (config->most && config->silent_ns == 0)
        return bal_fail(err, BAL_E_RANGE, "a member must be forgotten after some time");
    if (config->own.family && !bal_address_is_valid(&config->own))
        return bal_fail(err, BAL_E_MODEL, "its own address is not that of one machine");
    return BAL_OK;
}

/* ---- joins ---- */

static bool is_allowed(const struct bal_join_config *config, const struct bal_address *address) {
    bool allowed = config->ranges == 0;
    for (uint32_t i = 0; i < config->ranges; i++)
        allowed |= bal_address_range_contains(&config->range[i], address);
    return allowed;
}

static bool is_id_of(const struct bal_address *address, uint64_t id) {
    char text[BAL_ADDRESS_TEXT];
    return bal_address_id(text, bal_address_print(address, text)) == id;
}

bool bli_joins_may_adopt(const struct bli_joins *joins, const struct bal_join_config *config,
                         const struct bal_member *member) {
    return joins->members < config->most && bal_address_is_valid(&member->address) &&
           is_allowed(config, &member->address) && is_id_of(&member->address, member->id);
}

static uint64_t hash_for(const struct bli_joins *joins, const struct bal_message *message,
                         uint64_t departures, uint64_t time) {
    const uint64_t said[] = {message->sender, message->boot, departures, time};
    uint8_t key[crypto_shorthash_siphash24_KEYBYTES], hash[crypto_shorthash_siphash24_BYTES];
    uint64_t number;
    static_assert(sizeof key == sizeof joins->secret, "a secret is a key of SipHash");
    memcpy(key, joins->secret, sizeof key);
    crypto_shorthash_siphash24(hash, (const uint8_t *)said, sizeof said, key);
    memcpy(&number, hash, sizeof number);
    return number;
}

static uint64_t number_for(const struct bli_joins *joins, const struct bal_message *message,
                           uint64_t period) {
    const uint64_t number = hash_for(joins, message, joins->departures, period);
    return number ? number : 1;
}

/* Its first JOIN was answered a moment ago, and this one repeats the number. */
static bool is_proved(const struct bli_joins *joins, uint64_t now, const struct bal_message *message) {
    const uint64_t period = now / period_ns, nonce = message->join.nonce;
    return nonce && (nonce == number_for(joins, message, period) ||
                     (period > 0 && nonce == number_for(joins, message, period - 1)));
}

/* One for each group of senders, and other groups each time: who repeats what few senders have said uses up
 * the challenges of few groups, and the next time not those of the same others. */
static bool may_challenge(struct bli_joins *joins, const struct bal_message *message, uint64_t now) {
    static_assert(BAL_JOIN_CHALLENGES <= 64, "a bit for each");
    if (now >= joins->counted_at + budget_ns) {
        joins->counted_at = now;
        joins->challenged = 0;
    }
    const uint64_t group = UINT64_C(1)
                           << hash_for(joins, message, UINT64_MAX, joins->counted_at) % BAL_JOIN_CHALLENGES;
    const bool may = !(joins->challenged & group);
    joins->challenged |= group;
    return may;
}

enum bal_receipt bli_joins_receive(struct bli_joins *joins, const struct bal_join_config *config,
                                   enum bal_join_kind wanted, uint64_t now, struct bal_rng *rng,
                                   const struct bal_message *message, struct bal_message *challenge,
                                   bool *challenged) {
    const struct bal_message_join *join = &message->join;
    *challenged = false;
    if (config->most == 0)
        return BAL_RECEIPT_UNKNOWN_SENDER;
    if (message->type != BAL_MSG_JOIN) /* it may be about to join */
        return BAL_RECEIPT_UNPROVEN;
    if (joins->members >= config->most || join->kind != wanted || !bal_address_is_valid(&join->address) ||
        !is_allowed(config, &join->address) || !is_id_of(&join->address, message->sender))
        return BAL_RECEIPT_REFUSED;
    while (joins->secret[0] == 0 || joins->secret[1] == 0) {
        joins->secret[0] = bal_rng_next(rng);
        joins->secret[1] = bal_rng_next(rng);
    }
    if (is_proved(joins, now, message))
        return BAL_RECEIPT_FRESH;
    *challenged = may_challenge(joins, message, now);
    if (*challenged)
        *challenge = (struct bal_message){.type = BAL_MSG_CHALLENGE,
                                          .receiver = message->sender,
                                          .nonce = {.nonce = number_for(joins, message, now / period_ns)}};
    return BAL_RECEIPT_UNPROVEN;
}
