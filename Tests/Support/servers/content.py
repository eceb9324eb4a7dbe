"""Contents that a seed determines, so that a test can compare a file without storing its content."""

import hashlib
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Content:
    """Bytes made from a seed. Two contents with different seeds differ everywhere."""

    size: int
    seed: int = 0

    @cached_property
    def data(self):
        chosen, most = random.Random(f"{self.seed}:{self.size}"), 1 << 26  # randbytes takes less than 256 MiB
        return b"".join(chosen.randbytes(min(most, self.size - start)) for start in range(0, self.size, most))

    @cached_property
    def sha256(self):
        return hashlib.sha256(self.data).hexdigest()

    @property
    def etag(self):
        return f'"{self.seed}-{self.size}"'


def sha256_of(path):
    """Returns the digest of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def mixed_sizes(count, seed, largest=300_000):
    """Returns sizes as in real folders: many small files, some large ones, an empty one, and exact powers of two."""
    generator = random.Random(seed)
    edges = [0, 1, 16_384, 65_536]
    return (edges + [int(largest ** generator.random()) for _ in range(count)])[:count]


@dataclass(frozen=True)
class Files:
    """A folder of files with seeded contents. `digests` maps the name of each file to its SHA-256 digest."""

    folder: Path
    digests: dict

    @property
    def names(self):
        return list(self.digests)


def write_files(folder, sizes, seed=0):
    """Writes one file for each size. The name of a file is its number."""
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for number, size in enumerate(sizes):
        content = Content(size, seed * 1_000_003 + number)
        name = f"{number:05}.bin"
        (folder / name).write_bytes(content.data)
        digests[name] = content.sha256
    return Files(folder, digests)
