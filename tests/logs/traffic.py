#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traffic for recording logs: a server that answers as late as it is asked to, and a client that asks.

usage: traffic.py serve PORT... | traffic.py ask URL
The client begins one slow request, and sends the others, one after the other, while that goes on."""
import http.server
import socket
import socketserver
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

SLOW = 3100
DELAYS = [20, 41, 7, 130, 60, 300, 15, 90, 500, 33, 75, 210, 5, 48, 160, 27, 66, 110, 12, 240]
LATE = 400
ABORTED = 900  # the client waits a third of this


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        time.sleep(int(urllib.parse.parse_qs(url.query).get("ms", ["0"])[0]) / 1000)
        body = b"ballast " * 64
        self.send_response(404 if url.path == "/missing" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Server", "s%d" % self.server.server_address[1])
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *args):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        pass  # clients go away


def serve(ports):
    for port in ports:
        threading.Thread(target=Server(("127.0.0.1", port), Answer).serve_forever, daemon=True).start()
    threading.Event().wait()


def get(url, timeout=60):
    request = urllib.request.Request(url, headers={"User-Agent": 'probe "x" 1', "Accept-Encoding": "gzip"})
    try:
        urllib.request.urlopen(request, timeout=timeout).read()
    except OSError:
        pass


def post_slowly(base, delay):
    """The body comes late: the request takes longer than its server."""
    address = urllib.parse.urlparse(base)
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(b"POST /shop/upload?ms=%d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                           b"Content-Length: 10\r\n\r\n" % delay)
        time.sleep(LATE / 1000)
        connection.sendall(b"0123456789")
        while connection.recv(4096):
            pass


def ask(base):
    slow = threading.Thread(target=get, args=(base + "/report?ms=%d" % SLOW,))
    slow.start()
    time.sleep(0.05)
    for number, delay in enumerate(DELAYS):
        path = "/missing" if number == 7 else "/shop/item"
        get(base + "%s?ms=%d&id=%d" % (path, delay, number))
    post_slowly(base, 50)
    get(base + "/pay?ms=%d" % ABORTED, ABORTED / 3000)
    slow.join()
    time.sleep(1)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve([int(port) for port in sys.argv[2:]])
    else:
        ask(sys.argv[2])
