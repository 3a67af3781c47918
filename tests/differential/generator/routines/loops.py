"""Loops of PL/pgSQL. Each has a bound that stays when its body is cut."""

from __future__ import annotations

from tree import Block, Declaration, Expr, InOrder, Raw, Step, Steps, Text, column

from ..scope import Scope
from .places import Place

_ROWS = " LIMIT 4"


class Loops:
    """Makes loops with bodies that `bodies` makes."""

    def __init__(self, bodies):
        self.bodies, self.rng = bodies, bodies.rng

    def _bound(self, place: Place) -> Expr:
        """A small number, sometimes of the variables and then sometimes NULL."""
        if self.rng.random() < 0.6:
            return Expr("int4", str(self.rng.randint(-1, 4)))
        template = "({} % 4)" if self.rng.random() < 0.15 else "coalesce({} % 4, 1)"
        return Expr("int4", template, (self.bodies.value("int4", place),))

    def _for_range(self, place: Place) -> Step:
        rng, counter = self.rng, self.bodies.name("cnt")
        reverse = "REVERSE " if rng.random() < 0.25 else ""
        by = f" BY {rng.choice((1, 2, 3))}" if rng.random() < 0.25 else ""
        inside = place.within(readable=(column("int4", counter),), in_loop=True)
        return Step(
            f"FOR {counter} IN {reverse}{{}}..{{}}{by} LOOP\n{{}}\nEND LOOP;",
            (self._bound(place), self._bound(place), self.bodies.steps(inside)),
            "plpgsql for range",
        )

    def _while(self, place: Place) -> Block:
        counter = self.bodies.name("cnt")
        inside = place.within(readable=(column("int4", counter),), in_loop=True)
        loop = Step(
            f"WHILE {counter} < {self.rng.randint(1, 4)} AND {{}} LOOP\n{counter} := {counter} + 1;\n{{}}\nEND LOOP;",
            (self.bodies.condition(inside), self.bodies.steps(inside)),
            "plpgsql while",
        )
        return Block((Declaration(counter, "int4", Raw("0")),), Steps((loop,)))

    def _loop(self, place: Place) -> Block:
        """LOOP with a label, which statements in it may leave by."""
        counter, label = self.bodies.name("cnt"), self.bodies.name("label")
        inside = place.within(readable=(column("int4", counter),), in_loop=True)
        body = self.bodies.steps(inside)
        leave = Step(f"{self.rng.choice(('EXIT', 'CONTINUE'))} {label} WHEN {{}};", (self.bodies.condition(inside),))
        loop = Step(
            f"<<{label}>>\nLOOP\nEXIT WHEN {counter} >= {self.rng.randint(1, 4)};\n{counter} := {counter} + 1;\n{{}}\n{{}}\nEND LOOP;",
            (leave, body),
            "plpgsql loop",
        )
        return Block((Declaration(counter, "int4", Raw("0")),), Steps((loop,)))

    def _for_query(self, place: Place) -> Step:
        """FOR over the rows of a query: a record, or variables."""
        bodies, rng = self.bodies, self.rng
        plain = [v for v in place.assignable if "." not in v.sql()]
        if plain and rng.random() < 0.3:
            targets = rng.sample(plain, min(len(plain), rng.choice((1, 2))))
            rows = InOrder(bodies.queries.query(rng.choice((0, 1)), place.scope, want=tuple(v.type for v in targets)), _ROWS)
            names, inside = ", ".join(v.sql() for v in targets), place.within(in_loop=True)
            return Step(f"FOR {names} IN {{}} LOOP\n{{}}\nEND LOOP;", (rows, bodies.steps(inside)), "plpgsql for query variables")
        rows, record = InOrder(bodies.queries.query(rng.choice((0, 1)), place.scope), _ROWS), bodies.name("rec")
        inside = place.within(_fields(record, rows), in_loop=True)
        loop = Step(f"FOR {record} IN {{}} LOOP\n{{}}\nEND LOOP;", (rows, bodies.steps(inside)), "plpgsql for query")
        return Block((Declaration(record, "record"),), Steps((loop,)))

    def _for_execute(self, place: Place) -> Block:
        bodies, record = self.bodies, self.bodies.name("rec")
        type_ = bodies.expressions.type_in(place.scope)
        rows = InOrder(bodies.queries.query(0, Scope([column(type_, "$1")])), _ROWS)
        inside = place.within(_fields(record, rows), in_loop=True)
        loop = Step(
            f"FOR {record} IN EXECUTE {{}} USING {{}} LOOP\n{{}}\nEND LOOP;",
            (Text(rows), bodies.value(type_, place), bodies.steps(inside)),
            "plpgsql for execute",
        )
        return Block((Declaration(record, "record"),), Steps((loop,)))

    def _foreach(self, place: Place) -> Block:
        bodies, item = self.bodies, self.bodies.name("item")
        type_ = self.rng.choice(("int4", "text"))
        inside = place.within((column(type_, item),), in_loop=True)
        loop = Step(
            f"FOREACH {item} IN ARRAY {{}} LOOP\n{{}}\nEND LOOP;",
            (bodies.value(f"{type_}[]", place), bodies.steps(inside)),
            "plpgsql foreach",
        )
        return Block((Declaration(item, type_),), Steps((loop,)))


def _fields(record: str, rows: InOrder):
    """The fields that a record has in a loop over these rows."""
    return tuple(column(t, f"{record}.{name}") for name, t in zip(rows.columns, rows.query.types))
