#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One measurement of one peer, in one process.

    peers.py MEASURE VARIANT FILE --threads N --delimiter C     prints one JSON object
    peers.py --version TOOL                                     prints its version

MEASURE is one of
    load    the CSV file into the tool's own memory form, all columns
    group   count per combination of the eight quasi-identifiers, on loaded data; loading is not timed
    csv-k   from the file to k with the shortest query the tool offers; only the needed columns need to be read
    write   loaded data to a CSV file beside FILE, removed again; loading is not timed (DuckDB, Polars)

The object holds `wall` and `cpu` (user + system, all threads) seconds of the timed part, `peak_bytes` of the process,
`base_bytes` (peak before the data was touched: interpreter and libraries), and the result: `rows` for load and write,
`k` and `classes` for the others. Interpreter start and imports are not timed. bench/run starts this file with the Python of
bench/.venv and sets POLARS_MAX_THREADS, which Polars reads when it is imported.

SQLite runs in its own shell (.import is faster than any Python loop): its load is the shell's whole process, which
starts in a few milliseconds, its group-by is what the shell's .timer says.
"""
import argparse
import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

QI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
SQL_QI = ", ".join(f'"{name}"' for name in QI)


def count_query(source):
    return f"SELECT min(n), count(*) FROM (SELECT count(*) AS n FROM {source} GROUP BY {SQL_QI}) AS g"


def timed(function):
    """Runs function(); returns its result and the wall and CPU seconds it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def status_bytes(name):
    with open("/proc/self/status", encoding="ascii") as status:
        return int(re.search(rf"{name}:\s+(\d+) kB", status.read())[1]) * 1024


def peak_bytes():
    """The peak resident size since exec; ru_maxrss would also count the parent's memory before exec."""
    return status_bytes("VmHWM")


def resident_bytes():
    return status_bytes("VmRSS")


@contextlib.contextmanager
def beside(args):
    """The name of a file beside the one that was read."""
    target = f"{args.file}.{args.variant}"
    try:
        yield target
    finally:
        if os.path.exists(target):
            os.remove(target)


# ---- DuckDB -------------------------------------------------------------------------------------------------------
def duckdb(measure, variant, args):
    import duckdb as db

    base = peak_bytes()
    con = db.connect(":memory:", config={"threads": args.threads})
    csv = f"read_csv('{args.file}', delim='{args.delimiter}', header=true)"

    def load():
        con.execute(f"CREATE TABLE t AS SELECT * FROM {csv}").fetchall()

    def encode():
        """A second table whose columns are ENUMs: dictionary codes, as kanon has them."""
        cells = []
        for number, name in enumerate(QI):
            con.execute(f"""CREATE TYPE e{number} AS ENUM (SELECT DISTINCT "{name}"::VARCHAR FROM t
                            WHERE "{name}" IS NOT NULL)""")
            cells.append(f'"{name}"::VARCHAR::e{number} AS "{name}"')
        con.execute(f"CREATE TABLE coded AS SELECT {', '.join(cells)} FROM t")
        con.execute("DROP TABLE t")
        con.execute("ALTER TABLE coded RENAME TO t")

    if measure == "load":
        _, cost = timed(load)
        return base, cost, {"rows": con.execute("SELECT count(*) FROM t").fetchone()[0]}
    if measure == "write":
        load()
        with beside(args) as target:
            (rows,), cost = timed(lambda: con.execute(f"COPY t TO '{target}' (HEADER, DELIMITER ',')").fetchone())
        return base, cost, {"rows": rows}
    if measure == "group":
        load()
        if variant == "enum":
            encode()
    source = "t" if measure == "group" else csv
    (k, classes), cost = timed(lambda: con.execute(count_query(source)).fetchone())
    return base, cost, {"k": k, "classes": classes}


# ---- Polars -------------------------------------------------------------------------------------------------------
def polars(measure, variant, args):
    import polars as pl

    base = peak_bytes()
    if pl.thread_pool_size() != args.threads:
        raise RuntimeError(f"Polars has {pl.thread_pool_size()} threads, asked for {args.threads}")

    def load():
        options = {"separator": args.delimiter}
        if variant == "categorical":
            options["schema_overrides"] = {name: pl.Categorical for name in header(args)}
        return pl.read_csv(args.file, **options)

    def group(frame):
        counts = frame.group_by(QI).len()
        return counts["len"].min(), counts.height

    def straight():
        engine = "streaming" if variant == "streaming" else "in-memory"
        query = pl.scan_csv(args.file, separator=args.delimiter).group_by(QI).len()
        return query.select(pl.col("len").min().alias("k"), pl.len().alias("classes")).collect(engine=engine).row(0)

    if measure == "load":
        frame, cost = timed(load)
        return base, cost, {"rows": frame.height}
    if measure == "write":
        frame = load()
        with beside(args) as target:
            _, cost = timed(lambda: frame.write_csv(target))
        return base, cost, {"rows": frame.height}
    if measure == "group":
        frame = load()
        (k, classes), cost = timed(lambda: group(frame))
    else:
        (k, classes), cost = timed(straight)
    return base, cost, {"k": k, "classes": classes}


# ---- pandas -------------------------------------------------------------------------------------------------------
def pandas(measure, variant, args):
    import pandas as pd

    base = peak_bytes()

    def load(columns=None):
        options = {"sep": args.delimiter, "usecols": columns}
        if variant == "category":
            options["dtype"] = "category"
        return pd.read_csv(args.file, **options)

    def group(frame):
        # sort=False and observed=True are the fast forms; dropna=False because a missing value is a value of a class.
        counts = frame.groupby(QI, sort=False, observed=True, dropna=False).size()
        return int(counts.min()), len(counts)

    if measure == "load":
        frame, cost = timed(load)
        return base, cost, {"rows": len(frame)}
    if measure == "group":
        frame = load()
        (k, classes), cost = timed(lambda: group(frame))
    else:
        (k, classes), cost = timed(lambda: group(load(QI)))
    return base, cost, {"k": k, "classes": classes}


# ---- SQLite -------------------------------------------------------------------------------------------------------
def sqlite(measure, variant, args):
    query = "SELECT 1, count(*) FROM t" if measure == "load" else count_query("t")
    script = f"""PRAGMA temp_store=memory;
.mode csv
.separator "{args.delimiter}" "\\n"
.import "{args.file}" t
.timer on
{query};
"""
    with tempfile.TemporaryFile("w+") as commands:
        commands.write(script)
        commands.seek(0)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        shell = ["sqlite3", "-batch", "-bail", ":memory:"]
        done = subprocess.run(shell, stdin=commands, capture_output=True, text=True)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    timer = re.search(r"Run Time: real ([\d.]+) user ([\d.]+) sys ([\d.]+)", done.stdout)
    answer = re.search(rf"^(\d+){re.escape(args.delimiter)}(\d+)\s*$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or done.stderr or not timer or not answer:
        raise RuntimeError("the sqlite3 shell failed: " + (done.stderr.strip().splitlines() or ["no answer"])[-1])
    query_cost = {"wall": float(timer[1]), "cpu": float(timer[2]) + float(timer[3])}
    cost = {"wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}
    if measure == "load":  # the whole shell without the count that was only asked to check it
        cost = {part: cost[part] - query_cost[part] for part in cost}
        result = {"rows": int(answer[2])}
    else:
        cost = query_cost if measure == "group" else cost
        result = {"k": int(answer[1]), "classes": int(answer[2])}
    # The system counts this process's memory before exec as the shell's: base_bytes is then what both may share.
    return peak_bytes(), cost, {**result, "peak_bytes": after.ru_maxrss * 1024}


# ---- Command ------------------------------------------------------------------------------------------------------
TOOLS = {"duckdb": duckdb, "polars": polars, "pandas": pandas, "sqlite": sqlite}


def header(args):
    with open(args.file, encoding="utf-8") as file:
        return file.readline().rstrip("\r\n").split(args.delimiter)


def version(tool):
    if tool == "sqlite":
        return subprocess.run(["sqlite3", "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
    return __import__(tool).__version__


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", choices=TOOLS, dest="tool")
    parser.add_argument("measure", choices=["load", "group", "csv-k", "write"], nargs="?")
    parser.add_argument("variant", nargs="?", help="duckdb, duckdb-enum, polars, polars-categorical, ...")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--delimiter", default=",")
    args = parser.parse_args()
    if args.tool:
        print(version(args.tool))
        return 0
    if not args.file:
        parser.error("MEASURE, VARIANT and FILE are needed")
    tool, _, variant = args.variant.partition("-")
    if args.measure == "write" and tool not in ("duckdb", "polars"):
        parser.error("only DuckDB and Polars write")
    base, cost, result = TOOLS[tool](args.measure, variant, args)
    print(json.dumps({**cost, "base_bytes": base, "peak_bytes": peak_bytes(), **result}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
