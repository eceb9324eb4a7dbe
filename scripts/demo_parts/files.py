"""Chooses the files that the demos serve, from the files of this machine, and makes their digests. While the machine
does not change, the choice stays the same."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("/usr/bin", "/usr/lib", "/usr/share")

# Each bucket has the minimum size, the size below which its files must be (both in bytes), and the number of files.
BUCKETS = (
    (1 << 10, 16 << 10, 160),
    (16 << 10, 128 << 10, 80),
    (128 << 10, 1 << 20, 24),
    (2 << 20, 8 << 20, 6),
    (8 << 20, 16 << 20, 1),
)


@dataclass(frozen=True)
class File:
    path: Path
    size: int


def regular_files(folder):
    """Yields pairs of path and size. On a machine with a large /usr, os.scandir takes a fifth of the time of
    Path.rglob."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.name.isascii() or not entry.name.isprintable():
                continue
            if entry.is_dir(follow_symlinks=False):
                if os.access(entry.path, os.R_OK | os.X_OK):
                    yield from regular_files(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry.path, entry.stat().st_size


def choose_files():
    files = [file for folder in FOLDERS for file in regular_files(folder)]
    chosen = []
    for smallest, limit, count in BUCKETS:
        candidates = [file for file in files if smallest <= file[1] < limit]
        step = max(len(candidates) / count, 1)
        chosen += [candidates[int(index * step)] for index in range(min(count, len(candidates)))]
    readable = [File(Path(path), size) for path, size in chosen if os.access(path, os.R_OK)]
    # Large and small files are mixed, in an order that depends only on the names.
    return sorted(readable, key=lambda file: hashlib.sha256(bytes(file.path)).digest())


def digest(path):
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            sha.update(block)
    return sha.digest()
