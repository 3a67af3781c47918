"""A PostgreSQL of our own for one run: made in a temporary folder, reached by a socket in it, ended by process id."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import tools

START_SECONDS = 30

# Pando orders text by bytes and knows the letters of all languages.
LOCALE = ("--locale", "C.UTF-8", "--lc-collate", "C", "--encoding", "UTF8")

# Nothing has to survive the run. Answers must not depend on parallel workers.
SETTINGS = ("listen_addresses=", "fsync=off", "full_page_writes=off", "max_parallel_workers_per_gather=0", "shared_buffers=64MB")


@contextlib.contextmanager
def cluster(databases):
    """Yields a function from a database's name to how it is reached; raises `tools.Missing` without PostgreSQL."""
    programs = Path(tools.program("initdb")).resolve().parent  # a link may be in the path
    user = _user()
    folder = Path(tempfile.mkdtemp(prefix="reference-"))
    try:
        if user:
            os.chown(folder, user.pw_uid, user.pw_gid)
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        _run([programs / "initdb", "--pgdata", folder / "data", "--auth", "trust", "--username", "postgres", *LOCALE], folder, identity)
        with _server(programs, folder, identity):
            for name in databases:
                _run([programs / "createdb", "-h", folder, "-U", "postgres", name], folder, {})
            yield lambda name: f"host={folder} user=postgres dbname={name}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user():
    """PostgreSQL refuses to run as root: then its own user, or nobody."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise tools.Missing("PostgreSQL does not run as root, and there is no user for it")


@contextlib.contextmanager
def _server(programs, folder, identity):
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    command = [programs / "postgres", "-D", folder / "data", "-k", folder, *settings]
    with open(folder / "log", "w+") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **identity)
        try:
            _wait(programs, folder, server, log)
            yield
        finally:
            server.send_signal(signal.SIGINT)  # ends connections
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.send_signal(signal.SIGQUIT)
                server.wait()


def _wait(programs, folder, server, log):
    deadline = time.monotonic() + START_SECONDS
    while subprocess.run([programs / "pg_isready", "-q", "-h", folder]).returncode != 0:
        if server.poll() is not None or time.monotonic() > deadline:
            log.seek(0)
            raise tools.Missing(f"PostgreSQL did not start: {log.read()[-600:]}")
        time.sleep(0.05)


def _run(command, folder, identity):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=folder, **identity)  # fmt: skip
    if done.returncode != 0:
        raise tools.Missing(f"{command[0].name} failed: {done.stdout.strip()[-600:]}")
