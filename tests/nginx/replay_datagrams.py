# SPDX-License-Identifier: BSD-2-Clause
"""Records the JOIN datagrams that pass an interface, and repeats them.

usage: replay_datagrams.py record INTERFACE FILE         until it is ended; a line of hexadecimal digits each
       replay_datagrams.py repeat FILE ADDRESS PORT RATE  all of them in turn, so many a second, until it is ended"""
import os
import socket
import sys
import time

JOIN = 14
UDP = 17


def goes_on(parent=os.getppid(), end=time.monotonic() + 300):
    """Not without the test, and for five minutes at most."""
    return os.getppid() == parent and time.monotonic() < end


def record(interface, path):
    every = 3  # ETH_P_ALL: a bridge takes what its ports receive before others see it
    s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(every))
    s.bind((interface, 0))
    with open(path, "w", buffering=1) as file:
        s.settimeout(1)
        while goes_on():
            try:
                packet = s.recv(65536)
            except TimeoutError:
                continue
            if len(packet) < 28 or packet[0] >> 4 != 4:
                continue
            payload = packet[(packet[0] & 15) * 4 + 8:]
            if packet[9] == UDP and payload[:1] == b"\xba" and payload[2:3] == bytes([JOIN]):
                print(payload.hex(), file=file)


def repeat(path, address, port, rate):
    with open(path) as file:
        datagrams = [bytes.fromhex(line) for line in file]
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begun, sent = time.monotonic(), 0
    while goes_on():
        for datagram in datagrams:
            s.sendto(datagram, (address, port))
            sent += 1
        time.sleep(max(0, begun + sent / rate - time.monotonic()))


if sys.argv[1] == "record":
    record(*sys.argv[2:])
else:
    repeat(sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
