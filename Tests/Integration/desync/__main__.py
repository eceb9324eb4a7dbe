"""Performs generated runs, or repeats one of them. A run is a list of tasks, and a server. The server responds to the
tasks, and also sends bytes that belong to no request.

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

from desync.fuzz import WORKERS, Fuzzer, described
from desync.runs import generate


def replay(fuzzer, seed, number):
    """Performs one run, and prints what its server did."""
    run = generate(seed, number)
    print(run)
    record, violations = fuzzer.execute(run)
    print("\n".join(described(record)))
    for outcome in record.outcomes.values():
        print(f"{outcome.task}: {outcome.described()}")
    print("\n".join(map(str, violations)) or "no violation")
    return 1 if violations else 0


def summary(seed, runs, failures, seconds):
    """Prints the three shortest failing runs, and the number of failing runs by transport."""
    failures = sorted(failures, key=lambda failure: (len(failure.run.steps), len(failure.record.entries)))
    for failure in failures[:3]:
        print(failure.described(seed))
    by_transport = Counter(failure.run.transport for failure in failures)
    names = ", ".join(f"{transport} {count}" for transport, count in sorted(by_transport.items()))
    print(f"{len(failures)} of {runs} runs with violations{f' ({names})' if names else ''}, seed {seed}, "
          f"{seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(prog="python -m desync", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=None, help="chosen at random unless given")
    parser.add_argument("--run", type=int, default=None, help="the number of one run, to repeat it alone")
    parser.add_argument("--workers", type=int, default=WORKERS, help="runs at a time")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        with Fuzzer(make_certificates(Path(folder))) as fuzzer:
            if options.run is not None:
                return replay(fuzzer, seed, options.run)
            failures = fuzzer.fuzz(seed, range(options.runs), options.workers)
    summary(seed, options.runs, failures, time.monotonic() - start)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
