"""What moved.py expects of a mount, as fs/README.md says it: tables, rows,
directories of families, and cells with their versions and what is uncommitted.

Each is an object that goes on when it has another name, or none.
"""


class Thing:
    def __init__(self, name, parent):
        self.name, self.parent = name, parent
        self.gone = False  # removed

    def names(self):
        """From the mount to here."""
        return (self.parent.names() if self.parent else []) + [self.name]

    def is_dead(self):
        """Or one that it is in."""
        return self.gone or bool(self.parent and self.parent.is_dead())


class Cell(Thing):
    """versions are lists of one value, newest first: each is itself."""

    def __init__(self, name, parent):
        super().__init__(name, parent)
        self.versions = []
        self.content = None    # of the draft, while it is open
        self.handles = 0
        self.writers = 0
        self.dirty = False     # the content is not committed
        self.session = None    # the version that the session wrote last
        # Names that its history may have come from. The first one is it until
        # the kernel forgets the file, whenever it does; then the next rename's.
        self.origins = []

    def shown(self):
        return "/".join(self.names()) + (" (removed)" if self.gone else "")

    def dropped(self):
        return self.parent.is_dead()

    def values(self):
        return [v[0] for v in self.versions]

    def is_open(self):
        return self.handles > 0

    def seen(self):
        return self.content if self.is_open() else self.versions[0][0]

    def open(self, writes, empties):
        if self.content is None:
            self.content = self.versions[0][0] if self.versions else b""
        self.handles += 1
        if empties or not self.versions and not self.dirty and not self.gone:
            self.content = b""
            self.dirty = True
        if writes:
            if self.writers == 0:
                self.session = None
            self.writers += 1

    def write(self, data, at):
        old = self.content.ljust(at, b"\0")
        self.content = old[:at] + data + old[at + len(data):]
        self.dirty = True

    def truncate(self, size):
        self.content = self.content[:size].ljust(size, b"\0")
        self.dirty = True

    def commits_nowhere(self):
        """Its table was dropped by a command: a commit is refused."""
        return self.dirty and not self.gone and self.dropped()

    def commit(self):
        if self.dirty and not self.gone:
            self.push(self.versions)
            self.parent.committed()
        self.dirty = False

    def push(self, versions):
        """Puts the content on top of versions, in the place of the session's
        last one."""
        if self.session and versions and versions[0] is self.session:
            del versions[0]
        self.session = [self.content]
        versions.insert(0, self.session)

    def close(self, writes):
        self.handles -= 1
        if writes:
            self.writers -= 1
            if self.writers == 0:
                self.session = None
        if self.handles == 0:
            self.content = None
            self.dirty = False

    def unlink(self):
        """Returns the cells of which one may get its history back."""
        self.gone = True
        del self.parent.cells[self.name]
        self.parent.keep()
        found = [self.parent.cells.get(name) for name in self.origins]
        return [c for c in found if c and c.versions and self.versions]

    def add_below(self, values):
        self.versions += [[v] for v in values]

    def rename(self, new):
        """Over what has that name, if that is."""
        cells = self.parent.cells
        target = cells.get(new)
        if target:
            target.gone = True
        if target and target.versions:
            if self.dirty:
                self.session = None
                self.versions = target.versions[:]
                self.push(self.versions)
            else:
                newest = [self.versions[0][0]]
                if self.session is self.versions[0]:
                    self.session = newest
                self.versions = [newest] + target.versions
            self.origins = [n for n in target.origins if n == self.name]
        else:
            if self.dirty:
                self.push(self.versions)
            if self.name not in self.origins:
                self.origins.append(self.name)
        self.dirty = False
        del cells[self.name]
        cells[new] = self
        self.name = new
        self.parent.committed()

    def exchange(self, other):
        for c in self, other:
            c.commit()
            c.session = None
        cells = self.parent.cells
        cells[self.name], cells[other.name] = other, self
        self.name, other.name = other.name, self.name


class Sum(Cell):
    def __init__(self, name, parent):
        super().__init__(name, parent)
        self.total = 0

    def seen(self):
        return b"%d\n" % self.total

    def add(self, n):
        self.total += n
        self.parent.committed()

    def rename(self, new):
        del self.parent.cells[self.name]
        self.parent.cells[new] = self
        self.name = new


class Directory(Thing):
    """A family in a row: seen while it has a cell, or was made by itself."""

    def __init__(self, name, parent):
        super().__init__(name, parent)
        self.cells = {}
        self.local = True

    def listed(self):
        return set(self.cells)

    def is_empty(self):
        return not self.cells

    def has_cell(self):
        return any(type(c) is Sum or c.versions for c in self.cells.values())

    def is_seen(self):
        return self.local or bool(self.cells)

    def committed(self):
        self.local = self.parent.local = False

    def keep(self):
        """Its last cell was removed: it stays, and so does its row."""
        if not self.has_cell():
            self.local = True
            if not self.parent.has_cell():
                self.parent.local = True

    def set(self, name, value):
        """From outside: who has the old one open keeps that."""
        old = self.cells.get(name)
        c = self.cells[name] = Cell(name, self)
        c.versions = [[value]] + (old.versions if old else [])
        if old:
            old.gone = True
        self.committed()

    def detach(self):
        self.gone = True
        del self.parent.directories[self.name]


class Row(Thing):
    def __init__(self, name, parent):
        super().__init__(name, parent)
        self.directories = {}
        self.local = True

    def directory(self, name):
        d = self.directories.get(name)
        return d if d and d.is_seen() else None

    def add(self, d):
        self.directories[d.name] = d
        return d

    def listed(self):
        return {d.name for d in self.directories.values() if d.is_seen()}

    def is_empty(self):
        return not self.listed()

    def has_cell(self):
        return any(d.has_cell() for d in self.directories.values())

    def is_seen(self):
        return self.local or bool(self.listed())

    def detach(self):
        self.gone = True
        del self.parent.rows[self.name]

    def rename(self, new):
        del self.parent.rows[self.name]
        self.parent.rows[new] = self
        self.name = new


class Table(Thing):
    def __init__(self, name):
        super().__init__(name, None)
        self.rows = {}
        self.families = {}  # name: [policy, type]
        self.mode = 0o755
        self.granularity = "micros"

    def row(self, name):
        r = self.rows.get(name)
        return r if r and r.is_seen() else None

    def add(self, r):
        self.rows[r.name] = r
        return r

    def listed(self):
        return {r.name for r in self.rows.values() if r.is_seen()}

    def is_empty(self):
        return not self.listed()

    def drop(self):
        self.gone = True

    def state(self, names):
        """All that these rows hold."""
        return [(r.name, d.name, c.name, c.values())
                for name, r in sorted(self.rows.items()) if name in names
                for d in r.directories.values()
                for _, c in sorted(d.cells.items())]

    def drop_rows(self, names):
        for r in [r for r in self.rows.values() if r.name in names]:
            r.detach()

    def remount(self):
        """What was never committed is gone, and so are empty directories."""
        for r in list(self.rows.values()):
            for d in list(r.directories.values()):
                for c in list(d.cells.values()):
                    self.close(c, d)
                d.local = False
                if not d.cells:
                    del r.directories[d.name]
            r.local = False
            if not r.directories:
                del self.rows[r.name]

    @staticmethod
    def close(c, d):
        c.content = c.session = None
        c.origins = []
        c.handles = c.writers = 0
        c.dirty = False
        if type(c) is Cell and not c.versions:
            del d.cells[c.name]
