# SPDX-License-Identifier: Apache-2.0
"""Pictures of answers, drawn by matplotlib, which the package does not need otherwise. Each function takes an answer and
returns the axes that it drew on: those of ``ax``, or new ones.

Pictures of the original, of a diagnosis or of a release by its owner's figures are for the owner of the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._document import Document
from ._errors import UsageError
from ._release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["before_after", "class_sizes", "frontier", "lattice", "risk"]

MOST_NODES = 500
_BEFORE, _AFTER, _BAD = "#9aa5b1", "#1f6feb", "#d1242f"


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise UsageError("pykanon.plot needs matplotlib: pip install matplotlib") from None
    return plt.subplots()[1]


def _field(answer: Document | Release, names: Sequence[str], drawn: str) -> Any:
    content = answer.answer if isinstance(answer, Release) else answer
    for name in names:
        if content.get(name) is not None:
            return content[name]
    raise UsageError(f"{drawn}: the answer {content.get('answer')!r} has no field {names[0]!r}")


def _bars(sizes: Sequence[Mapping[str, Any]], least: int) -> tuple[list[str], list[int], list[int]]:
    """Rows by the size of their class (1, 2, 3-4, 5-8, ...): those in classes of fewer than ``least``, and the others."""
    below, rest = [0], [0]
    for one in sizes:
        step = max(one["size"] - 1, 0).bit_length()
        for rows in (below, rest):
            rows += [0] * (step + 1 - len(rows))
        (below if one["size"] < least else rest)[step] += one.get("persons", one.get("rows"))
    steps = range(len(rest))
    names = ["1", "2", *(f"{2 ** (step - 1) + 1}-{2**step}" for step in steps[2:])][: len(steps)]
    return names, below, rest


def class_sizes(answer: Document | Release, ax: Axes | None = None) -> Axes:
    """How many rows are in classes of which size: of a diagnosis, or of a release. What is below the k that was asked for
    is red."""
    sizes = _field(answer, ["histogram", "sizes"], "class_sizes")
    content = answer.answer if isinstance(answer, Release) else answer
    names, below, rest = _bars(sizes, content.get("requested") or 0)
    ax = _axes(ax)
    ax.bar(names, below, color=_BAD)
    ax.bar(names, rest, bottom=below, color=_AFTER)
    unit = "persons" if sizes and "persons" in sizes[0] else "rows"
    ax.set_xlabel(f"{unit} of the class")
    ax.set_ylabel(unit)
    ax.set_title(f"k = {content['k']}")
    return ax


def risk(answer: Document, ax: Axes | None = None) -> Axes:
    """The risks of a diagnosis with ``risk=True``: of the worst row, of the average row, and the share of rows at risk."""
    found = _field(answer, ["risk"], "risk")
    bars: dict[str, float] = {}
    for attacker in ("prosecutor", "journalist"):
        if found.get(attacker) is not None:
            part = found[attacker]
            bars.update(
                {f"{attacker}\n{name.replace('_', ' ')}": part[name] for name in ("highest", "average", "at_risk_share")}
            )
    if found.get("marketer") is not None:
        bars["marketer"] = found["marketer"]
    ax = _axes(ax)
    drawn = ax.bar(list(bars), list(bars.values()), color=_AFTER)
    ax.bar_label(drawn, fmt="%.2g")
    ax.set_ylim(0, 1.1)
    ax.set_ylabel("risk")
    return ax


def frontier(answer: Document, ax: Axes | None = None) -> Axes:
    """The choices of ``kn.frontier``: what each k costs. Points are labelled by the levels of their columns."""
    points = _field(answer, ["points"], "frontier")
    ax = _axes(ax)
    for rows in sorted({one["suppressed"] for one in points}):
        chosen = sorted((one["k"], one["loss"]) for one in points if one["suppressed"] == rows)
        ax.plot([k for k, _ in chosen], [loss for _, loss in chosen], "o-", label=f"{rows} rows suppressed")
    for one in points:
        ax.annotate(" ".join(str(level) for level in one["node"]), (one["k"], one["loss"]), fontsize="x-small")
    ax.set_xscale("log")
    ax.set_xlabel("k")
    ax.set_ylabel(f"loss ({answer['metric']})")
    if 0 < len({one["suppressed"] for one in points}) <= 8:
        ax.legend()
    return ax


def lattice(answer: Document | Release, ax: Axes | None = None, *, marked: Document | None = None) -> Axes:
    """All choices of levels, from the original at the bottom to full suppression, with the one that a release took. With
    ``marked``, an answer of ``kn.frontier``, its points too."""
    columns = _field(answer, ["attributes"], "lattice")
    taken = tuple(_field(answer, ["node"], "lattice"))
    heights = [one["height"] for one in columns]
    nodes = list(itertools.islice(itertools.product(*(range(height + 1) for height in heights)), MOST_NODES + 1))
    if len(nodes) > MOST_NODES:
        raise UsageError(f"lattice: it has more than {MOST_NODES} nodes, which nobody can read")
    places: dict[tuple[int, ...], tuple[float, int]] = {}
    for level in range(sum(heights) + 1):
        row = [node for node in nodes if sum(node) == level]
        places.update({node: (i - (len(row) - 1) / 2, level) for i, node in enumerate(row)})
    ax = _axes(ax)
    for node, (x, y) in places.items():
        for i in range(len(node)):
            if (above := (*node[:i], node[i] + 1, *node[i + 1 :])) in places:
                ax.plot([x, places[above][0]], [y, y + 1], color=_BEFORE, linewidth=0.6, zorder=1)
    good = {tuple(one["node"]) for one in (marked["points"] if marked is not None else [])}
    for node, (x, y) in places.items():
        color = _AFTER if node == taken else "#8ec7ff" if node in good else "white"
        edge = {"boxstyle": "round", "facecolor": color, "edgecolor": _AFTER if node == taken else _BEFORE}
        ax.text(x, y, " ".join(map(str, node)), ha="center", va="center", fontsize="x-small", bbox=edge, zorder=2)
    width = max(abs(x) for x, _ in places.values())
    ax.set_xlim(-width - 1, width + 1)
    ax.set_ylim(-0.7, sum(heights) + 0.7)
    ax.set_axis_off()
    ax.set_title(", ".join(one["name"] for one in columns), fontsize="small")
    return ax


def before_after(release: Document | Release, ax: Axes | None = None) -> Axes:
    """The share of rows in classes of at most so many rows, in the original and in the release."""
    ax = _axes(ax)
    for name, label, color in (("sizes_before", "original", _BEFORE), ("sizes", "release", _AFTER)):
        sizes = sorted(_field(release, [name], "before_after"), key=lambda one: int(one["size"]))
        rows = list(itertools.accumulate(one["rows"] for one in sizes))
        whole = rows[-1] if rows else 1
        ax.step([one["size"] for one in sizes], [one / whole for one in rows], where="post", label=label, color=color)
    ax.set_xscale("log")
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("rows of the class, at most")
    ax.set_ylabel("share of rows")
    ax.legend()
    return ax
