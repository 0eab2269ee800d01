#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/arrow_pyarrow.py LIBRARY: streams made by pyarrow, read by kanon, and the other way round.

An extra check against another implementation of the interface; it needs the pyarrow package and prints "skipped" without
it. LIBRARY is the shared library (build/src/libkanon.so).
"""
import ctypes
import datetime
import decimal
import sys

try:
    import pyarrow as pa
except ImportError:
    print("skipped: there is no pyarrow")
    sys.exit(0)


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_int64), ("column", ctypes.c_int64),
                ("message", ctypes.c_char * 1000)]


class Stream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("memory_limit", ctypes.c_uint64),
                ("allocator", ctypes.c_void_p), ("progress", ctypes.c_void_p), ("progress_user", ctypes.c_void_p)]


if len(sys.argv) != 2:
    sys.exit(__doc__.splitlines()[0])
kanon = ctypes.CDLL(sys.argv[1])
for name, result in (("kn_table_rows", ctypes.c_int64), ("kn_table_text", ctypes.c_void_p), ("kn_table_code", ctypes.c_uint32),
                     ("kn_type_name", ctypes.c_char_p), ("kn_context_memory_used", ctypes.c_uint64)):
    getattr(kanon, name).restype = result
POINTER = ctypes.c_void_p
kanon.kn_table_text.argtypes = [POINTER, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(ctypes.c_size_t)]
kanon.kn_table_code.argtypes = [POINTER, ctypes.c_int, ctypes.c_int64]
error = Error()
context = POINTER()
options = Options(size=ctypes.sizeof(Options), threads=1)
if kanon.kn_context_create(ctypes.byref(context), ctypes.byref(options), ctypes.byref(error)) != 0:
    sys.exit(error.message.decode())


def imported(reader):
    """A kanon table made from a pyarrow reader, or the message of the refusal."""
    stream, table = Stream(), POINTER()
    reader._export_to_c(ctypes.addressof(stream))
    status = kanon.kn_table_import_arrow(ctypes.byref(table), context, ctypes.byref(stream), None, ctypes.byref(error))
    assert not stream.release, "the stream was not released"
    return table if status == 0 else error.message.decode()


def column(table, number):
    cells, size = [], ctypes.c_size_t()
    for row in range(kanon.kn_table_rows(table)):
        text = kanon.kn_table_text(table, number, kanon.kn_table_code(table, number, row), ctypes.byref(size))
        cells.append(ctypes.string_at(text, size.value).decode() if text else None)
    return cells


def exported(table):
    stream = Stream()
    status = kanon.kn_table_export_arrow(ctypes.byref(stream), table, context, None, ctypes.byref(error))
    assert status == 0, error.message
    return pa.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all()


def reader(array):
    schema = pa.schema([pa.field("x", array.type)])
    return pa.RecordBatchReader.from_batches(schema, [pa.record_batch([array], schema=schema)])


day = datetime.date(2024, 2, 29)
moment = datetime.datetime(2024, 2, 29, 12, 34, 56, 789000)
utc = datetime.timezone.utc
CASES = [
    (pa.array([None, None]), "text", [None, None]),
    (pa.array([True, None, False]), "text", ["true", None, "false"]),
    *((pa.array([1, None, 100], type=kind), "integer", ["1", None, "100"])
      for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64())),
    (pa.array([2**64 - 1, 5], type=pa.uint64()), "decimal", ["18446744073709551615", "5"]),
    (pa.array([0.1, float("nan"), 1e300]), "decimal", ["0.1", None, "1e300"]),
    (pa.array([0.1, 2.5], type=pa.float32()), "decimal", ["0.1", "2.5"]),
    (pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-0.05")]), "decimal", ["1.25", None, "-0.05"]),
    (pa.array([decimal.Decimal("12345678901234567890123456789012345678901.5")], type=pa.decimal256(50, 1)), "decimal",
     ["12345678901234567890123456789012345678901.5"]),
    (pa.array(["b", None, "", "Zürich"]), "text", ["b", None, "", "Zürich"]),
    (pa.array(["b", None, ""], type=pa.large_string()), "text", ["b", None, ""]),
    (pa.array(["short", None, "a text longer than twelve bytes"], type=pa.string_view()), "text",
     ["short", None, "a text longer than twelve bytes"]),
    (pa.array([day, None]), "date", ["2024-02-29", None]),
    (pa.array([day, None], type=pa.date64()), "date", ["2024-02-29", None]),
    (pa.array([moment.time(), None], type=pa.time64("us")), "text", ["12:34:56.789", None]),
    (pa.array([datetime.time(1, 2, 3)], type=pa.time32("s")), "text", ["01:02:03"]),
    *((pa.array([moment, None], type=pa.timestamp(unit)), "datetime", ["2024-02-29T12:34:56.789", None])
      for unit in ("ms", "us", "ns")),
    (pa.array([moment.replace(tzinfo=utc)], type=pa.timestamp("us", "Europe/Paris")), "datetime", ["2024-02-29T12:34:56.789Z"]),
    (pa.array(["x", "y", None, "x"]).dictionary_encode(), "text", ["x", "y", None, "x"]),
    (pa.array([7, None, 7]).dictionary_encode(), "integer", ["7", None, "7"]),
    (pa.array(["a", "b", None, "d", "e"]).slice(1, 3), "text", ["b", None, "d"]),
    (pa.array([True, False, None, True]).slice(1, 3), "text", ["false", None, "true"]),
    (pa.array(["x", "y", None, "x"]).dictionary_encode().slice(2, 2), "text", [None, "x"]),
]
REFUSED = [pa.array([b"bytes"]), pa.array([[1]]), pa.array([{"a": 1}]), pa.array([datetime.timedelta(1)]),
           pa.array([float("inf")]), pa.array([1], type=pa.timestamp("ns")), pa.array(["a\0b"]),
           pa.RunEndEncodedArray.from_arrays([2], ["a"]) if hasattr(pa, "RunEndEncodedArray") else pa.array([b""])]

for array, kind, cells in CASES:
    table = imported(reader(array))
    assert not isinstance(table, str), (array.type, table)
    assert column(table, 0) == cells, (array.type, column(table, 0))
    assert kanon.kn_type_name(kanon.kn_table_type(table, 0)).decode() == kind, array.type
    back = exported(table)
    back.validate(full=True)
    again = imported(back.to_reader())
    if kind != "decimal":
        assert [c and c.removesuffix("Z") for c in column(again, 0)] == [c and c.removesuffix("Z") for c in cells], array.type
    kanon.kn_table_free(again)
    kanon.kn_table_free(table)
for array in REFUSED:
    message = imported(reader(array))
    assert isinstance(message, str) and 'column "x"' in message, array.type

# Batches with dictionaries of their own, many columns, and a table of 200,000 rows.
schema = pa.schema([pa.field("x", pa.dictionary(pa.int8(), pa.string()))])
batches = [pa.record_batch([pa.array(values).dictionary_encode().cast(schema[0].type)], schema=schema)
           for values in (["b", "a"], ["c", None, "b"])]
table = imported(pa.RecordBatchReader.from_batches(schema, batches))
assert column(table, 0) == ["b", "a", "c", None, "b"]
kanon.kn_table_free(table)
large = pa.table({"n": pa.array(range(200000)), "t": pa.array([f"text {i % 70001}" for i in range(200000)]),
                  "d": pa.array(range(200000), type=pa.int32()).cast(pa.date32())})
table = imported(large.to_reader(max_chunksize=30000))
back = exported(table)
kanon.kn_table_free(table)
back.validate(full=True)
assert back.column("n").to_pylist() == large.column("n").to_pylist()
assert back.column("t").to_pylist() == large.column("t").to_pylist()
assert back.column("d").to_pylist() == large.column("d").to_pylist()
del back
assert kanon.kn_context_memory_used(context) == 0, "memory was left behind"
print(f"ok: {len(CASES)} types, {len(REFUSED)} refusals, batches and 200,000 rows both ways with pyarrow {pa.__version__}")
