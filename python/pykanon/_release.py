# SPDX-License-Identifier: Apache-2.0
"""Releases: the columns that may be published, and what stands beside them."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from . import _kanon
from ._data import Data, Job
from ._document import Document, framed
from ._errors import InputError, NoRelease, translated

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._spec import Spec

__all__ = ["Page", "Recipe", "Release"]


class Page:
    """An HTML page: shown in a notebook, saved with ``save``."""

    def __init__(self, content: bytes, private: bool) -> None:
        self.content = content
        self.private = private

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page; the owner's (``private``) is readable by you alone."""
        with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600 if self.private else 0o666)) as file:
            file.write(self.content)

    def __str__(self) -> str:
        return self.content.decode()

    def _repr_html_(self) -> str:
        return framed(self.content.decode())


class Recipe:
    """What a method decided. ``apply`` releases other rows by it: without a search, but with every promise checked."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recipe:
        """Reads ``release.csv.recipe.json``, as the program and ``save`` write it."""
        with open(path, "rb") as file:
            return cls(file.read())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the recipe; it is private, and readable by you alone."""
        with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(self.content)

    def to_dict(self) -> dict[str, Any]:
        """The recipe as plain dicts and lists."""
        content: dict[str, Any] = json.loads(self.content)
        return content

    def apply(
        self,
        data: Data,
        *,
        earlier: Release | Data | None = None,
        disjoint: bool = False,
        output: str | os.PathLike[str] | None = None,
        **fields: Any,
    ) -> Release:
        """Releases other rows by this decision; ``suppression`` and the like may be changed, and ``count`` names a column
        that counts equal rows. ``earlier`` is a release by the same recipe: promises are counted on both together too
        (``together``), provided that nobody is in both: ``disjoint=True`` says so."""
        from ._spec import Spec

        job = Job()
        inputs = job.put(data)
        job.put_bytes("memory:recipe.json", self.content)
        changes = Spec(None, **fields)
        asked = {"recipe": "memory:recipe.json", "disjoint": disjoint, "earlier": _earlier(job, earlier)}
        if output is not None:
            place = os.fspath(output)
            answer = Document(job.call("apply", {**changes._arguments(input=inputs, output=place), **asked}))
            return Release.of(job, answer, None, place)
        arguments = changes._arguments(input=inputs, output="memory:out", report="memory:report.html")
        if earlier is None:
            return Release.of(job, Document(job.call("apply", {**arguments, **asked})), None, "memory:out")
        both = changes._arguments(input=inputs, output="memory:both.csv")  # columns cannot be read together with others
        answer = Document(job.call("apply", {**both, **asked}))
        if answer["found"]:
            job.call("apply", {**arguments, "recipe": "memory:recipe.json"})
        return Release.of(job, answer, None, "memory:out")


class _Columns:
    """Batches that outlive the call which made them, without its threads."""

    def __init__(self, job: Job, name: str) -> None:
        try:
            self.context = _kanon.Context(threads=1)
            self.context.put_stream("memory:table", job.context.get_stream(name))
        except _kanon.LibraryError as error:
            raise translated(error) from None

    def stream(self) -> object:
        return self.context.get_stream("memory:table")


class Release:
    """A release that was verified: its rows, and the files beside it as attributes.

    Everything that speaks Arrow reads it: ``pl.DataFrame(rel)``, ``pyarrow.table(rel)``; ``to_polars`` and the like give
    columns the types that they had, where every cell is still of that type. ``certificate`` may be published with it;
    ``answer``, ``private``, ``owner_report`` and ``recipe`` are for the owner of the data.
    """

    def __init__(self, answer: Document, spec: Spec | None) -> None:
        self.answer = answer
        self.spec = spec
        self._files: dict[str, bytes] = {}
        self._tables: dict[str, _Columns] = {}
        self._formats: dict[str, tuple[str, str | None]] = {}
        self._name = "memory:out"
        self._bytes: bytes | None = None  # of a table of a database: its file

    @classmethod
    def of(cls, job: Job, answer: Document, spec: Spec | None, name: str) -> Release:
        """What a call left in its context."""
        if not answer["found"]:
            raise NoRelease(answer.get("reason") or "there is no such release", answer=answer)
        release = cls(answer, spec)
        release._name = name
        release._formats = job.formats
        for stored in job.context.names("memory:"):
            if stored == "memory:out" or (stored.startswith("memory:out/") and stored.endswith(".csv")):
                release._tables[stored] = _Columns(job, stored)
            if stored != "memory:out" and stored.startswith(("memory:out", "memory:report", "memory:public")):
                release._files[stored.removeprefix("memory:")] = job.get_bytes(stored)
        return release

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "answer" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.answer, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.answer})

    def __reduce__(self) -> NoReturn:
        raise TypeError("a release is neither pickled nor copied: pass on its rows (to_polars(), to_csv()) or its answer")

    def __repr__(self) -> str:
        return repr(self.answer)

    def _repr_html_(self) -> str:
        page = self.owner_report
        return page._repr_html_() if page is not None else self.answer._repr_html_()

    # ---- Beside it ----

    def _json(self, ending: str) -> Document | None:
        if not self._name.startswith("memory:"):
            path = self._name + ending
            return Document(_read(path)) if os.path.exists(path) else None
        content = self._files.get(self._name.removeprefix("memory:").rstrip("/") + ending)
        if content is None:
            content = self._files.get(self._name.removeprefix("memory:") + ending.removeprefix("."))
        return None if content is None else Document(content.decode())

    @property
    def certificate(self) -> Document | None:
        """What may be published with the release."""
        return self._json(".certificate.json")

    @property
    def private(self) -> Document | None:
        """Every figure, the seed, digests of the inputs: for the owner."""
        return self._json(".private.json")

    @property
    def owner_report(self) -> Page | None:
        """The page for the owner, before and after."""
        content = self._files.get("report.html")
        return None if content is None else Page(content, private=True)

    @property
    def public_report(self) -> Page | None:
        """The page that may be published; with ``public_report=True``."""
        content = self._files.get("public.html")
        return None if content is None else Page(content, private=False)

    @property
    def recipe(self) -> Recipe | None:
        """What was decided, to be applied to other rows; None: the method or the shape has none."""
        path = self._name + ".recipe.json"
        if not path.startswith("memory:"):
            return Recipe.load(path) if os.path.exists(path) else None
        content = self._files.get(path.removeprefix("memory:"))
        return None if content is None else Recipe(content)

    # ---- The rows ----

    @property
    def tables(self) -> dict[str, Release]:
        """Of a database: its released tables."""
        found = {}
        for stored, columns in self._tables.items():
            if stored != "memory:out":
                one = Release(self.answer, self.spec)
                one._tables = {"memory:out": columns}
                one._bytes = self._files.get(stored.removeprefix("memory:"))
                found[stored.removeprefix("memory:out/").removesuffix(".csv")] = one
        return found

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        if "memory:out" not in self._tables:
            raise InputError("the release is not a table in memory: it is a file (output), several tables (tables) or text")
        return self._tables["memory:out"].stream()

    @property
    def text(self) -> str:
        """Of records: the released file."""
        for name, content in self._files.items():
            if name in ("out.xml", "out.json", "out.jsonl", "out.csv"):
                return content.decode()
        raise InputError("the release is a table; see to_csv")

    def to_arrow(self, *, intervals: str = "text") -> pyarrow.Table:
        """The rows as a pyarrow table. ``intervals="struct"``: columns of intervals are structs of ``lower``, ``upper``
        (null: without an end) and ``closed`` ("both", "left", "right", "neither")."""
        import pyarrow

        from . import _intervals, _types

        asked = _intervals.check(intervals, ("text", "struct"))
        table = _types.arrow(pyarrow.table(self), self._formats)
        return _intervals.arrow(table, self._formats) if asked else table

    def to_polars(self, *, intervals: str = "text") -> polars.DataFrame:
        """The rows as a Polars data frame; ``intervals`` as for ``to_arrow``."""
        import polars

        from . import _intervals, _types

        asked = _intervals.check(intervals, ("text", "struct"))
        frame = _types.polars(polars.DataFrame(self), self._formats)
        return _intervals.polars(frame, self._formats) if asked else frame

    def to_pandas(self, *, intervals: str = "text") -> pandas.DataFrame:
        """The rows as a pandas data frame. ``intervals="interval"``: columns of intervals are pandas' intervals."""
        from . import _intervals, _types

        asked = _intervals.check(intervals, ("text", "interval"))
        frame = _types.pandas(self.to_arrow())
        return _intervals.pandas(frame, self._formats) if asked else frame

    def to_pydict(self) -> dict[str, list[Any]]:
        """The rows as a dict of lists of texts; missing cells are None."""
        rows = list(_csv_rows(self.to_csv()))
        return {name: [row[i] or None for row in rows[1:]] for i, name in enumerate(rows[0])}

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The bytes of the file that the program would write, whose digest the certificate has."""
        content = table_csv(self) if self._bytes is None else self._bytes
        if path is not None:
            with open(path, "wb") as file:
                file.write(content)
        return content


def released(job: Job, release: Release | Data) -> str:
    """Where a release is, placed if it is not a file."""
    if isinstance(release, Release) and "memory:out" not in release._tables:
        if release._tables:
            for name in release._tables:  # their bytes: columns of numbers do not have every spelling
                content = release._files[name.removeprefix("memory:")]
                job.put_bytes(name.replace("memory:out/", "memory:release/"), content)
            return "memory:release/"
        for name, content in release._files.items():
            if name in ("out.xml", "out.json", "out.jsonl"):
                job.put_bytes(f"memory:release{os.path.splitext(name)[1]}", content)
                return f"memory:release{os.path.splitext(name)[1]}"
    if hasattr(release, "__arrow_c_stream__") and not isinstance(release, Release):
        job.put_bytes("memory:release.csv", table_csv(release))  # its cells: a data frame's own notes are not published
        return "memory:release.csv"
    return job.put(release, "release")[0]


def _earlier(job: Job, release: Release | Data | None) -> str | None:
    """Where an earlier release is: a file, or the bytes of one."""
    if release is None or isinstance(release, (str, os.PathLike)):
        return None if release is None else os.fspath(release)
    if isinstance(release, Release) and not release._name.startswith("memory:"):
        return release._name
    if hasattr(release, "__arrow_c_stream__"):
        job.put_bytes("memory:earlier.csv", table_csv(release))
        return "memory:earlier.csv"
    return job.put(release, "earlier")[0]


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _csv_rows(content: bytes) -> Iterator[list[str]]:
    import csv

    return csv.reader(io.StringIO(content.decode(), newline=""))


def table_csv(table: Any) -> bytes:
    """A table as CSV, written by the library."""
    from ._spec import Spec

    job = Job()
    job.put_table("memory:table", table, keep_formats=True)
    cells = Spec(None, types=dict.fromkeys(job.formats, "text"), na=[""])  # as they are spelled
    job.call("csv", {**cells._arguments(), "input": ["memory:table"], "output": "memory:table.csv"})
    return job.get_bytes("memory:table.csv")


def rows_of(table: Any) -> list[list[str]]:
    """The cells of a table as texts."""
    return list(_csv_rows(table_csv(table)))[1:]
