"""One run of one contender (a measured program), and the preparations that make runs comparable."""

import ctypes
import hashlib
import mmap
import os
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from daemons import daemons_of, end_daemons

from .contenders import Job
from .server import cpu_seconds


@dataclass(frozen=True)
class Run:
    wall: float
    user: float
    system: float
    #: The processor time of the server. The server and the contender run on the same processors.
    server: float
    #: How much of the user and system time Backhaul's daemon has used. The host, which is the program that uses the
    #: library, has used the rest.
    daemon: float
    #: Context switches of the contender and its daemon.
    switches: int

    @property
    def cpu(self):
        return self.user + self.system


class Wrong(Exception):
    """A contender failed, or its files are wrong. So its time has no meaning."""


def spread_folders(folder):
    """Makes ext4 place each new folder in a different block group (chattr +T). Without this flag, ext4 searches
    recently deleted inodes for each new file. On file systems that have no such flag, nothing changes."""
    subprocess.run(["chattr", "+T", folder], stderr=subprocess.DEVNULL, check=False)


#: The memory that a contender needs besides the page cache of its files.
SPARE_MEMORY = 1 << 30


def prepare_machine(size):
    """Puts the machine into the same state before each run that transfers `size` bytes.

    A virtual machine may give free memory back to its host. Then the first write to a page takes about 10 µs instead of
    2 µs, so a run would be slower if it is the first to use this memory. For this reason, this function writes to the
    memory. The sync comes before that, because the machine could give the memory back during a long sync. The sync is
    short if the previous contender has synced its own files. So in the other order, the memory would be ready for some
    contenders, and not ready for others.
    """
    os.sync()
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    size = min(min(size, 2 << 30) + SPARE_MEMORY, free // 2)
    with mmap.mmap(-1, size) as memory:
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(memory)), 1, size)


def prepare(files, server, folder, tls=False, uploads=False, recording=None):
    """Returns the job of a run, with an empty folder for the files and an empty folder for lists and stores."""
    target, scratch = folder / "files", folder / "scratch"
    target.mkdir(parents=True)
    scratch.mkdir()
    base, stored = f"{server.url(tls)}/{files.folder.name}", target
    sources = results = [target / name for name in files.sizes]
    if uploads:
        sources = [files.folder / name for name in files.sizes]
        stored = server.files / "put" / folder.name
        results = [stored / name for name in files.sizes]
        base = f"{server.url(tls)}/put/{folder.name}"
    return Job([f"{base}/{name}" for name in files.sizes], sources, results, stored, scratch,
               server.certificates.authority, tls, uploads, files.folder, recording)


def run(contender, job, files, server, environment):
    """Times one run from fork to exit. wait4(2) waits for the exit without polling, and returns the processor times."""
    command = [os.fspath(word) for word in contender.command(job)]
    prepare_machine(files.bytes)
    log = job.scratch / "output"
    with open(log, "wb") as output, open(os.devnull, "rb") as nothing:
        server_before = server.cpu_seconds()
        start = time.perf_counter()
        process = os.posix_spawnp(command[0], command, environment, file_actions=[
            (os.POSIX_SPAWN_DUP2, nothing.fileno(), 0), (os.POSIX_SPAWN_DUP2, output.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, output.fileno(), 2)])
        _, status, usage = os.wait4(process, 0)
        wall = time.perf_counter() - start
        server_after = server.cpu_seconds()
    # At this time the daemon has done its work, and has not exited yet.
    daemons = daemons_of(job.scratch)
    times = [cpu_seconds(daemon) for daemon in daemons]
    switches = usage.ru_nvcsw + usage.ru_nivcsw + sum(map(context_switches, daemons))
    user, system = (sum(each) for each in zip((usage.ru_utime, usage.ru_stime), *times))
    end_daemons(job.scratch)
    if status != 0:
        printed = log.read_text(errors="replace").strip()[-2000:]
        raise Wrong(f"{contender.name} ended with {os.waitstatus_to_exitcode(status)}: {printed}")
    return Run(wall, user, system, server_after - server_before, sum(map(sum, times)), switches)


def context_switches(process):
    """Returns the context switches of all threads that the process has now. /proc/PID/status has only the context
    switches of the first thread."""
    count = 0
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        # A thread may end at any time.
        with suppress(OSError):
            count += sum(int(line.split()[1]) for line in status.read_text().splitlines() if "ctxt_switches" in line)
    return count


def check(contender, job, files, digests):
    if not contender.keeps_files:
        return
    for path in job.results:
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            raise Wrong(f"{contender.name} did not make {path.name}") from None
        if size != files.sizes[path.name]:
            raise Wrong(f"{contender.name} made {path.name} with {size} bytes instead of {files.sizes[path.name]}")
        if digests:
            with open(path, "rb") as file:
                if hashlib.file_digest(file, "sha256").digest() != files.digests[path.name]:
                    raise Wrong(f"{contender.name} made {path.name} with other bytes")
