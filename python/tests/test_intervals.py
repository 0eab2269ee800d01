# SPDX-License-Identifier: Apache-2.0
"""Intervals as values: each contains the value that it stands for, in every form."""

import datetime

import polars as pl
import pyarrow as pa
import pytest
from conftest import installed

import pykanon as kn

DAY = datetime.date(2004, 1, 5)
NOON = datetime.datetime(2004, 1, 5, 12)
COLUMNS = {
    "whole": [i * 7 % 41 - 5 for i in range(60)],
    "real": [i * 3 % 29 - 4 + i % 4 / 4 for i in range(60)],
    "day": [DAY + datetime.timedelta(i * 111 % 9000) for i in range(60)],
    "time": [NOON + datetime.timedelta(hours=i * 1370 % 200_000) for i in range(60)],
}
RULES = {
    "whole": [None, kn.ranges(1, 5, 10), kn.breaks([0, 1, 12, 30], [12])],
    "real": [None, kn.ranges("0.5", "2.5"), kn.breaks([0, "7.25", 20], ["7.25"])],
    "day": [None, kn.calendar("month", "quarter", "decade"), kn.breaks(["2012-03-01", "2020-01-01"])],
    "time": [None, kn.calendar("quarter", "decade"), kn.breaks(["2012-03-01", "2020-01-01"])],
}
CASES = [(name, number, method) for name in COLUMNS for number in range(3) for method in ("optimal", "mondrian")]


def release(name: str, number: int, method: str) -> kn.Release:
    """A column beside itself: what is shown, and what it was."""
    frame = pl.DataFrame({name: COLUMNS[name], "was": COLUMNS[name]})
    more = {"suppression": 0.1} if method == "optimal" else {}
    return kn.anonymize(frame, qi={name: RULES[name][number]}, keep="was", k=3, method=method, force=True, **more)


def contains(interval: dict, value: object) -> bool:
    lower, upper, closed = interval["lower"], interval["upper"], interval["closed"]
    above = lower is None or lower < value or (lower == value and closed in ("both", "left"))
    return above and (upper is None or value < upper or (upper == value and closed in ("both", "right")))


@pytest.mark.parametrize(("name", "number", "method"), CASES)
def test_each_interval_contains_its_value(name, number, method):
    rel = release(name, number, method)
    plain, structs, table = rel.to_polars(), rel.to_polars(intervals="struct"), rel.to_arrow(intervals="struct")
    assert isinstance(structs[name].dtype, pl.Struct) and pa.types.is_struct(table.schema.field(name).type)
    assert structs[name].to_list() == table[name].to_pylist()
    shown = [(one, was) for one, was in zip(structs[name], structs["was"], strict=True) if was is not None and was != "*"]
    assert len(shown) >= 54
    for interval, was in shown:
        value = type(COLUMNS[name][0]).fromisoformat(was) if isinstance(was, str) and name in ("day", "time") else was
        assert contains(interval, float(value) if name in ("whole", "real") else value), (interval, value)
    stars = [one for one, text in zip(structs[name], plain[name], strict=True) if text == "*"]
    assert all(one == {"lower": None, "upper": None, "closed": "neither"} for one in stars)


@pytest.mark.skipif(not installed("pandas"), reason="pandas is not here")
@pytest.mark.parametrize(("name", "number", "method"), CASES)
def test_pandas_intervals(name, number, method):
    import pandas

    rel = release(name, number, method)
    column, structs = rel.to_pandas(intervals="interval")[name], rel.to_arrow(intervals="struct")[name].to_pylist()
    assert all(isinstance(one, pandas.Interval) for one in column)
    for one, struct in zip(column, structs, strict=True):
        for end, given in ((one.left, struct["lower"]), (one.right, struct["upper"])):
            assert given is None or end == (given if name in ("whole", "real") else pandas.Timestamp(given))
        assert struct["lower"] is None or one.closed_left == (struct["closed"] in ("both", "left"))
        assert struct["upper"] is None or one.closed_right == (struct["closed"] in ("both", "right"))
    if number == 2:
        assert str(column.dtype).startswith("interval[")


def test_missing_cells_stay_missing():
    rel = kn.anonymize(pl.DataFrame({"age": [31, 33, None, None]}), qi={"age": kn.ranges(5)}, k=2, method="optimal")
    assert rel.to_polars(intervals="struct")["age"].to_list()[:2] == [None, None]
    assert rel.to_arrow(intervals="struct")["age"].to_pylist()[2] == {"lower": 30, "upper": 34, "closed": "both"}
    if installed("pandas"):
        assert rel.to_pandas(intervals="interval")["age"].isna().tolist() == [True, True, False, False]


def test_other_texts_stay_texts():
    frame = pl.DataFrame({"zip": ["2001", "2002", "8000", "8001"], "sex": ["f", "f", "m", "m"]})
    rel = kn.anonymize(frame, qi={"zip": kn.mask("right"), "sex": None}, k=2, types={"zip": "text"}, method="optimal")
    assert rel.to_polars(intervals="struct").equals(rel.to_polars())
    assert rel.to_arrow(intervals="struct").equals(rel.to_arrow())
    kept = kn.anonymize(frame, qi="sex", keep="zip", k=2, types={"zip": "text"}, method="optimal")
    assert kept.to_polars(intervals="struct")["zip"].dtype == pl.String


def test_a_form_that_is_not_there():
    rel = kn.anonymize({"age": [31, 33]}, qi={"age": kn.ranges(5)}, k=2, force=True)
    for made in (rel.to_arrow, rel.to_polars, rel.to_pandas):
        with pytest.raises(kn.UsageError, match="intervals"):
            made(intervals="tuple")
