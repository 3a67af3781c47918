"""Alembic: revisions that it writes itself, upgrades and downgrades, and no difference where there is none."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.dialects import postgresql

from harness import Suite, equal

SCHEMA = f"pc_alembic_{os.getpid()}"

ENVIRONMENT = """
from alembic import context
at = context.config.attributes
context.configure(connection=at["connection"], target_metadata=at["metadata"], compare_type=True, compare_server_default=True)
with context.begin_transaction():
    context.run_migrations()
"""
SCRIPT = '''"""${message}"""
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = depends_on = None
def upgrade():
    ${upgrades}
def downgrade():
    ${downgrades}
'''


def drop(url, _statements):
    with sa.create_engine(url.for_sqlalchemy("psycopg")).begin() as connection:
        connection.execute(sa.text(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"))


suite = Suite("alembic", drop)


def first():
    """The schema at first."""
    metadata = sa.MetaData()
    kind = postgresql.ENUM("staff", "guest", name="kind")
    sa.Table(
        "author", metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("email", sa.String(80), nullable=False, unique=True),
        sa.Column("kind", kind, nullable=False, server_default="guest"),
        sa.Column("facts", postgresql.JSONB, server_default="{}"),
        sa.Column("tags", postgresql.ARRAY(sa.Text), server_default=sa.text("'{}'")),
        sa.Column("fee", sa.Numeric(10, 2), server_default="1.5"),
        sa.Column("rank", sa.SmallInteger, server_default="-1"),
        sa.Column("active", sa.Boolean, server_default=sa.true()),
        sa.Column("ref", sa.Uuid, server_default=sa.text("gen_random_uuid()")),
        sa.Column("born", sa.Date, server_default="1950-01-02"),
        sa.Column("made", sa.DateTime(timezone=True), server_default=sa.func.now()),
        sa.Column("span", sa.Interval),
        sa.CheckConstraint("fee >= 0", name="author_fee"),
        sa.Index("author_staff", "kind", postgresql_where=sa.text("kind = 'staff'")),
        sa.Index("author_email", sa.text("lower(email)"), unique=True),
        comment="who writes",
    )  # fmt: skip
    sa.Table(
        "book", metadata,
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("author_id", sa.ForeignKey("author.id", ondelete="CASCADE", deferrable=True, initially="DEFERRED"), nullable=False),
        sa.Column("title", sa.Text, nullable=False, comment="as printed"),
        sa.Column("shown", sa.Text, sa.Computed("upper(title)", persisted=True)),
        sa.UniqueConstraint("author_id", "title", name="book_once"),
        sa.Index("book_title", sa.text("title DESC NULLS LAST"), postgresql_include=["author_id"]),
    )  # fmt: skip
    return metadata


def second():
    """The schema after some changes."""
    metadata = first()
    author, book = metadata.tables["author"], metadata.tables["book"]
    author.c.email.type = sa.String(120)
    author.c.fee.server_default = sa.DefaultClause("2.5")
    author.append_column(sa.Column("note", sa.Text, server_default="none", nullable=False))
    book.append_column(sa.Column("copies", sa.Integer, server_default="0", nullable=False))
    sa.Index("book_copies", book.c.copies)
    sa.Table("topic", metadata, sa.Column("name", sa.String(20), primary_key=True), sa.Column("book_id", sa.ForeignKey("book.id")))
    return metadata


def engine(t):
    options = f"-csearch_path={SCHEMA}"
    return sa.create_engine(t.url.for_sqlalchemy("psycopg"), connect_args={"options": options})


def differences(connection, metadata):
    options = {"compare_type": True, "compare_server_default": True}
    return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)


def made(t):
    """The kind of the objects that make the schema of a test; it is dropped after the test."""
    t.made.append(("SCHEMA", SCHEMA))
    with sa.create_engine(t.url.for_sqlalchemy("psycopg")).begin() as connection:
        connection.execute(sa.text(f"CREATE SCHEMA {SCHEMA}"))
    return engine(t)


@suite.test
def no_difference_from_what_was_created(t):
    with made(t).begin() as connection:
        first().create_all(connection)
        equal(differences(connection, first()), [])
        assert differences(connection, second())


@suite.test
def revisions_up_and_down(t):
    """Each revision is written from the difference; after it there is none."""
    with tempfile.TemporaryDirectory() as folder, made(t).connect() as connection:
        for name, text in (("env.py", ENVIRONMENT), ("script.py.mako", SCRIPT)):
            (Path(folder) / name).write_text(text)
        (Path(folder) / "versions").mkdir()
        config = Config(stdout=open(os.devnull, "w"))
        config.set_main_option("script_location", folder)
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        for metadata in (first(), second()):
            config.attributes["metadata"] = metadata
            command.revision(config, "step", autogenerate=True)
            command.upgrade(config, "head")
            connection.commit()
            command.check(config)
            equal(differences(connection, metadata), [])
        connection.execute(sa.text("INSERT INTO author (email) VALUES ('a@x')"))
        connection.commit()
        command.downgrade(config, "-1")
        connection.commit()
        equal(differences(connection, first()), [])
        row = connection.execute(sa.text("SELECT kind, facts, tags, fee, rank, active FROM author")).one()
        equal((row.kind, row.facts, row.tags, str(row.fee), row.rank, row.active), ("guest", {}, [], "2.50", -1, True))
        connection.commit()
        command.downgrade(config, "base")
        connection.commit()
        equal(sa.inspect(connection).get_table_names(schema=SCHEMA), ["alembic_version"])


@suite.test
def operations(t):
    with made(t).begin() as connection:
        first().create_all(connection)
        op = Operations(MigrationContext.configure(connection))
        op.alter_column("author", "rank", type_=sa.BigInteger, server_default="5", nullable=False, existing_type=sa.SmallInteger)
        op.alter_column("author", "email", new_column_name="address")
        op.drop_constraint("book_once", "book", type_="unique")
        op.create_unique_constraint("book_always", "book", ["title"], deferrable=True)
        op.create_check_constraint("book_titled", "book", "title <> ''")
        op.drop_constraint("book_author_id_fkey", "book", type_="foreignkey")
        op.create_foreign_key("book_author", "book", "author", ["author_id"], ["id"], onupdate="CASCADE", postgresql_not_valid=True)
        op.rename_table("author", "writer")
        op.create_table_comment("book", "what is written")
        op.execute("ALTER TABLE book VALIDATE CONSTRAINT book_author")
        found = sa.inspect(connection)
        equal([key["referred_table"] for key in found.get_foreign_keys("book")], ["writer"])
        equal([unique["name"] for unique in found.get_unique_constraints("book")], ["book_always"])
        equal(found.get_table_comment("book"), {"text": "what is written"})
        rank = next(column for column in found.get_columns("writer") if column["name"] == "rank")
        equal((str(rank["type"]), rank["nullable"], rank["default"]), ("BIGINT", False, "'5'::bigint"))


if __name__ == "__main__":
    suite.main()
