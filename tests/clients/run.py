#!/usr/bin/env python3
"""Runs PostgreSQL's own clients against a server and says, one line a test, what works.

    run.py --url postgres://user@host:port/database     a server that runs already
    run.py --pando target/quick/pando                 a `pando serve` that is started and ended here
    run.py --pando target/quick/pando --data          the same with a data directory
    run.py --pando target/quick/pando --servers 3     the last of three that are one cluster

Each suite is valid for PostgreSQL itself (14 or later): run it there first when you change it. Suites make
tables with names of their own and drop them. `--expected FILE` names tests that are known to fail, with the
reason; such a list may only shrink, so a test of the list that passes is a failure too.
"""

import argparse
import concurrent.futures
import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import served
import tools

HERE = Path(__file__).resolve().parent

# The longest that a whole suite may take; each test in it has a shorter limit of its own.
SUITE_SECONDS = 300

# As many suites run at once, each with a server of its own; those on one server would see each other's tables.
JOBS = 2


def system_python(script, *programs):
    """A suite for command line programs needs no driver."""

    def command():
        path = os.environ["PATH"]
        for name in programs:
            path = f"{Path(tools.program(name)).parent}{os.pathsep}{path}"
        return [sys.executable, str(HERE / script)], {"PATH": path}

    return command


def driver_python(script):
    return lambda: ([tools.python(), str(HERE / script)], {})


def orms_python(script):
    return lambda: ([tools.python(HERE / "orms" / "requirements.txt"), str(HERE / "orms" / script)], {})


def orms_node(script, folder="node"):
    def command():
        asked = HERE / "orms" / folder
        machine, packages = tools.node(asked)
        more = {"NODE_PATH": str(packages / "node_modules"), "NODE_NO_WARNINGS": "1"}
        return [machine, str(asked / script)], more

    return command


def rails():
    return [tools.ruby(), "-W0", str(HERE / "orms" / "rails_suite.rb")], {}


def pgbouncer():
    more = {"PGBOUNCER": tools.program("pgbouncer")}
    return [tools.python(), str(HERE / "pgbouncer.py")], more


def jdbc():
    return [*tools.java(), "Suite"], {}


def node():
    machine, folder = tools.node()
    return [machine, str(HERE / "node" / "suite.js")], {"NODE_PATH": str(folder / "node_modules"), "NODE_NO_WARNINGS": "1"}


def go(client):
    return lambda: ([tools.go(), "--client", client], {})


def postgres_fdw():
    tools.program("initdb")
    return [tools.python(), str(HERE / "postgres_fdw.py")], {}


def gorm():
    return [tools.go(HERE / "orms" / "gorm")], {}


def java(client):
    return lambda: ([*tools.java_orms(), "Suite", "--client", client], {})


def dbt():
    return [tools.python(HERE / "dbt" / "requirements.txt"), str(HERE / "dbt" / "dbt_suite.py")], {}


SUITES = {
    "psql": system_python("psql.py", "psql"),
    "pgbench": system_python("pgbench.py", "psql", "pgbench"),
    "pg_dump": system_python("pg_dump.py", "psql", "pg_dump", "pg_restore"),
    "psycopg": driver_python("psycopg_suite.py"),
    "asyncpg": driver_python("asyncpg_suite.py"),
    "sqlalchemy": driver_python("sqlalchemy_suite.py"),
    "dataframes": driver_python("dataframes.py"),
    "jdbc": jdbc,
    "node": node,
    "pgx": go("pgx"),
    "pq": go("pq"),
    "introspection": driver_python("introspection.py"),
    "django": orms_python("django_suite.py"),
    "alembic": orms_python("alembic_suite.py"),
    "rails": rails,
    "sequelize": orms_node("sequelize.js"),
    "typeorm": orms_node("typeorm.js"),
    "knex": orms_node("knex.js"),
    "drizzle": orms_node("drizzle.js"),
    "prisma": orms_node("prisma.js", "prisma"),
    "gorm": gorm,
    "flyway": java("flyway"),
    "liquibase": java("liquibase"),
    "hibernate": java("hibernate"),
    "dbt": dbt,
    "postgres_fdw": postgres_fdw,
    "pgbouncer": pgbouncer,
}


class Tally:
    """What happened, test by test."""

    def __init__(self, expected):
        self.expected = expected
        self.passed, self.failed, self.known, self.surprises, self.skipped = [], [], [], [], []

    def line(self, line):
        """Looks at a line of a suite; returns it as it is shown."""
        word, _, rest = line.partition(" ")
        test = rest.split(":")[0].strip()
        if word == "ok":
            (self.surprises if test in self.expected else self.passed).append(test)
            return line if test not in self.expected else f"{line} (but it is in the list of expected failures)"
        if word == "FAIL":
            if test in self.expected:
                self.known.append(test)
                return f"expected {line}"
            self.failed.append(test)
        if word == "skip":
            self.skipped.append(rest)
        return line

    def report(self, allow_missing):
        """Prints the summary; returns the exit code."""
        print(f"\n{len(self.passed)} passed, {len(self.failed)} failed, {len(self.known)} failed as expected, "
              f"{len(self.skipped)} skipped")  # fmt: skip
        for title, names in (("failed", self.failed), ("skipped", self.skipped),
                             ("pass now, take them off the list", self.surprises)):  # fmt: skip
            if names:
                print(f"{title}:")
                print("".join(f"  {name}\n" for name in names), end="")
        bad = self.failed or self.surprises or (self.skipped and not allow_missing)
        return 1 if bad else 0


def run_suite(client, options, tally):
    """Runs one suite, against a server of its own where we start it; returns what is to be shown."""
    shown = []
    try:
        command, more = SUITES[client]()
        with where(options) as (url, _pid):
            drive(client, command, more, url, options.match, lambda line: shown.append(tally.line(line)))
    except tools.Missing as why:
        shown.append(tally.line(f"skip {client} all: {why}"))
    except SystemExit as why:
        shown.append(tally.line(f"FAIL {client} suite: {why}"))
    return "\n".join(shown)


def where(options):
    """A server that runs already, one of our own, or the last of a cluster of our own."""
    if options.url:
        return contextlib.nullcontext((options.url, None))
    if options.data:
        return served.durable(options.pando)
    if options.servers == 1:
        return served.pando(options.pando)
    return served.cluster(options.pando, options.servers)


def drive(client, command, more, url, match, show):
    """Runs the program of a suite and passes its lines on."""
    # Clients take time zone, user and password from the environment; what they do here is to depend on the URL alone.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    environment |= {"TZ": "UTC", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", **more}
    command += ["--url", url] + (["--match", match] if match else [])
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=HERE)
    timer = threading.Timer(SUITE_SECONDS, child.kill)
    timer.start()
    failed = False
    for line in child.stdout:
        failed |= line.startswith("FAIL ")
        show(line.rstrip("\n"))
    code = child.wait()
    timer.cancel()
    if code != 0 and not failed:
        show(f"FAIL {client} suite: ended with code {code}")


def read_expected(path):
    """Lines of `client test  reason`; every one has a reason."""
    expected = set()
    for line in Path(path).read_text().splitlines() if path else ():
        if line.strip() and not line.startswith("#"):
            client, test, reason = line.split(None, 2)
            assert reason
            expected.add(f"{client} {test}")
    return expected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url", help="a server that is running")
    where.add_argument("--pando", metavar="BINARY", help="start `BINARY serve` for each suite")
    parser.add_argument("--data", action="store_true", help="with --pando: each server keeps its data in a directory of its own")
    parser.add_argument("--servers", type=int, default=1, help="with --pando: so many servers as one cluster; clients talk to the last")
    parser.add_argument("--only", default="", help=f"comma separated, of: {', '.join(SUITES)}")
    parser.add_argument("--without", default="", help="comma separated: all but these")
    parser.add_argument("--match", default="", help="only tests whose name contains this; `=name=` is one test")
    parser.add_argument("--expected", metavar="FILE", help="known failures: `client test reason` a line")
    parser.add_argument("--allow-missing", action="store_true", help="a client that cannot be installed is no failure")
    parser.add_argument("--skipped", metavar="FILE", help="append the suites that could not be installed to this file")
    options = parser.parse_args()
    clients = [name for name in options.only.split(",") if name] or list(SUITES)
    without = [name for name in options.without.split(",") if name]
    unknown = [name for name in clients + without if name not in SUITES]
    if unknown:
        parser.error(f"no such client: {', '.join(unknown)}")
    clients = [name for name in clients if name not in without]
    tally = Tally({test for test in read_expected(options.expected) if test.split()[0] in clients})
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(1 if options.url else JOBS) as pool:
        for text in pool.map(lambda client: run_suite(client, options, tally), clients):
            print(text, flush=True)
    code = tally.report(options.allow_missing)
    if options.skipped and tally.skipped:
        with open(options.skipped, "a") as file:
            file.write("".join(f"  {name}\n" for name in tally.skipped))
    print(f"in {time.monotonic() - started:.0f} s")
    sys.exit(code)


if __name__ == "__main__":
    main()
