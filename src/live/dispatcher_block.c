/* The block of a dispatcher: how it is laid out, who takes part, which servers there are, and how it is made
 * anew when somebody has died in the middle of an operation. */
#include "live/directory.h"
#include "live/dispatcher_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const uint64_t magic = UINT64_C(0x62616c6469730003); /* "baldis" and a version of the layout */

/* ---- layout ---- */

static struct bal_dispatcher_config normal(struct bal_dispatcher_config config) {
    config.classes = config.classes ? config.classes : 1;
    config.slots = config.slots ? config.slots : 1;
    return config;
}

static struct bal_setting setting_of(const struct bal_dispatcher_config *config) {
    /* Without stations the load is measured (dispatcher_timed.c): for now, any will do. */
    return (struct bal_setting){.servers = config->servers, .load = config->stations ? NAN : 0.5};
}

static bool waits_for_probes(const struct bal_policy_spec *policy,
                             const struct bal_dispatcher_config *config) {
    return config->stations && policy->policy->sample;
}

static uint32_t inquiries(const struct bal_policy_spec *policy, const struct bal_dispatcher_config *config) {
    if (!waits_for_probes(policy, config))
        return 0;
    return config->requests < INQUIRIES ? config->requests : INQUIRIES;
}

/* Of the block at `base`; NULL where only sizes are asked for. */
static void *part(char *base, size_t *offset, size_t size) {
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
    d->timed = !config->stations && wants(d, BAL_WANTS_STILL_IDLE);
    d->says_idle = !config->stations && wants(d, BAL_WANTS_IDLE);
    d->says_load = !config->stations && d->policy.policy->load_share;
    /* What every request looks at lies together: of a small fleet it is a page or two. */
    d->block = part(base, &size, sizeof *d->block);
    d->own = part(base, &size, numbers);
    d->urgent = part(base, &size, numbers);
    d->open = part(base, &size, bal_set_size(n));
    d->state = part(base, &size, bal_policy_size(&d->policy, &d->setting));
    d->quarantine = part(base, &size, bal_quarantine_size(n));
    d->server = part(base, &size, n * sizeof *d->server);
    d->owner = part(base, &size, config->owners * sizeof *d->owner);
    d->load = part(base, &size, numbers);
    d->urgent_load = part(base, &size, numbers);
    d->weight = part(base, &size, n * sizeof *d->weight);
    d->by_own.count = n;
    d->by_own.levels = config->requests + 3;
    d->by_own.order = part(base, &size, numbers);
    d->by_own.place = part(base, &size, numbers);
    d->by_own.end = part(base, &size, d->by_own.levels * sizeof(uint32_t));
    d->by_weight = part(base, &size, bal_tournament_size(n));
    d->due = part(base, &size, bal_tournament_size(n));
    d->station = part(base, &size, n * sizeof *d->station);
    d->places = bal_directory_places(n);
    d->stations = part(base, &size, d->places * sizeof *d->stations);
    d->inquiry_room = d->flags & BAL_NEEDS_INDEX || n < ASKED_MOST ? n : ASKED_MOST;
    d->inquiry_size = (sizeof(struct inquiry) + d->inquiry_room * sizeof(uint32_t) + 7) & ~(size_t)7;
    d->inquiries = part(base, &size, inquiries(&d->policy, config) * d->inquiry_size);
    void *ledger = part(base, &size, bal_ledger_size(config->requests, sizeof(struct request)));
    if (ledger)
        d->ledger = bal_ledger_at(ledger, config->requests, sizeof(struct request));
    return size;
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
        code = check_number("owners", config->owners, 1, BAL_OWNERS_MAX, err);
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
        code = check_number("grace_ns", config->grace_ns, 0, hour, err);
    if (!code && config->stations)
        code = check_number("id", config->id, 1, UINT64_MAX, err);
    if (!code && config->stations)
        code = check_number("boot", config->boot, 1, UINT64_MAX, err);
    if (!code && config->stations && bal_policy_report_choices(policy) > 1)
        code =
            bal_fail(err, BAL_E_MODEL,
                     "policy '%s': report=%u has servers ask dispatchers for their tokens, which stations do "
                     "not do; use report=1",
                     policy->policy->name, bal_policy_report_choices(policy));
    const struct bal_setting setting = setting_of(config);
    return code ? code : bal_policy_check(policy, &setting, &host, err);
}

/* ---- making ---- */

size_t bal_dispatcher_size(const struct bal_policy_spec *policy, const struct bal_dispatcher_config *config) {
    const struct bal_dispatcher_config whole = normal(*config);
    struct bal_dispatcher view = {.policy = *policy};
    return lay_out(&view, NULL, &whole);
}

static void free_inquiries(struct bal_dispatcher *d) {
    d->block->free_inquiry = BAL_NOBODY;
    for (uint32_t i = inquiries(&d->policy, &d->block->config); i-- > 0;) {
        inquiry_at(d, i)->probe = 0;
        inquiry_at(d, i)->next = d->block->free_inquiry;
        d->block->free_inquiry = i;
    }
}

static void empty_lists(struct bal_dispatcher *d) {
    bal_list_init(&d->block->asking);
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++)
        bal_list_init(&d->block->held[rank]);
    for (uint32_t i = 0; i < d->block->config.owners; i++)
        bal_list_init(&d->owner[i].news);
    d->block->held_count = 0;
}

void bal_dispatcher_create(void *memory, const struct bal_policy_spec *policy,
                           const struct bal_dispatcher_config *config, uint64_t now) {
    const struct bal_dispatcher_config whole = normal(*config);
    struct bal_dispatcher view = {.policy = *policy}, *d = &view;
    const size_t size = lay_out(d, memory, &whole);
    memset(memory, 0, size);
    struct block *block = d->block;
    *block = (struct block){.size = size, .config = whole, .now = now, .hungry_at = NEVER, .report_at = now};
    bal_policy_print(policy, block->policy, sizeof block->policy);
    if (whole.stations)
        bal_sender_init(&block->sender, whole.fleet, whole.id, whole.boot);
    bal_ledger_init(&d->ledger, whole.requests, sizeof(struct request));
    empty_lists(d);
    free_inquiries(d);
    bal_set_init(d->open, d->servers);
    bal_tournament_init(d->due, d->servers, INFINITY);
    bal_quarantine_init(d->quarantine, d->servers, whole.failures, (double)whole.back_off_ns);
    for (uint32_t server = 0; server < d->servers; server++) {
        d->server[server].closed = ABSENT;
        d->weight[server] = 1;
    }
    bal_directory_clear(d->stations, d->places);
    bal_fleet_reindex(d);
    bal_policy_init(policy, &d->setting, d->state);
    __atomic_store_n(&block->magic, magic, __ATOMIC_RELEASE);
}

size_t bal_dispatcher_view_size(const struct bal_policy_spec *policy,
                                const struct bal_dispatcher_config *config) {
    struct bal_dispatcher view = {.policy = *policy};
    lay_out(&view, NULL, config);
    return sizeof view + view.inquiry_room * sizeof(uint32_t);
}

enum bal_code bal_dispatcher_open(struct bal_dispatcher *d, void *memory, uint64_t seed,
                                  struct bal_error *err) {
    const struct block *block = memory;
    if (__atomic_load_n(&block->magic, __ATOMIC_ACQUIRE) != magic)
        return bal_fail(err, BAL_E_FORMAT, "this memory is no block of a dispatcher of this version");
    *d = (struct bal_dispatcher){.self = BAL_NOBODY};
    const enum bal_code code = bal_policy_parse(block->policy, &d->policy, err);
    if (code)
        return code;
    lay_out(d, memory, &block->config);
    bal_fleet_set(d);
    bal_rng_init(&d->rng, seed, 0, BAL_STREAM_POLICY);
    bal_rng_init(&d->chance, seed, 0, BAL_STREAM_NETWORK);
    return BAL_OK;
}

/* ---- which servers there are ---- */

static uint32_t find_name(const struct bal_dispatcher *d, const char *name) {
    for (uint32_t server = 0; server < d->servers; server++)
        if (d->server[server].presence != NOT_THERE && strcmp(d->server[server].name, name) == 0)
            return server;
    return BAL_NONE;
}

static const struct bal_dispatcher_server *named(const struct bal_dispatcher_server *servers, uint32_t count,
                                                 const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(servers[i].name, name) == 0)
            return &servers[i];
    return NULL;
}

static enum bal_code check_servers(const struct bal_dispatcher *d,
                                   const struct bal_dispatcher_server *servers, uint32_t count,
                                   struct bal_error *err) {
    uint32_t new = 0, room = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct bal_dispatcher_server *s = &servers[i];
        if (s->name[0] == '\0' || strlen(s->name) >= BAL_SERVER_NAME)
            return bal_fail(err, BAL_E_RANGE, "server %u: its name has %zu bytes; use 1 to %d", i,
                            strlen(s->name), BAL_SERVER_NAME - 1);
        if (s->weight != 0 && !(s->weight > 0 && s->weight <= 1e6))
            return bal_fail(err, BAL_E_RANGE, "server '%s': weight %g; use a number above 0, up to 1e6",
                            s->name, s->weight);
        if (s->max_fails && (s->fail_ns == 0 || s->fail_ns > 24 * hour))
            return bal_fail(err, BAL_E_RANGE,
                            "server '%s': max_fails %u within %" PRIu64 " ns; use a time of 1 ns to a day",
                            s->name, s->max_fails, s->fail_ns);
        if (named(servers, i, s->name))
            return bal_fail(err, BAL_E_MODEL, "server '%s' is named twice", s->name);
        if (d->block->config.stations && s->station == BAL_EVERYONE)
            return bal_fail(err, BAL_E_RANGE, "server '%s': its station needs an id that is not 0", s->name);
        for (uint32_t k = 0; d->block->config.stations && k < i; k++)
            if (servers[k].station == s->station)
                return bal_fail(err, BAL_E_MODEL, "servers '%s' and '%s' have the same station, %" PRIu64,
                                servers[k].name, s->name, s->station);
        new += find_name(d, s->name) == BAL_NONE;
    }
    for (uint32_t server = 0; server < d->servers; server++)
        room += d->server[server].presence == NOT_THERE ||
                (d->own[server] == 0 && !named(servers, count, d->server[server].name));
    if (new > room)
        return bal_fail(err, BAL_E_RANGE, "%u new servers, but there is room for %u: the block is for %u",
                        new, room, d->servers);
    return BAL_OK;
}

static void let_go(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    s->presence = LEAVING;
    bal_fleet_mark(d, server, ABSENT, true);
    bal_fleet_look(d, server);
    if (d->own[server] == 0)
        bal_fleet_bury(d, server);
}

/* A number for a server that is new. */
static uint32_t admit(struct bal_dispatcher *d, const struct bal_dispatcher_server *given) {
    uint32_t server = 0;
    while (d->server[server].presence != NOT_THERE)
        server++;
    struct server *s = &d->server[server];
    memset(s->name, 0, sizeof s->name);
    memcpy(s->name, given->name, strlen(given->name));
    s->answered = s->failed = s->took_ns = 0;
    d->station[server] = given->station;
    bal_fleet_greet(d, server);
    return server;
}

static void set_server(struct bal_dispatcher *d, const struct bal_dispatcher_server *given) {
    uint32_t server = find_name(d, given->name);
    const bool moved = server != BAL_NONE && d->station[server] != given->station;
    const bool new = server == BAL_NONE || moved;
    if (server == BAL_NONE)
        server = admit(d, given);
    struct server *s = &d->server[server];
    if (moved) {
        d->station[server] = given->station;
        bal_fleet_greet(d, server);
    }
    const double weight = given->weight > 0 ? given->weight : 1;
    d->weight[server] = weight;
    s->most = given->most;
    s->max_fails = given->max_fails;
    s->fail_ns = given->fail_ns;
    s->presence = THERE;
    bal_fleet_mark(d, server, DOWN, given->down);
    bal_fleet_mark(d, server, FULL, s->most && d->own[server] >= s->most);
    bal_fleet_mark(d, server, ABSENT, false);
    bal_fleet_look(d, server);
    if (new && d->block->config.stations)
        bal_dispatcher_say(d, (struct bal_message){.type = BAL_MSG_RESYNC, .receiver = given->station});
}

static void list_stations(struct bal_dispatcher *d) {
    bal_directory_clear(d->stations, d->places);
    for (uint32_t server = 0; d->block->config.stations && server < d->servers; server++)
        if (d->server[server].presence != NOT_THERE)
            bal_directory_add(d->stations, d->places, d->station[server], server);
}

/* Of those that are there half at most are excluded, and the only one is not shut. */
static void settle_quarantine(struct bal_dispatcher *d) {
    const bool limited = d->block->present > 1 || d->block->config.backed;
    d->quarantine->servers = d->block->present;
    for (uint32_t server = 0; server < d->servers; server++) {
        const struct server *s = &d->server[server];
        if (s->presence == THERE)
            bal_quarantine_limit(d->quarantine, server, limited ? s->max_fails : 0, (double)s->fail_ns);
    }
}

/* What follows from who is there. */
static void settle_fleet(struct bal_dispatcher *d) {
    struct block *block = d->block;
    double weight = NAN;
    block->present = block->weighted = 0;
    for (uint32_t server = 0; server < d->servers; server++) {
        if (d->server[server].presence != THERE)
            continue;
        block->weighted |= block->present > 0 && d->weight[server] != weight;
        weight = d->weight[server];
        block->present++;
    }
    settle_quarantine(d);
    list_stations(d);
    fleet_refresh(d);
}

enum bal_code bal_dispatcher_configure(struct bal_dispatcher *d, uint64_t now,
                                       const struct bal_dispatcher_server *servers, uint32_t count,
                                       struct bal_error *err) {
    dispatcher_begin(d, now);
    const enum bal_code code = check_servers(d, servers, count, err);
    for (uint32_t server = 0; !code && server < d->servers; server++)
        if (d->server[server].presence != NOT_THERE && !named(servers, count, d->server[server].name))
            let_go(d, server);
    for (uint32_t i = 0; !code && i < count; i++)
        set_server(d, &servers[i]);
    if (!code) {
        bal_fleet_reindex(d);
        settle_fleet(d);
        for (uint32_t server = 0; server < d->servers; server++)
            bal_fleet_look(d, server);
    }
    dispatcher_end(d);
    return code;
}

/* ---- made anew ---- */

static void place_request(void *user, uint32_t i) {
    struct bal_dispatcher *d = user;
    struct block *block = d->block;
    struct request *r = request_at(d, i);
    switch ((enum request_state)r->entry.state) {
    case ASKING: /* whoever has answered is forgotten */
        r->inquiry = BAL_NOBODY;
        r->deadline = 0;
        bal_ledger_put_back(&d->ledger, &block->asking, i);
        break;
    case HELD:
        bal_ledger_put_back(&d->ledger, &block->held[r->entry.rank], i);
        block->held_count++;
        break;
    case REFUSED:
        bal_ledger_put_back(&d->ledger, &d->owner[r->entry.owner].news, i);
        break;
    case DECIDED:
        bal_ledger_put_back(&d->ledger, &d->owner[r->entry.owner].news, i);
        /* fall through */
    case SENT:
        d->own[r->server]++;
        d->urgent[r->server] += r->entry.rank == 0;
        if (r->trial)
            d->quarantine->server[r->server].trying = true;
        break;
    }
}

static void rebuild_quarantine(struct bal_dispatcher *d) {
    d->quarantine->excluded = 0;
    for (uint32_t server = 0; server < d->servers; server++) {
        d->quarantine->excluded += d->quarantine->server[server].back_off > 0;
        d->quarantine->server[server].trying = false;
    }
}

static void rebuild_fleet(struct bal_dispatcher *d) {
    bal_set_init(d->open, d->servers);
    bal_tournament_init(d->due, d->servers, INFINITY);
    bal_fleet_reindex(d);
    settle_fleet(d);
    if (!bal_policy_sound(&d->policy, &d->setting, d->state))
        bal_policy_init(&d->policy, &d->setting, d->state);
    for (uint32_t server = 0; server < d->servers; server++) {
        struct server *s = &d->server[server];
        if (s->presence == NOT_THERE && d->own[server] > 0)
            s->presence = LEAVING; /* its last request was about to come back */
        if (s->presence == LEAVING && d->own[server] == 0)
            bal_fleet_bury(d, server);
        s->closed &= ~(uint32_t)(FULL | ABSENT);
        s->closed |= (s->presence != THERE ? ABSENT : 0) | (s->most && d->own[server] >= s->most ? FULL : 0);
        s->taken_back = 1;
        if (s->closed == 0)
            bal_set_insert(d->open, server);
    }
    fleet_refresh(d);
    for (uint32_t server = 0; server < d->servers; server++) {
        bal_fleet_look(d, server);
        bal_fleet_tell(d, server);
    }
}

void bal_dispatcher_rebuild(struct bal_dispatcher *d) {
    struct block *block = d->block;
    block->counts.rebuilds++;
    memset(d->own, 0, d->servers * sizeof *d->own);
    memset(d->urgent, 0, d->servers * sizeof *d->urgent);
    empty_lists(d);
    free_inquiries(d);
    rebuild_quarantine(d);
    bal_ledger_rebuild(&d->ledger, place_request, d);
    rebuild_fleet(d);
    for (uint32_t i = 0; i < block->config.owners; i++)
        if (d->owner[i].news.count)
            bal_outbox_wake(&d->box, i);
}

/* ---- is everything as it should be? ---- */

static const char *unsound_lists(const struct bal_dispatcher *d) {
    const struct block *block = d->block;
    uint32_t listed = 0, held = 0, must = 0, used = 0;
    const char *fault =
        bal_ledger_unsound(&d->ledger, &block->asking, 1 << ASKING, BAL_NOBODY, BAL_NOBODY, &listed);
    for (uint32_t rank = 0; !fault && rank < BAL_CLASSES_MAX; rank++) {
        fault = bal_ledger_unsound(&d->ledger, &block->held[rank], 1 << HELD, BAL_NOBODY, rank, &listed);
        held += block->held[rank].count;
    }
    for (uint32_t i = 0; !fault && i < block->config.owners; i++)
        fault = bal_ledger_unsound(&d->ledger, &d->owner[i].news, 1 << DECIDED | 1 << REFUSED, i, BAL_NOBODY,
                                   &listed);
    for (uint32_t i = 0; !fault && i < block->config.requests; i++) {
        const struct request *r = request_at(d, i);
        used += r->entry.state != BAL_ENTRY_FREE;
        must += r->entry.state != BAL_ENTRY_FREE && r->entry.state != SENT;
        if (r->entry.state != BAL_ENTRY_FREE && !d->owner[r->entry.owner].used)
            fault = "a request belongs to nobody";
    }
    if (!fault && (listed != must || held != block->held_count))
        fault = "requests are missing from their lists";
    if (!fault && used + d->ledger.head->free.count != block->config.requests)
        fault = "free requests are missing";
    return fault;
}

static const char *unsound_server(const struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    uint32_t own = 0, urgent = 0;
    bool trying = false;
    for (uint32_t i = 0; i < d->block->config.requests; i++) {
        const struct request *r = request_at(d, i);
        if (!is_under_way(r) || r->server != server)
            continue;
        own++;
        urgent += r->entry.rank == 0;
        trying |= r->trial;
    }
    if (own != d->own[server] || urgent != d->urgent[server])
        return "a count is not that of the requests under way";
    if (own && s->presence == NOT_THERE)
        return "requests are at a server that is not there";
    if ((s->closed == 0) != bal_set_contains(d->open, server))
        return "the open servers are not those without a mark";
    if (bal_tournament_key(d->due, server) != bal_fleet_due(d, server))
        return "a time at which knowledge expires is wrong";
    if (!trying && d->quarantine->server[server].trying)
        return "the quarantine waits for a trial that is not under way";
    const uint32_t place = d->by_own.place[server], level = s->presence == THERE ? own : d->by_own.levels - 1;
    if (d->flags & BAL_NEEDS_INDEX && (d->by_own.order[place] != server || place >= d->by_own.end[level] ||
                                       (level > 0 && place < d->by_own.end[level - 1])))
        return "the index is out of order";
    return NULL;
}

const char *bal_dispatcher_unsound(const struct bal_dispatcher *d) {
    const char *fault = d->block->busy ? "an operation was not finished" : unsound_lists(d);
    if (!fault && !bal_set_sound(d->open, d->servers))
        fault = "the open servers are no set";
    if (!fault && !bal_policy_sound(&d->policy, &d->setting, d->state))
        fault = "the state of the policy is broken";
    uint32_t excluded = 0;
    for (uint32_t server = 0; !fault && server < d->servers; server++) {
        fault = unsound_server(d, server);
        excluded += d->quarantine->server[server].back_off > 0;
    }
    if (!fault && excluded != d->quarantine->excluded)
        fault = "the quarantine does not know how many it excludes";
    return fault;
}
