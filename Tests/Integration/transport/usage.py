"""What a process uses of memory and of processor time (proc(5), clock_getcpuclockid(3))."""

import re
import time
from pathlib import Path


def watch_peak(process):
    """From now on `peak` is that since now. Returns what is resident, in bytes."""
    Path(f"/proc/{process}/clear_refs").write_text("5")
    return _resident(process, "VmRSS")


def peak(process):
    """The most that was resident, in bytes."""
    return _resident(process, "VmHWM")


def _resident(process, field):
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)[1]) * 1024


def processor_seconds(process):
    return time.clock_gettime(~process << 3 | 2)
