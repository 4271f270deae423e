"""
Runs the tables of a README that set a command beside what does the same by paths:
examples.py README STORE MOUNTED MOUNT, where MOUNT shows the store MOUNTED. If they show
rows as cbt does, both must show the same ones; if something else, each line that
the path gives is part of what the command prints; and if nothing, both stores
must hold the same then. Times do not count.
"""

import os
import re
import subprocess
import sys


def lines(readme):
    """(line number, operation, command, path) of each line of the tables."""
    with open(readme, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            match = re.fullmatch(r"\| (.*?) \| `(.*)` \| `(.*)` \|\n", line)
            if match:
                yield number, *match.groups()


def shell(command, where, store):
    """What a command prints; it must succeed."""
    done = subprocess.run(["bash", "-c", command], cwd=where, text=True,
                          env={**os.environ, "TABLETFS_STORE": store},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode or done.stderr:
        raise RuntimeError(f"{command}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def without_times(text):
    return re.sub(r" +@ \d{4}/.*", "", text)


def contents(store):
    """Everything in a store, without times but with the order of versions."""
    out = ""
    for table in shell("tabletfs ls", "/", store).split():
        out += shell(f"tabletfs ls {table}; tabletfs read {table}", "/", store)
    return without_times(out)


def run(command, path, store, mounted, mount):
    """What is wrong with a line; None if nothing."""
    printed = without_times(shell(command, os.path.dirname(store), store))
    shown = without_times(shell(path, mount, mounted))
    # It tells what it came to; a .mutate tells that to who reads it.
    if command.startswith("tabletfs mutate ") and ">" in path and not shown:
        return None
    if shown or printed:
        same = (shown.strip() == printed.strip() if shown.startswith("-----")
                else shown and all(s in printed for s in shown.splitlines()))
        same = same or not (shown or printed.strip("-\n"))
        return None if same else f"the path shows {shown!r}, not {printed!r}"
    one, other = contents(store), contents(mounted)
    return None if one == other else f"the stores hold\n{one}\nand\n{other}"


def main(readme, store, mounted, mount):
    passed = failed = 0
    for number, operation, command, path in lines(readme):
        try:
            wrong = run(command, path, store, mounted, mount)
        except RuntimeError as e:
            wrong = e
        if wrong:
            print(f"{readme}:{number}: {operation}: {wrong}")
            failed += 1
        else:
            passed += 1
    print(passed, failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
