/* SPDX-License-Identifier: BSD-2-Clause */
/* Unused ports, one after the other, below those that the kernel gives to clients. */
#include "rig/rig.h"

#include "ballast/random.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOWEST = 10000, HIGHEST = 30000, TRIES = 200 };

uint16_t bli_rig_front_port(const struct rig *rig, unsigned i) {
    return (uint16_t)(rig->port + i);
}

uint16_t bli_rig_datagram_port(const struct rig *rig, unsigned i) {
    return (uint16_t)(rig->port + rig->dispatchers + i);
}

uint16_t bli_rig_station_port(const struct rig *rig, unsigned k) {
    return (uint16_t)(rig->port + 2 * rig->dispatchers + k);
}

uint16_t bli_rig_keeper_port(const struct rig *rig) {
    return (uint16_t)(rig->port + 2 * rig->dispatchers + rig->servers);
}

static bool is_free(uint16_t port, int type) {
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), on = 1;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const bool bound = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return bound;
}

/* With keepers, servers have ports of our choice too. */
enum bal_code bli_rig_choose_ports(struct rig *rig, struct bal_error *err) {
    const unsigned count =
        2 * rig->dispatchers + rig->servers + 1 + (rig->live->keepers ? 2 * rig->servers : 0);
    struct bal_rng rng;
    bal_rng_init(&rng, (uint64_t)getpid(), (uint64_t)(1e9 * bli_clock()), BAL_STREAM_TEST);
    for (int i = 0; i < TRIES; i++) {
        rig->port = (uint16_t)(LOWEST + bal_rng_below(&rng, HIGHEST - LOWEST - count));
        unsigned k = 0;
        while (k < count && is_free((uint16_t)(rig->port + k), SOCK_STREAM) &&
               is_free((uint16_t)(rig->port + k), SOCK_DGRAM))
            k++;
        if (k < count)
            continue;
        for (unsigned s = 0; rig->live->keepers && s < rig->servers; s++) {
            rig->app[s] = (uint16_t)(bli_rig_keeper_port(rig) + 1 + s);
            rig->control[s] = (uint16_t)(rig->app[s] + rig->servers);
        }
        return BAL_OK;
    }
    return bal_fail(err, BAL_E_IO, "there are no %u free ports one after the other from %d to %d", count,
                    LOWEST, HIGHEST);
}
