#!/usr/bin/env python3
"""Random SQL on two databases that must answer the same; see README.md."""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from compare import CRASH, HANG, MEANINGS, WRONG
from databases import Database
from generator import Generator, RuleTrial
from generator.routines import RoutineTrial
from known import Known
from report import Report
from session import Session
from trial import Trial

# How the reference is made to plan otherwise the second time; one that knows no such settings ignores them.
_OTHER_PLANS = tuple(f"SET enable_{n} = off" for n in ("hashagg", "hashjoin", "mergejoin", "memoize"))
_ALL = 10**9


def options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--reference", metavar="DSN", help="the database that is right")
    p.add_argument(
        "--servers", metavar="DSN", nargs="+", default=[], help="servers of the database under test, in turn"
    )
    p.add_argument(
        "--seed", type=int, default=1, help="the first seed; a seed makes tables and statements over them"
    )
    p.add_argument("--count", type=int, default=_ALL, help="how many seeds")
    p.add_argument("--minutes", type=float, default=60.0, help="when to stop")
    p.add_argument("--statements", type=int, default=40, help="scripts a seed")
    p.add_argument("--rows", type=int, default=60, help="most rows in a table")
    p.add_argument("--timeout", type=float, default=4.0, help="seconds a statement may take")
    p.add_argument(
        "--options", default="", help="WITH options of the subject's tables: \"bucket_size = '4KiB'\""
    )
    p.add_argument("--reference-options", default="", help="the same for the reference's")
    p.add_argument(
        "--settle", type=float, default=0.0, help="seconds to wait until new tables' rows have moved"
    )
    p.add_argument(
        "--known", default=str(Path(__file__).with_name("known.txt")), help="what to avoid and skip, or ''"
    )
    p.add_argument(
        "--kinds", default=",".join(MEANINGS), help="kinds of findings that are reduced and reported"
    )
    p.add_argument("--report", metavar="FILE", help="write findings here")
    p.add_argument("--counts", metavar="FILE", help="write counts here, as JSON")
    p.add_argument("--rules", action="store_true", help="each function, operator and cast alone, once a seed")
    p.add_argument("--functions", action="store_true", help="functions, procedures, DO and triggers")
    p.add_argument("--print", action="store_true", help="print the statements and run nothing")
    p.add_argument("--quiet", action="store_true", help="print only the summary")
    args = p.parse_args()
    if not args.print and not (args.reference and args.servers):
        p.error("--reference and --servers are needed, or --print")
    return args


def connect(args) -> Trial:
    reference = Database(args.reference, args.timeout)
    reference.run("CREATE SCHEMA IF NOT EXISTS backwards")
    backwards = Database(args.reference, args.timeout, ("SET search_path TO backwards", *_OTHER_PLANS))
    trial = Trial(reference, backwards, [Database(dsn, args.timeout) for dsn in args.servers])
    trial.options, trial.reference_options, trial.settle = args.options, args.reference_options, args.settle
    trial.compares_states = args.functions
    return trial


def _maker(args):
    """What makes tables and scripts of a seed."""
    if args.rules:
        return RuleTrial
    return RoutineTrial if args.functions else Generator


def print_statements(args, maker, seed: int):
    print(f"-- seed {seed}\n" + ";\n".join(maker.schema.setup(args.options)) + ";")
    for _ in range(args.statements):
        script = maker.script()
        if script:
            print(script.sql())


def main() -> int:
    args = options()
    known, report = Known(args.known or None), Report(args.report)
    session = (
        None if args.print else Session(connect(args), known, report, set(args.kinds.split(",")), args.quiet)
    )
    start, seed = time.monotonic(), args.seed
    deadline = start + args.minutes * 60
    try:
        while seed < args.seed + args.count and time.monotonic() < deadline:
            maker = _maker(args)(random.Random(seed), args.rows, known.avoided)
            if session:
                session.run(maker, seed, _ALL if args.rules else args.statements, deadline)
            else:
                print_statements(args, maker, seed)
            seed += 1
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    if session:
        compared = ", ".join(f"{count} {kind}" for kind, count in session.trial.compared.most_common())
        print(f"seeds {args.seed} to {seed - 1} in {time.monotonic() - start:.0f} s: {compared}\n{report.summary()}")
        if args.counts:
            report.write_counts(args.counts)
    return 1 if any(report.kinds[kind] for kind in (CRASH, WRONG, HANG)) else 0


if __name__ == "__main__":
    sys.exit(main())
