# SPDX-License-Identifier: Apache-2.0
"""Points of the scoreboard (points.py): what a second core gives, and how many could be of use.

A job runs on one thread and on two, in turns, and once with 64, for its work and span (`processor` in the program's
answer, src/base/kn_meter.h): these are processor times of ranges, so that they are the same on two cores as on many.
"""
import json
import re

from measure import QI, QI9, RUN, Skipped, middle, script
from points import A8, apart, dependencies, figure, full_release, gcs, point, tpch_command, uniform

MANY = 64
EXCEPTIONS = '"exceptions": '  # once for each dependency of an answer
STAGES = ("read", "search", "write", "verify")


def with_threads(command, threads):
    at = command.index("--threads")
    return command[:at + 1] + [threads] + command[at + 2:]


def faster(one, two):
    return figure(middle(one) / middle(two), detail=f"{middle(one):.3g} s with one")


def useful(processor, stage):
    part = processor[stage]
    return figure(part["parallelism"], detail=f"work {part['work']:.2g} s, span {part['span']:.2g} s")


def stages_on_cores(bench, command, times, stages, limit=600):
    """Of a release, each stage: `stage` is two threads against one, `stage-span` how many can be of use."""
    def answer(threads):
        bench.release().unlink(missing_ok=True)  # or writing would include giving the space of the last turn's back
        return bench.json(with_threads(command, threads), limit)[0]

    took = {1: [], bench.threads: []}
    for _ in range(bench.times(times)):
        for threads, answers in took.items():
            answers.append(answer(threads)["seconds"])
    one, two = ({stage: [answer[stage] for answer in answers] for stage in stages} for answers in took.values())
    many = answer(MANY)["processor"]
    figures = {stage: faster(one[stage], two[stage]) for stage in stages}
    figures.update({f"{stage}-span": useful(many, stage) for stage in stages})
    figures.update({f"{stage}-seconds": figure(middle(two[stage]), middle(two[stage]), detail=apart(two[stage])) for stage in stages})
    return figures, {}


def ten_million_release(bench):
    return full_release(bench, bench.table("adult-like", bench.size(10_000_000)), QI9, 5, "--suppression", "5%")


@point("cores-table", ten_million_release, ["readers"])
def cores_table(bench, command):
    """Beside writing, how long DuckDB and Polars take to write the very release."""
    figures, counters = stages_on_cores(bench, command, 3, STAGES)
    data = RUN.describe(bench.release(), "scoreboard", "the release")
    write = figures["write-seconds"]
    write["limit"] = (write["own"], bench.limit("store", data["bytes"]), "giving the bytes to the system, on one thread")
    write["detail"] += f"; {data['bytes'] / 1e6:.0f} MB"
    for name in ("duckdb", "polars"):
        write["peers"][name] = bench.beside(
            "readers", lambda found, name=name: middle(written(bench, found, name, data) for _ in range(bench.times(3))))
    return figures, counters


def written(bench, found, name, data):
    if name not in found:
        raise Skipped("not installed")
    sample = RUN.measure_peer(found[name][0], name, "write", data, bench.threads, bench.cap(300))
    if "skipped" in sample:
        raise Skipped(sample["skipped"])
    return sample["wall"]


def method_command(bench, method, table, columns, *more):
    return [
        bench.kanon, "anonymize", table, "--qi", columns, *more, "-k", 10, "--method", method, "--threads", bench.threads,
        "--dry-run", "--json", "--quiet"
    ]


def adult_like(bench, method, rows):
    return method_command(bench, method, bench.table("adult-like", bench.size(rows)), ",".join(QI), *bench.hierarchies(QI))


JOBS = {
    "mondrian": lambda bench: method_command(bench, "mondrian", uniform(bench, 10_000_000), A8),
    "mondrian-best": lambda bench: adult_like(bench, "mondrian-best", 1_000_000),
    "kmsd": lambda bench: adult_like(bench, "kmsd", 1_000_000),
}
for _name, _command in JOBS.items():
    point(f"cores-{_name}", _command)(lambda bench, command: stages_on_cores(bench, command, 3, ("search", )))


def shape_command(bench, spec, *more):
    return [bench.kanon, "anonymize", spec, *more, "--threads", bench.threads, "--dry-run", "--json", "--quiet"]


@point("cores-miracle-x",
       lambda bench: shape_command(bench, tpch_command(bench)[1], "--method", "miracle-x", "-k", 5))
def cores_miracle(bench, command):
    return stages_on_cores(bench, command, 2, ("search", ))


@point("cores-gcs", lambda bench: gcs(bench, 250_000))
def cores_gcs(bench, command):
    took = {1: [], bench.threads: []}
    for _ in range(bench.times(3)):
        for threads, seconds in took.items():
            seconds.append(bench.json(with_threads(command, threads), 600)[0]["search"])
    many = bench.json(with_threads(command, MANY), 600)[0]
    if "work" not in many:
        raise Skipped("bench_tree_evaluate does not report work and span")
    part = {"parallelism": many["work"] / many["span"], "work": many["work"], "span": many["span"]}
    return {"search": faster(*took.values()), "search-span": useful({"search": part}, "search")}, {}


@point("cores-dependencies", lambda bench: dependencies(bench, "1m-20", 1_000_000, 20, "0", 240))
def cores_dependencies(bench, command):
    took = {1: [], bench.threads: []}
    for _ in range(bench.times(3)):
        for threads, seconds in took.items():
            seconds.append(bench.json(with_threads(command, threads), 300)[0]["discovery"]["seconds"])
    many = bench.json(with_threads(command, MANY), 300)[0]["discovery"]
    return {"search": faster(*took.values()), "search-span": useful(many, "processor")}, many["counters"]


# ---- The rest of what is asked of speed ----


@point("digest", lambda bench: [bench.program("bench_limits"), bench.table("adult-like", bench.size(3_000_000))])
def digest(bench, command):
    rates = bench.rates()
    with open("/proc/cpuinfo", encoding="ascii") as file:
        own = " sha_ni" in file.read()
    words = f"{rates['kanon'] / 1e6:,.0f} MB/s, OpenSSL {rates['openssl'] / 1e6:,.0f} MB/s; the processor has " + (
        "instructions for SHA-256" if own else "no instructions for SHA-256")
    size = rates["bytes"]
    return {
        "share": figure(rates["kanon"] / rates["openssl"], size / rates["kanon"], {"OpenSSL": {"seconds": size / rates["openssl"]}},
                        words, limit=(size / rates["kanon"], size / rates["scan"], "reading memory once"))
    }, {}


@point("thirty-million",
       lambda bench: full_release(bench, bench.table("adult-like", bench.size(30_000_000)), QI9, 5, "--suppression", "5%"))
def thirty_million(bench, command):
    done = bench.run(command, 600)
    answer = json.loads(done["out"])
    return {
        "bytes": figure(done["rss_bytes"] / answer["rows"], detail=f"{done['rss_bytes'] / 1e6:.0f} MB resident")
    }, answer["counters"]


@point("fd-4k-34-1%", lambda bench: dependencies(bench, "4k-wide", 4_000, 34, "0.01", 60))
def wide_dependencies(bench, command):
    """The answer is hundreds of megabytes: it is not taken apart. What it says of the search stands before what was found."""
    done = bench.run(command, 120)
    head, found = done["out"].split('"found": [', 1)
    search = float(re.search(r'"seconds": ([-+.e0-9]+)', head)[1])
    return {
        "seconds":
        figure(done["wall"], detail=f"{found.count(EXCEPTIONS):,} dependencies, the search alone {search:.2f} s",
               over='"complete": true' not in head)
    }, {}


# ---- Larger than memory, whole databases, baskets ----


@point("big-k", lambda bench: [bench.kanon])
def big_k(bench, command):
    module = script("big/run")
    if not module.there():
        raise Skipped("libduckdb is not there; run scripts/setup big")
    figures = {}
    for name, (ours, alone) in module.measured(bench.build, bench.size(10_000_000), bench.threads):
        figures[name] = figure(ours / alone, ours, {"DuckDB's GROUP BY": {"seconds": alone}}, "seconds of the processor")
    return figures, {}


@point("big-release", lambda bench: [bench.kanon])
def big_release(bench, command):
    module = script("big/release")
    if not module.there():
        raise Skipped("libduckdb is not there; run scripts/setup big")
    ours, alone = module.released(bench.build, module.settings(rows=bench.size(100_000_000), threads=bench.threads))
    return {
        "processor": figure(ours[1] / alone[1], ours[1], {"DuckDB's copy": {"seconds": alone[1]}},
                            f"seconds of the processor; {ours[2]:.0f} MB at most"),
        "memory": figure(ours[2] / 1000)
    }, {}


@point("database", lambda bench: tpch_command(bench))
def database(bench, command):
    """Whole releases, SQLite to SQLite, of ten times as many persons each."""
    module = script("relational/run")
    sizes = [1_000, 10_000, 100_000] + ([1_000_000] if bench.large else [])
    found = []
    for persons in (bench.size(size) for size in sizes):
        release = bench.persons(persons)
        encoded = bench.json([*tpch_command(bench, persons)[:1], release, "--method", "miracle-x", "--k", 5, "--threads",
                              bench.threads], 600)[0]["encoded"]
        runs = {t: [module.whole_release(bench, release, t) for _ in range(bench.times(1 if persons > 10_000 else 3))]
                for t in (1, bench.threads)}
        found.append((persons, encoded, runs))
    cpu = [middle(run["cpu"] for run in runs[1]) for _, _, runs in found]
    grown = [b / a for a, b in zip(cpu, cpu[1:])]
    persons, encoded, runs = found[-1]
    resident = max(run["resident"] for run in runs[bench.threads])
    return {
        "grown": figure(max(grown), detail=", ".join(f"{g:.1f}×" for g in grown) + f" from 1,000 to {persons:,} persons"),
        "second": faster([run["wall"] for run in runs[1]], [run["wall"] for run in runs[bench.threads]]),
        "memory": figure(resident / encoded, detail=f"{resident / 1e6:,.0f} MB resident, {encoded / 1e6:,.0f} MB encoded")
    }, {}


@point("baskets", lambda bench: [bench.kanon])
def baskets(bench, command):
    module = script("baskets/run")
    figures = {}
    for m in (1, 2):
        seconds, megabytes, items = module.one(bench.kanon, bench.size(100_000), 2_000, m)
        figures[f"m{m}"] = figure(seconds, detail=f"{items:,} items released, {megabytes:.0f} MB")
    return figures, {}
