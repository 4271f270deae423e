"""
Runs the blocks "console" of a page in one shell, in the present directory, and
compares what each command prints with what stands below it: book.py PAGE. A
line "..." stands for any lines, and ... in a line for any text. With -write the
page gets what is printed now, but where it has such lines already. Commands of
programs that not everybody has are skipped where these are not.
"""

import re
import shutil
import subprocess
import sys


OPTIONAL = ("sqlite3", "duckdb")


def blocks(lines):
    """(first line, commands) of each block; a command is its lines, from 0 on,
    and those that are expected."""
    found, inside = [], None
    for i, line in enumerate(lines):
        if inside is None:
            if line == "```console":
                inside = []
        elif line == "```":
            found.append(inside)
            inside = None
        elif line.startswith("$ "):
            inside.append([i, [line[2:]], []])
        elif line.startswith("> ") and inside and not inside[-1][2]:
            inside[-1][1].append(line[2:])
        elif inside:
            inside[-1][2].append(line)
    return [command for block in found for command in block]


def matches(expected, got):
    """Whether the lines are as expected."""
    pattern = "".join(
        r"(.*\n)*?" if line == "..." else
        ".*".join(re.escape(part) for part in line.split("...")) + r"\n"
        for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got))


class Shell:
    """One bash for all commands of a page."""
    END = "end-of-what-a-command-prints"

    def __init__(self):
        self.bash = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        """The lines that it prints."""
        self.bash.stdin.write(f"{command}\nprintf '\\n{self.END}\\n'\n")
        self.bash.stdin.flush()
        got = []
        for line in self.bash.stdout:
            if line == self.END + "\n":
                break
            got.append(line.rstrip("\n"))
        return got[:-1] if got and not got[-1] else got


def main(page, write):
    with open(page, encoding="utf-8") as f:
        lines = f.read().split("\n")
    shell, passed, failed, skipped, output = Shell(), 0, 0, 0, {}
    for at, command, expected in blocks(lines):
        program = command[0].split()[0]
        if program in OPTIONAL and not shutil.which(program):
            skipped += 1
            continue
        got = shell.run("\n".join(command))
        output[at + len(command)] = (len(expected), got)
        if matches(expected, got):
            passed += 1
            output.pop(at + len(command))
        elif not write:
            failed += 1
            print(f"FAILED: {page}:{at + 1}: {' '.join(command)}: got "
                  + "\n  ".join(got))
    if write:
        for at in sorted(output, reverse=True):
            count, got = output[at]
            lines[at:at + count] = got
        with open(page, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main([a for a in sys.argv[1:] if a != "-write"][0],
                  "-write" in sys.argv))
