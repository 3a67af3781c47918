"""Procedures with INOUT parameters, and DO blocks: both may end transactions."""

from __future__ import annotations

from sql_types import TYPES
from tree import Block, Expr, Node, Parameter, Quoted, Raw, Routine, Script, Step, Steps, column

from .bodies import summary
from .places import Place
from .programs import Programs


class Procedures:
    """Makes scripts with CALL and DO."""

    def __init__(self, rng, programs: Programs):
        self.rng, self.programs, self.bodies = rng, programs, programs.bodies

    def script(self) -> Script:
        statements = self._do() if self.rng.random() < 0.4 else self._call()
        statements = (*statements, *self.programs.contents())
        if self.rng.random() < 0.15:  # where COMMIT is refused
            return Script((Raw("BEGIN"), *statements, Raw("ROLLBACK")))
        return Script(statements)

    def _call(self) -> tuple[Node, ...]:
        """A procedure with parameters of all modes, and two calls of it; or one that another procedure calls."""
        rng = self.rng
        types = [rng.choice(TYPES) for _ in range(rng.randint(0, 3))]
        modes = [rng.choice(("IN", "INOUT", "INOUT", "OUT")) for _ in types]
        parameters = tuple(Parameter(f"arg{n + 1}", t, m) for n, (t, m) in enumerate(zip(types, modes)))
        assignable = tuple(column(p.type, p.name) for p in parameters)
        place = Place(assignable=assignable, changes=True, commits=rng.random() < 0.7)
        procedure = self._procedure("p1", parameters, self.programs.body(place, least=2, most=6))
        if rng.random() < 0.7:
            return procedure, self._direct(parameters), self._direct(parameters)
        return procedure, Step("DO $do$\n{}\n$do$", (self._nested(parameters),), "call in plpgsql")

    def _direct(self, parameters) -> Step:
        """CALL of a client, for which OUT parameters are NULL."""
        values = tuple(Raw(f"NULL::{p.type}") if p.mode == "OUT" else self.programs.expressions.literal(p.type) for p in parameters)
        return Step(f"CALL p1({', '.join(['{}'] * len(values))})", values, "call")

    def _nested(self, parameters) -> Block:
        """CALL in a block, whose variables take what comes out."""
        declarations = tuple(Step(f"own{n + 1} {p.type} := {{}};", (self.programs.expressions.literal(p.type),)) for n, p in enumerate(parameters))
        variables = tuple(Expr(p.type, f"own{n + 1}") for n, p in enumerate(parameters))
        call = Raw(f"CALL p1({', '.join(v.sql() for v in variables)});")
        return Block(declarations, Steps((call, _logged(Place(assignable=variables)))))

    @staticmethod
    def _procedure(name: str, parameters, block: Node) -> Routine:
        return Routine("PROCEDURE", name, parameters, "", "plpgsql", Quoted(block))

    def _do(self) -> tuple[Node, ...]:
        """A block, which leaves its variables in the log."""
        place = Place(changes=True, commits=self.rng.random() < 0.5)
        return (Step("DO $do$\n{}\n$do$", (self.programs.body(place, _logged, 2, 6),), "do"),)


def _logged(place: Place) -> Step:
    return Step("INSERT INTO log VALUES ({});", (summary(place.assignable),))
