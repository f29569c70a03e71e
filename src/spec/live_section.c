/* SPDX-License-Identifier: BSD-2-Clause */
/* The section `live` of experiment files: how policies are measured on real processes, and whether they can
 * be. */
#include "spec/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS_MAX = 200, DISPATCHERS_MAX = 128, FAULTS_MAX = 50, CLASSES_TOLD_APART = 6 };

/* A block of real processes is one draw of what policies draw; its prediction need not be. So many times it
 * is simulated, unless it is long, and then hardly varies. */
enum { DRAWS = 16, LONG = 600 };

static int by_time(const void *a, const void *b) {
    const struct bli_fault *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->line > y->line) - (x->line < y->line);
}

static enum bal_code check_fault(struct bli_reader *reader, int map, const struct bli_live *live,
                                 const struct bli_fault *fault) {
    const struct bli_fault_trait *trait = &bli_fault_traits[fault->kind];
    if (trait->place == BLI_FAULT_OF_SERVER && trait->needs_stations && fault->kind != BLI_FAULT_KEEPER &&
        !live->apart)
        return bli_reader_fail(reader, map, "faults", BAL_E_MODEL,
                               "it would happen to all stations at once; add `apart: yes` to `live`");
    if (fault->kind == BLI_FAULT_KEEPER && !live->keepers)
        return bli_reader_fail(reader, map, "faults", BAL_E_MODEL,
                               "there are no keepers; add `keepers: yes` to `live`");
    if (trait->needs_hosts && !live->hosts)
        return bli_reader_fail(reader, map, "faults", BAL_E_MODEL,
                               "all is on loopback; add `hosts: 2` or more to `live`");
    if (fault->kind == BLI_FAULT_MTU && live->ipv6 && fault->bytes < 1280)
        return bli_reader_fail(reader, map, "faults", BAL_E_RANGE, "IPv6 needs an MTU of 1280 or more");
    return BAL_OK;
}

static enum bal_code read_fault(struct bli_reader *reader, int map, const struct bli_live *live,
                                struct bli_fault *fault) {
    *fault = (struct bli_fault){
        .kind = (enum bli_fault_kind)bli_reader_choice(reader, map, "fault", bli_fault_kinds, 0),
        .at = bli_reader_number(reader, map, "at", 0),
        .of = (unsigned)bli_reader_number(reader, map, "of", 0),
        .to = (unsigned)bli_reader_number(reader, map, "to", 0),
        .factor = bli_reader_number(reader, map, "factor", 5),
        .share = bli_reader_number(reader, map, "share", 1),
        .delay = bli_reader_number(reader, map, "delay", 0.02),
        .bytes = (unsigned)bli_reader_number(reader, map, "bytes", 1280),
        .line = bli_node_line(reader->document, map)};
    fault->lasts = bli_fault_traits[fault->kind].ends ? bli_reader_number(reader, map, "for", 1) : 0;
    if (fault->at + fault->lasts > live->seconds)
        return bli_reader_fail(reader, map, "faults", BAL_E_RANGE,
                               "it ends %g s from the beginning of a block, which has %g (`seconds`)",
                               fault->at + fault->lasts, live->seconds);
    return check_fault(reader, map, live, fault);
}

static enum bal_code read_faults(struct bli_reader *reader, int map, struct bli_live *live) {
    const int node = bli_node_get(reader->document, map, "faults");
    live->faults = bli_reader_count(reader, node);
    if (live->faults > FAULTS_MAX)
        return bli_reader_fail(reader, node, "faults", BAL_E_RANGE, "there are %zu; at most %d are possible",
                               live->faults, FAULTS_MAX);
    struct bli_fault *faults = bli_reader_take(reader, live->faults, sizeof *faults);
    if (!faults)
        return BAL_E_MEMORY;
    live->fault = faults;
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < live->faults; i++)
        code = read_fault(reader, bli_reader_item(reader, node, i), live, &faults[i]);
    if (!code && live->faults > 1)
        qsort(faults, live->faults, sizeof *faults, by_time);
    return code;
}

enum bal_code bli_read_live(struct bli_reader *reader) {
    const int map = bli_node_get(reader->document, reader->root, "live");
    struct bli_live *live = bli_reader_take(reader, 1, sizeof *live);
    if (!live)
        return BAL_E_MEMORY;
    reader->e->live = live;
    live->seconds = bli_reader_number(reader, map, "seconds", 5);
    live->timeout = bli_reader_number(reader, map, "timeout", 60);
    live->stations =
        (enum bli_stations)bli_reader_choice(reader, map, "stations", bli_stations_kinds, BLI_STATIONS_AUTO);
    live->apart = bli_reader_flag(reader, map, "apart", false);
    live->keepers = bli_reader_flag(reader, map, "keepers", false);
    live->burn = bli_reader_flag(reader, map, "burn", false);
    live->hosts = (unsigned)bli_reader_number(reader, map, "hosts", 0);
    live->ipv6 = bli_reader_flag(reader, map, "ipv6", false);
    live->urgent = bli_reader_flag(reader, map, "urgent", true);
    if (live->ipv6 && !live->hosts)
        return bli_reader_fail(reader, bli_node_get(reader->document, map, "ipv6"), "ipv6", BAL_E_MODEL,
                               "all is on loopback; add `hosts: 2` or more to `live`");
    if (live->keepers && live->stations == BLI_STATIONS_NO)
        return bli_reader_fail(reader, bli_node_get(reader->document, map, "keepers"), "keepers", BAL_E_MODEL,
                               "keepers work for stations; leave out `stations: no`");
    return read_faults(reader, map, live);
}

/* ---- what is measured, and its prediction ---- */

static const char *concat_text(struct bli_reader *reader, const char *before, const char *text,
                               const char *after) {
    char *all = bli_arena_take(reader->arena, strlen(before) + strlen(text) + strlen(after) + 1, 1);
    if (!all)
        return "";
    strcpy(all, before);
    strcat(all, text);
    return strcat(all, after);
}

static const char *const proxy_word[] = {"", "nginx ", "haproxy "};

const char *bli_live_label(struct bli_reader *reader, const struct bli_experiment_policy *entry) {
    return concat_text(reader, proxy_word[entry->proxy], entry->text, "");
}

/* What a fault has beyond a kind, a time and a number; nothing for the first kinds that there were, so that
 * trials that are stored stay what they are. */
static void describe_network(const struct bli_fault *fault, char *text, size_t size) {
    *text = 0;
    if (fault->kind > BLI_FAULT_LOSS)
        snprintf(text, size, " to %u, share %g, delay %g, bytes %u", fault->to, fault->share, fault->delay,
                 fault->bytes);
}

/* All that is started and all that happens to it. */
static const char *describe_setup(struct bli_reader *reader, const struct bli_experiment_policy *entry) {
    const struct bli_live *live = reader->e->live;
    char rest[8000];
    size_t used = (size_t)snprintf(rest, sizeof rest, "; timeout=%g; stations=%s%s%s%s%s", live->timeout,
                                   bli_stations_kinds[live->stations], live->apart ? ",apart" : "",
                                   live->keepers ? ",keepers" : "", live->burn ? ",burn" : "",
                                   live->urgent ? ",urgent" : "");
    if (live->hosts)
        used += (size_t)snprintf(rest + used, sizeof rest - used, "; hosts=%u%s", live->hosts,
                                 live->ipv6 ? ",ipv6" : "");
    for (size_t i = 0; i < live->faults && used < sizeof rest; i++) {
        char network[100];
        describe_network(&live->fault[i], network, sizeof network);
        used += (size_t)snprintf(rest + used, sizeof rest - used, "; %s of %u at %g for %g by %g%s",
                                 bli_fault_kinds[live->fault[i].kind], live->fault[i].of, live->fault[i].at,
                                 live->fault[i].lasts, live->fault[i].factor, network);
    }
    return concat_text(reader, proxy_word[entry->proxy], entry->text, rest);
}

/* Servers behind other proxies know of no classes, HAProxy lets requests wait itself, where there are several
 * each by its own count, and nginx's least_time goes by means of all servers: none of these is what the lab
 * would simulate. */
static bool has_twin(struct bli_reader *reader, const struct bli_experiment_policy *entry) {
    const int network = bli_node_get(reader->document, reader->root, "network");
    if (entry->proxy == BLI_PROXY_NGINX && strncmp(entry->text, "least_time", strlen("least_time")) == 0)
        return false;
    if (strstr(entry->text, " maxconn") && bli_node_get(reader->document, network, "dispatchers"))
        return false;
    const int workload = bli_node_get(reader->document, reader->root, "workload");
    return entry->proxy == BLI_PROXY_BALLAST || !(bli_node_get(reader->document, workload, "high") ||
                                                  bli_node_get(reader->document, workload, "classes"));
}

bool bli_live_pair(struct bli_reader *reader, struct bli_experiment_policy *entry, int index) {
    entry->real = describe_setup(reader, entry);
    entry->twin = -1;
    if (!has_twin(reader, entry))
        return false;
    entry->twin = index;
    entry[1] = (struct bli_experiment_policy){.label = concat_text(reader, "", entry->label, " (lab)"),
                                              .text = entry->text,
                                              .spec = entry->spec,
                                              .twin = -1};
    return true;
}

/* ---- what follows for the runs ---- */

enum bal_code bli_live_settings(struct bli_reader *reader, struct bli_draft *draft) {
    static const char *const said[] = {"jobs",      "time", "slots", "replications",
                                       "precision", "most", "window"};
    const int run = bli_node_get(reader->document, reader->root, "run");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const int node = bli_node_get(reader->document, run, said[i]);
        if (node)
            return bli_reader_fail(
                reader, node, said[i], BAL_E_MODEL,
                "`seconds` and `rounds` of `live` say how long and how often; leave it out");
    }
    const int live = bli_node_get(reader->document, reader->root, "live");
    draft->time = reader->e->live->seconds;
    draft->jobs = NAN;
    draft->c.replications = (unsigned)bli_reader_number(reader, live, "rounds", 5);
    draft->c.draws = draft->time <= LONG ? DRAWS : 1;
    if (isnan(draft->warmup)) /* from an empty fleet on, in the lab too */
        draft->warmup = draft->c.run.warmup = 0;
    return BAL_OK;
}

/* ---- what real processes can do ---- */

static const char *why_not_live(const struct bli_model *model) {
    const double mean = model->size.mean;
    if (model->clock != BLI_CLOCK_CONTINUOUS)
        return "real servers know no slotted time; leave out `clock`";
    if (model->tasks > 1)
        return "requests have one task each; leave out `tasks`";
    if (model->discipline == BLI_DISCIPLINE_SHARING)
        return "the servers here have slots; leave out `discipline: ps`";
    if (model->discipline == BLI_DISCIPLINE_LIFO)
        return "the servers here take requests in the order they come; leave out `discipline: lifo`";
    if (model->discipline == BLI_DISCIPLINE_PREEMPTIVE)
        return "a request that runs is never interrupted; use `discipline: nonpreemptive`";
    if (model->buffer > 0)
        return "a request that is turned away would be tried again; leave out `buffer`";
    if (model->backlog > 0)
        return "a dispatcher here holds what it must; leave out `backlog`";
    if (model->hold_limit.given)
        return "a dispatcher here refuses nothing; leave out `hold-limit`";
    if (bli_model_reports_renew(model))
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

static enum bal_code check_fault_targets(struct bli_reader *reader, const struct bli_model *model) {
    const struct bli_live *live = reader->e->live;
    const int list =
        bli_node_get(reader->document, bli_node_get(reader->document, reader->root, "live"), "faults");
    const unsigned dispatchers = model->network.dispatchers.count ? model->network.dispatchers.count : 1;
    const unsigned counts[] = {[BLI_FAULT_OF_NONE] = UINT32_MAX,
                               [BLI_FAULT_OF_DISPATCHER] = dispatchers,
                               [BLI_FAULT_OF_SERVER] = bli_servers_count(&model->servers),
                               [BLI_FAULT_OF_HOST] = live->hosts};
    static const char *const names[] = {"", "dispatchers", "servers", "hosts"};
    for (size_t i = 0; i < live->faults; i++) {
        const struct bli_fault *fault = &live->fault[i];
        const enum bli_fault_place place = bli_fault_traits[fault->kind].place;
        if (fault->of >= counts[place])
            return bli_reader_fail(reader, list, "faults", BAL_E_RANGE,
                                   "`of: %u`: there are %u %s, counted from 0", fault->of, counts[place],
                                   names[place]);
        if (fault->kind == BLI_FAULT_CUT && (fault->to >= live->hosts || fault->to == fault->of))
            return bli_reader_fail(reader, list, "faults", BAL_E_RANGE,
                                   "`to: %u`: it must be another of the %u hosts, counted from 0", fault->to,
                                   live->hosts);
    }
    return BAL_OK;
}

enum bal_code bli_live_check_point(struct bli_reader *reader, const struct bli_draft *draft, int policies,
                                   const char *at) {
    const struct bli_model *model = &draft->c.model;
    const struct bli_experiment *e = reader->e;
    const int workload = bli_node_get(reader->document, reader->root, "workload");
    const char *reason = why_not_live(model);
    if (reason)
        return bli_reader_fail(reader, workload, "live", BAL_E_MODEL, "%s%s", at, reason);
    const unsigned servers = bli_servers_count(&model->servers),
                   dispatchers = model->network.dispatchers.count;
    if (servers > SERVERS_MAX)
        return bli_reader_fail(reader, bli_node_get(reader->document, reader->root, "fleet"), "servers",
                               BAL_E_RANGE, "%s%u are too many: at most %d can be started on one machine", at,
                               servers, SERVERS_MAX);
    if (dispatchers > DISPATCHERS_MAX)
        return bli_reader_fail(reader, bli_node_get(reader->document, reader->root, "network"), "dispatchers",
                               BAL_E_RANGE, "%s%u are too many: at most %d can be started on one machine", at,
                               dispatchers, DISPATCHERS_MAX);
    for (size_t p = 0; p < e->policies; p++) {
        const struct bal_policy *policy = e->policy[p].spec.policy;
        if (policy->wants & BAL_WANTS_POWER && !e->live->keepers)
            return bli_reader_fail(reader, policies, "policies", BAL_E_MODEL,
                                   "'%.60s' switches servers off: add `keepers: yes` to `live`",
                                   e->policy[p].label);
        if (policy->flags & BAL_TAKES_RANKS && bli_model_classes(model) > CLASSES_TOLD_APART)
            return bli_reader_fail(reader, policies, "policies", BAL_E_MODEL,
                                   "'%.60s' can tell the first class from the others with up to %d classes, "
                                   "not with %u: there are eight urgencies",
                                   e->policy[p].label, CLASSES_TOLD_APART, bli_model_classes(model));
    }
    return check_fault_targets(reader, model);
}
