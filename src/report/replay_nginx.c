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
static uint32_t servers_needed(const struct bal_replay_report *report, size_t i) {
    if (!report->target)
        return bal_servers_count(&report->replay->model.servers);
    return report->sizing[i].outcome == BAL_SIZED ? bal_servers_count(&report->sizing[i].c.model.servers) : 0;
}

static const struct bal_replay_outcome *outcome_of(const struct bal_replay_report *report, size_t i) {
    return report->target ? &report->sizing[i].at : &report->outcomes[i];
}

static void fill_candidates(const struct bal_replay_report *report, struct bal_candidate *candidate) {
    for (size_t i = 0; i < report->count; i++) {
        const struct bal_replay_outcome *outcome = outcome_of(report, i);
        const double turned_away =
            outcome->result.metric[BAL_REFUSED].mean + outcome->result.metric[BAL_LOST].mean;
        candidate[i] = (struct bal_candidate){
            .policy = &report->cases[i].policy,
            .servers = turned_away > 0.01 ? 0 : servers_needed(report, i),
            .time = outcome->time[report->target ? BAL_TIME_WANTED : BAL_TIME_MEAN],
            .messages = outcome->result.metric[BAL_MESSAGES_PER_JOB].mean,
        };
    }
}

/* ---- what the reader must know besides ---- */

static void print_source(const struct bal_replay_report *report, FILE *out) {
    const struct bal_trace_info *info = bal_trace_info(report->replay->trace);
    char from[BAL_TIME_TEXT], to[BAL_TIME_TEXT];
    bal_time_moment((double)info->first * 1e-9, "%Y-%m-%d %H:%M:%S", from);
    bal_time_moment((double)info->last * 1e-9, "%Y-%m-%d %H:%M:%S", to);
    if (report->command)
        fprintf(out, "# From: %s\n", report->command);
    fprintf(out, "# %llu requests, %s to %s UTC.\n", (unsigned long long)info->jobs, from, to);
}

static void print_doubts(const struct bal_replay_report *report, size_t taken, FILE *out) {
    const struct bal_sizing *sizing = report->target ? &report->sizing[taken] : NULL;
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
    if (outcome_of(report, taken)->result.doubts & BAL_DOUBT_GROWING)
        fputs("# Its queues grew until the end: this fleet is too small, whatever the policy.\n", out);
    if (bal_times_are_doubtful(report->times->recovery->times))
        fprintf(out, "# Service times are doubtful: %s.\n", bal_times_text(report->times->recovery->times));
    if (bal_recovery_slots_are_guessed(report->times))
        fprintf(out, "# That a server works on %u request%s at a time is %s; --slots says it.\n",
                report->replay->model.slots > 1 ? report->replay->model.slots : 1,
                report->replay->model.slots > 1 ? "s" : "",
                report->times->recovery->servers > 0 ? "a guess" : "assumed");
    if (report->replay->model.network.dispatchers.count > 1)
        fprintf(out, "# For each of the %u dispatchers; they need stations and listen= (docs/station.md).\n",
                report->replay->model.network.dispatchers.count);
}

/* A server that takes all is as fast as it can be with so many. */
static uint32_t slots_of(const struct bal_model *model) {
    return model->slots == BAL_SLOTS_ALL ? bal_speeds_last(&model->speeds) : model->slots;
}

static void print_block(const struct bal_replay_report *report, size_t taken, FILE *out) {
    const struct bal_replay_outcome *outcome = outcome_of(report, taken);
    const struct bal_nginx_block block = {
        .policy = &report->cases[taken].policy,
        .servers = report->target ? &report->sizing[taken].c.model.servers : &report->replay->model.servers,
        .names = report->servers,
        .slots = slots_of(&report->replay->model),
        .mean = report->demand->size_mean,
        .longest = outcome->time[BAL_TIME_P999].mean,
        .rate = report->demand->peak_rate * report->replay->speedup,
        .high = report->high_pattern,
        .high_by = report->high_field,
    };
    bal_nginx_block(&block, out);
}

/* What is recommended and why, as comments of nginx, and the block if that is wanted, too. */
static void print_answer(const struct bal_replay_report *report, bool block, FILE *out) {
    struct bal_candidate *candidate = calloc(report->count, sizeof *candidate);
    bool *as_good = calloc(report->count, sizeof *as_good);
    if (!candidate || !as_good) {
        bal_stream_mark_incomplete(out);
        goto out;
    }
    fill_candidates(report, candidate);
    const size_t taken = bal_recommend(candidate, report->count, as_good);
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
        bal_recommend_explain(candidate, report->count, as_good, taken, false, out);
        print_doubts(report, taken, out);
        if (block)
            print_block(report, taken, out);
    }
out:
    free(candidate);
    free(as_good);
}

void bal_replay_nginx(const struct bal_replay_report *report, FILE *out) {
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

void bal_replay_explain(const struct bal_replay_report *report, FILE *out) {
    struct bal_strbuf text;
    if (!bal_strbuf_open(&text)) {
        bal_stream_mark_incomplete(out);
        return;
    }
    print_answer(report, false, text.stream);
    if (bal_strbuf_close(&text)) {
        join_comments(text.text);
        fputc('\n', out);
        bal_table_wrap("", text.text, 0, out);
    } else {
        bal_stream_mark_incomplete(out);
    }
    bal_strbuf_discard(&text);
}
