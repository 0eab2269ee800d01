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


def test_names_that_stand_twice_in_pandas():
    with pytest.raises(kn.InputError, match='two columns are called "a"'):
        kn.diagnose(pandas.DataFrame([[1, 2]], columns=["a", "a"]), "a")


def test_the_column_of_several_types_is_named_not_one_of_lists():
    frame = pandas.DataFrame({"lists": [[1], []], "a": [1, SECRET], "b": [1, 2]}, dtype=object)
    with pytest.raises(kn.InputError, match=r'column "a".*several types'):
        kn.diagnose(frame, "b")


def test_an_index_without_a_name_is_no_column():
    """The rows of a selection, or of a split for training, are numbered by one."""
    frame = pandas.DataFrame(people(40, 3))
    some = frame[frame["age"] > 30]
    assert [column.name for column in kn.profile(some).columns] == list(frame.columns)
    named = some.set_index(["job", some.index])
    assert sorted(column.name for column in kn.profile(named).columns) == sorted(frame.columns)
    kn.anonymize(frame, kn.init(some).spec, k=2)


def test_what_is_missing_in_lists_of_pandas():
    frame = pandas.DataFrame(
        {"n": pandas.array([1, None, 2], dtype="Int64"), "d": pandas.to_datetime(["2024-01-01", None, None])}
    )
    for data in (frame, frame.to_dict("list"), frame.to_dict("records")):
        found = kn.profile(data)
        assert [(column.type, column.missing) for column in found.columns] == [("integer", 1), ("datetime", 2)]


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
