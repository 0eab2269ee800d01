# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server by its connection string: a table and a whole database, in and out. The server is one of its own, as
tests/postgres starts it."""

import csv
import pathlib
import re
import shutil
import subprocess
import sys

import polars as pl
import pytest
from conftest import FULL, people

import pykanon as kn

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
COLUMNS = people(200, 6)
ASKED = {"qi": {"age": kn.ranges(10, 20, 40), "sex": None}, "sensitive": "diagnosis", "k": 3, "method": "optimal"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The connection string of a server that lives as long as these tests."""
    if not FULL:
        pytest.skip("only `make python` starts a PostgreSQL server")
    sys.path.insert(0, str(TESTS))
    import postgres_server

    sys.path.remove(str(TESTS))
    programs = postgres_server.programs()
    if programs is None or shutil.which("psql") is None:
        pytest.skip("there is no PostgreSQL server here")
    folder = tmp_path_factory.mktemp("server")
    for above in (folder.parent, folder.parent.parent):
        above.chmod(0o755)  # the server is not run as root
    process, port = postgres_server.start(programs, str(folder), postgres_server.drop_root())
    yield postgres_server.uri(port)
    process.terminate()
    process.wait()


def sql(server, text, **more):
    return subprocess.run(
        ["psql", server, "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text], check=True, capture_output=True, text=True, **more
    ).stdout


def fill(server, table, columns):
    """A table of texts and numbers with these rows; missing cells are null."""
    kinds = {int: "int", str: "text"}
    types = [next((kinds[type(cell)] for cell in cells if cell is not None), "text") for cells in columns.values()]
    names = ", ".join(f'"{name}" {kind}' for name, kind in zip(columns, types, strict=True))
    sql(server, f"CREATE TABLE {table} ({names})")
    sql(server, f"COPY {table} FROM STDIN WITH (FORMAT csv)", input=pl.DataFrame(columns).write_csv(include_header=False))


@pytest.fixture(scope="module")
def clinic(server):
    sql(server, "CREATE SCHEMA clinic")
    fill(server, "clinic.people", COLUMNS)
    return f"{server}#clinic.people"


def test_a_table_is_read(server, clinic):
    expected = kn.anonymize(COLUMNS, **ASKED)
    found = kn.anonymize(clinic, **ASKED)
    assert (found.to_csv(), found.certificate) == (expected.to_csv(), expected.certificate)
    assert kn.verify(clinic, found).outcome == "holds"
    diagnosis = kn.diagnose(clinic, ["age", "sex"], k=2)
    assert diagnosis.to_dict() == kn.diagnose(COLUMNS, ["age", "sex"], k=2).to_dict() and diagnosis.at_risk()
    assert [one.name for one in kn.profile(clinic).columns] == list(COLUMNS)
    rows = kn.diagnose(f"{server}?query=SELECT age FROM clinic.people WHERE sex = 'male'", "age").rows
    assert rows == COLUMNS["sex"].count("male")
    with pytest.raises(kn.UsageError, match="password"):
        kn.init(clinic)


def test_a_table_is_written(server, clinic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the certificate is here
    released = f"{server}#clinic.released"
    made = kn.anonymize(COLUMNS, **ASKED, output=released)
    assert made.verified and kn.verify(clinic, released, **ASKED).outcome == "holds"
    assert sql(server, "SELECT count(*) FROM clinic.released").strip() == "200"
    with pytest.raises(kn.KanonError, match="replace"):
        kn.anonymize(COLUMNS, **ASKED, output=released)
    kn.anonymize(COLUMNS, **ASKED, output=released, replace=True)
    sql(server, "UPDATE clinic.released SET sex = 'male'")
    assert kn.verify(clinic, released, **ASKED).outcome == "does not hold"


def test_a_whole_database(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kn.generate("students", rows=40, seed=2, target=tmp_path / "school")
    spec = tmp_path / "school" / "release.yaml"
    expected = kn.anonymize(spec=spec, seed=1, output=f"{tmp_path}/out/")
    sql(server, "CREATE SCHEMA school")
    for file in (tmp_path / "school").glob("*.csv"):
        with open(file, newline="") as lines:
            head, *rows = csv.reader(lines)
        cells = zip(*rows, strict=True)
        fill(server, f'school."{file.stem}"', {name: list(column) for name, column in zip(head, cells, strict=True)})
    school = f"{server}#school"
    found = kn.anonymize(school, spec, seed=1)
    assert found.k == expected.k and kn.verify(school, found, spec).outcome == "holds"
    for name, table in found.tables.items():
        assert table.to_csv() == (tmp_path / "out" / f"{name}.csv").read_bytes()
    assert kn.demonstrate_attack(school, spec).to_dict() == kn.demonstrate_attack(spec=spec).to_dict()
    assert {one.name for one in kn.profile(school).tables} >= set(found.tables)
    released = f"{server}#published"
    assert kn.anonymize(school, spec, seed=1, output=released).verified
    assert kn.verify(school, released, spec).outcome == "holds"
    tables = sql(server, "SELECT tablename FROM pg_tables WHERE schemaname = 'published'").split()
    assert set(tables) == set(found.tables)


def test_a_first_request(clinic, monkeypatch):
    before, secret, after = re.fullmatch(r"(.*):(.*)(@.*)", clinic).groups()
    monkeypatch.setenv("PGPASSWORD", secret)
    draft = kn.init(before + after, k=3)
    assert secret not in draft.text and kn.anonymize(before + after, draft.spec, force=True).k >= 3


def test_a_password_is_not_shown(server, clinic):
    secret = server.split(":")[2].split("@")[0]
    wrong = clinic.replace(secret, "hushhush")
    for name in (wrong, wrong.replace("#clinic.people", "#clinic")):
        with pytest.raises(kn.SystemFailure) as caught:
            kn.profile(name)
        assert "hushhush" not in str(caught.value) and caught.value.__cause__ is None
    found = kn.anonymize(clinic, **ASKED)
    shown = [
        found.answer.to_json(),
        found.private.to_json(),
        found.certificate.to_json(),
        str(found.owner_report),
        repr(found.spec),
    ]
    assert not [text for text in shown if secret in text]
