#!/usr/bin/env python3
"""Runs drivers' own test suites against a server; tests that are known to fail are listed in `expected/`.

    run.py --pando target/quick/pando            a `pando serve` for each suite, started and ended here
    run.py --url postgres://user@host:port/db      a server that runs already, with an empty database
    run.py --pando ... --update-expected           takes off the lists what passes now
    run.py --pando ... --add-expected ['REASON']   adds what fails, with this reason or with what the test says

A test that fails and is not listed is an error, and so is a listed one that passes.
"""

import argparse
import contextlib
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import expected
import reasons
import suites

import served  # noqa: E402 (next to tests/clients/tools.py, whose folder `suites` has added to the path)
import tools  # noqa: E402

HERE = Path(__file__).resolve().parent


class Outcome:
    """What a suite said, held against its list."""

    def __init__(self, suite):
        self.suite, self.path = suite, HERE / "expected" / f"{suite}.txt"
        self.known = expected.read(self.path)
        self.results, self.skipped, self.error, self.seconds = {}, None, None, 0
        self.flaky = []

    def run(self, options):
        """Runs the suite against its server, and once more if something is not as expected."""
        started = time.monotonic()
        self.run_once(options)
        changed = self.failed() + self.surprises()
        if self.results and changed and not options.update_expected and options.add_expected is None:
            first, self.results = self.results, {}
            self.run_once(options)
            again, self.results, self.error = self.results, first, None
            for test in changed:
                if test in again and (again[test][0] == "FAIL") == (test in self.known):
                    self.results[test] = again[test]
                    self.flaky.append(test)
        self.seconds = time.monotonic() - started

    def run_once(self, options):
        try:
            server = contextlib.nullcontext((options.url, None)) if options.url else served.pando(options.pando)
            with tempfile.TemporaryDirectory(prefix="drivers-") as folder, server as (url, _pid):
                self.results = suites.SUITES[self.suite](url, Path(folder), expected.not_run(self.known))
        except tools.Missing as why:
            self.skipped = str(why)
        except (Exception, SystemExit) as why:
            self.error = f"{type(why).__name__}: {why}"

    def named(self, outcome):
        return sorted(test for test, (seen, _) in self.results.items() if seen == outcome)

    def failed(self):
        return [test for test in self.named("FAIL") if test not in self.known]

    def surprises(self):
        """Listed tests that pass, or that the suite no longer has."""
        tried = {test for test, reason in self.known.items() if not reason.startswith(expected.NOT_RUN)}
        return sorted(test for test in tried if self.results.get(test, ("ok",))[0] != "FAIL")

    def update(self, add):
        """Writes the list anew; `add` is a reason, or empty for what each test says, or None to add nothing."""
        for test in self.surprises():
            del self.known[test]
        for test in self.failed() if add is not None else ():
            self.known[test] = add or reasons.reason(self.results[test][1] or "")
        for test, reason in self.known.items():
            if add == "" and reason.startswith(reasons.SAYS) and test in self.results:
                self.known[test] = reasons.reason(self.results[test][1] or "")
        expected.write(self.path, self.suite, self.known)

    def report(self):
        """Prints what happened; tells whether it is as expected."""
        if self.skipped or self.error:
            print(f"{self.suite}: {'skipped: ' + self.skipped if self.skipped else 'FAIL ' + self.error}")
            return not self.error
        for test in self.flaky:
            print(f"FLAKY {self.suite} {test}")
        for test in self.failed():
            why = (self.results[test][1] or "").strip()
            print(f"FAIL {self.suite} {test}\n     " + "\n     ".join(why.splitlines()[-12:]))
        for test in self.surprises():
            print(f"ok {self.suite} {test} (but it is in the list of expected failures)")
        counts = f"{len(self.named('ok'))} passed, {len(self.named('FAIL'))} failed, {len(self.failed())} of them not expected"
        print(f"{self.suite}: {counts}, {len(self.named('skip'))} skip themselves, {len(expected.not_run(self.known))} not run; "
              f"in {self.seconds:.0f} s")  # fmt: skip
        return not self.failed() and not self.surprises()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url", help="a server that is running")
    where.add_argument("--pando", metavar="BINARY", help="start `BINARY serve` for each suite")
    parser.add_argument("--only", default="", help=f"comma separated, of: {', '.join(suites.SUITES)}")
    parser.add_argument("--update-expected", action="store_true", help="take off the lists what passes")
    parser.add_argument("--add-expected", nargs="?", const="", metavar="REASON", help="add what fails to the lists, too")
    parser.add_argument("--allow-missing", action="store_true", help="a driver that cannot be installed is no failure")
    parser.add_argument("--skipped", metavar="FILE", help="append the suites that could not be installed to this file")
    options = parser.parse_args()
    chosen = [name for name in options.only.split(",") if name] or list(suites.SUITES)
    if unknown := [name for name in chosen if name not in suites.SUITES]:
        parser.error(f"no such suite: {', '.join(unknown)}")
    outcomes = [Outcome(suite) for suite in chosen]
    threads = [threading.Thread(target=outcome.run, args=(options,)) for outcome in outcomes]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for thread in threads:
            thread.start()
            if options.url:
                thread.join()
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        suites.stop()
        sys.exit("stopped")
    as_expected = True
    for outcome in outcomes:
        as_expected &= outcome.report() and (options.allow_missing or not outcome.skipped)
        if outcome.skipped and options.skipped:
            with open(options.skipped, "a") as file:
                file.write(f"  drivers {outcome.suite}: {outcome.skipped}\n")
        if outcome.results and (options.update_expected or options.add_expected is not None):
            outcome.update(options.add_expected)
    sys.exit(0 if as_expected else 1)


if __name__ == "__main__":
    main()
