# SPDX-License-Identifier: Apache-2.0
"""Where the time or the memory of a missed goal goes.

Time: perf sees caches and threads, so it is taken where the machine lets it: on the goal's data, or on a tenth of it
where the point took long. callgrind works everywhere, slowly: one thread, a tenth of the data. Loading is part of both.
Memory: massif, on a tenth of the data; who asked for what was held when it was most, while the point's `root` worked.
"""

import re
import shutil

from measure import Failed, Late, Skipped

LONG = 90  # seconds; what takes longer is profiled on a tenth of the data
TOP = 12


def perf_rows(bench, command, limit):
    data = bench.cache / "data" / "perf.data"
    bench.run(["perf", "record", "-q", "-F", 499, "-o", data, "--", *command], limit, allowed=(0, 1))
    text = bench.run(["perf", "report", "-i", data, "--stdio", "--no-children", "-F", "overhead,symbol"], 120)["out"]
    data.unlink()
    rows = [(float(share), name.strip()) for share, name in re.findall(r"^\s*([\d.]+)%\s+\[\S\] (.*)$", text, re.M)]
    if not rows:
        raise Failed("perf has no samples")
    return rows[:TOP]


def callgrind_rows(bench, command, limit):
    data = bench.cache / "data" / "callgrind.out"
    bench.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={data}", *command], limit, allowed=(0, 1))
    text = bench.run(["callgrind_annotate", "--threshold=95", data], 120)["out"]
    data.unlink()
    sums = {}
    for share, name in re.findall(
        r"^\s*[\d,]+ \(\s*([\d.]+)%\)\s+\S*?:(\S+)", text, re.M
    ):  # a line per file inlined into it
        sums[name] = sums.get(name, 0) + float(share)
    if not sums:
        raise Failed("callgrind has no figures")
    return sorted(((share, name) for name, share in sums.items()), reverse=True)[:TOP]


PLUMBING = re.compile(r"kn_(re)?alloc\w*|kn_grow\w*|kn_arena_\w+|kn_buffer_\w+|default_\w+|malloc|realloc|calloc")


def blame(tree):
    """Function -> bytes of a snapshot of massif: the first in the chain of callers that is not plumbing."""
    rows, open_at = {}, 0  # open_at: how deep the chain of plumbing that is being looked through is
    for indent, size, name in re.findall(r"^( *)n\d+: (\d+) (?:0x[0-9A-F]+: (\S+))?.*$", tree, re.M):
        if len(indent) > open_at:
            continue
        open_at = len(indent)
        if not indent or (name and PLUMBING.fullmatch(name)):
            open_at += 1
        else:
            rows[name or "(many small ones)"] = rows.get(name or "(many small ones)", 0) + int(size)
    return rows


def massif_rows(bench, command, root, limit):
    data = bench.cache / "data" / "massif.out"
    bench.run(
        ["valgrind", "--tool=massif", "--detailed-freq=1", "--depth=20", f"--massif-out-file={data}", *command],
        limit,
        allowed=(0, 1),
    )
    snapshots = data.read_text().split("snapshot=")[1:]
    data.unlink()
    inside = [s for s in snapshots if root and f": {root} " in s] or snapshots
    rows = blame(max(inside, key=lambda s: int(re.search(r"mem_heap_B=(\d+)", s)[1])).partition("heap_tree=")[2])
    total = sum(rows.values())
    if not total:
        raise Failed("massif has no figures")
    return sorted(((100 * size / total, name) for name, size in rows.items() if size), reverse=True)[:TOP]


def memory_profile(bench, point):
    try:
        rows = massif_rows(bench, point.command(bench.tenth()), point.root, 300)
        return {"how": "bytes asked for, by massif, a tenth of the data", "rows": rows}
    except (Failed, Late, Skipped, OSError) as why:
        return {"skipped": f"massif: {why}"}


def one_thread(command):
    command = list(command)
    for i, word in enumerate(command[:-1]):
        if word == "--threads":
            command[i + 1] = 1
    return command


def profile(bench, point, seconds):
    """{"how": words, "rows": [(per cent, function)]}, or {"skipped": why}."""
    small = bench.quick or seconds > LONG
    reasons = []
    if len(point.command(bench)) == 1:
        return {"skipped": "the point runs several commands"}
    if shutil.which("perf"):
        try:
            rows = perf_rows(bench, point.command(bench.tenth() if small else bench), 300)
            return {"how": "samples of perf, " + ("a tenth of the data" if small else "the goal's data"), "rows": rows}
        except (Failed, Late, Skipped) as why:
            reasons.append(f"perf: {why}")
    if shutil.which("valgrind"):
        try:
            rows = callgrind_rows(bench, one_thread(point.command(bench.tenth())), 300)
            return {"how": "instructions counted by callgrind, a tenth of the data, one thread", "rows": rows}
        except (Failed, Late, Skipped) as why:
            reasons.append(f"callgrind: {why}")
    return {"skipped": "; ".join(reasons) or "neither perf (Debian: linux-perf) nor valgrind is there"}
