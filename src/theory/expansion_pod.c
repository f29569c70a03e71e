/* SPDX-License-Identifier: BSD-2-Clause */
/* pod as events. With t_i the fraction of all servers that have at least i jobs, a job that probes d servers
 * finds the shortest queue to have exactly i - 1 with probability h(t_{i-1}) - h(t_i), h(t) = t^d, and then
 * joins group g in proportion to its servers of that length, y. As y may be all of t_{i-1} - t_i, the
 * quotient is divided beforehand. Where the servers probed are different ones, h(t) = t (t - 1/N) .. (t -
 * (d-1)/N) / (1 (1 - 1/N) .. (1 - (d-1)/N)): the same with factors that depend on 1/N. */
#include "theory/expansion_pod.h"

/* Event e: of group e / (2 levels), at first the arrivals that make a queue of i, then the departures that
 * end it. */
static size_t group_of(const struct expansion_pod *pod, size_t e) {
    return e / (2 * pod->levels);
}

static size_t level_of(const struct expansion_pod *pod, size_t e) {
    return e % pod->levels;
}

static bool is_arrival(const struct expansion_pod *pod, size_t e) {
    return e % (2 * pod->levels) < pod->levels;
}

/* Adds the fraction of servers of group g with at least i jobs. */
static void add_level(const struct expansion_pod *pod, struct linear_form *form, size_t g, size_t i,
                      double factor) {
    if (i == 0)
        form->constant += factor * pod->share[g];
    else if (i <= pod->levels)
        linear_form_add(form, g * pod->levels + i - 1, factor);
}

static void event(const void *param, size_t e, struct expansion_event *event) {
    const struct expansion_pod *pod = param;
    const size_t g = group_of(pod, e), i = level_of(pod, e) + 1;
    const bool arrival = is_arrival(pod, e);
    linear_form_add(&event->jump, g * pod->levels + i - 1, arrival ? 1 : -1);
    event->arguments = arrival ? 3 : 1;
    add_level(pod, &event->argument[0], g, arrival ? i - 1 : i, 1);
    add_level(pod, &event->argument[0], g, arrival ? i : i + 1, -1);
    for (size_t k = 0; k < pod->groups && arrival; k++) {
        add_level(pod, &event->argument[1], k, i - 1, 1);
        add_level(pod, &event->argument[2], k, i, 1);
    }
}

/* (h(a) - h(b)) / (a - b) = the sum over j of the factors of h(b) in front of the j-th and those of h(a)
 * behind it. */
static struct jet divided_choice(const struct jet_space *space, const struct jet *a, const struct jet *b,
                                 unsigned d, bool distinct) {
    const struct jet epsilon = bli_jet_epsilon(space);
    struct jet sum = bli_jet_constant(1), front = *b, all = bli_jet_constant(1);
    for (unsigned j = 1; j < d; j++) {
        const double shift = distinct ? j : 0;
        const struct jet factor = bli_jet_sum(a, -shift, &epsilon);
        sum = bli_jet_multiply(space, &sum, &factor);
        sum = bli_jet_sum(&sum, 1, &front);
        const struct jet next = bli_jet_sum(b, -shift, &epsilon);
        front = bli_jet_multiply(space, &front, &next);
        if (distinct) { /* 1 / (1 - j epsilon) */
            const struct jet more = bli_jet_scale(&epsilon, j), most = bli_jet_multiply(space, &more, &more);
            struct jet quotient = bli_jet_sum(&more, 1, &most);
            quotient.term[0] = 1;
            all = bli_jet_multiply(space, &all, &quotient);
        }
    }
    return distinct ? bli_jet_multiply(space, &sum, &all) : sum;
}

static struct jet rate(const void *param, size_t e, const struct jet_space *space,
                       const struct jet *argument) {
    const struct expansion_pod *pod = param;
    if (!is_arrival(pod, e))
        return bli_jet_scale(&argument[0], pod->speed[group_of(pod, e)]);
    struct jet choice = bli_jet_constant(0);
    for (int kind = 0; kind < 2; kind++) {
        const double share = kind ? pod->p : 1 - pod->p;
        if (share == 0)
            continue;
        const struct jet of = divided_choice(space, &argument[1], &argument[2], pod->d[kind], pod->distinct);
        choice = bli_jet_sum(&choice, pod->lambda * share, &of);
    }
    return bli_jet_multiply(space, &argument[0], &choice);
}

struct expansion_model bli_expansion_pod_model(const struct expansion_pod *pod) {
    return (struct expansion_model){.param = pod,
                                    .n = pod->groups * pod->levels,
                                    .events = 2 * pod->groups * pod->levels,
                                    .event = event,
                                    .rate = rate};
}
