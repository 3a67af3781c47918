"""Recorded scripts: psql runs each of `cases/*.sql` and is compared, check by check, with what PostgreSQL printed.

A check is what stands between two lines `qN ...` of a script's output. `expected.txt` holds, for each script, how many
of its checks are PostgreSQL's. That number may only grow.
"""

import re
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

FOLDER = Path(__file__).resolve().parent / "cases"
EXPECTED = FOLDER / "expected.txt"
SCRIPT_SECONDS = 120

_HEADER = "# script: checks whose answer is PostgreSQL's, of all; `run.py --update-expected` writes it\n"


def run(psql, url, update):
    """Runs all scripts; returns what to print, and whether no script has become worse."""
    results = {path.stem: _score(psql, url, path) for path in sorted(FOLDER.glob("*.sql"))}
    expected, lines, good = _read(), [], True
    for script, checks in results.items():
        same, known = _same(checks), expected.get(script, 0)
        if same < known:
            good = False
            lines.append(f"{script}: {same} of {len(checks)} checks are PostgreSQL's, expected {known}; the others:")
            lines += [f"  {name} {kind}: expected {want[:6]}, answered {got[:6]}" for name, (kind, want, got) in checks.items() if kind != "same"]
        elif same > known:
            lines.append(f"{script}: {same} of {len(checks)} checks are PostgreSQL's, more than expected.txt says ({known})")
    if update and good:
        EXPECTED.write_text(_HEADER + "".join(f"{script} {_same(checks)}/{len(checks)}\n" for script, checks in results.items()))
    kinds = Counter(kind for checks in results.values() for kind, _, _ in checks.values())
    lines.append(f"{kinds['same']} of {sum(kinds.values())} checks are PostgreSQL's: {dict(kinds)}")
    return lines, good


def _same(checks):
    return sum(kind == "same" for kind, _, _ in checks.values())


def _read():
    """The number of checks that have been right, by script."""
    expected = {}
    for line in EXPECTED.read_text().splitlines() if EXPECTED.exists() else ():
        if line.strip() and not line.startswith("#"):
            script, score = line.split()
            expected[script] = int(score.split("/")[0])
    return expected


def _score(psql, url, path):
    """By check: how it went, what PostgreSQL printed, and what this server printed."""
    expected = _checks(path.with_suffix(".out").read_text(errors="replace"))
    answered = _checks(_output(psql, url, path))
    return {
        name: (_kind(want, answered.get(name, [])), want, answered.get(name, []))
        for name, want in expected.items()
        if want or answered.get(name) or name != "start"
    }


def _output(psql, url, path):
    at = urlsplit(url)
    settings = ["-v", "ON_ERROR_STOP=0", "-v", "VERBOSITY=sqlstate"]
    command = [psql, "-X", "-q", "-A", "-t", *settings, "-h", at.hostname, "-p", str(at.port), "-U", "postgres", "-f", path.name, "postgres"]
    try:
        done = subprocess.run(command, cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SCRIPT_SECONDS)
        return done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace") + f"\nno end after {SCRIPT_SECONDS} s"


def _checks(text):
    """The lines of each check, by its name; `start` is what stands before the first."""
    parts, name = {"start": []}, "start"
    for line in text.splitlines():
        line = re.sub(r"^psql:[^ ]*: ", "", line)
        if re.match(r"^q\d+\w*\b", line):
            name = line.split()[0]
            parts.setdefault(name, [])
        else:
            parts[name].append(line)
    return parts


def _kind(expected, answered):
    if expected == answered:
        return "same"
    errors = [any(line.startswith("ERROR") for line in lines) for lines in (expected, answered)]
    return {(False, True): "refused", (True, True): "other error", (True, False): "accepted", (False, False): "wrong"}[tuple(errors)]
