"""Counts the instructions that Backhaul needs for a small file. Unlike a time, the count hardly depends on the load of
the machine, so it shows a change of the code that times do not show."""

import re
import subprocess

from .contenders import bench_host
from .files import Files
from .measure import Wrong, prepare

SIZE = 16 << 10
#: The instructions for a file are those of the larger run beyond those of the smaller one. So the start of a process
#: does not count.
COUNTS = (100, 600)
#: 1,134,000 were counted with libcurl 7.88, SQLite 3.40 and glibc 2.36. The engine's timers run more often if the
#: machine is busy.
LIMIT = 1_200_000


def measure(folder, programs, server, environment):
    """Returns the instructions in user mode for each file: those of the host, an embedded engine and all libraries."""
    small, large = (_count(folder / str(count), programs, server, environment, count) for count in COUNTS)
    return (large - small) / (COUNTS[1] - COUNTS[0])


def _count(folder, programs, server, environment, count):
    files = Files(server.files / f"instructions-{count}", (SIZE,) * count)
    job = prepare(files, server, folder)
    # valgrind 3.19 cannot read the debug information of Swift.
    library = folder / "libbackhaul.so.1"
    subprocess.run(["objcopy", "--strip-debug", programs.parent / "lib/libbackhaul.so.1", library], check=True)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *bench_host(programs, "embedded", job)],
        env={**environment, "LD_LIBRARY_PATH": str(folder)}, stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise Wrong(f"valgrind ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return int(found[1])


def show(instructions):
    print(f"\nInstructions in user mode for a file of 16 KiB, embedded engine: {instructions:,.0f}", flush=True)
