"""The tables of results, and the bars: limits that the project has set for itself."""

from statistics import median


def spread(values, form="{:.2f}"):
    """Returns the minimum, the median and the maximum as text. If there is a single round, returns its value."""
    if len(values) == 1:
        return form.format(values[0])
    return "  ".join(form.format(value) for value in (min(values), median(values), max(values)))


def rounds(runs):
    return f"{len(runs)} round{'s' if len(runs) > 1 else ''}"


def ratios(figure, runs, reference):
    """Returns for each round the run's figure divided by the reference's figure. In a round, each contender (measured
    program) runs one time. So the two runs of a ratio are less than a minute apart.
    """
    # The processor times of the kernel have steps of 10 ms, so a time may be 0.
    return [getattr(run, figure) / max(getattr(other, figure), 0.001) for run, other in zip(runs, reference)]


def table(title, results, counts, references):
    """Prints a table. `results` maps each contender to its runs. `counts` maps some contenders to their numbers of
    syncs and of bytes in the WAL. The ratios in the table are relative to the contenders in `references`."""
    references = [name for name in references if name in results]
    head = f"{'':18}{'wall s: min, median, max':>26}" + "".join(f"{f'times {name}':>23}" for name in references)
    head += f"{'user s':>8}{'sys s':>8}{'host s':>8}{'daemon s':>10}{'server s':>10}{'switches':>10}"
    print(f"\n{title}\n{head}{'syncs':>8}{'WAL KiB':>9}")
    for contender, runs in results.items():
        row = f"{contender:18}{spread([run.wall for run in runs]):>26}"
        for name in references:
            row += f"{spread(ratios('wall', runs, results[name])) if name != contender else '1':>23}"
        row += "".join(f"{median(values):>{width}.2f}" for values, width in (
            ([run.user for run in runs], 8), ([run.system for run in runs], 8),
            ([run.cpu - run.daemon for run in runs], 8), ([run.daemon for run in runs], 10),
            ([run.server for run in runs], 10)))
        row += f"{median(run.switches for run in runs):>10,.0f}"
        if contender in counts:
            row += f"{counts[contender].syncs:>8,}{counts[contender].wal_bytes / 1024:>9,.0f}"
        print(row, flush=True)


class Bars:
    """The bars, which Backhaul is required to meet, with the figures of this run. `factor` is 1 if the figure equals
    its bar, and greater than 1 if the figure breaks the bar."""

    def __init__(self, bars=()):
        self.bars = list(bars)

    def _add(self, title, figure, limit, factor, text):
        self.bars.append({"title": title, "figure": figure, "limit": limit, "factor": factor, "held": factor <= 1,
                          "text": text})

    def ratio(self, title, figure, choices):
        """Adds a bar for a ratio. Each choice has a ratio, its limit, and the contender to which the ratio is relative.
        Backhaul meets the bar if at least one ratio is within its limit."""
        ratio, limit, _ = min(choices, key=lambda choice: choice[0] / choice[1])
        text = ", or ".join(f"{ratio:.2f} × {name} (at most {limit})" for ratio, limit, name in choices)
        self._add(f"{title}, {figure}", ratio, limit, ratio / limit, text)

    def at_most(self, title, figure, limit, unit):
        self._add(title, figure, limit, figure / limit, f"{figure:,.2f} {unit} (at most {limit:,} {unit})")

    def at_least(self, title, figure, limit, unit):
        factor = limit / figure if figure else float("inf")
        self._add(title, figure, limit, factor, f"{figure:,.2f} {unit} (at least {limit:,} {unit})")

    def broken(self):
        return [bar for bar in self.bars if not bar["held"]]

    def print(self):
        print("\nBars (medians)")
        for bar in self.bars:
            print(f"  {'held  ' if bar['held'] else 'BROKEN'}  {bar['title']}: {bar['text']}")
