/* SPDX-License-Identifier: BSD-2-Clause */
/* What a message costs: encode and sign, then open, check and pass the window; the middle of several rounds.
 */
#include "bare.h"

#include "ballast/live/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, MESSAGES = 400000 };

#define WANTED 300 /* nanoseconds */

static void die(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* Nanoseconds for one message there and back. */
static double measure_once(const struct bal_message *message, size_t *size) {
    struct bal_key key;
    if (bal_key_parse("00112233445566778899aabbccddeeff", &key, NULL))
        die("no key");
    struct bal_sender mouth;
    struct bal_receiver ear;
    struct bal_replay_window window = {0};
    bal_sender_init(&mouth, 5, 7, 1);
    bal_receiver_init(&ear, 5, 3, &key);
    struct bal_message m = *message, back;
    const double start = processor_time();
    for (unsigned i = 0; i < MESSAGES; i++) {
        uint8_t bytes[BAL_DATAGRAM_MAX];
        bal_sender_stamp(&mouth, &m);
        *size = bal_message_encode(&m, &key, bytes);
        if (bal_receiver_open(&ear, bytes, *size, &back) == BAL_RECEIPT_FRESH)
            bal_receiver_accept(&ear, &window, &back);
    }
    const double seconds = processor_time() - start;
    if (ear.counts[BAL_RECEIPT_FRESH] != MESSAGES)
        die("not every message arrives");
    return seconds / MESSAGES * 1e9;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_message(const char *what, const struct bal_message *message) {
    double took[ROUNDS];
    size_t size;
    for (int i = 0; i < ROUNDS; i++)
        took[i] = measure_once(message, &size);
    qsort(took, ROUNDS, sizeof *took, by_value);
    const double middle = took[ROUNDS / 2];
    printf("wire, encode and decode %-10s %4zu bytes  %5.0f ns", what, size, middle);
    if (message->type != BAL_MSG_GRANT)
        printf("  (wanted below %d: %s)", WANTED, middle < WANTED ? "met" : "not met");
    printf("\n");
}

int main(void) {
    struct bal_message m = {.type = BAL_MSG_IDLE, .receiver = 3};
    m.idle = (struct bal_message_idle){.free = 1, .slots = 4, .valid_ms = 250, .token = 1000};
    measure_message("IDLE", &m);
    m.type = BAL_MSG_PROBE;
    m.probe.probe = 1000;
    measure_message("PROBE", &m);
    m.type = BAL_MSG_LOAD;
    m.load =
        (struct bal_message_load){.probe = 1000, .slots = 4, .in_service = 2, .valid_ms = 250, .classes = 2};
    m.load.jobs[0] = 2;
    m.load.power = BAL_POWER_ON;
    measure_message("LOAD", &m);
    m.type = BAL_MSG_GRANT;
    m.grant.steal = 1;
    m.grant.count = BAL_GRANT_MAX;
    for (unsigned i = 0; i < BAL_GRANT_MAX; i++)
        m.grant.tickets[i] = 1 + i;
    measure_message("GRANT", &m);
    return 0;
}
