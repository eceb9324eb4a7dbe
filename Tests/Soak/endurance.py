"""Transfers many small files with faults, while hosts attach and leave, and checks that nothing grows.

Usage: scripts/in-venv python Tests/Soak/endurance.py [--transfers 1000000] [--chart FILE]
Hosts follow one another. Each host enqueues its share, reads the events that wait, and leaves while transfers run. At
most 256 transfers run at a time. nginx refuses 3 % of the requests, and closes the connection of 2 %.

After each host, the run measures the daemon and the store: memory, descriptors, threads, the sizes of database and log,
and how long the calls of the host took. A figure *grows* if its median over the last quarter of the hosts is higher
than over the second quarter by more than a fifth and a margin. The first quarter is left out, because caches fill then.
Prints each figure. If a figure grows, or a file is missing or wrong, the exit status is 1.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import daemons
from servers.certificates import make_certificates
from servers.nginx import Nginx
from testbed.programs.enduring import SIZE

ROOT = Path(__file__).resolve().parents[2]
WIDTH, HEIGHT = 460, 120
#: Figure -> its unit, and the difference that counts as noise.
FIGURES = {
    "private memory": ("KiB", 4_096), "descriptors": ("", 16), "threads": ("", 2), "database": ("KiB", 4_096),
    "log": ("KiB", 1_024), "median call": ("ms", 20), "longest call": ("ms", 1_000),
}


def kib_of(folder, pattern):
    """The size of the files in the folder whose name matches."""
    return sum(path.stat().st_size for path in Path(folder).glob(pattern)) >> 10


def measured(store, milliseconds):
    """The figures of the daemon and the store."""
    [daemon] = daemons.daemons_of(store)
    rollup = Path(f"/proc/{daemon}/smaps_rollup").read_text()
    private = sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+) kB$", rollup, re.MULTILINE))
    return {
        "private memory": private, "descriptors": len(os.listdir(f"/proc/{daemon}/fd")),
        "threads": len(os.listdir(f"/proc/{daemon}/task")), "database": kib_of(store, "*.sqlite*"),
        "log": kib_of(store, "*.log*"), "median call": median(milliseconds), "longest call": max(milliseconds),
    }


def run_host(store, url, files, first, count, left):
    words = [store, url, files, first, count, left]
    ended = subprocess.run([sys.executable, "-m", "testbed.programs.enduring", *map(str, words)],
                           stdout=subprocess.PIPE, check=True)
    return json.loads(ended.stdout)


def transfer(folder, url, transfers, hosts):
    """Yields the report of each host, and the figures after it. The last host waits until all transfers have ended."""
    store, files = folder / "store", folder / "files"
    files.mkdir()
    share = max(1, transfers // hosts)
    for first in range(0, transfers, share):
        is_last = first + share >= transfers
        report = run_host(store, url, files, first, min(share, transfers - first), 0 if is_last else share // 10)
        yield report, measured(store, report["milliseconds"])
    if left_over := os.listdir(files):
        raise SystemExit(f"{len(left_over)} files are left over, such as {left_over[0]}")


def growth(name, values):
    """The medians of the second and the last quarter, and whether the figure grows."""
    quarter = len(values) // 4
    early, late = median(values[quarter:2 * quarter]), median(values[-quarter:])
    return early, late, late > early * 1.2 + FIGURES[name][1]


def panel(name, values, top):
    """Returns the SVG of one figure, by the number of hosts."""
    most = max(*values, 1)
    step = (WIDTH - 20) / max(1, len(values) - 1)
    points = " ".join(f"{10 + step * number:.1f},{top + HEIGHT - 75 * value / most:.1f}"
                      for number, value in enumerate(values))
    return (f'<text x="10" y="{top + 22}" font-size="12">{name}, at most {most:,.0f} {FIGURES[name][0]}</text>'
            f'<polyline points="{points}" fill="none" stroke="#2f6fab"/>')


def chart(samples):
    """Returns an SVG with a panel for each figure."""
    panels = [panel(name, [sample[name] for sample in samples], index * HEIGHT) for index, name in enumerate(FIGURES)]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT * len(FIGURES) + 10}" '
            'font-family="sans-serif"><rect width="100%" height="100%" fill="#ffffff"/>\n'
            + "\n".join(panels) + "\n</svg>\n")


def run(transfers, hosts):
    """Returns the reports of the hosts, and the figures after each of them."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="endurance-", dir=ROOT / "build") as name:
        folder = Path(name)
        served = folder / "served"
        served.mkdir()
        (served / "file").write_bytes(b"b" * SIZE)
        with Nginx(folder / "nginx", served, make_certificates(folder), logging=False) as nginx:
            try:
                return list(transfer(folder, f"{nginx.url}/faulty/file", transfers, hosts))
            finally:
                daemons.end_daemons(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transfers", type=int, default=1_000_000, help="how many files")
    parser.add_argument("--hosts", type=int, default=100, help="how many hosts follow one another, about")
    parser.add_argument("--chart", type=Path, help="write the figures as SVG into this file")
    options = parser.parse_args()
    start = time.monotonic()
    reports, samples = zip(*run(options.transfers, options.hosts))
    grown = []
    for name, (unit, _) in FIGURES.items():
        early, late, grows = growth(name, [sample[name] for sample in samples])
        grown += [name] if grows else []
        print(f"{name}: {early:,.0f} {unit} early, {late:,.0f} {unit} late{', grows' if grows else ''}")
    if options.chart:
        options.chart.write_text(chart(samples), encoding="utf-8")
    right, attempts = (sum(report[name] for report in reports) for name in ("right", "attempts"))
    print(f"{right} of {options.transfers} files are right, after {attempts - options.transfers} faults, with "
          f"{len(samples)} hosts, in {time.monotonic() - start:.0f} s")
    return 1 if grown or right != options.transfers or attempts == options.transfers else 0


if __name__ == "__main__":
    sys.exit(main())
