"""Functions with parameters and results of other shapes: rows of tables, any number, any type; and several statements."""

from __future__ import annotations

from sql_types import TYPES
from tree import Expr, Item, Node, Parameter, Quoted, Raw, Routine, Script, Select, Step, Steps, TableRef, column

from ..scope import Scope
from .places import fields

# Expressions over `a` and `b` of any type, and what they result in.
_POLYMORPHIC = (
    ("anyelement", "CASE WHEN a = b THEN a ELSE coalesce(b, a) END"),
    ("anyelement", "coalesce(a, b)"),
    ("anyelement", "greatest(a, b)"),
    ("anyarray", "ARRAY[a, b]"),
    ("bool", "a < b"),
    ("bool", "a IS DISTINCT FROM b"),
    ("text", "a::text || b::text"),
    ("int4", "num_nulls(a, b)"),
)


class Shapes:
    """Makes scripts of one such function and its call."""

    def __init__(self, rng, schema, expressions, queries, statements):
        self.rng, self.schema, self.expressions, self.queries, self.statements = rng, schema, expressions, queries, statements

    def script(self) -> Script:
        makers = (self._takes_row, self._returns_rows, self._variadic, self._polymorphic, self._several)
        statements = self.rng.choice(makers)()
        if self.rng.random() < 0.85:
            return Script((Raw("BEGIN"), *statements, Raw("ROLLBACK")))
        return Script(statements)

    def _function(self, parameters, returns: str, expr: Node) -> Routine:
        """The expression in SQL or in PL/pgSQL."""
        rng = self.rng
        options = tuple(Raw(o) for o in (rng.choice(("", "STRICT")), rng.choice(("", "IMMUTABLE", "STABLE"))) if o)
        if rng.random() < 0.5:
            return Routine("FUNCTION", "f1", parameters, returns, "sql", Quoted(Step("SELECT {}", (expr,))), options)
        return Routine("FUNCTION", "f1", parameters, returns, "plpgsql", Quoted(Step("BEGIN\nRETURN {};\nEND;", (expr,))), options)

    def _takes_row(self) -> tuple[Node, ...]:
        rng, table, type_ = self.rng, self.rng.choice(self.schema.tables), self.rng.choice(TYPES)
        scope = Scope([Expr(f.type, f.sql()) for f in fields(table, "(r)")])
        function = self._function((Parameter("r", table.name),), type_, self.expressions.make(type_, scope, rng.choice((1, 2, 2))))
        call = Expr(type_, rng.choice(("f1(x)", "f1(x.*)", "x.f1", f"f1(ROW(x.*)::{table.name})")))
        items = (Item(call), Item(rng.choice([column(c.type, f"x.{c.name}") for c in table.columns])))
        return function, Select(items, TableRef(table.name, "x"))

    def _returns_rows(self) -> tuple[Node, ...]:
        """A row of a table or all that meet a condition, from SQL or RETURN QUERY."""
        rng, table = self.rng, self.rng.choice(self.schema.tables)
        parameter = Parameter("arg1", rng.choice(table.columns).type)
        own = [column(c.type, f"x.{c.name}") for c in table.columns]
        where = self.expressions.condition(Scope([*own, column(parameter.type, "arg1")]), 2)
        keys = ", ".join(str(n + 1) for n in range(len(own)))
        query = Step(f"SELECT x.* FROM {table.name} AS x WHERE {{}} ORDER BY {keys}", (where,))
        kind = rng.choice(("one", "sql", "plpgsql", "next"))
        if kind == "one":
            language, returns, body = "sql", table.name, Step("{} LIMIT 1", (query,))
        elif kind == "sql":
            language, returns, body = "sql", f"SETOF {table.name}", query
        elif kind == "plpgsql":
            language, returns, body = "plpgsql", f"SETOF {table.name}", Step("BEGIN\nRETURN QUERY {};\nEND;", (query,))
        else:
            loop = f"DECLARE\nrow1 {table.name};\nBEGIN\nFOR row1 IN {{}} LOOP\nRETURN NEXT row1;\nEND LOOP;\nEND;"
            language, returns, body = "plpgsql", f"SETOF {table.name}", Step(loop, (query,))
        value, one = self.expressions.literal(parameter.type), rng.choice(table.columns).name
        call = rng.choice(("SELECT * FROM f1({})", "SELECT (f1({})).*", f"SELECT (f1({{}})).{one}", "SELECT g::text FROM f1({}) AS g"))
        return Routine("FUNCTION", "f1", (parameter,), returns, language, Quoted(body)), Step(call, (value,))

    def _variadic(self) -> tuple[Node, ...]:
        rng, element, type_ = self.rng, self.rng.choice(("int4", "text")), self.rng.choice(TYPES)
        scope = Scope([column(f"{element}[]", "args"), column("text", "first")])
        parameters = (Parameter("first", "text"), Parameter("args", f"{element}[]", "VARIADIC"))
        function = self._function(parameters, type_, self.expressions.make(type_, scope, rng.choice((1, 2, 2))))
        relation, columns = self.queries.sources._table()
        outer = Scope(columns, tuple(columns))
        first = self.expressions.make("text", outer, 0)
        if rng.random() < 0.3:
            call = Expr(type_, "f1({}, VARIADIC {})", (first, self.expressions.make(f"{element}[]", outer, 1)))
        else:
            values = tuple(self.expressions.make(element, outer, 0) for _ in range(rng.randint(1, 3)))
            call = Expr(type_, f"f1({', '.join(['{}'] * (len(values) + 1))})", (first, *values))
        return function, Select((Item(call),), relation)

    def _polymorphic(self) -> tuple[Node, ...]:
        result, text = self.rng.choice(_POLYMORPHIC)
        function = self._function((Parameter("a", "anyelement"), Parameter("b", "anyelement")), result, Raw(text))
        relation, columns = self.queries.sources._table()
        scope, type_ = Scope(columns, tuple(columns)), self.rng.choice(columns).type
        call = Expr(type_, "f1({}, {})", tuple(self.expressions.make(type_, scope, self.rng.choice((0, 1))) for _ in range(2)))
        return function, Select((Item(call),), relation)

    def _several(self) -> tuple[Node, ...]:
        """A SQL function of changes and a last expression, called once."""
        type_ = self.rng.choice(TYPES)
        changes = [Step("{};", (self.statements.change(),)) for _ in range(self.rng.randint(1, 2))]
        argument = Parameter("arg1", self.rng.choice(TYPES))
        last = self.expressions.make(type_, Scope([column(argument.type, "arg1")]), self.rng.choice((1, 2, 3)))
        body = Steps((*changes, Step("SELECT {};", (last,))))
        function = Routine("FUNCTION", "f1", (argument,), type_, "sql", Quoted(body))
        call = Select((Item(Expr(type_, "f1({})", (self.expressions.literal(argument.type),))),))
        return function, call, *(Raw(f"SELECT * FROM {t.name}") for t in self.schema.tables)
