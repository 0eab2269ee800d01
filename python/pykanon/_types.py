# SPDX-License-Identifier: Apache-2.0
"""Types of released columns: what a column was, where every cell of it still is.

A release comes out of the library as texts (dictionaries), int64, double and date32 (docs/arrow.md); which of these
depends on the released cells alone. Here a column gets its former type back if that changes no cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Formats = dict[str, tuple[str, str | None]]

_INTEGERS = {"c": "int8", "C": "uint8", "s": "int16", "S": "uint16", "i": "int32", "I": "uint32", "l": "int64", "L": "uint64"}
_INSTANT = r"^\d{4}-\d\d-\d\dT"
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}


def _arrow_type(name: str) -> Any:
    """The type of a format of the C data interface; None: the column stays as it is."""
    import pyarrow as pa

    if name in _INTEGERS:
        return getattr(pa, _INTEGERS[name])()
    plain: dict[str, Any] = {
        "b": pa.bool_(),
        "f": pa.float32(),
        "g": pa.float64(),
        "u": pa.string(),
        "U": pa.large_string(),
        "vu": pa.string_view(),
        "tdD": pa.date32(),
        "tdm": pa.date64(),
    }
    if name in plain:
        return plain[name]
    if name.startswith("d:"):
        parts = [int(part) for part in name[2:].split(",")]
        return pa.decimal128(parts[0], parts[1]) if len(parts) == 2 else None
    if name.startswith("ts") and name[2:3] in _UNITS:
        return pa.timestamp(_UNITS[name[2]], name[4:] or None)
    return None


def _cast(column: Any, kind: str, values: str | None) -> Any:
    import pyarrow as pa

    if values is not None:  # categories stay a dictionary
        return column if pa.types.is_dictionary(column.type) else column.cast(pa.string()).dictionary_encode()
    wanted = _arrow_type(kind)
    if wanted is None or column.type == wanted:
        return column
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        made = column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column
    return made


def arrow(table: pa.Table, formats: Formats) -> pa.Table:
    """The table with the types that its columns had."""
    for i, name in enumerate(table.column_names):
        if name in formats:
            table = table.set_column(i, name, _cast(table.column(i), *formats[name]))
    return table


def pandas(table: pa.Table) -> pd.DataFrame:
    """A pandas data frame; integers with missing cells are pandas' nullable ones, not floats."""
    import pandas as pd
    import pyarrow as pa

    frame = table.to_pandas()
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_integer(column.type) and column.null_count:
            kind = str(column.type)
            frame[name] = pd.array(
                column.to_pylist(), dtype=kind.replace("uint", "UInt") if kind[0] == "u" else kind.replace("int", "Int")
            )
    return frame


def polars(frame: pl.DataFrame, formats: Formats) -> pl.DataFrame:
    """The same for Polars."""
    import polars as pl

    integers = {"c": pl.Int8, "C": pl.UInt8, "s": pl.Int16, "S": pl.UInt16, "i": pl.Int32, "I": pl.UInt32, "L": pl.UInt64}
    for name, (kind, values) in formats.items():
        if name not in frame.columns:
            continue
        column = frame[name]
        wanted: Any = None
        if values is not None:
            wanted = pl.Categorical
            column = column.cast(pl.String)
        elif kind in ("u", "U", "vu"):
            wanted = pl.String
        elif column.dtype == pl.Int64 and kind in integers:
            wanted = integers[kind]
        elif column.dtype in (pl.Int64, pl.Float64) and kind in ("f", "g"):
            wanted = pl.Float32 if kind == "f" else pl.Float64
        elif kind.startswith("d:"):
            precision, scale = (int(part) for part in kind[2:].split(",")[:2])
            column, wanted = column.cast(pl.String), pl.Decimal(precision, scale)
        elif isinstance(column.dtype, pl.Categorical):
            column, wanted = _times(column.cast(pl.String), kind)
        if wanted is not None:
            frame = frame.with_columns(column.cast(wanted, strict=False).alias(name)) if _same(column, wanted) else frame
        elif column.dtype == pl.String:
            frame = frame.with_columns(column.alias(name))
    return frame


def _times(column: pl.Series, kind: str) -> tuple[pl.Series, Any]:
    """Texts that are still booleans or times of the former type; else they stay texts."""
    import polars as pl

    if kind == "b" and set(column.drop_nulls().unique()) <= {"true", "false"}:
        return column == "true", pl.Boolean
    if kind.startswith("ts") and kind[2:3] in ("m", "u", "n") and column.str.contains(_INSTANT).all():
        unit: Any = _UNITS[kind[2]]
        zone = kind[4:] or None
        parsed = column.str.to_datetime(time_unit=unit, time_zone="UTC" if zone else None, strict=False)
        if parsed.null_count() == column.null_count():
            return (parsed.dt.convert_time_zone(zone) if zone else parsed), pl.Datetime(unit, zone)
    return column, None


def _same(column: pl.Series, wanted: Any) -> bool:
    """Would the cast lose a cell?"""
    return column.cast(wanted, strict=False).null_count() == column.null_count()
