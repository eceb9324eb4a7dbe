"""A fleet: a queue in PostgreSQL, and workers on this machine."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import daemons
from servers import child
from testbed.host import stop, until

ROOT = Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("BACKHAUL_COMMAND", str(ROOT / "build" / "bin" / "backhaul"))


def run_sql(address, statement):
    return subprocess.run(["psql", "-XAtq", address, "-c", statement], capture_output=True, text=True, timeout=300,
                          check=True).stdout.splitlines()


class Database:
    """A PostgreSQL server in a directory of its own, or a replica of another one. It ends with this process."""

    def __init__(self, name="database", primary=None):
        # The path of the socket must be short.
        self.folder = Path(tempfile.mkdtemp(prefix=f"backhaul-{name}-", dir="/tmp"))
        # A killed process loses nothing that it has not synced.
        self._options = [*(["--replica-of", primary.folder] if primary else []), "fsync=off"]
        self.start()

    def start(self):
        """Starts the server, or starts it again."""
        script = ROOT / "Tests" / "Support" / "postgresql"
        self.address = subprocess.run([script, self.folder, str(os.getpid()), *self._options], capture_output=True,
                                      text=True, timeout=300, check=True).stdout.strip()

    def sql(self, statement):
        """Runs a statement, and returns the lines of its result."""
        return run_sql(self.address, statement)

    def wait_for_replica(self):
        """From now on, each commit waits for the replica."""
        self.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql("SELECT pg_reload_conf()")
        until(lambda: self.sql("SELECT sync_state FROM pg_stat_replication"), lambda states: states == ["sync"])

    def promote(self):
        """Makes the replica the primary."""
        self.sql("SELECT pg_promote()")

    def hang(self):
        """Stops all processes of the server: its connections stay, and nothing replies. Returns the processes."""
        main = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        stop(main)  # It starts no process any more.
        children = map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split())
        for process in (processes := [main, *children]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        return processes

    def wake(self, processes):
        """Lets the processes that `hang` has stopped run again."""
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)

    def kill(self):
        """Kills all processes of the server, as a loss of its machine does."""
        for process in self.hang():
            daemons.end(process, signal.SIGKILL, time.monotonic() + 60)
        # The server would not start while its killed process is not reaped.
        (self.folder / "data" / "postmaster.pid").unlink()
        (self.folder / ".s.PGSQL.5432.lock").unlink()

    def create(self, tablespace="pg_default"):
        """Makes a database, and returns its address."""
        name = f"fleet_{os.urandom(6).hex()}"
        self.sql(f"CREATE DATABASE {name} TABLESPACE {tablespace}")
        return self.address.replace("/postgres?", f"/{name}?")


@contextlib.contextmanager
def connection_pool(address):
    """Starts pgbouncer in transaction mode with two connections. Yields the address of the same database through it."""
    server = address.partition("?host=")[2]
    settings = Path(server, "pgbouncer.ini")
    settings.write_text(f"""
[databases]
* = host={server} user=postgres
[pgbouncer]
unix_socket_dir = {server}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 2
""")
    settings.chmod(0o644)
    as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    with open(settings.with_suffix(".log"), "wb") as log:
        process = child.start([*as_user, "pgbouncer", settings], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield address + "&port=6432"
    finally:
        child.end(process)


class Fleet:
    """The database of a fleet, with a command line and workers."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder
        self.workers = {}
        self.command("fleet", "init")

    def address_through(self, host, port):
        """The address of the same database through a relay that listens at this host and port."""
        return self.address.partition("?")[0].replace("@/", f"@{host}:{port}/")

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
        return run_sql(self.address, statement)

    def start(self, name, *, lease=6, address=None, folder=None, prefix=()):
        """Starts a worker, or starts it again in the same directory. It reaches the database at the address. `prefix`
        are the words of a command that starts the worker, such as one that enters a namespace."""
        self.workers[name] = subprocess.Popen(
            [*prefix, COMMAND, "worker", "--store", address or self.address, "--name", name, "--directory",
             str((folder or self.folder) / name), "--lease", str(lease), "--quiet"], stdin=subprocess.DEVNULL)
        return self.workers[name]

    def close(self):
        for process in self.workers.values():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
