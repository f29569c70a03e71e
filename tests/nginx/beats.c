/* SPDX-License-Identifier: BSD-2-Clause */
/* Heartbeats of idle stations, for the tests of the live half.
 *
 * usage: beats KEY PORT ROUND <names
 *
 * For each server whose name is a line of standard input ("127.1.0.1:80"), a heartbeat of its station goes to
 * that port of 127.0.0.1, all at once. ROUND is the number of the burst, from 1 on. Prints how many it sent.
 */
#include "ballast/live/wire.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* As nginx/transport.c makes it. */
static uint64_t id_of(const char *name) {
    static const unsigned char public_key[crypto_shorthash_siphash24_KEYBYTES] = "ballast address";
    unsigned char hash[crypto_shorthash_siphash24_BYTES];
    uint64_t id;
    crypto_shorthash_siphash24(hash, (const unsigned char *)name, strlen(name), public_key);
    memcpy(&id, hash, sizeof id);
    return id ? id : 1;
}

static bool beat(int s, const struct sockaddr_in *to, const struct bal_key *key, const char *name,
                 uint64_t round) {
    const struct bal_message message = {.type = BAL_MSG_LOAD,
                                        .sender = id_of(name),
                                        .receiver = BAL_EVERYONE,
                                        .boot = 1,
                                        .sequence = round,
                                        .load = {.slots = 1,
                                                 .room = 100,
                                                 .latency_us = UINT32_MAX,
                                                 .valid_ms = 60000,
                                                 .power = BAL_POWER_ON,
                                                 .classes = 1}};
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const size_t size = bal_message_encode(&message, key, bytes);
    return sendto(s, bytes, size, 0, (const struct sockaddr *)to, sizeof *to) == (ssize_t)size;
}

int main(int argc, char **argv) {
    struct bal_key key;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    char name[128];
    unsigned long sent = 0;
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    if (argc != 4 || s == -1 || bal_key_parse(argv[1], &key, NULL)) {
        fprintf(stderr, "usage: beats KEY PORT ROUND <names\n");
        return 2;
    }
    to.sin_port = htons((uint16_t)atoi(argv[2]));
    while (fgets(name, sizeof name, stdin)) {
        name[strcspn(name, "\n")] = '\0';
        sent += beat(s, &to, &key, name, strtoull(argv[3], NULL, 10));
    }
    printf("%lu\n", sent);
    return 0;
}
