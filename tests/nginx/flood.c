/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams that nobody should believe, for the tests of the live half.
 *
 * usage: flood COUNT KEY PORT...
 *
 * Sends so many to each port of 127.0.0.1, of five kinds by turns: noise, a message signed with another key,
 * a message of a stranger signed with this one, one that is cut off, and one that is too long. Where KEY is
 * again:HEX, those bytes instead, again and again. */
#include "ballast/live/wire.h"
#include "ballast/random.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { KINDS = 5, LONGEST = 1400 };

static size_t make(uint32_t kind, uint8_t bytes[LONGEST], const struct bal_key *key, uint64_t sequence,
                   struct bal_rng *rng) {
    struct bal_key other = *key;
    other.bytes[3] ^= 1;
    const struct bal_message message = {.type = BAL_MSG_BACKLOG,
                                        .sender = 12345,
                                        .receiver = BAL_EVERYONE,
                                        .boot = 1,
                                        .sequence = sequence,
                                        .backlog = {.held = 100, .valid_ms = 60000}};
    for (size_t i = 0; i < LONGEST; i += 8) {
        const uint64_t noise = bal_rng_next(rng);
        memcpy(bytes + i, &noise, 8);
    }
    if (kind == 0)
        return bal_rng_below(rng, BAL_DATAGRAM_MAX);
    if (kind == 4)
        return BAL_DATAGRAM_MAX + 1 + bal_rng_below(rng, LONGEST - BAL_DATAGRAM_MAX - 1);
    const size_t size = bal_message_encode(&message, kind == 1 ? &other : key, bytes);
    return kind == 3 ? bal_rng_below(rng, (uint32_t)size) : size;
}

/* The bytes of that text; 0: it has none, or too many. */
static size_t read_bytes(const char *text, uint8_t bytes[LONGEST]) {
    const size_t size = strlen(text) / 2;
    for (size_t i = 0; i < size && size <= LONGEST; i++) {
        const char digits[] = {text[2 * i], text[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return size <= LONGEST ? size : 0;
}

static int complain(const char *what) {
    fprintf(stderr, "flood: %s; usage: flood COUNT KEY PORT..., or again:HEX in place of KEY\n", what);
    return 2;
}

static bool read_number(const char *text, uint64_t most, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *number <= most;
}

int main(int argc, char **argv) {
    struct bal_key key;
    struct bal_error err;
    struct bal_rng rng;
    uint64_t count, port;
    uint8_t bytes[LONGEST];
    const int out = socket(AF_INET, SOCK_DGRAM, 0);
    if (argc < 4 || !read_number(argv[1], UINT32_MAX, &count))
        return complain("no count");
    const size_t again = strncmp(argv[2], "again:", 6) == 0 ? read_bytes(argv[2] + 6, bytes) : 0;
    if (!again && bal_key_parse(argv[2], &key, &err))
        return complain(err.text);
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (uint64_t i = 0; i < count; i++)
        for (int k = 3; k < argc; k++) {
            if (!read_number(argv[k], UINT16_MAX, &port))
                return complain("no port");
            const struct sockaddr_in to = {.sin_family = AF_INET,
                                           .sin_port = htons((uint16_t)port),
                                           .sin_addr = {htonl(INADDR_LOOPBACK)}};
            const size_t size = again ? again : make((uint32_t)(i % KINDS), bytes, &key, i + 1, &rng);
            (void)!sendto(out, bytes, size, 0, (const struct sockaddr *)&to, sizeof to);
        }
    return 0;
}
