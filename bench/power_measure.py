# SPDX-License-Identifier: BSD-2-Clause
"""What the measurements of bench/live_power share: the load on a fleet, and what it found."""
import json
import os
import subprocess

MEAN = 0.1  # of the service times, seconds
TRIES = 3  # of what a late generator has spoilt
LATE = 0.002  # a generator that is later than this, on average, has measured itself


def load(options, fleet, *words):
    """Begins `ballast load`, which ends with the fleet; its result is the JSON on its standard output."""
    command = [options.ballast, "load", f"http://127.0.0.1:{fleet.port}/", "--connections", "4000",
               "--timeout", "120", "--format", "json", "--quiet", *(str(word) for word in words)]
    fleet.loads.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
    return fleet.loads[-1]


def result(process):
    return json.loads(process.communicate()[0])


def hold(policy):
    """As the dispatcher is told: what may wait there does."""
    return f"{policy} hold=10000,60s" if "hold" in policy else policy


def lab(options, *words):
    """What the lab prints: an ordinary process, whose time nobody measures."""
    return subprocess.run(["nice", "-n", "5", options.ballast, *(str(word) for word in words)], check=True,
                          capture_output=True, text=True, preexec_fn=be_ordinary).stdout


def be_urgent():
    """This process and all that it starts go before others, where that is allowed."""
    schedule(os.SCHED_FIFO, 10)


def be_ordinary():
    schedule(os.SCHED_OTHER, 0)


def schedule(policy, priority):
    try:
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except PermissionError:
        pass
