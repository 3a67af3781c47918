"""Lists of tests that are known to fail: a line that begins in the first column is a reason, the indented ones below it are tests.

A reason that begins with `Not run` names tests that are not even tried, since they would wait for ever or
pass by chance.
"""

NOT_RUN = "Not run"


def read(path):
    """Test by test, the reason."""
    reasons, reason = {}, None
    for line in path.read_text().splitlines() if path.exists() else ():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            test = line.strip()
            if reason is None or test in reasons:
                raise SystemExit(f"{path}: {test} has no reason, or two")
            reasons[test] = reason
        else:
            reason = line.strip()
    return reasons


def write(path, suite, reasons):
    """The reasons that explain most come first."""
    groups = {}
    for test, reason in reasons.items():
        groups.setdefault(reason, []).append(test)
    lines = [f"# Tests of {suite} that fail, by reason. The list may only shrink: `run.py --update-expected` takes off what passes."]
    for reason, tests in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        lines += ["", reason, *(f"    {test}" for test in sorted(tests))]
    path.write_text("\n".join(lines) + "\n")


def not_run(reasons):
    """The tests of a list that are not tried."""
    return sorted(test for test, reason in reasons.items() if reason.startswith(NOT_RUN))
