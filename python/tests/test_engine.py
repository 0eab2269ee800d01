# SPDX-License-Identifier: Apache-2.0
"""Tables behind an engine whose statements Python functions run: here those of Polars, or ones that fail."""

import pytest
from conftest import installed, people

import pykanon as kn
from pykanon import _kanon
from pykanon._data import Job

pytestmark = pytest.mark.skipif(not installed("polars"), reason="the package polars is not installed")

ASKED = {"input": ["engine:bear#people"], "quasi": ["age", "zip"], "k": 2, "grouped": True}


class Bear:
    """An engine with one table."""

    def __init__(self, table):
        import polars

        self.tables = polars.SQLContext(people=polars.DataFrame(table))
        self.statements = []

    def run(self, sql):
        raise NotImplementedError

    def query(self, sql):
        self.statements.append(sql)
        return self.tables.execute(sql, eager=True).__arrow_c_stream__()

    def put(self, name, capsule):
        raise NotImplementedError


def job_with(bear, query=None):
    job = Job()
    job.context.add_engine("bear", 0, bear.run, query or bear.query, bear.put)
    return job


def diagnosed(job):
    from pykanon._document import Document
    from pykanon._spec import Spec

    return Document(job.call("diagnose", {**Spec(None)._arguments(), **ASKED}))


def test_rows_are_grouped_where_they_are():
    table = people(5000, 3)
    bear = Bear(table)
    found, expected = diagnosed(job_with(bear)), kn.diagnose(table, qi=["age", "zip"], k=2)
    assert (found.k, found.rows, found.classes, found.unique_rows) == (
        expected.k,
        5000,
        expected.classes,
        expected.unique_rows,
    )
    assert len(bear.statements) >= 2 and all("GROUP BY" in one or "LIMIT 0" in one for one in bear.statements)


def test_a_failure_is_an_exception_with_its_place():
    job = job_with(Bear(people(10, 1)), lambda sql: "Bear: CATALOG")
    with pytest.raises(kn.SystemFailure, match=r"^engine:bear#people: Bear: CATALOG$"):
        diagnosed(job)


def test_an_exception_of_a_function_is_the_callers():
    def query(sql):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        diagnosed(job_with(Bear(people(10, 1)), query))


def test_what_is_no_stream_is_refused():
    with pytest.raises(ValueError):
        diagnosed(job_with(Bear(people(10, 1)), lambda sql: 7))
    capsule = Bear(people(10, 1)).query("SELECT * FROM people")
    _kanon.Context().put_stream("memory:x", capsule)
    with pytest.raises(ValueError, match="consumed"):
        diagnosed(job_with(Bear(people(10, 1)), lambda sql: capsule))


def test_single_rows_stay():
    with pytest.raises(kn.UsageError, match="stay where they are"):
        job = job_with(Bear(people(10, 1)))
        from pykanon._spec import Spec

        job.call("profile", {**Spec(None)._arguments(), "input": ["engine:bear#people"]})


def test_names_of_engines():
    with pytest.raises(kn.UsageError, match="no engine of that name"):
        diagnosed(Job())
    with pytest.raises(_kanon.LibraryError, match="without '#'"):
        _kanon.Context().add_engine("a#b", 0, print, print, print)


def test_the_context_keeps_its_functions():
    import gc
    import sys

    bear = Bear(people(10, 1))
    before = sys.getrefcount(bear)
    job = job_with(bear)
    assert diagnosed(job).rows == 10
    del job
    gc.collect()
    assert sys.getrefcount(bear) == before


def test_only_spark_writes_a_release(tmp_path):
    from pykanon._spec import Spec

    place = tmp_path / "release.parquet"
    bear = Bear(people(200, 3))
    spec = Spec(None, qi=["age", "zip"], k=2, method="optimal")
    asked = spec._arguments(input=["engine:bear#people"], output=f"engine:bear#{place}")
    with pytest.raises(kn.UsageError, match="only Spark writes releases"):
        job_with(bear).call("anonymize", asked)
    assert not place.exists() and not any("COPY" in one or "INSERT" in one for one in bear.statements)
