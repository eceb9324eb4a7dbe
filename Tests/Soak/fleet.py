"""Kills the host, the workers and the database of a fleet, stops workers and cuts their links, and checks all promises.

Usage: scripts/in-venv python Tests/Soak/fleet.py [--rounds 1000] [--seed N] [--keep]
Prints the first broken promises, and one line about the run. If a promise was broken, the exit status is 1.
"""

import argparse
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

from testbed.fleet import Database
from testbed.fleet_run import soak

ROOT = Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1_000, help="how many losses")
    parser.add_argument("--seed", type=int, default=None, help="chosen at random unless given")
    parser.add_argument("--keep", action="store_true", help="keep the files and the journals")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir=ROOT / "build"))
    start = time.monotonic()

    def progress(losses):
        if sys.stderr.isatty():
            print(f"\r{losses} of {options.rounds} losses", end="", file=sys.stderr, flush=True)

    run = soak(folder, Database(), options.rounds, seed, progress)
    for violation in run.result.violations[:20]:
        print(violation)
    kept = options.keep or run.result.violations
    if not kept:
        shutil.rmtree(folder)
    losses = ", ".join(f"{count} {name}" for name, count in sorted(run.losses.items()))
    print(f"{run.result.kills} losses ({losses}) in {run.result.batches} batches of {run.result.files} files, "
          f"{run.result.resumed} tasks with several runs, {len(run.result.violations)} promises broken, seed {seed}, "
          f"{time.monotonic() - start:.0f} s" + (f"; everything is in {folder}" if kept else ""))
    return 1 if run.result.violations else 0


if __name__ == "__main__":
    sys.exit(main())
