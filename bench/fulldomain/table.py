# SPDX-License-Identifier: Apache-2.0
"""Prints the answers of bench_fulldomain as a table, and which of the textbook findings hold in the counters."""
import json
import sys


def shown(run):
    loss = "none" if not run["found"] else f"{run['loss']:.6f}" + ("" if run["optimal"] else " ·")
    seconds = f"{run['seconds']:.4f}" if run["seconds"] < 10 else f"{run['seconds']:.1f}"
    if not run["complete"]:
        seconds = "> " + seconds
    return [run["method"], f"{run['budget']:g} %", seconds, f"{run['memory'] / 1e6:.1f}", f"{run['checked']:,}",
            f"{run['marked']:,}", f"{run['measured']:,}", f"{run['scans']:,}", f"{run['rollups']:,}",
            f"{run['projections']:,}", f"{run['keys'] / 1e6:,.1f}", loss]


def table(runs):
    head = ["method", "budget", "seconds", "MB", "checked", "marked", "measured", "scans", "roll-ups", "projections",
            "keys/10⁶", "loss"]
    lines = [head, ["---"] * 2 + ["---:"] * (len(head) - 3) + ["---"]] + [shown(run) for run in runs]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def finding(name, better, worse, key):
    if better is None or worse is None or not (better["complete"] and worse["complete"]):
        return None
    a, b = better[key], worse[key]
    verdict = "holds" if a < b else "equal" if a == b else "does NOT hold"
    return f"- {name}: {verdict} ({a:,} against {b:,} {key})"


def findings(runs):
    by = {run["method"]: run for run in runs}
    get = by.get
    lines = [
        finding("Incognito checks fewer nodes of all quasi-identifiers' lattices together than bottom-up",
                get("incognito"), get("bottom-up-rollup"), "checked"),
        finding("Incognito goes through fewer keys than bottom-up with roll-up", get("incognito"),
                get("bottom-up-rollup"), "keys"),
        finding("roll-up goes through fewer keys than rescans", get("bottom-up-rollup"), get("bottom-up"), "keys"),
        finding("superroots scans less than basic Incognito", get("incognito-superroots"), get("incognito"), "scans"),
        finding("the cube scans less than superroots", get("incognito-cube"), get("incognito-superroots"), "scans"),
        finding("the optimal search goes through fewer keys than Incognito with the cube", get("optimal"),
                get("incognito-cube"), "keys"),
    ]
    return "\n".join(line for line in lines if line)


def main():
    title, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    print(f"\n### {title}, k = {runs[0]['k']:g}, {runs[0]['metric']}, {runs[0]['lattice']:,.0f} nodes\n")
    print(table(runs))
    print("\n·: not proved to be the best. measured: nodes counted again only to learn their loss.\n")
    for budget in sorted({run["budget"] for run in runs}):
        print(f"Budget {budget:g} %:\n")
        print(findings([run for run in runs if run["budget"] == budget]) + "\n")


main()
