# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class per kind of failure. Messages say where something is wrong, never a value of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _kanon

if TYPE_CHECKING:
    from ._document import Document

__all__ = [
    "Busy",
    "InputError",
    "InternalError",
    "KanonError",
    "NoRelease",
    "OutOfMemory",
    "SystemFailure",
    "Undecided",
    "UsageError",
]


class KanonError(Exception):
    """What the library reports. ``kind`` names the failure; ``line`` and ``column`` say where in a text or file, from 1
    (0: not known)."""

    kind = "failure"

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[type[KanonError], tuple[Any, ...]]:
        return type(self), (str(self), self.line, self.column)


class UsageError(KanonError, ValueError):
    """An argument or option makes no sense."""

    kind = "usage"


class InputError(KanonError, ValueError):
    """The data, or a file that somebody wrote, is wrong."""

    kind = "input"


class SystemFailure(KanonError, OSError):
    """Reading, writing or a server failed."""

    kind = "system"

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        OSError.__init__(self, message)
        self.line = line
        self.column = column


class OutOfMemory(KanonError, MemoryError):
    """Out of memory, or ``memory_limit`` would be exceeded."""

    kind = "memory"


class InternalError(KanonError):
    """A bug in kanon: the verifier rejected what was written, or an invariant did not hold. Nothing was released."""

    kind = "internal"


class Undecided(KanonError):
    """The question was not answered: deciding it takes more work, or time, than was allowed."""

    kind = "undecided"


class Busy(KanonError):
    """The context is serving another call."""

    kind = "busy"


class NoRelease(KanonError):
    """There is no release that keeps the promises. ``answer`` is the library's document, with the reason."""

    kind = "unmet"

    def __init__(self, message: str, line: int = 0, column: int = 0, answer: Document | None = None) -> None:
        super().__init__(message, line, column)
        self.answer = answer

    def __reduce__(self) -> tuple[type[KanonError], tuple[Any, ...]]:
        return type(self), (str(self), self.line, self.column, self.answer)


class Cancelled(KanonError):
    """The work was cancelled."""

    kind = "cancelled"


_BY_STATUS: dict[int, type[KanonError]] = {
    1: NoRelease,
    2: UsageError,
    3: InputError,
    4: SystemFailure,
    5: OutOfMemory,
    6: Cancelled,
    7: InternalError,
    8: Undecided,
    9: Busy,
}


def translated(error: _kanon.LibraryError) -> KanonError:
    """The library's error as an exception of its kind. Names in memory are shown as what they stand for."""
    status, message, line, column = error.args
    return _BY_STATUS.get(status, KanonError)(message.replace("memory:", ""), line, column)
