# SPDX-License-Identifier: BSD-2-Clause
"""A sweep, its frame, and a plot of one's own: what a notebook would have in its cells.

usage: python sweep.py [FILE.png]      needs the package ballast, pandas and matplotlib (docs/python.md)"""
import sys

import matplotlib
import pandas

import ballast

matplotlib.use('Agg')
from matplotlib import pyplot  # noqa: E402 (the way of drawing is chosen first)

# One frame for each load. The settings that were given are columns, so that they stay apart.
loads = [0.5, 0.7, 0.8, 0.9, 0.95]
policies = ['random', 'pod:d=2', 'jiq']
frames = [ballast.compare(50, load, policies, jobs=100_000, replications=5) for load in loads]
sweep = pandas.concat(frames, ignore_index=True)
table = sweep.pivot(index='load', columns='policy', values='response.mean')
print(table.round(2).to_string())

# Points with their intervals; those that the program doubts are hollow.
figure, axes = pyplot.subplots(figsize=(6, 4))
for policy, rows in sweep.groupby('policy'):
    load, mean, sure = rows['load'], rows['response.mean'], rows['flag'] == ''
    line = axes.errorbar(load, mean, rows['response.mean.ci'], capsize=3, label=policy)
    color = line[0].get_color()
    axes.plot(load[sure], mean[sure], 'o', color=color)
    axes.plot(load[~sure], mean[~sure], 'o', color=color, fillstyle='none')
axes.set(xlabel='load', ylabel='mean response time, in mean service times', yscale='log')
axes.legend()
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else 'sweep.png', dpi=150)
