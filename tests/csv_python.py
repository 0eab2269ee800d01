#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/csv_python.py CSV_DUMP [FILES]: random nasty CSV files, read by kanon and by Python's csv module.

Half of the files are written by csv.writer with random dialects, half are strung together from nasty tokens. The
reference is csv.reader(strict=True) and, on top of it, kanon's rules: blank lines before the first row and, with two or
more columns, everywhere are passed over; with one column a blank line is a row with an empty cell; names are distinct,
and a column without one is called by its place; every row has as many cells as the header. Either both refuse a file or all cells are equal. kanon reads each
file several times, with pieces of a few bytes and with 1, 2 and 8 threads: the answers must be the same to the byte, the
places of errors too, and the line of an error must be the one Python stopped at.

KANON_SEED draws other files; a file that fails is kept and named. Prints one TAP line per check.
"""
import csv
import io
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

csv.field_size_limit(1 << 30)
DELIMITERS = [",", ";", "\t", "|", "^"]
PIECES = [1, 2, 3, 4, 5, 7, 13, 64, 333, 4096]
WHOLE = 1 << 19
KN_INPUT = 3


class Expected:
    """What csv.reader and the rules say of a text: rows (names first), or lines between which the error is."""

    def __init__(self, text, delimiter, header):
        self.rows = None
        self.columns = 0
        self.few = False
        self.first = self.last = 0
        text = text[1:] if text.startswith("\ufeff") else text
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows, start = [], 1
        try:
            for row in reader:
                if row or (rows and self.columns == 1):
                    if not rows:
                        self.columns = len(row)
                        named = [name for name in row if name]
                        if header and len(set(named)) < len(named):
                            return self.refuse(start, reader.line_num)
                        for at in range(len(row) if header else 0):
                            if row[at] == "":
                                name = "c%d" % (at + 1)
                                while name in row:
                                    name += "_"
                                row[at] = name
                    row = row or [""]
                    if len(row) != self.columns:
                        self.few = len(row) < self.columns
                        return self.refuse(start, reader.line_num)
                    rows.append(row)
                start = reader.line_num + 1
        except csv.Error:
            return self.refuse(start, reader.line_num)
        if rows:
            self.rows = rows

    def refuse(self, first, last):
        self.first, self.last = first, last

    def wrong(self, answer, header):
        """Why `answer` (a line of csv_dump) does not agree; None if it does."""
        if answer.startswith("X"):
            return answer
        words = answer.split(" ")
        if words[0] == "E":
            status, line, column = map(int, words[1:])
            if self.rows is not None:
                return "refused, but csv.reader reads it"
            if status != KN_INPUT:
                return "refused with status %d" % status
            if self.first and not self.first <= line <= self.last:
                return "the error is in lines %d to %d, not in %d" % (self.first, self.last, line)
            if self.few and (line, column) != (self.first, 1):
                return "the short row begins at %d:1, not at %d:%d" % (self.first, line, column)
            return None
        if self.rows is None:
            return "read, but csv.reader refuses it in lines %d to %d" % (self.first, self.last)
        if (int(words[1]), int(words[2])) != (len(self.rows) - header, self.columns):
            return "%s rows and %s columns instead of %d and %d" % (words[1], words[2], len(self.rows) - header, self.columns)
        cells = "".join(cell.encode().hex() + "," for row in self.rows for cell in row)
        return None if words[4] == cells else "the cells differ"


def random_cell(rng, delimiter):
    kind = rng.random()
    if kind < 0.15:
        return ""
    if kind < 0.4:
        return str(rng.randrange(-100, 1000))
    if kind < 0.5:
        return str(rng.randrange(1000) / 8)
    alphabet = ["a", "bc", " ", "é", "😀", "0", '"', '""', delimiter, "\n", "\r", "\r\n", "ß", "x" * rng.randrange(1, 90)]
    if kind < 0.75:
        alphabet = alphabet[:6] + alphabet[-2:]
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(0, 8)))


def written(rng):
    """A text by csv.writer."""
    delimiter = rng.choice(DELIMITERS)
    columns = rng.choice([1, 1, 2, 2, 3, 4, 7, 20])
    header = rng.random() < 0.7
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=rng.choice(["\n", "\r\n", "\r"]),
                        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
    if header:
        names = ["n%d %s" % (i, random_cell(rng, delimiter)) for i in range(columns)]
        if rng.random() < 0.05:
            names[rng.randrange(columns)] = rng.choice(["", names[0]])
        writer.writerow(names)
    for _ in range(rng.choice([0, 1, 2, 3, 10, 10, 40])):
        cells = columns
        if rng.random() < 0.002:
            cells = max(1, columns + rng.choice([-1, 1]))
        writer.writerow([random_cell(rng, delimiter) for _ in range(cells)])
        if rng.random() < 0.02:
            out.write(rng.choice(["\n", "\r\n", "\r"]))
    text = out.getvalue()
    if rng.random() < 0.2:
        text = text.rstrip("\r\n")
    if rng.random() < 0.05:
        cut = rng.randrange(len(text) + 1)
        text = text[:cut] + rng.choice(['"', delimiter, "\n", "é", "\r"]) + text[cut:]
    return text, delimiter, header


def garbage(rng):
    """A text of nasty tokens, with a chance to be well-formed."""
    delimiter = rng.choice(DELIMITERS)
    header = rng.random() < 0.4
    tokens = ['"', '""', delimiter, "\r", "\n", "\r\n", " ", "é", "😀", "7", "ab", "\t", ",", "z" * rng.randrange(1, 70)]
    weights = [rng.random() ** 3 for _ in tokens]
    if rng.random() < 0.5:
        weights[0] = 0.02
    if rng.random() < 0.4:  # one column: more of it is well-formed
        weights[2] = 0
    if rng.random() < 0.3:  # quoted cells of garbage
        parts = []
        columns = rng.randrange(1, 4)
        for _ in range(rng.randrange(1, 30)):
            cells = ["".join(rng.choices(tokens, weights, k=rng.randrange(6))).replace('"', '""') for _ in range(columns)]
            if header and not parts:
                cells = ["%d%s" % (i, cell) for i, cell in enumerate(cells)]
            parts.append(delimiter.join('"%s"' % cell for cell in cells) + rng.choice(["\n", "\r\n", "\r"]))
        return "".join(parts), delimiter, header
    return "".join(rng.choices(tokens, weights, k=rng.randrange(0, 60))), delimiter, header


def sniffable(rng):
    """A well-formed text of two or more columns and three or more rows, and its delimiter."""
    delimiter = rng.choice([",", ";", "\t", "|"])
    columns = rng.randrange(2, 8)
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=rng.choice(["\n", "\r\n"]),
                        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    words = ["x", "12", "3,5", "a;b", "c|d", "Rue de l'Église", "", "1.5", "tab\there", 'say "so"', "two\nlines"]
    writer.writerow(["n%d" % i for i in range(columns)])
    for _ in range(rng.randrange(3, 20)):
        writer.writerow([rng.choice(words) for _ in range(columns)])
    return out.getvalue(), delimiter


def consistent(text, delimiter):
    """Does this delimiter split the text into rows of one length > 1?"""
    try:
        lengths = {len(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row}
    except csv.Error:
        return False
    return len(lengths) == 1 and lengths.pop() > 1


class Dump:
    def __init__(self, program, folder):
        self.program, self.folder, self.jobs = program, folder, []

    def file(self, number, text):
        path = os.path.join(self.folder, "%d.csv" % number)
        with open(path, "wb") as out:
            out.write(text.encode())
        return path

    def ask(self, path, delimiter, header, piece, threads):
        self.jobs.append("%s\t%d\t%d\t%d\t%d\n" % (path, ord(delimiter) if delimiter else 0, header, piece, threads))

    def answers(self):
        done = subprocess.run([self.program], input="".join(self.jobs), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("csv_dump failed (%d): %s" % (done.returncode, done.stderr[-2000:]))
        self.jobs = []
        return done.stdout.split("\n")[:-1]


class Check:
    """Prints a TAP line; keeps the files that fail."""
    number = failed = 0

    def report(self, name, failures):
        self.number += 1
        print("%s %d - %s" % ("not ok" if failures else "ok", self.number, name))
        for what in failures[:10]:
            print("# " + what)
        self.failed += bool(failures)


def keep(path, what, text, delimiter, header):
    kept = os.path.join(tempfile.gettempdir(), "csv_python-failed-%s" % os.path.basename(path))
    with open(kept, "wb") as out:
        out.write(text.encode())
    return "%s (delimiter %r, header %d): %s" % (kept, delimiter, header, what)


def compare(check, rng, dump, files):
    """Reads `files` random files in several ways and compares."""
    texts, asked = [], []
    for number in range(files):
        text, delimiter, header = written(rng) if number % 2 == 0 else garbage(rng)
        if rng.random() < 0.15:
            text = "\ufeff" + text
        if rng.random() < 0.1:
            text = rng.choice(["\n", "\r\n", "\r\n\n", "\r"]) + text
        texts.append((dump.file(number, text), text, delimiter, header))
        ways = [(WHOLE, 1)] + [(rng.choice(PIECES), threads) for threads in (1, rng.choice([1, 2]), rng.choice([2, 8]))]
        for piece, threads in ways:
            dump.ask(texts[-1][0], delimiter, header, piece, threads)
            asked.append((number, piece, threads))
    answers = dump.answers()
    wrong, unequal, read, first = [], [], 0, {}
    for (number, piece, threads), answer in zip(asked, answers):
        path, text, delimiter, header = texts[number]
        if number not in first:
            first[number] = answer
            what = Expected(text, delimiter, header).wrong(answer, header)
            if what:
                wrong.append(keep(path, what, text, delimiter, header))
            read += answer.startswith("T")
        elif answer != first[number]:
            what = "pieces of %d, %d threads: %.80s... instead of %.80s..." % (piece, threads, answer, first[number])
            unequal.append(keep(path, what, text, delimiter, header))
    if len(answers) != len(asked):
        wrong.append("%d answers to %d jobs" % (len(answers), len(asked)))
    if not files // 5 < read < files - files // 20:
        wrong.append("the files test little: %d of %d are well-formed" % (read, files))
    print("# %d files, %d of them well-formed, %d readings" % (files, read, len(asked)))
    check.report("equal to csv.reader", wrong)
    check.report("equal for all sizes of pieces and numbers of threads", unequal)


def sniff(check, rng, dump, files):
    texts = []
    for number in range(files):
        text, delimiter = sniffable(rng)
        texts.append((dump.file(number, text), text, delimiter))
        dump.ask(texts[-1][0], "", 1, WHOLE, 1)
    wrong, clear, right, clear_right = [], 0, 0, 0
    for (path, text, delimiter), answer in zip(texts, dump.answers()):
        found = answer.startswith("T") and chr(int(answer.split(" ")[3])) == delimiter
        right += found
        if any(consistent(text, other) for other in DELIMITERS[:4] if other != delimiter):
            continue
        clear += 1
        clear_right += found
        if not found:
            wrong.append(keep(path, "another delimiter was sniffed: " + answer[:40], text, delimiter, 1))
    print("# delimiter found in %d of %d files; in %d of %d where only one fits" % (right, files, clear_right, clear))
    check.report("delimiters are recognized", wrong)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.splitlines()[0])
    files = int(sys.argv[2]) if len(sys.argv) == 3 else 1200 if harness.SLOW else 4000
    print("1..3")
    rng = random.Random(harness.seed())
    check = Check()
    with tempfile.TemporaryDirectory(prefix="kanon-csv-") as folder:
        dump = Dump(sys.argv[1], folder)
        compare(check, rng, dump, files)
        sniff(check, rng, dump, files // 10)
    sys.exit(1 if check.failed else 0)


main()
