/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures all policies of an experiment on real processes, block by block, and stores the results. */
#include "rig/measure_live.h"

#include "rig/block.h"
#include "spec/plan.h"
#include "store/store_private.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 }; /* of a block */

struct session {
    const struct bli_experiment *e;
    struct bli_store *store;
    const struct rig_options *options;
    struct rig_outcome *outcome;
    char workdir[RIG_PATH];
    struct rig *rig;
    struct bli_histogram *response, *waiting;
    size_t total, done; /* blocks */
    const char *label;  /* of what is measured now */
    unsigned round, rounds;
};

static void show_progress(void *context, double part) {
    const struct session *s = context;
    if (s->options->progress && s->total > 0)
        s->options->progress(s->options->context, ((double)s->done + part) / (double)s->total, s->label,
                             s->round + 1, s->rounds);
}

static bool is_stopped(const struct session *s) {
    return s->options->stop && *s->options->stop;
}

/* Before all other processes, children too. Where that is not allowed things are as they are. */
static bool set_realtime_priority(bool on) {
    const struct sched_param param = {.sched_priority = on ? 10 : 0};
    return sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param) == 0;
}

/* In front of the first block of a policy, on a fleet of its own, so that nothing of it is counted there.
 * NaN: it is not asked for. */
static enum bal_code measure_delay(struct session *s, size_t point, size_t policy, double *delay,
                                   struct bal_error *err) {
    *delay = NAN;
    if (s->round > 0 || s->e->policy[policy].twin < 0 || !bli_experiment_measures_delay(s->e, point))
        return BAL_OK;
    s->label = "the delay of messages";
    show_progress(s, 0);
    enum bal_code code = bli_rig_start(s->rig, &s->options->programs, s->e, point, policy, s->workdir, err);
    if (code)
        return code;
    code = bli_block_measure_delay(s->rig, s->options->stop, delay, err);
    bli_rig_stop(s->rig);
    return code;
}

/* Once, and kept unless the machine has stood still meanwhile and it may be tried again: *again. */
static enum bal_code try_block(struct session *s, size_t point, size_t policy, unsigned try, double delay,
                               bool *again, struct bal_error *err) {
    struct rig_block block = {0};
    memset(s->response, 0, sizeof *s->response);
    memset(s->waiting, 0, sizeof *s->waiting);
    struct bli_trial trial = {.histogram = {s->response, s->waiting}};
    s->label = s->e->policy[policy].label;
    show_progress(s, 0);
    enum bal_code code = bli_rig_start(s->rig, &s->options->programs, s->e, point, policy, s->workdir, err);
    if (code)
        return code;
    code = bli_block_run(&block, s->rig, s->round, s->options->stop, show_progress, s, &trial, err);
    bli_rig_stop(s->rig);
    *again = !code && try + 1 < TRIES && bli_block_is_disturbed(&block);
    bli_block_record(&block, try, "again");
    bli_block_record(&block, delay, "delay");
    if (!code && !*again)
        code = bli_store_put_measured(s->store, s->e, point, policy, s->round, &trial, block.fact,
                                      block.facts, err);
    bli_block_fini(&block);
    return code;
}

static enum bal_code measure_block(struct session *s, size_t point, size_t policy, struct bal_error *err) {
    bool again = true;
    double delay;
    enum bal_code code = measure_delay(s, point, policy, &delay, err);
    for (unsigned try = 0; !code && again; try++)
        code = try_block(s, point, policy, try, delay, &again, err);
    return code;
}

/* Were blocks measured when nothing asked for the delay of messages? */
static enum bal_code lacks_delay(const struct session *s, size_t point, size_t policy, bool *lacks,
                                 struct bal_error *err) {
    double delay = 0;
    enum bal_code code = BAL_OK;
    if (s->e->policy[policy].twin >= 0 && bli_experiment_measures_delay(s->e, point))
        code = bli_store_read_facts(s->store, s->e, point, policy, "delay", &delay, 1, err);
    *lacks = isnan(delay);
    return code;
}

/* Which blocks of which policies are there: one flag for each policy, point and round. */
static enum bal_code find_done(struct session *s, bool *there, struct bal_error *err) {
    const struct bli_experiment *e = s->e;
    for (size_t point = 0; point < e->points; point++)
        for (size_t p = 0; p < e->policies; p++) {
            if (!e->policy[p].real)
                continue;
            bool *mine = there + (point * e->policies + p) * s->rounds;
            bool lacks = false;
            enum bal_code code = lacks_delay(s, point, p, &lacks, err);
            if (!code && (s->options->again || lacks))
                code = bli_store_delete_cell(s->store, e, point, p, err);
            if (!code)
                code = bli_store_measured(s->store, e, point, p, mine, s->rounds, err);
            if (code)
                return code;
            for (unsigned r = 0; r < s->rounds; r++) {
                s->outcome->found += mine[r];
                s->total += !mine[r];
            }
        }
    return BAL_OK;
}

static enum bal_code measure_all(struct session *s, const bool *there, struct bal_error *err) {
    const struct bli_experiment *e = s->e;
    for (s->round = 0; s->round < s->rounds; s->round++)
        for (size_t point = 0; point < e->points; point++)
            for (size_t p = 0; p < e->policies; p++) {
                if (!e->policy[p].real || there[(point * e->policies + p) * s->rounds + s->round])
                    continue;
                if (is_stopped(s))
                    return bal_fail(err, BAL_E_STOPPED, "stopped after %zu of %zu blocks", s->done, s->total);
                struct bal_error inner = {0};
                const enum bal_code code = measure_block(s, point, p, &inner);
                if (code == BAL_E_STOPPED || (code && is_stopped(s)))
                    return bal_fail(err, BAL_E_STOPPED, "stopped after %zu of %zu blocks", s->done, s->total);
                if (code)
                    return bal_fail(err, code, "%s: %s", e->policy[p].label, inner.text);
                s->done++;
                s->outcome->measured++;
            }
    return BAL_OK;
}

enum bal_code bli_measure(const struct bli_experiment *e, struct bli_store *store,
                          const struct rig_options *options, struct rig_outcome *outcome,
                          struct bal_error *err) {
    struct bli_case c;
    bli_experiment_case(e, 0, 0, &c);
    struct session s = {
        .e = e, .store = store, .options = options, .outcome = outcome, .rounds = c.replications};
    *outcome = (struct rig_outcome){0};
    bool *there = calloc(e->points * e->policies * s.rounds, sizeof *there);
    s.rig = calloc(1, sizeof *s.rig);
    s.response = calloc(1, sizeof *s.response);
    s.waiting = calloc(1, sizeof *s.waiting);
    enum bal_code code = there && s.rig && s.response && s.waiting
                             ? bli_rig_check(&options->programs, e, err)
                             : bal_fail(err, BAL_E_MEMORY, "not enough memory to measure");
    if (!code)
        code = find_done(&s, there, err);
    int64_t run;
    if (!code && s.total > 0)
        code = bli_store_begin(store, e, true, &run, err);
    if (!code && s.total > 0)
        code = bli_workdir_create(s.workdir, err);
    if (!code && s.total > 0) {
        outcome->urgent = e->live->urgent && set_realtime_priority(true);
        code = measure_all(&s, there, err);
        if (outcome->urgent)
            set_realtime_priority(false);
        bli_workdir_remove(s.workdir);
    }
    free(there);
    free(s.rig);
    free(s.response);
    free(s.waiting);
    return code;
}
