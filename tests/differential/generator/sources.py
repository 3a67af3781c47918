"""FROM: tables, joins of every kind, subqueries with LATERAL and without, and functions that return rows."""

from __future__ import annotations

from sql_types import TYPES
from tree import Derived, Expr, FunctionRef, Join, Relation, Row, TableRef, Values, column

from .scope import Expressions, Scope

# Functions that return rows: their call, its arguments, and the types of their columns.
FUNCTIONS = (
    ("generate_series({}, {})", ("index", "count"), ("int4",)),
    ("generate_series({}, 6, {})", ("index", "small"), ("int4",)),
    ("generate_series(3, {}, -1)", ("index",), ("int4",)),
    ("generate_series({}::numeric, 3.5, 1.25)", ("index",), ("numeric",)),
    ("generate_series({}::int8, 4)", ("index",), ("int8",)),
    (
        "generate_series('2020-01-30'::timestamp, '2020-02-02'::timestamp, '12 hours'::interval)",
        (),
        ("timestamp",),
    ),
    ("generate_series('2020-01-31'::date, '2020-06-30'::date, '1 month'::interval)", (), ("timestamptz",)),
    (
        "generate_series('2020-01-31 00:00+00'::timestamptz, '2020-02-01 00:00+00'::timestamptz, '7 hours'::interval)",
        (),
        ("timestamptz",),
    ),
    ("unnest({})", ("int4[]",), ("int4",)),
    ("unnest({})", ("text[]",), ("text",)),
    ("unnest({}, {})", ("int4[]", "text[]"), ("int4", "text")),
    ("jsonb_array_elements(jsonb_build_array({}, {}))", ("int4", "text"), ("jsonb",)),
    ('jsonb_array_elements_text(\'[1, "a", null, {"x": 2}]\')', (), ("text",)),
    ("jsonb_each(jsonb_build_object('k', {}, 'm', {}))", ("int4", "text"), ("text", "jsonb")),
    ('jsonb_each_text(\'{"a": 1, "b": null}\')', (), ("text", "text")),
    ('jsonb_object_keys(\'{"b": 1, "a": 2}\')', (), ("text",)),
    ("regexp_split_to_table({}, {})", ("text", "regex"), ("text",)),
    ("string_to_table({}, {})", ("text", "delimiter"), ("text",)),
    ("regexp_matches({}, {}, 'g')", ("text", "regex"), ("text[]",)),
    ("generate_subscripts({}, 1)", ("int4[]",), ("int4",)),
    ('jsonb_to_recordset(\'[{"a": 1, "b": "x"}, {"a": null}]\') AS ', (), ("int4", "text")),
)
_CONDITIONED = (
    "JOIN",
    "JOIN",
    "INNER JOIN",
    "LEFT JOIN",
    "LEFT JOIN",
    "LEFT OUTER JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
)


class Sources:
    """Makes relations; each comes with the columns that it brings into scope."""

    def __init__(self, rng, schema, expressions: Expressions, queries, avoided):
        self.rng, self.schema, self.expressions, self.queries, self.avoided = (
            rng,
            schema,
            expressions,
            queries,
            avoided,
        )
        self.functions = FUNCTIONS
        self.count = 0
        self.ctes: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []  # name, column names, types

    def alias(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def make(self, depth: int, outer: Scope | None) -> tuple[Relation, list[Expr]]:
        """One relation or a join of a few."""
        rng = self.rng
        relation, columns = self._primary(depth, outer)
        joins = rng.choice((0, 0, 1, 1, 1, 2)) if depth > 0 else rng.choice((0, 0, 0, 1))
        for _ in range(joins):
            relation, columns = self._join(relation, columns, depth, outer)
        return relation, columns

    def _primary(self, depth: int, outer: Scope | None) -> tuple[Relation, list[Expr]]:
        rng, dice = self.rng, self.rng.random()
        if self.ctes and dice < 0.3:
            name, names, types = rng.choice(self.ctes)
            alias = self.alias("c")
            return TableRef(name, alias), self._columns(alias, names, types)
        if depth > 0 and dice < 0.2:
            return self._derived(depth - 1, outer, lateral=False)
        if dice < 0.25:
            return self._function(outer, Scope())
        if dice < 0.29:
            return self._values()
        return self._table()

    def _table(self) -> tuple[Relation, list[Expr]]:
        table = self.rng.choice(self.schema.tables)
        alias = self.alias("x") if self.rng.random() < 0.9 else ""
        if not alias:  # its own name, once in a FROM
            alias = self.alias(table.name + "_")
        return TableRef(table.name, alias), [column(c.type, f"{alias}.{c.name}") for c in table.columns]

    def _columns(self, alias: str, names, types) -> list[Expr]:
        return [column(t, f"{alias}.{n}") for n, t in zip(names, types) if t in TYPES]

    def _derived(self, depth: int, outer: Scope | None, lateral: bool) -> tuple[Relation, list[Expr]]:
        query = self.queries.query(depth, outer)
        alias, names = self.alias("q"), tuple(f"a{n + 1}" for n in range(len(query.types)))
        return Derived(query, alias, names, lateral), self._columns(alias, names, query.types)

    def _values(self) -> tuple[Relation, list[Expr]]:
        types = tuple(self.rng.choice(TYPES) for _ in range(self.rng.randint(1, 3)))
        rows = tuple(
            Row(tuple(self.expressions.literal(t) for t in types)) for _ in range(self.rng.randint(1, 4))
        )
        alias, names = self.alias("v"), tuple(f"a{n + 1}" for n in range(len(types)))
        return Derived(Values(rows, types), alias, names), self._columns(alias, names, types)

    def _function(
        self, outer: Scope | None, left_side: Scope, lateral: bool = False
    ) -> tuple[Relation, list[Expr]]:
        rng = self.rng
        while True:
            template, args, types = rng.choice(self.functions)
            feature = f"from {template.split('(')[0]}"
            if not self.avoided(feature):
                break
        scope = left_side if lateral else Scope(outer=outer)
        children = tuple(self.expressions.argument(a, scope, 0) for a in args)
        alias, names = self.alias("g"), tuple(f"a{n + 1}" for n in range(len(types)))
        if "recordset" in template:
            return FunctionRef(Expr("rows", template, children, feature), alias, ("a", "b")), self._columns(
                alias, ("a", "b"), types
            )
        ordinality = rng.random() < 0.15 and not self.avoided("with ordinality")
        if ordinality:
            names, types = names + ("o",), types + ("int8",)
        return FunctionRef(
            Expr("rows", template, children, feature), alias, names, ordinality, lateral
        ), self._columns(alias, names, types)

    def _join(
        self, left: Relation, left_columns: list[Expr], depth: int, outer: Scope | None
    ) -> tuple[Relation, list[Expr]]:
        rng, dice = self.rng, self.rng.random()
        left_side = Scope(left_columns, tuple(left_columns), outer)
        if dice < 0.1 and not self.avoided("lateral"):
            right, columns = self._derived(max(depth - 1, 0), left_side, lateral=True)
            kind = rng.choice(("CROSS JOIN", "LEFT JOIN", "JOIN"))
            return Join(
                kind, left, right, None if kind == "CROSS JOIN" else self._on(left_columns, columns, outer)
            ), left_columns + columns
        if dice < 0.17 and not self.avoided("lateral function"):
            right, columns = self._function(outer, left_side, lateral=True)
            if rng.random() < 0.5:
                return Join("CROSS JOIN", left, right), left_columns + columns
            return Join("LEFT JOIN", left, right, Expr("bool", "TRUE")), left_columns + columns
        right, columns = self._primary(depth - 1, outer)
        if dice < 0.22:
            return Join("CROSS JOIN", left, right), left_columns + columns
        if dice < 0.36:
            joined = self._using(left, left_columns, right, columns)
            if joined:
                return joined, left_columns + columns
        kind = rng.choice(_CONDITIONED)
        if self.avoided(kind.lower()):
            kind = "JOIN"
        return Join(kind, left, right, self._on(left_columns, columns, outer)), left_columns + columns

    def _using(self, left, left_columns, right, right_columns) -> Relation | None:
        """A join by columns of the same name, if each side has just one of that name."""
        rng = self.rng
        stem = {}
        for side, columns in ((0, left_columns), (1, right_columns)):
            for c in columns:
                stem.setdefault(c.template.split(".")[1], ([], []))[side].append(c.type)
        common = [n for n, (a, b) in stem.items() if len(a) == len(b) == 1 and a == b]
        if not common:
            return None
        kind = rng.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        if (
            rng.random() < 0.3
            and isinstance(left, (TableRef, Derived))
            and not any(len(a) > 1 or len(b) > 1 for a, b in stem.values())
        ):
            return Join(f"NATURAL {kind}", left, right)
        names = tuple(rng.sample(common, min(len(common), rng.choice((1, 1, 2)))))
        return Join(kind, left, right, using=names)

    def _on(self, left_columns: list[Expr], right_columns: list[Expr], outer: Scope | None) -> Expr:
        """Mostly equal columns of both sides, with more conditions or without."""
        rng = self.rng
        both = Scope(left_columns + right_columns, (), outer)
        pairs = [(a, b) for a in left_columns for b in right_columns if a.type == b.type]
        if not pairs or rng.random() < 0.15:
            return self.expressions.condition(both, 2)
        a, b = rng.choice(pairs)
        operator = rng.choice(("=", "=", "=", "=", "=", "<", "<>", ">=", "IS NOT DISTINCT FROM"))
        on = Expr("bool", f"({{}} {operator} {{}})", (a, b))
        if rng.random() < 0.3:
            on = Expr(
                "bool",
                f"({{}} {rng.choice(('AND', 'AND', 'AND', 'OR'))} {{}})",
                (on, self.expressions.condition(both, 1)),
            )
        return on
