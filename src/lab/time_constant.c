/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast does the fleet of a case forget how it began?
 *
 * Theory knows it for some policies. For the others it is taken to be the slowest that is plausible: a result
 * that is called settling although it is not costs longer runs, one that is not called so although it is
 * costs a wrong number without a word. */
#include "lab/time_constant.h"

#include "ballast/predict.h"

#include <math.h>

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
