# SPDX-License-Identifier: BSD-2-Clause
"""One recorded load twice: under tabs, and under the rule of windowed concurrency; server-seconds and p99 of
both, compared with `ballast replay --autoscale` of the same record."""
import csv
import io
import math
import pathlib
import random
import tempfile
import time

from power_fleet import Fleet
from power_measure import LATE, MEAN, hold, lab, load, result
from power_rule import Controller, Rule

# Parts of its length, and load: quiet, busy, almost nothing, middling, more than usual, quiet.
SHAPE = ((60, 0.2), (60, 0.7), (60, 0.05), (60, 0.4), (30, 0.9), (60, 0.1))


def record(servers, seed, whole, path):
    """An access log of so many seconds in csv: when requests came and how much work they were."""
    rng, begin = random.Random(seed), 0.0
    with open(path, "w", encoding="utf-8") as out:
        out.write("start,duration_s\n")
        for part, rho in SHAPE:
            seconds = whole * part / sum(parts for parts, _ in SHAPE)
            when = begin + rng.expovariate(servers * rho / MEAN)
            while when < begin + seconds:
                out.write(f"{1772409600 + when:.4f},{rng.expovariate(1 / MEAN):.5f}\n")
                when += rng.expovariate(servers * rho / MEAN)
            begin += seconds


def under_tabs(options, log, seconds):
    return measure(options, Fleet(options, hold("tabs:else=hold"), options.servers, standby=options.standby,
                                  setup=options.setup), log, seconds, None)


def under_rule(options, log, seconds):
    """All begin on, as the rule does. Stations leave it to the rule who rests."""
    fleet = Fleet(options, hold("jiq:else=hold"), options.servers, standby=3600, setup=options.setup)
    return measure(options, fleet, log, seconds, Controller(fleet, Rule(options.servers)))


def measure(options, fleet, log, seconds, controller):
    try:
        if controller:
            for number in range(fleet.servers):
                controller.say("wake", number)
            while sum(station["power"] == "on" for station in fleet.status()["stations"]) < fleet.servers:
                time.sleep(0.1)
            controller.start()
        begin = time.time()
        found = result(load(options, fleet, "--replay", log))
        return {"servers": sum(fleet.powered(begin, begin + seconds, seconds)[0]) * seconds,
                "mean": found["good"]["mean"], "p99": found["good"]["p99"], "late": found["late"]["mean"],
                "failed": found["failed"], "due": found["due"]}
    finally:
        if controller and controller.is_alive():
            controller.end()
        fleet.end()


def predict(options, log, policies):
    """Of each policy: server-seconds, mean and p99 with half-widths for one more replay of the same record."""
    kind, mean = options.setup.rstrip(")").split("(")
    words = [word for policy in policies for word in ("--policy", policy)]
    text = lab(options, "replay", log, "--servers", options.servers, "--setup", f"{kind}({mean})", "--standby",
               f"det({options.standby})", "--autoscale", *words, "--format", "csv", "--quiet")
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        spread = math.sqrt(1 + float(row["replications"]))
        times = {name: (float(row[f"response.{name}"]), spread * float(row[f"response.{name}.ci"]))
                 for name in ("mean", "p99")}
        found[row["policy"].split(":")[0]] = {"servers": 3600 * float(row["server_hours"]), **times}
    return found


def recorded(options):
    with tempfile.TemporaryDirectory() as directory:
        log = pathlib.Path(directory) / "recorded.csv"
        seconds = options.seconds
        record(options.servers, options.seed, seconds, log)
        live = {"tabs": under_tabs(options, log, seconds), "windowed": under_rule(options, log, seconds)}
        said = predict(options, log, ("tabs:else=hold", "windowed"))
    print(f"{options.servers} servers, a record of {seconds:g} s, set-up {options.setup} s. tabs:else=hold with a"
          f" standby of {options.standby:g} s; windowed with\nwindows of 60 and 6 s, a target of 0.7 requests a"
          " server and a decision every 2 s\n")
    print(f"{'':9} server-seconds   lab  mean, ms   lab         p99, ms   lab          failed")
    for name, one in live.items():
        mean, p99 = ([1000 * value for value in said[name][key]] for key in ("mean", "p99"))
        print(f"{name:9} {one['servers']:14.0f} {said[name]['servers']:5.0f} {1000 * one['mean']:9.1f} {mean[0]:5.0f}"
              f" ± {mean[1]:3.0f} {1000 * one['p99']:11.0f} {p99[0]:5.0f} ± {p99[1]:3.0f}  {one['failed']} of"
              f" {one['due']}"
              + (f" (the generator was {1000 * one['late']:.1f} ms late)" if one["late"] > LATE else ""))
    print("\nlab: ballast replay --autoscale of the same record; ±: 95 % of replays with other random choices lie within"
          " it.")
    return all(one["failed"] == 0 for one in live.values())
