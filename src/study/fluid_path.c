/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes a fluid path, and the path of a simulated system to compare it with. */
#include "study/fluid_path.h"

#include <math.h>
#include <stdlib.h>

enum {
    FINE = 500,           /* the paths are computed at this many times or more */
    LIMIT_LEVELS = 65536, /* jobs are summed over so many levels of the limit */
};

static enum bal_code no_memory(struct bal_error *err) {
    return bal_fail(err, BAL_E_MEMORY, "not enough memory");
}

void bli_fluid_path_solution_fini(struct bli_fluid_path_solution *followed) {
    bli_fluid_path_fini(&followed->fluid);
    free(followed->simulated.fraction);
    free(followed->power[0]); /* one block for all of them */
    free(followed->limit);
    free(followed->time);
}

static enum bal_code choose_times(const struct bli_fluid_path_question *q, struct bli_fluid_path_solution *f,
                                  struct bal_error *err) {
    const size_t gaps = q->points - 1;
    f->every = (FINE + gaps - 1) / gaps;
    f->times = gaps * f->every + 1;
    f->time = malloc(f->times * sizeof *f->time);
    if (!f->time)
        return no_memory(err);
    for (size_t k = 0; k < f->times; k++)
        f->time[k] = q->until * (double)k / (double)(f->times - 1);
    return BAL_OK;
}

/* ---- the fluid path ---- */

static bool allocate_powers(struct bli_fluid_path_solution *f) {
    double *next = calloc(2 * BLI_FLUID_PATH_POWERS * f->times, sizeof *next);
    if (!next)
        return false;
    for (int i = 0; i < BLI_FLUID_PATH_POWERS; i++) {
        f->power[i] = next + (size_t)i * f->times;
        f->simulated_power[i] = f->power[i] + BLI_FLUID_PATH_POWERS * f->times;
    }
    return true;
}

/* Those that are neither busy nor in another state. */
static void fill_off_fraction(const struct bli_fluid_path_solution *f, double *const *power,
                              const double *busy, size_t stride) {
    for (size_t k = 0; k < f->times; k++)
        power[BLI_FLUID_PATH_OFF][k] =
            fmax(1 - busy[k * stride] - power[BLI_FLUID_PATH_STANDBY][k] - power[BLI_FLUID_PATH_SETUP][k], 0);
}

/* The path of a policy that switches servers off, as levels and fractions in each state. */
static enum bal_code follow_power(const struct bli_fluid_path_question *q, struct bli_fluid_path_solution *f,
                                  struct bal_error *err) {
    size_t n;
    double *start = bli_theory_fluid_start(&f->known, &q->model->start, &n);
    struct bli_fluid_path whole = {0};
    enum bal_code code = start && allocate_powers(f) ? BAL_OK : no_memory(err);
    if (!code)
        code = bli_fluid_path_init(&whole, &f->known.model, start, n, f->time, f->times, err);
    free(start);
    if (code)
        return code;
    code = bli_theory_fluid_levels(&f->known, &whole, &f->fluid, f->power[BLI_FLUID_PATH_STANDBY],
                                   f->power[BLI_FLUID_PATH_SETUP], err);
    bli_fluid_path_fini(&whole);
    if (!code)
        fill_off_fraction(f, f->power, f->fluid.state, f->fluid.columns);
    return code;
}

static enum bal_code follow_fluid(const struct bli_fluid_path_question *q, struct bli_fluid_path_solution *f,
                                  struct bal_error *err) {
    const enum bal_code code = bli_theory_fluid_init(&f->known, q->model, q->policy, q->variant, err);
    if (code)
        return code;
    if (f->known.kind == BLI_FLUID_TABS)
        return follow_power(q, f, err);
    return bli_fluid_path_init(&f->fluid, &f->known.model, q->start, q->start_levels, f->time, f->times, err);
}

static enum bal_code find_limit(struct bli_fluid_path_solution *f, struct bal_error *err) {
    double *s = malloc(LIMIT_LEVELS * sizeof *s);
    if (!s)
        return no_memory(err);
    if (!bli_theory_fluid_equilibrium(&f->known, s, LIMIT_LEVELS)) {
        free(s);
        return BAL_OK;
    }
    f->limit = s;
    for (size_t i = LIMIT_LEVELS; i-- > 0;)
        f->limit_jobs += s[i];
    return BAL_OK;
}

/* ---- the simulated one ---- */

static enum bal_code simulate_path(const struct bli_fluid_path_question *q, struct bli_fluid_path_solution *f,
                                   const uint32_t *initial, struct bal_error *err) {
    const struct bli_run run = {.seed = q->seed,
                                .time = q->until,
                                .stop = q->stop,
                                .initial = f->power[0] ? NULL : initial,
                                .path = &f->simulated};
    struct bli_trial trial = {0};
    if (f->power[0]) {
        f->simulated.standby = f->simulated_power[BLI_FLUID_PATH_STANDBY];
        f->simulated.setup = f->simulated_power[BLI_FLUID_PATH_SETUP];
    }
    return bli_simulate(q->model, q->policy, &run, &trial, err);
}

static enum bal_code follow_simulation(const struct bli_fluid_path_question *q,
                                       struct bli_fluid_path_solution *f, struct bal_error *err) {
    const uint32_t servers = bli_servers_count(&q->model->servers);
    uint32_t *initial = malloc(servers * sizeof *initial);
    f->simulated = (struct bli_path){.times = f->times, .time = f->time, .levels = BLI_TAIL_LEVELS - 1};
    f->simulated.fraction = malloc(f->times * f->simulated.levels * sizeof(double));
    enum bal_code code = initial && f->simulated.fraction
                             ? BAL_OK
                             : bal_fail(err, BAL_E_MEMORY, "not enough memory for %u servers", servers);
    if (!code) {
        bli_lengths_of(q->start, q->start_levels, servers, initial);
        code = simulate_path(q, f, initial, err);
    }
    free(initial);
    if (code)
        return code;
    if (f->power[0])
        fill_off_fraction(f, f->simulated_power, f->simulated.fraction, f->simulated.levels);
    f->apart = bli_path_distance(&f->simulated, &f->fluid);
    return BAL_OK;
}

enum bal_code bli_fluid_path_solve(const struct bli_fluid_path_question *q, struct bli_fluid_path_solution *f,
                                   struct bal_error *err) {
    *f = (struct bli_fluid_path_solution){.times = 0};
    enum bal_code code = choose_times(q, f, err);
    if (!code)
        code = follow_fluid(q, f, err);
    if (!code)
        code = find_limit(f, err);
    if (!code && q->simulate)
        code = follow_simulation(q, f, err);
    return code;
}
