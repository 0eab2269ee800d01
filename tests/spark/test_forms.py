# SPDX-License-Identifier: Apache-2.0
"""The same rows in other forms: files, parts, encodings, widths, types. The release is the same, or the reason is told."""

import os

import data
import pyarrow
import pyarrow.parquet
import pytest

import pykanon as kn
from pykanon import spark as ks

ROWS = 5_000
SPEC = kn.Spec(attributes=data.ROLES, k=5, suppression=0.05, method="optimal")  # with a decimal that is kept


@pytest.fixture(scope="module")
def rows(session):
    return data.people(session, ROWS).drop("name").cache()


@pytest.fixture(scope="module")
def expected(rows):
    return counted(kn.anonymize(rows.toArrow(), SPEC).to_arrow())


def counted(table, names=tuple(data.ROLES)):
    """How often each row occurs, as texts: a skewed key, missing cells, dates and decimals are among them."""
    counts = table.group_by(list(names)).aggregate([([], "count_all")]).to_pylist()
    return sorted(str([str(row[name] if row[name] is not None else "") for name in sorted(row)]) for row in counts)


def released(frame, path):
    release = ks.anonymize(frame, SPEC).write(str(path))
    assert ks.verify(frame, release.path, SPEC).outcome == "holds"
    return counted(release.to_df().toArrow())


def test_many_small_files_in_hive_partitions(session, rows, expected, tmp_path):
    rows.repartition(20).write.partitionBy("sex").parquet(str(tmp_path / "in"))
    frame = session.read.parquet(str(tmp_path / "in"))
    assert len(frame.inputFiles()) == 40
    assert released(frame, tmp_path / "out") == expected


def pieces(rows, count):
    table = rows.toArrow()
    size = -(-table.num_rows // count)
    return [table.slice(i * size, size) for i in range(count)]


def test_other_encodings_of_the_same_values(session, rows, expected, tmp_path):
    """Dictionaries, plain pages, deltas; texts as Arrow's dictionaries; several compressions and versions of the format."""
    ways = [
        {"use_dictionary": True, "compression": "snappy"},
        {"use_dictionary": False, "compression": "zstd", "data_page_version": "2.0"},
        {"use_dictionary": False, "column_encoding": {"zip": "DELTA_BYTE_ARRAY", "age": "DELTA_BINARY_PACKED"}},
        {"use_dictionary": True, "compression": "gzip", "version": "1.0"},
    ]
    (tmp_path / "in").mkdir()
    for i, (piece, way) in enumerate(zip(pieces(rows, len(ways)), ways, strict=True)):
        if i == 3:
            piece = piece.set_column(piece.schema.get_field_index("zip"), "zip", piece["zip"].dictionary_encode())
        pyarrow.parquet.write_table(piece, tmp_path / "in" / f"{i}.parquet", **way)
    assert released(session.read.parquet(str(tmp_path / "in")), tmp_path / "out") == expected


def write_widths(rows, folder):
    """The ages of one part have 32 bits, those of the other 64."""
    folder.mkdir()
    for i, (piece, width) in enumerate(zip(pieces(rows, 2), (pyarrow.int32(), pyarrow.int64()), strict=True)):
        column = piece.schema.get_field_index("age")
        pyarrow.parquet.write_table(piece.set_column(column, "age", piece["age"].cast(width)), folder / f"{i}.parquet")


def test_numbers_of_different_widths(session, rows, expected, tmp_path):
    write_widths(rows, tmp_path / "in")
    wide = session.read.parquet(str(tmp_path / "in" / "1.parquet")).schema
    assert released(session.read.schema(wide).parquet(str(tmp_path / "in")), tmp_path / "out") == expected


def test_widths_that_spark_cannot_read_as_one_are_its_error(session, rows, tmp_path):
    write_widths(rows, tmp_path / "in")
    narrow = session.read.parquet(str(tmp_path / "in" / "0.parquet")).schema
    with pytest.raises(kn.KanonError, match="Spark: "):
        ks.anonymize(session.read.schema(narrow).parquet(str(tmp_path / "in")), SPEC).write(str(tmp_path / "out"))
    assert not os.path.exists(tmp_path / "out")


def test_rows_lie_in_their_order_over_all_parts(session, tmp_path):
    """Equal rows are neighbours, and a part begins where the one before it ends: nothing of the original's layout is left."""
    many = data.people(session, 1_000_000, parts=5).drop("name", "amount")
    roles = {name: role for name, role in data.ROLES.items() if name != "amount"}
    release = ks.anonymize(many, attributes=roles, k=50, suppression=0.05, method="optimal").write(str(tmp_path / "out"))
    parts = sorted(name for name in os.listdir(release.path) if name.startswith("part-"))
    tables = [pyarrow.parquet.read_table(os.path.join(release.path, name)) for name in parts]
    assert [table.num_rows for table in tables] == [983_040, 1_000_000 - 983_040]
    whole = pyarrow.concat_tables(tables)
    texts = pyarrow.compute.binary_join_element_wise(
        *[whole[name].cast(pyarrow.string()) for name in roles], "|", null_handling="replace"
    ).combine_chunks()
    runs = 1 + pyarrow.compute.sum(pyarrow.compute.not_equal(texts[1:], texts[:-1])).as_py()
    assert runs == pyarrow.compute.count_distinct(texts).as_py()


def test_combinations_that_the_driver_has_no_room_for(session, tmp_path):
    """Choices of levels are judged by Spark; the release is that of a search in memory."""
    names = ["age", "diagnosis", "zip"]
    frame = data.people(session, 40_000).select(*names).cache()
    attributes = {name: data.ROLES[name] for name in names}
    spec = kn.Spec(attributes=attributes, k=5, suppression=0.05, method="optimal")
    expected = kn.anonymize(frame.toArrow(), spec)
    kn.options(memory_limit=2_500_000)
    try:
        release = ks.anonymize(frame, spec).write(str(tmp_path / "out"))
    finally:
        kn.options(memory_limit=0)
    assert any("choices of levels are judged there" in note for note in release.notes)
    assert counted(release.to_df().toArrow(), names) == counted(expected.to_arrow(), names)
