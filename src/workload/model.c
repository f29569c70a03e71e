/* SPDX-License-Identifier: BSD-2-Clause */
/* The model: reading and writing fleets, checking that a model makes sense, arrival rates. */
#include "ballast/model.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *bli_clock_text(enum bli_clock clock) {
    return clock == BLI_CLOCK_SLOTTED ? "slotted" : "continuous";
}

static enum bal_code bad_servers(const char *text, struct bal_error *err, const char *why) {
    return bal_fail(
        err, BAL_E_RANGE,
        "servers '%.80s': %s; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10", text,
        why);
}

/* A distribution that can be a capacity: every value is at least 1, and there is a largest. */
static enum bal_code parse_capacity(const char *text, const char *piece, size_t length,
                                    struct bli_group *group, struct bal_error *err) {
    char dist[BLI_BATCH_TEXT];
    if (length >= sizeof dist)
        return bad_servers(text, err, "a capacity law is too long");
    memcpy(dist, piece, length);
    dist[length] = 0;
    struct bli_batch *capacity = &group->capacity;
    struct bal_error inner = {0};
    const enum bal_code code = bli_batch_parse(dist, capacity, &inner);
    if (code)
        return bal_fail(err, code, "servers '%.80s': %s", text, inner.text);
    if (capacity->low < 1 || capacity->high == UINT32_MAX)
        return bad_servers(text, err, "a capacity law must be bounded and at least 1, such as uniform(1,19)");
    group->speed = capacity->mean;
    if (capacity->low == capacity->high)
        *capacity = (struct bli_batch){0}; /* always the speed */
    return BAL_OK;
}

static enum bal_code parse_group(const char *text, const char *piece, size_t length, struct bli_group *group,
                                 struct bal_error *err) {
    const char *x = memchr(piece, 'x', length);
    const size_t count_length = x ? (size_t)(x - piece) : length;
    double count;
    if (!bli_number_parse(piece, count_length, &count) || count != floor(count) || count < 1 ||
        count > BLI_SERVERS_MAX)
        return bad_servers(text, err, "a count must be a whole number from 1 to 100M");
    *group = (struct bli_group){.count = (uint32_t)count, .speed = 1};
    if (!x)
        return BAL_OK;
    const size_t rest = length - count_length - 1;
    if (memchr(x, '(', rest + 1))
        return parse_capacity(text, x + 1, rest, group, err);
    if (!bli_number_parse(x + 1, rest, &group->speed) || !(group->speed >= 1e-9 && group->speed <= 1e9))
        return bad_servers(text, err, "a speed must be a number from 1e-9 to 1e9");
    return BAL_OK;
}

/* Up to the next comma that is not inside parentheses. */
static size_t group_length(const char *text) {
    size_t length = 0;
    for (int depth = 0; text[length] && (depth > 0 || text[length] != ','); length++)
        depth += (text[length] == '(') - (text[length] == ')');
    return length;
}

enum bal_code bli_servers_parse(const char *text, struct bli_servers *servers, struct bal_error *err) {
    struct bli_servers result = {0};
    uint64_t total = 0;
    for (const char *rest = text;;) {
        const size_t length = group_length(rest);
        if (result.groups == BLI_GROUPS_MAX)
            return bad_servers(text, err, "there are more than 32 groups");
        const enum bal_code code = parse_group(text, rest, length, &result.group[result.groups], err);
        if (code)
            return code;
        total += result.group[result.groups++].count;
        if (rest[length] == 0)
            break;
        rest += length + 1;
    }
    if (total > BLI_SERVERS_MAX)
        return bad_servers(text, err, "there are more than 100M servers in all");
    *servers = result;
    return BAL_OK;
}

size_t bli_servers_print(const struct bli_servers *servers, char *text, size_t size) {
    size_t length = 0;
    if (size)
        text[0] = 0;
    for (unsigned i = 0; i < servers->groups; i++) {
        const struct bli_group *group = &servers->group[i];
        char speed[BLI_BATCH_TEXT];
        if (group->capacity.kind == BLI_BATCH_NONE)
            bli_number_print(group->speed, speed);
        else
            bli_batch_print(&group->capacity, speed, sizeof speed);
        const bool plain = servers->groups == 1 && group->speed == 1;
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%u%s%s", i ? "," : "", group->count,
                                   plain ? "" : "x", plain ? "" : speed);
    }
    return length;
}

uint32_t bli_servers_count(const struct bli_servers *servers) {
    uint32_t count = 0;
    for (unsigned i = 0; i < servers->groups; i++)
        count += servers->group[i].count;
    return count;
}

double bli_servers_capacity(const struct bli_servers *servers) {
    double capacity = 0;
    for (unsigned i = 0; i < servers->groups; i++)
        capacity += servers->group[i].count * servers->group[i].speed;
    return capacity;
}

double bli_model_server_rate(const struct bli_model *model) {
    return bli_speeds_top(&model->speeds, model->slots == BLI_SLOTS_ALL ? 0 : model->slots);
}

double bli_model_capacity(const struct bli_model *model) {
    return bli_servers_capacity(&model->servers) * bli_model_server_rate(model);
}

double bli_model_arrival_rate(const struct bli_model *model) {
    const double work = model->load * bli_model_capacity(model);
    return model->clock == BLI_CLOCK_SLOTTED ? work : work / model->size.mean;
}

enum bal_code bli_model_batch(const struct bli_model *model, struct bli_batch *batch, struct bal_error *err) {
    *batch = model->batch;
    return batch->open ? bli_batch_set_mean(batch, bli_model_arrival_rate(model), err) : BAL_OK;
}

void bli_model_set_load(struct bli_model *model) {
    if (model->clock == BLI_CLOCK_SLOTTED && model->batch.kind != BLI_BATCH_NONE && !model->batch.open)
        model->load = model->batch.mean / bli_servers_capacity(&model->servers);
}

static enum bal_code check_capacities(const struct bli_servers *servers, struct bal_error *err) {
    for (unsigned i = 0; i < servers->groups; i++) {
        const double speed = servers->group[i].speed;
        const bool fixed = servers->group[i].capacity.kind == BLI_BATCH_NONE;
        if (fixed && !(speed >= 1 && speed <= BLI_BATCH_MAX && speed == floor(speed)))
            return bal_fail(
                err, BAL_E_MODEL,
                "a server that finishes %g jobs in every slot: it must be a whole number from 1 to %d, or a "
                "law such as uniform(1,19)",
                speed, BLI_BATCH_MAX);
    }
    return BAL_OK;
}

static bool starts_idle(const struct bli_start *start) {
    return start->busy == 0 && start->setup == 0 && start->off == 0;
}

static enum bal_code check_slotted(const struct bli_model *model, struct bal_error *err) {
    enum bal_code code = check_capacities(&model->servers, err);
    if (!code)
        code = bal_placement_check(&model->placement, bli_servers_count(&model->servers), err);
    if (code)
        return code;
    const bool generated = model->steal.kind != BAL_STEAL_NONE; /* jobs then come from generators */
    if (model->batch.kind == BLI_BATCH_NONE && !generated)
        return bal_fail(err, BAL_E_MODEL, "slotted time needs a batch law, such as poisson");
    if (model->classes || model->tasks > 1)
        return bal_fail(err, BAL_E_MODEL, "classes and jobs of several tasks need continuous time");
    if (model->hold_limit.given)
        return bal_fail(err, BAL_E_MODEL,
                        "a limit of the jobs that wait at a dispatcher (hold-limit) needs continuous time");
    if (!bli_model_is_steady(model))
        return bal_fail(err, BAL_E_MODEL,
                        "jobs that give up (patience) and servers that fail (failures) need continuous time");
    if (model->curve.kind != BLI_CURVE_CONSTANT || model->buffer > 0)
        return bal_fail(err, BAL_E_MODEL, "load curves and buffers need continuous time");
    if (model->start.setup > 0 || model->start.off > 0)
        return bal_fail(err, BAL_E_MODEL, "servers that start in set-up or off need continuous time");
    if (generated && !starts_idle(&model->start))
        return bal_fail(err, BAL_E_MODEL,
                        "policy 'stealing' starts with empty queues, as its paper does; leave the start out");
    if (model->arrivals.kind != BLI_ARRIVALS_POISSON)
        return bal_fail(
            err, BAL_E_MODEL,
            "arrivals other than poisson need continuous time; in slotted time a batch says how many "
            "jobs come");
    if (model->discipline == BLI_DISCIPLINE_SHARING || model->discipline == BLI_DISCIPLINE_LIFO)
        return bal_fail(err, BAL_E_MODEL, "discipline '%s' needs continuous time",
                        bli_discipline_text(model->discipline));
    if (model->discipline > BLI_DISCIPLINE_FIFO)
        return bal_fail(err, BAL_E_MODEL, "discipline '%s' needs continuous time and two classes of jobs",
                        bli_discipline_text(model->discipline));
    if (model->standby.mean > 0 || model->setup.mean > 0)
        return bal_fail(err, BAL_E_MODEL,
                        "standby and set-up times need continuous time: in slotted time "
                        "servers are always on");
    if (model->backlog > 0 || bli_model_reports_renew(model))
        return bal_fail(err, BAL_E_MODEL, "%s continuous time",
                        model->backlog > 0 ? "a dispatcher that holds jobs (backlog) needs"
                                           : "reports at a rate need");
    if (bli_speeds_given(&model->speeds) || model->slots == BLI_SLOTS_ALL)
        return bal_fail(err, BAL_E_MODEL,
                        "servers whose speed depends on the jobs in service (speeds) need continuous time");
    if (model->slots > 1)
        return bal_fail(err, BAL_E_MODEL,
                        "servers that work on %u jobs at once need continuous time; in slotted time give "
                        "them a capacity, as in 100x%u",
                        model->slots, model->slots);
    if (!bli_network_is_near(&model->network))
        return bal_fail(err, BAL_E_MODEL,
                        "events, delays, losses, heartbeats and servers that fail need continuous time; in "
                        "slotted time there can be several dispatchers");
    struct bli_batch batch;
    if (model->batch.kind == BLI_BATCH_NONE)
        return BAL_OK;
    if (model->batch.open)
        return bli_model_batch(model, &batch, err);
    const double rate = bli_model_arrival_rate(model);
    if (fabs(model->batch.mean - rate) > 1e-9 * rate) {
        char dist[BLI_BATCH_TEXT];
        bli_batch_print(&model->batch, dist, sizeof dist);
        return bal_fail(
            err, BAL_E_MODEL,
            "batch '%.80s' makes a load of %g, not %g; leave the load out or the mean open, as in poisson",
            dist, model->batch.mean / bli_servers_capacity(&model->servers), model->load);
    }
    return BAL_OK;
}

static enum bal_code check_power(const struct bli_model *model, struct bal_error *err) {
    const double watts[] = {model->watts.busy, model->watts.idle, model->watts.setup, model->watts.off};
    for (int i = 0; i < 4; i++)
        if (!(watts[i] >= 0 && isfinite(watts[i])))
            return bal_fail(err, BAL_E_RANGE, "%g watts; they must be 0 or more", watts[i]);
    if (!(bli_watts_of(&model->watts).busy > 0))
        return bal_fail(err, BAL_E_RANGE, "a busy server draws 0 watts; it must draw more than that");
    const struct bli_start *start = &model->start;
    if (!(start->busy >= 0 && start->setup >= 0 && start->off >= 0 &&
          start->busy + start->setup + start->off <= 1 + 1e-12))
        return bal_fail(err, BAL_E_RANGE,
                        "the start has fractions %g busy, %g in set-up and %g off; they must not be negative "
                        "and sum to at "
                        "most 1",
                        start->busy, start->setup, start->off);
    if (model->buffer > 0 && start->busy > 0 && bli_start_jobs(start) > model->buffer)
        return bal_fail(err, BAL_E_RANGE,
                        "the start has %u jobs at each busy server; with buffers of %u it must be at most %u",
                        bli_start_jobs(start), model->buffer, model->buffer);
    if (!isfinite(model->standby.mean) || !isfinite(model->setup.mean))
        return bal_fail(err, BAL_E_MODEL, "a standby or set-up time of infinite mean; it must be finite");
    return BAL_OK;
}

#define CHANGES_MAX 1000 /* of state for each job: drawing them takes time */

static enum bal_code check_arrivals(const struct bli_model *model, struct bal_error *err) {
    if (model->curve.kind != BLI_CURVE_CONSTANT && model->arrivals.kind == BLI_ARRIVALS_RENEWAL)
        return bal_fail(err, BAL_E_MODEL,
                        "renewal arrivals have no rate that a load curve could change; use mmpp, batch or "
                        "poisson with it");
    const double changes =
        bli_arrivals_changes(&model->arrivals) / bli_model_arrival_rate(model) * fmax(model->tasks, 1);
    if (changes > CHANGES_MAX)
        return bal_fail(
            err, BAL_E_MODEL,
            "the mmpp changes its state %.3g times for each job, so that its rate is the mean; it may "
            "do so %d times: give longer times",
            changes, CHANGES_MAX);
    return BAL_OK;
}

/* Speeds say nothing where one job is served at a time, and all jobs at once without them would be without
 * limit. */
static enum bal_code check_speeds(const struct bli_model *model, struct bal_error *err) {
    char text[200];
    bli_speeds_print(&model->speeds, text, sizeof text);
    if (!bli_speeds_given(&model->speeds))
        return model->slots == BLI_SLOTS_ALL
                   ? bal_fail(err, BAL_E_MODEL,
                              "a server with slots all needs speeds, such as cores(4): otherwise it could do "
                              "any amount of work at once")
                   : BAL_OK;
    if (model->slots <= 1)
        return bal_fail(
            err, BAL_E_MODEL,
            "speeds %s have no effect on a server that works on one job at a time; say with slots "
            "how many it works on at once, such as 16, or all",
            text);
    const enum bli_discipline how = model->discipline;
    if (how == BLI_DISCIPLINE_AUTO || how == BLI_DISCIPLINE_FIFO || how == BLI_DISCIPLINE_NONPREEMPTIVE)
        return BAL_OK;
    return bal_fail(err, BAL_E_MODEL,
                    "speeds %s cannot be had with discipline %s, only with fifo and nonpreemptive; leave out "
                    "one of them",
                    text, bli_discipline_text(how));
}

static enum bal_code check_continuous(const struct bli_model *model, struct bal_error *err) {
    if (model->placement.kind != BAL_PLACEMENT_EVEN)
        return bal_fail(err, BAL_E_MODEL, "generators of jobs and their placement need slotted time");
    for (unsigned i = 0; i < model->servers.groups; i++)
        if (model->servers.group[i].capacity.kind != BLI_BATCH_NONE)
            return bal_fail(err, BAL_E_MODEL, "random capacities need slotted time; give servers a speed");
    if (!(model->size.mean > 0) || !isfinite(model->size.mean)) {
        char dist[200];
        bli_dist_print(&model->size, dist, sizeof dist);
        return bal_fail(err, BAL_E_MODEL,
                        "service '%s' has mean %g; a load needs a mean that is finite and above 0", dist,
                        model->size.mean);
    }
    const uint32_t each = model->slots == BLI_SLOTS_ALL ? 1 : model->slots;
    const double slots = (double)bli_servers_count(&model->servers) * fmax(each, 1);
    if (slots > BLI_SLOTS_MAX)
        return bal_fail(err, BAL_E_RANGE, "%u servers of %u slots are %g slots; there can be %g",
                        bli_servers_count(&model->servers), model->slots, slots, (double)BLI_SLOTS_MAX);
    if (model->classes && !(model->high >= 0 && model->high <= 1))
        return bal_fail(err, BAL_E_RANGE, "the share of the high class is %g; it must be from 0 to 1",
                        model->high);
    const bool lifo = model->discipline == BLI_DISCIPLINE_LIFO;
    const bool one_class = lifo || model->discipline == BLI_DISCIPLINE_SHARING;
    if (model->classes && one_class)
        return bal_fail(err, BAL_E_MODEL,
                        "servers %s know one class of jobs; leave out the classes or the discipline",
                        lifo ? "that serve the last job first (discipline lifo)"
                             : "that share themselves (discipline ps)");
    if (!model->classes && model->discipline > BLI_DISCIPLINE_FIFO && !one_class)
        return bal_fail(err, BAL_E_MODEL,
                        "discipline '%s' needs two classes of jobs; say which share of them is high",
                        bli_discipline_text(model->discipline));
    if (!isfinite(model->patience.mean))
        return bal_fail(err, BAL_E_MODEL, "a patience of infinite mean is none; leave it out");
    if (!isfinite(model->reports.mean))
        return bal_fail(err, BAL_E_MODEL,
                        "reports by a law of infinite mean have no rate; its mean must be finite");
    enum bal_code code = check_speeds(model, err);
    if (!code)
        code = check_arrivals(model, err);
    return code ? code : check_power(model, err);
}

enum bal_code bli_model_check(const struct bli_model *model, struct bal_error *err) {
    if (model->servers.groups == 0)
        return bal_fail(err, BAL_E_MODEL, "no servers are given; there must be at least 1");
    if (!(model->load > 0) || !isfinite(model->load))
        return bal_fail(err, BAL_E_RANGE, "load %g is not a number above 0", model->load);
    if (model->others && bli_servers_count(&model->servers) == 1)
        return bal_fail(err, BAL_E_MODEL, "the victim is one of the others, but there is only 1 server");
    return model->clock == BLI_CLOCK_SLOTTED ? check_slotted(model, err) : check_continuous(model, err);
}

const char *bli_weights_text(enum bli_weights weights) {
    return weights == BLI_WEIGHTS_NONE ? "none" : "speeds";
}

bool bli_model_is_weighted(const struct bli_model *model) {
    const struct bli_servers *servers = &model->servers;
    bool equal = true;
    for (unsigned g = 1; g < servers->groups; g++)
        equal &= servers->group[g].speed == servers->group[0].speed;
    return model->weights == BLI_WEIGHTS_SPEEDS && model->clock == BLI_CLOCK_CONTINUOUS && !equal;
}

const char *bli_discipline_text(enum bli_discipline discipline) {
    static const char *const names[] = {"auto", "fifo", "preemptive", "nonpreemptive", "ps", "lifo"};
    return names[discipline];
}

enum bli_discipline bli_model_discipline(const struct bli_model *model, bool serves_ranks) {
    if (!model->classes)
        return BLI_DISCIPLINE_FIFO;
    if (model->discipline != BLI_DISCIPLINE_AUTO)
        return model->discipline;
    return serves_ranks ? BLI_DISCIPLINE_PREEMPTIVE : BLI_DISCIPLINE_FIFO;
}
