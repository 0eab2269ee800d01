# SPDX-License-Identifier: Apache-2.0
"""Bad input: exceptions that a Python user understands, without a value of the data."""

import gc
import pickle
import weakref

import polars as pl
import pyarrow as pa
import pytest
from conftest import people

import pykanon as kn

FRAME = pl.DataFrame(people(40, 1))
SECRET = "Winterbottom"


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: kn.diagnose(FRAME, ["agee"]), kn.InputError, 'did you mean "age"'),
        (lambda: kn.anonymize(FRAME, qi=["nothing"], k=2), kn.InputError, 'there is no column "nothing"'),
        (lambda: kn.diagnose(pa.table({"a": [{"x": 1}]}), "a"), kn.InputError, 'column "a"'),
        (lambda: kn.diagnose({"a": [1, SECRET]}, "a"), kn.InputError, "several types (int, str)"),
        (lambda: kn.diagnose({"a": [1], "b": [1, 2]}, "a"), kn.InputError, "not equally long"),
        (lambda: kn.diagnose({"a": [object()]}, "a"), kn.InputError, "cells of type object"),
        (lambda: kn.diagnose(pl.DataFrame(), "a"), kn.InputError, "no columns"),
        (lambda: kn.anonymize(FRAME.head(0), qi="sex", k=2), kn.InputError, "no rows"),
        (lambda: kn.diagnose(5, "a"), kn.UsageError, "data of type int"),
        (lambda: kn.diagnose(FRAME), kn.UsageError, "give qi"),
        (lambda: kn.diagnose(FRAME, []), kn.UsageError, "at least one column"),
        (lambda: kn.diagnose(FRAME, over=[]), kn.UsageError, "at least one column"),
        (lambda: kn.diagnose(FRAME, "sex", k=0), kn.UsageError, "k must be at least 1"),
        (lambda: kn.diagnose(FRAME, "sex", k="5"), kn.UsageError, "k: a whole number is expected, not str"),
        (lambda: kn.diagnose(FRAME, "sex", k=5.0), kn.UsageError, "not float"),
        (lambda: kn.diagnose(FRAME, "sex", k=True), kn.UsageError, "not bool"),
        (lambda: kn.diagnose(FRAME, "sex").at_risk(0), kn.UsageError, "k must be at least 1"),
        (lambda: kn.diagnose(FRAME, "sex", at_most=True), kn.UsageError, "at_most goes with k"),
        (lambda: kn.diagnose(FRAME, "sex", sampling=0), kn.UsageError, "sampling goes with risk"),
        (lambda: kn.diagnose(FRAME, "sex", require={"l-diversity": {"l": 2}}), kn.UsageError, "require goes with sensitive"),
        (lambda: kn.diagnose(FRAME, "sex", time_limit=1), kn.UsageError, "time_limit goes with over"),
        (lambda: kn.diagnose(FRAME, "sex", max_size=2), kn.UsageError, "max_size goes with over or suda"),
        (lambda: kn.diagnose(FRAME, over=["sex", "age"], suda=True), kn.UsageError, "go with qi"),
        (lambda: kn.diagnose(FRAME, over=["sex", "age"], k=2, max_size=0), kn.UsageError, "max_size must be at least 1"),
        (lambda: kn.diagnose(FRAME, over=["sex", "age"], k=2, time_limit=-1), kn.UsageError, "time_limit must not"),
        (lambda: kn.diagnose([{"a": [1]}], spec={"classes": {"a": {}}}, kmn=(0, 1, 0)), kn.UsageError, "kmn: k must be"),
        (lambda: kn.diagnose([{"a": [1]}], spec={"classes": {"a": {}}}, kmn=(2, 1)), kn.UsageError, "give (k, m, n)"),
        (lambda: kn.diagnose([{"a": [1]}], spec={"classes": {"a": {}}}, k=2, suppression=0), kn.UsageError, "suppression"),
        (lambda: kn.init(FRAME, k=0), kn.UsageError, "k must be at least 2"),
        (lambda: kn.attack(FRAME, FRAME, qi="sex", k=0), kn.UsageError, "k must be at least 1"),
        (lambda: kn.dependencies(FRAME, max_left=0), kn.UsageError, "max_left must be at least 1"),
        (lambda: kn.build_hierarchy(FRAME, "age", groups="order", fan_out=0), kn.UsageError, "fan_out must be at least 2"),
        (lambda: kn.anonymize(FRAME, qi={"age": "ranges"}, k=2), kn.UsageError, "kn.ranges(5, 10)"),
        (lambda: kn.anonymize(FRAME, qi={"age": "mask"}, k=2), kn.UsageError, "a file of that name is ./mask"),
        (lambda: kn.Spec(qi=["age", "sex"], sensitive="age"), kn.UsageError, '"age" is named by qi and by sensitive'),
        (lambda: kn.Spec(qi=["age", "sex"], keep="age"), kn.UsageError, "a column has one role"),
        (lambda: kn.Spec(qi="age", attributes={"age": {"role": "keep"}}), kn.UsageError, "described with another role"),
        (lambda: kn.Spec(qi={"age": {"role": "keep"}}), kn.UsageError, "described with another role"),
        (lambda: kn.anonymize(FRAME, qi="sex", k=2, methd="optimal"), kn.UsageError, "did you mean 'method'"),
        (lambda: kn.anonymize(FRAME, qi="sex", k=2, method="mondrain"), kn.UsageError, "did you mean 'mondrian'"),
        (lambda: kn.anonymize(FRAME, qi={"age": {"rnages": [5]}}, k=2), kn.UsageError, "did you mean 'ranges'"),
        (lambda: kn.anonymize(FRAME, qi="sex", k=0), kn.UsageError, "at least 1"),
        (lambda: kn.anonymize(FRAME, qi="sex"), kn.KanonError, ""),
        (lambda: kn.anonymize(FRAME, "kanon: 1\nprivcy: [{k: 2}]\n"), kn.InputError, "spec:2:1"),
        (lambda: kn.anonymize(FRAME, qi="sex", k=1000), kn.NoRelease, "1000"),
        (lambda: kn.diagnose("/no/such/file.csv", "a"), kn.InputError, "file.csv"),
        (lambda: kn.options(threads=-1), kn.UsageError, "threads: a whole number is expected"),
        (lambda: kn.options(memory_limit="2G"), kn.UsageError, "memory_limit: a whole number is expected"),
        (lambda: kn.options(progress=3), kn.UsageError, "progress: True, False or a function"),
        (lambda: kn.schema("nothing"), kn.UsageError, ""),
        (lambda: kn.generate("nothing", 5), kn.UsageError, "kind"),
        (lambda: kn.diagnose(FRAME, ["age\0"]), ValueError, "NUL"),
    ],
)
def test_refusals(call, kind, words):
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)


def test_later_roles_replace_earlier_ones():
    spec = kn.Spec(qi=["age", "sex"], k=2).with_(sensitive="age")
    assert kn.anonymize(FRAME, spec, method="mondrian").to_polars().columns == ["age", "sex"] and "'sensitive'" in repr(spec)


def test_nan_is_missing_in_lists():
    found = kn.profile({"a": ["x", float("nan"), None], "b": [1, float("nan"), 2], "c": [float("nan")] * 3})
    assert [(column.type, column.missing) for column in found.columns] == [("text", 2), ("integer", 1), ("text", 3)]


def test_no_rows_show_nothing():
    """A gate must not pass a table that came out empty."""
    empty = {"age": [], "dx": []}
    found = kn.diagnose(pl.DataFrame(empty, schema={"age": pl.Int64, "dx": pl.String}), "age", k=5)
    assert found.holds is None and "no rows" in found.notes[0]
    assert "holds=None" in repr(found)
    with pytest.raises(AssertionError, match="no rows"):
        kn.testing.assert_anonymous(pl.DataFrame(empty, schema={"age": pl.Int64, "dx": pl.String}), "age", k=5)


def test_an_answer_shows_what_it_is_about():
    assert repr(kn.diagnose(FRAME, "sex", k=2)).startswith("<diagnose: holds=True, k=")
    assert "k=" in repr(kn.anonymize(FRAME, qi="sex", k=2))


def test_decimal_commas_are_numbers_in_profile_as_in_init():
    weights = [f"{50 + i},{i % 7}" for i in range(30)]
    found = kn.profile({"weight": weights, "site": ["a"] * 30})
    assert found.columns[0].role == "quasi" and any("decimal comma" in note for note in found.notes)


class Table:
    """A table that says whether somebody still holds it."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


BAD = {
    "an unknown column": (lambda: pa.table({"age": [1] * 5000}), "agee"),
    "a struct column": (lambda: pa.table({"a": [{"x": 1}] * 5000}), "a"),
    "a list column": (lambda: pa.table({"a": [[1]] * 5000}), "a"),
    "no column": (lambda: pa.table({}), "a"),
    "an infinite number": (lambda: pa.table({"a": [1.5] * 5000 + [float("inf")]}), "a"),
    "one name twice": (lambda: pa.Table.from_arrays([pa.array([1] * 5000)] * 2, names=["a", "a"]), "a"),
    "a text that is none": (lambda: pa.table({"a": pa.array([b"\xff"] * 5000).cast(pa.string(), safe=False)}), "a"),
    "a type that is unknown": (lambda: pa.table({"a": pa.array([5] * 5000, pa.duration("s"))}), "a"),
}


def test_nothing_is_left_of_what_is_refused():
    gc.collect()
    before, held = pa.total_allocated_bytes(), []
    for name, (make, column) in BAD.items():
        for _ in range(5):
            table = Table(make())
            held.append((name, weakref.ref(table)))
            with pytest.raises(kn.InputError) as caught:
                kn.diagnose(table, column)
            assert caught.value.__cause__ is None, name
    del table, caught
    gc.collect()
    assert not [name for name, one in held if one() is not None]
    assert pa.total_allocated_bytes() <= before


def test_no_release_is_pickled_with_its_answer():
    with pytest.raises(kn.NoRelease) as caught:
        kn.anonymize(FRAME, qi="sex", k=1000)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.answer == caught.value.answer is not None


def test_place_in_a_text():
    with pytest.raises(kn.InputError) as caught:
        kn.Spec("kanon: 1\nattributes:\n  age: {role: quasy}\n").check()
    assert (caught.value.line, caught.value.kind) == (3, "input")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.line) == (kn.InputError, str(caught.value), 3)


def test_a_consumed_stream():
    reader = FRAME.to_arrow().to_reader()
    assert kn.diagnose(reader, "sex").rows == 40
    with pytest.raises(kn.InputError, match="consumed"):
        kn.diagnose(reader, "sex")


def test_a_producer_that_raises():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ValueError(f"cannot convert {SECRET}")

    with pytest.raises(kn.InputError) as caught:
        kn.diagnose(Broken(), "a")
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None


def test_a_stream_that_fails_midway():
    def batches():
        yield from FRAME.to_arrow().to_batches()
        raise ValueError(SECRET)

    schema = FRAME.to_arrow().schema
    with pytest.raises(kn.KanonError) as caught:
        kn.diagnose(pa.RecordBatchReader.from_batches(schema, batches()), "sex")
    assert SECRET not in str(caught.value)


def test_memory_limit():
    kn.options(memory_limit=200_000)
    try:
        with pytest.raises(MemoryError):
            kn.diagnose(kn.generate("adult-like", rows=50_000), "age")
    finally:
        kn.options(memory_limit=0)


def test_assert_anonymous():
    assert kn.testing.assert_anonymous({"age": [30, 30]}, "age", k=2).k == 2
    with pytest.raises(AssertionError, match="not 2-anonymous on age, sex: the smallest class has 1 row"):
        kn.testing.assert_anonymous(FRAME, ["age", "sex"], k=2)
    with pytest.raises(AssertionError, match="l-diversity"):
        kn.testing.assert_anonymous(
            {"a": [1, 1], "s": ["x", "x"]}, "a", k=2, sensitive="s", require=[{"l-diversity": {"l": 2}}]
        )
