#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/fulldomain/wide.py FOLDER [--rows N] [--columns N] [--levels N] [--seed N]: a table for large lattices.

Columns c1, c2, ... as in a census: of 3 to 60 values, skewed, and dependent on each other through a few hidden
traits of the person; a hierarchy file for each (wide_hierarchy_COLUMN.csv, semicolons), of N levels: ranges that about
double, quadruple and so on, up to *. FOLDER/wide.csv has commas. The columns of a smaller table are those of a larger
one.
"""
import argparse
import math
import os
import random

SIZES = (2, 16, 7, 60, 5, 9, 24, 3, 12, 40)


def column(rng, number, traits, rows):
    size = SIZES[number % len(SIZES)]
    weights = [rng.gauss(0, 1) for _ in range(4)]
    scale = 1 / math.sqrt(sum(w * w for w in weights) + 1.5)
    skew = rng.uniform(0.7, 2.2)
    cells = []
    for r in range(rows):
        z = (sum(w * t for w, t in zip(weights, traits[r])) + rng.gauss(0, 1.22)) * scale
        share = 0.5 * (1 + math.erf(z / math.sqrt(2)))
        cells.append(min(size - 1, int(size * share**skew)))
    return size, cells


def hierarchy(size, levels):
    """Per value its labels, the finest first."""
    width = max(2, math.ceil(size ** (1 / (levels - 1))))
    lines = []
    for value in range(size):
        labels, step = [str(value)], width
        for _ in range(levels - 2):
            low = value // step * step
            labels.append(f"[{low}-{min(size, low + step) - 1}]" if step < size else f"[0-{size - 1}]")
            step *= width
        lines.append(";".join([*labels, "*"]))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=30000)
    parser.add_argument("--columns", type=int, default=15)
    parser.add_argument("--levels", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    rng = random.Random(a.seed)
    traits = [[rng.gauss(0, 1) for _ in range(4)] for _ in range(a.rows)]
    columns = []
    for number in range(a.columns):
        size, cells = column(random.Random(a.seed * 1000 + number), number, traits, a.rows)
        columns.append(cells)
        with open(os.path.join(a.folder, f"wide_hierarchy_c{number + 1}.csv"), "w", encoding="utf-8") as f:
            f.write("\n".join(hierarchy(size, a.levels)) + "\n")
    part = os.path.join(a.folder, "wide.part")
    with open(part, "w", encoding="utf-8") as f:
        f.write(",".join(f"c{i + 1}" for i in range(a.columns)) + "\n")
        for row in zip(*columns):
            f.write(",".join(map(str, row)) + "\n")
    os.replace(part, os.path.join(a.folder, "wide.csv"))


if __name__ == "__main__":
    main()
