# SPDX-License-Identifier: Apache-2.0
"""tests/harness.py: what the test scripts share: TAP lines, how much to run, seeds, files, the environment of a run.

A script imports it with

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    import harness

Either it reports check by check (`report`, `skip`, `finish`), or it marks functions with `@check`, whose first line of
documentation is their name and whose answer is what is wrong, and ends with `run_checks`.
"""
import os
import signal
import sys

# make test-full: everything, where the usual run takes a sample (docs/testing.md).
FULL = os.environ.get("KANON_TEST_FULL", "0") not in ("", "0")
# make big: more Parquet, tables that do not fit and servers' tables than in make test.
BIG = FULL or bool(os.environ.get("KANON_TEST_BIG"))
SLOW = not FULL and bool(os.environ.get("KANON_SLOW"))  # under sanitizers
# Seconds that one command may take: a busy machine is no failure, only what never ends is.
PATIENCE = 3600
# Formats that the build was left without (tests/meson.build).
WITHOUT = os.environ.get("KANON_WITHOUT", "").split()
# A shell that starts the tests in the background makes them, and whatever they start, deaf to Ctrl-C.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
checks = []
_number = _failures = _turn = 0


def lines_of(problems):
    """What is wrong: None, a text, or a list of texts -> lines."""
    if not problems:
        return []
    return [line for problem in ([problems] if isinstance(problems, str) else problems) for line in str(problem).splitlines() or [""]]


def report(name, problems=(), most=60):
    """One TAP line, and what is wrong below it; nothing wrong: passed. Returns whether it passed."""
    global _number, _failures
    _number += 1
    _failures += bool(problems)
    print(f"{'not ok' if problems else 'ok'} {_number} - {name.replace('#', ' ')}")
    for line in lines_of(problems)[:most]:
        print(f"#   {line}")
    sys.stdout.flush()
    return not problems


def ok(name, passed, *words):
    """The same for a condition, with words to be shown where it does not hold."""
    return report(name, [] if passed else list(words) or ["it does not hold"])


def skip(name, why):
    global _number
    _number += 1
    print(f"ok {_number} - {name} # SKIP {why}", flush=True)


def finish():
    """Ends the script: the plan, and an exit code."""
    print(f"1..{_number}")
    sys.exit(1 if _failures else 0)


def needs(*formats):
    """Ends the script where kanon was built without one of these (sqlite, expat, zstd)."""
    missing = [name for name in formats if name in WITHOUT]
    if missing:
        skip_all("kanon was built without " + " and ".join(missing))


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def check(function):
    checks.append(function)
    return function


def run_checks(*arguments):
    """Calls every function that `check` marked; None for an answer, or a tool that is not there, skips it. Ends the script."""
    for function in checks:
        name = function.__doc__.splitlines()[0]
        try:
            problems = function(*arguments)
        except FileNotFoundError as missing:
            print(f"# {missing}")
            problems = None
        if problems is None:
            skip(name, "nothing to check it on or with")
        else:
            report(name, problems, most=200)
    finish()


def rounds(usual):
    """How many rounds of random data: more of them in make test-full."""
    return usual * 4 if FULL else usual


def some(*ways, most=1):
    """All ways in make test-full; one or `most` of them otherwise, the next ones with each call."""
    global _turn
    first = _turn + 1
    _turn += most
    return ways if FULL else tuple(ways[(first + i) % len(ways)] for i in range(min(most, len(ways))))


def slow(*ways, most=None):
    """All ways, or `most` of them; one, the next one with each call, where the program is slow."""
    return some(*ways, most=1 if SLOW else most) if SLOW or most else ways


def seed():
    """KANON_SEED from the environment, or 1, the same in every run; printed, so that a failure can be repeated."""
    given = int(os.environ.get("KANON_SEED", "1"))
    print(f"# seed: KANON_SEED={given}")
    return given


_beside_libraries = 0


def environment(**more):
    """A small environment, the same everywhere; what sanitizers are told is passed on. Beside a library that is preloaded for them,
    DuckDB's, they look for leaks in every eighth process alone: it takes two seconds each time."""
    global _beside_libraries
    keep = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS") or name.startswith(("TMPDIR", "KANON_MUTANT"))}
    if "LD_PRELOAD" in more:
        _beside_libraries += 1
        if _beside_libraries % 8 != 1 and not FULL:
            keep["ASAN_OPTIONS"] = ":".join(filter(None, (keep.get("ASAN_OPTIONS"), "detect_leaks=0")))
    return {**keep, "PATH": "/usr/bin:/bin", "HOME": "/", "LC_ALL": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", **more}


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def contents(folder, *below):
    """Everything below a folder (or one in it): path -> bytes (None: a folder)."""
    found = {}
    for parent, folders, names in os.walk(os.path.join(folder, *below)):
        for name in folders:
            found[os.path.relpath(os.path.join(parent, name), folder)] = None
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found
