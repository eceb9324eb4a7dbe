"""The files that the contenders fetch."""

import hashlib
import random

LARGEST_BLOCK = 64 << 20


class Files:
    """`count` files of `size` random bytes below the server's root, the same in each run, and their digests."""

    def __init__(self, root, name, count, size):
        self.name, self.count, self.size = name, count, size
        self.folder = root / name
        self.digests = {}
        noise = random.Random(name)
        self.folder.mkdir(parents=True)
        for number in range(count):
            digest = hashlib.sha256()
            # A large file repeats one block, because no contender compresses or compares files.
            block = noise.randbytes(min(size, LARGEST_BLOCK))
            with open(self.folder / f"{number:05}.bin", "wb") as file:
                for start in range(0, size, LARGEST_BLOCK):
                    piece = block[:size - start]
                    file.write(piece)
                    digest.update(piece)
            self.digests[f"{number:05}.bin"] = digest.digest()

    def bytes(self):
        return self.count * self.size
