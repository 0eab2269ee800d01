#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Privacy models side by side with pyCANON: values and times on Adult.

    bench/pycanon [--library build/src/libkanon.so] [--threads 2] [--repeat 5] [--only NAME,NAME]

Calls kanon's public C API through ctypes and pyCANON's own functions in a process of its own, on the same file. Every
figure of pyCANON must equal kanon's, or be the one that pyCANON's formula gives where that is another one than the
model's definition; those formulas are written down below (`explain`) and computed again row by row. Writes
bench/out/pycanon.md and pycanon.json and prints the former.

pyCANON pins exact versions of pandas and numpy, so it gets an environment of its own, bench/out/pycanon-venv: in
bench/.venv it would change the pandas that bench/run measures. Where it cannot be installed, or where
../shared/data/adult/adult.csv is missing, the run says *skipped* and exits 0.

Exit codes: 0 all figures agree or are explained (or skipped), 1 some do not, 2 bad usage, 3 kanon or the set-up failed.
"""
import argparse
import collections
import csv
import ctypes
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = HERE / "out"
VENV = OUT / "pycanon-venv"
ADULT = ROOT.parent / "shared" / "data" / "adult" / "adult.csv"
QI8 = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
# name: quasi-identifiers, sensitive column, what is done to the data first
CASES = {
    "adult-8": (QI8, "occupation", None),
    "adult-text": (["sex", "race"], "occupation", None),
    "adult-numbers": (["sex", "salary-class"], "age", None),
    "null-quasi": (["sex", "workclass"], "occupation", "null"),
    "sorted-frame": (["sex", "race"], "occupation", "sorted"),
}
NOTES = {
    "null": "every seventh workclass is missing: pyCANON's groupby leaves those rows out, kanon is asked to drop them too",
    "sorted": "the frame is sorted by age and keeps its index: pyCANON takes index labels for positions, so its classes "
              "hold other rows; the models do not depend on the order of rows",
}
MEASURES = ["k", "alpha", "distinct-l", "entropy-l", "recursive-c", "beta", "beta-enhanced", "delta", "t"]


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


# ---- pyCANON, in its own process ------------------------------------------------------------------------------------
def pycanon_process(path, quasi, sensitive, change):
    """Prints one JSON object: measure -> value, wall and CPU seconds. Reading and imports are not timed."""
    sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE]  # this file is called pycanon too
    import pandas
    from pycanon import anonymity

    data = pandas.read_csv(path, sep=";")
    if change == "sorted":
        data = data.sort_values("age", kind="stable")
    functions = {
        "k": lambda: anonymity.k_anonymity(data, quasi),
        "alpha": lambda: anonymity.alpha_k_anonymity(data, quasi, [sensitive])[0],
        "distinct-l": lambda: anonymity.l_diversity(data, quasi, [sensitive]),
        "entropy-l": lambda: anonymity.entropy_l_diversity(data, quasi, [sensitive]),
        "recursive-c": lambda: anonymity.recursive_c_l_diversity(data, quasi, [sensitive])[0],
        "beta": lambda: anonymity.basic_beta_likeness(data, quasi, [sensitive]),
        "beta-enhanced": lambda: anonymity.enhanced_beta_likeness(data, quasi, [sensitive]),
        "delta": lambda: anonymity.delta_disclosure(data, quasi, [sensitive]),
        "t": lambda: anonymity.t_closeness(data, quasi, [sensitive]),
    }
    result = {}
    for name in MEASURES:
        start, cpu = time.perf_counter(), time.process_time()
        try:
            value = float(functions[name]())
        except Exception as error:  # whatever it is, it is its answer
            value = f"{type(error).__name__}"
        result[name] = {"value": value, "seconds": time.perf_counter() - start,
                        "cpu": time.process_time() - cpu}
    print(json.dumps(result))


def pycanon_python():
    """The Python of pyCANON's environment, made if need be; None with the reason."""
    python = VENV / "bin" / "python"
    log = OUT / "pycanon-setup.log"
    with open(log, "w", encoding="utf-8") as out:
        if not python.exists():
            say("making bench/out/pycanon-venv")
            if subprocess.run([sys.executable, "-m", "venv", str(VENV)], stdout=out, stderr=out).returncode != 0:
                return None, "no virtual environment (Debian: python3-venv)"
        check = [str(python), "-I", "-c", "import pycanon"]
        if subprocess.run(check, stdout=out, stderr=out).returncode != 0:
            say("installing pycanon from PyPI")
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", "pycanon"], stdout=out, stderr=out)
            if subprocess.run(check, stdout=out, stderr=out).returncode != 0:
                return None, "pycanon could not be installed; see bench/out/pycanon-setup.log"
    return python, None


# ---- kanon, through its public API ----------------------------------------------------------------------------------
class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_int64), ("column", ctypes.c_int64),
                ("message", ctypes.c_char * 1000)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("memory_limit", ctypes.c_uint64),
                ("allocator", ctypes.c_void_p), ("progress", ctypes.c_void_p), ("progress_user", ctypes.c_void_p)]


class Ratio(ctypes.Structure):
    _fields_ = [("numerator", ctypes.c_uint64), ("denominator", ctypes.c_uint64)]


class Model(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("attribute", ctypes.c_char_p), ("k", ctypes.c_int64), ("l", Ratio),
                ("c", Ratio), ("bound", Ratio)]


class ModelOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("quasi", ctypes.POINTER(ctypes.c_char_p)), ("quasi_count", ctypes.c_int),
                ("sensitive", ctypes.POINTER(ctypes.c_char_p)), ("sensitive_count", ctypes.c_int),
                ("hierarchies", ctypes.c_void_p), ("requirements", ctypes.POINTER(Model)),
                ("requirement_count", ctypes.c_int), ("missing", ctypes.c_int)]


class Figures(ctypes.Structure):
    _fields_ = [("distinct_l", ctypes.c_int64), *[(name, ctypes.c_double) for name in (
        "entropy_l", "recursive_c2", "recursive_c3", "t_equal", "t_ordered", "t_hierarchical", "alpha", "beta",
        "beta_enhanced", "delta", "delta_present")], ("log_classes", ctypes.c_int64),
        ("lacking_classes", ctypes.c_int64)]


class Verdict(ctypes.Structure):
    _fields_ = [("reached", ctypes.c_double), ("classes", ctypes.c_int64), ("rows", ctypes.c_int64),
                ("holds", ctypes.c_bool)]


class SensitiveReport(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("values", ctypes.c_uint32),
                ("missing", ctypes.c_int64), ("figures", Figures)]


class Report(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("missing_rows", ctypes.c_int64), ("dropped", ctypes.c_int64),
                ("classes", ctypes.c_int64), ("k", ctypes.c_int64), ("sensitive_count", ctypes.c_int),
                ("sensitive", ctypes.POINTER(SensitiveReport)), ("requirement_count", ctypes.c_int),
                ("verdicts", ctypes.POINTER(Verdict)), ("violating_classes", ctypes.c_int64),
                ("violating_rows", ctypes.c_int64), ("holds", ctypes.c_bool)]


RECURSIVE, DROP = 3, 2  # KN_MODEL_RECURSIVE, KN_MISSING_DROP


class Kanon:
    def __init__(self, library, threads):
        self.library = ctypes.CDLL(str(library))
        self.library.kn_context_free.argtypes = [ctypes.c_void_p]
        self.library.kn_table_free.argtypes = [ctypes.c_void_p]
        self.library.kn_model_report_free.argtypes = [ctypes.c_void_p]
        self.error = Error()
        self.context = ctypes.c_void_p()
        options = ContextOptions(size=ctypes.sizeof(ContextOptions), threads=threads)
        self.check(self.library.kn_context_create(ctypes.byref(self.context), ctypes.byref(options),
                                                  ctypes.byref(self.error)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.error.message.decode())

    def measure(self, path, quasi, sensitive, l, repeat):
        """Figures, and the median wall and CPU seconds (all threads) of diagnosing."""
        wall, cpu = [], []
        names = (ctypes.c_char_p * len(quasi))(*[name.encode() for name in quasi])
        secret = (ctypes.c_char_p * 1)(sensitive.encode())
        model = Model(kind=RECURSIVE, attribute=sensitive.encode(), l=Ratio(max(l, 1), 1), c=Ratio(1, 1))
        options = ModelOptions(ctypes.sizeof(ModelOptions), names, len(quasi), secret, 1, None, ctypes.pointer(model), 1,
                               DROP)
        for _ in range(repeat):
            table, report = ctypes.c_void_p(), ctypes.POINTER(Report)()
            self.check(self.library.kn_table_read_csv(ctypes.byref(table), self.context, str(path).encode(), None,
                                                      ctypes.byref(self.error)))
            start = time.perf_counter(), time.process_time()
            self.check(self.library.kn_diagnose_models(ctypes.byref(report), self.context, table, ctypes.byref(options),
                                                       ctypes.byref(self.error)))
            wall.append(time.perf_counter() - start[0])
            cpu.append(time.process_time() - start[1])
            figures = report.contents.sensitive[0].figures
            value = {name: getattr(figures, name) for name, _ in Figures._fields_}
            value.update(k=report.contents.k, classes=report.contents.classes, rows=report.contents.rows,
                         dropped=report.contents.dropped, recursive=report.contents.verdicts[0].reached)
            self.library.kn_model_report_free(report)
            self.library.kn_table_free(table)
        return value, statistics.median(wall), statistics.median(cpu)


# ---- What must come out ---------------------------------------------------------------------------------------------
def row_by_row(path, quasi, sensitive, change):
    """Classes and the whole column as Counters, by a plain loop; and the classes as pyCANON sees them: in a sorted frame
    it takes a row's label for its position."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    whole = collections.Counter(row[sensitive] for row in rows)
    seen = sorted(rows, key=lambda row: int(row["age"])) if change == "sorted" else rows
    classes, theirs = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for label, row in enumerate(rows):
        key = tuple(row[name] for name in quasi)
        if change == "null" and "" in key:
            continue
        classes[key][row[sensitive]] += 1
        theirs[key][seen[label][sensitive]] += 1
    return list(classes.values()), list(theirs.values()), whole


def explain(kanon, seen, classes, whole, numeric):
    """measure -> (kanon's figure, what pyCANON's formula gives, why its formula is another one, or None). `seen`: the
    figures of the classes as pyCANON sees them, which are kanon's unless the frame is sorted; `classes`: those classes."""
    rows = sum(whole.values())
    l = seen["distinct_l"]
    t = "t_ordered" if numeric else "t_equal"
    rarest = -math.log(min(whole.values()) / rows)
    # Sorted ascending, its r_ec[0] is the smallest count and r_ec[l - 1:] are the large ones; then rounded up.
    ascending = [sorted(c.values()) for c in classes]
    its_c = max(math.floor(r[0] / sum(r[l - 1:]) + 1) for r in ascending) if l > 1 else math.nan
    return {
        "k": (kanon["k"], seen["k"], None),
        "alpha": (kanon["alpha"], seen["alpha"], None),
        "distinct-l": (kanon["distinct_l"], l, None),
        "entropy-l": (kanon["entropy_l"], math.floor(seen["entropy_l"] + 1e-9), "it cuts off the decimals"),
        "recursive-c": (kanon["recursive"], its_c,
                        "it sorts counts ascending, so that r1 is the rarest value and the sum is over the most "
                        "frequent ones; then takes the next whole number; nan for l = 1"),
        "beta": (kanon["beta"], seen["beta"], None),
        "beta-enhanced": (kanon["beta_enhanced"], min(seen["beta"], rarest),
                          "it gives the bound min(beta, -ln q) of the rarest value, which classes may pass; the "
                          "smallest beta for which the model holds is beta itself, or none if a class passes -ln q"),
        "delta": (kanon["delta"], seen["delta_present"],
                  "it skips values that a class lacks; by definition their difference is infinite"),
        "t": (kanon[t], seen[t], None),
    }


def naive(classes, whole, l, numeric):
    """kanon's figures once more, from the definitions, by plain loops over Counters."""
    rows = sum(whole.values())
    order = sorted(whole, key=float if numeric else None)
    result = {"k": min(sum(c.values()) for c in classes), "distinct_l": min(map(len, classes))}
    worst = collections.defaultdict(float)
    entropies = []
    for c in classes:
        n = sum(c.values())
        p = {v: c[v] / n for v in c}
        q = {v: whole[v] / rows for v in c}
        entropies.append(math.exp(-sum(x * math.log(x) for x in p.values())))
        gains = {v: c[v] * rows / (whole[v] * n) - 1 for v in c}
        r = sorted(c.values(), reverse=True)
        tail = sum(r[l - 1:])
        found = {
            "alpha": max(p.values()),
            "beta": max(0.0, *gains.values()),
            "beta_enhanced": max(0.0, *gains.values()) if all(g <= 0 or g <= -math.log(q[v]) for v, g in gains.items())
            else math.inf,
            "delta_present": max(abs(math.log(p[v] / q[v])) for v in c),
            "delta": math.inf if len(c) < len(whole) else max(abs(math.log(p[v] / q[v])) for v in c),
            "t_equal": sum(abs(p.get(v, 0) - whole[v] / rows) for v in order) / 2,
            "recursive": 0.0 if l <= 1 else r[0] / tail if tail else math.inf,
        }
        total, sums = 0.0, 0.0
        for v in order:
            total += p.get(v, 0) - whole[v] / rows
            sums += abs(total)
        found["t_ordered"] = sums / (len(order) - 1)
        for name, x in found.items():
            worst[name] = max(worst[name], x)
    return {**result, **worst, "entropy_l": min(entropies)}


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= 1e-9 * max(1, abs(b))


# ---- The run --------------------------------------------------------------------------------------------------------
def prepare(change, folder):
    """The file that both read."""
    if change != "null":
        return ADULT
    path = pathlib.Path(folder) / "null.csv"
    with open(ADULT, encoding="utf-8", newline="") as source, open(path, "w", encoding="utf-8", newline="") as target:
        reader = csv.DictReader(source, delimiter=";")
        writer = csv.DictWriter(target, reader.fieldnames, delimiter=";")
        writer.writeheader()
        for number, row in enumerate(reader):
            if number % 7 == 0:
                row["workclass"] = ""
            writer.writerow(row)
    return path


def run_case(name, args, kanon, python, folder):
    quasi, sensitive, change = CASES[name]
    numeric = sensitive == "age"
    path = prepare(change, folder)
    classes, seen, whole = row_by_row(path, quasi, sensitive, change)
    l = min(map(len, classes))
    say(f"{name}: kanon")
    figures, wall, cpu = kanon.measure(path, quasi, sensitive, l, args.repeat)
    problems = [f"{name}: kanon's {key} is {figures[key]!r}, by definition {value!r}"
                for key, value in naive(classes, whole, l, numeric).items() if not same(figures[key], value)]
    say(f"{name}: pyCANON")
    command = [str(python), "-B", str(HERE / "pycanon.py"), "--child", json.dumps([str(path), quasi, sensitive, change])]
    child = subprocess.run(command, capture_output=True, text=True)
    if child.returncode != 0:
        raise RuntimeError(f"pyCANON's process failed: {child.stderr.strip().splitlines()[-1:]}")
    theirs = json.loads(child.stdout)
    lines = []
    its_figures = naive(seen, whole, l, numeric)
    for measure, (ours, expected, why) in explain(figures, its_figures, seen, whole, numeric).items():
        value = theirs[measure]["value"]
        if same(value, ours):
            verdict = "equal"
        elif same(value, expected):
            reasons = [why] if why else []
            if change == "sorted":
                reasons.append("its classes hold other rows")
            verdict = "differs: " + "; ".join(reasons)
        else:
            verdict = f"NOT EXPLAINED (its formula gives {expected!r})"
            problems.append(f"{name}: pyCANON's {measure} is {value!r}, kanon's {ours!r}, explained would be {expected!r}")
        lines.append({"measure": measure, "kanon": ours, "pycanon": value, "seconds": theirs[measure]["cpu"],
                      "wall": theirs[measure]["seconds"], "verdict": verdict})
    return {"case": name, "quasi": quasi, "sensitive": sensitive, "note": NOTES.get(change), "rows": figures["rows"],
            "dropped": figures["dropped"], "classes": figures["classes"], "wall": wall, "cpu": cpu,
            "pycanon_wall": sum(line["wall"] for line in lines), "pycanon_cpu": sum(line["seconds"] for line in lines),
            "lines": lines}, problems


def render(results, version, threads):
    text = [f"# Privacy models: kanon and pyCANON {version} on Adult", ""]
    for r in results:
        text += [f"## {r['case']}: {', '.join(r['quasi'])}; sensitive {r['sensitive']}", "",
                 f"{r['rows']:,} rows ({r['dropped']:,} dropped), {r['classes']:,} classes. All nine figures, CPU "
                 f"time: pyCANON {r['pycanon_cpu']:.2f} s, kanon {r['cpu'] * 1000:.1f} ms (**{r['pycanon_cpu'] / r['cpu']:,.0f} "
                 f"times** as much); wall time: {r['pycanon_wall']:.2f} s and {r['wall'] * 1000:.1f} ms with {threads} "
                 "threads. Reading is in neither."]
        if r["note"]:
            text += ["", f"Here {r['note']}."]
        text += ["", "| figure | kanon | pyCANON | its CPU, s | |", "|---|---|---|---|---|"]
        for line in r["lines"]:
            theirs = line["pycanon"] if isinstance(line["pycanon"], str) else f"{line['pycanon']:.10g}"
            text.append(f"| {line['measure']} | {line['kanon']:.10g} | {theirs} | {line['seconds']:.2f} | "
                        f"{line['verdict']} |")
        text.append("")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "build" / "src" / "libkanon.so")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default=",".join(CASES), help="some of: " + ", ".join(CASES))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        pycanon_process(*json.loads(args.child))
        return 0
    names = args.only.split(",")
    if not set(names) <= set(CASES) or args.repeat < 1:
        parser.error("--only takes some of " + ", ".join(CASES) + "; --repeat at least 1")
    if not ADULT.exists():
        print("skipped: ../shared/data/adult/adult.csv is missing")
        return 0
    if not args.library.exists():
        say(f"{args.library} is missing; run make")
        return 3
    OUT.mkdir(exist_ok=True)
    python, reason = pycanon_python()
    if not python:
        print(f"skipped: {reason}")
        return 0
    version = subprocess.run([str(python), "-I", "-c", "import importlib.metadata as m; print(m.version('pycanon'))"],
                             capture_output=True, text=True).stdout.strip()
    results, problems = [], []
    try:
        kanon = Kanon(args.library.resolve(), args.threads)
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                result, found = run_case(name, args, kanon, python, folder)
                results.append(result)
                problems += found
    except (OSError, RuntimeError) as error:
        say(str(error))
        return 3
    text = render(results, version, args.threads)
    (OUT / "pycanon.md").write_text(text, encoding="utf-8")
    (OUT / "pycanon.json").write_text(json.dumps({"pycanon": version, "threads": args.threads, "cases": results,
                                                  "problems": problems}, indent=1), encoding="utf-8")
    print(text)
    for problem in problems:
        say(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
