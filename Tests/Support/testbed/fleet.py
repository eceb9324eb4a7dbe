"""A fleet: a queue in PostgreSQL, and workers on this machine."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import daemons

ROOT = Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("BACKHAUL_COMMAND", str(ROOT / "build" / "bin" / "backhaul"))


class Database:
    """A PostgreSQL server in a directory of its own. It ends with this process."""

    def __init__(self):
        # The path of the socket must be short.
        self.folder = Path(f"/tmp/backhaul-postgresql-{os.getpid()}")
        self.start()

    def start(self):
        """Starts the server, or starts it again."""
        script = ROOT / "Tests" / "Support" / "postgresql"
        self.address = subprocess.run([script, self.folder, str(os.getpid())], capture_output=True, text=True,
                                      timeout=300, check=True).stdout.strip()

    def kill(self):
        """Kills all processes of the server, as a loss of its machine does."""
        lock = self.folder / "data" / "postmaster.pid"
        main = int(lock.read_text().split()[0])
        os.kill(main, signal.SIGSTOP)  # It starts no process any more.
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        for process in [main, *map(int, children)]:
            daemons.end(process, signal.SIGKILL, time.monotonic() + 60)
        # The server would not start while its killed process is not reaped.
        lock.unlink()
        (self.folder / ".s.PGSQL.5432.lock").unlink()

    def create(self):
        """Makes a database, and returns its address."""
        name = f"fleet_{os.urandom(6).hex()}"
        subprocess.run(["psql", "-XAtq", self.address, "-c", f"CREATE DATABASE {name}"], check=True, timeout=300)
        return self.address.replace("/postgres?", f"/{name}?")


class Fleet:
    """The database of a fleet, with a command line and workers."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder
        self.workers = {}
        self.command("fleet", "init")

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

    def start(self, name, *, lease=6, address=None):
        """Starts a worker, or starts it again in the same directory. It reaches the database at the address."""
        self.workers[name] = subprocess.Popen(
            [COMMAND, "worker", "--store", address or self.address, "--name", name, "--directory",
             str(self.folder / name), "--lease", str(lease), "--quiet"], stdin=subprocess.DEVNULL)
        return self.workers[name]

    def end(self):
        for process in self.workers.values():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
