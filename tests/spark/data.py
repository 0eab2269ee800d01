# SPDX-License-Identifier: Apache-2.0
"""Tables for the tests and benchmarks of Spark, made by Spark itself from row numbers: the same rows for the same arguments,
however they are distributed. Skewed keys, missing cells, dates, decimals, texts that look like numbers."""

from pyspark.sql import functions as F

# What the columns are, for a request.
ROLES = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20, 40]}},
    "zip": {"role": "quasi", "type": "text", "hierarchy": {"mask": "right"}},
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "admitted": {"role": "quasi", "hierarchy": {"calendar": ["month", "quarter", "year"]}},
    "diagnosis": {"role": "sensitive"},
    "amount": {"role": "keep"},
}


def _draw(seed: int, what: str):
    """A number from 0 to 999,999 for each row: a hash of the row's number, so that any worker finds the same."""
    return F.pmod(F.xxhash64("id", F.lit(seed), F.lit(what)), F.lit(1_000_000))


def people(session, rows: int, seed: int = 1, parts: int = 4):
    """Persons: a tenth of them has one and the same key, one in fifty cells is missing."""
    crowd = _draw(seed, "crowd") < 100_000
    missing = _draw(seed, "missing") < 20_000
    zips = F.lpad(F.pow(_draw(seed, "zip") / 1_000_000, 3).__mul__(60).cast("int").cast("string"), 5, "0")
    return session.range(0, rows, 1, parts).select(
        F.when(missing, None).when(crowd, 40).otherwise(18 + _draw(seed, "age") % 70).cast("int").alias("age"),
        F.when(crowd, "00007").otherwise(zips).alias("zip"),
        F.when(_draw(seed, "sex") < 500_000, "female").otherwise("male").alias("sex"),
        F.when(crowd, F.lit("2024-03-01").cast("date"))
        .otherwise(F.date_add(F.lit("2023-01-01").cast("date"), (_draw(seed, "day") % 12 * 60).cast("int")))
        .alias("admitted"),
        F.element_at(
            F.array(*map(F.lit, ["asthma", "flu", "gout", "measles", "mumps", "rubella"])),
            (_draw(seed, "ill") % 6 + 1).cast("int"),
        ).alias("diagnosis"),
        ((_draw(seed, "amount") % 50) / 4).cast("decimal(10,2)").alias("amount"),
        F.concat(F.lit("person "), F.col("id")).alias("name"),
    )
