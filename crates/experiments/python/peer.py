"""A peer database in this process, driven by requests on stdin: one JSON object a line, one answer a line.

    {"do": "load", "table": T, "file": PARQUET, "create": SQL or null}  -> {"ms": 12.3}
    {"do": "query", "sql": SQL}       -> {"ms": 1.2, "rows": 4}: executed, and fetched as Arrow batches
    {"do": "answer", "sql": SQL}      -> {"columns": [[name, kind], ...], "rows": [[text or null, ...], ...]}
    {"do": "drop", "table": T}        -> {"ms": 0.1}
    {"do": "memory"}                  -> {"bytes": 123}: what its tables hold, null where it does not say

An answer is {"error": text} where something went wrong. The first line, unasked, is {"name": ..., "version": ...}.
"""

import datetime
import decimal
import json
import os
import sys
import time


def missing(package):
    return f"the Python package {package} is missing; install it with: {sys.executable} -m pip install duckdb datafusion pyarrow"


class DuckDb:
    name = "duckdb"

    def __init__(self):
        import duckdb
        self.connection, self.version = duckdb.connect(), duckdb.__version__
        # A bar on stdout would stand between the answers.
        self.connection.execute("SET enable_progress_bar = false")

    def load(self, table, file, create):
        if create:
            self.connection.execute(create)
            self.connection.execute(f"INSERT INTO {table} SELECT * FROM read_parquet('{file}')")
        else:
            self.connection.execute(f"CREATE TABLE {table} AS SELECT * FROM read_parquet('{file}')")

    def drop(self, table):
        self.connection.execute(f"DROP TABLE {table}")

    def batches(self, sql):
        # sql() streams; execute() would first hold a whole copy of the result.
        return self.connection.sql(sql).to_arrow_reader(100_000)

    def memory(self):
        query = "SELECT sum(memory_usage_bytes) FROM duckdb_memory() WHERE tag IN ('IN_MEMORY_TABLE', 'BASE_TABLE', 'ART_INDEX')"
        return int(self.connection.execute(query).fetchone()[0])


class DataFusion:
    name = "datafusion"

    def __init__(self):
        import datafusion
        self.threads, self.version = os.cpu_count(), datafusion.__version__
        self.context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(self.threads))

    def load(self, table, file, create):
        import pyarrow.parquet
        rows = pyarrow.parquet.read_table(file)
        step = -(-rows.num_rows // self.threads) or 1
        parts = [rows.slice(i * step, step).to_batches(max_chunksize=8192) for i in range(self.threads)]
        self.context.register_record_batches(table, parts)

    def drop(self, table):
        self.context.deregister_table(table)

    def batches(self, sql):
        return (batch.to_pyarrow() for batch in self.context.sql(sql).execute_stream())

    def memory(self):
        return None


PEERS = {peer.name: peer for peer in (DuckDb, DataFusion)}


def kind(arrow_type):
    """How a column is compared: as exact numbers, as floating point numbers, or as text."""
    import pyarrow.types as types
    if types.is_integer(arrow_type) or types.is_decimal(arrow_type):
        return "exact"
    return "float" if types.is_floating(arrow_type) else "text"


def cell(value):
    """The value as text; numbers without zeros at the end, text without blanks there (char(n) is padded or not)."""
    if value is None:
        return None
    if isinstance(value, decimal.Decimal):
        text = format(value, "f")
        return (text.rstrip("0").rstrip(".") if "." in text else text)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return str(value).rstrip()


def answer(peer, sql):
    """The whole answer: columns as [name, kind], and rows of cells."""
    columns, rows = [], []
    for batch in peer.batches(sql):
        columns = [[field.name, kind(field.type)] for field in batch.schema]
        rows += [[cell(value) for value in row] for row in zip(*(column.to_pylist() for column in batch.columns))]
    return {"columns": columns, "rows": rows}


def respond(peer, request):
    do, start = request.pop("do"), time.perf_counter()
    if do == "answer":
        return answer(peer, **request)
    if do == "memory":
        return {"bytes": peer.memory()}
    if do == "query":
        rows = sum(batch.num_rows for batch in peer.batches(**request))
        return {"rows": rows, "ms": (time.perf_counter() - start) * 1e3}
    {"load": peer.load, "drop": peer.drop}[do](**request)
    return {"ms": (time.perf_counter() - start) * 1e3}


def main(name):
    def say(value):
        print(json.dumps(value), flush=True)

    try:
        import pyarrow.parquet  # noqa: F401 (what every peer needs; fails here if it is missing)
        peer = PEERS[name]()
    except ModuleNotFoundError as error:
        return say({"error": missing(error.name)})
    say({"name": peer.name, "version": peer.version})
    for line in sys.stdin:
        try:
            say(respond(peer, json.loads(line)))
        except Exception as error:  # whatever the peer says, its user is to read it
            say({"error": f"{name}: {error}"})


if __name__ == "__main__":
    main(sys.argv[1])
