# SPDX-License-Identifier: Apache-2.0
"""Requests and hierarchies: what the user asks for, in the words of a release file. The library reads and checks them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from . import _kanon
from ._data import Job
from ._errors import UsageError, translated

__all__ = [
    "Hierarchy",
    "Spec",
    "breaks",
    "calendar",
    "hierarchy",
    "mask",
    "prefix",
    "ranges",
    "suppress",
    "taxonomy",
]


class Hierarchy:
    """How a column's values are generalized: a rule, or labels of one's own. It is made by ``ranges``, ``mask``,
    ``breaks``, ``calendar``, ``prefix``, ``suppress``, ``taxonomy`` and ``hierarchy``."""

    def __init__(self, rule: Any, content: bytes | None = None, people: str | bytes | None = None) -> None:
        self.rule = rule
        self.content = content
        self.people = people

    def __repr__(self) -> str:
        return f"Hierarchy({self.rule!r})" if self.content is None else f"Hierarchy(<{len(self.content)} bytes>)"

    def field(self, name: str, files: dict[str, bytes]) -> Any:
        """The value of a release file's ``hierarchy``; labels become a file in memory."""
        field = self.rule
        if self.content is not None:
            path = _stored(self.content, files)
            field = {"taxonomy": path} if self.rule == "taxonomy" else {"file": path, "delimiter": self.rule}
        if self.people is None:
            return field
        if isinstance(field, str):  # "suppress", or a path
            field = {} if field == "suppress" else {"file": field}
        return {**field, "population": self.people if isinstance(self.people, str) else _stored(self.people, files)}

    def with_population(self, people: Mapping[Any, int] | str | os.PathLike[str]) -> Hierarchy:
        """The same with the people of the population that have each leaf, for ``k-map``: a dict, or a path."""
        given = _lines(people.items()) if isinstance(people, Mapping) else os.fspath(people)
        return Hierarchy(self.rule, self.content, given)


def _stored(content: bytes, files: dict[str, bytes]) -> str:
    path = f"memory:hierarchy {len(files)}"
    files[path] = content
    return path


def ranges(*widths: int | float | str, origin: int | float | str | None = None) -> Hierarchy:
    """Numbers become ranges of these widths, each a multiple of the one before.

    >>> import pykanon as kn
    >>> kn.ranges(5, 10, 20)
    Hierarchy({'ranges': [5, 10, 20]})
    """
    rule: dict[str, Any] = {"ranges": list(widths)}
    if origin is not None:
        rule["origin"] = origin
    return Hierarchy(rule)


def mask(side: str = "right", *, step: int | None = None, character: str | None = None, pad: bool = False) -> Hierarchy:
    """Characters are masked, one (or ``step``) per level: 47906, 4790*, 479**, ..."""
    rule: dict[str, Any] = {"mask": side}
    if step is not None:
        rule["step"] = step
    if character is not None:
        rule["character"] = character
    if pad:
        rule["pad"] = True
    return Hierarchy(rule)


def breaks(*levels: Sequence[int | float | str]) -> Hierarchy:
    """Cut points, level by level, each some of the points of the one before: ``breaks([18, 65], [18])``."""
    return Hierarchy({"breaks": [[str(point) for point in level] for level in levels]})


def calendar(*steps: str) -> Hierarchy:
    """Dates become some of "day", "month", "quarter", "year", "decade"; without arguments all of them."""
    return Hierarchy({"calendar": list(steps) if steps else "all"})


def prefix(separator: str = ".") -> Hierarchy:
    """Codes lose their last part: a.b.c, a.b, a."""
    return Hierarchy({"prefix": separator})


def suppress() -> Hierarchy:
    """A value or ``*``."""
    return Hierarchy("suppress")


def taxonomy(text: str | os.PathLike[str]) -> Hierarchy:
    """Indented text, the most general label first; or the path of such a file."""
    if isinstance(text, str) and "\n" in text:
        return Hierarchy("taxonomy", text.encode())
    return Hierarchy({"taxonomy": os.fspath(text)})


def _quoted(label: Any) -> str:
    text = str(label)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ';"\n\r') or text != text.strip() else text


def _lines(paths: Iterable[Sequence[Any]]) -> bytes:
    return "".join(";".join(_quoted(label) for label in path) + "\n" for path in paths).encode()


def _leaves(tree: Mapping[Any, Any] | Sequence[Any], above: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    if isinstance(tree, Mapping):
        for label, below in tree.items():
            yield from _leaves(below, (label, *above)) if below else [(label, *above)]
    else:
        for label in tree:
            yield (label, *above)


def hierarchy(source: Any) -> Hierarchy:
    """A hierarchy of one's own: a path; a dict of each value and what it becomes, level by level; a dict of dicts or
    lists, the most general first; or a data frame with a column per level, the values first.

    >>> import pykanon as kn
    >>> kn.hierarchy({"flu": ["lung", "*"], "gout": ["joint", "*"]}).content
    b'flu;lung;*\\ngout;joint;*\\n'
    >>> kn.hierarchy({"*": {"lung": ["flu"], "joint": ["gout"]}}).content
    b'flu;lung;*\\ngout;joint;*\\n'
    """
    if isinstance(source, Hierarchy):
        return source
    if isinstance(source, (str, os.PathLike)):
        return Hierarchy(os.fspath(source))
    if hasattr(source, "__arrow_c_stream__"):
        return Hierarchy(";", _table_lines(source))
    if not isinstance(source, Mapping) or not source:
        raise UsageError(f"a hierarchy cannot be made of {type(source).__name__}: give a path, a dict or a data frame")
    if len(source) == 1 and isinstance(next(iter(source.values())), Mapping):
        return Hierarchy(";", _lines(_leaves(source, ())))
    return Hierarchy(";", _lines((leaf, *([above] if isinstance(above, str) else above)) for leaf, above in source.items()))


def _table_lines(table: Any) -> bytes:
    """The cells of a table, a line per row; the library writes them."""
    from ._release import rows_of

    return _lines(rows_of(table))


Promises: TypeAlias = Sequence[Mapping[str, Any]] | Mapping[str, Any]

_FIELDS = {
    "entity",
    "missing",
    "undeclared",
    "suppression",
    "suppressed",
    "dependencies",
    "method",
    "utility",
    "levels",
    "timezone",
    "na",
    "tables",
    "record",
    "classes",
    "summary",
    "expand",
    "keep_order",
    "keep_rowmap",
    "keep_recipe",
    "force",
    "replace",
    "output",
    "report",
    "public_report",
    "delimiter",
    "encoding",
    "decimal",
    "header",
    "spreadsheet_safe",
    "workload",
    # options
    "seed",
    "time_limit",
    "choose",
    "row_order",
    "allow_broken",
    "threshold",
    "climit",
    "matching",
    "clustering",
    "leftovers",
    "diversity",
    "anatomy",
    "complete",
    "reference",
    "g",
    "semantics",
    "strict_structure",
    "disassociation",
    "support",
}


def _names(columns: str | Iterable[str] | None) -> list[str]:
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else [str(one) for one in columns]


def nearest(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


class Spec:
    """A request: the text of a release file, or keywords, or both; keywords override the text.

    >>> import pykanon as kn
    >>> spec = kn.Spec(qi={"age": kn.ranges(5, 10), "sex": None}, sensitive="diagnosis", k=3, suppression=0.05)
    >>> print(spec.to_yaml())
    kanon: 1
    attributes: {"age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}}, "sex": {"role": "quasi"}, "diagnosis": {"role": "sensitive"}}
    suppression: 0.05
    privacy: [{"k": 3}]
    <BLANKLINE>
    >>> kn.Spec.from_yaml(spec.to_yaml()).check().to_yaml() == spec.to_yaml()
    True
    """  # noqa: E501

    def __init__(
        self,
        base: Spec | str | os.PathLike[str] | Mapping[str, Any] | None = None,
        *,
        qi: Iterable[str] | Mapping[str, Any] | str | None = None,
        sensitive: str | Iterable[str] | Mapping[str, Any] | None = None,
        identifier: str | Iterable[str] | None = None,
        keep: str | Iterable[str] | None = None,
        weight: str | None = None,
        count: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        types: Mapping[str, str] | None = None,
        k: int | None = None,
        l: int | float | None = None,  # noqa: E741
        t: float | None = None,
        privacy: Promises | None = None,
        **fields: Any,
    ) -> None:
        self._text: str | None = None
        self._path: str | None = None
        self._fields: dict[str, Any] = {}
        self._privacy: list[Mapping[str, Any]] = []
        self._files: dict[str, bytes] = {}
        self._take_base(base)
        self._take_columns(qi, sensitive, identifier, keep, weight, count, attributes, types)
        self._take_promises(k, l, t, privacy)
        for name, value in fields.items():
            if value is not None:
                self._set(name, value)

    def _take_base(self, base: Spec | str | os.PathLike[str] | Mapping[str, Any] | None) -> None:
        if isinstance(base, Spec):
            self._text, self._path = base._text, base._path
            self._fields = {name: dict(value) if name == "attributes" else value for name, value in base._fields.items()}
            self._privacy = list(base._privacy)
            self._files = dict(base._files)
        elif isinstance(base, Mapping):
            self._text = json.dumps(base)
        elif isinstance(base, str) and ("\n" in base or base.lstrip().startswith("{")):
            self._text = base
        elif base is not None:
            self._path = os.fspath(base)

    def _take_columns(
        self,
        qi: Any,
        sensitive: Any,
        identifier: Any,
        keep: Any,
        weight: str | None,
        count: str | None,
        attributes: Mapping[str, Any] | None,
        types: Mapping[str, str] | None,
    ) -> None:
        said: dict[str, tuple[str, str]] = {}  # of each column: the keyword that names it, and its role
        for keyword, columns in (
            ("qi", qi),
            ("sensitive", sensitive),
            ("identifier", identifier),
            ("keep", keep),
            ("weight", weight),
            ("count", count),
        ):
            for name in _names(columns):
                role = "quasi" if keyword == "qi" else keyword
                other = said.setdefault(name, (keyword, role))[0]
                if other != keyword:
                    raise UsageError(f'column "{name}" is named by {other} and by {keyword}; a column has one role')
                self._attribute(name)["role"] = role
                above = columns[name] if isinstance(columns, Mapping) else None
                if above is not None:
                    self._describe(name, above)
        for name, description in (attributes or {}).items():
            self._describe(str(name), {"role": description} if isinstance(description, str) else description, True)
        for name, kind in (types or {}).items():
            self._attribute(str(name))["type"] = kind
        for name, (keyword, role) in said.items():
            if self._fields["attributes"][name].get("role") != role:
                raise UsageError(f'column "{name}" is named by {keyword} and described with another role')

    def _attribute(self, name: str) -> dict[str, Any]:
        attributes: dict[str, Any] = self._fields.setdefault("attributes", {})
        one: dict[str, Any] = dict(attributes.get(name, {}))
        attributes[name] = one
        return one

    def _describe(self, name: str, description: Any, whole: bool = False) -> None:
        """A hierarchy, or a dict in the words of a release file."""
        one = self._attribute(name)
        words = {"hierarchy", "type", "format", "weight", "min-level", "max-level", "cuts", "pseudonym", "role"}
        if isinstance(description, Mapping) and (whole or set(description) <= words):
            one.update(description)
            if one.get("hierarchy") is not None:
                one["hierarchy"] = hierarchy_field(one["hierarchy"], name, self._files)
        else:
            one["hierarchy"] = hierarchy_field(description, name, self._files)

    def _take_promises(self, k: Any, l: Any, t: Any, privacy: Promises | None) -> None:  # noqa: E741
        if k is not None:
            self._privacy.append({"k": k})
        if l is not None:
            self._privacy.append({"l-diversity": {"l": l}})
        if t is not None:
            self._privacy.append({"t-closeness": {"t": t}})
        if isinstance(privacy, Mapping):
            self._privacy.extend({name: value} for name, value in privacy.items())
        elif privacy is not None:
            self._privacy.extend(privacy)

    def _set(self, name: str, value: Any) -> None:
        if name == "options":
            for option, one in value.items():
                self._set(str(option).replace("-", "_"), one)
            return
        if name not in _FIELDS:
            raise UsageError(f"there is no keyword {name!r}{nearest(name, sorted(_FIELDS))}")
        if name == "suppression":
            value = {"rows": value} if isinstance(value, int) and not isinstance(value, bool) and value > 1 else value
        elif name == "workload" and "\n" in (value := os.fspath(value)):
            self._files["memory:workload.sql"] = value.encode()
            value = "memory:workload.sql"
        elif name in ("tables", "classes"):
            value = {
                key: _with_hierarchies(key, one, self._files) if isinstance(one, Mapping) else one
                for key, one in value.items()
            }
        self._fields[name.replace("_", "-")] = value

    @classmethod
    def from_yaml(cls, source: str | os.PathLike[str]) -> Spec:
        """A release file: its path, or its text."""
        return cls(source)

    def with_(self, **changes: Any) -> Spec:
        """A copy with other settings."""
        return Spec(self, **changes)

    def _arguments(self, **more: Any) -> dict[str, Any]:
        """What a command of the library takes; ``more`` are fields that the call sets itself."""
        fields = {**self._fields, **{name.replace("_", "-"): value for name, value in more.items() if value is not None}}
        changes: list[str] = []
        for name, value in fields.items():
            changes += [name, json.dumps(value, ensure_ascii=False)]
        arguments: dict[str, Any] = {"spec": self._text, "spec_path": self._path, "set": changes}
        if self._privacy:
            arguments["privacy"] = json.dumps(self._privacy, ensure_ascii=False)
        return arguments

    def _place(self, job: Job) -> None:
        """Puts the hierarchies that are not files where the library finds them."""
        for name, content in self._files.items():
            job.put_bytes(name, content)

    def check(self) -> Spec:
        """Does the library understand it? ``UsageError`` or ``InputError`` says what it does not; returns the spec."""
        job = Job()
        self._place(job)
        job.call("check", self._arguments())
        return self

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """The release file; with ``path`` it is written there too. Keywords on top of a file's text are not merged into
        it: that is refused."""
        changes = self._fields or self._privacy
        if (self._text is not None or self._path is not None) and changes:
            raise UsageError("a release file with other settings on top has no text of its own; change the file instead")
        if self._files:
            raise UsageError("hierarchies made of dicts or data frames have no place in a release file; save them first")
        if self._path is not None:
            with open(self._path, encoding="utf-8") as file:
                text = file.read()
        elif self._text is not None:
            text = self._text
        else:
            fields = {**self._fields, **({"privacy": self._privacy} if self._privacy else {})}
            text = "kanon: 1\n" + "".join(
                f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items()
            )
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def __repr__(self) -> str:
        said = [f"file {self._path!r}"] if self._path else ["text"] if self._text else []
        said += [f"{name}={value!r}" for name, value in self._fields.items()]
        return f"<Spec: {', '.join([*said, *(str(dict(one)) for one in self._privacy)])}>"


_RULES = {"ranges", "mask", "breaks", "calendar", "prefix", "file", "taxonomy", "population"}


def hierarchy_field(source: Any, name: str, files: dict[str, bytes]) -> Any:
    """What a user gives as a hierarchy, as the value of a release file's field."""
    if isinstance(source, Mapping) and set(source) & _RULES:
        return dict(source)
    if isinstance(source, Mapping) and len(source) == 1 and nearest(str(next(iter(source))), _RULES):
        rule = str(next(iter(source)))
        raise UsageError(f'column "{name}": there is no kind of hierarchy {rule!r}{nearest(rule, _RULES)}')
    return hierarchy(source).field(name, files)


def _with_hierarchies(name: str, description: Mapping[str, Any], files: dict[str, bytes]) -> dict[str, Any]:
    """A table or class of a request, its hierarchies ready for the library."""
    one = dict(description)
    if one.get("hierarchy") is not None:
        one["hierarchy"] = hierarchy_field(one["hierarchy"], name, files)
    if isinstance(one.get("attributes"), Mapping):
        one["attributes"] = {
            column: _with_hierarchies(column, words, files) if isinstance(words, Mapping) else words
            for column, words in one["attributes"].items()
        }
    return one


def library_call(command: str, arguments: dict[str, Any]) -> Any:
    """A command that needs no data."""
    try:
        return _kanon.Context(threads=1).call(command, arguments)
    except _kanon.LibraryError as error:
        raise translated(error) from None
