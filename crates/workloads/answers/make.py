"""Makes the answers to TPC-H that tests compare with: README.md says how and when.

    python3 make.py --pando PROGRAM [--scale 0.01 --scale 0.1]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "experiments/python"))
sys.dont_write_bytecode = True
import peer  # noqa: E402 (found by the line above)

TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]
ROWS_KEPT = 50     # an answer with fewer rows is kept whole


def checksum(rows):
    """FNV-1a of the sorted rows, in 64 bits: cells end with 1f, rows with 1e, and NULL is 00."""
    lines = sorted(b"".join((b"\0" if c is None else c.encode()) + b"\x1f" for c in row) + b"\x1e" for row in rows)
    value = 0xCBF29CE484222325
    for byte in b"".join(lines):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def kept(answer):
    columns, rows = answer["columns"], answer["rows"]
    if len(rows) < ROWS_KEPT:
        return {"columns": columns, "rows": len(rows), "all": rows}
    if any(kind == "float" for _, kind in columns):
        raise SystemExit(f"floating point numbers cannot be summed up by a checksum: {columns}")
    return {"columns": columns, "rows": len(rows), "checksum": checksum(rows), "first": rows[0], "last": rows[-1]}


def ties_at_the_limit(duckdb, sql, answer):
    """Whether the row after the last has the same place in the order as the last: then the answer is not the only one."""
    query, _, limit = sql.rpartition("limit ")
    if not query:
        return False
    more = peer.answer(duckdb, f"{query} limit {int(limit) + 1}")["rows"]
    names = [name for name, _ in answer["columns"]]
    order = [key.split()[0] for key in query.rpartition("order by ")[2].split(",")]
    place = [[row[names.index(key)] for key in order] for row in more[-2:]]
    return len(more) > int(limit) and place[0] == place[1]


def answers(pando, scale):
    duckdb = peer.DuckDb()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([pando, "bench", "tpch-data", "--scale", scale, "--dir", folder], check=True)
        for table in TABLES:
            duckdb.load(table, f"{folder}/{table}.parquet", None)
    queries = {}
    for n in range(1, 23):
        sql = (HERE.parent / f"sql/tpch/q{n:02d}.sql").read_text()
        answer = peer.answer(duckdb, sql)
        if ties_at_the_limit(duckdb, sql, answer):
            raise SystemExit(f"query {n} at scale {scale}: rows tie at its limit")
        queries[n] = kept(answer)
    return {"by": f"DuckDB {duckdb.version}", "scale": float(scale), "queries": queries}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--pando", required=True, help="the program `pando`, which generates the data")
    arguments.add_argument("--scale", action="append", help="a scale factor; 0.01 and 0.1 where none is given")
    arguments = arguments.parse_args()
    for scale in arguments.scale or ["0.01", "0.1"]:
        made = answers(arguments.pando, scale)
        head = {name: made[name] for name in ("by", "scale")}
        lines = [f'"{n}": {json.dumps(query, ensure_ascii=False)}' for n, query in made["queries"].items()]
        text = json.dumps(head)[:-1] + ', "queries": {\n' + ",\n".join(lines) + "\n}}\n"
        (HERE / f"tpch-{scale}.json").write_text(text)


if __name__ == "__main__":
    main()
