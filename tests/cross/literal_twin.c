/* SPDX-License-Identifier: BSD-2-Clause */
/* A second simulator, written from the statement of the model alone and as literally as possible, against
 * both engines.
 *
 * N servers, each with a FIFO queue of its own (the job in service counts as in the queue), one dispatcher
 * without a queue, Poisson arrivals. A probe asks one server at the moment of dispatch; a report is a message
 * that a server sends by itself. Here jobs are records in an array, remaining work is counted down, the next
 * event is found by looking at everybody, and the rules of the policies are written out once more. It is slow
 * and has nothing in common with the engines but the generator of random bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../agree.h"

enum { SERVERS_MAX = 10, ROOM = 3000 };

struct job {
    double arrival;
    double left; /* work */
    bool started;
};

enum power { ON, OFF, SETUP };

struct server {
    double speed;
    struct job job[ROOM];
    unsigned jobs;
    enum power power;
    double clock;   /* when it does something by itself: reports that it is still idle, goes off, is set up */
    bool told;      /* it has reported that it is idle and on, and has got no job since */
    bool stored;    /* rcpb: its name is in the store */
    double changed; /* own: when the number of its jobs did last */
    double estimate;                     /* lsq: what the dispatcher believes */
    unsigned reported, sent, unreported; /* care: in the last report, since, completions since */
    double emulated[ROOM];               /* care: when each of those is thought to be complete */
    double average, averaged;            /* ewma: of its responses, and when it was so */
    double responses, behind; /* prequal: moving averages of its responses and of jobs left behind */
};

/* prequal: a reply in the pool. */
struct known {
    unsigned server, in_flight, uses;
    double latency, since;
    bool used;
};

/* What is measured between the end of the warm-up and the end of the run. */
struct measured {
    double response, waiting, level[AGREE_TAIL + 1], total, power[4];
    unsigned long completed, started, waited, joined, refused, probes, reports;
    double *responses;
};

struct world {
    struct bal_rng rng;
    const struct bli_model *model;
    const struct bal_policy_spec *spec;
    unsigned servers;
    double mean_service; /* of an average server */
    struct server server[SERVERS_MAX];
    double now;
    double warm, end;
    /* memory of the dispatcher */
    unsigned next;              /* round-robin */
    double credit[SERVERS_MAX]; /* weighted-round-robin */
    unsigned last_idle;
    unsigned misses; /* of tabs */ /* pi */
    unsigned memory[SERVERS_MAX];  /* pod-memory */
    unsigned remembered;
    struct known pool[64]; /* prequal: the oldest first */
    unsigned pooled;
    unsigned seen[64], seen_count; /* requests in flight in the last replies, the last one first */
    bool oldest_next;
    double due, asked_due;
    double posted_at;                 /* board: when its period began */
    unsigned posted[SERVERS_MAX];     /* board: the queues then */
    double posted_jobs, a_period_has; /* board: jobs since, and in the period before */
    unsigned asked[64], asked_count;  /* who is to be asked when the job has joined */
    struct measured m;
};

static bool measuring(const struct world *w) {
    return w->now > w->warm;
}

/* ---- chance ---- */

static double exponential(struct world *w, double mean) {
    return -mean * log(1 - bal_rng_uniform(&w->rng));
}

/* Uniform on 0 ... n-1, by throwing away what does not fit. */
static unsigned uniform(struct world *w, unsigned n) {
    unsigned draw;
    do
        draw = (unsigned)(bal_rng_next(&w->rng) >> 60);
    while (draw >= n);
    return draw;
}

/* ---- what the dispatcher can do ---- */

static double param(const struct world *w, const char *name) {
    for (unsigned i = 0; i < w->spec->policy->param_count; i++)
        if (strcmp(w->spec->policy->params[i].name, name) == 0)
            return w->spec->value[i];
    fail_msg("%s has no parameter %s", w->spec->policy->name, name);
    return NAN;
}

static unsigned probe(struct world *w, unsigned server) {
    w->m.probes += measuring(w);
    return w->server[server].jobs;
}

/* A uniform one of those candidates whose key is least. */
static unsigned least_of(struct world *w, const unsigned *candidate, const double *key, unsigned count) {
    unsigned best[64], ties = 0;
    double least = INFINITY;
    for (unsigned i = 0; i < count; i++)
        least = key[i] < least ? key[i] : least;
    for (unsigned i = 0; i < count; i++)
        if (key[i] == least)
            best[ties++] = candidate[i];
    return best[uniform(w, ties)];
}

/* A uniform one of the servers for which it holds, or `servers` if there is none. */
static unsigned uniform_where(struct world *w, bool (*holds)(const struct server *)) {
    unsigned who[SERVERS_MAX], count = 0;
    for (unsigned s = 0; s < w->servers; s++)
        if (holds(&w->server[s]))
            who[count++] = s;
    return count > 0 ? who[uniform(w, count)] : w->servers;
}

static unsigned first_where(struct world *w, bool (*holds)(const struct server *)) {
    unsigned s = 0;
    while (s < w->servers && !holds(&w->server[s]))
        s++;
    return s;
}

static bool has_told(const struct server *server) {
    return server->told;
}

static bool is_stored(const struct server *server) {
    return server->stored;
}

static bool is_busy(const struct server *server) {
    return server->jobs > 0;
}

static bool is_in_setup(const struct server *server) {
    return server->power == SETUP;
}

static bool is_off(const struct server *server) {
    return server->power == OFF;
}

/* ---- the policies: where does the job go? `servers` means nowhere ---- */

static unsigned choose_random(struct world *w) {
    return uniform(w, w->servers);
}

static unsigned choose_round_robin(struct world *w) {
    const unsigned server = w->next;
    w->next = (w->next + 1) % w->servers;
    return server;
}

static unsigned choose_jsq(struct world *w) {
    unsigned candidate[SERVERS_MAX];
    double key[SERVERS_MAX];
    for (unsigned s = 0; s < w->servers; s++) {
        candidate[s] = s;
        key[s] = probe(w, s);
    }
    return least_of(w, candidate, key, w->servers);
}

static unsigned choose_least_work(struct world *w) {
    unsigned candidate[SERVERS_MAX];
    double key[SERVERS_MAX];
    for (unsigned s = 0; s < w->servers; s++) {
        candidate[s] = s;
        key[s] = 0 * probe(w, s);
        for (unsigned j = 0; j < w->server[s].jobs; j++)
            key[s] += w->server[s].job[j].left / w->server[s].speed;
    }
    return least_of(w, candidate, key, w->servers);
}

static bool among(const unsigned *list, unsigned count, unsigned server) {
    for (unsigned i = 0; i < count; i++)
        if (list[i] == server)
            return true;
    return false;
}

static unsigned choose_pod(struct world *w) {
    const unsigned d = (unsigned)param(w, "d");
    unsigned candidate[64];
    double key[64];
    for (unsigned i = 0; i < d; i++) {
        do
            candidate[i] = uniform(w, w->servers);
        while (param(w, "replace") == 0 && among(candidate, i, candidate[i]));
        key[i] = probe(w, candidate[i]);
        if (param(w, "stop") == 1 && key[i] == 0) /* one after the other, until one is idle */
            return candidate[i];
    }
    return least_of(w, candidate, key, d);
}

/* After the dispatch: the b least loaded of the candidates, the new job counted, ties at random. */
static void remember(struct world *w, const unsigned *candidate, const double *key, unsigned count) {
    double rest[64];
    memcpy(rest, key, count * sizeof *key);
    w->remembered = 0;
    while (w->remembered < param(w, "b") && w->remembered < count) {
        const unsigned server = least_of(w, candidate, rest, count);
        w->memory[w->remembered++] = server;
        for (unsigned i = 0; i < count; i++)
            if (candidate[i] == server)
                rest[i] = INFINITY;
    }
}

static unsigned choose_pod_memory(struct world *w) {
    unsigned candidate[64], count = 0;
    double key[64];
    for (; count < w->remembered; count++) {
        candidate[count] = w->memory[count];
        key[count] = probe(w, candidate[count]);
    }
    for (unsigned i = 0; i < param(w, "d"); i++) {
        const unsigned server = uniform(w, w->servers);
        const double length = probe(w, server);
        if (among(candidate, count, server))
            continue;
        candidate[count] = server;
        key[count++] = length;
    }
    const unsigned to = least_of(w, candidate, key, count);
    for (unsigned i = 0; i < count; i++)
        key[i] += candidate[i] == to;
    remember(w, candidate, key, count);
    return to;
}

static bool is_any(const struct server *server) {
    (void)server;
    return true;
}

/* The only dispatcher has sent all jobs that are there: the fewest of them for the speed of the server, among
 * up to `most` different servers for which it holds, or `servers`. */
static unsigned fewest_own(struct world *w, unsigned most, bool (*holds)(const struct server *)) {
    unsigned eligible[SERVERS_MAX], candidate[SERVERS_MAX], count = 0, drawn = 0;
    double key[SERVERS_MAX];
    for (unsigned s = 0; s < w->servers; s++)
        if (holds(&w->server[s]))
            eligible[count++] = s;
    for (; drawn < most && drawn < count; drawn++) {
        do
            candidate[drawn] = eligible[uniform(w, count)];
        while (among(candidate, drawn, candidate[drawn]));
        key[drawn] = w->server[candidate[drawn]].jobs / w->server[candidate[drawn]].speed;
    }
    return drawn > 0 ? least_of(w, candidate, key, drawn) : w->servers;
}

/* Of those with the fewest for their speed, which stand in the order of their names: in turn, or in the order
 * in which they came to be so. */
static unsigned next_of_equals(struct world *w, bool turns) {
    unsigned equal[SERVERS_MAX], count = 0, best = 0;
    double least = INFINITY, earned = 0;
    for (unsigned s = 0; s < w->servers; s++)
        least = fmin(least, w->server[s].jobs / w->server[s].speed);
    for (unsigned s = 0; s < w->servers; s++)
        if (w->server[s].jobs / w->server[s].speed == least)
            equal[count++] = s;
    for (unsigned i = 0; i < count; i++) {
        w->credit[equal[i]] += w->server[equal[i]].speed;
        earned += w->server[equal[i]].speed;
    }
    for (unsigned i = 1; i < count; i++)
        if (turns ? w->credit[equal[i]] > w->credit[equal[best]]
                  : w->server[equal[i]].changed < w->server[equal[best]].changed)
            best = i;
    w->credit[equal[best]] -= earned;
    return equal[best];
}

static unsigned choose_own(struct world *w) {
    if (param(w, "ties") != 0)
        return next_of_equals(w, param(w, "ties") == 1);
    if (param(w, "replace") == 1) {
        const unsigned one = uniform(w, w->servers), two = uniform(w, w->servers);
        const struct server *first = &w->server[one], *second = &w->server[two];
        return second->jobs / second->speed < first->jobs / first->speed ? two : one;
    }
    return fewest_own(w, isnan(param(w, "d")) ? w->servers : (unsigned)param(w, "d"), is_any);
}

static double speed_of_all(const struct world *w) {
    double sum = 0;
    for (unsigned s = 0; s < w->servers; s++)
        sum += w->server[s].speed;
    return sum;
}

static unsigned choose_weighted_random(struct world *w) {
    double point = bal_rng_uniform(&w->rng) * speed_of_all(w);
    unsigned server = 0;
    while (server < w->servers - 1 && point >= w->server[server].speed)
        point -= w->server[server++].speed;
    return server;
}

static unsigned choose_weighted_round_robin(struct world *w) {
    unsigned richest = 0;
    for (unsigned s = 0; s < w->servers; s++) {
        w->credit[s] += w->server[s].speed;
        if (w->credit[s] > w->credit[richest])
            richest = s;
    }
    w->credit[richest] -= speed_of_all(w);
    return richest;
}

static unsigned choose_sed(struct world *w) {
    unsigned candidate[SERVERS_MAX];
    double key[SERVERS_MAX];
    for (unsigned s = 0; s < w->servers; s++) {
        candidate[s] = s;
        key[s] = (w->server[s].jobs + 1) / w->server[s].speed;
    }
    return least_of(w, candidate, key, w->servers);
}

static unsigned choose_fastest_idle(struct world *w) {
    unsigned candidate[SERVERS_MAX], count = 0;
    double key[SERVERS_MAX];
    for (unsigned s = 0; s < w->servers; s++)
        if (w->server[s].jobs == 0) {
            candidate[count] = s;
            key[count++] = -w->server[s].speed;
        }
    return count > 0 ? least_of(w, candidate, key, count) : choose_sed(w);
}

/* Without a token: a server for which it holds, as the parameter says. */
static unsigned otherwise(struct world *w, bool (*holds)(const struct server *)) {
    switch ((int)param(w, "else")) {
    case 0:
        return uniform_where(w, holds);
    case 1:
        return fewest_own(w, w->servers, holds);
    case 2:
        return fewest_own(w, 2, holds);
    default:
        fail_msg("nobody holds jobs here");
        return 0;
    }
}

/* By the parameter `idle`: any, or the first. */
static unsigned choose_by_idle(struct world *w, bool (*holds)(const struct server *)) {
    return param(w, "idle") == 2 ? first_where(w, holds) : uniform_where(w, holds);
}

static unsigned choose_jiq(struct world *w) {
    const unsigned idle = choose_by_idle(w, has_told);
    return idle < w->servers ? idle : otherwise(w, is_any);
}

static unsigned choose_pi(struct world *w) {
    const unsigned idle = choose_by_idle(w, has_told);
    if (idle < w->servers)
        w->last_idle = idle;
    return w->last_idle;
}

/* ---- lsq ---- */

static unsigned choose_lsq(struct world *w) {
    unsigned candidate[SERVERS_MAX];
    double key[SERVERS_MAX];
    for (unsigned i = 0; i < param(w, "d"); i++)
        w->asked[w->asked_count++] = uniform(w, w->servers);
    for (unsigned s = 0; s < w->servers; s++) {
        candidate[s] = s;
        key[s] = w->server[s].estimate;
    }
    const unsigned to = least_of(w, candidate, key, w->servers);
    w->server[to].estimate++;
    return to;
}

/* ---- care ---- */

/* When each job would be complete if all took the mean time, one after the other. */
static void emulate(struct world *w, struct server *server, unsigned jobs) {
    double speeds = 0;
    for (unsigned s = 0; s < w->servers; s++)
        speeds += w->server[s].speed;
    const double service = param(w, "service") * w->mean_service * speeds / w->servers / server->speed;
    while (jobs-- > 0) {
        const unsigned i = server->reported + server->sent;
        assert_true(i < ROOM);
        const double begins = i > 0 ? fmax(server->emulated[i - 1], w->now) : w->now;
        server->emulated[i] = service > 0 ? begins + service : INFINITY;
        server->sent++;
    }
}

/* The queue after so many jobs that are thought to be complete, but no more than x - 1. */
static double thought(const struct world *w, const struct server *server) {
    unsigned complete = 0;
    while (complete < server->reported + server->sent && server->emulated[complete] <= w->now)
        complete++;
    return server->reported + server->sent - fmin(complete, param(w, "x") - 1);
}

static unsigned choose_care(struct world *w) {
    unsigned candidate[SERVERS_MAX] = {0};
    double key[SERVERS_MAX] = {0};
    for (unsigned s = 0; s < w->servers; s++) {
        candidate[s] = s;
        key[s] = thought(w, &w->server[s]);
        assert_true(fabs(key[s] - w->server[s].jobs) < param(w, "x")); /* never off by x */
    }
    const unsigned to = least_of(w, candidate, key, w->servers);
    emulate(w, &w->server[to], 1);
    return to;
}

/* Each x-th completion is reported. */
static void report_by_count(struct world *w, struct server *server) {
    if (++server->unreported < param(w, "x"))
        return;
    const unsigned jobs = server->jobs;
    w->m.reports += measuring(w);
    server->unreported = server->reported = server->sent = 0;
    emulate(w, server, jobs);
}

/* ---- scd ---- */

/* Sorted by key over speed, servers are let in as long as the next one lies below the level. */
static unsigned choose_scd(struct world *w) {
    const double sum = 2 * (param(w, "m") - 1);
    unsigned order[SERVERS_MAX];
    double key[SERVERS_MAX], each[SERVERS_MAX];
    for (unsigned s = 0; s < w->servers; s++) {
        key[s] = 2.0 * probe(w, s) + 1;
        each[s] = key[s] / w->server[s].speed;
        unsigned place = s;
        for (; place > 0 && each[order[place - 1]] > each[s]; place--)
            order[place] = order[place - 1];
        order[place] = s;
    }
    if (sum == 0) {
        for (unsigned s = 0; s < w->servers; s++)
            order[s] = s;
        return least_of(w, order, each, w->servers);
    }
    double keys = sum, speeds = 0;
    unsigned in = 0;
    while (in < w->servers && (in == 0 || each[order[in]] < keys / speeds)) {
        keys += key[order[in]];
        speeds += w->server[order[in++]].speed;
    }
    double left = bal_rng_uniform(&w->rng) * sum;
    for (unsigned i = 0; i < in; i++) {
        left -= keys / speeds * w->server[order[i]].speed - key[order[i]];
        if (left < 0)
            return order[i];
    }
    return order[in - 1];
}

/* ---- board: times in mean services ---- */

/* The first job of a period has all queues posted. */
static void post(struct world *w) {
    const double t = param(w, "t"), now = w->now / w->mean_service;
    const double begun = now - fmod(now, t);
    const bool first = w->a_period_has == 0;
    if (!first && begun < w->posted_at + t / 2)
        return;
    const double periods = round((begun - w->posted_at) / t);
    w->a_period_has = first ? w->model->load * w->servers * t : w->posted_jobs / periods;
    w->a_period_has = fmax(w->a_period_has, 1);
    w->posted_at = begun;
    w->posted_jobs = 0;
    for (unsigned s = 0; s < w->servers; s++)
        w->posted[s] = probe(w, s);
}

/* All are filled up to one level with the jobs of a period, in small portions, always the lowest; a job is
 * one of the portions. */
static unsigned choose_a_portion(struct world *w) {
    enum { PORTIONS = 4000 };
    double level[SERVERS_MAX];
    unsigned to[PORTIONS];
    for (unsigned s = 0; s < w->servers; s++)
        level[s] = w->posted[s];
    for (unsigned i = 0; i < PORTIONS; i++) {
        unsigned lowest = 0;
        for (unsigned s = 1; s < w->servers; s++)
            lowest = level[s] < level[lowest] ? s : lowest;
        to[i] = lowest;
        level[lowest] += w->a_period_has / PORTIONS;
    }
    return to[(unsigned)(bal_rng_uniform(&w->rng) * PORTIONS)];
}

static unsigned choose_board(struct world *w) {
    unsigned candidate[64];
    double key[64];
    const double pick = param(w, "pick");
    const unsigned count = pick != 0 ? w->servers : isnan(param(w, "d")) ? 2 : (unsigned)param(w, "d");
    post(w);
    w->posted_jobs++;
    if (pick == 2)
        return choose_a_portion(w);
    for (unsigned i = 0; i < count; i++) {
        candidate[i] = pick == 0 ? uniform(w, w->servers) : i;
        key[i] = w->posted[candidate[i]];
    }
    return least_of(w, candidate, key, count);
}

/* ---- ewma: times in mean services ---- */

static void average_in(struct world *w, struct server *server, double response) {
    const double now = w->now / w->mean_service;
    const double keep = exp(-(now - server->averaged) / param(w, "decay"));
    if (response > server->average)
        server->average = response;
    else
        server->average = keep * server->average + (1 - keep) * response;
    server->averaged = now;
}

static unsigned choose_ewma(struct world *w) {
    unsigned candidate[64];
    double key[64];
    const unsigned d = param(w, "d") < w->servers ? (unsigned)param(w, "d") : w->servers;
    for (unsigned i = 0; i < d; i++) {
        do
            candidate[i] = uniform(w, w->servers);
        while (among(candidate, i, candidate[i]));
        struct server *server = &w->server[candidate[i]];
        average_in(w, server, 0);
        const double average = server->average > 0 || server->jobs == 0 ? server->average : 1e9;
        key[i] = average * (server->jobs + 1) / server->speed;
    }
    return least_of(w, candidate, key, d);
}

/* ---- prequal ---- */

static void unpool(struct world *w, unsigned i) {
    w->pooled--;
    memmove(&w->pool[i], &w->pool[i + 1], (w->pooled - i) * sizeof *w->pool);
}

static unsigned pool_size(const struct world *w) {
    if (!isnan(param(w, "pool")))
        return (unsigned)param(w, "pool");
    return w->servers <= 6 ? 2 : (w->servers + 2) / 3;
}

/* More requests than so many of a hundred recent replies had. */
static bool is_hot(const struct world *w, const struct known *known) {
    unsigned fewer = 0;
    for (unsigned i = 0; i < w->seen_count; i++)
        fewer += w->seen[i] < known->in_flight;
    return fewer > (unsigned)(param(w, "q") * w->seen_count);
}

/* The higher the better: cold ones above all hot ones. */
static double merit(const struct world *w, const struct known *known) {
    return is_hot(w, known) ? -1e9 - known->in_flight : -known->latency - 1e-12 * known->in_flight;
}

static unsigned extreme(const struct world *w, double sign) {
    unsigned found = 0;
    for (unsigned i = 1; i < w->pooled; i++)
        if (sign * merit(w, &w->pool[i]) > sign * merit(w, &w->pool[found]))
            found = i;
    return found;
}

static unsigned uses_of_reply(struct world *w) {
    const double gain = (1 - (double)pool_size(w) / w->servers) * param(w, "r") - param(w, "remove");
    const double b = gain <= 0.002 ? 1000 : gain > 2 ? 1 : 2 / gain;
    return (unsigned)b + (bal_rng_uniform(&w->rng) < b - (unsigned)b);
}

static unsigned choose_prequal(struct world *w) {
    for (w->asked_due += param(w, "r"); w->asked_due >= 1; w->asked_due--) {
        if (w->asked_count == w->servers)
            continue;
        do
            w->asked[w->asked_count] = uniform(w, w->servers);
        while (among(w->asked, w->asked_count, w->asked[w->asked_count]));
        w->asked_count++;
    }
    for (unsigned i = w->pooled; i-- > 0;)
        if (w->now / w->mean_service - w->pool[i].since > param(w, "age"))
            unpool(w, i);
    unsigned to;
    if (w->pooled < 2) {
        to = uniform(w, w->servers);
    } else {
        const unsigned best = extreme(w, 1);
        struct known *known = &w->pool[best];
        to = known->server;
        if (!known->used)
            known->uses = uses_of_reply(w);
        known->used = true;
        known->in_flight++;
        if (--known->uses == 0)
            unpool(w, best);
    }
    for (w->due += param(w, "remove"); w->due >= 1; w->due--) {
        if (w->pooled == 0)
            continue;
        unpool(w, w->oldest_next ? 0 : extreme(w, -1));
        w->oldest_next = !w->oldest_next;
    }
    return to;
}

/* The reply of a server that was asked. */
static void reply(struct world *w, unsigned s) {
    struct server *server = &w->server[s];
    w->m.probes += measuring(w);
    server->estimate = server->jobs;
    for (unsigned i = 0; i < w->pooled; i++)
        if (w->pool[i].server == s)
            unpool(w, i);
    if (strcmp(w->spec->policy->name, "prequal") != 0)
        return;
    if (w->pooled == pool_size(w))
        unpool(w, 0);
    w->pool[w->pooled++] =
        (struct known){.server = s,
                       .in_flight = server->jobs,
                       .latency = server->responses * (1 + server->jobs) / (1 + server->behind),
                       .since = w->now / w->mean_service};
    w->seen_count += w->seen_count < 64;
    memmove(w->seen + 1, w->seen, (w->seen_count - 1) * sizeof *w->seen);
    w->seen[0] = server->jobs;
}

/* ---- and again ---- */

static unsigned choose_rcpb(struct world *w) {
    const unsigned stored = uniform_where(w, is_stored);
    return stored < w->servers ? stored : otherwise(w, is_any);
}

/* A set-up is aborted: the server is off, and says so. */
static void abort_setup(struct world *w) {
    const unsigned orange = uniform_where(w, is_in_setup);
    if (orange == w->servers)
        return;
    w->server[orange].power = OFF;
    w->server[orange].clock = INFINITY;
    w->m.reports += measuring(w);
}

/* Is a server to be started for a job that finds none idle? */
static bool is_start_due(struct world *w) {
    const unsigned busy = first_where(w, is_busy), in_setup = first_where(w, is_in_setup);
    if (busy == w->servers && in_setup == w->servers)
        return true;
    return ++w->misses >= param(w, "after");
}

static unsigned choose_tabs(struct world *w) {
    const unsigned green = choose_by_idle(w, has_told);
    if (green < w->servers) {
        w->misses = 0;
        if (param(w, "abort") > 0)
            abort_setup(w);
        return green;
    }
    const bool due = is_start_due(w);
    const unsigned busy = otherwise(w, is_busy), red = choose_by_idle(w, is_off);
    if (due && red < w->servers) {
        w->misses = 0;
        w->server[red].power = SETUP;
        w->server[red].clock = w->now + exponential(w, w->mean_service / param(w, "nu"));
    }
    return busy;
}

/* Fewer servers become idle than jobs come: an arrival may start one, whether or not it finds one idle. */
static unsigned choose_rate_idle(struct world *w) {
    double idle_rate = 0;
    for (unsigned s = 0; s < w->servers; s++) {
        idle_rate += w->server[s].jobs == 1;
        idle_rate += is_in_setup(&w->server[s]) ? param(w, "nu") : 0;
    }
    const double missing = 1 - idle_rate / (w->model->load * w->servers);
    const unsigned green = uniform_where(w, has_told), red = uniform_where(w, is_off);
    const unsigned to = green < w->servers ? green : uniform_where(w, is_busy);
    const bool lonely = to == w->servers && uniform_where(w, is_in_setup) == w->servers;
    if ((lonely || bal_rng_uniform(&w->rng) < param(w, "gain") * missing) && red < w->servers) {
        w->server[red].power = SETUP;
        w->server[red].clock = w->now + exponential(w, w->mean_service / param(w, "nu"));
    }
    return to;
}

static unsigned choose_last_idle(struct world *w) {
    return w->last_idle < w->servers ? w->last_idle : uniform(w, w->servers);
}

static const struct rule {
    const char *name;
    unsigned (*choose)(struct world *w);
    bool tells; /* servers report when they become idle */
} rules[] = {
    {"random", choose_random, false},
    {"round-robin", choose_round_robin, false},
    {"jsq", choose_jsq, false},
    {"pod", choose_pod, false},
    {"pod-memory", choose_pod_memory, false},
    {"least-work", choose_least_work, false},
    {"jiq", choose_jiq, true},
    {"pi", choose_pi, true},
    {"rcpb", choose_rcpb, false},
    {"last-idle", choose_last_idle, false},
    {"tabs", choose_tabs, true},
    {"rate-idle", choose_rate_idle, true},
    {"least-conn", choose_own, false},
    {"lsq", choose_lsq, false},
    {"scd", choose_scd, false},
    {"care", choose_care, false},
    {"board", choose_board, false},
    {"ewma", choose_ewma, false},
    {"prequal", choose_prequal, false},
    {"weighted-random", choose_weighted_random, false},
    {"weighted-round-robin", choose_weighted_round_robin, false},
    {"sed", choose_sed, false},
    {"fastest-idle", choose_fastest_idle, false},
};

static const struct rule *rule_of(const struct bal_policy *policy) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, policy->name) == 0)
            return &rules[i];
    return NULL;
}

/* ---- what happens ---- */

static void tell(struct world *w, struct server *server) {
    server->told = true;
    w->m.reports += measuring(w);
}

/* The rate of the reports of an idle server; 0: it sends none. */
static double rcpb_rate(const struct world *w) {
    if (!isnan(param(w, "mu")))
        return param(w, "mu");
    const double mup = isnan(param(w, "mup")) ? 1 : param(w, "mup");
    return mup * w->model->load / (1 - w->model->load);
}

/* A server is idle and on from now on: what does it do by itself? */
static void stand_by(struct world *w, struct server *server) {
    const char *name = w->spec->policy->name;
    if (strcmp(name, "rcpb") == 0)
        server->clock = w->now + exponential(w, w->mean_service / rcpb_rate(w));
    if (strcmp(name, "last-idle") == 0)
        server->clock = w->now + exponential(w, w->mean_service / param(w, "mu"));
    if (strcmp(name, "tabs") == 0 || strcmp(name, "rate-idle") == 0)
        server->clock = w->now + exponential(w, w->mean_service / param(w, "mu"));
}

static void begin_service(struct world *w, struct job *job) {
    job->started = true;
    if (!measuring(w))
        return;
    w->m.started++;
    w->m.waiting += w->now - job->arrival;
    w->m.waited += w->now > job->arrival;
}

static void arrive(struct world *w, const struct rule *rule) {
    const unsigned to = rule->choose(w);
    const double size = bli_dist_sample(&w->model->size, &w->rng);
    if (to == w->servers) {
        w->m.refused += measuring(w);
        return;
    }
    struct server *server = &w->server[to];
    assert_true(server->jobs < ROOM && server->power == ON);
    server->told = server->stored = false;
    if (server->jobs == 0)
        server->clock = INFINITY;
    struct job *job = &server->job[server->jobs++];
    server->changed = w->now;
    *job = (struct job){.arrival = w->now, .left = size};
    if (server->jobs == 1)
        begin_service(w, job);
    w->m.joined += measuring(w);
    while (w->asked_count > 0)
        reply(w, w->asked[--w->asked_count]);
}

/* What is learned from a job that has left: the dispatcher sees its response, the server too, and the server
 * may report its queue. */
static void learn(struct world *w, struct server *server, double response) {
    if (strcmp(w->spec->policy->name, "ewma") == 0)
        average_in(w, server, response);
    server->responses += (response - server->responses) / 8;
    server->behind += (server->jobs - server->behind) / 8;
    if (strcmp(w->spec->policy->name, "lsq") == 0 &&
        (server->jobs == 0 || bal_rng_uniform(&w->rng) < param(w, "p"))) {
        w->m.reports += measuring(w);
        server->estimate = server->jobs;
    }
    if (strcmp(w->spec->policy->name, "care") == 0)
        report_by_count(w, server);
}

static void complete(struct world *w, const struct rule *rule, struct server *server) {
    const double response = (w->now - server->job[0].arrival) / w->mean_service;
    if (measuring(w)) {
        w->m.responses[w->m.completed++] = w->now - server->job[0].arrival;
        w->m.response += w->now - server->job[0].arrival;
    }
    server->jobs--;
    server->changed = w->now;
    memmove(server->job, server->job + 1, server->jobs * sizeof *server->job);
    learn(w, server, response);
    if (server->jobs > 0) {
        begin_service(w, &server->job[0]);
        return;
    }
    if (rule->tells)
        tell(w, server);
    stand_by(w, server);
}

static unsigned stored_names(const struct world *w) {
    unsigned count = 0;
    for (unsigned s = 0; s < w->servers; s++)
        count += w->server[s].stored;
    return count;
}

/* The clock of a server has run out. */
static void ring(struct world *w, struct server *server) {
    server->clock = INFINITY;
    if (strcmp(w->spec->policy->name, "rcpb") == 0) {
        w->m.reports += measuring(w);
        if (!server->stored && stored_names(w) < param(w, "c"))
            server->stored = true;
        stand_by(w, server);
    } else if (strcmp(w->spec->policy->name, "last-idle") == 0) {
        w->m.reports += measuring(w);
        w->last_idle = (unsigned)(server - w->server);
        stand_by(w, server);
    } else if (server->power == SETUP) {
        server->power = ON;
        tell(w, server);
        stand_by(w, server);
    } else {
        server->power = OFF;
        server->told = false;
        w->m.reports += measuring(w);
    }
}

/* Time passes: work is done, and what lies between warm-up and end is measured. */
static void pass(struct world *w, double until) {
    const double from = w->now > w->warm ? w->now : w->warm, to = until < w->end ? until : w->end;
    const double span = to > from ? to - from : 0;
    for (unsigned s = 0; s < w->servers; s++) {
        struct server *server = &w->server[s];
        if (server->jobs > 0)
            server->job[0].left -= (until - w->now) * server->speed;
        for (unsigned level = 1; level <= AGREE_TAIL && level <= server->jobs; level++)
            w->m.level[level] += span;
        w->m.total += span * server->jobs;
        w->m.power[server->jobs > 0 ? 0 : server->power == ON ? 1 : server->power == SETUP ? 2 : 3] += span;
    }
    w->now = until;
}

static void live(struct world *w, const struct rule *rule) {
    const double gap = 1 / bli_model_arrival_rate(w->model);
    double next_arrival = exponential(w, gap);
    for (;;) {
        double next = next_arrival;
        struct server *completes = NULL, *rings = NULL;
        for (unsigned s = 0; s < w->servers; s++) {
            struct server *server = &w->server[s];
            if (server->jobs > 0 && w->now + server->job[0].left / server->speed < next) {
                next = w->now + server->job[0].left / server->speed;
                completes = server;
                rings = NULL;
            }
            if (server->clock < next) {
                next = server->clock;
                rings = server;
                completes = NULL;
            }
        }
        pass(w, next);
        if (w->now >= w->end)
            return;
        if (completes) {
            complete(w, rule, completes);
        } else if (rings) {
            ring(w, rings);
        } else {
            arrive(w, rule);
            next_arrival = w->now + exponential(w, gap);
        }
    }
}

/* ---- measurements ---- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const struct measured *m, double q) {
    const size_t rank = (size_t)ceil(q * (double)m->completed);
    return m->responses[rank - 1];
}

static void conclude(struct world *w, double *value) {
    struct measured *m = &w->m;
    for (int quantity = 0; quantity < QUANTITIES; quantity++)
        value[quantity] = NAN;
    const double span = w->end - w->warm, probes = (double)m->probes, reports = (double)m->reports;
    const double joined = (double)m->joined, started = (double)m->started;
    qsort(m->responses, m->completed, sizeof *m->responses, by_value);
    value[BLI_RESPONSE_MEAN] = m->response / (double)m->completed;
    value[BLI_RESPONSE_P50] = quantile(m, 0.5);
    value[BLI_RESPONSE_P90] = quantile(m, 0.9);
    value[BLI_RESPONSE_P99] = quantile(m, 0.99);
    value[BLI_WAITING_MEAN] = m->waiting / started;
    value[BLI_WAITING_PROBABILITY] = (double)m->waited / started;
    value[BLI_QUEUE_TOTAL] = m->total / span;
    value[BLI_QUEUE_MEAN] = m->total / span / w->servers;
    const double offered = joined + (double)m->refused;
    value[BLI_PROBES_PER_JOB] = probes / offered;
    value[BLI_REPORTS_PER_JOB] = reports / offered;
    value[BLI_MESSAGES_PER_JOB] = (2 * probes + reports) / offered;
    value[BLI_MESSAGES_PER_TIME] = (probes + reports) / span;
    value[BLI_SERVERS_BUSY] = m->power[0] / span / w->servers;
    value[BLI_SERVERS_STANDBY] = m->power[1] / span / w->servers;
    value[BLI_SERVERS_SETUP] = m->power[2] / span / w->servers;
    value[BLI_SERVERS_OFF] = m->power[3] / span / w->servers;
    value[BLI_REFUSED] = (double)m->refused / (double)(m->refused + m->joined);
    for (int level = 1; level <= AGREE_TAIL; level++)
        value[BLI_METRIC_COUNT + level - 1] = m->level[level] / span / w->servers;
}

static void begin(struct world *w, const struct bli_model *model, const struct bal_policy_spec *spec,
                  const struct bli_run *run, uint64_t replication) {
    memset(w, 0, sizeof *w);
    w->model = model;
    w->spec = spec;
    bal_rng_init(&w->rng, run->seed, replication, BAL_STREAM_TEST);
    w->end = run->time;
    w->warm = run->warmup * run->time;
    for (unsigned g = 0; g < model->servers.groups; g++)
        for (unsigned i = 0; i < model->servers.group[g].count; i++)
            w->server[w->servers++].speed = model->servers.group[g].speed;
    if (strcmp(w->spec->policy->name, "last-idle") == 0)
        w->last_idle = w->servers; /* none has spoken */
    w->mean_service = model->size.mean * w->servers / bli_servers_capacity(&model->servers);
}

struct literal_task {
    const struct bli_model *model;
    const struct bal_policy_spec *spec;
    const struct bli_run *run;
    struct replications *into;
};

static void live_once(void *context, size_t i) {
    const struct literal_task *task = context;
    const struct rule *rule = rule_of(task->spec->policy);
    struct world *w = malloc(sizeof *w);
    double *responses =
        malloc((size_t)(3 * task->run->time * bli_model_arrival_rate(task->model) + 1000) * sizeof(double));
    if (!w || !responses)
        abort();
    begin(w, task->model, task->spec, task->run, i);
    w->m.responses = responses;
    for (unsigned s = 0; s < w->servers; s++) { /* all are idle and on, and the dispatcher knows it */
        w->server[s].clock = INFINITY;
        w->server[s].told = true;
        stand_by(w, &w->server[s]);
    }
    live(w, rule);
    conclude(w, task->into->value[i]);
    free(responses);
    free(w);
}

/* ---- the comparison ---- */

/* A comparison fails by chance with probability 1e-6; there are about 20 policies and variants x 6 fleets,
 * and 20 more x 2 fleets, x 2 engines x 20 quantities that vary, many of them nearly the same: 7e-3
 * altogether. Percentiles of the engines come from a histogram whose bins are 1/128 wide at most. */
enum { RUNS = 50 };
static const double alarm = 1e-6;
static const int jobs_per_run = 3000;

static bool is_percentile(int quantity) {
    return quantity == BLI_RESPONSE_P50 || quantity == BLI_RESPONSE_P90 || quantity == BLI_RESPONSE_P99;
}

static bool engine_agrees(const struct literal_task *task, const struct replications *literal,
                          enum bli_engine engine, const char *servers) {
    struct bal_error err;
    enum bli_engine chosen;
    if (bli_simulate_check(task->model, task->spec, engine, &chosen, &err)) {
        assert_int_equal(engine, BLI_ENGINE_MARKOV); /* the event engine can do everything */
        assert_true(!bli_dist_is_exponential(&task->model->size) ||
                    task->spec->policy->flags & BAL_NEEDS_WORK);
        return true;
    }
    struct bli_run run = *task->run;
    run.engine = engine;
    run.seed += 1 + engine;
    struct replications r = replicate(task->model, task->spec, &run, RUNS);
    char what[400], name[100], size[100];
    bal_policy_print(task->spec, name, sizeof name);
    bli_dist_print(&task->model->size, size, sizeof size);
    snprintf(what, sizeof what, "%s, %s servers, %s: literal and %s", name, servers, size,
             bli_engine_text(engine));
    bool good = true;
    for (int quantity = 0; quantity < QUANTITIES; quantity++)
        if (!isnan(literal->value[0][quantity])) {
            const bool power = quantity >= BLI_SERVERS_BUSY && quantity <= BLI_SERVERS_OFF;
            if (power && isnan(r.value[0][quantity])) /* measured only where servers switch */
                continue;
            good &= agrees(literal, &r, quantity, alarm, is_percentile(quantity) ? 1. / 128 : 0, what);
        }
    replications_free(&r);
    return good;
}

static bool compare(const char *policy, const char *servers, const char *size, double load) {
    struct bli_model model = {.load = load};
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bal_policy_parse(policy, &spec, &err) || bli_servers_parse(servers, &model.servers, &err) ||
        bli_dist_parse(size, &model.size, &err))
        fail_msg("%s", err.text);
    const struct bal_policy_context setting = {bli_servers_count(&model.servers), load};
    if (bal_policy_check(&spec, &setting, NULL, &err)) /* d different servers of fewer than d, and the like */
        return true;
    const struct bli_run run = {
        .seed = 301, .time = jobs_per_run / bli_model_arrival_rate(&model), .warmup = 0.2};
    struct replications literal = replications_new(RUNS);
    struct literal_task task = {&model, &spec, &run, &literal};
    assert_int_equal(bli_pool_run(2, RUNS, live_once, &task, NULL), BAL_OK);
    bool good = engine_agrees(&task, &literal, BLI_ENGINE_MARKOV, servers);
    good &= engine_agrees(&task, &literal, BLI_ENGINE_EVENT, servers);
    replications_free(&literal);
    return good;
}

/* Variants beside the defaults. */
static const char *const variants[] = {
    "pod:d=3", "pod:d=2,replace=0", "pod-memory:d=2,b=2", "rcpb:c=2,mu=3", "tabs:mu=1,nu=0.5",
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* More of them, for two fleets. */
static const char *const more_variants[] = {
    "pod:d=2,stop=1",
    "pod:d=3,replace=0,stop=1",
    "pod:d=50,stop=1",
    "least-conn:d=2",
    "least-conn:d=2,replace=1",
    "least-conn:ties=turn",
    "least-conn:ties=queue",
    "jiq:else=least-conn",
    "jiq:else=least-conn2",
    "rcpb:c=1,mu=3,else=least-conn2",
    "tabs:mu=1,nu=0.5,else=least-conn",
    "tabs:mu=1,nu=0.2,abort=yes",
    "jiq:idle=lowest",
    "pi:idle=lowest",
    "tabs:mu=1,nu=0.5,idle=lowest,after=2",
    "tabs:mu=1,nu=0.5,else=least-conn2",
    "lsq:p=0.3",
    "lsq:p=0,d=2",
    "scd:m=1",
    "scd:m=3",
    "care:x=1",
    "care:x=3",
    "care:x=10,service=0.5",
    "care:x=4,service=0",
    "board:t=0.3,d=3",
    "last-idle:mu=20",
    "rate-idle:mu=1,nu=0.5,gain=0.4",
    "board:t=2,pick=shortest",
    "board:t=2,pick=interpret",
    "ewma:d=3,decay=2",
    "prequal:r=1.5,pool=3,remove=0.3,q=0.5,age=2",
};
enum { MORE = sizeof more_variants / sizeof *more_variants };

static void compare_more(const char *servers, double load) {
    bool good = true;
    for (size_t i = 0; i < MORE; i++)
        good &= compare(more_variants[i], servers, "exp", load);
    assert_true(good);
}

static void compare_all(const char *servers, double load) {
    bool good = true;
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy *policy = bal_policy_table[i];
        if (policy->flags & BAL_TAKES_RANKS) /* these have a literal twin with classes, cross/priority_twin */
            continue;
        if (!rule_of(policy))
            fail_msg("%s has no literal twin here: write its rule out", policy->name);
        good &= compare(policy->name, servers, "exp", load);
    }
    for (size_t i = 0; i < VARIANTS; i++)
        good &= compare(variants[i], servers, "exp", load);
    assert_true(good);
}

static void two_equal(void **state) {
    (void)state;
    compare_all("2", 0.8);
}

static void three_equal(void **state) {
    (void)state;
    compare_all("3", 0.7);
    compare_more("3", 0.7);
}

static void ten_equal(void **state) {
    (void)state;
    compare_all("10", 0.85);
}

static void two_unequal(void **state) {
    (void)state;
    compare_all("1x1,1x2", 0.55);
}

static void three_unequal(void **state) {
    (void)state;
    compare_all("2x1,1x3", 0.5);
    compare_more("2x1,1x3", 0.5);
}

static void ten_unequal(void **state) {
    (void)state;
    compare_all("5x1,5x2", 0.55);
}

/* Other sizes, for the event engine alone. */
static void other_sizes(void **state) {
    (void)state;
    static const char *const sizes[] = {"det(0.5)", "erlang(3)", "hyper(4)", "lognormal(2)", "uniform(0,3)"};
    static const char *const policies[] = {"pod:d=2", "least-work", "jiq", "jsq"};
    bool good = true;
    for (int size = 0; size < 5; size++)
        for (int policy = 0; policy < 4; policy++)
            good &=
                compare(policies[policy], policy % 2 ? "3" : "2x1,1x3", sizes[size], policy % 2 ? 0.8 : 0.5);
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_equal),   cmocka_unit_test(three_equal),   cmocka_unit_test(ten_equal),
        cmocka_unit_test(two_unequal), cmocka_unit_test(three_unequal), cmocka_unit_test(ten_unequal),
        cmocka_unit_test(other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
