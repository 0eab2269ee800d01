# SPDX-License-Identifier: Apache-2.0
"""killed.py PATH STAGE: a driver that makes a small release and kills itself at a stage: group, write, check, digest,
marker."""

import glob
import os
import signal
import sys
import threading

import data
from conftest import build_session
from pyspark import SparkContext

from pykanon import Spec
from pykanon import spark as ks

ROLES = {name: role for name, role in data.ROLES.items() if name != "amount"}
SPEC = {"attributes": ROLES, "k": 3, "suppression": 0.1, "method": "optimal"}
ROWS = 20_000


def die(*unused):
    """Java first, which would otherwise end in good order when Python is gone."""
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def when_written(path):
    """Dies as soon as a task has begun to write, or the statement has ended."""
    while not glob.glob(f"{path}/_temporary/0/_temporary/attempt*") and not glob.glob(f"{path}/part-*"):
        pass
    die()


def arm(path, stage):
    run, query = ks._Statements.run, ks._Statements.query
    written = []

    def watched_run(self, sql):
        written.append(True)
        if stage == "write":
            threading.Thread(target=when_written, args=(path,), daemon=True).start()
        return run(self, sql)

    def watched_query(self, sql):
        if "GROUP BY" in sql and (stage == "group" or (stage == "check" and written)):
            die()
        return query(self, sql)

    ks._Statements.run, ks._Statements.query = watched_run, watched_query
    if stage == "digest":
        ks._digests = die
    if stage == "marker":
        write = ks._Folder.write
        ks._Folder.write = lambda self, name, *more, **named: (
            die() if name == ks._MARKER else write(self, name, *more, **named)
        )


def main():
    path, stage = sys.argv[1:]
    session = build_session("local[1]", **{"spark.driver.memory": "600m"})
    arm(path, stage)
    ks.anonymize(data.people(session, ROWS).drop("name", "amount"), Spec(**SPEC)).write(path)
    print("it lives")


if __name__ == "__main__":
    main()
