"""Writes introspection/captured: the catalog queries that clients send by themselves, out of PostgreSQL's log.

    capture.py --url URL --log FILE

The server must be PostgreSQL with `log_statement = all`, and FILE its log, which is read from where it ends. Each
suite below runs test by test; a statement is kept once, in the file of the test that sent it first.
"""

import argparse
import os
import re
import subprocess
from pathlib import Path

from introspection import FOLDER, Query, write
from run import SUITES

HERE = Path(__file__).resolve().parent

# Which tests of which suites make a client ask the catalog, and what the client is called in the file.
RUNS = {
    "psql": ("psql 15", r"^(d_.*|d[a-zT]+|l|answers_.*|gdesc|tab_completion|conninfo.*)$"),
    "psycopg": ("psycopg 3", r"^type_information$"),
    "asyncpg": ("asyncpg", r"^(type_.*|copy_records.*|pool|reset)$"),
    "sqlalchemy": ("SQLAlchemy 2", r"^(connect|create_all.*|reflect.*|isolation.*|asyncpg_dialect)$"),
    "jdbc": ("pgjdbc", r"^(connect|metadata_.*|result_metadata|parameter_metadata|updatable.*|types_binary|isolation.*)$"),
    "pgx": ("pgx 5", r"^(load_type|query_cache_statement)$"),
    "pq": ("lib/pq", r"^(types|column_types)$"),
    "node": ("node-postgres", r"^(types|pool)$"),
}
CATALOG = re.compile(r"\bpg_|information_schema|^\s*show\b|\bversion\(\)|current_schema|set_config|^\s*set\b|\breset all|current_database", re.I)
OWN = re.compile(r"^\s*(create|drop|insert|update|delete|comment|alter|truncate|copy|begin|commit|explain|declare|fetch)\b|pg_sleep", re.I)
# Numbers that are OIDs of things that the suites made; the modifiers of types are higher.
OIDS = range(16384, 500_000)
ENTRY = re.compile(r"^\[\d+\|.*?\] (LOG|DETAIL|ERROR|STATEMENT|HINT|CONTEXT|WARNING|FATAL):  (.*)$")


def names_of(client, url):
    """The names of a suite's tests, by running it all."""
    done = subprocess.run(["python3", str(HERE / "run.py"), "--url", url, "--only", client], capture_output=True, text=True)
    return re.findall(rf"^ok {client} (\w+)$", done.stdout, re.M)


def entries(text):
    """(level, message) of a log, with continuation lines."""
    found = []
    for line in text.split("\n"):
        match = ENTRY.match(line)
        if match:
            found.append([match[1], match[2]])
        elif found:
            found[-1][1] += "\n" + line.removeprefix("\t")
    return found


def statements(text):
    """(statement, parameters) in the order of the log."""
    found = []
    for level, message in entries(text):
        match = re.match(r"(?:statement|execute [^:]*): (.*)", message, re.S)
        if level == "LOG" and match:
            found.append((match[1].strip(), []))
        elif level == "DETAIL" and message.startswith("parameters:") and found:
            values = re.findall(r"\$\d+ = (NULL|'(?:[^']|'')*')", message)
            found[-1] = (found[-1][0], [None if v == "NULL" else v[1:-1].replace("''", "'") for v in values])
    return found


def template(text, url):
    """Names and OIDs of that run become words in braces."""
    text = re.sub(r"pc_(jdbc|sqlalchemy)_\d+_(sch|tables|columns|serial|pk|index|schemas|fk|privileges|best)\b", "{schema}", text)
    text = re.sub(r"pc_[a-z]+_\d+_v\b", "{view}", text)
    text = re.sub(r"pc_[a-z]+_\d+_[a-z]+_[a-z]+\b", "{table}", text)
    text = re.sub(r"pc_[a-z]+_\d+_[a-z]+", "{table}", text)
    return re.sub(r"(?<![\w.])\d{5,9}(?![\w.])", lambda n: "{oid}" if int(n[0]) in OIDS else n[0], text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--log", required=True)
    options = parser.parse_args()
    target = FOLDER / "captured"
    for old in target.glob("*.sql"):
        old.unlink()
    for client, (label, wanted) in RUNS.items():
        seen = set()
        for test in names_of(client, options.url):
            if not re.match(wanted, test):
                continue
            start = os.path.getsize(options.log)
            command, more = SUITES[client]()
            environment = {**os.environ, "TZ": "UTC", **more}
            subprocess.run([*command, "--url", options.url, "--match", f"={test}="], capture_output=True, env=environment, cwd=HERE)
            with open(options.log, encoding="utf-8", errors="replace") as log:
                log.seek(start)
                text = log.read()
            queries = []
            for statement, parameters in statements(text):
                statement = template(statement, options.url)
                parameters = [None if value is None else template(value, options.url) for value in parameters]
                key = re.sub(r"\s+", " ", re.sub(r"\d+|\{\w+\}|'[^']*'", "?", statement))
                if key in seen or not CATALOG.search(statement) or OWN.search(statement) or "{oid}" in statement and "$" in statement and not parameters:
                    continue
                seen.add(key)
                queries.append(Query(str(len(queries) + 1), statement, parameters, None))
            if queries:
                head = f"-- What {label} sends by itself in the test `{client} {test}`; from PostgreSQL's log."
                write(target / f"{client}_{test}.sql", head, queries)
                print(f"{client}_{test}: {len(queries)}")


if __name__ == "__main__":
    main()
