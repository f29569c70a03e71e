/* For each server and number of cores k, V(t) = integral of min(1, k / n(t)) dt is what a job that had been
 * there all the time would have got; one that comes at A and leaves at D got V(D) - V(A). */
#include "log/sharing.h"

#include <stdlib.h>

/* A job that is there. */
struct guest {
    struct bal_trace_job job;
    int64_t leaves;
    uint32_t found;
    double before[BAL_SHARING_MOST]; /* V when it came */
};

struct place {
    struct guest *guest; /* a heap, the first to leave on top */
    size_t count, room;
    int64_t now;
    double got[BAL_SHARING_MOST]; /* V, in nanoseconds */
};

struct bal_sharing {
    uint32_t cores[BAL_SHARING_MOST];
    unsigned count;
    enum bal_code (*take)(void *context, const struct bal_trace_job *job, uint32_t found, const double *work,
                          struct bal_error *err);
    void *context;
    uint32_t servers;
    struct place *place;
};

enum bal_code bal_sharing_new(const uint32_t *cores, unsigned count, uint32_t servers,
                              enum bal_code (*take)(void *context, const struct bal_trace_job *job,
                                                    uint32_t found, const double *work,
                                                    struct bal_error *err),
                              void *context, struct bal_sharing **sharing, struct bal_error *err) {
    struct bal_sharing *s = *sharing = calloc(1, sizeof *s);
    if (s)
        s->place = calloc((size_t)servers + 1, sizeof *s->place);
    if (!s || !s->place) {
        bal_sharing_free(s);
        *sharing = NULL;
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for %u servers", servers);
    }
    for (unsigned c = 0; c < count; c++)
        s->cores[c] = cores[c];
    s->count = count;
    s->servers = servers;
    s->take = take;
    s->context = context;
    return BAL_OK;
}

void bal_sharing_free(struct bal_sharing *sharing) {
    if (!sharing)
        return;
    for (uint32_t server = 0; sharing->place && server <= sharing->servers; server++)
        free(sharing->place[server].guest);
    free(sharing->place);
    free(sharing);
}

static void pass_time(const struct bal_sharing *sharing, struct place *place, int64_t until) {
    const double length = (double)(until - place->now), guests = (double)place->count;
    for (unsigned c = 0; c < sharing->count && place->count > 0; c++)
        place->got[c] += guests > sharing->cores[c] ? length * sharing->cores[c] / guests : length;
    place->now = until;
}

static struct guest pop(struct place *place) {
    const struct guest first = place->guest[0], moved = place->guest[--place->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < place->count; at = child) {
        if (child + 1 < place->count && place->guest[child + 1].leaves < place->guest[child].leaves)
            child++;
        if (moved.leaves <= place->guest[child].leaves)
            break;
        place->guest[at] = place->guest[child];
    }
    place->guest[at] = moved;
    return first;
}

static void push(struct place *place, const struct guest *guest) {
    size_t at = place->count++;
    for (; at > 0 && place->guest[(at - 1) / 2].leaves > guest->leaves; at = (at - 1) / 2)
        place->guest[at] = place->guest[(at - 1) / 2];
    place->guest[at] = *guest;
}

static enum bal_code let_go(struct bal_sharing *sharing, struct place *place, struct bal_error *err) {
    pass_time(sharing, place, place->guest[0].leaves);
    const struct guest guest = pop(place);
    double work[BAL_SHARING_MOST];
    for (unsigned c = 0; c < sharing->count; c++)
        work[c] = place->got[c] - guest.before[c];
    return sharing->take(sharing->context, &guest.job, guest.found, work, err);
}

static enum bal_code make_room(struct place *place, struct bal_error *err) {
    const size_t room = place->room ? 2 * place->room : 8;
    struct guest *guest = realloc(place->guest, room * sizeof *guest);
    if (!guest)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu jobs at a server", room);
    place->guest = guest;
    place->room = room;
    return BAL_OK;
}

enum bal_code bal_sharing_add(struct bal_sharing *sharing, const struct bal_trace_job *job,
                              struct bal_error *err) {
    struct place *place = &sharing->place[job->server];
    enum bal_code code = BAL_OK;
    while (!code && place->count > 0 && place->guest[0].leaves <= job->time)
        code = let_go(sharing, place, err);
    if (!code && place->count == place->room)
        code = make_room(place, err);
    if (code)
        return code;
    pass_time(sharing, place, job->time);
    struct guest guest = {.job = *job, .leaves = job->time + job->size, .found = (uint32_t)place->count};
    for (unsigned c = 0; c < sharing->count; c++)
        guest.before[c] = place->got[c];
    push(place, &guest);
    return BAL_OK;
}

enum bal_code bal_sharing_end(struct bal_sharing *sharing, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (uint32_t server = 0; server <= sharing->servers; server++)
        while (!code && sharing->place[server].count > 0)
            code = let_go(sharing, &sharing->place[server], err);
    return code;
}
