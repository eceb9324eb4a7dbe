"""Performs generated runs, or repeats one of them.

Usage: scripts/in-venv python -m desync [--runs 10000] [--seed N] [--run NUMBER]
The exit status is 1 if a task ended with bytes that were no response to its request.
"""

import argparse
import secrets
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from servers.certificates import make_certificates

from desync.fuzz import LANES, Stage, described
from desync.runs import generate


def replay(stage, seed, number):
    """Performs one run, and prints what its server did."""
    run = generate(seed, number)
    print(run)
    record, violations = stage.play(run)
    print("\n".join(described(record)))
    for outcome in record.outcomes.values():
        print(f"{outcome.task}: {outcome.described()}")
    print("\n".join(map(str, violations)) or "no violation")
    return 1 if violations else 0


def summary(seed, runs, failures, seconds):
    """Prints the three shortest failing runs, and the number of failing runs by carrier."""
    failures = sorted(failures, key=lambda failure: (len(failure.run.steps), len(failure.record.entries)))
    for failure in failures[:3]:
        print(failure.described(seed))
    by_carrier = Counter(failure.run.carrier for failure in failures)
    names = ", ".join(f"{carrier} {count}" for carrier, count in sorted(by_carrier.items()))
    print(f"{len(failures)} of {runs} runs with violations{f' ({names})' if names else ''}, seed {seed}, "
          f"{seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(prog="python -m desync", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=None, help="chosen at random unless given")
    parser.add_argument("--run", type=int, default=None, help="the number of one run, to play it alone")
    parser.add_argument("--lanes", type=int, default=LANES, help="runs at a time")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        with Stage(make_certificates(Path(folder))) as stage:
            if options.run is not None:
                return replay(stage, seed, options.run)
            failures = stage.fuzz(seed, range(options.runs), options.lanes)
    summary(seed, options.runs, failures, time.monotonic() - start)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
