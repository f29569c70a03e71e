/* SPDX-License-Identifier: BSD-2-Clause */
/* What can happen to a live fleet: names, and what a fault of each kind is a fault of. */
#include "spec/fields.h"

#include "ballast/experiment.h"

#include <stddef.h>

const char *const bli_fault_kinds[] = {[BLI_FAULT_RELOAD] = "reload",
                                       [BLI_FAULT_WORKER] = "kill-worker",
                                       [BLI_FAULT_DISPATCHER] = "restart-dispatcher",
                                       [BLI_FAULT_STATION] = "kill-station",
                                       [BLI_FAULT_KEEPER] = "kill-keeper",
                                       [BLI_FAULT_FAIL] = "fail",
                                       [BLI_FAULT_HANG] = "hang",
                                       [BLI_FAULT_SLOW] = "slow",
                                       [BLI_FAULT_REFUSE] = "refuse",
                                       [BLI_FAULT_LOSS] = "datagram-loss",
                                       [BLI_FAULT_KILL_DISPATCHER] = "kill-dispatcher",
                                       [BLI_FAULT_STOP_DISPATCHER] = "stop-dispatcher",
                                       [BLI_FAULT_STOP_WORKER] = "stop-worker",
                                       [BLI_FAULT_END_STATION] = "restart-station",
                                       [BLI_FAULT_STOP_STATION] = "stop-station",
                                       [BLI_FAULT_ABORT] = "abort",
                                       [BLI_FAULT_DEPLOY] = "deploy",
                                       [BLI_FAULT_LINK] = "link-down",
                                       [BLI_FAULT_CUT] = "cut",
                                       [BLI_FAULT_DEAF] = "deaf",
                                       [BLI_FAULT_MUTE] = "mute",
                                       [BLI_FAULT_DELAY] = "delay",
                                       [BLI_FAULT_MTU] = "mtu",
                                       [BLI_FAULT_MOVE] = "move-address",
                                       [BLI_FAULT_RELOAD_STATION] = "reload-station",
                                       [BLI_FAULT_FREEZE] = "freeze",
                                       NULL};

#define OF(WHAT) .place = BLI_FAULT_OF_##WHAT

const struct bli_fault_trait bli_fault_traits[BLI_FAULTS] = {
    [BLI_FAULT_RELOAD] = {OF(DISPATCHER)},
    [BLI_FAULT_WORKER] = {OF(DISPATCHER)},
    [BLI_FAULT_DISPATCHER] = {OF(DISPATCHER), .ends = true},
    [BLI_FAULT_STATION] = {OF(SERVER), .ends = true, .needs_stations = true},
    [BLI_FAULT_KEEPER] = {OF(SERVER), .ends = true, .needs_stations = true},
    [BLI_FAULT_FAIL] = {OF(SERVER), .ends = true},
    [BLI_FAULT_HANG] = {OF(SERVER), .ends = true},
    [BLI_FAULT_SLOW] = {OF(SERVER), .ends = true},
    [BLI_FAULT_REFUSE] = {OF(SERVER), .ends = true},
    [BLI_FAULT_LOSS] = {OF(NONE), .ends = true, .needs_stations = true},
    [BLI_FAULT_KILL_DISPATCHER] = {OF(DISPATCHER), .ends = true},
    [BLI_FAULT_STOP_DISPATCHER] = {OF(DISPATCHER), .ends = true},
    [BLI_FAULT_STOP_WORKER] = {OF(DISPATCHER), .ends = true},
    [BLI_FAULT_END_STATION] = {OF(SERVER), .ends = true, .needs_stations = true},
    [BLI_FAULT_STOP_STATION] = {OF(SERVER), .ends = true, .needs_stations = true},
    [BLI_FAULT_ABORT] = {OF(DISPATCHER), .ends = true},
    [BLI_FAULT_DEPLOY] = {OF(NONE), .ends = true},
    [BLI_FAULT_LINK] = {OF(HOST), .ends = true, .needs_hosts = true},
    [BLI_FAULT_CUT] = {OF(HOST), .ends = true, .needs_hosts = true},
    [BLI_FAULT_DEAF] = {OF(HOST), .ends = true, .needs_stations = true, .needs_hosts = true},
    [BLI_FAULT_MUTE] = {OF(HOST), .ends = true, .needs_stations = true, .needs_hosts = true},
    [BLI_FAULT_DELAY] = {OF(HOST), .ends = true, .needs_hosts = true},
    [BLI_FAULT_MTU] = {OF(HOST), .ends = true, .needs_hosts = true},
    [BLI_FAULT_MOVE] = {OF(DISPATCHER), .ends = true, .needs_hosts = true},
    [BLI_FAULT_RELOAD_STATION] = {OF(SERVER), .needs_stations = true},
    [BLI_FAULT_FREEZE] = {OF(HOST), .ends = true, .needs_hosts = true},
};
