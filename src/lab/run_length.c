/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast does the fleet of a case forget how it began, and how long must runs be for that?
 *
 * A fleet that begins idle needs a time to fill up that does not depend on how many servers it has, so that a
 * number of jobs which is ample for a hundred servers is nothing for ten thousand. Theory knows that time for
 * some policies. For the others it is taken to be the slowest that is plausible: a result that is called
 * settling although it is not costs longer runs, one that is not called so although it is costs a wrong
 * number without a word. And the lab makes runs longer as long as the result is doubted. */
#include "lab/run_length.h"

#include "ballast/predict.h"

#include <math.h>

static const double time_constants = 7.5; /* then 0.4 exp(-7.5) of the mean queue are missing */
static const double longest_warmup = 0.95;
static const double most_cost = 4e7; /* of a trial: so many jobs, or a quarter of it by the event engine */

/* ---- how fast it forgets ---- */

double bli_switching_time(const struct bli_case *c) {
    if (!c->policy.policy->power)
        return 0;
    const struct bli_model *model = &c->model;
    const struct bal_power power = c->policy.policy->power(c->policy.value);
    const double unit =
        model->size.mean * bli_servers_count(&model->servers) / bli_servers_capacity(&model->servers);
    const double standby = model->standby.mean > 0  ? model->standby.mean
                           : power.standby_rate > 0 ? unit / power.standby_rate
                                                    : 0;
    return standby + (model->setup.mean > 0 ? model->setup.mean : unit / power.setup_rate);
}

/* Jobs that wait at a server, for each of its slots. */
static double waiting_seen(const struct bli_case *c, const struct bli_result *result) {
    const double jobs = result->metric[BLI_QUEUE_MEAN].mean;
    if (bli_speeds_given(&c->model.speeds))
        return NAN;
    return c->model.slots > 1 ? jobs / c->model.slots - c->model.load : jobs - result->tail[1];
}

struct bli_time_constant bli_time_constant_of(const struct bli_case *c, const struct bli_result *result) {
    if (c->run.trace) /* recorded jobs come as they came */
        return (struct bli_time_constant){.constant = NAN};
    const double known = bli_theory_relaxation(&c->model, &c->policy);
    const struct bli_slowest slowest =
        bli_slowest_relaxation(&c->model, result && isnan(known) ? waiting_seen(c, result) : NAN);
    /* Who is as slow as `random` leaves every queue alone. */
    if (!isnan(known))
        return (struct bli_time_constant){
            .constant = known, .together = known < 0.99 * slowest.all ? slowest.together : 0, .known = true};
    return (struct bli_time_constant){.constant = slowest.all + bli_switching_time(c),
                                      .together = slowest.together};
}

/* ---- how long runs are ---- */

double bli_default_run_length(const struct bli_model *model) {
    /* In slots it is their number that counts: a slot costs about the same whatever arrives in it. */
    if (model->clock == BLI_CLOCK_SLOTTED)
        return 1e5;
    return fmax(2e6, 100.0 * bli_servers_count(&model->servers)) / bli_model_arrival_rate(model);
}

/* Numbers that can be typed: two digits of jobs, and of the warm-up. */
static double rounded_up(double time, double rate) {
    const double jobs = time * rate, unit = pow(10, floor(log10(jobs)) - 1);
    return ceil(jobs / unit - 1e-9) * unit / rate;
}

/* Where nothing is known of a policy, it is taken to be no slower than `random`. */
static double time_constant(const struct bli_case *c) {
    const double known = bli_theory_relaxation(&c->model, &c->policy);
    struct bal_policy_spec random;
    if (!isnan(known) || !c->policy.policy->route || bal_policy_parse("random", &random, NULL))
        return known;
    return bli_theory_relaxation(&c->model, &random) + bli_switching_time(c);
}

/* Long enough to be settled when measured, for the mean of a run to be about normal, and for percentiles. */
double bli_initial_run_length(const struct bli_case *cases, size_t count) {
    static const double jobs = 50e3, constants = 20, of_all_servers = 400;
    const struct bli_model *model = &cases[0].model;
    const double usual = bli_default_run_length(model), servers = bli_servers_count(&model->servers);
    double time = jobs / bli_model_arrival_rate(model);
    for (size_t i = 0; i < count; i++) {
        const double r = cases[i].precision > 0 ? time_constant(&cases[i]) : NAN;
        if (!isfinite(r))
            return usual;
        time = fmax(time, fmax(constants, of_all_servers / servers) * r);
    }
    return time < usual ? rounded_up(time, bli_model_arrival_rate(model)) : usual;
}

/* How a run begins: so much of it is not measured. */
static double warmup_time(const struct bli_case *c, double time, double window) {
    if (window > 0)
        return fmax(time - window, 0);
    return c->run.warmup >= 0 ? c->run.warmup * time : BLI_WARMUP_DEFAULT * time;
}

/* The length of a run with so much time before what is measured. Where the warm-up is open, as much is
 * measured as of the usual run. */
static double time_for(const struct bli_case *c, double usual, double window, double before) {
    if (warmup_time(c, usual, window) >= before)
        return usual;
    if (window > 0)
        return before + window;
    if (!isnan(c->run.warmup))
        return c->run.warmup > 0 ? before / c->run.warmup : usual;
    return fmax(before + (1 - BLI_WARMUP_DEFAULT) * usual, before / longest_warmup);
}

static double time_before(const struct bli_case *c) {
    return c->model.start.busy > 0 ? 0 : time_constants * bli_theory_relaxation(&c->model, &c->policy);
}

/* What the budget allows. */
static double longest_time(const struct bli_case *c, double usual) {
    struct bli_case unit = *c;
    unit.run.time = 1;
    const double fixed_and_one = bli_case_cost(&unit);
    unit.run.time = 2;
    return fmax(usual, most_cost / (bli_case_cost(&unit) - fixed_and_one));
}

static void set_length(struct bli_case *c, double usual, double window, double time, double before) {
    const double rate = bli_model_arrival_rate(&c->model);
    const bool enough = warmup_time(c, usual, window) >= before;
    c->run.time = time > usual ? rounded_up(time, rate) : usual;
    if (c->model.clock == BLI_CLOCK_SLOTTED)
        c->run.time = ceil(c->run.time);
    if (window > 0)
        c->run.warmup = fmin(fmax(1 - window / c->run.time, 0), 0.999);
    else if (isnan(c->run.warmup) && !enough)
        c->run.warmup = fmin(ceil(100 * before / c->run.time) / 100, longest_warmup);
}

void bli_choose_length(struct bli_case *cases, size_t count, double usual, double window) {
    double most = INFINITY, before = 0, time = usual;
    for (size_t i = 0; i < count; i++) {
        most = fmin(most, longest_time(&cases[i], usual));
        cases[i].max_run_length = time_before(&cases[i]); /* held here until all lengths are known */
    }
    for (size_t i = 0; i < count; i++) {
        const double wanted = cases[i].max_run_length;
        if (time_for(&cases[i], usual, window, wanted) <= most && wanted > before) {
            before = wanted;
            time = time_for(&cases[i], usual, window, wanted);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const bool hopeless = cases[i].max_run_length > before;
        set_length(&cases[i], usual, window, time, before);
        cases[i].max_run_length = hopeless ? cases[i].run.time : fmax(most, cases[i].run.time);
    }
}

/* The judge of settling sees a bias as large as the half-width in three runs of four only. So runs that it
 * has sent back are made twice as long once more when it is content, unless no drift is left at all: what
 * that leaves of a bias does no harm. */
bool bli_run_length_should_double(struct run_length_state *run_length_state, const struct bli_case *c,
                                  const struct bli_result *result) {
    if (2 * c->run.time > c->max_run_length || result->verdict == BLI_UNSTABLE)
        return false;
    if (result->doubts & BLI_DOUBT_SETTLING) {
        run_length_state->grown = true;
        return true;
    }
    const struct bli_estimate drift = result->metric[BLI_DRIFT];
    const bool drifts = fabs(drift.mean) > bli_estimate_half_width(drift, result->replications, 0.68);
    const bool once_more = run_length_state->grown && !run_length_state->spare && drifts;
    run_length_state->spare = run_length_state->spare || once_more;
    return once_more;
}

double bli_scaled_run_length(const struct bli_case *c, double factor) {
    const double time = rounded_up(factor * c->run.time, bli_model_arrival_rate(&c->model));
    return fmin(c->model.clock == BLI_CLOCK_SLOTTED ? ceil(time) : time, c->max_run_length);
}

/* What the result would be measured for at least: ten time constants, as lab/doubt.c wants it. */
static double least_measured(const struct bli_case *c, const struct bli_time_constant *settling) {
    const double servers = bli_servers_count(&c->model.servers);
    return BLI_TIME_CONSTANTS_MIN * fmax(settling->constant / servers, settling->together) * (1 + 1e-9);
}

struct bli_advice bli_advise_length(const struct bli_case *c, const struct bli_result *result) {
    const struct bli_time_constant settling = result->settling;
    const double before = c->model.start.busy > 0 ? 0 : time_constants * settling.constant;
    const double cut = result->warmup * result->time, measured = result->time - cut;
    const double least = least_measured(c, &settling);
    if (isnan(before) || (cut >= before && measured >= least))
        return (struct bli_advice){4 * result->time, NAN, false};
    /* A long warm-up saves most of the time, which matters only where there is much of it. */
    const double plain = fmax(before / BLI_WARMUP_DEFAULT, least / (1 - BLI_WARMUP_DEFAULT));
    if (plain <= bli_default_run_length(&c->model))
        return (struct bli_advice){fmax(plain, result->time), isnan(c->run.warmup) ? NAN : BLI_WARMUP_DEFAULT,
                                   settling.known};
    const double rate = bli_model_arrival_rate(&c->model);
    const double time =
        rounded_up(fmax(fmax(before, cut) + fmax(measured, least), fmax(before, cut) / longest_warmup), rate);
    const double warmup = fmin(ceil(100 * fmax(before, cut) / time) / 100, longest_warmup);
    return (struct bli_advice){rounded_up(fmax(time, least / (1 - warmup)), rate), warmup, settling.known};
}
