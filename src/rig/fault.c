/* What happens to a fleet on purpose, at its time. */
#include "rig/block.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum bal_code set_mode(struct rig *rig, const struct bal_fault *fault, const char *mode,
                              struct bal_error *err) {
    char path[100];
    const unsigned process = rig->controls > 1 ? fault->of : 0, server = rig->controls > 1 ? 0 : fault->of;
    snprintf(path, sizeof path, "/set?server=%u&mode=%s&status=500&after=1&factor=%g", server, mode,
             fault->factor);
    char *answer = bal_rig_get(rig->control[process], path, NULL);
    free(answer);
    return answer || rig->live->keepers ? BAL_OK
                                        : bal_fail(err, BAL_E_IO, "server %u cannot be told", fault->of);
}

/* Which the library that loses datagrams looks at. */
static void set_loss(const struct rig *rig, char on) {
    char path[RIG_PATH + 10];
    snprintf(path, sizeof path, "%s/loss", rig->place);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && pwrite(fd, &on, 1, 0) == 1)
        close(fd);
}

static void reload(const struct rig *rig, unsigned i) {
    if (rig->front[i].pid > 0)
        kill(rig->front[i].pid, rig->entry->proxy == BAL_PROXY_HAPROXY ? SIGUSR2 : SIGHUP);
}

static void kill_worker(const struct rig *rig, unsigned i) {
    const pid_t worker = bal_process_child(&rig->front[i]);
    if (worker > 0)
        kill(worker, SIGKILL);
}

static enum bal_code begin(struct rig *rig, const struct bal_fault *fault, struct bal_error *err) {
    switch (fault->kind) {
    case BAL_FAULT_RELOAD:
        reload(rig, fault->of);
        break;
    case BAL_FAULT_WORKER:
        kill_worker(rig, fault->of);
        break;
    case BAL_FAULT_DISPATCHER:
        bal_process_end(&rig->front[fault->of]);
        break;
    case BAL_FAULT_STATION:
        if (rig->stations)
            bal_process_kill(&rig->station[fault->of]);
        break;
    case BAL_FAULT_KEEPER:
        bal_process_kill_alone(&rig->keeper);
        break;
    case BAL_FAULT_FAIL:
        return set_mode(rig, fault, "fail", err);
    case BAL_FAULT_HANG:
        return set_mode(rig, fault, "hang", err);
    case BAL_FAULT_SLOW:
        return set_mode(rig, fault, "slow", err);
    case BAL_FAULT_REFUSE:
        return set_mode(rig, fault, "refuse", err);
    case BAL_FAULT_LOSS:
        set_loss(rig, '1');
        break;
    case BAL_FAULTS:
        break;
    }
    return BAL_OK;
}

static enum bal_code end(struct rig *rig, const struct bal_fault *fault, struct bal_error *err) {
    switch (fault->kind) {
    case BAL_FAULT_WORKER: /* HAProxy ends when its worker does; who watches over it starts it again */
    case BAL_FAULT_DISPATCHER:
        return bal_process_has_ended(&rig->front[fault->of]) ? bal_rig_start_front(rig, fault->of, err)
                                                             : BAL_OK;
    case BAL_FAULT_STATION:
        return rig->stations ? bal_rig_start_station(rig, fault->of, err) : BAL_OK;
    case BAL_FAULT_KEEPER:
        return rig->keeper.pid <= 0 && rig->stations ? bal_rig_start_keeper(rig, err) : BAL_OK;
    case BAL_FAULT_FAIL:
    case BAL_FAULT_HANG:
    case BAL_FAULT_SLOW:
    case BAL_FAULT_REFUSE:
        return set_mode(rig, fault, "ok", err);
    case BAL_FAULT_LOSS:
        set_loss(rig, '0');
        break;
    case BAL_FAULT_RELOAD:
    case BAL_FAULTS:
        break;
    }
    return BAL_OK;
}

static const double noticed = 0.1; /* seconds until somebody sees that a process has ended */

/* The k-th thing that happens: beginnings and ends of faults by time; INFINITY: there is none. */
static double find(const struct bal_live *live, size_t k, const struct bal_fault **fault, bool *begins) {
    double before = -1;
    for (size_t done = 0;;) {
        double next = INFINITY;
        for (size_t i = 0; i < live->faults; i++) {
            const struct bal_fault *f = &live->fault[i];
            const double times[2] = {f->at, f->at + (f->kind == BAL_FAULT_WORKER ? noticed : f->lasts)};
            for (int e = 0; e < 2; e++)
                if (times[e] > before)
                    next = fmin(next, times[e]);
        }
        if (next == INFINITY)
            return INFINITY;
        for (int e = 0; e < 2; e++) /* what begins at a time comes before what ends then */
            for (size_t i = 0; i < live->faults; i++) {
                const struct bal_fault *f = &live->fault[i];
                const double time = f->at + (e == 0 ? 0 : f->kind == BAL_FAULT_WORKER ? noticed : f->lasts);
                if (time != next || done++ != k)
                    continue;
                *fault = f;
                *begins = e == 0;
                return next;
            }
        before = next;
    }
}

double bal_fault_step(struct rig_block *block, double now) {
    const struct bal_fault *fault = NULL;
    bool begins = false;
    double time;
    while ((time = find(block->rig->live, block->next, &fault, &begins)) <= now) {
        block->next++;
        if (!block->fault.code)
            (begins ? begin : end)(block->rig, fault, &block->fault);
    }
    return time;
}
