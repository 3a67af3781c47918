#!/usr/bin/env python3
"""How quick the wire is, as ratios of two servers in one run: Pando's time or rate against PostgreSQL's.

    wire_bench.py --pando URL --postgres URL [--pando-pid PID] [--only select,fetch,copy,idle] [--quick]
    wire_bench.py --pando target/quick/pando --postgres URL      starts `pando serve` for the run

Both URLs may be PostgreSQL. Rounds alternate between the servers, figures are medians of the rounds, and a ratio
above 1 is good for Pando. The parts:

    select   pgbench -M prepared, one row by key out of 40,000 of 134 bytes, with 1, 4, 16 and 32 clients
    fetch    100,000 rows to psycopg (text and binary) and to pgjdbc
    copy     COPY FROM STDIN of a lineitem of 600,000 rows as csv; the table is UNLOGGED in PostgreSQL
    idle     memory of idle connections, needs --pando-pid (and --postgres-pid for the other column)
"""

import argparse
import contextlib
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import served
import tools
from harness import Url

if __name__ == "__main__" and "PANDO_WIRE_BENCH" not in os.environ:
    # Again, with the Python that has the drivers.
    os.execve(tools.python(), [tools.python(), *sys.argv], {**os.environ, "PANDO_WIRE_BENCH": "1", "TZ": "UTC"})

import psycopg

HERE = Path(__file__).resolve().parent
ROWS = 40_000
FETCHED = 100_000
LINEITEMS = 600_000
CLIENTS = (1, 4, 16, 32)
NAME = f"pc_wire_{os.getpid()}"

LINEITEM = """l_orderkey bigint, l_partkey integer, l_suppkey integer, l_linenumber integer, l_quantity numeric(15,2),
    l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2), l_returnflag text, l_linestatus text,
    l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct text, l_shipmode text, l_comment text,
    PRIMARY KEY (l_orderkey, l_linenumber)"""


class Server:
    """One of the two, with a connection for its tables."""

    def __init__(self, label, url):
        self.label, self.url = label, Url(url)
        self.connection = psycopg.connect(url, autocommit=True)
        # What is UNLOGGED in PostgreSQL is a plain table in a server that knows no such word.
        self.is_postgres = "pando" not in self.scalar("SELECT version()").lower()

    def run(self, statement):
        self.connection.execute(statement)

    def scalar(self, statement):
        return self.connection.execute(statement).fetchone()[0]

    def drop(self):
        for stem in ("select", "fetch", "copy"):
            self.run(f"DROP TABLE IF EXISTS {NAME}_{stem}")
        self.connection.close()


def alternating(servers, rounds, measure):
    """Runs `measure(server)` in turn; the median of each server."""
    figures = {server.label: [] for server in servers}
    for round_number in range(rounds):
        for server in servers if round_number % 2 == 0 else reversed(servers):
            figures[server.label].append(measure(server))
    return [statistics.median(figures[server.label]) for server in servers]


def report(what, unit, pando, postgres, more_is_better):
    ratio = pando / postgres if more_is_better else postgres / pando
    print(f"{what:<46} {pando:>14,.1f} {postgres:>14,.1f} {unit:<8} {ratio:>6.2f}x", flush=True)


# --- select by key --------------------------------------------------------------------------------------------------


def select(servers, options):
    for server in servers:
        server.run(f"CREATE TABLE {NAME}_select (id bigint PRIMARY KEY, v text NOT NULL)")
        server.run(f"INSERT INTO {NAME}_select SELECT g, repeat(chr(97 + (g % 26)::int), 126) FROM generate_series(1, {ROWS}) AS s(g)")
        if server.is_postgres:
            server.run(f"VACUUM ANALYZE {NAME}_select")
    seconds, rounds = (1, 1) if options.quick else (options.seconds, 3)
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(f"\\set id random(1, {ROWS})\nSELECT v FROM {NAME}_select WHERE id = :id;\n")
        script.flush()
        for clients in CLIENTS:
            pando, postgres = alternating(servers, rounds, lambda server: pgbench(server.url, script.name, clients, seconds))
            report(f"select by key, prepared, {clients} clients", "tx/s", pando, postgres, True)


def pgbench(url, script, clients, seconds):
    """Transactions a second."""
    command = [tools.program("pgbench"), "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, 2)), "-T", str(seconds)]
    command += ["-f", script, "-h", url.host, "-p", str(url.port), "-U", url.user, url.database]
    environment = {**os.environ, **({"PGPASSWORD": url.password} if url.password else {})}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    if done.returncode != 0 or not found:
        raise SystemExit(f"pgbench failed:\n{done.stdout}{done.stderr}")
    return float(found[1])


# --- fetch 100,000 rows ----------------------------------------------------------------------------------------------


def fetch(servers, options):
    for server in servers:
        server.run(f"CREATE TABLE {NAME}_fetch (id bigint PRIMARY KEY, v text, f double precision, d date)")
        server.run(
            f"INSERT INTO {NAME}_fetch SELECT g, 'row number ' || g, g / 8.0::float8, date '2024-01-01' + (g % 365)::int"
            f" FROM generate_series(1, {FETCHED}) AS s(g)"
        )
        if server.is_postgres:
            server.run(f"VACUUM ANALYZE {NAME}_fetch")
    rounds = 1 if options.quick else 5
    for label, binary in (("text", False), ("binary", True)):
        pando, postgres = alternating(servers, rounds, lambda server: fetch_psycopg(server, binary))
        report(f"{FETCHED:,} rows to psycopg, {label}", "ms", pando, postgres, False)
    try:
        java = tools.java()
    except tools.Missing as why:
        print(f"{FETCHED:,} rows to pgjdbc: skipped, {why}")
        return
    for label, size in (("all at once", 0), ("fetch size 1,000", 1000)):
        pando, postgres = alternating(servers, 1 if options.quick else 3, lambda server: fetch_jdbc(java, server, size))
        report(f"{FETCHED:,} rows to pgjdbc, {label}", "ms", pando, postgres, False)


def fetch_psycopg(server, binary):
    """Milliseconds until the last row is a Python object."""
    cursor = server.connection.cursor(binary=binary)
    started = time.perf_counter()
    cursor.execute(f"SELECT id, v, f, d FROM {NAME}_fetch")
    count = len(cursor.fetchall())
    took = time.perf_counter() - started
    assert count == FETCHED, count
    return took * 1000


def fetch_jdbc(java, server, size):
    """Milliseconds, the median of several runs in one warm virtual machine."""
    command = [*java, "Fetch", server.url.text, f"SELECT id, v, f, d FROM {NAME}_fetch", str(FETCHED), str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"jdbc/Fetch failed:\n{done.stdout}{done.stderr}")
    return float(done.stdout)


# --- copy ------------------------------------------------------------------------------------------------------------


def lineitem_csv(path, rows):
    """A lineitem as csv, the same bytes in every run: about the widths and the spread of TPC-H's."""
    chance = random.Random(42)
    instructions = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
    modes = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
    words = "carefully final deposits sleep quickly above the furiously regular accounts, pending ideas haggle".split()
    days = [time.strftime("%Y-%m-%d", time.gmtime(694224000 + day * 86400)) for day in range(2700)]
    order, line = 1, 0
    with open(path, "w") as file:
        for _ in range(rows):
            line += 1
            quantity, day = chance.randint(1, 50), chance.randrange(2500)
            comment = " ".join(chance.choices(words, k=chance.randint(2, 5)))[:44]
            comment = f'"{comment}"' if "," in comment else comment
            file.write(
                f"{order},{chance.randint(1, 20000)},{chance.randint(1, 1000)},{line},{quantity}.00,{quantity * chance.randint(90000, 200000) / 100:.2f},"
                f"0.{chance.randint(0, 10):02},0.{chance.randint(0, 8):02},{chance.choice('NRA')},{chance.choice('OF')},{days[day]},{days[day + chance.randint(0, 90)]},"
                f"{days[day + chance.randint(1, 30)]},{chance.choice(instructions)},{chance.choice(modes)},{comment}\n"
            )
            if line == 7 or chance.random() < 0.25:
                order, line = order + chance.randint(1, 4), 0


def copy(servers, options):
    rows = LINEITEMS // 10 if options.quick else LINEITEMS
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        lineitem_csv(file.name, rows)
        megabytes = os.path.getsize(file.name) / 1e6
        pando, postgres = alternating(servers, 1 if options.quick else 3, lambda server: copy_once(server, file.name, rows))
        report(f"COPY in of {rows:,} lineitems ({megabytes:.0f} MB csv)", "rows/s", rows / pando, rows / postgres, True)


def copy_once(server, path, rows):
    """Seconds for one COPY into an empty table."""
    server.run(f"DROP TABLE IF EXISTS {NAME}_copy")
    server.run(f"CREATE {'UNLOGGED ' if server.is_postgres else ''}TABLE {NAME}_copy ({LINEITEM})")
    started = time.perf_counter()
    with open(path, "rb") as file, server.connection.cursor().copy(f"COPY {NAME}_copy FROM STDIN (FORMAT csv)") as into:
        while block := file.read(1 << 18):
            into.write(block)
    took = time.perf_counter() - started
    count = server.scalar(f"SELECT count(*) FROM {NAME}_copy")
    assert count == rows, f"{server.label} has {count} of {rows} rows"
    return took


# --- idle connections -------------------------------------------------------------------------------------------------


def idle(servers, options):
    for server, pid in zip(servers, (options.pando_pid, options.postgres_pid)):
        if pid is None:
            continue
        before = memory(pid)
        held = hold(server, options.connections)
        time.sleep(1)
        grown = memory(pid) - before
        for connection in held:
            connection.finish()
        print(f"{len(held):,} idle connections cost {server.label:<10} {grown / 1e6:>14,.1f} MB  ({grown / len(held) / 1024:.1f} KiB each)", flush=True)


def hold(server, number):
    """Connections that have run one statement and wait."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = []
    for _ in range(number):
        connection = psycopg.pq.PGconn.connect(server.url.text.encode())
        if connection.status != psycopg.pq.ConnStatus.OK:
            print(f"{server.label} refused connection {len(held) + 1}: {connection.error_message.decode(errors='replace').strip()}")
            break
        connection.exec_(b"SELECT 1")
        held.append(connection)
    return held


def memory(pid):
    """Bytes that a process and its children have to themselves (Pss where the kernel tells it, else Rss)."""
    total = 0
    for each in [pid, *children(pid)]:
        try:
            text = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(re.search(r"^Pss:\s+(\d+)", text, re.M)[1]) * 1024
    return total


def children(pid):
    text = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(each) for each in text.split()]


PARTS = {"select": select, "fetch": fetch, "copy": copy, "idle": idle}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pando", required=True, metavar="URL or BINARY")
    parser.add_argument("--postgres", required=True, metavar="URL")
    parser.add_argument("--pando-pid", type=int)
    parser.add_argument("--postgres-pid", type=int)
    parser.add_argument("--connections", type=int, default=1000, help="how many idle ones (default 1000)")
    parser.add_argument("--seconds", type=int, default=5, help="length of a pgbench round (default 5)")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="one short round of everything: does it work?")
    options = parser.parse_args()
    own = contextlib.nullcontext((options.pando, options.pando_pid)) if "://" in options.pando else served.pando(options.pando)
    with own as (options.pando, options.pando_pid):
        compare(parser, options)


def compare(parser, options):
    """All the parts that were asked for."""
    servers = [Server("pando", options.pando), Server("postgres", options.postgres)]
    if servers[0].url == servers[1].url:
        parser.error("two servers, or two databases of one, are needed")
    print(f"{'':<46} {'pando':>14} {'postgres':>14} {'':<8} {'ratio':>7}")
    try:
        for part in options.only.split(","):
            PARTS[part](servers, options)
    finally:
        for server in servers:
            server.drop()


if __name__ == "__main__":
    main()
