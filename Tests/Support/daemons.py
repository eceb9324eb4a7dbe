"""Finds the daemons of stores below a folder, and ends them, so that no daemon survives its test."""

import os
import select
import signal
import time
from contextlib import suppress
from pathlib import Path


def daemons_of(folder):
    """Returns the process ids of the daemons whose store is in this folder."""
    folder, found = os.path.realpath(folder), []
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            # The name comes first, because a compiler has hundreds of paths.
            if os.path.basename(words[0]) == b"backhauld":
                names = [os.path.realpath(os.fsdecode(word)) for word in words[1:] if word.startswith(b"/")]
                if any(Path(name).is_relative_to(folder) for name in names):
                    found.append(int(process))
    return found


def end_daemons(folder, patience=5):
    """Ends the daemons. SIGTERM comes first, because a service manager would restart a killed daemon. SIGKILL
    follows after `patience` seconds."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + patience
        processes = daemons_of(folder)
        if not processes:
            return
        for process in processes:
            end(process, number, deadline)


def end(process, number, deadline):
    """Signals one process, and waits until it has ended or the deadline has passed."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(process)
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGCONT)
            signal.pidfd_send_signal(descriptor, number)
            select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        finally:
            os.close(descriptor)
