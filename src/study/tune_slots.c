/* SPDX-License-Identifier: BSD-2-Clause */
/* Tuning of slots: simulates the same traffic with several numbers of them. */
#include "ballast/tune_slots.h"

#include "ballast/scheme.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEYOND = 4 }; /* times as many slots as the speed depends on */

/* 1, 2, 3, 4, 6, 8, 12, 16, 24, ...; at last all, unless jobs are held until a slot is free. */
static void list_slots(const struct bli_case *base, struct bli_slots_answer *answer) {
    const double last = (double)BEYOND * bli_speeds_last(&base->model.speeds);
    answer->points = 0;
    for (uint32_t slots = 1; slots <= last && answer->points < BLI_TUNE_SLOTS_MAX - 1;) {
        answer->point[answer->points++].slots = slots;
        const bool power = (slots & (slots - 1)) == 0;
        slots = slots == 1 ? 2 : power ? slots / 2 * 3 : slots / 3 * 4;
    }
    if (!(bal_policy_flags(&base->policy) & BAL_MAY_HOLD))
        answer->point[answer->points++].slots = BLI_SLOTS_ALL;
}

/* A server of one slot is as fast as with one job, and has no speeds. */
static void use_slots(struct bli_model *model, uint32_t slots) {
    model->slots = slots;
    if (slots > 1)
        return;
    for (unsigned g = 0; g < model->servers.groups; g++)
        model->servers.group[g].speed *= bli_speeds_rate(&model->speeds, 1);
    model->speeds = (struct bli_speeds){.kind = BLI_SPEEDS_SLOTS};
}

static double rate_of_slots(const struct bli_speeds *speeds, uint32_t slots) {
    return bli_speeds_top(speeds, slots == BLI_SLOTS_ALL ? 0 : slots);
}

static enum bal_code set_up_point(const struct bli_slots_question *question, struct bli_slots_point *point,
                                  struct bal_error *err) {
    const struct bli_speeds *speeds = &question->base.model.speeds;
    point->c = question->base;
    struct bli_model *model = &point->c.model;
    use_slots(model, point->slots);
    point->speed = rate_of_slots(speeds, point->slots) / bli_speeds_top(speeds, 0);
    model->load = question->base.model.load / point->speed;
    point->possible = model->load < 1;
    if (!point->possible)
        return BAL_OK;
    if (question->open)
        bli_choose_length(&point->c, 1, point->c.run.time, 0);
    struct bal_policy_spec random;
    enum bli_engine engine;
    bli_scheme_parse("random", &random, NULL);
    point->alone = bli_theory_predict(model, &random);
    return bli_simulate_check(model, &point->c.policy, point->c.run.engine, &engine, err);
}

static enum bal_code check_question(const struct bli_slots_question *question, struct bal_error *err) {
    const struct bli_model *model = &question->base.model;
    if (!bli_speeds_given(&model->speeds))
        return bal_fail(
            err, BAL_E_MODEL,
            "tuning slots needs speeds, such as cores(4) or batch(8,0.15): without them more slots "
            "are always better");
    if (!(model->load > 0 && model->load < 1))
        return bal_fail(err, BAL_E_RANGE, "load %g; tuning slots needs one above 0 and below 1", model->load);
    return BAL_OK;
}

struct bli_estimate bli_slots_value(const struct bli_slots_question *question,
                                    const struct bli_slots_point *point) {
    if (question->quantile > 0)
        return bli_result_quantile(&point->c, &point->result, BLI_OF_RESPONSE, question->quantile);
    return point->result.metric[BLI_RESPONSE_MEAN];
}

static bool is_sure(const struct bli_slots_point *point) {
    return point->possible && point->result.replications > 0 && bli_result_is_sure(&point->result);
}

static void find_best(const struct bli_slots_question *question, struct bli_slots_answer *answer) {
    answer->least = answer->points;
    double least = INFINITY, reach = INFINITY; /* and the end of its interval */
    for (unsigned i = 0; i < answer->points; i++) {
        if (!is_sure(&answer->point[i]))
            continue;
        const struct bli_estimate value = bli_slots_value(question, &answer->point[i]);
        if (!(value.mean < least))
            continue;
        least = value.mean;
        reach = value.mean + value.half_width;
        answer->least = i;
    }
    for (unsigned i = 0; i < answer->points; i++) {
        struct bli_slots_point *point = &answer->point[i];
        if (!is_sure(point))
            continue;
        const struct bli_estimate value = bli_slots_value(question, point);
        point->best =
            value.mean <= (1 + BLI_TUNE_SLOTS_NEAR) * least || value.mean - value.half_width <= reach;
        point->meets = value.mean + value.half_width <= question->target;
    }
}

enum bal_code bli_tune_slots(const struct bli_slots_question *question, const struct bli_lab_options *options,
                             struct bli_slots_answer *answer, struct bal_error *err) {
    memset(answer, 0, sizeof *answer);
    enum bal_code code = check_question(question, err);
    if (code)
        return code;
    list_slots(&question->base, answer);
    struct bli_case *cases = calloc(answer->points, sizeof *cases);
    struct bli_result *results = calloc(answer->points, sizeof *results);
    size_t count = 0;
    if (!cases || !results)
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for %u cases", answer->points);
    for (unsigned i = 0; i < answer->points && !code; i++) {
        code = set_up_point(question, &answer->point[i], err);
        if (answer->point[i].possible)
            cases[count++] = answer->point[i].c;
    }
    struct bli_lab_options apart = *options;
    apart.independent_lengths = true;
    if (!code)
        code = bli_lab_run(cases, count, &apart, results, err);
    if (!code || code == BAL_E_STOPPED) {
        count = 0;
        for (unsigned i = 0; i < answer->points; i++)
            if (answer->point[i].possible)
                answer->point[i].result = results[count++];
        find_best(question, answer);
    }
    free(cases);
    free(results);
    return code;
}
