/* SPDX-License-Identifier: BSD-2-Clause */
/* Two ends of the wire: a dispatcher asks a station how long it is, and the station answers. A real program
 * would give the bytes to sendto() and get them from recvfrom(); docs/wire.md tells what they mean.
 *
 *     cc datagram.c $(pkg-config --cflags --libs ballast-live) */
#include <ballast/live/wire.h>

#include <inttypes.h>
#include <stdio.h>

enum { FLEET = 5, DISPATCHER = 3, STATION = 7 };

/* What each end has: how it speaks, how it hears, and what it remembers of the other. */
struct end {
    struct bal_sender mouth;
    struct bal_receiver ear;
    struct bal_replay_window other;
};

static void begin(struct end *end, uint64_t id, const struct bal_key *key) {
    *end = (struct end){0};
    bal_sender_init(&end->mouth, FLEET, id, 1); /* a real boot id is greater at each start */
    bal_receiver_init(&end->ear, FLEET, id, key);
}

static void say(const char *who, const struct bal_message *message) {
    char text[BAL_MESSAGE_TEXT];
    bal_message_print(message, text, sizeof text);
    printf("%s: %s\n", who, text);
}

/* The bytes cross the network; true when they may be used. */
static int hear(struct end *end, const uint8_t *bytes, size_t size, struct bal_message *message) {
    return bal_receiver_open(&end->ear, bytes, size, message) == BAL_RECEIPT_FRESH &&
           bal_receiver_accept(&end->ear, &end->other, message) <= BAL_RECEIPT_LATE;
}

int main(void) {
    struct bal_key key;
    struct bal_error err;
    if (bal_key_parse("000102030405060708090a0b0c0d0e0f", &key, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    struct end dispatcher, station;
    begin(&dispatcher, DISPATCHER, &key);
    begin(&station, STATION, &key);

    uint8_t bytes[BAL_DATAGRAM_MAX];
    struct bal_message question = {.type = BAL_MSG_PROBE, .receiver = STATION}, heard;
    question.probe.probe = 0x1122334455667788; /* a real one is random */
    bal_sender_stamp(&dispatcher.mouth, &question);
    size_t size = bal_message_encode(&question, &key, bytes);
    if (!hear(&station, bytes, size, &heard))
        return 1;
    say("station hears", &heard);

    struct bal_message answer = {.type = BAL_MSG_LOAD, .receiver = heard.sender};
    answer.load = (struct bal_message_load){.probe = heard.probe.probe,
                                            .slots = 4,
                                            .in_service = 3,
                                            .room = 100,
                                            .latency_us = 20000,
                                            .valid_ms = 3000,
                                            .power = BAL_POWER_ON,
                                            .classes = 1,
                                            .jobs = {3}};
    bal_sender_stamp(&station.mouth, &answer);
    size = bal_message_encode(&answer, &key, bytes);
    if (!hear(&dispatcher, bytes, size, &heard))
        return 1;
    say("dispatcher hears", &heard);

    /* Somebody has recorded the answer and sends it again, and then with another length. */
    if (hear(&dispatcher, bytes, size, &heard))
        return 1;
    bytes[48]++;
    if (hear(&dispatcher, bytes, size, &heard))
        return 1;
    for (int i = 0; i < BAL_RECEIPTS; i++)
        if (dispatcher.ear.counts[i])
            printf("%s: %" PRIu64 "\n", bal_receipt_name((enum bal_receipt)i), dispatcher.ear.counts[i]);
    return 0;
}
