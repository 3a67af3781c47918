"""A `pando serve` of our own for one run: started on free ports, ended by its process id."""

import contextlib
import re
import subprocess
import tempfile
import threading

START_SECONDS = 60
ADDRESS = re.compile(r"postgres(?:ql)?://[^\s'\"]+")


@contextlib.contextmanager
def pando(binary, *more, user="pando"):
    """Yields the server's URL and process id; what it says on standard error is shown if it dies."""
    command = [binary, "serve", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0", *more]
    with tempfile.TemporaryFile("w+") as errors:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            yield _with_user(_address(server, errors), user), server.pid
            if server.poll() is not None:
                raise SystemExit(f"the server ended by itself with code {server.returncode}:\n{_tail(errors)}")
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _address(server, errors):
    """The first postgres:// URL on standard output; the rest of it is read and thrown away."""
    found, said = threading.Event(), []

    def read():
        for line in server.stdout:
            match = ADDRESS.search(line)
            if match and not said:
                said.append(match[0])
                found.set()
        found.set()

    threading.Thread(target=read, daemon=True).start()
    if not found.wait(START_SECONDS) or not said:
        raise SystemExit(f"{server.args[0]} serve printed no postgres:// address:\n{_tail(errors)}")
    return said[0]


def _with_user(url, user):
    scheme, rest = url.split("://", 1)
    return url if "@" in rest.split("/")[0] else f"{scheme}://{user}@{rest}"


def _tail(errors):
    errors.seek(0)
    return errors.read()[-4000:]
