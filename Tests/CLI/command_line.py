"""Runs `backhaul` in tests."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from daemons import end_daemons

PROJECT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("BACKHAUL_COMMAND", str(PROJECT / "build" / "bin" / "backhaul"))
LIMIT = 300


class CommandLine:
    """`backhaul` with its own store and its own working directory. If `hosting` is "daemon", a separate process runs
    the transfers. If `hosting` is "embedded", the command itself runs them."""

    def __init__(self, folder, hosting):
        self.folder = folder
        self.hosting = hosting
        self.store = folder / "store"
        self.here = folder / "here"
        self.here.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", "TERM": "xterm",
        }
        self.running = []

    def arguments(self, *words):
        embedded = ["--embedded"] if self.hosting == "embedded" else []
        return [COMMAND, "--store", str(self.store), *embedded, *map(str, words)]

    @property
    def wait_command(self):
        """The complete `wait` command, as the messages of other commands show it."""
        return f"backhaul wait{' --embedded' if self.hosting == 'embedded' else ''} --store {self.store}"

    def __call__(self, *words, code=0, stdin=None, **variables):
        """Runs a command until it exits, and checks that its exit code is `code`."""
        ended = subprocess.run(
            self.arguments(*words), cwd=self.here, env={**self.environment, **variables}, capture_output=True,
            text=True, timeout=LIMIT, check=False, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL)
        assert ended.returncode == code, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended

    def start(self, *words, **options):
        """Starts a command and returns its process."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        process = subprocess.Popen(self.arguments(*words), cwd=self.here, env=self.environment,
                                   stdin=subprocess.DEVNULL, **options)
        self.running.append(process)
        return process

    def json(self, *words, **options):
        """Runs a command with --json, and returns its output lines as parsed JSON."""
        return [json.loads(line) for line in self(*words, "--json", **options).stdout.splitlines()]

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()
        end_daemons(self.folder)


def until(condition, what):
    """Waits until the condition is true, and returns its value. `what` names the condition in the error."""
    limit = time.monotonic() + LIMIT
    while not (result := condition()):
        assert time.monotonic() < limit, f"{what} did not happen"
        time.sleep(0.01)
    return result


def lift_speed_limit(server):
    """Removes the speed limit of a server of files."""
    server.limit.bytes_per_second = 1 << 30


def part_files(folder):
    return [name for name in os.listdir(folder) if ".part" in name]
