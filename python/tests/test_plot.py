# SPDX-License-Identifier: Apache-2.0
"""Pictures of answers: what is drawn is what the answer says. Collected where matplotlib is installed."""

import matplotlib
import pytest
from conftest import people

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import pykanon as kn
from pykanon import plot

COLUMNS = people(200, 6)
ASKED = {"qi": {"age": kn.ranges(10, 20, 40), "sex": None}, "sensitive": "diagnosis", "k": 3, "method": "optimal"}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_class_sizes():
    found = kn.diagnose(COLUMNS, ["age", "sex"], k=3)
    below, rest = plot.class_sizes(found).containers
    assert sum(bar.get_height() for bar in below) == found.below_rows
    assert sum(bar.get_height() for bar in rest) == 200 - found.below_rows
    assert below[0].get_height() == found.unique_rows and rest[0].get_height() == 0
    assert sum(bar.get_height() for bar in plot.class_sizes(kn.anonymize(COLUMNS, **ASKED)).patches) == 200


def test_risk():
    found = kn.diagnose(COLUMNS, ["age", "sex"], risk=True)
    heights = [bar.get_height() for bar in plot.risk(found).patches]
    assert heights[:2] == [found.risk.prosecutor.highest, found.risk.prosecutor.average]
    assert heights[-1] == found.risk.marketer


def test_frontier_and_lattice():
    front, rel = kn.frontier(COLUMNS, **ASKED), kn.anonymize(COLUMNS, **ASKED)
    drawn = plot.frontier(front)
    assert sorted(x for line in drawn.lines for x in line.get_xdata()) == sorted(one.k for one in front.points)
    axes = plt.subplots()[1]
    assert plot.lattice(rel, axes, marked=front) is axes
    assert len(axes.texts) == rel.lattice == 10
    colors = {text.get_text(): text.get_bbox_patch().get_facecolor() for text in axes.texts}
    assert list(colors.values()).count(colors[" ".join(map(str, rel.node))]) == 1


def test_before_after():
    rel = kn.anonymize(COLUMNS, **ASKED)
    before, after = plot.before_after(rel).lines
    assert min(before.get_xdata()) == rel.k_before and min(after.get_xdata()) == rel.k
    assert before.get_ydata()[-1] == after.get_ydata()[-1] == 1


def test_refusals():
    with pytest.raises(kn.UsageError, match="'points'"):
        plot.frontier(kn.diagnose(COLUMNS, "age"))
    wide = {name: kn.ranges(1, 2, 4, 8, 16) for name in ("a", "b", "c", "d")}
    rel = kn.anonymize({name: [1, 1, 2, 2] for name in wide}, qi=wide, k=2, method="optimal")
    with pytest.raises(kn.UsageError, match="500 nodes"):
        plot.lattice(rel)
