"""Directories on a real disk for stores and files."""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from daemons import end_daemons

# Not the system's temporary directory: that may be memory, which syncs at no cost and is never full.
PLACES = Path(__file__).resolve().parents[3] / "build" / "places"


def make_place(name):
    """An empty directory, which the caller removes."""
    PLACES.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=PLACES))


@contextmanager
def new_place():
    """An empty directory; no daemon of a store in it outlives the context."""
    made = make_place("test")
    yield made
    end_daemons(made)
    shutil.rmtree(made, ignore_errors=True)
