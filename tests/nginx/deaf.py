# SPDX-License-Identifier: BSD-2-Clause
"""An app that works on each request for 50 ms and never looks whether its client is still there.

It prints its port. GET /most is the number of requests that it has worked on at once at most, /present that of now.
"""
import http.server
import threading
import time

lock = threading.Lock()
present = 0
most = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/most" or self.path == "/present":
            self.answer(str(most if self.path == "/most" else present))
            return
        change(1)
        time.sleep(0.05)
        change(-1)
        self.answer("ok")

    def answer(self, text):
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
        except OSError:
            self.close_connection = True

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1000


def change(by):
    global present, most
    with lock:
        present += by
        most = max(most, present)


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
