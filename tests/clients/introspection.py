"""The catalog queries that drivers and tools send, each against a schema of ours.

`introspection/*.sql` are shaped like what tools ask that cannot run here (DBeaver, Grafana, Metabase, pgAdmin,
Npgsql, Prisma, DataGrip): the same relations, columns and functions of the catalog, in words of our own.
`introspection/captured/*.sql` is what PostgreSQL's log saw of the clients of the other suites (`capture.py`).

A file has a head of comments and then statements. Each statement begins with `-- query NAME`, may have lines
`-- parameters: JSON list` and `-- rows: JSON list of rows`, and may use {schema}, {table}, {view}, {oid} (the
table's), {namespace} (the schema's OID), {database} and {user}. No statement may fail. Where rows are given they
must come, in any order; "*" stands for any value, null for NULL, and every other value is given as text
(expressions are compared by `plain`).

    introspection.py --url URL --record    writes down what the server answers: only ever with PostgreSQL
"""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import psycopg

from harness import Suite, Url

FOLDER = Path(__file__).resolve().parent / "introspection"

# Columns whose values say how a server stores things, or which moment it is; any value will do.
ANYTHING = re.compile(
    "size|xmin|oid$|relid|relpages|reltuples|relfilenode|frozenxid|minmxid|allvisible|attcacheoff|relation_size"
    "|relam|amname|access method|^ctid|acl|privileges|reloptions|attstorage|attcompression|collation|statistics|cardinality|^pages$", re.I
)  # fmt: skip
# A query named `..._whole` takes every column that a server has: it must only work.
# Rows are recorded up to this number; a longer list is the server's own catalog, where counts may differ.
ROWS_MAX = 20
# OIDs that a young server gives out; the modifiers of types are higher.
OIDS = range(16384, 500_000)


@dataclass
class Query:
    """A statement of a file, with what it is asked and answered."""

    name: str
    text: str
    parameters: list
    rows: list | None


def read(path):
    """The head of a file and its queries."""
    head, *parts = re.split(r"^-- query ", path.read_text(), flags=re.M)
    queries = []
    for part in parts:
        name, _, rest = part.partition("\n")
        about, lines = {}, []
        for line in rest.split("\n"):
            found = re.match(r"-- (parameters|rows): (.*)", line)
            if found and not lines:
                about[found[1]] = json.loads(found[2])
            else:
                lines.append(line)
        queries.append(Query(name.strip(), "\n".join(lines).strip(), about.get("parameters", []), about.get("rows")))
    return head.rstrip(), queries


def write(path, head, queries):
    """The form that `read` reads."""
    text = head + "\n"
    for query in queries:
        text += f"\n-- query {query.name}\n"
        if query.parameters:
            text += f"-- parameters: {json.dumps(query.parameters)}\n"
        if query.rows is not None:
            text += f"-- rows: {json.dumps(query.rows, ensure_ascii=False)}\n"
        text += query.text + "\n"
    path.write_text(text)


class Fixture:
    """A schema with two tables and a view, and a connection that has it first in its path."""

    def __init__(self, t):
        self.schema = t.schema("intro")
        self.connection = psycopg.connect(t.url.text, autocommit=True)
        run = self.connection.execute
        run(f"CREATE SCHEMA {self.schema}")
        run(f"SET search_path = {self.schema}, public")
        run(
            f"CREATE TABLE {self.schema}.things (a integer NOT NULL, b varchar(20) NOT NULL DEFAULT 'none', c numeric(12,3),"
            " d timestamptz, e text[], f double precision DEFAULT 1.5, PRIMARY KEY (b, a), CONSTRAINT positive CHECK (c > 0))"
        )
        run(f"COMMENT ON TABLE {self.schema}.things IS 'all of it'")
        run(f"COMMENT ON COLUMN {self.schema}.things.c IS 'a number'")
        run(f"CREATE TABLE {self.schema}.ser (id serial PRIMARY KEY, v text)")
        run(f"CREATE VIEW {self.schema}.seen AS SELECT a, b FROM {self.schema}.things")
        (oid, namespace) = run(
            "SELECT c.oid, n.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
            f" WHERE c.relname = 'things' AND n.nspname = '{self.schema}'"
        ).fetchone()
        self.words = {
            "schema": self.schema, "table": "things", "view": "seen", "oid": str(oid), "namespace": str(namespace),
            "database": t.url.database, "user": t.url.user,
        }  # fmt: skip

    def fill(self, text):
        return re.sub(r"\{(\w+)\}", lambda found: self.words.get(found[1], found[0]), text)

    def template(self, value):
        """The other way: what belongs to this run becomes a word in braces, or anything."""
        for word in ("schema", "database", "user"):
            value = re.sub(rf"\b{re.escape(self.words[word])}\b", f"{{{word}}}", value)
        return value

    def ask(self, query):
        """Names of columns and rows as text; a statement of several commands gives its last rows."""
        cursor = psycopg.RawCursor(self.connection) if query.parameters else psycopg.ClientCursor(self.connection)
        text = self.fill(query.text)
        if query.parameters:
            cursor.execute(text, [value if value is None else self.fill(value) for value in query.parameters])
        else:
            cursor.execute(text)
        while cursor.nextset():
            pass
        if cursor.description is None:
            return [], []
        return [column.name for column in cursor.description], [[_text(value) for value in row] for row in cursor.fetchall()]


def _text(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, dict)):
        return json.dumps(value, default=str)
    return str(value).lower() if isinstance(value, bool) else str(value)


def plain(text):
    """An expression without what a server may spell otherwise: casts, parentheses, qualifiers, blanks, capitals."""
    if text is None or not re.search(r"'|::|\(|\bselect\b", text, re.I):
        return text
    text = re.sub(r"::[a-z]+( varying| precision| with(out)? time zone)?(\([\d,]+\))?(\[\])?", "", text, flags=re.I)
    return re.sub(r"\w+\.(?=[\w\"])|[\s()]", "", text).lower()


def alike(expected, got):
    return len(expected) == len(got) and all(e == "*" or e == g or plain(e) == plain(g) for e, g in zip(expected, got))


def compare(expected, got):
    """Each expected row once, and no other."""
    left = list(got)
    for row in expected:
        match = next((each for each in left if alike(row, each)), None)
        assert match is not None, f"the row {row} did not come; what came: {left}"
        left.remove(match)
    assert not left, f"rows too many: {left}"


def drop(url, statements):
    with psycopg.connect(url.text, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


suite = Suite("introspection", drop)


def files():
    return sorted(FOLDER.glob("*.sql")) + sorted((FOLDER / "captured").glob("*.sql"))


def check_file(path):
    """All queries of a file; the answer names each that fails."""

    def check(t):
        _head, queries = read(path)
        fixture, problems = Fixture(t), []
        for query in queries:
            try:
                _names, got = fixture.ask(query)
                if query.rows is not None:
                    compare([[v if v is None else fixture.fill(v) for v in row] for row in query.rows], got)
            except (psycopg.Error, AssertionError) as problem:
                problems.append(f"{query.name}: {' '.join(str(problem).split())[:1000]}")
        assert not problems, f"{len(problems)} of {len(queries)}: " + "\n".join(problems)

    return check


for each in files():
    suite.add(each.stem, check_file(each))


def record(url):
    """Writes the rows that PostgreSQL gives into every file."""
    from harness import Context

    for path in files():
        t = Context(Url(url), "introspection")
        head, queries = read(path)
        try:
            fixture = Fixture(t)
            for query in queries:
                query.rows = recorded(fixture, query)
        finally:
            suite._clean(t.url, t)
        write(path, head, queries)


def recorded(fixture, query):
    """The rows to expect: only where a query is about our schema, and with "*" for what is the server's affair."""
    names, rows = fixture.ask(query)
    about_us = re.search(r"\{(schema|oid|namespace|table|view)\}", query.text + json.dumps(query.parameters))
    if not about_us or len(rows) > ROWS_MAX or query.name.endswith("_whole"):
        return None
    return [[_recorded_value(fixture, name, value) for name, value in zip(names, row)] for row in rows]


def _recorded_value(fixture, name, value):
    if value is None:
        return None
    if ANYTHING.search(name) or any(int(number) in OIDS for number in re.findall(r"\b\d{5,9}\b", value)):
        return "*"
    return fixture.template(value)


if __name__ == "__main__":
    if "--record" in sys.argv:
        record(sys.argv[sys.argv.index("--url") + 1])
    else:
        suite.main()
