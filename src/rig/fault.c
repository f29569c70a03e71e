/* SPDX-License-Identifier: BSD-2-Clause */
/* Injects the faults of an experiment into a fleet, each at its time. */
#include "rig/block.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- servers ---- */

static enum bal_code set_mode(struct rig *rig, const struct bli_fault *fault, const char *mode,
                              struct bal_error *err) {
    char path[100];
    unsigned number;
    const unsigned process = bli_rig_control_of(rig, fault->of, &number);
    snprintf(path, sizeof path, "/set?server=%u&mode=%s&status=500&after=1&factor=%g", number, mode,
             fault->factor);
    char *answer = bli_rig_get(rig, bli_rig_control_host(rig, process), rig->control[process], path, NULL);
    free(answer);
    return answer || rig->live->keepers ? BAL_OK
                                        : bal_fail(err, BAL_E_IO, "server %u cannot be told", fault->of);
}

static const char *mode_of(enum bli_fault_kind kind) {
    return kind == BLI_FAULT_FAIL   ? "fail"
           : kind == BLI_FAULT_HANG ? "hang"
           : kind == BLI_FAULT_SLOW ? "slow"
                                    : "refuse";
}

/* ---- processes ---- */

/* Which the library that loses datagrams looks at. */
static void set_loss(const struct rig *rig, char on) {
    char path[RIG_PATH + 10];
    snprintf(path, sizeof path, "%s/loss", rig->workdir);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && pwrite(fd, &on, 1, 0) == 1)
        close(fd);
}

static void reload_front(const struct rig *rig, unsigned i) {
    bli_process_signal(&rig->front[i], rig->entry->proxy == BLI_PROXY_HAPROXY ? SIGUSR2 : SIGHUP);
}

/* Of the newest worker; 0: there is none. */
static pid_t signal_worker(const struct rig *rig, unsigned i, int signal_number) {
    const pid_t worker = bli_process_child(&rig->front[i]);
    if (worker > 0)
        kill(worker, signal_number);
    return worker;
}

static void continue_worker(struct rig *rig, unsigned i) {
    if (rig->stopped[i] > 0)
        kill(rig->stopped[i], SIGCONT);
    rig->stopped[i] = 0;
}

/* HAProxy ends when its worker does; a supervisor would start it again. */
static enum bal_code start_front_again(struct rig *rig, unsigned i, struct bal_error *err) {
    return bli_process_has_ended(&rig->front[i]) ? bli_rig_start_front(rig, i, err) : BAL_OK;
}

static enum bal_code start_station_again(struct rig *rig, unsigned i, struct bal_error *err) {
    return rig->stations && bli_process_has_ended(&rig->station[i]) ? bli_rig_start_station(rig, i, err)
                                                                    : BAL_OK;
}

static enum bal_code start_keeper_again(struct rig *rig, unsigned server, struct bal_error *err) {
    const unsigned group = bli_rig_group_of(rig, server);
    return rig->keeper[group].pid <= 0 && rig->stations ? bli_rig_start_keeper(rig, group, err) : BAL_OK;
}

/* As a virtual address goes to another host: the dispatcher ends here and starts there. */
static enum bal_code move_front(struct rig *rig, unsigned i, unsigned host, struct bal_error *err) {
    bli_process_end(&rig->front[i]);
    const enum bal_code code = bli_hosts_move(rig->hosts, bli_rig_front_host(rig, i), host, err);
    if (code)
        return code;
    rig->front_host[i] = host;
    return bli_rig_start_front(rig, i, err);
}

static unsigned next_host(const struct rig *rig, unsigned i) {
    return (bli_rig_front_host(rig, i) + 1) % rig->live->hosts;
}

/* ---- beginnings and ends ---- */

/* Of faults of hosts and of the network, by: 1 begins, -1 ends. */
static void change_host(struct rig *rig, const struct bli_fault *fault, int by) {
    switch (fault->kind) {
    case BLI_FAULT_LINK:
        bli_hosts_isolate(rig->hosts, fault->of, by);
        break;
    case BLI_FAULT_CUT:
        bli_hosts_cut(rig->hosts, fault->of, fault->to, by);
        break;
    case BLI_FAULT_DEAF:
    case BLI_FAULT_MUTE:
        bli_hosts_lose(rig->hosts, fault->of, fault->kind == BLI_FAULT_DEAF, fault->share, by);
        break;
    case BLI_FAULT_DELAY:
        bli_hosts_delay(rig->hosts, fault->of, fault->delay, by);
        break;
    case BLI_FAULT_MTU:
        bli_hosts_set_mtu(rig->hosts, fault->of, by > 0 ? fault->bytes : 0);
        break;
    case BLI_FAULT_FREEZE:
        bli_hosts_signal(rig->hosts, fault->of, by > 0 ? SIGSTOP : SIGCONT);
        break;
    default:
        break;
    }
}

static enum bal_code begin_fault(struct rig *rig, const struct bli_fault *fault, struct bal_error *err) {
    const unsigned of = fault->of;
    switch (fault->kind) {
    case BLI_FAULT_RELOAD:
        reload_front(rig, of);
        break;
    case BLI_FAULT_WORKER:
        signal_worker(rig, of, SIGKILL);
        break;
    case BLI_FAULT_STOP_WORKER:
        rig->stopped[of] = signal_worker(rig, of, SIGSTOP);
        break;
    case BLI_FAULT_DISPATCHER:
        bli_process_end(&rig->front[of]);
        break;
    case BLI_FAULT_KILL_DISPATCHER:
        bli_process_kill(&rig->front[of]);
        break;
    case BLI_FAULT_STOP_DISPATCHER:
        bli_process_signal_all(&rig->front[of], SIGSTOP);
        break;
    case BLI_FAULT_RELOAD_STATION:
        bli_process_signal(&rig->station[of], SIGHUP);
        break;
    case BLI_FAULT_STATION:
        bli_process_kill(&rig->station[of]);
        break;
    case BLI_FAULT_END_STATION:
        bli_process_end(&rig->station[of]);
        break;
    case BLI_FAULT_STOP_STATION:
        bli_process_signal_all(&rig->station[of], SIGSTOP);
        break;
    case BLI_FAULT_KEEPER:
        bli_process_kill_alone(&rig->keeper[bli_rig_group_of(rig, of)]);
        break;
    case BLI_FAULT_FAIL:
    case BLI_FAULT_HANG:
    case BLI_FAULT_SLOW:
    case BLI_FAULT_REFUSE:
        return set_mode(rig, fault, mode_of(fault->kind), err);
    case BLI_FAULT_LOSS:
        set_loss(rig, '1');
        break;
    case BLI_FAULT_ABORT:
        return bli_abort_start(rig, of, err);
    case BLI_FAULT_MOVE:
        return move_front(rig, of, next_host(rig, of), err);
    default:
        change_host(rig, fault, 1);
    }
    return BAL_OK;
}

static enum bal_code end_fault(struct rig *rig, const struct bli_fault *fault, struct bal_error *err) {
    const unsigned of = fault->of;
    switch (fault->kind) {
    case BLI_FAULT_WORKER:
    case BLI_FAULT_DISPATCHER:
    case BLI_FAULT_KILL_DISPATCHER:
        return start_front_again(rig, of, err);
    case BLI_FAULT_STOP_WORKER:
        continue_worker(rig, of);
        break;
    case BLI_FAULT_STOP_DISPATCHER:
        bli_process_signal_all(&rig->front[of], SIGCONT);
        break;
    case BLI_FAULT_STATION:
    case BLI_FAULT_END_STATION:
        return start_station_again(rig, of, err);
    case BLI_FAULT_STOP_STATION:
        bli_process_signal_all(&rig->station[of], SIGCONT);
        break;
    case BLI_FAULT_KEEPER:
        return start_keeper_again(rig, of, err);
    case BLI_FAULT_FAIL:
    case BLI_FAULT_HANG:
    case BLI_FAULT_SLOW:
    case BLI_FAULT_REFUSE:
        return set_mode(rig, fault, "ok", err);
    case BLI_FAULT_LOSS:
        set_loss(rig, '0');
        break;
    case BLI_FAULT_ABORT:
        bli_process_kill(&rig->aborter[of]);
        break;
    case BLI_FAULT_MOVE:
        return move_front(rig, of, bli_rig_front_host(rig, of), err);
    default:
        change_host(rig, fault, -1);
    }
    return BAL_OK;
}

/* ---- the list of all that happens ---- */

static const double noticed = 0.1; /* seconds until the end of a process is noticed */

static void add_event(struct rig_block *block, const struct bli_fault *fault, double at, double lasts) {
    struct rig_event *event = &block->event[block->events];
    event[0] = (struct rig_event){.time = at, .fault = *fault, .begins = true, .order = block->events};
    event[1] = (struct rig_event){.time = at + lasts, .fault = *fault, .order = block->events + 1};
    block->events += 2;
}

/* A server is away for most of its turn, and has a part of it to come back. */
static void add_deploy(struct rig_block *block, const struct bli_fault *fault) {
    static const double away = 0.6;
    const unsigned servers = block->rig->servers;
    const double turn = fault->lasts / servers;
    for (unsigned k = 0; k < servers; k++) {
        struct bli_fault one = *fault;
        one.kind = BLI_FAULT_REFUSE;
        one.of = k;
        add_event(block, &one, fault->at + k * turn, away * turn);
    }
}

/* Of events at the same time, beginnings come before ends. */
static int by_time(const void *a, const void *b) {
    const struct rig_event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->begins != y->begins ? y->begins - x->begins : (x->order > y->order) - (x->order < y->order);
}

bool bli_fault_plan(struct rig_block *block) {
    const struct bli_live *live = block->rig->live;
    size_t room = 0;
    for (size_t i = 0; i < live->faults; i++)
        room += live->fault[i].kind == BLI_FAULT_DEPLOY ? 2 * block->rig->servers : 2;
    block->event = calloc(room + 1, sizeof *block->event);
    for (size_t i = 0; block->event && i < live->faults; i++) {
        const struct bli_fault *fault = &live->fault[i];
        if (fault->kind == BLI_FAULT_DEPLOY)
            add_deploy(block, fault);
        else
            add_event(block, fault, fault->at, fault->kind == BLI_FAULT_WORKER ? noticed : fault->lasts);
    }
    if (block->event)
        qsort(block->event, block->events, sizeof *block->event, by_time);
    return block->event;
}

double bli_fault_step(struct rig_block *block, double now) {
    for (; block->next < block->events; block->next++) {
        const struct rig_event *event = &block->event[block->next];
        if (event->time > now)
            return event->time;
        if (!block->fault.code)
            (event->begins ? begin_fault : end_fault)(block->rig, &event->fault, &block->fault);
    }
    return INFINITY;
}
