"""Counts what a contender (a measured program) demands of the disk: calls that sync, and bytes of Backhaul's
write-ahead log (bench/counting.c).

A counted run is not timed, because the counting takes time.
"""

import struct
from dataclasses import dataclass

from .preloading import preloading_environment

_LAYOUT = "=8Q"


@dataclass(frozen=True)
class Counts:
    fsync: int
    fdatasync: int
    syncfs: int
    sync_file_range: int
    wal_writes: int
    wal_bytes: int

    @property
    def syncs(self):
        """The calls that wait until bytes are durable. sync_file_range(2) is not such a call: it starts the writing of
        pages, or waits for it, but the disk may still have these pages only in its volatile cache."""
        return self.fsync + self.fdatasync + self.syncfs


def counting_environment(job, programs, daemon, environment):
    """Returns the environment of a counted run."""
    counts = job.scratch / "counts"
    counts.write_bytes(bytes(struct.calcsize(_LAYOUT)))
    return preloading_environment(job, programs / "counting.so", {"BENCH_COUNTS": str(counts)}, daemon, environment)


def read_counts(job):
    return Counts(*struct.unpack(_LAYOUT, (job.scratch / "counts").read_bytes())[:6])
