/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes, as a datagram: a message that encodes to the same bytes, or a receipt that says why
 * not. Once as they are, for a receiver without a key; once signed by us, so that what is behind the
 * signature is reached whatever the fuzzer has done to it. */
#include "ballast/live/wire.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct bal_key key = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

static uint64_t counted(const struct bal_receiver *ear) {
    uint64_t sum = 0;
    for (int i = 0; i < BAL_RECEIPTS; i++)
        sum += ear->counts[i];
    return sum;
}

static void check(struct bal_receiver *ear, const uint8_t *bytes, size_t size) {
    struct bal_message m, again;
    const enum bal_receipt receipt = bal_receiver_open(ear, bytes, size, &m);
    assert(counted(ear) == (receipt != BAL_RECEIPT_FRESH));
    if (receipt != BAL_RECEIPT_FRESH) {
        assert(receipt >= BAL_RECEIPT_MALFORMED && receipt <= BAL_RECEIPT_WRONG_RECEIVER &&
               ear->counts[receipt] == 1);
        return;
    }
    assert(size <= BAL_DATAGRAM_MAX);
    assert(!bal_message_fault(&m));
    uint8_t back[BAL_DATAGRAM_MAX];
    assert(bal_message_encode(&m, &ear->keys.first, back) == size && memcmp(back, bytes, size) == 0);
    char text[BAL_MESSAGE_TEXT];
    assert(bal_message_print(&m, text, sizeof text) < sizeof text);
    assert(bal_receiver_open(ear, back, size, &again) == BAL_RECEIPT_FRESH);
    struct bal_replay_window window = {0};
    assert(bal_receiver_accept(ear, &window, &m) == BAL_RECEIPT_FRESH);
    assert(bal_receiver_accept(ear, &window, &again) == BAL_RECEIPT_REPEATED);
}

/* For the fleet and the receiver that the datagram names, so that it is no stray. */
static void address(struct bal_receiver *ear, const uint8_t *bytes, size_t size, const struct bal_key *with) {
    uint32_t fleet = 0;
    uint64_t id = 1;
    for (unsigned i = 0; size >= 24 && i < 4; i++)
        fleet |= (uint32_t)bytes[4 + i] << 8 * i;
    for (unsigned i = 0; size >= 24 && i < 8; i++)
        id = (i ? id : 0) | (uint64_t)bytes[16 + i] << 8 * i;
    bal_receiver_init(ear, fleet, id, with);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct bal_key none = bal_key_none();
    struct bal_receiver ear;
    address(&ear, data, size, &key);
    check(&ear, data, size);
    bal_receiver_init(&ear, 5, 3, &none);
    check(&ear, data, size);

    uint8_t bytes[2 * BAL_DATAGRAM_MAX];
    if (size < crypto_shorthash_siphash24_BYTES || size > sizeof bytes)
        return 0;
    memcpy(bytes, data, size);
    const size_t unsigned_size = size - crypto_shorthash_siphash24_BYTES;
    crypto_shorthash_siphash24(bytes + unsigned_size, bytes, unsigned_size, key.bytes);
    address(&ear, bytes, size, &key);
    check(&ear, bytes, size);
    assert(ear.counts[BAL_RECEIPT_BAD_MAC] == 0);
    return 0;
}
