"""The drivers' own tests: fetched from the registries, run against a server, read as `test -> (outcome, why)`."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
CLIENTS = HERE.parent / "clients"
sys.path.insert(0, str(CLIENTS))

import tools  # noqa: E402

# The longest that a whole suite may take, and a single test in it.
SUITE_SECONDS, TEST_SECONDS = 600, 20

# What is said of a test whose end nobody saw.
NEVER_ENDED = "FAIL", "it never ended"

# The packages of pgx whose tests talk to a server.
PGX_PACKAGES = [".", "./pgconn", "./pgtype/...", "./pgxpool", "./stdlib"]


def sqlalchemy(url, folder, leave):
    """SQLAlchemy's compliance suite for dialects, with psycopg."""
    python = tools.python()
    for file in (HERE / "sqlalchemy").iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    shutil.copy(tools.sdist("SQLAlchemy") / "test" / "requirements.py", folder)
    _command([python, "-c", f"import psycopg; psycopg.connect({url!r}, autocommit=True).execute('CREATE SCHEMA test_schema')"],
             folder, {}, None)  # fmt: skip
    return _pytest(python, folder, leave, {}, ["--dburi", url.replace("postgres://", "postgresql+psycopg://"), "--maxfail=100000",
                                               "test_suite.py"])  # fmt: skip


def asyncpg(url, folder, leave):
    """asyncpg's tests; those that start a PostgreSQL of their own skip themselves when there is a PGHOST."""
    python, at = tools.python(), urlsplit(url)
    shutil.copytree(tools.sdist("asyncpg") / "tests", folder / "tests")
    # This one looks at asyncpg's own source with flake8 and mypy.
    (folder / "tests" / "test__sourcecode.py").unlink()
    place = {"PGHOST": at.hostname, "PGPORT": str(at.port), "PGUSER": at.username, "PGDATABASE": at.path[1:]}
    return _pytest(python, folder, leave, place, ["tests"])


def pgx(url, folder, leave):
    """pgx's tests, which its Go module contains."""
    compiler, source = tools.program("go"), tools.go_module("github.com/jackc/pgx/v5")
    shutil.copytree(source, folder / "pgx")
    subprocess.run(["chmod", "-R", "u+w", str(folder / "pgx")], check=True)

    def tests(*chosen):
        command = [compiler, "test", "-json", f"-timeout={SUITE_SECONDS - 20}s", *chosen, *PGX_PACKAGES]
        output = folder / "output"
        _command(command, folder / "pgx", {"PGX_TEST_DATABASE": url + "?sslmode=disable"}, output)
        return _go_results(output)

    def named(tests):
        return "^(" + "|".join(re.escape(test.split(".")[-1]) for test in tests) + ")$"

    results = tests(*["-skip=" + named(leave)] if leave else [])
    # A test that panics ends its package's other tests, which have a second chance.
    lost = [test for test, outcome in results.items() if outcome == NEVER_ENDED]
    return results | tests("-run=" + named(lost)) if lost else results


SUITES = {"sqlalchemy": sqlalchemy, "asyncpg": asyncpg, "pgx": pgx}


def _pytest(python, folder, leave, environment, arguments):
    report = folder / "report.jsonl"
    environment = {**environment, "DRIVERS_REPORT": str(report), "PYTHONPATH": f"{HERE}:{folder}"}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "report", "--tb=short", f"--timeout={TEST_SECONDS}"]
    command += [f"--deselect={test}" for test in leave]
    _command(command + arguments, folder, environment, folder / "output")
    if not report.exists() or not report.stat().st_size:
        raise RuntimeError("the suite did not start:\n" + (folder / "output").read_text()[-3000:])
    results = {}
    for line in report.read_text().splitlines():
        one = json.loads(line)
        if results.get(one["test"], ("ok",))[0] == "ok":
            results[one["test"]] = one["outcome"], one["why"]
    return results


def _go_results(output):
    """The tests that are functions; what their parts say is theirs. One that began and never ended has failed."""
    results, said = {}, {}
    for line in output.read_text().splitlines():
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        name = event.get("Test", "").split("/")[0]
        if not name:
            continue
        test = f"{event['Package'].removeprefix('github.com/jackc/pgx/v5').strip('/') or 'pgx'}.{name}"
        if event["Action"] == "output":
            said[test] = (said.get(test, "") + event["Output"])[-20000:]
        elif event["Action"] == "run":
            results.setdefault(test, NEVER_ENDED)
        elif event["Action"] in ("pass", "fail", "skip") and "/" not in event["Test"]:
            results[test] = {"pass": "ok", "fail": "FAIL", "skip": "skip"}[event["Action"]], said.pop(test, "")
    if not results:
        raise RuntimeError("the suite did not start:\n" + output.read_text()[-3000:])
    return results


_RUNNING = set()


def stop():
    """Ends the suites that run; they are read as far as they came."""
    for child in list(_RUNNING):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _command(command, folder, environment, output):
    """Runs a command in a process group of its own, which ends with it; its time is limited."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    environment = {**inherited, "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1", **environment}
    with open(output or os.devnull, "w") as sink:
        child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=sink,
                                 stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
        _RUNNING.add(child)
        try:
            child.wait(SUITE_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"the suite took longer than {SUITE_SECONDS} s: ended", flush=True)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            _RUNNING.discard(child)
