# SPDX-License-Identifier: BSD-2-Clause
"""The blocks of Python on a page pass a checker of types, as someone who uses the package has it.

usage: tests/python/run BUILD_ROOT tests/python/types.py PAGE.md..."""
import doctest
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'^```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def program_of(page):
    """What the page types, as one program; what it does wrong on purpose is left out."""
    with open(page, encoding='utf-8') as file:
        text = file.read()
    lines = []
    for block in BLOCK.findall(text):
        for example in doctest.DocTestParser().get_examples(block):
            if example.exc_msg is None:
                lines.append(example.source)
    return ''.join(lines)


def complaints(path):
    words = [sys.executable, '-m', 'mypy', '--check-untyped-defs', '--ignore-missing-imports',
             '--no-error-summary', '--cache-dir=' + os.path.join(os.path.dirname(path), 'cache'), path]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout.splitlines()


def main():
    if importlib.util.find_spec('mypy') is None:
        print('1..0 # SKIP mypy is not there; scripts/setup test installs it')
        return 0
    failures = 0
    os.environ['MYPYPATH'] = os.environ['PYTHONPATH']
    for number, page in enumerate(sys.argv[1:], 1):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, 'page.py')
            with open(path, 'w', encoding='utf-8') as file:
                # A notebook says what a name is once more, which a program may not.
                file.write(program_of(page) + 'reveal_type(ballast.policies)\n')
            wrong = complaints(path)
        checked = [line for line in wrong if 'Revealed type' in line]
        wrong = [line for line in wrong if line not in checked]
        failures += bool(wrong) or not checked
        print('not ok' if wrong or not checked else 'ok', number, '-', os.path.basename(page))
        for line in wrong:
            print('#', line)
    print(f'1..{len(sys.argv) - 1}')
    return 1 if failures else 0


sys.exit(main())
