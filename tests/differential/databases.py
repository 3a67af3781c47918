"""Connections to the databases that are compared, and their answers as the protocol carries them."""

from __future__ import annotations

import select
import time
from dataclasses import dataclass, field

from psycopg import pq

# What both sides are set to, so that the same value has the same text; what a side does not know it ignores.
_SETTINGS = (
    "SET client_encoding = 'UTF8'",
    "SET timezone = 'UTC'",
    "SET datestyle = 'ISO, MDY'",
    "SET intervalstyle = 'postgres'",
    "SET extra_float_digits = 1",
    "SET bytea_output = 'hex'",
    "SET client_min_messages = 'error'",
    "SET synchronous_commit = off",
)
# Seconds that an answer may take beyond the statement time-out before the connection is closed.
_GRACE = 8.0


@dataclass
class Answer:
    """What one statement was answered: rows with names and type OIDs, or an error."""

    names: list[str] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    rows: list[tuple[bytes | None, ...]] = field(default_factory=list)
    tag: str = ""
    sqlstate: str = ""
    message: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return bool(self.sqlstate)


LOST = "lost"  # in place of a SQLSTATE: the connection broke or no answer came


class Database:
    """One server, with a connection that is made anew when it breaks."""

    def __init__(self, dsn: str, timeout: float, settings: tuple[str, ...] = ()):
        self.dsn, self.timeout, self.settings = dsn, timeout, settings
        self._connection = None

    def _connect(self):
        connection = pq.PGconn.connect(self.dsn.encode())
        if connection.status != pq.ConnStatus.OK:
            raise ConnectionError(f"{self.dsn}: {connection.error_message.decode(errors='replace').strip()}")
        connection.nonblocking = 0
        for setting in _SETTINGS + (f"SET statement_timeout = {int(self.timeout * 1000)}",) + self.settings:
            connection.exec_(setting.encode())
        self._connection = connection

    def run(self, sql: str) -> Answer:
        """The answer to one statement; a lost connection is an answer, too."""
        if self._connection is None:
            self._connect()
        start = time.monotonic()
        try:
            self._connection.send_query(sql.encode())
            results = self._results(start + self.timeout + _GRACE)
        except Exception as error:  # libpq says in words what broke
            results, reason = None, str(error)
        else:
            reason = "no answer in time"
        seconds = time.monotonic() - start
        if not results or self._connection.status != pq.ConnStatus.OK:
            self._connection.finish()
            self._connection = None
            return Answer(sqlstate=LOST, message=f"connection lost: {reason}", seconds=seconds)
        return _answer(results[-1], seconds)

    def _results(self, deadline: float):
        connection, results = self._connection, []
        while True:
            while connection.is_busy():
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([connection.socket], [], [], left)[0]:
                    return None
                connection.consume_input()
            result = connection.get_result()
            if result is None:
                return results
            results.append(result)

    def run_all(self, statements) -> Answer | None:
        """The first answer that is an error, or None."""
        for statement in statements:
            answer = self.run(statement)
            if answer.failed:
                return answer
        return None

    def close(self):
        if self._connection is not None:
            self._connection.finish()
            self._connection = None


def _answer(result, seconds: float) -> Answer:
    if result.status in (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE):
        state = result.error_field(pq.DiagnosticField.SQLSTATE) or b"?????"
        message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or result.error_message
        return Answer(
            sqlstate=state.decode(), message=message.decode(errors="replace").strip(), seconds=seconds
        )
    width = result.nfields
    return Answer(
        names=[(result.fname(n) or b"").decode(errors="replace") for n in range(width)],
        types=[result.ftype(n) for n in range(width)],
        rows=[tuple(result.get_value(r, n) for n in range(width)) for r in range(result.ntuples)],
        tag=(result.command_status or b"").decode(),
        seconds=seconds,
    )
