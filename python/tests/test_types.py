# SPDX-License-Identifier: Apache-2.0
"""Types in, types out."""

import datetime
import decimal

import polars as pl
import pyarrow as pa

import pykanon as kn

UTC = datetime.timezone.utc  # noqa: UP017


def table() -> pa.Table:
    n = 12
    when = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=UTC)
    return pa.table(
        {
            "qi": pa.array([i // 6 for i in range(n)], pa.int64()),
            "small": pa.array([i % 3 if i % 4 else None for i in range(n)], pa.int8()),
            "real": pa.array([i % 2 + 0.5 for i in range(n)], pa.float64()),
            "money": pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.25")] * 6, pa.decimal128(10, 2)),
            "day": pa.array([datetime.date(2024, 1, 1 + i % 2) for i in range(n)], pa.date32()),
            "when": pa.array([when] * n, pa.timestamp("us", "Europe/Paris")),
            "code": pa.array(["007", "7"] * 6, pa.string()),
            "number": pa.array(["12", "13"] * 6, pa.string()),
            "kind": pa.array(["a", "b"] * 6).dictionary_encode(),
            "yes": pa.array([True, False] * 6, pa.bool_()),
        }
    )


KEPT = ["small", "real", "money", "day", "when", "code", "number", "kind", "yes"]


def release() -> kn.Release:
    return kn.anonymize(table(), qi="qi", keep=KEPT, k=2, types={"code": "text", "number": "text"}, method="optimal")


def test_pyarrow_types_come_back():
    before, after = table().schema, release().to_arrow().schema
    for name in KEPT:
        if name == "kind":
            assert pa.types.is_dictionary(after.field(name).type)
        else:
            assert after.field(name).type == before.field(name).type, name


def test_polars_types_come_back():
    before, after = pl.DataFrame(table()), release().to_polars()
    for name in KEPT:
        assert after[name].dtype.base_type() == before[name].dtype.base_type(), name
    assert after["small"].null_count() == before["small"].null_count()
    assert sorted(after["code"].unique()) == ["007", "7"]


def test_cells_come_back():
    before, after = table(), release().to_arrow()
    for name in KEPT:
        mine, theirs = after.column(name).to_pylist(), before.column(name).to_pylist()
        assert sorted(map(str, mine)) == sorted(map(str, theirs)), name


def test_generalized_cells_are_text():
    frame = pl.DataFrame({"age": [31, 33, 36, 38]})
    out = kn.anonymize(frame, qi={"age": kn.ranges(5)}, k=2).to_polars()
    assert out["age"].to_list() == ["[30, 34]", "[30, 34]", "[35, 39]", "[35, 39]"]


def test_a_column_of_nulls():
    frame = pl.DataFrame({"a": [1, 1], "nothing": [None, None]})
    assert kn.diagnose(frame, ["a", "nothing"]).k == 2
