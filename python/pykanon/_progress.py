# SPDX-License-Identifier: Apache-2.0
"""A progress bar on a terminal and in a notebook, none elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Shown", "callback"]

_WAIT = 0.5  # seconds before a bar appears


class Shown:
    """Calls a function with every step; exceptions that it raises cancel the work."""

    def __init__(self, function: Callable[[str, str, int, int, float, bool], object]) -> None:
        self._function = function

    def __call__(self, stage: str, unit: str, done: int, total: int, seconds: float, finished: bool) -> None:
        self._function(stage, unit, done, total, seconds, finished)

    def close(self) -> None:
        pass


class _Bar(Shown):
    """tqdm's bar, one per stage."""

    def __init__(self, tqdm: Any) -> None:
        super().__init__(self._show)
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    def _show(self, stage: str, unit: str, done: int, total: int, seconds: float, finished: bool) -> None:
        if stage != self._stage:
            self.close()
            self._stage = stage
        if self._bar is None and (finished or seconds < _WAIT):
            return
        if self._bar is None:
            self._bar = self._tqdm(total=total or None, desc=stage, unit=f" {unit}", unit_scale=True, leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Line(Shown):
    """A line on standard error, where there is no tqdm."""

    def __init__(self) -> None:
        super().__init__(self._show)
        self._drawn = False

    def _show(self, stage: str, unit: str, done: int, total: int, seconds: float, finished: bool) -> None:
        if finished or seconds < _WAIT:
            return
        share = f"{100 * done / total:3.0f} %" if total else f"{done:,} {unit}"
        sys.stderr.write(f"\r\x1b[K{stage}: {share}")
        sys.stderr.flush()
        self._drawn = True

    def close(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


def callback(progress: bool | Callable[[str, str, int, int, float, bool], object] | None) -> Shown | None:
    """What shows the progress of one call; None: nothing does."""
    if callable(progress):
        return Shown(progress)
    if progress is None:
        progress = _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Bar(tqdm)
