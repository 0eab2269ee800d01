# SPDX-License-Identifier: Apache-2.0
"""The points of the scoreboard: what is run and measured for the goals (goals.py).

A point is one measurement: `command` gives kanon's command (and makes its data), `measure` runs it, peers beside it,
and returns figures and counters.
"""
import dataclasses
import json
import math
import typing

from measure import ADULT, HERE, QI, QI9, RUN, Failed, Late, Skipped, middle, script

POINTS = {}


@dataclasses.dataclass
class Point:
    name: str
    command: typing.Callable
    measure: typing.Callable
    peers: tuple
    root: str  # the function that does the work, for a profile of memory; "": the whole program


def point(name, command, peers=(), root=""):

    def add(measure):
        POINTS[name] = Point(name, command, measure, peers, root)
        return measure

    return add


def pick(answer, names):
    return {name: answer[name] for name in names}


def figure(value, own=None, peers=None, detail="", over=False, limit=None):
    """value: in the goal's unit; own: kanon's seconds, by which the peers' are divided; over: it is more than that; limit:
    (kanon's seconds, the least that the machine allows, by what)."""
    return {"value": value, "own": own, "peers": peers or {}, "detail": detail, "over": over, "limit": limit}


# ---- 2: tables and grouping ----


def ten_million(bench):
    return bench.table("adult-like", bench.size(10_000_000))


def diagnose(bench, *more, table=ten_million):
    return [
        bench.kanon, "diagnose",
        table(bench), "--qi", ",".join(QI), "--threads", bench.threads, "--json", "--timings", *more
    ]


TOOLS = {
    "group": ["kanon", "duckdb", "duckdb-enum", "polars", "pandas", "pandas-category"],
    "csv-k": ["kanon", "duckdb", "polars-streaming"]
}
SLOW = ("polars", "pandas", "pandas-category")  # far behind: in every other turn
TURNS = 5


def in_turns(bench, data, found):
    """The processes of bench/run: kanon's runs, and samples of each peer, or one that says why there are none."""
    runs, peers = [], {measure: {} for measure in TOOLS}
    for turn in range(bench.times(TURNS)):
        for measure, names in TOOLS.items():
            names = [name for name in names if turn % 2 == 0 or name not in SLOW]
            shift = turn % len(names)  # nobody always runs behind the same neighbour
            for name in names[shift:] + names[:shift]:
                if name == "kanon":
                    runs.append((measure, RUN.run_kanon(bench.kanon, data, bench.threads, bench.cap(300))))
                    continue
                tool, samples = name.split("-")[0], peers[measure].setdefault(name, [])
                if tool not in found:
                    samples[:] = [{"skipped": "not installed"}]
                elif not any("skipped" in sample for sample in samples):
                    sample = RUN.measure_peer(found[tool][0], name, measure, data, bench.threads, bench.cap(300))
                    samples[:] = [sample] if "skipped" in sample else [*samples, sample]
    counted = runs[0][1]["result"]
    for name, samples in [pair for of in peers.values() for pair in of.items()]:
        if any(counted[key] != value for sample in samples for key, value in sample.get("result", {}).items()):
            raise Failed(f"{name} and kanon count differently")
    return runs, peers


@point("reading", diagnose, ["readers"])
def reading(bench, command):
    data = RUN.describe(command[2], "scoreboard", f"{command[2].stem}")
    try:
        found = bench.peer("readers")
    except Skipped:
        found = {}
    runs, peers = in_turns(bench, data, found)
    run = max((run for _, run in runs), key=lambda run: run["rss_bytes"])
    table = run["memory"]["table_bytes"]
    figures = {"memory": figure(run["rss_bytes"] / table, detail=f"{run['rss_bytes'] / 1e6:.0f} MB resident")}
    floors = {
        "group": (bench.limit("scan", table), "reading the codes once"),
        "csv-k": (bench.limit("parse", data["bytes"]), "looking at every byte once")
    }
    for measure, (least, words) in floors.items():
        times = [run["seconds"]["group"] if measure == "group" else run["wall"] for of, run in runs if of == measure]
        own = middle(times)
        beside = {
            name: samples[0] if "skipped" in samples[0] else {
                "seconds": middle(s["wall"] for s in samples)
            }
            for name, samples in peers[measure].items()
        }
        for tool in beside:
            taken = beside[tool].get("seconds")
            shown = {
                name: peer
                for name, peer in beside.items()
                if name.startswith(tool) or tool == "duckdb" and name.startswith("polars")
            }
            detail = f"kanon {own:.3g} s" + (f"; {apart(times, [s['wall'] for s in peers[measure][tool]])}" if taken else "")
            figures[f"{measure}-{tool}"] = figure(taken / own if taken else None, own, shown, detail, limit=(own, least, words))
    return figures, run["memory"]


def apart(*samples):
    """How far turns lie apart: the slowest by the fastest, of kanon and of its peers."""
    shares = " and ".join(f"{100 * (max(times) / min(times) - 1):.0f} %" for times in samples)
    return f"{len(samples[0])} turns, {shares} apart"


@point("threads", diagnose)
def threads(bench, command):
    data = RUN.describe(command[2], "scoreboard", f"{command[2].stem}")
    runs = {1: [], bench.threads: []}
    for _ in range(bench.times(5)):
        for count, list_of in runs.items():
            list_of.append(RUN.run_kanon(bench.kanon, data, count, bench.cap(300))["seconds"])
    one, many = ({part: middle(r[part] for r in list_of) for part in ("read", "group")} for list_of in runs.values())
    floor = bench.limit("parse", data["bytes"])
    return {
        "group": figure(one["group"] / many["group"], detail=f"{one['group']:.3g} s with one"),
        "reading": figure(one["read"] / many["read"], detail=f"{one['read']:.3g} s with one"),
        "read": figure(many["read"],
                       detail=f"{data['bytes'] / 1e6:.0f} MB; {apart([r['read'] for r in runs[bench.threads]])}",
                       limit=(many["read"], floor, "looking at every byte once"))
    }, {}


# ---- 3: diagnosis ----


def over(bench, table):
    return [bench.kanon, "diagnose", table, "--over", ",".join(QI), "--threads", bench.threads, "--json", "--timings"]


@point("sets", lambda bench: over(bench, bench.adult()))
def sets(bench, command):
    answers = [bench.json(command, 60)[0] for _ in range(bench.times(5))]
    assert all(len(a["sets"]) == 255 for a in answers)
    return {
        "ms": figure(1000 * middle(a["seconds"]["total"] - a["seconds"]["read"] for a in answers))
    }, answers[0]["memory"]


@point(
    "report", lambda bench: over(bench, ten_million(bench)) +
    ["--suppress", "5%", "--report", bench.cache / "data" / "report.html"])
def report(bench, command):
    answer, done = bench.json(command, 200)
    memory = answer["memory"]
    return {
        "seconds": figure(done["wall"]),
        "memory": figure(memory["peak_bytes"] / memory["table_bytes"],
                         detail=f"{memory['peak_bytes'] / 1e6:.0f} MB held")
    }, memory


@point("wide",
       lambda bench: [bench.program("bench_wide"), "--threads", bench.threads, "--limit", 1 if bench.quick else 10])
def wide(bench, command):
    tables = {}
    for line in bench.run(command, 300)["out"].splitlines():
        t = json.loads(line)
        tables[t["table"]] = t
        if t["missed"] or t["false"] or not t["minimal_complete"]:
            raise Failed(f"{t['table']}: {t['missed']} sets missed, {t['false']} false")
    figures = {}
    for name, t in tables.items():
        seconds, slow = t["seconds"] + t["grouping_seconds"], t["level_wise"]
        figures[name] = figure(seconds, t["seconds"],
                               {"level-wise search": {"seconds": slow["seconds"], "over": not slow["done"]}},
                               f"{t['found']} sets, none missed, none false")
    return figures, {name: pick(t, ("witnesses", "combinations", "maximal")) for name, t in tables.items()}


@point(
    "models", lambda bench: [
        bench.kanon, "diagnose",
        bench.adult(), "--qi", ",".join(QI[:7] + QI9[8:]), "--sensitive", "occupation", "--threads", bench.threads,
        "--json", "--timings"
    ], ["pycanon"])
def models(bench, command):
    seconds = middle(
        (lambda s: s["total"] - s["read"])(bench.json(command, 60)[0]["seconds"]) for _ in range(bench.times(5)))
    quasi = QI[:2] if bench.quick else command[4].split(",")

    def child(python):
        question = json.dumps([str(command[2]), quasi, "occupation", None])
        answer = bench.json([python, "-B", HERE / "pycanon.py", "--child", question], 240)[0]
        return sum(part["seconds"] for part in answer.values())

    beside = bench.beside("pycanon", child)
    return {"seconds": figure(1000 * seconds, seconds, {"pyCANON": beside})}, {}


# ---- 4: full-domain releases ----


def optimal(bench, command):
    """The fastest of many: it is over in milliseconds."""
    t = bench.json(command, 120)[0]
    return {
        "ms": figure(1000 * t["seconds"], detail=f"{t['checked']} nodes checked, {t['keys'] / 1e6:.1f} M keys")
    }, pick(t, ("lattice", "checked", "marked", "rollups", "keys", "memory"))


for _budget in (0, 5, 100):
    point(
        f"optimal-{_budget}", lambda bench, budget=_budget: [
            bench.program("bench_fulldomain"),
            bench.adult(), ADULT, ",".join(QI9), "--methods", "optimal", "--budget", budget, "--threads", bench.threads,
            "--repeat", 5 if bench.quick else 100
        ])(optimal)


def full_release(bench, table, columns, k, *more):
    return [
        bench.kanon, "anonymize", table, "--qi", ",".join(columns), *bench.hierarchies(columns), "-k", k, *more,
        "--threads", bench.threads, "--output",
        bench.release(), "--json", "--quiet"
    ]


def released(bench, command, limit, times):
    """Seconds and memory of the whole command: read, search, recode, write, read again, verify."""
    done = bench.median(command, limit, times)
    answer = json.loads(done["out"])
    took = answer["seconds"]
    stages = ", ".join(f"{stage} {seconds:.2g}" for stage, seconds in took.items())
    # What is read must be looked at twice, once by the verifier; so must what is written, and it must be hashed.
    read, written = command[2].stat().st_size, bench.release().stat().st_size
    parts = [bench.limit("parse", 2 * (read + written)), bench.limit("hash", max(read, written))]
    floor = None if None in parts else max(parts)
    checked = [bench.limit("parse", read + written), bench.limit("hash", written)]
    least = None if None in checked else max(checked)
    return {
        "seconds": figure(done["wall"], detail=stages,
                          limit=(done["wall"], floor, "looking at every byte of both files twice, or hashing the larger")),
        "memory": figure(done["rss_bytes"] / 1e9),
        "bytes": figure(done["rss_bytes"] / answer["rows"], detail=f"{done['rss_bytes'] / 1e6:.0f} MB resident"),
        "verify": figure(took["verify"] / (took["read"] + took["search"] + took["write"]), detail=stages,
                         limit=(took["verify"], least, "looking at every byte of both files once, or hashing the release"))
    }, answer["counters"]


@point("command", lambda bench: full_release(bench, bench.adult(), QI9, 5, "--suppression", "5%"))
def whole_command(bench, command):
    return released(bench, command, 60, 5)


def frontier_of(bench):
    return [
        bench.kanon, "frontier",
        bench.adult(), "--qi", ",".join(QI9), *bench.hierarchies(QI9), "-k", 5, "--suppression", "5%", "--threads", bench.threads,
        "--json", "--quiet"
    ]


@point("frontier", frontier_of)
def frontier(bench, command):
    own = bench.median(command, 60, 5)
    release = bench.median(full_release(bench, bench.adult(), QI9, 5, "--suppression", "5%"), 60, 5)
    answer = json.loads(own["out"])
    return {
        "times": figure(own["wall"] / release["wall"], detail=f"{len(answer['points'])} points, {answer['counted']} of {answer['lattice']:.0f} nodes counted")
    }, {}


@point(
    "three-million",
    lambda bench: full_release(bench, bench.table("adult-like", bench.size(3_000_000)), QI9, 5, "--suppression", "5%"))
def three_million(bench, command):
    return released(bench, command, 200, 5)


# ---- 5: partitioning ----


def partitioned(bench, method, k, columns=tuple(QI), *more):
    return [
        bench.kanon, "anonymize",
        bench.adult(), "--qi", ",".join(columns), *bench.hierarchies(columns), "-k", k, "--method", method, "--threads",
        bench.threads, "--json", "--quiet", *more
    ]


@point("quality", lambda bench: partitioned(bench, "mondrian-best", 10, QI, "--dry-run"))
def quality(bench, command):
    share = {}
    for k in (2, 5, 10, 25, 50, 100) if bench.quick else range(2, 101):
        plain, best = (bench.json(partitioned(bench, method, k, QI, "--dry-run"), 60)[0]["metrics"]["ncp"]
                       for method in ("mondrian", "mondrian-best"))
        share[k] = best / plain
    worst = max(share, key=share.get)
    low = {k: 100 * (1 - share[k]) for k in (5, 10, 25, 50)}
    return {
        "lower": figure(min(low.values()), detail=", ".join(f"{v:.0f} % at {k}" for k, v in low.items())),
        "never": figure(share[worst], detail=f"largest at k = {worst}, of {len(share)}")
    }, {}


@point("local", lambda bench: partitioned(bench, "mondrian-best", 5, QI9, "--output", bench.release()))
def local(bench, command):
    done = bench.median(command, 60, 3)
    return {"lm": figure(json.loads(done["out"])["metrics"]["lm"]), "seconds": figure(done["wall"])}, {}


@point("python", lambda bench: partitioned(bench, "mondrian", 10, QI, "--output", bench.release()), ["anonypy"])
def python(bench, command):
    module = script("mondrian/run")
    own = bench.median(command, 60, 3)["wall"]
    table = bench.cache / "data" / "adult-comma.csv"
    table.write_text(bench.adult().read_text().replace(";", ","))
    if bench.quick:
        table.write_text("\n".join(table.read_text().splitlines()[:3000]) + "\n")
    beside = bench.beside("anonypy",
                          lambda p: bench.json([p, "-c", module.PEER, table, ",".join(QI)], 300)[0]["seconds"])
    taken = beside.get("seconds")
    return {
        "times": figure(taken / own if taken else None, own, {"anonypy": beside}, f"whole command {own:.3g} s",
                        beside.get("over", False))
    }, {}


def uniform(bench, rows):
    return bench.table("uniform", bench.size(rows), attributes=8, cardinality=50)


A8 = ",".join(f"a{i}" for i in range(1, 9))


def partition_command(bench, rows=10_000_000):
    return [bench.program("bench_partition"), uniform(bench, rows), A8, "--k", 10, "--threads", bench.threads]


@point("partition", partition_command, root="kn_partition_search")
def partition(bench, command):
    answer = bench.json(command, 200)[0]
    dry = [
        bench.kanon, "anonymize", command[1], "--qi", A8, "-k", 10, "--method", "mondrian", "--dry-run", "--threads",
        bench.threads, "--json", "--quiet"
    ]
    whole = bench.run(dry, 200)["wall"]
    cuts = math.log2(answer["rows"] / answer["k"])
    return {
        "seconds": figure(whole, detail=f"partitioning alone {answer['seconds']:.2f} s",
                          limit=(answer["seconds"], bench.limit("scan", answer["encoded"] * cuts),
                                 "partitioning alone; reading the codes once for each halving")),
        "memory": figure((answer["encoded"] + answer["peak"]) / answer["encoded"])
    }, answer


def growing(bench):
    return [partition_command(bench, rows) for rows in (1_000_000, 10_000_000, 50_000_000)]


@point("growth", lambda bench: growing(bench)[-1])
def growth(bench, command):
    """Partitioning alone; the small sizes three times, for they are the shortest."""
    answers = [bench.json(size + ["--repeat", repeat], 300)[0] for size, repeat in zip(growing(bench), (3, 2, 1))]
    unit = [1e9 * a["seconds"] / (a["rows"] * math.log2(a["rows"] / a["k"])) for a in answers]
    center = sum(unit) / len(unit)
    return {
        "flat": figure(100 * max(abs(u / center - 1) for u in unit), detail=", ".join(f"{u:.1f} ns" for u in unit))
    }, answers[-1]


# ---- 6: dependencies and K-MSD ----


@point("kmsd-adult", lambda bench: full_release(bench, bench.adult(), QI9, 10, "--method", "kmsd"))
def kmsd_adult(bench, command):
    return released(bench, command, 60, 3)


@point("kmsd-million",
       lambda bench: full_release(bench, bench.table("adult-like", bench.size(1_000_000)), QI, 10, "--method", "kmsd"))
def kmsd_million(bench, command):
    return released(bench, command, 200, 1)


def dependencies(bench, name, rows, columns, share, limit):
    module = script("dependencies/run")
    module.OUT = bench.cache
    table = module.make_table(str(bench.kanon), name + ("-quick" if bench.quick else ""), bench.size(rows), columns)
    return [
        bench.kanon, "dependencies", table, "--threads", bench.threads, "--quiet", "--json", "--discover", "--error",
        share, "--time-limit",
        bench.cap(limit)
    ]


def discovered(bench, command, peers, limit):
    """The whole command; beside Desbordante, the search alone: without reading, as long as checking one rule takes."""
    answer, done = bench.json(command, limit + 60)
    found = answer["discovery"]
    figures = figure(done["wall"], detail=f"{len(found['found']):,} dependencies", over=not found["complete"])
    if peers:
        read = bench.run(command[:7] + ["--check", "sex -> race"], 120, allowed=(0, 1))["wall"]
        figures["own"] = max(done["wall"] - read, 1e-3)
        source = script("dependencies/run").PEER
        for name in ("HyFD", "Tane"):
            figures["peers"][f"Desbordante {name}"] = bench.beside(
                "desbordante", lambda python, name=name: bench.json(
                    [python, "-c", source, name, command[2], bench.threads], peers)[0]["seconds"])
    return {"seconds": figures}, found["counters"]


for _name, _rows, _columns, _share, _limit, _peers in (("30k-15", 30_000, 15, "0", 60, 60), ("30k-15-1%", 30_000, 15,
                                                                                             "0.01", 60, 0),
                                                       ("1m-20", 1_000_000, 20, "0", 240, 30), ("1m-20-1%", 1_000_000,
                                                                                                20, "0.01", 300, 0)):
    point(
        "fd-" + _name,
        lambda bench, a=(_name.removesuffix("-1%"), _rows, _columns, _share, _limit): dependencies(bench, *a),
        ["desbordante"] if _peers else [])(lambda bench, command, p=_peers, l=_limit: discovered(bench, command, p, l))

# ---- 7: databases ----


def tpch_command(bench, persons=100_000):
    return [
        bench.program("bench_relational"),
        bench.persons(bench.size(persons)), "--method", "miracle-x", "--k", 5, "--threads", bench.threads
    ]


STAGES = ("read", "roles", "forest", "search")
WORK = ("persons", "nodes", "subtrees", "pair_evaluations", "distances", "skipped", "clusters", "classes")


@point("tpch", lambda bench: [tpch_command(bench, persons) for persons in (10_000, 100_000)][-1],
       root="kn_relational_search")
def tpch(bench, command):
    answer = bench.json(command, 200)[0]
    small = bench.json(tpch_command(bench, 10_000), 100)[0]
    runs = [small, answer] + ([bench.json(tpch_command(bench, 1_000_000), 600)[0]] if bench.large else [])
    each = [1e6 * run["search"]["cpu"] / run["persons"] for run in runs]
    words = ", ".join(f"{e:.0f} µs at {run['persons']:,}" for e, run in zip(each, runs))
    return {
        "seconds": figure(sum(answer[s]["seconds"] for s in STAGES),
                          detail=", ".join(f"{s} {answer[s]['seconds']:.2g}" for s in STAGES)),
        "memory": figure(max(run["search"]["peak"] / run["encoded"] for run in runs[1:])),
        "linear": figure(max(b / a for a, b in zip(each, each[1:])), detail=words)
    }, pick(answer, WORK)


@point("postgres", tpch_command, ["postgres"])
def from_postgres(bench, command):
    count = bench.size(100_000)
    with bench.peer("postgres")() as server:
        bench.persons(count, "--postgres", server.uri)
        answer = bench.json(command + ["--input", server.uri, "--schema", f"tpch_{count}"], 300)[0]
    return {
        "seconds": figure(sum(answer[s]["seconds"] for s in STAGES),
                          detail=", ".join(f"{s} {answer[s]['seconds']:.2g}" for s in STAGES))
    }, pick(answer, WORK)


def students(bench):
    folder = bench.cache / "data" / f"students-{bench.size(10_000)}"
    if not folder.exists():
        bench.run([
            bench.kanon, "generate", "students", "--rows",
            bench.size(10_000), "--seed", 1, "--output", f"{folder}/", "--quiet"
        ], 60)
    return [
        bench.program("bench_relational"), folder / "release.yaml", "--input", f"{folder}/", "--method", "miracle-x",
        "--k", 5, "--threads", bench.threads
    ]


@point("evaluations", students)
def evaluations(bench, command):
    fast, slow = (bench.json(command + more, 200)[0] for more in ([], ["--reference"]))
    own, taken = fast["search"]["cpu"], slow["search"]["cpu"]
    return {
        "fewer": figure(slow["pair_evaluations"] / fast["pair_evaluations"], own,
                        {"--reference, processor time": {
                            "seconds": taken
                        }})
    }, pick(fast, WORK)


# ---- 8: trees ----


def gcs(bench, records, limit=300):
    return [
        bench.program("bench_tree_evaluate"),
        bench.tree_data(bench.size(records)), "--method", "gcs", "--k", 20, "--m", 3, "--n", 2, "--g", 2, "--threads",
        bench.threads, "--support", 0, "--limit",
        bench.cap(limit)
    ]


SEARCH = ("records", "nodes", "encoded", "peak", "cuts", "passed", "intersections", "relations_counted",
          "disassociations", "cost", "loading", "cpu")


def searched(bench, command):
    answer = bench.json(command, 600)[0]
    late = not answer["complete"]
    words = f"{answer['cuts']:,} cuts, {answer['cpu']:.1f} s of processor, {1e-6 * answer['encoded']:.0f} MB of records"
    return {
        "seconds": figure(answer["search"], detail=words, over=late),
        "memory": figure((answer["encoded"] + answer["peak"]) / answer["encoded"], over=late)
    }, pick(answer, SEARCH)


point("tree-250k", lambda bench: gcs(bench, 250_000), root="kn_tree_search")(searched)
point("tree-1m", lambda bench: gcs(bench, 1_000_000), root="kn_tree_search")(searched)


@point("tree-reference", lambda bench: gcs(bench, 100_000))
def tree_reference(bench, command):
    """The plain algorithm is stopped a little after it has taken 20 times as long: that is proof enough. Where it ends
    before, both must have found the same."""
    fast = bench.json(command, 600)[0]
    limit = max(21 * fast["search"] + 1, 5)
    if bench.cap(limit) < limit:
        raise Late(bench.cap(limit))
    slow = bench.json(command[:-1] + [limit, "--reference"], limit + 60)[0]
    if slow["complete"] and any(slow[n] != fast[n] for n in ("cost", "cut", "disassociations")):
        raise Failed("--reference found something else")
    over_it = not slow["complete"]
    return {
        "times": figure(slow["search"] / fast["search"], fast["search"],
                        {"--reference": {
                            "seconds": slow["search"],
                            "over": over_it
                        }}, f"kanon {fast['search']:.3g} s", over_it)
    }, pick(fast, SEARCH)
