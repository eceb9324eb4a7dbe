"""Measures how fast requests become durable tasks: in batches, one by one, and from several threads."""

import subprocess
from statistics import median

from daemons import end_daemons

from .report import rounds, spread
from .transfers import show_progress

#: Maps the extent of the run to four numbers: how many requests are enqueued in batches, how many one by one, how many
#: from threads, and how many rounds the run has.
AMOUNTS = {"full": (200_000, 2_000, 8_000, 5), "quick": (20_000, 200, 800, 1)}
BATCH, THREADS = 1_000, 8

TITLES = {
    "sync": "append of 512 bytes, fdatasync",
    "one": "enqueue, one by one",
    "threads": f"enqueue, {THREADS} threads, each one by one",
    "batches": f"enqueue, batches of {BATCH:,}",
}


def measure(program, folder, extent, rounds_wanted):
    """Maps each name of TITLES to one rate for each round, in requests or syncs per second."""
    in_batches, one_by_one, by_threads, own_rounds = AMOUNTS[extent]
    rates = {name: [] for name in TITLES}
    for number in range(rounds_wanted or own_rounds):
        for name, count, arguments in (("sync", one_by_one, None), ("one", one_by_one, (1, 1)),
                                       ("threads", by_threads, (1, THREADS)), ("batches", in_batches, (BATCH, 1))):
            show_progress(f"enqueue, round {number + 1}: {name}")
            rates[name].append(count / seconds(program, folder / f"{number}-{name}", count, arguments))
    show_progress("")
    return rates


def seconds(program, folder, count, arguments):
    (folder / "files").mkdir(parents=True)
    command = [program, "sync", folder / "files", str(count)]
    if arguments:
        command = [program, folder / "store", folder / "files", str(count), *map(str, arguments)]
    try:
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=600).stdout
    finally:
        end_daemons(folder)
    return float(output)


def ratios(rates, name, reference):
    return [rate / other for rate, other in zip(rates[name], rates[reference])]


def table(rates):
    print(f"\nEnqueue of suspended tasks, {rounds(rates['one'])}\n{'':38}{'each second: min, median, max':>36}")
    for name, title in TITLES.items():
        print(f"{title:38}{spread(rates[name], '{:,.0f}'):>36}", flush=True)


def add_bars(bars, rates):
    bars.at_least("enqueue, batches of 1,000", median(rates["batches"]), 200_000, "tasks/s")
    bars.at_least("enqueue, one by one", median(ratios(rates, "one", "sync")), 0.8, "× the rate of fdatasync")
    bars.at_least("enqueue, 8 threads", median(ratios(rates, "threads", "one")), 4, "× one by one")
