# SPDX-License-Identifier: BSD-2-Clause
"""A fleet whose apps rest and wake, on loopback: small apps, a station before each, one dispatcher and one
keeper (ballastd) for all. For bench/live_power.

Everything lives in a directory of its own and ends with `Fleet.end`, by its id: nginx, the keeper, and, by
the keeper, the apps."""
import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

KEY = "00112233445566778899aabbccddeeff"
# What the keeper's states are for who counts servers. One that may rest ends within milliseconds, but takes a little
# power until then; the lab knows of no such time.
KINDS = {"on": 0, "starting": 1, "set-up": 1, "standby": 2, "draining": 2, "stopping": 2, "killing": 2}
# A set-up that is drawn anew at each start, in seconds: the shell's, for the app's line in keeper.yaml.
EXPONENTIAL = "od -An -N4 -tu4 /dev/urandom | awk '{ print -log(($1 + 1) / 4294967297) * %g }'"


def free_ports(count):
    """Ports that nobody listens at, neither in TCP nor in UDP."""
    found, kept = [], []
    port = 20000 + int.from_bytes(os.urandom(2), "little") % 9000
    while len(found) < count:
        port += 1
        with contextlib.suppress(OSError):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                kept.append(socket.socket(socket.AF_INET, kind))
                kept[-1].bind(("127.0.0.1", port))
            found.append(port)
    for one in kept:
        one.close()
    return found


class Fleet:
    """servers apps that work on `slots` requests at a time. policy: of the dispatcher, with its options.
    standby: how long an idle app stays on, seconds; setup: a law, det(1) or exp(1), of what it takes to start."""

    def __init__(self, programs, policy, servers=12, slots=1, standby=0.2, setup="det(1)"):
        self.programs, self.servers, self.slots = programs, servers, slots
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="power-"))
        self.keeper = self.nginx = None
        self.loads = []  # on it
        ports = free_ports(2 * servers + 3)
        self.apps, self.stations = ports[:servers], ports[servers:2 * servers]
        self.port, self.hears, self.keeps = ports[2 * servers:]
        try:
            self._begin_nginx(policy, standby)
            self._begin_keeper(setup)
        except BaseException:
            self.end()
            raise

    # ---- begin and end ----

    def _begin_nginx(self, policy, standby):
        station = ("upstream app%(i)d { server 127.0.0.1:%(app)d max_fails=0;\n"
                   "ballast_station slots=%(slots)d queue=10000 listen=127.0.0.1:%(port)d"
                   " dispatchers=127.0.0.1:%(hears)d keeper=127.0.0.1:%(keeps)d,%(id)d standby=%(standby)dms; }\n"
                   "server { listen 127.0.0.1:%(port)d backlog=4096; keepalive_requests 1000000;"
                   " location / { proxy_pass http://app%(i)d; } }\n")
        lines = [station % {"i": i, "app": self.apps[i], "slots": self.slots, "port": self.stations[i],
                            "hears": self.hears, "keeps": self.keeps, "id": 101 + i, "standby": standby * 1000}
                 for i in range(self.servers)]
        names = "".join(f" {kind}_temp_path {self.path}/{kind};"
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        conf = (f"load_module {self.programs.module}; daemon off; worker_processes 1; pid {self.path}/pid;\n"
                f"{'user root;' if os.geteuid() == 0 else ''} error_log {self.path}/error.log warn;\n"
                f"events {{ worker_connections 16384; }}\nhttp {{\n{names}\n"
                "log_format times '$msec $request_time $http_x_service $status';\n"
                "access_log off; proxy_http_version 1.1; proxy_set_header Connection '';\n"
                f"proxy_read_timeout 300s; ballast_key {KEY};\n{''.join(lines)}"
                f"upstream u {{ ballast {policy} listen=127.0.0.1:{self.hears} ejection=off;\n"
                + "".join(f"server 127.0.0.1:{port};" for port in self.stations)
                + "keepalive 256; }\n"
                f"server {{ listen 127.0.0.1:{self.port} backlog=4096; keepalive_requests 1000000;\n"
                f"location / {{ proxy_pass http://u; access_log {self.path}/times.log times buffer=64k flush=1s;"
                " proxy_set_header Connection ''; proxy_set_header Ballast-From $ballast_from; }\n"
                "location = /ballast { ballast_status; } } }\n")
        (self.path / "nginx.conf").write_text(conf)
        self.nginx = subprocess.Popen(
            [self.programs.nginx, "-p", str(self.path), "-c", str(self.path / "nginx.conf")],
            stderr=open(self.path / "nginx.err", "wb"), start_new_session=True)
        self._wait(lambda: self.status() is not None, "nginx")

    def _begin_keeper(self, setup):
        ids = [station["id"] for station in self.status()["stations"]]
        lines = [f'key: "{KEY}"', f"listen: 127.0.0.1:{self.keeps}", f"socket: {self.path}/state/control",
                 f"state: {self.path}/state", "on_exit: stop", "apps:"]
        kind, mean = re.fullmatch(r"(det|exp)\((.*)\)", setup).groups()
        pause = mean if kind == "det" else f"$({EXPONENTIAL % float(mean)})"
        for i, station in enumerate(ids):
            run = f"sleep {pause}; exec {self.programs.app} 1 {self.slots} 'det(0.1)' {self.apps[i]}"
            lines += [f"  - name: app{i}", f"    id: {101 + i}",
                      f'    station: {{id: {station}, address: "127.0.0.1:{self.stations[i]}"}}',
                      f"    run: {json.dumps(run)}", "    shell: true",
                      f'    ready: {{tcp: "127.0.0.1:{self.apps[i]}"}}', "    standby: 0ms",
                      "    times: {check: 20ms, drain: 1ms, beat: 200ms, steady: 1ms}"]
        self.config = self.path / "keeper.yaml"
        self.config.write_text("\n".join(lines) + "\n")
        self.config.chmod(0o600)
        self.log = self.path / "keeper.log"
        self.keeper = subprocess.Popen([self.programs.ballastd, "--config", str(self.config)],
                                       stderr=open(self.log, "wb"), start_new_session=True)
        self._wait(lambda: len(self._states()) == self.servers, "the keeper")

    def _wait(self, what, name):
        for _ in range(500):
            if what():
                return
            time.sleep(0.02)
        raise RuntimeError(f"{name} does not begin: {self._errors()}")

    def _errors(self):
        return "".join((self.path / name).read_text(errors="replace")[-2000:]
                       for name in ("nginx.err", "error.log", "keeper.log") if (self.path / name).exists())

    def end(self):
        """Not to be interrupted: who presses Ctrl-C twice still leaves nothing behind."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        for process in (*self.loads, self.keeper, self.nginx):
            if process and process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                process.kill()
                process.wait()
        shutil.rmtree(self.path, ignore_errors=True)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    # ---- what is so ----

    def status(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ballast", timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return None

    def _states(self):
        """Of each app: when which state began, in seconds since 1970."""
        found = {}
        for line in self.log.read_text(errors="replace").splitlines():
            match = re.match(r"time=(\S+)Z .*app=(\S+) event=state state=(\S+)", line)
            if match:
                when = datetime.datetime.fromisoformat(match[1] + "+00:00").timestamp()
                found.setdefault(match[2], []).append((when, match[3]))
        return found

    def powered(self, begin, end, step):
        """Servers that are on, in set-up, and on their way to off, averaged over each step from begin to end."""
        count = max(1, round((end - begin) / step))
        sums = [[0.0, 0.0, 0.0] for _ in range(count)]
        for states in self._states().values():
            ends = [when for when, _ in states[1:]] + [end]
            for (since, state), until in zip(states, ends):
                if state in KINDS:
                    add_span(sums, KINDS[state], (since - begin) / step, (until - begin) / step)
        return sums

    def setups(self):
        """How long each set-up took, seconds."""
        found = []
        for states in self._states().values():
            begun = None
            for when, state in states:
                if KINDS.get(state) == 1:
                    begun = begun or when
                    continue
                if state == "on" and begun:
                    found.append(when - begun)
                begun = None
        return found

    def times(self):
        """Of each request: when it ended, how long it took and how much work it was, in seconds, and its status."""
        time.sleep(1.2)  # the log is written each second
        rows = (line.split() for line in (self.path / "times.log").read_text().splitlines())
        return [(float(row[0]), float(row[1]), float(row[2]) / 1e6, int(row[3])) for row in rows if row[2] != "-"]


def add_span(sums, kind, since, until):
    """Adds the span from since to until, in steps, to those that it covers."""
    since, until = max(since, 0.0), min(until, float(len(sums)))
    while since < until:
        step = int(since)
        end = min(until, step + 1.0)
        sums[step][kind] += end - since
        since = end if end > since else until
