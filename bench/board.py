# SPDX-License-Identifier: Apache-2.0
"""The page and the picture of bench/scoreboard, from bench/out/scoreboard.json.

A goal's ratio is what was measured divided by the bound, or the bound by what was measured where more is better: up to
1 the goal is met, at 0.5 with twice to spare, at 2 missed by half.
"""

import dataclasses
import math
from xml.sax.saxutils import escape

import goals
import growth
import svg

BUSY = 0.1  # the share of the processors taken by others from which a figure is marked


@dataclasses.dataclass
class Line:
    goal: goals.Goal
    verdict: str  # met, missed, beside (no bound), unknown
    ratio: float | None
    measured: str
    detail: str
    beside: str
    busy: bool
    limit: str = ""  # beside what the machine allows


# ---- Figures in words ----


def number(value):
    if value == 0 or value is None:
        return "0"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def with_unit(value, unit):
    return f"{number(value)}{'' if unit.startswith('×') else ' '}{unit}".strip()


def bound_of(goal):
    return "" if goal.bound is None else f"{goal.sense} {with_unit(goal.bound, goal.unit)}"


def peers_of(goal, figure):
    """Each peer's seconds and how many times kanon's they are."""
    words = []
    for name, peer in figure["peers"].items():
        if "skipped" in peer:
            words.append(f"{name} not measured: {peer['skipped']}")
            continue
        more = "> " if peer.get("over") else ""
        times = f" ({more}{svg.short_ratio(peer['seconds'] / figure['own'])})" if figure["own"] else ""
        words.append(f"{name} {more}{svg.short_seconds(peer['seconds'])}{times}")
    return "; ".join(words + ([f"{goal.given} (elsewhere)"] if goal.given else []))


def limit_of(figure):
    """How many times the seconds that the machine needs at least, and for what."""
    own, least, words = figure.get("limit") or (None, None, "")
    return f"{svg.short_ratio(own / least)} of {svg.short_seconds(least)}: {words}" if least else ""


def line_of(goal, point):
    """One goal beside its point; None: it was not measured."""
    if point is None:
        return None
    busy = point.get("others", 0) > BUSY
    if "late" in point:
        missed = goal.unit == "s" and goal.sense == "≤" and goal.bound is not None and point["late"] >= goal.bound
        if missed:
            return Line(
                goal,
                "missed",
                point["late"] / goal.bound,
                f"> {with_unit(point['late'], 's')}",
                "stopped",
                goal.given,
                busy,
            )
        return Line(goal, "unknown", None, "", f"not measured: stopped after {point['late']:.0f} s", goal.given, busy)
    figure = point.get("figures", {}).get(goal.figure)
    if figure is None or figure["value"] is None:
        missing = [peer["skipped"] for peer in (figure or {}).get("peers", {}).values() if "skipped" in peer]
        why = point.get("error") or "; ".join(dict.fromkeys(missing)) or "the point has no such figure"
        return Line(goal, "unknown", None, "", f"not measured: {why}", goal.given, busy)
    value, over = figure["value"], figure["over"]
    measured = ("> " if over else "") + with_unit(value, goal.unit)
    beside = peers_of(goal, figure)
    if goal.bound is None:
        return Line(goal, "beside", None, measured, figure["detail"], beside, busy)
    ratio = value / goal.bound if goal.sense == "≤" else goal.bound / value if value > 0 else math.inf
    if over and goal.sense == "≤" and ratio <= 1 or over and goal.sense == "≥" and ratio > 1:
        return Line(
            goal, "unknown", None, measured, "stopped before it could be told; " + figure["detail"], beside, busy
        )
    verdict = "met" if ratio <= 1 else "missed"
    return Line(goal, verdict, ratio, measured, figure["detail"], beside, busy, limit_of(figure))


def lines(state):
    found = [line_of(goal, state["points"].get(goal.point)) for goal in goals.GOALS]
    return [line for line in found if line]


def summary(all_lines):
    count = {v: sum(line.verdict == v for line in all_lines) for v in ("met", "missed", "unknown")}
    words = f"{sum(count.values())} goals: {count['met']} met, {count['missed']} missed"
    return words + (f", {count['unknown']} not measured" if count["unknown"] else "")


def heading(state):
    machine, points = state["machine"], state["points"].values()
    words = [
        f"{state['date']}; {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_bytes'] / (1 << 30):.0f} GiB, "
        f"Linux {machine['kernel'].split('-')[0]}; {state['threads']} threads",
        ", ".join(f"{tool} {version}" for tool, version in state["versions"].items()),
        f"load average {state['load_before']:.2f} before; "
        f"the points took {sum(p['seconds'] for p in points) / 60:.0f} minutes",
    ]
    busy = sum(p["others"] > BUSY for p in points)
    if busy:
        words.append(
            f"**The machine was busy**: during {busy} of {len(points)} points others took more than "
            f"{BUSY:.0%} of the processors. "
            "Their figures, marked with ~, are not worth keeping."
        )
    builds = {p["build"] for p in points}
    if len(builds) > 1:
        words.append(f"The points are of {len(builds)} builds of kanon, measured one after the other.")
    if state.get("quick"):
        words.append("**A trial**: a tenth of the sizes, one turn each; the bounds are those of the full sizes.")
    return words


def times(state):
    """Where the run's time goes, the longest point first."""
    took = {name: point["seconds"] for name, point in state["points"].items()}
    if state.get("growth_seconds"):
        took["growth"] = state["growth_seconds"]
    return ", ".join(f"{name} {number(seconds)}" for name, seconds in sorted(took.items(), key=lambda item: -item[1]))


MARKS = {"met": "yes", "missed": "**no**", "unknown": "?", "beside": "–"}


def profile_section(state, line, shown):
    """Why a goal is missed: a person's sentence, the program's counters, the functions that take most. shown: the goals
    whose profiles stand already."""
    goal, point = line.goal, state["points"][line.goal.point]
    out = [
        f"### {goal.id}: {goal.name}",
        "",
        f"{line.measured} instead of {bound_of(goal)}: {svg.short_ratio(line.ratio)} the goal. {goal.why}".rstrip(),
        "",
    ]
    counters = point.get("counters") or {}
    if counters:
        if any(isinstance(v, dict) for v in counters.values()):
            out += [
                f"- {name}: " + ", ".join(f"{n} {number(v)}" for n, v in part.items())
                for name, part in counters.items()
            ]
        else:
            out += ["Counters: " + ", ".join(f"{n} {number(v)}" for n, v in counters.items()) + "."]
        out.append("")
    found = state["profiles"].get(goal.profile)
    if goal.profile in shown:
        out += [f"Where it goes: as in {shown[goal.profile]}.", ""]
    elif found and "rows" in found:
        out += [f"Where it goes ({found['how']}):", "", "| share | function |", "|---:|---|"]
        out += [f"| {share:.1f} % | `{name}` |" for share, name in found["rows"]] + [""]
    elif found:
        out += [f"No profile: {found['skipped']}.", ""]
    if found:
        shown.setdefault(goal.profile, goal.id)
    return out


def page(state, picture):
    found = lines(state)
    out = [
        "# Scoreboard",
        "",
        "Written by `bench/scoreboard` (`make bench`): every goal beside what this machine reaches, "
        "peers in the same run.",
        "How each is measured: [goals.py](goals.py), [README.md](README.md).",
        "",
    ] + [f"- {w}" for w in heading(state)]
    out += [
        "",
        f"**{summary(found)}.** The ratio is measured ÷ bound (the other way round where more is better): "
        "up to 1 is met.",
        "Behind a peer stands how many times kanon's seconds it takes; under limit, how many times what this machine "
        "needs at least for that alone ([limits.c](limits.c)).",
        "",
        f"![measured by goal]({picture})",
    ]
    missed = sorted((line for line in found if line.verdict == "missed"), key=lambda line: -line.ratio)
    if missed:
        out += ["", "## Missed", "", "The worst first.", ""]
        shown = {}
        for line in missed:
            out += profile_section(state, line, shown)
        out.pop()
    for issue, title in goals.ISSUES.items():
        here = [line for line in found if line.goal.issue == issue]
        if not here:
            continue
        out += [
            "",
            f"## {title}",
            "",
            "| goal | bound | measured | ratio | met | how | beside | limit |",
            "|---|---:|---:|---:|---|---|---|---|",
        ]
        for line in here:
            how = "; ".join(part for part in (line.goal.how, line.detail) if part)
            ratio = "" if line.ratio is None else f"{line.ratio:.2g}"
            mark = "~" if line.busy and line.measured and ">" not in line.measured else ""
            cells = [
                line.goal.name,
                bound_of(line.goal),
                f"{mark}{line.measured}",
                ratio,
                MARKS[line.verdict],
                how,
                line.beside,
                line.limit,
            ]
            out.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    if state.get("growth"):
        out += growth.section(state["growth"], picture.replace(".svg", "-growth.svg"))
    out += ["", "## Seconds of each point", "", times(state) + "."]
    return "\n".join(out).rstrip() + "\n"


def text(state):
    found = lines(state)
    out = [word.replace("**", "") for word in heading(state)] + [""]
    for line in found:
        ratio = "" if line.ratio is None else f"{line.ratio:.2g}"
        out.append(
            f"{line.goal.id:26} {line.goal.name:44} {bound_of(line.goal):>13} {line.measured:>14} {ratio:>8}  "
            f"{line.verdict if line.verdict != 'unknown' else line.detail}"
        )
    return "\n".join(out + ["", "seconds: " + times(state), "", summary(found)])


# ---- The picture ----

WIDTH, LABEL, VALUE, ROW, TOP = 900, 306, 190, 22, 92
INK, SOFT, RULE, MET, MISSED = (
    "#1c2430",
    "#4a5565",
    "#d5dbe3",
    "#0072b2",
    "#d55e00",
)  # blue and vermilion: told apart by everybody
STYLE = (
    f"text {{ font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: {INK}; }} "
    f".soft {{ fill: {SOFT}; font-size: 12px; }} "
    ".title { font-size: 18px; font-weight: 600; } .head, .no { font-weight: 600; }"
)


class Scale:
    """Ratio to x, logarithmic; whole powers of ten around the data, 1 always inside."""

    def __init__(self, ratios):
        logs = [math.log10(r) for r in ratios if 0 < r < math.inf] or [0]
        self.low, self.high = max(-5, math.floor(min([-1.0] + logs))), max(1, math.ceil(max(logs)))

    def x(self, ratio):
        share = (min(max(math.log10(ratio) if ratio > 0 else self.low, self.low), self.high) - self.low) / (
            self.high - self.low
        )
        return LABEL + share * (WIDTH - LABEL - VALUE)

    def ticks(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def bar(line, y, scale):
    name = f'<text x="{LABEL - 10}" y="{y + 15}" text-anchor="end">{escape(line.goal.name)}</text>'
    at = WIDTH - VALUE + 12
    if line.ratio is None:
        words = "not measured" if line.verdict == "unknown" else f"{line.measured}, no bound"
        return [
            name,
            f'<text class="soft" x="{at}" y="{y + 15}">{escape(words)}<title>{escape(line.detail)}</title></text>',
        ]
    start, end = sorted((scale.x(1), scale.x(line.ratio)))
    colour, mark, kind = (MET, "✓", "yes") if line.verdict == "met" else (MISSED, "✗", "no")
    first = (line.goal.unit.split() or [""])[0]
    measured, bound = (words.replace(line.goal.unit, first) for words in (line.measured, bound_of(line.goal)))
    words = f"{'~' if line.busy and '>' not in measured else ''}{measured} ({bound})"
    return [
        name,
        f'<rect x="{start:.1f}" y="{y + 4}" width="{max(end - start, 1.5):.1f}" height="{ROW - 8}" fill="{colour}">'
        f"<title>{escape(line.goal.id)}: {line.ratio:.3g} of the goal</title></rect>",
        f'<text class="{kind}" x="{at}" y="{y + 15}">{mark} {escape(words)}</text>',
    ]


def chart(state):
    found = lines(state)
    scale = Scale([line.ratio for line in found if line.ratio is not None])
    body, y = [], TOP
    for issue, title in goals.ISSUES.items():
        here = [line for line in found if line.goal.issue == issue]
        if not here:
            continue
        body.append(f'<text class="head" x="16" y="{y + 16}">{escape(title)}</text>')
        y += ROW + 2
        for line in here:
            body += bar(line, y, scale)
            y += ROW
        y += 8
    grid = []
    for tick in scale.ticks():
        x = scale.x(tick)
        grid.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{y}" stroke="{RULE}"/>'
            f'<text class="soft" x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{tick:g}</text>'
        )
    one = scale.x(1)
    grid.append(f'<line x1="{one:.1f}" x2="{one:.1f}" y1="{TOP - 6}" y2="{y}" stroke="{INK}" stroke-width="2"/>')
    words = f"Blue ✓ met, orange ✗ missed. {summary(found)}; {state['date']}, {state['machine']['cores']} cores" + (
        " — a trial" if state.get("quick") else ""
    )
    return (
        "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 12}" '
                f'viewBox="0 0 {WIDTH} {y + 12}" role="img" '
                'aria-label="What was measured as a share of each goal">',
                f"<style>{STYLE}</style>",
                f'<rect width="{WIDTH}" height="{y + 12}" fill="#ffffff"/>',
                '<text class="title" x="16" y="28">'
                "Measured ÷ goal, logarithmic: left of the line the goal is met</text>",
                f'<text class="soft" x="16" y="48">{escape(words)}</text>',
                *grid,
                *body,
                "</svg>",
            ]
        )
        + "\n"
    )
