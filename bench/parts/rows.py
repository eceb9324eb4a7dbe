"""The rows of the bench that transfer files: how many, over which network, by which programs, and the bars.

A bar is what the project requires of Backhaul. A row with fewer files (`--quick`, `--ci`) has the same bars.
"""

from dataclasses import dataclass, field

from .files import mirror_sizes

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PLAIN, TLS = "HTTP/1.1", "TLS with HTTP/2"
BOTH = (PLAIN, TLS)

BACKHAUL = ("Backhaul", "Backhaul embedded")
CURL = "curl -Z"
OTHERS = ("wget2", "raw libcurl", "raw, written", "raw, sync each", "raw, sync all", "aria2c none", "aria2c")


@dataclass(frozen=True)
class Bar:
    """Backhaul's median is at most `limit` times that of a reference. With several references, one suffices."""

    figure: str
    limits: tuple


def wall(limit, reference=CURL):
    return Bar("wall", ((reference, limit),))


def cpu(limit, reference=CURL):
    return Bar("cpu", ((reference, limit),))


def large(limit):
    """A large file is limited by the network's or by the disk's throughput, whichever is less."""
    return Bar("wall", ((CURL, limit), ("dd, fdatasync", 1.1)))


@dataclass(frozen=True)
class Amount:
    """The sizes of the files, the number of rounds, and about how many seconds the row takes."""

    sizes: tuple
    rounds: int
    seconds: int


def same(count, size, rounds, seconds):
    return Amount((size,) * count, rounds, seconds)


@dataclass(frozen=True)
class Row:
    name: str
    #: What a full run of the row transfers.
    title: str
    #: By the extent of the run: full, quick or ci. A row without bars does not run in continuous integration.
    amounts: dict
    contenders: tuple
    #: The bars of each protocol that is measured.
    bars: dict
    #: The contender without limits that the table compares with, beside curl.
    ceiling: str = "raw, sync each"
    uploads: bool = False
    #: The network: round-trip time in milliseconds, and percentage of lost segments.
    delay: tuple = ()
    #: Bytes that Backhaul may write to its write-ahead log for each file.
    wal_bytes: dict = field(default_factory=dict)

    def contenders_of(self, extent, protocol):
        """In continuous integration only those that a bar needs, without aria2c, which is slow."""
        if extent != "ci":
            return self.contenders
        needed = {reference for bar in self.bars[protocol] for reference, _ in bar.limits} | {"Backhaul", CURL}
        return tuple(name for name in self.contenders if name in needed and not name.startswith("aria2c"))


NO_SLOWER_THAN_ARIA2C = (wall(1.0, "aria2c none"), wall(1.0, "aria2c"))
ALL = (*BACKHAUL, CURL, *OTHERS)

ROWS = (
    Row("16KiB", "10,000 × 16 KiB",
        {"full": same(10_000, 16 * KIB, 5, 800), "quick": same(500, 16 * KIB, 1, 15),
         "ci": same(1_500, 16 * KIB, 1, 7)},
        ALL, {protocol: (wall(1.3), cpu(1.8), *NO_SLOWER_THAN_ARIA2C) for protocol in BOTH},
        wal_bytes={PLAIN: 5 * KIB, TLS: 5 * KIB}),
    Row("1MiB", "1,000 × 1 MiB",
        {"full": same(1_000, MIB, 5, 600), "quick": same(60, MIB, 1, 10), "ci": same(120, MIB, 1, 5)},
        ALL, {PLAIN: (wall(1.05), *NO_SLOWER_THAN_ARIA2C), TLS: (wall(1.0), *NO_SLOWER_THAN_ARIA2C)}),
    Row("2GiB", "1 × 2 GiB",
        {"full": same(1, 2 * GIB, 3, 500), "quick": same(1, 128 * MIB, 1, 15), "ci": same(1, 256 * MIB, 1, 7)},
        (*BACKHAUL, CURL, "curl + sync", *OTHERS, "dd, fdatasync"), {PLAIN: (large(0.6),), TLS: (large(0.9),)},
        ceiling="dd, fdatasync"),
    Row("mirror", "1,000 packages of a mirror",
        {"full": Amount(mirror_sizes(1_000), 3, 300), "quick": Amount(mirror_sizes(40), 1, 10)},
        ALL, {PLAIN: (), TLS: ()}),
    Row("1KiB", "100,000 × 1 KiB",
        {"full": same(100_000, KIB, 3, 800), "quick": same(2_000, KIB, 1, 8), "ci": same(3_000, KIB, 1, 4)},
        ("Backhaul", CURL, "raw, sync each", "raw, sync all"), {PLAIN: (wall(1.5),)}),
    Row("delayed", "10,000 × 16 KiB at 40 ms of round-trip time and 1 % loss",
        {"full": same(10_000, 16 * KIB, 3, 500), "quick": same(500, 16 * KIB, 1, 10),
         "ci": same(700, 16 * KIB, 1, 7)},
        ("Backhaul", CURL, "raw, sync each", "raw, sync all"), {protocol: (wall(0.8),) for protocol in BOTH},
        delay=(40, 1)),
    Row("uploads", "1,000 × 1 MiB, uploads",
        {"full": same(1_000, MIB, 5, 200), "quick": same(60, MIB, 1, 5), "ci": same(120, MIB, 1, 4)},
        (*BACKHAUL, CURL), {PLAIN: (wall(1.05),)}, uploads=True),
)
