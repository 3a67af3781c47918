"""Random functions, procedures, DO blocks and triggers over random tables."""

from __future__ import annotations

from dataclasses import dataclass

from sql_types import Values
from tree import Script

from ..queries import Queries
from ..rules import RuleBook
from ..schema import Column, Schema, Table, random_schema
from ..scope import Expressions
from ..statements import Statements
from ..topics import RULES
from .bodies import Bodies
from .procedures import Procedures
from .programs import Programs
from .shapes import Shapes
from .triggers import Triggers
from .wrappers import Wrappers

# The names that routines have; all go before tables are made anew.
_NAMES = ("f1", "f2", "p1", "trg1", "trg2", "trg3")
_MOST_ROWS = 12


@dataclass(frozen=True)
class RoutineSchema(Schema):
    """Tables, and none of the routines that an earlier script has left."""

    def setup(self, options: str = "", backwards: bool = False) -> list[str]:
        drops = ["DROP VIEW IF EXISTS view1", f"DROP ROUTINE IF EXISTS {', '.join(_NAMES)} CASCADE"]
        return drops + super().setup(options, backwards)


class RoutineTrial:
    """Everything that one seed makes: tables and a log, then scripts of routines and their calls."""

    def __init__(self, rng, most_rows: int, avoided):
        self.wild = rng.choice((0.0, 0.0, 0.0, 0.2))

        def also_avoided(feature: str) -> bool:
            """The order of a set's rows is nobody's business, so they are not numbered."""
            return feature == "with ordinality" or avoided(feature)

        values = Values(rng, avoided)
        tables = random_schema(rng, values, min(most_rows, _MOST_ROWS), self.wild)
        log = Table("log", (Column("line", "text", "text"),), (), ())
        self.schema = RoutineSchema((*tables.tables, log))
        expressions = Expressions(rng, RuleBook(RULES, also_avoided), values, 0.03 + self.wild / 3)
        queries = Queries(rng, tables, expressions, also_avoided)
        bodies = Bodies(rng, tables, expressions, queries, also_avoided)
        programs, statements = Programs(rng, tables, bodies), Statements(rng, tables, expressions, queries, also_avoided)
        self._rng = rng
        self._makers = (
            (Wrappers(rng, tables, expressions, queries, also_avoided), 5),
            (programs, 6),
            (Shapes(rng, tables, expressions, queries, statements), 2),
            (Procedures(rng, programs), 3),
            (Triggers(rng, tables, bodies, statements, also_avoided), 4),
        )

    def script(self) -> Script:
        makers, weights = zip(*self._makers)
        return self._rng.choices(makers, weights)[0].script()
