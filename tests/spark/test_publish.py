# SPDX-License-Identifier: Apache-2.0
"""What stands where after a release, and what is refused: small tables, no cluster of their own."""

import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat

import data
import pyarrow
import pyarrow.parquet
import pytest

import pykanon as kn
from pykanon import spark as ks

ROLES = {name: role for name, role in data.ROLES.items() if name != "amount"}
SPEC = kn.Spec(attributes=ROLES, k=5, suppression=0.05, method="optimal")


@pytest.fixture(scope="module")
def few(session):
    return data.people(session, 20_000).drop("name", "amount").cache()


@pytest.fixture(scope="module")
def published(few, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("published") / "release")
    return ks.anonymize(few, SPEC).write(path)


@pytest.fixture
def copy(published, tmp_path):
    """The release, to be spoiled."""
    path = str(tmp_path / "copy")
    shutil.copytree(published.path, path)
    return path


def parts_of(path):
    """Name and content of each part, in order."""
    return [(os.path.basename(part), pathlib.Path(part).read_bytes()) for part in sorted(glob.glob(f"{path}/part-*.parquet"))]


def digest(content):
    return hashlib.sha256(content).hexdigest()


def seal(path, certified=True):
    """Makes marker and certificate vouch for the parts as they are now, as somebody might who wants to deceive."""
    marker, certificate = pathlib.Path(path, "_SUCCESS"), pathlib.Path(path, "_certificate.json")
    manifest, parts = json.loads(marker.read_text()), parts_of(path)
    manifest["parts"] = [{"name": name, "bytes": len(content), "sha256": digest(content)} for name, content in parts]
    if certified:
        sealed = json.loads(certificate.read_text()) | {"sha256": digest(b"".join(content for _, content in parts))}
        certificate.write_text(json.dumps(sealed))
        manifest["certificate"] = digest(certificate.read_bytes())
    forget_checksums(path)
    marker.write_text(json.dumps(manifest))


def forget_checksums(path):
    for name in glob.glob(f"{path}/.*.crc"):
        os.unlink(name)


def first_part(path):
    return sorted(glob.glob(f"{path}/part-*.parquet"))[0]


def rewrite(path, change):
    """Changes the rows of the first part."""
    part = first_part(path)
    table = change(pyarrow.parquet.read_table(part))
    pyarrow.parquet.write_table(table, part)


def test_what_stands_where(published):
    names = {name for name in os.listdir(published.path) if not name.endswith(".crc")}
    assert {"_SUCCESS", "_certificate.json"} <= names
    assert all(name.startswith("part-") or name in ("_SUCCESS", "_certificate.json") for name in names)
    private = published.path + ".private"
    assert {"private.json", "recipe.json", "report.html"} <= set(os.listdir(private))
    assert "unfinished" not in os.listdir(private)
    assert stat.S_IMODE(os.stat(f"{private}/recipe.json").st_mode) == 0o600
    assert published.certificate["k"] == published.k >= 5
    assert published.to_df().count() == published.rows


def test_the_certificate_has_the_digest_of_the_parts_in_order(few, published, tmp_path):
    everything = digest(b"".join(content for _, content in parts_of(published.path)))
    assert published.certificate["sha256"] == published.private["release_sha256"] == everything
    other = ks.anonymize(few, SPEC).write(str(tmp_path / "other"), digest=False)  # by the executors, and none of all parts
    assert other.certificate["sha256"] == "" and ks.verify(few, other.path, SPEC).outcome == "holds"
    for path in (published.path, other.path):
        listed = json.loads(pathlib.Path(path, "_SUCCESS").read_text())["parts"]
        assert listed == [
            {"name": name, "bytes": len(content), "sha256": digest(content)} for name, content in parts_of(path)
        ]


def test_the_layout_is_the_releases_alone(session, few, published, tmp_path):
    shuffled = few.repartition(7, "zip").sortWithinPartitions("diagnosis")
    again = ks.anonymize(shuffled, SPEC).write(str(tmp_path / "again"))
    tables = [
        [pyarrow.parquet.read_table(part) for part in sorted(glob.glob(f"{path}/part-*.parquet"))]
        for path in (published.path, again.path)
    ]
    assert len(tables[0]) == len(tables[1]) and all(a.equals(b) for a, b in zip(*tables, strict=True))


def test_stages_are_told_in_sparks_pages_and_in_the_log(session, few, published, caplog):
    with caplog.at_level("INFO", "pykanon.spark"):
        ks.diagnose(few, qi="age", k=2)
    assert [record for record in caplog.messages if re.fullmatch(r"kanon: .*group and count: [0-9.]+ s", record)]
    jobs = session.sparkContext._jsc.sc().statusStore().jobsList(None)
    told = {jobs.apply(i).description().toString() for i in range(jobs.size())}
    assert {"Some(kanon: group and count)", "Some(kanon: writing: write)", "Some(kanon: writing: group and count)"} <= told


def test_a_release_verifies(few, published):
    assert ks.verify(few, published.path, SPEC).outcome == "holds"


def test_a_recipe_applies_to_other_rows(session, published, tmp_path):
    other = data.people(session, 30_000, seed=2).drop("name", "amount")
    later = ks.apply(published.recipe, other, suppression=0.2).write(str(tmp_path / "later"))
    assert later.k >= 5 and later.answer["node"] == published.answer["node"]


def test_a_finished_release_is_replaced_only_if_asked(few, copy):
    with pytest.raises(kn.UsageError, match="finished release"):
        ks.anonymize(few, SPEC).write(copy)
    assert ks.verify(few, copy, SPEC).outcome == "holds"


def test_a_folder_of_others_is_left_alone(few, tmp_path):
    (tmp_path / "thesis.txt").write_text("five years of work")
    with pytest.raises(kn.UsageError, match="not begun by kanon"):
        ks.anonymize(few, SPEC).write(str(tmp_path))
    assert (tmp_path / "thesis.txt").exists()


def test_no_release_leaves_nothing(few, tmp_path):
    with pytest.raises(kn.NoRelease):
        ks.anonymize(few, attributes=ROLES, k=30_000, method="optimal").write(str(tmp_path / "none"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("method", ["mondrian", "mondrian-best", "kmsd", "auto"])
def test_methods_without_levels_release_what_they_do_in_memory(session, tmp_path, method):
    rows = data.people(session, 3_000).drop("name").cache()
    spec = kn.Spec(attributes=data.ROLES, k=5, l=2, method=method)  # with a kept column
    release = ks.anonymize(rows, spec).write(str(tmp_path / "release"))
    here = kn.anonymize(rows.toArrow(), spec)
    assert release.k >= 5 and release.classes > 1
    assert (release.k, release.classes, release.method) == (here.k, here.classes, here.method)
    assert texts(release.to_df().toArrow()) == texts(pyarrow.table(here))
    assert ks.verify(rows, release.path, spec).outcome == "holds"


def texts(table):
    """The rows as texts, in an order of their own."""
    columns = [table[name].cast(pyarrow.string()).to_pylist() for name in sorted(table.column_names)]
    return sorted(zip(*[[text or "" for text in column] for column in columns], strict=True))


def test_a_changed_byte_is_noticed(few, copy):
    with open(first_part(copy), "r+b") as file:
        file.seek(40)
        byte = file.read(1)
        file.seek(40)
        file.write(bytes([byte[0] ^ 1]))
    forget_checksums(copy)
    with pytest.raises(kn.InputError, match="0 added, 0 missing, 1 changed"):
        ks.verify(few, copy, SPEC)


def test_a_part_added_or_taken_away_is_noticed(few, copy):
    shutil.copy(first_part(copy), f"{copy}/part-99999-added.snappy.parquet")
    with pytest.raises(kn.InputError, match="1 added, 0 missing, 0 changed"):
        ks.verify(few, copy, SPEC)
    os.unlink(f"{copy}/part-99999-added.snappy.parquet")
    with open(f"{copy}/notes.txt", "w", encoding="utf-8") as file:
        file.write("x")
    with pytest.raises(kn.InputError, match="no part of a release"):
        ks.verify(few, copy, SPEC)


def test_a_release_without_its_marker_is_none(few, copy):
    os.unlink(f"{copy}/_SUCCESS")
    with pytest.raises(kn.InputError, match="marker"):
        ks.verify(few, copy, SPEC)


SPOILED = {
    "rows twice": lambda t: pyarrow.concat_tables([t, t.slice(0, 7)]),
    "a row less": lambda t: t.slice(1),
    "a sensitive cell changed": lambda t: t.set_column(
        t.schema.get_field_index("diagnosis"), "diagnosis", pyarrow.array(["cured", *t["diagnosis"].to_pylist()[1:]])
    ),
    "a quasi-identifier changed": lambda t: t.set_column(
        t.schema.get_field_index("sex"), "sex", pyarrow.array(["nobody", *t["sex"].to_pylist()[1:]])
    ),
}


@pytest.mark.parametrize("how", SPOILED)
def test_spoiled_parts_are_rejected_although_marker_and_certificate_vouch_for_them(few, copy, how):
    rewrite(copy, SPOILED[how])
    seal(copy)
    assert ks.verify(few, copy, SPEC).outcome == "does not hold"


def test_a_sealed_copy_that_is_not_spoiled_verifies(few, copy):
    """So it is the rows that the ones above are rejected for."""
    rewrite(copy, lambda table: table)
    seal(copy)
    assert ks.verify(few, copy, SPEC).outcome == "holds"


def test_a_certificate_of_other_parts_is_noticed(few, copy):
    rewrite(copy, lambda table: table)
    seal(copy, certified=False)
    with pytest.raises(kn.InputError, match="the certificate is one of other parts"):
        ks.verify(few, copy, SPEC)


def test_a_certificate_that_was_not_published_is_noticed(few, copy):
    certificate = pathlib.Path(copy, "_certificate.json")
    certificate.write_text(certificate.read_text().replace('"k": 5', '"k": 50'))
    forget_checksums(copy)
    with pytest.raises(kn.InputError, match="the certificate is not the one that was published"):
        ks.verify(few, copy, SPEC)
