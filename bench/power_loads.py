# SPDX-License-Identifier: BSD-2-Clause
"""Servers on and waiting under a policy at several loads, compared with the lab's interval."""
import csv
import io
import math
import time

from power_fleet import Fleet
from power_measure import LATE, MEAN, TRIES, hold, lab, load, result

WARM = 10.0  # seconds before measuring
BEAT = 0.1  # of stations, seconds
REPLICATIONS = 40  # of the lab


def block(options, policy, rho, seed):
    """One measurement; one whose generator was late is made again, with other requests."""
    for again in range(TRIES):
        one = measure(options, policy, rho, seed + 100 * again)
        if one["late"] <= LATE:
            break
    return one


def measure(options, policy, rho, seed):
    """Means of servers on and in set-up, waits, and what the lab must know."""
    fleet = Fleet(options, hold(policy), options.servers, standby=options.standby, setup=options.setup)
    try:
        words = ("--rate", fleet.servers * rho / MEAN, "--service", f"exp({MEAN})")
        warm = load(options, fleet, *words, "--seconds", WARM, "--seed", seed + 1000)
        time.sleep(WARM)
        begin = time.time()
        measured = result(load(options, fleet, *words, "--seconds", options.seconds, "--seed", seed))
        warm = result(warm)
        requests = [row for row in fleet.times() if row[0] - row[1] >= begin]
        work = sum(row[2] for row in requests)
        on, setup, ending = fleet.powered(begin, begin + options.seconds, options.seconds)[0]
        setups = fleet.setups()
        return {"powered": on + setup, "setup": setup, "ending": ending,
                "wait": measured["good"]["mean"] - work / len(requests),
                "late": measured["late"]["mean"], "due": measured["due"],
                # Where nothing can wait for the first app to start, some are refused until then.
                "failed": measured["failed"] + (warm["failed"] if "hold" in policy else 0),
                "load": work / (fleet.servers * options.seconds), "starts": len(setups), "setups": sum(setups)}
    finally:
        fleet.end()


def predict(options, policy, blocks):
    """Means and 95 % half-widths of what so many blocks measure: {name: (mean, half)}, in servers and seconds."""
    rho = sum(one["load"] for one in blocks) / len(blocks)
    setup = sum(one["setups"] for one in blocks) / max(1, sum(one["starts"] for one in blocks)) or 1
    whole = WARM + options.seconds
    row = next(csv.DictReader(io.StringIO(lab(
        options, "compare", "--servers", options.servers, "--load", f"{rho:.6f}", "--policy", policy,
        "--standby", f"det({options.standby / MEAN})",
        "--setup", f"{options.setup.split('(')[0]}({setup / MEAN:.4f})",
        "--heartbeat", BEAT / MEAN, "--time", whole / MEAN, "--warmup", WARM / whole,
        "--replications", REPLICATIONS, "--seed", options.seed, "--format", "csv", "--quiet"))))
    spread = math.sqrt(1 + REPLICATIONS / len(blocks))  # of the mean of so many blocks, about that of the lab
    found = {name: (scale * float(row[metric]), spread * scale * float(row[metric + ".ci"]))
             for name, metric, scale in (("wait", "waiting.mean", MEAN), ("setup", "power.setup", options.servers),
                                         ("off", "power.off", options.servers), ("refused", "jobs.refused", 1))}
    return {"load": rho, "powered": (options.servers - found["off"][0], found["off"][1]), **found}


def verdict(live, expected, blocks):
    late = max(one["late"] for one in blocks)
    if late > LATE:
        return f"undecided: the generator was {1000 * late:.1f} ms late"
    return "inside" if abs(live - expected[0]) <= expected[1] else "not inside"


def report(policy, rho, blocks, expected):
    def mean(name):
        return sum(one[name] for one in blocks) / len(blocks)
    due = sum(one["due"] for one in blocks)
    wait, lab_wait = 1000 * mean("wait"), [1000 * value for value in expected["wait"]]
    print(f"{policy:15} {rho:4g} {expected['load']:6.3f} {mean('powered'):6.2f} {expected['powered'][0]:6.2f} ±"
          f" {expected['powered'][1]:4.2f}  {verdict(mean('powered'), expected['powered'], blocks):10}"
          f" {mean('setup'):5.2f} {expected['setup'][0]:5.2f} {mean('ending'):6.2f} {wait:7.1f} {lab_wait[0]:6.1f} ±"
          f" {lab_wait[1]:4.1f}  {verdict(mean('wait'), expected['wait'], blocks):10}"
          f" {sum(one['failed'] for one in blocks)} of {due}"
          f" ({expected['refused'][0] * due:.0f})", flush=True)


def loads(options):
    """Prints the table; returns whether nothing failed that may not."""
    print(f"{options.servers} servers of {1000 * MEAN:g} ms (exp), standby {1000 * options.standby:g} ms, set-up"
          f" {options.setup} s, {options.rounds} blocks of {options.seconds:g} s for each line\n\n"
          f"{'policy':15} load  drawn     on    lab                     set-up   lab ending wait, ms  lab"
          f"                     failed", flush=True)
    good = True
    for policy in options.policies.split(","):
        for rho in (float(word) for word in options.loads.split(",")):
            blocks = [block(options, policy, rho, options.seed + i) for i in range(options.rounds)]
            report(policy, rho, blocks, predict(options, policy, blocks))
            good = good and not ("hold" in policy and any(one["failed"] for one in blocks))
    print("\non: servers on or in set-up; ending: those that may rest and have not ended yet. ±: 95 % of"
          " measurements as short as\nthis one lie within it, by the lab at the load that was drawn and with the set-up"
          " time that was"
          " measured. failed: in\nbrackets, what the lab refuses because nobody is on.", flush=True)
    return good
