/* SPDX-License-Identifier: BSD-2-Clause */
/* What can happen to a live fleet: names, and what a fault of each kind is a fault of. */
#include "spec/fields.h"

#include "ballast/experiment.h"

#include <stddef.h>

const char *const bal_fault_kinds[] = {[BAL_FAULT_RELOAD] = "reload",
                                       [BAL_FAULT_WORKER] = "kill-worker",
                                       [BAL_FAULT_DISPATCHER] = "restart-dispatcher",
                                       [BAL_FAULT_STATION] = "kill-station",
                                       [BAL_FAULT_KEEPER] = "kill-keeper",
                                       [BAL_FAULT_FAIL] = "fail",
                                       [BAL_FAULT_HANG] = "hang",
                                       [BAL_FAULT_SLOW] = "slow",
                                       [BAL_FAULT_REFUSE] = "refuse",
                                       [BAL_FAULT_LOSS] = "datagram-loss",
                                       [BAL_FAULT_KILL_DISPATCHER] = "kill-dispatcher",
                                       [BAL_FAULT_STOP_DISPATCHER] = "stop-dispatcher",
                                       [BAL_FAULT_STOP_WORKER] = "stop-worker",
                                       [BAL_FAULT_END_STATION] = "restart-station",
                                       [BAL_FAULT_STOP_STATION] = "stop-station",
                                       [BAL_FAULT_ABORT] = "abort",
                                       [BAL_FAULT_DEPLOY] = "deploy",
                                       [BAL_FAULT_LINK] = "link-down",
                                       [BAL_FAULT_CUT] = "cut",
                                       [BAL_FAULT_DEAF] = "deaf",
                                       [BAL_FAULT_MUTE] = "mute",
                                       [BAL_FAULT_DELAY] = "delay",
                                       [BAL_FAULT_MTU] = "mtu",
                                       [BAL_FAULT_MOVE] = "move-address",
                                       [BAL_FAULT_RELOAD_STATION] = "reload-station",
                                       [BAL_FAULT_FREEZE] = "freeze",
                                       NULL};

#define OF(WHAT) .place = BAL_FAULT_OF_##WHAT

const struct bal_fault_trait bal_fault_traits[BAL_FAULTS] = {
    [BAL_FAULT_RELOAD] = {OF(DISPATCHER)},
    [BAL_FAULT_WORKER] = {OF(DISPATCHER)},
    [BAL_FAULT_DISPATCHER] = {OF(DISPATCHER), .ends = true},
    [BAL_FAULT_STATION] = {OF(SERVER), .ends = true, .needs_stations = true},
    [BAL_FAULT_KEEPER] = {OF(SERVER), .ends = true, .needs_stations = true},
    [BAL_FAULT_FAIL] = {OF(SERVER), .ends = true},
    [BAL_FAULT_HANG] = {OF(SERVER), .ends = true},
    [BAL_FAULT_SLOW] = {OF(SERVER), .ends = true},
    [BAL_FAULT_REFUSE] = {OF(SERVER), .ends = true},
    [BAL_FAULT_LOSS] = {OF(NONE), .ends = true, .needs_stations = true},
    [BAL_FAULT_KILL_DISPATCHER] = {OF(DISPATCHER), .ends = true},
    [BAL_FAULT_STOP_DISPATCHER] = {OF(DISPATCHER), .ends = true},
    [BAL_FAULT_STOP_WORKER] = {OF(DISPATCHER), .ends = true},
    [BAL_FAULT_END_STATION] = {OF(SERVER), .ends = true, .needs_stations = true},
    [BAL_FAULT_STOP_STATION] = {OF(SERVER), .ends = true, .needs_stations = true},
    [BAL_FAULT_ABORT] = {OF(DISPATCHER), .ends = true},
    [BAL_FAULT_DEPLOY] = {OF(NONE), .ends = true},
    [BAL_FAULT_LINK] = {OF(HOST), .ends = true, .needs_hosts = true},
    [BAL_FAULT_CUT] = {OF(HOST), .ends = true, .needs_hosts = true},
    [BAL_FAULT_DEAF] = {OF(HOST), .ends = true, .needs_stations = true, .needs_hosts = true},
    [BAL_FAULT_MUTE] = {OF(HOST), .ends = true, .needs_stations = true, .needs_hosts = true},
    [BAL_FAULT_DELAY] = {OF(HOST), .ends = true, .needs_hosts = true},
    [BAL_FAULT_MTU] = {OF(HOST), .ends = true, .needs_hosts = true},
    [BAL_FAULT_MOVE] = {OF(DISPATCHER), .ends = true, .needs_hosts = true},
    [BAL_FAULT_RELOAD_STATION] = {OF(SERVER), .needs_stations = true},
    [BAL_FAULT_FREEZE] = {OF(HOST), .ends = true, .needs_hosts = true},
};
