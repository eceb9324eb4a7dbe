"""Measures the time from a file's last byte on the socket to the host's wake-up. The engine, which transfers the
file, is in a separate process (the daemon)."""

import os
import subprocess
from statistics import median

from daemons import end_daemons

NAMES = {
    "event": "Backhaul, to the host's wake-up",
    "read": "Backhaul, to the event in its hands",
    "sync": "fdatasync, rename, directory's fsync",
    "wake": "a byte to another process",
}


def measure(program, folder, count):
    """Runs the program. Returns the `count` times of each name in NAMES, in milliseconds."""
    (folder / "files").mkdir(parents=True)
    os.sync()
    try:
        output = subprocess.run([program, folder / "store", folder / "files", str(count)], stdout=subprocess.PIPE,
                                text=True, check=True, timeout=600).stdout
    finally:
        end_daemons(folder)
    lines = [line.split() for line in output.splitlines()]
    return {name: [float(time) / 1000 for time in times] for name, *times in lines}


def table(times):
    print(f"\nLatency of one event, 16 KiB, {len(times['event'])} times\n"
          f"{'':38}{'ms: min, median, max':>26}")
    for name, title in NAMES.items():
        values = times[name]
        spread = "  ".join(f"{value:.2f}" for value in (min(values), median(values), max(values)))
        print(f"{title:38}{spread:>26}", flush=True)
