#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/sqlite_hostile.py PROGRAM [--sanitized]: SQLite files that were made to do harm, or are damaged. One TAP line per check.

The program answers or refuses, in good time and within its memory limit; it can be stopped; it never crashes, and what it says
names the file and no value.
"""
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import ok  # noqa: E402

harness.needs("sqlite")

KANON = os.path.abspath(sys.argv[1])
SPEC = "kanon: 1\nentity: {table: v}\ntables:\n  v: {key: id, attributes: {a: {role: quasi}}}\nprivacy: [{k: 2}]\n"
NAME = "Alice Liddell"


def make(path, *statements):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
    db.execute("INSERT INTO t VALUES (1, ?), (2, 'x')", (NAME,))
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def run(*arguments):
    """(exit code, words, most kilobytes so far of any run)"""
    done = subprocess.run([KANON, *arguments], capture_output=True, text=True, check=False, errors="replace")
    return done.returncode, done.stdout + done.stderr, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def refused(name, path, view, words):
    arguments = ["anonymize", "--force", "sqlite:" + path, "--spec", path + ".yaml", "-o", path + ".out/"] if view else ["profile", "sqlite:" + path]
    with open(path + ".yaml", "w", encoding="utf-8") as file:
        file.write(SPEC)
    code, said, _ = run(*arguments, "--memory-limit", "50M")
    ok(name, code in (2, 3) and words in said and NAME not in said and not os.path.exists(path + ".out"), code, said)


def sizes(folder):
    path = os.path.join(folder, "cells.db")
    make(path, "CREATE TABLE g(id INTEGER, b GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL)", "INSERT INTO g(id) VALUES (1)")
    refused("a column of 900 MB out of nothing is refused", path, False, "is larger than")
    path = os.path.join(folder, "rows.db")
    make(path, "CREATE VIEW v AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT n AS id, 'a' AS a FROM x")
    refused("a view without end meets the memory limit", path, True, "memory limit")
    path = os.path.join(folder, "schema.db")
    columns = ", ".join(f"column_number_{i} TEXT" for i in range(1500))
    make(path, "PRAGMA writable_schema = ON")
    db = sqlite3.connect(path)
    db.execute("PRAGMA writable_schema = ON")
    db.executemany("INSERT INTO sqlite_schema VALUES ('table', ?, ?, 2, ?)",
                   [(f"t{i}", f"t{i}", f"CREATE TABLE t{i}({columns})") for i in range(400)])
    db.commit()
    db.close()
    refused("a schema of 50 MB meets the memory limit", path, False, "memory limit")
    _, _, most = run("--version")
    if "--sanitized" not in sys.argv:
        ok("none of them took more than the limit and the program itself", most < 90000, f"{most} KB")


def functions(folder):
    path = os.path.join(folder, "unsafe.db")
    make(path, "CREATE VIEW v AS SELECT id, fts3_tokenizer('simple') AS a FROM t")
    refused("a function with effects is not called by a view", path, True, "unsafe")
    path = os.path.join(folder, "quoted.db")
    make(path, 'CREATE VIEW v AS SELECT id, "no_such_column" AS a FROM t')
    refused("a column that is not there is no text", path, True, "no_such_column")


def at_work(process):
    """Waits until a program that never ends listens to Ctrl-C and has computed for a while since; False if it ends."""
    listens = None  # the processor time at which it was first seen to listen, in hundredths of a second
    while process.poll() is None:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status, open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
            caught = int(re.search(r"^SigCgt:\s*(\w+)", status.read(), re.M).group(1), 16)
            used = int(stat.read().rsplit(") ", 1)[1].split()[11])
        if listens is None and caught >> (signal.SIGINT - 1) & 1:
            listens = used
        if listens is not None and used >= listens + 50:
            return True
        time.sleep(0.02)
    return False


def stopping(folder):
    path = os.path.join(folder, "loop.db")
    make(path, "CREATE VIEW v AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT n AS id, 'a' AS a FROM x "
               "WHERE n < 0")
    with open(path + ".yaml", "w", encoding="utf-8") as file:
        file.write(SPEC)
    started = subprocess.Popen([KANON, "anonymize", "--force", "sqlite:" + path, "--spec", path + ".yaml", "-o", path + ".out/"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    running = at_work(started)
    started.send_signal(signal.SIGINT)
    try:
        code = started.wait(harness.PATIENCE)
    except subprocess.TimeoutExpired:
        started.kill()
        code = started.wait()
    ok("a statement that never gives a row can be stopped", running and code == 3, running, code)


def damage(folder, rounds):
    """A file whose bytes were changed or cut off: an answer, or a refusal that names it; never a crash."""
    path, bad = os.path.join(folder, "whole.db"), os.path.join(folder, "bad.db")
    make(path, "CREATE TABLE u(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t, b BLOB)",
         "INSERT INTO u SELECT n, 1, randomblob(200) FROM (WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 60) "
         "SELECT n FROM x)")
    with open(path, "rb") as file:
        whole = file.read()
    rng, wrong, answers = random.Random(20140), [], 0
    for number in range(rounds):
        data = bytearray(whole)
        if number % 4 == 0:
            del data[rng.randrange(len(data)):]
        for _ in range(rng.choice((1, 3, 20))):
            if data:  # the first page, with header and schema, oftener
                data[rng.randrange(min(len(data), rng.choice((120, 4096, len(data)))))] = rng.randrange(256)
        with open(bad, "wb") as file:
            file.write(data)
        code, said, _ = run("profile", "sqlite:" + bad)
        answers += code == 0
        if code not in (0, 2, 3) or NAME in said or (code and "bad.db" not in said) or "internal" in said:
            wrong.append(f"round {number}: exit code {code}: {said[:200]}")
    ok(f"{rounds} damaged files: {answers} answers, the others refused", not wrong and 0 < answers < rounds, *wrong[:10])


def main():
    with tempfile.TemporaryDirectory(prefix="kanon-hostile-") as folder:
        sizes(folder)
        functions(folder)
        stopping(folder)
        damage(folder, 600 if harness.FULL else 120)
    harness.finish()


main()
