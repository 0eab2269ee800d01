# SPDX-License-Identifier: Apache-2.0
"""Faults: the marker never stands beside a bad release, and what failed can be run again."""

import glob
import json
import os
import signal
import subprocess
import sys
import threading

import data
import killed
import pyarrow
import pyarrow.parquet
import pyspark
import pytest
from conftest import QUICK

import pykanon as kn
from pykanon import spark as ks

SPEC = kn.Spec(**killed.SPEC)
FEW = {name: data.ROLES[name] for name in ("age", "sex", "diagnosis")}
HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def few(session):
    return data.people(session, killed.ROWS).drop("name", "amount").cache()


def executors(session):
    """The process ids of the workers' programs."""
    application = session.sparkContext.applicationId.encode()
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in words and application in words:
            found.append(int(path.split("/")[2]))
    return found


def test_an_executor_is_killed_while_it_writes(session, tmp_path):
    if not executors(session):
        pytest.skip("the workers are threads of this master")
    rows = 1_500_000  # two parts, of few combinations
    many, path, victims = data.people(session, rows).select(*FEW), str(tmp_path / "release"), []

    def kill():
        while not glob.glob(f"{path}/_temporary/0/_temporary/attempt*") and not glob.glob(f"{path}/part-*"):
            pass
        victims.append(executors(session)[0])
        os.kill(victims[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    release = ks.anonymize(many, attributes=FEW, k=3, suppression=0.1, method="optimal").write(path)
    killer.join(60)
    assert victims and victims[0] not in executors(session)
    assert release.rows == rows == release.to_df().count()
    assert os.path.exists(f"{path}/_SUCCESS")


def test_a_full_disk(session, few, tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(place)], capture_output=True, check=False
    ).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        with pytest.raises(kn.KanonError) as failed:
            ks.anonymize(few, SPEC).write(str(place / "release"))
        assert "Spark" in str(failed.value) or "release" in str(failed.value)
        assert not os.path.exists(place / "release" / "_SUCCESS") and not glob.glob(str(place / "release" / "part-*"))
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


@pytest.mark.parametrize("change", ["a part is added", "a part is corrupted"])
def test_files_that_change_before_they_are_published(few, tmp_path, monkeypatch, change):
    path = str(tmp_path / "release")
    run = ks._Statements.run

    def spoiled_run(self, sql):
        result = run(self, sql)
        part = glob.glob(f"{path}/part-*.parquet")[0]
        for name in glob.glob(f"{path}/.*.crc"):
            os.unlink(name)
        with open(part, "rb") as file:
            content = file.read()
        if change == "a part is added":
            with open(f"{path}/part-99999-x.snappy.parquet", "wb") as file:
                file.write(content)
        else:
            with open(part, "wb") as file:
                file.write(content[:-20] + bytes(20))
        return result

    monkeypatch.setattr(ks._Statements, "run", spoiled_run)
    with pytest.raises(kn.KanonError):
        ks.anonymize(few, SPEC).write(path)
    assert not os.path.exists(path) and not os.path.exists(f"{path}.private")  # nothing that was not verified is left
    monkeypatch.undo()
    assert ks.anonymize(few, SPEC).write(path).k >= 3


def test_rows_that_change_while_they_are_released(session, tmp_path):
    """A frame that gives other rows at each reading: the check fails, and what was written is gone."""
    calls = session.range(2_000).selectExpr(
        "pmod(xxhash64(id, unix_micros(now())), 50) AS age",
        "'00001' AS zip",
        "'female' AS sex",
        "DATE '2024-01-01' AS admitted",
        "'flu' AS diagnosis",
    )
    path = str(tmp_path / "release")
    with pytest.raises(kn.KanonError):
        ks.anonymize(calls, SPEC).write(path)
    assert os.listdir(tmp_path) == []


def read_line(process, word):
    """The first word of a process's output that begins so."""
    for line in process.stdout:
        for found in line.split():
            if found.startswith(word):
                return found
    raise AssertionError("the process ended without a word")


@pytest.fixture
def two_hosts(tmp_path):
    """A standalone cluster whose workers have different addresses: Spark runs no duplicate of a task on the same host."""
    environment = dict(
        os.environ,
        SPARK_DAEMON_MEMORY="300m",
        SPARK_DAEMON_JAVA_OPTS=QUICK,
        SPARK_NO_DAEMONIZE="1",
        SPARK_WORKER_DIR=str(tmp_path / "worker"),
    )
    environment.pop("SPARK_LOCAL_IP", None)
    environment["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    program = os.path.join(environment["SPARK_HOME"], "bin", "spark-class")
    started = []

    def start(*words):
        process = subprocess.Popen(
            [program, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(process)
        return process

    master = start("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    address = read_line(master, "spark://")
    for host in ("127.0.0.1", "127.0.0.2"):
        words = ["--host", host, "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "900m", address]
        start("org.apache.spark.deploy.worker.Worker", *words)
    for process in started:  # so that their pipes never fill
        threading.Thread(target=process.stdout.read, daemon=True).start()
    yield address
    for process in reversed(started):
        process.kill()
        process.wait()


def test_a_speculative_duplicate(two_hosts, few, tmp_path):
    path = str(tmp_path / "release")
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, "slow.py"), path, two_hosts],
        env=dict(os.environ, PYTHONPATH=HERE, PYSPARK_PYTHON=sys.executable),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    print(told)
    assert told["speculative"] >= 1 and told["overtaken"] >= 1  # by Spark's own record of its tasks
    expected = kn.anonymize(few.toArrow(), SPEC)
    assert (told["k"], told["rows"], told["suppressed"]) == (expected.k, expected.rows, expected.suppressed)
    assert ks.verify(few, path, SPEC).outcome == "holds"
    rows = pyarrow.parquet.read_table(path).group_by(list(killed.ROLES)).aggregate([([], "count_all")]).to_pylist()
    there = expected.to_arrow().group_by(list(killed.ROLES)).aggregate([([], "count_all")]).to_pylist()
    assert as_texts(rows) == as_texts(there)


def as_texts(rows):
    return sorted(str([str(row[name] or "") for name in sorted(row)]) for row in rows)


@pytest.mark.parametrize("stage", ["group", "write", "check", "digest", "marker"])
def test_the_driver_is_killed(few, tmp_path, stage):
    path = str(tmp_path / "release")
    environment = dict(os.environ, PYTHONPATH=HERE)
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, "killed.py"), path, stage],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr
    assert not os.path.exists(f"{path}/_SUCCESS")
    assert os.path.exists(f"{path}.private/unfinished") == (stage != "group")
    with pytest.raises(kn.InputError, match="marker"):
        ks.verify(few, path, SPEC)
    assert ks.anonymize(few, SPEC).write(path).k >= 3
    assert os.path.exists(f"{path}/_SUCCESS") and not os.path.exists(f"{path}.private/unfinished")
