"""Directories on a real disk for stores and files."""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from daemons import end_daemons

# The system's temporary directory is not used: it may be in memory, where a sync is free and the disk never full.
PLACES = Path(__file__).resolve().parents[3] / "build" / "places"


def make_place(name):
    """Returns an empty directory, which the caller removes."""
    PLACES.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=PLACES))


@contextmanager
def new_place():
    """An empty directory. Daemons of stores in it are ended with the context."""
    made = make_place("test")
    yield made
    end_daemons(made)
    shutil.rmtree(made, ignore_errors=True)
