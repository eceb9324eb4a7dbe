"""The rows (measurements) of the bench that transfer files. Each row has the files, the network, the programs and the
bars.

A bar is a limit that the project requires of Backhaul. With `--quick`, a row has fewer files, and the same bars.
"""

from dataclasses import dataclass, field

from .files import mirror_sizes

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PLAIN, TLS = "HTTP/1.1", "TLS with HTTP/2"
BOTH = (PLAIN, TLS)

BACKHAUL = ("Backhaul", "Backhaul embedded")
CURL = "curl -Z"
RAW = ("raw libcurl", "raw, written", "raw, sync each", "raw, sync all")
ARIA2C = ("aria2c none", "aria2c")
OTHERS = ("wget2", *RAW, *ARIA2C)


@dataclass(frozen=True)
class Bar:
    """A bar for one figure: "wall" (the run's time) or "cpu" (its processor time). Each round gives one ratio: the
    figure of Backhaul, divided by the figure of a reference (another program). The median of the ratios must not exceed
    the limit. `limits` has pairs of a reference and a limit. If there are several pairs, Backhaul must meet one of the
    limits."""

    figure: str
    limits: tuple


def wall(limit, reference=CURL):
    return Bar("wall", ((reference, limit),))


def cpu(limit, reference=CURL):
    return Bar("cpu", ((reference, limit),))


def large(limit):
    """Returns the bar of a large file. The network or the disk, whichever is slower, limits the throughput of such a
    file."""
    return Bar("wall", ((CURL, limit), ("dd, fdatasync", 1.1)))


@dataclass(frozen=True)
class Amount:
    """The sizes of the files, the number of rounds, and the approximate number of seconds that the row takes."""

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
    #: Extent of the run (full or quick) -> amount.
    amounts: dict
    contenders: tuple
    #: Protocol that is measured -> bars.
    bars: dict
    #: The contender (measured program) that shows the lowest possible time. The table compares all contenders with it,
    #: and with curl.
    ceiling: str = "raw, sync each"
    uploads: bool = False
    #: The delay of the network: round-trip time in milliseconds, and percentage of lost segments. Empty for loopback
    #: without a delay.
    delay: tuple = ()
    #: Protocol -> bytes that Backhaul may write to its write-ahead log for each file.
    wal_bytes: dict = field(default_factory=dict)


NO_SLOWER_THAN_ARIA2C = (wall(1.0, "aria2c none"), wall(1.0, "aria2c"))
ALL = (*BACKHAUL, CURL, *OTHERS)
FLOORS = ("floor", "floor + replay")
#: The floors keep bodies in memory, so only rows with small files have them.
SMALL = (*ALL, *FLOORS)

ROWS = (
    Row("16KiB", "10,000 × 16 KiB",
        {"full": same(10_000, 16 * KIB, 5, 900), "quick": same(500, 16 * KIB, 1, 15)},
        SMALL, {protocol: (wall(1.3), cpu(1.8), *NO_SLOWER_THAN_ARIA2C) for protocol in BOTH},
        wal_bytes={PLAIN: 5 * KIB, TLS: 5 * KIB}),
    Row("1MiB", "1,000 × 1 MiB",
        {"full": same(1_000, MIB, 5, 600), "quick": same(60, MIB, 1, 10)},
        ALL, {PLAIN: (wall(1.05), *NO_SLOWER_THAN_ARIA2C), TLS: (wall(1.0), *NO_SLOWER_THAN_ARIA2C)}),
    Row("2GiB", "1 × 2 GiB",
        {"full": same(1, 2 * GIB, 3, 500), "quick": same(1, 128 * MIB, 1, 15)},
        (*BACKHAUL, CURL, "curl + sync", *OTHERS, "dd, fdatasync"), {PLAIN: (large(0.6),), TLS: (large(0.9),)},
        ceiling="dd, fdatasync"),
    Row("mirror", "1,000 packages of a mirror",
        {"full": Amount(mirror_sizes(1_000), 3, 300), "quick": Amount(mirror_sizes(40), 1, 10)},
        ALL, {PLAIN: (), TLS: ()}),
    Row("1KiB", "100,000 × 1 KiB",
        {"full": same(100_000, KIB, 3, 1_000), "quick": same(2_000, KIB, 1, 8)},
        ("Backhaul", CURL, "raw, sync each", "raw, sync all", *FLOORS), {PLAIN: (wall(1.5),)}),
    Row("delayed", "10,000 × 16 KiB at 40 ms of round-trip time and 1 % loss",
        {"full": same(10_000, 16 * KIB, 3, 500), "quick": same(500, 16 * KIB, 1, 10)},
        ("Backhaul", CURL, "raw, sync each", "raw, sync all"), {protocol: (wall(0.8),) for protocol in BOTH},
        delay=(40, 1)),
    Row("uploads", "1,000 × 1 MiB, uploads",
        {"full": same(1_000, MIB, 5, 200), "quick": same(60, MIB, 1, 5)},
        (*BACKHAUL, CURL), {PLAIN: (wall(1.05),)}, uploads=True),
)
