"""File systems that hang. To make such a file system, a test needs the right to mount."""

import ctypes
import os
import subprocess
from contextlib import contextmanager

import pytest

_libc = ctypes.CDLL(None, use_errno=True)
_MNT_FORCE, _MNT_DETACH = 1, 2


@contextmanager
def hung_mount(folder):
    """A FUSE mount whose server never replies (fuse(4)). Calls that use files below the folder block until the end of
    the test. Then the calls fail."""
    folder.mkdir(exist_ok=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        pytest.skip(f"no /dev/fuse here: {error}")
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if _libc.mount(b"hung", bytes(folder), b"fuse", 0, options) != 0:
        os.close(device)
        pytest.skip(f"no FUSE mount here: {os.strerror(ctypes.get_errno())}")
    try:
        yield folder
    finally:
        # When the device is closed, the blocked calls return ENOTCONN.
        os.close(device)
        _libc.umount2(bytes(folder), _MNT_FORCE | _MNT_DETACH)


class FreezingDisk:
    """A separate ext4 file system that a test can freeze (fsfreeze(8)). While it is frozen, writes block and reads
    work."""

    def __init__(self, folder, megabytes=64):
        self.folder = folder
        self._image = folder.with_suffix(".img")
        self._is_frozen = False
        folder.mkdir()
        with open(self._image, "wb") as image:
            image.truncate(megabytes << 20)
        try:
            self._run("mkfs.ext4", "-q", self._image)
            self._run("mount", "-o", "loop", self._image, folder)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no file system can be made here: {error}")

    def __enter__(self):
        return self

    def freeze(self):
        self._run("fsfreeze", "--freeze", self.folder)
        self._is_frozen = True

    def thaw(self):
        if self._is_frozen:
            self._run("fsfreeze", "--unfreeze", self.folder)
        self._is_frozen = False

    def __exit__(self, *_):
        self.thaw()
        # Processes may still have files open on the disk. A lazy unmount works in this case, too.
        self._run("umount", "--lazy", self.folder)

    @staticmethod
    def _run(*command):
        subprocess.run(command, check=True, capture_output=True)
