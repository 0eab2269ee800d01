# SPDX-License-Identifier: Apache-2.0
"""Threads, fork, garbage, Ctrl-C: everything ends well in any order."""

import gc
import os
import pickle
import random
import resource
import signal
import threading
import time

import polars as pl
import pyarrow as pa
import pytest
from conftest import FULL, people
from stress import let_go

import pykanon as kn

FRAME = pl.DataFrame(people(300, 2))
QI = {"age": kn.ranges(5, 10, 20, 40), "zip": kn.mask("right"), "sex": None}


def release() -> kn.Release:
    return kn.anonymize(FRAME, qi=QI, sensitive="diagnosis", k=3, method="optimal", types={"zip": "text"})


def test_sixteen_threads():
    expected, found, failures = release().to_csv(), [], []

    def work():
        try:
            found.extend(release().to_csv() for _ in range(3))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failures and found == [expected] * 48


def test_after_fork():
    expected = release()
    child = os.fork()
    if child == 0:
        os._exit(0 if release().to_csv() == expected.to_csv() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_arrays_outlive_their_release():
    tables = []
    for _ in range(20):
        one = release()
        tables.append(pa.table(one))
        del one
    gc.collect()
    assert all(table.equals(tables[0]) for table in tables)


def test_freed_at_random():
    draw, kept = random.Random(4), []
    one = release()
    for _ in range(10_000 if FULL else 2_000):
        choice = draw.randrange(4)
        if choice == 0:
            kept.append(one.__arrow_c_stream__())
        elif choice == 1:
            kept.append(pa.RecordBatchReader.from_stream(one).read_next_batch())
        elif choice == 2:
            kept.append(kn.Spec(qi="age", k=2))
        elif kept:
            kept.pop(draw.randrange(len(kept)))
    del one
    let_go(kept, draw)


def test_no_growth():
    def used():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    columns = people(50, 8)
    for _ in range(100):
        kn.diagnose(columns, ["age", "sex"], k=2)
    before = used()
    for _ in range(1_000 if FULL else 300):
        kn.diagnose(columns, ["age", "sex"], k=2)
    assert used() - before < 20_000  # kilobytes
    assert threading.active_count() == 1
    assert len(os.listdir("/proc/self/task")) < 64


def test_open_files_do_not_grow():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(30):
        release()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before + 2


@pytest.mark.parametrize("round_", range(100 if FULL else 6))
def test_interrupt(round_):
    big = kn.generate("adult-like", rows=400_000, seed=1)
    keys = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
    delay = random.Random(round_).uniform(0.02, 0.6)
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, send)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        while True:
            kn.diagnose(big, over=keys)
    busy = max(1.0, os.getloadavg()[0] / os.cpu_count())
    assert not FULL or time.monotonic() - sent[0] < 0.5 * busy  # `make test` must not depend on time
    timer.join()
    assert kn.diagnose({"a": [1, 1]}, "a").k == 2


def test_progress_is_called_and_may_raise():
    seen = []

    def show(stage, unit, done, total, seconds, finished):
        seen.append(stage)
        raise RuntimeError("enough")

    kn.options(progress=show)
    try:
        with pytest.raises(RuntimeError, match="enough"):
            for _ in range(50):
                kn.diagnose(kn.generate("adult-like", rows=400_000), over=["age", "sex", "race", "education", "occupation"])
    finally:
        kn.options(progress=False)
    assert seen


def test_pickle():
    one = kn.diagnose(FRAME, ["age"], k=2)
    again = pickle.loads(pickle.dumps(one))
    assert again == one and again.to_dict() == one.to_dict() and again.report == one.report
    assert "<iframe" in one._repr_html_() and "<table" in kn.profile(FRAME)._repr_html_()
    with pytest.raises(TypeError, match=r"pass on its rows \(to_polars\(\), to_csv\(\)\)"):
        pickle.dumps(kn.anonymize(FRAME, qi="age", k=2, method="mondrian"))


def test_a_table_that_changes_meanwhile():
    """Arrow's batches are immutable: what a thread puts into the frame's variable later does not matter."""
    frame = {"now": pl.DataFrame(people(2_000, 1))}
    stop = threading.Event()

    def change():
        while not stop.is_set():
            frame["now"] = frame["now"].with_columns(pl.col("age") + 1)

    other = threading.Thread(target=change)
    other.start()
    try:
        for _ in range(5):
            taken = frame["now"]
            assert kn.diagnose(taken, ["age"]).classes == taken["age"].n_unique()
    finally:
        stop.set()
        other.join()


def test_a_buffer_that_is_overwritten():
    """Batches are read where they are. Cells that another thread writes meanwhile are a mistake of the caller, but what is
    released keeps its promises, or nothing is."""
    numpy = pytest.importorskip("numpy")  # its cells can be written to; the full run has it, `make test` does not fetch it
    cells = numpy.arange(200_000, dtype=numpy.int64) % 50
    table = pa.table({"age": pa.array(cells), "sex": pa.array(["f", "m"] * 100_000)})
    stop = threading.Event()

    def write():
        draw = numpy.random.default_rng(1)
        while not stop.is_set():
            cells[:] = draw.integers(0, 50, len(cells))

    other = threading.Thread(target=write)
    other.start()
    outcomes = set()
    try:
        for _ in range(5):
            try:
                found = kn.anonymize(table, qi={"age": kn.ranges(5, 10), "sex": None}, k=100, method="optimal")
                outcomes.add("release")
                assert kn.diagnose(found, ["age", "sex"]).k >= 100
            except kn.KanonError as error:
                outcomes.add(type(error).__name__)
    finally:
        stop.set()
        other.join()
    assert outcomes <= {"release", "InputError", "InternalError", "SystemFailure"}, outcomes
    assert kn.diagnose(table, ["age", "sex"]).rows == 200_000
