/* SPDX-License-Identifier: BSD-2-Clause */
/* pod-memory with one server remembered, as events. A job sees the remembered server and d drawn with
 * replacement, joins a shortest one, and a shortest after that is remembered. So if two of them were as
 * short a queue of that length is, and else one of a job more. With epsilon = 1/N and x_i the servers with at
 * least i jobs, the remembered one has y jobs and
 *
 *     is the only one of y, all others being longer, with probability (x_{y+1} + epsilon)^d,
 *     is as short as the shortest drawn with the rest of x_y^d,
 *     one server of m < y jobs alone is the shortest with
 *         (x_m - x_{m+1}) ((x_{m+1} + epsilon)^d - x_{m+1}^d) / epsilon, and
 *     several of m < y are with the rest of x_m^d - x_{m+1}^d. */
#include "theory/expansion_models.h"

enum { ALONE, SEVERAL, KINDS };

/* Of each y: jobs that come to the shortest queue, of m <= y, alone or not; then departures of the other
 * servers; then one of the remembered server. */
struct memory_event {
    unsigned y, m, kind; /* m: the queue that a job joins, or that a departure ends */
    bool arrival, remembered;
};

static size_t arrivals_of(size_t y, size_t levels) {
    return KINDS * (y < levels ? y + 1 : levels);
}

static struct memory_event place_of(const struct expansion_memory *memory, size_t e) {
    const size_t levels = memory->levels;
    unsigned y = 0;
    for (size_t all; e >= (all = arrivals_of(y, levels) + levels + (y > 0)); y++)
        e -= all;
    const size_t arrivals = arrivals_of(y, levels);
    if (e < arrivals)
        return (struct memory_event){.y = y, .m = (unsigned)(e / KINDS), .kind = e % KINDS, .arrival = true};
    e -= arrivals;
    return (struct memory_event){.y = y, .m = e < levels ? (unsigned)e + 1 : y, .remembered = e == levels};
}

static void add_level(const struct expansion_memory *memory, struct linear_form *form, size_t i) {
    if (i == 0)
        form->constant += 1;
    else if (i <= memory->levels)
        linear_form_add(form, i - 1, 1);
}

static void event(const void *param, size_t e, struct fast_event *event) {
    const struct expansion_memory *memory = param;
    const struct memory_event at = place_of(memory, e);
    event->from = at.y;
    event->to = at.arrival ? at.m + (at.kind == ALONE) : at.y - at.remembered;
    linear_form_add(&event->slow.jump, at.arrival ? at.m : at.m - 1, at.arrival ? 1 : -1);
    event->slow.arguments = 2;
    add_level(memory, &event->slow.argument[0], at.m);
    add_level(memory, &event->slow.argument[1], at.m + 1);
}

/* ((b + epsilon)^d - b^d) / epsilon = the sum of (b + epsilon)^j b^(d-1-j) */
static struct jet hits_of_one(const struct jet_space *space, const struct jet *b, const struct jet *more,
                              unsigned d) {
    struct jet sum = bli_jet_constant(1), power = *b;
    for (unsigned j = 1; j < d; j++) {
        sum = bli_jet_multiply(space, &sum, more);
        sum = bli_jet_sum(&sum, 1, &power);
        power = bli_jet_multiply(space, &power, b);
    }
    return sum;
}

static struct jet rate(const void *param, size_t e, const struct jet_space *space,
                       const struct jet *argument) {
    const struct expansion_memory *memory = param;
    const struct memory_event at = place_of(memory, e);
    const struct jet epsilon = bli_jet_epsilon(space);
    const struct jet here = bli_jet_sum(&argument[0], -1, &argument[1]);
    if (at.remembered)
        return epsilon;
    if (!at.arrival)
        return at.m == at.y ? bli_jet_sum(&here, -1, &epsilon) : here;
    const struct jet more = bli_jet_sum(&argument[1], 1, &epsilon);
    struct jet all = bli_jet_power(space, &argument[0], memory->d), alone;
    if (at.m == at.y) {
        alone = bli_jet_power(space, &more, memory->d);
    } else {
        const struct jet longer = bli_jet_power(space, &argument[1], memory->d),
                         hits = hits_of_one(space, &argument[1], &more, memory->d);
        all = bli_jet_sum(&all, -1, &longer);
        alone = bli_jet_multiply(space, &here, &hits);
    }
    const struct jet several = bli_jet_sum(&all, -1, &alone);
    return bli_jet_scale(at.kind == ALONE ? &alone : &several, memory->lambda);
}

struct fast_model bli_expansion_memory_model(const struct expansion_memory *memory) {
    const size_t levels = memory->levels;
    size_t events = 0;
    for (size_t y = 0; y <= levels; y++)
        events += arrivals_of(y, levels) + levels + (y > 0);
    return (struct fast_model){.param = memory,
                               .n = levels,
                               .states = (unsigned)levels + 1,
                               .events = events,
                               .event = event,
                               .rate = rate};
}
