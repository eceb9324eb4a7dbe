"""File systems that hang. To make such a file system, a test needs the right to mount."""

import ctypes
import errno
import os
import stat
import struct
import subprocess
import threading
from contextlib import contextmanager, suppress

import pytest

_libc = ctypes.CDLL(None, use_errno=True)
_MNT_FORCE, _MNT_DETACH = 1, 2


@contextmanager
def _fuse_device(folder):
    """Mounts a FUSE file system on the folder. A `with` statement gets the device of this file system. A server reads
    the kernel's requests from the device (fuse(4))."""
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
        yield device
    finally:
        # After a forced unmount, the blocked calls fail, and so does the server's read.
        _libc.umount2(bytes(folder), _MNT_FORCE | _MNT_DETACH)
        os.close(device)


@contextmanager
def hung_mount(folder):
    """A FUSE mount whose server never replies. Calls that use files below the folder block until the end of the test.
    Then the calls fail."""
    with _fuse_device(folder):
        yield folder


class HangingMount:
    """A FUSE mount of an empty directory. Its server replies until `hang` is called. From then on, calls that use the
    mount block. They fail at the end of the test. The server is written by hand, because it must be able to hang."""

    _INIT = struct.pack("=IIIIHHIIHHI28x", 7, 31, 65536, 0, 16, 12, 65536, 1, 16, 0, 0)
    _ATTRIBUTES = struct.pack("=QII6Q3I7I", 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
                              stat.S_IFDIR | 0o700, 2, 0, 0, 0, 4096, 0)
    _SPACE = struct.pack("=5Q4I24x", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0)
    #: Maps the number of a request (FUSE_INIT, FUSE_GETATTR, FUSE_STATFS, FUSE_OPENDIR, FUSE_RELEASEDIR) to the reply.
    _REPLIES = {26: _INIT, 3: _ATTRIBUTES, 17: _SPACE, 27: bytes(16), 29: b""}
    _LOOKUP, _WITHOUT_REPLY = 1, (2, 42)

    def __init__(self, folder):
        self.folder = folder
        self._mount = _fuse_device(folder)
        self._hangs = threading.Event()

    def __enter__(self):
        self._device = self._mount.__enter__()
        self._server = threading.Thread(target=self._serve)
        self._server.start()
        return self

    def hang(self):
        self._hangs.set()

    def __exit__(self, *error):
        self.hang()
        self._mount.__exit__(*error)
        self._server.join()

    def _serve(self):
        with suppress(OSError):
            while True:
                request = os.read(self._device, 1 << 20)
                _, number, unique = struct.unpack_from("=IIQ", request)
                if self._hangs.is_set() or number in self._WITHOUT_REPLY:
                    continue
                body = self._REPLIES.get(number, b"")
                error = 0 if number in self._REPLIES else errno.ENOENT if number == self._LOOKUP else errno.ENOSYS
                os.write(self._device, struct.pack("=IiQ", 16 + len(body), -error, unique) + body)


class FreezingDisk:
    """A separate ext4 file system that a test can freeze (fsfreeze(8)). While the file system is frozen, writes block
    and reads work."""

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
