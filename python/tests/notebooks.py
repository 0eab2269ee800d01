# SPDX-License-Identifier: Apache-2.0
"""python/tests/notebooks.py FILE...: runs notebooks from their first cell to their last; the first that fails ends it.
Nothing is written: notebooks are stored without what their cells show. `make python` runs it.
"""

import sys
import time

import jupyter_client
import nbclient
import nbformat


def main() -> None:
    for path in sys.argv[1:]:
        book = nbformat.read(path, as_version=4)
        if any(cell.get("outputs") for cell in book.cells):
            sys.exit(f"{path}: it is stored with what its cells showed; clear that")
        started = time.monotonic()
        kernel = jupyter_client.KernelManager(kernel_name="python3", transport="ipc")
        try:
            nbclient.NotebookClient(book, km=kernel, timeout=300).execute()
        finally:
            kernel.shutdown_kernel(now=True)
        print(f"{path.rsplit('/', 1)[-1]}: {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
