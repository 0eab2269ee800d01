# SPDX-License-Identifier: Apache-2.0
"""A release of a Spark table, for spark-submit: `spark-submit release.py INPUT RELEASE.yaml OUTPUT`. The wheel of pykanon is
needed on the driver only. Exit code 1: there is no release that keeps the promises."""

import logging
import sys

from pyspark.sql import SparkSession

from pykanon import NoRelease
from pykanon import spark as ks


def main() -> int:
    source, request, target = sys.argv[1:4]
    logging.basicConfig(format="%(message)s")
    logging.getLogger("pykanon.spark").setLevel(logging.INFO)
    session = SparkSession.builder.appName("kanon").getOrCreate()
    try:
        release = ks.anonymize(session.read.parquet(source), request).write(target, overwrite=True)
    except NoRelease as reason:
        print(f"there is no release: {reason}", file=sys.stderr)
        return 1
    print(f"{target}: {release.rows:,} rows, {release.suppressed:,} suppressed, k = {release.k}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
