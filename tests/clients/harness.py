"""What every suite shares: named tests, one line a test, and tables that are gone afterwards.

A suite is a program of its own. It takes `--url` and prints, for each of its tests, `ok CLIENT TEST` or
`FAIL CLIENT TEST: why` (the trace follows, indented). The suites in other languages print the same
lines, so that `run.py` needs to know nothing about any of them.
"""

import argparse
import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

# No test may take longer: a client that waits for a message that never comes is a failure, not a wait.
TEST_SECONDS = 40


@dataclass(frozen=True)
class Url:
    """A server's address in its parts, as the drivers want it."""

    text: str

    @property
    def _parts(self):
        return urlsplit(self.text)

    @property
    def host(self):
        return self._parts.hostname or "127.0.0.1"

    @property
    def port(self):
        return self._parts.port or 5432

    @property
    def user(self):
        return unquote(self._parts.username or "postgres")

    @property
    def password(self):
        return unquote(self._parts.password) if self._parts.password else None

    @property
    def database(self):
        return self._parts.path.lstrip("/") or self.user

    def for_sqlalchemy(self, driver):
        """The same address as SQLAlchemy writes it."""
        secret = f":{self._parts.password}" if self._parts.password else ""
        return f"postgresql+{driver}://{self.user}{secret}@{self.host}:{self.port}/{self.database}"


@dataclass
class Context:
    """What a test is given: the server, names nobody else uses, and a place to say what to drop."""

    url: Url
    client: str
    made: list = field(default_factory=list)

    def name(self, stem):
        """A name that belongs to this run alone."""
        return f"pc_{self.client}_{os.getpid()}_{stem}"

    def _made(self, kind, stem):
        name = self.name(stem)
        self.made.append((kind, name))
        return name

    def table(self, stem="t"):
        return self._made("TABLE", stem)

    def view(self, stem="v"):
        return self._made("VIEW", stem)

    def sequence(self, stem="s"):
        return self._made("SEQUENCE", stem)

    def schema(self, stem="sch"):
        return self._made("SCHEMA", stem)


class Skipped(Exception):
    """Raised by a test whose client cannot be had here."""


class Suite:
    """The tests of one client, in the order in which they are written."""

    def __init__(self, client, drop, close=lambda: None):
        """`drop(url, statements)` runs DROP statements with the client itself, on a fresh connection; `close()` is called last."""
        self.client = client
        self.drop = drop
        self.close = close
        self.tests = []

    def test(self, function):
        """Decorator: the function's name is the test's name."""
        self.tests.append((function.__name__, function))
        return function

    def add(self, name, function):
        """A test whose name is made at run time."""
        self.tests.append((name, function))

    def main(self, arguments=None):
        """Runs the suite as a program and ends the process."""
        parser = argparse.ArgumentParser()
        parser.add_argument("--url", required=True)
        parser.add_argument("--match", default="", help="only tests whose name contains this; `=name=` is one test")
        options = parser.parse_args(arguments)
        failed = 0
        for name, function in self.tests:
            if options.match in f"={name}=":
                failed += not self._run(Url(options.url), name, function)
        self.close()
        sys.stdout.flush()
        os._exit(1 if failed else 0)  # A driver's thread that hangs must not keep us.

    def _run(self, url, name, function):
        context = Context(url, self.client)
        started = time.monotonic()
        try:
            with _deadline(TEST_SECONDS):
                function(context)
            print(f"ok {self.client} {name}", flush=True)
            return True
        except Skipped as why:
            print(f"skip {self.client} {name}: {why}", flush=True)
            return True
        except Exception as error:  # The runner is the one place that must go on after anything.
            first = (str(error).strip().splitlines() or [""])[0]
            print(f"FAIL {self.client} {name}: {type(error).__name__}: {first}", flush=True)
            for line in traceback.format_exc().splitlines():
                print(f"    {line}")
            print(f"    after {time.monotonic() - started:.1f} s", flush=True)
            return False
        finally:
            self._clean(url, context)

    def _clean(self, url, context):
        order = {"VIEW": 0, "TABLE": 1, "SEQUENCE": 2, "TYPE": 3, "SCHEMA": 4}
        made = sorted(context.made, key=lambda pair: order[pair[0]])
        if not made:
            return
        try:
            with _deadline(TEST_SECONDS):
                self.drop(url, [f"DROP {kind} IF EXISTS {name} CASCADE" for kind, name in made])
        except Exception as error:
            print(f"    (cleaning up: {type(error).__name__}: {error})", flush=True)


class _deadline:
    """Raises TimeoutError in the main thread when the time is over."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        def over(_signal, _frame):
            raise TimeoutError(f"no answer within {self.seconds} s")

        signal.signal(signal.SIGALRM, over)
        signal.alarm(self.seconds)

    def __exit__(self, *_error):
        signal.alarm(0)


def equal(got, expected, what="value"):
    """Asserts equality and says both."""
    assert got == expected, f"{what}: expected {expected!r}, got {got!r}"


def contains(text, *parts):
    """Asserts that a text has each of the parts; runs of blanks count as one."""
    flat = " ".join(text.split())
    for part in parts:
        assert " ".join(part.split()) in flat, f"{part!r} is not in:\n{text}"


class raises:
    """Asserts that the block ends with an error of this class; the error is kept in `.error`."""

    def __init__(self, kind, sqlstate=None):
        self.kind, self.sqlstate, self.error = kind, sqlstate, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _trace):
        assert kind is not None, f"expected {self.kind.__name__}, nothing was raised"
        if not isinstance(error, self.kind):
            return False
        self.error = error
        if self.sqlstate is not None:
            equal(getattr(error, "sqlstate", None), self.sqlstate, "sqlstate")
        return True
