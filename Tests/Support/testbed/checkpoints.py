"""What the database of a store says of part files while an engine runs."""

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from testbed.host import until

DATABASE = "backhaul.sqlite3"


def synced_offsets(store):
    """Of each checkpoint, the bytes that are synced.

    The engine locks its database, so a copy is read. One that was made in the middle of a write may be damaged.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name in (DATABASE, f"{DATABASE}-wal"):
                shutil.copy(Path(store) / name, folder)
            with closing(sqlite3.connect(Path(folder) / DATABASE)) as database:
                return [offset for offset, in database.execute("SELECT synced_offset FROM checkpoints")]
        except (FileNotFoundError, sqlite3.DatabaseError):
            return []


def wait_for_checkpoint(store, synced=0):
    """Until the store's one partial download has a checkpoint with so many synced bytes."""
    until(lambda: synced_offsets(store), lambda offsets: len(offsets) == 1 and offsets[0] >= synced)
