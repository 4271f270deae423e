"""What is open goes with what is renamed: each kind of file that can be written,
and directories, are opened, then the row or the table is renamed and another
takes its name, and then they are written. What was written must be in the
renamed one, and the other as it was.

    renamed.py MOUNT DROP...    DROP... TABLE is a command that drops a table

Prints a line for each case: "ok" or "failed", what is open, and what happens:
the row or the table is renamed, the table dropped, or dropped and another made
of its name.
"""
import ctypes
import errno
import os
import subprocess
import sys
import traceback

from fails import fails

m, DROP = sys.argv[1], sys.argv[2:]
t = u = ""  # the case's table, and what it is renamed to
CSV = b",f\n,q\n"


def put(path, text):
    with open(os.path.join(m, path), "w") as f:
        f.write(text)


def get(path):
    with open(os.path.join(m, path)) as f:
        return f.read()


def make(table, text):
    """A table with a row in three families, one of sums, and two versions."""
    os.makedirs("%s/%s/r/f" % (m, table))
    os.makedirs("%s/%s/r/n" % (m, table))
    put(table + "/.schema/n/type", "intsum")
    os.mkdir("%s/%s/.schema/empty" % (m, table))
    put(table + "/.mutate", "".join(
        '{"row":"r","set":{"f":{"q":{"value":"%s%d","timestamp":%d}}}}\n' %
        (text, i, i * 1000) for i in (1, 2)))
    put(table + "/.mutate", '{"row":"r","add":{"n":{"sum":'
        '{"value":7,"timestamp":1000}}}}\n')


def show(table):
    """All that a table is."""
    text = get(table + "/.scan/versions/all/jsonl")
    for name in sorted(os.listdir("%s/%s/.schema" % (m, table))):
        text += "%s %s %s\n" % (name,
                                get("%s/.schema/%s/gc" % (table, name)).strip(),
                                get("%s/.schema/%s/type" % (table, name)).strip())
    return text + get(table + "/.granularity") + oct(
        os.stat("%s/%s" % (m, table)).st_mode)


def opened(name, flags=os.O_WRONLY):
    return os.open("%s/%s/%s" % (m, t, name), flags)


def written(text):
    def write(fd):
        assert os.write(fd, text) == len(text)
        os.close(fd)
    return write


def in_directory(call):
    def run(fd):
        call(fd)
        os.close(fd)
    return run


def made(name):
    def create(fd):
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=fd))
    return create


def in_two(first, second):
    """Opens, and writes a part before the rename and another after it."""
    def begin(name):
        def run():
            fd = opened(name)
            assert os.write(fd, first) == len(first)
            return fd
        return run
    return begin, written(second)


def line(row):
    return b'{"row":"%s","set":{"f":{"new":"new"}}}\n' % row


def token():
    for words in get(t + "/.drop/prefix/r/preview").splitlines():
        if words.startswith("token"):
            return words.split()[1].encode()


def drop_open():
    return opened(".drop/prefix/r/apply"), token()


def drop_write(opened_and_token):
    written(opened_and_token[1])(opened_and_token[0])


lines_open, lines_write = in_two(line(b"r")[:20], line(b"r")[20:])
load_open, load_write = in_two(
    b"".join(b'{"row":"load%d","set":{"f":{"q":"%s"}}}\n' % (i, b"x" * 9000)
             for i in range(20)), line(b"load"))
csv_open, csv_write = in_two(CSV + b"a,", b"new\n")

# What opens, what writes, and a word of the dump that tells that it was written;
# with "-" it is one that tells so by being gone.
CASES = {
    "append": (lambda: opened("r/f/q", os.O_WRONLY | os.O_APPEND),
               written(b"new"), '"x2new"'),
    "overwrite": (lambda: opened("r/f/q"), written(b"new"), '"new"'),
    "truncate": (lambda: opened("r/f/q"),
                 in_directory(lambda fd: os.ftruncate(fd, 1)), '"x"'),
    "create": (lambda: opened("r/f/new", os.O_WRONLY | os.O_CREAT),
               written(b"new"), '"new"'),
    "stamp": (lambda: opened("r/f/q"),
              in_directory(lambda fd: os.utime(fd, ns=(0, 7000000))),
              '"timestamp": 7000'),
    "sum": (lambda: opened("r/n/sum", os.O_WRONLY | os.O_APPEND),
            written(b"5\n"), '\\u0000\\f'),
    "version": (lambda: opened("r/f/.versions/q", os.O_RDONLY),
                in_directory(lambda fd: os.unlink("1000", dir_fd=fd)), "-x1"),
    "row": (lambda: opened("r/.row.jsonl"),
            written(b'{"set":{"f":{"new":"new"}}}'), '"new"'),
    "mutate": (lambda: opened(".mutate"), written(line(b"r")), '"new"'),
    "mutate-part": (lines_open(".mutate"), lines_write, '"new"'),
    "import": (lambda: opened(".import/jsonl"), written(line(b"r")), '"new"'),
    "import-part": (lines_open(".import/jsonl"), lines_write, '"new"'),
    "import-load": (load_open(".import/jsonl"), load_write, '"load19"'),
    "import-csv": (csv_open(".import/csv"), csv_write, '"new"'),
    "drop": (drop_open, drop_write, '-"r"'),
    "gc": (lambda: opened(".schema/f/gc"), written(b"maxversions=3"),
           "maxversions=3"),
    "type": (lambda: opened(".schema/f/type"), written(b"stringutf8bytes"),
             "stringutf8bytes"),
    "granularity": (lambda: opened(".granularity"), written(b"millis"),
                    "millis"),
    "chmod": (lambda: opened(".", os.O_RDONLY),
              in_directory(lambda fd: os.fchmod(fd, 0o700)), "0o40700"),
    "mkdir-schema": (lambda: opened(".schema", os.O_RDONLY),
                     in_directory(lambda fd: os.mkdir("new", dir_fd=fd)),
                     "new never bytes"),
    "rmdir-schema": (lambda: opened(".schema", os.O_RDONLY),
                     in_directory(lambda fd: os.rmdir("empty", dir_fd=fd)),
                     "-empty"),
    "mkdir-family": (lambda: opened("r", os.O_RDONLY),
                     in_directory(lambda fd: os.mkdir("new", dir_fd=fd)),
                     "new maxversions=10 bytes"),
    "create-at": (lambda: opened("r/f", os.O_RDONLY),
                  in_directory(made("new")), '"new"'),
    "unlink-at": (lambda: opened("r/f", os.O_RDONLY),
                  in_directory(lambda fd: os.unlink("q", dir_fd=fd)), '-"q"'),
}
# Of the row; what is open of the rest is the table's, which keeps its name.
ROW = ("append", "overwrite", "truncate", "create", "stamp", "sum", "version",
       "row", "mkdir-family", "create-at", "unlink-at")


def row_of(text, row):
    return "".join(a for a in text.splitlines(True) if '"row": "%s"' % row in a)


def renamed_table(case):
    open_it, write, word = CASES[case]
    handle = open_it()
    os.rename("%s/%s" % (m, t), "%s/%s" % (m, u))
    make(t, "y")
    before = show(t)
    write(handle)
    assert show(t) == before, ("the other table", before, show(t))
    find(word, show(u))


def renamed_row(case):
    open_it, write, word = CASES[case]
    handle = open_it()
    os.rename("%s/%s/r" % (m, t), "%s/%s/s" % (m, t))
    os.makedirs("%s/%s/r/f" % (m, t))
    put(t + "/.mutate", '{"row":"r","set":{"f":{"q":"y"}}}\n')
    before = show(t)
    write(handle)
    after = show(t)
    assert row_of(after, "r") == row_of(before, "r"), ("the other row", before,
                                                       after)
    find(word, row_of(after, "s") if case != "mkdir-family" else after)


def find(word, text):
    if word.startswith("-"):
        assert word[1:] not in text, text
    else:
        assert word in text, text


# But not what has a last line that its newline has not come of: the command that
# drops the table closes what it inherits, by which that is taken.
DROPPED = [case for case in CASES
           if case not in ("mutate-part", "import-part", "import-csv")]


def dropped(case):
    """There is nothing to write to."""
    open_it, write, _ = CASES[case]
    handle = open_it()
    subprocess.check_call(DROP + [t])
    fails(errno.ENOENT, write, handle)


def made_again(case):
    """Another table that has the name is another."""
    open_it, write, _ = CASES[case]
    handle = open_it()
    subprocess.check_call(DROP + [t])
    make(t, "y")
    before = show(t)
    fails(errno.ESTALE, write, handle)
    assert show(t) == before, (before, show(t))


def many(text):
    put(t + "/.import/jsonl", "".join(
        '{"row":"%s%06d","set":{"f":{"q":"some text of a value"}}}\n' %
        (text, i) for i in range(3000)))


def read_again(case):
    """What is far back in a scan or a list is made anew, of the same table."""
    libc = ctypes.CDLL(None, use_errno=True)
    memory = ctypes.create_string_buffer(1 << 15)

    def to_the_end(fd):
        while os.read(fd, 1 << 16) if case != "." else libc.syscall(
                217, fd, memory, len(memory)) > 0:
            pass

    def again(fd):
        os.lseek(fd, 10, os.SEEK_SET)
        if case != ".":
            return os.read(fd, len(memory))
        assert libc.syscall(217, fd, memory, len(memory)) > 0
        return memory.raw

    many("x")
    fd = opened(case, os.O_RDONLY)
    to_the_end(fd)
    before = again(fd)
    to_the_end(fd)
    os.rename("%s/%s" % (m, t), "%s/%s" % (m, u))
    make(t, "y")
    many("y")
    assert b"x000" in before and again(fd) == before


number = 0
for cases, run in ((CASES, renamed_table), (ROW, renamed_row),
                   (DROPPED, dropped), (DROPPED, made_again),
                   ((".scan/jsonl", "."), read_again)):
    for name in cases:
        number += 1
        t, u = "t%d" % number, "u%d" % number
        try:
            make(t, "x")
            run(name)
            print("ok", name, run.__name__)
        except Exception:
            print("failed", name, run.__name__)
            traceback.print_exc()
