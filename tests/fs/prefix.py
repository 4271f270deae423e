"""Whether a reader elsewhere shows a prefix of what was written, and how old.

  prefix.py write MOUNT SECONDS [PAUSE]   rows in order, in commits of two
                                          cells each, which have their times
  prefix.py read MOUNT BOUND SECONDS      at each look both cells of each row
                                          up to one, never fewer than before,
                                          and no older than BOUND seconds
"""

import json
import os
import sys
import time


def write(mount, seconds, pause="0.002"):
    end, n = time.monotonic() + float(seconds), 0
    os.makedirs(mount + "/log/meta/f")
    while time.monotonic() < end:
        n += 1
        text = "%d %d" % (n, time.time_ns() // 1000)
        with open(mount + "/log/.mutate", "w") as out:
            line = {"row": "r%06d" % n, "set": {"f": {"q": text, "p": text}}}
            out.write(json.dumps(line) + "\n")
        time.sleep(float(pause))


def read(mount, bound, seconds):
    end, seen, worst, looks = time.monotonic() + float(seconds), 0, 0, 0
    while time.monotonic() < end:
        began = time.time()
        with open(mount + "/log/.scan/tsv") as scan:
            lines = scan.read().splitlines()
        rows = [line.split("\t") for line in lines if line.startswith("r0")]
        assert len(rows) % 2 == 0, "half of a commit"
        rows = [row for row in rows if row[2] == "q"]
        if not rows:
            continue
        keys = [int(row[0][1:]) for row in rows]
        assert keys == list(range(1, len(keys) + 1)), "a hole"
        assert len(keys) >= seen, "back from %d to %d" % (seen, len(keys))
        seen, looks = len(keys), looks + 1
        worst = max(worst, began - int(rows[-1][-1].split()[1]) / 1e6)
        both = os.listdir("%s/log/r%06d/f" % (mount, seen))
        assert sorted(both) == ["p", "q"], both
    assert looks > 3 and seen > 50, (looks, seen)
    assert worst < float(bound), "%.3f s old" % worst
    print("%d looks, %d rows, %.3f s" % (looks, seen, worst))


{"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
