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
#: 1,098,000 to 1,121,000 were counted with libcurl 7.88, SQLite 3.40 and glibc 2.36, and up to 1,177,000 on a busy
#: machine, where the engine's timers run more often.
LIMIT = 1_200_000
ATTEMPTS = 3


def measure(folder, programs, server, environment):
    """Returns the instructions in user mode for each file: those of the host, an embedded engine and all libraries. If
    the count exceeds the limit, it is repeated, and the least count is returned: a busy machine only adds instructions.
    """
    # valgrind 3.19 cannot read the debug information of Swift.
    subprocess.run(["objcopy", "--strip-debug", programs.parent / "lib/libbackhaul.so.1", folder / "libbackhaul.so.1"],
                   check=True)
    environment = {**environment, "LD_LIBRARY_PATH": str(folder)}
    counts = []
    while len(counts) < ATTEMPTS and min(counts, default=LIMIT + 1) > LIMIT:
        small, large = (_count(folder / f"{len(counts)}-{count}", programs, server, environment, count)
                        for count in COUNTS)
        counts.append((large - small) / (COUNTS[1] - COUNTS[0]))
    return min(counts)


def _count(folder, programs, server, environment, count):
    files = Files(server.files / f"instructions-{folder.name}", (SIZE,) * count)
    job = prepare(files, server, folder)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *bench_host(programs, "embedded", job)],
        env=environment, stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise Wrong(f"valgrind ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return int(found[1])


def show(instructions):
    print(f"\nInstructions in user mode for a file of 16 KiB, embedded engine: {instructions:,.0f}", flush=True)
