"""Where a statement of PL/pgSQL stands: what it can read and assign, and how it can leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tree import Expr, Node, column

from ..scope import Scope


@dataclass(frozen=True)
class Place:
    """The surroundings of a statement.

    `result` makes the expression behind RETURN, or is None where RETURN stands alone; `emits` makes a RETURN NEXT or
    RETURN QUERY where a set is made. Functions that are called for many rows change no tables: in which order they are
    called is nobody's business. Triggers for rows read none, either.
    """

    readable: tuple[Expr, ...] = ()
    assignable: tuple[Expr, ...] = ()
    result: Callable[[Place], Node] | None = None
    emits: Callable[[Place], Node] | None = None
    reads: bool = True
    changes: bool = False
    commits: bool = False
    in_loop: bool = False
    depth: int = 0

    @property
    def scope(self) -> Scope:
        return Scope([*self.readable, *self.assignable])

    def within(self, assignable: tuple[Expr, ...] = (), readable: tuple[Expr, ...] = (), **changed) -> Place:
        """A place further inside, with more to assign and to read."""
        return replace(
            self,
            readable=self.readable + readable,
            assignable=self.assignable + assignable,
            **{"depth": self.depth + 1} | changed,
        )


# Names that PL/pgSQL does not take for fields.
_RESERVED = ("by",)


def fields(table, name: str) -> tuple[Expr, ...]:
    """The columns of a table as fields of a row variable."""
    return tuple(column(c.type, f"{name}.{c.name}") for c in table.columns if c.name not in _RESERVED)
