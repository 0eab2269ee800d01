# SPDX-License-Identifier: Apache-2.0
"""Answers: the library's documents as Python objects."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, cast

from . import _kanon
from ._errors import translated

__all__ = ["Document", "schema"]


_SHOWN = 8
_FIRST = ("holds", "outcome", "verified", "found", "nothing_left", "k", "requested")


def schema(answer: str) -> dict[str, Any]:
    """The JSON Schema of an answer: its fields, each with a sentence.

    >>> import pykanon as kn
    >>> kn.schema("diagnose")["properties"]["k"]["description"]
    'rows, or persons, of the smallest class; 0: no row is left'
    """
    try:
        text = _kanon.Context(threads=1).call("schema", {"answer": answer})
    except _kanon.LibraryError as error:
        raise translated(error) from None
    return cast("dict[str, Any]", json.loads(text))


@cache
def _descriptions(answer: str) -> Mapping[str, str]:
    properties = schema(answer).get("properties", {})
    return {key: value.get("description", "") for key, value in properties.items()}


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Part(value)
    if isinstance(value, list):
        return [_wrapped(one) for one in value]
    return value


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return _rows(value, {})
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        keys = list(dict.fromkeys(key for one in value for key in one))
        head = "".join(f"<th>{html.escape(str(key))}</th>" for key in keys)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(one[key]) if key in one else ''}</td>" for key in keys) + "</tr>"
            for one in value[:50]
        )
        more = f"<p>… {len(value) - 50} more</p>" if len(value) > 50 else ""
        return f"<table><tr>{head}</tr>{body}</table>{more}"
    if isinstance(value, list):
        return html.escape(", ".join(str(one) for one in value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else html.escape(f"{value:g}" if isinstance(value, float) else str(value))


def _rows(content: Mapping[str, Any], words: Mapping[str, str]) -> str:
    rows = "".join(
        f'<tr title="{html.escape(words.get(key, ""))}"><th style="text-align:left">{html.escape(str(key))}</th>'
        f'<td style="text-align:left">{_cell(value)}</td></tr>'
        for key, value in content.items()
    )
    return f"<table>{rows}</table>"


def framed(page: str) -> str:
    """A whole page inside a notebook's; it runs no script."""
    shown = html.escape(page, quote=True)
    return f'<iframe srcdoc="{shown}" style="width:100%;height:640px;border:0" sandbox></iframe>'


class Part(Mapping[str, Any]):
    """A part of an answer: its fields are attributes and keys."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = dict(content)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return _wrapped(self._content[name])
        except KeyError:
            raise AttributeError(f"the answer has no field {name!r}; it has {', '.join(self._content)}") from None

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._content[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._content})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._content!r})"

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain dicts and lists."""
        return cast("dict[str, Any]", json.loads(json.dumps(self._content)))

    def _repr_html_(self) -> str:
        return _rows(self._content, {})


class Document(Part):
    """An answer of the library: what the program prints with ``--json``. Its fields are attributes; ``notes`` is what the
    user should know. ``str()`` of it is the JSON text; it can be pickled.

    >>> import pykanon as kn
    >>> d = kn.diagnose({"age": [30, 30, 40], "sex": ["f", "f", "m"]}, qi=["age", "sex"])
    >>> d.k, d.unique_rows, d["classes"]
    (1, 1, 2)
    """

    def __init__(self, text: str, report: str | None = None) -> None:
        super().__init__(json.loads(text))
        self._text = text
        self._report = report

    @property
    def report(self) -> str | None:
        """The page with pictures that the library makes of this answer, as HTML; None: there is none."""
        return self._report

    def describe(self, field: str) -> str:
        """What a field means, in one sentence."""
        return _descriptions(self._content["answer"])[field]

    def to_json(self) -> str:
        """The JSON text, as the program prints it."""
        return self._text

    __str__ = to_json

    def __repr__(self) -> str:
        shown = {
            key: value
            for key, value in self._content.items()
            if key not in ("answer", "notes") and (value is None or isinstance(value, (bool, int, float, str)))
        }
        asked = "requested" in shown
        first = [key for key in _FIRST if key in shown and (asked or shown[key] is not None)]  # what it is about
        keys = [*first, *(key for key in shown if key not in first)][:_SHOWN]
        fields = ", ".join(f"{key}={shown[key]!r}" for key in keys)
        return f"<{self._content.get('answer', 'answer')}: {fields}>"

    def _repr_html_(self) -> str:
        if self._report is not None:
            return framed(self._report)
        return _rows({k: v for k, v in self._content.items() if k != "answer"}, _descriptions(self._content["answer"]))

    def __reduce__(self) -> tuple[Callable[..., Document], tuple[str, str | None]]:
        return Document, (self._text, self._report)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)
