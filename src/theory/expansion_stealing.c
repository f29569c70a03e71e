/* SPDX-License-Identifier: BSD-2-Clause */
/* Power of d choices with servers that steal, as events: one that completes its last job asks a server drawn
 * from all, itself included, for a part of its queue. */
#include "theory/expansion_models.h"

/* Arrivals that make a queue of i; departures that end one of i > 1; and last jobs that end, of which the
 * l-th finds a server of l jobs, l = 2 .., and the first none that gives. */
static size_t amount_of(const struct expansion_stealing *model, size_t jobs) {
    return bal_steal_amount(&model->stealing->steal, (uint32_t)jobs);
}

/* Adds the servers with exactly i jobs. */
static void add_exactly(const struct expansion_stealing *model, struct linear_form *form, size_t i,
                        double factor) {
    if (i == 0)
        form->constant += factor;
    else
        linear_form_add(form, i - 1, factor);
    if (i + 1 <= model->levels)
        linear_form_add(form, i, -factor);
}

static void add_level(struct linear_form *form, size_t i) {
    if (i == 0)
        form->constant += 1;
    else
        linear_form_add(form, i - 1, 1);
}

/* The l-th request; those that get nothing are one event with l = 1. */
static void request(const struct expansion_stealing *model, size_t l, struct expansion_event *slow) {
    const size_t amount = l > 1 ? amount_of(model, l) : 0;
    linear_form_add(&slow->jump, 0, -1);
    for (size_t i = 1; i <= amount; i++) {
        linear_form_add(&slow->jump, i - 1, 1);
        linear_form_add(&slow->jump, l - i, -1);
    }
    slow->arguments = 2;
    add_exactly(model, &slow->argument[0], 1, 1);
    if (l > 1) {
        if (amount > 0)
            add_exactly(model, &slow->argument[1], l, 1);
        return;
    }
    slow->argument[1].constant = 1;
    for (size_t i = 2; i <= model->levels; i++)
        if (amount_of(model, i) > 0)
            add_exactly(model, &slow->argument[1], i, -1);
}

static void event(const void *param, size_t e, struct fast_event *event) {
    const struct expansion_stealing *model = param;
    const size_t i = e % model->levels + 1;
    struct expansion_event *slow = &event->slow;
    event->from = event->to = 0;
    if (e >= 2 * model->levels) {
        request(model, i, slow);
    } else if (e >= model->levels) {
        linear_form_add(&slow->jump, i - 1, -1);
        slow->arguments = 1;
        if (i > 1)
            add_exactly(model, &slow->argument[0], i, 1);
    } else {
        linear_form_add(&slow->jump, i - 1, 1);
        slow->arguments = 2;
        add_level(&slow->argument[0], i - 1);
        add_level(&slow->argument[1], i);
    }
}

/* Of all servers but one a part is N / (N - 1) = 1 + epsilon + .. times as large. */
static struct jet request_rate(const struct expansion_stealing *model, bool gets,
                               const struct jet_space *space, const struct jet *argument) {
    const struct jet one = bli_jet_constant(1), nothing = bli_jet_sum(&one, -1, &argument[1]);
    struct jet finds = gets ? argument[1] : nothing;
    if (model->others) {
        const struct jet epsilon = bli_jet_epsilon(space),
                         square = bli_jet_multiply(space, &epsilon, &epsilon),
                         more = bli_jet_sum(&epsilon, 1, &square), factor = bli_jet_sum(&one, 1, &more);
        finds = bli_jet_multiply(space, &finds, &factor);
    }
    if (!gets)
        finds = bli_jet_sum(&one, -1, &finds);
    return bli_jet_multiply(space, &argument[0], &finds);
}

static struct jet rate(const void *param, size_t e, const struct jet_space *space,
                       const struct jet *argument) {
    const struct expansion_stealing *model = param;
    if (e >= 2 * model->levels)
        return request_rate(model, e > 2 * model->levels, space, argument);
    if (e >= model->levels)
        return argument[0];
    const struct jet from = bli_jet_power(space, &argument[0], model->stealing->d),
                     to = bli_jet_power(space, &argument[1], model->stealing->d);
    const struct jet joins = bli_jet_sum(&from, -1, &to);
    return bli_jet_scale(&joins, model->stealing->lambda);
}

struct fast_model bli_expansion_stealing_model(const struct expansion_stealing *model) {
    return (struct fast_model){.param = model,
                               .n = model->levels,
                               .states = 1,
                               .events = 3 * model->levels,
                               .event = event,
                               .rate = rate};
}
