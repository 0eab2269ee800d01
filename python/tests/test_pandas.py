# SPDX-License-Identifier: Apache-2.0
"""pandas data frames; collected where pandas is installed."""

import pandas
import pytest
from conftest import people

import pykanon as kn

SECRET = "Winterbottom"


def test_mixed_types_in_pandas():
    with pytest.raises(kn.InputError, match=r'column "a".*several types') as caught:
        kn.diagnose(pandas.DataFrame({"a": [1, SECRET]}, dtype=object), "a")
    assert SECRET not in str(caught.value)


def test_pandas_types_come_back():
    frame = pandas.DataFrame(
        {
            "qi": [1, 1, 2, 2],
            "n": pandas.array([1, None, 1, 2], dtype="Int64"),
            "c": pandas.Categorical(["a", "b", "a", "b"]),
            "d": pandas.to_datetime(["2024-01-01", "2024-01-02"] * 2).tz_localize("Europe/Paris"),
            "s": ["x", "y", "x", "y"],
        }
    )
    out = kn.anonymize(frame, qi="qi", keep=["n", "c", "d", "s"], k=2, method="optimal").to_pandas()
    assert {name: str(out[name].dtype) for name in out if name != "d"} == {
        "qi": "int64",
        "n": "Int64",
        "c": "category",
        "s": str(frame["s"].dtype),
    }
    assert str(out["d"].dtype).endswith("Europe/Paris]")


def test_a_release_in_pandas_is_verified():
    columns = people(200, 6)
    rel = kn.anonymize(pandas.DataFrame(columns), qi={"age": kn.ranges(10, 20, 40), "sex": None}, k=3, method="optimal")
    frame = rel.to_pandas()
    assert kn.verify(pandas.DataFrame(columns), frame, rel.spec).verified
    frame.loc[0, "sex"] = "male" if frame.loc[0, "sex"] == "female" else "female"
    assert not kn.verify(pandas.DataFrame(columns), frame, rel.spec).verified
