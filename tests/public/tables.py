# SPDX-License-Identifier: Apache-2.0
"""tests/public/tables.py: requests for a table, and originals that may give the same release.

A table is made of crowds: rows that agree on a group of leaves in every quasi-identifier (a decade, a town's zip codes), so
that there is a release on or below those groups; and of outliers, which stand alone and are given up where a budget is
left for them. What is varied is what such a release does not show.
"""
import collections
import csv
import datetime
import gzip
import io
import os

import harness

LEVELS = ["optimal", "samarati", "bottom-up", "bottom-up-rollup", "incognito", "incognito-superroots", "incognito-cube", "heuristic",
          "datafly"]
LOCAL = ["mondrian", "mondrian-relaxed", "mondrian-1d", "mondrian-best", "mondrian-workload"]
METHODS = LEVELS + LOCAL + ["kmsd", "kmsd-ag", "auto"]
SUPPRESSED = ["star", "drop", "keep-sensitive"]
EXTRAS = ["entity", "pseudonym", "dependency", "summary", "weight", "missing drop", "missing value", "keep", "keep-order", "two sensitive",
          "share", "spreadsheet-safe", "time limit", "utility", "two promises", "cuts by order", "entity of two columns"]
ILLS = ["flu", "cold", "gout", "mumps"]
JOBS = {"nurse": "health", "surgeon": "health", "midwife": "health", "teacher": "school", "tutor": "school", "dean": "school",
        "baker": "food", "cook": "food", "butcher": "food", "spy": "state", "envoy": "state"}
ILL_FILE = "flu;infection;any\ncold;infection;any\nmumps;infection;any\ngout;chronic;any\nHIV;infection;any\nlupus;chronic;any\n"


def days(rng, group):
    year, quarter = group
    return (datetime.date(year, 3 * quarter + 1, 1) + datetime.timedelta(rng.randrange(85))).isoformat()


class Column:
    """Groups of leaves, a leaf of a group, a leaf that stands apart, and how each hierarchy is written."""

    def __init__(self, name, groups, leaf, apart, hierarchies, type=None):
        self.name, self.groups, self.leaf, self.apart, self.hierarchies, self.type = name, groups, leaf, apart, hierarchies, type


COLUMNS = [
    Column("zip", ["479", "130", "021", "553"], lambda rng, g: g + rng.choice("0123") + rng.choice("01"),
           lambda rng: rng.choice("6789") + "".join(rng.choice("0123456789") for _ in range(rng.randint(0, 8))),
           {"mask right": {"mask": "right"}, "mask step": {"mask": "right", "step": 2}, "mask pad": {"mask": "right", "pad": True},
            "mask character": {"mask": "right", "character": "x"}, "none, codes": None}, "text"),
    Column("phone", ["479", "130", "021"], lambda rng, g: rng.choice("0123") + rng.choice("01") + g,
           lambda rng: "".join(rng.choice("456789") for _ in range(rng.randint(1, 9))), {"mask left": {"mask": "left"}}, "text"),
    Column("age", [20, 30, 40, 60], lambda rng, g: str(g + rng.randrange(10)), lambda rng: str(rng.randint(90, 190)),
           {"ranges": {"ranges": [5, 10, 20]}, "ranges origin": {"ranges": [10], "origin": 0}, "breaks": {"breaks": [[20, 30, 40, 60, 70], [40]]},
            "none, numbers": None}, "integer"),
    Column("dose", [1, 2, 5], lambda rng, g: f"{g}.{rng.randrange(10)}", lambda rng: f"{rng.randint(20, 80)}.{rng.randrange(1000)}",
           {"ranges of decimals": {"ranges": ["0.5", 1, 4]}, "none, decimals": None}, "decimal"),
    Column("job", ["health", "school", "food"], lambda rng, g: rng.choice([j for j in JOBS if JOBS[j] == g]),
           lambda rng: rng.choice(["spy", "envoy"]), {"file": "job.csv", "taxonomy": {"taxonomy": "job.txt"}, "none, text": None}, "text"),
    Column("born", [(1961, 0), (1961, 2), (1975, 1), (1999, 3)], days,
           lambda rng: f"{rng.randint(1890, 1940)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
           {"calendar": {"calendar": ["month", "quarter", "year"]}, "calendar all": {"calendar": "all"}, "none, dates": None}, "date"),
    Column("code", ["a.b", "a.c", "x.y"], lambda rng, g: f"{g}.{rng.randrange(4)}",
           lambda rng: rng.choice(["q", "q.w", "q.w.e.r", "u.v.w", "u"]) + str(rng.randrange(9)), {"prefix": {"prefix": "."}}, "text"),
    Column("sex", ["F", "M"], lambda rng, g: g, lambda rng: rng.choice("FM"), {"suppress": "suppress"}, "text"),
    # Neither type nor hierarchy: the values of all rows say what is taken, and outliers may be of another type.
    Column("years", [20, 30, 40, 60], lambda rng, g: str(g + rng.randrange(10)), lambda rng: rng.choice(["95", "7", "1900", "2.5", "old"]),
           {"by type, numbers": None}),
    Column("salary", [21000, 34000, 56000], lambda rng, g: str(g + 100 * rng.randrange(30)), lambda rng: rng.choice(["990000", "1", "-5", "1e3"]),
           {"by type, large numbers": None}),
    Column("year", [1961, 1975, 1999], lambda rng, g: str(g + rng.randrange(3)), lambda rng: rng.choice(["1890", "12", "1930-05-05"]),
           {"by type, years": None}),
    Column("dosage", [1, 2, 5], lambda rng, g: f"{g}.{rng.randrange(10)}", lambda rng: rng.choice(["99.5", "40", "0.001", "?!"]),
           {"by type, decimals": None}),
    Column("since", [(1961, 0), (1961, 2), (1975, 1), (1999, 3)], days, lambda rng: rng.choice(["1890-01-01", "1955-12-24", "1955"]),
           {"by type, dates": None}),
    Column("seen", [(2023, 0), (2023, 3), (2024, 1)], lambda rng, g: f"{days(rng, g)}T{rng.randrange(24):02}:30:00",
           lambda rng: rng.choice(["1999-12-31T23:59:59", "2024-01-01"]), {"by type, times": None}),
    Column("plate", ["AB1", "CD2", "EF3"], lambda rng, g: g + rng.choice("01") + rng.choice("01"), lambda rng: rng.choice(["ZZ999", "Z1", "ABCDE"]),
           {"by type, codes": None}),
    Column("free", ["u", "v"], lambda rng, g: g, lambda rng: rng.choice(["u", "v", "7", "2020-01-01", "w w"]), {"no type": None}),
]
HIERARCHIES = {kind: column for column in COLUMNS for kind in column.hierarchies}
MODELS = {
    "k alone": lambda k: [{"k": k}],
    "distinct l": lambda k: [{"k": k}, {"l-diversity": {"attribute": "dx", "kind": "distinct", "l": 2}}],
    "entropy l": lambda k: [{"k": k}, {"l-diversity": {"attribute": "dx", "kind": "entropy", "l": 1.4}}],
    "recursive l": lambda k: [{"k": k}, {"l-diversity": {"attribute": "dx", "kind": "recursive", "l": 2, "c": 4}}],
    "equal t": lambda k: [{"k": k}, {"t-closeness": {"attribute": "dx", "distance": "equal", "t": 0.8}}],
    "ordered t": lambda k: [{"k": k}, {"t-closeness": {"attribute": "cost", "distance": "ordered", "t": 0.8}}],
    "hierarchical t": lambda k: [{"k": k}, {"t-closeness": {"attribute": "dx", "distance": "hierarchical", "t": 0.9}}],
    "alpha-k": lambda k: [{"alpha-k": {"attribute": "dx", "alpha": 0.8, "k": k}}],
    "basic beta": lambda k: [{"k": k}, {"beta-likeness": {"attribute": "dx", "kind": "basic", "beta": 3}}],
    "enhanced beta": lambda k: [{"k": k}, {"beta-likeness": {"attribute": "dx", "kind": "enhanced", "beta": 3}}],
    "delta-disclosure": lambda k: [{"k": k}, {"delta-disclosure": {"attribute": "dx", "delta": 3}}],
    "max-risk": lambda k: [{"max-risk": 0.5}],
    "average-risk": lambda k: [{"k": k}, {"average-risk": 0.34}],
    "k-map, population": lambda k: [{"k-map": k + 1}],
    "k-map, weights": lambda k: [{"k-map": k + 1}],
    "delta-presence": lambda k: [{"k": k}, {"delta-presence": {"min": 0, "max": 0.8}}],
}
POPULATION = ["k-map, population", "delta-presence"]
VARIATIONS = ["outliers", "leaves", "within classes", "dropped rows", "missing rows", "dropped columns", "order", "persons", "population",
              "paths and seed", "spelling", "files"]
FEATURES = ([("method", m) for m in METHODS] + [("suppressed rows", s) for s in SUPPRESSED] + [("with", e) for e in EXTRAS] +
            [("hierarchy", h) for h in HIERARCHIES] + [("model", m) for m in MODELS] + [("variation", f"tables: {v}") for v in VARIATIONS])


class Original:
    def __init__(self, case, rows, population, dropped, seed, options, missing=""):
        self.case, self.rows, self.population, self.dropped, self.seed = case, rows, population, dropped, seed
        self.options, self.missing = options, missing
        self.key, self.form = "pid", "one file"

    def spec(self, name):
        request = dict(self.case.request, input=f"{name}/{name}.csv")
        request["attributes"] = dict(request["attributes"])
        if self.form == "two files":
            request["input"] = [f"{name}/{name}.csv", f"{name}/more.csv"]
        elif self.form == "latin-1":
            request["encoding"] = "latin-1"
        if "entity" in request:
            request["entity"] = {"key": [self.key, "w"] if self.case.extra == "entity of two columns" else self.key}
        for column, role in self.dropped.items():
            if role:
                request["attributes"][column] = {"role": role}
        if self.seed is not None and self.case.method == "heuristic":
            request["options"] = dict(request.get("options", {}), seed=self.seed)
        for key in ("population", "workload"):
            if request.get(key):
                request[key] = f"{name}/{key}"
        return under(request, name)

    def files(self, name):
        names = self.case.columns + list(self.dropped)
        half = len(self.rows) // 2 if self.form == "two files" else len(self.rows)
        files = {f"{name}/{name}.csv": self.text(names, self.rows[:half]), f"{name}/more.csv": self.text(names, self.rows[half:]),
                 f"{name}/job.csv": "".join(f"{j};{JOBS[j]};any\n" for j in JOBS),
                 f"{name}/job.txt": "any\n" + "".join(f"  {g}\n" + "".join(f"    {j}\n" for j in JOBS if JOBS[j] == g)
                                                        for g in dict.fromkeys(JOBS.values())),
                 f"{name}/sector.csv": "health;service;any\nschool;service;any\nfood;goods;any\nstate;service;any\n",
                 f"{name}/dx.csv": ILL_FILE, f"{name}/key": "0123456789abcdef" * 4 + "\n",
                 f"{name}/workload": f"SELECT COUNT(*) FROM people WHERE {self.case.quasi[0].name} = '{self.rows[0][self.case.quasi[0].name]}'\n"}
        if self.population is not None:
            files[f"{name}/population"] = table([c.name for c in self.case.quasi], self.population, "")
        return files

    def text(self, names, rows):
        text = table(names, rows, self.missing).replace(",pid", f",{self.key}", 1)
        return gzip.compress(text.encode(), mtime=0) if self.form == "gzip" else text

    def write(self, path, content):
        harness.write("", path, content)


def table(names, rows, missing):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([row.get(n) or missing for n in names] for row in rows)
    return out.getvalue()


def under(value, name):
    """Paths of hierarchies and keys lie in the run's own folder."""
    if isinstance(value, dict):
        return {k: f"{name}/{v}" if k in ("hierarchy", "taxonomy", "key-file") and isinstance(v, str) and v != "suppress" else under(v, name)
                for k, v in value.items()}
    return [under(v, name) for v in value] if isinstance(value, list) else value


class Case:
    output = "{}.csv"

    def __init__(self, rng, tally):
        self.method = tally.least("method", METHODS)
        by_level = self.method in LEVELS
        self.model = tally.least("model", [m for m in MODELS if by_level or not m.startswith(("k-map", "delta-presence"))])
        self.suppressed = tally.least("suppressed rows", SUPPRESSED)
        self.extra = tally.least("with", [e for e in EXTRAS if (e not in ("weight", "entity of two columns") or self.model != "k-map, weights") and
                                          (e != "cuts by order" or self.method in LOCAL) and
                                          (e not in ("utility", "time limit") or by_level)])
        self.k = 2 if self.model == "max-risk" else rng.choice([2, 2, 3])
        self.choose_columns(rng, tally)
        self.people = 0
        rows = self.crowds(rng)
        self.dropped = {"nick": None, "town": "identifier"} if rng.random() < 0.7 else {}
        apart = [self.outlier(rng) for _ in range(rng.choice([0, 1, 1, 2, 3] if by_level else [0, 0, 1]))]
        self.budget = max(len(apart), rng.choice([0, 1, 3]))
        if self.extra == "missing drop":
            apart += [self.with_gap(rng) for _ in range(rng.randint(1, 3))]
        rows += apart
        rng.shuffle(rows)
        self.request = self.make_request(rng, len(rows))
        self.options = ["--keep-rowmap", "--force", "--threads", "1"]
        self.base = Original(self, [self.fill(rng, row) for row in rows], self.everybody(rng, rows), self.dropped,
                             rng.choice([None, 1, 7]), self.options)
        self.tags = [("method", self.method), ("model", self.model), ("suppressed rows", self.suppressed), ("with", self.extra)] + \
            [("hierarchy", kind) for kind in self.kinds]

    def choose_columns(self, rng, tally):
        chosen = {}
        while len(chosen) < rng.choice([2, 2, 3]):
            kind = tally.least("hierarchy", list(HIERARCHIES)) if not chosen else rng.choice(list(HIERARCHIES))
            chosen.setdefault(HIERARCHIES[kind].name, kind)
        if self.extra in ("dependency", "cuts by order") and "job" not in chosen:
            chosen["job"] = "file"
        self.kinds = list(chosen.values())
        self.quasi = [HIERARCHIES[kind] for kind in self.kinds]
        if self.extra == "dependency":
            self.quasi.append(Column("sector", [], None, None, {"file": "sector.csv"}))
        self.columns = [c.name for c in self.quasi] + ["dx", "cost", "ward", "w", "pid"]

    # ---- Rows ----

    def crowds(self, rng):
        rows, groups = [], None
        for _ in range(rng.randint(2, 5)):
            # The second differs from the first in every column: no column has one value throughout.
            groups = [rng.choice([g for g in c.groups if not groups or len(rows) > 9 or g != groups[i]]) if c.groups else None
                      for i, c in enumerate(self.quasi)]
            size = max(self.k, 4) + rng.randrange(4)
            for i in range(size):
                row = {c.name: c.leaf(rng, g) for c, g in zip(self.quasi, groups) if c.groups}
                row.update(dx=ILLS[i % 2], cost=str(10 + i % 3), group=groups)
                if self.extra == "missing value" and i == 0 and len(rows) > 0 and rng.random() < 0.3:
                    row[self.quasi[0].name] = ""
                self.finish(rng, row, new=i < max(self.k, 3) or rng.random() < 0.5)
                rows.append(row)
        if self.extra == "missing value":
            rows += [dict(row, **{self.quasi[-1].name: ""}) for row in rows[:max(self.k, 4)]]
        return rows

    def finish(self, rng, row, new=True):
        if "job" in row:
            row["sector"] = JOBS.get(row["job"], "")
        self.people += new
        row.update(pid=f"p{self.people}", ward=rng.choice(["=W", "X"] if self.extra == "spreadsheet-safe" else "WX"), w=str(rng.randint(1, 4)))

    def fill(self, rng, row):
        return dict(row, **{column: rng.choice(["Ann", "Bo", "Cy"]) + str(rng.randrange(99)) for column in self.dropped})

    def outlier(self, rng):
        row = {c.name: c.apart(rng) for c in self.quasi if c.groups}
        rare = self.model != "delta-disclosure" and rng.random() < 0.6
        row.update(dx=rng.choice(["HIV", "lupus"]) if rare else rng.choice(ILLS[:2]), cost=str(rng.choice([10, 11, 12, 5000])), apart=True)
        self.finish(rng, row)
        return row

    def with_gap(self, rng):
        row = {c.name: c.leaf(rng, rng.choice(c.groups)) for c in self.quasi if c.groups}
        row.update(dx=rng.choice(ILLS[:2]), cost="10", gap=True)
        self.finish(rng, row)
        row[rng.choice(self.quasi).name] = ""
        return row

    def everybody(self, rng, rows):
        if self.model not in POPULATION:
            return None
        inside = [row for row in rows if not row.get("gap")]
        people = [dict(row) for row in inside]
        for row in inside:
            for _ in range(rng.randint(1, 2)):
                more = {c.name: c.leaf(rng, g) for c, g in zip(self.quasi, row["group"]) if c.groups} if row.get("group") else \
                    {c.name: c.apart(rng) for c in self.quasi if c.groups}
                if "job" in more:
                    more["sector"] = JOBS[more["job"]]
                people.append(more)
        return people

    # ---- What is asked for ----

    def make_request(self, rng, count):
        attributes = {c.name: {"role": "quasi"} for c in self.quasi}
        for kind, column in zip(self.kinds, self.quasi):
            if column.type:
                attributes[column.name]["type"] = column.type
            if column.hierarchies[kind] is not None:
                attributes[column.name]["hierarchy"] = column.hierarchies[kind]
            if rng.random() < 0.15:
                attributes[column.name]["weight"] = 2
            if self.extra == "cuts by order" and kind in ("file", "taxonomy"):
                attributes[column.name]["cuts"] = "order"
        if self.extra == "dependency":
            attributes["sector"] = {"role": "quasi", "hierarchy": "sector.csv"}
        attributes["dx"] = {"role": "sensitive", **({"hierarchy": "dx.csv"} if self.model == "hierarchical t" else {})}
        if self.model == "ordered t" or self.extra == "two sensitive":
            attributes["cost"] = {"role": "sensitive", "type": "integer"}
        if self.extra in ("keep", "spreadsheet-safe"):
            attributes["ward"] = "keep"
        if self.extra == "weight" or self.model == "k-map, weights":
            attributes["w"] = "weight"
        if self.extra == "pseudonym":
            attributes["pid"] = {"role": "identifier", "pseudonym": {"key-file": "key"}}
        request = {"kanon": 1, "attributes": attributes, "privacy": MODELS[self.model](self.k), "method": self.method,
                   "suppressed": self.suppressed, "missing": "drop" if self.extra == "missing drop" else "value",
                   "suppression": {"rows": self.budget}}
        if self.extra == "share":
            request["suppression"] = round(min(1.0, (self.budget + 0.5) / max(count - 2, 1)), 4)
        if self.extra.startswith("entity"):
            request["entity"] = {"key": "pid"}
        if self.extra == "dependency":
            request["dependencies"] = ["job -> sector"]
        if self.extra == "summary":
            request["summary"] = "side"
        if self.extra == "spreadsheet-safe":
            request["spreadsheet-safe"] = True
        if self.extra == "time limit":
            request["options"] = {"time-limit": 500}
        if self.extra == "utility":
            request["utility"] = rng.choice(["ncp", "prec", "entropy", "dm", "dm_star", "c_avg"])
        if self.extra == "two promises":
            request["privacy"] = request["privacy"] + [{"average-risk": 0.5}, {"l-diversity": {"attribute": "dx", "kind": "distinct", "l": 2}}]
        if self.extra == "keep-order":
            request["keep-order"] = True
        if self.model in POPULATION:
            request["population"] = "population"
        if self.method == "mondrian-workload":
            request["workload"] = "workload"
        return request

    # ---- Another original ----

    def shown(self, base):
        """By the row map: number of an original row -> the cells that it shows."""
        with open(os.path.join(base.folder, base.output), newline="", encoding="utf-8") as file:
            cells = [tuple(row[c.name] for c in self.quasi) for row in csv.DictReader(file)]
        with open(os.path.join(base.folder, base.output + ".rowmap"), encoding="utf-8") as file:
            numbers = [int(line) - 1 for line in file.read().split("\n")[1:] if line]
        return dict(zip(numbers, cells))

    def vary(self, rng, tally, base):
        old, shown = self.base, self.shown(base)
        possible = ["leaves", "within classes", "order", "paths and seed", "files"]
        if any(row.get("apart") for row in old.rows) or self.suppressed == "drop":
            possible += ["outliers"] + (["dropped rows"] if self.suppressed == "drop" else [])
        possible += [name for name, there in (("missing rows", self.extra == "missing drop"), ("dropped columns", True),
                                              ("persons", self.extra.startswith("entity")), ("population", old.population is not None),
                                              ("spelling", any("" in r.values() for r in old.rows))) if there]
        first = tally.least("variation", [f"tables: {v}" for v in possible]).partition(": ")[2]
        kinds = [first] + [v for v in possible if v != first and rng.random() < 0.15]
        new = Original(self, [dict(row) for row in old.rows], old.population, self.dropped, old.seed, old.options)
        for kind in kinds:
            getattr(self, "vary_" + kind.replace(" ", "_"))(rng, new, shown)
        if "order" in kinds:
            rng.shuffle(new.rows)
        same = new.rows == old.rows and new.population == old.population and new.dropped == old.dropped and \
            (new.missing, new.seed, new.key, new.form) == (old.missing, old.seed, old.key, old.form)
        return None if same and kinds != ["paths and seed"] else (kinds, new)

    def vary_outliers(self, rng, new, shown):
        for i, row in enumerate(new.rows):
            if row.get("apart"):
                new.rows[i] = self.fill(rng, self.outlier(rng))

    def vary_dropped_rows(self, rng, new, shown):
        new.rows[:] = [row for row in new.rows if not row.get("apart")]
        for _ in range(rng.randint(0, self.budget)):
            new.rows.insert(rng.randint(0, len(new.rows)), self.fill(rng, self.outlier(rng)))

    def vary_missing_rows(self, rng, new, shown):
        new.rows[:] = [row for row in new.rows if not row.get("gap")]
        for _ in range(rng.randint(0, 6)):
            new.rows.insert(rng.randint(0, len(new.rows)), self.fill(rng, self.with_gap(rng)))

    def vary_leaves(self, rng, new, shown):
        """Other leaves of the same group, where the release does not show the leaf itself."""
        at = {id(row): i for i, row in enumerate(self.base.rows)}
        places = [(row, q) for old, row in zip(self.base.rows, new.rows) for q, c in enumerate(self.quasi)
                  if row.get("group") and c.groups and row[c.name] and shown.get(at[id(old)], (row[c.name],) * 9)[q] != row[c.name]]
        rng.shuffle(places)
        for row, q in places[:rng.randint(1, 5)]:
            column = self.quasi[q]
            row[column.name] = column.leaf(rng, row["group"][q])
            if column.name == "job":
                row["sector"] = JOBS[row["job"]]

    def vary_within_classes(self, rng, new, shown):
        """Values change places, or one takes another's, among rows that look alike."""
        classes = collections.defaultdict(list)
        for number, cells in shown.items():
            if number < len(new.rows):
                classes[cells].append(new.rows[number])
        for rows in rng.sample(list(classes.values()), min(len(classes), 2)):
            column = rng.choice([c for c in self.quasi if c.groups]).name
            also = ["sector"] if column == "job" else []
            if rng.random() < 0.7:
                order = rng.sample(rows, len(rows))
                values = [{n: r.get(n) for n in [column] + also} for r in order]
                for row, value in zip(rows, values):
                    row.update(value)
            else:
                one, two = rng.choice(rows), rng.choice(rows)
                one.update({n: two.get(n) for n in [column] + also})

    def vary_dropped_columns(self, rng, new, shown):
        new.dropped = {name: rng.choice([None, "identifier"]) for name in rng.sample(["pet", "shoe", "nick", "memo"], rng.randint(0, 3))}
        for row in new.rows:
            row.update({name: rng.choice(["x", "y", "7"]) + str(rng.randrange(9)) for name in new.dropped})

    def vary_order(self, rng, new, shown):
        pass  # shuffled last: other variations count rows

    def vary_persons(self, rng, new, shown):
        """Two persons of a crowd become one, or one two; and the column that says so has another name."""
        new.key = rng.choice(["pid", "who"])
        names = sorted({row["pid"] for row in new.rows})
        for _ in range(rng.randint(1, 3)):
            a, b = rng.choice(names), rng.choice(names + ["somebody", "else"])
            rows = [row for row in new.rows if row["pid"] == a]
            for row in rows if rng.random() < 0.5 else rows[:1]:
                row["pid"] = b

    def vary_population(self, rng, new, shown):
        new.population = self.everybody(rng, self.base.rows)

    def vary_paths_and_seed(self, rng, new, shown):
        new.seed = rng.choice([None, 1, 2, 3, 99])

    def vary_files(self, rng, new, shown):
        """The same table in another file, or in two."""
        new.form = rng.choice(["two files", "gzip", "latin-1"])

    def vary_spelling(self, rng, new, shown):
        """Missing cells are written in another way."""
        new.missing = rng.choice(["NA", "?", "NULL"])


def make(rng, tally):
    return Case(rng, tally)
