"""Runs the image downloader, which is an example program, with a home directory for the test. Finds the files and
processes of the program."""

import os
import signal
import subprocess
import time
from pathlib import Path

from daemons import end, end_daemons
from servers import child


def processes_with_home(home):
    """Returns the processes that have this home directory in their environment."""
    mark, found = f"HOME={home}\0".encode(), []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in Path(f"/proc/{process}/environ").read_bytes():
                found.append(int(process))
        except OSError:
            continue
    return found


class Images:
    """``images("get", url)`` runs the program to its end, and returns the lines that it printed."""

    def __init__(self, command, home):
        home.mkdir()
        self.command, self.home = list(map(str, command)), home
        self.folder = home / "Pictures" / "Backhaul"
        self.environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}

    def __call__(self, *words, code=0):
        ended = subprocess.run([*self.command, *words], env=self.environment, capture_output=True, text=True,
                               timeout=300, check=False)
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended.stdout.splitlines() + ended.stderr.splitlines()

    def open(self, *words):
        return child.start([*self.command, *words], env=self.environment, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)

    def log(self):
        path = self.folder / "images.log"
        return path.read_text().splitlines() if path.exists() else []

    def files(self):
        return sorted(path.name for path in self.folder.iterdir()) if self.folder.exists() else []

    def processes(self):
        """Returns the ids of all processes of the program, including those that a daemon started. Each process has the
        program's home directory in its environment."""
        return processes_with_home(self.home)

    def end(self):
        end_daemons(self.home)
        for process in self.processes():
            end(process, signal.SIGKILL, time.monotonic() + 5)
