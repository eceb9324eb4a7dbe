"""The files that the contenders (measured programs) transfer, and the sizes of the packages on a Debian mirror."""

import bisect
import hashlib
import os
import random

LARGEST_BLOCK = 64 << 20

#: Quantiles of the sizes of Debian's packages. They come from the field Size of all 63,440 packages in
#: `dists/bookworm/main/binary-amd64/Packages`. The largest package of the archive has 1.5 GB, but here a package has at
#: most 60 MiB.
PACKAGE_SIZES = (
    (0.00, 880), (0.01, 1_152), (0.05, 5_132), (0.10, 7_824), (0.20, 13_772), (0.30, 22_640), (0.40, 36_356),
    (0.50, 59_164), (0.60, 104_140), (0.70, 203_352), (0.80, 455_436), (0.90, 1_453_428), (0.95, 3_871_604),
    (0.98, 11_476_648), (0.99, 21_958_880), (0.995, 44_845_772), (1.00, 60 << 20),
)


def mirror_sizes(count):
    """Returns `count` sizes with the distribution of PACKAGE_SIZES. Their order is random, but the same in each run.

    The distribution is divided into `count` equal parts, and each size is the middle of one part. So short runs and
    long runs have the same distribution. Between two quantiles, the logarithm of the size grows linearly.
    """
    shares = [share for share, _ in PACKAGE_SIZES]
    sizes = []
    for number in range(count):
        share = (number + 0.5) / count
        above = bisect.bisect_right(shares, share)
        (low, smaller), (high, larger) = PACKAGE_SIZES[above - 1], PACKAGE_SIZES[above]
        sizes.append(round(smaller * (larger / smaller) ** ((share - low) / (high - low))))
    random.Random(count).shuffle(sizes)
    return tuple(sizes)


class Files:
    """Files of random bytes in a folder, with their sizes and digests. The bytes depend only on the folder's name."""

    def __init__(self, folder, sizes):
        self.folder, self.bytes = folder, sum(sizes)
        self.sizes = {f"{number:06}.bin": size for number, size in enumerate(sizes)}
        self.digests = {}
        noise = random.Random(folder.name)
        self.folder.mkdir(parents=True)
        for name, size in self.sizes.items():
            self.digests[name] = self._write(name, size, noise.randbytes(min(size, LARGEST_BLOCK)))

    def _write(self, name, size, block):
        """Writes a file, and returns its digest. A large file may repeat one block, because no contender compresses or
        compares files."""
        digest = hashlib.sha256()
        with open(self.folder / name, "wb") as file:
            for start in range(0, size, LARGEST_BLOCK):
                piece = block[:size - start]
                file.write(piece)
                digest.update(piece)
        return digest.digest()

    @property
    def description(self):
        first, *_ = self.sizes.values()
        if first * len(self.sizes) != self.bytes:
            return f"{len(self.sizes):,} files with {self.bytes >> 20:,} MiB"
        return f"{len(self.sizes):,} × {f'{first >> 20:,} MiB' if first >= 1 << 20 else f'{first >> 10:,} KiB'}"


def are_large(sizes):
    """Whether the files have 512 KiB or more on average. If so, their blocks should be released after each run."""
    return sum(sizes) / len(sizes) >= 1 << 19


def free_blocks(folder):
    """Releases the blocks of the files, and keeps their inodes. If the inodes were deleted now, the next contender
    would be slower."""
    for path in folder.iterdir():
        os.truncate(path, 0)
