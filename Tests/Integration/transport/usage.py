"""The memory and the processor time that a process uses (proc(5), clock_getcpuclockid(3))."""

import re
import time
from pathlib import Path


def watch_peak(process):
    """Resets the peak, so that `peak` measures from this call on. Returns the resident memory in bytes."""
    Path(f"/proc/{process}/clear_refs").write_text("5")
    return _resident(process, "VmRSS")


def peak(process):
    """Returns the peak of the resident memory in bytes."""
    return _resident(process, "VmHWM")


def _resident(process, field):
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)[1]) * 1024


def processor_seconds(process):
    return time.clock_gettime(~process << 3 | 2)
