# SPDX-License-Identifier: BSD-2-Clause
"""Servers for tests of health checks, one at each port that is printed first, in a line.

usage: checked.py SERVERS DIRECTORY

How server i behaves is read from DIRECTORY/i at each connection; its checks are counted in DIRECTORY/i.checks:
  ok           200, with the text READY in its body
  status N     that status
  body TEXT    200, with that text in its body
  slow         sends its header a byte at a time, without end
  huge         a body without end
  early        closes in the middle of the header
  short        closes in the middle of the body that its header announces
  garbage      bytes that are no HTTP
  silent       accepts, and sends nothing
  deaf         the same, and each connection counts: over TLS there is no request yet
  grpc N       HTTP/2: a message of that status of grpc.health.v1 (1: serving)
  grpc none    HTTP/2: trailers without a message (the service is not known)
  grpc endless HTTP/2: messages of another stream, without end
Other paths than /health are not counted, and get an `ok`, whatever the mode of HTTP is."""

import os
import socket
import sys
import threading
import time

FRAME_END_STREAM = 1
FRAME_END_HEADERS = 4


def count_check(directory: str, number: int) -> None:
    with open(f'{directory}/{number}.checks', 'a', encoding='ascii') as counts:
        counts.write('.')


def read_mode(directory: str, number: int) -> str:
    with open(f'{directory}/{number}', encoding='utf-8') as text:
        return text.read().strip()


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, 'big') + bytes([kind, flags]) + stream.to_bytes(4, 'big') + payload


def read_grpc(connection: socket.socket) -> bool:
    """Until the end of stream 1: is it a request over HTTP/2? (What its header says is compressed where nginx
    sends it, which decodes ours.)"""
    stream = connection.makefile('rb')
    if stream.read(24) != b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n':
        return False
    while True:
        head = stream.read(9)
        if not head:
            return False
        stream.read(int.from_bytes(head[:3], 'big'))
        if head[3] == 0 and head[4] & FRAME_END_STREAM:
            return True


def serve_grpc(connection: socket.socket, status: str) -> None:
    if not read_grpc(connection):
        return
    connection.sendall(frame(4, 0, 0, b'') + frame(4, 1, 0, b'') + frame(6, 0, 0, bytes(8)))
    if status == 'none':
        connection.sendall(frame(1, FRAME_END_HEADERS | FRAME_END_STREAM, 1, b'\x88'))
        return
    if status == 'endless':
        send_forever(connection, 64 * frame(0, 0, 3, bytes(16384)), 0)
    message = bytes([0, 0, 0, 0, 2, 8, int(status)])
    # In two frames, the second one padded, as HTTP/2 allows.
    connection.sendall(frame(1, FRAME_END_HEADERS, 1, b'\x88') + frame(0, 0, 1, message[:3]))
    connection.sendall(frame(0, 8, 1, b'\x02' + message[3:] + bytes(2)))
    connection.sendall(frame(1, FRAME_END_HEADERS | FRAME_END_STREAM, 1, b'\x88'))


def send_forever(connection: socket.socket, piece: bytes, pause: float) -> None:
    while True:
        connection.sendall(piece)
        time.sleep(pause)


def serve_http(connection: socket.socket, mode: str) -> None:
    word, _, rest = mode.partition(' ')
    head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n'
    if word == 'slow':
        connection.sendall(f'{head}Endless: '.encode())
        send_forever(connection, b'x', 0.02)
    elif word == 'huge':
        connection.sendall(f'{head}\r\n'.encode())
        send_forever(connection, b'x' * 65536, 0.001)
    elif word == 'early':
        connection.sendall(head.encode())
    elif word == 'short':
        connection.sendall(f'{head}Content-Length: 1000\r\n\r\nnot all'.encode())
    elif word == 'garbage':
        connection.sendall(b'SSH-2.0-OpenSSH_9.2\r\n')
    elif word == 'silent':
        connection.recv(1)
    elif word == 'status':
        connection.sendall(f'HTTP/1.1 {rest} Some\r\nContent-Length: 0\r\n\r\n'.encode())
    else:
        body = rest if word == 'body' else 'all is READY here'
        connection.sendall(f'{head}Content-Length: {len(body)}\r\n\r\n{body}'.encode())


def serve(connection: socket.socket, directory: str, number: int) -> None:
    with connection:
        try:
            mode = read_mode(directory, number)
            if mode.startswith('grpc'):
                count_check(directory, number)
                serve_grpc(connection, mode.partition(' ')[2])
                return
            if mode == 'deaf':
                count_check(directory, number)
                while connection.recv(4096):
                    pass
                return
            data = b''
            while b'\r\n\r\n' not in data:
                part = connection.recv(4096)
                if not part:
                    return
                data += part
            checked = data.startswith(b'GET /health ')
            if checked:
                count_check(directory, number)
            serve_http(connection, mode if checked else 'ok')
        except OSError:
            pass


def accept_all(listener: socket.socket, directory: str, number: int) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, directory, number), daemon=True).start()


def main() -> None:
    servers, directory = int(sys.argv[1]), sys.argv[2]
    os.makedirs(directory, exist_ok=True)
    listeners = [socket.create_server(('127.0.0.1', 0), backlog=128) for _ in range(servers)]
    for number, listener in enumerate(listeners):
        with open(f'{directory}/{number}', 'w', encoding='ascii') as mode:
            mode.write('ok')
        threading.Thread(target=accept_all, args=(listener, directory, number), daemon=True).start()
    print(*[listener.getsockname()[1] for listener in listeners], flush=True)
    threading.Event().wait()


main()
