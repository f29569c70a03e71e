/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that use processor time for requests. The thread that begins work also frees it, cancelled or not,
 * once a burner has put it on the list of what has ended; so it may be cancelled without the lock. */
#include "serve/burn.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct burn_work {
    uint32_t id;
    atomic_bool cancelled;
    double seconds;
    struct burn_work *next;
};

struct burn_list {
    struct burn_work *first, **end; /* where the next one is put */
};

struct burn {
    pthread_mutex_t lock; /* of both lists */
    pthread_cond_t news;
    int event;
    atomic_bool over; /* the threads are to end; set under the lock, read at work without it */
    pthread_t *thread;
    unsigned threads;
    struct burn_list waiting, ended; /* for a thread; for burn_ended(), cancelled ones included */
};

static void put_work(struct burn_list *list, struct burn_work *work) {
    work->next = NULL;
    *list->end = work;
    list->end = &work->next;
}

/* NULL: the list is empty. */
static struct burn_work *get_work(struct burn_list *list) {
    struct burn_work *work = list->first;
    if (work && !(list->first = work->next))
        list->end = &list->first;
    return work;
}

static double thread_cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *run_burner(void *context) {
    struct burn *burn = context;
    pthread_mutex_lock(&burn->lock);
    for (;;) {
        while (!burn->waiting.first && !burn->over)
            pthread_cond_wait(&burn->news, &burn->lock);
        if (burn->over)
            break;
        struct burn_work *mine = get_work(&burn->waiting);
        pthread_mutex_unlock(&burn->lock);
        for (const double until = thread_cpu_seconds() + mine->seconds;
             thread_cpu_seconds() < until && !mine->cancelled && !burn->over;)
            ;
        pthread_mutex_lock(&burn->lock);
        put_work(&burn->ended, mine);
        eventfd_write(burn->event, 1);
    }
    pthread_mutex_unlock(&burn->lock);
    return NULL;
}

struct burn *burn_new(unsigned threads) {
    struct burn *burn = calloc(1, sizeof *burn);
    if (!burn)
        return NULL;
    burn->waiting.end = &burn->waiting.first;
    burn->ended.end = &burn->ended.first;
    burn->thread = calloc(threads, sizeof *burn->thread);
    burn->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&burn->lock, NULL);
    pthread_cond_init(&burn->news, NULL);
    int error = burn->thread && burn->event >= 0 ? 0 : errno;
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
    for (struct burn_work *work; (work = get_work(&burn->waiting)) || (work = get_work(&burn->ended));)
        free(work);
    free(burn->thread);
    free(burn);
}

int burn_event(const struct burn *burn) {
    return burn->event;
}

struct burn_work *burn_begin(struct burn *burn, uint32_t id, double seconds) {
    struct burn_work *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->id = id;
    work->seconds = seconds;
    pthread_mutex_lock(&burn->lock);
    put_work(&burn->waiting, work);
    pthread_cond_signal(&burn->news);
    pthread_mutex_unlock(&burn->lock);
    return work;
}

void burn_cancel(struct burn_work *work) {
    work->cancelled = true;
}

bool burn_ended(struct burn *burn, uint32_t *id) {
    bool any = false;
    pthread_mutex_lock(&burn->lock);
    while (!any && burn->ended.first) {
        struct burn_work *work = get_work(&burn->ended);
        any = !work->cancelled;
        *id = work->id;
        free(work);
    }
    if (!any) {
        eventfd_t count;
        eventfd_read(burn->event, &count);
    }
    pthread_mutex_unlock(&burn->lock);
    return any;
}
