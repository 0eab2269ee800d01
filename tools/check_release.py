#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check_release.py RELEASE CERTIFICATE [--hierarchy COLUMN=FILE]...: does a table's certificate say what the release shows?

Recomputes every figure of the certificate (docs/certificate.md) from the released file, the request that the certificate
repeats, and the hierarchy files that it names, and compares. It needs neither kanon nor the original, and nothing but
Python 3's standard library. Promises that the release alone can decide are checked, too.

  release.csv release.csv.certificate.json                  the two files
  --hierarchy COLUMN=FILE                                   the hierarchy of a column that the certificate calls "file"
  --quiet                                                   only the exit code

Exit codes: 0 equal, 1 something differs (each field is named), 2 it cannot be read or a hierarchy file is lacking.
"""
import argparse
import calendar
import collections
import csv
import datetime
import gzip
import hashlib
import heapq
import io
import itertools
import json
import math
import re
import sys
from fractions import Fraction

INTERVAL = re.compile(r"^([\[(])(-inf|[^\[({].*?), (inf|.+)([\])])$", re.S)
NUMBER = re.compile(r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$")
STEPS = ["month", "quarter", "year", "decade"]
DATES = ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y", "%d %b %Y", "%d-%b-%Y"]
FULL_DOMAIN = {"optimal", "samarati", "bottom-up", "bottom-up-rollup", "incognito", "incognito-superroots", "incognito-cube", "heuristic",
               "datafly"}
MISSING = None  # a missing cell
csv.field_size_limit(1 << 28)


class Unreadable(Exception):
    pass


# ---- Files ----

def read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None


def read_certificate(path):
    try:
        certificate = json.loads(read_bytes(path).decode("utf-8"))
    except ValueError:
        raise Unreadable(f"{path}: not JSON") from None
    if not isinstance(certificate, dict) or certificate.get("kanon-certificate") != 2:
        raise Unreadable(f"{path}: not a certificate of version 2")
    if certificate.get("shape") != "table":
        raise Unreadable(f"{path}: of a {certificate.get('shape')}; this program reads tables")
    return certificate


SIGNED = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")


def unguarded(cell):
    """The cell without the apostrophe that a spreadsheet-safe release puts before what a spreadsheet would execute."""
    rest = cell.lstrip("'")
    formula = len(rest) > 1 and rest[0] in "=+-@\t\r" and not SIGNED.fullmatch(rest)
    return cell[1:] if cell[:1] == "'" and formula else cell


def read_table(path, names, missing, guarded=False):
    """Columns as lists of texts; a missing cell is None."""
    data = read_bytes(path)
    try:
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    except (OSError, EOFError, ValueError):
        raise Unreadable(f"{path}: neither UTF-8 nor gzip") from None
    delimiters = ",;\t|" + "".join(sorted(set(re.findall(r"[ -~]", text.split("\n", 1)[0])) - set('",;|')))
    if len(names) == 1:  # whichever it is, no cell has it outside quotes, but may have others
        delimiters = next(c for c in map(chr, range(1, 1 << 16)) if c not in '\r\n"' and c not in text)
    for delimiter in delimiters:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            header = next(rows, [])
            if sorted(header) == sorted(names):
                break
        except csv.Error:
            pass
    else:
        raise Unreadable(f"{path}: its columns are not those of the certificate")
    columns = [[] for _ in names]  # in the certificate's order
    found = [columns[names.index(name)] for name in header]
    try:
        for row in rows:
            row = row or ([""] if len(names) == 1 else None)
            if row is None:
                continue
            if len(row) != len(names):
                raise Unreadable(f"{path}: row {len(columns[0]) + 1} has another number of cells than the header")
            for column, cell in zip(found, map(unguarded, row) if guarded else row):
                column.append(MISSING if missing is not None and cell.strip(" \t") == missing else cell)
    except csv.Error as error:
        raise Unreadable(f"{path}: {error}") from None
    return columns, hashlib.sha256(data).hexdigest()


class Hierarchy:
    """A file leaf;parent;...;root, or indented text. Nodes are paths from the root."""

    def __init__(self, path, rule):
        try:
            text = read_bytes(path).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Unreadable(f"{path}: not UTF-8") from None
        lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
        paths = self.of_indents(lines) if "taxonomy" in rule else self.of_lines(path, lines, rule.get("delimiter", ";\t|,"))
        self.height = max(len(p) for p in paths) - 1
        self.leaves = {tuple(p) for p in paths}
        self.cover = collections.Counter(p[:n] for p in self.leaves for n in range(1, len(p) + 1))
        self.by_leaf = {p[-1]: p for p in self.leaves}
        self.levels, self.least = collections.defaultdict(set), {}
        for node, leaves in self.cover.items():
            top = self.height + 1 - len(node)
            self.levels[node[-1]] |= set(range(top + 1)) if node in self.leaves else {top}
            self.least[node[-1]] = min(leaves, self.least.get(node[-1], leaves))

    @staticmethod
    def of_lines(path, lines, delimiters):
        for delimiter in delimiters:
            rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))
            if rows and all(len(row) > 1 and row[-1] == rows[0][-1] for row in rows):
                return [row[::-1] for row in rows]
        raise Unreadable(f"{path}: not a hierarchy")

    @staticmethod
    def of_indents(lines):
        step = next((re.match(r"\t|[ ]+", line).group() for line in lines if line[0] in " \t"), "\t")
        tops = sum(line[0] not in " \t" for line in lines)
        paths, above = [], [] if tops == 1 else ["*"]
        parents, path = set(), list(above)
        for line in lines:
            label = line.rstrip(" \t\r")
            depth = 0
            while label.startswith(step):
                label, depth = label[len(step):], depth + 1
            path = path[:len(above) + depth] + [label]
            paths.append(tuple(path))
            parents.add(tuple(path[:-1]))
        return [p for p in paths if p not in parents]

    def level(self, node):
        return self.height + 1 - len(node)


# ---- What the texts of a quasi-identifier say ----

def days_by(text, pattern):
    try:
        return datetime.datetime.strptime(text.strip(" \t"), pattern).date().toordinal()
    except ValueError:
        return None


class Texts:
    """The texts of one column: for each its levels (a set; empty: none) and what it lost.

    by_type: where no hierarchy was given, the method took one that suits the column's type. The certificate does not say which: labels
    are known by their form, and where a text may as well be a value, nothing is said of its level and loss."""

    def __init__(self, column, decimal, hierarchy, by_type=False):
        self.rule, self.decimal, self.format, self.file = column.get("hierarchy"), decimal, column.get("format"), hierarchy
        self.by_type, self.type = by_type and self.rule is None, column.get("type")
        self.years, self.numbers = set(), False
        self.steps = [s for s in STEPS if s in self.rule["calendar"]] if self.kind("calendar") else []
        self.least, self.most, self.members = None, None, set()
        self.blind = isinstance(self.rule, dict) and "prefix" in self.rule  # a loss that the release does not say

    def kind(self, name):
        return isinstance(self.rule, dict) and name in self.rule

    def plain(self, text, decimal=None):
        plain = text.strip(" \t")
        return plain.replace(".", "x").replace(",", ".") if (decimal or self.decimal) == "," else plain

    def is_number(self, text):
        return bool(NUMBER.match(self.plain(text)))

    def number(self, text, decimal=None):
        """A number or a day; None: neither."""
        plain = self.plain(text, decimal)
        if NUMBER.match(plain):
            return Fraction(plain)
        for pattern in [self.format] if self.format else []:
            if days_by(text, pattern) is not None:
                return Fraction(days_by(text, pattern))
        day = days_by(text, "%Y-%m-%d")
        return None if day is None else Fraction(day)

    def interval(self, text):
        """(low, high, closed at its end); None for an end that is open."""
        found = INTERVAL.match(text)
        if not found:
            return None
        low, high = found.group(2), found.group(3)
        self.numbers = self.numbers or self.is_number(low) or self.is_number(high)
        ends = [None if low == "-inf" else self.number(low), None if high == "inf" else self.number(high)]
        if (low != "-inf" and ends[0] is None) or (high != "inf" and ends[1] is None):
            self.blind = True  # an interval of something else
            return None
        return (*ends, found.group(4) == "]")

    def calendar(self, text):
        """(first day, last day, step) of a month, quarter or year."""
        found = re.fullmatch(r"(\d{4})(?:-M(\d\d)|-Q([1-4]))?", text)
        if not found:
            return None
        year, month, quarter = int(found[1]), found[2] and int(found[2]), found[3] and int(found[3])
        first, last = (month, month) if month else (3 * quarter - 2, 3 * quarter) if quarter else (1, 12)
        if not 1 <= first <= 12 or year < 1:
            return None
        end = datetime.date(year, last, calendar.monthrange(year, last)[1])
        return datetime.date(year, first, 1).toordinal(), end.toordinal(), "month" if month else "quarter" if quarter else "year"

    def step_level(self, step):
        return {self.steps.index(step) + 1} if step in self.steps else set()

    def interval_level(self, low, high, closed):
        end = high if high is None or not closed else high + 1
        if self.kind("ranges") and None not in (low, end):
            return {i + 1 for i, width in enumerate(self.rule["ranges"]) if Fraction(str(width)) == end - low}
        if self.kind("breaks"):
            return {i + 1 for i, points in enumerate(self.rule["breaks"])
                    if (low, end) in zip([None] + [self.number(str(p), ".") for p in points],
                                         [self.number(str(p), ".") for p in points] + [None])}
        if self.kind("calendar"):
            return self.step_level("decade")
        if self.by_type and self.type != "text":
            return set()
        return set() if self.kind("ranges") or self.kind("breaks") else {0}

    def mask(self, text):
        """How many characters are hidden."""
        if self.by_type and self.type in (None, "text"):
            return len(text) - len(text.rstrip("*"))
        if not self.kind("mask"):
            return 0
        bare = text.lstrip(self.rule["character"]) if self.rule["mask"] == "left" else text.rstrip(self.rule["character"])
        return len(text) - len(bare)

    def star_levels(self):
        if self.file:
            return self.file.levels.get("*") or {self.file.height}
        if self.kind("calendar"):
            return {len(self.steps) + 1}
        return {len(self.rule["ranges"]) + 1 if self.kind("ranges") else len(self.rule["breaks"]) + 1 if self.kind("breaks") else 1}

    def read(self, text):
        """(levels, kind, what the loss is made of)."""
        if text == "*":
            return self.star_levels(), "star", None
        if self.file and text in self.file.least:
            return self.file.levels[text], "label", self.file.least[text]
        interval = self.interval(text)
        if interval:
            low, high, closed = interval
            self.blind = self.blind or None in (low, high)  # how far it reaches, nobody was told
            self.widen(low, high)
            return self.interval_level(low, high, closed), "interval", (low, high)
        if INTERVAL.match(text) and any(map(self.kind, ("ranges", "breaks", "calendar"))):
            return set(), "value", None
        hidden = self.mask(text)
        if hidden:
            return set() if self.by_type else {-(-hidden // self.rule["step"])}, "masked", Fraction(hidden, len(text))
        dates = self.by_type and self.type in (None, "date", "datetime")
        named = self.calendar(text) if self.kind("calendar") or dates else None
        if named and dates and self.type is None and named[2] == "year":
            self.years.add(text)  # or a number: the other texts decide
        elif named and dates and self.type is None:
            self.blind = True
            return set(), "value", None
        elif named:
            self.widen(named[0], named[1])
            return self.step_level(named[2]), "interval", named[:2]
        if text.startswith("{") and text.endswith("}") and len(text) > 1:
            members = self.set_members(text)
            self.members |= set(members)
            return {0}, "set", len(members)
        self.members.add(text)
        self.numbers = self.numbers or (text not in self.years and self.is_number(text))
        value = self.number(text)
        self.widen(value, value)
        return {0}, "value", None

    @staticmethod
    def set_members(text):
        return [m[1:-1].replace('""', '"') if m.startswith('"') else m
                for m in re.findall(r'("(?:[^"]|"")*"|[^;]*)(?:;|$)', text[1:-1])[:-1]] or [""]

    def widen(self, *ends):
        for end in ends:
            if end is not None:
                self.least = end if self.least is None else min(self.least, end)
                self.most = end if self.most is None else max(self.most, end)

    def loss(self, kind, of):
        if kind == "star":
            return 1
        if kind == "label":
            return Fraction(of - 1, len(self.file.leaves) - 1) if len(self.file.leaves) > 1 else 0
        if kind == "interval":
            return Fraction(of[1] - of[0]) / (self.most - self.least) if None not in of and self.most > self.least else 0
        if kind == "set":
            return Fraction(of - 1, len(self.members) - 1) if len(self.members) > 1 else 0
        return of if kind == "masked" else 0

    def measure(self, counts, missing, suppressed, levels_known):
        """The figures of the column. counts: text -> rows, suppressed rows and missing cells aside."""
        read = {text: self.read(text) for text in counts}
        if self.years and not self.numbers:
            self.blind = True
            read.update({text: (set(), "value", None) for text in self.years})
        total = sum(counts.values()) + missing + suppressed
        lost = sum(n * self.loss(*read[text][1:]) for text, n in counts.items()) + suppressed
        figures = {"labels": len(counts), "stars": counts.get("*", 0), "lm": None if self.blind else lost / Fraction(total) if total else 0}
        if levels_known:
            figures["level"] = self.level([levels for levels, _, _ in read.values()])
        return figures

    def level(self, sets):
        if any(not levels for levels in sets):
            return None
        if self.file:
            return min(set.intersection(*sets), default=None) if sets else 0
        return max((min(levels) for levels in sets), default=0)


# ---- Models: what a class of sensitive values reaches against all of them ----

def entropy_l(values):
    n = sum(values.values())
    if len(set(values.values())) == 1:
        return len(values)
    return min(len(values), 2 ** sum(c / n * math.log2(n / c) for c in values.values()))


def recursive_c(values, l):
    counts = sorted(values.values(), reverse=True)
    rest = sum(counts[int(l) - 1:])
    return 0 if l <= 1 else Fraction(counts[0], rest) if rest else math.inf


def shares(values):
    n = sum(values.values())
    return {v: Fraction(c, n) for v, c in values.items()}


def ordered_t(p, q, order):
    """The cheapest transport along the line; a missing cell is 1 away from every value."""
    extra = sum((p.get(v, 0) - q[v] for v in order), Fraction(0))
    sign, apart = (-1, -extra) if extra < 0 else (1, extra)
    if len(order) < 2:
        return apart
    so_far, errors, heap = Fraction(0), Fraction(0), []
    for value in order[:-1]:  # the best rising line from 0 to `apart`, by absolute errors
        so_far += sign * (p.get(value, 0) - q[value])
        inside = min(max(so_far, Fraction(0)), apart)
        errors += abs(so_far - inside)
        heapq.heappush(heap, -inside)
        if -heap[0] > inside:
            errors += -heap[0] - inside
            heapq.heapreplace(heap, -inside)
    return apart + errors / (len(order) - 1)


def hierarchical_t(p, q, tree):
    """At each node as much as its children can settle among themselves, at the node's level."""
    balance = collections.Counter()
    for value in q:
        path = (next(iter(tree.leaves))[0], None) if value is MISSING else tree.by_leaf.get(value)
        if path is None:
            raise Unreadable("a hierarchy file lacks a value of its column")
        for n in range(1, len(path) + 1):
            balance[path[:n]] += p.get(value, 0) - q[value]
    children = collections.defaultdict(list)
    for node in balance:
        if len(node) > 1:
            children[node[:-1]].append(balance[node])
    cost = sum(tree.level(node) * min(sum(b for b in below if b > 0), -sum(b for b in below if b < 0)) for node, below in children.items())
    return Fraction(cost, tree.height) if tree.height else Fraction(0)


def likeness(model, p, q):
    if model["model"] == "delta-disclosure":
        return math.inf if set(p) != set(q) else max(abs(math.log(p[v] / q[v])) for v in p)
    gains = {v: p[v] / q[v] - 1 for v in p}
    if model["kind"] == "enhanced" and any(g > 0 and g > -math.log(q[v]) for v, g in gains.items()):
        return math.inf
    return max(max(gains.values()), 0)


def reached(model, values, whole, order, tree):
    """What one class reaches. values, whole: value -> rows."""
    name, p, q = model["model"], shares(values), shares(whole)
    if name == "l-diversity":
        kind = model["kind"]
        return len(values) if kind == "distinct" else entropy_l(values) if kind == "entropy" else recursive_c(values, model["l"])
    if name == "alpha-k":
        return max(p.values())
    if name != "t-closeness":
        return likeness(model, p, q)
    if model["distance"] == "equal":
        return sum(max(p.get(v, 0) - q[v], 0) for v in q)
    return ordered_t(p, q, order) if model["distance"] == "ordered" else hierarchical_t(p, q, tree)


def typed(values, column, decimal):
    """The values in their order, missing ones aside: by the declared type, or the first that fits all of them."""
    texts = [v for v in values if v is not MISSING]
    kind = column.get("type")
    plain = {v: v.strip(" \t").replace(".", "x").replace(",", ".") if decimal == "," else v.strip(" \t") for v in texts}
    whole, exact = r"-?(0|[1-9]\d*)", r"-?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?"
    if kind in ("integer", "decimal") or (kind is None and all(re.fullmatch(whole, plain[v]) for v in texts)) or \
            (kind is None and all(NUMBER.match(plain[v]) and re.fullmatch(exact, plain[v]) for v in texts)):
        return sorted(texts, key=lambda v: Fraction(plain[v]))
    patterns = [column["format"]] if column.get("format") else DATES if kind in (None, "date") else []
    fitting = [p for p in patterns if all(days_by(v, p) is not None for v in texts)]
    orders = {tuple(days_by(v, p) for v in texts) for p in fitting}
    if len(orders) == 1 and "%H" not in fitting[0]:
        return sorted(texts, key=lambda v: days_by(v, fitting[0]))
    return sorted(texts, key=lambda v: v.encode())


# ---- The certificate ----

class Release:
    def __init__(self, certificate, path, hierarchies):
        self.certificate, self.columns = certificate, certificate["columns"]
        self.options, self.requested = certificate["options"], certificate["requested"]
        self.decimal = self.options.get("decimal", ".")
        self.names = [column["name"] for column in self.columns]
        self.cells, self.digest = read_table(path, self.names, self.options.get("missing-text", ""), self.options.get("spreadsheet-safe", False))
        self.files = {}
        for column in self.columns:
            rule, name = column.get("hierarchy") or {}, column["name"]
            if "file" not in rule and "taxonomy" not in rule:
                continue
            if name not in hierarchies:
                raise Unreadable(f"--hierarchy {name}=FILE is needed")
            self.files[name] = Hierarchy(hierarchies[name], rule)
        self.quasi = [i for i, column in enumerate(self.columns) if column["role"] == "quasi"]
        self.lines = range(len(self.cells[0]))
        self.counts = [i for i, column in enumerate(self.columns) if column["role"] == "count"]
        self.times = self.read_counts(path)
        self.rows = sum(self.times)
        self.find_classes()

    def read_counts(self, path):
        """How many rows each line stands for."""
        if not self.counts:
            return [1 for _ in self.lines]
        for line, text in enumerate(self.cells[self.counts[0]]):
            if text is MISSING or not re.fullmatch(r"[1-9]\d{0,15}", text):
                raise Unreadable(f"{path}: row {line + 1} does not say how many rows it stands for")
        return [int(text) for text in self.cells[self.counts[0]]]

    def size(self, lines):
        return sum(self.times[line] for line in lines)

    def tally(self, pairs):
        """Counts of values, each by the rows that its line stands for."""
        found = collections.Counter()
        for line, value in pairs:
            found[value] += self.times[line]
        return found

    def budget(self):
        """How many rows may be suppressed."""
        asked = self.requested.get("suppression", 0)
        if any(m["model"] == "delta-presence" and m["min"] > 0 for m in self.requested["models"]):
            return 0
        return asked["rows"] if isinstance(asked, dict) else int(Fraction(str(asked)) * self.rows)

    def find_classes(self):
        """Rows with equal quasi-identifiers, suppressed ones aside; those are counted, and a class where they keep their values."""
        mode = self.options["suppressed"]
        shown = [c for c in range(len(self.names)) if c not in self.counts]
        must = {"star": shown, "keep-sensitive": self.quasi, "drop": None}[mode]
        self.gone = [must is not None and all(self.cells[c][row] == "*" for c in must) for row in self.lines]
        self.suppressed = self.size(row for row in self.lines if self.gone[row])
        if self.suppressed > self.budget():  # more than may be suppressed: generalized to the top
            self.suppressed, self.gone = 0, [False for _ in self.lines]
        self.classes = collections.defaultdict(list)
        for row in self.lines:
            if not self.gone[row]:
                self.classes[tuple(self.cells[c][row] for c in self.quasi)].append(row)
        self.sizes = sorted(self.size(rows) for rows in self.classes.values())
        self.judged = list(self.classes.values())
        if mode == "keep-sensitive" and self.suppressed:
            self.judged.append([row for row in self.lines if self.gone[row]])

    def by_level(self):
        return self.certificate["method"] in FULL_DOMAIN

    def column_figures(self):
        found = []
        for i, column in enumerate(self.columns):
            if i not in self.quasi:
                found.append({})
                continue
            counts = self.tally((row, cell) for row, cell in enumerate(self.cells[i]) if not self.gone[row])
            missing = counts.pop(MISSING, 0)
            by_type = not self.certificate["method"].startswith("mondrian")
            texts = Texts(column, self.decimal, self.files.get(column["name"]), by_type)
            found.append(texts.measure(counts, missing, self.suppressed, self.by_level()))
            if (found[-1].get("level") or 0) > column.get("max-level", math.inf):
                found[-1]["max-level"] = found[-1]["level"]
        return found

    def in_release(self, model):
        if self.options.get("entity") or not self.judged:
            return None
        name, smallest = model["model"], min(map(self.size, self.judged))
        if name in ("k", "max-risk"):
            return smallest if name == "k" else Fraction(1, smallest)
        if name == "average-risk":
            return Fraction(len(self.judged), sum(map(self.size, self.judged)))
        if name in ("k-map", "delta-presence"):
            return None  # of a population, whether a table's or what hierarchies carry: the release does not show it
        at = self.names.index(model["attribute"])
        tree = self.files.get(model["attribute"])
        if model.get("distance") == "hierarchical" and not tree:
            return None  # a hierarchy over the original's values
        histograms = [self.tally((row, MISSING if self.cells[at][row] == "*" else self.cells[at][row]) for row in rows) for rows in self.judged]
        whole = sum(histograms, collections.Counter())
        order = typed(whole, self.columns[at], self.decimal)
        worst = min if name == "l-diversity" and model["kind"] != "recursive" else max
        found = worst(reached(model, values, whole, order, tree) for values in histograms)
        return None if found == math.inf else found

    def figures(self):
        """Every key that is not part of the request, as the certificate should have it."""
        columns, known = self.column_figures(), self.certificate
        entity = self.options.get("entity")
        weights = [Fraction(str(self.columns[i].get("weight", 1))) for i in self.quasi]
        losses = [columns[i]["lm"] if w else 0 for i, w in zip(self.quasi, weights)]
        asked = [m["k"] for m in self.requested["models"] if m["model"] in ("k", "alpha-k") and m["k"] > 0]
        dm = sum(size * size for size in self.sizes) + (self.suppressed * self.rows if self.options["suppressed"] == "star" else 0)
        lm = None if None in losses else sum(w * x for w, x in zip(weights, losses)) / sum(weights) if sum(weights) else 0
        found = {
            "columns": [{**column, **figures} for column, figures in zip(self.columns, columns)],
            "rows": self.rows, "classes": len(self.sizes),
            "k": self.sizes[0] if self.sizes and not entity else None,
            "sizes": [{"size": size, "classes": n} for size, n in sorted(collections.Counter(self.sizes).items())],
            "models": [{**model, "in_release": self.in_release(model)} for model in self.requested["models"]],
            "metrics": {"lm": lm, "dm": dm, "c_avg": Fraction(sum(self.sizes), len(self.sizes)) / max(asked, default=1)
                        if self.sizes and not entity else None},
            "verified": True, "sha256": self.digest}
        if self.options["suppressed"] != "drop":
            found["suppressed"] = self.suppressed
        found["node"] = self.node(columns)
        found["requested"] = {key: value for key, value in self.requested.items() if key != "k"}
        if asked:
            found["requested"]["k"] = max(asked)
        kept = ("kanon-certificate", "shape", "method", "options", "dependencies", "version")
        found.update({key: known[key] for key in kept if key in known})
        return found

    def node(self, columns):
        return [columns[self.names.index(name)]["level"] for name in self.requested["quasi"]] if self.by_level() else None

    def broken(self):
        """Promises that the release itself decides, and dependencies."""
        for model in self.requested["models"]:
            value, name = self.in_release(model), model["model"]
            if value is None:
                continue
            kind = model.get("kind")
            if (name == "k" and value < model["k"]) or (name.endswith("risk") and value > Fraction(str(model["risk"]))) or \
                    (name == "alpha-k" and (value > Fraction(str(model["alpha"])) or min(map(self.size, self.judged)) < model["k"])) or \
                    (name == "l-diversity" and (value >= Fraction(str(model["c"])) and model["l"] > 1 if kind == "recursive" else
                                                value < model["l"] * (1 - 1e-9))):
                yield f"models: {name} does not hold: {float(value):g}"
        for column, cells in zip(self.columns, self.cells):
            if column["role"] == "set" and not self.hides_items(cells, column["separator"], **self.requested["k-mn"]):
                yield f"k-mn does not hold: few rows of a class show some items of column {column['name']}"
        for rule in self.certificate.get("dependencies", []):
            if not self.holds(rule):
                yield f"dependencies: {rule} does not hold"

    def hides_items(self, cells, separator, k, m, n):
        """Every combination of up to m items that a row of a class shows, at least k of its rows show; or all of them show *."""
        del n  # a set has no relations
        for rows in self.classes.values():
            shown = [frozenset() if cells[row] is MISSING else frozenset(cells[row].split(separator)) for row in rows]
            if any("*" in items for items in shown) and set(shown) != {frozenset("*")}:
                return False
            for size in range(1, m + 1):
                counts = collections.Counter(some for items in shown for some in itertools.combinations(sorted(items), size))
                if any(count < k for count in counts.values()):
                    return False
        return True

    def holds(self, rule):
        left, arrow, right = re.fullmatch(r"(.*?)\s*(->>|-\d+->|->)\s*(.*)", rule.strip()).groups()
        sides = [[self.names.index(n.strip()) for n in side.split(",")] for side in (left, right)]
        rest = [c for c in range(len(self.names)) if c not in sides[0] + sides[1] + self.counts]
        groups = collections.defaultdict(collections.Counter)
        others = collections.defaultdict(set)
        for row in self.lines:
            if not self.gone[row]:
                key, value, other = (tuple(self.cells[c][row] for c in side) for side in (*sides, rest))
                groups[key][value] += self.times[row]
                others[key].add((value, other))
        if arrow == "->":
            return all(len(values) == 1 for values in groups.values())
        if arrow == "->>":
            return all(len(others[key]) == len(values) * len({other for _, other in others[key]}) for key, values in groups.items())
        return all(min(values.values()) >= int(arrow[1:-2]) for values in groups.values())


def differences(path, told, found):
    if isinstance(told, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*told, *found]):
            if key not in told or key not in found:
                yield f"{path}{key}: {'not expected' if key in told else 'lacking'}"
            else:
                yield from differences(f"{path}{key}.", told[key], found[key])
    elif isinstance(told, list) and isinstance(found, list) and len(told) == len(found):
        for i, (a, b) in enumerate(zip(told, found)):
            yield from differences(f"{path[:-1]}[{i}].", a, b)
    elif isinstance(found, (int, float, Fraction)) and not isinstance(found, bool) and isinstance(told, (int, float)) and not isinstance(told, bool):
        if abs(float(found) - told) > 1e-9 * max(1, abs(told)):
            yield f"{path[:-1]}: the certificate says {told:.15g}, the release {float(found):.15g}"
    elif told != found or isinstance(told, bool) != isinstance(found, bool):
        yield f"{path[:-1]}: the certificate says {json.dumps(told)}, the release {json.dumps(found, default=float)}"


def summary(figures):
    """The figures that others cite, as they were found."""
    yield f"equal: {figures['rows']} rows, {figures['classes']} classes"
    shown = [("suppressed", figures.get("suppressed")), ("smallest class", figures["k"]), ("lm", figures["metrics"]["lm"])]
    for model in figures["models"]:
        variant, column = model.get("kind", model.get("distance")), model.get("attribute")
        shown.append((model["model"] + (f" {variant}" if variant else "") + (f" of {column}" if column else ""), model["in_release"]))
    yield from (f"  {name}: {float(value):.6g}" for name, value in shown if value is not None)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Does a table's certificate say what the release shows?",
                                     epilog="Exit codes: 0 equal, 1 something differs, 2 it cannot be read.")
    parser.add_argument("release")
    parser.add_argument("certificate")
    parser.add_argument("--hierarchy", action="append", default=[], metavar="COLUMN=FILE", help="the hierarchy file of a column; repeatable")
    parser.add_argument("--quiet", action="store_true", help="only the exit code")
    given = parser.parse_args(arguments)
    try:
        certificate = read_certificate(given.certificate)
        release = Release(certificate, given.release, dict(h.split("=", 1) for h in given.hierarchy))
        figures = release.figures()
        found = list(differences("", certificate, figures)) + list(release.broken())
    except Unreadable as error:
        print(f"check_release: {error}", file=sys.stderr)
        return 2
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        print(f"check_release: {given.certificate}: not the form of a certificate ({type(error).__name__}: {error})", file=sys.stderr)
        return 2
    if not given.quiet:
        print("\n".join(found or summary(figures)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
