"""A disk whose cache loses what was not flushed. The kernel reaches the disk as a file on FUSE (fuse(4)), through a
loop device, so any of its file systems can be on the disk.

The disk records each write and each flush, in order. The file `facts` beside the disk records what a host knows: a line
that is written to `facts` is an entry of the same record.
"""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass

from testbed.fuse import FSYNC, LIBC, File, Fuse
from testbed.namespaces import PROCESS_NAMESPACE, can_run

PR_SET_PDEATHSIG = 1
CLONE_NEWNS = 0x20000
#: What a disk writes as a whole. ext4 relies on it: it cannot be mounted with a torn superblock.
SECTOR = 4096


@dataclass(frozen=True)
class Write:
    offset: int
    data: bytes

    def sectors(self):
        for start in range(0, len(self.data), SECTOR):
            yield Write(self.offset + start, self.data[start:start + SECTOR])


@dataclass(frozen=True)
class Flush:
    """All earlier writes are durable."""


@dataclass(frozen=True)
class Fact:
    line: bytes


class Image(File):
    """The present content of the disk, in a file."""

    def __init__(self, path):
        super().__init__(0)
        self.descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        # Only its length is used.
        self.data = range(os.fstat(self.descriptor).st_size)


class RecordedDisk(Fuse):
    """`ignores_flushes`: the disk loses even what was flushed. The checks must find such a disk."""

    def __init__(self, point, image, facts=b"", *, ignores_flushes=False):
        super().__init__(point)
        self.record, self._ignores_flushes = [], ignores_flushes
        self._image, self._facts = Image(image), File(0)
        self._facts.data.extend(facts)
        self.files = {b"disk": self._image, b"facts": self._facts}

    def _answer(self, code, node, body):
        if code == FSYNC and node == self._image.number and not self._ignores_flushes:
            self.record.append(Flush())
        return super()._answer(code, node, body)

    def _read(self, node, body):
        if node != self._image.number:
            return super()._read(node, body)
        start, size = int.from_bytes(body[8:16], "little"), int.from_bytes(body[16:20], "little")
        return os.pread(self._image.descriptor, size, start)

    def _write(self, node, body):
        start, size = int.from_bytes(body[8:16], "little"), int.from_bytes(body[16:20], "little")
        data = body[40:40 + size]
        if node != self._image.number:
            # Each write is appended, also if processes write at the same time.
            self.record.append(Fact(data))
            self._facts.data.extend(data)
            return size.to_bytes(8, "little")
        self.record.append(Write(start, data))
        os.pwrite(self._image.descriptor, data, start)
        return size.to_bytes(8, "little")

    def serve(self):
        """Serves the disk until it is unmounted and its loop device has ended."""
        self._thread.join()


def serve(point, image, facts, ignores_flushes, connection):
    """The process of a disk. It has no other task: if a process that uses its own disk is killed, it cannot end."""
    LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    served = RecordedDisk(point, image, facts, ignores_flushes=ignores_flushes).mount()
    # In its own namespace, the process has no mount that needs the disk. At its end, it could not unmount it.
    LIBC.unshare(CLONE_NEWNS)
    served.detach()
    connection.send("mounted")
    served.serve()
    connection.send(served.record)


class Recording:
    """A recorded disk, until the end of a block. Then `record` has its entries."""

    def __init__(self, context, point, image, facts, ignores_flushes):
        self._point = point
        self._connection, theirs = context.Pipe()
        arguments = (point, image, facts, ignores_flushes, theirs)
        self._server = context.Process(target=serve, args=arguments, daemon=True)

    def __enter__(self):
        self._server.start()
        assert self._connection.recv() == "mounted"
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", self._point], check=True)
        self.record = self._connection.recv()
        self._server.join()


#: What a power cut does to the writes after the last flush. A disk writes whole sectors, in any order.
FATES = ("lost", "kept", "mixed", "mixed")


def left_of(writes, fate, chance):
    """Returns what the disk has of these writes after a power cut."""
    if fate != "mixed":
        return writes if fate == "kept" else []
    left = []
    for write in writes:
        sectors = list(write.sectors())
        first = chance.randrange(len(sectors) + 1)
        left += chance.choice([
            [], [write], sectors[:first], sectors[first:], [one for one in sectors if chance.random() < 0.5]])
    return left


def facts_before(record, position):
    """Returns the complete lines. A long write comes in parts."""
    lines = b"".join(entry.line for entry in record[:position] if isinstance(entry, Fact))
    return lines[:lines.rfind(b"\n") + 1]


def cut(record, position, fate, chance):
    """Returns the writes that the disk has if the power fails at this position: the durable ones, and what is left of
    the others."""
    durable, volatile = [], []
    for entry in record[:position]:
        if isinstance(entry, Write):
            volatile.append(entry)
        elif isinstance(entry, Flush):
            durable += volatile
            volatile = []
    return durable, left_of(volatile, fate, chance)


def apply(writes, image):
    with open(image, "r+b", buffering=0) as file:
        for write in writes:
            os.pwrite(file.fileno(), write.data, write.offset)


def copy(image, target):
    subprocess.run(["cp", "--sparse=always", image, target], check=True)


#: For each file system: the size of a small disk, and the commands that make and mount it. The disk has no discards, so
#: btrfs must not send them.
KINDS = {
    "ext4": ("160M", ["mkfs.ext4", "-q", "-F", "-E", "nodiscard"], []),
    "xfs": ("300M", ["mkfs.xfs", "-q", "-K"], []),
    "btrfs": ("240M", ["mkfs.btrfs", "-q", "-K"], ["-o", "nodiscard"]),
}


#: All processes, mounts and loop devices end with the process that these words start.
NAMESPACES = [*PROCESS_NAMESPACE, "--mount", "--propagation", "private"]


def missing_tool(kind):
    """Returns why this machine cannot have such a disk, or None."""
    if os.geteuid() != 0:
        return "only root mounts disks"
    for path in ("/dev/fuse", "/dev/loop-control"):
        if not os.path.exists(path):
            return f"there is no {path}"
    with open("/proc/filesystems") as file:
        if kind not in file.read().split():
            return f"the kernel has no {kind}"
    if not can_run(NAMESPACES):
        return "no namespaces can be made here"
    program = KINDS[kind][1][0]
    return None if shutil.which(program) else f"{program} is not installed"


def make(kind, image):
    size, command, _ = KINDS[kind]
    subprocess.run(["truncate", "-s", size, image], check=True)
    subprocess.run([*command, image], check=True)


class Mounted:
    """A file system that is mounted until the end of a block. When the mount ends, its loop device ends, too."""

    def __init__(self, kind, disk, point):
        self._command = ["mount", "-t", kind, "-o", "loop", *KINDS[kind][2], disk, point]
        self._point = point

    def __enter__(self):
        done = subprocess.run(self._command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unmountable(done.stderr.strip())
        return self._point

    def __exit__(self, *_):
        subprocess.run(["umount", self._point], check=True)


class Unmountable(Exception):
    """The file system is so damaged that it cannot be mounted."""
