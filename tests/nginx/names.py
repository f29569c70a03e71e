# SPDX-License-Identifier: BSD-2-Clause
"""A name server on loopback: prints its port, then answers every question for an IPv4 address with those of the lines of
a file, which is read again for each question; without a line the name does not exist. usage: names.py FILE"""
import socket
import struct
import sys


def answer(question, addresses):
    end = 12
    while question[end]:
        end += question[end] + 1
    end += 5
    kind = struct.unpack('>H', question[end - 4:end - 2])[0]
    records = addresses if kind == 1 else []
    code = 0 if addresses else 3
    head = question[:2] + struct.pack('>HHHHH', 0x8180 | code, 1, len(records), 0, 0)
    body = b''.join(b'\xc0\x0c' + struct.pack('>HHIH', 1, 1, 1, 4) + socket.inet_aton(a) for a in records)
    return head + question[12:end] + body


def main():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(('127.0.0.1', 0))
    print(s.getsockname()[1], flush=True)
    while True:
        question, sender = s.recvfrom(512)
        with open(sys.argv[1], encoding='ascii') as f:
            s.sendto(answer(question, f.read().split()), sender)


main()
