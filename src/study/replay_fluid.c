/* SPDX-License-Identifier: BSD-2-Clause */
/* What the work alone demands of a fleet. It flows in as if every job were served at once and alone, and out
 * as fast as the servers are, as if they were one: no job waits for chance or for its policy, only for what
 * is too much for all of them, for minutes or hours on end. That no short part of a log can show. */
#include "study/replay_try.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 1 << 15 };

struct bli_flow {
    double step;                     /* seconds, as recorded */
    double jobs[STEPS], work[STEPS]; /* that come in each of them; of work, what would be done in it */
    double rate[STEPS];              /* by how much the work of a step is more from each of them on */
};

/* From so many steps on a job is in service that does so much in a step: or is so no longer. */
static void add_work_from(struct bli_flow *flow, double from, double work) {
    if (!(from < STEPS))
        return;
    const size_t at = (size_t)fmax(from, 0);
    flow->work[at] += work * ((double)at + 1 - from);
    if (at + 1 < STEPS)
        flow->rate[at + 1] += work;
}

static void add_up(struct bli_flow *flow) {
    double rate = 0;
    for (size_t i = 0; i < STEPS; i++) {
        rate += flow->rate[i];
        flow->work[i] += rate;
    }
}

double bli_replay_fastest(const struct bli_replay *replay) {
    const struct bli_servers *servers = &replay->model.servers;
    double fastest = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        fastest = fmax(fastest, servers->group[g].speed);
    return fastest;
}

enum bal_code bli_flow_new(const struct bli_replay *replay, const volatile int *stop, struct bli_flow **flow,
                           struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(replay->trace);
    struct bli_trace_cursor *cursor = NULL;
    struct bli_flow *f = *flow = calloc(1, sizeof *f);
    enum bal_code code = f ? bli_trace_cursor_new(replay->trace, &cursor, err)
                           : bal_fail(err, BAL_E_MEMORY, "not enough memory for the flow of a trace");
    const double speed = bli_replay_fastest(replay) / replay->speedup; /* as recorded */
    const double step = info->span / STEPS, per_step = STEPS / (1e9 * info->span + 1);
    for (uint64_t done = 0; !code; done++) {
        struct bli_trace_job job;
        code = bli_replay_next(cursor, done, stop, &job, err);
        if (code || job.size == 0)
            break;
        const double from = (double)((uint64_t)job.time - (uint64_t)info->first) * per_step;
        f->jobs[from < STEPS ? (size_t)from : STEPS - 1]++;
        add_work_from(f, from, speed * step);
        add_work_from(f, from + (double)job.size / speed * per_step, -speed * step);
    }
    bli_trace_cursor_free(cursor);
    if (code) {
        free(f);
        *flow = NULL;
        return code;
    }
    f->step = step;
    add_up(f);
    return BAL_OK;
}

/* Is the target met by servers that do so much work in a second? */
static bool is_met(const struct bli_flow *flow, const struct bli_replay *replay, double capacity) {
    const struct bli_target *target = replay->target;
    const double size = bli_trace_info(replay->trace)->size_mean / bli_replay_fastest(replay);
    const double done = capacity * flow->step / replay->speedup;
    double backlog = 0, late = 0, delay = 0, jobs = 0;
    for (size_t i = 0; i < STEPS; i++) {
        backlog = fmax(backlog + flow->work[i] - done, 0);
        jobs += flow->jobs[i];
        delay += flow->jobs[i] * backlog / capacity;
        late += backlog / capacity + size > target->seconds ? flow->jobs[i] : 0;
    }
    return target->quantile == 0 ? delay / jobs + size <= target->seconds
                                 : late <= (1 - target->quantile) * jobs;
}

uint32_t bli_flow_min_servers(const struct bli_flow *flow, const struct bli_replay *replay) {
    const struct bli_servers *servers = &replay->model.servers;
    const double slots = bli_replay_server_rate(&replay->model), speed = servers->group[replay->vary].speed;
    const double others = bli_servers_capacity(servers) - servers->group[replay->vary].count * speed;
    uint32_t failed = 0, met = BLI_REPLAY_SERVERS;
    while (met - failed > 1) {
        const uint32_t middle = failed + (met - failed) / 2;
        const double left = others + speed * middle - speed * replay->failing;
        *(left > 0 && is_met(flow, replay, slots * left) ? &met : &failed) = middle;
    }
    return met < BLI_REPLAY_SERVERS ? met : 1;
}
