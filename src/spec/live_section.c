/* SPDX-License-Identifier: BSD-2-Clause */
/* The section `live` of experiment files: how policies are measured on real processes, and whether they can
 * be. */
#include "spec/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS_MAX = 200, DISPATCHERS_MAX = 64, FAULTS_MAX = 50, CLASSES_TOLD_APART = 6 };

/* A block of real processes is one draw of what policies draw; its prediction need not be. So many times it
 * is simulated, unless it is long, and then hardly varies. */
enum { DRAWS = 16, LONG = 600 };

static int by_time(const void *a, const void *b) {
    const struct bal_fault *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->line > y->line) - (x->line < y->line);
}

static enum bal_code check_fault(struct bal_reader *reader, int map, const struct bal_live *live,
                                 const struct bal_fault *fault) {
    const struct bal_fault_trait *trait = &bal_fault_traits[fault->kind];
    if (trait->place == BAL_FAULT_OF_SERVER && trait->needs_stations && fault->kind != BAL_FAULT_KEEPER &&
        !live->apart)
        return bal_reader_fail(reader, map, "faults", BAL_E_MODEL,
                               "it would happen to all stations at once; add `apart: yes` to `live`");
    if (fault->kind == BAL_FAULT_KEEPER && !live->keepers)
        return bal_reader_fail(reader, map, "faults", BAL_E_MODEL,
                               "there are no keepers; add `keepers: yes` to `live`");
    if (trait->needs_hosts && !live->hosts)
        return bal_reader_fail(reader, map, "faults", BAL_E_MODEL,
                               "all is on loopback; add `hosts: 2` or more to `live`");
    if (fault->kind == BAL_FAULT_MTU && live->ipv6 && fault->bytes < 1280)
        return bal_reader_fail(reader, map, "faults", BAL_E_RANGE, "IPv6 needs an MTU of 1280 or more");
    return BAL_OK;
}

static enum bal_code read_fault(struct bal_reader *reader, int map, const struct bal_live *live,
                                struct bal_fault *fault) {
    *fault = (struct bal_fault){
        .kind = (enum bal_fault_kind)bal_reader_choice(reader, map, "fault", bal_fault_kinds, 0),
        .at = bal_reader_number(reader, map, "at", 0),
        .of = (unsigned)bal_reader_number(reader, map, "of", 0),
        .to = (unsigned)bal_reader_number(reader, map, "to", 0),
        .factor = bal_reader_number(reader, map, "factor", 5),
        .share = bal_reader_number(reader, map, "share", 1),
        .delay = bal_reader_number(reader, map, "delay", 0.02),
        .bytes = (unsigned)bal_reader_number(reader, map, "bytes", 1280),
        .line = bal_node_line(reader->document, map)};
    fault->lasts = bal_fault_traits[fault->kind].ends ? bal_reader_number(reader, map, "for", 1) : 0;
    if (fault->at + fault->lasts > live->seconds)
        return bal_reader_fail(reader, map, "faults", BAL_E_RANGE,
                               "it ends %g s from the beginning of a block, which has %g (`seconds`)",
                               fault->at + fault->lasts, live->seconds);
    return check_fault(reader, map, live, fault);
}

static enum bal_code read_faults(struct bal_reader *reader, int map, struct bal_live *live) {
    const int node = bal_node_get(reader->document, map, "faults");
    live->faults = bal_reader_count(reader, node);
    if (live->faults > FAULTS_MAX)
        return bal_reader_fail(reader, node, "faults", BAL_E_RANGE, "there are %zu; at most %d are possible",
                               live->faults, FAULTS_MAX);
    struct bal_fault *faults = bal_reader_take(reader, live->faults, sizeof *faults);
    if (!faults)
        return BAL_E_MEMORY;
    live->fault = faults;
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < live->faults; i++)
        code = read_fault(reader, bal_reader_item(reader, node, i), live, &faults[i]);
    if (!code && live->faults > 1)
        qsort(faults, live->faults, sizeof *faults, by_time);
    return code;
}

enum bal_code bal_read_live(struct bal_reader *reader) {
    const int map = bal_node_get(reader->document, reader->root, "live");
    if (!map)
        return BAL_OK;
    struct bal_live *live = bal_reader_take(reader, 1, sizeof *live);
    if (!live)
        return BAL_E_MEMORY;
    reader->e->live = live;
    live->seconds = bal_reader_number(reader, map, "seconds", 5);
    live->timeout = bal_reader_number(reader, map, "timeout", 60);
    live->stations =
        (enum bal_stations)bal_reader_choice(reader, map, "stations", bal_stations_kinds, BAL_STATIONS_AUTO);
    live->apart = bal_reader_flag(reader, map, "apart", false);
    live->keepers = bal_reader_flag(reader, map, "keepers", false);
    live->burn = bal_reader_flag(reader, map, "burn", false);
    live->hosts = (unsigned)bal_reader_number(reader, map, "hosts", 0);
    live->ipv6 = bal_reader_flag(reader, map, "ipv6", false);
    live->urgent = bal_reader_flag(reader, map, "urgent", true);
    if (live->ipv6 && !live->hosts)
        return bal_reader_fail(reader, bal_node_get(reader->document, map, "ipv6"), "ipv6", BAL_E_MODEL,
                               "all is on loopback; add `hosts: 2` or more to `live`");
    if (live->keepers && live->stations == BAL_STATIONS_NO)
        return bal_reader_fail(reader, bal_node_get(reader->document, map, "keepers"), "keepers", BAL_E_MODEL,
                               "keepers work for stations; leave out `stations: no`");
    return read_faults(reader, map, live);
}

/* ---- what is measured, and its prediction ---- */

static const char *concat_text(struct bal_reader *reader, const char *before, const char *text,
                               const char *after) {
    char *all = bal_arena_take(reader->arena, strlen(before) + strlen(text) + strlen(after) + 1, 1);
    if (!all)
        return "";
    strcpy(all, before);
    strcat(all, text);
    return strcat(all, after);
}

static const char *const proxy_word[] = {"", "nginx ", "haproxy "};

const char *bal_live_label(struct bal_reader *reader, const struct bal_experiment_policy *entry) {
    return concat_text(reader, proxy_word[entry->proxy], entry->text, "");
}

/* What a fault has beyond a kind, a time and a number; nothing for the first kinds that there were, so that
 * trials that are stored stay what they are. */
static void describe_network(const struct bal_fault *fault, char *text, size_t size) {
    *text = 0;
    if (fault->kind > BAL_FAULT_LOSS)
        snprintf(text, size, " to %u, share %g, delay %g, bytes %u", fault->to, fault->share, fault->delay,
                 fault->bytes);
}

/* All that is started and all that happens to it. */
static const char *describe_setup(struct bal_reader *reader, const struct bal_experiment_policy *entry) {
    const struct bal_live *live = reader->e->live;
    char rest[8000];
    size_t used = (size_t)snprintf(rest, sizeof rest, "; timeout=%g; stations=%s%s%s%s%s", live->timeout,
                                   bal_stations_kinds[live->stations], live->apart ? ",apart" : "",
                                   live->keepers ? ",keepers" : "", live->burn ? ",burn" : "",
                                   live->urgent ? ",urgent" : "");
    if (live->hosts)
        used += (size_t)snprintf(rest + used, sizeof rest - used, "; hosts=%u%s", live->hosts,
                                 live->ipv6 ? ",ipv6" : "");
    for (size_t i = 0; i < live->faults && used < sizeof rest; i++) {
        char network[100];
        describe_network(&live->fault[i], network, sizeof network);
        used += (size_t)snprintf(rest + used, sizeof rest - used, "; %s of %u at %g for %g by %g%s",
                                 bal_fault_kinds[live->fault[i].kind], live->fault[i].of, live->fault[i].at,
                                 live->fault[i].lasts, live->fault[i].factor, network);
    }
    return concat_text(reader, proxy_word[entry->proxy], entry->text, rest);
}

/* Servers behind other proxies know of no classes, HAProxy lets requests wait itself, where there are several
 * each by its own count, and nginx's least_time goes by means of all servers: none of these is what the lab
 * would simulate. */
static bool has_twin(struct bal_reader *reader, const struct bal_experiment_policy *entry) {
    const int network = bal_node_get(reader->document, reader->root, "network");
    if (entry->proxy == BAL_PROXY_NGINX && strncmp(entry->text, "least_time", strlen("least_time")) == 0)
        return false;
    if (strstr(entry->text, " maxconn") && bal_node_get(reader->document, network, "dispatchers"))
        return false;
    const int workload = bal_node_get(reader->document, reader->root, "workload");
    return entry->proxy == BAL_PROXY_BALLAST || !(bal_node_get(reader->document, workload, "high") ||
                                                  bal_node_get(reader->document, workload, "classes"));
}

bool bal_live_pair(struct bal_reader *reader, struct bal_experiment_policy *entry, int index) {
    entry->real = describe_setup(reader, entry);
    entry->twin = -1;
    if (!has_twin(reader, entry))
        return false;
    entry->twin = index;
    entry[1] = (struct bal_experiment_policy){.label = concat_text(reader, "", entry->label, " (lab)"),
                                              .text = entry->text,
                                              .spec = entry->spec,
                                              .twin = -1};
    return true;
}

/* ---- what follows for the runs ---- */

enum bal_code bal_live_settings(struct bal_reader *reader, struct bal_draft *draft) {
    static const char *const said[] = {"jobs",      "time", "slots", "replications",
                                       "precision", "most", "window"};
    const int run = bal_node_get(reader->document, reader->root, "run");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const int node = bal_node_get(reader->document, run, said[i]);
        if (node)
            return bal_reader_fail(
                reader, node, said[i], BAL_E_MODEL,
                "`seconds` and `rounds` of `live` say how long and how often; leave it out");
    }
    const int live = bal_node_get(reader->document, reader->root, "live");
    draft->time = reader->e->live->seconds;
    draft->jobs = NAN;
    draft->c.replications = (unsigned)bal_reader_number(reader, live, "rounds", 5);
    draft->c.draws = draft->time <= LONG ? DRAWS : 1;
    if (isnan(draft->warmup)) /* from an empty fleet on, in the lab too */
        draft->warmup = draft->c.run.warmup = 0;
    return BAL_OK;
}

/* ---- what real processes can do ---- */

static const char *why_not_live(const struct bal_model *model) {
    const double mean = model->size.mean;
    if (model->clock != BAL_CLOCK_CONTINUOUS)
        return "real servers know no slotted time; leave out `clock`";
    if (model->tasks > 1)
        return "requests have one task each; leave out `tasks`";
    if (model->discipline == BAL_DISCIPLINE_SHARING)
        return "the servers here have slots; leave out `discipline: ps`";
    if (model->discipline == BAL_DISCIPLINE_LIFO)
        return "the servers here take requests in the order they come; leave out `discipline: lifo`";
    if (model->discipline == BAL_DISCIPLINE_PREEMPTIVE)
        return "a request that runs is never interrupted; use `discipline: nonpreemptive`";
    if (model->buffer > 0)
        return "a request that is turned away would be tried again; leave out `buffer`";
    if (model->backlog > 0)
        return "a dispatcher here holds what it must; leave out `backlog`";
    if (model->hold_limit.given)
        return "a dispatcher here refuses nothing; leave out `hold-limit`";
    if (bal_model_reports_renew(model))
        return "stations report by their own clocks; leave out `reports`";
    if (model->start.busy + model->start.setup + model->start.off > 0)
        return "a block begins with an idle fleet; leave out `start`";
    if (model->network.loss > 0 || model->network.churn.up > 0 || model->network.fail_fast.share > 0 ||
        model->network.events.count > 0)
        return "what goes wrong stands under `faults` of `live`; leave `loss`, `churn`, `fail-fast` and "
               "`events` out";
    if (model->network.dispatchers.unequal)
        return "each dispatcher gets as many requests as the others; give their number alone";
    if (model->network.slow_start > 0 || model->network.cold.factor > 0)
        return "stations know no slow start; leave `slow-start` and `cold` out";
    if (mean < 0.001 || mean > 1000)
        return "times are in seconds; the mean service time must be from 0.001 to 1000, such as exp(0.05)";
    return NULL;
}

static enum bal_code check_fault_targets(struct bal_reader *reader, const struct bal_model *model) {
    const struct bal_live *live = reader->e->live;
    const int list =
        bal_node_get(reader->document, bal_node_get(reader->document, reader->root, "live"), "faults");
    const unsigned dispatchers = model->network.dispatchers.count ? model->network.dispatchers.count : 1;
    const unsigned counts[] = {[BAL_FAULT_OF_NONE] = UINT32_MAX,
                               [BAL_FAULT_OF_DISPATCHER] = dispatchers,
                               [BAL_FAULT_OF_SERVER] = bal_servers_count(&model->servers),
                               [BAL_FAULT_OF_HOST] = live->hosts};
    static const char *const names[] = {"", "dispatchers", "servers", "hosts"};
    for (size_t i = 0; i < live->faults; i++) {
        const struct bal_fault *fault = &live->fault[i];
        const enum bal_fault_place place = bal_fault_traits[fault->kind].place;
        if (fault->of >= counts[place])
            return bal_reader_fail(reader, list, "faults", BAL_E_RANGE,
                                   "`of: %u`: there are %u %s, counted from 0", fault->of, counts[place],
                                   names[place]);
        if (fault->kind == BAL_FAULT_CUT && (fault->to >= live->hosts || fault->to == fault->of))
            return bal_reader_fail(reader, list, "faults", BAL_E_RANGE,
                                   "`to: %u`: it must be another of the %u hosts, counted from 0", fault->to,
                                   live->hosts);
    }
    return BAL_OK;
}

enum bal_code bal_live_check_point(struct bal_reader *reader, const struct bal_draft *draft, int policies,
                                   const char *at) {
    const struct bal_model *model = &draft->c.model;
    const struct bal_experiment *e = reader->e;
    const int workload = bal_node_get(reader->document, reader->root, "workload");
    const char *reason = why_not_live(model);
    if (reason)
        return bal_reader_fail(reader, workload, "live", BAL_E_MODEL, "%s%s", at, reason);
    const unsigned servers = bal_servers_count(&model->servers),
                   dispatchers = model->network.dispatchers.count;
    if (servers > SERVERS_MAX)
        return bal_reader_fail(reader, bal_node_get(reader->document, reader->root, "fleet"), "servers",
                               BAL_E_RANGE, "%s%u are too many: at most %d can be started on one machine", at,
                               servers, SERVERS_MAX);
    if (dispatchers > DISPATCHERS_MAX)
        return bal_reader_fail(reader, bal_node_get(reader->document, reader->root, "network"), "dispatchers",
                               BAL_E_RANGE, "%s%u are too many: at most %d can be started on one machine", at,
                               dispatchers, DISPATCHERS_MAX);
    for (size_t p = 0; p < e->policies; p++) {
        const struct bal_policy *policy = e->policy[p].spec.policy;
        if (policy->wants & BAL_WANTS_POWER && !e->live->keepers)
            return bal_reader_fail(reader, policies, "policies", BAL_E_MODEL,
                                   "'%.60s' switches servers off: add `keepers: yes` to `live`",
                                   e->policy[p].label);
        if (policy->flags & BAL_TAKES_RANKS && bal_model_classes(model) > CLASSES_TOLD_APART)
            return bal_reader_fail(reader, policies, "policies", BAL_E_MODEL,
                                   "'%.60s' can tell the first class from the others with up to %d classes, "
                                   "not with %u: there are eight urgencies",
                                   e->policy[p].label, CLASSES_TOLD_APART, bal_model_classes(model));
    }
    return check_fault_targets(reader, model);
}
