# SPDX-License-Identifier: Apache-2.0
"""How kanon's time grows: rows, quasi-identifiers, k, threads, persons, trees, items; lines of bench/scoreboard's page.

A line is a list of sizes and the command for each; its exponent is the slope of a straight line through the logarithms, by
least squares. Processor seconds of whole commands, with two exceptions that say so: threads, by the clock, and trees, the
search alone.
"""
import dataclasses
import math
import pathlib
import sys
import typing

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "mondrian"))
import plot  # noqa: E402
from measure import QI, QI9, Failed, Late, Skipped, say, script
from points import full_release, gcs
from points_lattice import release


@dataclasses.dataclass
class Growth:
    name: str  # what grows
    title: str
    lines: dict  # name of the line: (sizes, seconds of a size)
    expected: str  # what an exponent would be if the machine were ideal


def processor(command_of: typing.Callable, limit=300):
    return lambda bench, size: bench.run(command_of(bench, size), limit)["cpu"]


def release_of(rows, columns=tuple(QI9), k=5, *more):
    return lambda bench: full_release(bench, bench.table("adult-like", bench.size(rows)), columns, k, *more)


def rows_line(*more):
    return processor(lambda bench, rows: release_of(rows, tuple(QI9), 5, *more)(bench))


def wide_line(budget):
    return processor(lambda bench, count: release(bench, count, "optimal", budget, "--time-limit", bench.within(60)))


def persons(bench, count):
    return script("relational/run").whole_release(bench, bench.persons(bench.size(count)), 1)["cpu"]


def trees(bench, count):
    return bench.json(gcs(bench, count), 600)[0]["cpu"]


def items(m):
    return lambda bench, count: script("baskets/run").one(bench.kanon, bench.size(100_000), count, m)[0]


def by_clock(bench, threads):
    command = release_of(3_000_000, tuple(QI9), 5, "--suppression", "5%")(bench)
    at = command.index("--threads") + 1
    return bench.median(command[:at] + [threads] + command[at + 1:], 200, 3)["wall"]


ROWS = [30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
GROWTHS = [
    Growth("rows", "Processor seconds by rows", {
        "optimal, 5 %": (ROWS, rows_line("--suppression", "5%")),
        "mondrian": (ROWS, rows_line("--method", "mondrian")),
        "mondrian-best": (ROWS[:4], rows_line("--method", "mondrian-best")),
        "kmsd": (ROWS[:4], rows_line("--method", "kmsd")),
    }, "1: every row is looked at"),
    Growth("quasi-identifiers", "Processor seconds by quasi-identifiers", {
        "optimal, 300 k rows": (list(range(3, 10)), processor(
            lambda bench, count: release_of(300_000, tuple(QI9[:count]), 5, "--suppression", "5%")(bench))),
        "mondrian, 300 k rows": (list(range(3, 9)), processor(
            lambda bench, count: release_of(300_000, tuple(QI[:count]), 5, "--method", "mondrian")(bench))),
        "optimal, 5 levels each, 0 %": (list(range(6, 13, 2)), wide_line("0")),
        "optimal, 5 levels each, 5 %": (list(range(6, 13, 2)), wide_line("5%")),
    }, "1 for mondrian; a lattice grows with the product of the levels"),
    Growth("k", "Processor seconds by k", {
        "optimal, 300 k rows": ([2, 5, 10, 25, 50, 100], processor(
            lambda bench, k: release_of(300_000, tuple(QI9), k, "--suppression", "5%")(bench))),
        "mondrian, 300 k rows": ([2, 5, 10, 25, 50, 100], processor(
            lambda bench, k: release_of(300_000, tuple(QI9), k, "--method", "mondrian")(bench))),
    }, "at most 0: larger classes are fewer"),
    Growth("threads", "Seconds by threads (3 M rows, by the clock)", {"optimal, 5 %": ([1, 2], by_clock)},
           "-1: half the time with two"),
    Growth("persons", "Processor seconds by persons (SQLite to SQLite)", {"miracle-x": ([1_000, 10_000, 100_000], persons)},
           "1"),
    Growth("trees", "Processor seconds by trees (search alone)", {"gcs": ([10_000, 50_000, 250_000, 1_000_000], trees)}, "1"),
    Growth("items", "Processor seconds by items (100 k baskets)", {
        "m = 1": ([500, 1_000, 2_000, 4_000, 8_000], items(1)),
        "m = 2": ([500, 1_000, 2_000, 4_000, 8_000], items(2)),
    }, "near 0: the baskets stay as many"),
]


def exponent(points):
    points = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(points) < 2:
        return None
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x)**2 for a, _ in points)


def measure(bench, known, save):
    """Every line; what is known from a run before stays."""
    for growth in GROWTHS:
        for name, (sizes, seconds) in growth.lines.items():
            found = known.setdefault(growth.name, {}).setdefault(name, {})
            for size in sizes:
                if str(size) in found:
                    continue
                try:
                    found[str(size)] = seconds(bench, size)
                except (Skipped, Failed, Late, SystemExit) as why:
                    say(f"growth by {growth.name}, {name}: {str(why)[:200]}")
                    break
                finally:
                    bench.clean()
                say(f"growth by {growth.name}, {name}: {size:,} took {found[str(size)]:.3g} s")
                save()


def lines_of(known, growth):
    found = known.get(growth.name, {})
    return {name: [(int(size), seconds) for size, seconds in found[name].items()] for name in growth.lines if found.get(name)}


def section(known, picture):
    out = ["", "## Growth", "", f"![growth]({picture})", "",
           "| by | line | from | to | seconds | exponent | an ideal one |", "|---|---|---:|---:|---|---:|---|"]
    for growth in GROWTHS:
        for name, points in lines_of(known, growth).items():
            slope = exponent(points)
            out.append(f"| {growth.name} | {name} | {points[0][0]:,} | {points[-1][0]:,} | " +
                       ", ".join(f"{seconds:.3g}" for _, seconds in points) +
                       f" | {'' if slope is None else f'{slope:.2f}'} | {growth.expected} |")
    return out


def chart(known):
    figures = []
    for growth in GROWTHS:
        lines = {}
        for name, points in lines_of(known, growth).items():
            slope = exponent(points)
            lines[name + ("" if slope is None else f" (^{slope:.2f})")] = points
        if lines:
            figures.append({"title": growth.title, "x": growth.name, "log_x": growth.name not in ("quasi-identifiers", "threads"),
                            "log_y": True, "lines": lines})
    return plot.chart(figures)
