"""Starts programs on free ports of loopback, and waits until they listen there."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from servers import child

_LISTENS = "0A"


def find(program, package=None):
    """Returns the program's path. Some servers are in /usr/sbin, which the PATH of some users does not have."""
    found = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if found is None:
        raise RuntimeError(f"{program} is missing: apt-get install --no-install-recommends {package or program}")
    return found


def free_port():
    """Returns a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command, ports=1, *, log=None, **options):
    """Calls `command` with `ports` free ports, and runs the returned command line. Returns the process and its ports.

    If another program takes a port first, the function tries other ports. `log` is a log file of the program. If the
    program does not start, the error shows the text of this file.
    """
    for _ in range(5):
        chosen = [free_port() for _ in range(ports)]
        words = command(*chosen)
        with tempfile.TemporaryFile() as output:
            process = child.start(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, **options)
            if _comes_to_listen(process, set(chosen)):
                return process, chosen
            child.end(process)
            output.seek(0)
            printed = output.read().decode(errors="replace")
    if log is not None and log.exists():
        printed += log.read_text(errors="replace")
    raise RuntimeError(f"{words[0]} does not start: {printed or 'it printed nothing'}")


def _comes_to_listen(process, ports):
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        # The process may end at any time.
        with suppress(OSError):
            if ports <= _ports_of(process.pid):
                return True
        time.sleep(0.01)
    return False


def _ports_of(process):
    """Returns the ports on which the process and its descendants listen, according to proc(5)."""
    ours = {name for one in _family(process) for name in _open_files(one)}
    found = set()
    for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == _LISTENS and f"socket:[{fields[9]}]" in ours:
            found.add(int(fields[1].rpartition(":")[2], 16))
    return found


def _family(process):
    parents = {}
    for one in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            parents[int(one)] = int(Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[1])
    family = [process]
    for one in family:
        family += [other for other, parent in parents.items() if parent == one]
    return family


def _open_files(process):
    with suppress(OSError):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                yield os.readlink(descriptor)
