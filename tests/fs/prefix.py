"""Whether a reader elsewhere shows a prefix of what was written, and how old.

  prefix.py write MOUNT DONE SECONDS [PAUSE]   rows in order, in commits of two
                                cells each; a line of DONE is when one was done
  prefix.py read MOUNT DONE BOUND SECONDS   at each look both cells of each row
                                up to one, never fewer than before, and all that
                                was done BOUND seconds before
"""

import json
import os
import sys
import time


def write(mount, done, seconds, pause="0.002"):
    end, n = time.monotonic() + float(seconds), 0
    os.makedirs(mount + "/log/meta/f")
    with open(done, "w", buffering=1) as done:
        while time.monotonic() < end:
            n += 1
            line = {"row": "r%06d" % n, "set": {"f": {"q": str(n), "p": "p"}}}
            with open(mount + "/log/.mutate", "w") as out:
                out.write(json.dumps(line) + "\n")
            done.write("%.6f\n" % time.time())
            time.sleep(float(pause))


def read(mount, done, bound, seconds):
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
        with open(done) as times:
            times = times.read().split("\n")[:-1]
        if len(times) > seen:  # the first that it has not
            worst = max(worst, began - float(times[seen]))
        both = os.listdir("%s/log/r%06d/f" % (mount, seen))
        assert sorted(both) == ["p", "q"], both
    assert looks > 3 and seen > 50, (looks, seen)
    assert worst < float(bound), "%.3f s old" % worst
    print("%d looks, %d rows, %.3f s" % (looks, seen, worst))


{"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
