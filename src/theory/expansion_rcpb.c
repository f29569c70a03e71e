/* SPDX-License-Identifier: BSD-2-Clause */
/* rcpb as events. The fast variable is the number of names that are stored, each of an idle server. */
#include "theory/expansion_models.h"

/* Departures that end a queue of i, i = 1 .. levels, for each number of names; arrivals that make a queue of
 * i, without a name; then for each number of names a job that uses one, and a name that comes. */
static void event(const void *param, size_t e, struct fast_event *event) {
    const struct expansion_rcpb *rcpb = param;
    const size_t levels = rcpb->levels, departures = levels * (rcpb->c + 1);
    const size_t i = e % levels; /* the coordinate of the level */
    struct expansion_event *slow = &event->slow;
    if (e < departures + levels) {
        const bool arrival = e >= departures;
        event->from = event->to = arrival ? 0 : (unsigned)(e / levels);
        linear_form_add(&slow->jump, i, arrival ? 1 : -1);
        slow->arguments = 1;
        if (arrival && i == 0)
            slow->argument[0].constant = 1;
        else
            linear_form_add(&slow->argument[0], arrival ? i - 1 : i, 1);
        if (arrival || i + 1 < levels)
            linear_form_add(&slow->argument[0], arrival ? i : i + 1, -1);
        return;
    }
    const unsigned names = (unsigned)(e - departures - levels) / 2;
    const bool use = (e - departures - levels) % 2;
    event->from = use ? names + 1 : names;
    event->to = use ? names : names + 1;
    if (use)
        linear_form_add(&slow->jump, 0, 1);
    slow->argument[0].constant = 1; /* servers that are idle */
    linear_form_add(&slow->argument[0], 0, -1);
    slow->arguments = 1;
}

/* A server whose name is stored does not send it again. */
static struct jet rate(const void *param, size_t e, const struct jet_space *space,
                       const struct jet *argument) {
    const struct expansion_rcpb *rcpb = param;
    const size_t levels = rcpb->levels, departures = levels * (rcpb->c + 1);
    if (e < departures)
        return argument[0];
    if (e < departures + levels)
        return bli_jet_scale(&argument[0], rcpb->lambda);
    if ((e - departures - levels) % 2)
        return bli_jet_constant(rcpb->lambda);
    const struct jet epsilon = bli_jet_epsilon(space);
    const size_t names = (e - departures - levels) / 2;
    const struct jet others = bli_jet_sum(&argument[0], -(double)names, &epsilon);
    return bli_jet_scale(&others, rcpb->mu);
}

struct fast_model bli_expansion_rcpb_model(const struct expansion_rcpb *rcpb) {
    return (struct fast_model){.param = rcpb,
                               .n = rcpb->levels,
                               .states = rcpb->c + 1,
                               .events = rcpb->levels * (rcpb->c + 2) + 2 * rcpb->c,
                               .event = event,
                               .rate = rate};
}
