"""A small file system in memory, which the kernel reaches through /dev/fuse (fuse(4)). It needs root, and no library.

It has no subdirectories, no hard links, and by default no rename that replaces nothing. Like exFAT and file systems in
clouds, it numbers its inodes again at each mount."""

import ctypes
import errno
import os
import struct
import threading
import time
from contextlib import contextmanager

LIBC = ctypes.CDLL(None, use_errno=True)
MNT_DETACH = 2
ROOT = 1

# The numbers of the requests (linux/fuse.h).
(LOOKUP, FORGET, GETATTR, SETATTR, UNLINK, RENAME, LINK, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT,
 OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, ACCESS, CREATE, INTERRUPT, BATCH_FORGET, RENAME2) = (
    1, 2, 3, 4, 10, 12, 13, 14, 15, 16, 17, 18, 20, 25, 26, 27, 28, 29, 30, 34, 35, 36, 42, 45)
UNANSWERED = {FORGET, INTERRUPT, BATCH_FORGET}
ALWAYS_DONE = {RELEASE, FSYNC, FLUSH, RELEASEDIR, ACCESS}
FATTR_SIZE = 8


class File:
    def __init__(self, number):
        self.number, self.data, self.modified = number, bytearray(), time.time_ns()


class Fuse:
    """`forbidden`: bytes that no name may contain. `sync_directory`: the errno of fsync(2) of the directory.
    `ignores_case`: whether names that differ in case are the same name."""

    def __init__(self, point, *, noreplace=False, sync_directory=0, forbidden=b"", ignores_case=False):
        self.point, self.noreplace, self.sync_directory = os.fsencode(point), noreplace, sync_directory
        self.forbidden, self.ignores_case = forbidden, ignores_case
        self.files, self._next, self._device = {}, 2, None
        #: The names of all files that were made.
        self.made = []
        self._hanging, self._hung, self._answers = None, threading.Event(), threading.Event()

    def mount(self):
        self._device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        for file in self.files.values():
            file.number = self._number()
        options = b"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions" % self._device
        if LIBC.mount(b"testbed", self.point, b"fuse", 6, options):
            raise OSError(ctypes.get_errno(), "cannot mount a FUSE file system")
        self._thread = threading.Thread(target=self._serve, args=(self._device,), daemon=True)
        self._thread.start()
        return self

    def unmount(self):
        if self._device is not None:
            LIBC.umount2(self.point, MNT_DETACH)
            os.close(self._device)
            self._device = None

    def abort(self):
        """Ends the server. All later calls on the file system fail with ENOTCONN, and it stays mounted."""
        os.close(self._device)
        self._device = None

    def detach(self):
        LIBC.umount2(self.point, MNT_DETACH)

    @contextmanager
    def hanging(self, code):
        """The file system answers nothing from the first request of this kind on, until the block ends."""
        self._hanging = code
        try:
            yield
        finally:
            self._hanging = None
            self._answers.set()

    def wait_until_hung(self):
        assert self._hung.wait(60)

    def names(self):
        return sorted(os.fsdecode(name) for name in self.files)

    def content(self, name):
        return bytes(self.files[os.fsencode(name)].data)

    def _number(self):
        self._next += 1
        return self._next - 1

    def _serve(self, device):
        while True:
            try:
                message = os.read(device, 1 << 20)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return
            size, code, unique, node = struct.unpack_from("<IIQQ", message)
            if code in UNANSWERED:
                continue
            if code == self._hanging:
                self._hung.set()
                self._answers.wait()
            reply, failure = b"", 0
            try:
                reply = self._answer(code, node, message[40:size])
            except KeyError:
                failure = errno.ENOENT
            except OSError as error:
                failure = error.errno
            try:
                os.write(device, struct.pack("<IiQ", 16 + len(reply), -failure, unique) + reply)
            except OSError:
                return

    def _answer(self, code, node, body):
        if code in ALWAYS_DONE:
            return b""
        handlers = {
            INIT: self._init, LOOKUP: self._lookup, GETATTR: self._attributes, SETATTR: self._set_attributes,
            STATFS: self._statfs, OPEN: self._open, OPENDIR: self._open, CREATE: self._create, READ: self._read,
            WRITE: self._write, FSYNCDIR: self._sync_directory, READDIR: self._list, UNLINK: self._unlink,
            RENAME: self._rename, RENAME2: self._rename2, LINK: self._link}
        if code not in handlers:
            raise OSError(errno.ENOSYS, "")
        return handlers[code](node, body)

    # Names

    def _key(self, raw):
        """The name under which a file is stored."""
        name = raw.split(b"\0")[0]
        if self.ignores_case:
            return next((key for key in self.files if key.lower() == name.lower()), name)
        return name

    def _new_key(self, raw):
        name = raw.split(b"\0")[0]
        if any(byte in self.forbidden for byte in name):
            raise OSError(errno.EINVAL, "")
        return self._key(raw)

    def _find(self, node):
        return next(file for file in list(self.files.values()) if file.number == node)

    def _lookup(self, _, body):
        return self._entry(self.files[self._key(body)])

    def _create(self, _, body):
        name = self._new_key(body[16:])
        if name not in self.files:
            self.files[name] = File(self._number())
            self.made.append(os.fsdecode(name))
        file = self.files[name]
        return self._entry(file) + struct.pack("<QQ", file.number, 0)

    def _unlink(self, _, body):
        del self.files[self._key(body)]
        return b""

    def _rename(self, _, body):
        return self._move(body[8:], 0)

    def _rename2(self, _, body):
        return self._move(body[16:], struct.unpack_from("<I", body, 8)[0])

    def _move(self, names, flags):
        old, new = names.split(b"\0")[:2]
        old, target = self._key(old), self._new_key(new)
        if flags and not self.noreplace:
            raise OSError(errno.EINVAL, "")
        if flags and target in self.files:
            raise OSError(errno.EEXIST, "")
        self.files[target] = self.files.pop(old)
        return b""

    def _link(self, *_):
        raise OSError(errno.EPERM, "")

    # Attributes

    def _status(self, file):
        if file is None:
            return struct.pack("<6Q10I", ROOT, 0, 0, 0, 0, 0, 0, 0, 0, 0o40777, 2, 0, 0, 0, 4096, 0)
        second, rest = divmod(file.modified, 10**9)
        return struct.pack("<6Q10I", file.number, len(file.data), len(file.data) // 512 + 1, second, second, second,
                           rest, rest, rest, 0o100777, 1, 0, 0, 0, 4096, 0)

    def _entry(self, file):
        return struct.pack("<4Q2I", file.number, 0, 0, 0, 0, 0) + self._status(file)

    def _attributes(self, node, _):
        return struct.pack("<QQ", 0, 0) + self._status(None if node == ROOT else self._find(node))

    def _set_attributes(self, node, body):
        if node != ROOT and struct.unpack_from("<I", body)[0] & FATTR_SIZE:
            file, size = self._find(node), struct.unpack_from("<Q", body, 16)[0]
            file.data = file.data[:size] + bytes(max(0, size - len(file.data)))
            file.modified = time.time_ns()
        return self._attributes(node, body)

    def _statfs(self, *_):
        return struct.pack("<5Q4I6I", 1 << 20, 1 << 20, 1 << 20, 999, 999, 4096, 255, 4096, 0, *[0] * 6)

    # Content

    def _init(self, *_):
        return struct.pack("<4I2H2I2H8I", 7, 31, 131072, 0, 12, 9, 131072, 1, 32, 0, 0, *[0] * 7)

    def _open(self, node, _):
        return struct.pack("<QQ", node, 0)

    def _read(self, node, body):
        _, start, size = struct.unpack_from("<QQI", body)
        return bytes(self._find(node).data[start:start + size])

    def _write(self, node, body):
        _, start, size = struct.unpack_from("<QQI", body)
        file = self._find(node)
        file.data.extend(bytes(max(0, start - len(file.data))))
        file.data[start:start + size] = body[40:40 + size]
        file.modified = time.time_ns()
        return struct.pack("<II", size, 0)

    def _sync_directory(self, *_):
        if self.sync_directory:
            raise OSError(self.sync_directory, "")
        return b""

    def _list(self, _, body):
        start, reply = struct.unpack_from("<Q", body, 8)[0], b""
        for index, (name, file) in list(enumerate(self.files.items()))[start:start + 20]:
            entry = struct.pack("<QQII", file.number, index + 1, len(name), 8) + name
            reply += entry + bytes(-len(entry) % 8)
        return reply
