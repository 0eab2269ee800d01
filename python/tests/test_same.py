# SPDX-License-Identifier: Apache-2.0
"""The same release, byte for byte, as the program's on the same rows, from every kind of table and by every method."""

import hashlib
import json
import subprocess

import polars as pl
import pyarrow as pa
import pytest
from conftest import FULL, KANON, ROLES, installed, needs_program, people

import pykanon as kn

METHODS = [one["name"] for one in kn.methods() if one["shape"] == "table" and one["name"] != "auto"]
SEEDS = range(8 if FULL else 2)
QUERIES = "SELECT COUNT(*) FROM people WHERE age BETWEEN 20 AND 40;\nSELECT COUNT(*) FROM people WHERE sex = 'male';\n"


def from_polars(columns):
    return pl.DataFrame(columns)


def from_chunks(columns):
    whole = pl.DataFrame(columns)
    return pl.concat([whole[:7], whole[7:8], whole[8:]], rechunk=False)


def from_pyarrow(columns):
    return pa.table(columns)


def from_batches(columns):
    return pa.Table.from_batches(pa.table(columns).to_batches(max_chunksize=7))


def from_pandas(columns):
    import pandas

    return pandas.DataFrame(columns)


def from_duckdb(columns):
    import duckdb

    return duckdb.connect().from_arrow(pa.table(columns))


def from_nanoarrow(columns):
    import nanoarrow

    return nanoarrow.ArrayStream(pa.table(columns))


def from_lists(columns):
    return columns


def from_categories(columns):
    return pa.table({name: pa.array(cells).dictionary_encode() for name, cells in columns.items()})


SOURCES = [from_polars, from_pyarrow, from_batches, from_lists, from_categories, from_chunks]
SOURCES += [
    source
    for name, source in (("pandas", from_pandas), ("duckdb", from_duckdb), ("nanoarrow", from_nanoarrow))
    if installed(name)
]


def request(method):
    fields = {"attributes": dict(ROLES), "privacy": [{"k": 4}, {"l-diversity": {"l": 2}}], "method": method}
    if method == "heuristic":
        fields["options"] = {"seed": 7}
    if not method.startswith("mondrian"):
        fields["suppression"] = "10%"
    if method in ("kmsd", "kmsd-ag", "samarati"):
        fields["privacy"] = [{"k": 4}]
    return fields


def by_program(folder, columns, fields):
    """The bytes of the program's release and of its certificate; None: there is no such release."""
    (folder / "in.csv").write_bytes(pl.DataFrame(columns).write_csv(None).encode())
    (folder / "queries.sql").write_text(QUERIES)
    (folder / "release.yaml").write_text(json.dumps({"kanon": 1, "input": "in.csv", "output": "out.csv", **fields}))
    done = subprocess.run([KANON, "anonymize", "release.yaml", "-q"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode == 1:
        return None
    assert done.returncode == 0, done.stderr
    return (folder / "out.csv").read_bytes(), (folder / "out.csv.certificate.json").read_bytes()


def by_package(data, fields, **more):
    try:
        release = kn.anonymize(data, {"kanon": 1, **fields}, **more)
    except kn.NoRelease:
        return None
    assert hashlib.sha256(release.to_csv()).hexdigest() == release.certificate.sha256
    return release.to_csv(), release.certificate.to_json().encode()


@needs_program
@pytest.mark.parametrize("method", METHODS)
def test_every_method(tmp_path, method):
    for seed in SEEDS:
        columns, fields = people(120, seed), request(method)
        if method == "mondrian-workload":
            fields["workload"] = "queries.sql"
        expected = by_program(tmp_path, columns, fields)
        fields.pop("workload", None)
        more = {"workload": QUERIES} if method == "mondrian-workload" else {}
        for source in SOURCES if FULL else SOURCES[seed % 2 :: 2]:
            assert by_package(source(columns), fields, **more) == expected, source.__name__


@pytest.mark.parametrize("source", SOURCES)
def test_every_table(source):
    columns = people(80, 3)
    assert by_package(source(columns), request("optimal")) == by_package(columns, request("optimal"))


def test_chunks_are_not_copied_into_one():
    frame = from_chunks(people(80, 3))
    kn.diagnose(frame, ["age"])
    assert frame.n_chunks() == 3


def test_diagnosis_agrees_with_a_count():
    columns = people(200, 5)
    rows = list(zip(columns["age"], columns["sex"], strict=True))
    sizes = {row: rows.count(row) for row in rows}
    found = kn.diagnose(pl.DataFrame(columns), ["age", "sex"], k=3)
    assert found.k == min(sizes.values())
    assert found.classes == len(sizes)
    assert found.at_risk() == [i for i, row in enumerate(rows) if sizes[row] < 3]
    assert not found.holds


@needs_program
def test_answers_are_the_programs(tmp_path):
    columns = people(100, 9)
    (tmp_path / "in.csv").write_bytes(pl.DataFrame(columns).write_csv(None).encode())
    for words, mine in (
        (["--qi", "age,sex", "-k", "2"], lambda d: kn.diagnose(d, ["age", "sex"], k=2)),
        (["--qi", "sex,zip", "--suppression", "5%"], lambda d: kn.diagnose(d, ["sex", "zip"], suppression=0.05)),
        (["--qi", "sex", "--suppression", "any"], lambda d: kn.diagnose(d, "sex", suppression="any")),
        (["--over", "age,sex,zip", "-k", "2"], lambda d: kn.diagnose(d, over=["age", "sex", "zip"], k=2)),
        (["--over", "age,sex,zip"], lambda d: kn.diagnose(d, over=["age", "sex", "zip"])),
        (["--over", "sex,zip", "-k", "3", "--suppression", "any"],
         lambda d: kn.diagnose(d, over=["sex", "zip"], k=3, suppression="any")),
        (["--qi", "sex", "--sensitive", "diagnosis", "--risk", "--suda"],
         lambda d: kn.diagnose(d, "sex", sensitive="diagnosis", risk=True, suda=True)),
    ):  # fmt: skip
        done = subprocess.run(
            [KANON, "diagnose", "in.csv", "--json", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        assert json.loads(done.stdout) == mine(pa.table(columns)).to_dict(), words
