"""Kills the host, the workers and the database of a fleet, stops workers and cuts their links, and checks all promises.

Usage: scripts/in-venv python Tests/Soak/fleet.py [--rounds 1000] [--seed N] [--keep]
Prints the first broken promises, and one line about the run. If a promise was broken, the exit status is 1.
"""

import argparse
import sys

from testbed.fleet import Database
from testbed.fleet_run import soak
from testbed.soak_command import run_command


def losses(options, folder, seed, progress):
    run = soak(folder, Database(), options.rounds, seed, progress)
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(run.losses.items()))
    return run.result, (f"{run.result.kills} losses ({kinds}) in {run.result.batches} batches of {run.result.files} "
                        f"files, {run.result.resumed} tasks with several runs")


def main():
    return run_command(argparse.ArgumentParser(description=__doc__.splitlines()[0]), 1_000, "losses", losses)


if __name__ == "__main__":
    sys.exit(main())
