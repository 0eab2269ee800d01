#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/cli_program.py KANON ROOT: what every command does alike. One TAP line per check.

Help, version, unknown commands and options, a standard output that is full, closed or no longer read; and that the bash
completion knows every command and option the program's own help shows. tests/voice/run holds help and manual together.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import check  # noqa: E402

KANON = os.path.abspath(sys.argv[1])
ROOT = os.path.abspath(sys.argv[2])
ENVIRONMENT = dict(os.environ, LC_ALL="C", TERM="dumb")


def kanon(*arguments, **more):
    return subprocess.run([KANON, *arguments], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE, check=False, **more)


def shell(script):
    return subprocess.run(["/bin/bash", "-c", script, "bash", KANON], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE, check=False)


def commands():
    return [name for name in re.findall(r"^  ([a-z][a-z-]*) ", kanon("--help").stdout, flags=re.M) if name != "help"]


def subcommands(command):
    return re.findall(rf"^(?:Usage:| {{6}}) kanon {command} ([a-z][a-z-]*) ", kanon(command, "--help").stdout, flags=re.M)


def options(*command):
    text = kanon(*command, "--help").stdout.split("\nExamples:\n")[0]
    return sorted(set(re.findall(r"^ {2,6}(?:-[a-z], )?(--[a-z][a-z-]*)", text, flags=re.M)))


def all_commands():
    """("profile",), ..., ("hierarchy", "build"), ..."""
    return [(name, *word) for name in commands() for word in [()] + [(word,) for word in subcommands(name)]]


def expect(done, code, out="", err=""):
    """Problems, if the exit code differs or the expressions are not found; an empty one means: nothing was printed."""
    problems = []
    if done.returncode != code:
        problems.append(f"exit code {done.returncode} instead of {code}")
    for name, text, pattern in (("stdout", done.stdout, out), ("stderr", done.stderr, err)):
        if (text != "") if pattern == "" else not re.search(pattern, text):
            problems.append(f"{name}: {text!r} (expected {pattern!r})")
    return problems


@check
def version():
    """--version prints the version"""
    return expect(kanon("--version"), 0, r"^kanon \d+\.\d+\.\d+\n$")


@check
def general_help():
    """--help, -h and help print the same"""
    texts = {kanon(word).stdout for word in ("--help", "-h", "help")}
    return expect(kanon("--help"), 0, "^Usage: kanon ") + ([] if len(texts) == 1 else ["they differ"])


@check
def command_help():
    """every command's help has its parts, the same from `help` and --help"""
    problems = [] if len(commands()) >= 4 else [f"commands: {commands()}"]
    for words in all_commands():
        text = kanon(*words, "--help").stdout
        problems += expect(kanon("help", *words), 0, "^Usage: kanon " + " ".join(words))
        for what, good in {
                "help and --help differ": kanon("help", *words).stdout == text == kanon(*words, "-h").stdout,
                "no exit codes": re.search(r"^Exit codes?:", text, flags=re.M),
                "no two examples at the end": re.search(r"\nExamples:\n(  (\$ )?kanon [^\n]*\n(    [^\n]*\n)*){2,}\Z", text),
                "common options missing": {"--json", "--quiet", "--threads", "--memory-limit", "--help"} <= set(options(*words)),
                "a line is longer than 100 characters": max(map(len, text.splitlines())) <= 100,
        }.items():
            if not good:
                problems.append(f"{' '.join(words)}: {what}")
    return problems


@check
def no_command():
    """no command is bad usage"""
    return expect(kanon(), 2, "", "a command is needed")


@check
def unknown_command():
    """an unknown command is bad usage; the nearest one is named"""
    return (expect(kanon("diagnoze"), 2, "", "'diagnoze'; did you mean 'diagnose'\\?") +
            expect(kanon("--versoin"), 2, "", "option '--versoin'; did you mean '--version'\\?") +
            expect(kanon("xyzzy"), 2, "", "no command 'xyzzy'\nTry") +
            expect(kanon("help", "profil"), 2, "", "did you mean 'profile'\\?") +
            expect(kanon("a\033[2J"), 2, "", r"'a\\x1B\[2J'"))


@check
def unknown_option():
    """an unknown option is bad usage in every command; nothing on stdout"""
    problems = []
    for name in commands():
        problems += expect(kanon(name, "--jsno"), 2, "", f"^kanon: unknown option --jsno; did you mean --json\\?\nTry 'kanon {name} --help'")
        problems += expect(kanon(name, "--threads", "none"), 2, "", f"^kanon: --threads: 'none' is not")
    return problems


@check
def no_such_file():
    """a file that is not there is named, with exit code 2 and nothing on stdout"""
    problems = []
    for arguments in (("profile", "no/such.csv"), ("diagnose", "no/such.csv", "--qi", "a")):
        if arguments[0] in commands():
            done = kanon(*arguments)
            problems += expect(done, 2, "", "^kanon: .*no/such.csv")
    return problems


@check
def full_disk():
    """standard output that cannot take the data is a failure"""
    return expect(shell('"$1" --help > /dev/full'), 3, "", "^kanon: writing to standard output: No space left on device\n$")


@check
def closed_output():
    """a closed standard output is a failure"""
    return expect(shell('"$1" --help >&-'), 3, "", "^kanon: writing to standard output: ")


@check
def broken_pipe():
    """a reader that goes away ends the program without a word"""
    done = shell('{ sleep 0.2; "$1" help; echo "code $?" >&2; } | true')
    return expect(done, 0, "", "^code 3\n$")


def complete(*words):
    script = """
        cd "$(mktemp -d)"; echo age,zip,'birth date' > data.csv; echo 1,2,3 >> data.csv; touch 'a b.csv'; mkdir bin; ln -s "$1" bin/kanon; PATH=$PWD/bin:$PATH
        . "$ROOT/completions/kanon.bash"
        shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kanon; printf '%s\\n' "${COMPREPLY[@]}"; rm -rf "$PWD" """
    done = subprocess.run(["/bin/bash", "-c", script, "bash", KANON, "kanon", *words], env=dict(ENVIRONMENT, ROOT=ROOT),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE, check=False)
    return done.stdout.splitlines() if not done.stderr else [done.stderr]


@check
def completion():
    """bash completes commands, options, values and files"""
    cases = [
        (("",), sorted(commands() + ["help", "--help", "--version"])),
        (("diag",), ["diagnose"]),
        (("help", "hier"), ["hierarchies", "hierarchy"]),
        (("help", "suppr"), ["suppression"]),
        (("anonymize", "--method", "mondrian-w"), ["mondrian-workload"]),
        (("anonymize", "--method", "gc"), ["gcs"]),
        (("anonymize", "--utility", "dm"), ["dm", "dm_star"]),
        (("diagnose", "--require", "alpha"), ["alpha-k:alpha=0.5,k=5"]),
        (("profile", "--enc"), ["--encoding"]),
        (("profile", "--encoding", "l"), ["latin-1"]),
        (("profile", "--encoding", "=", "w"), ["windows-1252"]),
        (("profile", "data"), ["data.csv"]),
        (("profile", "a"), ["a b.csv"]),
        (("profile", "--qxyz"), []),
        (("diagnose", "data.csv", "--qi", ""), ["age", "zip", "birth\\ date"]),
        (("diagnose", "data.csv", "--qi", "z"), ["zip"]),
        (("anonymize", "data.csv", "--qi", "age,z"), ["age,zip"]),
        (("anonymize", "data.csv", "-k", "2", "--sensitive", "=", "a"), ["age"]),
        (("diagnose", "data.csv", "--over", "age,zip,b"), ["age,zip,birth\\ date"]),
        (("diagnose", "nowhere.csv", "--qi", "data"), ["data.csv"]),
        (("hierarchy", "sho"), ["show"]),
        (("hierarchy", "build", "--mask-c"), ["--mask-character"]),
        (("hierarchy", "show", "--mask-c"), []),
        (("generate", "adult-l"), ["adult-like"]),
    ]
    problems = []
    for words, expected in cases:
        found = [word for word in complete(*words) if word]
        if sorted(found) != sorted(expected):
            problems.append(f"{words}: {found} instead of {expected}")
    for words in all_commands():
        found = [word for word in complete(*words, "--") if word]
        if found != options(*words):
            problems.append(f"{' '.join(words)} --: {found} instead of {options(*words)}")
    return problems


OTHER_SHELLS = {
    "fish": 'source $argv[1]/kanon.fish; complete -C (string join -- " " kanon $argv[2..])',
    "zsh": "compadd() { print -l -- \"${@:$((${@[(i)--]} + 1))}\"; }; _files() { print -l -- *; }; root=$1; shift; words=(kanon \"$@\"); CURRENT=$#words; . $root/_kanon",
}


def complete_elsewhere(shell_name, *words):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/data.csv", "w", encoding="utf-8") as file:
            file.write("age,zip,birth date\n1,2,3\n")
        os.mkdir(f"{folder}/bin")
        os.symlink(KANON, f"{folder}/bin/kanon")
        environment = dict(ENVIRONMENT, PATH=f"{folder}/bin:{os.environ['PATH']}", HOME=folder)
        quiet = ["-f"] if shell_name == "zsh" else ["--no-config"]
        more = ["zsh"] if shell_name == "zsh" else []
        done = subprocess.run([shell_name, *quiet, "-c", OTHER_SHELLS[shell_name], *more, f"{ROOT}/completions", *words], env=environment, cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE, check=False)
    return [line.partition("\t")[0] for line in done.stdout.splitlines() if line] if not done.stderr else [done.stderr]


def other_shell(shell_name):
    cases = [
        (("diag",), ["diagnose"]),
        (("diagnose", "data.csv", "--qi", ""), ["age", "birth date", "zip"]),
        (("diagnose", "data.csv", "--qi", "age,b"), ["age,birth date"]),
        (("profile", "--encoding=l"), ["--encoding=latin-1"]),
        (("anonymize", "--method", "mondrian-w"), ["mondrian-workload"]),
        (("profile", "--qxyz"), []),
    ]
    problems = []
    for words, expected in cases:
        found = sorted(complete_elsewhere(shell_name, *words))
        if found != expected:
            problems.append(f"{words}: {found} instead of {expected}")
    if "data.csv" not in complete_elsewhere(shell_name, "profile", "da"):
        problems.append("no files are offered")
    return problems


@check
def completion_fish():
    """fish completes what bash does"""
    return other_shell("fish")


@check
def completion_zsh():
    """zsh completes what bash does"""
    return other_shell("zsh")


harness.run_checks()
