# SPDX-License-Identifier: BSD-2-Clause
"""A name server on loopback, by UDP and TCP at one port, which it prints. What it answers is read from a file again for
each question:

    127.0.0.1                          an address of every name, of IPv4 or IPv6; without one names do not exist
    srv 0 5 8080 a.test                a record of every service: priority, weight, port, target
    only a.test 127.0.0.2              an address of this name, which has no others
    ttl 5                              of all records; else 1
    mode silent                        no answer; or: servfail, refused, empty, garbage, truncated, loop, short, other,
                                       slow (an answer after half a second); named: the first part of the name
    many 1000                          as many addresses, 127.1.0.1 and those behind it

Questions are counted in the file FILE.asked, one line each. usage: names.py FILE"""
import ipaddress
import socket
import struct
import sys
import threading
import time

A, AAAA, SRV = 1, 28, 33


def words(path):
    with open(path, encoding='ascii') as f:
        return [line.split() for line in f if line.strip()]


def parse(question):
    at, labels = 12, []
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode('latin-1'))
        at += question[at] + 1
    return '.'.join(labels), struct.unpack('>H', question[at + 1:at + 3])[0], at + 5


def encode(name):
    return b''.join(bytes([len(label)]) + label.encode() for label in name.split('.')) + b'\0'


def records(lines, name, kind):
    only = [w[2] for w in lines if w[0] == 'only' and w[1] == name]
    addresses = only or [w[0] for w in lines if len(w) == 1]
    for w in lines:
        if w[0] == 'many':
            addresses += [str(ipaddress.IPv4Address('127.1.0.1') + i) for i in range(int(w[1]))]
    services = [w[1:] for w in lines if w[0] == 'srv']
    if kind == SRV:
        return [struct.pack('>HHH', int(p), int(w), int(port)) + encode(target)
                for p, w, port, target in services], bool(services)
    packed = [ipaddress.ip_address(a).packed for a in addresses]
    return [p for p in packed if len(p) == (4 if kind == A else 16)], bool(addresses)


def setting(lines, name, default):
    return next((w[1] for w in lines if w[0] == name), default)


def answer(question, lines, tcp):
    """The bytes to be sent; None: none."""
    mode, ttl = setting(lines, 'mode', ''), int(setting(lines, 'ttl', '1'))
    name, kind, end = parse(question)
    mode = name.split('.')[0] if mode == 'named' else mode
    data, exists = records(lines, name, kind)
    code = {'servfail': 2, 'refused': 5}.get(mode, 0 if exists else 3)
    if mode == 'silent':
        return None
    if mode == 'slow':
        time.sleep(0.5)
    if mode == 'garbage':
        return question[:2] + b'\x81\x80' + bytes(range(200))
    if mode in ('empty', 'servfail', 'refused'):
        data = []
    pointer = b'\xc0\x0c'
    body = b''.join(pointer + struct.pack('>HHIH', kind, 1, ttl, len(d)) + d for d in data)
    cut = mode == 'truncated' or (not tcp and len(body) > 3500)
    if mode == 'loop':  # a name that points to itself, and a length beyond the end
        body, data = b'\xc0' + bytes([end]) + struct.pack('>HHIH', kind, 1, ttl, 60000), [b'']
    if mode == 'short':  # more records announced than there are
        data = data + [b''] * 50
    if mode == 'other':  # for another question
        question = bytes([question[0] ^ 1]) + question[1:]
    if cut:
        body, data = b'', []
    head = question[:2] + struct.pack('>HHHHH', 0x8180 | code | (0x0200 if cut else 0), 1, len(data), 0, 0)
    return head + question[12:end] + body


def count(path, question):
    with open(path + '.asked', 'a', encoding='ascii') as f:
        f.write('%s %d\n' % parse(question)[:2])


def reply(path, question, tcp, send):
    count(path, question)
    text = answer(question, words(path), tcp)
    if text is not None:
        send(text)


def serve_connection(path, c):
    with c:
        while True:
            length = c.recv(2, socket.MSG_WAITALL)
            if len(length) < 2:
                return
            question = c.recv(struct.unpack('>H', length)[0], socket.MSG_WAITALL)
            reply(path, question, True, lambda text: c.sendall(struct.pack('>H', len(text)) + text))


def serve_tcp(path, listener):
    while True:
        c, _ = listener.accept()
        threading.Thread(target=serve_connection, args=(path, c), daemon=True).start()


def bind_both():
    while True:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(('127.0.0.1', 0))
        tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            tcp.bind(udp.getsockname())
            tcp.listen(16)
            return udp, tcp
        except OSError:
            udp.close()
            tcp.close()


def main():
    path = sys.argv[1]
    udp, tcp = bind_both()
    threading.Thread(target=serve_tcp, args=(path, tcp), daemon=True).start()
    print(udp.getsockname()[1], flush=True)
    while True:
        question, sender = udp.recvfrom(512)
        threading.Thread(target=reply, args=(path, question, False, lambda text, to=sender: udp.sendto(text, to)),
                         daemon=True).start()


main()
