"""Expressions and queries as functions, whose calls then are one more rule of how expressions and rows are made."""

from __future__ import annotations

from dataclasses import dataclass

from sql_types import TYPES
from tree import Expr, InOrder, Item, Node, Parameter, Quoted, Raw, Routine, Script, Select, Step, column

from ..rules import Rule, RuleBook
from ..scope import Scope
from ..sources import FUNCTIONS
from ..topics import RULES

# How an expression becomes the body of a function; `{type}` is its type.
_EXPRESSIONS = (
    ("sql", "SELECT {}"),
    ("sql", "SELECT {};"),
    ("sql return", "RETURN {}"),
    ("sql atomic", "BEGIN ATOMIC SELECT {}; END"),
    ("plpgsql", "BEGIN\nRETURN {};\nEND;"),
    ("plpgsql", "DECLARE\nvar1 {type} := {};\nBEGIN\nRETURN var1;\nEND;"),
    ("plpgsql", "DECLARE\nvar1 {type};\nBEGIN\nSELECT {} INTO var1;\nRETURN var1;\nEND;"),
)
_QUERIES = (
    ("sql", "{}"),
    ("sql atomic", "BEGIN ATOMIC {}; END"),
    ("plpgsql", "BEGIN\nRETURN QUERY {};\nEND;"),
    ("plpgsql", "DECLARE\nrec1 record;\nBEGIN\nFOR rec1 IN {} LOOP\n{loop}RETURN NEXT;\nEND LOOP;\nEND;"),
    ("plpgsql", "BEGIN\nRETURN QUERY EXECUTE {quoted};\nEND;"),
)
_NULLS = ("", "", "STRICT", "CALLED ON NULL INPUT", "RETURNS NULL ON NULL INPUT")
_VOLATILITIES = ("", "", "VOLATILE", "STABLE", "IMMUTABLE")
# How often a call is made where an expression of its type is wanted, next to all other rules.
_WEIGHT = 25.0


@dataclass(frozen=True)
class Made:
    """A function and the ways to call it: rules of expressions, or templates of rows."""

    routine: Routine
    rules: tuple[Rule, ...] = ()
    rows: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()


class Wrappers:
    """Makes functions and queries that call them."""

    def __init__(self, rng, schema, expressions, queries, avoided):
        self.rng, self.schema, self.expressions, self.queries, self.avoided = rng, schema, expressions, queries, avoided

    def script(self) -> Script:
        """One function or two, of which the second may call the first, and a query that calls one."""
        made, book = [], self.expressions.book
        try:
            for n in range(self.rng.choice((1, 1, 2))):
                made.append(self._scalar(f"f{n + 1}") if self.rng.random() < 0.65 else self._set(f"f{n + 1}"))
                self.expressions.book = RuleBook([*RULES, *(r for m in made for r in m.rules)], self.avoided)
                rows = [r for m in made for r in m.rows]
                self.queries.sources.functions = (*FUNCTIONS, *rows * (20 // len(rows))) if rows else FUNCTIONS
            calls = [self._query(self.rng.choice(made)) for _ in range(self.rng.choice((1, 1, 2)))]
        finally:
            self.expressions.book, self.queries.sources.functions = book, FUNCTIONS
        routines = [m.routine for m in made]
        if self.rng.random() < 0.85:
            return Script((Raw("BEGIN"), *routines, *calls, Raw("ROLLBACK")))
        return Script((*routines, *calls))

    # ---------------------------------------------------------------------------------------- functions

    def _scalar(self, name: str) -> Made:
        rng, result = self.rng, self.rng.choice(TYPES)
        language, template = rng.choice([e for e in _EXPRESSIONS if not self.avoided(f"{e[0]} function")])
        parameters, scope = self._parameters(language)
        body = self.expressions.make(result, scope, rng.choice((1, 1, 2, 3)))
        template = template.replace("{type}", result)
        return Made(self._routine(name, parameters, result, language, Step(template, (body,))), tuple(self._calls(name, parameters, result)))

    def _set(self, name: str) -> Made:
        """A function that returns the rows of a query; where it goes through them one by one they have an order."""
        rng = self.rng
        language, template = rng.choice([q for q in _QUERIES if not self.avoided(f"{q[0]} function")])
        parameters, scope = self._parameters(language)
        query = InOrder(self.queries.query(rng.choice((0, 1, 1, 2)), scope))
        types = query.query.types
        if len(types) == 1 and rng.random() < 0.5 and "{loop}" not in template:
            returns = f"SETOF {types[0]}"
        else:
            returns = f"TABLE ({', '.join(f'out{n + 1} {t}' for n, t in enumerate(types))})"
        rows = query.query if "{loop}" not in template and rng.random() < 0.6 else query
        if "{quoted}" in template:
            rows, template = self._dynamic(query, parameters), template.replace("{quoted}", "{}")
        template = template.replace("{loop}", "".join(f"out{n + 1} := rec1.{c};\n" for n, c in enumerate(query.columns)))
        routine = self._routine(name, parameters, returns, language, Step(template, (rows,)))
        kinds = tuple(p.type for p in parameters)
        template = f"{name}({', '.join(['{}'] * len(kinds))})"
        return Made(routine, rows=((template, kinds, types),))

    def _dynamic(self, query: InOrder, parameters) -> Node:
        """The query as a text, whose parameters are format's."""
        text = query.sql().replace("'", "''")
        for n, parameter in enumerate(parameters):
            text = text.replace(parameter.name, f"${n + 1}")
        using = f" USING {', '.join(p.name for p in parameters)}" if parameters else ""
        return Raw(f"'{text}'{using}")

    def _parameters(self, language: str) -> tuple[tuple[Parameter, ...], Scope]:
        rng = self.rng
        types = [rng.choice(TYPES) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
        names = [f"arg{n + 1}" for n in range(len(types))]
        first_default = rng.randint(0, len(types)) if rng.random() < 0.3 else len(types)
        parameters = tuple(
            Parameter(name, type_, default=self.expressions.literal(type_) if n >= first_default else None)
            for n, (name, type_) in enumerate(zip(names, types))
        )
        if language == "sql" and rng.random() < 0.3:  # which may name parameters by their numbers
            names = [f"${n + 1}" for n in range(len(types))]
        return parameters, Scope([column(t, n) for t, n in zip(types, names)])

    def _routine(self, name, parameters, returns, language, body) -> Routine:
        options = tuple(Raw(o) for o in (self.rng.choice(_NULLS), self.rng.choice(_VOLATILITIES)) if o)
        if language in ("sql return", "sql atomic"):
            return Routine("FUNCTION", name, parameters, returns, "sql", body, options)
        return Routine("FUNCTION", name, parameters, returns, language, Quoted(body), options)

    def _calls(self, name: str, parameters, result: str):
        """Rules for calls: with all arguments, without those that have defaults, and with names."""
        kinds = [p.type for p in parameters]
        fewest = next((n for n, p in enumerate(parameters) if p.default), len(parameters))
        for count in range(fewest, len(parameters) + 1):
            yield Rule(result, f"{name}({', '.join(['{}'] * count)})", tuple(kinds[:count]), "function call", _WEIGHT)
        if parameters:
            order = self.rng.sample(parameters, len(parameters))
            arguments = ", ".join(f"{p.name} {self.rng.choice(('=>', ':='))} {{}}" for p in order)
            yield Rule(result, f"{name}({arguments})", tuple(p.type for p in order), "function call with names", _WEIGHT / 3)

    # ------------------------------------------------------------------------------------------ queries

    def _query(self, made: Made) -> Node:
        for _ in range(12):
            query = self._simple(made) if self.rng.random() < 0.4 else self.queries.statement()
            if f"{made.routine.name}(" in query.sql():
                return query
        return self._simple(made)

    def _simple(self, made: Made) -> Select:
        """The call over the columns of a table, or of nothing."""
        rng = self.rng
        if made.rows:
            relation, columns = self.queries.sources._function(None, Scope())
            scope = Scope(columns, tuple(columns))
            return Select(tuple(Item(c) for c in columns), relation, self.expressions.condition(scope, 1) if rng.random() < 0.3 else None)
        relation, columns = self.queries.sources._table()
        scope = Scope(columns, tuple(columns))
        rule = rng.choice(made.rules)
        call = Expr(rule.result, rule.template, tuple(self.expressions.argument(a, scope, rng.choice((0, 0, 1))) for a in rule.args), rule.feature)
        where = self.expressions.condition(scope, 2) if rng.random() < 0.3 else None
        return Select((Item(call), Item(rng.choice(columns))), relation, where)
