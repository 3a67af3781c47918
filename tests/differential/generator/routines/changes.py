"""Statements of PL/pgSQL that change tables."""

from __future__ import annotations

from tree import Expr, Node, Raw, Step, Text, column

from ..scope import Scope
from .places import Place


class Changes:
    """Makes changes with values over the variables, where a place allows them."""

    def __init__(self, bodies):
        self.bodies, self.rng = bodies, bodies.rng

    def _small(self, type_: str, scope: Scope) -> Expr:
        return self.bodies.expressions.make(type_, scope, self.rng.choice((0, 0, 1)))

    def _into(self, place: Place, table, name: str = "x") -> Node:
        """RETURNING ... INTO a variable, or nothing."""
        plain = [v for v in place.assignable if "." not in v.sql()]
        if not plain or self.rng.random() < 0.4 or self.bodies.avoided("returning into"):
            return Raw("")
        target = self.rng.choice(plain)
        scope = Scope([column(c.type, f"{name}.{c.name}") for c in table.columns])
        strict = "STRICT " if self.rng.random() < 0.2 else ""
        return Step(f" RETURNING {{}} INTO {strict}{target.sql()}", (self._small(target.type, scope),), "returning into")

    def _insert(self, place: Place) -> Step | None:
        if not place.changes:
            return None
        rng, table = self.rng, self.rng.choice(self.bodies.schema.tables)
        columns = [c for c in table.columns if c.not_null or c.name in table.key or rng.random() < 0.8]
        if not columns:
            return None
        values = tuple(self._small(c.type, place.scope) for c in columns)
        conflict = " ON CONFLICT DO NOTHING" if table.key and rng.random() < 0.5 else ""
        return Step(
            f"INSERT INTO {table.name} AS x ({', '.join(c.name for c in columns)}) VALUES ({', '.join(['{}'] * len(values))}){conflict}{{}};",
            (*values, self._into(place, table)),
            "plpgsql insert",
        )

    def _where(self, place: Place, table) -> Expr:
        """A condition over columns and variables; a key most of the time, so that RETURNING INTO meets one row."""
        own = [column(c.type, f"x.{c.name}") for c in table.columns]
        keys = [c for c in table.columns if c.name in table.key]
        if len(keys) == 1 and self.rng.random() < 0.5:
            return Expr("bool", f"(x.{keys[0].name} = {{}})", (self._small(keys[0].type, place.scope),))
        return self.bodies.expressions.condition(Scope(own + list(place.assignable)), self.rng.choice((1, 2)))

    def _update(self, place: Place) -> Step | None:
        if not place.changes:
            return None
        rng, table = self.rng, self.rng.choice(self.bodies.schema.tables)
        free = [c for c in table.columns if c.name not in table.key]
        chosen = rng.sample(free, min(len(free), rng.choice((1, 1, 2))))
        scope = Scope([column(c.type, f"x.{c.name}") for c in table.columns] + list(place.assignable))
        assignments = ", ".join(f"{c.name} = {{}}" for c in chosen)
        values = tuple(self._small(c.type, scope) for c in chosen)
        return Step(
            f"UPDATE {table.name} AS x SET {assignments} WHERE {{}}{{}};",
            (*values, self._where(place, table), self._into(place, table)),
            "plpgsql update",
        )

    def _delete(self, place: Place) -> Step | None:
        if not place.changes:
            return None
        table = self.rng.choice(self.bodies.schema.tables)
        return Step(f"DELETE FROM {table.name} AS x WHERE {{}}{{}};", (self._where(place, table), self._into(place, table)), "plpgsql delete")

    def _execute_change(self, place: Place) -> Step | None:
        """EXECUTE of a change whose values are parameters."""
        if not place.changes:
            return None
        rng, table = self.rng, self.rng.choice(self.bodies.schema.tables)
        changed = rng.choice([c for c in table.columns if c.name not in table.key])
        parameter, own = column(changed.type, "$1"), [column(c.type, f"x.{c.name}") for c in table.columns]
        condition = self.bodies.expressions.condition(Scope([parameter, *own]), 1)
        template = f"UPDATE {table.name} AS x SET {changed.name} = $1 WHERE {{}}"
        if rng.random() < 0.3:
            template = f"DELETE FROM {table.name} AS x WHERE x.{changed.name} IS NOT DISTINCT FROM $1 AND {{}}"
        return Step("EXECUTE {} USING {};", (Text(Step(template, (condition,))), self._small(changed.type, place.scope)), "plpgsql execute change")
