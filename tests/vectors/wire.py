#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Test vectors of docs/wire.md, made without any code of the library: SipHash-2-4 from its paper (Aumasson and
Bernstein, 2012) and the layout from the page.

usage: wire.py             prints the vectors
       wire.py FILE PAGE   compares them with FILE, and those that PAGE shows; complains and fails if they differ
       wire.py --corpus D  writes the datagrams alone into files of the directory D, for the fuzzer"""
import struct
import sys

MASK = 2**64 - 1


def siphash(key, data):
    def rotate(x, b):
        return (x << b | x >> 64 - b) & MASK

    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


# type: number, members with their widths, width of the elements that follow the last member
BODIES = {
    "IDLE": (1, [("free", 4), ("slots", 4), ("valid_ms", 4), ("token", 8)], 0),
    "LOAD": (2, [("probe", 8), ("slots", 4), ("in_service", 4), ("room", 4), ("answers", 4), ("errors", 4),
                 ("latency_us", 4), ("valid_ms", 4), ("power", 4), ("classes", 4)], 4),
    "POWER": (3, [("power", 4), ("failures", 4), ("retry_ms", 4), ("valid_ms", 4)], 0),
    "PROBE": (4, [("probe", 8)], 0),
    "WAKE": (5, [], 0),
    "MOVE": (6, [("target", 8)], 0),
    "STEAL": (7, [("steal", 8), ("most", 4)], 0),
    "GRANT": (8, [("steal", 8), ("count", 4)], 8),
    "HUNGRY": (9, [("held", 4), ("valid_ms", 4)], 0),
    "RESYNC": (10, [], 0),
    "REST": (11, [("after_ms", 4)], 0),
    "CHALLENGE": (12, [("nonce", 8)], 0),
    "PROOF": (13, [("nonce", 8)], 0),
    "JOIN": (14, [("nonce", 8), ("kind", 4), ("family", 4), ("port", 4), ("high", 8), ("low", 8)], 0),
    "PACE": (15, [("beat_ms", 4)], 0),
}
CODES = {4: "<I", 8: "<Q"}
KEY = bytes(range(16))
OTHER_KEY = bytes(range(16, 32))
NO_KEY = bytes(16)
vectors = []


def layout(kind, fleet, sender, receiver, boot, sequence, values, elements=()):
    number, members, width = BODIES[kind]
    out = struct.pack("<BBBBIQQQQ", 0xBA, 1, number, 0, fleet, sender, receiver, boot, sequence)
    for (_, size), value in zip(members, values, strict=True):
        out += struct.pack(CODES[size], value)
    for element in elements:
        out += struct.pack(CODES[width], element)
    return out


def signed(data, key):
    return data + struct.pack("<Q", siphash(key, data))


def emit(title, key, fleet, receipt, data, text="-"):
    vectors.append((title, key, fleet, receipt, data, text))


def good(title, key, kind, fleet, sender, receiver, boot, sequence, values=(), elements=()):
    names = [name for name, _ in BODIES[kind][1]]
    text = f"{kind} {sender} > {receiver}, boot {boot} sequence {sequence}" + (":" if names else "")
    text += "".join(f" {name}={value}" for name, value in zip(names, values, strict=True))
    text += "".join(f" {element}" for element in elements)
    data = layout(kind, fleet, sender, receiver, boot, sequence, values, elements)
    emit(title, key, fleet, "fresh", signed(data, key), text)


def bad(title, kind, values=(), elements=(), head=(5, 7, 3, 1, 9)):
    emit(title, KEY, 5, "malformed", signed(layout(kind, *head, values, elements), KEY))


def flipped(data, at, mask=1):
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1:]


def make():
    boot = 1763251200123456789
    good("a free slot", KEY, "IDLE", 5, 7, 3, boot, 42, (1, 4, 250, 1017))
    good("all slots, as many as there can be", KEY, "IDLE", 2**32 - 1, 2**64 - 1, 2**64 - 2, 2**64 - 1,
         2**64 - 1, (2**32 - 1, 2**32 - 1, 86400000, 2**64 - 1))
    good("a heartbeat of one class", KEY, "LOAD", 5, 7, 3, boot, 43,
         (0, 4, 3, 100, 17, 2, 20385, 3000, 2, 1), (3,))
    good("the answer to a probe, eight classes", KEY, "LOAD", 5, 7, 3, boot, 44,
         (0x1122334455667788, 4, 4, 0, 0, 0, 2**32 - 1, 1, 3, 8), (1, 0, 2, 0, 3, 0, 4, 2**32 - 1))
    good("to everybody: off, after three starts that failed", KEY, "POWER", 5, 7, 0, boot, 45, (0, 3, 8000, 3000))
    good("to everybody: on", KEY, "POWER", 5, 7, 0, boot, 46, (2, 0, 0, 3000))
    good("a question", KEY, "PROBE", 5, 3, 7, 1, 1, (0x1122334455667788,))
    good("the shortest message", KEY, "WAKE", 5, 3, 7, 1, 2)
    good("go there", KEY, "MOVE", 5, 3, 7, 1, 3, (8,))
    good("may I have two", KEY, "STEAL", 5, 8, 7, 1, 4, (900, 2))
    good("no", KEY, "GRANT", 5, 7, 8, 1, 5, (900, 0))
    good("two come", KEY, "GRANT", 5, 7, 8, 1, 6, (900, 2), (31, 33))
    good("the longest message", KEY, "GRANT", 5, 7, 8, 1, 7, (900, 24), range(2**64 - 24, 2**64))
    good("twelve are held", KEY, "HUNGRY", 5, 3, 0, 1, 8, (12, 500))
    good("none is held", KEY, "HUNGRY", 5, 3, 0, 1, 9, (0, 500))
    good("tell me", KEY, "RESYNC", 5, 3, 0, 1, 10)
    good("rest", KEY, "REST", 5, 7, 70, 1, 11, (60000,))
    good("are you there now", KEY, "CHALLENGE", 5, 70, 7, 1, 12, (0x1122334455667788,))
    good("yes", KEY, "PROOF", 5, 7, 70, boot, 13, (0x1122334455667788,))
    good("may I join, a dispatcher", KEY, "JOIN", 5, 7, 70, boot, 14, (0, 1, 4, 7700, 0, 0x0A000001))
    good("a station, in answer to a challenge", KEY, "JOIN", 5, 7, 70, boot, 15,
         (0x1122334455667788, 2, 6, 65535, 0xFD << 56, 0x11))
    good("no faster, please", KEY, "PACE", 5, 3, 7, 1, 16, (2000,))
    good("without a key of its own", NO_KEY, "WAKE", 5, 3, 7, 1, 2)

    whole = signed(layout("PROBE", 5, 3, 7, 1, 1, (9,)), KEY)
    emit("nothing", KEY, 5, "malformed", b"")
    emit("one byte less than the shortest", KEY, 5, "malformed", signed(layout("WAKE", 5, 3, 7, 1, 2, ()), KEY)[:-1])
    emit("one byte more than the longest", KEY, 5, "malformed", signed(layout(
        "GRANT", 5, 7, 8, 1, 7, (900, 24), range(1, 25)) + bytes(257 - 252), KEY))
    emit("another protocol", KEY, 5, "malformed", signed(flipped(whole[:-8], 0), KEY))
    emit("another version", KEY, 5, "version", signed(flipped(whole[:-8], 1, 3), KEY))
    emit("another key", KEY, 5, "forged", signed(layout("PROBE", 5, 3, 7, 1, 1, (9,)), OTHER_KEY))
    emit("no key where one is wanted", KEY, 5, "forged", signed(layout("PROBE", 5, 3, 7, 1, 1, (9,)), NO_KEY))
    emit("a flipped bit", KEY, 5, "forged", flipped(whole, 40))
    emit("a flipped bit of the tag", KEY, 5, "forged", flipped(whole, 48, 128))
    emit("the fourth byte is not 0", KEY, 5, "malformed", signed(flipped(whole[:-8], 3), KEY))
    emit("type 0", KEY, 5, "malformed", signed(flipped(whole[:-8], 2, 4), KEY))
    emit("type 16", KEY, 5, "malformed", signed(flipped(whole[:-8], 2, 20), KEY))
    emit("a byte too many", KEY, 5, "malformed", signed(whole[:-8] + bytes(1), KEY))
    emit("a body too short", KEY, 5, "malformed", signed(whole[:-9], KEY))
    bad("sent by nobody", "WAKE", head=(5, 0, 3, 1, 9))
    bad("boot 0", "WAKE", head=(5, 7, 3, 0, 9))
    bad("sequence 0", "WAKE", head=(5, 7, 3, 1, 0))
    bad("no free slot", "IDLE", (0, 4, 250, 1))
    bad("more free slots than slots", "IDLE", (5, 4, 250, 9))
    bad("more free slots than tokens", "IDLE", (2, 4, 250, 1))
    bad("valid for no time", "IDLE", (1, 4, 0, 1))
    bad("valid for more than a day", "IDLE", (1, 4, 86400001, 1))
    bad("no slots", "LOAD", (0, 0, 0, 1, 0, 0, 0, 1, 2, 1), (3,))
    bad("more in service than there are", "LOAD", (0, 4, 4, 1, 0, 0, 0, 1, 2, 1), (3,))
    bad("more errors than answers", "LOAD", (0, 4, 3, 1, 1, 2, 0, 1, 2, 1), (3,))
    bad("an unknown power state", "LOAD", (0, 4, 3, 1, 0, 0, 0, 1, 4, 1), (3,))
    bad("no classes", "LOAD", (0, 4, 0, 1, 0, 0, 0, 1, 2, 0))
    bad("nine classes", "LOAD", (0, 4, 3, 1, 0, 0, 0, 1, 2, 9), (3, 0, 0, 0, 0, 0, 0, 0, 0))
    bad("fewer classes than are told", "LOAD", (0, 4, 3, 1, 0, 0, 0, 1, 2, 2), (3,))
    bad("2^31 classes", "LOAD", (0, 4, 3, 1, 0, 0, 0, 1, 2, 2**31), (3,))
    bad("an unknown power state, told alone", "POWER", (4, 0, 0, 1))
    bad("tried again after more than a day", "POWER", (0, 1, 86400001, 1))
    bad("a question without an id", "PROBE", (0,))
    bad("a move to nobody", "MOVE", (0,))
    bad("a steal without an id", "STEAL", (0, 1))
    bad("a steal of nothing", "STEAL", (1, 0))
    bad("a grant to no question", "GRANT", (0, 0))
    bad("a ticket 0", "GRANT", (1, 2), (5, 0))
    bad("more tickets than are told", "GRANT", (1, 1), (5, 6))
    bad("25 tickets told, 24 there", "GRANT", (1, 25), range(1, 25))
    bad("hungry for no time", "HUNGRY", (1, 0))
    bad("rest after more than a day", "REST", (86400001,))
    bad("a challenge without a number", "CHALLENGE", (0,))
    bad("a proof of nothing", "PROOF", (0,))
    bad("neither a dispatcher nor a station", "JOIN", (0, 3, 4, 80, 0, 1))
    bad("an address of no family", "JOIN", (0, 1, 5, 80, 0, 1))
    bad("heartbeats without a pause", "PACE", (0,))
    bad("heartbeats rarer than once a day", "PACE", (86400001,))
    bad("no port", "JOIN", (0, 1, 4, 0, 0, 1))
    bad("a port beyond the last", "JOIN", (0, 1, 4, 65536, 0, 1))
    bad("an address of IPv4 that is too long", "JOIN", (0, 1, 4, 80, 0, 2**32))
    bad("an address of IPv4 with two halves", "JOIN", (0, 1, 4, 80, 1, 1))


def text_of_all():
    out = "# Made by wire.py beside this file; docs/wire.md tells what the lines mean.\n"
    for title, key, fleet, receipt, data, text in vectors:
        out += f"\n# {title}\nkey {key.hex()}\nfleet {fleet}\nreceipt {receipt}\nmessage {text}\nbytes {data.hex()}\n"
    return out


def main():
    # The example of the SipHash paper, appendix A.
    assert siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5
    make()
    if len(sys.argv) == 3 and sys.argv[1] == "--corpus":
        for i, vector in enumerate(vectors):
            with open(f"{sys.argv[2]}/{i:02}", "wb") as file:
                file.write(vector[4])
    elif len(sys.argv) == 3:
        with open(sys.argv[1], encoding="ascii") as file:
            if file.read() != text_of_all():
                sys.exit(f"{sys.argv[1]}: differs from what wire.py makes")
        with open(sys.argv[2], encoding="utf-8") as file:
            shown = [line.strip() for line in file if line.startswith("    ")]
        if not shown or "\n".join(shown) not in text_of_all():
            sys.exit(f"{sys.argv[2]}: shows a vector that wire.py does not make")
    else:
        sys.stdout.write(text_of_all())


if __name__ == "__main__":
    main()
