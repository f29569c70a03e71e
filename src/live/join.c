/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses as text and their ranges; which JOIN is answered, accepted or refused. */
#include "live/join.h"

#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number is good in its period and the next one. */
static const uint64_t period_ns = UINT64_C(2000000000), budget_ns = UINT64_C(100000000);

/* ---- addresses ---- */

size_t bal_address_print(const struct bal_address *address, char text[BAL_ADDRESS_TEXT]) {
    char host[INET6_ADDRSTRLEN] = "?";
    const uint64_t words[2] = {htobe64(address->high), htobe64(address->low)};
    const uint32_t v4 = htobe32((uint32_t)address->low);
    if (address->family == 6)
        inet_ntop(AF_INET6, words, host, sizeof host);
    else
        inet_ntop(AF_INET, &v4, host, sizeof host);
    const bool v6 = address->family == 6;
    return (size_t)snprintf(text, BAL_ADDRESS_TEXT, "%s%s%s:%" PRIu32, v6 ? "[" : "", host, v6 ? "]" : "",
                            address->port);
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

static bool parse_host(const char *host, struct bal_address *address) {
    uint8_t bytes[16];
    uint64_t words[2];
    uint32_t v4;
    if (inet_pton(AF_INET, host, bytes) == 1) {
        memcpy(&v4, bytes, sizeof v4);
        *address = (struct bal_address){.family = 4, .low = be32toh(v4)};
        return true;
    }
    if (inet_pton(AF_INET6, host, bytes) != 1)
        return false;
    memcpy(words, bytes, sizeof words);
    *address = (struct bal_address){.family = 6, .high = be64toh(words[0]), .low = be64toh(words[1])};
    return true;
}

enum bal_code bal_address_range_parse(const char *text, struct bal_address_range *range,
                                      struct bal_error *err) {
    char host[INET6_ADDRSTRLEN + 1] = "";
    const size_t length = strcspn(text, "/");
    const char *digits = text[length] ? text + length + 1 : NULL;
    struct bal_address_range read = {.bits = 0};
    if (length < sizeof host)
        memcpy(host, text, length);
    if (!parse_host(host, &read.network))
        return bal_fail(err, BAL_E_SYNTAX, "'%s' is no range of addresses, such as 10.0.0.0/8 or fd00::/8",
                        text);
    const uint32_t most = read.network.family == 4 ? 32 : 128;
    char *end = NULL;
    const unsigned long bits = digits ? strtoul(digits, &end, 10) : most;
    if (digits && (digits[0] < '0' || digits[0] > '9' || *end || bits > most))
        return bal_fail(err, BAL_E_RANGE, "'%s': a range has 0 to %" PRIu32 " bits behind its '/'", text,
                        most);
    read.bits = (uint32_t)bits;
    const struct bal_address network = masked(read.network, read.bits);
    if (network.high != read.network.high || network.low != read.network.low)
        return bal_fail(err, BAL_E_RANGE, "'%s' has bits set behind the first %lu", text, bits);
    *range = read;
    return BAL_OK;
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

static bool has_its_id(const struct bal_message *message) {
    char text[BAL_ADDRESS_TEXT];
    const size_t length = bal_address_print(&message->join.address, text);
    return bal_address_id(text, length) == message->sender;
}

static uint64_t number_for(const struct bal_joins *joins, const struct bal_message *message,
                           uint64_t period) {
    const uint64_t said[] = {message->sender, message->boot, joins->departures, period};
    uint8_t key[crypto_shorthash_siphash24_KEYBYTES], hash[crypto_shorthash_siphash24_BYTES];
    uint64_t number;
    static_assert(sizeof key == sizeof joins->secret, "a secret is a key of SipHash");
    memcpy(key, joins->secret, sizeof key);
    crypto_shorthash_siphash24(hash, (const uint8_t *)said, sizeof said, key);
    memcpy(&number, hash, sizeof number);
    return number ? number : 1;
}

/* Its first JOIN was answered a moment ago, and this one repeats the number. */
static bool is_proved(const struct bal_joins *joins, uint64_t now, const struct bal_message *message) {
    const uint64_t period = now / period_ns, nonce = message->join.nonce;
    return nonce && (nonce == number_for(joins, message, period) ||
                     (period > 0 && nonce == number_for(joins, message, period - 1)));
}

static bool may_challenge(struct bal_joins *joins, uint64_t now) {
    if (now >= joins->counted_at + budget_ns) {
        joins->counted_at = now;
        joins->challenges = 0;
    }
    return joins->challenges < BAL_JOIN_CHALLENGES;
}

enum bal_receipt bal_joins_receive(struct bal_joins *joins, const struct bal_join_config *config,
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
        !is_allowed(config, &join->address) || !has_its_id(message))
        return BAL_RECEIPT_REFUSED;
    while (joins->secret[0] == 0 || joins->secret[1] == 0) {
        joins->secret[0] = bal_rng_next(rng);
        joins->secret[1] = bal_rng_next(rng);
    }
    if (is_proved(joins, now, message))
        return BAL_RECEIPT_FRESH;
    *challenged = may_challenge(joins, now);
    if (*challenged) {
        joins->challenges++;
        *challenge = (struct bal_message){.type = BAL_MSG_CHALLENGE,
                                          .receiver = message->sender,
                                          .nonce = {.nonce = number_for(joins, message, now / period_ns)}};
    }
    return BAL_RECEIPT_UNPROVEN;
}
