# SPDX-License-Identifier: Apache-2.0
"""tests/public/databases.py: requests for a database, and originals that may give the same release.

Persons with visits, and drugs given at them. Most persons are copies of a few patterns, up to leaves of one group; some
have a row that nobody else has, which is deleted, and somebody may be so different that they are left out. What is varied
is what such a release does not show: those rows and persons, leaves, keys, orphans, columns that are dropped.
"""
import csv
import io
import sqlite3
import zlib

import harness

METHODS = ["miracle", "miracle-x", "miracle-x-level", "dmiracle", "bitmap", "auto", "dmiracle, anatomy"]
FORMS = ["folder", "sqlite"]
KINDS = {"file": lambda c: c + ".csv", "taxonomy": lambda c: {"taxonomy": c + ".txt"}, "none": lambda c: None, "suppress": lambda c: "suppress",
         "mask": lambda c: {"mask": "right"}, "ranges": lambda c: {"ranges": [5, 10, 40]}, "breaks": lambda c: {"breaks": [[20, 30, 50], [30]]}}
GROUPS = {"city": {"north": ["Kiel", "Emden"], "south": ["Ulm", "Ingolstadt"], "far": ["Oslo", "Bergen", "Narvik"]},
          "ill": {"lung": ["flu", "cold", "croup"], "gut": ["ulcer", "reflux"], "rare": ["lupus", "gout", "rabies"]},
          "drug": {"cheap": ["aspirin", "zinc"], "dear": ["gold", "platinum"], "odd": ["leech", "garlic"]},
          "age": {"north": ["20", "22", "24"], "south": ["41", "43"], "far": ["7", "96", "181"]}}  # goes with the city
TABLES = {"person": ("pid", None, ["city", "age"], ["gpa"]), "visit": ("vid", "person", ["ill"], ["cost"]), "drug": ("did", "visit", ["drug"], [])}
VARIATIONS = ["leaves", "deleted rows", "persons left out", "orphans", "dropped columns", "keys and order", "paths"]
FEATURES = ([("method of a database", m) for m in METHODS] + [("form", f) for f in FORMS] + [("hierarchy in a database", h) for h in KINDS] +
            [("variation", f"databases: {v}") for v in VARIATIONS])


def leaf(rng, column, group):
    return rng.choice(GROUPS[column][group])


def rare_visit(rng):
    return {"ill": leaf(rng, "ill", "rare"), "cost": str(rng.randint(100, 999)), "group": "rare", "rare": True,
            "drugs": [{"drug": leaf(rng, "drug", "odd"), "group": "odd"} for _ in range(rng.randint(0, 2))]}


def visit_like(rng, pattern, number):
    ill, drugs = pattern
    return {"ill": leaf(rng, "ill", ill), "cost": str(10 + number), "group": ill,
            "drugs": [{"drug": leaf(rng, "drug", d), "group": d} for d in drugs]}


class Original:
    """Persons as trees; keys, order, orphans and further columns are made when the tables are written."""

    def __init__(self, case, persons, dropped, orphans, prefix, order, options):
        self.case, self.persons, self.dropped, self.orphans, self.prefix, self.order = case, persons, dropped, orphans, prefix, order
        self.options = options

    def rows(self):
        found = {name: [] for name in TABLES}
        for i, person in enumerate(self.persons):
            found["person"].append([f"{self.prefix}{i}", None, person["city"], person["age"], person["gpa"]])
            for visit in person["visits"]:
                number = f"{self.prefix}v{len(found['visit'])}"
                found["visit"].append([number, f"{self.prefix}{i}", visit["ill"], visit["cost"]])
                for drug in visit["drugs"]:
                    found["drug"].append([f"{self.prefix}d{len(found['drug'])}", number, drug["drug"]])
        for i, (name, value) in enumerate(self.orphans):
            found[name].append([f"{self.prefix}o{i}", f"{self.prefix}nobody{i}", value] + (["77"] if name == "visit" else []))
        for name, rows in found.items():
            self.order(rows)
            for number, row in enumerate(rows):
                row += [f"{column}{number}" for column in self.dropped.get(name, {})]
        return found

    def columns(self, name):
        key, parent, quasi, sensitive = TABLES[name]
        return [key, TABLES[parent][0] if parent else "none"] + quasi + sensitive + list(self.dropped.get(name, {}))

    def files(self, name):
        files = {f"{name}/{c}.csv": "".join(f"{v};{g};any\n" for g in GROUPS[c] for v in GROUPS[c][g]) for c in GROUPS}
        for c in GROUPS:
            files[f"{name}/{c}.txt"] = "any\n" + "".join(f"  {g}\n" + "".join(f"    {v}\n" for v in GROUPS[c][g]) for g in GROUPS[c])
        rows = self.rows()
        if self.case.form == "sqlite":
            files[f"{name}/{name}.db"] = rows
            return files
        for table, lines in rows.items():
            out = io.StringIO()
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(self.columns(table))
            writer.writerows([cell or "" for cell in row] for row in lines)
            files[f"{name}/{name}/{table}.csv"] = out.getvalue()
        return files

    def write(self, path, content):
        if not isinstance(content, dict):
            harness.write("", path, content)
            return
        db = sqlite3.connect(path)
        for table, rows in content.items():
            names = self.columns(table)
            key, parent, _, _ = TABLES[table]
            link = f", FOREIGN KEY ({TABLES[parent][0]}) REFERENCES {parent} ({TABLES[parent][0]})" if parent else ""
            db.execute(f"CREATE TABLE {table} ({', '.join(n + (' INTEGER' if n == 'age' else ' TEXT') for n in names)}, PRIMARY KEY ({key}){link})")
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)
        db.commit()
        db.close()

    def spec(self, name):
        tables = {}
        for table, (key, parent, quasi, sensitive) in TABLES.items():
            attributes = {q: {"role": "quasi", **under(self.case.hierarchies[q], name)} for q in quasi}
            attributes.update({s: {"role": "sensitive"} for s in sensitive})
            attributes.update({d: {"role": role} for d, role in self.dropped.get(table, {}).items() if role})
            tables[table] = {"key": key, "attributes": attributes}
            if parent:
                tables[table]["parent"] = {"table": parent, "column": TABLES[parent][0]}
        where = f"sqlite:{name}/{name}.db" if self.case.form == "sqlite" else f"{name}/{name}/"
        return dict(self.case.request, input=where, tables=tables)


def under(hierarchy, name):
    """The attribute's field; a file lies in the run's own folder."""
    if isinstance(hierarchy, dict):
        hierarchy = {key: f"{name}/{value}" if key == "taxonomy" else value for key, value in hierarchy.items()}
    elif hierarchy and hierarchy != "suppress":
        hierarchy = f"{name}/{hierarchy}"
    return {"hierarchy": hierarchy} if hierarchy else {}


class Case:
    def __init__(self, rng, tally):
        method = tally.least("method of a database", METHODS)
        self.form = tally.least("form", FORMS)
        self.output = "sqlite:{}-out.db" if self.form == "sqlite" else "{}-out/"
        self.k = rng.choice([2, 2, 3])
        self.leftovers = rng.choice(["absorb", "drop", "drop"])
        kinds = {c: tally.least("hierarchy in a database", [k for k in KINDS if c == "age" or k not in ("ranges", "breaks")]) for c in GROUPS}
        self.hierarchies = {column: KINDS[kind](column) for column, kind in kinds.items()}
        self.tags = [("method of a database", method), ("form", self.form)] + \
            [("hierarchy in a database", kind) for kind in dict.fromkeys(kinds.values())]
        options = {"leftovers": self.leftovers, "seed": rng.choice([0, 3])}
        privacy = [{"k": self.k}]
        if method.startswith("dmiracle"):
            privacy.append({"l-diversity": {"attribute": "visit.cost", "kind": rng.choice(["distinct", "entropy"]), "l": 2}})
            options["diversity"] = rng.choice(["merge", "distance", "suppress"])
        if method.endswith("anatomy"):
            options["anatomy"] = True
        self.request = {"kanon": 1, "entity": {"table": "person", "key": "pid"}, "privacy": privacy, "options": options,
                        "method": method.partition(",")[0]}
        self.options = ["--threads", "1"]
        persons = self.persons(rng)
        self.base = Original(self, persons, {"person": {"name": "identifier", "memo": None}}, self.orphans(rng), "k", lambda rows: None,
                             self.options)

    def persons(self, rng):
        persons = []
        for _ in range(rng.randint(2, 4)):
            city = rng.choice(["north", "south"])
            visits = [(rng.choice(["lung", "gut"]), [rng.choice(["cheap", "dear"]) for _ in range(rng.choice([0, 0, 1, 2]))])
                      for _ in range(rng.choice([0, 1, 1, 2]))]
            for i in range(self.k * rng.randint(1, 2)):
                persons.append({"city": leaf(rng, "city", city), "age": leaf(rng, "age", city), "gpa": str(i % 3), "group": city,
                                "visits": [visit_like(rng, pattern, i) for pattern in visits]})
        for person in rng.sample(persons, rng.randint(0, 2)):
            person["visits"].append(rare_visit(rng))
        if self.leftovers == "drop":
            persons += [self.stranger(rng) for _ in range(rng.randint(0, self.k - 1))]
        return persons

    def stranger(self, rng):
        return {"city": leaf(rng, "city", "far"), "age": leaf(rng, "age", "far"), "gpa": str(rng.randint(40, 49)), "group": "far", "stranger": True,
                "visits": [rare_visit(rng) for _ in range(rng.randint(0, 2))]}

    def orphans(self, rng):
        return [(name, leaf(rng, TABLES[name][2][0], rng.choice(list(GROUPS[TABLES[name][2][0]]))))
                for name in (rng.choice(["visit", "drug"]) for _ in range(rng.choice([0, 0, 1, 4])))]

    def vary(self, rng, tally, base):
        first = tally.least("variation", [f"databases: {v}" for v in VARIATIONS]).partition(": ")[2]
        kinds = [first] + [v for v in VARIATIONS if v != first and rng.random() < 0.2]
        old = self.base
        persons = [dict(p, visits=[dict(v, drugs=[dict(d) for d in v["drugs"]]) for v in p["visits"]]) for p in old.persons]
        new = Original(self, persons, old.dropped, old.orphans, old.prefix, old.order, old.options)
        for kind in kinds:
            getattr(self, "vary_" + kind.replace(" ", "_"))(rng, new)
        same = new.rows() == old.rows() and new.dropped == old.dropped
        return None if same and kinds != ["paths"] else (kinds, new)

    def vary_leaves(self, rng, new):
        cells = [(p, c) for p in new.persons for c in ("city", "age")] + [(v, "ill") for p in new.persons for v in p["visits"]] + \
            [(d, "drug") for p in new.persons for v in p["visits"] for d in v["drugs"]]
        for row, column in rng.sample(cells, min(len(cells), rng.randint(1, 4))):
            row[column] = leaf(rng, column, row["group"])

    def vary_deleted_rows(self, rng, new):
        for person in new.persons:
            if not person.get("stranger"):
                person["visits"] = [rare_visit(rng) if v.get("rare") else v for v in person["visits"]]
        if rng.random() < 0.3:
            rng.choice(new.persons)["visits"].append(rare_visit(rng))

    def vary_persons_left_out(self, rng, new):
        if self.leftovers != "drop":
            return
        new.persons[:] = [p for p in new.persons if not p.get("stranger")]
        new.persons += [self.stranger(rng) for _ in range(rng.randint(0, self.k - 1))]

    def vary_orphans(self, rng, new):
        new.orphans = self.orphans(rng) + [("visit", "flu")] * rng.randint(0, 2)

    def vary_dropped_columns(self, rng, new):
        new.dropped = {name: {column: rng.choice([None, "identifier"]) for column in rng.sample(["pet", "shoe", "name"], rng.randint(0, 2))}
                       for name in TABLES}

    def vary_keys_and_order(self, rng, new):
        new.prefix, salt = rng.choice(["key", "z", "00"]), rng.randrange(1 << 30)
        new.order = lambda rows: rows.sort(key=lambda row: zlib.crc32(f"{salt}{row[0]}".encode()))

    def vary_paths(self, rng, new):
        pass


def make(rng, tally):
    return Case(rng, tally)
