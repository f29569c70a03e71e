/* SPDX-License-Identifier: BSD-2-Clause */
/* What must hold when all faults of a cycle are over. */
#include "chaos.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double slowest = 3;   /* times the normal mean */
static const double longest = 0.5; /* seconds that a server may be idle while a request waits: five heartbeats
                                    */

__attribute__((format(printf, 2, 3))) static void blame(struct chaos_verdict *verdict, const char *format,
                                                        ...) {
    const size_t used = strlen(verdict->text);
    va_list args;
    if (used + 4 >= sizeof verdict->text)
        return;
    if (used)
        strcat(verdict->text, "; ");
    va_start(args, format);
    vsnprintf(verdict->text + strlen(verdict->text), sizeof verdict->text - strlen(verdict->text), format,
              args);
    va_end(args);
}

/* A part of the requests: those sent between two times, to one dispatcher or to all (-1). */
struct part {
    double from, to;
    int front;
};

static bool is_in(const struct part *part, const struct rig_request_outcome *outcome) {
    return outcome->time >= part->from && outcome->time < part->to &&
           (part->front < 0 || outcome->front == (unsigned)part->front);
}

static double mean_of(const struct rig_block *block, const struct part *part) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < block->outcomes; i++)
        if (is_in(part, &block->outcome[i])) {
            sum += block->outcome[i].ended - block->outcome[i].time;
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

/* Of those that were answered before a time. */
static double mean_before(const struct rig_block *block, double time) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < block->outcomes; i++)
        if (block->outcome[i].ended < time) {
            sum += block->outcome[i].ended - block->outcome[i].time;
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

static void check_answers(const struct rig_block *block, const struct part *part,
                          struct chaos_verdict *verdict) {
    unsigned lost = 0, twice = 0;
    for (size_t i = 0; i < block->outcomes; i++)
        if (is_in(part, &block->outcome[i])) {
            verdict->judged++;
            verdict->worst = fmax(verdict->worst, block->outcome[i].ended - block->outcome[i].time);
            lost += !block->outcome[i].good;
            twice += block->outcome[i].served > 1;
        }
    if (lost)
        blame(verdict, "%u of %u requests not answered", lost, verdict->judged);
    if (twice)
        blame(verdict, "%u answered by two servers", twice);
    if (!verdict->judged)
        blame(verdict, "no requests");
}

/* ---- work conservation ---- */

/* From when on a server had nothing to do for so long, between two times; NaN: it never had. */
static double find_gap(const struct rig_block *block, unsigned server, double from, double to) {
    double free_from = from, next;
    do { /* from the end of one visit to the next one that covers it */
        next = to;
        bool busy = false;
        for (size_t i = 0; i < block->visits; i++) {
            const struct rig_visit *visit = &block->visit[i];
            if (visit->server != server || visit->to <= free_from)
                continue;
            if (visit->from <= free_from) {
                free_from = visit->to;
                busy = true;
                break;
            }
            next = fmin(next, visit->from);
        }
        if (!busy && next - free_from >= longest)
            return free_from;
        if (!busy)
            free_from = next;
    } while (free_from < to);
    return NAN;
}

/* When each request came to a server first. */
static double *find_begun(const struct rig_block *block) {
    double *begun = malloc((block->outcomes + 1) * sizeof *begun);
    for (size_t i = 0; begun && i < block->outcomes; i++)
        begun[i] = INFINITY;
    for (size_t i = 0; begun && i < block->visits; i++) {
        const struct rig_visit *visit = &block->visit[i];
        if (visit->number < block->outcomes)
            begun[visit->number] = fmin(begun[visit->number], visit->from);
    }
    return begun;
}

/* No server is idle for long while a request waits. */
static void check_idle(const struct rig_block *block, const struct part *part,
                       struct chaos_verdict *verdict) {
    double *begun = find_begun(block), gap = NAN;
    for (size_t i = 0; begun && isnan(gap) && i < block->outcomes; i++) {
        const struct rig_request_outcome *outcome = &block->outcome[i];
        const double until = fmin(begun[i], outcome->ended);
        if (!is_in(part, outcome) || outcome->resent || until - outcome->time < longest)
            continue;
        for (unsigned k = 0; isnan(gap) && k < block->rig->servers; k++) {
            gap = find_gap(block, k, outcome->time, until);
            if (!isnan(gap))
                blame(verdict, "server %u idle from %.2f s on while a request waits at dispatcher %u", k, gap,
                      outcome->front);
        }
    }
    free(begun);
}

/* ---- counts ---- */

static double sum_of(const char *text, const char *name) {
    double sum = 0;
    for (const char *at = text; (at = strstr(at, name));) {
        at += strlen(name);
        at += strspn(at, "[ ");
        sum += strtod(at, NULL);
    }
    return sum;
}

/* All that one process counts as being there; NaN: it does not answer. */
static double count_at(const struct rig_block *block, unsigned host, uint16_t port,
                       const char *const *names) {
    char *text = bli_rig_get(block->rig, host, port, "/ballast", NULL);
    double sum = text ? 0 : NAN;
    for (; text && *names; names++)
        sum += sum_of(text, *names);
    free(text);
    return sum;
}

/* They may take a moment: clients that have gone are noticed by what is sent to them. */
static void await_rest(const struct rig_block *block, unsigned host, uint16_t port, const char *const *names,
                       const char *who, unsigned number, struct chaos_verdict *verdict) {
    double count = NAN;
    for (int i = 0; i < 100 && count != 0; i++) {
        if (i > 0)
            bli_pause(0.1);
        count = count_at(block, host, port, names);
    }
    if (count != 0)
        blame(verdict, "%s %u counts %g requests at rest", who, number, count);
}

static void check_counts(const struct rig_block *block, struct chaos_verdict *verdict) {
    static const char *const of_front[] = {"\"in_flight\":", "\"held\":[", NULL}, *const of_station[] = {
                                                                                      "\"running\":",
                                                                                      "\"waiting\":", NULL};
    const struct rig *rig = block->rig;
    if (rig->entry->proxy != BLI_PROXY_BALLAST)
        return;
    for (unsigned i = 0; i < rig->dispatchers; i++)
        await_rest(block, rig->front_host[i], bli_rig_front_port(rig, i), of_front, "dispatcher", i, verdict);
    for (unsigned i = 0; i < bli_rig_stations(rig); i++)
        await_rest(block, bli_rig_station_host(rig, i), bli_rig_station_port(rig, i), of_station, "station",
                   i, verdict);
}

/* Two requests at a server of one slot, and for how long. */
static void check_slots(const struct rig_block *block, const struct part *part,
                        struct chaos_verdict *verdict) {
    double longest_pair = 0, at = 0;
    for (size_t i = 0; block->rig->stations && i < block->visits; i++)
        for (size_t k = i + 1; k < block->visits; k++) {
            const struct rig_visit *a = &block->visit[i], *b = &block->visit[k];
            const double from = fmax(fmax(a->from, b->from), part->from), both = fmin(a->to, b->to) - from;
            if (a->server == b->server && both > longest_pair) {
                longest_pair = both;
                at = from;
            }
        }
    if (longest_pair > 0)
        blame(verdict, "two requests at a server of one slot for %.1f ms at %.2f s", 1e3 * longest_pair, at);
}

/* ---- all ---- */

/* The mean of the quiet seconds, but no less than a time of service, and no more than two: where it was more,
 * the machine was busy with something else, and that excuses nothing. */
static double normal_mean(const struct rig_block *block) {
    const double service = block->rig->c.model.size.mean;
    return fmin(fmax(mean_before(block, CHAOS_QUIET), service), 2 * service);
}

void chaos_check(const struct rig_block *block, bool holds, struct chaos_verdict *verdict) {
    const double end = block->rig->live->seconds;
    const struct part judged = {end - CHAOS_JUDGED, INFINITY, -1};
    const double normal = normal_mean(block);
    *verdict = (struct chaos_verdict){.normal = normal, .mean = mean_of(block, &judged)};
    check_answers(block, &judged, verdict);
    if (!(verdict->mean < slowest * normal))
        blame(verdict, "mean %.0f ms, normally %.0f", 1e3 * verdict->mean, 1e3 * normal);
    if (holds)
        check_idle(block, &judged, verdict);
    check_slots(block, &judged, verdict);
    check_counts(block, verdict);
}

/* ---- the dispatcher that dies while it holds ---- */

/* Seconds that a request spent at servers, whether or not they answered. */
static double *find_served(const struct rig_block *block) {
    double *served = calloc(block->outcomes + 1, sizeof *served);
    for (size_t i = 0; served && i < block->visits; i++)
        if (block->visit[i].number < block->outcomes)
            served[block->visit[i].number] += block->visit[i].to - block->visit[i].from;
    return served;
}

/* Did the first dispatcher hold requests when it was killed? They came to no server and were lost. */
static void check_held(const struct rig_block *block, const double *served, struct chaos_verdict *verdict) {
    unsigned held = 0;
    for (size_t i = 0; i < block->outcomes; i++) {
        const struct rig_request_outcome *outcome = &block->outcome[i];
        held += outcome->front == 0 && outcome->time < TRIAL_KILL && !outcome->good && served[i] == 0;
    }
    if (!held)
        blame(verdict, "the dispatcher that was killed held nothing");
}

/* Response times of the requests of each half second, over the times that the same requests spent at servers:
 * at load 0.3 no one waits, however long the machine takes. */
static void check_ratio(const struct rig_block *block, const double *served, struct chaos_verdict *verdict) {
    for (double from = TRIAL_KILL + TRIAL_RECOVERS; from < TRIAL_SECONDS; from += 0.5) {
        const struct part part = {from, from + 0.5, 1};
        double response = 0, service = 0;
        for (size_t i = 0; i < block->outcomes; i++)
            if (is_in(&part, &block->outcome[i])) {
                response += block->outcome[i].ended - block->outcome[i].time;
                service += served[i];
            }
        verdict->worst_ratio = fmax(verdict->worst_ratio, service > 0 ? response / service : INFINITY);
        if (!(response < 1.5 * service))
            blame(verdict, "from %.1f s after the kill on %.2f s of answers for %.2f s of service",
                  from - TRIAL_KILL, response, service);
    }
}

void chaos_check_trial(const struct rig_block *block, bool holds, struct chaos_verdict *verdict) {
    const struct part whole = {0, INFINITY, 1}, judged = {TRIAL_KILL + TRIAL_RECOVERS, INFINITY, 1};
    double *served = find_served(block);
    *verdict =
        (struct chaos_verdict){.normal = block->rig->c.model.size.mean, .mean = mean_of(block, &judged)};
    check_answers(block, &whole, verdict);
    if (served) {
        check_held(block, served, verdict);
        check_ratio(block, served, verdict);
    } else {
        blame(verdict, "no memory");
    }
    if (holds)
        check_idle(block, &judged, verdict);
    check_slots(block, &whole, verdict);
    free(served);
}
