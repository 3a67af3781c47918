"""Makes a failing script small: fewer statements, items, joins, conditions; then tables, rows, columns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from determinism import is_determined
from generator.schema import Schema, Table
from tree import Script, reductions, size

Check = Callable[[Schema, Script], bool]


class Reducer:
    """Tries smaller cases as long as `check` says that they still fail in the same way."""

    def __init__(self, check: Check, seconds: float = 20.0, tries: int = 600):
        self.check, self.deadline, self.tries = check, time.monotonic() + seconds, tries

    def reduce(self, schema: Schema, script: Script) -> tuple[Schema, Script]:
        script = self._script(schema, script)
        smaller = self._schema(schema, script)
        if smaller != schema:
            script = self._script(smaller, script)
        return smaller, script

    def _fails(self, schema: Schema, script: Script) -> bool:
        if not is_determined(script, schema):
            return False
        self.tries -= 1
        return self.check(schema, script)

    @property
    def _over(self) -> bool:
        return self.tries <= 0 or time.monotonic() > self.deadline

    def _script(self, schema: Schema, script: Script) -> Script:
        """Cuts until no cut is left that keeps the failure; each round begins at the top again."""
        progress, seen = True, {script.sql()}
        while progress and not self._over:
            progress = False
            for candidate in reductions(script):
                if self._over:
                    break
                text = candidate.sql()
                if text in seen or size(candidate) > size(script):
                    continue
                seen.add(text)
                if self._fails(schema, candidate):
                    script, progress = candidate, True
                    break
        return script

    def _schema(self, schema: Schema, script: Script) -> Schema:
        for n in reversed(range(len(schema.tables))):
            fewer = replace(schema, tables=schema.tables[:n] + schema.tables[n + 1 :])
            if f"{schema.tables[n].name} " not in script.sql() + " " and self._fails(fewer, script):
                schema = fewer
        for n in range(len(schema.tables)):
            schema = self._rows(schema, n, script)
            schema = self._columns(schema, n, script)
        return schema

    def _rows(self, schema: Schema, n: int, script: Script) -> Schema:
        """Drops rows in ever smaller pieces."""
        piece = max(len(schema.tables[n].rows) // 2, 1)
        while not self._over:
            start, rows = 0, schema.tables[n].rows
            while start < len(rows) and not self._over:
                smaller = _with_table(
                    schema, n, replace(schema.tables[n], rows=rows[:start] + rows[start + piece :])
                )
                if self._fails(smaller, script):
                    schema, rows = smaller, smaller.tables[n].rows
                else:
                    start += piece
            if piece == 1:
                break
            piece = max(piece // 2, 1)
        return schema

    def _columns(self, schema: Schema, n: int, script: Script) -> Schema:
        for index in reversed(range(len(schema.tables[n].columns))):
            if len(schema.tables[n].columns) > 1 and not self._over:
                smaller = _with_table(schema, n, schema.tables[n].without_column(index))
                if self._fails(smaller, script):
                    schema = smaller
        return schema


def _with_table(schema: Schema, n: int, table: Table) -> Schema:
    return replace(schema, tables=schema.tables[:n] + (table,) + schema.tables[n + 1 :])
