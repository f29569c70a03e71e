/* SPDX-License-Identifier: BSD-2-Clause */
/* The block of a dispatcher: its layout, its creation, and how it is rebuilt when a process has died in the
 * middle of an operation. */
#include "live/directory.h"
#include "live/dispatcher_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const uint64_t magic = UINT64_C(0x62616c646973000b); /* "baldis" and a version of the layout */

/* ---- layout ---- */

static struct bal_dispatcher_config normalized(struct bal_dispatcher_config config,
                                               const struct bal_policy_spec *policy) {
    config.classes = config.classes ? config.classes : 1;
    config.slots = config.slots ? config.slots : 1;
    config.probe_room = bli_dispatcher_probe_room(policy, &config);
    return config;
}

static size_t state_size(const struct bal_dispatcher *d, const struct bal_dispatcher_config *config) {
    const size_t size = bal_policy_size(&d->policy, &d->setting);
    return size > config->policy_room ? size : config->policy_room;
}

static struct bal_policy_context setting_of(const struct bal_dispatcher_config *config) {
    /* Without stations the load is measured (dispatcher_timed.c): for now, any will do. */
    return (struct bal_policy_context){.servers = config->servers, .load = config->stations ? NAN : 0.5};
}

static bool waits_for_probes(const struct bal_policy_spec *policy,
                             const struct bal_dispatcher_config *config) {
    return config->stations && policy->policy->sample;
}

static uint32_t inquiries(const struct bal_policy_spec *policy, const struct bal_dispatcher_config *config) {
    if (!waits_for_probes(policy, config) && !(config->stations && config->policy_room))
        return 0;
    return config->requests < INQUIRIES ? config->requests : INQUIRIES;
}

/* Of the block at `base`; NULL where only sizes are asked for. */
static void *carve(char *base, size_t *offset, size_t size) {
    char *at = base ? base + *offset : NULL;
    *offset += (size + 63) & ~(size_t)63;
    return at;
}

/* Where everything lies from `base` on, into the view; returns how much it is. */
static size_t lay_out(struct bal_dispatcher *d, char *base, const struct bal_dispatcher_config *config) {
    const uint32_t n = config->servers;
    const size_t numbers = n * sizeof(uint32_t);
    size_t size = 0;
    d->servers = n;
    d->setting = setting_of(config);
    d->flags = bal_policy_flags(&d->policy);
    d->probes = waits_for_probes(&d->policy, config);
    d->timed = !config->stations && policy_wants(d, BAL_WANTS_STILL_IDLE);
    d->reports_idle = !config->stations && policy_wants(d, BAL_WANTS_IDLE);
    d->reports_load = !config->stations && d->policy.policy->load_share;
    /* What every request reads lies together: for a small fleet this is a page or two. */
    d->block = carve(base, &size, sizeof *d->block);
    d->own = carve(base, &size, numbers);
    d->urgent = carve(base, &size, numbers);
    d->open = carve(base, &size, bal_set_size(n));
    d->state = carve(base, &size, state_size(d, config));
    d->ejection = carve(base, &size, bli_ejection_size(n));
    d->server = carve(base, &size, n * sizeof *d->server);
    d->worker = carve(base, &size, config->workers * sizeof *d->worker);
    d->load = carve(base, &size, numbers);
    d->urgent_load = carve(base, &size, numbers);
    d->weight = carve(base, &size, n * sizeof *d->weight);
    d->by_own.count = n;
    d->by_own.levels = config->requests + 3;
    d->by_own.order = carve(base, &size, numbers);
    d->by_own.place = carve(base, &size, numbers);
    d->by_own.end = carve(base, &size, d->by_own.levels * sizeof(uint32_t));
    d->by_weight = carve(base, &size, bli_tournament_size(n));
    d->due = carve(base, &size, bli_tournament_size(n));
    d->checks = carve(base, &size, bli_checks_size(n));
    d->slow = carve(base, &size, bli_slow_start_size(n));
    d->concurrency = carve(base, &size, config->min_slots ? n * sizeof *d->concurrency : 0);
    if (!config->min_slots)
        d->concurrency = NULL;
    d->loads = carve(base, &size, config->load_ns ? numbers : 0);
    if (!config->load_ns)
        d->loads = NULL;
    d->station = carve(base, &size, n * sizeof *d->station);
    d->places = bli_directory_places(n);
    d->stations = carve(base, &size, d->places * sizeof *d->stations);
    d->listed = carve(base, &size, d->places * sizeof *d->listed);
    d->numbers = carve(base, &size, numbers);
    d->inquiry_room = config->probe_room;
    d->inquiry_size = (sizeof(struct inquiry) + d->inquiry_room * sizeof(uint32_t) + 7) & ~(size_t)7;
    d->inquiries = carve(base, &size, inquiries(&d->policy, config) * d->inquiry_size);
    void *ledger = carve(base, &size, bli_ledger_size(config->requests, sizeof(struct request)));
    if (ledger)
        d->ledger = bli_ledger_at(ledger, config->requests, sizeof(struct request));
    return size;
}

void bli_dispatcher_lay_out(struct bal_dispatcher *d) {
    lay_out(d, (char *)d->block, &d->block->config);
}

/* ---- checks ---- */

static const uint64_t hour = UINT64_C(3600000000000); /* in ns */

static enum bal_code check_number(const char *name, uint64_t value, uint64_t low, uint64_t high,
                                  struct bal_error *err) {
    if (value >= low && value <= high)
        return BAL_OK;
    return bal_fail(err, BAL_E_RANGE, "%s is %" PRIu64 "; it must be %" PRIu64 " to %" PRIu64, name, value,
                    low, high);
}

/* Reports of load are for those that look at queue lengths or wait for free slots; own counts are known. */
static enum bal_code check_loads(const struct bal_policy_spec *policy,
                                 const struct bal_dispatcher_config *config, struct bal_error *err) {
    const unsigned wanted = BAL_WANTS_IDLE | BAL_WANTS_STILL_IDLE | BAL_WANTS_LOAD;
    if (config->stations)
        return bal_fail(err, BAL_E_MODEL, "stations report the load; load_ns must be 0");
    if (config->min_slots)
        return bal_fail(err, BAL_E_MODEL,
                        "slots are found where no other dispatcher sends, and reports of "
                        "load are for those where one does; give one of them");
    if (!(policy->policy->wants & wanted) && !policy->policy->sample &&
        !(bal_policy_flags(policy) & BAL_ASKS))
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' looks at no queue and no free slot, so that reports of load have no "
                        "effect; use jsq, pod or jiq",
                        policy->policy->name);
    return check_number("load_ns", config->load_ns, 1, hour, err);
}

enum bal_code bal_dispatcher_check(const struct bal_policy_spec *policy,
                                   const struct bal_dispatcher_config *config, struct bal_error *err) {
    const unsigned alone = BAL_CAN_PROBE | BAL_CAN_IDLE | BAL_CAN_STILL_IDLE | BAL_CAN_LOAD | BAL_CAN_RANKS |
                           BAL_CAN_REFUSE | BAL_CAN_HOLD | BAL_CAN_OWN | BAL_CAN_TIME | BAL_CAN_RESPONSES |
                           BAL_CAN_ASK;
    const unsigned with_stations = alone | BAL_CAN_POWER | BAL_CAN_MOVE;
    const struct bal_host host = {config->stations ? "a dispatcher" : "a dispatcher without stations",
                                  config->stations ? with_stations : alone};
    enum bal_code code = check_number("servers", config->servers, 1, 1 << 20, err);
    if (!code)
        code = check_number("owners", config->workers, 1, BAL_WORKERS_MAX, err);
    if (!code)
        code = check_number("requests", config->requests, 1, 1 << 24, err);
    if (!code)
        code = check_number("classes", config->classes, 0, BAL_CLASSES_MAX, err);
    if (!code)
        code = check_number("hold_ns", config->hold_ns, 0, 24 * hour, err);
    if (!code && config->failures)
        code = check_number("back_off_ns", config->back_off_ns, 1, 24 * hour, err);
    if (!code && config->stations)
        code = check_number("probe_ns", config->probe_ns, 1, hour, err);
    if (!code && config->stations)
        code = check_number("beat_ns", config->beat_ns, 1000000, hour, err);
    if (!code && config->stations)
        code = check_number("gap_ns", config->gap_ns, 0, UINT64_C(1000000000), err);
    if (!code && config->stations)
        code = check_number("grace_ns", config->grace_ns, 0, hour, err);
    if (!code && config->stations)
        code = check_number("id", config->id, 1, UINT64_MAX, err);
    if (!code && config->stations)
        code = check_number("boot", config->boot, 1, UINT64_MAX, err);
    if (!code)
        code = bal_join_check(&config->join, err);
    if (!code && config->join.most >= config->servers)
        code = bal_fail(err, BAL_E_RANGE, "join is %" PRIu32 "; it must be below servers, %" PRIu32,
                        config->join.most, config->servers);
    if (!code && config->stations && bal_policy_report_choices(policy) > 1)
        code =
            bal_fail(err, BAL_E_MODEL,
                     "policy '%s': report=%u has servers ask dispatchers for their tokens, which stations do "
                     "not do; use report=1",
                     policy->policy->name, bal_policy_report_choices(policy));
    if (!code && config->min_slots && config->stations)
        code = bal_fail(err, BAL_E_MODEL, "slots are found by the stations; min_slots must be 0");
    if (!code && config->min_slots)
        code = check_number("slots", config->slots, 1, BAL_CONCURRENCY_MAX, err);
    if (!code && config->min_slots > config->slots)
        code = bal_fail(err, BAL_E_RANGE, "min_slots is %" PRIu32 "; it must be at most slots, %" PRIu32,
                        config->min_slots, config->slots);
    if (!code && config->load_ns)
        code = check_loads(policy, config, err);
    const struct bal_policy_context setting = setting_of(config);
    return code ? code : bal_policy_check(policy, &setting, &host, err);
}

/* ---- creating ---- */

size_t bal_dispatcher_size(const struct bal_policy_spec *policy, const struct bal_dispatcher_config *config) {
    const struct bal_dispatcher_config whole = normalized(*config, policy);
    struct bal_dispatcher view = {.policy = *policy};
    return lay_out(&view, NULL, &whole);
}

static void free_inquiries(struct bal_dispatcher *d) {
    d->block->free_inquiry = BLI_NOBODY;
    for (uint32_t i = inquiries(&d->policy, &d->block->config); i-- > 0;) {
        inquiry_at(d, i)->probe = 0;
        inquiry_at(d, i)->next = d->block->free_inquiry;
        d->block->free_inquiry = i;
    }
}

static void empty_lists(struct bal_dispatcher *d) {
    bli_list_init(&d->block->asking);
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++)
        bli_list_init(&d->block->held[rank]);
    for (uint32_t i = 0; i < d->block->config.workers; i++)
        bli_list_init(&d->worker[i].news);
    d->block->held_count = 0;
}

void bal_dispatcher_create(void *memory, const struct bal_policy_spec *policy,
                           const struct bal_dispatcher_config *config, uint64_t now) {
    const struct bal_dispatcher_config whole = normalized(*config, policy);
    struct bal_dispatcher view = {.policy = *policy}, *d = &view;
    const size_t size = lay_out(d, memory, &whole);
    memset(memory, 0, size);
    struct block *block = d->block;
    *block = (struct block){.size = size, .config = whole, .now = now, .report_at = now, .members_at = NEVER};
    if (whole.stations && (whole.join.most || whole.join.own.family))
        block->members_at = now;
    bli_backlog_init(&block->backlog);
    bal_policy_print(policy, block->policy[0], sizeof block->policy[0]);
    if (whole.stations)
        bal_sender_init(&block->sender, whole.fleet, whole.id, whole.boot);
    bli_ledger_init(&d->ledger, whole.requests, sizeof(struct request));
    empty_lists(d);
    free_inquiries(d);
    bal_set_init(d->open, d->servers);
    bli_tournament_init(d->due, d->servers, INFINITY);
    bli_ejection_init(d->ejection, d->servers, whole.failures, (double)whole.back_off_ns);
    bli_checks_init(d->checks, d->servers);
    bli_slow_start_init(d->slow, d->servers, 0);
    for (uint32_t server = 0; server < d->servers; server++) {
        d->server[server].closed = REMOVED;
        d->weight[server] = 1;
    }
    bli_directory_clear(d->stations, d->places);
    bli_dispatcher_rebuild_indexes(d);
    bal_policy_init(policy, &d->setting, d->state);
    __atomic_store_n(&block->magic, magic, __ATOMIC_RELEASE);
}

/* After the view: the servers to be probed for a request, then the outgoing messages. A policy that probes
 * all servers has as many messages as there are servers. */
static size_t out_at(const struct bal_dispatcher *d) {
    return (sizeof *d + d->inquiry_room * sizeof(uint32_t) + 7) & ~(size_t)7;
}

static uint32_t out_room(const struct bal_dispatcher *d, const struct bal_dispatcher_config *config) {
    const bool may_probe = d->probes || (config->stations && config->policy_room);
    return BLI_OUT_ROOM + (may_probe ? d->inquiry_room : 0);
}

size_t bal_dispatcher_view_size(const struct bal_policy_spec *policy,
                                const struct bal_dispatcher_config *config) {
    const struct bal_dispatcher_config whole = normalized(*config, policy);
    struct bal_dispatcher view = {.policy = *policy};
    lay_out(&view, NULL, &whole);
    return out_at(&view) + out_room(&view, &whole) * sizeof(struct bal_message);
}

static enum bal_code check_magic(const struct block *block, struct bal_error *err) {
    if (__atomic_load_n(&block->magic, __ATOMIC_ACQUIRE) == magic)
        return BAL_OK;
    return bal_fail(err, BAL_E_FORMAT, "this memory is no block of a dispatcher of this version");
}

enum bal_code bal_dispatcher_open(struct bal_dispatcher *d, void *memory, uint64_t seed,
                                  struct bal_error *err) {
    const struct block *block = memory;
    struct bal_policy_spec policy;
    enum bal_code code = check_magic(block, err);
    if (!code)
        code = bal_policy_parse(block->policy[0], &policy, err);
    return code ? code : bal_dispatcher_open_with(d, memory, &policy, seed, err);
}

enum bal_code bal_dispatcher_open_with(struct bal_dispatcher *d, void *memory,
                                       const struct bal_policy_spec *policy, uint64_t seed,
                                       struct bal_error *err) {
    const struct block *block = memory;
    const enum bal_code code = check_magic(block, err);
    if (code)
        return code;
    *d = (struct bal_dispatcher){.self = BLI_NOBODY, .policy = *policy, .created = *policy};
    lay_out(d, memory, &block->config);
    d->box.out = (void *)((char *)d + out_at(d));
    d->box.room = out_room(d, &block->config);
    bli_dispatcher_init_fleet_view(d);
    bal_rng_init(&d->rng, seed, 0, BAL_STREAM_POLICY);
    bal_rng_init(&d->chance, seed, 0, BAL_STREAM_NETWORK);
    return BAL_OK;
}

/* ---- rebuilding ---- */

static void place_request(void *user, uint32_t i) {
    struct bal_dispatcher *d = user;
    struct block *block = d->block;
    struct request *r = request_at(d, i);
    switch ((enum request_state)r->entry.state) {
    case ASKING: /* replies so far are forgotten */
        r->inquiry = BLI_NOBODY;
        r->deadline = 0;
        bli_ledger_insert_by_order(&d->ledger, &block->asking, i);
        break;
    case HELD:
        bli_ledger_insert_by_order(&d->ledger, &block->held[r->entry.rank], i);
        block->held_count++;
        break;
    case REFUSED:
        bli_ledger_insert_by_order(&d->ledger, &d->worker[r->entry.owner].news, i);
        break;
    case DECIDED:
        bli_ledger_insert_by_order(&d->ledger, &d->worker[r->entry.owner].news, i);
        /* fall through */
    case SENT:
        d->own[r->server]++;
        d->urgent[r->server] += r->entry.rank == 0;
        if (r->trial)
            d->ejection->server[r->server].trying = true;
        break;
    }
}

static void rebuild_ejection(struct bal_dispatcher *d) {
    d->ejection->excluded = 0;
    for (uint32_t server = 0; server < d->servers; server++) {
        d->ejection->excluded += d->ejection->server[server].back_off > 0;
        d->ejection->server[server].trying = false;
    }
}

/* Requests for a slot that are not answered yet. */
static void recount_questions(struct bal_dispatcher *d) {
    d->block->backlog.questions = 0;
    for (uint32_t server = 0; server < d->servers; server++)
        d->block->backlog.questions += d->server[server].request.asked_until > 0;
}

static void rebuild_fleet(struct bal_dispatcher *d) {
    bal_set_init(d->open, d->servers);
    bli_tournament_init(d->due, d->servers, INFINITY);
    bli_checks_rebuild(d->checks);
    bli_slow_start_rebuild(d->slow);
    bli_dispatcher_rebuild_indexes(d);
    for (uint32_t server = 0; server < d->servers; server++)
        if (is_member(&d->server[server])) /* no list repeats it */
            d->station[server] = bal_address_id(d->server[server].name, strlen(d->server[server].name));
    bli_dispatcher_servers_changed(d);
    recount_questions(d);
    if (d->block->policy_started != d->policies ||
        !bal_policy_is_consistent(&d->policy, &d->setting, d->state))
        bal_policy_init(&d->policy, &d->setting, d->state);
    d->block->policy_started = d->policies;
    for (uint32_t server = 0; server < d->servers; server++) {
        struct server *s = &d->server[server];
        if (s->presence == NOT_THERE && d->own[server] > 0)
            s->presence = LEAVING; /* its last request was about to come back */
        if (s->presence == LEAVING && d->own[server] == 0)
            bli_dispatcher_server_release(d, server);
        s->closed &= ~(uint32_t)(FULL | REMOVED | WARMING);
        s->closed |= (s->presence != THERE ? REMOVED : 0) |
                     (s->max_conns && d->own[server] >= s->max_conns ? FULL : 0);
        s->retracted = 1;
        if (s->closed == 0)
            bal_set_insert(d->open, server);
    }
    refresh_fleet_view(d);
    for (uint32_t server = 0; server < d->servers; server++) {
        bli_dispatcher_server_refresh(d, server);
        bli_dispatcher_check_update(d, server);
        bli_dispatcher_report_state(d, server);
    }
}

void bli_dispatcher_rebuild(struct bal_dispatcher *d) {
    struct block *block = d->block;
    block->joins.version++;
    memset(d->own, 0, d->servers * sizeof *d->own);
    memset(d->urgent, 0, d->servers * sizeof *d->urgent);
    empty_lists(d);
    free_inquiries(d);
    rebuild_ejection(d);
    bli_dispatcher_slots_rebuild(d);
    bli_ledger_rebuild(&d->ledger, place_request, d);
    bli_dispatcher_rebuild_loads(d);
    rebuild_fleet(d);
    for (uint32_t i = 0; i < block->config.workers; i++)
        if (d->worker[i].news.count)
            bli_outbox_wake(&d->box, i);
}

/* ---- consistency check ---- */

static const char *find_list_fault(const struct bal_dispatcher *d) {
    const struct block *block = d->block;
    uint32_t listed = 0, held = 0, must = 0, used = 0;
    const char *fault =
        bli_ledger_list_fault(&d->ledger, &block->asking, 1 << ASKING, BLI_NOBODY, BLI_NOBODY, &listed);
    for (uint32_t rank = 0; !fault && rank < BAL_CLASSES_MAX; rank++) {
        fault = bli_ledger_list_fault(&d->ledger, &block->held[rank], 1 << HELD, BLI_NOBODY, rank, &listed);
        held += block->held[rank].count;
    }
    for (uint32_t i = 0; !fault && i < block->config.workers; i++)
        fault = bli_ledger_list_fault(&d->ledger, &d->worker[i].news, 1 << DECIDED | 1 << REFUSED, i,
                                      BLI_NOBODY, &listed);
    for (uint32_t i = 0; !fault && i < block->config.requests; i++) {
        const struct request *r = request_at(d, i);
        used += r->entry.state != BLI_ENTRY_FREE;
        must += r->entry.state != BLI_ENTRY_FREE && r->entry.state != SENT;
        if (r->entry.state != BLI_ENTRY_FREE && !d->worker[r->entry.owner].used)
            fault = "a request belongs to nobody";
    }
    if (!fault && (listed != must || held != block->held_count))
        fault = "requests are missing from their lists";
    if (!fault && used + d->ledger.head->free.count != block->config.requests)
        fault = "free requests are missing";
    return fault;
}

/* What the requests under way imply for a server. Some servers at a time are counted in one pass. */
struct block_tally {
    uint32_t own, urgent, trials;
};
enum { TALLIES = 64 };

static void count_requests(const struct bal_dispatcher *d, uint32_t first, struct block_tally *tally) {
    for (uint32_t i = 0; i < d->block->config.requests; i++) {
        const struct request *r = request_at(d, i);
        if (!is_under_way(r) || r->server - first >= TALLIES)
            continue;
        tally[r->server - first].own++;
        tally[r->server - first].urgent += r->entry.rank == 0;
        tally[r->server - first].trials += r->trial;
    }
}

static const char *find_server_fault(const struct bal_dispatcher *d, uint32_t server,
                                     const struct block_tally *tally) {
    const struct server *s = &d->server[server];
    const uint32_t own = tally->own;
    if (own != d->own[server] || tally->urgent != d->urgent[server])
        return "a count is not that of the requests under way";
    if (own && s->presence == NOT_THERE)
        return "requests are at a server that is not there";
    if ((s->closed == 0) != bal_set_contains(d->open, server))
        return "the open servers are not those without a mark";
    if (bli_tournament_key(d->due, server) != bli_dispatcher_server_next_expiry(d, server))
        return "a time at which knowledge expires is wrong";
    if (!(s->closed & FAILING) !=
        !(bli_checks_close(d->checks, server) && d->checks->server[server].state == BAL_CHECK_FAILING))
        return "a server is not closed as its checks want it";
    if (!d->slow->server[server].warming == bal_set_contains(bli_slow_start_warming(d->slow), server) ||
        (s->closed & WARMING && !d->slow->server[server].warming))
        return "a server that does not warm up is closed as if it did";
    if (tally->trials == 0 && d->ejection->server[server].trying)
        return "the ejection waits for a trial that is not under way";
    const uint32_t place = d->by_own.place[server], level = s->presence == THERE ? own : d->by_own.levels - 1;
    if (d->flags & BAL_NEEDS_INDEX && (d->by_own.order[place] != server || place >= d->by_own.end[level] ||
                                       (level > 0 && place < d->by_own.end[level - 1])))
        return "the index is out of order";
    return bli_dispatcher_find_load_fault(d, server);
}

/* Slow start never closes the last one. */
static const char *find_wrongly_closed(const struct bal_dispatcher *d) {
    for (uint32_t server = 0; server < d->servers; server++)
        if (d->server[server].closed == WARMING)
            return "slow start closes the last server";
    return NULL;
}

/* A member that comes back is the server that it was. */
static const char *find_twice(const struct bal_dispatcher *d) {
    for (uint32_t i = 0; d->block->config.join.most && i < d->servers; i++)
        for (uint32_t k = 0; k < i; k++)
            if (d->server[i].presence != NOT_THERE && d->server[k].presence != NOT_THERE &&
                strcmp(d->server[i].name, d->server[k].name) == 0)
                return "two servers have one name";
    return NULL;
}

const char *bal_dispatcher_find_inconsistency(const struct bal_dispatcher *d) {
    const char *fault = d->block->busy ? "an operation was not finished" : find_list_fault(d);
    if (!fault && !bal_set_sound(d->open, d->servers))
        fault = "the open servers are no set";
    if (!fault && !bal_policy_is_consistent(&d->policy, &d->setting, d->state))
        fault = "the state of the policy is broken";
    if (!fault && !bal_set_sound(bli_slow_start_warming(d->slow), d->servers))
        fault = "the servers that warm up are no set";
    if (!fault && d->open->count == 0)
        fault = find_wrongly_closed(d);
    uint32_t excluded = 0, questions = 0, members = 0;
    struct block_tally tally[TALLIES];
    for (uint32_t server = 0; !fault && server < d->servers; server++) {
        if (server % TALLIES == 0) {
            memset(tally, 0, sizeof tally);
            count_requests(d, server, tally);
        }
        fault = find_server_fault(d, server, &tally[server % TALLIES]);
        members += is_member(&d->server[server]);
        excluded += d->ejection->server[server].back_off > 0;
        questions += d->server[server].request.asked_until > 0;
    }
    if (!fault)
        fault = bli_checks_find_inconsistency(d->checks);
    if (!fault && (members != d->block->joins.members || members > d->block->config.join.most))
        fault = "members are counted wrongly";
    if (!fault)
        fault = find_twice(d);
    if (!fault && questions != d->block->backlog.questions)
        fault = "the questions to stations are counted wrongly";
    if (!fault && excluded != d->ejection->excluded)
        fault = "the ejection does not know how many it excludes";
    return fault;
}
