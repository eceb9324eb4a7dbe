"""Computes which content of a database would survive a power failure. The database is a file in a store, the data
directory of the library. A trace of the library's system calls shows the writes and syncs."""

import sqlite3
import struct

_FRAME = 24
_LOG_HEADER = 32


class SyncedDatabase:
    """The synced pages of a database. `write` and `sync` repeat what the library does with the write-ahead log. The log
    has the format of https://www.sqlite.org/fileformat.html#the_wal_file."""

    def __init__(self, store, folder):
        """While this function runs, no program may use `store`. `folder` is for a copy of the database."""
        self._copy = folder / "synced.sqlite3"
        source, log = store / "backhaul.sqlite3", store / "backhaul.sqlite3-wal"
        database = source.read_bytes()
        self._size = page_size(database)
        self._pages = dict(enumerate(_blocks(database, self._size), start=1))
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
            place = (offset - _LOG_HEADER) % (_FRAME + self._size)
            if offset < _LOG_HEADER:
                size = _LOG_HEADER - offset
            elif place == 0:
                size = _FRAME
                self._frame = struct.unpack(">I", data[:4])[0]
            else:
                assert place == _FRAME and len(data) >= self._size, "the write begins or ends inside a page"
                size = self._size
                if self._frame:
                    self._written[self._frame] = data[:size]
                self._frame = None
            offset, data = offset + size, data[size:]

    def sync(self):
        """Records a sync of the log. After the sync, all earlier writes are durable."""
        self._pages.update(self._written)
        self._written.clear()

    def query(self, statement):
        numbers = range(1, max(self._pages) + 1)
        image = bytearray(b"".join(self._pages.get(number, bytes(self._size)) for number in numbers))
        # The copy has no log. So the header of the copy must say that the database uses no log.
        image[18:20] = b"\1\1"
        self._copy.write_bytes(image)
        connection = sqlite3.connect(f"file:{self._copy}?immutable=1", uri=True)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()


def page_size(database):
    """Returns the size of the pages of a database file, in bytes (https://www.sqlite.org/fileformat.html)."""
    size = struct.unpack(">H", database[16:18])[0]
    return 65_536 if size == 1 else size


def _blocks(data, size):
    return [data[start:start + size] for start in range(0, len(data), size)]
