"""A fleet: a queue in PostgreSQL, and workers on this machine."""

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from servers.content import write_files
from servers.nginx import Nginx

ROOT = Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("BACKHAUL_COMMAND", str(ROOT / "build" / "bin" / "backhaul"))


class Fleet:
    """The database of a fleet, with a command line and workers."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder
        self.workers = {}

    def command(self, *words, code=0):
        """Runs `backhaul` with the fleet's store, and returns its standard output."""
        ended = subprocess.run([COMMAND, *map(str, words), "--store", self.address], capture_output=True, text=True,
                               timeout=300, check=False, stdin=subprocess.DEVNULL)
        assert ended.returncode == code, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def json(self, *words):
        return [json.loads(line) for line in self.command(*words, "--json").splitlines()]

    def sql(self, statement):
        """Runs a statement, and returns the lines of its result."""
        return subprocess.run(["psql", "-XAtq", self.address, "-c", statement], capture_output=True, text=True,
                              timeout=300, check=True).stdout.splitlines()

    def start(self, name, *, lease=6):
        """Starts a worker, or starts it again in the same directory."""
        self.workers[name] = subprocess.Popen(
            [COMMAND, "worker", "--store", self.address, "--name", name, "--directory", str(self.folder / name),
             "--lease", str(lease), "--quiet"], stdin=subprocess.DEVNULL)
        return self.workers[name]

    def end(self):
        for process in self.workers.values():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address of a PostgreSQL server's first database. The server ends with this process."""
    # The path of the socket must be short.
    folder = f"/tmp/backhaul-postgresql-{os.getpid()}"
    script = ROOT / "Tests" / "Support" / "postgresql"
    return subprocess.run([script, folder, str(os.getpid())], capture_output=True, text=True, timeout=300,
                          check=True).stdout.strip()


@pytest.fixture(scope="session")
def large(certificates, tmp_path_factory):
    """A server with one file, whose download takes 16 seconds. Returns the file's URL and digest."""
    files = write_files(tmp_path_factory.mktemp("large"), [3_200_000])
    with Nginx(tmp_path_factory.mktemp("nginx"), files.folder, certificates) as running:
        [(name, digest)] = files.digests.items()
        yield f"{running.url}/slow/{name}", digest


@pytest.fixture
def fleet(server, place):
    name = f"fleet_{os.urandom(6).hex()}"
    subprocess.run(["psql", "-XAtq", server, "-c", f"CREATE DATABASE {name}"], check=True, timeout=300)
    made = Fleet(server.replace("/postgres?", f"/{name}?"), place)
    made.command("fleet", "init")
    yield made
    made.end()
