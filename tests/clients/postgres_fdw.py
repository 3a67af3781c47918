"""postgres_fdw: a PostgreSQL of our own whose foreign tables are the server's tables."""

import contextlib
import sys
from pathlib import Path

import psycopg

sys.path.append(str(Path(__file__).resolve().parent.parent / "differential"))

import postgres
from harness import Suite, equal, raises


def drop(url, statements):
    with psycopg.connect(url.text, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


_kept = contextlib.ExitStack()
_database = []
suite = Suite("postgres_fdw", drop, _kept.close)

TABLES = """
CREATE TYPE {0}.mood AS ENUM ('sad', 'ok');
CREATE TABLE {0}.author (id serial PRIMARY KEY, email varchar(80) NOT NULL UNIQUE, kind text DEFAULT 'guest', fee numeric(10, 2), born date,
  tags text[], facts jsonb, m {0}.mood, at timestamp, made timestamptz, r real, d double precision, b bytea, u uuid, ok boolean, i interval);
CREATE TABLE {0}.book (id bigint PRIMARY KEY, author_id int REFERENCES {0}.author, title text NOT NULL, sold int DEFAULT 0, CHECK (sold >= 0));
CREATE VIEW {0}.sellers AS SELECT author_id, sum(sold) AS sold FROM {0}.book GROUP BY author_id;
INSERT INTO {0}.author (email, kind, fee, born, tags, facts)
  SELECT 'a' || g || '@x', CASE WHEN g % 3 = 0 THEN 'staff' ELSE 'guest' END, g * 1.5, date '1950-01-01' + g, array['p', 'q' || g], jsonb_build_object('g', g)
  FROM generate_series(1, 500) AS s(g);
INSERT INTO {0}.book SELECT g, 1 + g % 500, 'title ' || g, g % 17 FROM generate_series(1, 3000) AS s(g);
"""


@contextlib.contextmanager
def foreign(t, options=""):
    """Yields a connection to a PostgreSQL in which the schema `far` has foreign tables; the server's own connection, and its schema."""
    schema = t.schema("far")
    with psycopg.connect(t.url.text, autocommit=True) as here, local() as there:
        here.execute(f"CREATE SCHEMA {schema}")
        here.execute(TABLES.format(schema))
        there.execute(
            "DROP SCHEMA IF EXISTS far CASCADE; DROP SERVER IF EXISTS it CASCADE; CREATE SCHEMA far;"
            f"CREATE SERVER it FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{t.url.host}', port '{t.url.port}', dbname '{t.url.database}'{options});"
            f"CREATE USER MAPPING FOR postgres SERVER it OPTIONS (user '{t.url.user}', password_required 'false')"
        )
        here.execute(f"CREATE TABLE {schema}.kept (id int PRIMARY KEY, t text)")
        # Types have the same names here and there.
        there.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; CREATE TYPE {schema}.mood AS ENUM ('sad', 'ok')")
        there.execute(f"IMPORT FOREIGN SCHEMA {schema} FROM SERVER it INTO far OPTIONS (import_default 'false')")
        there.execute("SET search_path = far")
        yield there, here, schema


@contextlib.contextmanager
def local():
    """A connection to our PostgreSQL, which is started with the first."""
    if not _database:
        _database.append(_kept.enter_context(postgres.cluster(["fdw"]))("fdw"))
        with psycopg.connect(_database[0], autocommit=True) as connection:
            connection.execute("CREATE EXTENSION postgres_fdw")
    with psycopg.connect(_database[0], autocommit=True) as connection:
        yield connection


def rows(connection, text):
    return connection.execute(text).fetchall()


def remote(connection, text):
    """The statements that the plan of a statement sends."""
    plan = [line for (line,) in rows(connection, f"EXPLAIN (VERBOSE, COSTS OFF) {text}")]
    return [line.split("Remote SQL: ")[1] for line in plan if "Remote SQL" in line]


@suite.test
def import_foreign_schema(t):
    with foreign(t) as (there, _here, schema):
        equal(rows(there, "SELECT relname FROM pg_class WHERE relkind = 'f' ORDER BY 1"), [("author",), ("book",), ("kept",), ("sellers",)])
        columns = "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 'author'::regclass AND attnum > 0 ORDER BY attnum"
        equal(rows(there, columns), [
            ("id", "integer", True), ("email", "character varying(80)", True), ("kind", "text", False), ("fee", "numeric(10,2)", False), ("born", "date", False),
            ("tags", "text[]", False), ("facts", "jsonb", False), ("m", f"{schema}.mood", False), ("at", "timestamp without time zone", False),
            ("made", "timestamp with time zone", False), ("r", "real", False), ("d", "double precision", False), ("b", "bytea", False), ("u", "uuid", False),
            ("ok", "boolean", False), ("i", "interval", False),
        ])  # fmt: skip
        there.execute("CREATE SCHEMA few")
        there.execute(f"IMPORT FOREIGN SCHEMA {schema} LIMIT TO (book) FROM SERVER it INTO few OPTIONS (import_default 'true', import_not_null 'false')")
        equal(rows(there, "SELECT column_default, is_nullable FROM information_schema.columns WHERE table_schema = 'few' ORDER BY ordinal_position"),
              [(None, "YES"), (None, "YES"), (None, "YES"), ("0", "YES")])  # fmt: skip
        there.execute("DROP SCHEMA few CASCADE")


@suite.test
def conditions_are_pushed_down(t):
    with foreign(t) as (there, _here, schema):
        query = "SELECT email, fee, born, tags, facts FROM author WHERE id < 4 AND kind = 'guest'"
        equal(remote(there, query), [f"SELECT email, fee, born, tags, facts FROM {schema}.author WHERE ((id < 4)) AND ((kind = 'guest'))"])
        equal([(row[0], str(row[1]), str(row[2]), row[3], row[4]) for row in rows(there, query)],
              [("a1@x", "1.50", "1950-01-02", ["p", "q1"], {"g": 1}), ("a2@x", "3.00", "1950-01-03", ["p", "q2"], {"g": 2})])  # fmt: skip
        for condition, found in [
            ("email = ANY (array['a1@x', 'a2@x', 'zz'])", 2), ("born BETWEEN '1950-01-02' AND '1950-01-11'", 10), ("fee IS NULL OR fee * 2 > 1496", 2),
            ("email LIKE 'a1_@x' AND email ~ '[12]@'", 2), ("kind <> 'guest' AND NOT ok IS TRUE", 166), ("coalesce(lower(kind), '') = 'staff'", 166),
            ("at IS NOT NULL OR length(email) = 4", 9), ("tags[2] = 'q7'", 1), ("facts @> '{\"g\": 9}'", 1), ("at > now()", 0), ("abs(id - 5) <= 2", 5),
        ]:  # fmt: skip
            equal(rows(there, f"SELECT count(*) FROM author WHERE {condition}"), [(found,)], condition)


@suite.test
def joins_aggregates_and_orders(t):
    with foreign(t, ", fdw_tuple_cost '100'") as (there, _here, _schema):
        grouped = "SELECT kind, count(*), sum(sold), max(fee)::text FROM author a JOIN book b ON b.author_id = a.id WHERE fee > 10 GROUP BY kind ORDER BY kind"
        assert len(remote(there, grouped)) == 1, remote(there, grouped)
        equal(rows(there, grouped), [("guest", 1980, 15828, "750.00"), ("staff", 984, 7875, "747.00")])
        outer = "SELECT a.id, b.title FROM author a LEFT JOIN book b ON b.author_id = a.id AND b.sold > 15 WHERE a.id < 30 ORDER BY 1, 2 LIMIT 3"
        assert len(remote(there, outer)) == 1, remote(there, outer)
        equal(rows(there, outer), [(1, None), (2, None), (3, "title 1002")])
        equal(rows(there, "SELECT count(*) FROM author a WHERE EXISTS (SELECT 1 FROM book b WHERE b.author_id = a.id AND b.sold = 16)"), [(176,)])
        equal(rows(there, "SELECT count(*) FROM book x FULL JOIN book y ON x.id = y.id + 1"), [(3001,)])
        equal(rows(there, "SELECT author_id, sold FROM sellers WHERE author_id < 3 ORDER BY sold DESC NULLS LAST"), [(1, 45), (2, 43)])
        equal(rows(there, "SELECT sold, count(*) FROM book GROUP BY sold HAVING count(*) > 176 ORDER BY sold DESC LIMIT 2"), [(8, 177), (7, 177)])
        lateral = "SELECT a.id, x.title FROM author a, LATERAL (SELECT title FROM book b WHERE b.author_id = a.id ORDER BY b.id LIMIT 1) x WHERE a.id IN (7, 9) ORDER BY 1"
        equal(rows(there, lateral), [(7, "title 6"), (9, "title 8")])


@suite.test
def cursors_of_many_rows(t):
    with foreign(t, ", fetch_size '7'") as (there, _here, _schema):
        equal(rows(there, "SELECT count(*), sum(length(title)) FROM (SELECT * FROM book OFFSET 0) b WHERE random() < 2"), [(3000, 28893)])
        with there.transaction():
            there.execute("DECLARE c CURSOR FOR SELECT id FROM author ORDER BY id")
            equal(rows(there, "FETCH 3 FROM c"), [(1,), (2,), (3,)])
            there.execute("MOVE 200 FROM c")
            equal(rows(there, "FETCH c"), [(204,)])
        there.execute("CREATE TEMP TABLE local (id int); INSERT INTO local VALUES (3), (5); ANALYZE local")
        equal(rows(there, "SELECT a.email FROM local l JOIN author a ON a.id = l.id ORDER BY 1"), [("a3@x",), ("a5@x",)])
        prepared = [rows(there, f"SELECT email FROM author WHERE id = (SELECT {n})")[0][0] for n in range(1, 4)]
        equal(prepared, ["a1@x", "a2@x", "a3@x"])


@suite.test
def insert_and_types(t):
    with foreign(t) as (there, here, schema):
        values = ("2024-01-02 03:04:05.678", "2024-05-05 10:00+02", "1.1", "2.2", r"\x00ff", "00000000-0000-0000-0000-000000000001", "t", "1 day 02:00:00")
        made = there.execute(
            "INSERT INTO author (id, email, m, at, made, r, d, b, u, ok, i) VALUES (1001, 'n@x', 'ok', %s, %s, %s, %s, %s, %s, %s, %s) "
            "RETURNING m::text, at::text, r::text, d::text, b::text, u::text, ok, i::text", values).fetchall()  # fmt: skip
        equal(made, [("ok", values[0], *values[2:6], True, values[7])])
        equal(rows(here, f"SELECT m::text, at::text, made = '2024-05-05 08:00Z', r::text, d, u::text, kind FROM {schema}.author WHERE id = 1001"),
              [("ok", values[0], True, "1.1", 2.2, values[5], None)])  # fmt: skip
        there.execute("INSERT INTO book SELECT 10000 + g, 1001, 'new ' || g FROM generate_series(1, 250) AS s(g)")
        there.execute("ALTER FOREIGN TABLE book OPTIONS (ADD batch_size '60')")
        there.execute("INSERT INTO book SELECT 20000 + g, 1001, 'new ' || g FROM generate_series(1, 250) AS s(g)")
        equal(rows(here, f"SELECT count(*) FROM {schema}.book WHERE id > 10000"), [(500,)])
        with there.cursor().copy("COPY kept FROM STDIN") as copy:
            for number in range(300):
                copy.write_row((number, f"t{number}"))
        equal(rows(here, f"SELECT count(*), max(t) FROM {schema}.kept"), [(300, "t99")])
        there.execute("TRUNCATE kept")
        equal(rows(here, f"SELECT count(*) FROM {schema}.kept"), [(0,)])


@suite.test
def update_and_delete_that_are_pushed_down(t):
    with foreign(t) as (there, here, schema):
        update = "UPDATE book SET sold = sold + 1 WHERE id > 2990 RETURNING id, sold"
        equal(remote(there, update), [f"UPDATE {schema}.book SET sold = (sold + 1) WHERE ((id > 2990)) RETURNING id, sold"])
        equal(len(rows(there, update)), 10)
        joined = "UPDATE book b SET title = a.email FROM author a WHERE a.id = b.author_id AND a.id = 7 AND b.id < 1000"
        equal(there.execute(joined).rowcount, 2)
        equal(rows(here, f"SELECT id, title FROM {schema}.book WHERE title LIKE 'a%' ORDER BY id"), [(6, "a7@x"), (506, "a7@x")])
        equal(there.execute("DELETE FROM book WHERE sold = 16").rowcount, 175)
        equal(there.execute("DELETE FROM book USING author a WHERE a.id = author_id AND a.kind = 'staff'").rowcount > 900, True)


@suite.test
def update_and_delete_by_ctid(t):
    """What cannot be pushed down reads the rows' places, and changes them by these."""
    with foreign(t) as (there, here, schema):
        there.execute("CREATE TEMP TABLE local (id int, t text); INSERT INTO local VALUES (4, 'x'), (5, 'y')")
        equal(there.execute("UPDATE book b SET title = l.t FROM local l WHERE l.id = b.id").rowcount, 2)
        equal(there.execute("DELETE FROM book b USING local l WHERE l.id = b.id AND b.title = 'x'").rowcount, 1)
        equal(rows(here, f"SELECT id, title FROM {schema}.book WHERE id IN (4, 5)"), [(5, "y")])


@suite.test
def errors(t):
    with foreign(t) as (there, _here, schema):
        with raises(psycopg.errors.UniqueViolation) as unique:
            there.execute("INSERT INTO author (id, email) VALUES (1, 'p@x')")
        equal(unique.error.diag.message_detail, "Key (id)=(1) already exists.")
        with raises(psycopg.errors.ForeignKeyViolation):
            there.execute("INSERT INTO book VALUES (9999, 99999, 'x')")
        with raises(psycopg.errors.CheckViolation):
            there.execute("UPDATE book SET sold = -1 WHERE id = 5")
        with raises(psycopg.errors.NotNullViolation):
            there.execute("INSERT INTO book VALUES (9999, 1, NULL)")
        there.execute("INSERT INTO author (id, email) VALUES (1, 'p@x') ON CONFLICT DO NOTHING")
        there.execute(f"CREATE FOREIGN TABLE wrong (nothing text) SERVER it OPTIONS (schema_name '{schema}', table_name 'author')")
        with raises(psycopg.errors.UndefinedColumn):
            there.execute("SELECT nothing FROM wrong")
        with raises(psycopg.errors.DivisionByZero):
            there.execute("SELECT count(*) FROM book WHERE 10 / (id - 5) > 1")


@suite.test
def transactions_and_savepoints(t):
    with foreign(t) as (there, here, schema):
        with raises(ZeroDivisionError), there.transaction():
            there.execute("INSERT INTO author (id, email) VALUES (2000, 'undone@x')")
            raise ZeroDivisionError
        with there.transaction():
            there.execute("INSERT INTO author (id, email) VALUES (2001, 'tx@x')")
            with raises(ZeroDivisionError), there.transaction():
                there.execute("INSERT INTO author (id, email) VALUES (2002, 'tx2@x')")
                raise ZeroDivisionError
            with raises(psycopg.errors.UniqueViolation), there.transaction():
                there.execute("INSERT INTO author (id, email) VALUES (2002, 'a1@x')")
            with there.transaction():
                there.execute("UPDATE author SET kind = 'z' WHERE id = 2001")
            equal(rows(there, "SELECT id FROM author WHERE id >= 2000"), [(2001,)])
            equal(rows(here, f"SELECT id FROM {schema}.author WHERE id >= 2000"), [])
        equal(rows(here, f"SELECT id, kind FROM {schema}.author WHERE id >= 2000"), [(2001, "z")])
        with there.transaction():
            there.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
            equal(rows(there, "SELECT count(*) FROM author"), [(501,)])
            here.execute(f"DELETE FROM {schema}.author WHERE id = 2001")
            equal(rows(there, "SELECT count(*) FROM author"), [(501,)])
        with there.transaction():
            equal(rows(there, "SELECT email FROM author WHERE id = 1 FOR UPDATE"), [("a1@x",)])
            with psycopg.connect(t.url.text, autocommit=True) as other, raises(psycopg.errors.LockNotAvailable):
                other.execute(f"SELECT 1 FROM {schema}.author WHERE id = 1 FOR UPDATE NOWAIT")


@suite.test
def analyze_and_partitions(t):
    with foreign(t) as (there, here, schema):
        there.execute("ANALYZE author; ANALYZE book")
        equal(rows(there, "SELECT relname, reltuples::int FROM pg_class WHERE relname IN ('author', 'book') AND relkind = 'f' ORDER BY 1"),
              [("author", 500), ("book", 3000)])  # fmt: skip
        equal(rows(there, "SELECT n_distinct::int FROM pg_stats WHERE tablename = 'book' AND attname = 'sold'"), [(17,)])
        there.execute("CREATE TABLE far.whole (id int, t text) PARTITION BY RANGE (id); CREATE TABLE far.near PARTITION OF whole FOR VALUES FROM (100) TO (200)")
        there.execute(f"CREATE FOREIGN TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (100) SERVER it OPTIONS (schema_name '{schema}', table_name 'kept')")
        there.execute("INSERT INTO whole VALUES (1, 'a'), (150, 'b'), (2, 'c')")
        equal(rows(there, "SELECT tableoid::regclass::text, id FROM whole ORDER BY id"), [("part", 1), ("part", 2), ("near", 150)])
        equal(rows(here, f"SELECT id, t FROM {schema}.kept ORDER BY id"), [(1, "a"), (2, "c")])
        there.execute("ALTER SERVER it OPTIONS (ADD async_capable 'true')")
        equal(rows(there, "SELECT count(*) FROM whole"), [(3,)])


@suite.test
def remote_estimates(t):
    with foreign(t, ", use_remote_estimate 'true'") as (there, _here, _schema):
        equal(rows(there, "SELECT a.email, count(*) FROM author a JOIN book b ON b.author_id = a.id WHERE a.id < 3 GROUP BY a.email ORDER BY 1"),
              [("a1@x", 6), ("a2@x", 6)])  # fmt: skip


if __name__ == "__main__":
    suite.main()
