# SPDX-License-Identifier: Apache-2.0
"""The tests' PostgreSQL server in a temporary folder, for `with`; gone at the end."""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests"))
import postgres_server  # noqa: E402


class Server:
    """`uri` is where it is; a RuntimeError says why there is none."""

    def __enter__(self):
        where = postgres_server.programs()
        if not where or not shutil.which("psql"):
            raise RuntimeError("there is no PostgreSQL server program")
        self.folder, self.server = tempfile.mkdtemp(prefix="kanon-bench-"), None
        try:
            self.server, port = postgres_server.start(where, self.folder, postgres_server.drop_root(), "-c", "max_wal_size=4GB")
        except SystemExit as why:
            self.__exit__()
            raise RuntimeError(str(why)) from why
        self.uri = postgres_server.uri(port)
        return self

    def __exit__(self, *_):
        if self.server:
            self.server.terminate()
            self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
