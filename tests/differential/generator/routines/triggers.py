"""Triggers that change rows, refuse them and write down what they see; then changes of their tables."""

from __future__ import annotations

from dataclasses import replace

from tree import (
    Block,
    Branches,
    Derived,
    Expr,
    Insert,
    Node,
    Quoted,
    Raw,
    Routine,
    Row,
    Script,
    Step,
    Steps,
    TableRef,
    Trigger,
    Values,
    column,
)

from ..scope import Scope
from ..statements import Statements
from .bodies import Bodies
from .places import Place, fields

_EVENTS = ("INSERT", "UPDATE", "DELETE", "INSERT OR UPDATE", "INSERT OR UPDATE OR DELETE", "UPDATE OR DELETE", "INSERT OR DELETE")


class Triggers:
    """Makes scripts of triggers on one table, changes, and what the table and the log hold after each."""

    def __init__(self, rng, schema, bodies: Bodies, statements: Statements, avoided):
        self.rng, self.schema, self.bodies, self.statements, self.avoided = rng, schema, bodies, statements, avoided
        self.expressions = bodies.expressions

    def script(self) -> Script:
        rng, table = self.rng, self.rng.choice(self.schema.tables)
        if rng.random() < 0.12 and not self.avoided("instead of row trigger"):
            return self._view(table)
        made: list[Node] = []
        for n in range(rng.choice((1, 1, 2, 3))):
            made += self._trigger(f"trg{n + 1}", table)
        looks = (Raw(f"SELECT * FROM {table.name}"), Raw("SELECT * FROM log"))
        for _ in range(rng.randint(2, 5)):
            made += [self._change(table), *looks]
        if rng.random() < 0.15:
            return Script((Raw("BEGIN"), *made, Raw("ROLLBACK")))
        return Script(tuple(made))

    # ----------------------------------------------------------------------------------------- triggers

    def _trigger(self, name: str, table) -> tuple[Node, Node]:
        rng = self.rng
        row, timing, events = rng.random() < 0.75, rng.choice(("BEFORE", "BEFORE", "AFTER")), rng.choice(_EVENTS)
        new = list(fields(table, "NEW")) if row and events != "DELETE" else []
        old = list(fields(table, "OLD")) if row and events != "INSERT" else []
        references = self._references(timing, events) if rng.random() < 0.7 else ""
        when = self._when(new if "DELETE" not in events else [], old if "INSERT" not in events else []) if row else None
        if "UPDATE" in events and rng.random() < 0.4 and not references:
            columns = rng.sample(table.columns, rng.randint(1, min(2, len(table.columns))))
            events = events.replace("UPDATE", f"UPDATE OF {', '.join(c.name for c in columns)}")
        body = self._body(timing, row, new, old, references)
        function = Routine("FUNCTION", name, (), "trigger", "plpgsql", Quoted(body))
        return function, Trigger(name, timing, events, table.name, row, f"{name}({self._arguments()})", references, when)

    def _arguments(self) -> str:
        return self.rng.choice(("", "", "'x'", "'it''s', 2"))

    def _references(self, timing: str, events: str) -> str:
        """Transition tables, which only AFTER triggers of one event have."""
        if timing != "AFTER" or "OR" in events or self.avoided("referencing"):
            return ""
        new, old = " NEW TABLE AS newrows", " OLD TABLE AS oldrows"
        return " REFERENCING" + {"INSERT": new, "DELETE": old, "UPDATE": new + old}[events]

    def _when(self, new, old) -> Expr | None:
        if not (new or old) or self.rng.random() < 0.6 or self.avoided("trigger when"):
            return None
        if new and old and self.rng.random() < 0.4:
            return Expr("bool", self.rng.choice(("(OLD.* IS DISTINCT FROM NEW.*)", "(NEW IS DISTINCT FROM OLD)")), feature="trigger when")
        before, self.expressions.subquery = self.expressions.subquery, None
        condition = self.expressions.condition(Scope(new + old), 2)
        self.expressions.subquery = before
        return Expr("bool", "{}", (condition,), "trigger when")

    def _body(self, timing: str, row: bool, new, old, references: str) -> Block:
        """Random statements, a line in the log, and RETURN."""
        changed = tuple(new) if timing == "BEFORE" else ()
        place = Place(readable=(*old, *(() if changed else new)), assignable=changed, result=self._leave, reads=not row)
        declarations, assignable, readable = self.bodies.variables(place, 0, 2)
        inside = place.within(assignable, readable, depth=1)
        before, self.expressions.subquery = self.expressions.subquery, None  # what tables hold depends on the order of rows
        steps = [self._assignment(inside, changed)] if changed else []
        steps += [self.bodies.step(inside) for _ in range(self.rng.randint(0, 2))] if not row or self.rng.random() < 0.4 else []
        self.expressions.subquery = before
        steps += self._notes(new, old, references)
        if row and timing == "BEFORE" and self.rng.random() < 0.3 and not self.avoided("trigger returns null"):
            skipped = Steps((Raw("RETURN NULL;", "trigger returns null"),))
            steps.append(Step("IF ({}) THEN\n{}\nEND IF;", (self.expressions.condition(Scope(new + old), 1), skipped)))
        leave = "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\nRETURN NEW;" if row and timing == "BEFORE" else "RETURN NULL;"
        return Block(tuple(declarations), Steps((*steps, Raw(leave))))

    def _leave(self, _place: Place) -> Expr:
        """A row that there may not be: then the change is left out, as with NULL."""
        rows = ("NULL",) if self.avoided("trigger returns null row") else ("NEW", "OLD", "NULL")
        return Expr("row", self.rng.choice(rows), feature="trigger returns null row")

    def _assignment(self, place: Place, changed) -> Step:
        target = self.rng.choice(changed)
        return Step(f"{target.sql()} := {{}};", (self.expressions.make(target.type, place.scope, self.rng.choice((1, 1, 2))),), "trigger changes new")

    def _notes(self, new, old, references: str) -> list[Node]:
        """INSERT INTO log: who was called when, with which values."""
        shown = [Raw(", coalesce(TG_ARGV[0], '-')"), Raw(", TG_NARGS")]
        shown += [Raw(f", coalesce({v.sql()}::text, '-')") for v in self.rng.sample(new + old, min(3, len(new + old)))]
        steps = [Step("INSERT INTO log VALUES (concat_ws('|', TG_NAME, TG_WHEN, TG_LEVEL, TG_OP, TG_TABLE_NAME{}));", (Branches(tuple(shown)),))]
        for rows in ("newrows", "oldrows"):
            if rows in references:
                steps.append(Raw(f"INSERT INTO log SELECT concat_ws('|', TG_NAME, '{rows}', x::text) FROM {rows} AS x;", "referencing"))
        return steps

    def _view(self, table) -> Script:
        """INSTEAD OF triggers of a view, which write down and give back what they make of the rows."""
        made: list[Node] = [Raw(f"CREATE VIEW view1 AS SELECT * FROM {table.name}")]
        for event in ("INSERT", "UPDATE", "DELETE"):
            name = f"trg{(len(made) + 1) // 2}"
            new = list(fields(table, "NEW")) if event != "DELETE" else []
            old = list(fields(table, "OLD")) if event != "INSERT" else []
            function = Routine("FUNCTION", name, (), "trigger", "plpgsql", Quoted(self._body("BEFORE", True, new, old, "")))
            made += [function, Trigger(name, "INSTEAD OF", event, "view1", True, f"{name}()")]
        for _ in range(self.rng.randint(2, 4)):
            change = replace(self._plain_change(table), table="view1")
            change = replace(change, conflict=None) if isinstance(change, Insert) else change
            made += [change, Raw(f"SELECT * FROM {table.name}"), Raw("SELECT * FROM log")]
        return Script(tuple(made))

    # ------------------------------------------------------------------------------------------ changes

    def _change(self, table) -> Node:
        """INSERT, UPDATE, DELETE or MERGE of the table."""
        if self.rng.random() < 0.15 and len(table.key) == 1 and not self.avoided("merge"):
            return self._merge(table)
        return self._plain_change(table)

    def _plain_change(self, table) -> Node:
        while True:
            change = self.statements.change()
            if change.table == table.name:
                return change

    def _merge(self, table) -> Step:
        rng, key = self.rng, next(c for c in table.columns if c.name == table.key[0])
        own, other = [[column(c.type, f"{a}.{c.name}") for c in table.columns] for a in ("x", "z")]
        values = [self.expressions.make(c.type, Scope(other), 0) for c in table.columns]
        changed = rng.choice([c for c in table.columns if c is not key])
        update = Step(
            " WHEN MATCHED AND {} THEN UPDATE SET " + changed.name + " = {}",
            (self.expressions.condition(Scope(own + other), 1), self.expressions.make(changed.type, Scope(own + other), 1)),
        )
        delete = Step(" WHEN MATCHED AND {} THEN DELETE", (self.expressions.condition(Scope(own + other), 1),))
        names, row = ", ".join(c.name for c in table.columns), ", ".join(["{}"] * len(values))
        insert = Step(f" WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({row})", tuple(values))
        actions = tuple(rng.sample((update, delete), rng.randint(0, 2))) + (insert,)
        text = f"MERGE INTO {table.name} AS x USING {{}} ON x.{key.name} = z.{key.name}{{}}"
        return Step(text, (self._source(table), Branches(actions)), "merge")

    def _source(self, table) -> Node:
        """The table itself, or rows with some of its keys and new ones."""
        if self.rng.random() < 0.2:
            return TableRef(table.name, "z")
        types, names = tuple(c.type for c in table.columns), tuple(c.name for c in table.columns)
        rows = [self.statements.new_row(table, table.columns) for _ in range(self.rng.randint(1, 3))]
        given = tuple(Row(tuple(Expr(v.type, f"NULL::{v.type}") if v.sql() == "DEFAULT" else v for v in row.values)) for row in rows)
        return Derived(Values(given, types), "z", names)
