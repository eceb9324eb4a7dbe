"""One timed run of one contender, and what has to happen around it so that the runs can be compared."""

import ctypes
import hashlib
import mmap
import os
import subprocess
import time
from dataclasses import dataclass

from daemons import daemons_of, end_daemons

from .contenders import Job


@dataclass(frozen=True)
class Run:
    wall: float
    user: float
    system: float
    server: float
    #: Of user and system: the daemon's part. The rest is the host's.
    daemon: float


class Wrong(Exception):
    """A contender that failed, or whose files are not what they should be: its time means nothing."""


def spread_folders(folder):
    """Lets ext4 place each new folder in another block group (chattr +T), away from the inodes that were deleted
    minutes ago and that it would look through for each new file. A file system without that flag is left as it is."""
    subprocess.run(["chattr", "+T", folder], stderr=subprocess.DEVNULL, check=False)


def touch_memory(size):
    """A virtual machine whose balloon has taken memory back gives it again now, not while the clock runs."""
    with mmap.mmap(-1, size) as memory:
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(memory)), 1, size)


def prepare(contender, files, server, protocol, folder):
    """A fresh folder for the files and another for lists and stores."""
    target, scratch = folder / "files", folder / "scratch"
    target.mkdir(parents=True)
    scratch.mkdir()
    names = list(files.digests)
    tls = protocol != "HTTP/1.1"
    base = f"{server.tls_url if tls else server.url}/{files.name}"
    return Job([f"{base}/{name}" for name in names], [target / name for name in names], target, scratch,
               server.certificates.authority, tls)


def run(contender, job, files, server, environment):
    """Times one run from fork to exit; usage comes from wait4(2), which does not poll."""
    command = [os.fspath(word) for word in contender.command(job)]
    # In this order: a sync of what the contender before has left dirty takes seconds, in which the balloon takes the
    # touched memory back, and a contender that runs after a durable one would be the only one to find it warm.
    os.sync()
    touch_memory(min(files.bytes(), 2 << 30))
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
    # The daemon has done the work, and lingers for a while.
    daemons = [cpu_seconds(daemon) for daemon in daemons_of(job.scratch)]
    user, system = (sum(times) for times in zip((usage.ru_utime, usage.ru_stime), *daemons))
    end_daemons(job.scratch)
    if status != 0:
        said = log.read_text(errors="replace").strip()[-2000:]
        raise Wrong(f"{contender.name} ended with {os.waitstatus_to_exitcode(status)}: {said}")
    return Run(wall, user, system, server_after - server_before, sum(map(sum, daemons)))


def cpu_seconds(process):
    """User and system time so far (proc_pid_stat(5), fields 14 and 15)."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return tuple(int(fields[index]) / os.sysconf("SC_CLK_TCK") for index in (11, 12))


def check(contender, job, files, digests):
    if not contender.keeps_files:
        return
    for path in job.destinations:
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            raise Wrong(f"{contender.name} did not make {path.name}") from None
        if size != files.size:
            raise Wrong(f"{contender.name} made {path.name} with {size} bytes instead of {files.size}")
        if digests:
            with open(path, "rb") as file:
                if hashlib.file_digest(file, "sha256").digest() != files.digests[path.name]:
                    raise Wrong(f"{contender.name} made {path.name} with other bytes")


def free_space(job):
    """Gives the blocks back and keeps the inodes: deleting them now would slow down who creates files next."""
    for path in job.folder.iterdir():
        os.truncate(path, 0)
