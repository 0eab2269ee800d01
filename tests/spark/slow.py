# SPDX-License-Identifier: Apache-2.0
"""slow.py PATH MASTER: a driver that releases rows of which one part is late, the first time that a task reads it, so that
Spark runs the task twice at a time. Its last line says how many tasks were such duplicates, by Spark's own record, and what
the release is."""

import json
import sys
import time

import data
import killed
from conftest import QUICK, build_session
from pyspark.sql.functions import udf

from pykanon import Spec
from pykanon import spark as ks

LATE = 60
SETTINGS = {
    "spark.executor.memory": "800m",
    "spark.executor.extraJavaOptions": QUICK,
    "spark.executor.cores": "1",
    "spark.driver.memory": "800m",
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.5",
}


def make_late():
    """A function of Spark's that gives back its argument, late at the first row of the first part, in the first attempt."""
    waited = []

    def late(value):
        from pyspark import TaskContext

        task = TaskContext.get()
        if not waited and task.partitionId() == 0 and task.attemptNumber() == 0:
            time.sleep(LATE)
        if not waited:
            waited.append(True)
        return value

    return udf(late, "string")


def tasks(session):
    """Every task that Spark has a record of."""
    store = session.sparkContext._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    stages = {stage for i in range(jobs.size()) for stage in each(jobs.apply(i).stageIds())}
    for stage in sorted(stages):
        found = store.taskList(stage, 0, 1000)
        yield from each(found)


def each(sequence):
    return [sequence.apply(i) for i in range(sequence.size())]


def main():
    path, master = sys.argv[1:]
    session = build_session(master, **SETTINGS)
    frame = data.people(session, killed.ROWS).drop("name", "amount")
    frame = frame.withColumn("zip", make_late()("zip"))
    release = ks.anonymize(frame, Spec(**killed.SPEC)).write(path)
    seen = list(tasks(session))
    told = {
        "tasks": len(seen),
        "speculative": sum(task.speculative() for task in seen),
        "overtaken": sum(task.status() == "KILLED" for task in seen),
        "k": release.k,
        "rows": release.rows,
        "suppressed": release.suppressed,
    }
    session.stop()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
