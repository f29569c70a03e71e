/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that use processor time for requests. */
#include "serve/burn.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct burn_work {
    uint64_t id;
    double seconds;
};

/* Two rings, each with as many places as there are threads: work that waits for a thread, and work that has
 * ended. */
struct burn {
    pthread_mutex_t lock;
    pthread_cond_t news;
    int event;
    unsigned room;
    struct burn_work *wait;
    uint64_t *end;
    unsigned wait_first, waiting, end_first, ended;
};

static double thread_cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *run_burner(void *context) {
    struct burn *burn = context;
    pthread_mutex_lock(&burn->lock);
    for (;;) {
        while (burn->waiting == 0)
            pthread_cond_wait(&burn->news, &burn->lock);
        const struct burn_work mine = burn->wait[burn->wait_first];
        burn->wait_first = (burn->wait_first + 1) % burn->room;
        burn->waiting--;
        pthread_mutex_unlock(&burn->lock);
        for (const double until = thread_cpu_seconds() + mine.seconds; thread_cpu_seconds() < until;)
            ;
        pthread_mutex_lock(&burn->lock);
        burn->end[(burn->end_first + burn->ended++) % burn->room] = mine.id;
        eventfd_write(burn->event, 1);
    }
    return NULL;
}

struct burn *burn_new(unsigned threads) {
    struct burn *burn = calloc(1, sizeof *burn);
    if (!burn)
        return NULL;
    /* A connection that goes away leaves its work behind, so there may be more than threads. */
    burn->room = 65536;
    burn->wait = calloc(burn->room, sizeof *burn->wait);
    burn->end = calloc(burn->room, sizeof *burn->end);
    burn->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&burn->lock, NULL);
    pthread_cond_init(&burn->news, NULL);
    bool failed = !burn->wait || !burn->end || burn->event < 0;
    for (unsigned i = 0; !failed && i < threads; i++) {
        pthread_t thread;
        failed = pthread_create(&thread, NULL, run_burner, burn) != 0;
    }
    return failed ? NULL : burn; /* the program ends then */
}

int burn_event(const struct burn *burn) {
    return burn->event;
}

void burn_begin(struct burn *burn, uint64_t id, double seconds) {
    pthread_mutex_lock(&burn->lock);
    burn->wait[(burn->wait_first + burn->waiting++) % burn->room] = (struct burn_work){id, seconds};
    pthread_cond_signal(&burn->news);
    pthread_mutex_unlock(&burn->lock);
}

bool burn_ended(struct burn *burn, uint64_t *id) {
    pthread_mutex_lock(&burn->lock);
    const bool any = burn->ended > 0;
    if (any) {
        *id = burn->end[burn->end_first];
        burn->end_first = (burn->end_first + 1) % burn->room;
        burn->ended--;
    } else {
        eventfd_t count;
        eventfd_read(burn->event, &count);
    }
    pthread_mutex_unlock(&burn->lock);
    return any;
}
