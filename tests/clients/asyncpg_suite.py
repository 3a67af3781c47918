"""asyncpg: everything binary, everything prepared; cursors, copies, savepoints, codecs, pools."""

import asyncio
import datetime as dt
import decimal
import io
import json
import uuid

import asyncpg

from harness import TEST_SECONDS, Suite, contains, equal, raises


def drop(url, statements):
    async def work():
        connection = await asyncpg.connect(url.text)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    asyncio.run(work())


suite = Suite("asyncpg", drop)


def test(function):
    """Registers a coroutine `function(t, connection)` with a fresh connection."""

    async def work(t):
        connection = await asyncpg.connect(t.url.text)
        try:
            await function(t, connection)
        finally:
            await connection.close(timeout=5)

    def check(t):
        asyncio.run(asyncio.wait_for(work(t), TEST_SECONDS - 5))

    suite.add(function.__name__, check)
    return function


async def numbers(t, c, rows=10):
    name = t.table()
    await c.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, v text)")
    await c.execute(f"INSERT INTO {name} SELECT g, 'v' || g FROM generate_series(1, {rows}) AS s(g)")
    return name


@test
async def connection_information(t, c):
    assert c.get_server_version().major >= 14, c.get_server_version()
    equal(c.get_settings().server_encoding, "UTF8")
    assert c.get_server_pid() > 0
    equal(await c.fetchval("SELECT current_user"), t.url.user)


@test
async def server_settings(t, c):
    other = await asyncpg.connect(t.url.text, server_settings={"application_name": "pc", "search_path": "pg_catalog"})
    equal(await other.fetchval("SHOW application_name"), "pc")
    equal(await other.fetchval("SHOW search_path"), "pg_catalog")
    equal(await other.fetchval("SELECT current_setting('application_name')"), "pc")
    await other.close()


@test
async def fetch(t, c):
    """fetch, fetchrow, fetchval, execute with a tag."""
    name = await numbers(t, c)
    rows = await c.fetch(f"SELECT id, v FROM {name} WHERE id <= $1 ORDER BY id", 3)
    equal([dict(row) for row in rows], [{"id": i, "v": f"v{i}"} for i in (1, 2, 3)])
    row = await c.fetchrow(f"SELECT * FROM {name} WHERE id = $1", 5)
    equal((row["id"], row[1], list(row.keys())), (5, "v5", ["id", "v"]))
    equal(await c.fetchrow(f"SELECT * FROM {name} WHERE id = $1", 500), None)
    equal(await c.fetchval(f"SELECT count(*) FROM {name}"), 10)
    equal(await c.execute(f"UPDATE {name} SET v = $1 WHERE id < $2", "x", 4), "UPDATE 3")
    equal(await c.execute(f"DELETE FROM {name} WHERE id = 1; SELECT 1"), "SELECT 1")
    equal(await c.fetch(f"INSERT INTO {name} VALUES ($1, $2) RETURNING id * 2 AS d", 77, None), [(154,)])


@test
async def parameters_typed_by_place(t, c):
    """Types of parameters come from ParameterDescription alone."""
    name = t.table()
    await c.execute(f"CREATE TABLE {name} (id bigint PRIMARY KEY, at timestamptz, n numeric(10,2), b boolean, u uuid, d date, s smallint, l int[])")
    now = dt.datetime(2024, 5, 6, 7, 8, 9, tzinfo=dt.timezone.utc)
    values = (5, now, decimal.Decimal("1.25"), True, uuid.UUID(int=5), dt.date(2024, 1, 1), 7, [1, 2])
    await c.execute(f"INSERT INTO {name} VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", *values)
    statement = await c.prepare(f"SELECT * FROM {name} WHERE at >= $1 AND n < $2 AND u = $3 AND d IN ($4, $5) AND id = ANY($6) AND s BETWEEN $7 AND $8 LIMIT $9")
    equal([p.name for p in statement.get_parameters()],
          ["timestamptz", "numeric", "uuid", "date", "date", "int8[]", "int2", "int2", "int8"])  # fmt: skip
    row = await statement.fetchrow(now, decimal.Decimal(2), uuid.UUID(int=5), dt.date(2024, 1, 1), dt.date(2024, 1, 2), [5, 6], 1, 9, 10)
    equal(tuple(row), values)
    statement = await c.prepare(f"UPDATE {name} SET n = n + $1, at = $2 WHERE id = $3 AND b = $4")
    equal([p.name for p in statement.get_parameters()], ["numeric", "timestamptz", "int8", "bool"])
    statement = await c.prepare("SELECT $1, $2::text, $3 || 'x', $4 + 1, length($5), coalesce($6, 1.5), $7 = 1")
    equal([p.name for p in statement.get_parameters()], ["text", "text", "text", "int4", "text", "numeric", "int4"])


@test
async def series_with_a_parameter(t, c):
    """A set-returning function whose argument is a parameter, and one over another's rows."""
    equal([r[0] for r in await c.fetch("SELECT g FROM generate_series(1, $1::int) AS s(g)", 3)], [1, 2, 3])
    equal([r[0] for r in await c.fetch("SELECT x FROM unnest($1::int[]) AS u(x) ORDER BY 1", [5, 4])], [4, 5])


@test
async def prepared_statements(t, c):
    name = await numbers(t, c)
    statement = await c.prepare(f"SELECT id, v, id::float8 AS f FROM {name} WHERE id = $1")
    equal([(a.name, a.type.name) for a in statement.get_attributes()], [("id", "int4"), ("v", "text"), ("f", "float8")])
    for i in range(1, 11):
        equal(await statement.fetchval(i, column=1), f"v{i}")
    await statement.fetch(1)
    equal(statement.get_statusmsg(), "SELECT 1")
    contains(statement.get_query(), "WHERE id = $1")


@test
async def statement_cache(t, c):
    """A hundred and fifty different statements: old ones are closed on the server."""
    for i in range(150):
        equal(await c.fetchval(f"SELECT {i} + $1::int", 1), i + 1)


@test
async def executemany(t, c):
    name = await numbers(t, c, 0)
    await c.executemany(f"INSERT INTO {name} VALUES ($1, $2)", [(i, f"é{i}") for i in range(2000)])
    equal(await c.fetchval(f"SELECT count(*) FROM {name}"), 2000)
    with raises(asyncpg.UniqueViolationError, "23505"):
        await c.executemany(f"INSERT INTO {name} VALUES ($1, $2)", [(5000, "a"), (7, "b")])
    equal(await c.fetchval(f"SELECT count(*) FROM {name}"), 2000)  # executemany is one unit


@test
async def fetchmany(t, c):
    name = await numbers(t, c, 0)
    rows = await c.fetchmany(f"INSERT INTO {name} VALUES ($1, $2) RETURNING id", [(1, "a"), (2, "b")])
    equal([row["id"] for row in rows], [1, 2])


@test
async def cursors(t, c):
    """A portal that is read in parts: Execute with a row limit, PortalSuspended, again."""
    async with c.transaction():
        cursor = await c.cursor("SELECT g FROM generate_series(1, 800) AS s(g) WHERE g <= $1::int ORDER BY 1", 500)
        equal([r[0] for r in await cursor.fetch(3)], [1, 2, 3])
        equal((await cursor.fetchrow())[0], 4)
        equal(await cursor.forward(10), 10)
        equal((await cursor.fetchrow())[0], 15)
        equal(len(await cursor.fetch(1000)), 485)
        total = 0
        async for row in c.cursor("SELECT g FROM generate_series(1, 1000) AS s(g)", prefetch=64):
            total += row[0]
        equal(total, 500500)
    with raises(asyncpg.NoActiveSQLTransactionError):
        async for _row in c.cursor("SELECT 1"):
            pass


@test
async def transactions(t, c):
    name = await numbers(t, c)
    async with c.transaction():
        await c.execute(f"DELETE FROM {name} WHERE id = 1")
    transaction = c.transaction()
    await transaction.start()
    await c.execute(f"DELETE FROM {name}")
    await transaction.rollback()
    equal(await c.fetchval(f"SELECT count(*) FROM {name}"), 9)
    async with c.transaction(isolation="repeatable_read", readonly=True):
        with raises(asyncpg.ReadOnlySQLTransactionError, "25006"):
            async with c.transaction():
                await c.execute(f"DELETE FROM {name}")
        equal(await c.fetchval("SHOW transaction_isolation"), "repeatable read")
        equal(c.is_in_transaction(), True)


@test
async def savepoints(t, c):
    """Nested transactions are savepoints; an error inside is undone alone."""
    name = await numbers(t, c)
    async with c.transaction():
        await c.execute(f"DELETE FROM {name} WHERE id = 1")
        with raises(asyncpg.DivisionByZeroError, "22012"):
            async with c.transaction():
                await c.execute(f"DELETE FROM {name}")
                await c.fetch("SELECT 1/0")
        async with c.transaction():
            await c.execute(f"DELETE FROM {name} WHERE id = 2")
    equal(await c.fetchval(f"SELECT count(*) FROM {name}"), 8)


@test
async def copy_records_to_table(t, c):
    """COPY in binary; asyncpg asks for the columns' types first."""
    name = t.table()
    await c.execute(f"CREATE TABLE {name} (id bigint PRIMARY KEY, s text, f float8, d date, at timestamptz, n numeric(12,3), u uuid, b bytea, l text[])")
    at = dt.datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=dt.timezone.utc)
    records = [(i, f"s{i}" if i % 2 else None, i / 8, dt.date(2024, 1, 1), at, decimal.Decimal(i) / 8, uuid.UUID(int=i), bytes([i % 256]), ["x", None]) for i in range(1000)]
    equal(await c.copy_records_to_table(name, records=records), "COPY 1000")
    equal([tuple(r) for r in await c.fetch(f"SELECT * FROM {name} ORDER BY id")], records)
    await c.execute(f"DELETE FROM {name}")
    equal(await c.copy_records_to_table(name, records=[("a", 1)], columns=["s", "id"], schema_name="public"), "COPY 1")


@test
async def copy_csv(t, c):
    name = await numbers(t, c)
    out = io.BytesIO()
    equal(await c.copy_from_query(f"SELECT id, v FROM {name} WHERE id > $1 ORDER BY id", 7, output=out, format="csv", header=True), "COPY 3")
    equal(out.getvalue(), b"id,v\n8,v8\n9,v9\n10,v10\n")
    await c.execute(f"DELETE FROM {name}")
    out.seek(0)
    equal(await c.copy_to_table(name, source=out, format="csv", header=True), "COPY 3")
    out = io.BytesIO()
    equal(await c.copy_from_table(name, output=out, columns=["id"]), "COPY 3")
    equal(sorted(out.getvalue().split()), [b"10", b"8", b"9"])


TYPES = [
    ("boolean", [True, False]), ("smallint", [-32768, 32767]), ("integer", [-(2**31), 2**31 - 1]), ("bigint", [-(2**63), 2**63 - 1]),
    ("real", [1.5, float("inf")]), ("double precision", [0.1, -1e300]),
    ("numeric(20,5)", [decimal.Decimal("-123456789012345.67891"), decimal.Decimal("0.00000"), decimal.Decimal("10000.00000")]),
    ("text", ["", "ünï 🌳"]), ("varchar(10)", ["abc"]), ("bytea", [b"", b"\x00\xff"]),
    ("date", [dt.date(2024, 2, 29), dt.date(1, 1, 1)]), ("time", [dt.time(23, 59, 59, 999999)]),
    ("timestamp", [dt.datetime(2024, 5, 6, 7, 8, 9, 123456)]), ("timestamptz", [dt.datetime(1999, 1, 2, 3, 4, 5, tzinfo=dt.timezone.utc)]),
    ("interval", [dt.timedelta(days=3, seconds=5, microseconds=6)]), ("uuid", [uuid.UUID(int=2**127 + 1)]), ("json", ['{"a": [1, null]}']),
    ("integer[]", [[], [1, None, -3]]), ("text[]", [["a", None, 'q"', ""]]), ("numeric(10,2)[]", [[decimal.Decimal("1.50")]]),
    ("timestamptz[]", [[dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)]]), ("bytea[]", [[b"\x01", b""]]),
]  # fmt: skip


def _type_test(kind, values):
    async def check(t, c):
        name = t.table()
        await c.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, v {kind})")
        for i, value in enumerate([*values, None]):
            equal(await c.fetchval(f"INSERT INTO {name} VALUES ($1, $2) RETURNING v", i, value), value, kind)
        equal([r["v"] for r in await c.fetch(f"SELECT v FROM {name} ORDER BY id")], [*values, None], kind)
        equal(await c.fetchval(f"SELECT $1::{kind}", values[-1]), values[-1], f"{kind} as a parameter")

    check.__name__ = "type_" + kind.split("(")[0].replace(" ", "_") + ("_array" if kind.endswith("[]") else "")
    check.__name__ = check.__name__.replace("[]_array", "_array")
    test(check)


for the_kind, the_values in TYPES:
    _type_test(the_kind, the_values)


@test
async def json_codec(t, c):
    """`set_type_codec` looks types up in pg_type by name, then by OID, with their element and attribute types."""
    await c.set_type_codec("json", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
    equal(await c.fetchval("SELECT $1::json", {"a": [1, 2]}), {"a": [1, 2]})
    await c.set_type_codec("numeric", encoder=str, decoder=float, schema="pg_catalog", format="text")
    equal(await c.fetchval("SELECT 1.5::numeric(5,2)"), 1.5)
    await c.reset_type_codec("numeric", schema="pg_catalog")


@test
async def jsonb_codec_can_be_set(t, c):
    """SQLAlchemy's dialect sets codecs for json and jsonb on every connection."""
    await c.set_type_codec("jsonb", encoder=lambda v: b"\x01" + v.encode(), decoder=lambda v: v[1:].decode(), schema="pg_catalog", format="binary")
    await c.set_type_codec("json", encoder=str.encode, decoder=bytes.decode, schema="pg_catalog", format="binary")
    equal(await c.fetchval("SELECT '[1]'::json"), "[1]")


@test
async def errors(t, c):
    name = await numbers(t, c)
    with raises(asyncpg.UniqueViolationError, "23505") as caught:
        await c.execute(f"INSERT INTO {name} VALUES (1, 'x')")
    e = caught.error
    equal((e.constraint_name, e.table_name, e.schema_name, e.detail),
          (f"{name}_pkey", name, "public", "Key (id)=(1) already exists."))  # fmt: skip
    with raises(asyncpg.UndefinedColumnError, "42703") as caught:
        await c.fetch(f"SELECT nope FROM {name}")
    equal(caught.error.position, "8")
    with raises(asyncpg.PostgresSyntaxError, "42601"):
        await c.fetch("SELECT FROM WHERE")
    with raises(asyncpg.DataError):
        await c.fetch("SELECT $1::int", "not a number")
    equal(await c.fetchval("SELECT 1"), 1)


@test
async def notices(t, c):
    heard = []
    c.add_log_listener(lambda _connection, message: heard.append(message))
    await c.execute("DROP TABLE IF EXISTS no_such_table")
    await asyncio.sleep(0.05)
    equal([(type(m).__name__, m.message) for m in heard], [("PostgresLogMessage", 'table "no_such_table" does not exist, skipping')])


@test
async def timeout_cancels(t, c):
    """A client-side timeout sends a cancel request; the connection stays usable."""
    with raises(asyncio.TimeoutError):
        await c.fetch("SELECT pg_sleep(20)", timeout=0.4)
    equal(await c.fetchval("SELECT 1"), 1)


@test
async def task_cancelled(t, c):
    task = asyncio.ensure_future(c.fetch("SELECT pg_sleep(20)"))
    await asyncio.sleep(0.3)
    task.cancel()
    with raises(asyncio.CancelledError):
        await task
    equal(await c.fetchval("SELECT 1"), 1)


@test
async def pool(t, c):
    """A pool resets each connection when it comes back: advisory unlock, CLOSE ALL, UNLISTEN, RESET ALL."""
    name = await numbers(t, c)
    async with asyncpg.create_pool(t.url.text, min_size=2, max_size=5) as connections:

        async def one(i):
            async with connections.acquire() as mine:
                await mine.execute("SET application_name = 'changed'")
                return await mine.fetchval(f"SELECT v FROM {name} WHERE id = $1", i % 10 + 1)

        equal(await asyncio.gather(*(one(i) for i in range(60))), [f"v{i % 10 + 1}" for i in range(60)])
        async with connections.acquire() as mine:
            assert await mine.fetchval("SHOW application_name") != "changed"


@test
async def reset(t, c):
    await c.execute("SET statement_timeout = 5000")
    await c.reset()
    equal(await c.fetchval("SHOW statement_timeout"), "0")


@test
async def many_columns_and_rows(t, c):
    rows = await c.fetch("SELECT " + ", ".join(f"g + {i} AS c{i}" for i in range(200)) + " FROM generate_series(1, 500) AS s(g) ORDER BY g")
    equal((len(rows), rows[499]["c199"]), (500, 699))


@test
async def schema_state(t, c):
    """After DDL by another session a cached statement is prepared anew."""
    name = await numbers(t, c)
    equal(tuple(await c.fetchrow(f"SELECT * FROM {name} WHERE id = $1", 1)), (1, "v1"))
    other = await asyncpg.connect(t.url.text)
    await other.execute(f"ALTER TABLE {name} ADD COLUMN extra integer DEFAULT 7")
    await other.close()
    try:
        row = await c.fetchrow(f"SELECT * FROM {name} WHERE id = $1", 1)
    except asyncpg.InvalidCachedStatementError:
        row = await c.fetchrow(f"SELECT * FROM {name} WHERE id = $1", 1)
    equal(tuple(row), (1, "v1", 7))


if __name__ == "__main__":
    suite.main()
