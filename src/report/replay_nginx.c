/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of a replay in sentences and as nginx configuration: the recommended policy, the reason, and its
 * upstream block. */
#include "report/replay_report.h"

#include "base/strbuf.h"
#include "format/table.h"
#include "format/time_text.h"
#include "report/nginx_block.h"
#include "report/recommend.h"

#include <math.h>
#include <stdlib.h>

/* How many servers a policy needs: by the target, or those of the fleet. 0: no number will do. */
static uint32_t servers_needed(const struct bli_replay_report *report, size_t i) {
    if (!report->target)
        return bli_servers_count(&report->replay->model.servers);
    return report->sizing[i].outcome == BLI_SIZED ? bli_servers_count(&report->sizing[i].c.model.servers) : 0;
}

static const struct bli_replay_outcome *outcome_of(const struct bli_replay_report *report, size_t i) {
    return report->target ? &report->sizing[i].at : &report->outcomes[i];
}

static void fill_candidates(const struct bli_replay_report *report, struct bli_candidate *candidate) {
    for (size_t i = 0; i < report->count; i++) {
        const struct bli_replay_outcome *outcome = outcome_of(report, i);
        const double turned_away =
            outcome->result.metric[BLI_REFUSED].mean + outcome->result.metric[BLI_LOST].mean;
        candidate[i] = (struct bli_candidate){
            .policy = &report->cases[i].policy,
            .servers = turned_away > 0.01 ? 0 : servers_needed(report, i),
            .time = outcome->time[report->target ? BLI_TIME_WANTED : BLI_TIME_MEAN],
            .messages = outcome->result.metric[BLI_MESSAGES_PER_JOB].mean,
        };
    }
}

/* ---- what the reader must know besides ---- */

static void print_source(const struct bli_replay_report *report, FILE *out) {
    const struct bli_trace_info *info = bli_trace_info(report->replay->trace);
    char from[BLI_TIME_TEXT], to[BLI_TIME_TEXT];
    bli_time_moment((double)info->first * 1e-9, "%Y-%m-%d %H:%M:%S", from);
    bli_time_moment((double)info->last * 1e-9, "%Y-%m-%d %H:%M:%S", to);
    if (report->command)
        fprintf(out, "# From: %s\n", report->command);
    fprintf(out, "# %llu requests, %s to %s UTC.\n", (unsigned long long)info->jobs, from, to);
}

static void print_doubts(const struct bli_replay_report *report, size_t taken, FILE *out) {
    const struct bli_sizing *sizing = report->target ? &report->sizing[taken] : NULL;
    if (sizing && sizing->low > 0 && sizing->low < sizing->high)
        fprintf(out, "# By other logs like this one it would need %u to %u servers.\n", sizing->low,
                sizing->high);
    if (sizing && sizing->low > 0 && sizing->high == 0)
        fprintf(
            out,
            "# By other logs like this one it would need %u servers or more; by some several times as many "
            "would not do.\n",
            sizing->low);
    if (report->replay->replications == 1 && report->count > 1)
        fputs("# Each policy was replayed once: how far its own draws move it is not known.\n", out);
    if (outcome_of(report, taken)->result.doubts & BLI_DOUBT_GROWING)
        fputs("# Its queues grew until the end: this fleet is too small, whatever the policy.\n", out);
    if (bli_times_are_doubtful(report->times->recovery->times))
        fprintf(out, "# Service times are doubtful: %s.\n", bli_times_text(report->times->recovery->times));
    if (bli_recovery_slots_are_guessed(report->times))
        fprintf(out, "# That a server works on %u request%s at a time is %s; --slots says it.\n",
                report->replay->model.slots > 1 ? report->replay->model.slots : 1,
                report->replay->model.slots > 1 ? "s" : "",
                report->times->recovery->servers > 0 ? "a guess" : "assumed");
    if (report->replay->model.network.dispatchers.count > 1)
        fprintf(out, "# For each of the %u dispatchers; they need stations and listen= (docs/station.md).\n",
                report->replay->model.network.dispatchers.count);
}

static void print_block(const struct bli_replay_report *report, size_t taken, FILE *out) {
    const struct bli_replay_outcome *outcome = outcome_of(report, taken);
    const struct bli_nginx_block block = {
        .policy = &report->cases[taken].policy,
        .servers = report->target ? &report->sizing[taken].c.model.servers : &report->replay->model.servers,
        .names = report->servers,
        .slots = bli_nginx_slots(&report->replay->model),
        .mean = report->demand->size_mean,
        .longest = outcome->time[BLI_TIME_P999].mean,
        .rate = report->demand->peak_rate * report->replay->speedup,
        .high = report->high_pattern,
        .high_by = report->high_field,
    };
    bli_nginx_block(&block, out);
}

/* What is recommended and why, as comments of nginx, and the block if that is wanted, too. */
static void print_answer(const struct bli_replay_report *report, bool block, FILE *out) {
    struct bli_candidate *candidate = calloc(report->count, sizeof *candidate);
    bool *as_good = calloc(report->count, sizeof *as_good);
    if (!candidate || !as_good) {
        bli_stream_mark_incomplete(out);
        goto out;
    }
    fill_candidates(report, candidate);
    const size_t taken = bli_recommend(candidate, report->count, as_good);
    bool any = false;
    for (size_t i = 0; i < report->count; i++)
        any = any || candidate[i].servers > 0;
    if (!any) {
        fputs("# No number of servers meets the target: there is nothing to tell nginx.\n", out);
    } else if (taken == report->count) {
        fputs("# The module for nginx can run none of these policies (docs/nginx.md): there is nothing to "
              "tell it.\n",
              out);
    } else {
        if (block)
            print_source(report, out);
        bli_recommend_explain(candidate, report->count, as_good, taken, false, out);
        print_doubts(report, taken, out);
        if (block)
            print_block(report, taken, out);
    }
out:
    free(candidate);
    free(as_good);
}

void bli_replay_nginx(const struct bli_replay_report *report, FILE *out) {
    print_answer(report, true, out);
}

/* Comments become one paragraph. */
static void join_comments(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        const bool begins = at == text || at[-1] == '\n';
        if (begins && at[0] == '#' && at[1] == ' ')
            at++;
        else
            *to++ = *at == '\n' ? ' ' : *at;
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = 0;
}

void bli_replay_explain(const struct bli_replay_report *report, FILE *out) {
    struct bli_strbuf text;
    if (!bli_strbuf_open(&text)) {
        bli_stream_mark_incomplete(out);
        return;
    }
    print_answer(report, false, text.stream);
    if (bli_strbuf_close(&text)) {
        join_comments(text.text);
        fputc('\n', out);
        bli_table_wrap("", text.text, 0, out);
    } else {
        bli_stream_mark_incomplete(out);
    }
    bli_strbuf_discard(&text);
}
