"""SQLAlchemy 2 with its stock dialects: create_all, reflection, the ORM, upserts; on psycopg and on asyncpg."""

import asyncio
import datetime as dt
import decimal
import uuid

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from harness import Suite, contains, equal, raises


def engine(t):
    return sa.create_engine(t.url.for_sqlalchemy("psycopg"))


def drop(url, statements):
    with sa.create_engine(url.for_sqlalchemy("psycopg")).begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


suite = Suite("sqlalchemy", drop)


def model(t):
    """A declarative base with one table, made for this test alone."""

    class Base(DeclarativeBase):
        pass

    class Person(Base):
        __tablename__ = t.table("person")
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str] = mapped_column(sa.String(50))
        score: Mapped[decimal.Decimal | None] = mapped_column(sa.Numeric(10, 2))
        born: Mapped[dt.date | None]
        seen: Mapped[dt.datetime | None] = mapped_column(sa.DateTime(timezone=True))
        active: Mapped[bool] = mapped_column(default=True)
        ref: Mapped[uuid.UUID] = mapped_column(default=uuid.uuid4)
        data: Mapped[dict | None] = mapped_column(sa.JSON)
        tags: Mapped[list[str] | None] = mapped_column(postgresql.ARRAY(sa.Text))
        photo: Mapped[bytes | None]

    return Base, Person


@suite.test
def connect(t):
    """What the dialect asks at its first connection: version, schema, conforming strings."""
    e = engine(t)
    with e.connect() as c:
        equal(c.scalar(sa.text("SELECT 1")), 1)
    assert e.dialect.server_version_info >= (14,), e.dialect.server_version_info
    equal(e.dialect.default_schema_name, "public")


@suite.test
def create_all_and_drop_all(t):
    """create_all asks which tables are there; a second time it does nothing."""
    base, _person = model(t)
    e = engine(t)
    base.metadata.create_all(e)
    base.metadata.create_all(e)
    name = next(iter(base.metadata.tables))
    equal(sa.inspect(e).has_table(name), True)
    base.metadata.drop_all(e)
    equal(sa.inspect(e).has_table(name), False)


@suite.test
def orm_crud(t):
    """Insert with generated keys, query, update, delete, rollback."""
    base, person = model(t)
    e = engine(t)
    base.metadata.create_all(e)
    seen = dt.datetime(2024, 5, 6, 7, 8, 9, tzinfo=dt.timezone.utc)
    with Session(e) as s:
        ada = person(name="Ada", score=decimal.Decimal("9.50"), born=dt.date(1815, 12, 10), seen=seen, data={"a": [1, None]}, tags=["x", "y"], photo=b"\x00\xff")
        s.add_all([ada, person(name="Bob"), person(name="Cyd", active=False)])
        s.commit()
        equal((ada.id, ada.data, ada.tags, ada.photo, ada.score, ada.seen), (1, {"a": [1, None]}, ["x", "y"], b"\x00\xff", decimal.Decimal("9.50"), seen))
        equal(s.scalars(sa.select(person.name).where(person.active).order_by(person.name)).all(), ["Ada", "Bob"])
        equal(s.get(person, 2).name, "Bob")
        s.get(person, 2).name = "Bert"
        s.delete(s.get(person, 3))
        s.commit()
        s.get(person, 1).name = "gone"
        s.rollback()
        equal(s.scalars(sa.select(person.name).order_by(person.id)).all(), ["Ada", "Bert"])
        equal(s.scalar(sa.select(person.id).where(person.ref == ada.ref)), 1)
        equal(s.execute(sa.update(person).where(person.name.like("B%")).values(active=False)).rowcount, 1)
        equal(s.scalar(sa.select(sa.func.count()).select_from(person).where(person.name.in_(["Ada", "Eve"]))), 1)


@suite.test
def insertmanyvalues(t):
    """A flush of many objects is a few INSERT ... VALUES ... RETURNING in the order of the objects."""
    base, person = model(t)
    e = engine(t)
    base.metadata.create_all(e)
    with Session(e) as s:
        people = [person(name=f"n{i}") for i in range(2500)]
        s.add_all(people)
        s.commit()
        equal([p.id for p in people], list(range(1, 2501)))
        equal(s.scalar(sa.select(person.name).where(person.id == 1234)), "n1233")
        names = s.execute(sa.insert(person).returning(person.name, sort_by_parameter_order=True), [{"name": f"m{i}"} for i in range(100)]).scalars().all()
        equal(names, [f"m{i}" for i in range(100)])


@suite.test
def upserts(t):
    """ON CONFLICT DO NOTHING and DO UPDATE with `excluded`, with RETURNING."""
    e = engine(t)
    table = sa.Table(t.table(), sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True, autoincrement=False), sa.Column("v", sa.Text), sa.Column("n", sa.Integer))
    table.create(e)
    with e.begin() as c:
        c.execute(sa.insert(table), [{"id": 1, "v": "a", "n": 1}, {"id": 2, "v": "b", "n": 1}])
        statement = postgresql.insert(table).values([{"id": 2, "v": "B", "n": 5}, {"id": 3, "v": "C", "n": 5}])
        update = statement.on_conflict_do_update(index_elements=[table.c.id], set_={"v": statement.excluded.v, "n": table.c.n + statement.excluded.n})
        equal(sorted(c.execute(update.returning(table.c.id, table.c.v, table.c.n)).all()), [(2, "B", 6), (3, "C", 5)])
        nothing = postgresql.insert(table).values(id=1, v="z").on_conflict_do_nothing()
        equal(c.execute(nothing.execution_options(preserve_rowcount=True)).rowcount, 0)
        where = postgresql.insert(table).values(id=1, v="w", n=0)
        where = where.on_conflict_do_update(constraint=f"{table.name}_pkey", set_={"v": "w"}, where=table.c.n > 100)
        equal(c.execute(where.execution_options(preserve_rowcount=True)).rowcount, 0)
        equal(c.execute(sa.select(table).order_by(table.c.id)).all(), [(1, "a", 1), (2, "B", 6), (3, "C", 5)])


@suite.test
def core_queries(t):
    """Joins, CTEs, window functions, unions, literals, case, casts, as the compiler writes them."""
    e = engine(t)
    meta = sa.MetaData()
    a = sa.Table(t.table("a"), meta, sa.Column("id", sa.Integer, primary_key=True), sa.Column("g", sa.Integer), sa.Column("v", sa.Float))
    meta.create_all(e)
    with e.begin() as c:
        c.execute(sa.insert(a), [{"g": i % 3, "v": i / 2} for i in range(30)])
        top = sa.select(a.c.g, sa.func.sum(a.c.v).label("s")).group_by(a.c.g).cte("top")
        rows = c.execute(sa.select(a.c.id, top.c.s).join(top, top.c.g == a.c.g).where(top.c.s > 70).order_by(a.c.id).limit(2)).all()
        equal(rows, [(2, 72.5), (3, 77.5)])
        rank = sa.func.row_number().over(partition_by=a.c.g, order_by=a.c.id.desc())
        ranked = sa.select(a.c.g, a.c.id, rank.label("r")).subquery()
        equal(c.execute(sa.select(ranked.c.id).where(ranked.c.r == 1).order_by(ranked.c.id)).scalars().all(), [28, 29, 30])
        kind = sa.case((a.c.v < 5, "low"), else_="high")
        equal(dict(c.execute(sa.select(kind, sa.func.count()).group_by(kind)).all()), {"low": 10, "high": 20})
        both = sa.union_all(sa.select(sa.literal(1).label("x")), sa.select(sa.literal(2))).subquery()
        equal(c.scalar(sa.select(sa.func.sum(both.c.x))), 3)
        equal(c.scalar(sa.select(sa.exists().where(a.c.id == 5))), True)
        equal(c.scalar(sa.select(sa.cast("12", sa.Integer) + 1)), 13)
        equal(c.scalar(sa.select(sa.func.count(sa.distinct(a.c.g))).where(a.c.id.between(1, 20))), 3)


def inspected(t):
    """One table with everything that a table can have here, and a view of it, in a schema of its own."""
    e, schema = engine(t), t.schema()
    with e.begin() as c:
        c.execute(sa.text(f"CREATE SCHEMA {schema}"))
        c.execute(sa.text(
            f"CREATE TABLE {schema}.things (a integer NOT NULL, b varchar(20) NOT NULL DEFAULT 'none', c numeric(12,3), d timestamptz,"
            " e text[], f double precision DEFAULT 1.5, g uuid, h bytea, i json, j date, k boolean DEFAULT true,"
            " PRIMARY KEY (b, a), CONSTRAINT positive CHECK (c > 0))"
        ))  # fmt: skip
        c.execute(sa.text(f"CREATE TABLE {schema}.ser (id serial PRIMARY KEY)"))
        c.execute(sa.text(f"COMMENT ON TABLE {schema}.things IS 'all of it'"))
        c.execute(sa.text(f"COMMENT ON COLUMN {schema}.things.c IS 'a number'"))
        c.execute(sa.text(f"CREATE VIEW {schema}.seen AS SELECT a, b FROM {schema}.things"))
    return sa.inspect(e), schema


def reflects(function):
    """A test of one inspector call."""

    def check(t):
        function(t, *inspected(t))

    suite.add(function.__name__, check)


@reflects
def reflect_table_names(t, inspector, schema):
    equal(sorted(inspector.get_table_names(schema)), ["ser", "things"])
    equal(inspector.get_view_names(schema), ["seen"])
    assert schema in inspector.get_schema_names() and "information_schema" in inspector.get_schema_names()
    equal((inspector.has_table("things", schema), inspector.has_table("nothing", schema)), (True, False))
    equal(inspector.get_sequence_names(schema), ["ser_id_seq"])
    equal((inspector.has_sequence("ser_id_seq", schema), inspector.has_schema(schema)), (True, True))
    equal(inspector.get_materialized_view_names(schema), [])
    equal(inspector.get_temp_table_names(), [])


@reflects
def reflect_columns(t, inspector, schema):
    columns = {c["name"]: c for c in inspector.get_columns("things", schema)}
    equal("".join(columns), "abcdefghijk")
    equal([str(c["type"]) for c in columns.values()],
          ["INTEGER", "VARCHAR(20)", "NUMERIC(12, 3)", "TIMESTAMP", "ARRAY", "DOUBLE PRECISION", "UUID", "BYTEA", "JSON", "DATE", "BOOLEAN"])  # fmt: skip
    equal(columns["d"]["type"].timezone, True)
    equal([c["name"] for c in columns.values() if not c["nullable"]], ["a", "b"])
    contains(columns["b"]["default"], "'none'")
    contains(columns["f"]["default"], "1.5")
    equal((columns["a"]["default"], columns["c"]["comment"]), (None, "a number"))
    serial = inspector.get_columns("ser", schema)[0]
    contains(serial["default"], "nextval(", "ser_id_seq")
    equal([c["name"] for c in inspector.get_columns("seen", schema)], ["a", "b"])


@reflects
def reflect_primary_key(t, inspector, schema):
    equal({k: v for k, v in inspector.get_pk_constraint("things", schema).items() if k in ("name", "constrained_columns")},
          {"name": "things_pkey", "constrained_columns": ["b", "a"]})  # fmt: skip


@reflects
def reflect_constraints(t, inspector, schema):
    """What there is not is an empty list; a check is there with its text."""
    equal(inspector.get_indexes("things", schema), [])
    equal(inspector.get_foreign_keys("things", schema), [])
    equal(inspector.get_unique_constraints("things", schema), [])
    (check,) = inspector.get_check_constraints("things", schema)
    equal(check["name"], "positive")
    contains(check["sqltext"], "c >", "0")


@reflects
def reflect_comments_views_and_errors(t, inspector, schema):
    equal(inspector.get_table_comment("things", schema), {"text": "all of it"})
    contains(inspector.get_view_definition("seen", schema), "SELECT", "things")
    with raises(sa.exc.NoSuchTableError):
        inspector.get_columns("nothing", schema)
    assert isinstance(inspector.get_table_options("things", schema), dict)
    equal(inspector.get_enums(schema), [])
    equal(inspector.get_domains(schema), [])


@reflects
def reflect_many(t, inspector, schema):
    """The `multi` forms ask once for a whole schema."""
    equal(sorted(inspector.get_multi_columns(schema=schema)), [(schema, "ser"), (schema, "things")])
    equal(inspector.get_multi_pk_constraint(schema=schema)[(schema, "things")]["constrained_columns"], ["b", "a"])
    assert (schema, "things") in inspector.get_multi_check_constraints(schema=schema)
    inspector.get_multi_indexes(schema=schema)
    inspector.get_multi_foreign_keys(schema=schema)
    inspector.get_multi_unique_constraints(schema=schema)
    inspector.get_multi_table_comment(schema=schema)


@reflects
def reflect_autoload(t, inspector, schema):
    """`Table(autoload_with=...)` and `MetaData.reflect`, then a query with what was found."""
    meta = sa.MetaData()
    meta.reflect(inspector.engine, schema=schema, views=True)
    things = meta.tables[f"{schema}.things"]
    equal([c.name for c in things.primary_key], ["b", "a"])
    with inspector.engine.begin() as c:
        c.execute(sa.insert(things).values(a=1, b="x", c=decimal.Decimal("1.5"), e=["t"], i={"k": 1}, g=uuid.UUID(int=1), h=b"h"))
        row = c.execute(sa.select(things)).one()
        equal((row.c, row.e, row.f, row.i, row.k), (decimal.Decimal("1.500"), ["t"], 1.5, {"k": 1}, True))
        equal(c.execute(sa.select(meta.tables[f"{schema}.seen"])).all(), [(1, "x")])


@suite.test
def errors(t):
    """Constraint errors are IntegrityError with psycopg's own error inside."""
    e = engine(t)
    table = sa.Table(t.table(), sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True, autoincrement=False), sa.Column("v", sa.Text, nullable=False))
    table.create(e)
    with e.begin() as c:
        c.execute(sa.insert(table).values(id=1, v="a"))
    for values, code in (({"id": 1, "v": "b"}, "23505"), ({"id": 2, "v": None}, "23502")):
        with raises(sa.exc.IntegrityError) as caught:
            with e.begin() as c:
                c.execute(sa.insert(table).values(**values))
        equal(caught.error.orig.sqlstate, code)
    with raises(sa.exc.ProgrammingError):
        with e.begin() as c:
            c.execute(sa.text("SELECT * FROM no_such_table"))


@suite.test
def isolation_levels_and_streaming(t):
    e = engine(t)
    with e.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
        equal(c.scalar(sa.text("SELECT 1")), 1)
    with e.connect().execution_options(isolation_level="REPEATABLE READ") as c:
        equal(c.scalar(sa.text("SHOW transaction_isolation")), "repeatable read")
        equal(c.get_isolation_level(), "REPEATABLE READ")
    with e.connect() as c:
        result = c.execution_options(stream_results=True, max_row_buffer=50).execute(sa.text("SELECT g FROM generate_series(1, 500) AS s(g)"))
        equal(sum(row[0] for row in result), 125250)
    with e.connect() as c:
        with c.begin_nested():
            equal(c.scalar(sa.text("SELECT 2")), 2)


@suite.test
def asyncpg_dialect(t):
    """The same through asyncpg: codecs at connect, ORM, streaming, reflection."""
    base, person = model(t)

    async def work():
        e = create_async_engine(t.url.for_sqlalchemy("asyncpg"))
        async with e.begin() as c:
            await c.run_sync(base.metadata.create_all)
        async with AsyncSession(e) as s:
            people = [person(name=f"n{i}", data={"i": i}, tags=["a"], score=decimal.Decimal("1.25")) for i in range(50)]
            s.add_all(people)
            await s.commit()
            for p in people:
                await s.refresh(p)
            equal([p.id for p in people], list(range(1, 51)))
            equal((people[7].data, people[7].tags, people[7].score), ({"i": 7}, ["a"], decimal.Decimal("1.25")))
            names = (await s.scalars(sa.select(person.name).where(person.id < 4).order_by(person.id))).all()
            equal(names, ["n0", "n1", "n2"])
            total = 0
            async for row in await s.stream(sa.select(person.id)):
                total += row[0]
            equal(total, 1275)
        async with e.connect() as c:
            columns = await c.run_sync(lambda sync: sa.inspect(sync).get_columns(person.__tablename__))
            equal(len(columns), 10)
            insert = postgresql.insert(person.__table__).values(id=1, name="x").on_conflict_do_nothing()
            equal((await c.execute(insert.returning(person.id))).all(), [])
        with raises(sa.exc.IntegrityError) as caught:
            async with e.begin() as c:
                await c.execute(sa.insert(person.__table__).values(id=1, name="x"))
        equal(caught.error.orig.sqlstate, "23505")
        await e.dispose()

    asyncio.run(work())


if __name__ == "__main__":
    suite.main()
