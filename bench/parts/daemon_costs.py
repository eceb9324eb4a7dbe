"""Measures what a daemon costs: its start and memory with a million queued tasks, and its memory for each running
transfer."""

import os
import re
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from daemons import daemons_of, end_daemons

from .contenders import AT_ONCE
from .measure import Wrong
from .report import spread
from .rows import MIB
from .transfers import show_progress

#: Extent of the run -> number of tasks in the long queue, and how often the daemon of each store is started.
QUEUES = {"full": (1_000_000, 5), "quick": (50_000, 2)}
SHORT_QUEUE = 10
#: How many transfers run in each measurement. The other measurements are compared with the first measurement.
RUNNING = (0, 100, 1_000)
ESTABLISHED = "01"


class Memory(NamedTuple):
    """The memory of a process in bytes. `resident` counts a page of a shared file for each process that uses it.
    `proportional` (PSS) divides such a page among these processes."""

    resident: int
    proportional: int


def memory(store):
    """Returns the memory of the store's daemon (proc_pid_smaps(5))."""
    daemons = daemons_of(store)
    if len(daemons) != 1:
        raise Wrong(f"the store has {len(daemons)} daemons")
    [daemon] = daemons
    rollup = Path(f"/proc/{daemon}/smaps_rollup").read_text()
    sizes = {name: int(size) << 10 for name, size in re.findall(r"^(Rss|Pss):\s+(\d+) kB$", rollup, re.MULTILINE)}
    return Memory(sizes["Rss"], sizes["Pss"])


@contextmanager
def host(program, *arguments):
    """Runs bench/queue.c, and yields the process and the numbers that it has printed."""
    process = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    try:
        line = process.stdout.readline()
        if not line:
            raise Wrong(f"queue {arguments[0]} ended with {process.wait()}")
        yield process, [float(word) for word in line.split()]
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def close_store(process):
    """Makes the host (the program of bench/queue.c) close its store, and waits until the store is closed."""
    process.stdin.close()
    process.stdout.readline()


# Start and memory of a daemon with queued tasks.

@contextmanager
def silent_server():
    """A server that accepts connections, and never responds. Yields its port."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        yield listener.getsockname()[1]


class Queue:
    """A store with `count` tasks that never end."""

    def __init__(self, program, folder, count):
        self.count, self.attaches, self.first_bytes, self.memory = count, [], [], []
        self._program, self._store, self._folder = program, folder / "store", folder / "files"
        self._folder.mkdir(parents=True)

    def fill(self):
        with silent_server() as port:
            self._port = port
            url = f"http://127.0.0.1:{port}/a/file/of/some/package_1.2.3-4_amd64.deb"
            with host(self._program, "fill", self._store, self._folder, self.count, AT_ONCE, url) as (process, _):
                self.memory.append(memory(self._store))
                close_store(process)
            end_daemons(self._store)

    def start(self):
        with host(self._program, "start", self._store, self._port) as (process, [attached, first]):
            self.attaches.append(attached)
            self.first_bytes.append(first)
            time.sleep(1)  # Meanwhile the daemon loads the next tasks of the queue.
            self.memory.append(memory(self._store))
            close_store(process)
            end_daemons(self._store)


def measure_queues(program, folder, extent):
    """Returns the short and the long queue. Their daemons were started alternately, and the same number of times."""
    count, starts = QUEUES[extent]
    queues = [Queue(program, folder / str(each), each) for each in (SHORT_QUEUE, count)]
    try:
        for queue in queues:
            show_progress(f"million: enqueue of {queue.count:,}")
            queue.fill()
        os.sync()
        for number in range(starts):
            for queue in queues:
                show_progress(f"million: start {number + 1} of {starts} with {queue.count:,}")
                queue.start()
    finally:
        end_daemons(folder)
        show_progress("")
    return queues


def print_queues(queues):
    print(f"\nStart of a daemon with queued tasks, {len(queues[0].attaches)} starts\n{'':18}"
          f"{'attached ms: min, median, max':>34}{'first byte sent ms':>30}{'resident MB':>24}{'PSS MB':>24}")
    for queue in queues:
        milliseconds = ([time * 1000 for time in times] for times in (queue.attaches, queue.first_bytes))
        attach, first = (spread(times, "{:.1f}") for times in milliseconds)
        sizes = (spread([size / 1e6 for size in column], "{:.1f}") for column in zip(*queue.memory))
        print(f"{f'{queue.count:,} queued':18}{attach:>34}{first:>30}{''.join(f'{size:>24}' for size in sizes)}",
              flush=True)


def add_queue_bars(bars, queues):
    short, long = queues
    ratio = median(one / other for one, other in zip(long.attaches, short.attaches))
    bars.at_most(f"{long.count:,} queued, PSS", max(size.proportional for size in long.memory) / 1e6, 56, "MB")
    bars.at_most(f"{long.count:,} queued, attach", ratio, 2, f"× that with {short.count} queued")


def queues_as_values(queues):
    return [{"queued": queue.count, "attach_s": queue.attaches, "first_byte_s": queue.first_bytes,
             "resident_bytes": [size.resident for size in queue.memory],
             "proportional_bytes": [size.proportional for size in queue.memory]} for queue in queues]


# Memory of a daemon with running transfers.

def established(port):
    """Returns the number of clients' connections to the port (proc_net_tcp(5))."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(1 for line in lines if line.split()[2].endswith(f":{port:04X}") and line.split()[3] == ESTABLISHED)


def measure_running(program, folder, server):
    """Maps each number of running transfers to the memory of the daemon."""
    (server.files / "slow").mkdir()
    (server.files / "slow" / "file").write_bytes(bytes(16 * MIB))
    urls = [f"http://127.0.0.{number}:{server.port}/slow/file" for number in (1, 2, 3, 4)]
    sizes = {}
    for count in RUNNING:
        show_progress(f"memory: {count:,} running transfers")
        store = folder / f"store-{count}"
        (folder / f"files-{count}").mkdir(parents=True)
        try:
            with host(program, "fill", store, folder / f"files-{count}", count, max(count, 1), *urls):
                await_connections(server.port, count)
                time.sleep(3)  # Meanwhile each transfer receives some bytes and allocates its buffers.
                sizes[count] = memory(store)
        finally:
            end_daemons(folder)
    show_progress("")
    return sizes


def await_connections(port, count):
    deadline = time.monotonic() + 60
    while established(port) < count:
        if time.monotonic() > deadline:
            raise Wrong(f"only {established(port)} of {count} transfers run")
        time.sleep(0.05)


def kib_of_each(sizes):
    """Maps each number of running transfers, except the first one, to the KiB that each transfer adds."""
    base, *others = sizes
    start = sizes[base].proportional
    return {count: (sizes[count].proportional - start) / 1024 / (count - base) for count in others}


def print_running(sizes):
    print("\nMemory of a daemon by running transfer (HTTP/1.1)")
    print(f"{'':18}{'resident MB':>14}{'PSS MB':>14}{'KiB for each':>14}")
    each = kib_of_each(sizes)
    for count, size in sizes.items():
        more = f"{each[count]:>14.1f}" if count in each else ""
        columns = "".join(f"{each / 1e6:>14.1f}" for each in size)
        print(f"{f'{count:,} running':18}{columns}{more}", flush=True)
