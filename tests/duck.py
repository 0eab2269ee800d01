# SPDX-License-Identifier: Apache-2.0
"""tests/duck.py: libduckdb for the test scripts: build/big (scripts/setup big-test), or the user's (scripts/setup big)."""
import ctypes
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "kanon", "libduckdb.so")
LIBRARY = os.environ.get("KANON_DUCKDB") or next(filter(os.path.exists, [os.path.join(ROOT, "build", "big", "libduckdb.so")]), HOME)


class Duck:
    """The statements that make the files, by libduckdb itself."""

    class Result(ctypes.Structure):
        _fields_ = [("inside", ctypes.c_uint64 * 6)]

    def __init__(self, path=None):
        self.lib = ctypes.CDLL(LIBRARY)
        self.lib.duckdb_result_error.restype = ctypes.c_char_p
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.lib.duckdb_open(path.encode() if path else None, ctypes.byref(self.database)) == 0
        assert self.lib.duckdb_connect(self.database, ctypes.byref(self.connection)) == 0

    def run(self, sql):
        result = Duck.Result()
        state = self.lib.duckdb_query(self.connection, sql.encode(), ctypes.byref(result))
        message = self.lib.duckdb_result_error(ctypes.byref(result))
        self.lib.duckdb_destroy_result(ctypes.byref(result))
        assert state == 0, message
        return self

    def close(self):
        self.lib.duckdb_disconnect(ctypes.byref(self.connection))
        self.lib.duckdb_close(ctypes.byref(self.database))
