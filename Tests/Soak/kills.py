"""Kills a host and its daemon repeatedly, and checks all promises about events.

Usage: scripts/in-venv python Tests/Soak/kills.py [--rounds 500] [--hosting daemon|embedded] [--seed N] [--keep]
Prints the first broken promises, and one line about the run. If a promise was broken, the exit status is 1. Two runs
with the same seed make the same choices, but at other times.
"""

import argparse
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

from backhaul import Hosting
from testbed.soak_run import soak

ROOT = Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500, help="how many kills")
    parser.add_argument("--hosting", choices=["daemon", "embedded"], default="daemon", help="who is the engine")
    parser.add_argument("--seed", type=int, default=None, help="chosen at random unless given")
    parser.add_argument("--keep", action="store_true", help="keep the store, the files and the journals")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir=ROOT / "build"))
    start = time.monotonic()

    def progress(kills):
        if sys.stderr.isatty():
            print(f"\r{kills} of {options.rounds} kills", end="", file=sys.stderr, flush=True)

    result = soak(folder, options.rounds, seed, Hosting[options.hosting.upper()], progress)
    for violation in result.violations[:20]:
        print(violation)
    kept = options.keep or result.violations
    if not kept:
        shutil.rmtree(folder)
    print(f"{result.kills} kills in {result.batches} batches of {result.files} files, {result.resumed} resumed, "
          f"{len(result.violations)} promises broken, seed {seed}, {time.monotonic() - start:.0f} s"
          + (f"; everything is in {folder}" if kept else ""))
    return 1 if result.violations else 0


if __name__ == "__main__":
    sys.exit(main())
