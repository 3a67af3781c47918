"""pandas and polars, reading and writing through SQLAlchemy."""

import datetime as dt

import pandas as pd
import polars as pl
import sqlalchemy as sa

from harness import Suite, equal


def engine(url):
    return sa.create_engine(url.for_sqlalchemy("psycopg"))


def drop(url, statements):
    with engine(url).begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


suite = Suite("dataframes", drop)


def frame(rows=1000):
    """A pandas frame with the common column types and some nulls."""
    return pd.DataFrame(
        {
            "id": range(rows),
            "f": [i / 4 for i in range(rows)],
            "s": [None if i % 10 == 0 else f"s{i}" for i in range(rows)],
            "b": [i % 2 == 0 for i in range(rows)],
            "at": pd.date_range("2024-01-01", periods=rows, freq="h"),
        }
    )


@suite.test
def pandas_round_trip(t):
    """to_sql makes the table, read_sql gives the same frame back."""
    e, name, written = engine(t.url), t.table(), frame()
    written.to_sql(name, e, index=False)
    back = pd.read_sql(f"SELECT * FROM {name} ORDER BY id", e)
    equal(list(back.columns), list(written.columns))
    for column in ("id", "f", "b", "at"):
        assert (back[column].values == written[column].values).all(), column
    equal(int(back["s"].isna().sum()), 100)


@suite.test
def pandas_append_replace_and_fail(t):
    e, name = engine(t.url), t.table()
    frame(10).to_sql(name, e, index=False, if_exists="replace")
    frame(10).to_sql(name, e, index=False, if_exists="append")
    equal(pd.read_sql(f"SELECT count(*) AS n FROM {name}", e)["n"][0], 20)
    frame(5).to_sql(name, e, index=False, if_exists="replace")
    equal(pd.read_sql_query(sa.text(f"SELECT count(*) AS n FROM {name} WHERE id >= :low"), e, params={"low": 3})["n"][0], 2)
    try:
        frame(5).to_sql(name, e, index=False, if_exists="fail")
        raise AssertionError("if_exists='fail' did not fail")
    except ValueError:
        pass


@suite.test
def pandas_multi_and_chunks(t):
    """Several rows a statement when writing, portions when reading."""
    e, name = engine(t.url), t.table()
    frame(2500).to_sql(name, e, index=False, method="multi", chunksize=500)
    with e.connect().execution_options(stream_results=True) as c:
        sizes = [len(part) for part in pd.read_sql(f"SELECT * FROM {name}", c, chunksize=1000)]
    equal(sizes, [1000, 1000, 500])


@suite.test
def pandas_read_table(t):
    """read_sql_table reflects the table first."""
    e, name = engine(t.url), t.table()
    frame(20).to_sql(name, e, index=False)
    back = pd.read_sql_table(name, e, columns=["id", "at"])
    equal((list(back.columns), len(back)), (["id", "at"], 20))
    assert str(back["at"].dtype).startswith("datetime64"), back["at"].dtype


@suite.test
def pandas_types(t):
    e = engine(t.url)
    row = pd.read_sql("SELECT 1::smallint AS a, 1.5::numeric(5,2) AS b, date '2024-02-29' AS c, timestamptz '2024-01-01 00:00:00+00' AS d, NULL AS e", e).iloc[0]
    equal((row["a"], float(row["b"]), row["c"], row["e"]), (1, 1.5, dt.date(2024, 2, 29), None))


@suite.test
def polars_round_trip(t):
    e, name = engine(t.url), t.table()
    written = pl.from_pandas(frame())
    written.write_database(name, e, engine="sqlalchemy")
    back = pl.read_database(f"SELECT * FROM {name} ORDER BY id", e)
    equal((back.columns, back.height), (written.columns, 1000))
    equal(back["id"].sum(), 499500)
    equal(back["s"].null_count(), 100)
    equal(back["f"].to_list(), written["f"].to_list())
    written.head(5).write_database(name, e, if_table_exists="append", engine="sqlalchemy")
    equal(pl.read_database(f"SELECT count(*) AS n FROM {name}", e)["n"][0], 1005)


@suite.test
def polars_types(t):
    e = engine(t.url)
    row = pl.read_database("SELECT 1::bigint AS a, 'x'::text AS b, 1.25::float8 AS c, date '2024-02-29' AS d, true AS e, 2.50::numeric(8,2) AS f", e)
    equal(row.schema["a"], pl.Int64)
    equal(row.schema["d"], pl.Date)
    equal((row["b"][0], row["c"][0], row["d"][0], row["e"][0], float(row["f"][0])), ("x", 1.25, dt.date(2024, 2, 29), True, 2.5))


@suite.test
def polars_batches(t):
    e = engine(t.url)
    batches = pl.read_database("SELECT g FROM generate_series(1, 2500) AS s(g)", e, iter_batches=True, batch_size=1000)
    equal(sum(batch.height for batch in batches), 2500)


if __name__ == "__main__":
    suite.main()
