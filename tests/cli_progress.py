#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/cli_progress.py KANON: the progress line and Ctrl-C, on a pseudo-terminal. One TAP line per check.

The work is a `kanon generate` of far more rows than anyone would wait for; each check stops it.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import check  # noqa: E402

KANON = os.path.abspath(sys.argv[1])
ROWS = "2000000000"
MOST = 2 << 30  # bytes: long before, everything that is waited for was seen


class Job:
    """kanon generate in an empty folder, with stderr on a terminal of `columns` columns or on a pipe."""

    def __init__(self, *more, terminal=True, columns=80, rows=ROWS, wrapper=None, **variables):
        self.place = tempfile.TemporaryDirectory(prefix="kanon-progress-")
        self.folder = self.place.name
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        environment.update(dict(TERM="xterm", LC_ALL="C.UTF-8"), **variables)
        arguments = [KANON, "generate", "adult-like", "--rows", rows, "--output", "big.csv", *more]
        if terminal:
            self.reader, writer = pty.openpty()
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        else:
            self.reader, writer = os.pipe()
        self.process = subprocess.Popen(arguments, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=writer, start_new_session=True,
                                        preexec_fn=wrapper or default_signals)
        os.close(writer)
        self.said = b""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        os.close(self.reader)
        self.place.cleanup()

    def read(self, seconds):
        """Reads what comes on stderr; False at its end."""
        if not select.select([self.reader], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.reader, 65536)
        except OSError:  # a terminal ends this way
            data = b""
        self.said += data
        return bool(data)

    def wait_for(self, pattern, seconds=harness.PATIENCE):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.said):
            if time.monotonic() > end or self.size() > MOST or not self.read(0.1):
                return bool(re.search(pattern, self.said))
        return True

    def end(self, *signals):
        """Sends the signals with a pause between them and returns the exit code; None if it does not end."""
        for place, number in enumerate(signals):
            time.sleep(0.3 if place else 0)
            self.process.send_signal(number)
        end = time.monotonic() + harness.PATIENCE
        while time.monotonic() < end and self.read(0.1):
            pass
        try:
            return self.process.wait(timeout=max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None

    def size(self):
        """What it has written so far: what never comes must not fill the disk."""
        return sum(entry.stat().st_size for entry in os.scandir(self.folder))

    def files(self):
        return sorted(os.listdir(self.folder))


def default_signals():
    """Whoever runs the tests in the background may have had these ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def ignoring_interrupts():
    default_signals()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def last_screen_line(said):
    """What is left on the cursor's line of a terminal that was sent these bytes."""
    line = said.rsplit(b"\n", 1)[-1]
    return re.sub(rb".*\r(\x1b\[K)?", b"", line, flags=re.S)


@check
def progress_line():
    """a progress line with percent, bar, rate and time left on a terminal"""
    with Job() as job:
        shown = job.wait_for(rb"\d+ %  \[[^\]]*\]  .*/s  ETA [\d:]+")
        lines = [re.sub(rb"\x1b\[[0-9;]*[mK]", b"", line).decode() for line in job.said.split(b"\r")]
        too_long = [line for line in lines if len(line) > 79]
        return ([] if shown else [repr(job.said[-300:])]) + too_long


@check
def narrow_terminal():
    """it fits a terminal of any width"""
    problems = []
    for columns in (8, 24, 40, 200):
        with Job(columns=columns) as job:
            job.wait_for(rb"\r.*\r.*\r")
            for line in job.said.split(b"\r")[:-1]:
                text = re.sub(rb"\x1b\[[0-9;]*[mK]", b"", line).decode()
                if len(text) >= columns or "\n" in text:
                    problems.append(f"{columns} columns: {text!r}")
            if not job.said:
                problems.append(f"{columns} columns: nothing was shown")
    return problems


@check
def no_terminal():
    """nothing where stderr is no terminal"""
    with Job(terminal=False) as job:
        while not job.files():  # it is at work, and listens to signals
            time.sleep(0.1)
        job.wait_for(rb".", 1.5)
        code = job.end(signal.SIGINT)
        return [] if (job.said, code) == (b"kanon: stopped\n", 3) else [f"exit code {code}: {job.said!r}"]


@check
def quiet():
    """nothing with --quiet"""
    with Job("--quiet") as job:
        while not job.files():
            time.sleep(0.1)
        job.wait_for(rb".", 1.5)
        return [repr(job.said)] if job.said else []


@check
def no_colour():
    """no colour with NO_COLOR, no escape sequence at all on a dumb terminal, plain characters outside UTF-8"""
    problems = []
    for variables, wrong in (({"NO_COLOR": "1"}, rb"\x1b\[\d*m"), ({"TERM": "dumb"}, rb"\x1b"), ({"LC_ALL": "C"}, rb"[\x80-\xff]"),
                             ({"NO_COLOR": ""}, None)):
        with Job(**variables) as job:
            job.wait_for(rb"ETA [\d:]+[^\r]*\r")
            job.end(signal.SIGINT)
            if wrong and re.search(wrong, job.said):
                problems.append(f"{variables}: {job.said!r}")
            if not wrong and b"\x1b[32m" not in job.said:
                problems.append(f"{variables}: no colour in {job.said!r}")
            if b"ETA" not in job.said:
                problems.append(f"{variables}: no progress line")
    return problems


@check
def interrupted():
    """Ctrl-C, SIGTERM and SIGHUP stop it with exit code 3 and leave nothing behind, on disk or on the line"""
    problems = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Job() as job:
            job.wait_for(rb"ETA")
            before = job.files()
            code = job.end(number)
            left = last_screen_line(job.said)
            if code != 3 or not re.search(rb"(\A|[\r\n]|\[K)kanon: stopped\r\n\Z", job.said) or left or job.files():
                problems.append(f"{number.name}: exit code {code}, files {job.files()} (before: {before}), {job.said[-200:]!r}")
    return problems


@check
def keyboard():
    """the Ctrl-C key of the terminal itself does the same"""
    def own_terminal():
        default_signals()
        fcntl.ioctl(2, termios.TIOCSCTTY, 0)

    with Job(wrapper=own_terminal) as job:
        job.wait_for(rb"ETA")
        os.write(job.reader, b"\x03")
        code = job.end()
        return [] if code == 3 and not job.files() else [f"exit code {code}, files {job.files()}, {job.said[-200:]!r}"]


@check
def one_stroke():
    """two signals at the same moment (a wrapper passes the key on) are one stroke"""
    with Job() as job:
        job.wait_for(rb"ETA")
        os.kill(job.process.pid, signal.SIGSTOP)  # so that both are pending before it can act on the first
        for number in (signal.SIGINT, signal.SIGTERM):
            job.process.send_signal(number)
        os.kill(job.process.pid, signal.SIGCONT)
        code = job.end()
        return [] if code == 3 else [f"exit code {code}"]


@check
def ignored():
    """an interrupt that was ignored when it started (nohup, background jobs) stays ignored"""
    with Job(wrapper=ignoring_interrupts) as job:
        job.wait_for(rb"ETA")
        job.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        return [] if job.process.poll() is None else [f"exit code {job.process.returncode}"]


@check
def finished():
    """a run to its end erases the line and leaves the file alone"""
    with Job(rows="400000") as job:
        code = job.end()
        left = last_screen_line(job.said)
        return [] if (code, left, job.files()) == (0, b"", ["big.csv"]) else [f"exit code {code}, {job.files()}, {job.said[-200:]!r}"]


def main():
    try:  # a bare chroot has no pseudo-terminals: nothing can be said about progress there
        for end in pty.openpty():
            os.close(end)
    except OSError:
        harness.skip_all("this machine has no pseudo-terminals")
    harness.run_checks()


main()
