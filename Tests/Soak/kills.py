"""Kills a host and its daemon repeatedly, and checks all promises about events.

Usage: scripts/in-venv python Tests/Soak/kills.py [--rounds 500] [--hosting daemon|embedded] [--seed N] [--keep]
Prints the first broken promises, and one line about the run. If a promise was broken, the exit status is 1. Two runs
with the same seed make the same choices, but at other times.
"""

import argparse
import sys

from backhaul import Hosting
from testbed.soak_command import run_command
from testbed.soak_run import soak


def kills(options, folder, seed, progress):
    result = soak(folder, options.rounds, seed, Hosting[options.hosting.upper()], progress)
    return result, (f"{result.kills} kills in {result.batches} batches of {result.files} files, "
                    f"{result.resumed} resumed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosting", choices=["daemon", "embedded"], default="daemon", help="who is the engine")
    return run_command(parser, 500, "kills", kills)


if __name__ == "__main__":
    sys.exit(main())
