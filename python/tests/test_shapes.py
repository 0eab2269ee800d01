# SPDX-License-Identifier: Apache-2.0
"""Databases as dicts of tables, records as lists of dicts, hierarchies from dicts and data frames, recipes, attacks."""

import csv
import json
import subprocess

import polars as pl
import pytest
from conftest import KANON, needs_program, people

import pykanon as kn

GRADES = {"A": ["good", "*"], "B": ["good", "*"], "C": ["poor", "*"], "D": ["poor", "*"]}


def school():
    return {
        "students": pl.DataFrame({"Sid": [1, 2, 3, 4], "town": ["a", "a", "b", "b"]}),
        "courses": pl.DataFrame({"Cid": list(range(8)), "Sid": [1, 1, 2, 2, 3, 3, 4, 4], "grade": list("ABABCDCD")}),
    }


SCHOOL = {
    "entity": {"table": "students", "key": "Sid"},
    "tables": {
        "students": {"key": "Sid", "attributes": {"town": {"role": "quasi", "hierarchy": kn.suppress()}}},
        "courses": {
            "key": "Cid",
            "parent": {"table": "students", "column": "Sid"},
            "attributes": {"grade": {"role": "quasi", "hierarchy": GRADES}},
        },
    },
}


def test_a_database():
    rel = kn.anonymize(school(), k=2, seed=1, **SCHOOL)
    assert rel.k >= 2
    assert set(rel.tables) == {"students", "courses"}
    assert pl.DataFrame(rel.tables["students"]).height == 4
    assert rel.certificate is not None and rel.private is not None
    assert kn.verify(school(), rel).outcome == "holds"
    assert kn.profile(school(), entity="students", tables=SCHOOL["tables"]).answer == "profile-database"


RECORDS = [
    {"drug": [{"v": "aspirin"}]},
    {"drug": [{"v": "codeine"}]},
    {"drug": [{"v": "aspirin"}]},
]


def test_records(tmp_path):
    place = kn.generate("patient-records", rows=60, seed=3, target=tmp_path / "trees")
    rel = kn.anonymize(spec=f"{place}/release.yaml", output=str(tmp_path / "out.xml"))
    assert rel.k >= 2 and (tmp_path / "out.xml").exists()
    text = next(path for path in (tmp_path / "trees").iterdir() if path.suffix == ".xml").read_text()
    again = kn.anonymize(kn.Records(text, "xml"), f"{place}/release.yaml")
    assert again.text == (tmp_path / "out.xml").read_text()
    assert kn.verify(kn.Records(text, "xml"), again, f"{place}/release.yaml").outcome == "holds"


@pytest.mark.parametrize("kind", ["patient-records", "students"])
def test_a_release_file_alone_goes_to_memory(tmp_path, kind, monkeypatch):
    """Its own output and pages are not written."""
    monkeypatch.chdir(tmp_path)
    kn.generate(kind, rows=60, seed=3, target=tmp_path / "data")
    spec = tmp_path / "data" / "release.yaml"
    lines = [line for line in spec.read_text().splitlines() if "report:" not in line]
    spec.write_text("\n".join([*lines, "report: report.html", "public-report: public.html", ""]))
    seed = {"seed": 1} if kind == "students" else {}
    before = sorted(tmp_path.rglob("*"))
    rel = kn.anonymize(spec=spec, **seed)
    assert sorted(tmp_path.rglob("*")) == before
    assert rel.owner_report is not None and rel.public_report is not None and rel.certificate is not None
    place = tmp_path / "data" if kind == "students" else next((tmp_path / "data").glob("*.xml"))
    assert kn.verify(place, rel, spec).outcome == "holds"
    out = tmp_path / ("out.xml" if kind == "patient-records" else "out")
    kn.anonymize(spec=spec, **seed, output=f"{out}/" if kind == "students" else out)
    if kind == "students":
        assert {name: one.to_csv() for name, one in rel.tables.items()} == {
            one.stem: one.read_bytes() for one in out.glob("*.csv")
        }
    else:
        assert rel.text == out.read_text()


def test_json_lines_of_a_release_file(tmp_path):
    records = tmp_path / "visits.ndjson"
    records.write_text("".join(json.dumps(one) + "\n" for one in RECORDS * 4))
    spec = tmp_path / "release.yaml"
    classes = {"drug": {"value": "v", "hierarchy": {"taxonomy": "drugs.txt"}}}
    (tmp_path / "drugs.txt").write_text("*\n  aspirin\n  codeine\n")
    request = {"kanon": 1, "input": "visits.ndjson", "classes": classes, "privacy": [{"k-mn": {"k": 2, "m": 1, "n": 0}}]}
    spec.write_text(json.dumps(request))
    rel = kn.anonymize(spec=spec)
    assert len(rel.text.splitlines()) == 12 and kn.verify(records, rel, spec).outcome == "holds"


def test_hierarchies_from_a_frame():
    columns = people(60, 1)
    tree = pl.DataFrame({"leaf": ["flu", "gout", "asthma", "measles"], "group": ["x", "y", "x", "x"], "root": ["*"] * 4})
    from_frame = kn.anonymize(columns, qi={"diagnosis": tree}, k=10, method="optimal")
    from_dict = kn.anonymize(
        columns, qi={"diagnosis": {"*": {"x": ["flu", "asthma", "measles"], "y": ["gout"]}}}, k=10, method="optimal"
    )
    assert from_frame.to_csv() == from_dict.to_csv()


def test_recipe(tmp_path):
    columns = people(200, 6)
    rel = kn.anonymize(columns, qi={"age": kn.ranges(10, 20, 40), "sex": None}, k=3, method="optimal")
    assert rel.recipe.apply(columns).to_csv() == rel.to_csv()
    rel.recipe.save(tmp_path / "recipe.json")
    assert (tmp_path / "recipe.json").stat().st_mode & 0o777 == 0o600
    assert kn.apply(tmp_path / "recipe.json", people(300, 7), suppression=0.2).k >= 3


def test_choosing_and_judging():
    columns = people(200, 6)
    asked = {"qi": {"age": kn.ranges(10, 20, 40), "sex": None}, "sensitive": "diagnosis", "k": 3}
    rel = kn.anonymize(columns, **asked, method="optimal", public_report=True)
    assert kn.verify(columns, rel).verified
    assert not kn.verify(columns, rel, k=10_000).verified
    for frame in (rel.to_polars(), rel.to_arrow(), rel.to_pydict()):
        assert kn.verify(columns, frame, rel.spec).verified
        assert not kn.verify(columns, frame, rel.spec, k=10_000).verified
    assert kn.measure(columns, rel).metrics.lm == pytest.approx(rel.metrics.lm)
    assert kn.measure(columns, rel, workload="SELECT COUNT(*) FROM t WHERE age > 30;\n").workload.queries
    assert kn.attack(rel, {"age": [30], "sex": ["male"]}, original=columns).before.rows == 200
    assert kn.advise(columns, **asked).candidates
    assert kn.frontier(columns, **asked, method="optimal").points
    assert kn.explain(columns, **asked, method="optimal", levels=[1, 0]).promises
    assert kn.suggest_hierarchy(columns, "age", **asked).suggestions
    assert str(rel.owner_report).startswith("<!DOCTYPE html>") and str(rel.public_report).startswith("<!DOCTYPE html>")


def test_a_release_as_files(tmp_path):
    columns = people(200, 6)
    pl.DataFrame(columns).write_csv(tmp_path / "in.csv")
    asked = {"qi": {"age": kn.ranges(10, 20, 40), "sex": None}, "k": 3, "method": "optimal"}
    rel = kn.anonymize(tmp_path / "in.csv", **asked, output=tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == kn.anonymize(columns, **asked).to_csv()
    assert rel.certificate.sha256 == rel.sha256
    assert kn.verify(tmp_path / "in.csv", tmp_path / "out.csv", **asked).outcome == "holds"
    with pytest.raises(kn.InputError, match="output"):
        rel.to_polars()


def test_lists():
    assert {"optimal", "mondrian", "miracle", "gcs"} <= {one["name"] for one in kn.methods()}
    assert kn.models() and kn.metrics()
    json.dumps(kn.schema("anonymize"))


def test_init_runs_as_it_is():
    frame = pl.DataFrame(people(400, 2))
    draft = kn.init(frame, k=3)
    assert kn.anonymize(frame, draft.spec).k >= 3
    assert "kanon: 1" in draft.text


def test_init_with_hierarchy_files(tmp_path, monkeypatch):
    towns = {"town": [f"town {i % 12}" for i in range(240)], "age": [20 + i % 40 for i in range(240)]}
    pl.DataFrame(towns).write_csv(tmp_path / "in.csv")
    draft = kn.init(towns, k=3)
    assert "memory:draft/release.yaml" in draft.spec._files and len(draft.spec._files) > 1
    rel = kn.anonymize(towns, draft.spec)
    assert rel.k >= 3 and kn.verify(towns, rel).outcome == "holds"
    monkeypatch.chdir(tmp_path)
    assert kn.anonymize(spec=kn.init("in.csv", k=3).spec).to_csv() == rel.to_csv()


# ---- Databases and records: the same answers as the program's ----

CLINIC = {
    "person": {"pid": [1, 2, 3, 4, 5], "city": ["Kiel", "Kiel", "Ulm", "Ulm", "Ulm"], "pay": [1, 2, 1, 2, 2]},
    "visit": {"vid": [1, 2, 3, 4, 5, 6], "pid": [1, 2, 3, 4, 1, 5], "ill": ["flu", "flu", "cold", "cold", "cold", "flu"]},
}
CLINIC_SPEC = {
    "entity": {"table": "person", "key": "pid"},
    "tables": {
        "person": {"key": "pid", "attributes": {"city": "quasi"}},
        "visit": {"key": "vid", "parent": {"table": "person", "column": "pid"}, "attributes": {"ill": "quasi"}},
    },
}
BASKETS = [{"town": town, "drug": drugs} for town in ("Ashby", "Corby") for drugs in (["a", "b"], ["a"], ["a", "c"])]
BASKETS_SPEC = {"classes": {"town": {}, "drug": {}}, "privacy": [{"k-mn": {"k": 2, "m": 1, "n": 0}}]}


def program(*words):
    done = subprocess.run([KANON, *words, "--json", "-q"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return without_times(json.loads(done.stdout))


def without_times(answer):
    if isinstance(answer, dict):
        return {key: without_times(value) for key, value in answer.items() if key not in ("seconds", "command")}
    return [without_times(one) for one in answer] if isinstance(answer, list) else answer


def same(document, expected):
    assert without_times(document._content) == expected


def write_clinic(folder):
    for name, table in CLINIC.items():
        rows = zip(*table.values(), strict=True)
        (folder / f"{name}.csv").write_text("\n".join([",".join(table), *(",".join(map(str, row)) for row in rows)]) + "\n")


@needs_program
@pytest.mark.parametrize("promise", [{"k": 2}, {"k-mn": {"k": 2, "m": 2, "n": 1}}])
def test_a_database_is_judged_as_by_the_program(tmp_path, promise):
    spec = {**CLINIC_SPEC, "privacy": [promise]}
    (tmp_path / "db").mkdir()
    write_clinic(tmp_path / "db")
    source, shown = f"{tmp_path}/db/", f"{tmp_path}/out/"
    path = tmp_path / "release.yaml"
    path.write_text(json.dumps({"kanon": 1, **spec, "input": source, "output": shown}))
    release = kn.anonymize(CLINIC, spec)
    (tmp_path / "out").mkdir()
    for name in CLINIC:
        (tmp_path / "out" / f"{name}.csv").write_bytes(release._files[f"out/{name}.csv"])
    assert kn.verify(CLINIC, release).verified
    same(kn.measure(CLINIC, release), program("measure", source, shown, "--spec", str(path)))
    same(kn.diagnose(CLINIC, spec=spec), program("diagnose", source, "--spec", str(path)))
    if "k" in promise:
        known = {"person": {"pid": [9, 10], "city": ["Kiel", "Ulm"]}, "visit": {"vid": [1], "pid": [9], "ill": ["flu"]}}
        (tmp_path / "known").mkdir()
        for name, table in known.items():
            rows = zip(*table.values(), strict=True)
            (tmp_path / "known" / f"{name}.csv").write_text(
                "\n".join([",".join(table), *(",".join(map(str, r)) for r in rows)])
            )
        for some in (False, True):
            words = ["attack", shown, "--external", f"{tmp_path}/known/", "--spec", str(path), *["--some-rows"] * some]
            same(kn.attack(release, known, original=CLINIC, some_rows=some), program(*words))


@needs_program
def test_records_are_judged_as_by_the_program(tmp_path):
    source, shown, known = (tmp_path / name for name in ("in.jsonl", "out.jsonl", "known.jsonl"))
    source.write_text("".join(json.dumps(one) + "\n" for one in BASKETS))
    known.write_text('{"town": "Corby", "drug": ["c"]}\n{"drug": ["a"]}\n')
    path = tmp_path / "release.yaml"
    path.write_text(json.dumps({"kanon": 1, **BASKETS_SPEC, "input": str(source), "output": str(shown)}))
    release = kn.anonymize(BASKETS, BASKETS_SPEC)
    shown.write_bytes(release._files["out.jsonl"])
    same(kn.measure(BASKETS, release), program("measure", str(source), str(shown), "--spec", str(path)))
    same(kn.diagnose(BASKETS, spec=BASKETS_SPEC), program("diagnose", str(source), "--spec", str(path)))
    same(
        kn.diagnose(BASKETS, spec=BASKETS_SPEC, kmn=(3, 2, 1)),
        program("diagnose", str(source), "--spec", str(path), "--kmn", "3,2,1"),
    )
    same(kn.diagnose(str(source)), program("diagnose", str(source)))
    told = [{"town": "Corby", "drug": ["c"]}, {"drug": ["a"]}]
    same(
        kn.attack(release, told, original=BASKETS),
        program("attack", str(shown), "--external", str(known), "--spec", str(path)),
    )
    same(kn.advise(BASKETS, BASKETS_SPEC), program("advise", str(path)))


def test_what_is_of_one_table_is_refused():
    for more in ({"qi": ["city"]}, {"risk": True}, {"sensitive": "pay"}, {"kmn": (2, 1, 0), "k": 2}):
        with pytest.raises(kn.UsageError):
            kn.diagnose(BASKETS, **{"spec": BASKETS_SPEC, **more})
    with pytest.raises(kn.UsageError):
        kn.diagnose({"a": [1]}, spec={"attributes": {"a": "quasi"}})
    with pytest.raises(kn.UsageError):
        kn.diagnose(BASKETS, spec=BASKETS_SPEC).at_risk(2)
    release = kn.anonymize(BASKETS, BASKETS_SPEC)
    with pytest.raises(kn.UsageError):
        kn.measure(BASKETS, release, workload="SELECT COUNT(*) FROM people;")


def test_advice_on_other_promises_is_what_a_release_keeps():
    records = [*BASKETS * 3, {"town": "Ashby", "drug": ["z"]}]
    advice = kn.advise(records, {**BASKETS_SPEC, "privacy": [{"k-mn": {"k": 3, "m": 2, "n": 1}}]})
    assert len(advice.settings) >= 5
    for one in advice.settings:
        promise = {"k-mn": {"k": one.k, "m": one.m, "n": one.n}}
        fields = {
            **BASKETS_SPEC,
            "privacy": [promise],
            "suppression": one.suppression,
            "method": advice.method,
            "force": True,
        }
        if one.state == "kept":
            assert kn.anonymize(records, fields).answer.metrics.node_survival == one.node_survival


SETS = {
    "age": [20 + i % 30 for i in range(60)],
    "lent": [";".join(("Dune", "Emma", "Solaris", "Maigret")[i % 4 :][: 1 + i % 2]) for i in range(60)],
}
SETS_SPEC = {
    "attributes": {"age": {"role": "quasi", "hierarchy": {"ranges": [10, 20]}}, "lent": {"role": "set"}},
    "privacy": [{"k": 4}, {"k-mn": {"k": 4, "m": 2, "n": 0}}],
    "method": "optimal",
}


@needs_program
def test_a_column_of_sets_is_released_as_by_the_program(tmp_path):
    source, path, shown = (tmp_path / name for name in ("in.csv", "release.yaml", "out.csv"))
    rows = zip(*SETS.values(), strict=True)
    source.write_text("\n".join(["age,lent", *(",".join(map(str, row)) for row in rows)]) + "\n")
    path.write_text(json.dumps({"kanon": 1, **SETS_SPEC, "input": str(source), "output": str(shown)}))
    frame = pl.DataFrame(SETS)
    release = kn.anonymize(frame, SETS_SPEC)
    expected = program("anonymize", str(path))
    assert without_times(release.answer._content)["items"] == expected["items"]
    table = pl.DataFrame(release)
    with open(shown, newline="") as file:
        written = [tuple(row) for row in csv.reader(file)]
    assert written == [("age", "lent"), *table.rows()]
    assert kn.verify(frame, release).verified
    rows = [(age, "Dune;Emma;Maigret" if i == 0 else lent) for i, (age, lent) in enumerate(table.rows())]
    spoiled = pl.DataFrame(rows, schema=["age", "lent"], orient="row")
    assert not kn.verify(frame, spoiled, SETS_SPEC).verified


@needs_program
def test_evidence_is_the_programs(tmp_path):
    """The page of the package, byte for byte."""
    out, page = tmp_path / "release.csv", tmp_path / "page.html"
    kn.anonymize(people(200, 1), qi={"age": kn.ranges(5, 10)}, sensitive="diagnosis", k=2, suppression=1.0, output=out)
    certificate, private = f"{out}.certificate.json", f"{out}.private.json"

    def programs(*words):
        subprocess.run([KANON, "report", *words, "--output", page], check=True, capture_output=True)
        return page.read_bytes()

    public, owners = kn.report(certificate, kind=["eu", "nist"]), kn.report(certificate, private, spec="release.yaml")
    assert not public.private and public.content == programs(certificate, "--kind", "eu,nist")
    assert owners.private and owners.content == programs(certificate, private, "--spec", "release.yaml")


def test_evidence_of_documents_in_memory():
    data = people(200, 1)
    rel = kn.anonymize(data, qi={"age": kn.ranges(5, 10)}, sensitive="diagnosis", k=2, suppression=1.0)
    other = kn.anonymize(people(90, 2), qi={"age": kn.ranges(5, 10)}, sensitive="diagnosis", k=2, suppression=1.0)
    page = kn.report(rel, rel.private, kn.verify(data, rel), kind="hipaa")
    assert page.private and "<html" in str(page)
    assert kn.report(rel.certificate).content == kn.report(rel).content
    with pytest.raises(kn.InputError, match="another release"):
        kn.report(rel, other.private)
    with pytest.raises(kn.UsageError, match="kind"):
        kn.report(rel, kind="gdpr")
    with pytest.raises(kn.UsageError):
        kn.report(rel, rel.private, rel.private)
