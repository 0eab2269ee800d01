# SPDX-License-Identifier: Apache-2.0
"""Statements through Spark: a diagnosis is that of the same rows in memory; failures are exceptions without values."""

import data
import pytest

import pykanon as kn
from pykanon import spark as ks


@pytest.fixture(scope="module")
def few(session):
    return data.people(session, 20_000).cache()


def figures(answer):
    return {name: value for name, value in answer.to_dict().items() if name not in ("seconds", "processor", "notes", "input")}


def test_a_diagnosis_is_that_of_the_rows_in_memory(few):
    qi = ["age", "zip", "sex", "admitted"]
    here = few.toArrow()
    for question in ({"qi": qi, "k": 5}, {"qi": qi[:2], "sensitive": "diagnosis"}, {"qi": ["amount", "admitted"], "k": 2}):
        assert figures(ks.diagnose(few, **question)) == figures(kn.diagnose(here, **question))


def test_small_files_and_hive_partitions_are_the_same_table(session, few, tmp_path):
    few.repartition(40).write.partitionBy("sex").parquet(str(tmp_path / "parts"))
    parts = session.read.parquet(str(tmp_path / "parts"))
    assert len(parts.inputFiles()) == 80
    question = {"qi": ["age", "zip", "sex"], "k": 5}
    assert figures(ks.diagnose(parts, **question)) == figures(ks.diagnose(few, **question))


def test_a_failure_names_the_condition_and_no_value(session):
    frame = session.sql("SELECT CAST(v AS INT) AS age FROM VALUES ('41'), ('a secret') AS t(v)")
    with pytest.raises(kn.KanonError) as failed:
        ks.diagnose(frame, qi="age", k=2)
    assert "CAST_INVALID_INPUT" in str(failed.value) and "secret" not in str(failed.value)


def test_a_column_that_is_no_plain_one_is_refused(session):
    frame = session.sql("SELECT array(1, 2) AS list, 1 AS age")
    assert ks.diagnose(frame, qi="age", k=1).rows == 1
    with pytest.raises(kn.InputError, match='"list"'):
        ks.diagnose(frame, qi="list", k=1)


def test_views_of_a_job_are_gone_after_it(session, few):
    before = {table.name for table in session.catalog.listTables()}
    ks.diagnose(few, qi="age", k=1)
    assert {table.name for table in session.catalog.listTables()} == before
