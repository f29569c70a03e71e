/* SPDX-License-Identifier: BSD-2-Clause */
/* What the servers of the lab report, for tests that compare it with what stations send. */
#include "lab_listener.h"

#include "ballast/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct bal_policy *inner;
static struct entry *history;
static size_t entries, room;
static uint32_t urgent_before[LISTENER_SERVERS];

static struct entry *note(const struct bal_fleet *fleet, enum what what, uint32_t server) {
    if (entries == room) {
        room = room ? 2 * room : 1024;
        history = realloc(history, room * sizeof *history);
        if (!history)
            abort();
    }
    struct entry *entry = &history[entries++];
    *entry = (struct entry){.what = what, .now = fleet->now, .server = server};
    memcpy(entry->length, fleet->length, sizeof entry->length);
    if (fleet->urgent)
        memcpy(entry->urgent, fleet->urgent, sizeof entry->urgent);
    return entry;
}

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    const size_t i = entries;
    note(fleet, ROUTE, BAL_NONE)->rank = job->rank;
    const struct bal_decision decision = inner->route(state, fleet, job, rng);
    history[i].server = decision.server;
    if (job->rank == 0 && decision.server < LISTENER_SERVERS)
        urgent_before[decision.server]++;
    return decision;
}

static void response(void *state, struct bal_fleet *fleet, uint32_t server, double time, bool failed) {
    struct entry *entry = note(fleet, RESPONSE, server);
    entry->took = time;
    entry->rank = fleet->urgent && fleet->urgent[server] == urgent_before[server];
    urgent_before[server] -= entry->rank == 0;
    if (inner->response)
        inner->response(state, fleet, server, time, failed);
}

static void report(void *state, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    note(fleet, REPORT, server)->report = what;
    inner->report(state, fleet, what, server, load);
}

bool listener_run(const struct bal_policy_spec *spec, bool classes, uint32_t slots) {
    struct bli_model model = {.load = 0.8, .classes = classes, .high = classes ? 0.4 : 0, .slots = slots};
    if (slots > 1 && classes)
        model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    struct bal_policy listener = *spec->policy;
    struct bal_policy_spec heard = *spec;
    struct bal_error err;
    inner = spec->policy;
    listener.route = route;
    listener.response = response;
    listener.report = inner->report ? report : NULL;
    listener.flags |= BAL_NEEDS_RESPONSES;
    heard.policy = &listener;
    entries = 0;
    memset(urgent_before, 0, sizeof urgent_before);
    if (bli_servers_parse("8", &model.servers, &err) || bli_dist_parse("exp", &model.size, &err))
        return false;
    const struct bli_run run = {.seed = LISTENER_SEED,
                                .time = LISTENER_JOBS / bli_model_arrival_rate(&model),
                                .warmup = NAN,
                                .engine = BLI_ENGINE_EVENT};
    enum bli_engine chosen;
    if (bli_simulate_check(&model, &heard, BLI_ENGINE_EVENT, &chosen, &err))
        return false;
    struct bli_trial trial = {0};
    return bli_simulate(&model, &heard, &run, &trial, &err) == BAL_OK;
}

size_t listener_entries(void) {
    return entries;
}

const struct entry *listener_entry(size_t i) {
    return &history[i];
}

void listener_forget(void) {
    free(history);
    history = NULL;
    entries = room = 0;
}
