"""Functions, procedures and triggers: how they are made, and the statements of PL/pgSQL in them."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Node, Raw, droppable, optional
from .expressions import Expr
from .queries import Query


@dataclass(frozen=True)
class Step(Node):
    """A statement of PL/pgSQL, or another piece of SQL; each `{}` of its template stands for a child."""

    template: str
    children: tuple[Node, ...] = ()
    feature: str = ""

    def sql(self):
        if not self.children:
            return self.template
        parts = self.template.split("{}")
        assert len(parts) == len(self.children) + 1, self.template
        return parts[0] + "".join(child.sql() + part for child, part in zip(self.children, parts[1:]))

    def smaller(self):
        """What stands in a loop or a condition can stand without it."""
        for child in self.children:
            if isinstance(child, Steps) and child.steps:
                yield child


@dataclass(frozen=True)
class Steps(Node):
    """Statements one after the other."""

    steps: tuple[Node, ...] = droppable()

    def sql(self):
        return "\n".join(step.sql() for step in self.steps) or "NULL;"


@dataclass(frozen=True)
class Branches(Node):
    """The ELSIF or WHEN parts of a condition, or nothing."""

    parts: tuple[Node, ...] = droppable()

    def sql(self):
        return "".join(part.sql() for part in self.parts)


@dataclass(frozen=True)
class Declaration(Node):
    """A variable, with the value that it begins with or without."""

    name: str
    type: str
    value: Node | None = optional()

    def sql(self):
        return f"{self.name} {self.type}" + (f" := {self.value.sql()};" if self.value else ";")


@dataclass(frozen=True)
class Block(Node):
    """Declarations, statements, and what is done about errors."""

    declarations: tuple[Node, ...] = droppable()
    body: Steps = Steps()
    handlers: tuple[Step, ...] = droppable()

    @property
    def feature(self):
        return "plpgsql exception" if self.handlers else ""

    def sql(self):
        lines = ["DECLARE", *(d.sql() for d in self.declarations)] if self.declarations else []
        lines += ["BEGIN", self.body.sql()]
        lines += ["EXCEPTION", *(h.sql() for h in self.handlers)] if self.handlers else []
        return "\n".join([*lines, "END;"])

    def smaller(self):
        yield self.body


@dataclass(frozen=True)
class InOrder(Node):
    """The rows of a query in an order that no reduction takes away: PL/pgSQL takes them one after the other."""

    query: Query
    limit: str = ""
    verb: str = "SELECT"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"a{n + 1}" for n in range(len(self.query.types)))

    def source(self) -> str:
        """What stands after FROM."""
        keys = ", ".join(str(n + 1) for n in range(len(self.columns)))
        return f"({self.query.sql()}) AS q ({', '.join(self.columns)}) ORDER BY {keys}{self.limit}"

    def sql(self):
        return f"{self.verb} {', '.join(f'q.{c}' for c in self.columns)} FROM {self.source()}"


@dataclass(frozen=True)
class Into(Node):
    """SELECT INTO: the first row of a query, or with STRICT its only one."""

    targets: str
    rows: InOrder
    strict: bool = False

    @property
    def feature(self):
        return "plpgsql select into strict" if self.strict else "plpgsql select into"

    def sql(self):
        columns = ", ".join(f"q.{c}" for c in self.rows.columns)
        return f"SELECT {columns} INTO {'STRICT ' if self.strict else ''}{self.targets} FROM {self.rows.source()};"


@dataclass(frozen=True)
class Text(Node):
    """Something as a text in quotation marks, for EXECUTE."""

    inner: Node

    def sql(self):
        return "'" + self.inner.sql().replace("'", "''") + "'"


@dataclass(frozen=True)
class Parameter(Node):
    """A parameter of a routine, or a column of its result."""

    name: str
    type: str
    mode: str = ""
    default: Expr | None = optional()

    def sql(self):
        return f"{self.mode} {self.name} {self.type}".strip() + (f" DEFAULT {self.default.sql()}" if self.default else "")


@dataclass(frozen=True)
class Quoted(Node):
    """The body of a routine between dollars."""

    body: Node

    def sql(self):
        return f"AS $body$\n{self.body.sql()}\n$body$"


@dataclass(frozen=True)
class Routine(Node):
    """CREATE FUNCTION or PROCEDURE."""

    kind: str
    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    language: str
    body: Node
    options: tuple[Raw, ...] = droppable()

    def sql(self):
        words = [f"CREATE OR REPLACE {self.kind} {self.name}({', '.join(p.sql() for p in self.parameters)})"]
        words += [f"RETURNS {self.returns}"] if self.returns else []
        words += [f"LANGUAGE {self.language}", *(o.sql() for o in self.options), self.body.sql()]
        return " ".join(words)


@dataclass(frozen=True)
class Trigger(Node):
    """CREATE TRIGGER."""

    name: str
    timing: str
    events: str
    table: str
    row: bool
    function: str
    references: str = ""
    when: Expr | None = optional()

    @property
    def feature(self):
        return f"{self.timing.lower()} {'row' if self.row else 'statement'} trigger"

    def sql(self):
        text = f"CREATE TRIGGER {self.name} {self.timing} {self.events} ON {self.table}{self.references}"
        text += f" FOR EACH {'ROW' if self.row else 'STATEMENT'}"
        text += f" WHEN ({self.when.sql()})" if self.when else ""
        return f"{text} EXECUTE FUNCTION {self.function}"
