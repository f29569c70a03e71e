#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The model of the bare loop in SimPy: N queues, each job to the shorter of two uniform ones.

Prints events (arrivals and completions) per second of processor time. Needs Debian's python3-simpy (SimPy 2).
usage: bench/simpy.py [SERVERS [JOBS]]
"""
import random
import sys
import time

from SimPy.Simulation import Process, Simulation, hold, passivate

LOAD = 0.9


class Server(Process):
    """Works on one job at a time, first come, first served; a job is its arrival time."""

    def __init__(self, sim):
        Process.__init__(self, sim=sim)
        self.jobs = []
        self.responses = 0.0
        self.completed = 0

    def run(self):
        while True:
            if not self.jobs:
                yield passivate, self
            yield hold, self, random.expovariate(1.0)
            self.responses += self.sim.now() - self.jobs.pop(0)
            self.completed += 1


class Source(Process):
    """Poisson arrivals, each to the shorter of two uniform queues."""

    def run(self, servers, jobs):
        for _ in range(jobs):
            yield hold, self, random.expovariate(LOAD * len(servers))
            first, second = random.choice(servers), random.choice(servers)
            server = second if len(second.jobs) < len(first.jobs) else first
            server.jobs.append(self.sim.now())
            if len(server.jobs) == 1 and server.passive():
                self.sim.reactivate(server)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
    random.seed(1)
    sim = Simulation()
    sim.initialize()
    servers = [Server(sim) for _ in range(count)]
    for server in servers:
        sim.activate(server, server.run())
    source = Source(sim=sim)
    sim.activate(source, source.run(servers, jobs))
    start = time.process_time()
    sim.simulate(until=jobs / (LOAD * count))
    took = time.process_time() - start
    completed = sum(server.completed for server in servers)
    arrived = completed + sum(len(server.jobs) for server in servers)
    mean = sum(server.responses for server in servers) / completed
    print(f"{count} servers: {(arrived + completed) / took / 1e3:.0f} k events/s, mean response {mean:.3f}")


main()
