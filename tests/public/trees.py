# SPDX-License-Identifier: Apache-2.0
"""tests/public/trees.py: requests for records that are trees, and originals that may give the same release.

Records of clinics, diseases and drugs as XML, JSON, JSON Lines and baskets, and the persons of a database. Most values lie
in groups that are likely to be shown as one. What is varied is what such a release does not show: leaves, ids, how often
somebody has a value, which node a rare one hung from, elements that belong to no class, order.
"""
import json

import harness

METHODS = ["gcs", "acs", "ocs", "auto"]
FORMS = ["xml", "json", "jsonl", "txt", "database"]
CLASSES = ["Center", "Disease", "Drug"]
GROUPS = {"Center": {"east": ["E1", "E2"], "west": ["W1", "W2", "W3"]}, "Disease": {"lung": ["Flu", "Croup"], "gut": ["Ulcer", "Reflux"]},
          "Drug": {"cheap": ["Zinc", "Tea"], "dear": ["Gold", "Silver"]}}
KINDS = ["file", "none", "mask"]
VARIATIONS = ["leaves", "ids", "repeated values", "other parents", "left out", "order", "paths and seed", "orphans"]
EXTRAS = ["k-mn alone", "sensitive class", "negative class", "strict structure", "paths", "support"]
FEATURES = ([("method of records", m) for m in METHODS] + [("form of records", f) for f in FORMS] + [("records with", e) for e in EXTRAS] +
            [("hierarchy of records", k) for k in KINDS] +
            [("variation", f"trees: {v}") for v in VARIATIONS])


def nodes_like(rng, pattern):
    """A pattern is [(class, group, children)]; siblings with one value are one."""
    found = {}
    for cls, group, children in pattern:
        value = rng.choice(GROUPS[cls][group])
        found.setdefault((cls, value), (group, []))[1].extend(nodes_like(rng, children))
    return [{"class": c, "v": v, "group": group, "children": children} for (c, v), (group, children) in found.items()]


def make_pattern(rng, depth, classes):
    if depth >= len(classes):
        return []
    return [(classes[depth], rng.choice(list(GROUPS[classes[depth]])), make_pattern(rng, depth + 1, classes))
            for _ in range(rng.choice([1, 1, 2]) if depth == 0 else rng.choice([0, 1, 1, 2]))]


def walk(nodes):
    for node in nodes:
        yield node
        yield from walk(node["children"])


class Original:
    def __init__(self, case, records, ids, junk, seed, options, orphans=()):
        self.case, self.records, self.ids, self.junk, self.seed, self.options = case, records, ids, junk, seed, options
        self.orphans = orphans

    def spec(self, name):
        case = self.case
        request = {"kanon": 1, "input": f"{name}/{name}.{case.form}", "method": case.method, "privacy": case.privacy,
                   "options": dict(case.how, **({} if self.seed is None else {"seed": self.seed}))}
        if case.form == "database":
            quasi = {c.lower(): {"role": "quasi", **self.hierarchy(c, name)} for c in ("Disease", "Drug")}
            return dict(request, input=f"{name}/{name}/", entity={"table": "person", "key": "pid"}, tables={
                "person": {"key": "pid", "attributes": {"center": {"role": "quasi", **self.hierarchy("Center", name)}}},
                "visit": {"key": "vid", "parent": {"table": "person", "column": "pid"}, "attributes": quasi}})
        classes = {}
        for cls in case.classes:
            classes[cls] = {**self.hierarchy(cls, name), **case.of_class.get(cls, {})}
            if case.form != "txt":
                classes[cls]["value"] = "@v" if case.form == "xml" else "v"
        return dict(request, classes=classes)

    def hierarchy(self, cls, name):
        return {"file": {"hierarchy": f"{name}/{cls}.csv"}, "none": {}, "mask": {"hierarchy": {"mask": "right"}}}[self.case.kinds[cls]]

    def files(self, name):
        files = {f"{name}/{c}.csv": "".join(f"{v};{g};{c}s;*\n" for g in GROUPS[c] for v in GROUPS[c][g]) for c in CLASSES}
        path = f"{name}/{name}.{self.case.form}"
        if self.case.form == "xml":
            files[path] = "<all>\n" + "".join(f"<record id=\"{i}\">{self.junk and f'<{self.junk}/>'}{self.xml(r)}</record>\n"
                                              for i, r in zip(self.ids, self.records)) + "</all>\n"
        elif self.case.form == "txt":
            files[path] = "".join(",".join(node["v"] for node in r) + "\n" for r in self.records)
        elif self.case.form == "database":
            files.update(self.database(name))
        else:
            records = [{"id": i, **({self.junk: "x"} if self.junk else {}), "children": self.json(r)}
                       for i, r in zip(self.ids, self.records)]
            files[path] = json.dumps({"records": records}) if self.case.form == "json" else "".join(json.dumps(r) + "\n" for r in records)
        return files

    def xml(self, nodes):
        more = f' {self.junk}="x"' if self.junk else ""
        return "".join(f'<{n["class"]} v="{n["v"]}"{more}>{self.xml(n["children"])}</{n["class"]}>' for n in nodes)

    def json(self, nodes):
        return [{"class": n["class"], "v": n["v"], "children": self.json(n["children"])} for n in nodes]

    def database(self, name):
        persons, visits = ["pid,center" + (f",{self.junk}" if self.junk else "")], ["vid,pid,disease,drug"]
        for key, record in zip(self.ids, self.records):
            persons.append(f"{key},{record[0]['v']}" + (",x" if self.junk else ""))
            for disease in record[0]["children"]:
                for drug in disease["children"] or [{"v": ""}]:
                    visits.append(f"{key}.{len(visits)},{key},{disease['v']},{drug['v']}")
        visits += [f"{key}o{i},nobody,{disease},{drug}" for i, (disease, drug) in enumerate(self.orphans)]
        return {f"{name}/{name}/person.csv": "\n".join(persons) + "\n", f"{name}/{name}/visit.csv": "\n".join(visits) + "\n"}

    def write(self, path, content):
        harness.write("", path, content)


class Case:
    def __init__(self, rng, tally):
        self.method = tally.least("method of records", METHODS)
        self.form = tally.least("form of records", FORMS)
        extra = tally.least("records with", EXTRAS[:1] if self.form in ("txt", "database") else EXTRAS)
        self.output = "{}-out." + ("json" if self.form == "database" else self.form)
        self.classes = CLASSES[:1] if self.form == "txt" else CLASSES
        k, m = rng.choice([2, 2, 3]), rng.choice([1, 2, 2])
        self.privacy = [{"k-mn": {"k": k, "m": m, "n": 0 if self.form == "txt" else rng.randint(0, m - 1)}}]
        self.of_class, self.how = {}, {}
        if extra == "sensitive class":
            self.of_class = {"Disease": {"role": "sensitive"}}
            self.privacy.append({"l-diversity": {"attribute": "Disease", "kind": "distinct", "l": 2}})
        elif extra == "negative class":
            self.of_class = {"Drug": {"negative": True}}
        elif extra == "strict structure":
            self.how = {"strict-structure": True}
        elif extra == "paths":
            self.how = {"semantics": "paths"}
        elif extra == "support":
            self.how = {"support": 0.2}
        self.kinds = {c: tally.least("hierarchy of records", KINDS) for c in CLASSES}
        self.tags = [("method of records", self.method), ("form of records", self.form), ("records with", extra)] + \
            [("hierarchy of records", kind) for kind in dict.fromkeys(self.kinds[c] for c in self.classes)]
        self.options = ["--threads", "1"]
        patterns = [make_pattern(rng, 0, self.classes) for _ in range(rng.randint(2, 3))]
        records = [nodes_like(rng, rng.choice(patterns)) for _ in range(rng.randint(6, 16))]
        self.base = Original(self, records, [f"p{i}" for i in range(len(records))], "Note", None, self.options)

    def vary(self, rng, tally, base):
        possible = [v for v in VARIATIONS if (self.form != "txt" or v not in ("ids", "other parents", "left out")) and
                    (self.form == "database" or v != "orphans")]
        first = tally.least("variation", [f"trees: {v}" for v in possible]).partition(": ")[2]
        kinds = [first] + [v for v in possible if v != first and rng.random() < 0.15]
        old = self.base
        new = Original(self, json.loads(json.dumps(old.records)), list(old.ids), old.junk, old.seed, old.options)
        for kind in kinds:
            getattr(self, "vary_" + kind.replace(" ", "_"))(rng, new)
        return None if new.files("n") == old.files("n") and kinds != ["paths and seed"] else (kinds, new)

    def vary_leaves(self, rng, new):
        nodes = [node for record in new.records for node in walk(record)]
        for node in rng.sample(nodes, min(len(nodes), rng.randint(1, 4))):
            node["v"] = rng.choice(GROUPS[node["class"]][node["group"]])

    def vary_ids(self, rng, new):
        new.ids = [f"{rng.choice('xyz')}{i}" for i in rng.sample(range(10, 999), len(new.ids))]

    def vary_repeated_values(self, rng, new):
        """Somebody has a value twice, which is not told."""
        for record in rng.sample(new.records, 2):
            nodes = [n["children"] for n in walk(record) if n["children"]] + ([record] if self.form != "database" else [])
            if nodes:
                siblings = rng.choice(nodes)
                siblings.append(json.loads(json.dumps(rng.choice(siblings))))

    def vary_other_parents(self, rng, new):
        """A node moves below another one of its parent's class."""
        for record in rng.sample(new.records, min(len(new.records), 4)):
            parents = [n for n in walk(record) if n["class"] == rng.choice(self.classes[:-1])]
            if len(parents) > 1:
                one, two = rng.sample(parents, 2)
                one["children"], two["children"] = two["children"], one["children"]

    def vary_left_out(self, rng, new):
        new.junk = rng.choice(["", "Memo", "Extra"])

    def vary_orphans(self, rng, new):
        """Visits of nobody, with values that nobody has or that somebody has."""
        new.orphans = [(rng.choice(["Flu", "Ulcer", "Rabies"] if self.kinds["Disease"] != "file" else ["Flu", "Ulcer"]),
                        rng.choice(["Zinc", "Gold", ""])) for _ in range(rng.randint(1, 3))]

    def vary_order(self, rng, new):
        rng.shuffle(new.records)
        for record in new.records:
            rng.shuffle(record)

    def vary_paths_and_seed(self, rng, new):
        new.seed = rng.choice([None, 1, 5])


def make(rng, tally):
    return Case(rng, tally)
