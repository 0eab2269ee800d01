# SPDX-License-Identifier: Apache-2.0
"""Releases that Spark writes: the same rows as the engine's and DuckDB's, laid out by the release alone."""

import os

import data
import duckdb
import pytest

import pykanon as kn
from pykanon import spark as ks

ROWS = int(os.environ.get("KANON_SPARK_ROWS", "3000000"))
ROLES = {name: role for name, role in data.ROLES.items() if name != "amount"}
REQUESTS = {
    "optimal, k and suppression": {"method": "optimal", "k": 5, "suppression": 0.02},
    "incognito, k and l": {"method": "incognito", "k": 10, "l": 3},
    "datafly, k and t": {"method": "datafly", "k": 5, "t": 0.3, "suppression": 0.01},
    "mondrian, k and l": {"method": "mondrian", "k": 20, "l": 2},
    "kmsd, k and l": {"method": "kmsd", "k": 20, "l": 2},
    "samarati, suppressed rows left out": {"method": "samarati", "k": 50, "suppression": 0.05, "suppressed": "drop"},
}
MEMORY = {"kmsd, k and l": 150_000_000}  # it looks at rows one by one


@pytest.fixture(scope="module")
def original(session, tmp_path_factory):
    """The rows as a folder of Parquet, which Spark, DuckDB and the engine read."""
    path = str(tmp_path_factory.mktemp("original") / "people")
    data.people(session, ROWS, parts=8).drop("name").write.parquet(path)
    return path


def counted(path: str) -> str:
    """A statement: the distinct rows of a folder or file of Parquet as texts, with their counts."""
    place = f"{path}/*.parquet" if os.path.isdir(path) else path
    names = sorted(row[0] for row in duckdb.sql(f"DESCRIBE SELECT * FROM '{place}'").fetchall())
    texts = ", ".join(f'CAST("{name}" AS VARCHAR) AS "{name}"' for name in names)
    return f"SELECT {texts}, count(*) AS n FROM '{place}' GROUP BY ALL"


def same_rows(one: str, other: str) -> bool:
    """Do two folders or files of Parquet have the same rows, whatever their types?"""
    here, there = counted(one), counted(other)
    differences = f"({here} EXCEPT {there}) UNION ALL ({there} EXCEPT {here})"
    lines, different = (duckdb.sql(f"SELECT count(*) FROM ({query})").fetchall()[0][0] for query in (here, differences))
    return lines > 0 and different == 0


@pytest.mark.parametrize("name", REQUESTS)
def test_the_release_is_the_engines_and_duckdbs(session, original, tmp_path, name):
    spec = kn.Spec(attributes=ROLES, **REQUESTS[name])
    release = ks.anonymize(session.read.parquet(original), spec).write(str(tmp_path / "spark"))
    here = kn.anonymize(original + "/", spec, output=str(tmp_path / "memory.parquet"))
    assert (release.k, release.rows, release.suppressed, release.classes) == (
        here.k,
        here.rows,
        here.suppressed,
        here.classes,
    )
    assert release.answer.get("node") == here.answer.get("node")
    assert same_rows(str(tmp_path / "spark"), str(tmp_path / "memory.parquet"))
    kn.options(memory_limit=MEMORY.get(name, 100_000_000))
    try:
        grouped = kn.anonymize(original + "/", spec, output=str(tmp_path / "duckdb.parquet"))
    finally:
        kn.options(memory_limit=0)
    assert ROWS < 3_000_000 or any("DuckDB" in note for note in grouped.notes)
    assert same_rows(str(tmp_path / "spark"), str(tmp_path / "duckdb.parquet"))
