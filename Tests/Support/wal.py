"""Computes which content of a database would survive a power failure. The database is a file in a store, the data
directory of the library. A trace of the library's system calls shows the writes and syncs."""

import sqlite3
import struct

PAGE = 4096
_FRAME = 24
_LOG_HEADER = 32


class SyncedDatabase:
    """The synced pages of a database. `write` and `sync` repeat what the library does with the write-ahead log. The log
    has the format of https://www.sqlite.org/fileformat.html#the_wal_file."""

    def __init__(self, store, folder):
        """While this function runs, no program may use `store`. `folder` is for a copy of the database."""
        self._copy = folder / "synced.sqlite3"
        source, log = store / "backhaul.sqlite3", store / "backhaul.sqlite3-wal"
        self._pages = dict(enumerate(_blocks(source.read_bytes()), start=1))
        self._written = {}
        self._frame = None
        if log.exists():
            data = log.read_bytes()
            self.write(0, data)
            self.sync()

    def write(self, offset, data):
        """Records one write to the log. The write may contain several frames. It may begin or end between the header of
        a frame and the page of the frame."""
        while data:
            place = (offset - _LOG_HEADER) % (_FRAME + PAGE)
            if offset < _LOG_HEADER:
                size = _LOG_HEADER - offset
            elif place == 0:
                size = _FRAME
                self._frame = struct.unpack(">I", data[:4])[0]
            else:
                assert place == _FRAME and len(data) >= PAGE, "the write begins or ends inside a page"
                size = PAGE
                if self._frame:
                    self._written[self._frame] = data[:PAGE]
                self._frame = None
            offset, data = offset + size, data[size:]

    def sync(self):
        """Records a sync of the log. After the sync, all earlier writes are durable."""
        self._pages.update(self._written)
        self._written.clear()

    def query(self, statement):
        image = bytearray(b"".join(self._pages.get(number, bytes(PAGE)) for number in range(1, max(self._pages) + 1)))
        # The copy has no log. So the header of the copy must say that the database uses no log.
        image[18:20] = b"\1\1"
        self._copy.write_bytes(image)
        connection = sqlite3.connect(f"file:{self._copy}?immutable=1", uri=True)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()


def _blocks(data):
    return [data[start:start + PAGE] for start in range(0, len(data), PAGE)]
