"""Statements of PL/pgSQL that fetch rows: SELECT INTO, records, EXECUTE, PERFORM and cursors."""

from __future__ import annotations

from sql_types import TYPES
from tree import Block, Declaration, Expr, InOrder, Into, Node, Raw, Step, Steps, Text, column

from ..scope import Scope
from .places import Place, fields

# Ways to move a cursor that has to be told that it can go back.
_MOVES = tuple((f"{move} FROM ", "SCROLL ") for move in ("LAST", "ABSOLUTE 2", "RELATIVE 1"))


class Rows:
    """Makes them with what `bodies` makes."""

    def __init__(self, bodies):
        self.bodies, self.rng = bodies, bodies.rng

    def _query(self, place: Place, want: tuple[str, ...] = ()):
        return self.bodies.queries.query(self.rng.choice((0, 0, 1)), place.scope, want=want)

    def _targets(self, place: Place) -> list[Expr]:
        """One variable or two; fields of records are none."""
        plain = [v for v in place.assignable if "." not in v.sql()]
        return self.rng.sample(plain, min(len(plain), self.rng.choice((1, 1, 2))))

    def _select_into(self, place: Place) -> Node | None:
        targets = self._targets(place)
        if not targets:
            return None
        strict = self.rng.random() < 0.3
        rows = InOrder(self._query(place, tuple(t.type for t in targets)), " LIMIT 1" if not strict or self.rng.random() < 0.7 else "")
        return Into(", ".join(t.sql() for t in targets), rows, strict)

    def _record(self, place: Place) -> Block:
        """A record or a row variable with a row of a query or a table, and statements that use its fields."""
        rng, table = self.rng, self.rng.choice(self.bodies.schema.tables)
        record = self.bodies.name("rec")
        if rng.random() < 0.5:
            known = fields(table, record)
            keys = ", ".join(str(n + 1) for n in range(len(table.columns)))
            fetch = Raw(f"SELECT * INTO {record} FROM {table.name} ORDER BY {keys} LIMIT 1;", "plpgsql row")
            type_ = rng.choice(("record", f"{table.name}%ROWTYPE", table.name))
        else:
            rows, type_ = InOrder(self._query(place), " LIMIT 1"), "record"
            known = tuple(column(t, f"{record}.{name}") for name, t in zip(rows.columns, rows.query.types))
            fetch = Into(record, rows)
        body = self.bodies.steps(place.within(known), 1, 3)
        texts = [v.sql() for v in place.assignable if v.type == "text"]
        shown = (Raw(f"{rng.choice(texts)} := {record};", "plpgsql record as text"),) if texts and rng.random() < 0.3 else ()
        return Block((Declaration(record, type_),), Steps((fetch, *body.steps, *shown)))

    def _found(self, place: Place) -> Raw | None:
        flags = [v for v in place.assignable if v.type == "bool"]
        if flags and self.rng.random() < 0.6:
            return Raw(f"{self.rng.choice(flags).sql()} := FOUND;", "plpgsql found")
        numbers = [v for v in place.assignable if v.type in ("int4", "int8", "numeric", "text") and "." not in v.sql()]
        if not numbers:
            return None
        return Raw(f"GET DIAGNOSTICS {self.rng.choice(numbers).sql()} = ROW_COUNT;", "get diagnostics")

    def _perform(self, place: Place) -> Step:
        return Step("{};", (InOrder(self._query(place), verb="PERFORM"),), "plpgsql perform")

    def _execute(self, place: Place) -> Step | None:
        """EXECUTE of an expression over its parameters."""
        rng, targets = self.rng, self._targets(place)
        if not targets:
            return None
        types = [self.bodies.expressions.type_in(place.scope) if rng.random() < 0.7 else rng.choice(TYPES) for _ in range(rng.randint(1, 2))]
        scope = Scope([column(t, f"${n + 1}") for n, t in enumerate(types)])
        template = "SELECT " + ", ".join(["{}"] * len(targets))
        command = Step(template, tuple(self.bodies.expressions.make(t.type, scope, rng.choice((1, 1, 2))) for t in targets))
        names, values = ", ".join(t.sql() for t in targets), ", ".join(["{}"] * len(types))
        arguments = tuple(self.bodies.value(t, place) for t in types)
        strict = "STRICT " if rng.random() < 0.2 else ""
        return Step(f"EXECUTE {{}} INTO {strict}{names} USING {values};", (Text(command), *arguments), "plpgsql execute")

    def _cursor(self, place: Place) -> Block | None:
        """A cursor whose rows are fetched into variables."""
        rng, targets, cursor = self.rng, self._targets(place), self.bodies.name("cur")
        if not targets:
            return None
        rows = InOrder(self._query(place, tuple(t.type for t in targets)), " LIMIT 4")
        names = ", ".join(t.sql() for t in targets)
        scroll = ""
        if rng.random() < 0.5:
            move, scroll = rng.choice((("NEXT FROM ", ""), ("", ""), ("", "NO SCROLL "), *_MOVES))
            fetches = Steps((Raw(f"FETCH {move}{cursor} INTO {names};"), *self.bodies.steps(place, 0, 1).steps, Raw(f"FETCH {cursor} INTO {names};")))
        else:
            inside = self.bodies.steps(place.within(in_loop=True), 1, 2)
            loop = f"LOOP\nFETCH {cursor} INTO {names};\nEXIT WHEN NOT FOUND;\n{{}}\nEND LOOP;"
            fetches = Steps((Step(loop, (inside,)),))
        body = Steps((Raw(f"OPEN {cursor};"), *fetches.steps, Raw(f"CLOSE {cursor};")))
        return Block((Step(f"{cursor} {scroll}CURSOR FOR {{}};", (rows,), "plpgsql cursor"),), body)
