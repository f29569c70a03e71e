/* SPDX-License-Identifier: BSD-2-Clause */
/* The block of a station: its layout, the lists of dispatchers and other stations, and how it is rebuilt when
 * a process has died in the middle of an operation. */
#include "live/directory.h"
#include "live/station_private.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t magic = UINT64_C(0x62616c7374610008); /* "balsta" and a version of the layout */

/* ---- layout ---- */

/* Where requests may be refused after they have waited, as many again: those whose processes do not know yet
 * must not take the places of others. */
static uint32_t capacity(const struct bal_station_config *config) {
    bool refuses = config->classes > 1 || config->queue_ns;
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++)
        refuses |= config->class_limit[rank].wait_ns > 0;
    return config->slots + (refuses ? 2 * config->queue : config->queue);
}

/* Of the block at `base`; NULL where only sizes are asked for. */
static void *carve(char *base, size_t *offset, size_t size) {
    char *at = base ? base + *offset : NULL;
    *offset += (size + 63) & ~(size_t)63;
    return at;
}

static size_t lay_out(struct bal_station *s, char *base, const struct bal_station_config *config) {
    const uint32_t n = config->peers;
    size_t size = 0;
    s->block = carve(base, &size, sizeof *s->block);
    s->worker = carve(base, &size, config->workers * sizeof *s->worker);
    s->peer = carve(base, &size, n * sizeof *s->peer);
    s->peer_id = carve(base, &size, n * sizeof *s->peer_id);
    s->places = bli_directory_places(n);
    s->directory = carve(base, &size, s->places * sizeof *s->directory);
    s->dispatchers = carve(base, &size, bal_set_size(n));
    s->stations = carve(base, &size, bal_set_size(n));
    s->backlogged = carve(base, &size, bal_set_size(n));
    s->holders = carve(base, &size, bal_set_size(n));
    void *ledger = carve(base, &size, bli_ledger_size(capacity(config), sizeof(struct station_job)));
    if (ledger)
        s->ledger = bli_ledger_at(ledger, capacity(config), sizeof(struct station_job));
    return size;
}

static enum bal_code check_number(const char *name, uint64_t value, uint64_t low, uint64_t high,
                                  struct bal_error *err) {
    if (value >= low && value <= high)
        return BAL_OK;
    return bal_fail(err, BAL_E_RANGE, "%s is %" PRIu64 "; it must be %" PRIu64 " to %" PRIu64, name, value,
                    low, high);
}

enum bal_code bal_station_check(const struct bal_station_config *config, struct bal_error *err) {
    const uint64_t hour = UINT64_C(3600000000000);
    const struct {
        const char *name;
        uint64_t value, low, high;
    } rows[] = {
        {"owners", config->workers, 1, BLI_WORKER_SLOTS},
        {"slots", config->slots, 1, 1 << 20},
        {"queue", config->queue, 0, 1 << 24},
        {"classes", config->classes, 0, BAL_CLASSES_MAX},
        {"queue_ns", config->queue_ns, 0, 24 * hour},
        {"peers", config->peers, 1, 1 << 16},
        {"beat_ns", config->beat_ns, 1000000, hour},
        {"offer_ns", config->offer_ns, 0, hour},
        {"steal_ns", config->steal_ns, config->steal.kind == BAL_STEAL_NONE ? 0 : 1, hour},
        {"standby_ns", config->standby_ns, 0, config->keeper ? 24 * hour : 0},
        {"id", config->id, 1, UINT64_MAX},
        {"boot", config->boot, 1, UINT64_MAX},
    };
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < sizeof rows / sizeof *rows; i++)
        code = check_number(rows[i].name, rows[i].value, rows[i].low, rows[i].high, err);
    if (!code && config->join.most >= config->peers)
        code = bal_fail(err, BAL_E_RANGE, "join is %" PRIu32 "; it must be below peers, %" PRIu32,
                        config->join.most, config->peers);
    if (!code && config->min_slots)
        code = check_number("slots", config->slots, 1, BAL_CONCURRENCY_MAX, err);
    if (!code && config->min_slots > config->slots)
        code = bal_fail(err, BAL_E_RANGE, "min_slots is %" PRIu32 "; it must be at most slots, %" PRIu32,
                        config->min_slots, config->slots);
    return code ? code : bal_join_check(&config->join, err);
}

/* ---- creating ---- */

size_t bal_station_size(const struct bal_station_config *config) {
    struct bal_station view = {0};
    return lay_out(&view, NULL, config);
}

static uint32_t out_room(const struct bal_station_config *config) {
    return BLI_OUT_ROOM + config->peers;
}

size_t bal_station_view_size(const struct bal_station_config *config) {
    return sizeof(struct bal_station) + out_room(config) * sizeof(struct bal_message);
}

static void empty_lists(struct bal_station *s) {
    struct station_block *block = s->block;
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++) {
        bli_list_init(&block->waiting[rank]);
        block->jobs[rank] = 0;
    }
    for (uint32_t i = 0; i < block->config.workers; i++)
        bli_list_init(&s->worker[i].news);
    block->slots_used = block->waiting_count = block->away = 0;
}

/* By id and by kind, those that hold offers and those that have a backlog. */
void bli_station_rebuild_peer_sets(struct bal_station *s) {
    const uint32_t n = s->block->config.peers;
    s->block->joins.members = 0;
    bli_directory_clear(s->directory, s->places);
    bal_set_init(s->dispatchers, n);
    bal_set_init(s->stations, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct station_peer *peer = &s->peer[i];
        if (peer->kind == NO_PEER)
            continue;
        s->block->joins.members += peer->member_until > 0;
        bli_directory_add(s->directory, s->places, s->peer_id[i], i);
        bal_set_insert(peer->kind == DISPATCHER ? s->dispatchers : s->stations, i);
    }
    const struct bli_offers offers = bli_station_offers(s);
    bli_offers_rebuild(&offers);
}

uint32_t bli_station_free_peer(const struct bal_station *s) {
    uint32_t number = 0;
    while (number < s->block->config.peers && s->peer[number].kind != NO_PEER)
        number++;
    return number < s->block->config.peers ? number : BLI_NOBODY;
}

/* The number of slots, where it is found. */
static void begin_finding(struct station_block *block) {
    if (block->config.min_slots)
        bli_concurrency_init(&block->concurrency, block->config.min_slots, block->config.slots, block->now);
}

void bal_station_create(void *memory, const struct bal_station_config *config, uint64_t now) {
    struct bal_station view = {0}, *s = &view;
    const size_t size = lay_out(s, memory, config);
    memset(memory, 0, size);
    struct station_block *block = s->block;
    block->size = size;
    block->config = *config;
    block->config.classes = config->classes ? config->classes : 1;
    block->now = now;
    block->power = config->keeper ? BAL_POWER_OFF : BAL_POWER_ON;
    block->idle_since = now;
    block->beat_at = now;
    block->offer_at = config->offer_ns ? now : NEVER;
    begin_finding(block);
    bal_sender_init(&block->sender, config->fleet, config->id, config->boot);
    bli_ledger_init(&s->ledger, capacity(config), sizeof(struct station_job));
    empty_lists(s);
    bli_station_rebuild_peer_sets(s);
    __atomic_store_n(&block->magic, magic, __ATOMIC_RELEASE);
}

enum bal_code bal_station_open(struct bal_station *s, void *memory, uint64_t seed, struct bal_error *err) {
    const struct station_block *block = memory;
    if (__atomic_load_n(&block->magic, __ATOMIC_ACQUIRE) != magic)
        return bal_fail(err, BAL_E_FORMAT, "this memory is no block of a station of this version");
    *s = (struct bal_station){.self = BLI_NOBODY};
    lay_out(s, memory, &block->config);
    s->box.out = s->out;
    s->box.room = out_room(&block->config);
    bal_rng_init(&s->rng, seed, 0, BAL_STREAM_NETWORK);
    return BAL_OK;
}

/* ---- dispatchers and other stations ---- */

static bool contains_id(const uint64_t *ids, uint32_t count, uint64_t id) {
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static enum bal_code check_ids(const struct bal_station *s, const uint64_t *ids, uint32_t count,
                               const uint64_t *others, uint32_t other_count, struct bal_error *err) {
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == BAL_EVERYONE || ids[i] == s->block->config.id || contains_id(ids, i, ids[i]) ||
            contains_id(others, other_count, ids[i]))
            return bal_fail(err, BAL_E_MODEL,
                            "id %" PRIu64 " is 0, this station's own or named twice; each needs its own",
                            ids[i]);
    return BAL_OK;
}

void bli_station_remove_peer(struct bal_station *s, uint32_t number) {
    const uint64_t offers = s->peer[number].party.offers;
    s->block->offers_before = offers > s->block->offers_before ? offers : s->block->offers_before;
    s->peer[number] = (struct station_peer){0};
}

static void add_peers(struct bal_station *s, const uint64_t *ids, uint32_t count, enum peer_kind kind) {
    for (uint32_t i = 0; i < count; i++) {
        if (bli_directory_find(s->directory, s->places, s->peer_id, ids[i]) != BLI_DIRECTORY_NOBODY)
            continue;
        const uint32_t number = bli_station_free_peer(s);
        s->peer[number] = (struct station_peer){.party = {.offers = s->block->offers_before}};
        s->peer_id[number] = ids[i];
        __atomic_store_n(&s->peer[number].kind, (uint32_t)kind, __ATOMIC_RELEASE);
    }
}

/* Of a new list: it stays what it is, or a member is listed now, or it is no peer any longer. */
static void list_peer(struct bal_station *s, uint32_t i, bool as_dispatcher, bool as_station) {
    struct station_peer *peer = &s->peer[i];
    const bool member = peer->member_until > 0;
    const bool listed = peer->kind == DISPATCHER ? as_dispatcher : as_station;
    if (member && (as_dispatcher || as_station))
        bli_joins_remove(&s->block->joins, false);
    if (listed)
        peer->member_until = 0;
    else if (!member || as_station)
        bli_station_remove_peer(s, i);
}

enum bal_code bal_station_configure(struct bal_station *s, uint64_t now, const uint64_t *dispatchers,
                                    uint32_t dispatcher_count, const uint64_t *stations,
                                    uint32_t station_count, struct bal_error *err) {
    bli_station_enter(s, now);
    const uint32_t n = s->block->config.peers, listed = n - s->block->config.join.most;
    enum bal_code code = check_ids(s, dispatchers, dispatcher_count, stations, station_count, err);
    if (!code)
        code = check_ids(s, stations, station_count, dispatchers, dispatcher_count, err);
    if (!code && (dispatcher_count > listed || station_count > listed - dispatcher_count))
        code = bal_fail(err, BAL_E_RANGE, "%u dispatchers and %u stations; the block is for %u together",
                        dispatcher_count, station_count, listed);
    for (uint32_t i = 0; !code && i < n; i++)
        if (s->peer[i].kind != NO_PEER)
            list_peer(s, i, contains_id(dispatchers, dispatcher_count, s->peer_id[i]),
                      contains_id(stations, station_count, s->peer_id[i]));
    if (!code) {
        bli_station_rebuild_peer_sets(s);
        add_peers(s, dispatchers, dispatcher_count, DISPATCHER);
        add_peers(s, stations, station_count, STATION);
        bli_station_rebuild_peer_sets(s);
        bli_station_offer(s);
    }
    station_end(s);
    return code;
}

/* ---- rebuilding ---- */

static void place_job(void *user, uint32_t i) {
    struct bal_station *s = user;
    struct station_block *block = s->block;
    struct station_job *j = job_at(s, i);
    switch ((enum job_state)j->entry.state) {
    case WAITING:
        bli_ledger_insert_by_order(&s->ledger, &block->waiting[j->entry.rank], i);
        block->waiting_count++;
        block->jobs[j->entry.rank]++;
        break;
    case GRANTED:
        bli_ledger_insert_by_order(&s->ledger, &s->worker[j->entry.owner].news, i);
        /* fall through */
    case RUNNING:
        block->slots_used++;
        block->jobs[j->entry.rank]++;
        break;
    case FORWARDING:
        bli_ledger_insert_by_order(&s->ledger, &s->worker[j->entry.owner].news, i);
        /* fall through */
    case FORWARDED:
        block->away++;
        break;
    case TURNED_AWAY:
        bli_ledger_insert_by_order(&s->ledger, &s->worker[j->entry.owner].news, i);
        break;
    }
}

/* No list repeats the ids of members. */
static void restore_member_ids(struct bal_station *s) {
    for (uint32_t i = 0; i < s->block->config.peers; i++) {
        char text[BAL_ADDRESS_TEXT];
        if (s->peer[i].kind == DISPATCHER && s->peer[i].member_until)
            s->peer_id[i] = bal_address_id(text, bal_address_print(&s->peer[i].address, text));
    }
}

void bli_station_rebuild(struct bal_station *s) {
    s->block->counts.rebuilds++;
    s->block->joins.version++;
    empty_lists(s);
    bli_ledger_rebuild(&s->ledger, place_job, s);
    restore_member_ids(s);
    if (s->block->config.min_slots && !bli_concurrency_is_sound(&s->block->concurrency))
        begin_finding(s->block);
    bli_station_rebuild_peer_sets(s);
    for (uint32_t i = 0; i < s->block->config.workers; i++)
        if (s->worker[i].news.count)
            bli_outbox_wake(&s->box, i);
}

/* ---- consistency check ---- */

static const char *find_job_fault(const struct bal_station *s) {
    const struct station_block *block = s->block;
    uint32_t in_slots = 0, away = 0, used = 0, must = 0, waiting = 0, jobs[BAL_CLASSES_MAX] = {0};
    for (uint32_t i = 0; i < s->ledger.head->capacity; i++) {
        const struct station_job *j = job_at(s, i);
        if (j->entry.state == BLI_ENTRY_FREE)
            continue;
        if (!s->worker[j->entry.owner].used)
            return "a request belongs to nobody";
        used++;
        in_slots += has_slot(j);
        away += is_forwarded(j);
        waiting += j->entry.state == WAITING;
        must += j->entry.state != RUNNING && j->entry.state != FORWARDED;
        jobs[j->entry.rank] += !is_forwarded(j) && j->entry.state != TURNED_AWAY;
    }
    uint32_t listed = 0;
    const char *fault = NULL;
    for (uint32_t rank = 0; !fault && rank < BAL_CLASSES_MAX; rank++) {
        fault =
            bli_ledger_list_fault(&s->ledger, &block->waiting[rank], 1 << WAITING, BLI_NOBODY, rank, &listed);
        if (!fault && jobs[rank] != block->jobs[rank])
            fault = "requests of a class are counted wrongly";
    }
    for (uint32_t i = 0; !fault && i < block->config.workers; i++)
        fault =
            bli_ledger_list_fault(&s->ledger, &s->worker[i].news,
                                  1 << GRANTED | 1 << FORWARDING | 1 << TURNED_AWAY, i, BLI_NOBODY, &listed);
    if (!fault && (in_slots != block->slots_used || away != block->away || waiting != block->waiting_count))
        fault = "requests are counted wrongly";
    if (!fault && listed != must)
        fault = "requests are missing from their lists";
    if (!fault && used + s->ledger.head->free.count != s->ledger.head->capacity)
        fault = "free requests are missing";
    if (!fault && in_slots > block->config.slots)
        fault = "more requests run than there are slots";
    if (!fault && waiting + away > block->config.queue)
        fault = "more requests wait than may";
    if (!fault && waiting && in_slots < slots_now(block) && block->power == BAL_POWER_ON)
        fault = "requests wait though a slot is free";
    if (!fault && block->config.min_slots && !bli_concurrency_is_sound(&block->concurrency))
        fault = "what is known of the number of slots makes no sense";
    return fault;
}

const char *bal_station_find_inconsistency(const struct bal_station *s) {
    const char *fault = s->block->busy ? "an operation was not finished" : find_job_fault(s);
    uint32_t offered = 0, members = 0;
    for (uint32_t i = 0; !fault && i < s->block->config.peers; i++) {
        members += s->peer[i].member_until > 0;
        offered += s->peer[i].party.offered;
        if ((s->peer[i].party.offered > 0) != bal_set_contains(s->holders, i))
            fault = "who holds offers is not known";
    }
    if (!fault && offered != s->block->offered)
        fault = "offers are counted wrongly";
    if (!fault && (members != s->block->joins.members || members > s->block->config.join.most))
        fault = "members are counted wrongly";
    return fault;
}
