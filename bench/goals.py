# SPDX-License-Identifier: Apache-2.0
"""The goals of the scoreboard, one after the other, and which point (points.py) measures each.

A goal reads one figure of one point. `how` says what exactly is measured, `given` what the goal says of peers that are
not in the run, `why` is the sentence of a person who looked at a miss. Nothing here knows how it is
measured or shown.
"""
import dataclasses

ISSUES = {2: "Tables and grouping", 3: "Diagnosis", 4: "Full-domain releases", 5: "Partitioning",
          6: "Dependencies and K-MSD", 7: "Databases", 8: "Trees", 9: "Larger than memory", 10: "Whole databases", 11: "Baskets",
          12: "On every core, close to the limit"}


@dataclasses.dataclass
class Goal:
    id: str  # issue.name
    name: str  # short, for the picture
    sense: str  # "≤" or "≥"
    bound: float | None  # None: beside a peer, without a bound
    unit: str
    point: str
    figure: str
    how: str = ""
    given: str = ""
    why: str = ""

    @property
    def issue(self):
        return int(self.id.split(".")[0])

    @property
    def profile(self):
        """The name of its profile: goals of one point share it, but memory is another question than time."""
        return self.point + ("/memory" if self.figure == "memory" else "")


GOALS = [
    Goal("2.group-duckdb", "group-by against DuckDB, 10 M rows", "≥", 3, "×", "reading", "group-duckdb",
         how="eight columns of a loaded table, 2 threads each; DuckDB on the types it finds"),
    Goal("2.group-pandas", "group-by against pandas, 10 M rows", "≥", 20, "×", "reading", "group-pandas",
         how="the same"),
    Goal("2.csv-duckdb", "CSV to k against DuckDB, 10 M rows", "≥", 2, "×", "reading", "csv-k-duckdb",
         how="kanon's whole process; DuckDB's query"),
    Goal("2.memory", "memory of diagnose, 10 M rows", "≤", 1.5, "× table", "reading", "memory",
         how="resident size of the whole process, by codes and dictionaries"),
    Goal("2.threads", "group-by: 2 threads against one, 10 M rows", "≥", 1.6, "×", "threads", "group"),
    Goal("3.sets", "255 attribute sets of Adult", "≤", 50, "ms", "sets", "ms", how="after loading"),
    Goal("3.report", "report on 255 sets, 10 M × 8", "≤", 20, "s", "report", "seconds",
         how="CSV to HTML, with suppression"),
    Goal("3.memory", "… memory of that report", "≤", 2, "× table", "report", "memory"),
    Goal("3.wide-60", "borders of 60 columns × 100 k rows", "≤", 60, "s", "wide", "60x100k"),
    Goal("3.wide-100", "borders of 100 columns × 20 k rows", "≤", 60, "s", "wide", "100x20k"),
    Goal("3.models", "nine models on Adult beside pyCANON", "≤", None, "ms", "models", "seconds",
         how="after loading; no bound is given"),
    Goal("4.optimal-0", "optimal node of Adult, nothing suppressed", "≤", 5, "ms", "optimal-0", "ms",
         how="9 attributes, k = 5, after loading; the fastest run", given="ARX 3.9.2: 30-50 ms CPU",
         why="Of 39 million instructions about 20 count the classes of 77 nodes, 13 the base set, its columns and the "
             "tables, 3 clear memory, 3 choose what to count next: no single part to cut."),
    Goal("4.optimal-5", "optimal node of Adult, 5 % suppressed", "≤", 50, "ms", "optimal-5", "ms", how="the same",
         given="ARX 3.9.2: 1.2-1.9 s CPU"),
    Goal("4.optimal-100", "optimal node of Adult, any suppressed", "≤", 150, "ms", "optimal-100", "ms", how="the same",
         given="ARX 3.9.2: 4-5 s CPU"),
    Goal("4.command", "release of Adult, whole command", "≤", 0.5, "s", "command", "seconds",
         how="read, search, write, read again, verify", given="ARX 3.9.2: 4 s, 0.4 GB"),
    Goal("4.frontier", "frontier of Adult against its optimal release", "≤", 3, "×", "frontier", "times",
         how="whole commands: k = 5 and nine larger ones, up to 5 % suppressed; the release reads, searches, writes, verifies"),
    Goal("4.three-million", "release of 3 M rows, whole command", "≤", 6, "s", "three-million", "seconds",
         how="rows like Adult's, k = 5, 5 %", given="ARX 3.9.2: 118 s, 1.5 GB"),
    Goal("4.memory", "… memory of that release", "≤", 0.5, "GB", "three-million", "memory", how="resident size"),
    Goal("4.lattice-0", "12 quasi-identifiers of 5 levels, proved", "≤", 60, "s", "lattice", "seconds-0",
         how="30,000 rows, k = 5, nothing suppressed; the search alone"),
    Goal("4.lattice-5", "… 5 % suppressed", "≤", 60, "s", "lattice", "seconds-5", how="the same"),
    Goal("4.growth-0", "nodes checked per quasi-identifier", "≤", 2, "×", "lattice", "growth-0",
         how="from 6 to 12, nothing suppressed; each time with 5 times as many nodes"),
    Goal("4.growth-5", "… 5 % suppressed", "≤", 2, "×", "lattice", "growth-5", how="the same",
         why="Of the bad nodes that are counted 94 % lie below no other counted one: what is left seems to be the number of maximal bad"
             " nodes that a proof needs."),
    Goal("4.lattice-15-0", "15 quasi-identifiers, by the time limit", "≤", 1.1, "× limit", "lattice-15", "0",
         how="whole command, --time-limit 30: a proof, or the best so far with a bound; nothing suppressed"),
    Goal("4.lattice-15-5", "… 5 % suppressed", "≤", 1.1, "× limit", "lattice-15", "5%", how="the same"),
    Goal("4.samarati", "samarati with 20 quasi-identifiers ends", "≤", 60, "s", "samarati-20", "seconds",
         how="whole command, no time limit, 5 %: the lowest node, or why not"),
    Goal("4.anytime-arx", "loss of the heuristic below ARX's best", "≥", 1, "%", "anytime-arx", "lower",
         how="16, 20, 24, 30 quasi-identifiers, the least of those whose optimum is not reached; 3 s beside 30 s each of genetic, top-down and"
             " bottom-up"),
    Goal("4.anytime-worse", "… never worse with more time", "≤", 1, "×", "anytime", "worse",
         how="the same lattices, 0.5, 1, 3 and 10 s; the largest loss by that of less time"),
    Goal("4.anytime-bound", "… and says what is proved", "≥", 100, "%", "anytime", "bounded",
         how="runs of 3 and 10 s that tell a bound above 0"),
    Goal("5.best", "GCP of mondrian-best below mondrian's", "≥", 10, "%", "quality", "lower",
         how="Adult, 8 attributes, the least at k = 5, 10, 25, 50"),
    Goal("5.never", "… never above it, k = 2 to 100", "≤", 1, "×", "quality", "never",
         how="GCP by mondrian's, the largest"),
    Goal("5.local", "LM of mondrian-best on Adult, k = 5", "≤", 0.059, "", "local", "lm",
         how="9 attributes with hierarchies, nothing suppressed", given="ARX's local recoding: 0.059 in 4.8 s"),
    Goal("5.local-time", "… time of that release", "≤", 4.8, "s", "local", "seconds", how="whole command"),
    Goal("5.reference", "mondrian-best by a slow search of Adult", "≥", 50, "%", "reference", "closed",
         how="of the distance from before the exchange to the reference (hours, 2026-11-18), the least at k = 5, 10, 25, 50"),
    Goal("5.python", "mondrian against anonypy, Adult, k = 10", "≥", 100, "×", "python", "times",
         how="kanon's whole command, anonypy's search"),
    Goal("5.ten-million", "mondrian on 10 M × 8", "≤", 15, "s", "partition", "seconds",
         how="whole dry run: read, partition, measure"),
    Goal("5.memory", "memory of partitioning", "≤", 4, "× table", "partition", "memory", how="with the table"),
    Goal("5.flat", "time / (n log n/k), 1 M to 50 M rows", "≤", 30, "% apart", "growth", "flat",
         how="largest distance from the mean; partitioning alone"),
    Goal("6.kmsd", "K-MSD on Adult, k = 10", "≤", 1, "s", "kmsd-adult", "seconds", how="whole command"),
    Goal("6.kmsd-million", "K-MSD on 1 M × 8", "≤", 60, "s", "kmsd-million", "seconds", how="whole command"),
    Goal("6.fd", "dependencies of 15 columns × 30 k", "≤", 2, "s", "fd-30k-15", "seconds",
         how="whole command; peers: search alone"),
    Goal("6.fd-approximate", "… with 1 % exceptions", "≤", 2, "s", "fd-30k-15-1%", "seconds", how="whole command",
         why="A candidate near the border costs a pass over the rows, and there are many of them where exceptions are"
             " allowed."),
    Goal("6.fd-million", "dependencies of 20 columns × 1 M", "≤", 120, "s", "fd-1m-20", "seconds",
         how="whole command; peers: search alone"),
    Goal("6.fd-million-approximate", "… with 1 % exceptions", "≤", 120, "s", "fd-1m-20-1%", "seconds",
         how="whole command, stopped at 300 s",
         why="It takes 81 processor seconds. At 100,000 rows two thirds of the time go into checks of all rows near the"
             " border, a third into guessing from some of the rows which ones to make."),
    Goal("7.tpch", "miracle-x on 100 k TPC-H persons", "≤", 60, "s", "tpch", "seconds",
         how="SQLite, read to plan, climit 150, k = 5"),
    Goal("7.memory", "… memory of it", "≤", 3, "× tables", "tpch", "memory", how="held at most, by the encoded tables"),
    Goal("7.linear", "time per person, ten times as many", "≤", 1.3, "×", "tpch", "linear",
         how="processor time of the search; \"linear\" is read as at most 1.3"),
    Goal("7.postgres", "… from PostgreSQL", "≤", 60, "s", "postgres", "seconds", how="the same persons"),
    Goal("7.evaluations", "pair evaluations saved, 10 k students", "≥", 10, "×", "evaluations", "fewer",
         how="--reference's by the fast path's"),
    Goal("8.250k", "GCS on 250 k trees", "≤", 10, "s", "tree-250k", "seconds",
         how="TPC-H, k = 20, m = 3, n = 2, g = 2, after loading",
         why="Every cut that passes ValueCheck sweeps the records that it changes, once for each round of FixStructure."),
    Goal("8.1m", "GCS on 1 M trees", "≤", 30, "s", "tree-1m", "seconds", how="the same",
         why="575 cuts pass ValueCheck; each changes 218,000 records on average and is settled in 3 rounds of FixStructure,"
             " of which the later ones read only records that lost a relation which others keep. At 100 k, loading counted,"
             " putting records into blocks takes 18 % of the time, writing their nodes 15 %, intersections 14 %; the rest is"
             " spread over ten smaller parts."),
    Goal("8.memory-250k", "memory of GCS, 250 k trees", "≤", 4, "× records", "tree-250k", "memory",
         how="search and records, by the encoded records"),
    Goal("8.memory-1m", "memory of GCS, 1 M trees", "≤", 4, "× records", "tree-1m", "memory", how="the same"),
    Goal("8.reference", "GCS against --reference, 100 k trees", "≥", 20, "×", "tree-reference", "times",
         how="--reference is stopped when it has taken 21 times as long"),
    Goal("9.k-few", "k of 10 M × 8 as Parquet, few classes", "≤", 1.3, "× DuckDB", "big-k", "few classes",
         how="processor time of the whole process beside that of DuckDB's own GROUP BY"),
    Goal("9.k-many", "… nearly as many as rows", "≤", 1.3, "× DuckDB", "big-k", "nearly unique", how="the same"),
    Goal("9.release", "release of 100 M rows within 1 GB", "≤", 4, "× DuckDB", "big-release", "processor",
         how="k = 5, 5 %, 8 quasi-identifiers, beside DuckDB's reading and writing of the same rows"),
    Goal("9.memory", "… memory of it", "≤", 1.5, "GB", "big-release", "memory",
         how="resident size; DuckDB has half of the limit besides"),
    Goal("10.grown", "release of ten times as many persons", "≤", 11, "×", "database", "grown",
         how="TPC-H, SQLite to SQLite, verified; processor time on one thread, the largest step"),
    Goal("10.second", "… two threads against one", "≥", 1.6, "×", "database", "second", how="wall time of the largest"),
    Goal("10.memory", "… memory of it", "≤", 3, "× tables", "database", "memory", how="resident size by the encoded tables"),
    Goal("11.m1", "100 k baskets of 2,000 items, m = 1", "≤", 5, "s", "baskets", "m1",
         how="processor time, from the file to the verified release"),
    Goal("11.m2", "… m = 2", "≤", 10, "s", "baskets", "m2", how="the same"),
    Goal("12.read", "reading 10 M rows", "≤", 0.8, "s", "threads", "read", how="2 threads, nine columns of CSV"),
    Goal("12.write", "writing 10 M rows", "≤", 0.8, "s", "cores-table", "write-seconds",
         how="2 threads, the released columns as CSV; peers: the same rows from memory"),
    Goal("12.digest", "SHA-256 against OpenSSL", "≥", 0.9, "×", "digest", "share", how="one thread, in memory, processor time",
         why="Nettle 3.8, Debian 12's, takes 64 bytes at a time and loads and stores its state for each; later ones take many. OpenSSL adds 0.7 ms"
             " to every start of the program (docs/dependencies.md), as much as hashing 12 MB takes longer."),
    Goal("12.csv-duckdb", "CSV to k against DuckDB, 10 M rows", "≥", 4, "×", "reading", "csv-k-duckdb",
         how="kanon's whole process; DuckDB's query"),
    Goal("12.csv-polars", "CSV to k against Polars streaming", "≥", 4, "×", "reading", "csv-k-polars-streaming",
         how="the same"),
    Goal("12.group-enum", "group-by against DuckDB on ENUMs", "≥", 3, "×", "reading", "group-duckdb-enum",
         how="eight columns of a loaded table, 10 M rows, 2 threads each"),
    Goal("12.group-plain", "… on plain columns", "≥", 10, "×", "reading", "group-duckdb", how="the same"),
    Goal("12.verify", "verify by read + search + write, 3 M rows", "≤", 0.6, "×", "three-million", "verify",
         how="seconds of the stages of one release"),
    Goal("12.bytes", "memory of a release of 30 M rows", "≤", 30, "bytes a row", "thirty-million", "bytes",
         how="resident size"),
    Goal("12.tree-memory", "memory of GCS, 1 M trees", "≤", 3, "× records", "tree-1m", "memory",
         how="search and records, by the encoded records",
         why="The records superimposed are about 1.2 × the encoded ones; the rest is the rows of the cut that each thread looks at,"
             " and the supports of the cuts that are followed, which hardly depend on the number of records: 2.72 × at 1 M,"
             " 3.01 × at 250 k."),
    Goal("12.fd-wide", "dependencies of 34 columns, 1 % exceptions", "≤", 5, "s", "fd-4k-34-1%", "seconds",
         how="4,000 rows, whole command, stopped at 60 s",
         why="The search takes 3.9 to 8 s. Its answer is 1.7 million minimal dependencies, 711 MB of JSON; making and writing that"
             " takes 1.1 s more where nothing else runs."),
]


def second_core():
    """Two threads against one, and how many could be of use: a pair of goals for each job."""
    jobs = [("read", "reading a table", "cores-table", "read"), ("optimal", "optimal", "cores-table", "search"),
            ("write", "writing a table", "cores-table", "write"), ("verify", "verifying a table", "cores-table", "verify"),
            ("mondrian", "mondrian", "cores-mondrian", "search"),
            ("mondrian-best", "mondrian-best", "cores-mondrian-best", "search"), ("kmsd", "kmsd", "cores-kmsd", "search"),
            ("miracle-x", "miracle-x", "cores-miracle-x", "search"), ("gcs", "gcs", "cores-gcs", "search"),
            ("dependencies", "dependencies", "cores-dependencies", "search")]
    alone = {
        "verify": "SHA-256 of the release is computed from the bytes that are verified, by one thread: of 10 M rows 0.46 s of a span of"
                  " 0.56 s; what is not the digest has 24 cores' work.",
        "mondrian": "One thread numbers the classes and gives memory back; with promises beyond k one judges the sides of a first cut.",
        "miracle-x": "16 to 19.7, the less the busier the machine: of 0.30 to 0.38 s of span most are placing, one person after the other by the"
                     " paper's greedy order, 3 µs each; the rest is waking 64 threads once per 128 persons.",
        "kmsd": "15 to 16: one thread gives memory back after sorting and after the plan, and about 250 short sections wait for each other.",
    }
    shared = {
        "read": "SHA-256 of the original is half of the work of reading it, and one chain: of 10 M rows 0.45 of 0.89 s. One thread does nothing else"
                " while the other scans; what both then share is too little to make up for the sections in which they wait.",
        "write": "The system lets one thread at a time write into a file, and that is half of the work: the other one spins until it may.",
    }
    for name, words, point, figure in jobs:
        yield Goal(f"12.second-{name}", f"{words}: 2 threads against one", "≥", 1.75, "×", point, figure, why=shared.get(name, ""))
        yield Goal(f"12.span-{name}", f"{words}: cores that can be of use", "≥", 16, "cores", point, f"{figure}-span",
                   how="work by span of the thread pool's counters", why=alone.get(name, ""))


GOALS += second_core()
