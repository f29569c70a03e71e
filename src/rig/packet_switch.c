/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of ways is guarded by a mutex; all else belongs to the thread. A packet that cannot be written
 * because the device of its host is full is lost, as in any network. */
#include "rig/packet_switch.h"

#include "ballast/random.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { PACKET = 65536, BATCH = 64 };

/* A packet that is on its way for a while. */
struct packet {
    struct packet *next;
    double due;
    unsigned to;
    size_t length;
    unsigned char bytes[];
};

struct rig_switch {
    pthread_t thread;
    pthread_mutex_t mutex; /* of path, route and the counts */
    struct rig_path path[SWITCH_PORTS][SWITCH_PORTS];
    unsigned route[SWITCH_PORTS];
    uint64_t carried, dropped;
    unsigned count;
    struct pollfd poll[SWITCH_PORTS + 1]; /* the last one: an eventfd that ends the thread */
    struct packet *delayed;               /* by the time at which they are due */
    struct bal_rng rng;
    unsigned char packet[PACKET];
};

static double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- packets ---- */

/* The number behind the last byte of the address that it is sent to; UINT_MAX: not to a host. */
static unsigned destination_host(const struct rig_switch *s, const unsigned char *packet, size_t length) {
    const bool six = length >= 40 && packet[0] >> 4 == 6, four = length >= 20 && packet[0] >> 4 == 4;
    const unsigned last = six ? packet[39] : four ? packet[19] : 0;
    if (six && packet[24] == 0xff) /* multicast: no one listens */
        return UINT32_MAX;
    return last >= 1 && last <= s->count ? last - 1 : UINT32_MAX;
}

/* Also of a fragment. */
static bool is_datagram(const unsigned char *packet, size_t length) {
    enum { FRAGMENT = 44 };
    if (packet[0] >> 4 == 4)
        return packet[9] == IPPROTO_UDP;
    return packet[6] == IPPROTO_UDP || (packet[6] == FRAGMENT && length > 40 && packet[40] == IPPROTO_UDP);
}

static void deliver_packet(struct rig_switch *s, unsigned to, const unsigned char *packet, size_t length) {
    const ssize_t written = write(s->poll[to].fd, packet, length);
    (void)written; /* what does not go in is lost */
}

static void delay_packet(struct rig_switch *s, unsigned to, double due, size_t length) {
    struct packet *parcel = malloc(sizeof *parcel + length), **at = &s->delayed;
    if (!parcel)
        return;
    *parcel = (struct packet){.due = due, .to = to, .length = length};
    memcpy(parcel->bytes, s->packet, length);
    while (*at && (*at)->due <= due)
        at = &(*at)->next;
    parcel->next = *at;
    *at = parcel;
}

static void forward_packet(struct rig_switch *s, unsigned from, size_t length) {
    const unsigned address = destination_host(s, s->packet, length);
    if (address == UINT32_MAX)
        return;
    pthread_mutex_lock(&s->mutex);
    const unsigned to = s->route[address];
    const struct rig_path path = s->path[from][to];
    const bool lost = path.cut > 0 || (path.loss > 1e-9 && is_datagram(s->packet, length) &&
                                       bal_rng_uniform(&s->rng) < path.loss);
    s->dropped += lost;
    s->carried += !lost;
    pthread_mutex_unlock(&s->mutex);
    if (lost)
        return;
    if (path.delay > 1e-9)
        delay_packet(s, to, clock_seconds() + path.delay, length);
    else
        deliver_packet(s, to, s->packet, length);
}

/* ---- the thread ---- */

/* Returns the time until the next one is due, in ms, rounded up; -1: there is none. */
static int deliver_delayed(struct rig_switch *s) {
    const double time = s->delayed ? clock_seconds() : 0;
    while (s->delayed && s->delayed->due <= time) {
        struct packet *parcel = s->delayed;
        s->delayed = parcel->next;
        deliver_packet(s, parcel->to, parcel->bytes, parcel->length);
        free(parcel);
    }
    return s->delayed ? (int)ceil(1e3 * (s->delayed->due - time)) : -1;
}

static void *run_switch(void *context) {
    struct rig_switch *s = context;
    while (poll(s->poll, s->count + 1, deliver_delayed(s)) >= 0 || errno == EINTR) {
        if (s->poll[s->count].revents)
            break;
        for (unsigned i = 0; i < s->count; i++)
            for (int k = 0; s->poll[i].revents && k < BATCH; k++) {
                const ssize_t got = read(s->poll[i].fd, s->packet, sizeof s->packet);
                if (got <= 0)
                    break;
                forward_packet(s, i, (size_t)got);
            }
    }
    return NULL;
}

/* Signals are for the thread that has started it. */
static int start_thread(struct rig_switch *s) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&s->thread, NULL, run_switch, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

enum bal_code bli_switch_start(struct rig_switch **into, const int *device, unsigned count,
                               struct bal_error *err) {
    struct rig_switch *s = calloc(1, sizeof *s);
    if (!s)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a network");
    s->count = count;
    pthread_mutex_init(&s->mutex, NULL);
    bal_rng_init(&s->rng, 1, 0, BAL_STREAM_TEST);
    for (unsigned i = 0; i < count; i++) {
        s->poll[i] = (struct pollfd){.fd = device[i], .events = POLLIN};
        s->route[i] = i;
    }
    s->poll[count] = (struct pollfd){.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
    const int failed = s->poll[count].fd < 0 ? errno : start_thread(s);
    if (!failed) {
        *into = s;
        return BAL_OK;
    }
    if (s->poll[count].fd >= 0)
        close(s->poll[count].fd);
    free(s);
    return bal_fail(err, BAL_E_IO, "no thread can be started for the network: %s", strerror(failed));
}

void bli_switch_stop(struct rig_switch *s) {
    const uint64_t one = 1;
    if (!s)
        return;
    if (write(s->poll[s->count].fd, &one, sizeof one) == sizeof one)
        pthread_join(s->thread, NULL);
    close(s->poll[s->count].fd);
    while (s->delayed) {
        struct packet *parcel = s->delayed;
        s->delayed = parcel->next;
        free(parcel);
    }
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

/* ---- from other threads ---- */

void bli_switch_add(struct rig_switch *s, unsigned from, unsigned to, struct rig_path change) {
    pthread_mutex_lock(&s->mutex);
    struct rig_path *path = &s->path[from][to];
    path->cut += change.cut;
    path->loss += change.loss;
    path->delay += change.delay;
    pthread_mutex_unlock(&s->mutex);
}

void bli_switch_route(struct rig_switch *s, unsigned address, unsigned host) {
    pthread_mutex_lock(&s->mutex);
    s->route[address] = host;
    pthread_mutex_unlock(&s->mutex);
}

void bli_switch_counts(struct rig_switch *s, uint64_t *carried, uint64_t *dropped) {
    pthread_mutex_lock(&s->mutex);
    *carried = s->carried;
    *dropped = s->dropped;
    pthread_mutex_unlock(&s->mutex);
}
