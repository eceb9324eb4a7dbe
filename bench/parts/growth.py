"""Measures how the cost of downloads grows with the number of files, their sizes, the number of connections, and the
number of queued tasks. Fits a curve to each cost. The form of each curve, such as a line, is chosen beforehand."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import log10
from operator import mul
from statistics import median
from collections.abc import Callable

from daemons import daemons_of, end_daemons

from . import measure
from .contenders import AT_ONCE, Contender, bench_host
from .daemon_costs import host, silent_server
from .files import Files, free_blocks
from .rows import KIB, MIB
from .server import cpu_seconds
from .transfers import show_progress
from .workplace import environment

#: Name of a cost in `Point` -> its name for readers.
FIGURES = {"wall": "wall time", "cpu": "processor time"}


@dataclass(frozen=True)
class Load:
    """The work of one run. `queued` is the number of tasks that another session has queued, and that never end."""

    files: int
    size: int
    at_once: int = AT_ONCE
    queued: int = 0


@dataclass(frozen=True)
class Curve:
    """The form of a fitted curve: cost = base + slope × term(x)."""

    term: Callable
    text: str


LINEAR = Curve(float, "x")
INVERSE = Curve(lambda x: 1 / x, "1 / x")
LOGARITHM = Curve(log10, "log10 x")


@dataclass(frozen=True)
class Series:
    """Runs whose loads differ in one number, the x of the curve."""

    name: str
    #: What x counts. In most series, also the rest of the load.
    unit: str
    #: Extent of the run (full or quick) -> the values of x.
    values: dict
    load: Callable
    curve: Curve


ALL_SERIES = (
    Series("files", "files of 16 KiB",
           {"full": (1_000, 2_000, 5_000, 10_000, 20_000, 40_000), "quick": (100, 200, 400)},
           lambda x: Load(x, 16 * KIB), LINEAR),
    Series("bytes", "MiB in one file", {"full": (8, 32, 128, 512, 1_024), "quick": (1, 4, 16)},
           lambda x: Load(1, x * MIB), LINEAR),
    Series("connections", "connections",
           {"full": (1, 2, 4, 8, 16, 32, 64, 128, 256), "quick": (1, 4, 16)},
           lambda x: Load(4_000, 16 * KIB, at_once=x), INVERSE),
    Series("queue", "queued tasks of another session, during 4,000 downloads of 16 KiB",
           {"full": (10, 1_000, 10_000, 100_000, 1_000_000), "quick": (10, 1_000, 10_000)},
           lambda x: Load(4_000, 16 * KIB, queued=x), LOGARITHM),
)
#: A quick run has at most this number of files.
QUICK_FILES = 400


@dataclass
class Point:
    """The runs with one value of x. `wall` and `cpu` have one number of seconds for each round. `cpu` includes the
    daemon and the host."""

    x: float
    load: Load
    wall: list
    cpu: list


@dataclass(frozen=True)
class Fit:
    """A fitted curve. For each median, its distance from the curve is divided by the median. `deviation` is the largest
    of these quotients."""

    curve: Curve
    base: float
    slope: float
    deviation: float

    def at(self, x):
        return self.base + self.slope * self.curve.term(x)

    @property
    def text(self):
        sign = "−" if self.slope < 0 else "+"
        return f"{time_text(self.base)} {sign} {time_text(abs(self.slope))} × {self.curve.text}"


def time_text(seconds):
    """Returns a time with three digits, in a unit that makes it readable."""
    rounded = float(f"{seconds:.3g}")
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        if abs(rounded) * factor >= 1:
            break
    return f"{rounded * factor:.4g} {unit}".replace("-", "−")


def fit(curve, points, figure):
    """Fits a curve to the medians by least squares of the relative deviations. So small and large costs count alike.
    `statistics.linear_regression` cannot be used, because it has no weights."""
    costs = [median(getattr(point, figure)) for point in points]
    terms = [curve.term(point.x) for point in points]
    weights = [cost ** -2 for cost in costs]
    mean_term, mean_cost = (sum(map(mul, weights, values)) / sum(weights) for values in (terms, costs))
    slope = (sum(weight * (term - mean_term) * (cost - mean_cost)
                 for weight, term, cost in zip(weights, terms, costs))
             / sum(weight * (term - mean_term) ** 2 for weight, term in zip(weights, terms)))
    base = mean_cost - slope * mean_term
    return Fit(curve, base, slope, max(abs((base + slope * term) / cost - 1) for term, cost in zip(terms, costs)))


class Growth:
    """Runs the series. In each round, every point of a series runs one time."""

    def __init__(self, folder, server, extent, rounds):
        self._folder, self._server, self._extent, self._rounds = folder, server, extent, rounds
        self._environment = environment()
        self._files = {}

    def run(self, series):
        points = [Point(x, self._load(series, x), [], []) for x in series.values[self._extent]]
        with ExitStack() as stack:
            stores = [self._store(series, point, stack) for point in points]
            pairs = list(zip(points, stores))
            for number in range(self._rounds):
                # The order changes, so that a drift of the machine does not look like growth.
                for point, store in pairs if number % 2 == 0 else reversed(pairs):
                    show_progress(f"{series.name}, round {number + 1} of {self._rounds}: {point.x:,}")
                    self._measure(series, point, store, number)
        show_progress("")
        return points

    def _load(self, series, x):
        load = series.load(x)
        if self._extent == "full":
            return load
        return replace(load, files=min(load.files, QUICK_FILES))

    def _store(self, series, point, stack):
        """Returns the store of a point with queued tasks. Its daemon runs until the series ends. Returns None for other
        points, because each of their runs has a new store."""
        if not point.load.queued:
            return None
        folder = self._folder / "rounds" / f"{series.name}-{point.x}"
        (folder / "queued").mkdir(parents=True)
        stack.callback(end_daemons, folder)
        port = stack.enter_context(silent_server())
        show_progress(f"{series.name}: enqueue of {point.load.queued:,}")
        stack.enter_context(host(self._folder / "queue", "fill", folder / "store", folder / "queued",
                                 point.load.queued, 1, f"http://127.0.0.1:{port}/queued"))
        return folder / "store"

    def _measure(self, series, point, store, number):
        files = self._files_of(point.load)
        folder = self._folder / "rounds" / f"{series.name}-{point.x}-{number}"
        job = measure.prepare(files, self._server, folder)
        contender = Contender(
            "Backhaul", lambda job: bench_host(self._folder, "daemon", job, store, point.load.at_once))
        before = _daemon_seconds(store)
        run = measure.run(contender, job, files, self._server, self._environment)
        daemon = _daemon_seconds(store) - before
        measure.check(contender, job, files, digests=False)
        free_blocks(job.folder)
        point.wall.append(run.wall)
        point.cpu.append(run.cpu + daemon)

    def _files_of(self, load):
        key = (load.files, load.size)
        if key not in self._files:
            self._files[key] = Files(self._server.files / f"{load.files}x{load.size}", (load.size,) * load.files)
        return self._files[key]


def _daemon_seconds(store):
    """Returns the processor time of a daemon that serves several runs; 0 if each run has its own store."""
    return sum(sum(cpu_seconds(daemon)) for daemon in daemons_of(store.parent)) if store else 0
