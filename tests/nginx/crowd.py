# SPDX-License-Identifier: BSD-2-Clause
"""Many stations that join one dispatcher, from one process: 127.1.0.0 and up, at one port; they have nothing but their
messages, and send no load, so that no request goes there. Ends when it is ended.

usage: crowd.py STATIONS PORT DISPATCHER KEY    DISPATCHER: 127.0.0.1:7700; KEY: 32 hexadecimal digits"""
import os
import pathlib
import socket
import struct
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vectors"))
import wire  # noqa: E402

CHALLENGE, STATION, FIRST, BOOT = 12, 2, 0x7F010000, 77


def goes_on(parent=os.getppid(), end=time.monotonic() + 300):
    """Not without the test, and for five minutes at most."""
    return os.getppid() == parent and time.monotonic() < end


def identity(text):
    return wire.siphash(b"ballast address\0", text.encode())


def main(count, port, dispatcher, key):
    host, at = dispatcher.split(":")
    receiver = identity(dispatcher)
    ids = [identity(f"{socket.inet_ntoa(struct.pack('!I', FIRST + i))}:{port}") for i in range(count)]
    number = {value: i for i, value in enumerate(ids)}
    sequence, due = [0] * count, [0.0] * count
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("0.0.0.0", port))
    s.settimeout(0.01)

    def join(i, nonce):
        sequence[i] += 1
        due[i] = time.monotonic() + 0.5
        body = (nonce, STATION, 4, port, 0, FIRST + i)
        s.sendto(wire.signed(wire.layout("JOIN", 0, ids[i], receiver, BOOT, sequence[i], body), key), (host, int(at)))

    while goes_on():
        for i in [i for i in range(count) if due[i] <= time.monotonic()][:20]:
            join(i, 0)
        try:
            while True:
                datagram = s.recv(512)
                if datagram[2] == CHALLENGE:
                    join(number[struct.unpack_from("<Q", datagram, 16)[0]], struct.unpack_from("<Q", datagram, 40)[0])
        except TimeoutError:
            pass


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], bytes.fromhex(sys.argv[4]))
