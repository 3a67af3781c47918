"""Random indexes of tables: of several columns in any order, on expressions, with conditions."""

from __future__ import annotations

# What can be indexed of a column of a type, besides the column. No value is out of range.
_EXPRESSIONS = {
    "int2": ("({} % 3)", "coalesce({}, 0)"),
    "int4": ("({} % 3)", "coalesce({}, 0)", "({} > 2)"),
    "int8": ("({} % 3)", "({} IS NULL)"),
    "numeric": ("coalesce({}, 0)", "({} IS NULL)"),
    "text": ("lower({})", "length({})", "substr({}, 1, 2)", "({} || 'x')"),
    "varchar": ("upper({})", "substr({}, 1, 1)"),
    "bool": ("(NOT {})", "({} IS NOT TRUE)"),
    "date": ("extract(month FROM {})", "({} IS NULL)"),
    "timestamp": ("extract(hour FROM {})",),
}

_PLAIN = frozenset(
    ("int2", "int4", "int8", "numeric", "text", "varchar", "bool", "date", "timestamp", "timestamptz", "uuid", "bytea")
    + ("float4", "float8", "time")
)

_CONDITIONS = {
    "int4": ("{} > 2", "{} <> 1", "{} IN (1, 2, 3)", "{} BETWEEN 0 AND 10"),
    "int8": ("{} < 5", "{} IS NOT NULL"),
    "text": ("{} <> ''", "{} LIKE 'a%'", "lower({}) = 'a'"),
    "bool": ("{}", "NOT {}", "{} IS NOT FALSE"),
    "date": ("{} > '2020-01-01'",),
}

_ORDERS = ("", "", " DESC", " NULLS FIRST", " DESC NULLS LAST")


def of(rng, table) -> tuple[str, ...]:
    """Up to three CREATE INDEX. A unique one has the primary key's columns, so that no row violates it."""
    columns = [c for c in table.columns if c.type in _PLAIN]
    if not columns:
        return ()
    return tuple(_index(rng, table, columns, n) for n in range(rng.choice((0, 1, 2, 3))))


def _index(rng, table, columns, number: int) -> str:
    chosen = rng.sample(columns, min(len(columns), rng.choice((1, 1, 2, 3))))
    keys = [_key(rng, column) for column in chosen]
    unique = bool(table.key) and all(c.type in _PLAIN for c in table.columns if c.name in table.key) and rng.random() < 0.3
    if unique:
        keys += list(table.key)
    parts = ", ".join(key + rng.choice(_ORDERS) for key in keys)
    included = f" INCLUDE ({rng.choice(columns).name})" if rng.random() < 0.2 else ""
    condition = f" WHERE {_condition(rng, columns)}" if rng.random() < 0.4 else ""
    kind = "UNIQUE INDEX" if unique else "INDEX"
    return f"CREATE {kind} {table.name}_i{number + 1} ON {table.name} ({parts}){included}{condition}"


def _key(rng, column) -> str:
    known = _EXPRESSIONS.get(column.type)
    return rng.choice(known).format(column.name) if known and rng.random() < 0.4 else column.name


def _condition(rng, columns) -> str:
    one = [_one(rng, rng.choice(columns)) for _ in range(rng.choice((1, 1, 2)))]
    return rng.choice((" AND ", " OR ")).join(one)


def _one(rng, column) -> str:
    known = (*_CONDITIONS.get(column.type, ()), "{} IS NOT NULL", "{} IS NULL")
    return rng.choice(known).format(column.name)
