"""Reads rows from the database of a store while an engine runs. A checkpoint states how many bytes of an unfinished
download are synced."""

import shutil
import sqlite3
import struct
import tempfile
from contextlib import closing
from pathlib import Path

from testbed.host import until

DATABASE = "backhaul.sqlite3"


def numbers(store, query):
    """Returns the numbers in the only column of the query's result.

    The engine locks its database, so this function reads a copy. If the copy was made during a write, it may be
    damaged. Then the function returns no number.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name in (DATABASE, f"{DATABASE}-wal"):
                shutil.copy(Path(store) / name, folder)
            with closing(sqlite3.connect(Path(folder) / DATABASE)) as database:
                return [number for number, in database.execute(query)]
        except (FileNotFoundError, sqlite3.DatabaseError):
            return []


def synced_offsets(store):
    """Returns the number of synced bytes of each checkpoint."""
    return numbers(store, "SELECT synced_offset FROM checkpoints")


def wait_for_checkpoint(store, synced=0):
    """Waits until the store's only partial download has a checkpoint with at least `synced` synced bytes."""
    until(lambda: synced_offsets(store), lambda offsets: len(offsets) == 1 and offsets[0] >= synced)


def recorded_lengths(store):
    """Reads the file `parts` of the store (docs/store.md). Maps the inode of each part file to its recorded length."""
    return {inode: length for inode, length, _ in struct.iter_unpack("=QQ16s", (store / "parts").read_bytes())}
