"""What Prometheus takes: checks a text of metrics, each family of which is told
once with HELP and TYPE before its samples, none of which is double. Prints what
is wrong, a line each; the exit status is 1 if anything is.

  metrics.py FILE [NAME...]    the families named must be there
"""
import re
import sys

SAMPLE = re.compile(r'([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')


def labels_of(text):
    at, found = 0, {}
    while at < len(text):
        m = LABEL.match(text, at)
        if not m or m[1] in found:
            return None
        found[m[1]] = m[2]
        at = m.end()
    return found


def check_histogram(name, buckets, sums, counts):
    for key, series in buckets.items():
        bounds = [float(le) for le, _ in series]
        values = [value for _, value in series]
        if bounds != sorted(bounds) or bounds[-1] != float("inf"):
            yield f"{name}{key}: bounds {bounds}"
        if values != sorted(values):
            yield f"{name}{key}: buckets fall"
        if key not in sums or counts.get(key) != values[-1]:
            yield f"{name}{key}: its count is not that of its last bucket"


def check(text):
    if not text.endswith("\n"):
        yield "the last line has no end"
    helps, types, seen, family = {}, {}, set(), None
    histograms = {}
    for line in text.splitlines():
        m = re.fullmatch(r"# (HELP|TYPE) (\w+) (.+)", line)
        if m:
            known = helps if m[1] == "HELP" else types
            if m[2] in known:
                yield f"{m[2]}: {m[1]} twice"
            known[m[2]] = m[3]
            family = m[2]
            continue
        if line.startswith("#"):
            continue
        m = SAMPLE.fullmatch(line)
        labels = labels_of(m[2] or "") if m else None
        if labels is None:
            yield f"no sample: {line}"
            continue
        name, value = m[1], float(m[3])
        base = name
        if types.get(family) == "histogram":
            base = re.sub("_(bucket|sum|count)$", "", name)
        if base != family or family not in helps or family not in types:
            yield f"{line}: not behind its HELP and TYPE"
        identity = (name, tuple(sorted(labels.items())))
        if identity in seen:
            yield f"{line}: twice"
        seen.add(identity)
        if (types.get(base) == "counter") != name.endswith("_total"):
            yield f"{name}: counters, and they alone, end in _total"
        if types.get(base) == "counter" and value < 0:
            yield f"{line}: less than nothing"
        if base != name:
            le = labels.pop("le", None)
            key = tuple(sorted(labels.items()))
            parts = histograms.setdefault(base, ({}, {}, {}))
            if name.endswith("_bucket"):
                parts[0].setdefault(key, []).append((le, value))
            else:
                parts[1 if name.endswith("_sum") else 2][key] = value
    for name in types:
        if types[name] not in ("counter", "gauge", "histogram"):
            yield f"{name}: {types[name]} is no type"
        if not helps.get(name, "").endswith("."):
            yield f"{name}: its help is no sentence"
    for name, parts in histograms.items():
        yield from check_histogram(name, *parts)
    for name in sys.argv[2:]:
        if name not in types:
            yield f"{name}: not there"


with open(sys.argv[1]) as f:
    wrong = list(check(f.read()))
print(*wrong, sep="\n", end="\n" if wrong else "")
sys.exit(bool(wrong))
