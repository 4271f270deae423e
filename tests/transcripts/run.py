#!/usr/bin/env python3
"""Runs what a person typed to cbt and compares what is printed.

    run.py tabletfs PROGRAM FILE...
    run.py served PROGRAM FILE...
    run.py emulator CBTEMULATOR FILE...

with tabletfs itself, or with Google's cbt: beside a server of tabletfs, or
beside Google's emulator.

A FILE holds commands ("$ cbt ARGUMENTS", as the shell reads them), then what
cbt printed beside the emulator ("[stderr] " before a line of standard error)
and "[exit N]". Where tabletfs means to differ, "[differs] REASON" follows, and
what it prints in the same form, and where its server does, "[served] REASON";
that is then compared. Each file has a store of its own. The last line counts.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TABLE = r'projects/p/instances/i/tables/'

# What Google's client and wire say around the same words.
STDERR = [
    (r'^(<logtime>|20\d\d/\d\d/\d\d \d\d:\d\d:\d\d) ', ''),
    (r'^tabletfs: ', ''),
    (TABLE, ''),
    (r'usage: cbt ', 'usage: tabletfs '),
    # The progress of its workers, and that it has families in any order.
    (r'^\[\d\] .*$', None),
    (r'family name "(a b|%|x/y)"', 'family name'),
    (r'No such file', 'no such file'),
]

CODE = r'rpc error: code = \w+ desc = '
# What the emulator says for want of a better code.
NO_CODE = r'rpc error: code = (Unknown|Internal) desc = '

# The time of day is nobody's difference.
STDOUT = [(r'@ 20(2[6-9]|[3-9]\d)/\d\d/\d\d-[\d:.]+$', '@ now')]


class Result:
    """What a command printed, or is to print."""

    def __init__(self):
        self.out, self.err, self.status = [], [], None

    def plain(self):
        return (plain(self.out, STDOUT), plain(self.err, STDERR), self.status)


class Block:
    """One command and what is to come of it."""

    def __init__(self, at, command):
        self.at, self.command = at, command
        self.last = Result()
        self.results = {'cbt': self.last}

    def begin(self, name):
        self.last = self.results[name] = Result()

    def wanted(self, kind):
        other = {'tabletfs': 'differs', 'served': 'served'}.get(kind)
        return self.results.get(other, self.results['cbt'])


def blocks(path):
    """Yields the blocks of a file."""
    with open(path, encoding='utf-8', errors='surrogateescape',
              newline='\n') as f:
        lines = f.read().split('\n')
    block = None
    for number, line in enumerate(lines, 1):
        ended = not block or block.last.status is not None
        if line.startswith('$ cbt') and ended:
            if block:
                yield block
            block = Block(number, line[2:])
        elif not block:
            continue
        elif line.startswith(('[differs] ', '[served] ')):
            block.begin(line[1:line.index(']')])
        elif ended:
            continue
        elif line.startswith('[exit '):
            block.last.status = int(line[6:-1])
        elif line.startswith('[stderr] '):
            block.last.err.append(line[len('[stderr] '):])
        else:
            block.last.out.append(line)
    if block:
        yield block


FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'files')


class Command:
    """tabletfs itself, by the name of cbt."""

    def __init__(self, program):
        self.store = tempfile.mkdtemp(prefix='tabletfs-transcript.')
        self.environment = {}
        self.cbt = f'"{program}" -store "{self.store}"'

    def close(self):
        shutil.rmtree(self.store)


class Server(Command):
    """A server, and cbt as its client."""

    def __init__(self, program, words, told):
        super().__init__(program)
        self.cbt = 'command cbt -creds /dev/null -project p -instance i'
        self.server = subprocess.Popen(
            [program] + [word or self.store for word in words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        line = self.server.stdout.readline().decode()
        address = re.search(told, line)
        if not address:
            sys.exit(f'{program} says {line}')
        self.environment = {'BIGTABLE_EMULATOR_HOST': address.group(1),
                            'HOME': self.store}

    def close(self):
        self.server.send_signal(signal.SIGTERM)
        self.server.communicate()
        super().close()


def system(kind, program):
    if kind == 'served':
        return Server(program, ['serve', None, 'listen=127.0.0.1:0'],
                      'export BIGTABLE_EMULATOR_HOST=(.*)')
    if kind == 'emulator':
        return Server(program, ['-host', '127.0.0.1', '-port', '0'],
                      'running on (.*?)[.]?$')
    return Command(program)


def shell(command, under):
    """The command in a shell that has cbt for what is tried."""
    script = f'cbt() {{ {under.cbt} "$@"; }}; {command}'
    done = subprocess.run(['bash', '-c', script], capture_output=True,
                          env={'TZ': 'UTC', 'PATH': '/usr/bin:/bin',
                               'LC_ALL': 'C.UTF-8', **under.environment},
                          cwd=FILES, check=False)

    def lines(raw):
        text = raw.decode('utf-8', 'surrogateescape')
        return text[:-1].split('\n') if text.endswith('\n') else \
            text.split('\n') if text else []
    found = Result()
    found.out, found.err = lines(done.stdout), lines(done.stderr)
    found.status = done.returncode
    return found


def plain(lines, rules):
    for pattern, by in rules:
        lines = [line if by is None else re.sub(pattern, by, line)
                 for line in lines if by is not None
                 or not re.match(pattern, line)]
    return lines


def agree(kind, want, have):
    """Both as they are compared: a command has no codes, and the server those
    that the documents have where the emulator has none."""
    want, have = want.plain(), have.plain()
    if kind == 'emulator':
        return want, have
    for i, line in enumerate(want[1]):
        if kind == 'tabletfs' or re.search(NO_CODE, line):
            want[1][i] = re.sub(CODE, '', line)
            have[1][i:i + 1] = [re.sub(CODE, '', h) for h in have[1][i:i + 1]]
    return want, have


def main():
    kind, program = sys.argv[1], os.path.abspath(sys.argv[2])
    passed = failed = 0
    for path in sys.argv[3:]:
        under = system(kind, program)
        for block in blocks(path):
            want, have = agree(kind, block.wanted(kind),
                               shell(block.command, under))
            if want == have:
                passed += 1
                continue
            failed += 1
            print(f'{path}:{block.at}: {block.command}')
            for name, a, b in zip(('stdout', 'stderr', 'status'), want, have):
                if a != b:
                    print(f'  {name}\n    wanted: {a}\n    found:  {b}')
        under.close()
    print(f'{passed} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
