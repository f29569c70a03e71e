# SPDX-License-Identifier: BSD-2-Clause
"""Runs the blocks of Python on a page of documentation, one after another as in a notebook, and compares what
they print with what the page shows.

usage: tests/python/run BUILD_ROOT tests/python/page.py [--rewrite] LOG_MAKER PAGE.md

They run in a directory in which `examples` is that of the tree and access.log is what `make demo-replay`
replays. --rewrite puts what is printed now into the page: read the difference before you commit it."""
import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback

BLOCK = re.compile(r'^```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def answer(source, names):
    """What an interactive session prints; of an exception its last line."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, '<page>', 'single'), names)
        except Exception as error:
            print('Traceback (most recent call last):\n    ...')
            print(''.join(traceback.format_exception_only(type(error), error)), end='')
    return ''.join(line.rstrip() + '\n' for line in out.getvalue().splitlines())


def tell(source, output):
    lines = source.splitlines()
    return ''.join(f'{"..." if i else ">>>"} {line}'.rstrip() + '\n' for i, line in enumerate(lines)) + output


def shown(example):
    """What the page says that it prints; a blank line stands for itself behind the last one."""
    if example.exc_msg is not None:
        return 'Traceback (most recent call last):\n    ...\n' + example.exc_msg
    return example.want


def main():
    arguments = [a for a in sys.argv[1:] if a != '--rewrite']
    make_log, page = (os.path.realpath(a) for a in arguments)
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    with open(page, encoding='utf-8') as file:
        text = file.read()
    names = {'__name__': '__main__'}
    number = failures = 0
    parser = doctest.DocTestParser()

    def run_block(match):
        nonlocal number, failures
        told = []
        for example in parser.get_examples(match.group(1)):
            number += 1
            printed = answer(example.source, names)
            told.append(tell(example.source, printed))
            good = printed == shown(example)
            print('ok' if good else 'not ok', number, '-', example.source.splitlines()[0])
            if not good:
                failures += 1
                for line in f'shown:\n{shown(example)}printed:\n{printed}'.splitlines():
                    print('#', line)
        return '```python\n' + ''.join(told) + '```'

    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        os.symlink(os.path.join(source, 'examples'), 'examples')
        with open('access.log', 'wb') as log:
            subprocess.run([make_log, '--lines=100000', '--servers=20', '--load=0.5'], stdout=log, check=True)
        new = BLOCK.sub(run_block, text)
        os.chdir('/')
    print(f'1..{number}')
    if '--rewrite' in sys.argv:
        if new != text:
            with open(page, 'w', encoding='utf-8') as file:
                file.write(new)
        return 0
    return 1 if failures or not number else 0


try:
    import pandas  # noqa: F401
except ImportError:
    print('1..0 # SKIP python3-pandas is not there; scripts/setup python installs it')
    sys.exit(0)
sys.exit(main())
