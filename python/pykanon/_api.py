# SPDX-License-Identifier: Apache-2.0
"""The functions of the package: each places the data, asks the library, and returns its answer."""

from __future__ import annotations

import array
import decimal
import json
import operator
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from . import _kanon
from ._data import COUNTS, Data, Job, Records, grouped, is_relation, is_rows
from ._document import Document
from ._errors import UsageError
from ._release import Page, Recipe, Release, released
from ._spec import Hierarchy, Promises, Spec, _names, hierarchy_field, library_call

__all__ = [
    "Diagnosis",
    "Draft",
    "advise",
    "anonymize",
    "apply",
    "attack",
    "build_hierarchy",
    "demonstrate_attack",
    "dependencies",
    "diagnose",
    "explain",
    "frontier",
    "generate",
    "init",
    "measure",
    "methods",
    "metrics",
    "models",
    "profile",
    "report",
    "risk",
    "show_hierarchy",
    "suggest_hierarchy",
    "verify",
]

Columns = str | Iterable[str]


def _share(value: float | int | str | None) -> str | None:
    """A share as exact text: 0.05 is "0.05"."""
    if value is None or isinstance(value, str):
        return value
    return format(decimal.Decimal(repr(value)), "f")


def _whole(name: str, value: Any, least: int) -> int | None:
    """A whole number that was given; None: it was not. Zero is a number, and no way to leave something out."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise UsageError(f"{name}: a whole number is expected, not {type(value).__name__}")
    if number < least:
        raise UsageError(f"{name} must be at least {least}")
    return number


def _seconds(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{name}: a number of seconds is expected, not {type(value).__name__}")
    if not value >= 0:
        raise UsageError(f"{name} must not be negative; 0 is no limit")
    return value


def _given(value: Any) -> bool:
    """Zero is given, an empty list is; None and False are not."""
    return value is not None and value is not False


def _reading(types: Mapping[str, str] | None, na: Sequence[str] | str | None, timezone: str | None) -> dict[str, Any]:
    spec = Spec(None, types=types, na=na, timezone=timezone)
    return spec._arguments()


# ---- Looking ----


class Diagnosis(Document):
    """The answer of ``diagnose``: ``holds``, ``k``, ``classes``, ``unique_rows``, ``histogram``, ..."""

    _again: tuple[Any, dict[str, Any]] | None = None

    def at_risk(self, k: int | None = None) -> list[int]:
        """The rows (from 0) in classes smaller than ``k``, or than the k that was asked for. The data are read again."""
        if self.get("answer") in ("diagnose-database", "diagnose-records"):
            raise UsageError("at_risk: it is about the rows of one table; this answer counts persons or records")
        if self._again is None:
            raise UsageError("at_risk: the answer was pickled, and its data are not part of it; diagnose them again")
        data, arguments = self._again
        least = _whole("k", k, 1) if k is not None else self.get("requested")
        if least is None:
            raise UsageError("at_risk: give k, the rows that a class must have at least")
        job = Job()
        rows = job.call("rows", {**arguments, "input": job.put(data), "k": least})
        return array.array("q", rows).tolist()


def _are_records(data: Data) -> bool:
    """Records by their form, or by the name of their file."""
    if isinstance(data, (str, os.PathLike)):
        return re.search(r"\.(xml|jsonl?|ndjson)(\.gz|\.zst)?$", os.fspath(data), re.IGNORECASE) is not None
    return isinstance(data, Records)


def _kmn(given: Any) -> tuple[int | None, int | None, int | None]:
    if not isinstance(given, Sequence) or len(given) != 3:
        raise UsageError("kmn: give (k, m, n), three whole numbers, of which k and m are at least 1")
    return _whole("kmn: k", given[0], 1), _whole("kmn: m", given[1], 1), _whole("kmn: n", given[2], 0)


def _check_together(said: Mapping[str, Any]) -> None:
    """What makes sense only beside something else is refused without it, as the program does."""
    for names, beside in (
        (("at_most",), "k"),
        (("population", "sampling", "weight", "risk_threshold"), "risk"),
        (("require",), "sensitive"),
        (("algorithm", "time_limit"), "over"),
    ):
        alone = [name for name in names if _given(said[name])]
        if alone and not _given(said[beside]):
            raise UsageError(f"diagnose: {alone[0]} goes with {beside}")
    if _given(said["max_size"]) and not (_given(said["over"]) or said["suda"]):
        raise UsageError("diagnose: max_size goes with over or suda")
    if _given(said["over"]) and (said["risk"] or said["suda"]):
        raise UsageError("diagnose: risk and suda go with qi")


def _diagnose_spec(data: Data, spec: Any, k: int | None, kmn: tuple[int, int, int] | None, max_size: int | None) -> Diagnosis:
    job = Job()
    whole, more = _request(job, data, init(data).spec if spec is None else spec, None, {})
    if job.call("shape", whole._arguments(**more)) == "table":
        raise UsageError("diagnose: the spec describes one table; give its columns as qi or over")
    if kmn is not None and k is not None:
        raise UsageError("diagnose: kmn says k, too: leave k out")
    least, m, n = _kmn(kmn) if kmn is not None else (_whole("k", k, 1), None, None)
    size = _whole("max_size", max_size, 1)
    arguments = {**whole._arguments(**more), "k": least, "m": m, "n": n, "max_size": size}
    return Diagnosis(job.call("diagnose-spec", arguments))


def diagnose(
    data: Data,
    qi: Columns | None = None,
    *,
    over: Columns | None = None,
    k: int | None = None,
    at_most: bool = False,
    suppression: float | int | str | None = None,
    entity: Columns | None = None,
    missing: str | None = None,
    sensitive: Columns | Mapping[str, Any] | None = None,
    require: Promises | None = None,
    risk: bool = False,
    population: Data | None = None,
    sampling: float | str | None = None,
    weight: str | None = None,
    risk_threshold: float | str | None = None,
    suda: bool = False,
    max_size: int | None = None,
    time_limit: float | None = None,
    algorithm: str | None = None,
    types: Mapping[str, str] | None = None,
    na: Sequence[str] | str | None = None,
    timezone: str | None = None,
    spec: Any = None,
    kmn: tuple[int, int, int] | None = None,
) -> Diagnosis:
    """How well does a crowd hide each row? The twelve questions of the diagnosis centre.

    ``qi`` is one set of columns that others may know; ``over`` asks for every subset of a list. ``k`` asks whether every
    class has at least so many rows; ``suppression`` is a share or a number of rows that may be removed, or ``"any"``:
    how many would have to be. ``sensitive`` measures the models (l, t, ...), ``require`` asks whether some hold; ``risk``
    adds prosecutor, journalist and marketer risk, ``suda`` special uniques.

    Of a database or of records that are trees ``spec`` describes what is known (for records it may be left out: ``init``
    suggests one); only ``k`` and ``max_size``, or ``kmn``, go with it.

    >>> import pykanon as kn
    >>> people = {"age": [30, 30, 30, 41], "sex": ["f", "f", "m", "m"], "diagnosis": ["flu", "gout", "flu", "flu"]}
    >>> d = kn.diagnose(people, qi=["age", "sex"], k=2)
    >>> d.holds, d.k, d.at_risk()
    (False, 1, [2, 3])
    >>> kn.diagnose(people, over=["age", "sex"], k=2).maximal
    [['sex']]
    >>> kn.diagnose(people, "sex", sensitive="diagnosis").models.sensitive[0].distinct_l
    1
    >>> visits = [{"town": "Ashby", "drug": ["a", "b"]}, {"town": "Ashby", "drug": ["a"]}, {"town": "Corby", "drug": ["a"]}]
    >>> d = kn.diagnose(visits, spec={"classes": {"town": {}, "drug": {}}}, kmn=(2, 1, 0))
    >>> d.records, d.below_records
    (3, 2)
    """
    if spec is not None or kmn is not None or (qi is None and over is None and _are_records(data)):
        own = ("data", "spec", "k", "kmn", "max_size")
        said = [name for name, value in locals().items() if name not in (*own, "own") and _given(value)]
        if said:
            raise UsageError(f"diagnose: {said[0]} is about one table; of a database or records the spec says what is known")
        return _diagnose_spec(data, spec, k, kmn, max_size)
    if (qi is None) == (over is None):
        raise UsageError("diagnose: give qi, one set of columns, or over, a list whose subsets are examined")
    if not _names(qi) and not _names(over):
        raise UsageError("diagnose: qi and over need the name of at least one column")
    _check_together(locals())
    job = Job()
    wanted = [*_names(qi), *_names(over), *_names(sensitive)]
    only_rows = not (entity or risk or suda)  # only numbers of rows are asked for: equal rows may come as one
    counted = grouped(data, wanted) if only_rows else None
    spec = Spec(None, sensitive=sensitive, privacy=require, types=types, na=na, timezone=timezone)
    spec._place(job)
    rows = isinstance(suppression, int) and not isinstance(suppression, bool) and suppression > 1
    arguments = {
        **spec._arguments(),
        "quasi": _names(qi),
        "over": _names(over),
        "sensitive": _names(sensitive),
        "entity": _names(entity),
        "k": _whole("k", k, 1),
        "at_most": at_most,
        "missing": missing,
        "suppression": None if rows else _share(suppression),
        "suppression_rows": suppression if rows else None,
        "risk": risk,
        "sampling": _share(sampling),
        "risk_threshold": _share(risk_threshold),
        "weight": weight,
        "suda": suda,
        "max_size": _whole("max_size", max_size, 1),
        "time_limit": _seconds("time_limit", time_limit),
        "algorithm": algorithm,
    }
    asked = {**arguments, "report": "memory:report.html", "grouped": only_rows}
    if counted is not None:
        asked |= Spec(spec, count=COUNTS)._arguments()
    asked["input"] = job.put(data if counted is None else counted)
    if population is not None:
        asked["population"] = job.put(population, "population")[0]
    text = job.call("diagnose", asked)
    answer = Diagnosis(text, job.get_bytes("memory:report.html").decode())
    job.check_rows(answer.rows)
    answer._again = (data, arguments)
    return answer


def risk(data: Data, qi: Columns, **keywords: Any) -> Any:
    """How likely is it that somebody is found? The ``risk`` part of a diagnosis; takes ``population``, ``sampling``,
    ``weight``, ``risk_threshold`` and what else ``diagnose`` takes.

    >>> import pykanon as kn
    >>> kn.risk({"age": [30, 30, 41]}, "age").prosecutor.highest
    1.0
    """
    return diagnose(data, qi, risk=True, **keywords).risk


def _database(inputs: list[str]) -> bool:
    name = inputs[0]
    return name.endswith("/") if name.startswith("memory:") else _kanon.is_database(name)


def profile(
    data: Data,
    *,
    entity: str | None = None,
    show_values: bool = False,
    types: Mapping[str, str] | None = None,
    na: Sequence[str] | str | None = None,
    timezone: str | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Document:
    """What is in each column, and which role it may have; of a database, its schema.

    >>> import pykanon as kn
    >>> [c.role for c in kn.profile({"name": list("abcdefghijkl"), "sex": list("fmfmfmfmfmfm")}).columns]
    ['identifier', 'quasi']
    """
    job = Job()
    inputs = job.put(data)
    if _database(inputs):
        spec = Spec(None, tables=tables, na=na, timezone=timezone)
        return Document(job.call("profile-database", {**spec._arguments(), "database": inputs[0], "entity": entity}))
    arguments = _reading(types, na, timezone)
    return Document(job.call("profile", {**arguments, "input": inputs, "show_values": show_values}))


class Draft(Document):
    """The answer of ``init``: the suggested request as ``spec`` and ``text``, its reasons in ``columns``."""

    spec: Spec
    text: str


def init(
    data: Data,
    *,
    k: int | None = None,
    entity: str | None = None,
    record: str | None = None,
    na: Sequence[str] | str | None = None,
    timezone: str | None = None,
) -> Draft:
    """A first request for data that nobody has described: roles with their reasons, hierarchies, promises. All of it is a
    suggestion: only the owner of the data knows what others may know.

    >>> import pykanon as kn
    >>> people = kn.generate("hospital", rows=500, seed=1)
    >>> draft = kn.init(people)
    >>> kn.anonymize(people, draft.spec).k >= 5
    True
    """
    job = Job()
    spec = Spec(None, na=na, timezone=timezone)
    inputs = job.put(data)
    least = _whole("k", k, 2)
    arguments = {**spec._arguments(), "input": inputs, "k": least, "entity": entity, "record": record, "files": True}
    draft = Draft(job.call("init", arguments))
    written = {name: job.get_bytes(name) for name in job.context.names("memory:draft/")}
    draft.text = written["memory:draft/release.yaml"].decode()
    if len(written) == 1:
        draft.spec = Spec(draft.text)
        return draft
    draft.spec = Spec("memory:draft/release.yaml")  # with its hierarchies beside it
    draft.spec._files = written
    if not inputs[0].startswith("memory:"):
        draft.spec._fields["input"] = inputs  # relative to the working folder, not to the file
    return draft


# ---- Releasing ----


def _request(
    job: Job, data: Data | None, spec: Any, population: Data | None, keywords: dict[str, Any], *, count: bool = False
) -> tuple[Spec, dict[str, Any]]:
    """The request of a call with its data placed; and the fields that the call itself sets. ``count``: equal rows of a
    relation may come as one."""
    whole = Spec(spec, **keywords)
    whole._place(job)
    data, more = _counted(job, data, whole) if count and is_relation(data) else (data, {})
    if data is not None:
        records = is_rows(data) and job.call("shape", whole._arguments()) == "records"
        more["input"] = job.put(data, records=records)
    if population is not None:
        more["population"] = job.put(population, "population")[0]
    return whole, more


def _counted(job: Job, data: Any, whole: Spec) -> tuple[Any, dict[str, Any]]:
    """A relation of DuckDB with equal rows as one, unless the request asks about single rows, and the fields by which its
    release is that of the single rows."""
    attributes = {**whole._fields.get("attributes", {}), COUNTS: {"role": "count"}}
    more: dict[str, Any] = {"attributes": attributes, "expand": True}
    rows = grouped(data, job.names("countable", whole._arguments(**more, input=["memory:data"], output="memory:out")))
    return (data, {}) if rows is None else (rows, more)


def _output(job: Job, whole: Spec, more: dict[str, Any]) -> str:
    """Where a release goes in memory, by the shape of the data and the form of its input."""
    shape = job.call("shape", whole._arguments(**more))
    if shape == "table":
        return "memory:out"
    first = next(iter(job.names("inputs", whole._arguments(**more))), "")
    found = re.search(r"\.(xml|jsonl?|ndjson)(\.gz|\.zst)?$", first, re.IGNORECASE) if shape == "records" else None
    if found is None:
        return "memory:out/"
    form = found[1].lower()
    return f"memory:out.{'jsonl' if form == 'ndjson' else form}"


def anonymize(
    data: Data | None = None,
    spec: Spec | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    population: Data | None = None,
    report: bool = True,
    public_report: bool = False,
    recipe: bool = True,
    **keywords: Any,
) -> Release:
    """Makes a release that keeps every promise, and verifies it before you see it. ``NoRelease``: there is none.

    ``spec`` is a release file or ``Spec``; keywords are those of ``Spec``: ``qi`` (a list, or a dict of columns and their
    hierarchies), ``sensitive``, ``identifier``, ``keep``, ``k``, ``l``, ``t``, ``privacy``, ``suppression``, ``method``,
    ``entity``, ... With ``output`` the release and what stands beside it are files instead; ``data`` may be a path then.

    >>> import pykanon as kn
    >>> people = {"age": [31, 33, 36, 38], "zip": ["47906", "47905", "47301", "47304"], "diagnosis": list("abab")}
    >>> rel = kn.anonymize(people, qi={"age": kn.ranges(5, 10), "zip": kn.mask("right")}, sensitive="diagnosis", k=2)
    >>> rel.k, rel.to_pydict()["age"]
    (2, ['[30, 34]', '[30, 34]', '[35, 39]', '[35, 39]'])
    >>> kn.verify(people, rel).verified
    True
    """
    job = Job()
    whole, more = _request(job, data, spec, population, keywords, count=True)
    if output is not None:
        more["output"] = os.fspath(output)
    else:
        more["output"] = _output(job, whole, more)
        more["report"] = "memory:report.html" if report else None
        more["public_report"] = "memory:public.html" if public_report else None
    answer = Document(job.call("anonymize", {**whole._arguments(**more), "recipe": recipe and output is None}))
    return Release.of(job, answer, whole, more["output"])


def apply(recipe: Recipe | str | os.PathLike[str], data: Data, **fields: Any) -> Release:
    """Releases other rows as a recipe decided: ``rel.recipe``, or the path of one. Keywords as for ``Recipe.apply``."""
    return (recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)).apply(data, **fields)


# ---- Choosing ----


def _planned(command: str, data: Data | None, spec: Any, population: Data | None, keywords: dict[str, Any]) -> Document:
    job = Job()
    whole, more = _request(job, data, spec, population, keywords)
    more.setdefault("output", _output(job, whole, more))
    return Document(job.call(command, whole._arguments(**more)))


def advise(data: Data | None = None, spec: Any = None, *, population: Data | None = None, **keywords: Any) -> Document:
    """Which method should I use? Those that fit are tried and compared: for a table, a database or records that are trees.
    Arguments as for ``anonymize``."""
    return _planned("advise", data, spec, population, keywords)


def frontier(data: Data | None = None, spec: Any = None, *, population: Data | None = None, **keywords: Any) -> Document:
    """The choices of levels that no other beats in k, suppressed rows and loss. Arguments as for ``anonymize``."""
    return _planned("frontier", data, spec, population, keywords)


def explain(data: Data | None = None, spec: Any = None, *, population: Data | None = None, **keywords: Any) -> Document:
    """What one choice of ``levels`` means: which promise fails, in how many classes, by how much. Arguments as for
    ``anonymize``."""
    return _planned("explain", data, spec, population, keywords)


# ---- Judging ----


def _spec_of(release: Any, spec: Any) -> Any:
    if spec is None and isinstance(release, Release):
        return release.spec
    return spec


def verify(
    original: Data,
    release: Release | Data,
    spec: Any = None,
    *,
    population: Data | None = None,
    work_limit: int | None = None,
    time_limit: float | None = None,
    **keywords: Any,
) -> Document:
    """Does a release keep its promises? Everything is derived anew by code that shares nothing with the methods: ``outcome``
    is "holds", "does not hold" or "undecided"."""
    job = Job()
    whole, more = _request(job, original, _spec_of(release, spec), population, keywords)
    more["output"] = released(job, release)
    arguments = whole._arguments(**more)
    limits = {"work_limit": _whole("work_limit", work_limit, 0), "time_limit": _seconds("time_limit", time_limit)}
    return Document(job.call("verify", {**arguments, **limits}))


def measure(
    original: Data, release: Release | Data, spec: Any = None, *, workload: str | None = None, **keywords: Any
) -> Document:
    """What a release lost, by every metric: of a table, a database or records that are trees. With ``workload``, a text of
    queries, how well a table answers them."""
    job = Job()
    whole, more = _request(job, original, _spec_of(release, spec), None, keywords)
    more["output"] = released(job, release)
    return Document(job.call("measure", {**whole._arguments(**more), "workload": workload}))


def attack(
    release: Release | Data,
    external: Data,
    spec: Any = None,
    *,
    original: Data | None = None,
    k: int | None = None,
    some_rows: bool = False,
    **keywords: Any,
) -> Document:
    """The linking attack: how many people of another table are found in a release? Of a database ``external`` is one, too,
    with what somebody knows of its tables (``some_rows``: perhaps not all rows of a person); of records that are trees,
    records.

    >>> import pykanon as kn
    >>> people = {"age": [31, 33, 36, 38], "diagnosis": list("abab")}
    >>> rel = kn.anonymize(people, qi={"age": kn.ranges(5, 10)}, sensitive="diagnosis", k=2)
    >>> kn.attack(rel, external={"name": ["Ann"], "age": [33]}).after.unique
    0
    """
    job = Job()
    whole, more = _request(job, None, _spec_of(release, spec), None, keywords)
    records = job.call("shape", whole._arguments(**more)) == "records"
    arguments = {
        **whole._arguments(**more),
        "release": released(job, release),
        "external": job.put(external, "external", records=records)[0],
        "original": job.put(original, "original", records=records)[0] if original is not None else None,
        "k": _whole("k", k, 1),
        "some_rows": some_rows,
    }
    return Document(job.call("attack", arguments))


def report(
    release: Release | Document | str | os.PathLike[str],
    *documents: Document | str | os.PathLike[str],
    kind: Sequence[str] | str | None = None,
    spec: str | None = None,
    external: str | None = None,
) -> Page:
    """Evidence on a release, for those who must decide: one page, each figure below the command that reproduces it.

    ``release`` is a release or its certificate; from that alone the page may be published. ``documents`` add the owner's
    figures: ``rel.private``, and what ``verify``, ``attack`` and ``diagnose`` with ``risk`` answer; then it is ``private``.
    ``kind``: whose questions, of "eu", "hipaa", "nist" and "ethics" (default: all). ``spec`` and ``external`` are the files
    that the commands on the page name.

    >>> import pykanon as kn
    >>> people = {"age": [31, 33, 36, 38], "diagnosis": list("abab")}
    >>> rel = kn.anonymize(people, qi={"age": kn.ranges(5, 10)}, sensitive="diagnosis", k=2)
    >>> kn.report(rel, kind="eu").private, kn.report(rel, rel.private, kind="eu").private
    (False, True)
    """
    job, paths, names = Job(), [], []
    first = release.certificate if isinstance(release, Release) else release
    if first is None:
        raise UsageError("report: the release has no certificate")
    for number, one in enumerate((first, *documents)):
        if isinstance(one, Document):
            paths.append(f"memory:document-{number}.json")
            names.append(f"{one.get('answer', 'document')}.json")
            job.put_bytes(paths[-1], one.to_json().encode())
        else:
            paths.append(os.fspath(one))
            names.append(paths[-1])
    arguments = {
        "documents": paths,
        "names": names,
        "kinds": [kind] if isinstance(kind, str) else list(kind or []),
        "release_file": spec,
        "external": external,
        "output": "memory:evidence.html",
    }
    answer = Document(job.call("report", arguments))
    return Page(job.get_bytes("memory:evidence.html"), private=not answer["public"])


def demonstrate_attack(data: Data | None = None, spec: Any = None, *, k: int | None = None, **keywords: Any) -> Document:
    """Of a database: why it is not enough to anonymize the join of its tables, or each table by itself."""
    job = Job()
    whole, more = _request(job, data, spec, None, keywords)
    return Document(job.call("attack-demo", {**whole._arguments(**more), "k": _whole("k", k, 2)}))


# ---- Dependencies, hierarchies ----


def dependencies(
    data: Data,
    check: Columns = (),
    *,
    discover: bool | None = None,
    columns: Columns | None = None,
    error: float | str | None = None,
    max_left: int | None = None,
    time_limit: float | None = None,
    cover: bool = False,
    closure: Columns | None = None,
    types: Mapping[str, str] | None = None,
    na: Sequence[str] | str | None = None,
) -> Document:
    """Which columns say what about others? ``check`` lists dependencies such as ``"zip -> city"``; without it all minimal
    ones are found.

    >>> import pykanon as kn
    >>> places = {"zip": ["1", "2", "2"], "city": ["a", "b", "b"], "n": [1, 2, 3]}
    >>> kn.dependencies(places, ["zip -> city", "city -> n"]).holds
    False
    """
    job = Job()
    given = _names(check)
    arguments = {
        **_reading(types, na, None),
        "input": job.put(data),
        "check": given,
        "discover": not given if discover is None else discover,
        "columns": _names(columns),
        "error": _share(error),
        "max_left": _whole("max_left", max_left, 1),
        "time_limit": _seconds("time_limit", time_limit),
        "cover": cover,
        "closure": _names(closure),
    }
    return Document(job.call("dependencies", arguments))


def build_hierarchy(
    data: Data,
    column: str,
    rule: Any = None,
    *,
    groups: str | None = None,
    fan_out: int | None = None,
    group_rows: int | None = None,
    order: Sequence[Any] | None = None,
    types: Mapping[str, str] | None = None,
) -> Hierarchy:
    """The hierarchy of a column's values, value by value: by a rule (``ranges``, ``mask``, ...), or by ``groups``: of
    neighbours in their "order", of equal "frequency", or that begin alike ("prefix").

    >>> import pykanon as kn
    >>> kn.build_hierarchy({"age": [31, 33]}, "age", kn.ranges(5)).content
    b'31;[30, 34];*\\n33;[30, 34];*\\n'
    """
    job = Job()
    files: dict[str, bytes] = {}
    attributes = {column: {"hierarchy": hierarchy_field(rule, column, files)}} if rule is not None else None
    spec = Spec(None, attributes=attributes, types=types)
    spec._files.update(files)
    spec._place(job)
    arguments = {
        **spec._arguments(),
        "input": job.put(data),
        "column": column,
        "groups": groups,
        "fan_out": _whole("fan_out", fan_out, 2),
        "group_rows": _whole("group_rows", group_rows, 1),
        "order": [str(one) for one in order] if order is not None else None,
    }
    job.call("hierarchy-build", arguments)
    return Hierarchy(";", job.get_bytes("memory:hierarchy.csv"))


def show_hierarchy(source: Any, level: int | None = None) -> Document:
    """The tree of a hierarchy of one's own, or the labels of a level.

    >>> import pykanon as kn
    >>> kn.show_hierarchy({"flu": ["lung", "*"], "gout": ["joint", "*"]}, level=1).labels[0].label
    'lung'
    """
    job = Job()
    files: dict[str, bytes] = {}
    field = hierarchy_field(source, "hierarchy", files)
    for name, content in files.items():
        job.put_bytes(name, content)
    taxonomy = isinstance(field, dict) and "taxonomy" in field
    path = field.get("taxonomy") or field.get("file") if isinstance(field, dict) else field
    if not isinstance(path, str):
        raise UsageError("show_hierarchy: a rule has no labels of its own; build_hierarchy makes them of data")
    return Document(job.call("hierarchy-show", {"path": path, "taxonomy": taxonomy, "level": _whole("level", level, 0)}))


def suggest_hierarchy(data: Data, column: str, spec: Any = None, **keywords: Any) -> Document:
    """Ways to build a hierarchy of a quasi-identifier, each with the loss of a release by it."""
    job = Job()
    whole, more = _request(job, data, spec, None, keywords)
    more.setdefault("output", "memory:out")
    return Document(job.call("hierarchy-suggest", {**whole._arguments(**more), "column": column}))


# ---- Synthetic data, lists ----


class Generated:
    """A synthetic table; everything that speaks Arrow reads it."""

    def __init__(self, job: Job) -> None:
        from ._release import _Columns

        self._columns = _Columns(job, "memory:out")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._columns.stream()


def generate(kind: str, rows: int, *, seed: int = 0, target: str | os.PathLike[str] | None = None, **more: Any) -> Any:
    """Synthetic data: "adult-like", "uniform", "normal", "patients", "adult-dependent" or "hospital" as a table;
    "students" (a database) and "patient-records" (trees) are written to ``target``.

    >>> import pykanon as kn
    >>> kn.profile(kn.generate("uniform", rows=100, seed=7, attributes=2, cardinality=3)).rows
    100
    """
    job = Job()
    shaped = kind in ("students", "patient-records")
    if shaped and target is None:
        raise UsageError(f"generate: {kind} is written to a target; give its path")
    place = os.fspath(target) if target is not None else None
    asked = {"kind": kind, "rows": _whole("rows", rows, 0), "seed": _whole("seed", seed, 0), "target": place}
    job.call("generate", {**asked, **more})
    return place if shaped else Generated(job)


def _catalogue(which: str) -> list[Any]:
    content = json.loads(library_call("catalogue", {which: True}))
    return cast("list[Any]", content[which])


def methods() -> list[dict[str, Any]]:
    """Every method: for which data, what it can promise, its source, its cost, when to use it."""
    return _catalogue("methods")


def models() -> list[dict[str, Any]]:
    """Every privacy model."""
    return _catalogue("models")


def metrics() -> list[dict[str, Any]]:
    """Every metric."""
    return _catalogue("metrics")
