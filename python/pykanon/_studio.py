# SPDX-License-Identifier: Apache-2.0
"""The studio: a page in the browser that this process serves, for the data at hand."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import weakref

from . import _kanon
from ._data import _OPTIONS, Data, Job
from ._errors import UsageError, translated

__all__ = ["Studio", "studio"]


class Studio:
    """A page that this process serves to a browser on the same machine, until ``stop``, the end of a ``with`` block or of
    Python. It is made by ``studio``; ``address`` opens it, and whoever knows the address may use it."""

    def __init__(self, served: _kanon.Studio, folder: str | None) -> None:
        self.address = served.address()
        self._served = served
        self._folder = folder
        self._stopped = threading.Event()
        self._process = os.getpid()
        _RUNNING.add(self)

    def open(self) -> bool:
        """Opens the page in the user's browser; False: there is none, or it was opened before."""
        return self._served.open()

    def wait(self) -> None:
        """Until Ctrl-C, or until another thread stops it; then it is stopped."""
        try:
            while not self._stopped.wait(1):
                pass
        except KeyboardInterrupt:
            pass
        self.stop()

    def stop(self) -> None:
        """Cancels what is running and closes the page. Nothing is left but what was saved."""
        if self._process != os.getpid():
            return  # a fork: its parent serves the page
        self._stopped.set()
        self._served.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        _RUNNING.discard(self)

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return "Studio(stopped)" if self._stopped.is_set() else f"Studio({self.address!r})"


_RUNNING: weakref.WeakSet[Studio] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for one in list(_RUNNING):
        one.stop()


def _written(job: Job, name: str, path: str) -> str:
    """What stands under a name in memory, as a file: a table as CSV, records as they are."""
    if name.endswith((".xml", ".json", ".jsonl")):
        with open(path, "wb", opener=lambda place, flags: os.open(place, flags, 0o600)) as file:
            file.write(job.get_bytes(name))
    else:
        job.call("write", {"input": [name], "output": path})
    return path


def _on_disk(job: Job, name: str, folder: str, table: str | None) -> str:
    """Data in memory as a file, or a folder of files, that a release file can name."""
    if not name.endswith("/"):
        form = os.path.splitext(name)[1] or ".csv"
        return _written(job, name, table or os.path.join(folder, f"data{form}"))
    place = table or os.path.join(folder, "data")
    os.makedirs(place, mode=0o700)
    for one in job.context.names(name):
        _written(job, one, os.path.join(place, one.removeprefix(name)))
    return place


def studio(
    data: Data | None = None,
    release: str | os.PathLike[str] | None = None,
    *,
    save_data: str | os.PathLike[str] | None = None,
    open_browser: bool = True,
) -> Studio:
    """Opens a page in the browser: who stands out, what to blur, what is promised, and the release, verified. What is
    clicked there is a release file, ``release`` (default: ``release.yaml`` in the working folder), that ``anonymize`` and the
    program run. Without ``data`` it is read, if it is named; else the page asks for a file.

    A path is read where it is. Data in memory are written to a private folder first, which ends with the studio, or to
    ``save_data``: give it if the release file is to run later by itself; otherwise give ``anonymize`` the data and the file.

    >>> import pykanon as kn
    >>> people = kn.generate("hospital", rows=100, seed=1)
    >>> with kn.studio(people, open_browser=False) as page:
    ...     page.address.startswith("http://127.0.0.1:")
    True
    """
    if data is None and release is not None and os.path.dirname(os.fspath(release)) not in ("", "."):
        raise UsageError("studio: the names in a release file are relative to its folder; make that the working folder first")
    if save_data is not None and os.path.lexists(save_data):
        raise UsageError("studio: save_data names something that exists; it is not replaced")
    job, folder, source = Job(), None, None
    try:
        if data is not None:
            names = job.put(data)
            if len(names) > 1:
                raise UsageError("studio: one file at a time; a folder is a database, or the parts of a Parquet table")
            source = names[0]
            if source.startswith("memory:"):
                folder = tempfile.mkdtemp(prefix="kanon-studio-") if save_data is None else None
                source = _on_disk(job, source, folder or "", os.fspath(save_data) if save_data is not None else None)
        served = _kanon.Studio(source, os.fspath(release) if release else None, _OPTIONS.threads, _OPTIONS.memory_limit)
    except BaseException as error:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, _kanon.LibraryError):
            raise translated(error) from None
        raise
    page = Studio(served, folder)
    if open_browser:
        page.open()
    return page
