/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks of dispatchers and stations: configured by the model, as nginx configures them by its own
 * settings, and made again when their hosts restart. */
#include "engine/core_engine.h"

#include <stdio.h>
#include <stdlib.h>

static const double second = 1e9; /* of the core, in ns: a mean service time */
#define HOUR 3600.0               /* the longest beat and time-out of the core */
#define MEMORY_MAX 8e9            /* bytes of all blocks */

/* Ejection, as in the network engine: after so many failures in a row, for so many mean service times. */
enum { CORE_EJECTED_AFTER = 3, CORE_BACK_OFF = 10 };

/* ---- configuration ---- */

/* Without heartbeats as seldom as the core knows them. */
static double beat_of(const struct core *core) {
    const double heartbeat = core->wire->heartbeat * core->system.per_unit;
    return heartbeat > 0 ? heartbeat : HOUR;
}

static void limit_held(const struct core *core, struct bal_dispatcher_config *config) {
    const struct bli_hold_limit *limit = &core->model->hold_limit;
    if (!limit->given)
        return;
    config->held = limit->jobs < config->held ? limit->jobs : config->held;
    config->refuse_beyond = true;
    for (uint32_t rank = 0; rank < limit->classes; rank++)
        config->class_limit[rank].waiting = limit->of_class[rank];
}

static bool moves_jobs(const struct core *core) {
    return core->model->steal.kind != BAL_STEAL_NONE || bal_policy_flags(core->spec) & BAL_MOVES_JOBS;
}

static enum bal_code check_time(const char *name, double time, double low, struct bal_error *err) {
    return time >= low && time <= HOUR
               ? BAL_OK
               : bal_fail(err, BAL_E_MODEL, "%s is %g mean service times; engine 'live-core' knows %g to %g",
                          name, time, low, HOUR);
}

struct core_room bli_core_first_room(const struct bli_model *model) {
    const double jobs = (double)bli_servers_count(&model->servers) * (model->slots > 1 ? model->slots : 1);
    const double requests = 1024 + 2 * jobs / fmax(model->network.dispatchers.count, 1);
    return (struct core_room){.requests = (uint32_t)fmin(requests, BLI_CORE_REQUESTS_MAX), .queue = 64};
}

enum bal_code bli_core_configure(struct core *core, const struct core_room *room, struct bal_error *err) {
    const struct system *system = &core->system;
    const double beat = beat_of(core), timeout = core->timeout * system->per_unit;
    const bool steals = core->model->steal.kind != BAL_STEAL_NONE;
    core->dispatcher_config =
        (struct bal_dispatcher_config){.servers = core->servers,
                                       .workers = 1,
                                       .requests = room->requests,
                                       .classes = system->classes,
                                       .held = room->requests,
                                       .hold_ns = (uint64_t)(24 * HOUR * second),
                                       .failures = core->wire->ejection ? CORE_EJECTED_AFTER : 0,
                                       .back_off_ns = (uint64_t)(CORE_BACK_OFF * second),
                                       .stations = true,
                                       .probe_ns = (uint64_t)ceil(timeout * second),
                                       .grace_ns = (uint64_t)(fmin(3 * beat, HOUR) * second),
                                       .beat_ns = (uint64_t)(beat * second),
                                       .gap_ns = (uint64_t)(core->options->gap * core->scale),
                                       .fleet = 1,
                                       .id = DISPATCHER_ID,
                                       .boot = 1};
    limit_held(core, &core->dispatcher_config);
    core->station_config =
        (struct bal_station_config){.workers = 1,
                                    .slots = system->slots,
                                    .queue = room->queue,
                                    .classes = system->features & CLASS_QUEUES ? system->classes : 1,
                                    .peers = core->dispatchers + (moves_jobs(core) ? core->servers - 1 : 0),
                                    .beat_ns = core->dispatcher_config.beat_ns,
                                    .steal = core->model->steal,
                                    .steal_ns = steals ? core->dispatcher_config.probe_ns : 0,
                                    .fleet = 1,
                                    .id = STATION_ID,
                                    .boot = 1};
    core->station_places = core->station_config.slots + 2 * room->queue;
    enum bal_code code = check_time("heartbeat", beat, 0.001, err);
    if (!code)
        code = check_time("timeout", timeout, 1e-9, err);
    if (!code)
        code = bal_dispatcher_check(core->spec, &core->dispatcher_config, err);
    if (!code)
        code = bal_station_check(&core->station_config, err);
    if (code)
        return code;
    const double bytes =
        (double)core->dispatchers * (double)bal_dispatcher_size(core->spec, &core->dispatcher_config) +
        (double)core->servers * (double)bal_station_size(&core->station_config);
    return bytes > MEMORY_MAX
               ? bal_fail(err, BAL_E_MODEL,
                          "the blocks of engine 'live-core' would take %.3g GB, and may take %g: "
                          "use fewer servers or dispatchers, a lower load, or engine network",
                          bytes / 1e9, MEMORY_MAX / 1e9)
               : BAL_OK;
}

enum bal_code bli_core_check(const struct bli_model *model, const struct bal_policy_spec *policy,
                             struct bal_error *err) {
    const struct bli_core_options none = {0};
    struct core core = {.model = model, .wire = &model->network, .spec = policy, .options = &none};
    core.servers = bli_servers_count(&model->servers);
    core.dispatchers = model->network.dispatchers.count ? model->network.dispatchers.count : 1;
    core.system.classes = model->class_count > 2 ? model->class_count : model->classes ? 2 : 1;
    core.system.slots = model->slots > 1 ? model->slots : 1;
    core.system.per_unit = bli_servers_capacity(&model->servers) / core.servers / model->size.mean;
    core.timeout = bli_network_timeout(&model->network, 1 / core.system.per_unit);
    const struct core_room room = bli_core_first_room(model);
    return bli_core_configure(&core, &room, err);
}

/* ---- making blocks ---- */

static void *block_of_size(size_t size) {
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static bool allocate(struct core_host *host, size_t view, size_t block, uint32_t places) {
    host->view = malloc(view);
    host->block = block_of_size(block);
    host->job = malloc(places * sizeof *host->job);
    return host->view && host->block && host->job;
}

/* Of the random streams of the host in this life of it. */
static uint64_t seed_of(const struct core *core, uint64_t purpose, uint32_t number, uint64_t boot) {
    struct bal_rng rng;
    const struct bli_run *run = core->system.run;
    bal_rng_init(&rng, run->seed, run->replication,
                 purpose + ((uint64_t)(number + 1) << 24) + ((uint64_t)run->draw << 56));
    return bal_rng_next(&rng) + boot;
}

static enum bal_code list_servers(struct core *core, struct bal_dispatcher *d, struct bal_error *err) {
    struct bal_dispatcher_server *list = calloc(core->servers, sizeof *list);
    char(*names)[24] = calloc(core->servers, sizeof *names);
    const double *weight = core->system.weights.of;
    for (uint32_t i = 0; list && names && i < core->servers; i++) {
        /* Each has an address of its own: those at one address are doubted together. */
        snprintf(names[i], sizeof names[i], "10.%u.%u.%u:80", i >> 16, i >> 8 & 255, i & 255);
        list[i] = (struct bal_dispatcher_server){
            .name = names[i], .station = STATION_ID + i, .weight = weight ? weight[i] : 0};
    }
    const enum bal_code code =
        list && names ? bal_dispatcher_configure(d, core->clock, list, core->servers, err) : BAL_E_MEMORY;
    free(list);
    free(names);
    return code;
}

static enum bal_code begin_dispatcher(struct core *core, uint32_t number, struct bal_error *err) {
    struct core_host *host = &core->host[number];
    struct bal_dispatcher_config config = core->dispatcher_config;
    config.id = DISPATCHER_ID + number;
    config.boot = ++host->boot;
    host->timers_at = UINT64_MAX;
    bal_dispatcher_create(host->block, core->spec, &config, core->clock);
    enum bal_code code = bal_dispatcher_open_with(host->dispatcher, host->block, core->spec,
                                                  seed_of(core, BAL_STREAM_POLICY, number, host->boot), err);
    if (!code)
        code = bal_dispatcher_join(host->dispatcher, core->clock, 1, 1, err);
    return code ? code : list_servers(core, host->dispatcher, err);
}

/* Its dispatchers, and where jobs move the other stations. */
static enum bal_code list_peers(struct core *core, uint32_t server, struct bal_error *err) {
    const uint32_t others = core->station_config.peers - core->dispatchers;
    uint64_t *id = malloc(core->station_config.peers * sizeof *id);
    if (!id)
        return BAL_E_MEMORY;
    for (uint32_t d = 0; d < core->dispatchers; d++)
        id[d] = DISPATCHER_ID + d;
    for (uint32_t i = 0; i < others; i++)
        id[core->dispatchers + i] = STATION_ID + i + (i >= server);
    const enum bal_code code =
        bal_station_configure(core->host[core_station(core, server)].station, core->clock, id,
                              core->dispatchers, id + core->dispatchers, others, err);
    free(id);
    return code;
}

static enum bal_code begin_station(struct core *core, uint32_t server, struct bal_error *err) {
    struct core_host *host = &core->host[core_station(core, server)];
    struct bal_station_config config = core->station_config;
    config.id = STATION_ID + server;
    config.boot = ++host->boot;
    host->timers_at = UINT64_MAX;
    bal_station_create(host->block, &config, core->clock);
    enum bal_code code = bal_station_open(host->station, host->block,
                                          seed_of(core, BAL_STREAM_NETWORK, server, host->boot), err);
    if (!code)
        code = bal_station_join(host->station, core->clock, 1, 1, err);
    return code ? code : list_peers(core, server, err);
}

static enum bal_code allocate_hosts(struct core *core) {
    const uint32_t hosts = core->dispatchers + core->servers;
    core->host = calloc(hosts, sizeof *core->host);
    core->app = calloc(core->servers, sizeof *core->app);
    bool good = core->host && core->app;
    for (uint32_t i = 0; good && i < hosts; i++)
        good = i < core->dispatchers
                   ? allocate(&core->host[i], bal_dispatcher_view_size(core->spec, &core->dispatcher_config),
                              bal_dispatcher_size(core->spec, &core->dispatcher_config),
                              core->dispatcher_config.requests)
                   : allocate(&core->host[i], bal_station_view_size(&core->station_config),
                              bal_station_size(&core->station_config), core->station_places);
    return good ? BAL_OK : BAL_E_MEMORY;
}

static void init_apps(struct core *core) {
    const struct bli_servers *servers = &core->model->servers;
    const uint32_t good = core->servers - (uint32_t)lrint(core->wire->fail_fast.share * core->servers);
    uint32_t server = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++, server++)
            core->app[server] = (struct core_app){
                .cold_since = NAN, .per_speed = 1 / servers->group[g].speed, .fails_fast = server >= good};
}

/* Stations are there first: each begins up to a beat before time 0, so that heartbeats are spread; what they
 * sent until then no one has heard. Dispatchers ask all of them for their state. */
enum bal_code bli_core_hosts_init(struct core *core, struct bal_error *err) {
    const uint64_t beat = core->station_config.beat_ns;
    core->begun = 2 * beat;
    enum bal_code code = allocate_hosts(core);
    if (!code)
        init_apps(core);
    for (uint32_t server = 0; !code && server < core->servers; server++) {
        const uint32_t host = core_station(core, server);
        uint32_t count;
        core->clock = core->begun - (uint64_t)(bal_rng_uniform(&core->wires) * (double)beat);
        code = begin_station(core, server, err);
        if (code)
            break;
        bal_station_run_timers(core->host[host].station, core->clock);
        bal_station_outgoing(core->host[host].station, &count);
    }
    core->clock = core->begun;
    for (uint32_t d = 0; !code && d < core->dispatchers; d++)
        code = begin_dispatcher(core, d, err);
    for (uint32_t host = 0; !code && host < core->dispatchers + core->servers; host++)
        bli_core_flush(core, host);
    core->counts.block = code ? 0 : bal_dispatcher_size(core->spec, &core->dispatcher_config);
    return code;
}

void bli_core_hosts_fini(struct core *core) {
    for (uint32_t i = 0; core->host && i < core->dispatchers + core->servers; i++) {
        free(core->host[i].view);
        free(core->host[i].block);
        free(core->host[i].job);
    }
    free(core->host);
    free(core->app);
}

/* ---- restarts ---- */

static int by_arrival(const void *a, const void *b) {
    const struct core_job *const *x = a, *const *y = b;
    return ((*x)->arrival > (*y)->arrival) - ((*x)->arrival < (*y)->arrival);
}

/* It forgets all that it knew, but not the jobs that wait there: they come again, in their order. Those that
 * it has sent it does not know any longer. */
void bli_core_restart_dispatcher(struct core *core, uint32_t dispatcher) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < core->jobs; i++)
        count += core->job[i].alive && core->job[i].dispatcher == dispatcher &&
                 core->job[i].place == AT_DISPATCHER;
    struct core_job **waiting = malloc((count + 1) * sizeof *waiting);
    uint32_t *job = malloc((count + 1) * sizeof *job);
    struct bal_error err;
    if (!waiting || !job || begin_dispatcher(core, dispatcher, &err)) {
        core->no_memory = true;
        count = 0;
    }
    for (uint32_t i = 0, k = 0; k < count; i++)
        if (core->job[i].alive && core->job[i].dispatcher == dispatcher &&
            core->job[i].place == AT_DISPATCHER)
            waiting[k++] = &core->job[i];
    if (count)
        qsort(waiting, count, sizeof *waiting, by_arrival);
    for (uint32_t k = 0; k < count; k++)
        job[k] = (uint32_t)(waiting[k] - core->job);
    for (uint32_t k = 0; k < count; k++)
        bli_core_job_arrives(core, job[k]);
    if (!core->no_memory)
        bli_core_flush(core, dispatcher);
    free(waiting);
    free(job);
}

static void count_power(struct core *core, unsigned before, unsigned after) {
    tally_power_change(&core->system.tally, core->now, before, after);
}

void bli_core_server_fails(struct core *core, uint32_t server) {
    struct core_host *host = &core->host[core_station(core, server)];
    host->down = true;
    host->timers_at = UINT64_MAX;
    bli_core_fail_jobs(core, server);
    count_power(core, POWER_STANDBY, POWER_OFF);
}

void bli_core_server_returns(struct core *core, uint32_t server) {
    struct core_host *host = &core->host[core_station(core, server)];
    struct bal_error err;
    host->down = false;
    count_power(core, POWER_OFF, POWER_STANDBY);
    if (core->wire->cold.factor > 0)
        core->app[server].cold_since = core->now;
    core->app[server].begun = 0;
    if (begin_station(core, server, &err))
        core->no_memory = true;
    else
        bli_core_flush(core, core_station(core, server));
}
