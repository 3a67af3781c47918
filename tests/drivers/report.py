"""A plugin for pytest: one JSON line a test, with its outcome and the last line of what it said, as soon as it ends."""

import json
import os

import pytest

_LINES = open(os.environ["DRIVERS_REPORT"], "a", buffering=1, encoding="utf-8")
_FAILED = {}


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    """A test has failed when its set-up, itself or its tear-down failed, or one of its subtests."""
    if report.failed:
        _FAILED.setdefault(report.nodeid, _message(report))
    if report.when == "teardown":
        why = _FAILED.pop(report.nodeid, None)
        _write(report.nodeid, "FAIL" if why is not None else "ok", why)
    elif report.skipped and type(report).__name__ == "TestReport":
        _write(report.nodeid, "skip", None)


def pytest_collectreport(report):
    """A file that cannot be read is a failure too."""
    if report.failed:
        _write(report.nodeid, "FAIL", str(report.longrepr))


def _message(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash else str(report.longrepr)


def _write(test, outcome, why):
    _LINES.write(json.dumps({"test": test, "outcome": outcome, "why": why}) + "\n")
