# SPDX-License-Identifier: Apache-2.0
"""Tables of a Spark cluster, where they are: Spark groups, applies and checks again by statements of the library, the library
decides on distinct combinations with counts. Executors need nothing of kanon. See docs/spark.md.

    from pykanon import spark as ks
    ks.diagnose(df, qi=["age", "sex", "zip"], k=5)
    rel = ks.anonymize(df, "release.yaml").write("s3a://bucket/release")
    rel.recipe and ks.apply(rel.recipe, next_month).write("s3a://bucket/next")
    ks.verify(df, "s3a://bucket/release", "release.yaml")
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from . import _kanon
from ._api import Columns, Diagnosis, _share
from ._data import _OPTIONS, Job
from ._document import Document
from ._errors import InputError, NoRelease, SystemFailure, UsageError, translated
from ._progress import callback
from ._release import Page, Recipe
from ._spec import Promises, Spec, _names

__all__ = ["Plan", "SparkRelease", "anonymize", "apply", "diagnose", "verify"]

_DIALECT = 2  # KN_DIALECT_SPARK
_ORIGINAL = "kanon_original"
_MARKER = "_SUCCESS"
_CERTIFICATE = "_certificate.json"
_PUBLIC_REPORT = "_report.html"
_UNFINISHED = "unfinished"
_LOCK = threading.Lock()  # names of temporary views are one job's
_LOG = logging.getLogger("pykanon.spark")


# ---- Statements ----


def _reason(error: BaseException) -> str:
    """What failed, by names of classes and conditions: the words of an error may hold values of the data."""
    if "No space left on device" in str(error):
        return "Spark: no space left on device"
    condition = getattr(error, "getCondition", lambda: None)()
    if condition:
        return f"Spark: {condition}"
    thrown = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    names = [type(error).__name__]
    while thrown is not None and len(names) < 6:
        names.append(thrown.getClass().getSimpleName())
        thrown = thrown.getCause()
    return "Spark: " + ": ".join(names[1:] or names)


class _Stream:
    """A capsule as something that pyarrow reads."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._capsule


class _Statements:
    """Runs the library's statements in a Spark session, on the thread that asked for the work."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.stage = ""
        self.views: list[str] = []
        self.begin: Any = None  # called before the statement that writes, and
        self.written: Any = None  # after it
        self.begun = False
        self.bytes_collected = 0
        self.bytes_sent = 0

    @contextmanager
    def _described(self, words: str) -> Generator[None, None, None]:
        context = self.session.sparkContext
        before = context.getLocalProperty("spark.job.description")
        text = f"kanon: {self.stage}: {words}" if self.stage else f"kanon: {words}"
        context.setJobDescription(text)
        began = time.monotonic()
        try:
            yield
        finally:
            context.setJobDescription(before)
            _LOG.info("%s: %.1f s", text, time.monotonic() - began)

    def run(self, sql: str) -> str | None:
        writes = sql.startswith("INSERT OVERWRITE DIRECTORY ")
        if sql.startswith("CACHE TABLE "):
            self.views.append(sql.split()[2])
        try:
            if writes and self.begin is not None:
                self.begun = True
                self.begin()
            with self._described("write" if writes else "make a table"):
                self.session.sql(sql)
            if writes and self.written is not None:
                self.written()
        except Exception as error:
            return _reason(error)
        return None

    def query(self, sql: str) -> object:
        try:
            with self._described("group and count"):
                table = self.session.sql(sql).toArrow()
        except Exception as error:
            return _reason(error)
        self.bytes_collected += table.nbytes
        return table.__arrow_c_stream__()

    def put(self, name: str, capsule: object) -> str | None:
        import pyarrow
        from pyspark.sql.functions import broadcast  # pyright: ignore[reportMissingImports]

        try:
            table = _plain(pyarrow.table(_Stream(capsule)))
            self.bytes_sent += table.nbytes
            with self._described(f"hand over the table {name}"):
                broadcast(self.session.createDataFrame(table)).createOrReplaceTempView("`" + name.replace("`", "``") + "`")
            self.views.append(name)
        except Exception as error:
            return _reason(error)
        return None


def _plain(table: Any) -> Any:
    """Texts as texts: Spark takes no dictionaries."""
    import pyarrow

    fields = [
        pyarrow.field(f.name, f.type.value_type if pyarrow.types.is_dictionary(f.type) else f.type) for f in table.schema
    ]
    return table.cast(pyarrow.schema(fields))


@contextmanager
def _connected(df: Any) -> Generator[tuple[Job, _Statements], None, None]:
    """A job with the engine "spark", and the data frame as a view."""
    session = getattr(df, "sparkSession", None)
    if session is None:
        raise UsageError(f"a Spark data frame is expected, not {type(df).__name__}")
    if not hasattr(session, "_jvm"):
        raise UsageError(
            "Spark Connect has no access to the cluster's files: use a session of spark-submit or of a notebook on it"
        )
    with _LOCK:
        statements = _Statements(session)
        job = Job()
        df.createOrReplaceTempView(_ORIGINAL)
        statements.views.append(_ORIGINAL)
        try:
            job.context.add_engine("spark", _DIALECT, statements.run, statements.query, statements.put)
            yield job, statements
        finally:
            for view in statements.views:
                session.catalog.dropTempView(view)


def _call(job: Job, statements: _Statements, command: str, arguments: dict[str, Any]) -> Any:
    """A command of the library; its stages are shown, and are the descriptions of Spark's jobs."""
    shown = callback(_OPTIONS.progress)

    def step(stage: str, unit: str, done: int, total: int, seconds: float, finished: bool) -> None:
        statements.stage = stage
        if shown is not None:
            shown(stage, unit, done, total, seconds, finished)

    try:
        return job.context.call(command, arguments, step)
    except _kanon.LibraryError as error:
        raise translated(error) from None
    finally:
        if shown is not None:
            shown.close()


# ---- Folders of the cluster ----


class _Folder:
    """A folder wherever Spark writes: a disk, HDFS, an object store."""

    def __init__(self, session: Any, path: str) -> None:
        self._jvm = session._jvm
        self._path = self._jvm.org.apache.hadoop.fs.Path(path)
        self._fs = self._path.getFileSystem(session._jsc.hadoopConfiguration())
        self.name = path

    def _at(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._path, name)

    def exists(self, name: str = "") -> bool:
        return bool(self._fs.exists(self._at(name) if name else self._path))

    def list(self) -> dict[str, tuple[int, int]]:
        """Names, sizes and times of its entries; those that a disk's checksums are in are left out."""
        if not self.exists():
            return {}
        found = self._fs.listStatus(self._path)
        entries = {str(one.getPath().getName()): (int(one.getLen()), int(one.getModificationTime())) for one in found}
        return {name: entry for name, entry in entries.items() if not (name.startswith(".") and name.endswith(".crc"))}

    def open(self, name: str) -> Any:
        return self._fs.open(self._at(name))

    def read(self, name: str) -> bytes:
        stream = self.open(name)
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def write(self, name: str, content: bytes, private: bool = False) -> None:
        """The whole file or none: under another name first."""
        hidden = self._at(f"_{name}.new")
        stream = self._fs.create(hidden, True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
        if private:
            permission = self._jvm.org.apache.hadoop.fs.permission.FsPermission("600")
            self._fs.setPermission(hidden, permission)
        self._fs.delete(self._at(name), False)
        if not self._fs.rename(hidden, self._at(name)):
            raise SystemFailure(f"{self.name}: {name} could not be written")

    def delete(self, name: str = "") -> None:
        self._fs.delete(self._at(name) if name else self._path, True)


def _parts(folder: _Folder) -> dict[str, tuple[int, int]]:
    """The parts of a release; InputError: there is something else."""
    listed = {name: entry for name, entry in folder.list().items() if name not in (_MARKER, _CERTIFICATE, _PUBLIC_REPORT)}
    for name in listed:
        if not (name.startswith("part-") and name.endswith(".parquet")):
            raise InputError(f"{folder.name}: there is a file that is no part of a release")
    return listed


def _spread_digests(session: Any, folder: _Folder) -> list[dict[str, Any]]:
    """Name, size and SHA-256 of each part, read by the executors."""
    path = folder.name.replace("`", "``")
    rows = session.sql(f"SELECT path, length, sha2(content, 256) AS sha256 FROM binaryFile.`{path}` ORDER BY path").collect()
    return [{"name": row["path"].rsplit("/", 1)[-1], "bytes": row["length"], "sha256": row["sha256"]} for row in rows]


def _digests(session: Any, folder: _Folder, whole: bool) -> tuple[list[dict[str, Any]], str]:
    """Name, size and SHA-256 of each part; if ``whole``, also that of all their bytes in order, by one reading in the
    driver's Java, as one digest cannot be made in pieces. Otherwise executors read the parts, each for itself."""
    if not whole:
        return _spread_digests(session, folder), ""
    java = session._jvm.java.security
    everything = java.MessageDigest.getInstance("SHA-256")
    parts = []
    for name, (size, _) in sorted(_parts(folder).items()):
        stream = java.DigestInputStream(folder.open(name), everything)
        try:
            digest = str(session._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        finally:
            stream.close()
        parts.append({"name": name, "bytes": size, "sha256": digest})
    return parts, bytes(everything.digest()).hex()


def _manifest(folder: _Folder) -> dict[str, Any]:
    """What the marker says; InputError: there is none, or it is another's."""
    if not folder.exists(_MARKER):
        raise InputError(f"{folder.name}: there is no finished release: the marker {_MARKER} is missing")
    try:
        manifest: dict[str, Any] = json.loads(folder.read(_MARKER))
        if not isinstance(manifest["parts"], list) or not isinstance(manifest["certificate"], str):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{folder.name}: the marker {_MARKER} is not one that kanon wrote") from None
    return manifest


def _private(session: Any, path: str) -> _Folder:
    return _Folder(session, path.rstrip("/") + ".private")


def _check_place(session: Any, folder: _Folder, overwrite: bool) -> None:
    """May a release be written there? A finished one is replaced if asked for, an unfinished one of ours always."""
    if folder.exists(_MARKER):
        if not overwrite:
            raise UsageError(f"{folder.name}: there is a finished release; overwrite=True replaces it")
        _manifest(folder)
    elif folder.list() and not _private(session, folder.name).exists(_UNFINISHED):
        raise UsageError(f"{folder.name}: the folder is not empty, and what is in it was not begun by kanon")
    elif folder.list():
        _LOG.warning("%s: an unfinished release is replaced", folder.name)


def _begin(session: Any, folder: _Folder) -> None:
    """From here to the marker the release is unfinished, and its folder says so."""
    _private(session, folder.name).write(_UNFINISHED, b"")
    if folder.exists(_MARKER):
        folder.delete(_MARKER)  # before anything else of an old release


def _take_back(session: Any, folder: _Folder) -> None:
    """Removes what an unfinished release has written; if that fails too, ``unfinished`` goes on to say what the folder is."""
    private = _private(session, folder.name)
    try:
        if not private.exists(_UNFINISHED):
            return
        beside = (_CERTIFICATE, _PUBLIC_REPORT, _MARKER)
        ours = {"_temporary", *beside, *(f"_{name}.new" for name in beside)}
        for name in folder.list():
            if name in ours or name.startswith("part-"):
                folder.delete(name)
        if folder.list():
            return  # something that others put there
        folder.delete()
        private.delete(_UNFINISHED)
        if not private.list():
            private.delete()
        _LOG.warning("%s: what was written could not be published, and was removed", folder.name)
    except Exception as error:
        _LOG.warning("%s: an unfinished release is left there (%s)", folder.name, _reason(error))


# ---- Releasing ----


class SparkRelease:
    """A release that was verified where it is: ``path``, ``answer`` (attributes and all), ``certificate``, ``private``,
    ``owner_report``, ``recipe``."""

    def __init__(self, session: Any, path: str, answer: Document, files: dict[str, bytes]) -> None:
        self._session = session
        self._files = files
        self.path = path
        self.answer = answer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "answer" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.answer, name)

    def __repr__(self) -> str:
        return repr(self.answer)

    def to_df(self) -> Any:
        """The rows as a Spark data frame."""
        return self._session.read.parquet(self.path)

    @property
    def certificate(self) -> Document:
        """What may be published with the release."""
        return Document(self._files["certificate.json"].decode())

    @property
    def private(self) -> Document:
        """Every figure, the seed: for the owner."""
        return Document(self._files["private.json"].decode())

    @property
    def owner_report(self) -> Page | None:
        """The page for the owner."""
        content = self._files.get("report.html")
        return None if content is None else Page(content, private=True)

    @property
    def recipe(self) -> Recipe | None:
        """What was decided, to be applied to other rows; None: the method or the request leaves none."""
        content = self._files.get("recipe.json")
        return None if content is None else Recipe(content)


def _beside(job: Job) -> dict[str, bytes]:
    """What the library made beside the release, by short names."""
    found = {}
    for stored in job.context.names("memory:"):
        name = stored.removeprefix("memory:").removeprefix("out.")
        if stored.startswith("memory:out.") or name in ("report.html", "public.html"):
            found[name] = job.get_bytes(stored)
    return found


def _seal(document: bytes, key: str, digest: str) -> bytes:
    """The document with the release's digest, which the library leaves empty: it does not see the files."""
    sealed = document.replace(f'"{key}": ""'.encode(), f'"{key}": "{digest}"'.encode(), 1)
    if digest and sealed == document:
        raise SystemFailure(f"there is no place for {key} in a document of the release")
    return sealed


def _publish(session: Any, folder: _Folder, files: dict[str, bytes], seen: dict[str, tuple[int, int]], whole: bool) -> None:
    """Everything beside a verified release, and the marker last."""
    parts, digest = _digests(session, folder, whole)
    files["certificate.json"] = _seal(files["certificate.json"], "sha256", digest)
    files["private.json"] = _seal(files["private.json"], "release_sha256", digest)
    if _parts(folder) != seen or sorted(seen) != sorted(part["name"] for part in parts):
        raise SystemFailure(f"{folder.name}: its files were changed while they were checked; nothing is published")
    beside = _private(session, folder.name)
    for name in ("private.json", "recipe.json", "report.html"):
        if name in files:
            beside.write(name, files[name], private=True)
    folder.write(_CERTIFICATE, files["certificate.json"])
    if "public.html" in files:
        folder.write(_PUBLIC_REPORT, files["public.html"])
    certificate = hashlib.sha256(files["certificate.json"]).hexdigest()
    manifest = {"kanon": _kanon.version(), "certificate": certificate, "parts": parts}
    folder.write(_MARKER, (json.dumps(manifest, indent=1) + "\n").encode())
    beside.delete(_UNFINISHED)


class Plan:
    """A release that is yet to be written: ``write`` does all of the work."""

    def __init__(self, df: Any, command: str, spec: Spec, recipe: Recipe | None = None) -> None:
        self._df = df
        self._command = command
        self._spec = spec
        self._recipe = recipe

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        report: bool = True,
        public_report: bool = False,
        digest: bool = True,
    ) -> SparkRelease:
        """Decides, lets Spark write the release into the folder ``path`` as Parquet, reads it back and checks every promise
        again. Only then the certificate and, last, the marker ``_SUCCESS`` appear; what is private goes to ``path.private``.
        A job that fails removes what it wrote; one that was killed leaves no marker: write again. ``digest=False``: the
        certificate does without the digest of all parts, for which the driver reads them one after the other.
        ``NoRelease``: there is none."""
        place = os.fspath(path).rstrip("/")
        session = getattr(self._df, "sparkSession", None)
        with _connected(self._df) as (job, statements):
            folder = _Folder(session, place)
            _check_place(session, folder, overwrite)
            statements.begin = lambda: _begin(session, folder)
            try:
                return self._make(job, statements, folder, (report, public_report, digest))
            except BaseException:
                if statements.begun:
                    _take_back(session, folder)
                raise

    def _make(self, job: Job, statements: _Statements, folder: _Folder, wanted: tuple[bool, bool, bool]) -> SparkRelease:
        report, public_report, digest = wanted
        seen: list[dict[str, tuple[int, int]]] = []
        statements.written = lambda: seen.append(_parts(folder))
        self._spec._place(job)
        fields: dict[str, Any] = {"input": [f"engine:spark#{_ORIGINAL}"], "output": f"engine:spark#{folder.name}"}
        fields["report"] = "memory:report.html" if report else None
        fields["public_report"] = "memory:public.html" if public_report else None
        asked = {**self._spec._arguments(**fields), "recipe": True}
        if self._recipe is not None:
            job.put_bytes("memory:recipe.json", self._recipe.content)
            asked["recipe"] = "memory:recipe.json"
        answer = Document(_call(job, statements, self._command, asked))
        if not answer["found"]:
            raise NoRelease(answer.get("reason") or "there is no such release", answer=answer)
        files = _beside(job)
        statements.stage = "publish"
        with statements._described("digest of each part"):
            _publish(statements.session, folder, files, seen[-1] if seen else {}, digest)
        return SparkRelease(statements.session, folder.name, answer, files)


def anonymize(df: Any, spec: Spec | str | os.PathLike[str] | Mapping[str, Any] | None = None, **keywords: Any) -> Plan:
    """A release of a Spark data frame that keeps every promise: ``anonymize(df, spec).write(path)``. ``spec`` and keywords
    are those of ``pykanon.anonymize``, with every method for a table; what needs single rows is refused with the reason."""
    return Plan(df, "anonymize", Spec(spec, **keywords))


def apply(recipe: Recipe | str | os.PathLike[str], df: Any, **fields: Any) -> Plan:
    """Releases other rows as a recipe decided, without a search, but with every promise checked:
    ``apply(recipe, df).write(path)``."""
    return Plan(df, "apply", Spec(None, **fields), recipe if isinstance(recipe, Recipe) else Recipe.load(recipe))


# ---- Looking, judging ----


def diagnose(
    df: Any,
    qi: Columns | None = None,
    *,
    over: Columns | None = None,
    k: int | None = None,
    suppression: float | int | str | None = None,
    missing: str | None = None,
    sensitive: Columns | Mapping[str, Any] | None = None,
    require: Promises | None = None,
    types: Mapping[str, str] | None = None,
    na: Any = None,
    timezone: str | None = None,
) -> Diagnosis:
    """How well does a crowd hide each row? As ``pykanon.diagnose``, asked of distinct combinations that Spark counts."""
    if (qi is None) == (over is None):
        raise UsageError("diagnose: give qi, one set of columns, or over, a list whose subsets are examined")
    if not _names(qi) and not _names(over):
        raise UsageError("diagnose: qi and over need the name of at least one column")
    spec = Spec(None, sensitive=sensitive, privacy=require, types=types, na=na, timezone=timezone)
    rows = isinstance(suppression, int) and not isinstance(suppression, bool) and suppression > 1
    with _connected(df) as (job, statements):
        spec._place(job)
        asked = {
            **spec._arguments(),
            "input": [f"engine:spark#{_ORIGINAL}"],
            "quasi": _names(qi),
            "over": _names(over),
            "sensitive": _names(sensitive),
            "k": k,
            "missing": missing,
            "suppression": None if rows else _share(suppression),
            "suppression_rows": suppression if rows else None,
            "report": "memory:report.html",
            "grouped": True,
        }
        text = _call(job, statements, "diagnose", asked)
        return Diagnosis(text, job.get_bytes("memory:report.html").decode())


def verify(original: Any, path: str | os.PathLike[str], spec: Any, **keywords: Any) -> Document:
    """Does a release in a folder keep its promises? The marker must stand, the parts must be those that it lists, byte for
    byte, and everything is derived anew from the rows: ``outcome`` is "holds", "does not hold" or "undecided"."""
    place = os.fspath(path).rstrip("/")
    whole = Spec(spec, **keywords)
    with _connected(original) as (job, statements):
        session = original.sparkSession
        folder = _Folder(session, place)
        manifest = _manifest(folder)
        if hashlib.sha256(folder.read(_CERTIFICATE)).hexdigest() != manifest["certificate"]:
            raise InputError(f"{place}: the certificate is not the one that was published")
        _parts(folder)
        sealed = json.loads(folder.read(_CERTIFICATE)).get("sha256") or ""
        statements.stage = "verify"
        with statements._described("digest of each part"):
            found, digest = _digests(session, folder, bool(sealed))
        if found != manifest["parts"]:
            raise InputError(f"{place}: {_difference(found, manifest['parts'])}")
        if digest != sealed:
            raise InputError(f"{place}: the certificate is one of other parts")
        whole._place(job)
        quoted = place.replace("`", "``")
        fields = {"input": [f"engine:spark#{_ORIGINAL}"], "output": f"engine:spark#parquet.`{quoted}`"}
        return Document(_call(job, statements, "verify", whole._arguments(**fields)))


def _difference(found: list[dict[str, Any]], listed: list[dict[str, Any]]) -> str:
    """How the parts differ from those of the marker, in words."""
    here, there = ({part["name"]: part for part in parts} for parts in (found, listed))
    added, lost = len(here.keys() - there.keys()), len(there.keys() - here.keys())
    changed = sum(here[name] != there[name] for name in here.keys() & there.keys())
    return f"the parts are not those that were published ({added} added, {lost} missing, {changed} changed)"
