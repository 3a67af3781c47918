#!/usr/bin/env python3
"""Compares Pando with PostgreSQL: random statements of fixed seeds, and recorded scripts; see README.md.

    run.py --pando target/quick/pando                   what `make test` runs: always the same statements
    run.py --pando target/quick/pando --seconds 600     what `make soak` runs: new statements until the time is over
    run.py --pando ... --only scripts --update-expected   renews what is expected of the scripts

PostgreSQL and the servers of Pando are started and ended here. It fails on answers that are wrong, crashes and
hangs that known.txt does not name, and on scripts that were better before.
"""

import argparse
import concurrent.futures
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))

import postgres  # noqa: E402
import scripts  # noqa: E402 (postgres and this need tests/clients in the path)
import served  # noqa: E402
import tools  # noqa: E402

# As many parts run at once, each with a server and a reference database of its own.
JOBS = 2

# What fails a run; of other differences there are too many yet.
FATAL = "CRASH,WRONG,HANG"

# Seconds that a statement may take: machines are shared, and only a hang is to be one.
STATEMENT_SECONDS = 20

# Tables of many buckets and chunks.
SMALL_BUCKETS = ("--options", "bucket_size = '4KiB'", "--rows", "400")


@dataclass(frozen=True)
class Part:
    """Seeds of a program on as many servers."""

    name: str
    arguments: tuple[str, ...]
    servers: int = 1
    program: str = "explore.py"


def fixed_parts(options):
    """The longest first, so that both processors have work to the end."""
    count, seed = options.count, ("--seed", str(options.seed))
    return [
        Part("statements", (*seed, "--count", str(count))),
        Part("small-buckets", ("--seed", str(options.seed + 100_000), "--count", str(max(count // 2, 1)), *SMALL_BUCKETS)),
        Part("rules", (*seed, "--count", str(max(count // 4, 1)), "--rules")),
        Part("foreign-keys", (*seed, "--count", str(count)), program="foreign_keys.py"),
        Part("functions", (*seed, "--count", str(max(count // 10, 1)), "--functions")),
    ]


def soak_parts(options):
    """Seeds without end, on one server and on three, whose rows have to move first."""
    until = ("--seed", str(options.seed), "--minutes", str(options.seconds / 60))
    return [
        Part("one-server", until),
        Part("three-servers", (*until, *SMALL_BUCKETS, "--settle", "1"), 3),
        Part("foreign-keys", until, 3, "foreign_keys.py"),
        Part("functions", (*until, "--functions")),
    ]


class Run:
    """The parts of a run, and how each went."""

    def __init__(self, options):
        self.options = options
        self.results, self.skipped, self.children = {}, [], []

    def all(self):
        """Runs every part that is chosen; returns the exit code."""
        parts = soak_parts(self.options) if self.options.seconds else fixed_parts(self.options)
        tasks = {part.name: lambda reference, part=part: self.explore(part, reference(part.name)) for part in parts}
        if not self.options.seconds:
            tasks["scripts"] = lambda _reference: self.scripts()
        chosen = [name for name in self.options.only.split(",") if name] or list(tasks)
        if unknown := [name for name in chosen if name not in tasks]:
            raise SystemExit(f"no such part: {', '.join(unknown)}; there are {', '.join(tasks)}")
        try:
            with postgres.cluster(chosen) as reference, concurrent.futures.ThreadPoolExecutor(JOBS) as pool, self.ending(pool):
                for name in pool.map(lambda name: self.one(name, tasks[name], reference), chosen):
                    print(self.results[name], flush=True)
        except tools.Missing as why:
            self.skipped.append(f"differential: {why}")
        return self.report()

    @contextlib.contextmanager
    def ending(self, pool):
        """When the run is told to end, its children are, too."""
        try:
            yield
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in self.children:
                child.terminate()
            raise SystemExit("stopped") from None

    def one(self, name, task, reference):
        started = time.monotonic()
        try:
            lines, good = task(reference)
        except tools.Missing as why:
            self.skipped.append(f"differential {name}: {why}")
            lines, good = [f"skip {name}: {why}"], None
        except SystemExit as why:
            lines, good = [str(why)], False
        verdict = {True: "ok", False: "FAIL", None: "skip"}[good]
        self.results[name] = "\n".join([*lines, f"{verdict} differential {name}, {time.monotonic() - started:.0f} s\n"])
        return name

    def explore(self, part, reference):
        """Runs a part's seeds in a process of its own, which has the driver."""
        python = tools.python()
        with servers(self.options.pando, part.servers) as urls, tempfile.TemporaryDirectory(prefix="differential-") as folder:
            report = Path(self.options.report or folder) / f"{part.name}.sql"
            report.parent.mkdir(parents=True, exist_ok=True)
            command = [python, str(HERE / part.program), "--reference", reference, "--servers", *urls, *part.arguments,
                       "--kinds", FATAL, "--timeout", str(STATEMENT_SECONDS), "--report", str(report)]  # fmt: skip
            command += ["--known", self.options.known] if self.options.known is not None else []
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(), cwd=HERE)
            self.children.append(child)
            output, _ = child.communicate()
        return output.splitlines(), child.returncode == 0

    def scripts(self):
        """Runs the recorded scripts."""
        psql = tools.program("psql")
        with served.pando(self.options.pando) as (url, _pid):
            return scripts.run(psql, url, self.options.update_expected)

    def report(self):
        failed = [name for name, text in self.results.items() if f"\nFAIL differential {name}" in f"\n{text}"]
        for title, names in (("failed", failed), ("skipped", self.skipped)):
            if names:
                print(f"{title}: {', '.join(names)}")
        if self.options.skipped and self.skipped:
            with open(self.options.skipped, "a") as file:
                file.write("".join(f"  {name}\n" for name in self.skipped))
        return 1 if failed or (self.skipped and not self.options.allow_missing) else 0


@contextlib.contextmanager
def servers(binary, count):
    """One server, or several that are one cluster; yields the URL of each."""
    if count == 1:
        with served.pando(binary) as (url, _pid):
            yield [url]
    else:
        with served.members(binary, count) as members:
            yield [url for url, _pid in members]


def environment():
    """What clients take from the environment must not matter, and sets must have the same order in each run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pando", metavar="BINARY", required=True, help="start `BINARY serve` for each part")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=60, help="how many seeds; other parts have their share of it")
    parser.add_argument("--seconds", type=int, default=0, help="take new seeds for so long instead, on one server and on three")
    parser.add_argument("--only", default="", help="parts, comma separated: statements, small-buckets, rules, foreign-keys, functions, scripts; "
                        "with --seconds one-server, three-servers, foreign-keys, functions")  # fmt: skip
    parser.add_argument("--known", metavar="FILE", help="instead of known.txt; '' for everything that differs")
    parser.add_argument("--report", metavar="FOLDER", help="keep what differs here, as SQL")
    parser.add_argument("--update-expected", action="store_true", help="write what the scripts reach, unless one became worse")
    parser.add_argument("--allow-missing", action="store_true", help="PostgreSQL or a driver that cannot be installed is no failure")
    parser.add_argument("--skipped", metavar="FILE", help="append the parts that could not be run to this file")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(Run(parser.parse_args()).all())


if __name__ == "__main__":
    main()
