#!/usr/bin/env python3
"""Runs scripts of several sessions, and compares what each step answers with what PostgreSQL has answered.

    run.py --binary pando [--servers 3] [NAME ...]     starts servers, and compares with `expected.txt`
    run.py --binary pando --prepared [NAME ...]        the same, with prepared statements
    run.py --pando URL [--pando URL ...] [NAME ...]    the same, of servers that are running
    run.py --record URL                                records PostgreSQL's answers in `expected.txt`

With several servers the sessions are connected to them in turn. A step that does not return within a second
is "waiting"; what it answers later is shown where it does. An answer that is expected is awaited. Scripts are in the files of the folder `scripts`:

    # a comment
    setup: SQL                        before the sessions begin
    levels: read committed, ...       the levels for which the script runs; %level% stands for one
    1: SQL                            a statement of session 1
"""

import argparse
import os
import pathlib
import queue
import socket
import subprocess
import sys
import threading
import time

try:
    import psycopg
except ImportError:
    # In the environment of the clients' tests, which is made when it is missing.
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "clients"))
    import tools

    python = tools.python()
    os.execv(python, [str(python), *sys.argv])

HERE = pathlib.Path(__file__).parent
# Seconds for a statement that is to wait, for one that has nothing to wait for, and for an answer that is expected.
WAIT, GOES_ON, EXPECTED = 1.0, 0.5, 30.0
LEVELS = ["read committed", "repeatable read"]


class Session:
    """A connection with a thread, so that a statement that waits does not hold up the others."""

    def __init__(self, url, prepares):
        # Every statement is prepared, or none.
        threshold = 0 if prepares else None
        self.connection = psycopg.connect(url, autocommit=True, prepare_threshold=threshold)
        self.work, self.answers, self.is_waiting = queue.Queue(), queue.Queue(), False
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while (sql := self.work.get()) is not None:
            self.answers.put(answer(self.connection, sql))

    def run(self, sql, seconds):
        self.work.put(sql)
        self.is_waiting = True
        return self.poll(seconds)

    def poll(self, seconds):
        try:
            answered = self.answers.get(timeout=seconds)
        except queue.Empty:
            return None
        self.is_waiting = False
        return answered


def answer(connection, sql):
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            tag = cursor.statusmessage
            if cursor.description is None:
                return tag
            rows = cursor.fetchall()
            if "order by" not in sql.lower():
                rows.sort(key=repr)
            return f"{tag} {rows}"
    except psycopg.Error as error:
        message = str(error).splitlines()[0] if error.sqlstate in ("40001", "40P01", "55P03") else ""
        return f"ERROR {error.sqlstate} {message}".rstrip()


def read(path):
    """The scripts of a file: name, set-up, levels, steps."""
    scripts, current = [], None
    for line in path.read_text().splitlines():
        line = line.strip()
        if line.startswith("== "):
            current = {"name": f"{path.stem}/{line[3:].strip()}", "setup": [], "levels": LEVELS, "steps": []}
            scripts.append(current)
        elif not line or line.startswith("#"):
            continue
        else:
            head, _, rest = line.partition(":")
            rest = rest.strip()
            if head == "setup":
                current["setup"].append(rest)
            elif head == "levels":
                current["levels"] = [level.strip() for level in rest.split(",")]
            else:
                current["steps"].append((int(head), rest))
    return scripts


def parts(expected):
    """Of the answers that are expected of each step: whether it answers at once, and who goes on after it."""
    found = []
    for line in expected:
        if not line.startswith("   "):
            found.append((not line.endswith("-> waiting"), set()))
        elif "goes on" in line and found:
            found[-1][1].add(int(line.split()[0]))
    return found


def run(urls, script, level, prepares=False, expected=()):
    with psycopg.connect(urls[0], autocommit=True) as connection:
        for sql in script["setup"]:
            connection.execute(sql)
    if len(urls) > 1:
        time.sleep(0.3)
    sessions, out = {}, []

    def poll(seconds, awaited=()):
        for number, session in sorted(sessions.items()):
            limit = EXPECTED if number in awaited else seconds
            if session.is_waiting and (late := session.poll(limit)) is not None:
                out.append(f"   {number} goes on: {late}")

    known = iter(parts(expected))
    for number, sql in script["steps"]:
        if number not in sessions:
            sessions[number] = Session(urls[(number - 1) % len(urls)], prepares)
        sql = sql.replace("%level%", level)
        is_answered, awaited = next(known, (False, ()))
        answered = sessions[number].run(sql, EXPECTED if is_answered else WAIT)
        out.append(f"{number}: {sql} -> {answered or 'waiting'}")
        poll(GOES_ON, awaited)
    deadline = time.monotonic() + 4
    while any(session.is_waiting for session in sessions.values()) and time.monotonic() < deadline:
        poll(0.1)
    out += [f"   {n} waits still" for n, s in sorted(sessions.items()) if s.is_waiting]
    for session in sessions.values():
        session.work.put(None)
        if not session.is_waiting:
            session.connection.close()
        else:
            session.connection.cancel()
    return out


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(binary, count):
    """Servers, and their addresses for clients."""
    processes, urls, root = [], [], free_port()
    for number in range(count):
        pg = free_port()
        command = [binary, "serve", "--pg", f"127.0.0.1:{pg}", "--http", f"127.0.0.1:{free_port()}"]
        if count > 1:
            at = ["--cluster", f"127.0.0.1:{root}"] if number == 0 else ["--join", f"127.0.0.1:{root}"]
            command += ["--name", f"s{number}", *at]
        processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        urls.append(f"host=127.0.0.1 port={pg} user=pando dbname=pando")
        for _ in range(200):
            try:
                psycopg.connect(urls[-1]).close()
                break
            except psycopg.Error:
                time.sleep(0.1)
    return processes, urls


def scripts(names):
    for path in sorted((HERE / "scripts").glob("*.txt")):
        for script in read(path):
            if not names or any(name in script["name"] for name in names):
                for level in script["levels"]:
                    yield f"== {script['name']} ({level})", script, level


def expected():
    """PostgreSQL's answers by script."""
    answers, lines = {}, []
    for line in (HERE / "expected.txt").read_text().splitlines():
        if line.startswith("== "):
            lines = answers.setdefault(line, [])
        elif line:
            lines.append(line)
    return answers


def compare(urls, names, prepares):
    answers, failed, total = expected(), 0, 0
    for title, script, level in scripts(names):
        total += 1
        theirs = answers[title]
        ours = run(urls, script, level, prepares, theirs)
        if theirs == ours:
            print(f"ok    {title[3:]}", flush=True)
            continue
        failed += 1
        print(f"WRONG {title[3:]}")
        for at in range(max(len(theirs), len(ours))):
            their, our = (lines[at] if at < len(lines) else "" for lines in (theirs, ours))
            print(f"    {their}" if their == our else f"  - {their}\n  + {our}", flush=True)
    print(f"{total - failed} of {total} are the same")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record")
    parser.add_argument("--pando", action="append")
    parser.add_argument("--binary")
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--prepared", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if arguments.record:
        lines = []
        for title, script, level in scripts([]):
            lines += [title, *run([arguments.record], script, level), ""]
        (HERE / "expected.txt").write_text("\n".join(lines))
        return
    processes, urls = [], arguments.pando
    if arguments.binary:
        processes, urls = start(arguments.binary, arguments.servers)
    try:
        failed = compare(urls, arguments.names, arguments.prepared)
    finally:
        for process in processes:
            process.kill()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
