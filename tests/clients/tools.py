"""The clients themselves: found on this machine, or installed where that is possible.

Everything that is downloaded lies under ~/.cache/pando/clients, in folders named by what was asked for, so
that a changed version is fetched anew and an unchanged one is not.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("PANDO_CLIENTS_CACHE") or Path.home() / ".cache" / "pando" / "clients")

# PostgreSQL's JDBC driver, which Maven fetches.
PGJDBC = "42.7.7"

# Debian's packages for the programs that we need.
PACKAGES = {
    "psql": "postgresql-client",
    "pgbench": "postgresql-contrib",
    "javac": "default-jdk-headless",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "go": "golang",
}


class Missing(Exception):
    """A client that is not here and cannot be installed."""


def program(name):
    """The path of a program; apt installs it when we are root."""
    found = shutil.which(name)
    if found is None and name == "pgbench":
        found = next((str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/pgbench"))), None)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"stdout": sys.stderr, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "-q", "update"], check=False, **quiet)
        subprocess.run(["apt-get", "-q", "-y", "install", PACKAGES[name]], check=False, **quiet)
        found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} is not installed (Debian: apt-get install {PACKAGES[name]})")
    return found


def python():
    """A Python with the drivers of requirements.txt."""
    wanted = (HERE / "requirements.txt").read_text() + sys.version
    folder = _folder("venv", wanted)
    if not (folder / "ready").exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(folder / "bin" / "pip"), "install", "--quiet", "-r", str(HERE / "requirements.txt")])
        (folder / "ready").touch()
    return str(folder / "bin" / "python")


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


def _pgjdbc():
    jar = _folder("pgjdbc", PGJDBC) / f"postgresql-{PGJDBC}.jar"
    if jar.exists():
        return jar
    artifact = f"org.postgresql:postgresql:{PGJDBC}"
    _run([program("mvn"), "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jar.parent}"])
    return jar


def node():
    """The node program and the environment in which it finds node-postgres."""
    machine, manager = program("node"), program("npm")
    lock = (HERE / "node" / "package.json").read_text() + (HERE / "node" / "package-lock.json").read_text()
    folder = _folder("node", lock)
    if not (folder / "ready").exists():
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / "node" / name, folder)
        _run([manager, "ci", "--no-audit", "--no-fund", "--silent"], cwd=folder)
        (folder / "ready").touch()
    return machine, folder


def go():
    """The suite for Go, built."""
    compiler = program("go")
    sources = sorted((HERE / "go").glob("*.go")) + [HERE / "go" / "go.mod", HERE / "go" / "go.sum"]
    binary = _folder("go", "".join(source.read_text() for source in sources)) / "suite"
    if not binary.exists():
        _run([compiler, "build", "-o", str(binary), "."], cwd=HERE / "go")
    return str(binary)


def _folder(kind, wanted):
    folder = CACHE / f"{kind}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(command, **options):
    """Runs a step of an installation; its failure makes the client missing, with the reason."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise Missing(f"{' '.join(command[:3])} ... failed: {done.stdout.strip()[-600:]}")
