/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that take the next task when they are free. */
#include "ballast/lab.h"

#include "base/c_locale.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct pool {
    atomic_size_t next;
    size_t count;
    void (*task)(void *context, size_t i);
    void *context;
    const volatile int *stop;
};

static void run_tasks(struct pool *pool) {
    for (;;) {
        const size_t i = atomic_fetch_add(&pool->next, 1);
        if (i >= pool->count || (pool->stop && *pool->stop))
            return;
        pool->task(pool->context, i);
    }
}

/* A new thread begins with the locale of the program that we are part of. */
static void *run_helper(void *pool) {
    const struct bli_locale_swap swap = bli_locale_enter_c();
    run_tasks(pool);
    bli_locale_leave(swap);
    return NULL;
}

static unsigned count_processors(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (unsigned)count;
}

/* This thread works too; one that cannot be started is done without. */
enum bal_code bli_pool_run(unsigned threads, size_t count, void (*task)(void *context, size_t i),
                           void *context, const volatile int *stop) {
    struct pool pool = {.count = count, .task = task, .context = context, .stop = stop};
    if (threads == 0)
        threads = count_processors();
    if (threads > count)
        threads = count > 0 ? (unsigned)count : 1;
    pthread_t *helper = malloc(threads * sizeof *helper);
    if (!helper)
        return BAL_E_MEMORY;
    unsigned started = 0;
    while (started + 1 < threads && pthread_create(&helper[started], NULL, run_helper, &pool) == 0)
        started++;
    run_tasks(&pool);
    for (unsigned i = 0; i < started; i++)
        pthread_join(helper[i], NULL);
    free(helper);
    return BAL_OK;
}
