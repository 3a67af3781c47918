"""psycopg 3: transactions, cursors, prepared statements, COPY, pipelines, types, cancelling, errors."""

import datetime as dt
import decimal
import threading
import time
import uuid

import psycopg
from psycopg import sql
from psycopg.rows import dict_row, namedtuple_row
from psycopg.types.json import Json

from harness import Suite, contains, equal, raises


def drop(url, statements):
    with psycopg.connect(url.text, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


suite = Suite("psycopg", drop)


def connect(t, **options):
    return psycopg.connect(t.url.text, **options)


def numbers(t, connection, rows=10):
    """A table `(id int primary key, v text)` with that many rows, committed."""
    name = t.table()
    connection.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, v text)")
    connection.execute(f"INSERT INTO {name} SELECT g, 'v' || g FROM generate_series(1, {rows}) AS s(g)")
    connection.commit()
    return name


def count(connection, name):
    return connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]


# --- connection ----------------------------------------------------------------------------------------------------


@suite.test
def connection_information(t):
    """What the server said at the start, as `connection.info` shows it."""
    with connect(t, application_name="pc") as c:
        info = c.info
        equal((info.host, info.port, info.user, info.dbname), (t.url.host, t.url.port, t.url.user, t.url.database))
        assert info.server_version >= 140000, info.server_version
        equal(info.encoding, "utf-8")
        equal(info.parameter_status("server_encoding"), "UTF8")
        equal(info.parameter_status("standard_conforming_strings"), "on")
        equal(info.parameter_status("integer_datetimes"), "on")
        equal(info.parameter_status("application_name"), "pc")
        assert info.parameter_status("DateStyle").startswith("ISO"), info.parameter_status("DateStyle")
        assert info.timezone is not None and info.backend_pid > 0
        equal(info.transaction_status, psycopg.pq.TransactionStatus.IDLE)
        equal(c.execute("SELECT pg_backend_pid()").fetchone()[0], info.backend_pid)


@suite.test
def reported_settings(t):
    """A SET of a reported setting is reported."""
    with connect(t, autocommit=True) as c:
        c.execute("SET application_name = 'renamed'")
        equal(c.info.parameter_status("application_name"), "renamed")
        c.execute("SET TIME ZONE 'UTC'")
        equal(c.info.parameter_status("TimeZone"), "UTC")
        c.execute("SELECT set_config('application_name', 'again', false)")
        equal(c.info.parameter_status("application_name"), "again")


@suite.test
def options_at_connect(t):
    with connect(t, options="-c search_path=pg_catalog -c statement_timeout=9000") as c:
        equal(c.execute("SHOW search_path").fetchone(), ("pg_catalog",))
        equal(c.execute("SHOW statement_timeout").fetchone(), ("9s",))


@suite.test
def many_connections(t):
    """Fifty at once, each answering."""
    all_of_them = [connect(t) for _ in range(50)]
    for i, c in enumerate(all_of_them):
        equal(c.execute("SELECT %s::int", [i]).fetchone(), (i,))
    for c in all_of_them:
        c.close()


# --- transactions --------------------------------------------------------------------------------------------------


@suite.test
def default_transactions(t):
    """BEGIN is sent before the first statement; others see nothing before COMMIT."""
    with connect(t) as c, connect(t, autocommit=True) as other:
        name = numbers(t, c)
        c.execute(f"DELETE FROM {name} WHERE id = 1")
        equal(c.info.transaction_status, psycopg.pq.TransactionStatus.INTRANS)
        equal((count(c, name), count(other, name)), (9, 10))
        c.commit()
        equal(count(other, name), 9)


@suite.test
def rollback(t):
    with connect(t) as c:
        name = numbers(t, c)
        c.execute(f"DELETE FROM {name}")
        c.rollback()
        equal(count(c, name), 10)


@suite.test
def failed_transaction(t):
    with connect(t) as c:
        name = numbers(t, c)
        c.execute(f"DELETE FROM {name}")
        with raises(psycopg.errors.UndefinedTable):
            c.execute("SELECT * FROM no_such_table")
        equal(c.info.transaction_status, psycopg.pq.TransactionStatus.INERROR)
        with raises(psycopg.errors.InFailedSqlTransaction, "25P02"):
            c.execute("SELECT 1")
        c.rollback()
        equal(count(c, name), 10)


@suite.test
def nested_transactions(t):
    """`connection.transaction()` blocks are savepoints inside one another."""
    with connect(t) as c:
        name = numbers(t, c)
        with c.transaction():
            c.execute(f"DELETE FROM {name} WHERE id = 1")
            try:
                with c.transaction():
                    c.execute(f"DELETE FROM {name}")
                    c.execute("SELECT 1/0")
            except psycopg.errors.DivisionByZero:
                pass
            with c.transaction():
                c.execute(f"DELETE FROM {name} WHERE id = 2")
        equal(count(c, name), 8)


@suite.test
def autocommit(t):
    with connect(t, autocommit=True) as c, connect(t, autocommit=True) as other:
        name = numbers(t, c)
        c.execute(f"DELETE FROM {name} WHERE id = 1")
        equal(c.info.transaction_status, psycopg.pq.TransactionStatus.IDLE)
        equal(count(other, name), 9)


@suite.test
def transaction_characteristics(t):
    """Isolation level, read only: psycopg puts them into its BEGIN."""
    with connect(t) as c:
        name = numbers(t, c)
        c.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        c.read_only = True
        equal(c.execute("SHOW transaction_isolation").fetchone(), ("repeatable read",))
        with raises(psycopg.errors.ReadOnlySqlTransaction, "25006"):
            c.execute(f"DELETE FROM {name}")
        c.rollback()


@suite.test
def write_conflict(t):
    """The second writer of a row in a snapshot gets 40001, and may try again."""
    with connect(t) as a, connect(t) as b:
        name = numbers(t, a)
        for c in (a, b):
            c.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            count(c, name)
        a.execute(f"UPDATE {name} SET v = 'a' WHERE id = 1")
        a.commit()
        with raises(psycopg.errors.SerializationFailure, "40001"):
            b.execute(f"UPDATE {name} SET v = 'b' WHERE id = 1")
            b.commit()
        b.rollback()
        b.execute(f"UPDATE {name} SET v = 'b' WHERE id = 1")
        b.commit()
        equal(a.execute(f"SELECT v FROM {name} WHERE id = 1").fetchone(), ("b",))


# --- queries -------------------------------------------------------------------------------------------------------


@suite.test
def results(t):
    """Description, row count, row factories, iteration."""
    with connect(t) as c:
        name = numbers(t, c)
        cursor = c.execute(f"SELECT id, v, 1.5::numeric(6,2) AS n FROM {name} WHERE id <= 3 ORDER BY id")
        equal([d.name for d in cursor.description], ["id", "v", "n"])
        equal([d.type_code for d in cursor.description], [23, 25, 1700])
        equal((cursor.description[2].precision, cursor.description[2].scale), (6, 2))
        equal((cursor.rowcount, cursor.statusmessage), (3, "SELECT 3"))
        equal([row[0] for row in cursor], [1, 2, 3])
        equal(c.execute(f"UPDATE {name} SET v = 'x' WHERE id < 4").rowcount, 3)
        equal(c.cursor(row_factory=dict_row).execute(f"SELECT id, v FROM {name} WHERE id = 9").fetchone(), {"id": 9, "v": "v9"})
        equal(c.cursor(row_factory=namedtuple_row).execute("SELECT 1 AS one").fetchone().one, 1)
        equal(c.execute("SELECT 1 WHERE false").fetchone(), None)


@suite.test
def parameters_have_the_types_that_clients_give(t):
    """Oids in Parse: described as they are given, whatever the statement makes of them."""
    arrays = {1009: b"{x}", 1015: b'{"a,b",NULL}', 2951: b"{00000000-0000-0000-0000-000000000001}", 1007: b"{1,2}"}
    scalars = {18: b"c", 19: b"nm", 26: b"5", 114: b'{"a":1}', 1042: b"ab ", 1043: b"ab", 3802: b'{"a": 1}',
               2950: b"00000000-0000-0000-0000-000000000001"}
    names = {18: b'"char"', 1042: b"character", 1043: b"character varying", 2950: b"uuid", 26: b"oid", 3802: b"jsonb"}
    with connect(t, autocommit=True) as c:
        for oid in (16, 19, 21, 23, 25, 26, 114, 1042, 1043, 1700, 2950, 3802, *arrays):
            equal(c.pgconn.prepare(b"", b"SELECT $1", [oid]).status, psycopg.pq.ExecStatus.COMMAND_OK)
            equal(c.pgconn.describe_prepared(b"").param_type(0), oid)
        for oid, value in arrays.items():
            for text, kind in ((b"SELECT $1", oid), (b"SELECT $1::text", 25), (b"SELECT $1::text || ''", 25)):
                found = c.pgconn.exec_params(text, [value], [oid])
                equal((found.ftype(0), found.get_value(0, 0)), (kind, value))
        for oid, value in scalars.items():
            for text in (b"SELECT $1", b"SELECT $1 UNION ALL SELECT $1", b"SELECT coalesce($1, $1), 1", b"VALUES ($1)"):
                c.pgconn.prepare(b"", text, [oid])
                for _ in range(4):
                    found = c.pgconn.exec_prepared(b"", [value])
                    equal((found.ftype(0), found.get_value(0, 0)), (oid, value))
        for oid, name in names.items():
            found = c.pgconn.exec_params(b"SELECT pg_typeof($1)::text", [scalars[oid]], [oid])
            equal(found.get_value(0, 0), name)
        name = t.table()
        c.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, ref uuid, v text)")
        for condition in ("ref = $1", "ref < $1", "id = 1 AND ref = $1", "v = $1::uuid"):
            refused = c.pgconn.exec_params(f"SELECT id FROM {name} WHERE {condition}".encode(), [b"x"], [1043])
            equal(refused.error_field(psycopg.pq.DiagnosticField.SQLSTATE), b"42883")
        joined = c.pgconn.exec_params(b"SELECT array_to_string($1, '+')", [b"{x,y}"], [1009])
        equal(joined.get_value(0, 0), b"x+y")
        found = c.pgconn.exec_params(b"SELECT count(*) FROM pg_class WHERE relname = ANY ($1)", [b"{pg_class,x}"], [1003])
        equal(found.get_value(0, 0), b"1")


@suite.test
def declared_types_count_with_others(t):
    """Parameters with and without a declared type in one statement, and in plans that are kept."""
    number = b"00000000-0000-0000-0000-000000000001"
    with connect(t, autocommit=True) as c:
        name = t.table()
        c.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, u uuid, c char(3))")
        c.execute(f"INSERT INTO {name} VALUES (1, %s, NULL)", [uuid.UUID(int=1)])
        for text, types, values, kind, expected in (
            (f"SELECT coalesce(c, $2) FROM {name} WHERE u = $1", [2950, 0], [number, b"x"], 1042, b"x"),
            ("SELECT coalesce($1, $2)", [25, 1043], [b"a", b"b"], 25, b"a"),
            ("SELECT $1 || $2", [25, 3802], [b"a", b"[1]"], 25, b"a[1]"),
            (f"SELECT jsonb_build_object('v', $1) FROM {name}", [3802], [b'{"x": 1}'], 3802, b'{"v": {"x": 1}}'),
            (f"SELECT jsonb_build_object('v', $1::jsonb) FROM {name}", [0], [b'{"x": 1}'], 3802, b'{"v": {"x": 1}}'),
            (f"SELECT to_jsonb($1) FROM {name}", [3807], [b'{"{\\"x\\": 1}"}'], 3802, b'[{"x": 1}]'),
        ):
            c.pgconn.prepare(b"", text.encode(), types)
            for _ in range(4):
                found = c.pgconn.exec_prepared(b"", values)
                equal((found.ftype(0), found.get_value(0, 0)), (kind, expected))
        c.execute("PREPARE letters(\"char\") AS SELECT $1")
        equal(c.execute("EXECUTE letters('c')").fetchone()[0], "c")


@suite.test
def description_has_table_sizes(t):
    """Type sizes and modifiers in the row description."""
    with connect(t) as c:
        name = t.table()
        c.execute(f"CREATE TABLE {name} (a int PRIMARY KEY, b varchar(20), c text)")
        description = c.execute(f"SELECT a, b, c FROM {name}").description
        equal([d.internal_size for d in description], [4, None, None])
        equal([d.display_size for d in description], [None, 20, None])


@suite.test
def parameters(t):
    """Typed by psycopg, or left to the server."""
    with connect(t) as c:
        name = numbers(t, c)
        equal(c.execute("SELECT %s + 1, %s || 'b', %s::text IS NULL", [41, "a", None]).fetchone(), (42, "ab", True))
        equal(c.execute("SELECT %(x)s::int * %(x)s::int", {"x": 7}).fetchone(), (49,))
        equal(c.execute(f"SELECT v FROM {name} WHERE id = ANY(%s) ORDER BY id", [[1, 3]]).fetchall(), [("v1",), ("v3",)])
        equal(c.execute(f"SELECT count(*) FROM {name} WHERE v LIKE %s", ["v1%"]).fetchone(), (2,))
        equal(c.execute(f"SELECT id FROM {name} ORDER BY id LIMIT %s OFFSET %s", [2, 4]).fetchall(), [(5,), (6,)])
        equal(c.execute(f"SELECT id FROM {name} WHERE id BETWEEN %s AND %s AND v <> %s", [1, 2, "v2"]).fetchall(), [(1,)])
        equal(c.execute(f"INSERT INTO {name} VALUES (%s, %s) RETURNING id, v", [100, None]).fetchone(), (100, None))
        equal(c.execute("SELECT %s", ["unknown is text"]).fetchone(), ("unknown is text",))
        equal(c.execute("SELECT CASE WHEN %s THEN 'yes' ELSE 'no' END", [True]).fetchone(), ("yes",))
        equal(c.execute("SELECT coalesce(%s, 5)", [None]).fetchone(), (5,))
        equal(c.execute(sql.SQL("SELECT v FROM {} WHERE {} = 2").format(sql.Identifier(name), sql.Identifier("id"))).fetchone(), ("v2",))


@suite.test
def client_side_parameters(t):
    """ClientCursor merges the values into the text and uses the simple protocol."""
    with connect(t, cursor_factory=psycopg.ClientCursor) as c:
        row = c.execute("SELECT %s, %s, %s::date, %s", [1, "it's \\ \"q\"", dt.date(2024, 2, 29), None]).fetchone()
        equal(row, (1, "it's \\ \"q\"", dt.date(2024, 2, 29), None))
        equal(c.execute("SELECT %s::bytea", [b"\x00\xff'"]).fetchone(), (b"\x00\xff'",))


@suite.test
def raw_parameters(t):
    """RawCursor: `$1` is written by hand."""
    with connect(t, cursor_factory=psycopg.RawCursor) as c:
        equal(c.execute("SELECT $1::int + $2::int, $1", [2, 3]).fetchone(), (5, 2))


@suite.test
def several_statements(t):
    """Without parameters a text of several statements gives several results."""
    with connect(t) as c:
        cursor = c.execute("SELECT 1; SELECT 2, 3; SELECT 4")
        rows = [cursor.fetchall()]
        while cursor.nextset():
            rows.append(cursor.fetchall())
        equal(rows, [[(1,)], [(2, 3)], [(4,)]])


@suite.test
def executemany(t):
    """Many sets of parameters in one pipeline, with counts and RETURNING."""
    with connect(t) as c:
        name = numbers(t, c, 0)
        cursor = c.cursor()
        cursor.executemany(f"INSERT INTO {name} VALUES (%s, %s)", [(i, str(i)) for i in range(500)])
        equal((cursor.rowcount, count(c, name)), (500, 500))
        cursor.executemany(f"UPDATE {name} SET v = %s WHERE id = %s RETURNING id", [("x", 3), ("y", 4)], returning=True)
        equal([result.fetchone() for result in cursor.results()], [(3,), (4,)])
        with raises(psycopg.errors.UniqueViolation):
            cursor.executemany(f"INSERT INTO {name} VALUES (%s, 'again')", [(1000,), (7,), (1001,)])
        c.rollback()
        equal(count(c, name), 0)


@suite.test
def prepared_statements(t):
    """psycopg prepares after five executions, or at once when told to; a prepared one survives what others do."""
    with connect(t, autocommit=True) as c:
        name = numbers(t, c)
        for i in range(1, 11):
            equal(c.execute(f"SELECT v FROM {name} WHERE id = %s", [i]).fetchone(), (f"v{i}",))
        for i in range(3):
            equal(c.execute("SELECT %s::int * 2", [i], prepare=True).fetchone(), (i * 2,))
        names = c.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT v%'").fetchone()
        equal(names, (1,))
        c.execute("DEALLOCATE ALL")


@suite.test
def prepared_after_ddl(t):
    """A changed table under a prepared statement: a right answer, or PostgreSQL's error 0A000, never a wrong row."""
    with connect(t, autocommit=True) as c, connect(t, autocommit=True) as other:
        name = numbers(t, c)
        equal(c.execute(f"SELECT * FROM {name} WHERE id = 1", prepare=True).fetchone(), (1, "v1"))
        other.execute(f"ALTER TABLE {name} ADD COLUMN extra integer DEFAULT 7")
        try:
            equal(c.execute(f"SELECT * FROM {name} WHERE id = 1", prepare=True).fetchone(), (1, "v1", 7))
        except psycopg.errors.FeatureNotSupported as error:
            contains(str(error), "cached plan must not change result type")
        equal(c.execute(f"SELECT * FROM {name} WHERE id = 2").fetchone(), (2, "v2", 7))


@suite.test
def parameters_typed_by_place(t):
    """With text parameters of unknown type the server infers from where they stand."""
    with connect(t, autocommit=True) as c:
        name = t.table()
        c.execute(f"CREATE TABLE {name} (id bigint PRIMARY KEY, at timestamptz, n numeric(10,2), b boolean, u uuid, j json, l integer[])")
        values = ["5", "2024-05-06 07:08:09+00", "1.25", "true", str(uuid.UUID(int=5)), '{"k": [1]}', "{1,2}"]
        c.execute(f"INSERT INTO {name} VALUES (%s, %s, %s, %s, %s, %s, %s)", values)
        row = c.execute(f"SELECT * FROM {name} WHERE id = %s AND at >= %s AND u = %s", ["5", "2024-01-01", str(uuid.UUID(int=5))]).fetchone()
        equal(row[0], 5)
        equal(row[2:], (decimal.Decimal("1.25"), True, uuid.UUID(int=5), {"k": [1]}, [1, 2]))


# --- cursors on the server ------------------------------------------------------------------------------------------


@suite.test
def server_side_cursor(t):
    """A named cursor: DECLARE, FETCH in portions, CLOSE."""
    with connect(t) as c:
        name = numbers(t, c, 1000)
        with c.cursor("mine") as cursor:
            cursor.execute(f"SELECT id, v FROM {name} WHERE id > %s ORDER BY id", [10])
            equal([d.name for d in cursor.description], ["id", "v"])
            equal(cursor.fetchone(), (11, "v11"))
            equal(len(cursor.fetchmany(100)), 100)
            equal(cursor.fetchone()[0], 112)
            equal(len(cursor.fetchall()), 888)
        with c.cursor("again") as cursor:
            cursor.itersize = 64
            cursor.execute(f"SELECT id FROM {name} ORDER BY id")
            equal(sum(row[0] for row in cursor), 500500)


@suite.test
def server_side_cursor_that_fails(t):
    """The error is that of the FETCH; what comes before it is answered."""
    with connect(t) as c, c.cursor("failing") as cursor:
        cursor.execute("SELECT 1 / (g - 3) FROM generate_series(1, 5) AS s(g)")
        equal(c.execute("SELECT 7 FROM pg_sleep(0.2)").fetchone(), (7,))
        with raises(psycopg.errors.DivisionByZero):
            cursor.fetchall()
        c.rollback()


@suite.test
def server_side_cursor_binary(t):
    with connect(t) as c, c.cursor("bin", binary=True) as cursor:
        cursor.execute("SELECT g::int, g::text, g * 1.5::float8 FROM generate_series(1, 5) AS s(g) ORDER BY 1")
        equal(cursor.fetchmany(2), [(1, "1", 1.5), (2, "2", 3.0)])


@suite.test
def two_cursors_at_once(t):
    with connect(t) as c, c.cursor("one") as one, c.cursor("two") as two:
        one.execute("SELECT g FROM generate_series(1, 5) AS s(g) ORDER BY 1")
        two.execute("SELECT g * 10 FROM generate_series(1, 5) AS s(g) ORDER BY 1")
        equal([(one.fetchone()[0], two.fetchone()[0]) for _ in range(5)], [(i, i * 10) for i in range(1, 6)])
        equal(one.fetchone(), None)


@suite.test
def cursor_sees_its_own_moment(t):
    """Rows that are written after DECLARE do not appear in the cursor."""
    with connect(t) as c:
        name = numbers(t, c)
        with c.cursor("still") as cursor:
            cursor.execute(f"SELECT id FROM {name} ORDER BY id")
            cursor.fetchone()
            c.execute(f"DELETE FROM {name}")
            equal(len(cursor.fetchall()), 9)


@suite.test
def streamed_rows(t):
    """`cursor.stream` takes rows one at a time while they come; leaving early is fine."""
    with connect(t, autocommit=True) as c:
        equal(sum(row[0] for row in c.cursor().stream("SELECT g FROM generate_series(1, 2000) AS s(g)")), 2001000)
        for row in c.cursor().stream("SELECT g FROM generate_series(1, 100000) AS s(g)"):
            break
        equal(c.execute("SELECT 1").fetchone(), (1,))


# --- copy ------------------------------------------------------------------------------------------------------------


@suite.test
def copy_in_rows(t):
    with connect(t) as c:
        name = numbers(t, c, 0)
        with c.cursor() as cursor:
            with cursor.copy(f"COPY {name} (id, v) FROM STDIN") as copy:
                for i in range(3000):
                    copy.write_row((i, None if i % 3 else f"tab\t newline\n back\\ {i}"))
            equal(cursor.rowcount, 3000)
        equal(c.execute(f"SELECT count(*), count(v) FROM {name}").fetchone(), (3000, 1000))
        equal(c.execute(f"SELECT v FROM {name} WHERE id = 3").fetchone(), ("tab\t newline\n back\\ 3",))


@suite.test
def copy_in_csv(t):
    with connect(t) as c:
        name = numbers(t, c, 0)
        with c.cursor().copy(f"COPY {name} FROM STDIN (FORMAT csv, HEADER true, NULL 'null')") as copy:
            copy.write('id,v\n1,"one, ""1"""\n2,null\n3,"null"\n4,\n5,"two\nlines"\n')
        rows = c.execute(f"SELECT v FROM {name} ORDER BY id").fetchall()
        equal([row[0] for row in rows], ['one, "1"', None, "null", "", "two\nlines"])


@suite.test
def copy_in_binary(t):
    with connect(t) as c:
        name = t.table()
        c.execute(f"CREATE TABLE {name} (id bigint PRIMARY KEY, f float8, s text, d date, u uuid, b bytea, n numeric(12,3))")
        rows = [(i, i / 4, f"s{i}", dt.date(2024, 1, 1), uuid.UUID(int=i), bytes([i]), decimal.Decimal(i) / 8) for i in range(200)]
        with c.cursor().copy(f"COPY {name} FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int8", "float8", "text", "date", "uuid", "bytea", "numeric"])
            for row in rows:
                copy.write_row(row)
        equal(c.execute(f"SELECT * FROM {name} ORDER BY id").fetchall(), rows)


@suite.test
def copy_out(t):
    with connect(t) as c:
        name = numbers(t, c, 3)
        with c.cursor().copy(f"COPY {name} TO STDOUT") as copy:
            equal(sorted(bytes(data) for data in copy), [b"1\tv1\n", b"2\tv2\n", b"3\tv3\n"])
        with c.cursor().copy(f"COPY (SELECT id, v FROM {name} ORDER BY id DESC) TO STDOUT (FORMAT csv, HEADER)") as copy:
            equal(b"".join(copy).decode(), "id,v\n3,v3\n2,v2\n1,v1\n")
        for options in ("", "(FORMAT binary)"):
            with c.cursor().copy(f"COPY (SELECT id, v FROM {name} ORDER BY id) TO STDOUT {options}") as copy:
                copy.set_types(["int4", "text"])
                equal(list(copy.rows()), [(1, "v1"), (2, "v2"), (3, "v3")])


@suite.test
def copy_with_parameters(t):
    with connect(t, cursor_factory=psycopg.ClientCursor) as c:
        with c.cursor().copy("COPY (SELECT g FROM generate_series(1, %s) AS s(g) ORDER BY 1) TO STDOUT", [3]) as copy:
            equal(b"".join(copy), b"1\n2\n3\n")


@suite.test
def copy_in_fails(t):
    """A bad row, a key that is there already, and a client that gives up: nothing is stored, all goes on."""
    with connect(t) as c:
        name = numbers(t, c, 5)
        with raises(psycopg.errors.InvalidTextRepresentation, "22P02") as caught:
            with c.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                copy.write("100\tok\nbad\tx\n")
        contains(caught.error.diag.context, f"COPY {name}, line 2, column id")
        c.rollback()
        with raises(psycopg.errors.UniqueViolation, "23505"):
            with c.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                copy.write("101\tok\n3\tx\n")
        c.rollback()
        with raises(psycopg.errors.QueryCanceled, "57014"):
            with c.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                copy.write("102\tok\n")
                raise_ = psycopg.errors.QueryCanceled("canceled")
                raise raise_
        c.rollback()
        equal(count(c, name), 5)


@suite.test
def copy_a_lot(t):
    """A hundred thousand rows in and out through one connection."""
    with connect(t) as c:
        name = numbers(t, c, 0)
        line = "x" * 100
        with c.cursor().copy(f"COPY {name} FROM STDIN") as copy:
            for start in range(0, 100_000, 1000):
                copy.write("".join(f"{i}\t{line}\n" for i in range(start, start + 1000)))
        equal(count(c, name), 100_000)
        with c.cursor().copy(f"COPY {name} TO STDOUT") as copy:
            equal(sum(bytes(data).count(b"\n") for data in copy), 100_000)


# --- pipelines --------------------------------------------------------------------------------------------------------


@suite.test
def pipeline(t):
    """Many statements before the first answer is read."""
    with connect(t, autocommit=True) as c:
        name = numbers(t, c)
        with c.pipeline():
            cursors = [c.execute(f"SELECT v FROM {name} WHERE id = %s", [i]) for i in range(1, 11)]
            c.execute(f"INSERT INTO {name} VALUES (50, 'x')")
            after = c.execute(f"SELECT count(*) FROM {name}")
        equal([cursor.fetchone()[0] for cursor in cursors], [f"v{i}" for i in range(1, 11)])
        equal(after.fetchone(), (11,))


@suite.test
def pipeline_with_an_error(t):
    """After an error the rest up to the next Sync is skipped, what comes after it runs."""
    with connect(t, autocommit=True) as c:
        name = numbers(t, c)
        with c.pipeline() as p:
            before = c.execute(f"SELECT count(*) FROM {name}")
            p.sync()
            c.execute(f"DELETE FROM {name} WHERE id = 1")
            failing, skipped = c.cursor(), c.cursor()
            # The client says so with whichever of these calls it reads the answer in.
            with raises(psycopg.errors.DivisionByZero, "22012"):
                failing.execute("SELECT 1/0")
                skipped.execute(f"DELETE FROM {name} RETURNING id")
                failing.fetchone()
            with raises(psycopg.Error):
                skipped.fetchone()
            p.sync()
            c.execute(f"DELETE FROM {name} WHERE id = 2")
            after = c.execute(f"SELECT count(*) FROM {name}")
        equal(before.fetchone(), (10,))
        equal(after.fetchone(), (9,))  # What stood before the error up to the last Sync is undone with it.


@suite.test
def pipeline_with_transactions(t):
    with connect(t) as c:
        name = numbers(t, c)
        with c.pipeline():
            with c.transaction():
                c.execute(f"DELETE FROM {name} WHERE id = 1")
            with c.transaction():
                c.execute(f"DELETE FROM {name} WHERE id = 2")
        c.rollback()
        equal(count(c, name), 8)


# --- types ------------------------------------------------------------------------------------------------------------

UTC = dt.timezone.utc
VALUES = {
    "boolean": [True, False],
    "smallint": [0, -32768, 32767],
    "integer": [0, -2147483648, 2147483647],
    "bigint": [0, -(2**63), 2**63 - 1],
    "real": [0.0, -1.5, 3.25, float("inf")],
    "double precision": [0.0, 0.1, -1e300, 1e-300, float("-inf")],
    "numeric(20,5)": [decimal.Decimal("0.00000"), decimal.Decimal("-123456789012345.67891"), decimal.Decimal("99.50000")],
    "numeric(38,0)": [decimal.Decimal("9" * 38), decimal.Decimal(-1)],
    "text": ["", "plain", "ünïcödé ✓ 🌳", "quote ' double \" back\\slash\nnewline\ttab", "x" * 20000],
    "varchar(30)": ["short", "ß"],
    "bytea": [b"", b"\x00\x01\xfe\xff", bytes(range(256)) * 20],
    "date": [dt.date(2024, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31)],
    "time": [dt.time(0, 0), dt.time(23, 59, 59, 999999)],
    "timestamp": [dt.datetime(2024, 5, 6, 7, 8, 9, 123456), dt.datetime(1900, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)],
    "timestamptz": [dt.datetime(2024, 5, 6, 7, 8, 9, 123456, UTC), dt.datetime(1999, 12, 31, 23, 59, 59, 0, UTC)],
    "interval": [dt.timedelta(0), dt.timedelta(days=3, hours=4, seconds=5, microseconds=6), dt.timedelta(days=-1, seconds=30)],
    "uuid": [uuid.UUID(int=0), uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")],
    "json": [{"a": [1, 2.5, None, True], "ü": {"b": "c"}}, [], "text", 5],
    "integer[]": [[], [1, -2, 3], [None, 1]],
    "bigint[]": [[2**62], [0]],
    "text[]": [[], ["a", "b c", 'q"uo\\te', "", "NULL", None, "{,}"]],
    "double precision[]": [[0.5, -1.0]],
    "boolean[]": [[True, None, False]],
    "date[]": [[dt.date(2024, 1, 1)]],
    "uuid[]": [[uuid.UUID(int=7)]],
}


def round_trip(kind, values, binary):
    def check(t):
        with connect(t) as c:
            name = t.table()
            c.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, v {kind})")
            wrap = Json if kind == "json" else lambda value: value
            mark = "%b" if binary else "%t"
            all_values = [*values, None]
            for i, value in enumerate(all_values):
                mine = mark if value is not None and kind != "json" else "%s"
                row = c.execute(f"INSERT INTO {name} VALUES (%s, {mine}::{kind}) RETURNING v", [i, None if value is None else wrap(value)])
                equal(row.fetchone(), (value,), f"{kind} RETURNING")
            cursor = c.cursor(binary=binary)
            cursor.execute(f"SELECT v FROM {name} ORDER BY id")
            equal([row[0] for row in cursor], all_values, kind)
            if kind not in ("json",) and not kind.endswith("[]"):
                cursor.execute(f"SELECT id FROM {name} WHERE v = {mark}::{kind}", [values[1]])
                equal(cursor.fetchall(), [(1,)], f"{kind} compared")

    return check


for the_kind, the_values in VALUES.items():
    for the_format in ("text", "binary"):
        label = the_kind.split("(")[0].replace(" ", "_").replace("[]", "_array") + ("_38" if "38" in the_kind else "")
        suite.add(f"type_{label}_{the_format}", round_trip(the_kind, the_values, the_format == "binary"))


@suite.test
def type_oids(t):
    """The OIDs in row descriptions, for tables and for expressions."""
    kinds = {"boolean": 16, "bytea": 17, "bigint": 20, "smallint": 21, "integer": 23, "text": 25, "json": 114, "real": 700,
             "double precision": 701, "varchar(5)": 1043, "char(5)": 1042, "date": 1082, "time": 1083, "timestamp": 1114,
             "timestamptz": 1184, "interval": 1186, "numeric(5,2)": 1700, "uuid": 2950, "integer[]": 1007, "text[]": 1009}  # fmt: skip
    with connect(t) as c:
        name = t.table()
        columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
        c.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, {columns})")
        cursor = c.execute(f"SELECT * FROM {name}")
        equal([d.type_code for d in cursor.description][1:], list(kinds.values()))
        cursor = c.execute("SELECT 1, 1::bigint, 1.5, 'x', 'x'::text, now(), current_date, true, NULL, count(*), sum(1), avg(1), 1/2.0")
        equal([d.type_code for d in cursor.description], [23, 20, 1700, 25, 25, 1184, 1082, 16, 25, 20, 20, 1700, 1700])


# --- cancelling and limits ---------------------------------------------------------------------------------------------


@suite.test
def cancel(t):
    """`connection.cancel()` from another thread; the session lives on."""
    with connect(t, autocommit=True) as c:
        timer = threading.Timer(0.5, c.cancel)
        timer.start()
        started = time.monotonic()
        with raises(psycopg.errors.QueryCanceled, "57014") as caught:
            c.execute("SELECT pg_sleep(20)")
        contains(str(caught.error), "canceling statement due to user request")
        assert time.monotonic() - started < 5
        equal(c.execute("SELECT 1").fetchone(), (1,))


@suite.test
def cancel_safe(t):
    """The newer way of libpq: an encrypted connection when the session is encrypted."""
    with connect(t, autocommit=True) as c:
        timer = threading.Timer(0.5, c.cancel_safe)
        timer.start()
        with raises(psycopg.errors.QueryCanceled):
            c.execute("SELECT count(*) FROM generate_series(1, 100000) AS a(x), generate_series(1, 1000000) AS b(y) WHERE a.x + b.y = -1")
        timer.join()
        equal(c.execute("SELECT 1").fetchone(), (1,))


@suite.test
def statement_timeout(t):
    with connect(t, autocommit=True) as c:
        c.execute("SET statement_timeout = '300ms'")
        started = time.monotonic()
        with raises(psycopg.errors.QueryCanceled, "57014") as caught:
            c.execute("SELECT pg_sleep(20)")
        contains(str(caught.error), "canceling statement due to statement timeout")
        assert time.monotonic() - started < 5
        c.execute("SET statement_timeout = 0")
        equal(c.execute("SELECT 1").fetchone(), (1,))


@suite.test
def set_local_timeout(t):
    """SET LOCAL ends with its transaction."""
    with connect(t) as c:
        c.execute("SET LOCAL statement_timeout = 1234")
        equal(c.execute("SHOW statement_timeout").fetchone(), ("1234ms",))
        c.commit()
        equal(c.execute("SHOW statement_timeout").fetchone(), ("0",))


@suite.test
def idle_in_transaction_timeout(t):
    c = connect(t)
    c.execute("SET idle_in_transaction_session_timeout = '400ms'")
    c.commit()
    c.execute("SELECT 1")
    time.sleep(1.5)
    with raises(psycopg.Error):  # 25P03, or only the closed connection
        c.execute("SELECT 1")
    assert c.closed


@suite.test
def lock_timeout(t):
    """Who waits for a row that another transaction holds waits no longer than lock_timeout (55P03)."""
    with connect(t) as a, connect(t, autocommit=True) as b:
        name = numbers(t, a)
        a.execute(f"UPDATE {name} SET v = 'held' WHERE id = 1")
        b.execute("SET lock_timeout = '300ms'")
        started = time.monotonic()
        with raises(psycopg.errors.LockNotAvailable, "55P03"):
            b.execute(f"UPDATE {name} SET v = 'b' WHERE id = 1")
        assert time.monotonic() - started < 5
        a.rollback()
        b.execute(f"UPDATE {name} SET v = 'b' WHERE id = 1")


# --- errors and notices -------------------------------------------------------------------------------------------------


@suite.test
def error_fields(t):
    """Every field that applications read."""
    with connect(t, autocommit=True) as c:
        name = t.table()
        c.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, v text NOT NULL, n integer CONSTRAINT small CHECK (n < 10))")
        c.execute(f"INSERT INTO {name} VALUES (1, 'a', 1)")
        with raises(psycopg.errors.UniqueViolation, "23505") as caught:
            c.execute(f"INSERT INTO {name} VALUES (1, 'b', 1)")
        d = caught.error.diag
        equal((d.severity, d.severity_nonlocalized, d.sqlstate), ("ERROR", "ERROR", "23505"))
        equal(d.message_primary, f'duplicate key value violates unique constraint "{name}_pkey"')
        equal(d.message_detail, "Key (id)=(1) already exists.")
        equal((d.schema_name, d.table_name, d.constraint_name), ("public", name, f"{name}_pkey"))
        with raises(psycopg.errors.NotNullViolation, "23502") as caught:
            c.execute(f"INSERT INTO {name} (id) VALUES (2)")
        d = caught.error.diag
        equal((d.table_name, d.column_name), (name, "v"))
        with raises(psycopg.errors.CheckViolation, "23514") as caught:
            c.execute(f"INSERT INTO {name} VALUES (2, 'b', 11)")
        equal(caught.error.diag.constraint_name, "small")


@suite.test
def error_positions(t):
    """The position counts characters, not bytes, from 1, with and without parameters."""
    with connect(t, autocommit=True) as c:
        for statement, parameters in (("SELECT 'ü', nope", None), ("SELECT 'ü', nope, %s::int", [1])):
            with raises(psycopg.errors.UndefinedColumn, "42703") as caught:
                c.execute(statement, parameters)
            equal(caught.error.diag.statement_position, "13")
            equal(caught.error.diag.message_primary, 'column "nope" does not exist')
        with raises(psycopg.errors.SyntaxError, "42601") as caught:
            c.execute("SELECT 1 +* FROM x WHERE WHERE")
        assert int(caught.error.diag.statement_position) > 1


@suite.test
def error_classes(t):
    """The codes that ORMs and retry loops look at."""
    with connect(t, autocommit=True) as c:
        e, wrong = psycopg.errors, []
        for statement, kind in (
            ("SELECT * FROM no_such", e.UndefinedTable), ("SELECT no_such(1)", e.UndefinedFunction), ("SELECT 1 FROM", e.SyntaxError),
            ("SELECT 'x'::int", e.InvalidTextRepresentation), ("SELECT 1/0", e.DivisionByZero),
            ("SELECT 'x'::uuid", e.InvalidTextRepresentation), ("SELECT '2024-13-40'::date", e.DatetimeFieldOverflow),
            ("SELECT 3000000000::int", e.NumericValueOutOfRange), ("SELECT 2147483647::int + 1::int", e.NumericValueOutOfRange),
            ("SELECT 1 + 'a'::text", e.UndefinedFunction), ("SELECT sum(1) WHERE count(*) > 1", e.GroupingError),
            ("DROP TABLE no_such", e.UndefinedTable), ("CREATE TABLE no_such_schema.x (a int)", e.InvalidSchemaName),
            ("RELEASE SAVEPOINT s", e.NoActiveSqlTransaction), ("SELECT (SELECT g FROM generate_series(1, 2) AS s(g))", e.CardinalityViolation),
            ("SELECT a FROM (SELECT 1 AS a, 2 AS a) AS x", e.AmbiguousColumn), ("SELECT 'abc'::no_such_type", e.UndefinedObject),
        ):  # fmt: skip
            try:
                c.execute(statement)
                wrong.append(f"{statement}: no error")
            except psycopg.Error as error:
                if not isinstance(error, kind):
                    wrong.append(f"{statement}: {error.sqlstate} instead of {kind.sqlstate}")
        assert not wrong, "\n".join(["these differ:", *wrong])


@suite.test
def notices(t):
    with connect(t, autocommit=True) as c:
        heard = []
        c.add_notice_handler(lambda d: heard.append((d.severity, d.sqlstate, d.message_primary)))
        c.execute("DROP TABLE IF EXISTS no_such_table")
        equal(heard, [("NOTICE", "00000", 'table "no_such_table" does not exist, skipping')])


@suite.test
def too_many_parameters(t):
    """65,535 parameters are the protocol's limit: that many work."""
    with connect(t) as c:
        marks = ", ".join(["%s"] * 5000)
        equal(c.execute(f"SELECT count(*) FROM generate_series(1, 10000) AS s(g) WHERE g IN ({marks})", list(range(1, 5001))).fetchone(), (5000,))


@suite.test
def big_values(t):
    """Ten megabytes there in one message, and back in one row."""
    with connect(t) as c:
        big = "0123456789" * 1_000_000
        equal(c.execute("SELECT length(%s::text)", [big]).fetchone(), (10_000_000,))
        equal(len(c.execute("SELECT repeat('x', 10000000)").fetchone()[0]), 10_000_000)


@suite.test
def concurrent_sessions(t):
    """Four threads add to the same rows; no addition is lost."""
    with connect(t, autocommit=True) as c:
        name = t.table()
        c.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, n integer)")
        c.execute(f"INSERT INTO {name} VALUES (1, 0), (2, 0)")
        problems = []

        def add():
            try:
                with connect(t) as mine:
                    for i in range(50):
                        while True:
                            try:
                                mine.execute(f"UPDATE {name} SET n = n + 1 WHERE id = %s", [i % 2 + 1])
                                mine.commit()
                                break
                            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                                mine.rollback()
            except Exception as error:
                problems.append(error)

        threads = [threading.Thread(target=add) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not problems, problems
        equal(c.execute(f"SELECT sum(n) FROM {name}").fetchone(), (200,))


@suite.test
def type_information(t):
    """`TypeInfo.fetch` looks a type up in pg_type."""
    with connect(t) as c:
        info = psycopg.types.TypeInfo.fetch(c, "int8")
        equal((info.name, info.oid, info.array_oid), ("int8", 20, 1016))
        info = psycopg.types.TypeInfo.fetch(c, "timestamptz")
        equal((info.oid, info.array_oid), (1184, 1185))
        equal(psycopg.types.TypeInfo.fetch(c, "no_such_type"), None)


# --- notifications and types of users ---------------------------------------------------------------------------------


@suite.test
def notifications(t):
    """LISTEN and NOTIFY: at commit, in order, without repetition, also to a connection that waits."""
    channel = t.name("channel")
    with connect(t, autocommit=True) as listener, connect(t) as sender:
        listener.execute(f"LISTEN {channel}")
        equal(listener.execute("SELECT pg_listening_channels()").fetchall(), [(channel,)])
        for payload in ("one", "two", "one"):
            sender.execute("SELECT pg_notify(%s, %s)", (channel, payload))
        sender.execute(f"NOTIFY {channel}")
        equal(list(listener.notifies(timeout=0.3)), [])
        sender.commit()
        heard = list(listener.notifies(timeout=5, stop_after=3))
        equal([(n.channel, n.payload, n.pid) for n in heard], [(channel, p, sender.info.backend_pid) for p in ("one", "two", "")])
        sender.execute(f"NOTIFY {channel}, 'lost'")
        sender.rollback()
        sender.execute("SAVEPOINT s")
        sender.execute(f"NOTIFY {channel}, 'taken back'")
        sender.execute("ROLLBACK TO s")
        sender.execute(f"NOTIFY {channel}, 'kept'")
        sender.commit()
        equal([n.payload for n in listener.notifies(timeout=5, stop_after=1)], ["kept"])
        # One's own notifications come, too, and in a transaction only at its end.
        listener.execute(f"NOTIFY {channel}, 'own'")
        equal([n.payload for n in listener.notifies(timeout=5, stop_after=1)], ["own"])
        listener.execute(f"UNLISTEN {channel}")
        sender.execute(f"NOTIFY {channel}, 'unheard'")
        sender.commit()
        equal(list(listener.notifies(timeout=0.3)), [])
        raises(psycopg.errors.InvalidParameterValue, lambda: sender.execute("SELECT pg_notify('', 'x')"))


@suite.test
def enums(t):
    """Labels as parameters and results, in text and in binary, and registered as a Python enum."""
    import enum

    from psycopg.types.enum import EnumInfo, register_enum

    with connect(t, autocommit=True) as c:
        table, name = t.table(), t.name("mood")
        t.made.append(("TYPE", name))
        c.execute(f"CREATE TYPE {name} AS ENUM ('sad', 'ok', 'happy')")
        c.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, m {name}, past {name}[])")
        c.execute(f"INSERT INTO {table} VALUES (1, %s, %s)", ("happy", ["sad", "ok"]))
        c.execute(f"INSERT INTO {table} VALUES (2, %b::{name}, NULL)", ("sad",))
        for binary in (False, True):
            with c.cursor(binary=binary) as cursor:
                rows = cursor.execute(f"SELECT m, past FROM {table} ORDER BY m DESC").fetchall()
                equal(rows[0][0], b"happy" if binary else "happy")
                oid = c.execute("SELECT %s::regtype::oid", (name,)).fetchone()[0]
                equal(cursor.description[0].type_code, oid)
        info = EnumInfo.fetch(c, name)
        equal(list(info.labels), ["sad", "ok", "happy"])
        mood = enum.Enum("Mood", {label: label for label in info.labels})
        register_enum(info, c, mood)
        for binary in (False, True):
            with c.cursor(binary=binary) as cursor:
                row = cursor.execute(f"SELECT m, past FROM {table} WHERE m = %s", (mood.happy,)).fetchone()
                equal(row, (mood.happy, [mood.sad, mood.ok]))
                equal(cursor.execute(f"SELECT id FROM {table} WHERE m = ANY(%s)", ([mood.sad],)).fetchall(), [(2,)])
        raises(psycopg.errors.InvalidTextRepresentation, lambda: c.execute(f"INSERT INTO {table} VALUES (3, %s)", ("angry",)))
        with c.cursor() as cursor, cursor.copy(f"COPY {table} (id, m) FROM STDIN") as copy:
            copy.write_row((4, "ok"))
        with c.cursor() as cursor, cursor.copy(f"COPY (SELECT id, m FROM {table} ORDER BY id) TO STDOUT") as copy:
            equal(list(copy.rows()), [("1", "happy"), ("2", "sad"), ("4", "ok")])


if __name__ == "__main__":
    suite.main()
