#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Apps that wait and compute, for bench/apps. usage: bench/apps.py pool|hashes PORT [SEED]

pool: four threads; each request waits for a database (40 ms in the mean) and then renders (2 ms of Python).
hashes: a thread for each request, which computes a hash of 20 ms of processor time in the mean, without the lock
of the interpreter. All times are exponential. Prints a line when it listens."""
import hashlib
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer


def measure(compute, steps):
    """Steps per second of processor time: the best of some tries."""
    best = 0.0
    for _ in range(10):
        begun = time.thread_time()
        compute(steps)
        best = max(best, steps / (time.thread_time() - begun))
    return best


def compute_hash(steps):
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", steps)


def render(steps):
    return ",".join(str(step * step) for step in range(steps))


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.work()
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *_):
        pass


class Hashes(ThreadingHTTPServer):
    request_queue_size = 1024

    def work(self):
        compute_hash(1 + int(random.expovariate(1 / 0.020) * self.per_second))


class Pool(HTTPServer):
    request_queue_size = 1024
    threads = ThreadPoolExecutor(4)

    def work(self):
        time.sleep(random.expovariate(1 / 0.040))
        render(1 + int(random.expovariate(1 / 0.002) * self.per_second))

    def process_request(self, request, client_address):
        self.threads.submit(self.handle_one, request, client_address)

    def handle_one(self, request, client_address):
        try:
            self.finish_request(request, client_address)
        except ConnectionError:
            pass
        finally:
            self.shutdown_request(request)


def main():
    kind, port = sys.argv[1], int(sys.argv[2])
    random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    server = {"pool": Pool, "hashes": Hashes}[kind](("127.0.0.1", port), Handler)
    server.per_second = measure(render, 2000) if kind == "pool" else measure(compute_hash, 20000)
    print("listens", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        os._exit(0)


main()
