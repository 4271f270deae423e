#!/usr/bin/env python3
"""Runs what a person typed to cbt with tabletfs and compares what is printed.

    run.py TABLETFS FILE...

A FILE holds commands ("$ cbt ARGUMENTS", as the shell reads them), then what
cbt printed ("[stderr] " before a line of standard error) and "[exit N]". Where
we mean to differ, "[differs] REASON" follows, and what we print in the same
form; that is then compared. Each file has a store of its own. The last line
counts.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TABLE = r'projects/p/instances/i/tables/'

# What Google's client and wire say around the same words.
STDERR = [
    (r'^<logtime> ', ''),
    (r'^tabletfs: ', ''),
    (r'rpc error: code = \w+ desc = ', ''),
    (TABLE, ''),
    (r'usage: cbt ', 'usage: tabletfs '),
    # The progress of its workers.
    (r'^\[\d\] .*$', None),
    (r'No such file', 'no such file'),
]

# The time of day is nobody's difference.
STDOUT = [(r'@ 20(2[6-9]|[3-9]\d)/\d\d/\d\d-[\d:.]+$', '@ now')]


class Block:
    """One command and what is to come of it."""

    def __init__(self, at, command):
        self.at, self.command, self.status = at, command, None
        self.clear()

    def clear(self):
        self.out, self.err = [], []

    def result(self):
        return plain(self.out, STDOUT), plain(self.err, STDERR), self.status


def blocks(path):
    """Yields the blocks of a file."""
    with open(path, encoding='utf-8', errors='surrogateescape',
              newline='\n') as f:
        lines = f.read().split('\n')
    block = None
    for number, line in enumerate(lines, 1):
        if line.startswith('$ cbt') and (not block or
                                         block.status is not None):
            if block:
                yield block
            block = Block(number, line[2:])
        elif not block:
            continue
        elif line.startswith('[differs] '):
            block.clear()
            block.status = None
        elif block.status is not None:
            continue
        elif line.startswith('[exit '):
            block.status = int(line[6:-1])
        elif line.startswith('[stderr] '):
            block.err.append(line[len('[stderr] '):])
        else:
            block.out.append(line)
    if block:
        yield block


FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'files')


def shell(command, program, store):
    """The command in a shell that has cbt for our program."""
    script = f'cbt() {{ "{program}" -store "{store}" "$@"; }}; {command}'
    done = subprocess.run(['bash', '-c', script], capture_output=True,
                          env={'TZ': 'UTC', 'PATH': '/usr/bin:/bin',
                               'LC_ALL': 'C.UTF-8'}, cwd=FILES, check=False)

    def lines(raw):
        text = raw.decode('utf-8', 'surrogateescape')
        return text[:-1].split('\n') if text.endswith('\n') else \
            text.split('\n') if text else []
    return lines(done.stdout), lines(done.stderr), done.returncode


def plain(lines, rules):
    for pattern, by in rules:
        lines = [line if by is None else re.sub(pattern, by, line)
                 for line in lines if by is not None
                 or not re.match(pattern, line)]
    return lines


def main():
    program, passed, failed = sys.argv[1], 0, 0
    for path in sys.argv[2:]:
        store = tempfile.mkdtemp(prefix='tabletfs-transcript.')
        for block in blocks(path):
            out, err, status = shell(block.command, program, store)
            want = block.result()
            have = plain(out, STDOUT), plain(err, STDERR), status
            if want == have:
                passed += 1
                continue
            failed += 1
            print(f'{path}:{block.at}: {block.command}')
            for name, a, b in zip(('stdout', 'stderr', 'status'), want, have):
                if a != b:
                    print(f'  {name}\n    wanted: {a}\n    found:  {b}')
        shutil.rmtree(store)
    print(f'{passed} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
