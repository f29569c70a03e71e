/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that use processor time for requests. */
#include "serve/burn.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
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
    atomic_bool over; /* the threads are to end; set under the lock, read at work without it */
    pthread_t *thread;
    unsigned threads;
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
        while (burn->waiting == 0 && !burn->over)
            pthread_cond_wait(&burn->news, &burn->lock);
        if (burn->over)
            break;
        const struct burn_work mine = burn->wait[burn->wait_first];
        burn->wait_first = (burn->wait_first + 1) % burn->room;
        burn->waiting--;
        pthread_mutex_unlock(&burn->lock);
        for (const double until = thread_cpu_seconds() + mine.seconds;
             thread_cpu_seconds() < until && !burn->over;)
            ;
        pthread_mutex_lock(&burn->lock);
        burn->end[(burn->end_first + burn->ended++) % burn->room] = mine.id;
        eventfd_write(burn->event, 1);
    }
    pthread_mutex_unlock(&burn->lock);
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
    burn->thread = calloc(threads, sizeof *burn->thread);
    burn->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&burn->lock, NULL);
    pthread_cond_init(&burn->news, NULL);
    int error = burn->wait && burn->end && burn->thread && burn->event >= 0 ? 0 : errno;
    while (!error && burn->threads < threads) {
        error = pthread_create(&burn->thread[burn->threads], NULL, run_burner, burn);
        burn->threads += error == 0;
    }
    if (!error)
        return burn;
    burn_free(burn);
    errno = error;
    return NULL;
}

void burn_free(struct burn *burn) {
    if (!burn)
        return;
    pthread_mutex_lock(&burn->lock);
    burn->over = true;
    pthread_cond_broadcast(&burn->news);
    pthread_mutex_unlock(&burn->lock);
    for (unsigned i = 0; i < burn->threads; i++)
        pthread_join(burn->thread[i], NULL);
    pthread_cond_destroy(&burn->news);
    pthread_mutex_destroy(&burn->lock);
    if (burn->event >= 0)
        close(burn->event);
    free(burn->thread);
    free(burn->end);
    free(burn->wait);
    free(burn);
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
