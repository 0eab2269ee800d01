# SPDX-License-Identifier: Apache-2.0
"""Tables elsewhere, recipes of every method, counted rows, populations: what the library has, through this door."""

import contextlib
import ctypes
import pathlib
import sqlite3

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import installed, people
from test_same import METHODS, QUERIES, request

import pykanon as kn
from pykanon._data import Job

COLUMNS = people(200, 6)
ASKED = {"qi": {"age": kn.ranges(10, 20, 40), "sex": None}, "sensitive": "diagnosis", "k": 3, "method": "optimal"}


def counted(columns):
    """The same rows, equal ones as one."""
    names = list(columns)
    return pl.DataFrame(columns).group_by(names, maintain_order=True).len("n").to_dict(as_series=False)


# ---- Recipes ----


@pytest.mark.parametrize("method", METHODS)
def test_recipe_of(method):
    more = {"workload": QUERIES} if method == "mondrian-workload" else {}
    rel = kn.anonymize(COLUMNS, {"kanon": 1, **request(method)}, **more)
    assert rel.recipe is not None
    again = rel.recipe.apply(COLUMNS)
    assert again.to_csv() == rel.to_csv()
    assert again.certificate.sha256 == rel.certificate.sha256


def test_recipe_and_an_earlier_release(tmp_path):
    rel = kn.anonymize(COLUMNS, **ASKED)
    later = people(150, 9)
    both = rel.recipe.apply(later, earlier=rel, disjoint=True, suppression=0.2)
    assert both.together.rows == rel.rows + both.rows and both.together.k >= 3
    pairs = [(one["age"], one["sex"]) for part in (rel, both) for one in pl.DataFrame(part).to_dicts() if one["age"] != "*"]
    assert both.together.k <= min(pairs.count(pair) for pair in set(pairs))
    assert kn.apply(rel.recipe, later, earlier=rel.to_pydict(), disjoint=True, suppression=0.2).together == both.together
    first, *rows = rel.to_csv().decode().splitlines(keepends=True)
    (tmp_path / "thin.csv").write_text(first + rows[0].replace("male", "other").replace("feother", "other"))
    with pytest.raises(kn.NoRelease, match="earlier"):
        rel.recipe.apply(later, earlier=f"{tmp_path}/thin.csv", disjoint=True, suppression=0.2)
    rel.to_csv(tmp_path / "earlier.csv")
    done = rel.recipe.apply(
        later, earlier=tmp_path / "earlier.csv", disjoint=True, suppression=0.2, output=tmp_path / "later.csv"
    )
    assert done.together == both.together and (tmp_path / "later.csv").read_bytes() == both.to_csv()
    with pytest.raises(kn.UsageError, match="disjoint"):
        rel.recipe.apply(later, earlier=rel, suppression=0.2)


def test_recipe_of_a_release_in_a_file(tmp_path):
    rel = kn.anonymize(COLUMNS, **ASKED, output=tmp_path / "out.csv", keep_recipe=True)
    done = rel.recipe.apply(COLUMNS, output=tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert done.certificate.sha256 == rel.certificate.sha256
    assert kn.anonymize(COLUMNS, **ASKED, output=tmp_path / "none.csv").recipe is None


def test_counted_rows():
    one_by_one = kn.anonymize(COLUMNS, **ASKED)
    rel = kn.anonymize(counted(COLUMNS), **ASKED, count="n")
    assert sum(pl.DataFrame(rel)["n"].cast(int)) == 200 and rel.k == one_by_one.k
    assert rel.recipe.content == one_by_one.recipe.content
    whole = kn.anonymize(counted(COLUMNS), **ASKED, count="n", expand=True)
    assert whole.to_csv() == one_by_one.to_csv()
    assert one_by_one.recipe.apply(counted(COLUMNS), count="n", expand=True).to_csv() == one_by_one.to_csv()
    assert kn.verify(counted(COLUMNS), rel).outcome == "holds"


# ---- Hierarchies ----


def test_a_hierarchy_by_type():
    ages = {"age": [number for number in range(20, 60) for _ in range(2)]}
    rel = kn.anonymize(ages, qi="age", k=4, method="optimal")
    assert rel.k >= 4 and all(one.startswith("[") for one in rel.to_pydict()["age"])
    assert rel.recipe.apply(ages).to_csv() == rel.to_csv()


GUESTS = {"country": ["fr", "fr", "it", "es"], "illness": ["flu", "cold", "flu", "cold"]}
COUNTRIES = {"fr": ["west", "*"], "de": ["west", "*"], "it": ["south", "*"], "es": ["south", "*"], "pt": ["south", "*"]}
PEOPLE = {"fr": 60, "de": 80, "it": 3, "es": 2, "pt": 5}


def test_a_population_of_a_hierarchy(tmp_path):
    asked = {"sensitive": "illness", "privacy": {"k-map": 10}, "method": "optimal"}
    rel = kn.anonymize(GUESTS, qi={"country": kn.hierarchy(COUNTRIES).with_population(PEOPLE)}, **asked)
    assert sorted(set(rel.to_pydict()["country"])) == ["south", "west"]
    assert kn.verify(GUESTS, rel).outcome == "holds"
    lines = tmp_path / "people.csv"
    lines.write_text("".join(f"{name};{number}\n" for name, number in PEOPLE.items()))
    same = kn.anonymize(GUESTS, qi={"country": kn.hierarchy(COUNTRIES).with_population(lines)}, **asked)
    assert same.to_csv() == rel.to_csv()
    everybody = kn.anonymize(GUESTS, qi={"country": kn.suppress().with_population(PEOPLE)}, **asked, force=True)
    assert set(everybody.to_pydict()["country"]) == {"*"}
    by_path = kn.anonymize(GUESTS, qi={"country": {"population": str(lines)}}, **asked, force=True)
    assert everybody.to_csv() == by_path.to_csv()
    with pytest.raises(kn.InputError, match="data row 1"):
        kn.anonymize(GUESTS, qi={"country": kn.hierarchy(COUNTRIES).with_population({"xx": 5})}, **asked)


# ---- Tables elsewhere ----


def test_a_sqlite_table(tmp_path):
    path = tmp_path / "people.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE people (age, zip, sex, job, diagnosis)")
        base.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", zip(*COLUMNS.values(), strict=True))
        base.commit()
    name = f"sqlite:{path}#people"
    expected = kn.anonymize(COLUMNS, **ASKED)
    assert kn.anonymize(name, **ASKED).to_csv() == expected.to_csv()
    assert kn.diagnose(name, ["age", "sex"], k=2).to_dict()["k"] == kn.diagnose(COLUMNS, ["age", "sex"], k=2).k
    assert [one.name for one in kn.profile(name).columns] == list(COLUMNS)
    assert kn.diagnose(f"sqlite:{path}?query=SELECT age FROM people WHERE sex = 'male'", "age").rows == COLUMNS["sex"].count(
        "male"
    )
    rel = kn.anonymize(name, **ASKED, output=f"sqlite:{path}#released")
    assert rel.verified
    assert kn.verify(name, f"sqlite:{path}#released", **ASKED).outcome == "holds"
    with pytest.raises(kn.KanonError, match="replace"):
        kn.anonymize(name, **ASKED, output=f"sqlite:{path}#released")
    kn.anonymize(name, **ASKED, output=f"sqlite:{path}#released", replace=True)


def duckdb_here() -> bool:
    """Is DuckDB loaded by Python's module, or installed for the library?"""
    if installed("duckdb"):
        __import__("duckdb")
        return True
    try:
        ctypes.CDLL("libduckdb.so")
        return True
    except OSError:
        return (pathlib.Path.home() / ".local" / "share" / "kanon" / "libduckdb.so").exists()


needs_duckdb = pytest.mark.skipif(not duckdb_here(), reason="DuckDB is not here")


@needs_duckdb
def test_parquet(tmp_path):
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "people.parquet")
    for source in (tmp_path / "people.parquet", f"{tmp_path}/*.parquet", f"duckdb:?query=FROM '{tmp_path}/people.parquet'"):
        assert kn.anonymize(source, **ASKED).to_csv() == kn.anonymize(COLUMNS, **ASKED).to_csv()
    found = kn.diagnose(tmp_path / "people.parquet", ["age", "sex"], k=2)
    assert (found.k, found.at_risk()) == (1, kn.diagnose(COLUMNS, ["age", "sex"], k=2).at_risk())
    rel = kn.anonymize(tmp_path / "people.parquet", **ASKED, output=tmp_path / "out.parquet")
    assert rel.verified and pl.read_parquet(tmp_path / "out.parquet").height == 200
    assert kn.verify(tmp_path / "people.parquet", tmp_path / "out.parquet", **ASKED).outcome == "holds"


@needs_duckdb
def test_rows_that_repeat_are_counted(tmp_path):
    sexes = ["male", "female", None, "male"] * 30_000
    pq.write_table(pa.table({"sex": sexes}), tmp_path / "many.parquet")
    found = kn.diagnose(tmp_path / "many.parquet", "sex", k=2)
    assert (found.rows, found.classes, found.k) == (120_000, 3, 30_000)
    assert found.to_dict()["histogram"] == kn.diagnose({"sex": sexes}, "sex", k=2).to_dict()["histogram"]


@pytest.mark.skipif(not installed("duckdb"), reason="the package duckdb is not here")
def test_a_table_of_duckdb(tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "base.duckdb")) as base:
        base.register("given", pa.table(COLUMNS))
        base.execute("CREATE TABLE people AS FROM given")
    expected = kn.anonymize(COLUMNS, **ASKED).to_csv()
    assert kn.anonymize(f"duckdb:{tmp_path}/base.duckdb#people", **ASKED).to_csv() == expected
    assert kn.diagnose(f"duckdb:{tmp_path}/base.duckdb?query=SELECT age FROM people LIMIT 50", "age").rows == 50


@pytest.fixture
def relation(monkeypatch):
    """A relation of DuckDB, and a list of what the library was given instead."""
    duckdb = pytest.importorskip("duckdb")
    taken, put = [], Job.put_table
    monkeypatch.setattr(
        Job, "put_table", lambda job, name, table, **more: (taken.append(table), put(job, name, table, **more))
    )
    return duckdb.connect().from_arrow(pa.table(COLUMNS)), taken


@pytest.mark.parametrize(
    "asked",
    [
        {"qi": ["sex", "job"], "k": 2},
        {"over": ["sex", "job", "diagnosis"], "k": 2, "suppression": "any"},
        {"qi": "sex", "sensitive": "diagnosis", "require": [{"l-diversity": {"l": 2}}]},
    ],
)
def test_duckdb_counts_rows_of_a_diagnosis(relation, asked):
    rows, taken = relation
    found = kn.diagnose(rows, **asked)
    assert found.to_dict() == kn.diagnose(COLUMNS, **asked).to_dict()
    counted = pl.DataFrame(taken[0])
    assert counted.height < 40 and counted["(rows)"].sum() == 200
    if "qi" in asked:
        assert found.at_risk(30) == kn.diagnose(COLUMNS, **asked).at_risk(30)


@pytest.mark.parametrize("method", [one for one in METHODS if one != "mondrian-workload"])
def test_duckdb_counts_rows_of_a_release(relation, method):
    rows, taken = relation
    asked = {"qi": {"age": kn.breaks([30, 50]), "sex": None}, "sensitive": "diagnosis", "k": 3, "method": method}
    asked |= {"seed": 7} if method == "heuristic" else {}
    rows = rows.project("CASE WHEN age < 50 THEN 20 ELSE 60 END AS age, sex, diagnosis, zip")
    expected, found = kn.anonymize(pl.DataFrame(rows), **asked), kn.anonymize(rows, **asked)
    assert taken[1].columns == ["age", "sex", "diagnosis", "(rows)", "zip"] and len(taken[1]) < 20
    assert (found.to_csv(), found.certificate, found.notes) == (expected.to_csv(), expected.certificate, expected.notes)
    assert found.recipe.content == expected.recipe.content and found.to_polars().equals(expected.to_polars())
    assert kn.verify(rows, found).outcome == "holds"


def test_single_rows_of_duckdb_stay_single(relation):
    rows, taken = relation
    asked = {"qi": {"age": kn.ranges(10, 20, 40), "sex": None}, "k": 3, "method": "optimal"}
    kept = kn.anonymize(rows, **asked, keep="job")
    assert kept.to_csv() == kn.anonymize(COLUMNS, **asked, keep="job").to_csv()
    kn.diagnose(rows, "sex", risk=True)
    kn.diagnose(rows, ["age", "zip"])  # rows seldom repeat
    assert [len(one) for one in taken if type(one) is type(rows)] == [200] * 3
    with pytest.raises(kn.InputError, match='did you mean "age"'):
        kn.diagnose(rows, "agee")


def test_a_server_that_is_not_there():
    with pytest.raises(kn.SystemFailure) as caught:
        kn.diagnose("postgresql://somebody:hushhush@127.0.0.1:1/none#public.people", "age")
    assert "hushhush" not in str(caught.value)


# ---- Records, databases ----


def test_a_list_of_dicts_is_a_table():
    rows = pl.DataFrame(COLUMNS).to_dicts()
    rows[0].pop("job") if rows[0]["job"] is None else None
    assert kn.anonymize(rows, **ASKED).to_csv() == kn.anonymize(COLUMNS, **ASKED).to_csv()
    assert kn.diagnose([{"a": 1}, {"a": 1}, {"b": 2}], ["a", "b"]).k == 1


VISITS = [
    {"drug": [{"v": one} for one in names]} for names in (["aspirin"], ["codeine"], ["aspirin"], ["codeine", "aspirin"])
] * 3
DRUGS = {"*": {"painkiller": ["aspirin", "codeine"]}}


def test_a_list_of_nested_dicts_is_records():
    asked = {"classes": {"drug": {"value": "v", "hierarchy": DRUGS}}, "privacy": [{"k-mn": {"k": 2, "m": 2, "n": 1}}]}
    rel = kn.anonymize(VISITS, **asked)
    assert rel.certificate is not None and len(rel.text.splitlines()) == len(VISITS)
    assert kn.verify(VISITS, rel).outcome == "holds"


def test_a_sqlite_database(tmp_path):
    kn.generate("students", rows=40, seed=2, target=tmp_path / "school")
    spec = tmp_path / "school" / "release.yaml"
    from_folder = kn.anonymize(spec=spec, seed=1, output=f"{tmp_path}/out/")
    path = tmp_path / "school.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        for file in (tmp_path / "school").glob("*.csv"):
            table = pl.read_csv(file, infer_schema=False)
            names = ", ".join(f'"{name}"' for name in table.columns)
            base.execute(f'CREATE TABLE "{file.stem}" ({names})')
            base.executemany(f'INSERT INTO "{file.stem}" VALUES ({", ".join("?" * table.width)})', table.rows())
        base.commit()
    rel = kn.anonymize(f"sqlite:{path}", spec, seed=1)
    assert rel.k == from_folder.k
    assert kn.verify(f"sqlite:{path}", rel, spec).outcome == "holds"
    for name, table in rel.tables.items():
        assert table.to_csv() == (tmp_path / "out" / f"{name}.csv").read_bytes()
    shown = kn.demonstrate_attack(f"sqlite:{path}", spec)
    assert shown.to_dict() == kn.demonstrate_attack(spec=spec).to_dict() and shown.answer
