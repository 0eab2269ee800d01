# SPDX-License-Identifier: Apache-2.0
"""The results of bench/run as text for a terminal and as Markdown.

Both are made from one list of sections (title, remark, table), so they say the same. A ratio is the peer's time
divided by kanon's: above 1, kanon is faster.
"""

MEASURES = {
    "load": "CSV into the tool's own memory form, all columns",
    "group": "eight-column group-by on loaded data",
    "csv-k": "from the CSV file to k",
}
# What is aimed at, for 10 million rows: (measure, peer, at least this ratio).
GOALS = [("group", "duckdb", 3.0), ("group", "pandas", 20.0), ("csv-k", "duckdb", 2.0)]
GOAL_ROWS = 10_000_000
GOAL_MEMORY = 1.5
GOAL_SPEEDUP = 1.6


def seconds(value):
    return f"{value:.2f}" if value >= 10 else f"{value:.3f}" if value >= 0.1 else f"{value:.4f}"


def ratio(value):
    if value is None:
        return "-"
    return f"{value:.0f}×" if value >= 100 else f"{value:.1f}×" if value >= 10 else f"{value:.2f}×"


def mib(value):
    return f"{value / (1 << 20):,.0f}"


def measure_table(rows):
    table = [["tool", "wall s", "CPU s", "wall ÷ kanon", "CPU ÷ kanon", "peak MiB", "spread"]]
    for row in rows:
        if "skipped" in row:
            table.append([row["tool"], "skipped: " + row["skipped"], "", "", "", "", ""])
        else:
            at_most = "≤ " if row["peak_is_floor"] else ""
            table.append([row["tool"], seconds(row["wall"]), seconds(row["cpu"]), ratio(row["wall_ratio"]),
                          ratio(row["cpu_ratio"]), at_most + mib(row["peak_bytes"]), f"{100 * row['spread']:.0f} %"])
    return table


def memory_table(memory):
    table = [["data", "file MiB", "codes + dictionaries MiB", "peak held MiB", "÷ table", "peak RSS MiB", "÷ table"]]
    for entry in memory:
        at_most = "≤ " if entry["rss_is_floor"] else ""
        table.append([entry["label"], mib(entry["file_bytes"]), f"{entry['table_bytes'] / (1 << 20):,.1f}",
                      f"{entry['peak_bytes'] / (1 << 20):,.1f}", ratio(entry["peak_ratio"]),
                      at_most + mib(entry["rss_bytes"]), at_most + ratio(entry["rss_ratio"])])
    return table


def scaling_table(scaling):
    table = [["step", "1 thread, wall s", f"{scaling['threads']} threads, wall s", "speed-up"]]
    one, many = scaling["seconds"]["1"], scaling["seconds"][str(scaling["threads"])]
    for part, speedup in scaling["speedup"].items():
        table.append([part, seconds(one[part]), seconds(many[part]), ratio(speedup)])
    return table


def goal_table(results):
    """Goal, what was reached (wall, CPU), and whether; for the largest data set of the run."""
    data = results["data"][-1]
    table = [["goal", "wall", "CPU", "reached (wall)"]]
    for measure, peer, least in GOALS:
        for row in data["measures"].get(measure, []):
            if row["tool"].split("-")[0] == peer and "skipped" not in row:
                table.append([f"{measure}: ≥ {least:g}× {row['tool']}", ratio(row["wall_ratio"]),
                              ratio(row["cpu_ratio"]), yes(row["wall_ratio"] and row["wall_ratio"] >= least)])
    memory = results["memory"][-1]
    table.append([f"peak RSS ≤ {GOAL_MEMORY:g} × (codes + dictionaries)", ratio(memory["rss_ratio"]), "",
                  yes(memory["rss_ratio"] <= GOAL_MEMORY)])
    if results["scaling"] and results["scaling"]["threads"] == 2:
        for part in ("group", "read"):
            if part in results["scaling"]["speedup"]:
                reached = results["scaling"]["speedup"][part]
                table.append([f"{part}: 2 threads ≥ {GOAL_SPEEDUP:g}× one", ratio(reached), "",
                              yes(reached >= GOAL_SPEEDUP)])
    return table


def yes(condition):
    return "yes" if condition else "no"


def sections(results):
    """(title, remark or "", table) in the order of reading."""
    for data in results["data"]:
        for measure, rows in data["measures"].items():
            answer = data["result"]
            yield (f"{measure} · {data['label']}",
                   f"{MEASURES[measure]}; k = {answer['k']}, {answer['classes']:,} classes, the same from every tool"
                   if measure != "load" else MEASURES[measure], measure_table(rows))
    yield "memory of kanon", "one run of csv-k; RSS is the whole process", memory_table(results["memory"])
    if results["scaling"]:
        yield f"threads · {results['scaling']['label']}", "kanon alone", scaling_table(results["scaling"])
    data = results["data"][-1]
    remark = f"at {data['label']}"
    if data["rows"] < GOAL_ROWS:
        remark += f"; the goals are meant for {GOAL_ROWS:,} rows"
    yield "goals", remark, goal_table(results)


def heading(results):
    machine = results["machine"]
    lines = [f"{results['date']}; {machine['processor']}, {machine['cores']} cores, "
             f"{machine['memory_bytes'] / (1 << 30):.0f} GiB, Linux {machine['kernel']}",
             f"{results['threads']} thread(s) for kanon, DuckDB and Polars; pandas and SQLite use one; "
             f"medians of {results['repeat']}",
             f"load average {results['load_before']:.2f} before, {results['load_after'] or 0:.2f} after",
             ", ".join(f"{tool} {version}" for tool, version in results["versions"].items()),
             f"Adult: {results['adult']}"]
    lines += [f"{tool}: skipped: {reason}" for tool, reason in results["skipped"].items()]
    return lines


def text(results):
    lines = heading(results)
    for title, remark, table in sections(results):
        lines += ["", f"{title}: {remark}" if remark else title]
        widths = [max(len(row[column]) for row in table if not row[1].startswith("skipped"))
                  for column in range(len(table[0]))]
        widths[0] = max(len(row[0]) for row in table)
        for row in table:
            if row[1].startswith("skipped"):
                lines.append(f"  {row[0]:<{widths[0]}}  {row[1]}")
            else:
                cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:])]
                lines.append(f"  {row[0]:<{widths[0]}}  " + "  ".join(cells))
    return "\n".join(lines)


def markdown(results):
    lines = ["# Results", ""] + [f"- {line}" for line in heading(results)]
    lines += ["", "A ratio is the tool's time divided by kanon's in this run: above 1, kanon is faster."]
    for title, remark, table in sections(results):
        lines += ["", f"## {title[0].upper()}{title[1:]}", ""]
        lines += [f"{remark[0].upper()}{remark[1:]}.", ""] if remark else []
        lines.append("| " + " | ".join(table[0]) + " |")
        lines.append("|---|" + "---:|" * (len(table[0]) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in table[1:]]
    return "\n".join(lines) + "\n"
