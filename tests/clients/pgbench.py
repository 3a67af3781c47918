"""pgbench: custom scripts on 40,000 rows of 134 bytes, in each protocol mode, with one client and with four.

Only correctness is looked at here (exit code 0, every transaction done, none failed); `wire_bench.py` measures.
"""

import os
import re
import subprocess
import tempfile

from harness import Suite, equal
from psql import drop, quiet

ROWS = 40_000
SELECT = "\\set id random(1, 40000)\nSELECT v FROM {table} WHERE id = :id;\n"
UPDATE = "\\set id random(1, 40000)\nUPDATE {table} SET v = repeat(chr(97 + :id % 26), 126) WHERE id = :id;\n"
BLOCK = (
    "\\set id :client_id * 1000 + random(1, 1000)\nBEGIN;\nUPDATE {table} SET v = repeat('u', 126) WHERE id = :id;\n"
    "SELECT v FROM {table} WHERE id = :id;\nEND;\n"
)
INSERT = "\\set id 100000 + :client_id * 10000000 + random(1, 9000000)\nINSERT INTO {table} VALUES (:id, 'new') ON CONFLICT (id) DO NOTHING;\n"


def fill(t, name):
    """A bigint key of 8 bytes and a text of 126."""
    quiet(
        t,
        f"CREATE TABLE {name} (id bigint PRIMARY KEY, v text NOT NULL);\n"
        f"INSERT INTO {name} SELECT g, repeat(chr(97 + (g % 26)::int), 126) FROM generate_series(1, {ROWS}) AS s(g);",
    )


def pgbench(t, script, mode, clients, *more, transactions=200):
    """Runs one script and returns what pgbench said."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        command = ["pgbench", "-n", "-M", mode, "-c", str(clients), "-j", str(min(clients, 2)), "-t", str(transactions)]
        command += ["-f", file.name, *more, "-h", t.url.host, "-p", str(t.url.port), "-U", t.url.user, t.url.database]
        environment = {**os.environ, **({"PGPASSWORD": t.url.password} if t.url.password else {})}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    out = done.stdout + done.stderr
    equal(done.returncode, 0, f"exit code; pgbench said:\n{out}\n")
    processed = re.search(r"transactions actually processed: (\d+)/(\d+)", out)
    assert processed and processed[1] == processed[2] == str(clients * transactions), out
    assert "number of failed transactions: 0 " in out, out
    assert "aborted" not in out, out
    return out


suite = Suite("pgbench", drop)


def one(script, mode, clients):
    def check(t):
        name = t.table()
        fill(t, name)
        pgbench(t, script.format(table=name), mode, clients)
        equal(quiet(t, f"SELECT min(length(v)), max(length(v)), count(*) FROM {name} WHERE id <= {ROWS}"), f"126|126|{ROWS}")

    return check


for kind, text in (("select", SELECT), ("update", UPDATE), ("block", BLOCK), ("insert", INSERT)):
    for protocol in ("simple", "extended", "prepared"):
        for count in (1, 4):
            # Updates by several clients at random keys may meet; blocks keep to their client's keys.
            suite.add(f"{kind}_{protocol}_{count}", one(text, protocol, count))


@suite.test
def pipeline(t):
    """`\\startpipeline` sends many statements before it reads an answer."""
    name = t.table()
    fill(t, name)
    script = "\\set id random(1, 40000)\n\\startpipeline\n" + "SELECT v FROM {table} WHERE id = :id;\n" * 5 + "\\endpipeline\n"
    for mode in ("extended", "prepared"):
        pgbench(t, script.format(table=name), mode, 2)


@suite.test
def connection_for_each_transaction(t):
    """`-C` connects anew each time."""
    name = t.table()
    fill(t, name)
    pgbench(t, SELECT.format(table=name), "simple", 2, "-C", transactions=50)


@suite.test
def results_into_variables(t):
    """`\\gset` reads a row back into the script."""
    name = t.table()
    fill(t, name)
    script = "SELECT max(id) AS top FROM {table} WHERE id < 5 \\gset\nSELECT v FROM {table} WHERE id = :top;\n"
    for mode in ("simple", "extended", "prepared"):
        pgbench(t, script.format(table=name), mode, 1, transactions=20)


if __name__ == "__main__":
    suite.main()
