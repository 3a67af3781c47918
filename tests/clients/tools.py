"""The clients themselves: found on this machine, or installed where that is possible.

Everything that is downloaded lies under ~/.cache/pando/clients, in folders named by what was asked for, so
that a changed version is fetched anew and an unchanged one is not.
"""

import contextlib
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("PANDO_CLIENTS_CACHE") or Path.home() / ".cache" / "pando" / "clients")

# PostgreSQL's JDBC driver, which Maven fetches.
PGJDBC = "42.7.7"

# Debian's packages for the programs that we need.
PACKAGES = {
    "psql": "postgresql-client",
    "pg_dump": "postgresql-client",
    "pg_restore": "postgresql-client",
    "pgbench": "postgresql-contrib",
    "initdb": "postgresql",
    "javac": "default-jdk-headless",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "go": "golang",
    "ruby": "ruby-activerecord ruby-pg",
    "pgbouncer": "pgbouncer",
}


# A download may fail; a step of an installation is tried as often as this, each time for as long as this.
ATTEMPTS, INSTALL_SECONDS = 3, 300

# Suites prepare themselves at the same time, but install one after the other.
_ONE = threading.RLock()


class Missing(Exception):
    """A client that is not here and cannot be installed."""


def _one_at_a_time(find):
    @functools.wraps(find)
    def alone(*arguments):
        with _ONE:
            return find(*arguments)

    return alone


@_one_at_a_time
def program(name):
    """The path of a program; apt installs it when we are root."""
    found = _found(name)
    if found is None and shutil.which("apt-get") and (root := _root()) is not None:
        apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120"]
        with contextlib.suppress(Missing):
            _run([*apt, "update"])
            _run([*apt, "install", "--no-install-recommends", *PACKAGES[name].split()])
        found = _found(name)
    if found is None:
        raise Missing(f"{name} is not installed (Debian: apt-get install {PACKAGES[name]})")
    return found


def _venv(folder):
    """Debian's Python has venv in a package of its own."""
    command = [sys.executable, "-m", "venv", "--clear", str(folder)]
    try:
        _run(command)
    except Missing:
        root = _root()
        if root is None or not shutil.which("apt-get"):
            raise
        _run([*root, "apt-get", "-q", "update"])
        _run([*root, "apt-get", "-q", "-y", "install", "python3-venv"])
        _run(command)


def _found(name):
    """Debian keeps pgbench and what belongs to the server where no PATH looks."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")) if name in ("pgbench", "initdb") else []
    return shutil.which(name) or next(map(str, installed), None)


def _root():
    """What makes a command root's: nothing, sudo that asks for no password, or None where neither is to be had."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    asked = sudo and subprocess.run([sudo, "-n", "true"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    return [sudo, "-n"] if asked == 0 else None


@_one_at_a_time
def python(requirements=HERE / "requirements.txt"):
    """A Python with the packages of a file."""
    wanted = requirements.read_text() + sys.version
    folder = _folder("venv", wanted)
    if not (folder / "ready").exists():
        _venv(folder)
        _run([str(folder / "bin" / "pip"), "install", "--quiet", "-r", str(requirements)])
        (folder / "ready").touch()
    return str(folder / "bin" / "python")


@_one_at_a_time
def java():
    """The command that runs jdbc/Suite.java, compiled."""
    compiler, machine = program("javac"), program("java") if shutil.which("java") else "java"
    jar = _pgjdbc()
    sources = sorted((HERE / "jdbc").glob("*.java"))
    folder = _folder("jdbc", "".join(source.read_text() for source in sources) + PGJDBC)
    if not (folder / "ready").exists():
        _run([compiler, "-cp", str(jar), "-d", str(folder), *map(str, sources)])
        (folder / "ready").touch()
    return [machine, "-Xmx512m", "-cp", f"{folder}:{jar}"]


@_one_at_a_time
def java_orms():
    """The command that runs orms/java/Suite.java, compiled, with the packages of its pom.xml."""
    compiler, machine = program("javac"), program("java") if shutil.which("java") else "java"
    asked = HERE / "orms" / "java"
    sources, pom = sorted(asked.glob("*.java")), asked / "pom.xml"
    packages = _folder("maven", pom.read_text())
    if not (packages / "ready").exists():
        _run([program("mvn"), "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={packages}"])
        (packages / "ready").touch()
    folder = _folder("java", "".join(source.read_text() for source in sources) + pom.read_text())
    if not (folder / "ready").exists():
        _run([compiler, "-nowarn", "-cp", f"{packages}/*", "-d", str(folder), *map(str, sources)])
        (folder / "ready").touch()
    return [machine, "-Xmx512m", "-cp", f"{folder}:{packages}/*"]


def _pgjdbc():
    jar = _folder("pgjdbc", PGJDBC) / f"postgresql-{PGJDBC}.jar"
    if jar.exists():
        return jar
    artifact = f"org.postgresql:postgresql:{PGJDBC}"
    _run([program("mvn"), "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jar.parent}"])
    return jar


@_one_at_a_time
def node(asked=HERE / "node"):
    """The node program, and the folder with the packages of a folder's lock file."""
    machine, manager = program("node"), program("npm")
    wanted = json.loads((asked / "package.json").read_text()).get("engines", {}).get("node", ">=0.0")
    version = _run([machine, "--version"])
    if _numbers(version) < _numbers(wanted):
        raise Missing(f"it needs node {wanted}, and here is {version}")
    lock = (asked / "package.json").read_text() + (asked / "package-lock.json").read_text()
    folder = _folder("node", lock)
    if not (folder / "ready").exists():
        for name in ("package.json", "package-lock.json"):
            shutil.copy(asked / name, folder)
        _run([manager, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=folder)
        (folder / "ready").touch()
    return machine, folder


def _numbers(version):
    """The first two numbers of a version."""
    return [int(part) for part in version.strip(">=v").split(".")[:2]]


@_one_at_a_time
def ruby():
    """Ruby with ActiveRecord and its driver, as Debian has them."""
    machine = program("ruby")
    _run([machine, "-e", "require 'active_record'; require 'pg'"])
    return machine


@_one_at_a_time
def go(asked=HERE / "go"):
    """The suite for Go in a folder, built."""
    compiler = program("go")
    sources = sorted(asked.glob("*.go")) + [asked / "go.mod", asked / "go.sum"]
    binary = _folder("go", "".join(source.read_text() for source in sources)) / "suite"
    if not binary.exists():
        _run([compiler, "build", "-o", str(binary), "."], cwd=asked)
    return str(binary)


@_one_at_a_time
def sdist(package):
    """The folder of a package's source distribution, which has its tests; of the version that requirements.txt names."""
    pins = (HERE / "requirements.txt").read_text().splitlines()
    pin = next(line for line in pins if line.startswith(f"{package}=="))
    folder = _folder("sdist", pin)
    if not (folder / "ready").exists():
        pip = str(Path(python()).parent / "pip")
        _run([pip, "download", "--quiet", "--no-deps", "--no-binary", package, "--dest", str(folder), pin])
        _run(["tar", "-xzf", str(next(folder.glob("*.tar.gz"))), "--strip-components=1", "-C", str(folder)])
        (folder / "ready").touch()
    return folder


@_one_at_a_time
def go_module(path):
    """The folder of a Go module's source, of the version that go/go.mod names."""
    done = _run([program("go"), "mod", "download", "-json", path], cwd=HERE / "go")
    return Path(json.loads(done)["Dir"])


def _folder(kind, wanted):
    folder = CACHE / f"{kind}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(command, **options):
    """Runs a step of an installation, three times if need be, and returns what it says; its failure makes the client missing."""
    for attempt in range(ATTEMPTS):
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=INSTALL_SECONDS, **options)  # fmt: skip
            said = done.stdout.strip()
        except subprocess.TimeoutExpired:
            done, said = None, f"it took more than {INSTALL_SECONDS} s"
        if done and done.returncode == 0:
            return said
        time.sleep(2 * attempt)
    raise Missing(f"{' '.join(command[:3])} ... failed: {said[-600:]}")
