# SPDX-License-Identifier: BSD-2-Clause
"""The rule of windowed concurrency (docs/autoscaling.md: what autoscalers of containers do), driving the keeper of
a real fleet: it looks how many requests are there, wakes apps by `ballastd wake` and lets them go by `rest`."""
import collections
import math
import subprocess
import threading
import time

LOOK = 0.05  # seconds between two looks
UP, DOWN = 1000.0, 2.0  # most and least servers of a decision, over those that are ready


class Rule:
    """The decision alone, as in src/engine/window_autoscaler.c: wanted servers from the areas of the last ticks."""

    def __init__(self, servers, window=60.0, panic=0.1, target=0.7, threshold=2.0, tick=2.0):
        self.servers, self.target, self.threshold, self.tick = servers, target, threshold, tick
        self.stable, self.short = round(window / tick), max(1, round(window * panic / tick))
        self.areas = collections.deque(maxlen=self.stable)  # of jobs, in each of the last ticks
        self.wanted, self.ticks, self.calm_at = servers, 0, 0

    def average(self, ticks):
        last = list(self.areas)[-ticks:]
        return sum(last) / (len(last) * self.tick)

    def decide(self, area, ready):
        """The jobs of the last tick, integrated over it, and the servers that are ready."""
        ready = max(ready, 1)
        self.ticks += 1
        self.areas.append(area)
        by_window = math.ceil(self.average(self.stable) / self.target)
        by_panic = math.ceil(self.average(self.short) / self.target)
        if by_panic / ready >= self.threshold:
            self.calm_at = self.ticks + self.stable + 1
        most, least = min(math.ceil(UP * ready), self.servers), math.floor(ready / DOWN)
        wanted = min(max(by_window, least), most)
        if self.ticks < self.calm_at:
            wanted = max(wanted, min(by_panic, most), self.wanted)
        self.wanted = wanted


class Controller(threading.Thread):
    """Follows the rule in a thread until it is told to end."""

    def __init__(self, fleet, rule):
        super().__init__()
        self.fleet, self.rule = fleet, rule
        self.asked = [False] * fleet.servers  # what each app was told last
        self.over = threading.Event()

    def say(self, word, number):
        self.asked[number] = word == "wake"
        subprocess.run([self.fleet.programs.ballastd, "--config", str(self.fleet.config), word, f"app{number}"],
                       check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=10)

    def follow(self, stations, jobs):
        """As many as wanted. Those that go are in set-up, else idle, else they go when they have done their work."""
        if self.rule.wanted == 0 and jobs:
            self.rule.wanted = 1
        for number, station in enumerate(stations):  # one that got a request meanwhile was woken by its station
            self.asked[number] = self.asked[number] or station["power"] in ("set-up", "on")
        kinds = {"off": 0, "set-up": 1, "on": 2}
        free = [number for number, station in enumerate(stations)
                if self.asked[number] and not station["running"] + station["waiting"]]
        free.sort(key=lambda number: kinds.get(stations[number]["power"], 0))
        while sum(self.asked) > self.rule.wanted and free:
            self.say("rest", free.pop(0))
        for number in range(self.fleet.servers):
            if sum(self.asked) < self.rule.wanted and not self.asked[number]:
                self.say("wake", number)

    def run(self):
        area, last = 0.0, time.monotonic()
        next_tick = last + self.rule.tick
        while not self.over.wait(LOOK):
            status = self.fleet.status()
            now = time.monotonic()
            if not status:
                continue
            dispatcher = status["dispatchers"][0]
            jobs = sum(server["in_flight"] for server in dispatcher["servers"]) + sum(dispatcher["held"])
            area += jobs * (now - last)
            last = now
            if now >= next_tick:
                self.rule.decide(area, sum(station["power"] == "on" for station in status["stations"]))
                area, next_tick = 0.0, next_tick + self.rule.tick
            self.follow(status["stations"], jobs)

    def end(self):
        self.over.set()
        self.join()
