"""Fixtures for tests with file systems that tests mount. They need root."""

import shutil
import subprocess

import pytest

from testbed.fuse import Fuse
from testbed.host import until
from uploads.forms import FormReceiver


@pytest.fixture
def one(host):
    made = host()
    made.session(first_delay_ms=50, longest_delay_ms=100)
    return made


@pytest.fixture
def forms():
    with FormReceiver() as running:
        yield running


@pytest.fixture
def point(place):
    """An empty directory on which a test mounts a file system."""
    made = place / "drive"
    made.mkdir()
    return made


@pytest.fixture
def fuse(point):
    """A function that mounts a FUSE file system of the given abilities."""
    mounted = []

    def mount(**abilities):
        made = Fuse(point, **abilities)
        try:
            made.mount()
        except OSError as error:
            pytest.skip(f"FUSE needs more rights: {error}")
        mounted.append(made)
        return made

    yield mount
    for one in mounted:
        one.unmount()


def run(*words):
    if not shutil.which(words[0]):
        pytest.skip(f"{words[0]} is not installed")
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{words[0]} is not possible here: {done.stderr.strip()}")
    return done.stdout.strip()


#: For each kind of drive: the size of its image, the commands that make and mount its file system, and its type.
IMAGES = {
    "ext4": ("24M", ["mkfs.ext4", "-q", "-F"], ["mount"], "ext4"),
    "xfs": ("300M", ["mkfs.xfs", "-q"], ["mount"], "xfs"),
    "btrfs": ("120M", ["mkfs.btrfs", "-q"], ["mount"], "btrfs"),
    "exfat": ("24M", ["mkfs.exfat"], ["mount.exfat-fuse"], "fuseblk"),
    "casefold": ("24M", ["mkfs.ext4", "-q", "-F", "-O", "casefold"], ["mount"], "ext4"),
}


class Drive:
    """A file system in a file, which is mounted through a loop device."""

    def __init__(self, point, folder, kind):
        self.point, self.kind, self._loops, self._last = point, kind, [], None
        self._image, self._taken = folder / "image", folder / "taken"
        size, make, self._mount, self.type = IMAGES[kind]
        run("truncate", "-s", size, self._image)
        run(*make, self._image)

    def plug(self, *, renumbered=False):
        """Mounts the drive. `renumbered`: with another device number than before."""
        if renumbered:
            take_number(self._taken)
            run("truncate", "-s", "1M", self._taken / "image")
        loop = self._attach(self._image)
        if renumbered and loop == self._last:
            # Something else takes the number of the last time. The kernel gives the lowest free number.
            run("losetup", "-d", self._loops.pop())
            self._attach(self._taken / "image")
            loop = self._attach(self._image)
        self._last = loop
        run(*self._mount, loop, self.point)
        return self

    def unplug(self):
        for path in (self.point, self._taken):
            subprocess.run(["umount", "-l", path], check=False, capture_output=True)
        while self._loops:
            subprocess.run(["losetup", "-d", self._loops.pop()], check=False, capture_output=True)
        # The server of a FUSE file system writes the last bytes after the unmount.
        until(lambda: run("losetup", "-j", self._image), lambda attached: self.type != "fuseblk" or not attached)

    def _attach(self, image):
        self._loops.append(run("losetup", "-f", "--show", image))
        return self._loops[-1]


class Overlay:
    """A file system that shows the files of two directories."""

    type = "overlay"

    def __init__(self, point, folder):
        self.point, self.lower, self._taken = point, folder / "lower", folder / "taken"
        layers = [folder / name for name in ("lower", "upper", "work")]
        for layer in layers:
            layer.mkdir()
        self._layers = "lowerdir={},upperdir={},workdir={}".format(*layers)

    def plug(self, *, renumbered=False):
        if renumbered:
            take_number(self._taken)
        run("mount", "-t", "overlay", "overlay", "-o", self._layers, self.point)
        return self

    def unplug(self):
        for path in (self.point, self._taken):
            subprocess.run(["umount", "-l", path], check=False, capture_output=True)


def take_number(directory):
    """Mounts a file system that gets the next device number."""
    directory.mkdir()
    run("mount", "-t", "tmpfs", "tmpfs", directory)


@pytest.fixture
def drive(request, place, point):
    """An ext4 drive, or one of the kind that the test names."""
    kind = getattr(request, "param", "ext4")
    made = Overlay(point, place) if kind == "overlay" else Drive(point, place, kind)
    try:
        yield made.plug()
    finally:
        made.unplug()
