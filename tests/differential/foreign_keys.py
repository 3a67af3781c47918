#!/usr/bin/env python3
"""Random changes of tables with random foreign keys, on two databases that must do the same; see README.md.

Each seed makes two to four tables with foreign keys of all kinds, and changes them in transactions and outside. After each
statement both must have succeeded, or failed, and hold the same rows.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from databases import LOST, Database

_ACTIONS = ("", "NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT")
_DEFERRAL = ("", "", "", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED")
_COLUMNS = "abuxy"
_STEPS = 60
# Rows may take keys of one another in the middle of a statement, or only at its end.
_DUPLICATE = "23505"


class Scenario:
    """The tables and the changes of one seed."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.wide = [self.rng.random() < 0.3 for _ in range(self.rng.randint(2, 4))]
        self.tables = [f"fk{n}" for n in range(len(self.wide))]

    def definitions(self):
        for table, wide in zip(self.tables, self.wide, strict=True):
            default = f" DEFAULT {self.rng.randint(0, 4)}" if self.rng.random() < 0.5 else ""
            required = " NOT NULL" if self.rng.random() < 0.15 else ""
            key = "a, b" if wide else "a"
            yield f"CREATE TABLE {table} (a int, b int, u int UNIQUE, x int{default}, y int{required}, PRIMARY KEY ({key}))"
        for number, table in enumerate(self.tables):
            for _ in range(self.rng.randint(0, 2)):
                yield self._foreign_key(number, table)
            if self.rng.random() < 0.5:
                yield f"CREATE INDEX ON {table} ({self.rng.choice('xyu')})"

    def _foreign_key(self, number: int, table: str) -> str:
        rng = self.rng
        to = rng.randrange(len(self.tables)) if rng.random() < 0.4 else rng.randrange(max(number, 1))
        if self.wide[to] and rng.random() < 0.7:
            columns, target = rng.choice((("x", "y"), ("u", "x"), ("a", "b"), ("b", "y"))), "(a, b)"
        elif self.wide[to]:
            columns, target = (rng.choice("xyub"),), "(u)"
        else:
            columns, target = (rng.choice("xyuba"),), rng.choice(("", "(a)", "(u)"))
        text = f"ALTER TABLE {table} ADD FOREIGN KEY ({', '.join(columns)}) REFERENCES {self.tables[to]} {target}"
        is_full = rng.random() < 0.2
        text += " MATCH FULL" if is_full else ""
        delete, update = rng.choice(_ACTIONS), rng.choice(_ACTIONS)
        text += f" ON DELETE {delete}" if delete else ""
        text += f" ({columns[0]})" if delete.startswith("SET") and rng.random() < 0.3 else ""
        text += f" ON UPDATE {update}" if update else ""
        # With MATCH FULL, PostgreSQL defers also the check that all columns are NULL or none is.
        return text if is_full else text + rng.choice(_DEFERRAL)

    def _value(self) -> str:
        return "NULL" if self.rng.random() < 0.15 else str(self.rng.randint(0, 5))

    def _row(self) -> str:
        rng = self.rng
        return f"({rng.randint(0, 5)}, {rng.randint(0, 5)}, {self._value()}, {self._value()}, {self._value()})"

    def _condition(self) -> str:
        return f"{self.rng.choice(_COLUMNS)} {self.rng.choice('==<>').replace('==', '=')} {self.rng.randint(0, 5)}"

    def change(self) -> str:
        rng, table, kind = self.rng, self.rng.choice(self.tables), self.rng.random()
        if kind < 0.4:
            rows = ", ".join(self._row() for _ in range(rng.choice((1, 1, 2, 3))))
            return f"INSERT INTO {table} VALUES {rows}" + (" ON CONFLICT DO NOTHING" if rng.random() < 0.2 else "")
        if kind < 0.55:
            return f"DELETE FROM {table} WHERE {self._condition()}"
        if kind < 0.9:
            value = rng.choice((self._value(), f"{rng.choice(_COLUMNS)} + 1", rng.choice(_COLUMNS)))
            return f"UPDATE {table} SET {rng.choice(_COLUMNS)} = {value} WHERE {self._condition()}"
        source = f"(VALUES ({rng.randint(0, 5)}, {rng.randint(0, 5)}, {self._value()})) v (a, b, x)"
        return (
            f"MERGE INTO {table} t USING {source} ON t.a = v.a WHEN MATCHED THEN UPDATE SET x = v.x "
            "WHEN NOT MATCHED THEN INSERT VALUES (v.a, v.b, NULL, v.x, v.x)"
        )


class Trial:
    """Runs scenarios on both databases."""

    def __init__(self, reference: Database, subject: Database):
        self.both = (reference, subject)
        self.done, self.statements = [], 0

    def run(self, seed: int) -> str | None:
        """What differs first, or None."""
        scenario, self.done = Scenario(seed), []
        for database in self.both:
            database.run("ROLLBACK")
            database.run("DROP TABLE IF EXISTS fk0, fk1, fk2, fk3 CASCADE")
        for statement in scenario.definitions():
            _, difference, _ = self._step(statement)
            if difference:
                return difference
        is_open = False
        for _ in range(_STEPS):
            statement = self._next(scenario, is_open)
            failed, difference, is_over = self._step(statement)
            if difference or is_over:
                return difference
            is_open = statement == "BEGIN" or (is_open and statement not in ("COMMIT", "ROLLBACK"))
            if is_open and failed:
                self._step("ROLLBACK")
                is_open = False
            for table in scenario.tables:
                _, difference, _ = self._step(f"SELECT * FROM {table} ORDER BY 1, 2")
                if difference:
                    return difference
        return None

    @staticmethod
    def _next(scenario: Scenario, is_open: bool) -> str:
        kind = scenario.rng.random()
        if not is_open:
            return "BEGIN" if kind < 0.08 else scenario.change()
        if kind < 0.07:
            return "COMMIT"
        if kind < 0.12:
            return "ROLLBACK"
        if kind < 0.19:
            return f"SET CONSTRAINTS ALL {scenario.rng.choice(('DEFERRED', 'IMMEDIATE'))}"
        return scenario.change()

    def _step(self, statement: str) -> tuple[bool, str | None, bool]:
        """Whether a statement fails, what differs, and whether the rest means nothing."""
        self.done.append(statement)
        self.statements += 1
        right, given = (database.run(statement) for database in self.both)
        same = (right.sqlstate, right.tag, right.rows) == (given.sqlstate, given.tag, given.rows)
        if same or (right.failed and given.failed and not given.sqlstate.startswith(("XX", LOST))):
            return right.failed, None, False
        if _DUPLICATE in (right.sqlstate, given.sqlstate):
            return True, None, True
        shown = [f"{answer.sqlstate} {answer.message}" if answer.failed else f"{answer.tag} {answer.rows}" for answer in (right, given)]
        return True, f"{statement}\n  PostgreSQL: {shown[0]}\n  Pando:      {shown[1]}", False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", metavar="DSN", required=True, help="the database that is right")
    parser.add_argument("--servers", metavar="DSN", nargs="+", required=True, help="servers of the database under test, in turn")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=10**9, help="how many seeds")
    parser.add_argument("--minutes", type=float, default=60.0, help="when to stop")
    args, _ = parser.parse_known_args()
    reference = Database(args.reference, 20.0)
    subjects = [Database(dsn, 20.0) for dsn in args.servers]
    deadline, found, statements, seed = time.monotonic() + args.minutes * 60, 0, 0, args.seed
    while seed < args.seed + args.count and time.monotonic() < deadline:
        trial = Trial(reference, subjects[seed % len(subjects)])
        difference = trial.run(seed)
        statements += trial.statements
        if difference:
            found += 1
            print(f"seed {seed}: " + difference + "\n  after\n    " + ";\n    ".join(trial.done))
        seed += 1
    print(f"{seed - args.seed} seeds of foreign keys, {statements} statements, {found} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
