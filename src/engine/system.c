/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets up the servers, queues and dispatcher of a run, and frees them. What runs often is inline in
 * system.h. */
#include "engine/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t find_shortest(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct system *system = fleet->host;
    const struct bli_length_index *index = &system->length_index;
    const uint32_t ties = bli_length_index_ties(index, fleet->length[index->order[0]]);
    return index->order[ties > 1 ? bal_rng_below(rng, ties) : 0];
}

/* ---- servers by weight ---- */

static uint32_t find_best_own(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng) {
    struct system *system = fleet->host;
    return bli_ranking_best(&system->ranking, fleet, rule, rng);
}

static uint32_t find_fewest_own(struct bal_fleet *fleet, struct bal_rng *rng) {
    return find_best_own(fleet, BAL_OWN_FEWEST, rng);
}

static uint32_t draw_by_weight(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct system *system = fleet->host;
    return bli_weights_draw(&system->weights, rng);
}

/* Servers of the start that are ahead of a share of the fleet. */
static uint32_t servers_below(const struct system *system, double share) {
    return (uint32_t)lrint(share * system->servers);
}

uint32_t bli_system_first_jobs(const struct system *system, uint32_t server) {
    const uint32_t *initial = system->run->initial;
    if (initial)
        return initial[server];
    return server < servers_below(system, system->start.busy) ? bli_start_jobs(&system->start) : 0;
}

static enum bal_code set_up_policy(struct system *system, const struct bal_policy_spec *spec,
                                   const struct bal_policy_context *setting) {
    system->state = bli_cacheline_alloc(bal_policy_size(spec, setting) + 1, 1);
    if (!system->state)
        return BAL_E_MEMORY;
    bal_policy_init(spec, setting, system->state);
    /* The dispatcher knows the state in which servers start: those reports cost nothing. */
    for (uint32_t server = 0; server < system->servers; server++) {
        if (bli_system_first_jobs(system, server) > system_room(system, system->features))
            continue;
        const bool on = !(system->features & POWER_SWITCHING) || bal_set_contains(system->standby, server);
        const bool setup = !on && bal_set_contains(system->setup, server);
        bal_policy_report(spec, system->state, &system->fleet,
                          on      ? BAL_REPORT_IDLE
                          : setup ? BAL_REPORT_SETUP
                                  : BAL_REPORT_OFF,
                          server, NULL);
    }
    return BAL_OK;
}

/* Are there servers that may not be chosen for a while? */
static bool may_close(const struct bli_model *model, const struct bli_run *run) {
    return run->failing > 0 || (bli_failures_happen(&model->failures) && !model->failures.unseen);
}

static unsigned features_of(const struct bli_model *model, const struct bal_policy_spec *spec,
                            const struct bli_run *run) {
    const struct bal_policy *policy = spec->policy;
    const unsigned flags = bal_policy_flags(spec);
    unsigned features = 0;
    if (flags & BAL_NEEDS_INDEX && !run->reference && !may_close(model, run)) /* the index knows no closed
                                                                               * servers
                                                                               */
        features |= flags & BAL_NEEDS_OWN && bli_model_is_weighted(model) ? WEIGHT_INDEX : LENGTH_INDEX;
    if (flags & BAL_NEEDS_RESPONSES)
        features |= RESPONSES_SEEN;
    if (policy->wants & BAL_WANTS_LOAD && policy->load_share)
        features |= LOAD_REPORTS;
    if (flags & BAL_NEEDS_TIME)
        features |= POLICY_CLOCK;
    if (flags & BAL_ASKS)
        features |= ASYNC_PROBES;
    if (policy->wants & BAL_WANTS_IDLE)
        features |= IDLE_REPORTS;
    const bool bounded = model->backlog > 0 && flags & BAL_MAY_HOLD;
    if (bounded || (policy->wants & BAL_WANTS_STILL_IDLE && bli_model_reports_renew(model)))
        features |= RARE;
    if (policy->wants & BAL_WANTS_STILL_IDLE && !(features & RARE))
        features |= POISSON_IDLE_REPORTS;
    if (model->servers.groups > 1)
        features |= MIXED_SPEEDS;
    if (policy->wants & BAL_WANTS_POWER)
        features |= POWER_SWITCHING;
    if (model->buffer > 0)
        features |= FINITE_BUFFERS;
    if (model->curve.kind != BLI_CURVE_CONSTANT)
        features |= VARYING_RATE;
    if (model->tasks > 1)
        features |= TASKS;
    if (bli_model_shares(model))
        features |= PROCESSOR_SHARING;
    if (model->discipline == BLI_DISCIPLINE_LIFO)
        features |= LAST_FIRST;
    if (model->slots > 1 && model->slots != BLI_SLOTS_ALL)
        features |= MULTISERVER;
    if (model->patience.mean > 0)
        features |= ABANDONMENT | MULTISERVER;
    if (bli_failures_happen(&model->failures))
        features |= REPAIRABLE | MULTISERVER;
    if (model->steal.kind != BAL_STEAL_NONE)
        features |= STEALING;
    if (run->trace)
        features |= TRACE_JOBS;
    else if (!bli_arrivals_are_poisson(&model->arrivals))
        features |= NON_POISSON;
    if (run->history)
        features |= TIME_SERIES;
    if (run->history && run->history->kind)
        features |= JOB_GROUPS;
    if (run->failing > 0)
        features |= FAIL_STOP;
    if (!model->classes)
        return features;
    features |= model->class_count > 2 ? HAS_CLASSES | GRADED : HAS_CLASSES;
    const enum bli_discipline discipline = bli_model_discipline(model, policy->flags & BAL_SERVES_RANKS);
    if (bli_speeds_given(&model->speeds) && model->slots == BLI_SLOTS_ALL)
        return features; /* none waits */
    if (discipline != BLI_DISCIPLINE_FIFO)
        features |= CLASS_QUEUES;
    if (discipline == BLI_DISCIPLINE_NONPREEMPTIVE)
        features |= NONPREEMPTIVE;
    return features;
}

static enum bal_code set_up_slots(struct system *system, uint32_t words) {
    if (!(system->features & MULTISERVER))
        return BAL_OK;
    const size_t slots = (size_t)system->servers * system->slots;
    system->in_slot = malloc(slots * item_words(words, system->features) * sizeof *system->in_slot);
    system->vacant = malloc(slots * sizeof *system->vacant);
    if (!system->in_slot || !system->vacant)
        return BAL_E_MEMORY;
    for (size_t i = 0; i < slots; i++)
        system->vacant[i] = (uint32_t)i;
    return BAL_OK;
}

static enum bal_code set_up_queues(struct system *system, uint32_t words) {
    const uint32_t servers = system->servers;
    const unsigned features = system->features;
    enum bal_code code = bli_queues_init(&system->queues, system_lanes(system, features) * servers,
                                         item_words(words, features));
    if (!code && features & LENGTH_INDEX)
        code = bli_length_index_init(&system->length_index, servers);
    if (code)
        return code;
    system->length = features & (CLASS_QUEUES | MULTISERVER) ? calloc(servers, sizeof *system->length)
                                                             : system->queues.length;
    system->large = bli_queues_bytes(&system->queues) > LARGE_FLEET;
    system->urgent = features & HAS_CLASSES ? calloc(servers, sizeof *system->urgent) : NULL;
    system->upto = features & GRADED ? calloc((size_t)servers * system->classes, sizeof *system->upto) : NULL;
    system->serving = features & NONPREEMPTIVE ? calloc(servers, sizeof *system->serving) : NULL;
    system->idle = features & POISSON_IDLE_REPORTS ? malloc(bal_set_size(servers)) : NULL;
    if (!system->length || (features & HAS_CLASSES && !system->urgent) ||
        (features & GRADED && !system->upto) || (features & NONPREEMPTIVE && !system->serving) ||
        (features & POISSON_IDLE_REPORTS && !system->idle))
        return BAL_E_MEMORY;
    if (features & POISSON_IDLE_REPORTS) {
        bal_set_init(system->idle, servers);
        for (uint32_t server = 0; server < servers; server++)
            bal_set_insert(system->idle, server);
    }
    return BAL_OK;
}

/* Of the servers that begin without jobs the first are in set-up, the next off, as given by the start, and
 * the others stand by. One that begins with jobs stands by until they join. */
static void begin_power(struct system *system) {
    const struct bli_start *start = &system->start;
    const uint32_t busy = servers_below(system, start->busy);
    uint32_t setup = servers_below(system, start->busy + start->setup) - busy;
    uint32_t off = servers_below(system, start->busy + start->setup + start->off) - busy - setup;
    for (uint32_t server = 0; server < system->servers; server++) {
        const bool idle = bli_system_first_jobs(system, server) == 0;
        if (idle && setup > 0) {
            setup--;
            bal_set_insert(system->setup, server);
            tally_power_up(&system->tally, 0, POWER_SETUP);
        } else if (idle && off > 0) {
            off--;
            tally_power_up(&system->tally, 0, POWER_OFF);
        } else {
            bal_set_insert(system->standby, server);
            tally_power_up(&system->tally, 0, POWER_STANDBY);
            system->began_on += idle;
        }
    }
    system->began_setup = system->setup->count;
}

static enum bal_code set_up_power(struct system *system, const struct bli_model *model,
                                  const struct bal_policy_spec *policy) {
    system->tally.watts = bli_watts_of(&model->watts);
    if (!(system->features & POWER_SWITCHING))
        return BAL_OK;
    system->tally.powered = true;
    const struct bal_power power = policy->policy->power(policy->value);
    const double mean_speed = bli_servers_capacity(&model->servers) / system->servers;
    const double unit = model->size.mean / mean_speed; /* a mean service time */
    system->standby_rate = model->standby.mean > 0 ? 1 / model->standby.mean : power.standby_rate / unit;
    system->setup_rate = model->setup.mean > 0 ? 1 / model->setup.mean : power.setup_rate / unit;
    system->standby = malloc(bal_set_size(system->servers));
    system->setup = malloc(bal_set_size(system->servers));
    if (!system->standby || !system->setup)
        return BAL_E_MEMORY;
    bal_set_init(system->standby, system->servers);
    bal_set_init(system->setup, system->servers);
    begin_power(system);
    return BAL_OK;
}

static enum bal_code set_up_fleet(struct system *system, bool closes) {
    const bool weighed = system->features & WEIGHT_INDEX;
    system->fleet = (struct bal_fleet){.servers = system->servers,
                                       .length = system->length,
                                       .urgent = system->urgent,
                                       .shortest = system->features & LENGTH_INDEX ? find_shortest : NULL,
                                       .fewest_own = weighed                           ? find_fewest_own
                                                     : system->features & LENGTH_INDEX ? find_shortest
                                                                                       : NULL,
                                       .best_own = weighed ? find_best_own : NULL,
                                       .draw_by_weight = closes ? NULL : draw_by_weight,
                                       .own = system->length, /* the only dispatcher has sent all */
                                       .weight = system->weights.of,
                                       .upto = system->upto,
                                       .classes = system->classes,
                                       .move = system->move,
                                       .ask = system->ask,
                                       .ask_room = sizeof system->ask / sizeof *system->ask,
                                       .host = system};
    system->latency_ewma =
        system->features & ASYNC_PROBES ? calloc(system->servers, sizeof *system->latency_ewma) : NULL;
    if (system->features & ASYNC_PROBES && !system->latency_ewma)
        return BAL_E_MEMORY;
    if (weighed && bli_ranking_init(&system->ranking, &system->fleet))
        return BAL_E_MEMORY;
    if (system->features & TASKS) {
        system->fleet.shares = malloc(system->servers * sizeof *system->fleet.shares);
        if (!system->fleet.shares)
            return BAL_E_MEMORY;
    }
    return BAL_OK;
}

/* The servers of half a circle of jobs. */
static void draw_for_jobs(struct system *system, uint32_t first) {
    struct bal_rng local = system->rng;
    uint32_t *const drawn = system->drawn + first * system->draws;
    const uint32_t servers = system->servers, draws = DRAWN_JOBS / 2 * system->draws;
    for (uint32_t i = 0; i < draws; i++)
        drawn[i] = bal_rng_below(&local, servers);
    system->rng = local;
}

static void fetch_lengths(const struct system *system, const uint32_t *drawn) {
    const uint32_t *const length = system->length, draws = DRAWN_BURST * system->draws;
    for (uint32_t i = 0; i < draws; i++)
        __builtin_prefetch(&length[drawn[i]]);
}

/* The queues of the servers that look like the shortest now; found without branches, which could not be
 * predicted. */
static void fetch_shortest(const struct system *system, const uint32_t *drawn) {
    const uint32_t *const length = system->length, draws = system->draws;
    const struct bli_queues *const queues = &system->queues;
    const uint32_t words = queues->words;
    for (const uint32_t *end = drawn + DRAWN_BURST * draws; drawn < end; drawn += draws) {
        uint64_t best = (uint64_t)length[drawn[0]] << 32 | drawn[0];
        for (uint32_t i = 1; i < draws; i++) {
            const uint64_t other = (uint64_t)length[drawn[i]] << 32 | drawn[i];
            best = other < (best & ~(uint64_t)UINT32_MAX) ? other : best; /* the first of several */
        }
        __builtin_prefetch(bli_queues_ring(queues, (uint32_t)best, words));
        if (system->prefetch_base)
            __builtin_prefetch(system->prefetch_base + (uint32_t)best * system->prefetch_size);
    }
}

void bli_system_draw(struct system *system) {
    const uint32_t job = system->job_drawn;
    if (job % (DRAWN_JOBS / 2) == 0)
        draw_for_jobs(system, (job + DRAWN_JOBS / 2) % DRAWN_JOBS);
    if (system->drawn_step > DRAWN_BURST)
        return;
    fetch_shortest(system, system->drawn + (job + DRAWN_BURST) % DRAWN_JOBS * system->draws);
    fetch_lengths(system, system->drawn + (job + 2 * DRAWN_BURST) % DRAWN_JOBS * system->draws);
}

static void set_up_draws(struct system *system, const struct bal_policy_spec *policy) {
    const uint32_t draws = policy->policy->draws ? policy->policy->draws(policy->value) : 0;
    if (draws > DRAWS_MAX || system->features & (TASKS | FAIL_STOP | REPAIRABLE) || system->run->reference)
        return;
    system->draws = draws;
    system->drawn_step = system->large && !(system->features & CLASS_QUEUES) ? DRAWN_BURST : DRAWN_JOBS / 2;
    draw_for_jobs(system, 0);
}

void bli_system_draw_ranks(struct system *system) {
    struct bal_rng local = system->class_rng;
    for (unsigned i = 0; i < RANKS; i++) {
        const double u = bal_rng_uniform(&local);
        uint32_t rank = u >= system->below[0];
        while (rank > 0 && rank + 1 < system->classes && u >= system->below[rank])
            rank++;
        system->rank[i] = (uint8_t)rank;
    }
    system->class_rng = local;
    system->rank_drawn = 0;
}

static void set_up_classes(struct system *system, const struct bli_model *model) {
    system->classes = bli_model_classes(model);
    system->below[0] = model->high;
    for (uint32_t i = 1; i + 1 < model->class_count; i++)
        system->below[i] = system->below[i - 1] + model->share[i];
    system->rank_drawn = RANKS;
}

static void set_next_stop(struct system *system) {
    const struct bli_path *path = system->run->path;
    system->next_stop = system->tally.slice_end;
    if (system->history.to)
        system->next_stop = fmin(system->next_stop, history_next(&system->history));
    if (path && system->sampled < path->times && path->time[system->sampled] < system->next_stop)
        system->next_stop = path->time[system->sampled];
}

/* Can the number of events so far take the place of time? */
static bool can_count(const struct system *system, const struct bli_run *run, double rate) {
    const double events = rate * run->time;
    return events >= COUNTED_MIN && events < COUNTED_MAX && !(system->features & NEEDS_CLOCK) && !run->path &&
           !run->watch && !run->timed;
}

enum bal_code bli_system_init(struct system *system, const struct bli_model *model,
                              const struct bal_policy_spec *policy, const struct bli_run *run, uint32_t words,
                              double rate, struct bal_error *err) {
    memset(system, 0, sizeof *system);
    const struct bal_policy_context setting = {bli_servers_count(&model->servers), model->load};
    system->servers = setting.servers;
    system->policy = policy->policy;
    system->run = run;
    system->features = features_of(model, policy, run);
    if (can_count(system, run, rate))
        system->features |= COUNTED;
    system->slots = model->slots > 1 && model->slots != BLI_SLOTS_ALL ? model->slots : 1;
    system->holds = model->backlog > 0 && bal_policy_flags(policy) & BAL_MAY_HOLD;
    system->job = (struct bal_job){.count = model->tasks > 1 ? model->tasks : 1, .split = model->tasks > 1};
    set_up_classes(system, model);
    const double mean_speed = bli_servers_capacity(&model->servers) / setting.servers;
    system->per_unit = mean_speed / model->size.mean;
    system->load_share = bal_policy_load_share(policy);
    system->report_rate = bal_policy_report_rate(policy, &setting) * mean_speed / model->size.mean;
    bal_rng_init(&system->rng, run->seed, run->replication, BAL_STREAM_POLICY + ((uint64_t)run->draw << 48));
    bal_rng_init(&system->report_rng, run->seed, run->replication, BAL_STREAM_REPORTS);
    bal_rng_init(&system->class_rng, run->seed, run->replication, BAL_STREAM_CLASSES);
    bal_rng_init(&system->power_rng, run->seed, run->replication, BAL_STREAM_POWER);
    system->report_left = system->features & POISSON_IDLE_REPORTS ? bal_rng_exp(&system->report_rng) : 0;
    bal_rng_init(&system->thinning_rng, run->seed, run->replication, BAL_STREAM_THINNING);
    system->curve = &model->curve;
    system->per_max = 1 / bli_curve_max(&model->curve);
    system->buffer = model->buffer;
    system->start = model->start;
    enum bal_code code = set_up_queues(system, words);
    if (!code)
        set_up_draws(system, policy);
    if (!code && bli_model_is_weighted(model))
        code = bli_weights_init(&system->weights, model);
    if (!code)
        code = set_up_slots(system, words);
    if (!code)
        code = set_up_fleet(system, may_close(model, run));
    if (!code)
        code = bli_tally_init(&system->tally, run, model->size.mean, system->classes);
    if (system->features & COUNTED)
        bli_tally_count_events(&system->tally, rate);
    if (!code && system->features & TIME_SERIES)
        code = bli_history_init(&system->history, run->history, run->time);
    system->tally.slots = system->features & PROCESSOR_SHARING ? 1 : system->slots; /* else a server is busy
                                                                                     */
    if (bli_speeds_given(&model->speeds)) {
        system->tally.speeds = &model->speeds;
        system->tally.sharing = model->slots > 0 ? model->slots : 1;
    }
    system->tally.stealing = system->features & STEALING;
    system->tally.patient = system->features & ABANDONMENT;
    if (!code)
        code = set_up_power(system, model, policy);
    if (!code)
        code = set_up_policy(system, policy, &setting);
    if (!code && system->load_share > 1 && !(system->unreported = calloc(system->servers, sizeof(uint32_t))))
        code = BAL_E_MEMORY;
    set_next_stop(system);
    if (!code)
        return BAL_OK;
    bli_system_fini(system);
    return bal_fail(err, BAL_E_MEMORY, "not enough memory for %u servers", setting.servers);
}

void bli_system_fini(struct system *system) {
    if (system->length != system->queues.length)
        free(system->length);
    bli_queues_fini(&system->queues);
    if (system->features & LENGTH_INDEX)
        bli_length_index_fini(&system->length_index);
    if (system->weights.of)
        bli_weights_fini(&system->weights);
    if (system->ranking.tree)
        bli_ranking_fini(&system->ranking);
    bli_tally_fini(&system->tally);
    if (system->history.to)
        bli_history_fini(&system->history);
    free(system->in_slot);
    free(system->vacant);
    free(system->urgent);
    free(system->upto);
    free(system->serving);
    free(system->idle);
    free(system->standby);
    free(system->setup);
    free(system->fleet.shares);
    free(system->latency_ewma);
    free(system->unreported);
    free(system->state);
    system->state = NULL;
}

enum bal_code bli_system_begin(struct system *system,
                               enum bal_code (*join)(struct system *system, uint32_t server)) {
    for (uint32_t server = 0; server < system->servers; server++)
        for (uint32_t i = 0; i < bli_system_first_jobs(system, server); i++) {
            system_draw_class(system, system->features);
            const enum bal_code code = join(system, server);
            if (code)
                return code;
        }
    return BAL_OK;
}

void bli_system_sample(struct system *system, double now) {
    const struct bli_path *path = system->run->path;
    const struct tally *tally = &system->tally;
    if (system->history.to)
        bli_history_advance(&system->history, tally, system->servers, now);
    for (; path && system->sampled < path->times && path->time[system->sampled] <= now; system->sampled++) {
        double *row = path->fraction + system->sampled * path->levels;
        for (size_t i = 0; i < path->levels; i++)
            row[i] = (double)tally->level[i + 1].count / system->servers;
        if (path->standby)
            path->standby[system->sampled] = tally->powered
                                                 ? (double)tally->power[POWER_STANDBY].count / system->servers
                                                 : 1 - (double)tally->level[1].count / system->servers;
        if (path->setup)
            path->setup[system->sampled] = (double)tally->power[POWER_SETUP].count / system->servers;
    }
}

enum bal_code bli_system_advance(struct system *system, double now) {
    struct tally *tally = &system->tally;
    bli_system_sample(system, now);
    while (now >= tally->slice_end) {
        if (!bli_tally_close_slice(tally, system->fleet.probes))
            return BAL_E_MEMORY;
        if (tally_done(tally)) {
            bli_system_sample(system, INFINITY); /* the last time may lie a rounding error behind the last
                                                    slice */
            return BAL_E_STOPPED;
        }
    }
    set_next_stop(system);
    if (bli_tally_is_enough(tally))
        return BAL_E_STOPPED;
    if (isinf(system->next_stop)) /* the drain may be long: it, too, can be stopped */
        system->next_stop = now + tally->time / tally->slices;
    return BAL_OK;
}

enum bal_code bli_system_drained(struct system *system, double now) {
    const enum bal_code code = bli_system_advance(system, now);
    if (code)
        return code;
    bli_system_sample(system, INFINITY);
    return bli_tally_end(&system->tally, now, system->fleet.probes) ? BAL_E_STOPPED : BAL_E_MEMORY;
}

/* A server reports at most twice for each job that starts it: when it has run out of work or has been set up,
 * and when it switches off; a third time where a job that is held waits for the server that it has started.
 * With slots it reports at most once for each job that leaves it or comes to it, besides. One that begins
 * standing by switches off once for free, and one that begins in set-up has two reports for free. */
static void check_reports(struct system *system) {
    const struct totals *totals = &system->tally.totals;
    const uint64_t jobs = totals->arrivals + totals->lost + totals->refused;
    const uint64_t most = (system->features & MULTISERVER ? 4u : 2u) + (system->holds ? 1u : 0u);
    system->now = system->tally.end;
    if (system->features & POWER_SWITCHING && !system->unbounded_reports &&
        totals->reports > most * jobs + system->began_on + 2 * system->began_setup)
        bli_system_internal_error(system, "servers have sent more reports than jobs can cause");
}

enum bal_code bli_system_end(struct system *system, enum bal_code code, struct bli_trial *trial,
                             struct bal_error *err) {
    if (code == BAL_E_MEMORY)
        return bal_fail(err, code, "not enough memory: the queues of %u servers hold %lld jobs",
                        system->servers, (long long)bli_tally_queue(&system->tally));
    if (code != BAL_E_STOPPED) /* recorded jobs that cannot be read: *err says why */
        return code;
    if (!tally_done(&system->tally))
        return bal_fail(err, BAL_E_STOPPED, "stopped before the end");
    check_reports(system);
    if (system->history.to)
        bli_history_finish(&system->history, &system->tally);
    bli_tally_finish(&system->tally, system->servers, trial);
    return BAL_OK;
}

_Noreturn void bli_system_internal_error(const struct system *system, const char *what) {
    fprintf(stderr,
            "ballast: internal error: %s (policy %s, seed %llu, replication %llu, simulation time %.17g)\n",
            what, system->policy->name, (unsigned long long)system->run->seed,
            (unsigned long long)system->run->replication,
            system->now / (system->tally.rate > 0 ? system->tally.rate : 1));
    abort();
}
