# SPDX-License-Identifier: Apache-2.0
"""What docs/tutorial-engineer.md, docs/spark.md and examples/spark show is run."""

import os
import re
import shutil
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import pyspark
import pytest
from conftest import QUICK

import pykanon as kn

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the admissions of the tour and a later month's, and the release file."""
    folder = tmp_path_factory.mktemp("tour")
    for name, seed in (("admissions", 1), ("next", 2)):
        (folder / name).mkdir()
        table = pyarrow.table(kn.generate("hospital", rows=10_000, seed=seed, id=True))
        pyarrow.parquet.write_table(table, folder / name / "1.parquet")
    shutil.copytree(f"{ROOT}/examples/hospital", folder / "hospital")
    return folder


def shown(page):
    """The first block of Python on a page that uses pykanon.spark."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    return next(block for block in blocks if "from pykanon import spark" in block)


def test_the_tutorial(session, place, capsys):
    code = shown("docs/tutorial-engineer.md").replace("/data/", f"{place}/").replace("examples/", f"{place}/")
    exec(code, {"spark": session})
    assert capsys.readouterr().out == "5 109 holds\n"  # as the program says of the same rows


def test_the_page(session, place):
    code = (
        shown("docs/spark.md")
        .replace("s3a://hospital/", f"{place}/page-")
        .replace('"release.yaml"', f'"{place}/hospital/release.yaml"')
    )
    shutil.copytree(place / "admissions", place / "page-admissions")
    names = {"spark": session, "next_month": session.read.parquet(str(place / "next"))}
    exec(code, names)
    assert names["rel"].k == 5 and os.path.exists(place / "page-next" / "_SUCCESS")


def test_the_example_for_spark_submit(place):
    program = os.path.join(os.path.dirname(pyspark.__file__), "bin", "spark-submit")
    words = f"--master local[1] --driver-memory 800m --driver-java-options {QUICK} --conf spark.ui.enabled=false".split()
    request, target = str(place / "hospital" / "release.yaml"), str(place / "submitted")
    done = subprocess.run(
        [program, *words, f"{ROOT}/examples/spark/release.py", str(place / "admissions"), request, target],
        env=dict(os.environ, PYSPARK_PYTHON=sys.executable),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{target}: 10,000 rows, 109 suppressed, k = 5" in done.stdout.splitlines()
    assert os.path.exists(f"{target}/_SUCCESS")
