"""The table of results, and the limits that the project has set for itself."""

from statistics import median


def spread(values, form="{:.2f}"):
    return "  ".join(form.format(value) for value in (min(values), median(values), max(values)))


def ratios(runs, reference):
    """Returns for each round the ratio of the run to the reference. In a round both ran within a minute."""
    return [run.wall / other.wall for run, other in zip(runs, reference)]


def table(title, results, references):
    """`results` maps each contender to its runs. `references` has the names of those that the ratios are relative to.
    """
    references = [name for name in references if name in results]
    head = f"{'':18}{'wall s: min, median, max':>26}" + "".join(f"{f'times {name}':>24}" for name in references)
    print(f"\n{title}\n{head}{'user s':>9}{'sys s':>8}{'host s':>8}{'daemon s':>10}{'server s':>10}")
    for contender, runs in results.items():
        row = f"{contender:18}{spread([run.wall for run in runs]):>26}"
        for name in references:
            row += f"{spread(ratios(runs, results[name])) if name != contender else '1':>24}"
        row += "".join(f"{median(values):>{width}.2f}" for values, width in (
            ([run.user for run in runs], 9), ([run.system for run in runs], 8),
            ([run.user + run.system - run.daemon for run in runs], 8), ([run.daemon for run in runs], 10),
            ([run.server for run in runs], 10)))
        print(row, flush=True)


class Limits:
    def __init__(self):
        self.broken = 0
        self.lines = []

    def at_most(self, title, results, reference, limit):
        """Checks Backhaul's median ratio to the reference."""
        if "Backhaul" not in results or reference not in results:
            return
        ratio = median(ratios(results["Backhaul"], results[reference]))
        held = ratio <= limit
        self.broken += not held
        self.lines.append(f"{'held  ' if held else 'BROKEN'}  {title}: {ratio:.2f} times {reference}, limit {limit}")

    def below(self, title, milliseconds, limit):
        held = milliseconds < limit
        self.broken += not held
        self.lines.append(f"{'held  ' if held else 'BROKEN'}  {title}: {milliseconds:.2f} ms, limit {limit} ms")

    def print(self):
        print("\nLimits (medians)")
        for line in self.lines:
            print(f"  {line}")
