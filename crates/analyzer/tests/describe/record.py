#!/usr/bin/env python3
"""Writes PostgreSQL's descriptions of the statements in *.sql to *.out: record.py "host=... dbname=..."."""

import re
import subprocess
import sys
from pathlib import Path


def described(connection: str, tables: list[str], statement: str) -> str:
    """The columns of a statement, or the SQLSTATE and message of its error."""
    script = "\\set VERBOSITY verbose\nBEGIN;\n" + "".join(f"{table};\n" for table in tables)
    script += f"{statement}\n\\gdesc\n"
    run = subprocess.run(["psql", "-X", "-q", "-A", "-t", connection], input=script, capture_output=True, text=True)
    error = re.search(r"ERROR:  (\w{5}): (.*)", run.stderr)
    if error:
        return f"{error[1]} {error[2]}"
    return run.stdout.replace("The command has no result, or the result has no columns.", "").strip()


def main() -> None:
    """Records every file."""
    for path in sorted(Path(__file__).parent.glob("*.sql")):
        tables: list[str] = []
        outputs = []
        for statement in path.read_text().split(";\n"):
            statement = statement.strip()
            if not statement:
                continue
            if statement.upper().startswith("CREATE TABLE"):
                tables.append(statement)
                outputs.append("")
            else:
                outputs.append(described(sys.argv[1], tables, statement))
        path.with_suffix(".out").write_text("\n\n".join(outputs) + "\n")


main()
