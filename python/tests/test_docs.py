# SPDX-License-Identifier: Apache-2.0
"""What docs/python.md, docs/tutorial-scientist.md and the READMEs show is run; the reference is that of the docstrings."""

import doctest
import pathlib
import re
import shutil

import pytest
import reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("docs/python.md", "docs/tutorial-scientist.md", "README.md", "python/README.md")
PAGES = [ROOT / name for name in NAMES if (ROOT / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_examples_of(page, tmp_path, monkeypatch):
    """In a folder with the examples, without what somebody's trial of them left there."""
    ignored = (ROOT / "examples" / ".gitignore").read_text().splitlines()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for pattern in ignored:
        for left in (tmp_path / "examples").glob(pattern.lstrip("/")) if pattern and pattern[0] != "#" else ():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    assert test.examples
    said = []
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert found.failed == 0, "".join(said)


def test_reference():
    page = (ROOT / "docs" / "python.md").read_text()
    assert page.endswith(reference.HEADING + "\n" + reference.sections()), (
        "python python/tests/reference.py --update docs/python.md"
    )
