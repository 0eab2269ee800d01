# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a cluster of two workers in this machine, and how releases are compared. scripts/spark runs them."""

import os
import shutil

import pytest

pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed; scripts/setup spark fetches it")

# For Java that compiles quickly rather than well: a driver's code, and that of short tests, runs few times.
QUICK = "-XX:TieredStopAtLevel=1"
MASTER = os.environ.get("KANON_SPARK_MASTER", "local-cluster[2,1,1800]")


def build_session(master: str = MASTER, quick: bool = True, **more):
    """Small and quiet; the same zone everywhere."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("kanon")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.executor.memory": "1500m",
        "spark.driver.memory": "1500m",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.host": "127.0.0.1",
        "spark.shuffle.io.retryWait": "1s",  # between attempts to reach an executor that may be dead
        **({"spark.driver.extraJavaOptions": QUICK} if quick else {}),
        **more,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def session():
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        pytest.skip("there is no Java runtime")
    made = build_session()
    yield made
    made.stop()
