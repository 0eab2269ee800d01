# SPDX-License-Identifier: Apache-2.0
"""Faults: the marker never stands beside a bad release, and what failed can be run again."""

import glob
import os
import signal
import subprocess
import sys
import threading

import data
import killed
import pytest

import pykanon as kn
from pykanon import spark as ks

SPEC = kn.Spec(**killed.SPEC)
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
    many = data.people(session, 2_500_000).drop("name", "amount")
    path, victims = str(tmp_path / "release"), []

    def kill():
        while not glob.glob(f"{path}/_temporary/0/_temporary/attempt*") and not glob.glob(f"{path}/part-*"):
            pass
        victims.append(executors(session)[0])
        os.kill(victims[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    release = ks.anonymize(many, SPEC).write(path)
    killer.join(60)
    assert victims and victims[0] not in executors(session)
    assert release.rows == 2_500_000 == release.to_df().count()
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
        assert not os.path.exists(place / "release" / "_SUCCESS")
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
    assert not os.path.exists(f"{path}/_SUCCESS") and not os.path.exists(f"{path}/_certificate.json")
    monkeypatch.undo()
    assert ks.anonymize(few, SPEC).write(path).k >= 3


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
