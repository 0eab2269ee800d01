# SPDX-License-Identifier: Apache-2.0
"""What the tests share: tables of synthetic rows, and the program that the package must agree with."""

import importlib.util
import os
import random

import pytest

KANON = os.environ.get("KANON", "")
FULL = os.environ.get("KANON_TEST_FULL", "0") not in ("", "0")


def installed(name: str) -> bool:
    """Is the package here? `make python` tests with all of them, `make test` with pyarrow and Polars."""
    return importlib.util.find_spec(name) is not None


collect_ignore = ["notebooks.py", "stress.py"]  # programs
collect_ignore += [] if installed("pandas") else ["test_pandas.py"]
collect_ignore += [] if installed("matplotlib") else ["test_plot.py"]

needs_program = pytest.mark.skipif(not KANON, reason="KANON does not name the program")


def people(rows: int, seed: int) -> dict[str, list]:
    """Rows with numbers, codes, categories and missing cells."""
    draw = random.Random(seed)
    return {
        "age": [draw.randrange(18, 80) for _ in range(rows)],
        "zip": [f"479{draw.randrange(100):02}" for _ in range(rows)],
        "sex": [draw.choice(["female", "male"]) for _ in range(rows)],
        "job": [draw.choice(["clerk", "smith, black", 'a "b"', None]) for _ in range(rows)],
        "diagnosis": [draw.choice(["flu", "gout", "asthma", "measles"]) for _ in range(rows)],
    }


ROLES = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20, 40]}},
    "zip": {"role": "quasi", "type": "text", "hierarchy": {"mask": "right"}},
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "job": {"role": "quasi", "hierarchy": "suppress"},
    "diagnosis": "sensitive",
}
