/* What a fault has cost: requests that failed or ran twice, slots that were exceeded, and how long it took
 * until requests were answered as before. */
#include "rig/block.h"

#include <math.h>
#include <stdlib.h>

struct step {
    unsigned server;
    double time;
    int by;
};

/* Those who leave before those who come. */
static int by_server_and_time(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    if (x->server != y->server)
        return x->server < y->server ? -1 : 1;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->by - y->by;
}

unsigned bal_most_present(const struct rig_block *block, double from, double to) {
    struct step *step = malloc((2 * block->visits + 1) * sizeof *step);
    size_t steps = 0;
    for (size_t i = 0; step && i < block->visits; i++) {
        const struct rig_visit *visit = &block->visit[i];
        if (visit->to <= from || visit->from >= to)
            continue;
        step[steps++] = (struct step){visit->server, visit->from, 1};
        step[steps++] = (struct step){visit->server, visit->to, -1};
    }
    if (!step)
        return 0;
    qsort(step, steps, sizeof *step, by_server_and_time);
    int present = 0, most = 0;
    for (size_t i = 0; i < steps; i++) {
        present = (i > 0 && step[i].server != step[i - 1].server ? 0 : present) + step[i].by;
        most = present > most ? present : most;
    }
    free(step);
    return (unsigned)most;
}

/* Twice the longest answer before anything happened. */
static double usual(const struct rig_block *block) {
    const double first = block->rig->live->fault[0].at;
    double most = 10 * block->rig->c.model.size.mean;
    for (size_t i = 0; i < block->fates; i++)
        if (block->fate[i].good && block->fate[i].ended < first)
            most = fmax(most, block->fate[i].ended - block->fate[i].time);
    return 2 * most;
}

void bal_recovery_note(struct rig_block *block) {
    const struct bal_live *live = block->rig->live;
    const unsigned slots = block->rig->c.model.slots ? block->rig->c.model.slots : 1;
    const double limit = live->faults > 0 ? usual(block) : 0;
    for (size_t f = 0; f < live->faults; f++) {
        const double from = live->fault[f].at, to = f + 1 < live->faults ? live->fault[f + 1].at : INFINITY;
        double lost = 0, doubled = 0, resent = 0, last = 0;
        for (size_t i = 0; i < block->fates; i++) {
            const struct rig_fate *fate = &block->fate[i];
            if (fate->ended < from || fate->ended >= to)
                continue;
            lost += !fate->good;
            doubled += fate->served > 1;
            resent += fate->resent;
            if (!fate->good || fate->ended - fate->time > limit)
                last = fmax(last, fate->time - from);
        }
        const unsigned most = bal_most_present(block, from, to);
        bal_block_note(block, lost, "fault%zu.lost", f);
        bal_block_note(block, doubled, "fault%zu.doubled", f);
        bal_block_note(block, resent, "fault%zu.resent", f);
        bal_block_note(block, last, "fault%zu.recovery", f);
        if (block->rig->stations)
            bal_block_note(block, most > slots ? most - slots : 0, "fault%zu.exceeded", f);
    }
}
