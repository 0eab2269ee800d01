# SPDX-License-Identifier: Apache-2.0
"""Line charts as SVG: one panel per figure, one line per method; the colours follow the reader's light or dark setting."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 420, 280, 24
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 56, 44
LIGHT = ["#0f766e", "#c2571a", "#4c6ef5", "#a03c8f", "#8a8f98"]
DARK = ["#2dd4bf", "#ef8f4c", "#8da2fb", "#e28ad3", "#9aa7b8"]
DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 4"]


def rules(page, ink, line, colours):
    text = [f".page {{ fill: {page}; }} text {{ fill: {ink}; }} .grid {{ stroke: {line}; }}"]
    text += [f".l{i} {{ stroke: {c}; }} .d{i} {{ fill: {c}; }}" for i, c in enumerate(colours)]
    return " ".join(text)


STYLE = ("text { font: 12px system-ui, sans-serif; } .title { font-size: 15px; font-weight: 600; } "
         "polyline { fill: none; stroke-width: 2; } .grid { stroke-width: 1; } " +
         rules("#ffffff", "#1c2430", "#d5dbe3", LIGHT) +
         " @media (prefers-color-scheme: dark) { " + rules("#12171f", "#e8edf3", "#303a48", DARK) + " }")


def ticks(low, high, log):
    if log:
        return [10.0 ** p for p in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    step = 10 ** math.floor(math.log10((high - low) or 1))
    while (high - low) / step > 6:
        step *= 2
    while (high - low) / step < 3:
        step /= 2
    first = math.ceil(low / step - 1e-9)
    return [first * step + i * step for i in range(int((high - first * step) / step + 1e-9) + 1)]


def short(value):
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"


class Axis:
    def __init__(self, values, log, start, end, zero):
        values = [v for v in values if v is not None and (v > 0 or not log)]
        self.log, self.start, self.end = log, start, end
        low, high = min(values), max(values)
        if log:
            self.low, self.high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high * 1.0001))
        else:
            self.low, self.high = (0 if zero else low), (high if high > low else low + 1)

    def at(self, value):
        if self.log:
            share = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        return [t for t in ticks(self.low, self.high, self.log) if self.low <= t <= self.high * 1.0001]


def panel(at, figure):
    """figure: title, x title, y title, log axes, lines: name -> [(x, y)]"""
    points = [p for line in figure["lines"].values() for p in line]
    x_axis = Axis([p[0] for p in points], figure.get("log_x", False), LEFT, WIDTH - RIGHT, False)
    y_axis = Axis([p[1] for p in points], figure.get("log_y", False), HEIGHT - BOTTOM, TOP, True)
    out = [f'<g transform="translate({at[0]} {at[1]})">', f'<text class="title" x="0" y="16">{escape(figure["title"])}</text>']
    for tick in y_axis.ticks():
        y = y_axis.at(tick)
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{short(tick)}</text>')
    for tick in x_axis.ticks():
        out.append(f'<text x="{x_axis.at(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{short(tick)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(figure["x"])}</text>')
    for i, (name, line) in enumerate(figure["lines"].items()):
        line = [(x_axis.at(x), y_axis.at(y)) for x, y in line if y is not None]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        dash = f' stroke-dasharray="{DASHES[i % 5]}"' if DASHES[i % 5] else ""
        out.append(f'<polyline class="l{i % 5}" points="{path}"{dash}><title>{escape(name)}</title></polyline>')
        out += [f'<circle class="d{i % 5}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in line]
    x, y = 0, 34
    for i, name in enumerate(figure["lines"]):
        if x + 22 + 6.5 * len(name) > WIDTH:
            x, y = 0, y + 14
        out.append(f'<line class="l{i % 5}" stroke-width="2" x1="{x}" x2="{x + 16}" y1="{y - 4}" y2="{y - 4}"'
                   + (f' stroke-dasharray="{DASHES[i % 5]}"' if DASHES[i % 5] else "") + "/>")
        out.append(f'<text x="{x + 20}" y="{y}">{escape(name)}</text>')
        x += 32 + 6.5 * len(name)
    return out + ["</g>"]


def chart(figures, columns=2):
    rows = (len(figures) + columns - 1) // columns
    width = MARGIN + min(columns, len(figures)) * (WIDTH + MARGIN)
    height = MARGIN + rows * (HEIGHT + MARGIN)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
           f"<style>{STYLE}</style>", f'<rect class="page" width="{width}" height="{height}" rx="8"/>']
    for i, figure in enumerate(figures):
        out += panel((MARGIN + i % columns * (WIDTH + MARGIN), MARGIN + i // columns * (HEIGHT + MARGIN)), figure)
    return "\n".join(out + ["</svg>"]) + "\n"
