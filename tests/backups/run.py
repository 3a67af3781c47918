#!/usr/bin/env python3
"""Backups in an object store with S3's protocol: moto's server from PyPI, on this machine.

    run.py --pando target/quick/pando

One line a test: `ok backups round_trip`, or `FAIL ...` with the reason. The exit code is 1 when a test failed, or when moto
cannot be installed (unless `--allow-missing`). Crate `pando` tests the rest of backups, with files.
"""

import argparse
import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))

import served  # noqa: E402 (in the folder that has been added to the path)
import tools  # noqa: E402

START_SECONDS = 60
RUN_SECONDS = 120
BUCKET = "backups"
# moto looks at who asks, and not at the signature.
SIGNED = "AWS4-HMAC-SHA256 Credential=someone/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=none"
URL = f"s3://{BUCKET}/some/shop"

MADE = """
CREATE TABLE item (id serial PRIMARY KEY, name text, price numeric(10,2), tags text[], sold timestamptz);
INSERT INTO item (name, price, tags, sold)
    SELECT 'item ' || i, i / 4.0, ARRAY['a', NULL], '2024-02-29 12:00Z' FROM generate_series(1, 300000) i;
CREATE TABLE note (a int);
INSERT INTO note VALUES (1)"""
READ = "SELECT count(*), sum(id), sum(price), max(name), max(tags::text), max(sold) FROM item"


@contextlib.contextmanager
def object_store(python, *, checks_access=False):
    """Yields the address of an S3 server with an empty bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = dict(os.environ)
    if checks_access:
        environment["INITIAL_NO_AUTH_ACTION_COUNT"] = "1"  # that of the bucket
    command = [python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        address = f"http://127.0.0.1:{port}"
        create_bucket(address, server)
        yield address
    finally:
        server.terminate()
        server.wait()


def create_bucket(address, server):
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            return request("PUT", f"{address}/{BUCKET}")
        except urllib.error.URLError:
            if server.poll() is not None or time.monotonic() > end:
                raise SystemExit("moto's server does not answer") from None
            time.sleep(0.1)


def request(method, url, body=None):
    asked = urllib.request.Request(url, data=body, method=method, headers={"Authorization": SIGNED})
    with urllib.request.urlopen(asked, timeout=RUN_SECONDS) as answer:
        return answer.read()


def keys(address, folder):
    """The objects of a folder of the backups."""
    listed = request("GET", f"{address}/{BUCKET}?list-type=2&prefix=some/shop/{folder}/").decode()
    return re.findall(r"<Key>([^<]*)</Key>", listed)


class World:
    """A server, its object store, and the program."""

    def __init__(self, binary, address, url, folder):
        self.binary, self.address, self.url, self.folder = binary, address, url, Path(folder)

    def run(self, *arguments, fails=False):
        """What the program prints; of one that must fail, its error."""
        command = [self.binary, *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_SECONDS)
        expected = 1 if fails else 0
        assert done.returncode == expected, f"{arguments}: code {done.returncode}: {done.stderr}{done.stdout}"
        return done.stderr if fails else done.stdout

    def sql(self, text, url=None):
        return self.run("sql", url or self.url, "--csv", "-c", text)

    def back_up(self, **options):
        return self.run("backup", URL, "--server", self.url, **options)

    def restore(self, name, **options):
        path = self.folder / name
        self.run("restore", URL, "--data", str(path), **options)
        return path


def round_trip(world):
    world.sql(MADE)
    expected = world.sql(READ)
    said = world.back_up()
    assert "2 tables" in said and " 0 unchanged" in said, said
    assert len(keys(world.address, "backups")) == 1
    with served.pando(world.binary, "--data", str(world.restore("data"))) as (url, _pid):
        assert world.sql(READ, url) == expected
        assert world.sql("INSERT INTO item (name) VALUES ('new') RETURNING id", url).split() == ["id", "300001"]


def incremental(world):
    before = keys(world.address, "data")
    world.sql("INSERT INTO note VALUES (2)")
    said = world.back_up()
    assert "1 file written" in said, said
    after = keys(world.address, "data")
    assert set(before) < set(after) and len(after) == len(before) + 1, (before, after)


def single_table(world):
    said = world.run("restore", URL, "--table", "note", "--as", "saved", "--server", world.url)
    assert "saved with 2 rows" in said, said
    assert world.sql("SELECT sum(a) FROM saved").split() == ["sum", "3"]
    world.sql("DROP TABLE saved")  # It has the contents of note, and so the same data file.


def damage(world):
    [key] = set(keys(world.address, "data")[:1])
    object_url = f"{world.address}/{BUCKET}/{key}"
    good = request("GET", object_url)
    request("PUT", object_url, good[:-1] + bytes([good[-1] ^ 1]))
    said = world.run("restore", URL, "--data", str(world.folder / "damaged"), fails=True)
    assert "XX001" in said and key.rsplit("/", 1)[1] in said, said
    request("DELETE", object_url)
    said = world.run("restore", URL, "--data", str(world.folder / "missing"), fails=True)
    assert "58P01" in said and key.rsplit("/", 1)[1] in said, said
    # It is written again, although the backup before refers to it.
    said = world.back_up()
    assert "1 file written" in said, said
    world.restore("whole")


def refusals(world):
    said = world.run("backup", "s3://nowhere/x", "--server", world.url, fails=True)
    assert "NoSuchBucket" in said or "58" in said, said
    said = world.run("restore", "s3://backups/empty", "--data", str(world.folder / "none"), fails=True)
    assert "there is no backup at s3://backups/empty" in said, said


def no_permission(world):
    said = world.back_up(fails=True)
    assert "42501" in said and "permission denied" in said, said
    said = world.run("restore", URL, "--data", str(world.folder / "denied"), fails=True)
    assert "42501" in said, said


def run_all(options, python):
    """Runs the tests, each on what those before have left; returns the number of failures."""
    failures = 0
    for checks_access, tests in ((False, [round_trip, incremental, single_table, damage, refusals]), (True, [no_permission])):
        with object_store(python, checks_access=checks_access) as address, tempfile.TemporaryDirectory() as folder:
            os.environ |= {"AWS_ENDPOINT": address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
                           "AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret"}  # fmt: skip
            with served.pando(options.pando) as (url, _pid):
                world = World(options.pando, address, url, folder)
                for test in tests:
                    failures += not passes(test, world)
    return failures


def passes(test, world):
    try:
        test(world)
        print(f"ok backups {test.__name__}", flush=True)
        return True
    except Exception as error:
        print(f"FAIL backups {test.__name__}: {error}", flush=True)
        print("".join(f"    {line}" for line in traceback.format_exc().splitlines(True)), flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pando", metavar="BINARY", required=True)
    parser.add_argument("--allow-missing", action="store_true", help="without moto there is nothing to test")
    parser.add_argument("--skipped", metavar="FILE", help="append the suite to this file if moto cannot be installed")
    options = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("PG", "AWS_"))]:
        del os.environ[name]
    try:
        python = tools.python(HERE / "requirements.txt")
    except tools.Missing as why:
        print(f"skip backups all: {why}")
        if options.skipped:
            with open(options.skipped, "a") as file:
                file.write(f"  backups: {why}\n")
        sys.exit(0 if options.allow_missing else 1)
    sys.exit(1 if run_all(options, python) else 0)


if __name__ == "__main__":
    main()
