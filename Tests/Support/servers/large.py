"""Contents that are too large for memory. The bytes of any range can be computed directly."""

import hashlib
import random
from dataclasses import dataclass
from functools import cached_property

_BLOCK = 1 << 20
#: The number of different blocks. All blocks are parts of the same random bytes, at different positions.
_WINDOWS = 65_521


@dataclass(frozen=True)
class LargeContent:
    """Bytes made from a seed. Contents with different seeds differ. The blocks of one content differ, too."""

    size: int
    seed: int = 0

    @property
    def etag(self):
        return f'"{self.seed}-{self.size}"'

    @cached_property
    def _bytes(self):
        return memoryview(random.Random(f"large {self.seed}").randbytes(_BLOCK + _WINDOWS))

    def pieces(self, start, end):
        """Yields views of the bytes from start to end, in order. A view has at most 1 MiB."""
        while start < end:
            number, within = divmod(start, _BLOCK)
            window = number * 25_931 % _WINDOWS
            length = min(_BLOCK - within, end - start)
            yield self._bytes[window + within:window + within + length]
            start += length

    @cached_property
    def sha256(self):
        digest = hashlib.sha256()
        for piece in self.pieces(0, self.size):
            digest.update(piece)
        return digest.hexdigest()
