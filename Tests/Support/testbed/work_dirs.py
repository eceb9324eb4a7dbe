"""Directories on a real disk, for files and for stores. A store is the data directory of the library."""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from daemons import end_daemons

# The system's temporary directory is not used, because it may be in memory. In memory, a sync costs nothing, and the
# disk is never full.
PLACES = Path(__file__).resolve().parents[3] / "build" / "places"


def make_place(name):
    """Returns an empty directory, which the caller removes."""
    PLACES.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=PLACES))


@contextmanager
def new_place():
    """An empty directory. When the context ends, the daemons of its stores end, and the directory is removed."""
    made = make_place("test")
    yield made
    end_daemons(made)
    shutil.rmtree(made, ignore_errors=True)
