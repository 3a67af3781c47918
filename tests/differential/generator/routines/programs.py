"""Functions with random bodies in PL/pgSQL: called once when they change tables, else once a row; and DO blocks."""

from __future__ import annotations

from functools import partial

from sql_types import TYPES
from tree import (
    Block,
    Declaration,
    Expr,
    FunctionRef,
    InOrder,
    Item,
    Join,
    Node,
    Parameter,
    Quoted,
    Raw,
    Routine,
    Script,
    Select,
    Step,
    Steps,
    column,
)

from ..scope import Scope
from .bodies import Bodies, summary
from .places import Place


class Programs:
    """Makes scripts of a function and its call."""

    def __init__(self, rng, schema, bodies: Bodies):
        self.rng, self.schema, self.bodies = rng, schema, bodies
        self.expressions, self.queries = bodies.expressions, bodies.queries

    def script(self) -> Script:
        return self.rng.choice((self._texts, self._texts, self._outputs, self._values, self._sets, self._tables, self._recursive))()

    def contents(self) -> list[Raw]:
        return [Raw(f"SELECT * FROM {t.name}") for t in self.schema.tables]

    def parameters(self, most: int = 3) -> tuple[tuple[Parameter, ...], tuple[Expr, ...]]:
        types = [self.rng.choice(TYPES) for _ in range(self.rng.randint(0, most))]
        parameters = tuple(Parameter(f"arg{n + 1}", t) for n, t in enumerate(types))
        return parameters, tuple(column(t, f"arg{n + 1}") for n, t in enumerate(types))

    def call(self, name: str, parameters, scope: Scope | None = None) -> Expr:
        values = tuple(self.expressions.make(p.type, scope or Scope(), self.rng.choice((0, 0, 1))) for p in parameters)
        return Expr("call", f"{name}({', '.join(['{}'] * len(values))})", values)

    def function(self, parameters, returns: str, block: Node) -> Routine:
        return Routine("FUNCTION", "f1", parameters, returns, "plpgsql", Quoted(block))

    def body(self, place: Place, end=None, least: int = 2, most: int = 5) -> Block:
        """A block with variables; `end` makes the last statement of what is in scope."""
        declarations, assignable, readable = self.bodies.variables(place)
        state = column("text", "state0")
        inside = place.within((*assignable, state), readable, depth=0)
        steps = self.bodies.steps(inside, least, most).steps
        last = (end(inside),) if end else ()
        declarations = (Declaration("state0", "text"), *declarations)
        if self.rng.random() < 0.45:
            kept = Block((), Steps(steps), self.bodies.handlers(inside.within(commits=False)))
            return Block(declarations, Steps((kept, *last)))
        return Block(declarations, Steps((*steps, *last)))

    def _after(self, routine: Node, *calls: Node) -> Script:
        """The routine, the calls, and the tables then; mostly in a transaction that is rolled back."""
        statements = (routine, *calls, *self.contents())
        if self.rng.random() < 0.7:
            return Script((Raw("BEGIN"), *statements, Raw("ROLLBACK")))
        return Script(statements)

    # ---------------------------------------------------------------------------------------- functions

    def _texts(self) -> Script:
        """All variables at the end as a text."""
        parameters, arguments = self.parameters()
        place = Place(assignable=arguments, result=lambda p: summary(p.assignable), changes=True)
        block = self.body(place, lambda p: Step("RETURN {};", (summary(p.assignable),)), 2, 6)
        call = Select((Item(self.call("f1", parameters)),))
        return self._after(self.function(parameters, "text", block), call)

    def _outputs(self) -> Script:
        """OUT parameters."""
        parameters, arguments = self.parameters()
        types = [self.rng.choice(TYPES) for _ in range(self.rng.randint(1, 3))]
        outputs = tuple(column(t, f"out{n + 1}") for n, t in enumerate(types))
        place = Place(assignable=arguments + outputs, changes=True)
        declared = tuple(Parameter(o.sql(), o.type, "OUT") for o in outputs)
        routine = self.function((*parameters, *declared), "", self.body(place))
        return self._after(routine, Step("SELECT * FROM {}", (self.call("f1", parameters),)))

    def _values(self) -> Script:
        """A function that changes nothing, called for the rows of a table."""
        parameters, arguments = self.parameters()
        type_ = self.rng.choice(TYPES)
        place = Place(assignable=arguments, result=lambda p: self.bodies.value(type_, p))
        block = self.body(place, lambda p: Step("RETURN {};", (place.result(p),)), 1, 4)
        return Script((Raw("BEGIN"), self.function(parameters, type_, block), self._over_table(parameters), Raw("ROLLBACK")))

    def _over_table(self, parameters) -> Select:
        relation, columns = self.queries.sources._table()
        scope = Scope(columns, tuple(columns))
        return Select((Item(self.call("f1", parameters, scope)), Item(self.rng.choice(columns))), relation)

    def _sets(self) -> Script:
        """SETOF a type, with RETURN NEXT and RETURN QUERY."""
        parameters, arguments = self.parameters()
        type_ = self.rng.choice(TYPES)
        emits = partial(self._emit, (type_,), "RETURN NEXT {};")
        changes = self.rng.random() < 0.5
        place = Place(assignable=arguments, emits=emits, changes=changes)
        block = self.body(place, emits, 2, 5)
        routine = self.function(parameters, f"SETOF {type_}", block)
        return self._after(routine, *self._from(parameters, (type_,), changes))

    def _tables(self) -> Script:
        """TABLE: its columns are variables that RETURN NEXT takes."""
        parameters, arguments = self.parameters()
        types = tuple(self.rng.choice(TYPES) for _ in range(self.rng.randint(1, 3)))
        outputs = tuple(column(t, f"out{n + 1}") for n, t in enumerate(types))
        emits = partial(self._emit, types, "RETURN NEXT;")
        changes = self.rng.random() < 0.5
        place = Place(assignable=arguments + outputs, emits=emits, changes=changes)
        returns = f"TABLE ({', '.join(f'{o.sql()} {o.type}' for o in outputs)})"
        routine = self.function(parameters, returns, self.body(place, emits, 2, 5))
        return self._after(routine, *self._from(parameters, types, changes))

    def _emit(self, types, following: str, place: Place) -> Node:
        rng = self.rng
        if rng.random() < 0.3:
            query = InOrder(self.queries.query(0, place.scope, want=tuple(types)))
            return Step("RETURN QUERY {};", (query,), "plpgsql return query")
        return Step(following, (self.bodies.value(types[0], place),) if "{}" in following else (), "plpgsql return next")

    def _from(self, parameters, types, changes: bool) -> list[Node]:
        """The call in FROM; for each row of a table if nothing is changed."""
        names = tuple(f"a{n + 1}" for n in range(len(types)))
        if changes or self.rng.random() < 0.4:
            ordinality = self.rng.random() < 0.3 and not self.bodies.avoided("call with ordinality")
            call = FunctionRef(self.call("f1", parameters), "g", names, ordinality)
            return [Step("SELECT * FROM {}", (call,))]
        relation, columns = self.queries.sources._table()
        call = FunctionRef(self.call("f1", parameters, Scope(columns)), "g", names, lateral=True)
        join = self.rng.choice((Join("CROSS JOIN", relation, call), Join("LEFT JOIN", relation, call, Expr("bool", "TRUE"))))
        return [Select((Item(self.rng.choice(columns)), *(Item(Expr(t, f"g.{n}")) for t, n in zip(types, names))), join)]

    def _recursive(self) -> Script:
        """A function that calls itself some levels deep."""
        rng, type_ = self.rng, self.rng.choice(TYPES)
        level, value = column("int4", "level"), column(type_, "value")
        parameters = (Parameter("level", "int4"), Parameter("value", type_))
        place = Place(readable=(level,), assignable=(value,), changes=rng.random() < 0.5, result=lambda p: self.bodies.value(type_, p))

        def again(inside: Place) -> Step:
            inner = Expr(type_, "f1(level - {}, {})", (Raw(str(rng.randint(1, 2))), self.bodies.value(type_, inside)))
            outer = self.expressions.make(type_, inside.within((inner,)).scope, 1)
            return Step("RETURN {};", (outer if "f1(" in outer.sql() else inner,), "recursion")

        block = self.body(place, again, 1, 3)
        start = Step("IF level <= 0 OR level IS NULL THEN RETURN {}; END IF;", (Expr(type_, "value"),))
        block = Block(block.declarations, Steps((start, block.body)), block.handlers)
        call = Expr(type_, "f1({}, {})", (Raw(str(rng.randint(1, 5))), self.expressions.literal(type_)))
        return self._after(self.function(parameters, type_, block), Select((Item(call),)))
