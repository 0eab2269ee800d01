# SPDX-License-Identifier: Apache-2.0
"""Data on their way in: whatever speaks Arrow, dicts of lists, databases as dicts of tables, records, files."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard, cast, runtime_checkable

from . import _kanon
from ._errors import InputError, UsageError, translated
from ._progress import callback

__all__ = ["ArrowStream", "Records", "options"]


@runtime_checkable
class ArrowStream(Protocol):
    """What pandas, Polars, pyarrow, DuckDB and nanoarrow give their tables."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class Records:
    """Records that are trees, as text: ``Records(text, "xml")``, ``"json"`` or ``"jsonl"``."""

    def __init__(self, text: str | bytes, form: str = "jsonl") -> None:
        if form not in ("xml", "json", "jsonl"):
            raise UsageError("Records: form is 'xml', 'json' or 'jsonl'")
        self.content = text if isinstance(text, bytes) else text.encode()
        self.form = form


Columns: TypeAlias = Mapping[str, Sequence[Any]]
Data: TypeAlias = (
    ArrowStream
    | Columns
    | Mapping[str, ArrowStream]
    | Mapping[str, Columns]
    | Records
    | Sequence[Mapping[str, Any]]
    | str
    | os.PathLike[str]
    | Sequence[str]
)


class _Options:
    """Threads, memory and progress of the calls that follow."""

    def __init__(self) -> None:
        self.threads = 0
        self.memory_limit = 0
        self.progress: bool | Callable[[str, str, int, int, float, bool], object] | None = None


_OPTIONS = _Options()


def _check_option(name: str, value: object) -> None:
    """Types are only hints to whoever calls."""
    if value is None:
        return
    if name == "progress":
        if not callable(value) and not isinstance(value, bool):
            raise UsageError(f"progress: True, False or a function is expected, not {type(value).__name__}")
    elif not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UsageError(f"{name}: a whole number is expected, 0 or more, not {value!r}")


def options(
    *,
    threads: int | None = None,
    memory_limit: int | None = None,
    progress: bool | Callable[[str, str, int, int, float, bool], object] | None = None,
) -> None:
    """Sets what the following calls use: ``threads`` (0: all processors), ``memory_limit`` in bytes (0: none), and
    ``progress``: True or False, or a function of (stage, unit, done, total, seconds, finished). Without it a bar is
    drawn on a terminal and in a notebook.

    >>> import pykanon as kn
    >>> kn.options(threads=2)
    >>> kn.options(threads=0)
    """
    for name, value in (("threads", threads), ("memory_limit", memory_limit), ("progress", progress)):
        _check_option(name, value)
    if threads is not None:
        _OPTIONS.threads = threads
    if memory_limit is not None:
        _OPTIONS.memory_limit = memory_limit
    if progress is not None:
        _OPTIONS.progress = progress


def _is_missing(value: Any) -> bool:
    """None, NaN, and what pandas has for them: NA, NaT."""
    if isinstance(value, (float, decimal.Decimal)):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _text(value: Any) -> str:
    """A cell as a CSV file has it."""
    if _is_missing(value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


# Whole numbers of NumPy are Integral.
_PLAIN = (bool, numbers.Integral, float, str, decimal.Decimal, datetime.datetime, datetime.date, datetime.time)


def _check_column(name: str, column: Sequence[Any]) -> None:
    kinds = {type(value) for value in column if not _is_missing(value)}
    kinds = {int if kind is not bool and issubclass(kind, numbers.Integral) else kind for kind in kinds}
    for kind in kinds:
        if not issubclass(kind, _PLAIN):
            raise InputError(f'column "{name}": cells of type {kind.__name__} cannot be read; numbers, texts and dates can')
    if len(kinds) > 1 and kinds != {int, float}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(f'column "{name}": its cells are of several types ({names}); make them one, or leave it out')


def columns_csv(columns: Mapping[str, Any]) -> bytes:
    """A dict of lists as the CSV file with the same cells."""
    lists: dict[str, list[Any]] = {}
    for name, column in columns.items():
        if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
            raise UsageError(f'column "{name}": a list of cells is expected')
        lists[str(name)] = list(column)
        _check_column(str(name), lists[str(name)])
    lengths = {len(column) for column in lists.values()}
    if not lists:
        raise InputError("the table has no columns")
    if len(lengths) > 1:
        raise InputError("the columns are not equally long")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(lists)
    single = len(lists) == 1
    for row in zip(*lists.values(), strict=True):
        cells = [_text(value) for value in row]
        if single and cells == [""]:
            out.write('""\n')
        else:
            writer.writerow(cells)
    return out.getvalue().encode()


def _is_columns(data: Mapping[str, Any]) -> bool:
    return not any(hasattr(value, "__arrow_c_stream__") or isinstance(value, Mapping) for value in data.values())


def _is_column_object(value: Any) -> bool:
    """A column of its own (a Polars or pandas series, a pyarrow array), not a table."""
    return hasattr(value, "tolist") or hasattr(value, "to_pylist") or hasattr(value, "to_list")


class Job:
    """One call: a context with the data that it reads."""

    def __init__(self) -> None:
        try:
            self.context = _kanon.Context(threads=_OPTIONS.threads, memory_limit=_OPTIONS.memory_limit)
        except _kanon.LibraryError as error:
            raise translated(error) from None
        self.formats: dict[str, tuple[str, str | None]] = {}
        self._once = False  # the table can be read only once

    def check_rows(self, rows: int) -> None:
        """A stream that was read before has no rows left, and does not say so."""
        if rows == 0 and self._once:
            raise InputError("the stream has no rows; it may have been consumed before: give a table, or a new stream")

    def call(self, command: str, arguments: dict[str, Any]) -> Any:
        shown = callback(_OPTIONS.progress)
        try:
            return self.context.call(command, arguments, shown)
        except _kanon.LibraryError as error:
            raise translated(error) from None
        finally:
            if shown is not None:
                shown.close()

    def names(self, command: str, arguments: dict[str, Any]) -> list[str]:
        """Of a command that answers with names."""
        made = self.call(command, arguments)
        return made.decode().split("\0")[:-1] if made else []

    def put_bytes(self, name: str, content: bytes) -> None:
        try:
            self.context.put_bytes(name, content)
        except _kanon.LibraryError as error:
            raise translated(error) from None

    def get_bytes(self, name: str) -> bytes:
        try:
            return self.context.get_bytes(name)
        except _kanon.LibraryError as error:
            raise translated(error) from None

    def put_table(self, name: str, table: Any, keep_formats: bool = False) -> None:
        """Places a table: an Arrow stream, or a dict of lists."""
        if not hasattr(table, "__arrow_c_stream__"):
            if isinstance(table, Mapping):
                self.put_bytes(name, columns_csv(table))
                return
            raise UsageError(f"a table is expected, not {type(table).__name__}: a data frame, a dict of lists or a path")
        try:
            capsule = _exported(table)
            if keep_formats:
                self.formats = {column: (kind, values) for column, kind, values in _kanon.stream_columns(capsule)}
            self.context.put_stream(name, capsule)
        except _kanon.LibraryError as error:
            raise translated(error) from None
        except (ValueError, TypeError, OSError) as error:  # its words may hold values of the data
            _check_objects(table)
            raise InputError(f"the table cannot be passed on through Arrow ({type(error).__name__})") from None
        self._once = self._once or hasattr(table, "read_next_batch")

    def put(self, data: Data, name: str = "data", records: bool = False) -> list[str]:
        """Places data of any shape; returns the names that the library knows them by. A list of dicts is a table, unless
        one has lists or dicts in it, or ``records`` are asked for."""
        if isinstance(data, (str, os.PathLike)):
            return [os.fspath(data)]
        if hasattr(data, "__arrow_c_stream__"):
            self.put_table(f"memory:{name}", data, keep_formats=name == "data")
            return [f"memory:{name}"]
        if isinstance(data, Records):
            self.put_bytes(f"memory:{name}.{data.form}", data.content)
            return [f"memory:{name}.{data.form}"]
        if isinstance(data, Mapping):
            return [self._put_mapping(data, name)]
        if isinstance(data, Sequence) and data and all(isinstance(one, (str, os.PathLike)) for one in data):
            return [os.fspath(cast("str", one)) for one in data]
        if is_rows(data):
            if not records and all(_is_flat(one) for one in data):
                return self.put(_columns_of(data), name)
            lines = "".join(json.dumps(one, default=_text, ensure_ascii=False) + "\n" for one in data)
            self.put_bytes(f"memory:{name}.jsonl", lines.encode())
            return [f"memory:{name}.jsonl"]
        raise UsageError(
            f"data of type {type(data).__name__} cannot be read: give a data frame, a dict of lists, a dict of tables, "
            "a list of records or a path"
        )

    def _put_mapping(self, data: Mapping[str, Any], name: str) -> str:
        if _is_columns(data) or (data and all(_is_column_object(one) and not _is_table(one) for one in data.values())):
            self.put_bytes(f"memory:{name}.csv", columns_csv({key: _as_list(one) for key, one in data.items()}))
            return f"memory:{name}.csv"
        for table, content in data.items():
            self.put_table(f"memory:{name}/{table}.csv", content)
        return f"memory:{name}/"


def _exported(table: Any) -> object:
    """The stream of a table. Polars first copies a data frame of several chunks into one; a column of structs, which is the
    same stream, it exports chunk by chunk. pandas hands on an index without a name, the numbers of the rows that were
    chosen, as one more column: it is left out."""
    if _is_of(table, "pandas", "DataFrame") and type(table.index).__name__ != "RangeIndex":
        unnamed = [level for level, name in enumerate(table.index.names) if name is None]
        table = table.reset_index(level=unnamed, drop=True) if unnamed else table
    if _is_of(table, "polars", "DataFrame") and table.n_chunks() > 1:
        table = table.to_struct()
    return table.__arrow_c_stream__()


def _is_of(value: Any, package: str, name: str) -> bool:
    """Is it of this class of a package, which need not be installed?"""
    kind = type(value)
    return kind.__name__ == name and kind.__module__.split(".")[0].lstrip("_") == package


COUNTS = "(rows)"  # the column of how many rows each stands for
_LOOK, _WORTH = 100_000, 0.6  # so many rows are looked at; at most such a share of them may differ


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def is_relation(data: Any) -> bool:
    """Is it a relation of DuckDB?"""
    return _is_of(data, "duckdb", "DuckDBPyRelation")


def grouped(data: Any, columns: Sequence[str]) -> Any:
    """A relation of DuckDB as the rows that differ in these columns, each with its number, counted by DuckDB; its other
    columns are null. None: it is something else, or rows seldom repeat."""
    if not is_relation(data) or not columns:
        return None
    there = list(data.columns)
    if not set(columns) <= set(there) or len({name.lower() for name in (*there, COUNTS)}) <= len(there):
        return None  # the library says what is wrong
    names = ", ".join(_quoted(name) for name in dict.fromkeys(columns))
    first = data.limit(_LOOK)
    if first.aggregate(names).shape[0] > _WORTH * first.shape[0]:
        return None
    nulls = "".join(f", NULL::VARCHAR AS {_quoted(name)}" for name in there if name not in columns)
    return data.aggregate(f"{names}, count(*) AS {_quoted(COUNTS)}").project(f"*{nulls}")


def is_rows(data: Any) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    """Is it a list of dicts?"""
    return isinstance(data, Sequence) and len(data) > 0 and all(isinstance(one, Mapping) for one in data)


def _is_flat(row: Mapping[str, Any]) -> bool:
    return all(_is_missing(value) or isinstance(value, _PLAIN) for value in row.values())


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(str(name) for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "column_names")


def _as_list(value: Any) -> Any:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()
    return value


def _check_objects(table: Any) -> None:
    """Of a pandas data frame: which name stands twice, which column has cells of several types?"""
    if hasattr(table, "dtypes") and hasattr(table, "items"):
        names: set[str] = set()
        for name in map(str, table.columns):
            if name in names:
                raise InputError(f'two columns are called "{name}"; rename one')
            names.add(name)
        for name, column in table.items():
            cells = column.tolist() if str(column.dtype) == "object" else []
            if not any(isinstance(value, (list, tuple, dict)) or hasattr(value, "tolist") for value in cells):
                _check_column(str(name), cells)
