"""A `pando serve` of our own for one run, or several as one cluster: started on free ports, ended by process id."""

import contextlib
import re
import subprocess
import tempfile
import threading

START_SECONDS = 60
ADDRESS = re.compile(r"postgres(?:ql)?://[^\s'\"]+")
CALLED_AT = re.compile(r"called at (\S+)")

# Small, so that tables of some thousand rows lie on all servers of a cluster.
BUCKET_SIZE = "64KiB"


@contextlib.contextmanager
def pando(binary, *more, user="pando"):
    """Yields the server's URL and process id; what it says on standard error is shown if it dies."""
    with _server(binary, ADDRESS, *more) as (found, pid):
        yield _with_user(found[ADDRESS], user), pid


@contextlib.contextmanager
def durable(binary, user="pando"):
    """As `pando`, with a data directory that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        with pando(binary, "--data", f"{folder}/data", user=user) as found:
            yield found


@contextlib.contextmanager
def cluster(binary, servers, user="pando"):
    """Yields the URL and process id of the last of as many servers, which are one cluster."""
    with members(binary, servers, user) as found:
        yield found[-1]


@contextlib.contextmanager
def members(binary, servers, user="pando"):
    """Yields the URL and process id of each of as many servers, which are one cluster."""
    with contextlib.ExitStack() as stack:
        part = ["--bucket-size", BUCKET_SIZE, "--name"]
        begin = [*part, "server1", "--cluster", "127.0.0.1:0"]
        found = [stack.enter_context(_server(binary, CALLED_AT, *begin))]
        for number in range(2, servers + 1):
            join = [*part, f"server{number}", "--join", found[0][0][CALLED_AT]]
            found.append(stack.enter_context(_server(binary, CALLED_AT, *join)))
        yield [(_with_user(said[ADDRESS], user), pid) for said, pid in found]


@contextlib.contextmanager
def _server(binary, until, *more):
    """Yields what a server says up to a pattern, by pattern, and its process id."""
    command = [binary, "serve", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0", *more]
    with tempfile.TemporaryFile("w+") as errors:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            yield _said(server, errors, until), server.pid
            if server.poll() is not None:
                raise SystemExit(f"the server ended by itself with code {server.returncode}:\n{_tail(errors)}")
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _said(server, errors, until):
    """What standard output says for each pattern first, up to `until`; the rest is read and thrown away."""
    complete, said = threading.Event(), {}

    def read():
        for line in server.stdout:
            for pattern in (ADDRESS, CALLED_AT):
                match = pattern.search(line)
                if match and pattern not in said:
                    said[pattern] = match[match.lastindex or 0]
            if until in said:
                complete.set()
        complete.set()

    threading.Thread(target=read, daemon=True).start()
    if not complete.wait(START_SECONDS) or until not in said:
        raise SystemExit(f"{server.args[0]} serve did not say {until.pattern}:\n{_tail(errors)}")
    return said


def _with_user(url, user):
    scheme, rest = url.split("://", 1)
    return url if "@" in rest.split("/")[0] else f"{scheme}://{user}@{rest}"


def _tail(errors):
    errors.seek(0)
    return errors.read()[-4000:]
