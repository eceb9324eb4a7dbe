"""Runs a host several times, and kills it at a given moment."""

import os
import signal
import subprocess
from pathlib import Path

from testbed.host import until

PROJECT = Path(__file__).resolve().parents[2]


class KilledHost:
    """Starts a host several times with the same home directory."""

    def __init__(self, command, home):
        path = f"{PROJECT / 'build' / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": f"{home}/.local/state", "PATH": path}
        # The host gets its own process group, because the host of the shell example consists of several programs.
        self._options = {"cwd": home, "env": environment, "text": True, "start_new_session": True}
        self._command = command

    def kill(self, moment):
        host = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, **self._options)
        until(moment, bool)
        assert host.poll() is None, "the host ended before it could be killed"
        os.killpg(host.pid, signal.SIGKILL)
        host.wait()

    def __call__(self, status=0):
        """Runs the host to its end, checks its exit status, and returns the output of the host."""
        ended = subprocess.run(self._command, capture_output=True, check=False, **self._options)
        assert ended.returncode == status, ended.stdout + ended.stderr
        return ended.stdout
