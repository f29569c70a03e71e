# SPDX-License-Identifier: BSD-2-Clause
"""Apps that all rest, then a load of 0.2, then a step to 0.7: the number of servers on over time, of several
runs, compared with simulated fleets of that size and the fluid limit."""
import csv
import io
import math
import pathlib
import tempfile
import time

from power_fleet import Fleet
from power_measure import LATE, MEAN, TRIES, hold, lab, load, result

POLICY = "tabs:else=hold"
LOW, HIGH = 0.2, 0.7
HALF = 30.0  # seconds of each
STEP = 0.5  # seconds of a point
REPLICATIONS = 40  # of the lab
STALL = 0.3  # the longest time in seconds by which a request may be late


def run(options, seed):
    """One whose generator had no processor for a while is made again, with other requests."""
    for again in range(TRIES):
        curve, found = measure(options, seed + 100 * again)
        if found["late"]["mean"] <= LATE and found["late"]["most"] <= STALL:
            break
    return curve, found


def measure(options, seed):
    """Servers on, averaged over each step, and what failed of how many."""
    fleet = Fleet(options, hold(POLICY), options.servers, standby=options.standby, setup=options.setup)
    try:
        process = load(options, fleet, "--rate", fleet.servers * LOW / MEAN, "--service", f"exp({MEAN})",
                       "--curve", f"table(0:1 {HALF}:1 {HALF + 0.001}:{HIGH / LOW})", "--seconds", 2 * HALF,
                       "--seed", seed)
        begin = time.time()
        found = result(process)
        return [pair[0] for pair in fleet.powered(begin, begin + 2 * HALF, STEP)], found
    finally:
        fleet.end()


# A server that is on draws one watt, any other none.
EXPERIMENT = """title: A step of load
fleet: {servers: %(servers)d, start: "off=1", standby: "det(%(standby)g)", setup: "%(setup)s", watts: "1,1,0,0"}
workload: {load: %(load)g, curve: "table(0:1 %(half)g:1 %(more)g:%(factor)g)"}
policies: ["%(policy)s"]
sweep: [{axis: run.time, values: [%(times)s]}]
run: {window: %(window)g, replications: %(replications)d}
metrics: [power.mean]
"""


def simulated(options, times, window):
    """Servers on in simulated fleets of the same size, on average, in a window that ends at each of the times, and the
    95 % half-width of the mean of so many runs: {time: (mean, half)}. Where a run ends so soon after the step that it
    calls itself unstable there is none."""
    kind, mean = options.setup.rstrip(")").split("(")
    text = EXPERIMENT % {"servers": options.servers, "standby": options.standby / MEAN,
                         "setup": f"{kind}({float(mean) / MEAN:g})", "load": LOW, "half": HALF / MEAN,
                         "more": HALF / MEAN + 0.01, "factor": HIGH / LOW, "policy": POLICY, "window": window / MEAN,
                         "times": ", ".join(f"{value / MEAN:g}" for value in times), "replications": REPLICATIONS}
    spread = math.sqrt(1 + REPLICATIONS / options.rounds)  # of the mean of so many runs, about that of the lab
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "step.yaml"
        path.write_text(text)
        rows = csv.DictReader(io.StringIO(lab(options, "run", path, "--db", path.with_suffix(".db"), "--format",
                                              "csv", "--quiet")))
        return {when: (options.servers * float(row["power.mean"]),
                       spread * options.servers * float(row["power.mean.ci"]))
                for when, row in zip(times, rows) if row["power.mean"]}


def fluid(options, points):
    """Servers on in the fluid limit, from (almost) all off on, at times from 0 to the end."""
    mean = float(options.setup.rstrip(")").split("(")[1])
    rows = csv.DictReader(io.StringIO(lab(
        options, "fluid", f"tabs:mu={MEAN / options.standby:g},nu={MEAN / mean:g}", "--load", LOW, "--curve",
        f"table(0:1 {HALF / MEAN:g}:1 {HALF / MEAN + 0.01:g}:{HIGH / LOW:g})", "--from", "busy=0.001,off=0.999",
        "--until", 2 * HALF / MEAN, "--points", points, "--format", "csv")))
    return [(MEAN * float(row["t"]), options.servers * (1 - float(row["off"]) - float(row["setup"]))) for row in rows]


def step(options):
    """Writes the curves to options.csv; returns whether no request failed."""
    runs, failed, due = [], 0, 0
    for i in range(options.rounds):
        curve, found = run(options, options.seed + i)
        runs.append(curve)
        failed, due = failed + found["failed"], due + found["due"]
    times = [STEP * (i + 1) for i in range(len(runs[0]))]
    means = [sum(values) / len(runs) for values in zip(*runs)]
    expected = simulated(options, times[3::4], STEP)
    settled = simulated(options, (HALF, 2 * HALF), HALF / 2)
    limit = fluid(options, 601)
    with open(options.csv, "w", encoding="utf-8") as out:
        out.write("series,time,on\n")
        for name, pairs in (("live", zip((value - STEP / 2 for value in times), means)),
                            ("lab", ((value - STEP / 2, on) for value, (on, _) in expected.items())), ("fluid", limit)):
            out.writelines(f"{name},{when:g},{on:.4f}\n" for when, on in pairs)
    print(f"{options.servers} servers from all off, load {LOW} and from {HALF:g} s on {HIGH}: {failed} of {due}"
          f" requests failed in {options.rounds} runs.")
    for name, last in (("load 0.2", HALF), ("load 0.7", 2 * HALF)):
        first = last - HALF / 2
        live = [on for when, on in zip(times, means) if first < when <= last]
        far = [on for when, on in limit if first < when <= last]
        mean, half = settled[last]
        print(f"servers on at {name}: live {sum(live) / len(live):.2f}, lab {mean:.2f} ± {half:.2f},"
              f" fluid limit {sum(far) / len(far):.2f}")
    return failed == 0
