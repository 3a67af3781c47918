"""psql: what a person types in the first hour, and the queries that psql sends behind their back.

Outputs are compared loosely: the lines that carry the answer must be there, the frame may differ.
"""

import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

from harness import Suite, contains, equal


def psql(t, script="", *arguments, code=0, url=None):
    """Runs psql with a script on its standard input; returns standard output and error as one text."""
    command = ["psql", "-X", "-v", "VERBOSITY=default", "-d", url or t.url.text, *arguments]
    environment = {**os.environ, "PAGER": "", "PGCLIENTENCODING": "UTF8"}
    done = subprocess.run(
        command, input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    if code is not None:
        assert done.returncode == code, f"exit code {done.returncode}, expected {code}:\n{done.stdout}"
    return done.stdout


def quiet(t, script, *arguments):
    """Like `psql`, but only the rows, unaligned; any error stops and fails."""
    return psql(t, script, "-qAt", "-v", "ON_ERROR_STOP=1", *arguments).strip()


def drop(url, statements):
    script = "".join(f"{statement};\n" for statement in statements)
    subprocess.run(["psql", "-X", "-q", "-d", url.text], input=script, text=True, capture_output=True, check=True)


suite = Suite("psql", drop)


def fruit(t):
    """A table with a key, a default, a check, a comment and three rows."""
    name = t.table("fruit")
    quiet(
        t,
        f"""CREATE TABLE {name} (id integer PRIMARY KEY, name text NOT NULL, price numeric(8,2) DEFAULT 1.5,
                picked timestamp, CONSTRAINT cheap CHECK (price < 1000));
            COMMENT ON TABLE {name} IS 'what we sell';
            COMMENT ON COLUMN {name}.price IS 'in coins';
            INSERT INTO {name} VALUES (1, 'apple', 2.00, '2024-05-06 07:08:09'), (2, 'pear', NULL, NULL), (3, 'fig', 7.25, NULL);""",
    )
    return name


# --- backslash commands that describe -------------------------------------------------------------------------


@suite.test
def d_lists_relations(t):
    """Tables, views and sequences, each with its kind and owner."""
    name, view, sequence = fruit(t), t.view(), t.sequence()
    quiet(t, f"CREATE VIEW {view} AS SELECT id FROM {name}; CREATE SEQUENCE {sequence};")
    out = psql(t, r"\d")
    contains(out, "List of relations", f"public | {name} | table | {t.url.user}")
    contains(out, f"public | {view} | view | {t.url.user}", f"public | {sequence} | sequence | {t.url.user}")
    psql(t, r"\d+")


@suite.test
def d_table(t):
    """Columns with types, nullability and defaults; the primary key; the check."""
    name = fruit(t)
    out = psql(t, rf"\d {name}")
    contains(out, f'Table "public.{name}"', "id | integer | | not null |", "name | text | | not null |")
    contains(out, "price | numeric(8,2) | | | 1.5", "picked | timestamp without time zone | | |")
    contains(out, "Indexes:", f'"{name}_pkey" PRIMARY KEY', "(id)", "Check constraints:", '"cheap" CHECK')


@suite.test
def d_plus_table(t):
    """The long form has the comments."""
    name = fruit(t)
    contains(psql(t, rf"\d+ {name}"), f'Table "public.{name}"', "Storage", "Description", "in coins", "PRIMARY KEY")


@suite.test
def d_table_of_a_schema(t):
    """A qualified name, quoted characters and all."""
    schema = t.schema()
    quiet(t, f'CREATE SCHEMA {schema}; CREATE TABLE {schema}."Odd Name" ("Key" bigint PRIMARY KEY, a integer[]);')
    out = psql(t, rf'\d {schema}."Odd Name"')
    contains(out, f'Table "{schema}.Odd Name"', "Key | bigint | | not null |", "a | integer[] | | |")
    contains(psql(t, rf"\dt {schema}.*"), f"{schema} | Odd Name | table")


@suite.test
def d_table_with_serial(t):
    name = t.table("ser")
    quiet(t, f"CREATE TABLE {name} (id serial PRIMARY KEY, v varchar(10))")
    out = psql(t, rf"\d {name}")
    contains(out, f"id | integer | | not null | nextval('{name}_id_seq'::regclass)", "v | character varying(10) | | |")


@suite.test
def d_table_with_two_column_key(t):
    name = t.table("two")
    quiet(t, f"CREATE TABLE {name} (b bigint, a text, c date, PRIMARY KEY (a, b))")
    contains(psql(t, rf"\d {name}"), f'"{name}_pkey" PRIMARY KEY', "(a, b)", "a | text | | not null |")


@suite.test
def d_view(t):
    name, view = fruit(t), t.view()
    quiet(t, f"CREATE VIEW {view} AS SELECT id, name FROM {name} WHERE id > 1")
    contains(psql(t, rf"\d {view}"), f'View "public.{view}"', "id | integer | | |", "name | text | | |")
    contains(psql(t, rf"\d+ {view}"), "View definition:", "SELECT", name)
    contains(psql(t, rf"\sv {view}"), f"CREATE OR REPLACE VIEW public.{view} AS", name)


@suite.test
def d_index(t):
    name = fruit(t)
    contains(psql(t, rf"\d {name}_pkey"), f'Index "public.{name}_pkey"', "id | integer", "primary key")


@suite.test
def d_sequence(t):
    sequence = t.sequence()
    quiet(t, f"CREATE SEQUENCE {sequence} START 5 INCREMENT 2")
    contains(psql(t, rf"\d {sequence}"), f'Sequence "public.{sequence}"', "bigint | 5 |", "| 2 |")
    contains(psql(t, r"\ds"), f"public | {sequence} | sequence")


@suite.test
def d_unknown(t):
    """Nothing of that name: psql says so itself, which needs an empty answer and no error."""
    contains(psql(t, r"\d no_such_relation"), 'Did not find any relation named "no_such_relation"')


@suite.test
def dt(t):
    name = fruit(t)
    contains(psql(t, r"\dt"), f"public | {name} | table | {t.url.user}")
    contains(psql(t, rf"\dt {name[:-2]}*"), name)
    contains(psql(t, rf"\dt+ {name}"), "Persistence", "permanent", "what we sell")


@suite.test
def di(t):
    name = fruit(t)
    contains(psql(t, rf"\di {name}*"), f"public | {name}_pkey | index | {t.url.user} | {name}")
    contains(psql(t, rf"\di+ {name}*"), f"{name}_pkey")


@suite.test
def dv(t):
    view = t.view()
    quiet(t, f"CREATE VIEW {view} AS SELECT 1 AS one")
    contains(psql(t, r"\dv"), f"public | {view} | view | {t.url.user}")
    contains(psql(t, rf"\dv+ {view}"), view)


@suite.test
def dn(t):
    schema = t.schema()
    quiet(t, f"CREATE SCHEMA {schema}")
    contains(psql(t, r"\dn"), "List of schemas", "public |", f"{schema} | {t.url.user}")
    contains(psql(t, r"\dn+"), schema, "Access privileges")


@suite.test
def df(t):
    contains(psql(t, r"\df"), "List of functions", "Result data type", "Argument data types")


@suite.test
def df_of_a_builtin(t):
    """`\\df name` finds the functions of the system."""
    contains(psql(t, r"\df abs"), "pg_catalog | abs |")


@suite.test
def du(t):
    contains(psql(t, r"\du"), "List of roles", t.url.user, "Superuser")


@suite.test
def l(t):
    contains(psql(t, r"\l"), "List of databases", f"{t.url.database} |", "UTF8")
    psql(t, r"\l+")
    contains(psql(t, "", "-l"), "List of databases", t.url.database)


@suite.test
def dp(t):
    name = fruit(t)
    contains(psql(t, rf"\dp {name}"), "Access privileges", f"public | {name} | table")
    contains(psql(t, rf"\z {name}"), name)


@suite.test
def dT(t):
    contains(psql(t, r"\dT"), "List of data types")
    contains(psql(t, r"\dT int4"), "pg_catalog | integer")


@suite.test
def dconfig(t):
    contains(psql(t, r"\dconfig search_path"), "search_path |", "public")


def answers(command):
    """A command that lists things which may not exist: an empty list is fine, an error is not."""

    def check(t):
        out = psql(t, command)
        assert "ERROR" not in out and "invalid command" not in out, out

    return check


for letters in "dA dAc dAf da db dc dC dd dD ddp des det deu dew dE dF dFd dFp dFt dg dl dL dm do dO dP drds dRp dRs dx dX dy".split():
    suite.add(f"answers_{letters}", answers(f"\\{letters}"))


# --- the other backslash commands ------------------------------------------------------------------------------


@suite.test
def x(t):
    contains(psql(t, "\\x\nSELECT 1 AS a, 'z' AS b;"), "-[ RECORD 1 ]", "a | 1", "b | z")


@suite.test
def timing(t):
    assert re.search(r"Time: \d+[.,]\d+ ms", psql(t, "\\timing on\nSELECT 1;"))


@suite.test
def gdesc(t):
    """The columns and types of a statement that is only described."""
    name = fruit(t)
    out = psql(t, f"SELECT id, name, price, picked, id + 1 AS more, true AS yes, ARRAY[1] AS list FROM {name} \\gdesc")
    contains(out, "id | integer", "name | text", "price | numeric(8,2)", "picked | timestamp without time zone")
    contains(out, "more | integer", "yes | boolean", "list | integer[]")


@suite.test
def gset_gexec_and_crosstab(t):
    name = fruit(t)
    equal(quiet(t, f"SELECT max(id) AS top FROM {name} \\gset\n\\echo top is :top"), "top is 3")
    equal(quiet(t, f"SELECT format('SELECT %s * 2', id) FROM {name} ORDER BY id \\gexec"), "2\n4\n6")
    contains(psql(t, f"SELECT id, name, 1 FROM {name} ORDER BY id \\crosstabview"), "apple | pear | fig")


@suite.test
def g_to_a_file(t):
    with tempfile.TemporaryDirectory() as folder:
        quiet(t, f"SELECT 42 \\g {folder}/out")
        equal(open(f"{folder}/out").read().strip(), "42")


@suite.test
def conninfo_and_reconnect(t):
    contains(psql(t, "\\conninfo"), f'connected to database "{t.url.database}" as user "{t.url.user}"')
    contains(psql(t, "\\c\nSELECT 1 + 1;"), "You are now connected", "2")


@suite.test
def watch(t):
    """`\\watch` repeats until it is interrupted."""
    child = subprocess.Popen(
        ["psql", "-X", "-At", "-d", t.url.text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    child.stdin.write("SELECT 'again' \\watch 0.2\n")
    child.stdin.flush()
    time.sleep(1.2)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate("", timeout=10)
    assert out.count("again") >= 3, out


@suite.test
def fetch_count(t):
    """With FETCH_COUNT psql reads through a cursor of its own."""
    out = quiet(t, "\\set FETCH_COUNT 7\nSELECT g FROM generate_series(1, 50) AS s(g) ORDER BY 1;")
    equal(out.split(), [str(i) for i in range(1, 51)])


@suite.test
def on_error_rollback(t):
    """psql sets a savepoint before each statement and goes back to it after an error."""
    name = fruit(t)
    out = psql(
        t,
        f"\\set ON_ERROR_ROLLBACK on\nBEGIN;\nDELETE FROM {name} WHERE id = 1;\nSELECT nope FROM {name};\nCOMMIT;\n",
    )
    contains(out, "DELETE 1", "ERROR:", "COMMIT")
    equal(quiet(t, f"SELECT count(*) FROM {name}"), "2")


@suite.test
def autocommit_off(t):
    """With AUTOCOMMIT off psql sends BEGIN itself; leaving without COMMIT loses the change."""
    name = fruit(t)
    psql(t, f"\\set AUTOCOMMIT off\nDELETE FROM {name};")
    equal(quiet(t, f"SELECT count(*) FROM {name}"), "3")
    psql(t, f"\\set AUTOCOMMIT off\nDELETE FROM {name} WHERE id = 2;\nCOMMIT;")
    equal(quiet(t, f"SELECT count(*) FROM {name}"), "2")


@suite.test
def tab_completion(t):
    """A Tab key in a terminal: psql asks the catalog for names."""
    name = t.table("completes_me")
    quiet(t, f"CREATE TABLE {name} (id integer PRIMARY KEY, tangerine text)")
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", PAGER="", INPUTRC="/dev/null", PSQL_HISTORY="/dev/null")
        os.execvp("psql", ["psql", "-X", "-d", t.url.text])
    try:
        _read_until(terminal, "=")
        for start, rest in ((f"SELECT * FROM {name[:-4]}", "s_me"), (f"; UPDATE {name} SET tang", "erine")):
            os.write(terminal, start.encode())
            _read_until(terminal, start[-8:])
            os.write(terminal, b"\t")
            _read_until(terminal, rest)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def _read_until(terminal, part, seconds=8):
    """Reads what the terminal shows until it has shown a text."""
    seen, end = "", time.monotonic() + seconds
    while part not in seen:
        left = end - time.monotonic()
        assert left > 0, f"{part!r} did not appear in {seen!r}"
        if select.select([terminal], [], [], left)[0]:
            seen += os.read(terminal, 4096).decode(errors="replace")
    return seen


# --- copy --------------------------------------------------------------------------------------------------------


@suite.test
def copy_backslash(t):
    """`\\copy` out to a file and in again, as text and as csv with a header."""
    name, other = fruit(t), t.table("other")
    quiet(t, f"CREATE TABLE {other} (id integer PRIMARY KEY, name text, price numeric(8,2), picked timestamp)")
    with tempfile.TemporaryDirectory() as folder:
        for options in ("", "WITH (FORMAT csv, HEADER)", "WITH (FORMAT csv, DELIMITER '|', NULL 'none')"):
            contains(psql(t, rf"\copy {name} to '{folder}/f' {options}"), "COPY 3")
            contains(psql(t, rf"\copy {other} from '{folder}/f' {options}"), "COPY 3")
            equal(quiet(t, f"SELECT count(*), sum(price), count(picked) FROM {other}"), "3|9.25|1")
            quiet(t, f"DELETE FROM {other}")
        contains(psql(t, rf"\copy (SELECT id FROM {name} WHERE id < 3 ORDER BY id) to '{folder}/q'"), "COPY 2")
        equal(open(f"{folder}/q").read(), "1\n2\n")
        contains(psql(t, rf"\copy {other} (name, id) from stdin" "\nkiwi\t9\n\\.\n"), "COPY 1")


@suite.test
def copy_from_stdin_in_a_script(t):
    """Data between COPY and `\\.`, with NULL, a tab, a newline and a backslash, and statements after it."""
    name = t.table()
    script = (
        f"CREATE TABLE {name} (id int PRIMARY KEY, v text);\n"
        f"COPY {name} FROM STDIN;\n1\tplain\n2\t\\N\n3\ttab\\tnew\\nline\\\\\n\\.\n"
        f"COPY {name} (id, v) FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';');\nid;v\n4;\"a;\"\"b\"\"\"\n5;\n\\.\n"
        f"SELECT count(*), count(v) FROM {name};"
    )
    out = psql(t, script)
    contains(out, "COPY 3", "COPY 2", "5 | 3")
    equal(quiet(t, f"SELECT length(v) FROM {name} WHERE id = 3"), "13")
    equal(quiet(t, f"SELECT v FROM {name} WHERE id = 4"), 'a;"b"')


@suite.test
def copy_to_stdout(t):
    name = fruit(t)
    equal(
        quiet(t, f"COPY (SELECT id, name, price FROM {name} ORDER BY id) TO STDOUT"),
        "1\tapple\t2.00\n2\tpear\t\\N\n3\tfig\t7.25",
    )
    out = quiet(t, f"COPY (SELECT id, name, price FROM {name} ORDER BY id) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE (name))")
    equal(out, 'id,name,price\n1,"apple",2.00\n2,"pear",\n3,"fig",7.25')


@suite.test
def copy_error_names_the_line(t):
    """A bad value: error, CONTEXT with table, line and column, nothing stored, the session goes on."""
    name = t.table()
    quiet(t, f"CREATE TABLE {name} (id int PRIMARY KEY, v text)")
    out = psql(t, f"COPY {name} FROM STDIN;\n1\ta\nx2\tb\n3\tc\n\\.\nSELECT 'still here';")
    contains(out, 'ERROR: invalid input syntax for type integer: "x2"', f"CONTEXT: COPY {name}, line 2, column id", "still here")
    equal(quiet(t, f"SELECT count(*) FROM {name}"), "0")
    out = psql(t, f"COPY {name} FROM STDIN;\n1\ta\n2\n\\.\n")
    contains(out, 'ERROR: missing data for column "v"')


# --- statements, errors, exit codes -------------------------------------------------------------------------------


@suite.test
def command_tags(t):
    name, view, schema = t.table(), t.view(), t.schema()
    script = f"""CREATE SCHEMA {schema};
        CREATE TABLE {name} (id int PRIMARY KEY, v text);
        INSERT INTO {name} VALUES (1, 'a'), (2, 'b');
        UPDATE {name} SET v = 'c' WHERE id = 1;
        DELETE FROM {name} WHERE id = 1;
        CREATE VIEW {view} AS SELECT 1 AS one;
        BEGIN; SAVEPOINT s; ROLLBACK TO s; RELEASE s; COMMIT; ROLLBACK;
        SET application_name = 'x'; RESET application_name; SHOW application_name;
        ALTER TABLE {name} ADD COLUMN w int; TRUNCATE {name};
        CREATE TABLE {schema}.c AS SELECT 1 AS one;
        DROP VIEW {view}; DROP TABLE {name}; DISCARD ALL;"""
    lines = psql(t, script).split("\n")
    for tag in (
        "CREATE SCHEMA/CREATE TABLE/INSERT 0 2/UPDATE 1/DELETE 1/CREATE VIEW/BEGIN/SAVEPOINT/ROLLBACK/RELEASE/COMMIT/SET"
        "/RESET/ALTER TABLE/TRUNCATE TABLE/SELECT 1/DROP VIEW/DROP TABLE/DISCARD ALL"
    ).split("/"):
        assert tag in lines, f"{tag} is not in {lines}"


@suite.test
def error_points_at_the_place(t):
    """LINE n, the text, and a caret under the word."""
    name = fruit(t)
    out = psql(t, f"SELECT id,\n  nope FROM {name};")
    contains(out, 'ERROR: column "nope" does not exist', "LINE 2: nope FROM")
    line = next(each for each in out.split("\n") if each.startswith("LINE 2"))
    caret = next(each for each in out.split("\n") if each.strip() == "^")
    equal(caret.index("^"), line.index("nope"), "the caret's column")
    contains(psql(t, "SELECT * FROM no_such_table;"), 'ERROR: relation "no_such_table" does not exist', "LINE 1:", "^")
    contains(psql(t, "SELECT 1 FRM x y;"), "ERROR: syntax error at or near", "LINE 1:", "^")
    contains(psql(t, "SELECT no_such_function(1);"), "ERROR: function no_such_function(integer) does not exist", "^")


@suite.test
def error_verbose(t):
    """SQLSTATE codes as psql shows them."""
    name = fruit(t)
    for statement, code in (
        ("SELECT nope FROM " + name, "42703"),
        ("SELECT * FROM no_such_table", "42P01"),
        ("SELEC 1", "42601"),
        ("SELECT 1/0", "22012"),
        ("SELECT 'x'::integer", "22P02"),
        (f"INSERT INTO {name} VALUES (1, 'again')", "23505"),
        (f"INSERT INTO {name} VALUES (9, NULL)", "23502"),
        (f"INSERT INTO {name} VALUES (9, 'gold', 5000)", "23514"),
        (f"CREATE TABLE {name} (a int)", "42P07"),
        ("SELECT * FROM no_such_schema.t", "42P01"),
        ("SELECT no_such_function(1)", "42883"),
        ("SELECT 99999999999::integer", "22003"),
        ("SET no_such_setting_at_all = 1", "42704"),
    ):
        contains(psql(t, f"\\set VERBOSITY sqlstate\n{statement};"), f"ERROR: {code}")


@suite.test
def constraint_details(t):
    """DETAIL lines say which row and which key."""
    name = fruit(t)
    out = psql(t, f"INSERT INTO {name} VALUES (1, 'again');")
    contains(out, f'ERROR: duplicate key value violates unique constraint "{name}_pkey"', "DETAIL: Key (id)=(1) already exists.")
    out = psql(t, f"INSERT INTO {name} (id) VALUES (9);")
    contains(out, f'ERROR: null value in column "name" of relation "{name}" violates not-null constraint', "DETAIL: Failing row contains")
    out = psql(t, f"INSERT INTO {name} VALUES (9, 'gold', 5000);")
    contains(out, f'ERROR: new row for relation "{name}" violates check constraint "cheap"')


@suite.test
def errverbose(t):
    name = fruit(t)
    out = psql(t, f"INSERT INTO {name} VALUES (1, 'again');\n\\errverbose")
    contains(out, "ERROR: 23505:", "SCHEMA NAME: public", f"TABLE NAME: {name}", f"CONSTRAINT NAME: {name}_pkey")


@suite.test
def notices(t):
    contains(psql(t, "DROP TABLE IF EXISTS no_such_table;"), 'NOTICE: table "no_such_table" does not exist, skipping', "DROP TABLE")
    contains(psql(t, "COMMIT;"), "WARNING: there is no transaction in progress", "COMMIT")
    contains(psql(t, "BEGIN; BEGIN; COMMIT;"), "WARNING: there is already a transaction in progress")


@suite.test
def several_statements_in_one_command(t):
    """All results come, and one error undoes them all: the statements of one message are one transaction."""
    name = fruit(t)
    contains(psql(t, "", "-c", f"SELECT 'first'; DELETE FROM {name} WHERE id = 3; SELECT 'last'"), "first", "DELETE 1", "last")
    psql(t, "", "-c", f"DELETE FROM {name}; SELECT 1/0", code=1)
    equal(quiet(t, f"SELECT count(*) FROM {name}"), "2")
    psql(t, "", "-c", f"BEGIN; DELETE FROM {name} WHERE id = 1; COMMIT; DELETE FROM {name}; SELECT 1/0", code=1)
    equal(quiet(t, f"SELECT count(*) FROM {name}"), "1")
    contains(psql(t, "", "-c", "SELECT 1 AS a", "-c", "SELECT 2 AS b"), "a", "b", "(1 row)")


@suite.test
def failed_transaction(t):
    """After an error a block refuses everything until its end, and COMMIT says ROLLBACK."""
    name = fruit(t)
    out = psql(t, f"BEGIN;\nDELETE FROM {name};\nSELECT 1/0;\nSELECT 1;\nCOMMIT;\nSELECT count(*) FROM {name};")
    contains(out, "division by zero", "current transaction is aborted, commands ignored until end of transaction block", "ROLLBACK", "3")


@suite.test
def exit_codes(t):
    """0 fine, 1 a failed -c, 2 no connection, 3 a script that stopped at an error."""
    psql(t, "", "-c", "SELECT 1", code=0)
    psql(t, "", "-c", "SELECT 1/0", code=1)
    psql(t, "", "-c", "SELECT 1", code=2, url="postgres://nobody@127.0.0.1:1/none")
    psql(t, "SELECT 1/0;\nSELECT 2;", "-v", "ON_ERROR_STOP=1", code=3)
    psql(t, "SELECT 1/0;\nSELECT 2;", code=0)


@suite.test
def single_transaction(t):
    name = fruit(t)
    psql(t, f"DELETE FROM {name};\nSELECT 1/0;", "-1", "-v", "ON_ERROR_STOP=1", "-f", "-", code=3)
    equal(quiet(t, f"SELECT count(*) FROM {name}"), "3")


@suite.test
def output_forms(t):
    """NULLs, unaligned output, csv, html, an empty result, an empty statement, no columns."""
    equal(quiet(t, "SELECT NULL, 1, '', true, 1.50, date '2024-02-29', 'a|b';"), "|1||t|1.50|2024-02-29|a|b")
    contains(psql(t, "\\pset null '(nothing)'\nSELECT NULL;"), "(nothing)")
    equal(psql(t, "SELECT 1 AS a, 'x,y' AS b;", "--csv"), 'a,b\n1,"x,y"\n')
    contains(psql(t, "SELECT 1 AS a WHERE false;"), "(0 rows)")
    equal(psql(t, ";"), "")
    contains(psql(t, "SELECT 1 AS a;", "-H"), "<table")


@suite.test
def values_as_text(t):
    """The text form of each type is PostgreSQL's."""
    wrong = []
    for expression, text in (
        ("1::smallint", "1"), ("(-2147483648)::int", "-2147483648"), ("9223372036854775807::bigint", "9223372036854775807"),
        ("1.5::real", "1.5"), ("0.1::double precision", "0.1"), ("1e100::double precision", "1e+100"),
        ("'NaN'::double precision", "NaN"), ("'-Infinity'::double precision", "-Infinity"),
        ("12.340::numeric(10,3)", "12.340"), ("true", "t"), ("false", "f"),
        ("'\\xdeadbeef'::bytea", "\\xdeadbeef"), ("date '0044-03-15'", "0044-03-15"), ("time '23:59:59.5'", "23:59:59.5"),
        ("timestamp '2024-05-06 07:08:09.123456'", "2024-05-06 07:08:09.123456"),
        ("timestamptz '2024-05-06 07:08:09+00'", "2024-05-06 07:08:09+00"),
        ("interval '1 year 2 months 3 days 04:05:06.7'", "1 year 2 mons 3 days 04:05:06.7"),
        ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("'{\"a\": 1}'::json", '{"a": 1}'), ("ARRAY[1, NULL, 3]", "{1,NULL,3}"),
        ("ARRAY['a b', 'c\"d', NULL, '']", '{"a b","c\\"d",NULL,""}'),
    ):  # fmt: skip
        got = psql(t, f"SET TIME ZONE 'UTC'; SELECT {expression};", "-qAt").strip()
        if got != text:
            wrong.append(f"{expression}: {got} instead of {text}")
    assert not wrong, "\n".join(["these differ:", *wrong])


@suite.test
def prepare_and_execute(t):
    name = fruit(t)
    out = quiet(
        t,
        f"PREPARE q (int) AS SELECT name FROM {name} WHERE id = $1;\nEXECUTE q(1);\nEXECUTE q(3);\nDEALLOCATE q;",
    )
    equal(out, "apple\nfig")
    contains(psql(t, "EXECUTE gone;"), 'ERROR: prepared statement "gone" does not exist')


@suite.test
def cursors(t):
    out = quiet(
        t,
        "BEGIN; DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 5) AS s(g) ORDER BY 1;\n"
        "FETCH 2 FROM c; FETCH c; MOVE 1 FROM c; FETCH ALL FROM c; FETCH c; CLOSE c; COMMIT;",
    )
    equal(out, "1\n2\n3\n5")


@suite.test
def explain(t):
    name = fruit(t)
    contains(psql(t, f"EXPLAIN SELECT * FROM {name} WHERE id = 1;"), "QUERY PLAN")
    contains(psql(t, f"EXPLAIN ANALYZE SELECT * FROM {name} WHERE id = 1;"), "QUERY PLAN")


@suite.test
def settings(t):
    equal(quiet(t, "SET search_path = public; SHOW search_path;"), "public")
    equal(quiet(t, "SHOW server_encoding; SHOW client_encoding; SHOW standard_conforming_strings;"), "UTF8\nUTF8\non")
    equal(quiet(t, "BEGIN ISOLATION LEVEL REPEATABLE READ; SHOW transaction_isolation; COMMIT;"), "repeatable read")
    assert int(quiet(t, "SHOW server_version_num;")) >= 140000
    contains(psql(t, "SHOW ALL;"), "server_version", "search_path")
    equal(quiet(t, "SELECT current_setting('server_version_num')::int >= 140000, current_setting('no.such', true) IS NULL;"), "t|t")
    equal(quiet(t, "SELECT current_database(), current_user, session_user, current_schema();"),
          f"{t.url.database}|{t.url.user}|{t.url.user}|public")  # fmt: skip


@suite.test
def interrupt(t):
    """Ctrl-C cancels the statement."""
    child = subprocess.Popen(
        ["psql", "-X", "-d", t.url.text, "-c", "SELECT pg_sleep(30)"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    time.sleep(1)
    started = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=15)
    contains(out, "ERROR: canceling statement due to user request")
    assert time.monotonic() - started < 5


@suite.test
def environment_and_connection_strings(t):
    """Keywords instead of a URL, settings on the way in, and pg_isready."""
    words = f"host={t.url.host} port={t.url.port} user={t.url.user} dbname={t.url.database}"
    if t.url.password:
        words += f" password={t.url.password}"
    equal(psql(t, "SHOW application_name;", "-qAt", url=f"{words} application_name=me sslmode=prefer").strip(), "me")
    equal(psql(t, "SHOW statement_timeout;", "-qAt", url=f"{words} options='-c statement_timeout=7s'").strip(), "7s")
    equal(psql(t, "SELECT 1;", "-qAt", url=f"{words} sslmode=disable gssencmode=disable").strip(), "1")
    done = subprocess.run(["pg_isready", "-h", t.url.host, "-p", str(t.url.port)], capture_output=True, text=True)
    equal(done.returncode, 0, "pg_isready's exit code")


if __name__ == "__main__":
    suite.main()
