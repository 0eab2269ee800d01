# SPDX-License-Identifier: Apache-2.0
"""Points of the scoreboard (points.py): lattices that nobody can list, and how near a partitioning comes to what is possible.

The table of large lattices is that of bench/fulldomain/wide.py: 30,000 rows, columns as of a census, 5 levels each; k = 5.
"""
import json
import os
import re

from measure import QI9, Failed
from points import figure, partitioned, pick, point

FEW, MANY = 6, 12  # quasi-identifiers between which the growth of checked nodes is taken
LARGE = (16, 20, 24, 30)
SECONDS = (0.5, 1, 3, 10)


def first(count):
    return ",".join(f"c{i + 1}" for i in range(count))


def search(bench, method, count, budget, limit):
    """The search alone, up to a time limit."""
    table = bench.wide()
    return [
        bench.program("bench_fulldomain"), table, table.parent,
        first(count), "--methods", method, "--budget", budget, "--threads", bench.threads, "--limit", limit
    ]


def release(bench, count, method, budget, *more):
    """A whole release that is not written."""
    table = bench.wide()
    hierarchies = [
        part for i in range(count) for part in ("--hierarchy", f"c{i + 1}:{table.parent}/wide_hierarchy_c{i + 1}.csv")
    ]
    return [
        bench.kanon, "anonymize", table, "--qi", first(count), *hierarchies, "-k", 5, "--suppression", budget, "--method",
        method, "--threads", bench.threads, "--dry-run", "--json", "--quiet", *more
    ]


# ---- Proofs ----


@point("lattice", lambda bench: search(bench, "optimal", MANY, "5", bench.within(60)))
def lattice(bench, command):
    """Every size from 6 to 12, so that the growth per quasi-identifier is no chance of two tables."""
    figures, counters = {}, {}
    for budget in ("0", "5"):
        runs = {
            count: bench.json(search(bench, "optimal", count, budget, bench.within(60)), 120)[0]
            for count in range(FEW, MANY + 1)
        }
        last, checked = runs[MANY], {count: run["checked"] for count, run in runs.items()}
        proved = all(run["optimal"] for run in runs.values())
        figures[f"seconds-{budget}"] = figure(
            last["seconds"], detail=f"{last['checked']:,} of {last['lattice']:,.0f} nodes checked, {last['boxes']:,} boxes",
            over=not last["optimal"])
        figures[f"growth-{budget}"] = figure(
            (checked[MANY] / checked[FEW])**(1 / (MANY - FEW)),
            detail="checked: " + ", ".join(f"{n:,} at {count}" for count, n in checked.items()), over=not proved)
        counters[f"{budget} %"] = pick(last, ("lattice", "checked", "boxes", "marked", "measured", "keys", "memory"))
    return figures, counters


@point("lattice-15", lambda bench: release(bench, 15, "optimal", "5%", "--time-limit", bench.within(30)))
def lattice_15(bench, command):
    """The whole command by its time limit: proved before it, or ended by it with the best so far and what is proved of that."""
    limit, figures, counters = bench.within(30), {}, {}
    for budget in ("0", "5%"):
        answer, done = bench.json(release(bench, 15, "optimal", budget, "--time-limit", limit), 5 * limit + 60)
        loss, bound = answer["metrics"]["lm"], answer.get("loss_bound")
        if answer["optimal"]:
            words = f"proved: {loss:.4f}"
        elif bound is not None:
            words = f"{loss:.4f}, none loses less than {bound:.4f}: a gap of {100 * (1 - bound / loss):.0f} %"
        else:
            raise Failed("neither a proof nor a bound")
        figures[budget] = figure(done["wall"] / limit, detail=f"{words}; {done['wall']:.2f} of {limit:g} s")
        counters[budget] = answer["counters"]
    return figures, counters


@point("samarati-20", lambda bench: release(bench, 20, "samarati", "5%"))
def samarati(bench, command):
    done = bench.run(command, 120, allowed=(0, 2))
    words = done["reason"]
    if done["code"] == 0:
        answer = json.loads(done["out"])
        words = f"the lowest node, of height {sum(answer['node'])}"
    return {"seconds": figure(done["wall"], detail=words)}, {}


# ---- The best that is found in time ----


@point("anytime", lambda bench: search(bench, "heuristic", LARGE[-1], "5", bench.within(SECONDS[-1])))
def anytime(bench, command):
    times, bounded, words = [], [], []
    for count in LARGE:
        runs = [
            bench.json(search(bench, "heuristic", count, "5", bench.within(seconds)), 60)[0] for seconds in SECONDS
        ]
        if not all(run["found"] for run in runs):
            raise Failed(f"nothing was found for {count} quasi-identifiers")
        losses = [run["loss"] for run in runs]
        times += [later / earlier for earlier, later in zip(losses, losses[1:])]
        bounded += [run.get("bound", 0) > 0 for run, seconds in zip(runs, SECONDS) if seconds >= 3]
        words.append(f"{count}: " + ", ".join(f"{loss:.4f}" for loss in losses) + f" (≥ {runs[-1].get('bound', 0):.2g})")
    return {
        "worse": figure(max(times), detail="; ".join(words)),
        "bounded": figure(100 * sum(bounded) / len(bounded), detail=f"of {len(bounded)} runs")
    }, {}


# The optimum of the smallest of them, proved by `bench_fulldomain ... --methods optimal` in 244 s of one busy thread, 2026-11-19. Nothing
# can be below it: a lattice whose optimum is reached is left out of the comparison.
PROVED = {16: 0.580665587121}


@point("anytime-arx", lambda bench: search(bench, "heuristic", LARGE[0], "5", bench.within(3)), ["arx"])
def anytime_arx(bench, command):
    """The table that the script prints: | columns | search | seconds | LM |."""
    counts = LARGE[:2] if bench.quick else LARGE
    command = [
        bench.peer("arx"), "--columns", ",".join(map(str, counts)), "--rows", bench.size(30_000), "--seconds", bench.within(30)
    ]
    done = bench.run(command, 900, environment={"BUILD": os.fspath(bench.build)})
    found = {}
    for count, name, loss in re.findall(r"^\| (\d+) \| (heuristic|ARX, [a-z-]+).* \| [\d.]+ \| (\S+) \|$", done["out"], re.M):
        if loss != "none":
            found.setdefault(int(count), {})[name.removeprefix("ARX, ")] = float(loss)
    lower, reached, words = [], 0, []
    for count, losses in found.items():
        own = losses.pop("heuristic")
        optimal = not bench.quick and count in PROVED and own <= round(PROVED[count], 4)
        reached += optimal
        if losses and not optimal:
            best = min(losses, key=losses.get)
            lower.append(100 * (1 - own / losses[best]))
        words.append(f"{count}: {own:.4f}{' (the optimum)' if optimal else ''}, ARX " +
                     (", ".join(f"{n} {loss:.4f}" for n, loss in losses.items()) or "none"))
    if len(lower) + reached < len(counts):
        raise Failed(f"ARX found something in {len(lower)} of {len(counts)} lattices; {'; '.join(words)}"[:280])
    return {"lower": figure(min(lower), detail="; ".join(words))}, {}


# ---- Beside a slow search ----

# LM of Adult, nothing suppressed: before rows were exchanged between neighbouring classes, and what bench/mondrian/reference.c
# reached in hours ("Against a slow search" in bench/mondrian/README.md), 2026-11-18.
REFERENCE = {5: (0.0557, 0.0504), 10: (0.0891, 0.0774), 25: (0.1487, 0.1272), 50: (0.2131, 0.1780)}


@point("reference", lambda bench: partitioned(bench, "mondrian-best", 50, QI9, "--dry-run"))
def reference(bench, command):
    closed, words = [], []
    for k, (before, least) in REFERENCE.items():
        loss = bench.json(partitioned(bench, "mondrian-best", k, QI9, "--dry-run"), 60)[0]["metrics"]["lm"]
        closed.append(100 * (before - loss) / (before - least))
        words.append(f"k = {k}: {loss:.4f} of {before:.4f} to {least:.4f}, {closed[-1]:.0f} %")
    return {"closed": figure(min(closed), detail="; ".join(words))}, {}
