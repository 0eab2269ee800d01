# SPDX-License-Identifier: Apache-2.0
"""Intervals of released columns as values: ends that can be computed with. docs/hierarchies.md has the notation."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ._errors import UsageError
from ._types import Formats

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_INTERVAL = re.compile(r"^([\[(])(.+?), (.+)([\])])$")
_NAME = re.compile(r"(\d{4})(?:-M(\d\d)|-Q([1-4]))?")
_CLOSED = {"[]": "both", "[)": "left", "(]": "right", "()": "neither"}
_DAY = datetime.timedelta(days=1)

End = int | float | datetime.date | datetime.datetime


class Interval(NamedTuple):
    """From ``lower`` to ``upper``; None: without an end on that side. ``closed`` says which ends belong to it."""

    lower: End | None
    upper: End | None
    closed: str


ANY = Interval(None, None, "neither")  # a suppressed cell


def check(asked: str, known: Sequence[str]) -> bool:
    """Is another form than text asked for?"""
    if asked not in known:
        raise UsageError(f"intervals: there is no form {asked!r}; there are {' and '.join(repr(one) for one in known)}")
    return asked != "text"


# ---- Reading ----


def _number(text: str) -> End:
    text = text.replace(",", ".", 1)
    try:
        return int(text)
    except ValueError:
        return float(text)


def _date(text: str) -> End:
    return datetime.date.fromisoformat(text)


def _time(text: str) -> End:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=None)  # instants are in UTC


def _named(text: str, read: Callable[[str], End]) -> Interval | None:
    """A month, a quarter or a year."""
    found = _NAME.fullmatch(text)
    if found is None or read is _number:
        return None
    year, month, quarter = (int(part) if part else 0 for part in found.groups())
    first = month or (3 * quarter - 2 if quarter else 1)
    last = month or (3 * quarter if quarter else 12)
    lower, upper = datetime.date(year, first, 1), datetime.date(year, last, calendar.monthrange(year, last)[1])
    if read is _date:
        return Interval(lower, upper, "both")
    midnight = datetime.time()
    return Interval(datetime.datetime.combine(lower, midnight), datetime.datetime.combine(upper + _DAY, midnight), "left")


def _one(text: str, read: Callable[[str], End]) -> Interval:
    if text == "*":
        return ANY
    found = _INTERVAL.fullmatch(text)
    if found is None:
        return _named(text, read) or Interval(read(text), read(text), "both")
    left, lower, upper, right = found.groups()
    return Interval(None if lower == "-inf" else read(lower), None if upper == "inf" else read(upper), _CLOSED[left + right])


def parsed(labels: Sequence[str], kind: str = "") -> list[Interval] | None:
    """The intervals that labels stand for, a value being an interval of its own; None: they are none, or not all of them.
    ``kind`` is the Arrow format that the column had, if it is known."""
    dated = _dated(kind) or any(_NAME.fullmatch(one) and not one.isdigit() for one in labels)
    if not any(_INTERVAL.fullmatch(one) or (dated and _NAME.fullmatch(one)) for one in labels):
        return None
    for read in (_time,) if kind.startswith("ts") else (_date, _time) if dated else (_number, _date, _time):
        try:
            found = [_one(one, read) for one in labels]
        except ValueError:
            continue
        return _floats(found) if kind[:1] in ("e", "f", "g", "d") else _of_one_type(found)
    return None


def _of_one_type(found: list[Interval]) -> list[Interval]:
    """Whole numbers among others are floats too."""
    return _floats(found) if any(isinstance(end, float) for one in found for end in one[:2]) else found


def _floats(found: list[Interval]) -> list[Interval]:
    return [Interval(_float(one.lower), _float(one.upper), one.closed) for one in found]


def _float(end: End | None) -> End | None:
    return float(end) if isinstance(end, int) else end


# ---- As columns ----


def _kind(formats: Formats, name: str) -> str:
    kind, values = formats.get(name, ("", None))
    return values or kind


def _dated(kind: str) -> bool:
    return kind.startswith(("td", "ts"))


def arrow(table: pa.Table, formats: Formats) -> pa.Table:
    """Columns of intervals become structs of ``lower``, ``upper`` and ``closed``."""
    import pyarrow as pa

    for i, name in enumerate(table.column_names):
        column = table.column(i)
        if pa.types.is_integer(column.type) and _dated(_kind(formats, name)):  # years
            column = column.cast(pa.string())
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = column.dictionary_encode()
        if not pa.types.is_dictionary(column.type):
            continue
        whole = column.unify_dictionaries().combine_chunks()
        whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
        found = parsed([str(one) for one in whole.dictionary.to_pylist()], _kind(formats, name))
        if found is not None:
            entries = pa.array([one._asdict() for one in found])
            table = table.set_column(i, name, entries.take(whole.indices))
    return table


def polars(frame: pl.DataFrame, formats: Formats) -> pl.DataFrame:
    """The same for Polars."""
    import polars as pl

    for name in frame.columns:
        years = frame[name].dtype == pl.Int64 and _dated(_kind(formats, name))
        if frame[name].dtype not in (pl.String, pl.Categorical, pl.Enum) and not years:
            continue
        column = frame.select(pl.col(name).cast(pl.String).alias("label"))
        labels = column["label"].drop_nulls().unique(maintain_order=True).to_list()
        found = parsed(labels, _kind(formats, name))
        if found is not None:
            entries = pl.DataFrame({"label": labels, name: [one._asdict() for one in found]})
            frame = frame.with_columns(column.join(entries, on="label", how="left", maintain_order="left")[name])
    return frame


def pandas(frame: pd.DataFrame, formats: Formats) -> pd.DataFrame:
    """Columns of intervals become pandas' intervals: of one dtype if all are closed on the same sides, else objects."""
    import pandas as pd

    for name in frame.columns:
        years = pd.api.types.is_integer_dtype(frame[name].dtype) and _dated(_kind(formats, name))
        codes, labels = pd.factorize(frame[name].astype(str) if years else frame[name])
        if len(labels) == 0 or not all(isinstance(one, str) for one in labels):
            continue
        found = parsed(list(labels), _kind(formats, name))
        if found is None:
            continue
        closed = _common(found)
        made = [_pandas_interval(one, closed or one.closed, found) for one in found]
        entries = pd.array(made) if closed else pd.Series(made, dtype=object).array
        frame[name] = entries.take(codes, allow_fill=True)
    return frame


def _common(found: Sequence[Interval]) -> str | None:
    """How all of them can be said to be closed, since a side without an end may be either; None: in several ways."""
    for closed in ("both", "left", "right", "neither"):
        if all(
            (one.lower is None or (one.closed in ("both", "left")) == (closed in ("both", "left")))
            and (one.upper is None or (one.closed in ("both", "right")) == (closed in ("both", "right")))
            for one in found
        ):
            return closed
    return None


def _pandas_interval(one: Interval, closed: Any, found: Sequence[Interval]) -> Any:
    """Where dates and times have no end, it is the first or the last of the years 1 to 9999."""
    import pandas as pd

    numbers = all(isinstance(end, (int, float, type(None))) for each in found for end in each[:2])
    least: Any = float("-inf") if numbers else datetime.datetime.min
    most: Any = float("inf") if numbers else datetime.datetime.max
    ends: list[Any] = [least if one.lower is None else one.lower, most if one.upper is None else one.upper]
    left, right = ends if numbers else [cast("Any", pd.Timestamp(end).as_unit("us")) for end in ends]
    return pd.Interval(left, right, closed)
