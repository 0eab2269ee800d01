# SPDX-License-Identifier: Apache-2.0
"""The chart of bench/run: one panel per data set and measure, one bar per tool.

A bar starts at kanon's time (the line marked 1×) and ends at the tool's, on a logarithmic scale: to the right the tool
is slower than kanon, to the left it is faster. All panels share the scale, so bars compare across them. The colours
follow the reader's light or dark setting.
"""
import math
from xml.sax.saxutils import escape

PANEL, GAP, MARGIN = 390, 24, 24
LABEL, VALUE = 132, 96  # room for a tool's name and for its figures
ROW, TITLE = 21, 58
TOP = 84
TITLES = {"load": "Load CSV", "group": "Group by 8 columns", "csv-k": "CSV to k"}

LIGHT = {"page": "#ffffff", "ink": "#1c2430", "soft": "#5b6675", "line": "#d5dbe3", "slower": "#7d8fa8",
         "faster": "#c2571a", "own": "#0f766e"}
DARK = {"page": "#12171f", "ink": "#e8edf3", "soft": "#9aa7b8", "line": "#303a48", "slower": "#6f86a6",
        "faster": "#ef8f4c", "own": "#2dd4bf"}


def colours(of):
    """Plain rules for one theme: not every viewer knows CSS variables."""
    rules = [f".page {{ fill: {of['page']}; }}", f"text {{ fill: {of['ink']}; stroke: {of['page']}; }}",
             f".grid {{ stroke: {of['line']}; }}", f".one {{ stroke: {of['own']}; }}"]
    rules += [f".{name} {{ fill: {of[name]}; }}" for name in ("soft", "own", "slower", "faster")]
    return " ".join(rules)


STYLE = f"""
text {{ font: 13px system-ui, sans-serif; stroke-width: 3; paint-order: stroke; }} .soft {{ font-size: 11.5px; }}
.title {{ font-size: 18px; font-weight: 600; }} .head, .own {{ font-weight: 600; }}
.grid {{ stroke-width: 1; }} .one {{ stroke-width: 2; }}
{colours(LIGHT)}
@media (prefers-color-scheme: dark) {{ {colours(DARK)} }}
"""


def short_seconds(value):
    if value >= 1:
        return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"
    return f"{value * 1000:.0f} ms" if value >= 0.01 else f"{value * 1000:.1f} ms"


def short_ratio(value):
    return f"{value:.0f}×" if value >= 9.95 else f"{value:.1f}×" if value >= 1 else f"{value:.2f}×"


class Scale:
    """Ratio to x within a panel; both ends are powers of ten around the data, and 1 is always inside."""

    def __init__(self, ratios):
        self.low = math.floor(min(0.0, *[math.log10(r) for r in ratios])) if ratios else 0
        self.high = max(1, math.ceil(max(0.0, *[math.log10(r) for r in ratios]))) if ratios else 1
        self.width = PANEL - LABEL - VALUE

    def x(self, ratio):
        share = (math.log10(ratio) - self.low) / (self.high - self.low)
        return LABEL + share * self.width

    def ticks(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def bar(row, y, scale):
    """One tool: its name, its bar, its time and ratio."""
    out = [f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end"'
           f' class="{"own" if row["tool"] == "kanon" else "name"}">{escape(row["tool"])}</text>']
    if row["tool"] == "kanon":
        out.append(f'<text class="own" x="{scale.x(1) + 8:.1f}" y="{y + 14}">{short_seconds(row["wall"])}</text>')
        return out
    if "skipped" in row or not row["wall_ratio"]:
        reason = row.get("skipped", "too short to compare")
        out.append(f'<text class="soft" x="{scale.x(1) + 8:.1f}" y="{y + 14}">skipped<title>{escape(reason)}</title>'
                   "</text>")
        return out
    ratio = row["wall_ratio"]
    start, end = sorted((scale.x(1), scale.x(ratio)))
    kind = "slower" if ratio >= 1 else "faster"
    out.append(f'<rect class="{kind}" x="{start:.1f}" y="{y + 3}" width="{max(end - start, 1):.1f}" height="{ROW - 7}" '
               f'rx="2"><title>{escape(row["tool"])}: {short_seconds(row["wall"])} wall, {short_seconds(row["cpu"])} '
               "CPU</title></rect>")
    out.append(f'<text x="{end + 6:.1f}" y="{y + 14}">{short_ratio(ratio)}<tspan class="soft" dx="6">'
               f'{short_seconds(row["wall"])}</tspan></text>')
    return out


def panel(x, y, title, rows, scale):
    height = ROW * len(rows)
    out = [f'<g transform="translate({x} {y})">', f'<text class="head" x="0" y="16">{escape(title)}</text>']
    for tick in scale.ticks():
        out.append(f'<line class="grid" x1="{scale.x(tick):.1f}" x2="{scale.x(tick):.1f}" y1="40" y2="{44 + height}"/>')
        out.append(f'<text class="soft" x="{scale.x(tick):.1f}" y="35" text-anchor="middle">{tick:g}×</text>')
    out.append(f'<line class="one" x1="{scale.x(1):.1f}" x2="{scale.x(1):.1f}" y1="40" y2="{44 + height}"/>')
    for number, row in enumerate(rows):
        out += bar(row, 43 + number * ROW, scale)
    return out + ["</g>"]


def chart(results):
    measured = [data for data in results["data"] if data["measures"]]
    ratios = [row["wall_ratio"] for data in measured for rows in data["measures"].values() for row in rows
              if row.get("wall_ratio")]
    scale = Scale(ratios)
    columns = max((len(data["measures"]) for data in measured), default=1)
    width = max(MARGIN * 2 + columns * PANEL + (columns - 1) * GAP, 720)
    body, y = [], TOP
    for data in measured:
        for column, (measure, rows) in enumerate(data["measures"].items()):
            body += panel(MARGIN + column * (PANEL + GAP), y, f"{TITLES[measure]} · {data['label']}", rows, scale)
        y += TITLE + ROW * max(len(rows) for rows in data["measures"].values()) + 16
    remark = (f"Wall time as a multiple of kanon's, logarithmic; {results['threads']} thread(s) (pandas, SQLite: 1), "
              f"medians of {results['repeat']}; orange: faster than kanon")
    names = ", ".join(f"{tool} {version}" for tool, version in results["versions"].items())
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 8}" viewBox="0 0 {width} {y + 8}" '
            'role="img" aria-label="Times of kanon and its peers">',
            f"<style>{STYLE}</style>", f'<rect class="page" width="{width}" height="{y + 8}" rx="8"/>',
            f'<text class="title" x="{MARGIN}" y="34">kanon beside its peers</text>',
            f'<text class="soft" x="{MARGIN}" y="53">{escape(remark)}</text>',
            f'<text class="soft" x="{MARGIN}" y="69">{escape(names)}</text>']
    return "\n".join(head + body + ["</svg>"]) + "\n"
