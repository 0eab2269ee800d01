# SPDX-License-Identifier: Apache-2.0
"""Checks for tests and pipelines."""

from __future__ import annotations

from typing import Any

from ._api import Columns, Diagnosis, diagnose
from ._data import Data

__all__ = ["assert_anonymous"]

_MOST = 10


def assert_anonymous(data: Data, qi: Columns, k: int, **keywords: Any) -> Diagnosis:
    """Fails with an ``AssertionError`` unless every class of ``qi`` has at least ``k`` rows, and every model of
    ``require`` holds; of data without rows nothing is shown, and it fails. The message has counts and row numbers, no
    value of the data. Keywords as for ``diagnose``.

    >>> import pykanon as kn
    >>> kn.testing.assert_anonymous({"age": [30, 30, 41]}, "age", k=2)
    Traceback (most recent call last):
    AssertionError: not 2-anonymous on age: the smallest class has 1 row; 1 row in 1 class smaller than 2: row 2
    """
    found = diagnose(data, qi, k=k, **keywords)
    failing = [one for one in found.get("models", {}).get("requirements", []) if not one["holds"]]
    if found.holds and not failing:
        return found
    names = ", ".join(found.quasi)
    if found.classes == 0:
        raise AssertionError(f"not shown to be anonymous on {names}: {found.notes[0]}")
    said: list[str] = []
    if found.k < k:
        rows = found.at_risk()
        shown = ", ".join(str(row) for row in rows[:_MOST]) + (", …" if len(rows) > _MOST else "")
        said.append(
            f"not {k}-anonymous on {names}: the smallest class has {_count(found.k, 'row', 'rows')}; "
            f"{_count(found.below_rows, 'row', 'rows')} in {_count(found.below_classes, 'class', 'classes')} smaller "
            f"than {k}: {'row' if len(rows) == 1 else 'rows'} {shown}"
        )
    for one in failing:
        classes = _count(one["classes"], "class", "classes")
        said.append(f"{one['requirement']} does not hold in {classes}; the worst reaches {one['reached']}")
    raise AssertionError("; ".join(said) or f"not anonymous on {names}")


def _count(n: int, one: str, several: str) -> str:
    return f"{n} {one if n == 1 else several}"
