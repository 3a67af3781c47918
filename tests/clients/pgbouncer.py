"""PgBouncer in transaction mode between psycopg and the server: a few server connections for many clients."""

import contextlib
import os
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import psycopg

from harness import Suite, equal, raises

# Server connections, and clients that share them.
POOL, CLIENTS = 3, 12


def drop(url, statements):
    with psycopg.connect(url.text, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


suite = Suite("pgbouncer", drop)


@contextlib.contextmanager
def bouncer(t, mode="transaction"):
    """Yields connection strings of a PgBouncer of our own, and of its console."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        Path(folder).chmod(0o755)
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        (Path(folder) / "users").write_text(f'"{t.url.user}" ""\n')
        configuration = Path(folder) / "pgbouncer.ini"
        configuration.write_text(
            f"[databases]\n{t.url.database} = host={t.url.host} port={t.url.port} dbname={t.url.database}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\n"
            f"auth_file = {folder}/users\npool_mode = {mode}\ndefault_pool_size = {POOL}\nadmin_users = {t.url.user}\n"
            "server_check_query = select 1\nignore_startup_parameters = extra_float_digits\n"
        )
        # As root it wants to be told who to be.
        server = subprocess.Popen([os.environ.get("PGBOUNCER", "pgbouncer"), "-q", *_user(), str(configuration)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            text = f"host=127.0.0.1 port={port} user={t.url.user} dbname={t.url.database}"
            _wait(server, port)
            yield text, text.replace(f"dbname={t.url.database}", "dbname=pgbouncer")
        finally:
            server.terminate()
            server.wait(10)


def _user():
    return ["-u", "nobody"] if os.geteuid() == 0 else []


def _wait(server, port):
    until = time.monotonic() + 20
    while time.monotonic() < until and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("PgBouncer did not start")


@suite.test
def many_clients_share_few_connections(t):
    """Each client's transactions are whole, whichever connection they run on."""
    table = t.table()
    with bouncer(t) as (text, _console), psycopg.connect(text) as first:
        first.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, n int NOT NULL)")
        first.execute(f"INSERT INTO {table} VALUES (1, 0)")
        first.commit()
        pids, failed = set(), []

        def work():
            try:
                with psycopg.connect(text, prepare_threshold=None) as connection:
                    for _ in range(10):
                        with connection.transaction():
                            pids.add(connection.execute("SELECT pg_backend_pid()").fetchone()[0])
                            connection.execute(f"UPDATE {table} SET n = n + 1 WHERE id = %s", (1,))
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(failed, [])
        equal(first.execute(f"SELECT n FROM {table}").fetchone()[0], CLIENTS * 10)
        assert len(pids) <= POOL, pids


@suite.test
def settings_of_clients_are_kept(t):
    """PgBouncer tracks some settings by what the server reports, and sets them on each connection."""
    with bouncer(t) as (text, _console):
        with psycopg.connect(text, autocommit=True) as one, psycopg.connect(text, autocommit=True) as two:
            two.execute("SET TimeZone = 'UTC'")
            one.execute("SET TimeZone = 'Asia/Tokyo'")
            one.execute("SET application_name = 'one'")
            for _ in range(5):
                equal(two.execute("SHOW TimeZone").fetchone()[0], "UTC")
                equal(one.execute("SHOW TimeZone").fetchone()[0], "Asia/Tokyo")
                equal(one.execute("SHOW application_name").fetchone()[0], "one")


@suite.test
def errors_and_savepoints(t):
    """A failed transaction is ended before its connection is given to others."""
    with bouncer(t) as (text, _console), psycopg.connect(text) as connection:
        with raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 1 / 0")
        connection.rollback()
        with connection.transaction():
            with raises(psycopg.errors.DivisionByZero), connection.transaction():
                connection.execute("SELECT 1 / 0")
            equal(connection.execute("SELECT 7").fetchone()[0], 7)


@suite.test
def a_client_that_leaves_in_a_transaction_is_undone(t):
    table = t.table()
    with bouncer(t) as (text, _console):
        with psycopg.connect(text, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {table} (id int PRIMARY KEY)")
        leaving = psycopg.connect(text)
        leaving.execute(f"INSERT INTO {table} VALUES (1)")
        leaving.close()
        with psycopg.connect(text, autocommit=True) as connection:
            equal(connection.execute(f"INSERT INTO {table} VALUES (1) RETURNING id").fetchone()[0], 1)


@suite.test
def session_mode_resets_connections(t):
    """DISCARD ALL leaves nothing of one client to the next."""
    with bouncer(t, "session") as (text, _console):
        for _ in range(POOL + 1):
            with psycopg.connect(text, autocommit=True) as connection:
                equal(connection.execute("SHOW statement_timeout").fetchone()[0], "0")
                connection.execute("SET statement_timeout = '7s'")
                connection.execute("PREPARE p AS SELECT 1")
                connection.execute("CREATE TEMPORARY TABLE of_session (a int)")


@suite.test
def the_console_sees_servers_and_cancels(t):
    with bouncer(t) as (text, console), psycopg.connect(text, autocommit=True) as connection:
        equal(connection.execute("SELECT 1").fetchone()[0], 1)
        with psycopg.connect(console, autocommit=True) as admin:
            cursor = psycopg.ClientCursor(admin)
            cursor.execute("SHOW SERVERS")
            assert len(cursor.fetchall()) >= 1
        timer = threading.Timer(0.5, connection.cancel)
        timer.start()
        with raises(psycopg.errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(20)")
        equal(connection.execute("SELECT 2").fetchone()[0], 2)


if __name__ == "__main__":
    suite.main()
