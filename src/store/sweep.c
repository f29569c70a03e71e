/* SPDX-License-Identifier: BSD-2-Clause */
/* Sweeps: which trials are missing, in which order they are done, and when a cell has enough of them.
 *
 * A request is a cell that the experiment wants; its identity is what the store knows it by. Two requests may
 * have the same identity (a policy that an axis does not concern); its trials are then done once. There is no
 * list of trials: each request has a place up to which its replications have been handed out, and the
 * requests are sorted by the cost of a trial, so that the longest go first and memory does not grow with the
 * number of trials. */
#include "store/sweep.h"

#include "spec/plan.h"
#include "store/store_private.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MISSING, HANDED_OUT, COMPLETE, ELSEWHERE /* another shard has it */ };

struct identity {
    int64_t cell;
    unsigned capacity;
    uint8_t *state; /* of each replication */
    uint64_t place; /* of its first trial among those of all shards */
    bool whole;     /* one shard has all its trials, because they decide how many there are */
    bool placed;
};

struct cell_request {
    size_t point, policy;
    int64_t cell;          /* its number in the store */
    size_t identity;       /* its index here */
    double cost;           /* of one trial */
    unsigned wanted, most; /* replications */
    unsigned next;         /* all earlier ones are handed out or complete */
    bool adaptive;         /* a precision is wanted */
    bool settled;          /* it has all its trials, and they are enough */
};

struct bli_sweep {
    const struct bli_experiment *e;
    struct bli_store *store;
    struct bli_sweep_options options;
    int64_t run;
    size_t requests, identities;
    struct cell_request *request; /* the longest first */
    struct identity *identity;
    size_t *first; /* for each identity the place of its requests in by_identity; one more at the end */
    size_t *by_identity;
    pthread_mutex_t lock; /* guards what follows, and the above once the sweep is under way */
    pthread_cond_t work_available;
    size_t cursor; /* no earlier request has anything to hand out */
    size_t outstanding;
    struct bli_sweep_progress progress;
    struct bal_error error;
};

static enum bal_code no_memory(struct bal_error *err) {
    return bal_fail(err, BAL_E_MEMORY, "not enough memory for the plan of the experiment");
}

static bool is_stopped(const struct bli_sweep *sweep) {
    return sweep->options.stop && *sweep->options.stop;
}

/* ---- shards ---- */

/* Trials are dealt out one by one. Their places follow from the experiment alone, not from the store nor from
 * what trials cost, so that all machines agree. */
static bool is_in_shard(const struct bli_sweep *sweep, const struct identity *identity,
                        unsigned replication) {
    const struct bli_shard *shard = &sweep->options.shard;
    const uint64_t place = identity->place + (identity->whole ? 0 : replication);
    return shard->count == 0 || place % shard->count == shard->number - 1;
}

/* The requests are in the order of points and policies. */
static void place_identities(struct bli_sweep *sweep) {
    uint64_t place = 0;
    for (size_t i = 0; i < sweep->requests; i++)
        if (sweep->request[i].adaptive)
            sweep->identity[sweep->request[i].identity].whole = true;
    for (size_t i = 0; i < sweep->requests; i++) {
        struct identity *identity = &sweep->identity[sweep->request[i].identity];
        if (identity->placed)
            continue;
        identity->placed = true;
        identity->place = place;
        place += identity->whole ? 1 : sweep->request[i].wanted;
    }
}

/* ---- planning ---- */

static bool reserve_replications(struct identity *identity, unsigned capacity) {
    if (capacity <= identity->capacity)
        return true;
    uint8_t *state = realloc(identity->state, capacity);
    if (!state)
        return false;
    memset(state + identity->capacity, MISSING, capacity - identity->capacity);
    identity->state = state;
    identity->capacity = capacity;
    return true;
}

static void mark_complete(void *context, unsigned replication) {
    ((struct identity *)context)->state[replication] = COMPLETE;
}

/* Makes the request want so many replications, and counts what that adds. Trials that the store has are found
 * here. */
static enum bal_code request_replications(struct bli_sweep *sweep, struct cell_request *request,
                                          unsigned wanted, struct bal_error *err) {
    struct identity *identity = &sweep->identity[request->identity];
    const unsigned known = identity->capacity;
    if (!reserve_replications(identity, wanted))
        return no_memory(err);
    if (wanted > known && sweep->store) {
        uint8_t *before = malloc(known + 1);
        if (!before)
            return no_memory(err);
        memcpy(before, identity->state, known);
        const enum bal_code code = bli_store_list(sweep->store, identity->cell, wanted,
                                                  sweep->e->distributions, mark_complete, identity, err);
        memcpy(identity->state, before, known); /* what is under way here is not asked of the store again */
        free(before);
        if (code)
            return code;
    }
    for (unsigned r = known; r < wanted; r++) {
        const bool found = identity->state[r] == COMPLETE;
        if (!is_in_shard(sweep, identity, r)) {
            identity->state[r] = found ? COMPLETE : ELSEWHERE;
            continue;
        }
        if (!found && sweep->e->policy[request->policy].real)
            return bal_fail(
                err, BAL_E_MODEL,
                "policy '%.60s' is measured on real processes: use `ballast live` instead of `run`",
                sweep->e->policy[request->policy].label);
        sweep->progress.total++;
        sweep->progress.done += found;
        sweep->progress.found += found;
        sweep->progress.cost_total += found ? 0 : request->cost;
    }
    request->wanted = wanted;
    return BAL_OK;
}

/* Has the request all it wants? When a precision is asked for, its trials then decide whether that is enough;
 * more may be wanted, and may be in the store already. */
static enum bal_code evaluate_cell(struct bli_sweep *sweep, struct cell_request *request,
                                   struct bal_error *err) {
    while (!request->settled) {
        const struct identity *identity = &sweep->identity[request->identity];
        for (unsigned r = 0; r < request->wanted; r++)
            if (identity->state[r] != COMPLETE)
                return BAL_OK;
        if (!request->adaptive) {
            request->settled = true;
            break;
        }
        struct bli_case c;
        struct bli_result result;
        bli_experiment_case(sweep->e, request->point, request->policy, &c);
        struct bli_trial *trial = malloc(request->wanted * sizeof *trial);
        size_t count = 0;
        enum bal_code code =
            trial ? bli_store_get(sweep->store, identity->cell, request->wanted, trial, NULL, &count, err)
                  : no_memory(err);
        if (!code)
            bli_result_of(&c, trial, count, &result);
        free(trial);
        if (code)
            return code;
        const unsigned needed = bli_replications_needed(&c, &result, request->most);
        request->settled = needed <= request->wanted;
        if (!request->settled)
            code = request_replications(sweep, request, needed, err);
        if (code)
            return code;
    }
    return BAL_OK;
}

/* For a cell that the store does not know and that is only counted: negative, and the same for the same
 * identity. */
static int64_t provisional_id(const char *identity) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *identity; identity++)
        hash = (hash ^ (unsigned char)*identity) * 0x100000001b3u;
    return -(int64_t)(hash >> 1) - 1;
}

static enum bal_code add_request(struct bli_sweep *sweep, size_t point, size_t policy,
                                 struct bli_draft *draft, bool create, struct bal_error *err) {
    struct cell_request *request = &sweep->request[sweep->requests];
    bli_plan_policy(sweep->e, point, policy, draft);
    char *identity = bli_plan_identity(&draft->c);
    if (!identity)
        return no_memory(err);
    int64_t cell = 0;
    const enum bal_code code =
        sweep->store ? bli_store_cell(sweep->store, identity, create, &cell, err) : BAL_OK;
    if (!cell)
        cell = provisional_id(identity);
    free(identity);
    if (code)
        return code;
    *request = (struct cell_request){
        .point = point,
        .policy = policy,
        .cell = cell,
        .cost = bli_case_cost(&draft->c),
        .wanted = draft->c.replications,
        .most = bli_plan_most(draft),
        .adaptive = draft->c.precision > 0,
    };
    sweep->requests++;
    return BAL_OK;
}

static int by_cell(const void *a, const void *b) {
    const struct cell_request *x = a, *y = b;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static int by_place(const void *a, const void *b) {
    const struct cell_request *x = a, *y = b;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return x->policy < y->policy ? -1 : x->policy > y->policy;
}

static int longest_first(const void *a, const void *b) {
    const struct cell_request *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? 1 : -1;
    return by_place(a, b);
}

/* Numbers the identities 0, 1, ... and sorts the requests. */
static void number_identities(struct bli_sweep *sweep) {
    qsort(sweep->request, sweep->requests, sizeof *sweep->request, by_cell);
    for (size_t i = 0; i < sweep->requests; i++) {
        const int64_t cell = sweep->request[i].cell;
        if (sweep->identities == 0 || sweep->identity[sweep->identities - 1].cell != cell)
            sweep->identity[sweep->identities++].cell = cell;
        sweep->request[i].identity = sweep->identities - 1;
    }
    qsort(sweep->request, sweep->requests, sizeof *sweep->request, by_place);
    place_identities(sweep);
    qsort(sweep->request, sweep->requests, sizeof *sweep->request, longest_first);
    for (size_t i = 0; i < sweep->requests; i++)
        sweep->first[sweep->request[i].identity + 1]++;
    for (size_t k = 0; k < sweep->identities; k++)
        sweep->first[k + 1] += sweep->first[k];
    for (size_t i = sweep->requests; i-- > 0;) /* backwards, with first[k + 1] moving down to where k ends up
                                                */
        sweep->by_identity[--sweep->first[sweep->request[i].identity + 1]] = i;
    for (size_t k = 0; k < sweep->identities; k++)
        sweep->first[k] = sweep->first[k + 1];
    sweep->first[sweep->identities] = sweep->requests;
}

static enum bal_code plan_sweep(struct bli_sweep *sweep, bool create, struct bal_error *err) {
    const struct bli_experiment *e = sweep->e;
    enum bal_code code = create ? bli_store_group(sweep->store, err) : BAL_OK;
    if (code)
        return code;
    for (size_t point = 0; !code && point < e->points; point++) {
        struct bli_draft draft;
        bli_plan_point(e, point, &draft);
        for (size_t policy = 0; !code && policy < e->policies; policy++)
            code = add_request(sweep, point, policy, &draft, create, err);
    }
    if (create && code)
        bli_store_ungroup(sweep->store, false, NULL);
    else if (create)
        code = bli_store_ungroup(sweep->store, true, err);
    if (code)
        return code;
    number_identities(sweep);
    for (size_t i = 0; !code && i < sweep->requests; i++)
        code = request_replications(sweep, &sweep->request[i], sweep->request[i].wanted, err);
    for (size_t i = 0; !code && i < sweep->requests; i++)
        code = evaluate_cell(sweep, &sweep->request[i], err);
    return code;
}

static void free_sweep(struct bli_sweep *sweep) {
    for (size_t i = 0; sweep->identity && i < sweep->identities; i++)
        free(sweep->identity[i].state);
    free(sweep->identity);
    free(sweep->request);
    free(sweep->first);
    free(sweep->by_identity);
    pthread_cond_destroy(&sweep->work_available);
    pthread_mutex_destroy(&sweep->lock);
    free(sweep);
}

static struct bli_sweep *alloc_sweep(const struct bli_experiment *e, struct bli_store *store) {
    struct bli_sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return NULL;
    const size_t cells = e->points * e->policies;
    *sweep = (struct bli_sweep){.e = e, .store = store};
    sweep->request = calloc(cells, sizeof *sweep->request);
    sweep->identity = calloc(cells, sizeof *sweep->identity);
    sweep->first = calloc(cells + 2, sizeof *sweep->first);
    sweep->by_identity = calloc(cells, sizeof *sweep->by_identity);
    pthread_mutex_init(&sweep->lock, NULL);
    pthread_cond_init(&sweep->work_available, NULL);
    if (sweep->request && sweep->identity && sweep->first && sweep->by_identity)
        return sweep;
    free_sweep(sweep);
    return NULL;
}

enum bal_code bli_sweep_new(const struct bli_experiment *experiment, struct bli_store *store,
                            const struct bli_sweep_options *options, struct bli_sweep **sweep,
                            struct bal_error *err) {
    struct bli_sweep *result = alloc_sweep(experiment, store);
    if (!result)
        return no_memory(err);
    result->options = *options;
    enum bal_code code = plan_sweep(result, true, err);
    if (!code)
        code = bli_store_begin(store, experiment, result->progress.done < result->progress.total,
                               &result->run, err);
    if (!code && options->command && result->progress.done < result->progress.total)
        code = bli_store_add_command(store, result->run, options->command, err);
    if (code) {
        free_sweep(result);
        return code;
    }
    *sweep = result;
    return BAL_OK;
}

void bli_sweep_free(struct bli_sweep *sweep) {
    if (sweep)
        free_sweep(sweep);
}

enum bal_code bli_sweep_status(const struct bli_experiment *experiment, struct bli_store *store,
                               struct bli_sweep_progress *progress, struct bal_error *err) {
    struct bli_sweep *sweep = alloc_sweep(experiment, store);
    if (!sweep)
        return no_memory(err);
    enum bal_code code = bli_store_adopt_delays(store, experiment, err);
    if (!code)
        code = plan_sweep(sweep, false, err);
    *progress = sweep->progress;
    free_sweep(sweep);
    return code;
}

/* ---- handing out and taking in ---- */

/* The next replication of the request that is neither done nor handed out, or none. */
static bool assign_replication(struct bli_sweep *sweep, size_t index, struct bli_task *task) {
    struct cell_request *request = &sweep->request[index];
    struct identity *identity = &sweep->identity[request->identity];
    for (; request->next < request->wanted; request->next++)
        if (identity->state[request->next] == MISSING) {
            identity->state[request->next] = HANDED_OUT;
            *task = (struct bli_task){index, request->point, request->policy, request->next++};
            return true;
        }
    return false;
}

static enum bli_next next_locked(struct bli_sweep *sweep, struct bli_task *task) {
    if (sweep->error.code || is_stopped(sweep))
        return BLI_NEXT_END;
    for (; sweep->cursor < sweep->requests; sweep->cursor++)
        if (assign_replication(sweep, sweep->cursor, task)) {
            sweep->outstanding++;
            return BLI_NEXT_TASK;
        }
    return sweep->outstanding > 0 ? BLI_NEXT_WAIT : BLI_NEXT_END;
}

enum bli_next bli_sweep_next(struct bli_sweep *sweep, struct bli_task *task) {
    pthread_mutex_lock(&sweep->lock);
    const enum bli_next next = next_locked(sweep, task);
    pthread_mutex_unlock(&sweep->lock);
    return next;
}

enum bli_next bli_sweep_next_wait(struct bli_sweep *sweep, struct bli_task *task) {
    pthread_mutex_lock(&sweep->lock);
    enum bli_next next;
    while ((next = next_locked(sweep, task)) == BLI_NEXT_WAIT)
        pthread_cond_wait(&sweep->work_available, &sweep->lock);
    pthread_mutex_unlock(&sweep->lock);
    return next;
}

/* Commits the trial and asks the requests of its identity whether they have enough. */
static enum bal_code commit_trial(struct bli_sweep *sweep, const struct bli_task *task,
                                  const struct bli_trial *trial, struct bal_error *err) {
    const struct cell_request *from = &sweep->request[task->request];
    const size_t k = from->identity;
    struct identity *identity = &sweep->identity[k];
    enum bal_code code = bli_store_put(sweep->store, identity->cell, task->replication, trial, err);
    if (code)
        return code;
    identity->state[task->replication] = COMPLETE;
    sweep->progress.done++;
    sweep->progress.cost_done += from->cost;
    for (size_t i = sweep->first[k]; !code && i < sweep->first[k + 1]; i++) {
        const size_t index = sweep->by_identity[i];
        code = evaluate_cell(sweep, &sweep->request[index], err);
        if (!code && sweep->request[index].next < sweep->request[index].wanted && index < sweep->cursor)
            sweep->cursor = index;
    }
    return code;
}

void bli_sweep_add_trial(struct bli_sweep *sweep, const struct bli_task *task, const struct bli_trial *trial,
                         const struct bal_error *why) {
    struct bal_error err = {0};
    pthread_mutex_lock(&sweep->lock);
    sweep->outstanding--;
    if (!trial)
        err = *why;
    else
        commit_trial(sweep, task, trial, &err);
    if (err.code && err.code != BAL_E_STOPPED && !sweep->error.code)
        sweep->error = err;
    if (sweep->options.progress)
        sweep->options.progress(sweep->options.progress_context, &sweep->progress);
    pthread_cond_broadcast(&sweep->work_available);
    pthread_mutex_unlock(&sweep->lock);
}

/* ---- working ---- */

enum bal_code bli_task_run(const struct bli_experiment *experiment, const struct bli_task *task,
                           const volatile int *stop, struct bli_trial *trial, struct bal_error *err) {
    struct bli_case c;
    bli_experiment_case(experiment, task->point, task->policy, &c);
    c.run.replication = task->replication;
    c.run.stop = stop;
    return bli_case_trial(&c, &c.run, trial, err);
}

struct bench {
    struct bli_histogram histogram[BLI_DISTRIBUTIONS];
};

void bli_sweep_work(struct bli_sweep *sweep) {
    struct bench *bench = malloc(sizeof *bench);
    struct bli_task task;
    while (bli_sweep_next_wait(sweep, &task) == BLI_NEXT_TASK) {
        struct bal_error err = {0};
        if (!bench) {
            no_memory(&err);
            bli_sweep_add_trial(sweep, &task, NULL, &err);
            continue;
        }
        memset(bench, 0, sizeof *bench);
        struct bli_trial trial = {.jobs = 0};
        bli_trial_keep(&trial, bench->histogram);
        const enum bal_code code = bli_task_run(sweep->e, &task, sweep->options.stop, &trial, &err);
        bli_sweep_add_trial(sweep, &task, code ? NULL : &trial, &err);
    }
    free(bench);
}

enum bal_code bli_sweep_finish(struct bli_sweep *sweep, struct bal_error *err) {
    if (sweep->error.code) {
        if (err)
            *err = sweep->error;
        return sweep->error.code;
    }
    if (sweep->progress.done < sweep->progress.total)
        return bal_fail(err, BAL_E_STOPPED, "stopped after %zu of %zu trials", sweep->progress.done,
                        sweep->progress.total);
    return sweep->options.shard.count > 0 ? BAL_OK : bli_store_end(sweep->store, sweep->run, err);
}

static void sweep_worker(void *context, size_t i) {
    (void)i;
    bli_sweep_work(context);
}

enum bal_code bli_sweep_run(const struct bli_experiment *experiment, struct bli_store *store,
                            const struct bli_sweep_options *options, struct bal_error *err) {
    struct bli_sweep *sweep = NULL;
    enum bal_code code = bli_sweep_new(experiment, store, options, &sweep, err);
    if (code)
        return code;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned threads = options->threads ? options->threads : processors < 1 ? 1 : (unsigned)processors;
    code = bli_pool_run(threads, threads, sweep_worker, sweep, NULL);
    code = code ? no_memory(err) : bli_sweep_finish(sweep, err);
    bli_sweep_free(sweep);
    return code;
}
