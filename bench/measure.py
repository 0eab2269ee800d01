# SPDX-License-Identifier: Apache-2.0
"""What the points of bench/scoreboard (bench/points.py) measure with: programs, data, peers, processes with a cap.

Data lies in the cache, outside the tree, and is made once. Peers live in the environments that the single benchmarks
made for them. Whatever is missing is a Skipped with the reason: it never ends the run.
"""

import hashlib
import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = HERE / "out"
ADULT = ROOT.parent / "shared" / "data" / "adult"
IN_MEMORY, ROOM = "/dev/shm", 6 << 30
QI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
QI9 = QI + ["salary-class"]


class Skipped(Exception):
    """Something that is needed is not there."""


class Failed(Exception):
    """A program ended with an error."""


class Late(Exception):
    """A program was stopped at its cap; `seconds` is the cap."""

    def __init__(self, seconds):
        super().__init__(f"stopped after {seconds:.0f} s")
        self.seconds = seconds


def say(text):
    print(f"scoreboard: {text}", file=sys.stderr, flush=True)


def script(path):
    """One of the benchmarks as a module; they are programs without an ending."""
    name = "bench_" + str(path).replace("/", "_")
    loader = importlib.machinery.SourceFileLoader(name, str(HERE / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


RUN = script("run")


# ---- Who else was running ----


def busy_seconds():
    """Processor seconds of the whole machine, time stolen from it included."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Watch:
    """The share of the processors that others took while this object was in use."""

    def __init__(self):
        self.start, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def seconds(self):
        return time.monotonic() - self.start

    def others(self):
        took = busy_seconds() - self.busy - (own_seconds() - self.own)
        return max(0.0, took / max(self.seconds() * os.cpu_count(), 1e-9))


class Bench:
    def __init__(self, options):
        self.threads, self.quick, self.large = options.threads, options.quick, options.large
        self.without = options.without  # peers that are left out
        self.cache, self.build = pathlib.Path(options.cache), pathlib.Path(options.build).resolve()
        self.kanon = self.build / "kanon"
        self.made = {}  # peers: a path, or why there is none
        self.limits = {}  # bytes per second (bench/limits.c), once they were asked for
        self.folders = []  # the folder of releases, once one was asked for

    def tenth(self):
        """The same at a tenth of the sizes."""
        small = object.__new__(Bench)
        small.__dict__.update(self.__dict__, quick=True)
        return small

    def size(self, number):
        return number // 10 if self.quick else number

    def times(self, number):
        return 1 if self.quick else number

    def within(self, seconds):
        """A time limit that a search is given."""
        return seconds / 10 if self.quick else seconds

    def cap(self, seconds):
        """A cap; a trial, which runs beside other work, is not given more."""
        return min(seconds, 120) if self.quick else seconds

    # ---- Programs ----

    def set_up(self):
        programs = [
            "bench_limits", "bench_wide", "bench_fulldomain", "bench_partition", "bench_relational", "bench_tree_evaluate"
        ]
        command = [ROOT / "bench" / "build", self.build, "program", *(f"tests/{p}" for p in programs)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            say("not everything could be built; what is there is measured:\n" + (done.stdout + done.stderr)[-2000:])
        if not os.access(self.kanon, os.X_OK):
            say(f"{self.kanon} is not a program")
            sys.exit(3)
        for folder in (self.cache / "data", OUT):
            folder.mkdir(parents=True, exist_ok=True)

    def program(self, name):
        path = self.build / "tests" / name
        if not path.exists():
            raise Skipped(f"tests/{name} was not built")
        return path

    def fingerprint(self):
        """Of the program: figures of two are not of one."""
        return hashlib.sha256(self.kanon.read_bytes()).hexdigest()[:12]

    # ---- Processes ----

    def run(self, command, limit, allowed=(0,), environment=None):
        """One process to its end, or to its cap: wall, cpu, rss_bytes and out."""
        return self.make(command, self.cap(limit), allowed, environment)

    def make(self, command, limit, allowed=(0,), environment=None):
        """The same, of data: a trial needs them whole, too."""
        done = RUN.run_process([str(part) for part in command], limit, environment)
        if done["code"] is None:
            raise Late(limit)
        if done["code"] not in allowed:
            raise Failed(f"{pathlib.Path(str(command[0])).name} ended with code {done['code']}: {done['reason'][:200]}")
        return done

    def json(self, command, limit, **more):
        done = self.run(command, limit, **more)
        return json.loads(done["out"]), done

    def median(self, command, limit, times, **more):
        """The run whose wall time is the median's."""
        runs = sorted((self.run(command, limit, **more) for _ in range(self.times(times))), key=lambda r: r["wall"])
        return runs[(len(runs) - 1) // 2]

    def release(self):
        """Where a release goes, removed by `clean`: into memory where there is room, since kanon waits until its bytes are
        on the disk, and a disk differs from itself by more than what is measured."""
        if not self.folders:
            roomy = os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free >= ROOM
            self.folders.append(tempfile.mkdtemp(prefix="kanon-bench-", dir=IN_MEMORY if roomy else self.cache))
        return pathlib.Path(self.folders[0]) / "release.csv"

    def clean(self):
        while self.folders:
            shutil.rmtree(self.folders.pop())

    # ---- Data ----

    def table(self, kind, rows, **options):
        """A table that kanon generates."""
        path = self.cache / "data" / ("-".join([kind, str(rows)] + [f"{n}{v}" for n, v in options.items()]) + ".csv")
        if not path.exists():
            say(f"generating {path.name}")
            words = [part for name, value in options.items() for part in (f"--{name}", str(value))]
            self.make(
                [self.kanon, "generate", kind, "--rows", rows, "--seed", 1, *words, "--output", path, "--quiet"], 600
            )
        return path

    def wide(self):
        """The table of large lattices, 30 columns; its hierarchies lie beside it."""
        rows = self.size(30_000)
        folder = OUT / "data" / f"wide-{rows}"  # where bench/fulldomain/arx looks for it
        if not (folder / "wide.csv").exists():
            self.make([sys.executable, HERE / "fulldomain" / "wide.py", folder, "--rows", rows, "--columns", 30], 300)
        return folder / "wide.csv"

    def adult(self):
        if not (ADULT / "adult.csv").exists():
            raise Skipped("../shared/data/adult is missing")
        return ADULT / "adult.csv"

    def hierarchies(self, columns):
        self.adult()
        return [part for c in columns for part in ("--hierarchy", f"{c}:{ADULT}/adult_hierarchy_{c}.csv")]

    def tree_data(self, records):
        try:
            generator = self.peer("tpchgen")
        except Skipped:
            generator = None  # the rows are then drawn from the same distributions
        return script("tree/tpch").make(self.cache, records, str(generator) if generator else None) / "all.yaml"

    def persons(self, count, *more):
        generator = self.peer("tpchgen")
        folder = self.cache / "relational"
        command = [HERE / "relational" / "tpch", folder, "--persons", count, "--generator", generator, *more]
        self.make(command, 900)
        return folder / f"tpch-{count}.yaml"

    # ---- Limits of the machine ----

    def limit(self, name, size):
        """The seconds that `size` bytes take at least: `scan`, `parse`, `store` (bench/limits.c) or `hash`, measured once a
        run. None where that cannot be measured."""
        try:
            rates = self.rates()
        except (Skipped, Failed, Late, ValueError) as why:
            say(f"limits: {why}")
            rates = self.limits = {"missing": str(why)}
        return size / rates[name] if name in rates else None

    def rates(self):
        """What the limits are made of, in bytes per second. `hash` is the faster of the library's SHA-256 (`kanon`) and
        OpenSSL's (`openssl`), which Python's hashlib is."""
        if not self.limits:
            table = self.table("adult-like", self.size(3_000_000))
            found = self.json([self.program("bench_limits"), table, "--threads", self.threads], 120)[0]
            data, best = table.read_bytes(), math.inf
            for _ in range(5):
                begin = time.process_time()
                hashlib.sha256(data).digest()
                best = min(best, time.process_time() - begin)
            found.update(kanon=found["hash"], openssl=len(data) / best)
            found["hash"] = max(found["kanon"], found["openssl"])
            self.limits = found
        return self.limits

    # ---- Peers ----

    def peer(self, name):
        """What PEERS sets up, once; Skipped with the reason where it cannot be had."""
        if name not in self.made:
            try:
                if name in self.without:
                    raise Skipped(f"{name} was left out (--without)")
                self.made[name] = PEERS[name](self)
            except (Skipped, OSError, subprocess.SubprocessError) as why:
                self.made[name] = Skipped(str(why))
        if isinstance(self.made[name], Skipped):
            raise self.made[name]
        return self.made[name]

    def beside(self, name, measure):
        """A peer's seconds, or the reason why there are none: {"seconds"}, {"over"} or {"skipped"}."""
        try:
            return {"seconds": measure(self.peer(name))}
        except Late as late:
            return {"seconds": late.seconds, "over": True}
        except (Skipped, Failed, ValueError, KeyError) as why:
            return {"skipped": str(why)[:160]}


def environment(folder, module, *packages):
    """The Python of a virtual environment in which `module` can be imported."""
    python = folder / "bin" / "python"
    ready = [str(python), "-I", "-c", f"import {module}"]
    if not python.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        if subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, check=False).returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            raise Skipped("no virtual environment (Debian: python3-venv)")
    if subprocess.run(ready, capture_output=True, check=False).returncode != 0:
        say(f"installing {' '.join(packages)} from PyPI")
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], capture_output=True, check=False)
        if subprocess.run(ready, capture_output=True, check=False).returncode != 0:
            raise Skipped(f"{packages[0]} cannot be installed")
    return python


def tpchgen(bench):
    program = bench.cache / "venv" / "bin" / "tpchgen-cli"
    if not program.exists():
        environment(bench.cache / "venv", "sys", "tpchgen-cli")
        subprocess.run(
            [program.parent / "python", "-m", "pip", "install", "--quiet", "tpchgen-cli"],
            capture_output=True,
            check=False,
        )
    if not program.exists():
        raise Skipped("tpchgen-cli cannot be installed")
    return program


def readers(bench):
    """DuckDB, Polars and pandas: {tool: (python, version)}."""
    found, missing = RUN.set_up_peers(["duckdb", "polars", "pandas"])
    for tool, why in missing.items():
        say(f"{tool}: {why}")
    return found


def postgres(bench):
    """The class of a server in a temporary folder."""
    sys.path.insert(0, str(HERE / "relational"))
    import postgres as server  # pylint: disable=import-outside-toplevel

    if not server.postgres_server.programs() or not shutil.which("psql"):
        raise Skipped("there is no PostgreSQL server program")
    return server.Server


def arx(bench):
    """ARX, compiled from a snapshot of its repository: the script that runs it."""
    command = HERE / "fulldomain" / "arx"
    done = subprocess.run([command, "--compile"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skipped(done.stdout.strip() or "it cannot be compiled")
    return command


PEERS = {
    "arx": arx,
    "readers": readers,
    "tpchgen": tpchgen,
    "postgres": postgres,
    "anonypy": lambda bench: environment(OUT / "mondrian-venv", "anonypy, pandas", "anonypy", "pandas", "numpy"),
    "desbordante": lambda bench: environment(OUT / "dependencies-venv", "desbordante", "desbordante"),
    "pycanon": lambda bench: environment(OUT / "pycanon-venv", "pycanon", "pycanon"),
}


def middle(values):
    return statistics.median(list(values))
