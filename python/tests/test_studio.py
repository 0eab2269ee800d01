# SPDX-License-Identifier: Apache-2.0
"""The studio in this process: every shape of data opens, what is published is what anonymize makes, and nothing is left."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import polars as pl
import pytest
from conftest import people

import pykanon as kn

FRAME = pl.DataFrame(people(300, 2))


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Each test works in a folder of its own, and finds in another one what the studio writes for itself."""
    work, own = tmp_path / "work", tmp_path / "own"
    work.mkdir()
    own.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    return work, own


def ask(page, path, body=None):
    base, token = page.address.split("/#")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(base + path, content, headers)) as answer:
        return json.load(answer)


def opened(page):
    while True:
        session = ask(page, "/api/session")
        if session["open"] or session.get("failure"):
            return session
        time.sleep(0.05)  # between two questions; how long it takes decides nothing


def finished(page, kind):
    job = ask(page, "/api/jobs", {"kind": kind})
    while job["state"] not in ("done", "failed", "cancelled"):
        time.sleep(0.05)  # as above
        job = ask(page, f"/api/jobs/{job['id']}")
    assert job["state"] == "done", job
    return ask(page, f"/api/jobs/{job['id']}/answer")


DATABASE = {
    "person": {"id": [1, 2, 3, 4], "age": [30, 31, 40, 41]},
    "visit": {"number": [1, 2, 3, 4], "person": [1, 2, 3, 4], "ward": list("abab")},
}


@pytest.mark.parametrize(
    ("data", "shape"),
    [
        (FRAME, "table"),
        (people(50, 1), "table"),
        (DATABASE, "database"),
        ([{"name": "a", "items": ["x", "y"]}, {"name": "b", "items": ["x"]}], "records"),
        (kn.Records("<all><one><v>1</v></one><one><v>2</v></one></all>", "xml"), "records"),
    ],
    ids=["frame", "dict", "database", "rows", "records"],
)
def test_every_shape_opens_and_nothing_is_left(folders, data, shape):
    work, own = folders
    with kn.studio(data, open_browser=False) as page:
        (private,) = own.iterdir()
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        session = opened(page)
        assert session["open"] and session["shape"] == shape, session
    assert repr(page) == "Studio(stopped)"
    page.stop()  # again: nothing happens
    assert not list(own.iterdir()) and not list(work.iterdir())


def test_what_is_published_is_what_anonymize_makes(folders):
    work, own = folders
    with kn.studio(FRAME, save_data="people.csv", open_browser=False) as page:
        opened(page)
        ask(page, "/api/save", {})
        assert finished(page, "publish")["verified"]
    made = (work / "release.csv").read_bytes()
    again = kn.anonymize(spec="release.yaml", output="again.csv")
    assert again.verified and (work / "again.csv").read_bytes() == made
    assert kn.anonymize(FRAME, "release.yaml").to_csv() == made
    assert (work / "people.csv").exists() and not list(own.iterdir())


def test_who_has_no_token_gets_no_answer():
    with kn.studio(FRAME, open_browser=False) as page:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(page.address.split("/#")[0] + "/api/session")
        assert refused.value.code == 401


def test_without_data_the_page_asks():
    with kn.studio(open_browser=False) as page:
        assert ask(page, "/api/session")["choosing"]


def test_a_path_and_a_release_file(folders):
    FRAME.write_csv("people.csv")
    with kn.studio("people.csv", open_browser=False) as page:
        assert opened(page)["input"] == "people.csv"
        ask(page, "/api/save", {})
    with kn.studio(release="release.yaml", open_browser=False) as page:
        assert "people.csv" in opened(page)["release"]


def test_refusals(folders):
    work, own = folders
    (work / "there.csv").write_text("a\n1\n")
    with pytest.raises(kn.UsageError, match="exists"):
        kn.studio(FRAME, save_data="there.csv", open_browser=False)
    with pytest.raises(kn.UsageError, match="working folder"):
        kn.studio(release="elsewhere/release.yaml", open_browser=False)
    with pytest.raises(kn.UsageError, match="one file"):
        kn.studio(["a.csv", "b.csv"], open_browser=False)
    with pytest.raises(kn.InputError):
        kn.studio({"a": [1, "x"]}, open_browser=False)
    assert not list(own.iterdir())


def test_a_fork_leaves_the_page_alone(folders):
    _, own = folders
    with kn.studio(FRAME, open_browser=False) as page:
        child = os.fork()
        if child == 0:
            page.stop()
            del page
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert opened(page)["open"] and len(list(own.iterdir())) == 1


def test_the_end_of_python_ends_it(folders):
    _, own = folders
    script = "import pykanon as kn; page = kn.studio({'a': [1, 2]}, open_browser=False); print(page.address)"
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"TMPDIR": str(own)}, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith("http://127.0.0.1:"), done.stderr
    assert not list(own.iterdir())
