#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads a file of results without Ballast: its tables, and what a trial holds. usage: read_store.py FILE.db

`ballast results FILE.db --trials` and `--histograms` print the same; docs/results.md explains the format."""
import sqlite3
import struct
import sys


def doubles(blob):
    return struct.unpack(f'<{len(blob) // 8}d', blob)


def histogram(blob):
    """Pairs (bins skipped, count), each a number with 7 bits to a byte, the lowest first."""
    numbers, number, shift = [], 0, 0
    for byte in blob:
        number |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number, shift = 0, 0
    bins, at = {}, 0
    for skipped, count in zip(numbers[::2], numbers[1::2]):
        at += skipped
        bins[at] = count
        at += 1
    return bins


def edge(at):
    """Where a bin begins: bin 0 at 0, then 128 bins to each power of two, from 2^-20 on."""
    return 0 if at == 0 else (1 + (at - 1) % 128 / 128) * 2.0 ** ((at - 1) // 128 - 20)


store = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)
for (table,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"):
    print(f'{table}:', *(row[1] for row in store.execute(f'PRAGMA table_info({table})')))
place = dict(store.execute('SELECT name, place FROM metric'))
identity, replication, metrics, response = store.execute(
    'SELECT identity, replication, metrics, response FROM trial JOIN cell ON cell.id = cell'
    ' ORDER BY cell, replication LIMIT 1').fetchone()
bins = histogram(response)
half = sum(bins.values()) / 2
middle = next(at for at in sorted(bins) if sum(count for b, count in bins.items() if b <= at) >= half)
print(f'replication {replication} of', *identity.split('\n'))
print(f"response.mean {doubles(metrics)[place['response.mean']]}")
print(f'{sum(bins.values())} response times; half of them below {edge(middle)} to {edge(middle + 1)}')
