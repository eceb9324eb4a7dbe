"""Fixtures for tests with file systems that tests mount. They need root."""

import subprocess

import pytest

from testbed.fuse import Fuse
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
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{words[0]} needs more rights: {done.stderr.strip()}")
    return done.stdout.strip()


class Drive:
    """An ext4 file system in a file, which is mounted through a loop device."""

    def __init__(self, point, image):
        self.point, self.image, self._loops = point, image, []
        run("truncate", "-s", "24M", image)
        run("mkfs.ext4", "-q", "-F", image)

    def plug(self, *, renumbered=False):
        if renumbered:
            # Another file takes the number that the drive had before.
            other = self.image.with_name(self.image.name + ".other")
            run("truncate", "-s", "1M", other)
            self._loops.append(run("losetup", "-f", "--show", other))
        self._loops.append(run("losetup", "-f", "--show", self.image))
        run("mount", self._loops[-1], self.point)
        return self

    def unplug(self):
        subprocess.run(["umount", "-l", self.point], check=False, capture_output=True)
        while self._loops:
            subprocess.run(["losetup", "-d", self._loops.pop()], check=False, capture_output=True)


@pytest.fixture
def drive(place, point):
    made = Drive(point, place / "image").plug()
    yield made
    made.unplug()
