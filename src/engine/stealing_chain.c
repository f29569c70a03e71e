/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine of work stealing in slotted time; engine/stealing_chain.h defines a step.
 *
 * A step costs O(n), most of it for servers that are empty and for those that get work: the queue of one that
 * neither gets nor gives falls by one in each slot, so it need not be touched. Its services are counted
 * later, which costs no more than a single slot: jobs that arrived together and are served one after the
 * other have response times r, r + 1, r + 2, ..., and its queue had the lengths l, l - 1, l - 2, ... Both are
 * ranges of whole numbers, kept as a step up where they begin and a step down behind their end. */
#include "engine/stealing_chain.h"

#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

enum { TOP = LEVELS - 1 }; /* servers with this many jobs or more are one level */

/* ---- what is measured ---- */

/* Jobs with response times first, first + 1, ... */
static void count_finished(struct stealing *s, uint64_t first, uint64_t jobs) {
    uint64_t behind = first + jobs;
    for (; behind > STEALING_COUNTED && behind > first; behind--)
        tally_complete_slots(&s->tally.all, behind - 1, 1);
    if (behind == first)
        return;
    s->finished[first]++;
    s->finished[behind]--;
    if (behind > s->longest)
        s->longest = (uint32_t)behind;
}

/* A server had low, low + 1, ..., high jobs, each at the end of one slot. */
static void count_lengths(struct stealing *s, uint64_t low, uint64_t high) {
    if (high >= TOP)
        s->held_top += (int64_t)(high - (low > TOP ? low : TOP) + 1);
    if (low >= TOP)
        return;
    s->held[low]++;
    s->held[high < TOP ? high + 1 : TOP]--;
}

/* Counts what a server has done up to that slot. */
static inline void count_served(struct stealing *s, uint32_t server, uint64_t slot) {
    const uint64_t end = s->end[server], last = end < slot ? end : slot;
    uint64_t done = s->settled[server];
    if (done >= last)
        return;
    s->settled[server] = last;
    count_lengths(s, end - last, end - done - 1);
    while (done < last) {
        union bli_claim_word *run = bli_queues_front(&s->runs, server, 1);
        const uint32_t arrival = (uint32_t)(run->bits >> 32), jobs = (uint32_t)run->bits;
        const uint64_t left = last - done, served = left < jobs ? left : jobs;
        count_finished(s, (uint32_t)done + 1 - arrival + 1, served);
        done += served;
        if (served == jobs)
            bli_queues_drop(&s->runs, server, 1);
        else
            run->bits -= served;
    }
}

static void flush_finished(struct stealing *s) {
    int64_t jobs = 0;
    for (uint32_t response = 0; response <= s->longest; response++) {
        jobs += s->finished[response];
        s->finished[response] = 0;
        if (jobs)
            tally_complete_slots(&s->tally.all, response, (uint64_t)jobs);
    }
    s->longest = 0;
}

/* From servers with exactly l jobs to those with at least l. The tally adds count x width to every area; here
 * the level at the top alone has a count, which is the whole queue, and it stands for all levels from there
 * up: it gets what the others leave. */
static void flush_lengths(struct stealing *s) {
    int64_t exactly[TOP], held = 0, area = s->held_top, left = (int64_t)s->sum;
    for (unsigned l = 0; l < TOP; l++)
        exactly[l] = held += s->held[l];
    for (unsigned l = TOP - 1; l > 0; l--) {
        area += exactly[l];
        left -= area;
        s->tally.level[l] = (struct level){(double)area, 0};
    }
    const double width = s->tally.slice_end - s->tally.slice_start;
    const int64_t queue = (int64_t)stealing_queue(s);
    s->tally.level[TOP] = (struct level){(double)left - width * (double)queue, queue};
    memset(s->held, 0, sizeof s->held);
    s->held_top = 0;
    s->sum = 0;
}

enum bal_code bli_stealing_close_slice(struct stealing *s) {
    for (uint32_t server = 0; server < s->servers; server++)
        count_served(s, server, s->slot);
    flush_finished(s);
    flush_lengths(s);
    return bli_tally_close_slice(&s->tally, s->tally.totals.requests) ? BAL_OK : BAL_E_MEMORY;
}

/* ---- step 1: jobs ---- */

/* New jobs at the back of a queue. */
static enum bal_code add_jobs(struct stealing *s, uint32_t server, uint64_t jobs) {
    count_served(s, server, s->slot - 1);
    if (s->end[server] < s->slot)
        s->end[server] = s->settled[server] = s->slot - 1;
    if (__builtin_expect(s->end[server] - s->slot + jobs >= UINT32_MAX, 0))
        return BAL_E_MEMORY;
    s->end[server] += jobs;
    const uint32_t runs = s->runs.length[server];
    union bli_claim_word *back = runs ? bli_queues_at(&s->runs, server, 1, runs - 1) : NULL;
    if (back && back->bits >> 32 == (uint32_t)s->slot) {
        back->bits += jobs;
        return BAL_OK;
    }
    back = bli_queues_push(&s->runs, server, 1);
    if (!back)
        return BAL_E_MEMORY;
    back->bits = s->slot << 32 | jobs;
    return BAL_OK;
}

/* The one job that a server can get in this slot. An empty server serves it at once, and it cannot be stolen,
 * because f(1) = 0: nothing need be stored. */
static inline enum bal_code add_single_job(struct stealing *s, uint32_t server) {
    if (s->end[server] >= s->slot)
        return add_jobs(s, server, 1);
    count_served(s, server, s->slot - 1);
    s->end[server] = s->settled[server] = s->slot;
    count_finished(s, 1, 1);
    return BAL_OK;
}

/* The bits from first on, count of them. */
static uint64_t count_bits(const uint64_t *words, uint32_t first, uint32_t count) {
    if (count == 0)
        return 0;
    const uint32_t last = first + count - 1;
    const uint64_t head = UINT64_MAX << (first & 63), tail = UINT64_MAX >> (63 - (last & 63));
    if (first / 64 == last / 64)
        return (uint64_t)__builtin_popcountll(words[first / 64] & head & tail);
    uint64_t bits = (uint64_t)__builtin_popcountll(words[first / 64] & head);
    for (uint32_t i = first / 64 + 1; i < last / 64; i++)
        bits += (uint64_t)__builtin_popcountll(words[i]);
    return bits + (uint64_t)__builtin_popcountll(words[last / 64] & tail);
}

static enum bal_code generate_evenly(struct stealing *s) {
    enum bal_code code = BAL_OK;
    for (uint32_t base = 0; base < s->servers; base += 64)
        for (uint64_t made = s->made[base / 64]; made && !code; made &= made - 1)
            code = add_single_job(s, base + (uint32_t)__builtin_ctzll(made));
    return code;
}

static enum bal_code generate_at_sites(struct stealing *s) {
    enum bal_code code = BAL_OK;
    for (uint32_t i = 0; i < s->sites && !code; i++) {
        const struct site *site = &s->site[i];
        const uint64_t jobs = count_bits(s->made, site->first, site->count);
        if (jobs)
            code = site->count == 1 ? add_single_job(s, site->host) : add_jobs(s, site->host, jobs);
    }
    return code;
}

/* The first server with the most jobs before this slot, or with the fewest. */
static uint32_t find_extreme(const struct stealing *s, bool longest) {
    const uint64_t empty = s->slot - 1; /* with this end or an earlier one a server has no jobs */
    uint32_t found = 0;
    uint64_t extreme = longest ? 0 : UINT64_MAX;
    for (uint32_t server = 0; server < s->servers; server++) {
        const uint64_t end = s->end[server] > empty ? s->end[server] : empty;
        if (longest ? end > extreme : end < extreme) {
            extreme = end;
            found = server;
        }
    }
    return found;
}

static uint32_t choose_host(struct stealing *s) {
    switch (s->model->placement.kind) {
    case BAL_PLACEMENT_LONGEST:
        return find_extreme(s, true);
    case BAL_PLACEMENT_SHORTEST:
        return find_extreme(s, false);
    case BAL_PLACEMENT_CYCLING:
        return (uint32_t)((s->slot - 1) % s->servers);
    default:
        return bal_rng_below(&s->places, s->servers);
    }
}

static enum bal_code generate_at_one(struct stealing *s) {
    const uint32_t host = choose_host(s);
    const uint64_t jobs = count_bits(s->made, 0, s->servers);
    return jobs ? add_jobs(s, host, jobs) : BAL_OK;
}

static enum bal_code generate_on_walks(struct stealing *s) {
    const uint32_t last = s->servers - 1;
    enum bal_code code = BAL_OK;
    uint64_t onward = 0;
    for (uint32_t generator = 0; generator < s->servers && !code; generator++) {
        if (generator % 64 == 0)
            onward = bal_rng_next(&s->places);
        const uint32_t place = s->place[generator];
        const uint32_t next = place == last ? 0 : place + 1, before = place == 0 ? last : place - 1;
        s->place[generator] = onward >> generator % 64 & 1 ? next : before;
        if (s->made[generator / 64] >> generator % 64 & 1)
            code = add_jobs(s, s->place[generator], 1);
    }
    return code;
}

static enum bal_code generate_jobs(struct stealing *s) {
    for (uint32_t base = 0; base < s->servers; base += 64) {
        const uint32_t left = s->servers - base;
        const uint64_t flips = left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
        s->made[base / 64] = bli_bernoulli_draw(&s->coin, &s->arrivals, flips);
        s->created += (uint64_t)__builtin_popcountll(s->made[base / 64]);
    }
    switch (s->model->placement.kind) {
    case BAL_PLACEMENT_EVEN:
        return generate_evenly(s);
    case BAL_PLACEMENT_HOSTS:
    case BAL_PLACEMENT_MAP:
        return generate_at_sites(s);
    case BAL_PLACEMENT_MOVING:
    case BAL_PLACEMENT_LONGEST:
    case BAL_PLACEMENT_SHORTEST:
    case BAL_PLACEMENT_CYCLING:
        return generate_at_one(s);
    case BAL_PLACEMENT_WALK:
        return generate_on_walks(s);
    }
    return BAL_OK;
}

/* ---- steps 2 and 3: stealing ---- */

/* In two passes, as a branch on who is empty would be guessed wrongly. Returns how many there are. */
static uint32_t find_thieves(struct stealing *s) {
    const uint64_t slot = s->slot, *end = s->end;
    const uint32_t servers = s->servers;
    uint32_t *asker = s->asker, askers = 0;
    for (uint32_t server = 0; server < servers; server++) {
        asker[askers] = server;
        askers += end[server] < slot;
    }
    return askers;
}

/* Jobs of a server that is not empty, after step 1. */
static uint32_t length_now(const struct stealing *s, uint32_t server) {
    return (uint32_t)(s->end[server] - (s->slot - 1));
}

/* A thief has chosen this victim. Returns 1 if jobs are stolen from it, and were not before. */
static inline uint32_t request_steal(struct stealing *s, uint32_t victim, uint32_t asker) {
    struct steal_request *steal_request = &s->steal_request[victim];
    uint64_t *stolen_from = &s->stolen_from[victim / 64];
    const uint64_t bit = UINT64_C(1) << victim % 64;
    if (*stolen_from & bit) {
        if (bal_rng_below(&s->choices, ++steal_request->askers) == 0)
            steal_request->thief = asker;
        return 0;
    }
    if (bal_steal_amount(&s->model->steal, length_now(s, victim)) == 0)
        return 0;
    *stolen_from |= bit;
    *steal_request = (struct steal_request){1, asker};
    return 1;
}

/* Fills in the victims; returns how many there are. */
static uint32_t find_victims(struct stealing *s, uint32_t askers) {
    const bool others = s->model->others;
    const uint32_t among = s->servers - others;
    uint32_t victims = 0;
    for (uint32_t i = 0; i < askers; i++) {
        const uint32_t asker = s->asker[i];
        uint32_t victim = bal_rng_below(&s->choices, among);
        victim += others && victim >= asker;
        s->victim[victims] = victim;
        if (s->end[victim] > s->slot) /* with one job or none it gives nothing */
            victims += request_steal(s, victim, asker);
    }
    return victims;
}

/* The last jobs of one queue become another, which was empty. */
static bool move_jobs(struct stealing *s, uint32_t from, uint32_t to, uint32_t jobs) {
    struct bli_queues *runs = &s->runs;
    uint32_t i = runs->length[from], left = jobs; /* run i - 1 gives what is left, those behind it all */
    while ((uint32_t)bli_queues_at(runs, from, 1, i - 1)->bits < left)
        left -= (uint32_t)bli_queues_at(runs, from, 1, --i)->bits;
    const uint64_t parted = bli_queues_at(runs, from, 1, i - 1)->bits;
    union bli_claim_word *back = bli_queues_push(runs, to, 1);
    if (!back)
        return false;
    back->bits = parted >> 32 << 32 | left;
    for (uint32_t k = i; k < runs->length[from]; k++) {
        back = bli_queues_push(runs, to, 1);
        if (!back)
            return false;
        back->bits = bli_queues_at(runs, from, 1, k)->bits;
    }
    while (runs->length[from] > i)
        bli_queues_drop_back(runs, from, 1);
    if (left == (uint32_t)parted)
        bli_queues_drop_back(runs, from, 1);
    else
        bli_queues_at(runs, from, 1, i - 1)->bits -= left;
    return true;
}

static bool steal_from(struct stealing *s, uint32_t victim) {
    const uint32_t thief = s->steal_request[victim].thief;
    const uint32_t jobs = bal_steal_amount(&s->model->steal, length_now(s, victim));
    count_served(s, victim, s->slot - 1);
    count_served(s, thief, s->slot - 1);
    s->end[victim] -= jobs;
    s->settled[thief] = s->slot - 1;
    s->end[thief] = s->slot - 1 + jobs;
    s->stolen_from[victim / 64] = 0;
    s->tally.totals.stolen += jobs;
    return move_jobs(s, victim, thief, jobs);
}

/* Thief and victim are random, and on a large fleet neither is in the cache. So their state is prefetched
 * some thefts ahead, and then, from that state, their queues. */
enum { AHEAD = 8, QUEUE_AHEAD = 4 };

static inline void prefetch_server(const struct stealing *s, uint32_t server) {
    __builtin_prefetch(&s->settled[server]);
    __builtin_prefetch(&s->runs.length[server]);
    __builtin_prefetch(bli_queues_ring(&s->runs, server, 1));
}

static inline void prefetch_queue(const struct stealing *s, uint32_t server) {
    __builtin_prefetch(bli_queues_front(&s->runs, server, 1));
}

static bool steal_from_all(struct stealing *s, uint32_t victims) {
    for (uint32_t i = 0; i < victims; i++) {
        if (i + AHEAD < victims) {
            const uint32_t victim = s->victim[i + AHEAD];
            prefetch_server(s, victim);
            prefetch_server(s, s->steal_request[victim].thief);
        }
        if (i + QUEUE_AHEAD < victims) {
            const uint32_t victim = s->victim[i + QUEUE_AHEAD];
            prefetch_queue(s, victim);
            prefetch_queue(s, s->steal_request[victim].thief);
        }
        if (!steal_from(s, s->victim[i]))
            return false;
    }
    return true;
}

enum bal_code bli_stealing_step(struct stealing *s) {
    s->slot++;
    const enum bal_code code = generate_jobs(s);
    if (code)
        return code;
    const uint32_t askers = find_thieves(s), victims = find_victims(s, askers);
    if (!steal_from_all(s, victims))
        return BAL_E_MEMORY;
    s->tally.totals.requests += askers;
    s->tally.totals.steals += victims;
    s->served += s->servers - askers + victims; /* step 4: all that are not empty */
    s->sum += stealing_queue(s);
    bli_histogram_add(&s->tally.load, (double)stealing_queue(s));
    return BAL_OK;
}

/* ---- setting up and running ---- */

static void set_up_sites(struct stealing *s) {
    const struct bal_placement *placement = &s->model->placement;
    const bool map = placement->kind == BAL_PLACEMENT_MAP;
    const uint32_t more = map ? 0 : s->servers % placement->hosts;
    uint32_t first = 0;
    for (uint32_t i = 0; i < s->sites; i++) {
        const uint32_t count = map ? placement->count[i] : s->servers / placement->hosts + (i < more);
        s->site[i] = (struct site){map ? placement->host[i] : i, first, count};
        first += count;
    }
}

static enum bal_code set_up_generators(struct stealing *s) {
    const struct bal_placement *placement = &s->model->placement;
    s->made = malloc((s->servers / 64 + 1) * sizeof *s->made);
    if (!s->made)
        return BAL_E_MEMORY;
    if (placement->kind == BAL_PLACEMENT_WALK) {
        s->place = malloc(s->servers * sizeof *s->place);
        for (uint32_t i = 0; s->place && i < s->servers; i++)
            s->place[i] = i;
        return s->place ? BAL_OK : BAL_E_MEMORY;
    }
    s->sites = placement->kind == BAL_PLACEMENT_HOSTS ? placement->hosts
               : placement->kind == BAL_PLACEMENT_MAP ? placement->entries
                                                      : 0;
    s->site = malloc((s->sites + 1) * sizeof *s->site);
    if (!s->site)
        return BAL_E_MEMORY;
    if (s->sites > 0)
        set_up_sites(s);
    return BAL_OK;
}

/* Jobs that are there at the start have arrived in slot 0. */
static enum bal_code set_up_queues(struct stealing *s, const uint32_t *initial) {
    for (uint32_t server = 0; server < s->servers; server++) {
        if (initial[server] == 0)
            continue;
        union bli_claim_word *run = bli_queues_push(&s->runs, server, 1);
        if (!run)
            return BAL_E_MEMORY;
        run->bits = initial[server];
        s->end[server] = initial[server];
        s->created += initial[server];
    }
    return BAL_OK;
}

enum bal_code bli_stealing_init(struct stealing *s, const struct bli_model *model,
                                const struct bli_run *run) {
    memset(s, 0, sizeof *s);
    s->servers = bli_servers_count(&model->servers);
    s->model = model;
    s->coin = bli_bernoulli_make(model->load);
    bal_rng_init(&s->arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&s->places, run->seed, run->replication, BAL_STREAM_PLACES);
    bal_rng_init(&s->choices, run->seed, run->replication, BAL_STREAM_STEALING);
    enum bal_code code = bli_tally_init_slotted(&s->tally, run);
    s->tally.stealing = true;
    s->end = calloc(s->servers, sizeof *s->end);
    s->settled = calloc(s->servers, sizeof *s->settled);
    s->steal_request = malloc(s->servers * sizeof *s->steal_request);
    s->stolen_from = calloc(s->servers / 64 + 1, sizeof *s->stolen_from);
    s->asker = malloc((s->servers + 1) * sizeof *s->asker);
    s->victim = malloc((s->servers + 1) * sizeof *s->victim);
    if (!code && (!s->end || !s->settled || !s->steal_request || !s->stolen_from || !s->asker || !s->victim))
        code = BAL_E_MEMORY;
    if (!code)
        code = bli_queues_init(&s->runs, s->servers, 1);
    if (!code && run->initial)
        code = set_up_queues(s, run->initial);
    return code ? code : set_up_generators(s);
}

void bli_stealing_fini(struct stealing *s) {
    bli_tally_fini(&s->tally);
    bli_queues_fini(&s->runs);
    free(s->victim);
    free(s->asker);
    free(s->steal_request);
    free(s->stolen_from);
    free(s->site);
    free(s->place);
    free(s->made);
    free(s->settled);
    free(s->end);
}

static enum bal_code run_all(struct stealing *s, const struct bli_run *run) {
    enum bal_code code = BAL_OK;
    while (!code && !tally_done(&s->tally) && !(run->stop && *run->stop)) {
        const uint64_t end = (uint64_t)s->tally.slice_end;
        while (!code && s->slot < end)
            code = bli_stealing_step(s);
        if (!code)
            code = bli_stealing_close_slice(s);
    }
    return code;
}

enum bal_code bli_engine_stealing(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_run *run, struct bli_trial *trial, struct bal_error *err) {
    (void)policy; /* there is one, and it has no parameters */
    struct stealing *s = malloc(sizeof *s);
    if (!s)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    enum bal_code code = bli_stealing_init(s, model, run);
    if (!code)
        code = run_all(s, run);
    if (code && s->slot == 0)
        bal_fail(err, code, "not enough memory for %u servers", s->servers);
    else if (code)
        bal_fail(err, code, "no room for more: in slot %llu the queues of %u servers hold %llu jobs",
                 (unsigned long long)s->slot, s->servers, (unsigned long long)stealing_queue(s));
    else if (!tally_done(&s->tally))
        code = bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    else
        bli_tally_finish(&s->tally, s->servers, trial);
    bli_stealing_fini(s);
    free(s);
    return code;
}
